"""The look of faces back into their records: textures by their number in the table, colours as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.model import Material, PolygonMesh
from .. import strings
from .geometry import SubObject
from .mesh import looks

DEFAULT_COLOUR = (128, 128, 128)
"""Of faces without texture and without a colour."""


@dataclass
class TextureTable:
    """The file's names, to which new ones are added; ``stored`` with their NUL."""

    stored: list[bytes]
    labels: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.labels = [strings.decode(name) for name in self.stored]

    def number(self, name: str) -> int:
        """The first entry of this name, as written or in another case; a new one where there is none."""
        lowered = [label.lower() for label in self.labels]
        if name in self.labels:
            return self.labels.index(name)
        if name.lower() in lowered:
            return lowered.index(name.lower())
        self.stored.append(strings.encode(name))
        self.labels.append(name)
        return len(self.labels) - 1


@dataclass(frozen=True, eq=False)
class Faced:
    """Faces in file order: ``source`` (faces,) the base's row or -1, ``mesh`` (faces,) the mesh's face or -1."""

    source: NDArray[np.int64]
    mesh: NDArray[np.int64]


def encode_looks(
    mesh: PolygonMesh, base: SubObject, faces: Faced, rows: NDArray[Any], textures: TextureTable
) -> NDArray[np.bool_]:
    """Write textures and colours into ``rows`` where they are no longer the base's; (faces,) where."""
    old_looks, old_index = looks(base.faces, textures.labels)
    known = {look_key(material): number for number, material in enumerate(old_looks)}
    index = np.zeros(len(mesh.counts), np.int64) if mesh.material_index is None else mesh.material_index
    materials = mesh.materials
    wanted = np.array([known.get(look_key(material), -1) for material in materials], np.int64)
    own = np.flatnonzero(faces.mesh >= 0)
    painted = np.zeros(len(rows), np.bool_)
    fresh = own[faces.source[own] < 0] if not materials else own
    if materials:
        number = np.clip(index[faces.mesh[own]], 0, len(materials) - 1)
        before = np.where(
            faces.source[own] >= 0, old_index[np.maximum(faces.source[own], 0)] if len(old_index) else 0, -2
        )
        fresh = own[(before < 0) | (before != wanted[number])]
    painted[fresh] = True
    for place, material in enumerate(materials or [Material("")]):
        here = fresh[np.clip(index[faces.mesh[fresh]], 0, max(len(materials) - 1, 0)) == place]
        if not len(here):
            continue
        textured = bool(material.texture)
        rows["textured"][here] = int(textured)
        rows["texture"][here] = textures.number(material.texture) if textured else -1
        rows["colour"][here] = (0, 0, 0) if textured else material.colour or DEFAULT_COLOUR
    return painted


def look_key(material: Material) -> tuple[str, object]:
    """What tells one look from another: not the material's name."""
    return material.texture or material.name if material.colour is None else "", material.colour
