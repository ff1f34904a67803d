"""The interface around the operators: registration, reasons for grey buttons, lists, marks, texts, the report."""

import json
import re
from types import SimpleNamespace

import addon_utils
import bpy
import numpy as np
import pytest

import addon.ui
from addon.blender import compat
from addon.core import names
from addon.core.errors import ReadError
from addon.core.report import Report, say
from addon.formats.xray import omf
from addon.games.xray.motions import timing
from addon.ui import badges, listed_actions
from addon.ui.installed_games import ChangesPreferences
from addon.ui.layouts import name_filter
from addon.ui.operation import STATUS_LENGTH, Operation, Outcome, status_line, wrapped_lines
from addon.ui.xray import motion_choices
from addon.ui.xray.motion_choices import MotionChooser
from addon.ui.xray.motion_operators import MOTIONS
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions
from tests.blender.test_ui import game_folder, last_report, load, refusal, turn_a_key

OPERATORS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Operator)]


@pytest.fixture
def game(tmp_path, samples):
    return game_folder(tmp_path, samples)


def known_types() -> set[str]:
    """What of ours Blender has: classes, and properties on its own types."""
    result = {name for name in dir(bpy.types) if "motionbridge" in name.lower() or "xray" in name.lower()}
    for kind in ("Action", "Object", "Bone", "Material", "WindowManager", "Scene"):
        properties = getattr(bpy.types, kind).bl_rna.properties.keys()
        result |= {f"{kind}.{name}" for name in properties if name.startswith("motionbridge")}
    return result


def test_what_is_registered_is_taken_away_again():
    there = known_types()
    menus = len(bpy.types.TOPBAR_MT_file_import.draw._draw_funcs)
    assert len(there) > 30
    addon_utils.disable("bl_ext.dev.motionbridge", default_set=True)
    try:
        assert known_types() == set()
        assert len(bpy.types.TOPBAR_MT_file_import.draw._draw_funcs) == menus - 1
    finally:
        addon_utils.enable("bl_ext.dev.motionbridge", default_set=True)
    assert known_types() == there


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.bl_idname)
def test_operators_are_named_and_described(kind):
    group, name = kind.bl_idname.split(".")
    rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
    assert rna.description
    assert rna.name
    changes = {"UNDO", "INTERNAL"} if group in {"motionbridge", "import_scene"} else {"PRESET"}
    assert changes & kind.bl_options
    if group in {"import_scene", "export_scene"}:
        assert "PRESET" in kind.bl_options


@pytest.mark.parametrize(
    "kind",
    # They only ask for files, or change no scene.
    [kind for kind in OPERATORS if not issubclass(kind, MotionChooser | ChangesPreferences)],
    ids=lambda kind: kind.bl_idname,
)
def test_in_an_empty_scene_every_operator_refuses_with_a_reason(kind):
    group, name = kind.bl_idname.split(".")
    operator = getattr(getattr(bpy.ops, group), name)
    bpy.context.window_manager.motionbridge_report = ""
    message = refusal(operator)
    if group == "import_scene":
        assert "no file is chosen" in message or "no folder is chosen" in message
    elif kind.bl_idname == "motionbridge.new_hud_scene":  # an empty scene is where it starts
        assert "neither a section nor a weapon is chosen" in message
    elif kind.bl_idname == "motionbridge.from_game":  # so is one of these
        assert "no game is known" in message
    else:
        assert "poll() " in message
        assert "context is incorrect" not in message, "the reason is missing"


def test_no_pop_up_has_a_button_that_would_close_it():
    """A path's button opens a file browser: it closes the pop-up it is in, and in a file browser Blender refuses it."""
    known = {"filepath", "directory"}  # what a file browser sets itself
    for kind in OPERATORS:
        group, name = kind.bl_idname.split(".")
        for prop in getattr(getattr(bpy.ops, group), name).get_rna_type().properties:
            assert prop.identifier in known or prop.subtype not in {"FILE_PATH", "DIR_PATH"}, (kind.bl_idname, prop)


def test_drops_and_collections_know_the_operators():
    for suffix in ("ogf", "omf", "anm"):
        handler = getattr(bpy.types, f"IO_FH_motionbridge_xray_{suffix}")
        assert handler.bl_file_extensions == f".{suffix}"
        for name in (handler.bl_import_operator, handler.bl_export_operator):
            group, operator = name.split(".")
            properties = getattr(getattr(bpy.ops, group), operator).get_rna_type().properties
            assert "filepath" in properties
            assert ("collection" if group == "export_scene" else "files") in properties


FILTERS = [
    ("", False, ["walk_0", "Walk_1", "run(2)"]),
    ("WALK", False, ["walk_0", "Walk_1"]),
    ("w*_0", False, ["walk_0"]),
    ("_?", False, ["walk_0", "Walk_1"]),
    ("(", False, ["run(2)"]),
    ("^walk_[0-9]$", True, ["walk_0", "Walk_1"]),
    ("0|2", True, ["walk_0", "run(2)"]),
    ("(2", True, ["run(2)"]),
]


@pytest.mark.parametrize(("pattern", "regular", "expected"), FILTERS)
def test_names_are_filtered(pattern, regular, expected):
    fits = name_filter(pattern, regular)
    assert [name for name in ("walk_0", "Walk_1", "run(2)") if fits(name)] == expected


def listed_rows(filepath, **filters) -> dict[str, bool]:
    """What the buttons of the list do, on the properties of an operator that is not called."""
    properties = bpy.context.window_manager.operator_properties_last("import_scene.xray_omf")
    properties.listed.clear()
    for name in ("walk_0", "walk_1", "run"):
        row = properties.listed.add()
        row.name, row.file, row.ticked = name, filepath, True
    properties.name_filter, properties.regular = filters.get("name_filter", ""), filters.get("regular", False)
    properties.tick = filters["tick"]
    return {row.name: row.ticked for row in properties.listed}


def test_all_none_and_invert_act_on_what_the_filter_shows():
    assert listed_rows("a", tick="NONE") == {"walk_0": False, "walk_1": False, "run": False}
    assert listed_rows("a", tick="NONE", name_filter="walk") == {"walk_0": False, "walk_1": False, "run": True}
    ticked = listed_rows("a", tick="INVERT", name_filter="k_1$", regular=True)
    assert ticked == {"walk_0": True, "walk_1": False, "run": True}


def test_only_ticked_motions_are_imported(game):
    load(game, motions="")
    path = str(game / "humanoid.omf")
    listed = [{"name": name, "file": path, "frames": 1, "ticked": name != "idle"} for name in ("walk", "idle", "nod")]
    bpy.ops.import_scene.xray_omf(filepath=path, listed=listed)
    assert sorted(action.name for action in bpy.data.actions) == ["nod", "walk"]


def test_ticked_motions_that_the_filter_hides_are_not_imported(game):
    load(game, motions="")
    path = str(game / "humanoid.omf")
    listed = [{"name": name, "file": path, "frames": 1, "ticked": name != "idle"} for name in ("walk", "idle", "nod")]
    with pytest.raises(RuntimeError, match="no motion is chosen"):
        bpy.ops.import_scene.xray_omf(filepath=path, listed=listed, name_filter="idle")
    bpy.ops.import_scene.xray_omf(filepath=path, listed=listed, name_filter="W")
    assert [action.name for action in bpy.data.actions] == ["walk"]


def test_the_list_of_motions_has_the_order_of_the_file(game):
    rig = load(game)
    bpy.data.actions.new("another")
    drawn = type("Drawn", (), {"listing": MOTIONS, "bitflag_filter_item": 1 << 30})()
    flags, order = MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")
    actual = [listed_actions.action_at(MOTIONS, rig, index).name for index, flag in enumerate(flags) if flag]
    assert actual == ["walk", "idle", "wave", "jump", "nod"]
    assert order == []
    bpy.context.window_manager.motionbridge_search.pattern = "a*"
    flags, _ = MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")
    assert sum(map(bool, flags)) == 2
    assert rig.motionbridge_playing == bpy.data.actions.find("walk")


def test_a_motion_and_its_action_have_one_name(game):
    load(game)
    action = bpy.data.actions["walk"]
    motion = action.motionbridge_motion
    for name, wanted in (("walk.001", "walk"), ("walk.1234", "walk"), ("stroll", "stroll"), ("walk_fast", "walk_fast")):
        action.name = name
        assert motion.motion_name == wanted
    motion.motion_name = "run"
    assert (action.name, motion.motion_name) == ("run", "run")
    motion.motion_name = "idle"  # the name of another
    assert (action.name, motion.motion_name) == ("idle.001", "idle")
    long = "й" * 200
    motion.motion_name = long
    assert (motion.motion_name, action.name) == (long, names.shortened(long, compat.DATA_NAME_LIMIT))
    action.name = names.shortened(long)  # as an older Blender stores it
    assert motion.motion_name == long


def test_the_badge_follows_an_edit(game):
    load(game)
    action = bpy.data.actions["walk"]
    badges.compare(bpy.context)
    assert action.motionbridge_motion.status == "UNTOUCHED"
    turn_a_key(action)
    badges.compare(bpy.context)
    assert action.motionbridge_motion.status == "EDITED"


def test_marks_are_added_changed_and_removed(game):
    load(game, motions="")
    bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf"), motions="nod")
    action = bpy.data.actions["nod"]
    motion = action.motionbridge_motion
    assert "no such mark" in refusal(bpy.ops.motionbridge.marks_add_interval)
    bpy.ops.motionbridge.marks_add(name="Left")
    bpy.ops.motionbridge.marks_add(name="Left")
    assert [mark.name for mark in motion.marks] == ["Left", "Left.001"]
    bpy.ops.motionbridge.marks_rename(name="Right")
    bpy.context.scene.frame_set(3)
    bpy.ops.motionbridge.marks_add_interval()
    bpy.ops.motionbridge.marks_add_interval(start=0.01, end=0.123)
    (first, second) = motion.marks[1].intervals
    assert (round(first.start, 4), round(first.end, 4)) == (0.1, 0.1333)
    assert (np.float32(second.start), np.float32(second.end)) == (np.float32(0.01), np.float32(0.123))
    actual = {marker.name: marker.frame for marker in action.pose_markers}
    assert actual == {"Right 1.0 start": 3, "Right 1.0 end": 4, "Right 1.1 start": 0, "Right 1.1 end": 4}
    assert "cannot end before" in refusal(bpy.ops.motionbridge.marks_add_interval, start=0.2, end=0.1)
    bpy.ops.motionbridge.marks_remove_interval(interval=0)
    assert len(motion.marks[1].intervals) == 1
    bpy.ops.motionbridge.marks_remove()
    assert [mark.name for mark in motion.marks] == ["Left"]
    assert len(action.pose_markers) == 0


def test_a_marker_that_was_moved_moves_its_time_and_no_other(game):
    load(game)
    action = bpy.data.actions["walk"]
    motion = action.motionbridge_motion
    before = [(interval.start, interval.end) for mark in motion.marks for interval in mark.intervals]
    marker = action.pose_markers[0]
    assert marker.name.endswith("start")
    marker.frame += 2
    bpy.ops.motionbridge.marks_from_markers()
    after = [(interval.start, interval.end) for mark in motion.marks for interval in mark.intervals]
    assert after[1:] == before[1:]
    assert after[0][1] == before[0][1]
    assert after[0][0] == pytest.approx((marker_frame(action) - timing.first_frame(action)) / 30)
    assert len(action.pose_markers) == 2 * len(after)


def marker_frame(action) -> int:
    return min(marker.frame for marker in action.pose_markers if marker.name == action.pose_markers[0].name)


def test_partitions_are_shown_as_bone_collections(game):
    rig = load(game)
    assert bpy.ops.motionbridge.show_partitions() == {"FINISHED"}
    assert bpy.ops.motionbridge.show_partitions() == {"FINISHED"}
    file = rig.motionbridge_motion_files[0]
    for partition in file.partitions:
        actual = {bone.name for bone in rig.data.collections_all[partition.name].bones}
        assert actual == {bone.name for bone in partition.bones}


def test_bones_move_between_partitions_and_nothing_else_changes(game, tmp_path):
    rig = load(game)
    file = rig.motionbridge_motion_files[0]
    file.partitions.add().name = "mine"
    file.active_partition = len(file.partitions) - 1
    assert "poll() Select bones in Pose Mode" in refusal(bpy.ops.motionbridge.move_to_partition)
    before = omf.read((game / "humanoid.omf").read_bytes(), "", Report()).motion_set.parameters.partitions
    chosen = before[0].bones[1]
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    select_bone(rig, chosen.name.decode())
    assert bpy.ops.motionbridge.move_to_partition() == {"FINISHED"}
    assert "they are in it" in refusal(bpy.ops.motionbridge.move_to_partition)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "new.omf"))
    after = omf.read((tmp_path / "new.omf").read_bytes(), "", Report())
    parts = after.motion_set.parameters.partitions
    assert [(bone.name, bone.track) for bone in parts[-1].bones] == [(chosen.name, chosen.track)]
    assert [bone.name for bone in parts[0].bones] == [bone.name for bone in before[0].bones if bone != chosen]
    old = omf.read((game / "humanoid.omf").read_bytes(), "", Report())
    assert [motion.body for motion in after.motion_set.library.motions] == [
        motion.body for motion in old.motion_set.library.motions
    ]


def select_bone(rig, bone: str) -> None:
    """Selection lies on the pose bone from 5.0 on."""
    result = rig.pose.bones[bone]
    holder = result if hasattr(result, "select") else result.bone
    holder.select = True


def test_references_and_user_data_are_edited(game, tmp_path):
    rig = load(game, motions="")
    model = rig.motionbridge_model
    bpy.ops.motionbridge.add_reference()
    model.references[1].name = "samples\\more"
    bpy.ops.export_scene.xray_ogf(filepath=str(tmp_path / "new.ogf"))
    assert "motion references changed" in last_report()[0]
    bpy.ops.motionbridge.remove_reference()
    assert [reference.name for reference in model.references] == ["samples\\humanoid"]
    assert "Edit as Text" in refusal(bpy.ops.motionbridge.user_data_from_text)
    bpy.ops.motionbridge.user_data_to_text()
    assert bpy.ops.motionbridge.user_data_from_text() == {"CANCELLED"}
    bpy.data.texts[f"{rig.name} User Data"].write("[bloodmarks]\nsize = 1")
    bpy.ops.motionbridge.user_data_from_text()
    assert "size = 1" in model.user_data
    assert "\r\n" in model.user_data


def test_references_are_looked_up_once_and_again_when_asked(game):
    rig = load(game, motions="")
    assert motion_choices.paths_of(rig, "samples\\humanoid") == [str(game / "humanoid.omf")]
    (game / "humanoid.omf").unlink()
    assert len(motion_choices.paths_of(rig, "samples\\humanoid")) == 1
    motion_choices.forget()
    assert motion_choices.paths_of(rig, "samples\\humanoid") == []


def test_the_report_is_kept_as_a_text(game):
    (game / "cut.ogf").write_bytes((game / "humanoid.ogf").read_bytes()[:200])
    bpy.ops.import_scene.xray_ogf(directory=str(game), files=[{"name": "cut.ogf"}, {"name": "weapon.ogf"}])
    assert bpy.ops.motionbridge.report() == {"FINISHED"}
    assert bpy.data.texts["Motionbridge Report"].as_string().splitlines() == last_report()
    assert len(last_report()) > 1


def test_the_status_line_counts_warnings():
    report = Report()
    assert status_line("Done", report) == "Done"
    report.warn("odd", "here")
    assert status_line("Done", report) == "Done. odd (here)"
    report.warn("odd", "there")
    report.warn("strange")
    assert status_line("Done", report) == "Done. 2 warnings, see Motionbridge > Report"


def test_the_status_line_leaves_out_the_places_of_a_warning_first_and_cuts_no_parenthesis():
    report = Report()
    for number in range(5):
        report.warn(say("{:# texture is|# textures are} missing", 1), f"textures/ground/earth_{number}")
    assert status_line("Imported files: 4", report) == "Imported files: 4. 5 textures are missing"
    report.warn("odd")
    names = ", ".join(f"file_{number}" for number in range(20))
    line = status_line(f"Imported files: 20 ({names})", report)
    first = ", ".join(f"file_{number}" for number in range(6))
    assert line == f"Imported files: 20 ({first}, …). 2 warnings, see Motionbridge > Report"


@pytest.mark.parametrize("separator", [" ", ", ", "; ", ". "])
@pytest.mark.parametrize("around", ["{}", "Imported files: 3 ({})", "Imported files: 3 ({}); others: 4"])
@pytest.mark.parametrize("warnings", [0, 1, 3])
def test_a_status_text_fits_and_ends_at_a_whole_word(separator, around, warnings):
    report = Report()
    for number in range(warnings):
        report.warn(f"finding {number}")
    for count in range(1, 60):
        sentence = around.format(separator.join(f"name_{number}" for number in range(count)))
        line = status_line(sentence, report)
        assert len(line) <= STATUS_LENGTH
        assert set(re.findall("name_[0-9]+", line)) <= set(re.findall("name_[0-9]+", sentence))
        assert line.count("(") == line.count(")")


def test_what_the_status_line_has_no_room_for_is_in_the_report():
    counts = "Imported motions: 231"
    others = "; ".join(f"'walk_{number}' on armature 'stalker'" for number in range(9))
    short = status_line(f"{counts}; {others}", Report())
    assert short.startswith(f"{counts}; 'walk_0' on armature 'stalker'")
    assert short.endswith("'stalker'. See Motionbridge > Report")
    assert len(short) < 110
    report = Report()
    report.warn("a very long finding" * 6, "here")
    assert status_line(counts, report) == f"{counts}. 1 warning, see Motionbridge > Report"
    report.warn("another")
    assert status_line(f"{counts}, {'x' * 90}", report) == f"{counts}. 2 warnings, see Motionbridge > Report"
    assert status_line("x" * 200, Report()) == f"{'x' * 200}. See Motionbridge > Report"


def test_long_lines_are_broken_at_spaces():
    assert wrapped_lines("aaa bbb ccc", 7) == ["aaa bbb", "    ccc"]
    assert wrapped_lines("a" * 9 + " b", 7) == ["a" * 7, "    aa", "    b"]
    assert wrapped_lines("one\ntwo", 10) == ["one", "two"]


class Asked(Operation):
    """An operator without Blender around it."""

    def __init__(self, outcome):
        self.outcome, self.said = outcome, []

    def report(self, kinds, text):
        self.said.append((kinds, text))

    def run(self, context, report):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def test_a_refusal_is_cancelled_and_one_sentence():
    asked = Asked(ReadError("it is torn", file="a.omf", offset=3, remedy="Mend it"))
    assert asked.execute(bpy.context) == {"CANCELLED"}
    assert asked.said == [({"ERROR"}, "a.omf, offset 3: it is torn. Mend it.")]


def test_nothing_done_is_cancelled_and_no_error():
    asked = Asked(Outcome("Nothing to do", done=False))
    assert asked.execute(bpy.context) == {"CANCELLED"}
    assert asked.said == [({"INFO"}, "Nothing to do")]


def test_a_fault_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        Asked(ZeroDivisionError()).execute(bpy.context)


def test_several_files_count_what_went_well_and_report_only_that():
    report = Report()

    def work(path, result):
        result.warn("odd", path)
        if path == "bad":
            raise ReadError("torn", file=path)

    assert Asked(None).each_file(["good", "bad", "better"], work, report) == 2
    assert report.warnings == {"odd": ["good", "better"], "left out: bad: torn": [""]}
    with pytest.raises(ReadError):
        Asked(None).each_file(["bad", "bad"], work, Report())


def test_preferences_are_kept_under_the_extensions_own_name():
    from addon.ui.preferences import PACKAGE, preferences

    assert PACKAGE == "bl_ext.dev.motionbridge"
    assert preferences(bpy.context).backup is True


def test_the_command_is_there():
    from addon.ui import command

    assert len(command._handles) == 1
    assert json.dumps([command._execute(["info"])])


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.bl_idname)
def test_without_an_armature_no_reason_speaks_of_the_active_one(kind):
    group, name = kind.bl_idname.split(".")
    operator = getattr(getattr(bpy.ops, group), name)
    if operator.poll():
        pytest.skip("it works without an armature")
    assert "active armature" not in refusal(operator)


def test_panels_are_drawn_again_when_the_badge_is_known():
    """A timer sets it, after which Blender draws nothing by itself."""
    drawn = []

    def area(kind):
        kinds = ("WINDOW", "UI")
        regions = [
            SimpleNamespace(type=own_kind, tag_redraw=lambda entry=own_kind: drawn.append((kind, entry)))
            for own_kind in kinds
        ]
        return SimpleNamespace(type=kind, regions=regions)

    screen = SimpleNamespace(areas=[area("VIEW_3D"), area("OUTLINER"), area("DOPESHEET_EDITOR")])
    badges._redraw(SimpleNamespace(window_manager=SimpleNamespace(windows=[SimpleNamespace(screen=screen)])))
    assert drawn == [("VIEW_3D", "UI"), ("DOPESHEET_EDITOR", "UI")]
