"""Chunk 3 of `level`, the visuals: bytes <-> columns, for all visuals at once.

A visual, or a chunk of one, that is not what its id promises is kept as bytes, so that one broken visual does not cost
the level.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes, Reader
from ....core.finite import warn_not_finite
from ....core.report import Report
from ....core.text import counted_plural
from ..chunks import chunk_path
from .document import ENTRY, FIXED, WINDOW, Kind, Lists, Visuals, Windows

_CHUNK = struct.Struct("<II")
_COUNT = struct.Struct("<I")
_CHILD = np.dtype("<u4")
_WINDOWS_HEAD = 20
"""Four reserved words and the number of windows."""
_PLAIN = {int(kind): kind for kind in (*FIXED, Kind.CHILDREN, Kind.WINDOWS)}
_IN_FAST_PATH = {int(kind): kind for kind in (Kind.CONTAINER, Kind.WINDOWS)}


@dataclass(slots=True)
class _Walk:
    """What the walk over the chunks collects: the entries, and for each kind where the bodies begin and their sizes."""

    data: memoryview
    ids: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    at: dict[int, list[int]] = field(default_factory=lambda: {int(kind): [] for kind in Kind})
    sizes: dict[int, list[int]] = field(default_factory=lambda: {int(kind): [] for kind in Kind})
    unread: list[str] = field(default_factory=list)

    def add(self, identifier: int, depth: int, kind: int, at: int, size: int) -> None:
        """Note a chunk."""
        self.ids.append(identifier)
        self.depths.append(depth)
        self.kinds.append(kind)
        if kind != Kind.NESTED:
            self.at[kind].append(at)
            self.sizes[kind].append(size)


def read_visuals(reader: Reader, report: Report) -> Visuals:
    """The visuals from a reader of the body of chunk 3. Raises `ReadError` where a visual is longer than the chunk."""
    walk = _Walk(reader.data)
    end = len(reader.data)
    at = reader.position
    while end - at >= _CHUNK.size:
        identifier, size = _CHUNK.unpack_from(walk.data, at)
        if size > end - at - _CHUNK.size:
            reader.position = at
            raise reader.error(f"visual {identifier} claims {size} bytes, {end - at - _CHUNK.size} are left")
        at += _CHUNK.size
        inner = list(_chunks(walk.data, at, at + size))
        if inner and inner[-1][1] < 0:
            walk.unread.append(chunk_path(reader.chunk, identifier))
            walk.add(identifier, 0, Kind.OPAQUE, at, size)
        else:
            walk.add(identifier, 0, Kind.NESTED, at, size)
            _walk_visual(walk, inner)
        at += size
    tail = walk.data[at:]
    if len(tail):
        report.warn(f"{counted_plural(len(tail), 'extra bytes')} after the last visual; kept", reader.chunk)
    for place in walk.unread:
        report.warn("the visual's chunks do not fit into it; kept unchanged, not shown", place)
    return _gathered(walk, tail, report)


def _chunks(data: memoryview, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Id, offset of the body and size of each chunk; an offset of -1 ends the list where they do not fit."""
    while at < end:
        if end - at < _CHUNK.size:
            yield 0, -1, 0
            return
        identifier, size = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if size > end - at:
            yield 0, -1, 0
            return
        yield identifier, at, size
        at += size


def _walk_visual(walk: _Walk, inner: list[tuple[int, int, int]]) -> None:
    for identifier, at, size in inner:
        if identifier == Kind.NESTED:
            nested = list(_chunks(walk.data, at, at + size))
            if not nested or nested[-1][1] >= 0:
                walk.add(identifier, 1, Kind.NESTED, at, size)
                for number, start, length in nested:
                    kind = _IN_FAST_PATH.get(number, Kind.OPAQUE)
                    walk.add(number, 2, kind if _fits(walk.data, kind, start, length) else Kind.OPAQUE, start, length)
                continue
        kind = _PLAIN.get(identifier, Kind.OPAQUE)
        walk.add(identifier, 1, kind if _fits(walk.data, kind, at, size) else Kind.OPAQUE, at, size)


def _fits(data: memoryview, kind: int, at: int, size: int) -> bool:
    """Whether a body has the size that its kind asks for."""
    layout = FIXED.get(kind)  # type: ignore[call-overload]  # an IntEnum and its number are the same key
    if layout is not None:
        return bool(size == layout.itemsize)
    if kind == Kind.CHILDREN:
        return size >= 4 and size == 4 + 4 * _COUNT.unpack_from(data, at)[0]
    if kind == Kind.WINDOWS:
        return size >= _WINDOWS_HEAD and size == _WINDOWS_HEAD + 8 * _COUNT.unpack_from(data, at + 16)[0]
    return True


def _gathered(walk: _Walk, tail: Bytes, report: Report) -> Visuals:
    whole = np.frombuffer(walk.data, np.uint8)
    entries = np.empty(len(walk.ids), ENTRY)
    for name, values in (("id", walk.ids), ("depth", walk.depths), ("kind", walk.kinds)):
        entries[name] = values
    fixed = {kind: _rows(whole, walk.at[kind], layout) for kind, layout in FIXED.items()}
    sizes = np.array(walk.sizes[Kind.CHILDREN], np.int64)
    children = _lists(whole, np.array(walk.at[Kind.CHILDREN], np.int64) + 4, (sizes - 4) // 4, _CHILD)
    heads = _rows(whole, walk.at[Kind.WINDOWS], np.dtype([("reserved", "<u4", 4), ("count", "<u4")]))
    begin = np.array(walk.at[Kind.WINDOWS], np.int64) + _WINDOWS_HEAD
    windows = Windows(heads["reserved"], _lists(whole, begin, heads["count"].astype(np.int64), WINDOW))
    opaque: list[Bytes] = [
        walk.data[at : at + size] for at, size in zip(walk.at[Kind.OPAQUE], walk.sizes[Kind.OPAQUE], strict=True)
    ]
    kept = int(np.count_nonzero((entries["kind"] == Kind.OPAQUE) & (entries["depth"] > 0)))
    if kept:
        report.warn(f"{counted_plural(kept, 'chunks')} of visuals of unknown meaning or wrong size; kept unchanged")
    for kind, word in ((Kind.HEADER, "bounds of visuals"), (Kind.TREE, "trees"), (Kind.LOD, "impostors")):
        rows = fixed[kind]
        warn_not_finite(report, word, rows["corners"] if kind == Kind.LOD else rows)
    return Visuals(entries, fixed, children, windows, opaque, tail)


def _rows(whole: NDArray[np.uint8], at: list[int] | NDArray[np.int64], layout: np.dtype[Any]) -> NDArray[Any]:
    """The structures that begin at these offsets."""
    if not len(at):
        return np.zeros(0, layout)
    places = np.asarray(at, np.int64)[:, None] + np.arange(layout.itemsize)
    return np.asarray(whole[places].view(layout).reshape(-1))


def _lists(whole: NDArray[np.uint8], at: NDArray[np.int64], counts: NDArray[np.int64], layout: np.dtype[Any]) -> Lists:
    """Lists that begin at these offsets with so many rows each."""
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    # Row r of list n begins at at[n] + (r - starts[n]) * size.
    begin = np.repeat(at - starts[:-1] * layout.itemsize, counts) + np.arange(starts[-1]) * layout.itemsize
    return Lists(starts, _rows(whole, begin, layout))


def write_visuals(visuals: Visuals) -> bytes:
    """The body of chunk 3; the sizes of visuals and fast paths are those of what is in them."""
    entries = visuals.entries
    sizes = np.zeros(len(entries), np.int64)
    for kind, bodies in _bodies(visuals):
        sizes[entries["kind"] == kind] = bodies
    ends = np.cumsum(sizes + _CHUNK.size)
    starts = ends - sizes
    for depth in (0, 1):
        # A chunk that holds others ends where the next one of its depth, or above, begins.
        bounds = np.append(np.flatnonzero(entries["depth"] <= depth), len(entries))
        nested = np.flatnonzero((entries["kind"] == Kind.NESTED) & (entries["depth"] == depth))
        following = bounds[np.searchsorted(bounds, nested, side="right")]
        sizes[nested] = ends[following - 1] - starts[nested]
    result = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    heads = np.empty((len(entries), 2), "<u4")
    heads[:, 0], heads[:, 1] = entries["id"], sizes
    _scatter(result, starts - _CHUNK.size, heads)
    for kind, rows in visuals.fixed.items():
        _scatter(result, starts[entries["kind"] == kind], rows)
    at = starts[entries["kind"] == Kind.CHILDREN]
    _scatter(result, at, visuals.children.counts.astype("<u4"))
    _scatter_lists(result, at + 4, visuals.children)
    at = starts[entries["kind"] == Kind.WINDOWS]
    _scatter(result, at, np.ascontiguousarray(visuals.windows.reserved))
    _scatter(result, at + 16, visuals.windows.lists.counts.astype("<u4"))
    _scatter_lists(result, at + _WINDOWS_HEAD, visuals.windows.lists)
    for begin, body in zip(starts[entries["kind"] == Kind.OPAQUE].tolist(), visuals.opaque, strict=True):
        result[begin : begin + len(body)] = np.frombuffer(body, np.uint8)
    return result.tobytes() + bytes(visuals.tail)


def _bodies(visuals: Visuals) -> Iterator[tuple[Kind, Any]]:
    """Size of the bodies by kind: one number, or one for each chunk."""
    for kind, layout in FIXED.items():
        yield kind, layout.itemsize
    yield Kind.CHILDREN, 4 + 4 * visuals.children.counts
    yield Kind.WINDOWS, _WINDOWS_HEAD + 8 * visuals.windows.lists.counts
    yield Kind.OPAQUE, [len(body) for body in visuals.opaque]


def _scatter(result: NDArray[np.uint8], at: NDArray[np.int64], rows: NDArray[Any]) -> None:
    if len(rows):
        plain = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
        result[at[:, None] + np.arange(plain.shape[1])] = plain


def _scatter_lists(result: NDArray[np.uint8], at: NDArray[np.int64], lists: Lists) -> None:
    size = lists.rows.dtype.itemsize
    places = np.repeat(at - lists.starts[:-1] * size, lists.counts) + np.arange(len(lists.rows)) * size
    _scatter(result, places, lists.rows)
