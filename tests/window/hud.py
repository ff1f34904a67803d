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


SCENES = [("a first-person scene is made, changed and saved", hud_made_changed_and_saved)]
