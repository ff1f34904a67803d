"""Lists of actions, which are drawn many times per second: their rows are remembered until something changes.

A row is remembered under everything it is made of: the names and identities of all actions, the entries of the list,
the actions that the armature uses, and the stamp of `freshness`, which stands for the properties. Comparing all that
costs a tenth of reading the properties again. No data-block is kept, so none can be gone when it is met again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..blender import action_lists, properties
from ..blender.action_lists import Kind

REMEMBERED = 8
"""Lists that are remembered: each kind of each armature that is shown somewhere, under each filter."""


class Row(NamedTuple):
    """An action that a list shows: its number in `bpy.data.actions`, the name that is shown, whether it is edited."""

    number: int
    name: str
    edited: bool


@dataclass(frozen=True, eq=False)
class Rows:
    """What a list shows, in its order; ``actions`` how many there are. The same object is the same state."""

    listed: list[Row]
    actions: int


_rows: dict[Any, tuple[Any, Rows]] = {}
_shown: dict[Any, tuple[Rows, tuple[list[int], list[int]]]] = {}
_entries: dict[Any, tuple[Any, list[list[int]]]] = {}
_playing: dict[int, int] = {}


def _remembered(store: dict[Any, Any], key: Any, state: Any, read: Callable[[], Any]) -> Any:
    """What ``read`` gave when it was last called for ``key`` in this ``state``, else what it gives now."""
    before = store.pop(key, None)
    if before is None or before[0] != state:
        before = state, read()
    store[key] = before
    if len(store) > REMEMBERED:
        del store[next(iter(store))]
    return before[1]


def rows_of(rig: bpy.types.Object, files: Sequence[Any], kind: Kind, in_order: Callable[[Any], Iterable[Any]]) -> Rows:
    """The actions of ``files`` of an armature, file by file, each in the order that ``in_order`` gives."""
    actions, key = bpy.data.actions, (rig.session_uid, kind.files)
    names_of_files = [file.name for file in files]

    def pointers() -> list[list[int]]:
        return [list(map(hash, action_lists.pointers(file))) for file in files]

    names = actions.keys()
    identities = np.zeros(len(names), np.int32)
    actions.foreach_get("session_uid", identities)
    there = names, identities.tobytes()
    pointing = properties.pointers_stamp(), names_of_files, [action_lists.length(file) for file in files], there
    entries = _remembered(_entries, key, pointing, pointers)
    used = [(action.session_uid, kind.properties(action).file) for action in action_lists.used_by(rig)]
    state = properties.stamp(), names_of_files, entries, used, there

    def read() -> Rows:
        numbers = {action: number for number, action in enumerate(actions)}
        listed = []
        for action in dict.fromkeys(action for file in files for action in in_order(file)):
            motion = action.motionbridge_motion
            edited = motion.status in {"EDITED", "NEW"}
            listed.append(Row(numbers[action], motion.motion_name or action.name, edited))
        return Rows(listed, len(actions))

    # In files of version 0.1.0 each action says where it belongs: nothing tells when that changes.
    if not all(file.lists_actions for file in files):
        return read()
    found: Rows = _remembered(_rows, key, state, read)
    return found


def filtered(rows: Rows, fits: Callable[[Row], bool], asked: Any, flag: int) -> tuple[list[int], list[int]]:
    """What ``filter_items`` of a list answers: ``flag`` for each action that ``fits``, and the place of each.

    ``asked``: what ``fits`` depends on besides the row. Actions without a row come last. No places where the rows
    are in the order of the actions: Blender sorts by them in a time that grows with the square of the number of rows,
    15 ms for 3,060.
    """

    def read() -> tuple[list[int], list[int]]:
        flags, order = [0] * rows.actions, [-1] * rows.actions
        for place, row in enumerate(rows.listed):
            order[row.number] = place
            flags[row.number] = flag if fits(row) else 0
        drawn = [row.number for row in rows.listed if flags[row.number]]
        if drawn == sorted(drawn):
            return flags, []
        behind = iter(range(len(rows.listed), rows.actions))
        return flags, [next(behind) if place < 0 else place for place in order]

    found: tuple[list[int], list[int]] = _remembered(_shown, asked, rows, read)
    return found


def number_playing(rig: bpy.types.Object) -> int:
    """Where in `bpy.data.actions` the action is that an armature plays, or -1."""
    data = rig.animation_data
    return bpy.data.actions.find(data.action.name) if data is not None and data.action is not None else -1


def draw(layout: bpy.types.UILayout, kind: str, rig: bpy.types.Object, **options: Any) -> None:
    """The list of this class, of all actions. It asks 34 times which one plays, which is looked up once."""
    if len(_playing) > REMEMBERED:
        _playing.clear()
    _playing[rig.session_uid] = number_playing(rig)
    layout.template_list(kind, "", bpy.data, "actions", rig, "motionbridge_drawn_playing", sort_lock=True, **options)


def number_drawn(rig: bpy.types.Object) -> int:
    """`number_playing` as `draw` found it; nothing changes while Blender draws."""
    return _playing.get(rig.session_uid, -1)
