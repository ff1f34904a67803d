"""First-person scenes after what people do: reload the .blend, append, duplicate, rename, undo, lose a config."""

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.blender.bone_curves import bone_within
from addon.core.report import Report
from addon.formats.xray import hud, omf
from addon.formats.xray.omf import mapping
from addon.games.xray.bones.properties import game_name
from addon.games.xray.hud import attachments, placing
from addon.games.xray.hud.state import holder_of, item_of
from addon.games.xray.motions import library
from addon.ui.xray import hud_tools
from tests.blender.test_hud_scene import (
    CONFIG,
    build,
    bytes_of,
    changed_motions,
    gamedata,  # noqa: F401
    move,
    sample_options,
)
from tests.blender.test_hud_tools import FRAMES, bone_of, detector, free_bone  # noqa: F401
from tests.blender.test_ui import refusal
from tests.formats.xray import hud_engine as engine


def all_hands():
    return [obj for obj in bpy.data.objects if obj.motionbridge_hud.is_hud]


def hands_of(section):
    return next(hand for hand in all_hands() if hand.motionbridge_hud.section == section)


def save_back(hands, **options):
    bpy.context.view_layer.objects.active = hands
    return bpy.ops.motionbridge.hud_save_back(**options)


def play(hands, alias):
    properties = hands.motionbridge_hud
    properties.active_action = properties.actions.find(alias)


def edit(hands, label):
    """Ten frames of the motion that plays."""
    move(hands.pose.bones[bone_of(hands, label)])


def test_a_reloaded_scene_works_as_before(detector, tmp_path):  # noqa: F811
    build(sample_options(detector, beside="dev_sample"))
    before = bytes_of(detector)
    file = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    first, second = hands_of("wpn_sample_hud"), hands_of("dev_sample_hud")
    assert holder_of(first.parent) == first
    assert placing.part_of(item_of(second)).obj == item_of(second)
    for hands in (first, second):
        assert save_back(hands) == {"CANCELLED"}
    assert bytes_of(detector) == before
    play(first, "anm_reload")
    edit(first, "hand_r")
    item_of(first).location.x += 0.01
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    first = hands_of("wpn_sample_hud")
    assert list(placing.changed(first)) == ["item_position"]
    assert save_back(first) == {"FINISHED"}
    after = bytes_of(detector)
    assert {name for name in after if after[name] != before[name]} == {CONFIG, "meshes/samples/humanoid.omf"}
    assert changed_motions(before, after) == [b"wave"]


def test_an_appended_scene_plays_and_saves(gamedata, tmp_path):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    collection, before = created.collection.name, bytes_of(gamedata)
    file = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(file) as (_, wanted):
        wanted.collections = [collection]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    (hands,) = all_hands()
    assert save_back(hands) == {"CANCELLED"}
    play(hands, "anm_reload")
    assert hands.animation_data.action.name == "wave"
    edit(hands, "hand_l")
    assert save_back(hands) == {"FINISHED"}
    assert changed_motions(before, bytes_of(gamedata)) == [b"wave"]


def test_a_copy_of_the_whole_scene_is_a_scene_of_its_own(gamedata):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    before = bytes_of(gamedata)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    copy = next(hand for hand in all_hands() if hand != created.hands)
    assert holder_of(copy.parent) == copy
    item = item_of(copy)
    assert item not in {created.item, None}
    item.location.x += 0.02
    assert placing.changed(created.hands) == {}
    assert list(placing.changed(copy)) == ["item_position"]
    play(copy, "anm_reload")
    assert created.hands.animation_data.action == created.hands_actions["walk"]
    assert save_back(created.hands) == {"CANCELLED"}
    assert bytes_of(gamedata) == before
    copy.motionbridge_hud.attached = set()
    assert attachments.bones(copy) == attachments.bones(created.hands)


def test_bones_renamed_in_a_copy_of_the_scene_leave_the_original_alone(gamedata):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    before = bytes_of(gamedata)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    copy = next(hand for hand in all_hands() if hand != created.hands)
    for rig in (copy, item_of(copy)):
        bone = next(bone for bone in rig.data.bones if bone.parent is not None)
        bone.name = "fresh"
    play(copy, "anm_reload")
    play(created.hands, "anm_reload")
    for hands in (copy, created.hands):
        rows = hands.motionbridge_hud.actions
        own = [library.motions_of(rig.motionbridge_motion_files[0]) for rig in (hands, item_of(hands))]
        assert {row.hands for row in rows} == set(own[0])
        assert {row.item for row in rows if row.item is not None} <= set(own[1])
        for rig, actions in zip((hands, item_of(hands)), own, strict=True):
            named = {bone_within(curve.data_path) for action in actions for curve in compat.curve_bag(action).fcurves}
            assert named <= set(rig.data.bones.keys())
        assert save_back(hands) == {"CANCELLED"}
    assert bytes_of(gamedata) == before


def test_a_renamed_motion_is_renamed_in_its_file_and_in_new_lines(gamedata):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    play(created.hands, "anm_reload")
    bpy.context.view_layer.objects.active = created.hands
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    row = created.hands.motionbridge_hud.actions[created.hands.motionbridge_hud.active_action]
    row.hands.motionbridge_motion.motion_name = "boot"
    assert save_back(created.hands) == {"FINISHED"}
    lines = [line for line in bytes_of(gamedata)[CONFIG].splitlines() if line.startswith(b"anm_kick")]
    assert [line.partition(b"=")[2].strip() for line in lines] == [b"boot, kick, 1.5"]
    fresh, _ = build(sample_options(gamedata))
    assert fresh.hands.motionbridge_hud.actions["anm_kick"].hands is not None


def test_a_config_that_is_gone_stops_the_save_before_anything_is_written(gamedata):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    play(created.hands, "anm_reload")
    edit(created.hands, "hand_l")
    created.item.location.x += 0.01
    (gamedata / CONFIG).unlink()
    before = bytes_of(gamedata)
    bpy.context.view_layer.objects.active = created.hands
    assert "wpn_sample_hud" in refusal(bpy.ops.motionbridge.hud_save_back)
    assert bytes_of(gamedata) == before


def test_gizmos_pass_over_a_point_that_was_deleted(gamedata):  # noqa: F811
    (gamedata / "configs" / "mod_system_sample.ltx").unlink()  # it takes the muzzle away
    created, _ = build(sample_options(gamedata))
    bpy.context.view_layer.objects.active = created.item
    (point,) = hud_tools._points()
    assert point.obj == created.points["fire_point"]
    bpy.data.objects.remove(created.points["fire_point"])
    assert hud_tools._points() == []
    assert placing.texts(created.hands)


def test_a_deleted_weapon_leaves_hands_that_can_be_saved(gamedata):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    for obj in [created.item, *created.item.children_recursive]:
        bpy.data.objects.remove(obj)
    play(created.hands, "anm_reload")
    assert placing.texts(created.hands)
    created.hands.motionbridge_hud.attached = set()
    edit(created.hands, "hand_l")
    before = bytes_of(gamedata)
    assert save_back(created.hands) == {"FINISHED"}
    assert changed_motions(before, bytes_of(gamedata)) == [b"wave"]


@pytest.mark.parametrize(("hands_speed", "item_speed"), [(1.0, 1.0), (0.8, 1.2)])
def test_an_attached_bone_is_exact_in_the_files_as_the_game_composes_them(gamedata, hands_speed, item_speed):  # noqa: F811
    created, _ = build(sample_options(gamedata))
    play(created.hands, "anm_reload")
    row = created.hands.motionbridge_hud.actions["anm_reload"]
    row.hands.motionbridge_motion.speed, row.item.motionbridge_motion.speed = hands_speed, item_speed
    play(created.hands, "anm_reload")
    bone, holder = free_bone(created.item), bone_of(created.hands, "hand_l")
    bpy.context.view_layer.objects.active = created.item
    assert bpy.ops.motionbridge.hud_attach(bone=bone, holder=holder, first=FRAMES[0], last=FRAMES[1]) == {"FINISHED"}
    assert save_back(created.hands, width="WIDE") == {"FINISHED"}
    positions = hud.placing(
        {key: placing.texts(created.hands).get(key, "") for key in ("item_position", "item_orientation")}
        | {"item_visual": "x"},
        Report(),
        wide=False,
    )
    result = []
    for rig, name, motion in ((created.hands, "humanoid.omf", "wave"), (created.item, "weapon.omf", "reload")):
        document = omf.read((gamedata / "meshes/samples" / name).read_bytes(), name, Report())
        clip = next(entry for entry in mapping.decode(document.motion_set, Report()) if entry.name == motion)
        result.append((rig, clip))
    anchor = bone_of(created.hands, "hand_r")
    relative = []
    (_, hands_clip), (_, item_clip) = result
    for frame in range(len(item_clip.rotations[0])):
        time = frame * hands_speed / item_speed
        if FRAMES[0] - 1e-4 <= time <= FRAMES[1] + 1e-4 and abs(time - round(time)) < 1e-4:
            hand = posed(created.hands, hands_clip, round(time))
            item = hand[game_name(created.hands.data.bones[anchor])] @ positions.item
            item = item @ posed(created.item, item_clip, frame, pinned=True)[game_name(created.item.data.bones[bone])]
            relative.append(np.linalg.inv(hand[game_name(created.hands.data.bones[holder])]) @ item)
    assert len(relative) > 1
    np.testing.assert_allclose(relative, np.broadcast_to(relative[0], np.shape(relative)), atol=1e-4, rtol=0)


def posed(rig, clip, frame, *, pinned=False):
    """Bone of the game -> its matrix (4, 4) in the model."""
    bones = list(rig.data.bones)
    labels = [game_name(bone).lower() for bone in bones]
    parents = [labels.index(game_name(bone.parent).lower()) if bone.parent is not None else -1 for bone in bones]
    order = [[bone.lower() for bone in clip.bones].index(label) for label in labels]
    matrices = engine.bone_matrices(
        parents, clip.rotations[order, frame], clip.translations[order, frame], pinned=pinned
    )
    return {game_name(bone): matrix for bone, matrix in zip(bones, matrices, strict=True)}
