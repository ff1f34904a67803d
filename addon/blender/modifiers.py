"""The mesh that an export writes: an object's own, or what its modifiers and shape keys make of it.

All exports of meshes evaluate them here. Armature modifiers are never applied, since games bend meshes by their bones,
nor are the modifiers of this extension, which only hide vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core.report import say
from . import attributes, scope

if TYPE_CHECKING:
    from ..core.report import Report
    from .typed import Context, Object

NEVER_APPLIED = frozenset({"ARMATURE"})
"""Types of modifiers that no export applies."""
NOTHING_SELECTED = "checked with its modifiers applied, so nothing is selected"
"""Note of checks of meshes: the elements with problems are not those of the object's own mesh."""


@contextmanager
def evaluated(context: Context, obj: Object, report: Report, *, apply: bool) -> Iterator[Any]:
    """Yield the mesh with modifiers and shape keys applied; None if there are none, or without ``apply``, which warns
    of them.
    """
    if not apply:
        warn(obj, report)
    if not apply or not is_modified(obj):
        yield None
        return
    if obj.mode == "EDIT":
        obj.update_from_editmode()
    others = [modifier for modifier in obj.modifiers if modifier.show_viewport and not _is_applied(modifier)]
    with scope.without_modifiers(others), scope.evaluated(context, [obj]):
        graph = context.evaluated_depsgraph_get()
        result = obj.evaluated_get(graph)
        try:
            # All layers: Blender leaves out vertex groups and UV maps that nothing in the viewport needs.
            yield result.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
        finally:
            result.to_mesh_clear()


def is_modified(obj: Object) -> bool:
    """Return whether an object has modifiers that exports apply, or shape keys with an effect."""
    return bool(_active_modifiers(obj) or _active_shape_keys(obj))


def is_bent(obj: Object) -> bool:
    """Return whether an armature bends the mesh in the viewport."""
    return any(
        modifier.type == "ARMATURE" and modifier.show_viewport and modifier.object is not None
        for modifier in obj.modifiers
    )


def warn(obj: Object, report: Report) -> None:
    """Warn of modifiers and shape keys that are not applied."""
    if active := _active_modifiers(obj):
        report.warn(say("modifiers are not applied ({})", ", ".join(active)), obj.name)
    if active := _active_shape_keys(obj):
        report.warn(say("shape keys are not applied ({})", ", ".join(active)), obj.name)


def _is_applied(modifier: Any) -> bool:
    return modifier.type not in NEVER_APPLIED and not modifier.name.startswith(attributes.MASK)


def _active_modifiers(obj: Object) -> list[str]:
    return [modifier.name for modifier in obj.modifiers if modifier.show_viewport and _is_applied(modifier)]


def _active_shape_keys(obj: Object) -> list[str]:
    keys, pinned = obj.data.shape_keys, obj.active_shape_key if obj.show_only_shape_key else None
    blocks = keys.key_blocks[1:] if keys is not None else ()
    if blocks and not keys.use_relative and pinned is None:
        return [key.name for key in blocks]  # which of them are shown, the time decides
    return [key.name for key in blocks if (key == pinned if pinned else key.value and not key.mute)]
