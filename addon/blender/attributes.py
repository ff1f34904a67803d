"""Values on vertices and faces of a Blender mesh: `Attribute` and `VertexWeights` to Blender and back.

There is one row per vertex or face. Weights are vertex groups. `active_face` reads the face that was clicked last, in
edit and object mode, without evaluating anything.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bmesh
import numpy as np
from numpy.typing import NDArray

from ..core.model import Attribute, Domain, Mesh, PolygonMesh, VertexWeights
from ..core.polygons import row_order
from ..core.report import Report, say
from . import compat

if TYPE_CHECKING:
    from . import typed
    from .typed import Material, Object


MASK = "Motionbridge "
"""Prefix of the names of vertex groups that hide vertices and belong to no file."""
DOMAINS = {Domain.VERTEX: "POINT", Domain.FACE: "FACE"}
Wanted = Mapping[str, tuple[Domain, Any]]
"""Attribute name -> domain and type (``np.bool_``, ``np.int32``, ``np.float32``) to read."""

_KINDS: dict[tuple[Any, int], tuple[str, str]] = {
    (np.dtype(np.bool_), 1): ("BOOLEAN", "value"),
    (np.dtype(np.int32), 1): ("INT", "value"),
    (np.dtype(np.float32), 1): ("FLOAT", "value"),
    (np.dtype(np.float32), 2): ("FLOAT2", "vector"),
    (np.dtype(np.float32), 3): ("FLOAT_VECTOR", "vector"),
    (np.dtype(np.float32), 4): ("FLOAT_COLOR", "color"),
}
_COLOURS = ("FLOAT_COLOR", "BYTE_COLOR")
_READABLE: dict[str, Any] = {"BOOLEAN": np.bool_, "INT": np.int32, "FLOAT": np.float32}


def build(data: typed.Mesh, attributes: Mapping[str, Attribute], is_stored: NDArray[np.bool_] | None = None) -> None:
    """Add attributes to a mesh. ``is_stored`` (faces,): which faces the mesh contains, by default all."""
    for name, attribute in attributes.items():
        values = attribute.values
        if is_stored is not None and attribute.domain is Domain.FACE:
            values = values[is_stored]
        width = 1 if values.ndim == 1 else values.shape[1]
        kind, field = _KINDS[values.dtype, width]
        layer = data.attributes.new(name, kind, DOMAINS[attribute.domain])
        layer.data.foreach_set(field, np.ascontiguousarray(values).ravel())


def gather(data: typed.Mesh, name: str, domain: Domain, kind: Any) -> NDArray[Any] | None:
    """Return the values of an attribute as ``kind``; None if the mesh has none of this name in this domain."""
    stored = _stored(data, name, domain, _READABLE)
    if stored is None:
        return None
    values = np.empty(len(stored.data), _READABLE[stored.data_type])
    if len(values):
        stored.data.foreach_get("value", values)
    return values.astype(kind, copy=False)


def gather_all(data: typed.Mesh, wanted: Wanted, faces: NDArray[np.int32] | None = None) -> dict[str, Attribute]:
    """Return those of the ``wanted`` attributes that exist; ``faces`` (n,): the face of each value of a face."""
    result: dict[str, Attribute] = {}
    for name, (domain, kind) in wanted.items():
        values = gather(data, name, domain, kind)
        if values is not None:
            result[name] = Attribute(domain, values[faces] if domain is Domain.FACE and faces is not None else values)
    return result


def gather_colours(data: typed.Mesh, name: str, domain: Domain) -> NDArray[np.float32] | None:
    """Return the values (n, 4) of a color attribute; None if the mesh has none of this name in this domain."""
    stored = _stored(data, name, domain, _COLOURS)
    if stored is None:
        return None
    values = np.empty((len(stored.data), 4), np.float32)
    if len(values):
        stored.data.foreach_get("color", values.reshape(-1))
    return values


def _stored(data: typed.Mesh, name: str, domain: Domain, kinds: Container[str]) -> Any:
    stored = data.attributes.get(name)
    return stored if stored is not None and stored.domain == DOMAINS[domain] and stored.data_type in kinds else None


def warn_of_misfits(obj: Object, wanted: Wanted, report: Report, colours: Iterable[str] = ()) -> None:
    """Warn of attributes that have a ``wanted`` name but are ignored, because their type or domain is different.

    ``colours``: names of color attributes on faces.
    """
    requested: list[tuple[str, Domain, Container[str]]] = [
        (name, domain, _READABLE) for name, (domain, _) in wanted.items()
    ]
    requested += [(name, Domain.FACE, _COLOURS) for name in colours]
    existing = obj.data.attributes
    for name, domain, kinds in requested:
        if existing.get(name) is not None and _stored(obj.data, name, domain, kinds) is None:
            words = "the attribute {!r} is ignored: its domain or data type is wrong (Convert Attribute changes both)"
            problem = say(words, name)
            report.warn(problem, obj.name)


def write(data: typed.Mesh, name: str, domain: Domain, values: NDArray[Any]) -> None:
    """Set an attribute's values; create it if it is missing or has another type or domain."""
    kind, field = _KINDS[values.dtype, 1 if values.ndim == 1 else values.shape[1]]
    stored = data.attributes.get(name)
    if stored is not None and (stored.domain, stored.data_type) != (DOMAINS[domain], kind):
        data.attributes.remove(stored)
        stored = None
    if stored is None:
        stored = data.attributes.new(name, kind, DOMAINS[domain])
    stored.data.foreach_set(field, np.ascontiguousarray(values).ravel())


def build_vertex_groups(obj: Object, mesh: Mesh | PolygonMesh) -> None:
    """Add a vertex group for each of ``mesh.groups``, in this order, with the weights of ``mesh``."""
    groups = [obj.vertex_groups.new(name=name) for name in mesh.groups]
    if mesh.weights is not None:
        assign(groups, mesh.weights)


def assign(groups: Sequence[Any], weights: VertexWeights) -> None:
    """Set weights in vertex groups; others stay.

    Blender assigns one weight to many vertices at once, so there is one call per distinct weight of a group.
    """
    if not len(weights.weights):
        return
    order, differs = row_order(np.stack([weights.groups, weights.weights.view(np.int32)]).T)
    group, weight, vertex = weights.groups[order], weights.weights[order], weights.vertices[order]
    differs[0] = True
    starts = np.flatnonzero(differs)
    ends = [*starts[1:].tolist(), len(order)]
    vertices = vertex.tolist()
    for start, end, number, value in zip(
        starts.tolist(), ends, group[starts].tolist(), weight[starts].tolist(), strict=True
    ):
        groups[number].add(vertices[start:end], value, "REPLACE")


def weights_of(data: typed.Mesh) -> VertexWeights:
    """Return the weights of a mesh, sorted by vertex, then in Blender's order.

    Blender offers no array of weights; this loop is the fastest way to read them (2 µs each).
    """
    members = [
        (number, member.group, member.weight) for number, vertex in enumerate(data.vertices) for member in vertex.groups
    ]
    rows = np.array(members, np.float64).reshape(-1, 3)
    return VertexWeights(rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32), rows[:, 2].astype(np.float32))


def gather_groups(obj: Object, data: typed.Mesh, extra: NDArray[np.int32]) -> tuple[list[str], VertexWeights | None]:
    """Return the names of an object's vertex groups without masks, and the weights of its mesh; [] and None without
    groups.

    ``extra`` as in `gather_vertex_groups`.
    """
    names = [group.name for group in obj.vertex_groups]
    if not names:
        return [], None
    weights = gather_vertex_groups(data, extra)
    kept = np.array([not name.startswith(MASK) for name in names])
    if not kept.all():
        rows, index = kept[weights.groups], np.cumsum(kept, dtype=np.int32) - 1
        weights = VertexWeights(weights.vertices[rows], index[weights.groups[rows]], weights.weights[rows])
    return [name for name in names if not name.startswith(MASK)], weights


def gather_vertex_groups(data: typed.Mesh, extra: NDArray[np.int32]) -> VertexWeights:
    """Return the weights of a mesh.

    ``extra``: for each vertex that the caller appends behind the last, the index of the vertex whose weights it gets.
    """
    weights, count = weights_of(data), len(data.vertices)
    if not len(extra):
        return weights
    starts = np.searchsorted(weights.vertices, extra)
    counts = np.searchsorted(weights.vertices, extra, side="right") - starts
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    members = np.repeat(starts, counts) + within
    return VertexWeights(
        np.concatenate([weights.vertices, np.repeat(count + np.arange(len(extra)), counts).astype(np.int32)]),
        np.concatenate([weights.groups, weights.groups[members]]),
        np.concatenate([weights.weights, weights.weights[members]]),
    )


_FACE_LAYERS = {"INT": "int", "FLOAT": "float", "BOOLEAN": "bool"}


@dataclass(frozen=True)
class ActiveFace:
    """The active face of a mesh.

    ``index`` of the polygon, ``material`` in its slot (None if empty), ``values`` by attribute name: those of its
    attributes that the mesh has on faces and that Blender can read in the current mode.
    """

    index: int
    material: Any
    values: dict[str, Any] = field(default_factory=dict)


def active_face(data: Any, names: Sequence[str]) -> ActiveFace | None:
    """Return the active face of a mesh with its values of the attributes ``names``; None without one. Evaluates
    nothing.
    """
    stored = [data.attributes.get(name) for name in names]
    own_layers = [
        attribute
        for attribute in stored
        if attribute is not None and attribute.domain == "FACE" and attribute.data_type in _FACE_LAYERS
    ]
    if not data.is_editmode:
        index = data.polygons.active
        if not 0 <= index < len(data.polygons):
            return None
        values = {layer.name: layer.data[index].value for layer in own_layers if index < len(layer.data)}
        return ActiveFace(index, _material_of_slot(data, data.polygons[index].material_index), values)
    # Reading a face moves the mesh's layers in memory, which invalidates the attributes found before.
    kinds = [(layer.name, _FACE_LAYERS[layer.data_type]) for layer in own_layers]
    edited: Any = bmesh.from_edit_mesh(data)
    face = edited.faces.active
    if face is None:
        return None
    values = {}
    for name, kind in kinds:
        layers = compat.face_layers(edited, kind)
        layer = layers.get(name) if layers is not None else None
        if layer is not None:
            values[name] = face[layer]
    return ActiveFace(face.index, _material_of_slot(data, face.material_index), values)


def active_value(data: Any, name: str, *, is_face: bool) -> int | None:
    """Return the value of an integer attribute of the active face, or vertex, in Edit Mode; 0 without the attribute,
    None without such an element. Evaluates nothing.
    """
    edited: Any = bmesh.from_edit_mesh(data)
    element = edited.faces.active if is_face else edited.select_history.active
    if not isinstance(element, bmesh.types.BMFace if is_face else bmesh.types.BMVert):
        return None
    layer = (edited.faces if is_face else edited.verts).layers.int.get(name)
    return int(element[layer]) if layer is not None else 0


def _material_of_slot(data: typed.Mesh, slot: int) -> Material | None:
    return data.materials[slot] if 0 <= slot < len(data.materials) else None
