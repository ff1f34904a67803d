"""What an encoding changed in a file, its parts (motions, bones, meshes) and their items, and the sentence about it.

All formats describe their changes with `Changes`, so that reports, badges and the dialog before saving share one code.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .report import changed_count, counted, counted_plural

_PLURALS = {
    "mesh": "meshes",
    "proxy": "proxies",
    "named property": "named properties",
}


class Words(Protocol):
    """How changes are put into words; an interface in another language has its own class."""

    between: str
    """Separator between the kinds of changes."""

    def translated(self, text: str) -> str:
        """Translate a fixed text."""

    def counted(self, number: int, noun: str, nouns: str = "") -> str:
        """Return a number with its noun, as `report.counted`."""

    def line(self, text: str) -> str:
        """Translate a line of `Changes.lines`, or a field of a part."""


class English:
    """The words in English, unchanged."""

    between = ", "

    def translated(self, text: str) -> str:
        """Return the text unchanged."""
        return text

    def counted(self, number: int, noun: str, nouns: str = "") -> str:
        """Return a number with its noun, as `report.counted`."""
        return counted(number, noun, nouns or _PLURALS.get(noun, ""))

    line = translated


ENGLISH = English()


@dataclass(frozen=True)
class Item:
    """A channel, track or bone that differs from the base; ``keys``: number of its keys or frames that differ.

    ``error``: largest difference between the stored and the wanted values, in metres or radians; ``slope_error``: the
    same for the slopes of linear extrapolation, per second.
    """

    name: str
    keys: int = 0
    error: float = 0.0
    slope_error: float = 0.0


@dataclass(frozen=True)
class Part:
    """A part of a file that is ``new``, or that differs in ``items`` and in ``fields`` (in words, such as ``marks``).

    ``noun``: the kind of part, such as ``motion``; ``number``: index of the part among the encoded ones.
    """

    name: str
    noun: str
    new: bool = False
    items: tuple[Item, ...] = ()
    fields: tuple[str, ...] = ()
    number: int = -1

    def lines(self) -> list[str]:
        """Return a line for each field, such as ``hand: rest position``."""
        return [f"{self.name}: {line}" for line in self.fields]


@dataclass
class Changes:
    """Differences between an encoded file and its base. False if there are none: then all bytes of the file are
    unchanged.

    ``lines``: changes of the file itself, in words (``12 positions``). ``left_out``: what this kind of file cannot
    store. ``deleted``: number of deleted parts by noun. ``renamed`` parts: old name, new name. ``unchanged``: number of
    unchanged parts; None if they are not counted. ``new``: kind of file (``path``), if there was no base. ``extent``:
    how much of the parts is changed, or is new (``31 frames``); without it their items are counted, whose noun is
    ``items`` (``track``). ``noun``: the noun of the parts.
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
        return bool(self.new or self.lines or self.parts or self.renamed or self.deleted.total())

    def include(self, other: Changes, name: str = "", noun: str = "") -> None:
        """Add the changes of a part: as a part with a ``noun``, or else as lines that begin with its name."""
        if noun and other.lines:
            self.change(noun, name, *other.lines)
        prefix = f"{name}: " if name and not noun else ""
        if not noun:
            self.lines += [f"{prefix}{line}" for line in other.lines]
        self.left_out += [f"{prefix}{line}" for line in other.left_out]
        known = {(part.noun, part.name): index for index, part in enumerate(self.parts) if not part.new}
        for part in other.parts:
            index = None if part.new or part.items else known.get((part.noun, part.name))
            if index is None:
                self.parts.append(part)
            else:  # two steps changed the same part
                self.parts[index] = replace(self.parts[index], fields=(*self.parts[index].fields, *part.fields))
        self.deleted += other.deleted

    def change(self, noun: str, name: str, *fields: str) -> None:
        """Add changed fields to the part of that name."""
        known = {(part.noun, part.name): index for index, part in enumerate(self.parts)}
        index = known.get((noun, name))
        if index is None:
            self.parts.append(Part(name, noun, fields=fields))
        else:
            self.parts[index] = Part(name, noun, fields=(*self.parts[index].fields, *fields))

    def add(self, noun: str, name: str) -> None:
        """Add a new part."""
        self.parts.append(Part(name, noun, new=True))

    def lines_of(self, noun: str) -> list[str]:
        """Return a line for each field of each part with this noun, such as ``hand: rest position``."""
        return [line for part in self.parts if part.noun == noun for line in part.lines()]

    def count(self, changed: NDArray[Any], noun: str) -> None:
        """Add a line with the number of rows for which ``changed`` (n,) is set, if there are any."""
        number = int(np.count_nonzero(changed))
        if number:
            self.lines.append(counted_plural(number, noun))

    def resized(self, nouns: str, before: int, after: int) -> bool:
        """Add the line ``faces 12 -> 14`` if the numbers differ. Returns whether they do."""
        if before != after:
            self.lines.append(changed_count(nouns, before, after))
        return before != after

    def fields(self, rows: NDArray[np.void], base: NDArray[np.void], words: dict[str, str]) -> None:
        """Add a line for every field (a key of ``words``) in which structured rows differ from the base's bit
        by bit.
        """
        for name, word in words.items() if len(rows) else ():
            mine, theirs = (np.ascontiguousarray(side[name]).reshape(len(side), -1) for side in (rows, base))
            unit = np.uint8 if mine.strides[0] % 4 else np.uint32
            self.count(functools.reduce(np.logical_or, (mine.view(unit) != theirs.view(unit)).T), word)

    def all_items(self) -> Iterable[Item]:
        """Return the items of all parts."""
        return (item for part in self.parts for item in part.items)

    def worst_error(self) -> tuple[float, str, str]:
        """Return the largest error of an item, with the names of the item and its part; 0 and no names if all are
        exact.
        """
        errors = [(item.error, item.name, part.name) for part in self.parts for item in part.items]
        return max(errors, default=(0.0, "", ""))

    def worst_errors(self) -> tuple[float, float]:
        """Return the largest errors in metres and in radians. Items whose names end in X, Y or Z are in metres."""
        metres, radians = [0.0], [0.0]
        for item in self.all_items():
            (metres if item.name.endswith(("X", "Y", "Z")) else radians).append(item.error)
        return max(metres), max(radians)

    def _only_adds(self) -> bool:
        others = self.lines or self.renamed or self.deleted.total()
        return bool(self.parts) and all(part.new for part in self.parts) and not others

    def sentence(self, words: Words | None = None) -> str:
        """Return the sentence about the changes, in English without ``words``, such as ``1 motion, 3 channels changed,
        1 motion added, 2 unchanged`` or ``hull: 12 positions changed``.

        ``0 unchanged`` is left out if the file has only new parts.
        """
        chosen = words or ENGLISH
        if self.new:
            clauses = [chosen.translated("a new {}").format(chosen.line(self.new)), chosen.line(self.extent)]
            return chosen.between.join(filter(None, clauses))
        edited = [part for part in self.parts if not part.new]
        clauses = []
        if edited:
            of_nouns = Counter(part.noun for part in edited).items()
            amounts = ", ".join(chosen.counted(number, noun) for noun, number in of_nouns)
            number = sum(len(part.items) for part in edited)
            extent = chosen.line(self.extent) or (chosen.counted(number, self.items) if self.items and number else "")
            clauses.append(chosen.translated("{} changed").format(f"{amounts}, {extent}" if extent else amounts))
        if self.lines:
            clauses.append(chosen.translated("{} changed").format(_grouped(self.lines, chosen)))
        for noun, number in Counter(part.noun for part in self.parts if part.new).items():
            clauses.append(chosen.translated("{} added").format(chosen.counted(number, noun)))
        for noun, number in self.deleted.items():
            clauses += [chosen.translated("{} deleted").format(chosen.counted(number, noun))] if number else []
        if self.unchanged is not None and not (self.unchanged == 0 and self._only_adds()):
            rest = chosen.counted(self.unchanged, self.noun) if self.noun and not clauses else str(self.unchanged)
            clauses.append(chosen.translated("{} unchanged").format(rest))
        if self.renamed:
            clauses.append(chosen.translated("{} renamed").format(len(self.renamed)))
        return chosen.between.join(clauses) or chosen.translated("nothing changed")


def sampled_because(reasons: Sequence[str], words: Words) -> str:
    """Return ``, sampled because of constraints``, to be appended to a sentence; empty without reasons."""
    if not reasons:
        return ""
    return words.between + words.translated("sampled because of {}").format(", ".join(map(words.line, reasons)))


def _grouped(lines: Iterable[str], words: Words) -> str:
    """Join lines by part: ``hull: 12 positions``, ``hull: 3 faces`` and ``gun points`` become ``hull: 12 positions, 3
    faces; gun points``.
    """
    parts: dict[str, list[str]] = {}
    for line in lines:
        part, colon, what = line.rpartition(": ")
        parts.setdefault(part + colon, []).append(words.line(what))
    return "; ".join(part + ", ".join(changes) for part, changes in parts.items())
