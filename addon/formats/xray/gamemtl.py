"""`gamemtl.xr`: the game materials, such as concrete, glass or water.

Collision refers to a material by its id, which is not its index in the list. Chunk 0x1002 contains a chunk per
material, 0x1003 the effects of pairs of touching materials (kept as bytes). Source: the engine's ``GameMtlLib.h`` /
``.cpp``; no real file was available.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from ...core import names, text
from ...core.binary import Bytes, Reader, Writer, warn_not_finite
from ...core.errors import ReadError
from ...core.report import Report, say
from ...core.walk import Entries, View, Views
from .chunks import (
    CHUNK_VIEWS,
    Chunk,
    ChunkRun,
    headings,
    keep_rest,
    kept_size,
    open_chunk,
    read_chunks,
    starts_like_chunks,
    stored_size,
    with_bodies,
    write_chunks,
)

VERSION, NEXT_IDS, MATERIALS, PAIRS = 0x1000, 0x1001, 0x1002, 0x1003
NAME, FLAGS, PHYSICS, FACTORS, FLOTATION, DESCRIPTION = 0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005
INJURIOUS_SPEED, DENSITY, SHOOT_FACTOR = 0x1006, 0x1007, 0x1008

FLOATS = {PHYSICS: 5, FACTORS: 4, FLOTATION: 1, INJURIOUS_SPEED: 1, DENSITY: 1, SHOOT_FACTOR: 1}
"""Chunk id of a material -> number of floats in it."""
WORDS = {
    NAME: "name",
    FLAGS: "flags",
    PHYSICS: "friction, damping, spring, bounce start velocity, bouncing",
    FACTORS: "shoot, bounce damage, visual transparency, sound occlusion",
    FLOTATION: "flotation",
    DESCRIPTION: "description",
    INJURIOUS_SPEED: "injurious speed",
    DENSITY: "density",
    SHOOT_FACTOR: "shoot factor in multiplayer",
}


class Flag(IntFlag):
    """Properties of a material."""

    BREAKABLE = 1 << 0
    BOUNCEABLE = 1 << 2
    SKID_MARKS = 1 << 3
    BLOOD_MARKS = 1 << 4
    CLIMBABLE = 1 << 5
    PASSABLE = 1 << 7
    DYNAMIC = 1 << 8
    LIQUID = 1 << 9
    SUPPRESS_SHADOWS = 1 << 10
    SUPPRESS_WALLMARKS = 1 << 11
    ACTOR_OBSTACLE = 1 << 12
    NO_RICOCHET = 1 << 13
    INJURIOUS = 1 << 28
    SHOOTABLE = 1 << 29
    TRANSPARENT = 1 << 30
    SLOWS_DOWN = 1 << 31


@dataclass(slots=True, eq=False)
class Material:
    """A game material: ``id`` and ``name`` in the game; ``floats`` by chunk id (`FLOATS`), ``flags`` as stored.

    ``run`` are its chunks in order; ``flags`` and ``description`` are None if it has none. ``rests``: bytes after the
    values of a chunk, by its id.
    """

    id: int
    name: bytes
    run: ChunkRun
    flags: int | None = None
    description: bytes | None = None
    floats: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    rests: dict[int, Bytes] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name as text, such as ``materials/concrete`` with a backslash."""
        return names.decode(self.name)

    @property
    def sound_occlusion(self) -> float | None:
        """The share of the volume that remains behind the material; None if the file does not store it."""
        factors = self.floats.get(FACTORS)
        return None if factors is None else float(factors[3])

    @property
    def known(self) -> list[int]:
        """Ids of the chunks that are read into typed fields."""
        identifiers = [NAME, *self.floats]
        if self.flags is not None:
            identifiers.append(FLAGS)
        if self.description is not None:
            identifiers.append(DESCRIPTION)
        return identifiers


@dataclass(slots=True, eq=False)
class GameMaterials:
    """A `gamemtl.xr` file: ``materials`` by index of their chunk; ``run`` and ``list_run`` the chunks in order;
    ``rests`` bytes after the values of a chunk, by its id.
    """

    version: int
    next_ids: NDArray[np.uint32] | None
    materials: dict[int, Material]
    run: ChunkRun
    list_run: ChunkRun
    file: str = field(default="", compare=False)
    rests: dict[int, Bytes] = field(default_factory=dict)

    def by_id(self) -> dict[int, Material]:
        """Return the materials by the id that collision refers to. If several have the same id, the first counts."""
        result: dict[int, Material] = {}
        for material in self.materials.values():
            result.setdefault(material.id, material)
        return result


starts_like = starts_like_chunks(VERSION)


def read(data: bytes, file: str, report: Report) -> GameMaterials:
    """Read the file. Raises `ReadError` if it has no list of materials, such as other `.xr` files."""
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    version, listed, ids = run.first(VERSION), run.first(MATERIALS), run.first(NEXT_IDS)
    if version is None or listed is None:
        raise reader.error(
            "there are no game materials in it", "Choose the gamemtl.xr of the game's gamedata folder, copied whole"
        )
    head = open_chunk(version, reader)
    number = head.u16("the version")
    rests: dict[int, Bytes] = {}
    keep_rest(head, VERSION, rests, report)
    if number != 1:
        report.warn(say("game materials of version {}, only 1 is known", number), head.chunk)
    next_ids = None
    if ids is not None:
        inside = open_chunk(ids, reader)
        next_ids = inside.array("<u4", 2, what="the next ids")
        keep_rest(inside, NEXT_IDS, rests, report)
    inside = open_chunk(listed, reader)
    list_run = read_chunks(inside, report)
    materials: dict[int, Material] = {}
    for index, chunk in enumerate(list_run.chunks):
        body = open_chunk(chunk, inside)
        try:
            materials[index] = _read_material(body, report)
            warn_not_finite(report, materials[index].label, materials[index].floats)
        except ReadError as wrong:
            report.warn(say("a material is not readable, kept unchanged: {}", wrong.problem), body.chunk)
    document = GameMaterials(number, next_ids, materials, run, list_run, file, rests)
    if len(document.by_id()) < len(materials):
        report.warn("several materials have one id; the first counts")
    return document


def _read_material(body: Reader, report: Report) -> Material:
    run = read_chunks(body, report)
    head = run.first(NAME)
    if head is None:
        raise body.error("it has no name")
    inside = open_chunk(head, body)
    material = Material(inside.u32("the id"), inside.string("the name"), run)
    keep_rest(inside, NAME, material.rests, report)
    for number, count in FLOATS.items():
        chunk = run.first(number)
        if chunk is not None and len(chunk.body) == 4 * count:
            material.floats[number] = open_chunk(chunk, body).array("<f4", count)
    flags, description = run.first(FLAGS), run.first(DESCRIPTION)
    if flags is not None:
        inside = open_chunk(flags, body)
        material.flags = inside.u32("the flags")
        keep_rest(inside, FLAGS, material.rests, report)
    if description is not None:
        inside = open_chunk(description, body)
        material.description = inside.string("the description")
        keep_rest(inside, DESCRIPTION, material.rests, report)
    return material


def write(document: GameMaterials) -> bytes:
    """Return the bytes of the file, written from the typed values; other data is copied."""
    chunks = [_with_value(chunk, document.materials.get(index)) for index, chunk in enumerate(document.list_run.chunks)]
    bodies = {
        VERSION: document.version.to_bytes(2, "little"),
        MATERIALS: write_chunks(ChunkRun(chunks, document.list_run.tail)),
    }
    if document.next_ids is not None:
        bodies[NEXT_IDS] = document.next_ids.astype("<u4").tobytes()
    return write_chunks(with_bodies(document.run, bodies, document.rests))


recompose = write


def _with_value(chunk: Chunk, material: Material | None) -> Chunk:
    if material is None:
        return chunk
    body = _write_material(material)
    return chunk if body == chunk.body else Chunk(chunk.plain_id, body, chunk.offset)


def _write_material(material: Material) -> bytes:
    head = Writer()
    head.u32(material.id)
    head.string(material.name)
    bodies = {number: values.astype("<f4").tobytes() for number, values in material.floats.items()}
    bodies[NAME] = head.getvalue()
    if material.flags is not None:
        bodies[FLAGS] = material.flags.to_bytes(4, "little")
    if material.description is not None:
        bodies[DESCRIPTION] = material.description + b"\0"
    return write_chunks(with_bodies(material.run, bodies, material.rests))


def raw_size(document: GameMaterials) -> int:
    """Return the number of bytes that are kept without knowing their meaning: pairs, unknown chunks of materials."""
    size = len(document.list_run.tail) + kept_size(document.run, (VERSION, NEXT_IDS, MATERIALS), document.rests)
    for index, chunk in enumerate(document.list_run.chunks):
        material = document.materials.get(index)
        if material is None:
            size += stored_size(chunk)
        else:
            size += kept_size(material.run, material.known, material.rests)
    return size


def flag_names(flags: int) -> str:
    """Return the names of flags, ``liquid, passable``; bits without a name as a number; ``none`` if no bit is set."""
    known = [flag.name.lower().replace("_", " ") for flag in Flag if flags & flag and flag.name]
    rest = flags & ~sum(Flag)
    return ", ".join([*known, *([f"{rest:#x}"] if rest else [])]) or "none"


def describe(document: GameMaterials) -> list[str]:
    """Return one line per material: id, name, flags, sound occlusion."""
    return [
        f"version {document.version}, {len(document.materials)} materials",
        *(
            f"{material.id}: {material.label}, flags {flag_names(material.flags or 0)}, "
            f"sound occlusion {text.scalar(material.sound_occlusion)}"
            for material in document.materials.values()
        ),
    ]


def _material_entries(material: Material) -> Entries:
    yield WORDS[NAME], material.name
    yield WORDS[FLAGS], None if material.flags is None else f"{material.flags:#010x} ({flag_names(material.flags)})"
    for number, values in material.floats.items():
        yield WORDS[number], values
    yield WORDS[DESCRIPTION], material.description
    yield "rest of chunk", material.rests
    yield "", headings(material.run, material.known)


def _entries(document: GameMaterials) -> Entries:
    yield "version", document.version
    yield "next ids", document.next_ids
    yield "materials", list(document.materials.values())
    yield "rest of chunk", document.rests
    yield "", headings(document.run, (VERSION, MATERIALS, *(() if document.next_ids is None else (NEXT_IDS,))))
    listed = document.list_run
    yield (
        "list of materials",
        ChunkRun(
            [
                replace(chunk, body=b"") if index in document.materials else chunk
                for index, chunk in enumerate(listed.chunks)
            ],
            listed.tail,
        ),
    )


VIEWS: Views = {
    **CHUNK_VIEWS,
    GameMaterials: View(entries=_entries),
    Material: View(
        lambda material: f"material {material.id} ({material.label})",
        (lambda material: material.id,),
        entries=_material_entries,
    ),
}
