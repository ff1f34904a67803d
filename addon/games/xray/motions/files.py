"""Motion files as an armature stores them: everything but the keys (stored on the actions), rest pose, bone parts.

Several files on one armature are normal. An action refers to its file by the file's name. `LISTS` are the game's files
(`.omf`), `SKL_LISTS` those of the editor (`.skl`, `.skls`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ....blender import action_lists
from ....blender.action_lists import Kind, label_of
from ....blender.armature import Rest, matrices_of, parent_local
from ....blender.properties import damaged, drop, keep, kept
from ....core import names, rotation
from ....core.binary import Reader
from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import omf, skl
from ....formats.xray.chunks import ChunkRun, read_chunks, write_chunks
from ....formats.xray.omf import edit
from ....formats.xray.omf.codec import read_motion, with_motions, write_motion
from ....formats.xray.omf.document import (
    MOTIONS,
    Motion,
    MotionFlag,
    MotionLibrary,
    MotionSet,
    Omf,
    Parameters,
    Partition,
    PartitionBone,
)
from ....formats.xray.skl import SkeletalMotion, Skl, read_list
from ....formats.xray.skl import read_motion as read_skl_motion
from .properties import LISTS, SKL_LISTS

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from .properties import MotionFile, MotionProperties, SkeletalFile


HIGHEST_TRACK = 2**31 - 1
"""The largest value of an `IntProperty`."""
REST_TOLERANCE = 1e-6
"""Tolerance for each element of a rest matrix that counts as not edited."""


def objects() -> Iterable[Any]:
    """Return all objects of the .blend, as objects with the properties of this extension."""
    return bpy.data.objects


def lists_of(file: MotionFile | SkeletalFile) -> Kind:
    """Return the kind of a file on an armature: `LISTS` or `SKL_LISTS`."""
    return SKL_LISTS if file.listed_by == SKL_LISTS.files else LISTS


def attach(rig: Object, path: str, lists: Kind) -> Any:
    """Add a file to ``rig``, with a unique name, an empty list of actions and the current rest pose."""
    taken = {file.name for other in objects() for file in lists.files_of(other)}
    file = lists.files_of(rig).add()
    file.name, file.path = names.distinct(Path(path).name, taken), path
    action_lists.start_list(file)
    keep_rest(file, rig)
    return file


# ---- the game's files


def keep_document(file: MotionFile, document: Omf, path: str, digest: str) -> None:
    """Store ``document`` without its keys. ``path``: where the file is. ``digest``: SHA-256 of its bytes."""
    file.path, file.sha256 = path, digest
    show_partitions(file, document.motion_set.parameters.partitions)
    file.version = document.motion_set.parameters.version
    keep(file, "document", omf.write(_without_keys(document)))
    chunk = document.motions_section.chunk
    drop(file, "motions_chunk")
    if chunk.packed is not None or chunk.declared is not None:
        keep(file, "motions_chunk", write_chunks(ChunkRun([chunk])))


def _without_keys(document: Omf) -> Omf:
    library, parameters = document.motion_set
    entries = [
        replace(entry, body=b"", starts=[0]) if isinstance(entry, Motion) else entry for entry in library.entries
    ]
    return document.with_motion_set(MotionSet(MotionLibrary(entries, library.tail), parameters))


def document_of(file: MotionFile) -> Omf:
    """Return the file as it was read, its motions without tracks."""
    document = omf.read(kept(file, "document"), file.name, Report())
    if chunk := kept(file, "motions_chunk"):
        # Written unchanged if the motions put back in are the imported ones.
        reader = Reader(chunk, file.name, f"{MOTIONS:#x}")
        document.motions_section.chunk = read_chunks(reader, Report()).chunks[0]
    return document


def motion_of(action: Action) -> Motion | None:
    """Return the imported motion of an action, None for an action that was not imported.

    Raises `ReadError` if the stored bytes are damaged.
    """
    body = kept(action.motionbridge_motion, "body")
    return read_motion(Reader(body, label_of(action))) if body else None


def are_stored(file: MotionFile, motions: MotionSet) -> bool:
    """Return whether ``motions`` are those of ``file`` as it was imported or last saved.

    Of motions that have no action, keys are not compared. Damaged stored bytes equal none.
    """
    indices = action_lists.members(file, LISTS).items()
    try:
        return kept(file, "document") == omf.write(_without_keys(omf.new_omf(motions))) and all(
            kept(action.motionbridge_motion, "body") == write_motion(motions.library.motions[index])
            for action, index in indices
            if index >= 0
        )
    except ReadError:
        return False


def joined(file: MotionFile, document: Omf, motions: dict[int, Motion]) -> Omf:
    """Return the `document_of` a file with only these ``motions`` (index in the file -> motion), with their keys.

    Raises `ReadError` if the file has no such motion.
    """
    library, parameters = document.motion_set
    if motions and max(motions) >= len(library.motions):
        raise damaged(file)
    motions_of_file = [
        replace(stub, body=motions[index].body, starts=motions[index].starts, frames=motions[index].frames)
        if index in motions
        else stub
        for index, stub in enumerate(library.motions)
    ]
    return document.with_motion_set(edit.only(MotionSet(with_motions(library, motions_of_file), parameters), motions))


# ---- the editor's files


def keep_skl_document(file: SkeletalFile, document: Skl) -> None:
    """Store ``document`` without its tracks."""
    keep(
        file, "document", skl.write(document.with_motions([replace(motion, tracks=[]) for motion in document.motions]))
    )


def skl_document_of(file: SkeletalFile) -> Skl:
    """Return the editor's file as it was read, its motions without tracks."""
    data = kept(file, "document")
    if file.embedded:
        return read_list(Reader(data, file.path), Report())
    return skl.read(data, file.path, Report())


def skl_motion_of(action: Action, name: str = "body") -> SkeletalMotion | None:
    """Return the imported editor motion of an action, None for an action that was not imported from such a file.

    ``name`` "saved": the motion as it was saved with more than the action's keys, None if it was not.

    Raises `ReadError` if the stored bytes are damaged.
    """
    body = kept(action.motionbridge_skeletal, name)
    return read_skl_motion(Reader(body, label_of(action)), Report()) if body else None


# ---- the rest pose that keys are relative to


def keep_rest(file: MotionFile | SkeletalFile, rig: Object) -> None:
    """Store the current rest pose of ``rig`` as the one that the imported keys are relative to."""
    file.rest.clear()
    bones = rig.data.bones
    for bone, matrix in zip(bones, matrices_of(bones, "matrix_local"), strict=True):
        entry = file.rest.add()
        entry.name = bone.name
        entry.matrix = matrix.ravel().tolist()


def rest_changes(file: MotionFile | SkeletalFile, rig: Object) -> list[str]:
    """Return the bones whose rest pose was edited since the file's motions were imported, except deleted bones."""
    now = dict(zip(rig.data.bones.keys(), matrices_of(rig.data.bones, "matrix_local"), strict=True))
    changed = []
    for entry in file.rest:
        imported = np.array(entry.matrix[:]).reshape(4, 4)
        if entry.name in now and np.abs(now[entry.name] - imported).max() > REST_TOLERANCE:
            changed.append(entry.name)
    return changed


def deleted_bones(file: MotionFile | SkeletalFile, rig: Object) -> list[str]:
    """Return the bones that the armature had at import of the file's motions and that are missing now."""
    return [entry.name for entry in file.rest if entry.name not in rig.data.bones]


def rest_then(file: MotionFile | SkeletalFile, now: Rest) -> Rest:
    """Return the rest pose at import; bones that did not exist then keep their current one."""
    known_matrices = {entry.name: np.array(entry.matrix[:]).reshape(4, 4) for entry in file.rest}
    kept_matrices = np.stack([known_matrices.get(bone, np.full((4, 4), np.nan)) for bone in now.bones])
    local = parent_local(kept_matrices, now.parents, now.root_frame)
    known = np.logical_and.reduce(np.isfinite(local), axis=(1, 2))
    rotations = np.where(known[:, None, None], local[:, :3, :3], np.eye(3))
    return replace(
        now,
        rotations=np.where(known[:, None], rotation.from_matrices(rotations), now.rotations),
        translations=np.where(known[:, None], local[:, :3, 3], now.translations),
    )


# ---- what motions play on: partitions; flags


def show_partitions(file: MotionFile, partitions: list[Partition]) -> None:
    """Show these bone parts of a file in the panel."""
    file.partitions.clear()
    for partition in partitions:
        kept_partition = file.partitions.add()
        kept_partition.name = partition.label
        for bone in partition.bones:
            _add_bone(kept_partition, names.decode(bone.name or b""), _shown_track(bone))


def partitions_of(file: MotionFile) -> list[Partition]:
    """Return the bone parts as they are in the panel."""
    return [
        Partition(
            names.encode(partition.name),
            [
                PartitionBone(names.encode(bone.name), None if bone.track < 0 else bone.track)
                for bone in partition.bones
            ],
        )
        for partition in file.partitions
    ]


def move_to_partition(file: MotionFile, index: int, bones: Collection[str]) -> int:
    """Move ``bones`` (the game's names) into the bone part at index ``index``. Returns how many were moved.

    They keep their tracks and are added at the end, sorted by track. Bones that are in no bone part are not added.
    """
    wanted = {bone.lower() for bone in bones}
    target = file.partitions[index]
    moved = []
    for partition in file.partitions:
        if partition == target:
            continue
        for number in reversed(range(len(partition.bones))):
            if partition.bones[number].name.lower() in wanted:
                moved.append((partition.bones[number].track, partition.bones[number].name))
                partition.bones.remove(number)
    for track, name in sorted(moved):
        _add_bone(target, name, track)
    return len(moved)


def _add_bone(partition: Any, name: str, track: int) -> None:
    entry = partition.bones.add()
    entry.name, entry.track = name, track


def _shown_track(bone: PartitionBone) -> int:
    """Return the index of a track as the panel stores it.

    -1 stands for no index. Larger numbers than a property can hold (broken files) become the largest.
    """
    return -1 if bone.track is None else min(bone.track, HIGHEST_TRACK)


def with_partitions(parameters: Parameters, file: MotionFile) -> Parameters:
    """Return the parameters with the bone parts of the panel; the same object if those are not edited."""
    wanted = partitions_of(file)
    old, new = (
        [(part.name, [(bone.name or b"", _shown_track(bone)) for bone in part.bones]) for part in partitions]
        for partitions in (parameters.partitions, wanted)
    )
    return parameters if old == new else replace(parameters, partitions=wanted)


def flags_of(motion: MotionProperties) -> int:
    """Return the flags as the file stores them."""
    # Blender's integers are signed; the file's are not.
    return sum(int(MotionFlag[name]) for name in motion.flags) | (motion.other_flags & 0xFFFF_FFFF)


def set_flags(motion: MotionProperties, flags: int) -> None:
    """Set the flags of a motion from those stored in a file."""
    motion.flags = {flag.name for flag in MotionFlag if flags & flag}
    other = flags & ~sum(MotionFlag)
    motion.other_flags = other - (1 << 32) if other >= 1 << 31 else other
