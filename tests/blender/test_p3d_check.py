"""What the game refuses in Arma models is found, selected and said before writing; components and masses are made."""

import bmesh
import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.blender.mesh import outside_edit_mode
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import mass, model_check
from addon.ui.arma import models
from tests.blender.scenes import delete_faces, editing
from tests.blender.test_p3d_export import cube, exported, load
from tests.blender.test_ui import last_report, refusal
from tests.blender.test_written_motions import as_in_a_window, drawn

NO_COMPONENTS = (
    "it has no components (vertex groups Component01, Component02 and so on); use Find Components [Components]"
)
NOTHING_DRAWN = "the model has no Resolution LOD; make a mesh Resolution 1 (Set Arma LOD) [Nothing Drawn]"
OPEN = "4 of 5 faces have an open edge; this LOD must be closed"


def geometry(name="hull", kind="GEOMETRY", **options):
    result = cube(name, **options)
    assert bpy.ops.motionbridge.arma_set_lod(kind=kind) == {"FINISHED"}
    return result


def finished(name="hull"):
    """A geometry without problems, the active object."""
    result = geometry(name)
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_set_mass(mass=40) == {"FINISHED"}
    return result


def without_face(obj, face=0):
    delete_faces(obj.data, face)


def imported(folder):
    """A geometry with a hole, in a file and imported from it."""
    created = finished()
    without_face(created)
    exported(folder)
    assert any(line.startswith(OPEN) for line in last_report())
    bpy.data.objects.remove(created)
    return load(folder / "out.p3d").levels[0]


def members(obj):
    return {
        group.name: [vertex.index for vertex in obj.data.vertices if group.index in {g.group for g in vertex.groups}]
        for group in obj.vertex_groups
    }


def selected_faces(obj):
    return [face.index for face in bmesh.from_edit_mesh(obj.data).faces if face.select]


def material(name):
    """A material with a texture."""
    result = bpy.data.materials.new(name)
    result.motionbridge_material.texture = "tag\\addon\\camo_co.paa"
    return result


def check(**options):
    return bpy.ops.motionbridge.arma_model_check(**options)


def test_a_new_geometry_is_reported_to_lack_components_until_they_are_made_and_gets_a_mass(tmp_path):
    hull = geometry()
    exported(tmp_path)
    assert [line for line in last_report() if line.startswith("it")] == [
        f"{NO_COMPONENTS} (hull)",
        "it has no mass; use Set Mass [Mass] (hull)",
    ]
    assert check() == {"FINISHED"}
    assert last_report()[0] == "Selected finding 1 of 2"
    assert hull.mode == "OBJECT", "both are about the whole LOD"
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    assert last_report() == ["Components of hull: 1"]
    assert bpy.ops.motionbridge.arma_set_mass(mass=40) == {"FINISHED"}
    assert last_report() == ["hull has a mass of 40 kg"]
    assert check() == {"FINISHED"}
    assert last_report() == ["No errors or warnings found", NOTHING_DRAWN]
    (tmp_path / "out.p3d").unlink()
    (lod,) = p3d.read(exported(tmp_path), "", Report()).lods
    assert last_report() == ["out.p3d: a new model"]
    (mass,) = (np.frombuffer(tag.data, "<f4") for tag in lod.tags if tag.name == b"#Mass#")
    assert mass.tolist() == [5.0] * 8
    ((name, points, faces),) = lod.selections()
    assert (name, points.tolist(), faces.tolist()) == ("Component01", [1] * 8, [1] * 6)


def test_a_mass_follows_from_a_density():
    hull = geometry(size=4)
    hull.scale = (0.5, -0.5, 0.5)
    bpy.context.view_layer.update()
    assert bpy.ops.motionbridge.arma_set_mass(distribution="DENSITY", density=300) == {"FINISHED"}
    assert last_report() == ["hull has a mass of 2400 kg"]
    assert mass.mass_of(hull) == pytest.approx(2400)
    without_face(hull)
    assert "is not closed" in refusal(bpy.ops.motionbridge.arma_set_mass, distribution="DENSITY", density=300)


def test_the_check_selects_the_faces_at_fault_in_their_object_alone():
    hull, other = finished(), geometry("other", "VIEW_GEOMETRY")
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    without_face(hull, 5)
    hull.select_set(True)
    bpy.context.view_layer.objects.active = hull
    bpy.ops.object.mode_set(mode="EDIT")
    assert check() == {"FINISHED"}
    assert last_report()[0].startswith("Selected finding 1 of 1")
    assert (hull.mode, other.mode) == ("EDIT", "OBJECT")
    assert (hull.select_get(), other.select_get()) == (True, True), "what is exported"
    faces = bmesh.from_edit_mesh(hull.data).faces
    assert selected_faces(hull) == [face.index for face in faces if any(edge.is_boundary for edge in face.edges)]
    assert len(selected_faces(hull)) == 4


def test_a_check_without_findings_leaves_the_mode_alone():
    hull = finished()
    bpy.ops.object.mode_set(mode="EDIT")
    assert check() == {"FINISHED"}
    assert last_report() == ["No errors or warnings found", NOTHING_DRAWN]
    assert hull.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    hull.vertex_groups.clear()
    bpy.ops.object.mode_set(mode="EDIT")
    assert check() == {"FINISHED"}
    assert last_report()[0] == "Selected finding 1 of 1"
    assert hull.mode == "EDIT"


def test_a_face_with_many_corners_is_selected_whole():
    bpy.ops.mesh.primitive_cylinder_add(vertices=8)
    obj = bpy.context.view_layer.objects.active
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=0) == {"FINISHED"}
    assert check() == {"FINISHED"}
    assert "2 faces have more than four corners and are written as triangles" in last_report()[1]
    chosen = selected_faces(obj)
    assert [len(face.verts) for face in bmesh.from_edit_mesh(obj.data).faces if face.index in chosen] == [8, 8]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.arma_set_lod(kind="SHADOW_VOLUME") == {"FINISHED"}
    assert check(number=1) == {"FINISHED"}
    assert len(selected_faces(obj)) == 8, "the walls have four corners, the caps are written as triangles"


def test_faces_of_a_finding_are_those_of_the_mesh_although_others_are_written_as_triangles():
    hull = finished()
    with editing(hull.data) as edited:
        bmesh.ops.create_circle(edited, cap_ends=True, segments=6, radius=9)
    for number in range(4):
        assert check(number=number) == {"FINISHED"}
        if "open edge" in last_report()[0]:
            break
    assert selected_faces(hull) == [6]


def test_the_file_browser_says_it_before_writing():
    without_face(finished())
    dialog = as_in_a_window(models.EXPORT_SCENE_OT_arma_p3d)
    dialog.suggest(bpy.context)
    dialog.check(bpy.context)
    message = " ".join(drawn(dialog))
    assert "Check first:" in message
    assert OPEN in message
    bpy.context.object.location.x = 1
    dialog = as_in_a_window(models.EXPORT_SCENE_OT_arma_p3d)
    dialog.suggest(bpy.context)
    dialog.check(bpy.context)
    assert "not exported" not in " ".join(drawn(dialog))
    dialog.transforms = False
    dialog.check(bpy.context)
    message = " ".join(drawn(dialog))
    assert "its object is moved, rotated or scaled, which is not exported" in message
    assert OPEN in message


def test_the_file_browser_says_why_nothing_can_be_exported():
    cube()
    dialog = as_in_a_window(models.EXPORT_SCENE_OT_arma_p3d)
    dialog.suggest(bpy.context)
    dialog.check(bpy.context)
    assert "nothing of an Arma model is chosen" in " ".join(drawn(dialog))


def test_problems_of_a_file_are_reported_by_the_check_alone_until_an_edit_makes_them_worse(tmp_path):
    hull = imported(tmp_path)
    before = (tmp_path / "out.p3d").read_bytes()
    (tmp_path / "again").mkdir()
    assert exported(tmp_path / "again") == before
    assert not any("open edge" in line for line in last_report())
    assert check() == {"FINISHED"}
    assert OPEN in last_report()[1]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.arma_property_add(label="class", value="house") == {"FINISHED"}
    dialog = as_in_a_window(models.MOTIONBRIDGE_OT_arma_model_save_back)
    dialog.check(bpy.context)
    assert "open edge" not in " ".join(drawn(dialog))
    hull.vertex_groups.remove(hull.vertex_groups[0])
    dialog = as_in_a_window(models.MOTIONBRIDGE_OT_arma_model_save_back)
    dialog.check(bpy.context)
    message = " ".join(drawn(dialog))
    assert "it has no components" in message
    assert "open edge" not in message
    assert (tmp_path / "out.p3d").read_bytes() == before


def test_a_lod_that_was_not_imported_is_checked_too(tmp_path):
    body = cube("body")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    geometry("fire", "FIRE_GEOMETRY").select_set(True)
    body.select_set(True)
    exported(tmp_path)
    load(tmp_path / "out.p3d", levels={"FIRST"})
    assert check() == {"FINISHED"}
    assert f"in the LOD Fire Geometry, which is not imported: {NO_COMPONENTS}" in last_report()


def test_names_of_points_and_several_uv_maps():
    body = cube("body")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    body.data.uv_layers.new(name="second")
    body.data.uv_layers.new(name="third")
    assert bpy.ops.motionbridge.arma_mark_add(kind="POINT", label="глаз") == {"FINISHED"}
    assert check() == {"FINISHED"}
    assert "it has 3 UV sets, the game supports 2; delete UV maps [UV Sets] (body)" in last_report()
    assert any("names with letters that the game does not know: глаз" in line for line in last_report())


def test_more_than_four_bones_are_found(tmp_path):
    bpy.ops.object.armature_add()
    rig = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(5):
        bone = rig.data.edit_bones.new(f"b{number}")
        bone.tail = 0, 0, 1
    bpy.ops.object.mode_set(mode="OBJECT")
    body = cube("body")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    for number in range(5):
        body.vertex_groups.new(name=f"b{number}").add([0, 1] if number else [1], 0.2, "REPLACE")
    body.data.materials.append(material("camo"))
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    exported(tmp_path)
    assert any("1 of 8 vertices has more than 4 bones" in line for line in last_report())
    assert check() == {"FINISHED"}
    assert [vert.index for vert in bmesh.from_edit_mesh(body.data).verts if vert.select] == [1]


def test_findings_about_a_lod_or_a_point_select_its_object():
    body = cube("body")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    body.data.materials.append(material("camo"))
    assert bpy.ops.motionbridge.arma_mark_add(kind="POINT", label="eye") == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_mark_add(kind="POINT", label="eye") == {"FINISHED"}
    point = next(obj for obj in bpy.data.objects if obj.name == "eye.001")
    point.motionbridge_arma_mark.game_name = ""
    hull = finished()
    assert check() == {"FINISHED"}
    assert last_report()[0] == "Selected finding 1 of 1: 1 of 2 points is in no selection, so it has no name"
    assert bpy.context.view_layer.objects.active == point
    assert [obj.name for obj in bpy.context.selected_objects] == ["eye.001"]
    body.hide_set(True)
    hull.data.attributes.remove(hull.data.attributes["mass"])
    row = hull.motionbridge_arma_level.properties.add()
    row.name, row.value = "class", "house"
    assert check() == {"FINISHED"}
    assert last_report()[0] == "Selected finding 1 of 2"
    assert (bpy.context.object, hull.mode) == (hull, "OBJECT")


def test_two_lods_of_one_name_are_selected_before_the_export_refuses_them():
    hull, twin = finished(), finished("twin")
    assert check() == {"FINISHED"}
    assert last_report()[1] == "two LODs are Geometry; give one of them another number [LOD Numbers]"
    assert set(bpy.context.selected_objects) == {hull, twin}


def test_a_finding_about_names_selects_their_vertices_and_one_about_paths_the_faces():
    hull = finished()
    hull.vertex_groups[0].name = "component01"
    assert check() == {"FINISHED"}
    assert [vert.index for vert in bmesh.from_edit_mesh(hull.data).verts if vert.select] == list(range(8))
    bpy.ops.object.mode_set(mode="OBJECT")
    body = cube("body", location=(5, 0, 0))
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    for name in ("camo", "other"):
        body.data.materials.append(material(name))
    body.data.materials[1].motionbridge_material.texture = "p:\\camo_co.paa"
    body.data.polygons[3].material_index = 1
    assert check() == {"FINISHED"}
    assert last_report()[1].startswith("paths with a drive: p:\\camo_co.paa")
    assert selected_faces(body) == [3]


def test_a_hidden_lod_is_shown_alone_when_something_of_it_is_selected():
    hull = finished()
    without_face(hull)
    other = geometry("fire", "FIRE_GEOMETRY", location=(5, 0, 0))
    hull.hide_set(True)
    assert check() == {"FINISHED"}
    assert (hull.mode, other.mode) == ("EDIT", "OBJECT")
    assert (hull.hide_get(), other.hide_get()) == (False, True)


def test_disabled_meshes_are_reported_and_not_selected():
    hull = finished()
    without_face(hull)
    other = geometry("fire", "FIRE_GEOMETRY", location=(5, 0, 0))
    bpy.ops.object.select_all(action="DESELECT")
    hull.hide_viewport = True
    assert check() == {"FINISHED"}
    assert any(line.startswith(OPEN) and line.endswith("(hull)") for line in last_report())
    assert (hull.mode, other.mode) == ("OBJECT", "EDIT"), "faces without material"


def test_a_mesh_is_checked_with_its_modifiers_and_nothing_of_it_is_selected():
    hull = finished()
    array = hull.modifiers.new("Array", "ARRAY")
    array.count, array.relative_offset_displace = 2, (2, 0, 0)
    assert check() == {"FINISHED"}
    assert any("12 of 12 faces are in a component of several separate pieces" in line for line in last_report())
    assert "checked with its modifiers applied, so nothing is selected (hull)" in last_report()
    assert hull.mode == "OBJECT"
    assert bpy.ops.motionbridge.arma_set_mass(mass=1) == {"FINISHED"}
    assert "its modifiers are applied later, which can change the sum" in last_report()[1]


# Components -----------------------------------------------------------------------------------------------------------


def test_components_replace_earlier_ones_and_other_groups_stay():
    hull = geometry()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.primitive_cube_add(location=(5, 0, 0))
    bpy.ops.object.mode_set(mode="OBJECT")
    hull.vertex_groups.new(name="component07").add(range(16), 1.0, "REPLACE")
    hull.vertex_groups.new(name="door").add([3], 0.5, "REPLACE")
    hull.vertex_groups.new(name="Component01").add([3], 0.5, "REPLACE")
    bpy.ops.object.mode_set(mode="EDIT")
    if not compat.GROUPS_UNDONE_IN_EDIT_MODE:
        assert not bpy.ops.motionbridge.arma_find_components.poll()
        bpy.ops.object.mode_set(mode="OBJECT")
    mode = hull.mode
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    assert hull.mode == mode
    bpy.ops.object.mode_set(mode="OBJECT")
    assert members(hull) == {"door": [3], "Component01": list(range(8)), "Component02": list(range(8, 16))}


def test_components_of_several_objects_and_of_one_mesh_twice():
    entry, two = geometry("one"), geometry("two", "FIRE_GEOMETRY")
    visual = cube("visual")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    twin = entry.copy()
    bpy.context.scene.collection.objects.link(twin)
    for obj in (entry, two, twin, visual):
        obj.select_set(True)
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    assert last_report() == ["Components: 2, LODs: 2"]
    assert [list(members(obj)) for obj in (entry, two, twin, visual)] == [["Component01"]] * 3 + [[]]


def test_components_and_mass_need_a_geometry():
    cube()
    assert not bpy.ops.motionbridge.arma_find_components.poll()
    assert not bpy.ops.motionbridge.arma_set_mass.poll()
    assert not bpy.ops.motionbridge.arma_model_check.poll()
    assert bpy.ops.motionbridge.arma_set_lod(kind="FIRE_GEOMETRY") == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_find_components.poll()
    assert not bpy.ops.motionbridge.arma_set_mass.poll()
    bpy.context.view_layer.objects.active = None
    bpy.ops.object.select_all(action="DESELECT")
    assert not bpy.ops.motionbridge.arma_find_components.poll()


def test_a_geometry_without_faces_has_no_component():
    hull = geometry()
    hull.data.clear_geometry()
    assert bpy.ops.motionbridge.arma_find_components() == {"CANCELLED"}
    assert bpy.ops.motionbridge.arma_set_mass(mass=1) == {"FINISHED"}
    assert check() == {"FINISHED"}


def test_faces_that_share_no_vertices_are_too_many_pieces():
    hull = geometry()
    count = model_check.MOST_COMPONENTS + 1
    mesh = bpy.data.meshes.new("soup")
    corners = np.arange(3 * count).reshape(-1, 3)
    mesh.from_pydata((corners.ravel()[:, None] * [1.0, 0.5, 0.0] + [0, 0, 1]).tolist(), [], corners.tolist())
    hull.data = mesh
    hull.vertex_groups.new(name="component1")
    assert f"'hull' has {count} separate pieces" in refusal(bpy.ops.motionbridge.arma_find_components)
    assert list(members(hull)) == ["component1"]


def test_imported_components_that_are_found_again_keep_the_bytes(tmp_path):
    obj = finished()
    obj.vertex_groups[0].name = "component01"
    before = exported(tmp_path)
    bpy.data.objects.remove(obj)
    load(tmp_path / "out.p3d")
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    (tmp_path / "again").mkdir()
    assert exported(tmp_path / "again") == before


# Mass -----------------------------------------------------------------------------------------------------------------


def masses(obj):
    return [data.value for data in obj.data.attributes["mass"].data]


def test_a_mass_by_volume_and_in_edit_mode():
    hull = geometry(size=1)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.primitive_cube_add(location=(5, 0, 0), size=2)
    assert bpy.ops.motionbridge.arma_set_mass(mass=72, distribution="VOLUME") == {"FINISHED"}
    assert hull.mode == "EDIT"
    assert mass.mass_of(hull) == pytest.approx(72), "where the dialog starts"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert masses(hull) == pytest.approx([1] * 8 + [8] * 8)
    without_face(hull)
    message = refusal(bpy.ops.motionbridge.arma_set_mass, mass=1, distribution="VOLUME")
    assert "not closed" in message
    assert masses(hull) == pytest.approx([1] * 8 + [8] * 8)


def test_a_selection_named_mass_is_no_obstacle():
    hull = geometry()
    hull.vertex_groups.new(name="mass").add([3], 1.0, "REPLACE")
    assert bpy.ops.motionbridge.arma_set_mass(mass=8) == {"FINISHED"}
    assert (masses(hull), members(hull)) == ([1] * 8, {"mass": [3]})
    assert bpy.ops.motionbridge.arma_set_mass(mass=16) == {"FINISHED"}
    assert (masses(hull), members(hull)) == ([2] * 8, {"mass": [3]})


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"] if compat.GROUPS_UNDONE_IN_EDIT_MODE else ["OBJECT"])
def test_undo_takes_components_and_mass_back(mode):
    hull = geometry()
    hull.vertex_groups.new(name="Component07")
    bpy.ops.ed.undo_push(message="begin")
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.motionbridge.arma_find_components() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="components")
    assert bpy.ops.motionbridge.arma_set_mass(mass=8) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="mass")

    def state():
        obj = bpy.data.objects["hull"]
        assert obj.mode == mode
        with outside_edit_mode(obj) as data:
            weights = [[group.group for group in vertex.groups] for vertex in data.vertices]
        return [group.name for group in obj.vertex_groups], weights, mass.mass_of(obj)

    states = [(["Component07"], [[]] * 8, 0), (["Component01"], [[0]] * 8, 0), (["Component01"], [[0]] * 8, 8)]
    assert state() == states[2]
    for step, expected in ((bpy.ops.ed.undo, 1), (bpy.ops.ed.undo, 0), (bpy.ops.ed.redo, 1), (bpy.ops.ed.redo, 2)):
        step()
        assert state() == states[expected]


def test_a_linked_geometry_is_checked_and_not_changed(tmp_path):
    without_face(finished())
    saved = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved, copy=True)
    bpy.data.objects.remove(bpy.data.objects["hull"])
    bpy.ops.wm.link(filepath=f"{saved}/Object/hull", directory=f"{saved}/Object/", filename="hull")
    bpy.context.view_layer.objects.active = next(obj for obj in bpy.data.objects if obj.library is not None)
    assert check() == {"FINISHED"}
    assert any(line.startswith(OPEN) for line in last_report())
    assert "linked" in refusal(bpy.ops.motionbridge.arma_find_components)
    assert "linked" in refusal(bpy.ops.motionbridge.arma_set_mass, mass=1)
