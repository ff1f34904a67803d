"""Placed objects of a level: portals, lights, glows; effects, sounds, spawned objects; links of the AI map.

Portals, lights and glows are objects, each with its index in `level`. Objects placed by other files are empties with
their names. Links between nodes of the AI map are edges, created on demand: there are four times as many as nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ....blender import material
from ....blender import mesh as meshes
from ....blender.properties import kept
from ....core import names, space
from ....core.model import Mesh, PolygonMesh
from ....core.report import Report, counted, say
from ....formats.xray import env_mod, level_ai, ps_static, snd_static, spawn
from ....formats.xray.level import structure
from ....formats.xray.level.document import SUN, Level
from ....formats.xray.placed import Placed
from ..options import LevelImportOptions
from .file import ImportedLevelFile, new_object

if TYPE_CHECKING:
    from ....blender.typed import Object


FRONT, BACK = (0.2, 0.75, 0.9, 1.0), (0.9, 0.35, 0.6, 1.0)
"""Colours of a portal's side towards the front sector, and of the other side."""
WATTS_AT_METRE = 10.0
"""Power of a point light with a range of 1 m: at half its range it gives about a watt per square metre."""
MOST_WATTS = 1e6
SUN_STRENGTH = 3.0
SMALLEST_SIZE = 0.01
"""Smallest display size of a glow in metres, so that it can be clicked."""


def portals(level: Level, name: str, report: Report) -> ImportedLevelFile:
    """Return a face for each portal, with its normal into the front sector; ``name``: of the file."""
    objects = []
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
        obj = new_object(title, meshes.build_polygons(shape, [colours]), "PORTAL", number)
        obj.motionbridge_level.front_sector = int(portal["front"])
        obj.motionbridge_level.back_sector = int(portal["back"])
        objects.append(obj)
    if folded:
        report.warn(say("{:# portal|# portals} with fewer than 3 or more than 6 corners; left out", folded), name)
    return ImportedLevelFile("PORTAL", name, None, objects, counted(len(objects), "portal"))


@dataclass(frozen=True)
class ShownLights:
    """How lights are shown in Blender: unit ``colours`` (n, 3), ``energies`` (n,) in watts, ``peaks`` (n,) of the
    file's colours; ``positions`` and ``directions`` (n, 3), 0 for lamps without a direction; ``suns`` (n,): which
    are suns.
    """

    colours: NDArray[np.float64]
    energies: NDArray[np.float64]
    peaks: NDArray[np.float64]
    positions: NDArray[np.float64]
    directions: NDArray[np.float64]
    suns: NDArray[np.bool_]


def shown_lights(rows: NDArray[np.void]) -> ShownLights:
    """Return how rows (n,) of `LIGHT` are shown. Power in watts is for display: the game's lights have none."""
    colours = _finite(rows["diffuse"][:, :3]).clip(0)
    peaks = colours.max(axis=1, initial=0)
    suns = rows["type"] == SUN
    reach = _finite(rows["range"])
    return ShownLights(
        np.where(peaks[:, None] > 0, colours / np.where(peaks > 0, peaks, 1)[:, None], 1.0),
        np.where(suns, peaks * SUN_STRENGTH, np.minimum(WATTS_AT_METRE * peaks * reach**2, MOST_WATTS)),
        peaks,
        space.xray_points(_finite(rows["position"])),
        np.where(suns[:, None], space.xray_points(_finite(rows["direction"])), 0.0),
        suns,
    )


def lights(level: Level, name: str) -> ImportedLevelFile:
    """Create the sun and lamps."""
    looks = shown_lights(level.lights)
    objects = []
    for number, sun in enumerate(looks.suns.tolist()):
        title = f"{level.name} {'sun' if sun else f'light {number:03}'}"
        lamp: Any = bpy.data.lights.new(title, "SUN" if sun else "POINT")
        lamp.color, lamp.energy = looks.colours[number].tolist(), float(looks.energies[number])
        obj = new_object(title, lamp, "LIGHT", number)
        obj.location = looks.positions[number].tolist()
        obj.motionbridge_level.light_range = float(level.lights["range"][number])
        if looks.directions[number].any():
            obj.rotation_euler = Vector(looks.directions[number].tolist()).to_track_quat("-Z", "Y").to_euler()
        objects.append(obj)
    return ImportedLevelFile("LIGHT", name, None, objects, counted(len(objects), "light"))


@dataclass(frozen=True)
class ShownGlows:
    """How glows are shown in Blender: positions (n, 3) and sizes (n,) of their empties."""

    positions: NDArray[np.float64]
    sizes: NDArray[np.float64]


def shown_glows(rows: NDArray[np.void]) -> ShownGlows:
    """Return how rows (n,) of `GLOW` are shown."""
    return ShownGlows(space.xray_points(_finite(rows["position"])), np.maximum(_finite(rows["radius"]), SMALLEST_SIZE))


def glows(level: Level, name: str) -> ImportedLevelFile:
    """Create an empty of the same size for each glow, with the texture in its name."""
    looks = shown_glows(level.glows)
    strings = structure.shaders(level)
    objects = []
    for number, (size, shader) in enumerate(zip(looks.sizes.tolist(), level.glows["shader"].tolist(), strict=True)):
        names_ = strings[shader] if shader < len(strings) else structure.Shader("", "")
        title = f"{level.name} glow {number:03} {names_.texture.rpartition(chr(92))[2]}"
        obj = new_object(title.rstrip(), None, "GLOW", number)
        obj.motionbridge_level.shader, obj.motionbridge_level.texture = names_.name, names_.textures
        obj.empty_display_type, obj.empty_display_size = "SPHERE", size
        obj.location = looks.positions[number].tolist()
        objects.append(obj)
    return ImportedLevelFile("GLOW", name, None, objects, counted(len(objects), "glow"))


def _finite(values: NDArray[Any]) -> NDArray[np.float64]:
    """Replace NaN and infinite values of broken files by 0."""
    return np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)


# Placed by name -------------------------------------------------------------------------------------------------------

FILES: dict[str, tuple[str, ModuleType, str]] = {
    "ps_static": ("PARTICLES", ps_static, "ARROWS"),
    "env_mod": ("WEATHER", env_mod, "SPHERE"),
    "snd_static": ("SOUNDS", snd_static, "SINGLE_ARROW"),
    "spawn": ("SPAWNED", spawn, "PLAIN_AXES"),
}
"""Format -> kind of the objects, module, display type of the empties."""
_AXES = [0, 2, 1, 3]


def placed(name: str, data: bytes, path: Path, _options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """Create an empty for each entry of a file of one of the `FILES`. Raises `ReadError`."""
    kind, module, looks = FILES[name]
    document: Placed = module.read(data, str(path), report)
    objects = []
    for number, (words, row) in enumerate(zip(document.words, document.after, strict=True)):
        title = " ".join(filter(None, map(names.decode, words))) or f"{document.layout.what} {number:03}"
        obj = new_object(title, None, kind, number)
        obj.empty_display_type = looks
        _place(obj, row)
        objects.append(obj)
    return ImportedLevelFile(kind, path.name, None, objects, counted(len(objects), document.layout.what))


def _place(obj: Object, row: np.void) -> None:
    """Set the transform of an empty from an entry; NaN and infinite values of broken files count as 0."""
    fields = row.dtype.names or ()
    if "transform" in fields:
        obj.matrix_world = Matrix(_finite(row["transform"]).T[np.ix_(_AXES, _AXES)].tolist())
        return
    obj.location = space.xray_points(_finite(row["position"])).tolist()
    if "radius" in fields:
        radius = float(row["radius"])
        obj.empty_display_size = radius if np.isfinite(radius) and radius > 0 else 1.0


# Links of the AI map --------------------------------------------------------------------------------------------------

BOTH_WAYS, ONE_WAY = (0.3, 0.8, 0.9, 1.0), (0.95, 0.2, 0.1, 1.0)
LINKS = "motionbridge_ai_links"
"""Custom property of objects that show links: True for one-way links."""


def show_links(obj: Object) -> tuple[int, int]:
    """Recreate the objects that show an AI map's links; returns the numbers of two-way and one-way links.

    They are children of the AI map's object. Raises `ReadError`.
    """
    hide_links(obj)
    document = level_ai.read(kept(obj.motionbridge_level, "document"), obj.motionbridge_level.path, Report())
    positions, both, single = level_ai.link_edges(document)
    for edges, is_one_way in ((both, False), (single, True)):
        if not len(edges):
            continue
        # Only nodes with such a link, to avoid loose vertices.
        used, index = np.unique(edges, return_inverse=True)
        name = f"{obj.name} {'one-way links' if is_one_way else 'links'}"
        mesh: Any = meshes.build(
            Mesh(name, positions[used], np.zeros((0, 3), np.int32), edges=index.reshape(-1, 2).astype(np.int32)),
            [],
            Report(),
        )
        mesh[LINKS] = is_one_way
        mesh.color = ONE_WAY if is_one_way else BOTH_WAYS
        mesh.parent = obj
        for collection in obj.users_collection:
            collection.objects.link(mesh)
    return len(both), len(single)


def hide_links(obj: Object) -> bool:
    """Delete the objects that show an AI map's links; returns whether there were any."""
    existing = links_of(obj)
    datas = [obj.data for obj in existing]
    bpy.data.batch_remove([*existing, *(data for data in datas if data is not None and data.users <= 1)])
    return bool(existing)


def links_of(obj: Any) -> list[Any]:
    """Return the objects that show the links of an AI map."""
    return [child for child in obj.children if LINKS in child]
