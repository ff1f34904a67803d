"""A button beside a list acts on what the list shows: where a search hides rows, they stay as they are."""

import itertools
import shutil
from contextlib import contextmanager

import bpy
import pytest

from addon.ui import arma, descent3, searched_lists, xray
from addon.ui.arma.panels import MOTIONBRIDGE_UL_arma_events
from addon.ui.searched_lists import MOTIONBRIDGE_UL_names, row_after_removal
from addon.ui.xray.hud import MOTIONBRIDGE_UL_hud_actions
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions
from tests.blender.test_rtm import moved, plain
from tests.blender.test_ui import refusal

NAMES = ["walk", "idle", "wave", "jump", "nod"]
SHOWN = 1 << 30


@contextmanager
def in_viewport():
    """Call operators as buttons in the sidebar of a viewport do."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    with bpy.context.temp_override(window=window, area=area):
        yield


def drawn(kind, list_id="", **search):
    """A list of this class as Blender draws it, with what is typed into its search."""
    fields = {
        "list_id": list_id, "filter_name": "", "use_filter_invert": False,
        "bitflag_filter_item": SHOWN, "words": staticmethod(getattr(kind, "words", None)),
        "listing": getattr(kind, "listing", None),
    }  # fmt: skip
    return type(kind.__name__, (), fields | search)()


def search(kind, owner, rows, list_id="", **typed):
    """Let a list in the viewport draw itself; returns the indices of the rows that it shows."""
    flags, _ = kind.filter_items(drawn(kind, list_id, **typed), bpy.context, owner, rows)
    return [index for index, flag in enumerate(flags) if flag == SHOWN]


def search_motions(pattern="", *, edited=False, kind=MOTIONBRIDGE_UL_motions):
    typed = bpy.context.window_manager.motionbridge_search
    typed.pattern, typed.edited = pattern, edited
    search(kind, bpy.data, "actions")


@pytest.fixture
def rig(samples, tmp_path):
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    bpy.ops.import_scene.xray_ogf(filepath=str(tmp_path / "humanoid.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(tmp_path / "humanoid.omf"))
    result = bpy.context.view_layer.objects.active
    assert listed(result) == NAMES
    with in_viewport():
        yield result


def listed(rig):
    file = rig.motionbridge_motion_files[0]
    result = [row.action for row in file.action_list.motionbridge_actions.entries if row.action is not None]
    return [action.name for action in sorted(result, key=lambda action: action.motionbridge_motion.order)]


def play(rig, name):
    rig.animation_data.action = bpy.data.actions[name]


def test_minus_in_a_searched_list_goes_on_with_the_next_motion_that_is_shown(rig):
    play(rig, "walk")
    search_motions("w*")
    bpy.ops.motionbridge.delete_motion()
    assert rig.animation_data.action.name == "wave"
    bpy.ops.motionbridge.delete_motion()
    assert sorted(listed(rig)) == ["idle", "jump", "nod"]


def test_buttons_leave_a_motion_alone_that_the_search_hides(rig):
    play(rig, "jump")
    search_motions("w*")
    buttons = bpy.ops.motionbridge.delete_motion, bpy.ops.motionbridge.move_motion, bpy.ops.motionbridge.revert_motion
    for button in buttons:
        assert "The list does not show what is active" in refusal(button)
    assert listed(rig) == NAMES
    search_motions()
    assert all(button.poll() for button in buttons)
    search_motions(edited=True)
    assert not any(button.poll() for button in buttons)


def test_buttons_act_on_the_listed_file_only(rig, tmp_path):
    shutil.copy(tmp_path / "humanoid.omf", tmp_path / "other.omf")
    bpy.ops.import_scene.xray_omf(filepath=str(tmp_path / "other.omf"), motions="nod")
    assert len(rig.motionbridge_motion_files) == 2
    search_motions()
    assert bpy.ops.motionbridge.delete_motion.poll()
    rig.motionbridge_motion_file = 0
    search_motions()
    assert not bpy.ops.motionbridge.delete_motion.poll()


@pytest.mark.parametrize(
    ("direction", "order"),
    [
        ("UP", ["wave", "walk", "idle", "jump", "nod"]),
        ("TOP", ["wave", "walk", "idle", "jump", "nod"]),
        ("DOWN", NAMES),
        ("BOTTOM", NAMES),
    ],
)
def test_arrows_swap_with_the_next_motion_that_is_shown(rig, direction, order):
    play(rig, "wave")
    search_motions("w*")
    assert bpy.ops.motionbridge.move_motion(direction=direction) == {"FINISHED" if order != NAMES else "CANCELLED"}
    assert listed(rig) == order


def test_scripts_and_editors_without_the_list_have_no_search(rig):
    play(rig, "jump")
    search_motions("w*")
    window = bpy.context.window_manager.windows[0]
    for area in (None, next(area for area in window.screen.areas if area.type != "VIEW_3D")):
        with bpy.context.temp_override(window=window, area=area):
            assert bpy.ops.motionbridge.delete_motion.poll()
            bpy.ops.motionbridge.move_motion(direction="UP")
    assert listed(rig) == ["walk", "jump", "idle", "wave", "nod"]


def test_the_row_after_removal_is_shown_if_any_is():
    with in_viewport():
        for flags in itertools.product((False, True), repeat=4):
            rows = list(enumerate(flags))
            searched_lists.note_search(bpy.context, "a list", lambda row: row[1])
            for index in range(4):
                left = rows[:index] + rows[index + 1 :]
                following = left[row_after_removal(bpy.context, "a list", rows, index)]
                assert following[1] == any(row[1] for row in left)
                later = [row for row in left[index:] if row[1]]
                assert not later or following == later[0]
        assert row_after_removal(bpy.context, "a list", [(0, True)], 0) == 0


def test_marks_that_the_search_hides_stay(rig):
    motion = rig.animation_data.action.motionbridge_motion
    motion.marks.clear()
    for name in ("Left", "Right", "Hand"):
        bpy.ops.motionbridge.marks_add(name=name)
    motion.active_mark = 1
    assert search(MOTIONBRIDGE_UL_names, motion, "marks", "motionbridge_marks", filter_name="h*d") == [2]
    for name in ("marks_remove", "marks_add_interval", "marks_remove_interval"):
        assert "The list does not show what is active" in refusal(getattr(bpy.ops.motionbridge, name))
    motion.active_mark = 2
    bpy.ops.motionbridge.marks_remove()
    assert [mark.name for mark in motion.marks] == ["Left", "Right"]
    search(MOTIONBRIDGE_UL_names, motion, "marks", "motionbridge_marks", filter_name="left", use_filter_invert=True)
    motion.active_mark = 0
    assert not bpy.ops.motionbridge.marks_remove.poll()


def test_events_that_the_search_hides_stay(tmp_path):
    rows = [(number / 2, [moved(), moved(z=0.1 * number)]) for number in range(3)]
    (tmp_path / "nod.rtm").write_bytes(plain(["Pelvis", "head"], rows))
    bpy.ops.import_scene.arma_rtm(filepath=str(tmp_path / "nod.rtm"))
    animation = bpy.context.view_layer.objects.active.animation_data.action.motionbridge_animation
    with in_viewport():
        for number in range(3):
            bpy.ops.motionbridge.arma_event_add()
            animation.events[number].value = f"step{number}"
        animation.active_event = 0
        assert search(MOTIONBRIDGE_UL_arma_events, animation, "events", filter_name="step[12]") == [1, 2]
        assert "The list does not show what is active" in refusal(bpy.ops.motionbridge.arma_event_remove)
        animation.active_event = 2
        bpy.ops.motionbridge.arma_event_remove()
        assert [event.value for event in animation.events] == ["step0", "step1"]
        assert animation.active_event == 1


def test_references_that_the_search_hides_stay(rig):
    model = rig.motionbridge_model
    model.references.clear()
    for name in ("actors\\stalker", "hud\\rifle", "actors\\monster"):
        model.references.add().name = name
    model.active_reference = 1
    assert search(MOTIONBRIDGE_UL_names, model, "references", "motionbridge_references", filter_name="actors") == [0, 2]
    assert "The list does not show what is active" in refusal(bpy.ops.motionbridge.remove_reference)
    model.active_reference = 0
    bpy.ops.motionbridge.remove_reference()
    assert [row.name for row in model.references] == ["hud\\rifle", "actors\\monster"]
    assert model.active_reference == 1


def test_actions_of_first_person_that_the_search_hides_are_not_copied(rig):
    hud = rig.motionbridge_hud
    hud.is_hud = True
    for name in ("anm_idle", "anm_reload"):
        row = hud.actions.add()
        row.name, row.hands_motion = name, "wpn_" + name[4:]
    hud["active_action"] = 0
    assert bpy.ops.motionbridge.hud_add_action.poll()
    assert search(MOTIONBRIDGE_UL_hud_actions, hud, "actions", filter_name="wpn_rel") == [1]
    for name in ("hud_add_action", "hud_attach", "hud_preview"):
        assert "The list does not show what is active" in refusal(getattr(bpy.ops.motionbridge, name))


def test_every_list_of_named_rows_notes_its_search():
    """All others have no search: rows of batteries have no names; lists of dialogs keep theirs on the operator."""
    kinds = {kind for part in (arma, descent3, searched_lists, xray) for kind in part.CLASSES}
    lists = {kind for kind in kinds if issubclass(kind, bpy.types.UIList)}
    searched = {kind.__name__ for kind in lists if issubclass(kind, searched_lists.SearchedRows)}
    assert searched == {
        "MOTIONBRIDGE_UL_names",
        "MOTIONBRIDGE_UL_arma_events",
        "MOTIONBRIDGE_UL_arma_selections",
        "MOTIONBRIDGE_UL_detail_models",
        "MOTIONBRIDGE_UL_hud_actions",
        "MOTIONBRIDGE_UL_motion_references",
    }
