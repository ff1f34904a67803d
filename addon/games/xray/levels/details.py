"""Detail objects of a level (`.details`): the ground as a square for each slot, and the detail models (`.dm`) on it.

The faces' attributes are the values of slots and are exported; materials only show one of them at a time. The location
of a detail model's object has no meaning: its origin is the point at ground level. See `formats.xray.details.ground`
for what is exact in the preview.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import attributes, instances, modifiers, scope
from ....blender import mesh as meshes
from ....blender.mesh import positions_of
from ....blender.properties import keep, kept
from ....blender.transforms import world_matrix
from ....core import problems
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report, counted, say
from ....core.scratch import scratch
from ....formats.xray import details, dm
from ....formats.xray.details import Details
from ....formats.xray.dm import Dm
from ....formats.xray.game_tree import GameTree, tree_of
from ..options import LevelExportOptions, LevelImportOptions, ScatterOptions
from . import materials as level_materials
from . import slot_colours
from .file import Encoded, ImportedLevelFile, encode_detail_model, gather, report_problems
from .properties import become

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Context, Object


MODEL_COLOUR = (0.55, 0.7, 0.25, 1.0)
"""Object colour of detail models."""
SMALLEST_STEP = 1.0
"""Smallest distance between the origins of models in the row, in metres."""


def build_model(document: Dm, tree: GameTree, report: Report, *, textures: bool = True, name: str = "") -> Any:
    """Return the object of a detail model, not linked to the scene yet, which stores its bytes.

    ``name``: of the object, else the document's. ``tree``: where textures are searched for; it caches folders.
    """
    mesh = dm.decode(document, report, name)
    mesh.attributes[FILE_VERTEX] = Attribute(Domain.VERTEX, np.arange(len(mesh.positions), dtype=np.int32))
    materials = [level_materials.textured(material, tree, textures, report) for material in mesh.materials]
    obj = meshes.build(mesh, materials, report, flat=True)
    properties, stored = obj.motionbridge_level, document.properties
    properties.waving, properties.min_scale, properties.max_scale = stored.waving, stored.min_scale, stored.max_scale
    properties.kind = "DM"
    obj.color = MODEL_COLOUR
    keep(properties, "document", dm.write(document))
    return obj


def lay_out_models(models: Iterable[Any], start: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    """Place models in a row along x without overlap, the first one's origin at ``start``."""
    edge = None
    for obj in models:
        positions = positions_of(obj.data)[:, 0].astype(np.float64)
        positions = positions[np.isfinite(positions)]
        low, high = (min(positions.min(), 0.0), max(positions.max(), 0.0)) if len(positions) else (0.0, 0.0)
        offset = 0.0 if edge is None else edge + max(SMALLEST_STEP / 2 - low, SMALLEST_STEP)
        obj.location = (start[0] + offset, start[1], start[2])
        edge = offset + max(high, 0.0)


# The ground -----------------------------------------------------------------------------------------------------------

MODELS = "Models"
SAMPLED_SLOTS = 4096
"""Number of slots that is enough to estimate the height of the ground."""
WITHOUT_GROUND = f"{attributes.MASK}Slots Without Ground"
"""Name of the modifier and the vertex group that hide slots at -200 m."""
LEVEL_WITHIN = 1e-2
"""Metres between the corners of a square up to which it is not tilted."""
MODELS_GAP = 4.0
"""Distance in metres between the ground's edge and the models in front of it."""

WANTED: attributes.Wanted = {
    FILE_FACE: (Domain.FACE, np.int32),
    details.HEIGHT: (Domain.FACE, np.float32),
    details.SUN: (Domain.FACE, np.float32),
    details.SKY: (Domain.FACE, np.float32),
    **dict.fromkeys(details.MODEL, (Domain.FACE, np.int32)),
}
"""Face attributes with one number."""
COLOURS = (*details.DENSITY, details.COLOUR)
"""Face attributes with four numbers."""


def read(data: bytes, path: Path, options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """Return the ground and its models. Raises `ReadError`."""
    document = details.read(data, str(path), report)
    named = set[int]().union(*(details.named_models(part) for part in details.slot_blocks(document)))
    details.report_missing(document, named, report)
    densest = slot_colours.densest_of(document)
    planted, slots = int(np.count_nonzero(densest != details.EMPTY)), _beside(document, densest)
    ground = instances.build_squares(
        document.name,
        details.places(document),
        details.SLOT_SIZE,
        _values(document),
        slot_colours.by_model(densest),
    )
    _hide(ground, np.flatnonzero(details.is_off_ground(document, densest)))
    del densest
    models = _build_models(document, path, options, report)
    lay_out_models(models.objects, slots)
    ground.motionbridge_level.models = models
    width, depth = document.header.size
    models_counted = counted(len(document.models), "detail model")
    counts = say("{} x {:# slot|# slots}, {} with models, {}", int(width), int(depth), planted, models_counted)
    return ImportedLevelFile("DETAILS", path.name, ground, [ground], counts, [models])


def _hide(ground: Object, slots: NDArray[np.int64]) -> None:
    """Hide slots without ground, a grey plane far below the level. Edit Mode still shows them as ordinary faces."""
    if not 0 < len(slots) < len(ground.data.polygons):
        return
    group = ground.vertex_groups.new(name=WITHOUT_GROUND)
    corners = (4 * slots[:, None] + np.arange(4)).ravel()
    group.add(corners.tolist(), 1.0, "REPLACE")
    modifier = ground.modifiers.new(WITHOUT_GROUND, "MASK")
    modifier.vertex_group, modifier.invert_vertex_group = group.name, True


def _values(document: details.Details) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the faces' attributes, each in the same buffer, because together they are larger than the file."""
    count = len(document.slots)
    yield FILE_FACE, np.arange(count, dtype=np.int32)
    memory = scratch((4 * count,), np.float32)
    for name in details.columns(document):
        at = 0
        for part in details.slot_blocks(document):
            values = details.column(part, name)
            width = values.size // len(values)
            memory[width * at : width * at + values.size] = values.ravel().view(np.float32)
            at += len(values)
            shape, kind = values.shape[1:], values.dtype
        if count:
            yield name, memory[: width * count].view(kind).reshape(count, *shape)


def _build_models(
    document: details.Details, path: Path, options: LevelImportOptions, report: Report
) -> bpy.types.Collection:
    """Create a collection of the models with their numbers."""
    holder: bpy.types.Collection = bpy.data.collections.new(f"{document.name} {MODELS}")
    tree = tree_of(path, options.games, report)
    for number in sorted(document.models):
        model = document.models[number]
        name = f"detail_{number:02}"
        obj = build_model(model, tree, report, textures=options.textures, name=name)
        obj.motionbridge_level.number = number
        holder.objects.link(obj)
    return holder


def _beside(document: details.Details, densest: NDArray[np.int16]) -> tuple[float, float, float]:
    """Return a position in front of the near left corner, at the median height of a sample of planted slots."""
    if not len(document.slots):
        return 0.0, 0.0, 0.0
    planted = np.flatnonzero(densest != details.EMPTY)
    some = planted[:: len(planted) // SAMPLED_SLOTS + 1] if len(planted) else np.zeros(1, np.int64)
    heights = details.ground_of(document.slots[some])
    heights = heights[np.isfinite(heights)]
    left, near = (-start * details.SLOT_SIZE for start in document.header.offset)
    return left, near - MODELS_GAP, float(np.median(heights)) if len(heights) else 0.0


# Export ---------------------------------------------------------------------------------------------------------------


def gather_ground(ground: Object) -> Mesh:
    """Return a point for each face: its centre, at the height of its lowest corner, with the face's attributes."""
    return _gather_slots(ground)[0]


def _gather_slots(ground: Object) -> tuple[Mesh, NDArray[np.float64]]:
    """Return `gather_ground`, and (faces, 2) the heights of the lowest and the highest corner of each face."""
    middles, heights, values = instances.gather_faces(ground, WANTED, COLOURS)
    positions = np.concatenate([middles, heights[:, :1]], axis=1).astype(np.float32)
    points = Mesh(ground.name, positions, np.zeros((0, 3), np.int32))
    points.attributes = {name: Attribute(Domain.VERTEX, column) for name, column in values.items()}
    return points, heights


def models_of(ground: Object) -> list[Object]:
    """Return a ground's detail models by their numbers, followed by those without one by name.

    If several have the same number (copies), the first by name keeps it.
    """
    holder = ground.motionbridge_level.models
    objects = [] if holder is None else [obj for obj in holder.all_objects if _is_model(obj)]
    taken: set[int] = set()
    numbered: list[Object] = []
    others: list[Any] = []
    for obj in sorted(objects, key=_order):
        number = obj.motionbridge_level.number
        (others if number < 0 or number in taken else numbered).append(obj)
        taken.add(number)
    return [*numbered, *sorted(others, key=_name)]


def _is_model(obj: Object) -> bool:
    return obj.type == "MESH" and obj.motionbridge_level.kind == "DM"


def _order(obj: Object) -> tuple[int, str]:
    return obj.motionbridge_level.number, obj.name


def _name(obj: Object) -> str:
    return str(obj.name)


def numbers_of(models: list[Object]) -> list[int]:
    """Return the numbers by which slots refer to these models now, -1 for new ones and copies."""
    numbers: list[int] = []
    for obj in models:
        number = obj.motionbridge_level.number
        numbers.append(-1 if number in numbers else number)
    return numbers


@dataclass(frozen=True)
class _Models:
    """``documents``: by new number; ``old``: the number that slots use for each; ``gone``: numbers of the base that
    have no model any more.
    """

    documents: dict[int, Dm]
    old: list[int]
    gone: set[int]
    changes: Changes


def _gather_models(
    context: Context, ground: Object, base: Details | None, options: LevelExportOptions, report: Report
) -> _Models | None:
    """Gather the detail models; None if the ground has no collection of models, so that the base's are kept."""
    if ground.motionbridge_level.models is None and base is not None:
        return None
    models = models_of(ground)
    changes = Changes()
    documents = []
    for model in models:
        mesh = gather(context, model, "DM", options, report).mesh
        encoded, difference = encode_detail_model(model, mesh, kept(model.motionbridge_level, "document"), report)
        changes.include(difference, model.name)
        if difference:
            report_problems(dm.find_problems(mesh), model.name, report)
        documents.append(dm.read(encoded, "", Report()))
    old = numbers_of(models)
    known = set() if base is None else set(base.models)
    # A file with gaps in its numbers keeps them as long as its models are the same.
    numbers = old if set(old) == known and len(old) == len(known) else list(range(len(old)))
    return _Models(dict(zip(numbers, documents, strict=True)), old if numbers != old else [], known - set(old), changes)


def _warn_of_tilted(ground: Object, heights: NDArray[np.float64], report: Report) -> None:
    """Warn of imported squares, which are level, that stand at an angle now: a slot has one height."""
    with np.errstate(invalid="ignore"):  # vertices of broken files
        tilted = int(np.count_nonzero(heights[:, 1] - heights[:, 0] > LEVEL_WITHIN))
    if tilted:
        words = "{0:# slot is|# slots are} tilted, and {0:has|have} the height of {0:its|their} lowest corner"
        report.warn(say(words, tilted), ground.name)


def plan(context: Context, ground: Object, data: bytes, options: LevelExportOptions, report: Report) -> Encoded:
    """Return what would be written into the file ``data``, or into a new one if that is empty. Raises `WriteError`.

    Modifiers are applied to the models only.
    """
    attributes.warn_of_misfits(ground, WANTED, report, COLOURS)
    modifiers.warn(ground, report)
    base = details.read(data, "", Report()) if data else None
    models = _gather_models(context, ground, base, options, report)
    points, heights = _gather_slots(ground)
    changes = Changes()
    if base is None:
        points.attributes.pop(FILE_FACE, None)
        base = details.new_grid(points, {} if models is None else models.documents)
        changes.note(say("{:# slot|# slots}, new", len(base.slots)))
    else:
        _warn_of_tilted(ground, heights, report)
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
    return details.write(document) if changes else data, changes


def find_problems(ground: Object) -> Iterator[Problem]:
    """Yield problems that prevent the export of the ground, and warnings; elements are faces."""
    data = kept(ground.motionbridge_level, "document")
    points = gather_ground(ground)
    models = models_of(ground)
    count = len(models)
    if not data:
        points.attributes.pop(FILE_FACE, None)
    try:
        base = details.read(data, "", Report()) if data else details.new_grid(points, {})
    except WriteError as refusal:
        yield problems.whole(refusal.problem, refusal.remedy)
        return
    yield from details.find_misplaced(points, base.header)
    if ground.motionbridge_level.models is not None:
        yield from details.find_orphans(points, set(base.models) - set(numbers_of(models)))
    else:
        count = len(base.models)
    yield from details.find_problems(points, base, count)


# Edits ----------------------------------------------------------------------------------------------------------------

LIGHT: Mapping[str, float] = {details.SUN: 0.4, details.SKY: 0.6}
"""Light of new slots: that of most ground in real levels; the level compiler computes its own."""


GROUND = "ground"
"""Name of the height of the ground of slots, which is no attribute."""


@dataclass(frozen=True)
class SlotValues:
    """Values for selected slots; None and missing places stay unchanged.

    ``plants``: place (0 to 3) -> number of the model and its densities at the corners x0 y0, x1 y0, x0 y1, x1 y1; None
    keeps either. ``ground`` and ``height`` in metres; ``sun``, ``sky`` and ``colour`` from 0 to 1.
    """

    plants: Mapping[int, tuple[int | None, Sequence[float] | None]] = field(default_factory=dict)
    ground: float | None = None
    height: float | None = None
    sun: float | None = None
    sky: float | None = None
    colour: Sequence[float] | None = None


def begin(context: Context, obj: Object) -> None:
    """Make a mesh, which is of this kind, the ground of a level: add missing attributes, without detail models, and
    show them by materials.
    """
    with scope.object_mode(context):
        _, heights, columns = instances.gather_faces(obj, WANTED, COLOURS)
        count = len(heights)
        wanted: dict[str, NDArray[Any]] = {
            details.HEIGHT: (heights[:, 1] - heights[:, 0]).astype(np.float32),
            details.COLOUR: np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1)),
            **{name: np.full(count, share, np.float32) for name, share in LIGHT.items()},
            **{name: np.full(count, details.EMPTY, np.int32) for name in details.MODEL},
            **{name: np.zeros((count, 4), np.float32) for name in details.DENSITY},
        }
        for name, values in wanted.items():
            if name not in columns:
                attributes.write(obj.data, name, Domain.FACE, values)
        show(obj)


def show(obj: Any) -> None:
    """Colour the ground by its attributes. Raises `WriteError` if the attribute to show is missing."""
    level = obj.motionbridge_level
    _, heights, values = instances.gather_faces(obj, WANTED, COLOURS)
    if level.shown_by in ("SUN", "SKY", "COLOUR") and level.shown_by.lower() not in values:
        words = "{!r} has no {}; files of version 2 have none"
        raise WriteError(say(words, obj.name, level.shown_by.lower()), remedy="Colour it by model or density")
    for names, missing in (
        (details.MODEL, np.full(len(heights), details.EMPTY, np.int32)),
        (details.DENSITY, np.zeros((len(heights), 4), np.float32)),
    ):
        for name in names:
            values.setdefault(name, missing)
    level_materials.clear_slots(obj.data, slot_colours.slots_of(values.__getitem__, level.shown_by))
    obj.data.update()


def selected_values(ground: Object, selected: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return value -> (slots, …) of the ``selected`` faces (faces,): attributes, and `GROUND`."""
    _, heights, columns = instances.gather_faces(ground, WANTED, COLOURS)
    columns[GROUND] = heights[:, 0]
    if details.COLOUR in columns:
        columns[details.COLOUR] = columns[details.COLOUR][:, :3]
    return {name: column[selected] for name, column in columns.items()}


def set_slots(ground: Object, selected: NDArray[np.bool_], given: SlotValues) -> NDArray[np.bool_]:
    """Set values of the ``selected`` faces (faces,), in Object Mode; returns which of them changed."""
    changed = np.zeros(len(selected), np.bool_)
    columns: dict[str, tuple[Any, Any]] = {
        details.HEIGHT: (np.float32, given.height),
        details.SUN: (np.float32, given.sun),
        details.SKY: (np.float32, given.sky),
        details.COLOUR: (np.float32, None if given.colour is None else [*given.colour, 1.0][:4]),
    }
    for index, (model, density) in given.plants.items():
        columns[details.MODEL[index]] = np.int32, model
        columns[details.DENSITY[index]] = np.float32, np.zeros(4) if model == details.EMPTY else density
    for name, (kind, value) in columns.items():
        if value is not None:
            changed |= _set(ground.data, name, selected, np.asarray(value, kind))
    if given.ground is not None:
        changed |= _lift(ground, selected, given.ground)
    show(ground)
    return changed & selected


def _set(data: typed.Mesh, name: str, selected: NDArray[np.bool_], value: NDArray[Any]) -> NDArray[np.bool_]:
    values = (
        attributes.gather_colours(data, name, Domain.FACE)
        if value.ndim
        else attributes.gather(data, name, Domain.FACE, value.dtype)
    )
    if values is None:
        empty = details.EMPTY if name in details.MODEL else 0
        values = np.full((len(selected), *value.shape), empty, value.dtype)
    differs = values != value
    values[selected] = value
    attributes.write(data, name, Domain.FACE, values)
    return differs.any(axis=1) if value.ndim else differs


def _lift(ground: Object, selected: NDArray[np.bool_], height: float) -> NDArray[np.bool_]:
    """Move faces along the world's z axis until their lowest corners are at ``height``; returns which moved."""
    data = ground.data
    _, heights, _ = instances.gather_faces(ground, {}, ())
    corners, sizes = meshes.corner_vertices(data), meshes.corner_counts(data)
    shifts = np.where(selected, height - heights[:, 0], 0.0)
    of_vertices = np.zeros(len(data.vertices))
    corners_selected = np.repeat(selected, sizes)
    of_vertices[corners[corners_selected]] = np.repeat(shifts, sizes)[corners_selected]
    upwards = np.linalg.pinv(world_matrix(ground)[:3, :3])[:, 2]
    moved = positions_of(data) + of_vertices[:, None] * upwards
    data.attributes["position"].data.foreach_set("vector", moved.astype(np.float32).ravel())
    return shifts != 0


# Models --------------------------------------------------------------------------------------------------------------


def add_models(ground: Object, objects: Sequence[Object]) -> int:
    """Make meshes detail models, numbered after the existing ones; returns how many. Raises `WriteError`."""
    existing = models_of(ground)
    new = [obj for obj in objects if obj not in existing and obj != ground]
    if not new:
        raise WriteError(
            "no mesh is selected besides the ground and its models",
            remedy="Select the meshes to add, then the ground with Shift",
        )
    if len(existing) + len(new) > details.MODELS:
        raise WriteError(say("{} detail models, the game supports {}", len(existing) + len(new), details.MODELS))
    level = ground.motionbridge_level
    holder = level.models
    if holder is None:
        holder = level.models = bpy.data.collections.new(f"{ground.name} {MODELS}")
        ground.users_collection[0].children.link(holder)
    # A broken file may give a model any number; slots can only use those that the game supports.
    numbers = (obj.motionbridge_level.number for obj in existing)
    number = max((number for number in numbers if number < details.MODELS), default=-1)
    for obj in new:
        number += 1
        _make_model(holder, obj, number)
    return len(new)


def _make_model(holder: bpy.types.Collection, obj: Object, number: int) -> None:
    become(obj, "DM")
    obj.motionbridge_level.number = number
    if obj.name not in holder.objects:
        holder.objects.link(obj)


def replace_model(ground: Object, model: Object, by: Object) -> None:
    """Replace ``model`` by another one with its number, so that it grows in the same slots; ``model`` is deleted."""
    number, name = model.motionbridge_level.number, model.name
    by.location = model.location
    bpy.data.objects.remove(model)
    _make_model(ground.motionbridge_level.models, by, number)
    by.name = name


def slots_with(ground: Object, number: int) -> NDArray[np.int64]:
    """Return the faces of slots that contain a model."""
    meant = np.zeros(len(ground.data.polygons), np.bool_)
    for name in details.MODEL:
        values = attributes.gather(ground.data, name, Domain.FACE, np.int32)
        if values is not None and number >= 0:
            meant |= values == number
    return np.flatnonzero(meant)


def remove_model(ground: Object, model: Object) -> int:
    """Delete a model and clear it in all slots, in Object Mode; returns the number of slots that had it."""
    number = model.motionbridge_level.number
    slots = np.zeros(len(ground.data.polygons), np.bool_)
    for name, shares in zip(details.MODEL, details.DENSITY, strict=True):
        values = attributes.gather(ground.data, name, Domain.FACE, np.int32)
        density = attributes.gather_colours(ground.data, shares, Domain.FACE)
        if values is None or number < 0:
            continue
        meant = values == number
        slots |= meant
        values[meant] = details.EMPTY
        attributes.write(ground.data, name, Domain.FACE, values)
        if density is not None:
            density[meant] = 0
            attributes.write(ground.data, shares, Domain.FACE, density)
    bpy.data.objects.remove(model)
    show(ground)
    return int(slots.sum())


# Preview --------------------------------------------------------------------------------------------------------------

SCATTERED = "Scattered"


def scatter(
    context: Context, ground: Object, selected: NDArray[np.bool_] | None, options: ScatterOptions, report: Report
) -> int:
    """Show plants on the ``selected`` faces (None: all) instead of the previous ones; returns how many.

    Raises `WriteError` if there are none.
    """
    context.view_layer.update()
    points = gather_ground(ground)
    faces = np.arange(len(points.positions)) if selected is None else np.flatnonzero(selected)
    models = models_of(ground)
    numbers = numbers_of(models)
    properties = [model.motionbridge_level for model in models]
    scales = {
        number: (prop.min_scale, prop.max_scale)
        for number, prop in zip(numbers, properties, strict=True)
        if number >= 0
    }
    plants = details.scatter(points, faces[np.isfinite(points.positions[faces]).all(axis=1)], scales, options.spacing)
    if not len(plants):
        words = "no detail models on {:# selected slot|# selected slots}"
        if selected is None:
            words = "no detail models on {:# slot|# slots}"
        raise WriteError(
            say(words, len(faces)),
            remedy="Select slots with detail models, and check that the models exist",
        )
    count = len(plants)
    kept = np.arange(count)
    if count > options.most:
        kept = np.linspace(0, count - 1, options.most).astype(np.int64)
        report.warn(
            say("only {} of {} plants are shown; select fewer slots to see all of them", options.most, len(plants))
        )
    indices = np.argsort(np.array(numbers), kind="stable")
    found_at = np.searchsorted(np.array(numbers), plants.models[kept], sorter=indices)
    columns = {
        instances.PLACE: indices[found_at].astype(np.int32),
        instances.TURN: plants.rotations[kept],
        instances.SCALE: plants.scales[kept],
    }
    onto = _collision(context) if options.on_collision else None
    if onto is not None:
        columns[instances.REACH] = plants.slot_heights[kept]
    name = f"{ground.name} {SCATTERED}"
    scattered = instances.build(name, models, plants.points[kept], columns, onto)
    clear_scattered(ground)  # only now, so that the old plants stay if building fails
    scattered.name = name
    scattered.hide_select = True
    ground.users_collection[0].objects.link(scattered)
    ground.motionbridge_level.scattered = scattered
    return len(kept)


def clear_scattered(ground: Object) -> bool:
    """Delete the shown plants; returns whether there were any."""
    scattered = ground.motionbridge_level.scattered
    if scattered is None:
        return False
    instances.remove(scattered)  # which also clears the pointer, in the copy that Blender evaluates too
    ground.motionbridge_level.property_unset("scattered")
    return True


def _collision(context: Context) -> Any:
    """Return the collision mesh of the scene, None if it is missing or split."""
    grounds = (
        obj
        for obj in context.scene.objects
        if obj.motionbridge_level.kind == "CFORM" and obj.type == "MESH" and not obj.motionbridge_level.is_part
    )
    return next(grounds, None)
