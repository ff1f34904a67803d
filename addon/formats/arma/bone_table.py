"""Tables of bone names, for animations and armatures that call the same bone differently; JSON that anybody can edit.

``{"bones": {"name in the file": "name in the armature", …}}``, and a ``comment`` if wanted. Names are compared without
regard to case, as everywhere in the game; bones that are not in the table keep their names. What belongs to what in
the table of the two men is anatomy: the games themselves say nothing about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ...core import files
from ...core.errors import ReadError

BONES, COMMENT = "bones", "comment"
SHIPPED = Path(__file__).with_name("flashpoint_to_arma.json")
_EXAMPLE = 'Write it as {"bones": {"name in the file": "name in the armature"}}'


@dataclass(frozen=True)
class BoneTable:
    """``pairs``: name in the file -> name in the armature. Without pairs every bone keeps its name."""

    pairs: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def in_armature(self, bone: str) -> str:
        """What the armature calls a bone of the file."""
        return _found(self.pairs.items(), bone)

    def in_file(self, bone: str) -> str:
        """What the file calls a bone of the armature."""
        return _found(((right, left) for left, right in self.pairs.items()), bone)

    def reversed(self) -> BoneTable:
        """For files that have the names the armature has now."""
        return BoneTable({right: left for left, right in self.pairs.items()})


def _found(pairs: Iterable[tuple[str, str]], bone: str) -> str:
    lowered = bone.lower()
    return next((other for one, other in pairs if one.lower() == lowered), bone)


def read(data: bytes, file: str) -> BoneTable:
    """A table of JSON. Raises `ReadError` for anything that is no table of one name for one name."""
    try:
        content = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_doubles)
    except UnicodeDecodeError as wrong:
        raise ReadError("the table of bone names is not UTF-8 text", file=file, remedy=_EXAMPLE) from wrong
    except (json.JSONDecodeError, RecursionError) as wrong:
        place = f" (line {wrong.lineno}: {wrong.msg})" if isinstance(wrong, json.JSONDecodeError) else ""
        raise ReadError(f"the table of bone names is not valid JSON{place}", file=file, remedy=_EXAMPLE) from wrong
    except _Double as double:
        raise ReadError(
            f"the table of bone names has {double} twice", file=file, remedy="Keep one of the two lines"
        ) from double
    pairs = content.get(BONES) if isinstance(content, dict) else None
    if not isinstance(pairs, dict) or not pairs:
        raise ReadError('the table of bone names has no "bones"', file=file, remedy=_EXAMPLE)
    unknown = [name for name in content if name not in (BONES, COMMENT)]
    if unknown:
        raise ReadError(f"the table of bone names says {unknown[0]!r}, which is unknown", file=file, remedy=_EXAMPLE)
    wrong_names = [left for left, right in pairs.items() if not left or not isinstance(right, str) or not right]
    if wrong_names:
        raise ReadError(
            f"in the table of bone names {wrong_names[0]!r} has no name on one side", file=file, remedy=_EXAMPLE
        )
    for names in (pairs, pairs.values()):
        twice = _first_double(names)
        if twice:
            raise ReadError(
                f"the table of bone names has {twice!r} twice", file=file, remedy="Give every bone one other name"
            )
    return BoneTable(pairs)


class _Double(Exception):
    """A name that stands twice in one object of JSON."""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = _first_double(name for name, _ in pairs)
    if twice:
        raise _Double(repr(twice))
    return dict(pairs)


def _first_double(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return ""


def read_file(path: str) -> BoneTable:
    """The table in a file. Raises `ReadError`."""
    return read(files.read_file(path), path)


@cache
def flashpoint_to_arma() -> BoneTable:
    """For files with the bones of Flashpoint's man and armatures with those of Arma's."""
    return read_file(str(SHIPPED))
