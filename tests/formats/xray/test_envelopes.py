"""Stored channels: 16-bit packing against the engine's formula, both key sizes, odd and hostile bytes."""

import struct

import numpy as np
import pytest

from addon.core.binary import NOT_FINITE, Reader, Writer
from addon.core.envelope import Envelope, Shape
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray.envelopes import (
    ENVELOPE_VIEWS,
    OLD,
    PACKED,
    StoredEnvelope,
    are_sound,
    as_old,
    as_packed,
    check,
    packed,
    read_old,
    read_packed,
    stored,
    unpacked,
    write_envelope,
)

WALK = Walk(ENVELOPE_VIEWS)
EVERY = np.arange(65536, dtype=np.uint16)

STEPPED = struct.pack("<2fB", 1.5, 0.25, 4)  # value, time, shape: 9 bytes
TCB = struct.pack("<2fB7H", -2.0, 0.5, 0, 0, 32767, 32768, 65535, 1, 2, 3)  # and tension ... parameter 3: 23 bytes


def read(data, reading=read_packed):
    return reading(Reader(data, "test.anm"), "channel X")


def written(envelope):
    writer = Writer()
    write_envelope(writer, envelope)
    return writer.getvalue()


def test_all_16_bit_numbers_are_read_as_the_engine_does_and_come_back():
    engine = EVERY.astype(np.float32) * np.float32(64) / np.float32(65535) - np.float32(32)
    np.testing.assert_allclose(unpacked(EVERY), engine, atol=4e-6)
    np.testing.assert_array_equal(packed(unpacked(EVERY)), EVERY)
    np.testing.assert_array_equal(packed(engine), EVERY)
    np.testing.assert_array_equal(packed(unpacked(EVERY).astype(np.float32)), EVERY)


def test_zero_and_the_ends():
    assert packed(np.array([0.0, -32, 32, -99, 99, np.nan])).tolist() == [32768, 0, 65535, 0, 65535, 32767]
    assert unpacked(np.array([32768]))[0] == pytest.approx(0.000488, abs=1e-6)


def test_keys_of_both_sizes_each_in_turn():
    data = struct.pack("<BBH", 1, 5, 4) + STEPPED + TCB + TCB + STEPPED
    envelope = read(data)
    assert (envelope.before, envelope.after) == (1, 5)
    assert envelope.shapes.tolist() == [4, 0, 0, 4]
    assert envelope.keys["time"].tolist() == [0.25, 0.5, 0.5, 0.25]
    assert envelope.keys["tcb"][1].tolist() == [0, 32767, 32768]
    assert envelope.keys["parameters"][2].tolist() == [65535, 1, 2, 3]
    assert written(envelope) == data
    decoded = envelope.decoded()
    assert decoded.parameters[0].tolist() == [0, 0, 0, 0]  # a stepped key has none, not 16-bit zeros
    assert decoded.tcb[1].tolist() == pytest.approx([-32, -0.000488, 0.000488], abs=1e-6)


@pytest.mark.parametrize("keys", [b"", STEPPED * 5, TCB * 5])
def test_keys_of_one_size(keys):
    count = len(keys) // (9 if keys[8:9] == b"\4" else 23) if keys else 0
    data = struct.pack("<BBH", 1, 1, count) + keys
    assert written(read(data)) == data


def test_old_keys_are_40_bytes_and_only_the_low_byte_of_the_shape_counts():
    key = struct.pack("<2fI7f", 1, 2, 0xABCD_EF05, 3, 4, 5, 6, 7, 8, 9)
    data = struct.pack("<iiI", 1, 1, 1) + key
    envelope = read(data, read_old)
    assert OLD.itemsize == len(key) == 40
    assert envelope.shapes.tolist() == [5]
    assert envelope.decoded().parameters.tolist() == [[6, 7, 8, 9]]
    assert written(envelope) == data


def test_nan_keys_come_back_bit_for_bit():
    data = struct.pack("<BBH", 1, 1, 1) + bytes.fromhex("0100a07f") * 2 + b"\4"
    envelope = read(data)
    assert written(envelope) == data
    assert np.isnan(envelope.decoded().values[0])
    report = Report()
    check(envelope, "X", report)
    assert report.lines() == [f"{NOT_FINITE} (X: 2)"]


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<BBH", 1, 1, 0xFFFF) + STEPPED * 10,
        struct.pack("<BBH", 1, 1, 2) + TCB + STEPPED[:-1],
        struct.pack("<BBH", 1, 1, 3) + STEPPED + TCB + TCB[:-1],
        struct.pack("<BBH", 1, 1, 2) + STEPPED + TCB[:20],
        b"\1\1\0",
    ],
)
def test_too_few_bytes_are_an_error_with_the_offset(data):
    with pytest.raises(ReadError, match=r"test\.anm"):
        read(data)


def test_four_billion_old_keys_cost_nothing():
    with pytest.raises(ReadError, match="4294967295 keys"):
        read(struct.pack("<iiI", 1, 1, 0xFFFF_FFFF) + bytes(400), read_old)


def test_strange_behaviours_shapes_and_times_are_reported():
    keys = STEPPED + struct.pack("<2fB7H", 0, 0.125, 9, *[0] * 7) + STEPPED + STEPPED
    report = Report()
    check(read(struct.pack("<BBH", 9, 1, 4) + keys), "H", report)
    message = "\n".join(report.lines())
    assert "behaviour 9" in message
    assert "shape 9" in message
    assert "out of order" in message
    report = Report()
    check(read(struct.pack("<BBH", 1, 1, 2) + STEPPED * 2), "H", report)
    assert report.lines() == ["several keys at one time: the game jumps there (H)"]


@pytest.mark.filterwarnings("error")
def test_times_at_both_ends_of_the_floats_are_in_order():
    largest = float(np.finfo(np.float32).max)
    early, late = (struct.pack("<2fB7H", 0, time, 4, *[0] * 7) for time in (-largest, largest))
    for keys, message in (
        (early + late, []),
        (late + early, ["keys are out of order in time: the game jumps there (X)"]),
    ):
        envelope, report = read(struct.pack("<BBH", 1, 1, 2) + keys), Report()
        assert are_sound([envelope]) == (not message)
        check(envelope, "X", report)
        assert report.lines() == message


def test_the_other_layout_and_back():
    envelope = read(struct.pack("<BBH", 1, 1, 3) + STEPPED + TCB + TCB)
    old = as_old(envelope)
    assert not old.packed
    again = as_packed(old)
    assert (again.keys.tobytes(), again.before, again.after) == (envelope.keys.tobytes(), 1, 1)
    assert as_old(old) is old
    assert list(WALK.differences(envelope, old)) == []


def made(shape, parameters, tcb=(0.0, 0.0, 0.0), count=1):
    path = Envelope.of(np.arange(count, dtype=float), np.zeros(count), np.full(count, shape, np.uint8))
    path.parameters[:], path.tcb[:] = parameters, tcb
    return path


@pytest.mark.parametrize(
    ("shape", "parameters", "count", "fits"),
    [
        (Shape.BEZIER_2D, [0, 33, 0, 0], 1, False),
        (Shape.BEZIER_2D, [0, 0, 0, np.nan], 1, False),
        (Shape.HERMITE, [0, -40, 0, 0], 1, False),
        (Shape.HERMITE, [0, 1, 99, 99], 1, True),  # the game looks at the first two
        (Shape.TCB, [99, 99, 99, 99], 2, True),
        (Shape.STEPPED, [99, 99, 99, 99], 1, True),
    ],
)
def test_numbers_that_do_not_fit_16_bits_are_refused_where_they_count(shape, parameters, count, fits):
    if fits:
        assert stored(made(shape, parameters, count=count), "X", to_packed=True).packed
    else:
        with pytest.raises(WriteError, match="X: a handle or tension"):
            stored(made(shape, parameters, count=count), "X", to_packed=True)
    assert stored(made(shape, parameters, count=count), "X", to_packed=False).keys["shape"][0] == shape


def test_what_a_tcb_key_lends_a_bezier_segment_counts():
    path = made(Shape.TCB, [0, 99, 0, 0], count=2)
    path.shapes[1], path.parameters[1] = Shape.BEZIER_2D, 0
    with pytest.raises(WriteError, match="Write version 3"):
        stored(path, "P", to_packed=True)


def test_a_handle_on_its_key_does_not_come_out_behind_it():
    keys = stored(made(Shape.BEZIER_2D, [0, 0, 0, 0]), to_packed=True).decoded()
    assert keys.parameters[0, 0] < 0 < keys.parameters[0, 2]


def test_more_keys_than_16_bits_count_are_refused():
    envelope = StoredEnvelope(1, 1, np.zeros(65536, PACKED))
    with pytest.raises(WriteError, match="65536 keys"):
        written(envelope)


def test_a_dump_names_every_number():
    assert list(WALK.dump(read(struct.pack("<BBH", 1, 2, 2) + STEPPED + TCB))) == [
        "before the keys constant",
        "after the keys repeat",
        "key count 2: time | value | shape | tcb | parameters",
        "key 0 0.25 | 1.5 | stepped | 0.0 0.0 0.0 | 0.0 0.0 0.0 0.0",
        "key 1 0.5 | -2.0 | tcb | -32.0 -0.0004882887 0.0004882887 | 32.0 -31.999023 -31.998047 -31.99707",
    ]


def test_differences_say_which_keys():
    entry = read(struct.pack("<BBH", 1, 1, 2) + TCB + TCB)
    other = read(struct.pack("<BBH", 2, 1, 2) + TCB + TCB[:4] + b"\0\0\0\0" + TCB[8:])
    assert list(WALK.differences(entry, other)) == ["before the keys: constant / repeat", "time: key 1: 0.5 / 0.0"]
    shorter = read(struct.pack("<BBH", 1, 1, 1) + TCB)
    assert list(WALK.differences(entry, shorter)) == ["2 / 1 key"]
