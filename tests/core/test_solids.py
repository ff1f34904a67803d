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


def assert_closed(body):
    sides = np.stack([body.triangles, np.roll(body.triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    once = np.unique(sides, axis=0)
    assert len(once) == len(sides)
    assert np.array_equal(once, np.unique(sides[:, ::-1], axis=0)), "each edge once in each direction"


def rungs():
    """Round ends of a rod that 32 bits store a little out of their plane, as a tool writes them."""
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(24)], axis=1) * [0.017, 0.017, 1] + [0.2349, 0.17, 0]
    random = np.random.default_rng(2)
    ends = [ring + (0, 0, level) + random.normal(size=ring.shape) * [0, 0, 2e-7] for level in (0, -0.32)]
    bevel = ring * [0.9, 0.9, 1] + [0.02349, 0.017, -0.00343]
    return np.concatenate([*ends, bevel])


def test_the_hull_of_a_rung_with_uneven_ends_is_closed():
    assert_closed(solids.hull(rungs().astype(np.float32).astype(np.float64), THIN))


@pytest.mark.parametrize("seed", range(60))
def test_a_hull_of_points_nearly_in_planes_is_closed(seed):
    """Boxes and rods whose points are off their planes by about the tolerance, which no choice of faces fits."""
    random = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(*[np.linspace(0, 1, int(random.integers(2, 6))) for _ in range(3)]), -1)
    points = lattice.reshape(-1, 3) * random.uniform(0.02, 3, 3) + random.normal(size=3)
    points = points + random.normal(size=points.shape) * 10 ** random.uniform(-8, -6)
    body = solids.hull(points.astype(np.float32).astype(np.float64), THIN)
    assert_closed(body)
    assert body.volume == pytest.approx(float(np.ptp(points, axis=0).prod()), rel=1e-3)


@pytest.mark.parametrize("name", clouds())
@pytest.mark.parametrize("make", [solids.hull, solids.box])
def test_a_body_is_closed_convex_and_holds_its_points(make, name):
    points = clouds()[name].astype(np.float32).astype(np.float64)
    body = make(points, THIN)
    assert_closed(body)
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
