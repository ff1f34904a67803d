"""`.details` into Blender: the ground as a square for each slot, and the detail models beside it.

The faces' attributes are what the slots say, and what is exported; materials only show one of them at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import attributes, tiles
from ...core.model import FILE_FACE, Domain, Mesh
from ...core.report import Report
from ...formats.xray import details
from . import level_materials, level_models
from .level_file import ImportedLevelFile, LevelOptions

MODELS = "Models"
GAP = 4.0
"""Metres between the ground's edge and the models in front of it."""

WANTED: attributes.Wanted = {
    FILE_FACE: (Domain.FACE, np.int32),
    details.HEIGHT: (Domain.FACE, np.float32),
    details.SUN: (Domain.FACE, np.float32),
    details.SKY: (Domain.FACE, np.float32),
    **dict.fromkeys(details.MODEL, (Domain.FACE, np.int32)),
}
"""Attributes of faces with one number."""
COLOURS = (*details.DENSITY, details.COLOUR)
"""Those with four."""


def read(data: bytes, path: Path, options: LevelOptions, report: Report) -> ImportedLevelFile:
    """The ground and its models. Raises `ReadError`."""
    document = details.read(data, str(path), report)
    points = details.decode(document, report)
    values = {name: found.values for name, found in points.attributes.items()}
    values[FILE_FACE] = np.arange(len(points.positions), dtype=np.int32)
    shown = tiles.build(points.name, points.positions, details.SLOT_SIZE, values, slots_of(values, "MODEL"))
    models = _build_models(document, points, path, options, report)
    shown.motionbridge_level.models = models
    planted = int(np.logical_or.reduce([values[name] != details.EMPTY for name in details.MODEL]).sum())
    width, depth = document.header.size
    counts = f"{width} x {depth} slots, {planted} with models, {len(document.models)} models"
    return ImportedLevelFile("DETAILS", path.name, shown, [shown], counts, [models])


def _build_models(document: details.Details, points: Mesh, path: Path, options: LevelOptions, report: Report) -> Any:
    """A collection of the models, in a row before the ground's near edge, each under its number."""
    holder: Any = bpy.data.collections.new(f"{points.name} {MODELS}")
    made = []
    for number in sorted(document.models):
        model = document.models[number]
        name = f"detail_{number:02}"
        shown = level_models.build(model, path, options, report, name=name)
        shown.motionbridge_level.number = number
        holder.objects.link(shown)
        made.append(shown)
    level_models.lay_out(made, _beside(points))
    return holder


def _beside(points: Mesh) -> tuple[float, float, float]:
    """Before the middle of the near edge, at the height that most of the planted ground has."""
    if not len(points.positions):
        return 0.0, 0.0, 0.0
    planted = points.attributes[details.MODEL[0]].values >= 0
    heights = points.positions[planted if planted.any() else slice(None), 2]
    heights = heights[np.isfinite(heights)]
    low = points.positions[:, :2].min(axis=0).astype(np.float64)
    height = float(np.median(heights)) if len(heights) else 0.0
    return float(low[0]), float(low[1]) - GAP, height


def slots_of(values: dict[str, NDArray[Any]], shown_by: str) -> level_materials.Slots:
    """What colours the faces: ``values`` of attributes by name, ``shown_by`` one of `level_properties.SHOWN_BY`."""
    numbers = np.stack([values[name] for name in details.MODEL], axis=1)
    if shown_by == "SUN":
        return level_materials.slots_by_share(values[details.SUN], details.MOST_SHADE, "sun", (1.0, 0.85, 0.5))
    if shown_by == "SKY":
        return level_materials.slots_by_share(values[details.SKY], details.MOST_SHADE, "sky", (0.55, 0.8, 1.0))
    if shown_by == "COLOUR":
        return level_materials.slots_by_colour(values[details.COLOUR])
    density = np.stack([values[name].mean(axis=1) for name in details.DENSITY], axis=1)
    density[numbers < 0] = 0
    if shown_by == "DENSITY":
        return level_materials.slots_by_share(density.sum(axis=1), 10, "density", (0.3, 0.9, 0.2))
    densest = np.argmax(np.where(numbers < 0, -1, density), axis=1)
    return level_materials.slots_by_model(np.take_along_axis(numbers, densest[:, None], axis=1)[:, 0])
