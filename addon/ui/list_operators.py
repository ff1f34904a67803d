"""The buttons beside the lists of motions (`motion_lists`): new, duplicate, add, delete; the same for every game.

What they do with an action differs: each `Listing` has its `ListEdits`. A button acts on the list that it is beside.
"""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import action as actions
from ..blender import bone_curves, compat, nla
from ..blender.action_lists import label_of
from ..blender.typed import Action, Context, Object
from ..core.errors import WriteError
from ..core.report import Report, say
from .bases import BlenderOperator, MixedIn, classes_of, iface_, rpt_
from .layouts import Listing
from .motion_lists import LISTINGS
from .operation import Need, Operation, Outcome
from .searched_lists import row_after_removal, search_of, shows
from .target import RIG, OnAction, active_action, active_rig, on_rig


def listing_of(rig: Object, action: Action | None) -> tuple[Listing, Any] | None:
    """Return the list that an action of an armature is in, and the file there that lists it; None if it is in none."""
    for listing in LISTINGS if action is not None else ():
        file = listing.edits.file_of(rig, action)
        if file is not None:
            return listing, file
    return None


def listing_for_new(rig: Object, name: str = "") -> Listing | None:
    """Return the list that a new motion of an armature is added to: the one drawn by ``name``, else that of the motion
    in play, else the first that has a file.
    """
    if name:
        return next((listing for listing in LISTINGS if listing.drawn_by == name), None)
    known = listing_of(rig, nla.playing(rig).action)
    if known is not None:
        return known[0]
    return next((listing for listing in LISTINGS if listing.edits.active(rig) is not None), None)


def is_listed(context: Context) -> bool:
    """Return whether the list of the motion that plays shows it, if it is in one."""
    rig, action = active_rig(context), active_action(context)
    known = listing_of(rig, action)
    fits = search_of(context, known[0].drawn_by) if known is not None else None
    if known is None or fits is None:
        return True
    listing, file = known
    return file == listing.edits.active(rig) and fits(listing.edits.row_of(action))


class OnListed(OnAction):
    """Mixin for operators on the motion that is active in its list, which has to show it."""

    needs = (*OnAction.needs, shows(is_listed))

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The action, and the armature with its list."""
        return self.chosen(context)

    def chosen_of_list(self, context: Context) -> tuple[Any, Any, Listing, Any]:
        """Return the armature, the action, its list and the file that lists it. Raises `WriteError` if none does."""
        rig, action = self.chosen(context)
        known = listing_of(rig, action)
        if known is None:
            raise WriteError(
                say("the action {!r} is not in a motion file of {!r}", action.name, rig.name),
                remedy="Add it to a file first",
            )
        return rig, action, *known


class InList(MixedIn):
    """Mixin for operators on a whole list of motions, listed before `Operation`."""

    listing: StringProperty(
        name="List",
        description="Class that draws the list; empty for the list of the motion that plays",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature, which stores the list."""
        return (active_rig(context),)

    def chosen_list(self, context: Context) -> tuple[Any, Listing, Any]:
        """Return the armature, the list, and the file that new motions are added to. Raises `WriteError`."""
        rig = active_rig(context)
        listing = listing_for_new(rig, self.listing)
        file = listing.edits.active(rig) if listing is not None else None
        if listing is None or file is None:
            raise WriteError(say("{!r} has no motion file", rig.name), remedy="Export to a new file instead")
        return rig, listing, file


HAS_LIST = Need("The active armature has no imported motions", on_rig(listing_for_new))


class MOTIONBRIDGE_OT_new_motion(InList, Operation, BlenderOperator):
    """Create a motion from the pose that the armature shows, on one frame; keys make it longer"""

    bl_idname = "motionbridge.new_motion"
    bl_label = "New Motion"
    needs = (RIG, HAS_LIST)

    name: StringProperty(name="Name", description="Name of the motion in the game", default="new")

    def run(self, context: Context, report: Report) -> Outcome:
        """Create the action, add it to the list and play it."""
        rig, listing, file = self.chosen_list(context)
        added = listing.edits.new(rig, file, self.name)
        return _added(rig, listing, file, added, report)


class MOTIONBRIDGE_OT_duplicate_motion(OnListed, BlenderOperator):
    """Add a copy of the motion to its list and play the copy; it is written on the next save"""

    bl_idname = "motionbridge.duplicate_motion"
    bl_label = "Duplicate Motion"

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature with its list."""
        return (self.chosen(context)[0],)

    def run(self, context: Context, report: Report) -> Outcome:
        rig, action, listing, file = self.chosen_of_list(context)
        refuse_without_keys(rig, action)
        return _added(rig, listing, file, listing.edits.copy(file, action), report)


class MOTIONBRIDGE_OT_add_motion(InList, OnAction, BlenderOperator):
    """Add an action to the list as a new motion of its file; it is written on the next save"""

    bl_idname = "motionbridge.add_motion"
    bl_label = "Add Action to File"
    needs = (RIG, HAS_LIST)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The action, and the armature with the list."""
        return self.chosen(context)

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Ask which action, unless a button names it."""
        if self.action:
            return self.execute(context)
        rig, action = active_rig(context), active_action(context)
        if action is not None and listing_of(rig, action) is None:
            self.action = action.name
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Add"))

    def draw(self, _context: Context) -> None:
        self.layout.prop_search(self, "action", bpy.data, "actions")

    def run(self, context: Context, report: Report) -> Outcome:
        """Append the action to the list."""
        action = self.chosen(context)[1]
        rig, listing, file = self.chosen_list(context)
        if listing.edits.is_stored(file, action):
            return Outcome(rpt_("{} is already in the file").format(label_of(action)), done=False)
        refuse_without_keys(rig, action)
        added = listing.edits.add(file, action)
        if added != action:
            report.note(
                "another armature's file has the action; a copy of it was added", f"{action.name} > {added.name}"
            )
        return _added(rig, listing, file, added, report, play=False)


def refuse_without_keys(rig: Object, action: Action) -> None:
    """Raise `WriteError` if an action has no keys for any bone of ``rig``: it would be written as the rest pose."""
    if not any(bone_curves.bone_of(curve.data_path) in rig.data.bones for curve in compat.curves_of(action, rig)):
        raise WriteError(
            say("the action {!r} has no keys for any bone of {!r}", action.name, rig.name),
            remedy="Choose an action that moves its bones",
        )


def _added(rig: Object, listing: Listing, file: Any, action: Action, report: Report, *, play: bool = True) -> Outcome:
    if limit := listing.edits.limit(file):
        report.warn(limit, file.name)
    if play:
        listing.play(rig, action)
    return Outcome(rpt_("Added {} to {}").format(listing.edits.row_of(action).name, file.name))


class MOTIONBRIDGE_OT_delete_motion(OnListed, BlenderOperator):
    """Delete the motion with its action; a file of many motions loses it on the next save, a file of its own stays"""

    bl_idname = "motionbridge.delete_motion"
    bl_label = "Delete Motion"

    def run(self, context: Context, report: Report) -> Outcome:
        """Delete the action and play the next one that the list shows."""
        rig, action, listing, file = self.chosen_of_list(context)
        edits, name, was_playing = listing.edits, listing.edits.row_of(action).name, active_action(context) == action
        listed = edits.members(file)
        following = row_after_removal(context, listing.drawn_by, list(map(edits.row_of, listed)), listed.index(action))
        others = [other for other in listed if other != action]
        edits.delete(file, action)
        if was_playing and others:
            actions.play(context, rig, others[following])
        return Outcome(edits.deleted_text(several=False).format(name, file.name))


class MOTIONBRIDGE_OT_delete_listed_motions(InList, Operation, BlenderOperator):
    """Delete all motions that the list shows, after a question; a file of many motions loses them on the next save"""

    bl_idname = "motionbridge.delete_listed_motions"
    bl_label = "Delete Listed Motions"
    needs = (RIG, HAS_LIST)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature with its list, and the actions."""
        return (active_rig(context), *self._listed(context)[1])

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Ask once for all of them."""
        listing, listed = self._listed(context)
        edited = sum(listing.status is not None and listing.edits.row_of(action).edited for action in listed)
        text = iface_("Motions that the list shows: {}, edited: {}").format(len(listed), edited)
        return context.window_manager.invoke_confirm(self, event, message=text, confirm_text=iface_("Delete"))

    def _listed(self, context: Context) -> tuple[Listing, list[Action]]:
        rig, listing, _ = self.chosen_list(context)
        fits, rows = search_of(context, listing.drawn_by), listing.rows(rig).listed
        return listing, [bpy.data.actions[row.number] for row in rows if fits is None or fits(row)]

    def run(self, context: Context, report: Report) -> Outcome:
        """Delete the actions; if the one that plays is among them, play the first that is left."""
        rig, (listing, deleted) = active_rig(context), self._listed(context)
        was_playing, files = active_action(context) in deleted, dict[str, None]()
        for action in deleted:
            file = listing.edits.file_of(rig, action)
            files[file.name] = None
            listing.edits.delete(file, action)
        left = listing.rows(rig).listed
        if was_playing and left:
            actions.play(context, rig, bpy.data.actions[left[0].number])
        text = listing.edits.deleted_text(several=True).format(len(deleted), ", ".join(files))
        return Outcome(text, done=bool(deleted))


CLASSES = classes_of(__name__)
