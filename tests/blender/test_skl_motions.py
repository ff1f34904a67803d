"""The editor's motions on a rig: Blender shows what the engine plays, and what nobody touched leaves as it came.

The rig of most tests is built from the bones a file names, with rest poses of every kind: none, about one axis, axes
exchanged, anything. The judge is the engine's formula, written out here with plain matrices.
"""

import math
import struct

import bpy
import numpy as np
import pytest

from addon.blender import armature
from addon.blender.properties import drop
from addon.blender.rotation_modes import HiddenKeys
from addon.core import rotation, space
from addon.core.envelope import Behaviour, Envelope, evaluate
from addon.core.errors import ReadError, WriteError
from addon.core.model import Skeleton
from addon.core.report import Report
from addon.formats.xray import skl
from addon.formats.xray.envelopes import stored
from addon.formats.xray.marks import Mark
from addon.formats.xray.skl import BoneTrack, SkeletalMotion
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library, omf_codec, skl_codec
from addon.games.xray.motions.library import Onto
from addon.games.xray.motions.omf_codec import MotionImportOptions
from addon.games.xray.motions.skl_codec import Rotation, SkeletalExportOptions, SkeletalImportOptions
from addon.games.xray.options import ModelImportOptions, RestChange
from tests.blender.scenes import reopen
from tests.real_files import CORPUS
from tests.scene import differences, snapshot

needs_corpus = pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
REAL = ["skl/bx_test.skl", "skls/bx_test.skls", "skls/unarmed.skls"]
STEPPED, CURVED, MIXED = [4], [0, 1, 3], [0, 3, 4]
DEGREE = math.radians(1.0)


def xray_matrix(values):
    """The engine's parent-local matrix of X Y Z H P B, column form: setXYZi(P, H, B) = Ry(H)·Rx(P)·Rz(B)."""
    x, y, z, h, p, b = values
    result = np.eye(4)
    for axis, angle in ((1, h), (0, p), (2, b)):
        quaternion = np.eye(4)
        first, other = [(1, 2), (2, 0), (0, 1)][axis]
        quaternion[first, first] = quaternion[other, other] = math.cos(angle)
        quaternion[first, other], quaternion[other, first] = -math.sin(angle), math.sin(angle)
        result = result @ quaternion
    result[:3, 3] = x, y, z
    return result


def engine_pose(motion, bones, parents, seconds):
    """Armature-space matrices, in Blender's axes: C·G·D with G the product of the parents' transforms."""
    exchange = np.eye(4)[[0, 2, 1, 3]]
    mirror = np.diag([1.0, 1.0, -1.0, 1.0])
    tracks = {track.name.decode().lower(): track for track in motion.tracks}
    result = {}

    def whole(bone):
        if bone not in result:
            track = tracks[bones[bone].lower()]
            local = xray_matrix([float(evaluate(envelope.decoded(), seconds)) for envelope in track.envelopes])
            result[bone] = local if parents[bone] < 0 else whole(parents[bone]) @ local
        return result[bone]

    return {bones[bone]: exchange @ whole(bone) @ mirror for bone in range(len(bones))}


RESTS = [
    np.array([1.0, 0, 0, 0]),
    rotation.about_axis(1, 0.7),  # about y: its angle adds to the bone's
    rotation.from_matrices(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])),  # axes exchanged
    rotation.normalised(np.array([0.3, -0.5, 0.7, 0.2])),
]


def rig_of(bones, rests=RESTS):
    """A chain of bones whose rest poses go through ``rests``."""
    count = len(bones)
    skeleton = Skeleton(
        "rig",
        list(bones),
        np.arange(-1, count - 1, dtype=np.int32),
        np.stack([rests[number % len(rests)] for number in range(count)]),
        np.tile([0.1, 0.4, -0.2], (count, 1)),
        space.XRAY_ROOT_FRAME,
    )
    rig, _ = armature.build(bpy.context, skeleton)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    return rig


def made_motion(shapes, *, bones=("root", "arm", "hand", "Finger"), version=6, keys=7, seed=3, apart=False):
    """A motion with keys on whole frames; each channel of a bone at the same ones unless ``apart``."""
    random = np.random.default_rng(seed)
    tracks = []
    for bone in bones:
        times = np.append(0, np.cumsum(random.integers(2, 6, keys - 1))) / 30
        envelopes = []
        for channel in range(6):
            if apart:
                times = np.append(0, np.cumsum(random.integers(2, 6, keys - 1))) / 30
            used = random.choice(shapes, keys).astype(np.uint8)
            values = random.normal(0, 0.1 if channel < 3 else 0.4, keys)
            envelope = Envelope(times, values, used, random.uniform(-0.5, 0.5, (keys, 3)), np.zeros((keys, 4)))
            envelope.parameters[:, :2] = random.normal(0, 0.02, (keys, 2))
            envelopes.append(stored(envelope, to_packed=version >= 6))
        tracks.append(BoneTrack(bone.encode() if version >= 5 else None, 0, envelopes))
    timing = np.array([1.5, 2.0, 3.0, 0.5], "<f4")
    return SkeletalMotion(b"walk", 0, 30, np.float32(30), version, 2, 0xFFFF, timing, tracks)


def written(tmp_path, *motions, name="made.skls"):
    document = skl.new_skls(motions) if name.endswith(".skls") else skl.new_skl(motions[0])
    path = tmp_path / name
    path.write_bytes(skl.write(document))
    return path


def load(rig, path, report=None, **options):
    options.setdefault("rotation", Rotation.EULER)
    return library.import_motions(
        skl_codec.SKL,
        bpy.context,
        rig,
        str(path),
        options=SkeletalImportOptions(**options),
        report=Report() if report is None else report,
    )


def planned(rig, actions, path, report=None, onto=Onto.OWN_FILES, **options):
    options = SkeletalExportOptions(**options)
    return library.plan_export(
        skl_codec.SKL,
        bpy.context,
        rig,
        actions,
        str(path),
        onto=onto,
        options=options,
        report=Report() if report is None else report,
    )


def read(path):
    return skl.read(path.read_bytes(), path.name, Report())


def bones_of_file(path):
    return [track.name.decode() for track in read(path).motions[0].tracks]


def worst_differences(rig, motion, frames):
    """Metres and radians by which Blender's pose differs from the engine's, at most, over all bones."""
    bones = [bone.name for bone in rig.data.bones]
    index = {bone: number for number, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in rig.data.bones]
    metres = radians = 0.0
    for frame in frames:
        bpy.context.scene.frame_set(math.floor(frame), subframe=frame % 1.0)
        wanted = engine_pose(motion, bones, parents, float(np.float32(frame / float(motion.fps))))
        for bone in rig.pose.bones:
            actual = np.array(bone.matrix)
            metres = max(metres, np.abs(actual[:3, 3] - wanted[bone.name][:3, 3]).max())
            quaternion = rotation.from_matrices(np.stack([actual[:3, :3], wanted[bone.name][:3, :3]]))
            radians = max(radians, float(rotation.angles_between(quaternion[0], quaternion[1])))
    return metres, radians


@needs_corpus
@pytest.mark.parametrize("kind", [Rotation.EULER, Rotation.QUATERNION])
@pytest.mark.parametrize("file", REAL)
def test_blender_shows_what_the_engine_plays_of_real_files(file, kind):
    path = CORPUS / file
    rig = rig_of(bones_of_file(path))
    result = load(rig, path, rotation=kind)
    assert result.fitted == 0  # stepped keys go through any rest pose
    assert result.kept_exactly == len(rig.data.bones)
    (motion,) = read(path).motions
    times = np.unique(
        np.concatenate([envelope.keys["time"] for track in motion.tracks for envelope in track.envelopes])
    )
    # Between keys as well; a chain of forty bones adds up what a rest pose is off by (1e-5 a bone).
    frames = [0.0, 0.5, *np.linspace(0, motion.last, 14), *(times[:40] * float(motion.fps) + 0.25)]
    metres, radians = worst_differences(rig, motion, frames)
    assert metres < 2e-4 * len(rig.data.bones)
    assert radians < 1e-4 * len(rig.data.bones)


@needs_corpus
@pytest.mark.parametrize("model", ["gwr_wpn_hand_04", "ixray_wpn_hand_0"])
def test_blender_shows_what_the_engine_plays_on_the_games_own_skeletons(model, tmp_path):
    path = CORPUS / "skls" / "unarmed.skls"
    rig = import_model(bpy.context, CORPUS / "ogf" / f"{model}.ogf", ModelImportOptions(textures=False), Report()).rig
    actions = load(rig, path, rotation=Rotation.AUTOMATIC).actions
    assert rig.pose.bones["bip01"].rotation_mode == "ZXY"
    metres, radians = worst_differences(rig, read(path).motions[0], [0, 0.5, 3.25, 7, 12.5, 24, 25, 38.75, 39])
    assert metres < 2e-4
    assert radians < 5e-4
    assert planned(rig, actions, tmp_path / "new.skls").data == path.read_bytes()


@pytest.mark.parametrize("kind", [Rotation.EULER, Rotation.QUATERNION])
@pytest.mark.parametrize(("shapes", "apart"), [(STEPPED, True), (CURVED, False), (CURVED, True), (MIXED, False)])
def test_blender_shows_what_the_engine_plays_of_curves(tmp_path, shapes, apart, kind):
    motion = made_motion(shapes, apart=apart)
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    load(rig, path, rotation=kind)
    # Of channels that leap at different times the curve is bent for a fiftieth of a frame before.
    frames = [frame for frame in np.arange(0, 30, 0.37) if abs(frame - round(frame)) > 0.05 or shapes != MIXED]
    metres, radians = worst_differences(rig, read(path).motions[0], frames)
    assert metres < 1e-3
    assert radians < 4 * 0.02 * DEGREE


def test_curves_are_the_files_own_where_the_rest_pose_allows(tmp_path):
    motion = made_motion([0], apart=True)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    report = Report()
    result = load(rig, written(tmp_path, motion), report)
    # root and arm: angles add; hand: axes are exchanged, so only its angles are fitted; Finger: everything mixes.
    assert (result.kept_exactly, result.fitted) == (2, 2)
    assert any("2 tracks have the file's curves; fitted to the bones' rest pose: 2," in line for line in report.lines())
    assert not any("too large" in line for line in report.lines())
    curves = {(curve.data_path, curve.array_index): curve for curve in curves_of(result.actions[0])}
    for bone, track in zip(("root", "arm"), motion.tracks[:2], strict=True):
        for index, channel in enumerate((4, 3, 5)):
            curve = curves[f'pose.bones["{bone}"].rotation_euler', index]
            times = [point.co[0] / 30 for point in curve.keyframe_points]
            assert times == pytest.approx(track.envelopes[channel].keys["time"].tolist(), abs=1e-6)
    hand = [curves['pose.bones["hand"].location', index] for index in range(3)]
    assert [len(curve.keyframe_points) for curve in hand] == [7, 7, 7]
    assert rig.pose.bones["root"].rotation_mode == "ZXY"


def test_bones_whose_keys_repeat_are_counted(tmp_path):
    for repeating in (0, 2):
        motion = made_motion(STEPPED)
        for track in motion.tracks[:repeating]:
            track.envelopes[3].after = Behaviour.REPEAT
        report = Report()
        load(rig_of(["root", "arm", "hand", "Finger"]), written(tmp_path, motion), report)
        lines = [
            line.partition(" that repeat or continue outside")[0] for line in report.lines() if "repeat or" in line
        ]
        assert lines == (["2 bones have keys"] if repeating else [])


def curves_of(action):
    from addon.blender import compat

    return list(compat.curve_bag(action).fcurves)


@needs_corpus
@pytest.mark.parametrize("kind", [Rotation.EULER, Rotation.QUATERNION])
@pytest.mark.parametrize("file", REAL)
def test_unedited_real_files_leave_unchanged_also_after_saving(file, kind, tmp_path):
    path = CORPUS / file
    rig = rig_of(bones_of_file(path))
    actions = load(rig, path, rotation=kind).actions
    before = snapshot()
    plan = planned(rig, actions, tmp_path / path.name)
    assert differences(before, snapshot()) == []
    assert plan.data == path.read_bytes()
    assert plan.changes.sentence() == "1 motion unchanged"
    rig, actions = saved_and_reloaded(tmp_path, rig, path.name)
    assert planned(rig, actions, tmp_path / path.name).data == path.read_bytes()


def saved_and_reloaded(tmp_path, rig, key):
    name = rig.name
    reopen(tmp_path)
    rig = bpy.data.objects[name]
    return rig, library.motions_of(rig.motionbridge_skeletal_files[key])


@pytest.mark.parametrize("calls", [True, False], ids=["by digest", "by comparison"])
@pytest.mark.parametrize("version", [4, 5, 6, 7])
@pytest.mark.parametrize("shapes", [STEPPED, CURVED, MIXED])
def test_unedited_curves_leave_unchanged_also_after_saving(shapes, version, calls, tmp_path, monkeypatch):
    first, second = made_motion(shapes, version=version), made_motion(shapes, version=version, seed=5, apart=True)
    second.name = b"run"
    if version == 7:
        first.marks = [Mark(b"Left", np.array([[0.1, 0.35]], "<f4"))]
    path = written(tmp_path, first, second)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    load(rig, path)
    rig, actions = saved_and_reloaded(tmp_path, rig, "made.skls")
    assert [action.name for action in actions] == ["walk", "run"]
    compared = bones_compared(monkeypatch)
    if not calls:
        for action in actions:
            drop(action.motionbridge_skeletal, "drawn")
    assert planned(rig, actions, tmp_path / "new.skls").data == path.read_bytes()
    assert planned(rig, actions[1:], tmp_path / "new.skls").data == skl.write(skl.new_skls([second]))
    assert compared == ([] if calls else [0, 1, 2, 3] * 3)


def bones_compared(monkeypatch):
    """The bones that are looked at key by key from now on."""
    compared, show = [], skl_codec.show

    def watched(tracks, *arguments, **options):
        compared.extend(tracks)
        return show(tracks, *arguments, **options)

    monkeypatch.setattr(skl_codec, "show", watched)
    return compared


EDITS = {
    "value": lambda entry: entry.keyframe_points[3].co.__setitem__(1, entry.keyframe_points[3].co[1] * (1 + 2e-7)),
    "left handle": lambda entry: entry.keyframe_points[3].handle_left.__setitem__(1, 0.3),
    "right handle": lambda entry: entry.keyframe_points[3].handle_right.__setitem__(0, 0.3),
    "interpolation": lambda entry: setattr(entry.keyframe_points[2], "interpolation", "CONSTANT"),
    "extrapolation": lambda entry: setattr(entry, "extrapolation", "LINEAR"),
    "a key less": lambda entry: entry.keyframe_points.remove(entry.keyframe_points[2]),
    "modifier": lambda entry: entry.modifiers.new("CYCLES"),
    "muted": lambda entry: setattr(entry, "mute", True),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_whatever_is_edited_on_a_bone_it_is_looked_at_and_no_other(edit, tmp_path, monkeypatch):
    path = written(tmp_path, made_motion(CURVED, version=5))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    compared = bones_compared(monkeypatch)
    edit(curve(action, "arm", "rotation_euler", 1))
    planned(rig, [action], tmp_path / "new.skls")
    assert compared == [1]


def test_a_bone_that_turns_by_another_order_now_is_looked_at(tmp_path, monkeypatch):
    path = written(tmp_path, made_motion(STEPPED, version=5))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    compared = bones_compared(monkeypatch)
    rig.pose.bones["hand"].rotation_mode = "XYZ"
    with pytest.raises(WriteError, match="hand"):
        planned(rig, [action], tmp_path / "new.skls")
    plan = planned(rig, [action], tmp_path / "new.skls", hidden_keys=HiddenKeys.SHOWN)
    assert compared == [2]
    assert {item.name.split()[0] for item in plan.changes.parts[0].items} == {"hand"}


def test_motions_of_other_bones_share_no_curves(tmp_path):
    whole, part = made_motion(MIXED), made_motion(MIXED, bones=("arm", "root"), seed=9)
    part.name = b"part"
    rig = rig_of(["root", "arm", "hand", "Finger"])
    actions = load(rig, written(tmp_path, whole, part, whole)).actions
    assert [len(curves_of(action)) for action in actions] == [24, 12, 24]
    assert {entry.data_path.split('"')[1] for entry in curves_of(actions[1])} == {"arm", "root"}
    assert not [action for action in bpy.data.actions if action not in actions]


def curve(action, bone, channel, index):
    path = f'pose.bones["{bone}"].{channel}'
    return next(entry for entry in curves_of(action) if entry.data_path == path and entry.array_index == index)


@pytest.mark.parametrize("bone", ["root", "arm", "hand", "Finger"])
@pytest.mark.parametrize("shapes", [STEPPED, CURVED])
def test_one_touched_bone_changes_only_its_channels(shapes, bone, tmp_path):
    motion = made_motion(shapes, version=5)  # versions 6 and 7 round handles
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    moved = curve(action, bone, "rotation_euler", 0)
    moved.keyframe_points[3].co[1] += 0.2
    moved.keyframe_points[3].handle_left[1] += 0.2
    moved.keyframe_points[3].handle_right[1] += 0.2
    moved.update()
    plan = planned(rig, [action], tmp_path / "new.skls")
    (change,) = plan.changes.parts
    assert {item.name.split()[0] for item in change.items} == {bone}
    assert {item.name.split()[1] for item in change.items} <= {"H", "P", "B"}
    (tmp_path / "new.skls").write_bytes(plan.data)
    (now,) = read(tmp_path / "new.skls").motions
    for old, new in zip(motion.tracks, now.tracks, strict=True):
        if new.name.decode() != bone:
            assert all(a.keys.tobytes() == b.keys.tobytes() for a, b in zip(old.envelopes, new.envelopes, strict=True))
        else:
            assert all(
                a.keys.tobytes() == b.keys.tobytes() for a, b in zip(old.envelopes[:3], new.envelopes[:3], strict=True)
            )
    # What was seen is what the file plays.
    metres, radians = worst_differences(rig, now, np.arange(0, 25, 0.41))
    assert metres < 1e-3
    assert radians < 4 * 0.02 * DEGREE


def test_one_touched_stepped_key_is_one_key_of_each_angle(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    curve(action, "Finger", "rotation_euler", 0).keyframe_points[3].co[1] += 0.05
    (change,) = planned(rig, [action], tmp_path / "new.skls").changes.parts
    assert [(item.name, item.keys) for item in change.items] == [("Finger P", 1), ("Finger H", 1), ("Finger B", 1)]


def test_a_touched_curve_key_is_that_key(tmp_path):
    path = written(tmp_path, made_motion([3], keys=9))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    curve(action, "arm", "rotation_euler", 1).keyframe_points[3].co[1] += 0.05
    (change,) = planned(rig, [action], tmp_path / "new.skls").changes.parts
    assert [(item.name, item.keys) for item in change.items] == [("arm H", 1)]


def test_how_it_is_played_is_shown_and_can_be_edited(tmp_path):
    motion = made_motion(STEPPED, version=7)
    motion.marks = [Mark(b"Left", np.array([[0.1, 0.35]], "<f4"))]
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    played = action.motionbridge_motion
    assert (played.speed, played.accrue, played.falloff, played.power) == (1.5, 2.0, 3.0, 0.5)
    assert played.flags == {"STOP_AT_END"}
    assert [mark.name for mark in played.marks] == ["Left"]
    assert [marker.frame for marker in action.pose_markers] == [3, 10]
    played.power, played.motion_name, played.flags = 0.75, "stroll", {"STOP_AT_END", "IDLE"}
    played.marks[0].intervals[0].end = 0.5
    action.frame_end = 25
    plan = planned(rig, [action], tmp_path / "new.skls")
    (change,) = plan.changes.parts
    assert change.items == ()
    assert set(change.fields) == {"marks", "frames", "name", "flags", "timing"}
    now = skl.read(plan.data, "new.skls", Report()).motions[0]
    assert (now.label, now.flags, now.first, now.last) == ("stroll", 0x42, 0, 25)
    assert now.timing.tolist() == [1.5, 2.0, 3.0, 0.75]
    assert now.marks[0].intervals.tolist() == [[np.float32(0.1), 0.5]]


def test_marks_make_a_motion_of_version_7(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    mark = action.motionbridge_motion.marks.add()
    mark.name = "Left"
    mark.intervals.add().end = 0.25
    report = Report()
    plan = planned(rig, [action], tmp_path / "new.skls", report)
    now = skl.read(plan.data, "new.skls", Report()).motions[0]
    assert (now.version, [mark.label for mark in now.marks]) == (7, ["Left"])
    assert "written as version 7, for its marks (walk)" in report.lines()
    assert plan.changes.parts[0].items == ()


@pytest.mark.parametrize("name", ["made.skl", "made.skls"])
def test_marks_outside_of_their_motion_are_warned_of_unless_the_file_has_them_there(tmp_path, name):
    motion = made_motion(STEPPED, version=7)
    motion.marks = [Mark(b"Left", np.array([[0.5, 0.6]], "<f4")), Mark(b"Late", np.array([[2, 3]], "<f4"))]
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, written(tmp_path, motion, name=name)).actions
    message = "marks are outside the motion, so the game does not use them; move their pose markers too"
    report = Report()
    planned(rig, [action], tmp_path / name, report)
    assert message not in report.warnings
    action.frame_end = 10
    planned(rig, [action], tmp_path / name, report)
    assert report.warnings[message] == ["walk: Left"]
    action.motionbridge_motion.marks[0].intervals[0].start = 0.3
    shortened = Report()
    planned(rig, [action], tmp_path / name, shortened)
    assert message not in shortened.warnings


def test_a_deleted_bone_asks_nothing_and_keeps_its_keys(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["Finger"])
    bpy.ops.object.mode_set(mode="OBJECT")
    report = Report()
    plan = planned(rig, [action], tmp_path / "new.skls", report)
    assert plan.data == path.read_bytes()
    assert [warning.partition(":")[0] for warning in report.warnings] == ["bones were deleted"]
    assert list(report.warnings.values()) == [["Finger"]]
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["hand"].roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(WriteError, match=r"the rest pose has changed since the motions were imported \(hand\)"):
        planned(rig, [action], tmp_path / "new.skls")


def test_missing_bones_are_counted_and_kept(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["ROOT", "arm"])  # by name without case
    report = Report()
    result = load(rig, path, report)
    assert result.missing == ["hand", "Finger"]
    assert any(line.startswith("2 bones of the file are not in the armature") for line in report.lines())
    assert planned(rig, result.actions, tmp_path / "new.skls").data == path.read_bytes()
    curve(result.actions[0], "arm", "location", 0).keyframe_points[0].co[1] += 0.5
    now = skl.read(planned(rig, result.actions, tmp_path / "new.skls").data, "new.skls", Report())
    assert [track.name for track in now.motions[0].tracks] == [b"root", b"arm", b"hand", b"Finger"]


def test_a_new_action_is_fitted_and_of_version_6(tmp_path):
    rig = rig_of(["root", "arm", "hand", "Finger"])
    bpy.context.scene.render.fps = 24
    bone = rig.pose.bones["Finger"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (9, 0.8), (25, -0.6)):
        bone.rotation_euler, bone.location = (angle, angle / 2, -angle), (0.0, angle / 5, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.keyframe_insert("location", frame=frame)
    action = rig.animation_data.action
    action.name = "wave"
    plan = planned(rig, [action], tmp_path / "new.skl")
    assert plan.changes.sentence() == "1 motion added"
    (tmp_path / "new.skl").write_bytes(plan.data)
    (motion,) = read(tmp_path / "new.skl").motions
    assert (motion.label, motion.version, motion.first, motion.last, motion.fps) == ("wave", 6, 1, 25, 24.0)
    assert [track.name for track in motion.tracks] == [b"root", b"arm", b"hand", b"finger"]
    counts = [[len(envelope.keys) for envelope in track.envelopes] for track in motion.tracks]
    assert counts[:3] == [[1] * 6] * 3
    assert max(counts[3]) <= 16
    metres, radians = worst_differences(rig, motion, np.arange(1, 25, 0.43))
    assert metres < 1e-3
    assert radians < 0.05 * DEGREE


def test_constraints_are_sampled_and_leave_other_bones_alone(tmp_path):
    motion = made_motion(CURVED)
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    limit = rig.pose.bones["Finger"].constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x, limit.owner_space = True, -0.02, "LOCAL"
    report = Report()
    plan = planned(rig, [action], tmp_path / "new.skls", report)
    assert "sampled frame by frame because of active constraints (rig)" in report.lines()
    (change,) = plan.changes.parts
    assert {item.name.split()[0] for item in change.items} == {"Finger"}


def test_a_bone_that_a_constraint_turns_leaves_however_far_bones_may_be_off(tmp_path):
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, written(tmp_path, made_motion(CURVED))).actions
    turned = bpy.data.objects.new("turned", None)
    turned.rotation_euler = (0, 0, 0.3)
    bpy.context.scene.collection.objects.link(turned)
    limit = rig.pose.bones["Finger"].constraints.new("COPY_ROTATION")
    limit.target, limit.mix_mode = turned, "BEFORE"
    (change,) = planned(rig, [action], tmp_path / "new.skls", millimetres=5000.0).changes.parts
    assert {item.name.split()[0] for item in change.items} == {"Finger"}


def test_bones_below_one_that_is_scaled_to_zero_cannot_be_sampled(tmp_path):
    path = written(tmp_path, made_motion(CURVED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    finger = rig.pose.bones["Finger"]
    finger.constraints.new("LIMIT_LOCATION")
    finger.parent.scale = (0, 0, 0)
    with pytest.raises(WriteError, match=f"the bone {finger.parent.name!r} is scaled to 0 at frame"):
        planned(rig, [action], tmp_path / "new.skls", Report())


def test_what_keeps_an_armature_from_playing_is_reported(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    rig.data.bones["arm"].use_inherit_rotation = False
    rig.scale.x = 2.0
    bpy.context.view_layer.update()
    report = Report()
    actions = load(rig, path, report).actions
    calls = "what is shown differs from the game, because the armature has bones that are connected or do not"
    assert any(line.startswith(calls) for line in report.lines())
    report = Report()
    planned(rig, actions, path, report)
    assert any("the armature object is scaled or rotated" in line for line in report.lines())


def test_an_edited_rest_pose_is_asked_about(tmp_path):
    motion = made_motion(STEPPED)
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Finger"].tail.x += 0.05
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(WriteError, match="rest pose has changed"):
        planned(rig, [action], tmp_path / "new.skls")
    kept = planned(rig, [action], tmp_path / "new.skls", rest_change=RestChange.GAME_POSE)
    assert kept.data == path.read_bytes()
    plan = planned(rig, [action], tmp_path / "new.skls", rest_change=RestChange.OFFSETS)
    assert {item.name.split()[0] for item in plan.changes.parts[0].items} == {"Finger"}


def test_into_a_file_on_disk(tmp_path):
    walk, run = made_motion(STEPPED), made_motion(CURVED, seed=9)
    run.name = b"run"
    path = written(tmp_path, run, walk)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path, motions=["walk"]).actions
    assert planned(rig, [action], path, onto=Onto.FILE).data == path.read_bytes()
    action.motionbridge_motion.speed = 9.0
    now = skl.read(planned(rig, [action], path, onto=Onto.FILE).data, "new.skls", Report())
    assert [motion.label for motion in now.motions] == ["run", "walk"]
    assert now.motions[1].timing[0] == 9.0
    (tmp_path / "other.skls").write_bytes(skl.write(skl.new_skls([run])))
    plan = planned(rig, [action], tmp_path / "other.skls", onto=Onto.FILE)
    assert [motion.label for motion in skl.read(plan.data, "new.skls", Report()).motions] == ["run", "walk"]


def test_copies_made_in_blender_are_new_motions(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load(rig, path).actions
    copy = action.copy()
    copy.name = "walk_fast"
    now = skl.read(planned(rig, [action, copy], tmp_path / "new.skls").data, "new.skls", Report())
    assert [motion.label for motion in now.motions] == ["walk", "walk_fast"]
    with pytest.raises(WriteError, match=r"a \.skl file stores one motion, not 2"):
        planned(rig, [action, copy], tmp_path / "new.skl")


def test_numbers_that_are_not_one_are_kept(tmp_path):
    motion = made_motion(STEPPED)
    motion.tracks[1].envelopes[0].keys["value"][2] = np.nan
    motion.tracks[2].envelopes[4].keys["value"][1] = 3e38
    motion.tracks[3].envelopes[5].keys["time"][1] = np.inf
    motion.fps = np.float32(np.nan)
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    report = Report()
    actions = load(rig, path, report).actions
    message = "its values are too large for a pose: not shown, kept (walk arm, walk Finger)"
    assert [line for line in report.lines() if "too large" in line] == [message]
    assert planned(rig, actions, tmp_path / "new.skls").data == path.read_bytes()


def test_hostile_frames_and_key_times_are_bounded(tmp_path):
    motion = made_motion(CURVED)
    motion.first, motion.last = -(2**31), 2**31 - 1
    for track in motion.tracks:
        track.envelopes[3].keys["time"][-1] = 1e9
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    actions = load(rig, path).actions
    assert sum(len(entry.keyframe_points) for entry in curves_of(actions[0])) < 20_000
    assert planned(rig, actions, tmp_path / "new.skls").data == path.read_bytes()


def test_refusals_change_nothing(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["other", "bones"])
    before = snapshot()
    with pytest.raises(ReadError, match="none of the file's bones is in the armature 'rig'"):
        load(rig, path)
    with pytest.raises(ReadError, match="there is no motion named 'jump'"):
        load(rig, path, motions=["jump"])
    wrong = tmp_path / "wrong.skls"
    wrong.write_bytes(struct.pack("<I", 3) + b"walk")
    with pytest.raises(ReadError):
        load(rig, wrong)
    empty = tmp_path / "empty.skls"
    empty.write_bytes(struct.pack("<I", 0))
    with pytest.raises(ReadError, match="there are no motions in this file"):
        load(rig, empty)
    assert differences(before, snapshot()) == []
    with pytest.raises(WriteError, match="no motion is chosen"):
        planned(rig, [], path)


def test_the_same_bone_twice(tmp_path):
    motion = made_motion(STEPPED, bones=("root", "ROOT", "arm"))
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm"])
    report = Report()
    actions = load(rig, path, report).actions
    assert any("1 bone occurs twice" in line for line in report.lines())
    assert planned(rig, actions, tmp_path / "new.skls").data == path.read_bytes()


def test_quaternions_where_the_armature_has_some(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    rig.pose.bones["root"].keyframe_insert("rotation_quaternion", frame=1)
    report = Report()
    load(rig, path, report, rotation=Rotation.AUTOMATIC)
    assert rig.pose.bones["arm"].rotation_mode == "QUATERNION"
    report = Report()
    load(rig, path, report, rotation=Rotation.EULER)
    assert any("actions with quaternion keys that no longer play: 2" in line for line in report.lines())


@needs_corpus
def test_other_motions_of_the_armature_play_and_are_written_unchanged():
    model = CORPUS / "ogf" / "ixray_wpn_hand_0.ogf"
    rig = import_model(bpy.context, model, ModelImportOptions(textures=False), Report()).rig
    (editors,) = load(rig, CORPUS / "skls" / "unarmed.skls", rotation=Rotation.EULER).actions
    alone = exported_omf(rig, [editors])
    omf = CORPUS / "omf" / "coc_hand_bolt_marks.omf"
    motions = library.import_motions(
        omf_codec.OMF, bpy.context, rig, str(omf), options=MotionImportOptions(), report=Report()
    )
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}  # it plays
    load(rig, CORPUS / "skls" / "unarmed.skls", rotation=Rotation.EULER)
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"ZXY"}
    assert exported_omf(rig, motions.actions) == omf.read_bytes()
    rig.pose.bones["bip01"].rotation_mode = "QUATERNION"
    assert exported_omf(rig, [editors]) == alone  # its angles count, whatever the bones are turned by


def exported_omf(rig, actions):
    options, onto = omf_codec.MotionExportOptions(), library.Onto.OWN_FILES
    plan = library.plan_export(
        omf_codec.OMF, bpy.context, rig, actions, "new.omf", onto=onto, options=options, report=Report()
    )
    return plan.data
