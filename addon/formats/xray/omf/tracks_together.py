"""Edited tracks of one motion, all at once: the rules of `quantise`, which are for one track, on arrays of them.

Every number is computed as there, so the bytes are the same; a motion of 47 tracks costs some thirty calls instead of
two thousand. What is rare (float keys, another length, numbers that are none) is left to the rules for one track.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum, space
from ....core.model import Clip
from .document import Motion, Track, TrackFlag
from .quantise import (
    NARROW_ERROR,
    STILL,
    Rotations,
    Translations,
    Width,
    composed,
    quantised_rotations,
)
from .tracks import joined

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_KEYED, _SINGLE, _WIDE, _FLOATS = (int(flag) for flag in TrackFlag)


@dataclass
class _Tracks:
    """Edited tracks: their ``numbers`` and ``flags`` in the base, and in the file's axes what they are to say.

    ``quaternions`` (tracks, frames, 4) x, y, z, w; ``metres`` (tracks, frames, 3); ``turned`` (tracks, frames) and
    ``moved`` (tracks, frames, 3) what of it is not what the base says.
    """

    base: Motion
    flags: NDArray[np.uint8]
    starts: NDArray[np.int64]
    quaternions: Floats
    metres: Floats
    turned: Flags
    moved: Flags


def edited_together(
    clip: Clip, numbers: NDArray[np.int64], base: Motion, touched: tuple[Flags, Flags], width: Width
) -> tuple[list[Track], Floats] | None:
    """The tracks ``numbers`` of ``base`` with what was edited in them, and by how many metres each is off at most.

    ``touched``: which rotations (base's tracks, frames) and translations (base's tracks, frames, 3) were. None where
    the rules for one track have to be asked.
    """
    flags = np.array([base.flags(number) for number in numbers.tolist()], np.uint8)
    if clip.frames != base.frames or (flags & _FLOATS).any():
        return None
    quaternions = space.xray_bone_rotations_back(clip.rotations[numbers])
    metres = space.xray_bone_translations(clip.translations[numbers])
    if not (np.isfinite(quaternions).all() and np.isfinite(metres).all()):
        return None
    starts = np.array(base.starts, np.int64)[numbers]
    tracks = _Tracks(base, flags, starts, quaternions, metres, touched[0][numbers], touched[1][numbers])
    rotations, translations = _rotations(tracks), _translations(tracks, width)
    made = [
        composed(turn, place, flag) for turn, place, flag in zip(rotations, translations, flags.tolist(), strict=True)
    ]
    return made, _errors(translations, metres)


def _rotations(tracks: _Tracks) -> list[Rotations]:
    """The rotation half of each track."""
    base, frames = tracks.base, tracks.base.frames
    single = (tracks.flags & _SINGLE) != 0
    made: list[Rotations] = [Rotations(np.empty(0, "<i2"), single=True)] * len(single)
    chosen = np.flatnonzero(~single)
    if len(chosen):
        old = joined(base, (tracks.starts[chosen] + 5).tolist(), "<i2", frames, 4)
        wanted = tracks.quaternions[chosen]
        signs = np.where(np.einsum("tij,tij->ti", wanted, old.astype(np.float64)) < 0, -1.0, 1.0)
        keys = np.where(tracks.turned[chosen][..., None], quantised_rotations(wanted * signs[..., None]), old)
        for place, row in zip(chosen.tolist(), np.ascontiguousarray(keys, "<i2"), strict=True):
            made[place] = Rotations(row, single=False)
    chosen = np.flatnonzero(single)
    if len(chosen):
        old = joined(base, (tracks.starts[chosen] + 1).tolist(), "<i2", 1, 4)
        keys = np.ascontiguousarray(quantised_rotations(tracks.quaternions[chosen]))
        still = (keys == keys[:, :1]).all(axis=(1, 2)).tolist()
        turned = set(np.flatnonzero(tracks.turned[chosen].any(axis=1)).tolist())
        for number, place in enumerate(chosen.tolist()):
            if number in turned:
                made[place] = Rotations(keys[number, :1] if still[number] else keys[number], still[number])
            else:
                made[place] = Rotations(old[number], single=True)
    return made


def _translations(tracks: _Tracks, width: Width) -> list[Translations]:
    """The translation half of each track: in the range of its base where it fits, else as `new_translations` has it."""
    frames, flags = tracks.base.frames, tracks.flags
    begins = tracks.starts + 1 + np.where(flags & _SINGLE, 8, 4 + 8 * frames)
    made: dict[int, Translations] = {}
    moved = set(np.flatnonzero(tracks.moved.any(axis=(1, 2))).tolist())
    anew: dict[Width, list[int]] = {}
    unkeyed = np.flatnonzero((flags & _KEYED) == 0)
    for place, key in zip(unkeyed.tolist(), joined(tracks.base, begins[unkeyed].tolist(), "<f4", 1, 3), strict=True):
        if place in moved:
            anew.setdefault(width, []).append(place)
        else:
            made[place] = Translations(key, keyed=False)
    keyed, wide = (flags & _KEYED) != 0, (flags & _WIDE) != 0
    for dtype, chosen in (("i1", np.flatnonzero(keyed & ~wide)), ("<i2", np.flatnonzero(keyed & wide))):
        if len(chosen):
            wider = Width.WIDE if width is Width.AUTOMATIC and dtype == "<i2" else width
            kept = _in_old_ranges(tracks, chosen, begins[chosen] + 4, np.dtype(dtype), width)
            for place, translations in zip(chosen.tolist(), kept, strict=True):
                if translations is None:
                    anew.setdefault(wider, []).append(place)
                else:
                    made[place] = translations
    for chosen_width, places in anew.items():
        made |= zip(places, _new(tracks.metres[places], chosen_width), strict=True)
    return [made[place] for place in range(len(flags))]


def _in_old_ranges(
    tracks: _Tracks, chosen: NDArray[np.int64], starts: NDArray[np.int64], dtype: np.dtype[Any], width: Width
) -> list[Translations | None]:
    """Tracks of keys in the base's own ranges, None for those that do not fit theirs."""
    old = joined(tracks.base, starts.tolist(), dtype, tracks.base.frames, 3)
    ranges = joined(tracks.base, (starts + old[0].nbytes).tolist(), "<f4", 2, 3)
    limit = 127 if dtype.itemsize == 1 else 32767
    moved = tracks.moved[chosen]
    steps = quantum.quantised(tracks.metres[chosen], ranges[:, :1], ranges[:, 1:])
    flat = ((ranges[:, 0] == 0) & moved.any(axis=1)).any(axis=1)
    outside = (moved & (np.abs(steps) > limit)).any(axis=(1, 2))
    as_wanted = width is Width.AUTOMATIC or width.value == old.dtype.itemsize * 8
    fits = ~moved.any(axis=(1, 2)) | (as_wanted & ~flat & ~outside)
    taken = moved & fits[:, None, None]
    keys = np.ascontiguousarray(np.where(taken, np.where(taken, steps, 0).astype(old.dtype), old), old.dtype)
    return [
        Translations(keys[number], True, ranges[number, 0], ranges[number, 1]) if fit else None
        for number, fit in enumerate(fits.tolist())
    ]


def _new(metres: Floats, width: Width) -> list[Translations]:
    """`new_translations` of each of (tracks, frames, 3) finite metres."""
    mean = metres.mean(axis=1)
    still = ~(np.abs(metres - mean[:, None]) > STILL).any(axis=(1, 2))
    same = (metres == metres[:, :1]).all(axis=(1, 2))
    lone = np.where(same[:, None], metres[:, 0], mean).astype("<f4")
    made: list[Translations] = [Translations(row[None], keyed=False) for row in lone]
    moving = np.flatnonzero(~still)
    if not len(moving):
        return made
    low, high = metres[moving].min(axis=1), metres[moving].max(axis=1)
    wide = np.full(len(moving), width is Width.WIDE)
    init, half = (low + high) / 2, (high - low) / 2
    if width is not Width.WIDE:
        narrow = _in_steps(metres[moving], init, half, Width.NARROW)
        if width is Width.AUTOMATIC:
            off = [np.abs(one.decoded() - metres[place]).max() for place, one in zip(moving, narrow, strict=True)]
            wide = np.array(off) > NARROW_ERROR
        for place, one in zip(moving.tolist(), narrow, strict=True):
            made[place] = one
    chosen = np.flatnonzero(wide)
    stepped = _in_steps(metres[moving[chosen]], init[chosen], half[chosen], Width.WIDE)
    for place, one in zip(moving[chosen].tolist(), stepped, strict=True):
        made[place] = one
    return made


def _in_steps(metres: Floats, init: Floats, half: Floats, width: Width) -> list[Translations]:
    limit = 32767 if width is Width.WIDE else 127
    size, start = (half / limit).astype("<f4"), init.astype("<f4")
    keys = np.clip(quantum.quantised(metres, size[:, None], start[:, None]), -limit, limit)
    stored = np.ascontiguousarray(keys.astype("<i2" if width is Width.WIDE else "i1"))
    return [Translations(stored[row], True, size[row], start[row]) for row in range(len(stored))]


def _errors(translations: list[Translations], metres: Floats) -> Floats:
    """(tracks,) metres between what was asked for and what is stored, at most, on any axis."""
    result = np.zeros(len(metres))
    groups: dict[tuple[bool, str], list[int]] = {}
    for place, one in enumerate(translations):
        groups.setdefault((one.keyed, one.keys.dtype.str), []).append(place)
    for (keyed, _), places in groups.items():
        stored = np.stack([translations[place].keys for place in places]).astype(np.float64)
        if keyed:
            sizes = np.array([translations[place].size for place in places], np.float64)
            starts = np.array([translations[place].init for place in places], np.float64)
            stored = stored * sizes[:, None] + starts[:, None]
        result[places] = np.abs(stored - metres[places]).max(axis=(1, 2), initial=0.0)
    return result
