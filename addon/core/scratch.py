"""Large arrays that are needed for a moment."""

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
    """Have the C library keep what arrays give back, for the next ones; before work with many arrays of megabytes.

    That of Linux asks the system for each large array, which fills it with zeros page by page, until it has seen one as
    large freed, up to 32 MB; this one is never touched. Elsewhere this does nothing.
    """
    np.empty(_SETTLES, np.uint8)


@contextmanager
def undisturbed() -> Iterator[None]:
    """`keep_freed_memory`, and Python does not look for objects that only hold each other until the end.

    It would do so every few hundred objects; what imports make stays, and hardly anything of it holds itself. In a
    Blender with 70,000 objects of Python each thorough look takes 37 ms.
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
    """An array of zeros in memory of its own, which goes back to the system as soon as its last reference is gone.

    What is freed the usual way mostly stays with the process, where other libraries cannot use it.
    """
    array: NDArray[Any] = np.zeros(0, kind)
    size = int(np.prod(shape, dtype=np.int64)) * array.itemsize
    if size:
        array = np.frombuffer(mmap.mmap(-1, size), kind)
    return array.reshape(shape)
