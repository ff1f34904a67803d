"""Convert slots of `.details` to points with attributes and back; preview where plants may stand.

A point is in the middle of each slot, at the height of its ground. Unedited values keep their bits. An imported point
refers to its slot by `FILE_FACE`. A point that was drawn, or copied from another, belongs to the slot that it is in. A
slot without a point becomes empty: it has no models, but keeps the heights and light of the file.

Plants are a preview, not the game's own placement. They follow the values of the file exactly: the models of a slot,
the density of each model at the four corners, and the range of scales of each model. The engine thins plants with a
dither table, moves and rotates them by its own random numbers and drops them onto the collision. Here, densities are
probabilities on a regular raster, random numbers depend only on the slot's index (the same slots always look the same),
and plants are on the ground of their slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import problems, quantum, rebase
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.model import FILE_FACE, Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report, say
from ....core.scratch import scratch
from .. import dm
from ..chunks import Chunk, ChunkRun
from ..dm import Dm
from .document import (
    EMPTY,
    GROUND_STEP,
    HEIGHT_STEP,
    LOWEST,
    MODELS,
    MOST_GROUND,
    MOST_HEIGHT,
    MOST_SHADE,
    SLOT_SIZE,
    Details,
    Header,
    SlotValues,
    density_of,
    empty_slots,
    ground_of,
    height_of,
    models_of,
    new,
    pack,
    shade_steps,
    shades_of,
    unpack,
)

HEIGHT, SUN, SKY, COLOUR = "height", "sun", "sky", "colour"
MODEL = tuple(f"model_{index}" for index in range(4))
DENSITY = tuple(f"density_{index}" for index in range(4))
_SLOTS_PER_BLOCK = 1 << 13
_MOST_MODEL = {2: 254, 3: MODELS - 1}
MOST_SLOTS = 1 << 22
"""Limit of slots in a new file: 4 x 4 km. The largest grid of the games has 0.1 million slots."""


def decode(document: Details, report: Report) -> Mesh:
    """Convert the slots to a mesh of points (slots, 3) in file order, without faces.

    Its attributes are the `columns`. Warns about models that are missing in the file.
    """
    report_missing(document, named_models(document), report)
    mesh = Mesh(document.name, places(document), np.zeros((0, 3), np.int32))
    mesh.attributes = {name: Attribute(Domain.VERTEX, column(document, name)) for name in columns(document)}
    return mesh


def encode(ground: Mesh, base: Details, models: Mapping[int, Dm] | None = None) -> tuple[Details, Changes]:
    """Return the base with the values of the points and, if given, with these models by number, and the changes.

    Of a point's position only the height is used: the grid defines the rest. Missing attributes are those of the base.
    Raises `WriteError` if the numbers of points and slots differ, or if a value does not fit a slot.
    """
    if len(ground.positions) != len(base.slots):
        words = "{!r} has {:# point|# points}, the grid has {:# slot|# slots}"
        raise WriteError(
            say(words, ground.name, len(ground.positions), len(base.slots)),
            remedy="Import the grid again: its points must not be deleted, joined or added to",
        )
    problems.refuse(_out_of_range(ground, base), ground.name)
    changes = Changes()
    document = replace(base, slots=_encode_slots(ground, base, changes))
    if models is not None:
        _encode_models(document, base, models, changes)
    return (document if changes else base), changes


def named_models(document: Details) -> set[int]:
    """Return the numbers of all models that slots refer to, also of models that the file lacks."""
    named: set[int] = set()
    for index in range(4):
        named.update((np.flatnonzero(np.bincount(models_of(document.slots, index) - EMPTY)) + EMPTY).tolist())
    return named - {EMPTY}


def report_missing(document: Details, named: set[int], report: Report) -> None:
    """Warn about models in ``named`` (those that slots refer to) that are not in the file."""
    missing = sorted(named - set(document.models))
    if missing:
        words = "slots refer to models that are not in the file: {}"
        report.warn(say(words, ", ".join(map(str, missing))), document.name)


def slot_blocks(document: Details) -> Iterator[Details]:
    """Yield the file with blocks of its slots, for computations that need too much memory for all slots together."""
    for at in range(0, len(document.slots), _SLOTS_PER_BLOCK):
        yield replace(document, slots=document.slots[at : at + _SLOTS_PER_BLOCK])


def columns(document: Details) -> tuple[str, ...]:
    """Return the names of the attributes of slots. Version 2 has no light."""
    light = () if document.header.version == 2 else (SUN, SKY, COLOUR)
    return (HEIGHT, *MODEL, *DENSITY, *light)


def column(document: Details, name: str) -> NDArray[Any]:
    """Return the values of one of `columns`; one at a time, because all together need much memory.

    `HEIGHT` (slots,) float32 metres; each of `MODEL` (slots,) int32, `EMPTY` for none; each of `DENSITY` (slots, 4)
    float32 density of that model at the corners (x0, y0), (x1, y0), (x0, y1), (x1, y1), 0 to 1; `SUN` and `SKY`
    (slots,) float32 0 to 1, `COLOUR` (slots, 4) float32 red, green, blue and 1.
    """
    rows = document.slots
    if name == HEIGHT:
        with np.errstate(over="ignore"):  # floats of broken files
            return height_of(rows).astype(np.float32)
    if name in MODEL:
        return models_of(rows, MODEL.index(name))
    if name in DENSITY:
        return _fractions(density_of(rows, DENSITY.index(name)))
    if name == COLOUR:
        colours = np.ones((len(rows), 4), np.float32)
        for index in range(3):
            colours[:, index] = _fractions(shades_of(rows, 2 + index))
        return colours
    return _fractions(shades_of(rows, (SUN, SKY).index(name)))


def _fractions(steps: NDArray[np.uint8]) -> NDArray[np.float32]:
    result = steps.astype(np.float32)
    result /= MOST_SHADE
    return result


def is_off_ground(document: Details, densest: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (slots,) which slots are where the level has no ground: lowest height, no slot height, model or density.

    ``densest`` (slots,) is one model of each slot, `EMPTY` if it has none. The level compiler leaves such slots at -200
    m.
    """
    result: NDArray[np.bool_] = densest == EMPTY
    at = 0
    for block in slot_blocks(document):
        here = slice(at, at + len(block.slots))
        result[here] &= (ground_of(block.slots) == LOWEST) & (height_of(block.slots) == 0)
        for index in range(4):
            result[here] &= ~density_of(block.slots, index).any(axis=1)
        at = here.stop
    return result


def places(document: Details) -> NDArray[np.float32]:
    """Return (slots, 3) the middle of each slot, at the height of its ground."""
    if not len(document.slots):
        return np.zeros((0, 3), np.float32)  # one side of the grid may be declared as billions if the other is 0
    (width, depth), (x, z) = document.header.size, document.header.offset
    middles = [(np.arange(size) - start + 0.5) * SLOT_SIZE for size, start in ((width, x), (depth, z))]
    points = scratch((depth, width, 3), np.float32)
    points[..., 0], points[..., 1] = middles[0], middles[1][:, None]
    result: NDArray[np.float32] = points.reshape(-1, 3)
    for at in range(0, len(result), _SLOTS_PER_BLOCK):
        result[at : at + _SLOTS_PER_BLOCK, 2] = ground_of(document.slots[at : at + _SLOTS_PER_BLOCK])
    return result


def _encode_slots(ground: Mesh, base: Details, changes: Changes) -> NDArray[np.void]:
    version, values = base.header.version, unpack(base.slots)
    is_old_version = version == 2
    heights = _values_or(ground, HEIGHT, values.height)
    grounds = ground.positions[:, 2].astype(np.float64)
    magnitude_sum = np.abs(values.ground) + np.abs(values.height)
    ground_edited = np.logical_not(
        quantum.unedited(grounds, values.ground, 0 if is_old_version else GROUND_STEP, magnitude=values.ground)
    )
    old_heights = column(base, HEIGHT).astype(np.float64)
    height_edited = np.logical_not(
        quantum.unedited(heights, old_heights, 0 if is_old_version else HEIGHT_STEP, magnitude=magnitude_sum)
    )
    message = say("a height of {!r} is NaN or infinite", ground.name)
    rebase.refuse_not_finite(message, "Set it again", grounds[ground_edited], heights[height_edited])
    new = SlotValues(
        np.where(ground_edited, grounds, values.ground),
        np.where(height_edited, heights, values.height),
        values.models.copy(),
        values.density.copy(),
        None if values.shades is None else values.shades.copy(),
    )
    changes.count(ground_edited, "{:# height of the ground|# heights of the ground}")
    changes.count(height_edited, "{:# height of slots|# heights of slots}")
    for index in range(4):
        new.models[:, index] = _values_or(ground, MODEL[index], values.models[:, index])
        fractions = _values_or(ground, DENSITY[index], _fractions(values.density[:, index]))
        new.density[:, index] = _steps(fractions, values.density[:, index], _nearest_steps)
    edited = (new.models != values.models).any(axis=1)
    changes.count(edited, "{:# slot with other models|# slots with other models}")
    edited = (new.density != values.density).any(axis=(1, 2))
    changes.count(edited, "{:# slot with other densities|# slots with other densities}")
    if new.shades is not None and values.shades is not None:
        fractions = _shades(ground, _fractions(values.shades))
        new.shades[:] = _steps(fractions, values.shades, shade_steps)
        edited = (new.shades != values.shades).any(axis=1)
        changes.count(edited, "{:# slot with other light or colour|# slots with other light or colour}")
    if not changes:
        return base.slots
    rows = pack(new, version, base.slots["unknown"] if is_old_version else None)
    if is_old_version:
        unedited = ~(ground_edited | height_edited)
        rows["bottom"][unedited], rows["top"][unedited] = base.slots["bottom"][unedited], base.slots["top"][unedited]
    return rows


def _values_or(ground: Mesh, name: str, default: NDArray[Any]) -> NDArray[Any]:
    values = ground.values(name, Domain.VERTEX)
    return default if values is None else values


def _shades(ground: Mesh, default: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (slots, 5) sun, sky, red, green, blue of the points, from ``default`` if an attribute is missing."""
    sun, sky = (_values_or(ground, name, default[:, index]) for index, name in enumerate((SUN, SKY)))
    colour = _values_or(ground, COLOUR, default[:, 2:])[:, :3]
    return np.concatenate([sun[:, None], sky[:, None], colour], axis=1)


def _nearest_steps(fractions: NDArray[np.float32]) -> NDArray[np.float32]:
    result: NDArray[np.float32] = np.rint(np.nan_to_num(fractions) * MOST_SHADE)
    return result


def _steps(
    fractions: NDArray[Any], base: NDArray[np.uint8], to_steps: Callable[[NDArray[Any]], NDArray[Any]]
) -> NDArray[np.uint8]:
    """Return the base's steps where ``fractions`` are unedited, else the result of ``to_steps``."""
    if np.array_equal(fractions, _fractions(base)):
        return base
    same = quantum.unedited(fractions, base / MOST_SHADE, 1 / MOST_SHADE)
    return np.where(same, base, np.clip(to_steps(fractions), 0, MOST_SHADE)).astype(np.uint8)


def _encode_models(document: Details, base: Details, models: Mapping[int, Dm], changes: Changes) -> None:
    """Replace the models of ``document``, which is a copy of ``base``."""
    if len(models) > MODELS:
        words = "{:# detail model|# detail models}, the game supports {}"
        raise WriteError(say(words, len(models), MODELS), remedy="Leave some out")
    numbered = dict(models)
    changes.resized("models {} -> {}", len(base.models), len(models))
    different = [
        number
        for number, model in numbered.items()
        if number in base.models and dm.write(model) != dm.write(base.models[number])
    ]
    if different:
        changes.note(say("{:# model|# models}", len(different)))
    if numbered.keys() == base.models.keys():
        document.models = numbered
        return
    document.header = replace(base.header, models=len(models))
    document.models = numbered
    document.model_run = ChunkRun([Chunk(number, dm.write(model)) for number, model in numbered.items()])
    if base.run.first(1) is None:
        document.run = ChunkRun([Chunk(1, b""), *base.run.chunks], base.run.tail)


def _out_of_range(ground: Mesh, base: Details) -> Iterator[Problem]:
    highest = _MOST_MODEL[base.header.version]
    for name in MODEL:
        values = ground.values(name, Domain.VERTEX)
        if values is not None:
            wrong = np.logical_or(values < EMPTY, values > highest)
            yield from problems.some(
                wrong,
                "slot|slots",
                "{0:has|have} a {2} the file cannot store",
                "Give {0:it|them} a number from 0 to {3}, or {4} for none",
                Domain.VERTEX,
                fatal=True,
                values=(name, highest, EMPTY),
            )


def _heights_out_of_range(ground: Mesh) -> Iterator[Problem]:
    """Yield heights that version 3 cannot store and that would be clipped to its range."""
    heights = ground.positions[:, 2].astype(np.float64)
    highest = LOWEST + MOST_GROUND * GROUND_STEP
    with np.errstate(invalid="ignore"):
        wrong = (heights < LOWEST - GROUND_STEP) | (heights > highest + GROUND_STEP)
    what = "{0:lies|lie} below {2:g} or above {3:g} m, which the file cannot store"
    remedy = "Move {0:it|them}"
    yield from problems.some(wrong, "slot|slots", what, remedy, Domain.VERTEX, values=(LOWEST, highest))
    slot_heights = ground.values(HEIGHT, Domain.VERTEX)
    if slot_heights is not None:
        wrong = np.logical_or(slot_heights < -HEIGHT_STEP, slot_heights > (MOST_HEIGHT + 1) * HEIGHT_STEP)
        yield from problems.some(
            wrong,
            "slot|slots",
            "{0:is|are} less than 0 or more than {2:g} m high, which the file cannot store",
            "Give {0:it|them} another height",
            Domain.VERTEX,
            values=(MOST_HEIGHT * HEIGHT_STEP,),
        )


def find_problems(ground: Mesh, base: Details, models: int | None = None) -> Iterator[Problem]:
    """Yield values that the file cannot store, and slots that refer to a model number of ``models`` or above.

    ``models`` is the number of the file's models; None: as many as the base has.
    """
    yield from _out_of_range(ground, base)
    if base.header.version > 2:
        yield from _heights_out_of_range(ground)
    count = len(base.models) if models is None else models
    if count > MODELS:
        words = "it has {:# detail model|# detail models}, the game supports {}"
        yield problems.whole(say(words, count, MODELS), "Leave some out")
    for name in MODEL:
        values = ground.values(name, Domain.VERTEX)
        if values is not None:
            wrong = np.logical_and(values >= count, values <= _MOST_MODEL[base.header.version])
            what = "{0:has|have} a {2} that is not one of the file's {3:# model|# models}"
            remedy = "Choose another, or add the model"
            yield from problems.some(wrong, "slot|slots", what, remedy, Domain.VERTEX, values=(name, count))


# The grid: slots where points are -------------------------------------------------------------------------------------


def slot_numbers(points: Mesh, header: Header) -> NDArray[np.int64]:
    """Return (points,) the index of each point's slot, -1 for none."""
    by_position = _slots_by_position(points, header)
    stored = points.values(FILE_FACE, Domain.VERTEX)
    if stored is None:
        return by_position
    numbers = np.where((stored >= 0) & (stored < header.slots), stored, -1).astype(np.int64)
    if len(numbers) == header.slots and np.array_equal(numbers, np.arange(len(numbers))):
        return numbers
    unusable = _is_repeated(numbers) | (numbers < 0)
    numbers[unusable] = by_position[unusable]
    return numbers


def _is_repeated(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return (n,) which numbers occur several times; -1 is ignored."""
    _, group, count = np.unique(numbers, return_inverse=True, return_counts=True)
    result: NDArray[np.bool_] = (count[group.ravel()] > 1) & (numbers >= 0)
    return result


def _slots_by_position(points: Mesh, header: Header) -> NDArray[np.int64]:
    width, depth = header.size
    cells = np.floor(points.positions[:, :2].astype(np.float64) / SLOT_SIZE) + np.array(header.offset)
    with np.errstate(invalid="ignore"):
        inside = np.logical_and(cells >= 0, cells < np.array([width, depth])).all(axis=1)
    numbers = np.full(len(cells), -1, np.int64)
    x, z = cells[inside].astype(np.int64).T
    numbers[inside] = z * width + x
    return numbers


def find_misplaced(points: Mesh, header: Header) -> Iterator[Problem]:
    """Yield fatal problems: points outside the grid, and several points in one slot."""
    numbers = slot_numbers(points, header)
    remedy = "Delete them, or move them into the grid"
    yield from problems.some(
        numbers < 0,
        "face|faces",
        "{0:is|are} outside all slots",
        "Delete {0:it|them}, or move {0:it|them} into the grid",
        Domain.VERTEX,
        fatal=True,
    )
    remedy = "Delete all but one of each slot; undo triangulating"
    yield from problems.some(
        _is_repeated(numbers), "face|faces", "{0:is|are} in the slot of another face", remedy, Domain.VERTEX, fatal=True
    )


def arrange(points: Mesh, base: Details, report: Report) -> Mesh:
    """Return a mesh with one point per slot of the base, in its order. Raises `WriteError` for misplaced points.

    Reported: how many slots lost their face, and how many faces were moved sideways, which has no effect on their slot.
    """
    header, count = base.header, len(base.slots)
    numbers = slot_numbers(points, header)
    problems.refuse(find_misplaced(points, header), points.name)
    moved_sideways = int(np.count_nonzero(_slots_by_position(points, header) != numbers))
    if moved_sideways:
        words = (
            "{0:# face was|# faces were} moved sideways; "
            "{0:its slot is exported at its old position|their slots are exported at their old positions}"
        )
        report.warn(say(words, moved_sideways), points.name)
    if len(numbers) == count and np.array_equal(numbers, np.arange(count)):
        return points
    if count > len(numbers):
        words = "{:# slot has|# slots have} no face, so nothing grows there"
        report.warn(say(words, count - len(numbers)), points.name)
    result = decode(base, Report())
    is_lost = np.ones(count, np.bool_)
    is_lost[numbers] = False
    for model, density in zip(MODEL, DENSITY, strict=True):
        result.attributes[model].values[is_lost] = EMPTY
        result.attributes[density].values[is_lost] = 0
    result.positions[numbers, 2] = points.positions[:, 2]
    for name, attribute in result.attributes.items():
        values = points.values(name, Domain.VERTEX)
        if values is not None:
            attribute.values[numbers] = values
    return replace(result, name=points.name)


def new_grid(points: Mesh, models: Mapping[int, Dm]) -> Details:
    """Create a file with these models and the smallest grid that contains all points; its slots are empty.

    Raises `WriteError` without points, for points that are NaN, infinite or too far away, and for more than
    `MOST_SLOTS` slots; `ValueError` if the models are not numbered from 0 without gaps.
    """
    positions = points.positions[:, :2].astype(np.float64)
    if not len(positions):
        raise WriteError(say("{!r} has no faces", points.name), remedy="Draw a grid of squares of 2 m")
    if not np.isfinite(positions).all() or np.abs(positions).max() > 2**30:
        words = "a vertex of {!r} has a NaN or infinite position"
        raise WriteError(say(words, points.name), remedy="Move or delete it")
    if sorted(models) != list(range(len(models))):
        raise ValueError(say("models numbered {}", sorted(models)))
    cells = np.floor(positions / SLOT_SIZE).astype(np.int64)
    low, high = cells.min(axis=0), cells.max(axis=0)
    width, depth = (high - low + 1).tolist()
    if width * depth > MOST_SLOTS:
        words = "the faces of {!r} are spread over {} x {} slots"
        raise WriteError(say(words, points.name, width, depth), remedy="Leave out those that lie far away")
    slots = empty_slots(width * depth)
    return new([models[number] for number in sorted(models)], slots, (width, depth), (int(-low[0]), int(-low[1])))


def find_orphans(points: Mesh, gone: Iterable[int]) -> Iterator[Problem]:
    """Yield fatal problems: slots that refer to a removed model (``gone``)."""
    numbers = np.array(sorted(gone), np.int32)
    for name in MODEL:
        values = points.values(name, Domain.VERTEX)
        if values is not None and len(numbers):
            wrong = np.isin(values, numbers)
            missing = ", ".join(map(str, np.unique(values[wrong]).tolist()))
            yield from problems.some(
                wrong,
                "slot|slots",
                "{0:has|have} a {2} that is missing ({3})",
                "Give {0:it|them} another model or none, or restore the missing one",
                Domain.VERTEX,
                fatal=True,
                values=(name, missing),
            )


def renumbered(points: Mesh, old: Sequence[int]) -> Mesh:
    """Return the points with new model numbers: model ``old[i]`` becomes model i. Other numbers do not change."""
    table = {number: new_number for new_number, number in enumerate(old) if number != new_number and number >= 0}
    if not table:
        return points
    attributes = dict(points.attributes)
    for name in MODEL:
        values = points.values(name, Domain.VERTEX)
        if values is not None:
            changed = values.copy()
            for number, new_number in table.items():
                changed[values == number] = new_number
            attributes[name] = Attribute(Domain.VERTEX, changed)
    return replace(points, attributes=attributes)


# Preview --------------------------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]
DEFAULT_SPACING = 0.5
"""Metres between points of the raster."""
_POINTS_PER_BLOCK = 1 << 18
"""Number of raster points that are computed together, to keep temporary arrays small."""


@dataclass(frozen=True)
class Plants:
    """Plants of the preview, one row per plant.

    ``points`` (n, 3) float32, ``models`` (n,) int32 numbers of the models, ``rotations`` (n,) float32 radians about z,
    ``scales`` (n,) float32, and ``slot_heights`` (n,) float32 metres: the height of the slot, within which the engine
    searches the ground.
    """

    points: NDArray[np.float32]
    models: NDArray[np.int32]
    rotations: NDArray[np.float32]
    scales: NDArray[np.float32]
    slot_heights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.models)


def scatter(
    ground: Mesh, slots: NDArray[np.int64], scales: Mapping[int, tuple[float, float]], spacing: float = DEFAULT_SPACING
) -> Plants:
    """Distribute plants on these ``slots`` (n,) of the ground's points.

    ``scales``: model number -> minimum and maximum scale. Models without an entry are left out.
    """
    side = max(1, round(SLOT_SIZE / spacing))
    step = max(1, _POINTS_PER_BLOCK // side**2)
    blocks = [_scatter_block(ground, slots[at : at + step], scales, side) for at in range(0, len(slots), step)]
    if not blocks:
        return Plants(np.zeros((0, 3), np.float32), np.zeros(0, np.int32), *np.zeros((3, 0), np.float32))
    return Plants(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def _scatter_block(
    ground: Mesh, slots: NDArray[np.int64], scales: Mapping[int, tuple[float, float]], side: int
) -> tuple[NDArray[Any], ...]:
    # (slots, raster points, 6): random numbers for presence, choice of the model, x, y, rotation, scale
    random_values = _random_numbers(slots, side * side)
    raster = (np.arange(side) + 0.5) / side
    across, along = (axis.ravel() for axis in np.meshgrid(raster, raster))
    weights = np.stack([(1 - across) * (1 - along), across * (1 - along), (1 - across) * along, across * along])
    density: Floats = np.zeros((len(slots), side * side, 4))
    numbers = np.full((len(slots), 4), -1, np.int32)
    for index in range(4):
        stored_models, densities = (ground.values(names[index], Domain.VERTEX) for names in (MODEL, DENSITY))
        if stored_models is not None and densities is not None:
            numbers[:, index] = stored_models[slots]
            has_scale = np.isin(stored_models[slots], list(scales))
            corners = np.clip(np.nan_to_num(densities[slots]), 0, 1) * has_scale[:, None]
            density[..., index] = corners @ weights
    # The densest model at a raster point decides whether there is a plant; one of the models is chosen by density.
    total = density.sum(axis=-1)
    slot, where = np.nonzero(random_values[..., 0] < density.max(axis=-1))
    cumulative = np.cumsum(density[slot, where], axis=-1)
    chosen = np.minimum((cumulative <= (random_values[slot, where, 1] * total[slot, where])[:, None]).sum(axis=-1), 3)
    models = numbers[slot, chosen]
    points = ground.positions[slots[slot]].astype(np.float64)
    for axis, indices in enumerate((across, along)):
        shift = (random_values[slot, where, 2 + axis] - 0.5) / side
        points[:, axis] += (indices[where] - 0.5 + shift) * SLOT_SIZE
    # Searched for, not used as an index: the number of a model in a file can be anything.
    known = np.array(sorted(scales), np.int64)
    low, high = np.array([scales[number] for number in known.tolist()]).reshape(-1, 2).T
    row_of = np.searchsorted(known, models)
    sizes = low[row_of] + (high - low)[row_of] * random_values[slot, where, 5]
    rotations = random_values[slot, where, 4] * 2 * np.pi
    heights = ground.values(HEIGHT, Domain.VERTEX)
    slot_heights = np.zeros(len(slot)) if heights is None else heights[slots[slot]]
    return (
        points.astype(np.float32),
        models,
        *(column.astype(np.float32) for column in (rotations, sizes, slot_heights)),
    )


def _random_numbers(slots: NDArray[np.int64], indices: int) -> Floats:
    """Return (slots, places, 6) random numbers in [0, 1) that depend only on slot, place and column (splitmix64)."""
    columns = np.arange(indices * 6, dtype=np.uint64) + np.uint64(1)
    state = (slots.astype(np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15) + columns) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    result: Floats = ((state >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(len(slots), indices, 6)
    return result
