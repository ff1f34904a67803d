"""Colours of occluders and sound occluders, by their attributes, and faces whose colours show other values."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....blender import material
from ....core import problems
from ....core.model import Domain, Mesh
from ....core.problems import Problem
from ....core.report import say
from ....formats.xray import occluders, som
from .materials import Slots, numbered

if TYPE_CHECKING:
    from ....blender.typed import Object


MOST_SHARES = 16
"""Most occlusion factors with exact colours; if there are more, they are rounded to tenths."""
ONE_SIDED, TWO_SIDED = (0.95, 0.45, 0.08, 1.0), (0.15, 0.55, 0.85, 1.0)
BACK = (0.06, 0.06, 0.07, 1.0)
"""Colour of the back of one-sided faces, which hides nothing."""


def share_colour(share: float) -> tuple[float, float, float, float]:
    """Return a colour from red (silences) over yellow to green (lets all sound through)."""
    return (*colorsys.hsv_to_rgb(min(max(share, 0.0), 1.0) / 3, 0.85, 0.85), 1.0)


def slots(two_sided: NDArray[np.bool_], occlusion: NDArray[np.float32] | None = None) -> Slots:
    """Return a colour each for one- and two-sided faces, and for each share of the volume that these let through.

    ``occlusion`` (faces,): the shares, for sound occluders.
    """
    if occlusion is None:
        return [_colour(True, None), _colour(False, None)], (~two_sided).astype(np.int32)
    finite = np.nan_to_num(occlusion.astype(np.float64), nan=0.0, posinf=1.0, neginf=0.0)
    shares, index_of_share = np.unique(finite, return_inverse=True)
    if len(shares) > MOST_SHARES:
        shares, index_of_share = np.unique(np.round(np.clip(finite, 0.0, 1.0), 1), return_inverse=True)
    numbers, index = numbered((2 * index_of_share.ravel() + ~two_sided).astype(np.int32))
    return [_colour(number % 2 == 0, float(shares[number // 2])) for number in numbers.tolist()], index


def _colour(two_sided: bool, share: float | None) -> Any:
    """Return the material of occluders, or of sound occluders that let a ``share`` through, in whole percents."""
    shows: dict[str, Any] = {occluders.TWO_SIDED: two_sided}
    if share is None:
        name = say("occluder, two-sided" if two_sided else "occluder, one-sided")
        colour = TWO_SIDED if two_sided else ONE_SIDED
    else:
        shows[som.OCCLUSION] = round(share, 2)
        words = "lets {}% of sound through" if two_sided else "lets {}% of sound through, one-sided"
        name = say(words, round(100 * shows[som.OCCLUSION]))
        colour = share_colour(share)
    return material.build_coloured(name, colour, back=None if two_sided else BACK, shows=shows)


def find_miscoloured(obj: Object, mesh: Mesh) -> Iterator[Problem]:
    """Yield a problem of the triangles of occluders whose colour shows other values than they have.

    A face that is drawn in Edit Mode has the colour of the first slot, and 0 in all attributes; one that is joined from
    another mesh has that mesh's material. Other materials that are not colours of ours show nothing.
    """
    if obj.motionbridge_level.kind not in ("HOM", "SOM"):
        return
    sides = mesh.values(occluders.TWO_SIDED, Domain.FACE)
    used = material.materials_of(obj, obj.data)
    if sides is None or mesh.material_index is None or not used:
        return
    index = np.clip(mesh.material_index, 0, len(used) - 1)
    values = [
        material_in_use.get(material.SHOWS, {}) if material_in_use is not None else {} for material_in_use in used
    ]
    colours = np.array([occluders.TWO_SIDED in value for value in values])
    shown_sides = np.array([bool(value.get(occluders.TWO_SIDED)) for value in values])
    wrong = shown_sides[index] != sides.astype(np.bool_)
    plain = ~sides.astype(np.bool_)
    words = "{0:has|have} no color of an occluder, and {0:is|are} written one-sided"
    shares = mesh.values(som.OCCLUSION, Domain.FACE)
    remedy = "Select {0:it|them} and click Two-Sided or One-Sided"
    if obj.motionbridge_level.kind == "SOM" and shares is not None:
        finite = np.clip(np.nan_to_num(shares.astype(np.float64), nan=0.0), 0.0, 1.0)
        shown_shares = np.array([float(value.get(som.OCCLUSION, 0.0)) for value in values])
        step = 0.1 if len(np.unique(finite)) > MOST_SHARES else 0.01
        wrong |= np.abs(shown_shares[index] - finite) > 0.51 * step
        plain &= finite == 0
        words = (
            "{0:has|have} no color of a sound occluder, and {0:is|are} written one-sided and letting no sound through"
        )
        remedy = "Select {0:it|them}, click Two-Sided or One-Sided, and set the sound that passes through"
    what = "{0:has|have} other values than {0:its|their} color shows, and the values are exported"
    yield from problems.some(wrong & colours[index], "face|faces", what, remedy)
    yield from problems.some(plain & ~colours[index] & colours.any(), "face|faces", words, remedy)
