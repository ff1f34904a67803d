"""Export of game models (`.ogf`) based on the imported bytes.

What is not edited is written as the file had it. The rest pose of a bone counts as unedited while it is the same in
Blender as after the import; then the numbers of the file are used, which Blender cannot store exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import armature, material, modifiers
from ....blender import mesh as meshes
from ....blender.action_lists import label_of
from ....blender.instances import shows_instances
from ....blender.properties import kept
from ....blender.transforms import channel_matrix
from ....core import files, names, space
from ....core import model as core_model
from ....core.changes import Changes, Noun
from ....core.errors import WriteError
from ....core.mesh_parts import transformed
from ....core.model import Mesh, Skeleton
from ....core.report import Report, listed, say
from ....formats.xray import ogf
from ....formats.xray.ogf.chunk_types import BoneNames, IkData, LodPath, MotionReferences, MotionReferences2, UserData
from ....formats.xray.ogf.document import (
    LOD,
    Ogf,
    lod_path,
    part_name,
    reference_names,
)
from ....formats.xray.ogf.mesh import (
    Settings,
    bone_labels,
    decode_meshes,
    encode_meshes,
    mesh_parts,
)
from ....formats.xray.ogf.skeleton import decode_skeleton, encode_skeleton
from ...plan import FilePlan, OtherBase, StoredFile, imported_digest
from ..bones import properties as bone_properties
from ..bones import values as bone_values
from ..motions import omf_codec, replaced
from ..motions.inside_models import files_inside, follow_model
from ..options import ModelExportOptions
from . import properties as model_properties

if TYPE_CHECKING:
    from ....blender.typed import Context, Material, Object, PoseBone


Floats = NDArray[np.float64]

SAME_ROTATION, SAME_POSITION = 1e-5, 1e-6
"""Tolerances for an unedited rest matrix: matrix elements, metres. In tests, saving and edit mode changed none."""
SMALLEST_SCALE = 1e-12
NO_TEXTURE = "the material has no texture; type its path in Properties > Material > X-Ray Material"
NORMAL_TOLERANCE = 2e-4
"""Tolerance for normals that Blender stores in 16 bits."""

Step = Callable[[Any, Ogf, "ModelExportOptions", Report], tuple[Ogf, Changes]]


@dataclass
class ModelPlan(FilePlan):
    """A model of the game to write."""

    def settle(self, stored: StoredFile) -> None:
        """Recognise the file also as that of the motions inside it."""
        super().settle(stored)
        follow_model(stored.id_data, self.path, self.data)


def plan_export(
    context: Context, holder: Object, path: Path | str, options: ModelExportOptions, report: Report
) -> ModelPlan:
    """Plan the export of ``holder`` to ``path``: a rig or another object that stores an imported model.

    An unedited model has the bytes of the imported file. The scene does not change. Raises `WriteError`.
    """
    base = _base_of(holder)
    if holder.mode == "EDIT":
        # Changes made in edit mode are not in the data yet.
        holder.update_from_editmode()
    # Matrices of objects moved by a script are only up to date after this.
    context.view_layer.update()
    if holder.type != "ARMATURE":
        warn_of_own_transform(holder, report)
    if options.meshes:
        warn_of_instances(holder, report)
    document, changes = base, Changes()
    for step in _steps(context, holder, base, options):
        document, difference = step(holder, document, options, report)
        changes.include(difference)
    document = _with_texts(holder, document, changes)
    for left_out in changes.left_out:
        report.warn(left_out)
    _warn_of_motions(context, holder, report)
    stored = holder.motionbridge_model
    data = ogf.write(document) if changes else kept(stored, "document")
    return ModelPlan(str(path), data, changes, base=imported_digest(stored))


def export_model(
    context: Context, holder: Object, path: Path | str, options: ModelExportOptions, report: Report
) -> ModelPlan:
    """Write the model to ``path``, completely or not at all. Raises `WriteError`."""
    plan = plan_export(context, holder, path, options, report)
    replaced.warn_of_model(holder.motionbridge_model, plan.path, plan.data, ".ogf", report)
    plan.write(backup=options.backup)
    plan.settle_exported(holder.motionbridge_model)
    follow_model(holder, path, plan.data)
    return plan


def plan_save_back(context: Context, holder: Object, *, if_changed: OtherBase, report: Report) -> ModelPlan:
    """Plan to write the model into its source file.

    Raises `WriteError` as `plan_export`, or if other programs changed that file and ``if_changed`` is
    `OtherBase.REFUSE`.
    """
    properties = holder.motionbridge_model
    plan = plan_export(context, holder, bpy.path.abspath(properties.path), ModelExportOptions(), report)
    files.warn_of_replacing(plan.path, report)
    plan.onto_imported(properties, if_changed)
    return plan


def _warn_of_motions(context: Context, holder: Object, report: Report) -> None:
    """Warn of edited motions inside the model, which are saved by themselves."""
    if edited := sorted(
        label_of(action)
        for file in files_inside(holder.motionbridge_motion_files, holder.motionbridge_model.path)
        for action in omf_codec.edited(context, holder, file)
    ):
        sentence = "edited motions are not saved with the model; save them with Save Back in the Motionbridge tab: {}"
        report.warn(say(sentence, listed(edited)), holder.name)


def _base_of(holder: Object) -> Ogf:
    properties = holder.motionbridge_model
    data = kept(properties, "document")
    if not properties.is_model or not data:
        words = "{!r} was not imported from a model of the game"
        raise WriteError(say(words, holder.name), remedy="Import the model this is to replace, and change that")
    return ogf.read(data, Path(properties.path).name, Report())


def _steps(context: Context, holder: Object, base: Ogf, options: ModelExportOptions) -> list[Step]:
    """Return the steps of an export in order: first bones, so that meshes can have weights for new ones.

    If bones were removed, meshes come first, because a bone that vertices follow cannot be removed.
    """
    steps: list[Step] = []
    if options.skeleton and holder.type == "ARMATURE" and base.first(BoneNames) is not None:
        steps.append(_with_skeleton)
    if options.meshes:
        steps.append(partial(_with_meshes, context))
    there = {label.lower() for label in bone_properties.bones_in_order(holder)} if holder.type == "ARMATURE" else set()
    removed = [label for label in bone_labels(base) if label.lower() not in there]
    return steps[::-1] if removed else steps


def _with_meshes(
    context: Context, holder: Object, base: Ogf, options: ModelExportOptions, report: Report
) -> tuple[Ogf, Changes]:
    own_meshes = model_properties.meshes_of(holder)
    old = decode_meshes(base, Report())
    gathered, exact, used = [], True, dict[Any, None]()
    for part, file_mesh in zip(mesh_parts(base), old, strict=True):
        objects = own_meshes.pop(model_properties.part_text(part.path), [])
        if len(objects) > 1:
            raise WriteError(
                say(
                    "{} are both {!r} of the model",
                    " and ".join(repr(obj.name) for obj in objects),
                    part_name(base, part),
                ),
                remedy="Join them, delete one, or export with Replace Meshes",
            )
        if not objects:
            report.warn("a mesh of the model is not in the scene; written as the file has it", file_mesh.name)
            gathered.append(file_mesh)
            continue
        mesh, is_exact, slots = _gather_mesh(
            context, objects[0], holder, bone_labels(base), report, apply=options.modifiers
        )
        two_sided = [slot.name for slot in slots if slot is not None and slot.motionbridge_surface.two_sided]
        if two_sided:
            words = "two-sided materials are written by Replace Meshes alone: {}"
            report.warn(say(words, ", ".join(two_sided)), objects[0].name)
        used.update(dict.fromkeys(slots))
        _complete_material(objects[0], mesh, slots, file_mesh, report)
        if mesh.uvs is None and file_mesh.uvs is not None and len(mesh.triangles):
            report.warn("it has no UV map: vertices of the file keep their texture coordinates", objects[0].name)
        exact = exact and is_exact
        gathered.append(mesh)
    for obj in [obj for obj in model_properties.objects_below(holder) if obj.type == "MESH"]:
        if not obj.motionbridge_mesh.is_part:
            report.warn(
                "a mesh that is not of the model is left out; join it to one that is, or export with Replace Meshes",
                obj.name,
            )
    warn_of_pictures(used, report)
    settings = Settings(0.0 if exact else NORMAL_TOLERANCE, options.most_links)
    return encode_meshes(gathered, base, settings)


def warn_of_own_transform(holder: Object, report: Report) -> None:
    """Warn that the model does not have the rotation and the scale of its object."""
    if armature.is_turned_or_scaled(holder):
        report.warn(
            "its own rotation and scale are not in the model; apply them (Ctrl A) if they should be", holder.name
        )


def warn_of_instances(holder: Object, report: Report) -> None:
    """Warn of instances below a model, which are not meshes of it."""
    for obj in model_properties.objects_below(holder):
        if shows_instances(obj):
            report.warn("its instances are left out (make them real: Object > Apply)", obj.name)


def warn_of_pictures(used: Iterable[Material | None], report: Report) -> None:
    """Warn of materials with another image than their texture. Only the texture's path is written."""
    for used_material in used:
        if used_material is not None and (picture := material.other_picture(used_material)):
            words = (
                "the material shows {!r}, but its texture is {}; type the path of another texture in Properties > "
                "Material > X-Ray Material"
            )
            report.warn(say(words, picture, used_material.motionbridge_material.texture), used_material.name)


def _complete_material(
    obj: Object, mesh: Mesh, slots: Sequence[Material | None], file_mesh: Mesh, report: Report
) -> None:
    """Give the material of a mesh the names that it lacks: those of its image and of the file."""
    if not mesh.materials or not file_mesh.materials:
        return
    number = int(mesh.material_index[0]) if mesh.material_index is not None and len(mesh.material_index) else 0
    mesh.materials[number] = with_game_names(slots[number], file_mesh.materials[0], obj.name, report)


def with_game_names(
    used: Material | None, default: core_model.Material, where: str, report: Report
) -> core_model.Material:
    """Return the game's names of a material, None for an empty slot.

    If it lacks the texture, that of its image or of ``default`` is used, and ``default``'s engine shader if it lacks
    that.
    """
    result = material.gather(used)
    if (result.texture, result.shader) == (default.texture, default.shader):
        return result
    where = used.name if used is not None else where
    texture = result.texture or (texture_name(used) if used is not None else "")
    if not texture and default.texture:
        report.warn(
            "the material names no texture of the game, so that of the file stays; type the path of "
            "another one in Properties > Material > X-Ray Material",
            where,
        )
    elif not texture:
        report.warn(NO_TEXTURE, where)
    if not result.shader and default.shader:
        report.note(say("materials without engine shader get {}", default.shader), where)
    return replace(result, texture=texture or default.texture, shader=result.shader or default.shader)


def texture_name(used: Material) -> str:
    """Return the game's name of a material's image: its path below ``textures``, else its file name; "" for none."""
    image = material.image_of(used)
    return texture_at(material.path_of(image)) if image is not None else ""


def texture_at(path: PurePath) -> str:
    """Return the game's name of an image file, whose path has no suffix: what is below ``textures``, else its name."""
    lowered = [part.lower() for part in path.parts]
    if "textures" in lowered:
        return "\\".join(lowered[len(lowered) - lowered[::-1].index("textures") :])
    return lowered[-1] if lowered else ""


def _gather_mesh(
    context: Context, obj: Object, holder: Object, labels: list[str], report: Report, *, apply: bool
) -> tuple[Mesh, bool, list[Material | None]]:
    """Return the mesh in model space, its groups named as in the game, whether its normals are exact, and Blender's
    materials.

    ``labels``: the game's names of the model's bones. ``apply``: with its modifiers and shape keys.
    """
    with modifiers.evaluated(context, obj, report, apply=apply) as evaluated:
        gathered = meshes.gather(obj, evaluated)
        slots = material.materials_of(obj, evaluated or obj.data)
    mesh = gathered.mesh
    transform = transform_in_model(obj, holder)
    if np.abs(transform - np.eye(4)).max() > 1e-6:
        mesh = transformed(mesh, transform)
    if holder.type == "ARMATURE":
        game_names = {bone.name: bone_properties.game_name(bone) for bone in holder.data.bones}
    else:
        game_names = model_properties.groups_without_bones(labels)
    mesh = replace(mesh, groups=[game_names.get(group, group) for group in mesh.groups])
    return mesh, gathered.exact_normals, slots


def transform_in_model(obj: Object, holder: Object) -> Floats:
    """Return the transform (4, 4) of an object in model space.

    If the object or an ancestor of it is parented to a bone of the model, the transform is that in the rest pose.
    Raises `WriteError` if the pose scales that bone to 0.
    """
    if obj == holder:
        return np.eye(4)
    if obj.parent == holder and obj.parent_type == "OBJECT":
        # Not through world space, which costs precision if the model is rotated or far from the origin.
        return np.array(obj.matrix_parent_inverse @ obj.matrix_basis, np.float64)
    local = channel_matrix(obj, holder)
    if local is not None:
        return local
    transform = np.array(holder.matrix_world.inverted_safe() @ obj.matrix_world, np.float64)
    bone = parent_bone(obj, holder)
    if bone is None:
        return transform
    posed = np.array(bone.matrix, np.float64)
    if abs(np.linalg.det(posed)) < SMALLEST_SCALE:
        words = "{!r} is parented to the bone {!r}, which the pose scales to 0, so nothing tells where it is"
        raise WriteError(say(words, obj.name, bone.name), remedy="Show the armature in its rest position")
    return np.array(bone.bone.matrix_local, np.float64) @ np.linalg.inv(posed) @ transform


def parent_bone(obj: Object, holder: Object) -> PoseBone | None:
    """Return the bone of ``holder`` that an object, or an ancestor of it, is parented to, or None."""
    ancestor: Object | None = obj
    while ancestor is not None and ancestor.parent != holder:
        ancestor = ancestor.parent
    return (
        holder.pose.bones.get(ancestor.parent_bone) if ancestor is not None and ancestor.parent_type == "BONE" else None
    )


def _with_skeleton(rig: Object, base: Ogf, options: ModelExportOptions, report: Report) -> tuple[Ogf, Changes]:
    if armature.is_turned_or_scaled(rig):
        report.warn(
            "the armature object is scaled or rotated, which the game does not see; if the model should have it, apply "
            "its transform (Ctrl A) first",
            rig.name,
        )
    for bone in rig.data.bones:
        properties = bone_properties.known(bone)
        if properties is not None and bone.name != properties.imported_name:
            words = "a bone was renamed in Blender; to the game it is still {!r}"
            report.note(say(words, properties.game_name), bone.name)
    document, changes = encode_skeleton(gather_skeleton(rig, base), base, options.most_bones)
    return _with_physics(rig, document, changes)


def gather_skeleton(rig: Object, base: Ogf) -> Skeleton:
    """Return the rig's bones in the model's order; unedited rest poses are those of the model's file."""
    now = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    index_of = {bone: index for index, bone in enumerate(now.bones)}
    ordered = bone_properties.in_order(rig)
    indices = [index_of[bone.name] for bone in ordered]
    new_index = {index: number for number, index in enumerate(indices)}
    labels = [bone_properties.game_name(bone) for bone in ordered]
    rotations, offsets = now.rotations[indices], now.translations[indices]
    file = decode_skeleton(base, Report())
    in_file = {label.lower(): number for number, label in enumerate(file.bones)}
    unedited = unedited_rest(rig)
    for number, (bone, label) in enumerate(zip(ordered, labels, strict=True)):
        known = in_file.get(label.lower())
        if known is not None and bone.name in unedited:
            rotations[number], offsets[number] = file.rest_rotation[known], file.rest_translation[known]
    parents = [new_index[parent] if parent >= 0 else -1 for parent in now.parents[indices].tolist()]
    return Skeleton(rig.name, labels, np.array(parents, np.int32), rotations, offsets, space.XRAY_ROOT_FRAME)


def unedited_rest(rig: Object) -> set[str]:
    """Return the bones whose rest pose relative to their parents is the same as after the import."""
    bones = rig.data.bones
    index_of = {bone.name: index for index, bone in enumerate(bones)}
    parents = np.array([index_of[bone.parent.name] if bone.parent else -1 for bone in bones], np.int32)
    now = armature.matrices_of(bones, "matrix_local")
    imported_rest = np.array([bone.motionbridge_xray.imported_rest[:] for bone in bones]).reshape(-1, 4, 4)
    known = np.array([bone_properties.known(bone) is not None for bone in bones])
    imported_rest[~known] = np.eye(4)
    current, imported = (armature.parent_local(rest, parents, space.XRAY_ROOT_FRAME) for rest in (now, imported_rest))
    same = known & (known[parents] | (parents < 0))
    same &= (np.abs(current - imported)[:, :3, :3] <= SAME_ROTATION).all(axis=(1, 2))
    tolerance = SAME_POSITION * np.maximum(1.0, np.abs(now[:, :3, 3]).max(axis=1, initial=0.0))
    same &= (np.abs(current - imported)[:, :3, 3] <= tolerance[:, None]).all(axis=1)
    return {bone.name for bone, is_same in zip(bones, same.tolist(), strict=True) if is_same}


def _with_physics(rig: Object, document: Ogf, changes: Changes) -> tuple[Ogf, Changes]:
    """Return the model with shapes, joints and masses of the panel, and the changes."""
    physics = document.first(IkData)
    if physics is None:
        return document, changes
    by_name = {bone_properties.game_name(bone).lower(): bone for bone in rig.data.bones}
    entries = list(physics.bones)
    for number, label in enumerate(bone_labels(document)):
        bone = by_name.get(label.lower())
        if bone is not None and bone_properties.known(bone) is not None:
            entries[number], changed = bone_values.gather(bone, entries[number])
            changes.change(Noun.BONE, label, *map(say, changed))
    same = all(new is old for new, old in zip(entries, physics.bones, strict=True))
    return (document if same else document.replaced(physics, IkData(entries, physics.layout))), changes


def _with_texts(holder: Object, document: Ogf, changes: Changes) -> Ogf:
    """Return the model with motion references, user data and LOD of the panel.

    Raises `WriteError` if the model has no chunk for them.
    """
    properties = holder.motionbridge_model
    wanted = [reference.name for reference in properties.references]
    if wanted != reference_names(document):
        document = _with_references(document, wanted)
        changes.note(say("motion references"))
    user_data = document.first(UserData)
    if user_data is not None and properties.user_data != names.decode(user_data.text):
        document = document.with_value(17, UserData(names.encode(properties.user_data)))
        changes.note(say("user data"))
    elif user_data is None and properties.user_data:
        raise WriteError(
            "the model has no user data yet, and none can be added",
            remedy="Empty the field, or start from a model that has some",
        )
    if properties.lod != lod_path(document):
        document = _with_lod(document, properties.lod)
        changes.note(say("LOD"))
    return document


def _with_lod(document: Ogf, wanted: str) -> Ogf:
    """Return the model with the path of its LOD; without its chunk for ""."""
    path, old = names.encode(wanted), document.first(LodPath)
    if path.splitlines() not in ([], [path]):
        raise WriteError("the path of the LOD has a line break", remedy="Type it in one line")
    if old is not None:
        return document.replaced(old, replace(old, path=path) if path else None)
    # The game looks for this chunk in models with bones alone; an old one can have a whole model in it.
    has_chunk = any(section.chunk.plain_id == LOD for section in document.sections)
    if document.header.version != 4 or document.first(BoneNames) is None or has_chunk:
        raise WriteError("no LOD can be added to this model", remedy="Empty the field, or export it as a new model")
    return document.with_value(LOD, LodPath(path))


def _with_references(document: Ogf, wanted: Sequence[str]) -> Ogf:
    encoded = [names.encode(name) for name in wanted]
    for kind in (MotionReferences2, MotionReferences):
        if (old := document.first(kind)) is not None:
            return document.replaced(old, kind(encoded))
    raise WriteError(
        "the model refers to no motion files yet, and references cannot be added",
        remedy="Empty the list, or start from a model that has some",
    )
