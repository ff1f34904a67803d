"""Objects of a level in sentences and in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.text import listed

NAMED = 3
"""Objects that a sentence names; more are counted."""


def named(objects: Sequence[Any]) -> str:
    """``'yard 00001', 'yard 00002' and 3 more``."""
    return names_said([shown.name for shown in objects])


def names_said(names: Sequence[str]) -> str:
    """The same of names of what is not there any more."""
    return listed([repr(name) for name in names], NAMED)


def place_of(shown: Any) -> NDArray[np.float64]:
    """(4, 4) where an object stands. What is excluded from the view layer has no world matrix that is up to date."""
    alone = shown.parent is None and not shown.constraints
    return np.array(shown.matrix_basis if alone else shown.matrix_world, np.float64)
