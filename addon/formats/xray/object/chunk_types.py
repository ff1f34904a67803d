"""The chunk types of an object, except those of its meshes: surfaces, bones of old files, bone parts, information.

Sources: the editor's ``EditObjectIO.cpp`` and real files.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    i32,
    last_rows,
    list_of,
    list_to_end,
    nested,
    read_fields,
    string,
    u8,
    u16,
    u32,
    unless_at_end,
    write_fields,
)
from ....core.report import say
from ..envelopes import NAMES, StoredEnvelope, read_old, write_envelope

SURFACES, SURFACES_WITHOUT_MATERIAL, OLD_SURFACES = 0x907, 0x906, 0x905
"""Chunk ids of surfaces, from the newest layout to the oldest."""
DYNAMIC, PROGRESSIVE, USES_LOD, HIDES, MULTIPLE_USAGE, SOUND_OCCLUDER, HIGH_QUALITY = (1 << bit for bit in range(7))
"""Bits of `ObjectFlags`; the Hybrid editor uses higher bits as well."""
STORED_NORMALS, EDITOR_SMOOTHING_SOC, EDITOR_SMOOTHING_COP = 0x400, 0x800, 0x1000
"""Bits of `ObjectFlags` in the Hybrid editor: the kind of smoothing that it uses."""
TWO_SIDED = 1
"""The only bit of `Surface.flags`."""
VERTEX_FORMAT = 0x112
"""The value in all real files: position, normal, one texture coordinate."""


@dataclass(slots=True)
class ObjectFlags(Record):
    """The flags of an object (`DYNAMIC` and others), stored in ``size`` bytes: 4, in old files 1."""

    flags: int
    size: int = 4

    @classmethod
    def read(cls, reader: Reader) -> ObjectFlags:
        data = bytes(reader.rest())
        if len(data) not in (1, 2, 4):
            raise reader.error(say("an object's flags take 1, 2 or 4 bytes, not {}", len(data)))
        return cls(int.from_bytes(data, "little"), len(data))

    def write(self, writer: Writer) -> None:
        writer.raw(self.flags.to_bytes(self.size, "little"))


@dataclass(slots=True)
class LodName(Record):
    """Name of the object shown instead of this one at a distance; empty in all real files."""

    name: Annotated[bytes, string("the LOD's name")]


@dataclass(slots=True, eq=False)
class Stamp(Record):
    """Chunk 0x911 of old editors: ``numbers`` (n,) uint32, sometimes garbage."""

    numbers: Annotated[NDArray[np.uint32], last_rows("<u4", what="the version stamp")]


@dataclass(slots=True)
class Surface:
    """A material. Names are compared without case; nothing depends on ``uv_map``.

    ``compiler_shader`` and ``material`` (the game material) are None if the layout lacks them; with the oldest layout,
    compiler shaders are in a chunk of their own. ``flags``: `TWO_SIDED`. Editors require ``format`` 0x112 and
    ``coordinates`` 1.
    """

    name: bytes
    shader: bytes
    texture: bytes
    uv_map: bytes
    flags: int
    compiler_shader: bytes | None = None
    material: bytes | None = None
    format: int = VERTEX_FORMAT
    coordinates: int = 1

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


_SURFACE: dict[str, Stored[Any]] = {
    "name": string("a surface's name"),
    "shader": string("a surface's shader"),
    "compiler_shader": string("a surface's compiler shader"),
    "material": string("a surface's game material"),
    "texture": string("a surface's texture"),
    "uv_map": string("a surface's uv map"),
    "flags": u32("a surface's flags"),
    "format": u32("a vertex format"),
    "coordinates": u32("a number of uv"),
}
_OLD_FLAGS = {"flags": u8("whether a surface is two-sided")}
_OLD_ORDER = ("name", "shader", "flags", "format", "coordinates", "texture", "uv_map")
_SURFACE_LAYOUTS = {
    SURFACES: Layout(_SURFACE),
    SURFACES_WITHOUT_MATERIAL: Layout({name: stored for name, stored in _SURFACE.items() if name != "material"}),
    OLD_SURFACES: Layout(
        {name: _SURFACE[name] for name in _OLD_ORDER} | {"flags": u8("whether a surface is two-sided")}
    ),
}


@dataclass(slots=True)
class Surfaces(Record):
    """The surfaces of an object; ``layout`` is the id of the chunk."""

    surfaces: list[Surface]
    layout: int = SURFACES

    @classmethod
    def read(cls, reader: Reader, layout: int = SURFACES) -> Surfaces:
        count = reader.expect_room(reader.u32("the number of surfaces"), "surface", 13)
        return cls([read_fields(Surface, _SURFACE_LAYOUTS[layout], reader) for _ in range(count)], layout)

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.surfaces))
        for surface in self.surfaces:
            write_fields(surface, _SURFACE_LAYOUTS[self.layout], writer)


@dataclass(slots=True)
class CompilerShaders(Record):
    """The compiler shaders of surfaces with the oldest layout, in the order of the surfaces, without a count."""

    names: Annotated[list[bytes], list_to_end(string("a compiler shader's name"))]


@dataclass(slots=True, eq=False)
class OldBone(Record):
    """A bone of an old file. ``placement`` (7,) float32: offset, rotation (y, x, z), length."""

    name: Annotated[bytes, string("a bone's name")]
    parent: Annotated[bytes, string("a bone's parent")]
    weight_map: Annotated[bytes, string("a bone's weight map")]
    placement: Annotated[NDArray[np.float32], array("<f4", 7, what="a bone's placement")]


@dataclass(slots=True, eq=False)
class OldBones(Record):
    """Chunk 0x913; editors read it if there is no chunk 0x921."""

    bones: Annotated[list[OldBone], list_of(u32("the number of bones"), nested(OldBone.read), "bone", 31)]


def _read_channels(reader: Reader) -> list[StoredEnvelope]:
    return [read_old(reader, say("channel {}", channel)) for channel in NAMES]


def _write_channels(writer: Writer, envelopes: list[StoredEnvelope]) -> None:
    for envelope in envelopes:
        write_envelope(writer, envelope)


@dataclass(slots=True, eq=False)
class ObjectMotion(Record):
    """A motion of the whole object from an old editor: six channels X Y Z H P B, 40 bytes per key."""

    name: Annotated[bytes, string("a motion's name")]
    first: Annotated[int, i32("the first frame")]
    last: Annotated[int, i32("the last frame")]
    fps: Annotated[np.float32, f32("the frames per second")]
    version: Annotated[int, u16("the version")]
    envelopes: Annotated[list[StoredEnvelope], Stored(_read_channels, _write_channels)]


@dataclass(slots=True, eq=False)
class ObjectMotions(Record):
    """Chunk 0x914; editors have ignored it since 2002."""

    motions: Annotated[
        list[ObjectMotion], list_of(u32("the number of motions"), nested(ObjectMotion.read), "motion", 87)
    ]


@dataclass(slots=True, eq=False)
class NumberedPart(Record):
    """A bone part as bone indices: ``bones`` (n,) uint32."""

    name: Annotated[bytes, string("a part's name")]
    bones: Annotated[
        NDArray[np.uint32], counted_rows(u32("the number of a part's bones"), "<u4", what="the bones of a part")
    ]


@dataclass(slots=True, eq=False)
class NumberedParts(Record):
    """Chunk 0x919; if a file has it, editors use it instead of chunk 0x923."""

    parts: Annotated[list[NumberedPart], list_of(u32("the number of parts"), nested(NumberedPart.read), "part", 5)]


@dataclass(slots=True, eq=False)
class ActorTransform(Record):
    """The transform of the root when motions are exported to the game: ``values`` (2, 3) float32 position, rotation.

    Some builds of the Hybrid editor append ``scale`` and ``adjust_mass``.
    """

    values: Annotated[NDArray[np.float32], array("<f4", 2, 3, what="the actor's transform")]
    scale: Annotated[np.float32 | None, unless_at_end(f32("the scale"))] = None
    adjust_mass: Annotated[int | None, unless_at_end(u32("whether masses are adjusted"))] = None


@dataclass(slots=True)
class Authorship(Record):
    """Author and last editor of the object, with times in seconds since 1970.

    Times have ``time_size`` bytes: 4, in files of 64-bit editors 8.
    """

    creator: bytes
    created: int
    modifier: bytes
    modified: int
    time_size: int = 4

    @classmethod
    def read(cls, reader: Reader) -> Authorship:
        """Read the chunk with times of 8 bytes if the fields then fill it exactly, else of 4 bytes."""
        start = reader.position
        for size in (8, 4):
            reader.position = start
            try:
                result = cls._read(reader, size)
            except ReadError:
                if size == 4:
                    raise
                continue
            if not reader.remaining:
                return result
        return result

    @classmethod
    def _read(cls, reader: Reader, size: int) -> Authorship:
        def time() -> int:
            return int.from_bytes(reader.take(size, "a time"), "little")

        return cls(reader.string("the creator"), time(), reader.string("the modifier"), time(), size)

    def write(self, writer: Writer) -> None:
        for name, time in ((self.creator, self.created), (self.modifier, self.modified)):
            writer.string(name)
            writer.raw(time.to_bytes(self.time_size, "little"))


@dataclass(slots=True)
class ExportScale(Record):
    """The factor by which the Hybrid editor scales positions on export, and whether it also adjusts masses."""

    scale: Annotated[np.float32, f32("the export scale")]
    adjust_mass: Annotated[int, u8("whether masses are adjusted")]
