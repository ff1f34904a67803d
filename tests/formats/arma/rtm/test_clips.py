"""Animations as clips and back: axes, what is kept and refused; another library and the vendor's pair as judges."""

import math
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import deltas, rotation, space
from addon.core.binary import Reader
from addon.core.changes import Changes
from addon.core.compression import lzo
from addon.core.errors import ReadError, WriteError
from addon.core.model import Event, absolute
from addon.core.report import Report
from addon.formats.arma import model_cfg, rtm
from addon.formats.arma.rtm.document import StoredEvent
from addon.formats.arma.rtm.mapping import halves
from addon.formats.arma.rtm.sources import stored_events
from addon.formats.arma.skeletons import MAN_ARMA_2, MAN_ARMA_3, MAN_FLASHPOINT, Hierarchy
from tests.formats.arma.rtm.small_files import IDENTITY, MOVED, TURN, binarised, events, plain, transform
from tests.real_files import CORPUS, corpus_files

PAIR = Hierarchy("pair", {"Pelvis": "", "Spine": "Pelvis"})
# Of the vendor's pair: its own skeleton.
VENDOR = Hierarchy("vendor", {"Pelvis": "", "Torso": "Pelvis", "RightArm": "Torso", "LeftArm": "Torso"})
SKELETONS = {
    "armaio_v5": VENDOR,
    "armaio_mdat": VENDOR,
    "agm_dancing_v3": MAN_ARMA_2,
    "ascz_stryker_dead_v3": MAN_ARMA_2,
    "cwr_actor_motion": Hierarchy("none", {"root": "", "spine": "root", "head": "spine"}),
}
BINARISED = ("rtm_binarised/*.rtm", "odd/scaled_quaternions.rtm")


def read(data, name="test.rtm"):
    return rtm.read(data, name, Report())


def clip_of(document, hierarchy=None):
    return rtm.decode(document, Report(), hierarchy, "walk")


def skeleton_of(file):
    if file.stem.startswith("dog"):
        config = model_cfg.read((file.parent / "dog_model.cfg").read_bytes(), "model.cfg", Report())
        return max(config.skeletons.values(), key=lambda skeleton: len(skeleton.parents))
    return SKELETONS.get(file.stem, MAN_ARMA_3)


def test_a_step_of_signalling_nans_is_kept_without_an_alarm():
    data = plain().replace(struct.pack("<3f", 0.0, 0.0, -1.5), bytes.fromhex("0100a07f") * 3)
    document = read(data)
    clip = clip_of(document)
    assert np.isnan(clip.step).all()
    assert rtm.write(rtm.encode_plain(clip, document)[0]) == data


def test_axes_and_names_of_a_plain_file():
    clip = clip_of(read(plain(phases=(0.5, 13.5))))
    assert (clip.name, clip.bones, clip.frames) == ("walk", ["Pelvis", "Spine"], 2)
    assert clip.phases.tolist() == [0.5, 13.5]
    assert clip.step.tolist() == [0, -1.5, 0], "forward is -z in the file and -y in Blender"
    # The file's point (1, 2, 3): rows are the images of x, y, z and the translation.
    x, y, z, moved = np.reshape(MOVED, (4, 3))
    image = 1 * x + 2 * y + 3 * z + moved
    blender = clip.deltas[1, 0] @ [1, 3, 2, 1]
    np.testing.assert_array_equal(blender[:3], image[[0, 2, 1]])


def test_a_binarised_bone_is_turned_half_round_transposed_and_relative_to_its_parent():
    """D = S [R(q)^T | t] S, then the parent's times D; in the file's axes, column form, S = diag(-1, 1, -1)."""
    document = read(
        binarised(
            bones=(b"pelvis", b"spine"), frames=[transform(TURN, (0.5, 0, 0)) + transform(TURN, (0.25, 0.5, -0.75))] * 2
        )
    )
    clip = clip_of(document, PAIR)
    cosine, sine = math.cos(math.pi / 2), math.sin(math.pi / 2)
    quaternion = np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])  # R(q) of a quarter turn about y
    half = np.diag([-1.0, 1.0, -1.0])

    def delta(position):
        result = np.eye(4)
        result[:3, :3] = half @ quaternion.T @ half
        result[:3, 3] = half @ position
        return result

    pelvis, spine = delta([0.5, 0, 0]), delta([0.25, 0.5, -0.75])
    swap = np.eye(4)[[0, 2, 1, 3]]
    np.testing.assert_allclose(clip.deltas[0, 0], swap @ pelvis @ swap, atol=1e-4)
    np.testing.assert_allclose(clip.deltas[1, 1], swap @ pelvis @ spine @ swap, atol=1e-4)


def test_a_binarised_file_wants_a_hierarchy_that_is_the_games():
    document = read(binarised())
    for hierarchy, sentence in (
        (None, "no file names the parents"),
        (MAN_FLASHPOINT, "no hierarchy in the game"),
        (VENDOR, None),
        (Hierarchy("dog", {"tail": ""}), "lists none"),
    ):
        if sentence is None:
            report = Report()
            rtm.decode(document, report, hierarchy)
            assert "does not list spine" in report.lines()[0]
            continue
        with pytest.raises(ReadError, match=sentence) as refusal:
            clip_of(document, hierarchy)
        assert refusal.value.remedy


def test_a_parent_that_the_file_lacks_is_passed_over():
    chain = Hierarchy("chain", {"pelvis": "", "between": "pelvis", "spine": "Between"})
    document = read(binarised())
    np.testing.assert_array_equal(clip_of(document, chain).deltas, clip_of(document, PAIR).deltas)


def test_zero_quaternions_are_the_identity():
    document = read(binarised(frames=[transform((0, 0, 0, 0)) + transform()] * 2))
    np.testing.assert_array_equal(clip_of(document, PAIR).deltas, np.broadcast_to(np.eye(4), (2, 2, 4, 4)))
    again, changes = rtm.encode_binarised(clip_of(document, PAIR), PAIR, document)
    assert again is document
    assert not changes


@pytest.mark.parametrize("file", corpus_files("rtm/*.rtm", *BINARISED))
def test_what_is_not_edited_is_the_document_itself(file):
    document = read(file.read_bytes(), file.name)
    hierarchy = skeleton_of(file)
    clip = clip_of(document, hierarchy)
    if isinstance(document, rtm.Plain):
        again, changes = rtm.encode_plain(clip, document)
        new, _ = rtm.encode_plain(clip)
        assert new.matrices.tobytes() == document.matrices.tobytes(), "exchanging axes is exact both ways"
        assert new.phases.tobytes() == document.phases.tobytes()
    else:
        again, changes = rtm.encode_binarised(clip, hierarchy, document)
    assert again is document
    assert not changes
    assert changes.sentence() == f"{len(clip.bones)} bones unchanged"


@pytest.mark.parametrize("file", corpus_files("rtm/*.rtm"))
def test_the_scene_may_lose_shear_and_yet_the_file_is_kept(file):
    """What 32-bit keys on any skeleton give back of the file's matrices is told apart from an edit."""
    document = read(file.read_bytes(), file.name)
    clip = clip_of(document)
    parents = MAN_ARMA_3.parent_indices(clip.bones)
    rests = np.broadcast_to(np.eye(4), (len(clip.bones), 4, 4)).copy()
    rests[:, :3, 3] = np.random.default_rng(1).normal(size=(len(rests), 3))
    result = deltas.channels(clip.deltas, rests, parents)
    keys = replace(
        result,
        **{
            name: getattr(result, name).astype(np.float32).astype(float)
            for name in ("locations", "rotations", "scales")
        },
    )
    back = replace(clip, deltas=deltas.deltas_of(keys, rests, parents))
    again, changes = rtm.encode_plain(back, document, unedited=deltas.deltas_of(result, rests, parents))
    assert again is document, changes.sentence()
    back.deltas[5 % len(rests), 0, 0, 3] += 1e-4
    again, changes = rtm.encode_plain(back, document, unedited=deltas.deltas_of(result, rests, parents))
    assert [(change.name, change.items[0].keys) for change in changes.parts] == [(clip.bones[5 % len(rests)], 1)]
    assert np.count_nonzero(again.matrices != document.matrices) == 1


@pytest.mark.parametrize("file", corpus_files("rtm/*.rtm"))
def test_another_library_reads_the_same_plain_file(file):
    judge = pytest.importorskip("armaio.rtm")
    theirs = judge.RtmFile.read_file(str(file))
    document = read(file.read_bytes(), file.name)
    assert list(theirs.bones) == document.bones
    assert [frame.phase for frame in theirs.frames] == document.phases.tolist()
    assert list(theirs.motion) == document.step.tolist()
    result = np.array([[frame.transforms[bone] for bone in theirs.bones] for frame in theirs.frames])
    np.testing.assert_array_equal(result[..., :3], document.matrices)
    assert list(theirs.properties) == [
        (float(event.phase), event.name.decode(), event.value.decode()) for event in document.events or ()
    ]


@pytest.mark.parametrize("file", corpus_files("rtm_binarised/*_v5*.rtm"))
def test_another_library_converts_to_the_same_matrices(file):
    judge = pytest.importorskip("armaio.rtm")
    hierarchy = skeleton_of(file)
    document = read(file.read_bytes(), file.name)
    # It breaks the chain where a bone's own parent is not in the file: it is given the parents we found.
    parents = hierarchy.parent_indices(document.bones)
    order = deltas.parents_first(parents)
    pairs = tuple(
        judge.Bone(document.bones[bone], document.bones[parents[bone]] if parents[bone] >= 0 else "") for bone in order
    )
    theirs = judge.RtmFile.from_binarized(judge.BmtrFile.read_file(str(file)), pairs)
    mine = rtm.ALONG_SKELETON["plain"](document, hierarchy, Report())
    result = np.array([[frame.transforms[bone] for bone in theirs.bones] for frame in theirs.frames])[..., :3]
    # It takes quaternions for unit ones, which they are to 1 / 16384 where there is no scale.
    scaled = rtm.scaled_bones(document)
    assert bool(scaled) == (file.stem == "rhs_sawfix_v5")
    assert scaled or np.abs(result - mine.matrices).max() < 4e-3
    assert mine.phases.tolist() == [frame.phase for frame in theirs.frames]


def test_bones_with_a_scale_are_named():
    sound, scaled = transform(), transform((0, 9000, 0, 9000))
    frames = [sound + scaled, 2 * sound, 2 * sound]
    assert rtm.scaled_bones(read(binarised(frames=frames, phases=(0.0, 0.5, 1.0)))) == ["spine"]
    assert rtm.scaled_bones(read(binarised(frames=[2 * sound] * 3, phases=(0.0, 0.5, 1.0)))) == []


@pytest.fixture(scope="module")
def vendors_pair():
    if CORPUS is None:
        pytest.skip("MOTIONBRIDGE_CORPUS is not set")
    both = CORPUS / "rtm" / "armaio_mdat.rtm", CORPUS / "rtm_binarised" / "armaio_v5.rtm"
    return [file.read_bytes() for file in both]


def test_binarising_gives_the_vendors_own_bytes(vendors_pair):
    before, wanted = vendors_pair
    assert rtm.write(rtm.ALONG_SKELETON["5"](read(before), VENDOR, Report())) == wanted


def test_the_vendors_binarised_file_gives_the_plain_one_within_half_precision(vendors_pair):
    wanted, before = vendors_pair
    report = Report()
    result, plain_one = rtm.ALONG_SKELETON["plain"](read(before), VENDOR, report), read(wanted)
    assert not report
    assert [bone.lower() for bone in plain_one.bones] == result.bones
    np.testing.assert_allclose(result.matrices, plain_one.matrices, atol=5e-4)
    assert result.phases.tolist() == plain_one.phases.tolist()
    assert result.step.tolist() == plain_one.step.tolist()
    assert [event.meaning for event in result.events] == [event.meaning for event in plain_one.events]


@pytest.mark.parametrize("file", corpus_files(*BINARISED))
def test_binarised_to_plain_and_back_gives_the_vendors_quaternions_and_settles(file):
    """Every quaternion to the bit, lengths included; what is lost is lost once, below the noise of 32-bit matrices."""
    document, hierarchy = read(file.read_bytes(), file.name), skeleton_of(file)

    def there_and_back(binarised):
        plain_one = rtm.ALONG_SKELETON["plain"](binarised, hierarchy, Report())
        return rtm.ALONG_SKELETON["5"](plain_one, hierarchy, Report())

    first = there_and_back(document)
    np.testing.assert_array_equal(first.transforms["rotation"], document.transforms["rotation"])
    ours, theirs = (side.transforms["translation"].astype(float) for side in (first, document))
    np.testing.assert_allclose(ours, theirs, atol=6e-7, rtol=0)
    assert (ours == theirs).mean() > 0.96
    assert (np.abs(theirs) < 2e-3)[ours != theirs].all(), "only where halves are finer than the noise"
    again = first
    for _ in range(3):
        again = there_and_back(again)
        assert rtm.write(again) == rtm.write(first)


@pytest.mark.parametrize("file", corpus_files("rtm/*.rtm"))
def test_plain_to_binarised_is_settled_at_once(file):
    document, hierarchy = read(file.read_bytes(), file.name), skeleton_of(file)
    first = rtm.ALONG_SKELETON["5"](document, hierarchy, Report())
    plain_one = rtm.ALONG_SKELETON["plain"](first, hierarchy, Report())
    assert rtm.write(rtm.ALONG_SKELETON["5"](plain_one, hierarchy, Report())) == rtm.write(first)
    np.testing.assert_allclose(plain_one.matrices, document.matrices, atol=0.1)


def worst_gap(clip, hierarchy):
    """Metres between where a bone and its parent take the joint."""
    parents = hierarchy.parent_indices(clip.bones)
    pivots = {name.lower(): space.arma_points(np.array(point)) for name, point in hierarchy.pivots.items()}
    return max(
        np.linalg.norm((clip.deltas[bone] - clip.deltas[parent]) @ [*pivots[name.lower()], 1], axis=-1).max()
        for bone, (name, parent) in enumerate(zip(clip.bones, parents, strict=True))
        if parent >= 0 and name.lower() in pivots
    )


def test_the_length_of_a_quaternion_is_a_scale_that_keeps_joints_together(corpus):
    for name, without, gap in (("odd/scaled_quaternions", 0.54, 0.01), ("rtm_binarised/rhs_sawfix_v5", 0.42, 0.037)):
        document = read((corpus / f"{name}.rtm").read_bytes())
        assert worst_gap(clip_of(document, MAN_ARMA_3), MAN_ARMA_3) == pytest.approx(gap, abs=1e-3)
        stored = document.transforms["rotation"].astype(np.float64)
        lengths = np.linalg.norm(stored, axis=-1, keepdims=True)
        unit = np.array(document.transforms)
        unit["rotation"] = np.rint(16384 * stored / np.maximum(lengths, 1))
        gap = worst_gap(clip_of(replace(document, transforms=unit), MAN_ARMA_3), MAN_ARMA_3)
        assert gap == pytest.approx(without, abs=5e-3)


def test_a_uniform_scale_is_the_square_of_the_length():
    document = read(binarised(frames=[transform() + transform((0, 0, 0, 32767))] * 2))
    clip = clip_of(document, PAIR)
    np.testing.assert_allclose(clip.deltas[1, 0, :3, :3], np.eye(3) * (32767 / 16384) ** 2, rtol=1e-12)
    clip.deltas[1, :, :3, :3] = np.eye(3) * 1.44
    again, changes = rtm.encode_binarised(clip, PAIR, document)
    assert again.transforms["rotation"][:, 1].tolist() == [[0, 0, 0, round(1.2 * 16384)]] * 2
    assert changes.left_out == []
    clip.deltas[1, :, :3, :3] = np.eye(3) * 5
    again, changes = rtm.encode_binarised(clip, PAIR, document)
    assert again.transforms["rotation"][:, 1].tolist() == [[0, 0, 0, 32767]] * 2
    assert "exceeds 4" in changes.left_out[0]


def test_the_sign_of_a_quaternion_depends_on_how_far_it_turns():
    """Up to 120 degrees w is positive; beyond, the largest of x, y, z is, and w may be negative."""
    document = read(binarised(bones=(b"pelvis",), frames=[transform()] * 2))
    angles = np.radians([119.0, -119.0])
    for turned in (1.0, 1.02):
        half = angles * turned / 2
        quaternions = np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=-1)
        clip = clip_of(document, PAIR)
        clip.deltas = rotation.transforms(quaternions, np.zeros((2, 3)))[None]
        result = rtm.encode_binarised(clip, PAIR)[0].transforms["rotation"][:, 0]
        assert ((result[:, 3] > 0) if turned == 1.0 else (result[:, :3].sum(axis=-1) > 0)).all()
    assert (result[:, 3] < 0).sum() == 1


def test_old_versions_are_written_again_without_a_hierarchy():
    document = read(binarised(3))
    again = rtm.ALONG_SKELETON["5"](document, None, Report())
    assert rtm.write(again) == binarised(5)
    assert rtm.ALONG_SKELETON["5"](again, None, Report()) is again
    old = read(plain(mark=b"RTM_0100"))
    assert rtm.write(rtm.ALONG_SKELETON["plain"](old, None, Report())) == plain()


# Editing --------------------------------------------------------------------------------------------------------------


def test_one_number_changes_four_bytes_of_a_plain_file():
    data = events((0.5, b"a", b"b")) + plain()
    document = read(data)
    clip = clip_of(document)
    clip.deltas[1, 1, 2, 3] += 0.25  # upwards: the file's y
    again, changes = rtm.encode_plain(clip, document)
    written = rtm.write(again)
    differ = [index for index in range(len(data)) if data[index] != written[index]]
    last = len(data) - 8  # x y z of the last matrix end the file
    assert set(differ) <= set(range(last, last + 4))
    assert changes.sentence() == "1 bone, 1 frame changed, 1 unchanged"


def test_one_frame_of_a_binarised_file_keeps_the_blocks_of_the_others(corpus):
    document = read((corpus / "rtm_binarised" / "armaio_v5_lzo.rtm").read_bytes())
    clip = clip_of(document, MAN_ARMA_3)
    bone = clip.bones.index("head")
    clip.deltas[bone, 7, :3, 3] += 0.01
    again, changes = rtm.encode_binarised(clip, MAN_ARMA_3, document)
    assert [(change.name, change.items[0].keys) for change in changes.parts] == [("head", 1)]
    assert [bytes(block) for frame, block in enumerate(again.blocks) if frame != 7] == [
        bytes(block) for frame, block in enumerate(document.blocks) if frame != 7
    ]
    assert len(again.blocks[7]) == 0
    differ = again.transforms != document.transforms
    assert np.argwhere(differ).tolist() == [[7, bone]]
    assert again.transforms["rotation"][7, bone].tolist() == document.transforms["rotation"][7, bone].tolist()
    assert rtm.recompose(again) == rtm.write(again)


def test_moving_a_parent_with_its_children_changes_one_binarised_bone():
    document = read(binarised())
    clip = clip_of(document, PAIR)
    clip.deltas[:, 0, 2, 3] += 1.0
    _, changes = rtm.encode_binarised(clip, PAIR, document)
    assert [(change.name, change.items[0].keys) for change in changes.parts] == [("pelvis", 1)]


def test_frames_find_their_bytes_by_phase_bones_by_name():
    document = read(plain(phases=(0.0, 0.5, 1.0), matrices=[[IDENTITY, MOVED]] * 3))
    clip = clip_of(document)
    shorter = replace(clip, deltas=clip.deltas[::-1, ::2], phases=clip.phases[::2], bones=clip.bones[::-1])
    again, changes = rtm.encode_plain(shorter, document)
    assert changes.lines == ["bones", "frames"]
    assert changes.parts == []
    assert again.frame_fields[1, 0].tobytes() == document.frame_fields[2, 1].tobytes(), "garbage goes with the name"
    assert again.bone_fields[0].tobytes() == document.bone_fields[1].tobytes()
    renamed = replace(clip, bones=["pelvis", "Neck"])
    again, changes = rtm.encode_plain(renamed, document)
    assert changes.lines == ["bones"]
    assert [change.name for change in changes.parts] == ["Neck"], "upper and lower case are the same name to the game"
    assert again.bone_fields[0].tobytes() == b"pelvis".ljust(32, b"\0")


def test_phases_step_and_events():
    document = read(events((0.5, b"a", b"b")) + plain())
    clip = clip_of(document)
    clip.phases = np.array([0, 0.75], np.float32)
    clip.step = np.array([0.0, -1.5 - 1e-9, 0.0])
    clip.events.append(Event(np.float32(0.75), "StepSound", ""))
    again, changes = rtm.encode_plain(clip, document)
    assert changes.lines == ["phases", "events"]
    assert again.step.tobytes() == document.step.tobytes()
    assert again.phases.tolist() == [0, 0.75]
    assert [event.meaning[1:] for event in again.events] == [(b"a", b"b"), (b"StepSound", b"")]
    clip.step[1], clip.events = -2, []
    again, changes = rtm.encode_plain(clip, document)
    assert changes.lines == ["phases", "step", "events"]
    assert again.events == []
    assert again.step.tolist() == [0, 0, -2]


def test_an_event_is_that_of_the_file_whose_phase_it_has():
    """Blender's properties store every NaN alike, and infinity as the largest number."""
    most = np.finfo(np.float32).max
    phases = [0.25, 0.5, np.nan, np.inf, -np.inf, 0.5]
    stored = [StoredEvent(np.float32(phase), b"a", b"b", kind) for kind, phase in enumerate(phases)]
    wanted = {0.5: 1, -np.nan: 2, most: 3, -most: 4, 0.25: 0, 0.3: -1, 0.0: -1}
    events_ = [Event(np.float32(phase), "a", "b") for phase in wanted]
    assert [event.kind for event in stored_events(events_, stored, kinds=True)] == list(wanted.values())


def test_a_step_aside_makes_the_oldest_version_a_newer_one():
    document = read(plain(mark=b"RTM_0100"))
    clip = clip_of(document)
    clip.step[0] = 1.0
    again, changes = rtm.encode_plain(clip, document)
    assert changes.lines == ["step", "version"]
    assert rtm.write(again)[:8] == b"RTM_0101"


def test_events_make_an_old_binarised_file_version_5():
    document = read(binarised(3))
    clip = clip_of(document, PAIR)
    clip.events = [Event(np.float32(0.5), "StepSound", ""), Event(np.float32(0.75), "Test", "Prop")]
    again, changes = rtm.encode_binarised(clip, PAIR, document)
    assert changes.lines == ["events", "version"]
    assert [event.kind for event in read(rtm.write(again)).events] == [0, -1]


def test_shear_and_uneven_scale_are_reported_to_be_left_out():
    clip = clip_of(read(plain()))
    clip.deltas[1, 0, :3, :3] *= 1.5
    assert rtm.encode_binarised(clip, PAIR)[1].left_out == []
    clip.deltas[1, 0, :3, 0] *= 1.5
    _, changes = rtm.encode_binarised(clip, PAIR)
    assert len(changes.left_out) == 1
    assert "Spine" in changes.left_out[0]
    assert "Pelvis" not in changes.left_out[0]
    clip = clip_of(read(plain()))
    clip.deltas[1, 0, 0, 3] = 100.03
    assert "positions of Spine are rounded by up to 0.0" in rtm.encode_binarised(clip, PAIR)[1].left_out[0]


def test_default_phases_are_those_of_the_usual_tools():
    assert rtm.default_phases(1).tolist() == [0]
    assert rtm.default_phases(2).tolist() == [0, 1]
    for frames in (3, 26, 30, 51, 351):
        step = np.float32(1 / (frames - 1))
        assert rtm.default_phases(frames).tolist() == [np.float32(frame) * step for frame in range(frames)]


@pytest.mark.parametrize(
    "file",
    corpus_files("rtm/agm_wipe*", "rtm/captive*.rtm", "rtm/dog_idlejump.rtm", "rtm/dog_swim*", "rtm/rappel_aim*"),
)
def test_real_phases_of_whole_cycles_are_the_default(file):
    """To the bit; 0.99999994 at the end of one. Dividing frame by frame gives others in four of these five."""
    phases = read(file.read_bytes(), file.name).phases
    assert phases.tobytes() == rtm.default_phases(len(phases)).tobytes()


@given(st.lists(st.floats(-60000, 60000), min_size=1, max_size=20), st.sampled_from([1.0, 2.0, 64.0]))
def test_halves_are_rounded_towards_zero_but_for_noise(values, magnitude):
    exact = np.array(values)
    result = halves(exact, magnitude)
    again = result.astype(float)
    coarse = np.abs(exact) < magnitude * 2.0**-12
    assert (np.abs(again) <= np.abs(exact) + magnitude * 2.0**-20).all()
    next_out = np.abs(np.nextafter(result, np.copysign(np.inf, exact).astype(np.float16)).astype(float))
    assert (next_out > np.abs(exact))[~coarse & (np.abs(exact) >= 2.0**-14)].all()
    np.testing.assert_allclose(again[coarse], exact[coarse], atol=max(magnitude * 2.0**-23, 2.0**-14))
    assert (again[np.abs(exact) < 2.0**-15] == 0).all()
    noise = np.random.default_rng(len(values)).uniform(-1, 1, again.shape) * magnitude * 2.0**-24
    np.testing.assert_array_equal(halves(again + noise, magnitude), result, "what was rounded stays what it is")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"bones": ["a" * 32, "Spine"]}, "more than 31 bytes: aaaa"),
        ({"bones": ["Spine", "spine"]}, "treats these bones as one: Spine/spine"),
        ({"bones": ["日本", "Spine"]}, "code page"),
        ({"deltas": np.zeros((2, 0, 4, 4)), "phases": np.zeros(0, np.float32)}, "no frames"),
        ({"deltas": np.full((2, 2, 4, 4), np.nan)}, "NaN or infinite values"),
        ({"phases": np.zeros(3, np.float32)}, r"phases \(3\) and frames \(2\)"),
        ({"events": [Event(np.float32(0), "a" * 256, "")]}, "longer than 255"),
        ({"deltas": np.zeros((2, 100_001, 4, 4)), "phases": np.zeros(100_001, np.float32)}, "more than the game reads"),
    ],
)
@pytest.mark.parametrize("based", [False, True])
def test_what_the_game_cannot_take_is_refused(change, sentence, based):
    document = read(plain())
    clip = replace(clip_of(document), **change)
    for encode in (
        lambda: rtm.encode_plain(clip, document if based else None),
        lambda: rtm.encode_binarised(clip, PAIR, read(binarised()) if based else None),
    ):
        with pytest.raises(WriteError, match=sentence) as refusal:
            encode()
        assert refusal.value.remedy


def test_nan_phases_and_matrices_of_a_file_are_reported_and_kept():
    nan = float("nan")
    document = read(plain(phases=(0.0, nan), matrices=[[IDENTITY, MOVED], [IDENTITY, (nan,) * 12]]))
    clip = rtm.decode(document, Report())
    assert rtm.encode_plain(clip, document)[0] is document


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_binarised_parent_that_is_not_finite_is_kept_with_its_children(value):
    frame = transform(translation=(value, 0.5, 0.0)) + transform(TURN, (0.25, 0.5, -0.75))
    document = read(binarised(frames=[frame] * 2))
    assert rtm.encode_binarised(clip_of(document, PAIR), PAIR, document)[0] is document


@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 4), bones=st.integers(1, 5))
def test_binarised_clips_come_back_within_their_steps(seed, frames, bones):
    random = np.random.default_rng(seed)
    hierarchy = Hierarchy("any", {f"b{bone}": f"b{random.integers(bone)}" if bone else "" for bone in range(bones)})
    document = read(
        plain(
            tuple(b"b%d" % bone for bone in range(bones)), tuple(range(frames)), matrices=[[IDENTITY] * bones] * frames
        )
    )
    clip = clip_of(document)
    rotations = random.normal(size=(bones, frames, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    positions = random.uniform(-2, 2, (bones, frames, 3))
    relative = deltas.compose(positions, rotations, np.ones((bones, frames, 3)))
    parents = hierarchy.parent_indices(clip.bones)
    clip.deltas = absolute(relative, parents)
    written, _ = rtm.encode_binarised(clip, hierarchy)
    back = clip_of(read(rtm.write(written)), hierarchy)
    result = deltas.relative(back.deltas, parents)
    np.testing.assert_allclose(result[..., :3, :3], relative[..., :3, :3], atol=3e-4)
    np.testing.assert_allclose(result[..., :3, 3], relative[..., :3, 3], atol=1e-3)


def test_other_phases_go_in_packed_again_and_are_reported_once():
    packed = replace(read(binarised()), phases_block=b"packed")
    for document in (packed, read(plain())):
        changes = Changes()
        again = rtm.with_phases(document, np.array([0.0, 0.75]), changes)
        assert (again.phases.dtype, again.phases.tolist(), changes.lines) == (np.dtype("<f4"), [0, 0.75], ["phases"])
        rtm.with_phases(again, again.phases, changes)
        assert changes.lines == ["phases"]
        written = read(rtm.write(again))
        assert written.phases.tolist() == [0, 0.75]
        assert getattr(again, "phases_block", b"") == b""


@pytest.mark.parametrize("with_event", [False, True])
@pytest.mark.parametrize("file", corpus_files("rtm_binarised/*.rtm"))
def test_edited_frames_of_real_files_stay_compressed(file, with_event):
    data = file.read_bytes()
    document = read(data)
    hierarchy = Hierarchy("flat", dict.fromkeys(document.bones, ""))
    clip = clip_of(document, hierarchy)
    clip.deltas[0, :, 0, 3] += 0.01 * np.arange(1, clip.frames + 1)
    added = [Event(np.float32(0.5), "sound", "step")] * with_event
    again, changes = rtm.encode_binarised(replace(clip, events=[*clip.events, *added]), hierarchy, document)
    assert changes.extent == f"{clip.frames} frame{'s' * (clip.frames > 1)}"
    written = rtm.write(again)
    assert read(written).transforms.tobytes() == again.transforms.tobytes()
    assert len(written) < 1.03 * len(data) + 40 * with_event


def test_a_new_frame_has_no_block_of_another():
    document = read(binarised())
    document.blocks = [b"first", b"last"]
    clip = clip_of(document, PAIR)
    longer = replace(clip, deltas=clip.deltas[:, [0, 1, 1]], phases=np.array([0.0, 1.0, 2.0], np.float32))
    again, changes = rtm.encode_binarised(longer, PAIR, document)
    assert "frames" in changes.lines
    assert again.blocks[:2] == [b"first", b"last"]
    row = again.transforms[2].tobytes()
    assert lzo.unpack(Reader(again.blocks[2]), len(row)) == (row, again.blocks[2])
