"""The fields of a document or model, found by walking its dataclasses, and other values for each of them.

A leaf is a number, a text, a run of bytes, a member of an enumeration, or one element of an array. Its name is that of
its class and field, with the columns of a structured array ("Lod.faces.flags"), so the same field of many objects has
one name.
"""

import copy
import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from addon.formats.xray.omf.document import Motion
from addon.formats.xray.placed import Layout
from addon.formats.xray.skl import Skl


class Leaf(NamedTuple):
    """A value, and the function that returns the whole with another value at its position."""

    name: str
    value: Any
    put: Callable[[Any], Any]


class View(NamedTuple):
    """Typed values that stand for ``fields`` of a class: their name, how to get them, how to replace them."""

    name: str
    fields: tuple[str, ...]
    get: Callable[[Any], Any]
    replace: Callable[[Any, Any], Any]


def _tracks(motion):
    return [motion.track(index) for index in range(motion.track_count)]


def _with_tracks(motion, tracks):
    created = Motion.of(motion.name, motion.frames, tracks)
    return dataclasses.replace(motion, body=created.body, starts=created.starts)


VIEWS = {
    Motion: View("tracks", ("body", "starts"), _tracks, _with_tracks),
    # The motion of a `.skl` is also the value of a section.
    Skl: View("motions", ("motions", "sections"), lambda skl: skl.motions, Skl.with_motions),
}
VALUES = {
    "Line.comment": ("; other",),
    "Line.end": ("\n", "\r\n"),
    "Ltx.encoding": ("utf-8", "cp1251"),
    "Mark.line_end": (b"\n", b"\r\n"),
    "Tag.name": ("AVGC", "OFFS", "MAXC"),
}
"""Values of fields that take few, by the name of the leaf."""
NOT_OF_THE_FILE = (Layout,)
"""Classes that say how a format is laid out, not what a file holds."""


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that take part in comparisons, or those of a named tuple; () for other types."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind) if field.compare)
    return getattr(kind, "_fields", ())


def parts(record: Any) -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Yield name, value and replacement of the fields of a dataclass or named tuple; nothing for other values."""
    view = VIEWS.get(type(record))
    if view is not None:
        yield view.name, view.get(record), lambda part: view.replace(record, part)
    for name in field_names(type(record)):
        if view is None or name not in view.fields:
            yield name, getattr(record, name), lambda part, name=name: _with_field(record, name, part)


def _with_field(record, name, part):
    if isinstance(record, tuple):
        return record._replace(**{name: part})
    result = copy.copy(record)
    object.__setattr__(result, name, part)  # it may be frozen
    return result


def _with_item(items, at, item):
    result = dict(items) if isinstance(items, dict) else list(items)
    result[at] = item
    return type(items)(result)


def _with_element(array, columns, index, element):
    result = array.copy()
    column = result
    for name in columns:
        column = column[name]
    column[index] = element
    return result


def leaves(value: Any, most: int, name: str = "", put: Callable[[Any], Any] = lambda whole: whole) -> Iterator[Leaf]:
    """Yield the leaves of ``value``; of each column of an array up to ``most`` elements."""
    if isinstance(value, NOT_OF_THE_FILE):
        return
    if field_names(type(value)):
        for field, part, replaced in parts(value):
            whole = f"{type(value).__name__}.{field}"
            yield from leaves(part, most, whole, lambda new, replaced=replaced: put(replaced(new)))
    elif isinstance(value, list | tuple | dict):
        for at, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, most, name, lambda new, at=at: put(_with_item(value, at, new)))
    elif isinstance(value, np.ndarray):
        for columns, column in _columns(value):
            for flat in spread(range(column.size), most):
                index = np.unravel_index(flat, column.shape)
                element = partial(_with_element, value, columns, index)
                yield Leaf(".".join((name, *columns)), column[index], lambda new, element=element: put(element(new)))
    elif value is not None:
        yield Leaf(name, value, put)


def _columns(array, columns=()):
    if array.dtype.names is None:
        yield columns, array
    for name in array.dtype.names or ():
        yield from _columns(array[name], (*columns, name))


def spread(items: Any, most: int) -> list[Any]:
    """Up to ``most`` of a sequence, from its first to its last one."""
    indices = {round(step * (len(items) - 1) / max(most - 1, 1)) for step in range(most)}
    return [items[at] for at in sorted(indices)] if len(items) else []


def by_name(answer: Iterable[Leaf], most: int) -> dict[str, list[Leaf]]:
    """Up to ``most`` leaves of each name."""
    result = defaultdict(list)
    for leaf in answer:
        result[leaf.name].append(leaf)
    return {name: spread(items, most) for name, items in result.items()}


def other_values(leaf: Leaf) -> Iterator[Any]:
    """Yield other values of the same type, those that are more likely to be valid first."""
    value = leaf.value
    if leaf.name in VALUES:
        others = list(VALUES[leaf.name])
    elif isinstance(value, bool | np.bool_):
        others = [not value]
    elif isinstance(value, Enum):
        others = list(type(value))
    elif isinstance(value, np.floating | float):
        others = [value + 0.5, value * 0.5, value * 2, 1.0, 0.0, -1.0]
    elif isinstance(value, int | np.integer):
        limits = np.iinfo(value.dtype) if isinstance(value, np.integer) else np.iinfo(np.int32)
        number = int(value)
        near = number ^ 1, number + 1, number - 1, number ^ 2, number ^ 0x80, 0, 1, 2, 3
        lowest = 0 if number >= 0 else max(number - 1, int(limits.min))
        others = [other for other in near if lowest <= other <= limits.max]
    elif isinstance(value, str):
        others = [value + "x", "x"]
    else:
        run = bytes(value)
        others = (
            [run[:-1] + bytes([run[-1] ^ 1]), run + b"x", bytes([run[0] ^ 1]) + run[1:], run[:-1]] if run else [b"x"]
        )
    kept = type(value) if isinstance(value, np.generic) else lambda other: other
    yield from (kept(other) for other in others if kept(other) != value)


def facts(value: Any, ignored: frozenset[str] = frozenset()) -> list[Any]:
    """Everything that makes two values equal bit by bit, but for the fields ``ignored`` ("Chunk.offset")."""
    result: list[Any] = []
    _add_facts(result, value, ignored)
    return result


_PLAIN = (int, str, bytes, type(None))


def _add_facts(result, value, ignored):
    kind = type(value)
    if isinstance(value, _PLAIN):
        result.append(value)
    elif names := field_names(kind):
        view = VIEWS.get(kind)
        result.append(kind)
        if view is not None:
            _add_facts(result, view.get(value), ignored)
            names = [name for name in names if name not in view.fields]
        for name in names:
            if f"{kind.__name__}.{name}" not in ignored:
                _add_facts(result, getattr(value, name), ignored)
    elif isinstance(value, list | tuple | dict):
        result.append(tuple(value) if isinstance(value, dict) else len(value))
        for item in value.values() if isinstance(value, dict) else value:
            _add_facts(result, item, ignored)
    elif isinstance(value, np.ndarray | np.generic):
        result.append((value.dtype, value.shape, value.tobytes()))
    elif isinstance(value, memoryview | float):
        result.append(bytes(value) if isinstance(value, memoryview) else value.hex())
    else:
        result.append(value)
