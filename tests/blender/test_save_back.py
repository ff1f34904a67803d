"""Save Back of every format: what the dialog says, what it asks, and what is on disk afterwards."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from addon.blender import compat
from addon.core import files
from addon.core.changes import Changes
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import skl
from addon.games import plan as plans
from addon.games.xray.motions import library, list_edits, skl_codec
from addon.ui import files as ui_files
from addon.ui import sidebar
from addon.ui.arma import panels
from addon.ui.xray import motion_files, skeletal
from tests.blender.saved_formats import FORMATS, sample_of
from tests.blender.test_sampling import looked_at, reach_toward
from tests.blender.test_skl_motions import CURVED, made_motion, rig_of, written
from tests.blender.test_skl_motions import load as load_editor_motions
from tests.blender.test_ui import game, last_report, load, refusal, turn_a_key
from tests.blender.test_written_motions import as_in_a_window, drawn

__all__ = ["game", "looked_at"]

NOTHING = "No changes to save"
CHANGED = "the file on disk is no longer the one that was imported"


SAVED = ("ogf", "omf", "rtm", "p3d", "anm", "skl", "oof", "object", "hom")
"""Formats whose dialogs are asked."""
AS_IMPORTED = "the file is written as it was imported or last saved"


def opened_sample(name, folder):
    """Import a sample: its path, how it is edited, its operator and what else its format has."""
    form = FORMATS[name]
    path = sample_of(name, folder / "game")
    form.load(path)
    return SimpleNamespace(path=path, edit=form.edit, kind=form.save, says=form.says, export=form.export, name=name)


@pytest.fixture(params=SAVED)
def opened(request, tmp_path):
    return opened_sample(request.param, tmp_path)


def dialog_of(kind, **options):
    dialog = as_in_a_window(kind, **options)
    dialog.check(bpy.context)
    return dialog


def properties_drawn(dialog):
    drawn(dialog)
    return {entry[0] for entry in dialog.layout.kept if isinstance(entry, tuple)}


def test_the_dialog_says_what_changes_and_only_then_it_is_written(opened):
    before = opened.path.read_bytes()
    nothing = dialog_of(opened.kind)
    assert NOTHING in drawn(nothing)
    assert ("", "", "Close") in nothing.layout.kept, "the only button"
    assert dialog_of(opened.kind).execute(bpy.context) == {"CANCELLED"}
    opened.edit()
    dialog = dialog_of(opened.kind)
    message = drawn(dialog)
    assert message[0] == str(opened.path)
    assert opened.says in " ".join(message)
    assert "if_changed" not in properties_drawn(dialog)
    assert ("", "", "Close") not in dialog.layout.kept
    assert opened.path.read_bytes() == before
    assert dialog.execute(bpy.context) == {"FINISHED"}
    after = opened.path.read_bytes()
    assert after != before
    assert opened.path.with_name(opened.path.name + ".bak").read_bytes() == before
    assert NOTHING in drawn(dialog_of(opened.kind))
    opened.edit()
    assert dialog_of(opened.kind).execute(bpy.context) == {"FINISHED"}
    assert opened.path.read_bytes() != after


def test_a_write_protected_file_or_folder_is_refused_before_save(opened, monkeypatch):
    opened.edit()
    for protected, what in ((opened.path, "the file is"), (opened.path.parent, "its folder is")):
        monkeypatch.setattr(files.os, "access", lambda path, _, protected=protected: Path(path) != protected)
        dialog = dialog_of(opened.kind)
        assert f"{what} write-protected" in " ".join(" ".join(drawn(dialog)).split())
        assert ("", "", "Close") in dialog.layout.kept, "Save is not offered where it would be refused"
        assert dialog.execute(bpy.context) == {"CANCELLED"}
    monkeypatch.undo()
    assert dialog_of(opened.kind).execute(bpy.context) == {"FINISHED"}


def test_a_file_that_is_gone_is_written_again_and_the_dialog_says_so(opened):
    opened.edit()
    opened.path.unlink()
    dialog = dialog_of(opened.kind)
    assert "the file is no longer there: it is written again" in " ".join(" ".join(drawn(dialog)).split())
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert opened.path.is_file()


def test_a_panel_that_saves_shows_the_last_report():
    """Those of the sidebar together, in the header of the Import panel; those of the Properties editor each."""
    modules = Path(ui_files.__file__).parent.rglob("*.py")
    panels = [path for path in modules if '_save_back", icon' in path.read_text()]
    assert len(panels) >= 4
    elsewhere = [path for path in panels if '"motionbridge.report"' not in path.read_text()]
    assert all("MotionbridgePanel" in path.read_text() for path in elsewhere)
    assert '"motionbridge.report"' in Path(sidebar.__file__).read_text()


def test_an_export_onto_the_same_file_is_not_taken_for_a_change_by_others(opened, monkeypatch):
    exporter = getattr(bpy.ops.export_scene, opened.export)
    before = opened.path.read_bytes()
    opened.edit()
    linked = {"remember": True} if opened.name == "omf" else {}  # an option there, always so for the others
    assert exporter(filepath=str(opened.path), backup=False, **linked) == {"FINISHED"}
    exported = opened.path.read_bytes()
    assert exported != before
    if opened.name != "rtm":  # that of an animation is not stored in the .blend
        monkeypatch.setattr(plans, "_saved", {})
    opened.edit()
    dialog = dialog_of(opened.kind, backup=False)
    assert "if_changed" not in properties_drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert opened.path.read_bytes() not in {before, exported}


def test_what_another_program_changed_is_asked_about(opened):
    opened.edit()
    dialog = dialog_of(opened.kind, backup=False)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    saved = opened.path.read_bytes()
    opened.path.write_bytes(saved + bytes(1))
    dialog = dialog_of(opened.kind)
    assert CHANGED in " ".join(" ".join(drawn(dialog)).split())
    assert "if_changed" in properties_drawn(dialog)
    assert dialog.execute(bpy.context) == {"CANCELLED"}
    assert opened.path.read_bytes() == saved + bytes(1)
    dialog.if_changed = "IMPORTED"
    dialog.check(bpy.context)
    assert "if_changed" in properties_drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert opened.path.read_bytes() == saved


@pytest.mark.parametrize("name", SAVED)
def test_of_a_file_that_no_one_changed_every_base_is_the_same(tmp_path, name):
    opened = opened_sample(name, tmp_path)
    opened.edit()
    if name == "omf":
        assert bpy.ops.motionbridge.move_motion(direction="DOWN") == {"FINISHED"}
        (file,) = bpy.context.view_layer.objects.active.motionbridge_motion_files
        list_edits.delete(file, library.motions_of(file)[-1])
    group, operator = opened.kind.bl_idname.split(".")
    option = getattr(getattr(bpy.ops, group), operator).get_rna_type().properties["if_changed"]
    choices = [item.identifier for item in option.enum_items] if option.type == "ENUM" else [False, True]
    dialogs = [dialog_of(opened.kind, if_changed=choice) for choice in choices]
    wanted, *others = [
        (drawn(dialog), dialog._shown.plan.data, getattr(dialog._shown.plan, "base", "")) for dialog in dialogs
    ]
    assert others
    assert all(other == wanted for other in others)


def test_after_undo_the_dialog_offers_what_its_refusal_names(tmp_path):
    opened = opened_sample("rtm", tmp_path)
    rig = bpy.context.view_layer.objects.active.name
    bpy.ops.ed.undo_push(message="imported")
    opened.edit()
    bpy.ops.ed.undo_push(message="edited")
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="saved")
    bpy.ops.ed.undo()
    bpy.context.view_layer.objects.active = bpy.data.objects[rig]
    assert NOTHING in drawn(dialog_of(opened.kind))  # the keys are those of the file that was saved
    opened.edit()
    opened.path.write_bytes(opened.path.read_bytes() + bytes(1))
    dialog = dialog_of(opened.kind)
    assert CHANGED in " ".join(" ".join(drawn(dialog)).split())
    assert "if_changed" in properties_drawn(dialog)
    dialog.if_changed = "IMPORTED"
    dialog.check(bpy.context)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert NOTHING in drawn(dialog_of(opened.kind))


@pytest.mark.parametrize("name", SAVED)
def test_undo_of_an_edit_that_was_saved_gives_the_imported_file_unasked(tmp_path, name):
    opened = opened_sample(name, tmp_path)
    active = bpy.context.view_layer.objects.active.name
    before = opened.path.read_bytes()
    bpy.ops.ed.undo_push(message="imported")
    opened.edit()
    bpy.ops.ed.undo_push(message="edited")
    assert dialog_of(opened.kind).execute(bpy.context) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="saved")
    assert opened.path.read_bytes() != before
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    bpy.context.view_layer.objects.active = bpy.data.objects[active]
    dialog = dialog_of(opened.kind)
    assert "if_changed" not in properties_drawn(dialog)
    assert AS_IMPORTED in drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert opened.path.read_bytes() == before


@pytest.mark.parametrize("name", ["omf", "skl", "anm", "rtm"])
def test_an_edited_copy_that_plays_is_never_called_no_changes(tmp_path, name):
    opened = opened_sample(name, tmp_path)
    rig = bpy.context.view_layer.objects.active
    compat.assign(rig, rig.animation_data.action.copy())
    opened.edit()
    kind = panels.MOTIONBRIDGE_OT_arma_save_all if name == "rtm" else opened.kind
    dialog = as_in_a_window(kind, backup=False)
    dialog.suggest(bpy.context)
    dialog.check(bpy.context)
    assert NOTHING not in drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert NOTHING in drawn(dialog_of(kind))


def test_undo_and_the_file_on_disk_give_the_motion_that_is_shown(tmp_path):
    opened = opened_sample("skl", tmp_path)
    rig, before = bpy.context.view_layer.objects.active.name, opened.path.read_bytes()
    bpy.ops.ed.undo_push(message="imported")
    opened.edit()
    bpy.ops.ed.undo_push(message="edited")
    assert dialog_of(opened.kind).execute(bpy.context) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="saved")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    edited = skl.read(opened.path.read_bytes(), "made.skls", Report())
    opened.path.write_bytes(skl.write(edited.with_motions([*edited.motions, made_motion(CURVED, seed=8)])))
    bpy.context.view_layer.objects.active = bpy.data.objects[rig]
    dialog = dialog_of(opened.kind, if_changed="DISK")
    assert "1 motion changed, 1 unchanged" in drawn(dialog)
    assert "walk: as imported" in drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    now = skl.read(opened.path.read_bytes(), "made.skls", Report()).motions
    assert skl.bytes_of(now[0]) == skl.bytes_of(skl.read(before, "made.skls", Report()).motions[0])
    assert len(now) == 2


def two_editor_motions(folder):
    """An armature with the motions of a file, and the file."""
    first, second = made_motion(CURVED, seed=3), made_motion(CURVED, seed=4)
    second.name = b"run"
    path = written(folder, first, second)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    walk, run = load_editor_motions(rig, path).actions
    bpy.context.view_layer.objects.active = rig
    compat.assign(rig, walk)
    return path, rig, walk, run


def edited_by_others(path):
    """Another ``run`` in a file; its bytes."""
    document = skl.read(path.read_bytes(), path.name, Report())
    theirs = made_motion(CURVED, seed=8)
    theirs.name = b"run"
    path.write_bytes(skl.write(document.with_motions([document.motions[0], theirs])))
    return skl.bytes_of(theirs)


def keys_of(action):
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in compat.curve_bag(action).fcurves
    }


def test_editor_motions_that_others_edited_stay_and_are_shown(tmp_path):
    path, rig, walk, run = two_editor_motions(tmp_path)
    theirs = edited_by_others(path)
    curve = next(fcurve for fcurve in compat.curve_bag(walk).fcurves if '"hand"].location' in fcurve.data_path)
    curve.keyframe_points[0].co[1] += 0.5
    dialog = dialog_of(skeletal.MOTIONBRIDGE_OT_skeletal_save_back, if_changed="DISK")
    assert "changed on disk and not in Blender" in " ".join(drawn(dialog))
    before = skl.read(path.read_bytes(), path.name, Report()).motions
    assert dialog.execute(bpy.context) == {"FINISHED"}
    now = skl.read(path.read_bytes(), path.name, Report()).motions
    assert skl.bytes_of(now[0]) != skl.bytes_of(before[0])
    assert skl.bytes_of(now[1]) == theirs
    again = load_editor_motions(rig_of(["root", "arm", "hand", "Finger"]), path).actions[1]
    assert keys_of(run) == keys_of(again)
    assert bytes(run.motionbridge_skeletal["body"]) == bytes(again.motionbridge_skeletal["body"])
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}


def test_with_nothing_to_save_the_file_on_disk_is_shown_and_not_written(tmp_path):
    path, _, _, run = two_editor_motions(tmp_path)
    edited_by_others(path)
    there, keys = path.read_bytes(), keys_of(run)
    backup = path.with_name(f"{path.name}.bak")
    backup.write_bytes(b"older")
    dialog = dialog_of(skeletal.MOTIONBRIDGE_OT_skeletal_save_back, if_changed="DISK", backup=True)
    assert NOTHING not in drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert (path.read_bytes(), backup.read_bytes()) == (there, b"older")
    assert keys_of(run) != keys
    assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}


def test_what_a_refusal_asks_for_is_drawn_until_the_dialog_closes(game):
    rig = load(game)
    turn_a_key(rig.animation_data.action)
    rig.pose.bones["thigh_l"].rotation_mode = "XYZ"
    dialog = dialog_of(motion_files.MOTIONBRIDGE_OT_save_back)
    assert "hidden_keys" in properties_drawn(dialog)
    dialog.hidden_keys = "RESTORE"
    dialog.check(bpy.context)
    assert "hidden_keys" in properties_drawn(dialog)
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert rig.pose.bones["thigh_l"].rotation_mode == "QUATERNION"


def test_changing_an_option_samples_nothing_again(game, looked_at):
    rig = load(game)
    reach_toward(rig)
    dialog = as_in_a_window(motion_files.MOTIONBRIDGE_OT_save_back)
    dialog._samples = {}  # as `invoke` leaves it
    dialog.check(bpy.context)
    seen = len(looked_at)
    assert seen == 1  # the motion in play; the others are read from their keys
    planned = dialog._shown.plan
    for name, value in (("backup", False), ("width", "WIDE"), ("rename", False), ("only_active", True)):
        setattr(dialog, name, value)
        dialog.check(bpy.context)
        assert (dialog._shown.plan is planned) == (name == "backup")
    assert [change.name for change in dialog._shown.plan.changes.parts] == ["walk"]
    assert len(looked_at) == seen


def test_editor_motions_that_are_renamed_and_saved_twice_stay_one(tmp_path):
    opened = opened_sample("skl", tmp_path)
    rig = bpy.context.view_layer.objects.active
    rig.animation_data.action.motionbridge_motion.motion_name = "renamed"
    assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
    opened.edit()
    assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
    assert [name for name, _ in library.list_motions(skl_codec.SKL, str(opened.path))] == ["renamed"]
    opened.path.write_bytes(opened.path.read_bytes())
    assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}


def test_saving_the_active_motion_needs_one(game):
    rig = load(game)
    rig.animation_data.action = None
    assert "plays no action" in refusal(bpy.ops.motionbridge.save_back, only_active=True)
    assert last_report()


def test_a_plan_knows_whether_it_is_on_disk(tmp_path):
    path = tmp_path / "file"
    file_plan = plans.FilePlan(str(path), b"bytes", Changes())
    assert not file_plan.is_saved()
    file_plan.write()
    assert file_plan.is_saved()
    assert plans.starts_from_disk(path, {file_plan.digest}, plans.OtherBase.REFUSE)
    assert plans.starts_from_disk(path, set(), plans.OtherBase.DISK)
    assert not plans.starts_from_disk(path, set(), plans.OtherBase.IMPORTED)
    with pytest.raises(WriteError, match=CHANGED) as refused:
        plans.starts_from_disk(path, set(), plans.OtherBase.REFUSE)
    assert refused.value.option == "if_changed"
