"""A mesh onto the chunks that it came from: nothing changes without an edit, and an edit changes what it is about."""

from dataclasses import replace

import numpy as np
import pytest

from addon.core.model import VertexWeights
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray.chunks import Chunk, Section
from addon.formats.xray.object.document import Mesh, Model
from addon.formats.xray.object.encoding import encode_mesh, encode_new_mesh
from addon.formats.xray.object.mapping import decode_mesh, decode_skeleton
from addon.formats.xray.object.mesh_chunks import FLAT, Faces, MeshFlags, Points, Smoothing
from addon.formats.xray.object.smoothing import Rule, corner_normals, hard_sides, rule_of, sides_of, smoothing_numbers
from tests.formats.xray.level_bytes import words
from tests.formats.xray.object.small_object import MESH, OLD, bone, chunk, mesh, small
from tests.real_files import corpus_files


def model_of(data):
    return editor_model.read(data, "a.object", Report()).model


def decoded(model, number=0):
    return decode_mesh(model.meshes[number], model, Report())


def encoded(created, model, number=0):
    report = Report()
    after, changes = encode_mesh(created, model.meshes[number], model, report)
    return after, changes, report


@pytest.mark.parametrize("path", corpus_files("object"))
def test_without_an_edit_it_is_the_very_mesh(path):
    model = model_of(path.read_bytes())
    for number, held in enumerate(model.meshes):
        after, changes, report = encoded(decoded(model, number), model, number)
        assert after is held
        assert not changes
        assert not report.warnings


@pytest.mark.parametrize("path", corpus_files("object"))
def test_written_again_it_shows_the_same(path):
    model = model_of(path.read_bytes())
    for number, held in enumerate(model.meshes):
        then = decoded(model, number)
        if held.first(Faces) is None or len(then.counts) < 2:
            continue
        # Without its last face nothing is the import's any more.
        created = replace(
            then,
            counts=then.counts[:-1],
            corners=then.corners[:-3],
            uvs=None if then.uvs is None else then.uvs[:-3],
            corner_normals=None if then.corner_normals is None else then.corner_normals[:-3],
            material_index=None if then.material_index is None else then.material_index[:-1],
            attributes={
                name: replace(
                    attribute, values=attribute.values[:-1] if attribute.domain.value == "face" else attribute.values
                )
                for name, attribute in then.attributes.items()
            },
        )
        after, changes, _ = encoded(created, model, number)
        assert changes
        new, old = after.first(Points).positions, held.first(Points).positions
        corners, before = after.first(Faces).corners[:, :, 0], held.first(Faces).corners[: len(created.counts), :, 0]
        np.testing.assert_array_equal(new[corners], old[before])
        if len(then.counts) == len(held.first(Faces).corners) and rule_of(held) is not Rule.MASKS:
            again = decode_mesh(after, model, Report())
            assert again.uvs is None or np.allclose(again.uvs, created.uvs, atol=1e-6, equal_nan=True)


def test_a_moved_vertex_moves_its_point_and_the_box():
    model = model_of(small())
    created = decoded(model)
    created.positions = created.positions.copy()
    created.positions[1] = (1, 7, 0)
    after, changes, _ = encoded(created, model)
    assert changes.lines == ["1 vertex"]
    assert after.first(Points).positions.tolist()[1] == [1, 0, 7]
    assert len(after.sections) == len(model.meshes[0].sections)


def test_weights_move_alone():
    model = model_of(small())
    created = decoded(model)
    created.weights = VertexWeights(created.weights.vertices, created.weights.groups, created.weights.weights.copy())
    created.weights.weights[2] = 0.25
    after, changes, _ = encoded(created, model)
    assert changes.lines == ["1 vertex with other weights"]
    np.testing.assert_array_equal(decode_mesh(after, model, Report()).weights.weights, created.weights.weights)
    np.testing.assert_array_equal(decode_mesh(after, model, Report()).uvs, decoded(model).uvs)


def test_sharp_edges_and_weights_are_written_together():
    model = model_of(small((mesh(x1013=words(0, 0)),)))  # the edge bits of two faces without a hard edge
    created = decoded(model)
    created.weights = VertexWeights(created.weights.vertices, created.weights.groups, created.weights.weights.copy())
    created.weights.weights[2] = 0.25
    assert encoded(created, model)[0].first(Smoothing).groups.tolist() == [0, 0]
    corners = created.corners.reshape(-1, 3)
    created.sharp_edges = np.array([corners[0, :2]], np.int32)
    after, changes, _ = encoded(created, model)
    assert changes.lines == ["1 vertex with other weights", "sharp edges"]
    points = set(corners[0, :2].tolist())  # the mesh has a vertex for each point of the file
    edges = [{face[edge], face[edge - 2]} for face in after.first(Faces).corners[:, :, 0].tolist() for edge in range(3)]
    hard = hard_sides(after.first(Smoothing).groups).ravel().tolist()
    assert hard == [edge == points for edge in edges]
    assert decode_mesh(after, model, Report()).weights.weights.tolist() == created.weights.weights.tolist()


def test_a_parent_that_does_not_exist_makes_a_root():
    bones = b"".join(chunk(number, bone(*named)) for number, named in enumerate([("a", "none"), ("b", "a"), ("c", "")]))
    skeleton = decode_skeleton(model_of(small(x921=bones)), "a.object")
    assert (skeleton.bones, skeleton.parents.tolist()) == (["a", "b", "c"], [-1, 0, -1])


def test_an_old_mesh_gets_the_maps_of_today():
    model = model_of(OLD)
    created = decoded(model)
    created.uvs = created.uvs.copy()
    created.uvs[0] = (0.5, 0.5)
    after, changes, _ = encoded(created, model)
    assert changes.lines == ["1 texture coordinate"]
    assert after.maps.layout == 0x1012
    again = editor_model.read(
        editor_model.write(editor_model.read(OLD, "a", Report()).with_model(model)), "a", Report()
    )
    assert again.model.meshes[0].maps.layout == 0x1011


SQUARE = np.array([[0, 1, 2], [0, 2, 3]])


def test_edge_bits_hold_every_edge():
    for old in ([0, 0], [8, 0], [3, 6], [FLAT, FLAT]):
        for number in range(64):
            pairs = np.array([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)])[[bool(number >> bit & 1) for bit in range(5)]]
            sharp = sides_of(SQUARE, pairs.reshape(-1, 2))
            groups, lost = smoothing_numbers(Rule.EDGES, SQUARE, sharp, np.array(old, np.uint32))
            assert lost == 0
            np.testing.assert_array_equal(hard_sides(groups), sharp)
            kept = (hard_sides(np.array(old, np.uint32)) == sharp).all(axis=1)
            np.testing.assert_array_equal(groups[kept], np.array(old, np.uint32)[kept])


def test_groups_part_at_sharp_edges_and_join_at_soft_ones():
    empty, diagonal = np.zeros((0, 2), np.int64), np.array([(0, 2)])
    old = np.array([7, 7], np.uint32)
    apart, lost = smoothing_numbers(Rule.GROUPS, SQUARE, sides_of(SQUARE, diagonal), old)
    assert (apart[0], apart[1] >= 16, lost) == (7, True, 0)
    joined, _ = smoothing_numbers(Rule.GROUPS, SQUARE, sides_of(SQUARE, empty), np.array([7, 8], np.uint32))
    assert joined[0] == joined[1] >= 16
    same, _ = smoothing_numbers(Rule.GROUPS, SQUARE, sides_of(SQUARE, empty), np.array([20, 20], np.uint32))
    assert same.tolist() == [20, 20]
    unlike_bits, _ = smoothing_numbers(Rule.GROUPS, SQUARE, sides_of(SQUARE, empty), old)
    assert unlike_bits.tolist() == [23, 23]


def test_a_sharp_edge_inside_a_smooth_surface_is_counted():
    # A fan around point 0 that closes: one sharp edge does not part it.
    fan = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]])
    groups, lost = smoothing_numbers(Rule.GROUPS, fan, sides_of(fan, np.array([(0, 2)])), np.full(4, 20, np.uint32))
    assert groups.tolist() == [20] * 4
    assert lost == 1


def test_masks_become_groups_and_report_it():
    data = small((mesh(x1002=b"\5", x1013=words(0x30, 0x50), x1014=None),))
    model = model_of(data)
    assert rule_of(model.meshes[0]) is Rule.MASKS
    created = decoded(model)
    created.sharp_edges = np.array([(0, 2)], np.int32)
    after, _, report = encoded(created, model)
    assert after.first(MeshFlags).flags == 1
    first, second = after.first(Smoothing).groups
    assert first != second
    assert any("masks are written as smoothing groups" in warning for warning in report.warnings)


def test_a_new_mesh_has_the_same_normals():
    model = model_of(small((mesh(x1013=words(1, 0), x1014=None),)))
    created = decoded(model)
    for rule in (Rule.EDGES, Rule.GROUPS):
        new = encode_new_mesh(created, model, rule, Report())
        assert new.label == "quad"
        np.testing.assert_allclose(corner_normals(new), corner_normals(model.meshes[0]), atol=1e-6)


def test_entries_of_maps_that_are_not_there_are_reported_and_passed_over():
    data = small()
    report = Report()
    whole = decode_mesh(model_of(data).meshes[0], model_of(data), report)
    assert not report
    refs = MESH[0x1008].replace(words(1, 0), words(1, 1))  # uv 1 of map 1, which has one
    model = model_of(small((mesh(x1008=refs),)))
    own_mesh = decode_mesh(model.meshes[0], model, report)
    assert report.lines() == ["vertices refer to weights or texture coordinates that do not exist; ignored (quad)"]
    assert own_mesh.weights.weights.tolist() == whole.weights.weights.tolist()
    changed = (own_mesh.uvs != whole.uvs).any(axis=1)
    assert changed.sum() == 1
    assert own_mesh.uvs[changed].tolist() == [[0, 1]], "u 0, v 0 from above"


def test_normals_of_a_new_mesh_lie_in_their_own_chunk():
    model = model_of(small())
    new = encode_new_mesh(decoded(model), model, Rule.NORMALS, Report())
    bodies = {section.chunk.id: section.value for section in new.sections}
    assert list(bodies) == [0x1000, 0x1001, 0x1004, 0x1002, 0x1010, 0x1005, 0x1006, 0x1014, 0x1008, 0x1009, 0x1012]
    assert bodies[0x1014].normals.reshape(-1, 3).tolist() == [[0, 0, -1]] * 6


def test_points_without_faces_are_vertices():
    points, faces = Points(np.arange(6, dtype=np.float32).reshape(2, 3)), Faces(np.zeros((0, 3, 2), np.uint32))
    mesh = Mesh([Section(Chunk(number, b""), value) for number, value in ((0x1005, points), (0x1006, faces))])
    own_mesh = decode_mesh(mesh, Model([]), Report())
    assert own_mesh.positions.tolist() == [[0, 2, 1], [3, 5, 4]]
    assert not len(own_mesh.corners)
