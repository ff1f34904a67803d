"""Conversion of the properties that blender-xray stored on a rig, its meshes, materials and actions.

It stores everything in a property group ``xray`` on each data-block and bone. Numbers mean the same as here: collision
shapes in the bone's axes, joint limits with the editor's sign. Blender stores an enumeration as the index of its item,
so the type of a joint is only known for sure while blender-xray is enabled. The names are those of its versions 2.x as
far as they are known here; they were not tested with a rig that it saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....core.errors import WriteError
from ....core.report import Report, say
from ..bones.properties import AXES, JOINTS, SHAPE_FLAGS, SHAPES
from ..motions import files as motion_files
from ..motions.properties import ALL_PARTITIONS

if TYPE_CHECKING:
    from ....blender.typed import Action, Bone, Material, Object
    from ..bones.properties import BoneProperties


GROUP = "xray"
ALL_FLAGS = 0xFFFF_FFFF
TWO_SIDED = 1
FRAMES_PER_SECOND = 30

NUMBERS = {
    "spring": "ikjoint.spring",
    "damping": "ikjoint.damping",
    "break_force": "breakf.force",
    "break_torque": "breakf.torque",
    "friction": "friction",
    "mass": "mass.value",
    "sphere_radius": "shape.sph_rad",
    "cylinder_height": "shape.cyl_hgh",
    "cylinder_radius": "shape.cyl_rad",
}
VECTORS = {
    "centre_of_mass": "mass.center",
    "box_rotation": "shape.box_rot",
    "box_centre": "shape.box_trn",
    "box_half_size": "shape.box_hsz",
    "sphere_centre": "shape.sph_pos",
    "cylinder_centre": "shape.cyl_pos",
    "cylinder_direction": "shape.cyl_dir",
}
"""Of both tables: property of a bone here -> in blender-xray."""
TIMING = ("speed", "accrue", "falloff", "power")


@dataclass
class TakenOver:
    """Numbers of bones, materials and actions with properties of blender-xray, and of motion references."""

    bones: int = 0
    materials: int = 0
    actions: int = 0
    references: int = 0


class StoredGroup:
    """The properties of blender-xray on a data-block or bone. False if there are none, or none was ever set.

    While blender-xray is enabled, enumerations are read from its own properties; all other values as Blender stored
    them.
    """

    def __init__(self, owner: Any) -> None:
        self._live = getattr(owner, GROUP, None)
        self._stored = _stored(owner)

    def __bool__(self) -> bool:
        return self._stored is not None and len(self._stored) > 0

    def get(self, path: str, default: Any = None) -> Any:
        """Return a value that was set, such as ``shape.sph_rad``; for an enumeration its index, or its bits."""
        result: Any = self._stored
        for name in path.split("."):
            if result is None or name not in result:
                return default
            result = result[name]
        return result

    def identifier(self, path: str) -> str | None:
        """Return the identifier of an enumeration, set or default; None while blender-xray is not enabled."""
        value = self._live
        for name in path.split("."):
            value = getattr(value, name, None)
        return str(value) if value is not None else None

    def vector(self, path: str) -> list[float] | None:
        """Return the numbers of a vector that was set, else None."""
        values = self.get(path)
        return [float(number) for number in values] if values is not None else None


def _stored(owner: Any) -> Any:
    """Return the property group as Blender stored it: since 5.0 registered properties are stored separately."""
    system = getattr(owner, "bl_system_properties_get", None)
    group = system() if system is not None else None
    if group is not None and GROUP in group and len(group[GROUP]):
        return group[GROUP]
    group = owner.get(GROUP)
    return group if callable(getattr(group, "keys", None)) else None


def is_foreign(holder: Object) -> bool:
    """Return whether blender-xray stored anything on an object or the bones of its armature."""
    if StoredGroup(holder):
        return True
    return holder.type == "ARMATURE" and any(StoredGroup(bone) for bone in holder.data.bones)


def take_over(holder: Object, actions: Iterable[Action], report: Report) -> TakenOver:
    """Convert the properties of blender-xray on ``holder``, its bones, its meshes' materials, and ``actions``.

    Raises `WriteError` if there are none.
    """
    taken_over = TakenOver()
    rig = holder if holder.type == "ARMATURE" else None
    if rig is not None:
        taken_over.bones = _convert_bones(rig, report)
    meshes = [obj for obj in (holder, *holder.children_recursive) if obj.type == "MESH"]
    used = dict.fromkeys(material for obj in meshes for material in obj.data.materials if material is not None)
    taken_over.materials = sum(_convert_material(material) for material in used if material.library is None)
    group = StoredGroup(holder)
    listed = {str(entry["name"]): entry for entry in group.get("motions_collection", ()) if "name" in entry}
    named = bool(group.get("use_custom_motion_names", False))
    for action in actions:
        known = listed.get(action.name)
        label = str(known.get("export_name", "")) if known is not None and named else ""
        taken_over.actions += _convert_action(action, label)
    if group:
        taken_over.references = _convert_object(holder, group)
    if not (group or taken_over.bones or taken_over.materials or taken_over.actions):
        words = "{!r} has no properties of blender-xray"
        raise WriteError(say(words, holder.name), remedy="Select the armature or object that blender-xray imported")
    return taken_over


def _convert_bones(rig: Object, report: Report) -> int:
    number, unknown, not_exported = 0, 0, []
    for index, bone in enumerate(rig.data.bones):
        group = StoredGroup(bone)
        if not group:
            continue
        number += 1
        _convert_bone(bone, index, group)
        unknown += not _convert_joint(bone.motionbridge_xray, group)
        if not group.get("exportable", True):
            not_exported.append(bone.name)
    if unknown:
        words = (
            "{:# bone has|# bones have} a kind of joint that is known only while blender-xray is enabled; enable it "
            "and take over again, or set Joint by hand"
        )
        report.warn(say(words, unknown), rig.name)
    if not_exported:
        report.warn("bones that blender-xray does not export are exported here", ", ".join(not_exported))
    return number


def _convert_bone(bone: Bone, index: int, group: StoredGroup) -> None:
    properties = bone.motionbridge_xray
    if not properties.is_bone:
        properties.is_bone, properties.index = True, index
        properties.game_name = properties.imported_name = bone.name
    properties.material = str(group.get("gamemtl", "default_object"))
    kind = group.get("shape.type", 0)
    properties.shape = next((item[0] for item in SHAPES if item[3] == kind), SHAPES[0][0])
    bits = int(group.get("shape.flags", 0))
    properties.shape_flags = {item[0] for item in SHAPE_FLAGS if bits & item[3]}
    properties.breakable = bool(int(group.get("ikflags", 0)) & 1)
    for own, foreign in NUMBERS.items():
        value = group.get(foreign)
        if value is not None:
            setattr(properties, own, float(value))
    for own, foreign in VECTORS.items():
        values = group.vector(foreign)
        if values is not None:
            setattr(properties, own, values)
    for axis in AXES:
        limit = getattr(properties, f"limit_{axis}")
        for own, foreign in (("lowest", "min"), ("highest", "max"), ("spring", "spr"), ("damping", "dmp")):
            value = group.get(f"ikjoint.lim_{axis}_{foreign}")
            if value is not None:
                setattr(limit, own, float(value))


def _convert_joint(properties: BoneProperties, group: StoredGroup) -> bool:
    """Convert the type of the joint. Returns False if it was set but is not known; then it does not change."""
    identifier = group.identifier("ikjoint.type")
    if identifier is None:
        return group.get("ikjoint.type") is None
    properties.joint = next((item[0] for item in JOINTS if str(item[3]) == identifier), properties.joint)
    return True


def _convert_material(used: Material) -> bool:
    group = StoredGroup(used)
    if not group:
        return False
    used.motionbridge_material.shader = str(group.get("eshader", used.motionbridge_material.shader))
    surface = used.motionbridge_surface
    surface.is_surface = True
    surface.game_name = surface.game_name or used.name
    surface.compiler_shader = str(group.get("cshader", surface.compiler_shader))
    surface.game_material = str(group.get("gamemtl", surface.game_material))
    surface.two_sided = bool(int(group.get("flags", 0)) & TWO_SIDED)
    return True


def _convert_action(action: Any, label: str) -> bool:
    group = StoredGroup(action)
    if action.library is not None or not (group or label):
        return False
    motion = action.motionbridge_motion
    motion.is_motion = True
    motion.motion_name = label or motion.motion_name or action.name
    motion_files.set_flags(motion, int(group.get("flags", 0)))
    motion.bone_or_part = int(group.get("bonepart", ALL_PARTITIONS)) & ALL_PARTITIONS
    motion.frame_step = float(group.get("fps", FRAMES_PER_SECOND)) / FRAMES_PER_SECOND
    for name in TIMING:
        value = group.get(name)
        if value is not None:
            setattr(motion, name, float(value))
    return True


def _convert_object(holder: Object, group: StoredGroup) -> int:
    """Convert flags, user data, LOD, authors and motion references. Returns the number of references."""
    model = holder.motionbridge_editor_model
    model.is_made = not model.is_model
    model.flags = f"{int(group.get('flags', 0)) & ALL_FLAGS:#x}"
    model.user_data = str(group.get("userdata", ""))
    model.lod = str(group.get("lodref", ""))
    model.creator = str(group.get("revision.owner", model.creator))
    model.modifier = str(group.get("revision.moder", model.modifier))
    references = list(_references(group))
    if references:
        model.references.clear()
        for name in references:
            model.references.add().name = name
    return len(references)


def _references(group: StoredGroup) -> Iterator[str]:
    """Yield the motion references: the list of newer versions, else the text of older ones."""
    listed = [str(entry["name"]) for entry in group.get("motionrefs_collection", ()) if "name" in entry]
    yield from listed or filter(None, (name.strip() for name in str(group.get("motionrefs", "")).split(",")))
