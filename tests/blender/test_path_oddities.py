"""Motion paths no editor should write: told, shown as far as they can be, and left as they came."""

import bpy
import numpy as np
import pytest

from addon.core.errors import MotionbridgeError
from addon.core.report import Report
from addon.formats.xray import anm
from addon.formats.xray.anm import Animation, new_anm
from addon.formats.xray.envelopes import OLD, PACKED, StoredEnvelope, packed
from addon.games.xray.paths import PathExportOptions, PathImportOptions, import_path, plan_export
from tests.blender.scenes import reopen
from tests.blender.test_path_sampling import curves_of
from tests.core.envelope.formula import Channel
from tests.real_files import corpus_files
from tests.work import lines_run


def channel(count=6, dtype=OLD, shape=0):
    keys = np.zeros(count, dtype)
    keys["time"], keys["value"], keys["shape"] = np.arange(count) / 3, np.arange(count) % 3, shape
    if dtype == PACKED:
        keys["tcb"] = packed(np.zeros(3))
    return StoredEnvelope(1, 1, keys)


def path(moving, *, version=3, first=0, last=50, fps=30.0):
    still = [channel(1, moving.keys.dtype) for _ in range(5)]
    return anm.write(new_anm(Animation(b"odd", first, last, np.float32(fps), version, [moving, *still])))


def with_keys(**columns):
    result = channel()
    for name, rows in columns.items():
        for position, value in rows.items():
            result.keys[name][position] = value
    return result


UNKEYED = StoredEnvelope(1, 1, np.zeros(0, OLD))
ODD = {
    "no keys": anm.write(new_anm(Animation(b"odd", 0, 50, np.float32(30), 3, [UNKEYED] * 6))),
    "a value that is NaN or infinite": path(with_keys(value={2: np.nan})),
    "an infinite value": path(with_keys(value={2: np.inf})),
    "a time that is NaN or infinite": path(with_keys(time={2: np.nan})),
    "a handle that is NaN or infinite": path(with_keys(shape={2: 5}, parameters={2: [np.nan, 0, 0, 0]})),
    "a handle that is none for a number": path(with_keys(shape={2: 5}, parameters={2: [3e38, 3e38, 3e38, 3e38]})),
    "two keys at one time": path(with_keys(time={3: 2 / 3})),
    "three keys at one time": path(with_keys(time={3: 2 / 3, 4: 2 / 3})),
    "all keys at one time": path(with_keys(time=dict.fromkeys(range(6), 1.0))),
    "a key out of order": path(with_keys(time={3: 0.2})),
    "times that fall": path(with_keys(time={index: 2.0 - index / 3 for index in range(6)})),
    "an unknown shape": path(with_keys(shape={3: 77})),
    "an unknown behaviour": path(StoredEnvelope(9, 200, channel().keys)),
    "a rate that is NaN or infinite": path(channel(), fps=np.nan),
    "no rate": path(channel(), fps=0.0),
    "frames the wrong way round": path(channel(), first=50, last=0),
    "frames beyond Blender's": path(channel(), first=-2_000_000_000, last=2_000_000_000),
    "times beyond Blender's frames": path(with_keys(time={5: 9e6})),
}


def imported(data, folder, **options):
    (folder / "odd.anm").write_bytes(data)
    report = Report()
    return import_path(bpy.context, str(folder / "odd.anm"), PathImportOptions(**options), report).owner, report


def exported(owner) -> bytes:
    return plan_export(bpy.context, owner, "x.anm", options=PathExportOptions(), report=Report()).data


@pytest.mark.parametrize("oddity", ODD)
@pytest.mark.parametrize("draw", [False, True])
def test_odd_paths_leave_unchanged_through_a_saved_file(oddity, draw, tmp_path) -> None:
    owner, report = imported(ODD[oddity], tmp_path, draw_curve=draw)
    name = owner.name
    bpy.context.scene.frame_set(20)
    assert np.isfinite(np.array(owner.matrix_world)).all()
    assert exported(owner) == ODD[oddity]
    reopen(tmp_path)
    assert exported(bpy.data.objects[name]) == ODD[oddity]
    if oddity not in ("frames the wrong way round", "frames beyond Blender's", "times beyond Blender's frames"):
        assert report.lines()


@pytest.mark.parametrize("dtype", [OLD, PACKED])
@pytest.mark.parametrize("shape", [0, 5])
def test_ten_thousand_keys_come_and_go_at_once(dtype, shape, tmp_path) -> None:
    def path(count):
        many = channel(count, dtype, shape)
        many.keys["time"] = np.arange(count) / 30
        handles = np.array([-0.01, 0.1, 0.01, 0.1])
        many.keys["parameters"] = packed(handles) if dtype == PACKED else handles
        return many, anm.write(
            new_anm(Animation(b"", 0, count - 1, np.float32(30), 3 if dtype == OLD else 5, [many] * 6))
        )

    def come_and_go(data):
        owner, _ = imported(data, tmp_path)
        assert exported(owner) == data

    few = lines_run(lambda: come_and_go(path(100)[1]))
    many, data = path(10_000)
    assert lines_run(lambda: come_and_go(data)) < 2 * few, (
        "keys are arrays: a hundred times as many take no more Python"
    )
    owner, _ = imported(data, tmp_path)
    curve = curves_of(owner)["location", 0]
    assert len(curve.keyframe_points) == 10_000
    curve.keyframe_points[5000].co[1] += 1.0
    after = anm.read(exported(owner), "", Report()).animation.envelopes
    changed = np.flatnonzero(after[0].keys != many.keys)
    assert 5000 in changed
    assert len(changed) <= 4
    assert all(envelope.keys.tobytes() == many.keys.tobytes() for envelope in after[1:])


@pytest.mark.parametrize("oddity", ["two keys at one time", "three keys at one time", "a key out of order"])
def test_a_jump_is_drawn_a_fiftieth_of_a_frame_wide(oddity, tmp_path) -> None:
    owner, report = imported(ODD[oddity], tmp_path)
    assert any("the jump takes 1/50 of a frame" in line for line in report.lines())
    curve = curves_of(owner)["location", 0]
    judge = Channel(anm.read(ODD[oddity], "", Report()).animation.envelopes[0])
    frames = np.linspace(0, judge.times[-1] * 30, 2000)
    frames = frames[np.abs(frames[:, None] - judge.times * 30).min(axis=1) > 0.05]
    actual = np.array([curve.evaluate(frame) for frame in frames])
    assert np.abs(actual - judge.at(frames / 30)).max() <= 1e-5 * 2
    assert np.ptp(judge.values) == 2


@pytest.mark.parametrize("file", corpus_files("anm/odd_jump_fireball.anm"))
def test_the_real_path_that_jumps_shows_the_new_value_at_its_frame(file, tmp_path) -> None:
    owner, _ = imported(file.read_bytes(), tmp_path)
    curve = curves_of(owner)["location", 0]
    judge = Channel(anm.read(file.read_bytes(), "", Report()).animation.envelopes[0])
    frames = np.array([0.0, 59.9, 60.0, 60.1, 61.0, 75.0, 90.0])
    actual = np.array([curve.evaluate(frame) for frame in frames])
    np.testing.assert_allclose(actual, judge.at(frames / 30), atol=2e-4)
    assert actual[2] - actual[1] > 5
    assert exported(owner) == file.read_bytes()


def test_a_changed_range_is_the_paths_even_where_the_files_was_odd(tmp_path) -> None:
    owner, _ = imported(ODD["frames the wrong way round"], tmp_path)
    owner.animation_data.action.frame_end = 40
    written = anm.read(exported(owner), "", Report()).animation
    assert (written.first, written.last) == (0, 40)


@pytest.mark.parametrize("sampled", [False, True])
def test_a_key_behind_the_last_frame_makes_the_path_longer(sampled, tmp_path) -> None:
    owner, _ = imported(path(channel()), tmp_path)
    if sampled:
        owner.constraints.new("LIMIT_LOCATION")
    assert anm.read(exported(owner), "", Report()).animation.last == 50
    curve = curves_of(owner)["location", 0]
    frame = 80 if sampled else 79.5
    curve.keyframe_points.insert(frame, 7.0)
    written = anm.read(exported(owner), "", Report()).animation
    assert (written.first, written.last) == (0, 80)
    assert Channel(written.envelopes[0]).at(np.array([frame / 30])) == pytest.approx(7.0, abs=1e-3)
    curve.mute = True
    assert anm.read(exported(owner), "", Report()).animation.last == 50


@pytest.mark.parametrize("sampled", [False, True])
def test_a_key_before_the_first_frame_makes_the_path_longer(sampled, tmp_path) -> None:
    owner, _ = imported(path(channel()), tmp_path)
    if sampled:
        owner.constraints.new("LIMIT_LOCATION")
    curve = curves_of(owner)["location", 0]
    curve.keyframe_points.insert(-10, 7.0)
    written = anm.read(exported(owner), "", Report()).animation
    assert (written.first, written.last) == (-10, 50)
    assert Channel(written.envelopes[0]).at(np.array([-10 / 30])) == pytest.approx(7.0, abs=1e-3)
    curve.mute = True
    assert anm.read(exported(owner), "", Report()).animation.first == 0


def test_a_shorter_range_makes_the_path_shorter_and_is_reported(tmp_path) -> None:
    owner, _ = imported(path(channel()), tmp_path)
    action = owner.animation_data.action
    curves_of(owner)["location", 0].keyframe_points.insert(80, 7.0)
    action.frame_end = 40
    report = Report()
    plan = plan_export(bpy.context, owner, "x.anm", options=PathExportOptions(), report=report)
    assert anm.read(plan.data, "", Report()).animation.last == 40
    assert any("shortened by the action's frame range" in line and "50 -> 40" in line for line in report.lines())


def test_more_frames_than_the_user_would_wait_for_are_not_sampled(tmp_path) -> None:
    owner, _ = imported(ODD["times beyond Blender's frames"], tmp_path)
    owner.animation_data.action.use_frame_range = False
    owner.constraints.new("LIMIT_LOCATION")
    with pytest.raises(MotionbridgeError, match="moves over too many frames to sample: 1048575"):
        exported(owner)
