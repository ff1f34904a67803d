"""The committed samples are what their script makes, and hold what their description promises."""

import struct
import zlib

import make_samples
import numpy as np
import pytest
from samples.bones import HUMANOID, WEAPON, skeleton_of
from samples.game import installed
from samples.showcase import showcase

from addon.core.files import read_file
from addon.core.report import Report
from addon.formats import trees
from addon.formats.verification import Status, verify
from addon.formats.xray import omf
from addon.formats.xray.omf.mapping import decode

MADE = make_samples.samples()


@pytest.mark.parametrize("name", MADE)
def test_the_committed_file_is_what_the_script_makes(samples, name):
    """On every numpy and processor: nothing in them hangs on a sine's last bit."""
    assert (samples / name).read_bytes() == MADE[name]


def test_no_other_file_lies_among_them(samples):
    files = [path.relative_to(samples).as_posix() for path in samples.rglob("*") if path.is_file()]
    assert sorted(files) == sorted(MADE)
    assert sum(map(len, MADE.values())) < 100 << 10


def test_the_games_of_the_samples_are_found_with_all_files_in_their_archives(tmp_path):
    files = showcase()
    for name, data in installed(files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for game, kind, below in (
        ("stalker", "XRAY", "gamedata/"),
        ("arma", "ARMA", "arma/"),
        ("descent3", "DESCENT3", "descent3/"),
    ):
        assert trees.kind_of(tmp_path / game) == kind
        tree = trees.tree_at(trees.InstalledGame(tmp_path / game))
        for name, data in files.items():
            if name.startswith(below) and not name.endswith(".hog"):
                own = name.removeprefix(below)
                path = tree.find(f"showcase/{own}" if game == "arma" else own)
                assert path is not None, name
                assert read_file(path) == data, name
        assert tree.report().lines() == []


def test_the_showcase_is_read_and_written_as_it_is_and_made_twice_the_same():
    files = showcase()
    assert files == showcase()
    assert {name.rpartition(".")[2] for name in files} >= {"ogf", "omf", "p3d", "rtm", "oof", "hog", "paa", "png"}
    for name, data in files.items():
        if not name.endswith((".png", ".cfg")):
            verdict = verify(data, name, deep=True)
            assert (verdict.status, verdict.warnings, verdict.problems) == (Status.IDENTICAL, (), ()), name


def chunks(data):
    """Chunk id -> body, read with nothing of ours."""
    result, at = {}, 0
    while at < len(data):
        number, size = struct.unpack_from("<II", data, at)
        result[number] = data[at + 8 : at + 8 + size]
        at += 8 + size
    assert at == len(data)
    return result


def motions(data, bones):
    """Name -> list of (flags, rotation keys, translation keys or metres) of each track, read with nothing of ours."""
    result = {}
    library = chunks(chunks(data)[0x0E])
    assert struct.unpack("<I", library.pop(0)) == (len(library),)
    for number in sorted(library):
        name, _, body = library[number].partition(b"\0")
        (frames,) = struct.unpack_from("<I", body)
        at, tracks = 4, []
        for _ in range(bones):
            flags = body[at]
            at += 1
            if flags & 2:
                rotation = np.frombuffer(body, "<i2", 4, at).reshape(1, 4)
                at += 8
            else:
                (crc,) = struct.unpack_from("<I", body, at)
                assert crc == zlib.crc32(body[at + 4 : at + 4 + 8 * frames])
                rotation = np.frombuffer(body, "<i2", 4 * frames, at + 4).reshape(frames, 4)
                at += 4 + 8 * frames
            if flags & 1:
                kind = np.dtype("<i2" if flags & 4 else "i1")
                size = 3 * kind.itemsize * frames
                (crc,) = struct.unpack_from("<I", body, at)
                assert crc == zlib.crc32(body[at + 4 : at + 4 + size])
                keys = np.frombuffer(body, kind, 3 * frames, at + 4).reshape(frames, 3)
                at += 4 + size
                scale, init = np.frombuffer(body, "<f4", 6, at).reshape(2, 3)
                translation = keys * scale + init
                at += 24
            else:
                translation = np.frombuffer(body, "<f4", 3, at).reshape(1, 3)
                at += 12
            tracks.append((flags, rotation, translation))
        assert at == len(body)
        result[name.decode()] = tracks
    return result


BONES = [bone.name for bone in HUMANOID]


def test_the_humanoid_has_twenty_bones_and_five_motions():
    own_motions = motions(MADE["humanoid.omf"], 20)
    assert len(BONES) == 20
    assert list(own_motions) == ["walk", "idle", "wave", "jump", "nod"]


@pytest.mark.parametrize("name", ["walk", "idle"])
def test_loops_end_on_the_key_they_begin_with(name):
    for _, rotation, translation in motions(MADE["humanoid.omf"], 20)[name]:
        np.testing.assert_array_equal(rotation[0], rotation[-1])
        np.testing.assert_array_equal(translation[0], translation[-1])


def places(name, bone):
    """(frames, 3) where a joint of the humanoid is, metres in Blender's axes."""
    document = omf.read(MADE["humanoid.omf"], "humanoid.omf", Report())
    clip = next(clip for clip in decode(document.motion_set, Report()) if clip.name == name)
    poses = skeleton_of("humanoid", HUMANOID).pose_matrices(clip.rotations, clip.translations)
    return poses[BONES.index(bone), :, :3, 3]


def test_the_walk_is_a_walk():
    thighs, knees, feet = (
        {side: places("walk", f"{bone}_{side}") for side in "lr"} for bone in ("thigh", "calf", "foot")
    )
    for side, sign in (("l", -1), ("r", 1)):
        assert (np.abs(feet[side][:, 0] - sign * 0.1) < 0.03).all(), "legs swing forwards and back, not aside"
        assert np.ptp(feet[side][:, 1]) > 0.5
        straight = (thighs[side] + feet[side]) / 2
        assert (knees[side][:, 1] > straight[:, 1] - 0.01).all(), "knees bend one way"
        assert np.ptp(feet[side][:, 2]) > 0.1, "each foot is lifted"
    assert np.corrcoef(feet["l"][:, 1], feet["r"][:, 1])[0, 1] < -0.8
    lower = np.minimum(feet["l"][:, 2], feet["r"][:, 2])
    assert (lower > 0.05).all()
    assert (lower < 0.2).all()
    assert np.ptp(places("walk", "head")[:, 2]) < 0.08
    assert np.corrcoef(places("walk", "hand_l")[:, 1], feet["l"][:, 1])[0, 1] < -0.8, "arms swing against the legs"


def test_the_hand_that_waves_is_raised():
    hand, shoulder, elbow = (places("wave", f"{bone}_r") for bone in ("hand", "upperarm", "forearm"))
    assert hand[0, 2] < shoulder[0, 2] - 0.4
    middle = slice(len(hand) // 4, 3 * len(hand) // 4)
    assert (hand[middle, 2] > elbow[middle, 2]).all()
    assert np.ptp(hand[middle, 0]) > 0.15
    np.testing.assert_allclose(hand[-1], hand[0], atol=0.01)


def test_translation_keys_are_8_bits_wide_and_16_beyond_one_and_a_half_metres():
    own_motions = motions(MADE["humanoid.omf"], 20)
    assert own_motions["walk"][BONES.index("pelvis")][0] & 5 == 1
    assert own_motions["wave"][BONES.index("hand_r")][0] & 5 == 1
    flags, _, translation = own_motions["jump"][BONES.index("root")]
    assert flags & 5 == 5
    assert np.linalg.norm(np.ptp(translation, axis=0) / 2) > 1.5
    assert {flags & 1 for tracks in own_motions.values() for flags, _, _ in tracks} == {0, 1}
    assert {flags & 2 for tracks in own_motions.values() for flags, _, _ in tracks} == {0, 2}


def test_quaternions_are_of_unit_length_as_stored():
    for name, count in (("humanoid.omf", 20), ("weapon.omf", 4)):
        for tracks in motions(MADE[name], count).values():
            for _, rotation, _ in tracks:
                lengths = np.linalg.norm(rotation / 32767, axis=1)
                np.testing.assert_allclose(lengths, 1, atol=1e-4)


def test_partitions_list_their_tracks_out_of_order():
    parameters = chunks(MADE["humanoid.omf"])[0x0F]
    assert struct.unpack_from("<HH", parameters) == (4, 2)
    listed = [
        struct.unpack_from("<I", parameters, parameters.index(bone.encode() + b"\0") + len(bone) + 1)[0]
        for bone in BONES
    ]
    assert listed == list(range(20))
    indices = [parameters.index(b"\0" + bone.encode() + b"\0") for bone in BONES if bone != "spine"]
    assert indices != sorted(indices)
    assert b"Left\r\n\1\0\0\0" in parameters
    assert b"Right\r\n\1\0\0\0" in parameters


def model_bones(data):
    """The names in a model's bone chunk, in its order."""
    body, result = chunks(data)[0x0D], []
    rest = body[4:]
    for _ in range(struct.unpack_from("<I", body)[0]):
        name, _, rest = rest.partition(b"\0")
        rest = rest.partition(b"\0")[2][60:]
        result.append(name.decode())
    assert rest == b""
    return result


def test_the_weapons_motions_number_its_bones_differently_from_the_model():
    names = [bone.name for bone in WEAPON]
    assert model_bones(MADE["weapon.ogf"]) == model_bones(MADE["weapon_embedded.ogf"]) == names
    assert model_bones(MADE["humanoid.ogf"]) == BONES
    parameters = chunks(MADE["weapon.omf"])[0x0F]
    numbers = [
        struct.unpack_from("<I", parameters, parameters.index(name.encode() + b"\0") + len(name) + 1)[0]
        for name in names
    ]
    assert numbers == [1, 3, 0, 2]
    inside = chunks(MADE["weapon_embedded.ogf"])
    assert {0x0E, 0x0F} <= set(inside)
    assert 0x13 not in inside


def test_one_bones_rotation_is_the_same_in_whatever_order():
    """The weapon's motions are stored twice: each bone's keys must be found in both."""
    own, inside = motions(MADE["weapon.omf"], 4), motions(MADE["weapon_embedded.ogf"], 4)
    for name in own:
        for bone, track in enumerate([1, 3, 0, 2]):
            np.testing.assert_array_equal(own[name][track][1], inside[name][bone][1])
            np.testing.assert_array_equal(own[name][track][2], inside[name][bone][2])


@pytest.mark.parametrize(
    ("name", "formats"),
    [("humanoid.ogf", {1, 2, 3, 4}), ("weapon.ogf", {0x12071980, 0x240E3300}), ("weapon_embedded.ogf", {1, 2})],
)
def test_models_have_a_child_for_each_vertex_format(name, formats):
    strides = {1: 60, 0x12071980: 60, 2: 64, 0x240E3300: 64, 3: 70, 4: 76}
    result = set()
    for child in chunks(chunks(MADE[name])[9]).values():
        vertices = chunks(child)[3]
        number, count = struct.unpack_from("<II", vertices)
        assert len(vertices) == 8 + count * strides[number]
        result.add(number)
    assert result == formats


def test_faces_show_their_outer_side():
    """In the engine's left-handed numbers (v1 - v0) x (v2 - v0) points along the stored normals."""
    for child in chunks(chunks(MADE["humanoid.ogf"])[9]).values():
        inner = chunks(child)
        number, count = struct.unpack_from("<II", inner[3])
        stride, first = {1: (60, 0), 2: (64, 4), 3: (70, 6), 4: (76, 8)}[number]
        rows = np.frombuffer(inner[3][8:], np.uint8).reshape(count, stride)
        position = rows[:, first : first + 12].copy().view("<f4")
        normal = rows[:, first + 12 : first + 24].copy().view("<f4")
        corners = np.frombuffer(inner[4][4:], "<u2").reshape(-1, 3)
        edges = position[corners[:, 1:]] - position[corners[:, :1]]
        outward = np.cross(edges[:, 0], edges[:, 1])
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        np.testing.assert_allclose(outward, normal[corners[:, 0]], atol=1e-6)
        middle = position.reshape(-1, 24, 3).mean(axis=1, keepdims=True)
        assert (((position.reshape(-1, 24, 3) - middle) * normal.reshape(-1, 24, 3)).sum(axis=-1) > 0).all()


def test_the_man_of_boxes_walks_forward():
    """Read with nothing of ours: his toes point where the step leads, to -z, and the legs swing against each other."""
    data = MADE["arma/walk.rtm"]
    start = data.index(b"RTM_0101") + 8
    step = struct.unpack_from("<3f", data, start)
    frames, bones = struct.unpack_from("<II", data, start + 12)
    names = [data[start + 20 + 32 * bone :][:32].rstrip(b"\0").decode() for bone in range(bones)]
    kind = np.dtype([("phase", "<f4"), ("bone", [("name", "V32"), ("matrix", "<f4", (4, 3))], bones)])
    rows = np.frombuffer(data, kind, frames, start + 20 + 32 * bones)
    assert step == (0, 0, -1.5)
    assert names == ["Pelvis", "Spine", "head", "LeftUpLeg", "LeftFoot", "RightUpLeg", "RightFoot"]
    matrices = rows["bone"]["matrix"]
    left, right = (
        np.array([sign * 0.125, 0.0, -0.1875, 1.0]) @ matrices[:, names.index(f"{side}Foot")]  # his toes, on the ground
        for sign, side in ((1, "Left"), (-1, "Right"))
    )
    np.testing.assert_allclose(left * [-1, 1, 1], right[[0, 3, 2, 1, 4]], atol=1e-6)
    assert np.ptp(left[:, 2]) > 0.3
    binarised = MADE["arma/walk_binarised.rtm"]
    assert binarised[:8] == b"BMTR" + struct.pack("<I", 5)
