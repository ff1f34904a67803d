"""The keys of one sub-object: as stored, and as rotations and displacements in the file's axes.

Rotation keys are cumulative: each rotates the result of the keys before it, about an axis in the parent's space.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .commands import Kind, Property, parse_property
from .document import FULL_TURN, POSITION_KEY, ROTATION_KEY, TIMED_SINCE, Oof, PositionTracks, RotationTracks, Tracks

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Keys:
    """Rotation or position keys of a sub-object: ``rows`` as stored, ``range``: first, last tick (untimed: None)."""

    rows: NDArray[np.void]
    range: tuple[int, int] | None = (0, 0)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def starts(self) -> NDArray[np.int32]:
        """(keys,) ticks of timed keys."""
        starts: NDArray[np.int32] = self.rows["start"]
        return starts

    @property
    def work(self) -> bool:
        """Whether the keys have an effect: a timed track with only one key has none."""
        return len(self.rows) > (0 if self.range is None else 1)

    @property
    def start_late(self) -> bool:
        """Whether the first timed key starts after the first tick."""
        return self.range is not None and len(self.rows) > 1 and int(self.starts.min()) > self.range[0]


@dataclass(frozen=True, eq=False)
class Track:
    """Keys of one sub-object. ``length``: number of frames of an untimed file; ``command`` of the property string."""

    rotation: Keys = Keys(np.zeros(0, ROTATION_KEY))
    position: Keys = Keys(np.zeros(0, POSITION_KEY))
    length: int = 0
    command: Property | None = None

    @cached_property
    def rotations(self) -> Floats:
        """(keys, 3, 3) the rotation after each key, exact."""
        return cumulative_rotations(self.rotation.rows["axis"], self.rotation.rows["angle"])

    @cached_property
    def displacements(self) -> Floats:
        """(keys, 3)."""
        result: Floats = self.position.rows["position"].astype(np.float64)
        return result

    @cached_property
    def spin_axis(self) -> Floats | None:
        """(3,) axis of a rotor or turret, None for other sub-objects."""
        spins = self.command is not None and self.command.rotates and len(self.rotation) >= 2
        return unit_axes(self.rotation.rows["axis"][1:2])[0] if spins else None

    @property
    def spin_seconds(self) -> float | None:
        """Seconds per turn of a rotor, None for a turret."""
        return self.command.numbers[0] if self.command is not None and self.command.kind is Kind.ROTATE else None

    @property
    def moves(self) -> bool:
        """Whether the keys move the sub-object."""
        return (self.rotation.work and self.spin_axis is None) or self.position.work

    @property
    def span(self) -> tuple[int, int]:
        """First and last tick. An empty range becomes one tick, after which positions jump."""
        if self.rotation.range is None:
            return 0, self.length
        first, last = self.rotation.range
        return first, max(last, first + 1)

    @property
    def untimed_times(self) -> Floats:
        """Times of untimed keys, which are evenly distributed."""
        counts = [count for count in (len(self.rotation), len(self.position)) if count > 1]
        return np.concatenate([np.zeros(0), *(np.arange(count) * (self.length / (count - 1)) for count in counts)])


def tracks_of(document: Oof) -> list[Track]:
    """Return the tracks of `Oof.sub_objects`, in that order; empty ones if the file has no animation."""
    rotations, positions = document.last(RotationTracks), document.last(PositionTracks)
    length = max((chunk.shared_count for chunk in (rotations, positions) if chunk is not None), default=0)
    timed = document.major >= TIMED_SINCE
    return [
        Track(
            _keys(rotations, part.index, ROTATION_KEY, timed=timed),
            _keys(positions, part.index, POSITION_KEY, timed=timed),
            length,
            parse_property(part.property_text),
        )
        for part in document.sub_objects
    ]


def _keys(chunk: Tracks | None, index: int, layout: np.dtype[np.void], *, timed: bool) -> Keys:
    rows = chunk.keys[index] if chunk is not None and index < len(chunk.keys) else np.zeros(0, layout)
    if not timed:
        return Keys(rows, None)
    if chunk is None or chunk.ranges is None:
        return Keys(rows)
    first, last = chunk.ranges[index].tolist()
    return Keys(rows, (first, last))


def unit_axes(axes: Singles) -> Floats:
    """Return axes (..., 3) normalised to length 1; a zero axis remains zero, as in the engine."""
    exact = axes.astype(np.float64)
    length = np.linalg.norm(exact, axis=-1, keepdims=True)
    result: Floats = exact / np.where(length > 0, length, 1.0)
    return result


def rotation_matrices(axes: Floats, angles: NDArray[Any]) -> Floats:
    """Return (n, 3, 3) rotations by ``angles`` (n,) in units of `FULL_TURN` about unit ``axes`` (n, 3)."""
    radians = (np.asarray(angles, np.int64) % FULL_TURN) * (2 * np.pi / FULL_TURN)
    cosine, sine = np.cos(radians), np.sin(radians)
    x, y, z = np.moveaxis(axes, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    outer = axes[..., :, None] * axes[..., None, :]
    result: Floats = (
        (1 - cosine)[..., None, None] * outer + sine[..., None, None] * cross + cosine[..., None, None] * np.eye(3)
    )
    return result


def cumulative_rotations(axes: Singles, angles: NDArray[np.int32]) -> Floats:
    """Return (keys, 3, 3) the rotation at each key: its own rotation applied after all earlier ones."""
    steps = rotation_matrices(unit_axes(axes), angles)
    # Prefix products by doubling distances: a few array operations instead of a loop over keys.
    result = steps
    distance = 1
    while distance < len(steps):
        result = np.concatenate([result[:distance], result[distance:] @ result[:-distance]])
        distance *= 2
    return result
