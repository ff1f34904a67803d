"""Armature objects: built from a `Skeleton`, their rest pose, how their bones are drawn, pinned and hidden.

Bones of the games have arbitrary axes, and an armature keeps them exactly. Custom shapes with their own rotation and
scale show the direction of a bone without changing its rest pose. They follow the animation, and a copy of the armature
also has them. The shape objects are linked to no scene.

Some games ignore the keys of a root bone but keep them in their files. A pin shows the pose that the game computes, and
is not an edit: exports read the keys of a pinned bone as if it had no pin. A pin is two constraints without targets,
which cannot be broken by renaming, moving or deleting other objects.

Games do not draw the parts of meshes that follow hidden bones; in Blender a mask hides them. A mask is a modifier and
a vertex group of its own, which exports leave out. One mask for many bones costs a twentieth of one mask per bone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ..core import affine, names, rotation
from ..core.body import NOT_LIMBS, SIDED, Body, Part, Side, body_of, drawing_of
from ..core.control_rig import HIDDEN, ControlPlan, Role
from ..core.model import Skeleton
from . import attributes, scope
from .control_links import is_link
from .properties import is_local

if TYPE_CHECKING:
    from .typed import Armature, Bone, Context, Object, PoseBone


Floats = NDArray[np.float64]

SHORTEST = 0.01
"""Shortest bone in metres. Blender deletes bones without length, and shorter ones store their rest rotation less
exactly.
"""
LONGEST = 1.0
SHORTEST_SHARE = 1e-3
"""Shortest bone as a fraction of its distance from the origin: far from there, rounding would merge head and tail."""


def build(context: Context, skeleton: Skeleton) -> tuple[Object, list[str]]:
    """Create an armature object, not linked to a collection, and return it with the name that each bone got.

    Heads and axes of bones are exactly the game's; only their lengths are guessed, for display. Pose bones rotate by
    quaternions.
    """
    armature = bpy.data.armatures.new(skeleton.name)
    rig: Any = bpy.data.objects.new(skeleton.name, armature)
    rest = skeleton.rest_matrices()
    lengths = _lengths(skeleton, rest)
    given: list[str] = []
    with scope.editing_armature(context, rig) as edit_bones:
        built = []
        for label, length, matrix in zip(skeleton.bones, lengths, rest.tolist(), strict=True):
            edit_bone = edit_bones.new(names.shortened(label) or "bone")
            edit_bone.length = length
            edit_bone.matrix = Matrix(matrix)
            built.append(edit_bone)
            given.append(edit_bone.name)
        for edit_bone, parent in zip(built, skeleton.parents.tolist(), strict=True):
            if parent >= 0:
                edit_bone.parent = built[parent]
    for pose_bone in rig.pose.bones:
        if pose_bone.rotation_mode != "QUATERNION":
            pose_bone.rotation_mode = "QUATERNION"
    remember_names(armature)
    return rig, given


def remember_names(armature: Any) -> None:
    """Store on each bone of an armature (data) its current name, by which keys and stored data know it; skips linked
    data.
    """
    if not is_local(armature):
        return
    for bone in armature.bones:
        if bone.motionbridge_known_as != bone.name:
            bone.motionbridge_known_as = bone.name


def _lengths(skeleton: Skeleton, rest: Floats) -> list[float]:
    """Return display lengths: the distance to the nearest child, else half the parent's length."""
    heads, parents = rest[:, :3, 3], skeleton.parents.tolist()
    gaps = np.linalg.norm(heads - heads[skeleton.parents], axis=1).tolist()
    lengths = np.full(len(parents), np.nan)
    for parent, gap in zip(parents, gaps, strict=True):
        if parent >= 0 and gap >= SHORTEST and not lengths[parent] <= gap:
            lengths[parent] = gap
    for bone, parent in enumerate(parents):
        if np.isnan(lengths[bone]):
            inherited = lengths[parent] / 2 if parent >= 0 else np.nan
            lengths[bone] = 0.05 if np.isnan(inherited) else inherited
    far = SHORTEST_SHARE * np.abs(heads).max(axis=1, initial=0.0)
    return np.maximum(np.clip(lengths, SHORTEST, LONGEST), far).tolist()


def is_turned_or_scaled(rig: Object) -> bool:
    """Whether an armature object is rotated or scaled; its position is ignored."""
    return is_scaled(rig) or any(abs(value) > 1e-5 for value in rig.matrix_world.to_euler())


def is_scaled(rig: Object) -> bool:
    """Whether an armature object is scaled, by itself or by its parents."""
    return any(abs(value - 1.0) > 1e-5 for value in rig.matrix_world.to_scale())


@dataclass(frozen=True)
class Rest:
    """The rest pose that tracks are relative to.

    ``bones``: Blender's names; ``parents`` (bones,): index, -1 for none; ``rotations`` (bones, 4) and ``translations``
    (bones, 3): relative to the parent; bones without a parent are relative to ``root_frame`` (4, 4).
    """

    bones: list[str]
    parents: NDArray[np.int32]
    rotations: Floats
    translations: Floats
    root_frame: Floats

    @cached_property
    def matrices(self) -> tuple[Floats, Floats]:
        """Matrices for row vectors that apply the rest rotation: to quaternions (bones, 4, 4), to vectors (bones, 3,
        3).

        Transposed they apply its inverse.
        """
        # Row vectors: rows @ Mᵀ is M applied to each row.
        left = rotation.left_matrices(self.rotations)
        return left.swapaxes(-1, -2), rotation.matrices(self.rotations).swapaxes(-1, -2)

    @np.errstate(over="ignore", invalid="ignore")  # keep NaN and infinite values of damaged files
    def to_basis(self, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        """Convert parent-local tracks to pose-bone channels (bones, frames, 4) and (bones, frames, 3); w of first keys
        is >= 0.
        """
        quaternion_matrices, vector_matrices = self.matrices
        # The matrices are orthogonal: their transpose is their inverse.
        quaternions = rotations @ quaternion_matrices.swapaxes(-1, -2)
        quaternions *= np.where(quaternions[:, :1, :1] < 0, -1.0, 1.0)
        return quaternions, (translations - self.translations[:, None]) @ vector_matrices.swapaxes(-1, -2)

    @np.errstate(over="ignore", invalid="ignore")
    def from_basis(self, rotations: Floats, locations: Floats) -> tuple[Floats, Floats]:
        """Convert pose-bone channels to parent-local tracks: the inverse of `to_basis`."""
        quaternion_matrices, vector_matrices = self.matrices
        return rotations @ quaternion_matrices, self.translations[:, None] + locations @ vector_matrices


def rest_of(rig: Object, root_frame: Floats) -> Rest:
    """Return the rest pose as Blender stores it.

    Blender stores head, tail and roll and computes matrices from them (rotations off by 1e-5). So poses must be
    relative to its own matrices, never to those that were set.
    """
    bones = rig.data.bones
    matrices = matrices_of(bones, "matrix_local")
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], np.int32)
    local = parent_local(matrices, parents, root_frame)
    return Rest(
        list(index),
        parents,
        rotation.from_matrices(local[:, :3, :3]),
        np.ascontiguousarray(local[:, :3, 3]),
        root_frame,
    )


def matrices_of(bones: Any, name: str) -> Floats:
    """Return (bones, 4, 4) a matrix property of all bones of a collection."""
    flat = np.empty(len(bones) * 16, np.float32)
    bones.foreach_get(name, flat)
    # Blender's order of matrix elements is column by column.
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)


def parent_local(matrices: Floats, parents: NDArray[np.int32], root_frame: Floats) -> Floats:
    """Convert armature-space matrices (..., bones, 4, 4) to parent space; those without a parent to ``root_frame``."""
    frames = np.where((parents < 0)[:, None, None], root_frame, matrices[..., np.maximum(parents, 0), :, :])
    result: Floats = affine.inverse(frames) @ matrices
    return result


def parent_at_rest(obj: Object, rig: Object, bone: str) -> None:
    """Parent an object to a bone so that it keeps its place in armature space while the bone is at rest."""
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone
    rest_bone = rig.data.bones[bone]
    # The parent space of a bone begins at its tail.
    obj.matrix_parent_inverse = (rest_bone.matrix_local @ Matrix.Translation((0, rest_bone.length, 0))).inverted()


# Bones that can be read: custom shapes, with colours and collections by part of the body ------------------------------

BONE, JOINT = "Motionbridge Bone", "Motionbridge Joint"
CIRCLE, BOX, SQUARE = "Motionbridge Circle", "Motionbridge Box", "Motionbridge Square"
LINE = "Motionbridge Line"
"""Names of the shapes. Bone and joint are for bones of the game; circle, box, square and line for controls."""
FINGER_JOINTS = "Finger Joints"
"""Bone collection of the controls of single finger joints, which is hidden at first: they are too many for one hand."""
SHAPE_COLLECTION = "Motionbridge Bone Shapes"
"""Name of the collection of the shapes, which is linked to no scene."""
MARK = "motionbridge_bone_display"
"""Custom property of bone collections and meshes created here; its value is the name they were created with."""
COLLECTION_PROPERTY = "motionbridge_collection"
"""Custom property of the shape meshes: the collection of their objects, so that it is appended with them."""
THICKNESS, THIN_THICKNESS = 0.1, 0.04
"""Thickness of a bone shape as a fraction of its length; weapons and helpers are thinner."""
RING_CORNERS = 24
CONTROL_SHAPES = {Role.GOAL: BOX, Role.POLE: JOINT, Role.LINE: LINE}
"""Shapes of controls that are no circles."""
CONTROL_SIZES = {
    Role.ROOT: 1.0, Role.FREE: 0.3, Role.GOAL: 0.5, Role.POLE: 0.5, Role.TORSO: 1.3, Role.CHEST: 1.0,
    Role.FIST: 0.8, Role.CURL: 0.5, Role.LOOK: 0.5, Role.LINE: 1.0, Role.HOCK: 0.3,
}  # fmt: skip
"""Size of a control's shape as a fraction of its bone's length."""
HORIZONTAL, WHEEL = Euler((np.pi / 2, 0, 0)), Euler((0, 0, np.pi / 2))
CIRCLE_ROTATIONS = {
    Role.ROOT: HORIZONTAL,
    Role.TORSO: HORIZONTAL,
    Role.CHEST: HORIZONTAL,
    Role.FIST: WHEEL,
    Role.CURL: WHEEL,
}
"""Rotation of circles that are not around their bone: horizontal ones, and wheels about the bone's x axis."""
WIRE_WIDTH = 2.0
"""Line width of controls in pixels: lines of one pixel, which poles have, are hard to see on a mesh."""
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
"""Bone color of each body part, warm on the left and cold on the right."""
LINE_COLORS: dict[tuple[Part, Side], tuple[float, float, float]] = {
    (Part.SPINE, Side.NONE): (0.96, 0.79, 0.05),
    (Part.HEAD, Side.NONE): (1.0, 0.45, 0.15),
    (Part.FACE, Side.NONE): (0.65, 0.85, 0.25),
    (Part.ARM, Side.LEFT): (1.0, 0.3, 0.3),
    (Part.HAND, Side.LEFT): (0.8, 0.5, 1.0),
    (Part.LEG, Side.LEFT): (1.0, 0.4, 0.65),
    (Part.ARM, Side.RIGHT): (0.35, 0.6, 1.0),
    (Part.HAND, Side.RIGHT): (0.4, 0.85, 0.95),
    (Part.LEG, Side.RIGHT): (0.35, 0.85, 0.4),
    (Part.WEAPON, Side.NONE): (0.3, 0.8, 0.65),
    (Part.ROOT, Side.NONE): (0.95, 0.95, 0.95),
    (Part.HELPER, Side.NONE): (0.7, 0.7, 0.7),
}
"""Line color of the controls of each body part: the palettes' own blue and black are hard to see on Blender's grey."""
SELECTED_WHITE, ACTIVE_WHITE = 0.5, 0.75
"""How far lines of selected and active bones are blended to white, from 0 to 1."""


def make_readable(rig: Object) -> int:
    """Draw the bones of a local armature object from head to head; return how many.

    Bones with a custom shape of the user keep it. The rest pose does not change, so exports stay the same.
    """
    bones, pose = rig.data.bones, rig.pose.bones
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    body = body_of(list(index), parents)
    matrices = matrices_of(bones, "matrix_local")
    lengths = np.empty(len(bones), np.float32)
    bones.foreach_get("length", lengths)
    drawing = drawing_of(matrices, lengths.astype(np.float64), parents, body)
    shapes, drawn = {False: _shape(BONE), True: _shape(JOINT)}, 0
    # From armature space to each bone's own axes.
    lines = np.einsum("bji,bj->bi", matrices[:, :3, :3], drawing.vectors).tolist()
    for name, line, is_joint, radius, part in zip(
        index, map(Vector, lines), drawing.is_joint.tolist(), drawing.radii.tolist(), body.parts, strict=True
    ):
        pose_bone = pose[name]
        own = pose_bone.custom_shape
        if own is not None and not is_shape(own):
            continue
        pose_bone.custom_shape = shapes[is_joint]
        if is_joint:
            _set_shape_transform(pose_bone, (radius, radius, radius), Euler())
        else:
            thickness = THIN_THICKNESS if part in NOT_LIMBS else THICKNESS
            _set_shape_transform(
                pose_bone, line.length * Vector((thickness, 1, thickness)), Vector((0, 1, 0)).rotation_difference(line)
            )
        drawn += 1
    if body.is_body:
        _color_and_collect(rig.data, rig.data.bones, body)
    rig.data.show_bone_custom_shapes = True
    return drawn


def is_readable(rig: Object) -> bool:
    """Whether at least one bone of an armature object is drawn by `make_readable`."""
    return any(is_shape(bone.custom_shape) for bone in rig.pose.bones)


def make_plain(rig: Object) -> None:
    """Remove everything that `make_readable` added to a local armature object."""
    for bone in rig.pose.bones:
        if is_shape(bone.custom_shape):
            bone.custom_shape = None
            _set_shape_transform(bone, (1, 1, 1), Euler())
            bone.use_custom_shape_bone_size = True
    for collection in [collection for collection in rig.data.collections_all if MARK in collection]:
        rig.data.collections.remove(collection)
    for bone in rig.data.bones:
        if bone.motionbridge_is_colored:
            bone.color.palette = NO_PALETTE
            bone.property_unset("motionbridge_is_colored")
    drop_unused_shapes()


def _set_shape_transform(pose_bone: PoseBone, scale: Any, quaternion: Euler | Quaternion) -> None:
    """Set rotation and scale of a pose bone's shape, in the bone's own axes, in metres."""
    pose_bone.use_custom_shape_bone_size = False
    pose_bone.custom_shape_translation = (0, 0, 0)
    pose_bone.custom_shape_scale_xyz = scale
    pose_bone.custom_shape_rotation_euler = quaternion if isinstance(quaternion, Euler) else quaternion.to_euler()


def show_controls(controls: Object, planned: ControlPlan, given: Sequence[str]) -> None:
    """Set shapes, colors and collections of the visible bones of a control rig; ``given`` are the names that its bones
    got.

    Controls of a bone are circles around it, goals are boxes, poles are rings with a line to their joint.
    Circles of torso and chest are horizontal, those that curl fingers are wheels. Controls of root bones are horizontal
    squares, unlike the circle that moves everything.
    """
    heads = np.array([bone.matrix[:3, 3] for bone in planned.bones])
    least = 0.012 * float(np.ptp(heads, axis=0).max(initial=0.0))
    drawn, parts, sides, finger_joints = [], [], [], []
    topmost = {target_rotation.source: target_rotation.bone for target_rotation in planned.rotations}
    curled = {planned.bones[target.bone].bone for target in planned.rotations if target.is_curl}
    for index, (bone, name) in enumerate(zip(planned.bones, given, strict=True)):
        if bone.role in HIDDEN:
            continue
        pose_bone = controls.pose.bones[name]
        size = max(CONTROL_SIZES[bone.role] * bone.length, least)
        pose_bone.custom_shape = _shape(CONTROL_SHAPES.get(bone.role, CIRCLE))
        _set_shape_transform(pose_bone, (size, size, size), CIRCLE_ROTATIONS.get(bone.role, Euler()))
        pose_bone.custom_shape_wire_width = 1.0 if bone.role is Role.LINE else WIRE_WIDTH
        controls.data.bones[name].hide_select = bone.role is Role.LINE
        if bone.role in {Role.FREE, Role.GOAL}:
            pose_bone.custom_shape_translation = (0, bone.length / 2, 0)
        elif bone.role is Role.HOCK:
            pose_bone.custom_shape_translation = (0, bone.length, 0)
        elif bone.role is Role.CHEST:
            pose_bone.custom_shape_transform = controls.pose.bones[given[topmost[index]]]
        part = planned.body.parts[bone.bone] if bone.bone >= 0 else Part.ROOT
        if bone.role is Role.FREE and part is Part.ROOT:
            upright = Matrix(bone.matrix.tolist()).to_3x3().transposed() @ HORIZONTAL.to_matrix()
            pose_bone.custom_shape = _shape(SQUARE)
            pose_bone.custom_shape_rotation_euler = upright.to_euler()
        elif bone.role is Role.FREE and bone.bone in curled:
            finger_joints.append(controls.data.bones[name])
        drawn.append(controls.data.bones[name])
        parts.append(part)
        sides.append(planned.body.sides[bone.bone] if bone.bone >= 0 else Side.NONE)
    _color_and_collect(controls.data, drawn, Body(parts, sides, is_body=True))
    for control, part, side in zip(drawn, parts, sides, strict=True):
        line = LINE_COLORS.get((part, side if part in SIDED else Side.NONE))
        if line is not None:
            _set_line_color(control.color, np.array(line))
    if finger_joints:
        _set_aside(controls.data, finger_joints)


def _set_aside(armature: Armature, bones: Sequence[Bone]) -> None:
    """Move bones out of the collections of their parts of the body into `FINGER_JOINTS`."""
    joints = armature.collections.new(FINGER_JOINTS)
    for bone in bones:
        for collection in list(bone.collections):
            collection.unassign(bone)
        joints.assign(bone)
    joints.is_visible = False


def _set_line_color(color: Any, line: Floats) -> None:
    """Give a bone's lines their own color, which is lighter while it is selected or active."""
    color.palette = "CUSTOM"
    color.custom.normal, color.custom.select, color.custom.active = (
        line + share * (1.0 - line) for share in (0.0, SELECTED_WHITE, ACTIVE_WHITE)
    )


# Colours and collections ---------------------------------------------------------------------------------------------


def _color_and_collect(armature: Armature, bones: Sequence[Bone], body: Body) -> None:
    """Set colors and collections of bones by body part and side."""
    known = {collection[MARK]: collection for collection in armature.collections_all if MARK in collection}
    members: dict[tuple[Part, Side], list[Bone]] = {}
    for bone, part, side in zip(bones, body.parts, body.sides, strict=True):
        members.setdefault((part, side if part in SIDED else Side.NONE), []).append(bone)
    for name, kind in KINDS.items():
        if kind not in members:
            continue
        if name not in known:
            known[name] = armature.collections.new(name)
            known[name][MARK] = name
        collection, palette = known[name], PALETTES.get(kind)
        for bone in members[kind]:
            collection.assign(bone)
            color = bone.color
            if palette is not None and color.palette == NO_PALETTE:
                color.palette, bone.motionbridge_is_colored = palette, True


def _parts_and_sides() -> Iterator[tuple[Part, Side]]:
    for part in Part:
        yield from ((part, side) for side in ((Side.LEFT, Side.RIGHT, Side.NONE) if part in SIDED else (Side.NONE,)))


KINDS = {" ".join(filter(None, (side.value, part.value))): (part, side) for part, side in _parts_and_sides()}
"""Names of the bone collections, in list order, with the body part and side of their bones."""


# Shapes --------------------------------------------------------------------------------------------------------------


def is_shape(obj: Object | None) -> bool:
    """Whether an object (or None) is a bone shape of this extension. Appending an armature links its shapes to the
    scene.
    """
    return obj is not None and obj.data is not None and MARK in obj.data


def _shapes() -> list[Object]:
    """Return the shape objects of this .blend."""
    objects: Any = bpy.data.objects
    return [obj for obj in objects if obj.library is None and obj.type == "MESH" and is_shape(obj)]


def drop_unused_shapes() -> None:
    """Remove the shapes that no bone uses, apart from their own collection."""
    for shape in _shapes():
        folder = shape.data.get(COLLECTION_PROPERTY)
        if shape.users <= (folder is not None):
            bpy.data.meshes.remove(shape.data)
            if folder is not None and not len(folder.objects):
                bpy.data.collections.remove(folder)


def _shape(name: str) -> bpy.types.Object:
    """Return the shape object of this name; create it if this .blend has none."""
    for shape in _shapes():
        if shape.data[MARK] == name:
            return shape
    mesh = bpy.data.meshes.new(name)
    _build_shape(mesh, *SHAPES[name]())
    mesh[MARK] = name
    obj = bpy.data.objects.new(name, mesh)
    # Appending an armature links its shapes to the scene and shows them, but not those inside a hidden collection.
    folder = bpy.data.collections.get((SHAPE_COLLECTION, None)) or bpy.data.collections.new(SHAPE_COLLECTION)
    folder.objects.link(obj)
    mesh[COLLECTION_PROPERTY] = folder
    for hidden in (obj, folder):
        hidden.hide_viewport = hidden.hide_render = hidden.hide_select = True
    return obj


def _build_shape(mesh: Any, corners: Any, edges: Any, triangles: Any) -> None:
    """Fill a new mesh with vertices (n, 3), and edges (n, 2) or flat triangles (n, 3)."""
    # from_pydata takes three times as long.
    mesh.vertices.add(len(corners))
    mesh.attributes["position"].data.foreach_set("vector", np.asarray(corners, np.float32).ravel())
    if len(edges):
        mesh.edges.add(len(edges))
        mesh.attributes[".edge_verts"].data.foreach_set("value", np.asarray(edges, np.int32).ravel())
    if len(triangles):
        mesh.loops.add(3 * len(triangles))
        mesh.attributes[".corner_vert"].data.foreach_set("value", np.asarray(triangles, np.int32).ravel())
        mesh.polygons.add(len(triangles))
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(triangles), 3, dtype=np.int32))
        mesh.shade_flat()
    mesh.update(calc_edges=not len(edges))


@cache
def _circle() -> tuple[Any, Any, Any]:
    """Return a circle of radius 1 around the y axis."""
    corners, edges, _ = _rings()
    return corners[2 * RING_CORNERS :], edges[:RING_CORNERS], []


@cache
def _box() -> tuple[Any, Any, Any]:
    """Return the edges of a cube from -1 to 1."""
    corners = [tuple(2 * ((number >> axis) & 1) - 1 for axis in range(3)) for number in range(8)]
    edges = [(index, index | 1 << axis) for index in range(8) for axis in range(3) if not index >> axis & 1]
    return list(corners), edges, []


@cache
def _octahedron() -> tuple[Any, Any, Any]:
    """Return an octahedron from the origin to (0, 1, 0), widest near the origin."""
    corners = [(1, 0.1, 0), (0, 0.1, 1), (-1, 0.1, 0), (0, 0.1, -1)]
    faces = [face for at in range(4) for face in ((0, 2 + at, 2 + (at + 1) % 4), (1, 2 + (at + 1) % 4, 2 + at))]
    return [(0, 0, 0), (0, 1, 0), *corners], [], faces


@cache
def _rings() -> tuple[Any, Any, Any]:
    """Return three circles of radius 1 around the axes."""
    angles = np.arange(RING_CORNERS) * (2 * np.pi / RING_CORNERS)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(RING_CORNERS)], axis=1)
    corners = np.concatenate([np.roll(circle, axis, axis=1) for axis in range(3)])
    first = np.arange(3 * RING_CORNERS)
    following = first - first % RING_CORNERS + (first + 1) % RING_CORNERS
    return corners, np.stack([first, following], axis=1), []


@cache
def _square() -> tuple[Any, Any, Any]:
    """Return a square around the y axis, with corners at a distance of 1 along x and z."""
    return [(1, 0, 1), (-1, 0, 1), (-1, 0, -1), (1, 0, -1)], [(0, 1), (1, 2), (2, 3), (3, 0)], []


@cache
def _line() -> tuple[Any, Any, Any]:
    """Return the edge from the origin to (0, 1, 0)."""
    return [(0, 0, 0), (0, 1, 0)], [(0, 1)], []


SHAPES = {BONE: _octahedron, JOINT: _rings, CIRCLE: _circle, BOX: _box, SQUARE: _square, LINE: _line}
"""Shape name -> function that returns vertices, edges and triangles."""


# Pinned bones ---------------------------------------------------------------------------------------------------------

PIN = "Motionbridge Pin"
"""Prefix of the names of a pin's constraints."""
_LIMITS = (("Location", "LIMIT_LOCATION"), ("Rotation", "LIMIT_ROTATION"))


def pin(bone: PoseBone, angles: Sequence[float]) -> None:
    """Fix a pose bone at the armature's origin, rotated by ``angles`` (3,): Euler XYZ in radians."""
    for (label, kind), values in zip(_LIMITS, ((0.0, 0.0, 0.0), angles), strict=True):
        limit = bone.constraints.new(kind)
        limit.name = f"{PIN} {label}"
        limit.owner_space = "POSE"
        for axis, value in zip("xyz", values, strict=True):
            if kind == "LIMIT_ROTATION":
                setattr(limit, f"use_limit_{axis}", True)
            else:
                setattr(limit, f"use_min_{axis}", True)
                setattr(limit, f"use_max_{axis}", True)
            setattr(limit, f"min_{axis}", value)
            setattr(limit, f"max_{axis}", value)


def moving(bone: PoseBone) -> list[bpy.types.Constraint]:
    """Return the active constraints of a pose bone, without pins and links to a control rig.

    For links see `control_edits`.
    """
    return [
        constraint
        for constraint in bone.constraints
        if not (constraint.mute or is_pin(constraint) or is_link(constraint))
    ]


def is_pin(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint of a bone was added by `pin`."""
    return bool(constraint.name.startswith(PIN))


# Parts of meshes that follow hidden bones -----------------------------------------------------------------------------


def hide_meshes(rig: Object, names: Collection[str], label: str) -> None:
    """Hide the parts of meshes that follow these bones of an armature object or their descendants, and show the others.

    ``label`` names the modifier and vertex group and begins with `attributes.MASK`. Masks of other labels stay.
    """
    hidden = {*names, *(descendant.name for name in names for descendant in rig.data.bones[name].children_recursive)}
    for mesh in _deformed(rig):
        if mesh.data.is_editmode:  # Blender then provides no weights and shows the whole mesh
            continue
        for owned in (mesh.modifiers, mesh.vertex_groups):
            if label in owned:
                owned.remove(owned[label])
        groups = [group.index for group in mesh.vertex_groups if group.name in hidden]
        weights = attributes.weights_of(mesh.data)
        own = np.isin(weights.groups, groups)
        total = np.bincount(weights.vertices[own], weights.weights[own], len(mesh.data.vertices))
        vertices = np.flatnonzero(total > 0.5)
        if len(vertices):
            mesh.vertex_groups.new(name=label).add(vertices.tolist(), 1.0, "REPLACE")
            mask = mesh.modifiers.new(label, "MASK")
            mask.vertex_group, mask.invert_vertex_group, mask.show_expanded = label, True, False


def _deformed(rig: Object) -> Iterator[Object]:
    for obj in rig.children_recursive:
        if obj.type == "MESH" and any(
            modifier.type == "ARMATURE" and modifier.object == rig for modifier in obj.modifiers
        ):
            yield obj
