"""Layouts shared by panels and dialogs: fields, wrapped text, lists with check boxes and their name filter.

A filter is a part of a name, a pattern with wildcards, or a regular expression.
"""

import fnmatch
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..blender.typed import Context
from .bases import MixedIn, iface_

if TYPE_CHECKING:
    from ..games.xray.motions.skl_pose import Shown


STATUS_ICONS = {"UNTOUCHED": "BLANK1", "EDITED": "GREASEPENCIL", "NEW": "ADD", "UNKNOWN": "QUESTION"}
"""Status of a motion, compared with its file -> icon of its badge."""
EDITED = {"EDITED", "NEW"}
"""Keys of `STATUS_ICONS` of motions that differ from their file."""
SIDEBAR = 34
"""Characters that fit into one line of the sidebar at its default width."""


def fields(layout: bpy.types.UILayout) -> Any:
    """Return the same layout, set to draw property names on the left and no buttons for keyframes."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_folded(layout: Any, operator: Any, opened_by: str) -> Any:
    """Draw the header of a part of a dialog, and return the layout for its fields, or None while it is folded.

    ``opened_by``: name of the operator's property that opens it. Not ``layout.panel``: opened from the file browser the
    dialog has no region, and Blender would crash.
    """
    is_open = getattr(operator, opened_by)
    row = layout.row()
    row.alignment = "LEFT"
    row.prop(operator, opened_by, icon="DOWNARROW_HLT" if is_open else "RIGHTARROW", emboss=False)
    return fields(layout.column()) if is_open else None


class FoldedOptions:
    """Mixin for operators whose dialog folds the options that few files need."""

    show_options: BoolProperty(name="Options", description="Show the options", options={"SKIP_PRESET", "HIDDEN"})


def draw_tolerances(layout: bpy.types.UILayout, operator: "Shown") -> None:
    """Draw the two tolerances of curve fitting, for positions and rotations."""
    column = layout.column(align=True)
    column.prop(operator, "millimetres")
    column.prop(operator, "degrees")


def paragraph(layout: Any, text: str, letters: int, icon: str = "NONE") -> None:
    """Draw a text as labels of at most ``letters`` characters, since labels do not wrap; the first has the icon."""
    for number, line in enumerate(textwrap.wrap(text, letters)):
        layout.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon, translate=False)


# Lists ----------------------------------------------------------------------------------------------------------------


def name_filter(pattern: str, regular: bool) -> Callable[[str], bool]:
    """Return a case-insensitive test for names.

    ``pattern`` may be a part of the name, contain ``*`` and ``?``, or be a regular expression (``regular``). An
    incomplete regular expression, as while typing, matches names that contain it literally.
    """
    if not pattern:
        return lambda _: True
    expression = pattern if regular else fnmatch.translate(f"*{pattern}*")
    try:
        compiled = re.compile(expression, re.IGNORECASE)
    except re.error:
        wanted = pattern.lower()
        return lambda name: wanted in name.lower()
    search = compiled.search if regular else compiled.match
    return lambda name: search(name) is not None


def _name_of_action(action: Any) -> tuple[Any, str]:
    return action, "name"


class ListEdits(ABC):
    """What the buttons beside a list of motions do with the actions of one kind.

    A file is what lists actions: a motion file of an armature, or the armature itself, where each action has a file of
    its own.
    """

    @abstractmethod
    def active(self, rig: Any) -> Any:
        """Return the file that new motions of an armature are added to, or None."""

    @abstractmethod
    def file_of(self, rig: Any, action: Any) -> Any:
        """Return the file of an armature that lists an action, or None."""

    @abstractmethod
    def is_stored(self, file: Any, action: Any) -> bool:
        """Return whether a file stores an action in its list, and does not only show it as a copy that plays."""

    @abstractmethod
    def members(self, file: Any) -> list[Any]:
        """Return the actions that a file lists, in order."""

    @abstractmethod
    def row_of(self, action: Any) -> Any:
        """Return the `listed_actions.Row` that the list has for an action."""

    @abstractmethod
    def new(self, rig: Any, file: Any, name: str) -> Any:
        """Add an action with the pose that an armature shows, and return it."""

    @abstractmethod
    def copy(self, file: Any, action: Any) -> Any:
        """Add a copy of an action below it, and return the copy."""

    @abstractmethod
    def add(self, file: Any, action: Any) -> Any:
        """Add an action, and return it, or the copy that was added instead of one that another armature lists."""

    @abstractmethod
    def delete(self, file: Any, action: Any) -> None:
        """Remove an action from the list and delete it."""

    @abstractmethod
    def deleted_text(self, *, several: bool) -> str:
        """Return what is reported after one action, or several, were deleted: with a place for the name, or the number,
        and one for the file's name.
        """

    def limit(self, _file: Any) -> str:
        """Return why a new action is not saved with its file, "" if it is."""
        return ""


class Listing(NamedTuple):
    """A list of motions in a panel.

    ``drawn_by``: name of the `UIList` class. ``row``: property of armature objects with the index of the row that
    plays. ``rows``: returns the rows of an armature (`Rows`). ``play``: lets an armature play an action. ``frames``:
    returns the first and the last frame of an action on an armature. ``edits``: what the buttons beside the list do.
    ``menu``: the class of the menu below them. ``status``: returns an action's key of `STATUS_ICONS`; None for motions
    without a status. ``named``: returns the owner and the name of the property with an action's name. ``compare``:
    operator of the badge of actions whose status is unknown; its tooltip explains the badge.
    """

    drawn_by: str
    row: str
    rows: Callable[[Any], Any]
    play: Callable[[Any, Any], None]
    frames: Callable[[Any, Any], tuple[int, int]]
    edits: "ListEdits"
    menu: str
    status: Callable[[Any], str] | None = None
    named: Callable[[Any], tuple[Any, str]] = _name_of_action
    compare: str = ""


TICKS = (
    ("ALL", "All", "Select all listed items", 1),
    ("NONE", "None", "Deselect all listed items", 2),
    ("INVERT", "Invert", "Invert the selection of the listed items", 3),
)


def tick(choice: Any, value: int) -> None:
    """Set the check boxes of the rows that match the filter; ``value`` is the number of an item of `TICKS`."""
    fits = name_filter(choice.name_filter, choice.regular)
    for row in choice.listed:
        if fits(row.name):
            row.ticked = {1: True, 2: False}.get(value, not row.ticked)


def chosen_rows(choice: Any) -> list[Any]:
    """Return the ticked rows that the filter shows: a dialog acts on no row that it hides."""
    fits = name_filter(choice.name_filter, choice.regular)
    return [row for row in choice.listed if row.ticked and fits(row.name)]


class TickedChoice(MixedIn):
    """Mixin for operators with a list of check boxes; they define ``listed`` and ``name_filter`` themselves."""

    active_listed: IntProperty(options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"})
    regular: BoolProperty(
        name="Regular Expression",
        description="The filter is a regular expression",
        options={"SKIP_SAVE", "SKIP_PRESET"},
    )
    tick: EnumProperty(name="Select", items=TICKS, get=lambda _: 0, set=tick, options={"SKIP_SAVE", "HIDDEN"})

    def check(self, _context: Context) -> bool:
        """Redraw the dialog after every change."""
        return True


class DrawnRows:
    """Mixin for `UIList` classes, listed before `BlenderList`."""

    def draw_row(self, layout: Any, item: Any, owner: Any, index: int) -> None:
        """Draw the item at ``index``; ``owner`` has the property with the index of the active row."""
        raise NotImplementedError

    def draw_item(
        self,
        _context: Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        owner: Any,
        _property: str,
        index: int = 0,
    ) -> None:
        self.draw_row(layout, item, owner, index)


class TickedRows(DrawnRows):
    """Mixin for `UIList` classes of rows with ``name``, ``file`` and ``ticked``; ``owner`` is their operator."""

    def size(self, item: Any) -> str:
        """Return the text at the end of a row."""
        raise NotImplementedError

    def draw_row(self, layout: Any, item: Any, owner: Any, _index: int) -> None:
        """Draw the check box, the name, the file if the list has several, the size."""
        row = layout.row(align=True)
        row.prop(item, "ticked", text="")
        row.label(text=item.name, translate=False)
        right = row.row()
        right.alignment = "RIGHT"
        right.active = False
        if owner.listed[0].file != owner.listed[-1].file:
            right.label(text=Path(item.file).name, translate=False)
        right.label(text=self.size(item), translate=False)

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw nothing: `draw_ticks` draws the filter above the list."""

    def filter_items(self, _context: Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        fits, own = name_filter(data.name_filter, data.regular), cast("Any", self)
        return [own.bitflag_filter_item if fits(row.name) else 0 for row in data.listed], []


def draw_ticks(layout: bpy.types.UILayout, choice: Any, kind: str, count: str, rows: int = 10) -> None:
    """Draw the filter, the buttons, the list of class ``kind``, and the number of selected rows, also of hidden ones.

    ``count``: text with two ``{}``, for the numbers of selected and of all rows.
    """
    row = layout.row(align=True)
    row.prop(choice, "name_filter", text="", icon="VIEWZOOM")
    row.prop(choice, "regular", text="", icon="SORTBYEXT")
    for identifier, *_ in TICKS:
        row.prop_enum(choice, "tick", identifier)
    layout.template_list(kind, "", choice, "listed", choice, "active_listed", rows=rows, maxrows=rows)
    chosen = len(chosen_rows(choice))
    layout.label(text=count.format(chosen, len(choice.listed)), translate=False)
    hidden = sum(row.ticked for row in choice.listed) - chosen
    if hidden:
        text = iface_("Ticked, but hidden by the filter and not imported: {}").format(hidden)
        layout.label(text=text, icon="INFO", translate=False)
