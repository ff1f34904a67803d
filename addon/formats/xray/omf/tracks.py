"""Convert between the tracks of a motion and arrays of exact keys.

Tracks of one layout are read and written together, as rows of one array (`document.track_layout`): some thirty numpy
calls for 47 tracks instead of two thousand. A single track is an array of one row.

Writing follows the rules of the game's editor (``ExportSkeleton.cpp``): a single translation if every frame is within 1
mm of the mean on each axis; a single rotation if all quantised ones are equal; a CRC-32 before each run of keys. Two
rules differ. The editor uses 8-bit translation keys unless half the range exceeds 1.5 m, which moves keys by up to 6
mm; here 16 bits are used if 8 would move a key by more than `NARROW_ERROR`. The editor truncates; here numbers are
rounded, which halves the error and, unlike truncation, reproduces a file's own integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum, rotation, space
from ....core.errors import ReadError, WriteError
from ....core.model import Clip
from ....core.report import say
from .document import Motion, TrackFlag, checksum, track_layout, tracks_by_layout

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ROTATION_STEP = 1.0 / 32767.0
NARROW_ERROR = 1e-4
"""Largest error in metres on an axis of 8-bit translation keys; 16 bits are used above it."""
CONSTANT_WITHIN = 1e-3
"""Largest distance in metres from the mean on an axis of a translation that is stored as a single value."""
MOST_FRAMES = 1_048_574
"""Highest frame number of Blender."""
FREE_POSES = 1 << 18
"""Poses (frames times bones) that motions may declare in any case: 64 bones for two minutes."""
POSES_PER_BYTE = 16
"""Poses that motions may declare in addition for each byte of their data.

A bone without keys takes the same few bytes for four billion frames as for one, but an array has a row per frame. Real
files have at most 1.3 poses per byte, a single motion in them at most 9.6.
"""

# Plain integers: IntFlag arithmetic costs a microsecond, and these are used once per track.
_KEYED, _SINGLE, _WIDE, _FLOATS = (int(flag) for flag in TrackFlag)


@dataclass(frozen=True)
class Tracks:
    """The tracks of a motion as arrays in Blender's axes, with the stored signs of quaternions.

    ``rotations`` (tracks, frames, 4) wxyz, ``translations`` (tracks, frames, 3) metres. ``rotation_steps`` (tracks,)
    and ``translation_steps`` (tracks, 3) are the value of one step of the stored integer, 0 for floats.
    ``rotation_keyed`` and ``translation_keyed`` (tracks,) tell keys from single values.
    """

    rotations: Floats
    translations: Floats
    rotation_steps: Floats
    translation_steps: Floats
    rotation_keyed: NDArray[np.bool_]
    translation_keyed: NDArray[np.bool_]


def overlong(motions: Sequence[Motion]) -> Motion | None:
    """Return the worst of the motions that cannot be imported; None if all can.

    Either the motions together declare more frames than their data can hold, or one has more than Blender supports.
    """
    poses = [motion.frames * motion.track_count for motion in motions]
    allowed = FREE_POSES + POSES_PER_BYTE * sum(len(motion.body) for motion in motions)
    if sum(poses) > allowed:
        return motions[poses.index(max(poses))]
    return next((motion for motion in motions if motion.frames > MOST_FRAMES), None)


def refuse_overlong(motions: Sequence[Motion], file: str = "") -> None:
    """Raise `ReadError` for motions that declare far more frames than their data can hold (`overlong`)."""
    worst = overlong(motions)
    if worst is not None:
        words = "the motion {!r} declares {:# frame|# frames} of {:# bone|# bones} in {:# byte|# bytes}"
        raise ReadError(
            say(words, worst.label, worst.frames, worst.track_count, len(worst.body)),
            file=file,
            offset=worst.offset,
            remedy="Leave this motion out, or delete it from the file",
        )


def frame_indices(frames: int, base_frames: int) -> Any:
    """Return the row of a base for each of ``frames`` frames: after the base's end, its last row."""
    return slice(None) if frames == max(base_frames, 1) else np.minimum(np.arange(frames), max(base_frames, 1) - 1)


def rescaled_tracks(before: Motion, after: Motion) -> list[int]:
    """Return the tracks whose translations are stored in another range, as single values before or as keys now: all
    their frames are rounded again. Both motions have the same tracks.
    """

    def stored(motion: Motion, track: int) -> tuple[Any, ...]:
        row = motion.track(track)
        return row.flags & (_KEYED | _FLOATS), *(of.tobytes() if of is not None else b"" for of in (row.size, row.init))

    tracks = range(min(before.track_count, after.track_count))
    return [track for track in tracks if stored(before, track) != stored(after, track)]


# ---- from stored numbers to arrays


def track_arrays(motion: Motion) -> Tracks:
    """Return all tracks of a motion as arrays with one row per frame. Raises `ReadError` as `refuse_overlong` does.

    Without frames (broken files) there is one row, where keys are missing that of no rotation and translation.
    """
    refuse_overlong([motion])
    flags = motion.all_flags
    frames = max(motion.frames, 1)
    rotations, translations = np.empty((len(flags), frames, 4)), np.empty((len(flags), frames, 3))
    steps = np.zeros((len(flags), 3))
    if not motion.frames:
        rotations[:], translations[:] = (1, 0, 0, 0), 0
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinities of broken files are kept
        for layout, tracks in tracks_by_layout(flags):
            rows = motion.rows(tracks, layout)
            if layout & _SINGLE or motion.frames:
                rotations[tracks] = space.xray_bone_rotations(rows["rotation"])
                if not layout & _FLOATS:
                    rotations[tracks] *= ROTATION_STEP
            if layout & (_KEYED | _FLOATS) == _KEYED:
                steps[tracks] = rows["size"]
            if motion.frames or not layout & _KEYED:
                translations[tracks] = _decoded_translations(rows)
    return Tracks(
        rotations,
        space.xray_bone_translations(translations),
        np.where(flags & _FLOATS, 0.0, ROTATION_STEP),
        steps,
        (flags & _SINGLE) == 0,
        (flags & _KEYED) != 0,
    )


def _decoded_translations(rows: NDArray[np.void]) -> NDArray[Any]:
    """Return the translations of tracks in metres, computed as in the engine but in float64."""
    keys: NDArray[Any] = rows["translation"]
    if "size" not in (rows.dtype.names or ()):
        return keys
    return keys * rows["size"][:, None].astype(np.float64) + rows["init"][:, None].astype(np.float64)


# ---- from arrays to stored numbers


class Width(Enum):
    """Number of bits of a translation key. `AUTOMATIC`: 8 if `NARROW_ERROR` allows it, else 16."""

    AUTOMATIC = 0
    NARROW = 8
    WIDE = 16


@dataclass
class _EditedTracks:
    """Edited tracks whose bases have one ``layout`` (flags), and their new values in the file's axes.

    ``quaternions`` (tracks, frames, 4) x, y, z, w; ``metres`` (tracks, frames, 3). ``rotation_edited`` (tracks, frames)
    and ``translation_edited`` (tracks, frames, 3) mark the values that were edited. ``base`` has the stored fields of
    each track; they are not used where everything is edited. ``labels``: its bone and motion.
    """

    layout: int
    quaternions: Floats
    metres: Floats
    rotation_edited: Flags
    translation_edited: Flags
    base: NDArray[np.void]
    labels: list[tuple[str, str]]

    def base_keys(self, field: str) -> NDArray[Any]:
        """Return (tracks, frames, ...) the stored keys of the base: cut off, or the last one repeated."""
        keys: NDArray[Any] = self.base[field]
        return keys[:, frame_indices(self.metres.shape[1], keys.shape[1])]

    def refuse_unstorable(self, values: Floats, wanted: Flags) -> None:
        """Raise `WriteError` if a 32-bit float cannot hold all ``wanted`` (tracks, frames) rows of ``values``."""
        fits = np.abs(values) <= quantum.LARGEST
        wrong = [] if fits.all() else np.argwhere(wanted & ~fits.all(axis=2)).tolist()
        if wrong:
            bone, motion = self.labels[wrong[0][0]]
            words = "keys of {!r} in {!r} are NaN, infinite or too large for the file"
            raise WriteError(say(words, bone, motion), remedy="Delete these keys, or restore the motion from its file")


@dataclass
class _StoredTranslations:
    """Translations of tracks as stored: ``keys`` (tracks, frames, 3) with ``size`` and ``init`` (tracks, 3).

    ``wide`` (tracks,) marks 16-bit keys. Tracks that are not ``keyed`` store only ``single`` (tracks, 3) metres.
    """

    keyed: Flags
    wide: Flags
    keys: NDArray[Any]
    size: NDArray[np.float32]
    init: NDArray[np.float32]
    single: NDArray[np.float32]

    @classmethod
    def empty(cls, tracks: int, frames: int) -> _StoredTranslations:
        """Return arrays of this size for integer keys, filled with zeros."""
        unset, numbers = np.zeros(tracks, np.bool_), np.zeros((3, tracks, 3), "<f4")
        return cls(unset, unset.copy(), np.zeros((tracks, frames, 3), "<i2"), *numbers)

    def errors(self, metres: Floats) -> Floats:
        """Return (tracks,) the largest error on any axis of the stored translations, in metres."""
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinities of broken files are kept
            stored = self.keys * self.size[:, None].astype(np.float64) + self.init[:, None].astype(np.float64)
            stored[~self.keyed] = self.single[~self.keyed, None]
            result: Floats = np.abs(stored - metres).reshape(len(metres), -1).max(axis=1, initial=0.0)
        return result


def encode_tracks(
    clip: Clip,
    indices: NDArray[np.intp],
    base: Motion | None,
    edited: tuple[Flags, Flags],
    *,
    width: Width,
    labels: Sequence[tuple[str, str]],
) -> tuple[list[bytes], Floats]:
    """Encode the tracks ``indices`` of a clip. Return them, and (indices,) their largest errors in metres.

    ``edited``: which rotations (clip's tracks, frames) and translations (clip's tracks, frames, 3) differ from those of
    the same track of ``base``; all without one. Raises `WriteError` for values that cannot be stored; ``labels`` are
    bone and motion of each of the clip's tracks.
    """
    flags = base.all_flags[indices] if base is not None else np.full(len(indices), _SINGLE, np.uint8)
    result, errors = [b""] * len(indices), np.zeros(len(indices))
    for layout, chosen in tracks_by_layout(flags):
        of_clip = indices[chosen]
        tracks = _EditedTracks(
            layout,
            space.xray_bone_rotations_back(clip.rotations[of_clip]),
            space.xray_bone_translations(clip.translations[of_clip]),
            edited[0][of_clip],
            edited[1][of_clip],
            base.rows(of_clip, layout) if base is not None else np.zeros(len(of_clip), track_layout(layout, 1)),
            [labels[track] for track in of_clip.tolist()],
        )
        tracks.refuse_unstorable(tracks.quaternions, tracks.rotation_edited)
        tracks.refuse_unstorable(tracks.metres, np.logical_or.reduce(tracks.translation_edited, axis=2))
        rotations, single = _encode_rotations(tracks)
        translations = _encode_floats(tracks) if layout & _FLOATS else _encode_translations(tracks, width)
        errors[chosen] = translations.errors(tracks.metres)
        encoded = _track_bytes(flags[chosen], rotations, single, translations)
        for index, track in zip(chosen.tolist(), encoded, strict=True):
            result[index] = track
    return result, errors


def _encode_rotations(tracks: _EditedTracks) -> tuple[NDArray[Any], Flags]:
    """Return the rotations of each track (tracks, frames, 4), and for which tracks only the first one is stored.

    Each edited key gets the sign of its old key. A single integer rotation that was edited is written as a new track.
    """
    any_edited: Flags = np.logical_or.reduce(tracks.rotation_edited, axis=1)
    edited, old = tracks.rotation_edited[..., None], tracks.base_keys("rotation")
    if tracks.layout & _FLOATS:
        unit = rotation.normalised(np.where(edited, tracks.quaternions, 1.0))
        keys = np.where(edited, unit.astype("<f4"), old)
    elif tracks.layout & _SINGLE:
        keys = np.where(any_edited[:, None, None], _quantised_rotations(tracks.quaternions), old)
    else:
        opposite = np.einsum("tij,tij->ti", tracks.quaternions, old.astype(np.float64)) < 0
        signs = np.where(opposite, -1, 1).astype("<i2")[..., None]
        keys = np.where(edited, _quantised_rotations(tracks.quaternions) * signs, old)
    if not tracks.layout & _SINGLE:
        return keys, np.zeros(len(keys), np.bool_)
    constant: Flags = (keys == keys[:, :1]).reshape(len(keys), -1).all(axis=1)
    return keys, constant | ~any_edited


def _quantised_rotations(quaternions: Floats) -> NDArray[np.int16]:
    """Return (..., 4) int16 of quaternions, normalised first, in any component order."""
    steps = quantum.quantised(rotation.normalised(quaternions), ROTATION_STEP)
    return np.clip(steps, -32767, 32767).astype("<i2")


def _encode_floats(tracks: _EditedTracks) -> _StoredTranslations:
    """Return the translations of tracks of float keys: single ones until they move."""
    edited = tracks.translation_edited
    keys = np.where(edited, np.where(edited, tracks.metres, 0.0).astype("<f4"), tracks.base_keys("translation"))
    result = _StoredTranslations.empty(len(keys), 0)
    result.keys, result.single, result.size[:] = keys, keys[:, 0], 1.0
    moving = ~(keys == keys[:, :1]).reshape(len(keys), -1).all(axis=1)
    result.keyed = (moving & edited.any(axis=(1, 2))) | bool(tracks.layout & _KEYED)
    return result


def _encode_translations(tracks: _EditedTracks, width: Width) -> _StoredTranslations:
    """Return the translations of each track: in the base's range if they fit, else in a new one."""
    result = _StoredTranslations.empty(*tracks.rotation_edited.shape)
    misfit: Flags = np.logical_or.reduce(tracks.translation_edited, axis=(1, 2))
    if tracks.layout & _KEYED:
        misfit &= ~_encode_in_old_ranges(result, tracks, width)
        width = Width.WIDE if width is Width.AUTOMATIC and tracks.layout & _WIDE else width
    else:
        result.single[:] = tracks.base_keys("translation")[:, 0]
    if misfit.any():
        tracks.refuse_unstorable(tracks.metres, misfit[:, None])
        _encode_in_new_ranges(result, np.flatnonzero(misfit), tracks.metres[misfit], width)
    return result


def _encode_in_old_ranges(result: _StoredTranslations, tracks: _EditedTracks, width: Width) -> Flags:
    """Fill ``result`` with keys in the base's own ranges; return in which tracks all edited ones fit."""
    old, size, init = tracks.base_keys("translation"), tracks.base["size"], tracks.base["init"]
    limit = 32767 if tracks.layout & _WIDE else 127
    edited = tracks.translation_edited
    steps = quantum.quantised(tracks.metres, size[:, None], init[:, None])
    zero_step = ((size == 0) & edited.any(axis=1)).any(axis=1)
    outside = (edited & (np.abs(steps) > limit)).reshape(len(old), -1).any(axis=1)
    width_allowed = width is Width.AUTOMATIC or width.value == old.dtype.itemsize * 8
    fits: Flags = width_allowed & ~zero_step & ~outside
    replaced = edited & fits[:, None, None]
    result.keys[:] = np.where(replaced, np.where(replaced, steps, 0).astype(old.dtype), old)
    result.size[:], result.init[:] = size, init
    result.keyed[:], result.wide[:] = True, limit == 32767
    return fits


def _encode_in_new_ranges(result: _StoredTranslations, chosen: NDArray[np.int64], metres: Floats, width: Width) -> None:
    """Fill the ``chosen`` tracks of ``result`` in ranges of their own, from (tracks, frames, 3) metres."""
    by_frame = np.ascontiguousarray(metres.swapaxes(0, 1))  # numpy reduces whole rows along this axis
    mean = by_frame.mean(axis=0)
    constant = ~(np.abs(metres - mean[:, None]) > CONSTANT_WITHIN).reshape(len(metres), -1).any(axis=1)
    identical = (metres == metres[:, :1]).reshape(len(metres), -1).all(axis=1)
    result.single[chosen] = np.where(identical[:, None], metres[:, 0], mean)
    result.keyed[chosen] = ~constant
    moving = metres[~constant]
    if not len(moving):
        return
    low, high = by_frame.min(axis=0)[~constant], by_frame.max(axis=0)[~constant]
    init, half = (low + high) / 2, (high - low) / 2
    wide = np.full(len(moving), width is Width.WIDE)
    size, start, keys = _quantise_tracks(moving, init, half, Width.NARROW)
    if width is Width.AUTOMATIC:
        stored = keys * size[:, None].astype(np.float64) + start[:, None].astype(np.float64)
        wide = np.abs(stored - moving).reshape(len(moving), -1).max(axis=1) > NARROW_ERROR
    if wide.any():
        size[wide], start[wide], keys[wide] = _quantise_tracks(moving[wide], init[wide], half[wide], Width.WIDE)
    moving_tracks = chosen[~constant]
    result.size[moving_tracks], result.init[moving_tracks] = size, start
    result.keys[moving_tracks], result.wide[moving_tracks] = keys, wide


def _quantise_tracks(
    metres: Floats, init: Floats, half: Floats, width: Width
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int16]]:
    """Return step, middle and keys of each track's range."""
    limit = 32767 if width is Width.WIDE else 127
    size, start = (half / limit).astype("<f4"), init.astype("<f4")
    keys = np.clip(quantum.quantised(metres, size[:, None], start[:, None]), -limit, limit)
    return size, start, keys.astype("<i2")


def _track_bytes(
    flags: NDArray[np.uint8], rotations: NDArray[Any], single: Flags, translations: _StoredTranslations
) -> list[bytes]:
    """Return the bytes of each track with checksums; bits of ``flags`` that do not describe the track are kept."""
    flags = flags & np.uint8(0xFF & ~(_SINGLE | _KEYED)) | np.where(single, _SINGLE, 0).astype(np.uint8)
    flags |= np.where(translations.keyed, _KEYED, 0).astype(np.uint8)
    has_width = (flags & (_KEYED | _FLOATS)) == _KEYED
    flags[has_width] &= np.uint8(0xFF & ~_WIDE)
    flags[has_width & translations.wide] |= np.uint8(_WIDE)
    result = [b""] * len(flags)
    for layout, tracks in tracks_by_layout(flags):
        rows = np.zeros(len(tracks), track_layout(layout, rotations.shape[1]))
        rows["flags"], rows["rotation"] = flags[tracks], rotations[tracks, : rows["rotation"].shape[1]]
        rows["translation"] = translations.keys[tracks] if layout & _KEYED else translations.single[tracks, None]
        fields = rows.dtype.names or ()
        if "size" in fields:
            rows["size"], rows["init"] = translations.size[tracks], translations.init[tracks]
        for what in ("rotation", "translation"):
            if f"{what}_crc" in fields:
                rows[f"{what}_crc"] = [checksum(keys) for keys in rows[what]]
        for index, row in zip(tracks.tolist(), rows, strict=True):
            result[index] = row.tobytes()
    return result
