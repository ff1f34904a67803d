"""Sharp edges as the number per face that a mesh's smoothing rule stores; numbers that say the same stay.

Edge bits hold every set of sharp edges. Groups hold those that run between groups: a sharp edge with the same smooth
surface on both sides cannot be stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....core.triangles import connected
from .mesh_chunks import FLAT
from .smoothing import BACK_FACE, Rule, hard_sides, numbered_pairs

Indices = NDArray[np.int64]
Numbers = NDArray[np.uint32]
Sides = NDArray[np.bool_]

LEAST_NEW = 16
"""New groups begin here, above all edge bits, which tells the two apart."""


def sides_of(corners: Indices, pairs: Indices) -> Sides:
    """(faces, 3) which sides (corner e to e + 1) of faces ``corners`` (faces, 3) are among ``pairs`` (edges, 2)."""
    width = max(int(corners.max(initial=0)), int(pairs.max(initial=0))) + 1
    first, second = corners, np.roll(corners, -1, axis=1)
    keys = np.minimum(first, second) * width + np.maximum(first, second)
    result: Sides = np.isin(keys, pairs.min(axis=1) * width + pairs.max(axis=1) if len(pairs) else pairs.ravel())
    return result


def stored_as(rule: Rule, corners: Indices, sharp: Sides, old: Numbers) -> tuple[Numbers, int]:
    """The numbers (faces,) that show ``sharp`` (faces, 3), ``old`` where they do already, and how many sharp edges
    groups cannot hold.

    ``corners`` (faces, 3) are points. `Rule.MASKS` counts as groups: the caller takes the mesh's flag away.
    """
    if rule in (Rule.EDGES, Rule.NORMALS):
        return _as_bits(sharp, old), 0
    return _as_groups(corners, sharp, old)


def _as_bits(sharp: Sides, old: Numbers) -> Numbers:
    differ = (hard_sides(old) != sharp).any(axis=1)
    back = (old & BACK_FACE) != 0
    edge = np.arange(3)
    bit = np.where(back[:, None], (4 - edge) % 3, edge)
    made = (sharp.astype(np.int64) << bit).sum(axis=1) + np.where(back, BACK_FACE, 0)
    result: Numbers = np.where(differ, made, old).astype(np.uint32)
    return result


def _as_groups(corners: Indices, sharp: Sides, old: Numbers) -> tuple[Numbers, int]:
    edge = numbered_pairs(
        np.minimum(corners, np.roll(corners, -1, axis=1)).ravel(),
        np.maximum(corners, np.roll(corners, -1, axis=1)).ravel(),
    )
    order = np.argsort(edge, kind="stable")
    together = np.diff(edge[order]) == 0
    mine, theirs = order[:-1][together], order[1:][together]
    hard = sharp.ravel()[mine] | sharp.ravel()[theirs]
    mine, theirs = mine // 3, theirs // 3
    part = connected(len(old), mine[~hard], theirs[~hard])
    size = np.bincount(part, minlength=len(old))
    wrong = np.zeros(len(old), np.bool_)  # by part
    wrong[part[(old != old[part]) | ((old == FLAT) & (size[part] > 1))]] = True
    one, other = part[mine[hard]], part[theirs[hard]]
    clash = (old[one] == old[other]) & (old[one] != FLAT) & (one != other)
    wrong[np.maximum(one, other)[clash]] = True
    lost = int((one == other).sum())
    parts = np.flatnonzero(wrong)
    highest = int(old[old != FLAT].max(initial=0))
    fresh = np.zeros(len(old), np.int64)
    fresh[parts] = max(highest + 1, LEAST_NEW) + np.arange(len(parts))
    fresh[parts[(size[parts] == 1) & sharp[parts].all(axis=1)]] = FLAT
    return np.where(wrong[part], fresh[part], old).astype(np.uint32), lost
