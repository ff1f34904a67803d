"""Lists of motions between two redraws: remembered where nothing happened, fresh whatever did."""

import shutil
from types import SimpleNamespace

import bpy
import pytest

from addon.blender import action_lists
from addon.games.xray.motions import library
from addon.games.xray.motions.files import LISTS
from addon.ui import listed_actions
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions
from addon.ui.xray.skeletal import MOTIONBRIDGE_UL_editor_motions

NAMES = ["walk", "idle", "wave", "jump", "nod"]


@pytest.fixture
def rig(samples, tmp_path):
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    bpy.ops.import_scene.xray_ogf(filepath=str(tmp_path / "humanoid.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(tmp_path / "humanoid.omf"))
    found = bpy.context.view_layer.objects.active
    assert shown() == NAMES
    return found


def shown(kind=MOTIONBRIDGE_UL_motions, **filters) -> list[str]:
    """The names of the actions in the rows that Blender would draw now."""
    drawn = SimpleNamespace(pattern="", regular=False, edited=False, filter_name="", bitflag_filter_item=1 << 30)
    vars(drawn).update(filters)
    flags, order = kind.filter_items(drawn, bpy.context, bpy.data, "actions")
    assert len(flags) == len(bpy.data.actions)
    order = order or list(range(len(flags)))
    assert sorted(order) == list(range(len(flags)))
    rows = [(place, action.name) for action, flag, place in zip(bpy.data.actions, flags, order, strict=True) if flag]
    return [name for _, name in sorted(rows)]


def test_redraws_of_an_unchanged_list_read_no_motion(rig, monkeypatch):
    read = []
    monkeypatch.setattr(library, "motions_of", lambda file: read.append(file) or [])
    for _ in range(3):
        assert shown() == NAMES
    assert shown(pattern="w*") == ["walk", "wave"]
    assert read == []


def test_blender_is_not_told_to_sort_rows_that_are_in_order(rig):
    # It would take 15 ms a redraw for 3,060 of them.
    drawn = SimpleNamespace(pattern="w*", regular=False, edited=False, filter_name="", bitflag_filter_item=1 << 30)
    assert MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")[1] == []
    drawn.pattern = ""
    assert MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")[1] != []


def test_a_typed_name_is_shown_at_once(rig):
    bpy.data.actions["idle"].motionbridge_motion.motion_name = "wander"
    assert shown(pattern="wa*") == ["walk", "idle", "wave"]


def test_the_badge_filter_follows_the_badge(rig):
    assert shown(edited=True) == []
    bpy.data.actions["idle"].motionbridge_motion.status = "EDITED"
    assert shown(edited=True) == ["idle"]
    bpy.data.actions["idle"].motionbridge_motion.status = "UNTOUCHED"
    assert shown(edited=True) == []


def test_an_action_that_is_renamed_moves_in_the_data_and_stays_in_its_row(rig):
    bpy.data.actions["walk"].name = "zebra"
    assert shown() == ["zebra", "idle", "wave", "jump", "nod"]
    bpy.data.actions["zebra"].motionbridge_motion.motion_name = ""
    bpy.data.actions["zebra"].name = "zebu"
    assert shown(pattern="zebu") == ["zebu"]


def test_a_new_action_of_somebody_else_takes_no_row(rig):
    bpy.data.actions.new("aaa")
    assert shown() == NAMES


def test_a_removed_action_leaves_its_row(rig):
    bpy.data.actions.remove(bpy.data.actions["wave"])
    assert shown() == ["walk", "idle", "jump", "nod"]


def test_another_action_of_the_same_name_is_another(rig):
    bpy.data.actions.remove(bpy.data.actions["wave"])
    bpy.data.actions.new("wave")
    assert shown() == ["walk", "idle", "jump", "nod"]


def test_moving_adding_and_deleting_are_seen(rig):
    bpy.ops.motionbridge.move_motion(action="nod", direction="TOP")
    assert shown() == ["nod", "walk", "idle", "wave", "jump"]
    bpy.ops.motionbridge.delete_motion(action="idle")
    assert shown() == ["nod", "walk", "wave", "jump"]
    rig.animation_data.action = bpy.data.actions.new("mine")
    bpy.ops.motionbridge.add_motion()
    assert shown() == ["nod", "walk", "wave", "jump", "mine"]


def test_entries_that_point_elsewhere_are_seen(rig):
    """What Remap Users does: nothing is set, nothing is renamed. Blender evaluates before it draws."""
    other = bpy.data.actions.new("other")
    shown()
    bpy.data.actions["jump"].user_remap(other)
    bpy.context.view_layer.update()
    assert shown() == ["walk", "other", "idle", "wave", "nod"]
    action_lists.remove(rig.motionbridge_motion_files[0], other, LISTS)
    assert shown() == ["walk", "idle", "wave", "nod"]


def test_a_copy_that_plays_has_a_row_as_long_as_it_plays(rig):
    copy = bpy.data.actions["walk"].copy()
    assert shown() == NAMES
    before, rig.animation_data.action = rig.animation_data.action, copy
    assert shown() == [*NAMES, "walk.001"]
    rig.animation_data.action = before
    assert shown() == NAMES


def test_undo_and_redo_are_seen(rig):
    bpy.ops.ed.undo_push(message="imported")
    bpy.ops.motionbridge.move_motion(action="nod", direction="TOP")
    bpy.data.actions["idle"].motionbridge_motion.status = "EDITED"
    bpy.ops.ed.undo_push(message="moved")
    moved = ["nod", "walk", "idle", "wave", "jump"]
    assert (shown(), shown(edited=True)) == (moved, ["idle"])
    bpy.ops.ed.undo()
    assert (shown(), shown(edited=True)) == (NAMES, [])
    bpy.ops.ed.redo()
    assert (shown(), shown(edited=True)) == (moved, ["idle"])


def test_another_file_of_the_same_names_is_read_anew(rig, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "first.blend"))
    bpy.ops.motionbridge.move_motion(action="nod", direction="TOP")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "second.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "first.blend"))
    assert shown() == NAMES
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second.blend"))
    assert shown() == ["nod", "walk", "idle", "wave", "jump"]


def test_each_armature_has_its_rows(rig, samples):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    other = bpy.context.view_layer.objects.active
    assert other != rig
    assert shown() == []
    bpy.context.view_layer.objects.active = rig
    assert shown() == NAMES


def test_the_active_file_decides(rig, samples):
    bpy.ops.import_scene.xray_omf(filepath=str(samples / "humanoid.omf"), motions="idle;nod")
    assert len(rig.motionbridge_motion_files) == 2
    assert shown() == ["idle.001", "nod.001"]
    rig.motionbridge_motion_file = 0
    assert shown() == NAMES


def test_lists_of_version_0_1_0_are_asked_each_time(rig, monkeypatch):
    file = rig.motionbridge_motion_files[0]
    file.lists_actions = False
    assert shown() == NAMES
    bpy.data.actions["idle"].motionbridge_motion.file = ""
    assert shown() == ["walk", "wave", "jump", "nod"]


def test_rows_of_editor_motions_are_remembered_and_fresh(rig, tmp_path):
    bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "editor.skls"))
    bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "editor.skls"))
    before = shown(MOTIONBRIDGE_UL_editor_motions)
    assert len(before) == len(NAMES)
    bpy.data.actions.remove(bpy.data.actions[before[0]])
    assert shown(MOTIONBRIDGE_UL_editor_motions) == before[1:]


def test_the_row_that_plays_is_found_whatever_comes_before_it(rig):
    for name in NAMES:
        rig.animation_data.action = bpy.data.actions[name]
        assert rig.motionbridge_playing == bpy.data.actions.find(name)
    bpy.data.actions.new("aaa")
    assert rig.motionbridge_playing == bpy.data.actions.find("nod")
    bpy.data.actions["nod"].name = "zzz"
    assert rig.motionbridge_playing == bpy.data.actions.find("zzz")
    rig.animation_data.action = None
    assert rig.motionbridge_playing == -1


def test_a_redraw_looks_once_for_the_row_that_plays(rig, monkeypatch):
    looked = []
    find = listed_actions.number_playing
    monkeypatch.setattr(listed_actions, "number_playing", lambda rig: looked.append(rig) or find(rig))
    layout = SimpleNamespace(template_list=lambda *_, **__: [rig.motionbridge_drawn_playing for _ in range(34)])
    for name in ("walk", "nod"):
        rig.animation_data.action = bpy.data.actions[name]
        looked.clear()
        listed_actions.draw(layout, "MOTIONBRIDGE_UL_motions", rig)
        assert len(looked) == 1
        assert rig.motionbridge_drawn_playing == rig.motionbridge_playing == bpy.data.actions.find(name)
    rig.motionbridge_drawn_playing = bpy.data.actions.find("jump")
    assert rig.animation_data.action.name == "jump"


def test_nothing_grows_with_what_was_shown(rig):
    for number in range(50):
        shown(pattern=f"w{number}")
    assert len(listed_actions._shown) <= listed_actions.REMEMBERED
    assert len(listed_actions._rows) <= listed_actions.REMEMBERED
    assert len(listed_actions._entries) <= listed_actions.REMEMBERED


def test_whether_an_action_is_a_copy_is_asked_of_its_own_place_first(rig, monkeypatch):
    """The panel asks at every redraw: no list of the rig is walked for an action that lies where its file has it."""
    walked = []
    monkeypatch.setattr(action_lists, "listed", lambda file, kind: walked.append(file) or {})
    for name in NAMES:
        assert action_lists.copies([bpy.data.actions[name]], LISTS) == {}
    assert action_lists.unlisted(rig, LISTS) == []
    assert walked == []
