"""An `.ltx` as text: a summary, a dump line by line, and differences by section and key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....core.report import counted
from .document import BLANKS, Head, Include, Item, Line, Ltx

SECTIONS_SHOWN = 12
_ENDS = {"\r\n": "CR LF", "\n": "LF", "\r": "CR", "": "none"}


def describe(document: Ltx) -> list[str]:
    """Return a summary: counts, encoding, and the first sections."""
    heads, included = document.heads, document.includes
    keys = sum(1 for head in heads for _ in document.items(head))
    comments = sum(1 for line in document.lines if line.comment)
    counts = [counted(len(heads), "section"), counted(keys, "key"), counted(len(included), "include")]
    lines = [
        f"{', '.join(counts)}, {counted(comments, 'comment')} in {counted(len(document.lines), 'line')}",
        f"{document.encoding}, line ends {', '.join(_line_ends(document)) or 'none'}",
    ]
    lines += [f"includes {part.path}" for part in included[:SECTIONS_SHOWN]]
    lines += [_head_text(head) for head in heads[:SECTIONS_SHOWN]]
    hidden = max(len(included) - SECTIONS_SHOWN, 0) + max(len(heads) - SECTIONS_SHOWN, 0)
    return [*lines, f"and {hidden} more"] if hidden else lines


def _line_ends(document: Ltx) -> list[str]:
    return sorted({_ENDS[line.end] for line in document.lines} - {"none"})


def _head_text(head: Head) -> str:
    parents = [*head.parents, *(f"!{name}" for name in head.removed)]
    return f"{head.change}[{head.name}]" + (f":{','.join(parents)}" if parents else "")


def _item_text(item: Item) -> str:
    return f"{item.change}{item.key}" + ("" if item.value is None else f" = {item.value}")


def dump(document: Ltx) -> Iterator[str]:
    """Yield the meaning of each line, with its section, and the line itself. Equal texts mean equal bytes."""
    yield f"encoding {document.encoding}{' with byte order mark' if document.bom else ''}"
    if document.zeros:
        yield f"zero bytes after the text: {document.zeros}"
    meanings = _meanings(document)
    for index, line in enumerate(document.lines):
        meaning = meanings.get(index, "ignored" if line.code.strip(BLANKS) else "comment" if line.comment else "blank")
        yield f"{meaning} | {line.text!r}"


def _meanings(document: Ltx) -> dict[int, str]:
    """Return line index -> what the game reads there."""
    found: dict[int, str] = {}
    for part in document.parts:
        if isinstance(part, Include):
            found[part.line] = f"include {part.path}"
            continue
        found[part.line] = f"section {_head_text(part)}"
        for item in document.items(part):
            found[item.line] = f"[{part.name}] {_item_text(item)}"
    return found


def differences(first: Ltx, second: Ltx) -> Iterator[str]:
    """Yield the differences for the game, by section and key; then how many lines differ as text."""
    if first.zeros != second.zeros:
        yield f"zero bytes after the text: {first.zeros} / {second.zeros}"
    if (first.encoding, first.bom) != (second.encoding, second.bom):
        yield f"encoding {first.encoding} / {second.encoding}"
    ones, others = ([part.path for part in document.includes] for document in (first, second))
    if ones != others:
        yield f"includes: {', '.join(ones) or '-'} / {', '.join(others) or '-'}"
    mine, theirs = _sections(first), _sections(second)
    for name in dict.fromkeys([*mine, *theirs]):
        yield from _section_differences(name, mine.get(name), theirs.get(name))
    yield from _line_differences(first.lines, second.lines, first)


_Section = tuple[str, dict[str, str | None]]


def _sections(document: Ltx) -> dict[str, _Section]:
    """Return name, numbered if repeated -> header and keys; the last line of a key counts."""
    result: dict[str, _Section] = {}
    seen: dict[str, int] = {}
    for head in document.heads:
        label = f"{head.change}[{head.name}]"
        seen[label] = seen.get(label, 0) + 1
        label = label if seen[label] == 1 else f"{label} ({seen[label]})"
        keys: dict[str, str | None] = {}
        for item in document.items(head):
            keys[f"{item.change}{item.key}"] = item.value
        result[label] = _head_text(head), keys
    return result


def _section_differences(name: str, mine: _Section | None, theirs: _Section | None) -> Iterator[str]:
    if mine is None or theirs is None:
        keys = (mine or theirs or ("", {}))[1]
        yield f"{name} is only in the {'second' if mine is None else 'first'}, {counted(len(keys), 'key')}"
        return
    if mine[0] != theirs[0]:
        yield f"{name}: {mine[0]} / {theirs[0]}"
    for key in dict.fromkeys([*mine[1], *theirs[1]]):
        if key not in mine[1] or key not in theirs[1]:
            yield f"{name} {key}: only in the {'first' if key in mine[1] else 'second'}"
        elif mine[1][key] != theirs[1][key]:
            yield f"{name} {key}: {_value_text(mine[1][key])} / {_value_text(theirs[1][key])}"


def _value_text(value: Any) -> str:
    return "-" if value is None else str(value)


def _line_differences(first: Sequence[Line], second: Sequence[Line], document: Ltx) -> Iterator[str]:
    """Yield how many lines differ, without the equal lines at the start and the end."""
    shorter = min(len(first), len(second))
    start = next((index for index in range(shorter) if first[index] != second[index]), shorter)
    if start == len(first) == len(second):
        return
    after = next((back for back in range(shorter - start) if first[-1 - back] != second[-1 - back]), shorter - start)
    counts = len(first) - start - after, len(second) - start - after
    number = document.number(start)
    last = document.number(start + counts[0] - 1) if counts[0] else number
    where = f"lines {number} to {last}" if counts[0] > 1 else f"line {number}" if counts[0] else f"before line {number}"
    yield f"{where}: {counted(counts[0], 'line')} / {counted(counts[1], 'line')} as text"
