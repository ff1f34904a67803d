"""Import of X-Ray models, those of the game (`.ogf`) and of its editor (`.object`).

A skeleton becomes an armature with its meshes skinned to it. A model without bones becomes a mesh, or several meshes
parented to an empty. Editor models get the normals that the editor shows, computed by the rule of the file, and sharp
edges where these can show the same.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import armature, attributes, material, scope, sharp_mesh
from ....blender import mesh as meshes
from ....blender.armature import matrices_of
from ....blender.properties import keep
from ....blender.scope import set_mode
from ....core import files, names
from ....core.binary import DAMAGED
from ....core.errors import MotionbridgeError, ReadError
from ....core.model import Material, Mesh, PolygonMesh, Skeleton
from ....core.report import Report, say
from ....core.scratch import without_garbage_collection
from ....formats.xray import bones as bone_files
from ....formats.xray import object as editor_model
from ....formats.xray import ogf, skl
from ....formats.xray.game_tree import MODEL_SUFFIX, GameTree, tree_of
from ....formats.xray.object.chunk_types import TWO_SIDED, Authorship, ExportScale, LodName, ObjectFlags, Surface
from ....formats.xray.object.mapping import decode_mesh
from ....formats.xray.object.mapping import decode_skeleton as decode_editor_skeleton
from ....formats.xray.object.smoothing import has_normals
from ....formats.xray.ogf.chunk_types import BoneNames, IkData, Texture, UserData
from ....formats.xray.ogf.document import (
    Ogf,
    OldVisualType,
    Part,
    VisualType,
    lod_path,
    motion_set_of,
    parts,
    reference_names,
)
from ....formats.xray.ogf.mesh import decode_meshes, mesh_parts
from ....formats.xray.ogf.skeleton import decode_skeleton
from ..bones import values as bone_values
from ..options import ModelImportOptions
from .properties import groups_without_bones, part_text

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Context, Object

MODELS = "*.[oO][gG][fF]"
MOST_MODELS = 200
"""Models in subfolders of a motion file's folder that are read; reading all models of a game would take minutes."""
TRANSPARENT_SHADERS = ("aref", "trans", "glass", "window", "blend")
"""Parts of names of shaders that use the texture's alpha as transparency. For others it means gloss or nothing."""

_SKELETONS: dict[int, set[int]] = {
    4: {VisualType.SKELETON_ANIMATED, VisualType.SKELETON_RIGID},
    3: {OldVisualType.SKELETON_ANIMATED, OldVisualType.SKELETON_RIGID},
}

_UNSHOWN_TYPES: dict[int, dict[int, str]] = {
    4: {
        VisualType.LOD: "the pictures of a distant model are not shown",
        VisualType.TREE: "a tree's place and light in its level are not shown",
        VisualType.TREE_PROGRESSIVE: "a tree's place and light in its level are not shown",
        VisualType.PARTICLE_EFFECT: "particles are not shown",
        VisualType.PARTICLE_GROUP: "particles are not shown",
        VisualType.FLUID: "fluids are not shown",
    },
    3: {
        OldVisualType.LOD: "the pictures of a distant model are not shown",
        OldVisualType.TREE: "a tree's place and light in its level are not shown",
        OldVisualType.DETAIL_PATCH: "detail patches are not shown",
        OldVisualType.PARTICLE: "particles are not shown",
    },
}


@dataclass(frozen=True)
class MotionReference:
    """A motion reference of the model, and the files on this disk that it refers to."""

    name: str
    files: tuple[Path, ...]


@dataclass
class ImportedModel:
    """An imported model. ``rig``: None without bones. ``holder``: the object that stores the file."""

    holder: Any
    rig: Any = None
    meshes: list[Any] = field(default_factory=list)
    references: list[MotionReference] = field(default_factory=list)
    motions: Any = None
    """Motions inside the model: a `MotionSet` of the game or a `Skl` of the editor, None without any."""
    digest: str = ""
    """SHA-256 of the model's file, empty if it contains no motions."""

    @property
    def objects(self) -> list[Any]:
        """Objects that the import created: the holder and the meshes."""
        return list(dict.fromkeys([self.holder, *self.meshes]))


@without_garbage_collection()
def import_model(
    context: Context,
    path: Path | str,
    options: ModelImportOptions,
    report: Report,
    *,
    tree: GameTree | None = None,
    into: bpy.types.Collection | None = None,
) -> ImportedModel:
    """Import the game model at ``path``. Its objects are selected and its armature is active, in object mode.

    Nothing else in the scene changes. ``tree``: folders that textures and motions are searched in; ``into``: the
    collection; both default to those of the ``options``. Raises `ReadError` before anything is created if the file
    contains nothing that can be shown.
    """
    path = Path(path)
    data = files.read_file(path)
    document = ogf.read(data, str(path), report)
    skeleton, refusal = _skeleton(document, report)
    tree = tree or tree_of(path, options.games, report)
    shapes = decode_meshes(document, report) if options.meshes else []
    _report_left_out(document, report)
    if skeleton is None and not shapes:
        raise refusal or _nothing_to_show(document)
    into = into or scope.target_collection(context, report, options.collection)
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    rig = None
    if skeleton is not None:
        rig, given = _build_rig(context, skeleton, document)
        # Groups are the bones in the file's order; Blender may have shortened their names.
        shapes = [replace(shape, groups=given if shape.groups else []) for shape in shapes]
    else:
        shapes = [replace(shape, groups=list(groups_without_bones(shape.groups))) for shape in shapes]
    own_meshes = _build_meshes(shapes, mesh_parts(document), tree, options, report)
    if rig is not None and options.readable_bones:
        show_bones(rig)
    holder = rig or (own_meshes[0] if len(own_meshes) == 1 else bpy.data.objects.new(document.name, None))
    gather_below(holder, own_meshes, into)
    _store_model(holder, document, path, data)
    inside = motion_set_of(document)
    digest = hashlib.sha256(data).hexdigest() if inside is not None else ""
    result = ImportedModel(holder, rig, own_meshes, references_of(document, tree), inside, digest)
    report.include(tree.report())
    missing = [reference.name for reference in result.references if not reference.files]
    for name in missing:
        report.note("a motion file of the model was not found; add its game to the games of the preferences", name)
    scope.make_current(context, result.objects, holder)
    return result


def _skeleton(document: Ogf, report: Report) -> tuple[Skeleton | None, ReadError | None]:
    """Return the skeleton; or None, with an error if the model has bones that cannot be read."""
    skeletal = document.header.type in _SKELETONS[document.header.version]
    if not skeletal and document.first(BoneNames) is None:
        return None, None
    try:
        return decode_skeleton(document, report), None
    except ReadError as wrong:
        report.warn(say("imported without bones: {}", wrong.problem), document.name)
        return None, wrong


def _nothing_to_show(document: Ogf) -> ReadError:
    if document.runs_past_end:
        return ReadError(
            "nothing of the model can be shown: chunks of the file run past its end",
            file=document.file,
            remedy=DAMAGED,
        )
    return ReadError(
        "this model has nothing that can be shown",
        file=document.file,
        remedy="Models of levels store their geometry in the level's own files; import models of gamedata\\meshes",
    )


def _report_left_out(document: Ogf, report: Report) -> None:
    for part in {part.path: part for part in [Part((), document), *parts(document)]}.values():
        header = part.visual.header
        sentence = _UNSHOWN_TYPES[header.version].get(header.type)
        if sentence is not None:
            report.warn(sentence, ".".join([document.name, *map(str, part.path)]))


def _build_rig(context: Context, skeleton: Skeleton, document: Ogf) -> tuple[Any, list[str]]:
    rig, given = armature.build(context, skeleton)
    physics = document.first(IkData)
    bones = rig.data.bones
    for number, (label, name) in enumerate(zip(skeleton.bones, given, strict=True)):
        properties = bones[name].motionbridge_xray
        properties.is_bone = True
        properties.index = number
        properties.game_name, properties.imported_name = label, name
        if physics is not None:
            bone_values.build(bones[name], physics.bones[number])
    for bone, rest in zip(bones, matrices_of(bones, "matrix_local").reshape(-1, 16).tolist(), strict=True):
        bone.motionbridge_xray.imported_rest = rest
    return rig, given


def show_bones(rig: Object) -> None:
    """Draw the bones of a new armature readable and in front of the meshes."""
    armature.make_readable(rig)
    rig.show_in_front = True


def _build_meshes(
    shapes: Sequence[Mesh],
    mesh_parts_of_model: Sequence[Part],
    tree: GameTree,
    options: ModelImportOptions,
    report: Report,
) -> list[Object]:
    surfaces: dict[tuple[str, str], Any] = {}
    result = []
    for shape, part in zip(shapes, mesh_parts_of_model, strict=len(shapes) > 0):
        for surface in shape.materials:
            key = (surface.texture, surface.shader)
            if key not in surfaces:
                surfaces[key] = build_material(surface, tree, options, report)
        obj = meshes.build(
            shape, [surfaces[used_material.texture, used_material.shader] for used_material in shape.materials], report
        )
        obj.motionbridge_mesh.is_part = True
        obj.motionbridge_mesh.part = part_text(part.path)
        result.append(obj)
    return result


def build_material(surface: Material, tree: GameTree, options: ModelImportOptions, report: Report) -> typed.Material:
    """Return a material for a texture and a shader, with the image if it is wanted and found."""
    image = None
    # The engine creates textures with $-names while it runs.
    if options.textures and surface.texture and not surface.texture.startswith("$"):
        path = tree.find_texture(surface.texture)
        image = material.load_image(path) if path is not None else None
        if path is None:
            tree.warn_of_missing(surface.texture, report)
        elif image is None:
            report.warn("Blender cannot show a texture", str(path))
    see_through = any(part in surface.shader.lower() for part in TRANSPARENT_SHADERS)
    return material.build(surface, image, see_through=see_through)


def textures_of(path: Path, tree: GameTree) -> list[Path]:
    """Return the files of a model's textures (.ogf, .object), without those that are missing. Raises `ReadError`."""
    data, report = files.read_file(path), Report()
    if path.suffix.lower() == MODEL_SUFFIX:
        visuals = (part.visual.first(Texture) for part in parts(ogf.read(data, str(path), report)))
        listed = [visual.texture for visual in visuals if visual is not None]
    else:
        listed = [surface.texture for surface in editor_model.read(data, str(path), report).model.surfaces]
    texts = dict.fromkeys(map(names.decode, listed))
    paths = (tree.find_texture(text) for text in texts if not text.startswith("$"))
    return list(dict.fromkeys(texture for texture in paths if texture is not None))


def gather_below(holder: Any, own_meshes: Sequence[Object], into: bpy.types.Collection) -> None:
    """Link all objects to a collection, and parent the meshes to their holder; an armature also deforms them."""
    for obj in dict.fromkeys([holder, *own_meshes]):
        into.objects.link(obj)
    for obj in own_meshes:
        if obj == holder:
            continue
        obj.parent = holder
        if holder.type == "ARMATURE":
            modifier = obj.modifiers.new("Armature", "ARMATURE")
            modifier.object = holder


def _store_model(holder: Any, document: Ogf, path: Path, data: bytes) -> None:
    properties = holder.motionbridge_model
    properties.is_model = True
    properties.path = str(path)
    keep(properties, "document", data)
    for name in reference_names(document):
        properties.references.add().name = name
    user_data = document.first(UserData)
    if user_data is not None:
        properties.user_data = names.decode(user_data.text)
    properties.lod = lod_path(document)


def references_of(document: Ogf, tree: GameTree) -> list[MotionReference]:
    """Return the motion references of a model with the files they refer to."""
    return find_references(reference_names(document), tree)


def find_references(names: Sequence[str], tree: GameTree) -> list[MotionReference]:
    """Find the files that the motion references ``names`` refer to."""
    files_by_name: dict[str, tuple[Path, ...]] = {}
    for name in dict.fromkeys(names):
        # An entry of the list that the later games use may contain several names.
        paths = [path for part in dict.fromkeys(name.split(",")) for path in tree.find_motions(part)]
        files_by_name[name] = tuple(dict.fromkeys(paths))
    return [MotionReference(name, files_by_name[name]) for name in names]


def models_playing(motions: Path | str, options: ModelImportOptions | None, report: Report) -> list[Path]:
    """Return the models in the folder of a motion file that refer to it; ``report`` says what could not be looked at.

    Models whose name the file's name starts with come first. If there are no models, return the first one in the
    subfolders: characters that share motions are in folders of their own.
    """
    motions = Path(motions).absolute()
    options = options or ModelImportOptions()
    tree = tree_of(motions, options.games, Report())
    below = tree.beside.below("", MODEL_SUFFIX).values()
    playing = [path for path in below if path.parent == motions.parent and _plays(path, motions, tree)]
    if not playing:
        deeper = [path for path in below if path.parent != motions.parent]
        paths = (path for path in sorted(deeper[:MOST_MODELS]) if _plays(path, motions, tree))
        playing = list(itertools.islice(paths, 1))
        if not playing and (left := len(deeper) - MOST_MODELS) > 0:
            words = "none of the first {} models below the folder plays these; {:# more is|# more are} not looked at"
            report.note(say(words, MOST_MODELS, left))
    report.include(tree.beside.report())
    return sorted(playing, key=lambda path: (not motions.stem.lower().startswith(path.stem.lower()), path.name))


def _plays(path: Path, motions: Path, tree: GameTree) -> bool:
    try:
        document = ogf.read(files.read_file(path), str(path), Report())
    except MotionbridgeError:
        # A broken model is not reported, because the user did not choose it.
        return False
    return any(motions in reference.files for reference in references_of(document, tree))


# Models of the editor -------------------------------------------------------------------------------------------------


@without_garbage_collection()
def import_editor_model(
    context: Context, path: Path | str, options: ModelImportOptions, report: Report
) -> ImportedModel:
    """Import the editor model at ``path``. Its objects are selected, its armature is active.

    Raises `ReadError` if nothing in it can be shown.
    """
    path = Path(path)
    data = files.read_file(path)
    document = editor_model.read(data, str(path), report)
    model = document.model
    skeleton = decode_editor_skeleton(model, path.stem)
    decoded = [decode_mesh(mesh, model, report) for mesh in model.meshes] if options.meshes else []
    if skeleton is None and not decoded:
        raise ReadError("this model has nothing that can be shown", file=str(path), remedy="Choose one with a mesh")
    into = scope.target_collection(context, report, options.collection)
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    rig, given = (None, []) if skeleton is None else _build_editor_rig(context, skeleton, model)
    tree = tree_of(path, options.games, report)
    surfaces = _Surfaces(model, tree, options, report)
    own_meshes = [_build_mesh(mesh, number, surfaces, given) for number, mesh in enumerate(decoded)]
    for obj, mesh, held in zip(own_meshes, decoded, model.meshes, strict=len(own_meshes) > 0):
        sharp_mesh.remember(obj.data, mesh, report, normals=has_normals(held))
    if rig is not None and options.readable_bones:
        show_bones(rig)
    holder = rig or (own_meshes[0] if len(own_meshes) == 1 else bpy.data.objects.new(path.stem, None))
    gather_below(holder, own_meshes, into)
    _store_editor_model(holder, model, path, data, has_meshes=bool(own_meshes))
    references = find_references([names.decode(name) for name in model.references], tree)
    inside = model.first(skl.Skl) if model.motions else None
    digest = hashlib.sha256(data).hexdigest() if inside is not None else ""
    result = ImportedModel(holder, rig, own_meshes, references, inside, digest)
    scope.make_current(context, result.objects, holder)
    return result


def _build_editor_rig(context: Context, skeleton: Skeleton, model: editor_model.Model) -> tuple[Any, list[str]]:
    rig, given = armature.build(context, skeleton)
    bones = rig.data.bones
    for number, (own_bone, label, name) in enumerate(zip(model.bones, skeleton.bones, given, strict=True)):
        bone = bones[name]
        properties = bone.motionbridge_xray
        properties.is_bone = True
        properties.index = number
        properties.game_name, properties.imported_name = label, name
        placement = own_bone.first(bone_files.Placement)
        physics = bone_files.decode_bone(own_bone)
        if placement is not None:
            physics.entry.rotation, physics.entry.offset = placement.rotation, placement.offset
        bone_values.build(bone, physics.entry)
    for bone, rest in zip(bones, matrices_of(bones, "matrix_local").reshape(-1, 16).tolist(), strict=True):
        bone.motionbridge_xray.imported_rest = rest
    return rig, given


def _build_mesh(mesh: PolygonMesh, number: int, surfaces: _Surfaces, given: list[str]) -> Object:
    """Create a mesh object. ``given``: Blender's names of the bones, whose vertex groups come first."""
    mesh.groups = [*given, *mesh.groups[len(given) :]]
    data = meshes.build_polygons(mesh, [surfaces.build(wanted) for wanted in mesh.materials])
    obj: Any = bpy.data.objects.new(mesh.name, data)
    attributes.build_vertex_groups(obj, mesh)
    obj.motionbridge_editor_mesh.is_part = True
    obj.motionbridge_editor_mesh.index = number
    return obj


class _Surfaces:
    """Materials of a model's surfaces; each is created once."""

    def __init__(self, model: editor_model.Model, tree: GameTree, options: ModelImportOptions, report: Report) -> None:
        """Of surfaces with the same name the first one is used, as in the editor."""
        self._listed = {surface.label.lower(): surface for surface in reversed(model.surfaces)}
        self._tree, self._options, self._report = tree, options, report
        self._made: dict[str, Any] = {}

    def build(self, wanted: Material) -> Any:
        """Return the material of a surface that a mesh refers to."""
        key = wanted.name.lower()
        if key not in self._made:
            used_material = build_material(wanted, self._tree, self._options, self._report)
            surface = self._listed.get(key)
            self._made[key] = used_material if surface is None else _described(used_material, surface)
        return self._made[key]


def _described(result: typed.Material, surface: Surface) -> typed.Material:
    """Set the other values of a surface on a material; on a copy if the material already has different ones."""
    values = {
        "game_name": surface.label,
        "compiler_shader": names.decode(surface.compiler_shader or b""),
        "game_material": names.decode(surface.material or b""),
        "two_sided": bool(surface.flags & TWO_SIDED),
    }
    properties = result.motionbridge_surface
    if properties.is_surface and any(getattr(properties, name) != value for name, value in values.items()):
        result = result.copy()
        result.name = names.shortened(surface.label)
        properties = result.motionbridge_surface
    properties.is_surface = True
    for name, value in values.items():
        setattr(properties, name, value)
    result.use_backface_culling = not values["two_sided"]
    return result


def _store_editor_model(holder: Any, model: editor_model.Model, path: Path, data: bytes, *, has_meshes: bool) -> None:
    properties = holder.motionbridge_editor_model
    properties.is_model, properties.has_meshes = True, has_meshes
    properties.path = str(path)
    keep(properties, "document", data)
    for name in model.references:
        properties.references.add().name = names.decode(name)
    flags, user_data = model.first(ObjectFlags), model.first(UserData)
    lod, author, scale = model.first(LodName), model.first(Authorship), model.first(ExportScale)
    properties.flags = f"{flags.flags:#x}" if flags is not None else ""
    properties.user_data = names.decode(user_data.text) if user_data is not None else ""
    if scale is not None:
        properties.scale = scale.scale
    properties.lod = names.decode(lod.name) if lod is not None else ""
    properties.creator = names.decode(author.creator) if author is not None else ""
    properties.modifier = names.decode(author.modifier) if author is not None else ""
    for part in model.parts:
        entry = properties.parts.add()
        entry.name = names.decode(part.name)
        for bone in part.bones:
            entry.bones.add().name = names.decode(bone)
