"""What an object of the editor says: a run of chunks, each typed where its kind is known, in the file's own order.

A file is one chunk 0x7777, in the oldest files compressed; in it meshes, surfaces, bones, motions and words. Editors
find chunks by id: the first of an id counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from ....core import names
from ....core.binary import Bytes
from ....core.errors import WriteError
from .. import skl
from ..bones import Bone, Bones, Part, Parts
from ..chunks import Chunk, Section
from ..ogf.chunk_types import MotionReferences, MotionReferences2
from .chunk_types import NumberedParts, Surface, Surfaces
from .mesh_chunks import MeshName, VertexMaps

OBJECT = 0x7777
MESHES, BONES, MOTIONS = 0x910, 0x921, 0x916
"""Ids of chunks that hold chunks or motions."""

Kind = TypeVar("Kind")


@dataclass(slots=True, eq=False)
class Contents:
    """A run of chunks: ``sections`` in the file's order, and the bytes behind the last."""

    sections: list[Section[Any]] = field(default_factory=list)
    tail: Bytes = b""

    def first(self, kind: type[Kind]) -> Kind | None:
        """The first chunk of a kind, or None."""
        for section in self.sections:
            if isinstance(section.value, kind):
                return section.value
        return None

    def replaced(self, old: object, new: Any) -> Self:
        """The same chunks with ``new`` instead of the value ``old``."""
        sections = [Section(part.chunk, new if part.value is old else part.value) for part in self.sections]
        return type(self)(sections, self.tail)


class Mesh(Contents):
    """A mesh: points, faces, vertex maps, smoothing, which faces have which surface."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """The name as text."""
        name = self.first(MeshName)
        return names.decode(name.name) if name is not None else ""

    @property
    def maps(self) -> VertexMaps:
        """The vertex maps of the newest layout that the mesh has, as editors take them."""
        found = [section.value for section in self.sections if isinstance(section.value, VertexMaps)]
        return max(found, key=lambda maps: maps.layout, default=VertexMaps([]))


class Meshes(Contents):
    """The meshes of an object, each in a chunk of its own."""

    __slots__ = ()

    @property
    def meshes(self) -> list[Mesh]:
        """The meshes in the order of their numbers."""
        found = [(part.chunk.plain_id, part.value) for part in self.sections if isinstance(part.value, Mesh)]
        return [mesh for _, mesh in sorted(found, key=lambda pair: pair[0])]


class Model(Contents):
    """The body of chunk 0x7777."""

    __slots__ = ()

    @property
    def meshes(self) -> list[Mesh]:
        """The meshes in the order of their numbers."""
        found = self.first(Meshes)
        return found.meshes if found is not None else []

    @property
    def surfaces(self) -> list[Surface]:
        """The surfaces of the newest layout that the object has, as editors take them."""
        found = [section.value for section in self.sections if isinstance(section.value, Surfaces)]
        return max(found, key=lambda surfaces: surfaces.layout).surfaces if found else []

    @property
    def bones(self) -> list[Bone]:
        """The bones in the order of their numbers."""
        found = self.first(Bones)
        return found.bones if found is not None else []

    @property
    def motions(self) -> list[skl.SkeletalMotion]:
        """The motions inside."""
        found = self.first(skl.Skl)
        return found.motions if found is not None else []

    def with_motions(self, motions: skl.Skl) -> Model:
        """The model with other motions inside. Raises `WriteError` if those that it has cannot be read."""
        old = self.first(skl.Skl)
        if old is not None:
            return self.replaced(old, motions)
        for place, part in enumerate(self.sections):
            if part.chunk.plain_id == MOTIONS and len(part.chunk.body):
                raise WriteError("the motions inside the model are damaged", remedy="Write them to a file of their own")
            if part.chunk.plain_id == MOTIONS:
                return Model(
                    [*self.sections[:place], Section(part.chunk, motions), *self.sections[place + 1 :]], self.tail
                )
        return Model([*self.sections, Section(Chunk(MOTIONS, b""), motions)], self.tail)

    @property
    def references(self) -> list[bytes]:
        """Names of motion files: the list of the later editors first, as they read it."""
        found = self.first(MotionReferences) or self.first(MotionReferences2)
        return [name for name in found.names if name] if found is not None else []

    @property
    def parts(self) -> list[Part]:
        """The bone parts by names of bones; those by indices are preferred, as editors do."""
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
    """The file."""

    __slots__ = ()

    @property
    def model(self) -> Model:
        """What the file is there for."""
        return next(section.value for section in self.sections if isinstance(section.value, Model))

    def with_model(self, changed: Model) -> Object:
        """The same file with another model in the place of the first."""
        return self.replaced(self.model, changed)
