"""`.details` out of Blender: the ground's faces into slots, the objects of its collection into detail models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....blender import attributes, tiles
from ....blender import mesh as meshes
from ....blender.properties import kept
from ....core import problems
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.model import FILE_FACE, Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report
from ....core.text import counted_plural
from ....formats.xray import details, dm
from ....formats.xray.details import Details
from ....formats.xray.dm import Dm
from ..options import LevelExportOptions
from .details import COLOURS, WANTED
from .gather import Plan, encode_detail_model, gather, report_problems


def gather_ground(shown: bpy.types.Object) -> Mesh:
    """A point for each face: its middle, at the height of its lowest corner; attributes of faces as the point's."""
    middles, heights, values = tiles.gather(shown, WANTED, COLOURS)
    positions = np.concatenate([middles, heights[:, :1]], axis=1).astype(np.float32)
    points = Mesh(shown.name, positions, np.zeros((0, 3), np.int32))
    points.attributes = {name: Attribute(Domain.VERTEX, column) for name, column in values.items()}
    return points


def models_of(ground: Any) -> list[Any]:
    """The objects of a ground's detail models, by their numbers, those without one behind them by name.

    Of several with one number (copies) the first by name keeps it.
    """
    holder = ground.motionbridge_level.models
    found = [] if holder is None else [shown for shown in holder.all_objects if _is_model(shown)]
    taken: set[int] = set()
    numbered: list[Any] = []
    others: list[Any] = []
    for shown in sorted(found, key=_order):
        number = shown.motionbridge_level.number
        (others if number < 0 or number in taken else numbered).append(shown)
        taken.add(number)
    return [*numbered, *sorted(others, key=_name)]


def _is_model(shown: Any) -> bool:
    return shown.type == "MESH" and shown.motionbridge_level.kind == "DM"


def _order(shown: Any) -> tuple[int, str]:
    return shown.motionbridge_level.number, shown.name


def _name(shown: bpy.types.Object) -> str:
    return str(shown.name)


def numbers_of(models: list[Any]) -> list[int]:
    """What slots call these models now, -1 where none can: new ones and copies."""
    numbers: list[int] = []
    for shown in models:
        number = shown.motionbridge_level.number
        numbers.append(-1 if number in numbers else number)
    return numbers


@dataclass(frozen=True)
class _Models:
    """``documents`` by their new numbers, ``old`` what slots call each; ``gone`` numbers of the base without one.

    ``faces`` of all of them.
    """

    documents: dict[int, Dm]
    old: list[int]
    gone: set[int]
    changes: Changes


def _gather_models(context: bpy.types.Context, ground: Any, base: Details | None, report: Report) -> _Models | None:
    """None where there is no collection of models: then they are the base's."""
    if ground.motionbridge_level.models is None and base is not None:
        return None
    shown = models_of(ground)
    changes = Changes()
    documents = []
    for one in shown:
        mesh = gather(context, one, "DM", LevelExportOptions(), report).mesh
        plan = encode_detail_model(one, mesh, kept(one.motionbridge_level, "document"))
        changes.include(plan.changes, one.name)
        if plan.changes:
            report_problems(dm.find_problems(mesh), one.name, report)
        documents.append(dm.read(plan.data, "", Report()))
    old = numbers_of(shown)
    known = set() if base is None else set(base.models)
    # A file whose numbers have gaps keeps them while its models are the same ones.
    numbers = old if set(old) == known and len(old) == len(known) else list(range(len(old)))
    return _Models(dict(zip(numbers, documents, strict=True)), old if numbers != old else [], known - set(old), changes)


def plan(context: bpy.types.Context, ground: Any, data: bytes, report: Report) -> Plan:
    """What would be written into the file of ``data``, or into a new one where that is empty. Raises `WriteError`."""
    attributes.warn_of_misfits(ground, WANTED, report, COLOURS)
    meshes.warn_of_modifiers(ground, report, {"MASK"})  # which hides slots without ground
    base = details.read(data, "", Report()) if data else None
    models = _gather_models(context, ground, base, report)
    points = gather_ground(ground)
    changes = Changes()
    if base is None:
        points.attributes.pop(FILE_FACE, None)
        base = details.new_grid(points, {} if models is None else models.documents)
        changes.lines.append(f"{counted_plural(len(base.slots), 'slots')}, new")
    gone = set() if models is None else models.gone
    points = details.arrange(points, base, report)
    problems.refuse(details.find_orphans(points, gone), ground.name)
    if models is not None:
        changes.include(models.changes)
        points = details.renumbered(points, models.old)
    document, encoded = details.encode(points, base, None if models is None else models.documents)
    changes.include(encoded)
    if changes:
        report_problems(details.find_problems(points, base, len(document.models)), ground.name, report)
    return Plan(details.write(document) if changes else data, changes, len(points.positions))


def find_problems(ground: Any) -> Iterator[Problem]:
    """What keeps the ground from being exported and what is worth a look; elements are faces."""
    data = kept(ground.motionbridge_level, "document")
    points = gather_ground(ground)
    shown = models_of(ground)
    count = len(shown)
    if not data:
        points.attributes.pop(FILE_FACE, None)
    try:
        base = details.read(data, "", Report()) if data else details.new_grid(points, {})
    except WriteError as refusal:
        yield problems.whole(refusal.problem, refusal.remedy)
        return
    yield from details.find_misplaced(points, base.header)
    if ground.motionbridge_level.models is not None:
        yield from details.find_orphans(points, set(base.models) - set(numbers_of(shown)))
    else:
        count = len(base.models)
    yield from details.find_problems(points, base, count)
