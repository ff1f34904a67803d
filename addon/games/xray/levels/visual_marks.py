"""Portals, lights and glows of a compiled level as objects, each with its row in the file."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ....blender import material
from ....blender import mesh as meshes
from ....core import space, text
from ....core.model import PolygonMesh
from ....core.report import Report
from ....formats.xray.level import structure
from ....formats.xray.level.document import SUN, Level
from .file import ImportedLevelFile

FRONT, BACK = (0.2, 0.75, 0.9, 1.0), (0.9, 0.35, 0.6, 1.0)
"""Of portals: the side that is seen from the front sector, and the other."""
WATTS = 10.0
"""Of a point light that reaches a metre: at half its range it then gives about a watt per square metre."""
MOST_WATTS = 1e6
SUN_STRENGTH = 3.0
LEAST_SIZE = 0.01
"""Metres of a glow that can still be clicked."""


def portals(level: Level, name: str, report: Report, *, excluded: bool) -> ImportedLevelFile:
    """A face for each portal, whose normal points into its front sector; ``name`` of the file."""
    shown = []
    folded = 0
    colours = material.build_coloured("portal", FRONT, back=BACK) if len(level.portals) else None
    for number, portal in enumerate(level.portals):
        corners = structure.portal_corners(portal)
        if corners is None:
            folded += 1
            continue
        count = len(corners)
        title = f"{level.name} portal {number:03} ({portal['front']}|{portal['back']})"
        shape = PolygonMesh(title, corners, np.array([count], np.int32), np.arange(count, dtype=np.int32))
        shown.append(_marked(title, meshes.build_polygons(shape, [colours]), "PORTAL", number))
    if folded:
        report.warn(f"{text.counted(folded, 'portal')} with fewer than 3 or more than 6 corners; left out", name)
    return ImportedLevelFile("PORTAL", name, None, shown, text.counted(len(shown), "portal"), excluded=excluded)


def lights(level: Level, name: str) -> ImportedLevelFile:
    """The sun and lamps. Their power in watts is for display: the games' lights have none."""
    colours = _plain(level.lights["diffuse"][:, :3]).clip(0)
    peaks = colours.max(axis=1, initial=0)
    ranges = _plain(level.lights["range"])
    positions = space.xray_points(_plain(level.lights["position"]))
    directions = space.xray_points(_plain(level.lights["direction"]))
    shown = []
    for number, peak in enumerate(peaks.tolist()):
        sun = bool(level.lights["type"][number] == SUN)
        title = f"{level.name} {'sun' if sun else f'light {number:03}'}"
        lamp: Any = bpy.data.lights.new(title, "SUN" if sun else "POINT")
        lamp.color = (colours[number] / peak if peak else np.ones(3)).tolist()
        lamp.energy = peak * SUN_STRENGTH if sun else min(WATTS * peak * float(ranges[number]) ** 2, MOST_WATTS)
        made = _marked(title, lamp, "LIGHT", number)
        made.location = positions[number].tolist()
        if directions[number].any() and sun:
            made.rotation_euler = Vector(directions[number].tolist()).to_track_quat("-Z", "Y").to_euler()
        shown.append(made)
    return ImportedLevelFile("LIGHT", name, None, shown, text.counted(len(shown), "light"))


def glows(level: Level, name: str) -> ImportedLevelFile:
    """An empty for each glow, as large as it is; its texture stands in its name."""
    positions = space.xray_points(_plain(level.glows["position"]))
    sizes = np.maximum(_plain(level.glows["radius"]), LEAST_SIZE)
    strings = structure.shaders(level)
    shown = []
    for number, (size, shader) in enumerate(zip(sizes.tolist(), level.glows["shader"].tolist(), strict=True)):
        texture = strings[shader].texture.rpartition("\\")[2] if shader < len(strings) else ""
        made = _marked(f"{level.name} glow {number:03} {texture}".rstrip(), None, "GLOW", number)
        made.empty_display_type, made.empty_display_size = "SPHERE", size
        made.location = positions[number].tolist()
        shown.append(made)
    return ImportedLevelFile("GLOW", name, None, shown, text.counted(len(shown), "glow"))


def _plain(values: NDArray[Any]) -> NDArray[np.float64]:
    """What is NaN or infinite in a broken file as 0."""
    return np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def _marked(name: str, data: Any, kind: str, row: int) -> Any:
    made: Any = bpy.data.objects.new(name, data)
    made.motionbridge_level.kind, made.motionbridge_level.row = kind, row
    return made
