"""A `DeltaClip` as an animation: what still means what the base says keeps the base's bits.

The scene cannot show everything a matrix holds (no shear), so what comes back is compared with what an untouched base
would have come back as (``shown``), number by number. Frames find their base by their place, or where frames were added
or removed, by their phase; bones by their names without regard to case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, quantum
from ....core.errors import WriteError
from ....core.finite import as_in_file
from ....core.model import DeltaClip, Event
from .document import LONGEST_NAME, MOST_BONES, MOST_FRAMES, StoredEvent

Floats = NDArray[np.float64]

REACH = 2e-6
"""How far a matrix' number may lie from what was shown: what 32-bit channels along a chain of bones add up to."""


def default_phases(frames: int) -> NDArray[np.float32]:
    """(frames,) float32 from 0 to 1 as the usual tools compute them: i times the 32-bit 1 / (frames - 1)."""
    return np.arange(frames, dtype=np.float32) * np.float32(1 / max(frames - 1, 1))


@dataclass(frozen=True)
class Sources:
    """Where each of a clip's bones and frames comes from: (bones,) and (frames,) place in the base, -1 for none."""

    bones: NDArray[np.intp]
    frames: NDArray[np.intp]

    @staticmethod
    def of(clip: DeltaClip, bones: Sequence[str], phases: NDArray[np.float32]) -> Sources:
        """Sources in a base with these bones and phases."""
        there = {bone.lower(): place for place, bone in reversed(list(enumerate(bones)))}
        rows = [there.get(bone.lower(), -1) for bone in clip.bones]
        if list(clip.bones) == list(bones):  # also where a file gives two bones one name
            rows = list(range(len(rows)))
        return Sources(np.array(rows, np.intp), _frame_sources(clip.phases, phases))

    def complete(self, bones: int, frames: int) -> bool:
        """Whether nothing was added, removed or moved."""
        return all(
            len(found) == count and bool((found == np.arange(count)).all())
            for found, count in ((self.bones, bones), (self.frames, frames))
        )

    def grid(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """An index that takes (bones, frames, ...) of the base to the clip's, and which of it are really there."""
        known = (self.bones >= 0)[:, None] & (self.frames >= 0)[None, :]
        return np.ix_(np.maximum(self.bones, 0), np.maximum(self.frames, 0)), known  # type: ignore[return-value]


def _frame_sources(phases: NDArray[np.float32], base: NDArray[np.float32]) -> NDArray[np.intp]:
    """By place where there are as many frames, else by phases that are the same to the bit."""
    if len(phases) == len(base):
        return np.arange(len(base), dtype=np.intp)
    bits, wanted = base.view(np.uint32), np.ascontiguousarray(phases, np.float32).view(np.uint32)
    values, first = np.unique(bits, return_index=True)
    if not len(values):
        return np.full(len(wanted), -1, np.intp)
    found = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[found] == wanted, first[found], -1)


def kept_elements(values: Floats, shown: Floats, known: NDArray[np.bool_], reach: float) -> NDArray[np.bool_]:
    """Which numbers (bones, frames, ...) still are what was shown."""
    with np.errstate(invalid="ignore"):
        near = np.abs(values - shown) <= reach
    near |= quantum.untouched(values, shown)
    result: NDArray[np.bool_] = near & known[(...,) + (None,) * (values.ndim - 2)]
    return result


def check(clip: DeltaClip, base_bones: Sequence[str] = (), base_frames: int | None = None) -> None:
    """Refuse what the game's files cannot hold. Raises `WriteError`."""
    count, frames = clip.deltas.shape[:2]
    if not frames and base_frames != 0:
        raise WriteError("the animation has no frames", remedy="A static pose has two, of phase 0 and 1")
    if frames > MOST_FRAMES or count > MOST_BONES:
        raise WriteError(
            f"{frames} frames of {count} bones are more than the game reads ({MOST_FRAMES} and {MOST_BONES})",
            remedy="Export every second frame or fewer bones",
        )
    if len(clip.phases) != frames or len(clip.bones) != count:
        raise WriteError(
            f"there are {len(clip.phases)} phases for {frames} frames, {len(clip.bones)} names for {count} bones"
        )
    long = [bone for bone in clip.bones if len(names.encode(bone)) > LONGEST_NAME and bone not in base_bones]
    if long:
        raise WriteError(
            f"names of more than {LONGEST_NAME} bytes: {', '.join(long)}",
            remedy="Rename these bones, or leave them out",
        )
    repeated = names.duplicates(clip.bones)
    if repeated and list(clip.bones) != list(base_bones):
        raise WriteError(
            f"the game takes these bones for one: {', '.join('/'.join(group) for group in repeated[:5])}",
            remedy="Rename them, or leave one of each out",
        )


def refuse_broken(values: Floats, needed: NDArray[np.bool_], bones: Sequence[str]) -> None:
    """Refuse numbers that are none among those (bones, frames, ...) that have to be written anew."""
    broken = (needed & ~np.isfinite(values)).reshape(len(bones), -1).any(axis=1) if values.size else np.zeros(0, bool)
    if broken.any():
        which = [bones[place] for place in np.flatnonzero(broken)[:5]]
        raise WriteError(
            f"the pose of {', '.join(which)} holds numbers that are none", remedy="Look for broken keys or drivers"
        )


def stored_events(events: Sequence[Event], base: Sequence[StoredEvent], *, kinds: bool) -> list[StoredEvent]:
    """Events with the base's kind where the base has the same; ``kinds``: new ones have a binarised file's number."""
    old = {stored.says: stored for stored in base}
    held = {(_as_held(stored.phase), *stored.says[1:]): stored for stored in reversed(base)}
    result = []
    for event in events:
        new = StoredEvent(np.float32(event.phase), names.encode(event.name), names.encode(event.value))
        if kinds and new.name.lower() != b"stepsound":
            new = StoredEvent(new.phase, new.name, new.value, -1)
        for text in (new.name, new.value):
            if len(text) > 255:
                raise WriteError(f"{text!r} is longer than 255 bytes", remedy="Shorten the event's name or value")
        result.append(old.get(new.says) or held.get((_as_held(new.phase), new.name, new.value), new))
    return result


def _as_held(phase: np.float32) -> float | str:
    """A phase as Blender's properties hold it: they know one NaN, and infinity as the largest number."""
    limit = np.finfo(np.float32).max
    return "nan" if np.isnan(phase) else float(np.clip(phase, -limit, limit))


def same_bits(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether two arrays hold the same 32-bit numbers, NaNs included."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def kept_step(step: Floats, base: NDArray[np.float32]) -> NDArray[np.float32]:
    """The base's numbers, bits included, where the step (in the file's axes) still is what they say."""
    near = quantum.untouched(step, base.astype(np.float64))
    with np.errstate(over="ignore"):
        result: NDArray[np.float32] = np.where(near, base, step.astype(np.float32))
    return as_in_file(result, base)
