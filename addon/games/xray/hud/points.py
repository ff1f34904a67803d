"""What a first-person scene shows besides the models: points of the item as empties, and the crosshair's outline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import hud
from ....formats.xray.ltx.document import numbers
from . import placing

POINT_SIZE = 0.01
"""Metres."""
INNER, OUTER = 0.006, 0.018
"""Metres from the centre to the ends of the crosshair's lines, one metre in front of the camera."""


def add_points(rig: Any, values: Mapping[str, str], into: Any, report: Report) -> dict[str, Any]:
    """Key -> an empty below its bone, for each point of the config; a bone that the model lacks is reported.

    ``rig`` the item, of Shadow of Chernobyl the whole model. The location of an empty is the point's value.
    """
    found = {}
    for key, bone_key in hud.POINTS.items():
        bone = values.get(bone_key, "")
        if not bone or key not in values:
            continue
        shown = bpy.data.objects.new(key, None)
        try:
            placing.hang(shown, rig, bone)
        except ReadError as refusal:
            bpy.data.objects.remove(shown)
            report.warn(refusal.problem, f"{bone_key} = {bone}")
            continue
        placing.place(shown, hud.pointed(numbers(values[key], 3)), placing.POINT)
        shown.empty_display_type, shown.empty_display_size = "SPHERE", POINT_SIZE
        shown.show_name = shown.show_in_front = True
        into.objects.link(shown)
        found[key] = shown
    return found


def add_crosshair(name: str, camera: Any, into: Any) -> Any:
    """Four lines around the centre of the camera's picture, in front of everything; renders leave them out."""
    ends = [(x * far, y * far, -1.0) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)) for far in (INNER, OUTER)]
    mesh = bpy.data.meshes.new(f"{name} Crosshair")
    mesh.from_pydata(ends, [(first, first + 1) for first in range(0, len(ends), 2)], [])
    shown = bpy.data.objects.new(mesh.name, mesh)
    shown.parent = camera
    shown.show_in_front = shown.hide_select = shown.hide_render = True
    into.objects.link(shown)
    return shown
