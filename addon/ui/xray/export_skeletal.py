"""File > Export > X-Ray Editor Motions (.skl, .skls): actions of an armature, to a new file or into another."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...blender import action_lists, scope
from ...core.errors import WriteError
from ...core.report import Report
from ...games.xray.motions import exporting as motion_export
from ...games.xray.motions import skeletal_exporting as skeletal_export
from ...games.xray.motions import skeletal_importing as skeletal_import
from ..bases import BlenderOperator, ExportHelper
from ..curve_tolerances import Tolerances
from ..file_export import ArmatureExport, draw_backup
from ..hidden_keys import HiddenKeysChoice
from ..layouts import fields
from ..operation import Outcome
from ..target import action_to_export, likely_rig, rig_to_export, some_action
from .existing_motions import ExistingMotions
from .export_choices import RestChoice
from .export_motions import ONTO, actions_moving

CHOICES = (
    ("FILE", "All from the Same File", "Every action from the same file as the playing action"),
    ("ALL", "All of the Armature", "Every action that moves bones of this armature, from any file"),
    ("ACTIVE", "Active Action", "The action that plays now"),
)
VERSIONS = (
    ("AUTOMATIC", "6, with Marks 7", "Read by every editor; handles are rounded to 0.98 ms and 0.98 mm"),
    ("5", "5", "Handles are stored exactly; four times the size, no marks"),
)


class EXPORT_SCENE_OT_xray_skl(
    ExistingMotions, ArmatureExport, RestChoice, HiddenKeysChoice, Tolerances, ExportHelper, BlenderOperator
):
    """Export actions as motions of the S.T.A.L.K.E.R. (X-Ray) editor; unedited motions keep their bytes"""

    bl_idname = "export_scene.xray_skl"
    bl_label = "Export X-Ray Editor Motions"

    filename_ext = ".skls"
    check_extension = None
    filter_glob: StringProperty(default="*.skl;*.skls", options={"HIDDEN"})
    onto: EnumProperty(
        name="Write",
        description="Which file the export changes",
        items=ONTO,
        default="OWN_FILES",
        options={"SKIP_SAVE"},
    )
    choose: EnumProperty(name="Motions", description="Which actions to export", items=CHOICES, default="FILE")
    version: EnumProperty(
        name="Version of New Motions",
        description="Version of motions that were not imported; imported motions keep theirs",
        items=VERSIONS,
        default="AUTOMATIC",
    )

    def suggest(self, context: Any) -> None:
        """The file the motions came from."""
        rig = likely_rig(context)
        file = file_played(rig) if rig is not None else None
        if file is not None:
            self.filepath = bpy.path.abspath(file.path)
        elif rig is not None and not self.filepath:
            self.filepath = f"{bpy.path.clean_name(rig.name)}.skls"

    def goes_into(self, path: Path) -> bool:
        """A `.skl` holds one motion: there is no room for another."""
        return path.suffix.lower() == ".skls" and path.is_file()

    @staticmethod
    def names_in(path: Path) -> list[str]:
        """The motions of a file of the editor. Raises `ReadError`."""
        return [name for name, _ in skeletal_import.list_motions(str(path))]

    def names_to_write(self, context: Any) -> list[str]:
        """The names that the chosen actions have in the game."""
        try:
            chosen = self._chosen(rig_to_export(context, self.collection))
        except WriteError:
            return []  # exporting says what is wrong
        return motion_export.written_names(chosen, skeletal_import.LISTS, skeletal_export.imported_name, Report())

    def draw(self, context: Any) -> None:
        """Which, where to, how; the edited rest pose and hidden keys only where there are such."""
        layout = fields(self.layout)
        layout.prop(self, "onto")
        self.draw_removed(layout)
        layout.prop(self, "choose")
        self.draw_rest_change(layout, likely_rig(context), "motionbridge_skeletal_files")
        self.draw_hidden_keys(layout, likely_rig(context))
        layout.prop(self, "version")
        self.draw_tolerances(layout)
        draw_backup(layout, self, self.filepath)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = self.named_file(".skl, .skls")
        if Path(path).suffix.lower() not in {".skl", ".skls"}:
            path += ".skls"
        rig = rig_to_export(context, self.collection)
        chosen = self._chosen(rig)
        options = skeletal_export.SkeletalExportOptions(
            onto=skeletal_export.Onto[self.onto],
            tolerance=self.tolerance(),
            rest_change=motion_export.RestChange[self.rest_change],
            hidden=self.hidden_keys_option(),
            version=None if self.version == "AUTOMATIC" else int(self.version),
        )
        with scope.object_mode(context), scope.progress(context, len(chosen)) as step:
            plan = skeletal_export.plan_export(
                context, rig, chosen, path, options=options, report=report, progress=step
            )
        plan.write(backup=self.backup)
        self.restore_hidden_keys(rig, chosen)
        return Outcome(f"{Path(path).name}: {plan.changes.sentence()}")

    def _chosen(self, rig: Any) -> list[Any]:
        file = file_played(rig)
        if self.choose == "FILE" and file is not None:
            return skeletal_export.motions_of(file)
        if self.choose == "ACTIVE":
            return [action_to_export(rig)]
        return some_action(rig, actions_moving(rig))


def file_played(rig: Any) -> Any:
    """The file of the motion that plays, else the last one of which there still are actions; None without one."""
    data = rig.animation_data
    files = rig.motionbridge_skeletal_files
    if data is not None and data.action is not None and data.action.motionbridge_skeletal.is_skeletal:
        found = action_lists.file_of(rig, data.action, skeletal_import.LISTS)
        if found is not None:
            return found
    return next((file for file in reversed(files) if skeletal_export.motions_of(file)), None)


CLASSES = (EXPORT_SCENE_OT_xray_skl,)
