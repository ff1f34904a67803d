"""File > Export > X-Ray Motions (.omf): actions as a new file, or into an existing one."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender import compat, scope
from ...blender.renamed_bones import bone_of
from ...core.errors import WriteError
from ...core.report import Report
from ...games.xray.motions import edit as motion_edit
from ...games.xray.motions import exporting as motion_export
from ...games.xray.motions import files as motion_files
from ...games.xray.motions import importing as motion_import
from ...games.xray.motions import skeletal_exporting as skeletal_export
from ..bases import BlenderOperator, ExportHelper
from ..file_export import ArmatureExport, draw_backup
from ..layouts import fields
from ..operation import Outcome
from ..target import action_to_export, likely_rig, rig_to_export, some_action
from .existing_motions import ExistingMotions
from .export_choices import ExportChoices, written_sentence

ONTO = (
    ("OWN_FILES", "New File", "Write the chosen motions only; unedited motions keep their bytes"),
    (
        "FILE",
        "Existing File",
        "Replace motions of the same name and add the others; everything else keeps its bytes",
    ),
)
CHOICES = (
    ("FILE", "Active Motion File", "Every action of the motion file chosen in the Motionbridge tab"),
    ("ALL", "All of the Armature", "Every action that moves bones of this armature, from any file"),
    ("ACTIVE", "Active Action", "The action that plays now"),
)


class EXPORT_SCENE_OT_xray_omf(ExistingMotions, ArmatureExport, ExportChoices, ExportHelper, BlenderOperator):
    """Export actions as S.T.A.L.K.E.R. (X-Ray) motions, to a new or an existing file"""

    bl_idname = "export_scene.xray_omf"
    bl_label = "Export X-Ray Motions"

    filename_ext = ".omf"
    check_extension = None
    filter_glob: StringProperty(default="*.omf;*.ogf", options={"HIDDEN"})
    onto: EnumProperty(
        name="Write",
        description="Which file the export changes",
        items=ONTO,
        default="OWN_FILES",
        options={"SKIP_SAVE"},
    )
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

    def suggest(self, context: Any) -> None:
        """The file the motions came from."""
        rig = likely_rig(context)
        file = active_file(rig)
        if file is not None:
            self.filepath = str(Path(bpy.path.abspath(file.path)).with_suffix(".omf"))
        elif rig is not None and not self.filepath:
            model = bpy.path.abspath(rig.motionbridge_model.path)
            self.filepath = str(Path(model).with_suffix(".omf")) if model else f"{bpy.path.clean_name(rig.name)}.omf"

    @staticmethod
    def names_in(path: Path) -> list[str]:
        """The motions of a motion file or inside a model. Raises `ReadError`."""
        return [name for name, _ in motion_import.list_motions(str(path))]

    def names_to_write(self, context: Any) -> list[str]:
        """The names that the chosen actions have in the game."""
        try:
            chosen = self._chosen(rig_to_export(context, self.collection))
        except WriteError:
            return []  # exporting says what is wrong
        return motion_export.written_names(
            chosen, motion_files.LISTS, motion_export.imported_name, Report(), rename=self.rename
        )

    def draw(self, context: Any) -> None:
        """Which, where to, how."""
        layout = fields(self.layout)
        layout.prop(self, "onto")
        self.draw_removed(layout)
        layout.prop(self, "choose")
        self.draw_choices(layout, likely_rig(context))
        draw_backup(layout, self, self.filepath)
        if not self.collection:
            layout.prop(self, "remember")

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing, unless the armature is to remember the file."""
        rig = rig_to_export(context, self.collection) if self.remember else None
        return (rig, *self._chosen(rig)) if rig is not None else ()

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = self.named_file(".omf")
        rig = rig_to_export(context, self.collection)
        chosen = self._chosen(rig)
        options = self.motion_options(backup=self.backup)
        with scope.progress(context, len(chosen)) as step:
            plan = motion_export.plan_export(
                context,
                rig,
                chosen,
                path,
                onto=motion_export.Onto[self.onto],
                options=options,
                report=report,
                progress=step,
            )
        plan.write(backup=self.backup)
        self.restore_hidden_keys(rig, chosen)
        if self.remember:
            file = motion_edit.settle(plan, rig, motion_export.file_at(rig, path), options=options)
            if file is not None:
                rig.motionbridge_motion_file = rig.motionbridge_motion_files.find(file.name)
        return Outcome(written_sentence(Path(path).name, plan))

    def _chosen(self, rig: Any) -> list[Any]:
        wanted = [name.strip() for name in self.motions.split(";") if name.strip()]
        if wanted:
            return _named(rig, wanted)
        if self.choose == "ACTIVE":
            return [action_to_export(rig)]
        file = active_file(rig)
        if self.choose == "FILE" and file is not None:
            return motion_edit.motions_of(file)
        return some_action(rig, actions_moving(rig))


def active_file(rig: Any) -> Any:
    """The motion file that is chosen in the panel, or None."""
    files = rig.motionbridge_motion_files if rig is not None else ()
    return files[min(max(rig.motionbridge_motion_file, 0), len(files) - 1)] if len(files) else None


def actions_moving(rig: Any) -> list[Any]:
    """The actions of the files of ``rig`` in their order, then those of no file that move bones it has."""
    ordered = [action for file in rig.motionbridge_motion_files for action in motion_edit.motions_of(file)]
    ordered += [action for file in rig.motionbridge_skeletal_files for action in skeletal_export.motions_of(file)]
    known = dict.fromkeys(ordered)
    return [*known, *(action for action in _actions() if action not in known and _moves(action, rig))]


def _actions() -> list[Any]:
    return list(bpy.data.actions)


def _moves(action: Any, rig: Any) -> bool:
    if action.motionbridge_motion.file or action.motionbridge_skeletal.file:
        return False
    bag = compat.curve_bag(action)
    first = next(iter(bag.fcurves), None) if bag is not None else None
    return first is not None and bone_of(first.data_path) in rig.data.bones


def _named(rig: Any, wanted: list[str]) -> list[Any]:
    there = actions_moving(rig)
    by_name = {action.motionbridge_motion.motion_name.lower(): action for action in reversed(there)}
    by_name |= {action.name.lower(): action for action in reversed(there)}
    missing = [name for name in wanted if name.lower() not in by_name]
    if missing:
        raise WriteError(
            f"no action of {rig.name!r} is named {missing[0]!r}", remedy="Use the names that the list of motions shows"
        )
    return [by_name[name.lower()] for name in wanted]


CLASSES = (EXPORT_SCENE_OT_xray_omf,)
