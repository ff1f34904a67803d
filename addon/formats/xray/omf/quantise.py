"""From exact keys to the integers of a track, and which keys need not change.

Rules of the game's editor (``ExportSkeleton.cpp``): no translation keys where every frame lies within 1 mm of the mean
on each axis; one rotation key where all quantised ones are equal; a CRC-32 before each run of keys. The editor takes 8
bits for translation keys and 16 where half the range exceeds 1.5 m, which moves keys by up to 6 mm: here 16 are taken
where 8 would move one by more than `NARROW_ERROR`. The editor truncates; here numbers are rounded, which halves the
error and, unlike truncation, gives back a file's own integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum, rotation
from ....core.errors import WriteError
from .document import Track, TrackFlag, checksum

Floats = NDArray[np.float64]

ROTATION_STEP = 1.0 / 32767.0
NARROW_ERROR = 1e-4
"""Metres by which 8-bit translation keys may be off on an axis before 16 bits are taken."""
STILL = 1e-3
"""Metres a translation may stray from its mean on an axis and still be stored as one value."""


class Width(Enum):
    """How many bits a translation key gets; `AUTOMATIC` as few as `NARROW_ERROR` allows."""

    AUTOMATIC = 0
    NARROW = 8
    WIDE = 16


@dataclass(slots=True)
class Rotations:
    """A track's rotation as stored: (1 or frames, 4) x, y, z, w."""

    keys: NDArray[Any]
    single: bool


@dataclass(slots=True)
class Translations:
    """A track's translation as stored: ``keyed`` integers with ``size`` and ``init``, else float metres."""

    keys: NDArray[Any]
    keyed: bool
    size: NDArray[np.float32] | None = None
    init: NDArray[np.float32] | None = None

    def decoded(self) -> Floats:
        """(1 or frames, 3) metres, as the engine computes them but in float64."""
        if self.size is None or self.init is None:
            return self.keys.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinities of broken files stay what they are
            result: Floats = self.keys * self.size.astype(np.float64) + self.init.astype(np.float64)
        return result


def quantised_rotations(quaternions: Floats) -> NDArray[np.int16]:
    """(frames, 4) int16 of unit quaternions in any component order."""
    steps = quantum.quantised(rotation.normalised(quaternions), ROTATION_STEP)
    return np.clip(steps, -32767, 32767).astype("<i2")


def new_rotations(quaternions: Floats) -> Rotations:
    """A track's rotation made from (frames, 4) x, y, z, w."""
    keys = quantised_rotations(quaternions)
    single = bool((keys == keys[:1]).all())
    return Rotations(keys[:1] if single else keys, single)


def edited_rotations(quaternions: Floats, base: NDArray[Any], kept: NDArray[np.bool_]) -> Rotations:
    """The base's keys with those not ``kept`` (frames,) replaced, each in the sign its old key had."""
    signs = np.where(np.einsum("ij,ij->i", quaternions, base.astype(np.float64)) < 0, -1.0, 1.0)
    turned = quaternions * signs[:, None]
    keys = np.where(kept[:, None], base, quantised_rotations(turned))
    return Rotations(np.ascontiguousarray(keys, "<i2"), single=False)


def new_translations(metres: Floats, width: Width) -> Translations:
    """A track's translation made from (frames, 3) metres."""
    if not np.isfinite(metres).all():
        raise WriteError(
            "a bone has locations that are NaN or infinite, and its keys have to be written anew",
            remedy="Delete these keys, or restore the motion from its file",
        )
    mean = metres.mean(axis=0)
    if not (np.abs(metres - mean) > STILL).any():
        still = metres[:1] if (metres == metres[:1]).all() else mean[None]
        return Translations(still.astype("<f4"), keyed=False)
    if width is not Width.AUTOMATIC:
        return _in_steps(metres, width)
    narrow = _in_steps(metres, Width.NARROW)
    return narrow if np.abs(narrow.decoded() - metres).max() <= NARROW_ERROR else _in_steps(metres, Width.WIDE)


def _in_steps(metres: Floats, width: Width) -> Translations:
    low, high = metres.min(axis=0), metres.max(axis=0)
    init, half = (low + high) / 2, (high - low) / 2
    limit = 32767 if width is Width.WIDE else 127
    size, init = (half / limit).astype("<f4"), init.astype("<f4")
    keys = np.clip(quantum.quantised(metres, size, init), -limit, limit)
    return Translations(keys.astype("<i2" if width is Width.WIDE else "i1"), True, size, init)


def edited_translations(metres: Floats, base: Translations, kept: NDArray[np.bool_], width: Width) -> Translations:
    """The base's keys with the numbers not ``kept`` (frames, 3) replaced, in the base's own range where they fit it.

    Otherwise the range is made anew, and with it every key.
    """
    if base.size is not None and base.init is not None:
        limit = 127 if base.keys.dtype.itemsize == 1 else 32767
        as_wanted = width is Width.AUTOMATIC or width.value == base.keys.dtype.itemsize * 8
        steps = quantum.quantised(metres, base.size, base.init)
        flat = (base.size == 0) & ~kept.all(axis=0)
        if as_wanted and not flat.any() and not (np.abs(steps[~kept]) > limit).any():
            keys = np.where(kept, base.keys, np.where(kept, 0, steps).astype(base.keys.dtype))
            return Translations(np.ascontiguousarray(keys, base.keys.dtype), True, base.size, base.init)
        if width is Width.AUTOMATIC and limit == 32767:
            width = Width.WIDE
    return new_translations(metres, width)


def float_rotations(quaternions: Floats, base: NDArray[Any], kept: NDArray[np.bool_]) -> Rotations:
    """As `edited_rotations` for a track of float keys: nothing is quantised."""
    keys = np.where(kept[:, None], base, rotation.normalised(quaternions)).astype("<f4")
    single = len(base) == 1 and bool((keys == keys[:1]).all())
    return Rotations(keys[:1] if single else keys, single)


def float_translations(metres: Floats, base: Translations, kept: NDArray[np.bool_]) -> Translations:
    """As `edited_translations` for a track of float keys."""
    keys = np.where(kept, base.keys, metres).astype("<f4")
    still = not base.keyed and bool((keys == keys[:1]).all())
    return Translations(keys[:1] if still else keys, keyed=not still)


# Plain numbers: IntFlag arithmetic costs a microsecond, and these are asked once a track.
_KEYED, _SINGLE, _WIDE, _FLOATS = (int(flag) for flag in TrackFlag)


def composed(rotations: Rotations, translations: Translations, flags: int = 0) -> Track:
    """A track of both halves with its checksums; bits of ``flags`` that do not describe them are kept."""
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
