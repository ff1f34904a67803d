"""The pictures of readable bones and of the control rig: a still one, and an animated one of a hand that is moved."""

from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Matrix
from picture_studio import HERE, Steps, area, film_frame, key, shot, sidebar, there, window

MODEL = HERE / "gamedata" / "meshes" / "stalker" / "stalker.ogf"
MOVED = range(12, 21)
"""Frames on which the hand goes up and comes down again."""


def readable_bones() -> Steps:
    """A character's bones, coloured by body part."""
    with there():
        bpy.ops.import_scene.xray_ogf(filepath=str(MODEL))
    rig = bpy.context.view_layer.objects.active
    rig.show_in_front = True
    with there():
        bpy.ops.object.mode_set(mode="POSE")
    yield from _seen()
    yield from shot("readable_bones")


def _load() -> Any:
    with there():
        bpy.ops.import_scene.xray_ogf(filepath=str(MODEL))
        bpy.ops.import_scene.xray_omf(filepath=str(MODEL.with_suffix(".omf")), match_scene=True)
    return bpy.context.view_layer.objects.active


def _seen() -> Steps:
    """The figure fills the view, from the front and a little above, with the sidebar beside it."""
    with there():
        bpy.ops.view3d.view_axis(type="BACK")
        bpy.ops.view3d.view_orbit(angle=0.5, type="ORBITRIGHT")
        bpy.ops.view3d.view_orbit(angle=0.2, type="ORBITUP")
        bpy.ops.view3d.view_all()
        bpy.ops.view3d.zoom(delta=2)
    area().spaces.active.overlay.show_relationship_lines = False
    yield from sidebar()


def _with_controls() -> Steps:
    """The controls of the motion that plays are posed."""
    rig = _load()
    bpy.context.scene.frame_set(MOVED[0])
    with there():
        bpy.ops.motionbridge.add_control_rig()
        bpy.ops.object.mode_set(mode="POSE")
    rig.hide_set(True)
    yield from _seen()


def control_rig() -> Steps:
    """The controls of a character."""
    yield from _with_controls()
    yield from shot("control_rig")


def control_film() -> Steps:
    """A hand is moved on some frames, and saved back: one motion of many is changed."""
    yield from _with_controls()
    scene, controls = bpy.context.scene, bpy.context.object
    for frame in range(MOVED[0] - 8, MOVED[0] + 1, 2):
        scene.frame_set(frame)
        yield from film_frame("control_film", 15)
    goal = next(bone for bone in controls.pose.bones if bone.name.startswith("IK") and "r_hand" in bone.name)
    middle = len(MOVED) // 2
    for step, frame in enumerate(MOVED):
        scene.frame_set(frame)
        share = 1 - abs(step - middle) / middle
        goal.matrix = Matrix.Translation((0.0, 0.0, 0.35 * share)) @ goal.matrix
        goal.keyframe_insert("location")
    for frame in (*MOVED, *range(MOVED[-1], MOVED[-1] + 5, 2)):
        scene.frame_set(frame)
        yield from film_frame("control_film", 15)
    with there():
        bpy.ops.motionbridge.save_back("INVOKE_DEFAULT")
    while window().modal_operators:  # until its dialog opens
        yield 0.5
    yield 1.5
    yield from film_frame("control_film", 300)
    yield from key("ESC")


SCENES: list[Callable[[], Steps]] = [readable_bones, control_rig, control_film]
