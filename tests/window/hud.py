"""First person in a window: a section, its panel, another stance, and one save of motions and configs."""

from pathlib import Path
from typing import Any

import bpy

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
    return next(one for one in bpy.data.objects if one.motionbridge_hud.is_hud)


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
    assert b"0.040000, -0.150000, 0.050000" in text
    for _ in range(3):
        yield from stage.undo()
    assert not any(one.motionbridge_hud.is_hud for one in bpy.data.objects)


SECTION_FIELD = (368, 327)
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
    bone = next(one.name for one in item.data.bones if one.parent is not None)
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


def hud_weapon_attached_to_a_character() -> Steps:
    """One click, one undo."""
    for name in ("weapon.ogf", "humanoid.ogf"):
        stage.call("import_scene.xray_ogf", filepath=str(stage.sample(name)))
    character = bpy.context.view_layer.objects.active
    weapon = next(one for one in bpy.data.objects if one.type == "ARMATURE" and one != character)
    character.select_set(True)
    weapon.select_set(True)
    stage.step("Select")
    stage.invoke("motionbridge.attach_weapon", bone="hand_r")
    yield
    assert weapon.parent_bone == "hand_r"
    yield from stage.undo()
    assert all(one.parent_type != "BONE" for one in bpy.data.objects)


SCENES = [
    ("a first-person scene is made, changed and saved", hud_made_changed_and_saved),
    ("a first-person section is found by typing", hud_section_found_by_typing),
    ("a first-person bone is attached and a strip rendered", hud_bone_attached_and_strip_rendered),
    ("a first-person weapon is attached to a character", hud_weapon_attached_to_a_character),
]
