"""Models of the Arma tools (MLOD) into Blender, so that an animation can be seen on a body; they are not written.

A mesh object for each level that is asked for; points of the memory level and proxies are empties, which follow the
bone whose selection they are in. With an armature the meshes hang on it and have its modifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix

from ...blender import armature, attributes, bone_display, scope
from ...blender import mesh as meshes
from ...blender.scope import set_mode
from ...core import files, names
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.arma import p3d
from ...formats.arma.skeletons import BoneTable
from .animation_import import bone_names
from .options import Levels, ModelImportOptions
from .skeletons import build_rig, selections_of
from .surfaces import Surfaces

if TYPE_CHECKING:
    from ...blender.typed import Object


POINT_SIZE, PROXY_SIZE = 0.02, 0.1
"""Metres that empties are shown with."""
MOST_POINTS = 4096
"""Of one memory level that become empties; more are vertices of a mesh."""


KINDS: dict[Levels, tuple[str, ...]] = {
    Levels.VISUAL: ("visual",),
    Levels.VIEWS: ("gunner's view", "pilot's view", "cargo view", "commander's view"),
    Levels.SHADOW: ("shadow", "shadow buffer", "cargo view shadow", "pilot's view shadow", "gunner's view shadow"),
    Levels.GEOMETRY: (
        *("geometry", "buoyancy", "PhysX", "view geometry", "fire geometry"),
        *("cargo view geometry", "cargo view fire geometry", "commander's view geometry"),
        *("commander's view fire geometry", "pilot's view geometry", "pilot's view fire geometry"),
        *("gunner's view geometry", "gunner's view fire geometry"),
    ),
    Levels.MEMORY: ("memory",),
    Levels.OTHER: ("land contact", "roadway", "paths", "hit points", "edit", "subparts", "wreck", "special"),
}


@dataclass
class ImportedModel:
    """``meshes`` objects of levels in the file's order; ``points`` and ``proxies`` empties; ``rig`` or None."""

    meshes: list[Any] = field(default_factory=list)
    points: list[Any] = field(default_factory=list)
    proxies: list[Any] = field(default_factory=list)
    rig: Any = None

    @property
    def empties(self) -> list[Object]:
        """Points and proxies."""
        return [*self.points, *self.proxies]


def read_model(path: str, report: Report) -> p3d.P3d:
    """A model, read once for `fits` and `import_model`. Raises `ReadError`, also for the game's binarised models."""
    return p3d.read(files.read_file(path), path, report)


def import_model(
    context: Any,
    rig: Any,
    file: str,
    options: ModelImportOptions,
    report: Report,
    *,
    document: p3d.P3d | None = None,
) -> ImportedModel:
    """The model in the scene, on ``rig`` unless that is None; its first mesh is active afterwards.

    ``document``: the file, if it was read already.

    Raises `ReadError` before anything is made, also for the game's binarised models and where there is nothing in the
    levels asked for.
    """
    document = document or read_model(file, report)
    chosen = _chosen(document, options.levels, file, report)
    stem = Path(file).stem
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    into = None
    if options.new_rig:
        rig = build_rig(
            context, document, file, config=options.config, pivots_model=options.pivots_model, report=report
        )
        into = scope.target_collection(context, report, options.collection)
        into.objects.link(rig)
        rig.show_in_front = True
        if options.readable_bones:
            bone_display.make_readable(rig)
    into = into or scope.target_collection(context, report, options.collection)
    builder = _Builder(document, file, _groups(rig, document, options), rig, options, report)
    result = ImportedModel(rig=rig)
    for lod in chosen:
        builder.add(lod, result)
    builder.surfaces.tell(report)
    _link(result, into, stem)
    _tell_of_centre(document, report, stem, moving=rig is not None)
    selected = result.meshes or result.points
    scope.make_current(context, selected, selected[0])
    return result


def _chosen(document: p3d.P3d, levels: Iterable[Levels], file: str, report: Report) -> list[p3d.Lod]:
    """The levels asked for that hold anything. Raises `ReadError`."""
    filled = [lod for lod in document.lods if len(lod.points)]
    wanted = set(levels)
    kinds = {kind for group in wanted for kind in KINDS.get(group, ())}
    first = next((lod for lod in filled if lod.kind == "visual"), None) if Levels.FIRST in wanted else None
    found = [lod for lod in filled if lod is first or lod.kind in kinds]
    if not found and filled and wanted == {Levels.FIRST}:
        report.note(f"there is no visual LOD; the first LOD is imported ({filled[0].kind})", Path(file).name)
        return filled[:1]
    if not found:
        there = ", ".join(dict.fromkeys(lod.kind for lod in filled)) or "none that holds a point"
        raise ReadError(
            "the chosen LODs are empty",
            file=file,
            remedy=f"Choose others; there are: {there}" if filled else "The model is empty: choose another file",
        )
    empty = sum(1 for lod in document.lods if not len(lod.points) and lod.kind in kinds)
    if empty:
        report.note(f"LODs without points are left out: {empty}", Path(file).name)
    return found


def _groups(rig: Object | None, document: p3d.P3d, options: ModelImportOptions) -> dict[str, str]:
    """Selection in lower case -> the bone of the armature that it moves with."""
    if rig is None:
        return {}
    selections = selections_of(document.lods)
    table = BoneTable() if options.new_rig else options.table
    named = zip(selections, bone_names(rig, selections, options.prefix, table), strict=True)
    return {selection.lower(): bone for selection, bone in named if bone}


def fits(rig: Object, document: p3d.P3d, prefix: str, table: BoneTable) -> bool:
    """Whether an armature has bones named like half of a model's selections, or the model has half of its bones."""
    selections = selections_of(document.lods)
    matching = sum(1 for name in bone_names(rig, selections, prefix, table) if name)
    return bool(matching) and 2 * matching >= min(len(selections), len(rig.data.bones))


@dataclass
class _Builder:
    """One model on its way in; ``groups`` as `_groups` gives them."""

    document: p3d.P3d
    file: str
    groups: dict[str, str]
    rig: Any
    options: ModelImportOptions
    report: Report
    surfaces: Surfaces = field(init=False)

    def __post_init__(self) -> None:
        self.surfaces = Surfaces(Path(self.file), self.options.textures, self.options.work_folder)

    def add(self, lod: p3d.Lod, result: ImportedModel) -> None:
        """What becomes of one level."""
        if lod.kind == "memory" and len(lod.points) <= MOST_POINTS:
            result.points += [self._empty(point, "POINT") for point in p3d.named_points(lod)]
            return
        name = Path(self.file).stem
        if result.meshes:
            name = f"{name} {lod.kind}" + (f" {float(lod.resolution):g}" if lod.kind == "visual" else "")
        mesh = self._mesh(lod, names.shortened(name))
        result.meshes.append(mesh)
        proxies = list(p3d.proxies(lod))
        if self.options.proxies:
            made = [self._empty(proxy, "PROXY") for proxy in proxies]
            for shown in made:
                if shown.parent is None:
                    shown.parent = mesh
            result.proxies += made
        elif proxies:
            self.report.note(f"proxies are left out: {len(proxies)}", name)

    def _mesh(self, lod: p3d.Lod, name: str) -> Object:
        mesh = p3d.decode_polygons(lod, self.report, self.groups, name)
        data = meshes.build_polygons(mesh, [self.surfaces.build(wanted) for wanted in mesh.materials])
        shown: Any = bpy.data.objects.new(name, data)
        attributes.build_vertex_groups(shown, mesh)
        if lod.kind != "visual":
            shown.display_type = "WIRE"
        properties = shown.motionbridge_arma_level
        properties.is_level, properties.kind, properties.path = True, lod.kind, self.file
        properties.resolution = float(lod.resolution)
        for label, value in lod.properties().items():
            row = properties.properties.add()
            row.name, row.value = label, value
        if self.rig is not None:
            hang_on_rig(shown, self.rig)
            self._tell_of_bones(mesh.groups, name)
        return shown

    def _tell_of_bones(self, groups: Sequence[str], name: str) -> None:
        if not set(groups) & {bone.name for bone in self.rig.data.bones}:
            self.report.warn(f"none of its selections is a bone of {self.rig.name!r}: it is not animated", name)

    def _empty(self, point: p3d.NamedPoint, kind: str) -> Object:
        label = point.name.replace("\\", "/").rpartition("/")[2] if kind == "PROXY" else point.name
        shown: Any = bpy.data.objects.new(names.shortened(label or f"point {point.point}"), None)
        shown.empty_display_type = "ARROWS" if kind == "PROXY" else "SPHERE"
        shown.empty_display_size = PROXY_SIZE if kind == "PROXY" else POINT_SIZE
        shown.matrix_basis = Matrix(point.transform.tolist())
        mark = shown.motionbridge_arma_mark
        mark.kind, mark.game_name = kind, point.name
        bone = next((self.groups[name.lower()] for name in point.bones if name.lower() in self.groups), "")
        if bone:
            armature.hang_at_rest(shown, self.rig, bone)
        elif self.rig is not None and kind == "POINT":
            shown.parent = self.rig
        return shown


def hang_on_rig(shown: Object, rig: Object) -> None:
    """Let a mesh stand in the armature's space and follow its bones."""
    shown.parent = rig
    modifier = shown.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig


def _link(result: ImportedModel, into: bpy.types.Collection, stem: str) -> None:
    for shown in result.meshes:
        into.objects.link(shown)
    for label, made in (("Points", result.points), ("Proxies", result.proxies)):
        if made:
            below = bpy.data.collections.new(f"{stem} {label}")
            below.color_tag = "COLOR_04"
            into.children.link(below)
            for shown in made:
                below.objects.link(shown)


def _tell_of_centre(document: p3d.P3d, report: Report, name: str, *, moving: bool) -> None:
    lod = document.lod("geometry")
    if not moving or lod is None:
        return
    said = {label.lower(): value.strip() for label, value in lod.properties().items()}
    if said.get("autocenter") != "0":
        report.note("the game centres this model, so animations are shifted: its geometry lacks autocenter = 0", name)
