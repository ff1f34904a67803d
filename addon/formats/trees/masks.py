"""Masks with ``*`` and ``?`` over the paths of a game's files."""

from __future__ import annotations

import re
from collections.abc import Callable


def path_test(mask: str) -> Callable[[str], bool]:
    """Return a test whether a path matches a mask, in any letter case.

    ``*`` stands for any number of characters, also backslashes, ``?`` for one. Each part between asterisks is searched
    for once, after the one before it. As one regular expression, a mask with twenty asterisks would take minutes.
    """
    parts = mask.split("*")
    length = sum(map(len, parts))
    first, last = _pattern(parts[0]), _pattern(parts[-1])
    middle = [_pattern(part) for part in parts[1:-1] if part]

    def matches(path: str) -> bool:
        end = len(path) - len(parts[-1])
        if len(path) < length or (len(parts) == 1 and end):
            return False
        if first.match(path) is None or last.match(path, end) is None:
            return False
        position = len(parts[0])
        for part in middle:
            match = part.search(path, position, end)
            if match is None:
                return False
            position = match.end()
        return True

    return matches


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(
        "".join("." if character == "?" else re.escape(character) for character in text), re.IGNORECASE | re.DOTALL
    )
