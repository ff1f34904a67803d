"""Files saved by an older Blender: what nobody touched leaves this one as it came, and every motion plays."""

import bpy
import numpy as np
import pytest

from addon.blender import control_links
from addon.blender.control_edits import ControlEdits
from addon.core import rotation
from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.mapping import decode
from addon.games.descent3 import model_export as descent_export
from addon.games.descent3.hierarchy import Chosen
from addon.games.xray.bones.properties import game_name
from addon.games.xray.models import exporting as model_export
from addon.games.xray.motions import library, omf_codec, skl_codec
from tests.blender import test_control_rig as controlled
from tests.blender.test_action_lists import bodies_in
from tests.real_files import MOTIONS_OF_MODELS, SHIPS, motions_of_model

PLAYED = 6  # motions of each file, spread over it


@pytest.fixture(params=MOTIONS_OF_MODELS)
def model(request, between):
    bpy.ops.wm.open_mainfile(filepath=str(between / f"{request.param}.blend"))
    assert bpy.data.version[:2] < bpy.app.version[:2], "the file was saved by an older Blender"
    return request.param


def test_what_an_older_blender_saved_leaves_this_one_unchanged(model, tmp_path) -> None:
    rig = bpy.data.objects["rig"]
    model_path, motion_paths = motions_of_model(model)
    assert len(rig.motionbridge_motion_files) == len(motion_paths)
    for file, path in zip(rig.motionbridge_motion_files, motion_paths, strict=True):
        plan = library.plan_export(
            omf_codec.OMF,
            bpy.context,
            rig,
            library.motions_of(file),
            str(tmp_path / path.name),
            onto=library.Onto.OWN_FILES,
            options=omf_codec.MotionExportOptions(),
            report=Report(),
        )
        assert plan.changes.parts == []
        assert plan.data == path.read_bytes()
    plan = model_export.plan_export(bpy.context, rig, model_path, model_export.ModelExportOptions(), Report())
    assert not plan.changes
    assert plan.data == model_path.read_bytes()


def test_any_motion_the_user_picks_is_shown_as_the_files_say(model) -> None:
    """Assigned as the action's menu does it: which slot plays is left to Blender."""
    rig = bpy.data.objects["rig"]
    model_path, motion_paths = motions_of_model(model)
    skeleton = decode_skeleton(ogf.read(model_path.read_bytes(), "", Report()), Report())
    shown_names = {game_name(bone).lower(): bone.name for bone in rig.data.bones}
    for file, path in zip(rig.motionbridge_motion_files, motion_paths, strict=True):
        clips = decode(omf.read(path.read_bytes(), "", Report()).motion_set, Report())
        actions = library.motions_of(file)
        assert len(actions) == len(clips)
        for number in np.unique(np.linspace(0, len(clips) - 1, PLAYED).astype(int)):
            clip, action = clips[number], actions[number]
            rig.animation_data.action = action
            frame = clip.frames // 2
            bpy.context.scene.frame_set(round(action.frame_start) + frame)
            tracks = {bone.lower(): track for track, bone in enumerate(clip.bones)}
            order = [tracks[bone.lower()] for bone in skeleton.bones]
            pose = skeleton.pose_matrices(
                rotation.normalised(clip.rotations[order][:, [frame]]), clip.translations[order][:, [frame]]
            )[:, 0]
            pose_bone = np.array([rig.pose.bones[shown_names[bone.lower()]].matrix for bone in skeleton.bones])
            assert np.abs(pose_bone - pose).max() < 1e-4, (path.name, clip.name)


@pytest.mark.parametrize("kind", ["euler", "quaternion"])
def test_editor_motions_are_written_unchanged(kind, between, tmp_path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(between / f"{kind}.blend"))
    path = between / f"{kind}.skls"
    plan = library.plan_export(
        skl_codec.SKL,
        bpy.context,
        bpy.data.objects["rig"],
        library.motions_of(bpy.data.objects["rig"].motionbridge_skeletal_files[path.name]),
        str(tmp_path / path.name),
        options=skl_codec.SkeletalExportOptions(),
        report=Report(),
    )
    assert plan.changes.sentence() == "2 motions unchanged"
    assert plan.data == path.read_bytes()


@pytest.mark.parametrize("ship", SHIPS, ids=lambda path: path.stem)
def test_a_ship_an_older_blender_saved_leaves_this_one_unchanged(between, ship) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(between / f"{ship.stem}.oof.blend"))
    assert bpy.data.version[:2] < bpy.app.version[:2], "the file was saved by an older Blender"
    chosen = Chosen(bpy.data.objects["ship"])
    plan = descent_export.plan_export(bpy.context, chosen, descent_export.ModelExportOptions(), Report())
    assert not plan.changes
    assert plan.data == ship.read_bytes()


CONTROLLED = controlled.SKELETONS + controlled.REAL[:1]


@pytest.mark.parametrize("model", CONTROLLED)
def test_motions_on_a_control_rig_leave_this_one_unchanged(model, between, tmp_path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(between / f"{model} controls.blend"))
    rig = bpy.data.objects["rig"]
    assert control_links.owns_controls(rig)
    moved = [action for action in controlled.motions_of(rig) if action.motionbridge_controls is not None]
    assert len(moved) > 2
    law = ControlEdits(rig)
    assert [action.name for action in moved if law.bones(action)] == [], "nothing has to be looked at"
    path = motions_of_model(model)[1][-1]
    assert controlled.saved(rig, tmp_path / path.name) == path.read_bytes()
    for goal in controlled.control_rig.goals_of(control_links.controls_of(rig)):
        goal["ik"] = 0.0
    assert ControlEdits(rig).bones(moved[0]) == set(rig.data.bones.keys())
    assert controlled.saved(rig, tmp_path / "looked at.omf") == path.read_bytes()


@pytest.mark.parametrize("model", CONTROLLED)
def test_an_edit_of_controls_leaves_this_one_as_the_older_one_wrote_it(model, between, tmp_path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(between / f"{model} edited.blend"))
    rig = bpy.data.objects["rig"]
    path, written = motions_of_model(model)[1][-1], between / f"{model} edited.omf"
    then, now = controlled.clips(written.read_bytes()), controlled.clips(controlled.saved(rig, tmp_path / "now.omf"))
    source, bodies = bodies_in(path), bodies_in(tmp_path / "now.omf")
    edited = {name for name in source if source[name] != bodies[name]}
    assert edited == {rig.animation_data.action.motionbridge_motion.imported_name}
    before = controlled.clips(path.read_bytes())
    for name in edited:
        changed = [_changed(before[name], clips[name]) for clips in (then, now)]
        assert changed[0] == changed[1]
        assert 0 < len(changed[0]) <= 3
        angles = rotation.angles_between(then[name].rotations, now[name].rotations)
        assert angles.max() <= 2 * 2 / 32767  # a step of the file
        assert np.array_equal(then[name].translations, now[name].translations)


def _changed(entry, other) -> list[str]:
    differ = (entry.rotations != other.rotations).any(axis=(1, 2)) | (entry.translations != other.translations).any(
        (1, 2)
    )
    return [bone for row, bone in enumerate(entry.bones) if differ[row]]
