"""Bytes <-> document: annotated bytes of every version, every real file, and bytes that are no animation."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import NOT_FINITE
from addon.core.compression import lzo, lzss
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.arma import rtm
from addon.formats.verification import Status, verify
from tests.formats.arma.rtm.small_files import IDENTITY, MOVED, array, binarised, events, field, plain, transform
from tests.formats.reading import reading
from tests.real_files import corpus_files
from tests.work import memory_peak

read = reading(rtm, "test.rtm")


def both_ways(document):
    data = rtm.write(document)
    assert rtm.recompose(document) == data
    return data


@pytest.mark.parametrize("mark", [b"RTM_0101", b"RTM_0100"])
def test_every_field_of_a_plain_file(mark):
    data = plain(mark=mark)
    document, report = read(data)
    assert not report
    assert document.bones == ["Pelvis", "Spine"]
    assert document.step.tolist() == [0.0, 0.0, -1.5]
    assert document.phases.tolist() == [0.0, 1.0]
    assert document.matrices.shape == (2, 2, 4, 3)
    assert document.matrices[1, 0].ravel().tolist() == list(IDENTITY)
    assert document.matrices[0, 1].ravel().tolist() == list(MOVED)
    assert document.bone_fields[1].tobytes() == b"Spine\0" + 26 * b"\xcd"
    assert document.frame_fields[1, 0].tobytes() == b"Pelvis\0" + 25 * b"\xbb"
    assert document.events is None
    assert both_ways(document) == data
    assert rtm.raw_size(document) == 3 * (25 + 26)


def test_the_oldest_version_has_a_step_of_one_number():
    assert len(plain(mark=b"RTM_0101")) - len(plain(mark=b"RTM_0100")) == 8
    document, _ = read(plain(mark=b"RTM_0100"))
    document.step[0] = 1
    with pytest.raises(WriteError, match="no room for a step aside"):
        rtm.write(document)


def test_events_stand_before_the_animation():
    data = events((0.25, b"StepSound", b""), (0.5, b"Test", b"Pr\xeep")) + plain()
    document, report = read(data)
    assert not report
    assert [(event.phase, event.name, event.value) for event in document.events] == [
        (0.25, b"StepSound", b""),
        (0.5, b"Test", b"Pr\xeep"),
    ]
    assert both_ways(document) == data
    without, _ = read(events() + plain())
    assert without.events == []
    assert both_ways(without) == events() + plain()


def test_a_name_may_fill_its_field():
    name = b"a_name_of_thirty_two_characters_"
    document, _ = read(plain(bones=(name, b"Spine")))
    assert len(name) == 32
    assert document.bones == [name.decode(), "Spine"]
    assert both_ways(document) == plain(bones=(name, b"Spine"))


def test_a_frame_may_name_the_bones_in_another_order():
    data = bytearray(plain())
    first = 28 + 64 + 4
    names = slice(first, first + 32), slice(first + 80, first + 112)
    data[names[0]], data[names[1]] = field(b"SPINE"), field(b"pelvis")
    document, report = read(bytes(data))
    assert "other bone names or another order than the file: 1 frame, the first 0" in report.lines()[0]
    assert both_ways(document) == data
    clip = rtm.decode(document, Report())
    np.testing.assert_array_equal(clip.deltas[0, 0], clip.deltas[1, 1])
    np.testing.assert_array_equal(clip.deltas[1, 0], np.eye(4))
    assert rtm.encode_plain(clip, document)[0] is document
    clip.deltas[0, 0, 0, 3] += 1  # the pelvis, which stands second in that frame
    changed = rtm.write(rtm.encode_plain(clip, document)[0])
    position = first + 80 + 32 + 36
    assert changed[:position] == data[:position]
    assert struct.unpack_from("<f", changed, position)[0] == 1.25
    assert changed[position + 4 :] == data[position + 4 :]


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_field_of_a_binarised_file(version):
    keys = [(0, b"StepSound", 0.25, b""), (-1, b"Test", 0.5, b"Prop")] if version >= 4 else []
    data = binarised(version, keys=keys)
    document, report = read(data)
    assert not report
    assert (document.version, document.turned, document.preload, document.first_frame_bones) == (version, 1, 1, 2)
    assert document.bones == ["pelvis", "spine"]
    assert document.step.tolist() == [0.0, 0.0, -1.5]
    assert document.phases.tolist() == [0.0, 1.0]
    assert document.transforms.shape == (2, 2)
    assert document.transforms["rotation"][1, 1].tolist() == [0, 11585, 0, 11585]
    assert document.transforms["translation"][1, 1].tolist() == [0.25, 0.5, -0.75]
    assert [(event.kind, event.name, event.phase, event.value) for event in document.events] == keys
    assert both_ways(document) == data
    assert rtm.raw_size(document) == 0


@pytest.mark.parametrize(("version", "method"), [(2, lzss), (3, lzo), (4, lzo), (5, lzo)])
def test_arrays_from_a_kilobyte_on_are_compressed_in_old_versions(version, method):
    bones = tuple(b"b%d" % number for number in range(74))  # 1036 bytes a frame
    rows = b"".join(transform(translation=(number / 64, 0, 0)) for number in range(74))
    packed = method.stored(rows)
    data = binarised(version, bones, frames=[bytearray(array(version, 74, rows, packed))] * 2)
    document, report = read(data)
    assert report.lines() == ["compressed arrays: 2 of 3"]
    assert document.transforms["translation"][1, 73, 0] == np.float16(73 / 64)
    assert both_ways(document) == data
    document.blocks = [b"", b""]
    written = rtm.write(document)
    assert written == (data if version < 5 else binarised(version, bones, frames=[rows] * 2))
    one_less = binarised(version, bones[:73], frames=[rows[: 73 * 14]] * 2)
    assert read(one_less)[1].lines() == []


def test_a_kept_block_that_says_something_else_is_not_composed_again():
    rows = transform() + transform()
    document, _ = read(binarised(frames=[bytearray(array(5, 2, rows, lzo.stored(rows)))] * 2))
    document.transforms["translation"][1, 1, 0] = 3
    again, _ = read(rtm.recompose(document))
    assert again.transforms["translation"][1, 1, 0] == 3
    assert (len(again.blocks[0]), len(again.blocks[1])) == (len(lzo.stored(rows)), 0)


@pytest.mark.parametrize("file", corpus_files("rtm_binarised/*.rtm"))
def test_arrays_written_again_say_the_same(file):
    document, _ = read(file.read_bytes(), file.name)
    again, report = read(rtm.write(document.unpacked()))
    assert not report
    assert again.version == 5
    assert again.transforms.tobytes() == document.transforms.tobytes()
    assert again.phases.tobytes() == document.phases.tobytes()
    assert again.bones == document.bones


@given(
    bones=st.integers(0, 5),
    frames=st.integers(0, 5),
    seed=st.integers(0, 2**32 - 1),
    mark=st.sampled_from([b"RTM_0101", b"RTM_0100"]),
    tail=st.binary(max_size=3),
)
def test_whatever_the_numbers_are_they_come_back(bones, frames, seed, mark, tail):
    """NaNs of every kind, names of any bytes, no bones, no frames."""
    random = np.random.default_rng(seed)
    data = mark + random.bytes(12 if mark == b"RTM_0101" else 4) + struct.pack("<II", frames, bones)
    data += random.bytes(32 * bones + frames * (4 + 80 * bones)) + tail
    document, _ = read(data)
    assert both_ways(document) == data
    assert list(Walk(rtm.VIEWS).differences(document, document)) == []


SMALL = [plain(), plain(mark=b"RTM_0100"), events((0.5, b"a", b"b")) + plain(), binarised(keys=[(0, b"a", 0.5, b"b")])]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"RTM_0099" + bytes(40), "not an animation of Operation Flashpoint"),
        (b"ODOL" + bytes(40), "not an animation"),
        (b"BMTR" + struct.pack("<I", 6) + bytes(60), "version 6 are unknown"),
        (b"RTM_MDAT" + struct.pack("<II", 0, 0) + b"RTM_MDAT", "begins with"),
        (binarised()[:-29] + b"\7" + binarised()[-28:], "compression 7 is unknown"),
        (binarised(frames=[bytearray(array(5, 3, transform() * 3))] * 2), "3 entries are declared, 2 are expected"),
    ],
    ids=["future", "model", "version", "events twice", "compression", "count"],
)
def test_no_animation_at_all(data, sentence):
    with pytest.raises(ReadError, match=sentence) as refusal:
        read(data)
    assert refusal.value.remedy


MANY = 0xFFFF_FFFF
HOSTILE = {
    "frames": b"RTM_0101" + bytes(12) + struct.pack("<II", MANY, 1) + field(b"a") + bytes(800),
    "frames of no bones": b"RTM_0101" + bytes(12) + struct.pack("<II", MANY, 0) + bytes(800),
    "bones": b"RTM_0101" + bytes(12) + struct.pack("<II", 1, MANY) + bytes(800),
    "frames and bones": b"RTM_0101" + bytes(12) + struct.pack("<II", MANY, MANY) + bytes(800),
    "bones without frames": b"RTM_0101" + bytes(12) + struct.pack("<II", 0, MANY) + bytes(800),
    "events": b"RTM_MDAT" + struct.pack("<II", 0, MANY) + bytes(800),
    "binarised frames": b"BMTR" + struct.pack("<IB3f4I", 5, 1, 0, 0, 0, MANY, 0, 0, 0) + bytes(800),
    "binarised bones": b"BMTR" + struct.pack("<IB3f4I", 5, 1, 0, 0, 0, 0, 0, 0, MANY) + b"a" * 800,
    "meta": b"BMTR" + struct.pack("<IB3f4I", 5, 1, 0, 0, 0, 0, 0, 0, 0) + struct.pack("<II", MANY, 0) + b"a" * 800,
    "keys": b"BMTR" + struct.pack("<IB3f4I", 5, 1, 0, 0, 0, 0, 0, 0, 0) + struct.pack("<II", 0, MANY) + bytes(800),
    "compressed phases": b"BMTR"
    + struct.pack("<IB3f4I", 3, 1, 0, 0, 0, MANY, 0, 0, 0)
    + struct.pack("<I", MANY)
    + bytes(800),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_four_billion_of_anything_cost_nothing(data):
    verdict = verify(data, "hostile.rtm")  # which also loads modules, whose memory is not meant
    assert verdict.status is Status.REFUSED
    assert memory_peak(lambda: verify(data, "hostile.rtm")) < 200_000


def test_a_bomb_of_compressed_zeros_stays_within_its_frames():
    """1 MiB is said to lie in a stream of a few bytes: refused before anything is made; within 256 it is made."""
    size = 14 * 80_000
    bones = b"".join(b"\0" for _ in range(80_000))
    zeros = bytes((18, 0)) + bytes((32,)) + bytes((size - 1 - 33) // 255) + bytes((((size - 1 - 33) % 255) or 255,))
    head = b"BMTR" + struct.pack("<IB3f4I", 5, 1, 0, 0, 0, 1, 0, 80_000, 80_000) + bones + bytes(8)
    frame = struct.pack("<IB", 80_000, 2)
    phases = array(5, 1, bytes(4))
    with pytest.raises(ReadError, match="bytes remain in the file"):
        read(head + phases + frame + zeros[:40])
    with pytest.raises(ReadError):
        read(head + phases + frame + zeros)


def test_no_frames_is_read_with_a_warning():
    for data in (plain(phases=()), binarised(phases=())):
        document, report = read(data)
        assert report.lines() == ["the animation has no frames"]
        assert both_ways(document) == data


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinite_values_are_reported_and_kept(value):
    """By whoever reads the file: `verify` and `info` too."""
    odd = (*MOVED[:11], value)
    created = {
        "matrices: 1": plain(matrices=[[IDENTITY, odd], [IDENTITY, MOVED]]),
        "phases: 1": plain(phases=(0.0, value)),
        "step: 1": plain(step=(value, 0.0, 0.0)),
        "events: 2": events((value, b"a", b""), (value, b"b", b"")) + plain(),
    }
    frame = transform(translation=(value, 0.0, value)) + transform()
    created |= {"matrices: 4": binarised(frames=[frame] * 2), "events: 1": binarised(keys=[(0, b"a", value, b"")])}
    for position, data in created.items():
        document, report = read(data)
        assert report.lines() == [f"{NOT_FINITE} ({position})"]
        assert both_ways(document) == data
        assert verify(data, "x.rtm").warnings == (f"{NOT_FINITE} ({position})",)


def test_odd_heads_of_binarised_files_are_reported_and_kept():
    data = bytearray(binarised(turned=0))
    struct.pack_into("<I", data, 29, 7)
    document, report = read(bytes(data))
    assert report.lines() == [
        "the first frame declares 7 bones, the others 2; kept",
        "the direction is 0; every known file has 1 (axes rotated by 180°)",
    ]
    assert both_ways(document) == data


def test_text_of_a_plain_file():
    document, _ = read(events((0.5, b"StepSound", b""), (0.75, b"a", b"b")) + plain())
    assert rtm.describe(document) == [
        "plain, 2 frames of 2 bones, step 0.0 0.0 -1.5",
        "phases 0.0 to 1.0",
        "bones: Pelvis, Spine",
        "events: 'StepSound' at 0.5, 'a' 'b' at 0.75",
    ]
    lines = list(Walk(rtm.VIEWS).dump(document))
    assert "  frame 0 0.0 0.0 -1.0 0.0 1.0 0.0 1.0 0.0 0.0 0.25 0.5 -0.75" in lines
    assert lines[5:14] == [
        "events count 2",
        "events 0",
        "  phase 0.5",
        "  name 'StepSound'",
        "  value ''",
        "  kind 0",
        "events 1",
        "  phase 0.75",
        "  name 'a'",
    ]
    assert lines[:3] == ["mark 'RTM_0101'", "properties version 0", "step 0.0 0.0 -1.5"]
    assert list(Walk(rtm.VIEWS).dump(read(plain())[0]))[1] == "step 0.0 0.0 -1.5"


def test_text_of_a_binarised_file():
    document, _ = read(binarised())
    assert rtm.describe(document)[0] == "binarised, version 5, 2 frames of 2 bones, step 0.0 0.0 -1.5"
    assert "  frame 1 0 11585 0 11585 | 0.25 0.5 -0.75" in list(Walk(rtm.VIEWS).dump(document))


def test_what_differs():
    entry, _ = read(plain())
    other, _ = read(plain(phases=(0.0, 0.5), matrices=[[IDENTITY, MOVED], [IDENTITY, (*MOVED[:9], 0.25, 0.5, -1)]]))
    assert list(Walk(rtm.VIEWS).differences(entry, other)) == [
        "phases: 0.0 1.0 / 0.0 0.5",
        "bone 'Spine': frame 1, by at most 0.25",
    ]
    assert list(Walk(rtm.VIEWS).differences(entry, read(plain(step=(0, 0, 1)))[0])) == [
        "step: 0.0 0.0 -1.5 / 0.0 0.0 1.0"
    ]
    names = list(Walk(rtm.VIEWS).differences(entry, read(plain(bones=(b"Pelvis", b"Spine1")))[0]))
    assert names == ["bone 'Spine' is only in the first", "bone 'Spine1' is only in the second"]
    turned = plain(bones=(b"SPINE", b"Pelvis"), matrices=[[MOVED, IDENTITY], [MOVED, MOVED]])
    assert list(Walk(rtm.VIEWS).differences(entry, read(turned)[0])) == [
        "the bones are in another order",
        "bone 'Pelvis': frame 1, by at most 1",
        "bone 'Spine' is now called 'SPINE'",
        "bone 'Spine': names in the frames: 2 of 2 frames differ, first 0",
    ]
    assert next(Walk(rtm.VIEWS).differences(entry, read(binarised())[0])) == "plain / binarised"
    assert list(
        Walk(rtm.VIEWS).differences(read(binarised())[0], read(binarised(frames=[transform() * 2] * 2))[0])
    ) == [
        "bone 'spine' rotation: 2 of 2 frames differ, first 0: 0 11585 0 11585 / 0 0 0 16384",
        "bone 'spine' translation: 2 of 2 frames differ, first 0: 0.25 0.5 -0.75 / 0.0 0.0 0.0, by at most 0.75",
    ]
