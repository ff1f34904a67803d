"""A `DeltaClip` as a binarised animation, rounded as the vendor's tool rounds.

The quaternion goes to the nearest step, its length the square root of the scale; its sign makes w positive for turns of
up to 120 degrees, and beyond that the largest of x, y, z. The translation goes towards zero, unless it is a half but
for the noise of 32-bit matrices: always towards zero, a file would lose a step each time it becomes plain and binarised
again. Halves without a leading one and negative zeros do not occur in real files. Measured on real files, of which
every quaternion comes back to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import deltas, names, quantum, space
from ....core.model import DeltaClip
from ....core.report import Report
from ..hierarchy import Hierarchy
from .changes import BoneChange, ClipChanges
from .decoding import UNIT, parents_of, transforms_of
from .document import PACKED_BY_FLAG, TRANSFORM, WITH_EVENTS, Binarised
from .encoding import (
    REACH,
    Floats,
    Sources,
    check,
    kept_elements,
    kept_step,
    refuse_broken,
    same_bits,
    stored_events,
)

PRELOADED_FRAMES = 3
"""The engine keeps animations of up to so many frames in memory."""
LARGEST_SCALE_ERROR = 2e-3
"""What a rotation and a scale may leave of a matrix without a word."""
LARGEST_PLACE_ERROR = 0.01
"""Metres that rounding may move a bone without a word."""
LARGEST_STEP = 32767
NOISE = 2.0**-20
"""Of the magnitude: what 32-bit matrices along a chain of bones may be off."""
COARSEST = 2.0**-22
"""Of the magnitude: finer steps than that are noise."""


def encode_binarised(
    clip: DeltaClip,
    hierarchy: Hierarchy | None,
    base: Binarised | None = None,
    *,
    shown: Floats | None = None,
    reach: float = REACH,
) -> tuple[Binarised, ClipChanges]:
    """``base`` with this clip in it, or a new file of version 5; and what is no longer the base's.

    ``shown`` and ``reach`` as in `encode_plain`. What cannot be held (shear, scale that differs by axis, large
    translations to the millimetre) is said in ``left_out``. Raises `WriteError`, and `ReadError` for a hierarchy that
    is missing or fits no bone.
    """
    check(clip, base.bones if base is not None else (), len(base.phases) if base is not None else None)
    result = _empty(clip) if base is None else _with_fields_of(base, clip)
    parents = parents_of(clip.bones, hierarchy, Report())
    relative = deltas.relative(clip.deltas, parents)
    if base is None:
        refuse_broken(relative, np.ones(relative.shape, np.bool_), clip.bones)
        packed = _packed(relative, _magnitude(clip), turned=True)
        result.transforms = np.swapaxes(packed, 0, 1)
        return result, ClipChanges(
            new=True, left_out=_left_out(relative, transforms_of(packed, turned=True), clip.bones)
        )
    sources = Sources.of(clip, base.bones, base.phases)
    where, known = sources.grid()
    grid = relative.shape[:2]
    stored = np.swapaxes(base.transforms, 0, 1)[where] if known.any() else np.zeros(grid, TRANSFORM)
    turned = bool(base.turned)
    if shown is None:
        # Along the hierarchy and back, as the clip came: what is NaN or infinite then spreads to children in both.
        shown = deltas.absolute(transforms_of(stored, turned=turned), parents)
    wanted = deltas.relative(shown, parents)
    kept = kept_elements(relative, wanted, known, reach)
    result.transforms, anew = _onto(stored, relative, kept, _magnitude(clip), turned)
    refuse_broken(relative, np.broadcast_to(anew[..., None, None], relative.shape), clip.bones)
    changed: NDArray[np.bool_] = np.array(~known)
    for name in ("rotation", "translation"):
        ours, theirs = (np.ascontiguousarray(side[name]).view(np.uint16) for side in (result.transforms, stored))
        changed[np.any(ours != theirs, axis=-1)] = True
    left_out = _left_out(relative, transforms_of(result.transforms, turned=turned), clip.bones, anew)
    result.transforms = np.swapaxes(result.transforms, 0, 1)
    result, fields = _settled(result, base, clip, sources, changed)
    counts = changed.sum(axis=1)
    bones = tuple(BoneChange(clip.bones[place], int(counts[place])) for place in np.flatnonzero(counts))
    if not fields and not bones:
        return base, ClipChanges(left_out=left_out, untouched=len(base.bone_names))
    frames = int(changed.any(axis=0).sum())
    return result, ClipChanges(False, bones, tuple(fields), left_out, len(clip.bones) - len(bones), frames)


def _onto(
    stored: NDArray[Any], relative: Floats, kept: NDArray[np.bool_], magnitude: float, turned: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Transforms (bones, frames) that keep the integers of what is ``kept`` (bones, frames, 4, 4), and which do not."""
    kept_turn: NDArray[np.bool_] = np.all(kept[..., :3, :3], axis=(2, 3))
    kept_place: NDArray[np.bool_] = kept[..., :3, 3]
    anew: NDArray[np.bool_] = ~(kept_turn & np.all(kept_place, axis=-1))
    result = np.array(stored)
    usable = anew & np.isfinite(relative).all(axis=(2, 3))
    result[usable] = _packed(relative[usable], magnitude, turned=turned)
    result["rotation"] = np.where(kept_turn[..., None], stored["rotation"], result["rotation"])
    # What the file calls y and z are the other way round in Blender.
    result["translation"] = np.where(kept_place[..., [0, 2, 1]], stored["translation"], result["translation"])
    return result, anew


def _empty(clip: DeltaClip) -> Binarised:
    frames, bones = clip.frames, [names.encode(bone.lower()) for bone in clip.bones]
    return Binarised(
        PACKED_BY_FLAG,
        1,
        space.arma_points(clip.step).astype("<f4"),
        int(frames <= PRELOADED_FRAMES),
        len(bones),
        bones,
        clip.phases.astype("<f4"),
        np.empty((frames, len(bones)), TRANSFORM),
        events=stored_events(clip.events, (), kinds=True),
        blocks=[b""] * frames,
    )


def _with_fields_of(base: Binarised, clip: DeltaClip) -> Binarised:
    result = _empty(clip)
    for name in ("version", "turned", "preload", "first_frame_bones", "meta", "phases_block", "tail"):
        setattr(result, name, getattr(base, name))
    if [bone.lower() for bone in clip.bones] == [bone.lower() for bone in base.bones]:
        result.bone_names = base.bone_names
    else:
        result.first_frame_bones = len(clip.bones)
    result.step = kept_step(space.arma_points(clip.step), base.step)
    result.events = stored_events(clip.events, base.events, kinds=True)
    return result


def _settled(
    result: Binarised, base: Binarised, clip: DeltaClip, sources: Sources, changed: NDArray[np.bool_]
) -> tuple[Binarised, list[str]]:
    """The result with the base's compressed blocks where a frame is still the base's; the names of changed fields."""
    fields = []
    same_bones = result.bone_names == base.bone_names
    if not same_bones:
        fields.append("bones")
    if len(clip.phases) != len(base.phases):
        fields.append("frames")
        result.preload = int(clip.frames <= PRELOADED_FRAMES)
    elif not same_bits(result.phases, base.phases):
        fields.append("phases")
    if "frames" in fields or "phases" in fields:
        result.phases_block = b""
    if not same_bits(result.step, base.step):
        fields.append("step")
    if [event.says for event in result.events] != [event.says for event in base.events]:
        fields.append("events")
        if result.version < WITH_EVENTS and result.events:
            fields.append("version")
            return result.unpacked(), fields
    if same_bones:
        touched = np.asarray(np.any(changed, axis=0))
        result.blocks = [
            base.blocks[source] if source >= 0 and not anew else b""
            for source, anew in zip(sources.frames.tolist(), touched.tolist(), strict=True)
        ]
    return result, fields


def _magnitude(clip: DeltaClip) -> float:
    """The power of two that no coordinate of the clip's matrices exceeds, at least 1: their noise grows with it."""
    sizes = np.abs(clip.deltas[..., :3, 3])
    largest = float(sizes.max(where=np.isfinite(sizes), initial=1.0))
    return float(2.0 ** np.ceil(np.log2(largest)))


def _packed(relative: Floats, magnitude: float, *, turned: bool) -> NDArray[Any]:
    """Transforms (...) of deltas relative to the parent (..., 4, 4); ``magnitude`` as in `halves`."""
    parts = deltas.decompose(relative)
    quaternions, metres = space.arma_parent_transforms_back(parts.rotations, parts.locations, turned=turned)
    w, others = quaternions[..., 0], quaternions[..., 1:]
    largest = np.take_along_axis(others, np.abs(others).argmax(axis=-1)[..., None], -1)[..., 0]
    quaternions *= np.where(np.where(w * w >= 0.25, w, largest) < 0, -1.0, 1.0)[..., None]
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.cbrt(np.abs(np.linalg.det(relative[..., :3, :3]))))
    result = np.empty(relative.shape[:-2], TRANSFORM)
    steps = quantum.quantised(quaternions * lengths[..., None], 1 / UNIT)[..., [1, 2, 3, 0]]
    result["rotation"] = np.clip(steps, -LARGEST_STEP, LARGEST_STEP)
    result["translation"] = halves(metres, magnitude)
    return result


def halves(values: Floats, magnitude: float) -> NDArray[np.float16]:
    """Half-precision numbers for metres in matrices relative to the parent, as close to the vendor's as noise allows.

    ``magnitude`` (a power of two, metres) is the size of the 32-bit numbers that the values were computed from. A value
    within their noise of a half is that half, others are rounded towards zero. Where halves are finer than that noise,
    the nearest multiple of it is taken, or the next cycle would give other bits. 0 for what has no normal half (below
    0.061 mm); what exceeds the largest half (65504 m) becomes that.
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype("<f2")
        exact = nearest.astype(np.float64)
        beyond = (np.abs(exact) > np.abs(values)) & ~(np.abs(exact - values) <= magnitude * NOISE)
        result: NDArray[np.float16] = np.where(beyond, np.nextafter(nearest, np.float16(0)), nearest)
        coarse = magnitude * COARSEST
        result = np.where(np.abs(values) < coarse * 2**10, (np.rint(values / coarse) * coarse).astype("<f2"), result)
    result[np.abs(result) < np.finfo(np.float16).tiny] = 0
    return result


def _left_out(
    relative: Floats, written: Floats, bones: list[str], anew: NDArray[np.bool_] | None = None
) -> tuple[str, ...]:
    """Sentences on how what is ``written`` anew (bones, frames, 4, 4) differs visibly from what was wanted."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(relative - written)[..., :3, :]
    sentences = (
        (
            "shear, or scale that differs by axis or exceeds 4, (up to {:.3g}) of {}: binarised files cannot hold it",
            apart[..., :3].max(axis=(-1, -2), initial=0.0),
            LARGEST_SCALE_ERROR,
        ),
        (
            "positions of {1} are rounded by up to {0:.2g} m: binarised files hold 11 bits of each",
            apart[..., 3].max(axis=-1, initial=0.0),
            LARGEST_PLACE_ERROR,
        ),
    )
    found = []
    for sentence, errors, allowed in sentences:
        lost: NDArray[np.bool_] = errors > allowed
        if anew is not None:
            lost &= anew
        which = np.flatnonzero(lost.any(axis=1))
        if len(which):
            shown = ", ".join(bones[place] for place in which[:5])
            more = f" and {len(which) - 5} more" if len(which) > 5 else ""
            found.append(sentence.format(errors[lost].max(), shown + more))
    return tuple(found)
