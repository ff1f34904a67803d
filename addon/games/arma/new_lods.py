"""LODs of a new model, made from its visual mesh: Resolutions, geometries, shadow, points of Memory, named properties.

A LOD that exists is replaced only if that is wanted; nothing else of the model changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...blender import attributes, material, modifiers, sharp_mesh
from ...blender import mesh as meshes
from ...blender.properties import kept
from ...core import names
from ...core.errors import WriteError
from ...core.mesh_parts import transformed_polygons
from ...core.model import Material, PolygonMesh
from ...core.report import Message, Report, say
from ...formats.arma import lists, lod_kinds, new_lods, p3d
from . import lod_list, model_export
from . import mass as masses
from .options import FireShape, GeometryShape, NewLod, NewLodOptions
from .properties import model_of

if TYPE_CHECKING:
    from ...blender.typed import Context, Object

MOST_RATIOS = 8


@dataclass
class Made:
    """What was made. ``lods``: names; ``kept``: of LODs that exist; ``points`` and ``properties``: how many."""

    lods: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    points: int = 0
    properties: int = 0


def source_of(context: Context) -> Any:
    """Return the mesh that LODs are made from: the first Resolution of the active object's model, else the active mesh
    if it is no LOD; None without one.
    """
    active = context.view_layer.objects.active
    lods = lod_list.lods_of(context) if active is not None and _is_part(active) else []
    first = next(
        (lod.obj for lod in lods if lod.is_mesh and lod_kinds.kind_of(lod.resolution) == lod_kinds.RESOLUTION), None
    )
    if first is not None or active is None or active.type != "MESH" or _is_part(active):
        return first
    return active


def _is_part(obj: Object) -> bool:
    return (
        bool(obj.motionbridge_arma_level.is_level)
        or model_of(obj) is not None
        or obj.motionbridge_arma_mark.kind != "NONE"
    )


def ratios_of(text: str) -> list[float]:
    """Return the shares of faces that a text has as percentages. Raises `WriteError` for other texts."""
    parts = re.split(r"[\s,;%]+", text.strip(" ,;%"))
    if parts == [""]:
        return []
    try:
        result = [float(part) / 100 for part in parts]
    except ValueError:
        result = [0.0]
    if len(result) > MOST_RATIOS or not all(0 < ratio < 1 for ratio in result):
        raise WriteError(
            say("the shares of faces are not numbers between 0 and 100: {!r}", text),
            remedy=say("Type up to {} percentages, such as 50 25 10", MOST_RATIOS),
        )
    return result


def existing(context: Context, source: Object) -> dict[str, Any]:
    """Return the names of the model's LODs -> `SceneLod`, or None for one that was not imported."""
    result: dict[str, Any] = {}
    model = model_of(source)
    if model is not None:
        document = p3d.read(kept(model.motionbridge_arma_model, "document"), "", Report())
        imported = model_export.imported_indices(model)
        result = {lod.name: None for number, lod in enumerate(document.lods) if number not in imported}
    result |= {lod.name: lod for lod in lod_list.lods_of(context)} if _is_part(source) else {}
    return result


def wanted_names(options: NewLodOptions, source: Object) -> dict[NewLod, list[str]]:
    """Return the names of the LODs that each choice makes."""
    level = source.motionbridge_arma_level
    first = round(lod_kinds.number_of(level.resolution)) if level.is_level else 1
    further = [lod_kinds.name_of(first + 1.0 + number) for number in range(len(ratios_of(options.ratios)))]
    words = {
        NewLod.RESOLUTIONS: further,
        NewLod.GEOMETRY: [lod_kinds.GEOMETRY],
        NewLod.VIEW: [lod_kinds.VIEW_GEOMETRY],
        NewLod.FIRE: [lod_kinds.FIRE_GEOMETRY],
        NewLod.SHADOW: [lod_kinds.name_of(lod_kinds.resolution_of(lod_kinds.SHADOW))],
    }
    return {choice: lod_names for choice, lod_names in words.items() if choice in options.lods}


def loose_parts(context: Context, source: Object, report: Report) -> new_lods.LooseParts:
    """Return the loose parts of a mesh with its modifiers, in model space."""
    mesh = _gathered(context, source, report)
    return new_lods.LooseParts(transformed_polygons(mesh, model_export.model_matrix(source)))


def open_parts(parts: new_lods.LooseParts) -> Message:
    """Return how many parts are open, and what that means for the shadow."""
    words = "{:# part is|# parts are} open and {0:casts the shadow of its hull|cast the shadows of their hulls}"
    return say(words, int(parts.is_open.sum()))


def _gathered(context: Context, source: Object, report: Report) -> PolygonMesh:
    """Return the mesh of triangles that an export would write; without normals unless they are custom ones."""
    with modifiers.evaluated(context, source, report, apply=True) as evaluated:
        mesh, _ = sharp_mesh.gather(source, {}, evaluated)
        if not (evaluated or source.data).has_custom_normals:
            mesh.corner_normals = None
    return mesh


def make(context: Context, source: Object, options: NewLodOptions, report: Report) -> Made:
    """Make the chosen LODs. Called in object mode. Raises `WriteError` before anything is made."""
    names_wanted = wanted_names(options, source)
    if not len(source.data.polygons):
        raise WriteError(say("{!r} has no faces", source.name), remedy="Choose the mesh that is drawn")
    if not source.motionbridge_arma_level.is_level:
        lod_list.set_resolution(source, lod_kinds.resolution_of(lod_kinds.RESOLUTION, 1))
    maker = _Maker(context, source, options, report)
    for choice in names_wanted:
        for name in names_wanted[choice]:
            maker.add(choice, name)
    if NewLod.MEMORY in options.lods:
        maker.add_points()
    if NewLod.PROPERTIES in options.lods:
        maker.set_properties()
    return maker.result


class _Maker:
    """Makes LODs from ``source``. ``known``: LODs by name, as `existing` returns them."""

    def __init__(self, context: Context, source: Object, options: NewLodOptions, report: Report) -> None:
        self.context, self.source, self.options, self.report = context, source, options, report
        self.known = existing(context, source)
        self.result = Made()
        self.mesh = _gathered(context, source, report)
        self.matrix = model_export.model_matrix(source)
        self.parts = new_lods.LooseParts(transformed_polygons(self.mesh, self.matrix))
        self.stem = source.name.removesuffix(lod_kinds.name_of(source.motionbridge_arma_level.resolution)).strip()

    def add(self, choice: NewLod, name: str) -> None:
        """Make the LOD of this name unless it exists and is not to be replaced."""
        if name in self.known and (self.known[name] is None or not self.options.replace):
            self.result.kept.append(name)
            if self.options.replace:
                self.report.warn("it is in the file, but was not imported: use Import Other LODs to replace it", name)
            return
        mesh = self._mesh(choice, name)
        if choice is NewLod.RESOLUTIONS and not self._has_fewer_faces(mesh, name):
            return
        obj = self._object(name, mesh)
        if choice is NewLod.RESOLUTIONS:
            self._copy_of_source(obj)
        self.known[name] = lod_list.SceneLod(obj, float(obj.motionbridge_arma_level.resolution))
        self.result.lods.append(name)

    # Meshes ---------------------------------------------------------------------------------------------------------

    def _mesh(self, choice: NewLod, name: str) -> PolygonMesh:
        """Return a mesh in the space of the source."""
        if choice is NewLod.RESOLUTIONS:
            return new_lods.resolution(self.mesh, self._share(name), name)
        if choice is NewLod.SHADOW:
            if self.parts.is_open.any():
                self.report.warn(open_parts(self.parts), name)
            return self._local(new_lods.shadow(self.parts, name))
        geometry = self.known.get(lod_kinds.GEOMETRY)
        if choice is not NewLod.GEOMETRY and self.options.fire is FireShape.COPY and geometry is not None:
            mesh = transformed_polygons(
                _gathered(self.context, geometry.obj, self.report), model_export.model_matrix(geometry.obj)
            )
            mesh.materials, mesh.material_index, mesh.corner_normals = [], None, None
        else:
            boxes = choice is NewLod.GEOMETRY and self.options.shape is GeometryShape.BOX
            density = self.options.density if choice is NewLod.GEOMETRY else 0.0
            smallest = self.options.smallest
            mesh = new_lods.geometry(self.parts, name, boxes=boxes, smallest=smallest, density=density)
        if choice is NewLod.FIRE:
            path = lists.penetration_material(self.options.game.name, self.options.material)
            title = path.rpartition("\\")[2].removesuffix(".rvmat")
            mesh.materials = [Material(f"penetration {title}", "", path)]
            mesh.material_index = np.zeros(len(mesh.counts), np.int32)
        return self._local(mesh)

    def _share(self, name: str) -> float:
        """Return the wanted share of the source's faces of a Resolution."""
        first = lod_kinds.number_of(self.source.motionbridge_arma_level.resolution)
        number = round(float(name.rpartition(" ")[2]) - round(first)) - 1
        return ratios_of(self.options.ratios)[number]

    def _has_fewer_faces(self, mesh: PolygonMesh, name: str) -> bool:
        """Return whether a Resolution has fewer triangles than each one before it, and report how many it has."""
        before = [len(self.mesh.counts)]
        for lod in self.known.values():
            is_mesh = lod is not None and lod.is_mesh and lod.obj != self.source
            if is_mesh and lod.resolution < min(_resolution_of(name), lod_kinds.VISUAL.end):
                before.append(len(lod.obj.data.loops) - 2 * len(lod.obj.data.polygons))
        if len(mesh.counts) >= min(before):
            words = "left out: it would have {:# face|# faces}, no fewer than the Resolution before it"
            self.report.warn(say(words, len(mesh.counts)), name)
            return False
        share, reached = self._share(name), len(mesh.counts) / len(self.mesh.counts)
        words = "{:.3g} % of the faces: {} of {}"
        self.report.note(say(words, 100 * reached, len(mesh.counts), len(self.mesh.counts)), name)
        if reached > share + 0.01:
            words = (
                "{:.3g} % of the faces are wanted, but fewer than {:.3g} % would turn faces or UVs over, or lose sharp "
                "edges, materials or selections"
            )
            self.report.warn(say(words, 100 * share, 100 * reached), name)
        return True

    def _local(self, mesh: PolygonMesh) -> PolygonMesh:
        """Return a mesh of model space in the space of the source."""
        return transformed_polygons(mesh, np.linalg.inv(self.matrix))

    # Objects --------------------------------------------------------------------------------------------------------

    def _object(self, name: str, mesh: PolygonMesh) -> Object:
        """Return the object of a LOD with this mesh: the existing one, else a new one beside the source."""
        materials = [self._material(surface) for surface in mesh.materials]
        data = meshes.build_polygons(mesh, materials)
        sharp_mesh.remember(data, mesh, self.report, normals=mesh.corner_normals is not None)
        attributes.build(data, mesh.attributes)
        lod = self.known.get(name)
        if lod is None:
            obj: Any = bpy.data.objects.new(names.shortened(f"{self.stem} {name}"), data)
            data.name = obj.name
            for collection in self.source.users_collection:
                collection.objects.link(obj)
            obj.motionbridge_arma_level.model = model_of(self.source)
        else:
            obj = lod.obj
            if masses.is_shown(obj):
                masses.hide(obj)
            old, obj.data = obj.data, data
            data.name = old.name
            obj.vertex_groups.clear()
            if not old.users:
                bpy.data.meshes.remove(old)
            for proxy in lod.others:
                bpy.data.objects.remove(proxy)
        attributes.build_vertex_groups(obj, mesh)
        self._place(obj)
        lod_list.set_resolution(obj, _resolution_of(name))
        obj.hide_set(True)
        return obj

    def _place(self, obj: Any) -> None:
        """Put an object where the source is, with its armature and no other modifier."""
        source: Any = self.source
        obj.parent, obj.parent_type, obj.parent_bone = source.parent, source.parent_type, source.parent_bone
        obj.matrix_parent_inverse, obj.matrix_basis = source.matrix_parent_inverse, source.matrix_basis
        obj.modifiers.clear()
        for modifier in source.modifiers:
            if modifier.type == "ARMATURE":
                obj.modifiers.new(modifier.name, "ARMATURE").object = modifier.object

    def _material(self, surface: Material) -> Any:
        slots = {slot.material.name: slot.material for slot in self.source.material_slots if slot.material is not None}
        return slots.get(surface.name) or material.build(surface)

    def _copy_of_source(self, obj: Object) -> None:
        """Give a further Resolution the proxies, named properties and selections of the source."""
        lods = lod_list.lods_of(self.context)
        index = lod_list.index_of(lods, self.source)
        for proxy in lods[index].others:
            lod_list.copy_proxy(proxy, obj).hide_set(True)
        ours, theirs = obj.motionbridge_arma_level, self.source.motionbridge_arma_level
        for rows, others in ((ours.properties, theirs.properties), (ours.selections, theirs.selections)):
            rows.clear()
            for row in others:
                new = rows.add()
                new.name, new.value = row.name, row.value

    # Points and properties ------------------------------------------------------------------------------------------

    def add_points(self) -> None:
        """Add the points of the Memory LOD that the game expects."""
        options = self.options
        points = new_lods.memory_points(options.game.name, options.model.name, self.parts.mesh.positions)
        if not points:
            self.report.note("the game expects no points of a new model", lod_kinds.MEMORY)
            return
        memory = self.known.get(lod_kinds.MEMORY)
        if memory is not None and memory.is_mesh:
            self.report.warn("no points are added: it is a mesh", lod_kinds.MEMORY)
            return
        stored = self._stored_points() if lod_kinds.MEMORY in self.known and memory is None else set()
        marks = {mark.motionbridge_arma_mark.game_name.lower(): mark for mark in (memory.parts if memory else ())}
        for name, position in points.items():
            mark = marks.get(name)
            if name in stored or (mark is not None and not options.replace):
                self.result.kept.append(name)
                continue
            self.result.points += 1
            if mark is None:
                mark = model_export.add_mark(self.context, self.source, "POINT", name)
            _move(mark, position)
            mark.hide_set(True)

    def _stored_points(self) -> set[str]:
        """Return the names of the points of the file, whose Memory LOD was not imported."""
        model = model_of(self.source)
        document = p3d.read(kept(model.motionbridge_arma_model, "document"), "", Report())
        memory = document.lod(lod_kinds.MEMORY)
        return {point.name.lower() for point in p3d.named_points(memory)} if memory is not None else set()

    def set_properties(self) -> None:
        """Set the named properties of all geometries and shadows by game and kind of model."""
        options = self.options
        has_shadow = any(lod_kinds.kind_of(_resolution_of(name)) in lod_kinds.SHADOWS for name in self.known)
        for lod in self.known.values():
            if lod is None or not lod.is_mesh:
                continue
            word = lod_kinds.kind_of(lod.resolution)
            wanted = new_lods.named_properties(options.game.name, options.model.name, word, has_shadow=has_shadow)
            rows = lod.obj.motionbridge_arma_level.properties
            present = {row.name.lower(): row for row in rows}
            for label, value in wanted.items():
                row = present.get(label)
                if row is not None and (row.value == value or not options.replace):
                    continue
                row = row or rows.add()
                row.name, row.value = label, value
                self.result.properties += 1


def _move(mark: Any, position: NDArray[np.float64]) -> None:
    """Move an empty to a position in model space."""
    above = Matrix(model_export.model_matrix(mark).tolist()) @ mark.matrix_basis.inverted()
    mark.location = above.inverted() @ Vector(position.tolist())


def _resolution_of(name: str) -> float:
    """Return the resolution of a LOD by its name in Object Builder."""
    if name in lod_kinds.BY_WORD:
        return lod_kinds.resolution_of(name)
    word, _, number = name.rpartition(" ")
    return lod_kinds.resolution_of(word, float(number)) if word in lod_kinds.BY_WORD else float(number)


def present(context: Context, source: Object, options: NewLodOptions) -> list[str]:
    """Return the names of the chosen LODs that the model has already."""
    known = existing(context, source)
    return [name for lod_names in wanted_names(options, source).values() for name in lod_names if name in known]
