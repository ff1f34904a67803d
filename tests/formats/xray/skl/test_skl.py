"""The editor's motions: annotated bytes of four versions, real files, bones' axes against plain matrices, edits."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from addon.core import rotation, space
from addon.core.envelope import Curve, Envelope, Shape, evaluate_curve
from addon.core.errors import ReadError, WriteError
from addon.core.model import Channels, CurveClip, Marker, Skeleton
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import skl
from addon.formats.xray.envelopes import BONE, stored
from addon.formats.xray.omf.document import TIMING as OMF_TIMING
from addon.formats.xray.skl import TIMING, rest_track
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk
from tests.real_files import corpus_files


def head(version, name=b"walk"):
    return name + b"\0" + struct.pack("<iifH", -2, 10, 30.0, version)


TIMES = struct.pack("<4f", 1.5, 2.0, 3.0, 0.5)  # speed, accrue, falloff, power: another order than in an .omf
OLD_KEYS = struct.pack("<iiI", 1, 1, 1) + struct.pack("<2fI7f", 0.25, 0.0, 4, *[0.0] * 7)
NEW_KEYS = struct.pack("<BBH", 1, 1, 1) + struct.pack("<2fB", 0.25, 0.0, 4)
MARKS = struct.pack("<I", 1) + b"Left\r\n" + struct.pack("<I2f", 1, 0.25, 0.5)
MOTIONS = {
    4: head(4)
    + struct.pack("<I", 0xFFFF_FFFF)  # bone or part
    + b"\1\1"  # FX, stop at end
    + TIMES
    + struct.pack("<I", 2)  # bones, without names
    + (struct.pack("<I", 0) + OLD_KEYS * 6) * 2,
    5: head(5)
    + struct.pack("<II", 2, 0)  # flags, bone or part
    + TIMES
    + struct.pack("<I", 2)
    + b"".join(name + b"\0" + struct.pack("<I", 1) + OLD_KEYS * 6 for name in (b"root", b"arm")),
    6: head(6)
    + struct.pack("<BH", 2, 0xFFFF)
    + TIMES
    + struct.pack("<H", 2)
    + b"".join(name + b"\0" + b"\0" + NEW_KEYS * 6 for name in (b"root", b"arm")),
    7: head(7)
    + struct.pack("<BH", 0x80, 1)
    + TIMES
    + struct.pack("<H", 2)
    + b"".join(name + b"\0" + b"\0" + NEW_KEYS * 6 for name in (b"root", b"arm"))
    + MARKS,
}


def single(version):
    return chunk(0x1200, MOTIONS[version])


LIST = struct.pack("<I", 4) + b"".join(MOTIONS.values())

read = reading(skl, "test.skl")


@pytest.mark.parametrize(("version", "flags", "part"), [(4, 3, 0xFFFF_FFFF), (5, 2, 0), (6, 2, 0xFFFF), (7, 0x80, 1)])
def test_every_field_of_each_version(version, flags, part):
    document, _ = read(single(version))
    (motion,) = document.motions
    assert (motion.name, motion.first, motion.last, motion.fps) == (b"walk", -2, 10, 30.0)
    assert (motion.version, motion.flags, motion.bone_or_part) == (version, flags, part)
    assert dict(zip(TIMING, motion.timing.tolist(), strict=True)) == {
        "speed": 1.5,
        "accrue": 2.0,
        "falloff": 3.0,
        "power": 0.5,
    }
    assert [track.name for track in motion.tracks] == ([None, None] if version == 4 else [b"root", b"arm"])
    assert [mark.label for mark in motion.marks] == (["Left"] if version == 7 else [])
    assert motion.tracks[1].envelopes[5].keys["value"].tolist() == [0.25]


def test_odd_bytes_of_version_4_are_kept_until_the_flags_change():
    data = single(4).replace(b"\1\1" + TIMES, b"\2\0" + TIMES)
    document, _ = read(data)
    assert document.motions[0].flags == skl.FX
    assert skl.write(document) == data
    document.motions[0].flags = skl.STOP_AT_END
    assert skl.write(document) == data.replace(b"\2\0" + TIMES, b"\0\1" + TIMES)
    document.motions[0].flags = 4
    with pytest.raises(WriteError, match="version 4 has no such flags"):
        skl.write(document)


def test_the_timing_is_in_another_order_than_in_an_omf():
    assert sorted(TIMING) == sorted(OMF_TIMING)
    assert TIMING != OMF_TIMING


def test_a_list_is_a_count_and_motions():
    document, _ = read(LIST, "test.skls")
    assert [motion.version for motion in document.motions] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\xff" * 4 + bytes(200), "a.skls"),
        (chunk(0x1200, head(6) + struct.pack("<BH", 0, 0) + TIMES + b"\xff\xff" + bytes(100)), "a.skl"),
        (chunk(0x1200, head(5) + struct.pack("<II", 0, 0) + TIMES + b"\xff" * 4 + bytes(100)), "a.skl"),
        (chunk(0x1200, head(8)), "a.skl"),
        (chunk(0x99, b"?"), "a.skl"),
        (LIST, "a.skl"),
    ],
)
def test_four_billion_of_anything_and_other_things_are_refused(data, name):
    with pytest.raises(ReadError) as refusal:
        read(data, name)
    assert str(refusal.value).startswith(name)


def engine_matrix(p, h, b):
    """setXYZi of P, H, B in column form: Ry(H)·Rx(P)·Rz(B), from plain sines."""

    def quaternion(axis, angle):
        result = np.eye(3)
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        result[i, i] = result[j, j] = np.cos(angle)
        result[j, i], result[i, j] = np.sin(angle), -np.sin(angle)
        return result

    return quaternion(1, h) @ quaternion(0, p) @ quaternion(2, b)


def motion_of(values, shape=Shape.LINEAR, version=6):
    """One bone with the channel values (keys, 6), a key a frame."""
    envelopes = [
        stored(Envelope.of(np.arange(len(values)) / 30, column, np.full(len(values), shape, np.uint8)), to_packed=True)
        for column in np.asarray(values, float).T
    ]
    track = skl.BoneTrack(b"arm", 0, envelopes)
    return skl.SkeletalMotion(
        b"walk", 0, len(values) - 1, np.float32(30), version, 0, 0xFFFF, np.ones(4, "<f4"), [track]
    )


def test_a_bones_channels_are_its_parent_local_transform_mirrored():
    random = np.random.default_rng(1)
    values = random.uniform(-1.4, 1.4, (20, 6))
    clip = skl.decode(skl.new_skls([motion_of(values)]), Report())[0]
    assert clip.rotation_order == "ZXY"
    times = (np.arange(20) / 30).astype(np.float32)
    actual = np.stack([evaluate_curve(curve, times) for curve in clip.tracks[0]], axis=1)
    mirror = np.diag([1.0, 1, -1])
    rotations = rotation.matrices(rotation.of_mode(actual[:, 3:], clip.rotation_order))
    for frame, (x, y, z, h, p, b) in enumerate(values):
        np.testing.assert_allclose(rotations[frame], mirror @ engine_matrix(p, h, b) @ mirror, atol=1e-6)
        np.testing.assert_allclose(actual[frame, :3], mirror @ [x, y, z], atol=1e-6)
    assert sorted(BONE.channels) == list(range(6))


def through_blender(clip):
    scale = np.array([clip.fps, 1.0])
    tracks = []
    for track in clip.tracks:
        curves = []
        for curve in track:
            parts = [(part * scale).astype(np.float32) / scale for part in (curve.keys, curve.left, curve.right)]
            curves.append(Curve(*parts, curve.interpolation.copy()))
        tracks.append(Channels(curves[:3], curves[3:]))
    return CurveClip(clip.name, clip.bones, tracks, clip.fps, clip.first, clip.last, markers=clip.markers)


@pytest.mark.parametrize("file", corpus_files("skl", "skls"))
def test_real_motions_through_blenders_numbers_are_unedited(file):
    document, _ = read(file.read_bytes(), file.name)
    report = Report()
    clips = skl.decode(document, report)
    assert not report
    again, changes = skl.encode([through_blender(clip) for clip in clips], document)
    assert again is document
    assert changes.unchanged == len(clips)
    assert not changes.parts


@pytest.mark.parametrize("file", corpus_files("skls/unarmed.skls"))
def test_one_edited_key_changes_its_own_bytes_alone(file):
    data = file.read_bytes()
    document, _ = read(data, file.name)
    clips = [through_blender(clip) for clip in skl.decode(document, Report())]
    curve = clips[0].tracks[5].rotation[0]
    for part in (curve.keys, curve.left, curve.right):
        part[7, 1] += 0.5
    again, changes = skl.encode(clips, document)
    written = skl.write(again)
    assert len(written) == len(data)
    assert 1 <= sum(a != b for a, b in zip(data, written, strict=True)) <= 4
    (change,) = changes.parts
    assert [channel.name for channel in change.items] == [f"{clips[0].bones[5]} P"]
    assert changes.sentence() == "1 motion, 1 channel changed, 0 unchanged"


def skeleton():
    angles = np.array([[0.1, 0.2, 0.3], [0.5, -0.25, 1.0]])
    return Skeleton(
        "rig",
        ["root", "arm"],
        np.array([-1, 0], np.int32),
        space.xray_bone_angles(angles),
        np.array([[0.0, 1, 0], [0, 0, -2]]),
    )


def test_bones_a_new_motion_lacks_stand_at_rest_with_x_in_p_and_y_in_h():
    """The game's editor exchanges the two."""
    track = rest_track(skeleton(), 1)
    values = [float(envelope.keys["value"][0]) for envelope in track.envelopes]
    assert values == pytest.approx([0, 0, 2, -0.25, 0.5, 1.0], abs=1e-6)  # X Y Z H P B
    assert {int(envelope.keys["shape"][0]) for envelope in track.envelopes} == {Shape.STEPPED}
    clip = skl.decode(skl.new_skls([motion_of(np.zeros((2, 6)))]), Report())[0]
    document, changes = skl.encode([clip], skeleton=skeleton())
    assert changes.parts[0].new
    (motion,) = document.motions
    assert [track.name for track in motion.tracks] == [b"root", b"arm"]
    assert motion.timing.tolist() == [1, 2, 2, 1]
    again = skl.read(skl.write(document), "new.skls", Report())
    rest = skl.decode(again, Report())[0].tracks[0]
    channels = np.array([curve.keys[0, 1] for curve in rest])
    quaternion = rotation.matrices(rotation.of_mode(channels[3:], "ZXY"))
    np.testing.assert_allclose(quaternion, rotation.matrices(skeleton().rest_rotation[0]), atol=1e-6)
    np.testing.assert_allclose(channels[:3], [0, 1, 0], atol=1e-6)


def test_marks_make_a_new_motion_version_7_and_are_refused_in_older_ones():
    document = skl.new_skls([motion_of(np.zeros((2, 6)))])
    clip = skl.decode(document, Report())[0]
    clip.markers = [Marker("Left", np.array([[0.0, 0.5]]))]
    with pytest.raises(WriteError, match="version 6, which has no marks"):
        skl.encode([clip], document)
    clip.name = "other"
    result, _ = skl.encode([clip], document)
    assert [motion.version for motion in result.motions] == [6, 7]
    back = skl.decode(skl.read(skl.write(result), "a.skls", Report()), Report())[1]
    assert back.markers[0].name == "Left"
    assert back.markers[0].intervals.tolist() == [[0.0, 0.5]]


def test_fields_and_added_bones_are_reported():
    document = skl.new_skls([motion_of(np.zeros((2, 6)))])
    clip = skl.decode(document, Report())[0]
    clip.last = 40
    clip.bones = ["ARM", "Hand"]
    clip.tracks = [clip.tracks[0], clip.tracks[0]]
    again, changes = skl.encode([clip], document)
    assert changes.parts[0].fields == ("bone Hand", "frames")
    assert [track.name for track in again.motions[0].tracks] == [b"arm", b"hand"]
    assert again.motions[0].tracks[0] is document.motions[0].tracks[0]


def test_a_skl_holds_one_motion():
    document, _ = read(single(6))
    clips = skl.decode(document, Report())
    assert skl.encode(clips, document)[0] is document
    clips[0].name = "other"
    with pytest.raises(WriteError, match="one motion"):
        skl.encode(clips, document)


def test_tracks_without_names_take_the_skeletons_bones_in_order():
    document, _ = read(single(4))
    report = Report()
    assert skl.decode(document, report, ["a", "b"])[0].bones == ["a", "b"]
    assert not report
    assert skl.decode(document, report)[0].bones == ["bone_0", "bone_1"]
    assert report.warnings


def test_text_and_differences():
    entry, _ = read(LIST, "a.skls")
    lines = skl.describe(entry)
    assert lines[0] == "4 motions"
    assert lines[3] == ("walk: version 6, frames -2 to 10 at 30 a second (0.40 s), 2 bones, 0 marks, keys: stepped 12")
    dumped = list(Walk(skl.VIEWS).dump(entry))
    assert "  power 0.5" in dumped
    assert sum("channel" in line for line in dumped) == 48
    other, _ = read(LIST.replace(b"arm\0\0", b"leg\0\0", 1), "a.skls")
    assert list(Walk(skl.VIEWS).differences(entry, entry)) == []
    assert list(Walk(skl.VIEWS).differences(entry, other)) == [
        "motion 'walk' (3): bone 'arm' is only in the first",
        "motion 'walk' (3): bone 'leg' is only in the second",
    ]
    single_one, _ = read(single(7))
    lines = list(Walk(skl.VIEWS).dump(single_one))
    assert "chunk 0x1200" in lines
    assert [line.strip() for line in lines if "interval" in line] == ["interval 0 0.25 0.5"]
    changed, _ = read(single(7).replace(struct.pack("<2f", 0.25, 0.5), struct.pack("<2f", 0.25, 0.75)))
    assert list(Walk(skl.VIEWS).differences(single_one, changed)) == [
        "motion 'walk': mark 'Left': interval 0: 0.25 0.5 / 0.25 0.75"
    ]
    speed = struct.pack("<f", 1.5)
    faster, _ = read(single(7).replace(speed, struct.pack("<f", np.nextafter(np.float32(1.5), np.float32(2))), 1))
    assert list(Walk(skl.VIEWS).differences(single_one, faster)) == ["motion 'walk': speed: 1.5 / 1.5000001"]


def test_bones_of_one_name_are_each_its_own_when_compared_and_encoded():
    data = struct.pack("<I", 1) + MOTIONS[7].replace(b"arm\0", b"root\0")
    document, _ = read(data, "a.skls")
    (motion,) = document.motions
    assert skl.bone_names(motion) == ["root", "root"]
    assert list(Walk(skl.VIEWS).differences(document, document)) == []
    other, _ = read(data, "a.skls")
    flags = [track.flags for track in motion.tracks]
    other.motions[0].tracks[1] = replace(motion.tracks[1], flags=flags[1] ^ 1)
    (line,) = Walk(skl.VIEWS).differences(document, other)
    assert line == f"motion 'walk': bone 'root' (2): flags: {flags[1]} / {flags[1] ^ 1}"
    (clip,) = skl.decode(document, Report())
    again, changes = skl.encode([clip], document)
    assert not changes
    assert skl.write(again) == data
    clip.tracks[1].location[0].keys[:, 1] += 1.0
    edited, _ = skl.encode([clip], document)
    kept = zip(edited.motions[0].tracks, motion.tracks, strict=True)
    assert [entry is before for entry, before in kept] == [True, False]
    own_motion, _ = skl.new_motion(clip)
    assert [track.name for track in own_motion.tracks] == [b"root", b"root"]


@pytest.mark.parametrize(("frames", "measured"), [(0.01, False), (1.0, True)])
def test_the_error_of_a_new_motion_is_measured_where_frames_can_show_it(frames, measured):
    """In a jump, a hundredth of a frame long, nobody sees what 16 bits make of a handle."""
    length = frames / 25
    keys = np.array([[0, 0], [1, 0], [1 + length, 1], [2, 1]])
    left, right = keys.copy(), keys.copy()
    right[1] += (length / 3, 0.7)
    left[2, 0] -= length / 3
    curve = Curve(keys, left, right, np.array([0, 2, 0, 0], np.uint8))
    still = Curve(keys[:1], keys[:1], keys[:1], np.zeros(1, np.uint8))
    clip = CurveClip("new", ["arm"], [Channels([curve, still, still], [still] * 3)], 25.0, 0, 50)
    _, changes = skl.encode([clip])
    item = changes.parts[0].items[0]
    assert (item.name, item.error > 0) == ("arm X", measured)
