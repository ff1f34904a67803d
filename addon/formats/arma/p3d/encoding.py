"""Encode a LOD from Blender: a new one, or edits of an imported one, whose unedited parts keep their bytes.

Points and faces of the imported LOD keep their order; new ones follow them. An unedited face keeps its row: flags,
corners, and the unused fourth corner of a triangle. What Blender does not show stays too: triangles of proxies, faces
without area, tags of unknown content. What the vendor's tools write (order of tags, bytes of weights, UV set 0) was
measured on 660 LODs of published models.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import rebase, space
from ....core.binary import as_in_file
from ....core.changes import NORMALS, POSITIONS, TEXTURE_COORDINATES, Changes, Noun
from ....core.errors import WriteError
from ....core.model import FILE_FACE, FILE_VERTEX, Domain, PolygonMesh
from ....core.polygons import row_groups, starts
from ....core.report import Report, say
from .. import names
from ..flag_groups import FACE_FLAGS, VERTEX_FLAGS
from .document import ARMA, FACE, POINT, TEXTURE_FIELD, Lod
from .mesh import (
    PROXY,
    LodContent,
    blender_uvs,
    decode_polygons,
    distinct_corners,
    is_of_proxy,
    proxies,
    proxy_tags,
)
from .tags import Corners, Rows, TagEncoder, differ_as_bits, fixed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

HIDDEN = 0x1000000
"""Flag of the points of proxies in the vendor's files."""
PROXY_TRIANGLE = np.array([(0, 0, 0), (0, 0, 2), (0, 1, 0)], np.float64)
"""(3, 3) the triangle of a proxy at the origin, in Blender's axes: the shorter leg is forward, the longer one up."""
PROXY_TOLERANCE = 1e-5
"""Largest difference of a proxy's matrix from the imported one with which its triangle keeps its bytes."""
NORMAL_STEP = 2e-4
"""Largest component difference of a normal that counts as unedited (0.01 degrees)."""


def encode_lod(content: LodContent, base: Lod | None, report: Report) -> tuple[Lod, Changes]:
    """Return the LOD, and what changed in it: ``base`` itself if nothing did.

    Raises `WriteError` for faces with more than four corners, NaN or infinite values, and texts that do not fit.
    """
    encoder = _Encoder(content, base if base is not None else _empty(), report)
    result = encoder.lod()
    if base is None:
        return result, Changes(new=say("a new LOD"))
    return (result, encoder.changes) if encoder.changes else (base, encoder.changes)


def _empty() -> Lod:
    nothing = np.zeros(0, np.int32)
    return Lod(ARMA, 0x100, 0, b"", np.zeros(0, POINT), np.zeros((0, 3), np.float32), np.zeros(0, FACE), [], nothing)


class _Encoder:
    """Encodes one LOD.

    Rows of the file: ``point_source`` and ``face_source`` (n,) are the imported rows, -1 for new ones; ``point_vertex``
    and ``face_mesh`` (n,) the vertices and faces of Blender's mesh, -1 for rows that it does not show.
    """

    def __init__(self, content: LodContent, base: Lod, report: Report) -> None:
        self.content, self.base, self.report = content, base, report
        self.mesh, self.name = content.mesh, content.mesh.name
        self.changes = Changes()
        self.decoded = decode_polygons(base, Report(), {}, self.name)
        if len(self.mesh.counts) and self.mesh.counts.max() > 4:
            words = "{!r} has a face with {:# corner|# corners}; the file stores 3 or 4"
            raise WriteError(
                say(words, self.name, int(self.mesh.counts.max())), remedy="Triangulate the face (Ctrl T in edit mode)"
            )
        self._match_proxies()
        self._match_points()
        self._match_faces()

    def lod(self) -> Lod:
        """Return the LOD."""
        points = self._points()
        normals, faces = self._faces()
        texts, face_texts = self._texts()
        result = replace(self.base, points=points, normals=normals, faces=faces, texts=texts, face_texts=face_texts)
        self._place_proxies(result)
        self._keep_missing(result)
        rows = Rows(
            self.point_source,
            self.face_source,
            self.point_vertex,
            self.face_mesh,
            self.row_of_base,
            self.row_of_vertex,
            self.corners,
        )
        encoder = TagEncoder(
            self.content,
            self.base,
            result,
            rows,
            self.deleted_proxies,
            self.renamed,
            self.added,
            self.decoded,
            self.changes,
        )
        result.tags = encoder.tags()
        stored = np.array([self.base.resolution], np.float32)
        result.resolution = np.float32(as_in_file(np.array([self.content.resolution]), stored)[0])
        if self.base.tags and result.resolution.tobytes() != np.float32(self.base.resolution).tobytes():
            self.changes.note(say("resolution"))
        return result

    # Correspondence of rows -----------------------------------------------------------------------------------------

    def _match_proxies(self) -> None:
        """Find the proxies that were deleted, with their faces, and the points that only proxies use."""
        base, wanted = self.base, self.content.proxies
        self.of_proxy = is_of_proxy(base)
        self.proxy_tags = proxy_tags(base)
        kept = range(len(self.proxy_tags)) if wanted is None else {proxy.source for proxy in wanted}
        self.deleted_faces = np.zeros(len(base.faces), np.bool_)
        self.deleted_proxies = set()
        for number, (tag, faces) in enumerate(self.proxy_tags):
            if number not in kept:
                self.deleted_faces[faces] = True
                self.deleted_proxies.add(id(tag))
        self.only_proxy = _used(base, self.of_proxy) & ~_used(base, ~self.of_proxy)
        self.needed = _used(base, self.of_proxy & ~self.deleted_faces)

    def _match_points(self) -> None:
        count, total = len(self.mesh.positions), len(self.base.points)
        stored = self.mesh.values(FILE_VERTEX, Domain.VERTEX)
        stored = np.full(count, -1, np.int64) if stored is None else stored
        self.copied = rebase.sources(stored, count, total)
        own = rebase.sources(stored, count, total, unique=True)
        # The triangle of a deleted proxy goes with its empty, although its points are vertices too.
        is_seen = np.ones(count, np.bool_)
        is_seen[own >= 0] = ~(self.only_proxy & ~self.needed)[own[own >= 0]]
        vertex = np.full(total, -1, np.int64)
        mine = np.flatnonzero((own >= 0) & is_seen)
        vertex[own[mine]] = mine
        kept = np.flatnonzero((vertex >= 0) | self.needed)
        added = np.flatnonzero(own < 0)
        self.point_source = np.append(kept, np.full(len(added), -1, np.int64))
        self.point_vertex = np.append(vertex[kept], added)
        self.row_of_base = _inverse(kept, total)
        self.row_of_vertex = _inverse(self.point_vertex, count)
        self.base_of_vertex = own

    def _match_faces(self) -> None:
        base, count = self.base, len(self.mesh.counts)
        stored = self.mesh.values(FILE_FACE, Domain.FACE)
        stored = np.full(count, -1, np.int64) if stored is None else stored
        self.copied_face = rebase.sources(stored, count, len(base.faces))
        own = rebase.sources(stored, count, len(base.faces), unique=True)
        seen_faces = self.decoded.values(FILE_FACE, Domain.FACE)
        self.shown_row = _inverse(
            seen_faces.astype(np.int64) if seen_faces is not None else np.zeros(0, np.int64), len(base.faces)
        )
        mine = np.flatnonzero(own >= 0)
        face = np.full(len(base.faces), -1, np.int64)
        face[own[mine]] = mine
        unseen = (self.shown_row < 0) & ~self.deleted_faces & self._points_stay()
        kept = np.flatnonzero((face >= 0) | unseen)
        added = np.flatnonzero(own < 0)
        self.face_source = np.append(kept, np.full(len(added), -1, np.int64))
        self.face_mesh = np.append(face[kept], added)
        if len(added) or len(kept) + int(self.deleted_faces.sum()) != len(base.faces):
            visible = ~self.of_proxy
            before = int(visible.sum())
            if not self.changes.resized("faces {} -> {}", before, len(added) + int(visible[kept].sum())):
                self.changes.note(say("faces redrawn"))

    def _points_stay(self) -> Bools:
        """(faces,): whether all points of each imported face that the file had are still in it."""
        stays = np.append(self.row_of_base >= 0, True)
        point = np.minimum(self.base.faces["corners"]["point"], len(self.base.points))
        result: Bools = (stays[point] | ~self.base.used_corners()).all(axis=1)
        return result

    # Points and faces -----------------------------------------------------------------------------------------------

    def _points(self) -> NDArray[np.void]:
        base = self.base.points
        result = np.zeros(len(self.point_source), POINT)
        old = self.point_source >= 0
        result[old] = base[self.point_source[old]]
        # Points of proxies are moved with their empties.
        of_proxy = np.zeros(len(result), np.bool_)
        of_proxy[old] = self.only_proxy[self.point_source[old]]
        rows = np.flatnonzero((self.point_vertex >= 0) & ~of_proxy)
        vertex, source = self.point_vertex[rows], self.point_source[rows]
        given = space.arma_points(self.mesh.positions[vertex])
        values, changed = rebase.restore_from_sources(given, base["position"], source)
        words = "a vertex of {!r} has a NaN or infinite position"
        rebase.refuse_not_finite(say(words, self.name), "Delete it, or undo the edit", values[changed])
        result["position"][rows] = values
        copied = self.copied[vertex]
        new = (source < 0) & (copied >= 0)
        result["flags"][rows[new]] = base["flags"][copied[new]]
        self._write_flags(result["flags"], VERTEX_FLAGS, Domain.VERTEX, rows, vertex)
        visible = int((~self.only_proxy).sum())
        after = len(rows) + int(((self.point_vertex < 0) & ~of_proxy).sum())
        self.changes.resized("points {} -> {}", visible, after)
        self.changes.count(changed & (source >= 0), POSITIONS)
        return result

    def _faces(self) -> tuple[NDArray[np.float32], NDArray[np.void]]:
        mesh, base = self.mesh, self.base
        result = np.zeros(len(self.face_source), FACE)
        old = np.flatnonzero(self.face_source >= 0)
        result[old] = base.faces[self.face_source[old]]
        points = result["corners"]["point"]
        used = (np.arange(4) < result["count"][:, None]) & (points < len(base.points))
        points[used] = self.row_of_base[points[used]]
        rows = np.flatnonzero(self.face_mesh >= 0)
        face, source = self.face_mesh[rows], self.face_source[rows]
        same, slots = self._same_corners(face, source)
        redrawn = ~same & (source >= 0)
        if redrawn.any():
            self.changes.note(say("faces redrawn"))
        self._draw(result, rows[~same], face[~same])
        self._write_flags(result["flags"], FACE_FLAGS, Domain.FACE, rows, face)
        corner = starts(mesh.counts)[face, None] + np.arange(4)
        filled = np.arange(4) < mesh.counts[face][:, None]
        number, own_corner = np.nonzero(filled)
        corners = corner[filled]
        into = rows[number], slots[number, own_corner]
        before = self._shown_corners(source, same)[number, own_corner]
        result["corners"]["point"][into] = self.row_of_vertex[mesh.corners[corners]]
        self.corners = Corners(*into, corners, before)
        self._write_uvs(result, into, corners, before)
        return self._write_normals(result, into, corners, before), result

    def _same_corners(self, face: Ints, source: Ints) -> tuple[Bools, Ints]:
        """Return which faces (n,) have the corners of their imported row, and (n, 4) the slot of each corner."""
        slots = np.tile(np.arange(4), (len(face), 1))
        row = (
            np.where(source >= 0, self.shown_row[np.maximum(source, 0)], -1) if len(self.shown_row) else source * 0 - 1
        )
        known = np.flatnonzero(row >= 0)
        same = np.zeros(len(face), np.bool_)
        if not len(known):
            return same, slots
        vertices = _padded(self.mesh, face[known])
        mine = np.where(vertices >= 0, self.base_of_vertex[np.maximum(vertices, 0)], -2)
        mine[vertices < 0] = -1
        same[known] = (mine == _padded(self.decoded, row[known])).all(axis=1)
        taken = distinct_corners(self.base)[source[known]]
        # Sorted so that the used slots come first, in their order.
        slots[known] = np.where(same[known, None], np.argsort(~taken, axis=1, kind="stable"), slots[known])
        return same, slots

    def _shown_corners(self, source: Ints, same: Bools) -> Ints:
        """(faces, 4): the corner of the shown mesh that each corner was imported as, -1 if it was drawn again."""
        result = np.full((len(source), 4), -1, np.int64)
        known = np.flatnonzero(same)
        if len(known):
            result[known] = starts(self.decoded.counts)[self.shown_row[source[known]], None] + np.arange(4)
        return result

    def _draw(self, result: NDArray[np.void], rows: Ints, face: Ints) -> None:
        """Begin faces that are new or have other corners; flags are those of the face they were copied from."""
        copied = self.copied_face[face]
        flags = np.where(copied >= 0, self.base.faces["flags"][np.maximum(copied, 0)], 0) if len(self.base.faces) else 0
        result[rows] = np.zeros(len(rows), FACE)
        result["count"][rows] = self.mesh.counts[face]
        result["flags"][rows] = flags

    def _write_flags(self, flags: NDArray[Any], name: str, domain: Domain, rows: Ints, elements: Ints) -> None:
        """Write the flags that Blender has for vertices or faces; without the attribute those of the file stay."""
        given = self.mesh.values(name, domain)
        if given is None:
            return
        values = given[elements].astype(np.int32).view(np.uint32)
        old = (self.point_source if domain is Domain.VERTEX else self.face_source)[rows] >= 0
        changed = (values != flags[rows]) & old
        flags[rows] = values
        words = "{:# vertex with other flags|# vertices with other flags}"
        if domain is Domain.FACE:
            words = "{:# face with other flags|# faces with other flags}"
        self.changes.count(changed, words)

    def _write_uvs(self, result: NDArray[np.void], into: tuple[Ints, Ints], corners: Ints, before: Ints) -> None:
        uvs, seen = self.mesh.uvs, self.decoded.uvs
        new = before < 0
        if uvs is None:
            if len(corners) and len(self.base.faces):
                words = "{:# mesh has|# meshes have} no UV map: faces of the file keep their UVs, new ones get 0"
                self.report.warn(say(words, 1), self.name)
            return
        changed = new.copy()
        if seen is not None and len(seen):
            changed |= differ_as_bits(uvs[corners], seen[np.maximum(before, 0)])
        values = blender_uvs(uvs[corners[changed]])
        what = say("a face of {!r} has NaN or infinite UVs", self.name)
        rebase.refuse_not_finite(what, "Unwrap the face again", values)
        result["corners"]["uv"][into[0][changed], into[1][changed]] = values
        self.changes.count(changed & ~new, TEXTURE_COORDINATES)

    def _write_normals(
        self, result: NDArray[np.void], into: tuple[Ints, Ints], corners: Ints, before: Ints
    ) -> NDArray[np.float32]:
        """Write the normal of each corner and return all normals; those that no face uses any more are replaced."""
        base, given, seen = self.base.normals, self.mesh.corner_normals, self.decoded.corner_normals
        new = before < 0
        changed = new.copy()
        if given is None:
            given = np.zeros((len(self.mesh.corners), 3), np.float32)
        if seen is not None and len(seen):
            stored = seen[np.maximum(before, 0)]
            with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
                # Blender computes a normal where the file has none; that is no edit.
                usable = np.isfinite(stored).all(axis=1) & stored.any(axis=1)
                changed |= usable & rebase.normals_differ(given[corners], stored, NORMAL_STEP)
        values = -space.arma_points(given[corners[changed]])
        what = say("a face of {!r} has a NaN or infinite normal", self.name)
        rebase.refuse_not_finite(what, "Clear its custom normals", values)
        used = _normals_used(result, len(base), without=(into[0][changed], into[1][changed]))
        free = np.flatnonzero(_normals_used(self.base.faces, len(base)) & ~used)
        group = row_groups(np.rint(values / NORMAL_STEP).astype(np.int64))
        total = int(group.max()) + 1 if len(group) else 0
        distinct = np.zeros((total, 3), np.float32)
        distinct[group[::-1]] = values[::-1]
        number = np.append(free, len(base) + np.arange(max(total - len(free), 0)))[:total].astype(np.int64)
        normals = np.concatenate([base, np.zeros((max(total - len(free), 0), 3), np.float32)])
        normals[number] = distinct
        result["corners"]["normal"][into[0][changed], into[1][changed]] = number[group]
        self.changes.count(changed & ~new, NORMALS)
        return normals

    def _texts(self) -> tuple[list[tuple[bytes, bytes]], NDArray[np.int32]]:
        """Return the distinct pairs of texture and material, and the pair of each face."""
        base, mesh = self.base, self.mesh
        texts = list(base.texts)
        index = {pair: number for number, pair in reversed(list(enumerate(base.textures())))}
        result = np.zeros(len(self.face_source), np.int32)
        old = self.face_source >= 0
        result[old] = base.face_texts[self.face_source[old]]
        rows = np.flatnonzero(self.face_mesh >= 0)
        slot = np.zeros(len(rows), np.int64)
        if mesh.material_index is not None:
            slot = np.clip(mesh.material_index[self.face_mesh[rows]], 0, max(len(mesh.materials) - 1, 0)).astype(
                np.int64
            )
        pairs = [(material.texture, material.shader) for material in mesh.materials] or [("", "")]
        own_pairs = base.textures()
        of_file = {text for pair in own_pairs for text in pair}
        changed = np.zeros(len(rows), np.bool_)
        for number in np.unique(slot).tolist():
            inside = rows[slot == number]
            known = old[inside]
            pair = self._path(pairs[number][0], of_file), self._path(pairs[number][1], of_file)
            there = np.array([own_pair == pair for own_pair in own_pairs] or [False])
            kept = known & there[np.minimum(result[inside], len(there) - 1)]
            if kept.all():
                continue
            if pair not in index:
                index[pair] = len(texts)
                texts.append(self._encoded_texts(*pair))
            result[inside[~kept]] = index[pair]
            changed[slot == number] = known & ~kept
        words = "{:# face with another texture or material|# faces with another texture or material}"
        self.changes.count(changed, words)
        return texts, result

    def _path(self, text: str, of_file: Collection[str]) -> str:
        r"""Return a path as the games have it, with ``\``, unless it is one ``of_file``, which keeps its bytes."""
        if "/" not in text or text in of_file or text.startswith("#"):
            return text
        path = text.replace("/", "\\")
        self.report.note(say("the games separate folders by \\, so {} is written as {}", text, path), self.name)
        return path

    def _encoded_texts(self, texture: str, material: str) -> tuple[bytes, bytes]:
        if self.base.signature == ARMA:
            return names.encode(texture), names.encode(material)
        if material:
            words = "{!r} has the material {!r}, which a LOD of Operation Flashpoint cannot store"
            raise WriteError(say(words, self.name, material), remedy="Clear the material's path")
        return fixed(texture, TEXTURE_FIELD, "texture path"), b""

    def _keep_missing(self, result: Lod) -> None:
        """Let corners that named a missing point or normal name one as far behind the last as before."""
        old = np.flatnonzero(self.face_source >= 0)
        before, after = self.base.faces["corners"][self.face_source[old]], result.faces["corners"]
        used = self.base.used_corners()[self.face_source[old]]
        for field, count, size in (
            ("point", len(self.base.points), len(result.points)),
            ("normal", len(self.base.normals), len(result.normals)),
        ):
            number = before[field].astype(np.int64)
            face, slot = np.nonzero(used & (number >= count))
            after[field][old[face], slot] = np.minimum(number[face, slot] - count + size, np.iinfo(np.uint32).max)

    # Proxies --------------------------------------------------------------------------------------------------------

    def _place_proxies(self, result: Lod) -> None:
        """Move the triangles of moved proxies, and append those of new ones; copies of a proxy are new."""
        self.added: list[tuple[bytes, Ints, int]] = []
        self.renamed: dict[int, str] = {}
        if self.content.proxies is None:
            return
        stored = list(proxies(self.base))
        of_file = {own_proxy.name for own_proxy in stored}
        rows = [(own_proxy, self._path(own_proxy.path, of_file)) for own_proxy in self.content.proxies]
        first = {
            own_proxy.source: number
            for number, (own_proxy, _) in reversed(list(enumerate(rows)))
            if own_proxy.source >= 0
        }
        kept = {number for source, number in first.items() if source < len(stored)}
        taken = {rows[number][1].lower() for number in kept if rows[number][1] == stored[rows[number][0].source].name}
        new = []
        for number, (proxy, wanted) in enumerate(rows):
            if number not in kept:
                new.append((_unique(wanted, taken), proxy.transform))
                continue
            tag, faces = self.proxy_tags[proxy.source]
            old, path = stored[proxy.source], wanted
            if wanted != old.name:
                path = _unique(wanted, taken) if wanted.lower() in taken else wanted
                taken.add(path.lower())
            if np.abs(proxy.transform - old.transform).max() > PROXY_TOLERANCE:
                triangle = np.unique(self.base.faces["corners"]["point"][faces[0], :3])
                placed = proxy.transform @ np.linalg.inv(old.transform)
                points = space.arma_points(self.base.points["position"][triangle]).astype(np.float64)
                moved = points @ placed[:3, :3].T + placed[:3, 3]
                result.points["position"][self.row_of_base[triangle]] = space.arma_points(moved)
                self.changes.change(Noun.PROXY, path, say("place"))
            if wanted != old.name:
                self.renamed[id(tag)] = path
                self.changes.change(Noun.PROXY, path, say("name"))
        if self.deleted_proxies:
            self.changes.deleted[Noun.PROXY] += len(self.deleted_proxies)
        if new:
            self._append_proxies(result, [path for path, _ in new], np.array([transform for _, transform in new]))

    def _append_proxies(self, result: Lod, paths: Sequence[str], transforms: Floats) -> None:
        """Append the triangles of new proxies; ``transforms`` (n, 4, 4)."""
        number, count, rows = len(paths), len(result.points), len(result.faces)
        points = np.zeros(3 * number, POINT)
        placed = PROXY_TRIANGLE @ transforms[:, :3, :3].swapaxes(1, 2) + transforms[:, None, :3, 3]
        points["position"] = space.arma_points(placed.reshape(-1, 3))
        points["flags"] = HIDDEN
        faces = np.zeros(number, FACE)
        faces["count"] = 3
        corners = count + np.arange(3 * number).reshape(-1, 3)
        faces["corners"]["point"][:, :3] = corners
        faces["corners"]["normal"][:, :3] = len(result.normals)
        result.points = np.append(result.points, points)
        result.normals = np.concatenate([result.normals, np.array([[0, 1, 0]], np.float32)])
        empty = self._encoded_texts("", "")
        if empty not in result.texts:
            result.texts.append(empty)
        texts = np.full(number, result.texts.index(empty), np.int32)
        result.face_texts = np.append(result.face_texts, texts)
        result.faces = np.append(result.faces, faces)
        of_points, of_faces = np.full(3 * number, -1), np.full(number, -1)
        self.point_source = np.append(self.point_source, of_points)
        self.point_vertex = np.append(self.point_vertex, of_points)
        self.face_source = np.append(self.face_source, of_faces)
        self.face_mesh = np.append(self.face_mesh, of_faces)
        for index, path in enumerate(paths):
            self.added.append((names.encode(f"{PROXY}{path}"), corners[index], rows + index))
            self.changes.add(Noun.PROXY, path)


def _used(lod: Lod, faces: Bools) -> Bools:
    """(points,): which points are used by the chosen faces."""
    result = np.zeros(len(lod.points), np.bool_)
    point = lod.faces["corners"]["point"][lod.used_corners() & faces[:, None]]
    result[point[point < len(result)]] = True
    return result


def _normals_used(faces: NDArray[np.void], count: int, without: tuple[Ints, Ints] | None = None) -> Bools:
    """(normals,): which of the first ``count`` normals corners use, those at rows and slots ``without`` left out."""
    used = np.arange(4) < faces["count"][:, None]
    if without is not None:
        used[without] = False
    number = faces["corners"]["normal"][used]
    result = np.zeros(count, np.bool_)
    result[number[number < count]] = True
    return result


def _padded(mesh: PolygonMesh, faces: Ints) -> Ints:
    """(n, 4): the vertices of faces, -1 behind the third of a triangle."""
    filled = np.arange(4) < mesh.counts[faces][:, None]
    corner = np.where(filled, starts(mesh.counts)[faces, None] + np.arange(4), 0)
    return np.where(filled, mesh.corners[corner].astype(np.int64), -1)


def _inverse(rows: Ints, count: int) -> Ints:
    """(count,): the place in ``rows`` of each number, -1 if it is not there; numbers below 0 are ignored."""
    result = np.full(count, -1, np.int64)
    known = np.flatnonzero(rows >= 0)
    result[rows[known]] = known
    return result


def _unique(path: str, taken: set[str]) -> str:
    """Return the path of a new proxy with a number that no other proxy of the LOD has, and add it to ``taken``."""
    stem, _, number = path.rpartition(".")
    if not (stem and number.isdigit()):
        stem, number = path, "001"
    count = int(number)
    while f"{stem}.{count:03}".lower() in taken:
        count += 1
    result = f"{stem}.{count:03}"
    taken.add(result.lower())
    return result
