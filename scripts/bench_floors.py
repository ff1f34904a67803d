"""Floors of imports and exports in Blender, the same for every format.

The floor of importing passes the keys, meshes and bones that an import created to Blender again, from prepared arrays
and with the fastest known calls. Blender computes edges that faces share, because no file contains them. Materials of
meshes, and the armature that deforms them, are created as well, because every import needs them; the materials are
plain. What only our imports create is left out: stored bytes, properties, bone shapes. The floor of exporting reads the
arrays, and writes as many bytes as the file has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from addon.blender import compat
from addon.blender.armature import is_shape

HANDLES = ("handle_left", "handle_right")
BEZIER = 2
FREE = bytes([0])
# Attribute type -> number and type of an element's values, and the property to read and write them.
ATTRIBUTES = {
    "BOOLEAN": (1, np.bool_, "value"),
    "INT": (1, np.int32, "value"),
    "FLOAT": (1, np.float32, "value"),
    "FLOAT_COLOR": (4, np.float32, "color"),
    "FLOAT_VECTOR": (3, np.float32, "vector"),
}
BUILT_IN = {"position", "custom_normal"}


# ---- measuring


def peak_growth(work: Callable[[], object]) -> float:
    """Return by how many bytes ``work`` raises the peak memory of the process, after freed memory was given back."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak to the current size
    before = _highest()
    kept = work()
    grown = _highest() - before
    del kept
    return grown


def _highest() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


# ---- F-curves


@dataclass
class CurveArrays:
    """An F-curve. ``keys`` are its fields as `foreach_set` takes them; handles only if at least one key is Bezier."""

    path: str
    index: int
    group: str
    count: int
    keys: dict[str, Any]

    @property
    def channel(self) -> tuple[str, int, str]:
        """Data path, index and group. Actions with the same channels can be copies of one template."""
        return self.path, self.index, self.group


@dataclass
class ActionArrays:
    """An action, and whether an empty plays it."""

    name: str
    on_empty: bool
    curves: list[CurveArrays]


def key_fields(curve: Any) -> tuple[str, ...]:
    """Return the names of the fields that define what a curve plays."""
    interpolation = np.empty(len(curve.keyframe_points), np.uint8)
    curve.keyframe_points.foreach_get("interpolation", interpolation)
    return ("co", *HANDLES) if (interpolation == BEZIER).any() else ("co",)


def read_keys(curve: Any, fields: Sequence[str]) -> dict[str, Any]:
    """Return these fields of all keys of a curve, as `foreach_set` takes them."""
    points = curve.keyframe_points
    keys: dict[str, Any] = {name: np.empty(2 * len(points), np.float32) for name in fields}
    for name, array in keys.items():
        points.foreach_get(name, array)
    return keys


def _action_arrays() -> list[ActionArrays]:
    animated = [one for one in bpy.data.objects if one.type == "EMPTY" and one.animation_data]
    on_empties = {one.animation_data.action for one in animated}
    found = []
    for action in bpy.data.actions:
        curves = []
        for curve in compat.curve_bag(action).fcurves:
            group = curve.group.name if curve.group else ""
            interpolation = np.empty(len(curve.keyframe_points), np.uint8)
            curve.keyframe_points.foreach_get("interpolation", interpolation)
            keys = read_keys(curve, key_fields(curve)) | {"interpolation": interpolation.tobytes()}
            curves.append(CurveArrays(curve.data_path, curve.array_index, group, len(interpolation), keys))
        found.append(ActionArrays(action.name, action in on_empties, curves))
    return found


def _make_actions(arrays: list[ActionArrays]) -> None:
    for _, alike in groupby(arrays, lambda one: [curve.channel for curve in one.curves]):
        template = None
        for one in alike:
            template = template or _without_keys(one)
            # Copying an action without keys is cheaper than adding its F-curves one by one.
            action = template.copy()
            action.name = one.name
            for curve, ready in zip(compat.curve_bag(action).fcurves, one.curves, strict=True):
                points = curve.keyframe_points
                points.add(ready.count)
                if HANDLES[0] in ready.keys:
                    points.foreach_set("handle_left_type", FREE * ready.count)
                    points.foreach_set("handle_right_type", FREE * ready.count)
                for name, values in ready.keys.items():
                    points.foreach_set(name, values)
            if one.on_empty:
                owner = bpy.data.objects.new("floor", None)
                bpy.context.scene.collection.objects.link(owner)
                compat.assign(owner, action)


def _without_keys(arrays: ActionArrays) -> Any:
    action, _, bag = compat.new_action("template", "OBJECT", "floor")
    make = compat.curve_maker(action, bag)
    for curve in arrays.curves:
        make(*curve.channel)
    return action


# ---- meshes


@dataclass
class MeshArrays:
    """A mesh as Blender takes it.

    ``edges``: None if Blender computes them. ``normals``: per corner, or per vertex if Blender takes these faster, or
    None. ``weights_by_group``: index of a vertex group, a weight, and the vertices with this weight. ``materials``:
    names, "" for none. ``rig``: index of the armature that deforms the mesh, -1 for none.
    """

    positions: Any
    corners: Any
    starts: Any
    edges: Any
    normals: Any
    uvs: list[tuple[str, Any]]
    attributes: list[tuple[str, str, str, Any]]
    groups: list[str]
    weights_by_group: list[tuple[int, float, list[int]]]
    materials: list[str]
    rig: int


def _read(collection: Any, field: str, width: int, dtype: Any) -> Any:
    values = np.empty(width * len(collection), dtype)
    collection.foreach_get(field, values)
    return values


def read_mesh(shown: Any, rigs: Sequence[Any] = ()) -> MeshArrays:
    """All arrays of the mesh of an object that an import may have made, but for weights; ``rigs`` may deform it."""
    mesh = shown.data
    layers = [layer.name for layer in mesh.uv_layers]
    attributes = []
    for one in mesh.attributes:
        if one.data_type in ATTRIBUTES and not one.name.startswith(".") and one.name not in {*BUILT_IN, *layers}:
            width, dtype, field = ATTRIBUTES[one.data_type]
            attributes.append((one.name, one.data_type, one.domain, _read(one.data, field, width, dtype)))
    normals = _read(mesh.corner_normals, "vector", 3, np.float32) if mesh.has_custom_normals else None
    # If no faces share an edge, an importer knows all edges, and Blender need not find them.
    apart = len(mesh.edges) == len(mesh.loops)
    return MeshArrays(
        _read(mesh.attributes["position"].data, "vector", 3, np.float32),
        _read(mesh.attributes[".corner_vert"].data, "value", 1, np.int32),
        _read(mesh.polygons, "loop_start", 1, np.int32),
        _read(mesh.attributes[".edge_verts"].data, "value", 2, np.int32) if apart else None,
        normals if normals is None else _by_vertex(mesh, normals.reshape(-1, 3)),
        [(layer.name, _read(layer.uv, "vector", 2, np.float32)) for layer in mesh.uv_layers],
        attributes,
        [group.name for group in shown.vertex_groups],
        [],
        [used.name if used is not None else "" for used in mesh.materials],
        next((rigs.index(one.object) for one in shown.modifiers if one.type == "ARMATURE" and one.object in rigs), -1),
    )


def _by_vertex(mesh: Any, normals: Any) -> Any:
    """Return (vertices, 3) of (corners, 3) normals if no edge is sharp and Blender takes these faster, else
    ``normals``.
    """
    sharp = mesh.attributes.get("sharp_edge")
    if compat.NORMALS_BY_ATTRIBUTE or (sharp is not None and _read(sharp.data, "value", 1, np.bool_).any()):
        return normals
    result = np.ones((len(mesh.vertices), 3), np.float32)
    result[_read(mesh.attributes[".corner_vert"].data, "value", 1, np.int32)] = normals
    return result


def read_weights(shown: Any) -> list[tuple[int, float, list[int]]]:
    """Return the weights of a mesh as Blender takes them: one weight for many vertices."""
    weights_by_group: dict[tuple[int, float], list[int]] = {}
    for vertex in shown.data.vertices if len(shown.vertex_groups) else ():
        for member in vertex.groups:
            weights_by_group.setdefault((member.group, member.weight), []).append(vertex.index)
    return [(group, weight, vertices) for (group, weight), vertices in weights_by_group.items()]


def _make_mesh(arrays: MeshArrays, materials: dict[str, Any], rigs: Sequence[Any]) -> None:
    mesh: Any = bpy.data.meshes.new("floor")
    mesh.vertices.add(len(arrays.positions) // 3)
    mesh.attributes["position"].data.foreach_set("vector", arrays.positions)
    mesh.loops.add(len(arrays.corners))
    mesh.attributes[".corner_vert"].data.foreach_set("value", arrays.corners)
    mesh.polygons.add(len(arrays.starts))
    mesh.polygons.foreach_set("loop_start", arrays.starts)
    if arrays.edges is not None:
        mesh.edges.add(len(arrays.edges) // 2)
        mesh.attributes[".edge_verts"].data.foreach_set("value", arrays.edges)
        mesh.attributes[".corner_edge"].data.foreach_set("value", np.arange(len(arrays.corners), dtype=np.int32))
    for name in arrays.materials:
        mesh.materials.append(_material(name, materials) if name else None)
    _give_attributes(mesh, [one for one in arrays.attributes if one[2] != "EDGE"])
    for name, values in arrays.uvs:
        mesh.uv_layers.new(name=name, do_init=False).uv.foreach_set("vector", values)
    mesh.update(calc_edges=arrays.edges is None)
    _give_attributes(mesh, [one for one in arrays.attributes if one[2] == "EDGE"])
    if arrays.normals is not None:
        mesh.shade_smooth()
        if len(arrays.normals) == len(arrays.corners):
            compat.set_corner_normals(mesh, arrays.normals)
        else:
            mesh.normals_split_custom_set_from_vertices(arrays.normals)
    made: Any = bpy.data.objects.new("floor", mesh)
    groups = [made.vertex_groups.new(name=name) for name in arrays.groups]
    for number, weight, vertices in arrays.weights_by_group:
        groups[number].add(vertices, weight, "REPLACE")
    bpy.context.scene.collection.objects.link(made)
    if arrays.rig >= 0:
        made.parent = rigs[arrays.rig]
        made.modifiers.new("floor", "ARMATURE").object = rigs[arrays.rig]


def _material(name: str, made: dict[str, Any]) -> Any:
    """Return a plain material with nodes, which all materials have since 5.0; each name is created once."""
    if name not in made:
        made[name] = bpy.data.materials.new(name)
        if made[name].node_tree is None:
            made[name].use_nodes = True
    return made[name]


def _give_attributes(mesh: Any, attributes: list[tuple[str, str, str, Any]]) -> None:
    for name, kind, domain, values in attributes:
        attribute = mesh.attributes.get(name) or mesh.attributes.new(name, kind, domain)
        attribute.data.foreach_set(ATTRIBUTES[kind][2], values)


# ---- bones


@dataclass
class BoneArrays:
    """Bones of an armature: names, indices of parents (-1 for none), lengths, rest matrices as lists of rows."""

    names: list[str]
    parents: list[int]
    lengths: list[float]
    matrices: list[list[list[float]]]


def _bone_arrays(rig: Any) -> BoneArrays:
    bones = rig.data.bones
    numbers = {bone.name: number for number, bone in enumerate(bones)}
    return BoneArrays(
        list(numbers),
        [numbers[bone.parent.name] if bone.parent is not None else -1 for bone in bones],
        [bone.length for bone in bones],
        [[list(row) for row in bone.matrix_local] for bone in bones],
    )


def _make_bones(arrays: BoneArrays) -> Any:
    rig = bpy.data.objects.new("floor", bpy.data.armatures.new("floor"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made = []
    for name, length, matrix in zip(arrays.names, arrays.lengths, arrays.matrices, strict=True):
        bone = rig.data.edit_bones.new(name)
        bone.length, bone.matrix = length, Matrix(matrix)
        made.append(bone)
    for bone, parent in zip(made, arrays.parents, strict=True):
        bone.parent = made[parent] if parent >= 0 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


# ---- all of it


@dataclass
class Arrays:
    """Arrays of what an import created: all actions of the .blend, all meshes of objects, all armatures."""

    actions: list[ActionArrays]
    meshes: list[MeshArrays]
    rigs: list[BoneArrays]

    @classmethod
    def of_all(cls, known: Collection[Any] = ()) -> Arrays:
        """Return the arrays of everything that exists now, without the armature objects in ``known``."""
        rigs = [one for one in bpy.data.objects if one.type == "ARMATURE" and one not in known]
        shapes = [replace(read_mesh(shown, rigs), weights_by_group=read_weights(shown)) for shown in meshes()]
        return cls(_action_arrays(), shapes, [_bone_arrays(rig) for rig in rigs])

    def pass_to_blender(self) -> None:
        """Pass all arrays to Blender: the floor of importing."""
        rigs = [_make_bones(rig) for rig in self.rigs]
        materials: dict[str, Any] = {}
        for mesh in self.meshes:
            _make_mesh(mesh, materials, rigs)
        _make_actions(self.actions)
        bpy.context.view_layer.update()


def meshes() -> Iterator[Any]:
    """Yield one object per mesh, without bone shapes."""
    shown = [one for one in bpy.data.objects if one.type == "MESH" and len(one.data.polygons) and not is_shape(one)]
    yield from {one.data.name: one for one in shown}.values()


def reading_all() -> Callable[[], object]:
    """Return a function that reads every array once: the floor of exporting, except for writing the bytes."""
    curves = [(one, key_fields(one)) for action in bpy.data.actions for one in compat.curve_bag(action).fcurves]

    def work() -> object:
        return [read_keys(*one) for one in curves], [read_mesh(shown) for shown in meshes()]

    return work
