"""Ground that was edited or drawn -> the points of a grid, one for each of its slots.

An imported point knows its slot by `FILE_FACE`. One that was drawn, or copied from another, is of the slot it stands
in. A slot without a point is empty: nothing grows there, its heights and light stay the file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....core import problems
from ....core.errors import WriteError
from ....core.model import FILE_FACE, Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report
from ..dm import Dm
from .document import SLOT_SIZE, Details, Header, new
from .ground import DENSITY, MODEL, decode
from .slots import EMPTY, empty_slots

MOST_SLOTS = 1 << 22
"""Of a new file: 4 x 4 km. The largest of the games has 0.1 million."""


def slot_numbers(points: Mesh, header: Header) -> NDArray[np.int64]:
    """(points,) the slot of each, -1 for none."""
    by_place = _slots_by_place(points, header)
    said = points.values(FILE_FACE, Domain.VERTEX)
    if said is None:
        return by_place
    numbers = np.where((said >= 0) & (said < header.slots), said, -1).astype(np.int64)
    if len(numbers) == header.slots and np.array_equal(numbers, np.arange(len(numbers))):
        return numbers
    twice = _repeated(numbers) | (numbers < 0)
    numbers[twice] = by_place[twice]
    return numbers


def _repeated(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) which stand for what another one stands for, too; -1 is nothing."""
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    result: NDArray[np.bool_] = (count[place.ravel()] > 1) & (numbers >= 0)
    return result


def _slots_by_place(points: Mesh, header: Header) -> NDArray[np.int64]:
    width, depth = header.size
    cells = np.floor(points.positions[:, :2].astype(np.float64) / SLOT_SIZE) + np.array(header.offset)
    with np.errstate(invalid="ignore"):
        inside = np.logical_and(cells >= 0, cells < np.array([width, depth])).all(axis=1)
    numbers = np.full(len(cells), -1, np.int64)
    x, z = cells[inside].astype(np.int64).T
    numbers[inside] = z * width + x
    return numbers


def find_misplaced(points: Mesh, header: Header) -> Iterator[Problem]:
    """Fatal: points of no slot, and several of one."""
    numbers = slot_numbers(points, header)
    remedy = "Delete them, or move them into the grid"
    yield from problems.some(numbers < 0, "faces", "stand in no slot", remedy, Domain.VERTEX, fatal=True)
    what = "stand in the slot of another face"
    remedy = "Delete all but one of each slot; undo triangulating"
    yield from problems.some(_repeated(numbers), "faces", what, remedy, Domain.VERTEX, fatal=True)


def arrange(points: Mesh, base: Details, report: Report) -> Mesh:
    """As many points as the base has slots, in its order. Raises `WriteError` for misplaced ones.

    Reported: how many slots lost their face, and how many faces were moved away from their slot, which moves nothing.
    """
    header, count = base.header, len(base.slots)
    numbers = slot_numbers(points, header)
    problems.refuse(find_misplaced(points, header), points.name)
    aside = int(np.count_nonzero(_slots_by_place(points, header) != numbers))
    if aside:
        report.warn(f"{aside} faces were moved away from their slots, which stay where they are", points.name)
    if len(numbers) == count and np.array_equal(numbers, np.arange(count)):
        return points
    if count > len(numbers):
        report.warn(f"slots without a face, where nothing grows: {count - len(numbers)}", points.name)
    whole = decode(base, Report())
    lost = np.ones(count, np.bool_)
    lost[numbers] = False
    for model, density in zip(MODEL, DENSITY, strict=True):
        whole.attributes[model].values[lost] = EMPTY
        whole.attributes[density].values[lost] = 0
    whole.positions[numbers, 2] = points.positions[:, 2]
    for name, attribute in whole.attributes.items():
        given = points.values(name, Domain.VERTEX)
        if given is not None:
            attribute.values[numbers] = given
    return replace(whole, name=points.name)


def new_grid(points: Mesh, models: Mapping[int, Dm]) -> Details:
    """A file of these models whose grid just holds all points, empty otherwise. Raises `WriteError`."""
    places = points.positions[:, :2].astype(np.float64)
    if not len(places):
        raise WriteError(f"{points.name!r} has no faces", remedy="Draw a grid of squares of 2 m")
    if not np.isfinite(places).all() or np.abs(places).max() > 2**30:
        raise WriteError(f"a vertex of {points.name!r} stands at no finite place", remedy="Clean the mesh up")
    if sorted(models) != list(range(len(models))):
        raise ValueError(f"models numbered {sorted(models)}")
    cells = np.floor(places / SLOT_SIZE).astype(np.int64)
    low, high = cells.min(axis=0), cells.max(axis=0)
    width, depth = (high - low + 1).tolist()
    if width * depth > MOST_SLOTS:
        raise WriteError(
            f"the faces of {points.name!r} are spread over {width} x {depth} slots",
            remedy="Leave out those that lie far away",
        )
    slots = empty_slots(width * depth)
    return new([models[number] for number in sorted(models)], slots, (width, depth), (int(-low[0]), int(-low[1])))


def find_orphans(points: Mesh, gone: Iterable[int]) -> Iterator[Problem]:
    """Fatal: slots with a model that was taken away."""
    numbers = np.array(sorted(gone), np.int32)
    for name in MODEL:
        values = points.values(name, Domain.VERTEX)
        if values is not None and len(numbers):
            wrong = np.isin(values, numbers)
            missing = ", ".join(map(str, np.unique(values[wrong]).tolist()))
            what = f"have a {name} that is gone ({missing})"
            remedy = "Give them another model or none, or bring it back"
            yield from problems.some(wrong, "slots", what, remedy, Domain.VERTEX, fatal=True)


def renumbered(points: Mesh, old: Sequence[int]) -> Mesh:
    """The points with models by their new numbers: ``old`` is what each was called before. Others stay as they are."""
    table = {number: place for place, number in enumerate(old) if number != place and number >= 0}
    if not table:
        return points
    attributes = dict(points.attributes)
    for name in MODEL:
        values = points.values(name, Domain.VERTEX)
        if values is not None:
            changed = values.copy()
            for number, place in table.items():
                changed[values == number] = place
            attributes[name] = Attribute(Domain.VERTEX, changed)
    return replace(points, attributes=attributes)
