"""Decimated meshes: no face and no UV turns over, sharp edges, seams and borders stay, labels keep apart."""

import numpy as np
import pytest

from addon.core import decimation

NOTHING = np.zeros((0, 2), np.int64)


def ball(around=24, rows=12):
    """A sphere without caps and its UVs, which have a seam where they begin again."""
    row, column = np.divmod(np.arange(around * (rows + 1)), around)
    height, angle = np.pi * (row + 0.5) / (rows + 1), 2 * np.pi * column / around
    positions = np.stack([np.sin(height) * np.cos(angle), np.sin(height) * np.sin(angle), np.cos(height)], axis=1)
    row, column = np.divmod(np.arange(around * rows), around)
    after = (column + 1) % around
    a, b, c, d = (r * around + k for r, k in ((row, column), (row, after), (row + 1, column), (row + 1, after)))
    triangles = np.stack([np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)], axis=1).reshape(-1, 3)
    left, right, top, under = column / around, (column + 1) / around, 1 - row / rows, 1 - (row + 1) / rows
    upper = [left, top, left, under, right, under]
    lower = [left, top, right, under, right, top]
    uvs = np.stack([np.stack(upper, axis=1), np.stack(lower, axis=1)], axis=1).reshape(-1, 2)
    return positions, triangles, uvs


def source(positions, triangles, uvs, **changes):
    values = {
        "positions": positions,
        "triangles": triangles,
        "uvs": [uvs],
        "normals": None,
        "surface": np.zeros(len(triangles), np.int64),
        "sharp": NOTHING,
        "fixed": np.zeros(len(positions), np.bool_),
        "label": np.zeros(len(positions), np.int64),
    }
    return decimation.Source(**(values | changes))


def mirrored(uvs):
    u, v = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] <= 0


def sides(triangles):
    return np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)


def keys(pairs):
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return set((low * 100_000 + high).tolist())


@pytest.mark.parametrize("share", [0.8, 0.5, 0.2])
def test_the_number_is_reached_and_nothing_turns_over(share):
    positions, triangles, uvs = ball()
    left = decimation.decimate(source(positions, triangles, uvs), round(share * len(triangles)))
    assert 0 <= round(share * len(triangles)) - len(left.face) <= 1
    assert not mirrored(uvs.reshape(-1, 3, 2)).any()
    assert not mirrored(uvs[left.corners]).any()
    vertices = triangles.ravel()[left.corners]
    points = positions[vertices]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    assert (np.einsum("fi,fi->f", normals, points.mean(axis=1)) > 0).all(), "all faces of a sphere look outwards"
    ends = sides(vertices)
    assert len(np.unique(ends, axis=0)) == len(ends), "no edge has two faces on one side"


def test_edges_that_are_kept_stay_where_they_are():
    """A sharp ring keeps its vertices or loses some of them, but every edge along it stays sharp, and a whole ring."""
    positions, triangles, uvs = ball()
    ring = np.arange(24) + 6 * 24
    sharp = np.stack([ring, np.roll(ring, -1)], axis=1)
    surface = (triangles.min(axis=1) >= ring[0]).astype(np.int64)
    left = decimation.decimate(source(positions, triangles, uvs, sharp=sharp, surface=surface), 60)
    assert len(left.face) <= 100
    vertices = triangles.ravel()[left.corners]
    assert set(left.sharp.ravel().tolist()) <= set(ring.tolist())
    number = np.unique(left.sharp, return_counts=True)[1]
    assert (number == 4).all(), "each vertex of the ring has two sharp edges, and each is listed by its two faces"
    border = keys(sides(vertices[surface[left.face] == 0])) & keys(sides(vertices[surface[left.face] == 1]))
    assert border == keys(left.sharp), "materials still meet at the ring"


def test_vertices_with_other_labels_or_that_are_fixed_stay():
    positions, triangles, uvs = ball()
    label = (positions[:, 0] > 0).astype(np.int64)
    fixed = np.zeros(len(positions), np.bool_)
    fixed[triangles[100]] = True
    left = decimation.decimate(source(positions, triangles, uvs, label=label, fixed=fixed), 1)
    vertices = triangles.ravel()[left.corners]
    assert 100 in left.face.tolist()
    assert set(triangles[100].tolist()) <= set(vertices.ravel().tolist())
    assert set(label[vertices].ravel().tolist()) == {0, 1}
    assert len(left.face) < len(triangles) / 3


def test_a_mesh_that_cannot_lose_faces_is_left_alone():
    positions = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float64)
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    uvs = positions[triangles.ravel(), :2]
    left = decimation.decimate(source(positions, triangles, uvs, fixed=np.ones(4, np.bool_)), 1)
    assert np.array_equal(triangles.ravel()[left.corners], triangles)
    nothing = source(np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros((0, 2)))
    assert len(decimation.decimate(nothing, 1).face) == 0


def test_the_same_faces_are_left_every_time():
    left, again = (decimation.decimate(source(*ball()), 100) for _ in range(2))
    assert np.array_equal(left.corners, again.corners)


def test_a_plane_loses_its_inner_vertices_first():
    """Ten by ten squares become two triangles: the corners of the plane stay."""
    row, column = np.divmod(np.arange(121), 11)
    positions = np.stack([column, row, 0 * row], axis=1).astype(np.float64)
    row, column = np.divmod(np.arange(100), 10)
    a = row * 11 + column
    triangles = np.concatenate([np.stack([a, a + 1, a + 12], axis=1), np.stack([a, a + 12, a + 11], axis=1)])
    left = decimation.decimate(source(positions, triangles, positions[triangles.ravel(), :2]), 2)
    vertices = triangles.ravel()[left.corners]
    points = positions[vertices]
    assert np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])[:, 2].sum() / 2 == pytest.approx(100)
    assert len(left.face) <= 4
