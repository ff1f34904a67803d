"""New models from any mesh or armature: an `.object` with the chunks that the SDK writes, or an `.ogf`.

The editors of Shadow of Chernobyl and of the later games store sharp edges and motion references differently; an option
chooses the editor. Smoothing is made from sharp edges and flat faces, since the editor computes normals itself.

An `.ogf` is made like in the SDK from an `.object`: an imported one, or one that is made only in memory, with the
normals that Blender shows.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....blender import armature, material, scope
from ....blender.mesh import Offending
from ....core import names, space
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.model import Material
from ....core.problems import whole
from ....core.report import Report, say
from ....formats.xray import bones as bone_files
from ....formats.xray import conversion, ogf, skl
from ....formats.xray import object as editor_model
from ....formats.xray.conversion import ModelSettings, game_model, points_of_bones
from ....formats.xray.conversion import with_motions as with_game_motions
from ....formats.xray.object import mapping
from ....formats.xray.object.checks import MOST_WEIGHTS, problems
from ....formats.xray.object.chunk_types import (
    DYNAMIC,
    ActorTransform,
    Authorship,
    ExportScale,
    LodName,
    ObjectFlags,
    Surface,
    Surfaces,
)
from ....formats.xray.object.document import BONES, MESHES, MOTIONS, OBJECT, Mesh, Meshes, Model
from ....formats.xray.object.encoding import encode_new_mesh
from ....formats.xray.object.mesh_chunks import SurfacesOfFaces, Version
from ....formats.xray.object.smoothing import Rule
from ....formats.xray.ogf.building import COP, FEWEST_BOX_POINTS, SOC, oriented_box, with_new_meshes
from ....formats.xray.ogf.chunk_types import BOX, MotionReferences, MotionReferences2, UserData
from ....formats.xray.ogf.skeleton import NEW_BONE_MATERIAL, new_entry
from ....formats.xray.omf.document import MOST_BONES, partitions_of
from ...plan import FilePlan
from ..bones import properties as bone_properties
from ..bones import values as bone_values
from ..motions import library, omf_codec, omf_host
from ..options import (
    EditorModelExportOptions,
    ModelExportOptions,
    ModelKind,
    MotionExportOptions,
    Sdk,
    SkeletalExportOptions,
)
from . import editor_exporting, exporting
from .editor_exporting import (
    SHADER,
    STATIC_SHADER,
    ModelPlan,
    new_bone,
    new_surface,
    placement,
    plan_motions,
)
from .editor_exporting import find_problems as find_mesh_problems
from .exporting import NO_TEXTURE, texture_name, warn_of_instances, warn_of_own_transform, with_game_names
from .gathering import Gathered, follow, gather, materials_by_surface
from .properties import flags_of, remembered

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Action, Bone, Context, Object
    from ..bones.properties import BoneProperties

AUTHOR = b"Motionbridge"
RIGID_BONE = "link"
"""Name that the SDK gives the bone of an object that moves as a whole."""


def plan_new_object(
    context: Context,
    holder: Object,
    path: str,
    options: EditorModelExportOptions,
    report: Report,
    *,
    chosen: Sequence[Action] = (),
    motions: SkeletalExportOptions | None = None,
    for_game: bool = False,
    rigid: bool = False,
    most_bones: int = MOST_BONES,
) -> ModelPlan:
    """Plan a new editor model of ``holder`` (an armature, a mesh, or the parent of meshes) for the file at ``path``.

    The actions ``chosen`` become its motions, with the options ``motions``. ``for_game``: it is converted to a game
    model, so it gets the normals that Blender shows. ``rigid``: without an armature, all vertices follow one new bone.
    ``most_bones``: more are warned of. The scene does not change. Raises `WriteError` if there is no mesh.
    """
    if holder.mode == "EDIT":
        holder.update_from_editmode()
    context.view_layer.update()
    warn_of_own_transform(holder, report)
    warn_of_instances(holder, report)
    mesh_objects = meshes_for(context, holder) if options.meshes else []
    if not mesh_objects:
        words = "{!r} has no meshes"
        raise WriteError(say(words, holder.name), remedy="Parent meshes to it, or give them its Armature modifier")
    rig = holder if options.skeleton and holder.type == "ARMATURE" else None
    gathered = [gather(context, mesh_obj, holder, report, apply=options.modifiers) for mesh_obj in mesh_objects]
    bones = _bones(rig, report) if rig is not None else [_rigid_bone(gathered)] if rigid else []
    model = Model.of([(BONES, mapping.bones_chunk(bones))] if bones else [])
    rule = Rule.NORMALS if for_game else Rule.GROUPS if options.sdk is Sdk.SOC else Rule.EDGES
    meshes = [_mesh(mesh, holder, model, rule, report) for mesh in gathered]
    surfaces = [
        new_surface(used, bool(bones), report)
        for key, used in materials_by_surface(gathered).items()
        if any(key == entry for mesh in meshes for entry in _surface_names(mesh))
    ]
    model = _model(bones, meshes, surfaces, holder, options.sdk, motions=bool(chosen))
    document = editor_model.Object.of([(OBJECT, model)])
    # What a game model does not keep of them is said when it is made.
    most_weights = None if for_game else SOC.most_links if options.sdk is Sdk.SOC else MOST_WEIGHTS
    for sentence in problems(document, most_bones, most_weights):
        report.warn(sentence if for_game else say("editors of the game: {}", sentence))
    changes = Changes(new=say("a new editor model"))
    if rig is None or not chosen:
        return ModelPlan(path, editor_model.write(document), changes)
    motion_options = motions or SkeletalExportOptions()
    inside = plan_motions(context, rig, chosen, document, path, options=motion_options, report=report)
    report.note(say("motions in the new model: {}", len(inside.written)))
    return ModelPlan(path, inside.data, changes, inside)


def meshes_for(context: Context, holder: Object) -> list[Object]:
    """Return the object itself, its descendants, and objects deformed by its armature, as far as they are meshes.

    Descendants that were unlinked from all scenes, which Blender keeps until the file is loaded again, are left out.
    """
    below = [holder, *holder.children_recursive]
    if holder.type == "ARMATURE":
        below += [obj for obj in context.scene.objects if obj.type == "MESH" and obj.find_armature() == holder]
    return [obj for obj in dict.fromkeys(below) if obj.type == "MESH" and (obj == holder or obj.users_scene)]


def find_problems_of_new(context: Context, holder: Object, report: Report) -> list[Offending]:
    """Return what the editors or the game would reject in the new model of ``holder``; problems of its meshes first."""
    mesh_objects = meshes_for(context, holder)
    result = find_mesh_problems(context, holder, report, mesh_objects)
    if not mesh_objects:
        empty = np.zeros(0, np.int64)
        result.append(Offending(holder, whole("the model has no mesh", "Parent meshes to it"), empty, empty))
    return result


def _bones(rig: Object, report: Report) -> list[bone_files.Bone]:
    now = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    index_of = {bone: number for number, bone in enumerate(now.bones)}
    bones, plain = [], []
    for bone in bone_properties.in_order(rig):
        parent = bone_properties.game_name(bone.parent) if bone.parent is not None else ""
        made_bone = new_bone(bone, parent, *placement(now, index_of[bone.name]))
        if bone_properties.known(bone) is None:
            made_bone = bone_files.encode_bone(made_bone, new_entry())
        entry = bone_files.decode_bone(made_bone).entry
        if not entry.material:
            plain.append(bone.name)
            made_bone = bone_files.encode_bone(made_bone, replace(entry, material=NEW_BONE_MATERIAL))
        bones.append(made_bone)
    if plain:
        report.note("bones without game material get default_object", ", ".join(plain))
    return mapping.in_editor_order(bones)


def _rigid_bone(gathered: Iterable[Gathered]) -> bone_files.Bone:
    """Return the bone that moves a model as a whole: at its origin, with a box around all meshes as its shape."""
    points = np.concatenate([mesh.mesh.positions for mesh in gathered])
    entry = new_entry()
    if len(points):
        entry.shape = replace(
            entry.shape, type=BOX, box=np.concatenate([*map(np.ravel, oriented_box(space.xray_points(points)))])
        )
    return mapping.new_object_bone(RIGID_BONE, "", np.zeros(3), np.zeros(3), entry)


def _mesh(gathered: Gathered, holder: Object, model: Model, rule: Rule, report: Report) -> Mesh:
    obj, mesh = gathered.obj, gathered.mesh
    mesh.attributes = {}
    if obj.data.has_custom_normals and rule is not Rule.NORMALS:
        report.note("custom normals are not written: the editor computes them from sharp edges", obj.name)
    if not model.bones:
        mesh.groups, mesh.weights = [], None
    elif holder.type != "ARMATURE":
        follow(mesh, RIGID_BONE)
    return encode_new_mesh(mesh, model, rule, report)


def _surface_names(mesh: Mesh) -> set[str]:
    listed = mesh.first(SurfacesOfFaces)
    return {entry.label.lower() for entry in listed.surfaces} if listed is not None else set()


def _model(
    bones: list[bone_files.Bone],
    meshes: list[Mesh],
    surfaces: list[Surface],
    holder: Object,
    sdk: Sdk,
    *,
    motions: bool,
) -> Model:
    """Return a model with its chunks in the SDK's order; texts and flags are those stored on ``holder``.

    ``motions``: with an empty chunk for motions.
    """
    now = int(time.time())
    known, own = remembered(holder), holder.motionbridge_editor_model
    creator = names.encode(own.creator) or AUTHOR
    references = [names.encode(entry.name) for entry in known.references] if known is not None and bones else []
    listed = (0x924, MotionReferences(references)) if sdk is Sdk.SOC else (0x926, MotionReferences2(references))
    numbered: list[tuple[int, Any]] = [
        (0x900, Version(0x10)),
        (0x912, UserData(names.encode(known.user_data) if known is not None else b"")),
        (0x925, LodName(names.encode(known.lod) if known is not None else b"")),
        (0x903, ObjectFlags(flags_of(own) | (DYNAMIC if bones else 0))),
        (MESHES, Meshes.of(enumerate(meshes))),
        (0x907, Surfaces(surfaces)),
    ]
    if bones:
        numbered.append((BONES, mapping.bones_chunk(bones)))
    if motions:
        numbered.append((MOTIONS, skl.new_skls([])))
    if references:
        numbered.append(listed)
    if bones:
        labels = [bone.name for bone in bones]
        parts = [
            bone_files.Part(part.name, [names.encode(labels[bone.track or 0]) for bone in part.bones])
            for part in partitions_of(labels, bone_values.order_of_new_model(holder).parts)
        ]
        numbered += [(0x923, bone_files.Parts(parts)), (0x920, ActorTransform(np.zeros((2, 3), np.float32)))]
    numbered.append((0x922, Authorship(creator, now, AUTHOR, now)))
    if own.scale != 1.0:
        numbered.append((0x927, ExportScale(np.float32(own.scale), 0)))
    return Model.of(numbered)


# Models of the game ---------------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]
SAME_SCALE = 1e-4


def plan_new(
    context: Context,
    holder: Object,
    path: str,
    options: ModelExportOptions,
    report: Report,
    *,
    chosen: Sequence[Action] = (),
    motions: MotionExportOptions | None = None,
) -> FilePlan:
    """Plan a new game model of ``holder``: an armature, a mesh, the parent of meshes, or an imported editor model.

    The actions ``chosen`` become the motions inside it, with the options ``motions``, unless it has motion references.
    The scene does not change. Raises `WriteError` for anything the game does not support.
    """
    _warn(context, holder, report)
    document = _object(context, holder, options, report)
    taken = conversion.bone_order_of(options.bones_as) if options.bones_as else bone_values.order_of_new_model(holder)
    generation = COP if options.most_links == COP.most_links else SOC
    name = Path(path).with_suffix(".object").name
    settings = ModelSettings(generation, options.collapse, taken.bones, options.most_bones)
    model = game_model(document, name, settings, report)
    if chosen and document.model.references:
        report.warn("the motions inside are left out: the game reads motion references instead", holder.name)
    elif chosen:
        host = omf_host.OmfHost(None, parts=taken.parts) if taken.parts else omf_codec.OMF.host(holder, chosen)
        with scope.object_mode(context):
            motion_options = motions or MotionExportOptions()
            plan = library.plan_onto(
                omf_codec.OMF, context, holder, chosen, path, host=host, options=motion_options, report=report
            )
        model = with_game_motions(model, plan.document.motion_set)
    return FilePlan(path, ogf.write(model), Changes(new=say("a new model")))


def plan_replaced(context: Context, holder: Object, path: str, options: ModelExportOptions, report: Report) -> FilePlan:
    """Plan the imported game model of ``holder`` with all its meshes written as new ones.

    They can be any number of meshes with any materials. All chunks except the geometry are as in an export without
    meshes. Raises `WriteError`.
    """
    without_meshes = ModelExportOptions(skeleton=options.skeleton, meshes=False, most_bones=options.most_bones)
    plan = exporting.plan_export(context, holder, path, without_meshes, report)
    mesh_objects = meshes_for(context, holder)
    default = Material("", "", names.decode(SHADER if holder.type == "ARMATURE" else STATIC_SHADER))
    parts, two_sided_faces = [], []
    for mesh_obj in mesh_objects:
        gathered = gather(context, mesh_obj, holder, report, apply=options.modifiers)
        gathered.mesh.materials = [with_game_names(used, default, mesh_obj.name, report) for used in gathered.slots]
        parts.append(gathered.mesh)
        two_sided_faces.append([used is not None and used.motionbridge_surface.two_sided for used in gathered.slots])
    base = ogf.read(plan.data, holder.name, Report())
    data = ogf.write(with_new_meshes(base, parts, options.most_links, report, two_sided=two_sided_faces))
    plan.changes.note(say("all meshes"))
    return FilePlan(path, data, plan.changes)


def _warn(context: Context, holder: Object, report: Report) -> None:
    """Warn of materials without a texture, about which the game itself reports nothing."""
    for used in _materials(meshes_for(context, holder)):
        if not _with_texture_name(used).texture:
            report.warn(NO_TEXTURE, used.name)


def _materials(mesh_objects: Sequence[Object]) -> list[typed.Material]:
    """Return the materials of meshes, each once."""
    return list(
        {
            slot.material: None
            for mesh_obj in mesh_objects
            for slot in mesh_obj.material_slots
            if slot.material is not None
        }
    )


def _with_texture_name(used: typed.Material | None) -> Material:
    """Return the material's values; if it has no texture name, that of its image is used."""
    used_material = material.gather(used)
    return (
        used_material if used_material.texture or used is None else replace(used_material, texture=texture_name(used))
    )


def _object(context: Context, holder: Object, options: ModelExportOptions, report: Report) -> editor_model.Object:
    editor = EditorModelExportOptions(skeleton=options.skeleton, modifiers=options.modifiers)
    if holder.motionbridge_editor_model.is_model:
        plan = editor_exporting.plan_export(
            context, holder, holder.name, editor, report, motions=SkeletalExportOptions()
        )
    else:
        rigid = options.kind is ModelKind.RIGID
        plan = plan_new_object(
            context, holder, holder.name, editor, report, for_game=True, rigid=rigid, most_bones=options.most_bones
        )
    return editor_model.read(plan.data, holder.name, Report())


# Setting up ---------------------------------------------------------------------------------------------------------


def set_up(holder: Object) -> int:
    """Give an object the panels of a model, and its new bones the SDK's default values. Returns how many are new."""
    model = holder.motionbridge_editor_model
    model.is_made = not model.is_model
    if holder.type != "ARMATURE":
        return 0
    before = len([bone for bone in holder.data.bones if bone_properties.known(bone) is not None])
    new = [bone for bone in _depth_first(holder.data.bones) if bone_properties.known(bone) is None]
    for number, bone in enumerate(new, before):
        properties = bone.motionbridge_xray
        properties.is_bone, properties.index = True, number
        properties.game_name, properties.imported_name = bone.name.lower(), bone.name
        bone_values.build_physics(bone, new_entry())
    return len(new)


def has_new_bones(holder: Object) -> bool:
    """Return whether the armature of a new model has bones that were added after `set_up`."""
    is_made = holder.type == "ARMATURE" and holder.motionbridge_editor_model.is_made
    return is_made and any(bone_properties.known(bone) is None for bone in holder.data.bones)


def _depth_first(bones: Any) -> list[Bone]:
    """Return the bones in the SDK's order: depth first, siblings by name."""
    ordered: list[Bone] = []
    waiting = [bone for bone in bones if bone.parent is None]
    waiting.sort(key=_by_name, reverse=True)
    while waiting:
        bone = waiting.pop()
        ordered.append(bone)
        waiting += sorted(bone.children, key=_by_name, reverse=True)
    return ordered


def _by_name(bone: Bone) -> bytes:
    return names.encode(bone.name.lower())


# Shapes -------------------------------------------------------------------------------------------------------------


def fit_shapes(
    context: Context, rig: Object, kind: str, chosen: Collection[str], *, density: float, report: Report
) -> int:
    """Fit a collision shape of each bone in ``chosen`` (names) to the vertices that follow it most.

    Returns how many shapes were fitted. The mass is the volume of the shape times ``density`` (kg per cubic metre); the
    centre of mass is that of the shape. Bones with fewer than three vertices do not change and are reported. Raises
    `WriteError` as an export does.
    """
    points = points_of_bones(_object(context, rig, ModelExportOptions(), Report()))
    fitted, empty = 0, []
    for bone in rig.data.bones:
        if bone.name not in chosen or bone_properties.known(bone) is None:
            continue
        point = points.get(bone_properties.game_name(bone))
        if point is None or len(point) < FEWEST_BOX_POINTS:
            empty.append(bone.name)
            continue
        volume, centre = _fit(bone.motionbridge_xray, kind, point)
        bone.motionbridge_xray.mass = volume * density
        bone.motionbridge_xray.centre_of_mass = centre.tolist()
        fitted += 1
    if empty:
        words = "bones with fewer than {} vertices keep their shape: {}"
        report.warn(say(words, FEWEST_BOX_POINTS, ", ".join(empty)), rig.name)
    return fitted


def _fit(bone: BoneProperties, kind: str, points: Floats) -> tuple[float, Floats]:
    """Set the shape ``kind`` on a bone's properties. Returns its volume and its centre."""
    axes, box_centre, half = (values.astype(np.float64) for values in oriented_box(points))
    bone.shape = kind
    if kind == "BOX":
        bone.box_rotation, bone.box_centre = axes.ravel().tolist(), box_centre.tolist()
        bone.box_half_size = half.tolist()
        return float(8 * np.prod(half)), box_centre
    if kind == "SPHERE":
        radius = float(np.linalg.norm(points - box_centre, axis=1).max())
        bone.sphere_centre, bone.sphere_radius = box_centre.tolist(), radius
        return 4 / 3 * np.pi * radius**3, box_centre
    longest = int(np.argmax(half))
    distances = (points - box_centre) @ np.delete(axes, longest, axis=0).T
    radius, height = float(np.linalg.norm(distances, axis=1).max()), float(2 * half[longest])
    bone.cylinder_centre, bone.cylinder_direction = box_centre.tolist(), axes[longest].tolist()
    bone.cylinder_height, bone.cylinder_radius = height, radius
    return float(np.pi * radius**2 * height), box_centre


# Checks -------------------------------------------------------------------------------------------------------------


def find_problems(context: Context, holder: Object, report: Report) -> list[Offending]:
    """Return what the editors or the game would reject, and common problems of new models: scales, textures, shapes."""
    result = find_problems_of_new(context, holder, report)
    mesh_objects = meshes_for(context, holder)
    result += [_whole(holder, *words) for words in _object_problems(holder)]
    for used in _materials(mesh_objects):
        if not _with_texture_name(used).texture:
            sentence = "the material {!r} has no texture"
            words = (say(sentence, used.name), "Type its path in Properties > Material > X-Ray Material")
            result.append(_whole(holder, *words))
    for group in names.duplicates(mesh_obj.name for mesh_obj in mesh_objects):
        result.append(_whole(holder, say("meshes named {!r} differ in case alone", group[0]), "Rename one"))
    if holder.type == "ARMATURE":
        result += [_whole(holder, *words) for bone in holder.data.bones for words in _shape_problems(bone)]
    return result


def _whole(obj: Object, sentence: str, remedy: str) -> Offending:
    empty = np.zeros(0, np.int64)
    return Offending(obj, whole(sentence, remedy), empty, empty)


def _object_problems(obj: Object) -> Iterator[tuple[str, str]]:
    # A matrix cannot tell a scale of (-1, 1, 1) from (-1, -1, -1), so the object's own scale is used if possible.
    scale = np.array(obj.scale if obj.parent is None else obj.matrix_world.to_scale())
    if np.abs(scale - 1).max() > SAME_SCALE:
        yield say("the object is scaled ({})", ", ".join(f"{number:g}" for number in scale)), "Apply its scale (Ctrl A)"


def _shape_problems(bone: Bone) -> Iterator[tuple[str, str]]:
    properties = bone_properties.known(bone)
    if properties is None:
        return
    sizes = {
        "BOX": lambda: min(properties.box_half_size),
        "SPHERE": lambda: properties.sphere_radius,
        "CYLINDER": lambda: min(properties.cylinder_height, properties.cylinder_radius),
    }
    if properties.shape in sizes and sizes[properties.shape]() <= 0:
        words = "the collision shape of the bone {!r} has no volume"
        yield (say(words, bone.name), "Use Fit Shapes to Mesh, or choose None")
