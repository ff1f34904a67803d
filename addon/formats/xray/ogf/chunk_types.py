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
from functools import cache, partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.records import (
    Layout,
    Record,
    Stored,
    array,
    counted_rows,
    f32,
    layout_of,
    list_of,
    nested,
    read_fields,
    string,
    u16,
    u32,
    write_fields,
)
from ....core.report import counted, say

Floats = NDArray[np.float32]

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
class Header(Record):
    """The header of a visual.

    ``box`` (2, 3) float32 lowest and highest corner; ``sphere`` (4,) float32 centre and radius. Both are None in
    version 3, which stores them in chunks of their own (`Bounds`, `Sphere`).
    """

    version: int
    type: int
    shader: int
    box: Floats | None = None
    sphere: Floats | None = None

    @classmethod
    def read(cls, reader: Reader) -> Header:
        """Read the header. Raises `ReadError` for versions other than 3 and 4."""
        version = reader.u8("the model's version")
        if version not in (3, 4):
            raise reader.error(
                say("a model of version {} is not known (known: 3 and 4)", version),
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
class Bounds(Record):
    """The bounding box of a visual of version 3: ``box`` (2, 3) float32 lowest and highest corner."""

    box: Annotated[Floats, array("<f4", 2, 3, what="the bounding box")]


@dataclass(slots=True, eq=False)
class Sphere(Record):
    """The bounding sphere of a visual of version 3: ``sphere`` (4,) float32 centre and radius."""

    sphere: Annotated[Floats, array("<f4", 4, what="the bounding sphere")]


@dataclass(slots=True, unsafe_hash=True)
class Texture(Record):
    """The path of the texture, without extension, and the name of the engine's shader."""

    texture: Annotated[bytes, string("the texture's name")]
    shader: Annotated[bytes, string("the shader's name")]


@dataclass(slots=True)
class TextureLinks(Record):
    """Indices of the texture and the shader in the lists of the level (version 3, levels only)."""

    texture: Annotated[int, u32("the texture's number")]
    shader: Annotated[int, u32("the shader's number")]


@dataclass(slots=True, eq=False)
class Vertices(Record):
    """A vertex buffer: ``format`` as stored; ``rows`` (vertices,) with the fields of that format (`VERTEX_FORMATS`)."""

    format: int
    rows: NDArray[np.void]

    @classmethod
    def read(cls, reader: Reader, formats: Mapping[int, np.dtype[np.void]] = VERTEX_FORMATS) -> Vertices:
        """Read a vertex buffer. Raises `ReadError` if the layout of its format is unknown."""
        number = reader.u32("the vertex format")
        if number not in formats:
            raise reader.error(say("the vertex format {:#x} is not known", number))
        count = reader.u32("the number of vertices")
        return cls(number, reader.array(formats[number], count, what=counted(count, "vertex|vertices")))

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
class Indices(Record):
    """Triangles: ``corners`` (3 * triangles,) uint16 vertex indices, clockwise seen from outside.

    Progressive models store the triangles of several levels of detail here, see `SlidingWindows`.
    """

    corners: Annotated[NDArray[np.uint16], counted_rows(u32("the number of indices"), "<u2", what="the indices")]


@dataclass(slots=True, eq=False)
class SlidingWindows(Record):
    """The levels of detail of a progressive model.

    ``windows`` (levels,) of offset, triangles, vertices (`WINDOW`); the first is the finest. ``reserved`` (4,) uint32.
    """

    reserved: Annotated[NDArray[np.uint32], array("<u4", 4, what="the sliding windows' reserved numbers")]
    windows: Annotated[
        NDArray[np.void], counted_rows(u32("the number of sliding windows"), WINDOW, what="the sliding windows")
    ]


@dataclass(slots=True)
class VertexContainer(Record):
    """The vertices of a visual in the level's files: index of the buffer, first vertex, number of vertices."""

    buffer: Annotated[int, u32("the buffer's number")]
    base: Annotated[int, u32("the first vertex")]
    count: Annotated[int, u32("the vertex count")]


@dataclass(slots=True)
class IndexContainer(Record):
    """The triangles of a visual in the level's files: index of the buffer, first index, number of indices."""

    buffer: Annotated[int, u32("the buffer's number")]
    base: Annotated[int, u32("the first index")]
    count: Annotated[int, u32("the index count")]


@dataclass(slots=True)
class GeometryContainer(Record):
    """A `VertexContainer` and an `IndexContainer` in one chunk."""

    vertices: Annotated[VertexContainer, nested(VertexContainer.read)]
    indices: Annotated[IndexContainer, nested(IndexContainer.read)]


@dataclass(slots=True)
class SwiContainer(Record):
    """Index of the sliding windows in the list of the level."""

    number: Annotated[int, u32("the number of the sliding windows")]


@dataclass(slots=True, eq=False)
class Links(Record):
    """Children as indices into the level's list of visuals: ``visuals`` (n,) uint32."""

    visuals: Annotated[NDArray[np.uint32], counted_rows(u32("the number of children"), "<u4", what="the children")]


@dataclass(slots=True, eq=False)
class LodFaces(Record):
    """The eight faces of a distant model's impostor: ``corners`` (8, 4) of position, uv, colour and sun."""

    corners: Annotated[NDArray[np.void], array(LOD_CORNER, 8, 4, what="the faces of a level of detail")]


@dataclass(slots=True, eq=False)
class TreeShape(Record):
    """Transform and light of a tree in a level.

    ``transform`` (4, 4) float32, row vectors; ``scale`` and ``bias`` (5,) float32: red, green, blue, sky, sun.
    """

    transform: Annotated[Floats, array("<f4", 4, 4, what="a tree's transform")]
    scale: Annotated[Floats, array("<f4", 5, what="a tree's light")]
    bias: Annotated[Floats, array("<f4", 5, what="a tree's light")]


# Skeleton -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class BoneName(Record):
    """A bone's name, its parent's name (empty for the root), and its oriented box in the bone's own space.

    ``rotation`` (3, 3) rows, ``centre`` (3,), ``half_size`` (3,), all float32.
    """

    name: Annotated[bytes, string("a bone's name")]
    parent: Annotated[bytes, string("the name of a bone's parent")]
    rotation: Annotated[Floats, array("<f4", 3, 3, what="a bone's box")]
    centre: Annotated[Floats, array("<f4", 3, what="a bone's box")]
    half_size: Annotated[Floats, array("<f4", 3, what="a bone's box")]

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


@dataclass(slots=True, eq=False)
class BoneNames(Record):
    """The bones of a model. Bone indices in all other chunks refer to this order."""

    bones: Annotated[list[BoneName], list_of(u32("the number of bones"), nested(BoneName.read), "bone", _SMALLEST_NAME)]


BOX, SPHERE, CYLINDER = 1, 2, 3
"""Values of `Shape.type`; 0 is no shape."""


@dataclass(slots=True, eq=False)
class Shape(Record):
    """The collision shape of a bone.

    All three shapes are stored; ``type`` is the one in use: 0 none, 1 box, 2 sphere, 3 cylinder. ``flags``: 1 no
    picking, 2 remove after a break, 4 no physics, 8 no fog collider. ``box`` (15,) rotation rows, centre, half size;
    ``sphere`` (4,) centre, radius; ``cylinder`` (8,) centre, direction, height, radius.
    """

    type: Annotated[int, u16("a shape's type")]
    flags: Annotated[int, u16("a shape's flags")]
    box: Annotated[Floats, array("<f4", 15, what="a box, a sphere and a cylinder")]
    sphere: Annotated[Floats, array("<f4", 4, what="a box, a sphere and a cylinder")]
    cylinder: Annotated[Floats, array("<f4", 8, what="a box, a sphere and a cylinder")]


@dataclass(slots=True, eq=False)
class Joint(Record):
    """The joint between a bone and its parent. ``type``: 0 rigid, 1 cloth, 2 joint, 3 wheel, 4 none, 5 slider.

    ``limits`` (3, 4) float32, one row for each of x, y, z: lowest, highest (radians), spring, damping. ``flags`` (1
    breakable), ``breaking`` (2,) force and torque, and ``friction`` are None if the layout is too old to store them.
    """

    type: Annotated[int, u32("a joint's type")]
    limits: Annotated[Floats, array("<f4", 3, 4, what="a joint's limits, spring and damping")]
    spring: Annotated[np.float32, f32("a joint's limits, spring and damping")]
    damping: Annotated[np.float32, f32("a joint's limits, spring and damping")]
    flags: int | None = None
    breaking: Floats | None = None
    friction: np.float32 | None = None

    @classmethod
    def read(cls, reader: Reader, *, breakable: bool = False, friction: bool = False) -> Joint:
        """Read a joint of a layout that stores these fields. Raises `ReadError` if bytes are missing."""
        return read_fields(cls, _joint_layout(breakable=breakable, friction=friction), reader)

    def write(self, writer: Writer) -> None:
        write_fields(self, _joint_layout(breakable=True, friction=True), writer)


@cache
def _joint_layout(*, breakable: bool, friction: bool) -> Layout:
    fields: dict[str, Stored[Any]] = {}
    if breakable:
        fields |= {"flags": u32("a joint's flags"), "breaking": array("<f4", 2, what="what breaks a joint")}
    return layout_of(Joint).with_fields(fields | ({"friction": f32("a joint's friction")} if friction else {}))


class IkLayout(IntEnum):
    """The three layouts of `IkData`, with their chunk ids in version 3; version 4 (chunk 16) uses the newest."""

    ABSOLUTE = 0x17
    EARLY = 0x19
    VERSIONED = 0x1C


@dataclass(slots=True, eq=False)
class IkBone(Record):
    """The physics and the rest pose of a bone.

    ``rotation`` (3,) float32 radians about x, y, z (``setXYZi``) and ``offset`` (3,) metres are relative to the parent,
    in the layout `IkLayout.ABSOLUTE` to the model. ``version`` is None if the layout has none; friction exists since
    version 1.
    """

    material: Annotated[bytes, string("a bone's material")]
    shape: Annotated[Shape, nested(Shape.read)]
    joint: Annotated[Joint, nested(Joint.read)]
    rotation: Annotated[Floats, array("<f4", 3, what="a bone's rest pose and mass")]
    offset: Annotated[Floats, array("<f4", 3, what="a bone's rest pose and mass")]
    mass: Annotated[np.float32, f32("a bone's rest pose and mass")]
    centre_of_mass: Annotated[Floats, array("<f4", 3, what="a bone's rest pose and mass")]
    version: int | None = None

    @classmethod
    def read(cls, reader: Reader, layout: IkLayout = IkLayout.VERSIONED) -> IkBone:
        """Read a bone. Raises `ReadError` if bytes are missing."""
        version = _IK_VERSION.read(reader) if layout == IkLayout.VERSIONED else None
        fields = _ik_layout(breakable=layout != IkLayout.ABSOLUTE, friction=bool(version))
        return read_fields(partial(cls, version=version), fields, reader)

    def write(self, writer: Writer) -> None:
        if self.version is not None:
            _IK_VERSION.write(writer, self.version)
        write_fields(self, layout_of(IkBone), writer)


_IK_VERSION = u32("the version of a bone's physics")


@cache
def _ik_layout(*, breakable: bool, friction: bool) -> Layout:
    joint = nested(partial(Joint.read, breakable=breakable, friction=friction))
    return layout_of(IkBone).with_fields({"joint": joint})


@dataclass(slots=True, eq=False)
class IkData(Record):
    """Physics and rest poses: one entry per bone, in the order of `BoneNames`."""

    bones: list[IkBone]
    layout: IkLayout = IkLayout.VERSIONED

    @classmethod
    def read(cls, reader: Reader, count: int | None = None, layout: IkLayout = IkLayout.VERSIONED) -> IkData:
        """Read ``count`` bones; if it is None, read until the chunk ends. Raises `ReadError` if it is too short."""
        if count is not None:
            reader.expect_room(count, "bone", _SMALLEST_IK)
        data = cls([], layout)
        while reader.remaining if count is None else len(data.bones) < count:
            data.bones.append(IkBone.read(reader, layout))
        return data

    def write(self, writer: Writer) -> None:
        for bone in self.bones:
            bone.write(writer)


# Texts --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class UserData(Record):
    """Settings as the text of an ini file, lines ended by CR LF."""

    text: Annotated[bytes, string("the user data")]


DESCRIPTION_FIELDS = ("source", "tool", "exported", "creator", "created", "modifier", "modified")
"""The fields of `Description` in the order of the file."""
_TIMES = ("exported", "created", "modified")


@dataclass(slots=True)
class Description(Record):
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
            result = cls._read(reader, size)
            if result.complete and not reader.remaining:
                return result
            reader.position = start
        return cls._read(reader, 4)

    @classmethod
    def _read(cls, reader: Reader, size: int) -> Description:
        result = cls(time_size=size)
        start = reader.position
        try:
            for name in DESCRIPTION_FIELDS:
                start = reader.position
                if name in _TIMES:
                    setattr(result, name, int.from_bytes(reader.take(size, "a time"), "little"))
                else:
                    setattr(result, name, reader.string("a name"))
        except ReadError:
            reader.position = start
        return result

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
class MotionReferences(Record):
    """Names of motion files as Shadow of Chernobyl stores them: one string with commas. Usually without file suffix."""

    names: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> MotionReferences:
        return cls(reader.string("the names of motion files").split(b","))

    def write(self, writer: Writer) -> None:
        writer.string(b",".join(self.names))


@dataclass(slots=True)
class MotionReferences2(Record):
    r"""Names of motion files as the later games store them: a list. A name may be a mask such as ``actors\*.omf``."""

    names: Annotated[
        list[bytes],
        list_of(u32("the number of motion files"), string("the name of a motion file"), "motion file", 1),
    ]


@dataclass(slots=True)
class LodPath(Record):
    """The path of the model shown at a distance; ``line_end`` are the bytes that end the path in the file.

    It is empty if the path ends with its chunk, which is enough for the game.
    """

    path: bytes
    line_end: bytes = b"\r\n"

    @classmethod
    def read(cls, reader: Reader) -> LodPath:
        text = bytes(reader.data[reader.position : reader.position + 4096])
        for end in (b"\r\n", b"\n", b"\0"):
            path, path_bytes, _ = text.partition(end)
            if path_bytes:
                reader.take(len(path) + len(end))
                return cls(path, end)
        if len(text) <= LONGEST_PATH and names.decode(text).isprintable():
            return cls(bytes(reader.rest()), b"")
        raise reader.error("the path of the distant model does not end")

    def write(self, writer: Writer) -> None:
        writer.raw(self.path + self.line_end)
