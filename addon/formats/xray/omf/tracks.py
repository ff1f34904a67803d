"""Convert between the tracks of a motion and arrays of exact keys.

Reading: tracks of one layout are scattered over the file. Their bytes are joined first and become one array, so that a
track costs only two slices.

Writing follows the rules of the game's editor (``ExportSkeleton.cpp``): a single translation if every frame is within 1
mm of the mean on each axis; a single rotation if all quantised ones are equal; a CRC-32 before each run of keys. Two
rules differ. The editor uses 8-bit translation keys unless half the range exceeds 1.5 m, which moves keys by up to 6
mm; here 16 bits are used if 8 would move a key by more than `NARROW_ERROR`. The editor truncates; here numbers are
rounded, which halves the error and, unlike truncation, reproduces a file's own integers.

`encode_tracks` applies these rules to all tracks of a motion at once and gives the same bytes, with some thirty numpy
calls for 47 tracks instead of two thousand. Float keys, another number of frames, NaN and infinite values are left to
the functions for a single track.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum, rotation, space
from ....core.errors import ReadError, WriteError
from ....core.model import Clip
from ....core.report import counted
from .document import Motion, Track, TrackFlag, checksum

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


def stored_translations(track: Track) -> Translations:
    """Return the translation part of a track."""
    return Translations(track.translation, bool(track.flags & _KEYED), track.size, track.init)


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
        raise ReadError(
            f"the motion {worst.label!r} declares {counted(worst.frames, 'frame')} "
            f"of {counted(worst.track_count, 'bone')} in {counted(len(worst.body), 'byte')}",
            file=file,
            offset=worst.offset,
            remedy="Leave this motion out, or delete it from the file",
        )


def track_arrays(motion: Motion) -> Tracks:
    """Return all tracks of a motion as arrays with one row per frame. Raises `ReadError` as `refuse_overlong` does."""
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
    """Return (len(starts), *shape) numbers read from the motion's body, each block from one offset of ``starts``."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
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
            range_starts = starts[chosen] + 4 + keys[0].nbytes
            ranges = joined(motion, range_starts.tolist(), "<f4", 2, 3).astype(np.float64)
            steps[chosen] = ranges[:, 0]
            translations[chosen] = keys * ranges[:, :1] + ranges[:, 1:]


def _read_one_by_one(motion: Motion, rotations: Floats, translations: Floats, steps: Floats) -> None:
    """Read float keys, and motions without frames (broken files) as one frame."""
    for index in range(motion.track_count):
        track = motion.track(index)
        stored = track.rotation if len(track.rotation) else np.array([[0, 0, 0, 32767]])
        rotations[index] = space.xray_bone_rotations(stored)
        translations[index] = stored_translations(track).decoded() if len(track.translation) else 0
        if track.size is not None:
            steps[index] = track.size


# ---- one track: from exact keys to stored integers


class Width(Enum):
    """Number of bits of a translation key. `AUTOMATIC`: 8 if `NARROW_ERROR` allows it, else 16."""

    AUTOMATIC = 0
    NARROW = 8
    WIDE = 16


@dataclass(slots=True)
class Rotations:
    """The rotation part of a track as stored: (1 or frames, 4) x, y, z, w."""

    keys: NDArray[Any]
    single: bool


@dataclass(slots=True)
class Translations:
    """The translation part of a track as stored: ``keyed`` integers with ``size`` and ``init``, or float metres."""

    keys: NDArray[Any]
    keyed: bool
    size: NDArray[np.float32] | None = None
    init: NDArray[np.float32] | None = None

    def decoded(self) -> Floats:
        """Return (1 or frames, 3) metres, computed as in the engine but in float64."""
        if self.size is None or self.init is None:
            return self.keys.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinities of broken files are kept
            result: Floats = self.keys * self.size.astype(np.float64) + self.init.astype(np.float64)
        return result


def quantised_rotations(quaternions: Floats) -> NDArray[np.int16]:
    """Return (..., 4) int16 of quaternions, normalised first, in any component order."""
    steps = quantum.quantised(rotation.normalised(quaternions), ROTATION_STEP)
    return np.clip(steps, -32767, 32767).astype("<i2")


def new_rotations(quaternions: Floats) -> Rotations:
    """Quantise (frames, 4) x, y, z, w quaternions without a base."""
    keys = quantised_rotations(quaternions)
    single = bool((keys == keys[:1]).all())
    return Rotations(keys[:1] if single else keys, single)


def edited_rotations(quaternions: Floats, base: NDArray[np.int16], kept: NDArray[np.bool_]) -> Rotations:
    """Return the base's keys with those not ``kept`` (frames,) replaced, each with the sign of its old key."""
    signs = np.where(np.einsum("ij,ij->i", quaternions, base.astype(np.float64)) < 0, -1.0, 1.0)
    turned = quaternions * signs[:, None]
    keys = np.where(kept[:, None], base, quantised_rotations(turned))
    return Rotations(np.ascontiguousarray(keys, "<i2"), single=False)


def new_translations(metres: Floats, width: Width) -> Translations:
    """Quantise (frames, 3) metres without a base. Raises `WriteError` if a 32-bit float cannot hold them."""
    if not storable(metres):
        raise WriteError(
            "a bone has locations that are NaN, infinite or too large for the file, and its keys must be written again",
            remedy="Delete these keys, or restore the motion from its file",
        )
    mean = metres.mean(axis=0)
    if not (np.abs(metres - mean) > CONSTANT_WITHIN).any():
        constant = metres[:1] if (metres == metres[:1]).all() else mean[None]
        return Translations(constant.astype("<f4"), keyed=False)
    if width is not Width.AUTOMATIC:
        return _quantise(metres, width)
    narrow = _quantise(metres, Width.NARROW)
    return narrow if np.abs(narrow.decoded() - metres).max() <= NARROW_ERROR else _quantise(metres, Width.WIDE)


def storable(values: Floats) -> bool:
    """Return whether a 32-bit float can hold each of these values (no NaN, no infinity)."""
    return bool((np.abs(values) <= quantum.LARGEST).all())


def _quantise(metres: Floats, width: Width) -> Translations:
    low, high = metres.min(axis=0), metres.max(axis=0)
    init, half = (low + high) / 2, (high - low) / 2
    limit = 32767 if width is Width.WIDE else 127
    size, init = (half / limit).astype("<f4"), init.astype("<f4")
    keys = np.clip(quantum.quantised(metres, size, init), -limit, limit)
    return Translations(keys.astype("<i2" if width is Width.WIDE else "i1"), True, size, init)


def edited_translations(metres: Floats, base: Translations, kept: NDArray[np.bool_], width: Width) -> Translations:
    """Return the base's keys with the numbers not ``kept`` (frames, 3) replaced, in the base's range if they fit.

    Otherwise the track gets a new range and all its keys are quantised again.
    """
    if base.size is not None and base.init is not None:
        limit = 127 if base.keys.dtype.itemsize == 1 else 32767
        width_allowed = width is Width.AUTOMATIC or width.value == base.keys.dtype.itemsize * 8
        steps = quantum.quantised(metres, base.size, base.init)
        zero_step = (base.size == 0) & ~kept.all(axis=0)
        if width_allowed and not zero_step.any() and not (np.abs(steps[~kept]) > limit).any():
            keys = np.where(kept, base.keys, np.where(kept, 0, steps).astype(base.keys.dtype))
            return Translations(np.ascontiguousarray(keys, base.keys.dtype), True, base.size, base.init)
        if width is Width.AUTOMATIC and limit == 32767:
            width = Width.WIDE
    return new_translations(metres, width)


def float_rotations(quaternions: Floats, base: NDArray[Any], kept: NDArray[np.bool_]) -> Rotations:
    """Return the same as `edited_rotations` for a track of float keys, without quantising."""
    keys = np.where(kept[:, None], base, rotation.normalised(quaternions)).astype("<f4")
    single = len(base) == 1 and bool((keys == keys[:1]).all())
    return Rotations(keys[:1] if single else keys, single)


def float_translations(metres: Floats, base: Translations, kept: NDArray[np.bool_]) -> Translations:
    """Return the same as `edited_translations` for a track of float keys, without quantising."""
    keys = np.where(kept, base.keys, metres).astype("<f4")
    constant = not base.keyed and bool((keys == keys[:1]).all())
    return Translations(keys[:1] if constant else keys, keyed=not constant)


def composed(rotations: Rotations, translations: Translations, flags: int = 0) -> Track:
    """Join both parts to a track with checksums; bits of ``flags`` that do not describe the parts are kept."""
    flags = int(flags) & ~(_SINGLE | _KEYED | _FLOATS)
    if rotations.single:
        flags |= _SINGLE
    if rotations.keys.dtype.kind == "f":
        flags |= _FLOATS
    if translations.keyed:
        flags |= _KEYED
    if translations.size is not None:
        flags &= ~_WIDE
        flags |= _WIDE if translations.keys.dtype.itemsize == 2 else 0
    return Track(
        flags,
        rotations.keys,
        translations.keys,
        translations.size,
        translations.init,
        None if rotations.single else checksum(rotations.keys),
        checksum(translations.keys) if translations.keyed else None,
    )


# ---- the same for all edited tracks of a motion together


@dataclass
class _EditedTracks:
    """Edited tracks: their ``flags`` and ``starts`` in the base, and their new values in the file's axes.

    ``quaternions`` (tracks, frames, 4) x, y, z, w; ``metres`` (tracks, frames, 3). ``rotation_edited`` (tracks, frames)
    and ``translation_edited`` (tracks, frames, 3) mark the values that were edited.
    """

    base: Motion
    flags: NDArray[np.uint8]
    starts: NDArray[np.int64]
    quaternions: Floats
    metres: Floats
    rotation_edited: Flags
    translation_edited: Flags


@dataclass
class _StoredTranslations:
    """Translations of tracks as stored: ``keys`` (tracks, frames, 3) integers with ``size`` and ``init`` (tracks, 3).

    ``wide`` (tracks,) marks 16-bit keys. Tracks that are not ``keyed`` store only ``single`` (tracks, 3) metres.
    """

    keyed: Flags
    wide: Flags
    keys: NDArray[np.int16]
    size: NDArray[np.float32]
    init: NDArray[np.float32]
    single: NDArray[np.float32]

    @classmethod
    def empty(cls, tracks: int, frames: int) -> _StoredTranslations:
        """Return arrays of this size filled with zeros."""
        unset, numbers = np.zeros(tracks, np.bool_), np.zeros((3, tracks, 3), "<f4")
        return cls(unset, unset.copy(), np.zeros((tracks, frames, 3), "<i2"), *numbers)

    def errors(self, metres: Floats) -> Floats:
        """Return (tracks,) the largest error on any axis of the stored translations, in metres."""
        stored = self.keys * self.size[:, None].astype(np.float64) + self.init[:, None].astype(np.float64)
        stored[~self.keyed] = self.single[~self.keyed, None]
        result: Floats = np.abs(stored - metres).reshape(len(metres), -1).max(axis=1, initial=0.0)
        return result


def encode_tracks(
    clip: Clip, indices: NDArray[np.int64], base: Motion, edited: tuple[Flags, Flags], width: Width
) -> tuple[Sequence[Track | bytes], Floats] | None:
    """Encode the edited tracks ``indices`` of ``base``. Return them, and (indices,) their largest errors in metres.

    ``edited``: which rotations (base's tracks, frames) and translations (base's tracks, frames, 3) were edited. The
    result is None if the tracks must be encoded one at a time: another number of frames, float keys, or values that
    cannot be stored.
    """
    flags = np.array([base.flags(number) for number in indices.tolist()], np.uint8)
    if clip.frames != base.frames or (flags & _FLOATS).any():
        return None
    quaternions = space.xray_bone_rotations_back(clip.rotations[indices])
    metres = space.xray_bone_translations(clip.translations[indices])
    if not (np.isfinite(quaternions).all() and storable(metres)):
        return None
    starts = np.array(base.starts, np.int64)[indices]
    tracks = _EditedTracks(base, flags, starts, quaternions, metres, edited[0][indices], edited[1][indices])
    rotations, single = _encode_rotations(tracks)
    translations = _encode_translations(tracks, width)
    return _track_bytes(flags, rotations, single, translations), translations.errors(metres)


def _encode_rotations(tracks: _EditedTracks) -> tuple[NDArray[np.int16], Flags]:
    """Return the rotations of each track (tracks, frames, 4), and for which tracks only the first one is stored."""
    base, frames = tracks.base, tracks.base.frames
    keys = quantised_rotations(tracks.quaternions)
    any_edited: Flags = np.logical_or.reduce(tracks.rotation_edited, axis=1)
    single: Flags = (tracks.flags & _SINGLE) != 0
    chosen = np.flatnonzero(~single)
    if len(chosen):
        old = joined(base, (tracks.starts[chosen] + 5).tolist(), "<i2", frames, 4)
        opposite = np.einsum("tij,tij->ti", tracks.quaternions[chosen], old.astype(np.float64)) < 0
        signs = np.where(opposite, -1, 1).astype("<i2")
        keys[chosen] = np.where(tracks.rotation_edited[chosen][..., None], keys[chosen] * signs[..., None], old)
    chosen = np.flatnonzero(single)
    if len(chosen):
        keys[chosen, 0] = np.where(
            any_edited[chosen, None],
            keys[chosen, 0],
            joined(base, (tracks.starts[chosen] + 1).tolist(), "<i2", 4),
        )
        constant = (keys == keys[:, :1]).reshape(len(keys), -1).all(axis=1)
        single &= constant | ~any_edited
    return keys, single


def _encode_translations(tracks: _EditedTracks, width: Width) -> _StoredTranslations:
    """Return the translations of each track: in the base's range if they fit, else as `new_translations` makes them."""
    frames, flags = tracks.base.frames, tracks.flags
    starts = tracks.starts + 1 + np.where(flags & _SINGLE, 8, 4 + 8 * frames)
    result = _StoredTranslations.empty(len(flags), frames)
    any_edited = tracks.translation_edited.reshape(len(flags), -1).any(axis=1)
    keyed, wide = (flags & _KEYED) != 0, (flags & _WIDE) != 0
    unedited_single = np.flatnonzero(~keyed & ~any_edited)
    result.single[unedited_single] = joined(tracks.base, starts[unedited_single].tolist(), "<f4", 3)
    to_requantise = {width: np.flatnonzero(~keyed & any_edited)}
    for key_type, chosen in (("i1", np.flatnonzero(keyed & ~wide)), ("<i2", np.flatnonzero(keyed & wide))):
        if len(chosen):
            old = joined(tracks.base, (starts[chosen] + 4).tolist(), key_type, frames, 3)
            range_starts = starts[chosen] + 4 + old[0].nbytes
            ranges = joined(tracks.base, range_starts.tolist(), "<f4", 2, 3)
            fits = _encode_in_old_ranges(result, chosen, tracks, (old, ranges), width)
            wider = Width.WIDE if width is Width.AUTOMATIC and key_type == "<i2" else width
            to_requantise[wider] = np.concatenate((to_requantise.get(wider, chosen[:0]), chosen[~fits]))
    for chosen_width, indices in to_requantise.items():
        if len(indices):
            _encode_in_new_ranges(result, indices, tracks.metres[indices], chosen_width)
    return result


def _encode_in_old_ranges(
    result: _StoredTranslations,
    chosen: NDArray[np.int64],
    tracks: _EditedTracks,
    stored: tuple[NDArray[Any], NDArray[Any]],
    width: Width,
) -> Flags:
    """Fill the ``chosen`` tracks of ``result`` with keys in the base's own ranges; return which of them fit.

    ``stored``: keys (chosen, frames, 3) and ranges (chosen, 2, 3) of the base.
    """
    old, ranges = stored
    limit = 127 if old.dtype.itemsize == 1 else 32767
    edited = tracks.translation_edited[chosen]
    steps = quantum.quantised(tracks.metres[chosen], ranges[:, :1], ranges[:, 1:])
    zero_step = ((ranges[:, 0] == 0) & edited.any(axis=1)).any(axis=1)
    outside = (edited & (np.abs(steps) > limit)).reshape(len(chosen), -1).any(axis=1)
    width_allowed = width is Width.AUTOMATIC or width.value == old.dtype.itemsize * 8
    fits: Flags = ~edited.reshape(len(chosen), -1).any(axis=1) | (width_allowed & ~zero_step & ~outside)
    replaced = edited & fits[:, None, None]
    result.keys[chosen] = np.where(replaced, np.where(replaced, steps, 0).astype(old.dtype), old)
    result.size[chosen], result.init[chosen] = ranges[:, 0], ranges[:, 1]
    result.keyed[chosen], result.wide[chosen] = True, limit == 32767
    return fits


def _encode_in_new_ranges(result: _StoredTranslations, chosen: NDArray[np.int64], metres: Floats, width: Width) -> None:
    """Fill the ``chosen`` tracks of ``result`` as `new_translations` does, from (tracks, frames, 3) metres."""
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
    flags: NDArray[np.uint8], rotations: NDArray[np.int16], single: Flags, translations: _StoredTranslations
) -> list[bytes]:
    """Return the bytes of each track with checksums; bits of ``flags`` that do not describe the track are kept."""
    flags = flags & np.uint8(0xFF & ~(_SINGLE | _KEYED | _FLOATS)) | np.where(single, _SINGLE, 0).astype(np.uint8)
    flags[translations.keyed] = flags[translations.keyed] & np.uint8(0xFF & ~_WIDE) | np.uint8(_KEYED)
    flags[translations.keyed & translations.wide] |= np.uint8(_WIDE)
    result = [b""] * len(flags)
    frames = rotations.shape[1]
    kinds = flags & (_SINGLE | _KEYED | np.where(translations.keyed, _WIDE, 0).astype(np.uint8))
    for kind in np.unique(kinds).tolist():
        chosen = np.flatnonzero(kinds == kind)
        fields: list[Any] = [("flags", "u1"), ("rotation", "<i2", (1, 4))]
        if not kind & _SINGLE:
            fields[1:] = ("rotation_crc", "<u4"), ("rotation", "<i2", (frames, 4))
        if kind & _KEYED:
            key = "<i2" if kind & _WIDE else "i1"
            fields += [("keys_crc", "<u4"), ("keys", key, (frames, 3)), ("size", "<f4", 3), ("init", "<f4", 3)]
        else:
            fields += [("single", "<f4", 3)]
        rows = np.zeros(len(chosen), np.dtype(fields))
        rows["flags"], rows["rotation"] = flags[chosen], rotations[chosen, : 1 if kind & _SINGLE else frames]
        if kind & _KEYED:
            rows["keys"] = translations.keys[chosen]
            rows["size"], rows["init"] = translations.size[chosen], translations.init[chosen]
        else:
            rows["single"] = translations.single[chosen]
        for name, crc in (("rotation", "rotation_crc"), ("keys", "keys_crc")):
            if crc in (rows.dtype.names or ()):
                rows[crc] = [checksum(row) for row in rows[name]]
        for index, row in zip(chosen.tolist(), rows, strict=True):
            result[index] = row.tobytes()
    return result
