"""`.bones`: properties of a skeleton's bones from the game's editor: shapes, joints, masses, bone parts.

A file has a chunk for each bone, numbered from 0, with nested chunks for each kind of property, then chunk 0x923: the
bone parts, which can play motions of their own. Source: the editor's ``bone.cpp`` and ``EditObjectIO.cpp``. Joint
limits are as the editor shows them; a model (`ogf`) stores -highest and -lowest of them, for the physics engine.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ...core import names
from ...core.binary import Reader
from ...core.changes import Changes, Noun
from ...core.errors import ReadError
from ...core.records import Record, array, f32, list_of, list_to_end, nested, string, u16, u32
from ...core.report import Report, say
from ...core.walk import View, Views, pairs
from .chunks import CHUNK_VIEWS, Section, listed, section_view
from .contents import Contents, Read, read_contents, typed_reader, unknown_size, write_contents
from .ogf.bone_values import changed_values, editor_limits
from .ogf.chunk_types import IkBone, Joint, Shape

PARTS = 0x923
FIRST_OTHER_CHUNK = 0x900
"""Chunk ids from here on are not bones, but other chunks of the editor."""


@dataclass(slots=True, eq=False)
class Version(Record):
    """Chunk 1: 2, or 1 if the rotations about x and y are exchanged."""

    number: Annotated[int, u16("the version")]


@dataclass(slots=True, eq=False)
class Naming(Record):
    """Chunk 2: the name of the bone; in the editor's objects also those of its parent and its weight map."""

    texts: Annotated[list[bytes], list_to_end(string("a bone's name, parent or vertex map"))]


@dataclass(slots=True, eq=False)
class Placement(Record):
    """Chunk 3, the rest pose relative to the parent: ``offset`` (3,) metres, ``rotation`` (3,) radians, ``length``.

    The rotation is as in the engine's ``setXYZi``.
    """

    offset: Annotated[NDArray[np.float32], array("<f4", 3, what="a bone's place, rotation and length")]
    rotation: Annotated[NDArray[np.float32], array("<f4", 3, what="a bone's place, rotation and length")]
    length: Annotated[np.float32, f32("a bone's place, rotation and length")]


@dataclass(slots=True, eq=False)
class Material(Record):
    """Chunk 4: the game material."""

    name: Annotated[bytes, string("a bone's material")]


@dataclass(slots=True, eq=False)
class IkFlags(Record):
    """Chunk 8: 1 breakable."""

    flags: Annotated[int, u32("a joint's flags")]


@dataclass(slots=True, eq=False)
class Breaking(Record):
    """Chunk 9: the force and torque that break the joint."""

    force: Annotated[np.float32, f32("a breaking force and torque")]
    torque: Annotated[np.float32, f32("a breaking force and torque")]


@dataclass(slots=True, eq=False)
class Friction(Record):
    """Chunk 0x10: the joint's friction."""

    value: Annotated[np.float32, f32("a joint's friction")]


@dataclass(slots=True, eq=False)
class Mass(Record):
    """Chunk 7: the mass in kilograms, and the ``centre`` of mass (3,) in the bone's space."""

    mass: Annotated[np.float32, f32("a bone's mass and its centre")]
    centre: Annotated[NDArray[np.float32], array("<f4", 3, what="a bone's mass and its centre")]


class Bone(Contents):
    """One bone: its chunks in the file's order, typed if known."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name as text, from the first naming chunk, as in the editor; empty if there is none."""
        naming = self.first(Naming)
        return names.decode(naming.texts[0]) if naming is not None else ""

    @property
    def parent(self) -> str:
        """The parent's name as text; empty for a root, and for all bones of a `.bones` file."""
        naming = self.first(Naming)
        return names.decode(naming.texts[1]) if naming is not None and len(naming.texts) > 1 else ""

    @property
    def weight_map(self) -> str:
        """The name of the vertex map with the bone's weights, in an object; compared with case."""
        naming = self.first(Naming)
        return names.decode(naming.texts[2]) if naming is not None and len(naming.texts) > 2 else ""


@dataclass(slots=True)
class Part(Record):
    """A bone part: a named set of bones that can play a motion of its own."""

    name: Annotated[bytes, string("a part's name")]
    bones: Annotated[list[bytes], list_of(u32("the number of bones"), string("a bone's name"), "bone", 1)]


@dataclass(slots=True)
class Parts(Record):
    """Chunk 0x923: the bone parts."""

    parts: Annotated[list[Part], list_of(u32("the number of parts"), nested(Part.read), "part", 5)]


class Bones(Contents):
    """The whole file: its chunks in order."""

    __slots__ = ()

    @property
    def bones(self) -> list[Bone]:
        """The bones in the order of their chunk ids."""
        return self.all(Bone)

    @property
    def parts(self) -> list[Part]:
        """The bone parts, an empty list if the file has no chunk for them."""
        section = self.first(Parts)
        return section.parts if section is not None else []


# Bytes <-> document ---------------------------------------------------------------------------------------------------


READERS: dict[int, Read] = {
    1: typed_reader(Version.read),
    2: typed_reader(Naming.read),
    3: typed_reader(Placement.read),
    4: typed_reader(Material.read),
    5: typed_reader(Shape.read),
    6: typed_reader(Joint.read),
    7: typed_reader(Mass.read),
    8: typed_reader(IkFlags.read),
    9: typed_reader(Breaking.read),
    0x10: typed_reader(Friction.read),
}


def starts_like(head: bytes) -> bool:
    """Return whether a file begins with a chunk 0 that begins with the chunk of a bone's property."""
    if len(head) < 16:
        return False
    bone, size, number, inner = struct.unpack_from("<4I", head)
    return bone == 0 and number in READERS and 0 < inner <= size - 8


def read(data: bytes, file: str, report: Report) -> Bones:
    """Read the document of a `.bones`. Raises `ReadError` if it contains no bones."""
    reader = Reader.of_file(data, file)
    document = read_bones(reader, report)
    if not document.bones:
        raise ReadError(
            say("no bones; found: {}", listed([section.chunk for section in document.sections])),
            file=file,
            remedy="Check that this is a .bones of the editor, copied whole",
        )
    return document


def read_bones(reader: Reader, report: Report) -> Bones:
    """Read bones and parts from a file or a chunk of an object; there may be none.

    Raises `ReadError` if chunks are nested too deep.
    """
    return read_contents(Bones, reader, report, _reader_of)


def _reader_of(identifier: int) -> Read | None:
    if identifier < FIRST_OTHER_CHUNK:
        return _read_bone
    return typed_reader(Parts.read) if identifier == PARTS else None


def write(document: Bones) -> bytes:
    """Return the file's bytes."""
    return write_contents(document)


recompose = write
"""The same as `write`, which already writes all typed values from their fields."""


def _read_bone(reader: Reader, report: Report) -> Bone | None:
    """Read a bone; return None if it contains no known chunk."""
    bone = read_contents(Bone, reader, report, READERS.get)
    return bone if any(section.value is not None for section in bone.sections) else None


def raw_size(document: Bones) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return unknown_size(document)


# Document <-> bone of a model -----------------------------------------------------------------------------------------

MODEL_CHUNKS: dict[type, int] = {Material: 4, Shape: 5, IkFlags: 8, Joint: 6, Breaking: 9, Friction: 0x10, Mass: 7}
"""Chunk ids of the properties that models (`ogf`) have as well, in the order in which the editor writes them."""


@dataclass(frozen=True)
class Physics:
    """A bone as a model stores it, and the types of chunks in its file; without a chunk, ``entry`` has zeros."""

    entry: IkBone
    kinds: frozenset[type]


def decode_bone(bone: Bone) -> Physics:
    """Return the properties of a bone as a model stores them, joint limits included."""
    values: dict[type, Any] = {type(section.value): section.value for section in reversed(bone.sections)}
    material, shape, joint, flags, breaking, friction, mass = (
        values.get(kind) for kind in (Material, Shape, Joint, IkFlags, Breaking, Friction, Mass)
    )
    zero, empty = np.float32(0), np.zeros(3, "<f4")
    entry = IkBone(
        material.name if material is not None else b"",
        shape if shape is not None else Shape(0, 0, *(np.zeros(size, "<f4") for size in (15, 4, 8))),
        Joint(joint.type, editor_limits(joint.limits), joint.spring, joint.damping)
        if joint is not None
        else Joint(0, np.zeros((3, 4), "<f4"), zero, zero),
        empty,
        empty,
        mass.mass if mass is not None else zero,
        mass.centre if mass is not None else empty,
    )
    entry.joint.flags = flags.flags if flags is not None else 0
    entry.joint.breaking = np.zeros(2, "<f4")
    if breaking is not None:
        entry.joint.breaking = np.array([breaking.force, breaking.torque], "<f4")
    entry.joint.friction = friction.value if friction is not None else zero
    return Physics(entry, frozenset(kind for kind in MODEL_CHUNKS if kind in values))


def encode_bone(bone: Bone, entry: IkBone) -> Bone:
    """Return the bone with the properties of ``entry``; only chunks that it already has are written."""
    pairs = [(old, new) for kind, new in _chunks(entry).items() if (old := bone.first(kind)) is not None]
    return bone.mapped([old for old, _ in pairs], [new for _, new in pairs])


def _chunks(entry: IkBone) -> dict[type, Record]:
    joint = entry.joint
    breaking = joint.breaking if joint.breaking is not None else np.zeros(2, "<f4")
    return {
        Material: Material(entry.material),
        Shape: entry.shape,
        IkFlags: IkFlags(joint.flags or 0),
        Joint: Joint(joint.type, editor_limits(joint.limits), joint.spring, joint.damping),
        Breaking: Breaking(breaking[0], breaking[1]),
        Friction: Friction(joint.friction if joint.friction is not None else np.float32(0)),
        Mass: Mass(entry.mass, entry.centre_of_mass),
    }


def compare(before: Bones, after: Bones) -> Changes:
    """Return what differs in ``after``, in the words of an export."""
    changes = Changes(noun=Noun.BONE, unchanged=0)
    sources = {now: old for old, now in pairs(before.bones, after.bones, [lambda bone: bone.name.lower()]).items()}
    for number, bone in enumerate(after.bones):
        if number not in sources:
            changes.add(Noun.BONE, bone.name)
        else:
            entries = (decode_bone(own).entry for own in (before.bones[sources[number]], bone))
            changes.change(Noun.BONE, bone.name, *changed_values(*entries))
    changes.deleted[Noun.BONE] = len(before.bones) - len(sources)
    changes.unchanged = len(after.bones) - len(changes.parts)
    return changes


def new_bone(name: str, entry: IkBone) -> Bone:
    """Return a bone with all chunks that the editor writes, the name first."""
    chunks_of_kind = _chunks(entry)
    numbered = [(number, chunks_of_kind[kind]) for kind, number in MODEL_CHUNKS.items()]
    return Bone.of([(2, Naming([names.encode(name)])), *numbered])


def new_bones(bones: Sequence[Bone], parts: Sequence[Part] = ()) -> Bones:
    """Return a new file."""
    document = with_bones(Bones([]), {}, bones)
    if parts:
        document = document.with_value(PARTS, Parts(list(parts)))
    return document


def with_bones(document: Bones, changed: Mapping[int, Bone], added: Sequence[Bone] = ()) -> Bones:
    """Return the file with some bones replaced, and new ones inserted after the last bone.

    ``changed`` is by index in the document's sections, because damaged files have several bones with one id.
    """
    bones = [index for index, section in enumerate(document.sections) if isinstance(section.value, Bone)]
    end = bones[-1] + 1 if bones else 0
    first = max((document.sections[index].chunk.plain_id for index in bones), default=-1) + 1
    sections = [
        Section(section.chunk, changed.get(index, section.value)) for index, section in enumerate(document.sections)
    ]
    return Bones([*sections[:end], *Bones.of(enumerate(added, first)).sections, *sections[end:]], document.tail)


# Text output ----------------------------------------------------------------------------------------------------------


def describe(document: Bones) -> list[str]:
    """Return a summary in a few lines."""
    bones = document.bones
    masses = [own_mass.mass for bone in bones if (own_mass := bone.first(Mass)) is not None]
    with np.errstate(all="ignore"):  # masses of broken files may be NaN or infinite
        mass = float(np.sum(masses, dtype=np.float64))
    parts = ", ".join(f"{names.decode(part.name)} ({len(part.bones)} bones)" for part in document.parts)
    return [
        f"{len(bones)} bones, {mass:g} kg",
        f"bones: {', '.join(bone.name for bone in bones)}",
        f"parts: {parts or 'none'}",
    ]


TITLES: dict[type, str | Callable[[Any], str]] = {
    Bone: lambda section: f"bone {section.value.name!r}",
    IkFlags: "joint flags",
}
"""Titles of chunks that differ from the names of their classes."""
VIEWS: Views = {
    **CHUNK_VIEWS,
    Section: section_view(TITLES),
    **dict.fromkeys(
        (Version, Naming, Material, IkFlags, Friction),
        View(words=dict.fromkeys(("number", "texts", "name", "flags", "value"), "")),
    ),
    Mass: View(words={"mass": ""}),
    Parts: View(words={"parts": ""}),
    Part: View(lambda part: f"part {names.decode(part.name)!r}", words={"name": None, "bones": ""}),
}
