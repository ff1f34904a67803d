"""What an encoded clip takes from its base file: bones, frames, names, numbers, events and the step, bit by bit.

New names and events, and what no file of the game can store, are checked here too, for both kinds of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum
from ....core.binary import as_in_file
from ....core.errors import WriteError
from ....core.model import DeltaClip, Event
from ....core.names import duplicates
from ....core.report import listed, say
from .. import names
from .document import LONGEST_NAME, LONGEST_TEXT, MOST_BONES, MOST_FRAMES, STEP_SOUND, Rtm, StoredEvent, too_long

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sources:
    """The index in the base file of each of a clip's bones (bones,) and frames (frames,), -1 for new ones.

    ``renamed`` (bones,) is False where the name is exactly the base's.
    """

    bones: NDArray[np.intp]
    frames: NDArray[np.intp]
    renamed: NDArray[np.bool_]

    @staticmethod
    def of(clip: DeltaClip, base: Rtm) -> Sources:
        """Match a clip's bones and frames with those of a base file."""
        names_of_base = base.bones
        index = {bone.lower(): number for number, bone in reversed(list(enumerate(names_of_base)))}
        rows = [index.get(bone.lower(), -1) for bone in clip.bones]
        if clip.bones == names_of_base:  # even if two bones of the file have the same name
            rows = list(range(len(rows)))
        renamed = [row < 0 or names_of_base[row] != bone for bone, row in zip(clip.bones, rows, strict=True)]
        frames = frame_sources(clip.phases, base.phases)
        return Sources(np.array(rows, np.intp), frames, np.array(renamed, np.bool_))

    def complete(self, bones: int, frames: int) -> bool:
        """Return whether no bone or frame was added, removed or moved."""
        return all(
            len(sources) == count and bool((sources == np.arange(count)).all())
            for sources, count in ((self.bones, bones), (self.frames, frames))
        )

    def grid(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return an index from (bones, frames, ...) of the base to the clip's, and which elements the base has."""
        known = (self.bones >= 0)[:, None] & (self.frames >= 0)[None, :]
        return np.ix_(np.maximum(self.bones, 0), np.maximum(self.frames, 0)), known  # type: ignore[return-value]

    def names(self, clip: DeltaClip, base_names: Sequence[bytes]) -> list[bytes]:
        """Return the bytes of the clip's bone names, the base's bytes for unchanged names. Raises `WriteError`."""
        new = iter(new_names([bone for bone, renamed in zip(clip.bones, self.renamed, strict=True) if renamed]))
        pairs = zip(self.bones.tolist(), self.renamed.tolist(), strict=True)
        return [next(new) if renamed else base_names[source] for source, renamed in pairs]


def frame_sources(phases: NDArray[np.float32], base: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return (frames,) indices in ``base``: 0, 1, 2 … if the counts are equal, else by equal phase, -1 for none."""
    if len(phases) == len(base):
        return np.arange(len(base), dtype=np.intp)
    bits, wanted = base.view(np.uint32), np.ascontiguousarray(phases, np.float32).view(np.uint32)
    values, first = np.unique(bits, return_index=True)
    if not len(values):
        return np.full(len(wanted), -1, np.intp)
    nearest = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[nearest] == wanted, first[nearest], -1)


def kept_numbers(
    values: Floats, unedited: Floats, known: NDArray[np.bool_], tolerance: float | Floats
) -> NDArray[np.bool_]:
    """Return which numbers (bones, frames, ...) are unedited; ``known`` (bones, frames) as in `Sources.grid`."""
    with np.errstate(invalid="ignore"):
        near = np.abs(values - unedited) <= tolerance
    near |= quantum.unedited(values, unedited)
    result: NDArray[np.bool_] = near & known[(...,) + (None,) * (values.ndim - 2)]
    return result


def check_clip(clip: DeltaClip, base: Rtm | None) -> None:
    """Raise `WriteError` for a clip that the game's files cannot store."""
    base_bones = base.bones if base is not None else []
    count, frames = clip.deltas.shape[:2]
    if not frames and (base is None or len(base.phases)):
        raise WriteError("the animation has no frames", remedy="A static pose has two, of phase 0 and 1")
    if frames > MOST_FRAMES or count > MOST_BONES:
        words = "{:# frame|# frames} of {:# bone|# bones}: more than the game reads ({} and {})"
        raise WriteError(
            say(words, frames, count, MOST_FRAMES, MOST_BONES), remedy="Export every second frame or fewer bones"
        )
    if len(clip.phases) != frames or len(clip.bones) != count:
        words = "the numbers of phases ({}) and frames ({}), or of bones ({}) and their names ({}), differ"
        raise WriteError(
            say(words, len(clip.phases), frames, count, len(clip.bones)),
            remedy="Give each frame a phase and each bone a name",
        )
    repeated = duplicates(clip.bones)
    if repeated and clip.bones != base_bones:
        raise WriteError(
            say("the game treats these bones as one: {}", listed(["/".join(group) for group in repeated])),
            remedy="Rename or leave out all but one of each",
        )


def new_names(bones: Sequence[str]) -> list[bytes]:
    """Return the bytes of new names. Raises `WriteError` for names that are too long or cannot be encoded."""
    texts = [names.encode(bone) for bone in bones]
    refuse_long(bones, texts)
    return texts


def refuse_long(bones: Sequence[str], texts: Sequence[bytes]) -> None:
    """Raise `WriteError` for bones whose names, encoded as ``texts``, are too long."""
    long = [bone for bone, text in zip(bones, texts, strict=True) if len(text) > LONGEST_NAME]
    if long:
        words = "names of more than {} bytes: {}"
        raise WriteError(say(words, LONGEST_NAME, ", ".join(long)), remedy="Rename these bones, or leave them out")


def refuse_not_finite(values: Floats, written: NDArray[np.bool_], bones: Sequence[str]) -> None:
    """Raise `WriteError` for NaN or infinite values (bones, frames, ...) where ``written`` is True."""
    broken = (written & ~np.isfinite(values)).reshape(len(bones), -1).any(axis=1) if values.size else np.zeros(0, bool)
    if broken.any():
        which = [bones[bone] for bone in np.flatnonzero(broken)[:5]]
        words = "the pose of {} holds NaN or infinite values"
        raise WriteError(say(words, ", ".join(which)), remedy="Check its keys and drivers")


def event_of(stored: StoredEvent) -> Event:
    """Return a stored event with its texts decoded."""
    return Event(stored.phase, names.decode(stored.name), names.decode(stored.value))


def stored_events(events: Sequence[Event], base: Sequence[StoredEvent], *, kinds: bool) -> list[StoredEvent]:
    """Encode events, reusing the base's equal events. Raises `WriteError`.

    ``kinds``: give new events the number of a binarised file.
    """
    by_phase, by_rounded = {}, {}
    for stored in reversed(base):
        event = event_of(stored)
        by_phase[event.phase.tobytes(), event.name, event.value] = stored
        by_rounded[_as_in_blender(event.phase), event.name, event.value] = stored
    result = []
    for event in events:
        phase, name, value = np.float32(event.phase), event.name, event.value
        known = by_phase.get((phase.tobytes(), name, value)) or by_rounded.get((_as_in_blender(phase), name, value))
        result.append(known or new_event(phase, names.encode(name), names.encode(value), kinds=kinds))
    return result


def new_event(phase: np.float32, name: bytes, value: bytes, *, kinds: bool) -> StoredEvent:
    """Return a new event, see `stored_events`. Raises `WriteError` for texts that are too long."""
    for text in (name, value):
        if len(text) > LONGEST_TEXT:
            raise too_long(text)
    return StoredEvent(phase, name, value, -1 if kinds and name.lower() != STEP_SOUND.lower() else 0)


def _as_in_blender(phase: np.float32) -> float | str:
    """Return a phase as Blender's properties store it: all NaNs are equal, infinity is the largest number."""
    limit = np.finfo(np.float32).max
    return "nan" if np.isnan(phase) else float(np.clip(phase, -limit, limit))


def same_bits(values: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Return whether two arrays are bitwise equal, NaNs included."""
    return values.shape == other.shape and values.tobytes() == other.tobytes()


def kept_step(step: Floats, base: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the step (3,) in the file's axes; numbers that were not edited keep the base's bits."""
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaNs of broken files
        near = quantum.unedited(step, base.astype(np.float64))
        result: NDArray[np.float32] = np.where(near, base, step.astype(np.float32))
    return as_in_file(result, base)
