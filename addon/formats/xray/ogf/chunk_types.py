"""The chunk types of an `.ogf`: geometry, skeleton, texts. Each class reads and writes the body of its chunk.

Arrays are views of the file's bytes. The position of a skinned vertex is in model space of the rest pose (version 3: in
the space of its bone); tangent and binormal are dP/du and dP/dv, not of unit length. Joint limits are stored for the
physics engine, as min(-a, -b) and max(-a, -b) of the limits a, b that the editor shows. Sources: the engine's
``FMesh.hpp``, ``SkeletonX.cpp``, ``SkeletonCustom.cpp``, ``Bone.hpp`` and ``r2_loader.cpp``, the editor's ``bone.cpp``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.report import counted, counted_plural

STATIC = 0x112
"""Vertex format of meshes without bones: Direct3D's FVF bits for position, normal, one texture coordinate."""
MOST_LINKS = 4
MOST_VERTICES = 0xFFFF
LONGEST_PATH = 519
"""Bytes of a path that the engine has room for."""
_SKINNED_FIELDS = [("position", "<f4", 3), ("normal", "<f4", 3), ("tangent", "<f4", 3), ("binormal", "<f4", 3)]


def _skinned(links: int) -> np.dtype[np.void]:
    """Return the vertex layout for a number of bones per vertex, without padding.

    One bone is a u32 at the end; several bones are u16 at the start.
    """
    if links == 1:
        return np.dtype([*_SKINNED_FIELDS, ("uv", "<f4", 2), ("bones", "<u4", (1,))])
    return np.dtype([("bones", "<u2", (links,)), *_SKINNED_FIELDS, ("weights", "<f4", (links - 1,)), ("uv", "<f4", 2)])


SKINNED = {links: _skinned(links) for links in range(1, MOST_LINKS + 1)}
_STATIC_VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", 2)])
_OLD_VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", 2), ("bones", "<u4", (1,))])
SHORT_FORMATS = {1: 1, 2: 2, 3: 3, 4: 4}
"""Number of bones per vertex -> vertex format of Clear Sky and Call of Pripyat."""
LONG_FORMATS = {1: 0x12071980, 2: 0x240E3300, 3: 0x481C6600, 4: 0x5A237F80}
"""Number of bones per vertex -> vertex format of Shadow of Chernobyl (3 and 4 bones: later engines only)."""
VERTEX_FORMATS: dict[int, np.dtype[np.void]] = {
    STATIC: _STATIC_VERTEX,
    **{number: SKINNED[links] for formats in (SHORT_FORMATS, LONG_FORMATS) for links, number in formats.items()},
}
OLD_VERTEX_FORMATS: dict[int, np.dtype[np.void]] = {
    STATIC: _STATIC_VERTEX,
    1: _OLD_VERTEX,
    LONG_FORMATS[1]: _OLD_VERTEX,
}
WINDOW = np.dtype([("offset", "<u4"), ("triangles", "<u2"), ("vertices", "<u2")])
LOD_CORNER = np.dtype(
    [("position", "<f4", 3), ("uv", "<f4", 2), ("colour", "<u4"), ("sun", "u1"), ("padding", "u1", 3)]
)
_SMALLEST_NAME = 1 + 1 + 60
_SMALLEST_IK = 1 + 112 + 60 + 24 + 16


# Geometry -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Header:
    """The header of a visual.

    ``box`` (2, 3) float32 lowest and highest corner; ``sphere`` (4,) float32 centre and radius. Both are None in
    version 3, which stores them in chunks of their own (`Bounds`, `Sphere`).
    """

    version: int
    type: int
    shader: int
    box: NDArray[np.float32] | None = None
    sphere: NDArray[np.float32] | None = None

    @classmethod
    def read(cls, reader: Reader) -> Header:
        """Read the header. Raises `ReadError` for versions other than 3 and 4."""
        version = reader.u8("the model's version")
        if version not in (3, 4):
            raise reader.error(
                f"a model of version {version} is not known (known: 3 and 4)",
                "Check that this is a model of S.T.A.L.K.E.R.; older builds' models have to be converted first",
            )
        header = cls(version, reader.u8("the model's type"), reader.u16("the model's shader"))
        if version == 4:
            header.box = reader.array("<f4", 2, 3, what="the bounding box")
            header.sphere = reader.array("<f4", 4, what="the bounding sphere")
        return header

    def write(self, writer: Writer) -> None:
        writer.u8(self.version)
        writer.u8(self.type)
        writer.u16(self.shader)
        if self.box is not None and self.sphere is not None:
            writer.array(self.box, "<f4")
            writer.array(self.sphere, "<f4")


@dataclass(slots=True, eq=False)
class Bounds:
    """The bounding box of a visual of version 3: ``box`` (2, 3) float32 lowest and highest corner."""

    box: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Bounds:
        return cls(reader.array("<f4", 2, 3, what="the bounding box"))

    def write(self, writer: Writer) -> None:
        writer.array(self.box, "<f4")


@dataclass(slots=True, eq=False)
class Sphere:
    """The bounding sphere of a visual of version 3: ``sphere`` (4,) float32 centre and radius."""

    sphere: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Sphere:
        return cls(reader.array("<f4", 4, what="the bounding sphere"))

    def write(self, writer: Writer) -> None:
        writer.array(self.sphere, "<f4")


@dataclass(slots=True, unsafe_hash=True)
class Texture:
    """The path of the texture, without extension, and the name of the engine's shader."""

    texture: bytes
    shader: bytes

    @classmethod
    def read(cls, reader: Reader) -> Texture:
        return cls(reader.string("the texture's name"), reader.string("the shader's name"))

    def write(self, writer: Writer) -> None:
        writer.string(self.texture)
        writer.string(self.shader)


@dataclass(slots=True)
class TextureLinks:
    """Indices of the texture and the shader in the lists of the level (version 3, levels only)."""

    texture: int
    shader: int

    @classmethod
    def read(cls, reader: Reader) -> TextureLinks:
        return cls(reader.u32("the texture's number"), reader.u32("the shader's number"))

    def write(self, writer: Writer) -> None:
        writer.u32(self.texture)
        writer.u32(self.shader)


@dataclass(slots=True, eq=False)
class Vertices:
    """A vertex buffer: ``format`` as stored; ``rows`` (vertices,) with the fields of that format (`VERTEX_FORMATS`)."""

    format: int
    rows: NDArray[np.void]

    @classmethod
    def read(cls, reader: Reader, formats: Mapping[int, np.dtype[np.void]] = VERTEX_FORMATS) -> Vertices:
        """Read a vertex buffer. Raises `ReadError` if the layout of its format is unknown."""
        number = reader.u32("the vertex format")
        if number not in formats:
            raise reader.error(f"the vertex format {number:#x} is not known")
        count = reader.u32("the number of vertices")
        return cls(number, reader.array(formats[number], count, what=f"{counted_plural(count, 'vertices')}"))

    @classmethod
    def read_old(cls, reader: Reader) -> Vertices:
        """Read the vertex buffer of a visual of version 3. Raises `ReadError` if the layout is unknown."""
        return cls.read(reader, OLD_VERTEX_FORMATS)

    def write(self, writer: Writer) -> None:
        writer.u32(self.format)
        writer.u32(len(self.rows))
        writer.raw(self.rows.tobytes())

    @property
    def links(self) -> int:
        """The number of bones that each vertex stores; 0 for a static mesh."""
        names = self.rows.dtype.names or ()
        return self.rows.dtype["bones"].shape[0] if "bones" in names else 0


@dataclass(slots=True, eq=False)
class Indices:
    """Triangles: ``corners`` (3 * triangles,) uint16 vertex indices, clockwise seen from outside.

    Progressive models store the triangles of several levels of detail here, see `SlidingWindows`.
    """

    corners: NDArray[np.uint16]

    @classmethod
    def read(cls, reader: Reader) -> Indices:
        count = reader.u32("the number of indices")
        return cls(reader.array("<u2", count, what=f"{counted_plural(count, 'indices')}"))

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.corners))
        writer.array(self.corners, "<u2")


@dataclass(slots=True, eq=False)
class SlidingWindows:
    """The levels of detail of a progressive model.

    ``windows`` (levels,) of offset, triangles, vertices (`WINDOW`); the first is the finest. ``reserved`` (4,) uint32.
    """

    reserved: NDArray[np.uint32]
    windows: NDArray[np.void]

    @classmethod
    def read(cls, reader: Reader) -> SlidingWindows:
        reserved = reader.array("<u4", 4, what="the sliding windows' reserved numbers")
        count = reader.u32("the number of sliding windows")
        return cls(reserved, reader.array(WINDOW, count, what=f"{counted(count, 'sliding window')}"))

    def write(self, writer: Writer) -> None:
        writer.array(self.reserved, "<u4")
        writer.u32(len(self.windows))
        writer.raw(self.windows.tobytes())


@dataclass(slots=True)
class VertexContainer:
    """The vertices of a visual in the level's files: index of the buffer, first vertex, number of vertices."""

    buffer: int
    base: int
    count: int

    @classmethod
    def read(cls, reader: Reader) -> VertexContainer:
        return cls(reader.u32("the buffer's number"), reader.u32("the first vertex"), reader.u32("the vertex count"))

    def write(self, writer: Writer) -> None:
        for number in (self.buffer, self.base, self.count):
            writer.u32(number)


@dataclass(slots=True)
class IndexContainer:
    """The triangles of a visual in the level's files: index of the buffer, first index, number of indices."""

    buffer: int
    base: int
    count: int

    @classmethod
    def read(cls, reader: Reader) -> IndexContainer:
        return cls(reader.u32("the buffer's number"), reader.u32("the first index"), reader.u32("the index count"))

    def write(self, writer: Writer) -> None:
        for number in (self.buffer, self.base, self.count):
            writer.u32(number)


@dataclass(slots=True)
class GeometryContainer:
    """A `VertexContainer` and an `IndexContainer` in one chunk."""

    vertices: VertexContainer
    indices: IndexContainer

    @classmethod
    def read(cls, reader: Reader) -> GeometryContainer:
        return cls(VertexContainer.read(reader), IndexContainer.read(reader))

    def write(self, writer: Writer) -> None:
        self.vertices.write(writer)
        self.indices.write(writer)


@dataclass(slots=True)
class SwiContainer:
    """Index of the sliding windows in the list of the level."""

    number: int

    @classmethod
    def read(cls, reader: Reader) -> SwiContainer:
        return cls(reader.u32("the number of the sliding windows"))

    def write(self, writer: Writer) -> None:
        writer.u32(self.number)


@dataclass(slots=True, eq=False)
class Links:
    """Children as indices into the level's list of visuals: ``visuals`` (n,) uint32."""

    visuals: NDArray[np.uint32]

    @classmethod
    def read(cls, reader: Reader) -> Links:
        count = reader.u32("the number of children")
        return cls(reader.array("<u4", count, what=f"{count} children"))

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.visuals))
        writer.array(self.visuals, "<u4")


@dataclass(slots=True, eq=False)
class LodFaces:
    """The eight faces of a distant model's impostor: ``corners`` (8, 4) of position, uv, colour and sun."""

    corners: NDArray[np.void]

    @classmethod
    def read(cls, reader: Reader) -> LodFaces:
        return cls(reader.array(LOD_CORNER, 8, 4, what="the faces of a level of detail"))

    def write(self, writer: Writer) -> None:
        writer.raw(self.corners.tobytes())


@dataclass(slots=True, eq=False)
class TreeShape:
    """Transform and light of a tree in a level.

    ``transform`` (4, 4) float32, row vectors; ``scale`` and ``bias`` (5,) float32: red, green, blue, sky, sun.
    """

    transform: NDArray[np.float32]
    scale: NDArray[np.float32]
    bias: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> TreeShape:
        transform = reader.array("<f4", 4, 4, what="a tree's transform")
        scale, bias = reader.array("<f4", 2, 5, what="a tree's light")
        return cls(transform, scale, bias)

    def write(self, writer: Writer) -> None:
        for numbers in (self.transform, self.scale, self.bias):
            writer.array(numbers, "<f4")


# Skeleton -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class BoneName:
    """A bone's name, its parent's name (empty for the root), and its oriented box in the bone's own space.

    ``rotation`` (3, 3) rows, ``centre`` (3,), ``half_size`` (3,), all float32.
    """

    name: bytes
    parent: bytes
    rotation: NDArray[np.float32]
    centre: NDArray[np.float32]
    half_size: NDArray[np.float32]

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


@dataclass(slots=True, eq=False)
class BoneNames:
    """The bones of a model. Bone indices in all other chunks refer to this order."""

    bones: list[BoneName]

    @classmethod
    def read(cls, reader: Reader) -> BoneNames:
        count = reader.u32("the number of bones")
        reader.expect_room(count, "bones", _SMALLEST_NAME)
        return cls([cls._read_bone(reader) for _ in range(count)])

    @staticmethod
    def _read_bone(reader: Reader) -> BoneName:
        return BoneName(
            reader.string("a bone's name"),
            reader.string("the name of a bone's parent"),
            reader.array("<f4", 3, 3, what="a bone's box"),
            reader.array("<f4", 3, what="a bone's box"),
            reader.array("<f4", 3, what="a bone's box"),
        )

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.bones))
        for bone in self.bones:
            writer.string(bone.name)
            writer.string(bone.parent)
            for numbers in (bone.rotation, bone.centre, bone.half_size):
                writer.array(numbers, "<f4")


BOX, SPHERE, CYLINDER = 1, 2, 3
"""Values of `Shape.type`; 0 is no shape."""


@dataclass(slots=True, eq=False)
class Shape:
    """The collision shape of a bone.

    All three shapes are stored; ``type`` is the one in use: 0 none, 1 box, 2 sphere, 3 cylinder. ``flags``: 1 no
    picking, 2 remove after a break, 4 no physics, 8 no fog collider. ``box`` (15,) rotation rows, centre, half size;
    ``sphere`` (4,) centre, radius; ``cylinder`` (8,) centre, direction, height, radius.
    """

    type: int
    flags: int
    box: NDArray[np.float32]
    sphere: NDArray[np.float32]
    cylinder: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Shape:
        kind, flags = reader.u16("a shape's type"), reader.u16("a shape's flags")
        numbers = reader.array("<f4", 27, what="a box, a sphere and a cylinder")
        return cls(kind, flags, numbers[:15], numbers[15:19], numbers[19:])

    def write(self, writer: Writer) -> None:
        writer.u16(self.type)
        writer.u16(self.flags)
        for numbers in (self.box, self.sphere, self.cylinder):
            writer.array(numbers, "<f4")


@dataclass(slots=True, eq=False)
class Joint:
    """The joint between a bone and its parent. ``type``: 0 rigid, 1 cloth, 2 joint, 3 wheel, 4 none, 5 slider.

    ``limits`` (3, 4) float32, one row for each of x, y, z: lowest, highest (radians), spring, damping. ``flags`` (1
    breakable), ``breaking`` (2,) force and torque, and ``friction`` are None if the layout is too old to store them.
    """

    type: int
    limits: NDArray[np.float32]
    spring: np.float32
    damping: np.float32
    flags: int | None = None
    breaking: NDArray[np.float32] | None = None
    friction: np.float32 | None = None

    @classmethod
    def read(cls, reader: Reader, *, breakable: bool, friction: bool) -> Joint:
        kind = reader.u32("a joint's type")
        numbers = reader.array("<f4", 14, what="a joint's limits, spring and damping")
        joint = cls(kind, numbers[:12].reshape(3, 4), numbers[12], numbers[13])
        if breakable:
            joint.flags = reader.u32("a joint's flags")
            joint.breaking = reader.array("<f4", 2, what="what breaks a joint")
        if friction:
            joint.friction = reader.f32("a joint's friction")
        return joint

    def write(self, writer: Writer) -> None:
        writer.u32(self.type)
        writer.array(self.limits, "<f4")
        writer.f32(self.spring)
        writer.f32(self.damping)
        if self.flags is not None and self.breaking is not None:
            writer.u32(self.flags)
            writer.array(self.breaking, "<f4")
        if self.friction is not None:
            writer.f32(self.friction)


@dataclass(slots=True, eq=False)
class IkBone:
    """The physics and the rest pose of a bone.

    ``rotation`` (3,) float32 radians about x, y, z (``setXYZi``) and ``offset`` (3,) metres are relative to the parent,
    in the layout `IkLayout.ABSOLUTE` to the model. ``version`` is None if the layout has none; friction exists since
    version 1.
    """

    material: bytes
    shape: Shape
    joint: Joint
    rotation: NDArray[np.float32]
    offset: NDArray[np.float32]
    mass: np.float32
    centre_of_mass: NDArray[np.float32]
    version: int | None = None


class IkLayout(IntEnum):
    """The three layouts of `IkData`, with their chunk ids in version 3; version 4 (chunk 16) uses the newest."""

    ABSOLUTE = 0x17
    EARLY = 0x19
    VERSIONED = 0x1C


@dataclass(slots=True, eq=False)
class IkData:
    """Physics and rest poses: one entry per bone, in the order of `BoneNames`."""

    bones: list[IkBone]
    layout: IkLayout = IkLayout.VERSIONED

    @classmethod
    def read(cls, reader: Reader, count: int | None, layout: IkLayout) -> IkData:
        """Read ``count`` bones; if it is None, read until the chunk ends. Raises `ReadError` if it is too short."""
        if count is not None:
            reader.expect_room(count, "bones", _SMALLEST_IK)
        data = cls([], layout)
        while reader.remaining if count is None else len(data.bones) < count:
            data.bones.append(cls._read_bone(reader, layout))
        return data

    @staticmethod
    def _read_bone(reader: Reader, layout: IkLayout) -> IkBone:
        version = reader.u32("the version of a bone's physics") if layout == IkLayout.VERSIONED else None
        material = reader.string("a bone's material")
        shape = Shape.read(reader)
        joint = Joint.read(reader, breakable=layout != IkLayout.ABSOLUTE, friction=bool(version))
        numbers = reader.array("<f4", 10, what="a bone's rest pose and mass")
        return IkBone(material, shape, joint, numbers[:3], numbers[3:6], numbers[6], numbers[7:], version)

    def write(self, writer: Writer) -> None:
        for bone in self.bones:
            if bone.version is not None:
                writer.u32(bone.version)
            writer.string(bone.material)
            bone.shape.write(writer)
            bone.joint.write(writer)
            writer.array(bone.rotation, "<f4")
            writer.array(bone.offset, "<f4")
            writer.f32(bone.mass)
            writer.array(bone.centre_of_mass, "<f4")


# Texts --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class UserData:
    """Settings as the text of an ini file, lines ended by CR LF."""

    text: bytes

    @classmethod
    def read(cls, reader: Reader) -> UserData:
        return cls(reader.string("the user data"))

    def write(self, writer: Writer) -> None:
        writer.string(self.text)


DESCRIPTION_FIELDS = ("source", "tool", "exported", "creator", "created", "modifier", "modified")
"""The fields of `Description` in the order of the file."""
_TIMES = ("exported", "created", "modified")


@dataclass(slots=True)
class Description:
    """Source file, authors and times of a model.

    Times are seconds since 1970, stored in ``time_size`` bytes (4; 8 in later 64-bit builds). Mods that protect their
    models damage this chunk: fields beyond its end are None.
    """

    source: bytes | None = None
    tool: bytes | None = None
    exported: int | None = None
    creator: bytes | None = None
    created: int | None = None
    modifier: bytes | None = None
    modified: int | None = None
    time_size: int = 4

    @property
    def complete(self) -> bool:
        """Whether no field is missing."""
        return self.modified is not None

    @classmethod
    def read(cls, reader: Reader) -> Description:
        """Read the description with times of 4 or 8 bytes, whichever fills the chunk exactly; else of 4 bytes."""
        start = reader.position
        for size in (4, 8):
            found = cls._read(reader, size)
            if found.complete and not reader.remaining:
                return found
            reader.position = start
        return cls._read(reader, 4)

    @classmethod
    def _read(cls, reader: Reader, size: int) -> Description:
        found = cls(time_size=size)
        start = reader.position
        try:
            for name in DESCRIPTION_FIELDS:
                start = reader.position
                if name in _TIMES:
                    setattr(found, name, int.from_bytes(reader.take(size, "a time"), "little"))
                else:
                    setattr(found, name, reader.string("a name"))
        except ReadError:
            reader.position = start
        return found

    def write(self, writer: Writer) -> None:
        for name in DESCRIPTION_FIELDS:
            value = getattr(self, name)
            if isinstance(value, bytes):
                writer.string(value)
            elif value is not None:
                writer.u32(value & 0xFFFF_FFFF if self.time_size == 8 else value)
                if self.time_size == 8:
                    writer.u32(value >> 32)


@dataclass(slots=True)
class MotionReferences:
    """Names of motion files as Shadow of Chernobyl stores them: one string with commas. Usually without file suffix."""

    names: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> MotionReferences:
        return cls(reader.string("the names of motion files").split(b","))

    def write(self, writer: Writer) -> None:
        writer.string(b",".join(self.names))


@dataclass(slots=True)
class MotionReferences2:
    r"""Names of motion files as the later games store them: a list. A name may be a mask such as ``actors\*.omf``."""

    names: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> MotionReferences2:
        count = reader.u32("the number of motion files")
        reader.expect_room(count, "motion files", 1)
        return cls([reader.string("the name of a motion file") for _ in range(count)])

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.names))
        for name in self.names:
            writer.string(name)


@dataclass(slots=True)
class LodPath:
    """The path of the model shown at a distance; ``line_end`` are the bytes that end the path in the file.

    It is empty if the path ends with its chunk, which is enough for the game.
    """

    path: bytes
    line_end: bytes = b"\r\n"

    @classmethod
    def read(cls, reader: Reader) -> LodPath:
        text = bytes(reader.data[reader.position : reader.position + 4096])
        for end in (b"\r\n", b"\n", b"\0"):
            path, found, _ = text.partition(end)
            if found:
                reader.take(len(path) + len(end))
                return cls(path, end)
        if len(text) <= LONGEST_PATH and names.decode(text).isprintable():
            return cls(bytes(reader.rest()), b"")
        raise reader.error("the path of the distant model does not end")

    def write(self, writer: Writer) -> None:
        writer.raw(self.path + self.line_end)
