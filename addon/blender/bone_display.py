"""Bones that can be read: drawn from head to head by custom shapes, with colours and collections by part of the body.

The games' bones point anywhere, and an armature keeps them exactly so. Custom shapes with a rotation and a scale of
their own show where a bone leads without touching its rest pose. They follow the animation, and a copy of the armature
has them too. Shapes are objects that are linked to no scene.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Euler, Quaternion, Vector
from numpy.typing import NDArray

from ..core.body import APART, SIDED, Body, Part, Side, body_of, drawing_of
from ..core.control_rig import HIDDEN, ControlPlan, Role
from .armature import matrices_of

if TYPE_CHECKING:
    from .typed import Object, PoseBone


BONE, JOINT = "Motionbridge Bone", "Motionbridge Joint"
CIRCLE, BOX = "Motionbridge Circle", "Motionbridge Box"
"""Names of the shapes."""
FOLDER = "Motionbridge Bone Shapes"
"""Name of the collection of the shapes; it is linked to no scene."""
MARK = "motionbridge_bone_display"
"""Custom property of the bone collections and meshes made here, which holds the name they were given."""
OWNER = "motionbridge_collection"
"""Custom property of the meshes: the collection of their objects, so that it is appended along with them."""
THICKNESS, THIN = 0.1, 0.04
"""Of a shape, as a share of its length; weapons and helpers are thinner."""
RING_CORNERS = 24
CONTROL_SIZES = {Role.ROOT: 1.0, Role.FREE: 0.3, Role.GOAL: 0.5, Role.POLE: 0.5}
"""Of a control's shape, as a share of its bone's length."""
WIRE = 2.0
"""Pixels of a control's lines: dark colors of one pixel are lost on a mesh."""
NO_PALETTE = "DEFAULT"

PALETTES: dict[tuple[Part, Side], str] = {
    (Part.SPINE, Side.NONE): "THEME09",
    (Part.HEAD, Side.NONE): "THEME02",
    (Part.FACE, Side.NONE): "THEME12",
    (Part.ARM, Side.LEFT): "THEME01",
    (Part.HAND, Side.LEFT): "THEME06",
    (Part.LEG, Side.LEFT): "THEME05",
    (Part.ARM, Side.RIGHT): "THEME04",
    (Part.HAND, Side.RIGHT): "THEME08",
    (Part.LEG, Side.RIGHT): "THEME03",
    (Part.WEAPON, Side.NONE): "THEME07",
    (Part.ROOT, Side.NONE): "THEME10",
    (Part.HELPER, Side.NONE): "THEME13",
}
"""Colour of each part, warm on the left and cold on the right."""

Floats = NDArray[np.float64]


def make_readable(rig: Object) -> int:
    """Draw the bones of a local armature object from head to head; gives how many.

    Bones that have a custom shape of the user's keep it. The rest pose is not touched, so exports stay the same.
    """
    bones, pose = rig.data.bones, rig.pose.bones
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    body = body_of(list(index), parents)
    matrices = matrices_of(bones, "matrix_local")
    lengths = np.empty(len(bones), np.float32)
    bones.foreach_get("length", lengths)
    drawing = drawing_of(matrices, lengths.astype(np.float64), parents, body)
    shapes = {False: _shape(BONE), True: _shape(JOINT)}
    drawn = 0
    for bone, number in index.items():
        shown = pose[bone]
        if shown.custom_shape is not None and not is_shape(shown.custom_shape):
            continue
        shown.custom_shape = shapes[bool(drawing.is_joint[number])]
        radius, thickness = float(drawing.radii[number]), THIN if body.parts[number] in APART else THICKNESS
        if drawing.is_joint[number]:
            _place(shown, (radius, radius, radius), Euler())
        else:
            line = Vector(matrices[number, :3, :3].T @ drawing.vectors[number])
            _place(shown, line.length * Vector((thickness, 1, thickness)), Vector((0, 1, 0)).rotation_difference(line))
        drawn += 1
    if body.is_body:
        _sort(rig.data, rig.data.bones, body)
    rig.data.show_bone_custom_shapes = True
    return drawn


def is_readable(rig: Object) -> bool:
    """Whether `make_readable` drew a bone of an armature object."""
    return any(is_shape(bone.custom_shape) for bone in rig.pose.bones)


def make_plain(rig: Object) -> None:
    """Take away everything that `make_readable` added to a local armature object."""
    for bone in rig.pose.bones:
        if is_shape(bone.custom_shape):
            bone.custom_shape = None
            _place(bone, (1, 1, 1), Euler())
            bone.use_custom_shape_bone_size = True
    for collection in [found for found in rig.data.collections_all if MARK in found]:
        rig.data.collections.remove(collection)
    for bone in rig.data.bones:
        if bone.motionbridge_is_colored:
            bone.color.palette = NO_PALETTE
            bone.property_unset("motionbridge_is_colored")
    drop_unused()


def _place(shown: PoseBone, scale: Any, turn: Euler | Quaternion) -> None:
    """Turn and scale the shape of a pose bone, in the bone's own axes and metres."""
    shown.use_custom_shape_bone_size = False
    shown.custom_shape_translation = (0, 0, 0)
    shown.custom_shape_scale_xyz = scale
    shown.custom_shape_rotation_euler = turn if isinstance(turn, Euler) else turn.to_euler()


def show_controls(controls: Object, planned: ControlPlan, given: Sequence[str]) -> None:
    """Shapes, colours and collections of a control rig's bones, named ``given``, but for those that work by
    themselves.

    Controls of a bone are circles around it, goals boxes, poles rings.
    """
    heads = np.array([bone.matrix[:3, 3] for bone in planned.bones])
    least = 0.012 * float(np.ptp(heads, axis=0).max(initial=0.0))
    shown, parts, sides = [], [], []
    for bone, name in zip(planned.bones, given, strict=True):
        if bone.role in HIDDEN:
            continue
        pose_bone = controls.pose.bones[name]
        size = max(CONTROL_SIZES[bone.role] * bone.length, least)
        pose_bone.custom_shape = _shape({Role.GOAL: BOX, Role.POLE: JOINT}.get(bone.role, CIRCLE))
        lying = Euler((np.pi / 2, 0, 0)) if bone.role is Role.ROOT else Euler()
        _place(pose_bone, (size, size, size), lying)
        pose_bone.custom_shape_wire_width = WIRE
        if bone.role in {Role.FREE, Role.GOAL}:
            pose_bone.custom_shape_translation = (0, bone.length / 2, 0)
        shown.append(controls.data.bones[name])
        parts.append(planned.body.parts[bone.bone] if bone.bone >= 0 else Part.ROOT)
        sides.append(planned.body.sides[bone.bone] if bone.bone >= 0 else Side.NONE)
    _sort(controls.data, shown, Body(parts, sides, is_body=True))


# Colours and collections ---------------------------------------------------------------------------------------------


def _sort(armature: Any, bones: Sequence[Any], body: Body) -> None:
    """Colours and collections of some bones by part and side."""
    known = {found[MARK]: found for found in armature.collections_all if MARK in found}
    for name, kind in KINDS.items():
        members = [
            bone
            for bone, part, side in zip(bones, body.parts, body.sides, strict=True)
            if (part, side if part in SIDED else Side.NONE) == kind
        ]
        if not members:
            continue
        if name not in known:
            known[name] = armature.collections.new(name)
            known[name][MARK] = name
        for bone in members:
            known[name].assign(bone)
            if bone.color.palette == NO_PALETTE and kind in PALETTES:
                bone.color.palette, bone.motionbridge_is_colored = PALETTES[kind], True


def _kinds() -> Iterator[tuple[Part, Side]]:
    for part in Part:
        yield from ((part, side) for side in ((Side.LEFT, Side.RIGHT, Side.NONE) if part in SIDED else (Side.NONE,)))


KINDS = {" ".join(filter(None, (side.value, part.value))): (part, side) for part, side in _kinds()}
"""Names of the bone collections in the order of their list, and the part and side of their bones."""


# Shapes --------------------------------------------------------------------------------------------------------------


def is_shape(shown: Any) -> bool:
    """Whether an object, or None, is a shape that bones are drawn as; an append brings such into a scene."""
    return shown is not None and shown.data is not None and MARK in shown.data


def _shapes() -> list[Object]:
    """The shapes of this file."""
    objects: Any = bpy.data.objects
    return [found for found in objects if found.library is None and found.type == "MESH" and is_shape(found)]


def drop_unused() -> None:
    """Remove the shapes that no bone has; their collection alone keeps them."""
    for shape in _shapes():
        folder = shape.data.get(OWNER)
        if shape.users <= (folder is not None):
            bpy.data.meshes.remove(shape.data)
            if folder is not None and not len(folder.objects):
                bpy.data.collections.remove(folder)


def _shape(name: str) -> Any:
    """The shape of this file; a new one where there is none."""
    for found in _shapes():
        if found.data[MARK] == name:
            return found
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(*SHAPES[name]())
    mesh[MARK] = name
    made = bpy.data.objects.new(name, mesh)
    # Appending an armature links its shapes to the scene and shows them, but not those inside a hidden collection.
    folder = bpy.data.collections.get((FOLDER, None)) or bpy.data.collections.new(FOLDER)
    folder.objects.link(made)
    mesh[OWNER] = folder
    for hidden in (made, folder):
        hidden.hide_viewport = hidden.hide_render = hidden.hide_select = True
    return made


def _circle() -> tuple[list[Any], list[Any], list[Any]]:
    """Of radius 1 around the y axis."""
    corners, edges, _ = _rings()
    return corners[2 * RING_CORNERS :], [edge for edge in edges if max(edge) < RING_CORNERS], []


def _box() -> tuple[list[Any], list[Any], list[Any]]:
    """The edges of a cube from -1 to 1."""
    corners = [tuple(2 * ((number >> axis) & 1) - 1 for axis in range(3)) for number in range(8)]
    edges = [(one, one | 1 << axis) for one in range(8) for axis in range(3) if not one >> axis & 1]
    return list(corners), edges, []


def _octahedron() -> tuple[list[Any], list[Any], list[Any]]:
    """From the origin to (0, 1, 0), widest near its beginning."""
    corners = [(1, 0.1, 0), (0, 0.1, 1), (-1, 0.1, 0), (0, 0.1, -1)]
    faces = [face for at in range(4) for face in ((0, 2 + at, 2 + (at + 1) % 4), (1, 2 + (at + 1) % 4, 2 + at))]
    return [(0, 0, 0), (0, 1, 0), *corners], [], faces


def _rings() -> tuple[list[Any], list[Any], list[Any]]:
    """Three circles of radius 1 around the axes."""
    angles = np.arange(RING_CORNERS) * (2 * np.pi / RING_CORNERS)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(RING_CORNERS)], axis=1)
    corners = np.concatenate([np.roll(circle, axis, axis=1) for axis in range(3)])
    first = np.arange(3 * RING_CORNERS)
    following = first - first % RING_CORNERS + (first + 1) % RING_CORNERS
    return corners.tolist(), np.stack([first, following], axis=1).tolist(), []


SHAPES = {BONE: _octahedron, JOINT: _rings, CIRCLE: _circle, BOX: _box}
"""How each shape is made."""
