"""Import of editable Arma models (MLOD): to see animations on a body, and to edit them.

Each chosen level of detail becomes a mesh object; points of the memory LOD and proxies become empties, which follow the
bone whose selection they are in. With an armature the meshes are its children and have its modifier.

The game's textures (PAA) cannot be shown. PNG or TGA files of the same names are used instead: beside the model, in its
``data`` folder, or in the folders that the texture's path names. These are searched for below the model's folder and
its parent folders up to the project's, and below the tools' work folder; nowhere else, since a model from a stranger
may contain any path. Procedural textures that are a plain colour are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix

from ...blender import armature, attributes, material, scope, sharp_mesh
from ...blender import mesh as meshes
from ...blender.properties import keep
from ...blender.scope import set_mode
from ...core import files, names
from ...core.errors import ReadError
from ...core.model import Material
from ...core.report import Report
from ...formats.arma import p3d
from ...formats.arma.skeletons import BoneTable
from .animation_import import bone_names
from .options import Levels, ModelImportOptions
from .skeletons import build_rig, selections_of

if TYPE_CHECKING:
    from ...blender.typed import Context, Object

IMAGE_SUFFIXES = (".png", ".tga")
ALPHA_ENDING = "_ca"
"""Ending of the names of textures whose alpha is transparency."""
WORK_DRIVE = "p:"
"""The drive that the tools use as the game's root; texture paths may start with it."""
PROJECT_MARKS = frozenset({".git", ".hemtt", "mod.cpp"})
ADDON_MARKS = frozenset({"config.cpp", "model.cfg", "$pboprefix$", "$pboprefix$.txt", "$prefix$"})
"""Lower-case names of files that mark their folder as that of a project (`PROJECT_MARKS`) or of one of its addons."""
MOST_FOLDERS = 16
"""Largest number of folders used from a texture's path, and of parent folders searched around a model."""
_COLOUR = re.compile(r"^#\([^)]*\)\s*color\(([^)]*)\)", re.IGNORECASE)


@dataclass
class Surfaces:
    """Builds materials. ``model``: the model's file; ``work_folder``: folder that the tools mount as work drive, None
    if unknown; ``missing``: textures for which no image was found.
    """

    model: Path
    textures: bool
    work_folder: Path | None = None
    missing: list[str] = field(default_factory=list)
    _folders: dict[Path, dict[str, Path]] = field(default_factory=dict)

    def build(self, wanted: Material) -> Any:
        """Return a Blender material; an existing one if it looks the same."""
        colour = colour_of(wanted.texture)
        if colour is not None:
            return material.build(wanted, colour=colour)
        found = self.picture(wanted.texture) if self.textures else None
        image = material.load_image(found) if found is not None else None
        if image is None:
            if self.textures and wanted.texture and not wanted.texture.startswith("#"):
                self.missing.append(wanted.texture)
            return material.build(wanted)
        stem = PurePosixPath(wanted.texture.replace("\\", "/").lower()).stem
        return material.build(wanted, image, see_through=stem.endswith(ALPHA_ENDING))

    def picture(self, texture: str) -> Path | None:
        """Return the image file that shows a texture of the game, None if there is none."""
        path = PurePosixPath(texture.replace("\\", "/").lower())
        if not path.stem or texture.startswith("#"):
            return None
        own = self.model.absolute().parent
        folders = [own, *self._below(own, ("data",))]
        parts = _folders_of(path)
        for around in self._roots(own):
            # ``P:\\tag\\addon\\data\\a.paa`` may be in tag/addon/data or, for the addon's author, in addon/data.
            for start in range(len(parts)):
                folders += self._below(around, tuple(parts[start:]))
        for folder in dict.fromkeys(folders):
            listing = self._listing(folder)
            found = next(
                (listing[path.stem + suffix] for suffix in IMAGE_SUFFIXES if path.stem + suffix in listing), None
            )
            if found is not None and found.is_file():
                return found
        return None

    def _roots(self, own: Path) -> list[Path]:
        """Return the model's folder, its parents up to the project's or the work folder, and the work folder."""
        work = [self.work_folder.absolute()] if self.work_folder is not None else []
        around = [own, *own.parents][: MOST_FOLDERS + 1]
        last = next((index for index, folder in enumerate(around) if folder in work), None)
        if last is None:
            last = next((index for index, folder in enumerate(around) if self._is_marked(folder, PROJECT_MARKS)), None)
        if last is None:
            marked = [index for index, folder in enumerate(around) if self._is_marked(folder, ADDON_MARKS)]
            last = max(marked, default=0)
        return [*around[: last + 1], *work]

    def _is_marked(self, folder: Path, marks: frozenset[str]) -> bool:
        """Return whether a folder contains one of ``marks``; the root of a disk counts only if it is the work drive."""
        if folder == folder.parent:
            return folder.drive.lower() == WORK_DRIVE
        return any(mark in self._listing(folder) for mark in marks)

    def _below(self, folder: Path, parts: tuple[str, ...]) -> list[Path]:
        """Return the folder at path ``parts`` (lower case) below ``folder``, ignoring case; empty if missing."""
        for part in parts:
            found = self._listing(folder).get(part)
            if found is None or not found.is_dir():
                return []
            folder = found
        return [folder]

    def _listing(self, folder: Path) -> dict[str, Path]:
        if folder not in self._folders:
            try:
                self._folders[folder] = {entry.name.lower(): entry for entry in sorted(folder.iterdir())}
            except OSError:  # not readable: treated as empty
                self._folders[folder] = {}
        return self._folders[folder]

    def report_missing(self, report: Report) -> None:
        """Report once which textures cannot be shown."""
        missing = list(dict.fromkeys(self.missing))
        if missing:
            report.note(
                "textures of the game (PAA) cannot be shown; .png or .tga files of the same names beside the model can"
                f"; missing: {len(missing)}, such as {missing[0]}",
                self.model.name,
            )


def _folders_of(texture: PurePosixPath) -> list[str]:
    """Return the folders of a texture's path, from the root of the work drive; empty for any other drive."""
    parts = [part for part in texture.parent.parts if part not in ("/", "//", "..", ".")]
    if parts and parts[0].endswith(":"):
        if parts[0] != WORK_DRIVE:
            return []
        del parts[0]
    return parts[-MOST_FOLDERS:]


def colour_of(texture: str) -> tuple[float, float, float, float] | None:
    """Return red, green, blue, alpha (0 to 1) of a colour such as ``#(argb,8,8,3)color(1,0,0,1,co)``; else None."""
    found = _COLOUR.match(texture.strip())
    if found is None:
        return None
    try:
        values = [min(max(float(value), 0.0), 1.0) for value in found[1].split(",")[:4]]
    except ValueError:
        return None
    return (values[0], values[1], values[2], values[3]) if len(values) == 4 else None


# Models ---------------------------------------------------------------------------------------------------------------

POINT_SIZE, PROXY_SIZE = 0.02, 0.1
"""Display size of empties, in metres."""
MOST_POINTS = 4096
"""Most points of a memory LOD that become empties; a LOD with more becomes a mesh."""


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
    """``meshes`` of levels of detail in the file's order; ``points`` and ``proxies``: empties; ``rig``: armature or
    None.
    """

    meshes: list[Any] = field(default_factory=list)
    points: list[Any] = field(default_factory=list)
    proxies: list[Any] = field(default_factory=list)
    rig: Any = None

    @property
    def empties(self) -> list[Object]:
        """Points and proxies."""
        return [*self.points, *self.proxies]


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
    """Import a model, bound to ``rig`` unless that is None. Its first mesh, or else first point, becomes active.

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
            context, document, file, config=options.config, pivots_model=options.pivots_model, report=report
        )
        into = scope.target_collection(context, report, options.collection)
        into.objects.link(rig)
        rig.show_in_front = True
        if options.readable_bones:
            armature.make_readable(rig)
    into = into or scope.target_collection(context, report, options.collection)
    builder = _Builder(document, file, _groups(rig, document, options), rig, options, report)
    result = ImportedModel(rig=rig)
    builder.model.motionbridge_arma_model.imported = " ".join(
        str(number) for number, lod in enumerate(document.lods) if any(lod is one for one in chosen)
    )
    for lod in chosen:
        builder.add(lod, result)
    builder.surfaces.report_missing(report)
    _link(result, into, stem)
    _report_centre(document, report, stem, moving=rig is not None)
    selected = result.meshes or result.points
    scope.make_current(context, selected, selected[0])
    return result


def _chosen(document: p3d.P3d, levels: Iterable[Levels], file: str, report: Report) -> list[p3d.Lod]:
    """Return the chosen levels of detail that are not empty. Raises `ReadError` if there are none."""
    filled = [lod for lod in document.lods if len(lod.points)]
    wanted = set(levels)
    kinds = {kind for group in wanted for kind in KINDS.get(group, ())}
    first = next((lod for lod in filled if lod.kind == "visual"), None) if Levels.FIRST in wanted else None
    found = [lod for lod in filled if lod is first or lod.kind in kinds]
    if not found and filled and wanted == {Levels.FIRST}:
        report.note(f"there is no visual LOD; the first LOD is imported ({filled[0].kind})", Path(file).name)
        return filled[:1]
    if not found:
        present = ", ".join(dict.fromkeys(lod.kind for lod in filled)) or "none that holds a point"
        raise ReadError(
            "the chosen LODs are empty",
            file=file,
            remedy=f"Choose others; there are: {present}" if filled else "The model is empty: choose another file",
        )
    empty = sum(1 for lod in document.lods if not len(lod.points) and lod.kind in kinds)
    if empty:
        report.note(f"LODs without points are left out: {empty}", Path(file).name)
    return found


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
    surfaces: Surfaces = field(init=False)
    model: Any = field(init=False)
    """The collection that stores the file. The dot hides it in Blender's menus."""

    def __post_init__(self) -> None:
        self.surfaces = Surfaces(Path(self.file), self.options.textures, self.options.work_folder)
        self.model = bpy.data.collections.new(names.shortened(f".{Path(self.file).name}"))
        properties = self.model.motionbridge_arma_model
        properties.path = self.file
        keep(properties, "document", p3d.write(self.document))

    def _index(self, lod: p3d.Lod) -> int:
        return next(number for number, one in enumerate(self.document.lods) if one is lod)

    def add(self, lod: p3d.Lod, result: ImportedModel) -> None:
        """Create the objects of one level of detail and add them to ``result``."""
        if lod.kind == "memory" and len(lod.points) <= MOST_POINTS:
            result.points += [self._empty(point, "POINT", lod, point.point) for point in p3d.named_points(lod)]
            return
        name = Path(self.file).stem
        if result.meshes:
            name = f"{name} {lod.kind}" + (f" {float(lod.resolution):g}" if lod.kind == "visual" else "")
        mesh = self._mesh(lod, names.shortened(name))
        result.meshes.append(mesh)
        proxies = list(p3d.proxies(lod))
        if self.options.proxies:
            made = [self._empty(proxy, "PROXY", lod, number) for number, proxy in enumerate(proxies)]
            for empty in made:
                if empty.parent is None:
                    empty.parent = mesh
            result.proxies += made
        elif proxies:
            self.report.note(f"proxies are left out: {len(proxies)}", name)

    def _mesh(self, lod: p3d.Lod, name: str) -> Object:
        mesh = p3d.decode_polygons(lod, self.report, self.groups, name)
        data = meshes.build_polygons(mesh, [self.surfaces.build(wanted) for wanted in mesh.materials])
        sharp_mesh.remember(data, mesh, self.report, normals=True)
        obj: Any = bpy.data.objects.new(name, data)
        attributes.build_vertex_groups(obj, mesh)
        if lod.kind != "visual":
            obj.display_type = "WIRE"
        properties = obj.motionbridge_arma_level
        properties.is_level, properties.kind, properties.path = True, lod.kind, self.file
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
        found: dict[str, str] = {}
        for selection in p3d.selection_weights(lod):
            found.setdefault(self.groups.get(selection.lower(), selection), selection)
        return list(found.values())

    def _warn_of_bones(self, groups: Sequence[str], name: str) -> None:
        if not set(groups) & {bone.name for bone in self.rig.data.bones}:
            self.report.warn(f"none of its selections is a bone of {self.rig.name!r}: it is not animated", name)

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


def _link(result: ImportedModel, into: bpy.types.Collection, stem: str) -> None:
    for obj in result.meshes:
        into.objects.link(obj)
    for label, made in (("Points", result.points), ("Proxies", result.proxies)):
        if made:
            collection = bpy.data.collections.new(f"{stem} {label}")
            collection.color_tag = "COLOR_04"
            into.children.link(collection)
            for obj in made:
                collection.objects.link(obj)


def _report_centre(document: p3d.P3d, report: Report, name: str, *, moving: bool) -> None:
    lod = document.lod("geometry")
    if not moving or lod is None:
        return
    properties = {label.lower(): value.strip() for label, value in lod.properties().items()}
    if properties.get("autocenter") != "0":
        report.note("the game centres this model, so animations are shifted: its geometry lacks autocenter = 0", name)
