"""Meshes through Blender: every array comes back, and what the user did to a mesh is seen."""

import bmesh
import bpy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addon.blender import compat
from addon.blender import mesh as meshes
from addon.core.errors import MotionbridgeError
from addon.core.model import Attribute, Domain, Material, Mesh, PolygonMesh, VertexWeights
from addon.core.report import Report
from addon.formats.xray import ogf
from addon.formats.xray.ogf.mesh import decode_meshes
from tests.blender.scenes import reopen
from tests.real_files import corpus_files


def made(mesh):
    from addon.blender import material

    report = Report()
    actual = meshes.build(mesh, [material.build(used_material) for used_material in mesh.materials], report)
    return actual, report


def sorted_weights(mesh):
    pulls = mesh.weights
    order = np.lexsort((pulls.groups, pulls.vertices))
    return pulls.vertices[order], pulls.groups[order], pulls.weights[order]


def assert_same(result, mesh):
    np.testing.assert_array_equal(result.positions, mesh.positions)
    np.testing.assert_array_equal(result.triangles, mesh.triangles)
    if mesh.normals is not None:
        np.testing.assert_array_equal(result.normals, mesh.normals)
    if mesh.uvs is None:
        assert result.uvs is None
    else:
        np.testing.assert_array_equal(result.uvs, mesh.uvs)
    assert result.groups == mesh.groups
    if mesh.weights is None:
        assert result.weights is None
    else:
        for ours, theirs in zip(sorted_weights(result), sorted_weights(mesh), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert result.materials == mesh.materials
    if mesh.material_index is not None:
        np.testing.assert_array_equal(result.material_index, mesh.material_index)


@st.composite
def any_mesh(draw):
    """Small and nasty: faces without area, twice the same face, vertices without faces."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, faces, bones = draw(st.integers(1, 12)), draw(st.integers(0, 20)), draw(st.integers(0, 3))
    normals = random.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    pairs = [(v, g) for v in range(count) for g in range(bones) if random.random() < 0.6]
    vertices, groups = np.array(pairs, np.int32).reshape(-1, 2).T
    materials = [Material(f"surface {number}", f"t\\{number}", "s") for number in range(draw(st.integers(0, 3)))]
    return Mesh(
        "nasty",
        random.normal(size=(count, 3)).astype(np.float32),
        random.integers(0, count, (faces, 3)).astype(np.int32),
        normals.astype(np.float32),
        random.uniform(-3, 3, (count, 2)).astype(np.float32) if draw(st.booleans()) else None,
        [f"bone {number}" for number in range(bones)],
        VertexWeights(vertices, groups, random.uniform(0.001, 1, len(pairs)).astype(np.float32)) if bones else None,
        materials,
        random.integers(0, len(materials), faces).astype(np.int32) if materials else None,
    )


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(any_mesh())
def test_what_goes_in_comes_out(mesh):
    obj, report = made(mesh)
    result = meshes.gather(obj)
    assert_same(result.mesh, mesh)
    folded = [len(set(face)) < 3 for face in mesh.triangles.tolist()]
    assert result.exact_normals or all(folded)
    assert len(report.warnings) == any(folded)
    assert len(obj.data.polygons) == len(folded) - sum(folded)


@pytest.mark.parametrize("domain", Domain)
def test_materials_use_the_uv_map_whatever_else_a_mesh_has(domain):
    pairs = {"pairs": Attribute(domain, np.ones((3 if domain is Domain.VERTEX else 1, 2), np.float32))}
    positions, uvs = np.eye(3, dtype=np.float32), np.eye(3, 2, dtype=np.float32)
    corners = np.arange(3, dtype=np.int32)
    triangles = made(Mesh("one", positions, corners[None], uvs=uvs, attributes=pairs))[0].data
    polygons = meshes.build_polygons(
        PolygonMesh("one", positions, np.array([3], np.int32), corners, uvs, attributes=pairs), []
    )
    for data in (triangles, polygons):
        assert [layer.name for layer in data.uv_layers if layer.active_render] == ["UVMap"]


@pytest.mark.parametrize("path", corpus_files("ogf"))
def test_every_real_mesh_comes_out_as_it_went_in(path):
    try:
        document = ogf.read(path.read_bytes(), path.name, Report())
    except MotionbridgeError:
        pytest.skip("not a model")
    result = decode_meshes(document, Report())
    for mesh in result:
        actual = meshes.build(mesh, [], Report())
        mesh.materials, mesh.material_index = [], None
        assert_same(meshes.gather(actual).mesh, mesh)
    assert result or "odd_" in path.name


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_it_comes_out_the_same_after_saving_and_editing_nothing(path, tmp_path):
    document = ogf.read(path.read_bytes(), path.name, Report())
    originals = decode_meshes(document, Report())
    for mesh in originals:
        actual, report = made(mesh)
        assert not report.warnings
        bpy.context.collection.objects.link(actual)
        bpy.context.view_layer.objects.active = actual
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
    reopen(tmp_path)
    for mesh in originals:
        assert_same(meshes.gather(bpy.data.objects[mesh.name]).mesh, mesh)


def square(**changes):
    """Two triangles sharing an edge, normals up."""
    positions = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], np.float32)
    weights = VertexWeights(np.arange(4, dtype=np.int32), np.array([0, 1, 0, 1], np.int32), np.full(4, 0.5, np.float32))
    parts = {
        "normals": np.tile(np.array([0, 0, 1], np.float32), (4, 1)),
        "uvs": positions[:, :2].copy(),
        "groups": ["left", "right"],
        "weights": weights,
    }
    return Mesh("square", positions, np.array([(0, 1, 2), (0, 2, 3)], np.int32), **(parts | changes))


def test_a_vertex_whose_corners_disagree_is_taken_apart_and_the_others_keep_their_numbers():
    obj, _ = made(square())
    obj.data.uv_layers[0].uv[3].vector = (0.25, 0.75)  # vertex 0 in the second triangle
    result = meshes.gather(obj).mesh
    np.testing.assert_array_equal(result.positions, square().positions[[0, 1, 2, 3, 0]])
    np.testing.assert_array_equal(result.triangles, [(0, 1, 2), (4, 2, 3)])
    np.testing.assert_array_equal(result.uvs, [(0, 0), (1, 0), (1, 1), (0, 1), (0.25, 0.75)])
    np.testing.assert_array_equal(result.weights.vertices, [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(result.weights.groups, [0, 1, 0, 1, 0])
    np.testing.assert_array_equal(result.weights.weights, np.full(5, 0.5))


def test_a_hard_edge_is_kept_as_two_normals_of_one_position():
    obj, _ = made(square(normals=None))
    obj.data.vertices[3].co = (0, 1, 1)
    obj.data.shade_flat()
    result = meshes.gather(obj).mesh
    assert len(result.positions) == 6
    a, b, c = (result.positions[result.triangles[:, corner]] for corner in range(3))
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    for corner in range(3):
        np.testing.assert_allclose(result.normals[result.triangles[:, corner]], flat, atol=1e-6)


def test_quads_are_cut_into_triangles_with_their_materials():
    data = bpy.data.meshes.new("quads")
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
    data.from_pydata(corners, [], [(0, 1, 2, 3), (1, 4, 5, 2)])
    data.materials.append(None)
    data.materials.append(None)
    data.polygons[1].material_index = 1
    result = meshes.gather(bpy.data.objects.new("quads", data)).mesh
    np.testing.assert_array_equal(result.material_index, [0, 0, 1, 1])
    a, b, c = (result.positions[result.triangles[:, corner]] for corner in range(3))
    np.testing.assert_allclose(np.cross(b - a, c - a)[:, 2], 1)
    assert result.materials == [Material(""), Material("")]


def test_faces_that_point_nowhere_are_left_out_and_counted_before_blender_sees_them():
    bad = np.array([(0, 1, 2), (0, 2, 4), (-1, 2, 3), (0, 2, 3)], np.int32)
    obj, report = made(Mesh(**{**vars(square()), "triangles": bad}))
    assert [tuple(face.vertices) for face in obj.data.polygons] == [(0, 1, 2), (0, 2, 3)]
    assert report.lines() == ["2 triangles point to vertices that do not exist; left out (square)"]


def test_a_mesh_that_is_being_edited_is_read_as_it_is_at_this_moment():
    obj, _ = made(square())
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(obj.data)
    edited.verts.ensure_lookup_table()
    edited.verts[1].co.x = 5
    count = len(bpy.data.meshes)
    result = meshes.gather(obj).mesh
    assert obj.mode == "EDIT"
    assert len(bpy.data.meshes) == count
    np.testing.assert_array_equal(result.positions[1], (5, 0, 0))
    np.testing.assert_array_equal(result.uvs, square().uvs)
    np.testing.assert_array_equal(result.weights.weights, np.full(4, 0.5))


def test_normals_that_the_user_changed_are_what_blender_shows():
    leaning = np.tile(np.array([0.6, 0, 0.8], np.float32), (4, 1))
    turned = np.array([(0, 0.6, 0.8), (0.6, 0, 0.8), (0.6, 0, 0.8), (0.6, 0, 0.8)], np.float32)
    obj, _ = made(square(normals=leaning))
    free = obj.data.attributes.get("custom_normal")
    if free is not None:
        free.data.foreach_set("vector", turned[square().triangles].ravel())
    else:
        obj.data.normals_split_custom_set_from_vertices(turned)
    np.testing.assert_allclose(meshes.gather(obj).mesh.normals, turned, atol=2e-4)


def test_a_vertex_moved_takes_only_its_own_position_along():
    """Normals are of the surface where Blender works them out anew, and the others stay as they were given."""
    obj, _ = made(square(normals=np.tile(np.array([0.6, 0, 0.8], np.float32), (4, 1))))
    obj.data.vertices[1].co.z = 0.5
    obj.data.update()
    result = meshes.gather(obj).mesh
    np.testing.assert_array_equal(result.positions[[0, 2, 3]], square().positions[[0, 2, 3]])
    np.testing.assert_array_equal(result.uvs, square().uvs)
    shown_normals = np.array([tuple(corner_normal.vector) for corner_normal in obj.data.corner_normals], np.float32)
    np.testing.assert_allclose(result.normals[result.triangles.ravel()], shown_normals, atol=2e-4)


def test_a_mesh_without_normals_shows_the_surface_s_own():
    actual, _ = made(square(normals=None))
    result = meshes.gather(actual)
    assert not result.exact_normals
    np.testing.assert_allclose(result.mesh.normals, square().normals, atol=1e-6)


def test_triangles_folded_to_a_line_never_get_into_blender_and_come_back_to_their_positions():
    """Working out normals of such faces crashes every Blender."""
    folded = np.array([(0, 0, 1), (0, 1, 2), (2, 2, 2), (0, 2, 3), (0, 1, 2), (3, 1, 3)], np.int32)
    mesh = Mesh(**{**vars(square()), "triangles": folded})
    obj, report = made(mesh)
    assert report.lines() == ["3 triangles without area; not shown, but kept (square)"]
    assert [tuple(face.vertices) for face in obj.data.polygons] == [(0, 1, 2), (0, 2, 3), (0, 1, 2)]
    assert_same(meshes.gather(obj).mesh, mesh)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    result = meshes.gather(obj).mesh
    assert not any(len(set(face)) < 3 for face in result.triangles.tolist())


def test_triangles_without_area_and_twice_the_same_survive_edit_mode():
    positions = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)], np.float32)
    flat = np.array([(0, 1, 2), (0, 1, 3), (0, 3, 1), (0, 1, 3)], np.int32)
    mesh = Mesh(**{**vars(square()), "positions": positions, "triangles": flat})
    actual, report = made(mesh)
    bpy.context.collection.objects.link(actual)
    bpy.context.view_layer.objects.active = actual
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_same(meshes.gather(actual).mesh, mesh)
    assert not report


@pytest.mark.parametrize("hard", [False, True])
def test_a_normal_for_each_vertex_is_shown_as_the_same_normals_for_their_corners(hard):
    random = np.random.default_rng(3)
    x, y = np.meshgrid(np.arange(12), np.arange(12))
    positions = np.stack([x, y, random.uniform(0, 0.4, x.shape)], axis=-1).reshape(-1, 3).astype(np.float32)
    first = (np.arange(11)[:, None] * 12 + np.arange(11)).ravel()
    corners = np.stack([first, first + 1, first + 13, first, first + 13, first + 12], axis=1).ravel().astype(np.int32)
    normals = random.normal(size=positions.shape) * 0.2 + (0, 0, 1)
    normals = (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32)
    normals[7], normals[30] = np.nan, 0  # what is no direction is left to Blender

    def shown_by(**given):
        counts = np.full(len(corners) // 3, 3, np.int32)
        edges = np.array([(0, 1), (13, 26), (26, 39)], np.int32) if hard else None
        data = meshes.build_polygons(PolygonMesh("m", positions, counts, corners, sharp_edges=edges, **given), [])
        return meshes.column(data.corner_normals, "vector", len(corners), 3)

    by_vertex, by_corner = shown_by(normals=normals), shown_by(corner_normals=normals[corners])
    directed = ~np.isin(corners, (7, 30))
    np.testing.assert_allclose(by_vertex[directed], by_corner[directed], atol=1e-6)
    exact = 1e-6 if compat.NORMALS_BY_ATTRIBUTE else 5e-3
    np.testing.assert_allclose(by_vertex[directed], normals[corners][directed], atol=exact)
    assert np.isfinite(by_vertex).all()


@pytest.mark.parametrize("loose", [0, 2])
def test_edges_of_separate_triangles_join_the_corners_of_each(loose):
    corners = np.random.default_rng(2).permutation(30).astype(np.int32).reshape(-1, 3)
    positions = np.random.default_rng(3).normal(size=(30 + loose, 3)).astype(np.float32)
    data = meshes.build(Mesh("m", positions, corners), [], Report()).data
    assert not data.validate()
    assert len(data.edges) == 30
    for face in data.polygons:
        loops = [data.loops[index] for index in face.loop_indices]
        for loop, following in zip(loops, [*loops[1:], loops[0]], strict=True):
            assert set(data.edges[loop.edge_index].vertices) == {loop.vertex_index, following.vertex_index}


def test_edges_of_large_meshes_are_reported_apart():
    count = 100_000
    edges = [(1, 99_999), (42_951, 67_295), (67_295, 3)]
    # The numbers of the first two differ by a multiple of 2^32.
    assert (1 * count + 99_999 - 42_951 * count - 67_295) % 2**32 == 0
    data = bpy.data.meshes.new("large")
    data.vertices.add(count)
    data.edges.add(len(edges))
    data.edges.foreach_set("vertices", np.array(edges, np.int32).ravel())
    result = meshes.edges_between(data, np.array([(99_999, 1), (3, 67_295)], np.int32))
    assert result.tolist() == [True, False, True]
    assert not meshes.edges_between(data, np.zeros((0, 2), np.int32)).any()
