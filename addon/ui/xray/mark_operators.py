"""Buttons of the marks: rows of intervals in seconds, shown as pose markers on the nearest frames."""

from collections.abc import Callable
from typing import Any

from bpy.props import FloatProperty, IntProperty, StringProperty

from ...core import model as core_model
from ...core import names
from ...core.errors import WriteError
from ...core.report import Report
from ...formats.xray import omf
from ...games.xray.motions import marks
from ..bases import BlenderOperator
from ..operation import Outcome
from ..wording import said
from .motion_operators import OnMotion


class OnMarks(OnMotion):
    """Mixed into operators that change the marks of a motion."""

    def changed(self, context: Any, change: "Callable[[Any, list[core_model.Marker]], str]") -> Outcome:
        """Let ``change`` work on the marks as they stand, moved markers included, and show what came of it."""
        _, action = self.chosen(context)
        markers = marks.gather(action)
        sentence = change(action, markers)
        marks.store(action, markers)
        motion = action.motionbridge_motion
        motion.is_motion = True
        motion.active_mark = min(max(motion.active_mark, 0), max(len(markers) - 1, 0))
        return Outcome(sentence)

    def changed_mark(
        self, context: Any, change: "Callable[[Any, core_model.Marker], core_model.Marker | None]", sentence: str
    ) -> Outcome:
        """The same for the active mark: ``change`` says what it becomes, None where it goes.

        ``sentence`` has a place for its old name. Raises `WriteError`.
        """

        def replace(action: Any, markers: "list[core_model.Marker]") -> str:
            place = action.motionbridge_motion.active_mark
            if not 0 <= place < len(markers):
                raise WriteError("no such mark", remedy="Add a mark, or choose one in the list")
            old = markers[place]
            new = change(action, old)
            markers[place : place + 1] = [] if new is None else [new]
            return sentence.format(old.name)

        return self.changed(context, replace)


class MOTIONBRIDGE_OT_marks_add(OnMarks, BlenderOperator):
    """Add a mark: a named list of time intervals"""

    bl_idname = "motionbridge.marks_add"
    bl_label = "Add Mark"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="The mark's name in the game", default="mark")

    def run(self, context: Any, report: Report) -> Outcome:
        """Add it behind the others."""

        def add(action: Any, markers: "list[core_model.Marker]") -> str:
            name = names.distinct(self.name, {marker.name for marker in markers})
            markers.append(core_model.Marker(name))
            action.motionbridge_motion.active_mark = len(markers) - 1
            return said("Added the mark {}").format(name)

        return self.changed(context, add)


class MOTIONBRIDGE_OT_marks_rename(OnMarks, BlenderOperator):
    """Rename the active mark"""

    bl_idname = "motionbridge.marks_rename"
    bl_label = "Rename Mark"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="The mark's name in the game", options={"SKIP_SAVE"})

    def invoke(self, context: Any, _event: Any) -> Any:
        """Ask for the name."""
        motion = active_motion(self, context)
        if motion is not None and 0 <= motion.active_mark < len(motion.marks):
            self.name = motion.marks[motion.active_mark].name
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: Any, report: Report) -> Outcome:
        """Rename."""

        def rename(_action: Any, mark: "core_model.Marker") -> "core_model.Marker":
            if not self.name:
                raise WriteError("a mark needs a name", remedy="Type one")
            return core_model.Marker(self.name, mark.intervals)

        return self.changed_mark(context, rename, said("Renamed {}"))


class MOTIONBRIDGE_OT_marks_remove(OnMarks, BlenderOperator):
    """Remove the active mark with its intervals"""

    bl_idname = "motionbridge.marks_remove"
    bl_label = "Remove Mark"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Any, report: Report) -> Outcome:
        """Remove it."""
        return self.changed_mark(context, lambda _action, _mark: None, said("Removed the mark {}"))


class MOTIONBRIDGE_OT_marks_add_interval(OnMarks, BlenderOperator):
    """Add a one-frame interval to the active mark at the current frame"""

    bl_idname = "motionbridge.marks_add_interval"
    bl_label = "Add Interval"
    bl_options = {"REGISTER", "UNDO"}

    start: FloatProperty(
        name="Start", description="Time in seconds; below 0 for the current frame", default=-1.0, options={"SKIP_SAVE"}
    )
    end: FloatProperty(
        name="End",
        description="Time in seconds; below 0 for one frame after the start",
        default=-1.0,
        options={"SKIP_SAVE"},
    )

    def run(self, context: Any, report: Report) -> Outcome:
        """Add it behind the others."""

        def add(action: Any, mark: "core_model.Marker") -> "core_model.Marker":
            frame = context.scene.frame_current_final
            now = max(marks.seconds_at(action, frame), 0.0)
            start = self.start if self.start >= 0 else now
            end = self.end if self.end >= 0 else start + 1 / omf.FRAMES_PER_SECOND
            if end < start:
                raise WriteError("an interval cannot end before it starts", remedy="Choose a later end")
            return mark.with_interval(start, end)

        return self.changed_mark(context, add, said("Added an interval to {}"))


class MOTIONBRIDGE_OT_marks_remove_interval(OnMarks, BlenderOperator):
    """Remove this interval"""

    bl_idname = "motionbridge.marks_remove_interval"
    bl_label = "Remove Interval"
    bl_options = {"REGISTER", "UNDO"}

    interval: IntProperty(name="Interval", description="Index of the interval in the active mark", default=-1)

    def run(self, context: Any, report: Report) -> Outcome:
        """Remove it."""

        def remove(_action: Any, mark: "core_model.Marker") -> "core_model.Marker":
            number = self.interval if self.interval >= 0 else len(mark.intervals) - 1
            if not 0 <= number < len(mark.intervals):
                raise WriteError("there is no such interval", remedy="Choose one of the list")
            return mark.without_interval(number)

        return self.changed_mark(context, remove, said("Removed an interval of {}"))


class MOTIONBRIDGE_OT_marks_from_markers(OnMarks, BlenderOperator):
    """Update the mark times from moved pose markers; saving does this too"""

    bl_idname = "motionbridge.marks_from_markers"
    bl_label = "Update from Markers"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Any, report: Report) -> Outcome:
        """Take them."""
        return self.changed(context, lambda _action, _markers: said("The marks already match their markers"))


def active_motion(operator: OnMotion, context: Any) -> Any:
    """The properties of the motion that an operator means, or None."""
    if not operator.action and not type(operator).poll(context):
        return None
    return operator.chosen(context)[1].motionbridge_motion


CLASSES = (
    MOTIONBRIDGE_OT_marks_add,
    MOTIONBRIDGE_OT_marks_rename,
    MOTIONBRIDGE_OT_marks_remove,
    MOTIONBRIDGE_OT_marks_add_interval,
    MOTIONBRIDGE_OT_marks_remove_interval,
    MOTIONBRIDGE_OT_marks_from_markers,
)
