"""Convert models and motions between the editor's formats and the game's, and order bones like those of another model.

`.skls` files and motions inside an `.object` become an `.omf`, and back. The game has a key per frame at 30 frames per
second, the editor has curves; both store the bone's whole transform relative to its parent. So the editor's curves are
sampled, and the game's keys become stepped keys on every frame, as in real files of the editor. Playback settings are
the same in both.

An `.object` becomes an `.ogf`, as the SDK exports it: with bones a skeleton, without them one static mesh or a
hierarchy of static meshes. Normals are those that the editor shows, by the object's own smoothing rule. Compared with
models that the SDK exported, triangles, normals, weights, rest pose and order of bones are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core import files, names, rotation, space
from ...core.binary import warn_not_finite
from ...core.envelope import Shape, evaluate
from ...core.errors import ReadError, WriteError
from ...core.model import Clip
from ...core.report import Report, say
from . import ogf, omf
from .bones import Bone, Part, Placement, Version, decode_bone
from .envelopes import NAMES, PACKED, StoredEnvelope
from .marks import decode_marks
from .object.chunk_types import TWO_SIDED, Authorship, ExportScale, LodName
from .object.document import Model, Object
from .object.mapping import decode_mesh, decode_skeleton, in_editor_order
from .ogf.building import (
    COP,
    Corners,
    Generation,
    NewBone,
    bone_chunks,
    bone_points,
    header_around,
    joined,
    make_children,
    mesh_corners,
    with_backs,
)
from .ogf.chunk_types import Description, LodPath, MotionReferences, MotionReferences2, Texture, UserData
from .ogf.document import LOD, Children, Ogf, Value, VisualType, motion_set_of
from .ogf.mesh import bone_labels
from .ogf.skeleton import NEW_BONE_MATERIAL, check_rest, check_skeleton
from .omf.codec import numbered
from .omf.document import (
    FRAMES_PER_SECOND,
    MOST_BONES,
    Definition,
    MotionSet,
    Omf,
    Parameters,
    Partition,
    PartitionBone,
    new_omf,
)
from .omf.mapping import decode as decode_clips
from .omf.mapping import encode as encode_clips
from .omf.mapping import new_definition
from .skl import ALL_PARTS, MARKS_SINCE, PACKED_SINCE, BoneTrack, SkeletalMotion, Skl, bone_names, new_skls


@dataclass(frozen=True)
class BoneOrder:
    """``bones`` in the order of the game's bone indices; ``parts`` names and bones of bone parts, empty if unknown."""

    bones: Sequence[str] = ()
    parts: Sequence[tuple[str, Sequence[str]]] = ()


def bone_order_of(path: str) -> BoneOrder:
    """Read the bone order of the model or motion file at ``path``. Raises `ReadError`."""
    data = files.read_file(path)
    if Path(path).suffix.lower() == ".omf":
        partitions = omf.read(data, path, Report()).motion_set.parameters.partitions
        bones = sorted((bone.track or 0, names.decode(bone.name or b"")) for part in partitions for bone in part.bones)
        return BoneOrder([label for _, label in bones], _parts(partitions))
    document = ogf.read(data, path, Report())
    inside = motion_set_of(document)
    return BoneOrder(bone_labels(document), _parts(inside.parameters.partitions) if inside is not None else ())


def _parts(partitions: Sequence[Partition]) -> list[tuple[str, list[str]]]:
    return [(part.label, [names.decode(bone.name or b"") for bone in part.bones]) for part in partitions]


# Motions --------------------------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]

MOST_FRAMES = 0xFFFF
"""Largest number of frames of a motion that is sampled; the longest real ones have some thousands."""
KEY_TIME_TOLERANCE = 1e-4
"""Tolerance in seconds for the times of keys, which are stored as 32-bit floats."""
CONSTANT_TOLERANCE = 1e-6
"""Tolerance in metres or components of a quaternion: a track that changes by less gets one key."""


def game_motions(motions: Sequence[SkeletalMotion], report: Report, parts: Sequence[Part] = ()) -> Omf:
    """Return an `.omf` of the editor's motions.

    ``parts`` are the bone parts of their object, used if they contain every bone once; else there is one part of all
    bones. Raises `WriteError` if there are no motions, or a motion lacks a bone of the first.
    """
    if not motions:
        raise WriteError("there are no motions", remedy="Choose a file with motions")
    bones = bone_names(motions[0])
    known = {bone.lower(): track for track, bone in enumerate(bones)}
    listed = [Part(b"default", [names.encode(bone) for bone in bones])]
    if sorted(name.lower() for part in parts for name in map(names.decode, part.bones)) == sorted(known):
        listed = list(parts)
    partitions = [
        Partition(
            part.name.lower(),
            [PartitionBone(name.lower(), known[names.decode(name).lower()]) for name in part.bones],
        )
        for part in listed
    ]
    base = MotionSet(numbered([]), Parameters(4, partitions, []))
    clips = [sampled(motion, report) for motion in motions]
    return new_omf(encode_clips(clips, base, definitions=[_definition(motion) for motion in motions])[0])


def sampled(motion: SkeletalMotion, report: Report) -> Clip:
    """Return an editor motion sampled at every frame of the game.

    Raises `WriteError` for no frames, more than `MOST_FRAMES`, or NaN or infinite values.
    """
    frames = round((motion.last - motion.first) * motion.frame * FRAMES_PER_SECOND) + 1
    if not 0 < frames <= MOST_FRAMES:
        words = "frames {} to {} at {:g} per second are too few or too many for the game ({}; possible: 1 to {})"
        raise WriteError(
            say(words, motion.first, motion.last, motion.fps, frames, MOST_FRAMES),
            file=motion.label,
            remedy="Change the frame range of the motion",
        )
    if abs(motion.frame * FRAMES_PER_SECOND - 1) > 1e-6:
        words = "sampled at {:g} frames per second instead of {:g}"
        report.note(say(words, FRAMES_PER_SECOND, motion.fps), motion.label)
    times = motion.first * motion.frame + np.arange(frames) / FRAMES_PER_SECOND
    values = np.zeros((len(motion.tracks), len(NAMES), frames))
    names = bone_names(motion)
    for number, track in enumerate(motion.tracks):
        if track.flags & 1:
            words = (
                "{0:# bone is|# bones are} rotated in world space; converted as if relative to "
                "{0:its parent|their parents}"
            )
            report.warn(say(words, 1), names[number])
        for channel, stored in enumerate(track.envelopes):
            envelope = stored.decoded()
            values[number, channel] = evaluate(envelope, _snapped_to_keys(times, envelope.times))
    if not np.isfinite(values).all():
        raise WriteError("the motion has NaN or infinite values", file=motion.label, remedy="Delete those keys")
    x, y, z, heading, pitch, bank = np.moveaxis(values, 1, 0)
    translations = space.xray_bone_translations(np.stack([x, y, z], axis=-1))
    quaternions = rotation.of_mode(np.stack([-pitch, -heading, bank], axis=-1), "ZXY")
    return Clip(
        motion.label,
        bone_names(motion),
        np.stack([rotation.continuous(quaternion) for quaternion in quaternions]) if len(quaternions) else quaternions,
        translations,
        _varying(quaternions),
        _varying(translations),
        FRAMES_PER_SECOND,
        decode_marks(motion.marks),
    )


def _snapped_to_keys(times: Floats, keys: Floats) -> Floats:
    """Return the times, those within `KEY_TIME_TOLERANCE` of a key as the key's, so that no stepped key is missed."""
    if not len(keys):
        return times
    after = np.clip(np.searchsorted(keys, times), 0, len(keys) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(keys[after] - times) < np.abs(keys[before] - times), keys[after], keys[before])
    return np.where(np.abs(nearest - times) < KEY_TIME_TOLERANCE, nearest, times)


def _varying(values: Floats) -> NDArray[np.bool_]:
    """Return (bones,): whether values (bones, frames, width) change over time."""
    result: NDArray[np.bool_] = (np.ptp(values, axis=1) > CONSTANT_TOLERANCE).any(axis=1)
    return result


def _definition(motion: SkeletalMotion) -> Definition:
    definition = new_definition(motion.label)
    definition.flags = motion.flags & 0xFF
    definition.bone_or_part = min(motion.bone_or_part, ALL_PARTS)
    speed, accrue, falloff, power = motion.timing
    definition.timing = np.array([speed, power, accrue, falloff], "<f4")
    return definition


def editor_motions(document: Omf, report: Report) -> Skl:
    """Return a `.skls` of the game's motions, with stepped keys on every frame.

    Reports values that become infinite because 32-bit floats cannot hold them, as in motions with an absurd scale.
    """
    motions = document.motion_set
    own_motions = []
    for index, clip in enumerate(decode_clips(motions, report)):
        definition = motions.definition(index) or new_definition(clip.name)
        speed, power, accrue, falloff = definition.timing
        tracks = _tracks(clip)
        warn_not_finite(report, clip.name, tracks)
        own_motions.append(
            SkeletalMotion(
                definition.name,
                0,
                max(clip.frames - 1, 0),
                np.float32(FRAMES_PER_SECOND),
                MARKS_SINCE if definition.marks else PACKED_SINCE,
                definition.flags & 0xFF,
                definition.bone_or_part & 0xFFFF,
                np.array([speed, accrue, falloff, power], "<f4"),
                tracks,
                list(definition.marks),
            )
        )
    return new_skls(own_motions)


def into_model(motions: Sequence[SkeletalMotion], target: Object, report: Report) -> Object:
    """Return the object ``target`` with these motions inside; those of the same name are replaced, others appended.

    Bones that the object lacks are reported. Raises `WriteError` if there are no motions, if the object has no bones,
    or if its own motions are damaged.
    """
    model = target.model
    if not motions:
        raise WriteError("there are no motions", remedy="Choose a file with motions")
    if not model.bones:
        raise WriteError("the object has no bones, so no motions", remedy="Choose an object with bones")
    bones = {bone.name.lower() for bone in model.bones}
    for motion in motions:
        for name in bone_names(motion):
            if name.lower() not in bones:
                report.warn(say("{:# bone is|# bones are} not in the object", 1), name)
    remaining: dict[bytes, list[SkeletalMotion]] = {}
    for motion in motions:
        remaining.setdefault(motion.name.lower(), []).append(motion)
    kept = []
    for motion in model.motions:
        same_name = remaining.get(motion.name.lower())
        kept.append(same_name.pop(0) if same_name else motion)
    # Broken files have several motions of one name; all are kept.
    return target.with_model(model.with_motions(new_skls([*kept, *chain.from_iterable(remaining.values())])))


def _tracks(clip: Clip) -> list[BoneTrack]:
    tracks = []
    for number, bone in enumerate(clip.bones):
        position = space.xray_bone_translations(clip.translations[number])
        with np.errstate(over="ignore", invalid="ignore"):  # the caller reports NaN and infinite values
            angles = rotation.euler_zxy(rotation.matrices(clip.rotations[number]))
        channels = (*position.T, -angles[:, 1], -angles[:, 0], angles[:, 2])
        keyed = [bool(clip.translation_keyed[number])] * 3 + [bool(clip.rotation_keyed[number])] * 3
        envelopes = [
            _stepped(values if keyed_channel else values[:1])
            for values, keyed_channel in zip(channels, keyed, strict=True)
        ]
        tracks.append(BoneTrack(names.encode(bone.lower()), 0, envelopes))
    return tracks


def _stepped(values: Floats) -> StoredEnvelope:
    keys = np.zeros(len(values), PACKED)
    with np.errstate(over="ignore", invalid="ignore"):  # the caller reports NaN and infinite values
        keys["value"] = values
    keys["time"] = np.arange(len(values)) / FRAMES_PER_SECOND
    keys["shape"] = Shape.STEPPED
    return StoredEnvelope(1, 1, keys)


# Models ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelSettings:
    """Settings for making a model: the engine, and whether to ``collapse`` detail below a millimetre as the SDK does.

    ``bone_order`` names bones in the order of a model whose motions are to fit; bones that are not in it come last. If
    it is empty, all bones are in the SDK's order. ``most_bones``: the largest number of bones that the engine supports.
    """

    generation: Generation = COP
    collapse: bool = False
    bone_order: Sequence[str] = ()
    most_bones: int = MOST_BONES


def game_model(document: Object, name: str, settings: ModelSettings, report: Report) -> Ogf:
    """Return an `.ogf` made from an object, with ``name`` as its source file. Raises `WriteError`."""
    model = document.model
    scale = model.first(ExportScale)
    if scale is not None and scale.scale != 1:
        report.warn(say("the Hybrid editor's export scale of {:g} is not applied", scale.scale))
    bones = ordered_bones(model, settings.bone_order, report)
    _check_bones(model, settings.most_bones)
    corners, textures = _corners(model, [bone.name for bone in bones], settings, report)
    children = make_children(corners, textures, settings.generation, report, collapse=settings.collapse)
    if not children:
        raise WriteError("the model has no faces", remedy="Give it a mesh")
    if not bones:
        return _without_bones(children, model, name)
    listed, physics = bone_chunks([_game_bone(bone, bones) for bone in bones], corners)
    references = model.references
    animated = bool(references or model.motions)
    sections: list[tuple[int, Value]] = [
        (1, header_around(VisualType.SKELETON_ANIMATED if animated else VisualType.SKELETON_RIGID, children)),
        (18, _description(model, name)),
        (9, Children.of(enumerate(children))),
        (13, listed),
        (16, physics),
    ]
    user_data, lod = model.first(UserData), model.first(LodName)
    if user_data is not None and user_data.text:
        sections.append((17, user_data))
    if lod is not None and lod.name:
        sections.append((LOD, LodPath(lod.name)))
    if references and settings.generation.references_as_list:
        sections.append((24, MotionReferences2(references)))
    elif references:
        sections.append((19, MotionReferences(references)))
    result = Ogf.of(sections)
    if references and model.motions:
        report.warn("the motions inside are left out: the game reads motion references instead", name)
    elif model.motions:
        return with_motions(result, game_motions(model.motions, report, model.parts).motion_set)
    return result


def with_motions(model: Ogf, motions: MotionSet) -> Ogf:
    """Return a new model, without motion references, with motions added. Raises `WriteError` if their bones differ."""
    _check_motions(motions, bone_labels(model))
    header = model.header
    animated = model.replaced(header, replace(header, type=VisualType.SKELETON_ANIMATED))
    return animated.with_value(14, motions.library).with_value(15, motions.parameters)


def points_of_bones(document: Object) -> dict[str, NDArray[np.float64]]:
    """Return for each bone name the vertices (n, 3), in the bone's space, on which the bone has the largest weight.

    Raises `WriteError` as `game_model` does.
    """
    bones = ordered_bones(document.model, (), Report())
    corners, _ = _corners(document.model, [bone.name for bone in bones], ModelSettings(), Report())
    listed, physics = bone_chunks([_game_bone(bone, bones) for bone in bones], corners)
    own_points = bone_points(listed, physics, corners)
    return {bone.name: points for bone, points in zip(bones, own_points, strict=True)}


def _without_bones(children: list[Ogf], model: Model, name: str) -> Ogf:
    if len(children) == 1:
        return children[0]
    return Ogf.of(
        [
            (1, header_around(VisualType.HIERARCHY, children)),
            (18, _description(model, name)),
            (9, Children.of(enumerate(children))),
        ]
    )


def _description(model: Model, name: str) -> Description:
    """Return the description as the SDK writes it.

    The author of the last change is named as the exporter too; the time of the export is 0.
    """
    authorship = model.first(Authorship) or Authorship(b"", 0, b"", 0)
    times = (authorship.created & 0xFFFF_FFFF, authorship.modified & 0xFFFF_FFFF)
    return Description(
        names.encode(name.lower()), authorship.modifier, 0, authorship.creator, times[0], authorship.modifier, times[1]
    )


# Bones --------------------------------------------------------------------------------------------------------------


def ordered_bones(model: Model, order: Sequence[str], report: Report) -> list[Bone]:
    """Return the bones in the order of the game's bone indices.

    ``order`` are the names of another model's bones; bones missing on either side are reported.
    """
    if not model.bones:
        return []
    bones = in_editor_order(model.bones)
    if not order:
        return bones
    wanted = {label.lower(): number for number, label in enumerate(order)}
    known = {bone.name.lower() for bone in bones}
    missing = [label for label in order if label.lower() not in known]
    added = [bone.name for bone in bones if bone.name.lower() not in wanted]
    if missing:
        report.warn(say("bones of the other model that this one lacks: {}", ", ".join(missing)))
    if added:
        report.warn(say("bones that the other model lacks, which get numbers behind its own: {}", ", ".join(added)))
    return sorted(bones, key=lambda bone: wanted.get(bone.name.lower(), len(wanted)))


def _check_bones(model: Model, most_bones: int) -> None:
    """Raise `WriteError` for bones that the game refuses."""
    try:
        skeleton = decode_skeleton(model, "")
    except ReadError as cycle:
        raise WriteError(cycle.problem, remedy=cycle.remedy) from None
    if skeleton is not None:
        check_skeleton(skeleton, most_bones)
        check_rest(skeleton)


def _game_bone(bone: Bone, bones: Sequence[Bone]) -> NewBone:
    known = {bone.name.lower() for bone in bones}
    parent = bone.parent.lower() if bone.parent.lower() in known else ""
    entry, placement, version = decode_bone(bone).entry, bone.first(Placement), bone.first(Version)
    if placement is not None:
        swapped = version is not None and version.number == 1
        angles = placement.rotation[[1, 0, 2]] if swapped else placement.rotation
        entry = replace(entry, rotation=angles, offset=placement.offset)
    entry = replace(entry, material=entry.material or NEW_BONE_MATERIAL, version=1)
    return NewBone(names.encode(bone.name.lower()), names.encode(parent), entry)


def _check_motions(motions: MotionSet, bones: Sequence[str]) -> None:
    """Raise `WriteError` if tracks and bones differ: the engine requires a track for each bone."""
    labels = {bone.lower() for bone in bones}
    partitions = motions.parameters.partitions
    tracked = {names.decode(bone.name or b"").lower() for part in partitions for bone in part.bones}
    if labels != tracked:
        differing = ", ".join(sorted(labels ^ tracked))
        raise WriteError(
            say("the motions inside and the model have other bones: {}", differing),
            remedy="Give the motions all bones of the model, or export them to an .omf",
        )


# Meshes -------------------------------------------------------------------------------------------------------------


def _corners(model: Model, bones: list[str], settings: ModelSettings, report: Report) -> tuple[Corners, list[Texture]]:
    """Return all meshes together, and the pairs of texture and shader in the order of the object's surfaces.

    Raises `WriteError` for faces without material, or with a surface that the object does not list.
    """
    textures: list[Texture] = []
    of_surface: dict[str, int] = {}
    for surface in model.surfaces:
        key = Texture(surface.texture, surface.shader)
        if key not in textures:
            textures.append(key)
        of_surface.setdefault(surface.label.lower(), textures.index(key))
    two_sided = {own_surface.label.lower() for own_surface in model.surfaces if own_surface.flags & TWO_SIDED}
    parts: list[Corners] = []
    for mesh in model.meshes:
        decoded = decode_mesh(mesh, model, report)
        if not len(decoded.counts):
            continue
        part = mesh_corners(decoded, bones, settings.generation, report)
        labels = [material.name.lower() for material in decoded.materials] or [""]
        index = (
            decoded.material_index if decoded.material_index is not None else np.zeros(len(decoded.counts), np.int32)
        )
        part.texture = np.array([of_surface.get(label, -1) for label in labels])[index]
        without_material = int((part.texture < 0)[index == labels.index("")].sum()) if "" in labels else 0
        if without_material:
            words = "{:# face has|# faces have} no material in {!r}"
            raise WriteError(say(words, without_material, decoded.name), remedy="Give every face a material")
        if (part.texture < 0).any():
            sentence = "faces of {!r} have no surface that the object lists"
            raise WriteError(say(sentence, decoded.name), remedy="Give every face a material")
        is_two_sided = np.array([label in two_sided for label in labels])[index]
        parts.append(with_backs(part, is_two_sided))
    return joined(parts), textures
