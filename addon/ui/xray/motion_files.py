"""Motions (.omf): import, export and Save Back."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender import scope
from ...blender.typed import Action, Context, Object
from ...core.errors import ReadError, WriteError
from ...core.report import Report, say
from ...formats.xray import omf
from ...games.xray import kinds
from ...games.xray.models import importing as model_importing
from ...games.xray.models.properties import remembered
from ...games.xray.motions import library, omf_codec, omf_host
from ...games.xray.options import MotionImportOptions
from .. import playing
from ..bases import (
    CALL,
    BlenderOperator,
    ExportHelper,
    ImportHelper,
    classes_of,
    iface_,
    path_search,
    properties_from,
    rpt_,
)
from ..layouts import FoldedOptions, draw_folded, fields
from ..operation import FileChoice, Need, Outcome
from ..preferences import model_options
from ..saving import Target
from ..target import (
    RIG,
    active_action,
    active_rig,
    likely_rig,
    on_rig,
    rig_to_export,
)
from .motion_choices import (
    ExportChoices,
    MotionChooser,
    MotionFileExport,
    MotionFileSaveBack,
    MotionImport,
    draw_bone_limit,
    written_sentence,
)
from .target import actions_moving, active_file

if TYPE_CHECKING:
    from ...games.xray.motions.library import AnyCodec, Plan


MotionImportProperties: Any = properties_from(MotionImportOptions)


class IMPORT_SCENE_OT_xray_omf(MotionImportProperties, FoldedOptions, MotionImport, BlenderOperator):
    """Import motions of S.T.A.L.K.E.R. (X-Ray) onto the active armature, one action per motion"""

    bl_idname = "import_scene.xray_omf"
    bl_label = "Import X-Ray Motions"
    browser = "choose_motion_files"

    model: StringProperty(
        name="Model",
        description=(
            "Model (.ogf) to import first for the motions; if empty, the active armature, or a model in the "
            "same folder that refers to the file"
        ),
        options={"SKIP_SAVE", "SKIP_PRESET"},
        search=path_search(".ogf"),
        search_options={"SUGGESTION"},
    )
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to 30 frames per second, as in the game, and to the length of the first motion",
        default=False,
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature onto which motions are imported."""
        return () if self.model else (likely_rig(context),)

    def fill(self, context: Context, report: Report) -> None:
        self.list_files(omf_codec.OMF, report)
        paths = self.paths()
        if likely_rig(context) is None and not self.model:
            models = model_importing.models_playing(paths[0], model_options(context), report)
            self.model = str(models[0]) if models else ""
        self.ask(context, omf_codec.OMF, likely_rig(context) if not self.model else None)

    def draw(self, context: Context) -> None:
        layout = self.layout
        rig = likely_rig(context)
        column = layout.column()
        if rig is not None:
            text = iface_("Armature: {}").format(rig.name)
            column.label(text=text, icon="ARMATURE_DATA", translate=False)
        else:
            column.label(
                text="No armature is active: motions are imported onto this model"
                if self.model
                else "No armature is active",
                icon="INFO" if self.model else "ERROR",
            )
            column.prop(self, "model")
        self.draw_list(layout)
        self._draw_options(layout)

    def _draw_options(self, layout: Any) -> None:
        if body := draw_folded(layout, self, "show_options"):
            for name in ("first_frame", "fake_user", "match_scene", "resample", "stash"):
                body.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files("Choose at least one file of motions (.omf)")
        chosen = self.chosen(paths, omf_codec.OMF, report)
        rig = self._target(context, next(iter(chosen)), report)
        actions = self.import_chosen(context, omf_codec.OMF, rig, chosen, options=MotionImportOptions, report=report)
        self._after(context, actions, report)
        text = rpt_("Motions imported onto {}: {}").format(rig.name, len(actions))
        text = f"{text}; {playing.state_of(context, actions[0].motionbridge_motion.motion_name)}"
        if len(actions) > 1:
            text = f"{text}, {rpt_('the others are in the Motionbridge tab and the Action Editor')}"
        return Outcome(text)

    def _target(self, context: Context, path: str, report: Report) -> Object:
        """Return the armature to import onto; if none is active, that of a model which is imported for the motions."""
        rig = likely_rig(context)
        if rig != active_rig(context) and not self.model:
            report.note("no armature is active: the only one in the scene is used", rig.name)
        if rig is not None and not self.model:
            return rig
        paths = (
            [bpy.path.abspath(self.model)]
            if self.model
            else model_importing.models_playing(path, model_options(context), report)
        )
        if not paths:
            raise ReadError(
                "no armature is active, and no model beside the file refers to it",
                file=path,
                remedy="Click the armature these motions belong to, or name their model (.ogf)",
            )
        imported = model_importing.import_model(context, paths[0], model_options(context), report)
        if imported.rig is None:
            raise ReadError("this model has no bones", file=str(paths[0]), remedy="Choose a model with a skeleton")
        report.note("the motions are on a model that was imported for them", Path(paths[0]).name)
        return imported.rig

    def _after(self, context: Context, actions: list[Action], report: Report) -> None:
        if self.match_scene:
            playing.match_scene(context, omf.FRAMES_PER_SECOND, actions[0].frame_range)
        rate = scope.frames_per_second(context.scene)
        if abs(rate - omf.FRAMES_PER_SECOND) > 1e-3 and not self.resample:
            words = "the scene plays {:g} frames per second, the game {:g}; each key of the game is one frame"
            report.note(say(words, rate, omf.FRAMES_PER_SECOND))


class MOTIONBRIDGE_OT_choose_motion_files(MotionChooser, FileChoice, ImportHelper, BlenderOperator):
    """Choose motion files (.omf) or models with motions inside (.ogf), and list their motions"""

    bl_idname = "motionbridge.choose_motion_files"
    filename_ext = ".omf"
    filter_glob: StringProperty(default=kinds.MOTIONS.glob, options={"HIDDEN"})

    def execute(self, _context: Context) -> Any:
        """Pass the files to the import operator, which lists their motions."""
        return self.list_with(CALL.import_scene.xray_omf)


CHOICES = (
    ("FILE", "Active Motion File", "Every action of the motion file chosen in the Motionbridge tab"),
    ("ALL", "All of the Armature", "Every action that moves bones of this armature, from any file"),
    ("ACTIVE", "Active Action", "The action that plays now"),
)


class EXPORT_SCENE_OT_xray_omf(ExportChoices, MotionFileExport, ExportHelper, BlenderOperator):
    """Export actions as S.T.A.L.K.E.R. (X-Ray) motions, to a new or an existing file"""

    bl_idname = "export_scene.xray_omf"
    bl_label = "Export X-Ray Motions"

    filename_ext = ".omf"
    filter_glob: StringProperty(default=kinds.MOTIONS.exported_glob, options={"HIDDEN"})
    choose: EnumProperty(name="Motions", description="Which actions to export", items=CHOICES, default="FILE")
    motions: StringProperty(
        name="Names",
        description="Names of actions or motions to write, separated by semicolons, instead of the choice above",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    remember: BoolProperty(
        name="Link to Written File",
        description="Link these actions to the written file, so that Save Back writes it",
        default=False,
    )

    @staticmethod
    def codec() -> "AnyCodec":
        return omf_codec.OMF

    def file_of(self, rig: Object) -> Any:
        return active_file(rig)

    def suggest(self, context: Context) -> None:
        """Suggest the imported motion file, else a file named after the model."""
        rig = likely_rig(context)
        file = active_file(rig)
        if file is not None:
            self.filepath = str(Path(bpy.path.abspath(file.path)).with_suffix(".omf"))
        elif rig is not None and not self.filepath:
            known = remembered(rig)
            model = bpy.path.abspath(known.path) if known is not None else ""
            self.filepath = str(Path(model).with_suffix(".omf")) if model else f"{bpy.path.clean_name(rig.name)}.omf"

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "onto")
        self.draw_removed(layout)
        layout.prop(self, "choose")
        self.draw_choices(layout, likely_rig(context))
        draw_bone_limit(layout, self, likely_rig(context))
        self.draw_last(context)
        if not self.collection:
            layout.prop(self, "remember")

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature and the actions if they are linked to the written file, else nothing."""
        rig = rig_to_export(context, self.collection) if self.remember else None
        return (rig, *self.chosen(rig)) if rig is not None else ()

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.MOTIONS)
        rig = rig_to_export(context, self.collection)
        plan = self.write(context, rig, path, report)
        if self.remember:
            file = omf_codec.OMF.settle(plan, rig, omf_host.file_at(rig, path), options=self.export_options())
            library.remember_shown(plan.written, plan.shown_keys)
            if file is not None:
                rig.motionbridge_motion_file = rig.motionbridge_motion_files.find(file.name)
        return Outcome(written_sentence(Path(path).name, plan))

    def chosen(self, rig: Object) -> list[Action]:
        """Return the named actions, else those of the choice. Raises `WriteError` if there are none."""
        wanted = [name.strip() for name in self.motions.split(";") if name.strip()]
        return _named(rig, wanted) if wanted else super().chosen(rig)


def _named(rig: Object, wanted: list[str]) -> list[Action]:
    there = actions_moving(rig)
    by_name = {action.motionbridge_motion.motion_name.lower(): action for action in reversed(there)}
    by_name |= {action.name.lower(): action for action in reversed(there)}
    missing = [name for name in wanted if name.lower() not in by_name]
    if missing:
        words = "no action of {!r} is named {!r}"
        raise WriteError(say(words, rig.name, missing[0]), remedy="Use the names that the list of motions shows")
    return [by_name[name.lower()] for name in wanted]


class MOTIONBRIDGE_OT_save_back(ExportChoices, MotionFileSaveBack, BlenderOperator):
    """Write the motions to their source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.save_back"
    bl_label = "Save Back"
    needs = (RIG, Need("This armature has no imported motions", on_rig(active_file)))

    file: StringProperty(
        name="Motion File",
        description="Name of the motion file in the list; empty for the active one",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    only_active: BoolProperty(
        name="Active Motion Only",
        description="Save the playing motion only; the other motions in the file remain unchanged",
        default=False,
        options={"SKIP_SAVE"},
    )

    def targets(self, context: Context) -> list[Target]:
        rig = rig_to_export(context, "")
        file = rig.motionbridge_motion_files.get(self.file) if self.file else active_file(rig)
        if file is None:
            raise WriteError(
                say("{!r} has no motion file {!r}", rig.name, self.file)
                if self.file
                else say("{!r} has no motion file", rig.name),
                remedy="Import motions onto it first, or export to a new file",
            )
        return [Target(rig, library.motions_of(file), file)]

    def plan_of(self, context: Context, target: Target, report: Report, step: Callable[[int], None]) -> "Plan":
        """Return the plan for all motions of the file, or for the one that plays."""
        self.only = active_action(context) if self.only_active else None
        if self.only_active and self.only is None:
            words = "{!r} plays no action"
            raise WriteError(say(words, target.rig.name), remedy="Choose one in the list of motions, or save all")
        return super().plan_of(context, target, report, step)

    def draw_options(self, context: Context, layout: bpy.types.UILayout) -> None:
        (target,) = self.targets(context)
        if len(target.actions) > 1:
            layout.prop(self, "only_active")
        layout.prop(self, "width")
        layout.prop(self, "rename")
        draw_bone_limit(layout, self, target.rig)

    def title(self) -> str:
        return iface_("Save Motions Back")


CLASSES = classes_of(__name__)
