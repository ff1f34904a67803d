"""Conversion of names between old games and Blender: code page 1251 without loss, Blender's length limit, duplicates by
case.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Collection, Iterable

from .errors import WriteError
from .report import say

BLENDER_LIMIT = 63
"""Bytes of UTF-8 that a Blender name may have (bones in every version, data-blocks before 5.0)."""

# Code page 1251 has no character for byte 0x98, but files contain it. It becomes U+0098, as in the web platform's
# windows-1251, so that every byte string can be decoded and encoded again.
_HOLE = 0x98
_TABLE = "".join(bytes((code,)).decode("cp1251") if code != _HOLE else chr(_HOLE) for code in range(256))
_ENCODING = codecs.charmap_build(_TABLE)


def decode(name: bytes) -> str:
    """Return a file's name as text. Every byte string can be decoded, and `encode` returns the same bytes."""
    # Nearly all names are ASCII, for which both results are equal; decoding by table takes ten times as long.
    return name.decode("ascii") if name.isascii() else codecs.charmap_decode(name, "strict", _TABLE)[0]


def encode(name: str) -> bytes:
    """Return a name as the file's bytes. Raises `WriteError` for a character that code page 1251 does not have."""
    try:
        return codecs.charmap_encode(name, "strict", _ENCODING)[0]
    except UnicodeEncodeError as wrong:
        raise WriteError(
            say("the name {!r} holds {!r}, which is not in the game's code page (1251)", name, name[wrong.start]),
            remedy="Rename it with Latin or Cyrillic letters",
        ) from None


def same(first: str, second: str) -> bool:
    """Return whether two names are equal for the games, which ignore upper and lower case."""
    return first.lower() == second.lower()


def printable(text: str) -> str:
    """Return a text with U+FFFD for invalid characters: bytes of a path on Linux that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def shortened(name: str, limit: int = BLENDER_LIMIT) -> str:
    """Return the longest `printable` beginning of a name within ``limit`` bytes of UTF-8, without cutting through a
    character.
    """
    return printable(name).encode("utf-8")[:limit].decode("utf-8", "ignore")


def distinct(name: str, taken: Collection[str], limit: int = BLENDER_LIMIT) -> str:
    """Return the name, shortened and numbered as Blender does (``.001``) if it is in ``taken`` (preferably a set).

    The number is found by doubling and bisection, because a file may give thousands of motions the same name. If some
    numbers are not in use, it need not be the lowest free one.
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


def numbered_labels(labels: Iterable[str]) -> list[str]:
    """Return the labels with a number appended to repeated ones: ``hand``, ``hand (2)``."""
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
    """Return the groups of names that are equal for the games, in order of appearance; empty if all names differ."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.lower(), []).append(name)
    return [group for group in groups.values() if len(group) > 1]
