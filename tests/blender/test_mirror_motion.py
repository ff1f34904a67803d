"""Mirror Motion: a new motion with left and right exchanged; exchanged twice it is the first one again."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import bone_curves, control_links
from addon.blender.compat import curves_of
from addon.core import symmetry
from tests.blender import rtm_scene
from tests.blender.test_control_rig import BIG, REAL, goal_of, imported, key, motions_of, off, saved, shown
from tests.blender.test_control_symmetry import structure
from tests.real_files import corpus_files

MODELS = ["humanoid", *BIG, *REAL[1:2]]
MEN = corpus_files("rtm/agm_wipeglasses.rtm")
METRES, RADIANS = 1e-5, 5e-5


def playing(model):
    """A rig with the motions of a model, one of which plays."""
    rig, motions = imported(model)
    bpy.context.view_layer.objects.active = rig
    return rig, motions


def mirror(rig):
    assert bpy.ops.motionbridge.mirror_motion() == {"FINISHED"}
    return rig.animation_data.action


def frames_of(action):
    first, last = map(round, action.frame_range)
    return np.linspace(first, last, min(last - first + 1, 12)).round()


def check(rig, poses, frames):
    """What plays is ``poses`` with left and right exchanged."""
    rest, parents, pairs = structure(rig)
    expected = symmetry.mirrored(poses, rest, parents, pairs)
    assert np.abs(expected - poses).max() > 0.01
    metres, radians = off(shown(rig, frames), expected)
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", MODELS)
def test_a_mirrored_motion_is_a_new_one_with_both_sides_exchanged(model):
    rig, _ = playing(model)
    action, listed = rig.animation_data.action, motions_of(rig)
    frames = frames_of(action)
    poses, keys = shown(rig, frames), bone_curves.digest_of(action, rig)
    copy = mirror(rig)
    assert copy not in listed
    assert motions_of(rig) == [*listed, copy]
    assert copy.motionbridge_motion.motion_name == f"{action.motionbridge_motion.motion_name}_mirrored"
    assert bone_curves.digest_of(action, rig) == keys
    assert tuple(copy.frame_range) == tuple(action.frame_range)
    check(rig, poses, frames)
    both = action, mirror(rig)
    metres, radians = off(shown(rig, frames), poses)
    assert metres < METRES
    assert radians < RADIANS
    moving = [{curve.data_path for curve in curves_of(other, rig) if len(curve.keyframe_points) > 1} for other in both]
    assert moving[0] == moving[1]


def test_the_file_gets_the_new_motion_and_keeps_the_others(tmp_path):
    rig, motions = playing("humanoid")
    copy = mirror(rig)
    path = tmp_path / "more.omf"
    data = saved(rig, path)
    assert rig.animation_data.action == copy
    assert bpy.ops.motionbridge.delete_motion() == {"FINISHED"}
    assert saved(rig, path) == motions[-1].read_bytes() != data
    bpy.ops.wm.read_homefile(use_empty=True)
    again, _ = imported("humanoid", "walk")
    path.write_bytes(data)
    assert bpy.ops.import_scene.xray_omf(filepath=str(path), motions="walk_mirrored") == {"FINISHED"}
    assert again.animation_data.action.motionbridge_motion.motion_name == "walk_mirrored"


@pytest.mark.parametrize("is_edited", [False, True])
def test_with_controls_what_they_show_is_mirrored_and_moved_onto_them(is_edited):
    rig, _ = playing("humanoid")
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    controls = control_links.controls_of(rig)
    action = rig.animation_data.action
    frames = frames_of(action)
    if is_edited:
        key(controls, goal_of(controls), frames.astype(int).tolist(), Matrix.Translation((0.0, -0.05, 0.05)))
    poses, theirs = shown(rig, frames), action.motionbridge_controls
    copy = mirror(rig)
    assert copy.motionbridge_controls not in {None, theirs}
    assert controls.animation_data.action == copy.motionbridge_controls
    check(rig, poses, frames)


@pytest.mark.parametrize("file", MEN)
def test_an_animation_of_arma_is_mirrored_with_its_step(file):
    if not file:
        pytest.skip("no corpus")
    done = rtm_scene.load(file)
    rig, action = done.rig, done.action
    bpy.context.view_layer.objects.active = rig
    action.motionbridge_animation.step = (0.25, -1.0, 0.5)
    frames = frames_of(action)
    poses = shown(rig, frames)
    copy = mirror(rig)
    assert tuple(copy.motionbridge_animation.step) == (-0.25, -1.0, 0.5)
    assert copy in {entry.action for entry in rig.motionbridge_animations}
    check(rig, poses, frames)
    mirror(rig)
    metres, radians = off(shown(rig, frames), poses)
    assert metres < METRES
    assert radians < RADIANS
