"""Proxies of Arma models aligned to faces, and copied and moved to other LODs: what the file then has."""

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Euler

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import lod_list, proxies
from tests.blender.test_p3d_export import cube, exported, load
from tests.blender.test_ui import last_report, refusal

SQUARE = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
NORMALS = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0), (1, 0, 0), (-0.3, 0.2, 0.5), (0.1, -0.7, -0.2)]


@pytest.fixture
def crate():
    """A new model of two LODs and a geometry; the first one has a proxy and is active."""
    result = cube("crate")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_lod_copy(kinds={"RESOLUTION", "GEOMETRY"}) == {"FINISHED"}
    bpy.context.view_layer.objects.active = result
    assert bpy.ops.motionbridge.arma_mark_add(kind="PROXY", label="tag\\gun.001") == {"FINISHED"}
    return result


def proxy_of(obj):
    return next(child for child in obj.children if child.motionbridge_arma_mark.kind == "PROXY")


def make_current(*objects):
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.hide_set(False)
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[0]


def in_file(folder):
    (folder / "out.p3d").unlink(missing_ok=True)
    return {lod.name: list(p3d.proxies(lod)) for lod in p3d.read(exported(folder), "", Report()).lods}


def names_in(folder):
    return {name: [proxy.name for proxy in rows] for name, rows in in_file(folder).items()}


@pytest.mark.parametrize("axis", ["UP", "FORWARD"])
@pytest.mark.parametrize("normal", NORMALS)
def test_a_frame_is_a_rotation_whose_axis_is_the_normal(axis, normal):
    normal = np.array(normal) / np.linalg.norm(normal)
    rotated = np.eye(3)
    rotated[:, 2] = normal
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    rotated[:, 0] = np.cross(helper, normal) / np.linalg.norm(np.cross(helper, normal))
    rotated[:, 1] = np.cross(normal, rotated[:, 0])
    frame = proxies.frame_of_face(SQUARE @ rotated.T + (1, 2, 3), axis)
    rotation = frame[:3, :3]
    assert np.allclose(rotation.T @ rotation, np.eye(3))
    assert np.linalg.det(rotation) > 0
    assert np.allclose(rotation[:, 2 if axis == "UP" else 1], normal)
    assert np.allclose(frame[:3, 3], (1, 2, 3))


def test_a_face_that_looks_as_the_axis_does_turns_nothing():
    assert np.allclose(proxies.frame_of_face(SQUARE, "UP"), np.eye(4))
    assert np.allclose(proxies.frame_of_face(SQUARE[:, [0, 2, 1]] * (-1, 1, 1), "FORWARD"), np.eye(4))
    with pytest.raises(WriteError, match="no area"):
        proxies.frame_of_face(SQUARE * (1, 0, 0), "UP")


@pytest.mark.parametrize("axis", ["UP", "FORWARD"])
def test_a_proxy_is_aligned_to_the_active_face_of_its_moved_lod(crate, axis, tmp_path):
    crate.location, crate.rotation_euler, crate.scale = (5, 6, 7), Euler((0.3, -0.2, 1.1)), (2, 3, 4)
    bpy.context.view_layer.update()
    proxy = proxy_of(crate)
    crate.data.polygons.active = 3
    make_current(proxy)
    assert bpy.ops.motionbridge.arma_proxy_align(axis=axis) == {"FINISHED"}
    bpy.context.view_layer.update()
    face = crate.data.polygons[3]
    normal = (crate.matrix_world.inverted().transposed().to_3x3() @ face.normal).normalized()
    (stored,) = in_file(tmp_path)["Resolution 1"]
    assert np.allclose(stored.transform[:3, 2 if axis == "UP" else 1], normal, atol=1e-4)
    assert np.allclose(stored.transform[:3, 3], crate.matrix_world @ face.center, atol=1e-4)


def test_a_proxy_is_added_at_the_face_that_is_edited_and_an_undo_removes_it(crate):
    name = crate.name
    make_current(crate)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(crate.data)
    edited.faces.ensure_lookup_table()
    edited.faces.active = edited.faces[2]
    centre = edited.faces[2].calc_center_median()
    bpy.ops.ed.undo_push(message="edited")
    count = len(bpy.data.objects)
    added = bpy.ops.motionbridge.arma_mark_add(kind="PROXY", label="tag\\lamp.001", align="FORWARD")
    assert added == {"FINISHED"}
    assert crate.mode == "OBJECT"
    lamp = next(obj for obj in bpy.data.objects if obj.motionbridge_arma_mark.game_name == "tag\\lamp.001")
    bpy.context.view_layer.update()
    assert np.allclose(lamp.matrix_world.translation, crate.matrix_world @ centre)
    bpy.ops.ed.undo_push(message="added")
    bpy.ops.ed.undo()
    assert len(bpy.data.objects) == count
    assert bpy.data.objects[name] is not None


def test_without_an_active_face_it_says_where_to_click(crate):
    bare = bpy.data.meshes.new("bare")
    proxy = proxy_of(crate)
    crate.data = bare
    make_current(proxy)
    assert "no active face" in refusal(bpy.ops.motionbridge.arma_proxy_align)
    make_current(crate)
    assert not bpy.ops.motionbridge.arma_proxy_align.poll()


def test_proxies_are_copied_to_lods_at_the_same_positions(crate, tmp_path):
    proxy = proxy_of(crate)
    proxy.location, proxy.rotation_euler = (1, 2, 3), Euler((0.4, 0.5, 0.6))
    other = next(lod.obj for lod in lod_list.lods_of(bpy.context) if lod.name == "Geometry")
    other.location = 4, 5, 6
    make_current(proxy)
    assert bpy.ops.motionbridge.arma_proxies_copy(lods={"Resolution 2", "Geometry"}) == {"FINISHED"}
    assert last_report() == ["Copied proxies to Resolution 2, Geometry: 2"]
    stored = in_file(tmp_path)
    assert [len(rows) for rows in stored.values()] == [1, 1, 1]
    first = stored["Resolution 1"][0].transform
    for rows in stored.values():
        assert np.allclose(rows[0].transform, first, atol=1e-5)
    assert proxy_of(other).hide_get() == other.hide_get()
    assert bpy.ops.motionbridge.arma_proxies_copy(lods={"Geometry"}) == {"FINISHED"}
    assert names_in(tmp_path)["Geometry"] == ["tag\\gun.001", "tag\\gun.002"], "a number of its own"


def test_all_proxies_of_the_active_lod_are_moved(crate, tmp_path):
    assert bpy.ops.motionbridge.arma_mark_add(kind="PROXY", label="tag\\lamp.001") == {"FINISHED"}
    make_current(crate)
    assert bpy.ops.motionbridge.arma_proxies_copy(lods={"Geometry"}, move=True) == {"FINISHED"}
    assert last_report() == ["Moved proxies to Geometry: 2"]
    assert names_in(tmp_path) == {
        "Resolution 1": [],
        "Resolution 2": [],
        "Geometry": ["tag\\gun.001", "tag\\lamp.001"],
    }
    assert not bpy.ops.motionbridge.arma_proxies_copy.poll(), "the active LOD has none any more"
    assert bpy.context.view_layer.objects.active == crate


def test_a_moved_active_proxy_leaves_its_lod_active_and_undo_brings_it_back(crate):
    make_current(proxy_of(crate))
    bpy.ops.ed.undo_push(message="before")
    name = crate.name
    assert bpy.ops.motionbridge.arma_proxies_copy(lods={"Geometry"}, move=True) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == crate
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert proxy_of(bpy.data.objects[name]) is not None


def test_no_lod_chosen_is_refused_and_an_imported_proxy_is_moved_in_its_file(crate, tmp_path):
    make_current(proxy_of(crate))
    assert "no LOD is chosen" in refusal(bpy.ops.motionbridge.arma_proxies_copy)
    path = tmp_path / "crate.p3d"
    path.write_bytes(exported(tmp_path))
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    first = load(path).levels[0]
    make_current(first)
    assert names_in(tmp_path)["Resolution 1"] == ["tag\\gun.001"]
    assert bpy.ops.motionbridge.arma_proxies_copy(lods={"Resolution 2"}, move=True) == {"FINISHED"}
    assert names_in(tmp_path) == {"Resolution 1": [], "Resolution 2": ["tag\\gun.001"], "Geometry": []}
