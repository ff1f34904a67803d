"""Text output for an `.object`: a summary, a complete dump for text tools, the differences of two files."""

from __future__ import annotations

from collections.abc import Iterator

from ....core import names
from ....core.report import counted
from ....core.text import extent
from ....core.walk import View, Views
from .. import bones, skl
from ..chunks import Section, section_view
from ..contents import Contents
from .chunk_types import DYNAMIC, Authorship, ObjectFlags, Surface, Surfaces
from .document import Mesh, Model, Object
from .mesh_chunks import Faces, Points, SurfaceFaces, SurfacesOfFaces, VertexMap, VertexMaps
from .smoothing import Rule, rule_of

_RULE_WORDS = {
    Rule.NORMALS: "normals stored",
    Rule.EDGES: "smoothing by edges",
    Rule.GROUPS: "smoothing by groups",
    Rule.MASKS: "smoothing by masks",
}


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
                counted(len(model.meshes), "mesh|meshes"),
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


VIEWS: Views = {
    **skl.VIEWS,
    **bones.VIEWS,
    Section: section_view(
        {
            **bones.TITLES,
            Model: "",
            Mesh: lambda section: f"mesh {section.value.label!r}",
            skl.Skl: "motions",
        }
    ),
    Contents: View(words={"sections": "chunks"}),
    **dict.fromkeys((Surfaces, SurfacesOfFaces, VertexMaps), View(words={"surfaces": "", "maps": ""})),
    Surface: View(lambda surface: f"surface {surface.label!r}", words={"name": None}),
    SurfaceFaces: View(lambda surface: f"surface {surface.label!r}", words={"surface": None}),
    VertexMap: View(lambda vmap: f"map {vmap.label!r}", words={"name": None}),
}
