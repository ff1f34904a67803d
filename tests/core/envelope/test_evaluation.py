"""The engine's evaluation: hand-computed values, its odd habits, and numbers its own arithmetic gave."""

import hashlib

import numpy as np
import pytest

from addon.core.envelope import Behaviour, Envelope, Shape, evaluate, extrapolation_slopes, tangents
from addon.core.envelope.evaluation import solution_jumps, solve
from addon.core.report import Report
from addon.formats.xray import anm
from tests.real_files import VECTORS


def envelope(times, values, shape, **columns):
    result = Envelope.of(np.array(times, float), np.array(values, float), np.full(len(times), shape, np.uint8))
    for name, value in columns.items():
        setattr(result, name, value)
    return result


def test_without_keys_nothing_and_with_one_its_value_everywhere():
    assert evaluate(envelope([], [], Shape.TCB), [0, 1]).tolist() == [0, 0]
    single = envelope([2], [7], Shape.TCB, before=Behaviour.RESET, after=Behaviour.LINEAR)
    assert evaluate(single, [-9, 2, 9]).tolist() == [7, 7, 7]


def test_the_shape_of_the_end_key_names_the_segment():
    path = envelope([0, 1, 2], [0, 10, 20], Shape.STEPPED)
    path.shapes[2] = Shape.LINEAR
    assert evaluate(path, [0, 0.5, 1, 1.25, 2]).tolist() == [0, 0, 10, 12.5, 20]


def test_plain_tcb_tangents_are_the_chord_of_the_neighbours_and_whole_at_the_ends():
    path = envelope([0, 1, 3], [0, 2, 8], Shape.TCB)
    leaving, arriving = tangents(path)
    # r = dt / (tn - tp): 1/3 for the first segment, 2/3 for the second; the chord over both is 8.
    assert leaving == pytest.approx([2, 16 / 3])
    assert arriving == pytest.approx([8 / 3, 6])


def test_tension_continuity_and_bias_weigh_the_chords():
    path = envelope([0, 1, 2], [0, 2, 8], Shape.TCB)
    tension, continuity, bias = 0.5, 0.25, -0.125
    path.tcb[1] = tension, continuity, bias
    leaving, arriving = tangents(path)
    a, b = (1 - tension) * (1 + continuity) * (1 + bias), (1 - tension) * (1 - continuity) * (1 - bias)
    assert leaving[1] == pytest.approx((a * 2 + b * 6) / 2)
    a, b = (1 - tension) * (1 - continuity) * (1 + bias), (1 - tension) * (1 + continuity) * (1 - bias)
    assert arriving[0] == pytest.approx((b * 6 + a * 2) / 2)


def test_a_bezier_handle_without_length_is_divided_by_ten_microseconds():
    path = envelope([0, 2], [0, 1], Shape.BEZIER_2D)
    path.parameters[:] = [[0, 0, 0, 3], [-0.5, 1, 0, 0]]
    leaving, arriving = tangents(path)
    assert leaving[0] == pytest.approx(3 * 2 * 1e5)
    assert arriving[0] == pytest.approx(1 * 2 / -0.5)


def test_a_bezier_segment_passes_through_its_de_casteljau_point():
    path = envelope([0, 3], [0, 1], Shape.BEZIER_2D)
    path.parameters[:] = [[0, 0, 0.5, 2], [-1.5, -3, 0, 0]]
    points = np.array([[0, 0], [0.5, 2], [1.5, -2], [3, 1]])
    for u in (0.1, 0.5, 0.9):
        line = points
        while len(line) > 1:
            line = (1 - u) * line[:-1] + u * line[1:]
        assert evaluate(path, line[0, 0]) == pytest.approx(line[0, 1], abs=1e-13)


def test_another_key_lends_a_bezier_segment_its_parameter_over_a_third():
    path = envelope([0, 3], [1, 1], Shape.BEZIER_2D)
    path.shapes[0] = Shape.TCB
    path.parameters[:] = [[9, 6, 9, 9], [-1, 0, 0, 0]]
    # Control values 1, 1 + 6/3, 1, 1 and even times: at u = 1/3 the second Bernstein polynomial is 4/9.
    assert evaluate(path, 1.0) == pytest.approx(1 + 2 * 4 / 9)


@pytest.mark.parametrize(
    ("behaviour", "time", "value"),
    [
        (Behaviour.RESET, 5.0, 0.0),
        (Behaviour.CONSTANT, 5.0, 30.0),
        (Behaviour.CONSTANT, -5.0, 10.0),
        (Behaviour.LINEAR, 4.0, 40.0),
        (Behaviour.LINEAR, 0.0, 0.0),
        (Behaviour.REPEAT, 3.5, 25.0),  # folded about time 0, where one would expect 1.5 s and 15
        (Behaviour.OFFSET, 3.5, 25.0 + 20.0 * 1),  # (3.5 - 2.5) / 2 = 0.5 rounds, away from 0
        (Behaviour.OFFSET, 0.25, 12.5 - 20.0 * 1),  # folded to 1.25, -0.5 rounds
        (Behaviour.OSCILLATE, 3.5, 5.0),  # one round: 3 - 1 - 2.5 = -0.5 s, the first segment goes on backwards
    ],
)
def test_behaviours_with_the_engines_habits(behaviour, time, value):
    path = envelope([1, 3], [10, 30], Shape.LINEAR, before=behaviour, after=behaviour)
    if behaviour == Behaviour.OSCILLATE:
        value = 10 + 20 * (-0.5 - 1) / 2
    assert evaluate(path, time) == pytest.approx(value)


def test_linear_goes_on_along_the_tangents_of_the_keys_own_shapes():
    path = envelope([0, 2], [0, 4], Shape.HERMITE)
    path.parameters[:] = [[0, 6, 0, 0], [8, 0, 0, 0]]
    assert extrapolation_slopes(path) == (3.0, 4.0)


def test_of_several_keys_at_one_time_the_first_counts_there_and_the_last_after_it():
    path = envelope([0, 1, 1, 1, 2], [0, 1, 5, 9, 9], Shape.LINEAR)
    assert evaluate(path, [1, np.nextafter(1, 2), 2]) == pytest.approx([1, 9, 9])


def test_a_key_out_of_order_is_only_a_start():
    path = envelope([0, 2, 1, 3], [0, 2, 10, 30], Shape.LINEAR)
    assert evaluate(path, [1.5, 2, np.nextafter(2, 3), 2.5]) == pytest.approx([1.5, 2, 20, 25])


def test_keys_of_unknown_shapes_hold_the_value_before_them():
    path = envelope([0, 1], [3, 4], 77)
    assert evaluate(path, [0.5, 1]).tolist() == [3, 4]


def test_what_is_not_finite_stays_none_and_raises_nothing():
    path = envelope([0, np.nan, 2], [0, 1, np.inf], Shape.TCB)
    assert evaluate(path, np.linspace(-1, 3, 9)).shape == (9,)


def test_every_shape_of_times_is_taken():
    path = envelope([0, 1], [0, 1], Shape.LINEAR)
    assert evaluate(path, 0.5).shape == ()
    assert evaluate(path, np.zeros((2, 3))).shape == (2, 3)


# ---- the engine's own numbers


def made_envelopes():
    with np.load(VECTORS / "xray" / "anm_envelopes.npz") as data:
        return {name: data[name] for name in data.files}


def test_the_engines_numbers_for_made_envelopes(vectors):
    data = made_envelopes()
    compared = 0
    for number, (start, end) in enumerate(zip(data["key_start"][:-1], data["key_start"][1:], strict=True)):
        key = data["key"][start:end].astype(float)
        path = Envelope(key[:, 1], key[:, 0], data["shape"][start:end], key[:, 2:5], key[:, 5:9])
        path.before, path.after = data["behaviour"][number]
        wanted = data["status"][number] == 0
        off = np.abs(evaluate(path, data["time"][number].astype(float)) - data["expected"][number])
        assert (off[wanted] <= data["tol"][number][wanted]).all(), number
        compared += wanted.sum()
    assert compared == 32683


def test_the_engines_numbers_for_real_files(vectors, corpus):
    with np.load(vectors / "xray" / "anm_files.npz") as data:
        data = {name: data[name] for name in data.files}
    worst = compared = 0
    for number, name in enumerate(data["name"]):
        content = (corpus / str(name)).read_bytes()
        if hashlib.sha256(content).hexdigest() != data["sha256"][number]:
            continue
        animation = anm.read(content, str(name), Report()).animation
        assert animation.version == data["version"][number]
        assert (animation.first, animation.last) == (data["first"][number], data["last"][number])
        for channel, stored in enumerate(animation.envelopes):
            wanted = data["status"][number, channel] == 0
            values = evaluate(stored.decoded(), data["time"][number, channel].astype(float))
            off = np.abs(values - data["expected"][number, channel])
            assert (off[wanted] <= data["tol"][number, channel][wanted]).all(), (name, channel)
            worst = max(worst, off[wanted].max())
            compared += wanted.sum()
        times = data["xform_time"][number].astype(float)
        channels = np.stack([evaluate(stored.decoded(), times) for stored in animation.envelopes], axis=1)
        reach = 1e-5 + np.abs(channels).max() * 1e-6 + 5e-4
        assert np.abs(channels - data["channels_at_xform_time"][number]).max() <= reach
    assert compared == 8 * 6 * 400
    assert worst < 5e-4


def test_the_leap_over_a_fold_is_that_of_the_answer():
    random = np.random.default_rng(8)
    controls = np.stack(
        (np.zeros(4000), random.uniform(0.5, 3, 4000), random.uniform(-2, 0.5, 4000), np.ones(4000)), axis=1
    )
    a, b, c = np.diff(controls, axis=1).T
    bend = a - 2 * b + c
    root = np.sqrt(np.maximum((b - a) ** 2 - bend * a, 0))
    middle = (a - b) / bend
    folds = (bend > 0) & (root > 0) & (middle - root / bend > 0) & (middle + root / bend < 1)
    assert folds.sum() > 500
    controls, middle = controls[folds], middle[folds]
    begin, end = np.zeros(len(middle)), np.ones(len(middle))
    low, high = solution_jumps(controls, middle, begin, end)
    sides = set()
    for times in (begin, end, low, high, *random.uniform(0, 1, (60, len(middle)))):
        above = solve(controls, times) > middle
        at_an_end = (times == begin) | (times == end)
        assert ((above == (times >= high)) | at_an_end).all()
        sides |= set(above.tolist())
    assert sides == {True, False}
    assert (np.abs(high - low) <= 1e-15).all()
    early, late = (
        solution_jumps(controls, middle, high + 0.5, end + 1),
        solution_jumps(controls, middle, begin - 1, low - 0.5),
    )
    for result, expected in zip((*early, *late), (high + 0.5, high + 0.5, low - 0.5, low - 0.5), strict=True):
        np.testing.assert_array_equal(result, expected)
