"""Level files that consist of faces: collision, occluders, sound occluders, errors, detail objects and models, and
others.

A file becomes one mesh; collision can be split by sector or game material into meshes below an empty. Face attributes
store the file's values, and materials show them. Unedited parts are written unchanged. Exports apply object transforms
and triangulate polygons; the scene stays unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import attributes, modifiers, scope
from ....blender import mesh as meshes
from ....blender.instances import shows_instances
from ....blender.mesh import Offending
from ....blender.properties import keep, kept
from ....blender.transforms import channel_matrix
from ....core import files, mesh_parts, pausing, polygons
from ....core.errors import ReadError, WriteError
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Message, Report, counted, joined, say
from ....formats import HEAD_SIZE, detect
from ....formats.xray import cform, dm, err, hom, level_ai, occluders, som, wallmarks
from ....formats.xray.game_tree import tree_of
from ...plan import FilePlan, OtherBase
from ..options import LevelExportOptions, LevelImportOptions, Split
from . import details as level_details
from . import game_materials, layer_checks, marks, occluder_colours
from . import materials as level_materials
from . import visuals_exporting as visuals_export
from .file import WANTED, Encoded, ImportedLevelFile, encode_detail_model, gather, listed_objects, report_problems
from .properties import JOINED, NOT_WELDED, become, holder_of, is_new, meshes_of

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Context, Object


SUFFIXES = (".cform", ".hom", ".som", ".details", ".err", ".dm")
_SPLIT = {Split.SECTOR: cform.SECTOR, Split.MATERIAL: cform.MATERIAL}

COLOURS = {
    "CFORM": (0.75, 0.75, 0.75, 1.0),
    "HOM": (0.95, 0.6, 0.2, 1.0),
    "SOM": (0.3, 0.75, 0.35, 1.0),
    "ERR": (0.95, 0.15, 0.15, 1.0),
    "DM": level_details.MODEL_COLOUR,
    "DETAILS": (0.4, 0.6, 0.3, 1.0),
    "AI": (0.3, 0.8, 0.9, 1.0),
    "WALLMARKS": (0.6, 0.5, 0.4, 1.0),
    "PARTICLES": (0.95, 0.6, 0.3, 1.0),
    "WEATHER": (0.5, 0.7, 0.95, 1.0),
    "SOUNDS": (0.6, 0.9, 0.5, 1.0),
    "SPAWNED": (0.9, 0.8, 0.4, 1.0),
}
"""Object colours, for viewports that are coloured by object."""


AI_STEPS, OPEN = 15, (0.3, 0.85, 0.95)
"""Steps of an AI map's colours, and the colour without cover; full cover is black."""


def import_file(context: Context, path: Path | str, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """Import a file into the scene, selected and active. Raises `ReadError` before anything is created."""
    result = read_file(path, options, report)
    into = scope.target_collection(context, report, options.collection)
    link(result, into)
    scope.make_current(context, result.objects, result.holder)
    return result


def read_file(path: Path | str, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """Return the objects of a file, not linked to the scene yet. Raises `ReadError`."""
    path = Path(path)
    data = files.read_file(path)
    file_format = detect(path, data[:HEAD_SIZE])
    reader = _READERS.get(file_format.name) if file_format is not None else None
    if reader is None:
        words = "Known are {}"
        raise ReadError("this is not a supported level file", file=str(path), remedy=say(words, ", ".join(SUFFIXES)))
    result = reader(data, path, options, report)
    for obj in result.objects:
        obj.motionbridge_level.kind = result.kind
        obj.color = COLOURS[result.kind]
    if result.holder is not None:
        properties = result.holder.motionbridge_level
        properties.path = str(path)
        keep(properties, "document", data)
    return result


def link(imported_level_file: ImportedLevelFile, into: bpy.types.Collection) -> None:
    """Link all collections and objects, and parent parts to their holder."""
    for below in imported_level_file.collections:
        into.children.link(below)
    for obj in imported_level_file.objects:
        into.objects.link(obj)
        if imported_level_file.holder not in (None, obj) and imported_level_file.kind != "ERR":
            obj.parent = imported_level_file.holder


def _read_collision(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = cform.read(data, str(path), report)
    mesh = cform.decode(document, report)
    names = game_materials.names_for(path, options.games, report)
    # Counted before Blender has a copy, to limit peak memory.
    counts = _collision_counts(mesh)
    numbers = mesh.values(cform.MATERIAL, Domain.FACE)
    if numbers is not None:
        game_materials.warn_of_unknown(numbers, names, path.name, report)
        if not names:
            report.note("game materials have their usual names, not those of a gamemtl.xr", path.name)
    key = mesh.values(_SPLIT.get(options.split, ""), Domain.FACE)
    # A mesh without faces cannot be split.
    parts = [(0, mesh)] if key is None or not len(key) else mesh_parts.split(mesh, key)
    if options.split is not Split.WHOLE and key is None:
        report.warn("the file does not assign faces to sectors; not split", path.name)
    split = key is not None and len(key) > 0
    own_meshes = []
    for number, part in parts:
        values = part.values(cform.MATERIAL, Domain.FACE)
        materials, index = game_materials.slots(np.zeros(0, np.int32) if values is None else values, names)
        title = part.name
        if split:
            title = f"{part.name} sector {number}" if options.split is Split.SECTOR else materials[0].name
        obj = meshes.build(replace(part, name=title, material_index=index), materials, report, flat=True)
        obj.motionbridge_level.is_part = split
        own_meshes.append(obj)
    holder = bpy.data.objects.new(mesh.name, None) if split else own_meshes[0]
    return ImportedLevelFile("CFORM", path.name, holder, own_meshes, counts)


def _collision_counts(mesh: Mesh) -> Message:
    texts = [counted(len(mesh.triangles), "face")]
    for name, noun in ((cform.MATERIAL, "material"), (cform.SECTOR, "sector")):
        values = mesh.values(name, Domain.FACE)
        if values is not None and len(values):
            texts.append(counted(len(level_materials.distinct_numbers(values)), noun))
    return joined([*texts, *_degenerate(mesh)])


def _degenerate(mesh: Mesh) -> list[Message]:
    count = len(polygons.without_area(mesh.positions, mesh.triangles))
    return [say("{} without area", count)] if count else []


def _read_occluders(
    data: bytes, path: Path, options: LevelImportOptions, report: Report, *, kind: str, module: Any
) -> ImportedLevelFile:
    mesh = module.decode(module.read(data, str(path), report), report, options.weld)
    two_sided = mesh.values(occluders.TWO_SIDED, Domain.FACE)
    materials, mesh.material_index = occluder_colours.slots(two_sided, mesh.values(som.OCCLUSION, Domain.FACE))
    texts = [counted(len(mesh.triangles), "face"), say("{} two-sided", int(np.count_nonzero(two_sided)))]
    # Each face stores its index in the file, so that it keeps its values if others are deleted.
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, np.arange(len(mesh.triangles), dtype=np.int32))
    obj = meshes.build(mesh, materials, report, flat=True)
    obj.motionbridge_level.weld = NOT_WELDED if options.weld is None else options.weld
    return ImportedLevelFile(kind, path.name, obj, [obj], joined([*texts, *_degenerate(mesh)]))


def _read_detail_model(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = dm.read(data, str(path), report)
    tree = tree_of(path, options.games, report)
    obj = level_details.build_model(document, tree, report, textures=options.textures)
    faces, vertices = len(document.triangles), len(document.vertices)
    counts = joined([counted(faces, "face"), counted(vertices, "vertex|vertices")])
    return ImportedLevelFile("DM", path.name, obj, [obj], counts)


def _read_errors(data: bytes, path: Path, _options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = err.read(data, str(path), report)
    objects, counts = [], []
    for mesh in err.decode(document, report):
        obj = meshes.build(mesh, [], report, flat=True)
        meshes.select_loose_edges(obj.data)
        objects.append(obj)
        items, noun = (mesh.positions, "point") if mesh.edges is None else (mesh.edges, "edge")
        items, noun = (mesh.triangles, "triangle") if len(mesh.triangles) else (items, noun)
        counts.append(counted(len(items), noun))
    return ImportedLevelFile("ERR", path.name, next(iter(objects), None), objects, joined(counts) or say("no errors"))


def _read_ai_map(data: bytes, path: Path, _options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = level_ai.read(data, str(path), report)
    shape = level_ai.decode(document, path.name)
    slots = level_materials.slots_by_share(shape.attributes[level_ai.COVER].values, AI_STEPS, "open {}%", OPEN)
    materials, shape.material_index = slots
    data_block = meshes.build_polygons(shape, materials)
    obj: Any = bpy.data.objects.new(path.name, data_block)
    texts = [counted(len(document.nodes), "node")]
    for name, words in ((level_ai.ISOLATED, "{} isolated"), (level_ai.ONE_WAY, "{} with one-way links")):
        count = int(np.count_nonzero(shape.attributes[name].values))
        texts += [say(words, count)] if count else []
    return ImportedLevelFile("AI", path.name, obj, [obj], joined(texts))


def _read_wallmarks(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    document = wallmarks.read(data, str(path), report)
    mesh = wallmarks.decode(document, path.name)
    tree = tree_of(path, options.games, report)
    materials = [level_materials.textured(material, tree, options.textures, report) for material in mesh.materials]
    obj = meshes.build(mesh, materials, report, flat=True)
    counts = joined([counted(len(document.marks), "mark"), counted(len(mesh.triangles), "face")])
    return ImportedLevelFile("WALLMARKS", path.name, obj, [obj], counts)


_READERS: dict[str, Callable[[bytes, Path, LevelImportOptions, Report], ImportedLevelFile]] = {
    "cform": _read_collision,
    "hom": partial(_read_occluders, kind="HOM", module=hom),
    "som": partial(_read_occluders, kind="SOM", module=som),
    "dm": _read_detail_model,
    "details": level_details.read,
    "err": _read_errors,
    "ai": _read_ai_map,
    "wallmarks": _read_wallmarks,
    **{name: partial(marks.placed, name) for name in marks.FILES},
}


# Export ---------------------------------------------------------------------------------------------------------------

_ROWS = frozenset({FILE_FACE, FILE_VERTEX})
SUFFIX_OF = {"CFORM": ".cform", "HOM": ".hom", "SOM": ".som", "DETAILS": ".details", "DM": ".dm", "LEVEL": ""}
CHECKED = frozenset({*SUFFIX_OF, "AI"})
"""Kinds that `find_problems` can check."""

_PROBLEMS: dict[str, Callable[[Mesh, LevelExportOptions], Iterator[Problem]]] = {
    "CFORM": lambda mesh, options: cform.find_problems(mesh, options.game_materials),
    "HOM": lambda mesh, _: hom.find_problems(mesh),
    "SOM": lambda mesh, _: som.find_problems(mesh),
    "DM": lambda mesh, _: dm.find_problems(mesh),
}


def plan_export(
    context: Context,
    holder: Object,
    path: Path | str,
    options: LevelExportOptions,
    report: Report,
    *,
    others: Sequence[Object] = (),
) -> FilePlan:
    """Plan the export of ``holder`` to ``path``. Raises `WriteError`. The scene stays unchanged.

    ``others``: further objects of a kind in `JOINED`, whose meshes are written to the same file as new ones.
    """
    kind = holder.motionbridge_level.kind
    if kind not in SUFFIX_OF:
        words = "{!r} is not part of a level"
        raise WriteError(say(words, holder.name), remedy="Click Use in X-Ray Level in the Import panel")
    if kind != "LEVEL":
        _warn_of_unwritten(context.scene, holder, others, report)
    data = b"" if options.anew else kept(holder.motionbridge_level, "document")
    # Updates the matrices of objects that a script moved.
    context.view_layer.update()
    written = [obj for each in (holder, *others) for obj in written_objects(context.scene, each)]
    with scope.evaluated(context, [obj for obj in written if channel_matrix(obj) is None]):
        if kind == "LEVEL":
            return visuals_export.plan(context.scene, holder, path, data, report)
        return FilePlan(str(path), *_encode(context, (holder, *others), data, options, report))


def written_objects(scene: typed.Scene, holder: Object) -> list[Object]:
    """Return the objects whose places are written to the file, or turn and scale its detail models."""
    if holder.motionbridge_level.kind == "LEVEL":
        return [obj for obj in scene.objects if obj.motionbridge_level.level_file == holder]
    models = level_details.models_of(holder) if holder.motionbridge_level.kind == "DETAILS" else []
    return [*meshes_of(holder), *models]


def _encode(
    context: Context, holders: Sequence[Object], data: bytes, options: LevelExportOptions, report: Report
) -> Encoded:
    holder = holders[0]
    kind = holder.motionbridge_level.kind
    if kind == "DETAILS":
        return level_details.plan(context, holder, data, options, report)
    shapes = _gather_each(context, holders, options, report)
    mesh = _joined(holders, shapes, report)
    encoded, changes = _ENCODERS[kind](holder, mesh, data, report)
    for left_out in changes.left_out:
        report.warn(left_out)
    if not len(mesh.triangles):
        report.warn("there is no triangle in it; the game treats the file as missing", holder.name)
    if changes:
        report_problems(_PROBLEMS[kind](mesh, options), holder.name, report)
        for obj, shape in shapes:
            report_problems(occluder_colours.find_miscoloured(obj, shape), obj.name, report)
    return encoded, changes


def export_file(
    context: Context,
    holder: Object,
    path: Path | str,
    options: LevelExportOptions,
    report: Report,
    *,
    others: Sequence[Object] = (),
) -> FilePlan:
    """Write the file atomically; for a level also edited vertices, into the files beside it. Raises `WriteError`.

    ``others`` as in `plan_export`. The scene stays unchanged, unless the imported files were replaced: these are then
    stored as the base.
    """
    plan = plan_export(context, holder, path, options, report, others=others)
    for file_plan in plan.plans:
        files.warn_of_replacing(file_plan.path, report)
    plan.write(backup=options.backup)
    plan.settle_exported(holder.motionbridge_level)
    if names := ", ".join(Path(file_plan.path).name for file_plan in plan.plans if file_plan.path != plan.path):
        report.note(say("also written: {}", names), str(Path(path).parent))
    return plan


def plan_save_back(context: Context, holder: Object, *, if_changed: OtherBase, report: Report) -> FilePlan:
    """Return a plan that writes ``holder`` to its source file. Raises `WriteError`, also if others changed it."""
    properties = holder.motionbridge_level
    path = bpy.path.abspath(properties.path)
    if not path:
        raise WriteError(say("{!r} comes from no file", holder.name), remedy="Export it to one")
    plan = plan_export(context, holder, path, LevelExportOptions(), report)
    files.warn_of_replacing(path, report)
    plan.onto_imported(properties, if_changed)
    return plan


def _gather_each(
    context: Context, holders: Sequence[Object], options: LevelExportOptions, report: Report
) -> list[tuple[Object, Mesh]]:
    """Return the meshes of a file, each with its object. Only those of the first holder have rows of a file."""
    kind = holders[0].motionbridge_level.kind
    shapes = []
    for number, holder in enumerate(holders):
        objects = meshes_of(holder)
        if not objects:
            raise WriteError(say("{!r} has no meshes", holder.name), remedy="Import the file again")
        for obj in objects:
            mesh = gather(context, obj, kind, options, report).mesh
            if number:
                mesh.attributes = {name: mesh.attributes[name] for name in mesh.attributes.keys() - _ROWS}
            shapes.append((obj, mesh))
    return shapes


def _joined(holders: Sequence[Object], shapes: Sequence[tuple[Object, Mesh]], report: Report) -> Mesh:
    """Return the meshes of a file as one. One without an attribute has the value of new faces."""
    holder = holders[0]
    if len(shapes) == 1 and shapes[0][0] == holder:
        return shapes[0][1]
    stored = {
        name: attribute.values.dtype
        for _, mesh in shapes
        for name, attribute in mesh.attributes.items()
        if name not in _ROWS
    }
    for obj, mesh in shapes:
        for name in sorted(stored.keys() - mesh.attributes.keys()):
            value = 0 if obj.motionbridge_level.is_part else DEFAULTS[obj.motionbridge_level.kind][name]
            if obj.motionbridge_level.is_part:
                report.warn(say("the attribute {!r} is gone, and written as 0", name), obj.name)
            mesh.attributes[name] = Attribute(Domain.FACE, np.full(len(mesh.triangles), value, stored[name]))
    return mesh_parts.join([mesh for _, mesh in shapes], holder.name)


def _warn_of_unwritten(scene: typed.Scene, holder: Object, others: Sequence[Object], report: Report) -> None:
    """Warn of objects that look like a part of the file, but are not written to it."""
    own, below = (
        {obj for owner in (holder, *others) for obj in (owner, *meshes_of(owner))},
        set(holder.children_recursive),
    )
    kind, path = holder.motionbridge_level.kind, holder.motionbridge_level.path
    ground = holder.motionbridge_level.scattered
    copies, new, strangers, not_written = [], [], [], []
    for obj in sorted(set(scene.objects) - own, key=lambda obj: str(obj.name)):
        level = obj.motionbridge_level
        lost = level.is_part and holder_of(obj) == obj
        if level.kind == kind and (lost or (path and level.path == path and holder_of(obj) == obj)):
            copies.append(obj)
        elif level.kind == kind and kind in JOINED and is_new(obj):
            new.append(obj)
        elif obj in below and obj.type == "MESH" and level.kind == "NONE" and obj != ground:
            strangers.append(obj)
        elif obj in below and shows_instances(obj):
            not_written.append(obj)
    if copies:
        sentence = "objects that were separated or copied from it are not written; join them to it (Ctrl J): {}"
        report.warn(say(sentence, listed_objects(copies)), holder.name)
    if new:
        words = "new meshes of its kind are not written; select them too for an export, or join them to it (Ctrl J): {}"
        report.warn(say(words, listed_objects(new)), holder.name)
    if strangers:
        sentence = "meshes below it that are no part of it are not written; join them to it (Ctrl J): {}"
        report.warn(say(sentence, listed_objects(strangers)), holder.name)
    if not_written:
        sentence = "instances are not written; make them real (Object > Apply) and join them to it: {}"
        report.warn(say(sentence, listed_objects(not_written)), holder.name)


def _encode_collision(_holder: Object, mesh: Mesh, data: bytes, _report: Report) -> Encoded:
    return _encoded(cform, mesh, data)


def _encode_occluders(module: Any, holder: Object, mesh: Mesh, data: bytes, _report: Report) -> Encoded:
    distance = float(holder.motionbridge_level.weld)
    return _encoded(module, mesh, data, None if distance < 0 else distance)


def _encoded(module: Any, mesh: Mesh, data: bytes, *more: Any) -> Encoded:
    """Encode a mesh with the module of its format onto the file ``data``, if that is not empty."""
    document, changes = module.encode(mesh, module.read(data, "", Report()) if data else None, *more)
    return module.write(document) if changes else data, changes


_ENCODERS: dict[str, Callable[[Any, Mesh, bytes, Report], Encoded]] = {
    "CFORM": _encode_collision,
    "HOM": partial(_encode_occluders, hom),
    "SOM": partial(_encode_occluders, som),
    "DM": encode_detail_model,
}


def find_problems(
    context: Context, holder: Object, report: Report, options: LevelExportOptions | None = None
) -> list[Offending]:
    """Return what the game or its tools would refuse, and warnings, with the elements of Blender's meshes."""
    options = LevelExportOptions() if options is None else options
    kind = holder.motionbridge_level.kind
    if kind == "DETAILS":
        # A vertex of the gathered ground is a slot, which is a face of the mesh.
        problems = level_details.find_problems(holder)
        return [Offending(holder, problem, problem.elements, problem.elements[:0]) for problem in problems]
    if kind in ("LEVEL", "AI"):
        across = layer_checks.find(context.scene, holder)
        return [Offending(obj, problem, problem.elements, problem.elements[:0]) for obj, problem in across]
    result = []
    shapes = meshes_of(holder)
    for number, obj in enumerate(shapes):
        pausing.pause(number / len(shapes))
        shape = gather(context, obj, kind, options, report)
        checks = (_PROBLEMS[kind](shape.mesh, options), occluder_colours.find_miscoloured(obj, shape.mesh))
        for problem in itertools.chain(*checks):
            pausing.pause((number + 0.5) / len(shapes))
            elements = problem.elements
            on_faces = problem.domain is Domain.FACE
            if options.modifiers and modifiers.is_modified(obj):
                report.note(modifiers.NOTHING_SELECTED, obj.name)
                elements = elements[:0]
            faces = np.unique(shape.faces[elements]) if on_faces else elements[:0]
            vertices = elements[:0] if on_faces else elements[elements < len(obj.data.vertices)]
            result.append(Offending(obj, problem, faces[faces >= 0].astype(np.int64), vertices))
    return result


# Edits ----------------------------------------------------------------------------------------------------------------

select = meshes.select_elements
DEFAULTS: dict[str, dict[str, Any]] = {
    "CFORM": {cform.MATERIAL: 0, cform.SUPPRESS_SHADOWS: False, cform.SUPPRESS_WALLMARKS: False, cform.SECTOR: 0},
    "HOM": {occluders.TWO_SIDED: True},
    "SOM": {occluders.TWO_SIDED: True, som.OCCLUSION: som.DEFAULT_OCCLUSION},
    "DM": {},
    "DETAILS": {},
}
"""Kind -> attribute values for the faces of a mesh that was made in Blender."""


@dataclass(frozen=True)
class Counts:
    """Number of changed faces, and of selected faces."""

    changed: int
    selected: int


def begin(context: Context, obj: Object, kind: str) -> None:
    """Make a mesh part of a level: add missing attributes of this kind, and materials that show them.

    A mesh of another kind, such as a copy of a surface that becomes collision, no longer belongs to its file.
    """
    become(obj, kind)
    if kind == "DETAILS":
        level_details.begin(context, obj)
        return
    with scope.object_mode(context):
        for name in DEFAULTS[kind]:
            if attributes.gather(obj.data, name, *WANTED[kind][name]) is None:
                attributes.write(obj.data, name, Domain.FACE, _face_values(obj.data, kind, name))
        show(obj, kind)


def _face_values(data: typed.Mesh, kind: str, name: str) -> NDArray[Any]:
    """Return (faces,) the values of an attribute; those of new faces if the mesh does not have it."""
    domain, dtype = WANTED[kind][name]
    stored = attributes.gather(data, name, domain, dtype)
    return np.full(len(data.polygons), DEFAULTS[kind][name], dtype) if stored is None else stored


def selected_faces(data: typed.Mesh) -> NDArray[np.bool_]:
    """Return (faces,) which are selected, in Object Mode."""
    selected = np.zeros(len(data.polygons), np.bool_)
    if len(selected):
        data.polygons.foreach_get("select", selected)
    return selected


def selected_values(obj: Object, kind: str) -> dict[str, NDArray[Any]]:
    """Return attribute name -> values (selected,) of the selected faces, the active one first, in Object Mode."""
    data = obj.data
    selected = selected_faces(data)
    order = np.flatnonzero(selected)
    if 0 <= data.polygons.active < len(selected):
        order = order[np.argsort(order != data.polygons.active, kind="stable")]
    values = {name: _face_values(data, kind, name) for name in DEFAULTS[kind]}
    if kind == "CFORM":
        values[cform.MATERIAL] = game_materials.of_faces(obj, values[cform.MATERIAL])
    return {name: column[order] for name, column in values.items()}


def joined_values(columns: Sequence[Mapping[str, NDArray[Any]]], name: str) -> NDArray[Any]:
    """Return the values of several meshes as one array."""
    return np.concatenate([column[name] for column in columns])


def set_values(
    context: Context,
    obj: Object,
    kind: str,
    values: Mapping[str, Any],
    names: Mapping[int, str] | None = None,
) -> Counts:
    """Set attribute values of the selected faces, in Object or Edit Mode.

    ``names``: game material number -> name, for Blender materials that are created.
    """
    with scope.object_mode(context):
        data = obj.data
        selected = selected_faces(data)
        changed = np.zeros(len(selected), np.bool_)
        for name, value in values.items():
            current = _face_values(data, kind, name)
            if kind == "CFORM" and name == cform.MATERIAL:
                game_materials.assign(data, selected, value, (names or {}).get(value, ""))
            changed |= selected & (current != current.dtype.type(value))
            current[selected] = value
            attributes.write(data, name, Domain.FACE, current)
        show(obj, kind)
    return Counts(int(changed.sum()), int(selected.sum()))


def set_slots(context: Context, ground: Object, given: level_details.SlotValues) -> Counts:
    """Set values of the slots of selected faces, in Object or Edit Mode."""
    with scope.object_mode(context):
        selected = selected_faces(ground.data)
        changed = level_details.set_slots(ground, selected, given)
    return Counts(int(changed.sum()), int(selected.sum()))


def refresh(context: Context, obj: Object, shown_by: str = "") -> None:
    """Update the colours of faces from attributes, which a script may have changed, in Object or Edit Mode.

    ``shown_by``: what colours the ground from now on; "" to keep it. Raises `WriteError`.
    """
    level = obj.motionbridge_level
    before = level.shown_by
    with scope.object_mode(context):
        if level.kind != "DETAILS":
            show(obj, level.kind)
            return
        try:
            level.shown_by = shown_by or before
            level_details.show(obj)
        except WriteError:
            level.shown_by = before
            raise


def show(obj: Any, kind: str) -> None:
    """Colour the faces by their attributes."""
    data = obj.data
    if kind == "CFORM":
        numbers = attributes.gather(data, cform.MATERIAL, *WANTED[kind][cform.MATERIAL])
        if not len(data.materials) and numbers is not None:
            level_materials.clear_slots(data, game_materials.slots(numbers, {}))
    elif kind in ("HOM", "SOM"):
        values = [_face_values(data, kind, name) for name in DEFAULTS[kind]]
        level_materials.clear_slots(data, occluder_colours.slots(*values))
    data.update()
