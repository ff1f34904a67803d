"""What an encoding changed in a file: in the file, its parts (motions, bones, meshes), and their items; one sentence.

Every format tells its changes in this way, so that reports, badges and the dialog before saving are made in one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .report import changed_count, counted, counted_plural

_PLURALS = {"mesh": "meshes"}


class Words(Protocol):
    """How changes are put into words; an interface in another language has its own."""

    between: str
    """What separates the kinds of changes."""

    def said(self, text: str) -> str:
        """A fixed text."""

    def counted(self, number: int, noun: str, nouns: str = "") -> str:
        """As `report.counted`."""

    def line(self, text: str) -> str:
        """A line of `Changes.lines`, or a field of a part."""


class English:
    """The words as they are."""

    between = ", "

    def said(self, text: str) -> str:
        """The text itself."""
        return text

    def counted(self, number: int, noun: str, nouns: str = "") -> str:
        """As `report.counted`."""
        return counted(number, noun, nouns or _PLURALS.get(noun, ""))

    line = said


ENGLISH = English()


@dataclass(frozen=True)
class Item:
    """A channel, track or bone that is not the base's; ``keys``: how many of its keys or frames are not.

    ``error``: by how much what is stored differs from what was asked for, at most, metres or radians; ``slope_error``
    the same of the slopes with which a linear behaviour goes on, a second.
    """

    name: str
    keys: int = 0
    error: float = 0.0
    slope_error: float = 0.0


@dataclass(frozen=True)
class Part:
    """A part of a file that is ``new``, or differs in ``items`` and, in words, in ``fields`` (``marks``).

    ``noun`` is what the file has several of: ``motion``. ``number``: of what was encoded, the one that this is.
    """

    name: str
    noun: str
    new: bool = False
    items: tuple[Item, ...] = ()
    fields: tuple[str, ...] = ()
    number: int = -1

    def lines(self) -> list[str]:
        """``hand: rest position`` for each field."""
        return [f"{self.name}: {line}" for line in self.fields]


@dataclass
class Changes:
    """What is no longer the base's. False where nothing is: then every byte of the file is the old one.

    ``lines``: of the file itself, in words (``12 positions``). ``left_out``: what this kind of file cannot hold.
    ``deleted``: how many parts of each noun are gone. ``renamed`` parts: old name, new name. ``unchanged``: how many
    parts did not change; None where they are not counted. ``new``: what the file is (``path``), where there was no
    base. ``extent``: how much of the parts is changed (``31 frames``); without it their items are counted, which are
    ``items`` (``track``). ``noun``: what the parts are.
    """

    lines: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    deleted: Counter[str] = field(default_factory=Counter)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    unchanged: int | None = None
    new: str = ""
    extent: str = ""
    noun: str = ""
    items: str = ""

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.new or self.lines or self.parts or self.renamed or self.deleted.total())

    def include(self, other: Changes, name: str = "", noun: str = "") -> None:
        """Add what the encoding of a part changed: as a part with a ``noun``, else as lines that name it."""
        if noun and other.lines:
            self.change(noun, name, *other.lines)
        prefix = f"{name}: " if name and not noun else ""
        if not noun:
            self.lines += [f"{prefix}{line}" for line in other.lines]
        self.left_out += [f"{prefix}{line}" for line in other.left_out]
        self.parts += other.parts
        self.deleted += other.deleted

    def change(self, noun: str, name: str, *fields: str) -> None:
        """Add fields that differ to the part of that name."""
        known = {(part.noun, part.name): index for index, part in enumerate(self.parts)}
        index = known.get((noun, name))
        if index is None:
            self.parts.append(Part(name, noun, fields=fields))
        else:
            self.parts[index] = Part(name, noun, fields=(*self.parts[index].fields, *fields))

    def add(self, noun: str, name: str) -> None:
        """Note a part that is new."""
        self.parts.append(Part(name, noun, new=True))

    def lines_of(self, noun: str) -> list[str]:
        """``hand: rest position`` for each field of each part with this noun."""
        return [line for part in self.parts if part.noun == noun for line in part.lines()]

    def count(self, changed: NDArray[Any], noun: str) -> None:
        """Add a line for the rows where ``changed`` (n,) is set, if there are any."""
        number = int(np.count_nonzero(changed))
        if number:
            self.lines.append(counted_plural(number, noun))

    def resized(self, nouns: str, before: int, after: int) -> bool:
        """Add the line ``faces 12 -> 14`` if the numbers differ; whether they do."""
        if before != after:
            self.lines.append(changed_count(nouns, before, after))
        return before != after

    def fields(self, rows: NDArray[np.void], base: NDArray[np.void], words: dict[str, str]) -> None:
        """Add a line for every field (of ``words``) in which structured rows differ from the base's, as bits."""
        for name, word in words.items() if len(rows) else ():
            mine, theirs = (np.ascontiguousarray(side[name]).reshape(len(side), -1) for side in (rows, base))
            self.count((mine.view(np.uint8) != theirs.view(np.uint8)).any(axis=1), word)

    def all_items(self) -> Iterable[Item]:
        """The items of all parts."""
        return (item for part in self.parts for item in part.items)

    def worst_error(self) -> tuple[float, str, str]:
        """Error, item and part where storing differs most from what was asked for; 0 and no names if exact."""
        errors = [(item.error, item.name, part.name) for part in self.parts for item in part.items]
        return max(errors, default=(0.0, "", ""))

    def worst_errors(self) -> tuple[float, float]:
        """Metres and radians as `worst_error`: items whose names end in X, Y or Z are in metres."""
        metres, radians = [0.0], [0.0]
        for item in self.all_items():
            (metres if item.name.endswith(("X", "Y", "Z")) else radians).append(item.error)
        return max(metres), max(radians)

    def _only_adds(self) -> bool:
        others = self.lines or self.renamed or self.deleted.total()
        return bool(self.parts) and all(part.new for part in self.parts) and not others

    def sentence(self, words: Words | None = None) -> str:
        """``1 motion, 3 channels changed, 1 motion added, 2 unchanged``; ``hull: 12 positions changed``; and so on.

        A file that has nothing but new parts does not say ``0 unchanged``. Without ``words`` in English.
        """
        told = words or ENGLISH
        if self.new:
            return told.said("a new {}").format(told.line(self.new))
        edited = [part for part in self.parts if not part.new]
        said = []
        if edited:
            of_nouns = Counter(part.noun for part in edited).items()
            found = ", ".join(told.counted(number, noun) for noun, number in of_nouns)
            number = sum(len(part.items) for part in edited)
            extent = told.line(self.extent) or (told.counted(number, self.items) if self.items and number else "")
            said.append(told.said("{} changed").format(f"{found}, {extent}" if extent else found))
        if self.lines:
            said.append(told.said("{} changed").format(_grouped(self.lines, told)))
        for noun, number in Counter(part.noun for part in self.parts if part.new).items():
            said.append(told.said("{} added").format(told.counted(number, noun)))
        for noun, number in self.deleted.items():
            said += [told.said("{} deleted").format(told.counted(number, noun))] if number else []
        if self.unchanged is not None and not (self.unchanged == 0 and self._only_adds()):
            rest = told.counted(self.unchanged, self.noun) if self.noun and not said else str(self.unchanged)
            said.append(told.said("{} unchanged").format(rest))
        if self.renamed:
            said.append(told.said("{} renamed").format(len(self.renamed)))
        return told.between.join(said) or told.said("nothing changed")


def sampled_because(reasons: Sequence[str], words: Words) -> str:
    """``, sampled because of constraints``, to go behind a sentence; empty without reasons."""
    if not reasons:
        return ""
    return words.between + words.said("sampled because of {}").format(", ".join(map(words.line, reasons)))


def _grouped(lines: Iterable[str], words: Words) -> str:
    """``hull: 12 positions, 3 faces; gun points`` of ``hull: 12 positions``, ``hull: 3 faces`` and ``gun points``."""
    found: dict[str, list[str]] = {}
    for line in lines:
        part, colon, what = line.rpartition(": ")
        found.setdefault(part + colon, []).append(words.line(what))
    return "; ".join(part + ", ".join(changes) for part, changes in found.items())
