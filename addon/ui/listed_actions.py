"""Lists of actions, which are drawn many times per second: their rows are remembered until something changes.

Blender draws the rows of `bpy.data.actions`, which is sorted by name. A list in the order of a file would have to
return that order, and Blender sorts by it in a time that grows with the square of the number of rows: 15 ms for 3,060.
So the row with index k draws the action that is listed at k, whatever action Blender hands over for it; there are never
more rows than actions. The index is the same under each filter; the property `Listing.row` says which one plays.

A row is remembered under everything it is made of: the names and identities of all actions, the entries of the list,
the actions that the armature uses, and the stamp of `freshness`, which stands for the properties. Comparing all that
costs a tenth of reading the properties again. No data-block is kept, so none can be gone when it is met again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ..blender import action_lists, properties
from ..blender.action_lists import Kind
from .layouts import Listing

if TYPE_CHECKING:
    from ..blender.typed import Object
    from ..games.xray.motions.properties import MotionFile, SkeletalFile


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

    def index_of(self, number: int) -> int:
        """The index of the row of an action by its number in `bpy.data.actions`, or -1."""
        return next((index for index, row in enumerate(self.listed) if row.number == number), -1)


_rows: dict[Any, tuple[Any, Rows]] = {}
_shown: dict[Any, tuple[Rows, list[int]]] = {}
_entries: dict[Any, tuple[Any, list[list[int]]]] = {}
_playing: dict[tuple[int, str], int] = {}
_drawing: dict[tuple[int, str], Rows] = {}


def _remembered(store: dict[Any, Any], key: Any, state: Any, read: Callable[[], Any]) -> Any:
    """What ``read`` gave when it was last called for ``key`` in this ``state``, else what it gives now."""
    before = store.pop(key, None)
    if before is None or before[0] != state:
        before = state, read()
    store[key] = before
    if len(store) > REMEMBERED:
        del store[next(iter(store))]
    return before[1]


def rows_of(
    rig: Object, files: Sequence[MotionFile | SkeletalFile], kind: Kind, in_order: Callable[[Any], Iterable[Any]]
) -> Rows:
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


def flags_of(rows: Rows, fits: Callable[[Row], bool], asked: Any, drawn: Any) -> list[int]:
    """What ``filter_items`` of a list answers: whether each row ``fits``; nothing is listed in the remaining ones.

    ``asked``: what ``fits`` depends on besides the row; ``drawn``: the `UIList`.
    """
    flag = drawn.bitflag_filter_item

    def read() -> list[int]:
        # 4.2 lacks this flag; there such rows are drawn empty if the filter is inverted.
        nothing = getattr(drawn, "bitflag_item_never_show", 0)
        flags = [flag if fits(row) else 0 for row in rows.listed]
        return flags + [nothing] * (rows.actions - len(flags))

    found: list[int] = _remembered(_shown, asked, rows, read)
    return found


def rows_now(listing: Listing, rig: bpy.types.Object) -> Rows:
    """What a list shows of an armature; while the list is drawn, this is looked up once."""
    found = _drawing.get((rig.session_uid, listing.drawn_by))
    return found if found is not None else listing.rows(rig)


def action_at(listing: Listing, rig: bpy.types.Object, index: int) -> Any:
    """The action in a row, or None."""
    listed = rows_now(listing, rig).listed
    return bpy.data.actions[listed[index].number] if 0 <= index < len(listed) else None


def number_playing(rig: Object) -> int:
    """Where in `bpy.data.actions` the action is that an armature plays, or -1."""
    data = rig.animation_data
    return bpy.data.actions.find(data.action.name) if data is not None and data.action is not None else -1


def row_playing(listing: Listing, rig: Object) -> int:
    """The index of the row whose action an armature plays, or -1."""
    number = number_playing(rig)
    return rows_now(listing, rig).index_of(number) if number >= 0 else -1


def draw(layout: bpy.types.UILayout, listing: Listing, rig: Object, **options: Any) -> None:
    """A list. Blender asks 34 times which row plays, also when this is done: that is looked up once."""
    key = rig.session_uid, listing.drawn_by
    if len(_playing) > REMEMBERED:
        _playing.clear()
    _drawing[key] = listing.rows(rig)
    try:
        _playing[key] = row_playing(listing, rig)
        layout.template_list(listing.drawn_by, "", bpy.data, "actions", rig, listing.row, sort_lock=True, **options)
    finally:
        del _drawing[key]


def row_drawn(listing: Listing, rig: Object) -> int:
    """`row_playing` as `draw` found it; nothing changes while Blender draws."""
    return _playing.get((rig.session_uid, listing.drawn_by), -1)
