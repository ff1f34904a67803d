"""Motion paths (.anm): import, export, Save Back, panel."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender import scope
from ...blender.typed import Context, Object
from ...core.report import Report, say
from ...games.options import FittingOptions
from ...games.xray import kinds
from ...games.xray import paths as motion_paths
from ...games.xray.options import PathExportOptions, PathImportOptions, Target
from .. import playing
from ..bases import (
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
    tell,
)
from ..files import FileExport, FileImport, source_collection
from ..layouts import draw_tolerances, fields, paragraph
from ..motion_lists import draw_file
from ..operation import Need, Outcome
from ..saving import ModelSaveBack
from ..sidebar import MotionbridgePanel, in_both_editors
from .target import mover_to_export

if TYPE_CHECKING:
    from ...games.plan import FilePlan


PathImportProperties: Any = properties_from(PathImportOptions)
PathExportProperties: Any = properties_from(PathExportOptions)


class IMPORT_SCENE_OT_xray_anm(PathImportProperties, FileImport, ImportHelper, BlenderOperator):
    """Import motion paths of S.T.A.L.K.E.R. (X-Ray) for cameras and objects, with the keys of the file"""

    bl_idname = "import_scene.xray_anm"
    bl_label = "Import X-Ray Motion Path"

    filename_ext = ".anm"
    filter_glob: StringProperty(default=kinds.PATHS.glob, options={"HIDDEN"})
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to the frame rate and length of the first path",
        default=False,
    )

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        for name in ("target", "draw_curve", "fake_user", "match_scene"):
            layout.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        chosen = self.chosen_files("Choose at least one path (.anm)")
        paths_made: list[motion_paths.ImportedPath] = []
        target = Target[self.target]
        with scope.progress(context, len(chosen)) as step:

            def import_one(file: str, report: Report) -> None:
                play = target is Target.ACTIVE and not paths_made
                options = options_from(self, PathImportOptions, play=play)
                paths_made.append(motion_paths.import_path(context, file, options, report))
                step(len(paths_made))

            self.each_file(chosen, import_one, report)
        owners = list(dict.fromkeys(path.owner for path in paths_made))
        if target is not Target.ACTIVE:
            motion_paths.play(context, paths_made, report)
            scope.make_current(context, owners, owners[0])
        played = [path.action for path in paths_made]
        if self.match_scene:
            playing.match_scene(context, played[0].motionbridge_path.fps, played[0].frame_range)
        playing.note_other_rates(context, played, lambda action: action.motionbridge_path.fps, report, paths=True)
        text = rpt_("Imported paths: {}").format(len(paths_made))
        return Outcome(f"{text}; {playing.state_of(context, owners[0].name)}")


def active_path(context: Context) -> Any:
    """Return the action of the path that the active object follows, or None."""
    return motion_paths.followed_action(context.view_layer.objects.active)


LINE_LENGTH = 30


class EXPORT_SCENE_OT_xray_anm(PathExportProperties, FileExport, ExportHelper, BlenderOperator):
    """Export the active object, camera or curve as a motion path of S.T.A.L.K.E.R. (X-Ray) with its own keys"""

    bl_idname = "export_scene.xray_anm"
    bl_label = "Export X-Ray Motion Path"
    needs = (Need("No object in the scene", lambda context: len(context.scene.objects)),)

    filename_ext = ".anm"
    filter_glob: StringProperty(default=kinds.PATHS.exported_glob, options={"HIDDEN"})
    collection: source_collection("Export the moving object of this collection")
    types = ("MESH", "EMPTY", "CAMERA", "ARMATURE", "CURVE", "LIGHT")

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        active = context.view_layer.objects.active
        action = motion_paths.followed_action(active)
        if action is not None:
            self.filepath = bpy.path.abspath(action.motionbridge_path.path)
        elif active is not None and not self.filepath:
            self.filepath = f"{bpy.path.clean_name(active.name)}.anm"

    def written(self, context: Context) -> Collection[Object]:
        mover = mover_to_export(context, self.collection)
        return mover, motion_paths.moved_object(mover)

    def can_write(self, obj: Object) -> bool:
        """Of other objects, those that follow a path of their own."""
        return motion_paths.followed_action(obj) is not None

    def draw(self, context: Context) -> None:
        """Draw how the path is exported, and the options; the option for curves only if a curve can be exported."""
        layout = fields(self.layout)
        active = context.view_layer.objects.active
        if active is not None and not self.collection:
            _draw_how(context, layout, active)
        layout.prop(self, "version")
        draw_tolerances(layout, self)
        if self.collection or (active is not None and active.type == "CURVE"):
            layout.prop(self, "banked")
        self.draw_last(context)

    def run(self, context: Context, report: Report) -> Outcome:
        file = self.named_file(kinds.PATHS)
        options = options_from(self, PathExportOptions)
        mover = mover_to_export(context, self.collection)
        with scope.progress(context, context.scene.frame_end) as step:
            plan = motion_paths.plan_export(context, mover, file, options=options, report=report, progress=step)
        plan.write(backup=self.backup)
        if (action := motion_paths.followed_action(mover)) is not None:
            plan.settle_exported(action.motionbridge_path)
        return Outcome(file_sentence(file, plan))


def _draw_how(context: Context, layout: bpy.types.UILayout, active: Object) -> None:
    """Draw whether the object's own keys are exported, or why and on which frames it is sampled."""
    reasons = motion_paths.why_sampled(active)
    box = layout.column(align=True)
    if reasons is None:
        box.label(text=iface_("{} does not move").format(active.name), icon="ERROR", translate=False)
    elif not reasons:
        box.label(text="Exported with its own keys", icon="KEYTYPE_KEYFRAME_VEC")
    else:
        box.label(text="Sampled on every frame because of:", icon="INFO")
        for reason in reasons:
            paragraph(box, tell(reason), LINE_LENGTH, "BLANK1")
        if motion_paths.ALONG_A_CURVE not in reasons:
            first, last = motion_paths.sampled_frames(context, active)
            box.label(text=iface_("Frames {} to {}").format(first, last), icon="TIME", translate=False)
    for problem, warning in motion_paths.left_out_of(active).warnings.items():
        paragraph(box, f"{tell(problem)} ({', '.join(warning)})", LINE_LENGTH, "ERROR")
    if motion_paths.is_mirrored(active):
        text = iface_("Negative scale: exported without mirroring; apply the scale (Ctrl A) to see the result")
        paragraph(box, text, LINE_LENGTH, "ERROR")


PANEL_LINE_LENGTH = 40


class PathPanel(MotionbridgePanel):
    """Name, version, frame range, frame rate and file of the path, and what Blender does not show of it."""

    bl_label = "X-Ray Motion Path"
    bl_order = 10

    @classmethod
    def poll(cls, context: Context) -> bool:
        return active_path(context) is not None

    def draw(self, context: Context) -> None:
        layout = self.layout
        action = active_path(context)
        path = action.motionbridge_path
        draw_file(layout, Path(path.path).name, "", "motionbridge.path_save_back", "MOTIONBRIDGE_MT_path")
        column = fields(layout.column())
        column.prop(path, "path_name")
        column.prop(path, "version")
        facts = layout.column(align=True)
        start, end = (round(frame) for frame in action.frame_range)
        facts.label(text=iface_("Frames {} to {}, {:g} per second").format(start, end, path.fps), translate=False)
        facts.label(text=iface_("{}, version {}").format(Path(path.path).name, path.came_as), translate=False)
        if path.not_shown:
            _draw_not_shown(layout.box(), path.not_shown.split("; "))


class MOTIONBRIDGE_MT_path(BlenderMenu):
    """What can be done with a motion path besides saving it back"""

    bl_label = "Motion Path"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("export_scene.xray_anm", text="Export As", icon="EXPORT")
        layout.operator("import_scene.xray_anm", text="Import More", icon="IMPORT")
        layout.separator()
        layout.operator("motionbridge.match_scene", icon="PREVIEW_RANGE")
        layout.separator()
        layout.operator("motionbridge.report", icon="TEXT")


def _draw_not_shown(box: Any, oddities: list[str]) -> None:
    column = box.column(align=True)
    for oddity in oddities:
        sentence = say("Blender does not show {} outside the keys; kept unless edited", oddity)
        paragraph(column, tell(sentence), PANEL_LINE_LENGTH, "ERROR")


FittingProperties: Any = properties_from(FittingOptions)


def _imported(context: Context) -> Any:
    """Return the action of the path that the active object follows, if that was imported from a file."""
    action = active_path(context)
    return action if action is not None and action.motionbridge_path.path else None


class MOTIONBRIDGE_OT_path_save_back(ModelSaveBack, FittingProperties, BlenderOperator):
    """Write the active object's path to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.path_save_back"
    bl_label = "Save Path Back"
    needs = (Need("The active object has no imported motion path", _imported),)
    stored_in = "motionbridge_path"

    def planned(self, context: Context, report: Report) -> "FilePlan":
        active = context.view_layer.objects.active
        options = PathExportOptions(millimetres=self.millimetres, degrees=self.degrees)
        return motion_paths.plan_save_back(context, active, options=options, if_changed=self.base(), report=report)

    def draw_options(self, _context: Context, layout: bpy.types.UILayout) -> None:
        """Draw the tolerances for curves that have to be fitted."""
        draw_tolerances(layout, self)


CLASSES = (
    *classes_of(__name__),
    *in_both_editors("path", PathPanel),
)
