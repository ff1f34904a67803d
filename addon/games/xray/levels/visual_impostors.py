"""Impostors of a compiled level that were edited, out of Blender's mesh: their corners lie in `level` itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....blender import attributes
from ....blender import mesh as meshes
from ....core import rebase
from ....core.changes import Changes, Part
from ....core.model import Domain
from ....core.report import Report
from ....formats.xray.level import edit, structure
from ....formats.xray.level.document import Level
from ....formats.xray.level.structure import Impostors
from .named import named, place_of
from .visuals import HEMI, LIGHT


@dataclass
class ShownImpostors:
    """What a mesh shows of all impostors: corners as they are ``now`` and as in the file, faces' slots of materials."""

    shown: Any
    base: Impostors
    now: Impostors
    slots: Any

    def write(self, document: Level, changes: Changes) -> None:
        """Into the document. What was not edited stays where it followed its trees to."""
        for visual, fields in edit.set_impostors(document, self.now, self.base):
            changes.parts.append(Part(f"{document.name} {visual:05}", "impostor", fields=tuple(fields)))


def gather(document: Level, objects: list[Any], report: Report) -> ShownImpostors | None:
    """The first of the ``objects`` (at least one); None where its faces are no longer those of the file.

    Called before anything is moved in the document. Raises `WriteError` for positions that are NaN or infinite.
    """
    shown, *copies = objects
    if copies:
        report.warn(f"impostors cannot be added; not written: {named(copies)}")
    base = structure.impostors(document)
    corners = np.empty(len(base.positions), np.int32)
    with meshes.outside_edit_mode(shown) as data:
        fits = len(data.vertices) == len(data.loops) == len(corners)
        if fits:
            data.attributes[".corner_vert"].data.foreach_get("value", corners)
        if not fits or not np.array_equal(corners, np.arange(len(corners))):
            report.warn(f"impostors have other vertices or faces than the file; not written: {shown.name!r}")
            return None
        slots = attributes.gather(data, "material_index", Domain.FACE, np.int32)
        layer = data.uv_layers.get(meshes.UV_LAYER)
        found = {
            "positions": meshes.positions_of(data),
            "uvs": None if layer is None else meshes.column(layer.uv, "vector", len(corners), 2),
            "light": attributes.gather_colours(data, LIGHT, Domain.VERTEX),
            "hemi": attributes.gather(data, HEMI, Domain.VERTEX, np.float32),
        }
    if any(values is None for values in found.values()):
        words = "have lost attributes or texture coordinates of the import; those of the file stay"
        report.warn(f"impostors {words}: {shown.name!r}")
    whole = {name: getattr(base, name) if values is None else values for name, values in found.items()}
    place = place_of(shown)
    if not np.array_equal(place, np.eye(4)):
        whole["positions"] = (whole["positions"] @ place[:3, :3].T + place[:3, 3]).astype(np.float32)
    moved = (whole["positions"] != base.positions).any(axis=1)
    rebase.refuse_not_finite(
        f"a corner of {shown.name!r} has a position that is NaN or infinite", "Move it", whole["positions"][moved]
    )
    if slots is None:
        slots = np.zeros(len(corners) // 4, np.int32)
    return ShownImpostors(shown, base, Impostors(base.visuals, **whole), slots.reshape(-1, structure.FACETS))
