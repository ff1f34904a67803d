"""Picking names from long lists: by a part, by wildcards, or by a regular expression."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable


def name_filter(pattern: str, regular: bool) -> Callable[[str], bool]:
    """A test for names, without case: ``pattern`` may be a part of the name, have ``*`` and ``?``, or be ``regular``.

    A regular expression that is not complete yet, as while it is typed, fits what contains it.
    """
    if not pattern:
        return lambda _: True
    expression = pattern if regular else fnmatch.translate(f"*{pattern}*")
    try:
        compiled = re.compile(expression, re.IGNORECASE)
    except re.error:
        wanted = pattern.lower()
        return lambda name: wanted in name.lower()
    search = compiled.search if regular else compiled.match
    return lambda name: search(name) is not None
