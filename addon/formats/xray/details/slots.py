"""The slots of `.details`, 2 x 2 metres of ground each: packed rows <-> a column for each value.

A slot of version 3 has 16 bytes (``DetailFormat.h``): a 64-bit word, low bit first, of height of the ground (12 bits
of 0.2 m above -200 m), height of the slot (8 bits of 0.1 m), four model numbers (6 bits, 63 for none), light of the
sun and of the sky and three colours (4 bits each); then for each of the four models how dense it stands at the slot's
corners, 4 bits a corner. One of version 2 has 22 bytes (old builds): bottom and top as floats, four times a model (255
for none) and its densities, and 16 bits of unknown meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SLOT = np.dtype([("word", "<u8"), ("density", "<u2", 4)])
OLD_SLOT = np.dtype(
    [
        ("bottom", "<f4"),
        ("top", "<f4"),
        ("plants", [("model", "u1"), ("density", "<u2")], 4),
        ("unknown", "<u2"),
    ]
)
SLOTS: dict[int, np.dtype[Any]] = {2: OLD_SLOT, 3: SLOT}
"""Version -> layout of a slot."""

MODELS = 63
"""How many models a file can have; number 63 says that there is none."""
EMPTY = -1
"""What `SlotValues` says where no model stands."""
_NO_MODEL = {2: 255, 3: 63}

LOWEST, GROUND_STEP, HEIGHT_STEP = -200.0, 0.2, 0.1
MOST_GROUND, MOST_HEIGHT, MOST_SHADE = 0xFFF, 0xFF, 0xF
_SHADES_FROM = 44
"""Bit of the first of the five shades of 4 bits: sun, sky, red, green, blue."""
_SLACK = 1e-3
"""Of a step: a height that a float32 holds a little below its step still is that step."""


@dataclass(slots=True, eq=False)
class SlotValues:
    """A row a slot: what the packed ones mean.

    ``ground`` and ``height`` (slots,) float64 metres, of the ground and of the slot above it; ``models`` (slots, 4)
    int32, `EMPTY` for none; ``density`` (slots, 4 models, 4 corners) 0 to 15, corners (x0, z0), (x1, z0), (x0, z1),
    (x1, z1); ``shades`` (slots, 5) 0 to 15, sun, sky, red, green, blue, None in version 2.
    """

    ground: NDArray[np.float64]
    height: NDArray[np.float64]
    models: NDArray[np.int32]
    density: NDArray[np.uint8]
    shades: NDArray[np.uint8] | None


def version_of(rows: NDArray[Any]) -> int:
    """The version whose slots these are."""
    return 3 if rows.dtype == SLOT else 2


def unpack(rows: NDArray[Any]) -> SlotValues:
    """What packed slots mean."""
    places = range(4)
    models = np.stack([models_of(rows, place) for place in places], axis=1)
    density = np.stack([density_of(rows, place) for place in places], axis=1)
    shades = None if version_of(rows) == 2 else np.stack([shades_of(rows, place) for place in range(5)], axis=1)
    return SlotValues(ground_of(rows), height_of(rows), models, density, shades)


def ground_of(rows: NDArray[Any]) -> NDArray[np.float64]:
    """(slots,) metres."""
    if version_of(rows) == 2:
        with np.errstate(invalid="ignore"):  # floats of broken files
            return rows["bottom"].astype(np.float64)
    ground = _bits(rows["word"], 0, 12).astype(np.float64)
    ground *= GROUND_STEP
    ground += LOWEST
    return ground


def height_of(rows: NDArray[Any]) -> NDArray[np.float64]:
    """(slots,) metres above the ground."""
    if version_of(rows) == 2:
        with np.errstate(over="ignore", invalid="ignore"):
            return rows["top"].astype(np.float64) - rows["bottom"].astype(np.float64)
    return _bits(rows["word"], 12, 8).astype(np.float64) * HEIGHT_STEP


def models_of(rows: NDArray[Any], place: int) -> NDArray[np.int32]:
    """(slots,) the number of one of the four models, `EMPTY` for none."""
    version = version_of(rows)
    stored = rows["plants"]["model"][:, place] if version == 2 else _bits(rows["word"], 20 + 6 * place, 6)
    models: NDArray[np.int32] = stored.astype(np.int32)
    models[models == _NO_MODEL[version]] = EMPTY
    return models


def density_of(rows: NDArray[Any], place: int) -> NDArray[np.uint8]:
    """(slots, 4 corners) how dense one of the four models stands, 0 to 15."""
    stored = rows["plants"]["density"] if version_of(rows) == 2 else rows["density"]
    result = np.empty((len(rows), 4), np.uint8)
    for corner in range(4):
        result[:, corner] = stored[:, place] >> np.uint16(4 * corner) & np.uint16(0xF)
    return result


def shades_of(rows: NDArray[Any], place: int) -> NDArray[np.uint8]:
    """(slots,) sun, sky, red, green or blue, 0 to 15. Version 3 alone has them."""
    return _bits(rows["word"], _SHADES_FROM + 4 * place, 4).astype(np.uint8)


def _bits(word: NDArray[np.uint64], start: int, count: int) -> NDArray[np.uint16]:
    """A field of at most 16 bits."""
    result: NDArray[np.uint16] = (word >> np.uint64(start)).astype(np.uint16)
    result &= np.uint16((1 << count) - 1)
    return result


def ground_steps(ground: NDArray[np.float64]) -> NDArray[np.int64]:
    """Version 3's whole numbers of heights of the ground: the step at or below, within what the file can hold."""
    return _clamped(np.floor((ground - LOWEST) / GROUND_STEP + _SLACK), MOST_GROUND)


def height_steps(ground: NDArray[np.float64], height: NDArray[np.float64]) -> NDArray[np.int64]:
    """Version 3's whole numbers of heights: the step at or above, from the step that the ground was lowered to."""
    lowered = ground_steps(ground) * GROUND_STEP + LOWEST
    return _clamped(np.ceil((height + (ground - lowered)) / HEIGHT_STEP - _SLACK), MOST_HEIGHT)


def shade_steps(shades: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers of shades from 0 to 1: the step at or below."""
    return _clamped(np.floor(np.asarray(shades, np.float64) * MOST_SHADE + _SLACK), MOST_SHADE)


def _clamped(values: NDArray[np.float64], highest: int) -> NDArray[np.int64]:
    result: NDArray[np.int64] = np.clip(np.nan_to_num(values, nan=0.0), 0, highest).astype(np.int64)
    return result


def pack(values: SlotValues, version: int, unknown: NDArray[np.uint16] | None = None) -> NDArray[Any]:
    """The packed slots of values, which must be in range; ``unknown`` (slots,) version 2's last field."""
    density = (values.density.astype(np.uint16) << np.arange(0, 16, 4, dtype=np.uint16)).sum(axis=-1, dtype=np.uint16)
    models = np.where(values.models == EMPTY, _NO_MODEL[version], values.models)
    rows = np.zeros(len(values.ground), SLOTS[version])
    if version == 2:
        with np.errstate(over="ignore", invalid="ignore"):  # floats of broken files
            rows["bottom"], rows["top"] = values.ground, values.ground + values.height
        rows["plants"]["model"], rows["plants"]["density"] = models, density
        if unknown is not None:
            rows["unknown"] = unknown
        return rows
    word = ground_steps(values.ground).astype(np.uint64)
    word |= height_steps(values.ground, values.height).astype(np.uint64) << np.uint64(12)
    for place in range(4):
        word |= models[:, place].astype(np.uint64) << np.uint64(20 + 6 * place)
    if values.shades is not None:
        for place in range(5):
            word |= values.shades[:, place].astype(np.uint64) << np.uint64(_SHADES_FROM + 4 * place)
    rows["word"], rows["density"] = word, density
    return rows


def empty_slots(count: int, version: int = 3) -> NDArray[Any]:
    """Slots at height 0 where nothing grows."""
    nothing = np.zeros(count)
    shades = np.zeros((count, 5), np.uint8)
    values = SlotValues(
        nothing, nothing, np.full((count, 4), EMPTY, np.int32), np.zeros((count, 4, 4), np.uint8), shades
    )
    return pack(values, version)
