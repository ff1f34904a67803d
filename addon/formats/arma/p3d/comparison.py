"""What differs between two models, LOD by LOD, in the words of an export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....core import rebase
from ....core.changes import OTHER_DATA, POSITIONS, Changes, Noun, Part
from ....core.rebase import named_or_in_order
from ....core.report import Message, Report, listed, say
from ....core.walk import Walk, pairs
from ..lod_kinds import MEMORY
from .document import Lod, P3d
from .encoding import encode_lod
from .mesh import content_of, decode_polygons, named_points, proxies
from .text import LOD_KEYS, VIEWS


def compare(before: P3d, after: P3d) -> Changes:
    """Return what differs in ``after``. Raises `WriteError` for content that an export would refuse."""
    changes = Changes(noun=Noun.LOD, unchanged=0)
    walk, paired = Walk(VIEWS), pairs(before.lods, after.lods, LOD_KEYS)
    for number, lod in enumerate(before.lods):
        if number not in paired:
            changes.deleted[Noun.LOD] += 1
            continue
        other = after.lods[paired[number]]
        if any(walk.differences(lod, other)):
            lines = list(_lines(lod, other)) or [OTHER_DATA]
            changes.parts.append(Part(other.name, Noun.LOD, fields=tuple(lines)))
        else:
            changes.unchanged = (changes.unchanged or 0) + 1
    for number in sorted(set(range(len(after.lods))) - set(paired.values())):
        changes.add(Noun.LOD, after.lods[number].name)
    return changes


def _lines(before: Lod, after: Lod) -> Iterator[Message]:
    content = content_of(after, after.name, Report())
    decoded = decode_polygons(before, Report(), {}, "")
    points = rebase.matched(*_point_rows(after, before)) if before.kind == MEMORY else None
    rebase.follow(content.mesh, decoded, points)
    own_proxies = content.proxies or []
    own = named_or_in_order([proxy.path for proxy in own_proxies], [proxy.name for proxy in proxies(before)])
    content.proxies = [replace(proxy, source=source) for proxy, source in zip(own_proxies, own, strict=True)]
    _, changes = encode_lod(content, before, Report())
    yield from lines_of(changes, before, after)


def _point_rows(*lods: Lod) -> list[NDArray[np.int64]]:
    """Return (points, 4) what tells the points of each LOD apart: the number of their names, else their positions."""
    numbers: dict[str, int] = {}
    result = []
    for lod in lods:
        rows = np.zeros((len(lod.points), 4), np.int64)
        for row, point, position in zip(rows, named_points(lod), lod.points["position"].view(np.int32), strict=True):
            row[:] = (numbers.setdefault(point.name, len(numbers) + 1), 0, 0, 0) if point.name else (0, *position)
        result.append(rows)
    return result


def lines_of(changes: Changes, before: Lod, after: Lod) -> Iterator[Message]:
    """Yield what changed in a LOD, with the names of selections, named properties, proxies and memory points."""
    names_of: dict[Noun, Callable[[Lod], list[str]]] = {
        Noun.SELECTION: lambda lod: [name for name, _, _ in lod.selections()],
        Noun.NAMED_PROPERTY: lambda lod: list(lod.properties()),
        Noun.PROXY: lambda lod: [proxy.name for proxy in proxies(lod)],
    }
    for noun, number in changes.deleted.items():
        gone = [name for name in names_of[noun](before) if name not in names_of[noun](after)]
        if number:
            count = noun.counted(number)
            yield say("{}, removed", say("{} ({})", count, listed(gone)) if gone else count)
    for noun, new in dict.fromkeys((part.noun, part.new) for part in changes.parts):
        names = [part.name for part in changes.parts if (part.noun, part.new) == (noun, new)]
        count = say("{} ({})", noun.counted(len(names)), listed(names))
        yield say("{}, new", count) if new else count
    moved = _moved_points(before, after) if before.kind == MEMORY else []
    for line in changes.lines:
        yield say("{} ({})", line, listed(moved)) if moved and line.template == POSITIONS else line


def _moved_points(before: Lod, after: Lod) -> list[str]:
    """Return the names of the points that both LODs have, at different positions."""
    positions = {
        named_point.name: named_point.transform for named_point in reversed(named_points(before)) if named_point.name
    }
    points = {
        named_point.name: named_point.transform
        for named_point in reversed(named_points(after))
        if named_point.name in positions
    }
    return [name for name in positions if name in points and not np.array_equal(positions[name], points[name])][::-1]
