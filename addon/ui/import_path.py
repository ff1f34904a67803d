"""File > Import > X-Ray Motion Path (.anm), the drop of such files, and the scene's rate and length."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import poll_file_object_drop

from ..blender import collection
from ..blender.action import frames_per_second
from ..blender.scope import progress
from ..core.errors import ReadError
from ..core.report import Report
from ..games.xray import path as paths
from .bases import BlenderOperator, ImportHelper
from .layouts import fields
from .operation import FileChoice, Operation, Outcome
from .wording import said

TARGETS = (
    ("EMPTY", "A New Empty", "Each path moves an empty of its own"),
    ("CAMERA", "A New Camera", "Each path moves an empty with a camera below it that looks where the game looks"),
    ("ACTIVE", "The Active Object", "The first path plays on the active object, the others are actions to choose from"),
)


class IMPORT_SCENE_OT_xray_anm(Operation, FileChoice, ImportHelper, BlenderOperator):
    """Import motion paths of S.T.A.L.K.E.R. (X-Ray), of cameras and objects: a key for each key of the file"""

    bl_idname = "import_scene.xray_anm"
    bl_label = "Import X-Ray Motion Path"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".anm"
    filter_glob: StringProperty(default="*.anm", options={"HIDDEN"})
    target: EnumProperty(name="Moves", description="What moves along the path", items=TARGETS, default="EMPTY")
    draw_curve: BoolProperty(
        name="Draw as Curve",
        description="Also draw each path as a curve object, with points where the location has keys",
        default=False,
    )
    fake_user: BoolProperty(
        name="Fake User", description="Saving keeps the actions that nothing plays at the moment", default=True
    )
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to the frame rate and the length of the first path",
        default=False,
    )

    def invoke(self, context: Any, _event: Any) -> Any:
        """A dialog with the options for dropped files, else the file browser."""
        return self.invoke_popup(context)

    def draw(self, _context: Any) -> None:
        """The options, in browser, dialog and presets alike."""
        layout = fields(self.layout)
        for name in ("target", "draw_curve", "fake_user", "match_scene"):
            layout.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file."""
        chosen = self.paths()
        if not chosen:
            raise ReadError("no file is chosen", remedy="Choose at least one path (.anm)")
        made: list[paths.ImportedPath] = []
        target = paths.Target[self.target]
        with progress(context, len(chosen)) as step:

            def one(file: str, found: Report) -> None:
                play = target is paths.Target.ACTIVE and not made
                options = paths.PathImportOptions(target, draw=self.draw_curve, fake_user=self.fake_user, play=play)
                made.append(paths.import_path(context, file, options, found))
                step(len(made))

            self.each_file(chosen, one, report)
        owners = list(dict.fromkeys(path.owner for path in made))
        if target is not paths.Target.ACTIVE:
            paths.play(context, made, report)
            collection.make_current(context, owners, owners[0])
        if self.match_scene:
            match_scene(context, made[0].action)
        _say_rates(context, [path.action for path in made], report)
        return Outcome(said("Imported paths: {}; {} moves").format(len(made), owners[0].name))


def match_scene(context: Any, action: Any) -> None:
    """Let the scene have the path's rate and length."""
    scene = context.scene
    fps = action.motionbridge_path.fps
    scene.render.fps = max(round(fps), 1)
    scene.render.fps_base = scene.render.fps / fps
    scene.frame_start, scene.frame_end = (round(frame) for frame in action.frame_range)


def _say_rates(context: Any, actions: list[Any], report: Report) -> None:
    rate = frames_per_second(context.scene)
    for action in actions:
        fps = action.motionbridge_path.fps
        if abs(rate - fps) > 1e-3:
            report.note(
                f"the scene plays {rate:g} frames a second, the path {fps:g}; a frame is one of the file either way",
                action.name,
            )


class MOTIONBRIDGE_OT_match_scene_to_path(Operation, BlenderOperator):
    """Set the scene to the frame rate and the length of the path that the active object follows"""

    bl_idname = "motionbridge.match_scene_to_path"
    bl_label = "Match Scene to Path"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object follows a path."""
        cls.poll_message_set("The active object follows no path of the game")
        return active_path(context) is not None

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set rate, first and last frame."""
        match_scene(context, active_path(context))
        scene = context.scene
        return Outcome(said("Frames {} to {}").format(scene.frame_start, scene.frame_end))


def active_path(context: Any) -> Any:
    """The action of the path that the active object follows, or None."""
    return paths.followed_action(context.view_layer.objects.active)


class IO_FH_motionbridge_xray_anm(bpy.types.FileHandler):
    """Drop of motion paths, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_anm"
    bl_label = "X-Ray Motion Path"
    bl_import_operator = "import_scene.xray_anm"
    bl_export_operator = "export_scene.xray_anm"
    bl_file_extensions = ".anm"

    @classmethod
    def poll_drop(cls, context: Any) -> bool:
        """Dropped into the viewport or the outliner, or where actions are edited."""
        area = context.area
        return bool(poll_file_object_drop(context)) or (area is not None and area.type == "DOPESHEET_EDITOR")


CLASSES = (IMPORT_SCENE_OT_xray_anm, MOTIONBRIDGE_OT_match_scene_to_path, IO_FH_motionbridge_xray_anm)
