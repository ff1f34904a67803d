"""What a `.bones` says: what the editor knows of bones beside their motions: shapes, joints, masses, parts.

A chunk for each bone, numbered from 0, with nested chunks for each kind of property, then chunk 0x923, the parts that
can play motions of their own. Known from the editor's ``bone.cpp`` and ``EditObjectIO.cpp``. Joint limits are as the
editor shows them; a model's (`ogf`) are turned round for the physics engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Reader, Writer
from ..chunks import Section

PARTS = 0x923
MOST_BONES = 0x900
"""Ids from here on are other chunks of the editor."""


class Value(Protocol):
    """What a typed chunk holds."""

    def write(self, writer: Writer) -> None:
        """The chunk's body."""


@dataclass(slots=True, eq=False)
class Version:
    """Chunk 1: 2, or 1 where the rotations about x and y are exchanged."""

    number: int

    @classmethod
    def read(cls, reader: Reader) -> Version:
        return cls(reader.u16("the version"))

    def write(self, writer: Writer) -> None:
        writer.u16(self.number)


@dataclass(slots=True, eq=False)
class Naming:
    """Chunk 2: the name; in the editor's objects also the parent's and the vertex map's."""

    texts: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> Naming:
        texts = [reader.string("a bone's name")]
        while reader.remaining:
            texts.append(reader.string("a bone's parent or vertex map"))
        return cls(texts)

    def write(self, writer: Writer) -> None:
        for text in self.texts:
            writer.string(text)


@dataclass(slots=True, eq=False)
class Placement:
    """Chunk 3, the rest pose: ``offset`` (3,) and ``rotation`` (3,) from the parent (``setXYZi``), ``length``."""

    offset: NDArray[np.float32]
    rotation: NDArray[np.float32]
    length: np.float32

    @classmethod
    def read(cls, reader: Reader) -> Placement:
        return cls(
            reader.array("<f4", 3, what="a bone's place"),
            reader.array("<f4", 3, what="a bone's rotation"),
            reader.f32("a bone's length"),
        )

    def write(self, writer: Writer) -> None:
        writer.array(self.offset, "<f4")
        writer.array(self.rotation, "<f4")
        writer.f32(self.length)


@dataclass(slots=True, eq=False)
class Material:
    """Chunk 4: the game material."""

    name: bytes

    @classmethod
    def read(cls, reader: Reader) -> Material:
        return cls(reader.string("a bone's material"))

    def write(self, writer: Writer) -> None:
        writer.string(self.name)


@dataclass(slots=True, eq=False)
class IkFlags:
    """Chunk 8: 1 breakable."""

    flags: int

    @classmethod
    def read(cls, reader: Reader) -> IkFlags:
        return cls(reader.u32("a joint's flags"))

    def write(self, writer: Writer) -> None:
        writer.u32(self.flags)


@dataclass(slots=True, eq=False)
class Breaking:
    """Chunk 9: what breaks the joint."""

    force: np.float32
    torque: np.float32

    @classmethod
    def read(cls, reader: Reader) -> Breaking:
        return cls(reader.f32("a breaking force"), reader.f32("a breaking torque"))

    def write(self, writer: Writer) -> None:
        writer.f32(self.force)
        writer.f32(self.torque)


@dataclass(slots=True, eq=False)
class Friction:
    """Chunk 0x10: the joint's friction."""

    value: np.float32

    @classmethod
    def read(cls, reader: Reader) -> Friction:
        return cls(reader.f32("a joint's friction"))

    def write(self, writer: Writer) -> None:
        writer.f32(self.value)


@dataclass(slots=True, eq=False)
class Mass:
    """Chunk 7: kilogrammes, and the ``centre`` of mass (3,) in the bone's space."""

    mass: np.float32
    centre: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Mass:
        return cls(reader.f32("a bone's mass"), reader.array("<f4", 3, what="a bone's centre of mass"))

    def write(self, writer: Writer) -> None:
        writer.f32(self.mass)
        writer.array(self.centre, "<f4")


Kind = TypeVar("Kind")


@dataclass(slots=True)
class Bone:
    """One bone: its chunks in order, known ones typed; ``tail`` bytes behind them."""

    sections: list[Section[Value]]
    tail: bytes = b""

    @property
    def name(self) -> str:
        """The name as text; of two naming chunks the longer counts."""
        found = [section.value for section in self.sections if isinstance(section.value, Naming)]
        return names.decode(max(found, key=lambda naming: len(naming.texts)).texts[0]) if found else ""

    def first(self, kind: type[Kind]) -> Kind | None:
        """The first chunk of a kind, or None."""
        return next((section.value for section in self.sections if isinstance(section.value, kind)), None)


@dataclass(slots=True)
class Part:
    """A named set of bones that can play a motion of its own."""

    name: bytes
    bones: list[bytes]


@dataclass(slots=True)
class Parts:
    """Chunk 0x923."""

    parts: list[Part]


@dataclass(slots=True)
class Bones:
    """The file: its chunks in order."""

    sections: list[Section[Bone | Parts]]
    tail: bytes = b""

    @property
    def bones(self) -> list[Bone]:
        """The bones in the order of their numbers."""
        found = [(part.chunk.plain_id, part.value) for part in self.sections if isinstance(part.value, Bone)]
        return [bone for _, bone in sorted(found, key=lambda pair: pair[0])]

    @property
    def parts(self) -> list[Part]:
        """The parts, none where the file has no such chunk."""
        return next((part.value.parts for part in self.sections if isinstance(part.value, Parts)), [])
