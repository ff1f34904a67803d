"""What differs between two models of the editor, in the words of an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....core import names, rebase
from ....core.changes import Changes, Noun
from ....core.report import Message, Report, say
from .. import bones, skl, skl_comparison
from ..ogf.bone_values import changed_values
from ..ogf.chunk_types import UserData
from .chunk_types import TWO_SIDED, ExportScale, LodName, ObjectFlags, Surface
from .document import Model, Object
from .encoding import encode_mesh
from .mapping import decode_mesh

SURFACE_FIELDS = {
    "shader": say("engine shader"),
    "texture": say("texture"),
    "compiler_shader": say("compiler shader"),
    "material": say("game material"),
}
"""Fields of a `Surface`, and what an export calls them."""


def compare(before: Object, after: Object) -> Changes:
    """Return what differs in ``after``: bones, meshes, surfaces, texts and motions.

    Raises `WriteError` as an export does.
    """
    changes, first, other = Changes(), before.model, after.model
    _compare_bones(first, other, changes)
    labels, listed = ([mesh.label for mesh in model.meshes] for model in (first, other))
    sources = rebase.named_or_in_order(listed, labels)
    for number, source in enumerate(sources):
        if source < 0:
            changes.add(Noun.MESH, listed[number])
            continue
        mesh = decode_mesh(other.meshes[number], other, Report())
        changes.include(encode_mesh(mesh, first.meshes[source], first, Report())[1], labels[source], Noun.MESH)
    for number in sorted(set(range(len(labels))) - set(sources)):
        changes.change(Noun.MESH, labels[number], say("removed"))
    _compare_surfaces(first, other, changes)
    changes.note(*_changed_texts(first, other))
    motions = skl_comparison.compare(*(model.first(skl.Skl) or skl.new_skls([]) for model in (first, other)))
    changes.parts += motions.parts
    changes.deleted += motions.deleted
    return changes


def _compare_bones(before: Model, after: Model, changes: Changes) -> None:
    labels = [bone.name.lower() for bone in before.bones]
    left = {bone.name.lower(): bone for bone in reversed(after.bones)}
    parents = [{bone.name.lower() for bone in model.bones} for model in (before, after)]
    for label, bone in zip(labels, before.bones, strict=True):
        other = left.pop(label, None)
        if other is None:
            if labels.count(label) == 1:
                changes.change(Noun.BONE, bone.name, say("removed"))
            continue
        placed = [first.first(bones.Placement) for first in (bone, other)]
        moved = [state and (state.offset.tobytes(), state.rotation.tobytes()) for state in placed]
        fields = [say("rest position")] if moved[0] != moved[1] else []
        above = [first.parent.lower() for first in (bone, other)]
        if (above[0] if above[0] in parents[0] else "") != (above[1] if above[1] in parents[1] else ""):
            fields.append(say("parent"))
        fields += changed_values(*(bones.decode_bone(first).entry for first in (bone, other)))
        if fields:
            changes.change(Noun.BONE, bone.name, *fields)
    for bone in after.bones:
        if left.get(bone.name.lower()) is bone:
            changes.add(Noun.BONE, bone.name)


def _compare_surfaces(before: Model, after: Model, changes: Changes) -> None:
    now = {surface.label.lower(): surface for surface in after.surfaces}
    for surface in before.surfaces:
        other = now.pop(surface.label.lower(), None)
        if other is None:
            changes.change(Noun.SURFACE, surface.label, say("removed"))
        elif fields := list(_surface_fields(surface, other)):
            changes.change(Noun.SURFACE, surface.label, *fields)
    for surface in now.values():
        changes.add(Noun.SURFACE, surface.label)


def _surface_fields(surface: Surface, other: Surface) -> Iterator[Message]:
    yield from (word for name, word in SURFACE_FIELDS.items() if getattr(surface, name) != getattr(other, name))
    if (surface.flags ^ other.flags) & TWO_SIDED:
        yield say("two-sided")


def _changed_texts(before: Model, after: Model) -> Sequence[Message]:
    def values(model: Model) -> dict[str, Any]:
        flags, data = model.first(ObjectFlags), model.first(UserData)
        lod, scale = model.first(LodName), model.first(ExportScale)
        return {
            "flags": flags.flags if flags is not None else 0,
            "user data": data.text if data is not None else b"",
            "LOD": lod.name if lod is not None else b"",
            "export scale": scale.scale if scale is not None else 1,
            "motion references": model.references,
            "bone parts": [(names.decode(part.name), part.bones) for part in model.parts],
        }

    now = values(after)
    return [say(word) for word, value in values(before).items() if value != now[word]]
