"""Objects on many points: instances of originals, or squares with attribute values.

Instances are made by geometry nodes on a mesh of vertices only: no mesh is copied in memory, and everything is removed
together with the object. Squares share no vertices, so that one can be moved without its neighbours. Their edges are
given to Blender with the faces: computing them would be most of the time to build a mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import polygons
from ..core.model import Attribute, Domain
from ..core.scratch import scratch
from . import attributes, compat
from .mesh import corner_counts, corner_vertices, outside_edit_mode, positions_of
from .transforms import in_world

if TYPE_CHECKING:
    from .typed import Mesh, Object


GROUP = "Motionbridge Instances"
PLACE, TURN, SCALE, REACH = "instance", "turn", "scale", "reach"
"""Attributes of the points: index of the original, rotation about z in radians, scale, and how many metres above the
point the ground may be.
"""


def build(
    name: str,
    originals: Sequence[Object],
    points: NDArray[np.float32],
    columns: dict[str, NDArray[Any]],
    onto: Object | None = None,
) -> Object:
    """Create an object, not linked to a collection, that shows ``originals`` on ``points`` (n, 3).

    ``columns``: attributes (n,) of the points: `PLACE` int32, an index in ``originals``; the others float32. With
    ``onto``, a mesh object, points are moved down to the highest of its surface up to `REACH` above them. If building
    fails, nothing that it created is left.
    """
    data: Any = bpy.data.meshes.new(name)
    obj: Any = bpy.data.objects.new(name, data)
    with ExitStack() as refused:
        refused.callback(remove, obj)
        _fill_points(data, points, columns)
        _add_modifier(obj, originals, onto)
        refused.pop_all()
    return obj


def _fill_points(data: Mesh, points: NDArray[np.float32], columns: dict[str, NDArray[Any]]) -> None:
    if len(points):
        data.vertices.add(len(points))
        data.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(points, np.float32).ravel())
        attributes.build(data, {key: Attribute(Domain.VERTEX, values) for key, values in columns.items()})
    data.update()


def _add_modifier(obj: Object, originals: Sequence[Object], onto: Object | None) -> None:
    name = obj.data.name
    holder: Any = bpy.data.collections.new(name)
    obj[_ORIGINALS] = holder
    for number, original in enumerate(originals):
        # The instance index counts the children of the collection in the order of their names.
        holder.objects.link(bpy.data.objects.new(f"{name} {number:03}", original.data))
    tree = _build_node_group(onto is not None)
    change = obj.modifiers.new(GROUP, "NODES")
    change.node_group = tree
    inputs = {item.name: item.identifier for item in tree.interface.items_tree if item.item_type == "SOCKET"}
    compat.set_group_input(change, inputs["Originals"], holder)
    if onto is not None:
        compat.set_group_input(change, inputs["Ground"], onto)


_ORIGINALS = "motionbridge_originals"


def remove(target: Object) -> None:
    """Remove an object of `build` and everything that was created for it."""
    holder = target.get(_ORIGINALS)
    data = target.data
    bpy.data.objects.remove(target)
    bpy.data.meshes.remove(data)
    if holder is not None:
        for obj in list(holder.objects):
            bpy.data.objects.remove(obj)
        bpy.data.collections.remove(holder)
    for tree in [tree for tree in bpy.data.node_groups if tree.name.startswith(GROUP) and not tree.users]:
        bpy.data.node_groups.remove(tree)


def _build_node_group(on_ground: bool) -> Any:
    groups: Any = bpy.data.node_groups
    tree = groups.new(GROUP, "GeometryNodeTree")
    tree.is_modifier = True
    face = tree.interface
    face.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    face.new_socket("Originals", in_out="INPUT", socket_type="NodeSocketCollection")
    if on_ground:
        face.new_socket("Ground", in_out="INPUT", socket_type="NodeSocketObject")
    face.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes = _Nodes(tree)
    given = nodes.new("NodeGroupInput")
    points = given.outputs["Geometry"]
    if on_ground:
        points = _move_to_ground(nodes, points, given.outputs["Ground"])
    originals = nodes.new("GeometryNodeCollectionInfo")
    nodes.link(given.outputs["Originals"], originals.inputs["Collection"])
    originals.inputs["Separate Children"].default_value = True
    originals.inputs["Reset Children"].default_value = True
    node = nodes.new("ShaderNodeCombineXYZ")
    nodes.link(nodes.attribute(TURN, "FLOAT"), node.inputs["Z"])
    placed = nodes.new("GeometryNodeInstanceOnPoints")
    placed.inputs["Pick Instance"].default_value = True
    nodes.link(points, placed.inputs["Points"])
    nodes.link(originals.outputs[0], placed.inputs["Instance"])
    nodes.link(nodes.attribute(PLACE, "INT"), placed.inputs["Instance Index"])
    nodes.link(node.outputs[0], placed.inputs["Rotation"])
    nodes.link(nodes.attribute(SCALE, "FLOAT"), placed.inputs["Scale"])
    nodes.link(placed.outputs[0], nodes.new("NodeGroupOutput").inputs[0])
    return tree


def _move_to_ground(nodes: _Nodes, points: bpy.types.NodeSocket, ground: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
    """Move the points onto the highest ground up to `REACH` above them; points without ground stay unchanged."""
    target = nodes.new("GeometryNodeObjectInfo")
    target.transform_space = "RELATIVE"
    nodes.link(ground, target.inputs["Object"])
    up = nodes.new("ShaderNodeCombineXYZ")
    nodes.link(nodes.attribute(REACH, "FLOAT"), up.inputs["Z"])
    top = nodes.new("ShaderNodeVectorMath")
    nodes.link(nodes.new("GeometryNodeInputPosition").outputs[0], top.inputs[0])
    nodes.link(up.outputs[0], top.inputs[1])
    ray = nodes.new("GeometryNodeRaycast")
    nodes.link(target.outputs["Geometry"], ray.inputs["Target Geometry"])
    nodes.link(top.outputs[0], ray.inputs["Source Position"])
    nodes.link(nodes.attribute(REACH, "FLOAT"), ray.inputs["Ray Length"])
    moved = nodes.new("GeometryNodeSetPosition")
    nodes.link(points, moved.inputs["Geometry"])
    nodes.link(ray.outputs["Is Hit"], moved.inputs["Selection"])
    nodes.link(ray.outputs["Hit Position"], moved.inputs["Position"])
    return moved.outputs[0]


class _Nodes:
    """A node tree under construction; each new node is placed to the right of the previous one."""

    def __init__(self, tree: bpy.types.GeometryNodeTree) -> None:
        self.tree = tree

    def new(self, kind: str) -> Any:
        node = self.tree.nodes.new(kind)
        node.location = (200 * len(self.tree.nodes), 0)
        return node

    def link(self, source: bpy.types.NodeSocket, target: bpy.types.NodeSocket) -> None:
        self.tree.links.new(source, target)

    def attribute(self, name: str, kind: str) -> bpy.types.NodeSocket:
        """Add a node that reads a named attribute of the points; return its output."""
        node = self.new("GeometryNodeInputNamedAttribute")
        node.data_type = kind
        node.inputs["Name"].default_value = name
        return next(socket for socket in node.outputs if socket.enabled and socket.name == "Attribute")


# Squares --------------------------------------------------------------------------------------------------------------

CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
"""Corners of a square of 2 x 2 around the origin, counter-clockwise seen from above."""


def build_squares(
    name: str,
    points: NDArray[np.float32],
    side: float,
    values: Iterable[tuple[str, NDArray[Any]]],
    slots: tuple[Sequence[Any], NDArray[np.int32]],
) -> Any:
    """Create a mesh object, not linked to a collection: horizontal squares of ``side`` metres around ``points`` (n, 3).

    The faces point up. ``values`` (name, (n, …)) become face attributes; they are iterated only once, to save memory.
    ``slots``: materials, and (n,) the material slot of each face.
    """
    data: Any = bpy.data.meshes.new(name)
    if len(points):
        _fill_squares(data, points, side)
    del points
    materials, index = slots
    for material in materials:
        data.materials.append(material)
    if index.any():
        attributes.build(data, {"material_index": Attribute(Domain.FACE, index)})
    del slots, index
    for key, column in values:
        attributes.build(data, {key: Attribute(Domain.FACE, column)})
    data.update()
    return bpy.data.objects.new(name, data)


def _fill_squares(data: Mesh, points: NDArray[np.float32], side: float) -> None:
    count = 4 * len(points)
    # All arrays use the same buffer: together they are as large as the mesh.
    positions = scratch((len(points), 4, 3), np.float32)
    np.add(points[:, None, :], CORNERS * np.float32(side / 2), out=positions)
    data.vertices.add(count)
    data.attributes["position"].data.foreach_set("vector", positions.ravel())
    numbers = positions.ravel().view(np.int32)
    corners, ends = numbers[:count], numbers[count:].reshape(-1, 4, 2)
    corners[:] = np.arange(count, dtype=np.int32)
    data.loops.add(count)
    data.attributes[".corner_vert"].data.foreach_set("value", corners)
    data.polygons.add(len(points))
    data.polygons.foreach_set("loop_start", corners[::4].copy())
    ends[..., 0] = corners.reshape(-1, 4)
    ends[:, :3, 1], ends[:, 3, 1] = ends[:, 1:, 0], ends[:, 0, 0]
    data.edges.add(count)
    data.attributes[".edge_verts"].data.foreach_set("value", ends.ravel())
    data.attributes[".corner_edge"].data.foreach_set("value", corners)


def gather_faces(
    obj: Object, wanted: attributes.Wanted, colours: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, NDArray[Any]]]:
    """Read the faces of a mesh in world space: (faces, 2) centres, and (faces, 2) the height of the lowest and the
    highest corner.

    Also returns the values of those of the ``wanted`` attributes, and of the color attributes named ``colours``, that
    exist.
    """
    with outside_edit_mode(obj) as data:
        positions = in_world(obj, positions_of(data))
        columns = {name: attributes.gather(data, name, *about) for name, about in wanted.items()}
        columns |= {name: attributes.gather_colours(data, name, Domain.FACE) for name in colours}
        values = {name: column for name, column in columns.items() if column is not None}
        if not len(data.polygons):
            return np.zeros((0, 2)), np.zeros((0, 2)), values
        corners, sizes = corner_vertices(data), corner_counts(data)
        starts = polygons.starts(sizes)
    middles = np.stack([np.add.reduceat(positions[corners, axis], starts) / sizes for axis in (0, 1)], axis=1)
    heights = positions[corners, 2]
    extremes = np.stack([np.minimum.reduceat(heights, starts), np.maximum.reduceat(heights, starts)], axis=1)
    return middles, extremes, values


def shows_instances(obj: Object) -> bool:
    """Return whether an object shows a collection, or its children, on itself: files store no such instances."""
    if obj.instance_type == "COLLECTION":
        return obj.instance_collection is not None
    return obj.instance_type != "NONE" and bool(obj.children)
