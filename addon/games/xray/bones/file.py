"""The editor's bone properties (`.bones`) onto an armature's bones and back: shapes, joints, masses, materials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy

from ....blender.properties import keep, kept
from ....core import files, names
from ....core.errors import ReadError, WriteError
from ....core.report import Report
from ....core.text import counted_plural, said_of
from ....formats.xray import bones
from ....formats.xray.bones import (
    Bones,
    Breaking,
    Friction,
    IkFlags,
    Mass,
    Material,
    Part,
    Physics,
    decode_bone,
    encode_bone,
    new_bone,
    new_bones,
    with_bones,
)
from ....formats.xray.ogf.chunk_types import Joint, Shape
from ..motions import files as motion_files
from . import properties as bone_properties
from . import values as bone_values

if TYPE_CHECKING:
    from ....blender.typed import Bone, Object
    from ....formats.xray.ogf.chunk_types import IkBone


OF_KIND: dict[type, tuple[str, ...]] = {
    Material: ("material",),
    Shape: (
        *("shape", "shape_flags", "box_rotation", "box_centre", "box_half_size", "sphere_centre", "sphere_radius"),
        *("cylinder_centre", "cylinder_direction", "cylinder_height", "cylinder_radius"),
    ),
    IkFlags: ("breakable",),
    Joint: (
        *("joint", "spring", "damping"),
        *(f"limit_{axis}.{part}" for axis in "xyz" for part in ("lowest", "highest", "spring", "damping")),
    ),
    Breaking: ("break_force", "break_torque"),
    Friction: ("friction",),
    Mass: ("mass", "centre_of_mass"),
}
"""The properties that each kind of chunk is about."""


@dataclass
class BonesPlan:
    """A file that could be written; ``changed`` properties by bone, ``added`` bones, how many are ``untouched``."""

    path: str
    data: bytes = b""
    changed: dict[str, list[str]] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    untouched: int = 0

    def sentence(self) -> str:
        """``1 bone changed, 2 added, 40 untouched``."""
        parts = []
        if self.changed:
            parts.append(f"{len(self.changed)} {'bone' if len(self.changed) == 1 else 'bones'} changed")
        if self.added:
            parts.append(f"{len(self.added)} added")
        return ", ".join([*parts, f"{self.untouched} unchanged"])

    def write(self, *, backup: bool = False) -> None:
        """Put the file on disk in one step."""
        files.write_atomically(self.path, self.data, backup=backup)


def import_bones(rig: Object, path: str, report: Report) -> int:
    """Put the properties of the file at ``path`` on the bones of ``rig``; how many bones got some.

    Raises `ReadError` for a file that is none, or of which no bone is in the armature.
    """
    data = files.read_file(path)
    document = bones.read(data, path, report)
    by_name = _bones_by_name(rig)
    given, missing = 0, []
    found = [(bone, by_name.get(bone.name.lower())) for bone in document.bones]
    if not any(ours is not None for _, ours in found):
        raise ReadError(
            f"none of the {counted_plural(len(found), 'bones')} of the file is in the armature {rig.name!r}",
            file=path,
            remedy="Select the armature these properties belong to",
        )
    firsts = _first_of_each_name(document)
    decoded = [decode_bone(bone) for bone, _ in found]  # what refuses does so before a bone is changed
    for number, ((bone, ours), physics) in enumerate(zip(found, decoded, strict=True)):
        if firsts[bone.name.lower()] is not bone:
            report.warn("the file has several bones of one name; the first is used, the others are kept", bone.name)
            continue
        if ours is None:
            missing.append(bone.name)
            continue
        _adopt(ours, bone.name, number)
        bone_values.build_physics(ours, physics.entry, _absent(physics))
        given += 1
    if missing:
        report.warn(
            f"{said_of(len(missing), 'bones of the file', 'are')} not in the armature; "
            "their properties are kept and written back",
            ", ".join(missing),
        )
    rig.motionbridge_bones.path = path
    keep(rig.motionbridge_bones, "document", data)
    return given


def _first_of_each_name(document: Bones) -> dict[str, bones.Bone]:
    """In the order of the file, in which an export looks them up too."""
    found: dict[str, bones.Bone] = {}
    for section in document.sections:
        if isinstance(section.value, bones.Bone):
            found.setdefault(section.value.name.lower(), section.value)
    return found


def _bones_by_name(rig: Object) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for bone in bone_properties.in_order(rig):
        found.setdefault(bone_properties.game_name(bone).lower(), bone)
    return found


def _adopt(bone: Bone, name: str, number: int) -> None:
    """Make a bone that came from no model one of the game's, so that its panels show."""
    properties = bone.motionbridge_xray
    if bone_properties.known(bone) is None:
        properties.is_bone, properties.index = True, number
        properties.game_name, properties.imported_name = name, bone.name


def _absent(physics: Physics) -> set[str]:
    return {name for kind, properties in OF_KIND.items() if kind not in physics.kinds for name in properties}


def plan_export(rig: Object, path: str, report: Report) -> BonesPlan:
    """The properties of the bones of ``rig`` as the file at ``path``. Raises `WriteError`.

    It starts from the file that was imported onto the armature; without one it is a new file of all bones.
    """
    if rig.mode == "EDIT":
        rig.update_from_editmode()
    files.warn_of_replacing(path, report)
    plan = BonesPlan(path)
    data = kept(rig.motionbridge_bones, "document")
    document = bones.read(data, path, Report()) if data else None
    made = _new_file(rig, plan) if document is None else _changed(rig, document, plan, report)
    plan.data = bones.write(made)
    return plan


def _changed(rig: Object, document: Bones, plan: BonesPlan, report: Report) -> Bones:
    by_name = _bones_by_name(rig)
    changed = {}
    for index, section in enumerate(document.sections):
        bone = section.value
        if not isinstance(bone, bones.Bone):
            continue
        ours = by_name.pop(bone.name.lower(), None)
        plan.untouched += 1
        if ours is None:
            continue
        physics = decode_bone(bone)
        entry, properties = bone_values.gather(ours, physics.entry, _absent(physics))
        if properties:
            plan.untouched -= 1
            plan.changed[bone.name] = properties
            changed[index] = encode_bone(bone, entry)
    new = {name: ours for name, ours in by_name.items() if bone_properties.known(ours) is not None}
    if strangers := [ours.name for name, ours in by_name.items() if name not in new]:
        report.note("bones without properties of the game are left out", ", ".join(strangers))
    plan.added = list(new)
    added = [new_bone(bone_properties.game_name(ours), _entry(ours)) for ours in new.values()]
    return with_bones(document, changed, added)


def _new_file(rig: Object, plan: BonesPlan) -> Bones:
    ours = [bone for bone in bone_properties.in_order(rig) if bone_properties.known(bone) is not None]
    if not ours:
        raise WriteError(
            f"no bone of {rig.name!r} has properties of the game",
            remedy="Import a model (.ogf) or bone properties (.bones) first",
        )
    plan.added = [bone_properties.game_name(bone) for bone in ours]
    made = [new_bone(name, _entry(bone)) for name, bone in zip(plan.added, ours, strict=True)]
    return new_bones(made, list(_parts(rig)))


def _parts(rig: Object) -> Iterator[Part]:
    """The partitions of the armature's first motion file."""
    for file in list(rig.motionbridge_motion_files)[:1]:
        for partition in motion_files.partitions_of(file):
            yield Part(partition.name, [bone.name or b"" for bone in partition.bones])


def _entry(bone: Bone) -> IkBone:
    """What stands on a bone, as a model has it."""
    nothing = decode_bone(new_bone("", decode_bone(bones.Bone([])).entry))
    entry, _ = bone_values.gather(bone, nothing.entry)
    return entry


def suggested_name(rig: Object) -> str:
    """The file the properties came from, else one called like the armature."""
    return str(rig.motionbridge_bones.path) or f"{names.shortened(bpy.path.clean_name(rig.name))}.bones"
