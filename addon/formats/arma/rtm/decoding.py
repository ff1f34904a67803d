"""An animation as a `DeltaClip`: model-space matrices in Blender's axes.

A plain file has them. A binarised one stores of each bone, in game axes turned half round about y (``S``), the
transposed rotation R(q), a scale s and a translation relative to the parent: ``D = S [s R(q)^T | t] S``, and the
model-space matrix is the parent's times D. So it takes the hierarchy, but not where the joints are. The scale is the
square of the quaternion's length: in files of scaled bones only so do the joints of parent and child meet (0.54 m
apart without it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import deltas, names, rotation, space
from ....core.errors import ReadError
from ....core.model import DeltaClip, Event
from ....core.report import Report
from ..hierarchy import Hierarchy
from .document import Binarised, Plain, Rtm, StoredEvent, texts_of

Floats = NDArray[np.float64]

UNIT = 16384.0
"""What 1 is stored as in a binarised quaternion."""
SLIGHTEST_LENGTH = 2e-3
"""By how much a quaternion's length must differ from 1 for a scale that is seen (4 mm at a metre)."""
ROUNDING = 5e-4
"""Metres that a point near a binarised bone may be off: for what is computed from such a clip."""


def decode(
    document: Rtm, report: Report, hierarchy: Hierarchy | None = None, name: str = "", *, scaled: bool = True
) -> DeltaClip:
    """The animation as a clip of this name. Raises `ReadError` for a binarised one without a ``hierarchy``.

    Matrices that are not finite (broken files) are decoded as they are. ``scaled`` as in `transforms_of`.
    """
    if isinstance(document, Plain):
        rows = np.swapaxes(placed(document), 0, 1)
        found = space.arma_deltas(rows)
    else:
        found = deltas.absolute(relative_deltas(document, scaled=scaled), parents_of(document.bones, hierarchy, report))
    repeated = names.duplicates(document.bones)
    if repeated:
        report.warn(f"bones the game takes for one: {', '.join('/'.join(group) for group in repeated[:5])}", name)
    return DeltaClip(
        name,
        document.bones,
        found,
        np.array(document.phases, np.float32),
        space.arma_points(document.step.astype(np.float64)),
        events_of(document),
    )


def placed(document: Plain) -> NDArray[np.float32]:
    """The matrices (frames, bones, 4, 3) in the order of the file's bones, where a frame names them in another."""
    rows = document.matrices
    changed = np.flatnonzero(document.frame_names_differ())
    if not len(changed):
        return rows
    rows = rows.copy()
    for frame in changed:
        order = frame_order(document, int(frame))
        rows[frame] = document.matrices[frame][order]
    return rows


def frame_order(document: Plain, frame: int) -> NDArray[np.intp]:
    """(bones,) where in this frame each of the file's bones stands; as it is where the frame names others."""
    wanted = [text.lower() for text in texts_of(document.bone_fields)]
    there = {text.lower(): place for place, text in enumerate(texts_of(document.frame_fields[frame]))}
    if len(there) == len(wanted) and set(there) == set(wanted):
        return np.array([there[text] for text in wanted], np.intp)
    return np.arange(len(wanted))


def parents_of(bones: Sequence[str], hierarchy: Hierarchy | None, report: Report) -> NDArray[np.int32]:
    """(bones,) the parents that a binarised file's bones are relative to.

    Raises `ReadError` without a hierarchy, for one that is only for display, and for one that lists none of the bones.
    """
    remedy = "Give the skeleton's model.cfg, or choose a built-in skeleton"
    if hierarchy is None or hierarchy.for_display:
        missing = "" if hierarchy is None else f" ({hierarchy.name} has no hierarchy in the game)"
        raise ReadError(
            f"a binarised animation holds each bone relative to its parent, and no file names the parents{missing}",
            remedy=remedy,
        )
    odd = hierarchy.unknown(bones)
    if odd and len(odd) == len(bones):
        raise ReadError(f"the skeleton {hierarchy.name} lists none of the animation's bones", remedy=remedy)
    if odd:
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        report.warn(f"the skeleton {hierarchy.name} does not list {', '.join(odd[:5])}{more}: taken as roots")
    return hierarchy.parent_indices(bones)


def relative_deltas(document: Binarised, *, scaled: bool = True) -> Floats:
    """(bones, frames, 4, 4) transform of each bone relative to its parent, in Blender's axes.

    ``scaled`` as in `transforms_of`.
    """
    return transforms_of(np.swapaxes(document.transforms, 0, 1), turned=bool(document.turned), scaled=scaled)


def transforms_of(stored: NDArray[Any], *, turned: bool, scaled: bool = True) -> Floats:
    """(..., 4, 4) what transforms (...) as stored mean in Blender's axes; a zero quaternion is the identity.

    Not ``scaled``: without the uniform scales, as version 0.1.0 read them.
    """
    quaternions = stored["rotation"].astype(np.float64)[..., [3, 0, 1, 2]] / UNIT
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        metres = stored["translation"].astype(np.float64)
    turns, places = space.arma_parent_transforms(rotation.normalised(quaternions), metres, turned=turned)
    result = rotation.transforms(turns, places)
    if scaled:
        squares = np.einsum("...i,...i->...", quaternions, quaternions)
        result[..., :3, :3] *= np.where(squares > 0, squares, 1.0)[..., None, None]
    return result


def scaled_bones(document: Binarised) -> list[str]:
    """The bones whose quaternions hold a visible scale."""
    lengths = np.linalg.norm(document.transforms["rotation"].astype(np.float64), axis=-1) / UNIT
    odd = (np.abs(lengths - 1.0) > SLIGHTEST_LENGTH) & (lengths > 0)
    return [document.bones[place] for place in np.flatnonzero(odd.any(axis=0))]


def events_of(document: Rtm) -> list[Event]:
    """The events in the file's order."""
    return [event_of(stored) for stored in document.events or ()]


def event_of(stored: StoredEvent) -> Event:
    """One event as text."""
    return Event(stored.phase, names.decode(stored.name), names.decode(stored.value))
