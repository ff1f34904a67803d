"""Text output for an `.ogf`: a summary, a complete dump, the differences of two files, and what the engine refuses.

The refusals are known from ``SkeletonCustom.cpp`` and ``FMesh.cpp``. Motions inside have rules of their own
(`omf.edit`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ....core import names
from ....core.errors import ReadError
from ....core.report import Report
from ....core.walk import Entries, View, Views
from ..chunks import Section, section_view
from ..omf.document import MotionLibrary, MotionSet, Parameters
from ..omf.text import VIEWS as MOTION_VIEWS
from ..omf.text import describe_motions, section_entries
from .chunk_types import (
    BoneName,
    BoneNames,
    Header,
    IkBone,
    IkData,
    IkLayout,
    Indices,
    LodPath,
    MotionReferences,
    MotionReferences2,
    SlidingWindows,
    Texture,
    UserData,
    Vertices,
)
from .document import Children, FastPath, Ogf, OldVisualType, VisualType, motion_set_of, parts
from .skeleton import decode_skeleton

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
        where = f"mesh {'.'.join(map(str, part.path))}" if part.path else "mesh"
        lines.append(f"{where}: {', '.join(_geometry_words(part.visual))}")
    for references in (document.first(MotionReferences), document.first(MotionReferences2)):
        if references is not None:
            names_text = ", ".join(names.decode(name) for name in references.names)
            lines.append(f"motion files: {names_text or 'none'}")
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


class _Physics(NamedTuple):
    """Physics of the bones, with their names."""

    layout: IkLayout
    bones: list[_BonePhysics]


class _BonePhysics(NamedTuple):
    name: str
    physics: IkBone


def _physics(document: Ogf, physics: IkData) -> _Physics:
    listed = document.first(BoneNames)
    labels = [bone.label for bone in listed.bones] if listed is not None else []
    labels += [str(index) for index in range(len(labels), len(physics.bones))]
    return _Physics(physics.layout, list(map(_BonePhysics, labels, physics.bones)))


def _entries(document: Ogf) -> Entries:
    sections: list[Section[Any]] = [
        Section(section.chunk, _physics(document, section.value), section.tail)
        if isinstance(section.value, IkData)
        else section
        for section in document.sections
    ]
    yield from section_entries(sections, motion_set_of(document))
    yield "tail", memoryview(document.tail)


VIEWS: Views = {
    **MOTION_VIEWS,
    Section: section_view(
        {BoneNames: "bones", _Physics: "physics", Ogf: lambda section: f"child {section.chunk.plain_id}"}
    ),
    Ogf: View(entries=_entries),
    **dict.fromkeys((Children, FastPath), View(words={"sections": "chunks"})),
    **dict.fromkeys(
        (Vertices, BoneNames, _Physics, MotionReferences, MotionReferences2, Texture, UserData, LodPath),
        View(words=dict.fromkeys(("rows", "bones", "names", "texture", "text", "path"), "")),
    ),
    BoneName: View(lambda bone: f"bone {bone.label!r}", words={"name": None}),
    _BonePhysics: View(lambda bone: f"bone {bone.name!r}", words={"name": None, "physics": ""}),
}


# Problems ------------------------------------------------------------------------------------------------------------


def problems(document: Ogf) -> Iterator[str]:
    """Yield a sentence for each problem that the engine would refuse; for motions inside see `omf.edit`."""
    bones = document.first(BoneNames)
    if bones is not None or (document.header.version == 4 and document.header.type in _SKELETONS):
        yield from _skeleton_problems(document, bones)
    for part in parts(document):
        where = f"mesh {'.'.join(map(str, part.path))}" if part.path else "the mesh"
        sentences = _mesh_problems(part.visual, None if bones is None else len(bones.bones))
        yield from (f"{where}: {sentence}" for sentence in sentences)


def _skeleton_problems(document: Ogf, bones: BoneNames | None) -> Iterator[str]:
    report = Report()
    try:
        decode_skeleton(document, report)
    except ReadError as refusal:
        yield refusal.problem
    for finding, warning in report.warnings.items():
        named = ", ".join(filter(None, warning))
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
