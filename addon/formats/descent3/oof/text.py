"""An `.oof` file as text: a summary, a complete dump, and the differences between two files."""

from __future__ import annotations

from ....core.report import counted
from ....core.text import extent
from ....core.walk import Entries, View, Views
from .commands import parse_property
from .document import (
    AttachPoints,
    Batteries,
    Faces,
    GroundPoints,
    GunPoints,
    Oof,
    Points,
    PositionTracks,
    RotationTracks,
    Section,
    SpecialPoints,
    SubObject,
    Tracks,
    chunk_label,
)

_WORDS = {
    b"OHDR": "header",
    b"TXTR": "textures",
    b"GPNT": "gun points",
    b"GRND": "ground points",
    b"ATCH": "attach points",
    b"NATH": "up vectors",
    b"WBAT": "batteries",
    b"SPCL": "special points",
    b"RANI": "rotation keys",
    b"ANIM": "rotation keys",
    b"PANI": "position keys",
    b"PINF": "remark",
}


def describe(document: Oof) -> list[str]:
    """Return a summary: version, size, sub-objects, points, keys, textures."""
    parts = document.sub_objects
    vertices, faces = sum(len(part.positions) for part in parts), sum(len(part.faces) for part in parts)
    lines = [
        f"version {document.version}, {counted(len(parts), 'sub-object')}, {vertices} vertices, {faces} faces",
        f"radius {document.header.radius}, box (file axes) {extent(document.header.box)}",
    ]
    parents = {part.index: part.label for part in parts}
    for part in parts:
        below = f" of {parents[part.parent]}" if part.parent in parents and part.parent != part.index else ""
        command = parse_property(part.property_text)
        known = "" if command is None or command.works else f" (not taken: {command.problem})"
        properties = f", {part.property_text}{known}" if part.property_text else ""
        lines.append(f"{part.index} {part.label}{below}: {counted(len(part.faces), 'face')}{properties}")
    lines += [line for line in (_point_words(document), _motion_words(document)) if line]
    lines.append(f"textures: {', '.join(document.textures) or 'none'}")
    return lines


def _point_words(document: Oof) -> str:
    kinds = ((GunPoints, "gun point"), (GroundPoints, "ground point"), (AttachPoints, "attach point"))
    kinds_present = [(document.last(kind), noun) for kind, noun in kinds]
    words = [counted(len(points.rows), noun) for points, noun in kinds_present if points is not None]
    batteries = document.last(Batteries)
    if batteries is not None and batteries.batteries:
        words.append(counted(len(batteries.batteries), "battery|batteries"))
    return ", ".join(words)


def _motion_words(document: Oof) -> str:
    words = []
    ends = [0]
    for kind, noun in ((RotationTracks, "rotation key"), (PositionTracks, "position key")):
        chunk = document.last(kind)
        if chunk is not None:
            words.append(counted(sum(map(len, chunk.keys)), noun))
            ends += [0] if chunk.ranges is None else chunk.ranges.ravel().tolist()
    return f"{', '.join(words)}, ticks {min(ends)} to {max(ends)}" if words else ""


def _title(section: Section) -> str:
    if isinstance(section.value, SubObject):
        return f"sub-object {section.value.label!r}"
    return _WORDS.get(section.id, f"chunk {chunk_label(section.id)}")


def _entries(section: Section) -> Entries:
    yield "chunk", chunk_label(section.id)
    yield "", section.value
    yield "bytes", memoryview(b"" if section.value is not None else section.body)
    yield "tail", memoryview(section.tail)


VIEWS: Views = {
    Section: View(_title, entries=_entries),
    **dict.fromkeys((SubObject, Faces), View(words={"faces": "", "rows": ""})),
    **dict.fromkeys(
        (Points, Tracks, Batteries, SpecialPoints),
        View(words=dict.fromkeys(("rows", "keys", "batteries", "points"), "")),
    ),
}
