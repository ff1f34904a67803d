"""Curve objects that become motion paths: speed, heading, bank, and what is no way to go along."""

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.envelope import evaluate
from tests.blender.test_ui import refusal
from tests.blender.test_ui_paths import active, animation_of, export, linked


def drawn_line(*points, kind: str = "POLY"):
    data = bpy.data.curves.new("track", "CURVE")
    data.dimensions, data.path_duration = "3D", 60
    spline = data.splines.new(kind)
    spline.points.add(len(points) - 1)
    for point, own_point in zip(spline.points, points, strict=True):
        point.co = (*own_point, 1.0)
    return linked("track", data)


def bank_of(data: bytes, seconds: float) -> float:
    return float(evaluate(animation_of(data).envelopes[5].decoded(), np.array(seconds)))


def test_a_curve_becomes_a_path_banked_or_level(tmp_path):
    obj = drawn_line((0, 0, 0), (0, 6, 0))
    for point in obj.data.splines[0].points:
        point.tilt = 0.5
    assert abs(bank_of(export(tmp_path / "a.anm"), 1.0)) == pytest.approx(0.5, abs=2e-4)
    assert bank_of(export(tmp_path / "b.anm", banked=False), 1.0) == pytest.approx(0.0, abs=2e-4)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bank_of(export(tmp_path / "c.anm", banked=False), 1.0) == pytest.approx(0.0, abs=2e-4)
    assert obj.mode == "EDIT"


def test_a_curves_own_evaluation_time_sets_frames_and_speed(tmp_path):
    obj = drawn_line((0, 0, 0), (0, 6, 0))
    for frame, passed in ((10, 0.0), (30, 45.0), (110, 60.0)):
        obj.data.eval_time = passed
        obj.data.keyframe_insert("eval_time", frame=frame)
    for curve in compat.curve_bag(obj.data.animation_data.action).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    stored = animation_of(export(tmp_path / "a.anm"))
    assert (stored.first, stored.last) == (10, 110)
    fps = bpy.context.scene.render.fps
    north = evaluate(stored.envelopes[2].decoded(), np.array([10, 30, 70, 110]) / fps)
    np.testing.assert_allclose(north, [0.0, 4.5, 5.25, 6.0], atol=2e-4)


def test_a_round_curve_closes_and_turns_evenly(tmp_path):
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0)
    active().data.path_duration = 120
    stored = animation_of(export(tmp_path / "a.anm"))
    channels = [envelope.decoded() for envelope in stored.envelopes]
    fps = bpy.context.scene.render.fps
    times = np.arange(121) / fps
    positions = np.stack([evaluate(channel, times) for channel in channels[:3]], axis=1)
    np.testing.assert_allclose(positions[0], positions[-1], atol=3e-4)
    np.testing.assert_allclose(np.hypot(positions[:, 0], positions[:, 2]), 2.0, atol=0.01)
    heading = evaluate(channels[3], times)
    assert abs(heading[-1] - heading[0]) == pytest.approx(2 * np.pi, abs=2e-3)
    np.testing.assert_allclose(np.diff(heading), np.diff(heading).mean(), rtol=0.2)


@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (lambda curve: curve.splines.clear(), "has no pieces"),
        (lambda curve: curve.splines.new("POLY"), "has 2 pieces"),
        (lambda curve: setattr(curve, "bevel_depth", 0.1), "has a thickness"),
        (lambda curve: setattr(curve.splines[0].points[1], "co", (0, 0, 0, 1)), "has no length"),
    ],
)
def test_curves_that_are_not_a_way_are_refused(prepare, sentence, tmp_path):
    prepare(drawn_line((0, 0, 0), (0, 6, 0)).data)
    assert sentence in refusal(bpy.ops.export_scene.xray_anm, filepath=str(tmp_path / "a.anm"))
    assert not (tmp_path / "a.anm").exists()


def test_a_curve_that_moves_is_exported_as_what_moves(tmp_path):
    obj = drawn_line((0, 0, 0), (0, 6, 0))
    obj.rotation_mode = "YXZ"
    for frame, x in ((1, 0.0), (20, 3.0)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    stored = animation_of(export(tmp_path / "a.anm"))
    assert (stored.first, stored.last) == (1, 20)
    assert stored.envelopes[0].decoded().count == 2
