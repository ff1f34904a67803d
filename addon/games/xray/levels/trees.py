"""Export of a compiled level's trees: those that were moved, deleted or copied are written into its document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ....blender import mesh as meshes
from ....blender.transforms import in_world, transformed, world_matrix
from ....core import polygons, rebase
from ....core.changes import Changes, Noun, Part
from ....core.report import say
from ....formats.xray.level import edit, structure
from ....formats.xray.level import mesh as visual_mesh
from ....formats.xray.level.document import Level
from . import tree_sets
from .file import listed_objects
from .level_objects import LevelObjects

if TYPE_CHECKING:
    from ....blender.typed import Object


Floats = NDArray[np.float64]

TURNED, SHIFTED = 2e-5, 2e-5
"""Tolerances of transforms to count as unedited: of rotation and scale, and of location in metres."""
RESIZED = 1e-3
"""Relative difference of sizes above which it is said that a tree has another one."""


@dataclass(frozen=True)
class _Visuals:
    """Visuals (n,) that trees show, the index of the tree of each, and its transforms: stored, and to be written."""

    visuals: NDArray[np.int64]
    trees: NDArray[np.int64]
    stored: Floats
    wanted: Floats

    def of(self, which: NDArray[Any]) -> _Visuals:
        """Return some of them."""
        return _Visuals(self.visuals[which], self.trees[which], self.stored[which], self.wanted[which])

    @property
    def moves(self) -> Floats:
        """How they move in the world (n, 4, 4), NaN for those that were invisible before."""
        return _moves(self.stored, self.wanted)


class Trees:
    """Writes trees that were moved, deleted or copied. Raises `WriteError` if trees have lost their parts.

    ``parts``: visual -> mesh object of the part that the scene's trees show; ``added``: the same for new visuals.
    """

    def __init__(self, document: Level, level_objects: LevelObjects, objects: Iterable[Object]) -> None:
        self.document, self.level_objects = document, level_objects
        tree_sets.refuse_without_parts(level_objects.all_of("TREE"), objects)
        self.trees = list(level_objects.first.get("TREE", {}).values())
        self.parts = {visual: part for tree in self.trees for visual, part in self._parts(tree)}
        self.added: dict[int, Object] = {}
        self.points: dict[Any, Floats] = {}
        present = self._visuals(self.trees)
        self.moved = present.of(_are_moved(present.stored, present.wanted))

    def _parts(self, tree: Object) -> list[tuple[int, Object]]:
        """Return the visuals of a tree with the objects of their parts, of which some may have been deleted."""
        present = tree_sets.parts_of(tree.motionbridge_level.parts)
        count = len(self.document.visuals)
        visuals = enumerate(tree_sets.visuals_of(tree))
        return [(visual, present[number]) for number, visual in visuals if number in present and visual < count]

    def _visuals(self, trees: Sequence[Object]) -> _Visuals:
        pairs = [(visual, number) for number, tree in enumerate(trees) for visual, _ in self._parts(tree)]
        visuals, numbers = np.array(pairs, np.int64).reshape(-1, 2).T
        stored = visual_mesh.tree_matrices(self.document, visuals).astype(np.float64)
        current = np.array([world_matrix(tree) for tree in trees]).reshape(-1, 4, 4)[numbers]
        return _Visuals(visuals, numbers, stored, _wanted(stored, current))

    def moves(self) -> dict[int, Floats]:
        """Return visual of an impostor -> how its tree moves in the world (4, 4), for those that move."""
        impostors = visual_mesh.impostor_of(self.document)[self.moved.visuals].tolist()
        moves = zip(impostors, self.moved.moves, strict=True)
        return {visual: move for visual, move in moves if visual >= 0 and np.isfinite(move).all()}

    def write(self, imported: Sequence[int], changes: Changes) -> None:
        """Write them into the document; ``imported``: visuals for which the import created trees."""
        if not self.trees:
            # The user may have deleted the whole collection to work on the rest.
            self.level_objects.keep_all("no trees are in the scene: the imported ones are written")
            return
        moved = self.moved
        rebase.refuse_not_finite("a tree's place is NaN or infinite", "Clear its transform", moved.wanted)
        edited = [self.trees[number] for number in np.unique(moved.trees).tolist()]
        self._warn_of_mirrored([*edited, *self.level_objects.copies.get("TREE", [])])
        self._warn_of_sizes()
        if edited:
            boxes = self._boxes(moved)
            edit.place_trees(self.document, moved.visuals, moved.wanted, boxes, moved.moves)
            changes.parts += [Part(tree.name, Noun.TREE, fields=(say("place"),)) for tree in edited]
            self._follow(moved)
        self._hide(np.array(sorted(set(imported) - set(self.parts)), np.int64), changes)
        self._copy(changes)

    def _warn_of_mirrored(self, objects: list[Object]) -> None:
        mirrored = [obj for obj in objects if np.linalg.det(world_matrix(obj)[:3, :3]) < 0]
        if mirrored:
            words = (
                "{0:# tree is|# trees are} mirrored by a negative scale, and the game would show {0:its|their} faces "
                "from behind: {1}"
            )
            self.level_objects.report.warn(say(words, len(mirrored), listed_objects(mirrored)))

    def _warn_of_sizes(self) -> None:
        before, after = (np.linalg.norm(side[:, :3, :3], axis=1) for side in (self.moved.stored, self.moved.wanted))
        resized = self.moved.trees[~np.isclose(before, after, rtol=RESIZED, atol=0).all(axis=1)]
        objects = [self.trees[number] for number in np.unique(resized).tolist()]
        if objects:
            words = "{0:# tree has|# trees have} another size than in the file, which Apply Scale changes, too: {1}"
            self.level_objects.report.warn(say(words, len(objects), listed_objects(objects)))

    def _hide(self, missing: NDArray[np.int64], changes: Changes) -> None:
        missing = missing[missing < len(self.document.visuals)]
        stored = visual_mesh.tree_matrices(self.document, missing).astype(np.float64)
        lengths = np.linalg.norm(stored[:, :3, :3], axis=1).max(axis=1, initial=0)
        hidden = stored.copy()
        hidden[:, :3, :3] *= (edit.HIDDEN / np.maximum(lengths, edit.HIDDEN))[:, None, None]
        gone = _Visuals(missing, missing, stored, hidden).of(lengths > structure.INVISIBLE_BELOW)
        if not len(gone.visuals):
            return
        # A tree of which only some parts were deleted is not deleted.
        is_part = np.isin(gone.visuals, [visual for tree in self.trees for visual in tree_sets.visuals_of(tree)])
        deleted = len(np.unique(visual_mesh.tree_places(self.document, gone.visuals[~is_part])))
        boxes = np.repeat(gone.wanted[:, None, :3, 3], 2, axis=1)
        edit.place_trees(self.document, gone.visuals, gone.wanted, boxes)
        if deleted:
            changes.deleted[Noun.TREE] += deleted
            words = (
                "{0:# deleted tree is|# deleted trees are} hidden by {0:its|their} scale: a level's visuals cannot be "
                "removed"
            )
            self.level_objects.report.note(say(words, deleted))
        if is_part.any():
            changes.note(say("{:# part of a tree|# parts of trees}", int(is_part.sum())))
            words = "deleted parts of trees are hidden by their scale: a level's visuals cannot be removed"
            self.level_objects.report.note(words)
        self._follow(gone)

    def _copy(self, changes: Changes) -> None:
        copies = [copy for copy in self.level_objects.copies.get("TREE", []) if self._parts(copy)]
        if not copies:
            return
        new = self._visuals(copies)
        rebase.refuse_not_finite("a tree's place is NaN or infinite", "Clear its transform", new.wanted)
        added = edit.add_trees(self.document, new.visuals, new.trees, new.wanted, self._boxes(new), moves=new.moves)
        self.added = dict(zip(added.tolist(), (self.parts[visual] for visual in new.visuals.tolist()), strict=True))
        for copy in copies:
            changes.add(Noun.TREE, copy.name)
        words = (
            "{0:# tree is|# trees are} added below a new root of the sector {0:it is|they are} in, which no one has "
            "tried in a game; {0:it has|they have} no collision: {1}"
        )
        self.level_objects.report.warn(say(words, len(copies), listed_objects(copies)))

    def _boxes(self, present: _Visuals) -> Floats:
        """Return the bounding boxes (n, 2, 3) at the places that are written."""
        pairs = zip(present.visuals.tolist(), present.wanted, strict=True)
        placed = ((self._points(self.parts[visual]), matrix) for visual, matrix in pairs)
        return np.array([polygons.bounds(transformed(*points)) for points in placed])

    def _points(self, part: Object) -> Floats:
        if part not in self.points:
            with meshes.outside_edit_mode(part) as data:
                points = in_world(part, meshes.positions_of(data))
            self.points[part] = points if len(points) else np.zeros((1, 3))
        return self.points[part]

    def _follow(self, moved: _Visuals) -> None:
        self.level_objects.report.warn("trees were moved or deleted; collision and baked light stay as they are")
        stay = edit.move_impostors(self.document, moved.visuals, moved.moves)
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


def _are_moved(stored: Floats, wanted: Floats) -> NDArray[np.bool_]:
    """Return (n,) whether the transforms to be written differ from those of the file (n, 4, 4)."""
    return np.asarray((stored != wanted).any(axis=(1, 2)) & np.isfinite(stored).all(axis=(1, 2)))


def _wanted(stored: Floats, current: Floats) -> Floats:
    """Return the transforms to be written (n, 4, 4) of trees that Blender shows with ``current`` ones."""
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(stored).all(axis=(1, 2)))
    result = np.where(finite[:, None, None], stored, current)
    for number in np.flatnonzero(finite & (_is_turned(current, stored) | _is_shifted(current, stored))).tolist():
        result[number] = _placed(stored[number], current[number])
    return result


def _placed(stored: Floats, current: Floats) -> Floats:
    """Return the transform to write for a tree (4, 4): as Blender shows it, with the shear of the file's transform, and
    with the file's own numbers for rotation and scale, or for the position, if these are not edited.
    """
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
