"""A `.p3d` as text: a summary, a complete dump for text tools, and the differences between two models."""

from __future__ import annotations

from ....core.report import counted, listed
from ....core.text import extent
from ....core.walk import Entries, View, Views, fields
from ..names import decode
from .document import Lod, P3d, Tag


def describe(document: P3d) -> list[str]:
    """Return a summary of a few lines."""
    lines = [f"version {document.version:#x}, {counted(len(document.lods), 'LOD')}"]
    for number, lod in enumerate(document.lods):
        counts = f"{counted(len(lod.points), 'point')}, {counted(len(lod.faces), 'face')}"
        lines.append(f"LOD {number} ({lod.name}): {counts}")
        lines.append(f"  {extent(lod.points['position'])}")
        selections = [name for name, _, _ in lod.selections()]
        if selections:
            lines.append(f"  selections: {listed(selections)}")
        properties = [f"{name}={value}" for name, value in lod.properties().items()]
        if properties:
            lines.append(f"  properties: {listed(properties)}")
    return lines


LOD_KEYS = (lambda lod: lod.resolution.tobytes(), lambda lod: lod.kind)
"""LODs of two models are paired by their resolution, then by their kind."""


def _tag_entries(tag: Tag) -> Entries:
    yield "field", None if tag.field == tag.name else memoryview(tag.field)
    yield from fields(tag, "field")


VIEWS: Views = {
    P3d: View(words={"lods": "LODs"}),
    Lod: View(
        lambda lod: f"LOD {lod.name}", LOD_KEYS, {"texts": "texture and material", "face_texts": "texts of the faces"}
    ),
    Tag: View(lambda tag: f"tag {decode(tag.name)!r}", entries=_tag_entries),
}
