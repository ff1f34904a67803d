"""What a save says: how the file on disk will change, whatever was saved since the import."""

import shutil
from types import SimpleNamespace

import bpy
import pytest

from addon.ui.arma import models as arma_models
from addon.ui.bases import tell
from addon.ui.descent3 import models as descent_models
from addon.ui.xray import editor_models, levels, models
from tests.blender.saved_formats import FORMATS, move_an_object, sample_of
from tests.blender.scenes import delete_faces
from tests.blender.test_oof_operators import in_an_archive
from tests.blender.test_save_back import NOTHING, dialog_of
from tests.blender.test_ui import last_report
from tests.blender.test_written_motions import as_in_a_window, drawn


def with_mesh(obj):
    return obj.type == "MESH" and len(obj.data.vertices)


def surface_of_a_level():
    return next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "SURFACE")


def move_a_tree_or_a_vertex(at=0):
    """Move the last tree, or a vertex of the level."""
    if not at:
        move_an_object(-1)
    else:
        surface_of_a_level().data.vertices[at].co[2] += 0.25


def move_a_tree_or_texture_coordinates(at=0):
    """Move the last tree, or the texture on a part of the level."""
    if not at:
        move_an_object(-1)
    else:
        for corner in surface_of_a_level().data.uv_layers[0].uv:
            corner.vector[0] += 0.125


LEVEL = FORMATS["level"]
OPENED = FORMATS | {
    "level, vertices": LEVEL._replace(edit=move_a_tree_or_a_vertex),
    "level, coordinates": LEVEL._replace(edit=move_a_tree_or_texture_coordinates),
}


def opened_in(folder, name):
    """A sample, and the function that imports it and returns its operator and two edits."""
    form = OPENED[name]
    path = sample_of(name.partition(",")[0], folder / "yard")

    def open_sample():
        form.load(path)
        return form.save, form.edit, lambda: form.edit(-1)

    return SimpleNamespace(path=path, open=open_sample)


@pytest.fixture(params=OPENED)
def opened(request, tmp_path):
    return opened_in(tmp_path, request.param)


def said_by(kind):
    """The sentence and the details of a dialog, without the warnings, which are of the whole file."""
    dialog = dialog_of(kind)
    plan = dialog._shown.plan
    return [NOTHING] if dialog._shown.is_saved else [tell(plan.sentence()), *dialog.details(plan)]


def save(kind):
    return dialog_of(kind, backup=False).execute(bpy.context)


def of_editor_model():
    return editor_models.editor_model_of(bpy.context)


def mesh_of(kind):
    return next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == kind and obj.type == "MESH")


def trees():
    result = [obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "TREE"]
    return sorted(result, key=lambda entry: str(entry.name))


def copy_of(obj):
    target = obj.copy()
    target.location.x += 2
    obj.users_collection[0].objects.link(target)


def retextured():
    used = next(material for material in bpy.data.materials if material.motionbridge_surface.is_surface)
    used.motionbridge_material.texture = "wpn\\other"


def light():
    return next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "LIGHT" and obj.data.type == "POINT")


def rename_a_reference():
    models.active_game_model(bpy.context).motionbridge_model.references.add().name = "more"


def heavier():
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE").data
    armature.bones[1].motionbridge_xray.mass = 123.0


def descent_parts():
    return [obj for obj in bpy.data.objects if with_mesh(obj) and obj.motionbridge_descent_part.is_part]


OTHER_EDITS = {
    "a bone of a game model": ("ogf", heavier),
    "a text of a game model": ("ogf", rename_a_reference),
    "a bone of an editor model": ("object", heavier),
    "a surface": ("object", retextured),
    "user data": ("object", lambda: setattr(of_editor_model().motionbridge_editor_model, "user_data", "[a]")),
    "a sub-object is deleted": ("oof", lambda: bpy.data.objects.remove(descent_parts()[-1])),
    "a tree is deleted": ("level", lambda: bpy.data.objects.remove(trees()[-1])),
    "a tree is copied": ("level", lambda: copy_of(trees()[-1])),
    "a light is moved": ("level", lambda: setattr(light().location, "x", 3.0)),
    "a light is deleted": ("geom", lambda: bpy.data.objects.remove(light())),
    "a face of occluders": ("hom", lambda: delete_faces(mesh_of("HOM").data, -1)),
    "a face of collision": ("cform", lambda: delete_faces(mesh_of("CFORM").data, -1)),
}


@pytest.mark.parametrize("name", OTHER_EDITS)
def test_other_edits_are_reported_as_an_import_of_the_file_on_disk_says_them(name, tmp_path):
    source, change = OTHER_EDITS[name]
    opened = opened_in(tmp_path, source)
    kind, edit, _ = opened.open()
    edit()
    assert save(kind) == {"FINISHED"}
    saved = {path: path.read_bytes() for path in opened.path.parent.iterdir()}
    change()
    second = said_by(kind)
    bpy.ops.wm.read_homefile(use_empty=True)
    for path, data in saved.items():
        path.write_bytes(data)
    kind, *_ = opened.open()
    change()
    assert NOTHING not in second
    assert second == said_by(kind)


def memory_points(path):
    bpy.ops.import_scene.arma_p3d(filepath=str(path), rig="NONE", textures=False, levels={"VISUAL", "MEMORY"})
    points = {obj.motionbridge_arma_mark.game_name: obj for obj in bpy.data.objects if obj.type == "EMPTY"}
    bpy.context.view_layer.objects.active = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    return arma_models.MOTIONBRIDGE_OT_arma_model_save_back, points


def test_a_moved_memory_point_is_named_also_when_another_is_added_or_deleted(tmp_path, samples):
    kind, points = memory_points(shutil.copy(samples / "arma" / "man.p3d", tmp_path))
    points["head"].location.z += 0.25
    assert said_by(kind)[1:] == ["Memory: 1 position (head)"]
    assert bpy.ops.motionbridge.arma_mark_add(kind="POINT", label="muzzle") == {"FINISHED"}
    assert said_by(kind)[1:] == ["Memory: 1 selection (muzzle), new; points 7 -> 8; 1 position (head)"]
    assert save(kind) == {"FINISHED"}
    points["Spine"].location.z += 0.25
    bpy.data.objects.remove(points["Pelvis"])
    assert said_by(kind)[1:] == ["Memory: 1 selection (Pelvis), removed; points 8 -> 7; 1 position (Spine)"]
    assert save(kind) == {"FINISHED"}
    points["Spine"].location.z += 0.25
    assert said_by(kind)[1:] == ["Memory: 1 position (Spine)"]


def test_deleted_and_added_faces_are_counted_against_the_file_on_disk(tmp_path):
    kind, _, other = opened_in(tmp_path, "p3d").open()
    mesh = bpy.context.view_layer.objects.active.data
    delete_faces(mesh, 0)
    assert said_by(kind)[1:] == ["Resolution 1: faces 42 -> 41"]
    assert save(kind) == {"FINISHED"}
    delete_faces(mesh, -1)
    assert said_by(kind)[1:] == ["Resolution 1: faces 41 -> 40"]
    assert save(kind) == {"FINISHED"}
    other()
    assert said_by(kind)[1].startswith("Resolution 1: 1 position")


def test_without_changes_no_warning_is_repeated(tmp_path):
    kind, edit, _ = opened_in(tmp_path, "p3d").open()
    model = bpy.context.view_layer.objects.active
    model.data.edges.add(1)
    model.data.edges[-1].vertices = (0, 5)
    model.data.update()
    edit()
    assert save(kind) == {"FINISHED"}
    (loose,) = [line for line in last_report() if "edges without faces" in line]
    for _ in range(2):
        assert save(kind) == {"CANCELLED"}
        assert last_report() == ["man.p3d: no changes to save"]
    model.data.edges.add(1)
    model.data.edges[-1].vertices = (1, 6)
    model.data.update()
    assert save(kind) == {"CANCELLED"}
    assert loose not in last_report()
    assert "edges without faces" in last_report()[1]
    edit()
    assert save(kind) == {"FINISHED"}
    assert "edges without faces" in "\n".join(last_report()), "what a written file lacks is said each time"


def test_a_save_says_what_an_import_of_the_file_on_disk_would_say(opened):
    kind, edit, other = opened.open()
    edit()
    whole = said_by(kind)
    assert save(kind) == {"FINISHED"}
    assert NOTHING in said_by(kind)
    other()
    second = said_by(kind)
    saved = {path: path.read_bytes() for path in opened.path.parent.iterdir()}
    assert save(kind) == {"FINISHED"}
    report = last_report()
    other()
    edit()
    both = said_by(kind)
    bpy.ops.wm.read_homefile(use_empty=True)
    for path, data in saved.items():
        path.write_bytes(data)
    kind, edit, other = opened.open()
    other()
    assert second == said_by(kind)
    assert save(kind) == {"FINISHED"}
    assert report[0] == last_report()[0]
    other()
    edit()
    assert both == said_by(kind)
    assert whole


def export_dialog(kind, path):
    dialog = as_in_a_window(kind)
    dialog.suggest(bpy.context)
    dialog.filepath = str(path)
    dialog.check(bpy.context)
    message = drawn(dialog)
    heading = "Changes in the file on disk:"
    return message[message.index(heading) + 1 :] if heading in message else []


def test_the_dialog_of_an_export_speaks_of_the_file_that_it_would_replace(tmp_path):
    opened = opened_in(tmp_path, "p3d")
    path, (_, edit, other) = opened.path, opened.open()
    kind, out = arma_models.EXPORT_SCENE_OT_arma_p3d, tmp_path / "out.p3d"
    edit()
    assert export_dialog(kind, out) == []
    assert " ".join(export_dialog(kind, path)) == "1 LOD changed, 1 unchanged"
    assert bpy.ops.export_scene.arma_p3d(filepath=str(out)) == {"FINISHED"}
    assert last_report()[0] == "out.p3d: 1 LOD changed, 1 unchanged"
    assert " ".join(export_dialog(kind, out)) == "2 LODs unchanged"
    other()
    assert " ".join(export_dialog(kind, out)) == "1 LOD changed, 1 unchanged"
    assert bpy.ops.export_scene.arma_p3d(filepath=str(out)) == {"FINISHED"}
    assert bpy.ops.export_scene.arma_p3d(filepath=str(out)) == {"FINISHED"}
    assert last_report()[0] == "out.p3d: 2 LODs unchanged"
    out.write_bytes(b"no model")
    assert export_dialog(kind, out) == []


def test_the_dialog_of_a_level_file_speaks_of_the_file_that_it_would_replace(tmp_path):
    opened = opened_in(tmp_path, "hom")
    path, (_, edit, other) = opened.path, opened.open()
    kind, out = levels.EXPORT_SCENE_OT_xray_level_geometry, tmp_path / "out.hom"
    edit()
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(out)) == {"FINISHED"}
    other()
    assert export_dialog(kind, out)[0] == "1 triangle position changed"
    assert export_dialog(kind, path)[0] == "2 triangle positions changed"


def test_a_model_in_an_archive_is_compared_with_the_one_there(tmp_path):
    in_an_archive(tmp_path)

    def move(name):
        bpy.data.objects[name].data.vertices[0].co[2] += 0.25

    kind = descent_models.MOTIONBRIDGE_OT_descent_save_back
    move("glow")
    assert save(kind) == {"FINISHED"}
    move("turret")
    assert said_by(kind)[0].startswith("turret: 1 position")
    assert "glow" not in said_by(kind)[0]
    assert save(kind) == {"FINISHED"}
    move("glow")
    assert said_by(kind)[0].startswith("glow: 1 position")


def test_an_export_of_bones_counts_against_the_file_that_it_replaces(tmp_path, samples):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"), textures=False)
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE").data
    path = tmp_path / "out.bones"

    def message():
        assert bpy.ops.export_scene.xray_bones(filepath=str(path)) == {"FINISHED"}
        return last_report()[0]

    count = int(message().removeprefix("out.bones: ").removesuffix(" bones added"))
    assert message() == f"out.bones: {count} bones unchanged"
    armature.bones[1].motionbridge_xray.mass = 123.0
    assert message() == f"out.bones: 1 bone changed, {count - 1} unchanged"
    armature.bones[2].motionbridge_xray.mass = 123.0
    assert message() == f"out.bones: 1 bone changed, {count - 1} unchanged"
