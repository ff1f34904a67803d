"""Editor motions (.skl, .skls): import, export, Save Back, and the panel with their list."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender import action_lists, scope
from ...blender.typed import Action, Context, Object
from ...core import files
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.xray import omf
from ...games.xray import kinds
from ...games.xray.motions import inside_models, library, skl_codec
from ...games.xray.motions import properties as motion_properties
from ...games.xray.motions import timing as motion_timing
from ...games.xray.options import SkeletalFileOptions, SkeletalImportOptions
from .. import playing
from ..bases import (
    CALL,
    BlenderList,
    BlenderMenu,
    BlenderOperator,
    ExportHelper,
    ImportHelper,
    classes_of,
    file_sentence,
    iface_,
    options_from,
    properties_from,
    rpt_,
)
from ..layouts import FoldedOptions, draw_folded, draw_tolerances, fields, name_filter
from ..motion_lists import ActionRows, ListMenu, draw_file, draw_list
from ..operation import FileChoice, Need, Outcome
from ..saving import Target
from ..sidebar import MotionbridgePanel, in_both_editors, is_of_xray
from ..target import (
    RIG,
    active_action,
    active_rig,
    likely_rig,
    on_rig,
    rig_to_export,
)
from .motion_choices import EditorMotionChoices, MotionChooser, MotionFileExport, MotionFileSaveBack, MotionImport
from .motion_operators import EDITOR_MOTIONS
from .target import draw_rig, file_of_playing_motion, rig_to_import_onto

if TYPE_CHECKING:
    from ...games.plan import FilePlan
    from ...games.xray.motions.library import AnyCodec


SkeletalImportProperties: Any = properties_from(SkeletalImportOptions)


class IMPORT_SCENE_OT_xray_skl(SkeletalImportProperties, FoldedOptions, MotionImport, BlenderOperator):
    """Import motions of the S.T.A.L.K.E.R. (X-Ray) editor onto the active armature, one action per motion"""

    bl_idname = "import_scene.xray_skl"
    bl_label = "Import X-Ray Editor Motions"
    browser = "choose_skeletal_files"

    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to the frame rate and length of the first motion",
        default=False,
    )

    def fill(self, context: Context, report: Report) -> None:
        self.list_files(skl_codec.SKL, report)
        self.ask(context, skl_codec.SKL, likely_rig(context))

    def draw(self, context: Context) -> None:
        draw_rig(self.layout, context)
        self.draw_list(self.layout)
        layout = fields(self.layout.column())
        layout.prop(self, "rotation")
        if body := draw_folded(self.layout, self, "show_options"):
            draw_tolerances(body, self)
            for name in ("fake_user", "match_scene", "stash"):
                body.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files("Choose at least one file of motions (.skl, .skls)")
        rig = rig_to_import_onto(context, report)
        chosen = self._chosen(paths, report)
        with scope.object_mode(context):
            actions = self.import_chosen(
                context, skl_codec.SKL, rig, chosen, options=SkeletalImportOptions, report=report
            )
        self._after(context, actions, report)
        text = rpt_("Motions imported onto {}: {}").format(rig.name, len(actions))
        return Outcome(f"{text}; {playing.state_of(context, actions[0].motionbridge_motion.motion_name)}")

    def _chosen(self, paths: list[str], report: Report) -> dict[str, list[str]]:
        """Return path -> names of the motions to import; without a list, those that match the filter."""
        chosen = self.chosen(paths, skl_codec.SKL, report)
        if self.motions or len(self.listed):
            return chosen
        fits = name_filter(self.name_filter, self.regular)
        chosen = {
            path: names_chosen
            for path, names in chosen.items()
            if (names_chosen := [name for name in names if fits(name)])
        }
        if not chosen:
            raise ReadError(
                "no motion matches the filter", file=paths[0], remedy="Leave the filter empty for all motions"
            )
        return chosen

    def _after(self, context: Context, actions: list[Action], report: Report) -> None:
        if self.match_scene:
            playing.match_scene(context, actions[0].motionbridge_skeletal.fps, actions[0].frame_range)
        playing.note_other_rates(context, actions, lambda action: action.motionbridge_skeletal.fps, report)


class MOTIONBRIDGE_OT_choose_skeletal_files(MotionChooser, FileChoice, ImportHelper, BlenderOperator):
    """Choose editor motions (.skl, .skls) or models with motions inside (.object), and list their motions"""

    bl_idname = "motionbridge.choose_skeletal_files"

    filename_ext = ".skls"
    filter_glob: StringProperty(default=kinds.EDITOR_MOTIONS.glob, options={"HIDDEN"})

    def execute(self, _context: Context) -> Any:
        """Pass the files to the import operator, which lists their motions."""
        return self.list_with(CALL.import_scene.xray_skl)


CHOICES = (
    ("FILE", "All from the Same File", "Every action from the same file as the playing action"),
    ("ALL", "All of the Armature", "Every action that moves bones of this armature, from any file"),
    ("ACTIVE", "Active Action", "The action that plays now"),
)


SkeletalFileProperties: Any = properties_from(SkeletalFileOptions)


class EXPORT_SCENE_OT_xray_skl(
    SkeletalFileProperties, EditorMotionChoices, MotionFileExport, ExportHelper, BlenderOperator
):
    """Export actions as motions of the S.T.A.L.K.E.R. (X-Ray) editor; unedited motions keep their bytes"""

    bl_idname = "export_scene.xray_skl"
    bl_label = "Export X-Ray Editor Motions"

    filename_ext = ".skls"
    filter_glob: StringProperty(default=kinds.EDITOR_MOTIONS.exported_glob, options={"HIDDEN"})
    choose: EnumProperty(name="Motions", description="Which actions to export", items=CHOICES, default="FILE")

    @staticmethod
    def codec() -> "AnyCodec":
        return skl_codec.SKL

    def file_of(self, rig: Object) -> Any:
        return file_of_playing_motion(rig)

    def export_options(self) -> SkeletalFileOptions:
        return options_from(self, SkeletalFileOptions)

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        rig = likely_rig(context)
        file = file_of_playing_motion(rig) if rig is not None else None
        if file is not None:
            path = bpy.path.abspath(file.path)
            self.filepath = str(Path(path).with_suffix(".skls")) if file.embedded else path
        elif rig is not None and not self.filepath:
            self.filepath = f"{bpy.path.clean_name(rig.name)}.skls"

    def can_add_to(self, path: Path) -> bool:
        """Whether motions can be added to the file; a `.skl` always has exactly one."""
        return path.suffix.lower() in {".skls", ".object"} and files.is_file(path)

    def draw(self, context: Context) -> None:
        """Draw the options; those for an edited rest pose and hidden keys only where they apply."""
        layout = fields(self.layout)
        layout.prop(self, "onto")
        self.draw_removed(layout)
        layout.prop(self, "choose")
        self.draw_rest_change(layout, likely_rig(context), "motionbridge_skeletal_files")
        self.draw_hidden_keys(layout, likely_rig(context))
        layout.prop(self, "version")
        draw_tolerances(layout, self)
        self.draw_last(context)

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.EDITOR_MOTIONS)
        if Path(path).suffix.lower() not in {".skl", ".skls", ".object"}:
            path += ".skls"
        rig = rig_to_export(context, self.collection)
        with scope.object_mode(context):
            plan = self.write(context, rig, path, report)
        skl_codec.SKL.settle_exported(plan, rig)
        return Outcome(file_sentence(path, plan))


def active_skeletal(context: Context) -> Any:
    """Return the action that the active armature plays if it is an editor motion, else None."""
    rig, action = active_rig(context), active_action(context)
    if action is None or action.motionbridge_skeletal.is_skeletal:
        return action
    return action if action_lists.file_of(rig, action, motion_properties.SKL_LISTS) is not None else None


class MOTIONBRIDGE_UL_editor_motions(ActionRows, BlenderList):
    """Actions of the editor motions on the active armature."""

    listing = EDITOR_MOTIONS

    def draw_facts(self, layout: Any, action: Any) -> None:
        """Draw the file of a motion, if the list has motions of several."""
        context: Any = bpy.context
        if len(active_rig(context).motionbridge_skeletal_files) < 2:
            return
        file = layout.row()
        file.active = False
        file.label(text=action.motionbridge_skeletal.file, translate=False)


class MOTIONBRIDGE_MT_editor_motion(ListMenu, BlenderMenu):
    """What can be done with the editor motion that is active in the list"""

    listing = EDITOR_MOTIONS


class SkeletalPanel(MotionbridgePanel):
    """List and file of the editor motions, buttons for import and export. How a motion plays is in another panel."""

    bl_label = "X-Ray Editor Motions"
    bl_order = 9

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature has editor motions."""
        return is_of_xray(context) and _has_motions(context)

    def draw(self, context: Context) -> None:
        layout = self.layout
        action, rig = active_skeletal(context), active_rig(context)
        file = file_of_playing_motion(rig)
        if file is not None:
            name = Path(bpy.path.abspath(file.path)).name
            draw_file(layout, name, "", "motionbridge.skeletal_save_back", "MOTIONBRIDGE_MT_editor_motions")
        if len(rig.motionbridge_skeletal_files):
            draw_list(layout, context, EDITOR_MOTIONS, rig, can_move=False)
        if action is None:
            layout.label(text="The active armature plays no editor motion", icon="INFO")
        else:
            _draw_motion(layout, rig, action)
        if file is None:
            _draw_files(layout)


def _draw_files(layout: Any) -> None:
    layout.operator("export_scene.xray_skl", text="Export Editor Motions", icon="EXPORT")
    layout.operator("import_scene.xray_skl", text="Import Editor Motions", icon="IMPORT")
    layout.separator()
    layout.operator("export_scene.xray_bones", text="Export Bone Properties", icon="EXPORT")
    layout.operator("import_scene.xray_bones", text="Import Bone Properties", icon="IMPORT")


class MOTIONBRIDGE_MT_editor_motions(BlenderMenu):
    """What can be done with editor motions and bone properties besides saving the motions back"""

    bl_label = "Editor Motions"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        _draw_files(layout)
        layout.separator()
        layout.operator("motionbridge.match_scene", icon="PREVIEW_RANGE")
        layout.separator()
        layout.operator("motionbridge.report", icon="TEXT")


class NoSkeletalPanel(SkeletalPanel):
    """The same panel, closed, while there are no editor motions. It is a panel of its own because Blender remembers for
    each panel whether it is closed.
    """

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature belongs to X-Ray and has no editor motions."""
        return is_of_xray(context) and not _has_motions(context)


def _has_motions(context: Context) -> bool:
    rig = active_rig(context)
    return active_skeletal(context) is not None or (rig is not None and bool(len(rig.motionbridge_skeletal_files)))


def _draw_motion(layout: bpy.types.UILayout, rig: Object, action: Action) -> None:
    skeletal = action.motionbridge_skeletal
    file = rig.motionbridge_skeletal_files.get(skeletal.file)
    facts = layout.column(align=True)
    if file is not None and skeletal.is_skeletal:
        text = iface_("{}, version {}").format(Path(file.path).name, skeletal.version)
        facts.label(text=text, icon="FILE", translate=False)
    start, end = motion_timing.drawn_ends(action)
    rate = skeletal.fps if skeletal.is_skeletal else omf.FRAMES_PER_SECOND
    facts.label(text=iface_("Frames {} to {}, {:g} per second").format(start, end, rate), translate=False)
    if skeletal.fitted:
        text = iface_("Bones with curves of the file: {}, with fitted curves: {}").format(
            skeletal.kept_exactly, skeletal.fitted
        )
        facts.label(text=text, translate=False)


class MOTIONBRIDGE_OT_skeletal_save_back(EditorMotionChoices, MotionFileSaveBack, BlenderOperator):
    """Write the editor motions to their source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.skeletal_save_back"
    bl_label = "Save Editor Motions Back"
    needs = (RIG, Need("The active armature has no imported editor motions", on_rig(file_of_playing_motion)))
    files = "motionbridge_skeletal_files"

    @staticmethod
    def codec() -> "AnyCodec":
        return skl_codec.SKL

    def targets(self, context: Context) -> list[Target]:
        """Return the file of the playing motion."""
        rig = active_rig(context)
        file = file_of_playing_motion(rig)
        return [Target(rig, library.motions_of(file), file)]

    def plan_of(self, context: Context, *target: Any) -> "FilePlan":
        with scope.object_mode(context):
            return super().plan_of(context, *target)

    def settle_target(self, context: Context, target: Target, plan: Any) -> None:
        """Store that the motions are those of the written file, which may be inside a model."""
        before = target.stored.sha256 if self.if_changed == "REFUSE" else ""
        super().settle_target(context, target, plan)
        if target.stored.embedded:
            inside_models.follow_editor_motions(target.rig, plan.path, plan.document, before, plan.digest)

    def draw_options(self, _context: Context, layout: bpy.types.UILayout) -> None:
        """Draw the tolerances for curves that have to be fitted."""
        draw_tolerances(layout, self)


CLASSES = (
    *classes_of(__name__),
    *in_both_editors("editor_motions", SkeletalPanel),
    *in_both_editors("skeletal", NoSkeletalPanel),
)
