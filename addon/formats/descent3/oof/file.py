"""The `.oof` file as a whole: bytes <-> `Oof`, chunk by chunk.

The engine does not look at the length of a chunk it knows; here it bounds the chunk. A body that does not read as what
its id promises is kept as bytes and reported. Refused is only what the engine refuses, and what is no model of this
game: FreeSpace and Descent 1 and 2 begin their models with the same four letters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ....core import names
from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.finite import warn_not_finite
from ....core.report import Report
from . import animation
from .animation import TIMED_SINCE, PositionTracks, RotationTracks
from .document import MAGIC, NEWEST, OLDEST, Oof, Section, Value
from .geometry import ObjectHeader, Remark, SubObject, TextureNames
from .points import (
    GUN_PARENTS_SINCE,
    POINT,
    POINT_WITHOUT_PARENT,
    AttachPoints,
    AttachUps,
    Batteries,
    GroundPoints,
    GunPoints,
    SpecialPoints,
)

MOST_SUB_OBJECTS = 30
_ANOTHER_GAME = "Only models of Descent 3 (versions 1807 to 2300) are read here"
_FREESPACE = (b"HDR2", b"OBJ2")
_SKIPPED = (b"IDTA", b"GRID")


@dataclass(slots=True)
class _Context:
    """What reading a chunk may have to know of the file around it."""

    version: int
    sub_objects: int

    @property
    def major(self) -> int:
        return self.version // 100


Read = Callable[[Reader, _Context], Value]


def _read_guns(reader: Reader, context: _Context) -> GunPoints:
    return GunPoints.read(reader, POINT if context.version >= GUN_PARENTS_SINCE else POINT_WITHOUT_PARENT)


def _read_rotations(reader: Reader, context: _Context) -> RotationTracks:
    timed = context.major >= TIMED_SINCE
    layout = animation.ROTATION_KEY if timed else animation.UNTIMED_ROTATION_KEY
    return RotationTracks.read(reader, layout, context.sub_objects)


def _read_positions(reader: Reader, context: _Context) -> PositionTracks:
    timed = context.major >= TIMED_SINCE
    layout = animation.POSITION_KEY if timed else animation.UNTIMED_POSITION_KEY
    return PositionTracks.read(reader, layout, context.sub_objects)


_KINDS: dict[bytes, Read] = {
    b"OHDR": lambda reader, _: ObjectHeader.read(reader),
    b"TXTR": lambda reader, _: TextureNames.read(reader),
    b"SOBJ": lambda reader, context: SubObject.read(reader, context.major),
    b"GPNT": _read_guns,
    b"GRND": lambda reader, _: GroundPoints.read(reader),
    b"ATCH": lambda reader, _: AttachPoints.read(reader),
    b"NATH": lambda reader, _: AttachUps.read(reader),
    b"WBAT": lambda reader, _: Batteries.read(reader),
    b"SPCL": lambda reader, _: SpecialPoints.read(reader),
    b"RANI": _read_rotations,
    b"ANIM": _read_rotations,
    b"PANI": _read_positions,
    b"PINF": lambda reader, _: Remark.read(reader),
}


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are a model's of a version that is read here."""
    return head[:4] == MAGIC and len(head) >= 8 and OLDEST <= int.from_bytes(head[4:8], "little", signed=True) <= NEWEST


def read(data: bytes, file: str, report: Report) -> Oof:
    """The document of an `.oof`. Raises `ReadError` where it is cut off, of another game, or has no header."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    reader.refuse_git_pointer()
    version = _read_version(reader)
    spans = _read_chunks(reader)
    if any(identifier in _FREESPACE for identifier, _ in spans):
        raise ReadError("this is a model of FreeSpace, not of Descent 3", file=file, remedy=_ANOTHER_GAME)
    header = next((body for identifier, body in spans if identifier == b"OHDR"), None)
    if header is None:
        raise ReadError("there is no header (chunk OHDR): not a whole model", file=file, remedy="Copy it again")
    sub_objects = ObjectHeader.read(Reader(header.data, file, "OHDR", header.start)).sub_objects
    context = _Context(version, sub_objects)
    sections = [_read_section(identifier, body, context, report) for identifier, body in spans]
    document = Oof(version, sections, reader.rest(), file)
    if len(document.tail):
        report.warn(f"{len(document.tail)} stray bytes at the end, which can stop the game; kept")
    parts = [section for section in sections if section.id == b"SOBJ"]
    if parts and all(section.value is None for section in parts):
        raise ReadError("no sub-object is one of Descent 3", file=file, chunk="SOBJ", remedy=_ANOTHER_GAME)
    _report_oddities(document, report)
    return document


def _read_version(reader: Reader) -> int:
    if bytes(reader.take(min(4, reader.remaining))) != MAGIC:
        reader.position = 0
        raise reader.error("a model begins with PSPO, this file does not", _ANOTHER_GAME)
    version = reader.i32("the version")
    if not OLDEST <= version <= NEWEST:
        reader.position = 4
        raise reader.error(f"version {version} is not known to the game", _ANOTHER_GAME)
    return version


def _read_chunks(reader: Reader) -> list[tuple[bytes, Reader]]:
    spans = []
    while reader.remaining >= 8:
        identifier = bytes(reader.take(4))
        reader.chunk = label(identifier)
        size = reader.i32("the length of a chunk")
        spans.append((identifier, reader.part(size, label(identifier), "the chunk")))
    reader.chunk = ""
    return spans


def label(identifier: bytes) -> str:
    """A chunk's letters, those that are none escaped."""
    return names.decode(identifier) if identifier.isalnum() else identifier.hex()


def _read_section(identifier: bytes, body: Reader, context: _Context, report: Report) -> Section:
    place = label(identifier)
    read_value = _KINDS.get(identifier)
    if read_value is None:
        known = "the game passes over it" if identifier in _SKIPPED else "its meaning is not known"
        report.note(f"{known}; kept as it is", place)
        return Section(identifier, body=body.data)
    try:
        value = read_value(body, context)
    except ReadError as wrong:
        report.warn(f"not readable, kept as it is: {wrong.problem}", f"{place} at {body.start}")
        return Section(identifier, body=body.data)
    section = Section(identifier, value, tail=body.rest())
    if isinstance(value, SubObject):
        # Tools leave NaN as normals of vertices that no face uses: nobody looks at these.
        used = np.intersect1d(value.faces.corners["vertex"], np.arange(len(value.normals)))
        warn_not_finite(report, f"{place} {value.label}", replace(value, normals=value.normals[used]))
    else:
        warn_not_finite(report, place, value)
    if len(section.tail):
        finding = f"{len(section.tail)} bytes are left over, which the game would take for a chunk; kept"
        report.warn(finding, f"{place} at {body.start}")
    return section


def _report_oddities(document: Oof, report: Report) -> None:
    """What the engine would stumble over."""
    ids = [section.id for section in document.sections]
    announced = document.header.sub_objects
    if announced > MOST_SUB_OBJECTS:
        report.warn(f"{announced} sub-objects; the game takes {MOST_SUB_OBJECTS}", "OHDR")
    if ids.count(b"OHDR") > 1:
        report.warn("there are several headers; the first counts here", "OHDR")
    early = {label(found) for found in ids[: ids.index(b"OHDR")] if found in (b"SOBJ", b"RANI", b"ANIM", b"PANI")}
    for place in sorted(early):
        report.warn("stands before the header, where the game cannot read it", place)
    if b"NATH" in ids and (b"ATCH" not in ids or ids.index(b"NATH") < ids.index(b"ATCH")):
        report.warn("stands before the attach points it belongs to", "NATH")
    if ids.count(b"RANI") + ids.count(b"ANIM") > 1:
        report.warn("there are several chunks of rotation keys; the last counts", "RANI")
    found = [part.index for part in document.all(SubObject)]
    if len(found) != announced or sorted(found) != list(range(len(found))):
        report.warn(
            f"{announced} sub-objects are announced, {len(found)} are there, or their numbers are wrong", "SOBJ"
        )
    textures = len(document.textures)
    for part in document.sub_objects:
        faces = part.faces
        textured = faces.rows["texture"][faces.is_textured]
        if len(textured) and (textured.min() < 0 or textured.max() >= textures):
            report.warn("faces name a texture that is not in the table", part.label)
        vertices = faces.corners["vertex"]
        if len(vertices) and (vertices.min() < 0 or vertices.max() >= len(part.positions)):
            report.warn("faces point behind the last vertex", part.label)
        for stored in (part.name, part.properties):
            if not stored.endswith(b"\0"):
                report.warn("a text has no end; the game reads on behind it", part.label)


def write(document: Oof) -> bytes:
    """The file's bytes, from the typed values."""
    writer = Writer()
    writer.raw(MAGIC)
    writer.i32(document.version)
    for section in document.sections:
        body = section_bytes(section, document.major)
        writer.raw(section.id)
        writer.i32(len(body))
        writer.raw(body)
    writer.raw(document.tail)
    return writer.getvalue()


def section_bytes(section: Section, major: int) -> bytes:
    """The body of a chunk in a file of this version's hundreds."""
    if section.value is None:
        return bytes(section.body)
    writer = Writer()
    if isinstance(section.value, SubObject):
        section.value.write(writer, major)
    else:
        section.value.write(writer)
    writer.raw(section.tail)
    return writer.getvalue()


recompose = write


def raw_size(document: Oof) -> int:
    """Bytes kept without knowing what they mean."""
    return len(document.tail) + sum(len(section.body) + len(section.tail) for section in document.sections)
