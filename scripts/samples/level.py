"""The sample level: a hut in a yard of ten by ten metres, in all types of level files.

The hut has a one-sided roof in the occluders, and two sectors in the collision. As in real levels, the collision also
contains a duplicate face, a face with two equal vertices, and one without area.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from addon.core.model import Attribute, Domain, Material, Mesh
from addon.formats.xray import cform, details, dm, err, gamemtl, hom, som
from addon.formats.xray.chunks import Chunk, ChunkRun
from addon.formats.xray.dm import Dm
from addon.formats.xray.gamemtl import FACTORS, Flag, GameMaterials
from addon.formats.xray.occluders import TWO_SIDED, Occluders
from samples.visuals import visual_level

EARTH, BRICKS, TIN, GRILLE = 5, 12, 31, 40
"""Ids of the game materials; with gaps, as in the games."""
OUTSIDE, INSIDE = 0, 1

_QUAD = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
Corners = list[tuple[float, float, float]]


def level() -> dict[str, bytes]:
    """Return file name -> bytes of every file of the level."""
    grass, bush = _crossed("det\\grass", 0.5, 0.75), _crossed("det\\bush", 1.0, 1.25)
    return {
        "level.cform": cform.write(_collision()),
        "level.hom": hom.write(_occluders()),
        "level.som": som.write(_sound_occluders()),
        "level.details": details.write(_details([grass, bush])),
        "grass.dm": dm.write(grass),
        "level.err": err.write(_errors()),
        "gamemtl.xr": gamemtl.write(_materials()),
        **visual_level(),
    }


def _quads(*quads: Corners) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return quads (counter-clockwise from outside, in Blender's axes) as unshared vertices and two triangles each."""
    positions = np.array([corner for quad in quads for corner in quad], np.float32)
    triangles = np.concatenate([_QUAD + 4 * number for number in range(len(quads))])
    return positions, triangles


def _walls() -> list[Corners]:
    """Return the four walls of the hut, counter-clockwise from outside."""
    ring = [(-2, -2), (2, -2), (2, 2), (-2, 2), (-2, -2)]
    return [[(*left, 0.0), (*right, 0.0), (*right, 2.5), (*left, 2.5)] for left, right in pairwise(ring)]


def _flat(low: float, high: float, height: float) -> Corners:
    return [(low, low, height), (high, low, height), (high, high, height), (low, high, height)]


def _faces(mesh: Mesh, **columns: NDArray[np.generic]) -> Mesh:
    mesh.attributes = {name: Attribute(Domain.FACE, values) for name, values in columns.items()}
    return mesh


def _collision() -> cform.Cform:
    positions, triangles = _quads(_flat(-5, 5, 0), *_walls(), _flat(-2, 2, 2.5), _flat(-1.875, 1.875, 0.125))
    # Face 14 is a duplicate of face 2, 15 has two equal vertices, the vertices of 16 are on one line.
    extra = np.array([[4, 5, 6], [0, 1, 1], [0, 28, 1]], np.int32)
    positions = np.concatenate([positions, np.array([[0.0, -5.0, 0.0]], np.float32)])
    triangles = np.concatenate([triangles, extra])
    mesh = Mesh("level.cform", positions, triangles)
    quads = np.array([EARTH, BRICKS, BRICKS, BRICKS, GRILLE, TIN, BRICKS], np.int32)
    material = np.concatenate([np.repeat(quads, 2), np.full(len(extra), EARTH, np.int32)])
    sector = np.full(len(triangles), OUTSIDE, np.int32)
    sector[12:14] = INSIDE
    _faces(
        mesh,
        material=material,
        sector=sector,
        suppress_shadows=material == GRILLE,
        suppress_wallmarks=(material == GRILLE) | (material == TIN),
    )
    return cform.encode(mesh)[0]


def _occluders() -> Occluders:
    # The last quad is smaller than a level compiler accepts.
    tiny = [(4.0, 4.0, 0.0), (4.03125, 4.0, 0.0), (4.03125, 4.0, 0.03125), (4.0, 4.0, 0.03125)]
    positions, triangles = _quads(*_walls(), _flat(-2, 2, 2.5), tiny)
    two_sided = np.repeat([True, True, True, True, False, True], 2)
    return hom.encode(_faces(Mesh("level.hom", positions, triangles), **{TWO_SIDED: two_sided}))[0]


def _sound_occluders() -> Occluders:
    positions, triangles = _quads(*_walls(), _flat(-2, 2, 2.5))
    occlusion = np.repeat(np.array([0.05, 0.05, 0.05, 0.6, 0.0], np.float32), 2)
    two_sided = np.repeat([True, True, True, True, False], 2)
    mesh = _faces(Mesh("level.som", positions, triangles), **{TWO_SIDED: two_sided, som.OCCLUSION: occlusion})
    return som.encode(mesh)[0]


def _crossed(texture: str, width: float, height: float) -> Dm:
    """Return two upright quads that cross, each with half of the texture."""
    half = width / 2
    positions, triangles = _quads(
        [(-half, 0, 0), (half, 0, 0), (half, 0, height), (-half, 0, height)],
        [(0, -half, 0), (0, half, 0), (0, half, height), (0, -half, height)],
    )
    uvs = np.array([(u + side, v) for side in (0.0, 0.5) for u, v in ((0, 0), (0.5, 0), (0.5, 1), (0, 1))], np.float32)
    material = Material(texture, texture, "details\\blend")
    mesh = Mesh("grass", positions, triangles, uvs=uvs, materials=[material])
    return dm.encode(mesh, properties=dm.Properties(waving=width < 1, min_scale=0.75, max_scale=1.5))[0]


def _details(models: list[Dm]) -> details.Details:
    """Return six by six slots around the middle; the four of the hut are empty, and the ground rises to the north."""
    size = 6
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(size), np.arange(size)))
    hut = ((x == 2) | (x == 3)) & ((y == 2) | (y == 3))
    planted = np.full((size * size, 4), details.EMPTY, np.int32)
    planted[:, 0] = np.where(hut, details.EMPTY, 0)
    planted[:, 2] = np.where(y == 5, 1, details.EMPTY)
    density = np.zeros((size * size, 4, 4), np.uint8)
    density[:, 0] = np.stack([x, x + 1, x + y, x + y + 1], axis=1)
    density[:, 2] = 15
    shades = np.stack([x * 3, y * 3, x, y, 15 - x], axis=1).astype(np.uint8)
    ground, height = (y * 0.2 - 0.2).astype(np.float64), (0.3 + x * 0.1).astype(np.float64)
    values = details.SlotValues(ground, height, planted, density, shades)
    return details.new(models, details.pack(values, 3), (size, size), (size // 2, size // 2))


def _errors() -> err.Err:
    def rows(number: int, corners: Corners) -> NDArray[np.void]:
        layout = err.KINDS[number][1]
        positions = np.array(corners, "<f4")[:, [0, 2, 1]].reshape(-1, *layout["positions"].shape)
        answer = np.zeros(len(positions), layout)
        answer["positions"] = positions
        return answer

    result = {
        0: rows(0, [(1.0, 2.0, 0.5), (-4.0, 3.0, 0.0)]),
        1: rows(1, [(-2.0, -2.0, 0.0), (-2.0, -2.0, 2.5)]),
        2: rows(2, [(0.0, -5.0, 0.0), (-5.0, -5.0, 0.0), (5.0, -5.0, 0.0)]),
        12: rows(12, [(4.0, 4.0, 0.0), (4.03125, 4.0, 0.0), (4.03125, 4.0, 0.03125)]),
    }
    result[12]["colour"] = 0xFFFF8000
    result[12]["flags"] = (0, 1)
    return err.Err(result, ChunkRun([Chunk(number, b"") for number in result]), {})


def _materials() -> GameMaterials:
    listed = {
        EARTH: ("materials\\earth", Flag.BLOOD_MARKS | Flag.SKID_MARKS, 0.5),
        BRICKS: ("materials\\bricks", Flag.BLOOD_MARKS | Flag.BOUNCEABLE, 0.05),
        TIN: ("objects\\tin_roof", Flag.BOUNCEABLE | Flag.SUPPRESS_WALLMARKS, 0.0),
        GRILLE: (
            "objects\\grille",
            Flag.SUPPRESS_SHADOWS | Flag.SUPPRESS_WALLMARKS | Flag.SHOOTABLE | Flag.TRANSPARENT,
            0.6,
        ),
    }
    chunk_ids = (gamemtl.NAME, gamemtl.DESCRIPTION, gamemtl.FLAGS, gamemtl.PHYSICS, FACTORS)
    materials = {
        index: gamemtl.Material(
            number,
            name.encode("ascii"),
            ChunkRun([Chunk(identifier, b"") for identifier in chunk_ids]),
            int(flags),
            b"of the sample level",
            {
                gamemtl.PHYSICS: np.array([1, 0.5, 100000, 0.5, 0.25], "<f4"),
                FACTORS: np.array([0.5, 1, 0, occlusion], "<f4"),
            },
        )
        for index, (number, (name, flags, occlusion)) in enumerate(listed.items())
    }
    run = ChunkRun([
        *(Chunk(number, b"") for number in (gamemtl.VERSION, gamemtl.NEXT_IDS, gamemtl.MATERIALS)),
        Chunk(gamemtl.PAIRS, b""),
    ])  # fmt: skip
    list_run = ChunkRun([Chunk(material, b"") for material in materials])
    return GameMaterials(1, np.array([GRILLE + 1, 0], "<u4"), materials, run, list_run)
