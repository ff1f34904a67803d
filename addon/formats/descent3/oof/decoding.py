"""An `.oof` as a `Model`: parts with their meshes and motions, points, batteries, in Blender's axes."""

from __future__ import annotations

import numpy as np

from ....core import space
from ....core.errors import ReadError
from ....core.model import parents_first
from ....core.report import Report
from .. import strings
from .document import Oof
from .mesh import decode_mesh
from .model import Model, Part, Point, PointKind, WeaponBattery
from .motion import decode_motions, spin_axis
from .points import AttachPoints, AttachUps, Batteries, GroundPoints, GunPoints, Points, SpecialPoints
from .pose import motion_tracks, parent_places

CHUNK_OF_KIND: dict[PointKind, type[Points]] = {
    PointKind.GUN: GunPoints,
    PointKind.GROUND: GroundPoints,
    PointKind.ATTACH: AttachPoints,
}


@np.errstate(over="ignore", invalid="ignore")  # damaged files hold numbers that overflow, and signalling NaNs
def decode(document: Oof, report: Report) -> Model:
    """The whole model. Raises `ReadError` where parents form a ring."""
    textures = document.textures
    parents = parent_places(document)
    check_hierarchy(document, report)
    motions, tracks = decode_motions(document, report), motion_tracks(document)
    parts = [
        Part(
            part.label,
            decode_mesh(part, textures, report),
            int(parents[number]),
            space.descent_points(part.offset),
            part.property_text,
            motions[number],
            spin_axis(tracks[number]),
            number,
        )
        for number, part in enumerate(document.sub_objects)
    ]
    return Model(document.name or "model", parts, _points(document, report), _batteries(document), textures)


def check_hierarchy(document: Oof, report: Report) -> None:
    """Raise `ReadError` where parents form a ring; report those that do not exist."""
    try:
        parents_first(parent_places(document))
    except ValueError as ring:
        raise ReadError(
            f"in the hierarchy of sub-objects, {ring}",
            file=document.file,
            chunk="SOBJ",
            remedy="The file is damaged: copy it again from its source",
        ) from None
    known = {part.index for part in document.sub_objects}
    for part in document.sub_objects:
        if part.parent != -1 and part.parent not in known:
            report.warn(f"its parent, sub-object {part.parent}, does not exist; taken as a root", part.label)


def places_of_indices(document: Oof) -> dict[int, int]:
    """Where in `Oof.sub_objects` the sub-object of an index is."""
    return {part.index: place for place, part in enumerate(document.sub_objects)}


def _points(document: Oof, report: Report) -> list[Point]:
    places = places_of_indices(document)
    result: list[Point] = []
    ups = document.last(AttachUps)
    for kind, chunk in CHUNK_OF_KIND.items():
        points = document.last(chunk)
        if points is None:
            continue
        found_ups = None
        if kind is PointKind.ATTACH and ups is not None:
            if len(ups.rows) == len(points.rows):
                found_ups = ups.rows["direction"]
            else:
                report.warn(f"{len(ups.rows)} up vectors for {len(points.rows)} attach points: the game ignores them")
        for number, (row, parent) in enumerate(zip(points.rows, points.parents, strict=True)):
            result.append(
                Point(
                    kind,
                    places.get(int(parent), -1),
                    space.descent_points(row["position"]),
                    space.descent_points(row["direction"]),
                    space.descent_points(found_ups[number]) if found_ups is not None else None,
                    source=number,
                )
            )
    special = document.last(SpecialPoints)
    for number, place in enumerate(special.points if special is not None else ()):
        result.append(
            Point(
                PointKind.SPECIAL,
                -1,
                space.descent_points(place.position),
                name=strings.decode(place.name),
                properties=strings.decode(place.properties),
                radius=float(place.radius),
                source=number,
            )
        )
    return result


def _batteries(document: Oof) -> list[WeaponBattery]:
    places = places_of_indices(document)
    found = document.last(Batteries)
    return [
        WeaponBattery(battery.guns.tolist(), [places.get(int(part), -1) for part in battery.turrets])
        for battery in (found.batteries if found is not None else ())
    ]
