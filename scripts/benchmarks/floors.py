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
from dataclasses import dataclass, field
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


def _read(collection: Any, name: str, width: int, dtype: Any) -> Any:
    values = np.empty(width * len(collection), dtype)
    collection.foreach_get(name, values)
    return values


# ---- F-curves


@dataclass
class ActionArrays:
    """An action, and whether an empty plays it.

    ``channels``: data path, index and group of each F-curve; actions with the same ones can be copies of one template.
    ``keys``: its fields as `foreach_set` takes them; handles only if at least one key is Bezier.
    """

    name: str
    on_empty: bool
    channels: list[tuple[str, int, str]] = field(default_factory=list)
    keys: list[dict[str, Any]] = field(default_factory=list)


def _interpolation(curve: Any) -> Any:
    return _read(curve.keyframe_points, "interpolation", 1, np.uint8)


def key_fields(curve: Any) -> tuple[str, ...]:
    """Return the names of the fields that define what a curve plays."""
    return ("co", *HANDLES) if (_interpolation(curve) == BEZIER).any() else ("co",)


def read_keys(curve: Any, fields: Sequence[str]) -> dict[str, Any]:
    """Return these fields of all keys of a curve, as `foreach_set` takes them."""
    return {name: _read(curve.keyframe_points, name, 2, np.float32) for name in fields}


def _action_arrays(action: Any) -> ActionArrays:
    animated = [obj.animation_data for obj in bpy.data.objects if obj.type == "EMPTY" and obj.animation_data]
    arrays = ActionArrays(action.name, any(data.action == action for data in animated))
    for curve in compat.curve_bag(action).fcurves:
        arrays.channels.append((curve.data_path, curve.array_index, curve.group.name if curve.group else ""))
        arrays.keys.append(read_keys(curve, key_fields(curve)) | {"interpolation": _interpolation(curve).tobytes()})
    return arrays


def _make_actions(arrays: list[ActionArrays]) -> None:
    for channels, alike in groupby(arrays, lambda ready: ready.channels):
        template, _, bag = compat.new_action("template", "OBJECT", "floor")
        make = compat.curve_maker(template, bag)
        for channel in channels:
            make(*channel)
        for ready in alike:
            # Copying an action without keys is cheaper than adding its F-curves one by one.
            action = template.copy()
            action.name = ready.name
            for curve, keys in zip(compat.curve_bag(action).fcurves, ready.keys, strict=True):
                points, count = curve.keyframe_points, len(keys["interpolation"])
                points.add(count)
                if HANDLES[0] in keys:
                    points.foreach_set("handle_left_type", FREE * count)
                    points.foreach_set("handle_right_type", FREE * count)
                for name, values in keys.items():
                    points.foreach_set(name, values)
            if ready.on_empty:
                compat.assign(_linked(None), action)


def _linked(data: Any) -> Any:
    obj: Any = bpy.data.objects.new("floor", data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


# ---- meshes


@dataclass
class MeshArrays:
    """A mesh as Blender takes it.

    ``edges``: None if Blender computes them. ``normals``: per corner, or per vertex if Blender takes these faster, or
    None. ``weights``: index of a vertex group, a weight, and the vertices with this weight. ``materials``: names, ""
    for none. ``rig``: index of the armature that deforms the mesh, -1 for none.
    """

    positions: Any
    corners: Any
    starts: Any
    edges: Any
    normals: Any
    uvs: list[tuple[str, Any]]
    attributes: list[tuple[str, str, str, Any]]
    groups: list[str]
    materials: list[str]
    rig: int
    weights: list[tuple[int, float, list[int]]] = field(default_factory=list)


def read_mesh(obj: Any, rigs: Sequence[Any] = ()) -> MeshArrays:
    """All arrays of the mesh of an object that an import may have made, but for weights; ``rigs`` may deform it."""
    mesh = obj.data
    layers = [layer.name for layer in mesh.uv_layers]
    attributes = []
    for stored in mesh.attributes:
        name, kind = stored.name, stored.data_type
        if kind in ATTRIBUTES and not name.startswith(".") and name not in {*BUILT_IN, *layers}:
            width, dtype, values = ATTRIBUTES[kind]
            attributes.append((name, kind, stored.domain, _read(stored.data, values, width, dtype)))
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
        [group.name for group in obj.vertex_groups],
        [used.name if used is not None else "" for used in mesh.materials],
        next(
            (
                rigs.index(modifier.object)
                for modifier in obj.modifiers
                if modifier.type == "ARMATURE" and modifier.object in rigs
            ),
            -1,
        ),
    )


def _by_vertex(mesh: Any, normals: Any) -> Any:
    """Return (vertices, 3) of (corners, 3) normals if no edge is sharp and Blender takes these faster."""
    sharp = mesh.attributes.get("sharp_edge")
    if compat.NORMALS_BY_ATTRIBUTE or (sharp is not None and _read(sharp.data, "value", 1, np.bool_).any()):
        return normals
    result = np.ones((len(mesh.vertices), 3), np.float32)
    result[_read(mesh.attributes[".corner_vert"].data, "value", 1, np.int32)] = normals
    return result


def _with_weights(obj: Any, rigs: Sequence[Any]) -> MeshArrays:
    """Return all arrays of a mesh, its weights as Blender takes them: one weight for many vertices."""
    arrays = read_mesh(obj, rigs)
    vertices_by_weight: dict[tuple[int, float], list[int]] = {}
    for vertex in obj.data.vertices if arrays.groups else ():
        for member in vertex.groups:
            vertices_by_weight.setdefault((member.group, member.weight), []).append(vertex.index)
    arrays.weights = [(*key, vertices) for key, vertices in vertices_by_weight.items()]
    return arrays


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
    _give_attributes(mesh, [given for given in arrays.attributes if given[2] != "EDGE"])
    for name, values in arrays.uvs:
        mesh.uv_layers.new(name=name, do_init=False).uv.foreach_set("vector", values)
    mesh.update(calc_edges=arrays.edges is None)
    _give_attributes(mesh, [given for given in arrays.attributes if given[2] == "EDGE"])
    if arrays.normals is not None:
        mesh.shade_smooth()
        if len(arrays.normals) == len(arrays.corners):
            compat.set_corner_normals(mesh, arrays.normals)
        else:
            mesh.normals_split_custom_set_from_vertices(arrays.normals)
    obj = _linked(mesh)
    groups = [obj.vertex_groups.new(name=name) for name in arrays.groups]
    for number, weight, vertices in arrays.weights:
        groups[number].add(vertices, weight, "REPLACE")
    if arrays.rig >= 0:
        obj.parent = rigs[arrays.rig]
        obj.modifiers.new("floor", "ARMATURE").object = rigs[arrays.rig]


def _material(name: str, ready: dict[str, Any]) -> Any:
    """Return a plain material with nodes, which all materials have since 5.0; each name is created once."""
    if name not in ready:
        ready[name] = bpy.data.materials.new(name)
        if ready[name].node_tree is None:
            ready[name].use_nodes = True
    return ready[name]


def _give_attributes(mesh: Any, attributes: list[tuple[str, str, str, Any]]) -> None:
    for name, kind, domain, values in attributes:
        attribute = mesh.attributes.get(name) or mesh.attributes.new(name, kind, domain)
        attribute.data.foreach_set(ATTRIBUTES[kind][2], values)


# ---- bones

BoneArrays = list[tuple[str, int, float, list[list[float]]]]
"""Of each bone: name, index of the parent (-1 for none), length, rest matrix as a list of rows."""


def _bone_arrays(rig: Any) -> BoneArrays:
    numbers = {bone.name: number for number, bone in enumerate(rig.data.bones)} | {"": -1}
    parents = [numbers[bone.parent.name if bone.parent else ""] for bone in rig.data.bones]
    return [
        (bone.name, parent, bone.length, [list(row) for row in bone.matrix_local])
        for bone, parent in zip(rig.data.bones, parents, strict=True)
    ]


def _make_bones(arrays: BoneArrays) -> Any:
    rig = _linked(bpy.data.armatures.new("floor"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = [rig.data.edit_bones.new(name) for name, *_ in arrays]
    for bone, (_, parent, length, matrix) in zip(bones, arrays, strict=True):
        bone.length, bone.matrix = length, Matrix(matrix)
        bone.parent = bones[parent] if parent >= 0 else None
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
        rigs = [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj not in known]
        shapes = [_with_weights(obj, rigs) for obj in meshes()]
        return cls([_action_arrays(action) for action in bpy.data.actions], shapes, [_bone_arrays(rig) for rig in rigs])

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
    drawn = [obj for obj in bpy.data.objects if obj.type == "MESH" and len(obj.data.polygons) and not is_shape(obj)]
    yield from {obj.data.name: obj for obj in drawn}.values()


def reading_all() -> Callable[[], object]:
    """Return a function that reads every array once: the floor of exporting, except for writing the bytes."""
    curves = [(curve, key_fields(curve)) for action in bpy.data.actions for curve in compat.curve_bag(action).fcurves]
    return lambda: ([read_keys(*curve) for curve in curves], [read_mesh(obj) for obj in meshes()])
