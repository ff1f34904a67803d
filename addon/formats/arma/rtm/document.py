"""What an `.rtm` says: a matrix for every bone in every frame, plain or binarised; and what an encoding changed in it.

Plain files (``RTM_0101``, the oldest ``RTM_0100``) are what tools write: absolute matrices in the space of the rest
model. Binarised ones (``BMTR``) hold each bone relative to its parent, rounded, in axes that are turned half round.
Known from the reader of the released engine of Cold War Assault, from files of many mods and from a pair of one
animation that the vendor's tool binarised. Unknown: what the meta names of a binarised file are for (none has any).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes
from ....core.changes import Changes, Item, Part
from ....core.errors import WriteError
from ....core.report import counted
from .. import names

NAME_SIZE = 32
LONGEST_NAME = NAME_SIZE - 1
"""Bytes; the game's field has no room for more and a zero behind it."""
LONGEST_TEXT = 255
"""Bytes of an event's name or value."""
MOST_FRAMES = 100_000
MOST_BONES = 1000
"""What the game's reader takes."""

PLAIN, PLAIN_OLD, PROPERTIES = b"RTM_0101", b"RTM_0100", b"RTM_MDAT"
BINARISED = b"BMTR"
BINARISED_VERSIONS = (2, 3, 4, 5)
WITH_EVENTS = 4
"""The first binarised version that has events; plain files have them in a block of their own."""
PACKED_BY_FLAG = 5
"""The first binarised version that says of each array whether it is compressed."""
PACKED_FROM = 1024
"""Bytes from which on the arrays of older versions are compressed."""
STEP_SOUND = b"StepSound"
"""The event that binarised files know by a number (0)."""

TRANSFORM = np.dtype([("rotation", "<i2", 4), ("translation", "<f2", 3)])
"""x y z w times 16384, and metres."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """``kind`` is a binarised file's number (0 for step sounds, else -1); 0 in a plain file, which has none."""

    phase: np.float32
    name: bytes
    value: bytes
    kind: int = 0

    @property
    def meaning(self) -> tuple[bytes, bytes, bytes]:
        """Everything but the kind: phase (its bits), name and value."""
        return self.phase.tobytes(), self.name, self.value


@dataclass(slots=True)
class Plain:
    """``step`` (3,) float32; ``bone_fields`` (bones, 32) uint8, text up to the first zero and whatever lay in memory;
    ``phases`` (frames,) float32; ``frame_fields`` (frames, bones, 32) uint8, the names again; ``matrices`` (frames,
    bones, 4, 3) float32: the images of the x, y and z axis and the translation, in the file's axes.

    ``events`` None where the file has no block of them; ``properties_version`` the number that block begins with.
    """

    magic: bytes
    step: NDArray[np.float32]
    bone_fields: NDArray[np.uint8]
    phases: NDArray[np.float32]
    frame_fields: NDArray[np.uint8]
    matrices: NDArray[np.float32]
    events: list[StoredEvent] | None = None
    properties_version: int = 0
    tail: Bytes = b""

    @property
    def bones(self) -> list[str]:
        """The bones' names as text."""
        return [names.decode(text) for text in texts_of(self.bone_fields)]

    @property
    def version(self) -> str:
        """In words."""
        return "plain" if self.magic == PLAIN else "plain, oldest version"

    def frame_names_differ(self) -> NDArray[np.bool_]:
        """(frames,) where a frame's names are not the file's, upper and lower case being the same."""
        differ: NDArray[np.bool_] = np.any(self.frame_fields != self.bone_fields, axis=(1, 2))
        other = np.flatnonzero(differ)  # if only in bytes that mean nothing
        if len(other):
            wanted, found = _compared(self.bone_fields), _compared(self.frame_fields[other])
            differ[other] = (wanted != found).any(axis=(1, 2))
        return differ


@dataclass(slots=True)
class Binarised:
    """``transforms`` (frames, bones) of `TRANSFORM`; ``blocks`` the compressed bytes that each frame was read from,
    empty where it is stored as it is, and ``phases_block`` the same of the phases.

    ``turned``: the data is in the half-turned frame (in every known file). ``preload``: kept in memory.
    ``first_frame_bones`` is a number every file repeats.
    """

    version: int
    turned: int
    step: NDArray[np.float32]
    preload: int
    first_frame_bones: int
    bone_names: list[bytes]
    phases: NDArray[np.float32]
    transforms: NDArray[np.void]
    meta: list[bytes] = field(default_factory=list)
    events: list[StoredEvent] = field(default_factory=list)
    phases_block: Bytes = b""
    blocks: list[Bytes] = field(default_factory=list)
    tail: Bytes = b""

    @property
    def bones(self) -> list[str]:
        """The bones' names as text."""
        return [names.decode(name) for name in self.bone_names]

    def unpacked(self) -> Binarised:
        """The same in version 5, where no array has to be compressed."""
        frames = len(self.phases)
        return replace(self, version=PACKED_BY_FLAG, phases_block=b"", blocks=[b""] * frames)


Rtm = Plain | Binarised
"""Either kind of file."""


def too_long(text: bytes) -> WriteError:
    """The refusal of an event's name or value of more than `LONGEST_TEXT` bytes."""
    return WriteError(
        f"{names.decode(text)!r} is longer than {LONGEST_TEXT} bytes", remedy="Shorten the event's name or value"
    )


def texts_of(fields: NDArray[np.uint8]) -> list[bytes]:
    """The names in fields (n, 32): the bytes before the first zero."""
    return [field.tobytes().partition(b"\0")[0] for field in fields]


def name_field(name: bytes) -> NDArray[np.uint8]:
    """A field of 32 bytes for a name that fits."""
    return np.frombuffer(name.ljust(NAME_SIZE, b"\0"), np.uint8)


def garbage(fields: NDArray[np.uint8]) -> int:
    """How many bytes behind the names are not zero: memory of the program that wrote the file."""
    return int(np.count_nonzero(fields)) - int(np.count_nonzero(_texts(fields)))


def _texts(fields: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The fields (..., 32) with everything behind the first zero made zero."""
    result: NDArray[np.uint8] = np.where(np.logical_and.accumulate(fields != 0, axis=-1), fields, 0)
    return result


def _compared(fields: NDArray[np.uint8]) -> NDArray[np.uint8]:
    texts = _texts(fields)
    capital = (texts >= ord("A")) & (texts <= ord("Z"))
    result: NDArray[np.uint8] = texts + (capital * np.uint8(32))
    return result


def changes_of(
    bones: list[str], changed: NDArray[np.bool_], fields: list[str], left_out: tuple[str, ...] = ()
) -> Changes:
    """The changes of a clip of these bones; ``changed`` (bones, frames) which poses are no longer the base's.

    In a plain file the bones below an edited one change with it.
    """
    counts = changed.sum(axis=1)
    items = [Item(bones[bone], int(counts[bone])) for bone in np.flatnonzero(counts)]
    edited = [Part(item.name, "bone", items=(item,)) for item in items]
    frames = counted(int(changed.any(axis=0).sum()), "frame")
    return Changes(list(fields), list(left_out), edited, unchanged=len(bones) - len(edited), extent=frames, noun="bone")


def with_phases(document: Rtm, phases: NDArray[np.float32], changes: Changes) -> tuple[Rtm, Changes]:
    """The document with other phases (frames,) for its frames, and the changes with that."""
    stored = phases.astype("<f4")
    lines = changes.lines if "phases" in changes.lines else [*changes.lines, "phases"]
    changed = replace(changes, lines=lines)
    if isinstance(document, Binarised):
        return replace(document, phases=stored, phases_block=b""), changed
    return replace(document, phases=stored), changed
