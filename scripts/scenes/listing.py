"""Scenes for the pictures of the extensions platform: files of our own only, in a large window."""

import bpy

from . import studio
from .games import MAN
from .motions import FIGURE, show_control_rig
from .studio import GAME, HERE, Steps, invoke, load, look, picture

LEVEL = GAME / "levels" / "sample"


def _edit() -> None:
    rig = studio.load_samples(*FIGURE)
    bone = rig.pose.bones["head"]
    bone.rotation_quaternion = (0.9, 0.0, 0.0, 0.43)
    bone.keyframe_insert("rotation_quaternion", frame=5)
    bpy.context.scene.frame_set(5)


def _show_soldier() -> None:
    body = load(MAN, rig="NEW", levels={"FIRST", "MEMORY"})
    bpy.context.view_layer.objects.active = body.parent
    load(MAN.with_name("walk.rtm"))
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = body
    studio.space().shading.color_type = "TEXTURE"
    look(78, 28, at=(0, 0, 0.95), distance=3.6)


def _show_ship() -> None:
    load(HERE / "descent3" / "ship.oof")
    studio.space().shading.color_type = "TEXTURE"
    look(58, 145, 0.9)


def _show_level() -> None:
    load(LEVEL / "level.cform")
    studio.space().shading.color_type = "MATERIAL"
    look(58, 30, at=(0, 0, 0), distance=16)


def _show_loner() -> Steps:
    show_control_rig()
    yield 0.5


SCENES = (
    picture("loner", _show_loner, sidebar=True),
    picture("save_back", _edit, studio.open_sidebar, invoke("save_back"), 2.0),
    picture("soldier", _show_soldier, sidebar=True),
    picture("ship", _show_ship, sidebar=True),
    picture("level", _show_level, sidebar=True),
)
