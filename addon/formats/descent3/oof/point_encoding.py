"""Points and batteries of a model back into their chunks; what is as it was keeps its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum, space
from ....core.errors import WriteError
from .. import strings
from .changes import Changes
from .decoding import CHUNK_OF_KIND
from .document import Oof, Value
from .model import Model, Point, PointKind
from .points import (
    GUN_PARENTS_SINCE,
    POINT,
    POINT_WITHOUT_PARENT,
    AttachPoints,
    AttachUps,
    Batteries,
    Battery,
    GroundPoints,
    GunPoints,
    Points,
    SpecialPoint,
    SpecialPoints,
)

_IDS = {PointKind.GUN: b"GPNT", PointKind.GROUND: b"GRND", PointKind.ATTACH: b"ATCH"}


@dataclass(frozen=True, eq=False)
class Indices:
    """How the parts of a model lie in the file.

    ``numbers`` the index of each part; ``sources`` its place in the base or -1; ``base_places`` the places of the
    base's indices; ``same`` where the parts are the base's, in its order.
    """

    numbers: list[int]
    sources: list[int]
    base_places: dict[int, int]
    same: bool

    def of_part(self, place: int) -> int:
        """The index of a part by its place, -1 for none. Raises `WriteError` where there is no such part."""
        if place < 0:
            return -1
        if place >= len(self.numbers):
            raise WriteError(f"there is no part {place}", remedy="Give the point or turret to a part of the model")
        return self.numbers[place]

    def kept(self, stored: int, place: int) -> int:
        """The stored index where it still means this place, else the place's."""
        still = self.same and self.base_places.get(stored, -1) == place
        return stored if still else self.of_part(place)


def encode_points(model: Model, base: Oof, indices: Indices, changes: Changes) -> dict[bytes, Value | None]:
    """The chunks that are others, by their letters; None for one that goes."""
    result: dict[bytes, Value | None] = {}
    for kind, chunk in CHUNK_OF_KIND.items():
        points, old = model.of_kind(kind), base.last(chunk)
        old_layout = kind is PointKind.GUN and base.version < GUN_PARENTS_SINCE
        layout = POINT_WITHOUT_PARENT if old_layout else POINT
        rows = _rows(points, old.rows if old is not None else np.zeros(0, layout), layout, indices, kind)
        if _differ(rows, old):
            result[_IDS[kind]] = _chunk(kind, rows)
            changes.lines.append(f"{kind.value}s")
    ups = _up_rows(model.of_kind(PointKind.ATTACH), base, indices)
    if ups is not None and _differ(ups, base.last(AttachUps)):
        result[b"NATH"] = AttachUps(ups) if len(ups) else None
        changes.lines.append("up vectors")
    result |= _encode_special(model, base, changes)
    result |= _encode_batteries(model, base, indices, changes)
    return result


def _chunk(kind: PointKind, rows: NDArray[Any]) -> Value | None:
    if not len(rows):
        return None
    if kind is PointKind.GUN:
        return GunPoints(rows)
    return GroundPoints(rows) if kind is PointKind.GROUND else AttachPoints(rows)


def _differ(rows: NDArray[Any], old: Points | None) -> bool:
    return len(rows) > 0 if old is None else rows.tobytes() != old.rows.tobytes()


def _rows(
    points: list[Point], old: NDArray[Any], layout: np.dtype[Any], indices: Indices, kind: PointKind
) -> NDArray[Any]:
    rows = np.zeros(len(points), layout)
    known = _known(points, len(old))
    for number, (point, source) in enumerate(zip(points, known, strict=True)):
        if point.direction is None:
            raise WriteError(f"a {kind.value} has no direction", remedy="Give it one")
        rows[number]["position"] = space.descent_points(np.asarray(point.position, np.float32))
        rows[number]["direction"] = space.descent_points(np.asarray(point.direction, np.float32))
        if "parent" in (layout.names or ()):
            rows[number]["parent"] = (
                indices.kept(int(old[source]["parent"]), point.parent) if source >= 0 else indices.of_part(point.parent)
            )
        elif point.parent != indices.base_places.get(0, 0):
            raise WriteError(
                f"this version's {kind.value}s all belong to sub-object 0", remedy="Convert the file to version 2300"
            )
    _keep(rows, old, known, ("position", "direction"))
    return rows


def _known(points: list[Point], count: int) -> list[int]:
    """The row of the base each point is, -1 for new ones and copies."""
    taken: set[int] = set()
    result = []
    for point in points:
        known = 0 <= point.source < count and point.source not in taken
        result.append(point.source if known else -1)
        taken.add(point.source)
    return result


def _keep(rows: NDArray[Any], old: NDArray[Any], sources: list[int], names: tuple[str, ...]) -> None:
    """Give rows the base's bits where they still mean them. Raises `WriteError` for new numbers that are none."""
    known = np.array([number for number, source in enumerate(sources) if source >= 0], np.int64)
    chosen = np.array([source for source in sources if source >= 0], np.int64)
    for name in names:
        fresh = np.ones(len(rows), np.bool_)
        rows[name][known], fresh[known] = quantum.kept(rows[name][known], old[name][chosen])
        if not np.isfinite(rows[name][fresh]).all():
            raise WriteError(f"the {name} of a point is no number", remedy="Move it")


def _up_rows(points: list[Point], base: Oof, indices: Indices) -> NDArray[Any] | None:
    """The rows of NATH; None where none has an up vector and the base's chunk, whatever it says, stays."""
    old = base.last(AttachUps)
    if all(point.up is None for point in points):
        there = base.last(AttachPoints)
        gone = there is not None and len(there.rows) > 0 and not points
        return np.zeros(0, POINT) if gone and old is not None else None
    stored = old.rows if old is not None else np.zeros(0, POINT)
    known = _known(points, len(stored))
    rows = np.zeros(len(points), POINT)
    for number, (point, source) in enumerate(zip(points, known, strict=True)):
        up = point.up if point.up is not None else _any_up(point)
        rows[number]["direction"] = space.descent_points(np.asarray(up, np.float32))
        # Parent and position are the helper's own and mean nothing to the game.
        rows[number]["position"] = space.descent_points(np.asarray(point.position, np.float32))
        rows[number]["parent"] = indices.of_part(point.parent)
        if source >= 0:
            rows[number]["position"] = stored[source]["position"]
            rows[number]["parent"] = stored[source]["parent"] if indices.same else indices.of_part(point.parent)
    _keep(rows, stored, known, ("direction",))
    return rows


def _any_up(point: Point) -> NDArray[np.float32]:
    """Something upright to the direction: the game wants an up vector for all or for none."""
    forward = np.asarray(point.direction, np.float64)
    least = np.eye(3)[int(np.argmin(np.abs(forward)))]
    across = np.cross(np.cross(forward, least), forward)
    length = float(np.linalg.norm(across))
    return (across / length if length > 0 else np.array([0.0, 0.0, 1.0])).astype(np.float32)


def _encode_special(model: Model, base: Oof, changes: Changes) -> dict[bytes, Value | None]:
    points, old = model.of_kind(PointKind.SPECIAL), base.last(SpecialPoints)
    stored = old.points if old is not None else []
    known = _known(points, len(stored))
    found = []
    for point, source in zip(points, known, strict=True):
        before = stored[source] if source >= 0 else None
        position = space.descent_points(np.asarray(point.position, np.float32))
        radius = np.float32(point.radius)
        if before is not None:
            position = quantum.kept(position[None], before.position[None])[0][0]
            same = radius == before.radius or (np.isnan(radius) and np.isnan(before.radius))
            radius = before.radius if same else radius
        found.append(
            SpecialPoint(
                strings.kept_or_encoded(point.name, before.name if before is not None else None),
                strings.kept_or_encoded(point.properties, before.properties if before is not None else None),
                position,
                radius,
            )
        )
    if old is not None and [_parts(point) for point in found] == [_parts(point) for point in stored]:
        return {}
    if old is not None or found:
        changes.lines.append("special points")
    return {b"SPCL": SpecialPoints(found)} if old is not None or found or not base.sub_objects else {}


def _parts(point: SpecialPoint) -> tuple[bytes, ...]:
    return point.name, point.properties, point.position.tobytes(), point.radius.tobytes()


def _encode_batteries(model: Model, base: Oof, indices: Indices, changes: Changes) -> dict[bytes, Value | None]:
    old = base.last(Batteries)
    stored = old.batteries if old is not None else []
    found = []
    for number, battery in enumerate(model.batteries):
        turrets = [indices.of_part(place) for place in battery.turrets]
        if number < len(stored) and len(stored[number].turrets) == len(turrets):
            pairs = zip(stored[number].turrets.tolist(), battery.turrets, strict=True)
            turrets = [indices.kept(index, place) for index, place in pairs]
        found.append(Battery(np.array(battery.guns, "<i4"), np.array(turrets, "<i4")))
    same = [_lists(battery) for battery in found] == [_lists(battery) for battery in stored]
    if old is not None and same:
        return {}
    if old is not None or found:
        changes.lines.append("batteries")
    return {b"WBAT": Batteries(found)} if old is not None or found or not base.sub_objects else {}


def _lists(battery: Battery) -> tuple[list[int], list[int]]:
    return battery.guns.tolist(), battery.turrets.tolist()
