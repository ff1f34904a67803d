"""Rows of the lists of motions (`motion_lists`).

Lists are drawn many times per second, so their rows are cached until something changes.

Blender draws one row per entry of `bpy.data.actions`, which is sorted by name. To show the order of a file,
``filter_items`` would have to return that order, and the time in which Blender sorts by it grows with the square of the
number of rows: 15 ms for 3,060 rows. Instead the row at index k draws the k-th action of the list, whatever action
Blender passes for it; a list never has more rows than there are actions. The index does not depend on the filter; the
property `Listing.row` tells which row plays.

The cache key of a row contains everything that it is made of: the names and session uids of all actions, the entries of
the list, the actions that the armature uses, and `blender.properties.stamp`, which changes with the properties.
Comparing all that takes a tenth of the time of reading the properties again. The cache holds no data-blocks, so it
cannot refer to one that was removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ..blender import action_lists, nla, properties
from ..blender.action_lists import Kind, label_of
from ..blender.typed import Object
from .layouts import EDITED

if TYPE_CHECKING:
    from ..games.xray.motions.properties import MotionFile, SkeletalFile
    from .layouts import Listing


MAX_LISTS = 8
"""Maximum number of cached lists: one per kind, armature and filter that is shown somewhere."""


class Row(NamedTuple):
    """An action in a list: its index in `bpy.data.actions`, the name that is shown, whether it is edited."""

    number: int
    name: str
    edited: bool


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a list, in order; ``actions`` is the number of all actions. The same object means the same state."""

    listed: list[Row]
    actions: int

    def by_name(self) -> list[int]:
        """Return the position of each row when sorted by name; surplus rows are last."""
        order = sorted(range(len(self.listed)), key=lambda index: self.listed[index].name.lower())
        positions = np.arange(self.actions)
        positions[order] = np.arange(len(order))
        return positions.tolist()

    def index_of(self, number: int) -> int:
        """Return the row of the action with the index ``number`` in `bpy.data.actions`, or -1."""
        return next((index for index, row in enumerate(self.listed) if row.number == number), -1)


_rows: dict[Any, tuple[Any, Rows]] = {}
_flags: dict[Any, tuple[Rows, list[int]]] = {}
_entries: dict[Any, tuple[Any, list[list[int]]]] = {}
_playing: dict[tuple[int, str], int] = {}
_drawing: dict[tuple[int, str], Rows] = {}


def _cached(store: dict[Any, Any], key: Any, state: Any, read: Callable[[], Any]) -> Any:
    """Return the cached result for ``key`` if ``state`` is unchanged, else call ``read`` and cache its result."""
    before = store.pop(key, None)
    if before is None or before[0] != state:
        before = state, read()
    store[key] = before
    if len(store) > MAX_LISTS:
        del store[next(iter(store))]
    return before[1]


def rows_of(
    rig: Object, files: Sequence[MotionFile | SkeletalFile], kind: Kind, in_order: Callable[[Any], Iterable[Any]]
) -> Rows:
    """Return the actions of ``files`` of an armature, file by file, each in the order that ``in_order`` returns."""
    used = [(action.session_uid, kind.properties(action).file) for action in action_lists.used_by(rig)]
    return cached_rows(
        (rig.session_uid, kind.files),
        ([file.name for file in files], [action_lists.length(file) for file in files], used),
        lambda: [list(map(hash, action_lists.pointers(file))) for file in files],
        lambda: (action for file in files for action in in_order(file)),
    )


def cached_rows(
    key: Any,
    state: Any,
    pointers: Callable[[], Any],
    listed: Callable[[], Iterable[Any]],
    row: Callable[[Any, int], Row] | None = None,
) -> Rows:
    """Return the rows of the actions ``listed``, as they were read while nothing that they depend on has changed.

    ``key``: names the list. ``state`` and ``pointers``: what else they depend on; ``pointers`` takes longer to read and
    changes only with pointer properties. ``row`` as `row_of`.
    """
    actions = bpy.data.actions
    names = actions.keys()
    identities = np.zeros(len(names), np.int32)
    actions.foreach_get("session_uid", identities)
    there = names, identities.tobytes()
    entries = _cached(_entries, key, (properties.pointers_stamp(), state, there), pointers)

    def read() -> Rows:
        numbers = {action: number for number, action in enumerate(actions)}
        rows = [(row or row_of)(action, numbers[action]) for action in dict.fromkeys(listed())]
        return Rows(rows, len(actions))

    result: Rows = _cached(_rows, key, (properties.stamp(), state, entries, there), read)
    return result


def row_of(action: Any, number: int = -1) -> Row:
    """Return the row of an X-Ray motion; ``number`` as in `Row`."""
    return Row(number, label_of(action), action.motionbridge_motion.status in EDITED)


def flags_of(rows: Rows, fits: Callable[[Row], bool], asked: Any, drawn: Any) -> list[int]:
    """Return the flags of ``filter_items``: rows that match ``fits`` are shown, surplus rows of Blender are hidden.

    ``asked``: cache key, what ``fits`` depends on besides the row. ``drawn``: the `UIList`.
    """
    flag = drawn.bitflag_filter_item

    def read() -> list[int]:
        # Blender 4.2 lacks this flag: there an inverted filter draws these rows empty.
        nothing = getattr(drawn, "bitflag_item_never_show", 0)
        flags = [flag if fits(row) else 0 for row in rows.listed]
        return flags + [nothing] * (rows.actions - len(flags))

    own_flags: list[int] = _cached(_flags, asked, rows, read)
    return own_flags


def rows_now(listing: Listing, rig: bpy.types.Object) -> Rows:
    """Return the rows of a list; while the list is drawn, the rows found at its start."""
    rows = _drawing.get((rig.session_uid, listing.drawn_by))
    return rows if rows is not None else listing.rows(rig)


def action_at(listing: Listing, rig: bpy.types.Object, index: int) -> Any:
    """Return the action in a row, or None."""
    listed = rows_now(listing, rig).listed
    return bpy.data.actions[listed[index].number] if 0 <= index < len(listed) else None


def number_playing(rig: Object) -> int:
    """Return the index in `bpy.data.actions` of the motion that an armature plays, under any NLA layers, or -1."""
    action = nla.playing(rig).action
    return bpy.data.actions.find(action.name) if action is not None else -1


def row_playing(listing: Listing, rig: Object) -> int:
    """Return the index of the row whose action the armature plays, or -1."""
    number = number_playing(rig)
    return rows_now(listing, rig).index_of(number) if number >= 0 else -1


def draw(layout: bpy.types.UILayout, listing: Listing, rig: Object, **options: Any) -> None:
    """Draw a list. Blender asks 34 times which row plays, partly after this call: the row is found once and stored."""
    key = rig.session_uid, listing.drawn_by
    if len(_playing) > MAX_LISTS:
        _playing.clear()
    _drawing[key] = listing.rows(rig)
    try:
        _playing[key] = row_playing(listing, rig)
        layout.template_list(listing.drawn_by, "", bpy.data, "actions", rig, listing.row, sort_lock=True, **options)
    finally:
        del _drawing[key]


def row_drawn(listing: Listing, rig: Object) -> int:
    """Return the row that plays, as `draw` found it; nothing changes while Blender draws."""
    return _playing.get((rig.session_uid, listing.drawn_by), -1)
