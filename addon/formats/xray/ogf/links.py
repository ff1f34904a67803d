"""Skin weights as vertices store them: up to four bones each, heaviest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum
from ....core.errors import WriteError
from ....core.model import Mesh


@dataclass(frozen=True)
class Influences:
    """Which bone pulls which vertex how much.

    ``keys`` (n,) = vertex * bone count + bone, ascending, no two equal; ``weights`` (n,).
    """

    keys: NDArray[np.int64]
    weights: NDArray[np.float64]
    vertex_count: int
    bone_count: int
    left_out: tuple[str, ...] = ()
    """Groups that hold weights but are no bones of the model."""


def influences(mesh: Mesh, bones: Sequence[str]) -> Influences:
    """The mesh's weights by bone number, names compared without case. Raises `WriteError` for weights that are none."""
    count = max(len(bones), 1)
    if mesh.weights is None:
        return Influences(np.zeros(0, np.int64), np.zeros(0), len(mesh.positions), count)
    places = {bone.lower(): place for place, bone in enumerate(bones)}
    bone_of_group = np.array([places.get(group.lower(), -1) for group in mesh.groups] or [-1], np.int64)
    weights = mesh.weights.weights.astype(np.float64)
    if not np.isfinite(weights).all():
        raise WriteError(f"a weight of {mesh.name!r} is no number", remedy="Normalise its vertex groups")
    bone = bone_of_group[mesh.weights.groups]
    unknown = np.unique(mesh.weights.groups[(bone < 0) & (weights > 0)])
    known = (bone >= 0) & (weights > 0)
    keys = mesh.weights.vertices[known].astype(np.int64) * count + bone[known]
    distinct, place = np.unique(keys, return_inverse=True)
    summed = np.bincount(place.ravel(), weights[known], len(distinct)).astype(np.float64)
    return Influences(distinct, summed, len(mesh.positions), count, tuple(mesh.groups[group] for group in unknown))


def changed_vertices(new: Influences, old: Influences) -> NDArray[np.bool_]:
    """(vertices,) whose bones or weights differ by more than Blender's own rounding."""
    keys = np.union1d(new.keys, old.keys)
    both = []
    for side in (new, old):
        weights = np.zeros(len(keys))
        weights[np.searchsorted(keys, side.keys)] = side.weights
        both.append(weights)
    differs = ~quantum.untouched(both[0], both[1], magnitude=np.ones(len(keys)))
    result = np.zeros(new.vertex_count, np.bool_)
    result[keys[differs] // new.bone_count] = True
    return result


@dataclass(frozen=True)
class Slots:
    """``bones`` and ``weights`` (vertices, most links), heaviest first, weights of a vertex summing to 1.

    A slot that is not used repeats the first bone with weight 0. ``links`` (vertices,) how many are used, ``trimmed``
    how many vertices had more than there is room for.
    """

    bones: NDArray[np.int64]
    weights: NDArray[np.float64]
    links: NDArray[np.int64]
    trimmed: int


def slots(pulls: Influences, most: int, name: str) -> Slots:
    """The ``most`` heaviest bones of every vertex. Raises `WriteError` where a vertex follows none."""
    vertex, bone = np.divmod(pulls.keys, pulls.bone_count)
    counts = np.bincount(vertex, minlength=pulls.vertex_count)
    if not counts.all():
        lost = int((counts == 0).sum())
        raise WriteError(
            f"{lost} of {len(counts)} vertices of {name!r} follow no bone",
            remedy="Give them weights in groups named like the model's bones",
        )
    order = np.lexsort((-pulls.weights, vertex))
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(order)) - starts[vertex[order]]
    kept = rank < most
    row, column = vertex[order][kept], rank[kept]
    weights = np.zeros((pulls.vertex_count, most))
    weights[row, column] = pulls.weights[order][kept]
    bones = np.zeros((pulls.vertex_count, most), np.int64)
    bones[row, column] = bone[order][kept]
    links = np.minimum(counts, most)
    bones = np.where(np.arange(most) < links[:, None], bones, bones[:, :1])
    weights /= weights.sum(axis=1, keepdims=True)
    return Slots(bones, weights, links, int((counts > most).sum()))


def store(rows: NDArray[Any], which: NDArray[np.bool_], found: Slots) -> None:
    """Write bones and weights into the vertices ``which`` of ``rows``, whose layout has room for their links."""
    links = rows.dtype["bones"].shape[0]
    rows["bones"][which] = found.bones[which, :links]
    if links == 2:
        # A single bone is written twice; the second one's weight is then 1.
        second = np.where(found.links == 1, 1.0, found.weights[:, 1])
        rows["weights"][which, 0] = second[which]
    elif links > 2:
        rows["weights"][which] = found.weights[which, : links - 1]
