"""What Blender draws of a motion path, against the engine's formula and against the engine's own numbers.

The formula is that of `tests.core.envelope.formula`, which starts from the file's bytes. Two things are Blender's own
and allowed for: it knows the frames of keys, of handles and of now as 32-bit floats, so that where a curve is steep two
steps of these are a difference in value; and a frame within 1e-4 of a key is that key.
"""

import hashlib

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import anm
from addon.formats.xray.anm import Animation, new_anm
from addon.formats.xray.envelopes import OLD, StoredEnvelope
from addon.games.xray.paths import PathExportOptions, PathImportOptions, import_path, plan_export
from tests.blender.scenes import column
from tests.core.envelope.formula import BEZIER_2D, CONSTANT_BEHAVIOUR, LINEAR_BEHAVIOUR, STEPPED, TCB, Channel, solved
from tests.real_files import corpus_files

WELL_FORMED = corpus_files("anm/[!o]*")
# Blender's channel -> the game's, and the sign between them.
CHANNELS = {
    ("location", 0): (0, 1.0),
    ("location", 1): (2, 1.0),
    ("location", 2): (1, 1.0),
    ("rotation_euler", 0): (4, -1.0),
    ("rotation_euler", 1): (5, -1.0),
    ("rotation_euler", 2): (3, -1.0),
}
SAMPLES = 1000
JUMP = 4e-5
"""The largest share of the range by which the game may leap at a key without an extra key that shows it."""
SNAP = 1e-4
"""Frames around a key in which Blender takes the key."""
LEAP = 0.05
"""Frames around a key that shows a leap of the game: it is drawn a fiftieth of a frame wide."""
FEWEST_IN_A_THOUSAND = 998
"""Samples that keep the bound to the letter, without allowing for a frame's 32 bits."""


class Drawn:
    """An F-curve beside the channel it shows, in the signs and seconds of the file."""

    def __init__(self, actual, channel, sign, fps):
        self.shown, self.channel, self.sign, self.fps = actual, channel, sign, fps
        self.keys = column(actual.keyframe_points, "co", 2)[:, 0]
        """Frames (keys,)."""

    def frames(self, count=SAMPLES):
        """Frames (about ``count``,) from the first key to the last where Blender's answer is the curve's."""
        start, end = (self.channel.times[edge] * self.fps for edge in (0, -1))
        frames = np.linspace(start, end, count).astype(np.float32)
        away = np.abs(frames[:, None] - self.keys).min(axis=1)
        kept = (away > SNAP) | (away == 0)
        extra = self.keys[np.abs(self.keys[:, None] - self.channel.times * self.fps).min(axis=1) > 2 * SNAP]
        if len(extra):
            kept &= np.abs(frames[:, None] - extra).min(axis=1) > LEAP
        return frames[kept]

    def at(self, frames):
        """What Blender shows."""
        return self.sign * np.array([self.shown.evaluate(frame) for frame in frames.tolist()])

    def expected(self, frames):
        """What the formula says at frames (n,), and between what it lies two steps of a 32-bit float to either side."""
        times, step = frames.astype(np.float64) / self.fps, 2 * np.spacing(np.abs(frames)) / np.float64(self.fps)
        first, last = self.channel.times[[0, -1]]
        beside = [self.channel.at(np.clip(times + side * step, first, last)) for side in (-1, 0, 1)]
        return beside[1], np.min(beside, axis=0), np.max(beside, axis=0)

    def differences(self, frames):
        """How far Blender is from the formula, in shares of its range: to the letter, and what 32 bits do not allow."""
        got, (exact, least, most) = self.at(frames), self.expected(frames)
        reach = max(float(np.ptp(exact)), 4 * float(np.spacing(np.float32(np.abs(exact).max()))) / 1e-5)
        return np.abs(got - exact) / reach, np.maximum(np.maximum(least - got, got - most), 0) / reach


def drawn_channels(animation, owner):
    """The channels that have a curve to speak of, as `Drawn`."""
    bag = compat.curve_bag(owner.animation_data.action)
    result = []
    for fcurve in bag.fcurves:
        number, sign = CHANNELS[fcurve.data_path, fcurve.array_index]
        channel = Channel(animation.envelopes[number])
        if len(channel) > 1:
            result.append(Drawn(fcurve, channel, sign, 1.0 / animation.frame))
    return result


# ---- generated envelopes


def generated(random, fps, *, whole, handles, closest=0.5):
    """A channel of 1 ... 50 keys, shapes mixed, everything over its range; ``handles`` (least, most) in segments.

    ``whole``: keys on whole frames, else ``closest`` frames apart or more.
    """
    count = int(random.integers(1, 51))
    frames = np.cumsum(random.integers(1, 31, count) if whole else random.uniform(closest, 30, count))
    keys = np.zeros(count, OLD)
    keys["time"] = (frames - frames[0] + random.integers(-40, 41)) / fps
    keys["value"] = random.normal(size=count) * random.choice([1e-3, 1.0, 100.0])
    keys["shape"] = random.choice(random.choice(6, random.integers(1, 7), replace=False), count)
    keys["tcb"] = random.uniform(-1, 1, (count, 3))
    keys["parameters"] = random.normal(size=(count, 4)) * np.abs(keys["value"]).max()
    flat, length = keys["shape"] == BEZIER_2D, np.diff(keys["time"].astype(np.float64))
    shares = random.uniform(*handles, (2, count))
    keys["parameters"][flat, 0] = (-np.append(1 / fps, length) * shares[0])[flat]
    keys["parameters"][flat, 2] = (np.append(length, 1 / fps) * shares[1])[flat]
    before, after = random.choice([CONSTANT_BEHAVIOUR, LINEAR_BEHAVIOUR], 2)
    return StoredEnvelope(int(before), int(after), keys)


def imported(envelopes, fps, folder):
    """A document of six channels, and what Blender makes of its file."""
    animation = Animation(b"made", 0, 100, np.float32(fps), 3, envelopes)
    file = folder / "made.anm"
    file.write_bytes(anm.write(new_anm(animation)))
    return animation, import_path(bpy.context, str(file), PathImportOptions(), Report()).owner


GENERATED = [
    # fps, keys on whole frames, handles, bound; a 32nd of a second is a number a 32-bit float holds
    pytest.param(32.0, True, (0.0, 1.0), 1e-5, id="whole frames"),
    pytest.param(30.0, True, (0.0, 1.0), 1e-5, id="whole frames of 30"),
    pytest.param(25.0, False, (0.0, 1.0), 1e-4, id="anywhere"),
    pytest.param(34.0, False, (-0.05, 1.4), 1e-4, id="handles too long and behind their keys"),
]
PATHS_EACH = 28
"""Files of six channels: 4 x 28 x 6 are 672 envelopes."""


@pytest.mark.parametrize(("fps", "whole", "handles", "bound"), GENERATED)
def test_generated_envelopes_are_drawn_as_the_formula_says(fps, whole, handles, bound, tmp_path):
    random = np.random.default_rng(round(fps))
    samples = literal = channels = 0
    for _ in range(PATHS_EACH):
        animation, owner = imported(
            [generated(random, fps, whole=whole, handles=handles) for _ in range(6)], fps, tmp_path
        )
        for drawn in drawn_channels(animation, owner):
            if handles[1] <= 1:
                assert len(drawn.keys) == len(drawn.channel), "a key of the file is a key of the curve"
            frames = drawn.frames()
            letter, allowed = drawn.differences(frames)
            assert allowed.max() <= bound, (drawn.shown.data_path, frames[allowed.argmax()])
            samples, literal, channels = samples + len(frames), literal + int((letter <= bound).sum()), channels + 1
    assert channels > 6 * PATHS_EACH * 0.9
    assert samples > 900 * channels or handles[1] > 1
    assert literal >= samples * FEWEST_IN_A_THOUSAND / 1000


@pytest.mark.parametrize(("whole", "bound"), [(True, 1e-5), (False, 1e-4)])
def test_outside_the_keys_constant_and_linear_go_on_as_in_the_game(whole, bound, tmp_path):
    random = np.random.default_rng(6)
    compared = message = 0
    for _ in range(20):
        channels = [generated(random, 30.0, whole=whole, handles=(0.1, 1)) for _ in range(6)]
        animation, owner = imported(channels, 30.0, tmp_path)
        hidden = owner.animation_data.action.motionbridge_path.not_shown
        for drawn in drawn_channels(animation, owner):
            channel, (first, last) = drawn.channel, drawn.channel.times[[0, -1]]
            if channel.shapes[1] == STEPPED and channel.before == LINEAR_BEHAVIOUR and channel.leaving(0):
                assert "a straight line before a held key" in hidden
                message += 1
                continue
            times = np.concatenate((first - np.linspace(2, 0.01, 50), last + np.linspace(0.01, 2, 50)))
            frames = (times * 30).astype(np.float32)
            expected = channel.at(frames.astype(np.float64) / 30.0)
            reach = np.ptp(np.concatenate((expected, channel.at(np.linspace(first, last, SAMPLES)))))
            assert np.abs(drawn.at(frames) - expected).max() <= bound * reach, (channel.shapes[:2], channel.before)
            compared += 1
    assert compared > 100
    assert 0 < message < compared / 10


# ---- real files


def leap_closed(channel, reach):
    """The largest leap, in shares of the range, of Bezier segments whose handles packing moved past their keys.

    The game leaps there by so little that a curve through the keys of the file is shown, and no key more.
    """
    flat = [k for k in range(1, len(channel)) if channel.shapes[k] == BEZIER_2D]
    if not flat:
        return 0.0
    controls = np.array([channel.controls(k) for k in flat])
    ends = np.array([solved(controls, controls[:, 0, index]) - controls[:, 1, index] for index in (0, -1)])
    shares = np.abs(ends) / reach
    return float(shares[shares <= JUMP].max(initial=0.0))


@pytest.mark.parametrize("file", WELL_FORMED)
def test_real_paths_are_drawn_as_the_formula_says(file) -> None:
    owner = import_path(bpy.context, str(file), PathImportOptions(), Report()).owner
    animation = anm.read(file.read_bytes(), file.name, Report()).animation
    for drawn in drawn_channels(animation, owner):
        channel, frames = drawn.channel, drawn.frames()
        on_frames = np.abs(drawn.keys - np.rint(drawn.keys)).max() < 1e-3
        _, allowed = drawn.differences(frames)
        reach = max(float(np.ptp(channel.at(frames / drawn.fps))), 1e-9)
        leap = leap_closed(channel, reach)
        assert allowed.max() <= (1e-5 if on_frames else 1e-4) + leap


@pytest.mark.parametrize("file", WELL_FORMED)
def test_keys_after_import_are_the_keys_of_the_file(file) -> None:
    owner = import_path(bpy.context, str(file), PathImportOptions(), Report()).owner
    animation = anm.read(file.read_bytes(), file.name, Report()).animation
    more = {}
    for drawn in drawn_channels(animation, owner):
        frames = drawn.channel.times * drawn.fps
        nearest = np.abs(drawn.keys[:, None] - frames).argmin(axis=0)
        np.testing.assert_allclose(drawn.keys[nearest], frames, atol=SNAP)
        if len(drawn.keys) != len(frames):
            more[drawn.shown.data_path, drawn.shown.array_index] = len(drawn.keys) - len(frames)
    # A handle of that file lies 60 ms past its key, and the game leaps there by more than anybody would miss.
    assert more == ({("location", 1): 1} if file.name == "mixed_fusker.anm" else {})


# ---- the engine's own numbers


def engine_envelopes(vectors):
    with np.load(vectors / "xray" / "anm_envelopes.npz") as data:
        data = {name: data[name] for name in data.files}
    for number, (start, end) in enumerate(zip(data["key_start"][:-1], data["key_start"][1:], strict=True)):
        keys = np.zeros(end - start, OLD)
        rows = data["key"][start:end]
        keys["value"], keys["time"], keys["shape"] = rows[:, 0], rows[:, 1], data["shape"][start:end]
        keys["tcb"], keys["parameters"] = rows[:, 2:5], rows[:, 5:9]
        stored = StoredEnvelope(*(int(side) for side in data["behaviour"][number]), keys)
        yield stored, *(data[name][number] for name in ("time", "expected", "status", "tol"))


def compared_with_engine(drawn, times, expected, status, tol):
    """How far Blender is from the engine where both have a value, in shares of the range and of ``tol``."""
    channel = drawn.channel
    frames = (times.astype(np.float64) * drawn.fps).astype(np.float32)
    wanted = (status == 0) & (np.abs(frames[:, None] - drawn.keys).min(axis=1) > LEAP)
    actual = (CONSTANT_BEHAVIOUR, LINEAR_BEHAVIOUR) if len(drawn.keys) == len(channel) else ()
    wanted &= (times >= channel.times[0]) | (channel.before in actual and channel.shapes[1] != STEPPED)
    wanted &= (times <= channel.times[-1]) | (channel.after in actual)
    inside = wanted & (times >= channel.times[0]) & (times <= channel.times[-1])
    off = np.abs(drawn.at(frames[wanted]) - expected[wanted])
    reach = float(np.ptp(expected[inside])) if inside.any() else 0.0
    shares = np.abs(drawn.at(frames[inside]) - expected[inside]) / (reach or 1.0)
    return shares.max(initial=0.0), (off / tol[wanted]).max(initial=0.0), int(wanted.sum())


WORST_OF_MADE, WORST_OF_REAL = 2.5e-3, 1e-4
"""Shares of the range by which the engine itself is off, for its search of a Bezier segment stops 0.1 ms early."""


def test_the_engines_numbers_for_made_envelopes(vectors, tmp_path):
    created = list(engine_envelopes(vectors))
    worst = compared = 0
    for start in range(0, len(created), 6):
        rows = created[start : start + 6]
        channels = [row[0] for row in rows]
        channels += [StoredEnvelope(1, 1, np.zeros(0, OLD))] * (6 - len(channels))
        animation, owner = imported(channels, 30.0, tmp_path)
        for drawn in drawn_channels(animation, owner):
            number = CHANNELS[drawn.shown.data_path, drawn.shown.array_index][0]
            share, of_tolerance, count = compared_with_engine(drawn, *rows[number][1:])
            assert of_tolerance <= 1.5, start + number
            worst, compared = max(worst, share), compared + count
    assert compared > 15_000
    assert worst <= WORST_OF_MADE


def test_the_engines_numbers_for_real_files(vectors, corpus):
    with np.load(vectors / "xray" / "anm_files.npz") as data:
        data = {name: data[name] for name in data.files}
    worst = compared = 0
    for number, name in enumerate(data["name"]):
        content = (corpus / str(name)).read_bytes()
        if hashlib.sha256(content).hexdigest() != data["sha256"][number]:
            continue
        owner = import_path(bpy.context, str(corpus / str(name)), PathImportOptions(), Report()).owner
        for drawn in drawn_channels(anm.read(content, str(name), Report()).animation, owner):
            channel = CHANNELS[drawn.shown.data_path, drawn.shown.array_index][0]
            rows = (data[field][number, channel] for field in ("time", "expected", "status", "tol"))
            share, of_tolerance, count = compared_with_engine(drawn, *rows)
            assert of_tolerance <= 1.5, (name, channel)
            worst, compared = max(worst, share), compared + count
    assert compared > 13_000
    assert worst <= WORST_OF_REAL


# ---- after an edit


def tcb_channel(random, fps):
    count = int(random.integers(5, 31))
    keys = np.zeros(count, OLD)
    keys["time"] = np.cumsum(random.integers(1, 31, count)) / fps
    keys["value"], keys["tcb"] = random.normal(size=count), random.uniform(-1, 1, (count, 3))
    return StoredEnvelope(1, 1, keys)


EDITS = {
    "value": lambda point, _: move(point, 0.0, 0.75),
    "time": lambda point, room: move(point, 0.4 * room, 0.0),
    "right handle": lambda point, _: setattr(point, "handle_right", (point.handle_right[0], point.co[1] + 0.5)),
    "left handle": lambda point, room: setattr(point, "handle_left", (point.co[0] - 0.9 * room, point.co[1] - 0.25)),
}


def move(point, frames, rise):
    for part in (point.co, point.handle_left, point.handle_right):
        part[0] += frames
        part[1] += rise


@pytest.mark.parametrize("edit", EDITS)
def test_after_moving_a_tcb_key_the_game_plays_what_blender_shows(edit, tmp_path):
    """On the neighbouring segments too: in the game a key that moves turns its neighbours' tangents."""
    fps = 32.0
    random = np.random.default_rng(11)
    for _ in range(6):
        animation, owner = imported([tcb_channel(random, fps) for _ in range(6)], fps, tmp_path)
        edited = {}
        for drawn in drawn_channels(animation, owner):
            index = int(random.integers(1, len(drawn.keys) - 1))
            room = np.diff(drawn.keys[index - 1 : index + 2]).min()
            EDITS[edit](drawn.shown.keyframe_points[index], room)
            drawn.shown.update()
            edited[CHANNELS[drawn.shown.data_path, drawn.shown.array_index][0]] = index
        assert len(edited) == 6
        plan = plan_export(bpy.context, owner, "x.anm", options=PathExportOptions(), report=Report())
        written = anm.read(plan.data, "", Report()).animation
        for drawn in drawn_channels(written, owner):
            number = CHANNELS[drawn.shown.data_path, drawn.shown.array_index][0]
            index, shapes = edited[number], written.envelopes[number].shapes
            assert drawn.differences(drawn.frames())[1].max() <= 1e-5
            # It is one key's neighbourhood that is no longer TCB.
            assert (shapes[: max(index - 1, 0)] == TCB).all()
            assert (shapes[index + 3 :] == TCB).all()
            # The key two before it is TCB as it was, but lends the Bezier segment behind it a parameter.
            same = slice(0, max(index - 2, 0))
            assert animation.envelopes[number].keys[same].tobytes() == written.envelopes[number].keys[same].tobytes()
