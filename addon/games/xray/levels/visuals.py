"""Import of a compiled level's visuals: surfaces, trees, impostors, portals, lights, glows.

`level` contains the structure, `level.geom` beside it the vertices. Visuals that draw the same range of vertices with
the same shader share a mesh. Without `level.geom`, as in mods that contain only changed files, surfaces and trees are
shown as boxes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ....blender import material
from ....blender import mesh as meshes
from ....blender.properties import keep
from ....core import files
from ....core.errors import ReadError
from ....core.model import FILE_VERTEX, Attribute, Domain, Material, Mesh, PolygonMesh
from ....core.report import Message, Report, counted, joined, say
from ....formats.trees import folder_tree
from ....formats.xray import level as levels
from ....formats.xray.game_tree import GameTree, tree_of
from ....formats.xray.level import geometry, structure
from ....formats.xray.level import mesh as visual_mesh
from ....formats.xray.level.document import Kind, Level
from ....formats.xray.level.geometry import Geometry
from ..options import LevelFolderOptions
from . import light, marks, tree_sets
from . import materials as level_materials
from .file import ImportedLevelFile, new_object
from .light import HEMI, LIGHT, LIGHT_MAP

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Object


FILE = "level"
GEOMETRY = "level.geom"
WIND, VISUAL = "wind", "visual"
"""Attributes: wind stiffness; index of the visual."""
SHEAR_TOLERANCE = 1e-3
"""Cosine between two axes of a tree above which Blender's location, rotation and scale cannot show its transform."""
OBJECTS_PER_STEP = 64
"""Number of created meshes or objects after which the import may be stopped."""

Step = Callable[[float], None]


def read(path: Path, options: LevelFolderOptions, report: Report, step: Step) -> list[ImportedLevelFile]:
    """Return the chosen contents of a `level`, by kind, not linked to the scene yet. Raises `ReadError`.

    ``step`` is called with the finished fraction, 0 to 1.
    """
    data = files.read_file(path)
    document = levels.read(data, str(path), report)
    # The engine searches the level's folder first.
    tree = replace(tree_of(path, options.games, report), level_first=True)
    wanted = options.surfaces or options.trees
    geometry_path = tree.find_beside(path.with_name(GEOMETRY)) if wanted else None
    own_geometry = _geometry(path, geometry_path, report) if wanted else None
    level = _Reading(document, path, _Materials(structure.shaders(document), tree, options.textures, report), report)
    families = [("SURFACE", visual_mesh.SURFACES)] * options.surfaces + [("TREE", visual_mesh.TREES)] * options.trees
    if own_geometry is None:
        result = [_boxes(level, kind, types, by_sector=options.sectors) for kind, types in families]
    else:
        result = []
        rows = visual_mesh.drawn(document, own_geometry, report, simplified(options.detail))
        of_type = document.visuals.types[rows["visual"]]
        for number, (kind, types) in enumerate(families):

            def part(done: float, number: int = number) -> None:
                step((number + done) / len(families))

            result.append(
                _drawn(level, own_geometry, kind, rows[np.isin(of_type, types)], part, by_sector=options.sectors)
            )
    if options.impostors:
        trees = [obj for level_file in result if level_file.kind == "TREE" for obj in level_file.all_objects]
        result.append(_impostors(level, trees))
    if options.portals:
        result.append(marks.portals(document, path.name, report))
    if options.lights:
        result.append(marks.lights(document, path.name))
    if options.glows:
        result.append(marks.glows(document, path.name))
    result = [level_file for level_file in result if level_file.all_objects]
    _remember(path, data, result, options, geometry_path if own_geometry is not None else None)
    return result


def _remember(
    path: Path,
    data: bytes,
    level_files: list[ImportedLevelFile],
    options: LevelFolderOptions,
    geometry_path: Path | None,
) -> None:
    """Create an empty that stores the file and what was imported from it; all objects refer to it.

    ``geometry_path``: `level.geom`, None if surfaces and trees are not shown or only as boxes.
    """
    holder = new_object(f"{path.parent.name} {FILE}", None, "LEVEL")
    properties = holder.motionbridge_level
    properties.path = str(path)
    keep(properties, "document", data)
    as_boxes = geometry_path is None
    if geometry_path is not None:
        properties.geometry = properties.geometry_imported = digest_of(geometry_path)
        properties.geometry_folder = str(geometry_path.parent)
        properties.detail = options.detail
    kinds = [imported.kind for imported in level_files if not (as_boxes and imported.kind in _FAMILIES)]
    properties.imported = " ".join(kinds)
    for level_file in level_files:
        objects = level_file.all_objects
        parts = {part for obj in objects for part in tree_sets.parts_of(obj.motionbridge_level.parts).values()}
        for obj in (*objects, *parts):
            obj.motionbridge_level.level_file = holder
        if level_file.kind in _FAMILIES and not as_boxes:
            rows = [row for obj in objects for row in tree_sets.visuals_of(obj) or [obj.motionbridge_level.row]]
            keep(properties, _FAMILIES[level_file.kind], np.array(rows, "<i4").tobytes())


def simplified(detail: float) -> float:
    """Return how much progressive visuals are simplified, 0 to 1, without the 32-bit rounding of ``detail``."""
    return 1.0 - round(detail, 6)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a large file. Raises `ReadError`."""
    return hashlib.sha256(files.map_file(path)).hexdigest()


def find_geometry(holder: Object, name: str) -> Path | None:
    """Return `level.geom` or `level.geomx` beside a level, else where its `level.geom` was at its import, or None."""
    properties = holder.motionbridge_level
    folders = [Path(bpy.path.abspath(properties.path)).parent]
    folders += [Path(properties.geometry_folder)] if properties.geometry_folder else []
    return next(filter(None, (folder_tree(folder).find(name) for folder in folders)), None)


def _geometry(path: Path, beside: Path | None, report: Report) -> Geometry | None:
    """Return the `level.geom` of a `level`; None, with a warning, if surfaces can only be shown as boxes."""
    if beside is None:
        report.warn("level.geom is not beside it: surfaces and trees are shown as boxes", path.name)
        return None
    inside = Report()
    try:
        document = geometry.read(files.map_file(beside), str(beside), inside)
    except ReadError as refusal:
        report.warn(say("surfaces and trees are shown as boxes: {}", str(refusal).rstrip(".")), path.name)
        return None
    report.include(inside)
    if str(beside.parent).lower() != str(path.parent).lower():
        report.note(say("level.geom is not beside it; that of the game is used: {}", str(beside)), path.name)
    return document


@dataclass
class _Materials:
    """Blender materials of shader strings, built on first use."""

    shaders: list[structure.Shader]
    tree: GameTree
    textures: bool
    report: Report

    def __post_init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._images: dict[str, Any] = {}
        self._like: dict[tuple[bool, ...], Any] = {}

    def get(self, number: int) -> typed.Material:
        """Return the material of a shader by index; one without names if the level has no such shader."""
        if number not in self._made:
            known = 0 <= number < len(self.shaders)
            self._made[number] = self._build(self.shaders[number] if known else structure.Shader("", ""))
        return self._made[number]

    def _build(self, shader: structure.Shader) -> Any:
        texture = shader.texture
        image = self._image(texture)
        name = texture.replace("/", "\\").rpartition("\\")[2] or shader.name or "no shader"
        surface = Material(name, shader.textures, shader.name)
        names = shader.textures.split(",")[1:3]
        lightmaps = [light.as_numbers(self._image(lightmap, _note_missing_lightmap)) for lightmap in names]
        kind = (shader.see_through, *(there is not None for there in (image, *lightmaps)))
        known = len(bpy.data.materials)
        used = material.build(surface, image, see_through=shader.see_through, like=self._like.get(kind))
        is_new = len(bpy.data.materials) > known
        used = light.add(used, lightmaps, is_new=is_new)
        if is_new:
            self._like.setdefault(kind, used)
        return used

    def _image(self, texture: str, report_missing: Callable[[str, Report], None] | None = None) -> Any:
        if self.textures and texture and texture not in self._images:
            self._images[texture] = level_materials.find_image(texture, self.tree, self.report, report_missing)
        return self._images.get(texture)


def _note_missing_lightmap(texture: str, report: Report) -> None:
    report.note(say("{:# lightmap is|# lightmaps are} missing: light is that of the vertices", 1), texture)


@dataclass
class _Reading:
    """Data that the import of all kinds of visuals needs."""

    document: Level
    path: Path
    materials: _Materials
    report: Report

    def __post_init__(self) -> None:
        self.name = self.document.name
        self.sectors = visual_mesh.sectors(self.document)


def _drawn(
    level: _Reading, own_geometry: Geometry, kind: str, rows: NDArray[np.void], step: Step, *, by_sector: bool
) -> ImportedLevelFile:
    """Create objects for surfaces or trees, ``rows`` of `DRAWN`; equal rows but for the visual share a mesh."""
    keys = np.stack([rows[name] for name in rows.dtype.names or () if name != "visual"], axis=1)
    _, first, data_of_row = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    datas = _meshes(level, own_geometry, rows[first], lambda done: step(done * 0.75))
    titles = structure.titles(level.document, rows["visual"])
    pairs = list(zip(rows["visual"].tolist(), data_of_row.ravel().tolist(), strict=True))
    visuals = rows["visual"]
    if kind == "TREE":
        objects, visuals = _trees(level, pairs, titles, datas, step)
        counts = [counted(len(objects), "tree"), counted(len(datas), "mesh|meshes")]
    else:
        objects = []
        for number, (visual, data) in enumerate(pairs):
            objects.append(new_object(titles[number], datas[data], kind, visual))
            if number % OBJECTS_PER_STEP == 0:
                step(0.75 + 0.25 * number / len(rows))
        counts = [counted(len(objects), "object")]
    counts.append(counted(int(rows["triangles"].sum()), "face"))
    return _by_sector(level, kind, objects, level.sectors[visuals] if by_sector else None, counts)


def _trees(
    level: _Reading, pairs: list[tuple[int, int]], titles: list[str], datas: list[typed.Mesh], step: Step
) -> tuple[list[Object], NDArray[np.int64]]:
    """Create the trees of (visual, index in ``datas``); return them, and (trees,) their first visuals."""
    visuals = np.array([visual for visual, _ in pairs], np.int64)
    tree_of_pair = visual_mesh.tree_places(level.document, visuals)
    parts_of: dict[int, list[tuple[int, int]]] = {}
    for pair, number in zip(pairs, tree_of_pair.tolist(), strict=True):
        parts_of.setdefault(number, []).append(pair)
    _, first = np.unique(tree_of_pair, return_index=True)
    trees = tree_sets.build([titles[number] for number in first.tolist()], list(parts_of.values()), datas)
    matrices = visual_mesh.tree_matrices(level.document, visuals[first])
    stored = level.document.visuals.fixed[Kind.TREE][level.document.visuals.rows_of(Kind.TREE)[visuals[first]]]
    lights = zip(stored["scale"].tolist(), stored["bias"].tolist(), strict=True)
    for number, (tree, matrix, (scale, bias)) in enumerate(zip(trees, matrices, lights, strict=True)):
        tree.matrix_world = Matrix(matrix.tolist())
        light.keep_tree_light(tree, scale, bias)
        if number % OBJECTS_PER_STEP == 0:
            step(0.75 + 0.25 * number / len(trees))
    _warn_of_trees(matrices, level)
    return trees, visuals[first]


def _warn_of_trees(matrices: NDArray[np.float32], level: _Reading) -> None:
    axes = matrices[:, :3, :3].astype(np.float64)
    lengths = np.linalg.norm(axes, axis=1)
    hidden = int((lengths.max(axis=1, initial=0) < structure.INVISIBLE_BELOW).sum())
    if hidden:
        level.report.note(say("{0:# tree is|# trees are} hidden by {0:its|their} scale", hidden), level.path.name)
    unit = axes / np.where(lengths == 0, 1, lengths)[:, None, :]
    between = np.abs(np.swapaxes(unit, 1, 2) @ unit - np.eye(3)).max(axis=(1, 2), initial=0)
    # A scale of 0 makes the diagonal differ by 1; that is not shear.
    sheared = int(((between > SHEAR_TOLERANCE) & (lengths.min(axis=1, initial=np.inf) > 0)).sum())
    if sheared:
        problem = say("{:# tree is|# trees are} sheared, which Blender's objects cannot show", sheared)
        level.report.warn(problem, level.path.name)


def _meshes(level: _Reading, own_geometry: Geometry, rows: NDArray[np.void], step: Step) -> list[typed.Mesh]:
    """Create a mesh for each of ``rows`` (meshes,) of `DRAWN`; decodes one vertex buffer at a time."""
    result: list[Any] = [None] * len(rows)
    order = np.argsort(rows["vertex_buffer"], kind="stable").tolist()
    titles = structure.titles(level.document, rows["visual"])
    buffer, vertices, lost = -1, visual_mesh.Vertices(np.zeros((0, 3), np.float32)), 0
    for done, number in enumerate(order):
        row = rows[number]
        if row["vertex_buffer"] != buffer:
            buffer = int(row["vertex_buffer"])
            vertices = visual_mesh.decode_vertices(own_geometry.vertices[buffer])
        triangles = visual_mesh.triangles(row, own_geometry)
        triangles = triangles[~meshes.folded_faces(triangles)]
        lost += int(row["triangles"]) - len(triangles)
        shape = _shape(titles[number], vertices, row, triangles)
        result[number] = meshes.build_polygons(shape, [level.materials.get(int(row["shader"]))])
        if done % OBJECTS_PER_STEP == 0:
            step(done / len(rows))
    if lost:
        sentence = "{:# face|# faces} folded to a line or with missing vertices; not shown"
        level.report.warn(say(sentence, lost), level.path.name)
    return result


def _shape(name: str, vertices: visual_mesh.Vertices, row: np.void, triangles: NDArray[np.int32]) -> PolygonMesh:
    """Return the geometry of a row of `DRAWN` with all its attributes."""
    base = int(row["vertex_base"])
    here = slice(base, base + int(row["vertex_count"]))
    corners = triangles.reshape(-1)
    shape = PolygonMesh(
        name,
        vertices.positions[here],
        np.full(len(triangles), 3, np.int32),
        corners,
        None if vertices.uvs is None else vertices.uvs[here][corners],
        None if vertices.normals is None else vertices.normals[here],
    )
    if vertices.light_map_uvs is not None:
        shape.more_uvs[LIGHT_MAP] = vertices.light_map_uvs[here][corners]
    for attribute, values in ((HEMI, vertices.hemi), (LIGHT, vertices.colours), (WIND, vertices.wind)):
        if values is not None:
            shape.attributes[attribute] = Attribute(Domain.VERTEX, values[here])
    return shape


def _boxes(level: _Reading, kind: str, types: Sequence[int], *, by_sector: bool) -> ImportedLevelFile:
    """Create the boxes of surfaces or trees as edges, one mesh for each sector."""
    visuals = np.flatnonzero(np.isin(level.document.visuals.types, types))
    ends = structure.boxes(level.document, visuals)
    sectors = level.sectors[visuals] if by_sector else np.zeros(len(visuals), np.int64)
    objects, box_sectors = [], np.unique(sectors)
    for sector in box_sectors.tolist():
        inside = sectors == sector
        positions, edges = structure.wires(ends[inside])
        name = f"{level.name} {_FAMILIES[kind]}"
        boxes = Mesh(f"{name} {_sector(sector)}" if by_sector else name, positions, np.zeros((0, 3), np.int32))
        boxes.edges = edges
        boxes.attributes[VISUAL] = Attribute(Domain.VERTEX, np.repeat(visuals[inside].astype(np.int32), 8))
        mesh = meshes.build(boxes, [], level.report)
        mesh.motionbridge_level.kind = kind
        objects.append(mesh)
    counts = [counted(len(visuals), "box|boxes")]
    return _by_sector(level, kind, objects, box_sectors if by_sector else None, counts)


_FAMILIES = {"SURFACE": "surfaces", "TREE": "trees"}


def _sector(number: int) -> str:
    return f"sector {number:03}" if number >= 0 else "no sector"


def _by_sector(
    level: _Reading, kind: str, objects: list[Object], sectors: NDArray[np.int64] | None, counts: list[Message]
) -> ImportedLevelFile:
    """Link objects to a collection for each of their ``sectors`` (objects,); None leaves them unlinked."""
    if sectors is None:
        return ImportedLevelFile(kind, level.path.name, None, objects, joined(counts))
    inside: dict[int, Any] = {
        number: bpy.data.collections.new(f"{level.name} {_FAMILIES[kind]} {_sector(number)}")
        for number in np.unique(sectors).tolist()
    }
    for obj, number in zip(objects, sectors.tolist(), strict=True):
        inside[number].objects.link(obj)
    counts.append(counted(len(inside), "sector"))
    return ImportedLevelFile(kind, level.path.name, None, [], joined(counts), list(inside.values()), held=objects)


def _impostors(level: _Reading, trees: Sequence[Object]) -> ImportedLevelFile:
    """Create an object of quads for each impostor, which follows its tree if that is among ``trees``."""
    document = level.document
    all_impostors = structure.impostors(document)
    impostor_of = visual_mesh.impostor_of(document)
    trees_of: dict[int, set[Object]] = {}
    for tree in trees:
        for visual in tree_sets.visuals_of(tree):
            trees_of.setdefault(int(impostor_of[visual]), set()).add(tree)
    # Named after what they stand for: all have the same texture.
    named = all_impostors.visuals.copy()
    of_impostor = np.flatnonzero(impostor_of >= 0)
    parents, first = np.unique(impostor_of[of_impostor], return_index=True)
    named[np.searchsorted(named, parents)] = of_impostor[first]
    shaders = document.visuals.shaders
    result = []
    for number, title in enumerate(structure.titles(document, named)):
        visual = int(all_impostors.visuals[number])
        shape = _impostor(all_impostors, number, f"{title} LOD")
        data = meshes.build_polygons(shape, [level.materials.get(int(shaders[visual]))])
        obj = new_object(shape.name, data, "LOD", visual)
        if len(trees_of.get(visual, ())) == 1:
            tree_sets.follow(obj, next(iter(trees_of[visual])))
        result.append(obj)
    quads = structure.FACETS * len(result)
    counts = joined([counted(len(result), "impostor"), counted(quads, "face")])
    return ImportedLevelFile("LOD", level.path.name, None, result, counts)


def _impostor(all_impostors: structure.Impostors, number: int, name: str) -> PolygonMesh:
    """Return the quads of one impostor, by its index among all."""
    count = 4 * structure.FACETS
    here = slice(number * count, (number + 1) * count)
    shape = PolygonMesh(
        name,
        all_impostors.positions[here],
        np.full(structure.FACETS, 4, np.int32),
        np.arange(count, dtype=np.int32),
        all_impostors.uvs[here],
    )
    visuals = np.full(structure.FACETS, all_impostors.visuals[number], np.int32)
    shape.attributes = {
        HEMI: Attribute(Domain.VERTEX, all_impostors.hemi[here]),
        LIGHT: Attribute(Domain.VERTEX, all_impostors.light[here]),
        VISUAL: Attribute(Domain.FACE, visuals),
        FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(here.start, here.stop, dtype=np.int32)),
    }
    return shape
