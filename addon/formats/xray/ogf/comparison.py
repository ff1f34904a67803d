"""What differs between two models, in the words of an export."""

from __future__ import annotations

from typing import Any

from ....core.changes import Changes, Noun
from ....core.report import Report, say
from ..omf.mapping import decode as decode_motions
from ..omf.mapping import encode as encode_motions
from .bone_values import changed_values
from .chunk_types import BoneNames, IkData, UserData
from .document import Ogf, lod_path, motion_set_of, reference_names
from .mesh import bone_labels, decode_meshes, encode_meshes, mesh_parts
from .skeleton import decode_skeleton, encode_skeleton


def compare(before: Ogf, after: Ogf) -> Changes:
    """Return what differs in ``after``: bones, meshes, texts and motions. Raises `WriteError` as an export does."""
    changes, document = Changes(), before
    steps = [_with_skeleton, _with_meshes]
    there = {label.lower() for label in bone_labels(after)}
    if any(label.lower() not in there for label in bone_labels(before)):
        steps.reverse()  # a bone that vertices follow cannot be removed
    for step in steps:
        document, difference = step(document, after)
        changes.include(difference)
    texts: dict[str, list[Any]] = {
        "motion references": [reference_names(side) for side in (before, after)],
        "user data": [side.first(UserData) for side in (before, after)],
        "LOD": [lod_path(side) for side in (before, after)],
    }
    changes.note(*(say(word) for word, (first, second) in texts.items() if first != second))
    motions, now = motion_set_of(before), motion_set_of(after)
    if motions is not None and now is not None:
        clips = decode_motions(now, Report(), bone_labels(after))
        changes.parts += encode_motions(clips, motions)[1].parts
    return changes


def _with_skeleton(document: Ogf, after: Ogf) -> tuple[Ogf, Changes]:
    if document.first(BoneNames) is None or after.first(BoneNames) is None:
        return document, Changes()
    document, changes = encode_skeleton(decode_skeleton(after, Report()), document)
    physics, now = document.first(IkData), after.first(IkData)
    if physics is not None and now is not None:
        entries = dict(zip(map(str.lower, bone_labels(after)), now.bones, strict=False))
        for label, entry in zip(bone_labels(document), physics.bones, strict=False):
            fields = changed_values(entry, entries.get(label.lower(), entry))
            changes.change(Noun.BONE, label, *fields)
    return document, changes


def _with_meshes(document: Ogf, after: Ogf) -> tuple[Ogf, Changes]:
    meshes, count = decode_meshes(after, Report()), len(mesh_parts(document))
    changes = Changes()
    if changes.resized("meshes {} -> {}", count, len(meshes)):
        return document, changes
    return encode_meshes(meshes, document)
