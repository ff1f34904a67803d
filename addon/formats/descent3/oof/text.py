"""An `.oof` in words: a summary, a complete dump for text tools, and what differs between two."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.text import counted, extent, value_differences, value_lines
from . import properties
from .animation import PositionTracks, RotationTracks
from .document import Oof, Section
from .file import label
from .geometry import SubObject
from .points import AttachPoints, Batteries, GroundPoints, GunPoints

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
    """A few lines for people."""
    parts = document.sub_objects
    vertices, faces = sum(len(part.positions) for part in parts), sum(len(part.faces) for part in parts)
    lines = [
        f"version {document.version}, {counted(len(parts), 'sub-object')}, {vertices} vertices, {faces} faces",
        f"radius {document.header.radius}, box (file axes) {extent(document.header.box)}",
    ]
    parents = {part.index: part.label for part in parts}
    for part in parts:
        below = f" of {parents[part.parent]}" if part.parent in parents and part.parent != part.index else ""
        said = properties.parse(part.property_text)
        known = "" if said is None or said.works else f" (not taken: {said.problem})"
        shown = f", {part.property_text}{known}" if part.property_text else ""
        lines.append(f"{part.index} {part.label}{below}: {counted(len(part.faces), 'face')}{shown}")
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
    """Everything, a value or a row of numbers a line. Equal texts are equal bytes."""
    yield f"version {document.version}"
    for section in document.sections:
        yield f"chunk {section.id.hex()} {label(section.id)}"
        if section.value is None:
            yield f"  {bytes(section.body).hex()}"
        else:
            yield from (f"  {line}" for line in value_lines("", section.value))
        if len(section.tail):
            yield f"  tail {bytes(section.tail).hex()}"
    if len(document.tail):
        yield f"tail {bytes(document.tail).hex()}"


def differences(first: Oof, second: Oof) -> Iterator[str]:
    """What differs, by chunk, sub-object and field."""
    if first.version != second.version:
        yield f"version: {first.version} / {second.version}"
    ones, others = _by_place(first), _by_place(second)
    for place in ones:
        if place not in others:
            yield f"{place} is only in the first"
    for place in others:
        if place not in ones:
            yield f"{place} is only in the second"
    together = [place for place in ones if place in others]
    if together != [place for place in others if place in ones]:
        yield "the chunks are in another order"
    for place in together:
        yield from _section_differences(place, ones[place], others[place])
    if first.tail != second.tail:
        yield "bytes behind the last chunk differ"


def _by_place(document: Oof) -> dict[str, Section]:
    """Sub-objects by their names, other chunks by their kind; what comes again has a number."""
    found: dict[str, Section] = {}
    counts: dict[str, int] = {}
    for section in document.sections:
        if isinstance(section.value, SubObject):
            place = f"sub-object {section.value.label!r}"
        else:
            place = _WORDS.get(section.id, f"chunk {label(section.id)}")
        counts[place] = counts.get(place, 0) + 1
        found[place if counts[place] == 1 else f"{place} ({counts[place]})"] = section
    return found


def _section_differences(place: str, one: Section, other: Section) -> Iterator[str]:
    if one.id != other.id:
        yield f"{place}: chunk {label(one.id)} / {label(other.id)}"
    if type(one.value) is not type(other.value):
        yield f"{place}: readable / not readable" if one.value is not None else f"{place}: not readable / readable"
    elif one.value is None:
        if one.body != other.body:
            yield f"{place}: its bytes differ"
    else:
        yield from value_differences(place, one.value, other.value, _word)
    if one.tail != other.tail:
        yield f"{place}: bytes left over differ"


def _word(name: str) -> str:
    return "" if name in ("faces", "rows", "keys", "batteries", "points") else f" {name.replace('_', ' ')}"
