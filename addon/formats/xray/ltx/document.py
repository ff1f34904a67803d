"""Data types of `.ltx`: lines as they are, and the sections, values and includes that the game finds in them.

A document stores only its lines, so writing them gives the bytes of the file. Rules of the game, from its ``CInifile``:
names of sections are not case-sensitive, keys are; a value is everything after the first ``=``, without blanks outside
quotes; a quote that is not closed joins lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

BLANKS = " \t\v\f\r\n"
"""Characters that the game treats as blanks. Python would also count others of code page 1251."""
_WITHOUT_BLANKS = dict.fromkeys(map(ord, BLANKS))
_BREAK = re.compile(r"\r\n|\r|\n")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Line(NamedTuple):
    """A line: ``code`` that the game reads, with blanks around it; ``comment`` from its sign on; ``end`` the line end.

    The code of a value with an open quote spans several lines of the file.
    """

    code: str
    comment: str
    end: str

    @property
    def text(self) -> str:
        """The line as it is in the file."""
        return self.code + self.comment + self.end


class Change(StrEnum):
    """Change of a section or key by Anomaly's DLTX, given by the sign before its name."""

    NONE = ""
    OVERRIDE = "!"
    """``![section]``: its keys replace those of the section. ``!key``: the section's own key is deleted."""
    CREATE = "@"
    """``@[section]``: like ``![section]``, or a new section."""
    DELETE = "!!"
    ADD = ">"
    """``>key = a, b`` adds to a comma-separated list."""
    REMOVE = "<"


@dataclass(frozen=True, slots=True)
class Head:
    """The header ``[name]:parents`` at the index ``line``. ``removed``: parents that DLTX removes (``:!parent``)."""

    line: int
    name: str
    parents: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    change: Change = Change.NONE


@dataclass(frozen=True, slots=True)
class Include:
    """``#include "path"`` at the index ``line``."""

    line: int
    path: str


class Item(NamedTuple):
    """A key at the index ``line``, and its ``value`` as the game keeps it; None for a key without ``=``."""

    line: int
    key: str
    value: str | None
    change: Change = Change.NONE


@dataclass(eq=False)
class Ltx:
    """A config file: ``lines`` in order; ``encoding`` of the bytes; ``bom`` the bytes of a byte order mark; ``zeros``
    the number of zero bytes after the text, which some tools leave there.

    Sections and includes are searched only once, so the lines must not be changed: make a new document instead.
    """

    lines: Sequence[Line]
    encoding: str = "cp1251"
    bom: bytes = b""
    zeros: int = 0

    @cached_property
    def parts(self) -> list[Head | Include]:
        """Sections and includes, in order."""
        return list(_parts(self.lines))

    @cached_property
    def heads(self) -> list[Head]:
        """All section headers, in order."""
        return [part for part in self.parts if isinstance(part, Head)]

    @property
    def includes(self) -> list[Include]:
        """All includes, in order."""
        return [part for part in self.parts if isinstance(part, Include)]

    def span(self, head: Head) -> range:
        """Return the indices of a section's lines, from its header to the next header. An include does not end it.

        The line of the header itself is not included.
        """
        following = bisect_right(self.heads, head.line, key=lambda value: value.line)
        end = self.heads[following].line if following < len(self.heads) else len(self.lines)
        return range(head.line + 1, end)

    def items(self, head: Head) -> Iterator[Item]:
        """Yield the keys of one section, in the order of their lines."""
        return _items(self.lines, self.span(head))

    def number(self, line: int) -> int:
        """Return the line number, from 1, that a text editor shows for the line of this index."""
        indices, counts = self._breaks
        return 1 + line + counts[bisect_left(indices, line)]

    @cached_property
    def _breaks(self) -> tuple[list[int], list[int]]:
        """Indices of lines that span several, and the number of line breaks in such lines before each."""
        indices = [index for index, line in enumerate(self.lines) if '"' in line.code and _BREAK.search(line.code)]
        return indices, [0, *accumulate(len(_BREAK.findall(self.lines[index].code)) for index in indices)]


def _parts(lines: Sequence[Line]) -> Iterator[Head | Include]:
    for index, (code, _, _) in enumerate(lines):
        start = code.lstrip(BLANKS)
        if start and start[0] in _SIGNS:
            part = part_of(index, start)
            if part is not None:
                yield part


_SIGNS = "[!@#"
_HEADS = ("[", "![", "!![", "@[")
_INCLUDE = "#include"


def part_of(index: int, code: str) -> Head | Include | None:
    """Return the section or include in the code of one line; None for other lines."""
    text = code.strip(BLANKS)
    if text.startswith("#"):
        pieces = text.split('"')
        return Include(index, pieces[1].strip(BLANKS)) if _INCLUDE in text and len(pieces) > 1 else None
    sign, _, rest = text.partition("[")
    if sign not in ("", Change.OVERRIDE, Change.CREATE, Change.DELETE) or len(sign) == len(text):
        return None
    name, _, _ = rest.partition("]")
    _, _, listed = rest.partition("]:")
    parents = [parent.strip(BLANKS).lower() for parent in listed.split(",")]
    return Head(
        index,
        name.lower(),
        tuple(parent for parent in parents if parent and not parent.startswith("!")),
        tuple(parent[1:] for parent in parents if parent.startswith("!")),
        Change(sign),
    )


def _items(lines: Sequence[Line], span: range) -> Iterator[Item]:
    for index in span:
        key, equals, value = lines[index].code.partition("=")
        key = key.strip(BLANKS)
        if key.startswith("#") and _INCLUDE in key:
            continue
        change = Change.NONE
        if key[:1] in ("!", ">", "<") and len(key) > 1:
            change, key = Change(key[0]), key[1:].strip(BLANKS)
        if key or equals:
            yield Item(index, key, cleaned(_uncommented(value)) if equals else None, change)


def _uncommented(text: str) -> str:
    """Remove the comment of the first line from a value that spans several lines."""
    broken = _BREAK.search(text) if '"' in text else None
    return text if broken is None else split_comment(text[: broken.start()])[0] + text[broken.start() :]


def cleaned(text: str) -> str:
    """Return a value as the game keeps it: without blanks outside quotes. ``-0.83 9747`` is ``-0.839747``."""
    if '"' not in text:
        return text.translate(_WITHOUT_BLANKS)
    pieces = text.split('"')
    pieces[::2] = [piece.translate(_WITHOUT_BLANKS) for piece in pieces[::2]]
    return '"'.join(pieces)


def split_comment(text: str) -> tuple[str, str]:
    """Split one line into code and comment."""
    semicolon, slash = text.find(";"), text.find("/")
    positions = [semicolon] if semicolon >= 0 else []
    if slash >= 0 and text[slash + 1 : slash + 2] == "/":
        positions.append(slash)
    if not positions:
        return text, ""
    position = min(positions)
    first_quote = text.find('"')
    second_quote = text.find('"', first_quote + 1)
    # The game checks only the first two quotes; if the comment sign is between them, it reads the whole line.
    return (text, "") if first_quote < position < second_quote else (text[:position], text[position:])


def begins_section(code: str) -> bool:
    """Return whether a line is the header of a section."""
    return code.lstrip(BLANKS).startswith(_HEADS)


def is_open(code: str) -> bool:
    """Return whether the value of a line has an open quote, so that the next line belongs to it."""
    return not begins_section(code) and code.partition("=")[2].count('"') % 2 == 1


def unquoted(value: str) -> str:
    """Remove the quotes around a value."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def words(value: str) -> list[str]:
    """Split a comma-separated list into its entries."""
    return [word.strip(BLANKS) for word in value.split(",")] if value else []


def numbers(value: str, count: int) -> list[float]:
    """Read ``count`` numbers as C's ``%f,%f,%f`` does: it stops at text that is not a number, and the rest is 0."""
    result = [0.0] * count
    position = 0
    for index in range(count):
        match = _NUMBER.match(value, position)
        if match is None:
            break
        result[index] = float(match.group())
        position = match.end()
        if value[position : position + 1] != ",":
            break
        position += 1
    return result
