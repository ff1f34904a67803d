"""The list of motions of every game: search, badges, the row that plays, buttons; `layouts.Listing` has what differs.

The search is above the list, where it is always in view. Blender stores the search of a list in its region, which
nothing outside the list can draw, so this one is on the window manager, the same for all lists of motions.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, IntProperty, PointerProperty, StringProperty

from ..blender.properties import AddedProperties
from ..blender.typed import Context, Object
from . import listed_actions, playing
from .bases import iface_
from .layouts import STATUS_ICONS, DrawnRows, Listing, name_filter
from .searched_lists import note_search
from .target import active_rig

if TYPE_CHECKING:
    from .listed_actions import Row


class MotionSearch(bpy.types.PropertyGroup):
    """Which motions the lists show, and in which order."""

    pattern: StringProperty(
        name="Search",
        description="Show motions whose names contain this text; * and ? match any letters",
        options={"TEXTEDIT_UPDATE"},
    )
    regular: BoolProperty(name="Regular Expression", description="The search is a regular expression")
    edited: BoolProperty(name="Edited Only", description="Show new and edited motions only")
    by_name: BoolProperty(name="Sort by Name", description="Sort the list by name; the order in the file stays")


ADDED = AddedProperties(
    (MotionSearch,), {(bpy.types.WindowManager, "motionbridge_search"): PointerProperty(type=MotionSearch)}
)


def search_in(context: Context) -> Any:
    """Return the `MotionSearch`."""
    return context.window_manager.motionbridge_search


class ActionRows(DrawnRows):
    """Mixin for `UIList` classes of motions, listed before `BlenderList`."""

    listing: Listing

    def draw_row(self, layout: Any, _item: Any, rig: Any, index: int) -> None:
        """Draw the name, which a double-click changes, the number of frames and the status."""
        action = listed_actions.action_at(self.listing, rig, index)
        if action is None:
            return
        status = self.listing.status(action) if self.listing.status is not None else ""
        row = layout.split(factor=0.75, align=True)
        row.prop(*self.listing.named(action), text="", emboss=False)
        right = row.row(align=True)
        right.alignment = "RIGHT"
        self.draw_facts(right, action)
        first, last = self.listing.frames(action, rig)
        frames = right.row()
        frames.active = False
        frames.label(text=str(last - first + 1), translate=False)
        if status == "UNKNOWN" and self.listing.compare:
            button = right.operator(self.listing.compare, text="", icon=STATUS_ICONS[status], emboss=False)
            if "action" in button.bl_rna.properties:
                button.action = action.name
        elif status:
            right.label(icon=STATUS_ICONS[status])

    def draw_facts(self, layout: Any, action: Any) -> None:
        """Draw what else a row shows. Overridden where that is something."""

    def draw_filter(self, context: Context, layout: Any) -> None:
        """Draw the rest of the search, which is folded below the list."""
        search = search_in(context)
        row = layout.row(align=True)
        row.prop(search, "by_name", icon="SORTALPHA", toggle=True)
        row.prop(search, "regular", icon="SORTBYEXT", toggle=True)

    def filter_items(self, context: Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Return the motions of the active armature that match the search, in the order of the file or by name."""
        rig, drawn_by, search = active_rig(context), self.listing.drawn_by, search_in(context)
        if rig is None:
            return [0] * len(data.actions), []
        pattern, regular = search.pattern, search.regular
        edited = search.edited and self.listing.status is not None
        named = name_filter(pattern, regular)
        rows = listed_actions.rows_now(self.listing, rig)

        def fits(row: "Row") -> bool:
            return named(row.name) and (row.edited or not edited)

        note_search(context, drawn_by, fits)
        asked = rig.session_uid, drawn_by, pattern, regular, edited
        flags = listed_actions.flags_of(rows, fits, asked, self)
        return flags, rows.by_name() if search.by_name else []


# Panel ----------------------------------------------------------------------------------------------------------------

LIST_ROWS = 8
"""Rows of a list, as high as the buttons beside it."""


def edited_text(listing: Listing, rig: Object, deleted: int = 0) -> str:
    """Return how many motions of a list differ from their files and how many were ``deleted``; "" for none."""
    edited = sum(row.edited for row in listing.rows(rig).listed)
    texts = [iface_("{} edited").format(edited)] * bool(edited) + [iface_("{} deleted").format(deleted)] * bool(deleted)
    return ", ".join(texts)


def draw_file(layout: Any, name: str, edited: str, save: str, menu: str) -> None:
    """Draw the name of a file, the button that saves it back, and the menu of everything else.

    ``edited``: `edited_text`. ``save``: operator. ``menu``: name of the class.
    """
    column = layout.column(align=True)
    row = column.row()
    row.label(text=name, icon="FILE", translate=False)
    if edited:
        count = row.row()
        count.alignment = "RIGHT"
        count.label(text=edited, translate=False)
    row = column.row(align=True)
    row.scale_y = 1.3
    row.operator(save, icon="FILE_TICK")
    row.menu(menu, text="", icon="DOWNARROW_HLT")


def draw_list(layout: Any, context: Context, listing: Listing, rig: Object, *, can_move: bool = True) -> None:
    """Draw the search, the list with its buttons, and the switches of playing."""
    search = search_in(context)
    row = layout.row(align=True)
    row.prop(search, "pattern", text="", icon="VIEWZOOM")
    if listing.status is not None:
        row.prop(search, "edited", icon="GREASEPENCIL", toggle=True)
    row = layout.row()
    listed_actions.draw(row, listing, rig, rows=LIST_ROWS, maxrows=2 * LIST_ROWS)
    column = row.column(align=True)
    column.operator("motionbridge.new_motion", text="", icon="ADD").listing = listing.drawn_by
    of_playing = column.column(align=True)
    of_playing.enabled = listed_actions.row_drawn(listing, rig) >= 0
    of_playing.operator("motionbridge.duplicate_motion", text="", icon="DUPLICATE")
    of_playing.operator("motionbridge.delete_motion", text="", icon="REMOVE")
    if can_move:
        of_playing.separator()
        of_playing.operator("motionbridge.move_motion", text="", icon="TRIA_UP").direction = "UP"
        of_playing.operator("motionbridge.move_motion", text="", icon="TRIA_DOWN").direction = "DOWN"
    column.separator()
    column.menu(listing.menu, text="", icon="DOWNARROW_HLT")
    playing.draw_switches(layout, context)


class ListMenu:
    """Mixin for the menus below the buttons of a list: what can be done with its motions."""

    bl_label = "Motion"
    listing: Listing
    if TYPE_CHECKING:
        layout: Any

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator("motionbridge.add_motion", icon="ACTION").listing = self.listing.drawn_by
        layout.operator("motionbridge.choose_retarget_file", icon="ARMATURE_DATA")
        rig = active_rig(context)
        of_playing = layout.column()
        of_playing.enabled = rig is not None and listed_actions.row_playing(self.listing, rig) >= 0
        self.draw_motion(of_playing)
        of_playing.operator("motionbridge.mirror_motion", icon="MOD_MIRROR")
        of_playing.operator("motionbridge.spread_pose", icon="IPO_EASE_IN_OUT")
        layout.separator()
        layout.operator("motionbridge.delete_listed_motions", icon="TRASH").listing = self.listing.drawn_by

    def draw_motion(self, layout: Any) -> None:
        """Draw what else can be done with the motion that plays. Overridden where that is something."""


# The row that plays ---------------------------------------------------------------------------------------------------

OBJECT: Any = bpy.types.Object


def number_property(get: Callable[[Any], int], play: Callable[[Any, int], None]) -> Any:
    """Return a property of armature objects with an index that plays a motion when it is set."""
    description = "Click a motion to play it on the armature; double-click its name to rename it"
    return IntProperty(name="Playing Motion", description=description, get=get, set=play, options={"HIDDEN"})


LISTINGS: list[Listing] = []
"""The lists of motions."""


def add_list(listing: Listing) -> None:
    """Add a list, and the property with its active row."""

    def get(rig: Object) -> int:
        # Without windows nothing is drawn, and scripts read the property.
        return (listed_actions.row_playing if bpy.app.background else listed_actions.row_drawn)(listing, rig)

    def play(rig: Object, index: int) -> None:
        action = listed_actions.action_at(listing, rig, index)
        if action is not None:
            listing.play(rig, action)

    setattr(OBJECT, listing.row, number_property(get, play))
    LISTINGS.append(listing)


def remove_list(listing: Listing) -> None:
    """Remove a list and its property."""
    delattr(OBJECT, listing.row)
    LISTINGS.remove(listing)


def register() -> None:
    """Add the search."""
    ADDED.register()


def unregister() -> None:
    """Remove the search."""
    ADDED.unregister()
