"""`level.ai`: the AI map, nodes on a grid of 0.7 m that creatures walk on, each with four links. Not chunked.

Versions 8 (Shadow of Chernobyl), 9 and 10 (Clear Sky, Call of Pripyat; from the engine, no real file seen). Nodes are
sorted by their column of the grid; several nodes can be in one column (floors). Sources: the engine and real files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import space, text
from ...core.binary import DAMAGED, Bytes, Reader, Writer, warn_not_finite
from ...core.model import Attribute, Domain, PolygonMesh
from ...core.report import Report, counted, say

HEADER_SIZE = 56
GUID_SIZE = 16
NO_LINK = 0x7FFFFF
LINK_BYTES = 12
DIRECTIONS = ("-x", "+z", "+x", "-z")
"""Directions of links, in the file's axes. Presumably also those of cover."""
_STEPS = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
_FIRST_BYTE, _SHIFT = (0, 2, 5, 8), (0, 7, 6, 5)


def _node(*covers: str) -> np.dtype[np.void]:
    columns: list[Any] = [("links", "u1", LINK_BYTES), *((name, "<u2") for name in covers)]
    return np.dtype([*columns, ("plane", "<u2"), ("xz", "u1", 3), ("y", "<u2")])


NODES: dict[int, np.dtype[np.void]] = {
    8: _node("cover"),
    9: _node("high_cover", "low_cover"),
    10: _node("high_cover", "low_cover"),
}
"""Version -> layout of a node."""


@dataclass(slots=True, eq=False)
class AiMap:
    """An AI map.

    ``cell`` and ``y_range`` in metres, ``box`` (2, 3) float32, ``guid`` 16 bytes, ``nodes`` (nodes,) in the layout of
    the version. ``tail``: bytes after the last node.
    """

    version: int
    cell: np.float32
    y_range: np.float32
    box: NDArray[np.float32]
    guid: Bytes
    nodes: NDArray[np.void]
    file: str = field(default="", compare=False)
    tail: Bytes = b""

    @property
    def columns(self) -> NDArray[np.int64]:
        """(nodes, 2) cell indices along x and z from the lowest corner."""
        parts = self.nodes["xz"].astype(np.int64)
        cells = parts[:, 0] | parts[:, 1] << 8 | parts[:, 2] << 16
        depth = (float(self.box[1, 2]) - float(self.box[0, 2])) / float(self.cell) if self.cell else 0.0
        row = max(int(np.floor(depth + 1.501)), 1) if np.isfinite(depth) and abs(depth) < 1e9 else 1
        return np.stack((cells // row, cells % row), axis=1)

    @property
    def positions(self) -> NDArray[np.float64]:
        """(nodes, 3) metres in the file's axes: the centre of each node."""
        result = np.empty((len(self.nodes), 3))
        low = self.box[0].astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinite values of broken files
            result[:, [0, 2]] = low[[0, 2]] + self.columns * float(self.cell)
            result[:, 1] = low[1] + self.nodes["y"] / 65535.0 * float(self.y_range)
        return result

    @property
    def links(self) -> NDArray[np.int64]:
        """(nodes, 4) index of the node in each of `DIRECTIONS`, -1 for none."""
        raw = self.nodes["links"].astype(np.int64)
        result = np.empty((len(raw), 4), np.int64)
        for direction, (first, shift) in enumerate(zip(_FIRST_BYTE, _SHIFT, strict=True)):
            word = sum((raw[:, first + byte] << 8 * byte for byte in range(4)), np.zeros(len(raw), np.int64))
            result[:, direction] = word >> shift & NO_LINK
        result[result == NO_LINK] = -1
        return result

    def covers(self, name: str = "") -> NDArray[np.uint8]:
        """Return (nodes, 4) cover in each of `DIRECTIONS`, 0 full to 15 open; ``name`` of the field or the first
        one.
        """
        word = self.nodes[name or ("cover" if self.version < 9 else "high_cover")]
        return np.stack([(word >> 4 * direction & 15).astype(np.uint8) for direction in range(4)], axis=1)

    @property
    def normals(self) -> NDArray[np.float64]:
        """(nodes, 3) unit normals of the ground in the file's axes."""
        return plane_normals(self.nodes["plane"])


def plane_normals(packed: NDArray[Any]) -> NDArray[np.float64]:
    """Unpack the engine's 16-bit vectors (n,) to unit vectors (n, 3).

    They store three signs, x in 6 bits and y in 7 bits; z is the rest.
    """
    word = np.asarray(packed, np.int64)
    a, b = word >> 7 & 63, word & 127
    flipped = a + b >= 127
    a, b = np.where(flipped, 127 - a, a), np.where(flipped, 127 - b, b)
    result = np.stack((a, b, 126 - a - b), axis=1).astype(np.float64)
    for axis, bit in enumerate((0x8000, 0x4000, 0x2000)):
        result[word & bit != 0, axis] *= -1
    return np.asarray(result / np.linalg.norm(result, axis=1, keepdims=True))


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a known version, a plausible cell size and a valid box."""
    if len(head) < HEADER_SIZE or int.from_bytes(head[:4], "little") not in NODES:
        return False
    cell, _, *box = np.frombuffer(head, "<f4", 8, 8)
    low, high = np.array(box).reshape(2, 3)
    return bool(0.01 < cell < 100 and (low <= high).all())


def read(data: bytes, file: str, report: Report) -> AiMap:
    """Read the file without copying. Raises `ReadError` if it has fewer bytes than its nodes need."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    version = reader.u32("the version")
    if version not in NODES:
        reader.position = 0
        raise reader.error(
            say("an AI map of version {} is not known (known: {})", version, ", ".join(map(str, NODES))),
            "Check that this is a level.ai of a released game; those of OpenXRay's own versions are not read",
        )
    count = reader.u32("the number of nodes")
    wanted = HEADER_SIZE + count * NODES[version].itemsize
    if len(data) < wanted:
        words = "cut off: {:# node|# nodes} of version {} in a file of {} B instead of {} B"
        raise reader.error(say(words, count, version, len(data), wanted), DAMAGED)
    cell, y_range = reader.f32("the size of a cell"), reader.f32("the height")
    box = reader.array("<f4", 2, 3, what="the bounding box")
    guid = reader.take(GUID_SIZE, "the identity of the level")
    document = AiMap(version, cell, y_range, box, guid, reader.array(NODES[version], count, what="nodes"), file)
    document.tail = reader.rest()
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the last node; kept", len(document.tail)))
    warn_not_finite(report, "header", cell, y_range, box)
    return document


def write(document: AiMap) -> bytes:
    """Return the bytes of the file."""
    writer = Writer()
    writer.u32(document.version)
    writer.u32(len(document.nodes))
    writer.f32(document.cell)
    writer.f32(document.y_range)
    writer.array(document.box, "<f4")
    writer.raw(document.guid)
    writer.raw(document.nodes.tobytes())
    writer.raw(document.tail)
    return writer.getvalue()


recompose = write  # nothing is kept as bytes in addition to typed values


def raw_size(document: AiMap) -> int:
    """Return the size of the level's identity (guid), which has no meaning except being equal in `level.graph`, and of
    bytes after the last node.
    """
    return len(document.guid) + len(document.tail)


def one_way_links(document: AiMap) -> NDArray[np.int64]:
    """Return (found, 2) node and direction of links without a link back. Links to missing nodes are not included."""
    links = document.links
    node, direction = np.nonzero((links >= 0) & (links < len(links)))
    back = links[links[node, direction], (direction + 2) % 4]
    return np.asarray(np.stack((node, direction), axis=1)[back != node])


def link_edges(document: AiMap) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    """Return node positions (nodes, 3) in Blender's axes, two-way links (n, 2) and one-way links (m, 2) between them.

    A one-way pair starts with the node that has the link. Links to missing nodes are left out.
    """
    links = document.links
    node, direction = np.nonzero((links >= 0) & (links < len(links)))
    pairs = np.stack((node, links[node, direction]), axis=1)
    one_way = np.zeros(links.shape, np.bool_)
    one_way[tuple(one_way_links(document).T)] = True
    both = np.unique(np.sort(pairs[~one_way[node, direction]], axis=1), axis=0)
    positions = space.xray_points(document.positions).astype(np.float32)
    return positions, both.astype(np.int32), pairs[one_way[node, direction]].astype(np.int32)


def isolated(document: AiMap) -> NDArray[np.bool_]:
    """Return (nodes,) whether a node has no links and no other node links to it."""
    links = document.links
    alone = np.all(links < 0, axis=1)
    alone[links[(links >= 0) & (links < len(links))]] = False
    return np.asarray(alone)


COVER, ISOLATED, ONE_WAY = "cover", "isolated", "one_way"
"""Attributes of nodes.

`COVER`: mean of all directions, 0 full to 1 open. `ISOLATED`: no link starts or ends at the node. `ONE_WAY`: it has a
link without a link back.
"""
_CORNERS = np.array([(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)])
"""Corners of a node along x and z of the file. Blender needs them reversed: counter-clockwise from above."""


def decode(document: AiMap, name: str) -> PolygonMesh:
    """Convert to a mesh with one square cell per node, tilted like the ground, in Blender's axes; face n is node n.

    A node whose plane is steeper than `_STEEPEST`, or has no valid normal, becomes a horizontal square.
    """
    count = len(document.nodes)
    normals, steps = document.normals, _CORNERS[::-1] * float(document.cell)
    slope = np.where(normals[:, [1]] > _STEEPEST, -normals[:, [0, 2]] / np.maximum(normals[:, [1]], _STEEPEST), 0.0)
    corners = np.repeat(document.positions[:, None], 4, axis=1)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinite values of broken files
        corners[..., [0, 2]] += steps
        corners[..., 1] += slope @ steps.T
        positions = space.xray_points(corners.reshape(-1, 3)).astype(np.float32)
    one_way = np.zeros(count, np.bool_)
    one_way[one_way_links(document)[:, 0]] = True
    cover = document.covers().mean(axis=1) / 15.0
    return PolygonMesh(
        name,
        positions,
        np.full(count, 4, np.int32),
        np.arange(4 * count, dtype=np.int32),
        attributes={
            COVER: Attribute(Domain.FACE, cover.astype(np.float32)),
            ISOLATED: Attribute(Domain.FACE, isolated(document)),
            ONE_WAY: Attribute(Domain.FACE, one_way),
        },
    )


_STEEPEST = 0.05
"""Height of a unit normal below which the ground would be a wall."""


def problems(document: AiMap) -> Iterator[str]:
    """Yield what the game misreads."""
    links = document.links
    missing = int((links >= len(links)).sum())
    if missing:
        yield say("{:# link points|# links point} to missing nodes", missing)
    columns = document.columns
    node, direction = np.nonzero((links >= 0) & (links < len(links)))
    steps = columns[links[node, direction]] - columns[node]
    far = int((steps != _STEPS[direction]).any(axis=1).sum())
    if far:
        yield say("{:# link points|# links point} elsewhere than to the next column", far)


def describe(document: AiMap) -> list[str]:
    """Return a summary: counts, links, cover, bounds."""
    nodes = len(document.nodes)
    links = document.links
    shared = nodes - len(np.unique(document.nodes["xz"], axis=0)) if nodes else 0
    cover = f"{document.covers().mean():.1f}" if nodes else "-"
    return [
        (
            f"version {document.version}, {counted(nodes, 'node')}, cell {text.scalar(document.cell)} m, "
            f"{counted(shared, 'node')} above another"
        ),
        (
            f"{counted(int((links >= 0).sum()), 'link')}, {len(one_way_links(document))} one-way; "
            f"{counted(int(isolated(document).sum()), 'isolated node')}; mean cover {cover} (15 is open)"
        ),
        f"bounds (file axes): {text.extent(document.box)}",
    ]
