"""Large arrays that are needed for a moment."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


def scratch(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """An array of zeros in memory of its own, which goes back to the system as soon as its last reference is gone.

    What is freed the usual way mostly stays with the process, where other libraries cannot use it.
    """
    array: NDArray[Any] = np.zeros(0, kind)
    size = int(np.prod(shape, dtype=np.int64)) * array.itemsize
    if size:
        array = np.frombuffer(mmap.mmap(-1, size), kind)
    return array.reshape(shape)
