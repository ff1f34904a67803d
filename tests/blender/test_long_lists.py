"""Lists of motions between two redraws: remembered where nothing happened, fresh whatever did."""

import shutil
from types import SimpleNamespace

import bpy
import pytest

from addon.blender import action_lists
from addon.games.xray.motions import library
from addon.games.xray.motions.properties import LISTS
from addon.ui import listed_actions
from addon.ui.xray.motion_operators import EDITOR_MOTIONS, MOTIONS
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions
from addon.ui.xray.skeletal import MOTIONBRIDGE_UL_editor_motions
from tests.blender.scenes import play_new

NAMES = ["walk", "idle", "wave", "jump", "nod"]

LISTINGS = {MOTIONBRIDGE_UL_motions: MOTIONS, MOTIONBRIDGE_UL_editor_motions: EDITOR_MOTIONS}


@pytest.fixture
def rig(samples, tmp_path):
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    bpy.ops.import_scene.xray_ogf(filepath=str(tmp_path / "humanoid.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(tmp_path / "humanoid.omf"))
    result = bpy.context.view_layer.objects.active
    assert shown() == NAMES
    return result


class Labels:
    """A layout that keeps the first text of each row."""

    def __init__(self, texts=None):
        self.texts = [] if texts is None else texts

    def row(self, **_):
        return Labels([]) if self.texts else Labels(self.texts)

    split = row

    def label(self, text="", **_):
        self.texts.append(text)

    def prop(self, owner, name, **_):
        self.texts.append(getattr(owner, name))

    def operator(self, _name, **_):
        """The badge of a motion of which it is unknown whether it is edited."""
        return SimpleNamespace(bl_rna=SimpleNamespace(properties=()))


def a_list(kind=MOTIONBRIDGE_UL_motions, *, bitflag_item_never_show=0, **filters) -> SimpleNamespace:
    """A list as Blender draws it, with what is typed above it."""
    search = bpy.context.window_manager.motionbridge_search
    for name, value in ({"pattern": "", "edited": False, "by_name": False} | filters).items():
        setattr(search, name, value)
    drawn = SimpleNamespace(bitflag_filter_item=1 << 30, listing=kind.listing, draw_facts=lambda *_: None)
    if bitflag_item_never_show:
        drawn.bitflag_item_never_show = bitflag_item_never_show
    return drawn


def rows(kind=MOTIONBRIDGE_UL_motions, **filters) -> dict[int, str]:
    """The rows that Blender would draw now: the name of each action, by the index that a click on its row sets."""
    rig = bpy.context.view_layer.objects.active
    listing = LISTINGS[kind]
    flags, order = kind.filter_items(a_list(kind, **filters), bpy.context, bpy.data, "actions")
    assert len(flags) == len(bpy.data.actions)
    assert order == []
    result = {}
    for index in (index for index, flag in enumerate(flags) if flag & 1 << 30):
        layout, item = Labels(), bpy.data.actions[index]
        kind.draw_row(a_list(kind), layout, item, rig, index)
        action = listed_actions.action_at(listing, rig, index)
        assert layout.texts[0] == (action.motionbridge_motion.motion_name or action.name)
        result[index] = action.name
    return result


def shown(kind=MOTIONBRIDGE_UL_motions, **filters) -> list[str]:
    """The names of the actions in the rows that Blender would draw now."""
    return list(rows(kind, **filters).values())


def test_redraws_of_an_unchanged_list_read_no_motion(rig, monkeypatch):
    read = []
    monkeypatch.setattr(library, "motions_of", lambda file: read.append(file) or [])
    for _ in range(3):
        assert shown() == NAMES
    assert shown(pattern="w*") == ["walk", "wave"]
    assert read == []


def test_a_click_plays_what_the_row_says_under_every_filter(rig):
    """Blender is never told to sort, which takes 15 ms a redraw for 3,060 rows: rows are not in the actions' order."""
    assert [action.name for action in bpy.data.actions] != NAMES
    for filters in ({}, {"pattern": "w*"}, {"pattern": "nod"}):
        for index, name in rows(**filters).items():
            rig.motionbridge_motion_row = index
            assert rig.animation_data.action.name == name
            assert rig.motionbridge_playing == bpy.data.actions.find(name)
            assert listed_actions.row_playing(MOTIONS, rig) == index
    before = rig.animation_data.action
    for nothing in (-1, len(NAMES), 10_000):
        rig.motionbridge_motion_row = nothing
        assert rig.animation_data.action == before


def test_a_click_on_an_editor_motion_plays_it(rig, tmp_path):
    bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "editor.skls"))
    bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "editor.skls"))
    listed = rows(MOTIONBRIDGE_UL_editor_motions)
    assert len(listed) >= 1
    for index, name in listed.items():
        rig.motionbridge_editor_motion_row = index
        assert rig.animation_data.action.name == name
        assert rig.animation_data.action.motionbridge_skeletal.is_skeletal
        assert listed_actions.row_playing(EDITOR_MOTIONS, rig) == index
        assert listed_actions.row_playing(MOTIONS, rig) == -1


def test_a_click_after_a_rename_plays_the_row_that_was_clicked(rig):
    index = shown().index("wave")
    bpy.data.actions["wave"].name = "aaa"
    rig.motionbridge_motion_row = index
    assert rig.animation_data.action.name == "aaa"


def test_an_inverted_filter_shows_no_action_of_another_program(rig):
    bpy.data.actions.new("aaa")
    never = 1 << 29
    drawn = a_list(pattern="w*", bitflag_item_never_show=never)
    flags, _ = MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")
    assert flags == [1 << 30, 0, 1 << 30, 0, 0, never]
    layout = Labels()
    MOTIONBRIDGE_UL_motions.draw_row(drawn, layout, bpy.data.actions[5], rig, 5)
    assert layout.texts == []


def test_a_typed_name_is_shown_at_once(rig):
    bpy.data.actions["idle"].motionbridge_motion.motion_name = "wander"
    assert shown(pattern="wa*") == ["walk", "wander", "wave"]


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


def test_a_new_action_of_another_program_takes_no_row(rig):
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
    play_new(rig, "mine")
    bpy.ops.motionbridge.add_motion()
    assert shown() == ["nod", "walk", "wave", "jump", "mine"]


def test_entries_that_point_elsewhere_are_seen(rig):
    """What Remap Users does: nothing is set, nothing is renamed. Blender evaluates before it draws."""
    other = bpy.data.actions.new("other")
    shown()
    bpy.data.actions["jump"].user_remap(other)
    bpy.context.view_layer.update()
    assert shown() == ["walk", "other", "idle", "wave", "nod"]
    action_lists.remove(rig.motionbridge_motion_files[0], other)
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


def test_another_file_of_the_same_names_is_read_again(rig, tmp_path):
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


def test_a_redraw_looks_once_for_its_rows_and_the_one_that_plays(rig, monkeypatch):
    looked = []
    find, read = listed_actions.number_playing, listed_actions.rows_of
    monkeypatch.setattr(listed_actions, "number_playing", lambda rig: looked.append("row") or find(rig))
    monkeypatch.setattr(listed_actions, "rows_of", lambda *files: looked.append("rows") or read(*files))

    def drawn(*_, **__):
        assert shown() == NAMES
        return [listed_actions.row_drawn(MOTIONS, rig) for _ in range(34)]

    layout = SimpleNamespace(template_list=drawn)
    for name in ("walk", "nod"):
        rig.animation_data.action = bpy.data.actions[name]
        looked.clear()
        listed_actions.draw(layout, MOTIONS, rig)
        assert looked == ["rows", "row"]
        assert listed_actions.row_drawn(MOTIONS, rig) == NAMES.index(name)
    assert looked == ["rows", "row"]


def test_rows_are_looked_for_again_after_a_redraw_that_failed(rig):
    layout = SimpleNamespace()
    with pytest.raises(AttributeError):
        listed_actions.draw(layout, MOTIONS, rig)
    bpy.data.actions.remove(bpy.data.actions["wave"])
    assert shown() == ["walk", "idle", "jump", "nod"]


def test_nothing_grows_with_what_was_shown(rig):
    for number in range(50):
        shown(pattern=f"w{number}")
    assert len(listed_actions._flags) <= listed_actions.MAX_LISTS
    assert len(listed_actions._rows) <= listed_actions.MAX_LISTS
    assert len(listed_actions._entries) <= listed_actions.MAX_LISTS


def test_whether_an_action_is_a_copy_is_asked_of_its_own_entry_first(rig, monkeypatch):
    """The panel asks at every redraw: no list of the rig is walked for an action that lies where its file has it."""
    walked = []
    monkeypatch.setattr(action_lists, "listed", lambda file, kind: walked.append(file) or {})
    for name in NAMES:
        assert action_lists.copies([bpy.data.actions[name]], LISTS) == {}
    assert action_lists.unlisted(rig, LISTS) == []
    assert walked == []
