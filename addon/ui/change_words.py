"""Translate sentences of reports, errors and changes into the user's language.

Sentences about changes (`core.changes`) are formed from translated words, with nouns in the form that the number
demands; others are messages, which are translated by their templates (`core.report.translated`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..core.report import FORMS, counted, counted_plural, form_of, on_one_line, translated
from .bases import file_of, iface_, rpt_, texts

if TYPE_CHECKING:
    from ..core.changes import Part, Words

CONTEXT = "Changes"
"""Context in the translation file. Nouns are in the plural; their translations are the forms for 1, 2 and 5, separated
by bars.

A noun that is also used without a number has a second translation, with the key ``the <noun>``.
"""
ITEMS_SHOWN = 4
SEVERAL = re.compile(r"(\d+) (.+?)( \(.+\))?")
RESIZED = re.compile(r"(.+?) \(?(\d+) -> (\d+)\)?")
LENGTH = re.compile(r"(\d+) -> (\d+) (.+)")
STATE = re.compile(r"(.+), (new|removed)")
OF = re.compile(r"(shader strings of|bone) (.+)")


def tell(text: str, translate: Callable[[str], str] = iface_) -> str:
    """Return an English sentence of a report or an error in the user's language.

    ``translate``: `iface_` for the interface, `rpt_` for reports, whose translation users can switch off separately.
    """
    file = file_of(translate)
    return text if file is None else on_one_line(translated(text, _sentences(file)))


@cache
def _sentences(file: Path) -> dict[str, str]:
    """Return the sentences of ``ru_reports.json`` (template -> translation) beside the translation file ``ru.json``."""
    table: dict[str, str] = json.loads(file.with_name(f"{file.stem}_reports.json").read_bytes())
    return table


def words_for(translate: Callable[[str], str]) -> Words | None:
    """Return the words of the user's language; None for English.

    ``translate``: `iface_` for the interface, `rpt_` for reports.
    """
    table = texts(CONTEXT, translate)
    return TranslatedWords(table) if table else None


class ChangesPlan(Protocol):
    """A plan for a file, which can state what writing it changes."""

    def sentence(self, words: Words | None = None) -> str:
        """Return the changes in one sentence, as `core.changes.Changes.sentence`."""


def plan_sentence(plan: ChangesPlan, translate: Callable[[str], str] = iface_) -> str:
    """Return what writing a plan changes, as one sentence in the user's language."""
    return plan.sentence(words_for(translate))


def file_sentence(path: str | Path, plan: ChangesPlan) -> str:
    """Return what was written to a file, as one sentence of a report."""
    return f"{Path(path).name}: {plan_sentence(plan, rpt_)}"


def change_text(change: Part) -> str:
    """Return a line for a dialog, such as ``walk_0: bip01_head, bip01_spine; marks``."""
    if change.new:
        return iface_("{}: new").format(change.name)
    items = ", ".join(item.name for item in change.items[:ITEMS_SHOWN])
    more = f" +{len(change.items) - ITEMS_SHOWN}" if len(change.items) > ITEMS_SHOWN else ""
    parts = [items + more] if items else []
    return f"{change.name}: {'; '.join([*parts, *_fields(change)])}"


def _fields(change: Part) -> list[str]:
    words = words_for(iface_)
    return [words.line(field) for field in change.fields] if words is not None else list(change.fields)


class TranslatedWords:
    """Words of a language other than English; words without a translation stay English."""

    between = "; "

    def __init__(self, table: Mapping[str, str]) -> None:
        """``table``: English -> translation."""
        self._table = table
        self._plurals = _plurals(frozenset(table))

    def translated(self, text: str) -> str:
        """Return the translation of a word or a sentence."""
        return self._table.get(text, text)

    def counted(self, number: int, noun: str, nouns: str = "") -> str:
        """Return a number with the noun in the form that it demands; ``noun`` is the English singular."""
        forms = self._table.get(self._plurals.get(noun, noun), "").split("|")
        return f"{number} {forms[form_of(number)]}" if len(forms) == FORMS else counted(number, noun, nouns)

    def line(self, text: str) -> str:
        """Translate a line about a change: ``12 positions``, ``faces 12 -> 14``, ``texture or shader``."""
        if text in self._table:
            return self._table.get(f"the {text}") or self.translated(text).split("|")[-1]
        if match := STATE.fullmatch(text):
            return f"{self.line(match[1])}, {self.translated(match[2])}"
        if match := LENGTH.fullmatch(text):
            return f"{match[1]} -> {self.counted(int(match[2]), match[3])}"
        if (match := SEVERAL.fullmatch(text)) and match[2] in self._plurals:
            return self.counted(int(match[1]), match[2]) + (match[3] or "")
        if match := RESIZED.fullmatch(text):
            forms = self.translated(match[1]).split("|")
            return f"{forms[-1]} {match[2]} -> {match[3]}"
        if match := OF.fullmatch(text):
            return f"{self.translated(f'{match[1]} ' + '{}').format(self.line(match[2]))}"
        return text


@cache
def _plurals(nouns: frozenset[str]) -> dict[str, str]:
    """Return singular and plural of each noun -> its plural."""
    return {counted_plural(number, noun).partition(" ")[2]: noun for noun in nouns for number in (1, 2)}
