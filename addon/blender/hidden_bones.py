"""Parts of meshes that follow hidden bones: games do not draw them, and neither does Blender behind a mask.

Masks change neither the meshes nor the bones: poses, keys and exports are the same with and without them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any


def hide(rig: Any, names: Collection[str], label: str) -> None:
    """Hide what follows these bones of an armature object and those below them, and nothing else.

    ``label`` what the names of the masks begin with; masks of other labels stay.
    """
    below = [one.name for name in names for one in rig.data.bones[name].children_recursive]
    hidden = dict.fromkeys([*names, *below])
    for shown in _deformed(rig):
        for mask in [one for one in shown.modifiers if one.type == "MASK" and one.name.startswith(label)]:
            shown.modifiers.remove(mask)
        for name in hidden:
            if name in shown.vertex_groups:
                mask = shown.modifiers.new(f"{label} {name}", "MASK")
                mask.vertex_group, mask.invert_vertex_group, mask.threshold = name, True, 0.5
                mask.show_expanded = False


def _deformed(rig: Any) -> Iterator[Any]:
    for shown in rig.children_recursive:
        if shown.type == "MESH" and any(one.type == "ARMATURE" and one.object == rig for one in shown.modifiers):
            yield shown
