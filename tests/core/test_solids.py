"""Convex hulls and boxes: closed, convex, outwards, around all points, at least as thick as asked."""

import numpy as np
import pytest

from addon.core import solids

THIN = 0.01


def clouds():
    random = np.random.default_rng(5)
    lattice = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 3), axis=-1).reshape(-1, 3)
    angle = random.random(80) * 7
    return {
        "ball": random.normal(size=(400, 3)),
        "few": random.normal(size=(4, 3)),
        "lattice far away": lattice + np.array([100, -40, 7]),
        "cylinder": np.stack([np.cos(angle), np.sin(angle), np.round(random.random(80))], axis=1),
        "tilted plane": random.normal(size=(50, 2)) @ [[1, 0.5, 0.2], [0.1, 1, 0.4]],
        "line": np.linspace(0, 1, 9)[:, None] * [1, 2, 3],
        "point": np.array([[1.0, 2, 3]]),
        "sheet of 1 mm": random.normal(size=(50, 3)) * [1, 1, 0.0005],
    }


@pytest.mark.parametrize("name", clouds())
@pytest.mark.parametrize("make", [solids.hull, solids.box])
def test_a_body_is_closed_convex_and_holds_its_points(make, name):
    points = clouds()[name].astype(np.float32).astype(np.float64)
    body = make(points, THIN)
    sides = np.stack([body.triangles, np.roll(body.triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    once = np.unique(sides, axis=0)
    assert len(once) == len(sides)
    assert np.array_equal(once, np.unique(sides[:, ::-1], axis=0)), "each edge once in each direction"
    corner = body.positions[body.triangles]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    assert (length > 0).all()
    normals = normals / length
    height = np.einsum("fi,fi->f", normals, corner[:, 0])
    size = np.linalg.norm(np.ptp(body.positions, axis=0))
    assert (normals @ body.positions.T - height[:, None]).max() < 1e-5 * size, "convex"
    assert (normals @ points.T - height[:, None]).max() < (0.04 if name in {"ball", "cylinder"} else 1e-5) * size
    assert np.ptp(normals @ body.positions.T, axis=1).min() > THIN * 0.999
    assert body.volume > 0


def test_a_box_of_a_tilted_part_is_tilted_and_one_of_a_cube_is_not():
    lattice = np.stack(np.meshgrid(*[np.linspace(0, 1, 3)] * 3), axis=-1).reshape(-1, 3)
    assert solids.box(lattice, THIN).volume == pytest.approx(1)
    rotation = np.array([[0.8, 0.6, 0], [-0.6, 0.8, 0], [0, 0, 1]])
    rod = lattice * [10, 0.1, 0.1] @ rotation
    assert solids.box(rod, THIN).volume == pytest.approx(0.1)
    assert solids.hull(lattice, THIN).volume == pytest.approx(1)
