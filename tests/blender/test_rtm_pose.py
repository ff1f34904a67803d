"""Animations of Arma: however the armature is made, Blender shows the file's matrices, and all leaves as it came."""

import logging

import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.arma import p3d, rtm
from addon.games.arma import timing
from addon.games.arma.options import HierarchyFrom, PivotsFrom, StepMode
from tests.blender.rtm_scene import (
    BINARISED,
    PLAIN,
    curve_of,
    exported,
    load,
    raw_matrices,
    shear_of,
    shown_matrices,
)
from tests.blender.scenes import reopen
from tests.real_files import CORPUS, corpus_files, sampled

LOG = logging.getLogger(__name__)
"""The table of poses: `--log-cli-level=INFO` shows it."""
PLACES = {"dog": "rtm/dog_model.cfg", "captive": "rtm/captive_model.cfg", "agm": "rtm/agm_goggles_model.cfg"}


def config_of(file) -> str:
    name = PLACES.get(file.name.split("_")[0], "rtm/agm_goggles_model.cfg")
    return str(CORPUS / name)


def ways(file) -> dict:
    """Every way of making an armature that the file allows."""
    config = config_of(file)
    return {
        "config + pivots model": {
            "hierarchy": HierarchyFrom.AUTOMATIC,
            "config": config,
            "pivots": PivotsFrom.MODEL,
            "pivots_model": str(CORPUS / "p3d" / "dog_skeleton_pivots.p3d"),
        },
        "config, joints recovered": {
            "hierarchy": HierarchyFrom.AUTOMATIC,
            "config": config,
            "pivots": PivotsFrom.ANIMATION,
        },
        "Arma 3 man": {"hierarchy": HierarchyFrom.ARMA3, "pivots": PivotsFrom.BUILT_IN, "whole_skeleton": True},
        "Arma 2 man": {"hierarchy": HierarchyFrom.ARMA2},
        "Flashpoint man": {"hierarchy": HierarchyFrom.FLASHPOINT, "whole_skeleton": True},
        "flat": {"hierarchy": HierarchyFrom.FLAT},
        "automatic": {},
    }


@pytest.mark.parametrize("file", sampled(PLAIN))
def test_every_way_of_making_the_armature_shows_the_files_matrices(file):
    names, _, wanted = raw_matrices(file.read_bytes())
    allowed = 1e-5 + 2 * shear_of(wanted)
    for kind, options in ways(file).items():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        done = load(file, **options)
        poses = shown_matrices(done, names, timing.kept_frames(done.action.motionbridge_animation))
        apart = np.abs(poses - wanted).max(axis=(-1, -2))
        LOG.info("%-30s %-26s %.1e apart, shear %.1e", file.name, kind, apart.max(), (allowed.max() - 1e-5) / 2)
        assert (apart <= allowed).all(), (kind, apart.max(), (allowed - apart).min())


@pytest.mark.parametrize("file", sampled(PLAIN + BINARISED))
def test_unedited_animations_leave_unchanged_through_a_saved_file(file, tmp_path):
    hierarchy = HierarchyFrom.ARMA3 if "binarised" in str(file) else HierarchyFrom.AUTOMATIC
    created = [load(file, hierarchy=hierarchy, step=mode) for mode in StepMode]
    named = [(done.rig.name, done.action.name) for done in created]
    reopen(tmp_path)
    for done, (rig, action), mode in zip(created, named, StepMode, strict=True):
        done.rig, done.action = bpy.data.objects[rig], bpy.data.actions[action]
        assert exported(done) == file.read_bytes(), mode


@pytest.mark.parametrize(
    ("size", "source"), [(1.0, PivotsFrom.AUTOMATIC), *((1.8, source) for source in list(PivotsFrom)[:2])]
)
def test_pivots_of_a_larger_skeleton_are_reported_and_used_only_if_chosen(samples, tmp_path, size, source):
    document = p3d.read((samples / "arma" / "man.p3d").read_bytes(), "man.p3d", Report())
    for lod in document.lods:
        lod.points = lod.points.copy()
        lod.points["position"] *= size
    model, report = tmp_path / "pivots.p3d", Report()
    model.write_bytes(p3d.write(document))
    done = load(samples / "arma" / "walk.rtm", report=report, pivots=source, pivots_model=str(model))
    own = load(samples / "arma" / "walk.rtm", pivots=PivotsFrom.MODEL, pivots_model=str(samples / "arma" / "man.p3d"))
    lines = [line for line in report.lines() if "come apart" in line]
    assert len(lines) == (size > 1.0), report.lines()
    assert all("by up to 0.20 m in the animation (bones: 4 of 4)" in line for line in lines), lines
    feet = [np.array(rig.data.bones["LeftFoot"].head_local) for rig in (done.rig, own.rig)]
    expected = size if source is PivotsFrom.MODEL else 1.0
    assert np.allclose(feet[0][2], feet[1][2] * expected, atol=0.01), feet
    assert exported(done) == (samples / "arma" / "walk.rtm").read_bytes()


@pytest.mark.parametrize("file", corpus_files("rtm/rhs_clamp_camera1.rtm"))
def test_a_camera_behind_the_man_does_not_move_his_pelvis(file):
    bones = load(file).rig.data.bones
    assert max(abs(value) for value in bones["Pelvis"].head_local) < 0.3
    assert bones["Pelvis"].length < 0.3


@pytest.mark.parametrize("file", corpus_files("rtm/dog_runfront.rtm"))
def test_phases_lie_on_frames_and_are_written_unchanged(file):
    bpy.context.scene.render.fps = 30
    done = load(file, seconds=2.0, first_frame=5)
    frames = timing.kept_frames(done.action.motionbridge_animation)
    phases = raw_matrices(file.read_bytes())[1]
    assert np.abs(frames - (5 + 60 * phases.astype(np.float64))).max() < 1e-4
    assert exported(done) == file.read_bytes()


@pytest.mark.parametrize("file", BINARISED)
def test_binarised_ones_show_what_the_format_says(file):
    document = rtm.read(file.read_bytes(), str(file), Report())
    done = load(file, hierarchy=HierarchyFrom.ARMA3)
    names = document.bones
    parents = {entry.name: entry.parent for entry in done.action.motionbridge_animation.bones}
    poses = shown_matrices(done, names, timing.kept_frames(done.action.motionbridge_animation))
    turned = np.diag([-1.0, 1.0, -1.0, 1.0])
    swap = np.eye(4)[[0, 2, 1, 3]]
    for frame in range(min(len(poses), 12)):
        for index, name in enumerate(names):
            x, y, z, w = document.transforms["rotation"][frame, index] / np.float64(16384)
            length = np.sqrt(x * x + y * y + z * z + w * w)
            x, y, z, w = np.array([x, y, z, w]) / length
            rotation = np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
            )
            own = np.eye(4)
            own[:3, :3] = length**2 * rotation.T
            own[:3, 3] = document.transforms["translation"][frame, index]
            wanted = swap @ turned @ own @ turned @ swap
            above = poses[frame, names.index(parents[name])] if parents[name] else np.eye(4)
            assert np.abs(poses[frame, index] - above @ wanted).max() < 2e-5, (frame, name)


def test_scales_of_binarised_files_are_shown_and_edited_frames_keep_them(corpus):
    """The joints of the left hand meet, as in the game, and moving it keeps its scale and everybody else's bytes."""
    file = corpus / "odd" / "scaled_quaternions.rtm"
    done = load(file)
    hand = done.rig.pose.bones["lefthand"]
    bpy.context.scene.frame_set(int(done.action.frame_start))
    scale = (hand.matrix @ hand.bone.matrix_local.inverted()).to_scale()
    assert max(scale) / min(scale) < 1.001
    assert exported(done) == file.read_bytes()
    curve_of(done.action, "lefthand", "location", 0).keyframe_points[0].co[1] += 0.1
    before, after = (rtm.read(data, "x", Report()).transforms for data in (file.read_bytes(), exported(done)))
    np.testing.assert_array_equal(after["rotation"], before["rotation"])
    assert np.argwhere(before != after).shape == (1, 2)
