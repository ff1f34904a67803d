"""Motions edited in ways that are drawn at random: what is saved is what Blender shows, the rest leaves as it came."""

import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from addon.blender import compat, control_links
from addon.core.report import Report
from addon.formats.xray import omf
from tests.blender.test_action_lists import activate, bodies_in, game, load  # noqa: F401 (a fixture)
from tests.blender.test_control_rig import goal_of, motions_of, off
from tests.real_files import sampled

STEPS = 12
METRES, RADIANS = 3e-3, 1e-2
"""What 16 bits of the file leave at the end of a chain, of motions that an edit made longer or wider, too."""


class Person:
    """Somebody with a rig and its motions; each method is something that people do, drawn by its number."""

    def __init__(self, rig, path, drawn) -> None:
        self.name, self.path, self.drawn = rig.name, path, drawn
        self.touched = set()  # names in the file
        self.was_constrained = False  # constraints change the motion in play alone
        self.diary = []

    @property
    def rig(self):
        return bpy.data.objects[self.name]

    @property
    def action(self):
        return self.rig.animation_data.action if self.rig.animation_data is not None else None

    def does_something(self) -> None:
        deeds = [name for name in vars(Person) if name.startswith("to_")]
        deed = self.drawn.choice(deeds)
        self.diary.append(deed)
        activate(self.rig)
        try:
            getattr(self, deed)()
        except RuntimeError as refused:  # an operator's refusal is one line, or says why it is greyed out
            if "Traceback" in str(refused):
                raise
            self.diary.append(str(refused))
        if self.was_constrained and self.action is not None:
            self.touch(self.action)
        for action in bpy.data.actions:
            action.update_tag()
        bpy.context.view_layer.update()

    def touch(self, *actions) -> None:
        self.touched |= {action.motionbridge_motion.imported_name or action.name for action in actions}

    def edited_curves(self):
        """Of what is posed: controls, where there are some."""
        controls, owner = control_links.controls_of(self.rig), self.rig
        action = self.action
        if controls is not None and action is not None:
            action, owner = action.motionbridge_controls, controls
        if action is not None:
            self.touch(self.action)
        return list(compat.curves_of(action, owner))

    def to_play(self) -> None:
        if motions_of(self.rig):
            self.rig.motionbridge_motion_row = self.drawn.randrange(len(motions_of(self.rig)))

    def to_pose(self) -> None:
        controls = control_links.controls_of(self.rig)
        if self.action is None:
            return
        frame = int(self.action.frame_range[0]) + self.drawn.randrange(8)
        bpy.context.scene.frame_set(frame)
        if controls is not None:
            bone = controls.pose.bones[goal_of(controls)]
            bone.matrix = Matrix.Translation((0, 0.01, 0.05 * self.drawn.random())) @ bone.matrix
        else:
            bone = self.drawn.choice(list(self.rig.pose.bones))
            bone.rotation_quaternion @= Quaternion((0, 0, 1), 0.3 * self.drawn.random())
        for channel in ("location", "rotation_quaternion"):
            bone.keyframe_insert(channel, frame=frame)
        self.touch(self.action)

    def to_delete_a_key(self) -> None:
        curves = [curve for curve in self.edited_curves() if len(curve.keyframe_points) > 1]
        if curves:
            points = self.drawn.choice(curves).keyframe_points
            points.remove(points[self.drawn.randrange(len(points))])

    def to_scale_and_shift_time(self) -> None:
        scale, shift = self.drawn.choice([(0.5, 0), (2, 0), (1.3, 0), (1, -3), (1, 2), (1, 0.5)])
        for curve in self.edited_curves():
            for point in curve.keyframe_points:
                point.co.x = scale * point.co.x + shift
            curve.update()

    def to_change_the_interpolation(self) -> None:
        kind = self.drawn.choice(["BEZIER", "LINEAR", "CONSTANT", "ELASTIC"])
        for curve in self.edited_curves()[:: self.drawn.randrange(1, 9)]:
            for point in curve.keyframe_points:
                point.interpolation = kind
            curve.update()

    def to_add_a_modifier(self) -> None:
        curves = self.edited_curves()
        if curves:
            self.drawn.choice(curves).modifiers.new(self.drawn.choice(["CYCLES", "NOISE"]))

    def to_constrain_a_bone(self) -> None:
        first, other = (self.drawn.choice(list(self.rig.pose.bones)) for _ in range(2))
        others = any(bone.constraints.get("mine") for bone in self.rig.pose.bones)  # two may depend on each other
        if first == other or first in other.parent_recursive or others:
            return
        constraint = first.constraints.new("COPY_ROTATION")
        constraint.name, constraint.target, constraint.subtarget = "mine", self.rig, other.name
        self.was_constrained = True

    def to_free_a_bone(self) -> None:
        for bone in self.rig.pose.bones:
            if "mine" in bone.constraints:
                bone.constraints.remove(bone.constraints["mine"])

    def to_add_or_remove_controls(self) -> None:
        if control_links.controls_of(self.rig) is None:
            bpy.ops.motionbridge.add_control_rig()
        else:
            bpy.ops.motionbridge.remove_control_rig()

    def to_rename_a_bone(self) -> None:
        self.drawn.choice(list(self.rig.data.bones)).name = f"bone {self.drawn.randrange(1000)}"

    def to_rename_an_action(self) -> None:
        if motions_of(self.rig):
            self.drawn.choice(motions_of(self.rig)).name = f"action {self.drawn.randrange(1000)}"

    def to_copy_an_action(self) -> None:
        if motions_of(self.rig):
            self.drawn.choice(motions_of(self.rig)).copy().use_fake_user = True

    def to_delete_a_motion(self) -> None:
        bpy.ops.motionbridge.delete_motion()

    def to_restore_a_motion(self) -> None:
        bpy.ops.motionbridge.revert_motion()

    def to_change_the_range(self) -> None:
        if self.action is not None:
            self.action.frame_end = self.action.frame_range[1] + self.drawn.choice([-2, 3])
            self.touch(self.action)

    def to_change_the_rate(self) -> None:
        bpy.context.scene.render.fps = self.drawn.choice([24, 30, 60])

    def to_unlink_the_action(self) -> None:
        if self.rig.animation_data is not None:
            self.rig.animation_data.action = None

    def to_save_and_reload_the_scene(self) -> None:
        scene = str(self.path.with_name("scene.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=scene, compress=False)
        bpy.ops.wm.open_mainfile(filepath=scene)

    def to_save_back(self) -> None:
        bpy.ops.motionbridge.save_back()

    def to_export(self) -> None:
        bpy.ops.export_scene.xray_omf(filepath=str(self.path.with_name("other.omf")))


def lengths_in(path) -> dict[str, int]:
    motions = omf.read(path.read_bytes(), path.name, Report()).motion_set
    return {motion.label: motion.frames for motion in motions.library.motions}


def poses_of(rig, lengths) -> dict[str, np.ndarray]:
    """By the name in the file: (frames, bones, 4, 4) what the list plays, bones in the game's order."""
    own_poses = {}
    bones = [bone.name for bone in sorted(rig.data.bones, key=lambda bone: bone.motionbridge_xray.index)]
    for row, action in enumerate(motions_of(rig)):
        rig.motionbridge_motion_row = row
        assert rig.animation_data.action == action
        name = action.motionbridge_motion.motion_name or action.name
        poses = []
        for frame in action.frame_range[0] + np.arange(lengths[name]):
            bpy.context.scene.frame_set(int(frame // 1), subframe=float(frame % 1))
            poses.append([np.array(rig.pose.bones[bone].matrix) for bone in bones])
        own_poses[name] = np.array(poses)
    return own_poses


@pytest.mark.parametrize("seed", sampled(range(60), 15))
def test_what_is_saved_is_what_is_shown(game, seed) -> None:  # noqa: F811
    path = game / "humanoid.omf"
    before = bodies_in(path)
    person = Person(load(game), path, random.Random(seed))  # noqa: S311 (nothing here is secret)
    for _ in range(STEPS):
        person.does_something()
    activate(person.rig)
    bpy.ops.motionbridge.save_back()
    in_play = person.action.motionbridge_motion.motion_name if person.action is not None else None
    now = bodies_in(path)
    changed = {name for name in now if name in before and now[name] != before[name]}
    assert changed <= person.touched, person.diary
    own_poses = poses_of(person.rig, lengths_in(path))
    assert list(own_poses) == list(now), person.diary
    bpy.ops.wm.read_homefile(use_empty=True)
    for name, poses in poses_of(load(game), lengths_in(path)).items():
        if person.was_constrained and name != in_play:
            continue
        metres, radians = off(own_poses[name], poses)
        assert metres < METRES, (name, person.diary)
        assert radians < RADIANS, (name, person.diary)
