"""Import of editable Arma models (MLOD): to see animations on a body, and to edit them.

Each chosen level of detail becomes a mesh object; points of the memory LOD and proxies become empties, which follow the
bone whose selection they are in. With an armature the meshes are its children and have its modifier.

Materials show the textures that `textures` finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix

from ...blender import armature, attributes, scope, sharp_mesh
from ...blender import mesh as meshes
from ...blender.properties import keep, kept
from ...blender.scope import set_mode
from ...core import files, names
from ...core.errors import ReadError
from ...core.report import Message, Report, say
from ...formats.arma import flag_groups, lod_kinds, p3d, renaming
from ...formats.arma.skeletons import BoneTable
from . import lod_list, model_export, textures
from .animation_import import bone_names
from .options import Levels, ModelImportOptions
from .properties import POINT_SIZE, PROXY_SIZE, model_of
from .selections import selection_of
from .skeletons import build_rig, selections_of

if TYPE_CHECKING:
    from ...blender.typed import Context, Object
    from ...core.game import InstalledGame

MOST_POINTS = 4096
"""Most points of a memory LOD that become empties; a LOD with more becomes a mesh."""

KINDS: dict[Levels, frozenset[str]] = {
    Levels.VISUAL: frozenset({lod_kinds.RESOLUTION}),
    Levels.VIEWS: lod_kinds.INSIDE_VIEWS,
    Levels.SHADOW: lod_kinds.SHADOWS | {lod_kinds.SHADOW_BUFFER},
    Levels.GEOMETRY: lod_kinds.GEOMETRIES,
    Levels.MEMORY: frozenset({lod_kinds.MEMORY}),
    Levels.OTHER: frozenset(
        {
            lod_kinds.LAND_CONTACT,
            lod_kinds.ROADWAY,
            lod_kinds.PATHS,
            lod_kinds.HIT_POINTS,
            lod_kinds.EDIT,
            lod_kinds.SUB_PARTS,
            lod_kinds.WRECKAGE,
        }
    )
    | {lod_kinds.UNKNOWN},
}


@dataclass
class ImportedModel:
    """``meshes`` of levels of detail in the file's order; ``points`` and ``proxies``: empties; ``rig``: armature or
    None. ``lods``: how many were imported, ``total``: how many of the ``file`` have points.
    """

    meshes: list[Any] = field(default_factory=list)
    points: list[Any] = field(default_factory=list)
    proxies: list[Any] = field(default_factory=list)
    rig: Any = None
    file: str = ""
    lods: int = 0
    total: int = 0


def sentence_of(models: Sequence[ImportedModel]) -> Message:
    """Return which share of the LODs of some files was imported."""
    lods, total = sum(model.lods for model in models), sum(model.total for model in models)
    if len(models) == 1:
        return say("Imported {} of {:# LOD|# LODs} of {}", lods, total, Path(models[0].file).name)
    return say("Imported {} of {:# LOD|# LODs} of {:# model|# models}", lods, total, len(models))


def read_model(path: str, report: Report) -> p3d.P3d:
    """Read a model once, for `fits` and `import_model`. Raises `ReadError`, also for the game's binarised models."""
    return p3d.read(files.read_file(path), path, report)


def import_model(
    context: Context,
    rig: Any,
    file: str,
    options: ModelImportOptions,
    report: Report,
    *,
    document: p3d.P3d | None = None,
) -> ImportedModel:
    """Import a model, bound to ``rig`` unless that is None. Its first mesh is selected and active, or else its points.

    Levels of detail overlap, so the others are hidden.

    ``document``: the model if it was read already. Raises `ReadError` before anything is created, also for the game's
    binarised models and if the chosen levels of detail are empty.
    """
    document = document or read_model(file, report)
    chosen = _chosen(document, options.levels, file, report)
    stem = Path(file).stem
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    into = None
    if options.new_rig:
        rig = build_rig(
            context,
            document,
            file,
            config=options.config,
            pivots_model=options.pivots_model,
            games=options.games,
            report=report,
        )
        into = scope.target_collection(context, report, options.collection)
        into.objects.link(rig)
        rig.show_in_front = True
        if options.readable_bones:
            armature.make_readable(rig)
    into = into or scope.target_collection(context, report, options.collection)
    model: Any = bpy.data.collections.new(names.shortened(f".{Path(file).name}"))
    model.motionbridge_arma_model.path = file
    keep(model.motionbridge_arma_model, "document", p3d.write(document))
    builder = _Builder(document, file, _groups(rig, document, options), rig, options, report, model)
    result = builder.built(chosen)
    _link(result, into, stem)
    _report_centre(document, report, stem, moving=rig is not None)
    selected = result.meshes[:1] or result.points
    scope.make_current(context, selected, selected[0])
    lods = lod_list.lods_of(context)
    lod_list.show(context, lods, lods[lod_list.index_of(lods, selected[0])], alone=True)
    return result


def textures_of(path: Path, games: Sequence[InstalledGame]) -> list[Path]:
    """Return the files that show the textures of a model's first LOD, without those that are missing.

    Raises `ReadError` as `import_model`.
    """
    document = read_model(str(path), Report())
    surfaces = textures.Surfaces(path, textures=True, games=games)
    lods = _chosen(document, {Levels.FIRST}, str(path), Report())
    paths = (surfaces.picture(texture) for lod in lods for texture, _ in lod.textures())
    return list(dict.fromkeys(filter(None, paths)))


def import_others(context: Context, options: ModelImportOptions, report: Report) -> ImportedModel:
    """Import the LODs of the active object's model that are not in Blender, beside the others and with their armature.
    Edit Mode ends, where an undo would not remove new objects. Raises `ReadError` for damaged data.
    """
    with scope.leaving_edit_mode(context):
        model = model_of(context.view_layer.objects.active)
        properties = model.motionbridge_arma_model
        document = p3d.read(kept(properties, "document"), "", Report())
        document = renaming.renamed(document, model_export.renamed_selections(model))
        present = lod_list.lods_of(context)
        file, rig = bpy.path.abspath(properties.path), _rig_of(present)
        groups = _groups(rig, document, options) | _groups_of(rig, present)
        builder = _Builder(document, file, groups, rig, options, report, model)
        result = builder.built(_left_out(document, model_export.imported_indices(model)), further=True)
        _link(result, present[0].obj.users_collection[0], Path(file).stem, further=True)
    if context.scene.motionbridge_arma_lods.solo:
        objects = {*result.meshes, *result.points}
        for lod in lod_list.lods_of(context):
            if lod.obj in objects:
                lod.hide(hidden=True)
    return result


def _left_out(document: p3d.P3d, imported: set[int]) -> list[p3d.Lod]:
    """Return the LODs with points whose indices are not among the ``imported``."""
    return [lod for number, lod in enumerate(document.lods) if len(lod.points) and number not in imported]


def _rig_of(lods: Sequence[lod_list.SceneLod]) -> Any:
    """Return the armature that the meshes of a model follow, None without one."""
    rigs = (lod.obj.find_armature() for lod in lods if lod.is_mesh)
    return next((rig for rig in rigs if rig is not None), None)


def _groups_of(rig: Any, lods: Sequence[lod_list.SceneLod]) -> dict[str, str]:
    """Return selection (lower case) -> bone that moves it, of the vertex groups of meshes in Blender."""
    meshes = [lod.obj for lod in lods if rig is not None and lod.obj.find_armature() == rig]
    return {
        selection_of(obj, group.name).lower(): group.name
        for obj in meshes
        for group in obj.vertex_groups
        if group.name in rig.data.bones
    }


def _chosen(document: p3d.P3d, levels: Iterable[Levels], file: str, report: Report) -> list[p3d.Lod]:
    """Return the chosen levels of detail that are not empty. Raises `ReadError` if there are none."""
    filled = [lod for lod in document.lods if len(lod.points)]
    wanted = set(levels)
    kinds = {kind for group in wanted for kind in KINDS.get(group, ())}
    first = next((lod for lod in filled if lod.kind == lod_kinds.RESOLUTION), None) if Levels.FIRST in wanted else None
    result = [lod for lod in filled if lod is first or lod.kind in kinds]
    if not result and filled and wanted == {Levels.FIRST}:
        report.note(say("there is no Resolution LOD; the first LOD is imported ({})", filled[0].name), Path(file).name)
        return filled[:1]
    if not result:
        present = ", ".join(lod.name for lod in filled)
        raise ReadError(
            "the model has none of the chosen LODs, or they are empty" if filled else "no LOD of the model has points",
            file=file,
            remedy=say("Choose others; there are: {}", present) if filled else "Choose another file",
        )
    empty = sum(1 for lod in document.lods if not len(lod.points) and lod.kind in kinds)
    if empty:
        report.note(say("{:# LOD has|# LODs have} no points and {0:is|are} left out", empty), Path(file).name)
    return result


def _groups(rig: Object | None, document: p3d.P3d, options: ModelImportOptions) -> dict[str, str]:
    """Return selection (lower case) -> bone of the armature that moves it."""
    if rig is None:
        return {}
    selections = selections_of(document.lods)
    table = BoneTable() if options.new_rig else options.table
    named = zip(selections, bone_names(rig, selections, options.prefix, table), strict=True)
    return {selection.lower(): bone for selection, bone in named if bone}


def fits(rig: Object, document: p3d.P3d, prefix: str, table: BoneTable) -> bool:
    """Return whether an armature's bones and a model's selections match: at least half of the smaller number."""
    selections = selections_of(document.lods)
    matching = sum(1 for name in bone_names(rig, selections, prefix, table) if name)
    return bool(matching) and 2 * matching >= min(len(selections), len(rig.data.bones))


@dataclass
class _Builder:
    """Builds the objects of one model; ``groups`` as returned by `_groups`."""

    document: p3d.P3d
    file: str
    groups: dict[str, str]
    rig: Any
    options: ModelImportOptions
    report: Report
    model: Any
    """The collection that stores the file. The dot hides it in Blender's menus."""
    surfaces: textures.Surfaces = field(init=False)

    def __post_init__(self) -> None:
        self.surfaces = textures.Surfaces(Path(self.file), self.options.textures, self.options.games)

    def _index(self, lod: p3d.Lod) -> int:
        return next(number for number, own_lod in enumerate(self.document.lods) if own_lod is lod)

    def built(self, lods: Sequence[p3d.Lod], *, further: bool = False) -> ImportedModel:
        """Create the objects of some LODs. The first mesh is called like the file, unless they are ``further`` ones."""
        filled = sum(1 for lod in self.document.lods if len(lod.points))
        result = ImportedModel(rig=self.rig, file=self.file, lods=len(lods), total=filled)
        for lod in lods:
            self._add(lod, result, is_first=not further and not result.meshes)
        self.surfaces.report_missing(self.report)
        properties = self.model.motionbridge_arma_model
        imported = model_export.imported_indices(self.model) | {*map(self._index, lods)}
        properties.imported = " ".join(map(str, sorted(imported)))
        properties.others = "\n".join(lod.name for lod in _left_out(self.document, imported))
        return result

    def _add(self, lod: p3d.Lod, result: ImportedModel, *, is_first: bool) -> None:
        """Create the objects of one level of detail and add them to ``result``."""
        if lod.kind == lod_kinds.MEMORY and len(lod.points) <= MOST_POINTS:
            result.points += [self._empty(point, "POINT", lod, point.point) for point in p3d.named_points(lod)]
            return
        stem = Path(self.file).stem
        name = stem if is_first else f"{stem} {lod.name}"
        mesh = self._mesh(lod, names.shortened(name))
        result.meshes.append(mesh)
        proxies = list(p3d.proxies(lod))
        if self.options.proxies:
            objects = [self._empty(proxy, "PROXY", lod, number) for number, proxy in enumerate(proxies)]
            for empty in objects:
                if empty.parent is None:
                    empty.parent = mesh
            result.proxies += objects
        elif proxies:
            self.report.note(say("proxies are left out: {}", len(proxies)), name)

    def _mesh(self, lod: p3d.Lod, name: str) -> Object:
        mesh = p3d.decode_polygons(lod, self.report, self.groups, name)
        for flags in flag_groups.ATTRIBUTES.values():
            if not mesh.attributes[flags].values.any():  # as in most LODs
                del mesh.attributes[flags]
        data = meshes.build_polygons(mesh, [self.surfaces.build(wanted) for wanted in mesh.materials])
        sharp_mesh.remember(data, mesh, self.report, normals=True)
        obj: Any = bpy.data.objects.new(name, data)
        attributes.build_vertex_groups(obj, mesh)
        if lod.kind != lod_kinds.RESOLUTION:
            obj.display_type = "WIRE"
        properties = obj.motionbridge_arma_level
        properties.is_level, properties.path = True, self.file
        properties.resolution = float(lod.resolution)
        properties.model, properties.index = self.model, self._index(lod)
        properties.has_proxies = self.options.proxies
        properties.uv_sets = " ".join(str(number) for number in p3d.further_uvs(lod))
        for group, selection in zip(obj.vertex_groups, self._selections(lod), strict=True):
            if group.name != selection:
                row = properties.selections.add()
                row.name, row.value = group.name, selection
        for label, value in lod.properties().items():
            row = properties.properties.add()
            row.name, row.value = label, value
        if self.rig is not None:
            bind_to_rig(obj, self.rig)
            self._warn_of_bones(mesh.groups, name)
        return obj

    def _selections(self, lod: p3d.Lod) -> list[str]:
        """Return the selection of each vertex group; the first one if several have one group."""
        texts: dict[str, str] = {}
        for selection in p3d.selection_weights(lod):
            texts.setdefault(self.groups.get(selection.lower(), selection), selection)
        return list(texts.values())

    def _warn_of_bones(self, groups: Sequence[str], name: str) -> None:
        if not set(groups) & {bone.name for bone in self.rig.data.bones}:
            self.report.warn(say("none of its selections is a bone of {!r}: it is not animated", self.rig.name), name)

    def _empty(self, point: p3d.NamedPoint, kind: str, lod: p3d.Lod, source: int) -> Object:
        label = point.name.replace("\\", "/").rpartition("/")[2] if kind == "PROXY" else point.name
        empty: Any = bpy.data.objects.new(names.shortened(label or f"point {point.point}"), None)
        empty.empty_display_type = "ARROWS" if kind == "PROXY" else "SPHERE"
        empty.empty_display_size = PROXY_SIZE if kind == "PROXY" else POINT_SIZE
        empty.matrix_basis = Matrix(point.transform.tolist())
        mark = empty.motionbridge_arma_mark
        mark.kind, mark.game_name = kind, point.name
        mark.model, mark.level, mark.source = self.model, self._index(lod), source
        bone = next((self.groups[name.lower()] for name in point.bones if name.lower() in self.groups), "")
        if bone:
            armature.parent_at_rest(empty, self.rig, bone)
        elif self.rig is not None and kind == "POINT":
            empty.parent = self.rig
        return empty


def bind_to_rig(obj: Object, rig: Object) -> None:
    """Parent a mesh to the armature object and give it an Armature modifier."""
    obj.parent = rig
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig


def _link(result: ImportedModel, into: bpy.types.Collection, stem: str, *, further: bool = False) -> None:
    for obj in result.meshes:
        into.objects.link(obj)
    for label, objects in (("Points", result.points), ("Proxies", result.proxies)):
        if objects:
            collection = into.children.get(f"{stem} {label}") if further else None
            if collection is None:
                collection = bpy.data.collections.new(f"{stem} {label}")
                collection.color_tag = "COLOR_04"
                into.children.link(collection)
            for obj in objects:
                collection.objects.link(obj)


def _report_centre(document: p3d.P3d, report: Report, name: str, *, moving: bool) -> None:
    lod = document.lod(lod_kinds.GEOMETRY)
    if not moving or lod is None:
        return
    properties = {label.lower(): value.strip() for label, value in lod.properties().items()}
    if properties.get("autocenter") != "0":
        report.note("the game centres this model, so animations are shifted: its geometry lacks autocenter = 0", name)
