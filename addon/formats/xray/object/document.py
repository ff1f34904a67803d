"""The document of an `.object`: a list of chunks in the file's own order, typed if their kind is known.

A file is one chunk 0x7777, compressed in the oldest files. It contains meshes, surfaces, bones, motions and
information. Editors find chunks by id and use the first one of each id.
"""

from __future__ import annotations

from typing import TypeVar

from ....core import names
from ....core.errors import WriteError
from .. import skl
from ..bones import Bone, Bones, Part, Parts
from ..contents import Contents
from ..ogf.chunk_types import MotionReferences, MotionReferences2
from .chunk_types import NumberedParts, Surface, Surfaces
from .mesh_chunks import MeshName, VertexMaps

OBJECT = 0x7777
MESHES, BONES, MOTIONS = 0x910, 0x921, 0x916
"""Ids of chunks that contain chunks or motions."""

WithLayout = TypeVar("WithLayout", VertexMaps, Surfaces)


def newest(contents: Contents, kind: type[WithLayout]) -> WithLayout | None:
    """Return the value with the newest layout, which is the one that editors use."""
    return max(contents.all(kind), key=lambda value: value.layout, default=None)


class Mesh(Contents):
    """A mesh: points, faces, vertex maps, smoothing, and the faces of each surface."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """The name as text, empty if the mesh has none."""
        name = self.first(MeshName)
        return names.decode(name.name) if name is not None else ""

    @property
    def maps(self) -> VertexMaps:
        """The vertex maps of the newest layout in the mesh, which are those that editors use."""
        return newest(self, VertexMaps) or VertexMaps([])


class Meshes(Contents):
    """The meshes of an object, each in a chunk of its own."""

    __slots__ = ()

    @property
    def meshes(self) -> list[Mesh]:
        """The meshes in the order of their chunk ids."""
        return self.all(Mesh)


class Model(Contents):
    """The body of chunk 0x7777."""

    __slots__ = ()

    @property
    def meshes(self) -> list[Mesh]:
        """The meshes in the order of their chunk ids."""
        chunk = self.first(Meshes)
        return chunk.meshes if chunk is not None else []

    @property
    def surfaces(self) -> list[Surface]:
        """The surfaces of the newest layout in the object, which are those that editors use."""
        chunk = newest(self, Surfaces)
        return chunk.surfaces if chunk is not None else []

    @property
    def bones(self) -> list[Bone]:
        """The bones in the order of their chunk ids."""
        chunk = self.first(Bones)
        return chunk.bones if chunk is not None else []

    @property
    def motions(self) -> list[skl.SkeletalMotion]:
        """The motions stored in the object."""
        chunk = self.first(skl.Skl)
        return chunk.motions if chunk is not None else []

    def with_motions(self, motions: skl.Skl) -> Model:
        """Return the model with other motions. Raises `WriteError` if its present motions could not be read."""
        damaged = [part for part in self.sections if part.chunk.plain_id == MOTIONS and len(part.chunk.body)]
        if damaged and self.first(skl.Skl) is None:
            raise WriteError("the motions inside the model are damaged", remedy="Write them to a file of their own")
        return self.with_value(MOTIONS, motions)

    @property
    def references(self) -> list[bytes]:
        """Names of motion files, from chunk 0x924 if there is one, else from 0x926, as editors read them."""
        references = self.first(MotionReferences) or self.first(MotionReferences2)
        return [name for name in references.names if name] if references is not None else []

    @property
    def parts(self) -> list[Part]:
        """The bone parts with names of bones; editors prefer the chunk with indices (0x919), if there is one."""
        numbered = self.first(NumberedParts)
        if numbered is None:
            named = self.first(Parts)
            return named.parts if named is not None else []
        labels = [names.encode(bone.name) for bone in self.bones]
        return [
            Part(part.name, [labels[bone] for bone in part.bones.tolist() if bone < len(labels)])
            for part in numbered.parts
        ]


class Object(Contents):
    """The whole file."""

    __slots__ = ()

    @property
    def model(self) -> Model:
        """The model of the file: the first chunk 0x7777 that could be read."""
        return next(section.value for section in self.sections if isinstance(section.value, Model))

    def with_model(self, changed: Model) -> Object:
        """Return the same file with its model replaced."""
        return self.replaced(self.model, changed)
