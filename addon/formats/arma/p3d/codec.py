"""Bytes <-> document of an editable `.p3d` (MLOD)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer, warn_not_finite
from ....core.errors import ReadError, WriteError
from ....core.report import Report, counted, say
from .document import (
    ARMA,
    BINARISED_MARK,
    FACE,
    FLASHPOINT,
    FURTHER_UVS,
    LAST_TAG,
    MARK,
    POINT,
    TAG_FIELD,
    TEXTURE_FIELD,
    UV_ID_SIZE,
    Lod,
    P3d,
    Tag,
)

HEADER_SIZE = 28
_SMALLEST_FACE = FACE.itemsize + 2
_COMPARED_SINGLY = 8
"""Faces of a run that are compared one by one; further ones are compared in blocks."""


def starts_like(head: bytes) -> bool:
    """Return whether a file's first bytes are the mark of a model, editable (MLOD) or binarised (ODOL)."""
    return head[:4] in (MARK, BINARISED_MARK)


def read(data: bytes, file: str, report: Report) -> P3d:
    """Parse an editable `.p3d`. Raises `ReadError`, also for the game's binarised models."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    _refuse_others(reader, bytes(data[:4]))
    reader.take(4)
    version = reader.u32("the version")
    count = reader.u32("the number of LODs")
    if not count:
        raise reader.error("there are no LODs in it")
    lods = []
    for number in range(count):
        reader.chunk = f"LOD {number}"
        lod = _read_lod(reader)
        _report_oddities(report, say("LOD {}", number), lod)
        warn_not_finite(report, say("LOD {}", number), lod.points, lod.normals, lod.faces, lod.resolution)
        lods.append(lod)
    reader.chunk = ""
    result = P3d(version, lods, reader.rest())
    if len(result.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the last LOD", len(result.tail)))
    return result


def write(document: P3d) -> bytes:
    """Return the file's bytes. Raises `WriteError`."""
    writer = Writer()
    writer.raw(MARK)
    writer.u32(document.version)
    writer.u32(len(document.lods))
    for lod in document.lods:
        _write_lod(writer, lod)
    writer.raw(document.tail)
    return writer.getvalue()


recompose = write
"""Equal to `write`: the document stores no typed field as bytes."""


def raw_size(document: P3d) -> int:
    """Return how many bytes are stored without being interpreted, payloads of unread tags included."""
    return len(document.tail) + sum(len(lod.header_rest) + sum(map(len, lod.unread())) for lod in document.lods)


def _refuse_others(reader: Reader, mark: bytes) -> None:
    if mark == BINARISED_MARK:
        version = int.from_bytes(reader.data[4:8], "little")
        raise reader.error(
            say("this is a binarised model (ODOL, version {}), made for the game and not for editing", version),
            "Use the model it was made from (MLOD), from its author or the game's published sample models",
        )
    if mark in (b"NLOD", b"SP3D"):
        words = "models of the oldest tools ({}) are not known here"
        raise reader.error(say(words, mark.decode()), "Save it again with Oxygen or Object Builder")
    if mark != MARK:
        words = "the file begins with {}: this is not a model"
        raise reader.error(say(words, repr(mark)[1:]), "Choose a .p3d that begins with MLOD")


def _read_lod(reader: Reader) -> Lod:
    signature = bytes(reader.take(4, "the LOD's mark"))
    if signature not in (ARMA, FLASHPOINT):
        raise reader.error(say("a LOD begins with {} instead of P3DM or SP3X", repr(signature)[1:]))
    size, version = reader.u32("the size of the header"), reader.u32("the version")
    points, normals, faces, flags = (
        reader.u32(what)
        for what in ("the number of points", "the number of normals", "the number of faces", "the number of flags")
    )
    if size < HEADER_SIZE:
        raise reader.error(say("the LOD's header has {} bytes, {} are the least", size, HEADER_SIZE))
    result = Lod(
        signature,
        version,
        flags,
        reader.take(size - HEADER_SIZE, "the rest of the header"),
        reader.array(POINT, points, what=counted(points, "point")),
        reader.array("<f4", normals, 3, what=counted(normals, "normal")),
        *(_read_faces(reader, faces) if signature == ARMA else _read_old_faces(reader, faces)),
    )
    if bytes(reader.take(4, "the mark of the tags")) != b"TAGG":
        raise reader.error("the LOD has no tags behind its faces")
    while not result.tags or result.tags[-1].name != LAST_TAG:
        result.tags.append(_read_tag(reader, result))
    result.resolution = reader.f32("the resolution")
    return result


def _write_lod(writer: Writer, lod: Lod) -> None:
    writer.raw(lod.signature)
    writer.u32(HEADER_SIZE + len(lod.header_rest))
    for number in (lod.version, len(lod.points), len(lod.normals), len(lod.faces), lod.flags):
        writer.u32(number)
    writer.raw(lod.header_rest)
    writer.raw(np.ascontiguousarray(lod.points).tobytes())
    writer.array(lod.normals, "<f4")
    _write_faces(writer, lod)
    writer.raw(b"TAGG")
    for tag in lod.tags:
        if lod.signature == ARMA:
            writer.u8(tag.active)
            writer.string(tag.field)
        elif len(tag.field) != TAG_FIELD:
            raise WriteError(say("the name {!r} is not in a field of {} bytes", tag.name, TAG_FIELD))
        else:
            writer.raw(tag.field)
        writer.u32(len(tag.data) - tag.left_out)
        writer.raw(tag.data)
    writer.f32(lod.resolution)


def _report_oddities(report: Report, where: str, lod: Lod) -> None:
    """Report what the game's tools do not write but files of mods have; it is kept."""
    other = ~np.isin(lod.faces["count"], (3, 4))
    missing = ~other & ~lod.complete_faces()
    for sentence, details in (
        ("faces without 3 or 4 corners are kept, but not shown", int(other.sum())),
        ("faces at points or normals that do not exist are kept, but not shown", int(missing.sum())),
        ("UV sets whose declared size leaves out their number are read nevertheless", _misdeclared(lod)),
    ):
        if details:
            report.warn(sentence, f"{where}: {details}")


def _misdeclared(lod: Lod) -> int:
    return sum(1 for tag in lod.tags if tag.left_out)


def _read_tag(reader: Reader, lod: Lod) -> Tag:
    active, field, size = _tag_head(reader, lod.signature)
    left_out = 0
    if field.partition(b"\0")[0] == FURTHER_UVS and size == 8 * int(lod.used_corners().sum()):
        left_out = UV_ID_SIZE if _tag_ends_at(reader, size + UV_ID_SIZE, lod.signature) else 0
        left_out = 0 if _tag_ends_at(reader, size, lod.signature) else left_out
    data = reader.take(size + left_out, say("the tag {!r}", field.partition(bytes(1))[0]))
    return Tag(field, data, active, left_out)


def _tag_head(reader: Reader, signature: bytes) -> tuple[int, bytes, int]:
    """Return whether the next tag is active, its name as stored, and its declared size."""
    active = reader.u8("whether a tag is active") if signature == ARMA else 1
    field = reader.string("a tag's name") if signature == ARMA else bytes(reader.take(TAG_FIELD, "a tag's name"))
    return active, field, reader.u32("the size of a tag")


def _tag_ends_at(reader: Reader, size: int, signature: bytes) -> bool:
    """Return whether a tag with a printable name, whose size fits, begins ``size`` bytes ahead."""
    ahead = Reader(reader.data[reader.position + size :])
    try:
        active, field, length = _tag_head(ahead, signature)
    except ReadError:
        return False
    name = field.partition(b"\0")[0]
    return active <= 1 and bool(name) and min(name) >= ord(" ") and length <= ahead.remaining


Faces = tuple[NDArray[np.void], list[tuple[bytes, bytes]], NDArray[np.int32]]


def _read_faces(reader: Reader, count: int) -> Faces:
    """Read faces, each followed by texture and material, which neighbours usually share: so they are read in runs."""
    reader.expect_room(count, "face", _SMALLEST_FACE)
    index: dict[tuple[bytes, bytes], int] = {}
    parts, lengths, which = [np.empty((0, FACE.itemsize), np.uint8)], [], []
    left = count
    while left:
        data = reader.data[reader.position :]
        ahead = Reader(data, reader.file, reader.chunk, reader.offset)
        ahead.take(FACE.itemsize, "a face")
        texts = ahead.string("a face's texture"), ahead.string("a face's material")
        stride = ahead.position
        run = _run_length(data, stride, min(left, len(data) // stride))
        rows = reader.array("u1", run, stride, what="faces")
        parts.append(rows[:, : FACE.itemsize])
        lengths.append(run)
        which.append(index.setdefault(texts, len(index)))
        left -= run
    faces = np.concatenate(parts).view(FACE).reshape(count)
    return faces, list(index), np.repeat(np.array(which, np.int32), np.array(lengths, np.intp))


def _read_old_faces(reader: Reader, count: int) -> Faces:
    """Read faces of Operation Flashpoint: each is preceded by a texture name in a field of 32 bytes."""
    stride = TEXTURE_FIELD + FACE.itemsize
    rows = reader.array("u1", count, stride, what=counted(count, "face"))
    faces = np.ascontiguousarray(rows[:, TEXTURE_FIELD:]).view(FACE).reshape(count)
    fields = np.ascontiguousarray(rows[:, :TEXTURE_FIELD]).view(f"V{TEXTURE_FIELD}").reshape(count)
    index: dict[bytes, int] = {}
    which = [index.setdefault(field, len(index)) for field in fields.tolist()]
    return faces, [(field, b"") for field in index], np.array(which, np.int32)


def _write_faces(writer: Writer, lod: Lod) -> None:
    faces = np.ascontiguousarray(lod.faces).view(np.uint8).reshape(len(lod.faces), FACE.itemsize)
    ends = np.flatnonzero(np.diff(lod.face_texts)) + 1
    for start, end in zip([0, *ends.tolist()], [*ends.tolist(), len(faces)], strict=True):
        if start == end:
            continue
        texture, material = lod.texts[lod.face_texts[start]]
        prefix, suffix = (b"", texture + b"\0" + material + b"\0") if lod.signature == ARMA else (texture, b"")
        rows = np.empty((end - start, len(prefix) + FACE.itemsize + len(suffix)), np.uint8)
        rows[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
        rows[:, len(prefix) : len(prefix) + FACE.itemsize] = faces[start:end]
        rows[:, len(prefix) + FACE.itemsize :] = np.frombuffer(suffix, np.uint8)
        writer.raw(rows.tobytes())


def _run_length(data: memoryview, stride: int, most: int) -> int:
    """Return how many faces, counted from the first, have the same texture and material bytes after their corners."""
    texts = bytes(data[FACE.itemsize : stride])
    run = 1
    while run < min(_COMPARED_SINGLY, most):
        if data[run * stride + FACE.itemsize : (run + 1) * stride] != texts:
            return run
        run += 1
    wanted = np.frombuffer(texts, np.uint8)
    step = _COMPARED_SINGLY
    while run < most:
        block = min(step, most - run)
        rows = np.frombuffer(data, np.uint8, block * stride, run * stride).reshape(block, stride)
        other = np.flatnonzero((rows[:, FACE.itemsize :] != wanted).any(axis=1))
        if len(other):
            return run + int(other[0])
        run += block
        step *= 4
    return run
