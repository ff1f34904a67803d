"""A model of the editor as a model of the game: `.object` as `.ogf`, as the SDK exports it.

With bones it becomes a skeleton, without them one mesh or a group of meshes that nothing moves. Normals are those that
the editor shows, by the object's own rule of smoothing. Compared with models that the SDK exported: triangles, normals,
weights, rest pose and order of bones are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core import names
from ...core.errors import ReadError, WriteError
from ...core.report import Report
from ...core.text import said_of
from . import motion_conversion
from .bones import Bone, Placement, Version, decode_bone
from .object.bones import in_editor_order
from .object.chunk_types import TWO_SIDED, Authorship, ExportScale, LodName
from .object.document import Model, Object
from .object.mapping import decode_mesh, decode_skeleton
from .ogf.building import (
    COP,
    Corners,
    Generation,
    NewBone,
    bone_chunks,
    bone_points,
    children_chunk,
    header_around,
    make_children,
    section,
)
from .ogf.chunk_types import Description, LodPath, MotionReferences, MotionReferences2, Texture, UserData
from .ogf.corners import joined, mesh_corners, with_backs
from .ogf.document import Ogf, VisualType
from .ogf.mesh import bone_labels
from .ogf.skeleton import NEW_BONE_MATERIAL, check_rest, check_skeleton
from .omf.document import MotionSet


@dataclass(frozen=True)
class Making:
    """How a model is made: for which engine; ``collapse`` detail below a millimetre as the SDK does.

    ``bone_order`` names bones in the order of a model whose motions are to fit; bones that it lacks follow behind, all
    in the SDK's order if it is empty.
    """

    generation: Generation = COP
    collapse: bool = False
    bone_order: Sequence[str] = ()


def game_model(document: Object, name: str, making: Making, report: Report) -> Ogf:
    """An `.ogf` of an object, which names ``name`` as its source. Raises `WriteError`."""
    model = document.model
    scale = model.first(ExportScale)
    if scale is not None and scale.scale != 1:
        report.warn(f"the Hybrid editor's export scale of {scale.scale:g} is not applied")
    bones = ordered_bones(model, making.bone_order, report)
    corners, textures = _corners(model, [bone.name for bone in bones], making, report)
    children = make_children(corners, textures, making.generation, report, collapse=making.collapse)
    if not children:
        raise WriteError("the model has no faces", remedy="Give it a mesh")
    if not bones:
        return _without_bones(children, model, name)
    listed, physics = bone_chunks([_game_bone(bone, bones) for bone in bones], corners)
    references = model.references
    animated = bool(references or model.motions)
    sections = [
        section(1, header_around(VisualType.SKELETON_ANIMATED if animated else VisualType.SKELETON_RIGID, children)),
        section(18, _description(model, name)),
        section(9, children_chunk(children)),
        section(13, listed),
        section(16, physics),
    ]
    user_data, lod = model.first(UserData), model.first(LodName)
    if user_data is not None and user_data.text:
        sections.append(section(17, user_data))
    if lod is not None and lod.name:
        sections.append(section(23, LodPath(lod.name)))
    if references and making.generation.references_as_list:
        sections.append(section(24, MotionReferences2(references)))
    elif references:
        sections.append(section(19, MotionReferences(references)))
    made = Ogf(sections)
    if references and model.motions:
        report.warn("the motions inside are left out: the game reads motion references instead", name)
    elif model.motions:
        return with_motions(made, motion_conversion.game_motions(model.motions, report, model.parts).motion_set)
    return made


def with_motions(made: Ogf, motions: MotionSet) -> Ogf:
    """A new model without motion references, with motions inside. Raises `WriteError` if they are of other bones."""
    _check_motions(motions, bone_labels(made))
    header = made.header
    animated = made.replaced(header, replace(header, type=VisualType.SKELETON_ANIMATED))
    return Ogf([*animated.sections, section(14, motions.library), section(15, motions.parameters)])


def points_of_bones(document: Object) -> dict[str, NDArray[np.float64]]:
    """The vertices (n, 3) that follow each bone more than any other, in the bone's own space, by the bone's name.

    Raises `WriteError` as `game_model` does.
    """
    bones = ordered_bones(document.model, (), Report())
    corners, _ = _corners(document.model, [bone.name for bone in bones], Making(), Report())
    listed, physics = bone_chunks([_game_bone(bone, bones) for bone in bones], corners)
    found = bone_points(listed, physics, corners)
    return {bone.name: points for bone, points in zip(bones, found, strict=True)}


def _without_bones(children: list[Ogf], model: Model, name: str) -> Ogf:
    if len(children) == 1:
        return children[0]
    return Ogf(
        [
            section(1, header_around(VisualType.HIERARCHY, children)),
            section(18, _description(model, name)),
            section(9, children_chunk(children)),
        ]
    )


def _description(model: Model, name: str) -> Description:
    """As the SDK has it: the one who changed the object last is the one who exports it, at a time that is not said."""
    found = model.first(Authorship) or Authorship(b"", 0, b"", 0)
    times = (found.created & 0xFFFF_FFFF, found.modified & 0xFFFF_FFFF)
    return Description(names.encode(name.lower()), found.modifier, 0, found.creator, times[0], found.modifier, times[1])


# Bones --------------------------------------------------------------------------------------------------------------


def ordered_bones(model: Model, order: Sequence[str], report: Report) -> list[Bone]:
    """The bones in the order that the game counts by. Raises `WriteError` for bones that the game refuses."""
    if not model.bones:
        return []
    _check_bones(model)
    bones = in_editor_order(model.bones)
    if not order:
        return bones
    wanted = {label.lower(): number for number, label in enumerate(order)}
    known = {bone.name.lower() for bone in bones}
    missing = [label for label in order if label.lower() not in known]
    more = [bone.name for bone in bones if bone.name.lower() not in wanted]
    if missing:
        report.warn(f"bones of the other model that this one lacks: {', '.join(missing)}")
    if more:
        report.warn(f"bones that the other model lacks, which get numbers behind its own: {', '.join(more)}")
    return sorted(bones, key=lambda bone: wanted.get(bone.name.lower(), len(wanted)))


def _check_bones(model: Model) -> None:
    try:
        skeleton = decode_skeleton(model, "")
    except ReadError as cycle:
        raise WriteError(cycle.problem, remedy=cycle.remedy) from None
    if skeleton is not None:
        check_skeleton(skeleton)
        check_rest(skeleton)


def _game_bone(bone: Bone, bones: Sequence[Bone]) -> NewBone:
    known = {one.name.lower() for one in bones}
    parent = bone.parent.lower() if bone.parent.lower() in known else ""
    entry, placement, version = decode_bone(bone).entry, bone.first(Placement), bone.first(Version)
    if placement is not None:
        swapped = version is not None and version.number == 1
        angles = placement.rotation[[1, 0, 2]] if swapped else placement.rotation
        entry = replace(entry, rotation=angles, offset=placement.offset)
    entry = replace(entry, material=entry.material or NEW_BONE_MATERIAL, version=1)
    return NewBone(names.encode(bone.name.lower()), names.encode(parent), entry)


def _check_motions(motions: MotionSet, bones: Sequence[str]) -> None:
    """The engine demands a track for each bone."""
    labels = {bone.lower() for bone in bones}
    partitions = motions.parameters.partitions
    moved = {names.decode(bone.name or b"").lower() for part in partitions for bone in part.bones}
    if labels != moved:
        differing = ", ".join(sorted(labels ^ moved))
        raise WriteError(
            f"the motions inside and the model have other bones: {differing}",
            remedy="Give the motions all bones of the model, or export them to an .omf",
        )


# Meshes -------------------------------------------------------------------------------------------------------------


def _corners(model: Model, bones: list[str], making: Making, report: Report) -> tuple[Corners, list[Texture]]:
    """All meshes together, and the textures with shaders that they use, in the order of the object's surfaces."""
    textures: list[Texture] = []
    of_surface: dict[str, int] = {}
    for one in model.surfaces:
        key = Texture(one.texture, one.shader)
        if key not in textures:
            textures.append(key)
        of_surface.setdefault(one.label.lower(), textures.index(key))
    two_sided = {one.label.lower() for one in model.surfaces if one.flags & TWO_SIDED}
    parts: list[Corners] = []
    for mesh in model.meshes:
        shown = decode_mesh(mesh, model, report)
        if not len(shown.counts):
            continue
        part = mesh_corners(shown, bones, making.generation, report)
        labels = [material.name.lower() for material in shown.materials] or [""]
        index = shown.material_index if shown.material_index is not None else np.zeros(len(shown.counts), np.int32)
        part.texture = np.array([of_surface.get(label, -1) for label in labels])[index]
        bare = int((part.texture < 0)[index == labels.index("")].sum()) if "" in labels else 0
        if bare:
            words = f"{said_of(bare, 'faces', 'have')} no material"
            raise WriteError(f"{words} in {shown.name!r}", remedy="Assign a material to every face")
        if (part.texture < 0).any():
            raise WriteError(
                f"faces of {shown.name!r} have no surface that the object lists",
                remedy="Give every face a material",
            )
        both = np.array([label in two_sided for label in labels])[index]
        parts.append(with_backs(part, both))
    return joined(parts), textures
