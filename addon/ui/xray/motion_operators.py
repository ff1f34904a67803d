"""Operators of the list of motions: restore, move, delete, add, compare, rename, marks, referenced motions."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...blender import action_lists, scope
from ...blender.typed import Action, Context, Object
from ...core import model as core_model
from ...core import names
from ...core.errors import ReadError, WriteError
from ...core.report import Report, say
from ...formats.xray import omf
from ...games.xray.models.properties import remembered
from ...games.xray.motions import library, list_edits, omf_codec, skl_codec
from ...games.xray.motions import properties as motion_properties
from ...games.xray.motions import timing as motion_timing
from ...games.xray.options import MotionImportOptions
from .. import listed_actions, playing
from ..bases import CALL, BlenderOperator, classes_of, rpt_
from ..layouts import ListEdits, Listing
from ..list_operators import OnListed
from ..operation import Need, Operation, Outcome, StartsAtOnce, call_operator, stores_nothing
from ..searched_lists import PanelList, search_of
from ..target import RIG, OnAction, active_action, active_rig, on_rig, rig_to_export
from . import motion_choices
from .target import active_file, file_of_playing_motion

if TYPE_CHECKING:
    from ...games.xray.motions.library import AnyCodec
    from ..listed_actions import Row, Rows


def _motion_rows(rig: Object) -> "Rows":
    file = active_file(rig)
    return listed_actions.rows_of(rig, [file] if file is not None else [], motion_properties.LISTS, library.motions_of)


def _editor_motion_rows(rig: Object) -> "Rows":
    files = list(rig.motionbridge_skeletal_files)
    return listed_actions.rows_of(rig, files, motion_properties.SKL_LISTS, library.motions_of)


def play(rig: Any, action: Any) -> None:
    """Let an armature play a motion, and go to its frames."""
    library.adopt_copies(omf_codec.OMF, rig)
    library.adopt_copies(skl_codec.SKL, rig)
    context: Any = bpy.context
    library.play(context, rig, action)
    playing.start(context, motion_timing.drawn_ends(action, rig))


def _named(action: Any) -> tuple[Any, str]:
    motion = action.motionbridge_motion
    return (motion, "motion_name") if motion.motion_name else (action, "name")


def _status(action: Any) -> str:
    return str(action.motionbridge_motion.status)


def _frames(action: Any, rig: Any) -> tuple[int, int]:  # loads the module when it is asked
    return motion_timing.drawn_ends(action, rig)


class MotionEdits(ListEdits):
    """The buttons beside a list of motions of X-Ray; subclasses tell the kind of file."""

    @abstractmethod
    def codec(self) -> "AnyCodec":
        """Return the kind of file."""

    def file_of(self, rig: Any, action: Any) -> Any:
        return action_lists.file_of(rig, action, self.codec().lists)

    def is_stored(self, file: Any, action: Any) -> bool:
        return action in action_lists.listed(file)

    def members(self, file: Any) -> list[Any]:
        return library.motions_of(file)

    def row_of(self, action: Any) -> "Row":
        return listed_actions.row_of(action)

    def new(self, rig: Any, file: Any, name: str) -> Any:
        return list_edits.new(self.codec(), rig, file, name)

    def copy(self, file: Any, action: Any) -> Any:
        return library.add(self.codec(), file, action.copy())

    def add(self, file: Any, action: Any) -> Any:
        return library.add(self.codec(), file, action)

    def delete(self, file: Any, action: Any) -> None:
        list_edits.delete(file, action)

    def deleted_text(self, *, several: bool) -> str:
        if several:
            return rpt_("Deleted motions: {}; they are removed from {} on the next save")
        return rpt_("Deleted {}; it is removed from {} on the next save")


class GameMotions(MotionEdits):
    """The motions of the game's files."""

    def codec(self) -> "AnyCodec":
        return omf_codec.OMF

    def active(self, rig: Any) -> Any:
        return active_file(rig)

    def copy(self, file: Any, action: Any) -> Any:
        copy, listed = super().copy(file, action), library.motions_of(file)
        list_edits.move(file, copy, listed.index(action) + 1 - listed.index(copy))
        return copy


class EditorMotions(MotionEdits):
    """The motions of the editor's files."""

    def codec(self) -> "AnyCodec":
        return skl_codec.SKL

    def active(self, rig: Any) -> Any:
        return file_of_playing_motion(rig)

    def limit(self, file: Any) -> str:
        is_single = Path(file.path).suffix.lower() == ".skl"
        return "a .skl file stores one motion; export the new one to a file of its own" if is_single else ""


MOTIONS = Listing(
    "MOTIONBRIDGE_UL_motions",
    "motionbridge_motion_row",
    _motion_rows,
    play,
    _frames,
    GameMotions(),
    "MOTIONBRIDGE_MT_motion",
    _status,
    _named,
    "motionbridge.update_status",
)
"""List of the motions in an armature's active file."""
EDITOR_MOTIONS = Listing(
    "MOTIONBRIDGE_UL_editor_motions",
    "motionbridge_editor_motion_row",
    _editor_motion_rows,
    play,
    _frames,
    EditorMotions(),
    "MOTIONBRIDGE_MT_editor_motion",
    named=_named,
)
"""List of the editor motions in all files of an armature."""
MARKS = PanelList(
    "motionbridge_marks", lambda context: active_action(context).motionbridge_motion, "marks", "active_mark"
)


class OnMotionFile(Operation):
    """Mixin for operators on the active motion file."""

    needs = (RIG, Need("The active armature has no imported motions", on_rig(active_file)))
    edited = stores_nothing  # the status of motions need not be saved


class MOTIONBRIDGE_OT_revert_motion(OnListed, BlenderOperator):
    """Restore keys, marks and parameters from the file"""

    bl_idname = "motionbridge.revert_motion"
    bl_label = "Restore Motion"

    def run(self, context: Context, report: Report) -> Outcome:
        rig, action = self.chosen(context)
        omf_codec.revert(context, rig, action, report)
        return Outcome(rpt_("Restored {} from the file").format(listed_actions.row_of(action).name))


class MOTIONBRIDGE_OT_move_motion(OnListed, BlenderOperator):
    """Move the motion in the list; the order is written to the file on the next save"""

    bl_idname = "motionbridge.move_motion"
    bl_label = "Move Motion"

    direction: EnumProperty(
        name="Direction",
        items=(
            ("UP", "Up", "Move up by one of the listed motions"),
            ("DOWN", "Down", "Move down by one of the listed motions"),
            ("TOP", "Top", "Move to the start of the list"),
            ("BOTTOM", "Bottom", "Move to the end of the list"),
        ),
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The action, and the armature with its file."""
        return self.chosen(context)

    def run(self, context: Context, report: Report) -> Outcome:
        """Move the motion past the next one that the list shows, unless it is already at that end."""
        _, action, _, file = self.chosen_of_list(context)
        listed = library.motions_of(file)
        fits, index = search_of(context, MOTIONS.drawn_by), listed.index(action)
        visible = [
            number
            for number, other in enumerate(listed)
            if fits is None or other == action or fits(listed_actions.row_of(other))
        ]
        upwards = self.direction in {"UP", "TOP"}
        ahead = [number for number in visible if (number < index if upwards else number > index)]
        if not ahead:
            return Outcome(rpt_("{} cannot be moved further").format(listed_actions.row_of(action).name), done=False)
        list_edits.move(file, action, ahead[-1 if self.direction in {"UP", "BOTTOM"} else 0] - index)
        return Outcome(rpt_("Moved {}").format(listed_actions.row_of(action).name))


class MOTIONBRIDGE_OT_update_status(StartsAtOnce, OnMotionFile, BlenderOperator):
    """Compare every motion with its file; the badge ? means not compared yet, or only possible by sampling"""

    bl_idname = "motionbridge.update_status"
    bl_label = "Find Edited Motions"

    def run(self, context: Context, report: Report) -> Outcome:
        rig = rig_to_export(context, "")
        listed = library.motions_of(active_file(rig))
        if not listed:
            return Outcome(rpt_("The list is empty"), done=False)
        with scope.progress(context, len(listed)) as step:
            omf_codec.update_status(context, rig, listed, report, progress=step)
        states = [action.motionbridge_motion.status for action in listed]
        text = rpt_("Edited: {}, new: {}, unchanged: {}")
        return Outcome(text.format(*(states.count(state) for state in ("EDITED", "NEW", "UNTOUCHED"))))


def _references_of(rig: Object) -> Any:
    model = remembered(rig)
    return model.references if model is not None else ()


class MOTIONBRIDGE_OT_import_referenced_motions(Operation, BlenderOperator):
    """Import the motion files to which the model refers"""

    bl_idname = "motionbridge.import_referenced_motions"
    bl_label = "Import Referenced Motions"
    needs = (RIG, Need("The model of the active armature has no motion references", on_rig(_references_of)))

    reference: StringProperty(
        name="Reference",
        description="One of the model's references; empty for all whose files are not imported yet",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    every: BoolProperty(
        name="All Motions", description="Import all motions without showing the list", options={"SKIP_SAVE", "HIDDEN"}
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the list of motions in the files."""
        if bpy.app.background or self.every:
            self.invoked_by_user()
            return self.execute(context)

        def show(context: Context, _report: Report) -> None:
            first, *_ = paths = self._paths(rig_to_export(context, ""))
            call_operator(self, CALL.import_scene.xray_omf, filepath=first, files=[{"name": path} for path in paths])

        answer = self.answer(context, show)
        return {"CANCELLED"} if answer == {"RUNNING_MODAL"} else answer

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (active_rig(context),)

    def _paths(self, rig: Object) -> list[str]:
        motion_choices.forget()
        model = remembered(rig)
        names = [reference.name for reference in model.references]
        wanted = [name for name in names if not self.reference or name == self.reference]
        paths = list(dict.fromkeys(path for name in wanted for path in motion_choices.paths_of(rig, name)))
        if not paths:
            raise ReadError(
                say("no motion file was found for {}", ", ".join(wanted) or self.reference),
                file=Path(model.path).name,
                remedy="Add its game to the games of the preferences of Motionbridge, or put the file beside the model",
            )
        if self.reference:
            return paths
        missing = motion_choices.not_imported(rig, paths)
        if not missing:
            raise ReadError(
                "all motion files that the model refers to are imported",
                file=Path(model.path).name,
                remedy="Choose one reference to import its files again",
            )
        return missing

    def run(self, context: Context, report: Report) -> Outcome:
        rig = rig_to_export(context, "")
        paths = self._paths(rig)
        imported: list[Any] = []
        with scope.progress(context, len(paths)) as step:

            def import_one(path: str, report: Report) -> None:
                options = MotionImportOptions(assign_first=not imported)
                imported.extend(
                    library.import_motions(omf_codec.OMF, context, rig, path, options=options, report=report).actions
                )
                step(len(imported))

            count = self.each_file(paths, import_one, report)
        return Outcome(rpt_("Imported motions: {}, files: {}").format(len(imported), count))


class OnMarks(OnAction):
    """Mixin for operators that change the marks of a motion."""

    def changed(self, context: Context, change: "Callable[[Any, list[core_model.Marker]], str]") -> Outcome:
        """Call ``change`` with the action and its current marks, and store the marks that it changed.

        The times of the marks are those of their markers, which may have been moved. ``change`` returns the sentence
        for the report.
        """
        _, action = self.chosen(context)
        markers = motion_timing.gather_marks(action)
        sentence = change(action, markers)
        motion_timing.store_marks(action, markers)
        motion = action.motionbridge_motion
        motion.is_motion = True
        motion.active_mark = min(max(motion.active_mark, 0), max(len(markers) - 1, 0))
        return Outcome(sentence)

    def changed_mark(
        self, context: Context, change: "Callable[[Any, core_model.Marker], core_model.Marker | None]", sentence: str
    ) -> Outcome:
        """Like `changed`, for the active mark: ``change`` returns the new mark, None to remove it.

        ``sentence`` has one ``{}``, for the old name. Raises `WriteError` if there is no active mark.
        """

        def replace(action: Action, markers: "list[core_model.Marker]") -> str:
            index = action.motionbridge_motion.active_mark
            if not 0 <= index < len(markers):
                raise WriteError("no such mark", remedy="Add a mark, or choose one in the list")
            old = markers[index]
            new = change(action, old)
            if new is None:
                action.motionbridge_motion.active_mark = MARKS.after_removal(context, markers)
            markers[index : index + 1] = [] if new is None else [new]
            return sentence.format(old.name)

        return self.changed(context, replace)


class OnActiveMark(OnMarks):
    """Mixin for operators on the active mark, which the list has to show."""

    needs = (*OnMarks.needs, MARKS.shown)


class MOTIONBRIDGE_OT_marks_add(OnMarks, BlenderOperator):
    """Add a mark: a named list of time intervals"""

    bl_idname = "motionbridge.marks_add"
    bl_label = "Add Mark"

    name: StringProperty(name="Name", description="The mark's name in the game", default="mark")

    def run(self, context: Context, report: Report) -> Outcome:

        def add(action: Action, markers: "list[core_model.Marker]") -> str:
            name = names.distinct(self.name, {marker.name for marker in markers})
            markers.append(core_model.Marker(name))
            action.motionbridge_motion.active_mark = len(markers) - 1
            return rpt_("Added the mark {}").format(name)

        return self.changed(context, add)


class MOTIONBRIDGE_OT_marks_rename(OnActiveMark, BlenderOperator):
    """Rename the active mark"""

    bl_idname = "motionbridge.marks_rename"
    bl_label = "Rename Mark"

    name: StringProperty(name="Name", description="The mark's name in the game", options={"SKIP_SAVE"})

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        motion = active_motion(self, context)
        if motion is not None and 0 <= motion.active_mark < len(motion.marks):
            self.name = motion.marks[motion.active_mark].name
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: Context, report: Report) -> Outcome:

        def rename(_action: Action, mark: "core_model.Marker") -> "core_model.Marker":
            if not self.name:
                raise WriteError("a mark needs a name", remedy="Type one")
            return core_model.Marker(self.name, mark.intervals)

        return self.changed_mark(context, rename, rpt_("Renamed {}"))


class MOTIONBRIDGE_OT_marks_remove(OnActiveMark, BlenderOperator):
    """Remove the active mark with its intervals"""

    bl_idname = "motionbridge.marks_remove"
    bl_label = "Remove Mark"

    def run(self, context: Context, report: Report) -> Outcome:
        return self.changed_mark(context, lambda _action, _mark: None, rpt_("Removed the mark {}"))


class MOTIONBRIDGE_OT_marks_add_interval(OnActiveMark, BlenderOperator):
    """Add a one-frame interval to the active mark at the current frame"""

    bl_idname = "motionbridge.marks_add_interval"
    bl_label = "Add Interval"

    start: FloatProperty(
        name="Start", description="Time in seconds; below 0 for the current frame", default=-1.0, options={"SKIP_SAVE"}
    )
    end: FloatProperty(
        name="End",
        description="Time in seconds; below 0 for one frame after the start",
        default=-1.0,
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context, report: Report) -> Outcome:

        def add(action: Action, mark: "core_model.Marker") -> "core_model.Marker":
            frame = context.scene.frame_current_final
            now = max(motion_timing.seconds_at(action, frame), 0.0)
            start = self.start if self.start >= 0 else now
            end = self.end if self.end >= 0 else start + 1 / omf.FRAMES_PER_SECOND
            if end < start:
                raise WriteError("an interval cannot end before it starts", remedy="Choose a later end")
            return mark.with_interval(start, end)

        return self.changed_mark(context, add, rpt_("Added an interval to {}"))


class MOTIONBRIDGE_OT_marks_remove_interval(OnActiveMark, BlenderOperator):
    """Remove the interval from the active mark"""

    bl_idname = "motionbridge.marks_remove_interval"
    bl_label = "Remove Interval"

    interval: IntProperty(name="Interval", description="Index of the interval in the active mark", default=-1)

    def run(self, context: Context, report: Report) -> Outcome:

        def remove(_action: Action, mark: "core_model.Marker") -> "core_model.Marker":
            number = self.interval if self.interval >= 0 else len(mark.intervals) - 1
            if not 0 <= number < len(mark.intervals):
                raise WriteError("there is no such interval", remedy="Choose one from the list")
            return mark.without_interval(number)

        return self.changed_mark(context, remove, rpt_("Removed an interval of {}"))


class MOTIONBRIDGE_OT_marks_from_markers(OnMarks, BlenderOperator):
    """Update the mark times from moved pose markers; saving does this too"""

    bl_idname = "motionbridge.marks_from_markers"
    bl_label = "Update from Markers"

    def run(self, context: Context, report: Report) -> Outcome:
        return self.changed(context, lambda _action, _markers: rpt_("The marks already match their markers"))


def active_motion(operator: OnAction, context: Context) -> Any:
    """Return the properties of the motion that an operator works on, or None."""
    if not operator.action and not type(operator).poll(context):
        return None
    return operator.chosen(context)[1].motionbridge_motion


CLASSES = classes_of(__name__)
