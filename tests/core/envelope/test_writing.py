"""Curves back to keys: what nobody touched is the base's, what is written plays what was drawn."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.envelope import (
    Behaviour,
    Curve,
    Envelope,
    Interpolation,
    Shape,
    display,
    evaluate,
    evaluate_curve,
)
from addon.core.envelope.curve import empty_curve
from addon.core.envelope.display import JUMP_GAP
from tests.core.envelope.envelopes import FRAME, envelopes, keys_of_curve, same, unchanged


def through_blender(curve, fps=30.0):
    """Frames and values as 32-bit floats, and no memory of sources."""
    scale = np.array([fps, 1.0])
    parts = [(part * scale).astype(np.float32) / scale for part in (curve.keys, curve.left, curve.right)]
    return Curve(*parts, curve.interpolation.copy(), curve.before, curve.after)


def moved(curve, position, rise, shift=0.0):
    step = np.array([shift, rise])
    for part in (curve.keys, curve.left, curve.right):
        part[position] += step


def plays_the_same(envelope, curve, ignored=(), tolerance=1e-5):
    times = np.linspace(curve.keys[0, 0], curve.keys[-1, 0], 500)
    # At a key itself 32 bits decide on which side of it a time lies.
    times = times[np.abs(times[:, None] - curve.keys[None, :, 0]).min(axis=1) > 1e-4 * FRAME]
    for position in ignored:
        times = times[np.abs(times - position) > 2.5 * JUMP_GAP * FRAME]
    wanted = evaluate_curve(curve, times)
    scale = max(np.abs(wanted).max(initial=0), np.abs(curve.keys[:, 1]).max(), 1e-9)
    assert np.abs(evaluate(envelope, times) - wanted).max(initial=0) <= tolerance * scale
    return True


@settings(max_examples=150)
@given(envelopes(odd=True, handles=1.3), st.booleans())
def test_unedited_keys_come_back_to_the_bit_also_through_32_bits(envelope, stepped):
    actual = display(envelope, FRAME)
    assert unchanged(actual.curve, actual, FRAME)
    assert unchanged(through_blender(actual.curve), actual, FRAME)
    again, source = keys_of_curve(actual.curve, envelope, actual, FRAME, stepped_parameters=stepped)
    if actual.exact[:-1].all():
        assert same(again, envelope)
        assert source.tolist() == list(range(envelope.count))
    else:
        leaps = actual.curve.keys[actual.base_key < 0, 0]
        assert plays_the_same(again, actual.curve, leaps, 6e-5)


@settings(max_examples=150)
@given(envelopes(handles=1.2), st.booleans())
def test_a_curve_without_base_is_played_as_drawn(envelope, stepped):
    curve = display(envelope, FRAME).curve
    curve.source = None
    created, source = keys_of_curve(curve, None, None, FRAME, stepped_parameters=stepped)
    assert (source == -1).all()
    times = np.linspace(curve.keys[0, 0], curve.keys[-1, 0], 300)
    scale = max(np.abs(curve.keys[:, 1]).max(), np.abs(evaluate_curve(curve, times)).max(), 1e-9)
    np.testing.assert_allclose(evaluate(created, times), evaluate_curve(curve, times), atol=1e-9 * scale)


@settings(max_examples=250)
@given(envelopes(most=12, handles=1.2, odd=True), st.booleans(), st.data())
def test_after_an_edit_the_game_plays_what_is_drawn(envelope, stepped, data):
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    index = data.draw(st.integers(0, curve.count - 1))
    size = np.abs(curve.keys[:, 1]).max() or 1.0
    match data.draw(st.sampled_from(["value", "right", "left", "interpolation", "delete", "insert"])):
        case "value":
            moved(curve, index, 0.3 * size)
        case "right":
            curve.right[index, 1] += 0.2 * size
        case "left":
            curve.left[index, 1] -= 0.2 * size
        case "interpolation":
            curve.interpolation[index] = data.draw(st.integers(0, 2))
        case "delete" if curve.count > 1:
            parts = [np.delete(part, index, axis=0) for part in (curve.keys, curve.left, curve.right)]
            curve = Curve(*parts, np.delete(curve.interpolation, index))
        case _:
            pass
    # Keys that share a place with handles of deleted neighbours may have them too long; then any answer is as good.
    reach = np.diff(curve.keys[:, 0])
    curve.right[:-1, 0] = np.minimum(curve.right[:-1, 0], curve.keys[:-1, 0] + reach)
    curve.left[1:, 0] = np.maximum(curve.left[1:, 0], curve.keys[1:, 0] - reach)
    created, _ = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=stepped)
    leaps = actual.curve.keys[actual.base_key < 0, 0]
    assert plays_the_same(created, curve, leaps, 6e-5)


def tcb(count=7):
    random = np.random.default_rng(7)
    result = Envelope.of(np.arange(count) / 3, random.normal(size=count), np.zeros(count, np.uint8))
    result.tcb[:] = random.uniform(-0.5, 0.5, (count, 3))
    return result


def test_beside_an_edited_tcb_key_only_keys_whose_tangents_no_longer_hold_change_their_shape():
    envelope = tcb()
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    moved(curve, 3, 1.0)
    created, source = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert source.tolist() == list(range(7))
    # The neighbours' tangents hang on the key that moved; those of their neighbours do not.
    assert created.shapes.tolist() == [0, 0, 5, 5, 5, 0, 0]
    np.testing.assert_array_equal(created.tcb[[0, 1, 5, 6]], envelope.tcb[[0, 1, 5, 6]])
    # Key 1 lends the Bezier segment behind it its handle, as three times the rise over a third.
    handle = actual.curve.right[1, 1] - actual.curve.keys[1, 1]
    assert created.parameters[1].tolist() == pytest.approx([0, 3 * handle, 0, 0])
    assert plays_the_same(created, curve)


def test_the_last_key_of_a_tcb_channel_keeps_its_shape_where_its_tangent_does_not_depends_on_it():
    envelope = tcb()
    envelope.tcb[:, 0] = 1  # full tension: every tangent is 0, whatever the neighbours
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    moved(curve, 3, 1.0)
    created, _ = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert (created.shapes == Shape.TCB).all()
    np.testing.assert_array_equal(created.tcb, envelope.tcb)


def line_then_bezier():
    keys = np.array([[0.0, 0], [1, 2], [2, 1]])
    before, after = np.array([0.2, 0.0]), np.array([0.2, 0.4])
    return Curve(keys, keys - before, keys + after, np.array([1, 2, 2], np.uint8))


def test_a_line_before_a_bezier_segment_is_written_as_one_with_handles_at_thirds():
    created, _ = keys_of_curve(line_then_bezier(), None, None, FRAME, stepped_parameters=False)
    assert created.shapes.tolist() == [3, 5, 5]
    assert created.parameters[0, 1] == pytest.approx(2)  # a third of it is the handle: the rise over a third
    assert created.parameters[1].tolist() == pytest.approx([-1 / 3, -2 / 3, 0.2, 0.4])
    assert plays_the_same(created, line_then_bezier())


def test_a_line_whose_next_handle_is_a_third_long_stays_a_line():
    curve = line_then_bezier()
    curve.right[1] = curve.keys[1] + [1 / 3, 0.5]
    created, _ = keys_of_curve(curve, None, None, FRAME, stepped_parameters=False)
    assert created.shapes.tolist() == [3, 3, 5]
    assert created.parameters[1, 1] == pytest.approx(1.5)
    assert plays_the_same(created, curve)


def test_a_held_segment_before_a_bezier_one_needs_a_second_key_at_its_time():
    curve = line_then_bezier()
    curve.interpolation[0] = Interpolation.CONSTANT
    created, source = keys_of_curve(curve, None, None, FRAME, stepped_parameters=False)
    assert created.shapes.tolist() == [4, 4, 5, 5]
    assert created.times.tolist() == [0, 1, 1, 2]
    assert created.values.tolist() == [0, 2, 2, 1]
    assert source.tolist() == [-1] * 4
    assert plays_the_same(created, curve)
    curve.right[1] = curve.keys[1] + [1 / 3, 0.0]  # flat, at a third: what the game assumes
    assert keys_of_curve(curve, None, None, FRAME, stepped_parameters=False)[0].shapes.tolist() == [4, 4, 5]
    curve.right[1] = curve.keys[1] + [1 / 3, 0.5]  # at a third: full floats hold it
    created, _ = keys_of_curve(curve, None, None, FRAME, stepped_parameters=True)
    assert created.shapes.tolist() == [4, 4, 5]
    assert plays_the_same(created, curve)


def test_a_key_out_of_order_comes_back_while_no_one_touches_its_segment():
    envelope = Envelope.of(np.array([0.0, 2, 1, 3, 4]), np.array([0.0, 2, 10, 30, 5]), np.full(5, 3, np.uint8))
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    moved(curve, curve.count - 1, 1.0)  # the last key
    created, source = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert created.times.tolist() == envelope.times.tolist()
    assert source.tolist() == [0, 1, 2, 3, 4]
    moved(curve, 2, 1.0)  # where the jump lands
    created, source = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert (np.diff(created.times) > 0).all()
    assert source.tolist() == [0, 1, -1, 3, 4]


def test_a_late_first_key_comes_back_while_no_one_touches_its_jump():
    envelope = Envelope.of(np.array([2.0, 1, 3, 4]), np.array([-5.0, 1, 3, 7]), np.full(4, 3, np.uint8))
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    moved(curve, curve.count - 1, 1.0)  # the last key
    created, source = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert created.times.tolist() == envelope.times.tolist()
    assert created.values.tolist() == [-5, 1, 3, 8]
    assert source.tolist() == [0, 1, 2, 3]
    moved(curve, 0, 1.0)  # what is held before the jump
    created, source = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert plays_the_same(created, curve)


def test_a_segment_cut_for_blender_is_whole_again_while_no_one_touches_it():
    envelope = Envelope.of(np.arange(4.0), np.array([0.0, 1, 0, 1]), np.full(4, Shape.BEZIER_2D, np.uint8))
    envelope.parameters[:] = [-0.3, 0.1, 0.3, 0.2]
    envelope.parameters[1, 2] = 1.3
    actual = display(envelope, FRAME)
    assert actual.added
    curve = through_blender(actual.curve)
    moved(curve, curve.count - 1, 1.0)
    created, _ = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert created.count == 4
    np.testing.assert_array_equal(created.parameters[:3], envelope.parameters[:3])
    moved(curve, int(np.flatnonzero(actual.base_key < 0)[0]), 0.1)
    created, _ = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=False)
    assert created.count == actual.curve.count
    assert plays_the_same(created, curve)


def test_a_key_moved_in_time_is_still_known():
    envelope = tcb()
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    moved(curve, 3, 0.0, 0.05)
    created, source = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=True)
    assert source.tolist() == list(range(7))
    assert created.times[3] == pytest.approx(1.05, abs=1e-6)
    assert created.shapes[[0, 6]].tolist() == [0, 0]
    assert plays_the_same(created, curve)


def test_behaviours_count_as_edits():
    envelope = tcb()
    actual = display(envelope, FRAME)
    curve = copy.deepcopy(actual.curve)
    curve.after = Behaviour.LINEAR
    assert not unchanged(curve, actual, FRAME)
    created, _ = keys_of_curve(curve, envelope, actual, FRAME, stepped_parameters=True)
    assert created.after == Behaviour.LINEAR
    assert same(created, envelope)


def test_a_handle_that_blender_pulled_off_its_key_is_unedited():
    envelope = Envelope.of(np.arange(3.0), np.array([0.0, 1, 0]), np.full(3, Shape.BEZIER_2D, np.uint8))
    actual = display(envelope, FRAME)
    curve = through_blender(actual.curve)
    curve.left[1, 0] -= 0.001 * FRAME
    assert unchanged(curve, actual, FRAME)
    curve.left[1, 0] -= 0.01 * FRAME
    assert not unchanged(curve, actual, FRAME)


def test_an_empty_channel_takes_new_keys_and_gives_them_up():
    empty = Envelope.of(np.zeros(0), np.zeros(0), np.zeros(0, np.uint8))
    actual = display(empty, FRAME)
    assert unchanged(through_blender(actual.curve), actual, FRAME)
    created, source = keys_of_curve(line_then_bezier(), empty, actual, FRAME, stepped_parameters=False)
    assert created.count == 3
    assert source.tolist() == [-1, -1, -1]
    full = display(created, FRAME)
    assert keys_of_curve(actual.curve, created, full, FRAME, stepped_parameters=False)[0].count == 0


def test_a_curve_whose_keys_were_all_deleted_is_written_without_keys():
    base = Envelope.of(np.array([0.0, 1, 1, 2]), np.array([0.0, 1, 3, 2]), np.full(4, Shape.LINEAR, np.uint8))
    actual = display(base, FRAME)
    assert actual.cut
    assert keys_of_curve(empty_curve(), base, actual, FRAME, stepped_parameters=True)[0].count == 0
