"""Read and write `level.details`, with one column for each value of its slots.

Header (chunk 0), detail models (1), slots (2). Files of version 3 have their chunks in the order 1, 2, 0, files of
version 2 in the order of their ids; the engine finds them by id. Slot z · size_x + x covers 2 x 2 metres of ground,
with its corner at ((x - offset_x) · 2, (z - offset_z) · 2) metres.

A slot of version 3 has 16 bytes (``DetailFormat.h``). First a 64-bit word, low bit first: height of the ground (12 bits
of 0.2 m above -200 m), height of the slot (8 bits of 0.1 m), four model numbers (6 bits, 63 for none), light of the
sun, light of the sky and three colours (4 bits each). Then the density of each of the four models at the slot's
corners, 4 bits per corner. A slot of version 2 has 22 bytes (old builds): bottom and top as floats, four times a model
(255 for none) with its densities, and 16 bits of unknown meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Bytes, Reader, Writer, warn_not_finite
from ....core.report import Report, counted, say
from ....core.walk import Entries, View, Views, fields
from .. import dm
from ..chunks import (
    CHUNK_VIEWS,
    Chunk,
    ChunkRun,
    headings,
    note_unknown,
    open_chunk,
    read_chunks,
    stored_size,
    with_bodies,
    write_chunks,
)
from ..dm import Dm

HEADER, MODEL_LIST, SLOT_LIST = 0, 1, 2
SLOT_SIZE = 2.0
"""Size of a slot along x and z, in metres."""
NEWEST = 3
SLOT = np.dtype([("word", "<u8"), ("density", "<u2", 4)])
OLD_SLOT = np.dtype(
    [
        ("bottom", "<f4"),
        ("top", "<f4"),
        ("plants", [("model", "u1"), ("density", "<u2")], 4),
        ("unknown", "<u2"),
    ]
)
SLOTS: dict[int, np.dtype[np.void]] = {2: OLD_SLOT, 3: SLOT}
"""Version -> layout of a slot."""
MODELS = 63
"""Largest number of models in a file; number 63 means no model."""
EMPTY = -1
"""Model number in `SlotValues` that means no model."""
_NO_MODEL = {2: 255, 3: 63}
LOWEST, GROUND_STEP, HEIGHT_STEP = -200.0, 0.2, 0.1
MOST_GROUND, MOST_HEIGHT, MOST_SHADE = 0xFFF, 0xFF, 0xF
_SHADES_FROM = 44
"""First bit of the five shades of 4 bits: sun, sky, red, green, blue."""
_STEP_TOLERANCE = 1e-3
"""Tolerance in steps: a height that float32 rounding put slightly below its step still counts as that step."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header: ``models`` is the declared number of models; ``offset`` and ``size`` of the grid in slots (x, z)."""

    version: int
    models: int
    offset: tuple[int, int]
    size: tuple[int, int]

    @classmethod
    def read(cls, reader: Reader) -> Header:
        """Read a header. Raises `ReadError` for a version whose slots are not known."""
        version = reader.u32("the version")
        if version not in SLOTS:
            raise reader.error(say("details of version {} are not known (known: 2 and 3)", version))
        models = reader.u32("the number of models")
        offset = reader.i32("the grid's offset"), reader.i32("the grid's offset")
        return cls(version, models, offset, (reader.u32("the grid's size"), reader.u32("the grid's size")))

    def write(self, writer: Writer) -> None:
        for number in (self.version, self.models):
            writer.u32(number)
        for signed in self.offset:
            writer.i32(signed)
        for number in self.size:
            writer.u32(number)

    @property
    def slots(self) -> int:
        """Number of slots in the grid."""
        return self.size[0] * self.size[1]


@dataclass(slots=True, eq=False)
class Details:
    """A `level.details` file: ``models`` by number; ``slots`` (slots,) packed, in a layout of `SLOTS`.

    ``run`` are the file's chunks in order, ``model_run`` those of the models; ``header_rest`` and ``slots_rest`` are
    the bytes after the known content (broken files only).
    """

    header: Header
    models: dict[int, Dm]
    slots: NDArray[np.void]
    run: ChunkRun
    model_run: ChunkRun
    header_rest: Bytes = b""
    slots_rest: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return PurePath(self.file.replace("\\", "/")).name or "level.details"


def new(models: Sequence[Dm], slots: NDArray[np.void], size: tuple[int, int], offset: tuple[int, int]) -> Details:
    """Create a file of version 3 with ``slots`` (size x · size z,); ``offset`` is the slot of the world's origin.

    Raises `ValueError` if the number of slots does not match ``size``.
    """
    header = Header(NEWEST, len(models), offset, size)
    if len(slots) != header.slots:
        raise ValueError(say("{:# slot|# slots} for a grid of {}", len(slots), header.slots))
    model_run = ChunkRun([Chunk(number, dm.write(model)) for number, model in enumerate(models)])
    run = ChunkRun([Chunk(number, b"") for number in (MODEL_LIST, SLOT_LIST, HEADER)])
    return Details(header, dict(enumerate(models)), slots, run, model_run)


# Bytes <-> document ---------------------------------------------------------------------------------------------------


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a header of details, or with a chunk 1 that contains a detail model 0."""
    if len(head) < 16:
        return False
    identifier, size, first, second = np.frombuffer(head[:16], "<u4").tolist()
    if identifier == HEADER:
        return size == 24 and first in SLOTS
    # The header of an .ogf is a chunk 1 too, but begins with a version; a model begins with the name of its shader.
    return identifier == MODEL_LIST and first == 0 and second <= size - 8 and (second == 0 or dm.starts_like(head[16:]))


def read(data: bytes, file: str, report: Report) -> Details:
    """Read the file. Raises `ReadError` if a chunk is missing or has fewer slots than the header declares."""
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    head_chunk, slot_chunk, model_list = (run.first(number) for number in (HEADER, SLOT_LIST, MODEL_LIST))
    if head_chunk is None or slot_chunk is None:
        words = "there is no list of slots (chunk 0x2)"
        if head_chunk is None:
            words = "there is no header (chunk 0x0)"
        raise reader.error(words, "Check that this is a level.details, copied whole")
    head, slot_body = open_chunk(head_chunk, reader), open_chunk(slot_chunk, reader)
    header = Header.read(head)
    slots = slot_body.array(SLOTS[header.version], header.slots, what=counted(header.slots, "slot"))
    model_run = ChunkRun([])
    models: dict[int, Dm] = {}
    if model_list is not None:
        inside = open_chunk(model_list, reader)
        model_run = read_chunks(inside, report)
        for chunk in model_run.chunks:
            if chunk.plain_id not in models:
                models[chunk.plain_id] = dm.read_model(open_chunk(chunk, inside), report)
    if len(models) != header.models or any(number >= header.models for number in models):
        report.warn(say("the header says {:# model|# models}, the file has {}", header.models, len(models)))
    document = Details(header, models, slots, run, model_run, head.rest(), slot_body.rest(), file)
    if not warn_not_finite(report, "slots", slots) and header.version == 2:
        with np.errstate(over="ignore"):  # the difference of two floats of a broken file
            warn_not_finite(report, "heights of slots", height_of(slots).astype(np.float32))
    if len(document.header_rest):
        report.warn(say("{:# extra byte|# extra bytes} after the header; kept", len(document.header_rest)))
    if len(document.slots_rest):
        report.warn(say("{:# extra byte|# extra bytes} after the slots; kept", len(document.slots_rest)))
    for chunk in run.others((HEADER, MODEL_LIST, SLOT_LIST)):
        note_unknown(report, reader, chunk)
    return document


def write(document: Details) -> bytes:
    """Return the bytes of the file."""
    return _write(document, document.slots)


def recompose(document: Details) -> bytes:
    """Return the bytes of the file with every slot packed again from its unpacked values."""
    values = unpack(document.slots)
    old = document.header.version == 2
    rows = pack(values, document.header.version, document.slots["unknown"] if old else None)
    if old:
        # Bottom and top are plain floats; `height` is only their difference, so they are copied.
        rows["bottom"], rows["top"] = document.slots["bottom"], document.slots["top"]
    return _write(document, rows)


def _write(document: Details, slots: NDArray[np.void]) -> bytes:
    writer = Writer()
    document.header.write(writer)
    models = {number: dm.write(model) for number, model in document.models.items()}
    bodies = {
        HEADER: writer.getvalue() + bytes(document.header_rest),
        SLOT_LIST: slots.tobytes() + bytes(document.slots_rest),
        MODEL_LIST: write_chunks(with_bodies(document.model_run, models)),
    }
    return write_chunks(with_bodies(document.run, bodies))


def raw_size(document: Details) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    size = len(document.header_rest) + len(document.slots_rest) + len(document.run.tail) + len(document.model_run.tail)
    size += sum(map(stored_size, document.run.others((HEADER, MODEL_LIST, SLOT_LIST))))
    size += sum(map(stored_size, document.model_run.others(document.models)))
    size += sum(dm.raw_size(model) for model in document.models.values())
    return size + (2 * len(document.slots) if document.header.version == 2 else 0)


# Slots ----------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class SlotValues:
    """Unpacked slots, one row per slot.

    ``ground`` and ``height`` (slots,) float64 metres: height of the ground, and of the slot above it. ``models``
    (slots, 4) int32, `EMPTY` for none; ``density`` (slots, 4 models, 4 corners) 0 to 15, corners (x0, z0), (x1, z0),
    (x0, z1), (x1, z1); ``shades`` (slots, 5) 0 to 15, sun, sky, red, green, blue; None in version 2.
    """

    ground: NDArray[np.float64]
    height: NDArray[np.float64]
    models: NDArray[np.int32]
    density: NDArray[np.uint8]
    shades: NDArray[np.uint8] | None


def version_of(rows: NDArray[np.void]) -> int:
    """Return the version whose layout these packed slots have."""
    return 3 if rows.dtype == SLOT else 2


def unpack(rows: NDArray[np.void]) -> SlotValues:
    """Unpack all values of packed slots."""
    indices = range(4)
    models = np.stack([models_of(rows, index) for index in indices], axis=1)
    density = np.stack([density_of(rows, index) for index in indices], axis=1)
    shades = None if version_of(rows) == 2 else np.stack([shades_of(rows, index) for index in range(5)], axis=1)
    return SlotValues(ground_of(rows), height_of(rows), models, density, shades)


def pack(values: SlotValues, version: int, unknown: NDArray[np.uint16] | None = None) -> NDArray[np.void]:
    """Pack the values of slots, which must be in range; ``unknown`` (slots,) is the last field of version 2."""
    density = (values.density.astype(np.uint16) << np.arange(0, 16, 4, dtype=np.uint16)).sum(axis=-1, dtype=np.uint16)
    models = np.where(values.models == EMPTY, _NO_MODEL[version], values.models)
    rows = np.zeros(len(values.ground), SLOTS[version])
    if version == 2:
        with np.errstate(over="ignore", invalid="ignore"):  # floats of broken files
            rows["bottom"], rows["top"] = values.ground, values.ground + values.height
        rows["plants"]["model"], rows["plants"]["density"] = models, density
        if unknown is not None:
            rows["unknown"] = unknown
        return rows
    word = ground_steps(values.ground).astype(np.uint64)
    word |= height_steps(values.ground, values.height).astype(np.uint64) << np.uint64(12)
    for index in range(4):
        word |= models[:, index].astype(np.uint64) << np.uint64(20 + 6 * index)
    if values.shades is not None:
        for index in range(5):
            word |= values.shades[:, index].astype(np.uint64) << np.uint64(_SHADES_FROM + 4 * index)
    rows["word"], rows["density"] = word, density
    return rows


def empty_slots(count: int) -> NDArray[np.void]:
    """Return ``count`` packed slots of version 3 at height 0 without models."""
    nothing = np.zeros(count)
    shades = np.zeros((count, 5), np.uint8)
    values = SlotValues(
        nothing, nothing, np.full((count, 4), EMPTY, np.int32), np.zeros((count, 4, 4), np.uint8), shades
    )
    return pack(values, 3)


def ground_of(rows: NDArray[np.void]) -> NDArray[np.float64]:
    """Return (slots,) the height of the ground in metres."""
    if version_of(rows) == 2:
        with np.errstate(invalid="ignore"):  # floats of broken files
            return rows["bottom"].astype(np.float64)
    ground = _bits(rows["word"], 0, 12).astype(np.float64)
    ground *= GROUND_STEP
    ground += LOWEST
    return ground


def height_of(rows: NDArray[np.void]) -> NDArray[np.float64]:
    """Return (slots,) the height of the slot above its ground, in metres."""
    if version_of(rows) == 2:
        with np.errstate(over="ignore", invalid="ignore"):
            return rows["top"].astype(np.float64) - rows["bottom"].astype(np.float64)
    return _bits(rows["word"], 12, 8).astype(np.float64) * HEIGHT_STEP


def models_of(rows: NDArray[np.void], index: int) -> NDArray[np.int32]:
    """Return (slots,) the number of one of the slot's four models; `EMPTY` for none."""
    version = version_of(rows)
    stored = rows["plants"]["model"][:, index] if version == 2 else _bits(rows["word"], 20 + 6 * index, 6)
    models: NDArray[np.int32] = stored.astype(np.int32)
    models[models == _NO_MODEL[version]] = EMPTY
    return models


def density_of(rows: NDArray[np.void], index: int) -> NDArray[np.uint8]:
    """Return (slots, 4 corners) the density of one of the slot's four models, 0 to 15."""
    stored = rows["plants"]["density"] if version_of(rows) == 2 else rows["density"]
    result = np.empty((len(rows), 4), np.uint8)
    for corner in range(4):
        result[:, corner] = stored[:, index] >> np.uint16(4 * corner) & np.uint16(0xF)
    return result


def shades_of(rows: NDArray[np.void], index: int) -> NDArray[np.uint8]:
    """Return (slots,) sun, sky, red, green or blue, 0 to 15. Only version 3 has them."""
    return _bits(rows["word"], _SHADES_FROM + 4 * index, 4).astype(np.uint8)


def _bits(word: NDArray[np.uint64], start: int, count: int) -> NDArray[np.uint16]:
    """Extract a field of at most 16 bits."""
    result: NDArray[np.uint16] = (word >> np.uint64(start)).astype(np.uint16)
    result &= np.uint16((1 << count) - 1)
    return result


def ground_steps(ground: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert heights of the ground to version 3's integers: rounded down, clipped to the range of the file."""
    return _clamped(np.floor((ground - LOWEST) / GROUND_STEP + _STEP_TOLERANCE), MOST_GROUND)


def height_steps(ground: NDArray[np.float64], height: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert heights of slots to version 3's integers, rounded up and clipped.

    They are measured from the ground as `ground_steps` rounds it down.
    """
    lowered = ground_steps(ground) * GROUND_STEP + LOWEST
    return _clamped(np.ceil((height + (ground - lowered)) / HEIGHT_STEP - _STEP_TOLERANCE), MOST_HEIGHT)


def shade_steps(shades: NDArray[Any]) -> NDArray[np.int64]:
    """Convert shades from 0 to 1 to integers from 0 to 15, rounded down."""
    return _clamped(np.floor(np.asarray(shades, np.float64) * MOST_SHADE + _STEP_TOLERANCE), MOST_SHADE)


def _clamped(values: NDArray[np.float64], highest: int) -> NDArray[np.int64]:
    result: NDArray[np.int64] = np.clip(np.nan_to_num(values, nan=0.0), 0, highest).astype(np.int64)
    return result


# In words -------------------------------------------------------------------------------------------------------------


def describe(document: Details) -> list[str]:
    """Return a summary: counts, bounds, models."""
    header, values = document.header, unpack(document.slots)
    corner = [-offset * SLOT_SIZE for offset in header.offset]
    far = [start + size * SLOT_SIZE for start, size in zip(corner, header.size, strict=True)]
    planted = int((values.models != EMPTY).any(axis=1).sum())
    lines = [
        f"version {header.version}, {header.size[0]} x {header.size[1]} slots, {planted} with models",
        f"bounds (file axes): x {corner[0]:g} to {far[0]:g}, z {corner[1]:g} to {far[1]:g}",
    ]
    ground = values.ground[np.isfinite(values.ground)]
    if len(ground):
        lines.append(f"ground from {ground.min():.1f} to {ground.max():.1f} m")
    for number, model in document.models.items():
        used = int((values.models == number).sum())
        counts = f"{len(model.vertices)} vertices, {len(model.triangles)} triangles"
        lines.append(f"model {number}: {counts}, {names.decode(model.texture)}, in {used} places")
    return lines


def as_columns(slots: NDArray[np.void]) -> NDArray[np.void]:
    """Unpack slots into columns for text: integers as stored, and the floats of version 2."""
    if "word" not in (slots.dtype.names or ()):
        return _as_old_columns(slots)
    values: SlotValues = unpack(slots)
    columns = [
        ("ground", "<u2"),
        ("height", "u1"),
        ("models", "<i4", 4),
        ("density", "u1", (4, 4)),
        ("shades", "u1", 5),
    ]
    rows = np.empty(len(slots), columns)
    rows["ground"], rows["height"] = slots["word"] & np.uint64(0xFFF), slots["word"] >> np.uint64(12) & np.uint64(0xFF)
    rows["models"], rows["density"], rows["shades"] = values.models, values.density, values.shades
    return rows


def _as_old_columns(slots: NDArray[np.void]) -> NDArray[np.void]:
    values = unpack(slots)
    columns = [("bottom", "<f4"), ("top", "<f4"), ("models", "<i4", 4), ("density", "u1", (4, 4)), ("unknown", "<u2")]
    rows = np.empty(len(slots), columns)
    for name in ("bottom", "top", "unknown"):
        rows[name] = slots[name]
    rows["models"], rows["density"] = values.models, values.density
    return rows


def _entries(document: Details) -> Entries:
    yield from fields(document.header)
    yield "header rest", memoryview(document.header_rest)
    yield "model", document.models
    yield "slots", as_columns(document.slots)
    yield "slots rest", memoryview(document.slots_rest)
    yield "", headings(document.run, (HEADER, MODEL_LIST, SLOT_LIST))
    yield "chunks of the models", headings(document.model_run, document.models)


VIEWS: Views = {**CHUNK_VIEWS, **dm.VIEWS, Details: View(entries=_entries)}
