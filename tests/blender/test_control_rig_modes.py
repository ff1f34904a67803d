"""Control rigs in pose mode: mode and selection go from the bones to the controls and back; switching in one click."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.blender import compat, control_links, control_rig
from addon.ui.control_rig import MOTIONBRIDGE_OT_match_controls
from tests.blender.test_control_rig import imported, off, saved, select, shown, with_rig

IK = control_rig.PROPERTIES[control_rig.Role.GOAL]


def selected(rig):
    return {bone.name for bone in rig.data.bones if compat.is_selected(rig, bone)}


def test_mode_and_selection_go_from_bones_to_controls_and_back(tmp_path):
    rig, motions = imported("humanoid")
    other = bpy.data.objects.new("other", None)
    bpy.context.collection.objects.link(other)
    select(rig, "hand_l", "spine")
    other.select_set(True)
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    controls = control_links.controls_of(rig)
    assert (bpy.context.mode, bpy.context.active_object) == ("POSE", controls)
    assert rig.mode == "OBJECT"
    assert other.select_get()
    assert not rig.select_get()
    assert selected(controls) == {"hand_ik.L", "spine_fk"}
    assert saved(rig, tmp_path / "again.omf") == motions[-1].read_bytes()
    select(controls, "foot_ik.R", "elbow_pole.L", "torso")
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert (bpy.context.mode, bpy.context.active_object) == ("POSE", rig)
    assert selected(rig) == {"foot_r", "forearm_l", "pelvis"}


def test_object_mode_stays_and_so_does_what_else_is_selected():
    rig, _ = imported("humanoid")
    other = bpy.data.objects.new("other", None)
    bpy.context.collection.objects.link(other)
    other.select_set(True)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    assert other.select_get()
    assert bpy.context.active_object == control_links.controls_of(rig)


@pytest.mark.parametrize("control", ["hand_ik.L", "head_look"])
def test_one_limb_or_head_is_matched_and_switched_on_one_frame(control):
    rig, controls, _ = with_rig("humanoid")
    first, last = map(int, rig.animation_data.action.frame_range)
    frames, at = np.arange(first, last + 1), first + 5
    before = shown(rig, frames)
    name = control_rig.switch_of(controls.pose.bones[control])
    to = "FK" if name == IK else "IK"
    select(controls, "foot_ik.R")  # a button of one limb acts on that, whatever is selected
    assert bpy.ops.motionbridge.match_controls(to=to, control=control, first=at, last=at) == {"FINISHED"}
    metres, radians = off(shown(rig, frames), before)
    assert metres < 1e-5
    assert radians < 2.5e-5
    values = {}
    for frame in frames.tolist():
        bpy.context.scene.frame_set(frame)
        values[frame] = controls.pose.bones[control][name]
        assert controls.pose.bones["foot_ik.R"][IK] == 1.0
    assert {frame for frame, value in values.items() if value == float(to == "IK")} == {at}
    assert selected(controls) == {"foot_ik.R"}


@pytest.mark.parametrize(("asks", "shift"), [(False, False), (False, True), (True, False)])
def test_a_click_matches_the_current_frame_and_shift_asks_for_frames(asks, shift):
    asked = []
    scene = SimpleNamespace(frame_current=7, frame_end=90, use_preview_range=False)
    context = SimpleNamespace(scene=scene, window_manager=SimpleNamespace(invoke_props_dialog=asked.append))
    button = SimpleNamespace(asks=asks, execute=lambda _: "matched")
    result = MOTIONBRIDGE_OT_match_controls.invoke(button, context, SimpleNamespace(shift=shift))
    if asks or shift:
        assert (asked, button.first, button.last) == ([button], 7, 90)
        return
    assert (result, asked, button.first, button.last) == ("matched", [], 7, 7)


def test_sliders_are_called_after_the_limb():
    _, controls, _ = with_rig("humanoid")
    limbs = [control_rig.limb_of(goal) for goal in control_rig.goals_of(controls)]
    assert limbs == ["Left Leg", "Right Leg", "Left Arm", "Right Arm"]
    assert [control_rig.limb_of(look) for look in control_rig.looks_of(controls)] == ["Head"]
