"""What is in the written motion files, as the game's engine and the user look at them: counts, lengths, warnings."""

import shutil
import struct
from dataclasses import replace
from pathlib import Path
from types import CellType, FunctionType, SimpleNamespace

import bpy
import numpy as np
import pytest
from fuzzing.packing import compressed_chunk_body

from addon.blender import compat
from addon.core.binary import Reader
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import ogf, omf, skl
from addon.formats.xray.chunks import COMPRESSED, Chunk, ChunkRun, read_chunks, write_chunks
from addon.formats.xray.ogf.document import motion_set_of
from addon.formats.xray.omf.document import Motion, MotionSet
from addon.games.xray.motions import timing as motion_timing
from addon.ui import saving
from addon.ui.xray import motion_files, target
from tests.blender.test_level_panel import Layout
from tests.blender.test_motions import needs_corpus
from tests.blender.test_skl_motions import load as load_skeletal
from tests.blender.test_skl_motions import made_motion, rig_of, written
from tests.blender.test_ui import game_folder, last_report, load, refusal


@pytest.fixture
def game(tmp_path, samples) -> Path:
    return game_folder(tmp_path, samples)


def motions_in(path: Path) -> MotionSet:
    if path.suffix == ".ogf":
        motion_set = motion_set_of(ogf.read(path.read_bytes(), path.name, Report()))
        assert motion_set is not None
        return motion_set
    return omf.read(path.read_bytes(), path.name, Report()).motion_set


def sound_motions(path: Path) -> list[str]:
    """The names in a file, once it is sure that the engine finds what it is told to look for."""
    library, parameters = motions_in(path)
    count, *motions = library.entries
    assert count.body == struct.pack("<I", len(motions))
    assert all(isinstance(motion, Motion) for motion in motions)
    assert [motion.identifier for motion in motions] == list(range(1, len(motions) + 1))
    assert [definition.motion for definition in parameters.definitions] == list(range(len(motions)))
    labels = [motion.label for motion in motions]
    assert [definition.label for definition in parameters.definitions] == labels
    return labels


# Fewer or more motions than the source --------------------------------------------------------------------------------


@pytest.fixture
def detector(corpus, tmp_path) -> Path:
    """A file of 22 motions with its skeleton beside it."""
    shutil.copy(corpus / "ogf" / "coc_detector1_hud.ogf", tmp_path)
    return Path(shutil.copy(corpus / "omf" / "coc_detector1.omf", tmp_path))


def import_detector(detector: Path):
    rig = load(detector.parent, "coc_detector1_hud.ogf", detector.name)
    (file,) = rig.motionbridge_motion_files
    return rig, sorted(bpy.data.actions, key=lambda action: action.motionbridge_motion.index), file


def delete_in_panel(*actions) -> None:
    for action in actions:
        assert bpy.ops.motionbridge.delete_motion(action=action.name) == {"FINISHED"}


@needs_corpus
def test_the_active_action_of_22_is_a_file_of_one(detector, tmp_path):
    _, actions, _ = import_detector(detector)
    rig = bpy.context.view_layer.objects.active
    rig.animation_data.action = actions[7]
    target = tmp_path / "one.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), choose="ACTIVE") == {"FINISHED"}
    before = motions_in(detector).library.motions[7]
    assert sound_motions(target) == [before.label]
    assert bytes(motions_in(target).library.motions[0].body) == bytes(before.body)


@needs_corpus
def test_chosen_names_are_numbered_from_one(detector, tmp_path):
    import_detector(detector)
    names = [motion.label for motion in motions_in(detector).library.motions]
    target = tmp_path / "three.omf"
    chosen = [names[2], names[3], names[21]]
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), motions=";".join(chosen)) == {"FINISHED"}
    assert sound_motions(target) == chosen
    everything = tmp_path / "all.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(everything), motions=";".join(names)) == {"FINISHED"}
    assert everything.read_bytes() == detector.read_bytes()


@needs_corpus
@pytest.mark.parametrize("on_disk", [True, False], ids=["file on disk", "file gone"])
def test_a_motion_deleted_in_the_panel_leaves_no_gap(detector, on_disk):
    _, actions, _ = import_detector(detector)
    names = [motion.label for motion in motions_in(detector).library.motions]
    delete_in_panel(actions[4], actions[20])
    if not on_disk:
        detector.unlink()
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert sound_motions(detector) == [name for index, name in enumerate(names) if index not in (4, 20)]


@needs_corpus
def test_motions_go_into_a_file_of_others_without_gaps(detector, tmp_path):
    import_detector(detector)
    target = tmp_path / "some.omf"
    names = [motion.label for motion in motions_in(detector).library.motions]
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), motions=";".join(names[5:9])) == {"FINISHED"}
    wanted = ";".join(names[7:12])
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), onto="FILE", motions=wanted) == {"FINISHED"}
    assert sound_motions(target) == names[5:12]


def test_motions_inside_a_model_are_numbered_too(game):
    load(game, "weapon_embedded.ogf", "")
    model = game / "weapon_embedded.ogf"
    names = sound_motions(model)
    assert len(names) > 1
    actions = sorted(bpy.data.actions, key=lambda action: action.motionbridge_motion.index)
    target = game / "one.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), motions=actions[-1].name) == {"FINISHED"}
    assert sound_motions(target) == names[-1:]
    delete_in_panel(actions[0])
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert sound_motions(model) == names[1:]


# Lengths -------------------------------------------------------------------------------------------------------------


def key(action, bone: str, frame: float, value: float = 0.5, channel: str = "location") -> None:
    """One more key on the second curve of a bone's channel."""
    path = f'pose.bones["{bone}"].{channel}'
    curves = compat.curve_bag(action).fcurves
    curve = next(curve for curve in curves if (curve.data_path, curve.array_index) == (path, 1))
    curve.keyframe_points.insert(frame, value).interpolation = "LINEAR"
    curve.update()


def scale_keys(action, factor: float, shift: float = 0.0) -> None:
    """As S and G in the dope sheet."""
    for curve in compat.curve_bag(action).fcurves:
        for point in curve.keyframe_points:
            point.co[0] = point.co[0] * factor + shift
        curve.update()


def exported(rig, action, target: Path) -> tuple[MotionSet, list[str]]:
    """The file of one action, and what the report says."""
    rig.animation_data.action = action
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), choose="ACTIVE") == {"FINISHED"}
    return motions_in(target), last_report()


def walk_of(game: Path, **options):
    """The sample's walk of 25 frames on its rig."""
    load(game, motions="")
    rig = bpy.context.view_layer.objects.active
    assert bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf"), **options) == {"FINISHED"}
    action = bpy.data.actions["walk"]
    assert motion_timing.imported_frames(action) == 25
    return rig, action


@pytest.mark.parametrize("first", [0, 7])
def test_a_key_behind_the_motion_makes_it_longer(game, tmp_path, first):
    rig, action = walk_of(game, first_frame=first)
    before = motions_in(game / "humanoid.omf").library.motions[0]
    key(action, "root", first + 80)
    (library, _), message = exported(rig, action, tmp_path / "one.omf")
    motion = library.motions[0]
    assert motion.frames == 81
    sentence = message[0].partition(". ")[0]
    assert sentence == f"one.omf: 1 motion, {len(changed_tracks(before, motion))} tracks changed, 0 unchanged"
    # What is no longer than it was keeps its bytes, and so do the keys of what is.
    for track in range(before.track_count):
        old, new = before.track(track), motion.track(track)
        np.testing.assert_array_equal(new.rotation[: len(old.rotation)], old.rotation)
    assert bpy.ops.motionbridge.update_status() == {"FINISHED"}
    assert action.motionbridge_motion.status == "EDITED"


def changed_tracks(before: Motion, after: Motion) -> list[int]:
    return [number for number in range(before.track_count) if before.track_bytes(number) != after.track_bytes(number)]


def test_what_lies_between_two_far_keys_is_unedited_once_it_is_saved(game):
    load(game)
    rig = bpy.context.view_layer.objects.active
    action = rig.animation_data.action
    bone, end = rig.pose.bones["thigh_r"], int(action.frame_range[1]) + 15
    bone.rotation_quaternion = (0.7, 0.6, 0.3, 0)
    bone.keyframe_insert("rotation_quaternion", frame=end)
    half_way = [curve.evaluate(end - 7) for curve in compat.curve_bag(action).fcurves if '"thigh_r"' in curve.data_path]
    assert sum(value**2 for value in half_way[:4]) < 0.99  # a mixture of two quaternions is none of length 1
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert bpy.ops.motionbridge.update_status() == {"FINISHED"}
    assert {action.motionbridge_motion.status for action in bpy.data.actions} == {"UNTOUCHED"}


def test_scaled_keys_are_saved_to_their_end_and_stay_so(game):
    _, action = walk_of(game)
    scale_keys(action, 2)
    end = pose_at(action, 48)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 49
    assert (action.frame_start, action.frame_end) == (0, 48)
    assert "CANCELLED" in bpy.ops.motionbridge.save_back()
    np.testing.assert_allclose(pose_at(action, 48), end, atol=1e-6)
    scale_keys(action, 0.5)  # no key makes it shorter
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 49


def pose_at(action, frame: float) -> list[float]:
    return [curve.evaluate(frame) for curve in compat.curve_bag(action).fcurves]


def test_the_frame_range_makes_a_motion_shorter_and_the_report_reports_it(game, tmp_path):
    rig, action = walk_of(game)
    before = motions_in(game / "humanoid.omf").library.motions[0]
    action.frame_end = 10
    (library, _), message = exported(rig, action, tmp_path / "one.omf")
    motion = library.motions[0]
    assert motion.frames == 11
    assert message[0] == "one.omf: 1 motion changed, 0 unchanged"
    outside = "marks are outside the motion, so the game does not use them; move their pose markers too"
    assert message[1:] == [
        "shortened by the action's frame range; keys after it are left out (walk: 25 -> 11 frames)",
        f"{outside} (walk: Right)",
    ]
    for track in range(before.track_count):  # cut off, not quantised again
        old, new = before.track(track), motion.track(track)
        np.testing.assert_array_equal(new.rotation, old.rotation[:11])
        np.testing.assert_array_equal(new.translation, old.translation[:11])
    key(action, "root", 80)  # the user has set the range: keys do not move it
    (library, _), message = exported(rig, action, tmp_path / "one.omf")
    assert library.motions[0].frames == 11


def test_keys_that_were_left_out_do_not_come_back_with_the_next_save(game):
    rig, action = walk_of(game)
    action.frame_end = 10
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    saved = (game / "humanoid.omf").read_bytes()
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 11
    assert "CANCELLED" in bpy.ops.motionbridge.save_back(), "nothing was edited since"
    assert (game / "humanoid.omf").read_bytes() == saved
    rig.pose.bones["root"].location.x += 1
    rig.pose.bones["root"].keyframe_insert("location", frame=5)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 11
    action.frame_end = 24
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 25
    key(action, "root", 30)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 31, "keys lengthen it again"


def test_keys_before_the_first_frame_are_reported_to_stay_behind(game, tmp_path):
    rig, action = walk_of(game)
    key(action, "root", -10)
    (library, _), message = exported(rig, action, tmp_path / "one.omf")
    assert library.motions[0].frames == 25
    (line,) = (line for line in message if "before the first frame" in line)
    assert line.endswith("are left out; widen the action's frame range to export them (walk: 10 frames)")


def test_a_wider_range_is_the_users_and_keys_behind_it_are_reported(game, tmp_path):
    rig, action = walk_of(game)
    action.frame_end = 40
    key(action, "root", 80)
    (library, _), message = exported(rig, action, tmp_path / "one.omf")
    assert library.motions[0].frames == 41
    assert any("after the last frame" in line and "walk: 40 frames" in line for line in message)


def test_a_motion_without_a_manual_range_is_as_long_as_its_keys_but_never_shorter(game, tmp_path):
    rig, action = walk_of(game)
    action.use_frame_range = False
    assert exported(rig, action, tmp_path / "one.omf")[0].library.motions[0].frames == 25
    scale_keys(action, 0.5)
    assert exported(rig, action, tmp_path / "one.omf")[0].library.motions[0].frames == 25
    scale_keys(action, 4)
    assert exported(rig, action, tmp_path / "one.omf")[0].library.motions[0].frames == 49


def test_a_motion_spread_over_another_rate_is_lengthened_in_its_own_steps(game, tmp_path):
    bpy.context.scene.render.fps = 24
    rig, action = walk_of(game, resample=True)
    assert action.frame_end == pytest.approx(24 * 0.8)
    assert exported(rig, action, tmp_path / "one.omf")[1][0] == "one.omf: 1 motion unchanged"
    key(action, "root", 40)
    assert exported(rig, action, tmp_path / "one.omf")[0].library.motions[0].frames == 51


def test_curves_of_nothing_that_moves_and_muted_ones_do_not_lengthen(game, tmp_path):
    rig, action = walk_of(game)
    bag = compat.curve_bag(action)
    bag.fcurves.new('pose.bones["root"].scale', index=0).keyframe_points.insert(60, 1.0)
    muted = bag.fcurves.new('pose.bones["root"].rotation_euler', index=0)
    muted.keyframe_points.insert(70, 1.0)
    muted.mute = True
    assert exported(rig, action, tmp_path / "one.omf")[0].library.motions[0].frames == 25


def test_sampled_motions_are_lengthened_too(game, tmp_path):
    rig, action = walk_of(game)
    rig.pose.bones["head"].constraints.new("COPY_ROTATION").target = None
    key(action, "root", 80, value=2.0)
    (library, _), message = exported(rig, action, tmp_path / "one.omf")
    assert any("sampled frame by frame" in line for line in message)
    assert library.motions[0].frames == 81


def test_match_scene_and_marks_follow_the_longer_motion(game):
    rig, action = walk_of(game)
    rig.animation_data.action = action
    key(action, "root", 80)
    assert bpy.ops.motionbridge.match_scene() == {"FINISHED"}
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 80)


@pytest.mark.deep
@needs_corpus
def test_a_lengthened_motion_of_231_changes_nothing_else(corpus, tmp_path):
    shutil.copy(corpus / "ogf" / "human_stalker_hero_1.ogf", tmp_path)
    file = Path(shutil.copy(corpus / "omf" / "human_smart_cover.omf", tmp_path))
    load(tmp_path, "human_stalker_hero_1.ogf", file.name)
    before = motions_in(file).library.motions
    index, motion = max(enumerate(before), key=lambda entry: entry[1].frames)
    action = next(action for action in bpy.data.actions if action.motionbridge_motion.index == index)
    key(action, "bip01_head", motion.frames + 9, 0.1, "rotation_quaternion")
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    after = motions_in(file).library.motions
    assert after[index].frames == motion.frames + 10
    others = [number for number in range(231) if number != index]
    assert [after[number].body for number in others] == [before[number].body for number in others]
    head = changed_tracks(before[index], after[index])
    assert all(motion.flags(track) & 3 != 2 for track in head)  # what stands still is as it was
    assert action.frame_end == motion.frames + 9


# Lengths of the editor's motions --------------------------------------------------------------------------------------


def editor_motion(tmp_path, *, keys: int = 7, last: int = 30):
    """An editor's motion of frames 0 to ``last`` on its rig, and the file."""
    motion = replace(made_motion([4], keys=keys), last=last)
    path = written(tmp_path, motion)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    (action,) = load_skeletal(rig, path).actions
    rig.animation_data.action = action
    return path, rig, action


def last_frame(action, path: Path, **options) -> int:
    assert bpy.ops.export_scene.xray_skl(filepath=str(path), choose="ACTIVE", **options) == {"FINISHED"}
    return skl.read(path.read_bytes(), path.name, Report()).motions[0].last


def test_keys_lengthen_a_motion_of_the_editor_and_its_range_shortens_it(tmp_path):
    path, _, action = editor_motion(tmp_path)
    new = tmp_path / "new.skls"
    assert last_frame(action, new) == 30
    assert new.read_bytes() == path.read_bytes()
    key(action, "root", 80)
    assert last_frame(action, new) == 80
    key(action, "root", 90.5)
    assert last_frame(action, new) == 91
    assert not any("frame range" in line for line in last_report())
    action.frame_end = 20
    assert last_frame(action, new) == 20
    assert any("-> 21 frames" in line for line in last_report())


def test_scaled_keys_of_a_motion_of_the_editor_are_played_to_their_end(tmp_path):
    _, rig, action = editor_motion(tmp_path)
    end = max(curve.range()[1] for curve in compat.curve_bag(action).fcurves)
    scale_keys(action, 3)
    assert last_frame(action, tmp_path / "new.skls") == round(3 * end) > 30
    scale_keys(action, 0.2)
    assert last_frame(action, tmp_path / "new.skls") == 30
    rig.pose.bones["hand"].constraints.new("COPY_ROTATION")
    scale_keys(action, 10)
    assert last_frame(action, tmp_path / "new.skls") == round(6 * end)
    action.use_frame_range = False
    assert last_frame(action, tmp_path / "new.skls") == round(6 * end)


def test_keys_that_a_file_has_behind_its_last_frame_are_its_own_affair(tmp_path):
    path, _, action = editor_motion(tmp_path, last=5)
    assert action.curve_frame_range[1] > 10
    assert last_frame(action, tmp_path / "new.skls") == 5
    key(action, "root", 4, 0.7)
    assert last_frame(action, tmp_path / "new.skls") == 5
    assert (tmp_path / "new.skls").read_bytes() != path.read_bytes()
    key(action, "root", 80)
    assert last_frame(action, tmp_path / "new.skls") == 80


def test_keys_before_a_motion_of_the_editor_are_reported_not_to_play(tmp_path):
    _, _, action = editor_motion(tmp_path)
    key(action, "root", -4)
    assert last_frame(action, tmp_path / "new.skls") == 30
    assert any("before the first frame" in line and "4 frames" in line for line in last_report())


def test_a_panel_shows_a_motion_whose_stored_bytes_are_damaged(game):
    _, action = walk_of(game)
    assert motion_timing.drawn_ends(action) == (0, 24)
    action.motionbridge_motion.body = b"walk"
    with pytest.raises(ReadError, match="damaged"):
        motion_timing.ends_of(action)
    assert motion_timing.drawn_ends(action) == (0, 24)


# Bits of translation keys, motions that move nothing ------------------------------------------------------------------


def new_action(rig, name: str, distance: float):
    """A new action that moves the root by ``distance`` in 100 uneven frames."""
    action, slot, bag = compat.new_action(name, "OBJECT", compat.slot_name(rig))
    curve = compat.curve_maker(action, bag)('pose.bones["root"].location', 1, "root")
    for frame in range(100):
        curve.keyframe_points.insert(frame, distance * (frame / 99) ** 2)
    compat.assign(rig, action, slot)
    return action


@pytest.mark.parametrize(("distance", "kind"), [(0.04, np.int8), (0.08, np.int16)])
def test_new_motions_take_the_bits_they_need_and_the_status_line_says_the_error(game, tmp_path, distance, kind):
    rig = load(game, motions="")
    new_action(rig, "step", distance)
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "new.omf"), choose="ACTIVE") == {"FINISHED"}
    (motion,) = motions_in(tmp_path / "new.omf").library.motions
    (track,) = (motion.track(number) for number in range(motion.track_count) if motion.flags(number) & 1)
    assert track.translation.dtype == kind
    sentence, _, error = last_report()[0].partition(". ")
    assert sentence == "new.omf: 1 motion added"
    stated = float(error.removeprefix("Largest rounding of a translation key: ").partition(" mm (root, step)")[0])
    assert stated == pytest.approx(1000 * distance / 254 / 2 if kind is np.int8 else 0.001, rel=0.1, abs=0.001)
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "8.omf"), choose="ACTIVE", width="NARROW")
    assert "mm (root, step)" in last_report()[0]


@needs_corpus
def test_motions_without_tracks_are_refused_or_left_out(game, corpus, tmp_path):
    rig = load(game, motions="")
    file = corpus / "omf" / "odd_motion_without_tracks.omf"
    assert "has no tracks: it moves no bone" in refusal(bpy.ops.import_scene.xray_omf, filepath=str(file))
    assert not bpy.data.actions
    assert not len(rig.motionbridge_motion_files)
    document = omf.read((game / "humanoid.omf").read_bytes(), "humanoid.omf", Report())
    library, _ = document.motion_set
    library.entries[2] = replace(library.entries[2], frames=1, body=b"", starts=[0])
    some = tmp_path / "some.omf"
    some.write_bytes(omf.write(document))
    assert bpy.ops.import_scene.xray_omf(filepath=str(some)) == {"FINISHED"}
    left_out = library.entries[2].label
    assert f"a motion without tracks moves nothing; left out ({left_out})" in last_report()
    assert left_out not in bpy.data.actions
    key(bpy.data.actions["walk"], "root", 3, 0.2)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert motions_in(some).library.motions[1].label == left_out  # it stays in the file


@pytest.mark.parametrize("oddity", ["compressed", "claims too much"])
def test_a_chunk_of_motions_that_is_stored_oddly_is_written_unchanged(oddity, game, tmp_path):
    rig = load(game, motions="")
    data = (game / "humanoid.omf").read_bytes()
    motions, parameters = read_chunks(Reader(data, "humanoid.omf"), Report()).chunks
    plain = bytes(motions.body)
    if oddity == "compressed":
        chunks = [Chunk(motions.id | COMPRESSED, compressed_chunk_body(plain)), parameters]
    else:
        chunks = [parameters, Chunk(motions.id, plain, declared=len(plain) + 7)]
    some, other = tmp_path / "some.omf", tmp_path / "other.omf"
    some.write_bytes(write_chunks(ChunkRun(chunks)))
    assert bpy.ops.import_scene.xray_omf(filepath=str(some)) == {"FINISHED"}
    for _ in range(2):
        assert bpy.ops.export_scene.xray_omf(filepath=str(other), backup=False, remember=True) == {"FINISHED"}
        assert other.read_bytes() == some.read_bytes()
        assert target.active_file(rig).path == str(other)  # the panel shows the file that is remembered
    key(bpy.data.actions["walk"], "root", 3, 0.2)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    (written,) = [chunk for chunk in read_chunks(Reader(other.read_bytes()), Report()).chunks if chunk.id == motions.id]
    assert written.declared is None  # another body, and plain
    saved = other.read_bytes()
    assert bpy.ops.export_scene.xray_omf(filepath=str(some), backup=False) == {"FINISHED"}
    assert some.read_bytes() == saved


# What is said before writing ------------------------------------------------------------------------------------------


def as_in_a_window(kind: type, **options):
    """An operator as Blender's windows use it: an object with the options' defaults, to be checked, drawn and run."""
    group, name = kind.bl_idname.split(".")
    rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
    defaults = {prop.identifier: prop.default for prop in rna.properties if hasattr(prop, "default")}
    bases = tuple(base for base in kind.__bases__ if not issubclass(base, bpy.types.bpy_struct))
    own = {name: value for name, value in vars(kind).items() if name not in {"__dict__", "__weakref__", "bl_rna"}}
    given = SimpleNamespace(is_property_set=lambda name: name in options)
    message = {"report": lambda *_: None, "properties": given}
    created = type("Shown", bases, own | message | defaults | options)
    cell = CellType(created)  # for `super()`
    for name, method in own.items():
        if isinstance(method, FunctionType) and "__class__" in method.__code__.co_freevars:
            closure = tuple(
                cell if free == "__class__" else old
                for free, old in zip(method.__code__.co_freevars, method.__closure__, strict=True)
            )
            setattr(
                created, name, FunctionType(method.__code__, method.__globals__, name, method.__defaults__, closure)
            )
    return created()


def drawn(operator) -> list[str]:
    operator.layout = Layout()
    operator.draw(bpy.context)
    return [text for text in operator.layout.kept if isinstance(text, str)]


def test_the_dialog_says_what_will_be_lost_and_the_report_has_it_afterwards(game):
    _, action = walk_of(game)
    action.frame_end = 10
    bag = compat.curve_bag(action)
    for number in range(9):
        bag.fcurves.new(f'["left_out_{number}"]').keyframe_points.insert(0, 1.0)
    dialog = as_in_a_window(motion_files.MOTIONBRIDGE_OT_save_back)
    dialog.check(bpy.context)
    message = drawn(dialog)
    assert "walk: 25 -> 11 frames" in message
    text = " ".join(message)
    warnings = [
        "shortened by the action's frame range; keys after it are left out (walk: 25 -> 11 frames)",
        "the game cannot store these curves; left out",
    ]
    for warning in warnings:
        assert warning in " ".join(text.split())
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert all(any(line.startswith(warning) for line in last_report()) for warning in warnings)
    assert motions_in(game / "humanoid.omf").library.motions[0].frames == 11


def test_many_warnings_are_folded_in_the_dialog():
    report = Report()
    for number in range(9):
        report.warn(f"finding {number} " + "x " * 60)
    report.note("no warning")
    layout = Layout()
    saving.draw_warnings(layout, report)
    assert layout.kept[-1] == "and 3 more"
    assert sum(line.startswith("finding") for line in layout.kept) == 6
    assert max(map(len, layout.kept)) <= 70


def test_warnings_are_shown_where_nothing_else_changed(game):
    _, action = walk_of(game)
    key(action, "root", -4)
    compat.curve_bag(action).fcurves.find('pose.bones["root"].location', index=1).keyframe_points[
        0
    ].interpolation = "CONSTANT"
    dialog = as_in_a_window(motion_files.MOTIONBRIDGE_OT_save_back)
    dialog.check(bpy.context)
    message = drawn(dialog)
    assert "No changes to save" in message
    assert any("before the first frame" in line for line in message)
    assert dialog.execute(bpy.context) == {"CANCELLED"}
    assert any("before the first frame" in line for line in last_report())


def test_a_file_that_changes_behind_the_dialog_is_not_overwritten(game):
    _, action = walk_of(game)
    key(action, "root", 3)
    dialog = as_in_a_window(motion_files.MOTIONBRIDGE_OT_save_back)
    dialog.check(bpy.context)
    file = game / "humanoid.omf"
    other = file.read_bytes() + bytes(8)
    file.write_bytes(other)
    assert dialog.execute(bpy.context) == {"CANCELLED"}
    assert "no longer the one that was imported" in last_report()[0]
    assert file.read_bytes() == other


def test_deleted_motions_are_counted_once_and_give_their_names_free(game):
    _, _ = walk_of(game)
    path = game / "humanoid.omf"
    names = sound_motions(path)
    delete_in_panel(bpy.data.actions["walk"])
    dialog = as_in_a_window(motion_files.MOTIONBRIDGE_OT_save_back)
    dialog.check(bpy.context)
    assert f"{len(names) - 1} motions unchanged, 1 deleted" in drawn(dialog)
    rig = bpy.context.view_layer.objects.active
    new_action(rig, "walk", 0.3)
    assert bpy.ops.motionbridge.add_motion() == {"FINISHED"}
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert last_report()[0].startswith(f"humanoid.omf: 1 motion added, {len(names) - 1} unchanged, 1 deleted")
    assert sorted(sound_motions(path)) == sorted(names)
    assert motions_in(path).library.motions[-1].frames == 100
