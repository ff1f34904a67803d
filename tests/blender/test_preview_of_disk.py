"""What a save says: how the file on disk will change, whatever was saved since the import."""

import shutil
from types import SimpleNamespace

import bmesh
import bpy
import pytest

from addon.blender import compat
from addon.formats.xray import details
from addon.ui.arma import models as arma_models
from addon.ui.arma import panels
from addon.ui.change_words import plan_sentence
from addon.ui.descent3 import models as descent_models
from addon.ui.xray import editor_models, levels, models, motion_files, paths, skeletal
from tests.blender.test_oof_operators import in_an_archive
from tests.blender.test_save_back import NOTHING, dialog_of
from tests.blender.test_skl_motions import CURVED, made_motion, rig_of, written
from tests.blender.test_skl_motions import load as load_editor_motions
from tests.blender.test_ui import last_report, load
from tests.blender.test_written_motions import as_in_a_window, drawn


def mesh_edits(objects):
    """Move the first vertex of the first mesh, and the last one of the last."""

    def move(obj, vertex):
        obj.data.vertices[vertex].co[2] += 0.25

    return lambda: move(objects[0], 0), lambda: move(objects[-1], -1)


def key_edits(action):
    """Move the first key of the first curve, and the last one of the last curve of locations."""
    curves = [fcurve for fcurve in compat.curve_bag(action).fcurves if fcurve.data_path.endswith("location")]

    def move(curve, key):
        curve.keyframe_points[key].co[1] += 0.5

    return lambda: move(curves[0], 0), lambda: move(curves[-1], -1)


def with_mesh(obj):
    return obj.type == "MESH" and len(obj.data.vertices)


def below(holder):
    return [entry for entry in (holder, *holder.children_recursive) if with_mesh(entry)]


def a_game_model(path):
    bpy.ops.import_scene.xray_ogf(filepath=str(path), textures=False)
    meshes = below(bpy.context.view_layer.objects.active)
    return models.MOTIONBRIDGE_OT_model_save_back, *mesh_edits(meshes)


def an_editor_model(path):
    bpy.ops.import_scene.xray_object(filepath=str(path), textures=False)
    meshes = below(bpy.context.view_layer.objects.active)
    return editor_models.MOTIONBRIDGE_OT_editor_model_save_back, *mesh_edits(meshes)


def an_arma_model(path):
    bpy.ops.import_scene.arma_p3d(filepath=str(path), rig="NONE", textures=False)
    meshes = [bpy.context.view_layer.objects.active]
    return arma_models.MOTIONBRIDGE_OT_arma_model_save_back, *mesh_edits(meshes)


def a_descent_model(path):
    bpy.ops.import_scene.descent3_oof(filepath=str(path), textures=False)
    parts = [obj for obj in bpy.data.objects if with_mesh(obj) and obj.motionbridge_descent_part.is_part]
    bpy.context.view_layer.objects.active = parts[0]
    return descent_models.MOTIONBRIDGE_OT_descent_save_back, *mesh_edits(parts)


def an_animation(path):
    bpy.ops.import_scene.arma_rtm(filepath=str(path))
    action = bpy.context.view_layer.objects.active.animation_data.action
    return panels.MOTIONBRIDGE_OT_arma_save_back, *key_edits(action)


def a_path(path):
    bpy.ops.import_scene.xray_anm(filepath=str(path))
    action = bpy.context.view_layer.objects.active.animation_data.action
    return paths.MOTIONBRIDGE_OT_path_save_back, *key_edits(action)


def motions(path):
    rig = load(path.parent)
    return motion_files.MOTIONBRIDGE_OT_save_back, *key_edits(rig.animation_data.action)


def editor_motions(path):
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load_editor_motions(rig, str(path)).actions
    bpy.context.view_layer.objects.active = rig
    compat.assign(rig, action)
    return skeletal.MOTIONBRIDGE_OT_skeletal_save_back, *key_edits(action)


def a_level_file(path):
    bpy.ops.import_scene.xray_level_geometry(filepath=str(path))
    holder = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind != "NONE")
    bpy.context.view_layer.objects.active = holder
    return levels.MOTIONBRIDGE_OT_level_save_back, *mesh_edits(below(holder))


def slots(path):
    _, *_ = a_level_file(path)
    ground = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "DETAILS")
    bpy.context.view_layer.objects.active = ground

    def darken(face):
        ground.data.attributes[details.SUN].data[face].value = 0.2

    return levels.MOTIONBRIDGE_OT_level_save_back, lambda: darken(0), lambda: darken(-1)


def a_level(path):
    bpy.ops.import_scene.xray_level(directory=str(path.parent), textures=False)
    trees = sorted(
        (obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "TREE"), key=lambda entry: str(entry.name)
    )
    bpy.context.view_layer.objects.active = trees[0]

    def move(tree):
        tree.location.x += 0.5

    return levels.MOTIONBRIDGE_OT_level_save_back, lambda: move(trees[0]), lambda: move(trees[-1])


def vertices_of_a_level(path):
    kind, move_a_tree, _ = a_level(path)
    surface = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "SURFACE")
    return kind, move_a_tree, mesh_edits([surface])[0]


def coordinates_of_a_level(path):
    kind, move_a_tree, _ = a_level(path)
    surface = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "SURFACE")

    def shift():
        for corner in surface.data.uv_layers[0].uv:
            corner.vector[0] += 0.125

    return kind, move_a_tree, shift


SOURCES = {
    a_game_model: "humanoid.ogf",
    an_editor_model: "weapon.object",
    an_arma_model: "arma/man.p3d",
    a_descent_model: "descent3/ship.oof",
    an_animation: "arma/walk.rtm",
    a_path: "camera.anm",
    motions: "humanoid.omf",
    editor_motions: "made.skls",
    a_level_file: "level/level.hom",
    slots: "level/level.details",
    a_level: "level/level",
    vertices_of_a_level: "level/level",
    coordinates_of_a_level: "level/level",
}
OPENED = {
    **{how.__name__: (how, source) for how, source in SOURCES.items()},
    **{name: (a_level_file, f"level/level.{name}") for name in ("som", "cform")},
    "dm": (a_level_file, "level/grass.dm"),
}


@pytest.fixture(params=OPENED.values(), ids=OPENED.keys())
def opened(request, tmp_path, samples):
    return opened_in(tmp_path, samples, *request.param)


def opened_in(tmp_path, samples, how, source):
    folder = tmp_path / "yard"
    folder.mkdir()
    if source == "made.skls":
        path = folder / shutil.copy(written(tmp_path, made_motion(CURVED)), folder)
    else:
        path = folder / shutil.copy(samples / source, folder)
    beside = {"humanoid.omf": ["humanoid.ogf"], "level": ["level.geom", "level.geomx"]}.get(path.name, [])
    for name in beside:
        shutil.copy((samples / source).with_name(name), folder)
    return SimpleNamespace(path=path, open=lambda: how(path))


def said_by(kind):
    """The sentence and the details of a dialog, without the warnings, which are of the whole file."""
    dialog = dialog_of(kind)
    plan = dialog._shown.plan
    return [NOTHING] if dialog._shown.is_saved else [plan_sentence(plan), *dialog.details(plan)]


def save(kind):
    return dialog_of(kind, backup=False).execute(bpy.context)


def of_editor_model():
    return editor_models.editor_model_of(bpy.context)


def mesh_of(kind):
    return next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == kind and obj.type == "MESH")


def without_a_face(mesh):
    work = bmesh.new()
    work.from_mesh(mesh)
    work.faces.ensure_lookup_table()
    bmesh.ops.delete(work, geom=[work.faces[-1]], context="FACES_ONLY")
    work.to_mesh(mesh)
    work.free()


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
    "a bone of a game model": ("a_game_model", heavier),
    "a text of a game model": ("a_game_model", rename_a_reference),
    "a bone of an editor model": ("an_editor_model", heavier),
    "a surface": ("an_editor_model", retextured),
    "user data": ("an_editor_model", lambda: setattr(of_editor_model().motionbridge_editor_model, "user_data", "[a]")),
    "a sub-object is deleted": ("a_descent_model", lambda: bpy.data.objects.remove(descent_parts()[-1])),
    "a tree is deleted": ("a_level", lambda: bpy.data.objects.remove(trees()[-1])),
    "a tree is copied": ("a_level", lambda: copy_of(trees()[-1])),
    "a light is moved": ("a_level", lambda: setattr(light().location, "x", 3.0)),
    "a light is deleted": ("a_level", lambda: bpy.data.objects.remove(light())),
    "a face of occluders": ("a_level_file", lambda: without_a_face(mesh_of("HOM").data)),
    "a face of collision": ("cform", lambda: without_a_face(mesh_of("CFORM").data)),
}


@pytest.mark.parametrize("name", OTHER_EDITS)
def test_other_edits_are_reported_as_an_import_of_the_file_on_disk_says_them(name, tmp_path, samples):
    source, change = OTHER_EDITS[name]
    opened = opened_in(tmp_path, samples, *OPENED[source])
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
    assert said_by(kind)[1:] == ["memory: 1 position (head)"]
    assert bpy.ops.motionbridge.arma_mark_add(kind="POINT", label="muzzle") == {"FINISHED"}
    assert said_by(kind)[1:] == ["memory: 1 selection (muzzle), new; points 7 -> 8; 1 position (head)"]
    assert save(kind) == {"FINISHED"}
    points["Spine"].location.z += 0.25
    bpy.data.objects.remove(points["Pelvis"])
    assert said_by(kind)[1:] == ["memory: 1 selection (Pelvis), removed; points 8 -> 7; 1 position (Spine)"]
    assert save(kind) == {"FINISHED"}
    points["Spine"].location.z += 0.25
    assert said_by(kind)[1:] == ["memory: 1 position (Spine)"]


def test_deleted_and_added_faces_are_counted_against_the_file_on_disk(tmp_path, samples):
    kind, _, other = an_arma_model(shutil.copy(samples / "arma" / "man.p3d", tmp_path))
    mesh = bpy.context.view_layer.objects.active.data

    def delete(face):
        work = bmesh.new()
        work.from_mesh(mesh)
        work.faces.ensure_lookup_table()
        bmesh.ops.delete(work, geom=[work.faces[face]], context="FACES_ONLY")
        work.to_mesh(mesh)
        work.free()

    delete(0)
    assert said_by(kind)[1:] == ["visual 1: faces 42 -> 41"]
    assert save(kind) == {"FINISHED"}
    delete(-1)
    assert said_by(kind)[1:] == ["visual 1: faces 41 -> 40"]
    assert save(kind) == {"FINISHED"}
    other()
    assert said_by(kind)[1].startswith("visual 1: 1 position")


def test_without_changes_no_warning_is_repeated(tmp_path, samples):
    kind, edit, _ = an_arma_model(shutil.copy(samples / "arma" / "man.p3d", tmp_path))
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


def test_the_dialog_of_an_export_speaks_of_the_file_that_it_would_replace(tmp_path, samples):
    path = shutil.copy(samples / "arma" / "man.p3d", tmp_path)
    _, edit, other = an_arma_model(path)
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


def test_the_dialog_of_a_level_file_speaks_of_the_file_that_it_would_replace(tmp_path, samples):
    path = shutil.copy(samples / "level" / "level.hom", tmp_path)
    _, edit, other = a_level_file(path)
    kind, out = levels.EXPORT_SCENE_OT_xray_level_geometry, tmp_path / "out.hom"
    edit()
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(out)) == {"FINISHED"}
    other()
    assert export_dialog(kind, out)[0] == "1 triangle position changed"
    assert export_dialog(kind, path)[0] == "2 triangle positions changed"


def test_a_model_in_an_archive_is_compared_with_the_one_there(tmp_path):
    in_an_archive(tmp_path)
    parts = [obj for obj in bpy.data.objects if with_mesh(obj) and obj.motionbridge_descent_part.is_part]
    edit, other = mesh_edits(parts)
    kind = descent_models.MOTIONBRIDGE_OT_descent_save_back
    edit()
    assert save(kind) == {"FINISHED"}
    other()
    assert said_by(kind)[0].startswith("turret: 1 position")
    assert "glow" not in said_by(kind)[0]
    assert save(kind) == {"FINISHED"}
    edit()
    assert said_by(kind)[0].startswith("glow: 1 position")


def test_an_export_of_bones_counts_against_the_file_that_it_replaces(tmp_path, samples):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"), textures=False)
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE").data
    path = tmp_path / "out.bones"

    def message():
        assert bpy.ops.export_scene.xray_bones(filepath=str(path)) == {"FINISHED"}
        return last_report()[0]

    count = int(message().removeprefix("out.bones: ").removesuffix(" added"))
    assert message() == f"out.bones: {count} unchanged"
    armature.bones[1].motionbridge_xray.mass = 123.0
    assert message() == f"out.bones: 1 bone changed, {count - 1} unchanged"
    armature.bones[2].motionbridge_xray.mass = 123.0
    assert message() == f"out.bones: 1 bone changed, {count - 1} unchanged"
