"""Export of editor models (`.object`) based on the imported bytes.

What is not edited is written as the file has it: each chunk, mesh, bone and motion. Motions inside the model are
encoded like those of motion files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import armature, material, modifiers, scope, sharp_mesh
from ....blender.mesh import Offending
from ....blender.properties import is_local, keep, kept
from ....core import files, names, space
from ....core.binary import as_in_file
from ....core.changes import Changes, Noun
from ....core.errors import WriteError
from ....core.model import Domain
from ....core.problems import whole
from ....core.report import Message, Report, say
from ....formats.xray import bones as bone_files
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ....formats.xray.bones import Bone, Bones, Part, Parts
from ....formats.xray.object import checks, mapping
from ....formats.xray.object.checks import problems
from ....formats.xray.object.chunk_types import (
    TWO_SIDED,
    ExportScale,
    LodName,
    NumberedParts,
    ObjectFlags,
    Surface,
    Surfaces,
)
from ....formats.xray.object.comparison import SURFACE_FIELDS
from ....formats.xray.object.document import MESHES, Meshes, Model, newest
from ....formats.xray.object.encoding import encode_mesh, encode_new_mesh
from ....formats.xray.object.mapping import decode_mesh
from ....formats.xray.object.mesh_chunks import SurfacesOfFaces
from ....formats.xray.object.smoothing import Rule, rule_of, rule_of_groups
from ....formats.xray.ogf.chunk_types import MotionReferences, MotionReferences2, UserData
from ....formats.xray.omf.document import MOST_BONES
from ...plan import FilePlan, OtherBase, StoredFile, location_of
from ..bones import properties as bone_properties
from ..bones import values as bone_values
from ..bones.values import PROPERTIES_OF_CHUNK
from ..motions import library
from ..motions.inside_models import files_inside, with_motions
from ..motions.library import motions_of
from ..motions.skl_codec import SKL
from ..motions.skl_host import SklHost
from ..options import EditorModelExportOptions, SkeletalExportOptions
from .exporting import (
    NO_TEXTURE,
    texture_name,
    transform_in_model,
    unedited_rest,
    warn_of_instances,
    warn_of_own_transform,
    warn_of_pictures,
)
from .gathering import Gathered, gather, materials_by_surface, read, surface_name
from .properties import flags_of, objects_below

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Action, Context, Material, Object
    from ....formats.xray.object.document import Mesh
    from ..motions.properties import SkeletalFile
    from .properties import EditorModelProperties


@dataclass
class ModelPlan(FilePlan):
    """An editor model to write. ``inside``: the plan of the motions inside it, if they differ from the stored ones."""

    inside: library.Plan[skl.Skl] | None = None

    def settle(self, stored: StoredFile) -> None:
        """Remember the file also as that of the motions inside it."""
        super().settle(stored)
        inside = files_inside(stored.id_data.motionbridge_skeletal_files, self.path)
        for file in inside:
            file.sha256 = self.digest
        if self.inside is not None:
            keep(stored, "document", with_motions(kept(stored, "document"), self.inside.document))
            SKL.settle(self.inside, stored.id_data, next(filter(motions_of, inside)))
            library.remember_shown(self.inside.written, self.inside.shown_keys)

    def settle_exported(self, stored: StoredFile) -> None:
        """After an export that replaced the imported file: remember it as after `settle`."""
        super().settle_exported(stored)
        if location_of(stored).is_same(files.FileLocation(self.path)) and is_local(stored.id_data):
            self.settle(stored)


def file_inside(holder: Object) -> SkeletalFile | None:
    """Return the stored file of the motions inside the model of ``holder``, None if no actions belong to it."""
    own_files = files_inside(holder.motionbridge_skeletal_files, holder.motionbridge_editor_model.path)
    return next(filter(motions_of, own_files), None)


def plan_motions(
    context: Context,
    rig: Object,
    chosen: Sequence[Action],
    document: editor_model.Object,
    path: str,
    *,
    options: SkeletalExportOptions,
    report: Report,
    file: SkeletalFile | None = None,
    samples: dict[Any, Any] | None = None,
) -> library.Plan[skl.Skl]:
    """Plan ``document`` for the file at ``path``; motions of the actions ``chosen`` replace those of the same names.

    ``file``: the stored file of the document's motions, None for a new model. The changes are those of the motions
    only. Raises `WriteError`.
    """
    held = document.model.first(skl.Skl) or skl.new_skls([])
    host = SklHost.of(rig, held, file, on_disk=True, model=document)
    with scope.object_mode(context):
        return library.plan_onto(
            SKL, context, rig, chosen, path, host=host, options=options, report=report, samples=samples
        )


# The model ------------------------------------------------------------------------------------------------------------

SHADER, STATIC_SHADER = b"models\\model", b"default"
COMPILER_SHADER, GAME_MATERIAL = b"default", b"default"


def plan_export(
    context: Context,
    holder: Object,
    path: str,
    options: EditorModelExportOptions,
    report: Report,
    *,
    motions: SkeletalExportOptions | None = None,
    samples: dict[Any, Any] | None = None,
) -> ModelPlan:
    """Plan the export of the imported model of ``holder`` to ``path``. Raises `WriteError`.

    ``motions``: options for the motions inside it; None to write them as they were imported or last saved. ``samples``
    as in `Sampler`. The scene does not change.
    """
    properties = holder.motionbridge_editor_model
    data = kept(properties, "document")
    if not properties.is_model or not data:
        words = "{!r} was not imported from a model of the editor"
        raise WriteError(say(words, holder.name), remedy="Import the model file that the export replaces")
    if holder.mode == "EDIT":
        holder.update_from_editmode()
    # Matrices of objects moved by a script are only up to date after this.
    context.view_layer.update()
    base = editor_model.read(data, Path(properties.path).name, Report())
    model, changes = base.model, Changes()
    warn_of_own_transform(holder, report)
    if options.skeleton and holder.type == "ARMATURE" and model.bones:
        model = _with_bones(holder, model, changes, report)
    if options.meshes:
        gathered = {obj: gather(context, obj, holder, report, apply=options.modifiers) for obj in _meshes_of(holder)}
        model = _with_meshes(holder, gathered, model, changes, report)
        warn_of_pictures(materials_by_surface(gathered.values()).values(), report)
        warn_of_instances(holder, report)
        model = _with_surfaces(gathered.values(), base.model, model, changes, report)
    model = _with_texts(properties, model, changes)
    document = base.with_model(model) if changes else base
    plan = ModelPlan(path, editor_model.write(document) if changes else data, changes)
    file = file_inside(holder)
    if file is not None and options.motions and motions is not None:
        chosen = motions_of(file)
        inside = plan_motions(
            context, holder, chosen, document, path, options=motions, report=report, file=file, samples=samples
        )
        if inside.changes.parts:
            changes.parts += inside.changes.parts
            plan = ModelPlan(path, inside.data, changes, inside)
    if plan.changes:
        before = Counter(problems(base))
        for sentence in (Counter(problems(document)) - before).elements():
            report.warn(say("editors of the game: {}", sentence))
    return plan


def plan_save_back(
    context: Context,
    holder: Object,
    *,
    if_changed: OtherBase,
    report: Report,
    motions: SkeletalExportOptions | None = None,
    samples: dict[Any, Any] | None = None,
) -> ModelPlan:
    """Plan to write the model into its source file.

    Raises `WriteError` as `plan_export`, or if other programs changed that file and ``if_changed`` is
    `OtherBase.REFUSE`.
    """
    properties = holder.motionbridge_editor_model
    path = bpy.path.abspath(properties.path)
    options = EditorModelExportOptions()
    plan = plan_export(context, holder, path, options, report, motions=motions, samples=samples)
    files.warn_of_replacing(path, report)
    plan.onto_imported(properties, if_changed)
    return plan


def find_problems(
    context: Context, holder: Object, report: Report, found_meshes: Sequence[Object] | None = None
) -> list[Offending]:
    """Return what the editors or the game would reject in a model, problems of its meshes first.

    ``found_meshes``: the meshes of a new model. Of meshes with modifiers the faces are unknown, which is reported.
    """
    empty = np.zeros(0, np.int64)
    bones = bone_properties.bones_in_order(holder) if holder.type == "ARMATURE" else None
    result: list[Offending] = []
    for obj in _meshes_of(holder) if found_meshes is None else found_meshes:
        gathered, is_modified = read(context, obj, holder, report, apply=True), modifiers.is_modified(obj)
        for problem in checks.find_problems(gathered.mesh, bones):
            if is_modified:
                report.note(modifiers.NOTHING_SELECTED, obj.name)
                result.append(Offending(obj, problem, empty, empty))
            elif problem.domain is Domain.FACE:
                chosen = np.unique(gathered.faces[problem.elements]).astype(np.int64)
                result.append(Offending(obj, problem, chosen, empty))
            else:
                result.append(Offending(obj, problem, empty, problem.elements))
    if bones is not None and len(bones) > MOST_BONES:
        sentence = say("the model has {:# bone|# bones}, the game supports {}", len(bones), MOST_BONES)
        result.append(Offending(holder, whole(sentence, "Remove some"), empty, empty))
    roots = [bone for bone in holder.data.bones if bone.parent is None] if bones is not None else []
    if len(roots) > 1:
        sentence = say("{:# bone has|# bones have} no parent: {}", len(roots), ", ".join(bone.name for bone in roots))
        result.append(Offending(holder, whole(sentence, "Parent all but one"), empty, empty))
    data = kept(holder.motionbridge_editor_model, "document")
    if data:
        # Problems of the stored file, except those of its meshes: these were checked above as they are now.
        remedy = "Repair it in the panels, or in the editor"
        sentences = [
            problem
            for problem in problems(editor_model.read(data, holder.name, report))
            if not problem.startswith("in mesh ")
        ]
        result += [Offending(holder, whole(sentence, remedy), empty, empty) for sentence in sentences]
    return result


def show_normals(context: Context, holder: Object, report: Report) -> int:
    """Show the normals that the editor computes from each mesh of an imported model in its present state.

    Returns the number of meshes. Meshes whose file stores normals show them already. Raises `WriteError` as an export
    does.
    """
    properties = holder.motionbridge_editor_model
    model = editor_model.read(kept(properties, "document"), Path(properties.path).name, Report()).model
    listed, count = model.meshes, 0
    rule = rule_of_groups(listed[0]) if listed else Rule.EDGES
    for obj in _meshes_of(holder):
        properties_of_mesh, own_report = obj.motionbridge_editor_mesh, Report()
        mesh = gather(context, obj, holder, own_report, apply=False).mesh
        is_part = properties_of_mesh.is_part and properties_of_mesh.index < len(listed)
        encoded = encode_mesh(mesh, listed[properties_of_mesh.index], model, own_report)[0] if is_part else None
        encoded = encoded or encode_new_mesh(mesh, model, rule, own_report)
        if rule_of(encoded) is Rule.NORMALS:
            report.note("the file stores normals, which are shown already", obj.name)
            continue
        normals = decode_mesh(encoded, model, own_report).corner_normals
        if normals is None or len(normals) != len(mesh.corners):
            report.warn("normals are not shown: faces of the mesh cannot be stored", obj.name)
            continue
        # From model space to the object's space.
        sharp_mesh.show_normals(obj.data, mesh, (normals @ transform_in_model(obj, holder)[:3, :3]).astype(np.float32))
        count += 1
    return count


# ---- bones


def _with_bones(rig: Object, model: Model, changes: Changes, report: Report) -> Model:
    """Return the model with the bones of ``rig``: rest pose, parents, shapes, joints, new and removed bones."""
    now, unedited = armature.rest_of(rig, space.XRAY_ROOT_FRAME), unedited_rest(rig)
    index_of = {bone: number for number, bone in enumerate(now.bones)}
    own: dict[str, Any] = {}
    for bone in bone_properties.in_order(rig):
        own.setdefault(bone_properties.game_name(bone).lower(), bone)
    labels = {bone.name.lower() for bone in model.bones}
    written: list[Bone] = []
    for stored in model.bones:
        bone = own.pop(stored.name.lower(), None)
        if bone is None and any(bone.name.lower() == stored.name.lower() for bone in written):
            written.append(stored)  # only the first bone of a name is edited
            continue
        if bone is None:
            changes.change(Noun.BONE, stored.name, say("removed"))
            continue
        edited, fields = stored, []
        if bone.name not in unedited:
            number = index_of[bone.name]
            edited = mapping.with_rest_pose(edited, *placement(now, number))
            fields.append(say("rest position"))
        parent = bone_properties.game_name(bone.parent) if bone.parent is not None else ""
        # A bone whose parent's name belongs to no bone is a root.
        if parent.lower() != (stored.parent.lower() if stored.parent.lower() in labels else ""):
            edited = mapping.with_parent(edited, parent)
            fields.append(say("parent"))
        edited, more = _with_physics(bone, edited)
        if fields or more:
            changes.change(Noun.BONE, stored.name, *fields, *map(say, more))
        written.append(edited)
    for label, bone in own.items():
        parent = bone_properties.game_name(bone.parent) if bone.parent is not None else ""
        written.append(new_bone(bone, parent, *placement(now, index_of[bone.name])))
        changes.add(Noun.BONE, label)
    return with_bone_list(model, written, changes)


def with_bone_list(model: Model, written: list[Bone], changes: Changes) -> Model:
    """Return the model with these bones, sorted as in the editor if bones were added or removed."""
    old = model.first(Bones)
    if old is None or not any(part.noun is Noun.BONE for part in changes.parts):
        return model
    before, after = ([bone.name for bone in listed] for listed in (model.bones, written))
    if before == after:
        return model.replaced(old, old.mapped(model.bones, written))
    return model.replaced(old, mapping.bones_chunk(mapping.in_editor_order(written)))


def placement(now: armature.Rest, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a bone's offset and Euler angles relative to its parent, as stored in the file."""
    return (
        space.xray_bone_translations(now.translations[number]),
        space.xray_bone_angles_back(now.rotations[number]),
    )


def _with_physics(bone: typed.Bone, stored: Bone) -> tuple[Bone, list[str]]:
    physics = bone_files.decode_bone(stored)
    entry, fields = bone_values.gather(bone, physics.entry)
    if not fields:
        return stored, []
    kinds = [kind for kind, properties in PROPERTIES_OF_CHUNK.items() if set(properties) & set(fields)]
    return mapping.with_missing_chunks(bone_files.encode_bone(stored, entry), entry, kinds), fields


def new_bone(bone: typed.Bone, parent: str, offset: NDArray[Any], angles: NDArray[Any]) -> Bone:
    """Return a new bone with the chunks that the SDK writes; ``offset`` and ``angles`` are relative to the parent."""
    empty = bone_files.decode_bone(Bone([])).entry
    entry, _ = bone_values.gather(bone, empty)
    return mapping.new_object_bone(bone_properties.game_name(bone), parent, offset, angles, entry)


# ---- meshes and surfaces


def _meshes_of(holder: Object) -> list[Object]:
    """Return the mesh objects of a model: imported ones in the file's order, then others."""
    objects = [obj for obj in (holder, *objects_below(holder)) if obj.type == "MESH"]
    last = len(objects) + max((obj.motionbridge_editor_mesh.index for obj in objects), default=0)
    return sorted(
        objects, key=lambda obj: obj.motionbridge_editor_mesh.index if obj.motionbridge_editor_mesh.is_part else last
    )


def _with_meshes(
    holder: Object, gathered: dict[Object, Gathered], model: Model, changes: Changes, report: Report
) -> Model:
    listed = model.meshes
    parts: dict[int, Object] = {}
    added = []
    for obj in gathered:
        properties = obj.motionbridge_editor_mesh
        if properties.is_part and properties.index < len(listed) and properties.index not in parts:
            parts[properties.index] = obj
        else:
            added.append(obj)
    # If no mesh of the model is in the scene, those of the file are kept: editors do not load a model without one.
    deleted = bool(gathered) and holder.motionbridge_editor_model.has_meshes
    written = []
    for number, stored in enumerate(listed):
        if number not in parts and deleted:
            report.warn("a mesh of the model is no longer in the scene; left out of the file", stored.label)
            changes.change(Noun.MESH, stored.label, say("removed"))
            continue
        if number not in parts:
            report.warn("a mesh of the model is not in the scene; written as the file has it", stored.label)
            written.append(stored)
            continue
        mesh, difference = encode_mesh(gathered[parts[number]].mesh, stored, model, report)
        changes.include(difference, stored.label, Noun.MESH)
        written.append(mesh)
    rule = rule_of_groups(listed[0]) if listed else Rule.EDGES
    for obj in added:
        written.append(encode_new_mesh(gathered[obj].mesh, model, rule, report))
        changes.add(Noun.MESH, obj.name)
    return with_mesh_list(model, written, bool(added) or len(written) < len(listed))


def with_mesh_list(model: Model, written: list[Mesh], renumbered: bool) -> Model:
    """Return the model with these meshes, in the chunks of its present meshes unless ``renumbered``."""
    old = model.first(Meshes)
    if renumbered or old is None:
        return model.with_value(MESHES, Meshes.of(enumerate(written)))
    return model.replaced(old, old.mapped(model.meshes, written))


def surface_of(used: Material) -> Surface:
    """Return a surface with the values of a material."""
    properties, shader = used.motionbridge_surface, material.gather(used)
    return Surface(
        names.encode(surface_name(used)),
        names.encode(shader.shader),
        names.encode(shader.texture),
        b"Texture",
        TWO_SIDED if properties.two_sided else 0,
        names.encode(properties.compiler_shader),
        names.encode(properties.game_material),
    )


def new_surface(used: Material, dynamic: bool, report: Report) -> Surface:
    """Return the surface of a material that was not a surface, with the editor's defaults for missing values.

    A missing texture name is taken from the image. ``dynamic``: of a model with bones.
    """
    surface = surface_of(used)
    if not surface.shader:
        surface = replace(surface, shader=SHADER if dynamic else STATIC_SHADER)
        report.note(say("materials without engine shader get {}", names.decode(surface.shader)), used.name)
    return replace(
        surface,
        compiler_shader=surface.compiler_shader or COMPILER_SHADER,
        material=surface.material or GAME_MATERIAL,
        texture=surface.texture or names.encode(texture_name(used)),
    )


def _with_surfaces(
    gathered: Iterable[Gathered], before: Model, model: Model, changes: Changes, report: Report
) -> Model:
    """Return the model with surfaces as the materials define them.

    Surfaces that meshes newly refer to are added; those that no mesh refers to any more are removed.
    """
    old = newest(model, Surfaces)
    if old is None:
        return model
    used = materials_by_surface(gathered)
    used_before, used_now = _used_surfaces(before), _used_surfaces(model)
    written = []
    for surface in old.surfaces:
        key = surface.label.lower()
        if key in used_before - used_now:
            changes.change(Noun.SURFACE, surface.label, say("removed"))
            continue
        edited, fields = _edited_surface(surface, used.pop(key, None))
        if fields:
            changes.change(Noun.SURFACE, surface.label, *fields)
        written.append(edited)
    for key, used_material in used.items():
        if key in used_now and key not in {surface.label.lower() for surface in written}:
            added = new_surface(used_material, bool(model.bones), report)
            if not added.texture:
                report.warn(NO_TEXTURE, used_material.name)
            written.append(_of_layout(added, old.layout))
            changes.add(Noun.SURFACE, surface_name(used_material))
    if all(first is other for first, other in zip(written, old.surfaces, strict=False)) and len(written) == len(
        old.surfaces
    ):
        return model
    return model.replaced(old, Surfaces(written, old.layout))


def _used_surfaces(model: Model) -> set[str]:
    """Return the names, in lower case, of the surfaces that meshes refer to."""
    listed = (mesh.first(SurfacesOfFaces) for mesh in model.meshes)
    return {entry.label.lower() for chunk in listed if chunk is not None for entry in chunk.surfaces}


def _edited_surface(surface: Surface, used: Material | None) -> tuple[Surface, list[Message]]:
    """Return the surface with the values of its material that differ, and the names of these fields."""
    if used is None or not used.motionbridge_surface.is_surface:
        return surface, []
    now, fields, values = surface_of(used), [], {}
    for name, label in SURFACE_FIELDS.items():
        stored = getattr(surface, name)
        # Compared as text, so that bytes that are not valid text are kept.
        if stored is not None and names.decode(stored) != names.decode(getattr(now, name)):
            values[name] = getattr(now, name)
            fields.append(label)
    if (surface.flags ^ now.flags) & TWO_SIDED:
        values["flags"] = surface.flags ^ TWO_SIDED
        fields.append(say("two-sided"))
    return (replace(surface, **values) if values else surface), fields


def _of_layout(surface: Surface, layout: int) -> Surface:
    """Return the surface without the fields that an older layout lacks."""
    if layout == 0x907:
        return surface
    return replace(surface, material=None, compiler_shader=surface.compiler_shader if layout == 0x906 else None)


# ---- texts


def _with_texts(properties: EditorModelProperties, model: Model, changes: Changes) -> Model:
    """Return the model with flags, user data, LOD, scale, references and bone parts of the panel."""
    flags = model.first(ObjectFlags)
    if flags is not None and flags_of(properties) != flags.flags:
        size = flags.size if flags_of(properties) < 1 << 8 * flags.size else 4
        model = model.with_value(0x903, ObjectFlags(flags_of(properties), size))
        changes.note(say("flags"))
    user_data, lod = model.first(UserData), model.first(LodName)
    if properties.user_data != (names.decode(user_data.text) if user_data is not None else ""):
        model = model.with_value(0x912, UserData(names.encode(properties.user_data)))
        changes.note(say("user data"))
    if properties.lod != (names.decode(lod.name) if lod is not None else ""):
        model = model.with_value(0x925, LodName(names.encode(properties.lod)))
        changes.note(say("LOD"))
    scale = model.first(ExportScale)
    stored = np.array([scale.scale if scale is not None else 1], np.float32)
    panel_scale = as_in_file(np.array([properties.scale], np.float32), stored)
    if not np.array_equal(panel_scale, stored, equal_nan=True):
        export_scale = ExportScale(panel_scale[0], scale.adjust_mass if scale is not None else 0)
        model = model.with_value(0x927, export_scale)
        changes.note(say("export scale"))
    wanted = [entry.name for entry in properties.references]
    if wanted != [names.decode(name) for name in model.references]:
        model = _with_references(model, wanted)
        changes.note(say("motion references"))
    parts = [(part.name, [bone.name for bone in part.bones]) for part in properties.parts]
    if parts != [(names.decode(part.name), list(map(names.decode, part.bones))) for part in model.parts]:
        model = _with_parts(model, parts)
        changes.note(say("bone parts"))
    return model


def _with_references(model: Model, wanted: list[str]) -> Model:
    """Return the model with these motion references, in the chunk that editors read.

    A file without references gets the chunk of Shadow of Chernobyl, which all editors read.
    """
    encoded = [names.encode(name) for name in wanted]
    if model.first(MotionReferences) is None and model.first(MotionReferences2) is not None:
        return model.with_value(0x926, MotionReferences2(encoded))
    return model.with_value(0x924, MotionReferences(encoded))


def _with_parts(model: Model, wanted: list[tuple[str, list[str]]]) -> Model:
    """Return the model with these bone parts by names of bones.

    A list of bone parts by indices is removed, because editors would prefer it.
    """
    parts = Parts([Part(names.encode(name), list(map(names.encode, bones))) for name, bones in wanted])
    return model.without(NumberedParts).with_value(0x923, parts)
