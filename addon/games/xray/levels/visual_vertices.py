"""Edited vertices of a compiled level: from Blender's meshes into the level's files.

Vertices of surfaces and trees are in `level.geom` and `level.geomx`. These files can have 150 MB and are not stored in
the .blend file: the files beside `level` are the base, if they are the imported ones or were saved back since. Corners
of impostors are in `level` itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import attributes
from ....blender import mesh as meshes
from ....blender.properties import kept
from ....blender.transforms import in_world, transformed
from ....core import files, pausing, polygons, rebase
from ....core.changes import Changes, Noun, Part
from ....core.errors import ReadError
from ....core.model import Domain
from ....core.report import Report, say
from ....formats.xray.level import edit, geometry
from ....formats.xray.level import mesh as visual_mesh
from ....formats.xray.level.document import Kind, Level
from ....formats.xray.level.geometry import Geometry, VertexBuffer
from ....formats.xray.level.mesh import Vertices
from ...plan import saved_here
from .file import listed_objects
from .light import HEMI, LIGHT, LIGHT_MAP
from .visuals import GEOMETRY, WIND, digest_of, find_geometry, simplified

if TYPE_CHECKING:
    from ....blender.typed import Object


FAST_GEOMETRY = "level.geomx"
RESHAPED = "reshaped"
"""What is remembered of a save besides the digest of `level.geom`: indices of visuals, with spaces."""
_OPTIONAL = ("hemi", "uvs", "light_map_uvs", "colours", "wind")
"""Fields of `Vertices` besides positions that are compared and written, if present."""


@dataclass
class FilesBeside:
    """Files written beside `level`: path -> bytes; ``reshaped`` (n,): visuals whose positions were ever edited.

    ``is_imported``: whether `level.geom` beside the imported level is still the imported one.
    """

    is_imported: bool
    files: dict[Path, bytes] = field(default_factory=dict)
    reshaped: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))


def compare(holder: Object, document: Level, visual_objects: dict[int, Object], report: Report) -> VertexEdits | None:
    """Return what compares the vertices of ``visual_objects`` (visual -> object) with `level.geom`.

    None if that is missing or is not the known one. Raises `ReadError` if it is damaged.
    """
    folder = Path(bpy.path.abspath(holder.motionbridge_level.path)).parent
    path = find_geometry(holder, GEOMETRY)
    known = holder.motionbridge_level.geometry
    if not known or not visual_objects:
        return None
    digest = "" if path is None else digest_of(path)
    # Undo of a save brings back what was known before, but not the file.
    saved = path is not None and digest == saved_here(holder, str(path), GEOMETRY)
    if path is None or not (saved or digest == known):
        words = (
            "level.geom is not the imported one; import the level again to edit meshes: their vertices stay as they "
            "are in the file"
        )
        if path is None:
            words = "level.geom is missing; copy it there to edit meshes: their vertices stay as they are in the file"
        report.warn(words, folder.name)
        return None
    geom = geometry.read(files.map_file(path), str(path), Report())
    edits = VertexEdits(holder, document, geom, path, report)
    edits.digest = digest
    if saved:
        numbers = saved_here(holder, str(path), RESHAPED).split()
        edits.before = np.union1d(edits.before, np.array(numbers, "<i4")).astype("<i4")
    return edits


def plan(edits: VertexEdits, visual_objects: dict[int, Object], changes: Changes) -> FilesBeside:
    """Gather the vertices of ``visual_objects`` (visual -> object); updates the boxes in the document."""
    done = 0
    for ranges, objects in edits.families(visual_objects):
        pausing.pause(done / len(visual_objects))
        edits.gather(ranges, objects)
        done += len(objects)
    edits.report_unwritten()
    result = FilesBeside(edits.digest == edits.imported)
    if edits.parts:
        changes.parts += edits.parts
        result.files[edits.path] = b"".join(geometry.pieces(edits.written()))
    if not edits.is_as_imported(result.files.get(edits.path)):
        result.reshaped = np.union1d(edits.before, np.array(sorted(edits.reshaped), "<i4")).astype("<i4")
    edits.update_boxes(result.reshaped, visual_objects)
    if edits.parts:
        fast = find_geometry(edits.holder, FAST_GEOMETRY)
        if edits.moves and fast is not None:
            moved = edits.move_in_fast_geometry(fast)
            result.files |= {} if moved is None else {fast: moved}
        elif edits.moves:
            edits.report.warn("level.geomx is not beside it: shadows stay where they are", edits.path.parent.name)
    return result


class VertexEdits:
    """Compares the vertices of a level's meshes with `level.geom` at ``path``.

    ``before`` (n,): visuals with moved vertices in that file; ``digest``: its SHA-256;
    ``imported``: that of the imported one.
    """

    def __init__(self, holder: Object, document: Level, geom: Geometry, path: Path, report: Report) -> None:
        self.holder, self.path, self.document, self.geom, self.report = holder, path, document, geom, report
        self.before = np.frombuffer(kept(holder.motionbridge_level, "reshaped"), "<i4")
        properties = holder.motionbridge_level
        self.digest = self.imported = properties.geometry_imported or properties.geometry
        self.rows = visual_mesh.drawn(document, geom, Report(), simplified(properties.detail))
        self.decoded: tuple[int, Vertices] = (-1, Vertices(np.zeros((0, 3), np.float32)))
        self.edited: dict[int, NDArray[Any]] = {}
        self.parts: list[Part] = []
        self.reshaped: set[int] = set()
        self.moves: list[tuple[int, NDArray[Any], NDArray[Any]]] = []
        self.other_topology: list[Object] = []
        self.sharing_with_other_meshes: list[Object] = []
        self.uvs_out_of_range: list[Object] = []
        self.uvs_differ_at_vertex: list[Object] = []
        self.missing_attributes: list[Object] = []
        self.edited_normals: list[Object] = []

    def families(self, visual_objects: dict[int, Object]) -> Iterator[tuple[NDArray[np.void], list[Object]]]:
        """Yield rows of `DRAWN` with the same vertices, and the object of each; ordered by vertex buffer."""
        rows = self.rows[np.isin(self.rows["visual"], list(visual_objects))]
        keys = np.stack([rows[name] for name in ("vertex_buffer", "vertex_base", "vertex_count")], axis=1)
        _, key_of_row = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(key_of_row.ravel(), kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(key_of_row.ravel()[order])) + 1) if len(rows) else ():
            yield rows[part], [visual_objects[visual] for visual in rows["visual"][part].tolist()]

    def gather(self, ranges: NDArray[np.void], objects: list[Object]) -> None:
        """Encode the edited vertices of objects that share them."""
        ranged = ranges[0]
        base = self._base(ranged)
        changed_objects = {}
        for obj, row in zip(objects, ranges, strict=True):
            # Objects of the same mesh are read once.
            if obj.data not in changed_objects:
                triangles = visual_mesh.triangles(row, self.geom)
                changed_objects[obj.data] = (
                    obj,
                    self._edited_vertices(obj, int(row["visual"]), base, triangles[~meshes.folded_faces(triangles)]),
                )
        changed = [(target, now) for target, now in changed_objects.values() if now is not None]
        if not changed:
            return
        if len(changed_objects) > 1:
            self.sharing_with_other_meshes += [target for target, _ in changed]
            return
        obj, now = changed[0]
        first, buffer = int(ranged["vertex_base"]), int(ranged["vertex_buffer"])
        done = visual_mesh.encode(self.geom.vertices[buffer], first, now)
        self.uvs_out_of_range += [obj] if done.outside.any() else []
        if done.changed.any():
            count = say("{:# vertex|# vertices}", int(done.changed.sum()))
            self.parts.append(Part(obj.name, Noun.MESH, fields=(count,)))
            if buffer not in self.edited:
                self.edited[buffer] = self.geom.vertices[buffer].rows.copy()
            self.edited[buffer][first : first + len(done.rows)] = done.rows
        moved = done.rows["position"][done.moved]
        words = "a vertex of {!r} has a position that is NaN or infinite"
        rebase.refuse_not_finite(say(words, obj.name), "Move it", moved)
        if done.moved.any():
            visuals = ranges["visual"].tolist()
            self.reshaped |= set(visuals)
            here = self.geom.vertices[buffer].rows["position"][first : first + len(done.rows)]
            self.moves += [(visual, here, done.rows["position"]) for visual in visuals]

    def _base(self, ranged: np.void) -> Vertices:
        number = int(ranged["vertex_buffer"])
        if self.decoded[0] != number:
            self.decoded = number, visual_mesh.decode_vertices(self.geom.vertices[number])
        here = slice(int(ranged["vertex_base"]), int(ranged["vertex_base"]) + int(ranged["vertex_count"]))
        whole = self.decoded[1]
        result = Vertices(whole.positions[here])
        for name in (*_OPTIONAL, "normals"):
            column = getattr(whole, name)
            setattr(result, name, None if column is None else column[here])
        return result

    def _edited_vertices(self, obj: Object, visual: int, base: Vertices, wanted: NDArray[np.int32]) -> Vertices | None:
        """Return the vertices of a mesh; None if they are unchanged, or if the mesh has other vertices or faces."""
        with meshes.outside_edit_mode(obj) as data:
            corners = meshes.corner_vertices(data)
            if len(data.vertices) != len(base.positions) or not np.array_equal(corners, wanted.reshape(-1)):
                self.other_topology.append(obj)
                return None
            current = Vertices(meshes.positions_of(data))
            current.positions = in_world(obj, current.positions).astype(np.float32)
            current.hemi = attributes.gather(data, HEMI, Domain.VERTEX, np.float32)
            current.wind = attributes.gather(data, WIND, Domain.VERTEX, np.float32)
            current.colours = attributes.gather_colours(data, LIGHT, Domain.VERTEX)
            current.uvs = self._uvs(obj, data, meshes.UV_LAYER, base.uvs, corners)
            current.light_map_uvs = self._uvs(obj, data, LIGHT_MAP, base.light_map_uvs, corners)
            is_moved = visual in self.before or not _are_equal(current.positions, base.positions)
            if base.normals is not None and not meshes.has_normals(data, base.normals[corners], moved=is_moved):
                self.edited_normals.append(obj)
        if any(getattr(current, name) is None and getattr(base, name) is not None for name in _OPTIONAL):
            self.missing_attributes.append(obj)
        same = all(
            getattr(current, name) is None
            or getattr(base, name) is None
            or _are_equal(getattr(current, name), getattr(base, name))
            for name in ("positions", *_OPTIONAL)
        )
        return None if same else current

    def _uvs(
        self, obj: Object, data: Any, name: str, base: NDArray[np.float32] | None, corners: NDArray[np.int32]
    ) -> NDArray[np.float32] | None:
        layer = data.uv_layers.get(name)
        if layer is None or base is None:
            return None
        values, imported = meshes.column(layer.uv, "vector", len(corners), 2), base[corners]
        if np.array_equal(values, imported):
            return base
        other = np.flatnonzero((values != imported).any(axis=1))
        result = base.copy()
        # The last value written to a vertex wins; in reverse order that is the first edited corner's.
        result[corners[other[::-1]]] = values[other[::-1]]
        if (values != result[corners]).any():
            self.uvs_differ_at_vertex.append(obj)
        return result

    def report_unwritten(self) -> None:
        """Report what could not be written, by object names."""
        for objects, words in (
            (
                self.other_topology,
                (
                    "{:# mesh has|# meshes have} other vertices or faces than level.geom, which only the compiler can "
                    "change; not written"
                ),
            ),
            (
                self.sharing_with_other_meshes,
                "{:# mesh shares|# meshes share} vertices with trees that have another mesh; not written",
            ),
            (
                self.uvs_out_of_range,
                (
                    "{:# mesh has|# meshes have} texture coordinates outside 32 tiles (trees: 16); these vertices are "
                    "not written"
                ),
            ),
            (
                self.uvs_differ_at_vertex,
                (
                    "{:# mesh has|# meshes have} vertices with several texture coordinates; the first that was edited "
                    "counts"
                ),
            ),
            (
                self.missing_attributes,
                (
                    "{:# mesh has|# meshes have} lost attributes or texture coordinates of the import; those of the "
                    "file stay"
                ),
            ),
            (self.edited_normals, "{:# mesh has|# meshes have} edited normals; not written, those of the file stay"),
        ):
            if objects:
                self.report.warn(say("{}: {}", say(words, len(objects)), listed_objects(objects)))
        if self.moves:
            self.report.warn("vertices were moved; collision, normals and baked light stay as they are")

    def is_as_imported(self, data: bytes | None) -> bool:
        """Return whether edits of vertices were all taken back: ``data`` is the imported `level.geom`."""
        return data is not None and hashlib.sha256(data).hexdigest() == self.imported

    def written(self) -> Geometry:
        """Return `level.geom` with the edited vertex buffers."""
        for number, rows in self.edited.items():
            self.geom.vertices[number] = VertexBuffer(self.geom.vertices[number].declaration, rows)
        return self.geom

    def update_boxes(self, reshaped: NDArray[np.int32], visual_objects: dict[int, Object]) -> None:
        """Update boxes and spheres of visuals whose vertices differ from the imported ones."""
        visuals = np.array([visual for visual in reshaped.tolist() if visual in visual_objects], np.int64)
        if not len(visuals):
            return
        trees = visual_mesh.tree_matrices(self.document, visuals).astype(np.float64)
        boxes = []
        for visual, tree in zip(visuals.tolist(), trees, strict=True):
            with meshes.outside_edit_mode(visual_objects[visual]) as data:
                points = in_world(visual_objects[visual], meshes.positions_of(data))
            boxes.append(polygons.bounds(transformed(points, tree)))
        edit.reshape(self.document, visuals, np.array(boxes))

    def move_in_fast_geometry(self, path: Path) -> bytes | None:
        """Return the bytes of `level.geomx` with the same vertices moved; None if unreadable or without them."""
        try:
            fast = geometry.read(files.map_file(path), str(path), Report())
        except ReadError as refusal:
            self.report.warn(say("shadows stay where they are: {}", str(refusal).rstrip(".")))
            return None
        containers = self.document.visuals.fixed[Kind.CONTAINER]
        of_visual = self.document.visuals.rows_of(Kind.CONTAINER, depth=2)
        buffers: dict[int, NDArray[Any]] = {}
        several = 0
        for visual, before, after in self.moves:
            if of_visual[visual] < 0:
                continue
            row = containers[of_visual[visual]]
            buffer, first, count = (int(row[name]) for name in ("vertex_buffer", "vertex_base", "vertex_count"))
            if buffer >= len(fast.vertices) or first + count > len(fast.vertices[buffer].rows):
                continue
            rows = buffers.setdefault(buffer, fast.vertices[buffer].rows.copy())
            points, apart = visual_mesh.move_shadow_copy(rows["position"][first : first + count], before, after)
            rows["position"][first : first + count] = points
            several += apart
        if several:
            sentence = "{:# point|# points} where vertices of one place were moved apart: shadows follow the first"
            self.report.warn(say(sentence, several))
        for number, rows in buffers.items():
            fast.vertices[number] = VertexBuffer(fast.vertices[number].declaration, rows)
        return b"".join(geometry.pieces(fast)) if buffers else None


def _are_equal(values: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether arrays are equal, NaN to NaN. Nearly all are, and comparing NaN takes three times as long."""
    return np.array_equal(values, other) or np.array_equal(values, other, equal_nan=True)
