"""The pictures of Arma: a dog's armature that its animation alone gave, inside a body, and the panels beside a man."""

from collections.abc import Callable
from math import radians

import bpy
from mathutils import Euler, Vector
from picture_studio import HERE, Steps, area, shot, sidebar, there

DOG = HERE / "gamedata" / "arma"
MAN = HERE / "arma"
DOG_SCALE, DOG_PLACE = 0.54, (0, 0.058, 0.011)
"""The only body at hand is another dog's: this brings it nearest to the joints."""


def _look(turn: tuple[float, float, float], place: tuple[float, float, float], distance: float) -> None:
    space = area().spaces.active
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_cursor = space.overlay.show_relationship_lines = space.show_gizmo = False
    view = space.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler([radians(angle) for angle in turn]).to_quaternion()
    view.view_location, view.view_distance = Vector(place), distance


def arma_dog() -> Steps:
    """An armature with recovered joints, at rest, in a body."""
    with there():
        bpy.ops.import_scene.arma_rtm(filepath=str(DOG / "swim.rtm"), pivots="ANIMATION")
    rig = bpy.context.view_layer.objects.active
    with there():
        bpy.ops.import_scene.arma_p3d(filepath=str(DOG / "dog.p3d"), rig="ACTIVE")
    body = bpy.context.view_layer.objects.active
    body.scale, body.location = (DOG_SCALE,) * 3, DOG_PLACE
    body.color = (0.75, 0.8, 0.86, 1)
    body.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    rig.data.pose_position = "REST"
    rig.data.display_type = "STICK"
    area().spaces.active.shading.color_type = "OBJECT"
    _look((84, 0, 72), (0, 0.05, 0.38), 1.5)
    yield 0.5
    yield from shot("arma_dog")


def arma_panel() -> Steps:
    """A man who walks, his animation and his model in the sidebar."""
    with there():
        bpy.ops.import_scene.arma_p3d(filepath=str(MAN / "man.p3d"), rig="NEW", levels={"FIRST", "MEMORY"})
    body = bpy.context.view_layer.objects.active
    rig = body.parent
    bpy.context.view_layer.objects.active = rig
    with there():
        bpy.ops.import_scene.arma_rtm(filepath=str(MAN / "walk.rtm"))
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = body
    _look((78, 0, 28), (0, 0, 0.9), 4.2)
    yield from sidebar()
    yield from shot("arma_panel")


SCENES: list[Callable[[], Steps]] = [arma_dog, arma_panel]
