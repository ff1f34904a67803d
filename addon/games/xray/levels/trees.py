"""Export of a compiled level's trees: those that were moved, deleted or copied are written into its document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ....blender import mesh as meshes
from ....blender.transforms import bounds, transformed, world_matrix
from ....core import rebase
from ....core.changes import Changes, Noun, Part
from ....core.report import say
from ....formats.xray.level import edit, structure
from ....formats.xray.level import mesh as visual_mesh
from ....formats.xray.level.document import Level
from . import visual_vertices
from .file import listed_objects
from .level_objects import LevelObjects

if TYPE_CHECKING:
    from ....blender.typed import Object


Floats = NDArray[np.float64]

TURNED, SHIFTED = 2e-5, 2e-5
"""Tolerances of transforms to count as unedited: of rotation and scale, and of location in metres."""


class Trees:
    """Writes trees that were moved, deleted or copied."""

    def __init__(
        self, document: Level, level_objects: LevelObjects, changes: Changes, edits: visual_vertices.VertexEdits | None
    ) -> None:
        self.document, self.level_objects, self.changes, self.edits = document, level_objects, changes, edits
        self.points: dict[Any, Floats] = {}

    def write(self, imported: Sequence[int]) -> None:
        """Write them into the document; ``imported``: visuals for which the import created objects."""
        objects = self.level_objects.first.get("TREE", {})
        if not objects:
            # The user may have deleted the whole collection to work on the rest.
            self.level_objects.keep_all("no trees are in the scene: the imported ones are written")
            return
        count = len(self.document.visuals)
        kept_ = {visual: obj for visual, obj in objects.items() if visual < count}
        stored = self._stored(list(kept_))
        current = np.array([world_matrix(obj) for obj in kept_.values()]).reshape(-1, 4, 4)
        moved, matrices = _moved(stored, current)
        visuals = np.array(list(kept_), np.int64)
        if self.edits is not None and len(moved):
            before = {int(visuals[number]): stored[number] for number in moved.tolist()}
            stay = np.isin(visuals[moved], list(self.edits.applied(kept_, before)))
            moved, matrices = moved[~stay], matrices[~stay]
        rebase.refuse_not_finite("a tree's place is NaN or infinite", "Clear its transform", matrices)
        visuals = visuals[moved]
        gone = np.array(sorted(set(imported) - set(objects)), np.int64)
        self._warn_of_mirrored(
            [list(kept_.values())[number] for number in moved] + self.level_objects.copies.get("TREE", [])
        )
        self._place(visuals, stored[moved], matrices, list(kept_.values()), moved)
        self._hide(gone)
        self._copy()

    def _warn_of_mirrored(self, objects: list[Object]) -> None:
        mirrored = [obj for obj in objects if np.linalg.det(world_matrix(obj)[:3, :3]) < 0]
        if mirrored:
            words = (
                "{0:# tree is|# trees are} mirrored by a negative scale, and the game would show {0:its|their} faces "
                "from behind: {1}"
            )
            self.level_objects.report.warn(say(words, len(mirrored), listed_objects(mirrored)))

    def _stored(self, visuals: list[int]) -> Floats:
        return visual_mesh.tree_matrices(self.document, np.array(visuals, np.int64)).astype(np.float64)

    def _place(
        self,
        visuals: NDArray[np.int64],
        before: Floats,
        matrices: Floats,
        objects: list[Object],
        which: NDArray[np.int64],
    ) -> None:
        if not len(visuals):
            return
        boxes = np.array([self._box(objects[number], matrix) for number, matrix in zip(which, matrices, strict=True)])
        moves = _moves(before, matrices)
        edit.place_trees(self.document, visuals, matrices, boxes, moves)
        self.changes.parts += [Part(objects[row].name, Noun.TREE, fields=(say("place"),)) for row in which.tolist()]
        self._follow(visuals, moves)

    def _hide(self, gone: NDArray[np.int64]) -> None:
        stored = self._stored(gone.tolist())
        lengths = np.linalg.norm(stored[:, :3, :3], axis=1).max(axis=1, initial=0)
        seen = lengths > structure.INVISIBLE_BELOW
        gone, stored, lengths = gone[seen], stored[seen], lengths[seen]
        if not len(gone):
            return
        hidden = stored.copy()
        hidden[:, :3, :3] *= (edit.HIDDEN / lengths)[:, None, None]
        edit.place_trees(self.document, gone, hidden, np.repeat(hidden[:, None, :3, 3], 2, axis=1))
        self.changes.deleted[Noun.TREE] += len(gone)
        words = (
            "{0:# deleted tree is|# deleted trees are} hidden by {0:its|their} scale: a level's visuals cannot be "
            "removed"
        )
        self.level_objects.report.note(say(words, len(gone)))
        self._follow(gone, _moves(stored, hidden))

    def _copy(self) -> None:
        count = len(self.document.visuals)
        copies = [obj for obj in self.level_objects.copies.get("TREE", []) if obj.motionbridge_level.row < count]
        if not copies:
            return
        sources = np.array([obj.motionbridge_level.row for obj in copies], np.int64)
        stored = self._stored(sources.tolist())
        matrices = np.array([_placed(tree, world_matrix(obj)) for tree, obj in zip(stored, copies, strict=True)])
        boxes = np.array([self._box(obj, matrix) for obj, matrix in zip(copies, matrices, strict=True)])
        edit.add_trees(self.document, sources, matrices, boxes, _moves(stored, matrices))
        for copy in copies:
            self.changes.add(Noun.TREE, copy.name)
        words = (
            "{0:# tree is|# trees are} added below a new root of the sector {0:it is|they are} in, which no one has "
            "tried in a game; {0:it has|they have} no collision and no impostors: {1}"
        )
        self.level_objects.report.warn(say(words, len(copies), listed_objects(copies)))
        originals = self.level_objects.first["TREE"]
        other = [obj for obj in copies if not self._has_mesh_of(obj, originals[obj.motionbridge_level.row])]
        if other:
            sentence = "{:# added tree has|# added trees have} another mesh than the original, which is not written: {}"
            self.level_objects.report.warn(say(sentence, len(other), listed_objects(other)))

    def _has_mesh_of(self, copy: Object, original: Object) -> bool:
        return copy.data == original.data or np.array_equal(self._points(copy), self._points(original), equal_nan=True)

    def _points(self, obj: Object) -> Floats:
        if obj.data not in self.points:
            with meshes.outside_edit_mode(obj) as data:
                points = meshes.positions_of(data).astype(np.float64)
            self.points[obj.data] = points if len(points) else np.zeros((1, 3))
        return self.points[obj.data]

    def _box(self, obj: Object, matrix: Floats) -> Floats:
        """Return the bounding box (2, 3) of a tree."""
        return bounds(transformed(self._points(obj), matrix))

    def _follow(self, visuals: NDArray[np.int64], moves: Floats) -> None:
        self.level_objects.report.warn("trees were moved or deleted; collision and baked light stay as they are")
        stay = edit.move_impostors(self.document, visuals, moves)
        if stay:
            words = (
                "{0:# impostor does|# impostors do} not follow: not everything {0:it stands|they stand} for was "
                "moved in the same way"
            )
            self.level_objects.report.warn(say(words, stay))


def _moves(before: Floats, after: Floats) -> Floats:
    """Return how trees move in the world (n, 4, 4), NaN for those that were invisible before."""
    with np.errstate(invalid="ignore"):
        seen = np.linalg.norm(before[:, :3, :3], axis=1).min(axis=1, initial=np.inf) > structure.INVISIBLE_BELOW
    moves = np.full(after.shape, np.nan)
    moves[seen] = after[seen] @ np.linalg.inv(before[seen])
    # Exactly none of what did not change.
    same = (before[:, :3, :3] == after[:, :3, :3]).all(axis=(1, 2)) & seen
    moves[same, :3, :3] = np.eye(3)
    moves[same, :3, 3] = (after - before)[same, :3, 3]
    return moves


def _moved(stored: Floats, current: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return which trees (n,) differ from the file's transforms (n, 4, 4), and their new transforms (moved, 4, 4)."""
    far = (_is_turned(current, stored) | _is_shifted(current, stored)) & np.isfinite(stored).all(axis=(1, 2))
    indices = {number: _placed(stored[number], current[number]) for number in np.flatnonzero(far).tolist()}
    which = [number for number, index in indices.items() if not np.array_equal(index, stored[number])]
    matrices = [indices[number] for number in which]
    return np.array(which, np.int64), np.array(matrices, np.float64).reshape(-1, 4, 4)


def _placed(stored: Floats, current: Floats) -> Floats:
    """Return the transform to write for a tree (4, 4): as Blender shows it, with the shear of the file's transform, and
    with the file's own numbers for rotation and scale, or for the position, if these are not edited.
    """
    if not np.isfinite(stored).all():
        return current
    # The matrix as Blender shows it, without shear.
    parts: Any = Matrix(stored.tolist()).decompose()
    as_shown = np.array(Matrix.LocRotScale(*parts), np.float64)
    now, visible, before = current[None], as_shown[None], stored[None]
    sheared = (_is_turned(visible, before) | _is_shifted(visible, before))[0] and abs(np.linalg.det(as_shown)) > 0
    matrix = current @ np.linalg.inv(as_shown) @ stored if sheared else current.copy()
    if not _is_turned(now, visible)[0]:
        matrix[:3, :3] = stored[:3, :3]
    if not _is_shifted(now, visible)[0]:
        matrix[:3, 3] = stored[:3, 3]
    return matrix


def _is_turned(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Return (n,) whether rotation or scale of transforms (n, 4, 4) differ by more than Blender's rounding."""
    with np.errstate(invalid="ignore"):
        away = np.abs(first - second)[:, :3, :3].max(axis=(1, 2))
        return np.asarray(away > TURNED * (1 + np.abs(second[:, :3, :3]).max(axis=(1, 2))))


def _is_shifted(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Return (n,) whether positions of transforms (n, 4, 4) differ by more than Blender's rounding."""
    with np.errstate(invalid="ignore"):
        away = np.abs(first - second)[:, :3, 3].max(axis=1)
        return np.asarray(away > SHIFTED * (1 + 0.01 * np.abs(second[:, :3, 3]).max(axis=1)))
