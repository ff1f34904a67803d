"""The list of an armature's Arma animations, the scene's range, and what helps where no skeleton was found."""

from types import SimpleNamespace

import bpy
import pytest

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.games.arma import animation_edit, animation_import
from addon.games.arma.animation_import import import_animation
from addon.games.arma.options import AnimationImportOptions
from addon.ui import badges, listed_actions
from addon.ui.arma.panels import ANIMATIONS, MOTIONBRIDGE_UL_arma_animations
from tests.blender.rtm_scene import curve_of, planned
from tests.blender.test_rtm import drawn_animation, moved, plain
from tests.blender.test_ui import refusal
from tests.work import lines_run

SHOWN = 1 << 30


@pytest.fixture
def folder(tmp_path):
    """Two animations of a man."""
    for name, frames in (("nod", 3), ("wave", 5)):
        rows = [(number / (frames - 1), [moved(), moved(z=0.1 * number)]) for number in range(frames)]
        (tmp_path / f"{name}.rtm").write_bytes(plain(["Pelvis", "head"], rows))
    return tmp_path


@pytest.fixture
def rig(folder):
    files = [{"name": "nod.rtm"}, {"name": "wave.rtm"}]
    assert bpy.ops.import_scene.arma_rtm(directory=str(folder), files=files) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def filtered(rig, pattern="", *, by_name=False):
    search = bpy.context.window_manager.motionbridge_search
    search.pattern, search.by_name = pattern, by_name
    drawn = SimpleNamespace(listing=ANIMATIONS, bitflag_filter_item=SHOWN)
    bpy.context.view_layer.objects.active = rig
    return MOTIONBRIDGE_UL_arma_animations.filter_items(drawn, bpy.context, bpy.data, "actions")


def shown(rig, pattern="", *, by_name=False) -> list[str]:
    """What the list shows, in its order."""
    flags, order = filtered(rig, pattern, by_name=by_name)
    indices = order or list(range(len(flags)))
    assert sorted(indices) == list(range(len(bpy.data.actions)))
    rows = sorted(range(len(flags)), key=lambda row: indices[row])
    return [listed_actions.action_at(ANIMATIONS, rig, row).name for row in rows if flags[row]]


def test_a_click_plays_an_animation_of_the_list(rig):
    assert shown(rig) == ["nod", "wave"]
    assert rig.motionbridge_playing_animation == 0
    rig.motionbridge_playing_animation = 1
    assert rig.animation_data.action.name == "wave"
    assert rig.motionbridge_playing_animation == 1
    bpy.context.scene.frame_set(4)
    assert abs(rig.pose.bones["head"].matrix.translation.y - rig.data.bones["head"].head_local.y - 0.4) < 1e-5
    rig.animation_data.action = bpy.data.actions["nod"]
    assert rig.motionbridge_playing_animation == 0
    rig.animation_data.action = None
    assert rig.motionbridge_playing_animation == -1


def test_a_click_right_after_a_bone_was_renamed_plays_the_keys_of_that_bone(rig):
    bpy.ops.motionbridge.add_control_rig()
    rig.data.bones["head"].name = "my head"
    rig.motionbridge_playing_animation = 1
    bpy.context.scene.frame_set(4)
    assert abs(rig.pose.bones["my head"].matrix.translation.y - rig.data.bones["my head"].head_local.y - 0.4) < 1e-5


def test_the_list_is_searched_and_sorted(rig):
    bpy.data.actions["nod"].name = "zzz_nod"
    assert shown(rig, "w*v") == ["wave"]
    assert shown(rig, "NOD") == ["zzz_nod"]
    assert shown(rig, by_name=True) == ["wave", "zzz_nod"]
    bpy.data.actions.remove(bpy.data.actions["wave"])
    assert shown(rig) == shown(rig, by_name=True) == ["zzz_nod"]


def test_an_action_made_in_blender_is_listed_and_is_no_original(rig, folder):
    before = (folder / "nod.rtm").read_bytes()
    copy = bpy.data.actions["nod"].copy()
    rig.animation_data.action = copy
    assert rig.motionbridge_playing_animation == -1
    rig.motionbridge_playing_animation = 1  # what stops playing stays within reach
    assert shown(rig) == ["nod", "wave", "nod.001"]
    rig.motionbridge_playing_animation = 2
    assert rig.animation_data.action == copy
    assert animation_edit.original_of(copy) == bpy.data.actions["nod"]
    assert "is a copy of 'nod'" in refusal(bpy.ops.motionbridge.arma_save_back, if_changed="IMPORTED")
    assert (folder / "nod.rtm").read_bytes() == before


def test_animations_that_no_armature_lists_are_listed_on_request(rig):
    other = drawn_animation(bones=("other",)).rig
    rig.motionbridge_animations.clear()
    bpy.context.view_layer.objects.active = rig
    assert shown(rig) == []
    assert bpy.ops.motionbridge.arma_list_animations() == {"FINISHED"}
    assert sorted(shown(rig)) == ["nod", "wave"]
    assert animation_import.adopt_all(other) == 1  # what it plays alone: the rest belongs to the first
    bpy.data.actions.remove(bpy.data.actions["wave"])
    bpy.ops.motionbridge.arma_list_animations()
    assert len(rig.motionbridge_animations) == 1


def test_the_scene_gets_the_range_of_the_animation_and_keeps_its_rate(rig):
    bpy.context.scene.render.fps = 17
    rig.motionbridge_playing_animation = 1
    assert bpy.ops.motionbridge.match_scene() == {"FINISHED"}
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (0, 4, 17)
    rig.pose.bones["head"].keyframe_insert("location", frame=9)
    bpy.ops.motionbridge.match_scene()
    assert scene.frame_end == 9


def test_a_redraw_goes_through_3000_animations_once(rig):
    def drawn(*_, **__):
        filtered(rig)
        for _ in range(34):  # as often as Blender asks
            assert listed_actions.row_drawn(ANIMATIONS, rig) == last

    def redraw():
        listed_actions.draw(SimpleNamespace(template_list=drawn), ANIMATIONS, rig)

    rig.animation_data.action, last = bpy.data.actions["wave"], 1
    few = lines_run(redraw)
    for number in range(3000):
        animation_import.add(rig, bpy.data.actions.new(f"more {number}"), 0)
    rig.motionbridge_animations.move(1, 3001)
    last = 3001
    redraw()  # reads the rows once
    assert len(filtered(rig)[0]) > 3000
    assert lines_run(redraw) <= few + 4 * 3000


def unknown_bones(folder):
    file = folder / "unknown.rtm"
    file.write_bytes(plain(["alpha", "beta"], [(0.0, [moved(), moved()]), (1.0, [moved(), moved(z=0.1)])]))
    return file


def test_where_no_skeleton_was_found_the_option_is_named(folder):
    report = Report()
    done = import_animation(
        bpy.context, None, str(unknown_bones(folder)), options=AnimationImportOptions(), report=report
    )
    (line,) = [line for line in report.warnings if "every bone is a root" in line]
    for words in ("Hierarchy", "model.cfg", "Arma Skeleton Files"):
        assert words in line
    again = Report()
    import_animation(bpy.context, done.rig, str(unknown_bones(folder)), options=AnimationImportOptions(), report=again)
    assert not any("root" in line for line in again.warnings), "the armature has the bones already"


def test_a_binarised_file_without_a_skeleton_names_the_option(rig, folder):
    """Whose hierarchy is asked for, but names the bones of nobody."""
    rig.motionbridge_playing_animation = 0
    file = folder / "binarised.rtm"
    assert bpy.ops.export_scene.arma_rtm(filepath=str(file), kind="BINARISED") == {"FINISHED"}
    data = file.read_bytes()
    assert data[:4] == b"BMTR"
    file.write_bytes(data.replace(b"pelvis", b"alphas").replace(b"head", b"beta"))
    with pytest.raises(ReadError, match=r"no skeleton with its bones.*Hierarchy.*model\.cfg"):
        import_animation(bpy.context, None, str(file), options=AnimationImportOptions(), report=Report())


def test_the_dialogs_suggest_the_skeleton_files_of_the_scene():
    from addon.ui.arma.files import IMPORT_SCENE_OT_arma_rtm, SkeletonFilesChoice

    class Dialog:
        config, pivots_model = "typed.cfg", "typed.p3d"

        def invoke(self, _context, _event):
            return self.config, self.pivots_model

    class Asked(SkeletonFilesChoice, Dialog):
        pass

    assert Asked().invoke(bpy.context, None) == ("typed.cfg", "typed.p3d")
    bpy.context.scene.motionbridge_skeleton_files.config = "/arma/model.cfg"
    assert Asked().invoke(bpy.context, None) == ("/arma/model.cfg", "typed.p3d")
    assert issubclass(IMPORT_SCENE_OT_arma_rtm, SkeletonFilesChoice)


def test_one_edited_frame_is_one_frame_whatever_depends_on_the_bone(rig):
    rig.motionbridge_playing_animation = 1
    action = rig.animation_data.action
    curve = curve_of(action, "Pelvis", "location", 0)
    curve.keyframe_points[2].co[1] += 0.25
    curve.update()
    sentence = planned(SimpleNamespace(rig=rig, action=action)).changes.sentence()
    assert sentence == "2 bones, 1 frame changed, 0 unchanged"


def test_a_copy_that_plays_joins_the_list_by_itself_and_stays_when_another_plays(rig):
    copy = bpy.data.actions["nod"].copy()
    rig.animation_data.action = copy
    assert animation_import.animations_of(rig)[-1] == copy
    badges._hold_later()  # what a window calls after another action was assigned
    assert shown(rig) == ["nod", "wave", "nod.001"]
    assert rig.motionbridge_playing_animation == 2
    rig.animation_data.action = bpy.data.actions["wave"]
    badges._hold_later()
    assert shown(rig) == ["nod", "wave", "nod.001"]


def test_a_layer_and_what_another_armature_lists_join_no_list(rig):
    other = drawn_animation(bones=("Pelvis", "head"))
    bpy.context.view_layer.objects.active = rig
    animation_import.add(other.rig, other.rig.animation_data.action, animation_import.ADDED_LATER)
    rig.animation_data.action = other.rig.animation_data.action
    assert animation_import.unlisted(rig) == []
    strip = rig.animation_data.nla_tracks.new().strips.new("nod", 0, bpy.data.actions["nod"])
    assert strip.action == bpy.data.actions["nod"]
    layer = bpy.data.actions.new("layer")
    rig.animation_data.action = layer
    rig.animation_data.action_blend_type = "ADD"
    rig.pose.bones["head"].keyframe_insert("location", frame=1)
    assert rig.animation_data.action == layer
    assert animation_import.unlisted(rig) == []
