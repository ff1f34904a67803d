"""The list of motions of every game: search, badges, the row that plays; `layouts.Listing` has what differs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..blender import properties
from ..blender.typed import Context, Object
from . import listed_actions
from .bases import iface_
from .layouts import EDITED, STATUS_ICONS, DrawnRows, Listing, name_filter
from .searched_lists import note_search
from .target import active_rig

if TYPE_CHECKING:
    from .listed_actions import Row


class ActionRows(DrawnRows):
    """Mixin for `UIList` classes of motions, listed before `BlenderList`."""

    listing: Listing
    pattern: StringProperty(
        name="Filter",
        description="Show motions whose names contain this text; * and ? match any letters",
        options={"TEXTEDIT_UPDATE"},
    )
    regular: BoolProperty(name="Regular Expression", description="The filter is a regular expression")
    edited: BoolProperty(name="Edited Only", description="Show new and edited motions only")
    by_name: BoolProperty(name="Sort by Name", description="Sort the list by name; the order in the file stays")

    @staticmethod
    def draw_name(row: Any, action: Any) -> None:
        """Draw the name of a motion."""
        row.label(text=action.motionbridge_motion.motion_name or action.name, translate=False)

    def draw_row(self, layout: Any, _item: Any, rig: Any, index: int) -> None:
        action = listed_actions.action_at(self.listing, rig, index)
        if action is None:
            return
        row = layout.row(align=True)
        self.draw_name(row, action)
        if self.listing.status is None:
            return
        status, badge = self.listing.status(action), row.row()
        badge.alignment = "RIGHT"
        if status in EDITED:
            badge.label(text=iface_(next(name for key, name, *_ in properties.STATUS_ITEMS if key == status)))
        badge.label(icon=STATUS_ICONS[status])

    def draw_filter(self, _context: Context, layout: Any) -> None:
        row = layout.row(align=True)
        row.prop(self, "pattern", text="", icon="VIEWZOOM")
        row.prop(self, "regular", text="", icon="SORTBYEXT")
        if self.listing.status is not None:
            row.prop(self, "edited", text="", icon="GREASEPENCIL")
        row.prop(self, "by_name", text="", icon="SORTALPHA")

    def filter_items(self, context: Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Return the motions of the active armature that match the filters, in the order of the file or by name."""
        rig, drawn_by = active_rig(context), self.listing.drawn_by
        if rig is None:
            return [0] * len(data.actions), []
        named, edited = name_filter(self.pattern, self.regular), self.edited
        rows = listed_actions.rows_now(self.listing, rig)

        def fits(row: "Row") -> bool:
            return named(row.name) and (row.edited or not edited)

        note_search(context, drawn_by, fits)
        asked = rig.session_uid, drawn_by, self.pattern, self.regular, edited
        flags = listed_actions.flags_of(rows, fits, asked, self)
        return flags, rows.by_name() if self.by_name else []


OBJECT: Any = bpy.types.Object


def number_property(get: Callable[[Any], int], play: Callable[[Any, int], None]) -> Any:
    """Return a property of armature objects with an index that plays a motion when it is set."""
    description = "Click a motion to play it on the armature"
    return IntProperty(name="Playing Motion", description=description, get=get, set=play, options={"HIDDEN"})


def add_row(listing: Listing) -> None:
    """Add the property with the active row of a list."""

    def get(rig: Object) -> int:
        # Without windows nothing is drawn, and scripts read the property.
        return (listed_actions.row_playing if bpy.app.background else listed_actions.row_drawn)(listing, rig)

    def play(rig: Object, index: int) -> None:
        action = listed_actions.action_at(listing, rig, index)
        if action is not None:
            listing.play(rig, action)

    setattr(OBJECT, listing.row, number_property(get, play))
