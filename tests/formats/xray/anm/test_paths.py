"""Documents <-> paths: axes against the engine's matrices, untouched channels, edits, versions and what they cost."""

import copy
import hashlib

import numpy as np
import pytest

from addon.core import rotation
from addon.core.envelope import Behaviour, Curve, Envelope, Shape, evaluate, evaluate_curve
from addon.core.errors import WriteError
from addon.core.model import Channels, Path
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import format_named
from addon.formats.xray import anm
from addon.formats.xray.envelopes import OBJECT, STEP, stored
from tests.core.envelope.formula import Channel, matrix_slack
from tests.real_files import corpus_files


def opened(file):
    return anm.read(file.read_bytes(), file.name, Report())


def through_blender(path):
    """Frames and values as 32-bit floats, no memory of sources."""
    scale = np.array([path.fps, 1.0])
    curves = []
    for curve in path.channels:
        parts = [(part * scale).astype(np.float32) / scale for part in (curve.keys, curve.left, curve.right)]
        curves.append(Curve(*parts, curve.interpolation.copy(), curve.before, curve.after))
    return Path(path.name, path.fps, path.first, path.last, Channels(curves[:3], curves[3:]))


def lifted(curve, position, rise):
    for part in (curve.keys, curve.left, curve.right):
        part[position, 1] += rise


def made(shape=Shape.TCB, count=6, version=5, seed=0):
    random = np.random.default_rng(seed)
    envelopes = []
    for _ in range(6):
        path = Envelope.of(np.arange(count) / 3, random.normal(size=count), np.full(count, shape, np.uint8))
        path.tcb[:] = random.uniform(-1, 1, (count, 3))
        envelopes.append(stored(path, to_packed=version != 3))
    return anm.new_anm(anm.Animation(b"made", 0, 50, np.float32(30), version, envelopes))


def test_channels_are_blenders_axes_by_signs_alone():
    document = made(Shape.LINEAR)
    path = anm.decode(document, Report())
    x, y, z, h, p, b = (envelope.keys["value"].astype(float) for envelope in document.animation.envelopes)
    expected = (x, z, y, -p, -b, -h)
    for curve, values in zip(path.channels, expected, strict=True):
        np.testing.assert_array_equal(curve.keys[:, 1], values)
    assert path.rotation_order == "YXZ"
    assert sorted(OBJECT.channels) == list(range(6))


def test_poses_are_the_engines(vectors, corpus):
    with np.load(vectors / "xray" / "anm_files.npz") as data:
        data = {name: data[name] for name in data.files}
    swap = np.eye(4)[[0, 2, 1, 3]]
    compared = 0
    for number, name in enumerate(data["name"]):
        content = (corpus / str(name)).read_bytes()
        if hashlib.sha256(content).hexdigest() != data["sha256"][number]:
            continue
        document = anm.read(content, str(name), Report())
        path = anm.decode(document, Report())
        times = data["xform_time"][number].astype(float)
        values = np.stack([evaluate_curve(curve, times) for curve in path.channels], axis=1)
        poses = rotation.transforms(rotation.of_mode(values[:, 3:], path.rotation_order), values[:, :3])
        expected = swap @ data["xform"][number] @ swap
        slack = matrix_slack([Channel(stored) for stored in document.animation.envelopes], times)
        assert (np.abs(poses - expected) <= slack).all(), name
        compared += 1
    assert compared == 8


@pytest.mark.parametrize("file", corpus_files("anm/[!o]*"))
def test_a_real_path_through_blenders_numbers_is_unedited(file):
    document = opened(file)
    path = anm.decode(document, Report())
    for kind in (path, through_blender(path)):
        again, changes = anm.encode(kind, document)
        assert again is document
        assert not changes
    assert changes.sentence() == "6 channels unchanged"


@pytest.mark.parametrize("file", corpus_files("anm/[!o]*"))
def test_a_real_path_is_drawn_as_the_formula_says(file):
    animation = opened(file).animation
    report = Report()
    path = anm.decode(opened(file), report)
    keys = sum(curve.count for curve in path.channels)
    if file.name == "mixed_fusker.anm":
        assert keys == 38  # a handle 60 ms past its key: the game jumps there
    else:
        assert keys == sum(len(envelope.keys) for envelope in animation.envelopes)
        assert not report
    for curve, channel, sign in zip(path.channels, OBJECT.channels, OBJECT.signs, strict=True):
        envelope = animation.envelopes[channel].decoded()
        if not envelope.count:
            continue
        times = np.linspace(envelope.times[0], envelope.times[-1], 1000)
        leaps = curve.keys[np.append(np.diff(curve.keys[:, 0]) < animation.frame / 20, False), 0]
        times = times[(np.abs(times[:, None] - leaps) > animation.frame / 20).all(axis=1)]
        values = evaluate(envelope, times)
        scale = max(np.ptp(values), 1e-6)
        assert np.abs(evaluate_curve(curve, times) * sign - values).max() <= 3e-5 * scale


def stored_as(envelope):
    return envelope.keys.tobytes(), envelope.before, envelope.after


@pytest.mark.parametrize("file", corpus_files("anm/[!on]*"))
@pytest.mark.parametrize("edited", range(6))
def test_an_edit_leaves_the_other_five_channels_byte_for_byte(file, edited):
    document = opened(file)
    path = through_blender(anm.decode(document, Report()))
    curve = list(path.channels)[edited]
    lifted(curve, curve.count // 2, 0.125)
    again, changes = anm.encode(path, document)
    (change,) = changes.all_items()
    for channel, (old, new) in enumerate(zip(document.animation.envelopes, again.animation.envelopes, strict=True)):
        assert (stored_as(new) == stored_as(old)) == (channel != OBJECT.channels[edited])
    data = anm.write(again)
    assert abs(len(data) - file.stat().st_size) <= 3 * 23
    # What the file now says is what was drawn, but for 16-bit handles, whose cost is told.
    envelope = anm.read(data, "again.anm", Report()).animation.envelopes[OBJECT.channels[edited]].decoded()
    times = np.linspace(curve.keys[0, 0], curve.keys[-1, 0], 700)
    times = times[np.abs(times[:, None] - curve.keys[None, :, 0]).min(axis=1) > 1e-3]
    off = np.abs(evaluate(envelope, times) - OBJECT.signs[edited] * evaluate_curve(curve, times)).max(initial=0)
    assert off <= 1.3 * change.error + 1e-5
    assert change.error < 4e-3


def test_an_edited_tcb_channel_changes_the_shapes_of_three_keys():
    document = made(count=9)
    path = through_blender(anm.decode(document, Report()))
    lifted(path.channels.location[0], 4, 0.5)
    again, changes = anm.encode(path, document)
    assert again.animation.envelopes[0].shapes.tolist() == [0, 0, 0, 5, 5, 5, 0, 0, 0]
    assert changes.sentence() == "1 channel, 4 keys (X) changed, 5 unchanged"
    untouched = [0, 1, 6, 7, 8]
    np.testing.assert_array_equal(
        again.animation.envelopes[0].keys[untouched], document.animation.envelopes[0].keys[untouched]
    )


def test_edits_of_linear_and_stepped_keys_change_their_values_alone():
    for shape in (Shape.LINEAR, Shape.STEPPED):
        document = made(shape)
        path = through_blender(anm.decode(document, Report()))
        lifted(path.channels.rotation[1], 2, 1.0)
        again, changes = anm.encode(path, document)
        old, new = document.animation.envelopes[5].keys, again.animation.envelopes[5].keys
        assert np.flatnonzero(old != new).tolist() == [2]
        assert new["value"][2] == pytest.approx(old["value"][2] - 1.0)
        new["value"][2] = old["value"][2]
        assert new.tobytes() == old.tobytes()
        assert changes.parts[0].items[0].keys == 1


def test_fields_are_taken_one_by_one():
    document = made()
    path = anm.decode(document, Report())
    path.name, path.last = "Имя", 70
    again, changes = anm.encode(path, document)
    assert changes.lines == ["name", "frames"]
    assert changes.parts == []
    assert again.animation.name == "Имя".encode("cp1251")
    assert (again.animation.first, again.animation.last) == (0, 70)
    assert again.animation.envelopes == document.animation.envelopes
    path.fps = 25.0
    assert anm.encode(path, document)[1].lines == ["name", "frames", "fps"]
    path.fps = float("nan")
    with pytest.raises(WriteError, match="a frame rate of nan cannot be written"):
        anm.encode(path, document)


def test_new_paths_are_of_version_3_and_exact():
    path = through_blender(anm.decode(made(Shape.HERMITE), Report()))
    document, changes = anm.encode(path)
    assert changes.new
    assert changes.sentence() == "a new path"
    assert document.animation.version == 3
    assert max(changes.worst_errors()) < 1e-6
    again = anm.decode(anm.read(anm.write(document), "new.anm", Report()), Report())
    times = np.linspace(0, 5 / 3, 300)
    for channel, other in zip(path.channels, again.channels, strict=True):
        np.testing.assert_allclose(evaluate_curve(channel, times), evaluate_curve(other, times), atol=1e-6)


def test_what_16_bit_handles_cost_is_reported():
    path = through_blender(anm.decode(made(), Report()))
    _, changes = anm.encode(path, version=5)
    metres, radians = changes.worst_errors()
    assert STEP / 100 < metres < 6 * STEP
    assert STEP / 100 < radians < 6 * STEP
    assert {change.name for change in changes.all_items()} == set("XYZHPB")


def test_a_linear_behaviour_that_cannot_be_kept_is_reported():
    document = made()
    path = anm.decode(document, Report())
    curve = path.channels.location[0]
    curve.after = Behaviour.LINEAR
    _, changes = anm.encode(path, document)
    assert changes.parts[0].items[0].slope_error == pytest.approx(0, abs=1e-3)
    curve.right[-1, 1] += 1
    _, changes = anm.encode(path, document)
    assert changes.parts[0].items[0].slope_error > 1


@pytest.mark.parametrize("file", corpus_files("anm/[!o]*"))
@pytest.mark.parametrize("version", [3, 4, 5])
def test_versions_into_one_another(file, version):
    document = opened(file)
    report = Report()
    converted = anm.CONVERSIONS[str(version)](document, report)
    assert converted.animation.version == version
    data = anm.write(converted)
    again = anm.read(data, "converted.anm", Report())
    assert anm.write(again) == data
    back = anm.CONVERSIONS[str(document.animation.version)](again, Report())
    if version == document.animation.version:
        assert data == file.read_bytes()
        assert converted is document
    elif document.animation.version != 3:
        # 16-bit numbers fit full floats and each other: nothing is lost, there and back.
        assert anm.write(back) == file.read_bytes()
        assert not report
        for envelope, other in zip(document.animation.envelopes, again.animation.envelopes, strict=True):
            np.testing.assert_allclose(envelope.decoded().parameters, other.decoded().parameters, atol=2e-6)
            np.testing.assert_array_equal(envelope.keys["value"], other.keys["value"])
    else:
        assert "steps of 0.98 ms" in report.lines()[0]


def test_the_registry_offers_the_versions():
    assert list(format_named("anm").conversions) == ["3", "4", "5"]
    assert not format_named("omf").conversions


@pytest.mark.parametrize("field", ["keys", "left", "right"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_one_are_not_written(field, value):
    document = made()
    path = anm.decode(document, Report())
    getattr(path.channels.location[2], field)[1, 1] = value
    with pytest.raises(WriteError, match="Y: a key or handle is NaN or infinite"):
        anm.encode(path, document)


def test_keys_out_of_order_are_not_written():
    document = made()
    path = anm.decode(document, Report())
    path.channels.location[0].keys[2, 0] = 0.0
    with pytest.raises(WriteError, match="order of their times"):
        anm.encode(path, document)


def test_another_order_of_rotation_and_another_version_are_refused():
    path = anm.decode(made(), Report())
    with pytest.raises(WriteError, match="no version 6"):
        anm.encode(path, version=6)
    path.rotation_order = "XYZ"
    with pytest.raises(WriteError, match="order XYZ"):
        anm.encode(path)


def test_a_channel_of_nan_is_shown_empty_and_kept_beside_edits():
    document = made()
    document.animation.envelopes[0].keys["value"][1] = np.nan
    report = Report()
    path = anm.decode(document, report)
    assert path.channels.location[0].count == 0
    assert "NaN or infinite" in report.lines()[0]
    assert anm.encode(path, document)[0] is document
    lifted(path.channels.location[1], 0, 1.0)
    again, changes = anm.encode(path, document)
    assert [change.name for change in changes.all_items()] == ["Z"]
    assert again.animation.envelopes[0] is document.animation.envelopes[0]


def test_equal_and_falling_times_are_reported_and_kept():
    document = made(Shape.LINEAR)
    document.animation.envelopes[0].keys["time"][:] = [0, 1, 1, 2, 1.5, 3]
    report = Report()
    path = anm.decode(document, report)
    assert "the jump takes 1/50 of a frame" in report.lines()[0]
    assert anm.encode(through_blender(path), document)[0] is document
    lifted(path.channels.location[0], 0, 1.0)
    again, _ = anm.encode(through_blender(path), document)
    assert again.animation.envelopes[0].keys["time"].tolist() == [0, 1, 1, 2, 1.5, 3]
    assert again.animation.envelopes[0].keys[1:].tobytes() == document.animation.envelopes[0].keys[1:].tobytes()


def test_channels_without_keys_take_some_and_give_them_up():
    full, empty = made(), made(count=0)
    path = through_blender(anm.decode(full, Report()))
    filled, changes = anm.encode(path, empty)
    assert [len(envelope.keys) for envelope in filled.animation.envelopes] == [6] * 6
    assert {change.keys for change in changes.all_items()} == {6}
    assert next(Walk(anm.VIEWS).differences(empty, filled)) == "channel X: 0 / 6 keys"
    path = anm.decode(empty, Report())
    path.name = full.animation.label
    emptied, changes = anm.encode(path, full)
    assert [len(envelope.keys) for envelope in emptied.animation.envelopes] == [0] * 6
    assert {change.keys for change in changes.all_items()} == {6}
    assert list(Walk(anm.VIEWS).differences(empty, empty)) == []


def test_encoding_touches_neither_the_path_nor_the_base():
    document = made()
    path = through_blender(anm.decode(document, Report()))
    lifted(path.channels.location[0], 2, 1.0)
    before, kept = anm.write(document), copy.deepcopy(path)
    anm.encode(path, document)
    assert anm.write(document) == before
    for channel, other in zip(path.channels, kept.channels, strict=True):
        np.testing.assert_array_equal(channel.keys, other.keys)
        np.testing.assert_array_equal(channel.left, other.left)
        np.testing.assert_array_equal(channel.right, other.right)


def test_numbers_too_large_for_handles_are_kept():
    document = made(Shape.BEZIER_2D, version=3)
    keys = document.animation.envelopes[1].keys
    keys["value"][1], keys["parameters"][1] = 3e38, [3e38, -3e38, 3e38, 3e38]
    report = Report()
    path = anm.decode(document, report)
    assert anm.encode(path, document)[0] is document
