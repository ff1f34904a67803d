"""A `DeltaClip` as a binarised animation, rounded as the vendor's tool rounds.

The quaternion goes to the nearest step with w >= 0, the translation towards zero; halves without a leading one and
negative zeros do not occur in real files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import deltas, names, quantum, rotation, space
from ....core.model import DeltaClip
from ....core.report import Report
from ..hierarchy import Hierarchy
from .changes import BoneChange, ClipChanges
from .decoding import UNIT, parents_of, unpacked_transforms
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
"""What is left of a matrix by rotation and location and not worth a word."""


def encode_binarised(
    clip: DeltaClip,
    hierarchy: Hierarchy | None,
    base: Binarised | None = None,
    *,
    shown: Floats | None = None,
    reach: float = REACH,
) -> tuple[Binarised, ClipChanges]:
    """``base`` with this clip in it, or a new file of version 5; and what is no longer the base's.

    ``shown`` and ``reach`` as in `encode_plain`. Scale and shear cannot be held, and are said in ``left_out``. Raises
    `WriteError`, and `ReadError` for a hierarchy that is missing or fits no bone.
    """
    check(clip, base.bones if base is not None else (), len(base.phases) if base is not None else None)
    result = _empty(clip) if base is None else _with_fields_of(base, clip)
    parents = parents_of(clip.bones, hierarchy, Report())
    relative = deltas.relative(clip.deltas, parents)
    if base is None:
        refuse_broken(relative, np.ones(relative.shape, np.bool_), clip.bones)
        result.transforms = np.swapaxes(_packed(relative, turned=True), 0, 1)
        return result, ClipChanges(new=True, left_out=_left_out(relative, clip.bones))
    sources = Sources.of(clip, base.bones, base.phases)
    where, known = sources.grid()
    grid = relative.shape[:2]
    stored = np.swapaxes(base.transforms, 0, 1)[where] if known.any() else np.zeros(grid, TRANSFORM)
    turned = bool(base.turned)
    decoded = rotation.transforms(*space.arma_parent_transforms(*unpacked_transforms(stored), turned=turned))
    wanted = decoded if shown is None else deltas.relative(shown, parents)
    result.transforms, anew = _onto(stored, relative, kept_elements(relative, wanted, known, reach), turned)
    refuse_broken(relative, np.broadcast_to(anew[..., None, None], relative.shape), clip.bones)
    changed: NDArray[np.bool_] = np.array(~known)
    for name in ("rotation", "translation"):
        ours, theirs = (np.ascontiguousarray(side[name]).view(np.uint16) for side in (result.transforms, stored))
        changed[np.any(ours != theirs, axis=-1)] = True
    result.transforms = np.swapaxes(result.transforms, 0, 1)
    result, fields = _settled(result, base, clip, sources, changed)
    counts = changed.sum(axis=1)
    bones = tuple(BoneChange(clip.bones[place], int(counts[place])) for place in np.flatnonzero(counts))
    if not fields and not bones:
        return base, ClipChanges(untouched=len(base.bone_names))
    left_out = _left_out(relative, clip.bones, anew)
    return result, ClipChanges(False, bones, tuple(fields), left_out, len(clip.bones) - len(bones))


def _onto(
    stored: NDArray[Any], relative: Floats, kept: NDArray[np.bool_], turned: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Transforms (bones, frames) that keep the integers of what is ``kept`` (bones, frames, 4, 4), and which do not."""
    kept_turn: NDArray[np.bool_] = np.all(kept[..., :3, :3], axis=(2, 3))
    kept_place: NDArray[np.bool_] = kept[..., :3, 3]
    anew: NDArray[np.bool_] = ~(kept_turn & np.all(kept_place, axis=-1))
    result = np.array(stored)
    usable = anew & np.isfinite(relative).all(axis=(2, 3))
    result[usable] = _packed(relative[usable], turned=turned)
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


def _packed(relative: Floats, *, turned: bool) -> NDArray[Any]:
    """Transforms (...) of deltas relative to the parent (..., 4, 4)."""
    parts = deltas.decompose(relative)
    quaternions, metres = space.arma_parent_transforms_back(parts.rotations, parts.locations, turned=turned)
    quaternions = np.where(quaternions[..., :1] < 0, -quaternions, quaternions)
    result = np.empty(relative.shape[:-2], TRANSFORM)
    result["rotation"] = quantum.quantised(quaternions[..., [1, 2, 3, 0]], 1 / UNIT)
    result["translation"] = towards_zero(metres)
    return result


def towards_zero(values: Floats) -> NDArray[np.float16]:
    """The half-precision numbers next to values on the side of zero; 0 for what has no normal one (below 0.061 mm)."""
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype("<f2")
        beyond = np.abs(nearest.astype(np.float64)) > np.abs(values)
        result: NDArray[np.float16] = np.where(beyond, np.nextafter(nearest, np.float16(0)), nearest)
    result[np.abs(result) < np.finfo(np.float16).tiny] = 0
    return result


def _left_out(relative: Floats, bones: list[str], anew: NDArray[np.bool_] | None = None) -> tuple[str, ...]:
    """A sentence where scale or shear of what is written anew is lost."""
    linear = relative[..., :3, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        strange = np.abs(np.swapaxes(linear, -1, -2) @ linear - np.eye(3)).max(axis=(-1, -2), initial=0.0) / 2
    lost: NDArray[np.bool_] = strange > LARGEST_SCALE_ERROR
    if anew is not None:
        lost &= anew
    which = np.flatnonzero(lost.any(axis=1))
    if not len(which):
        return ()
    shown = ", ".join(bones[place] for place in which[:5])
    more = f" and {len(which) - 5} more" if len(which) > 5 else ""
    return (f"scale or shear (up to {strange[lost].max():.3g}) of {shown}{more}: binarised files have none",)
