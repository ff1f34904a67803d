"""The pictures of motion paths: a flight in a small scene, a channel over the game's formula, dialogs and the panel."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from math import radians
from typing import Any

import bpy
import numpy as np
from mathutils import Euler
from picture_studio import HERE, Steps, area, shot, sidebar, there, window

PATHS = HERE / "gamedata" / "anims"
FLIGHT = "flight.anm"
EXTENSION = "bl_ext.dev.motionbridge"
HOUSES = ((-12, -8, 8, 6, 5), (2, -14, 6, 6, 3.5), (-24, -20, 9, 7, 4), (-6, 0, 5, 5, 6.5), (8, -4, 4, 8, 3))
"""Where they stand, and how long, wide and high they are, metres."""
DOTS = 6
"""Frames from one dot of the formula to the next."""


def load(name: str = FLIGHT, **options: Any) -> None:
    """Import a path and let the scene have its rate and length."""
    with there():
        bpy.ops.import_scene.xray_anm(filepath=str(PATHS / name), match_scene=True, **options)


def build_village() -> None:
    """Ground and a few houses, for the eye to hold on to."""
    for name, colour, boxes in (
        ("ground", (0.25, 0.29, 0.22, 1), [(-9, -10, 110, 74, -0.2)]),
        ("houses", (0.55, 0.5, 0.44, 1), HOUSES),
    ):
        corners, faces = [], []
        for x, y, length, width, height in boxes:
            start = len(corners)
            for z in (0, height):
                corners += [
                    (x + a * length / 2, y + b * width / 2, z - 4) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
                ]
            faces += [
                [start + at for at in side]
                for side in ((4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
            ]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(corners, [], faces)
        made = bpy.data.objects.new(name, mesh)
        made.color = colour
        bpy.context.scene.collection.objects.link(made)


def fly_over_village(frame: int) -> None:
    """A flight with its path and key times drawn, at a frame, seen from above."""
    load(target="CAMERA", draw_curve=True)
    build_village()
    scene = bpy.context.scene
    scene.frame_set(frame)
    eye = next(one for one in scene.objects if one.type == "CAMERA")
    eye.data.display_size = 6
    scene.camera = eye
    space = area().spaces.active
    space.shading.color_type = "OBJECT"
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_cursor = space.show_gizmo = False
    view = space.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((radians(56), 0, radians(24))).to_quaternion()
    view.view_location, view.view_distance = (-9, -9, -4), 80


@contextmanager
def bright_lines() -> Iterator[None]:
    """Lines that can be told from the ground."""
    theme = bpy.context.preferences.themes[0].view_3d
    before = tuple(theme.wire), tuple(theme.camera)
    theme.wire = theme.camera = (1.0, 0.62, 0.15)
    try:
        yield
    finally:
        theme.wire, theme.camera = before


def path_scene() -> Steps:
    """A flight over a village: camera, path and key times."""
    fly_over_village(215)
    with bright_lines():
        yield from shot("path_scene")


def path_curve() -> Steps:
    """A TCB channel in the graph editor, over dots of the game's own formula."""
    load()
    flying = bpy.context.view_layer.objects.active
    anm = import_module(f"{EXTENSION}.formats.xray.anm")
    report = import_module(f"{EXTENSION}.core.report").Report()
    evaluate = import_module(f"{EXTENSION}.core.envelope").evaluate
    animation = anm.read((PATHS / FLIGHT).read_bytes(), FLIGHT, report).animation
    channel = animation.envelopes[2].decoded()
    frames = np.arange(0, 571, DOTS)
    beside = np.abs(frames[:, None] - channel.times * 30).min(axis=1) > DOTS / 2  # the keys are to be seen
    beside[[0, -1]] = True
    frames = frames[beside]
    formula = bpy.data.objects.new("the game's formula", None)
    bpy.context.scene.collection.objects.link(formula)
    for frame, value in zip(frames, evaluate(channel, frames / 30), strict=True):
        formula.location.y = value
        formula.keyframe_insert("location", index=1, frame=frame)
    for made in (formula, flying):
        made.select_set(True)
        made.animation_data.action.groups[0].show_expanded_graph = True
        for curve in made.animation_data.action.fcurves:
            curve.hide = (curve.data_path, curve.array_index) != ("location", 1)
            curve.select = not curve.hide
            curve.color_mode, curve.color = "CUSTOM", (0.25, 0.65, 1.0)
            curve.mute = made is formula  # its dots are enough
            for point in curve.keyframe_points:
                point.select_left_handle = point.select_right_handle = False
                point.select_control_point = made is formula
                if made is formula:
                    point.interpolation, point.handle_left_type, point.handle_right_type = "LINEAR", "VECTOR", "VECTOR"
    bpy.context.scene.frame_set(0)
    found = area()
    found.type = "GRAPH_EDITOR"
    space = found.spaces.active
    space.use_only_selected_keyframe_handles = space.show_region_ui = False
    yield 0.5
    with bpy.context.temp_override(window=window(), area=found, region=found.regions[-1]):
        bpy.ops.graph.view_all()
    yield 0.5
    yield from shot("path_curve")


def path_panel() -> Steps:
    """The panel of a path."""
    fly_over_village(330)
    action = bpy.context.view_layer.objects.active.animation_data.action
    action.motionbridge_path.path_name = "helicopter"
    yield from sidebar()
    with bright_lines():
        yield from shot("path_panel")


SCENES: list[Callable[[], Steps]] = [path_scene, path_curve, path_panel]
