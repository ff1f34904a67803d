"""Polygons as flat arrays, judged by loops over faces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import polygons

FACES = st.lists(st.lists(st.integers(0, 6), min_size=0, max_size=6), max_size=8)


def flat(faces):
    counts = np.array([len(face) for face in faces], np.int32)
    return counts, np.array([vertex for face in faces for vertex in face], np.int32)


@given(FACES, st.data())
def test_corners_starts_and_turning_round(faces, data):
    counts, corners = flat(faces)
    chosen = np.array(data.draw(st.lists(st.integers(0, len(faces) - 1), max_size=5)) if faces else [], np.int64)
    assert corners[polygons.corners_of(counts, chosen)].tolist() == [v for face in chosen for v in faces[face]]
    assert polygons.face_of_corner(counts).tolist() == [n for n, face in enumerate(faces) for _ in face]
    turned = polygons.reversed_corners(counts)
    assert corners[turned].tolist() == [v for face in faces for v in face[:1] + face[:0:-1]]
    assert turned[turned].tolist() == list(range(len(corners)))
    assert polygons.all_in_face(corners > 2, counts).tolist() == [all(v > 2 for v in face) for face in faces]
    assert corners[polygons.next_corners(counts)].tolist() == [v for face in faces for v in face[1:] + face[:1]]
    alike = [
        (face, column) for some, index in polygons.by_size(counts) for face, column in zip(some, index.T, strict=True)
    ]
    assert sorted((int(face), corners[column].tolist()) for face, column in alike) == list(enumerate(faces))


@pytest.mark.parametrize("count", [0, 1, 7])
def test_bounds(count):
    points = np.random.default_rng(count).normal(size=(count, 3)).astype(np.float32)
    wanted = [[min(column, default=0) for column in points.T], [max(column, default=0) for column in points.T]]
    result = polygons.bounds(points)
    assert result.dtype == np.float32
    assert result.tolist() == wanted


@given(FACES)
def test_a_vertex_named_twice_is_found(faces):
    for some in (faces, [face[:3] for face in faces if len(face) >= 3]):
        counts, corners = flat(some)
        wanted = [len(set(face)) < len(face) for face in some]
        assert polygons.repeats_a_vertex(counts, corners).tolist() == wanted


@pytest.mark.parametrize("far", [0.0, 1e5])
def test_normals_flatness_and_hollows(far):
    points = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0.5, 0.5, 0], [2, 2, 1]], np.float64) + far
    counts, corners = flat([[0, 1, 2, 3], [3, 2, 1, 0], [0, 1, 4, 3], [0, 1, 5, 3], [0, 0, 0], []])
    result = polygons.normals(points, counts, corners)
    assert np.allclose(result[:3], [[0, 0, 1], [0, 0, -1], [0, 0, 1]])
    assert result[4:].tolist() == [[0, 0, 0]] * 2
    outlines = polygons.outlines(points, counts, corners)
    assert outlines.normals.tolist() == result.tolist()
    assert outlines.concave.tolist() == [False, False, True, False, False, False]
    away = outlines.distances
    assert np.allclose(away[[0, 1, 2, 4, 5]], 0, atol=1e-9)
    assert 0.2 < away[3] < 0.3
