"""Motions <-> clips: what the engine would show, what comes back untouched, what an edit changes."""

import hashlib
import itertools
import struct
import zlib

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

from addon.core import space
from addon.core.errors import ReadError, WriteError
from addon.core.model import Clip, Marker, Skeleton
from addon.core.report import Report
from addon.formats.xray import omf
from addon.formats.xray.omf.codec import numbered
from addon.formats.xray.omf.document import Motion, MotionSet, TrackFlag, track_bones
from addon.formats.xray.omf.mapping import Identity, decode, decode_motion, encode
from addon.formats.xray.omf.tracks import Width
from tests.formats.xray.omf.test_bytes import TRACKS, crc, definition, motion, omf_file, parameters
from tests.real_files import VECTORS, corpus_files
from tests.work import memory_peak

NO_VECTORS = [pytest.param(None, id="no vectors", marks=pytest.mark.skip("MOTIONBRIDGE_VECTORS is not set"))]
PAIRS = sorted(VECTORS.glob("xray/omf_*.npz")) if VECTORS else NO_VECTORS
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
SWAP = np.eye(4)[[0, 2, 1, 3]]


def engine_numbers(file) -> dict:
    with np.load(file) as numbers:
        return dict(numbers)


def load(data: bytes) -> omf.Omf:
    return omf.read(data, "test.omf", Report())


def through_f_curves(clip: Clip) -> Clip:
    """What a clip is after Blender kept its numbers: 32-bit floats."""
    clip.rotations = clip.rotations.astype(np.float32).astype(np.float64)
    clip.translations = clip.translations.astype(np.float32).astype(np.float64)
    return clip


def identity_clip(bones: int, frames: int, name: str = "walk") -> Clip:
    rotations = np.zeros((bones, frames, 4))
    rotations[..., 0] = 1.0
    still = np.zeros(bones, np.bool_)
    return Clip(
        name,
        [f"bone{index}" for index in range(bones)],
        rotations,
        np.zeros((bones, frames, 3)),
        still,
        still,
        30.0,
    )


def flat_skeleton(bones: int) -> Skeleton:
    return Skeleton(
        "rig",
        [f"bone{index}" for index in range(bones)],
        np.full(bones, -1, np.int32),
        np.tile([1.0, 0, 0, 0], (bones, 1)),
        np.zeros((bones, 3)),
        space.XRAY_ROOT_FRAME,
    )


def set_of(motion: Motion) -> MotionSet:
    """A file of one motion, named walk."""
    bones = max(motion.track_count, 1)
    motions, _ = encode([identity_clip(bones, 1)], skeleton=flat_skeleton(bones))
    old = motions.library.motions[0]
    motion.identifier = old.identifier
    motions.library.entries[motions.library.entries.index(old)] = motion
    return motions


def test_a_file_with_fewer_definitions_than_motions_is_refused_by_index_too():
    bones = [b"bone%d" % index for index in range(len(TRACKS))]
    both = [motion(name, *TRACKS.values()) for name in (b"walk", b"run")]
    motions = load(omf_file(both, parameters(3, bones, [definition(b"walk", 0)]))).motion_set
    clips = [decode_motion(own_motion, [bone.decode() for bone in bones]) for own_motion in motions.library.motions]
    for identities in (None, [Identity(0), Identity(1)]):
        with pytest.raises(WriteError, match="2 motions and 1 definition"):
            encode(clips, motions, identities=identities)


@pytest.mark.parametrize("file", PAIRS, ids=str)
def test_poses_are_the_engines(corpus, file) -> None:
    """Bone matrices of the engine's float32 arithmetic, which never normalises: 3e-6 as the vectors' tolerance."""
    numbers = engine_numbers(file)
    data = bytearray((corpus / str(numbers["omf"])).read_bytes())
    assert hashlib.sha256(data).hexdigest() == str(numbers["omf_sha256"])
    for position, new in (
        zip(numbers["patch_offset"], numbers["patch_new"], strict=True) if "patch_offset" in numbers else ()
    ):
        data[position : position + 4] = int(new).to_bytes(4, "little")
    document = load(bytes(data))
    bones = [str(bone) for bone in numbers["bone"]]
    skeleton = Skeleton(
        "rig", bones, numbers["parent"], np.zeros((len(bones), 4)), np.zeros((len(bones), 3)), space.XRAY_ROOT_FRAME
    )
    clips = decode(document.motion_set, Report())
    worst = 0.0
    for sample, (number, frame) in enumerate(zip(numbers["motion"], numbers["frame"], strict=True)):
        clip = clips[number]
        assert clip.name == str(numbers["motion_name"][sample])
        assert clip.frames == numbers["length"][sample]
        order = [[name.lower() for name in clip.bones].index(bone) for bone in bones]
        pose = skeleton.pose_matrices(clip.rotations[order][:, [frame]], clip.translations[order][:, [frame]])[:, 0]
        worst = max(worst, float(np.abs(SWAP @ pose @ MIRROR - numbers["mat"][sample]).max()))
    assert worst <= 3e-6


@pytest.mark.parametrize("file", PAIRS, ids=str)
def test_quaternions_are_stored_x_y_z_w_whatever_the_wiki_says(corpus, file) -> None:
    """A page of the modders' wiki puts w first. The engine's own decoded keys (x, y, z, w) say otherwise."""
    numbers = engine_numbers(file)
    if "patch_offset" in numbers:
        pytest.skip("bones are exchanged in these numbers")
    motions = load((corpus / str(numbers["omf"])).read_bytes()).motion_set.library.motions
    tracks = {int(bone): track for track, bone in enumerate(numbers["track_to_bone"])}
    for sample, (number, frame) in enumerate(zip(numbers["motion"], numbers["frame"], strict=True)):
        for bone in range(len(numbers["bone"])):
            keys = motions[number].track(tracks[bone]).rotation
            stored = keys[min(frame, len(keys) - 1)] / 32767
            expected = numbers["local_q"][sample, bone]
            np.testing.assert_allclose(stored, expected, atol=1e-7)


@pytest.mark.parametrize("file", corpus_files("omf/[!o]*", "omf/odd_gwr*", "omf/odd_unarmed*"))
def test_unedited_clips_give_the_file_back(file) -> None:
    data = file.read_bytes()
    document = load(data)
    clips = [through_f_curves(clip) for clip in decode(document.motion_set, Report())]
    motions, changes = encode(clips, document.motion_set)
    assert changes.parts == []
    assert changes.unchanged == len(clips)
    assert omf.write(document.with_motion_set(motions)) == data


@pytest.mark.parametrize(
    "file", corpus_files("omf/human_smart_cover.omf", "omf/hand_f1_marks.omf", "omf/radium_bloodsucker.omf")
)
def test_one_rotation_key_changes_its_eight_bytes_and_the_checksum(file) -> None:
    data = file.read_bytes()
    document = load(data)
    motion = next(
        m for m in document.motion_set.library.motions if m.frames > 3 and not m.flags(4) & TrackFlag.SINGLE_ROTATION
    )
    clip = next(clip for clip in decode(document.motion_set, Report()) if clip.name == motion.label)
    through_f_curves(clip).rotations[4, 2] = (0.5, -0.5, 0.5, 0.5)
    changed, changes = encode([clip], document.motion_set)
    result = omf.write(document.with_motion_set(changed))
    assert changes.sentence() == f"1 motion, 1 track changed, {len(document.motion_set.library.motions) - 1} unchanged"
    assert len(result) == len(data)
    differing = np.flatnonzero(np.frombuffer(result, np.uint8) != np.frombuffer(data, np.uint8))
    crc_at = motion.offset + len(motion.name) + 5 + motion.starts[4] + 1
    key_at = crc_at + 4 + 2 * 8
    assert all(crc_at <= position < crc_at + 4 or key_at <= position < key_at + 8 for position in differing)
    keys = result[crc_at + 4 : crc_at + 4 + 8 * motion.frames]
    assert int.from_bytes(result[crc_at : crc_at + 4], "little") == zlib.crc32(keys)
    stored = np.frombuffer(result, "<i2", 4, key_at)
    # 0.5 * 32767 = 16383.5, rounded to even; Blender's (w, x, y, z) is the file's (x, y, -z, w), in the old key's sign.
    assert stored.tolist() in ([-16384, 16384, -16384, 16384], [16384, -16384, 16384, -16384])


def test_one_translation_key_within_its_range_changes_three_bytes_and_the_checksum(corpus) -> None:
    data = (corpus / "omf" / "radium_bloodsucker.omf").read_bytes()
    document = load(data)
    motion, track = next(
        (m, t)
        for m in document.motion_set.library.motions
        for t in range(m.track_count)
        if m.flags(t) & 5 == 1 and (m.track(t).size > 1e-6).all()
    )
    old = motion.track(track)
    clip = through_f_curves(
        decode_motion(motion, track_bones(document.motion_set.parameters, motion.track_count, Report()))
    )
    clip.translations[track, 1] += old.size * [1, -1, 1] * np.where(old.translation[1] > 0, -2, 2) * [1, 1, -1]
    changed, _ = encode([clip], document.motion_set)
    result = omf.write(document.with_motion_set(changed))
    assert len(result) == len(data)
    assert (np.frombuffer(result, np.uint8) != np.frombuffer(data, np.uint8)).sum() <= 3 + 4
    new = load(result).motion_set.library.motions[motion.identifier - 1].track(track)
    difference = new.translation.astype(int) - old.translation
    assert np.abs(difference[1]).tolist() == [2, 2, 2]
    assert not np.delete(difference, 1, axis=0).any()
    assert new.size.tobytes() == old.size.tobytes()


def test_a_translation_key_out_of_range_gets_the_track_a_new_range() -> None:
    clip = identity_clip(1, 3)
    clip.translations[0, :, 0] = (0.0, 0.1, 0.2)
    base, _ = encode([clip], skeleton=flat_skeleton(1))
    clip.translations[0, 2, 0] = 0.5
    kinds = TrackFlag.TRANSLATION_KEYS | TrackFlag.SINGLE_ROTATION
    # -76.2 of 127 steps: 0.4 mm off
    for width, flags, limit, middle in (
        (Width.NARROW, kinds, 127, -76),
        (Width.AUTOMATIC, kinds | TrackFlag.WIDE_TRANSLATION, 32767, -19660),
    ):
        changed, _ = encode([clip], base, width=width)
        track = changed.library.motions[0].track(0)
        assert track.flags == flags
        np.testing.assert_allclose(track.init, [0.25, 0, 0])
        np.testing.assert_allclose(track.size, np.float32([0.25 / limit, 0, 0]))
        assert track.translation[:, 0].tolist() == [-limit, middle, limit]


def test_a_longer_or_shorter_track_keeps_its_keys_and_their_range() -> None:
    """Keys are not quantised again: 0.07 lies between two steps, and rounding it twice would show."""
    clip = identity_clip(2, 4)
    clip.translations[0, :, 0] = (0.0, 0.0702, 0.1, 0.2)
    clip.rotations[0, 1] = (0, 1, 0, 0)
    base, _ = encode([clip], skeleton=flat_skeleton(2), width=Width.NARROW)
    before = base.library.motions[0]
    for frames in (2, 7):
        longer = decode_motion(before, ["bone0", "bone1"])
        rows = np.minimum(np.arange(frames), 3)
        longer.rotations, longer.translations = longer.rotations[:, rows], longer.translations[:, rows]
        created, changes = encode([longer], base)
        after, old = created.library.motions[0].track(0), before.track(0)
        assert changes.parts[0].fields == (f"4 -> {frames} frames",)
        assert len(changes.parts[0].items) == (0 if frames == 2 else 1)
        assert after.flags == old.flags
        np.testing.assert_array_equal(after.translation, old.translation[rows])
        np.testing.assert_array_equal(after.rotation, old.rotation[rows])
        assert after.size.tobytes() == old.size.tobytes()
        assert after.translation_crc == zlib.crc32(after.translation.tobytes())
        assert created.library.motions[0].track_bytes(1) == before.track_bytes(1)


def test_a_motion_without_frames_leaves_unchanged_and_can_be_edited() -> None:
    keyless = Motion.of(b"walk", 0, [b"\0" + bytes(4) + bytes(12), b"\x02" + bytes(20)])
    clip = decode_motion(keyless, ["bone0", "bone1"])
    motions, changes = encode([clip], set_of(keyless))
    assert (motions.library.motions[0].frames, motions.library.motions[0].body, changes.parts) == (0, keyless.body, [])
    clip.translations[1, 0, 0] = 1
    motions, changes = encode([clip], set_of(keyless))
    created = motions.library.motions[0]
    assert (created.frames, created.track_count, created.leftover) == (1, 2, 0)
    assert len(changes.parts[0].items) == 2


def test_a_motion_without_frames_leaves_unchanged_where_a_range_is_not_finite() -> None:
    # Flags, two checksums without keys, the step of each axis, the place.
    track = b"\x01" + bytes(8) + struct.pack("<3f", 0.5, float("nan"), 0.5) + struct.pack("<3f", 1.0, 2.0, 3.0)
    keyless = Motion.of(b"walk", 0, [track])
    motions, changes = encode([decode_motion(keyless, ["bone0"])], set_of(keyless))
    assert (motions.library.motions[0].body, changes.parts) == (keyless.body, [])


def test_marks_of_signalling_nans_are_kept_without_an_alarm() -> None:
    marks = struct.pack("<I", 1) + b"Left\r\n" + struct.pack("<I", 1) + bytes.fromhex("0100a07f") * 2
    data = omf_file([motion(b"walk", TRACKS[2])], parameters(4, [b"root"], [definition(b"walk", 0, marks)]))
    document = load(data)
    motions, _ = encode(decode(document.motion_set, Report()), document.motion_set)
    assert omf.write(document.with_motion_set(motions)) == data


def test_a_motion_without_tracks_is_refused() -> None:
    with pytest.raises(WriteError, match="'walk' has no tracks"):
        encode([identity_clip(1, 1)], set_of(Motion.of(b"walk", 1, [])))
    without_bones, _ = encode([], skeleton=flat_skeleton(0))
    with pytest.raises(WriteError, match="lists no bones"):
        encode([identity_clip(1, 1)], without_bones)


@pytest.mark.parametrize("half_range", [0.024, 0.026, 1.4, 1.6])
def test_new_tracks_are_wide_where_narrow_ones_would_be_off_by_more_than_a_tenth_of_a_millimetre(half_range) -> None:
    clip = identity_clip(1, 500)
    clip.translations[0, :, 1] = np.linspace(-half_range, half_range, 500)
    created, changes = encode([clip], skeleton=flat_skeleton(1))
    is_wide = half_range / 127 / 2 > 1e-4
    limit = 32767 if is_wide else 127
    track = created.library.motions[0].track(0)
    assert bool(track.flags & TrackFlag.WIDE_TRANSLATION) is is_wide
    assert track.translation[[0, -1], 1].tolist() == [-limit, limit]
    assert track.size[1] == np.float32(half_range / limit)
    assert changes.worst_error()[0] <= 1e-4


def test_keys_that_lie_on_the_narrow_steps_stay_narrow() -> None:
    clip = identity_clip(1, 2)
    clip.translations[0, :, 1] = (-4, 4)
    created, changes = encode([clip], skeleton=flat_skeleton(1))
    assert created.library.motions[0].track(0).translation.dtype == np.int8
    assert changes.worst_error()[0] < 1e-6


@pytest.mark.parametrize(("width", "kind"), [(Width.NARROW, np.int8), (Width.WIDE, np.int16)])
def test_the_width_can_be_forced(width: Width, kind: type) -> None:
    clip = identity_clip(1, 2)
    clip.translations[0, :, 1] = (-4, 4) if width is Width.NARROW else (-0.1, 0.1)
    forced, _ = encode([clip], skeleton=flat_skeleton(1), width=width)
    assert forced.library.motions[0].track(0).translation.dtype == kind


def test_less_than_a_millimetre_is_standing_still() -> None:
    clip = identity_clip(1, 3)
    clip.translations[0, :, 0] = (1.0, 1.0006, 1.0006)
    still, _ = encode([clip], skeleton=flat_skeleton(1))
    track = still.library.motions[0].track(0)
    assert track.flags == TrackFlag.SINGLE_ROTATION
    np.testing.assert_allclose(track.translation, [[1.0004, 0, 0]], atol=1e-7)


def test_a_new_file_has_the_editors_defaults() -> None:
    created, changes = encode([identity_clip(3, 2)], skeleton=flat_skeleton(3))
    assert changes.sentence() == "1 motion added"
    assert created.parameters.version == 4
    assert [
        (part.name, [(bone.name, bone.track) for bone in part.bones]) for part in created.parameters.partitions
    ] == [(b"default", [(b"bone0", 0), (b"bone1", 1), (b"bone2", 2)])]
    (play,) = created.parameters.definitions
    assert (play.flags, play.bone_or_part, play.motion, play.timing.tolist()) == (0, 0xFFFF, 0, [1.0, 1.0, 2.0, 2.0])


def unit_quaternions(bones: int, frames: int):
    numbers = arrays.arrays(np.float64, (bones, frames, 4), elements=some.floats(-1, 1).map(lambda x: x + 0.01))
    return numbers.map(lambda q: q / np.linalg.norm(q, axis=-1, keepdims=True)).filter(lambda q: np.isfinite(q).all())


@given(
    unit_quaternions(2, 4),
    arrays.arrays(np.float64, (2, 4, 3), elements=some.floats(-5, 5)),
    some.sampled_from(list(Width)),
)
def test_what_was_encoded_decodes_within_half_a_step(rotations, translations, width) -> None:
    clip = identity_clip(2, 4)
    clip.rotations, clip.translations = rotations, translations
    created, _ = encode([clip], skeleton=flat_skeleton(2), width=width)
    (back,) = decode(created, Report())
    signs = np.sign(np.einsum("...i,...i->...", back.rotations, rotations))[..., None]
    assert np.abs(back.rotations * signs - rotations).max() <= 0.5 / 32767 + 1e-9
    motion = created.library.motions[0]
    for track in range(2):
        stored = motion.track(track)
        step = stored.size / 2 + 1e-6 if stored.size is not None else np.float64(2e-3)
        assert (np.abs(back.translations[track] - translations[track]) <= step).all()
    again, changes = encode([through_f_curves(back)], created)
    assert changes.parts == []
    assert again is created


def test_encoding_twice_changes_nothing_more() -> None:
    clip = identity_clip(1, 5)
    clip.translations[0, :, 2] = np.linspace(0, 1, 5)
    first, _ = encode([clip], skeleton=flat_skeleton(1))
    clip.translations[0, 3, 2] = 0.6
    second, _ = encode([clip], first)
    third, changes = encode(decode(second, Report()), second)
    assert third is second
    assert not changes.parts


@pytest.mark.parametrize(
    ("frames", "tracks", "keyed"),
    [(0xFFFF_FFFF, 1, 0), (500_000, 1, 0), (1_048_575, 1, 1), (1001, 5000, 1)],
)
def test_frames_that_a_motions_bytes_do_not_bear_are_refused_before_anything_is_made(frames, tracks, keyed) -> None:
    """Bones that stand still cost the file nothing for a frame; an array row each they would cost us."""
    animated = b"\x00" + bytes(4) + bytes(8) * frames + bytes(12) if keyed else b""
    body = animated + (b"\x02" + bytes(20)) * (tracks - keyed)
    size = 1 + (4 + 8 * frames if keyed else 8) + 12
    starts = [0, *range(size, len(body) + 1, 21)]
    claiming = Motion(b"walk", frames, body, starts, offset=77)
    assert claiming.track_count == tracks

    def refused() -> None:
        with pytest.raises(
            ReadError, match=rf"^offset 77: the motion 'walk' declares {frames} frames of {tracks} bone"
        ):
            decode_motion(claiming, [f"bone{index}" for index in range(tracks)])

    assert memory_peak(refused) < 200_000 + 200 * tracks


def test_many_short_claims_are_added_up() -> None:
    still = b"\x02" + bytes(6) + b"\xff\x7f" + bytes(12)
    library = numbered([Motion.of(b"idle%d" % number, 60_000, [still]) for number in range(8)])
    motions = load(omf_file([], parameters(4, [b"a"], []))).motion_set._replace(library=library)
    with pytest.raises(ReadError, match="'idle0' declares 60000 frames of 1 bone in 21 bytes"):
        decode(motions, Report())
    assert len(decode(motions._replace(library=numbered(library.motions[:4])), Report())) == 4


def test_still_motions_of_any_usual_length_can_be_edited_in_place() -> None:
    two_minutes = Motion.of(b"idle", 4_000, [b"\x02" + bytes(6) + b"\xff\x7f" + bytes(12)] * 64)
    clip = decode_motion(two_minutes, [f"bone{index}" for index in range(64)])
    clip.rotations[3, 5] = clip.translations[3, 5].sum()
    assert clip.rotations.shape == (64, 4_000, 4)
    assert clip.rotations[3, 4].tolist() == [1, 0, 0, 0]
    assert not clip.rotations[3, 5].any()


def test_a_motion_too_long_to_be_read_can_be_replaced() -> None:
    claiming = Motion.of(b"walk", 0xFFFF_FFFF, [b"\x02" + bytes(20)])
    motions, changes = encode([identity_clip(1, 3)], set_of(claiming))
    assert motions.library.motions[0].frames == 3
    assert [change.keys for change in changes.parts[0].items] == [6]


def test_a_longer_clip_keeps_values_that_do_not_move() -> None:
    clip = identity_clip(2, 3)
    clip.rotations[1, 1] = (0, 1, 0, 0)
    base, _ = encode([clip], skeleton=flat_skeleton(2))
    longer = identity_clip(2, 5)
    longer.rotations[1, 1:] = (0, 1, 0, 0)
    changed, changes = encode([longer], base)
    assert [track.name for track in changes.parts[0].items] == ["bone1"]
    assert changes.parts[0].fields == ("3 -> 5 frames",)
    assert changed.library.motions[0].track_bytes(0) == base.library.motions[0].track_bytes(0)


def test_flags_that_describe_nothing_are_kept_when_the_rotation_changes(corpus) -> None:
    document = load((corpus / "omf" / "gwr_knife_tiny_marks.omf").read_bytes())
    (clip,) = decode(document.motion_set, Report())
    assert document.motion_set.library.motions[0].flags(0) == 6
    clip.rotations[0] = (0, 1, 0, 0)
    changed, _ = encode([clip], document.motion_set)
    assert changed.library.motions[0].flags(0) == 6


def test_bones_are_found_whatever_their_order_and_case() -> None:
    base, _ = encode([identity_clip(3, 2)], skeleton=flat_skeleton(3))
    clip = identity_clip(3, 2)
    clip.bones = ["BONE2", "bone0", "Bone1"]
    clip.rotations[0] = (0, 1, 0, 0)
    _, changes = encode([clip], base)
    assert [track.name for track in changes.parts[0].items] == ["bone2"]


def test_a_broken_file_with_two_tracks_for_one_bone_is_encoded_to_the_same_bytes() -> None:
    data = omf_file(
        [motion(b"walk", TRACKS[1] + TRACKS[2])], parameters(3, [b"root", b"ROOT"], [definition(b"walk", 0)])
    )
    document = load(data)
    base = document.motion_set
    clip = decode_motion(base.library.motions[0], ["root", "ROOT"])
    assert encode([clip], base)[0].library.motions[0].body == base.library.motions[0].body


def test_bones_the_clip_lacks_keep_their_track_or_stand_in_the_rest_pose() -> None:
    skeleton = flat_skeleton(3)
    skeleton.rest_translation[2] = (1, 2, 3)
    base, _ = encode([identity_clip(3, 2)], skeleton=skeleton)
    short = identity_clip(2, 2)
    for bones in (2, 0):
        same, changes = encode([identity_clip(bones, 2)], base)
        assert not changes.parts
        assert same.library.motions[0].body == base.library.motions[0].body
    short.name = "new"
    created, _ = encode([short], base, skeleton=skeleton)
    assert created.library.motions[1].track(2).translation.tolist() == [[1, 2, -3]]
    with pytest.raises(WriteError, match=r"'new' lacks 1 bone of the file: bone2.*rest pose"):
        encode([short], base)
    with pytest.raises(WriteError, match=r"lacks 1 bone of the file: bone2.*this armature's skeleton"):
        encode([short], base, skeleton=flat_skeleton(2))


def test_edits_too_small_for_the_file_are_no_changes() -> None:
    still = identity_clip(2, 3)
    base, _ = encode([still], skeleton=flat_skeleton(2))
    still.translations[1, :, 0] = 0.1, 0.1 + 2e-7, 0.1 - 2e-7  # stored as one value, the mean
    still.translation_keyed[1] = True
    base, changes = encode([still], base)
    assert [item.name for item in changes.parts[0].items] == ["bone1"]
    same, changes = encode([still], base)
    assert not changes.parts
    assert same.library.motions[0].body == base.library.motions[0].body


def test_marks_travel_as_seconds_and_unedited_ones_keep_their_line_end(corpus) -> None:
    document = load((corpus / "omf" / "gwr_hand_beretta_marks92.omf").read_bytes())
    clips = decode(document.motion_set, Report())
    old = document.motion_set.parameters.definitions
    index = next(position for position, play in enumerate(old) if play.marks and play.marks[0].line_end == b"\n")
    clip = clips[index]
    clip.markers.append(Marker("new", np.array([[0.1, 0.2]])))
    changed, changes = encode([clip], document.motion_set)
    assert changes.parts[0].fields == ("marks",)
    assert changes.parts[0].items == ()
    marks = changed.parameters.definitions[index].marks
    assert [mark.line_end for mark in marks[:-1]] == [mark.line_end for mark in old[index].marks]
    assert (marks[-1].name, marks[-1].line_end) == (b"new", b"\r\n")
    assert marks[-1].intervals.tolist() == [[np.float32(0.1), np.float32(0.2)]]


REFUSED = {
    "10 intervals": lambda clip: clip.markers.append(Marker("m", np.zeros((10, 2)))),
    "line break": lambda clip: clip.markers.append(Marker("a\nb", np.zeros((1, 2)))),
    "code page": lambda clip: setattr(clip, "name", "歩く"),
    "without a name": lambda clip: setattr(clip, "name", ""),
    "longer than 127": lambda clip: setattr(clip, "name", "x" * 128),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_the_game_cannot_take_is_refused_with_a_remedy(reason: str) -> None:
    clip = identity_clip(1, 2)
    REFUSED[reason](clip)
    with pytest.raises(WriteError) as refusal:
        encode([clip], skeleton=flat_skeleton(1))
    assert reason in str(refusal.value)
    assert refusal.value.remedy


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [1e39, -1e39, np.inf, np.nan])
def test_locations_that_the_file_cannot_hold_are_refused_not_stored_as_infinite(samples, value: float) -> None:
    new = identity_clip(1, 3)
    new.translations[0, 1, 2] = value
    with pytest.raises(WriteError, match="too large for the file"):
        encode([new], skeleton=flat_skeleton(1))
    base = omf.read((samples / "humanoid.omf").read_bytes(), "humanoid.omf", Report()).motion_set
    for bones in (slice(0, 1), slice(None)):
        clips = list(decode(base, Report()))
        clips[0].translations[bones, 1, 2] = value
        with pytest.raises(WriteError, match="too large for the file"):
            encode(clips, base)


def test_more_bones_than_the_game_takes_are_refused() -> None:
    with pytest.raises(WriteError, match="65 bones") as refusal:
        encode([identity_clip(65, 2)], skeleton=flat_skeleton(65))
    assert "Bone Limit" in refusal.value.remedy


def test_an_engine_with_more_bones_gets_them() -> None:
    motions, _ = encode([identity_clip(128, 2)], skeleton=flat_skeleton(128), most_bones=128)
    assert [motion.track_count for motion in motions.library.motions] == [128]
    with pytest.raises(WriteError, match="129 bones; the game supports 128"):
        encode([identity_clip(129, 2)], skeleton=flat_skeleton(129), most_bones=128)


def test_old_faults_of_a_file_stop_nobodys_work(corpus) -> None:
    """A file with motions of the same name (the game plays the first) can still be edited."""
    document = load((corpus / "omf" / "usable_items_big.omf").read_bytes())
    clips = decode(document.motion_set, Report())
    assert len({clip.name for clip in clips}) < len(clips)
    clips[0].rotations[0] = (0, 1, 0, 0)
    _, changes = encode(clips, document.motion_set)
    assert [change.name for change in changes.parts] == [clips[0].name]


def test_bones_are_named_by_the_number_in_the_partition_not_by_their_index(corpus) -> None:
    document = load((corpus / "omf" / "human_smart_cover.omf").read_bytes())
    parameters = document.motion_set.parameters
    listed = [bone for part in parameters.partitions for bone in part.bones]
    names = track_bones(parameters, len(listed), Report())
    assert [bone.track for bone in listed] != sorted(bone.track for bone in listed)
    for bone in listed:
        assert names[bone.track].encode("cp1251") == bone.name


def test_tracks_no_one_names_take_the_models_bones_by_number_and_report_it() -> None:
    created, _ = encode([identity_clip(3, 2)], skeleton=flat_skeleton(3))
    created.parameters.partitions[0].bones = created.parameters.partitions[0].bones[:1]
    report = Report()
    assert track_bones(created.parameters, 3, report) == ["bone0", "track_1", "track_2"]
    assert "their bones are unknown" in report.lines()[0]
    report = Report()
    assert track_bones(created.parameters, 3, report, flat_skeleton(3).bones) == ["bone0", "bone1", "bone2"]
    assert "taken from the model" in report.lines()[0]


def test_float_keys_are_edited_as_floats() -> None:
    document = load(omf_file([motion(b"walk", TRACKS[9])], parameters(3, [b"bone0"], [definition(b"walk", 0)])))
    (clip,) = decode(document.motion_set, Report())
    clip.translations[0, 1, 0] = 0.123
    changed, _ = encode([clip], document.motion_set)
    track = changed.library.motions[0].track(0)
    assert track.flags == 9
    assert track.translation.tolist() == [[0, 1, 2], [np.float32(0.123), 4, 5]]
    assert track.rotation.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_library_is_numbered_from_one() -> None:
    created, _ = encode([identity_clip(1, 2, "a"), identity_clip(1, 2, "b")], skeleton=flat_skeleton(1))
    assert [entry.identifier for entry in created.library.motions] == [1, 2]
    assert MotionSet(numbered([]), created.parameters).library.motions == []


def test_the_worst_error_of_storing_is_known_with_its_bone() -> None:
    clip = identity_clip(2, 3)
    clip.translations[1, :, 0] = (0.0, 0.3, 1.0)  # 0.3 lies between two of the 254 steps
    _, changes = encode([clip], skeleton=flat_skeleton(2), width=Width.NARROW)
    error, bone, motion = changes.worst_error()
    assert (bone, motion) == ("bone1", "walk")
    step = 1 / 254
    assert error == pytest.approx(abs(round((0.3 - 0.5) / step) * step + 0.5 - 0.3), abs=1e-7)
    for width in (Width.WIDE, Width.AUTOMATIC):
        _, changes = encode([clip], skeleton=flat_skeleton(2), width=width)
        assert changes.worst_error()[0] < 1e-5


def test_bones_that_differ_in_case_alone_are_named():
    skeleton, clip = flat_skeleton(2), identity_clip(2, 3)
    skeleton.bones[:] = clip.bones[:] = ["Arm", "arm"]
    with pytest.raises(WriteError, match="the game treats these bones as one: 'Arm', 'arm'"):
        encode([clip], skeleton=skeleton)


def rotations_by_the_rules(old, quaternions: np.ndarray, edited: np.ndarray) -> list[list[int]]:
    """The rotation keys of an edited track, one key at a time, from x, y, z, w."""
    single, keys = bool(old.flags & TrackFlag.SINGLE_ROTATION), []
    for frame, quaternion in enumerate(quaternions):
        before = old.rotation[0 if single else frame].astype(float)
        sign = -1 if not single and quaternion @ before < 0 else 1
        key = np.rint(sign * quaternion / np.linalg.norm(quaternion) * 32767)
        keys.append((key if edited[frame] or (single and edited.any()) else before).tolist())
    return keys[:1] if single and all(key == keys[0] for key in keys) else keys


def translations_by_the_rules(old, metres: np.ndarray, edited: np.ndarray, width: Width) -> list[list[float]]:
    """The translation keys of an edited track: in its own range if they fit, else in a new one, or a single value."""
    if not edited.any():
        return old.translation.tolist()
    if old.size is not None:
        limit = 32767 if old.translation.dtype == np.int16 else 127
        steps = np.rint((metres - old.init) / np.where(old.size, old.size, np.nan).astype(float))
        if width in {Width.AUTOMATIC, Width.NARROW if limit == 127 else Width.WIDE}:
            if (np.abs(steps[edited]) <= limit).all():
                return np.where(edited[:, None], steps, old.translation).tolist()
            width = Width.WIDE if limit == 32767 else width
    if (np.abs(metres - metres.mean(axis=0)) <= 1e-3).all():
        return np.float32([metres.mean(axis=0)]).tolist()
    low, high = metres.min(axis=0), metres.max(axis=0)
    for limit in (127, 32767):
        size, init = (np.float32(value).astype(float) for value in ((high - low) / 2 / limit, (low + high) / 2))
        keys = np.clip(np.rint((metres - init) / np.where(size, size, np.inf)), -limit, limit)
        if width.value in {0, 8} and (width is Width.NARROW or np.abs(keys * size + init - metres).max() <= 1e-4):
            break
    return keys.tolist()


@pytest.mark.parametrize("width", list(Width))
def test_every_track_follows_the_rules_whichever_are_encoded_with_it(samples, width):
    """Every kind of edit, on every track at once: keys by a plain formula, bytes as if encoded alone."""
    for name, seed in itertools.product(("humanoid.omf", "weapon.omf"), range(3)):
        before = omf.read((samples / name).read_bytes(), name, Report()).motion_set
        random = np.random.default_rng(seed)
        clips, edits = decode(before, Report()), []
        for clip in clips:
            few = random.random((len(clip.bones), clip.frames)) < (0.2, 1.0, 0.0)[seed]
            moved = few.copy()
            clip.rotations[few] += random.normal(size=(int(few.sum()), 4)) * 0.1
            clip.translations[few] += random.normal(size=(int(few.sum()), 3)) * 0.01
            clip.translations[: seed + 1, -1] += 5.0
            moved[: seed + 1, -1] = True
            edits.append((few, moved))
        after, changes = encode(clips, before, width=width)
        assert changes.parts
        alone = [encode([clip], before, identities=[Identity(index)], width=width) for index, clip in enumerate(clips)]
        assert [part.items for part in changes.parts] == [part.items for _, entry in alone for part in entry.parts]
        for index, (clip, (turned, moved)) in enumerate(zip(clips, edits, strict=True)):
            old, new = (motions.library.motions[index] for motions in (before, after))
            assert new.body == alone[index][0].library.motions[index].body
            for bone, (q, m) in enumerate(zip(clip.rotations, clip.translations, strict=True)):
                track, base = new.track(bone), old.track(bone)
                rotations = rotations_by_the_rules(base, (q * [1, 1, 1, -1])[:, [1, 2, 3, 0]], turned[bone])
                assert track.rotation.tolist() == rotations
                assert track.translation.tolist() == translations_by_the_rules(base, m * [1, 1, -1], moved[bone], width)


def bytes_of_range(track) -> list[bytes]:
    return [numbers.tobytes() for numbers in (track.size, track.init) if numbers is not None]


@pytest.mark.parametrize("width", [Width.NARROW, Width.WIDE])
def test_frames_in_another_order_are_the_old_keys_in_that_order(width) -> None:
    """No key is quantised again, whatever frames were left out or repeated: ranges and flags stay those of the file."""
    random = np.random.default_rng(0)
    clip = identity_clip(3, 20)
    clip.rotations[:2] = random.normal(size=(2, 20, 4))
    clip.translations[1:] = random.normal(size=(2, 20, 3))
    base, _ = encode([clip], skeleton=flat_skeleton(3), width=width)
    before = base.library.motions[0]
    for rows in (random.permutation(20), random.integers(20, size=20), np.arange(7), random.integers(20, size=33)):
        other = decode_motion(before, clip.bones)
        other.rotations, other.translations = other.rotations[:, rows], other.translations[:, rows]
        after = encode([other], base)[0].library.motions[0]
        for new, old in ((after.track(bone), before.track(bone)) for bone in range(3)):
            assert (new.flags, bytes_of_range(new)) == (old.flags, bytes_of_range(old))
            turned, moved = (keys[rows] if len(keys) > 1 else keys for keys in (old.rotation, old.translation))
            np.testing.assert_array_equal(np.abs(new.rotation), np.abs(turned))  # either sign is the same rotation
            np.testing.assert_array_equal(new.translation, moved)


def test_a_still_float_track_stays_one_key_until_it_moves() -> None:
    track = b"\x08" + crc(struct.pack("<8f", *range(8))) + struct.pack("<8f", *range(8)) + struct.pack("<3f", 0, 1, 2)
    document = load(omf_file([motion(b"walk", track)], parameters(3, [b"bone0"], [definition(b"walk", 0)])))
    (clip,) = decode(document.motion_set, Report())
    clip.translations[0, :, 0] = 0.5
    changed, _ = encode([clip], document.motion_set)
    still = changed.library.motions[0].track(0)
    assert (still.flags, still.translation.tolist()) == (8, [[0.5, 1, 2]])
    clip.translations[0, 1, 0] = 0.75
    moving = encode([clip], document.motion_set)[0].library.motions[0].track(0)
    assert (moving.flags, moving.translation.tolist()) == (9, [[0.5, 1, 2], [0.75, 1, 2]])


def test_a_turn_costs_no_metres() -> None:
    """The narrow steps of the translations beside it are as far off as they were in the file."""
    document = load(omf_file([motion(b"walk", TRACKS[1])], parameters(3, [b"bone0"], [definition(b"walk", 0)])))
    (clip,) = decode(document.motion_set, Report())
    clip.rotations[0, 0] = (0.5, 0.5, 0.5, 0.5)
    _, changes = encode([clip], document.motion_set)
    (item,) = changes.parts[0].items
    assert (item.name, item.keys, item.error) == ("bone0", 1, 0.0)


def test_tracks_given_twice_or_not_there_are_reported_with_the_bone() -> None:
    created = load(omf_file([], parameters(3, [b"arm", b"leg"], []))).motion_set
    report = Report()
    assert track_bones(created.parameters, 1, report) == ["arm"]
    assert report.lines() == ["a bone part refers to track 1, the motions have 1 (leg)"]
    created.parameters.partitions[0].bones[1].track = 0
    report = Report()
    assert track_bones(created.parameters, 1, report) == ["leg"]
    assert report.lines() == ["track 0 is given to two bones; the last one counts (leg)"]
