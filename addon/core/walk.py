"""One walk over documents, from which both the dump of one and the differences between two follow.

A document is a tree: dataclasses and named tuples have titled fields, lists and dictionaries have entries, and the
leaves are numbers, texts, arrays and runs of bytes. ``bytes`` are a text of the file; a ``memoryview``, and each field
annotated as `Bytes`, is a run of bytes, written as hexadecimal digits. A format says with a `View` for each of its
classes what differs from that: the titles of fields, the title of an entry of a list, by which the entries of two
files are paired, or what is shown instead of the fields.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import names
from .report import counted
from .text import FEW, Rows, array_differences, array_lines, line, rows, run_difference, scalar, sequence_difference

Entries = Iterable[tuple[str, Any]]
"""Pairs of a title and a value. A value with the title "" belongs to the whole itself."""


class View(NamedTuple):
    """How objects of one class are shown.

    ``title`` of an entry in a list, such as ``motion 'walk'``; without it entries are counted. ``keys``: what pairs the
    entries of two files, the first one first; without them it is the title. ``words``: titles of fields that differ
    from their names; "" for a field that needs none, None for one that is not shown. ``entries``: what is shown instead
    of the fields. ``bits``: equal if two objects are, where that is faster than their entries.
    """

    title: Callable[[Any], str] | None = None
    keys: tuple[Callable[[Any], Hashable], ...] = ()
    words: Mapping[str, str | None] = {}
    entries: Callable[[Any], Entries] | None = None
    bits: Callable[[Any], Hashable] | None = None


Views = Mapping[type, View]
_PLAIN = View()


@cache
def _fields(kind: Hashable) -> tuple[tuple[str, bool], ...]:
    """Return the names of the fields that take part in comparisons, and whether they hold runs of bytes."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        compared = [field for field in dataclasses.fields(kind) if field.compare]
        return tuple((field.name, "Bytes" in str(field.type) or "memoryview" in str(field.type)) for field in compared)
    return tuple((name, False) for name in getattr(kind, "_fields", ()))


def fields(value: Any, *left_out: str, words: Mapping[str, str | None] = _PLAIN.words) -> Entries:
    """Yield title and value of the fields of a dataclass or named tuple without those ``left_out``."""
    kind: Any = type(value)
    for name, is_run in _fields(kind):
        word = words.get(name, name.replace("_", " "))
        if word is not None and name not in left_out:
            part = getattr(value, name)
            yield word, _as_run(part) if is_run else part


def _as_run(value: Any) -> Any:
    if isinstance(value, list):
        return [memoryview(part) for part in value]
    if isinstance(value, dict):
        return {key: memoryview(part) for key, part in value.items()}
    return None if value is None else memoryview(value)


def _is_whole(value: Any) -> bool:
    """Return whether a value has fields."""
    kind: Any = type(value)
    return bool(_fields(kind)) and not isinstance(value, Rows)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and not hasattr(value, "_fields")


def _is_row(values: Sequence[Any]) -> bool:
    """Return whether a list holds nothing but numbers or texts, which is then shown like an array."""
    return not any(
        _is_list(entry) or _is_whole(entry) or isinstance(entry, dict | np.ndarray | memoryview) for entry in values
    )


def _key_text(key: Any) -> str:
    return key.name.lower().replace("_", " ") if isinstance(key, Enum) else scalar(key)


def pairs(before: Sequence[Any], after: Sequence[Any], keys: Iterable[Callable[[Any], Hashable]]) -> dict[int, int]:
    """Return index -> index of the entries with equal keys. Those without a partner are paired by the next key; entries
    with the same key in their order.
    """
    result: dict[int, int] = {}
    for key in keys:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        paired = set(result.values())
        for index, entry in enumerate(after):
            if index not in paired:
                waiting[key(entry)].append(index)
        for index, entry in enumerate(before):
            if index not in result and waiting and (partners := waiting.get(key(entry))):
                result[index] = partners.popleft()
    return dict(sorted(result.items()))


class Walk:
    """The dump of documents and the differences between two, by the ``views`` of their classes.

    ``missing``, ``added``: the words for an entry that only the first or only the second document has.
    """

    def __init__(
        self,
        views: Views,
        missing: str = "is only in the first",
        added: str = "is only in the second",
    ) -> None:
        self.views, self.missing, self.added = dict(views), missing, added

    def dump(self, document: Any) -> Iterator[str]:
        """Yield the whole document as text, one value or row per line. Equal texts mean equal documents."""
        return self._lines("", document, "")

    def differences(self, first: Any, second: Any) -> Iterator[str]:
        """Yield the differences between two documents, each with the path to it. Floats are compared bit by bit."""
        return self._differences("", "", first, second)

    def _view(self, value: Any) -> View:
        kind = type(value)
        if kind not in self.views:
            self.views[kind] = next((self.views[base] for base in kind.__mro__ if base in self.views), _PLAIN)
        return self.views[kind]

    def _entries(self, value: Any) -> list[tuple[str, Any]]:
        view = self._view(value)
        return list(view.entries(value) if view.entries is not None else fields(value, words=view.words))

    def _title(self, value: Any) -> Callable[[Any], str] | None:
        """Return the function for the titles of a list's entries; None if they are counted."""
        return self._view(value[0]).title if value else None

    def _titles(self, values: Sequence[Any]) -> list[str]:
        return names.numbered_labels(title(value) if (title := self._view(value).title) else "" for value in values)

    # Dump

    def _lines(self, title: str, value: Any, indent: str) -> Iterator[str]:
        inner = f"{indent}  " if title else indent
        if value is None or (isinstance(value, memoryview) and not len(value)):
            return
        if isinstance(value, np.ndarray | Rows):
            known = value if isinstance(value, Rows) else Rows(value)
            yield from (f"{indent}{text.lstrip()}" for text in _rows_lines(title or known.noun, known))
        elif isinstance(value, dict):
            for key, part in value.items():
                yield from self._lines(f"{title} {_key_text(key)}".lstrip(), part, indent)
        elif _is_list(value):
            yield from self._list_lines(title, value, indent)
        elif _is_whole(value):
            if title:
                yield f"{indent}{title}"
            for word, part in self._entries(value):
                yield from self._lines(word, part, inner)
        else:
            yield f"{indent}{f'{title} {scalar(value)}'.lstrip()}"

    def _list_lines(self, title: str, values: Sequence[Any], indent: str) -> Iterator[str]:
        if self._title(values) is not None:
            for label, entry in zip(self._titles(values), values, strict=True):
                yield from self._lines(label, entry, indent)
        elif _is_row(values) and len(values) <= FEW:
            yield f"{indent}{f'{title} {_row_text(values)}'.lstrip()}"
        else:
            yield f"{indent}{title} count {len(values)}"
            for index, entry in enumerate(values):
                yield from self._lines(f"{title} {index}", entry, indent)

    # Differences

    def _differences(self, path: str, word: str, before: Any, after: Any) -> Iterator[str]:
        """``path``: titles of the entries around, each with a colon, and of fields; ``word``: title of the value."""
        if before is after:
            return
        title = f"{path}{word}".rstrip(" :")
        if isinstance(before, Rows) and isinstance(after, Rows):
            if isinstance(before.values, np.ndarray) and isinstance(after.values, np.ndarray):
                yield from array_differences(title, before.values, after.values, before)
            else:
                yield from sequence_difference(title, list(before.values), list(after.values), before)
        elif isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
            yield from array_differences(title, before, after)
        elif isinstance(before, memoryview) and isinstance(after, memoryview):
            yield from run_difference(title, bytes(before), bytes(after))
        elif isinstance(before, dict) and isinstance(after, dict):
            yield from self._of_dictionaries(path, word, before, after)
        elif _is_list(before) and _is_list(after):
            yield from self._of_lists(path, word, before, after)
        elif type(before) is type(after) and _is_whole(before):
            bits = self._view(before).bits
            if bits is None or bits(before) != bits(after):
                yield from self._of_fields(f"{path}{word} " if word else path, before, after)
        elif type(before) is not type(after) or _bits(before) != _bits(after):
            yield line(title, f"{_brief(before)} / {_brief(after)}")

    def _of_fields(self, path: str, before: Any, after: Any) -> Iterator[str]:
        mine, theirs = (_by_title(self._entries(side)) for side in (before, after))
        for key in dict.fromkeys([*mine, *theirs]):
            yield from self._differences(path, key[0], mine.get(key), theirs.get(key))

    def _of_dictionaries(
        self, path: str, word: str, before: Mapping[Any, Any], after: Mapping[Any, Any]
    ) -> Iterator[str]:
        for key in dict.fromkeys([*before, *after]):
            entry = f"{path}{f'{word} {_key_text(key)}'.lstrip()}"
            if key not in before or key not in after:
                yield f"{entry} {self.missing if key in before else self.added}"
            else:
                yield from self._differences(f"{entry}: ", "", before[key], after[key])
        if [key for key in before if key in after] != [key for key in after if key in before]:
            yield line(f"{path}{word}".rstrip(" :"), "in another order")

    def _of_lists(self, path: str, word: str, before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
        title = f"{path}{word}".rstrip(" :")
        if self._title(before) is not None or self._title(after) is not None:
            yield from self._of_titled(path, word, before, after)
        elif _is_row(before) and _is_row(after):
            yield from sequence_difference(title, before, after)
        else:
            if len(before) != len(after):
                yield f"{title}: {len(before)} / {len(after)}"
            for index, (first, second) in enumerate(zip(before, after, strict=False)):
                yield from self._differences(f"{path}{word} ", str(index), first, second)

    def _of_titled(self, path: str, word: str, before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
        titles, titles_now = self._titles(before), self._titles(after)
        keys = self._view((*before, *after)[0]).keys
        if keys:
            together = pairs(before, after, keys)
        else:
            indices = {title: index for index, title in enumerate(titles_now)}
            together = {index: indices[title] for index, title in enumerate(titles) if title in indices}
        order = list(together.values())
        if order != sorted(order):
            yield f"{path}the {word} are in another order"
        for index, title in enumerate(titles):
            if index not in together:
                yield f"{path}{title} {self.missing}"
                continue
            now = together[index]
            if titles_now[now] != title:
                noun = title.partition(" ")[0]
                yield f"{path}{title} is now called {titles_now[now].removeprefix(f'{noun} ')}"
            yield from self._differences(f"{path}{title}: " if title else path, "", before[index], after[now])
        paired = set(order)
        yield from (f"{path}{title} {self.added}" for index, title in enumerate(titles_now) if index not in paired)


def _by_title(entries: Entries) -> dict[tuple[str, int], Any]:
    """Return the values by title and the number of earlier ones with it."""
    times: Counter[str] = Counter()
    result = {}
    for title, value in entries:
        result[title, times[title]] = value
        times[title] += 1
    return result


def _rows_lines(title: str, rows: Rows) -> Iterator[str]:
    if isinstance(rows.values, np.ndarray):
        return array_lines(title, rows.values, rows.first)
    return (f"{title} {number} {scalar(text)}" for number, text in enumerate(rows.values, rows.first))


def _row_text(values: Sequence[Any]) -> str:
    return " ".join(map(scalar, values)) or "none"


def _bits(value: Any) -> Any:
    """Return what makes two leaves equal: the bits of a float, otherwise the value."""
    if isinstance(value, np.floating):
        return value.tobytes()
    return value.hex() if isinstance(value, float) else value


def _brief(value: Any) -> str:
    """Return a few words for a value that has no counterpart of its type; a small array as a whole."""
    if isinstance(value, np.ndarray) and value.size <= FEW and not value.dtype.names:
        return rows(value.reshape(1, -1))[0]
    if _is_whole(value):
        return kind_word(type(value))
    if isinstance(value, np.ndarray | list | tuple | dict):
        return counted(len(value), "value")
    return "values" if isinstance(value, Rows) else scalar(value)


def kind_word(kind: type) -> str:
    """Return the name of a class in words: ``sliding windows`` for `SlidingWindows`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip(" _")
