"""Change a level without its compiler: shader strings, trees, impostors, portals, and the bounds of ancestors.

Visuals are never removed, because their indices must have no gap. A copy of an instance is a new visual at the end; it
is listed by a new root of its sector, because the game finds only children that come before their parent. Source: the
engine's loader; no level with such a root was tried in a game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core import space
from . import mesh as visual_mesh
from .document import ENTRY, HEADER, Kind, Level, Lists, VisualType
from .mesh import as_byte
from .structure import FACETS, IMPOSTOR_ORDER, Impostors

Floats = NDArray[np.float64]

HIDDEN = 1e-5
"""Scale of a hidden instance, as mods write it."""
MARGIN = 0.001
"""Metres by which a visual's box is larger than its content, on each side."""
SAME_SCALE, SAME_ROTATION = 1e-5, 1e-9
"""Difference of a move's scale from 1, and of its matrix from the identity, within which it has none."""
_SWAP_YZ = [0, 2, 1, 3]
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ShaderChanges:
    """``replaced``: indices of changed shader strings; how many ``visuals`` and ``glows`` now use another string."""

    replaced: list[int]
    visuals: int
    glows: int


def set_shaders(
    level: Level,
    visuals: NDArray[np.int64],
    strings: Sequence[bytes],
    glows: NDArray[np.int64] = _NONE,
    glow_strings: Sequence[bytes] = (),
) -> ShaderChanges:
    """Assign shader strings (n,) to ``visuals`` (n,) and ``glow_strings`` (m,) to ``glows`` (m,).

    If all given users of a string need the same new one, the string is replaced at its index, also for users that were
    not given; entry 0 is never replaced. Otherwise each user refers to another string of the list, which is appended if
    it is missing.
    """
    header = level.visuals.fixed[Kind.HEADER]
    rows = level.visuals.rows_of(Kind.HEADER)[visuals]
    level.glows = level.glows.copy()
    current = np.concatenate([header["shader"][rows], level.glows["shader"][glows]]).astype(np.int64)
    wanted = [*strings, *glow_strings]
    wanted_by_index: dict[int, set[bytes]] = {}
    for number, string in zip(current.tolist(), wanted, strict=True):
        wanted_by_index.setdefault(number, set()).add(string)
    old_strings, replaced = list(level.shaders), []
    for number, wanted_here in wanted_by_index.items():
        if len(wanted_here) == 1 and 0 < number < len(old_strings) and wanted_here != {old_strings[number]}:
            level.shaders[number] = next(iter(wanted_here))
            replaced.append(number)
    result = current.copy()
    for index, (number, string) in enumerate(zip(current.tolist(), wanted, strict=True)):
        if number < len(level.shaders) and level.shaders[number] == string:
            continue
        if string not in level.shaders:
            level.shaders.append(string)
        result[index] = level.shaders.index(string)
    reassigned = result != current
    header["shader"][rows] = result[: len(rows)]
    level.glows["shader"][glows] = result[len(rows) :]
    return ShaderChanges(sorted(replaced), int(reassigned[: len(rows)].sum()), int(reassigned[len(rows) :].sum()))


def stored_transforms(matrices: Floats) -> NDArray[np.float32]:
    """Convert Blender's world matrices (n, 4, 4), column form, to those of the file (row form, X-Ray axes, float32)."""
    stored = np.swapaxes(matrices, 1, 2)[:, _SWAP_YZ][:, :, _SWAP_YZ].astype(np.float32)
    stored[:, :, 3] = (0, 0, 0, 1)
    return np.asarray(stored)


def place_trees(
    level: Level, visuals: NDArray[np.int64], matrices: Floats, boxes: Floats, moves: Floats | None = None
) -> None:
    """Move instances (n,) to Blender's world matrices (n, 4, 4); ``boxes`` (n, 2, 3) are their bounds there.

    ``moves`` (n, 4, 4): how they move in Blender's world, NaN if unknown; their spheres move along, and so do the boxes
    of those that only change their position. The boxes and spheres of their ancestors are updated.
    """
    level.visuals.fixed[Kind.TREE]["transform"][level.visuals.rows_of(Kind.TREE)[visuals]] = stored_transforms(matrices)
    rows, header = level.visuals.rows_of(Kind.HEADER)[visuals], level.visuals.fixed[Kind.HEADER]
    before = header[rows]
    _set_bounds(level, rows, boxes)
    if moves is not None:
        known = np.isfinite(moves).all(axis=(1, 2))
        _move_bounds(header, rows[known], before[known], moves[known])
    update_ancestors(level, visuals)


def _move_bounds(header: NDArray[np.void], rows: NDArray[np.int64], before: NDArray[np.void], moves: Floats) -> None:
    """Set the spheres in ``rows`` (n,) to those of ``before`` (n,) moved by ``moves`` (n, 4, 4) in Blender's axes, and
    the boxes of those that only change their position.
    """
    linear, shifts = moves[:, :3, :3], moves[:, :3, 3]
    stretch = np.linalg.norm(linear, ord=2, axis=(1, 2))
    stretch[np.abs(stretch - 1) < SAME_SCALE] = 1
    centres = space.xray_points(before["sphere"][:, :3].astype(np.float64))
    header["sphere"][rows, :3] = space.xray_points((linear @ centres[:, :, None])[:, :, 0] + shifts)
    header["sphere"][rows, 3] = before["sphere"][:, 3] * stretch
    only = np.abs(linear - np.eye(3)).max(axis=(1, 2), initial=0) < SAME_ROTATION
    header["box"][rows[only]] = before["box"][only] + space.xray_points(shifts[only])[:, None]


def reshape(level: Level, visuals: NDArray[np.int64], boxes: Floats) -> None:
    """Set the bounds of ``visuals`` (n,) to boxes (n, 2, 3) in Blender's axes, and update those of their ancestors."""
    _set_bounds(level, level.visuals.rows_of(Kind.HEADER)[visuals], boxes)
    update_ancestors(level, visuals)


def _set_bounds(level: Level, rows: NDArray[np.int64], boxes: Floats) -> None:
    """Set boxes (n, 2, 3), in Blender's axes, and the spheres around them in ``rows`` (n,) of the headers."""
    stored = space.xray_points(boxes) + np.array([[-MARGIN], [MARGIN]])
    header = level.visuals.fixed[Kind.HEADER]
    header["box"][rows] = stored
    header["sphere"][rows, :3] = stored.mean(axis=1)
    header["sphere"][rows, 3] = np.linalg.norm(stored[:, 1] - stored[:, 0], axis=1) / 2


def update_ancestors(level: Level, visuals: NDArray[np.int64]) -> None:
    """Set box and sphere of every ancestor of ``visuals`` (n,) so that they contain those of its children."""
    header = level.visuals.fixed[Kind.HEADER]
    of_visual = level.visuals.rows_of(Kind.HEADER)
    lists = level.visuals.rows_of(Kind.CHILDREN)
    parent_of = visual_mesh.parents(level)
    ancestors: set[int] = set()
    for visual in visuals.tolist():
        ancestor = int(parent_of[visual])
        while ancestor >= 0 and ancestor not in ancestors:
            ancestors.add(ancestor)
            ancestor = int(parent_of[ancestor])
    # Children come before their parents, so the boxes of all children are final.
    for visual in sorted(ancestors):
        children = level.visuals.children[lists[visual]].astype(np.int64)
        child_rows = of_visual[children[children < len(of_visual)]]
        _set_bounds_around(header, int(of_visual[visual]), header[child_rows[child_rows >= 0]])


def _set_bounds_around(header: NDArray[np.void], row: int, children: NDArray[np.void]) -> None:
    if row < 0 or not len(children):
        return
    box = np.stack([children["box"][:, 0].min(axis=0), children["box"][:, 1].max(axis=0)])
    centre = box.astype(np.float64).mean(axis=0)
    distances = np.linalg.norm(children["sphere"][:, :3] - centre, axis=1) + children["sphere"][:, 3]
    header["box"][row] = box
    header["sphere"][row, :3] = centre
    # The sphere around the box contains everything too.
    header["sphere"][row, 3] = min(float(distances.max()), float(np.linalg.norm(box[1] - centre)))


def move_impostors(level: Level, visuals: NDArray[np.int64], moves: Floats) -> int:
    """Move impostors like their instances (n,), which moved by ``moves`` (n, 4, 4) in Blender's world.

    An impostor is the parent of its instances. The result is the number of impostors that were not moved, because their
    children moved differently or only some of them moved.
    """
    parent_of, types = visual_mesh.parents(level), level.visuals.types
    corners = level.visuals.fixed[Kind.LOD]["corners"]
    rows, lists = level.visuals.rows_of(Kind.LOD), level.visuals.rows_of(Kind.CHILDREN)
    move_of = dict(zip(visuals.tolist(), moves, strict=True))
    unmoved = 0
    for parent in sorted({int(parent_of[visual]) for visual in visuals.tolist()} - {-1}):
        if types[parent] != VisualType.LOD or rows[parent] < 0:
            continue
        child_moves = [move_of.get(int(child)) for child in level.visuals.children[lists[parent]]]
        first = child_moves[0]
        if first is None or not all(
            child_move is not None and np.allclose(child_move, first, atol=1e-4) for child_move in child_moves
        ):
            unmoved += 1
            continue
        positions = space.xray_points(corners["position"][rows[parent]].astype(np.float64))
        corners["position"][rows[parent]] = space.xray_points(positions @ first[:3, :3].T + first[:3, 3])
    return unmoved


def set_impostors(level: Level, now: Impostors, base: Impostors) -> list[tuple[int, list[str]]]:
    """Write the corners of impostors ``now`` that differ from ``base``; both are of the same visuals.

    Equal values keep their bytes, and so does the padding; if one corner of an impostor was moved, all its positions
    are written. Returns the changed visuals, each with the names of the fields that differ.
    """
    rows = level.visuals.rows_of(Kind.LOD)[base.visuals]
    stored = level.visuals.fixed[Kind.LOD]["corners"][rows][:, :, IMPOSTOR_ORDER].reshape(-1)
    edited: dict[str, NDArray[np.bool_]] = {}
    for name in ("positions", "uvs", "hemi", "light"):
        new, old = (np.ascontiguousarray(getattr(side, name)).view(np.uint32) for side in (now, base))
        edited[name] = (new != old).reshape(len(stored), -1).any(axis=1)
    moved = edited["positions"].reshape(len(rows), -1).any(axis=1)
    edited["positions"] = moved.repeat(4 * FACETS)
    stored["position"][edited["positions"]] = space.xray_points(now.positions[edited["positions"]])
    stored["uv"][edited["uvs"]] = space.xray_uvs(now.uvs[edited["uvs"]])
    stored["bgrh"][edited["hemi"], 3] = as_byte(now.hemi[edited["hemi"]])
    light = as_byte(now.light[edited["light"]])
    stored["bgrh"][edited["light"], :3] = light[:, [2, 1, 0]]
    stored["sun"][edited["light"]] = light[:, 3]
    corners = level.visuals.fixed[Kind.LOD]["corners"]
    corners[rows[:, None, None], np.arange(FACETS)[:, None], IMPOSTOR_ORDER] = stored.reshape(len(rows), FACETS, 4)
    of_visual = [(name, differ.reshape(len(rows), 4 * FACETS)) for name, differ in edited.items()]
    named = [[name for name, differ in of_visual if differ[row].any()] for row in range(len(rows))]
    return [(visual, names) for visual, names in zip(base.visuals.tolist(), named, strict=True) if names]


def add_trees(
    level: Level,
    sources: NDArray[np.int64],
    trees: NDArray[np.int64],
    matrices: Floats,
    boxes: Floats,
    *,
    moves: Floats,
) -> NDArray[np.int64]:
    """Append copies of the instances ``sources`` (n,), placed as by `place_trees`, and give their sectors new roots.

    ``trees`` (n,): an index for each whole tree; one that has all instances of an impostor gets a copy of that, too.
    Returns the new visuals (n,).
    """
    sectors, impostor_of = visual_mesh.sectors(level)[sources], visual_mesh.impostor_of(level)[sources]
    first = len(level.visuals)
    for source in sources.tolist():
        _append_copy(level, source)
    added = np.arange(first, first + len(sources), dtype=np.int64)
    place_trees(level, added, matrices, boxes, moves)
    children_of: dict[int, list[int]] = {}
    for tree in np.unique(trees).tolist():
        here = np.flatnonzero(trees == tree)
        tops = _append_impostors(level, sources[here], added[here], impostor_of[here], moves[here[0]])
        children_of.setdefault(int(sectors[here[0]]), []).extend(tops)
    for number, children in sorted(children_of.items()):
        sector = level.sectors[number] if number >= 0 else None
        if sector is not None and sector.root is not None:
            sector.root = _append_root(level, [sector.root, *children])
    return added


def _append_impostors(
    level: Level, sources: NDArray[np.int64], added: NDArray[np.int64], impostors: NDArray[np.int64], move: Floats
) -> list[int]:
    """Append a copy of the impostor of a tree that was copied to visuals ``added`` (n,), if it has all its instances.

    Returns the visuals that the sector's root has to list.
    """
    impostor = int(impostors[0])
    copy_of = dict(zip(sources.tolist(), added.tolist(), strict=True))
    lists = level.visuals.rows_of(Kind.CHILDREN)
    children = level.visuals.children[lists[impostor]].tolist() if impostor >= 0 else []
    if not children or set(children) != set(copy_of) or not np.isfinite(move).all():
        return list(copy_of.values())
    _append_copy(level, impostor, [copy_of[child] for child in children])
    corners = level.visuals.fixed[Kind.LOD]["corners"]
    positions = space.xray_points(corners["position"][-1].astype(np.float64))
    corners["position"][-1] = space.xray_points(positions @ move[:3, :3].T + move[:3, 3])
    update_ancestors(level, added)
    return [len(level.visuals) - 1]


def _append_copy(level: Level, source: int, children: Sequence[int] = ()) -> None:
    """Append a visual with the same chunks as ``source``, but with these children."""
    visuals = level.visuals
    begins = np.append(np.flatnonzero(visuals.entries["depth"] == 0), len(visuals.entries))
    here = visuals.entries[begins[source] : begins[source + 1]].copy()
    before = visuals.entries["kind"][: begins[source]]
    for kind, rows in visuals.fixed.items():
        at = int(np.count_nonzero(before == kind))
        count = int(np.count_nonzero(here["kind"] == kind))
        visuals.fixed[kind] = np.concatenate([rows, rows[at : at + count]])
    at = int(np.count_nonzero(before == Kind.OPAQUE))
    visuals.opaque += visuals.opaque[at : at + int(np.count_nonzero(here["kind"] == Kind.OPAQUE))]
    if children:
        _append_children(level, children)
    here["id"][0] = int(visuals.ids.max()) + 1
    visuals.entries = np.concatenate([visuals.entries, here])


def _append_children(level: Level, children: Sequence[int]) -> None:
    lists = level.visuals.children
    rows = np.concatenate([lists.rows, np.array(children, lists.rows.dtype)])
    level.visuals.children = Lists(np.append(lists.starts, len(rows)), rows)


def _append_root(level: Level, children: list[int]) -> int:
    """Append a node with these children and return its index."""
    visuals = level.visuals
    number = len(visuals)
    header = np.zeros(1, HEADER)
    header["version"], header["type"] = 4, VisualType.HIERARCHY
    visuals.fixed[Kind.HEADER] = np.concatenate([visuals.fixed[Kind.HEADER], header])
    _append_children(level, children)
    identifier = int(visuals.ids.max()) + 1
    entries = [(identifier, 0, Kind.NESTED), (Kind.HEADER, 1, Kind.HEADER), (Kind.CHILDREN, 1, Kind.CHILDREN)]
    visuals.entries = np.concatenate([visuals.entries, np.array(entries, ENTRY)])
    update_ancestors(level, np.array(children, np.int64))
    return number


def set_portals(level: Level, rows: NDArray[np.void], origins: NDArray[np.int64]) -> None:
    """Replace the portals by ``rows`` (n,) of `PORTAL`; ``origins`` (n,) is the old index of each, -1 for new ones.

    If portals were added, removed or reordered, or their sectors changed, the sectors' lists of portals are written
    again.
    """
    same = np.array_equal(origins, np.arange(len(level.portals)))
    sides = [np.asarray(level.portals[side]) for side in ("front", "back")]
    level.portals = rows
    if same and all(np.array_equal(rows[side], was) for side, was in zip(("front", "back"), sides, strict=True)):
        return
    for number, sector in enumerate(level.sectors):
        if sector.portals is not None:
            listed = np.flatnonzero((rows["front"] == number) | (rows["back"] == number))
            sector.portals = listed.astype(np.uint16)


def set_corners(row: NDArray[np.void], corners: NDArray[np.float32]) -> None:
    """Set the corners of a portal, ``row`` (1,), to (3 to 6, 3) in Blender's order and axes; unused ones are kept."""
    count = len(corners)
    row["vertices"][0, [0, *range(count - 1, 0, -1)]] = space.xray_points(corners)
    row["count"] = count
