"""Messages for the user, which keep their template and values; findings of an operation, merged if repeated; counts.

Messages are formed in English, far from the interface, which translates them by their templates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from string import Formatter
from typing import NamedTuple, Self, TypeGuard, cast

PLACES_SHOWN = 5

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, line breaks, and characters that reverse the direction of the text after them."""


def on_one_line(text: str) -> str:
    """Return a text with control characters and line breaks escaped: names of files and motions may contain any."""
    if text.isprintable():
        return text
    escaped = _UNPRINTABLE.sub(lambda match: repr(match[0])[1:-1], text)
    return Message(escaped, text.template, text.values) if isinstance(text, Message) else escaped


# Messages -------------------------------------------------------------------------------------------------------------


class Message(str):
    """An English text for the user with what it was formed from, so that it can be translated: see `say`."""

    __slots__ = ("template", "values")
    template: str
    values: tuple[object, ...]

    def __new__(cls, text: str, template: str, values: tuple[object, ...] = ()) -> Self:
        """Keep an English text with its template and values."""
        result = super().__new__(cls, text)
        result.template, result.values = template, values
        return result

    def __str__(self) -> str:
        """Return the message itself: ``str(refusal)`` can be translated too."""
        return self

    def __reduce__(self) -> tuple[type[Message], tuple[str, str, tuple[object, ...]]]:
        # Refusals are sent between processes.
        return Message, (str.__str__(self), self.template, self.values)


def say(template: str, *values: object) -> Message:
    """Return a message: an English sentence, given as a literal with fields as of `str.format`, and its values.

    ``{:# face has|# faces have}`` is the text for 1 and for other numbers, which replace ``#``; ``{0:it|them}`` refers
    to a number once more. Values that are messages are translated too, and those that are known sentences.
    ``{:lower}`` is a text whose first letter becomes small.
    """
    kept = tuple(value if isinstance(value, str) or hasattr(value, "__float__") else str(value) for value in values)
    return Message(_parsed(template).filled(kept) if kept else template, template, kept)


def joined(texts: Iterable[str], separator: str = ", ") -> Message:
    """Return a message of several texts; those that are messages are translated too, and so is such a separator."""
    parts = list(texts)
    if isinstance(separator, Message):
        parts, separator = [part for text in parts for part in (separator, text)][1:], ""
    return say(separator.join(["{}"] * len(parts)), *parts)


def translated(text: str, table: Mapping[str, str]) -> str:
    """Return a text in the language of ``table``, or unchanged if that does not have it.

    ``table``: English -> translation, of whole texts and of templates, which have ``{}`` for each shown value and
    numbers in the plural. The values are those of the English text, formatted alike; their order is the same in the
    translation or numbered, ``{1} of {0}``. A translation of three sentences separated by ``|`` has one for each plural
    form: they are chosen by the first value that is an integer, as for 1, 2 and 5.
    """
    if not isinstance(text, Message) or not text.values:
        return table.get(getattr(text, "template", text), text)
    template = _parsed(text.template)
    values = [_translated_value(value, table) for value in text.values]
    sentence = table.get(template.key)
    if sentence is None:
        return template.filled(values)
    texts = [field.text(values, number_alone=True) for field in template.fields if field.is_shown]
    forms = sentence.split("|")
    number = next((int(text) for text in (*texts, *map(str, values)) if text.isdecimal()), None)
    form = 0 if len(forms) != FORMS else -1 if number is None else form_of(number)
    return forms[form].format(*texts)


def _translated_value(value: object, table: Mapping[str, str]) -> object:
    if isinstance(value, Message) or (isinstance(value, str) and " " in value):
        return translated(value, table)
    return value


def key_of(template: str) -> str:
    """Return what a table of translations calls a template."""
    return _parsed(template).key


class _Field(NamedTuple):
    """A field of a template, after the text ``before`` it."""

    before: str
    number: int
    conversion: str | None
    spec: str

    @property
    def is_plural(self) -> bool:
        """Whether it has words for 1 and for other numbers."""
        return "|" in self.spec

    @property
    def is_shown(self) -> bool:
        """Whether it shows its value, and does not only choose a word by it."""
        return not self.is_plural or "#" in self.spec

    def text(self, values: Sequence[object], *, number_alone: bool = False) -> str:
        """Return the formatted value; ``number_alone``: a number without the words that it chooses."""
        value = values[self.number]
        if self.is_plural:
            singular, _, many = self.spec.partition("|")
            return str(value) if number_alone else (singular if value == 1 else many).replace("#", str(value))
        if self.spec == "lower":
            return f"{str(value)[:1].lower()}{str(value)[1:]}"
        if self.conversion:
            value = (ascii if self.conversion == "a" else repr)(value)
        return format(value, self.spec)


class _Template(NamedTuple):
    """A template in parts; ``key``: how a table of translations calls it.

    ``plain``: the template if `str.format` fills it in alike, which is much faster; else empty.
    """

    fields: tuple[_Field, ...]
    after: str
    key: str
    plain: str

    def filled(self, values: Sequence[object]) -> str:
        """Return the English text."""
        if self.plain:
            return self.plain.format(*values)
        return "".join([*(f"{field.before}{field.text(values)}" for field in self.fields), self.after])


@lru_cache(4096)
def _parsed(template: str) -> _Template:
    fields, key, after = list[_Field](), "", ""
    for literal, name, spec, conversion in Formatter().parse(template):
        after += literal
        if name is not None:
            field = _Field(after, int(name or len(fields)), conversion, spec or "")
            fields.append(field)
            many = field.spec.partition("|")[2].replace("#", "{}")
            key += after + (many or "{}")
            after = ""
    is_plain = not any(field.spec or field.conversion for field in fields)
    return _Template(tuple(fields), after, key + after, template if is_plain else "")


# Reports --------------------------------------------------------------------------------------------------------------


class Report:
    """Warnings and notes in the order of their first appearance.

    The same sentence about several places is one line: ``the checksum is wrong (walk_0, walk_1)``. Sentences that begin
    with a counted noun are one line with the sum, too, as `_is_counted` describes: ``8 faces have no area (hull: 5,
    wing: 3)``. One thing of its kind is reported as 1, with its name: ``2 textures are missing (sand, grass)``.
    """

    # Not a dataclass: creating one takes a millisecond, and this class is created at every start of Blender.
    def __init__(self, warnings: dict[str, list[str]] | None = None, notes: dict[str, list[str]] | None = None) -> None:
        self.warnings = {} if warnings is None else warnings
        self.notes = {} if notes is None else notes

    def warn(self, finding: str, where: str = "") -> None:
        """Report something odd, left out or repaired, which the user should know."""
        self.warnings.setdefault(finding, []).append(where)

    def note(self, finding: str, where: str = "") -> None:
        """Report something that is in order but good to know."""
        self.notes.setdefault(finding, []).append(where)

    def include(self, other: Report) -> None:
        """Add all findings of another report."""
        for mine, theirs in ((self.warnings, other.warnings), (self.notes, other.notes)):
            for finding, their in theirs.items():
                mine.setdefault(finding, []).extend(their)

    def lines(self, most: int = PLACES_SHOWN) -> list[str]:
        """Return a message for each finding, warnings first; each names up to ``most`` of its places."""
        return self.warning_lines(most) + _lines(self.notes, most)

    def warning_lines(self, most: int = PLACES_SHOWN) -> list[str]:
        """Return the lines of the warnings alone."""
        return _lines(self.warnings, most)

    def __bool__(self) -> bool:
        return bool(self.warnings or self.notes)


def _lines(findings: Mapping[str, list[str]], most: int) -> list[str]:
    alike: dict[object, list[tuple[str, list[str]]]] = {}
    for finding, locations in findings.items():
        key = (finding.template, *map(str, finding.values[1:])) if _is_counted(finding) else finding
        alike.setdefault(key, []).append((finding, locations))
    return [_line(group, most) for group in alike.values()]


def _is_counted(finding: str) -> TypeGuard[Message]:
    """Whether the numbers of such sentences can be added: it begins with a counted noun and has no other number."""
    if not isinstance(finding, Message) or not (fields := _parsed(finding.template).fields):
        return False
    first = fields[0]
    is_first = first.is_plural and first.is_shown and first.number == 0 and not first.before
    return is_first and not any(hasattr(value, "__float__") for value in finding.values[1:])


def _line(alike: Sequence[tuple[str, list[str]]], most: int) -> str:
    """Return the line of one finding with its places, or of several counted ones that differ by their number only.

    A place counts once for each of them. Other sentences have how often they were reported if places do not tell it.
    """
    finding, locations = alike[0]
    if not _is_counted(finding):
        names = _named(locations)
        is_told = len(locations) == 1 or (most and len(names) == len(locations))
        return _with_places(finding, names, most, [] if is_told else [say("{:# time|# times}", len(locations))])
    total, numbers = 0, dict[str, int]()
    for counted_finding, locations in alike:
        number = int(cast("int", cast("Message", counted_finding).values[0]))
        names = _named(locations)
        total += number * (len(names) + locations.count(""))
        numbers |= {name: numbers.get(name, 0) + number for name in names}
    differ = len(numbers) > 1 and set(numbers.values()) != {1}
    labels = [say("{}: {}", name, number) if differ else name for name, number in numbers.items()]
    return _with_places(say(finding.template, total, *finding.values[1:]), labels, most, [])


def _named(locations: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, locations)))


def _with_places(sentence: str, labels: Sequence[str], most: int, times: list[Message]) -> str:
    remarks: list[str] = [*times]
    if labels and most:
        more = [say("and {} more", len(labels) - most)] if len(labels) > most else []
        remarks.append(joined([*labels[:most], *more]))
    return on_one_line(say("{} ({})", sentence, joined(remarks, ": ")) if remarks else joined([sentence]))


# Counts in words ------------------------------------------------------------------------------------------------------


def counted(count: int, noun: str) -> Message:
    """Return ``1 motion``, ``2 motions``, ``2 meshes`` (``mesh|meshes``: a plural that does not only add an s)."""
    singular, _, many = noun.partition("|")
    return say(f"{{:# {singular}|# {many or f'{noun}s'}}}", count)


def listed(words: Collection[str], most: int = 8) -> Message:
    """Return ``walk, run``, or ``walk, run and 3 more`` if there are more than ``most``."""
    first = joined(islice(words, most))
    return say("{} and {} more", first, len(words) - most) if len(words) > most else first


FORMS = 3


def form_of(number: int) -> int:
    """Return the Russian plural form for a number: 0 as for 1 and 21, 1 as for 2 to 4, 2 as for 5 to 20."""
    last, teen = number % 10, 10 < number % 100 < 20
    if last == 1 and not teen:
        return 0
    return 1 if 1 < last < 5 and not teen else 2
