"""The visuals of the sample level: `level`, `level.geom`, `level.geomx`, the AI map and the files of placed objects.

The yard and the hut of `samples.level`: ground with a lightmap, walls with three levels of detail, a bush that is
placed twice (once scaled), two sectors with a portal between them, a sun, a lamp, a glow.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from addon.core.binary import Reader
from addon.formats.xray import env_mod, level_ai, ps_static, snd_static, spawn, wallmarks
from addon.formats.xray.chunks import Chunk, ChunkRun
from addon.formats.xray.level import codec, geometry
from addon.formats.xray.level.document import (
    ENTRY,
    FIXED,
    GLOW,
    LIGHT,
    PORTAL,
    WINDOW,
    Kind,
    Level,
    Lists,
    Sector,
    Visuals,
    VisualType,
    Windows,
)
from addon.formats.xray.level.geometry import ELEMENT, Geometry, VertexBuffer
from addon.formats.xray.placed import Layout, Placed

GROUND, WALLS, LEAVES, GLOWING = 1, 2, 3, 4
SHADERS = (
    b"",
    b"default/ground\\earth,terrain\\terrain_yard_lm",
    b"default/wall\\bricks,lmap#1_1,lmap#1_2",
    b"flora\\leaf_wave/trees\\bush",
    b"effects\\glow/glow\\lamp",
)
_CORNER_UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float64)
_FRAME = [(0, 2, 0, 0), (12, 4, 3, 0), (16, 4, 6, 0), (20, 4, 7, 0)]
"""Offset, type, usage and usage index of position, normal, tangent, binormal."""
STATIC = [*_FRAME, (24, 6, 5, 0), (28, 6, 5, 1)]
TREE = [*_FRAME, (24, 7, 5, 0)]
_FAST = [(0, 2, 0, 0)]
Quad = list[tuple[float, float, float]]


def visual_level() -> dict[str, bytes]:
    """Return file name -> bytes of every file."""
    level, geom, fast = _level()
    return {
        "level": codec.write(level),
        "level.geom": geometry.write(geom),
        "level.geomx": geometry.write(fast),
        "level.ai": level_ai.write(_ai_map()),
        "level.wallmarks": wallmarks.write(_wallmarks()),
        "level.ps_static": ps_static.write(_particles()),
        "level.env_mod": env_mod.write(_weather()),
        "level.snd_static": snd_static.write(_sounds()),
        "level.spawn": spawn.write(_spawned()),
    }


def _layout(elements: list[tuple[int, int, int, int]]) -> NDArray[np.void]:
    rows = [(0, offset, kind, 0, usage, index) for offset, kind, usage, index in elements]
    return np.array([*rows, (geometry.LAST_STREAM, 0, 17, 0, 0, 0)], ELEMENT)


def made_buffer(elements: list[tuple[int, int, int, int]], count: int) -> VertexBuffer:
    """Return ``count`` vertices, all 0, of a layout: offset, type, usage and usage index of each element."""
    declaration = _layout(elements)
    return VertexBuffer(declaration, np.zeros(count, geometry.layout_of(declaration, Reader(b""))))


def _packed(axes: NDArray[np.float64], fourth: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Pack axes (n, 3) of the file and a fourth byte as the compiler does: z, y, x, fourth."""
    bytes_ = np.clip(np.floor((axes + 1) * 127.5), 0, 255).astype(np.uint8)
    return np.concatenate((bytes_[:, ::-1], fourth.astype(np.uint8)[:, None]), axis=1)


@dataclass
class _Quads:
    """Quads, corners clockwise from outside in the file's axes, as vertices and indices."""

    quads: list[Quad]

    @property
    def positions(self) -> NDArray[np.float64]:
        return np.array(self.quads, np.float64).reshape(-1, 3)

    @property
    def indices(self) -> NDArray[np.uint16]:
        entry = np.array([0, 1, 2, 0, 2, 3], np.uint16)
        return np.concatenate([entry + np.uint16(4 * number) for number in range(len(self.quads))])

    def fill(self, rows: NDArray[np.void], hemi: int, scale: float) -> None:
        """Write the vertices; the texture is repeated ``scale`` times on each quad."""
        corners = self.positions.reshape(-1, 4, 3)
        sides = corners[:, [1, 3]] - corners[:, [0]]
        tangent, down = (sides[:, entry] / np.linalg.norm(sides[:, entry], axis=1, keepdims=True) for entry in (0, 1))
        normal = np.cross(tangent, down)
        uvs = np.tile(_CORNER_UVS * scale, (len(corners), 1))
        rows["position"] = self.positions
        tree = rows.dtype["uv0"].shape == (4,)
        steps = uvs * (2048 if tree else 1024)
        whole = np.floor(steps)
        rest = np.zeros_like(steps) if tree else np.floor((steps - whole) * 255.5)
        rows["normal"] = _packed(np.repeat(normal, 4, axis=0), np.full(len(rows), hemi))
        rows["tangent"] = _packed(np.repeat(tangent, 4, axis=0), rest[:, 0])
        rows["binormal"] = _packed(np.repeat(-down, 4, axis=0), rest[:, 1])
        rows["uv0"][:, :2] = whole
        if tree:
            rows["uv0"][:, 2] = np.floor(self.positions[:, 1] * 1024)
        else:
            rows["uv1"] = np.floor(np.tile(_CORNER_UVS, (len(corners), 1)) * 0.75 * 32768)


def _yard() -> _Quads:
    return _Quads([[(-5, 0, -5), (-5, 0, 5), (5, 0, 5), (5, 0, -5)]])


def _hut() -> _Quads:
    ring: list[tuple[int, int]] = [(-2, -2), (2, -2), (2, 2), (-2, 2)]
    quads: list[Quad] = []
    for side in range(4):
        (x, z), (to_x, to_z) = ring[side], ring[(side + 1) % 4]
        quads.append([(x, 0, z), (x, 2.5, z), (to_x, 2.5, to_z), (to_x, 0, to_z)])
    return _Quads([*quads, [(-2, 2.5, -2), (-2, 2.5, 2), (2, 2.5, 2), (2, 2.5, -2)]])


def _bush() -> _Quads:
    entry: Quad = [(-0.5, 0, 0), (-0.5, 1, 0), (0.5, 1, 0), (0.5, 0, 0)]
    other: Quad = [(0, 0, -0.5), (0, 1, -0.5), (0, 1, 0.5), (0, 0, 0.5)]
    return _Quads([entry, other])


def _bounds(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the box, enlarged by a millimetre on each side, and the sphere."""
    box = np.stack((points.min(axis=0) - 0.001, points.max(axis=0) + 0.001))
    centre = box.mean(axis=0)
    return box, np.append(centre, np.linalg.norm(box[1] - centre))


def _level() -> tuple[Level, Geometry, Geometry]:
    yard, hut, bush = _yard(), _hut(), _bush()
    static, tree = made_buffer(STATIC, 24), made_buffer(TREE, 8)
    yard.fill(static.rows[:4], 200, 4)
    hut.fill(static.rows[4:], 120, 1)
    bush.fill(tree.rows, 160, 1)
    # Three levels of detail: complete, without the roof, also without one wall; the best is last in the indices.
    walls = [hut.indices[:18], hut.indices[:24], hut.indices]
    indices = np.concatenate([yard.indices, *walls, bush.indices])
    windows = np.array([(42, 10, 20), (18, 8, 19), (0, 6, 18)], WINDOW)
    fast = made_buffer(_FAST, 12)
    ring = np.unique(hut.positions, axis=0)
    fast.rows["position"][:4], fast.rows["position"][4:] = yard.positions, ring
    index = [np.flatnonzero((ring == corner).all(axis=1))[0] for corner in hut.positions]
    fast_indices = np.concatenate([yard.indices, np.array(index, np.uint16)[hut.indices]])
    transforms = np.tile(np.eye(4), (2, 1, 1))
    transforms[0, 3, :3] = (3.5, 0, 3.5)
    transforms[1, :3, :3] *= 1.5
    transforms[1, 3, :3] = (-3.5, 0, 3.5)
    visuals = _visuals(yard, hut, bush, windows, transforms)
    runs = [ChunkRun([Chunk(number, b"") for number in order]) for order in ((1, 4, 6, 7, 3, 2, 8), (1, 9, 10, 11))]
    level = Level(
        14, 1, list(SHADERS), visuals, _portals(), _lights(), _glows(), _sectors(), runs[0],
        ChunkRun([Chunk(0, b""), Chunk(1, b"")]),
    )  # fmt: skip
    own_windows = Windows(np.zeros((0, 4), np.uint32), Lists(np.zeros(1, np.int64), np.zeros(0, WINDOW)))
    geom = Geometry(14, 398, [static, tree], [indices.astype("<u2")], own_windows, runs[1])
    return level, geom, Geometry(14, 0, [fast], [fast_indices.astype("<u2")], own_windows, runs[1])


def _visuals(
    yard: _Quads, hut: _Quads, bush: _Quads, windows: NDArray[np.void], transforms: NDArray[np.float64]
) -> Visuals:
    """Return the visuals: 0 yard, 1 hut, 2 and 3 bushes, 4 their node, 5 the outside, 6 the inside."""
    static = [(Kind.CONTAINER, 1), (Kind.WINDOWS, 1), (Kind.NESTED, 1), (Kind.CONTAINER, 2), (Kind.HEADER, 1)]
    plain = [part for part in static if part[0] != Kind.WINDOWS]
    tree, node = [(Kind.CONTAINER, 1), (Kind.TREE, 1), (Kind.HEADER, 1)], [(Kind.HEADER, 1), (Kind.CHILDREN, 1)]
    orders = [plain, static, tree, tree, node, node, node]
    entries = [
        row
        for number, order in enumerate(orders)
        for row in ((number, 0, Kind.NESTED), *((kind, depth, kind) for kind, depth in order))
    ]
    fixed = {kind: np.zeros(0, layout) for kind, layout in FIXED.items()}
    fixed[Kind.CONTAINER] = np.array(
        [(0, 0, 4, 0, 0, 6), (0, 0, 4, 0, 0, 6), (0, 4, 20, 0, 6, 72), (0, 4, 8, 0, 6, 30)]
        + [(1, 0, 8, 0, 78, 12)] * 2,
        FIXED[Kind.CONTAINER],
    )
    fixed[Kind.TREE] = np.zeros(2, FIXED[Kind.TREE])
    fixed[Kind.TREE]["transform"] = transforms
    fixed[Kind.TREE]["scale"], fixed[Kind.TREE]["bias"] = (0.25, 0.25, 0.25, 1, 0.5), (0, 0, 0, 0.25, 0.125)
    stand = [bush.positions @ transform[:3, :3] + transform[3, :3] for transform in transforms]
    bushes, everything = np.concatenate(stand), np.concatenate([yard.positions, hut.positions, *stand])
    points = [yard.positions, hut.positions, *stand, bushes, everything, hut.positions]
    fixed[Kind.HEADER] = np.zeros(len(points), FIXED[Kind.HEADER])
    kinds = [VisualType.NORMAL, VisualType.PROGRESSIVE, VisualType.TREE, VisualType.TREE]
    fixed[Kind.HEADER]["version"] = 4
    fixed[Kind.HEADER]["type"] = [*kinds, *[VisualType.HIERARCHY] * 3]
    fixed[Kind.HEADER]["shader"] = [GROUND, WALLS, LEAVES, LEAVES, 0, 0, 0]
    for number, point in enumerate(points):
        fixed[Kind.HEADER]["box"][number], fixed[Kind.HEADER]["sphere"][number] = _bounds(point)
    children = Lists(np.array([0, 2, 4, 5], np.int64), np.array([2, 3, 0, 4, 1], "<u4"))
    lists = Windows(np.zeros((1, 4), np.uint32), Lists(np.array([0, 3], np.int64), windows))
    return Visuals(np.array(entries, ENTRY), fixed, children, lists)


def _portals() -> NDArray[np.void]:
    row = np.zeros(1, PORTAL)
    row["front"], row["back"], row["count"] = 0, 1, 4
    door = [(-0.5, 0, -2), (0.5, 0, -2), (0.5, 2, -2), (-0.5, 2, -2)]
    # The unused vertices contain leftovers of the compiler's memory.
    row["vertices"][0] = [*door, (7, 7, 7), (-1, 0.5, 1e6)]
    return row


def _lights() -> NDArray[np.void]:
    rows = np.zeros(2, LIGHT)
    rows["controller"], rows["type"] = (1, 2), (3, 1)
    rows["diffuse"] = ((1, 1, 1, 1), (1.5, 1.25, -1e-5, 1))
    rows["position"][1], rows["direction"][0] = (0, 2, 0), (0.5, -0.75, 0.25)
    rows["range"] = (1000, 4)
    return rows


def _glows() -> NDArray[np.void]:
    rows = np.zeros(1, GLOW)
    rows["position"], rows["radius"], rows["shader"] = (0, 2.25, 0), 0.5, GLOWING
    return rows


def _sectors() -> list[Sector]:
    def sector(root: int) -> Sector:
        return Sector(root, np.zeros(1, np.uint16), ChunkRun([Chunk(2, b""), Chunk(1, b"")]))

    return [sector(5), sector(6)]


def _ai_map() -> level_ai.AiMap:
    """Return a strip of four by three nodes in front of the hut; one node is isolated, one link is one-way."""
    across, along = 4, 3
    rows = np.zeros(across * along - 1, level_ai.NODES[8])
    cells = [cell for cell in range(across * along) if cell != along + 1]
    links = np.full((len(cells), 4), level_ai.NO_LINK, np.int64)
    for node, cell in enumerate(cells):
        x, z = divmod(cell, along)
        for direction, (dx, dz) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            to = (x + dx) * along + z + dz
            if 0 <= x + dx < across and 0 <= z + dz < along and to in cells:
                links[node, direction] = cells.index(to)
        rows["xz"][node] = tuple(cell.to_bytes(3, "little"))
    links[0] = level_ai.NO_LINK
    for node in range(1, len(cells)):
        links[node][links[node] == 0] = level_ai.NO_LINK
    last = len(cells) - 1
    links[last, 0] = level_ai.NO_LINK
    for node in range(len(cells)):
        word = sum(int(link) << 23 * index for index, link in enumerate(links[node]))
        rows["links"][node] = tuple(word.to_bytes(12, "little"))
    rows["cover"], rows["plane"], rows["y"] = 0xF8F4, 126, np.arange(len(cells)) * 1000
    low = (-0.7, 0, -4.9)
    box = np.array([low, (low[0] + 0.7 * (across - 1), 1, low[2] + 0.7 * (along - 1))], np.float32)
    return level_ai.AiMap(8, np.float32(0.7), np.float32(1), box, bytes(range(16)), rows)


def _wallmarks() -> wallmarks.Wallmarks:
    vertices = np.zeros(3, wallmarks.VERTEX)
    vertices["position"] = [(-1.5, 1, -2), (-1.5, 2, -2), (-0.75, 1, -2)]
    vertices["uv"] = [(0, 1), (0, 0), (1, 1)]
    mark = wallmarks.Mark(np.array([-1, 1.5, -2, 1], np.float32), vertices)
    slot = wallmarks.Slot(b"effects\\wallmarkblend", b"wm\\wm_dirt", [mark])
    return wallmarks.Wallmarks([slot], ChunkRun([Chunk(1, b"")]))


def _placed(layout: Layout, words: list[tuple[bytes, ...]], tails: list[bytes] | None = None) -> Placed:
    count = len(words)
    run = ChunkRun([Chunk(number, b"") for number in range(count)])
    inner = [ChunkRun([Chunk(0, b"")]) for _ in words] if layout.nested else []
    rests: list[bytes] = tails or [b""] * count
    return Placed(
        layout, None, np.zeros(count, layout.before), words, np.zeros(count, layout.after), list(rests), run, inner
    )


def _particles() -> Placed:
    result = _placed(ps_static.LAYOUTS[None], [(b"anomaly\\smoke_01",)])
    result.after["transform"] = np.eye(4)
    result.after["transform"][0, 3, :3] = (1, 0.5, -3)
    return result


def _weather() -> Placed:
    result = _placed(env_mod.LAYOUTS[None], [()])
    result.after["position"], result.after["radius"], result.after["power"] = (0, 1, 0), 8, 1
    result.after["far_plane"], result.after["fog"], result.after["fog_density"] = 300, (0.25, 0.5, 0.25), 0.5
    return result


def _sounds() -> Placed:
    result = _placed(snd_static.LAYOUTS[None], [(b"ambient\\wind_1",), (b"ambient\\fan_1",)])
    result.after["position"], result.after["volume"], result.after["frequency"] = [(4, 1, 4), (0, 2, 0)], 1, 1
    return result


def _spawned() -> Placed:
    tails = [struct.pack("<I", 7), b"fan\0"]
    result = _placed(spawn.LAYOUTS[None], [(b"graph_point", b"yard_point"), (b"physic_object", b"yard_fan")], tails)
    result.before["packet"] = spawn.PACKET
    result.after["bytes"], result.after["position"] = (0xFF, 0xFE), [(3, 0, -3), (0, 2, 0)]
    return result
