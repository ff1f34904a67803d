"""Selections of a model renamed by a table of old and new names.

Names are compared without regard to case, as in the game. Selections of proxies, and those that the game ignores, are
no part of it (`p3d.mesh.is_shown`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...core.errors import ReadError, WriteError
from ...core.report import say
from . import names
from .p3d.document import Lod, P3d, Tag
from .p3d.mesh import byte_weights, is_shown
from .p3d.tags import new_tag, weight_bytes

Table = Mapping[str, str]
"""Old name in lower case -> new name."""
SEPARATORS = "\t", ";", ","
_QUOTED = re.compile(rb'"([^"\r\n]+)"')


def read_table(text: str, file: str) -> dict[str, str]:
    """Return old name -> new name of a text with two columns, as they are written.

    The columns of a line are separated by tabs, else by semicolons, else by commas; quotation marks around a name are
    no part of it. Empty lines, and lines that begin with ``#`` or ``//``, are skipped. Raises `ReadError`.
    """
    result: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(("#", "//")):
            continue
        cells = _cells(line)
        if len(cells) != 2 or not all(cells):
            raise ReadError(
                say("line {} of the table is not two names: {!r}", number, line.strip()[:60]),
                file=file,
                remedy="Write the old name, a tab, comma or semicolon, and the new name",
            )
        old, new = cells
        first = lines.setdefault(old.lower(), number)
        if first != number:
            words = "lines {} and {} of the table both rename {!r}"
            raise ReadError(say(words, first, number, old), file=file, remedy="Remove one of them")
        result[old] = new
    return result


def _cells(line: str) -> list[str]:
    separator = next((mark for mark in SEPARATORS if mark in line), SEPARATORS[0])
    cells = [cell.strip().removeprefix('"').removesuffix('"').strip() for cell in line.split(separator)]
    while len(cells) > 2 and not cells[-1]:  # spreadsheets fill up short rows
        cells.pop()
    return cells


def refuse_names(table: Table) -> None:
    """Raise `WriteError` if a new name of the table cannot be that of a selection."""
    for new in table.values():
        if not is_shown(new) or new.startswith("#"):
            raise WriteError(
                say("{!r} cannot be the name of a selection", new),
                remedy="Choose a name that does not begin with #, -, . or proxy:",
            )
        names.encode(new)


def selections_of(lod: Lod) -> list[str]:
    """Return the names of the selections of a LOD that can be renamed, in the file's order."""
    return [name for name, _, _ in lod.selections() if is_shown(name)]


def clashes(lods: Sequence[Sequence[str]], table: Table) -> tuple[dict[str, list[str]], int]:
    """Return new name -> the selections that a table makes one, and in how many LODs it does so.

    ``lods``: names of the selections of each LOD. Those of one LOD that differ only in case stay apart unless they are
    renamed.
    """
    result: dict[str, list[str]] = {}
    count = 0
    for own in lods:
        new = [table.get(name.lower(), name).lower() for name in own]
        equal = Counter(new)
        joined = {name for old, name in zip(own, new, strict=True) if equal[name] > 1 and old.lower() in table}
        count += bool(joined)
        for old, name in zip(own, new, strict=True):
            if name in joined:
                sources = result.setdefault(name, [])
                sources += [old] if old not in sources else []
    spelled = (next(table[old.lower()] for old in sources if old.lower() in table) for sources in result.values())
    return dict(zip(spelled, result.values(), strict=True)), count


def renamed(document: P3d, table: Table) -> P3d:
    """Return a model with selections renamed. Those that get one name in a LOD are joined: weights added, at most 1."""
    if not table:
        return document
    return replace(document, lods=[replace(lod, tags=_renamed_tags(lod, table)) for lod in document.lods])


def composed(document: P3d, before: Table, table: Table) -> dict[str, str]:
    """Return the table that renames the selections of a model as ``before`` and then ``table`` do."""
    spellings: dict[str, set[str]] = {}
    for lod in document.lods:
        for name in selections_of(lod):
            spellings.setdefault(name.lower(), set()).add(name)
    result = {}
    for lower, spelled in spellings.items():
        now = before.get(lower, lower)
        new = table.get(now.lower(), before.get(lower))
        if new is not None and spelled != {new}:
            result[lower] = new
    return result


def quoted_texts(data: bytes) -> set[str]:
    """Return all texts in quotation marks of a file such as model.cfg, in lower case."""
    return {names.decode(text).lower() for text in _QUOTED.findall(data)}


def _renamed_tags(lod: Lod, table: Table) -> list[Tag]:
    size = len(lod.points) + len(lod.faces)
    result: list[Tag] = []
    first: dict[str, tuple[int, str]] = {}  # new name -> index of its tag, and the old name
    for tag in lod.tags:
        name = names.decode(tag.name)
        if name.startswith("#") or len(tag.data) != size or not is_shown(name):
            result.append(tag)
            continue
        new = table.get(name.lower(), name)
        index, old = first.setdefault(new.lower(), (len(result), name.lower()))
        if index < len(result) and (old != name.lower() or old in table):
            joined = _joined(bytes(result[index].data), bytes(tag.data), len(lod.points))
            result[index] = replace(result[index], data=joined)
        elif new == name:
            result.append(tag)
        else:
            result.append(replace(tag, field=new_tag(lod.signature, names.encode(new), b"").field))
    return result


def _joined(first: bytes, second: bytes, points: int) -> bytes:
    """Return the bytes of a selection of all points and faces of two; those in both have the sum of their weights."""
    rows, more = np.frombuffer(first, np.uint8), np.frombuffer(second, np.uint8)
    result = np.where(rows != 0, rows, more)
    both = np.flatnonzero((rows[:points] != 0) & (more[:points] != 0))
    result[both] = weight_bytes(byte_weights(rows[both]) + byte_weights(more[both]))
    return result.tobytes()


def pairs_of(lod: Lod, table: Table) -> Iterator[tuple[str, str]]:
    """Yield old and new name of the selections of a LOD that a table renames."""
    for name in dict.fromkeys(selections_of(lod)):
        new = table.get(name.lower(), name)
        if new != name:
            yield name, new
