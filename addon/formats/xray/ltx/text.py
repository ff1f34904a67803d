"""An `.ltx` as text: a summary, a dump line by line, and differences by section and key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....core.report import counted
from ....core.text import Rows, scalar
from ....core.walk import Entries, View, Views
from .document import BLANKS, Head, Ltx

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


class _Section(NamedTuple):
    """A section: its name with the sign of its change, its header, and its keys, of which the last line counts."""

    name: str
    header: str
    key: dict[str, str]


def _sections(document: Ltx) -> Iterator[_Section]:
    for head in document.heads:
        keys = {f"{item.change}{item.key}": scalar(item.value) for item in document.items(head)}
        yield _Section(f"{head.change}[{head.name}]", _head_text(head), keys)


def _entries(document: Ltx) -> Entries:
    yield "encoding", document.encoding
    yield "byte order mark", memoryview(document.bom)
    yield "zero bytes after the text", document.zeros or None
    yield "includes", [part.path for part in document.includes]
    yield "sections", list(_sections(document))
    read = {part.line for part in document.parts} | {
        item.line for head in document.heads for item in document.items(head)
    }
    yield (
        "ignored",
        Rows(
            [
                str(number)
                for number, line in enumerate(document.lines, 1)
                if line.code.strip(BLANKS) and number - 1 not in read
            ],
            "line",
        ),
    )
    yield "lines", Rows([repr(line.text) for line in document.lines], first=1)


VIEWS: Views = {Ltx: View(entries=_entries), _Section: View(lambda section: section.name, words={"name": None})}
