"""Document of an `.rtm`: a matrix for every bone in every frame, plain or binarised; and the changes of an encoding.

Plain files (``RTM_0101``, the oldest ``RTM_0100``) are written by modding tools: absolute matrices in the space of the
rest model. Binarised files (``BMTR``) store each bone relative to its parent, rounded, in axes rotated by 180° about y.
Known from the reader of the released engine of Cold War Assault, from files of many mods and from a pair of one
animation that the vendor's tool binarised. Unknown: the purpose of a binarised file's meta names (no file has any).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes
from ....core.changes import Changes, Item, Noun, Part
from ....core.compression import lzo
from ....core.errors import WriteError
from ....core.report import Message, say
from .. import names

NAME_SIZE = 32
LONGEST_NAME = NAME_SIZE - 1
"""Bytes; the field also holds a final zero."""
LONGEST_TEXT = 255
"""Maximum number of bytes of an event's name or value."""
MOST_FRAMES = 100_000
MOST_BONES = 1000
"""Limits of the game's reader."""

PLAIN, PLAIN_OLD, PROPERTIES = b"RTM_0101", b"RTM_0100", b"RTM_MDAT"
BINARISED = b"BMTR"
BINARISED_VERSIONS = (2, 3, 4, 5)
WITH_EVENTS = 4
"""First binarised version with events; plain files store them in a separate block."""
PACKED_BY_FLAG = 5
"""First binarised version with a flag for each array that says whether it is compressed."""
PACKED_FROM = 1024
"""Size in bytes from which arrays of older versions are compressed."""
WORTH_PACKING = 0.96
"""Share of its size to which an array of version 5 must be compressed: the rule of the vendor's tool."""
STEP_SOUND = b"StepSound"
"""The event that binarised files store by number (0)."""

TRANSFORM = np.dtype([("rotation", "<i2", 4), ("translation", "<f2", 3)])
"""Quaternion x y z w times 16384, and translation in metres."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event. ``kind``: number in a binarised file, 0 for step sounds, else -1; always 0 in a plain file."""

    phase: np.float32
    name: bytes
    value: bytes
    kind: int = 0

    @property
    def meaning(self) -> tuple[bytes, bytes, bytes]:
        """Bits of the phase, name and value: everything but the kind."""
        return self.phase.tobytes(), self.name, self.value


@dataclass(slots=True)
class Plain:
    """A plain file. ``step`` (3,) float32; ``bone_fields`` (bones, 32) uint8: each bone's name up to the first zero,
    then arbitrary bytes; ``phases`` (frames,) float32; ``frame_fields`` (frames, bones, 32) uint8: the names again in
    each frame; ``matrices`` (frames, bones, 4, 3) float32: the images of the x, y and z axis and the translation, in
    the file's axes.

    ``events`` is None if the file has no block of events; ``properties_version``: the first number of that block.
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
        """Bone names as text."""
        return [names.decode(text) for text in texts_of(self.bone_fields)]

    @property
    def version(self) -> str:
        """Version in words."""
        return "plain" if self.magic == PLAIN else "plain, oldest version"

    def frame_names_differ(self) -> NDArray[np.bool_]:
        """Return (frames,) whether a frame's bone names differ from the file's, ignoring case."""
        differ: NDArray[np.bool_] = np.any(self.frame_fields != self.bone_fields, axis=(1, 2))
        other = np.flatnonzero(differ)  # some differ only in the bytes after the name
        if len(other):
            wanted, fields = _compared(self.bone_fields), _compared(self.frame_fields[other])
            differ[other] = (wanted != fields).any(axis=(1, 2))
        return differ


@dataclass(slots=True)
class Binarised:
    """A binarised file. ``transforms`` (frames, bones) of `TRANSFORM`. ``blocks``: the compressed bytes of each frame,
    empty for uncompressed frames; ``phases_block``: the same for the phases.

    ``turned``: the data is in axes rotated by 180° about y (1 in every known file). ``preload``: the game keeps the
    animation in memory. ``first_frame_bones``: repeats the number of bones in every known file.
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
        """Bone names as text."""
        return [names.decode(name) for name in self.bone_names]

    def unpacked(self) -> Binarised:
        """Return the same animation in version 5, in which arrays may be uncompressed."""
        frames = len(self.phases)
        return replace(self, version=PACKED_BY_FLAG, phases_block=b"", blocks=[b""] * frames)

    def packed(self, values: NDArray[Any]) -> Bytes:
        """Return the block of an array (a frame, or the phases), compressed if this file compresses such arrays."""
        plain = np.ascontiguousarray(values).tobytes()
        if self.version == 2 or (self.version < PACKED_BY_FLAG and len(plain) < PACKED_FROM):
            return b""  # the file's version decides
        if self.version == PACKED_BY_FLAG and not any(map(len, (self.phases_block, *self.blocks))):
            return b""
        block = lzo.pack_bytes(plain)
        return block if self.version < PACKED_BY_FLAG or len(block) <= WORTH_PACKING * len(plain) else b""


Rtm = Plain | Binarised
"""A plain or binarised animation."""


def too_long(text: bytes) -> WriteError:
    """Return the error for an event's name or value of more than `LONGEST_TEXT` bytes."""
    words = "{!r} is longer than {} bytes"
    return WriteError(say(words, names.decode(text), LONGEST_TEXT), remedy="Shorten the event's name or value")


def texts_of(fields: NDArray[np.uint8]) -> list[bytes]:
    """Return the names in fields (n, 32): the bytes before the first zero."""
    return [field.tobytes().partition(b"\0")[0] for field in fields]


def name_field(name: bytes) -> NDArray[np.uint8]:
    """Return the field of 32 bytes for a name of at most 32."""
    return np.frombuffer(name.ljust(NAME_SIZE, b"\0"), np.uint8)


def garbage_size(fields: NDArray[np.uint8]) -> int:
    """Return how many bytes after the names are not zero: uninitialised memory of the program that wrote the file."""
    return int(np.count_nonzero(fields)) - int(np.count_nonzero(_texts(fields)))


def _texts(fields: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return fields (..., 32) with every byte after the first zero cleared."""
    result: NDArray[np.uint8] = np.where(np.logical_and.accumulate(fields != 0, axis=-1), fields, 0)
    return result


def _compared(fields: NDArray[np.uint8]) -> NDArray[np.uint8]:
    texts = _texts(fields)
    capital = (texts >= ord("A")) & (texts <= ord("Z"))
    result: NDArray[np.uint8] = texts + (capital * np.uint8(32))
    return result


PHASES = say("phases")


def changes_of(
    bones: list[str], changed: NDArray[np.bool_], fields: list[Message], left_out: tuple[Message, ...] = ()
) -> Changes:
    """Return the changes of a clip with these bones. ``changed`` (bones, frames): poses that differ from the base.

    In a plain file, matrices are absolute: the descendants of an edited bone change with it.
    """
    counts = changed.sum(axis=1)
    items = [Item(bones[bone], int(counts[bone])) for bone in np.flatnonzero(counts)]
    edited = [Part(item.name, Noun.BONE, items=(item,)) for item in items]
    frames = say("{:# frame|# frames}", int(changed.any(axis=0).sum()))
    unchanged = len(bones) - len(edited)
    return Changes({"": fields}, list(left_out), edited, unchanged=unchanged, extent=frames, noun=Noun.BONE)


def with_phases(document: Rtm, phases: NDArray[np.float32], changes: Changes) -> Rtm:
    """Return the document with other phases (frames,); adds this to ``changes``."""
    stored = phases.astype("<f4")
    if PHASES not in changes.lines:
        changes.note(PHASES)
    if isinstance(document, Binarised):
        return replace(document, phases=stored, phases_block=document.packed(stored))
    return replace(document, phases=stored)
