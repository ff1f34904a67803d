"""Editor motions as users and scripts meet them: operators, dialogs' texts, drops, modes, wrong files, empty scenes."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import skl
from addon.games.xray.motions import skl_codec
from addon.ui.xray import skeletal
from addon.ui.xray.motion_choices import MotionList
from tests.blender.test_skl_motions import CURVED, STEPPED, curve, curves_of, made_motion, rig_of, written
from tests.blender.test_ui import last_report, refusal

BONES = ["root", "arm", "hand", "Finger"]


@pytest.fixture
def walk(tmp_path):
    return written(tmp_path, made_motion(STEPPED))


@pytest.fixture
def two(tmp_path):
    second = made_motion(CURVED, seed=8)
    second.name, second.fps = b"run", np.float32(25)
    return written(tmp_path, made_motion(STEPPED), second, name="two.skls")


def load(path, **options):
    assert bpy.ops.import_scene.xray_skl(filepath=str(path), **options) == {"FINISHED"}


def export(path, **options) -> bytes:
    assert bpy.ops.export_scene.xray_skl(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def labels(data):
    return [motion.label for motion in skl.read(data, "x.skls", Report()).motions]


def test_import_change_nothing_export_and_it_is_the_same(two, tmp_path):
    rig = rig_of(BONES)
    load(two)
    assert last_report()[0] == "Motions imported onto rig: 2; shown: walk"
    assert rig.animation_data.action.name == "walk"
    assert rig.animation_data.action.use_fake_user
    assert export(tmp_path / "new.skls") == two.read_bytes()
    assert last_report()[0] == "new.skls: 2 motions unchanged"


def test_which_are_imported(two):
    rig_of(BONES)
    load(two, name_filter="R*N")
    assert "walk" not in bpy.data.actions
    load(two, motions="WALK")
    assert {"walk", "run"} == {action.name for action in bpy.data.actions}
    assert "no motion matches the filter" in refusal(
        bpy.ops.import_scene.xray_skl, filepath=str(two), name_filter="jump"
    )


def test_only_ticked_motions_are_imported(two):
    rig_of(BONES)
    listed = [{"name": name, "file": str(two), "frames": 1, "ticked": name == "run"} for name in ("walk", "run")]
    load(two, listed=listed)
    assert [action.name for action in bpy.data.actions] == ["run"]
    listed[1]["ticked"] = False
    assert "no motion is chosen" in refusal(bpy.ops.import_scene.xray_skl, filepath=str(two), listed=listed)
    assert "no motion named 'jump'" in refusal(bpy.ops.import_scene.xray_skl, filepath=str(two), motions="walk;jump")


def test_the_list_before_the_import_names_motions_and_lengths(two):
    operator = SimpleNamespace(listed=Rows(), paths=lambda: [str(two)])
    operator.each_file = lambda paths, entry, report: [entry(path, report) for path in paths]
    MotionList.list_files(operator, skl_codec.SKL, Report())
    assert [(row.name, row.file, row.frames) for row in operator.listed] == [
        ("walk", str(two), 31),
        ("run", str(two), 31),
    ]


class Rows(list):
    """Adds rows as Blender's collections do."""

    def add(self):
        self.append(SimpleNamespace())
        return self[-1]


def test_what_is_exported(two, tmp_path):
    rig = rig_of(BONES)
    load(two)
    assert labels(export(tmp_path / "new.skls", choose="ACTIVE")) == ["walk"]
    assert "stores one motion, not 2" in refusal(bpy.ops.export_scene.xray_skl, filepath=str(tmp_path / "new.skl"))
    assert not (tmp_path / "new.skl").exists()
    assert labels(export(tmp_path / "new.skls", choose="ALL")) == ["walk", "run"]
    assert (tmp_path / "new.skls.bak").exists()
    rig.animation_data.action = None
    assert "plays no action" in refusal(
        bpy.ops.export_scene.xray_skl, filepath=str(tmp_path / "a.skl"), choose="ACTIVE"
    )
    assert bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "nameless")) == {"FINISHED"}
    assert (tmp_path / "nameless.skls").read_bytes() == two.read_bytes()


def test_a_single_motion_and_several_files(walk, tmp_path):
    rig_of(BONES)
    motion = made_motion(STEPPED, seed=4)
    motion.name = b"alone"
    entry = written(tmp_path, motion, name="one.skl")
    files = [{"name": name} for name in (entry.name, walk.name, "gone.skl")]
    assert bpy.ops.import_scene.xray_skl(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert last_report()[0] == "Motions imported onto rig: 2; shown: alone"
    assert any(line.startswith("left out:") and "gone.skl" in line for line in last_report())
    assert export(tmp_path / "again.skl") == entry.read_bytes()


def test_into_a_file_existing(two, walk, tmp_path):
    rig_of(BONES)
    load(two)
    assert labels(export(walk, onto="FILE", backup=False)) == ["walk", "run"]
    assert "there is no such file" in refusal(
        bpy.ops.export_scene.xray_skl, filepath=str(tmp_path / "gone.skls"), onto="FILE"
    )


def test_the_scene_keeps_its_rate_unless_asked(two):
    rig_of(BONES)
    scene = bpy.context.scene
    scene.render.fps = 24
    load(two)
    assert (scene.render.fps, scene.frame_end) == (24, 250)
    assert any("the scene plays 24 frames per second, the motion 30" in line for line in last_report())
    load(two, motions="run", match_scene=True)
    assert (scene.render.fps / scene.render.fps_base, scene.frame_start, scene.frame_end) == (25.0, 0, 30)
    scene.frame_end = 9
    assert bpy.ops.motionbridge.match_scene() == {"FINISHED"}
    assert scene.frame_end == 30


def test_in_edit_and_pose_mode_and_with_a_mesh_active(walk, tmp_path):
    rig = rig_of(BONES)
    bpy.ops.object.mode_set(mode="EDIT")
    load(walk)
    assert rig.mode == "EDIT"
    bpy.ops.object.mode_set(mode="POSE")
    assert export(tmp_path / "new.skls") == walk.read_bytes()
    assert rig.mode == "POSE"
    bpy.ops.object.mode_set(mode="OBJECT")
    cube = bpy.data.objects.new("cube", bpy.data.meshes.new("cube"))
    bpy.context.scene.collection.objects.link(cube)
    bpy.context.view_layer.objects.active = cube
    load(walk)
    assert any("no armature is active: the only one in the scene is used" in line for line in last_report())


def test_without_an_armature_nothing_happens(walk):
    assert "no armature is active" in refusal(bpy.ops.import_scene.xray_skl, filepath=str(walk))
    assert not bpy.ops.export_scene.xray_skl.poll()
    assert not bpy.ops.motionbridge.match_scene.poll()
    assert "no file is chosen" in refusal(bpy.ops.import_scene.xray_skl)
    assert len(bpy.data.actions) == 0


@pytest.mark.parametrize("data", [b"", b"text\n" * 50, bytes(64), b"\xff" * 64])
def test_wrong_files_are_refused(data, tmp_path):
    rig_of(BONES)
    for name in ("wrong.skl", "wrong.skls"):
        (tmp_path / name).write_bytes(data)
        assert name in refusal(bpy.ops.import_scene.xray_skl, filepath=str(tmp_path / name))
    assert len(bpy.data.actions) == 0


@pytest.mark.parametrize(
    ("channel", "fine", "coarse"),
    [
        ("location", {"millimetres": 0.1, "degrees": 5.0}, {"millimetres": 100.0, "degrees": 0.001}),
        ("rotation_euler", {"millimetres": 100.0, "degrees": 0.001}, {"millimetres": 0.1, "degrees": 5.0}),
    ],
)
def test_steps_of_stored_handles_are_reported_where_they_cost_more_than_the_tolerance(tmp_path, channel, fine, coarse):
    rig = rig_of(BONES)
    bone = rig.pose.bones["Finger"]
    bone.rotation_mode = "ZXY"
    for frame, value in ((1, 0.0), (9, 0.8), (25, -0.6)):
        setattr(bone, channel, (value, value / 2, -value))
        bone.keyframe_insert(channel, frame=frame)
    for options, calls in ((fine, True), (coarse, False)):
        export(tmp_path / "stored.skl", **options)
        assert any("store handles in steps of 0.98 ms" in line for line in last_report()) == calls


def test_tolerance_and_version_of_new_motions(tmp_path):
    rig = rig_of(BONES)
    bone = rig.pose.bones["Finger"]
    for frame, angle in ((1, 0.0), (9, 0.8), (25, -0.6)):
        bone.rotation_quaternion = (1.0, angle, angle / 2, -angle)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    fine = export(tmp_path / "fine.skl")
    assert any("store handles in steps of 0.98 ms" in line for line in last_report())
    assert len(export(tmp_path / "coarse.skl", degrees=1.0)) < len(fine)
    (motion,) = skl.read(export(tmp_path / "full.skl", version="5"), "full.skl", Report()).motions
    assert motion.version == 5
    assert not any("store handles" in line for line in last_report())


def test_by_collections(walk, tmp_path):
    rig = rig_of(BONES)
    load(walk)
    collection = bpy.data.collections.new("motions")
    bpy.context.scene.collection.children.link(collection)
    assert "holds no armature" in refusal(
        bpy.ops.export_scene.xray_skl, filepath=str(tmp_path / "new.skls"), collection="motions"
    )
    collection.objects.link(rig)
    assert export(tmp_path / "new.skls", collection="motions") == walk.read_bytes()


def test_files_are_dropped_where_armatures_and_actions_are():
    handler = bpy.types.IO_FH_motionbridge_xray_skl
    assert handler.bl_file_extensions == ".skl;.skls"
    assert handler.bl_import_operator == "import_scene.xray_skl"
    area = bpy.context.window_manager.windows[0].screen.areas[0] if bpy.context.window_manager.windows else None
    if area is not None:
        area.type = "DOPESHEET_EDITOR"
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area):
            assert handler.poll_drop(bpy.context)


def test_stash_and_quaternions(walk):
    rig = rig_of(BONES)
    load(walk, stash=True, rotation="QUATERNION")
    assert [track.name for track in rig.animation_data.nla_tracks] == ["walk"]
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}
    assert curve(rig.animation_data.action, "arm", "rotation_quaternion", 3) in curves_of(rig.animation_data.action)


def test_the_panel_knows_the_motion(walk):
    rig_of(BONES)
    assert skeletal.active_skeletal(bpy.context) is None
    load(walk)
    action = skeletal.active_skeletal(bpy.context)
    assert (action.motionbridge_skeletal.version, action.motionbridge_skeletal.fps) == (6, 30.0)


def test_a_click_in_the_list_plays_a_motion_and_turns_bones_as_it_does(two):
    rig = rig_of(BONES)
    load(two, rotation="EULER")
    load(two, rotation="QUATERNION", motions="run")
    run = bpy.data.actions.find("run")
    assert rig.pose.bones["arm"].rotation_mode == "QUATERNION"
    rig.motionbridge_playing = run
    assert rig.animation_data.action == bpy.data.actions[run]
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"ZXY"}
    rig.motionbridge_playing = bpy.data.actions.find("run.001")
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}
