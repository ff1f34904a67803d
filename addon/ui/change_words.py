"""Sentences of changes (`core.changes`) in the user's language: words, and nouns in the form that a number asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ..core.report import counted, counted_plural
from .bases import shown, texts

if TYPE_CHECKING:
    from ..core.changes import Part, Words

CONTEXT = "Changes"
"""Of the file of translations. Nouns are in the plural; their translations are forms for 1, 2 and 5, between bars."""
ITEMS_SHOWN = 4
SEVERAL = re.compile(r"(\d+) (.+?)( \(.+\))?")
RESIZED = re.compile(r"(.+?) \(?(\d+) -> (\d+)\)?")
LENGTH = re.compile(r"(\d+) -> (\d+) (.+)")
OF = re.compile(r"(shader strings of|bone) (.+)")


def words_for(tell: Callable[[str], str]) -> Words | None:
    """The words of the user's language; None for English. ``tell``: `shown` for the interface, `said` for reports."""
    table = texts(CONTEXT, tell)
    return TranslatedWords(table) if table else None


class Told(Protocol):
    """A plan of a file: what writing it changes."""

    def sentence(self, words: Words | None = None) -> str:
        """In one sentence, as `core.changes.Changes.sentence`."""


def plan_sentence(plan: Told, tell: Callable[[str], str] = shown) -> str:
    """What writing a plan changes, in one sentence in the user's language."""
    return plan.sentence(words_for(tell))


def change_text(change: Part) -> str:
    """``walk_0: bip01_head, bip01_spine; marks``, as a dialog shows it."""
    if change.new:
        return shown("{}: new").format(change.name)
    items = ", ".join(item.name for item in change.items[:ITEMS_SHOWN])
    more = f" +{len(change.items) - ITEMS_SHOWN}" if len(change.items) > ITEMS_SHOWN else ""
    parts = [items + more] if items else []
    return f"{change.name}: {'; '.join([*parts, *_fields(change)])}"


def change_lines(change: Part) -> list[str]:
    """``hand: rest position`` for each field, as a dialog shows it."""
    return [f"{change.name}: {field}" for field in _fields(change)]


def _fields(change: Part) -> list[str]:
    words = words_for(shown)
    return [words.line(field) for field in change.fields] if words is not None else list(change.fields)


class TranslatedWords:
    """Words of another language than English; what has no translation stays English."""

    between = "; "

    def __init__(self, table: Mapping[str, str]) -> None:
        """``table``: English -> translation."""
        self._table = table
        self._plurals = _plurals(frozenset(table))

    def said(self, text: str) -> str:
        """A word or a sentence."""
        return self._table.get(text, text)

    def counted(self, number: int, noun: str, nouns: str = "") -> str:
        """So many of a ``noun``, given in the singular."""
        forms = self._table.get(self._plurals.get(noun, noun), "").split("|")
        return f"{number} {forms[form_of(number)]}" if len(forms) == FORMS else counted(number, noun, nouns)

    def line(self, text: str) -> str:
        """A line of changes: ``12 positions``, ``faces 12 -> 14``, ``texture or shader``."""
        if text in self._table:
            return self.said(text)
        if text.endswith(", new"):
            return f"{self.line(text.removesuffix(', new'))}, {self.said('new')}"
        if found := LENGTH.fullmatch(text):
            return f"{found[1]} -> {self.counted(int(found[2]), found[3])}"
        if (found := SEVERAL.fullmatch(text)) and found[2] in self._plurals:
            return self.counted(int(found[1]), found[2]) + (found[3] or "")
        if found := RESIZED.fullmatch(text):
            forms = self.said(found[1]).split("|")
            return f"{forms[-1]} {found[2]} -> {found[3]}"
        if found := OF.fullmatch(text):
            return f"{self.said(f'{found[1]} ' + '{}').format(self.line(found[2]))}"
        return text


FORMS = 3


def form_of(number: int) -> int:
    """Which of the three Russian forms a number asks for: 0 of 1 and 21, 1 of 2 to 4, 2 of 5 to 20."""
    last, teen = number % 10, 10 < number % 100 < 20
    if last == 1 and not teen:
        return 0
    return 1 if 1 < last < 5 and not teen else 2


@cache
def _plurals(nouns: frozenset[str]) -> dict[str, str]:
    """Singular and plural of each noun -> its plural."""
    return {counted_plural(number, noun).partition(" ")[2]: noun for noun in nouns for number in (1, 2)}
