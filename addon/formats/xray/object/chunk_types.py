"""The chunk types of an object, except those of its meshes: surfaces, bones of old files, bone parts, information.

Sources: the editor's ``EditObjectIO.cpp`` and real files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Reader, Writer
from ....core.errors import ReadError
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
class ObjectFlags:
    """The flags of an object (`DYNAMIC` and others), stored in ``size`` bytes: 4, in old files 1."""

    flags: int
    size: int = 4

    @classmethod
    def read(cls, reader: Reader) -> ObjectFlags:
        data = bytes(reader.rest())
        if len(data) not in (1, 2, 4):
            raise reader.error(f"an object's flags take 1, 2 or 4 bytes, not {len(data)}")
        return cls(int.from_bytes(data, "little"), len(data))

    def write(self, writer: Writer) -> None:
        writer.raw(self.flags.to_bytes(self.size, "little"))


@dataclass(slots=True)
class LodName:
    """Name of the object shown instead of this one at a distance; empty in all real files."""

    name: bytes

    @classmethod
    def read(cls, reader: Reader) -> LodName:
        return cls(reader.string("the LOD's name"))

    def write(self, writer: Writer) -> None:
        writer.string(self.name)


@dataclass(slots=True, eq=False)
class Stamp:
    """Chunk 0x911 of old editors: ``numbers`` (n,) uint32, sometimes garbage."""

    numbers: NDArray[np.uint32]

    @classmethod
    def read(cls, reader: Reader) -> Stamp:
        return cls(reader.array("<u4", reader.remaining // 4, what="the version stamp"))

    def write(self, writer: Writer) -> None:
        writer.array(self.numbers, "<u4")


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


@dataclass(slots=True)
class Surfaces:
    """The surfaces of an object; ``layout`` is the id of the chunk."""

    surfaces: list[Surface]
    layout: int = SURFACES

    @classmethod
    def read(cls, reader: Reader, layout: int = SURFACES) -> Surfaces:
        count = reader.expect_room(reader.u32("the number of surfaces"), "surfaces", 13)
        read_one = _read_old_surface if layout == OLD_SURFACES else partial(_read_surface, layout=layout)
        return cls([read_one(reader) for _ in range(count)], layout)

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.surfaces))
        for surface in self.surfaces:
            if self.layout == OLD_SURFACES:
                _write_old_surface(writer, surface)
            else:
                _write_surface(writer, surface)


def _read_surface(reader: Reader, layout: int) -> Surface:
    name, shader = reader.string("a surface's name"), reader.string("a surface's shader")
    compiler = reader.string("a surface's compiler shader")
    material = reader.string("a surface's game material") if layout == SURFACES else None
    texture, uv_map = reader.string("a surface's texture"), reader.string("a surface's uv map")
    flags, form, coordinates = (reader.u32(what) for what in ("a surface's flags", "a vertex format", "a number of uv"))
    return Surface(name, shader, texture, uv_map, flags, compiler, material, form, coordinates)


def _write_surface(writer: Writer, surface: Surface) -> None:
    writer.string(surface.name)
    writer.string(surface.shader)
    for text in (surface.compiler_shader, surface.material):
        if text is not None:
            writer.string(text)
    writer.string(surface.texture)
    writer.string(surface.uv_map)
    for number in (surface.flags, surface.format, surface.coordinates):
        writer.u32(number)


def _read_old_surface(reader: Reader) -> Surface:
    name, shader = reader.string("a surface's name"), reader.string("a surface's shader")
    flags = reader.u8("whether a surface is two-sided")
    form, coordinates = reader.u32("a vertex format"), reader.u32("a number of uv")
    texture, uv_map = reader.string("a surface's texture"), reader.string("a surface's uv map")
    return Surface(name, shader, texture, uv_map, flags, format=form, coordinates=coordinates)


def _write_old_surface(writer: Writer, surface: Surface) -> None:
    writer.string(surface.name)
    writer.string(surface.shader)
    writer.u8(surface.flags)
    writer.u32(surface.format)
    writer.u32(surface.coordinates)
    writer.string(surface.texture)
    writer.string(surface.uv_map)


@dataclass(slots=True)
class CompilerShaders:
    """The compiler shaders of surfaces with the oldest layout, in the order of the surfaces, without a count."""

    names: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> CompilerShaders:
        found = []
        while reader.remaining:
            found.append(reader.string("a compiler shader's name"))
        return cls(found)

    def write(self, writer: Writer) -> None:
        for name in self.names:
            writer.string(name)


@dataclass(slots=True, eq=False)
class OldBone:
    """A bone of an old file. ``placement`` (7,) float32: offset, rotation (y, x, z), length."""

    name: bytes
    parent: bytes
    weight_map: bytes
    placement: NDArray[np.float32]


@dataclass(slots=True, eq=False)
class OldBones:
    """Chunk 0x913; editors read it if there is no chunk 0x921."""

    bones: list[OldBone]

    @classmethod
    def read(cls, reader: Reader) -> OldBones:
        bones = []
        for _ in range(reader.expect_room(reader.u32("the number of bones"), "bones", 31)):
            texts = [reader.string(f"a bone's {what}") for what in ("name", "parent", "weight map")]
            bones.append(OldBone(texts[0], texts[1], texts[2], reader.array("<f4", 7, what="a bone's placement")))
        return cls(bones)

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.bones))
        for bone in self.bones:
            for text in (bone.name, bone.parent, bone.weight_map):
                writer.string(text)
            writer.array(bone.placement, "<f4")


@dataclass(slots=True, eq=False)
class ObjectMotion:
    """A motion of the whole object from an old editor: six channels X Y Z H P B, 40 bytes per key."""

    name: bytes
    first: int
    last: int
    fps: np.float32
    version: int
    envelopes: list[StoredEnvelope]


@dataclass(slots=True, eq=False)
class ObjectMotions:
    """Chunk 0x914; editors have ignored it since 2002."""

    motions: list[ObjectMotion]

    @classmethod
    def read(cls, reader: Reader) -> ObjectMotions:
        motions = []
        for _ in range(reader.expect_room(reader.u32("the number of motions"), "motions", 87)):
            name = reader.string("a motion's name")
            first, last = reader.i32("the first frame"), reader.i32("the last frame")
            fps, version = reader.f32("the frames per second"), reader.u16("the version")
            envelopes = [read_old(reader, f"channel {channel}") for channel in NAMES]
            motions.append(ObjectMotion(name, first, last, fps, version, envelopes))
        return cls(motions)

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.motions))
        for motion in self.motions:
            writer.string(motion.name)
            writer.i32(motion.first)
            writer.i32(motion.last)
            writer.f32(motion.fps)
            writer.u16(motion.version)
            for envelope in motion.envelopes:
                write_envelope(writer, envelope)


@dataclass(slots=True, eq=False)
class NumberedPart:
    """A bone part as bone indices: ``bones`` (n,) uint32."""

    name: bytes
    bones: NDArray[np.uint32]


@dataclass(slots=True, eq=False)
class NumberedParts:
    """Chunk 0x919; if a file has it, editors use it instead of chunk 0x923."""

    parts: list[NumberedPart]

    @classmethod
    def read(cls, reader: Reader) -> NumberedParts:
        parts = []
        for _ in range(reader.expect_room(reader.u32("the number of parts"), "parts", 5)):
            name, count = reader.string("a part's name"), reader.u32("the number of a part's bones")
            parts.append(NumberedPart(name, reader.array("<u4", count, what="the bones of a part")))
        return cls(parts)

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.parts))
        for part in self.parts:
            writer.string(part.name)
            writer.u32(len(part.bones))
            writer.array(part.bones, "<u4")


@dataclass(slots=True, eq=False)
class ActorTransform:
    """The transform of the root when motions are exported to the game: ``values`` (2, 3) float32 position, rotation.

    Some builds of the Hybrid editor append ``scale`` and ``adjust_mass``.
    """

    values: NDArray[np.float32]
    scale: np.float32 | None = None
    adjust_mass: int | None = None

    @classmethod
    def read(cls, reader: Reader) -> ActorTransform:
        values = reader.array("<f4", 2, 3, what="the actor's transform")
        if not reader.remaining:
            return cls(values)
        return cls(values, reader.f32("the scale"), reader.u32("whether masses are adjusted"))

    def write(self, writer: Writer) -> None:
        writer.array(self.values, "<f4")
        if self.scale is not None and self.adjust_mass is not None:
            writer.f32(self.scale)
            writer.u32(self.adjust_mass)


@dataclass(slots=True)
class Authorship:
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
                found = cls._read(reader, size)
            except ReadError:
                if size == 4:
                    raise
                continue
            if not reader.remaining:
                return found
        return found

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
class ExportScale:
    """The factor by which the Hybrid editor scales positions on export, and whether it also adjusts masses."""

    scale: np.float32
    adjust_mass: int

    @classmethod
    def read(cls, reader: Reader) -> ExportScale:
        return cls(reader.f32("the export scale"), reader.u8("whether masses are adjusted"))

    def write(self, writer: Writer) -> None:
        writer.f32(self.scale)
        writer.u8(self.adjust_mass)
