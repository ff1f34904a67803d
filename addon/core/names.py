"""Names between old games and Blender: code page 1251 without loss, Blender's length limit, duplicates by case."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Collection, Iterable

from .errors import WriteError

BLENDER_LIMIT = 63
"""Bytes of UTF-8 that a Blender name may have (bones in every version, data-blocks before 5.0)."""

# Code page 1251 with its one hole closed: byte 0x98 has no character, but files hold it. It becomes U+0098, as the web
# platform's windows-1251 has it, so that every byte string can be read and comes back.
_HOLE = 0x98
_TABLE = "".join(bytes((code,)).decode("cp1251") if code != _HOLE else chr(_HOLE) for code in range(256))
_ENCODING = codecs.charmap_build(_TABLE)


def decode(name: bytes) -> str:
    """A file's name as text; every byte string has one, and `encode` gives it back."""
    # Nearly all names are ASCII, where both agree; the table takes ten times as long.
    return name.decode("ascii") if name.isascii() else codecs.charmap_decode(name, "strict", _TABLE)[0]


def encode(name: str) -> bytes:
    """The file's bytes of a name. Raises `WriteError` for a character that code page 1251 lacks."""
    try:
        return codecs.charmap_encode(name, "strict", _ENCODING)[0]
    except UnicodeEncodeError as wrong:
        raise WriteError(
            f"the name {name!r} holds {name[wrong.start]!r}, which is not in the game's code page (1251)",
            remedy="Rename it with Latin or Cyrillic letters",
        ) from None


def same(first: str, second: str) -> bool:
    """Whether the games take two names for one (upper and lower case are the same)."""
    return first.lower() == second.lower()


def printable(text: str) -> str:
    """A text with U+FFFD for what is no character: bytes of a path on Linux that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def shortened(name: str, limit: int = BLENDER_LIMIT) -> str:
    """The longest `printable` beginning of a name within ``limit`` bytes of UTF-8, never cut through a character."""
    return printable(name).encode("utf-8")[:limit].decode("utf-8", "ignore")


def distinct(name: str, taken: Collection[str], limit: int = BLENDER_LIMIT) -> str:
    """The name, shortened and numbered as Blender does (``.001``) until it is not in ``taken`` (best a set).

    The number is found by doubling and halving: a file may give thousands of motions one name. Where numbers were left
    out it need not be the lowest free one.
    """
    candidate = shortened(name, limit)
    if candidate not in taken:
        return candidate

    def numbered(number: int) -> str:
        suffix = f".{number:03}"
        return shortened(name, limit - len(suffix)) + suffix

    used, free = 0, 1
    while numbered(free) in taken:
        used, free = free, 2 * free
    while free - used > 1:
        between = (used + free) // 2
        if numbered(between) in taken:
            used = between
        else:
            free = between
    return numbered(free)


def told_apart(labels: Iterable[str]) -> list[str]:
    """The labels, each that comes again with a number behind it: ``hand``, ``hand (2)``."""
    result: dict[str, None] = {}
    times: Counter[str] = Counter()
    for label in labels:
        unique = label
        while unique in result:
            times[label] += 1
            unique = f"{label} ({times[label] + 1})"
        result[unique] = None
    return list(result)


def duplicates(names: Iterable[str]) -> list[list[str]]:
    """Groups of names that the games take for one, in order of appearance; none where all differ."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.lower(), []).append(name)
    return [group for group in groups.values() if len(group) > 1]
