"""First person: bones that change hands, the preview strip, the weapon of a character."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.games.xray.bones.properties import game_name
from addon.games.xray.hud import attachments, placing
from addon.games.xray.options import Game, HudSceneOptions
from addon.ui import command
from tests.blender.test_hud_scene import (
    build,
    bytes_of,
    changed_motions,
    gamedata,  # noqa: F401
    move,
    rows_of,
    sample_options,
    save_back,
)
from tests.blender.test_ui import refusal

MAGAZINE = "magazine"
FRAMES = (3, 8)


@pytest.fixture
def reload(gamedata):  # noqa: F811
    """A scene that plays the sample's reload."""
    result, _ = build(sample_options(gamedata))
    result.hands.motionbridge_hud.active_action = list(rows_of(result)).index("anm_reload")
    return result


def bone_of(rig, name):
    return next(bone.name for bone in rig.data.bones if game_name(bone) == name)


def free_bone(rig):
    """A bone of the item below its root."""
    return next(bone.name for bone in rig.data.bones if bone.parent is not None)


def world(rig, bone):
    bpy.context.view_layer.update()
    return np.array(rig.matrix_world @ rig.pose.bones[bone].matrix)


def relative(created, rig, bone, holder, frame):
    """The bone in the frame of the holder."""
    whole = int(np.floor(frame + 1e-4))
    bpy.context.scene.frame_set(whole, subframe=max(frame - whole, 0.0))
    return np.linalg.inv(world(created.hands, holder)) @ world(rig, bone)


@pytest.mark.parametrize(("hands_speed", "item_speed"), [(1.0, 1.0), (0.8, 1.2)])
@pytest.mark.parametrize("keeps", ["FIRST", "LAST"])
def test_a_bone_of_the_weapon_follows_the_hand_exactly_on_its_keys(reload, keeps, hands_speed, item_speed):
    created = reload
    row = rows_of(created)["anm_reload"]
    row.hands.motionbridge_motion.speed, row.item.motionbridge_motion.speed = hands_speed, item_speed
    created.hands.motionbridge_hud.active_action = created.hands.motionbridge_hud.active_action
    bone, holder = free_bone(created.item), bone_of(created.hands, "hand_l")
    times = np.arange(int(row.item.frame_end) + 1) * hands_speed / item_speed
    before = [relative(created, created.item, bone, holder, time) for time in times]
    bpy.context.view_layer.objects.active = created.item
    done = bpy.ops.motionbridge.hud_attach(bone=bone, holder=holder, first=FRAMES[0], last=FRAMES[1], keeps=keeps)
    assert done == {"FINISHED"}
    inside = [number for number, time in enumerate(times) if FRAMES[0] - 1e-4 <= time <= FRAMES[1] + 1e-4]
    assert len(inside) > 3
    wanted = before[inside[0 if keeps == "FIRST" else -1]]
    for number, time in enumerate(times):
        expected = wanted if number in inside else before[number]
        result = relative(created, created.item, bone, holder, time)
        np.testing.assert_allclose(result, expected, atol=2e-5, rtol=0, err_msg=f"{number}")
    assert np.abs(before[inside[0]] - before[inside[-1]]).max() > 1e-3


def test_the_bone_of_the_weapon_changes_hands(reload):
    created = reload
    gun, other = bone_of(created.hands, "hand_r"), bone_of(created.hands, "hand_l")
    wanted = relative(created, created.hands, gun, other, FRAMES[0])
    bpy.context.view_layer.objects.active = created.hands
    bpy.ops.motionbridge.hud_attach(bone=gun, holder=other, first=FRAMES[0], last=FRAMES[1])
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        np.testing.assert_allclose(relative(created, created.hands, gun, other, frame), wanted, atol=2e-5, rtol=0)


def test_only_the_motion_of_the_attached_bone_is_saved(reload, gamedata):  # noqa: F811
    created = reload
    before = bytes_of(gamedata)
    bpy.context.view_layer.objects.active = created.item
    bone, holder = free_bone(created.item), bone_of(created.hands, "hand_l")
    bpy.ops.motionbridge.hud_attach(bone=bone, holder=holder, first=FRAMES[0], last=FRAMES[1])
    assert save_back(created) == {"FINISHED"}
    after = bytes_of(gamedata)
    assert [name for name in after if after[name] != before[name]] == ["meshes/samples/weapon.omf"]
    assert changed_motions(before, after, "meshes/samples/weapon.omf") == [b"reload"]


def test_what_cannot_follow_is_refused(reload):
    created = reload
    bpy.context.view_layer.objects.active = created.item
    root = next(bone.name for bone in created.item.data.bones if bone.parent is None)
    free, left = free_bone(created.item), bone_of(created.hands, "hand_l")

    def message(**chosen):
        options = {"bone": free, "holder": left, "first": FRAMES[0], "last": FRAMES[1]} | chosen
        return refusal(bpy.ops.motionbridge.hud_attach, **options)

    assert "the game ignores the keys of the weapon's root bone" in message(bone=root)
    assert "has no bone 'nothing'" in message(bone="nothing")
    assert "has no bone 'nothing'" in message(holder="nothing")
    assert "no frames there" in message(first=1000, last=1001)
    created.item.pose.bones[free].rotation_mode = "XYZ"
    assert "is not Quaternion" in message()
    bpy.context.view_layer.objects.active = created.hands
    above = created.hands.data.bones[left].parent.name
    assert "moves with" in message(bone=above)
    assert attachments.Keeps.FIRST.value == "first"


# Gizmos and what is attached ------------------------------------------------------------------------------------------


def test_gizmos_are_of_the_part_that_is_active(reload):
    created = reload
    properties = created.hands.motionbridge_hud
    mesh = next(child for child in created.item.children if child.type == "MESH")
    assert placing.part_of(mesh).obj == placing.part_of(created.item).obj == created.item
    assert placing.part_of(created.hands).obj == created.hands
    assert placing.part_of(created.aim) is None
    assert placing.part_of(created.camera) is None
    assert placing.part_of(None) is None
    properties.stance = "AIM"
    assert placing.part_of(created.hands).obj == placing.part_of(created.aim).obj == created.aim
    bpy.context.view_layer.update()
    for entry in (created.hands, created.aim, created.item):
        np.testing.assert_array_equal(placing.handle_of(entry), created.item.matrix_world.translation)


@pytest.mark.parametrize("order", [placing.HANDS, placing.AIM])
def test_each_ring_turns_about_the_axis_of_its_angle(reload, order):
    obj = reload.item
    obj.rotation_mode = order
    obj.rotation_euler = (0.3, -0.7, 1.1)
    part = placing.Part(obj, order, "", ("",))
    for number, axis in enumerate(placing.rotation_axes(part)):
        before = obj.rotation_euler.to_matrix()
        turned = obj.rotation_euler.copy()
        turned[number] += 0.25
        expected = Matrix.Rotation(0.25, 3, axis) @ before
        np.testing.assert_allclose(turned.to_matrix(), expected, atol=1e-6, rtol=0)


def drawn(rig):
    """Number of vertices of all meshes of an armature as they are drawn."""
    graph = bpy.context.evaluated_depsgraph_get()
    meshes = [entry.evaluated_get(graph) for entry in rig.children_recursive if entry.type == "MESH"]
    return sum(len(mesh.data.vertices) for mesh in meshes)


def test_what_is_not_attached_is_hidden_and_nothing_else_changes(gamedata, monkeypatch):  # noqa: F811
    monkeypatch.setitem(attachments.BONES, "SCOPE", (MAGAZINE,))
    before = bytes_of(gamedata)
    created, _ = build(sample_options(gamedata))
    properties = created.hands.motionbridge_hud
    assert attachments.bones(created.hands) == {"SCOPE": [bone_of(created.item, MAGAZINE)]}
    assert properties.attached == {"GRENADE"}
    whole = sum(len(entry.data.vertices) for entry in created.item.children_recursive if entry.type == "MESH")
    weights = [
        [{part.group: part.weight for part in vertex.groups} for vertex in entry.data.vertices]
        for entry in created.item.children_recursive
        if entry.type == "MESH"
    ]
    group = created.item.children_recursive[0].vertex_groups[bone_of(created.item, MAGAZINE)].index
    below = sum(vertex.get(group, 0.0) > 0.5 for mesh in weights for vertex in mesh)
    assert 0 < below < whole
    assert drawn(created.item) == whole - below
    assert save_back(created) == {"CANCELLED"}
    model = next(entry for entry in before if entry.endswith("weapon.ogf"))
    bpy.context.view_layer.objects.active = created.item
    exported = gamedata.parent / "weapon.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(exported)) == {"FINISHED"}
    assert exported.read_bytes() == before[model]
    properties.attached = {"SCOPE"}
    assert drawn(created.item) == whole
    assert bytes_of(gamedata) == before


@pytest.mark.parametrize(("status", "actual"), [("0", False), ("1", True), ("2", False)])
def test_the_weapons_section_says_what_it_has(gamedata, status, actual):  # noqa: F811
    config = gamedata / "configs" / "w_sample.ltx"
    head = b"[wpn_sample]"
    assert head in config.read_bytes()
    text = config.read_bytes().replace(b"\r\nhud ", b"\r\nscope_status = %s\r\nhud " % status.encode(), 1)
    assert b"scope_status" in text
    config.write_bytes(text)
    for section in ("wpn_sample", "WPN_sample_hud"):
        created, _ = build(HudSceneOptions(section=section, folders=(gamedata,)))
        assert ("SCOPE" in created.hands.motionbridge_hud.attached) == actual


def test_one_line_is_copied_and_reported_in_full(reload):
    bpy.context.view_layer.objects.active = reload.hands
    kind = bpy.types.MOTIONBRIDGE_OT_hud_copy_values
    chosen = SimpleNamespace(key="hands_position_16x9")
    assert "hands_position_16x9 = 0.03,-0.15,0.05" in kind.description(bpy.context, chosen)
    assert kind.description(bpy.context, SimpleNamespace(key="")) == kind.__doc__
    assert bpy.ops.motionbridge.hud_copy_values(key="hands_position_16x9") == {"FINISHED"}
    assert "Copied 1 line" in bpy.context.window_manager.motionbridge_report


# Both hands -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def detector(gamedata):  # noqa: F811
    """The sample's game with a second item, for the left hand."""
    config = gamedata / "configs" / "w_sample.ltx"
    lines = (
        "[dev_sample]",
        "hud = dev_sample_hud",
        "[dev_sample_hud]:wpn_sample_hud",
        "attach_place_idx = 1",
        "hands_position_16x9 = 0.1, -0.2, 0.3",
        "anm_idle = wave, idle",
        "",
    )
    config.write_bytes(config.read_bytes() + "\r\n".join(lines).encode())
    return gamedata


def weighted(rig, side):
    """Vertices of a model's meshes that follow an arm of one side alone."""
    arms = {f"{name}_{side}" for name in ("clavicle", "upperarm", "forearm", "hand")}
    result = 0
    for child in (own_child for own_child in rig.children if own_child.type == "MESH"):
        bones = [rig.data.bones.get(group.name) for group in child.vertex_groups]
        names = [game_name(bone) if bone is not None else "" for bone in bones]
        for vertex in child.data.vertices:
            result += any(part.weight > 0.5 and names[part.group] in arms for part in vertex.groups)
    return result


@pytest.mark.parametrize("game", [Game.ANOMALY, Game.OPENXRAY])
def test_two_items_have_hands_of_their_own_with_one_arm_each(detector, game):
    before = bytes_of(detector)
    created, report = build(sample_options(detector, beside="dev_sample", game=game))
    first, second = created, created.beside
    assert not any("both are shown" in finding for finding in report.warnings)
    assert (first.item.parent_bone, second.item.parent_bone) == (
        bone_of(first.hands, "hand_r"),
        bone_of(second.hands, "hand_l"),
    )
    assert first.camera == second.camera
    meshes = [child for child in first.hands.children if child.type == "MESH"]
    whole = sum(len(mesh.data.vertices) for mesh in meshes)
    graph = bpy.context.evaluated_depsgraph_get()
    for entry, hidden in ((first, "l"), (second, "r")):
        drawn_now = sum(
            len(mesh.evaluated_get(graph).data.vertices) for mesh in entry.hands.children if mesh.type == "MESH"
        )
        assert weighted(entry.hands, hidden) > 0
        assert drawn_now == whole - weighted(entry.hands, hidden)
        bpy.context.view_layer.objects.active = entry.hands
        exported = detector.parent / "hands.ogf"
        assert bpy.ops.export_scene.xray_ogf(filepath=str(exported)) == {"FINISHED"}
        assert exported.read_bytes() == before["meshes/samples/humanoid.ogf"]
    bpy.context.view_layer.update()
    own = game is Game.ANOMALY
    wanted = (0.1, 0.3, -0.2) if own else tuple(first.hands.matrix_world.translation)
    np.testing.assert_allclose(second.hands.matrix_world.translation, wanted, atol=1e-6)
    assert (first.hands.animation_data.action, second.hands.animation_data.action) == (
        first.hands_actions["walk"],
        second.hands_actions["wave"],
    )
    for entry in (first, second):
        assert placing.changed(entry.hands) == {}
        assert save_back(entry) == {"CANCELLED"}
    assert bytes_of(detector) == before
    assert ("hands_position_16x9" in placing.texts(second.hands)) == own
    first.hands.motionbridge_hud.stance = "AIM"
    bpy.context.view_layer.update()
    follows = np.allclose(second.hands.matrix_world, first.hands.matrix_world, atol=1e-6)
    assert follows != own


def test_hands_that_share_a_file_keep_what_each_edited(detector):
    created, _ = build(sample_options(detector, beside="dev_sample"))
    before = bytes_of(detector)
    for entry, name in ((created, "hand_r"), (created.beside, "hand_l")):
        move(entry.hands.pose.bones[bone_of(entry.hands, name)])
    assert save_back(created) == {"FINISHED"}
    assert changed_motions(before, bytes_of(detector)) == [b"walk"]
    assert save_back(created.beside, if_changed="DISK") == {"FINISHED"}
    assert "1 motion, 1 track changed" in bpy.context.window_manager.motionbridge_report
    assert "were changed on disk and not in Blender" in bpy.context.window_manager.motionbridge_report
    assert changed_motions(before, bytes_of(detector)) == [b"walk", b"wave"]
    assert save_back(created.beside) == {"CANCELLED"}


def test_what_cannot_be_held_beside_is_refused(detector):
    for chosen, sentence in (
        ({"beside": "wpn_sample"}, "are held in the same hand"),
        ({"beside": "nothing"}, "there is no section"),
        ({"beside": "dev_sample", "section": ""}, "no section is chosen"),
    ):
        path = {"folders": str(detector), "section": "wpn_sample", "item": str(detector / "meshes/samples/weapon.ogf")}
        assert sentence in refusal(bpy.ops.motionbridge.new_hud_scene, **(path | chosen))
        assert not bpy.data.objects


# Preview strip --------------------------------------------------------------------------------------------------------


def test_a_strip_has_a_row_for_each_action_and_leaves_the_scene_as_it_was(reload, tmp_path):
    created, scene = reload, bpy.context.scene
    file = tmp_path / "strip.png"
    scene.frame_set(2)
    names = ("engine", "filepath", "resolution_x", "resolution_y", "use_stamp", "stamp_note_text")
    before = [getattr(scene.render, name) for name in names]
    played = created.hands.animation_data.action
    before_it = list(bpy.data.lights), list(bpy.data.objects)
    bpy.context.view_layer.objects.active = created.hands
    options = {"actions": "anm_re*, anm_idle", "columns": 3, "height": 36, "renderer": "CYCLES"}
    assert bpy.ops.motionbridge.hud_preview(filepath=str(file), **options) == {"FINISHED"}
    assert "images of each action: 3, actions: 2" in bpy.context.window_manager.motionbridge_report
    image = bpy.data.images.load(str(file))
    assert tuple(image.size) == (3 * 64 + 2 * 4, 2 * 36 + 4)
    pixels = np.array(image.pixels[:]).reshape(76, 200, 4)
    cells = [pixels[y : y + 36, x : x + 64] for y in (0, 40) for x in (0, 68, 136)]
    assert all(np.ptp(cell[..., :3]) > 0.1 for cell in cells)
    # Opaque, on grey; what is drawn is light, not black as without lights.
    images = np.concatenate(cells, axis=1)
    np.testing.assert_array_equal(images[..., 3], 1.0)
    models = np.abs(images[8:, :, :3].mean(axis=-1) - 0.18) > 0.02
    assert models.sum() > 50
    assert np.median(images[8:, :, :3].mean(axis=-1)[models]) > 0.3
    assert not pixels[36:40].any(), "rows are apart"
    assert not pixels[:, 64:68].any(), "columns are apart"
    bpy.data.images.remove(image)
    assert [getattr(scene.render, name) for name in names] == before
    assert (scene.frame_current, created.hands.animation_data.action) == (2, played)
    assert (list(bpy.data.lights), list(bpy.data.objects)) == before_it
    assert all(image.type == "RENDER_RESULT" or image.source == "FILE" for image in bpy.data.images)


def test_what_cannot_be_rendered_is_refused(reload, tmp_path):
    bpy.context.view_layer.objects.active = reload.hands
    options = {"filepath": str(tmp_path / "strip.png"), "columns": 1, "height": 16, "renderer": "CYCLES"}
    assert "no action is named anm_none" in refusal(bpy.ops.motionbridge.hud_preview, actions="anm_none", **options)
    assert "no file is named" in refusal(bpy.ops.motionbridge.hud_preview)
    lost = options | {"filepath": str(tmp_path / "none" / "strip.png")}
    assert "none" in refusal(bpy.ops.motionbridge.hud_preview, **lost)
    assert not (tmp_path / "none").exists()
    bpy.context.scene.camera = None
    assert "has no camera" in refusal(bpy.ops.motionbridge.hud_preview, **options)


def test_the_command_renders_a_strip(gamedata, tmp_path, capfd):  # noqa: F811
    file = tmp_path / "strip.png"
    created = ["hud", "wpn_sample", "--folders", str(gamedata), "--preview", str(file), "--actions", "anm_reload"]
    small = ["--pictures", "2", "--height", "18", "--renderer", "cycles"]
    assert command._execute([*created, *small]) == 0
    assert "images of each action: 2, actions: 1" in capfd.readouterr().out
    assert file.read_bytes()[:4] == b"\x89PNG"


# Third person ---------------------------------------------------------------------------------------------------------


def test_a_weapon_is_attached_to_a_characters_bone_with_one_click(samples, tmp_path):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "weapon.ogf"))
    weapon = bpy.context.view_layer.objects.active
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    character = bpy.context.view_layer.objects.active
    weapon.location = (1, 2, 3)
    bpy.ops.object.select_all(action="DESELECT")
    weapon.children[0].select_set(True)
    character.select_set(True)
    bpy.context.view_layer.objects.active = character
    assert "has no bone 'bip01_r_hand'" in refusal(bpy.ops.motionbridge.attach_weapon)
    bone = bone_of(character, "hand_r")
    assert bpy.ops.motionbridge.attach_weapon(bone=bone) == {"FINISHED"}
    character.location.x, character.pose.bones[bone].rotation_quaternion = 0.5, (0.8, 0.6, 0, 0)
    mirror, exchanged = np.diag([1.0, 1.0, -1.0, 1.0]), np.eye(4)[[0, 2, 1, 3]]
    wanted = world(character, bone) @ mirror
    np.testing.assert_allclose(np.array(weapon.matrix_world) @ exchanged, wanted, atol=1e-5)
    exported = tmp_path / "humanoid.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(exported)) == {"FINISHED"}
    assert exported.read_bytes() == (samples / "humanoid.ogf").read_bytes()
    weapon.select_set(False)
    weapon.children[0].select_set(False)
    assert not bpy.ops.motionbridge.attach_weapon.poll()
