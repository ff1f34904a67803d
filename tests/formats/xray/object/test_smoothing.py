"""What a mesh looks like: normals against those computed with the editors' own rules; which rule a file follows."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray.object.mapping import decode_mesh
from addon.formats.xray.object.mesh_chunks import FLAT, Faces, Points, VertexMapRefs
from addon.formats.xray.object.smoothing import (
    Rule,
    Sides,
    contradictions,
    corner_normals,
    face_normals,
    groups_of,
    hard_sides,
    rule_of,
)
from tests.formats.xray.level_bytes import floats, words
from tests.formats.xray.object.small_object import mesh, small
from tests.real_files import VECTORS, corpus_files

READINGS = {"edge": Rule.EDGES, "id": Rule.GROUPS, "mask": Rule.MASKS, "stored": Rule.NORMALS}


def read(data, name="test.object"):
    return editor_model.read(data, name, Report())


@pytest.mark.skipif(VECTORS is None, reason="MOTIONBRIDGE_VECTORS is not set")
@pytest.mark.parametrize("file", corpus_files("object"))
def test_corners_are_those_of_the_editor(file):
    known = json.loads((VECTORS / "object" / f"{file.stem}.json").read_text())
    document = read(file.read_bytes(), file.name)
    for held, expected in zip(document.model.meshes, known["meshes"], strict=True):
        assert rule_of(held) is READINGS[expected["smoothing"]["reading"]]
        normals = corner_normals(held)
        corners, points = held.first(Faces).corners, held.first(Points).positions
        for corner in expected["corners"]:
            position = corner["face"], corner["corner"]
            point, vmref = corners[position].tolist()
            assert (point, vmref) == (corner["point"], corner["vmref"])
            assert points[point].tolist() == corner["position"]
            np.testing.assert_allclose(normals[position], corner["normal"], atol=1e-5)
            assert uv_and_weights(held, vmref) == (corner["uv"], [tuple(pair) for pair in corner["weights"]])
        np.testing.assert_allclose(normals.reshape(-1, 3).sum(axis=0), expected["sums"]["corner_normal"], atol=1e-6)


def uv_and_weights(held, vmref):
    refs = held.first(VertexMapRefs).refs
    start = int(refs.counts[:vmref].sum())
    maps = held.maps.maps
    rows = refs.rows[start : start + int(refs.counts[vmref])].tolist()
    uv = next(maps[number].values[entry].tolist() for number, entry in rows if maps[number].type == 0)
    return uv, [(maps[n].label, float(maps[n].values[entry, 0])) for n, entry in rows if maps[n].type == 1]


ROOF = floats(0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0.5, 1, 0.5)
FACES = ((0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0))


def roof(groups, flags=1):
    """A pyramid without floor, its top is point 4."""
    corners = words(len(FACES)) + b"".join(words(point, 0) for face in FACES for point in face)
    body = None if groups is None else words(*groups)
    own_mesh = mesh(x1002=bytes((flags,)), x1005=words(5) + ROOF, x1006=corners, x1013=body, x1014=None)
    (held,) = read(small((own_mesh,))).model.meshes
    return held, face_normals(held.first(Points).positions, np.array(FACES))


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_groups():
    # Faces 1 and 2 would say different things of their common edge if these were edge bits.
    held, flat = roof((16, 16, 17, FLAT))
    assert rule_of(held) is Rule.GROUPS
    top = corner_normals(held)[:, 1]
    np.testing.assert_allclose(top, [unit(flat[0] + flat[1])] * 2 + [flat[2], flat[3]], atol=1e-12)


# The top's edges are (0, 4) between faces 3 and 0, (1, 4) between 0 and 1, and so on; the others border on nothing.
@pytest.mark.parametrize(
    ("groups", "flags", "sharp"),
    [
        ((16, 16, 17, FLAT), 1, [(0, 3), (0, 4), (2, 4), (3, 4)]),
        ((16, 16, FLAT, FLAT), 1, [(0, 3), (0, 4), (2, 3), (2, 4), (3, 4)]),
        ((16 | 32, 16, 32, 0), 5, [(0, 3), (0, 4), (2, 4), (3, 4)]),
        ((2, 1, 2, 1), 1, [(1, 4), (3, 4)]),
    ],
)
def test_edges_that_are_not_smoothed_across_are_sharp(groups, flags, sharp):
    own_mesh = decode_mesh(roof(groups, flags)[0], editor_model.read(small(()), "a", Report()).model, Report())
    assert sorted({tuple(sorted(edge)) for edge in own_mesh.sharp_edges.tolist()}) == sharp


def test_masks_smooth_faces_with_a_common_bit():
    held, flat = roof((16 | 32, 16, 32, 0), flags=5)
    assert rule_of(held) is Rule.MASKS
    top = corner_normals(held)[:, 1]
    expected = [unit(flat[:3].sum(axis=0)), unit(flat[:2].sum(axis=0)), unit(flat[0] + flat[2]), flat[3]]
    np.testing.assert_allclose(top, expected, atol=1e-12)


def test_edge_bits_smooth_across_soft_edges_only():
    # Edge 0 runs up to the top, edge 1 down from it. Hard: between faces 0 and 1, and between 2 and 3.
    held, flat = roof((2, 1, 2, 1))
    assert rule_of(held) is Rule.EDGES
    top = corner_normals(held)[:, 1]
    pairs = [flat[3] + flat[0], flat[1] + flat[2], flat[1] + flat[2], flat[3] + flat[0]]
    np.testing.assert_allclose(top, [unit(pair) for pair in pairs], atol=1e-12)


def test_back_faces_count_their_edges_in_reverse_and_join_none_of_the_others():
    assert hard_sides(np.array([1, 2, 4, 9, 10, 12], np.uint32)).astype(int).tolist() == [
        [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1],
    ]  # fmt: skip
    held, flat = roof((0, 8, 8, 0))
    top = corner_normals(held)[:, 1]
    np.testing.assert_allclose(top[1], unit(flat[1] + flat[2]), atol=1e-12)
    np.testing.assert_allclose(top[0], unit(flat[3] + flat[0]), atol=1e-12)


@pytest.mark.parametrize(("flags", "smooth"), [(1, False), (5, True)])
def test_without_numbers_editors_show_faces_flat_or_with_the_mask_flag_smooth(flags, smooth):
    held, flat = roof(None, flags)
    top = corner_normals(held)[:, 1]
    np.testing.assert_allclose(top, [unit(flat.sum(axis=0))] * 4 if smooth else flat, atol=1e-12)
    assert groups_of(held).tolist() == [0 if smooth else FLAT] * 4


def test_another_rule_may_be_asked_for():
    held, flat = roof((2, 1, 2, 1))
    np.testing.assert_allclose(corner_normals(held, Rule.GROUPS)[0, 1], unit(flat[0] + flat[2]), atol=1e-12)


def test_normals_that_cancel_out_are_those_of_the_first_face():
    corners = words(2) + words(0, 0, 1, 0, 2, 0) + words(0, 0, 2, 0, 1, 0)
    own_mesh = mesh(x1005=words(5) + ROOF, x1006=corners, x1013=words(0, 0), x1014=None)
    (held,) = read(small((own_mesh,))).model.meshes
    flat = face_normals(held.first(Points).positions, np.array([(0, 1, 2)]))
    np.testing.assert_allclose(corner_normals(held), np.tile(flat[0], (2, 3, 1)))


def test_faces_to_nowhere_are_refused():
    own_mesh = mesh(x1006=words(2) + words(*[9] * 12), x1014=None)
    (held,) = read(small((own_mesh,))).model.meshes
    with pytest.raises(ReadError, match="points that do not exist"):
        corner_normals(held)


def reached(faces, groups, face, point):
    """The faces around a point that soft edges lead to, by the words of the rule."""
    hard = hard_sides(np.array(groups, np.uint32))
    result, waiting = {face}, [face]
    while waiting:
        entry = waiting.pop()
        for other in range(len(faces)):
            if other in result or (groups[entry] ^ groups[other]) & 8:
                continue
            for e, f in np.ndindex(3, 3):
                ends = {faces[entry][e], faces[entry][(e + 1) % 3]}
                same = ends == {faces[other][f], faces[other][(f + 1) % 3]}
                if same and point in ends and not hard[entry, e] and not hard[other, f]:
                    result.add(other)
                    waiting.append(other)
                    break
    return result


@given(st.data())
def test_any_faces_with_any_edge_bits(data):
    face = st.permutations(range(5)).map(lambda points: tuple(points[:3]))
    faces = data.draw(st.lists(face, min_size=1, max_size=8, unique_by=lambda entry: tuple(sorted(entry))))
    groups = data.draw(st.lists(st.integers(0, 15), min_size=len(faces), max_size=len(faces)))
    corners = words(len(faces)) + b"".join(words(point, 0) for face in faces for point in face)
    own_mesh = mesh(x1005=words(5) + ROOF, x1006=corners, x1013=words(*groups), x1014=None)
    (held,) = read(small((own_mesh,))).model.meshes
    flat = face_normals(held.first(Points).positions, np.array(faces))
    normals = corner_normals(held, Rule.EDGES)
    for number, own_face in enumerate(faces):
        for index, point in enumerate(own_face):
            total = flat[sorted(reached(faces, groups, number, point))].sum(axis=0)
            if np.linalg.norm(total) > 1e-6:
                np.testing.assert_allclose(normals[number, index], unit(total), atol=1e-9)


def test_contradictions_are_counted_on_edges_of_two_faces():
    faces = np.array([(0, 1, 2), (1, 0, 3)])
    assert contradictions(Sides(faces), np.array([1, 0], np.uint32)) == 1
    assert contradictions(Sides(faces), np.array([1, 1], np.uint32)) == 0
    assert contradictions(Sides(faces), np.array([2, 0], np.uint32)) == 0  # only one face has that edge
