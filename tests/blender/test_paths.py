"""Motion paths: curves kept both ways, what Blender draws is what the game plays, the rest is sampled and fitted."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import compat
from addon.core.envelope import evaluate
from addon.core.errors import MotionbridgeError, WriteError
from addon.core.report import Report
from addon.formats.xray import anm
from addon.formats.xray.envelopes import USUAL_RATE
from addon.games.xray.paths import PathExportOptions, PathImportOptions, Target, import_path, plan_export
from tests.blender.scenes import add_object
from tests.core.envelope.formula import Channel, matrix_slack
from tests.real_files import corpus_files

WELL_FORMED = corpus_files("anm/[!o]*")
OPTIONS = PathExportOptions()
# Blender's channel -> the game's, and the sign between them.
CHANNELS = {
    ("location", 0): (0, 1.0),
    ("location", 1): (2, 1.0),
    ("location", 2): (1, 1.0),
    ("rotation_euler", 0): (4, -1.0),
    ("rotation_euler", 1): (5, -1.0),
    ("rotation_euler", 2): (3, -1.0),
}


def load(file, target: Target = Target.EMPTY, *, draw: bool = False):
    return import_path(bpy.context, str(file), PathImportOptions(target=target, draw_curve=draw), Report()).owner


def exported(owner, options: PathExportOptions = OPTIONS) -> bytes:
    return plan_export(bpy.context, owner, "x.anm", options=options, report=Report()).data


def curves_of(owner) -> dict:
    bag = compat.curve_bag(owner.animation_data.action)
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}


@pytest.mark.parametrize("file", WELL_FORMED)
def test_objects_are_where_the_engine_has_them(file, corpus, vectors) -> None:
    with np.load(vectors / "xray" / "anm_files.npz") as stored:
        numbers = dict(stored)
    index = list(numbers["name"]).index(f"anm/{file.name}") if f"anm/{file.name}" in numbers["name"] else None
    if index is None:
        pytest.skip("the engine's numbers lack this file")
    owner = load(file)
    swap = np.eye(4)[[0, 2, 1, 3]]
    fps = float(numbers["fps"][index])
    scene = bpy.context.scene
    times = numbers["xform_time"][index].astype(np.float64)
    channels = [Channel(stored) for stored in anm.read(file.read_bytes(), "", Report()).animation.envelopes]
    slack = matrix_slack(channels, times)
    for time, expected, most in zip(times, swap @ numbers["xform"][index] @ swap, slack, strict=True):
        frame = time * fps
        scene.frame_set(int(np.floor(frame)), subframe=frame - np.floor(frame))
        assert (np.abs(np.array(owner.matrix_world) - expected) <= most).all(), frame


@pytest.mark.parametrize("file", WELL_FORMED)
def test_editing_one_channel_leaves_the_others_byte_for_byte(file) -> None:
    owner = load(file)
    curve = curves_of(owner)["location", 0]
    if not len(curve.keyframe_points):
        pytest.skip("this channel has no keys")
    curve.keyframe_points[0].co[1] += 0.25
    before = anm.read(file.read_bytes(), "", Report()).animation
    after = anm.read(exported(owner), "", Report()).animation
    assert after.version == before.version
    for number in range(1, 6):
        assert after.envelopes[number].keys.tobytes() == before.envelopes[number].keys.tobytes()
    assert after.envelopes[0].keys.tobytes() != before.envelopes[0].keys.tobytes()
    assert len(exported(owner)) <= len(file.read_bytes()) + 14  # a stepped key grows when its handle matters


@pytest.mark.parametrize("channel", [("location", 1), ("rotation_euler", 0)])
def test_muted_curves_keep_the_curves_of_the_file(channel, samples) -> None:
    owner = load(samples / "camera.anm")
    curve = curves_of(owner)[channel]
    curve.keyframe_points[0].co[1] += 0.25
    curve.mute = True
    plan = plan_export(bpy.context, owner, "x.anm", options=OPTIONS, report=(report := Report()))
    assert plan.data == (samples / "camera.anm").read_bytes()
    assert report.warnings == {
        "curves are muted: the path keeps the curves of the file there": [f"camera: {channel[0]}"]
    }
    owner.constraints.new("LIMIT_LOCATION")
    plan_export(bpy.context, owner, "x.anm", options=OPTIONS, report=(report := Report()))
    assert "curves are muted: the path has the object's current values there" in report.warnings


@pytest.mark.parametrize("file", WELL_FORMED)
def test_after_moving_a_key_the_game_plays_what_blender_shows(file) -> None:
    owner = load(file)
    animation = anm.read(file.read_bytes(), "", Report()).animation
    fps = 1.0 / animation.frame
    envelope = animation.envelopes[0].decoded()
    if envelope.count < 3 or (np.diff(envelope.times) < 0.06 / fps).any():
        pytest.skip("too few keys in this channel, or jumps")
    curve = curves_of(owner)["location", 0]
    middle = len(curve.keyframe_points) // 2
    point = curve.keyframe_points[middle]
    for part in (point.co, point.handle_left, point.handle_right):
        part[1] += 0.5
    curve.update()
    written = anm.read(exported(owner, PathExportOptions(version=3)), "", Report()).animation.envelopes[0].decoded()
    times = np.linspace(envelope.times[0], envelope.times[-1], 500)
    actual = np.array([curve.evaluate(frame) for frame in times * fps])
    reach = float(np.ptp(actual))
    assert np.abs(evaluate(written, times) - actual).max() <= 1e-5 * reach


def test_the_camera_looks_where_the_games_camera_looks(corpus) -> None:
    file = next(iter(sorted((corpus / "anm").glob("[!o]*.anm"))))
    owner = load(file, Target.CAMERA)
    (camera,) = owner.children
    bpy.context.view_layer.update()
    forward = np.array(owner.matrix_world.to_3x3() @ Matrix.Identity(3).col[1])
    looks = np.array(camera.matrix_world.to_3x3().normalized() @ -Matrix.Identity(3).col[2])
    np.testing.assert_allclose(looks, forward / np.linalg.norm(forward), atol=1e-6)
    assert exported(camera) == file.read_bytes()


def keyed_object(mode: str = "YXZ"):
    obj = add_object("mover")
    obj.rotation_mode = mode
    for frame, (x, angle) in {1: (0.0, 0.0), 20: (2.0, 1.0), 41: (1.0, -0.5)}.items():
        obj.location, obj.rotation_euler = (x, x / 2, 0.0), (0.0, 0.0, angle)
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    return obj


def test_a_new_animation_leaves_as_its_keys_in_version_3() -> None:
    created = keyed_object()
    document = anm.read(exported(created), "", Report()).animation
    assert document.version == 3
    assert document.envelopes[0].decoded().count == 3
    fps = bpy.context.scene.render.fps
    times = np.arange(1, 42) / fps
    curve = curves_of(created)["location", 0]
    actual = [curve.evaluate(frame) for frame in range(1, 42)]
    np.testing.assert_allclose(evaluate(document.envelopes[0].decoded(), times), actual, atol=2e-5)


def test_a_curve_object_becomes_a_path_along_it() -> None:
    data = bpy.data.curves.new("track", "CURVE")
    data.dimensions = "3D"
    data.path_duration = 60
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0, 6, 0, 1)
    obj = add_object("track", data)
    bpy.context.view_layer.update()
    animation = anm.read(exported(obj), "", Report()).animation
    assert (animation.first, animation.last) == (0, 60)
    half = 30 / bpy.context.scene.render.fps
    x, z, y = (float(evaluate(animation.envelopes[axis].decoded(), half)) for axis in range(3))
    np.testing.assert_allclose((x, y, z), (0, 3, 0), atol=1e-4)


def test_a_path_can_be_drawn_with_its_keys_marked(corpus) -> None:
    before = set(bpy.data.objects)
    load(next(iter(sorted((corpus / "anm").glob("[!o]*.anm")))), draw=True)
    kinds = sorted(obj.type for obj in set(bpy.data.objects) - before)
    assert kinds == ["CURVE", "EMPTY", "MESH"]


@pytest.mark.parametrize("file", corpus_files("anm/odd_*_mangled.anm"))
def test_broken_files_are_refused_before_anything_is_made(file) -> None:
    before = set(bpy.data.objects)
    with pytest.raises(MotionbridgeError) as refusal:
        load(file)
    assert refusal.value.remedy
    assert set(bpy.data.objects) == before


def test_an_object_that_does_not_move_is_refused() -> None:
    still = add_object("still")
    with pytest.raises(WriteError, match="does not move"):
        exported(still)


def test_the_rate_of_new_paths_is_the_scenes() -> None:
    bpy.context.scene.render.fps = 25
    animation = anm.read(exported(keyed_object()), "", Report()).animation
    assert float(animation.fps) == 25.0
    assert USUAL_RATE == 30.0
