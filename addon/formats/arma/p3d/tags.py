"""Tags of a LOD from Blender: named selections, named properties, mass, sharp edges, UV sets, and tags kept as bytes.

Tags with a row per point or face follow the rows of the file; a tag in which nothing changed keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....core import rebase
from ....core.changes import TEXTURE_COORDINATES, Changes, Noun
from ....core.errors import WriteError
from ....core.model import Domain, PolygonMesh
from ....core.polygons import next_corners, starts
from ....core.report import say
from .. import names
from .document import ARMA, FURTHER_UVS, LAST_TAG, MASS, POSED_POINTS, PROPERTY, SHARP_EDGES, TAG_FIELD, Lod, Tag
from .mesh import (
    MASS_ATTRIBUTE,
    PROXY,
    LodContent,
    blender_uvs,
    further_uvs,
    is_shown,
    selection_weights,
    uv_set_name,
)

Ints = NDArray[np.int64]

WEIGHT_STEP = 1e-6
"""Largest difference of a weight that counts as unedited."""
PROPERTY_FIELD = 64
"""Bytes of the name, and of the value, of a named property."""
ROW_TAGS = frozenset({b"#Selected#", b"#Hidden#", b"#Lock#"})
"""Tags with one byte per point and per face."""
SELECTION = b""
TAG_ORDER = (SHARP_EDGES, b"#Selected#", SELECTION, PROPERTY, MASS, POSED_POINTS, FURTHER_UVS, LAST_TAG)
"""Order in the files of the vendor's tools; `SELECTION` stands for all named selections."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the points and faces of the written LOD come from.

    ``point_source`` and ``face_source`` (n,): imported row, -1 for new ones. ``point_vertex`` and ``face_mesh`` (n,):
    vertex and face of Blender's mesh, -1 for rows that it does not show. ``row_of_base`` (imported points,) and
    ``row_of_vertex`` (vertices,): the written row, -1 for those that are not written.
    """

    point_source: Ints
    face_source: Ints
    point_vertex: Ints
    face_mesh: Ints
    row_of_base: Ints
    row_of_vertex: Ints
    corners: Corners


@dataclass(frozen=True, eq=False)
class Corners:
    """The corners of the written faces that Blender shows, all (n,).

    ``face`` and ``slot``: row and slot of the written face; ``mesh``: corner of Blender's mesh; ``decoded``: corner of
    the imported mesh that it is, -1 if its face is new or has other corners.
    """

    face: Ints
    slot: Ints
    mesh: Ints
    decoded: Ints


@dataclass
class TagEncoder:
    """Encodes the tags of one LOD.

    ``lod``: the LOD with its final points and faces. ``deleted``: ids of the tags of deleted proxies; ``renamed``: id
    of the tag of a proxy -> new path of its model. ``added``: selection, rows of the points and row of the face of each
    new proxy. ``decoded``: the mesh that an unedited import has. ``changes`` gets what changed.
    """

    content: LodContent
    base: Lod
    lod: Lod
    rows: Rows
    deleted: Collection[int]
    renamed: Mapping[int, str]
    added: Sequence[tuple[bytes, Ints, int]]
    decoded: PolygonMesh
    changes: Changes

    def __post_init__(self) -> None:
        # Of several tags with one name the first counts; damaged files have such tags.
        self.first = {tag.name: tag for tag in reversed(self.base.tags)}

    @property
    def mesh(self) -> PolygonMesh:
        """Blender's mesh."""
        return self.content.mesh

    @property
    def name(self) -> str:
        """Name of the mesh, for messages."""
        return self.mesh.name

    def tags(self) -> list[Tag]:
        """Return the tags: those of the base with what changed in them, new ones in the order of `TAG_ORDER`."""
        selections, new = self._selections()
        properties, more = self._properties()
        new += more
        kept = selections | properties
        result: list[Tag] = []
        deleted = self._match_uv_sets()
        for tag in self.base.tags:
            if id(tag) in deleted:
                continue
            if tag is self.first.get(SHARP_EDGES):
                data = self._sharp_edges()
            elif _is_property(tag) or not tag.name.startswith(b"#"):
                result += [kept[id(tag)]] if id(tag) in kept else []
                continue
            else:
                data = self._remapped(tag)
            result.append(tag if data == bytes(tag.data) else replace(tag, data=data))
        there = {tag.name for tag in result}
        if SHARP_EDGES not in there and (sharp := self._sharp_edges()):
            new.append(self._tag(SHARP_EDGES, sharp))
        if MASS not in there and (mass := self._mass(b"")).any():
            new.append(self._tag(MASS, mass.tobytes()))
        if self.base.signature == ARMA and not self.base.tags:
            new.append(self._tag(FURTHER_UVS, bytes(4) + _corner_uvs(self.lod).tobytes()))
        new += [
            self._tag(FURTHER_UVS, self._uv_set(number.to_bytes(4, "little"), name)) for number, name in self.new_uvs
        ]
        if LAST_TAG not in there:
            new.append(self._tag(LAST_TAG, b""))
        for tag in new:
            _insert(result, tag)
        return result

    def _tag(self, name: bytes, data: bytes) -> Tag:
        return new_tag(self.base.signature, name, data)

    def _remapped(self, tag: Tag) -> bytes:
        """Return the content of a tag that is no selection, with the rows of the file."""
        data, size = bytes(tag.data), len(tag.data)
        count, total = len(self.base.points), len(self.base.faces)
        if tag.name in ROW_TAGS and size == count + total:
            return _rows(data, self.rows.point_source, self.rows.face_source, count)
        if tag.name == MASS and size == 4 * count:
            return self._mass(data, edited=tag is self.first[MASS]).tobytes()
        if tag.name == POSED_POINTS and size == 4 + 12 * count:
            posed = np.frombuffer(data, "<f4", offset=4).reshape(-1, 3)
            result = self.lod.points["position"].copy()
            old = self.rows.point_source >= 0
            result[old] = posed[self.rows.point_source[old]]
            return data[:4] + result.tobytes()
        if tag.name == FURTHER_UVS and size == 4 + 8 * int(self.base.used_corners().sum()):
            return self._uv_set(data, self.uvs_of.get(id(tag), ""))
        return data

    def _match_uv_sets(self) -> set[int]:
        """Find the UV map of each UV set. Returns the ids of the tags whose UV map was deleted."""
        tags = {number: tag for number, (tag, _) in further_uvs(self.base).items() if number in self.content.shown_uvs}
        self.uvs_of = {id(tag): uv_set_name(number) for number, tag in tags.items()}
        deleted = {index for index, name in self.uvs_of.items() if name not in self.mesh.more_uvs}
        numbers = {int(name.rpartition(" ")[2]): name for name in self.mesh.more_uvs}
        self.new_uvs = [(number, name) for number, name in sorted(numbers.items()) if number not in tags]
        before = sum(1 for tag in self.base.tags if tag.name == FURTHER_UVS and tag.data[:4] != bytes(4))
        if deleted or self.new_uvs:
            self.changes.resized("UV sets {} -> {}", before + 1, before + 1 - len(deleted) + len(self.new_uvs))
        return deleted

    def _uv_set(self, data: bytes, name: str) -> bytes:
        """Return a UV set with the rows of the file, edited as the UV map ``name`` if it has one.

        Set 0 is a copy of the faces' own UVs in nearly all files, and stays one.
        """
        result = _corner_uvs(self.lod)
        if data[:4] == bytes(4) and data[4:] == _corner_uvs(self.base).tobytes():
            return data[:4] + result.tobytes()
        mine = starts(self.lod.used_corners().sum(axis=1))
        if len(data) > len(bytes(4)):
            self._copy_uvs(result, np.frombuffer(data, "<f4", offset=4).reshape(-1, 2), mine)
        given, seen, corners = self.mesh.more_uvs.get(name), self.decoded.more_uvs.get(name), self.rows.corners
        if given is None:
            return data[:4] + result.tobytes()
        new = corners.decoded < 0 if seen is not None else np.ones(len(corners.decoded), np.bool_)
        changed = new.copy()
        if seen is not None:
            changed |= differ_as_bits(given[corners.mesh], seen[np.maximum(corners.decoded, 0)])
        values = blender_uvs(given[corners.mesh[changed]])
        what = say("a face of {!r} has NaN or infinite UVs", self.name)
        rebase.refuse_not_finite(what, "Unwrap the face again", values)
        result[mine[corners.face[changed]] + corners.slot[changed]] = values
        self.changes.count(changed & ~new, TEXTURE_COORDINATES)
        return data[:4] + result.tobytes()

    def _copy_uvs(self, result: NDArray[np.float32], stored: NDArray[np.float32], mine: Ints) -> None:
        """Copy the UVs of imported faces into ``result``; ``mine`` (faces,): where those of each face begin."""
        begin = starts(self.base.used_corners().sum(axis=1))
        old = np.flatnonzero(self.rows.face_source >= 0)
        source = self.rows.face_source[old]
        same = self.lod.faces["count"][old] == self.base.faces["count"][source]
        used = self.lod.used_corners()[old]
        for index in range(4):
            inside = same & used[:, index]
            result[mine[old[inside]] + index] = stored[begin[source[inside]] + index]

    def _mass(self, data: bytes, *, edited: bool = True) -> NDArray[np.float32]:
        """(points,): the mass of each point, with ``edited`` as Blender's mesh has it, if it has the attribute."""
        given = self.mesh.values(MASS_ATTRIBUTE, Domain.VERTEX)
        base = np.frombuffer(data, "<f4") if data else np.zeros(len(self.base.points), np.float32)
        result = np.zeros(len(self.rows.point_source), np.float32)
        old = self.rows.point_source >= 0
        result[old] = base[self.rows.point_source[old]]
        if given is None or not edited:
            return result
        rows = np.flatnonzero(self.rows.point_vertex >= 0)
        values = given[self.rows.point_vertex[rows]].astype(np.float32)
        kept, changed = rebase.restore_from_sources(values, base, self.rows.point_source[rows])
        what = say("a vertex of {!r} has a NaN or infinite mass", self.name)
        rebase.refuse_not_finite(what, "Set it in the mesh's attribute mass", kept[changed])
        result[rows] = kept
        changed &= self.rows.point_source[rows] >= 0
        self.changes.count(changed, "{:# point with another mass|# points with another mass}")
        return result

    def _sharp_edges(self) -> bytes:
        """Return the pairs of points: those of the file that were not smoothed in Blender, then new ones, sorted."""
        count = len(self.lod.points)
        tag = self.first.get(SHARP_EDGES)
        data = bytes(tag.data) if tag is not None else b""
        stored = np.frombuffer(data, "<u4", len(data) // 8 * 2).reshape(-1, 2).astype(np.int64)
        kept = self.rows.row_of_base[stored[(stored < len(self.rows.row_of_base)).all(axis=1)]]
        kept = kept[(kept >= 0).all(axis=1)]
        known, edges = _pair_keys(kept, count), _pair_keys(self._written(_edges(self.mesh)), count)
        now = np.intersect1d(edges, _pair_keys(self._written(self.mesh.sharp_edges), count))
        smoothed = np.isin(known, np.setdiff1d(edges, now))
        added = np.setdiff1d(now, known)
        if len(added) or smoothed.any():
            self.changes.note(say("sharp edges"))
        elif np.array_equal(self.rows.row_of_base, np.arange(len(self.base.points))):
            return data
        pairs = np.stack(np.divmod(added, max(count, 1)), axis=1)
        return np.concatenate([kept[~smoothed], pairs]).astype("<u4").tobytes()

    def _written(self, edges: NDArray[np.int32] | None) -> Ints:
        """Return (n, 2) the written rows of pairs of vertices, without pairs of which a vertex is not written."""
        if edges is None:
            return np.zeros((0, 2), np.int64)
        rows = self.rows.row_of_vertex[edges]
        written: Ints = rows[(rows >= 0).all(axis=1)]
        return written

    def _properties(self) -> tuple[dict[int, Tag], list[Tag]]:
        """Return id of each imported tag that stays -> the tag to write, and the tags of new properties.

        Of several properties with one name the last one is shown in Blender; the others stay with it.
        """
        wanted = dict(self.content.properties)
        base = [tag for tag in self.base.tags if _is_property(tag)]
        keys = [_property_text(tag, 0) for tag in base]
        last = {key: number for number, key in enumerate(keys)}
        kept: dict[int, Tag] = {}
        for number, (tag, key) in enumerate(zip(base, keys, strict=True)):
            value = _property_text(tag, PROPERTY_FIELD)
            if key not in wanted:
                self.changes.deleted[Noun.NAMED_PROPERTY] += last[key] == number
                continue
            kept[id(tag)] = tag
            if last[key] == number and wanted[key] != value:
                data = bytes(tag.data[:PROPERTY_FIELD]) + fixed(wanted[key], PROPERTY_FIELD, "value")
                kept[id(tag)] = replace(tag, data=data)
                self.changes.change(Noun.NAMED_PROPERTY, key, say("value"))
        new = []
        for key, value in wanted.items():
            if key not in last:
                data = fixed(key, PROPERTY_FIELD, "name") + fixed(value, PROPERTY_FIELD, "value")
                new.append(self._tag(PROPERTY, data))
                self.changes.add(Noun.NAMED_PROPERTY, key)
        return kept, new

    def _selections(self) -> tuple[dict[int, Tag], list[Tag]]:
        """Return id of each imported tag that stays -> the tag to write, and the tags of new selections."""
        groups, count = self.mesh.groups, len(self.base.points)
        weights = _dense(self.mesh)
        weights_before = selection_weights(self.base)
        exact = {name: number for number, name in enumerate(groups)}
        lower = {name.lower(): number for name, number in reversed(exact.items())}
        kept: dict[int, Tag] = {}
        matched, edited = set(), 0
        for tag in self.base.tags:
            name = names.decode(tag.name)
            if tag.name.startswith(b"#"):
                continue
            if len(tag.data) != count + len(self.base.faces) or not is_shown(name):
                if id(tag) not in self.deleted:
                    kept[id(tag)] = self._unshown_selection(tag, self.renamed.get(id(tag)))
                continue
            group = exact.get(name)
            before = weights_before[name]
            if group is None:  # selections that differ only in case have one vertex group
                group = lower.get(name.lower())
                before = np.max(
                    [weights for other, weights in weights_before.items() if other.lower() == name.lower()], axis=0
                )
            if group is None:
                self.changes.deleted[Noun.SELECTION] += 1
                continue
            matched.add(group)
            data = self._selection(bytes(tag.data), weights[group], before)
            if data != _rows(bytes(tag.data), self.rows.point_source, self.rows.face_source, count):
                edited += not self._is_redrawn(tag, data)
            kept[id(tag)] = tag if data == bytes(tag.data) else replace(tag, data=data)
        if edited:
            self.changes.note(Noun.SELECTION.counted(edited))
        fresh = [number for number in range(len(groups)) if number not in matched and weights[number].any()]
        return kept, self._new_selections(fresh, weights)

    def _new_selections(self, fresh: Sequence[int], weights: NDArray[np.float32]) -> list[Tag]:
        """Return the tags of the vertex groups ``fresh`` and of new proxies; ``weights`` (groups, vertices)."""
        new = []
        for number in fresh:
            name = self.mesh.groups[number]
            if name.startswith("#"):
                words = "{!r} has a selection named {!r}; names that begin with # are the file's own"
                raise WriteError(say(words, self.name, name), remedy="Rename its vertex group or point")
            data = self._selection(bytes(len(self.base.points) + len(self.base.faces)), weights[number], None)
            new.append(self._tag(names.encode(name), data))
            self.changes.add(Noun.SELECTION, name)
        for field, points, face in self.added:
            members = np.zeros(len(self.lod.points) + len(self.lod.faces), np.uint8)
            members[points], members[len(self.lod.points) + face] = 1, 1
            new.append(self._tag(field, members.tobytes()))
        return new

    def _is_redrawn(self, tag: Tag, data: bytes) -> bool:
        """Return whether a selection differs in rows alone that are new, which other changes name."""
        old = _rows(bytes(tag.data), self.rows.point_source, self.rows.face_source, len(self.base.points))
        same = np.frombuffer(old, np.uint8) == np.frombuffer(data, np.uint8)
        known = np.append(self.rows.point_source >= 0, self.rows.face_source >= 0)
        return bool(same[known].all())

    def _unshown_selection(self, tag: Tag, path: str | None) -> Tag:
        """Return a selection that Blender does not show, such as that of a proxy, under another ``path`` if given."""
        data = bytes(tag.data)
        if len(data) == len(self.base.points) + len(self.base.faces):
            data = _rows(data, self.rows.point_source, self.rows.face_source, len(self.base.points))
        if path is not None:
            return self._tag(names.encode(f"{PROXY}{path}"), data)
        return tag if data == bytes(tag.data) else replace(tag, data=data)

    def _selection(self, stored: bytes, weights: NDArray[np.float32], seen: NDArray[np.float32] | None) -> bytes:
        """Return the bytes of a selection: one per point and face, those of the file where nothing changed."""
        count = len(self.base.points)
        rows = np.frombuffer(_rows(stored, self.rows.point_source, self.rows.face_source, count), np.uint8).copy()
        points, faces = rows[: len(self.lod.points)], rows[len(self.lod.points) :]
        visible = np.flatnonzero(self.rows.point_vertex >= 0)
        given, source = weights[self.rows.point_vertex[visible]], self.rows.point_source[visible]
        before = np.full(len(visible), np.float32(-1))
        if seen is not None:
            before[source >= 0] = seen[source[source >= 0]]
        elif count:
            before[source >= 0] = 0
        edited = np.abs(given - before) > WEIGHT_STEP
        was_in = points[visible] != 0
        points[visible[edited]] = weight_bytes(given[edited])
        changed = np.zeros(len(self.lod.points), np.bool_)
        changed[visible] = (points[visible] != 0) != was_in
        corner = self.lod.faces["corners"]["point"]
        used = self.lod.used_corners() & (corner < len(changed))
        corner = np.where(used, corner, 0)
        again = ((changed[corner] & used).any(axis=1)) | ((self.rows.face_source < 0) & (self.rows.face_mesh >= 0))
        inside = ((points[corner] != 0) | ~used).all(axis=1)
        faces[again] = inside[again]
        return rows.tobytes()


def new_tag(signature: bytes, name: bytes, data: bytes) -> Tag:
    """Return a tag of a LOD with that ``signature``. Raises `WriteError` for names that Flashpoint has no room for."""
    if signature == ARMA:
        return Tag(name, data)
    if len(name) >= TAG_FIELD:
        words = "the name {!r} has more than {} characters"
        raise WriteError(say(words, name, TAG_FIELD - 1), remedy="Give it a shorter name")
    return Tag(name.ljust(TAG_FIELD, b"\0"), data)


def _dense(mesh: PolygonMesh) -> NDArray[np.float32]:
    """Return (groups, vertices) the weights of a mesh."""
    result = np.zeros((len(mesh.groups), len(mesh.positions)), np.float32)
    if mesh.weights is not None:
        result[mesh.weights.groups, mesh.weights.vertices] = mesh.weights.weights
    return result


def weight_bytes(weights: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the bytes (n,) of weights as the vendor's tools write them: 256 - 256 w, 1 for a weight of 1, 0 for 0."""
    shares = np.rint(np.clip(weights, 0, 1) * 256).astype(np.int64)
    return np.where(shares == 0, 0, np.clip(256 - shares, 1, 255)).astype(np.uint8)


def _rows(data: bytes, points: Ints, faces: Ints, count: int) -> bytes:
    """Return the bytes of points and faces in the order of the file's rows; 0 for new ones."""
    stored = np.frombuffer(data, np.uint8)
    parts = []
    for source, values in ((points, stored[:count]), (faces, stored[count:])):
        part = np.zeros(len(source), np.uint8)
        part[source >= 0] = values[source[source >= 0]]
        parts.append(part)
    return np.concatenate(parts).tobytes()


def _insert(tags: list[Tag], tag: Tag) -> None:
    """Insert a tag behind the last one that precedes it in `TAG_ORDER`."""
    rank = _rank(tag)
    tags.insert(next((index for index in range(len(tags), 0, -1) if _rank(tags[index - 1]) <= rank), 0), tag)


def _rank(tag: Tag) -> int:
    name = tag.name if tag.name.startswith(b"#") else SELECTION
    return TAG_ORDER.index(name) if name in TAG_ORDER else TAG_ORDER.index(FURTHER_UVS)


def _is_property(tag: Tag) -> bool:
    return tag.name == PROPERTY and len(tag.data) == 2 * PROPERTY_FIELD


def _property_text(tag: Tag, start: int) -> str:
    return names.decode(bytes(tag.data[start : start + PROPERTY_FIELD]).partition(b"\0")[0])


def fixed(text: str, size: int, what: str) -> bytes:
    """Return a text in a field of ``size`` bytes that ends with a zero. Raises `WriteError`."""
    data = names.encode(text)
    if len(data) >= size:
        words = "the {} {!r} has more than {:# character|# characters}"
        raise WriteError(say(words, what, text, size - 1), remedy="Shorten it")
    return data.ljust(size, b"\0")


def differ_as_bits(values: NDArray[np.float32], base: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return (n,) which rows differ as bits, with -0 as 0."""
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        first, other = (np.ascontiguousarray(side + np.float32(0)).view(np.int32) for side in (values, base))
    result: NDArray[np.bool_] = (first != other).any(axis=1)
    return result


def _corner_uvs(lod: Lod) -> NDArray[np.float32]:
    """Return (corners, 2) the UVs of the corners of all faces, in their order."""
    result: NDArray[np.float32] = np.ascontiguousarray(lod.faces["corners"]["uv"][lod.used_corners()])
    return result


def _edges(mesh: PolygonMesh) -> NDArray[np.int32]:
    """Return (corners, 2) the vertices of the edges of all faces."""
    return np.stack([mesh.corners, mesh.corners[next_corners(mesh.counts)]], axis=1)


def _pair_keys(pairs: Ints, count: int) -> Ints:
    """Return (n,) a number for each pair of points (n, 2) of ``count``, whatever their order; sorted as the pairs."""
    keys: Ints = pairs.min(axis=1, initial=count) * count + pairs.max(axis=1, initial=0)
    return keys
