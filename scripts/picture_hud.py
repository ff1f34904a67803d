"""The pictures of the first-person tutorial: from an empty Blender to a changed reload in the game's folder."""

from collections.abc import Callable

import bpy
from picture_studio import HERE, Steps, area, shot, sidebar, there, window

GAME = HERE / "gamedata" / "mod" / "gamedata"
SECTION = {"folders": str(GAME), "configs": "configs/defines.ltx;configs/weapons/w_fort.ltx", "section": "wpn_fort_hud"}
FRAME = 45


def confirm() -> Steps:
    """Return, with the mouse in the window's corner: over a text field it would begin to edit it."""
    for aside in (4, 1):
        window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=aside, y=aside)
        yield 0.3
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type="RET", value=value, x=1, y=1)
        yield 0.2


def dialog(name: str, **options: object) -> Steps:
    """Open an operator's dialog in the middle of the viewport."""
    found = area()
    for aside in (4, 0):
        x, y = found.x + found.width // 3 + aside, found.y + 2 * found.height // 3
        window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield 0.2
    with there():
        getattr(bpy.ops.motionbridge, name)("INVOKE_DEFAULT", **options)
    yield 1.0


def hud() -> Steps:
    """Ten steps, a picture of each."""
    if not GAME.is_dir():
        return
    yield from sidebar()
    yield from shot("hud_empty")
    yield from dialog("new_hud_scene", **SECTION)
    yield from shot("hud_dialog")
    yield from confirm()
    yield 4.0
    space = area().spaces.active
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    hands = next(one for one in bpy.data.objects if one.motionbridge_hud.is_hud)
    properties = hands.motionbridge_hud
    for rig in (hands, properties.item):
        rig.data.display_type = "STICK"
    yield from shot("hud_scene")
    bpy.context.view_layer.objects.active = properties.item
    yield 1.0
    yield from shot("hud_gizmos")
    bpy.context.view_layer.objects.active = hands
    properties.active_action = properties.actions.find("anm_reload")
    yield 1.0
    yield from shot("hud_action")
    bpy.context.scene.frame_set(FRAME)
    with there():
        bpy.ops.object.mode_set(mode="POSE")
    bone = next(bone for bone in hands.pose.bones if bone.name.lower() == "l_hand")
    hands.data.bones.active = bone.bone
    yield 0.5
    yield from shot("hud_bone")
    for frame in range(FRAME - 5, FRAME + 5):
        bpy.context.scene.frame_set(frame)
        bone.location.y += 0.04
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(FRAME)
    yield 1.0
    yield from shot("hud_keys")
    with there():
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = properties.item
    free = "mag"
    properties.item.data.bones.active = properties.item.data.bones[free]
    yield from dialog("hud_attach")
    yield from shot("hud_attach")
    yield from confirm_escape()
    with there():
        bpy.ops.motionbridge.hud_attach(bone=free, holder=bone.name, first=FRAME - 5, last=FRAME + 5)
    properties.stance, properties.active_action = "AIM", properties.actions.find("anm_idle_aim")
    yield 1.0
    yield from shot("hud_aiming")
    properties.stance = "HIP"
    yield from dialog("hud_save_back")
    yield 4.0
    yield from shot("hud_save")
    yield from confirm()
    yield 4.0
    yield from dialog("report")
    yield from shot("hud_saved")


def confirm_escape() -> Steps:
    """Leave a dialog."""
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type="ESC", value=value, x=400, y=400)
        yield 0.3


SCENES: list[Callable[[], Steps]] = [hud]
