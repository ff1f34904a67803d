"""What the game's engine refuses in a model, asked of a file as it is (``SkeletonCustom.cpp``, ``FMesh.cpp``)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....core.errors import ReadError
from ....core.report import Report
from ..omf.document import MotionLibrary
from .bones import BoneNames
from .document import Ogf, VisualType, parts
from .geometry import Indices, SlidingWindows, Texture, Vertices
from .skeleton import decode_skeleton
from .texts import MotionReferences, MotionReferences2

_SKELETONS = (VisualType.SKELETON_ANIMATED, VisualType.SKELETON_RIGID)


def problems(document: Ogf) -> Iterator[str]:
    """A sentence for each problem; motions inside have rules of their own (`omf.limits`)."""
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
        yield f"{len(corners)} indices are no whole triangles"
    if len(corners) and int(corners.max()) >= count:
        yield f"triangles point behind the last of {count} vertices"
    if vertices.links and bones is not None and count and int(vertices.rows["bones"].max()) >= bones:
        yield f"vertices follow bone {int(vertices.rows['bones'].max())}, the model has {bones}"
    windows = visual.first(SlidingWindows)
    if windows is not None and len(windows.windows):
        ends = windows.windows["offset"].astype(np.int64) + 3 * windows.windows["triangles"].astype(np.int64)
        if int(ends.max()) > len(corners):
            yield "a level of detail points behind the last index"
