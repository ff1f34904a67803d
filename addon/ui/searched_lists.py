"""Lists with a search: buttons beside a list act on what the list shows.

Blender stores the search of a list in its region, and Python reads it only while the list is drawn. So each list notes
its search under the area that it is drawn in, and a button, which is called with the same area, asks for it. Without an
area (scripts), or in one without the list, nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .bases import BlenderList
from .layouts import DrawnRows, name_filter

if TYPE_CHECKING:
    from ..blender.typed import Context

Fits: TypeAlias = Callable[[Any], bool]
"""Whether a list shows a row."""
MAX_SEARCHES = 100
"""Maximum number of noted searches: one per list and area."""

_searches: dict[tuple[int, str], Fits] = {}


def note_search(context: Context, drawn_by: str, fits: Fits) -> None:
    """Note which rows a list shows in the current area; ``fits`` must not refer to data-blocks or to the `UIList`.

    ``drawn_by``: name of the `UIList` class, or the ``list_id`` where several lists are drawn by one class.
    """
    if context.area is not None:
        key = context.area.as_pointer(), drawn_by
        _searches.pop(key, None)
        _searches[key] = fits
        if len(_searches) > MAX_SEARCHES:
            del _searches[next(iter(_searches))]


def search_of(context: Context, drawn_by: str) -> Fits | None:
    """Return which rows the list of the current area shows, or None if there is no such list."""
    return _searches.get((context.area.as_pointer(), drawn_by)) if context.area is not None else None


def is_hidden(context: Context, drawn_by: str, rows: Any, index: int) -> bool:
    """Whether the list of the current area does not show the row at ``index``; False if there is no such row."""
    fits = search_of(context, drawn_by)
    return fits is not None and 0 <= index < len(rows) and not fits(rows[index])


def refuse_hidden(operator: Any, hidden: bool) -> bool:
    """For `poll`: return ``hidden``; if True, set this as the operator's reason."""
    if hidden:
        operator.poll_message_set("The list does not show what is active: click a row, or clear the search")
    return hidden


def row_after_removal(context: Context, drawn_by: str, rows: Sequence[Any], index: int) -> int:
    """Return which row is active after the one at ``index`` is removed from ``rows``, by its new index.

    It is the next row that the list shows, else the previous one, else the next of all; 0 if none is left.
    """
    fits = search_of(context, drawn_by)
    visible = [number for number, row in enumerate(rows) if fits is None or fits(row)]
    later = [number - 1 for number in visible if number > index]
    earlier = [number for number in visible if number < index]
    return (later or earlier[::-1] or [max(min(index, len(rows) - 2), 0)])[0]


class SearchedRows(DrawnRows):
    """Mixin for `UIList` classes whose rows are found by Blender's search field, listed before `BlenderList`."""

    @staticmethod
    def words(item: Any) -> Sequence[str]:
        """Return the texts of a row in which the search looks. Overridden where they are not the name."""
        return (item.name,)

    def filter_items(self, context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Return the rows that match the search, in the order of the collection."""
        drawn: Any = self
        fits, words, inverted = name_filter(drawn.filter_name, regular=False), self.words, drawn.use_filter_invert
        note_search(context, list_key(drawn), lambda row: any(map(fits, words(row))) != inverted)
        return [drawn.bitflag_filter_item if any(map(fits, words(row))) else 0 for row in getattr(data, name)], []


def list_key(drawn: Any) -> str:
    """Return the ``drawn_by`` of a list while it is drawn."""
    return drawn.list_id or type(drawn).__name__


class MOTIONBRIDGE_UL_names(SearchedRows, BlenderList):
    """Rows with a name."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        layout.label(text=item.name, translate=False)


CLASSES = (MOTIONBRIDGE_UL_names,)
