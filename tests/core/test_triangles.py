"""Areas, repeated faces, welding and splitting, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from addon.core import polygons
from tests.work import lines_run

ROWS = arrays.arrays(np.int64, st.tuples(st.integers(0, 30), st.just(3)), elements=st.integers(-2, 2))


def test_areas_are_herons():
    positions = np.array([[0, 0, 0], [3, 0, 0], [0, 4, 0], [3, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]], np.float32)
    corners = np.array([[0, 1, 2], [0, 1, 3], [4, 5, 6], [2, 1, 6]])
    sides = [[np.linalg.norm(positions[t[k]].astype(float) - positions[t[k - 1]]) for k in range(3)] for t in corners]
    half = [sum(three) / 2 for three in sides]
    heron = [max(s * (s - a) * (s - b) * (s - c), 0) ** 0.5 for s, (a, b, c) in zip(half, sides, strict=True)]
    np.testing.assert_allclose(polygons.areas(positions, corners), heron, atol=1e-6)
    assert polygons.areas(positions, corners)[:3].tolist() == [6, 0, 0]


def test_an_area_of_no_number_is_not_one_and_raises_no_alarm():
    positions = np.array([[np.nan, 0, 0], [3e38, -3e38, 3e38], [-3e38, 3e38, 0]], np.float32)
    assert not np.isfinite(polygons.areas(positions, np.array([[0, 1, 2]]))).any()


def test_areas_of_more_faces_than_are_worked_out_at_once():
    size = np.arange(1, polygons._BLOCK + 8, dtype=np.float32)
    positions = np.zeros((len(size), 3, 3), np.float32)
    positions[:, 1, 0], positions[:, 2, 1] = size, 2
    corners = np.arange(3 * len(size)).reshape(-1, 3)
    np.testing.assert_array_equal(polygons.areas(positions.reshape(-1, 3), corners), size)


def test_faces_without_area_are_those_whose_area_is_not_one():
    random = np.random.default_rng(5)
    positions = random.integers(0, 3, (60, 3)).astype(np.float32)
    positions[7] = np.nan
    corners = random.integers(0, 60, (polygons._BLOCK + 500, 3))
    area = polygons.areas(positions, corners)
    result = polygons.without_area(positions, corners)
    assert result.tolist() == np.flatnonzero(area == 0).tolist()
    assert 1000 < len(result) < 15000
    assert len(polygons.without_area(positions, corners[:0])) == 0


def first_by_looking(rows):
    listed = [tuple(row) for row in rows.tolist()]
    return [listed.index(row) for row in listed]


@given(ROWS)
def test_the_first_of_equal_rows(rows):
    assert polygons.first_of_equal(rows).tolist() == first_by_looking(rows)


@given(ROWS)
def test_faces_repeated_in_space_have_three_equal_positions(triangles):
    positions = np.array([[0, 0, 0], [-0.0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    vertex, bits = triangles + 2, positions.view(np.int32).tolist()
    corners = [tuple(sorted(bits[number] for number in face)) for face in vertex.tolist()]
    wanted = [number for number, face in enumerate(corners) if face in corners[:number]]
    assert polygons.repeated_in_space(positions, vertex).tolist() == wanted


@pytest.mark.parametrize("modulus", [1, 2, 3])
def test_rows_whose_hashes_are_equal_though_they_are_not(monkeypatch, modulus):
    rows = np.random.default_rng(3).integers(0, 4, (200, 2))
    monkeypatch.setattr(polygons, "_hashed", lambda rows: (rows[:, 0] % modulus).astype(np.uint64))
    assert polygons.first_of_equal(rows).tolist() == first_by_looking(rows)


def test_rows_that_never_part_are_sorted_in_the_end(monkeypatch):
    rows = np.random.default_rng(4).integers(0, 50, (300, 3))
    monkeypatch.setattr(polygons, "_HASHINGS", 1)
    assert polygons.first_of_equal(rows).tolist() == first_by_looking(rows)


@given(ROWS)
def test_row_groups_are_the_indices_among_the_sorted_different_rows(rows):
    different = sorted({tuple(row) for row in rows.tolist()})
    assert polygons.row_groups(rows).tolist() == [different.index(tuple(row)) for row in rows.tolist()]


WIDE = st.sampled_from([-(2**62), -(2**31), -1, 0, 1, 2**31, 2**40, 2**62])


@given(arrays.arrays(np.int64, st.tuples(st.integers(0, 12), st.integers(1, 3)), elements=WIDE))
def test_rows_of_numbers_however_large_are_sorted_and_equal_ones_stay_in_order(rows):
    order, differs = polygons.row_order(rows)
    listed = [tuple(row) for row in rows.tolist()]
    assert order.tolist() == sorted(range(len(rows)), key=listed.__getitem__)
    ordered = [listed[number] for number in order]
    assert differs.tolist() == [number > 0 and ordered[number - 1] != row for number, row in enumerate(ordered)]


@given(arrays.arrays(np.int32, st.tuples(st.integers(0, 30), st.just(3)), elements=st.integers(0, 3)))
def test_repeated_faces_are_those_seen_before_in_any_order(corners):
    seen, wanted = set(), []
    for number, face in enumerate(corners.tolist()):
        key = tuple(sorted(face))
        if key in seen:
            wanted.append(number)
        seen.add(key)
    assert polygons.repeated(corners).tolist() == wanted


POINTS = arrays.arrays(
    np.float32,
    st.tuples(st.integers(0, 40), st.just(3)),
    elements=st.sampled_from([0.0, -0.0, 1.0, 1.5, float("nan"), float("inf")]),
)


@given(POINTS)
def test_welding_by_bits_gives_every_point_back_in_its_index(points):
    result = polygons.weld(points)
    assert points[result.source][result.vertex].tobytes() == points.tobytes()
    assert len(result.source) == len({row.tobytes() for row in points})
    assert (np.diff(result.source) > 0).all()


def test_a_nan_of_other_bits_is_another_point():
    points = np.zeros((3, 3), np.float32)
    points.view(np.uint32)[:, 0] = [0x7FC00001, 0x7FC00002, 0x7FC00001]
    assert polygons.weld(points).vertex.tolist() == [0, 1, 0]


def greedy(points, tolerance):
    """Every point goes to the first one that stayed, if that is near along each axis."""
    stayed, result = [], []
    for number, point in enumerate(points):
        near = [other for other in stayed if (abs(points[other] - point) <= tolerance).all()]
        if not near:
            stayed.append(number)
        result.append(near[0] if near else number)
    return result


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_points_in_clusters_go_to_the_first_of_their_cluster(seed, count):
    """Clusters 1 m apart, 5 mm wide, on every side of the cells' borders."""
    chance = np.random.default_rng(seed)
    centres = chance.integers(-4, 4, (count, 3)) + chance.random(3)
    points = (centres + chance.uniform(-0.0024, 0.0024, (count, 3))).astype(np.float32)
    result = polygons.weld(points, 0.005)
    assert result.source[result.vertex].tolist() == greedy(points, 0.005)


@given(st.integers(0, 2**32 - 1))
def test_no_point_moves_by_more_than_twice_the_tolerance(seed):
    points = np.random.default_rng(seed).uniform(0, 0.1, (200, 3)).astype(np.float32)
    result = polygons.weld(points, 0.01)
    moved = np.abs(points[result.source][result.vertex].astype(float) - points)
    assert moved.max() <= 0.02 + 1e-7
    assert len(result.source) < 200


def test_a_long_row_of_near_points_does_not_shrink_to_one():
    points = np.zeros((1000, 3), np.float32)
    points[:, 0] = np.arange(1000) * 0.004
    result = polygons.weld(points, 0.005)
    assert len(result.source) > 300
    work = [lines_run(lambda many=many: polygons.weld(points[:many], 0.005)) for many in (500, 1000)]
    assert work[1] < 1.1 * work[0]


@pytest.mark.parametrize("far", [np.nan, np.inf, 3e38])
def test_a_point_that_is_nowhere_stays_alone_and_hinders_no_one(far):
    points = np.array([[far, 0, 0], [0.001, 0, 0], [-0.001, 0, 0], [far, 0, 0]], np.float32)
    assert polygons.weld(points, 0.01).vertex.tolist() == [0, 1, 1, 0]


def test_no_points_are_welded_to_none():
    result = polygons.weld(np.zeros((0, 3), np.float32), 0.1)
    assert len(result.vertex) == len(result.source) == 0


CORNERS = st.integers(1, 8).flatmap(
    lambda count: st.tuples(
        st.just(count),
        arrays.arrays(np.int32, st.tuples(st.integers(0, 12), st.just(3)), elements=st.integers(0, count - 1)),
        st.integers(0, 2**32 - 1),
    )
)


@given(CORNERS)
def test_vertices_are_split_exactly_where_corners_differ(case):
    count, faces, seed = case
    corners = faces.ravel()
    values = np.random.default_rng(seed).choice(np.float32([0.0, -0.0, 0.5, np.nan]), (len(corners), 2))
    split = polygons.split_corners(corners, values, count)

    def bits(value):
        return tuple((np.asarray(value, np.float32) + np.float32(0)).view(np.int32).tolist())

    different = {(vertex, bits(value)) for vertex, value in zip(corners.tolist(), values, strict=True)}
    unused = count - len({vertex for vertex, _ in different})
    assert len(split.source) == len(different) + unused
    assert split.source[:count].tolist() == list(range(count))
    assert (split.source[split.vertex] == corners).all()
    assert [bits(values[split.corner[vertex]]) for vertex in split.vertex] == [bits(value) for value in values]


def test_vertices_are_not_split_where_corners_differ_within_the_tolerance():
    close = np.float32([[0.0], [0.09], [0.5], [0.52], [np.nan]])
    split = polygons.split_corners(np.zeros(5, np.int32), close[:, :0], 1, close, 0.1)
    assert split.vertex.tolist() == [0, 0, 1, 1, 0]
    assert split.corner.tolist() == [0, 2]
