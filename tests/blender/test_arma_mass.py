"""Masses of geometry LODs: on parts of a mesh, on several meshes, shown as colors with the center of mass."""

import bmesh
import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import mass
from tests.blender.scenes import column
from tests.blender.test_p3d_check import finished, geometry
from tests.blender.test_p3d_export import exported
from tests.blender.test_ui import last_report, refusal


@pytest.fixture
def boxes():
    """A geometry of two boxes of 8 m³ each, and of 1 m³ at (10, 0, 0); edited, the vertices of the second selected."""
    obj = geometry("boxes")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.mesh.primitive_cube_add(size=1, location=(10, 0, 0))
    return obj


def masses(obj):
    obj.update_from_editmode()
    layer = obj.data.attributes.get("mass")
    if obj.mode != "EDIT":
        return [round(value, 4) for value in column(layer.data, "value").tolist()] if layer else []
    edited = bmesh.from_edit_mesh(obj.data)
    return [round(vertex[edited.verts.layers.float["mass"]], 4) for vertex in edited.verts]


def set_mass(**options):
    return bpy.ops.motionbridge.arma_set_mass(**options)


def test_selected_vertices_get_a_mass_and_the_others_keep_theirs(boxes, tmp_path):
    assert set_mass(mass=160) == {"FINISHED"}
    assert masses(boxes) == [10] * 16
    assert set_mass(mass=40, part="SELECTED") == {"FINISHED"}
    assert last_report() == ["boxes: 40 kg on 8 points, 120 kg in all"]
    assert (masses(boxes), boxes.mode) == ([10] * 8 + [5] * 8, "EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    (lod,) = p3d.read(exported(tmp_path), "", Report()).lods
    (stored,) = (np.frombuffer(tag.data, "<f4") for tag in lod.tags if tag.name == b"#Mass#")
    assert stored.tolist() == [10] * 8 + [5] * 8


def test_a_density_weighs_the_whole_loose_parts_of_the_selection_by_their_volume(boxes):
    assert set_mass(mass=160) == {"FINISHED"}
    edited = bmesh.from_edit_mesh(boxes.data)
    edited.verts.ensure_lookup_table()
    for vertex in edited.verts[9:]:
        vertex.select_set(False)
    bmesh.update_edit_mesh(boxes.data)
    assert set_mass(distribution="DENSITY", density=800, part="SELECTED") == {"FINISHED"}
    assert last_report() == ["boxes: 800 kg on 8 points, 880 kg in all"]
    assert masses(boxes) == [10] * 8 + [100] * 8
    bpy.ops.mesh.select_all(action="SELECT")
    assert set_mass(distribution="VOLUME", mass=90, part="SELECTED") == {"FINISHED"}
    assert masses(boxes) == [10] * 8 + [1.25] * 8


def test_only_the_selected_parts_must_be_closed(boxes):
    edited = bmesh.from_edit_mesh(boxes.data)
    edited.faces.ensure_lookup_table()
    bmesh.ops.delete(edited, geom=[edited.faces[0]], context="FACES_ONLY")
    bmesh.update_edit_mesh(boxes.data)
    assert set_mass(distribution="DENSITY", density=800, part="SELECTED") == {"FINISHED"}
    assert masses(boxes) == [0] * 8 + [100] * 8
    assert "is not closed" in refusal(set_mass, distribution="DENSITY", density=800)
    bpy.ops.mesh.select_all(action="DESELECT")
    assert "no vertex is selected" in refusal(set_mass, part="SELECTED")


def test_several_lods_get_the_mass_each_a_shared_mesh_once_and_undo_takes_it_back():
    first, second = finished("first"), finished("second")
    second.motionbridge_arma_level.resolution = 4e13  # PhysX
    twin = first.copy()
    bpy.context.scene.collection.objects.link(twin)
    for obj in (first, second, twin):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = first
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.ed.undo_push(message="before")
    assert set_mass(mass=16, part="SELECTED") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    names = first.name, second.name
    assert [sum(masses(bpy.data.objects[name])) for name in names] == [16, 16]
    bpy.ops.ed.undo()
    assert [sum(masses(bpy.data.objects[name])) for name in names] == [40, 40]


def test_the_mass_is_shown_as_colors_with_its_center_follows_edits_and_undo_and_stays_out_of_the_file(tmp_path):
    obj = finished()
    path = exported(tmp_path)
    (tmp_path / "out.p3d").unlink()
    assert bpy.ops.motionbridge.arma_show_mass() == {"FINISHED"}
    assert last_report()[0] == "hull: 40 kg, center at 0.000, 0.000, 0.000; red is 5 kg"
    assert exported(tmp_path) == path
    name, mark = obj.name, obj.motionbridge_arma_level.centre.name
    colours = column(obj.data.color_attributes["mass_color"].data, "color", 4)
    assert np.allclose(colours, [1, 0, 0, 1])
    bpy.ops.ed.undo_push(message="shown")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    edited = bmesh.from_edit_mesh(obj.data)
    for vertex in edited.verts:
        vertex.select_set(vertex.co.z > 0)
    bmesh.update_edit_mesh(obj.data)
    bpy.ops.ed.undo_push(message="before")
    assert set_mass(mass=60, part="SELECTED") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    assert tuple(bpy.data.objects[mark].location) == pytest.approx((0, 0, 0.5))
    bpy.ops.ed.undo()
    assert tuple(bpy.data.objects[mark].location) == pytest.approx((0, 0, 0)), "undo in edit mode changes meshes only"
    assert not bpy.ops.motionbridge.arma_show_mass.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.arma_show_mass() == {"FINISHED"}
    obj = bpy.data.objects[name]
    assert "mass_color" not in obj.data.color_attributes
    assert (obj.display_type, obj.motionbridge_arma_level.centre, len(obj.children)) == ("WIRE", None, 0)


def test_a_lod_without_mass_has_nothing_to_show_and_a_hidden_one_hides_its_center():
    hull = geometry()
    assert bpy.ops.motionbridge.arma_show_mass() == {"CANCELLED"}
    assert set_mass(mass=8) == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_show_mass() == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_lod_hide(index=0) == {"FINISHED"}
    assert hull.motionbridge_arma_level.centre.hide_get()
    bpy.context.view_layer.objects.active = hull
    assert bpy.ops.motionbridge.arma_lod_remove() == {"FINISHED"}
    assert not bpy.data.objects


def test_colors_go_from_blue_to_red_and_points_without_mass_are_gray():
    colours = mass.colours_of(np.array([0, 1, 5, 10], np.float32))
    assert colours[0].tolist() == pytest.approx(mass.NOTHING)
    assert colours[3].tolist() == [1, 0, 0, 1]
    assert colours[2].tolist() == [0, 1, 0, 1]
    assert colours[1, 2] > 0.5 > colours[1, 0]
