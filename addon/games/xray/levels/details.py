"""`.details` into Blender: the ground as a square for each slot, and the detail models beside it.

The faces' attributes are what the slots say, and what is exported; materials only show one of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import attributes, tiles
from ....core import text
from ....core.model import FILE_FACE, Domain
from ....core.report import Report
from ....core.scratch import scratch
from ....formats.xray import details
from ..game_tree import tree_of
from ..options import LevelImportOptions
from . import materials as level_materials
from . import models as level_models
from .file import ImportedLevelFile

MODELS = "Models"
SOME = 4096
"""Slots that are enough to tell how high the ground lies."""
WITHOUT_GROUND = "Slots Without Ground"
"""Name of the modifier, and of the vertex group, that hide slots at -200 m."""
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


def read(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """The ground and its models. Raises `ReadError`."""
    document = details.read(data, str(path), report)
    named = set[int]().union(*(details.named_models(part) for part in details.parts(document)))
    details.report_missing(document, named, report)
    densest = _densest_of(document)
    planted, place = int(np.count_nonzero(densest != details.EMPTY)), _beside(document, densest)
    shown = tiles.build(
        document.name,
        details.places(document),
        details.SLOT_SIZE,
        _values(document),
        level_materials.slots_by_model(densest),
    )
    _hide(shown, np.flatnonzero(details.is_off_ground(document, densest)))
    del densest
    models = _build_models(document, path, options, report)
    level_models.lay_out(models.objects, place)
    shown.motionbridge_level.models = models
    width, depth = document.header.size
    counts = f"{width} x {depth} slots, {planted} with models, {text.counted(len(document.models), 'model')}"
    return ImportedLevelFile("DETAILS", path.name, shown, [shown], counts, [models])


def _hide(ground: Any, slots: NDArray[np.int64]) -> None:
    """Hide slots where the level has no ground, a grey sheet far below it. In edit mode they are faces like others."""
    if not 0 < len(slots) < len(ground.data.polygons):
        return
    group = ground.vertex_groups.new(name=WITHOUT_GROUND)
    corners = (4 * slots[:, None] + np.arange(4)).ravel()
    group.add(corners.tolist(), 1.0, "REPLACE")
    made = ground.modifiers.new(WITHOUT_GROUND, "MASK")
    made.vertex_group, made.invert_vertex_group = group.name, True


def _values(document: details.Details) -> Iterator[tuple[str, NDArray[Any]]]:
    """What the faces say, one after the other in the same piece of memory: all at once are larger than the file."""
    count = len(document.slots)
    yield FILE_FACE, np.arange(count, dtype=np.int32)
    memory = scratch((4 * count,), np.float32)
    for name in details.columns(document):
        at = 0
        for part in details.parts(document):
            values = details.column(part, name)
            width = values.size // len(values)
            memory[width * at : width * at + values.size] = values.ravel().view(np.float32)
            at += len(values)
            shape, kind = values.shape[1:], values.dtype
        if count:
            yield name, memory[: width * count].view(kind).reshape(count, *shape)


def _build_models(document: details.Details, path: Path, options: LevelImportOptions, report: Report) -> Any:
    """A collection of the models, in a row before the ground's near edge, each under its number."""
    holder: Any = bpy.data.collections.new(f"{document.name} {MODELS}")
    tree = tree_of(path, options.game_folder, options.textures_folder)
    for number in sorted(document.models):
        model = document.models[number]
        name = f"detail_{number:02}"
        shown = level_models.build(model, tree, report, textures=options.textures, name=name)
        shown.motionbridge_level.number = number
        holder.objects.link(shown)
    return holder


def _beside(document: details.Details, densest: NDArray[np.int16]) -> tuple[float, float, float]:
    """Before the near left corner, at the height that most of the planted ground has, judged by some of it."""
    if not len(document.slots):
        return 0.0, 0.0, 0.0
    planted = np.flatnonzero(densest != details.EMPTY)
    some = planted[:: len(planted) // SOME + 1] if len(planted) else np.zeros(1, np.int64)
    heights = details.ground_of(document.slots[some])
    heights = heights[np.isfinite(heights)]
    left, near = (-start * details.SLOT_SIZE for start in document.header.offset)
    return left, near - GAP, float(np.median(heights)) if len(heights) else 0.0


def slots_of(value: Callable[[str], NDArray[Any]], shown_by: str) -> level_materials.Slots:
    """What colours the faces: ``value`` gives an attribute's by its name, ``shown_by`` is of the property's items."""
    if shown_by == "SUN":
        return level_materials.slots_by_share(value(details.SUN), details.MOST_SHADE, "sun", (1.0, 0.85, 0.5))
    if shown_by == "SKY":
        return level_materials.slots_by_share(value(details.SKY), details.MOST_SHADE, "sky", (0.55, 0.8, 1.0))
    if shown_by == "COLOUR":
        return level_materials.slots_by_colour(value(details.COLOUR))
    densest, total = _densest(value)
    if shown_by == "DENSITY":
        return level_materials.slots_by_share(total, 10, "density", (0.3, 0.9, 0.2))
    return level_materials.slots_by_model(densest)


def _densest(value: Callable[[str], NDArray[Any]]) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """(slots,) the model that stands there the densest, and how densely all of them stand together."""
    densest = np.full(len(value(details.MODEL[0])), details.EMPTY, np.int16)
    highest, total = np.full(len(densest), -1, np.float32), np.zeros(len(densest), np.float32)
    for model, corners in zip(details.MODEL, details.DENSITY, strict=True):
        numbers = value(model)
        there = numbers != details.EMPTY
        density = value(corners).mean(axis=1) * there
        more = there & (density > highest)
        densest[more], highest[more] = numbers[more], density[more]
        total += density
    return densest, total


def _densest_of(document: details.Details) -> NDArray[np.int16]:
    """The same of a file, a part at a time: all that slots say is larger than the file."""
    found = [_densest(partial(details.column, part))[0] for part in details.parts(document)]
    return np.concatenate([np.zeros(0, np.int16), *found])
