"""A new model of the game (`.ogf`) of any mesh or armature in Blender, or of an imported model of the editor.

It is made as the SDK makes it, from an object of the editor (`.object`), which here exists in memory alone; normals of
a new model are those that Blender shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....blender import material, scope
from ....blender.armature import is_turned_or_scaled
from ....blender.mesh import Offending
from ....core import names
from ....core.changes import Changes
from ....core.model import Material
from ....core.problems import whole
from ....core.report import Report
from ....formats.xray import conversion, ogf
from ....formats.xray import object as editor_model
from ....formats.xray.conversion import Making, game_model, points_of_bones, with_motions
from ....formats.xray.ogf.building import COP, FEWEST_POINTS, SOC, oriented_box, with_new_meshes
from ....formats.xray.ogf.skeleton import new_entry
from ...plan import FilePlan
from ..bones import order
from ..bones import properties as bone_properties
from ..bones import values as bone_values
from ..motions import exporting as motion_export
from ..motions import omf_codec, omf_host
from ..options import (
    EditorModelExportOptions,
    ModelExportOptions,
    ModelKind,
    MotionExportOptions,
    SkeletalExportOptions,
)
from . import editor_exporting, editor_making, exporting

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Action, Bone, Context, Object
    from ..bones.properties import BoneProperties


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
    """A model of ``holder`` (an armature, a mesh, the parent of meshes, an imported object of the editor).

    ``chosen`` actions become the motions inside, as ``motions`` says, unless it has motion references. The scene stays
    as it is. Raises `WriteError` for what the game cannot take.
    """
    _warn(context, holder, report)
    document = _object(context, holder, options, report)
    taken = conversion.bone_order_of(options.bones_as) if options.bones_as else order.of_new_model(holder)
    generation = COP if options.most_links == COP.most_links else SOC
    name = Path(path).with_suffix(".object").name
    made = game_model(document, name, Making(generation, options.collapse, taken.bones), report)
    if chosen and document.model.references:
        report.warn("the motions inside are left out: the game reads motion references instead", holder.name)
    elif chosen:
        host = omf_host.OmfHost(None, parts=taken.parts) if taken.parts else omf_codec.OMF.host(holder, chosen)
        with scope.object_mode(context):
            how = motions or MotionExportOptions()
            plan = motion_export.plan_onto(
                omf_codec.OMF, context, holder, chosen, path, host=host, options=how, report=report
            )
        made = with_motions(made, plan.document.motion_set)
    return FilePlan(path, ogf.write(made), Changes(new="model"))


def plan_replaced(context: Context, holder: Object, path: str, options: ModelExportOptions, report: Report) -> FilePlan:
    """The imported model of ``holder`` with all its meshes as new ones, in any number and with any materials.

    Every chunk but those of the geometry is as an export without meshes writes it. Raises `WriteError`.
    """
    without_meshes = ModelExportOptions(skeleton=options.skeleton, meshes=False)
    plan = exporting.plan_export(context, holder, without_meshes, report)
    shown = editor_making.meshes_for(context, holder)
    _warn(context, holder, report)
    found, backs = [], []
    for one in shown:
        mesh = editor_exporting.gather(one, holder, report)
        mesh.materials = [_named(used) for used in one.data.materials]
        editor_exporting.follow_parent(mesh, one, holder)
        found.append(mesh)
        backs.append([used is not None and used.motionbridge_surface.two_sided for used in one.data.materials])
    base = ogf.read(plan.data, holder.name, Report())
    data = ogf.write(with_new_meshes(base, found, options.most_links, report, two_sided=backs))
    plan.changes.lines.append("all meshes")
    return FilePlan(path, data, plan.changes)


def _warn(context: Context, holder: Object, report: Report) -> None:
    """Say what the model will lack without a word from the game."""
    if is_turned_or_scaled(holder):
        report.warn(
            "its own rotation and scale are not in the model; apply them (Ctrl A) if they should be", holder.name
        )
    for used in _materials(editor_making.meshes_for(context, holder)):
        if not _named(used).texture:
            report.warn(
                "the material has no texture; type its path in Properties > Material > X-Ray Material", used.name
            )


def _materials(shown: Sequence[Object]) -> list[typed.Material]:
    """The materials of meshes, each once."""
    return list({slot.material: None for one in shown for slot in one.material_slots if slot.material is not None})


def _named(used: typed.Material | None) -> Material:
    """What a material says, its texture by its image where it names none."""
    found = material.gather(used)
    return found if found.texture or used is None else replace(found, texture=editor_making.texture_name(used))


def _object(context: Context, holder: Object, options: ModelExportOptions, report: Report) -> editor_model.Object:
    editor = EditorModelExportOptions(skeleton=options.skeleton)
    if holder.motionbridge_editor_model.is_model:
        plan = editor_exporting.plan_export(
            context, holder, holder.name, editor, report, motions=SkeletalExportOptions()
        )
    else:
        rigid = options.kind is ModelKind.RIGID
        plan = editor_making.plan_new(context, holder, holder.name, editor, report, for_game=True, rigid=rigid)
    return editor_model.read(plan.data, holder.name, Report())


# Setting up ---------------------------------------------------------------------------------------------------------


def set_up(holder: Object) -> int:
    """Give an object the panels of a model, and its bones the values of the SDK's new bones; how many are new."""
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
    """Whether the armature of a new model has bones that came after `set_up`."""
    is_made = holder.type == "ARMATURE" and holder.motionbridge_editor_model.is_made
    return is_made and any(bone_properties.known(bone) is None for bone in holder.data.bones)


def _depth_first(bones: Any) -> list[Bone]:
    """In the SDK's order: brothers by name."""
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
    """Give each of the bones ``chosen`` (by name) a shape around the vertices that follow it most; how many got one.

    Mass is the shape's volume times ``density`` (kg per cubic metre), the centre of mass the shape's. Bones with fewer
    than three vertices keep what they have and are reported. Raises `WriteError` as an export does.
    """
    points = points_of_bones(_object(context, rig, ModelExportOptions(), Report()))
    fitted, empty = 0, []
    for bone in rig.data.bones:
        if bone.name not in chosen or bone_properties.known(bone) is None:
            continue
        found = points.get(bone_properties.game_name(bone))
        if found is None or len(found) < FEWEST_POINTS:
            empty.append(bone.name)
            continue
        volume, centre = _fit(bone.motionbridge_xray, kind, found)
        bone.motionbridge_xray.mass = volume * density
        bone.motionbridge_xray.centre_of_mass = centre.tolist()
        fitted += 1
    if empty:
        report.warn(f"bones with fewer than {FEWEST_POINTS} vertices keep their shape: {', '.join(empty)}", rig.name)
    return fitted


def _fit(bone: BoneProperties, kind: str, points: Floats) -> tuple[float, Floats]:
    """Volume and centre of the shape that ``bone`` (its properties) gets."""
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
    away = (points - box_centre) @ np.delete(axes, longest, axis=0).T
    radius, height = float(np.linalg.norm(away, axis=1).max()), float(2 * half[longest])
    bone.cylinder_centre, bone.cylinder_direction = box_centre.tolist(), axes[longest].tolist()
    bone.cylinder_height, bone.cylinder_radius = height, radius
    return float(np.pi * radius**2 * height), box_centre


# Checks -------------------------------------------------------------------------------------------------------------


def find_problems(context: Context, holder: Object, report: Report) -> list[Offending]:
    """What editors or the game would not take, with what a new model often lacks: scales, textures, shapes."""
    found = editor_making.find_problems_of_new(context, holder, report)
    shown = editor_making.meshes_for(context, holder)
    for one in dict.fromkeys((holder, *shown)):
        found += [_whole(one, *words) for words in _object_problems(one)]
    for used in _materials(shown):
        if not _named(used).texture:
            words = (
                f"the material {used.name!r} has no texture",
                "Type its path in Properties > Material > X-Ray Material",
            )
            found.append(_whole(holder, *words))
    for group in names.duplicates(one.name for one in shown):
        found.append(_whole(holder, f"meshes named {group[0]!r} differ in case alone", "Rename one"))
    if holder.type == "ARMATURE":
        found += [_whole(holder, *words) for bone in holder.data.bones for words in _shape_problems(bone)]
    return found


def _whole(shown: Object, sentence: str, remedy: str) -> Offending:
    none = np.zeros(0, np.int64)
    return Offending(shown, whole(sentence, remedy), none, none)


def _object_problems(shown: Object) -> Iterator[tuple[str, str]]:
    scale = np.array(shown.matrix_world.to_scale())
    if np.linalg.det(np.array(shown.matrix_world)[:3, :3]) < 0:
        yield "the object is mirrored (negative scale), which turns its faces inside out", "Apply its scale (Ctrl A)"
    elif np.abs(scale - 1).max() > SAME_SCALE:
        yield f"the object is scaled ({', '.join(f'{one:g}' for one in scale)})", "Apply its scale (Ctrl A)"


def _shape_problems(bone: Any) -> Iterator[tuple[str, str]]:
    properties = bone_properties.known(bone)
    if properties is None:
        return
    sizes = {
        "BOX": lambda: min(properties.box_half_size),
        "SPHERE": lambda: properties.sphere_radius,
        "CYLINDER": lambda: min(properties.cylinder_height, properties.cylinder_radius),
    }
    if properties.shape in sizes and sizes[properties.shape]() <= 0:
        yield f"the collision shape of the bone {bone.name!r} has no volume", "Use Fit Shapes to Mesh, or choose None"
