"""Which bone hangs on which, without saying where they lie: what a `model.cfg` gives, and what binarising needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Hierarchy:
    """``parents``: bone -> parent ("" for none) in the list's own order and spelling; a parent may stand behind its
    child, or nowhere. ``pivots`` bone -> (x, y, z) metres in the game's axes, for some of them; ``pivots_model`` the
    path of the P3D that has them all, as the game writes it.

    ``for_display``: the game's skeleton has no hierarchy; this one only makes an armature easier to look at.
    """

    name: str
    parents: Mapping[str, str]
    pivots: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    pivots_model: str = ""
    for_display: bool = False

    def parent_indices(self, bones: Sequence[str]) -> NDArray[np.int32]:
        """(bones,) for each bone the place of its nearest ancestor among ``bones``, -1 for none.

        Names are compared without regard to case. Where parents form a cycle its first bone counts as a root.
        """
        above = {bone.lower(): parent.lower() for bone, parent in self.parents.items()}
        place = {bone.lower(): number for number, bone in reversed(list(enumerate(bones)))}
        nearest: dict[str, int] = {"": -1}
        result = np.full(len(bones), -1, np.int32)
        for number, bone in enumerate(bones):
            line: dict[str, None] = {}
            ancestor = above.get(bone.lower(), "")
            while ancestor not in nearest and ancestor not in place and ancestor not in line:
                line[ancestor] = None
                ancestor = above.get(ancestor, "")
            found = place.get(ancestor, nearest.get(ancestor, -1))
            nearest.update((name, found) for name in line)
            result[number] = found if found != number else -1
        return _without_rings(result)

    def unknown(self, bones: Sequence[str]) -> list[str]:
        """Which of ``bones`` it does not list."""
        listed = {bone.lower() for bone in self.parents}
        return [bone for bone in bones if bone.lower() not in listed]


def _without_rings(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same with one bone of every ring made a root."""
    seen = np.zeros(len(parents), np.int32)  # the walk (counted from 1) that came by
    for start in range(len(parents)):
        bone = start
        while bone >= 0 and not seen[bone]:
            seen[bone] = start + 1
            above = int(parents[bone])
            if above >= 0 and seen[above] == start + 1:
                parents[bone] = -1
            bone = int(parents[bone])
    return parents
