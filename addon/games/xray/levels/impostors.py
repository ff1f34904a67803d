"""Export of a compiled level's impostors: edited corners and materials are written into its document.

The import gives each impostor an object that follows its tree. They may be joined and separated: the corners know which
they are in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....blender import attributes
from ....blender import mesh as meshes
from ....blender.transforms import transformed, world_matrix
from ....core import rebase
from ....core.changes import Changes, Noun, Part
from ....core.model import FILE_VERTEX, Domain
from ....core.report import Report, say
from ....formats.xray.level import edit, structure
from ....formats.xray.level.document import Level
from ....formats.xray.level.structure import FACETS, Impostors
from .file import listed_objects
from .light import HEMI, LIGHT
from .visuals import VISUAL

if TYPE_CHECKING:
    from ....blender.typed import Object


Floats = NDArray[np.float64]

CORNERS = 4 * FACETS
FOLLOWS = 1e-3
"""Metres up to which corners are where their tree takes them: the transforms of parent and child are rounded."""


@dataclass
class ShownImpostors:
    """Impostors of a file: corners ``now`` and in the file (``base``); object and material slots (n,) of each.

    ``objects`` has None for those that the scene has not.
    """

    base: Impostors
    now: Impostors
    objects: list[Object | None]
    slots: list[NDArray[np.int32]]

    def write(self, document: Level, changes: Changes) -> None:
        """Write edited corners into the document. The others stay as moved with their trees."""
        edited = edit.set_impostors(document, self.now, self.base)
        titles = structure.titles(document, [visual for visual, _ in edited])
        for title, (_, fields) in zip(titles, edited, strict=True):
            changes.parts.append(Part(title, Noun.IMPOSTOR, fields=tuple(map(say, fields))))

    @property
    def missing(self) -> set[int]:
        """The visuals of which no quad is in the scene, or none that can be written."""
        pairs = zip(self.base.visuals.tolist(), self.objects, strict=True)
        return {visual for visual, obj in pairs if obj is None}


def gather(document: Level, objects: Sequence[Object], moves: Mapping[int, Floats], report: Report) -> ShownImpostors:
    """Gather the impostors of ``objects``, in the order of the file; of copies the first counts.

    ``moves``: visual -> how its tree moves in the world (4, 4), without those that stay. Must be called before anything
    is moved in the document. Raises `WriteError` if positions are NaN or infinite.
    """
    base = structure.impostors(document)
    count = len(base.visuals)
    now = Impostors(base.visuals, *(getattr(base, name).copy() for name in ("positions", "uvs", "light", "hemi")))
    result = ShownImpostors(base, now, [None] * count, [np.zeros(0, np.int32)] * count)
    known = np.zeros(count * CORNERS, np.bool_)
    other, lost, copies = [], [], []
    for obj in objects:
        quads = _Quads.of(obj, base)
        if quads is None:
            other.append(obj)
            continue
        if known[quads.corners].any():
            original = result.objects[int(quads.corners[0]) // CORNERS]
            copies += [] if original is not None and quads.is_copied_with_tree(obj, original, base) else [obj]
            continue
        known[quads.corners] = True
        lost += [obj] if quads.is_incomplete else []
        _take(result, obj, quads, moves)
    for warned, words in (
        (copies, "impostors cannot be added; not written: {}"),
        (other, "impostors have other vertices or faces than the file; not written: {}"),
        (lost, "impostors have lost attributes or texture coordinates of the import; those of the file stay: {}"),
    ):
        if warned:
            report.warn(say(words, listed_objects(warned)))
    return result


def _take(gathered: ShownImpostors, obj: Object, quads: _Quads, moves: Mapping[int, Floats]) -> None:
    """Take the values of an object's corners."""
    base, now = gathered.base, gathered.now
    for name in ("uvs", "light", "hemi"):
        if quads.columns[name] is not None:
            getattr(now, name)[quads.corners] = quads.columns[name]
    positions = quads.columns["positions"]
    world = world_matrix(obj)
    of_corner = quads.corners // CORNERS
    for number in np.unique(of_corner).tolist():
        here = of_corner == number
        corners, own = quads.corners[here], positions[here]
        gathered.objects[number] = obj
        gathered.slots[number] = quads.slots[here[::4]]
        move = moves.get(int(base.visuals[number]), np.eye(4))
        placed = transformed(own, world)
        # Exactly where the tree takes it, or where the file has it, as if its parent were cleared.
        near = [matrix for matrix in (move, np.eye(4)) if np.allclose(placed, transformed(own, matrix), 0, FOLLOWS)]
        if near and np.array_equal(own, base.positions[corners]):
            continue
        result = transformed(own, near[0]) if near else placed
        words = "a corner of {!r} has a position that is NaN or infinite"
        rebase.refuse_not_finite(say(words, obj.name), "Move it", result)
        now.positions[corners] = result


@dataclass(frozen=True)
class _Quads:
    """The quads of an object: their ``corners`` (4 n,) by index in the file, material ``slots`` (n,), and columns."""

    corners: NDArray[np.int64]
    slots: NDArray[np.int32]
    columns: dict[str, Any]

    @staticmethod
    def of(obj: Object, base: Impostors) -> _Quads | None:
        """Return the quads of a mesh in the order of the file; None if they are not those of the file."""
        with meshes.outside_edit_mode(obj) as data:
            vertices = meshes.corner_vertices(data)
            count = len(data.polygons)
            stored = attributes.gather(data, FILE_VERTEX, Domain.VERTEX, np.int32)
            if stored is None or len(vertices) != 4 * count or len(data.vertices) != 4 * count:
                return None
            numbers = stored[vertices].reshape(-1, 4)
            faces = np.argsort(numbers[:, 0], kind="stable")
            numbers = numbers[faces].astype(np.int64)
            first = numbers[:, :1]
            whole = (first % 4 == 0).all() and (first >= 0).all() and (first < len(base.positions)).all()
            if not whole or (numbers != first + np.arange(4)).any() or (np.diff(first.ravel()) <= 0).any():
                return None
            visuals = attributes.gather(data, VISUAL, Domain.FACE, np.int32)
            if visuals is None or not np.array_equal(visuals[faces], base.visuals[first.ravel() // CORNERS]):
                return None
            layer = data.uv_layers.get(meshes.UV_LAYER)
            light = attributes.gather_colours(data, LIGHT, Domain.VERTEX)
            hemi = attributes.gather(data, HEMI, Domain.VERTEX, np.float32)
            loops = (4 * faces[:, None] + np.arange(4)).ravel()
            ordered = vertices[loops]
            columns = {
                "positions": meshes.positions_of(data)[ordered],
                "uvs": None if layer is None else meshes.column(layer.uv, "vector", len(vertices), 2)[loops],
                "light": None if light is None else light[ordered],
                "hemi": None if hemi is None else hemi[ordered],
            }
            return _Quads(numbers.ravel(), meshes.material_indices(data)[faces], columns)

    @property
    def is_incomplete(self) -> bool:
        """Whether the mesh has lost attributes of the import."""
        return any(values is None for values in self.columns.values())

    def is_copied_with_tree(self, obj: Object, original: Object, base: Impostors) -> bool:
        """Return whether an object was copied with its tree and not edited: the copy of the tree has its impostor."""
        if obj.parent in (None, original.parent) or obj.parent.motionbridge_level.kind != "TREE":
            return False
        transforms = [(here.matrix_basis, here.matrix_parent_inverse) for here in (obj, original)]
        same = all(np.array_equal(values, getattr(base, name)[self.corners]) for name, values in self.columns.items())
        return same and np.array_equal(*np.array(transforms))
