"""An animation names the bones that the game does not know before it is written, and is refused if it knows none."""

import json

import bpy
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.ui.arma.files import EXPORT_SCENE_OT_arma_rtm
from tests.blender.dialogs import Dialog
from tests.blender.rtm_scene import load, planned, raw_matrices
from tests.blender.test_level_panel import Layout
from tests.blender.test_rtm import drawn_animation
from tests.real_files import corpus_files

MIXAMO = ("Hips", "Spine", "Spine1", "Spine2", "Neck", "Head", "LeftArm", "LeftHand", "RightArm", "RightHand")
IGNORED = "bones that the game's skeleton lacks are written, and the game ignores them"
REFUSED = "the game's skeleton has none of the bones to write"


def mixamo():
    return drawn_animation(bones=tuple(f"mixamorig:{name}" for name in MIXAMO))


def table(tmp_path):
    pairs = {"Pelvis": "Hips", "Spine": "Spine", "Spine3": "Spine2", "head": "Head"}
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"bones": {game: f"mixamorig:{name}" for game, name in pairs.items()}}))
    return str(path)


def said(report):
    return [line for line in report.warnings if "bones" in line and "game" in line]


def test_a_rig_of_another_program_is_refused_with_its_names(tmp_path):
    mixamo()
    with pytest.raises(RuntimeError, match=f"{REFUSED}: mixamorig:Hips, mixamorig:Spine"):
        bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "out.rtm"))
    assert list(tmp_path.iterdir()) == []


def test_bones_that_a_table_leaves_out_are_named(tmp_path):
    mixamo()
    path = tmp_path / "out.rtm"
    options = {"bone_names": "TABLE", "bone_table": table(tmp_path)}
    assert bpy.ops.export_scene.arma_rtm(filepath=str(path), **options) == {"FINISHED"}
    report = bpy.context.window_manager.motionbridge_report
    (line,) = (line for line in report.splitlines() if IGNORED in line)
    assert "mixamorig:Spine1, mixamorig:Neck, mixamorig:LeftArm" in line
    assert not {"mixamorig:Hips", "mixamorig:Head"} & set(line.replace(",", " ").split())
    assert {"Pelvis", "Spine", "Spine3", "head"} < set(raw_matrices(path.read_bytes())[0])


@pytest.mark.parametrize("with_table", [False, True])
def test_the_dialog_says_it_before_anything_is_written(with_table, tmp_path):
    mixamo()
    dialog = Dialog(EXPORT_SCENE_OT_arma_rtm)
    dialog.filepath, dialog.layout = str(tmp_path / "out.rtm"), Layout()
    if with_table:
        dialog.bone_names, dialog.bone_table = "TABLE", table(tmp_path)
    dialog.draw_last(bpy.context)
    drawn = " ".join(entry for entry in dialog.layout.kept if isinstance(entry, str))
    assert (IGNORED if with_table else REFUSED) in drawn
    assert "mixamorig:Spine1" in drawn


def test_a_prefix_gives_the_bones_the_names_of_the_game():
    report = Report()
    planned(drawn_animation(bones=("rig:Pelvis", "rig:Spine")), prefix="rig:", report=report)
    assert said(report) == []


def test_an_own_skeleton_is_reported_to_be_unknown_until_its_model_cfg_is_named(tmp_path):
    report = Report()
    planned(drawn_animation(bones=("Quelle", "Stamm")), report=report)
    (line,) = said(report)
    assert line.startswith("no known skeleton of the game has these bones")
    assert line.endswith("Quelle, Stamm")
    config = tmp_path / "model.cfg"
    config.write_text('class CfgSkeletons { class Man { skeletonBones[] = {"Quelle", "", "Stamm", "Quelle"}; }; };')
    for options in ({"config": str(config)}, {"path": tmp_path / "out.rtm"}):
        report = Report()
        planned(drawn_animation(bones=("Quelle", "Stamm")), report=report, **options)
        assert said(report) == []
    report = Report()
    planned(drawn_animation(bones=("Quelle", "Rad")), report=report, config=str(config))
    assert said(report) == [f"{IGNORED}: Rad"]
    with pytest.raises(WriteError, match=REFUSED):
        planned(drawn_animation(bones=("Nabe", "Rad")), config=str(config))


@pytest.mark.parametrize("path", corpus_files("rtm/*.rtm", "rtm_binarised/*.rtm"))
def test_no_bone_of_a_real_animation_is_unknown(path, tmp_path):
    done = load(path)
    report = Report()
    assert planned(done, report=report).data == path.read_bytes()
    assert said(report) == []


@pytest.mark.parametrize("path", corpus_files("rtm/dog_walkfrontrf.rtm"))
def test_a_bone_that_was_added_to_a_real_animation_is_named(path):
    done = load(path)
    bpy.context.view_layer.objects.active = done.rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = done.rig.data.edit_bones.new("mixamorig:Tail")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    done.rig.pose.bones["mixamorig:Tail"].keyframe_insert("location", frame=0)
    report = Report()
    planned(done, report=report)
    assert said(report) == [f"{IGNORED}: mixamorig:Tail"]
