"""A `.p3d` as text: a summary, a complete dump for text tools, and the differences between two models."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from ....core.report import counted, listed
from ....core.text import array_differences, array_lines, extent, scalar
from ..names import decode
from .document import Lod, P3d


def describe(document: P3d) -> list[str]:
    """Return a summary of a few lines."""
    lines = [f"version {document.version:#x}, {counted(len(document.lods), 'LOD')}"]
    for number, lod in enumerate(document.lods):
        counts = f"{counted(len(lod.points), 'point')}, {counted(len(lod.faces), 'face')}"
        lines.append(f"LOD {number} ({lod.kind}, {lod.resolution:g}): {counts}")
        lines.append(f"  {extent(lod.points['position'])}")
        selections = [name for name, _, _ in lod.selections()]
        if selections:
            lines.append(f"  selections: {listed(selections)}")
        properties = [f"{name}={value}" for name, value in lod.properties().items()]
        if properties:
            lines.append(f"  properties: {listed(properties)}")
    return lines


def dump(document: P3d) -> Iterator[str]:
    """Yield the whole document as text."""
    yield f"version {document.version}"
    for number, lod in enumerate(document.lods):
        yield from (f"LOD {number} {line}" for line in _lod_lines(lod))
    yield f"bytes behind: {bytes(document.tail).hex() or '-'}"


def _lod_lines(lod: Lod) -> Iterator[str]:
    yield f"{decode(lod.signature)} version {lod.version} flags {lod.flags:#x} resolution {scalar(lod.resolution)}"
    yield f"rest of the header {bytes(lod.header_rest).hex() or '-'}"
    yield from array_lines("point", lod.points)
    yield from array_lines("normal", lod.normals)
    for number, (texture, material) in enumerate(lod.texts):
        yield f"texts {number} {decode(texture)!r} {decode(material)!r}"
    yield from array_lines("face", lod.faces[["count", "flags"]])
    yield from array_lines("corner", lod.faces["corners"])
    yield from array_lines("face texts", lod.face_texts)
    for tag in lod.tags:
        size = len(tag.data) - tag.left_out
        yield f"tag {decode(tag.field)!r} active {tag.active} size {size} {bytes(tag.data).hex() or '-'}"


def differences(first: P3d, second: P3d) -> Iterator[str]:
    """Yield the differences between two documents, LOD by LOD, wherever in the files they are."""
    if first.version != second.version:
        yield f"version: {first.version} / {second.version}"
    pairs = pairs_of(first.lods, second.lods)
    order = list(pairs.values())
    if order != sorted(order):
        yield "the LODs are in another order"
    for number, one in enumerate(first.lods):
        if number in pairs:
            lines = lod_differences(one, second.lods[pairs[number]])
            yield from (f"{_title(number, one)}: {line}" for line in lines)
        else:
            yield f"{_title(number, one)} is only in the first"
    paired = set(order)
    for number, other in enumerate(second.lods):
        if number not in paired:
            yield f"{_title(number, other)} is only in the second"
    if bytes(first.tail) != bytes(second.tail):
        yield "bytes behind the last LOD differ"


def _title(number: int, lod: Lod) -> str:
    return f"LOD {number} ({lod.kind}, {lod.resolution:g})"


def pairs_of(ones: list[Lod], others: list[Lod]) -> dict[int, int]:
    """Return index -> index of the LODs of one resolution, then of one kind, which are paired in their order."""
    result: dict[int, int] = {}
    for key in (_resolution, _kind):
        waiting: dict[str | bytes, deque[int]] = defaultdict(deque)
        paired = set(result.values())
        for number, lod in enumerate(others):
            if number not in paired:
                waiting[key(lod)].append(number)
        for number, lod in enumerate(ones):
            if number not in result and waiting[key(lod)]:
                result[number] = waiting[key(lod)].popleft()
    return dict(sorted(result.items()))


def _resolution(lod: Lod) -> bytes:
    return lod.resolution.tobytes()


def _kind(lod: Lod) -> str:
    return lod.kind


def lod_differences(one: Lod, other: Lod) -> Iterator[str]:
    """Yield the differences between two LODs."""
    for field in ("signature", "version", "flags", "texts"):
        a, b = getattr(one, field), getattr(other, field)
        if a != b:
            yield f"{field}: {a} / {b}" if field != "texts" else "textures and materials differ"
    if one.resolution.tobytes() != other.resolution.tobytes():
        yield f"resolution: {scalar(one.resolution)} / {scalar(other.resolution)}"
    if bytes(one.header_rest) != bytes(other.header_rest):
        yield "the rest of the header differs"
    for field in ("points", "normals", "faces"):
        yield from array_differences(field, getattr(one, field), getattr(other, field))
    yield from array_differences("texts of the faces", one.face_texts, other.face_texts)
    tags = [[(tag.field, tag.active, tag.left_out, bytes(tag.data)) for tag in lod.tags] for lod in (one, other)]
    if tags[0] != tags[1]:
        changed = {field for field, *_ in set(tags[0]) ^ set(tags[1])}
        yield f"tags: {', '.join(sorted(decode(field.partition(bytes(1))[0]) for field in changed)) or 'another order'}"
