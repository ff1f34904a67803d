"""The document of an `.ogf`: a visual as a list of chunks in the file's own order, typed if their kind is known.

A model is a tree: a skeleton or a hierarchy has children, each a complete visual with one texture, one vertex buffer
and one index buffer. Sources: the engine's ``FMesh.hpp``, ``SkeletonCustom.cpp`` and ``SkeletonX.cpp`` and the editor's
``ExportSkeleton.cpp``; version 3 (builds 1098 to 1865) from one real file and the tools for old builds. Unknown, and
kept as bytes, are child references (5), progressive data (9) and full-float motions (0xE) of version 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import PurePath

from ....core import names
from ....core.records import Record
from ..chunks import Section
from ..contents import Contents
from ..omf.document import MotionLibrary, MotionSet, Parameters
from .chunk_types import (
    Header,
    LodPath,
    MotionReferences,
    MotionReferences2,
)

HEADER = 1
"""Id of the header chunk, which every visual must have."""
LOD = 23
"""Id of the chunk of version 4 with the path of the model shown at a distance."""


class VisualType(IntEnum):
    """The type of a visual of version 4, which selects the engine's class for it."""

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
    """The type of a visual of version 3, in builds before 2004."""

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


class Children(Contents):
    """The children of a visual: ``sections`` 0 to n-1, whose values are `Ogf`, and the bytes after the last chunk."""

    __slots__ = ()


class FastPath(Contents):
    """Chunk 22: the positions-only copy of a level's geometry, as a container and perhaps sliding windows."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Ogf(Contents):
    """A visual: its chunks in the file's order. ``file`` is the name of the file it was read from."""

    file: str = field(default="", compare=False)

    @property
    def header(self) -> Header:
        """The header; `read` refuses a visual without one."""
        header = self.first(Header)
        assert header is not None  # noqa: S101 - `read` refuses a visual without one
        return header

    @property
    def children(self) -> list[Ogf]:
        """The child visuals in the file's order, without those that could not be read."""
        children = self.first(Children)
        return children.all(Ogf) if children else []

    @property
    def runs_past_end(self) -> bool:
        """Whether a chunk declares more bytes than the file has: sizes are wrong, or the file was cut off."""
        return any(section.chunk.declared is not None for section in self.sections)

    @property
    def name(self) -> str:
        """The name of the file without folder and suffix."""
        return PurePath(self.file.replace("\\", "/")).stem


Value = Record | Contents | MotionLibrary | Parameters
"""The types of all known chunks."""


@dataclass(frozen=True, slots=True)
class Part:
    """A visual with geometry of its own; ``path`` are the child indices that lead to it, () for the model itself."""

    path: tuple[int, ...]
    visual: Ogf


def parts(document: Ogf) -> Iterator[Part]:
    """Yield the visuals that contain no children, in the file's order.

    They have vertices of their own, or refer to those of the level.
    """
    yield from _parts(document, ())


def part_name(document: Ogf, part: Part) -> str:
    """Return the name of a part's mesh: ``model``, or ``model_02`` for its third child."""
    return "_".join([document.name, *(f"{number:02}" for number in part.path)])


def _parts(visual: Ogf, path: tuple[int, ...]) -> Iterator[Part]:
    children = visual.first(Children)
    if children is None:
        yield Part(path, visual)
        return
    for number, section in enumerate(children.sections):
        if isinstance(section.value, Ogf):
            yield from _parts(section.value, (*path, number))


def with_parts(document: Ogf, changed: dict[tuple[int, ...], Ogf]) -> Ogf:
    """Return the same tree with other visuals at these paths; all others are shared with ``document``.

    Raises `KeyError` if there is no visual at a path.
    """
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
        inner = {path[1:]: visual for path, visual in changed.items() if path[0] == number}
        sections[number] = Section(sections[number].chunk, with_parts(child, inner), sections[number].tail)
    return document.replaced(children, Children(sections, children.tail))


def motion_set_of(document: Ogf) -> MotionSet | None:
    """Return the motions of a model; None if it lacks one of the two chunks, or both."""
    library, parameters = document.first(MotionLibrary), document.first(Parameters)
    return MotionSet(library, parameters) if library is not None and parameters is not None else None


def with_motion_set(document: Ogf, changed: MotionSet) -> Ogf:
    """Return the same model with its motions replaced. Raises `KeyError` if `motion_set_of` finds none in it."""
    old = motion_set_of(document)
    if old is None:
        raise KeyError(document.name)
    return document.mapped(old, changed)


def lod_path(document: Ogf) -> str:
    """Return the path of the model shown at a distance, "" for none; as in the game, a zero byte ends it."""
    lod = document.first(LodPath)
    return names.decode(lod.path.partition(b"\0")[0]) if lod is not None else ""


def reference_names(document: Ogf) -> list[str]:
    """Return the motion references of a model as stored."""
    listed = document.first(MotionReferences2) or document.first(MotionReferences)
    return [names.decode(name) for name in listed.names] if listed else []
