"""First person in a window: a section, its panel, another stance, and one save of motions and configs."""

import math
from pathlib import Path
from typing import Any

import bpy
from bpy_extras import view3d_utils
from mathutils import Quaternion, Vector

from tests.window import stage
from tests.window.stage import Steps


def game() -> Path:
    """The samples as a game has them, in the scene's folder."""
    folder = stage.folder() / "gamedata"
    for name in ("configs", "meshes/samples"):
        (folder / name).mkdir(parents=True)
    for file in (stage.SAMPLES / "configs").iterdir():
        (folder / "configs" / file.name).write_bytes(file.read_bytes())
    for name in ("humanoid.ogf", "humanoid.omf", "weapon.ogf", "weapon.omf"):
        (folder / "meshes/samples" / name).write_bytes((stage.SAMPLES / name).read_bytes())
    return folder


def hands() -> Any:
    """Looked up each time, for undo replaces them."""
    return next(obj for obj in bpy.data.objects if obj.motionbridge_hud.is_hud)


def hud_made_changed_and_saved() -> Steps:
    """The dialog's button, a moved hand, a new action: one Return in the dialog writes all three files."""
    folder = game()
    stage.invoke("motionbridge.new_hud_scene", folders=str(folder), section="wpn_sample")
    yield
    yield from stage.confirm()
    yield from stage.reported()
    view = stage.area().spaces.active.region_3d
    yield from stage.until(lambda: view.view_perspective == "CAMERA", "the game's camera in the viewport")
    properties = hands().motionbridge_hud
    properties.stance, properties.aspect = "AIM", "NARROW"
    yield
    properties.stance, properties.aspect = "HIP", "WIDE"
    properties.active_action = properties.actions.find("anm_reload")
    stage.call("motionbridge.hud_add_action", alias="anm_kick", motion="kick")
    hands().location.x += 0.01
    stage.step("Edit")
    config = folder / "configs/w_sample.ltx"
    files = [config, *(folder / "meshes/samples" / name for name in ("humanoid.omf", "weapon.omf"))]
    before = [file.read_bytes() for file in files]
    stage.forget_reports()
    stage.invoke("motionbridge.hud_save_back")
    yield
    yield from stage.confirm()
    yield from stage.reported()
    assert all(file.read_bytes() != old for file, old in zip(files, before, strict=True)), stage.sentence()
    text = config.read_bytes()
    assert b"= kick" in text
    assert b"0.04, -0.15, 0.05" in text
    for _ in range(3):
        yield from stage.undo()
    assert not any(obj.motionbridge_hud.is_hud for obj in bpy.data.objects)


SECTION_FIELD = (368, 106)
"""Pixels from the window's lower left corner, where the dialog is when the mouse is there."""


def _typed(text: str) -> Steps:
    for letter in text:
        for value in ("PRESS", "RELEASE"):
            stage.window().event_simulate(
                type=letter.upper(), value=value, x=SECTION_FIELD[0], y=SECTION_FIELD[1],
                **({"unicode": letter} if value == "PRESS" else {}),
            )  # fmt: skip
        yield
        yield


def hud_section_found_by_typing() -> Steps:
    """A part of the section's name is typed into its field, Return takes what was found, Return creates."""
    folder = game()
    stage.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=1, y=1)
    yield
    yield
    stage.invoke("motionbridge.new_hud_scene", folders=str(folder))
    yield
    yield
    x, y = SECTION_FIELD
    for aside in (3, 0):
        stage.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x + aside, y=y)
        yield
        yield
    for value in ("PRESS", "RELEASE"):
        stage.window().event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
        yield
        yield
    yield from _typed("sample")
    stage.press("RET")
    yield
    yield
    yield from stage.confirm()
    yield from stage.reported()
    assert hands().motionbridge_hud.section == "wpn_sample_hud", stage.sentence()


def hud_bone_attached_and_strip_rendered() -> Steps:
    """The dialog of Attach Bone writes keys, one undo takes them back; the strip's file is named in the browser."""
    folder = game()
    stage.call("motionbridge.new_hud_scene", folders=str(folder), section="wpn_sample")
    properties = hands().motionbridge_hud
    properties.active_action = properties.actions.find("anm_reload")
    item = properties.item
    bone = next(bone.name for bone in item.data.bones if bone.parent is not None)
    bpy.context.view_layer.objects.active = item
    item.data.bones.active = item.data.bones[bone]
    bpy.context.scene.frame_set(3)
    stage.step("Play")
    stage.forget_reports()
    stage.invoke("motionbridge.hud_attach", holder="hand_l")
    yield
    yield from stage.confirm()
    yield from stage.until(stage.reports, "a report")
    # The sample's hands have no l_hand, which the dialog would offer.
    assert any("has no bone ''" in line or "follows" in line for line in stage.reports()), stage.reports()
    stage.forget_reports()
    stage.call("motionbridge.hud_attach", bone=bone, holder="hand_l", first=3, last=8)
    assert "follows" in stage.sentence()
    strip = stage.folder() / "strip.png"
    stage.forget_reports()
    yield from stage.choose("motionbridge.hud_preview", strip, columns=2, height=32)
    yield from stage.reported()
    assert strip.read_bytes()[:4] == b"\x89PNG", stage.sentence()


def _pixel(position: Any) -> tuple[int, int]:
    """The window's pixel of a place in the world, in the largest viewport."""
    result = stage.area()
    region = next(region for region in result.regions if region.type == "WINDOW")
    there = view3d_utils.location_3d_to_region_2d(region, result.spaces.active.region_3d, position)
    return region.x + round(there.x), region.y + round(there.y)


def _mouse(kind: str, value: str, at: tuple[int, int]) -> Steps:
    stage.window().event_simulate(type=kind, value=value, x=at[0], y=at[1])
    yield
    yield


def _drag(begin: tuple[int, int], end: tuple[int, int]) -> Steps:
    """With the left mouse button; the mouse first goes over what is dragged, which lights up."""
    for aside in (6, 3, 0):
        yield from _mouse("MOUSEMOVE", "NOTHING", (begin[0] + aside, begin[1]))
    yield from _mouse("LEFTMOUSE", "PRESS", begin)
    for part in range(1, 6):
        at = tuple(round(a + (b - a) * part / 5) for a, b in zip(begin, end, strict=True))
        yield from _mouse("MOUSEMOVE", "NOTHING", (at[0], at[1]))
    yield from _mouse("LEFTMOUSE", "RELEASE", end)


def _ring(axis: Any, there: Any, view: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where to take hold of a gizmo's ring, and where it is a twelfth of a turn later, in pixels."""
    right = view.view_rotation @ Vector((1.0, 0.0, 0.0))
    radius = RING / ((Vector(_pixel(there + 0.1 * right)) - Vector(_pixel(there))).length / 0.1)
    toward = view.view_rotation @ Vector((0.0, 0.0, 1.0))
    near = (toward - toward.dot(axis) * axis).normalized() * radius  # the half behind is not drawn
    return _pixel(there + near), _pixel(there + Quaternion(axis, math.radians(30)) @ near)


RING = 56.0
"""Pixels of a ring's radius."""


def hud_gizmos_dragged() -> Steps:
    """An arrow, a ring and a dot of the weapon change one number each, or the point; each is one undo."""
    folder = game()
    (folder / "configs/mod_system_sample.ltx").unlink()  # it takes the muzzle away
    stage.call("motionbridge.new_hud_scene", folders=str(folder), section="wpn_sample")
    large = stage.area("INFO")
    large.type = "VIEW_3D"  # gizmos do not fit into the small one
    yield
    space = large.spaces.active
    space.show_gizmo, space.shading.type = True, "WIREFRAME"
    item = hands().motionbridge_hud.item
    bpy.context.view_layer.objects.active = item
    stage.step("Play")
    view = space.region_3d
    there = item.matrix_world.translation.copy()
    above = item.matrix_world @ item.matrix_basis.inverted()
    view.view_perspective, view.view_distance, view.view_location = "PERSP", 0.5, there
    for _ in range(3):
        yield

    def numbers() -> Any:
        properties = hands().motionbridge_hud
        item, muzzle = properties.item, properties.points["fire_point"].object
        return [*item.location, *item.rotation_euler, *muzzle.location]

    def dragged(begin: tuple[int, int], end: tuple[int, int]) -> Steps:
        yield from _drag(begin, end)
        for _ in range(10):
            yield
        changes[:] = [now - old for now, old in zip(numbers(), before, strict=True)]
        assert any(changes), "nothing was dragged"
        yield from stage.undo()
        back = [now - old for now, old in zip(numbers(), before, strict=True)]
        assert max(map(abs, back)) < 1e-6, back

    before, changes = numbers(), [0.0]
    base, ahead = _pixel(there), _pixel(there + 0.02 * above.to_3x3().col[0].normalized())
    along = Vector((ahead[0] - base[0], ahead[1] - base[1])).normalized()
    ends = [Vector(base) + length * along for length in (50, 110)]
    yield from dragged(*((round(end.x), round(end.y)) for end in ends))
    assert changes[0] > 1e-3, changes
    assert max(map(abs, changes[1:])) < 1e-6, changes
    heading = above.to_3x3().col[2].normalized()  # the last of the three angles turns about an axis of the parent
    yield from dragged(*_ring(heading, there, view))
    assert 0.3 < changes[5] < 0.8, changes
    assert max(map(abs, changes[:5] + changes[6:])) < 1e-6, changes
    view.view_location = hands().motionbridge_hud.points["fire_point"].object.matrix_world.translation
    for _ in range(3):
        yield
    dot = _pixel(view.view_location)
    yield from dragged(dot, (dot[0] + 20, dot[1] + 20))
    assert max(map(abs, changes[:6])) < 1e-6, changes
    assert max(map(abs, changes[6:])) > 1e-3, changes
    large.type = "INFO"
    yield


DETECTOR = b"""[dev_sample]\r
hud = dev_sample_hud\r
[dev_sample_hud]:wpn_sample_hud\r
attach_place_idx = 1\r
"""


def hud_two_items_made() -> Steps:
    """The dialog makes hands twice; the panel of the second shows its list and values; one undo takes all away."""
    folder = game()
    config = folder / "configs/w_sample.ltx"
    config.write_bytes(config.read_bytes() + DETECTOR)
    stage.invoke("motionbridge.new_hud_scene", folders=str(folder), section="wpn_sample", beside="dev_sample")
    yield
    yield from stage.confirm()
    yield from stage.reported()
    large = stage.area("INFO")
    large.type = "VIEW_3D"
    yield
    large.spaces.active.show_region_ui = True
    yield
    region = next(region for region in large.regions if region.type == "UI")
    region.active_panel_category = "Motionbridge"
    both = [obj for obj in bpy.data.objects if obj.motionbridge_hud.is_hud]
    assert {own_entry.motionbridge_hud.section for own_entry in both} == {"wpn_sample_hud", "dev_sample_hud"}, (
        stage.sentence()
    )
    for entry in both:
        bpy.context.view_layer.objects.active = entry
        for stance in ("AIM", "HIP"):
            entry.motionbridge_hud.stance = stance
            entry.motionbridge_hud.attached = {"GRENADE"}
            for _ in range(3):
                yield
        stage.call("motionbridge.hud_copy_values", key="hands_position_16x9")
        yield
        assert bpy.context.window_manager.clipboard.startswith("hands_position_16x9 = ")
    large.type = "INFO"
    yield
    while bpy.data.objects:
        yield from stage.undo()


def hud_weapon_attached_to_a_character() -> Steps:
    """One click, one undo."""
    for name in ("weapon.ogf", "humanoid.ogf"):
        stage.call("import_scene.xray_ogf", filepath=str(stage.sample(name)))
    character = bpy.context.view_layer.objects.active
    weapon = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj != character)
    character.select_set(True)
    weapon.select_set(True)
    stage.step("Select")
    stage.invoke("motionbridge.attach_weapon", bone="hand_r")
    yield
    assert weapon.parent_bone == "hand_r"
    yield from stage.undo()
    assert all(obj.parent_type != "BONE" for obj in bpy.data.objects)


SCENES = [
    ("a first-person scene is made, changed and saved", hud_made_changed_and_saved),
    ("a first-person section is found by typing", hud_section_found_by_typing),
    ("a first-person bone is attached and a strip rendered", hud_bone_attached_and_strip_rendered),
    ("a first-person weapon is moved by its gizmo", hud_gizmos_dragged),
    ("a first-person scene of two items is made", hud_two_items_made),
    ("a first-person weapon is attached to a character", hud_weapon_attached_to_a_character),
]
