"""File > Import > X-Ray Editor Motions (.skl, .skls), and the drop of such files onto an armature."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender import scope
from ...blender.linked import refuse_linked
from ...core.errors import ReadError
from ...core.report import Report
from ...games.xray.motions import skeletal_importing as skeletal_import
from ...games.xray.motions.skeletal_properties import ROTATIONS
from ..bases import CALL, BlenderOperator, FileHandler, ImportHelper
from ..curve_tolerances import Tolerances
from ..file_import import DropOnMotion, FileImport
from ..layouts import fields
from ..name_filter import name_filter
from ..operation import FileChoice, Outcome, hand_over
from ..scene_rate import match_scene, note_other_rates
from ..target import active_rig, likely_rig
from ..wording import said, shown
from .listed_motions import MotionChooser, MotionList

CHOICES = (
    ("AUTOMATIC", "Automatic", "Quaternions if other actions of the armature use them, otherwise Euler angles"),
    *ROTATIONS,
)


class IMPORT_SCENE_OT_xray_skl(FileImport, MotionList, Tolerances, BlenderOperator):
    """Import motions of the S.T.A.L.K.E.R. (X-Ray) editor onto the active armature, one action per motion"""

    bl_idname = "import_scene.xray_skl"
    bl_label = "Import X-Ray Editor Motions"

    name_filter: StringProperty(
        name="Filter",
        description="Show motions whose names contain this text; * and ? match any letters",
        options={"SKIP_SAVE", "SKIP_PRESET", "TEXTEDIT_UPDATE"},
    )
    rotation: EnumProperty(
        name="Rotation", description="Rotation mode of the bones", items=CHOICES, default="AUTOMATIC"
    )
    fake_user: BoolProperty(
        name="Fake User", description="Keep actions without users when the .blend file is saved", default=True
    )
    stash: BoolProperty(
        name="Stash", description="Also add each action to a muted NLA track of the armature", default=False
    )
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to the frame rate and length of the first motion",
        default=False,
    )

    def invoke(self, context: Any, _event: Any) -> Any:
        """The file browser, or for files that are known already the list of their motions."""
        if bpy.app.background:
            return self.execute(context)
        if not self.paths():
            hand_over(self, CALL.motionbridge.choose_skeletal_files)
            return {"CANCELLED"}
        self.called_by_person()
        return self.answer(context, self._list)

    def _list(self, context: Any, report: Report) -> None:
        self.list_files(skeletal_import.list_motions, report)
        self.ask(context)

    def draw(self, context: Any) -> None:
        """Onto what, which, how."""
        draw_rig(self.layout, context)
        self.draw_list(self.layout)
        layout = fields(self.layout.column())
        layout.prop(self, "rotation")
        self.draw_tolerances(layout)
        for name in ("fake_user", "match_scene", "stash"):
            layout.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file."""
        paths = self.chosen_files("Choose at least one file of motions (.skl, .skls)")
        rig = rig_to_import_onto(context, report)
        actions: list[Any] = []
        chosen = self._chosen(paths, report)
        with scope.object_mode(context), scope.progress(context, sum(map(len, chosen.values()))) as step:

            def one(path: str, found: Report) -> None:
                options = skeletal_import.SkeletalImportOptions(
                    motions=chosen[path],
                    rotation=skeletal_import.Rotation[self.rotation],
                    tolerance=self.tolerance(),
                    fake_user=self.fake_user,
                    assign_first=not actions,
                    stash=self.stash,
                )
                done = len(actions)
                result = skeletal_import.import_skeletal(
                    context, rig, path, options=options, report=found, progress=lambda number: step(done + number)
                )
                actions.extend(result.actions)

            self.each_file(list(chosen), one, report)
        self._after(context, actions, report)
        return Outcome(
            said("Motions imported onto {}: {}; now playing {}").format(rig.name, len(actions), actions[0].name)
        )

    def _chosen(self, paths: list[str], report: Report) -> dict[str, list[str]]:
        """Path -> names of the motions to import from it; without a list those the filter fits."""
        chosen = self.chosen(paths, skeletal_import.list_motions, report)
        if self.motions or len(self.listed):
            return chosen
        fits = name_filter(self.name_filter, self.regular)
        chosen = {path: found for path, names in chosen.items() if (found := [name for name in names if fits(name)])}
        if not chosen:
            raise ReadError(
                "no motion matches the filter", file=paths[0], remedy="Leave the filter empty for all motions"
            )
        return chosen

    def _after(self, context: Any, actions: list[Any], report: Report) -> None:
        if self.match_scene:
            match_scene(context, actions[0].motionbridge_skeletal.fps, actions[0].frame_range)
        note_other_rates(context, actions, lambda action: action.motionbridge_skeletal.fps, "motion", report)


def draw_rig(layout: Any, context: Any) -> None:
    """Which armature is meant, or that there is none."""
    rig = likely_rig(context)
    if rig is None:
        layout.label(text="No armature is active", icon="ERROR")
    else:
        layout.label(text=shown("Armature: {}").format(rig.name), icon="ARMATURE_DATA", translate=False)


def rig_to_import_onto(context: Any, report: Report) -> Any:
    """The active armature, or the only one there is. Raises `ReadError`."""
    rig = likely_rig(context)
    if rig is None:
        raise ReadError(
            "no armature is active", remedy="Import the model (.ogf) this belongs to, and click its armature"
        )
    refuse_linked((rig,))
    if rig != active_rig(context):
        report.note("no armature is active: the only one in the scene is used", rig.name)
    return rig


class MOTIONBRIDGE_OT_choose_skeletal_files(MotionChooser, FileChoice, ImportHelper, BlenderOperator):
    """Choose motion files of the editor (.skl, .skls), and list their motions"""

    bl_idname = "motionbridge.choose_skeletal_files"

    filename_ext = ".skls"
    filter_glob: StringProperty(default="*.skl;*.skls", options={"HIDDEN"})

    def execute(self, _context: Any) -> Any:
        """Hand the files to the importer, which lists their motions."""
        return self.list_with(CALL.import_scene.xray_skl)


class IO_FH_motionbridge_xray_skl(DropOnMotion, FileHandler):
    """Drop of the editor's motions, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_skl"
    bl_label = "X-Ray Editor Motions"
    bl_import_operator = "import_scene.xray_skl"
    bl_export_operator = "export_scene.xray_skl"
    bl_file_extensions = ".skl;.skls"


CLASSES = (IMPORT_SCENE_OT_xray_skl, MOTIONBRIDGE_OT_choose_skeletal_files, IO_FH_motionbridge_xray_skl)
