"""Phases, which say where in its cycle a key of the game lies, and the frames of Blender that stand for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender.record import keep, kept
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.arma import rtm

Floats = NDArray[np.float64]

NEAREST_KEYS = 0.02
"""Frames; Blender makes one of keys that are nearer than half of this."""
SAME_FRAME = 1e-3
LAST_FRAME = 1_048_574
"""That Blender knows; the first one is as far below 0."""
COUNTED_FROM = 1.5
"""A last phase above this is no share of a cycle; some files number their frames (0.5, 1.5 ... 13.5)."""


def frames_of(
    phases: NDArray[np.float32], first_frame: float, cycle: float | None, report: Report, place: str
) -> NDArray[np.float32]:
    """(keys,) the frame of each key: one after the other, or with ``cycle`` frames from phase 0 to phase 1.

    Where phases are no numbers, do not rise or lie too near to each other it is one frame a key, which is said.
    """
    every = first_frame + np.arange(len(phases), dtype=np.float64)
    if cycle is None:
        return every.astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        placed = (first_frame + cycle * phases.astype(np.float64)).astype(np.float32)
        rising = bool((np.abs(placed) <= LAST_FRAME).all() and (np.diff(placed) >= NEAREST_KEYS).all())
    if not rising:
        report.warn("the phases do not rise enough to be frames, or too far: one frame a key", place)
        return every.astype(np.float32)
    return placed


def keep_keys(properties: Any, frames: NDArray[np.float32], phases: NDArray[np.float32]) -> None:
    """Remember on which frame each key of the file lies, and its phase."""
    keep(properties, "frames", frames.astype("<f4").tobytes())
    keep(properties, "phases", phases.astype("<f4").tobytes())


def kept_keys(properties: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(keys,) the frames and the phases that `keep_keys` stored. Raises `ReadError` where they are damaged."""
    frames, phases = kept_frames(properties), kept_phases(properties)
    if len(frames) != len(phases):
        problem = f"of its file {len(frames)} frames and {len(phases)} phases are kept, not as many of both"
        raise ReadError(problem, file=properties.id_data.name, remedy="Import the file again")
    return frames, phases


def kept_frames(properties: Any) -> NDArray[np.float32]:
    """(keys,) the frames that `keep_keys` stored. Raises `ReadError` where they are damaged."""
    return _kept_floats(properties, "frames")


def kept_phases(properties: Any) -> NDArray[np.float32]:
    """(keys,) the phases that `keep_keys` stored. Raises `ReadError` where they are damaged."""
    return _kept_floats(properties, "phases")


def _kept_floats(properties: Any, name: str) -> NDArray[np.float32]:
    data = kept(properties, name)
    if len(data) % 4:
        problem = f"the {name} kept from its file are cut off"
        raise ReadError(problem, file=properties.id_data.name, remedy="Import the file again")
    return np.frombuffer(data, "<f4")


def phases_at(
    frames: NDArray[np.float32], known_frames: NDArray[np.float32], known_phases: NDArray[np.float32]
) -> NDArray[np.float32]:
    """(frames,) phases of ``frames``: the file's own, to the bit, where its keys lie, and between them in proportion.

    As many keys as the file has, all moved or stretched together, keep its phases. Without a file (nothing known) or
    where its phases are no use in between they are spread evenly from 0 to 1.
    """
    if is_stretched(frames, known_frames):
        return known_phases.copy()
    rising = np.isfinite(known_phases).all() and len(known_phases) > 1 and (np.diff(known_phases) >= 0).all()
    if not rising:
        return spread_phases(frames)
    found = _between(frames.astype(np.float64), known_frames.astype(np.float64), known_phases.astype(np.float64))
    nearest = np.minimum(np.searchsorted(known_frames, frames - SAME_FRAME), len(known_frames) - 1)
    same = np.abs(known_frames[nearest] - frames) <= SAME_FRAME
    return np.where(same, known_phases[nearest], found.astype(np.float32))


def spread_phases(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """(frames,) phases from 0 to 1, in the way of the usual tools where frames are evenly apart."""
    count = len(frames)
    if count < 2:
        return np.zeros(count, np.float32)
    gaps = np.diff(frames.astype(np.float64))
    if np.ptp(gaps) <= SAME_FRAME:
        return rtm.default_phases(count)
    shares: NDArray[np.float32] = ((frames - frames[0]) / (frames[-1] - frames[0])).astype(np.float32)
    return shares


def is_stretched(frames: NDArray[np.float32], known: NDArray[np.float32]) -> bool:
    """Whether frames are the known ones, moved and stretched as a whole."""
    if len(frames) != len(known):
        return False
    ours, theirs = frames.astype(np.float64), known.astype(np.float64)
    reach = theirs[-1] - theirs[0] if len(theirs) else 0.0
    if reach <= 0:
        return True
    factor = (ours[-1] - ours[0]) / reach
    return bool(np.abs(ours - ours[0] - factor * (theirs - theirs[0])).max() <= SAME_FRAME * max(factor, 1.0))


def _between(frames: Floats, known: Floats, phases: Floats) -> Floats:
    """In proportion, also beyond both ends."""
    result = np.interp(frames, known, phases)
    before, after = frames < known[0], frames > known[-1]
    result[before] = phases[0] + (frames[before] - known[0]) * (phases[1] - phases[0]) / (known[1] - known[0])
    result[after] = phases[-1] + (frames[after] - known[-1]) * (phases[-1] - phases[-2]) / (known[-1] - known[-2])
    return result


def moving_phases(phases: NDArray[np.float32]) -> Floats:
    """(keys,) how much of the step is done: the phases, or where they are no numbers as if they were spread evenly."""
    usable = np.isfinite(phases).all()
    return (phases if usable else rtm.default_phases(len(phases))).astype(np.float64)


def cycle_of(phases: NDArray[np.float32]) -> float:
    """What the phase of a whole cycle is: 1, or in files that count frames instead as many as there are."""
    last = float(phases.max(initial=0.0)) if np.isfinite(phases).all() else 0.0
    return float(np.ceil(last)) if last > COUNTED_FROM else 1.0
