"""Which actions belong to which armature's file: duplicated, appended, copied, renamed, deleted, as people do it."""

import shutil
from pathlib import Path

import bpy
import pytest

from addon.blender import action_lists, compat, scope
from addon.core.report import Report
from addon.formats.xray import omf, skl
from addon.games.xray.motions import library, list_edits, omf_codec, skl_codec
from addon.games.xray.motions import properties as motion_properties
from tests.blender.scenes import play_new, reopen

SAVED = Path(__file__).resolve().parents[1] / "saved" / "0.1.0" / "4.2"
NAMES = ["walk", "idle", "wave", "jump", "nod"]
"""The motions of our humanoid, in the file's order."""


@pytest.fixture
def game(samples, tmp_path):
    """The humanoid and its motions on disk."""
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    return tmp_path


def load(folder, motions=""):
    bpy.ops.import_scene.xray_ogf(filepath=str(folder / "humanoid.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(folder / "humanoid.omf"), motions=motions)
    return bpy.context.view_layer.objects.active


def names_in(path) -> list[str]:
    motions = omf.read(path.read_bytes(), path.name, Report()).motion_set
    assert len(motions.library.motions) == len(motions.parameters.definitions)
    return [definition.label for definition in motions.parameters.definitions]


def bodies_in(path) -> dict[str, bytes]:
    motions = omf.read(path.read_bytes(), path.name, Report()).motion_set
    return {motion.label: bytes(motion.body) for motion in motions.library.motions}


def turn(action) -> None:
    """Edit one key."""
    bag = action.layers[0].strips[0].channelbags[0] if hasattr(action, "layers") else action
    curve = next(
        fcurve for fcurve in bag.fcurves if fcurve.data_path.endswith("rotation_quaternion") and fcurve.array_index == 1
    )
    curve.keyframe_points[0].co.y += 0.2


def activate(rig) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(other == rig)
    bpy.context.view_layer.objects.active = rig


def duplicated(actual, *others):
    """The copy of an object by Shift D, which copies the action that plays; ``others`` are selected with it."""
    scope.make_current(bpy.context, [actual, *others], actual)
    bpy.ops.object.duplicate()
    return bpy.context.view_layer.objects.active


def save_back(**options) -> set[str]:
    return bpy.ops.motionbridge.save_back(**options)


def test_a_duplicated_armature_leaves_the_originals_file_alone(game):
    rig = load(game)
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    twin = duplicated(rig)
    copy = twin.animation_data.action
    assert copy.name == "walk.001"
    turn(copy)
    activate(rig)
    assert save_back() == {"CANCELLED"}
    assert path.read_bytes() == before
    bpy.data.objects.remove(twin)
    copy.use_fake_user = True
    assert save_back() == {"CANCELLED"}
    assert path.read_bytes() == before


def test_a_duplicated_armature_saves_its_own_copy_as_the_motion_it_is(game):
    rig = load(game)
    path, before = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    twin = duplicated(rig)
    turn(twin.animation_data.action)
    assert save_back() == {"FINISHED"}
    assert names_in(path) == NAMES
    now = bodies_in(path)
    assert [name for name in NAMES if now[name] != before[name]] == ["walk"]
    activate(rig)
    with pytest.raises(RuntimeError, match="no longer the one that was imported"):
        save_back()
    assert save_back(if_changed="IMPORTED") == {"FINISHED"}
    assert bodies_in(path) == before


def listed_names(rig):
    return [action.name for action in library.motions_of(rig.motionbridge_motion_files[0])]


def test_a_duplicate_lists_its_copy_of_what_was_clicked_last(game):
    rig = load(game)
    rig.motionbridge_playing = bpy.data.actions.find("jump")
    twin = duplicated(rig)
    assert twin.animation_data.action.name == "jump.001"
    assert (listed_names(rig), listed_names(twin)) == (NAMES, [*NAMES[:3], "jump.001", "nod"])
    twin.motionbridge_playing = bpy.data.actions.find("idle")  # its list is its own from now on
    assert listed_names(twin) == [*NAMES[:3], "jump.001", "nod"]
    third = duplicated(twin)
    assert listed_names(third) == ["walk", "idle.001", "wave", "jump.001", "nod"]
    assert listed_names(rig) == NAMES


def test_only_the_actions_in_use_are_evaluated_with_the_armature(game):
    rig = load(game)
    bpy.context.view_layer.update()
    evaluated = [entry.name for entry in bpy.context.evaluated_depsgraph_get().ids if entry.id_type == "ACTION"]
    assert evaluated == ["walk"]
    assert [action.name for action in library.motions_of(rig.motionbridge_motion_files[0])] == NAMES


def test_a_removed_armature_leaves_no_text_in_the_file(game):
    rig = load(game)
    assert len(bpy.data.texts) == 1
    bpy.data.objects.remove(rig)
    reopen(game)
    assert not len(bpy.data.texts)


def test_a_list_whose_text_was_deleted_has_what_the_armature_uses(game):
    rig = load(game)
    file = rig.motionbridge_motion_files[0]
    bpy.data.texts.remove(file.action_list)
    assert [action.name for action in library.motions_of(file)] == NAMES[:1]
    rig.animation_data.action = bpy.data.actions["idle"].copy()
    activate(rig)
    assert bpy.ops.motionbridge.add_motion() == {"FINISHED"}
    assert [action.name for action in library.motions_of(file)] == [NAMES[0], "idle.001"]
    assert [entry.action.name for entry in file.actions] == ["idle.001"]
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == [*NAMES, "idle.001"]


def test_an_action_two_armatures_list_is_deleted_from_one_alone(game):
    rig = load(game)
    twin = duplicated(rig)
    bpy.ops.motionbridge.delete_motion(action="idle")
    assert [action.name for action in library.motions_of(twin.motionbridge_motion_files[0])] == [
        "walk.001",
        *NAMES[2:],
    ]
    assert [action.name for action in library.motions_of(rig.motionbridge_motion_files[0])] == NAMES
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == ["walk", *NAMES[2:]]


def test_appended_armatures_with_files_of_one_name_keep_apart(game, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(game / "humanoid.ogf", other)
    load(game, "walk;idle")
    turn(bpy.data.actions["idle"])
    bpy.ops.export_scene.xray_omf(filepath=str(other / "humanoid.omf"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    load(other)
    bpy.ops.wm.save_as_mainfile(filepath=str(other / "scene.blend"))
    theirs = (other / "humanoid.omf").read_bytes()

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = load(game)
    path, ours = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    for number in range(2):
        bpy.ops.wm.append(directory=f"{other / 'scene.blend'}/Object/", filename="humanoid")
        appended = bpy.data.objects[f"humanoid.{number + 1:03}"]
        activate(appended)
        file = appended.motionbridge_motion_files[0]
        assert [action.motionbridge_motion.motion_name for action in library.motions_of(file)] == [
            "walk",
            "idle",
        ]
        assert save_back() == {"CANCELLED"}
    activate(rig)
    assert [action.name for action in library.motions_of(rig.motionbridge_motion_files[0])] == NAMES
    assert save_back() == {"CANCELLED"}
    turn(bpy.data.actions["jump"])
    assert save_back() == {"FINISHED"}
    assert names_in(path) == NAMES
    assert (other / "humanoid.omf").read_bytes() == theirs
    before = omf.read(ours, "", Report()).motion_set.library.motions
    now = omf.read(path.read_bytes(), "", Report()).motion_set.library.motions
    assert [motion.label for motion, old in zip(now, before, strict=True) if motion.body != old.body] == ["jump"]


def test_an_armature_pasted_into_another_file_brings_its_motions(game):
    load(game)
    path, before = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    bpy.ops.object.select_all(action="SELECT")
    assert bpy.ops.view3d.copybuffer() == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_empty=True)
    assert bpy.ops.view3d.pastebuffer() == {"FINISHED"}
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    activate(rig)
    assert listed_names(rig) == NAMES
    assert save_back() == {"CANCELLED"}
    turn(bpy.data.actions["jump"])
    assert save_back() == {"FINISHED"}
    now = bodies_in(path)
    assert [name for name in NAMES if now[name] != before[name]] == ["jump"]


def test_a_motion_pushed_down_and_an_armature_that_takes_in_another_change_nothing(game, samples):
    rig = load(game)
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    strip = rig.animation_data.nla_tracks.new().strips.new("walk", 1, rig.animation_data.action)
    rig.animation_data.action = None
    assert save_back() == {"CANCELLED"}
    weapon = load_weapon(game, samples)
    scope.make_current(bpy.context, [weapon, rig], rig)
    assert bpy.ops.object.join() == {"FINISHED"}
    assert listed_names(rig) == NAMES
    assert save_back() == {"CANCELLED"}
    assert path.read_bytes() == before
    turn(strip.action)
    assert save_back() == {"FINISHED"}
    assert names_in(path) == NAMES


def load_weapon(game, samples):
    for name in ("weapon.ogf", "weapon.omf"):
        shutil.copy(samples / name, game)
    bpy.ops.import_scene.xray_ogf(filepath=str(game / "weapon.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(game / "weapon.omf"))
    return bpy.context.view_layer.objects.active


@pytest.mark.parametrize("name", ["a_first", "zz_last", "walk.001"])
def test_an_edited_copy_is_a_new_motion_whatever_its_name(game, name):
    rig = load(game)
    path, before = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    copy = bpy.data.actions["walk"].copy()
    copy.name = name
    rig.animation_data.action = copy  # as the action editor's button does
    turn(copy)
    assert save_back() == {"FINISHED"}
    assert names_in(path) == [*NAMES, name]
    now = bodies_in(path)
    assert {motion: now[motion] for motion in NAMES} == before
    assert now[name] != before["walk"]
    assert save_back() == {"CANCELLED"}


def test_the_name_typed_for_a_copy_is_the_one_written(game):
    rig = load(game)
    copy = bpy.data.actions["walk"].copy()
    rig.animation_data.action = copy
    copy.motionbridge_motion.motion_name = "walk_fast"
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == [*NAMES, "walk_fast"]
    assert bodies_in(game / "humanoid.omf")["walk_fast"] == bodies_in(game / "humanoid.omf")["walk"]


def test_a_copy_of_a_renamed_motion_does_not_get_its_name(game):
    rig = load(game)
    bpy.data.actions["walk"].motionbridge_motion.motion_name = "stroll"
    copy = bpy.data.actions["stroll"].copy()
    rig.animation_data.action = copy
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == ["stroll", *NAMES[1:], "stroll.001"]


def test_two_motions_of_one_name_are_refused_and_the_remedy_works(game):
    rig = load(game)
    copy = bpy.data.actions["walk"].copy()
    rig.animation_data.action = copy
    copy.motionbridge_motion.motion_name = "Idle"
    with pytest.raises(RuntimeError, match=r"'Idle' would be motions of one name.*Type another name"):
        save_back()
    copy.motionbridge_motion.motion_name = "idle2"
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == [*NAMES, "idle2"]


def test_two_motions_change_names(game):
    load(game)
    before = bodies_in(game / "humanoid.omf")
    for old, new in (("walk", "idle"), ("idle", "walk")):
        bpy.data.actions[old].motionbridge_motion.motion_name = new
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == ["idle", "walk", *NAMES[2:]]
    assert bodies_in(game / "humanoid.omf")["idle"] == before["walk"]
    assert save_back() == {"CANCELLED"}


def test_a_copy_that_was_added_stays_when_other_motions_play(game):
    rig = load(game)
    copy = bpy.data.actions["walk"].copy()
    rig.animation_data.action = copy
    bpy.ops.motionbridge.add_motion()
    rig.animation_data.action = bpy.data.actions["jump"]
    assert library.motions_of(rig.motionbridge_motion_files[0])[-1] == copy
    reopen(game)
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == [*NAMES, "walk.001"]


def test_a_click_on_another_motion_adds_the_copy_that_played(game):
    rig = load(game)
    copy = bpy.data.actions["walk"].copy()
    copy.name = "stride"
    rig.animation_data.action = copy
    rig.motionbridge_playing = bpy.data.actions.find("jump")
    assert rig.animation_data.action.name == "jump"
    assert [action.name for action in library.motions_of(rig.motionbridge_motion_files[0])] == [
        *NAMES,
        "stride",
    ]
    assert copy.motionbridge_motion.motion_name == "stride"
    assert save_back() == {"FINISHED"}
    assert names_in(game / "humanoid.omf") == [*NAMES, "stride"]
    assert bodies_in(game / "humanoid.omf")["stride"] == bodies_in(game / "humanoid.omf")["walk"]


def test_a_copy_another_armature_uses_is_not_written(game):
    rig = load(game)
    bpy.ops.import_scene.xray_ogf(filepath=str(game / "humanoid.ogf"))
    other = bpy.context.view_layer.objects.active
    copy = bpy.data.actions["walk"].copy()
    (other.animation_data or other.animation_data_create()).action = copy
    activate(rig)
    assert save_back() == {"CANCELLED"}


def test_undo_takes_an_added_motion_out_of_the_list(game):
    rig = load(game)
    play_new(rig, "fresh")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.motionbridge.add_motion()
    bpy.ops.ed.undo_push(message="added")
    assert len(library.motions_of(bpy.data.objects["humanoid"].motionbridge_motion_files[0])) == 6
    bpy.ops.ed.undo()
    assert len(library.motions_of(bpy.data.objects["humanoid"].motionbridge_motion_files[0])) == 5


def test_undo_leaves_no_list_that_points_at_an_action_that_is_gone(game):
    """A moment after each step the copy that plays is listed, as in a window."""

    def moment():
        rig = bpy.data.objects["humanoid"]
        activate(rig)
        library.adopt_copies(omf_codec.OMF, rig)
        library.hold_used(rig)
        known = set(bpy.data.actions)
        file = rig.motionbridge_motion_files[0]
        result = action_lists.pointers(file)
        assert known >= {action for action in result if action is not None}
        return [action.name for action in result if action is not None], len(library.motions_of(file))

    rig = load(game)
    bpy.ops.ed.undo_push(message="imported")
    copy = rig.animation_data.action.copy()
    copy.name = "mine"
    compat.assign(rig, copy)
    bpy.ops.ed.undo_push(message="copied")
    assert moment() == ([*NAMES, "mine"], 6)
    bpy.data.actions["walk"].motionbridge_motion.motion_name = "renamed"
    bpy.ops.ed.undo_push(message="renamed")
    assert moment() == (["renamed", *NAMES[1:], "mine"], 6)
    bpy.ops.ed.undo()
    assert moment() == ([*NAMES, "mine"], 6)
    bpy.ops.ed.undo()
    assert moment() == (NAMES, 5)
    bpy.ops.ed.redo()
    assert moment() == ([*NAMES, "mine"], 6)
    bpy.ops.ed.redo()
    assert moment() == (["renamed", *NAMES[1:], "mine"], 6)


def test_undo_keeps_a_new_motion_in_a_list_that_is_the_same_in_both_steps(game):
    rig = load(game)
    play_new(rig, "fresh")
    bpy.ops.motionbridge.add_motion()
    bpy.ops.ed.undo_push(message="added")
    rig.location.x = 1
    bpy.ops.ed.undo_push(message="moved")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
        step()
        listed = action_lists.pointers(bpy.data.objects["humanoid"].motionbridge_motion_files[0])
        assert [action.name for action in listed] == [*NAMES, "fresh"]


def test_deleted_motions_of_one_name_leave_by_their_index(game):
    path = game / "humanoid.omf"
    document = omf.read(path.read_bytes(), "", Report())
    result, parameters = document.motion_set
    for there in (result.motions[2], parameters.definitions[2]):
        there.name = b"walk"
    path.write_bytes(omf.write(document.with_motion_set(type(document.motion_set)(result, parameters))))
    rig = load(game)
    second = library.motions_of(rig.motionbridge_motion_files[0])[2]
    assert second.name == "walk.001"
    kept = bodies_in(path)["walk"]
    list_edits.delete(rig.motionbridge_motion_files[0], bpy.data.actions["walk"])
    assert save_back() == {"FINISHED"}
    assert names_in(path) == ["idle", "walk", "jump", "nod"]
    assert bodies_in(path)["walk"] == kept


@pytest.fixture
def editor_rig(tmp_path):
    """The humanoid with an editor's file of five motions."""
    for name in ("humanoid.skls",):
        shutil.copy(SAVED.parent / name, tmp_path / name)
    bpy.ops.import_scene.xray_ogf(filepath=str(SAVED.parents[2] / "samples" / "humanoid.ogf"))
    bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "humanoid.skls"))
    return bpy.context.view_layer.objects.active


def test_an_edited_copy_of_an_editor_motion_leaves_the_original_alone(editor_rig, tmp_path):
    path = tmp_path / "humanoid.skls"
    copy = bpy.data.actions["walk"].copy()
    copy.name = "a_walk"
    copy.frame_start, copy.frame_end = 0, 2
    editor_rig.animation_data.action = copy
    bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "new.skls"))
    before = skl.read(path.read_bytes(), path.name, Report()).motions
    now = skl.read((tmp_path / "new.skls").read_bytes(), "new.skls", Report()).motions
    assert [motion.label for motion in now] == [*NAMES, "a_walk"]
    assert [(motion.first, motion.last) for motion in now[:5]] == [(motion.first, motion.last) for motion in before]
    assert [skl.write(skl.new_skl(motion)) for motion in now[:5]] == [skl.write(skl.new_skl(entry)) for entry in before]
    copy.motionbridge_motion.motion_name = "typed"
    bpy.ops.export_scene.xray_skl(filepath=str(path), onto="FILE")
    assert [motion.label for motion in skl.read(path.read_bytes(), path.name, Report()).motions] == [*NAMES, "typed"]


def test_a_copy_of_an_editor_motion_that_was_played_is_a_new_one(editor_rig, tmp_path):
    copy = bpy.data.actions["walk"].copy()
    editor_rig.animation_data.action = copy
    editor_rig.motionbridge_playing = bpy.data.actions.find("jump")
    path = tmp_path / "humanoid.skls"
    assert bpy.ops.export_scene.xray_skl(filepath=str(path)) == {"FINISHED"}
    assert [motion.label for motion in skl.read(path.read_bytes(), path.name, Report()).motions] == [*NAMES, "walk.001"]


def skeletal_names(path):
    return [motion.label for motion in skl.read(path.read_bytes(), path.name, Report()).motions]


@pytest.mark.parametrize("listed", [False, True])
def test_a_copy_of_an_editor_motion_stays_one_motion_when_it_is_saved_again(editor_rig, tmp_path, listed):
    path = tmp_path / "humanoid.skls"
    copy = bpy.data.actions["walk"].copy()
    editor_rig.animation_data.action = copy
    copy.motionbridge_motion.motion_name = "stride"
    if listed:  # as a moment later in a window
        library.adopt_copies(skl_codec.SKL, editor_rig)
    for done, name, end in (("added", "stride", 20), *(("changed", "stroll", end) for end in (20, 21, 22))):
        copy.motionbridge_motion.motion_name = name
        copy.frame_end = end
        assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
        assert skeletal_names(path) == [*NAMES, name]
        assert skl.read(path.read_bytes(), path.name, Report()).motions[-1].last == end
        lines = bpy.context.window_manager.motionbridge_report.splitlines()
        assert lines[0] == f"humanoid.skls: 1 motion {done}, 5 unchanged"
        assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}


def test_a_copy_of_the_motion_of_a_skl_leaves_the_file_to_the_original(tmp_path):
    path = Path(shutil.copy(SAVED.parent / "walk.skl", tmp_path))
    before = path.read_bytes()
    bpy.ops.import_scene.xray_ogf(filepath=str(SAVED.parents[2] / "samples" / "humanoid.ogf"))
    bpy.ops.import_scene.xray_skl(filepath=str(path))
    rig = bpy.context.view_layer.objects.active
    original = rig.animation_data.action
    copy = original.copy()
    rig.animation_data.action = copy
    copy.frame_end -= 1
    for listed in (False, True):
        if listed:
            library.adopt_copies(skl_codec.SKL, rig)
        assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}
        message = "a .skl file stores one motion: the copy is left out; export it to a file of its own"
        assert f"{message} ({copy.name})" in bpy.context.window_manager.motionbridge_report.splitlines()
        assert path.read_bytes() == before
    original.motionbridge_motion.speed = 2.5
    assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
    (motion,) = skl.read(path.read_bytes(), path.name, Report()).motions
    assert (motion.timing[0], motion.label) == (2.5, original.motionbridge_motion.motion_name)


def test_a_duplicated_armature_has_its_own_editor_motions(editor_rig, tmp_path):
    twin = duplicated(editor_rig)
    ours = library.motions_of(editor_rig.motionbridge_skeletal_files[0])
    theirs = library.motions_of(twin.motionbridge_skeletal_files[0])
    assert [action.name for action in ours] == NAMES
    assert [action.name for action in theirs] == ["walk.001", *NAMES[1:]]
    activate(editor_rig)
    bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "again.skls"))
    assert (tmp_path / "again.skls").read_bytes() == (tmp_path / "humanoid.skls").read_bytes()


def pushed(message):
    bpy.ops.ed.undo_push(message=message)


@pytest.mark.parametrize("renamed", [False, True])
def test_new_and_renamed_motions_are_saved_again_after_the_undo_of_a_save(game, renamed):
    rig, path = load(game), game / "humanoid.omf"
    action = bpy.data.actions["idle"]
    if renamed:
        action.motionbridge_motion.motion_name = "sit"
    else:
        action = rig.animation_data.action.copy()
        compat.assign(rig, action, compat.suitable_slot(action, rig))
    name = "sit" if renamed else action.name
    pushed("edited")
    assert save_back() == {"FINISHED"}
    saved = names_in(path)
    assert saved.count(name) == 1
    pushed("saved")
    bpy.ops.ed.undo()
    rig = activate(bpy.data.objects["humanoid"])
    assert save_back() == {"CANCELLED"}
    turn(bpy.data.actions[name])
    assert save_back() == {"FINISHED"}
    assert names_in(path) == saved
    assert save_back() == {"CANCELLED"}


def test_a_file_that_was_imported_twice_is_saved_from_either_list(game):
    rig, path = load(game), game / "humanoid.omf"
    before = bodies_in(path)
    bpy.ops.import_scene.xray_omf(filepath=str(path))
    for number, name in ((1, "walk"), (0, "nod")):
        rig.motionbridge_motion_file = number
        turn(next(entry for entry in library.motions_of(rig.motionbridge_motion_files[number]) if name in entry.name))
        assert save_back(if_changed="DISK") == {"FINISHED"}
    assert names_in(path) == NAMES
    now = bodies_in(path)
    assert [entry for entry in NAMES if now[entry] != before[entry]] == ["walk", "nod"]
    rig.motionbridge_motion_file = 1
    with pytest.raises(RuntimeError, match="no longer the one that was imported"):
        save_back()


def test_a_motion_whose_keys_went_into_another_action_is_warned_of(game):
    """As Merge Animation of Blender 4.4 and newer moves the keys of several objects into one action."""
    rig, path = load(game), game / "humanoid.omf"
    message = "the action has no keys of bones: where nothing else moves them, the motion becomes the rest pose"
    turn(rig.animation_data.action)
    assert save_back() == {"FINISHED"}
    assert message not in bpy.context.window_manager.motionbridge_report
    before = bodies_in(path)
    compat.curve_bag(bpy.data.actions["nod"]).fcurves.clear()
    assert save_back() == {"FINISHED"}
    assert (
        f"{message} (use Restore Motion for its keys, or import the file again) (nod)"
        in bpy.context.window_manager.motionbridge_report
    )
    now = bodies_in(path)
    assert [name for name in NAMES if now[name] != before[name]] == ["nod"]


def with_motions_of_another(game):
    """Our armature, and another with a file of its own that plays our ``wave``."""
    rig = load(game)
    folder = game / "other"
    folder.mkdir()
    shutil.copy(game / "humanoid.ogf", folder)
    path = Path(shutil.copy(game / "humanoid.omf", folder / "other.omf"))
    bpy.ops.import_scene.xray_ogf(filepath=str(folder / "humanoid.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(path), motions="walk;idle")
    other = bpy.context.view_layer.objects.active
    compat.assign(other, bpy.data.actions["wave"])
    return rig, other, path


def test_a_motion_added_to_another_armatures_file_stays_in_its_own(game):
    rig, other, path = with_motions_of_another(game)
    strip = other.animation_data.nla_tracks.new().strips.new("wave", 1, bpy.data.actions["wave"])
    bodies, before = bodies_in(path), (game / "humanoid.omf").read_bytes()
    assert bpy.ops.motionbridge.add_motion() == {"FINISHED"}
    copy = other.animation_data.action
    assert copy.name == "wave.001"
    assert strip.action == copy
    assert "wave > wave.001" in bpy.context.window_manager.motionbridge_report
    assert listed_names(rig) == NAMES
    assert listed_names(other)[-1] == "wave.001"
    copy.motionbridge_motion.motion_name = "greet"
    turn(copy)
    assert save_back() == {"FINISHED"}
    assert names_in(path) == [*NAMES, "greet"]
    assert {name: bodies_in(path)[name] for name in NAMES} == bodies
    activate(rig)
    assert save_back() == {"CANCELLED"}
    (game / "humanoid.omf").unlink()
    assert save_back() == {"FINISHED"}
    assert (game / "humanoid.omf").read_bytes() == before


def test_a_motion_linked_to_a_file_of_another_armature_stays_in_its_own(game):
    rig, other, _ = with_motions_of_another(game)
    before, new = (game / "humanoid.omf").read_bytes(), game / "new.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(new), choose="ACTIVE", remember=True) == {"FINISHED"}
    assert names_in(new) == ["wave"]
    assert other.animation_data.action.name == "wave.001"
    assert [entry.name for entry in library.motions_of(other.motionbridge_motion_files["new.omf"])] == ["wave.001"]
    assert save_back() == {"CANCELLED"}
    turn(other.animation_data.action)
    assert save_back() == {"FINISHED"}
    activate(rig)
    assert listed_names(rig) == NAMES
    assert save_back() == {"CANCELLED"}
    (game / "humanoid.omf").unlink()
    assert save_back() == {"FINISHED"}
    assert (game / "humanoid.omf").read_bytes() == before


def evaluated(rig):
    """The armature as Blender evaluates it now, with a copy of its own of each property."""
    bpy.context.view_layer.update()
    return rig.evaluated_get(bpy.context.evaluated_depsgraph_get())


def test_no_evaluated_entry_points_at_what_failed_work_removes(game):
    rig = load(game)
    assert len(evaluated(rig).motionbridge_motion_files) == 1

    def failing():
        with scope.rows_removed_on_failure(rig, motion_properties.LISTS.files):
            rig.motionbridge_motion_files.add().actions.add().action = bpy.data.actions["walk"]
            assert len(evaluated(rig).motionbridge_motion_files) == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert len(rig.motionbridge_motion_files) == 1
    assert len(evaluated(rig).motionbridge_motion_files) == 1


def test_no_evaluated_entry_points_at_an_action_that_leaves_the_list(game):
    rig = load(game)
    (file,) = rig.motionbridge_motion_files
    walk = rig.animation_data.action
    assert [entry.action.name for entry in evaluated(rig).motionbridge_motion_files[0].actions] == ["walk"]
    action_lists.remove(file, walk)
    assert len(file.actions) == 0
    assert len(evaluated(rig).motionbridge_motion_files[0].actions) == 0
