"""Text output for an `.ogf`: a summary, a complete dump, the differences of two files, and what the engine refuses.

The refusals are known from ``SkeletonCustom.cpp`` and ``FMesh.cpp``. Motions inside have rules of their own
(`omf.edit`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....core import names
from ....core.errors import ReadError
from ....core.report import Report
from ....core.text import value_differences, value_lines
from ..chunks import Chunk, Section, section_differences
from ..omf.document import MotionLibrary, MotionSet, Parameters
from ..omf.text import describe_motions, dump_library, dump_parameters, motion_set_differences
from .chunk_types import (
    BoneName,
    BoneNames,
    Header,
    IkData,
    Indices,
    LodPath,
    MotionReferences,
    MotionReferences2,
    SlidingWindows,
    Texture,
    Vertices,
)
from .document import Children, FastPath, Ogf, OldVisualType, Value, VisualType, parts
from .skeleton import decode_skeleton

_KIND_WORDS: dict[type, str] = {BoneNames: "bones", IkData: "physics", Ogf: "model"}
"""Chunk types whose class name is not the word shown for them."""
_IMPLIED_FIELDS = ("bones", "names", "rows")
"""Names of fields that are not shown, because the word for the chunk type already names the content."""
_SKELETONS = (VisualType.SKELETON_ANIMATED, VisualType.SKELETON_RIGID)


def type_name(header: Header) -> str:
    """Return the name of a visual's type, such as ``skeleton animated``; ``type 99`` if it is unknown."""
    kinds = VisualType if header.version == 4 else OldVisualType
    try:
        return kinds(header.type).name.lower().replace("_", " ")
    except ValueError:
        return f"type {header.type}"


def describe(document: Ogf) -> list[str]:
    """Return a summary in a few lines."""
    header = document.header
    listed = document.first(BoneNames)
    lines = [f"version {header.version}, {type_name(header)}, {len(listed.bones) if listed else 0} bones"]
    for part in parts(document):
        place = f"mesh {'.'.join(map(str, part.path))}" if part.path else "mesh"
        lines.append(f"{place}: {', '.join(_geometry_words(part.visual))}")
    for references in (document.first(MotionReferences), document.first(MotionReferences2)):
        if references is not None:
            found = ", ".join(names.decode(name) for name in references.names)
            lines.append(f"motion files: {found or 'none'}")
    lod = document.first(LodPath)
    if lod is not None:
        lines.append(f"LOD: {names.decode(lod.path)}")
    library, parameters = document.first(MotionLibrary), document.first(Parameters)
    if library is not None and parameters is not None:
        lines += [f"motions inside: {line}" for line in describe_motions(MotionSet(library, parameters))]
    return lines


def _geometry_words(visual: Ogf) -> Iterator[str]:
    yield type_name(visual.header)
    vertices, indices = visual.first(Vertices), visual.first(Indices)
    if vertices is not None:
        links = f"{vertices.links} bones each" if vertices.links > 1 else "1 bone each" if vertices.links else "static"
        yield f"{len(vertices.rows)} vertices ({links}, format {vertices.format:#x})"
    windows, texture = visual.first(SlidingWindows), visual.first(Texture)
    if indices is not None:
        finest = len(indices.corners) // 3
        if windows is not None and len(windows.windows):
            finest = int(windows.windows["triangles"][0])
        yield f"{finest} triangles"
    if windows is not None:
        yield f"{len(windows.windows)} levels of detail"
    if texture is not None:
        yield f"texture {names.decode(texture.texture)}, shader {names.decode(texture.shader)}"


# Dump ----------------------------------------------------------------------------------------------------------------


def dump(document: Ogf) -> Iterator[str]:
    """Yield the complete content, one value or row of numbers per line. Files with equal dumps have equal bytes."""
    yield from _dump_chunks(document, document, "")


def _dump_chunks(holder: Ogf | Children | FastPath, model: Ogf, indent: str) -> Iterator[str]:
    for section in holder.sections:
        chunk = section.chunk
        yield f"{indent}chunk {chunk.id:#x} {_section_word(section)}{_storage_words(chunk)}"
        yield from _dump_section(section, model, indent + "  ")
    if len(holder.tail):
        yield f"{indent}tail {bytes(holder.tail).hex()}"


def _storage_words(chunk: Chunk) -> str:
    declared = f" declared size {chunk.declared}" if chunk.declared is not None else ""
    return declared + (f" packed {bytes(chunk.packed).hex()}" if chunk.packed is not None else "")


def _section_word(section: Section[Value]) -> str:
    return kind_word(type(section.value)) if section.value is not None else "bytes"


def kind_word(kind: type) -> str:
    """Return the word shown for a chunk type: ``sliding windows`` for `SlidingWindows`."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)
    return _KIND_WORDS.get(kind, spaced.strip())


def _dump_section(section: Section[Value], model: Ogf, indent: str) -> Iterator[str]:
    value = section.value
    if value is None:
        if len(section.chunk.body):
            yield f"{indent}{bytes(section.chunk.body).hex()}"
    elif isinstance(value, Ogf):
        yield from _dump_chunks(value, value, indent)
    elif isinstance(value, Children | FastPath):
        yield from _dump_chunks(value, model, indent)
    elif isinstance(value, MotionLibrary):
        parameters = model.first(Parameters) or Parameters(0, [], [])
        yield from (f"{indent}{line}" for line in dump_library(value, parameters))
    elif isinstance(value, Parameters):
        yield from (f"{indent}{line}" for line in dump_parameters(value))
    else:
        yield from (f"{indent}{line}" for line in value_lines("", value))
    if len(section.tail):
        yield f"{indent}tail {bytes(section.tail).hex()}"


# Differences ---------------------------------------------------------------------------------------------------------


def differences(first: Ogf, second: Ogf) -> Iterator[str]:
    """Yield the differences of two models by chunk, child, bone and field."""
    yield from _chunk_differences("", first, second)


def _chunk_differences(path: str, one: Any, other: Any) -> Iterator[str]:
    """Yield the differences of two visuals, or of two lists of children."""

    def place(section: Section[Value]) -> str:
        return _place(section, path)

    def of_pair(mine: Section[Value], theirs: Section[Value]) -> Iterator[str]:
        return _section_differences(path, mine, theirs, one, other)

    return section_differences(path, one, other, place, of_pair)


def _place(section: Section[Value], path: str) -> str:
    if isinstance(section.value, Ogf) and path.endswith("children "):
        return f"child {section.chunk.plain_id}"
    return _section_word(section) if section.value is not None else f"chunk {section.chunk.id:#x}"


def _section_differences(
    path: str, one: Section[Value], other: Section[Value], model: Any, other_model: Any
) -> Iterator[str]:
    place = f"{path}{_place(one, path)}"
    first, second = one.value, other.value
    if one.chunk.id != other.chunk.id:
        yield f"{place}: chunk id {one.chunk.id:#x} / {other.chunk.id:#x}"
    if (one.chunk.declared, one.chunk.packed) != (other.chunk.declared, other.chunk.packed):
        yield f"{place}: declared size or packing differ"
    if type(first) is not type(second):
        yield f"{place}: {_section_word(one)} / {_section_word(other)}"
    elif first is None:
        if one.chunk.body != other.chunk.body:
            yield f"{place}: its bytes differ"
    elif isinstance(first, Ogf | Children | FastPath):
        label = "" if isinstance(first, Children) and not path else path.removesuffix("children ")
        path_of_children = f"{label}children " if isinstance(first, Children) else f"{place.replace('children ', '')}: "
        yield from _chunk_differences(path_of_children, first, second)
    elif isinstance(first, MotionLibrary | Parameters) and isinstance(second, MotionLibrary | Parameters):
        yield from _motion_differences(place, first, second, model, other_model)
    else:
        yield from _value_differences(place, first, second, _labels(model))
    if one.tail != other.tail:
        yield f"{place}: bytes left over differ"


def _labels(model: Any) -> list[str]:
    listed = model.first(BoneNames) if isinstance(model, Ogf) else None
    return [bone.label for bone in listed.bones] if listed else []


def _motion_differences(
    place: str, a: MotionLibrary | Parameters, b: MotionLibrary | Parameters, model: Ogf, other: Ogf
) -> Iterator[str]:
    """Yield the differences of motions and of their parameters, all at the chunk of the motions."""
    sets = []
    for visual in (model, other):
        library, parameters = visual.first(MotionLibrary), visual.first(Parameters)
        sets.append(MotionSet(library, parameters) if library is not None and parameters is not None else None)
    if sets[0] is None or sets[1] is None:
        yield from _value_differences(place, a, b, [])
    elif isinstance(a, MotionLibrary):
        yield from motion_set_differences(sets[0], sets[1])


def _value_differences(place: str, a: Any, b: Any, labels: list[str]) -> Iterator[str]:
    def word(name: str) -> str:
        return "" if name in _IMPLIED_FIELDS else f" {name.replace('_', ' ')}"

    yield from value_differences(place, a, b, word, lambda entry, number: _label(entry, number, labels))


def _label(entry: Any, number: int, labels: list[str]) -> str:
    if isinstance(entry, BoneName):
        return repr(entry.label)
    if dataclasses.is_dataclass(entry) and number < len(labels):
        return repr(labels[number])
    return str(number)


# Problems ------------------------------------------------------------------------------------------------------------


def problems(document: Ogf) -> Iterator[str]:
    """Yield a sentence for each problem that the engine would refuse; for motions inside see `omf.edit`."""
    bones = document.first(BoneNames)
    if bones is not None or (document.header.version == 4 and document.header.type in _SKELETONS):
        yield from _skeleton_problems(document, bones)
    for part in parts(document):
        place = f"mesh {'.'.join(map(str, part.path))}" if part.path else "the mesh"
        found = _mesh_problems(part.visual, None if bones is None else len(bones.bones))
        yield from (f"{place}: {sentence}" for sentence in found)


def _skeleton_problems(document: Ogf, bones: BoneNames | None) -> Iterator[str]:
    report = Report()
    try:
        decode_skeleton(document, report)
    except ReadError as refusal:
        yield refusal.problem
    for finding, places in report.warnings.items():
        named = ", ".join(filter(None, places))
        yield f"{finding} ({named})" if named else finding
    if any(not bone.name for bone in (bones.bones if bones is not None else ())):
        yield "a bone without a name"
    sources = document.first(MotionLibrary), document.first(MotionReferences), document.first(MotionReferences2)
    animated = document.header.version == 4 and document.header.type == VisualType.SKELETON_ANIMATED
    if animated and not any(source is not None for source in sources):
        yield "an animated skeleton without motions or references to motions"


def _mesh_problems(visual: Ogf, bones: int | None) -> Iterator[str]:
    vertices, indices, texture = visual.first(Vertices), visual.first(Indices), visual.first(Texture)
    if texture is not None and not (texture.texture and texture.shader):
        yield "the texture or the shader has no name"
    if vertices is None or indices is None:
        return
    corners, count = indices.corners, len(vertices.rows)
    if len(corners) % 3:
        yield f"{len(corners)} corners do not make whole triangles"
    if len(corners) and int(corners.max()) >= count:
        yield f"triangles refer to vertices beyond the last of {count}"
    if vertices.links and bones is not None and count and int(vertices.rows["bones"].max()) >= bones:
        yield f"vertices follow bone {int(vertices.rows['bones'].max())}, the model has {bones}"
    windows = visual.first(SlidingWindows)
    if windows is not None and len(windows.windows):
        ends = windows.windows["offset"].astype(np.int64) + 3 * windows.windows["triangles"].astype(np.int64)
        if int(ends.max()) > len(corners):
            yield "a level of detail has faces that do not exist"
