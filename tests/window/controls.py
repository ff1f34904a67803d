"""Control rigs in a window: added, posed, saved back, undone, and taken away again."""

from typing import Any

import bpy
from mathutils import Matrix

from addon.blender import control_links, control_rig
from tests.window import identity, imports, long_work, stage
from tests.window.stage import Steps


def controls() -> Any:
    """The armature of the controls, or None; looked up each time, for undo replaces it."""
    return control_links.controls_of(identity.rig())


def raise_hand(frame: int) -> None:
    """A key on one frame, as a person sets it in pose mode."""
    bpy.context.scene.frame_set(frame)
    goal = next(goal for goal in control_rig.goals_of(controls()) if "hand" in goal.name)
    goal.matrix = Matrix.Translation((0.0, 0.0, 0.05)) @ goal.matrix
    goal.keyframe_insert("location")


def posed_saved_and_removed() -> Steps:
    """Adding controls changes no motion, a posed hand changes one; undo takes back the pose, removal the controls."""
    path = identity.import_humanoid()
    before = path.read_bytes()
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls() is not None, "controls")
    assert bpy.context.view_layer.objects.active == controls()
    yield from identity.unchanged(path, before)
    stage.call("object.mode_set", mode="POSE")
    stage.step("Add Control Rig")
    raise_hand(int(identity.rig().animation_data.action.frame_range[0]) + 2)
    stage.step("Pose")
    yield from identity.save_back()
    edited = path.read_bytes()
    assert edited != before, stage.sentence()
    assert "1 motion, 3 tracks changed" in stage.sentence(), stage.sentence()
    yield from stage.undo()
    yield from stage.undo()
    yield from identity.save_back(if_changed="IMPORTED")
    assert path.read_bytes() == before, stage.sentence()
    stage.forget_reports()
    stage.invoke("motionbridge.remove_control_rig")
    yield from stage.until(lambda: controls() is None, "no controls")
    yield from identity.unchanged(path, before)


def shift(name: str, change: Matrix, frame: int) -> None:
    """A key of a control, moved or turned in its armature's space, as a person sets it."""
    bpy.context.scene.frame_set(frame)
    bone = next(bone for bone in controls().pose.bones if bone.name.startswith(name))
    bone.matrix = change @ bone.matrix
    bone.keyframe_insert("location")
    bone.keyframe_insert("rotation_quaternion")


def body_is_posed() -> Steps:
    """A lower torso, a bent chest and a head that looks aside change the file; undo gives it back."""
    path = identity.import_humanoid()
    before = path.read_bytes()
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls() is not None, "controls")
    stage.call("object.mode_set", mode="POSE")
    stage.step("Add Control Rig")
    frame = int(identity.rig().animation_data.action.frame_range[0]) + 2
    shift("torso", Matrix.Translation((0.0, 0.0, -0.05)), frame)
    shift("chest", Matrix.Rotation(0.3, 4, "X"), frame)
    ends = {"first": frame - 1, "last": frame + 1}
    stage.call("motionbridge.match_controls", to="IK", what="HEAD", **ends)
    shift("head_look", Matrix.Translation((0.3, 0.0, 0.0)), frame)
    stage.step("Pose")
    yield from identity.save_back()
    assert path.read_bytes() != before, stage.sentence()
    yield from stage.undo()
    yield from stage.undo()
    yield from identity.save_back(if_changed="IMPORTED")
    assert path.read_bytes() == before, stage.sentence()


def add_roll() -> None:
    """A roll bone in the middle of the left forearm."""
    stage.call("object.mode_set", mode="EDIT")
    bones = identity.rig().data.edit_bones
    roll, forearm = bones.new("forearm_roll_l"), bones["forearm_l"]
    roll.parent, roll.head = forearm, forearm.head.lerp(bones["hand_l"].head, 0.5)
    roll.tail = roll.head + forearm.y_axis * 0.1
    stage.call("object.mode_set", mode="OBJECT")


def twist_bone_follows() -> Steps:
    """A twisted hand turns its roll bone, undo takes it back; one that keeps its keys stays."""
    identity.import_humanoid()
    add_roll()
    stage.step("Roll bone")
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls() is not None, "controls")
    stage.call("object.mode_set", mode="POSE")
    stage.step("Add Control Rig")
    frame = int(identity.rig().animation_data.action.frame_range[0]) + 2
    bpy.context.scene.frame_set(frame)

    def rolled() -> float:
        bpy.context.view_layer.update()
        bones = identity.rig().pose.bones
        own = bones["forearm_l"].matrix.inverted() @ bones["forearm_roll_l"].matrix
        rest = identity.rig().data.bones["forearm_roll_l"]
        return float(
            (rest.parent.matrix_local.inverted() @ rest.matrix_local)
            .to_quaternion()
            .rotation_difference(own.to_quaternion())
            .angle
        )

    assert rolled() < 1e-3
    twist_hand()
    stage.step("Pose")
    assert 0.2 < rolled() < 0.5, rolled()
    yield from stage.undo()
    assert rolled() < 1e-3, rolled()
    controls().pose.bones["forearm_roll_fk.L"]["twist"] = 0.0
    controls().update_tag()
    twist_hand()
    assert rolled() < 1e-3, rolled()


def twist_hand() -> None:
    """A key of the left hand's box, turned about the forearm."""
    bones = controls().pose.bones
    along = bones["hand_ik.L"].head - bones["forearm_fk.L"].head
    there = Matrix.Translation(bones["hand_ik.L"].head)
    rotation = there @ Matrix.Rotation(0.8, 4, along) @ there.inverted()
    shift("hand_ik.L", rotation, bpy.context.scene.frame_current)


def another_motion_is_played() -> Steps:
    """A click on another motion of the list moves it onto the controls, which then show it."""
    identity.import_humanoid()
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls() is not None, "controls")
    first = controls().animation_data.action
    rig = identity.rig()
    number = next(number for number in range(len(bpy.data.actions)) if number != rig.motionbridge_playing)
    other = bpy.data.actions[number]
    rig.motionbridge_playing = number  # what a click on its row does
    yield
    assert identity.rig().animation_data.action == other
    assert controls().animation_data.action not in {None, first}


def waiting() -> list[str]:
    """The motions that were not yet moved onto the controls."""
    return [action.name for action in bpy.data.actions if is_waiting(action)]


def is_waiting(action: Any) -> bool:
    """Whether a motion of the file has no controls."""
    return bool(action.motionbridge_motion.is_motion and action.motionbridge_controls is None)


def shown() -> Any:
    """What plays, is visible and where: as nothing of it may be once the work is over or was stopped."""
    rig = identity.rig()
    objects = {obj.name: (obj.hide_viewport, obj.hide_get(), obj.select_get()) for obj in bpy.context.scene.objects}
    playing = rig.animation_data.action.name, controls().animation_data.action.name
    matrices = [round(value, 5) for bone in rig.pose.bones for row in bone.matrix for value in row]
    return imports.state(), objects, playing, bpy.context.scene.frame_current, rig.data.pose_position, matrices


def all_moved(stops: int | None) -> Steps:
    """**Move All Motions** shows its progress; Esc after so many motions leaves none of them, or all are one step."""
    path = identity.import_humanoid()
    before = path.read_bytes()
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls() is not None, "controls")
    identity.settle("Controls")
    result, left = shown(), waiting()
    assert len(left) == 4
    with long_work.progress_seen() as seen:
        stage.invoke("motionbridge.move_motions_to_controls")
        if stops is None:
            yield from stage.until(lambda: stage.sentence() and not long_work.running(), "the motions")
        else:
            yield from stage.until(lambda: long_work.running() and len(seen) > stops, "this far")
            assert len(waiting()) < 4, "some are moved already"
            stage.press("ESC")
            yield from stage.until(lambda: not long_work.running(), "the work to stop")
    assert seen == list(range(1, len(seen) + 1))
    if stops is None:
        assert len(seen) == 4
        assert waiting() == []
        assert stage.sentence() == "Motions moved to controls: 4", stage.sentence()
        yield from stage.undo()
    else:
        assert len(seen) <= 3
        assert stage.sentence() == "Stopped: no changes were made", stage.sentence()
    assert waiting() == left
    assert shown() == result
    yield from identity.unchanged(path, before)


def all_moved_and_undone() -> Steps:
    yield from all_moved(None)


def stopped_early() -> Steps:
    yield from all_moved(0)


def stopped_late() -> Steps:
    yield from all_moved(2)


SCENES = [
    ("all motions are moved onto controls, and undone", long_work.in_small_steps(all_moved_and_undone)),
    ("moving all motions is stopped early", long_work.in_small_steps(stopped_early, long_work.STOPPED)),
    ("moving all motions is stopped late", long_work.in_small_steps(stopped_late, long_work.STOPPED)),
    ("a control rig is posed, saved back, undone and removed", posed_saved_and_removed),
    ("a control rig's torso, chest and head are posed, saved back and undone", body_is_posed),
    ("a control rig's twist bones follow a posed hand", twist_bone_follows),
    ("a control rig shows the motion that is played", another_motion_is_played),
]
