"""Large temporary arrays."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SETTLES = 31 << 20


def keep_freed_memory() -> None:
    """Make the C library keep memory that arrays free, for the next arrays. Call it before work with many arrays of
    megabytes.

    The C library of Linux requests memory from the system for each large array, and the system fills it with zeros page
    by page, until an array of that size (up to 32 MB) has been freed once. The array freed here is never written to. On
    other systems this has no effect.
    """
    np.empty(_SETTLES, np.uint8)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Call `keep_freed_memory` and disable Python's cyclic garbage collection inside the context.

    Otherwise it would run every few hundred objects; the objects that imports create stay, and hardly any are cyclic.
    In a Blender with 70,000 Python objects each full collection takes 37 ms.
    """
    keep_freed_memory()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def scratch(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return an array of zeros in its own memory, which returns to the system when its last reference is deleted.

    Memory freed in the usual way mostly stays with the process, where other libraries cannot use it.
    """
    array: NDArray[Any] = np.zeros(0, kind)
    size = int(np.prod(shape, dtype=np.int64)) * array.itemsize
    if size:
        array = np.frombuffer(mmap.mmap(-1, size), kind)
    return array.reshape(shape)
