"""The faces of a sub-object: records of different lengths, read and written as arrays.

A record is the normal, the number of corners, whether it is textured, the texture's number or three bytes of colour,
the corners, and from version 2100 on two sizes that only the level editor uses. Where a record ends hangs on what
stands in it, so they are walked through; runs of equal ones, which is nearly all of them, in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader

FACE = np.dtype(
    [
        ("normal", "<f4", 3),
        ("textured", "<i4"),
        ("texture", "<i4"),
        ("colour", "u1", 3),
        ("sizes", "<f4", 2),
    ]
)
"""``textured`` 0 for flat colour; ``texture`` -1 and ``colour`` 0 where they do not apply."""
CORNER = np.dtype([("vertex", "<i4"), ("uv", "<f4", 2)])
SIZES_SINCE = 21
"""Hundreds of the version."""

_FIXED = np.dtype([("normal", "<f4", 3), ("corners", "<i4"), ("textured", "<i4")])
_STEPS = 8
"""So many equal records in a row, and the next ones are looked at together."""
_BLOCK = 4096


@dataclass(slots=True, eq=False)
class Faces:
    """``rows`` (faces,) of `FACE`, ``counts`` (faces,) corners of each, ``corners`` (corners,) of `CORNER`."""

    rows: NDArray[Any]
    counts: NDArray[np.int32]
    corners: NDArray[Any]

    @staticmethod
    def none() -> Faces:
        """Not one face."""
        return Faces(np.zeros(0, FACE), np.zeros(0, np.int32), np.zeros(0, CORNER))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(faces + 1,) where the corners of each face begin."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts, dtype=np.int64)])

    @property
    def is_textured(self) -> NDArray[np.bool_]:
        """(faces,) whether they have a texture."""
        textured: NDArray[np.bool_] = self.rows["textured"] != 0
        return textured


def _record(corners: int, textured: bool, sizes: bool) -> np.dtype[Any]:
    fields: list[Any] = [*((name, *_FIXED.fields[name][:1]) for name in _FIXED.names or () if _FIXED.fields)]
    fields.append(("texture", "<i4") if textured else ("colour", "u1", 3))
    fields.append(("list", CORNER, (corners,)))
    if sizes:
        fields.append(("sizes", "<f4", 2))
    return np.dtype(fields)


def _size(corners: int, textured: bool, sizes: bool) -> int:
    return _FIXED.itemsize + (4 if textured else 3) + corners * CORNER.itemsize + (8 if sizes else 0)


def read_faces(reader: Reader, count: int, *, sizes: bool) -> Faces:
    """So many faces; ``sizes`` where records end with them. Raises `ReadError` where one does not fit."""
    least = _size(0, False, sizes)
    if count < 0 or count * least > reader.remaining:
        raise reader.error(f"{count} faces need at least {count * least} bytes, {reader.remaining} are left")
    starts, counts, textured = _walk(reader, count, sizes)
    kinds = 2 * counts.astype(np.int64) + textured
    faces = Faces(np.zeros(count, FACE), counts, np.zeros(int(counts.sum(dtype=np.int64)), CORNER))
    faces.rows["texture"] = -1
    first = faces.starts
    data = np.frombuffer(reader.data, np.uint8)
    for kind in np.unique(kinds):
        chosen = np.flatnonzero(kinds == kind)
        layout = _record(int(kind) // 2, bool(kind % 2), sizes)
        rows = _gather(data, starts[chosen], layout)
        for name in ("normal", "textured", "texture", "colour", "sizes"):
            if name in (layout.names or ()):
                faces.rows[name][chosen] = rows[name]
        if kind // 2:
            places = first[chosen][:, None] + np.arange(kind // 2)
            faces.corners[places] = rows["list"]
    return faces


def _walk(reader: Reader, count: int, sizes: bool) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]]:
    """Where each record starts, how many corners it has, and whether it is textured; the reader stands behind them."""
    starts = np.zeros(count, np.int64)
    counts = np.zeros(count, np.int32)
    textured = np.zeros(count, np.bool_)
    number, equal, before = 0, 0, (-1, False)
    while number < count:
        start = reader.position
        head = reader.array(_FIXED, 1, what="a face")
        kind = (int(head["corners"][0]), bool(head["textured"][0]))
        if kind[0] < 0:
            raise reader.error(f"a face of {kind[0]} corners")
        size = _size(*kind, sizes)
        reader.position = start
        equal = equal + 1 if kind == before else 0
        before = kind
        run = 1
        if equal >= _STEPS:
            run = _equal_records(reader, kind, size, min(count - number, _BLOCK))
        reader.take(run * size, f"a face of {kind[0]} corners")
        starts[number : number + run] = start + size * np.arange(run)
        counts[number : number + run] = kind[0]
        textured[number : number + run] = kind[1]
        number += run
    return starts, counts, textured


def _equal_records(reader: Reader, kind: tuple[int, bool], size: int, most: int) -> int:
    """How many of the next records, at least one and at most so many, are of this kind and fit."""
    most = min(most, reader.remaining // size)
    if most < 2:
        return 1
    data = np.frombuffer(reader.data, np.uint8, most * size, reader.position).reshape(most, size)
    heads = np.ascontiguousarray(data[:, 12:20]).view("<i4")
    same = (heads[:, 0] == kind[0]) & ((heads[:, 1] != 0) == kind[1])
    return most if same.all() else max(int(np.argmin(same)), 1)


def _gather(data: NDArray[np.uint8], starts: NDArray[np.int64], layout: np.dtype[Any]) -> NDArray[Any]:
    """The records that begin at these places; where they lie in one run nothing is copied."""
    size, count = layout.itemsize, len(starts)
    if int(starts[-1]) - int(starts[0]) == (count - 1) * size:
        return data[int(starts[0]) : int(starts[0]) + count * size].view(layout)
    result = np.empty((count, size), np.uint8)
    result[:] = data[starts[:, None] + np.arange(size)]
    return result.view(layout)[:, 0]


def face_bytes(faces: Faces, *, sizes: bool) -> bytes:
    """The records of faces, from their typed values."""
    textured = faces.is_textured
    counts = faces.counts.astype(np.int64)
    lengths = _FIXED.itemsize + np.where(textured, 4, 3) + counts * CORNER.itemsize + (8 if sizes else 0)
    starts = np.cumsum(lengths) - lengths
    result = np.empty(int(lengths.sum()), np.uint8)
    first = faces.starts
    for kind in np.unique(2 * counts + textured):
        chosen = np.flatnonzero(2 * counts + textured == kind)
        layout = _record(int(kind) // 2, bool(kind % 2), sizes)
        rows = np.zeros(len(chosen), layout)
        rows["corners"] = kind // 2
        for name in ("normal", "textured", "texture", "colour", "sizes"):
            if name in (layout.names or ()):
                rows[name] = faces.rows[name][chosen]
        if kind // 2:
            rows["list"] = faces.corners[first[chosen][:, None] + np.arange(kind // 2)]
        raw = rows.view(np.uint8).reshape(len(chosen), layout.itemsize)
        if int(starts[chosen[-1]]) - int(starts[chosen[0]]) == (len(chosen) - 1) * layout.itemsize:
            result[int(starts[chosen[0]]) : int(starts[chosen[-1]]) + layout.itemsize] = raw.ravel()
        else:
            result[starts[chosen][:, None] + np.arange(layout.itemsize)] = raw
    return result.tobytes()
