"""A new `.object` of any mesh or armature in Blender, with the chunks that the SDK writes.

The editors of Shadow of Chernobyl and of the later games store sharp edges and motion references differently: options
say for which one the file is. Sharp edges and flat faces make the smoothing; the editor computes normals itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

from ....blender import armature
from ....blender.mesh import Offending
from ....core import names, space
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.problems import whole
from ....core.report import Report
from ....formats.xray import bones as bone_files
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ....formats.xray.chunks import Chunk, Section
from ....formats.xray.object import mapping
from ....formats.xray.object.checks import problems
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
from ....formats.xray.ogf.building import oriented_box
from ....formats.xray.ogf.chunk_types import BOX, MotionReferences, MotionReferences2, UserData
from ....formats.xray.ogf.skeleton import NEW_BONE_MATERIAL, new_entry
from ....formats.xray.omf.document import partitions_of
from ..bones import order
from ..bones import properties as bone_properties
from ..options import EditorModelExportOptions, Sdk, SkeletalExportOptions
from .editor_exporting import (
    find_problems,
    follow,
    follow_parent,
    gather,
    materials_by_surface,
    new_bone,
    placement,
    surface_of,
)
from .editor_motions import ModelPlan, with_motions
from .editor_properties import flags_of
from .properties import remembered

if TYPE_CHECKING:
    from ....blender.typed import Context, Object


AUTHOR = b"Motionbridge"
ONLY_BONE = "link"
"""What the SDK calls the bone of an object that moves as a whole."""
SHADER, STATIC_SHADER = b"models\\model", b"default"
COMPILER_SHADER, GAME_MATERIAL = b"default", b"default"


def plan_new(
    context: Context,
    holder: Object,
    path: str,
    options: EditorModelExportOptions,
    report: Report,
    *,
    chosen: Sequence[Any] = (),
    motions: SkeletalExportOptions | None = None,
    for_game: bool = False,
    rigid: bool = False,
) -> ModelPlan:
    """A new model of ``holder`` (an armature, a mesh, or the parent of meshes) for the file at ``path``.

    ``chosen`` actions become its motions, as ``motions`` says. ``for_game``: with the normals that Blender shows, to be
    made a model of the game. ``rigid``: without an armature all follows one bone. The scene stays as it is. Raises
    `WriteError` if there is no mesh.
    """
    if holder.mode == "EDIT":
        holder.update_from_editmode()
    context.view_layer.update()
    shown = meshes_for(context, holder) if options.meshes else []
    if not shown:
        raise WriteError(
            f"{holder.name!r} has no meshes", remedy="Parent meshes to it, or give them its Armature modifier"
        )
    rig = holder if options.skeleton and holder.type == "ARMATURE" else None
    bones = _bones(rig, report) if rig is not None else [_only_bone(shown, holder)] if rigid else []
    model = Model([Section(Chunk(BONES, b""), mapping.numbered(bones))] if bones else [])
    rule = Rule.NORMALS if for_game else Rule.GROUPS if options.sdk is Sdk.SOC else Rule.EDGES
    meshes = [_mesh(one, holder, model, rule, report) for one in shown]
    surfaces = [
        _surface(used, bool(bones), report)
        for key, used in materials_by_surface(shown).items()
        if any(key == entry for mesh in meshes for entry in _surface_names(mesh))
    ]
    model = _model(bones, meshes, surfaces, holder, options.sdk, motions=bool(chosen))
    document = editor_model.Object([Section(Chunk(OBJECT, b""), model)])
    for sentence in problems(document):
        report.warn(sentence if for_game else f"editors of the game: {sentence}")
    changes = Changes(new="editor model")
    if rig is None or not chosen:
        return ModelPlan(path, editor_model.write(document), changes)
    how = motions or SkeletalExportOptions()
    plan = with_motions(context, rig, chosen, document, path, options=how, report=report)
    report.note(f"motions in the new model: {len(plan.written)}")
    return replace(plan, changes=changes)


def meshes_for(context: Context, holder: Any) -> list[Object]:
    """The object itself, meshes below it, and meshes that its armature deforms."""
    below = [holder, *holder.children_recursive]
    if holder.type == "ARMATURE":
        below += [shown for shown in context.scene.objects if shown.type == "MESH" and shown.find_armature() == holder]
    return [shown for shown in dict.fromkeys(below) if shown.type == "MESH"]


def find_problems_of_new(context: Context, holder: Object, report: Report) -> list[Offending]:
    """What editors or the game would not take of the model that ``holder`` would become, its meshes first."""
    shown = meshes_for(context, holder)
    found = find_problems(holder, report, shown)
    if not shown:
        none = np.zeros(0, np.int64)
        found.append(Offending(holder, whole("the model has no mesh", "Parent meshes to it"), none, none))
    return found


def _bones(rig: Object, report: Report) -> list[bone_files.Bone]:
    now = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    place = {bone: number for number, bone in enumerate(now.bones)}
    made, plain = [], []
    for bone in bone_properties.in_order(rig):
        parent = bone_properties.game_name(bone.parent) if bone.parent is not None else ""
        one = new_bone(bone, parent, *placement(now, place[bone.name]))
        if bone_properties.known(bone) is None:
            one = bone_files.encode_bone(one, new_entry())
        entry = bone_files.decode_bone(one).entry
        if not entry.material:
            plain.append(bone.name)
            one = bone_files.encode_bone(one, replace(entry, material=NEW_BONE_MATERIAL))
        made.append(one)
    if plain:
        report.note("bones without game material get default_object", ", ".join(plain))
    return mapping.in_editor_order(made)


def _only_bone(found: Sequence[Object], holder: Object) -> bone_files.Bone:
    """The bone that moves a model as a whole, at its origin, with a box around all meshes."""
    points = np.concatenate([gather(shown, holder, Report()).positions for shown in found])
    entry = new_entry()
    if len(points):
        entry.shape = replace(
            entry.shape, type=BOX, box=np.concatenate([*map(np.ravel, oriented_box(space.xray_points(points)))])
        )
    return mapping.new_object_bone(ONLY_BONE, "", np.zeros(3), np.zeros(3), entry)


def _mesh(shown: Object, holder: Object, model: Model, rule: Rule, report: Report) -> Mesh:
    mesh = gather(shown, holder, report)
    mesh.attributes = {}
    if shown.data.has_custom_normals and rule is not Rule.NORMALS:
        report.note("custom normals are not written: the editor computes them from sharp edges", shown.name)
    follow_parent(mesh, shown, holder)
    if not model.bones:
        mesh.groups, mesh.weights = [], None
    elif holder.type != "ARMATURE":
        follow(mesh, ONLY_BONE)
    return encode_new_mesh(mesh, model, rule, report)


def _surface_names(mesh: Mesh) -> set[str]:
    listed = mesh.first(SurfacesOfFaces)
    return {entry.label.lower() for entry in listed.surfaces} if listed is not None else set()


def _surface(used: Any, dynamic: bool, report: Report) -> Surface:
    """The surface of a material; what it does not say as the editor's defaults, its texture by its image."""
    made = surface_of(used)
    if not made.shader:
        made = replace(made, shader=SHADER if dynamic else STATIC_SHADER)
        report.note(f"materials without engine shader get {names.decode(made.shader)}", used.name)
    return replace(
        made,
        compiler_shader=made.compiler_shader or COMPILER_SHADER,
        material=made.material or GAME_MATERIAL,
        texture=made.texture or names.encode(texture_name(used)),
    )


def texture_name(used: Any) -> str:
    r"""The game's name of a material's first image: its path below ``textures``, else its name; "" without."""
    nodes = used.node_tree.nodes if used.node_tree is not None else ()
    image = next((node.image for node in nodes if node.type == "TEX_IMAGE" and node.image is not None), None)
    if image is None:
        return ""
    parts = list(PureWindowsPath((image.filepath or image.name).replace("/", "\\")).with_suffix("").parts)
    lowered = [part.lower() for part in parts]
    if "textures" in lowered:
        return "\\".join(lowered[len(lowered) - lowered[::-1].index("textures") :])
    return lowered[-1] if lowered else ""


def _model(
    bones: list[bone_files.Bone],
    meshes: list[Mesh],
    surfaces: list[Surface],
    holder: Object,
    sdk: Sdk,
    *,
    motions: bool,
) -> Model:
    """The chunks in the SDK's order, one of them for ``motions``; texts and flags that ``holder`` remembers."""
    now = int(time.time())
    known, own = remembered(holder), holder.motionbridge_editor_model
    creator = names.encode(own.creator) or AUTHOR
    references = [names.encode(entry.name) for entry in known.references] if known is not None and bones else []
    listed = (0x924, MotionReferences(references)) if sdk is Sdk.SOC else (0x926, MotionReferences2(references))
    numbered: list[tuple[int, Any]] = [
        (0x900, Version(0x10)),
        (0x912, UserData(names.encode(known.user_data) if known is not None else b"")),
        (0x925, LodName(names.encode(own.lod))),
        (0x903, ObjectFlags(flags_of(own) | (DYNAMIC if bones else 0))),
        (MESHES, Meshes([Section(Chunk(number, b""), mesh) for number, mesh in enumerate(meshes)])),
        (0x907, Surfaces(surfaces)),
    ]
    if bones:
        numbered.append((BONES, mapping.numbered(bones)))
    if motions:
        numbered.append((MOTIONS, skl.new_skls([])))
    if references:
        numbered.append(listed)
    if bones:
        labels = [bone.name for bone in bones]
        parts = [
            bone_files.Part(part.name, [names.encode(labels[bone.track or 0]) for bone in part.bones])
            for part in partitions_of(labels, order.of_new_model(holder).parts)
        ]
        numbered += [(0x923, bone_files.Parts(parts)), (0x920, ActorTransform(np.zeros((2, 3), np.float32)))]
    numbered.append((0x922, Authorship(creator, now, AUTHOR, now)))
    if own.scale != 1.0:
        numbered.append((0x927, ExportScale(np.float32(own.scale), 0)))
    return Model([Section(Chunk(number, b""), value) for number, value in numbered])
