"""File > Import > X-Ray Motion Path (.anm), the drop of such files, and the scene's rate and length."""

from collections.abc import Iterable
from typing import Any

from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender import collection, scope
from ...core.report import Report
from ...games.xray.paths import path as paths
from ..bases import BlenderOperator, FileHandler, ImportHelper
from ..file_import import DropOnMotion, FileImport
from ..layouts import fields
from ..operation import Operation, Outcome
from ..scene_rate import frames_said, match_scene, note_other_rates
from ..wording import said

TARGETS = (
    ("EMPTY", "A New Empty", "Create an empty for each path"),
    ("CAMERA", "A New Camera", "Create an empty for each path, with a child camera that looks as in the game"),
    ("ACTIVE", "The Active Object", "The first path moves the active object; the others become actions"),
)


class IMPORT_SCENE_OT_xray_anm(FileImport, ImportHelper, BlenderOperator):
    """Import motion paths of S.T.A.L.K.E.R. (X-Ray) for cameras and objects, with the keys of the file"""

    bl_idname = "import_scene.xray_anm"
    bl_label = "Import X-Ray Motion Path"

    filename_ext = ".anm"
    filter_glob: StringProperty(default="*.anm", options={"HIDDEN"})
    target: EnumProperty(
        name="Import Onto", description="Which object follows the path", items=TARGETS, default="EMPTY"
    )
    draw_curve: BoolProperty(
        name="Draw as Curve",
        description="Also create a curve object for each path, with one point per location key",
        default=False,
    )
    fake_user: BoolProperty(
        name="Fake User", description="Keep actions without users when the .blend file is saved", default=True
    )
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to the frame rate and length of the first path",
        default=False,
    )

    def draw(self, _context: Any) -> None:
        """The options, in browser, dialog and presets alike."""
        layout = fields(self.layout)
        for name in ("target", "draw_curve", "fake_user", "match_scene"):
            layout.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file."""
        chosen = self.chosen_files("Choose at least one path (.anm)")
        made: list[paths.ImportedPath] = []
        target = paths.Target[self.target]
        with scope.progress(context, len(chosen)) as step:

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
        played = [path.action for path in made]
        if self.match_scene:
            _match(context, played[0])
        note_other_rates(context, played, lambda action: action.motionbridge_path.fps, "path", report)
        return Outcome(said("Imported paths: {}; now playing on {}").format(len(made), owners[0].name))


class MOTIONBRIDGE_OT_match_scene_to_path(Operation, BlenderOperator):
    """Set the scene to the frame rate and length of the active object's path"""

    bl_idname = "motionbridge.match_scene_to_path"
    bl_label = "Match Scene to Path"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object follows a path."""
        cls.poll_message_set("The active object has no motion path")
        return active_path(context) is not None

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing but the scene."""
        return ()

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set rate, first and last frame."""
        _match(context, active_path(context))
        return frames_said(context)


def _match(context: Any, action: Any) -> None:
    match_scene(context, action.motionbridge_path.fps, action.frame_range)


def active_path(context: Any) -> Any:
    """The action of the path that the active object follows, or None."""
    return paths.followed_action(context.view_layer.objects.active)


class IO_FH_motionbridge_xray_anm(DropOnMotion, FileHandler):
    """Drop of motion paths, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_anm"
    bl_label = "X-Ray Motion Path"
    bl_import_operator = "import_scene.xray_anm"
    bl_export_operator = "export_scene.xray_anm"
    bl_file_extensions = ".anm"


CLASSES = (IMPORT_SCENE_OT_xray_anm, MOTIONBRIDGE_OT_match_scene_to_path, IO_FH_motionbridge_xray_anm)
