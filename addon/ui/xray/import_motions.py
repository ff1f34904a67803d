"""File > Import > X-Ray Motions (.omf): the list before the import, the armature they go onto, drops of such files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ...blender import action as blender_action
from ...blender import scope
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.xray import omf
from ...games.xray.models import importing as model
from ...games.xray.motions import importing as motion_import
from ..bases import CALL, BlenderOperator, FileHandler, ImportHelper
from ..file_import import DropOnMotion, FileImport
from ..layouts import fields
from ..operation import FileChoice, Outcome, hand_over
from ..preferences import model_options
from ..scene_rate import match_scene
from ..target import active_rig, likely_rig
from ..wording import said, shown
from .listed_motions import MotionChooser, MotionList


class IMPORT_SCENE_OT_xray_omf(FileImport, MotionList, BlenderOperator):
    """Import motions of S.T.A.L.K.E.R. (X-Ray) onto the active armature, one action per motion"""

    bl_idname = "import_scene.xray_omf"
    bl_label = "Import X-Ray Motions"

    model: StringProperty(
        name="Model",
        description=(
            "Model (.ogf) to import first for the motions; if empty, the active armature, or a model in the "
            "same folder that refers to the file"
        ),  # no FILE_PATH: its button opens a file browser, which closes a pop-up
        options={"SKIP_SAVE", "SKIP_PRESET"},
    )
    first_frame: IntProperty(name="First Frame", description="Frame of the first key", default=0)
    fake_user: BoolProperty(
        name="Fake User", description="Keep actions without users when the .blend file is saved", default=True
    )
    stash: BoolProperty(
        name="Stash", description="Also add each action to a muted NLA track of the armature", default=False
    )
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to 30 frames per second, as in the game, and to the length of the first motion",
        default=False,
    )
    resample: BoolProperty(
        name="Match Scene Frame Rate",
        description=(
            "Space the keys for the scene's frame rate, so that motions last as long as in the game; "
            "otherwise each key is one frame"
        ),
        default=False,
    )
    show_options: BoolProperty(name="Options", description="Show the options", options={"SKIP_PRESET", "HIDDEN"})
    name_filter: StringProperty(
        name="Filter",
        description="Show motions whose names contain this text; * and ? match any letters",
        options={"SKIP_SAVE", "SKIP_PRESET", "TEXTEDIT_UPDATE"},
    )

    def invoke(self, context: Any, _event: Any) -> Any:
        """The file browser, or for files that are known already the list of their motions."""
        if bpy.app.background:
            return self.execute(context)
        if not self.paths():
            hand_over(self, CALL.motionbridge.choose_motion_files)
            return {"CANCELLED"}
        self.called_by_person()
        return self.answer(context, self._list)

    def edited(self, context: Any) -> Iterable[Any]:
        """The armature the motions go onto."""
        return () if self.model else (likely_rig(context),)

    def _list(self, context: Any, report: Report) -> None:
        self.list_files(motion_import.list_motions, report)
        paths = self.paths()
        if likely_rig(context) is None and not self.model:
            found = model.models_playing(paths[0], model_options(context))
            self.model = str(found[0]) if found else ""
        self.ask(context)

    def draw(self, context: Any) -> None:
        """Where to, which, how."""
        layout = self.layout
        rig = likely_rig(context)
        column = layout.column()
        if rig is not None:
            text = shown("Armature: {}").format(rig.name)
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
        # No layout.panel: the dialog opens from the file browser, without a region, where that crashes Blender.
        icon = "DOWNARROW_HLT" if self.show_options else "RIGHTARROW"
        row = layout.row()
        row.alignment = "LEFT"
        row.prop(self, "show_options", icon=icon, emboss=False)
        if self.show_options:
            body = fields(layout.column())
            for name in ("first_frame", "fake_user", "match_scene", "resample", "stash"):
                body.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file."""
        paths = self.chosen_files("Choose at least one file of motions (.omf)")
        chosen = self.chosen(paths, motion_import.list_motions, report)
        rig = self._target(context, next(iter(chosen)), report)
        actions: list[Any] = []
        with scope.progress(context, sum(len(names) for names in chosen.values())) as step:

            def one(path: str, found: Report) -> None:
                options = motion_import.MotionImportOptions(
                    motions=chosen[path],
                    first_frame=self.first_frame,
                    fake_user=self.fake_user,
                    assign_first=not actions,
                    stash=self.stash,
                    resample=self.resample,
                )
                done = len(actions)
                result = motion_import.import_motions(
                    context, rig, path, options=options, report=found, progress=lambda one: step(done + one)
                )
                actions.extend(result.actions)

            self.each_file(list(chosen), one, report)
        self._after(context, actions, report)
        text = said("Motions imported onto {}: {}; now playing {}").format(rig.name, len(actions), actions[0].name)
        if len(actions) > 1:
            text = f"{text}, {said('the others are in the Motionbridge tab and the Action editor')}"
        return Outcome(text)

    def _target(self, context: Any, path: str, report: Report) -> Any:
        """The armature; where none is active that of a model imported for these motions."""
        rig = likely_rig(context)
        if rig != active_rig(context) and not self.model:
            report.note("no armature is active: the only one in the scene is used", rig.name)
        if rig is not None and not self.model:
            return rig
        found = [bpy.path.abspath(self.model)] if self.model else model.models_playing(path, model_options(context))
        if not found:
            raise ReadError(
                "no armature is active, and no model beside the file refers to it",
                file=path,
                remedy="Click the armature these motions belong to, or name their model (.ogf)",
            )
        imported = model.import_model(context, found[0], model_options(context), report)
        if imported.rig is None:
            raise ReadError("this model has no bones", file=str(found[0]), remedy="Name a model with a skeleton")
        report.note("the motions are on a model that was imported for them", Path(found[0]).name)
        return imported.rig

    def _after(self, context: Any, actions: list[Any], report: Report) -> None:
        if self.match_scene:
            match_scene(context, omf.FRAMES_PER_SECOND, actions[0].frame_range)
        rate = blender_action.frames_per_second(context.scene)
        if abs(rate - omf.FRAMES_PER_SECOND) > 1e-3 and not self.resample:
            report.note(
                f"the scene plays {rate:g} frames per second, the game {omf.FRAMES_PER_SECOND:g}; each key of the "
                "game is one frame"
            )


class MOTIONBRIDGE_OT_choose_motion_files(MotionChooser, FileChoice, ImportHelper, BlenderOperator):
    """Choose motion files (.omf) or models with motions inside (.ogf), and list their motions"""

    bl_idname = "motionbridge.choose_motion_files"
    filename_ext = ".omf"
    filter_glob: StringProperty(default="*.omf;*.ogf", options={"HIDDEN"})

    def execute(self, _context: Any) -> Any:
        """Hand the files to the importer, which lists their motions."""
        return self.list_with(CALL.import_scene.xray_omf)


class IO_FH_motionbridge_xray_omf(DropOnMotion, FileHandler):
    """Drop of motion files, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_omf"
    bl_label = "X-Ray Motions"
    bl_import_operator = "import_scene.xray_omf"
    bl_export_operator = "export_scene.xray_omf"
    bl_file_extensions = ".omf"


CLASSES = (
    IMPORT_SCENE_OT_xray_omf,
    MOTIONBRIDGE_OT_choose_motion_files,
    IO_FH_motionbridge_xray_omf,
)
