"""Text output for an `.object`: a summary, a complete dump for text tools, the differences of two files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ....core import names
from ....core.report import counted
from ....core.text import extent, value_differences, value_lines
from .. import bones, skl
from ..chunks import Chunk, Section, chunk_heading, section_differences
from ..contents import Contents
from ..ogf.text import kind_word
from .chunk_types import DYNAMIC, Authorship, ObjectFlags, Surface
from .document import Mesh, Object
from .mesh_chunks import Faces, Points, SurfaceFaces, VertexMap
from .smoothing import Rule, rule_of

_RULE_WORDS = {
    Rule.NORMALS: "normals stored",
    Rule.EDGES: "smoothing by edges",
    Rule.GROUPS: "smoothing by groups",
    Rule.MASKS: "smoothing by masks",
}
_KIND_WORDS = {skl.Skl: "motions"}


def describe(document: Object) -> list[str]:
    """Return a summary in a few lines."""
    model = document.model
    flags = model.first(ObjectFlags)
    number = flags.flags if flags is not None else 0
    kind = "dynamic" if number & DYNAMIC else "static"
    lines = [
        ", ".join(
            (
                f"{kind} (flags {number:#x})",
                counted(len(model.meshes), "mesh", "meshes"),
                counted(len(model.surfaces), "surface"),
                counted(len(model.bones), "bone"),
            )
        )
    ]
    lines += [f"mesh {mesh.label!r}: {', '.join(_mesh_words(mesh))}" for mesh in model.meshes]
    for surface in model.surfaces:
        material = f", game material {names.decode(surface.material)}" if surface.material is not None else ""
        lines.append(
            f"surface {surface.label!r}: texture {names.decode(surface.texture) or 'none'}, "
            f"shader {names.decode(surface.shader)}{material}{', two-sided' if surface.flags & 1 else ''}"
        )
    if model.parts:
        lines.append(
            "bone parts: " + ", ".join(f"{names.decode(part.name)} ({len(part.bones)})" for part in model.parts)
        )
    if model.references:
        lines.append("motion files: " + ", ".join(map(names.decode, model.references)))
    if model.motions:
        lines += [f"motions inside: {line}" for line in skl.describe(skl.new_skls(model.motions))]
    author = model.first(Authorship)
    if author is not None and author.creator:
        lines.append(f"made by {names.decode(author.creator)!r}")
    return lines


def _mesh_words(mesh: Mesh) -> Iterator[str]:
    points, faces = mesh.first(Points), mesh.first(Faces)
    if points is not None:
        yield f"{counted(len(points.positions), 'point')}, {extent(points.positions)}"
    if faces is not None:
        yield counted(len(faces.corners), "face")
        yield _RULE_WORDS[rule_of(mesh)]
    yield counted(len(mesh.maps.maps), "vertex map")


# Dump ----------------------------------------------------------------------------------------------------------------


def dump(document: Object) -> Iterator[str]:
    """Yield the complete content, one value or row of numbers per line."""
    yield from _dump_contents(document)


def _dump_contents(contents: Contents) -> Iterator[str]:
    for section in contents.sections:
        yield f"{chunk_heading(section.chunk)} {_section_word(section)}"
        yield from (f"  {line}" for line in _dump_value(section))
    if len(contents.tail):
        yield f"tail {bytes(contents.tail).hex()}"


def _section_word(section: Section[Any]) -> str:
    if section.value is None:
        return "bytes"
    kind = type(section.value)
    return _KIND_WORDS.get(kind) or kind_word(kind)


def _dump_value(section: Section[Any]) -> Iterator[str]:
    value = section.value
    if value is None:
        if len(section.chunk.body):
            yield bytes(section.chunk.body).hex()
    elif isinstance(value, bones.Bones):
        yield from bones.dump(value)
    elif isinstance(value, Contents):
        yield from _dump_contents(value)
    elif isinstance(value, skl.Skl):
        yield from skl.dump(value)
    else:
        yield from value_lines("", value)


# Differences ---------------------------------------------------------------------------------------------------------


def differences(first: Object, second: Object) -> Iterator[str]:
    """Yield the differences of two objects by chunk, mesh, bone, motion and field."""
    yield from _contents_differences("", first, second)


def _contents_differences(path: str, one: Contents, other: Contents) -> Iterator[str]:
    return section_differences(path, one, other, _place, partial(_section_differences, path))


def _place(section: Section[Any]) -> str:
    if isinstance(section.value, Mesh):
        return f"mesh {section.value.label!r}"
    return _section_word(section) if section.value is not None else f"chunk {section.chunk.plain_id:#x}"


def _section_differences(path: str, one: Section[Any], other: Section[Any]) -> Iterator[str]:
    place = f"{path}{_place(one)}"
    first: Any = one.value
    second: Any = other.value
    if _storage(one.chunk) != _storage(other.chunk):
        yield f"{place}: chunk id, declared size or packing differ"
    if type(first) is not type(second):
        yield f"{place}: {_section_word(one)} / {_section_word(other)}"
    elif first is None:
        if one.chunk.body != other.chunk.body:
            yield f"{place}: its bytes differ"
    elif isinstance(first, bones.Bones):
        yield from bones.differences(first, second)
    elif isinstance(first, Contents):
        yield from _contents_differences(f"{place}: " if isinstance(first, Mesh) else "", first, second)
    elif isinstance(first, skl.Skl):
        yield from skl.differences(first, second)
    else:
        yield from value_differences(place, first, second, entry=_entry)


def _storage(chunk: Chunk) -> tuple[int, int | None, bytes | None]:
    return chunk.id, chunk.declared, None if chunk.packed is None else bytes(chunk.packed)


def _entry(entry: Any, number: int) -> str:
    if isinstance(entry, Surface | SurfaceFaces):
        return repr(entry.label)
    return f"{number} {entry.label!r}" if isinstance(entry, VertexMap) else str(number)
