"""What differs between two levels, in the words of an export: trees, impostors, lights, glows, portals, shaders.

Boxes and spheres follow from what they surround, and are not named.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....core import names, rebase
from ....core.changes import Changes, Noun, Part, differing
from ....core.report import Message, say
from . import structure
from .document import SUN, Kind, Level
from .mesh import parents, tree_matrices, tree_places


def compare(before: Level, after: Level) -> Changes:
    """Return what differs in ``after``."""
    changes = Changes()
    moved = _compare_trees(before, after, changes)
    _compare_impostors(before, after, moved, changes)
    strings = structure.shaders(before)

    def light(number: int) -> str:
        return f"{before.name} {'sun' if before.lights['type'][number] == SUN else f'light {number:03}'}"

    def glow(number: int) -> str:
        shader = int(before.glows["shader"][number])
        texture = strings[shader].texture if shader < len(strings) else ""
        return f"{before.name} glow {number:03} {texture.rpartition(chr(92))[2]}"

    def portal(number: int) -> str:
        row = before.portals[number]
        return f"{before.name} portal {number:03} ({row['front']}|{row['back']})"

    _compare_rows(before.lights, after.lights, Noun.LIGHT, light, changes)
    _compare_rows(before.glows, after.glows, Noun.GLOW, glow, changes)
    _compare_rows(before.portals, after.portals, Noun.PORTAL, portal, changes)
    _compare_shaders(before, after, changes)
    return changes


def _compare_trees(before: Level, after: Level, changes: Changes) -> NDArray[np.int64]:
    """Return the visuals of ``before`` whose tree was moved or hidden; a tree counts once, however many it has."""
    of_before, of_after = (level.visuals.owners(Kind.TREE)[0] for level in (before, after))
    common = min(len(of_before), len(of_after))
    first, other = (
        tree_matrices(level, visuals[:common]) for level, visuals in ((before, of_before), (after, of_after))
    )
    moved = np.flatnonzero((first.view(np.uint32) != other.view(np.uint32)).any(axis=(1, 2)))
    seen, stays = (_is_seen(matrices[moved]) for matrices in (first, other))
    for title in structure.titles(after, _first_of_each(after, of_after[:common][moved[stays]])):
        changes.change(Noun.TREE, title, say("place"))
    gone = np.append(moved[seen & ~stays], np.arange(common, len(of_before)))
    trees = tree_places(before, of_before)
    # A tree of which only some parts were deleted is not deleted.
    whole = np.isin(trees[gone], np.delete(trees, gone), invert=True)
    changes.deleted[Noun.TREE] += len(np.unique(trees[gone][whole]))
    if not whole.all():
        changes.note(say("{:# part of a tree|# parts of trees}", int((~whole).sum())))
    for title in structure.titles(after, _first_of_each(after, of_after[common:])):
        changes.add(Noun.TREE, title)
    return np.asarray(of_before[:common][moved])


def _first_of_each(level: Level, visuals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first visual of each tree."""
    return visuals[np.sort(np.unique(tree_places(level, visuals), return_index=True)[1])]


def _is_seen(matrices: NDArray[np.float32]) -> NDArray[np.bool_]:
    lengths = np.linalg.norm(matrices[:, :3, :3], axis=1).max(axis=1, initial=0)
    return np.asarray(lengths > structure.INVISIBLE_BELOW)


def _compare_impostors(before: Level, after: Level, moved: NDArray[np.int64], changes: Changes) -> None:
    """Add the impostors that differ, without those that follow their ``moved`` trees (n,)."""
    first, other = structure.impostors(before), structure.impostors(after)
    if not len(first.visuals) or not np.array_equal(first.visuals, other.visuals):
        return
    follow = set(parents(before)[moved].tolist())
    fields: dict[int, list[Message]] = {}
    for name in ("positions", "uvs", "hemi", "light"):
        mine, theirs = (np.ascontiguousarray(getattr(side, name)).view(np.uint32) for side in (first, other))
        differs = (mine != theirs).reshape(len(first.visuals), -1).any(axis=1)
        for visual in first.visuals[differs].tolist():
            if name != "positions" or visual not in follow:
                fields.setdefault(visual, []).append(say(name))
    changes.parts += [
        Part(title, Noun.IMPOSTOR, fields=tuple(fields[visual]))
        for title, visual in zip(structure.titles(before, sorted(fields)), sorted(fields), strict=True)
    ]


def _compare_rows(
    before: NDArray[np.void], after: NDArray[np.void], noun: Noun, label: Callable[[int], str], changes: Changes
) -> None:
    """Add changed, new and deleted records; ``label`` returns the name of one of ``before``."""
    source = rebase.matched(after, before)
    for number, row in zip(source.tolist(), after, strict=True):
        if number < 0:
            changes.add(noun, noun.name.lower())
        elif row.tobytes() != before[number].tobytes():
            changes.parts.append(Part(label(number), noun, fields=differing(row, before[number])))
    changes.deleted[noun] += len(before) - int((source >= 0).sum())


def _compare_shaders(before: Level, after: Level, changes: Changes) -> None:
    for old, new in zip(before.shaders, after.shaders, strict=False):
        if old != new:
            fields = (say("now {}", names.decode(new)),)
            changes.parts.append(Part(names.decode(old), Noun.SHADER_STRING, fields=fields))
    first, other = before.visuals.shaders, after.visuals.shaders
    common = min(len(first), len(other))
    if count := int((first[:common] != other[:common]).sum()):
        changes.note(say("shader strings of {:# visual|# visuals}", count))
