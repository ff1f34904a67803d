"""How panels and dialogs are laid out: properties and results of checks, lists with check boxes, and their filter.

A filter is a part of a name, wildcards, or a regular expression.
"""

import fnmatch
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..blender.typed import Context
from .bases import MixedIn

if TYPE_CHECKING:
    from ..games.xray.motions.skl_pose import Shown


STATUS_ICONS = {"UNTOUCHED": "BLANK1", "EDITED": "GREASEPENCIL", "NEW": "ADD", "UNKNOWN": "QUESTION"}
"""Whether what is listed is as in its file."""
SIDEBAR = 34
"""Letters that fit into one line of the sidebar as wide as Blender opens it."""


def fields(layout: bpy.types.UILayout) -> Any:
    """The same layout; properties have their names on the left, and no buttons that would animate them."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_tolerances(layout: bpy.types.UILayout, operator: "Shown") -> None:
    """How closely curves are fitted, in place and rotation, as a pair."""
    column = layout.column(align=True)
    column.prop(operator, "millimetres")
    column.prop(operator, "degrees")


def paragraph(layout: Any, text: str, letters: int, icon: str = "NONE") -> None:
    """Labels for a text, which Blender does not break by itself; the icon is at the first."""
    for number, line in enumerate(textwrap.wrap(text, letters)):
        layout.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon, translate=False)


# Lists ----------------------------------------------------------------------------------------------------------------


def name_filter(pattern: str, regular: bool) -> Callable[[str], bool]:
    """A test for names, without case: ``pattern`` may be a part of the name, have ``*`` and ``?``, or be ``regular``.

    A regular expression that is not complete yet, as while it is typed, fits what contains it.
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


class Listing(NamedTuple):
    """A list of actions in a panel: the class that draws it, the property of armatures with the index of the row that
    plays, and what it shows of an armature (`listed_actions.Rows`).
    """

    drawn_by: str
    row: str
    rows: Callable[[Any], Any]


TICKS = (
    ("ALL", "All", "Select all listed items", 1),
    ("NONE", "None", "Deselect all listed items", 2),
    ("INVERT", "Invert", "Invert the selection of the listed items", 3),
)


def tick(choice: Any, value: int) -> None:
    """Set the ticks of the rows of ``choice.listed`` that its filter lets through, as `TICKS` says."""
    fits = name_filter(choice.name_filter, choice.regular)
    for row in choice.listed:
        if fits(row.name):
            row.ticked = {1: True, 2: False}.get(value, not row.ticked)


class TickedChoice(MixedIn):
    """Mixed into operators with a list: ``listed`` and ``name_filter`` are their own, the rest is the same in each."""

    active_listed: IntProperty(options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"})
    regular: BoolProperty(
        name="Regular Expression",
        description="The filter is a regular expression",
        options={"SKIP_SAVE", "SKIP_PRESET"},
    )
    tick: EnumProperty(name="Tick", items=TICKS, get=lambda _: 0, set=tick, options={"SKIP_SAVE", "HIDDEN"})

    def check(self, _context: Context) -> bool:
        """Every change is shown at once."""
        return True


class TickedRows:
    """Mixed into lists of rows with ``name``, ``file`` and ``ticked``; ``data`` is the operator that holds them."""

    def size(self, item: Any) -> str:
        """What is at the end of a row."""
        raise NotImplementedError

    def draw_item(
        self,
        _context: Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        _icon: int,
        _active: Any,
        _property: str,
    ) -> None:
        """Tick, name, file where there are several, size."""
        row = layout.row(align=True)
        row.prop(item, "ticked", text="")
        row.label(text=item.name, translate=False)
        right = row.row()
        right.alignment = "RIGHT"
        right.active = False
        if data.listed[0].file != data.listed[-1].file:
            right.label(text=Path(item.file).name, translate=False)
        right.label(text=self.size(item), translate=False)

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """The filter is above the list, where its buttons are."""

    def filter_items(self, _context: Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Hide what the filter does not fit."""
        fits, own = name_filter(data.name_filter, data.regular), cast("Any", self)
        return [own.bitflag_filter_item if fits(row.name) else 0 for row in data.listed], []


def draw_ticks(layout: bpy.types.UILayout, choice: Any, kind: str, count: str) -> None:
    """Filter, buttons, the list of this class, and how many are ticked (``count`` has places for both numbers)."""
    row = layout.row(align=True)
    row.prop(choice, "name_filter", text="", icon="VIEWZOOM")
    row.prop(choice, "regular", text="", icon="SORTBYEXT")
    for identifier, *_ in TICKS:
        row.prop_enum(choice, "tick", identifier)
    layout.template_list(kind, "", choice, "listed", choice, "active_listed", rows=10, maxrows=10)
    ticked = sum(row.ticked for row in choice.listed)
    layout.label(text=count.format(ticked, len(choice.listed)), translate=False)
