"""Where plants may stand: a preview, not the game's own placing.

Exact is what the file says: which models a slot has, how densely each stands at its four corners, and between which
scales the model is drawn. The rest is a preview: the engine thins plants with a dither table, moves and turns them by
its own random numbers and sets them onto the collision; here densities are shares of chances on an even raster, chances
come from the slot's number alone (the same slots always look the same), and plants stand on the ground of their slot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.model import Domain, Mesh
from .document import SLOT_SIZE
from .ground import DENSITY, HEIGHT, MODEL

Floats = NDArray[np.float64]
DEFAULT_SPACING = 0.5
"""Metres between the places of the raster."""
_BLOCK = 1 << 18
"""Places of the raster at a time: what is held in between stays small."""


@dataclass(frozen=True)
class Plants:
    """``points`` (n, 3) float32, ``models`` (n,) int32 their numbers, ``turns`` (n,) float32 radians about z,
    ``scales`` (n,) and ``reaches`` (n,) float32: how high the slot is, in which the engine looks for the collision.
    """

    points: NDArray[np.float32]
    models: NDArray[np.int32]
    turns: NDArray[np.float32]
    scales: NDArray[np.float32]
    reaches: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.models)


def scatter(
    ground: Mesh, slots: NDArray[np.int64], scales: Mapping[int, tuple[float, float]], spacing: float = DEFAULT_SPACING
) -> Plants:
    """Plants on these ``slots`` (n,) of the ground's points; ``scales`` number of a model -> least and greatest.

    Models that are not among ``scales`` are left out.
    """
    side = max(1, round(SLOT_SIZE / spacing))
    step = max(1, _BLOCK // side**2)
    blocks = [_scatter(ground, slots[at : at + step], scales, side) for at in range(0, len(slots), step)]
    if not blocks:
        return Plants(np.zeros((0, 3), np.float32), np.zeros(0, np.int32), *np.zeros((3, 0), np.float32))
    return Plants(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def _scatter(
    ground: Mesh, slots: NDArray[np.int64], scales: Mapping[int, tuple[float, float]], side: int
) -> tuple[NDArray[Any], ...]:
    # (slots, places of the raster, numbers for: presence, choice, x, y, turn, scale), each slot its own
    chance = _chances(slots, side * side)
    raster = (np.arange(side) + 0.5) / side
    across, along = (axis.ravel() for axis in np.meshgrid(raster, raster))
    weights = np.stack([(1 - across) * (1 - along), across * (1 - along), (1 - across) * along, across * along])
    density: Floats = np.zeros((len(slots), side * side, 4))
    numbers = np.full((len(slots), 4), -1, np.int32)
    for place in range(4):
        said, shares = (ground.values(names[place], Domain.VERTEX) for names in (MODEL, DENSITY))
        if said is not None and shares is not None:
            numbers[:, place] = said[slots]
            there = np.isin(said[slots], list(scales))
            corners = np.clip(np.nan_to_num(shares[slots]), 0, 1) * there[:, None]
            density[..., place] = corners @ weights
    # Of several that could stand in a place one is chosen; the densest decides how likely any is.
    total = density.sum(axis=-1)
    slot, where = np.nonzero(chance[..., 0] < density.max(axis=-1))
    ladder = np.cumsum(density[slot, where], axis=-1)
    chosen = np.minimum((ladder <= (chance[slot, where, 1] * total[slot, where])[:, None]).sum(axis=-1), 3)
    models = numbers[slot, chosen]
    points = ground.positions[slots[slot]].astype(np.float64)
    for axis, places in enumerate((across, along)):
        shift = (chance[slot, where, 2 + axis] - 0.5) / side
        points[:, axis] += (places[where] - 0.5 + shift) * SLOT_SIZE
    # Looked up, never indexed by: a file may call a model by any number.
    known = np.array(sorted(scales), np.int64)
    low, high = np.array([scales[number] for number in known.tolist()]).reshape(-1, 2).T
    place_of = np.searchsorted(known, models)
    sizes = low[place_of] + (high - low)[place_of] * chance[slot, where, 5]
    turns = chance[slot, where, 4] * 2 * np.pi
    tall = ground.values(HEIGHT, Domain.VERTEX)
    reaches = np.zeros(len(slot)) if tall is None else tall[slots[slot]]
    return points.astype(np.float32), models, *(column.astype(np.float32) for column in (turns, sizes, reaches))


def _chances(slots: NDArray[np.int64], places: int) -> Floats:
    """(slots, places, 6) numbers from 0 to below 1 that depend on nothing but slot, place and column (splitmix64)."""
    columns = np.arange(places * 6, dtype=np.uint64) + np.uint64(1)
    state = (slots.astype(np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15) + columns) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    result: Floats = ((state >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(len(slots), places, 6)
    return result
