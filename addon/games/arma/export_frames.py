"""Which frames of an action become keys of a file, and what phases these get where the animation's length changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import WriteError
from ...core.report import Report
from ...formats.arma import rtm
from . import timing

Floats = NDArray[np.float64]

NEAR = 1e-3
"""Frames within which a key lies on a frame: Blender's are 32-bit numbers."""
WHOLE_CYCLE = 0.9
"""What phases of a whole cycle go through at least; others are a piece of a longer animation."""


class FramesFrom(Enum):
    """Which frames become keys of the file."""

    KEYS = "keys"
    """In new animations also frames between keys, where what the game blends would leave the tolerance."""
    EVERY = "every"
    """Every so many frames of the action's range, and its last one."""
    RANGE = "range"


@dataclass(frozen=True)
class Length:
    """First and last frame of an action, and whether its frame range is what says so, not its keys."""

    first: float
    last: float
    by_range: bool


def length_of(action: Any, times: NDArray[np.float32], imported: NDArray[np.float32]) -> Length:
    """How long an action with keys at ``times`` is whose file's keys were put on the frames ``imported``.

    An import sets the action's frame range to the file's. Where the user changed it since, it decides. Else keys behind
    the end make the animation longer, and none makes it shorter: bones that stand still may have one key. Keys that
    were moved or stretched all together take its ends along.
    """
    if action.use_frame_range:
        start, end = float(action.frame_start), float(action.frame_end)
        same = len(imported) and np.allclose((start, end), (imported[0], imported[-1]), rtol=0.0, atol=NEAR)
        if not same or not len(times) or action.motionbridge_animation.is_cut:
            return Length(start, end, by_range=True)
    if len(times):
        ends = times if timing.is_stretched(times, imported) else np.concatenate((times, imported))
        return Length(float(ends.min()), float(ends.max()), by_range=False)
    start, end = action.frame_range
    return Length(float(start), float(end), by_range=True)


def keys_within(times: NDArray[np.float32], length: Length) -> NDArray[np.float32]:
    """The keys from the first to the last frame, and these two."""
    inside = times[(times > length.first + NEAR) & (times < length.last - NEAR)]
    return np.unique(np.concatenate(([length.first], inside, [length.last])).astype(np.float32))


def warn_of_keys_outside(action: Any, times: NDArray[np.float32], length: Length, report: Report) -> None:
    """Say which keys a frame range leaves out."""
    before, behind = length.first - times[:1], times[-1:] - length.last
    for frames, where in ((before, "before the first frame"), (behind, "behind the last frame")):
        if len(frames) and frames[0] > NEAR:
            report.warn(
                f"keys lie {where} and are left out; widen the action's frame range to have them",
                f"{action.name}: {frames[0]:g} frames",
            )


def every(first: float, last: float, step: int) -> NDArray[np.float32]:
    """Whole frames so many apart, and the last one. Raises `WriteError` where these are more than the game reads."""
    begin, end = int(np.floor(first + NEAR)), int(np.ceil(last - NEAR))
    if (end - begin) // step >= rtm.MOST_FRAMES:
        raise WriteError(
            f"{end - begin + 1} frames are more than the game reads ({rtm.MOST_FRAMES})",
            remedy="Export a shorter range, or fewer frames of it",
        )
    found = np.arange(begin, end + 1, step)
    if len(found) and found[-1] != end:
        found = np.append(found, end)
    return found.astype(np.float32)


@dataclass(frozen=True)
class Phases:
    """``kept`` (frames,) in proportion to the file's; ``written`` (frames,) those the file gets, which are other ones
    where the animation became longer or shorter. ``stretch``: by how much more they rise.
    """

    kept: NDArray[np.float32]
    written: NDArray[np.float32]
    stretch: float = 1.0

    @property
    def changed(self) -> bool:
        """Whether other phases are written."""
        return self.written is not self.kept

    def of(self, phase: np.float32) -> np.float32:
        """The phase written for one in proportion to the file's."""
        if not self.changed:
            return phase
        return np.float32(float(self.written[0]) + self.stretch * (float(phase) - float(self.kept[0])))


def phases_of(frames: NDArray[np.float32], known: NDArray[np.float32], phases: NDArray[np.float32]) -> Phases:
    """The phases of ``frames`` in a file whose keys were put on ``known`` frames with ``phases``.

    The game plays a cycle from 0 to 1. So an animation that covers the whole of it goes on covering it where frames
    were added at its ends or cut off.
    """
    found = timing.phases_at(frames, known, phases)
    whole = _is_whole_cycle(phases)
    if len(found) < 2 or not len(phases) or not np.isfinite(phases).all() or timing.cycle_of(phases) != 1.0:
        return Phases(found, found)
    first, last = float(found[0]), float(found[-1])
    same = first == float(phases[0]) and last == float(phases[-1])
    beyond = first < min(0.0, float(phases[0])) or last > max(1.0, float(phases[-1]))
    if same or last <= first or not (whole or beyond):
        return Phases(found, found)
    ends = (float(phases[0]), float(phases[-1])) if whole else (0.0, 1.0)
    stretch = (ends[1] - ends[0]) / (last - first)
    written = (ends[0] + stretch * (found.astype(np.float64) - first)).astype(np.float32)
    if _is_even(frames) and ends == (0.0, 1.0):
        written = rtm.default_phases(len(frames))
    written[[0, -1]] = ends
    return Phases(found, written, stretch)


def _is_whole_cycle(phases: NDArray[np.float32]) -> bool:
    return len(phases) > 1 and float(phases[-1]) - float(phases[0]) >= WHOLE_CYCLE


def _is_even(frames: NDArray[np.float32]) -> bool:
    return bool(np.ptp(np.diff(frames.astype(np.float64))) <= NEAR)
