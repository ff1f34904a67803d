"""Points and weapon batteries: chunks GPNT, GRND, ATCH, NATH, SPCL, WBAT <-> `Point` and `WeaponBattery`.

Unchanged points keep their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core import rebase, space
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.report import Message, Report, say
from .. import strings
from .document import (
    GUN_PARENTS_SINCE,
    POINT,
    POINT_WITHOUT_PARENT,
    AttachPoints,
    AttachUps,
    Batteries,
    Battery,
    GroundPoints,
    GunPoints,
    Oof,
    Points,
    SpecialPoint,
    SpecialPoints,
    Value,
)
from .model import Match, Model, Point, PointKind, WeaponBattery

_CHUNKS: dict[PointKind, tuple[bytes, type[GunPoints | GroundPoints | AttachPoints], Message]] = {
    PointKind.GUN: (b"GPNT", GunPoints, say("gun points")),
    PointKind.GROUND: (b"GRND", GroundPoints, say("ground points")),
    PointKind.ATTACH: (b"ATCH", AttachPoints, say("attach points")),
}


@dataclass(frozen=True)
class EncodedChunks:
    """Chunks that differ from the base's: id -> new value, None to remove the chunk; and the list of changes."""

    values: dict[bytes, Value | None] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)


# Decode --------------------------------------------------------------------------------------------------------------


def decode_points(document: Oof, report: Report) -> list[Point]:
    """Return all points, kind by kind, in Blender's axes."""
    indices = document.part_indices
    result: list[Point] = []
    for kind, (_, chunk, _) in _CHUNKS.items():
        points = document.last(chunk)
        if points is None:
            continue
        ups = _up_vectors(document, len(points.rows), report) if kind is PointKind.ATTACH else None
        for index, (row, parent) in enumerate(zip(points.rows, points.parents, strict=True)):
            result.append(
                Point(
                    kind,
                    indices.get(int(parent), -1),
                    space.descent_points(row["position"]),
                    space.descent_points(row["direction"]),
                    space.descent_points(ups[index]) if ups is not None else None,
                    source=index,
                )
            )
    return result + _special_points(document)


def _up_vectors(document: Oof, count: int, report: Report) -> NDArray[np.float32] | None:
    """Return the up vectors (attach points, 3), None if there are none or their number is wrong."""
    ups = document.last(AttachUps)
    if ups is not None and len(ups.rows) == count:
        vectors: NDArray[np.float32] = ups.rows["direction"]
        return vectors
    if ups is not None:
        words = "{:# up vector|# up vectors} for {:# attach point|# attach points}: the game ignores them"
        report.warn(say(words, len(ups.rows), count))
    return None


def _special_points(document: Oof) -> list[Point]:
    special = document.last(SpecialPoints)
    return [
        Point(
            PointKind.SPECIAL,
            -1,
            space.descent_points(point.position),
            name=strings.decode(point.name),
            properties=strings.decode(point.properties),
            radius=float(point.radius),
            source=index,
        )
        for index, point in enumerate(special.points if special is not None else ())
    ]


def decode_batteries(document: Oof) -> list[WeaponBattery]:
    """Return the weapon batteries, with turrets by part index."""
    indices, chunk = document.part_indices, document.last(Batteries)
    return [
        WeaponBattery(battery.guns.tolist(), [indices.get(int(part), -1) for part in battery.turrets])
        for battery in (chunk.batteries if chunk is not None else ())
    ]


# Encode --------------------------------------------------------------------------------------------------------------


def encode_points(model: Model, base: Oof, match: Match) -> EncodedChunks:
    """Return the chunks of points and batteries that differ from the base's. Raises `WriteError`."""
    result = EncodedChunks()
    for kind, (identifier, chunk, words) in _CHUNKS.items():
        old = base.last(chunk)
        rows = _encode_rows(model.of_kind(kind), kind, base, old, match)
        if _differ(rows, old):
            result.values[identifier] = chunk(rows) if len(rows) else None
            result.changes.note(words)
    ups = _encode_ups(model.of_kind(PointKind.ATTACH), base, match)
    if ups is not None and _differ(ups, base.last(AttachUps)):
        result.values[b"NATH"] = AttachUps(ups) if len(ups) else None
        result.changes.note(say("up vectors"))
    _encode_special(model, base, result)
    _encode_batteries(model, base, match, result)
    return result


def _differ(rows: NDArray[np.void], old: Points | None) -> bool:
    return len(rows) > 0 if old is None else rows.tobytes() != old.rows.tobytes()


def _encode_rows(points: list[Point], kind: PointKind, base: Oof, old: Points | None, match: Match) -> NDArray[np.void]:
    without_parent = kind is PointKind.GUN and base.version < GUN_PARENTS_SINCE
    layout = POINT_WITHOUT_PARENT if without_parent else POINT
    stored = old.rows if old is not None else np.zeros(0, layout)
    rows, sources = np.zeros(len(points), layout), _sources(points, len(stored))
    for row, point, source in zip(rows, points, sources, strict=True):
        if point.direction is None:
            raise WriteError(say("a {} has no direction", kind.value), remedy="Give it one")
        row["position"] = space.descent_points(np.asarray(point.position, np.float32))
        row["direction"] = space.descent_points(np.asarray(point.direction, np.float32))
        if not without_parent:
            old_parent = int(stored[source]["parent"]) if source >= 0 else -1
            row["parent"] = match.kept(old_parent, point.parent)
        elif point.parent != match.base_indices.get(0, 0):
            words = "this version's {}s all belong to sub-object 0"
            raise WriteError(say(words, kind.value), remedy="Choose Version 2300 in the export")
    _keep_stored(rows, stored, sources, ("position", "direction"))
    return rows


def _sources(points: list[Point], count: int) -> NDArray[np.int64]:
    """Return (points,) the row in the base of each point, -1 for new points and copies."""
    return rebase.sources(np.array([point.source for point in points], np.int64), len(points), count, unique=True)


def _keep_stored(
    rows: NDArray[np.void], old: NDArray[np.void], sources: NDArray[np.int64], fields: tuple[str, ...]
) -> None:
    """Restore the base's bits in unchanged rows. Raises `WriteError` if new numbers are NaN or infinite."""
    for name in fields:
        rows[name], fresh = rebase.restore_from_sources(rows[name], old[name], sources)
        rebase.refuse_not_finite(say("the {} of a point is NaN or infinite", name), "Move it", rows[name][fresh])


def _encode_ups(points: list[Point], base: Oof, match: Match) -> NDArray[np.void] | None:
    """Return the rows of NATH, or None to keep the base's chunk unchanged: no point had an up vector, and none has."""
    old, existing = base.last(AttachUps), base.last(AttachPoints)
    if all(point.up is None for point in points):
        count = len(existing.rows) if existing is not None else 0
        removed = old is not None and count > 0 and (len(old.rows) == count or not points)
        return np.zeros(0, POINT) if removed else None
    stored = old.rows if old is not None else np.zeros(0, POINT)
    rows, sources = np.zeros(len(points), POINT), _sources(points, len(stored))
    for row, point, source in zip(rows, points, sources, strict=True):
        up = point.up if point.up is not None else _any_up(point)
        row["direction"] = space.descent_points(np.asarray(up, np.float32))
        # The game ignores parent and position, which are those of a helper object.
        row["position"] = space.descent_points(np.asarray(point.position, np.float32))
        row["parent"] = match.of_part(point.parent)
        if source >= 0:
            row["position"] = stored[source]["position"]
            row["parent"] = stored[source]["parent"] if match.same else row["parent"]
    _keep_stored(rows, stored, sources, ("direction",))
    return rows


def _any_up(point: Point) -> NDArray[np.float32]:
    """Return a vector (3,) perpendicular to the direction: the game needs all attach points to have one, or none."""
    forward = np.asarray(point.direction, np.float64)
    least = np.eye(3)[int(np.argmin(np.abs(forward)))]
    across = np.cross(np.cross(forward, least), forward)
    length = float(np.linalg.norm(across))
    return (across / length if length > 0 else np.array([0.0, 0.0, 1.0])).astype(np.float32)


def _encode_special(model: Model, base: Oof, result: EncodedChunks) -> None:
    points, chunk = model.of_kind(PointKind.SPECIAL), base.last(SpecialPoints)
    stored = chunk.points if chunk is not None else []
    encoded = [
        _special_point(point, stored[source] if source >= 0 else None)
        for point, source in zip(points, _sources(points, len(stored)), strict=True)
    ]
    same = [_bits(point) for point in encoded] == [_bits(point) for point in stored]
    _replace_chunk(base, b"SPCL", SpecialPoints(encoded), chunk, say("special points"), same=same, result=result)


def _special_point(point: Point, old: SpecialPoint | None) -> SpecialPoint:
    position = space.descent_points(np.asarray(point.position, np.float32))
    radius = np.float32(point.radius)
    if old is None:
        return SpecialPoint(strings.encode(point.name), strings.encode(point.properties), position, radius)
    position = rebase.restore_unedited(position[None], old.position[None])[0][0]
    same = radius == old.radius or (np.isnan(radius) and np.isnan(old.radius))
    name = strings.kept_or_encoded(point.name, old.name)
    return SpecialPoint(
        name, strings.kept_or_encoded(point.properties, old.properties), position, old.radius if same else radius
    )


def _bits(point: SpecialPoint) -> tuple[bytes, ...]:
    return point.name, point.properties, point.position.tobytes(), point.radius.tobytes()


def _encode_batteries(model: Model, base: Oof, match: Match, result: EncodedChunks) -> None:
    chunk = base.last(Batteries)
    stored = chunk.batteries if chunk is not None else []
    encoded = []
    for index, battery in enumerate(model.batteries):
        turrets = [match.of_part(part) for part in battery.turrets]
        if index < len(stored) and len(stored[index].turrets) == len(turrets):
            pairs = zip(stored[index].turrets.tolist(), battery.turrets, strict=True)
            turrets = [match.kept(old, part) for old, part in pairs]
        encoded.append(Battery(np.array(battery.guns, "<i4"), np.array(turrets, "<i4")))
    same = [_members(battery) for battery in encoded] == [_members(battery) for battery in stored]
    _replace_chunk(base, b"WBAT", Batteries(encoded), chunk, say("batteries"), same=same, result=result)


def _members(battery: Battery) -> tuple[list[int], list[int]]:
    return battery.guns.tolist(), battery.turrets.tolist()


def _replace_chunk(
    base: Oof,
    identifier: bytes,
    value: SpecialPoints | Batteries,
    old: Value | None,
    words: Message,
    *,
    same: bool,
    result: EncodedChunks,
) -> None:
    """Store a chunk that differs from the base's. New files get both chunks even if empty, as from the game's tools."""
    if same and (old is not None or base.sub_objects):
        return
    if not same:
        result.changes.note(words)
    result.values[identifier] = value
