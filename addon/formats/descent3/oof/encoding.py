"""A `Model` back into an `.oof`: the base's chunks in their order, and in them what still means what the base says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ....core import space, text
from ....core.errors import WriteError
from ....core.model import parents_first
from ....core.report import Report
from .. import strings
from . import limits, surface
from .changes import Changes
from .decoding import decode, places_of_indices
from .document import NEWEST, Oof, Section, Value
from .faces import Faces
from .geometry import ALPHA_SINCE, ObjectHeader, SubObject, TextureNames
from .look_encoding import TextureTable
from .mesh_encoding import encode_mesh
from .model import Model, Part
from .motion_encoding import Precision
from .point_encoding import Indices, encode_points
from .track_encoding import encode_tracks

ORDER = (
    b"TXTR",
    b"OHDR",
    b"SOBJ",
    b"SPCL",
    b"GPNT",
    b"GRND",
    b"ATCH",
    b"NATH",
    b"WBAT",
    b"RANI",
    b"PANI",
    b"PINF",
)
"""In which the game's generator writes chunks (the place of GRND and PANI in it is not known)."""


@dataclass(frozen=True)
class Settings:
    """How a model is compared and written.

    ``normal_step`` is how far a component of a given normal may lie from the file's and still be untouched.
    """

    normal_step: float = 0.0
    precision: Precision = field(default_factory=Precision)


@np.errstate(over="ignore", invalid="ignore")  # damaged files hold numbers that overflow, and signalling NaNs
def encode(model: Model, base: Oof | None = None, settings: Settings | None = None) -> tuple[Oof, Changes]:
    """The base, or a new file of version 2300, with this model in it, and what changed. Raises `WriteError`.

    Where nothing changed it is the very base.
    """
    settings = settings or Settings()
    limits.check_hierarchy(model)
    changes = Changes()
    if base is None:
        base = _empty()
        changes.lines.append("a new model")
    indices = _indices(model, base)
    table = base.last(TextureNames)
    textures = TextureTable(list(table.names) if table is not None else [])
    for name in model.textures:
        textures.number(name)
    parts, told = _encode_parts(model, base, indices, textures, settings)
    changes.lines += told.lines
    changes.left_out += told.left_out
    sections = _with_parts(base, parts)
    if table is None or textures.stored != table.names:
        if table is not None:
            changes.lines.append(text.changed_count("textures", len(table.names), len(textures.stored)))
        sections = put(sections, b"TXTR", TextureNames(textures.stored))
    header = _encode_header(base, parts, changes)
    if header is not base.header:
        sections = put(sections, b"OHDR", header)
    for identifier, value in encode_points(model, base, indices, changes).items():
        sections = put(sections, identifier, value)
    for identifier, tracks in encode_tracks(model, base, indices, settings.precision, changes).items():
        sections = put(sections, identifier, tracks)
    if not changes:
        return base, changes
    limits.refuse(model, decode(base, Report()) if base.sub_objects else None)
    return replace(base, sections=sections), changes


def _empty() -> Oof:
    header = ObjectHeader(0, np.float32(0), np.zeros((2, 3), "<f4"), np.zeros(0, "<i4"))
    return Oof(NEWEST, [Section(b"OHDR", header)])


def put(sections: list[Section], identifier: bytes, value: Value | None) -> list[Section]:
    """The chunks with this value in the place of the last of its kind, or where the generator would put it.

    None takes the chunk out.
    """
    alike = (b"RANI", b"ANIM") if identifier == b"RANI" else (identifier,)
    places = [number for number, section in enumerate(sections) if section.id in alike]
    result = list(sections)
    if places and value is None:
        del result[places[-1]]
    elif places:
        result[places[-1]] = Section(sections[places[-1]].id, value)
    elif value is not None:
        earlier = ORDER[: ORDER.index(identifier)]
        before = [number for number, section in enumerate(sections) if section.id in earlier]
        result.insert(before[-1] + 1 if before else 0, Section(identifier, value))
    return result


def _indices(model: Model, base: Oof) -> Indices:
    """The file's index of each part: the base's where its parts are the same, else their places."""
    there = base.sub_objects
    taken: set[int] = set()
    sources = []
    for part in model.parts:
        known = 0 <= part.source < len(there) and part.source not in taken
        sources.append(part.source if known else -1)
        taken.add(part.source)
    same = sources == list(range(len(there)))
    numbers = [part.index for part in there] if same else list(range(len(model.parts)))
    return Indices(numbers, sources, places_of_indices(base), same)


def _encode_parts(
    model: Model, base: Oof, indices: Indices, textures: TextureTable, settings: Settings
) -> tuple[list[SubObject], Changes]:
    there, changes = base.sub_objects, Changes()
    gone = sorted(set(range(len(there))) - set(indices.sources))
    changes.lines += [f"{there[place].label}: taken out" for place in gone]
    result = []
    for place, part in enumerate(model.parts):
        source = indices.sources[place]
        old = there[source] if source >= 0 else None
        told = Changes()
        fresh = old if old is not None else _new_part(base.major)
        found = replace(encode_mesh(part.mesh, fresh, textures, told, normal_step=settings.normal_step))
        found.index, found.parent = indices.numbers[place], indices.of_part(part.parent)
        if old is None:
            told.lines.append("a new sub-object")
        else:
            _settle_place(found, old, indices, told)
        _encode_settings(part, found, old, told)
        changes.include(told, part.name)
        result.append(old if old is not None and not told else found)
    return result, changes


def _settle_place(found: SubObject, old: SubObject, indices: Indices, told: Changes) -> None:
    """Index and parent. A root may name itself, or a parent that is not there."""
    if found.index != old.index:
        told.lines.append(f"index {old.index} -> {found.index}")
    root = old.parent == old.index or old.parent not in indices.base_places
    if (found.parent < 0 and root) or found.parent == old.parent:
        found.parent = old.parent if found.index == old.index else found.parent
    else:
        told.lines.append("parent")


def _encode_settings(part: Part, found: SubObject, old: SubObject | None, told: Changes) -> None:
    """Offset, name and property string."""
    offset = space.descent_points(np.asarray(part.offset, np.float32))
    if not np.isfinite(offset).all() and (old is None or not np.array_equal(offset, old.offset, equal_nan=True)):
        raise WriteError(f"{part.name!r} stands at no finite place", remedy="Move it")
    same = old is not None and np.array_equal(offset.view(np.uint32), old.offset.view(np.uint32))
    found.offset = old.offset if old is not None and same else offset
    found.name = strings.kept_or_encoded(part.name, old.name if old is not None else None)
    found.properties = strings.kept_or_encoded(part.properties, old.properties if old is not None else None)
    if old is None:
        found.movement = np.array([-1, -1] if part.parent < 0 and part.spin_axis is None else [1, 2], "<i4")
        return
    changed = {"offset": not same, "name": found.name != old.name, "properties": found.properties != old.properties}
    told.lines += [name for name, is_changed in changed.items() if is_changed]


def _new_part(major: int) -> SubObject:
    nothing = np.zeros((0, 3), np.float32)
    return SubObject(
        0,
        -1,
        np.zeros(7, "<f4"),
        np.zeros(3, "<f4"),
        np.float32(0),
        np.array([-1, -1], "<i4"),
        np.zeros(3, "<f4"),
        b"\0",
        b"\0",
        np.array([-1, -1], "<i4"),
        np.zeros(0, "<i4"),
        nothing,
        nothing,
        np.zeros(0, np.float32) if major >= ALPHA_SINCE else None,
        Faces.none(),
    )


def _with_parts(base: Oof, parts: list[SubObject]) -> list[Section]:
    """The chunks with these sub-objects where the base has its own; further ones behind the last."""
    waiting = {part.index: part for part in parts}
    known = {id(part) for part in base.sub_objects}
    result: list[Section] = []
    last = None
    for section in base.sections:
        if not isinstance(section.value, SubObject) or id(section.value) not in known:
            result.append(section)
            continue
        part = waiting.pop(section.value.index, None)
        if part is not None:
            result.append(section if part is section.value else Section(section.id, part))
            last = len(result)
    if last is None:
        heads = [number for number, section in enumerate(result) if section.id in (b"TXTR", b"OHDR")]
        last = heads[-1] + 1 if heads else 0
    result[last:last] = [Section(b"SOBJ", part) for part in waiting.values()]
    return result


# The header ----------------------------------------------------------------------------------------------------------


def _encode_header(base: Oof, parts: list[SubObject], changes: Changes) -> ObjectHeader:
    """The base's numbers, changed by as much as what they measure: the generator measured in a scene of its own."""
    old = base.header
    there = base.sub_objects
    if len(parts) == len(there) and all(part is known for part, known in zip(parts, there, strict=True)):
        return old
    before, after = _rest_positions(there), _rest_positions(parts)
    was, now = (surface.radius(places) for places in (before, after))
    measured_more = float(old.radius) > float(was) * (1 + 1e-6)
    radius = old.radius if now == was else max(old.radius, now) if measured_more else now
    shift = _box(after) - _box(before) if len(before) else None
    box = (old.box + shift if shift is not None else _box(after)).astype("<f4")
    # A model that had no vertices has the true box.
    header = ObjectHeader(len(parts), np.float32(radius), box, old.details)
    if header.radius != old.radius or not np.array_equal(box, old.box) or header.sub_objects != old.sub_objects:
        changes.lines.append("radius or box")
        return header
    return old


def _box(places: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(places):
        return np.zeros((2, 3))
    return np.stack([places.min(axis=0), places.max(axis=0)])


def _rest_positions(parts: list[SubObject]) -> NDArray[np.float64]:
    """(vertices, 3) of all parts at rest, in the model's frame, float64."""
    places = {part.index: place for place, part in enumerate(parts)}
    parents = [-1 if part.parent == part.index else places.get(part.parent, -1) for part in parts]
    pivots = np.zeros((len(parts), 3))
    for place in parents_first(parents):
        pivots[place] = parts[place].offset
        if parents[place] >= 0:
            pivots[place] += pivots[parents[place]]
    found = [part.positions.astype(np.float64) + pivot for part, pivot in zip(parts, pivots, strict=True)]
    return np.concatenate([np.zeros((0, 3)), *found])
