"""Lists with a search: buttons beside a list act on what the list shows.

Blender stores the search of a list in its region, and Python reads it only while the list is drawn. So each list notes
its search under the area that it is drawn in, and a button, which is called with the same area, asks for it. Without an
area (scripts), or in one without the list, nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .bases import BlenderList, classes_of
from .layouts import DrawnRows, name_filter
from .operation import Need

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


def shows(is_shown: Callable[[Context], bool]) -> Need:
    """Return the need that a list shows the active row, which a button beside it changes."""
    return Need("The list does not show what is active: click a row, or clear the search", is_shown)


def row_after_removal(context: Context, drawn_by: str, rows: Sequence[Any], index: int) -> int:
    """Return which row is active after the one at ``index`` is removed from ``rows``, by its new index.

    It is the next row that the list shows, else the previous one, else the next of all; 0 if none is left.
    """
    fits = search_of(context, drawn_by)
    visible = [number for number, row in enumerate(rows) if fits is None or fits(row)]
    later = [number - 1 for number in visible if number > index]
    earlier = [number for number in visible if number < index]
    return (later or earlier[::-1] or [max(min(index, len(rows) - 2), 0)])[0]


class PanelList(NamedTuple):
    """A list with a search in a panel, and the buttons beside it, which act on its active row.

    ``drawn_by``: name of the `UIList` class, or the ``list_id`` where `MOTIONBRIDGE_UL_names` draws it. ``owner``:
    returns the properties that have the rows; ``rows`` and ``active`` are their names there.
    """

    drawn_by: str
    owner: Callable[[Context], Any]
    rows: str
    active: str

    @property
    def shown(self) -> Need:
        """The need that the list shows the active row."""
        return shows(lambda context: not self.is_hidden(context))

    def is_hidden(self, context: Context) -> bool:
        """Whether the list of the current area does not show the active row."""
        owner = self.owner(context)
        return is_hidden(context, self.drawn_by, getattr(owner, self.rows), getattr(owner, self.active))

    def active_index(self, owner: Any) -> int:
        """Return the index of the active row, -1 if there is none."""
        active: int = getattr(owner, self.active)
        return active if 0 <= active < len(getattr(owner, self.rows)) else -1

    def after_removal(self, context: Context, rows: Sequence[Any] | None = None) -> int:
        """Return `row_after_removal` of the active row; ``rows``: what the list shows, if it is not stored rows."""
        owner = self.owner(context)
        rows = getattr(owner, self.rows) if rows is None else rows
        return row_after_removal(context, self.drawn_by, rows, getattr(owner, self.active))

    def draw(self, layout: Any, owner: Any, *buttons: tuple[str, str], **options: Any) -> None:
        """Draw the list, and beside it ``buttons``: operator and icon of each."""
        row = layout.row() if buttons else layout
        is_class = self.drawn_by.startswith("MOTIONBRIDGE_UL_")
        names = (self.drawn_by, "") if is_class else ("MOTIONBRIDGE_UL_names", self.drawn_by)
        row.template_list(*names, owner, self.rows, owner, self.active, sort_lock=True, **options)
        column: Any = row.column(align=True) if buttons else None
        for operator, icon in buttons:
            column.operator(operator, text="", icon=icon)


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


CLASSES = classes_of(__name__)
