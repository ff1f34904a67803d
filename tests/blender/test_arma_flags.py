"""Flags of vertices and faces of Arma LODs: kept byte for byte, shown, and set for the selection in Edit Mode."""

import bmesh
import bpy
import numpy as np
import pytest

from addon.blender.mesh import outside_edit_mode
from addon.formats.arma import p3d
from addon.games.arma import flags
from addon.ui.arma import flags as ui
from tests.blender.test_p3d_export import cube, exported, load, read
from tests.blender.test_ui import last_report, refusal

UNKNOWN = 0x80001800 | 3
"""Bits of no group, or several bits of one."""


@pytest.fixture
def flagged(tmp_path, samples):
    """Our man with flags, some of which have no name."""
    document = read(samples / "arma" / "man.p3d")
    lod = document.lods[0]
    lod.points, lod.faces = lod.points.copy(), lod.faces.copy()
    lod.points["flags"][:3] = 0x2000000, UNKNOWN, 0xFF0000
    lod.faces["flags"][:3] = 0x20, UNKNOWN, 0xFE000300
    path = tmp_path / "flagged.p3d"
    path.write_bytes(p3d.write(document))
    return path


def box(name="box", kind="RESOLUTION", number=1):
    obj = cube(name)
    assert bpy.ops.motionbridge.arma_set_lod(kind=kind, number=number) == {"FINISHED"}
    return obj


def edit(obj, *others, faces=(), vertices=(), select="FACE"):
    """Edit objects, with these elements of the first one selected; the last is active."""
    for other in (obj, *others):
        other.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="FACE" if select == "FACE" else "VERT")
    bpy.ops.mesh.select_all(action="DESELECT")
    edited = bmesh.from_edit_mesh(obj.data)
    rows, chosen = (edited.faces, faces) if select == "FACE" else (edited.verts, vertices)
    rows.ensure_lookup_table()
    for number in chosen:
        rows[number].select_set(True)
        if select == "FACE":
            edited.faces.active = rows[number]
        else:
            edited.select_history.add(rows[number])
    bmesh.update_edit_mesh(obj.data)


def flags_in(folder, lod=0):
    (folder / "out.p3d").unlink(missing_ok=True)
    exported(folder)
    stored = read(folder / "out.p3d").lods[lod]
    return stored.points["flags"].tolist(), stored.faces["flags"].tolist()


def test_flags_leave_byte_for_byte_unless_edited_also_through_edit_mode(flagged, tmp_path):
    obj = load(flagged).levels[0]
    assert exported(tmp_path) == flagged.read_bytes()
    edit(obj)
    bpy.ops.object.mode_set(mode="OBJECT")
    (tmp_path / "out.p3d").unlink()
    assert exported(tmp_path) == flagged.read_bytes()


def test_a_set_flag_changes_its_bits_of_the_selected_faces_and_says_so(flagged, tmp_path):
    obj = load(flagged).levels[0]
    before = flags_in(tmp_path)
    edit(obj, faces=(0, 1))
    assert bpy.ops.motionbridge.arma_flags(element="FACE", face_shadow="NONE") == {"FINISHED"}
    assert last_report() == ["Changed faces: 2 of 2 selected"]
    assert obj.mode == "EDIT"
    after = flags_in(tmp_path)
    assert after[0] == before[0]
    changed = np.flatnonzero(np.array(after[1]) != np.array(before[1]))
    assert len(changed) == 2
    assert [after[1][row] for row in changed] == [before[1][row] & ~0x18 | 0x10 for row in changed]
    (part,) = p3d.compare(read(flagged), read(tmp_path / "out.p3d")).parts
    assert list(map(str, part.fields)) == ["2 faces with other flags"]


def test_new_vertices_have_the_flags_of_the_mesh_and_without_the_attribute_those_of_the_file_stay(flagged, tmp_path):
    obj = load(flagged).levels[0]
    points, faces = flags_in(tmp_path)
    obj.data.attributes.remove(obj.data.attributes["vertex_flags"])
    obj.data.attributes.remove(obj.data.attributes["face_flags"])
    assert flags_in(tmp_path) == (points, faces)


def test_flags_of_a_new_lod_are_set_by_select_mode(tmp_path):
    obj = box()
    edit(obj, vertices=(1, 2), select="VERTEX")
    assert ui.element_of(bpy.context) == "VERTEX"
    assert bpy.ops.motionbridge.arma_flags(element="VERTEX", vertex_surface="ON", vertex_user=7) == {"FINISHED"}
    assert flags_in(tmp_path) == ([0, 0x70001, 0x70001, 0, 0, 0, 0, 0], [0] * 6)
    edit(obj, faces=(5,))
    assert ui.element_of(bpy.context) == "FACE"
    assert bpy.ops.motionbridge.arma_flags(element="FACE", face_light="BOTH_SIDES", face_user=127) == {"FINISHED"}
    assert flags_in(tmp_path)[1] == [0, 0, 0, 0, 0, 0xFE000020]
    edit(obj, faces=range(6))
    assert bpy.ops.motionbridge.arma_flags(element="FACE", face_user=0) == {"FINISHED"}
    assert flags_in(tmp_path)[1] == [0, 0, 0, 0, 0, 0x20]


@pytest.mark.parametrize("element", flags.GROUPS)
def test_every_value_of_every_group_is_read_as_it_was_set_and_touches_no_other_bits(element):
    data = box().data
    for polygon in data.polygons:
        polygon.select = True
    for group in flags.GROUPS[element]:
        for value in group.values or (0, 1, group.mask >> group.shift):
            before = flags.flags_of(data, element)
            flags.set_values(data, element, {group.name: value})
            assert set(flags.values_of([data], element)[group.name].tolist()) == {value}
            differs = before ^ flags.flags_of(data, element)
            assert not (differs & np.uint32(~group.mask & 0xFFFFFFFF)).any()
            assert group.value(int(flags.flags_of(data, element)[0])) == value


def test_the_dialog_begins_with_the_selection_and_marks_what_differs(flagged):
    obj = load(flagged).levels[0]
    data = obj.data
    data.polygons.foreach_set("select", [True] * 3 + [False] * (len(data.polygons) - 3))
    columns = flags.values_of([data], "FACE")
    assert columns["light"].tolist() == ["BOTH_SIDES", "OTHER", "NORMAL"]
    assert columns["z_bias"].tolist() == ["NORMAL", "NORMAL", "HIGH"]
    assert columns["user"].tolist() == [0, UNKNOWN >> 25, 127]
    changed, chosen = flags.set_values(data, "FACE", {"light": "OTHER"})
    assert (changed, chosen) == (0, 3), "Other leaves the bits"


def test_the_active_element_is_shown_in_words(flagged):
    obj = load(flagged).levels[0]
    edit(obj, faces=(0,))
    texts = list(ui._texts("FACE", 0x20 | 0x300))
    assert texts == ["Lighting: Both Sides", "Z Bias: High"]
    assert list(ui._texts("VERTEX", 3)) == ["Surface: Other"]
    assert list(ui._texts("FACE", 0)) == []


def test_several_lods_are_edited_at_once_a_shared_mesh_once_and_undo_takes_all_back(tmp_path):
    first, second = box(), box("lower", number=2)
    twin = first.copy()
    bpy.context.scene.collection.objects.link(twin)
    edit(first, second, twin)
    for obj in (first, second):
        edited = bmesh.from_edit_mesh(obj.data)
        edited.faces.ensure_lookup_table()
        edited.faces[0].select_set(True)
        bmesh.update_edit_mesh(obj.data)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.motionbridge.arma_flags(element="FACE", face_shadow="NONE") == {"FINISHED"}
    assert last_report() == ["Changed faces: 2 of 2 selected"]
    bpy.ops.ed.undo_push(message="after")
    names = first.name, second.name
    assert all(flag_sum(name) == 0x10 for name in names)
    bpy.ops.ed.undo()
    assert all(flag_sum(name) == 0 for name in names)
    bpy.ops.ed.redo()
    assert all(flag_sum(name) == 0x10 for name in names)


def flag_sum(name):
    with outside_edit_mode(bpy.data.objects[name]) as data:
        return int(flags.flags_of(data, "FACE").sum())


def test_without_a_selection_or_edit_mode_it_says_what_to_do():
    obj = box()
    assert not bpy.ops.motionbridge.arma_flags.poll()
    edit(obj)
    assert "Select faces" in refusal(bpy.ops.motionbridge.arma_flags, element="FACE", face_shadow="NONE")
    assert bpy.ops.motionbridge.arma_flags(element="FACE") == {"CANCELLED"}
