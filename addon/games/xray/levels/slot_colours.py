"""Colours of a level's slots of detail objects, by one of their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....blender import material
from ....core.report import say
from ....formats.xray import details
from ....formats.xray.details import Details
from .materials import Slots, colour_of, slots_by_share

NOTHING_GROWS = (0.12, 0.12, 0.13, 1.0)
MOST_COLOURS = 64
"""Most exact colours of slots; if there are more, red, green and blue are rounded to thirds."""
_SLOTS_AT_A_TIME = 1 << 13
"""Number of slots processed at a time, to save memory."""


def slots_of(value: Callable[[str], NDArray[Any]], shown_by: str) -> Slots:
    """Return the colours of faces; ``value``: attribute name -> values, ``shown_by``: an item of the property."""
    if shown_by == "SUN":
        return slots_by_share(value(details.SUN), details.MOST_SHADE, "sun {}%", (1.0, 0.85, 0.5))
    if shown_by == "SKY":
        return slots_by_share(value(details.SKY), details.MOST_SHADE, "sky {}%", (0.55, 0.8, 1.0))
    if shown_by == "COLOUR":
        return by_colour(value(details.COLOUR))
    densest, total = _densest(value)
    if shown_by == "DENSITY":
        return slots_by_share(total, 10, "density {}%", (0.3, 0.9, 0.2))
    return by_model(densest)


def _densest(value: Callable[[str], NDArray[Any]]) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """Return (slots,) the densest model of each slot, and the density of all models together."""
    densest = np.full(len(value(details.MODEL[0])), details.EMPTY, np.int16)
    highest, total = np.full(len(densest), -1, np.float32), np.zeros(len(densest), np.float32)
    for model, corners in zip(details.MODEL, details.DENSITY, strict=True):
        numbers = value(model)
        used = numbers != details.EMPTY
        density = value(corners).mean(axis=1) * used
        more = used & (density > highest)
        densest[more], highest[more] = numbers[more], density[more]
        total += density
    return densest, total


def densest_of(document: Details) -> NDArray[np.int16]:
    """Return (slots,) the densest model of each slot of a file, decoded in parts to save memory."""
    parts = [_densest(partial(details.column, part))[0] for part in details.slot_blocks(document)]
    return np.concatenate([np.zeros(0, np.int16), *parts])


def by_model(numbers: NDArray[Any]) -> Slots:
    """Return a colour for each detail model; ``numbers`` (slots,): the model to show, -1 for none."""
    indices = range(0, len(numbers), _SLOTS_AT_A_TIME)
    different = sorted(set[int]().union(*(np.unique(numbers[at : at + _SLOTS_AT_A_TIME]).tolist() for at in indices)))
    index = np.empty(len(numbers), np.int32)
    for at in indices:
        index[at : at + _SLOTS_AT_A_TIME] = np.searchsorted(different, numbers[at : at + _SLOTS_AT_A_TIME])
    materials = [
        material.build_coloured(say("detail model {:02}", number), colour_of(number))
        if number >= 0
        else material.build_coloured(say("nothing grows"), NOTHING_GROWS)
        for number in different
    ]
    return materials, index


def by_colour(colours: NDArray[np.float32]) -> Slots:
    """Return the colours of light baked into slots; ``colours`` (slots, 4): red, green, blue and 1."""
    if not len(colours):
        return [], np.zeros(0, np.int32)
    finite = np.clip(np.nan_to_num(colours[:, :3].astype(np.float64), nan=0.0), 0, 1).astype(np.float32)
    keys, index = np.unique(finite, axis=0, return_inverse=True)
    if len(keys) > MOST_COLOURS:
        keys, index = np.unique(np.rint(finite * 3) / np.float32(3), axis=0, return_inverse=True)
    materials = [
        material.build_coloured("colour " + " ".join(f"{part:.2f}" for part in key), (*key, 1.0))
        for key in keys.tolist()
    ]
    return materials, index.ravel().astype(np.int32)
