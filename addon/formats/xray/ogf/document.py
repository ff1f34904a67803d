"""What an `.ogf` says: a visual as a run of chunks, each typed where its kind is known, in the file's own order.

A model is a tree: a skeleton or a hierarchy holds children, each a whole visual of its own with one texture, one vertex
buffer and one index buffer. Known from the engine's ``FMesh.hpp``, ``SkeletonCustom.cpp`` and ``SkeletonX.cpp`` and the
editor's ``ExportSkeleton.cpp``; version 3 (builds 1098 to 1865) from one real file and the tools for old builds.
Not known: version 3's child references (5), progressive data (9) and full-float motions (0xE); they stay bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import PurePath
from typing import TypeVar

from ....core.binary import Bytes
from ..chunks import Section
from ..omf.document import MotionLibrary, MotionSet, Parameters
from .chunk_types import (
    BoneNames,
    Bounds,
    Description,
    GeometryContainer,
    Header,
    IkData,
    IndexContainer,
    Indices,
    Links,
    LodFaces,
    LodPath,
    MotionReferences,
    MotionReferences2,
    SlidingWindows,
    Sphere,
    SwiContainer,
    Texture,
    TextureLinks,
    TreeShape,
    UserData,
    VertexContainer,
    Vertices,
)

HEADER = 1
"""The chunk that makes a visual."""
CHILDREN_3, CHILDREN_4 = 0x11, 0x09


class VisualType(IntEnum):
    """What the engine makes of a visual of version 4."""

    NORMAL = 0
    HIERARCHY = 1
    PROGRESSIVE = 2
    SKELETON_ANIMATED = 3
    SKINNED_PROGRESSIVE = 4
    SKINNED_STRIP = 5
    LOD = 6
    TREE = 7
    PARTICLE_EFFECT = 8
    PARTICLE_GROUP = 9
    SKELETON_RIGID = 10
    TREE_PROGRESSIVE = 11
    FLUID = 12


class OldVisualType(IntEnum):
    """What the builds before 2004 made of a visual of version 3."""

    NORMAL = 0
    HIERARCHY = 1
    PROGRESSIVE = 2
    SKINNED_PROGRESSIVE = 3
    SKELETON_ANIMATED = 4
    DETAIL_PATCH = 6
    SKINNED_STRIP = 7
    CACHED = 8
    PARTICLE = 9
    PROGRESSIVE_2 = 10
    LOD = 11
    TREE = 12
    SKELETON_RIGID = 15


@dataclass(slots=True)
class Children:
    """Visuals 0 .. n-1, each a chunk: ``sections`` whose values are `Ogf`, and what lies behind the last."""

    sections: list[Section[Value]]
    tail: Bytes = b""


@dataclass(slots=True)
class FastPath:
    """Chunk 22: where the positions-only copy of a level's geometry lies (a container, perhaps sliding windows)."""

    sections: list[Section[Value]]
    tail: Bytes = b""


@dataclass(slots=True)
class Ogf:
    """A visual: its chunks in order. ``file`` is the name it was read under."""

    sections: list[Section[Value]]
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def header(self) -> Header:
        """The header, which reading made sure of."""
        header = self.first(Header)
        assert header is not None  # noqa: S101 - `read` refuses a visual without one
        return header

    def first(self, kind: type[Wanted]) -> Wanted | None:
        """The first value of a kind, which is the one the engine takes; None where there is none."""
        return next((section.value for section in self.sections if isinstance(section.value, kind)), None)

    @property
    def children(self) -> list[Ogf]:
        """The visuals inside, in file order; those that could not be read are not among them."""
        children = self.first(Children)
        return [s.value for s in children.sections if isinstance(s.value, Ogf)] if children else []

    @property
    def name(self) -> str:
        """The file's name without folder and suffix."""
        return PurePath(self.file.replace("\\", "/")).stem

    def replaced(self, old: Value, new: Value | None) -> Ogf:
        """The same visual with one value changed for another, or its chunk left out."""
        sections = []
        for section in self.sections:
            if section.value is not old:
                sections.append(section)
            elif new is not None:
                sections.append(Section(section.chunk, new, section.tail))
        return Ogf(sections, self.tail, self.file)


Value = (
    Header
    | Texture
    | TextureLinks
    | Vertices
    | Indices
    | SlidingWindows
    | VertexContainer
    | IndexContainer
    | GeometryContainer
    | SwiContainer
    | Links
    | LodFaces
    | TreeShape
    | Bounds
    | Sphere
    | BoneNames
    | IkData
    | UserData
    | Description
    | MotionReferences
    | MotionReferences2
    | LodPath
    | Children
    | FastPath
    | MotionLibrary
    | Parameters
    | Ogf
)
"""Everything a chunk can mean."""
Wanted = TypeVar(
    "Wanted",
    Header,
    Texture,
    Vertices,
    Indices,
    SlidingWindows,
    VertexContainer,
    GeometryContainer,
    Bounds,
    Sphere,
    BoneNames,
    IkData,
    UserData,
    Description,
    MotionReferences,
    MotionReferences2,
    Children,
    MotionLibrary,
    Parameters,
    LodPath,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A visual with geometry of its own; ``path`` leads to it by child numbers, () is the model itself."""

    path: tuple[int, ...]
    visual: Ogf


def parts(document: Ogf) -> Iterator[Part]:
    """The visuals of the tree that hold a vertex buffer or point to one, in file order."""
    yield from _parts(document, ())


def _parts(visual: Ogf, path: tuple[int, ...]) -> Iterator[Part]:
    children = visual.first(Children)
    if children is None:
        yield Part(path, visual)
        return
    for number, section in enumerate(children.sections):
        if isinstance(section.value, Ogf):
            yield from _parts(section.value, (*path, number))


def with_parts(document: Ogf, changed: dict[tuple[int, ...], Ogf]) -> Ogf:
    """The same tree with other visuals at these paths; everything else is shared with the old one."""
    if not changed:
        return document
    if () in changed:
        return changed[()]
    children = document.first(Children)
    if children is None:
        raise KeyError(next(iter(changed)))
    sections = list(children.sections)
    for number in {path[0] for path in changed}:
        child = sections[number].value
        if not isinstance(child, Ogf):
            raise KeyError(number)
        below = {path[1:]: visual for path, visual in changed.items() if path[0] == number}
        sections[number] = Section(sections[number].chunk, with_parts(child, below), sections[number].tail)
    return document.replaced(children, Children(sections, children.tail))


def motion_set_of(document: Ogf) -> MotionSet | None:
    """The motions of a model, or None where it has none (or only one of the two chunks)."""
    library, parameters = document.first(MotionLibrary), document.first(Parameters)
    return MotionSet(library, parameters) if library is not None and parameters is not None else None


def with_motion_set(document: Ogf, changed: MotionSet) -> Ogf:
    """The same model with other motions in the place of its own; `motion_set_of` must have found some."""
    old = motion_set_of(document)
    if old is None:
        raise KeyError(document.name)
    return document.replaced(old.library, changed.library).replaced(old.parameters, changed.parameters)
