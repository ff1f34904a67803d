"""Animations of Arma with NaN, infinite and absurd numbers, or altered data beside an action: said, kept, refused."""

import bpy
import numpy as np
import pytest

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.games.arma import animation_edit, timing
from addon.games.arma.options import StepMode
from tests.blender.rtm_scene import curve_of, exported, load, planned
from tests.blender.test_rtm import moved, plain, walk
from tests.formats.arma.rtm.small_files import events as event_block

__all__ = ["walk"]

ODD = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "huge": 3e38, "tiny": 1e-42}


@pytest.mark.parametrize("mode", StepMode)
@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
@pytest.mark.parametrize("index", ["phase", "step", "event", "matrix"])
def test_unedited_animations_with_such_numbers_are_written_unchanged(tmp_path, index, value, mode):
    def at(where, otherwise=0.0):
        return value if index == where else otherwise

    frames = [(0.0, [moved(), moved(x=0.1)]), (at("phase", 1.0), [moved(y=at("matrix")), moved()])]
    head = event_block((at("event", 0.5), b"StepSound", b"x"), (0.25, b"b", b""))
    file = tmp_path / "odd.rtm"
    file.write_bytes(plain(["a", "b"], frames, step=(0.0, at("step"), -1.0), events=head))
    for seconds in (None, 1.0):
        report = Report()
        done = load(file, step=mode, seconds=seconds, report=report)
        assert any(NOT_FINITE in line for line in report.lines()) == (not np.isfinite(value))
        assert exported(done) == file.read_bytes()
        assert animation_edit.update_status(bpy.context, done.rig, done.action, Report()) == "UNTOUCHED"
        curve_of(done.action, "b", "location", 0).keyframe_points[0].co[1] += 0.1
        if index != "matrix":
            assert [change.name for change in planned(done).changes.parts] == ["b"]


def test_phases_too_far_apart_for_frames_are_one_frame_a_key(tmp_path):
    file = tmp_path / "far.rtm"
    file.write_bytes(plain(["a"], [(0.0, [moved()]), (1e6, [moved(x=1)])]))
    report = Report()
    done = load(file, seconds=1.0, report=report)
    assert timing.kept_frames(done.action.motionbridge_animation).tolist() == [0, 1]
    assert any("one frame per key" in line for line in report.lines())


def test_events_typed_far_away_stay_within_blenders_frames(walk):
    done = load(walk)
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.arma_event_add() == {"FINISHED"}
    for phase in (1e30, -1e30, np.inf, np.nan):
        done.action.motionbridge_animation.events[0].phase = phase
        assert abs(done.action.pose_markers[0].frame) <= timing.LAST_FRAME


def test_an_altered_list_of_bones_is_refused(walk):
    done = load(walk)
    done.action.motionbridge_animation.bones.remove(0)
    with pytest.raises(ReadError, match=r"bones 2 and 1.*Import the file again"):
        planned(done)
