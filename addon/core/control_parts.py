"""What of a skeleton gets controls beside its limbs, found by names and head positions alone.

Heads are (bones, 3) in the armature's space, metres, z up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .body import Body, Part, Side, children_of, main_children

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Torso:
    """The bone that carries the legs, the first bone of the spine above it, and the spine from there, upwards."""

    pelvis: int
    waist: int
    spine: tuple[int, ...]

    @property
    def bending(self) -> tuple[int, ...]:
        """What of the spine bends together; one bone alone needs no control for that."""
        return self.spine if len(self.spine) > 1 else ()


def torso_of(parents: Sequence[int], heads: Floats, body: Body) -> Torso | None:
    """Where the body above the legs begins; None where the legs have no bone of the spine in common."""
    legs = [bone for bone, part in enumerate(body.parts) if part is Part.LEG and body.sides[bone] is not Side.NONE]
    lines = [_above(leg, parents) for leg in legs]
    common = [bone for bone in lines[0] if all(bone in line for line in lines)] if lines else []
    pelvis = next((bone for bone in common if body.parts[bone] is Part.SPINE), -1)
    main, children = main_children(heads, parents, body), children_of(parents)
    upper = [bone for bone, part in enumerate(body.parts) if part in {Part.ARM, Part.HEAD}]
    carried = {above for bone in upper for above in _above(bone, parents) if body.parts[above] is Part.SPINE}
    carrying = [child for child in (children[pelvis] if pelvis >= 0 else []) if child in carried]
    if not carrying:
        return None
    waist = main[pelvis] if main[pelvis] in carrying else carrying[0]
    spine = [waist]
    while main[spine[-1]] in carried:
        spine.append(main[spine[-1]])
    return Torso(pelvis, waist, tuple(spine))


def _above(bone: int, parents: Sequence[int]) -> list[int]:
    """A bone and all that it is below, from the bone up."""
    line = []
    while bone >= 0:
        line.append(bone)
        bone = parents[bone]
    return line
