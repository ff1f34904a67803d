"""Generate a `level.geom` for a real `level`: as many vertices, indices and windows as it refers to, all invented.

Complete game levels are too large to be collected; their `level` file is enough to measure an import at real scale.

    python3 scripts/make_geometry.py LEVEL FOLDER

copies the file ``LEVEL`` to ``FOLDER`` and writes ``FOLDER/level.geom`` beside it. Surfaces are wavy
sheets in their boxes, trees random faces in a box of 2 x 3 x 2 metres; every range and window is where a real one would
be.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from samples.visuals import STATIC, TREE, made_buffer

from addon.core.report import Report
from addon.formats.xray import level as levels
from addon.formats.xray.chunks import Chunk, ChunkRun
from addon.formats.xray.level import geometry
from addon.formats.xray.level.document import WINDOW, Kind, Level, Lists, VisualType, Windows
from addon.formats.xray.level.geometry import Geometry

TREE_SIZE = (2.0, 3.0, 2.0)
"""Size of a tree model in metres, y up."""
LISTED = 8
"""Number of windows of a progressive tree."""
VERTEX_LIT = [*STATIC[:4], (24, 4, 10, 0), (28, 6, 5, 0)]


def made_geometry(level: Level) -> Geometry:
    """Return buffers that contain every range of the visuals. The faces of a visual are a strip along its vertices."""
    visuals = level.visuals
    owners, rows = visuals.owners(Kind.CONTAINER)
    ranges = visuals.fixed[Kind.CONTAINER][rows]
    random = np.random.default_rng(8)
    trees = np.isin(visuals.types[owners], (VisualType.TREE, VisualType.TREE_PROGRESSIVE))
    sizes = _sizes(ranges["vertex_buffer"], ranges["vertex_base"] + ranges["vertex_count"])
    buffers = []
    for number, size in enumerate(sizes.tolist()):
        first = int(np.argmax(ranges["vertex_buffer"] == number))
        lit = b"," not in level.shaders[visuals.shaders[owners[first]]]
        buffer = made_buffer(TREE if trees[first] else VERTEX_LIT if lit else STATIC, size)
        for name in ("normal", "tangent", "binormal"):
            buffer.rows[name] = random.integers(0, 256, (size, 4), np.uint8)
        for name in sorted({"uv0", "uv1"} & set(buffer.rows.dtype.names or ())):
            buffer.rows[name] = random.integers(0, 4096, buffer.rows[name].shape, np.int16)
        buffers.append(buffer)
    counts = _sizes(ranges["index_buffer"], ranges["index_base"] + ranges["index_count"])
    indices = [np.zeros(size, "<u2") for size in counts.tolist()]
    least = _least_vertices(level, owners, ranges)
    boxes = visuals.fixed[Kind.HEADER]["box"][visuals.rows_of(Kind.HEADER)[owners]]
    done: set[tuple[int, ...]] = set()
    for row, box, tree, most in zip(ranges, boxes, trees.tolist(), least.tolist(), strict=True):
        if row.item() in done:
            continue
        done.add(row.item())
        vertices = slice(int(row["vertex_base"]), int(row["vertex_base"]) + int(row["vertex_count"]))
        count = int(row["vertex_count"])
        share = random.random((count, 3), np.float32) if tree else _sheet(count)
        low, high = ((0, 0, 0), TREE_SIZE) if tree else box
        buffers[row["vertex_buffer"]].rows["position"][vertices] = low + share * (np.array(high) - low)
        strip = np.arange(int(row["index_count"]) // 3)[:, None] + np.arange(3)
        begin = int(row["index_base"])
        indices[row["index_buffer"]][begin : begin + strip.size] = (strip % most).ravel()
    run = ChunkRun([Chunk(number, b"") for number in (1, 9, 10, 11)])
    return Geometry(14, 0, buffers, indices, _made_windows(level, owners, ranges), run)


def _sheet(count: int) -> NDArray[np.float64]:
    """Return (count, 3) positions from 0 to 1, y up: a wavy sheet. The strip along them goes there and back in rows."""
    step = np.arange(count) // 2
    columns = max(int(np.sqrt((count + 1) // 2)), 1)
    row, column = step // columns, step % columns
    across = np.where(row % 2, columns - 1 - column, column) / max(columns - 1, 1)
    along = (row + np.arange(count) % 2) / (int(row[-1]) + 1 if count else 1)
    return np.stack([across, 0.5 + 0.5 * np.sin(6 * across) * np.cos(6 * along), along], axis=1)


def _sizes(buffers: NDArray[np.uint32], ends: NDArray[np.uint32]) -> NDArray[np.int64]:
    result = np.zeros(int(buffers.max()) + 1, np.int64)
    np.maximum.at(result, buffers, ends)
    return result


def _least_vertices(level: Level, owners: NDArray[np.int64], ranges: NDArray[np.void]) -> NDArray[np.int64]:
    """Return (visuals,) the vertex count of the simplest window of each; of all vertices if it has no windows."""
    result = ranges["vertex_count"].astype(np.int64)
    lists = level.visuals.rows_of(Kind.WINDOWS)[owners]
    windows = level.visuals.windows.lists
    for visual in np.flatnonzero(lists >= 0).tolist():
        result[visual] = windows[int(lists[visual])]["vertices"].min()
    swi = level.visuals.rows_of(Kind.SWI)[owners] >= 0
    result[swi] = np.maximum(result[swi] - LISTED + 1, 3)
    return np.maximum(result, 1)


def _made_windows(level: Level, owners: NDArray[np.int64], ranges: NDArray[np.void]) -> Windows:
    """Return the window lists of progressive trees, best level first; that one is at the end of the indices."""
    swi = level.visuals.rows_of(Kind.SWI)[owners]
    named = np.flatnonzero(swi >= 0)
    numbers = level.visuals.fixed[Kind.SWI]["index"][swi[named]].astype(np.int64)
    count = int(numbers.max()) + 1 if len(numbers) else 0
    rows = np.zeros((count, LISTED), WINDOW)
    step = np.arange(LISTED)
    for number, position in zip(numbers.tolist(), named.tolist(), strict=True):
        faces, vertices = int(ranges["index_count"][position]) // 3, int(ranges["vertex_count"][position])
        best = max(faces // 2, 1)
        rows["triangles"][number] = np.minimum(np.maximum(best - step, 1), 0xFFFF)
        rows["offset"][number] = (3 * (faces - best) * (LISTED - 1 - step)) // (LISTED - 1) // 3 * 3
        rows["vertices"][number] = np.maximum(vertices - step, 3)
    starts = LISTED * np.arange(count + 1, dtype=np.int64)
    return Windows(np.zeros((count, 4), np.uint32), Lists(starts, rows.reshape(-1)))


def main(source: Path, folder: Path) -> None:
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, folder / "level")
    document = levels.read(source.read_bytes(), str(source), Report())
    (folder / "level.geom").write_bytes(geometry.write(made_geometry(document)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
