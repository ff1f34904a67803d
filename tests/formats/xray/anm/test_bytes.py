"""Bytes <-> document: annotated bytes of the three versions, every real file, and bytes that are no animation."""

import struct

import numpy as np
import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.walk import Walk
from addon.formats.xray import anm
from addon.formats.xray.envelopes import OLD
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk


def head(version, name=b"camera", first=-1, last=60, fps=34.0):
    return (
        name
        + b"\0"
        + struct.pack("<ii", first, last)  # frames
        + struct.pack("<f", fps)
        + struct.pack("<H", version)
    )


def old(value, shape=0):
    return (
        struct.pack("<iiI", 1, 1, 1)  # constant before and after, one key
        + struct.pack("<2f", value, 0.5)  # value, seconds
        + struct.pack("<I", shape)
        + struct.pack("<3f", 0.1, 0.2, 0.3)  # tension, continuity, bias
        + struct.pack("<4f", 1, 2, 3, 4)  # parameters
    )


def new(value, shape=0):
    key = struct.pack("<2fB", value, 0.5, shape)
    key += b"" if shape == 4 else struct.pack("<7H", 0, 1, 2, 3, 4, 5, 65535)
    return struct.pack("<BBH", 1, 1, 1) + key


EMPTY = {3: struct.pack("<iiI", 1, 1, 0), 4: struct.pack("<BBH", 1, 1, 0), 5: struct.pack("<BBH", 1, 1, 0)}
VERSION_3 = chunk(0x1100, head(3) + b"".join(old(value) for value in range(6)))
VERSION_4 = chunk(0x1100, head(4) + b"".join(new(value, 4 if value % 2 else 5) for value in range(6)))
VERSION_5 = chunk(0x1100, head(5) + b"".join(new(value, 4 if value % 2 else 0) for value in range(6)))

read = reading(anm, "test.anm")


@pytest.mark.parametrize(
    ("data", "version", "order"),
    [
        (VERSION_3, 3, [0, 1, 2, 3, 4, 5]),
        (VERSION_4, 4, [0, 1, 2, 4, 3, 5]),  # X Y Z P H B: the engine really exchanges them
        (VERSION_5, 5, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_every_field_of_each_version(data, version, order):
    document, _ = read(data)
    obj = document.animation
    assert (obj.name, obj.first, obj.last, obj.fps, obj.version) == (b"camera", -1, 60, 34.0, version)
    assert [envelope.keys["value"][0] for envelope in obj.envelopes] == order
    assert obj.frame == pytest.approx(1 / 34)


def test_old_keys_field_by_field():
    key = read(VERSION_3)[0].animation.envelopes[2].decoded()
    assert key.tcb[0] == pytest.approx([0.1, 0.2, 0.3])
    assert key.parameters[0].tolist() == [1, 2, 3, 4]
    assert key.times.tolist() == [0.5]


def test_stepped_keys_are_nine_bytes():
    assert len(new(0, 4)) - len(new(0, 5)) == 9 - 23


@pytest.mark.parametrize("version", [3, 4, 5])
def test_without_keys_and_without_a_name(version):
    data = chunk(0x1100, head(version, name=b"") + EMPTY[version] * 6)
    document, report = read(data)
    assert not report
    assert [len(envelope.keys) for envelope in document.animation.envelopes] == [0] * 6
    assert anm.write(document) == data


@pytest.mark.parametrize("data", [b"", b"text\n" * 40, bytes(64), b"\xff" * 64, chunk(0x1100, head(6) + bytes(99))])
def test_no_animation_at_all(data):
    with pytest.raises(ReadError):
        read(data)


@pytest.mark.parametrize("fps", [0.0, -30.0, float("nan"), float("inf")])
def test_a_senseless_rate_is_reported_and_kept(fps):
    data = chunk(0x1100, head(5, fps=fps) + EMPTY[5] * 6)
    document, report = read(data)
    assert "30 frames per second are used" in report.lines()[0]
    assert document.animation.frame == pytest.approx(1 / 30)
    assert anm.write(document) == data


def test_ten_thousand_keys():
    keys = np.zeros(10_000, OLD)
    keys["time"] = np.arange(10_000) / 30
    data = chunk(0x1100, head(3) + (struct.pack("<iiI", 1, 1, 10_000) + keys.tobytes()) * 6)
    assert anm.write(read(data)[0]) == data


def test_channels_of_another_layout_are_not_written():
    document, _ = read(VERSION_5)
    document.animation.version = 3
    with pytest.raises(WriteError, match="channel X"):
        anm.write(document)


def test_text_of_a_file():
    document, _ = read(VERSION_4)
    assert anm.describe(document) == [
        "'camera', version 4, frames -1 to 60 at 34 a second (1.79 s)",
        "keys: X 1  Y 1  Z 1  H 1  P 1  B 1",
        "shapes: stepped 3, bezier_2d 3",
    ]
    lines = list(Walk(anm.VIEWS).dump(document))
    assert [line.split()[1] for line in lines if line.strip().startswith("channel")] == list("XYZHPB")
    assert len([line for line in lines if "key 0" in line]) == 6


def test_what_differs():
    entry, _ = read(VERSION_5)
    changed = chunk(
        0x1100, head(5, name=b"other", last=61) + VERSION_5[8 + len(head(5)) :].replace(b"\xff\xff", b"\1\1")
    )
    other, _ = read(changed)
    assert list(Walk(anm.VIEWS).differences(entry, entry)) == []
    lines = list(Walk(anm.VIEWS).differences(entry, other))
    assert lines[:2] == ["name: 'camera' / 'other'", "last: 60 / 61"]
    assert sorted({line.split()[1] for line in lines[2:]}) == ["P", "X", "Z"]
    faster, _ = read(
        VERSION_5.replace(struct.pack("<f", 34.0), struct.pack("<f", np.nextafter(np.float32(34), np.float32(35))))
    )
    assert list(Walk(anm.VIEWS).differences(entry, faster)) == ["fps: 34.0 / 34.000004"]
