"""What an encoding changed in a file, its parts (motions, bones, meshes) and their items, as data; and in words.

All formats describe their changes with `Changes`, so that reports, badges and the dialog before saving share one code.
Words are messages (`report.say`), which the interface translates.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import Message, joined, listed, say

ITEMS_SHOWN = 4

CLAUSES = say(", ")
"""Separator between the kinds of changes in a sentence."""


OTHER_DATA = say("other data")
"""A difference between two files that no export would report."""


class Noun(Enum):
    """Nouns of parts and items of files. The value is the message with their number."""

    ANIMATION = "{:# animation|# animations}"
    BONE = "{:# bone|# bones}"
    CHANNEL = "{:# channel|# channels}"
    GLOW = "{:# glow|# glows}"
    IMPOSTOR = "{:# impostor|# impostors}"
    LIGHT = "{:# light|# lights}"
    LOD = "{:# LOD|# LODs}"
    MESH = "{:# mesh|# meshes}"
    MOTION = "{:# motion|# motions}"
    NAMED_PROPERTY = "{:# named property|# named properties}"
    PORTAL = "{:# portal|# portals}"
    PROXY = "{:# proxy|# proxies}"
    SELECTION = "{:# selection|# selections}"
    SHADER_STRING = "{:# shader string|# shader strings}"
    SURFACE = "{:# surface|# surfaces}"
    TRACK = "{:# track|# tracks}"
    TREE = "{:# tree|# trees}"

    def counted(self, number: int) -> Message:
        """Return ``1 motion`` or ``2 motions``."""
        return say(self.value, number)


POSITIONS = "{:# position|# positions}"
NORMALS = "{:# normal|# normals}"
TEXTURE_COORDINATES = "{:# texture coordinate|# texture coordinates}"


class Unit(Enum):
    """Unit of the values of an item."""

    METRES = "m"
    RADIANS = "rad"


@dataclass(frozen=True)
class Item:
    """A channel, track or bone that differs from the base; ``keys``: number of its keys or frames that differ.

    ``error``: largest difference between the stored and the wanted values, in ``unit``; ``slope_error``: the same for
    the slopes of linear extrapolation, per second.
    """

    name: str
    keys: int = 0
    error: float = 0.0
    slope_error: float = 0.0
    unit: Unit = Unit.METRES


@dataclass(frozen=True)
class Part:
    """A part of a file that is ``new``, or that differs in ``items`` and in ``fields`` (such as ``marks``).

    ``number``: index of the part among the encoded ones.
    """

    name: str
    noun: Noun
    new: bool = False
    items: tuple[Item, ...] = ()
    fields: tuple[Message, ...] = ()
    number: int = -1

    def lines(self) -> list[Message]:
        """Return a line for each field, such as ``hand: rest position``."""
        return [say("{}: {}", self.name, entry) for entry in self.fields]

    def line(self) -> Message:
        """Return one line, such as ``walk_0: bip01_head, bip01_spine; marks``."""
        if self.new:
            return say("{}: new", self.name)
        items = [listed([item.name for item in self.items], ITEMS_SHOWN)] if self.items else []
        return say("{}: {}", self.name, joined([*items, *self.fields], "; "))


@dataclass
class Changes:
    """Differences between an encoded file and its base. False if there are none: then all bytes of the file are
    unchanged.

    ``fields``: changes of the file itself (``12 positions``) as those of the name "", and of parts that are not counted
    but described, by their names. ``left_out``: what this kind of file cannot store. ``deleted``: number of deleted
    parts. ``renamed`` parts: old name, new name. ``unchanged``: number of unchanged parts; None if they are not
    counted. ``new``: kind of file (``a new path``), if there was no base. ``extent``: how much of the parts is changed,
    or is new (``31 frames``); without it their items are counted, whose noun is ``items``. ``noun``: that of the parts.
    """

    fields: dict[str, list[Message]] = field(default_factory=dict)
    left_out: list[Message] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    deleted: Counter[Noun] = field(default_factory=Counter)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    unchanged: int | None = None
    new: Message | None = None
    extent: Message | None = None
    noun: Noun | None = None
    items: Noun | None = None

    def __bool__(self) -> bool:
        return bool(self.new or any(self.fields.values()) or self.parts or self.renamed or self.deleted.total())

    @property
    def lines(self) -> list[Message]:
        """A line for each of `fields`, such as ``hull: 12 positions``."""
        return [say("{}: {}", name, entry) if name else entry for name, of in self.fields.items() for entry in of]

    def note(self, *changed: Message, name: str = "") -> None:
        """Add changed fields of the file, or of the described part of that ``name``."""
        self.fields.setdefault(name, []).extend(changed)

    def note_other_data(self) -> None:
        """Add that the file differs in data which no export would report."""
        self.note(OTHER_DATA)

    def include(self, other: Changes, name: str = "", noun: Noun | None = None) -> None:
        """Add the changes of a part: as a part with a ``noun``, or else as a described one."""
        if noun is not None:
            self.change(noun, name, *other.lines)
        else:
            for own_name, changed in other.fields.items():
                self.note(*changed, name=own_name or name)
        self.left_out += [say("{}: {}", name, loss) if name and noun is None else loss for loss in other.left_out]
        for part in other.parts:
            if part.new or part.items:
                self.parts.append(part)
            else:  # an earlier step may have changed the same part
                self.change(part.noun, part.name, *part.fields)
        self.deleted += other.deleted

    def change(self, noun: Noun, name: str, *changed: Message) -> None:
        """Add changed fields, if any, to the part of that name."""
        known = {(part.noun, part.name): index for index, part in enumerate(self.parts) if not part.new}
        index = known.get((noun, name))
        if index is not None:
            self.parts[index] = replace(self.parts[index], fields=(*self.parts[index].fields, *changed))
        elif changed:
            self.parts.append(Part(name, noun, fields=changed))

    def add(self, noun: Noun, name: str) -> None:
        """Add a new part."""
        self.parts.append(Part(name, noun, new=True))

    def add_parts(self, parts: Sequence[Part]) -> None:
        """Add parts that other files store; they cause `OTHER_DATA` in this one (boxes follow the vertices)."""
        if parts:
            self.fields[""] = [entry for entry in self.fields.get("", ()) if entry != OTHER_DATA]
            self.parts += parts

    def lines_of(self, noun: Noun) -> list[Message]:
        """Return a line for each field of each part of this noun, such as ``hand: rest position``."""
        return [line for part in self.parts if part.noun == noun for line in part.lines()]

    def count(self, changed: NDArray[Any], template: str, name: str = "") -> None:
        """Add the number of rows for which ``changed`` (n,) is set, if any. ``template``: ``{:# row|# rows}``."""
        number = int(np.count_nonzero(changed))
        if number:
            self.note(say(template, number), name=name)

    def resized(self, template: str, before: int, after: int) -> bool:
        """Add ``faces 12 -> 14`` if the numbers differ. Returns whether they do. ``template``: ``faces {} -> {}``."""
        if before != after:
            self.note(say(template, before, after))
        return before != after

    def replaced(self, template: str, before: int, after: int, *, same: Message, name: str = "") -> None:
        """Add ``keys 12 -> 14`` for replaced keys, or only ``same`` (``keys``) if there are as many."""
        self.note(say(template, before, after) if before != after else same, name=name)

    def count_fields(self, rows: NDArray[np.void], base: NDArray[np.void], templates: dict[str, str]) -> None:
        """Count the structured rows that differ from the base's bit by bit, for each field in ``templates``."""
        for name, template in templates.items() if len(rows) else ():
            mine, theirs = (np.ascontiguousarray(side[name]).reshape(len(side), -1) for side in (rows, base))
            unit = np.uint8 if mine.strides[0] % 4 else np.uint32
            self.count(functools.reduce(np.logical_or, (mine.view(unit) != theirs.view(unit)).T), template)

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
        """Return the largest errors in metres and in radians."""
        metres, radians = (
            max((item.error for item in self.all_items() if item.unit is unit), default=0.0) for unit in Unit
        )
        return metres, radians

    def sentence(self) -> Message:
        """Return the sentence about the changes, such as ``1 motion, 3 channels changed, 1 motion added, 2 unchanged``
        or ``hull: 12 positions changed``.
        """
        if self.new is not None:
            return joined(filter(None, [self.new, self.extent]), CLAUSES)
        return joined(self._clauses(), CLAUSES) or say("nothing changed")

    def _clauses(self) -> Iterator[Message]:
        """Yield the kinds of changes. ``0 unchanged`` is left out if the file has only new parts."""
        edited = [part for part in self.parts if not part.new]
        new = Counter(part.noun for part in self.parts if part.new)
        others = bool(edited or self.lines or self.deleted.total())
        if edited:
            number = sum(len(part.items) for part in edited)
            counted = self.items.counted(number) if self.items is not None and number else None
            amounts = [noun.counted(number) for noun, number in Counter(part.noun for part in edited).items()]
            yield say("{} changed", joined([*amounts, *filter(None, [self.extent or counted])]))
        if self.lines:
            described = [
                say("{}: {}", name, joined(changed)) if name else joined(changed)
                for name, changed in self.fields.items()
                if changed
            ]
            yield say("{} changed", joined(described, "; "))
        yield from (say("{} added", noun.counted(number)) for noun, number in new.items())
        yield from (say("{} deleted", noun.counted(number)) for noun, number in self.deleted.items() if number)
        if self.unchanged or (self.unchanged is not None and (others or self.renamed or not new)):
            noun = None if others or new else self.noun
            yield say("{} unchanged", self.unchanged if noun is None else noun.counted(self.unchanged))
        if self.renamed:
            yield say("{} renamed", len(self.renamed))


def differing(row: np.void, base: np.void) -> tuple[Message, ...]:
    """Return the names of the fields in which a structured row differs from the base's bit by bit."""
    return tuple(say(name) for name in row.dtype.names or () if row[name].tobytes() != base[name].tobytes())


def sampled_because(sentence: Message, reasons: Sequence[str]) -> Message:
    """Return ``1 channel changed, sampled because of constraints``; the ``sentence`` itself without reasons."""
    return say("{}, sampled because of {}", sentence, joined(reasons)) if reasons else sentence
