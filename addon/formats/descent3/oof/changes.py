"""What an encoding changed in a model, in the format's own words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import text


@dataclass
class Changes:
    """What is no longer the base's: ``lines`` such as ``hull: 12 positions``, and what could not be taken along.

    Without lines every byte of the file is the old one.
    """

    lines: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def include(self, other: Changes, place: str) -> None:
        """Add what the encoding of a part changed."""
        self.lines += [f"{place}: {line}" for line in other.lines]
        self.left_out += [f"{place}: {line}" for line in other.left_out]

    def count(self, changed: NDArray[Any], what: str) -> None:
        """Add a line for the rows where ``changed`` (n,) is set, if there are any."""
        number = int(np.count_nonzero(changed))
        if number:
            self.lines.append(text.counted_plural(number, what))

    def sentence(self) -> str:
        """``hull: 12 positions, gun points changed``, or ``nothing changed``."""
        return f"{', '.join(self.lines)} changed" if self.lines else "nothing changed"
