"""The preview of Save Back leaves out motions that seem unedited; writing compares every motion, whatever was seen."""

import random
from itertools import pairwise
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.blender import compat, scope
from addon.blender.bone_curves import keys_known, keys_read
from addon.blender.properties import key_digests
from addon.core.report import Report
from addon.games.plan import OtherBase
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import OMF, MotionExportOptions
from addon.ui import operation
from addon.ui.xray.motion_files import MOTIONBRIDGE_OT_save_back
from tests.blender.test_save_back import NOTHING, dialog_of
from tests.blender.test_ui import game, load, turn_a_key
from tests.blender.test_unedited import EDITS, curve_of, listed, mute
from tests.blender.test_written_motions import drawn

__all__ = ["game"]

UNREPORTED = "keys were changed in a way that Blender does not report"


@pytest.fixture
def read(monkeypatch):
    """The actions whose keys were read as a motion."""
    result = []
    add = omf_codec.OmfGatherer.add
    monkeypatch.setattr(
        omf_codec.OmfGatherer, "add", lambda self, action, label: result.append(action) or add(self, action, label)
    )
    return result


def planned(rig, **how):
    """The plan of a save and what it reports."""
    file, report = rig.motionbridge_motion_files[0], Report()
    plan = library.plan_save_back(
        OMF,
        bpy.context,
        rig,
        file,
        options=MotionExportOptions(),
        if_changed=OtherBase.REFUSE,
        report=report,
        **how,
    )
    return plan, report


def noticed() -> None:
    """Blender reports what was edited, as it does in a window before anything else happens."""
    bpy.context.view_layer.update()


def raise_key(action) -> None:
    """Edit keys as scripts do, in a way that Blender 4.2 reports to nobody."""
    curve = curve_of(action)
    keys = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", keys)
    keys[1] += 0.3
    curve.keyframe_points.foreach_set("co", keys)


def unseen(action, edit) -> None:
    """Edit an action, and let what was read of keys before the edit still count as known."""
    before = {uid: dict(known) for uid, known in key_digests.items()}
    edit(action)
    noticed()
    key_digests.clear()
    key_digests.update(before)


def test_a_preview_reads_the_edited_motion_and_the_one_that_plays(game, read):
    rig = load(game)
    playing, edited = rig.animation_data.action, listed(rig)[2]
    assert playing != edited
    noticed()
    turn_a_key(edited)
    noticed()
    dialog = dialog_of(MOTIONBRIDGE_OT_save_back)
    assert "1 motion, 1 track changed, 4 unchanged" in " ".join(drawn(dialog))
    assert read == [action for action in listed(rig) if action in (playing, edited)]
    del read[:]
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert read == listed(rig), "whatever is written was compared"
    del read[:]
    turn_a_key(playing)
    noticed()
    dialog_of(MOTIONBRIDGE_OT_save_back)
    assert read == [playing], "what was saved is not read again"


@pytest.mark.parametrize("edit", [*EDITS, raise_key])
def test_a_preview_says_what_a_full_comparison_says(game, edit):
    rig = load(game)
    turn_a_key(listed(rig)[3])
    noticed()
    edit(listed(rig)[2])
    noticed()
    if edit is raise_key:
        key_digests.clear()
    preview, seen = planned(rig, is_preview=True)
    assert preview.is_preview
    plan, report = planned(rig)
    assert not plan.is_preview
    assert (preview.data, str(preview.sentence())) == (plan.data, str(plan.sentence()))
    assert [str(part.line()) for part in preview.changes.parts] == [str(part.line()) for part in plan.changes.parts]
    assert seen.lines() == report.lines()
    assert edit is not mute or "muted" in "".join(map(str, seen.lines()))


def test_a_preview_that_finds_no_change_has_compared_everything(game, read):
    rig = load(game)
    noticed()
    assert planned(rig, is_preview=True)[0].is_saved()
    unseen(listed(rig)[2], raise_key)
    del read[:]
    preview = planned(rig, is_preview=True)[0]
    assert set(read) == set(listed(rig))
    assert not preview.is_saved()
    assert not preview.is_preview


def test_an_edit_that_the_preview_missed_is_refused_and_shown_the_next_time(game):
    rig = load(game)
    path = game / "humanoid.omf"
    before = path.read_bytes()
    noticed()
    turn_a_key(listed(rig)[0])
    noticed()
    keys_known(listed(rig)[2], rig)
    unseen(listed(rig)[2], raise_key)
    dialog = dialog_of(MOTIONBRIDGE_OT_save_back)
    assert "1 motion, 1 track changed" in " ".join(drawn(dialog))
    assert dialog.execute(bpy.context) == {"CANCELLED"}
    assert UNREPORTED in bpy.context.window_manager.motionbridge_report
    assert path.read_bytes() == before
    dialog = dialog_of(MOTIONBRIDGE_OT_save_back)
    assert "2 motions, 2 tracks changed" in " ".join(drawn(dialog))
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert NOTHING in drawn(dialog_of(MOTIONBRIDGE_OT_save_back))


@pytest.mark.parametrize("seed", range(6))
def test_no_wrong_mark_loses_an_edit(game, seed):
    """Whatever Blender reports of random edits: what is written in the end is what a full comparison writes."""
    chance = random.Random(seed)  # noqa: S311 (nothing here is secret)
    rig = load(game)
    path = game / "humanoid.omf"
    noticed()
    for _ in range(3):
        for action in chance.sample(listed(rig), chance.randint(1, 4)):
            edit = chance.choice([raise_key, turn_a_key])
            if chance.random() < 0.5:
                unseen(action, edit)
            else:
                edit(action)
                noticed()
        expected = planned(rig)[0].data
        for _ in range(2):
            dialog = dialog_of(MOTIONBRIDGE_OT_save_back, backup=False)
            if dialog.execute(bpy.context) == {"FINISHED"}:
                break
        assert path.read_bytes() == expected
        assert NOTHING in drawn(dialog_of(MOTIONBRIDGE_OT_save_back))


def test_what_was_read_of_keys_is_valid_until_blender_reports_a_change(game):
    rig = load(game)
    playing, *others = listed(rig)
    noticed()

    def known() -> set[str]:
        return {action.name for action in listed(rig) if key_digests.get(action.session_uid)}

    for action in listed(rig):
        assert keys_known(action, rig) == keys_read(action, rig)
    everything = {action.name for action in listed(rig)}
    bpy.context.scene.frame_set(5)
    rig.pose.bones["head"].location.x = 1.0
    noticed()
    assert known() == everything, "poses and frames are no keys"
    compat.curve_bag(playing).fcurves[0].keyframe_points[0].co[1] += 1.0
    noticed()
    assert known() == everything - {playing.name}
    turn_a_key(others[1])
    noticed()
    assert known() == set(), "Blender does not say which of those that do not play it was"
    keys_known(others[0], rig)
    bpy.ops.ed.undo_push(message="one")
    bpy.ops.ed.undo_push(message="two")
    bpy.ops.ed.undo()
    assert not key_digests


def test_progress_is_drawn_at_most_ten_times_per_second(monkeypatch):
    seen, now = [], [100.0]
    monkeypatch.setattr(scope, "time", SimpleNamespace(monotonic=lambda: now[0]))
    ends = dict.fromkeys(("progress_begin", "progress_end"), lambda *_: None)
    manager = SimpleNamespace(progress_update=lambda done: seen.append((now[0], done)), **ends)
    with scope.progress(SimpleNamespace(window_manager=manager), 1000) as step:
        for done in range(1000):
            step(done)
            now[0] += 0.003
    assert seen[0] == (100.0, 0)
    assert len(seen) > 20
    assert min(later[0] - earlier[0] for earlier, later in pairwise(seen)) >= 0.1 - 1e-9
    assert operation.STEP >= 0.1, "work in steps lets Blender draw between two of them"
