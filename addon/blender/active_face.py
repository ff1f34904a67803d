"""The active face of a mesh, the one clicked last, in edit and object mode: its material and attributes, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bmesh

from . import compat

_LAYERS = {"INT": "int", "FLOAT": "float", "BOOLEAN": "bool"}


@dataclass(frozen=True)
class ActiveFace:
    """``index`` of the polygon, Blender's ``material`` in its slot (None for none), ``values`` of its attributes by
    name: those the mesh has on faces and Blender can read in this mode.
    """

    index: int
    material: Any
    values: dict[str, Any] = field(default_factory=dict)


def read(data: Any, names: Sequence[str]) -> ActiveFace | None:
    """The active face of a mesh with these of its attributes; None where no face is active. Nothing is evaluated."""
    stored = [data.attributes.get(name) for name in names]
    found = [one for one in stored if one is not None and one.domain == "FACE" and one.data_type in _LAYERS]
    if not data.is_editmode:
        index = data.polygons.active
        if not 0 <= index < len(data.polygons):
            return None
        values = {one.name: one.data[index].value for one in found if index < len(one.data)}
        return ActiveFace(index, _material(data, data.polygons[index].material_index), values)
    # Looking at a face moves the mesh's layers in memory, and attributes found before are then others.
    kinds = [(one.name, _LAYERS[one.data_type]) for one in found]
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
    return ActiveFace(face.index, _material(data, face.material_index), values)


def _material(data: Any, slot: int) -> Any:
    return data.materials[slot] if 0 <= slot < len(data.materials) else None
