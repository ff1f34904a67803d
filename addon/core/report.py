"""Findings of an operation, each with its places and merged if repeated; counts in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import islice

PLACES_SHOWN = 5

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, line breaks, and characters that reverse the direction of the text after them."""


def on_one_line(text: str) -> str:
    """Return a text with control characters and line breaks escaped: names of files and motions may contain any."""
    return text if text.isprintable() else _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)


class Report:
    """Warnings and notes in the order of their first appearance.

    The same sentence about several places is one entry: ``[3x] the checksum is wrong (walk_0, walk_1, run_2)``.
    """

    # Not a dataclass: creating one takes a millisecond, and this class is created at every start of Blender.
    def __init__(self, warnings: dict[str, list[str]] | None = None, notes: dict[str, list[str]] | None = None) -> None:
        self.warnings = {} if warnings is None else warnings
        self.notes = {} if notes is None else notes

    def warn(self, finding: str, place: str = "") -> None:
        """Report something odd, left out or repaired, which the user should know."""
        self.warnings.setdefault(finding, []).append(place)

    def note(self, finding: str, place: str = "") -> None:
        """Report something that is in order but good to know."""
        self.notes.setdefault(finding, []).append(place)

    def include(self, other: Report) -> None:
        """Add all findings of another report."""
        for mine, theirs in ((self.warnings, other.warnings), (self.notes, other.notes)):
            for finding, places in theirs.items():
                mine.setdefault(finding, []).extend(places)

    def lines(self, tell: Callable[[str], str] = str) -> list[str]:
        """Return a line for each finding, warnings first; ``tell`` translates a sentence."""
        found = (self.warnings, self.notes)
        return [on_one_line(_line(finding, places, tell)) for part in found for finding, places in part.items()]

    def __bool__(self) -> bool:
        return bool(self.warnings or self.notes)


def _line(finding: str, places: list[str], tell: Callable[[str], str]) -> str:
    count = f"{tell(f'[{len(places)}x]')} " if len(places) > 1 else ""
    finding = tell(finding)
    named = [place for place in dict.fromkeys(places) if place]
    if not named:
        return f"{count}{finding}"
    more = [tell(f"and {len(named) - PLACES_SHOWN} more")] if len(named) > PLACES_SHOWN else []
    return f"{count}{finding} ({', '.join([*map(tell, named[:PLACES_SHOWN]), *more])})"


# Counts in words ------------------------------------------------------------------------------------------------------


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Return ``1 motion``, ``2 motions``, ``2 meshes`` (``nouns`` for a plural that does not only add an s)."""
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"


def listed(words: Collection[str], most: int = 8) -> str:
    """Return ``walk, run``, or ``walk, run and 3 more`` if there are more than ``most``."""
    shown = ", ".join(islice(words, most))
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown


IRREGULAR = {"vertices": "vertex", "indices": "index", "meshes": "mesh"}


def counted_plural(count: int, nouns: str) -> str:
    """Return a number with a noun that is given in the plural, with any words after it: ``1 slot with other models``.

    The noun is the first word that ends in s.
    """
    if count != 1:
        return f"{count} {nouns}"
    words = nouns.split(" ")
    place = next((place for place, word in enumerate(words) if word.endswith("s")), 0)
    word = words[place]
    singular = f"{word.removesuffix('ies')}y" if word.endswith("ies") else word.removesuffix("s")
    words[place] = IRREGULAR.get(word, singular)
    return f"{count} {' '.join(words)}"


_PRONOUNS = {"they": "it", "them": "it", "their": "its"}
_VERBS = {
    "have": "has",
    "are": "is",
    "do": "does",
    **{
        verb: f"{verb}s"
        for verb in "become end float hide keep lie need occur point refer share stand stick".split()  # noqa: SIM905
    },
}
_OF_ONE = rf"(^|\band |\bthey )({'|'.join(_VERBS)})\b|\b({'|'.join(_PRONOUNS)})\b"
"""Matches verbs at the start or after *and* or *they*, which are about the counted things, and pronouns; other verbs
belong to their own clause.
"""


def agreeing(count: int, words: str) -> str:
    """Return ``words``, given in the plural, as they are about ``count`` things: ``have no area`` becomes ``has no
    area`` for 1.
    """
    return words if count != 1 else re.sub(_OF_ONE, _singular, words)


def _singular(found: re.Match[str]) -> str:
    before, verb, pronoun = found.groups()
    if pronoun:
        return _PRONOUNS[pronoun]
    return f"{before.replace('they', 'it')}{_VERBS[verb]}"


def said_of(count: int, nouns: str, words: str) -> str:
    """Return a sentence about a number of things: ``1 face points nowhere``, ``2 faces point nowhere``; both given in
    the plural.
    """
    return f"{counted_plural(count, nouns)} {agreeing(count, words)}"


FORMS = 3


def form_of(number: int) -> int:
    """Return the Russian plural form for a number: 0 as for 1 and 21, 1 as for 2 to 4, 2 as for 5 to 20."""
    last, teen = number % 10, 10 < number % 100 < 20
    if last == 1 and not teen:
        return 0
    return 1 if 1 < last < 5 and not teen else 2


def changed_count(nouns: str, before: int, after: int) -> str:
    """Return ``faces 12 -> 14``, or only the noun if the numbers are equal."""
    return f"{nouns} {before} -> {after}" if before != after else nouns
