"""Models of the editor (`.object`) into Blender: read, decode, build, count.

Bones become an armature with the meshes skinned to it; without bones the meshes stand alone, below an empty if there
are several. Normals are those that the editor shows, by the rule that the file follows; sharp edges say the same where
edges can.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import armature, attributes, scope, sharp_mesh
from ....blender import mesh as meshes
from ....blender.armature import matrices_of
from ....blender.properties import keep
from ....blender.scope import set_mode
from ....core import files, names
from ....core.errors import ReadError
from ....core.model import Material, PolygonMesh, Skeleton
from ....core.report import Report
from ....formats.xray import bones as bone_files
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ....formats.xray.object.chunk_types import TWO_SIDED, Authorship, ExportScale, LodName, ObjectFlags, Surface
from ....formats.xray.object.mapping import decode_mesh, decode_skeleton
from ....formats.xray.object.smoothing import has_normals
from ....formats.xray.ogf.chunk_types import UserData
from ..bones import values as bone_values
from ..game_tree import GameTree, tree_of
from ..options import ModelImportOptions
from .importing import ImportedModel, build_material, find_references, gather_below, show_bones

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Context, Object


def import_model(context: Any, path: Path | str, options: ModelImportOptions, report: Report) -> ImportedModel:
    """The model at ``path`` in the scene, selected, its armature active. Raises `ReadError` if nothing can be shown."""
    path = Path(path)
    data = files.read_file(path)
    document = editor_model.read(data, str(path), report)
    model = document.model
    skeleton = decode_skeleton(model, path.stem)
    decoded = [decode_mesh(mesh, model, report) for mesh in model.meshes] if options.meshes else []
    if skeleton is None and not decoded:
        raise ReadError("this model has nothing that can be shown", file=str(path), remedy="Choose one with a mesh")
    into = scope.target_collection(context, report, options.collection)
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    rig, given = (None, []) if skeleton is None else _build_rig(context, skeleton, model)
    tree = tree_of(path, options.game_folder, options.textures_folder)
    surfaces = _Surfaces(model, tree, options, report)
    made = [_build_mesh(mesh, number, surfaces, given) for number, mesh in enumerate(decoded)]
    for shown, mesh, held in zip(made, decoded, model.meshes, strict=len(made) > 0):
        sharp_mesh.remember(shown.data, mesh, report, normals=has_normals(held))
    if rig is not None and options.readable_bones:
        show_bones(rig)
    holder = rig or (made[0] if len(made) == 1 else bpy.data.objects.new(path.stem, None))
    gather_below(holder, made, into)
    _remember(holder, model, path, data)
    references = find_references([names.decode(name) for name in model.references], tree)
    inside = model.first(skl.Skl) if model.motions else None
    digest = hashlib.sha256(data).hexdigest() if inside is not None else ""
    result = ImportedModel(holder, rig, made, references, inside, digest)
    scope.make_current(context, result.objects, holder)
    return result


def _build_rig(context: Context, skeleton: Skeleton, model: editor_model.Model) -> tuple[Any, list[str]]:
    rig, given = armature.build(context, skeleton)
    bones = rig.data.bones
    for number, (found, name) in enumerate(zip(model.bones, given, strict=True)):
        properties = bones[name].motionbridge_xray
        properties.is_bone = True
        properties.index = number
        properties.game_name, properties.imported_name = found.name, name
        placement = found.first(bone_files.Placement)
        physics = bone_files.decode_bone(found)
        if placement is not None:
            physics.entry.rotation, physics.entry.offset = placement.rotation, placement.offset
        bone_values.build(bones[name], physics.entry)
    for bone, rest in zip(bones, matrices_of(bones, "matrix_local").reshape(-1, 16), strict=True):
        bone.motionbridge_xray.imported_rest = rest.tolist()
    return rig, given


def _build_mesh(mesh: PolygonMesh, number: int, surfaces: _Surfaces, given: list[str]) -> Object:
    """A mesh object; ``given`` are Blender's names of the bones, whose groups come first."""
    mesh.groups = [*given, *mesh.groups[len(given) :]]
    data = meshes.build_polygons(mesh, [surfaces.build(wanted) for wanted in mesh.materials])
    shown: Any = bpy.data.objects.new(mesh.name, data)
    attributes.build_vertex_groups(shown, mesh)
    shown.motionbridge_editor_mesh.is_part = True
    shown.motionbridge_editor_mesh.index = number
    return shown


class _Surfaces:
    """The surfaces of a model as materials; each is made once."""

    def __init__(self, model: editor_model.Model, tree: GameTree, options: ModelImportOptions, report: Report) -> None:
        """Of each name the first counts, as in the editor."""
        self._listed = {surface.label.lower(): surface for surface in reversed(model.surfaces)}
        self._tree, self._options, self._report = tree, options, report
        self._made: dict[str, Any] = {}

    def build(self, wanted: Material) -> Any:
        """The material of a surface that a mesh names."""
        key = wanted.name.lower()
        if key not in self._made:
            made = build_material(wanted, self._tree, self._options, self._report)
            surface = self._listed.get(key)
            self._made[key] = made if surface is None else _described(made, surface)
        return self._made[key]


def _described(made: typed.Material, surface: Surface) -> typed.Material:
    """The material with what else the surface says; a copy of one that already says something else."""
    values = {
        "game_name": surface.label,
        "compiler_shader": names.decode(surface.compiler_shader or b""),
        "game_material": names.decode(surface.material or b""),
        "two_sided": bool(surface.flags & TWO_SIDED),
    }
    properties = made.motionbridge_surface
    if properties.is_surface and any(getattr(properties, name) != value for name, value in values.items()):
        made = made.copy()
        made.name = names.shortened(surface.label)
        properties = made.motionbridge_surface
    properties.is_surface = True
    for name, value in values.items():
        setattr(properties, name, value)
    made.use_backface_culling = not values["two_sided"]
    return made


def _remember(holder: Any, model: editor_model.Model, path: Path, data: bytes) -> None:
    properties = holder.motionbridge_editor_model
    properties.is_model = True
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
        shown = properties.parts.add()
        shown.name = names.decode(part.name)
        for bone in part.bones:
            shown.bones.add().name = names.decode(bone)
