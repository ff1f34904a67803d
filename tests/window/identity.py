"""Save Back in a window: its dialog, undo around it, and which motions belong to which rig, file and bone."""

from pathlib import Path
from typing import Any

import bmesh
import bpy

from addon.blender import action as actions
from addon.blender import armature
from addon.core import files
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.formats.xray import object as editor_model
from addon.formats.xray import omf
from addon.formats.xray.object.mesh_chunks import Points
from addon.games.xray.motions import library
from tests.window import exports, stage
from tests.window.stage import Steps


def rig(name: str = "humanoid") -> Any:
    """The armature; looked up each time, for undo replaces it."""
    return bpy.data.objects[name]


def import_humanoid() -> Path:
    """Model and motions; the motion file."""
    path = stage.sample("humanoid.omf")
    stage.call("import_scene.xray_ogf", filepath=str(stage.sample("humanoid.ogf")))
    stage.call("import_scene.xray_omf", filepath=str(path))
    settle("Import")
    return path


def settle(message: str) -> None:
    """Nothing is said yet; what was done is a step of undo."""
    stage.forget_reports()
    stage.step(message)


def save_back(name: str = "motionbridge.save_back", **options: Any) -> Steps:
    """The button and its dialog, with options chosen there."""
    stage.forget_reports()
    stage.invoke(name, **options)
    yield
    yield from stage.confirm()
    yield from stage.reported()


def motions_in(path: Path) -> list[str]:
    """Names of a file's motions, as they are ordered."""
    return [
        motion.name.decode() for motion in omf.read(path.read_bytes(), path.name, Report()).motion_set.library.motions
    ]


def unchanged(path: Path, before: bytes) -> Steps:
    """Save Back finds nothing to save: all that its dialog offers is to close it, and a script is told so."""
    stage.forget_reports()
    stage.invoke("motionbridge.save_back")
    yield
    yield from stage.confirm()
    yield
    assert path.read_bytes() == before, stage.sentence()
    assert not stage.reports()
    assert not stage.sentence()
    stage.call("motionbridge.save_back")
    assert path.read_bytes() == before, stage.sentence()
    assert "no changes to save" in stage.sentence(), stage.sentence()


def saved_back_undone_saved_back() -> Steps:
    """The edit is saved; undone, the old file comes back; done again, it is saved again."""
    path = import_humanoid()
    before = path.read_bytes()
    exports.key_bone()
    settle("Edit")
    yield from save_back()
    edited = path.read_bytes()
    assert edited != before, stage.sentence()
    yield from unchanged(path, edited)
    yield from undone_and_saved(path, before, edited, "motionbridge.save_back", if_changed="IMPORTED")


def undone_and_saved(path: Path, before: bytes, edited: bytes, name: str, **decided: Any) -> Steps:
    """Undo of a save and of the edit before it: the old file comes back, unasked.

    Where others put the edited one in its place, it asks what to start from; ``decided``, the old one comes back.
    """
    for _ in range(2):
        yield from stage.undo()
    yield from save_back(name)
    assert path.read_bytes() == before, f"the old file did not come back: {stage.sentence()}"
    path.write_bytes(edited)
    yield from save_back(name)
    assert path.read_bytes() == edited, f"written without asking: {stage.sentence()}"
    assert "on disk" in stage.sentence(), stage.sentence()
    yield from save_back(name, **decided)
    assert path.read_bytes() == before, f"the old file did not come back: {stage.sentence()}"


def shared_file_saved_by_two() -> Steps:
    """Two armatures have the motions of a file: what the first one saved stays, and the second one shows it."""
    path = import_humanoid()
    stage.call("import_scene.xray_ogf", filepath=str(stage.sample("humanoid.ogf")))
    stage.call("import_scene.xray_omf", filepath=str(path))
    settle("Second import")
    second = bpy.context.view_layer.objects.active
    before = omf.read(path.read_bytes(), path.name, Report()).motion_set.library.motions
    bpy.context.view_layer.objects.active = rig()
    exports.key_bone(rig())
    settle("Edit")
    yield from save_back()
    theirs, others = path.read_bytes(), rig().animation_data.action
    bpy.context.view_layer.objects.active = second
    motions = library.motions_of(second.motionbridge_motion_files[0])
    mine = next(
        motion for motion in motions if motion.motionbridge_motion.motion_name != others.motionbridge_motion.motion_name
    )
    actions.play(bpy.context, second, mine)
    exports.key_bone(second)
    settle("Other edit")
    yield from save_back(if_changed="DISK")
    assert "changed on disk and not in Blender" in bpy.context.window_manager.motionbridge_report
    now = omf.read(path.read_bytes(), path.name, Report()).motion_set.library.motions
    saved = omf.read(theirs, path.name, Report()).motion_set.library.motions
    assert [entry.label for entry, then in zip(now, before, strict=True) if entry.body != then.body] == sorted(
        [mine.motionbridge_motion.motion_name, others.motionbridge_motion.motion_name],
        key=[entry.label for entry in now].index,
    )
    assert [entry.label for entry, then in zip(now, saved, strict=True) if entry.body != then.body] == [
        mine.motionbridge_motion.motion_name
    ]
    yield from unchanged(path, path.read_bytes())


def arma_saved_back_undone_saved_back() -> Steps:
    """The same of an Arma animation."""
    path = stage.sample("arma/walk.rtm")
    stage.call("import_scene.arma_rtm", filepath=str(path))
    settle("Import")
    before = path.read_bytes()
    exports.key_bone()
    settle("Edit")
    yield from save_back("motionbridge.arma_save_back")
    edited = path.read_bytes()
    assert edited != before, stage.sentence()
    yield from undone_and_saved(path, before, edited, "motionbridge.arma_save_back", if_changed="IMPORTED")


def arma_animations_saved_together() -> Steps:
    """Two animations are edited and one is copied: one dialog, a file each, the copy in the folder named there."""
    walk, run = stage.sample("arma/walk.rtm"), stage.sample("arma/walk.rtm", "run.rtm")
    stage.call("import_scene.arma_rtm", directory=str(stage.folder()), files=[{"name": walk.name}, {"name": run.name}])
    settle("Import")
    obj = bpy.context.view_layer.objects.active
    for number in (0, 1):
        obj.motionbridge_playing_animation = number
        exports.key_bone()
    copied = obj.animation_data.action.copy()
    obj.animation_data.action = copied
    obj.motionbridge_playing_animation = 0  # which lists the copy
    copied.name = "sneak"
    settle("Edit")
    before = walk.read_bytes(), run.read_bytes()
    new = stage.folder() / "new"
    new.mkdir()
    yield from save_back("motionbridge.arma_save_all", folder=str(new))
    assert "2 animations changed, 1 animation added" in stage.sentence(), stage.sentence()
    assert (walk.read_bytes() != before[0], run.read_bytes() != before[1]) == (True, True)
    assert (new / "sneak.rtm").read_bytes() == run.read_bytes()
    saved = walk.read_bytes(), run.read_bytes()
    yield from undone_and_saved(walk, before[0], saved[0], "motionbridge.arma_save_all", if_changed="IMPORTED")


def arma_model_saved_back() -> Steps:
    """A vertex is moved and a proxy copied with Shift D: one save, after which nothing is left to save."""
    path = stage.sample("arma/man.p3d")
    levels = {"FIRST", "VISUAL", "MEMORY"}
    stage.call("import_scene.arma_p3d", filepath=str(path), levels=levels, rig="NONE", textures=False)
    body = bpy.context.view_layer.objects.active
    stage.call("motionbridge.arma_mark_add", kind="PROXY", label="tag\\gun.001")
    settle("Import")
    first = next(
        obj.name for obj in bpy.context.scene.objects if obj.motionbridge_arma_mark.game_name.endswith("gun.001")
    )
    before = path.read_bytes()
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.scene.objects[first].select_set(True)
    bpy.context.view_layer.objects.active = bpy.context.scene.objects[first]
    yield
    yield from stage.key("D", shift=True)
    yield from stage.key("RET")
    yield from stage.until(lambda: bpy.context.view_layer.objects.active.name != first, "the duplicate")
    body.data.vertices[0].co.z += 0.25
    settle("Edit")
    yield from save_back("motionbridge.arma_model_save_back")
    assert "1 LOD changed, 1 unchanged" in stage.sentence(), stage.sentence()
    lod = p3d.read(path.read_bytes(), path.name, Report()).lods[0]
    old = p3d.read(before, path.name, Report()).lods[0]
    added = [proxy.name for proxy in p3d.proxies(lod)][len(list(p3d.proxies(old))) :]
    assert added == ["tag\\gun.001", "tag\\gun.002"], added
    assert path.with_name(f"{path.name}.bak").read_bytes() == before
    saved = path.read_bytes()
    stage.call("motionbridge.arma_model_save_back")
    assert path.read_bytes() == saved, stage.sentence()
    assert "no changes to save" in stage.sentence(), stage.sentence()


def import_weapon() -> Path:
    """A model of the editor with a motion inside."""
    path = stage.sample("weapon.object")
    stage.call("import_scene.xray_object", filepath=str(path))
    settle("Import")
    return path


def model_saved_back_undone_saved_back() -> Steps:
    """The same of an editor's model: a vertex and a key are one save."""
    path = import_weapon()
    before = path.read_bytes()
    exports.move_vertex()
    exports.key_bone()
    settle("Edit")
    name = "motionbridge.editor_model_save_back"
    yield from save_back(name)
    edited = path.read_bytes()
    model, old = (editor_model.read(data, path.name, Report()).model for data in (edited, before))
    assert len(model.motions) == 1
    assert "1 mesh, 1 motion changed" in stage.sentence(), stage.sentence()
    assert path.with_name(f"{path.name}.bak").read_bytes() == before
    assert [section.chunk.id for section in model.sections] == [section.chunk.id for section in old.sections]
    yield from undone_and_saved(path, before, edited, name, if_changed="IMPORTED")


def mesh_of_model_duplicated() -> Steps:
    """Shift D: the copy of a mesh becomes a new mesh of the model, the first one keeps its bytes."""
    path = import_weapon()
    (held,) = editor_model.read(path.read_bytes(), path.name, Report()).model.meshes
    obj = next(target for target in bpy.context.scene.objects if target.type == "MESH")
    name = obj.name
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    yield
    yield from stage.key("D", shift=True)
    yield from stage.key("RET")
    yield from stage.until(lambda: bpy.context.view_layer.objects.active.name != name, "the duplicate")
    copy = bpy.context.view_layer.objects.active.name
    yield from save_back("motionbridge.editor_model_save_back")
    first, second = editor_model.read(path.read_bytes(), path.name, Report()).model.meshes
    assert (first.label, second.label) == (held.label, copy)
    assert "1 mesh added" in stage.sentence(), stage.sentence()


def model_appended() -> Steps:
    """A model appended from another file is unedited, as the first one is."""
    path = import_weapon()
    before = path.read_bytes()
    name = next(obj for obj in bpy.context.scene.objects if obj.type == "MESH").name
    other = stage.folder() / "other.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(other), copy=True)
    with stage.there():
        bpy.ops.wm.append(filepath=f"{other}/Object/{name}", directory=f"{other}/Object/", filename=name)

    def actual() -> list[Any]:  # without the shapes of bones, which an append brings along
        return [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.find_armature() is not None]

    yield from stage.until(lambda: len(actual()) == 2, "the appended mesh, with its armature")
    settle("Append")
    for mesh in actual():
        bpy.context.view_layer.objects.active = mesh
        stage.forget_reports()
        stage.call("motionbridge.editor_model_save_back")
        assert path.read_bytes() == before, stage.sentence()
        assert "no changes to save" in stage.sentence(), stage.sentence()


def appended_model_edited() -> Steps:
    """Appended into another file, a vertex moved in edit mode: one mesh is saved, with the mesh active."""
    path = import_weapon()
    before = path.read_bytes()
    name = next(target for target in bpy.context.scene.objects if target.type == "MESH").name
    other = stage.folder() / "other.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(other), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(stage.blank()), load_ui=False)
    yield
    with stage.there():
        bpy.ops.wm.append(filepath=f"{other}/Object/{name}", directory=f"{other}/Object/", filename=name)
    yield from stage.until(lambda: name in bpy.context.scene.objects, "the appended mesh")
    obj = bpy.context.scene.objects[name]
    bpy.context.view_layer.objects.active = obj
    with stage.there():
        bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(obj.data)
    edited.verts.ensure_lookup_table()
    edited.verts[2].co.z += 0.25
    bmesh.update_edit_mesh(obj.data)
    settle("Edit")
    yield from save_back("motionbridge.editor_model_save_back")
    assert "1 mesh changed" in stage.sentence(), stage.sentence()
    assert bpy.context.mode == "EDIT_MESH"
    new, old = (editor_model.read(data, path.name, Report()).model for data in (path.read_bytes(), before))
    points = [entry.meshes[0].first(Points).positions for entry in (new, old)]
    assert (points[0] != points[1]).any(axis=1).nonzero()[0].tolist() == [2]


def model_checked() -> Steps:
    """Vertices without bones are selected in edit mode, from the panel on the mesh."""
    import_weapon()
    obj = next(target for target in bpy.context.scene.objects if target.type == "MESH")
    for group in obj.vertex_groups:
        group.remove([2, 3])
    bpy.context.view_layer.objects.active = obj
    settle("Edit")
    stage.invoke("motionbridge.editor_model_check")
    yield from stage.until(lambda: stage.sentence() and bpy.context.mode == "EDIT_MESH", "the finding")
    calls = bpy.context.window_manager.motionbridge_report.splitlines()
    assert [calls[0], calls[1][:4], len(calls)] == ["Selected finding 1 of 1", "2 of", 2], calls
    with stage.there():
        bpy.ops.object.mode_set(mode="OBJECT")
    assert [vertex.index for vertex in obj.data.vertices if vertex.select] == [2, 3]


def model_in_a_protected_folder() -> Steps:
    """The dialog says so before anything is written, and Return does not save."""
    path = import_weapon()
    before = path.read_bytes()
    exports.move_vertex()
    settle("Edit")
    allowed = files.os.access
    files.os.access = lambda folder, mode: Path(folder) != path.parent and allowed(folder, mode)
    try:
        yield from save_back_refused(path, before)
    finally:
        files.os.access = allowed
    yield from save_back("motionbridge.editor_model_save_back")
    assert path.read_bytes() != before, stage.sentence()


def save_back_refused(path: Path, before: bytes) -> Steps:
    stage.invoke("motionbridge.editor_model_save_back")
    yield
    yield from stage.confirm()
    yield from stage.key("ESC")
    assert path.read_bytes() == before
    assert [path.name for path in path.parent.iterdir()] == [path.name]


def dialog_cancelled() -> Steps:
    """Escape in the dialog writes nothing."""
    path = import_humanoid()
    before = path.read_bytes()
    exports.key_bone()
    settle("Edit")
    stage.invoke("motionbridge.save_back")
    yield
    yield from stage.key("ESC")
    yield
    assert path.read_bytes() == before
    assert not stage.reports()


def rig_duplicated() -> Steps:
    """Shift D: the copy's motions are its own, and never get into the original's file."""
    path = import_humanoid()
    before = path.read_bytes()
    bpy.ops.object.select_all(action="DESELECT")
    rig().select_set(True)
    bpy.context.view_layer.objects.active = rig()
    yield
    yield from stage.key("D", shift=True)
    yield from stage.key("RET")
    yield from stage.until(lambda: "humanoid.001" in bpy.data.objects, "the duplicate")
    bpy.context.view_layer.objects.active = rig()
    yield from unchanged(path, before)


def action_copied() -> Steps:
    """A copy of an action that plays is a new motion under the name it gets; the original stays as it is."""
    path = import_humanoid()
    names = motions_in(path)
    copy = rig().animation_data.action.copy()
    copy.name = "stroll"
    rig().animation_data.action = copy
    copy.motionbridge_motion.motion_name = "stroll"
    exports.key_bone()
    settle("Copy")
    yield from save_back()
    assert motions_in(path) == [*names, "stroll"], motions_in(path)


def rig_appended() -> Steps:
    """A rig appended from another file, with motions of a file of the same name: neither takes the other's."""
    path = import_humanoid()
    before = path.read_bytes()
    other = stage.folder() / "other.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(other), copy=True)
    with stage.there():
        bpy.ops.wm.append(filepath=f"{other}/Object/humanoid", directory=f"{other}/Object/", filename="humanoid")
    yield from stage.until(lambda: "humanoid.001" in bpy.data.objects, "the appended rig")
    settle("Append")
    for name in ("humanoid", "humanoid.001"):
        bpy.context.view_layer.objects.active = rig(name)
        yield from unchanged(path, before)


def bone_renamed() -> Steps:
    """Curves of actions that do not play follow soon, and nothing counts as changed."""
    path = import_humanoid()
    before = path.read_bytes()
    bone = rig().data.bones[4].name
    playing = rig().animation_data.action
    other = next(action for action in bpy.data.actions if action != playing)
    name = other.name
    rig().data.bones[bone].name = "renamed"
    stage.step("Rename")
    yield from stage.until(lambda: "renamed" in bones_of(bpy.data.actions[name]), "curves to follow the bone")
    assert bone not in bones_of(bpy.data.actions[name])
    yield from unchanged(path, before)


def bones_exchanged_in_edit_mode() -> Steps:
    """Another action is chosen before edit mode is left: every action keeps its keys."""
    path = import_humanoid()
    before = path.read_bytes()
    first, second = (bone.name for bone in list(rig().data.bones)[2:4])
    other = next(action for action in bpy.data.actions if action != rig().animation_data.action)
    stage.call("object.mode_set", mode="EDIT")
    yield
    for old, new in ((first, "spare"), (second, first), ("spare", second)):
        rig().data.edit_bones[old].name = new
    stage.step("Exchange names")
    yield
    yield
    rig().animation_data.action = other
    stage.step("Choose Action")
    yield
    stage.call("object.mode_set", mode="OBJECT")
    yield from unchanged(path, before)


def bones_of(action: Any) -> set[str]:
    """Names of bones that an action moves."""
    from addon.blender import compat

    return {curve.data_path.split('"')[1] for curve in compat.curve_bag(action).fcurves if '"' in curve.data_path}


def bone_rename_undone() -> Steps:
    """Control Z after the curves have followed: they follow back."""
    path = import_humanoid()
    before = path.read_bytes()
    bone = rig().data.bones[4].name
    name = next(action for action in bpy.data.actions if action != rig().animation_data.action).name
    rig().data.bones[bone].name = "renamed"
    stage.step("Rename")
    yield from stage.until(lambda: "renamed" in bones_of(bpy.data.actions[name]), "curves to follow the bone")
    yield from stage.undo()
    yield from stage.until(lambda: bone in rig().data.bones, "undo to rename it back")
    yield from stage.until(lambda: bone in bones_of(bpy.data.actions[name]), "curves to follow back")
    assert "renamed" not in bones_of(bpy.data.actions[name])
    yield from unchanged(path, before)


def object_renamed() -> Steps:
    """The rig's name decides nothing, before and after undo."""
    path = import_humanoid()
    before = path.read_bytes()
    rig().name = "somebody"
    stage.step("Rename")
    yield from unchanged(path, before)
    yield from stage.undo()
    yield from stage.until(lambda: "humanoid" in bpy.data.objects, "undo to rename it back")
    yield from unchanged(path, before)


def edit_undone() -> Steps:
    """Import, edit, undo: nothing to save."""
    path = import_humanoid()
    before = path.read_bytes()
    exports.key_bone()
    settle("Edit")
    yield from stage.undo()
    yield
    yield from unchanged(path, before)
    yield from stage.redo()
    yield
    yield from save_back()
    assert path.read_bytes() != before, stage.sentence()


def duplicates_bone_renamed() -> Steps:
    """A bone of a duplicate is renamed and another motion clicked at once; undone and redone, both keep their keys."""
    path = import_humanoid()
    before = path.read_bytes()
    for obj in bpy.context.scene.objects:
        obj.select_set(obj == rig())
    stage.call("object.duplicate")
    settle("Duplicate")
    bone = rig().data.bones[4].name
    rig("humanoid.001").data.bones[bone].name = "renamed"
    click(rig("humanoid.001"), "jump")
    stage.step("Rename")
    assert rig("humanoid.001").animation_data.action.name == "jump.001"
    for go, name in ((stage.undo, bone), (stage.redo, "renamed")):
        yield from go()
        yield from stage.until(lambda result=name: result in rig("humanoid.001").data.bones, "the bone's other name")
        for owner in ("humanoid", "humanoid.001"):
            yield from stage.until(lambda entry=owner: moves_own_bones(rig(entry)), "curves to follow the bone")
            bpy.context.view_layer.objects.active = rig(owner)
            yield from unchanged(path, before)


def click(entry: Any, name: str) -> None:
    """Click a motion in the list."""
    listed = library.motions_of(entry.motionbridge_motion_files[0])
    entry.motionbridge_motion_row = [action.motionbridge_motion.motion_name for action in listed].index(name)


def moves_own_bones(entry: Any) -> bool:
    """Whether each motion in its list moves bones that an armature has."""
    listed = library.motions_of(entry.motionbridge_motion_files[0])
    return all(bones_of(action) <= {*entry.data.bones.keys(), ""} for action in listed)


def bones_redrawn() -> Steps:
    """Readable bones are taken away, brought back by undo, and added again: nothing to save, at any moment."""
    path = import_humanoid()
    before = path.read_bytes()
    assert armature.is_readable(rig())
    stage.invoke("motionbridge.original_bones")
    yield
    assert not armature.is_readable(rig()), stage.sentence()
    assert not len(rig().data.collections_all)
    settle("Original Bones")
    yield from unchanged(path, before)
    yield from stage.undo()
    yield
    assert armature.is_readable(rig())
    yield from unchanged(path, before)
    yield from stage.redo()
    yield
    stage.invoke("motionbridge.readable_bones")
    yield
    assert armature.is_readable(rig()), stage.sentence()
    settle("Readable Bones")
    yield from unchanged(path, before)


SCENES = [
    (f"identity: {scene.__name__.replace('_', ' ')}", scene)
    for scene in (
        saved_back_undone_saved_back, arma_saved_back_undone_saved_back,
        arma_animations_saved_together, arma_model_saved_back, dialog_cancelled, rig_duplicated,
        model_saved_back_undone_saved_back, shared_file_saved_by_two, mesh_of_model_duplicated, model_appended,
        appended_model_edited, model_checked, model_in_a_protected_folder,
        action_copied, rig_appended, bone_renamed, bone_rename_undone, bones_exchanged_in_edit_mode, object_renamed,
        edit_undone,
        duplicates_bone_renamed, bones_redrawn,
    )
]  # fmt: skip
