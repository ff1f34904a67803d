"""Translation of complete English sentences, which are recognised by their templates.

Reports, refusals and findings are composed in English, far from the interface. A template is such a sentence with
``{}`` for each formatted value; the values are inserted into the translation. A value that is itself a known sentence,
a list of these, or a refusal with place and remedy is translated too. Text without a translation stays English.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from .report import FORMS, form_of

VALUE = "{}"
MAX_SEPARATORS = 12
"""Number of separators, from the start and from the end of a text, at which it is tried to split it into two
sentences.
"""
MAX_LENGTH = 20_000
"""Characters. Longer texts, which no one reads, stay English."""
MAX_LOOKUPS = 300
"""Number of parts of a text that are looked up at most. Texts with more separators may stay English."""
CACHE_SIZE = 2048
"""Number of cached texts: dialogs draw the same ones repeatedly."""
MIN_LETTERS = 5
"""Minimum number of letters of a template. A template with fewer is only used for values that are all numbers."""
NUMBER = re.compile(r"-?\d+(\.\d+)?")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Template(NamedTuple):
    """The text before, between and after the values, its number of letters, and the translation."""

    pieces: tuple[str, ...]
    letters: int
    translation: str

    def values(self, text: str) -> list[str] | None:
        """Return the values in ``text``, each at least one character long; None if the text does not match the
        template.

        Searches each piece after the previous one, so that the time is linear in the length of the text.
        """
        first, *inner, last = self.pieces
        if not text.startswith(first) or not text.endswith(last):
            return None
        found, start, end = [], len(first), len(text) - len(last)
        for piece in inner:
            place = text.find(piece, start + 1, end)
            if place < 0:
                return None
            found.append(text[start:place])
            start = place + len(piece)
        return [*found, text[start:end]] if start < end else None


class Translation(NamedTuple):
    """A translation, and the number of letters of the English text that were recognised."""

    text: str
    letters: int


class Phrases:
    """Translations of sentences: English template -> template in another language.

    The values have the same order in the translation or are numbered, ``{1} of {0}``. A translation of three sentences
    separated by ``|`` has one for each plural form: they are chosen by the first value that is an integer, as for 1, 2
    and 5.
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self.whole = {english: text for english, text in table.items() if VALUE not in english}
        self.templates: dict[str, list[Template]] = defaultdict(list)
        for english, text in table.items():
            if VALUE in english:
                pieces = tuple(english.split(VALUE))
                template = Template(pieces, sum(map(_letters, pieces)), text)
                self.templates[pieces[0].partition(" ")[0] if " " in pieces[0] else ""].append(template)
        for same in self.templates.values():
            same.sort(key=lambda template: -template.letters)
        self.translated = lru_cache(CACHE_SIZE)(self._translate)
        """Cached function that translates a sentence, a list of sentences or a refusal; unknown text is returned
        unchanged.
        """

    def _translate(self, text: str) -> str:
        found = _Search(self.whole, self.templates).found(text) if len(text) <= MAX_LENGTH else None
        return text if found is None else found.text


class _Search:
    """Search for the translation of one text, limited in time because texts may contain parts of files."""

    def __init__(self, whole: Mapping[str, str], templates: Mapping[str, list[Template]]) -> None:
        self._whole, self._templates = whole, templates
        self._known: dict[str, Translation | None] = {}

    def found(self, text: str) -> Translation | None:
        """Return the translation in which most letters are recognised, of its parts or as a whole; None if there is
        none.
        """
        if text in self._whole:
            return Translation(self._whole[text], _letters(text))
        if text not in self._known and len(self._known) < MAX_LOOKUPS:
            self._known[text] = None
            self._known[text] = self._look_up(text)
        return self._known.get(text)

    def _look_up(self, text: str) -> Translation | None:
        candidates = [*self._in_parts(text), *self._as_template(text), *self._as_list(text)]
        return max(candidates, key=lambda found: found.letters, default=None)

    def _as_template(self, text: str) -> Iterator[Translation]:
        """Yield the translation by the template with most letters, of those with the same first word and of those that
        begin with a value.
        """
        for word in (text.partition(" ")[0], ""):
            for template in self._templates.get(word, ()):
                values = template.values(text)
                if values is not None and (template.letters >= MIN_LETTERS or all(map(NUMBER.fullmatch, values))):
                    inside = [self._value(value) for value in values]
                    translated = _sentence(template.translation, values).format(*(one.text for one in inside))
                    yield Translation(translated, template.letters + sum(one.letters for one in inside))
                    break

    def _value(self, value: str) -> Translation:
        """Translate a value; names stay unchanged."""
        is_name = " " not in value or QUOTED.fullmatch(value)
        return (None if is_name else self.found(value)) or Translation(value, 0)

    def _in_parts(self, text: str) -> Iterator[Translation]:
        """Yield translations as two joined sentences: ``place: problem. Remedy`` or ``finding; remedy``."""
        for separator in (". ", "; ", ": "):
            for left, right in _halves(text, separator):
                before = self.found(left)
                after = self.found(_capital(right) if separator == "; " else right)
                if after is None and (before is None or separator != ". "):
                    continue
                before, after = before or Translation(left, 0), after or Translation(right, 0)
                behind = f"{after.text[:1].lower()}{after.text[1:]}" if separator == "; " else after.text
                yield Translation(f"{before.text}{separator}{behind}", before.letters + after.letters)

    def _as_list(self, text: str) -> Iterator[Translation]:
        if ", " in text:
            each = [self._alone(part) for part in text.split(", ")]
            if any(one.letters for one in each):
                yield Translation(", ".join(one.text for one in each), sum(one.letters for one in each))

    def _alone(self, text: str) -> Translation:
        """Translate an element of a list."""
        found = self.found(text) if " " in text and ": " not in text else None
        return found or Translation(text, 0)


def _sentence(translation: str, values: list[str]) -> str:
    """Return the one of three plural forms that the first integer among the values needs."""
    forms = translation.split("|")
    number = next((int(value) for value in values if value.isdecimal()), None)
    return forms[0] if len(forms) != FORMS else forms[-1 if number is None else form_of(number)]


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _halves(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after a separator, at some of its positions."""
    places = [found.start() for found in re.finditer(re.escape(separator), text)]
    for place in dict.fromkeys([*places[:MAX_SEPARATORS], *places[-MAX_SEPARATORS:]]):
        yield text[:place], text[place + len(separator) :]


class Sentences(dict[Any, Any]):
    """English -> translation. Composed texts that are not messages are searched for by their templates."""

    def __init__(self, table: Mapping[str, str]) -> None:
        super().__init__(table)
        self._phrases = Phrases(table)

    def get(self, english: Any, default: Any = None, /) -> Any:
        """Return the translation; of a whole text that is not in the table, by its template."""
        return super().get(english) or (default and self._phrases.translated(default))
