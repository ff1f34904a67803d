"""What the game refuses in a LOD: closed and convex components, shadows, roadways, paths, names; mass by hand."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from addon.core.errors import WriteError
from addon.core.model import Attribute, Domain, Material, PolygonMesh, VertexWeights
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.formats.arma.lod_kinds import GEOMETRIES
from addon.formats.arma.p3d import check
from addon.formats.arma.p3d.document import Tag
from tests.formats.arma.p3d.test_polygons import EDITABLE, level

GEOMETRY, FIRE, SHADOW, ROADWAY, PATHS = 1e13, 7e15, 1e4, 3e15, 4e15
CUBE = np.array(list(product((0, 1), repeat=3)), np.float32)
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
TRIANGLES = [part for a, b, c, d in SIDES for part in ([a, b, c], [a, c, d])]


def mesh(positions, faces, groups=None, **fields):
    """A mesh; ``groups``: name -> its vertices, all of weight 1."""
    table = groups or {}
    rows = np.array([(v, n) for n, members in enumerate(table.values()) for v in members], np.int32).reshape(-1, 2)
    return PolygonMesh(
        "x",
        np.array(positions, np.float32),
        np.array([len(face) for face in faces], np.int32),
        np.array([corner for face in faces for corner in face], np.int32),
        groups=list(table),
        weights=VertexWeights(rows[:, 0], rows[:, 1], np.ones(len(rows), np.float32)),
        **fields,
    )


def box(groups=None, *, faces=SIDES, mass=1.0, **fields):
    masses = {"mass": Attribute(Domain.VERTEX, np.full(len(CUBE), mass, np.float32))}
    return mesh(CUBE, faces, {"component01": range(8)} if groups is None else groups, attributes=masses, **fields)


def found(wanted, resolution=GEOMETRY, **more):
    """Sentence -> the indices at fault."""
    problems = check.find_problems(p3d.LodContent(wanted, resolution), **more)
    return {problem.sentence: problem.elements.tolist() for problem in problems}


def test_a_box_that_is_one_component_has_no_problem():
    for resolution in (GEOMETRY, FIRE, 1.0):
        assert found(box(), resolution) == {}


def test_a_geometry_without_a_mass_is_not_a_problem_as_most_published_ones_have_none():
    assert found(box(mass=0)) == {}
    assert found(replace(box(), attributes={})) == {}


def test_an_open_box_and_a_wall_inside_are_found():
    open_box = found(box(faces=SIDES[1:]))
    assert open_box == {"4 of 5 faces have an open edge; this LOD must be closed": [1, 2, 3, 4]}
    wall = [*SIDES, [0, 1, 7, 6]]  # a diagonal one: two of its edges are also of the box
    assert found(box(faces=wall)) == {
        "1 of 7 faces has an open edge; this LOD must be closed": [6],
        "5 of 7 faces share an edge with more than one other face": [0, 1, 2, 3, 6],
    }


def test_turned_faces_are_found_and_a_whole_piece_that_is_turned():
    entry = found(box(faces=[SIDES[0][::-1], *SIDES[1:]]))
    assert entry == {"5 of 6 faces point the other way than their neighbours": [0, 2, 3, 4, 5]}
    assert found(box(faces=[side[::-1] for side in SIDES])) == {"6 of 6 faces point inwards": [0, 1, 2, 3, 4, 5]}


def test_a_step_is_not_convex_and_the_faces_at_its_inward_edge_are_found():
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    corners = [(x, y, z) for z in (0, 1) for x, y in outline]
    walls = [[a, b, 6 + b, 6 + a] for a, b in pairwise([*range(6), 0])]
    caps = [[0, 3, 2, 1], [0, 5, 4, 3], [6, 7, 8, 9], [6, 9, 10, 11]]
    step = mesh(corners, [*walls, *caps], {"Component01": range(12)})
    sentence = "2 of 10 faces have an edge that bends inwards; components must be convex"
    assert found(step, FIRE) == {sentence: [2, 3]}
    bent = found(replace(step, corners=p3d_reversed(step)), FIRE)
    assert bent == {"10 of 10 faces point inwards": list(range(10)), sentence: [2, 3]}


def p3d_reversed(wanted):
    faces = np.split(wanted.corners, np.cumsum(wanted.counts)[:-1])
    return np.concatenate([face[::-1] for face in faces])


def two_boxes(groups, shared_point=False):
    away = CUBE + np.float32(1 if shared_point else 3)
    positions = np.concatenate([CUBE, away])
    faces = [*SIDES, *[[8 + corner for corner in side] for side in SIDES]]
    if shared_point:  # vertex 7 of the first box is at vertex 0 of the second one
        faces = [[7 if corner == 8 else corner for corner in face] for face in faces]
    return mesh(positions, faces, groups)


def test_components_are_the_connected_pieces():
    good = {"Component01": range(8), "component02": range(8, 16), "door": range(3)}
    assert found(two_boxes(good), FIRE) == {}
    split = "12 of 12 faces are in a component of several separate pieces"
    assert found(two_boxes({"Component01": range(16)}), FIRE) == {split: list(range(12))}
    assert found(two_boxes({"Component01": range(8)}), FIRE) == {
        "6 of 12 faces are in no component": list(range(6, 12))
    }
    empty = "it has no components (vertex groups Component01, Component02 and so on)"
    assert found(two_boxes({"door": range(8), "components": range(8)}), FIRE) == {empty: []}
    halves = {"Component01": [0, 1, 2, 3, 4, 5], "Component02": range(8), "Component03": range(8, 16)}
    sentence = "6 of 12 faces are connected to faces of another component"
    assert found(two_boxes(halves), FIRE) == {sentence: list(range(6))}


def test_boxes_that_touch_at_a_point_are_two_pieces():
    touching = two_boxes({"Component01": range(8), "Component02": [7, *range(9, 16)]}, shared_point=True)
    assert check.Surface(touching).piece.tolist() == [0] * 6 + [1] * 6
    assert found(touching, FIRE) == {}


def test_a_weight_that_the_file_cannot_store_does_not_count():
    weak = box({"Component01": range(8)})
    weak.weights.weights[0] = 1e-4
    assert found(weak) == {"3 of 6 faces are in no component": [0, 2, 4]}


def test_shadows_are_closed_triangles_with_sharp_edges_and_no_texture():
    edges = np.array([pair for face in TRIANGLES for pair in zip(face, [*face[1:], face[0]], strict=True)], np.int32)
    plain = box({}, faces=TRIANGLES, sharp_edges=edges[::-1, ::-1])
    assert found(plain, SHADOW) == {}
    assert found(plain, 1.8e16) == {}
    assert found(replace(plain, sharp_edges=None), 1.1e4) == {}, "a shadow buffer is drawn"
    smooth = edges[(np.sort(edges) != [0, 1]).any(axis=1)]
    assert found(replace(plain, sharp_edges=smooth), SHADOW) == {
        "2 of 12 faces have smooth edges; those of a shadow are all sharp": [0, 5]
    }
    assert found(box({}, sharp_edges=edges), SHADOW) == {
        "6 of 6 faces have four corners; a shadow is made of triangles": [0, 1, 2, 3, 4, 5]
    }
    index = np.array([0, 1] + [0] * 10, np.int32)
    for paths in (("a.paa", ""), ("", "a.rvmat")):
        textured = replace(plain, materials=[Material("x"), Material("y", *paths)], material_index=index)
        assert found(textured, SHADOW) == {"1 of 12 faces has a texture or material; a shadow has none": [1]}
    assert list(found(replace(plain, counts=plain.counts[1:], corners=plain.corners[3:]), SHADOW)) == [
        "3 of 11 faces have an open edge; this LOD must be closed"
    ]


def test_roadways_and_paths():
    grid = mesh(np.zeros((255, 3)), [[0, 1, 2]])
    assert found(grid, ROADWAY) == {}
    assert found(mesh(np.zeros((256, 3)), [[0, 1, 2]]), ROADWAY) == {"it has 256 points, a roadway has at most 255": []}
    assert found(mesh(CUBE, []), ROADWAY) == {"it has no faces": []}
    assert found(grid, PATHS) == {"it has no entrances": []}
    assert found(mesh(CUBE, [[0, 1, 2]], {"In1": [0], "pos1": [2]}), PATHS) == {}


def test_bones_uv_sets_and_names():
    groups = {f"bone{number}": [0, 1] if number < 4 else [1] for number in range(5)}
    drawn = mesh(CUBE, SIDES, {**groups, "camo": range(8)})
    assert found(drawn, 1.0) == {}
    assert found(drawn, 1.0, bones=["camo"]) == {}
    assert found(drawn, 1.0, bones=[name.upper() for name in groups]) == {"1 of 8 vertices has more than 4 bones": [1]}
    assert found(drawn, 1.0, hidden_uv_sets=1) == {}
    assert found(drawn, 1.0, hidden_uv_sets=2) == {"it has 3 UV sets, the game supports 2": []}
    second = replace(drawn, more_uvs={"UVSet 1": np.zeros((24, 2), np.float32)})
    assert found(second, 1.0) == {}
    assert found(second, 1.0, hidden_uv_sets=1) == {"it has 3 UV sets, the game supports 2": []}
    foreign = replace(drawn, groups=["колесо", *drawn.groups[1:]], materials=[Material("ä", "é.paa", "b.rvmat")])
    content = p3d.LodContent(foreign, 1.0, {"größe": "1"}, [p3d.ProxyContent("ñ.001", np.eye(4))])
    (problem,) = check.find_problems(content)
    assert problem.sentence == "names with letters that the game does not know: колесо, größe, é.paa, ñ.001"


def test_uv_sets_of_a_lod_are_counted():
    sets = [Tag(b"#UVSet#", number.to_bytes(4, "little") + bytes(8 * 7)) for number in (0, 1, 1, 2)]
    lods = [level([[0, 1, 2, 3], [0, 3, 4]], tags=sets[:count]) for count in range(5)]
    hidden = p3d.LodContent(mesh(CUBE, []), 1.0)
    assert [check.hidden_uv_sets(hidden, lod) for lod in lods] == [0, 0, 1, 1, 2]
    actual = [p3d.content_of(lod, "x", Report()) for lod in lods]
    assert [check.hidden_uv_sets(content, lod) for content, lod in zip(actual, lods, strict=True)] == [0] * 5
    assert [len(content.mesh.more_uvs) for content in actual] == [0, 0, 1, 1, 2]
    assert check.hidden_uv_sets(hidden, None) == 0


def test_an_edit_is_blamed_for_what_it_made_worse():
    def problems(wanted):
        return list(check.find_problems(p3d.LodContent(wanted, GEOMETRY)))

    old = problems(box({}, faces=SIDES[1:]))
    assert len(old) == 2
    assert list(check.new_problems(old, old)) == []
    assert list(check.new_problems(problems(box()), old)) == []
    assert list(check.new_problems(problems(box({}, faces=TRIANGLES[2:])), old)) == [], "as many as before"
    assert [
        new_problem.sentence for new_problem in check.new_problems(problems(box({}, faces=TRIANGLES[4:])), old)
    ] == ["8 of 8 faces have an open edge; this LOD must be closed"]
    assert [new_problem.sentence for new_problem in check.new_problems(old, [])] == [entry.sentence for entry in old]


@pytest.mark.parametrize("resolution", [GEOMETRY, FIRE, SHADOW, ROADWAY, PATHS, 1.0, 1e15])
def test_meshes_without_faces_or_vertices_are_checked(resolution):
    found(mesh(np.zeros((0, 3)), []), resolution, bones=["a"])
    found(mesh(CUBE, [], {"Component01": range(8)}, sharp_edges=np.zeros((0, 2), np.int32)), resolution, bones=["a"])


@np.errstate(all="raise")
def test_broken_values_are_no_errors():
    broken = CUBE.copy()
    broken[3] = np.nan, np.inf, 3e38
    found(replace(box(), positions=broken))
    flat = CUBE * np.float32([1, 1, 0])
    assert found(replace(box(), positions=flat)) == {}


# Convexity, judged by all points and all planes -----------------------------------------------------------------------


def sphere(rings: int, around: int) -> tuple[np.ndarray, list[list[int]]]:
    """Points on a unit sphere, and triangles that are turned outwards."""
    points = [(0, 0, 1)]
    for ring in range(1, rings):
        up = np.pi * ring / rings
        angles = 2 * np.pi * np.arange(around) / around
        points += [(np.sin(up) * np.cos(a), np.sin(up) * np.sin(a), np.cos(up)) for a in angles]
    points.append((0, 0, -1))
    last, faces = len(points) - 1, []
    for side in range(around):
        after = (side + 1) % around
        faces += [[0, 1 + side, 1 + after], [last, last - around + after, last - around + side]]
        for ring in range(rings - 2):
            first, below = 1 + ring * around, 1 + (ring + 1) * around
            faces += [[first + side, below + side, below + after], [first + side, below + after, first + after]]
    return np.array(points), faces


def highest_above_a_plane(points, faces) -> float:
    """How far any point is outside of the plane of any face, as a share of the size."""
    corners = points[np.array(faces)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    height = np.einsum("fpi,fi->fp", points[None] - corners[:, :1], normal)
    return float(height.max() / (2 * np.linalg.norm(points - points.mean(axis=0), axis=1).max()))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(3, 6),
    st.integers(3, 9),
    st.lists(st.floats(0.2, 3), min_size=9, max_size=9),
    st.integers(0, 200),
    st.sampled_from([1.0, 1.0, 0.5, 0.8, 0.95]),
)
def test_convex_is_what_no_plane_cuts(rings, around, matrix, vertex, pushed):
    points, faces = sphere(rings, around)
    points[vertex % len(points)] *= pushed
    linear = np.array(matrix).reshape(3, 3)
    assume(abs(np.linalg.det(linear)) > 0.3)
    points = points @ linear
    if np.linalg.det(linear) < 0:
        faces = [face[::-1] for face in faces]
    outside = highest_above_a_plane(points, faces)
    assume(outside < 1e-6 or outside > 5e-3)
    sentences = found(mesh(points, faces, {"Component01": range(len(points))}), FIRE)
    assert any("bends inwards" in sentence for sentence in sentences) == (outside > 5e-3)


# Mass -----------------------------------------------------------------------------------------------------------------


def test_a_mass_is_distributed_evenly_over_the_points_of_faces():
    masses = check.mass_of_points(mesh([*CUBE, (9, 9, 9)], SIDES), 40, by_volume=False)
    assert masses.tolist() == [5] * 8 + [0]
    assert check.mass_of_points(mesh(CUBE, []), 40, by_volume=False).tolist() == [5] * 8
    assert check.mass_of_points(mesh(np.zeros((0, 3)), []), 40, by_volume=False).tolist() == []


def test_a_mass_is_distributed_by_volume():
    boxes = two_boxes({})
    boxes.positions[8:] = CUBE * 2 + 5  # eight times the volume
    assert check.mass_of_points(boxes, 72, by_volume=True).tolist() == [1] * 8 + [8] * 8
    turned = replace(boxes, corners=p3d_reversed(boxes))
    assert check.mass_of_points(turned, 72, by_volume=True).tolist() == [1] * 8 + [8] * 8
    touching = two_boxes({}, shared_point=True)
    assert check.mass_of_points(touching, 16, by_volume=True).tolist() == [1] * 7 + [2, 0] + [1] * 7


@pytest.mark.parametrize("faces", [SIDES[1:], []])
def test_what_is_not_closed_has_no_volume(faces):
    with pytest.raises(WriteError, match="not closed"):
        check.mass_of_points(mesh(CUBE, faces), 1, by_volume=True)
    with pytest.raises(WriteError, match="no volume"):
        check.mass_of_points(mesh(CUBE * np.float32([1, 1, 0]), SIDES), 1, by_volume=True)


@settings(deadline=None, max_examples=30)
@given(st.floats(1e-3, 1e5), st.floats(0.1, 9), st.booleans())
def test_masses_sum_up(total, scale, by_volume):
    points, faces = sphere(5, 7)
    masses = check.mass_of_points(mesh(points * scale, faces), total, by_volume=by_volume)
    assert masses.sum(dtype=np.float64) == pytest.approx(total, rel=1e-5)
    assert np.ptp(masses) == 0


# Real models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", EDITABLE)
def test_geometries_of_real_models_have_a_volume(file):
    for lod in p3d.read(file.read_bytes(), file.name, Report()).lods:
        content = p3d.content_of(lod, file.stem, Report())
        if lod.kind in GEOMETRIES and len(content.mesh.counts):
            assert check.Surface(content.mesh).volumes.min() > 0
