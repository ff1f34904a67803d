"""Weights of bones as a file stores them: at most four for a point, in steps of 1/256 that add up to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.model import VertexWeights
from .check import MOST_BONES, WEIGHT_SUM

STEPS = 256
"""A point's byte is 256 minus the weight in these steps; 255 of them cannot be stored, as byte 1 is the whole."""


@dataclass(frozen=True, eq=False)
class CleanWeights:
    """What a clean-up changes: ``vertices`` (n,) and their new ``weights``, with groups as given.

    ``crowded``, ``uneven`` and ``foreign``: how many of them have more than four bones, a sum that is not 1, or a bone
    that the game's skeleton lacks; a vertex may be of several kinds, or have a weight too small to be stored.
    """

    vertices: NDArray[np.int32]
    weights: VertexWeights
    crowded: int
    uneven: int
    foreign: int


def clean(weights: VertexWeights, target: NDArray[np.int32], count: int) -> CleanWeights:
    """Return which of ``count`` vertices have to change, and their new weights.

    ``target`` (groups,): the group of the bone that gets the weights of each group, itself for a bone of the game; -1
    for a bone without one, -2 for a group that is not a bone. Vertices that would be in no bone stay as they are.
    """
    rows = (target[weights.groups] > -2) & (weights.weights > 0)
    vertex, group, value = weights.vertices[rows], weights.groups[rows], weights.weights[rows].astype(np.float64)
    foreign = np.bincount(vertex[target[group] != group], minlength=count) > 0
    tiny = np.bincount(vertex[np.rint(value * STEPS) == 0], minlength=count) > 0
    number = np.bincount(vertex, minlength=count)
    uneven = (number > 0) & (np.abs(np.bincount(vertex, value, minlength=count) - 1) > WEIGHT_SUM)
    crowded = number > MOST_BONES
    changed = crowded | uneven | foreign | tiny
    kept = changed[vertex] & (target[group] >= 0)
    result = _stored(vertex[kept], target[group[kept]], value[kept], len(target))
    vertices = np.flatnonzero(np.bincount(result.vertices, minlength=count)).astype(np.int32)
    return CleanWeights(vertices, result, *(int(kind[vertices].sum()) for kind in (crowded, uneven, foreign)))


def _stored(
    vertex: NDArray[np.int32], group: NDArray[np.int32], value: NDArray[np.float64], groups: int
) -> VertexWeights:
    """Return the heaviest weights of each vertex in steps of 1/256 whose sum is 1; equal rows are added."""
    key, row = np.unique(vertex.astype(np.int64) * groups + group, return_inverse=True)
    value = np.asarray(np.bincount(row.ravel(), value, minlength=len(key)), np.float64)
    vertex, group = key // groups, key % groups
    order = np.lexsort((group, -value, vertex))
    order = order[_rank(vertex[order]) < MOST_BONES]
    vertex, group, value = vertex[order], group[order], value[order]
    _, row = np.unique(vertex, return_inverse=True)
    exact = value / np.bincount(row.ravel(), value)[row.ravel()] * STEPS if len(value) else value
    steps = np.floor(exact).astype(np.int64)
    missing = STEPS - np.bincount(row.ravel(), steps).astype(np.int64) if len(value) else steps
    by_rest = np.lexsort((-(exact - steps), vertex))
    steps[by_rest] += _rank(vertex[by_rest]) < missing[row.ravel()[by_rest]]
    whole = np.zeros(len(missing), np.bool_)
    whole[row.ravel()[steps >= STEPS - 1]] = True
    steps = np.where(whole[row.ravel()], np.where(steps >= STEPS - 1, STEPS, 0), steps)
    used = steps > 0
    return VertexWeights(
        vertex[used].astype(np.int32), group[used].astype(np.int32), (steps[used] / STEPS).astype(np.float32)
    )


def _rank(sorted_values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of each value among the equal ones, which are together."""
    number = np.arange(len(sorted_values))
    begins = np.flatnonzero(np.diff(sorted_values, prepend=-1))
    result: NDArray[np.int64] = number - np.repeat(begins, np.diff(begins, append=len(sorted_values)))
    return result
