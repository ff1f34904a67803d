"""Which frames of a motion need keys, so that a straight line from key to key stays near what moves between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def needed_keys(
    points: Floats, times: NDArray[Any], required: NDArray[np.bool_], tolerance: float
) -> NDArray[np.bool_]:
    """(frames,) the ``required`` keys, the first and the last, and those that ``tolerance`` asks for besides.

    ``points`` (points, frames, 3) at rising ``times`` (frames,). Where a point is further than that from the line
    between its places on the neighbouring keys, the frame where one is furthest becomes a key, again and again.
    """
    chosen = required.copy()
    chosen[[0, -1]] = True
    at = np.asarray(times, np.float64)
    open_frames = np.flatnonzero(~chosen)
    while len(open_frames):
        keys = np.flatnonzero(chosen)
        after = np.searchsorted(keys, open_frames)
        left, right = keys[after - 1], keys[after]
        share = ((at[open_frames] - at[left]) / (at[right] - at[left]))[:, None]
        line = (1.0 - share) * points[:, left] + share * points[:, right]
        error = np.linalg.norm(points[:, open_frames] - line, axis=-1).max(axis=0, initial=0.0)
        worst_first = np.lexsort((-error, after))
        _, first = np.unique(after[worst_first], return_index=True)
        worst = worst_first[first]
        worst = worst[error[worst] > tolerance]
        chosen[open_frames[worst]] = True
        # Only gaps that were split are looked at again.
        split = np.isin(after, after[worst])
        open_frames = open_frames[split & ~chosen[open_frames]]
    return chosen
