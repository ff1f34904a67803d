"""What an encoding changed in a file of a level, in the format's own words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import text


@dataclass
class Changes:
    """What is no longer the base's: ``lines`` such as ``12 positions``, and what could not be taken along.

    Without lines every byte of the file is the old one.
    """

    lines: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def include(self, other: Changes, place: str = "") -> None:
        """Add what the encoding of a part changed; ``place`` names the part."""
        self.lines += [f"{place}: {line}" if place else line for line in other.lines]
        self.left_out += other.left_out

    def count(self, changed: NDArray[Any], what: str) -> None:
        """Add a line for the rows where ``changed`` (n,) is set, if there are any."""
        number = int(np.count_nonzero(changed))
        if number:
            self.lines.append(text.counted_plural(number, what))

    def fields(self, rows: NDArray[Any], base: NDArray[Any], words: dict[str, str]) -> None:
        """Add a line for every field (of ``words``) in which structured rows differ from the base's, as bits."""
        self.lines += list(_field_lines(rows, base, words))

    def sentence(self) -> str:
        """``12 positions, 3 materials changed``, or ``nothing changed``."""
        return f"{', '.join(self.lines)} changed" if self.lines else "nothing changed"


def _field_lines(rows: NDArray[Any], base: NDArray[Any], words: dict[str, str]) -> Iterator[str]:
    for name, word in words.items() if len(rows) else ():
        mine, theirs = (np.ascontiguousarray(side[name]).reshape(len(side), -1) for side in (rows, base))
        differ = (mine.view(np.uint8) != theirs.view(np.uint8)).any(axis=1)
        if differ.any():
            yield text.counted_plural(int(differ.sum()), word)
