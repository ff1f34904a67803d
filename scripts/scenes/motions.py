"""Scenes for the pictures of X-Ray motions: menus, pop-ups, panels, bones, controls, first-person scene, paths."""

from importlib import import_module
from typing import Any

import bpy
import numpy as np

from . import studio
from .studio import GAME, SAMPLES, Scene, Steps, drop, key, load, move, open_sidebar, picture, press, shot

FIGURE = ("loner.ogf", "loner.omf")
MARKS_HEADER = (872, 348)


# ---- menus, pop-ups and panels


def _open_browser() -> Steps:
    bpy.ops.import_scene.xray_ogf("INVOKE_DEFAULT")
    yield 1.5
    studio.space("FILE_BROWSER").params.directory = bytes(SAMPLES)


def _turn_head() -> None:
    rig = studio.load_samples(*FIGURE)
    bpy.context.scene.frame_set(5)
    bone = next(bone for bone in rig.pose.bones if "head" in bone.name)
    bone.rotation_quaternion = (0.9, 0.0, 0.0, 0.43)
    bone.keyframe_insert("rotation_quaternion", frame=5)


def _open_action_editor() -> Steps:
    studio.load_samples(*FIGURE)
    obj = studio.area()
    obj.type = "DOPESHEET_EDITOR"
    obj.spaces.active.mode = "ACTION"
    obj.spaces.active.show_pose_markers = True
    bpy.context.preferences.view.ui_scale = 0.8
    bpy.context.scene.frame_end = 30
    yield 0.5
    with studio.in_area(obj):
        bpy.ops.action.view_all()
    yield from open_sidebar("DOPESHEET_EDITOR")
    yield from studio.click(*MARKS_HEADER)


def _import_two_models() -> None:
    bpy.ops.import_scene.xray_ogf(files=[{"name": "weapon.ogf"}, {"name": "cut.ogf"}], directory=str(SAMPLES))


def _show_bone() -> Steps:
    bones = studio.load_samples(FIGURE[0]).data.bones
    bones.active = bones[3]
    yield from studio.show_panels("BONE")


# ---- readable bones and controls

STALKER = GAME / "meshes" / "stalker" / "stalker.ogf"


def _look_from_the_front() -> None:
    """View the figure from the front and slightly above, filling the view."""
    bpy.ops.view3d.view_axis(type="BACK")
    bpy.ops.view3d.view_orbit(angle=0.5, type="ORBITRIGHT")
    bpy.ops.view3d.view_orbit(angle=0.2, type="ORBITUP")
    bpy.ops.view3d.view_all()
    bpy.ops.view3d.zoom(delta=2)
    studio.space().overlay.show_relationship_lines = False


def _show_readable_bones() -> None:
    load(STALKER).show_in_front = True
    bpy.ops.object.mode_set(mode="POSE")
    _look_from_the_front()


def show_control_rig(frame: int = 8) -> None:
    """Show the controls of a character in the pose of the playing motion at a frame."""
    studio.load_samples(*FIGURE)
    bpy.context.scene.frame_set(frame)
    bpy.ops.motionbridge.add_control_rig()
    bpy.ops.object.mode_set(mode="POSE")
    _look_from_the_front()


# ---- the first-person tutorial

MOD = GAME / "mod" / "gamedata"
SECTION = {"folders": str(MOD), "section": "wpn_fort_hud"}
FRAME = 45


def _confirm() -> Steps:
    """Press Return with the mouse in the corner of the window: over a text field it would start editing."""
    for aside in (4, 1):
        yield from move(aside, studio.window().height - aside)
    yield from press("RET", 1, studio.window().height - 1)
    yield 4.0


def _dialog(name: str, **options: Any) -> Steps:
    """Open the dialog of an operator in the middle of the viewport."""
    result = studio.area()
    for aside in (4, 0):
        yield from move(
            result.x + result.width // 3 + aside, studio.window().height - result.y - 2 * result.height // 3
        )
    studio.invoke(name, **options)()
    yield 1.0


def _play_tutorial() -> Steps:
    """Play the first-person tutorial: from an empty Blender to a changed reload in the game's folder."""
    yield from open_sidebar()
    yield from shot("hud_empty")
    yield from _dialog("new_hud_scene", **SECTION)
    yield from shot("hud_dialog")
    yield from _confirm()
    studio.clear_view(gizmos=True)
    # The sidebar covers a third of the viewport: the game's picture stands beside it.
    studio.space().region_3d.view_camera_zoom, studio.space().region_3d.view_camera_offset = -8, (0.2, 0)
    hands = next(obj for obj in bpy.data.objects if obj.motionbridge_hud.is_hud)
    properties = hands.motionbridge_hud
    for rig in (hands, properties.item):
        rig.data.display_type = "STICK"
    yield from shot("hud_scene")
    bpy.context.view_layer.objects.active = properties.item
    yield from shot("hud_gizmos")
    bpy.context.view_layer.objects.active = hands
    properties.active_action = properties.actions.find("anm_reload")
    yield from shot("hud_action")
    bpy.context.scene.frame_set(FRAME)
    bpy.ops.object.mode_set(mode="POSE")
    bone = next(bone for bone in hands.pose.bones if bone.name.lower() == "l_hand")
    hands.data.bones.active = bone.bone
    yield from shot("hud_bone")
    for frame in range(FRAME - 5, FRAME + 5):
        bpy.context.scene.frame_set(frame)
        bone.location.y += 0.04
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(FRAME)
    yield from shot("hud_keys")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = properties.item
    free = "mag"
    properties.item.data.bones.active = properties.item.data.bones[free]
    yield from _dialog("hud_attach")
    yield from shot("hud_attach")
    yield from press("ESC", 400, studio.window().height - 400)
    bpy.ops.motionbridge.hud_attach(bone=free, holder=bone.name, first=FRAME - 5, last=FRAME + 5)
    properties.stance, properties.active_action = "AIM", properties.actions.find("anm_idle_aim")
    yield from shot("hud_aiming")
    properties.stance = "HIP"
    yield from _dialog("hud_save_back")
    yield 4.0
    yield from shot("hud_save")
    yield from _confirm()
    yield from _dialog("report")
    yield from shot("hud_saved")


# ---- paths

FLIGHT = GAME / "anims" / "flight.anm"
HOUSES = ((-12, -8, 8, 6, 5), (2, -14, 6, 6, 3.5), (-24, -20, 9, 7, 4), (-6, 0, 5, 5, 6.5), (8, -4, 4, 8, 3))
"""Position (x, y), length, width and height in metres."""
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
SIDES = ((4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
"""Faces of a box without a bottom; its corners are those of the square, at the bottom, then at the top."""
DOTS = 6
"""Distance of the dots of the formula in frames."""


def _build_boxes(name: str, colour: tuple[float, ...], boxes: tuple[tuple[float, ...], ...]) -> None:
    corners, faces = [], []
    for x, y, length, width, height in boxes:
        faces += [[len(corners) + corner for corner in side] for side in SIDES]
        corners += [(x + a * length / 2, y + b * width / 2, z - 4) for z in (0, height) for a, b in SQUARE]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    obj.color = colour
    bpy.context.scene.collection.objects.link(obj)


def _fly_over_village(frame: int) -> None:
    """Show a flight at a frame from above, with its path and key times in bright lines."""
    load(FLIGHT, match_scene=True, target="CAMERA", draw_curve=True)
    _build_boxes("ground", (0.25, 0.29, 0.22, 1), ((-9, -10, 110, 74, -0.2),))
    _build_boxes("houses", (0.55, 0.5, 0.44, 1), HOUSES)
    bpy.context.scene.frame_set(frame)
    eye = next(obj for obj in bpy.context.scene.objects if obj.type == "CAMERA")
    eye.data.display_size = 6
    bpy.context.scene.camera = eye
    studio.space().shading.color_type = "OBJECT"
    studio.clear_view()
    studio.look(56, 24, at=(-9, -9, -4), distance=80)
    theme = bpy.context.preferences.themes[0].view_3d
    theme.wire = theme.camera = (1.0, 0.62, 0.15)


def _name_path() -> None:
    studio.active().animation_data.action.motionbridge_path.path_name = "helicopter"


def _draw_formula(channel: Any) -> Any:
    """Create an empty with y locations of the game's own formula, except on frames near the file's keys."""
    frames = np.arange(0, 571, DOTS)
    beside = np.abs(frames[:, None] - channel.times * 30).min(axis=1) > DOTS / 2  # do not cover the keys
    beside[[0, -1]] = True
    obj = bpy.data.objects.new("the game's formula", None)
    bpy.context.scene.collection.objects.link(obj)
    values = import_module(f"{studio.EXTENSION}.core.envelope").evaluate(channel, frames[beside] / 30)
    for frame, value in zip(frames[beside], values, strict=True):
        obj.location.y = value
        obj.keyframe_insert("location", index=1, frame=frame)
    return obj


def _show_channel() -> Steps:
    """Show a TCB channel in the graph editor, over dots of the game's own formula."""
    flying = load(FLIGHT, match_scene=True)
    anm = import_module(f"{studio.EXTENSION}.formats.xray.anm")
    compat = import_module(f"{studio.EXTENSION}.blender.compat")
    report = import_module(f"{studio.EXTENSION}.core.report").Report()
    animation = anm.read(FLIGHT.read_bytes(), FLIGHT.name, report).animation
    formula = _draw_formula(animation.envelopes[2].decoded())
    for target in (formula, flying):
        target.select_set(True)
        bag = compat.curve_bag(target.animation_data.action)
        bag.groups[0].show_expanded_graph = True
        for curve in bag.fcurves:
            curve.hide = (curve.data_path, curve.array_index) != ("location", 1)
            curve.select = not curve.hide
            curve.color_mode, curve.color = "CUSTOM", (0.25, 0.65, 1.0)
            curve.mute = target is formula  # only its keys are to be seen, as dots
            for point in curve.keyframe_points:
                point.select_left_handle = point.select_right_handle = False
                point.select_control_point = target is formula
                if target is formula:
                    point.interpolation, point.handle_left_type, point.handle_right_type = "LINEAR", "VECTOR", "VECTOR"
    bpy.context.scene.frame_set(0)
    obj = studio.area()
    obj.type = "GRAPH_EDITOR"
    obj.spaces.active.use_only_selected_keyframe_handles = obj.spaces.active.show_region_ui = False
    yield 0.5
    with studio.in_area(obj):
        bpy.ops.graph.view_all()


SCENES = (
    picture("menu", lambda: studio.click(47, 14), lambda: move(75, 311)),  # File > Import
    picture("browser", _open_browser),
    picture("drop", lambda: drop(FIGURE[0])),
    picture("list", lambda: studio.load_samples(FIGURE[0]), 0.5, lambda: drop(FIGURE[1])),
    picture("panel", lambda: studio.load_samples(*FIGURE), sidebar=True),
    picture("no_armature", open_sidebar, lambda: drop(FIGURE[1])),  # the model beside the motions is found
    picture("no_model", lambda: drop("weapon_alone.omf"), lambda: key("RET")),  # neither an armature nor a model
    picture("wrong_file", lambda: drop("broken.omf")),
    picture("save_back", _turn_head, open_sidebar, studio.invoke("save_back")),
    picture("marks", _open_action_editor),
    picture("bone", _show_bone),
    picture("object", lambda: studio.load_samples(FIGURE[0]), lambda: studio.show_panels("OBJECT")),
    picture("report", _import_two_models, 0.5, studio.invoke("report")),
    picture("readable_bones", _show_readable_bones, needs=STALKER, sidebar=True),
    picture("control_rig", show_control_rig, sidebar=True),
    Scene("hud", [_play_tutorial], MOD),
    picture("path_scene", lambda: _fly_over_village(215), needs=FLIGHT),
    picture("path_panel", lambda: _fly_over_village(330), _name_path, needs=FLIGHT, sidebar=True),
    picture("path_curve", _show_channel, needs=FLIGHT),
)
