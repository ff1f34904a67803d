"""Editable Arma models (`.p3d`, MLOD) from Blender: gather LODs, points and proxies, encode them, plan the file.

A LOD that was not edited keeps its bytes, and so does a LOD that was not imported. Each mesh with a LOD's properties is
one; empties are the points of the Memory LOD, and proxies. Everything is written in model space: the space of the
armature that the objects are parented to, else the world.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...blender import armature, material, modifiers, sharp_mesh
from ...blender.attributes import Wanted
from ...blender.properties import damaged, kept
from ...core import files, names
from ...core.changes import Changes, Noun, Part
from ...core.errors import WriteError
from ...core.mesh_parts import transformed_polygons
from ...core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, PolygonMesh, VertexWeights
from ...core.report import Message, Report, listed, say
from ...formats.arma import flag_groups, lod_kinds, p3d, renaming
from ...formats.arma.p3d import check
from ...formats.arma.p3d.document import FLASHPOINT
from ..plan import FilePlan, OtherBase, warn_of_pasted
from . import textures
from .model_check import GatheredLod
from .options import ModelExportOptions
from .properties import POINT_SIZE, PROXY_SIZE, level_of, model_of, others_of
from .selections import selection_of

if TYPE_CHECKING:
    from ...blender.typed import Context, Mesh, Object

Floats = NDArray[np.float64]

VERSION = 0x101
IMPORT_OTHERS = "Use Import Other LODs in the sidebar"
OTHER_RESOLUTION = (
    "Give one of them another number (Set Arma LOD in the sidebar), join both (Ctrl J) or delete one; of several "
    "models, select the LODs of one and use File > Export with Selected Only"
)
WANTED: Wanted = {
    FILE_VERTEX: (Domain.VERTEX, np.int32),
    FILE_FACE: (Domain.FACE, np.int32),
    p3d.MASS_ATTRIBUTE: (Domain.VERTEX, np.float32),
    flag_groups.VERTEX_FLAGS: (Domain.VERTEX, np.int32),
    flag_groups.FACE_FLAGS: (Domain.FACE, np.int32),
}
POINT_TOLERANCE = 1e-5
"""Metres by which a point may be off its imported place: Blender computes the place of a child in 32 bits."""
SCALED = 1e-3
"""Difference of a proxy's scale from 1 that is reported."""
AT_REST = 1e-6
"""Largest element of a transform's difference from the identity that counts as none."""


def add_mark(context: Context, active: Object, kind: str, name: str) -> Object:
    """Return a new empty at the 3D cursor: a point of the active object's model, or a proxy of its LOD."""
    label = name.replace("\\", "/").rpartition("/")[2] if kind == "PROXY" else name
    obj: Any = bpy.data.objects.new(names.shortened(label or "point"), None)
    obj.empty_display_type = "ARROWS" if kind == "PROXY" else "SPHERE"
    obj.empty_display_size = PROXY_SIZE if kind == "PROXY" else POINT_SIZE
    obj.location = context.scene.cursor.location
    mark = obj.motionbridge_arma_mark
    mark.kind, mark.game_name, mark.model = kind, name, model_of(active)
    level = level_of(active)
    if level is not None:
        obj.parent = level.id_data
        obj.matrix_parent_inverse = level.id_data.matrix_world.inverted()
    for collection in active.users_collection[:1] or [context.scene.collection]:
        collection.objects.link(obj)
    return obj


# What to export -------------------------------------------------------------------------------------------------------


@dataclass
class Chosen:
    """Objects to export: ``levels`` are meshes with a LOD's properties, ``marks`` points and proxies.

    ``model``: the collection that stores the imported file, None for a new model. ``copies``: scenes that hold the
    same imported parts again, and are left out.
    """

    model: Any = None
    levels: list[Object] = field(default_factory=list)
    marks: list[Object] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)

    @property
    def parts(self) -> list[Object]:
        """All objects."""
        return [*self.levels, *self.marks]

    @staticmethod
    def of(model: Any, objects: Iterable[Object]) -> Chosen:
        """Return the objects of one model among these; without a ``model`` those that belong to no imported one."""
        result = Chosen(model)
        for obj in objects:
            level, mark = obj.motionbridge_arma_level, obj.motionbridge_arma_mark
            if obj.type == "MESH" and level.is_level and level.model == model:
                result.levels.append(obj)
            elif mark.kind != "NONE" and (mark.model or _model_above(obj)) == model:
                result.marks.append(obj)
        return result

    @staticmethod
    def of_scenes(model: Any, scene: Any) -> Chosen:
        """Return the parts of an imported model in ``scene``, and those that were moved to other scenes.

        Another scene with an imported part that is also another object of ``scene`` is a copy (New Scene > Full Copy).
        """
        result = Chosen.of(model, scene.objects)
        scenes: Any = bpy.data.scenes
        for other in scenes:
            known = set(result.parts)
            moved = Chosen.of(model, (obj for obj in other.objects if obj not in known))
            again = {_imported_part(obj) for obj in moved.parts} & {_imported_part(obj) for obj in known}
            if again - {None}:
                result.copies.append(other.name)
            else:
                result.levels += moved.levels
                result.marks += moved.marks
        return result


def _is_part(obj: Object) -> bool:
    is_level = obj.type == "MESH" and obj.motionbridge_arma_level.is_level
    return is_level or obj.motionbridge_arma_mark.kind != "NONE"


def _imported_part(obj: Object) -> Any:
    """Return what tells an imported LOD, point or proxy from the others of its model, None for a new one."""
    level, mark = obj.motionbridge_arma_level, obj.motionbridge_arma_mark
    if obj.type == "MESH":
        return (level.index, level.resolution) if level.index >= 0 else None
    return (mark.kind, mark.level, mark.source, mark.game_name) if mark.source >= 0 else None


def _model_above(obj: Object) -> Any:
    """Return the imported model of the nearest ancestor that is a LOD, or None."""
    above = _level_above(obj)
    return above.motionbridge_arma_level.model if above is not None else None


def _level_above(obj: Object) -> Any:
    above = obj.parent
    while above is not None and not (above.type == "MESH" and above.motionbridge_arma_level.is_level):
        above = above.parent
    return above


def plan_export(context: Context, chosen: Chosen, path: str, options: ModelExportOptions, report: Report) -> FilePlan:
    """Return the file that an export would write to ``path``. The scene stays unchanged. Raises `WriteError`."""
    files.warn_of_replacing(path, report)
    return _Exporter(context, chosen, options, report).plan(path)


def plan_save_back(
    context: Context, chosen: Chosen, options: ModelExportOptions, *, if_changed: OtherBase, report: Report
) -> FilePlan:
    """Return the plan for the file that a model was imported from. Raises `WriteError`, also if others changed it."""
    properties = chosen.model.motionbridge_arma_model
    path = bpy.path.abspath(properties.path)
    plan = plan_export(context, chosen, path, options, report)
    plan.onto_imported(properties, if_changed)
    return plan


def preview(context: Context, chosen: Chosen, options: ModelExportOptions, report: Report) -> FilePlan:
    """Return the plan of an export to no file yet. Raises `WriteError` as the export does."""
    return _Exporter(context, chosen, options, report).plan("")


def gather_lods(context: Context, chosen: Chosen, options: ModelExportOptions) -> Iterator[GatheredLod]:
    """Yield what Blender has of each LOD, and of the Memory LOD if empties show it."""
    yield from _Exporter(context, chosen, options, Report()).gathered()


def selections_by_lod(context: Context, chosen: Chosen) -> list[list[str]]:
    """Return the names of the selections of each LOD of a model, without proxies and what the game ignores."""
    return list(_Exporter(context, chosen, ModelExportOptions(), Report()).selections())


def renamed_selections(model: Any) -> dict[str, str]:
    """Return the table by which selections of an imported model were renamed: old name in lower case -> new name."""
    return {row.name: row.value for row in model.motionbridge_arma_model.renamed} if model is not None else {}


class _Exporter:
    """Export of one model. ``stored``: the imported file, None for a new model; ``base``: the same with the selections
    that were renamed by a table (``renamed``).
    """

    def __init__(self, context: Context, chosen: Chosen, options: ModelExportOptions, report: Report) -> None:
        self.context = context
        self.chosen, self.options, self.report = chosen, options, report
        data = kept(chosen.model.motionbridge_arma_model, "document") if chosen.model is not None else b""
        self.data = data
        self.stored = p3d.read(data, "", Report()) if data else None
        self.renamed = renamed_selections(chosen.model)
        self.base = renaming.renamed(self.stored, self.renamed) if self.stored is not None else None
        self.changes = Changes(noun=Noun.LOD, unchanged=0)
        self.marks = self._marks_of_levels()
        self.model_class = self._model_class()

    def plan(self, path: str) -> FilePlan:
        """Return the plan of the whole file."""
        for scene in self.chosen.copies:
            self.report.warn("LODs of a copied scene are not exported; to export those, export from that scene", scene)
        if self.chosen.model is not None:
            parts = (obj for obj in self.context.scene.objects if _is_part(obj))
            owned = ((obj, model_of(obj)) for obj in parts)
            warn_of_pasted(self.chosen.model, owned, lambda obj: obj.motionbridge_arma_model.path, self.report)
        if not self.chosen.levels and not self.chosen.marks:
            raise WriteError(
                "nothing of an Arma model is chosen",
                remedy="Select the model's meshes, and make each a LOD (Use as Arma LOD in the sidebar)",
            )
        if self.base is None and (old := [obj for obj in self.chosen.levels if obj.motionbridge_arma_level.path]):
            self.report.warn(
                "the data of its imported file is no longer in the scene: written as a new model; import the file "
                "again to keep what Blender does not show",
                old[0].name,
            )
        first = {self._base_index(obj): obj for obj in reversed(self.chosen.levels)}
        first.pop(-1, None)
        lods: list[p3d.Lod] = []
        for number, lod in enumerate(self.base.lods if self.base is not None else ()):
            result = self._imported(number, lod, first.get(number))
            lods += [result] if result is not None else []
        if self.base is not None and _is_sorted(self.base.lods):
            lods.sort(key=lambda lod: float(lod.resolution))
        for obj in self.chosen.levels:
            if first.get(self._base_index(obj)) is not obj:
                self._insert(lods, self._new(obj), obj.name)
        if points := self.marks.pop(None, []):
            self._add_points(lods, points)
        self._refuse_equal(lods)
        base = self.base if self.base is not None else p3d.P3d(VERSION, [])
        data = p3d.write(replace(base, lods=lods))
        changes = self.changes if self.base is not None else Changes(new=say("a new model"))
        return FilePlan(path, data if changes else self.data, changes)

    def gathered(self) -> Iterator[GatheredLod]:
        """Yield all LODs: meshes, empties, and those that were not imported."""
        base = self.base.lods if self.base is not None else ()
        indices = [self._base_index(obj) for obj in self.chosen.levels]
        yield from (
            self._lod(obj, base[number] if number >= 0 else None)
            for obj, number in zip(self.chosen.levels, indices, strict=True)
        )
        for number, lod in enumerate(base):
            marks, imported = self.marks.get(number, []), number in self._shown_numbers()
            if number in indices:
                continue
            if marks:
                points = _points(lod, marks, imported=imported)
                yield GatheredLod(None, points, lod, model_class=self.model_class, marks=marks)
            elif not imported:
                content = p3d.content_of(lod, lod.name, Report())
                yield GatheredLod(None, content, lod, not_imported=True, model_class=self.model_class)
        if marks := self.marks.get(None, []):
            points = _points(None, marks, imported=True)
            yield GatheredLod(None, points, None, model_class=self.model_class, marks=marks)

    def selections(self) -> Iterator[list[str]]:
        """Yield the names of the selections of each LOD, also of those that were not imported."""
        yield from ([selection_of(obj, group.name) for group in obj.vertex_groups] for obj in self.chosen.levels)
        meshes, imported = {self._base_index(obj) for obj in self.chosen.levels}, self._shown_numbers()
        for number, lod in enumerate(self.base.lods if self.base is not None else ()):
            if number in meshes:
                continue
            if marks := self.marks.get(number, []):
                yield _points(lod, marks, imported=number in imported).mesh.groups
            elif number not in imported:
                yield renaming.selections_of(lod)
        if marks := self.marks.get(None, []):
            yield _points(None, marks, imported=True).mesh.groups

    def _model_class(self) -> str:
        """Return the value of the property class, of Geometry or else of the first LOD."""
        levels = [obj.motionbridge_arma_level for obj in self.chosen.levels]
        properties = [(level.resolution, {row.name: row.value for row in level.properties}) for level in levels]
        if self.base is not None:
            imported = {self._base_index(obj) for obj in self.chosen.levels}
            rest = (lod for number, lod in enumerate(self.base.lods) if number not in imported)
            properties += [(float(lod.resolution), lod.properties()) for lod in rest]
        return check.class_of(properties)

    def _base_index(self, obj: Object) -> int:
        """Return the index of the imported LOD that a mesh is, -1 for a new one."""
        number = int(obj.motionbridge_arma_level.index)
        return number if self.base is not None and 0 <= number < len(self.base.lods) else -1

    def _marks_of_levels(self) -> dict[Any, list[Object]]:
        """Return object or index of a LOD -> its proxies or points; under None new points without a Memory LOD."""
        result: dict[Any, list[Object]] = {}
        by_index = {self._base_index(obj): obj for obj in reversed(self.chosen.levels) if self._base_index(obj) >= 0}
        memory = (
            next((n for n, lod in enumerate(self.base.lods) if lod.kind == lod_kinds.MEMORY), None)
            if self.base
            else None
        )
        for mark in self.chosen.marks:
            properties = mark.motionbridge_arma_mark
            if properties.kind == "POINT":
                known = self.base is not None and 0 <= properties.level < len(self.base.lods)
                key: Any = properties.level if known else memory
            else:
                key = _level_above(mark) or by_index.get(properties.level)
                if key is None:
                    self.report.warn("a proxy that belongs to no LOD is left out; parent it to a LOD's mesh", mark.name)
                    continue
            result.setdefault(key, []).append(mark)
        return result

    def _imported(self, number: int, lod: p3d.Lod, obj: Object | None) -> p3d.Lod | None:
        """Return a LOD of the file with what was edited in it, None if it was deleted in Blender."""
        marks = self.marks.get(number, [])
        if obj is not None:
            gathered = self._lod(obj, lod)
            for mark in marks:
                problem = (
                    "a point is left out, because its LOD is a mesh; add a vertex with a vertex group to that mesh"
                )
                self.report.warn(problem, mark.name)
        elif marks:
            content = _points(lod, marks, imported=number in self._shown_numbers())
            gathered = GatheredLod(None, content, lod, model_class=self.model_class)
        elif number in self._shown_numbers():
            self.changes.deleted[Noun.LOD] += 1
            self.report.warn("the LOD leaves the file, because it is no longer in Blender", lod.name)
            return None
        else:
            self._count(lod, list(self._renamed_lines(number)))
            return lod
        result, changes = p3d.encode_lod(gathered.content, lod, self.report)
        lines = list(p3d.lines_of(changes, lod, result))
        if lines:
            gathered.warn(self.report, edited=True)
        self._count(lod, [*self._renamed_lines(number), *lines])
        return result

    def _count(self, lod: p3d.Lod, lines: Sequence[Message]) -> None:
        """Count a LOD as changed, in what the lines say, or as unchanged if there are none."""
        if lines:
            self.changes.parts.append(Part(lod.name, Noun.LOD, fields=tuple(lines)))
        else:
            self.changes.unchanged = (self.changes.unchanged or 0) + 1

    def _renamed_lines(self, number: int) -> Iterator[Message]:
        pairs = list(renaming.pairs_of(self.stored.lods[number], self.renamed)) if self.stored is not None else []
        if pairs:
            words = [f"{old} → {new}" for old, new in pairs]
            yield say("{}, renamed", say("{} ({})", Noun.SELECTION.counted(len(pairs)), listed(words)))

    def _shown_numbers(self) -> set[int]:
        return imported_indices(self.chosen.model) if self.chosen.model is not None else set()

    def _new(self, obj: Object) -> p3d.Lod:
        number = self._base_index(obj)  # of a copy of an imported LOD
        base = self.base.lods[number] if self.base is not None and number >= 0 else None
        gathered = self._lod(obj, base)
        lod, _ = p3d.encode_lod(gathered.content, base, self.report)
        gathered.warn(self.report, edited=False)
        self.changes.add(Noun.LOD, lod.name)
        return lod

    def _insert(self, lods: list[p3d.Lod], lod: p3d.Lod, name: str) -> None:
        """Insert a new LOD before the first one with a larger resolution."""
        same = next((own_lod for own_lod in lods if own_lod.resolution == lod.resolution), None)
        if same is not None and lod.name in others_of(self.chosen.model):
            words = "two LODs are {}: {!r}, and that of the file, which is not imported"
            raise WriteError(say(words, lod.name, name), remedy=IMPORT_OTHERS)
        if same is not None:
            words = "two LODs are {}, one of them is {!r}"
            raise WriteError(say(words, lod.name, name), remedy=OTHER_RESOLUTION)
        after = [index for index, own_lod in enumerate(lods) if own_lod.resolution > lod.resolution]
        lods.insert(after[0] if after else len(lods), lod)

    def _add_points(self, lods: list[p3d.Lod], points: Sequence[Object]) -> None:
        gathered = GatheredLod(None, _points(None, points, imported=True), None)
        lod, _ = p3d.encode_lod(gathered.content, None, self.report)
        gathered.warn(self.report, edited=False)
        self.changes.add(Noun.LOD, lod_kinds.MEMORY)
        self._insert(lods, lod, points[0].name)

    def _refuse_equal(self, lods: Sequence[p3d.Lod]) -> None:
        """Raise `WriteError` if editing a resolution made two LODs equal; files that have such LODs may keep them."""
        before = Counter(float(lod.resolution) for lod in (self.base.lods if self.base is not None else ()))
        now = Counter(float(lod.resolution) for lod in lods)
        twice = next((number for number, count in now.items() if count > 1 and before[number] < count), None)
        if twice is not None:
            words = "two LODs are {}"
            raise WriteError(say(words, lod_kinds.name_of(twice)), remedy=OTHER_RESOLUTION)

    # Content of a LOD -----------------------------------------------------------------------------------------------

    def _lod(self, obj: Object, base: p3d.Lod | None) -> GatheredLod:
        level = obj.motionbridge_arma_level
        mesh, polygons = self._gather(obj, base)
        mesh.groups = [selection_of(obj, group) for group in mesh.groups]
        numbers = _numbers(level, level.uv_sets) if base is not None else []
        mesh.more_uvs = _numbered_uvs(mesh.more_uvs, set(p3d.further_uvs(base)).difference(numbers) if base else ())
        if base is not None and base.signature == FLASHPOINT and not numbers and mesh.more_uvs:
            mesh.more_uvs = {}
            self.report.warn("a LOD of Operation Flashpoint has one UV map; the others are not exported", obj.name)
        if mesh.weights is None:
            nothing = np.zeros(0, np.int32)
            mesh.weights = VertexWeights(nothing, nothing, np.zeros(0, np.float32))
        matrix = model_matrix(obj)
        if base is None and (rig := _rig_above(obj)) is not None and armature.is_turned_or_scaled(rig):
            turned = "its own rotation and scale are not in the model; apply them (Ctrl A) if they should be"
            self.report.warn(turned, rig.name)
        if np.abs(matrix - np.eye(4)).max() > AT_REST:
            if self.options.transforms:
                mesh = transformed_polygons(mesh, matrix)
            else:
                self.report.warn("its object is moved, rotated or scaled, which is not exported", obj.name)
        properties = {row.name: row.value for row in level.properties}
        if len(properties) < len(level.properties):
            self.report.warn("of named properties with the same name the last one is exported", obj.name)
        proxies = None
        marks = self.marks.get(obj, [])
        if base is None or level.has_proxies or marks:
            proxies = [self._proxy(mark, level.index if base is not None else -1) for mark in marks]
        content = p3d.LodContent(mesh, float(level.resolution), properties, proxies, numbers)
        rig = obj.find_armature()
        bones = frozenset(selection_of(obj, bone.name) for bone in (rig.data.bones if rig is not None else ()))
        modified = self.options.modifiers and modifiers.is_modified(obj)
        gathered = GatheredLod(obj, content, base, polygons, bones, is_modified=modified, model_class=self.model_class)
        for cut_face in gathered.cut_faces():
            self.report.warn(cut_face.sentence, obj.name)
        return gathered

    def _gather(self, obj: Object, base: p3d.Lod | None) -> tuple[PolygonMesh, NDArray[np.int32]]:
        """Return the mesh of an object, not bent by its armature, and the polygon that each face is part of."""
        with modifiers.evaluated(self.context, obj, self.report, apply=self.options.modifiers) as evaluated:
            mesh, polygons = sharp_mesh.gather(obj, WANTED, evaluated, most_corners=4)
            self._warn_of_loose_edges(obj, evaluated or obj.data)
            if lod_kinds.kind_of(obj.motionbridge_arma_level.resolution) in lod_kinds.DRAWN:
                self._set_textures(mesh, material.materials_of(obj, evaluated or obj.data), base)
            return mesh, polygons

    def _warn_of_loose_edges(self, obj: Object, data: Mesh) -> None:
        loose = np.zeros(len(data.edges), np.bool_)
        data.edges.foreach_get("is_loose", loose)
        if loose.any():
            self.report.warn(say("edges without faces are not exported: {}", int(loose.sum())), obj.name)

    def _set_textures(self, mesh: PolygonMesh, slots: Sequence[Any], base: p3d.Lod | None) -> None:
        """Set the texture of used materials that name none to that of their image; ``slots``: Blender's materials."""
        index = mesh.material_index if mesh.material_index is not None else np.zeros(len(mesh.counts), np.int32)
        used = np.unique(np.clip(index, 0, max(len(slots) - 1, 0))).tolist()
        for number in used:
            slot = slots[number] if slots else None
            if slot is not None:
                self._set_texture(mesh.materials[number], slot, base)
            elif base is None or ("", "") not in base.textures():
                self.report.warn("faces without a material have no texture; assign a material to them", mesh.name)

    def _set_texture(self, surface: Material, obj: Any, base: p3d.Lod | None) -> None:
        image = material.image_of(obj)
        material.warn_of_paint(obj, self.report)
        if surface.texture:
            if picture := material.other_picture(obj):
                words = (
                    "the material shows {!r}, but its texture is {}; type the path of its texture in Properties > "
                    "Material > Arma Material"
                )
                problem = say(words, picture, surface.texture)
                self.report.warn(problem, obj.name)
            return
        surface.texture = textures.texture_of(obj, self.options.games)
        if surface.texture:
            self.report.note(say("its texture is that of its image: {}", surface.texture), obj.name)
        elif image is not None:
            problem = say(
                "no texture is written: its image {!r} is in no folder with config.cpp or "
                "$PBOPREFIX$, and in no game of the preferences; type the path of "
                "its texture in Properties > Material > Arma Material",
                image.name,
            )
            self.report.warn(problem, obj.name)
        elif not surface.shader and (base is None or ("", "") not in base.textures()):
            self.report.warn(
                "the material has no texture; type the path of its texture in Properties > Material > Arma Material",
                obj.name,
            )

    def _proxy(self, mark: Object, level: int) -> p3d.ProxyContent:
        properties = mark.motionbridge_arma_mark
        matrix = model_matrix(mark)
        axes = np.linalg.norm(matrix[:3, :3], axis=0)
        if not np.isfinite(matrix).all() or axes.min() < 1e-9:
            raise WriteError(say("the proxy {!r} has a scale of 0", mark.name), remedy="Clear its scale (Alt S)")
        if np.abs(axes - 1).max() > SCALED or np.linalg.det(matrix[:3, :3]) < 0:
            self.report.warn("its scale is not exported: the game shows the attached model in its own size", mark.name)
        matrix[:3, :3] /= axes
        path = properties.game_name or mark.name
        return p3d.ProxyContent(path, matrix, int(properties.source) if properties.level == level >= 0 else -1)


def _rig_above(obj: Object) -> Any:
    above = obj.parent
    while above is not None and above.type != "ARMATURE":
        above = above.parent
    return above


def imported_indices(model: Any) -> set[int]:
    """Return which LODs of a model's file became objects. Raises `ReadError` if the stored list is damaged."""
    properties = model.motionbridge_arma_model
    return set(_numbers(properties, properties.imported))


def _numbers(owner: Any, text: str) -> list[int]:
    """Return stored indices. Raises `ReadError` if something else is among them."""
    if not all(map(str.isdecimal, text.split())):
        raise damaged(owner)
    return [int(number) for number in text.split()]


def _numbered_uvs(layers: Mapping[str, NDArray[np.float32]], taken: Collection[int]) -> dict[str, NDArray[np.float32]]:
    """Return UV maps under the names of UV sets: those with such a name keep it, others get the lowest free number.

    ``taken``: numbers of sets that Blender does not show.
    """
    numbers = {name: number for name in layers if (number := _uv_number(name)) and number not in taken}
    free = (number for number in itertools.count(1) if number not in taken and number not in numbers.values())
    return {p3d.uv_set_name(numbers.get(name) or next(free)): uvs for name, uvs in layers.items()}


def _uv_number(name: str) -> int:
    number = name.rpartition(" ")[2]
    return int(number) if number.isdecimal() and name == p3d.uv_set_name(int(number)) else 0


def _is_sorted(lods: Sequence[p3d.Lod]) -> bool:
    return all(lod.resolution <= two.resolution for lod, two in itertools.pairwise(lods))


def model_matrix(obj: Object) -> Floats:
    """Return the transform (4, 4) of an object in model space, with the armature at rest."""
    local = obj.matrix_parent_inverse @ obj.matrix_basis
    above = obj.parent
    if above is None:
        return np.array(obj.matrix_basis, np.float64)
    if above.type == "ARMATURE":
        bone = above.data.bones.get(obj.parent_bone) if obj.parent_type == "BONE" else None
        if bone is not None:  # the space of a bone's children begins at its tail
            local = bone.matrix_local @ Matrix.Translation((0, bone.length, 0)) @ local
        return np.array(local, np.float64)
    return model_matrix(above) @ np.array(local, np.float64)


@dataclass(frozen=True)
class _Point:
    """A point of a Memory LOD.

    ``name`` of its selection, ``position`` (3,) in model space, ``source``: index of the imported point, -1 for none.
    """

    name: str
    position: NDArray[np.float32]
    source: int

    @staticmethod
    def of(mark: Object) -> _Point:
        properties = mark.motionbridge_arma_mark
        return _Point(properties.game_name, model_matrix(mark)[:3, 3].astype(np.float32), int(properties.source))


def _points(base: p3d.Lod | None, marks: Sequence[Object], *, imported: bool) -> p3d.LodContent:
    """Return the content of a Memory LOD from empties; copies of an empty are new points.

    ``base``: the LOD of the imported file. Unless its points were ``imported`` as empties, they stay.
    """
    name = lod_kinds.MEMORY
    old = p3d.content_of(base, name, Report()) if base is not None else None
    stored = {named_point.point: named_point for named_point in p3d.named_points(base)} if base is not None else {}
    points = [_Point.of(mark) for mark in marks]
    if not imported:
        existing = [
            _Point(point.name, point.transform[:3, 3].astype(np.float32), point.point) for point in stored.values()
        ]
        points = [*existing, *(replace(point, source=-1) for point in points)]
    weights: dict[str, dict[int, float]] = {}
    positions = []
    vertex_of: dict[int, int] = {}
    for row, point in enumerate(points):
        before = stored.get(point.source)
        position, selections = point.position, dict(before.bones) if before is not None else {}
        if before is not None and np.abs(position - before.transform[:3, 3]).max() <= POINT_TOLERANCE:
            position = before.transform[:3, 3].astype(np.float32)
        if before is None or before.name != point.name:
            selections.pop(before.name if before is not None else "", None)
            selections |= {point.name: 1.0} if point.name else {}
        for selection, weight in selections.items():
            weights.setdefault(selection, {})[row] = weight
        if before is not None:
            vertex_of.setdefault(point.source, row)
        positions.append(position)
    nothing = np.zeros(0, np.int32)
    mesh = PolygonMesh(name, np.array(positions, np.float32).reshape(-1, 3), nothing, nothing)
    sources = np.array([point.source if point.source in stored else -1 for point in points], np.int32)
    mesh.attributes = {FILE_VERTEX: Attribute(Domain.VERTEX, sources)}
    known = old.mesh.groups if old is not None else []
    # A selection without points, as some files have, stays; one whose points were all deleted goes.
    mesh.groups = [
        group for group in known if group in weights or (old is not None and not _has_members(old.mesh, group))
    ]
    mesh.groups += [weight for weight in weights if weight not in known]
    numbers = {group: number for number, group in enumerate(mesh.groups)}
    rows = [(row, numbers[group], weight) for group, members in weights.items() for row, weight in members.items()]
    table = np.array(rows, np.float64).reshape(-1, 3)
    mesh.weights = VertexWeights(
        table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), table[:, 2].astype(np.float32)
    )
    if old is not None:
        _keep_faces(mesh, old.mesh, vertex_of)
    resolution = float(base.resolution) if base is not None else lod_kinds.MEMORY_RESOLUTION
    return p3d.LodContent(mesh, resolution, old.properties if old is not None else {})


def _has_members(mesh: PolygonMesh, group: str) -> bool:
    number = mesh.groups.index(group) if group in mesh.groups else -1
    return mesh.weights is not None and bool((mesh.weights.groups == number).any())


def _keep_faces(mesh: PolygonMesh, old: PolygonMesh, vertex_of: dict[int, int]) -> None:
    """Add the faces of an imported Memory LOD, which empties do not show, as long as all their points exist."""
    vertex = np.array([vertex_of.get(point, -1) for point in range(len(old.positions))], np.int32)
    corners = vertex[old.corners]
    begins = np.cumsum(old.counts) - old.counts
    whole = np.minimum.reduceat(corners, begins) >= 0 if len(begins) else np.zeros(0, np.bool_)
    inside = np.repeat(whole, old.counts)
    mesh.counts, mesh.corners = old.counts[whole], corners[inside]
    mesh.uvs = old.uvs[inside] if old.uvs is not None else None
    mesh.corner_normals = old.corner_normals[inside] if old.corner_normals is not None else None
    mesh.materials, mesh.sharp_edges = old.materials, None
    mesh.material_index = old.material_index[whole] if old.material_index is not None else None
    faces = old.attributes[FILE_FACE]
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, faces.values[whole])
    if old.sharp_edges is not None:
        mesh.sharp_edges = vertex[old.sharp_edges]
