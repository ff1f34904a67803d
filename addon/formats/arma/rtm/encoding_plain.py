"""A `DeltaClip` as a plain animation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....core import names, space
from ....core.model import DeltaClip
from .changes import BoneChange, ClipChanges
from .decoding import frame_order, placed
from .document import NAME_SIZE, PLAIN, Plain, name_field
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


def encode_plain(
    clip: DeltaClip, base: Plain | None = None, *, shown: Floats | None = None, reach: float = REACH
) -> tuple[Plain, ClipChanges]:
    """``base`` with this clip in it, or a new file; and what is no longer the base's.

    ``shown`` (bones, frames, 4, 4) as the clip's: the deltas an untouched base would have come back as, where that is
    not what it decodes to; only rows that the base has are looked at. Raises `WriteError`.
    """
    check(clip, base.bones if base is not None else (), len(base.phases) if base is not None else None)
    if base is None:
        rows = space.arma_deltas_back(clip.deltas)
        refuse_broken(rows, np.ones(rows.shape, np.bool_), clip.bones)
        fields = _new_fields(clip.bones)
        events = stored_events(clip.events, (), kinds=False)
        step = space.arma_points(clip.step).astype("<f4")
        return Plain(PLAIN, step, fields, *_frames(clip, fields, rows), events or None), ClipChanges(new=True)
    sources = Sources.of(clip, base.bones, base.phases)
    matrices, changed = _matrices(clip, base, sources, shown, reach)
    result = replace(base, step=kept_step(space.arma_points(clip.step), base.step))
    if changed.any() or not sources.complete(len(base.bone_fields), len(base.phases)) or clip.bones != base.bones:
        _replace(result, base, clip, sources, matrices)
    fields_changed = _settle(result, base, clip)
    counts = changed.sum(axis=1)
    bones = tuple(BoneChange(clip.bones[place], int(counts[place])) for place in np.flatnonzero(counts))
    if not fields_changed and not bones:
        return base, ClipChanges(untouched=len(base.bone_fields))
    untouched, frames = len(clip.bones) - len(bones), int(changed.any(axis=0).sum())
    return result, ClipChanges(bones=bones, fields=tuple(fields_changed), untouched=untouched, frames=frames)


def _frames(
    clip: DeltaClip, fields: NDArray[np.uint8], rows: Floats
) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.float32]]:
    """Phases, names and matrices of frames that come from no file."""
    again = np.broadcast_to(fields, (clip.frames, *fields.shape))
    return clip.phases.astype("<f4"), again, np.swapaxes(rows, 0, 1).astype("<f4")


def _matrices(
    clip: DeltaClip, base: Plain, sources: Sources, shown: Floats | None, reach: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The file's matrices (bones, frames, 4, 3), and which (bones, frames) are no longer the base's."""
    rows = space.arma_deltas_back(clip.deltas)
    where, known = sources.grid()
    stored = np.swapaxes(placed(base), 0, 1)[where] if known.any() else np.zeros(rows.shape, "<f4")
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        wanted = stored.astype(np.float64) if shown is None else space.arma_deltas_back(shown)
    kept = kept_elements(rows, wanted, known, reach)
    refuse_broken(rows, ~kept, clip.bones)
    with np.errstate(over="ignore", invalid="ignore"):
        matrices: NDArray[np.float32] = np.where(kept, stored, rows.astype("<f4"))
    changed: NDArray[np.bool_] = np.any(~kept, axis=(2, 3))
    return matrices, changed


def _replace(result: Plain, base: Plain, clip: DeltaClip, sources: Sources, matrices: NDArray[np.float32]) -> None:
    """Names and matrices in the clip's order; fields keep the bytes behind their names where the name is the same."""
    fields = _new_fields(clip.bones)
    old = base.bones
    pairs = enumerate(sources.bones.tolist())
    same = np.array([place for place, source in pairs if source >= 0 and old[source] == clip.bones[place]], np.intp)
    fields[same] = base.bone_fields[sources.bones[same]]
    again = np.repeat(fields[None], clip.frames, axis=0)
    known = np.flatnonzero(sources.frames >= 0)
    ordered = _ordered_fields(base)
    again[np.ix_(known, same)] = ordered[np.ix_(sources.frames[known], sources.bones[same])]
    matrices = np.swapaxes(matrices, 0, 1)
    if sources.complete(len(base.bone_fields), len(base.phases)):
        # A frame that names its bones in an order of its own keeps it.
        for frame in np.flatnonzero(base.frame_names_differ()):
            order = frame_order(base, int(frame))
            back = np.argsort(order)
            again[frame], matrices[frame] = again[frame][back], matrices[frame][back]
    result.bone_fields, result.frame_fields, result.matrices = fields, again, matrices


def _ordered_fields(base: Plain) -> NDArray[np.uint8]:
    changed = np.flatnonzero(base.frame_names_differ())
    if not len(changed):
        return base.frame_fields
    fields = base.frame_fields.copy()
    for frame in changed:
        fields[frame] = base.frame_fields[frame][frame_order(base, int(frame))]
    return fields


def _new_fields(bones: list[str]) -> NDArray[np.uint8]:
    fields = [name_field(names.encode(bone)) for bone in bones]
    return np.array(fields, np.uint8).reshape(len(bones), NAME_SIZE)


def _settle(result: Plain, base: Plain, clip: DeltaClip) -> list[str]:
    """Take the clip's phases, step and events; the names of the fields in which that is no longer the base."""
    changed = []
    if clip.bones != base.bones:
        changed.append("bones")
    if len(clip.phases) != len(base.phases):
        changed.append("frames")
    elif not same_bits(clip.phases, base.phases):
        changed.append("phases")
    if "phases" in changed or "frames" in changed:
        result.phases = clip.phases.astype("<f4")
    if not same_bits(result.step, base.step):
        changed.append("step")
        if result.step[:2].any() and result.magic != PLAIN:
            result.magic = PLAIN
            changed.append("version")
    events = stored_events(clip.events, base.events or (), kinds=False)
    if [event.says for event in events] != [event.says for event in base.events or ()]:
        result.events = events or (None if base.events is None else [])
        changed.append("events")
    return changed
