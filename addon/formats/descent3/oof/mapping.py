"""`Oof` <-> `Model`: sub-objects and the header. Meshes, points and tracks are in the modules with these names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, space
from ....core.changes import Changes
from ....core.errors import ReadError, WriteError
from ....core.model import parents_first
from ....core.report import Report, say
from .. import strings
from .document import (
    ALPHA_SINCE,
    NEWEST,
    POINT,
    SIZES_SINCE,
    TIMED_SINCE,
    Faces,
    GunPoints,
    ObjectHeader,
    Oof,
    PositionTracks,
    RotationTracks,
    Section,
    SubObject,
    TextureNames,
    Value,
)
from .mesh import TextureTable, decode_mesh, encode_mesh, face_sizes, radius
from .model import Floats, Match, Model, Part, check_hierarchy, refuse
from .points import EncodedChunks, decode_batteries, decode_points, encode_points
from .track import tracks_of
from .tracks import decode_motions, encode_tracks, spin_axis

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
"""Order in which the game's tools write chunks (for GRND and PANI it is unknown)."""


# Decode --------------------------------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # numbers of damaged files overflow or are signalling NaNs
def decode(document: Oof, report: Report) -> Model:
    """Return the whole model in Blender's axes. Raises `ReadError` if parents form a cycle."""
    textures, parents, tracks = document.textures, document.parent_indices, tracks_of(document)
    _check_parents(document, parents, report)
    motions = decode_motions(document, tracks, report)
    parts = [
        Part(
            part.label,
            decode_mesh(part, textures, report),
            int(parents[index]),
            space.descent_points(part.offset),
            part.property_text,
            motions[index],
            spin_axis(tracks[index]),
            index,
        )
        for index, part in enumerate(document.sub_objects)
    ]
    name = document.name or "model"
    return Model(name, parts, decode_points(document, report), decode_batteries(document), textures)


def _check_parents(document: Oof, parents: NDArray[np.int32], report: Report) -> None:
    """Raise `ReadError` if parents (parts,) form a cycle; report parents that do not exist."""
    try:
        parents_first(parents)
    except ValueError as cycle:
        raise ReadError(
            say("in the hierarchy of sub-objects, {}", cycle),
            file=document.file,
            chunk="SOBJ",
            remedy="Give one of them another parent in the tool that made it",
        ) from None
    known = document.part_indices
    for part in document.sub_objects:
        if part.parent != -1 and part.parent not in known:
            report.warn(say("its parent, sub-object {}, does not exist; treated as a root", part.parent), part.label)


# Encode --------------------------------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")
def encode(
    model: Model, base: Oof | None = None, before: Model | None = None, *, normal_step: float = 0.0
) -> tuple[Oof, Changes]:
    """Return the base file (or a new one of version 2300) with the model, and the changes; the base itself if none.

    ``before``: the decoded base, where the caller has it. ``normal_step``: largest difference of a normal's component
    from the file's that counts as unedited. Raises `WriteError` for what the format or the game cannot store. Five
    phases, each with one result:

    1. match: the sub-object of the base and the stored index of each part -> `Match`
    2. parts: sub-objects, texture table and header -> `EncodedParts`
    3. points: points and batteries -> `EncodedChunks`
    4. tracks: rotation and position keys -> `EncodedChunks`
    5. join: changed chunks replace or extend those of the base -> `Oof`
    """
    check_hierarchy(model)
    changes = Changes() if base is not None else Changes(new=say("a new model"))
    base = base or _empty()
    before = decode(base, Report()) if before is None else before
    match = _match(model, base)
    parts = _encode_parts(model, base, before, match, normal_step)
    points = encode_points(model, base, match)
    tracks = encode_tracks(model, base, match)
    for phase in (parts.chunks, points, tracks):
        changes.include(phase.changes)
    if not changes:
        return base, changes
    refuse(model, before if before.parts else None)
    return _join(base, parts, points, tracks), changes


def _empty() -> Oof:
    header = ObjectHeader(0, np.float32(0), np.zeros((2, 3), "<f4"), np.zeros(0, "<i4"))
    return Oof(NEWEST, [Section(b"OHDR", header)])


# Phase 1: match ------------------------------------------------------------------------------------------------------


def _match(model: Model, base: Oof) -> Match:
    """Match parts with the base's sub-objects. Parts keep the base's indices if they are its sub-objects in order,
    possibly followed by new parts; otherwise they are renumbered.
    """
    existing = base.sub_objects
    taken: set[int] = set()
    origins = [part.source if 0 <= part.source < len(existing) else -1 for part in model.parts]
    sources = []
    for origin in origins:
        sources.append(-1 if origin in taken else origin)
        taken.add(origin)
    same = sources == list(range(len(existing)))
    stored = list(range(len(model.parts)))
    numbers = [part.index for part in existing]
    if same or sources[: len(existing)] == stored[: len(existing)] == sorted(numbers):
        stored[: len(existing)] = numbers
    return Match(stored, sources, origins, base.part_indices, same)


# Phase 2: parts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EncodedParts:
    """``sub_objects`` in file order, those of the base if unchanged; ``chunks``: texture table and header."""

    sub_objects: list[SubObject]
    chunks: EncodedChunks


def _encode_parts(model: Model, base: Oof, before: Model, match: Match, normal_step: float) -> EncodedParts:
    existing, result = base.sub_objects, EncodedParts([], EncodedChunks())
    changes, values = result.chunks.changes, result.chunks.values
    table = base.last(TextureNames)
    textures = TextureTable(list(table.names) if table is not None else [])
    for name in model.textures:
        textures.index(name)
    removed = sorted(set(range(len(existing))) - set(match.sources))
    for index in removed:
        changes.note(say("taken out"), name=existing[index].label)
    for part, source, origin, index in zip(model.parts, match.sources, match.origins, match.stored, strict=True):
        old, of_part = existing[source] if source >= 0 else None, Changes()
        start = existing[origin] if origin >= 0 else _new_part(base.major)
        old_mesh = before.parts[origin].mesh if origin >= 0 else decode_mesh(start, [], Report())
        mesh = encode_mesh(part.mesh, start, old_mesh, textures, of_part, normal_step=normal_step)
        encoded = replace(mesh, index=index, parent=match.of_part(part.parent))
        if old is None:
            of_part = of_part if origin < 0 else Changes()  # how a copy differs from its original changes nothing
            of_part.note(say("a new sub-object"))
        else:
            _keep_parent(encoded, old, match, of_part)
        _encode_offset_and_texts(part, encoded, old, of_part)
        changes.include(of_part, part.label)
        result.sub_objects.append(old if old is not None and not of_part else encoded)
    if table is None or textures.stored != table.names:
        if table is not None:
            counts = len(table.names), len(textures.stored)
            changes.replaced("textures {} -> {}", *counts, same=say("textures"))
        values[b"TXTR"] = TextureNames(textures.stored)
    header = _encode_header(base, result.sub_objects)
    if header is not base.header:
        changes.note(say("radius or box"))
        values[b"OHDR"] = header
    return result


def _keep_parent(encoded: SubObject, old: SubObject, match: Match, changes: Changes) -> None:
    """Keep the stored parent of a root, which may be the sub-object itself or one that does not exist."""
    if encoded.index != old.index:
        changes.note(say("index {} -> {}", old.index, encoded.index))
    root = old.parent == old.index or old.parent not in match.base_indices
    if (encoded.parent < 0 and root) or encoded.parent == old.parent:
        encoded.parent = old.parent if encoded.index == old.index else encoded.parent
    else:
        changes.note(say("parent"))


def _encode_offset_and_texts(part: Part, encoded: SubObject, old: SubObject | None, changes: Changes) -> None:
    """Set offset, name and property string. Raises `WriteError` for a NaN or infinite offset."""
    offset = space.descent_points(np.asarray(part.offset, np.float32))
    if not np.isfinite(offset).all() and (old is None or not np.array_equal(offset, old.offset, equal_nan=True)):
        raise WriteError(say("{!r} has a NaN or infinite position", part.label), remedy="Move it")
    if old is None:
        encoded.offset, encoded.name = offset, strings.encode(part.name)
        encoded.properties = strings.encode(part.properties)
        encoded.movement = np.array([-1, -1] if part.parent < 0 and part.spin_axis is None else [1, 2], "<i4")
        return
    same = np.array_equal(offset.view(np.uint32), old.offset.view(np.uint32))
    encoded.offset = old.offset if same else offset
    encoded.name = strings.kept_or_encoded(part.name, old.name)
    encoded.properties = strings.kept_or_encoded(part.properties, old.properties)
    if not same:
        changes.note(say("offset"))
    if encoded.name != old.name:
        changes.note(say("name"))
    if encoded.properties != old.properties:
        changes.note(say("properties"))


def _new_part(major: int) -> SubObject:
    nothing = np.zeros((0, 3), np.float32)
    return SubObject(
        index=0,
        parent=-1,
        plane=np.zeros(7, "<f4"),
        offset=np.zeros(3, "<f4"),
        radius=np.float32(0),
        unused=np.array([-1, -1], "<i4"),
        center=np.zeros(3, "<f4"),
        name=b"\0",
        properties=b"\0",
        movement=np.array([-1, -1], "<i4"),
        free_space=np.zeros(0, "<i4"),
        positions=nothing,
        normals=nothing,
        alphas=np.zeros(0, np.float32) if major >= ALPHA_SINCE else None,
        faces=Faces.none(),
    )


def _encode_header(base: Oof, parts: list[SubObject]) -> ObjectHeader:
    """Return the base's header, with radius and box changed by as much as the parts' were.

    They are not recomputed because the game's tools measured them in a scene that may have contained more objects.
    """
    old, existing = base.header, base.sub_objects
    if len(parts) == len(existing) and all(part is known for part, known in zip(parts, existing, strict=True)):
        return old
    before, after = _rest_positions(existing), _rest_positions(parts)
    old_radius, new_radius = radius(before), radius(after)
    # The game's tools also measured helper objects, which became points.
    measured_more = float(old.radius) > float(old_radius) * (1 + 1e-6)
    if new_radius == old_radius:
        new_radius = old.radius
    elif measured_more:
        new_radius = max(old.radius, new_radius)
    # Without vertices in the base there is no difference to apply: the box is computed.
    box = polygons.bounds(after)
    box = (old.box + (box - polygons.bounds(before)) if len(before) else box).astype("<f4")
    header = ObjectHeader(len(parts), np.float32(new_radius), box, old.details)
    same = header.radius == old.radius and np.array_equal(box, old.box) and header.sub_objects == old.sub_objects
    return old if same else header


def _rest_positions(parts: list[SubObject]) -> Floats:
    """Return (vertices, 3) the vertices of all parts at rest, in model space."""
    indices = {part.index: index for index, part in enumerate(parts)}
    parents = [-1 if part.parent == part.index else indices.get(part.parent, -1) for part in parts]
    pivots = np.zeros((len(parts), 3))
    for index in parents_first(parents):
        pivots[index] = parts[index].offset
        if parents[index] >= 0:
            pivots[index] += pivots[parents[index]]
    result = np.empty((3, sum(len(part.positions) for part in parts)))
    end = 0
    for part, pivot in zip(parts, pivots, strict=True):
        start, end = end, end + len(part.positions)
        result[:, start:end] = part.positions.astype(np.float64).T + pivot[:, None]
    return result.T


# Phase 5: join -------------------------------------------------------------------------------------------------------


def _join(base: Oof, parts: EncodedParts, *chunks: EncodedChunks) -> Oof:
    sections = _with_parts(base, parts.sub_objects)
    for phase in (parts.chunks, *chunks):
        for identifier, value in phase.values.items():
            sections = _with_chunk(sections, identifier, value)
    return replace(base, sections=sections)


def _with_parts(base: Oof, parts: list[SubObject]) -> list[Section]:
    """Return the base's chunks with these sub-objects in place of its own, new ones after the last."""
    waiting = {part.index: part for part in parts}
    known = {id(part) for part in base.sub_objects}
    result: list[Section] = []
    end = None
    for section in base.sections:
        if not isinstance(section.value, SubObject) or id(section.value) not in known:
            result.append(section)
            continue
        part = waiting.pop(section.value.index, None)
        if part is not None:
            result.append(section if part is section.value else Section(section.id, part))
            end = len(result)
    if end is None:
        heads = [index for index, section in enumerate(result) if section.id in (b"TXTR", b"OHDR")]
        end = heads[-1] + 1 if heads else 0
    result[end:end] = [Section(b"SOBJ", part) for part in waiting.values()]
    return result


def _with_chunk(sections: list[Section], identifier: bytes, value: Value | None) -> list[Section]:
    """Return the chunks with the last of this kind replaced, or removed if ``value`` is None. A new chunk is inserted
    where the game's tools write it.
    """
    alike = (b"RANI", b"ANIM") if identifier == b"RANI" else (identifier,)
    existing = [index for index, section in enumerate(sections) if section.id in alike]
    result = list(sections)
    if existing and value is None:
        del result[existing[-1]]
    elif existing:
        result[existing[-1]] = Section(sections[existing[-1]].id, value)
    elif value is not None:
        earlier = ORDER[: ORDER.index(identifier)]
        before = [index for index, section in enumerate(sections) if section.id in earlier]
        result.insert(before[-1] + 1 if before else 0, Section(identifier, value))
    return result


# Conversion to other versions ----------------------------------------------------------------------------------------


def to_version(version: int, document: Oof, report: Report) -> Oof:
    """Convert a model to one of `VERSIONS`. Missing fields get default values; keys without times are rewritten.

    Warns of what the version cannot store: alphas of vertices, keys with times. Raises `ReadError` and `WriteError` as
    `decode` and `encode`.
    """
    before, major = document.major, version // 100
    if major < ALPHA_SINCE <= before:
        _warn_of_alphas(document, version, report)
    sections = [replace(section, value=_converted(section.value, before, major)) for section in document.sections]
    result = replace(document, version=version, sections=sections)
    without_tracks = [section for section in sections if not isinstance(section.value, RotationTracks | PositionTracks)]
    if (major >= TIMED_SINCE) == (before >= TIMED_SINCE) or len(without_tracks) == len(sections):
        return result
    result = replace(result, sections=without_tracks)
    if before >= TIMED_SINCE:
        for part, track in zip(document.sub_objects, tracks_of(document), strict=True):
            if track.moves or track.spin_axis is not None:
                report.warn(say("its keys are left out: version {} has no times of keys", version), part.label)
        return result
    result, changes = encode(decode(document, report), result)
    report.note("keys had no times: one tick is now the distance between two keys of the longest track")
    for line in changes.left_out:
        report.warn(line)
    return result


def _warn_of_alphas(document: Oof, version: int, report: Report) -> None:
    for part in document.sub_objects:
        if part.alphas is not None and (lost := int((part.alphas != 1).sum())):
            words = "{:# vertex loses its alpha|# vertices lose their alpha}, which version {} does not have"
            report.warn(say(words, lost, str(version)), part.label)


def _converted(value: Value | None, before: int, major: int) -> Value | None:
    """Return the value of a chunk for a version; ``before``, ``major``: hundreds of the old and of the new one."""
    if isinstance(value, SubObject):
        alphas = value.alphas if before >= ALPHA_SINCE else np.ones(len(value.positions), np.float32)
        faces = _with_sizes(value) if before < SIZES_SINCE else value.faces
        return replace(value, alphas=alphas if major >= ALPHA_SINCE else None, faces=faces)
    if isinstance(value, GunPoints) and "parent" not in (value.rows.dtype.names or ()):
        rows = np.zeros(len(value.rows), POINT)
        rows["position"], rows["direction"] = value.rows["position"], value.rows["direction"]
        return GunPoints(rows)
    return value


def _with_sizes(part: SubObject) -> Faces:
    faces, corners = part.faces, part.faces.corners["vertex"]
    if len(corners) and not ((corners.min() >= 0) and (corners.max() < len(part.positions))):
        return faces
    rows = faces.rows.copy()
    rows["sizes"] = face_sizes(part.positions, rows["normal"], faces.counts, corners)
    return Faces(rows, faces.counts, faces.corners)


VERSIONS = (NEWEST, 2200, 2100)
"""Versions in which a model can be written whatever version it has; the game's own tools write the first."""
CONVERSIONS: dict[str, Callable[[Oof, Report], Oof]] = {
    str(version): partial(to_version, version) for version in VERSIONS
}
"""Conversions by the name of the result, a version number."""
