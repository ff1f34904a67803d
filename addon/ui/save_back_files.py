"""Save Back of the editor's motions, motion paths, models of Descent 3 and what a level is made of."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender import scope
from ..core.report import Report
from ..games import plan as plans
from ..games.descent3 import model_export
from ..games.descent3.model_properties import holder_of as model_of
from ..games.options import FittingOptions
from ..games.xray.levels import exporting as level_export
from ..games.xray.levels.properties import holder_of as level_of
from ..games.xray.models import editor_exporting, editor_motions
from ..games.xray.motions import exporting as motion_export
from ..games.xray.motions import library, skl_codec
from ..games.xray.options import PathExportOptions
from ..games.xray.paths import path as paths
from .bases import BlenderOperator
from .hidden_keys import hides_keys
from .layouts import draw_tolerances
from .options import properties_from
from .save_back import IMPORTED_BASES, NAMES_SHOWN, SaveBack, SaveBackOntoEither, base_file
from .target import active_rig, editor_model_of, lacks_rig
from .translations import shown
from .xray.motion_choices import EditorMotionChoices, rest_is_edited
from .xray.skeletal import file_played

if TYPE_CHECKING:
    from ..core.changes import Part
    from ..games.plan import FilePlan


class MOTIONBRIDGE_OT_skeletal_save_back(SaveBackOntoEither, EditorMotionChoices, BlenderOperator):
    """Write the editor motions to their source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.skeletal_save_back"
    bl_label = "Save Editor Motions Back"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The active armature has motions of a file of the editor."""
        if lacks_rig(cls, context):
            return False
        cls.poll_message_set("The active armature has no imported editor motions")
        return file_played(active_rig(context)) is not None

    def path(self, context: bpy.types.Context) -> str:
        """The file of the motion that plays."""
        return str(file_played(active_rig(context)).path)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature and the motions: they get the names that are written."""
        rig = active_rig(context)
        return (rig, *library.motions_of(file_played(rig)))

    def planned(self, context: bpy.types.Context, report: Report) -> "FilePlan":
        """All motions of the file."""
        rig = active_rig(context)
        with scope.object_mode(context):
            return motion_export.plan_save_back(
                skl_codec.SKL,
                context,
                rig,
                file_played(rig),
                options=self.editor_motion_options(),
                if_changed=plans.OtherBase[self.if_changed],
                report=report,
                samples=self._samples,
            )

    def questions(self, context: bpy.types.Context) -> dict[str, bool]:
        """What to start from, the edited rest pose, hidden keys."""
        rig = active_rig(context)
        return {
            "if_changed": False,
            "rest_change": rest_is_edited(rig, "motionbridge_skeletal_files"),
            "hidden_keys": hides_keys(rig),
        }

    def draw_options(self, _context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """How what has to be fitted is."""
        draw_tolerances(layout, self)

    def details(self, plan: Any) -> list[str]:
        """The motions with their channels and fields."""
        return [_motion_line(change) for change in plan.changes.parts]

    def settle(self, context: bpy.types.Context, plan: Any) -> None:
        """The file on disk is known."""
        rig = active_rig(context)
        file = file_played(rig)
        before = file.sha256 if self.if_changed == "REFUSE" else ""
        skl_codec.SKL.settle(plan, rig, file)
        if file.embedded:
            editor_exporting.follow_motions(rig, plan.path, plan.document, before, plan.digest)
        self.restore_hidden_keys(rig, library.motions_of(file))


def _motion_line(change: "Part") -> str:
    """``walk: root X, root Y; marks``, or that the motion is new."""
    if change.new:
        return shown("{}: new").format(change.name)
    channels = ", ".join([*(one.name for one in change.items[:NAMES_SHOWN]), *change.fields])
    return f"{change.name}: {channels}"


class _OfOneObject(SaveBack):
    """What starts from the imported file alone, which stays what an edit is compared with."""

    if_changed: base_file(*IMPORTED_BASES)

    def source(self, context: bpy.types.Context) -> Any:
        """The properties with ``path`` and ``saved``. Overridden by every operator."""
        raise NotImplementedError

    def path(self, context: bpy.types.Context) -> str:
        """The file it came from."""
        return str(self.source(context).path)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """What knows of the file."""
        return (self.source(context).id_data,)

    def settle(self, context: bpy.types.Context, plan: "FilePlan") -> None:
        """The file on disk is known."""
        self.source(context).saved = plan.digest


FittingProperties: Any = properties_from(FittingOptions)


class MOTIONBRIDGE_OT_path_save_back(_OfOneObject, FittingProperties, BlenderOperator):
    """Write the active object's path to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.path_save_back"
    bl_label = "Save Path Back"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object follows a path that came from a file."""
        action = paths.followed_action(context.view_layer.objects.active)
        cls.poll_message_set("The active object has no imported motion path")
        return action is not None and bool(action.motionbridge_path.path)

    def source(self, context: Any) -> Any:
        """Of the action."""
        return paths.followed_action(context.view_layer.objects.active).motionbridge_path

    def planned(self, context: Any, report: Report) -> "FilePlan":
        """The path."""
        active = context.view_layer.objects.active
        options = PathExportOptions(millimetres=self.millimetres, degrees=self.degrees)
        return paths.plan_save_back(
            context, active, options=options, if_changed=plans.OtherBase[self.if_changed], report=report
        )

    def draw_options(self, _context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """How what has to be fitted is."""
        draw_tolerances(layout, self)


class MOTIONBRIDGE_OT_descent_save_back(_OfOneObject, BlenderOperator):
    """Write the model to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.descent_save_back"
    bl_label = "Save Model Back"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object is of a model that came from a file of its own."""
        holder = model_of(context.view_layer.objects.active)
        cls.poll_message_set("The active object is not part of a model imported from its own file")
        if holder is None:
            return False
        return bool(holder.motionbridge_descent_model.path and not holder.motionbridge_descent_model.member)

    def source(self, context: Any) -> Any:
        """Of the object that holds the model."""
        return model_of(context.view_layer.objects.active).motionbridge_descent_model

    def planned(self, context: Any, report: Report) -> "FilePlan":
        """The model."""
        holder = model_of(context.view_layer.objects.active)
        if_changed = plans.OtherBase[self.if_changed]
        return model_export.plan_save_back(context, holder, if_changed=if_changed, report=report)

    def settle(self, context: Any, plan: Any) -> None:
        """The file on disk and its motions are known."""
        model_export.settle(plan, model_of(context.view_layer.objects.active))


class MOTIONBRIDGE_OT_editor_model_save_back(_OfOneObject, EditorMotionChoices, BlenderOperator):
    """Write the editor's model with its motions to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.editor_model_save_back"
    bl_label = "Save Editor Model Back"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object is of a model of the editor."""
        cls.poll_message_set("The active object is not part of an imported X-Ray editor model")
        return editor_model_of(context) is not None

    def source(self, context: Any) -> Any:
        """Of the object that remembers the model."""
        return editor_model_of(context).motionbridge_editor_model

    def edited(self, context: Any) -> Iterable[Any]:
        """What remembers the model, and its motions: they get the names that are written."""
        holder = editor_model_of(context)
        return (holder, *_motions_inside(holder))

    def planned(self, context: Any, report: Report) -> "FilePlan":
        """The model with its motions."""
        return editor_exporting.plan_save_back(
            context,
            editor_model_of(context),
            if_changed=plans.OtherBase[self.if_changed],
            report=report,
            motions=self.editor_motion_options(),
            samples=self._samples,
        )

    def questions(self, context: Any) -> dict[str, bool]:
        """What to start from; with motions inside the edited rest pose and hidden keys."""
        holder = editor_model_of(context)
        if not _motions_inside(holder):
            return {"if_changed": False}
        return {
            "if_changed": False,
            "rest_change": rest_is_edited(holder, "motionbridge_skeletal_files"),
            "hidden_keys": hides_keys(holder),
        }

    def draw_options(self, context: Any, layout: bpy.types.UILayout) -> None:
        """How curves are fitted, where there are motions."""
        if _motions_inside(editor_model_of(context)):
            draw_tolerances(layout, self)

    def details(self, plan: Any) -> list[str]:
        """The meshes, bones, surfaces and motions with what is edited."""
        return [
            line
            for part in plan.changes.parts
            for line in ([_motion_line(part)] if part.new or part.noun == "motion" else part.lines())
        ]

    def settle(self, context: Any, plan: Any) -> None:
        """The file on disk is known, also to its motions."""
        holder = editor_model_of(context)
        editor_exporting.settle(plan, holder)
        if plan.written:
            self.restore_hidden_keys(holder, [action for action, _ in plan.written])


def _motions_inside(holder: Any) -> list[Any]:
    """The actions of the motions inside a model."""
    file = editor_motions.file_inside(holder)
    return library.motions_of(file) if file is not None else []


class MOTIONBRIDGE_OT_level_save_back(_OfOneObject, BlenderOperator):
    """Write the active level object to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.level_save_back"
    bl_label = "Save Level File Back"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object is of a level's file."""
        holder = level_of(context.view_layer.objects.active)
        cls.poll_message_set("The active object was not imported from a level file")
        if holder is None or holder.motionbridge_level.kind not in level_export.SUFFIXES:
            return False
        return bool(holder.motionbridge_level.path)

    def source(self, context: Any) -> Any:
        """Of the object that remembers the file."""
        return level_of(context.view_layer.objects.active).motionbridge_level

    def planned(self, context: Any, report: Report) -> "FilePlan":
        """The file."""
        holder = level_of(context.view_layer.objects.active)
        if_changed = plans.OtherBase[self.if_changed]
        return level_export.plan_save_back(context, holder, if_changed=if_changed, report=report)

    def details(self, plan: "FilePlan") -> list[str]:
        """The objects that are different, and in what."""
        return [_motion_line(part) for part in plan.changes.parts]

    def notes(self, plan: "FilePlan") -> list[str]:
        """The files that change with it."""
        names = ", ".join(Path(one.path).name for one in plan.plans if one.path != plan.path)
        return [shown("Also written: {}").format(names)] if names else []

    def settle(self, context: Any, plan: Any) -> None:
        """The files on disk are known."""
        level_export.settle(level_of(context.view_layer.objects.active), plan)


CLASSES = (
    MOTIONBRIDGE_OT_skeletal_save_back,
    MOTIONBRIDGE_OT_path_save_back,
    MOTIONBRIDGE_OT_descent_save_back,
    MOTIONBRIDGE_OT_editor_model_save_back,
    MOTIONBRIDGE_OT_level_save_back,
)
