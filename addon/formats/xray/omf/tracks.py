"""A motion's tracks side by side: its stored keys as a few arrays instead of an object for each bone.

Tracks of one layout lie apart in the file; their bytes are joined first and become one array then, so that the cost of
a track is two slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import space
from ....core.errors import ReadError
from .document import Motion, Track, TrackFlag
from .quantise import ROTATION_STEP, Translations

Floats = NDArray[np.float64]

MOST_FRAMES = 1_048_574
"""Blender numbers no frame higher."""
FREE_POSES = 1 << 18
POSES_PER_BYTE = 16
"""Frames times bones that motions may have: some in any case (64 bones for two minutes), more for each byte of them.

A bone that stands still costs the file the same few bytes for four billion frames as for one, but an array a row a
frame. Real files have at most 1.3 poses a byte, single motions of them 9.6.
"""

# Plain numbers: IntFlag arithmetic costs a microsecond, and these are asked once a track.
_KEYED, _SINGLE, _WIDE, _FLOATS = (int(flag) for flag in TrackFlag)


@dataclass(frozen=True)
class Tracks:
    """``rotations`` (tracks, frames, 4) wxyz and ``translations`` (tracks, frames, 3): Blender's axes, signs as stored.

    ``rotation_steps`` (tracks,) and ``translation_steps`` (tracks, 3) are what one step of the stored number means, 0
    for floats; ``rotation_keyed`` and ``translation_keyed`` (tracks,) tell keys from lone values.
    """

    rotations: Floats
    translations: Floats
    rotation_steps: Floats
    translation_steps: Floats
    rotation_keyed: NDArray[np.bool_]
    translation_keyed: NDArray[np.bool_]


def stored_translations(track: Track) -> Translations:
    """The translation half of a track."""
    return Translations(track.translation, bool(track.flags & _KEYED), track.size, track.init)


def overlong(motions: Sequence[Motion]) -> Motion | None:
    """The worst of motions that together claim more frames than their bytes bear, or than Blender can number."""
    poses = [motion.frames * motion.track_count for motion in motions]
    allowed = FREE_POSES + POSES_PER_BYTE * sum(len(motion.body) for motion in motions)
    if sum(poses) > allowed:
        return motions[poses.index(max(poses))]
    return next((motion for motion in motions if motion.frames > MOST_FRAMES), None)


def refuse_overlong(motions: Sequence[Motion], file: str = "") -> None:
    """Raise `ReadError` for motions whose frames would take memory that their bytes do not bear."""
    worst = overlong(motions)
    if worst is not None:
        raise ReadError(
            f"the motion {worst.label!r} claims {worst.frames} frames of {worst.track_count} bones "
            f"in {len(worst.body)} bytes",
            file=file,
            offset=worst.offset,
            remedy="Leave this motion out, or delete it from the file",
        )


def side_by_side(motion: Motion) -> Tracks:
    """A motion's tracks as arrays, a row for each frame. Raises `ReadError` as `refuse_overlong` does."""
    refuse_overlong([motion])
    flags = np.array([motion.flags(track) for track in range(motion.track_count)], np.uint8)
    rotation_keyed, translation_keyed = (flags & _SINGLE) == 0, (flags & _KEYED) != 0
    frames = max(motion.frames, 1)
    rotations, translations = np.empty((len(flags), frames, 4)), np.empty((len(flags), frames, 3))
    steps = np.zeros((len(flags), 3))
    with np.errstate(invalid="ignore"):  # a signalling NaN of a broken file becomes a quiet one
        if motion.frames and not (flags & _FLOATS).any():
            _read_rotations(motion, rotation_keyed, rotations)
            _read_translations(motion, flags, translations, steps)
        else:
            _read_one_by_one(motion, rotations, translations, steps)
    rotation_steps = np.where(flags & _FLOATS, 0.0, ROTATION_STEP)
    rotations *= np.where(flags & _FLOATS, 1.0, ROTATION_STEP)[:, None, None]
    return Tracks(
        rotations,
        space.xray_bone_translations(translations),
        rotation_steps,
        steps,
        rotation_keyed,
        translation_keyed,
    )


def joined(motion: Motion, starts: Iterable[int], dtype: str | np.dtype[Any], *shape: int) -> NDArray[Any]:
    """(len(starts), *shape) numbers that begin at ``starts``."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    body = motion.body
    return np.frombuffer(b"".join([body[start : start + size] for start in starts]), kind).reshape(-1, *shape)


def _read_rotations(motion: Motion, keyed: NDArray[np.bool_], rotations: Floats) -> None:
    starts = np.array(motion.starts[:-1], np.int64)
    if keyed.any():
        keys = joined(motion, (starts[keyed] + 5).tolist(), "<i2", motion.frames, 4)
        rotations[keyed] = space.xray_bone_rotations(keys)
    rotations[~keyed] = space.xray_bone_rotations(joined(motion, (starts[~keyed] + 1).tolist(), "<i2", 1, 4))


def _read_translations(motion: Motion, flags: NDArray[np.uint8], translations: Floats, steps: Floats) -> None:
    frames = motion.frames
    starts = np.array(motion.starts[:-1], np.int64) + 1 + np.where(flags & _SINGLE, 8, 4 + 8 * frames)
    keyed, wide = (flags & _KEYED) != 0, (flags & _WIDE) != 0
    translations[~keyed] = joined(motion, starts[~keyed].tolist(), "<f4", 1, 3)
    for chosen, dtype in ((keyed & ~wide, "i1"), (keyed & wide, "<i2")):
        if chosen.any():
            keys = joined(motion, (starts[chosen] + 4).tolist(), dtype, frames, 3)
            behind = starts[chosen] + 4 + keys[0].nbytes
            ranges = joined(motion, behind.tolist(), "<f4", 2, 3).astype(np.float64)
            steps[chosen] = ranges[:, 0]
            translations[chosen] = keys * ranges[:, :1] + ranges[:, 1:]


def _read_one_by_one(motion: Motion, rotations: Floats, translations: Floats, steps: Floats) -> None:
    """Float keys, and motions without frames (broken files), which stand still."""
    for index in range(motion.track_count):
        track = motion.track(index)
        stored = track.rotation if len(track.rotation) else np.array([[0, 0, 0, 32767]])
        rotations[index] = space.xray_bone_rotations(stored)
        translations[index] = stored_translations(track).decoded() if len(track.translation) else 0
        if track.size is not None:
            steps[index] = track.size
