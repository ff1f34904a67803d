"""Files of a level into Blender: collision, occluders, sound occluders, errors, what grows; and detail models.

A file becomes one mesh, collision on request one for each sector or game material below an empty. Attributes of faces
hold what the file says of them, materials show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ....blender import mesh as meshes
from ....blender import scope
from ....blender.properties import keep
from ....core import files, mesh_parts, text, triangles
from ....core.errors import ReadError
from ....core.model import FILE_FACE, Attribute, Domain, Mesh
from ....core.report import Report
from ....formats import HEAD_SIZE, detect
from ....formats.xray import cform, dm, err, hom, level_ai, occluders, som, wallmarks
from ..game_tree import find_game_materials, tree_of
from ..options import LevelImportOptions, Split
from . import (
    details as level_details,
)
from . import (
    materials as level_materials,
)
from . import (
    models as level_models,
)
from . import (
    placed_marks,
)
from .file import ImportedLevelFile
from .properties import NOT_WELDED

SUFFIXES = (".cform", ".hom", ".som", ".details", ".err", ".dm")
_SPLIT = {Split.SECTOR: cform.SECTOR, Split.MATERIAL: cform.MATERIAL}

COLOURS = {
    "CFORM": (0.75, 0.75, 0.75, 1.0),
    "HOM": (0.95, 0.6, 0.2, 1.0),
    "SOM": (0.3, 0.75, 0.35, 1.0),
    "ERR": (0.95, 0.15, 0.15, 1.0),
    "DM": level_materials.DETAIL_MODEL,
    "DETAILS": (0.4, 0.6, 0.3, 1.0),
    "AI": (0.3, 0.8, 0.9, 1.0),
    "WALLMARKS": (0.6, 0.5, 0.4, 1.0),
    "PARTICLES": (0.95, 0.6, 0.3, 1.0),
    "WEATHER": (0.5, 0.7, 0.95, 1.0),
    "SOUNDS": (0.6, 0.9, 0.5, 1.0),
    "SPAWNED": (0.9, 0.8, 0.4, 1.0),
}
"""Of objects, for viewports that are coloured by object."""


AI_STEPS, OPEN = 15, (0.3, 0.85, 0.95)
"""Of the colours of an AI map, which is black where cover is full."""


def import_file(
    context: bpy.types.Context, path: Path | str, options: LevelImportOptions, report: Report
) -> ImportedLevelFile:
    """The file in the scene, selected and active. Raises `ReadError` before anything is made."""
    made = read_file(path, options, report)
    into = scope.target_collection(context, report, options.collection)
    link(made, into)
    scope.make_current(context, made.objects, made.holder)
    return made


def read_file(path: Path | str, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """The objects of a file, linked nowhere yet. Raises `ReadError`."""
    path = Path(path)
    data = files.read_file(path)
    found = detect(path, data[:HEAD_SIZE])
    reader = _READERS.get(found.name) if found is not None else None
    if reader is None:
        raise ReadError(
            "this is not a supported level file",
            file=str(path),
            remedy=f"Known are {', '.join(SUFFIXES)}",
        )
    made = reader(data, path, options, report)
    for shown in made.objects:
        shown.motionbridge_level.kind = made.kind
        shown.color = COLOURS[made.kind]
    if made.holder is not None:
        properties = made.holder.motionbridge_level
        properties.path = str(path)
        keep(properties, "document", data)
    return made


def link(made: ImportedLevelFile, into: Any) -> None:
    """Link everything, parts below their holder."""
    for below in made.collections:
        into.children.link(below)
    for shown in made.objects:
        into.objects.link(shown)
        if shown != made.holder and made.kind != "ERR":
            shown.parent = made.holder


def _read_collision(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = cform.read(data, str(path), report)
    mesh = cform.decode(document, report)
    names = level_materials.read_names(options.game_materials or find_game_materials(path, options.game_folder), report)
    # Counted while Blender holds nothing of it yet: the most memory is then needed but once.
    counts = _collision_counts(mesh)
    numbers = mesh.values(cform.MATERIAL, Domain.FACE)
    if numbers is not None:
        level_materials.warn_of_unknown(numbers, names, path.name, report)
    key = mesh.values(_SPLIT.get(options.split, ""), Domain.FACE)
    # What lies in a mesh of no faces cannot be split.
    parts = [(0, mesh)] if key is None or not len(key) else mesh_parts.split(mesh, key)
    if options.split is not Split.WHOLE and key is None:
        report.warn("the file does not assign faces to sectors; not split", path.name)
    split = key is not None and len(key) > 0
    made = []
    for number, part in parts:
        values = part.values(cform.MATERIAL, Domain.FACE)
        materials, index = level_materials.collision(np.zeros(0, np.int32) if values is None else values, names)
        title = part.name
        if split:
            title = f"{part.name} sector {number}" if options.split is Split.SECTOR else materials[0].name
        shown = meshes.build(replace(part, name=title, material_index=index), materials, report, flat=True)
        shown.motionbridge_level.is_part = split
        made.append(shown)
    holder = bpy.data.objects.new(mesh.name, None) if split else made[0]
    return ImportedLevelFile("CFORM", path.name, holder, made, counts)


def _collision_counts(mesh: Mesh) -> str:
    said = [text.counted(len(mesh.triangles), "face")]
    for name, noun in ((cform.MATERIAL, "material"), (cform.SECTOR, "sector")):
        values = mesh.values(name, Domain.FACE)
        if values is not None and len(values):
            said.append(text.counted(len(level_materials.different(values)), noun))
    return ", ".join([*said, *_degenerate(mesh)])


def _degenerate(mesh: Mesh) -> list[str]:
    count = len(triangles.without_area(mesh.positions, mesh.triangles))
    return [f"{count} without area"] if count else []


def _read_occluders(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = hom.read(data, str(path), report)
    mesh = hom.decode(document, report, options.weld)
    two_sided = mesh.attributes[occluders.TWO_SIDED].values
    return _occluders("HOM", mesh, level_materials.occluders(two_sided), path, weld=options.weld, report=report)


def _read_sound_occluders(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = som.read(data, str(path), report)
    mesh = som.decode(document, report, options.weld)
    two_sided, occlusion = (mesh.attributes[name].values for name in (occluders.TWO_SIDED, som.OCCLUSION))
    slots = level_materials.sound_occluders(occlusion, two_sided)
    return _occluders("SOM", mesh, slots, path, weld=options.weld, report=report)


def _occluders(
    kind: str, mesh: Mesh, slots: level_materials.Slots, path: Path, *, weld: float | None, report: Report
) -> ImportedLevelFile:
    materials, mesh.material_index = slots
    two_sided = int(np.count_nonzero(mesh.attributes[occluders.TWO_SIDED].values))
    said = [text.counted(len(mesh.triangles), "face"), f"{two_sided} two-sided"]
    counts = ", ".join([*said, *_degenerate(mesh)])
    # A face knows its row in the file, so that deleting others does not lose what the file says of it.
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, np.arange(len(mesh.triangles), dtype=np.int32))
    shown = meshes.build(mesh, materials, report, flat=True)
    shown.motionbridge_level.weld = NOT_WELDED if weld is None else weld
    return ImportedLevelFile(kind, path.name, shown, [shown], counts)


def _read_detail_model(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = dm.read(data, str(path), report)
    tree = tree_of(path, options.game_folder, options.textures_folder)
    shown = level_models.build(document, tree, report, textures=options.textures)
    faces, vertices = len(document.triangles), len(document.vertices)
    counts = f"{text.counted(faces, 'face')}, {text.counted(vertices, 'vertex', 'vertices')}"
    return ImportedLevelFile("DM", path.name, shown, [shown], counts)


def _read_errors(data: bytes, path: Path, _options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = err.read(data, str(path), report)
    made, counts = [], []
    for mesh in err.decode(document, report):
        shown = meshes.build(mesh, [], report, flat=True)
        meshes.select_loose_edges(shown.data)
        made.append(shown)
        items = mesh.triangles if len(mesh.triangles) else mesh.positions if mesh.edges is None else mesh.edges
        counts.append(text.counted(len(items), mesh.name.rpartition(" ")[2].removesuffix("s")))
    return ImportedLevelFile("ERR", path.name, next(iter(made), None), made, ", ".join(counts) or "no errors")


def _read_ai_map(data: bytes, path: Path, _options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = level_ai.read(data, str(path), report)
    shape = level_ai.decode(document, path.name)
    slots = level_materials.slots_by_share(shape.attributes[level_ai.COVER].values, AI_STEPS, "open", OPEN)
    materials, shape.material_index = slots
    data_block = meshes.build_polygons(shape, materials)
    shown: Any = bpy.data.objects.new(path.name, data_block)
    said = [text.counted(len(document.nodes), "node")]
    for name, noun in ((level_ai.ISOLATED, "isolated"), (level_ai.ONE_WAY, "with one-way links")):
        count = int(np.count_nonzero(shape.attributes[name].values))
        said += [f"{count} {noun}"] if count else []
    # It covers the ground: with the level itself beside it, it is shown on demand.
    beside = (path.parent / "level").is_file()
    return ImportedLevelFile("AI", path.name, shown, [shown], ", ".join(said), excluded=beside)


def _read_wallmarks(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = wallmarks.read(data, str(path), report)
    mesh = wallmarks.decode(document, path.name)
    tree = tree_of(path, options.game_folder, options.textures_folder)
    materials = [level_materials.textured(one, tree, options.textures, report) for one in mesh.materials]
    shown = meshes.build(mesh, materials, report, flat=True)
    counts = f"{text.counted(len(document.marks), 'mark')}, {text.counted(len(mesh.triangles), 'face')}"
    return ImportedLevelFile("WALLMARKS", path.name, shown, [shown], counts)


_READERS: dict[str, Callable[[bytes, Path, LevelImportOptions, Report], ImportedLevelFile]] = {
    "cform": _read_collision,
    "hom": _read_occluders,
    "som": _read_sound_occluders,
    "dm": _read_detail_model,
    "details": level_details.read,
    "err": _read_errors,
    "ai": _read_ai_map,
    "wallmarks": _read_wallmarks,
    **{name: partial(placed_marks.read, name) for name in placed_marks.FILES},
}
