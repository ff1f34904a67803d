"""Parts of meshes that follow hidden bones: games do not draw them, and neither does Blender behind a mask.

A mask is a modifier and a vertex group of its own, which exports leave out: poses, keys and files are the same with and
without it. One mask of many bones costs a twentieth of a mask for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import attributes

if TYPE_CHECKING:
    from .typed import Object


def hide(rig: Object, names: Collection[str], label: str) -> None:
    """Hide what follows these bones of an armature object and those below them, and nothing else.

    ``label``, which begins with `attributes.MASK`, names modifier and vertex group; masks of other labels stay.
    """
    hidden = {*names, *(one.name for name in names for one in rig.data.bones[name].children_recursive)}
    for shown in _deformed(rig):
        if shown.data.is_editmode:  # Blender gives no weights then, and shows the whole mesh
            continue
        for owned in (shown.modifiers, shown.vertex_groups):
            if label in owned:
                owned.remove(owned[label])
        groups = [group.index for group in shown.vertex_groups if group.name in hidden]
        pulls = attributes.weights_of(shown.data)
        own = np.isin(pulls.groups, groups)
        total = np.bincount(pulls.vertices[own], pulls.weights[own], len(shown.data.vertices))
        found = np.flatnonzero(total > 0.5)
        if len(found):
            shown.vertex_groups.new(name=label).add(found.tolist(), 1.0, "REPLACE")
            mask = shown.modifiers.new(label, "MASK")
            mask.vertex_group, mask.invert_vertex_group, mask.show_expanded = label, True, False


def _deformed(rig: Any) -> Iterator[Any]:
    for shown in rig.children_recursive:
        if shown.type == "MESH" and any(one.type == "ARMATURE" and one.object == rig for one in shown.modifiers):
            yield shown
