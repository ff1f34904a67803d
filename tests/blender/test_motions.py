"""The main job: motions of the game onto their skeleton, edited, and back without losing a bit."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.blender.properties import kept
from addon.core import rotation
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.document import Motion
from addon.formats.xray.omf.mapping import decode
from addon.games.plan import OtherBase
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import files as motion_files
from addon.games.xray.motions import library, list_edits, omf_codec, timing
from addon.games.xray.motions.library import Onto
from addon.games.xray.motions.omf_codec import MotionExportOptions, MotionImportOptions
from addon.games.xray.options import ModelImportOptions, RestChange
from tests.blender.scenes import reopen
from tests.real_files import CORPUS, REAL_MOTIONS_OF_MODELS, sampled
from tests.scene import differences, snapshot

ALL_PAIRS = [(model, motions) for model, files in REAL_MOTIONS_OF_MODELS.items() for motions in files]
needs_corpus = pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
OPTIONS = MotionImportOptions()


def load_model(path: Path):
    return import_model(bpy.context, path, ModelImportOptions(textures=False), Report()).rig


def load_motions(rig, path: Path, options: MotionImportOptions = OPTIONS):
    return library.import_motions(omf_codec.OMF, bpy.context, rig, str(path), options=options, report=Report())


def load_pair(corpus: Path, model: str, motions: str):
    rig = load_model(corpus / "ogf" / f"{model}.ogf")
    return rig, load_motions(rig, corpus / "omf" / f"{motions}.omf")


def exported(rig, actions, **options) -> bytes:
    plan = library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        actions,
        "exported.omf",
        onto=Onto.OWN_FILES,
        options=MotionExportOptions(**options),
        report=Report(),
    )
    return plan.data


def saved_and_reloaded(tmp_path: Path, rig):
    name = rig.name
    reopen(tmp_path)
    return bpy.data.objects[name]


@pytest.fixture
def humanoid(samples: Path):
    rig = load_model(samples / "humanoid.ogf")
    return rig, load_motions(rig, samples / "humanoid.omf")


@needs_corpus
@pytest.mark.parametrize(("model", "motions"), sampled(ALL_PAIRS))
def test_poses_are_those_of_a_chain_that_knows_no_blender(corpus, model, motions) -> None:
    """200 random (motion, frame, bone): evaluated pose matrices against float64 products of normalised keys."""
    rig, result = load_pair(corpus, model, motions)
    skeleton = decode_skeleton(ogf.read((corpus / "ogf" / f"{model}.ogf").read_bytes(), model, Report()), Report())
    document = omf.read((corpus / "omf" / f"{motions}.omf").read_bytes(), motions, Report())
    clips = decode(document.motion_set, Report())
    random = np.random.default_rng(1)
    names = {bone.motionbridge_xray.index: bone.name for bone in rig.data.bones}
    slots = random.integers(len(clips), size=20)
    for number in slots:
        clip, action = clips[number], result.actions[number]
        compat.assign(rig, action)
        frame = int(random.integers(clip.frames))
        bpy.context.scene.frame_set(frame)
        tracks = {bone.lower(): track for track, bone in enumerate(clip.bones)}
        order = [tracks[bone.lower()] for bone in skeleton.bones]
        pose = skeleton.pose_matrices(
            rotation.normalised(clip.rotations[order][:, [frame]]), clip.translations[order][:, [frame]]
        )[:, 0]
        for bone in random.integers(len(skeleton.bones), size=10):
            pose_bone = np.array(rig.pose.bones[names[int(bone)]].matrix)
            assert np.abs(pose_bone[:3, 3] - pose[bone, :3, 3]).max() <= 1e-5
            quaternion = rotation.angles_between(
                rotation.from_matrices(pose_bone[:3, :3]), rotation.from_matrices(pose[bone, :3, :3])
            )
            assert quaternion <= 1e-4


@pytest.mark.parametrize("name", ["cat", "human_smart_cover", "coc_detector1_16bit"])
def test_poses_are_the_engines(corpus, vectors, name) -> None:
    """The engine never normalises quaternions, Blender does: up to a millimetre at the end of a chain."""
    file = next((vectors / "xray").glob(f"omf_*{name}.npz"))
    with np.load(file) as stored:
        numbers = dict(stored)
    rig = load_model(corpus / str(numbers["ogf"]))
    result = load_motions(rig, corpus / str(numbers["omf"]))
    names = {bone.motionbridge_xray.index: bone.name for bone in rig.data.bones}
    swap, mirror = np.eye(4)[[0, 2, 1, 3]], np.diag([1.0, 1.0, -1.0, 1.0])
    worst = worst_unit = 0.0
    for sample, (motion, frame) in enumerate(zip(numbers["motion"], numbers["frame"], strict=True)):
        compat.assign(rig, result.actions[motion])
        bpy.context.scene.frame_set(int(frame))
        for bone, label in names.items():
            pose_bone = np.array(rig.pose.bones[label].matrix)
            engine = swap @ numbers["mat"][sample, bone] @ mirror
            unit = swap @ numbers["mat_unit"][sample, bone] @ mirror
            worst = max(worst, np.abs(pose_bone - engine).max())
            worst_unit = max(worst_unit, np.abs(pose_bone - unit).max())
    assert worst_unit <= 2e-5
    assert worst <= 1e-3


@pytest.mark.deep
@needs_corpus
def test_one_key_touched_changes_its_bytes_and_its_checksum(corpus, tmp_path) -> None:
    rig, _ = load_pair(corpus, "human_stalker_hero_1", "human_smart_cover")
    rig = saved_and_reloaded(tmp_path, rig)
    (file,) = rig.motionbridge_motion_files
    actions = library.motions_of(file)
    action = next(action for action in actions if action.frame_end > 5)
    curves = [c for c in compat.curve_bag(action).fcurves if c.data_path.endswith("rotation_quaternion")]
    touched = next(c for c in curves if len(c.keyframe_points) > 4)
    for index, value in enumerate((0.5, 0.5, -0.5, 0.5)):
        curve = next(c for c in curves if c.data_path == touched.data_path and c.array_index == index)
        curve.keyframe_points[3].co[1] = value
    before = (corpus / "omf" / "human_smart_cover.omf").read_bytes()
    after = exported(rig, actions)
    changed = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
    assert len(before) == len(after)
    assert 1 <= len(changed) <= 8 + 4
    lines = list(Walk(omf.VIEWS).differences(*(omf.read(data, "", Report()) for data in (before, after))))
    assert len(lines) == 1
    assert "rotation: frame 3: " in lines[0]


def test_the_first_motion_plays_and_so_does_any_other_the_user_picks(humanoid) -> None:
    rig, result = humanoid
    assert rig.animation_data.action == result.actions[0]

    def moves() -> bool:
        start, end = (int(edge) for edge in rig.animation_data.action.frame_range)
        poses = []
        for frame in range(start, end + 1, max((end - start) // 4, 1)):
            bpy.context.scene.frame_set(frame)
            poses.append(np.array([bone.matrix for bone in rig.pose.bones]))
        return bool(np.ptp(np.stack(poses), axis=0).max() > 1e-3)

    for action in result.actions:
        rig.animation_data.action = action
        if any(len(curve.keyframe_points) > 1 for curve in compat.curve_bag(action).fcurves):
            assert moves(), action.name
        assert action.use_fake_user
        assert action.use_frame_range


def test_what_a_motion_says_is_on_its_action(humanoid, samples) -> None:
    _, result = humanoid
    document = omf.read((samples / "humanoid.omf").read_bytes(), "", Report())
    definitions = document.motion_set.parameters.definitions
    assert [action.motionbridge_motion.motion_name for action in result.actions] == [d.label for d in definitions]
    for action, definition in zip(result.actions, definitions, strict=True):
        motion = action.motionbridge_motion
        assert motion_files.flags_of(motion) == definition.flags
        assert [motion.speed, motion.power, motion.accrue, motion.falloff] == definition.timing.tolist()
        assert motion.bone_or_part == definition.bone_or_part
        assert [mark.name for mark in motion.marks] == [mark.label for mark in definition.marks]
        for own_mark, mark in zip(motion.marks, definition.marks, strict=True):
            assert [[i.start, i.end] for i in own_mark.intervals] == mark.intervals.tolist()
    parts = [(part.name, len(part.bones)) for part in result.file.partitions]
    assert parts == [(part.label, len(part.bones)) for part in document.motion_set.parameters.partitions]


def test_parameters_edited_in_the_panel_are_the_only_change(humanoid, samples) -> None:
    rig, result = humanoid
    motion = result.actions[1].motionbridge_motion
    motion.speed = 1.25
    motion.flags = motion.flags ^ {"STOP_AT_END"}
    before = omf.read((samples / "humanoid.omf").read_bytes(), "", Report())
    after = omf.read(exported(rig, result.actions), "", Report())
    lines = list(Walk(omf.VIEWS).differences(before, after))
    assert len(lines) == 2
    assert all(line.startswith(f"motion {motion.motion_name!r}: ") for line in lines)


def marked(result):
    return next(action for action in result.actions if any(len(m.intervals) for m in action.motionbridge_motion.marks))


def test_a_marker_left_alone_never_rounds_its_interval_and_a_moved_one_sets_it(humanoid, samples) -> None:
    rig, result = humanoid
    action = marked(result)
    mark = next(mark for mark in action.motionbridge_motion.marks if len(mark.intervals))
    before = [(interval.start, interval.end) for interval in mark.intervals]
    assert exported(rig, result.actions) == (samples / "humanoid.omf").read_bytes()
    actual = [marker for marker in action.pose_markers if marker.name.startswith(mark.name)]
    moved = next(marker for marker in actual if marker.name.endswith("start"))
    moved.frame += 2
    after = omf.read(exported(rig, result.actions), "", Report())
    definition = next(
        d for d in after.motion_set.parameters.definitions if d.label == action.motionbridge_motion.motion_name
    )
    stored = next(m for m in definition.marks if m.label == mark.name).intervals
    assert stored[0, 0] == np.float32((moved.frame - action.frame_start) / 30)
    assert stored[0, 1] == np.float32(before[0][1])
    assert stored[1:].tolist() == [list(np.float32(pair)) for pair in before[1:]]


def test_a_time_typed_into_the_panel_takes_its_marker_along(humanoid) -> None:
    _, result = humanoid
    action = marked(result)
    mark = next(mark for mark in action.motionbridge_motion.marks if len(mark.intervals))
    mark.intervals[0].start = 0.41
    pose_marker = next(marker for marker in action.pose_markers if marker.name.endswith("start"))
    assert pose_marker.frame == action.frame_start + 12


@pytest.mark.parametrize("fps", [12, 24, 25, 29.97, 50, 60])
def test_motions_spread_over_the_scenes_rate_last_as_long_and_are_written_unchanged(humanoid, samples, fps) -> None:
    rig, _ = humanoid
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps
    result = load_motions(rig, samples / "humanoid.omf", MotionImportOptions(resample=True))
    for action in result.actions:
        frames = motion_files.motion_of(action).frames
        assert (action.frame_end - action.frame_start) / fps == pytest.approx((frames - 1) / 30, abs=1e-4)
    assert exported(rig, result.actions) == (samples / "humanoid.omf").read_bytes()
    assert timing.seconds_at(result.actions[0], result.actions[0].frame_start + fps) == pytest.approx(1.0, abs=1e-4)
    omf_codec.revert(bpy.context, rig, result.actions[0], Report())
    rig.pose.bones[-1].constraints.new("LIMIT_LOCATION")
    assert exported(rig, result.actions) == (samples / "humanoid.omf").read_bytes()


def test_only_chosen_motions_are_imported(humanoid, samples) -> None:
    rig, _ = humanoid
    names = [name for name, _ in library.list_motions(omf_codec.OMF, str(samples / "humanoid.omf"))]
    result = load_motions(rig, samples / "humanoid.omf", MotionImportOptions(motions={names[1].upper()}))
    assert [action.motionbridge_motion.motion_name for action in result.actions] == [names[1]]
    with pytest.raises(ReadError, match="no motion named 'nobody'"):
        load_motions(rig, samples / "humanoid.omf", MotionImportOptions(motions={"nobody"}))


def test_a_motion_that_claims_four_billion_frames_is_named_before_anything_is_made(humanoid, samples, tmp_path) -> None:
    rig, _ = humanoid
    document = omf.read((samples / "humanoid.omf").read_bytes(), "", Report())
    library, parameters = document.motion_set
    old = library.motions[3]
    still = [b"\2" + bytes(6) + b"\xff\x7f" + bytes(12)] * old.track_count
    library.entries[library.entries.index(old)] = replace(
        Motion.of(old.name, 0xFFFF_FFFF, still), identifier=old.identifier
    )
    path = tmp_path / "hostile.omf"
    path.write_bytes(omf.write(document))
    before = len(bpy.data.actions)
    with pytest.raises(ReadError, match=r"hostile\.omf, .* 'jump' declares 4294967295 frames .*Leave this motion out"):
        load_motions(rig, path)
    assert (len(bpy.data.actions), len(rig.motionbridge_motion_files)) == (before, 1)
    others = {definition.label for definition in parameters.definitions} - {"jump"}
    assert len(load_motions(rig, path, MotionImportOptions(motions=others)).actions) == 4


def test_five_files_on_one_rig_are_reported_apart(humanoid, samples) -> None:
    rig, first = humanoid
    second = load_motions(rig, samples / "humanoid.omf")
    assert first.file.name != second.file.name
    assert len(library.motions_of(rig.motionbridge_motion_files[0])) == len(first.actions)
    assert (
        exported(rig, library.motions_of(rig.motionbridge_motion_files[1])) == (samples / "humanoid.omf").read_bytes()
    )


def test_bones_the_armature_lacks_are_listed_once_and_written_back(humanoid, samples) -> None:
    rig, _ = humanoid
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    leaf = next(bone for bone in rig.data.edit_bones if not bone.children)
    gone = leaf.name
    rig.data.edit_bones.remove(leaf)
    bpy.ops.object.mode_set(mode="OBJECT")
    report = Report()
    result = library.import_motions(
        omf_codec.OMF, bpy.context, rig, str(samples / "humanoid.omf"), options=OPTIONS, report=report
    )
    assert result.missing == [gone]
    assert sum(gone in line for line in report.lines()) == 1
    assert exported(rig, result.actions) == (samples / "humanoid.omf").read_bytes()


def test_a_bone_that_was_deleted_after_the_import_keeps_its_keys_and_is_named_once(humanoid, samples) -> None:
    rig, result = humanoid
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    leaf = next(bone for bone in rig.data.edit_bones if not bone.children)
    gone = leaf.name
    rig.data.edit_bones.remove(leaf)
    bpy.ops.object.mode_set(mode="OBJECT")
    options, report = MotionExportOptions(), Report()
    plan = library.plan_export(
        omf_codec.OMF, bpy.context, rig, result.actions, "exported.omf", options=options, report=report
    )
    assert plan.data == (samples / "humanoid.omf").read_bytes()
    assert [warning.partition(":")[0] for warning in report.warnings] == ["bones were deleted"]
    assert list(report.warnings.values()) == [[gone]]


def test_motions_of_another_skeleton_are_refused_before_anything_is_made(humanoid, samples) -> None:
    rig, _ = humanoid
    before = snapshot()
    with pytest.raises(ReadError, match=r"none of the file's bones is in the armature"):
        load_motions(rig, samples / "weapon.omf")
    assert differences(before, snapshot()) == []


def test_an_armature_of_another_importer_works_by_bone_names(humanoid, samples) -> None:
    rig, _ = humanoid
    for bone in rig.data.bones:
        bone.property_unset("motionbridge_xray")
    result = load_motions(rig, samples / "humanoid.omf")
    assert result.missing == []
    assert exported(rig, result.actions) == (samples / "humanoid.omf").read_bytes()


def test_an_edited_rest_pose_is_noticed_and_the_user_chooses(humanoid, samples) -> None:
    rig, result = humanoid
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones[3]
    bone.roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(WriteError, match="rest pose has changed"):
        exported(rig, result.actions)
    whole = (samples / "humanoid.omf").read_bytes()
    assert exported(rig, result.actions, rest_change=RestChange.GAME_POSE) == whole
    assert exported(rig, result.actions, rest_change=RestChange.OFFSETS) != whole


def test_constraints_are_sampled_and_the_rest_counts_as_unedited(humanoid, samples) -> None:
    rig, result = humanoid
    constraint = rig.pose.bones[-1].constraints.new("LIMIT_LOCATION")  # limits nothing
    report = Report()
    plan = library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        result.actions,
        "x.omf",
        onto=Onto.OWN_FILES,
        options=MotionExportOptions(),
        report=report,
    )
    assert plan.data == (samples / "humanoid.omf").read_bytes()
    assert any("sampled frame by frame because of active constraints" in line for line in report.lines())
    constraint.mute = True


def test_what_constraints_do_is_what_leaves(humanoid) -> None:
    """The exported keys, put through a chain that knows no Blender, give the pose that was seen."""
    rig, result = humanoid
    target = bpy.data.objects.new("target", None)
    target.location = (0.5, 0.5, 2.0)
    bpy.context.scene.collection.objects.link(target)
    bone = next(bone for bone in rig.pose.bones if bone.parent and bone.children)
    constraint = bone.constraints.new("TRACK_TO")
    constraint.target = target
    action = result.actions[0]
    frame = 3
    document = omf.read(exported(rig, [action]), "", Report())
    (clip,) = decode(document.motion_set, Report())
    compat.assign(rig, action)
    bpy.context.scene.frame_set(frame)
    bones = sorted(rig.data.bones, key=lambda bone: bone.motionbridge_xray.index)
    order = [clip.bones.index(bone.motionbridge_xray.game_name) for bone in bones]
    world: dict[str, np.ndarray] = {}
    for index, track in enumerate(order):
        local = np.eye(4)
        local[:3, :3] = rotation.matrices(rotation.normalised(clip.rotations[track, frame]))
        local[:3, 3] = clip.translations[track, frame]
        parent = bones[index].parent
        above = world[parent.name] if parent else np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
        world[bones[index].name] = above @ local
    for name, matrix in world.items():
        np.testing.assert_allclose(np.array(rig.pose.bones[name].matrix), matrix, atol=3e-4)
    constraint.mute = True
    bpy.context.scene.frame_set(frame)
    assert np.abs(np.array(bone.matrix) - world[bone.name]).max() > 0.01  # the constraint had something to do


@pytest.mark.parametrize("state", ["object", "pose", "edit", "hidden", "excluded"])
def test_an_export_leaves_the_scene_as_it_was(humanoid, state: str) -> None:
    rig, result = humanoid
    bpy.context.view_layer.objects.active = rig
    if state in {"pose", "edit"}:
        bpy.ops.object.mode_set(mode=state.upper())
    elif state == "hidden":
        rig.hide_set(True)
    elif state == "excluded":
        apart = bpy.data.collections.new("apart")
        bpy.context.scene.collection.children.link(apart)
        for user in list(rig.users_collection):
            user.objects.unlink(rig)
        apart.objects.link(rig)
        bpy.context.view_layer.layer_collection.children["apart"].exclude = True
    bpy.context.scene.frame_set(3)
    before = snapshot()
    exported(rig, result.actions)
    assert differences(before, snapshot()) == []


@needs_corpus
def test_motions_of_one_name_each_keep_what_is_theirs(corpus, tmp_path) -> None:
    """The game plays the first of them; nothing of the others may be lost all the same."""
    rig = load_model(corpus / "ogf" / "ixray_wpn_hand_0.ogf")
    result = load_motions(rig, corpus / "omf" / "usable_items_big.omf")
    names = [action.motionbridge_motion.motion_name for action in result.actions]
    assert len(set(names)) < len(names)
    assert exported(rig, result.actions) == (corpus / "omf" / "usable_items_big.omf").read_bytes()


def test_two_motions_of_one_name_are_written_unchanged(humanoid, samples, tmp_path) -> None:
    rig, _ = humanoid
    file = tmp_path / "twins.omf"
    file.write_bytes((samples / "humanoid.omf").read_bytes().replace(b"walk\0", b"idle\0"))
    result = load_motions(rig, file)
    assert [action.motionbridge_motion.motion_name for action in result.actions].count("idle") == 2
    assert exported(rig, result.actions) == file.read_bytes()


def test_an_export_with_nla_active_leaves_the_scene_as_it_was(humanoid) -> None:
    rig, result = humanoid
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("idle", 1, result.actions[1])
    rig.animation_data.action_blend_type = "COMBINE"  # else the action's keys alone are what plays
    bpy.context.scene.frame_set(3)
    before = snapshot()
    report = Report()
    library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        result.actions[:2],
        "x.omf",
        onto=Onto.OWN_FILES,
        options=MotionExportOptions(),
        report=report,
    )
    assert differences(before, snapshot()) == []
    assert any("because of NLA tracks" in line for line in report.lines())


def test_a_linked_armature_is_exported_and_left_alone(humanoid, samples, tmp_path) -> None:
    rig, _ = humanoid
    name = rig.name
    stored = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(stored))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(stored), link=True) as (there, wanted):
        wanted.objects, wanted.actions = [name], list(there.actions)
    linked = bpy.data.objects[name]
    bpy.context.scene.collection.objects.link(linked)
    assert linked.library is not None
    before = snapshot()
    (file,) = linked.motionbridge_motion_files
    assert exported(linked, library.motions_of(file)) == (samples / "humanoid.omf").read_bytes()
    assert differences(before, snapshot()) == []


# Lists --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_disk(samples: Path, tmp_path: Path):
    path = tmp_path / "humanoid.omf"
    shutil.copy(samples / "humanoid.omf", path)
    rig = load_model(samples / "humanoid.ogf")
    result = load_motions(rig, path)
    return rig, result, path


def save_back(rig, file, if_changed=OtherBase.REFUSE, report=None, **options):
    chosen = MotionExportOptions(**options)
    report = Report() if report is None else report
    return library.plan_save_back(
        omf_codec.OMF, bpy.context, rig, file, options=chosen, if_changed=if_changed, report=report
    )


def turn(action, frame: int = 0) -> None:
    for index, value in enumerate((0.5, 0.5, 0.5, 0.5)):
        curve = next(
            c
            for c in compat.curve_bag(action).fcurves
            if c.data_path.endswith("rotation_quaternion") and c.array_index == index
        )
        curve.keyframe_points[frame].co[1] = value


def test_badges_tell_edited_from_unedited(on_disk) -> None:
    rig, result, _ = on_disk
    turn(result.actions[1])
    result.actions[2].motionbridge_motion.power = 0.5
    omf_codec.update_status(bpy.context, rig, result.actions, Report())
    statuses = [action.motionbridge_motion.status for action in result.actions]
    assert statuses == ["UNTOUCHED", "EDITED", "EDITED", *["UNTOUCHED"] * (len(statuses) - 3)]


def test_reverting_leaves_keys_that_no_motion_has(on_disk) -> None:
    """Of the armature object, and of settings: the file says nothing about them."""
    rig, result, _ = on_disk
    action = result.actions[0]
    turn(action)
    before = keys_in(action)
    own = [("location", 2), ('pose.bones["head"]["mood"]', 0)]
    bag = compat.curve_bag(action)
    for path, index in own:
        bag.fcurves.new(path, index=index).keyframe_points.insert(3.0, 0.5)
    bag.fcurves.new('pose.bones["head"].scale', index=0).keyframe_points.insert(3.0, 0.5)
    omf_codec.revert(bpy.context, rig, action, Report())
    after = keys_in(action)
    assert [after.pop(channel) for channel in own] == [[(3.0, 0.5)]] * 2
    assert after.keys() == before.keys()
    assert after != before
    assert save_back(rig, result.file).is_saved()


def keys_in(action):
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in compat.curve_bag(action).fcurves
    }


def test_reverting_gives_back_what_the_file_reported(on_disk, samples) -> None:
    rig, result, _ = on_disk
    action = result.actions[1]
    turn(action)
    motion = action.motionbridge_motion
    motion.speed, motion.flags = 9.0, {"FX", "IDLE"}
    motion.marks.clear()
    compat.curve_bag(action).fcurves.remove(compat.curve_bag(action).fcurves[-1])
    omf_codec.revert(bpy.context, rig, action, Report())
    assert exported(rig, result.actions) == (samples / "humanoid.omf").read_bytes()
    rig.animation_data.action = action
    assert motion.status == "UNTOUCHED"


def test_saving_back_says_first_what_will_change(on_disk) -> None:
    rig, result, path = on_disk
    before = path.read_bytes()
    turn(result.actions[1])
    plan = save_back(rig, result.file)
    assert plan.sentence() == f"1 motion, 1 track changed, {len(result.actions) - 1} unchanged"
    assert path.read_bytes() == before
    plan.write(backup=True)
    assert path.with_name("humanoid.omf.bak").read_bytes() == before
    omf_codec.OMF.settle(plan, rig, result.file)
    again = save_back(rig, result.file)
    assert again.sentence() == f"{len(result.actions)} motions unchanged"
    assert again.data == path.read_bytes()


def test_motions_that_were_not_imported_are_counted_where_the_file_is_gone(on_disk) -> None:
    rig, result, path = on_disk
    names = [action.motionbridge_motion.motion_name for action in result.actions]
    few = load_motions(rig, path, MotionImportOptions(motions={names[0], names[1]}))
    path.unlink()
    lost = f"motions of the file that were not imported and cannot be written: {len(names) - 2} ({path.name})"
    for file, there, message in ((result.file, names, []), (few.file, names[:2], [lost])):
        report = Report()
        written = omf.read(save_back(rig, file, report=report).data, "", Report()).motion_set
        assert [definition.label for definition in written.parameters.definitions] == there
        assert report.lines() == message


def test_renames_deletions_and_order_are_saved_back(on_disk) -> None:
    rig, result, path = on_disk
    names = [action.motionbridge_motion.motion_name for action in result.actions]
    result.actions[0].motionbridge_motion.motion_name = "renamed"
    list_edits.move(result.file, result.actions[0], 2)
    list_edits.delete(result.file, result.actions[1])
    plan = save_back(rig, result.file)
    assert "1 renamed" in plan.sentence()
    assert "1 deleted" in plan.sentence()
    plan.write()
    omf_codec.OMF.settle(plan, rig, result.file)
    document = omf.read(path.read_bytes(), "", Report())
    there = [d.label for d in document.motion_set.parameters.definitions]
    assert there == [names[2], "renamed", *names[3:]]
    assert [a.motionbridge_motion.motion_name for a in library.motions_of(result.file)] == there
    assert save_back(rig, result.file).data == path.read_bytes()


def test_a_file_that_others_changed_is_not_overwritten_unasked(on_disk, samples) -> None:
    rig, result, path = on_disk
    document = omf.read(path.read_bytes(), "", Report())
    from addon.formats.xray.omf import edit

    first = document.motion_set.parameters.definitions[0].label
    theirs = omf.write(document.with_motion_set(edit.set_parameters(document.motion_set, first, timing={"speed": 3.0})))
    path.write_bytes(theirs)
    turn(result.actions[1])
    with pytest.raises(WriteError, match="no longer the one that was imported"):
        save_back(rig, result.file)
    from_disk = omf.read(save_back(rig, result.file, OtherBase.DISK).data, "", Report())
    assert list(Walk(omf.VIEWS).differences(omf.read(theirs, "", Report()), from_disk)) == [
        line for line in Walk(omf.VIEWS).differences(document, from_disk) if "speed" not in line
    ]
    from_import = omf.read(save_back(rig, result.file, OtherBase.IMPORTED).data, "", Report())
    mine = omf.read((samples / "humanoid.omf").read_bytes(), "", Report())
    assert len(list(Walk(omf.VIEWS).differences(mine, from_import))) == 1
    assert from_disk.motion_set.library.motions[1].body == from_import.motion_set.library.motions[1].body


def settled(rig, file, if_changed=OtherBase.REFUSE):
    """Save a file back; its warnings."""
    report = Report()
    plan = save_back(rig, file, if_changed, report)
    plan.write()
    library.settle_saved(omf_codec.OMF, bpy.context, plan, rig, file=file, options=MotionExportOptions())
    return report.warnings


STAYS = (
    "motions that were changed on disk and not in Blender stay as they are on disk; their actions get the keys and "
    "values of the file"
)


def test_what_others_edited_in_a_shared_file_stays_and_is_shown(on_disk, samples) -> None:
    rig, result, path = on_disk
    second = load_model(samples / "humanoid.ogf")
    others = load_motions(second, path)
    turn(others.actions[0])
    others.actions[1].motionbridge_motion.speed = 0.5
    assert settled(second, others.file) == {}
    theirs = omf.read(path.read_bytes(), "", Report())
    turn(result.actions[2])
    names = [action.name for action in result.actions]
    assert settled(rig, result.file, OtherBase.DISK) == {STAYS: names[:2]}
    now = omf.read(path.read_bytes(), "", Report())
    for index, (before, after) in enumerate(
        zip(theirs.motion_set.library.motions, now.motion_set.library.motions, strict=True)
    ):
        assert (before.body == after.body) == (index != 2)
    assert list(Walk(omf.VIEWS).differences(theirs, now)) != []
    assert now.motion_set.parameters.definitions[1].timing[0] == 0.5
    assert result.actions[1].motionbridge_motion.speed == 0.5
    mine, expected = (
        [point.co[1] for curve in compat.curve_bag(action).fcurves for point in curve.keyframe_points]
        for action in (result.actions[0], others.actions[0])
    )
    np.testing.assert_allclose(mine, expected, atol=2e-4)
    assert save_back(rig, result.file).data == path.read_bytes()
    statuses = [action.motionbridge_motion.status for action in result.actions]
    assert set(statuses) == {"UNTOUCHED"}


def test_motions_as_blender_has_them_replace_what_others_edited(on_disk, samples) -> None:
    rig, result, path = on_disk
    before = path.read_bytes()
    second = load_model(samples / "humanoid.ogf")
    others = load_motions(second, path)
    turn(others.actions[0])
    assert settled(second, others.file) == {}
    assert settled(rig, result.file, OtherBase.IMPORTED) == {}
    assert path.read_bytes() == before


def test_the_order_and_partitions_of_others_stay_where_no_one_changed_them_here(on_disk, samples) -> None:
    rig, result, path = on_disk
    second = load_model(samples / "humanoid.ogf")
    others = load_motions(second, path)
    list_edits.move(others.file, others.actions[0], 2)
    others.file.partitions[0].name = "other"
    assert settled(second, others.file) == {}
    turn(result.actions[1])
    theirs = omf.read(path.read_bytes(), "", Report()).motion_set.parameters
    settled(rig, result.file, OtherBase.DISK)
    now = omf.read(path.read_bytes(), "", Report()).motion_set.parameters
    assert [definition.label for definition in now.definitions] == [
        definition.label for definition in theirs.definitions
    ]
    assert [partition.label for partition in now.partitions] == [partition.label for partition in theirs.partitions]
    assert now.partitions[0].label == "other"
    assert [a.motionbridge_motion.motion_name for a in library.motions_of(result.file)] == [
        definition.label for definition in now.definitions
    ]


def test_motions_go_into_an_existing_file_by_name(on_disk, samples, tmp_path) -> None:
    rig, result, _ = on_disk
    turn(result.actions[1])
    target = tmp_path / "target.omf"
    shutil.copy(samples / "humanoid.omf", target)
    fresh = result.actions[2].copy()
    motion = fresh.motionbridge_motion
    motion.file, motion.imported_name, motion.motion_name = "", "", "brand_new"
    plan = library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        [result.actions[1], fresh],
        str(target),
        onto=Onto.FILE,
        options=MotionExportOptions(),
        report=Report(),
    )
    assert plan.sentence() == f"1 motion, 1 track changed, 1 motion added, {len(result.actions) - 1} unchanged"
    lines = list(
        Walk(omf.VIEWS).differences(omf.read(target.read_bytes(), "", Report()), omf.read(plan.data, "", Report()))
    )
    assert len(lines) == 2
    assert lines[1] == "motion 'brand_new' is only in the second"


def test_motions_inside_a_model_are_saved_back_into_it(samples, tmp_path) -> None:
    path = tmp_path / "weapon.ogf"
    shutil.copy(samples / "weapon_embedded.ogf", path)
    rig = load_model(path)
    result = load_motions(rig, path)
    assert save_back(rig, result.file).data == path.read_bytes()
    turn(result.actions[0])
    plan = save_back(rig, result.file)
    plan.write()
    before = ogf.read((samples / "weapon_embedded.ogf").read_bytes(), "", Report())
    after = ogf.read(path.read_bytes(), "", Report())
    assert len(list(Walk(ogf.VIEWS).differences(before, after))) == 1


def test_new_actions_become_a_file_that_can_be_saved_back(humanoid, tmp_path) -> None:
    rig, _ = humanoid
    fresh = bpy.data.actions.new("Fresh")
    rig.animation_data.action = fresh
    rig.pose.bones[0].location = (0, 0.25, 0)
    rig.pose.bones[0].keyframe_insert("location", frame=1)
    rig.pose.bones[0].location = (0, 0.5, 0)
    rig.pose.bones[0].keyframe_insert("location", frame=11)
    path = tmp_path / "fresh.omf"
    plan = library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        [fresh],
        str(path),
        onto=Onto.OWN_FILES,
        options=MotionExportOptions(),
        report=Report(),
    )
    plan.write()
    file = omf_codec.OMF.settle(plan, rig)
    assert library.motions_of(file) == [fresh]
    document = omf.read(path.read_bytes(), "", Report())
    assert [(m.label, m.frames) for m in document.motion_set.library.motions] == [("Fresh", 11)]
    assert save_back(rig, file).data == path.read_bytes()


def test_nothing_chosen_is_an_error_not_an_empty_file(humanoid) -> None:
    rig, _ = humanoid
    with pytest.raises(WriteError, match="no motion is chosen"):
        exported(rig, [])


def test_a_copy_made_in_blender_is_a_new_motion(on_disk) -> None:
    rig, result, path = on_disk
    copy = result.actions[1].copy()
    copy.name = "second_walk"
    rig.animation_data.action = copy  # as the action editor's button does
    turn(copy)
    omf_codec.update_status(bpy.context, rig, library.motions_of(result.file), Report())
    assert copy.motionbridge_motion.status == "NEW"
    assert result.actions[1].motionbridge_motion.status == "UNTOUCHED"
    plan = save_back(rig, result.file)
    assert plan.sentence() == f"1 motion added, {len(result.actions)} unchanged"
    plan.write()
    omf_codec.OMF.settle(plan, rig, result.file)
    assert copy.motionbridge_motion.motion_name == "second_walk"
    assert save_back(rig, result.file).data == path.read_bytes()


def test_a_time_typed_into_the_panel_leaves_moved_markers_alone(humanoid) -> None:
    _, result = humanoid
    action = marked(result)
    mark = next(mark for mark in action.motionbridge_motion.marks if len(mark.intervals))
    end = next(marker for marker in action.pose_markers if marker.name.endswith("end"))
    end.frame += 3
    moved = end.frame
    mark.intervals[0].start = 0.2
    assert end.frame == moved


def test_a_failing_write_leaves_the_old_file(on_disk, monkeypatch) -> None:
    rig, result, path = on_disk
    before = path.read_bytes()
    turn(result.actions[1])
    plan = save_back(rig, result.file)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(WriteError, match="disk is full"):
        plan.write()
    assert path.read_bytes() == before


def test_the_bytes_of_a_motion_travel_with_copies_of_its_action(humanoid) -> None:
    _, result = humanoid
    copy = result.actions[0].copy()
    assert kept(copy.motionbridge_motion, "body") == kept(result.actions[0].motionbridge_motion, "body")
