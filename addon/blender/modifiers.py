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
def evaluated(context: Context, shown: Object, report: Report, *, apply: bool) -> Iterator[Any]:
    """Yield the mesh with modifiers and shape keys applied; None if there are none, or without ``apply``, which warns
    of them.
    """
    if not apply:
        warn(shown, report)
    if not apply or not is_modified(shown):
        yield None
        return
    if shown.mode == "EDIT":
        shown.update_from_editmode()
    others = [one for one in shown.modifiers if one.show_viewport and not _is_applied(one)]
    with scope.without_modifiers(others), scope.evaluated(context, [shown]):
        graph = context.evaluated_depsgraph_get()
        result = shown.evaluated_get(graph)
        try:
            # All layers: Blender leaves out vertex groups and UV maps that nothing in the viewport needs.
            yield result.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
        finally:
            result.to_mesh_clear()


def is_modified(shown: Object) -> bool:
    """Return whether an object has modifiers that exports apply, or shape keys with an effect."""
    return bool(_active_modifiers(shown) or _active_shape_keys(shown))


def is_bent(shown: Object) -> bool:
    """Return whether an armature bends the mesh in the viewport."""
    return any(one.type == "ARMATURE" and one.show_viewport and one.object is not None for one in shown.modifiers)


def warn(shown: Object, report: Report) -> None:
    """Warn of modifiers and shape keys that are not applied."""
    if active := _active_modifiers(shown):
        report.warn(say("modifiers are not applied ({})", ", ".join(active)), shown.name)
    if active := _active_shape_keys(shown):
        report.warn(say("shape keys are not applied ({})", ", ".join(active)), shown.name)


def _is_applied(modifier: Any) -> bool:
    return modifier.type not in NEVER_APPLIED and not modifier.name.startswith(attributes.MASK)


def _active_modifiers(shown: Object) -> list[str]:
    return [one.name for one in shown.modifiers if one.show_viewport and _is_applied(one)]


def _active_shape_keys(shown: Object) -> list[str]:
    keys, pinned = shown.data.shape_keys, shown.active_shape_key if shown.show_only_shape_key else None
    blocks = keys.key_blocks[1:] if keys is not None else ()
    if blocks and not keys.use_relative and pinned is None:
        return [key.name for key in blocks]  # which of them are shown, the time decides
    return [key.name for key in blocks if (key == pinned if pinned else key.value and not key.mute)]
