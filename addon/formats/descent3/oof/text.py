"""An `.oof` file as text: a summary, a complete dump, and the differences between two files."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.report import counted
from ....core.text import extent, value_differences, value_lines
from .commands import parse_property
from .document import (
    AttachPoints,
    Batteries,
    GroundPoints,
    GunPoints,
    Oof,
    PositionTracks,
    RotationTracks,
    Section,
    SubObject,
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
    found = [(document.last(kind), noun) for kind, noun in kinds]
    words = [counted(len(points.rows), noun) for points, noun in found if points is not None]
    batteries = document.last(Batteries)
    if batteries is not None and batteries.batteries:
        words.append(counted(len(batteries.batteries), "battery", "batteries"))
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


def dump(document: Oof) -> Iterator[str]:
    """Yield the whole document as text, one value or row of numbers per line. Equal dumps mean equal bytes."""
    yield f"version {document.version}"
    for section in document.sections:
        yield f"chunk {section.id.hex()} {chunk_label(section.id)}"
        if section.value is None:
            yield f"  {bytes(section.body).hex()}"
        else:
            yield from (f"  {line}" for line in value_lines("", section.value))
        if len(section.tail):
            yield f"  tail {bytes(section.tail).hex()}"
    if len(document.tail):
        yield f"tail {bytes(document.tail).hex()}"


def differences(first: Oof, second: Oof) -> Iterator[str]:
    """Yield the differences between two models, by chunk, sub-object and field."""
    if first.version != second.version:
        yield f"version: {first.version} / {second.version}"
    ones, others = _by_title(first), _by_title(second)
    for title in ones:
        if title not in others:
            yield f"{title} is only in the first"
    for title in others:
        if title not in ones:
            yield f"{title} is only in the second"
    together = [title for title in ones if title in others]
    if together != [title for title in others if title in ones]:
        yield "the chunks are in another order"
    for title in together:
        yield from _section_differences(title, ones[title], others[title])
    if first.tail != second.tail:
        yield "bytes behind the last chunk differ"


def _by_title(document: Oof) -> dict[str, Section]:
    """Return the chunks by title: sub-objects by name, others by kind; repeated titles are numbered."""
    found: dict[str, Section] = {}
    counts: dict[str, int] = {}
    for section in document.sections:
        if isinstance(section.value, SubObject):
            title = f"sub-object {section.value.label!r}"
        else:
            title = _WORDS.get(section.id, f"chunk {chunk_label(section.id)}")
        counts[title] = counts.get(title, 0) + 1
        found[title if counts[title] == 1 else f"{title} ({counts[title]})"] = section
    return found


def _section_differences(title: str, one: Section, other: Section) -> Iterator[str]:
    if one.id != other.id:
        yield f"{title}: chunk {chunk_label(one.id)} / {chunk_label(other.id)}"
    if type(one.value) is not type(other.value):
        yield f"{title}: readable / not readable" if one.value is not None else f"{title}: not readable / readable"
    elif one.value is None:
        if one.body != other.body:
            yield f"{title}: its bytes differ"
    else:
        yield from value_differences(title, one.value, other.value, _word)
    if one.tail != other.tail:
        yield f"{title}: bytes left over differ"


def _word(name: str) -> str:
    return "" if name in ("faces", "rows", "keys", "batteries", "points") else f" {name.replace('_', ' ')}"
