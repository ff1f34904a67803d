"""Bytes <-> document: annotated bytes, every real file, and bytes that are no motions at all."""

import re
import struct
import zlib

import numpy as np
import pytest

from addon.core.binary import Reader
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import omf
from addon.formats.xray.chunks import Chunk
from addon.formats.xray.omf.codec import read_parameters
from addon.formats.xray.omf.document import Track, TrackFlag, checksum, track_layout
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk

KEYS = bytes.fromhex("0100 0200 0300 ff7f  0180 feff 0000 0100".replace(" ", ""))
WIDE = bytes.fromhex("0100 0200 0300  ffff feff 0080".replace(" ", ""))
NARROW = bytes((1, 2, 3, 255, 254, 128))


def crc(keys: bytes) -> bytes:
    return struct.pack("<I", zlib.crc32(keys))


# Two frames, a track of each layout.
TRACKS = {
    0: (
        b"\x00"  # flags: rotation keys, one translation
        + crc(KEYS)
        + KEYS  # x y z w, twice
        + struct.pack("<3f", 1.0, 2.0, 3.0)  # metres
    ),
    2: (
        b"\x02"  # one rotation, one translation
        + bytes.fromhex("0000 0000 0000 ff7f".replace(" ", ""))  # the identity
        + struct.pack("<3f", 0.0, 0.5, 0.0)
    ),
    1: (
        b"\x01"  # rotation keys, 8-bit translation keys
        + crc(KEYS)
        + KEYS
        + crc(NARROW)
        + NARROW
        + struct.pack("<3f", 0.5, 0.25, 0.125)  # size
        + struct.pack("<3f", 1.0, 2.0, 3.0)  # init
    ),
    7: (
        b"\x07"  # one rotation, 16-bit translation keys
        + KEYS[:8]
        + crc(WIDE)
        + WIDE
        + struct.pack("<6f", 0.5, 0.25, 0.125, 1.0, 2.0, 3.0)
    ),
    6: b"\x06" + KEYS[:8] + struct.pack("<3f", 1.0, 2.0, 3.0),  # bit 4 without keys means nothing, and stays
    9: (
        b"\x09"  # float keys
        + crc(struct.pack("<8f", *range(8)))
        + struct.pack("<8f", *range(8))
        + crc(struct.pack("<6f", *range(6)))
        + struct.pack("<6f", *range(6))
    ),
}


HUGE = struct.pack("<I", 0xFFFFFFFF)


def motion(name: bytes, *tracks: bytes, frames: int = 2) -> bytes:
    return name + b"\0" + struct.pack("<I", frames) + b"".join(tracks)


def definition(name: bytes, number: int, marks: bytes | None = None) -> bytes:
    return (
        name
        + b"\0"
        + struct.pack("<I", 2)  # flags: stop at end
        + struct.pack("<HH", 0xFFFF, number)  # all partitions, motion
        + struct.pack("<4f", 1.0, 0.5, 2.0, 3.0)  # speed, power, accrue, falloff
        + (marks if marks is not None else b"")
    )


def parameters(version: int, bones: list[bytes], definitions: list[bytes]) -> bytes:
    entries = {
        1: lambda position, bone: struct.pack("<I", position),
        2: lambda position, bone: bone + b"\0",
        3: lambda position, bone: bone + b"\0" + struct.pack("<I", position),
        4: lambda position, bone: bone + b"\0" + struct.pack("<I", position),
    }[version]
    return (
        struct.pack("<HH", version, 1)  # one partition
        + b"body\0"
        + struct.pack("<H", len(bones))
        + b"".join(entries(index, bone) for index, bone in enumerate(bones))
        + struct.pack("<H", len(definitions))
        + b"".join(definitions)
    )


def omf_file(motions: list[bytes], parameter_bytes: bytes) -> bytes:
    bodies = [chunk(number, body) for number, body in enumerate(motions, 1)]
    return chunk(0xE, chunk(0, struct.pack("<I", len(motions))), *bodies) + chunk(0xF, parameter_bytes)


SMALL = omf_file(
    [motion(b"walk", *TRACKS.values())],
    parameters(
        4,
        [f"bone{index}".encode() for index in range(len(TRACKS))],
        [
            definition(
                b"walk",
                0,
                struct.pack("<I", 2)
                + b"Left\r\n"
                + struct.pack("<I2f", 1, 0.25, 0.5)
                + b"Right\n"  # third-party tools end the line like this
                + struct.pack("<I", 0),
            )
        ],
    ),
)

read = reading(omf, "test.omf")


def test_every_field_of_a_small_file() -> None:
    document, _ = read(SMALL)
    (walk,) = document.motion_set.library.motions
    assert (walk.name, walk.frames, walk.track_count) == (b"walk", 2, len(TRACKS))
    tracks = [walk.track(index) for index in range(walk.track_count)]
    assert [track.flags for track in tracks] == [0, 2, 1, 7, 6, 9]
    assert tracks[0].rotation.tolist() == [[1, 2, 3, 32767], [-32767, -2, 0, 1]]
    assert tracks[0].translation.tolist() == [[1.0, 2.0, 3.0]]
    assert tracks[1].rotation.tolist() == [[0, 0, 0, 32767]]
    assert tracks[1].rotation_crc is None
    assert tracks[2].translation.tolist() == [[1, 2, 3], [-1, -2, -128]]
    assert tracks[2].size.tolist() == [0.5, 0.25, 0.125]
    assert tracks[2].init.tolist() == [1.0, 2.0, 3.0]
    assert tracks[3].translation.tolist() == [[1, 2, 3], [-1, -2, -32768]]
    assert tracks[3].translation_crc == zlib.crc32(WIDE)
    assert tracks[5].rotation.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert tracks[5].translation.tolist() == [[0, 1, 2], [3, 4, 5]]
    (play,) = document.motion_set.parameters.definitions
    assert (play.flags, play.bone_or_part, play.motion, play.timing.tolist()) == (2, 0xFFFF, 0, [1.0, 0.5, 2.0, 3.0])
    assert [(mark.name, mark.line_end, mark.intervals.tolist()) for mark in play.marks] == [
        (b"Left", b"\r\n", [[0.25, 0.5]]),
        (b"Right", b"\n", []),
    ]


@pytest.mark.parametrize("flags", list(TRACKS))
def test_a_track_is_composed_of_its_fields(flags: int) -> None:
    document, _ = read(SMALL)
    index = list(TRACKS).index(flags)
    assert document.motion_set.library.motions[0].track(index).compose() == TRACKS[flags]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_parameters_of_every_version(version: int) -> None:
    marks = struct.pack("<I", 0) if version == 4 else b""
    data = omf_file([motion(b"run", TRACKS[2])], parameters(version, [b"root"], [definition(b"run", 0, marks)]))
    document, report = read(data)
    assert not report.warnings
    (bone,) = document.motion_set.parameters.partitions[0].bones
    assert bone.name == (None if version == 1 else b"root")
    assert bone.track == (None if version == 2 else 0)
    assert omf.recompose(document) == data


def test_partitions_without_names_are_read_and_reported() -> None:
    body = bytearray(parameters(1, [b"a", b"b"], [definition(b"run", 0, struct.pack("<I", 0))]))
    body[:2] = struct.pack("<H", 4)  # the version promises names, the entries are bare numbers
    data = omf_file([motion(b"run", TRACKS[2], TRACKS[2])], bytes(body))
    document, report = read(data)
    assert "without names" in report.lines()[0]
    assert [bone.track for bone in document.motion_set.parameters.partitions[0].bones] == [0, 1]
    assert omf.write(document) == data


def test_partitions_without_names_that_also_parse_with_names_and_a_rest() -> None:
    """Small numbers begin with a byte and a zero: as names they parse too, but leave bytes behind."""
    body = struct.pack("<HH", 4, 1) + b"default\0" + struct.pack("<H4I", 4, 1, 0, 2, 3)
    body += struct.pack("<H", 1) + definition(b"a", 0, struct.pack("<I", 0))
    data = omf_file([motion(b"a", *[TRACKS[2]] * 4)], body)
    document, report = read(data)
    assert "without names" in report.lines()[0]
    (partition,) = document.motion_set.parameters.partitions
    assert [(bone.name, bone.track) for bone in partition.bones] == [(None, 1), (None, 0), (None, 2), (None, 3)]
    assert [own_definition.name for own_definition in document.motion_set.parameters.definitions] == [b"a"]
    assert omf.write(document) == omf.recompose(document) == data


@pytest.mark.parametrize("junk", [b"junk", bytes(4), bytes(128), 32 * b"\1\0\0\0"])
def test_a_tail_that_no_layout_explains_stays_a_tail(junk: bytes) -> None:
    bones = [b"wpn_body", b"magazine", b"bolt", b"trigger"]
    body = parameters(4, bones, [definition(b"a", 0, struct.pack("<I", 0))]) + junk
    reader = Reader(body, "a.ogf")
    assert bytes(read_parameters(reader, Report()).tail) == junk
    assert not reader.rest()
    data = omf_file([motion(b"a", *4 * [TRACKS[2]])], body)
    document, report = read(data)
    assert bytes(document.motion_set.parameters.tail) == junk
    assert report.lines() == [f"{len(junk)} extra bytes after the motion parameters; kept (0xF)"]
    assert omf.write(document) == omf.recompose(document) == data


def test_a_broken_definition_is_not_taken_for_a_partition_without_names() -> None:
    """Read as bare numbers, nearly anything is a few partitions and a rest: the rest gives it away."""
    data = omf_file([motion(b"run", TRACKS[2])], parameters(4, [b"b"], [definition(b"run", 0, HUGE)]))
    with pytest.raises(ReadError, match="4294967295 entries need at least 21474836475 bytes, 0 bytes are left"):
        read(data)


def test_frames_that_no_memory_holds_are_reported_and_kept() -> None:
    data = omf_file([motion(b"run", TRACKS[2], frames=0xFFFF_FFFF)], parameters(3, [b"b"], [definition(b"run", 0)]))
    document, report = read(data)
    assert report.lines() == ["motions declare more frames than their data can hold; they cannot be imported (run)"]
    assert omf.write(document) == data


def test_chunks_in_another_order_and_unknown_ones_stay_where_they_are() -> None:
    motions = chunk(
        0xE,
        chunk(2, motion(b"b", TRACKS[2])),
        chunk(77, b"?"),
        chunk(1, motion(b"a", TRACKS[2])),
        chunk(0, b"\2\0\0\0"),
    )
    marks = struct.pack("<I", 0)
    play = chunk(0xF, parameters(4, [b"root"], [definition(b"a", 0, marks), definition(b"b", 1, marks)]))
    data = chunk(0x99, b"first") + play + motions + play + b"tail"
    document, report = read(data)
    assert [entry.name for entry in document.motion_set.library.motions] == [b"a", b"b"]
    assert omf.write(document) == data
    assert omf.raw_size(document) == len(b"first") + len(b"?") + len(play) - 8 + len(b"tail")
    assert any("extra bytes" in line for line in report.lines())
    assert any("not readable as a motion" in line for line in report.lines())


def test_wrong_checksums_are_kept_and_reported() -> None:
    broken = bytearray(TRACKS[1])
    broken[1] ^= 1
    data = omf_file([motion(b"walk", bytes(broken))], parameters(3, [b"root"], [definition(b"walk", 0)]))
    document, report = read(data)
    assert report.lines() == ["the checksum of rotation keys is wrong; kept (ignored by the game) (walk)"]
    assert omf.recompose(document) == data


@pytest.mark.parametrize(("count", "misread"), [(9, 0), (10, 1), (11, 0), (12, 0), (13, 1), (266, 1), (267, 0)])
def test_counts_of_intervals_that_the_game_misreads_are_reported(count: int, misread: int) -> None:
    # The engine takes a first byte of 10 or 13 for the end of the mark's name.
    marks = struct.pack("<I", 1) + b"Left\r\n" + struct.pack("<I", count) + bytes(8 * count)
    data = omf_file([motion(b"walk", TRACKS[2])], parameters(4, [b"root"], [definition(b"walk", 0, marks)]))
    document, report = read(data)
    assert [f"{count} intervals" in line for line in report.lines()] == [True] * misread
    assert len(document.motion_set.parameters.definitions[0].marks[0].intervals) == count
    assert omf.write(document) == data


@pytest.mark.parametrize("flags", range(16))
def test_integer_keys_that_would_be_nan_as_floats_are_not_reported(flags: int) -> None:
    floats, keyed = flags & TrackFlag.FLOAT_KEYS, flags & TrackFlag.TRANSLATION_KEYS
    rotation = np.full(
        (1 if flags & TrackFlag.SINGLE_ROTATION else 2, 4), 0 if floats else -1, "<f4" if floats else "<i2"
    )
    kind = track_layout(flags, 2)["translation"].base
    translation = np.full((2 if keyed else 1, 3), 0 if kind == np.float32 else -1, kind)
    size = np.zeros(3, "<f4") if keyed and not floats else None
    crcs = None if flags & TrackFlag.SINGLE_ROTATION else checksum(rotation), checksum(translation) if keyed else None
    track = Track(flags, rotation, translation, size, size, *crcs).compose()
    assert not read(omf_file([motion(b"walk", *2 * [track])], parameters(3, [b"a", b"b"], [definition(b"walk", 0)])))[
        1
    ].warnings


def test_nan_keys_and_parameters_come_back_bit_for_bit() -> None:
    odd = bytes.fromhex("0100a07f")  # a signalling NaN, which a Python float would quieten
    data = omf_file(
        [motion(b"walk", b"\x02" + KEYS[:8] + odd * 3)],
        parameters(3, [b"root"], [b"walk\0" + bytes(8) + odd * 4]),
    )
    assert omf.recompose(read(data)[0]) == data


@pytest.mark.parametrize("data", [b"", b"\n", b"plain text, no motions\n" * 40, bytes(64), b"\xff" * 64])
def test_no_motions_at_all(data: bytes) -> None:
    with pytest.raises(ReadError) as refusal:
        read(data)
    assert str(refusal.value).startswith("test.omf")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (chunk(0xE, b""), "chunk 0xe (motions) is empty. The file is damaged"),
        (
            chunk(0xF, parameters(3, [b"a"], [])),
            "no chunk 0xe (motions); found: 0xf. Check that this is an .omf of S.T.A.L.K.E.R. and that",
        ),
        (
            chunk(0xE, chunk(0, bytes(4))) + chunk(0xF, b""),
            "chunk 0xf (motion parameters) is empty. The file is damaged",
        ),
        (chunk(0x80000E, bytes(9)), "no chunk 0xe (motions); found: 0x80000e. A mod's own tool has encrypted it"),
        (b"\x0e\0\0", "no chunk 0xe (motions); found: none"),
    ],
)
def test_what_is_missing_is_reported(data: bytes, words: str) -> None:
    with pytest.raises(ReadError, match=re.escape(words)):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(chunk(0xE, chunk(0, HUGE)) + chunk(0xF, parameters(3, [b"a"], [])), id="motions"),
        pytest.param(
            omf_file([b"walk\0" + HUGE + TRACKS[0]], parameters(3, [b"a"], [definition(b"walk", 0)])), id="frames"
        ),
        pytest.param(omf_file([], parameters(4, [b"a"], [definition(b"walk", 0, HUGE)])), id="marks"),
        pytest.param(
            omf_file([], parameters(4, [b"a"], [definition(b"walk", 0, struct.pack("<I", 1) + b"L\r\n" + HUGE)])),
            id="intervals",
        ),
        pytest.param(omf_file([], b"\4\0\xff\xff" + bytes(100)), id="partitions"),
        pytest.param(omf_file([], b"\4\0\1\0p\0\xff\xff" + bytes(100)), id="bones"),
        pytest.param(omf_file([], b"\4\0\0\0\xff\xff" + bytes(100)), id="definitions"),
    ],
)
def test_four_billion_of_anything_is_an_error_or_faithful(data: bytes) -> None:
    try:
        document, report = read(data)
    except ReadError:
        return
    assert report.warnings
    assert omf.write(document) == data


def test_a_thousand_levels_of_nesting_are_just_bytes() -> None:
    body = b""
    for _ in range(1000):
        body = chunk(1, body)
    data = chunk(0xE, body) + chunk(0xF, parameters(3, [b"a"], []))
    document, report = read(data)
    assert report.warnings
    assert omf.write(document) == data


def test_reading_copies_no_keys(corpus) -> None:
    data = (corpus / "omf" / "human_smart_cover.omf").read_bytes()
    document, _ = read(data)
    whole = np.frombuffer(data, np.uint8)
    for entry in document.motion_set.library.motions[:3]:
        assert np.shares_memory(entry.track(0).rotation, whole)


def test_strange_entries_of_the_library_stay_chunks() -> None:
    data = omf_file([b"no end of the name"], parameters(3, [b"a"], []))
    document, report = read(data)
    assert isinstance(document.motion_set.library.entries[1], Chunk)
    assert len(report.lines()) >= 2
    assert omf.write(document) == data
    assert omf.raw_size(document) == len(b"no end of the name")


def test_flags_are_named_as_the_engine_has_them() -> None:
    assert [flag.value for flag in TrackFlag] == [1, 2, 4, 8]
