"""File > Import > Arma Animation (.rtm) and the drop of such files: onto the active armature or a new one."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...blender import collection, scope
from ...core.errors import ReadError
from ...core.report import Report
from ...games.arma import animation_import, skeletons
from ...games.arma.properties import STEP_ITEMS
from ..bases import BlenderOperator, FileHandler, ImportHelper
from ..file_import import DropOnMotion, FileImport
from ..layouts import fields
from ..operation import Outcome
from ..target import active_rig
from ..wording import said
from .bone_names_choice import BoneNamesChoice
from .skeleton_files import SkeletonFilesChoice

if TYPE_CHECKING:
    from ...games.arma.animation_import import ImportedAnimation

TARGETS = (
    ("AUTOMATIC", "Automatic", "The active armature if it has bones of the animation, otherwise a new armature"),
    ("ACTIVE", "Active Armature", "Bones are matched by name; upper and lower case are the same"),
    (
        "NEW",
        "New Armature",
        "Create an armature for the animation; further files with matching bones are imported onto it",
    ),
)
HIERARCHIES = (
    (
        "AUTOMATIC",
        "Automatic",
        "The model.cfg in the file's folder, otherwise the known man with these bones, otherwise none",
    ),
    ("CONFIG", "model.cfg", "The skeleton of the model.cfg set below or found in the file's folder"),
    ("ARMA3", "Arma 3 Man", "OFP2_ManSkeleton of Arma 3"),
    ("ARMA2", "Arma 2 Man", "OFP2_ManSkeleton of Arma 2"),
    (
        "FLASHPOINT",
        "Flashpoint Man",
        "The Operation Flashpoint man; the game has no hierarchy, this one is for display",
    ),
    ("FLAT", "None", "No bone has a parent"),
)
PIVOTS = (
    (
        "AUTOMATIC",
        "Automatic",
        "From the pivots model if one is set, otherwise from the animation, otherwise from the known man",
    ),
    ("MODEL", "Pivots Model", "Points of a .p3d model with the names of the bones"),
    ("ANIMATION", "Animation", "Joints are the points around which bones rotate in the animation"),
    ("BUILT_IN", "Known Man", "Joints of the Arma 3 man, accurate to 1 cm"),
)
TIMINGS = (
    ("KEYS", "One Frame per Key", "One frame per key of the file"),
    (
        "SECONDS",
        "By Phase",
        "Frames follow the phases of the keys, in a cycle of the given seconds at the scene's frame rate",
    ),
)


class IMPORT_SCENE_OT_arma_rtm(BoneNamesChoice, SkeletonFilesChoice, FileImport, ImportHelper, BlenderOperator):
    """Import animations of Arma and Operation Flashpoint (.rtm, plain or binarised) as actions"""

    bl_idname = "import_scene.arma_rtm"
    bl_label = "Import Arma Animation"

    filename_ext = ".rtm"
    filter_glob: StringProperty(default="*.rtm", options={"HIDDEN"})
    target: EnumProperty(
        name="Import Onto", description="Which armature plays the animation", items=TARGETS, default="AUTOMATIC"
    )
    hierarchy: EnumProperty(
        name="Hierarchy",
        description=(
            "Parents of the bones; the pose is the same with every choice, but binarised files need the "
            "game's hierarchy"
        ),
        items=HIERARCHIES,
        default="AUTOMATIC",
    )
    config: StringProperty(
        name="model.cfg",
        description="The model.cfg of the skeleton; if empty, the one in the file's folder",
        default="",
    )
    pivots: EnumProperty(
        name="Joints",
        description="Head positions of the new armature's bones; the pose is the same with every choice",
        items=PIVOTS,
        default="AUTOMATIC",
    )
    pivots_model: StringProperty(name="Pivots Model", description="A .p3d model with one point per bone", default="")
    whole_skeleton: BoolProperty(
        name="Whole Skeleton",
        description="Also add the bones of the hierarchy that the animation does not move to a new armature",
        default=False,
    )
    prefix: StringProperty(
        name="Prefix", description="Prefix of the armature's bone names before the names of the game", default=""
    )
    first_frame: IntProperty(name="First Frame", description="Frame of phase 0, or of the first key", default=0)
    timing: EnumProperty(
        name="Timing", description="Which frames the keys are placed on", items=TIMINGS, default="KEYS"
    )
    seconds: FloatProperty(
        name="Seconds",
        description="Duration of a cycle in the game: 1 / speed of its config, or -speed if the speed is negative",
        default=1.0,
        min=0.01,
        soft_max=20.0,
    )
    step: EnumProperty(
        name="Step",
        description="How the travel of one cycle (step) is shown; every choice exports the same file",
        items=STEP_ITEMS,
        default="LEFT_OUT",
    )
    fake_user: BoolProperty(
        name="Fake User", description="Keep actions without users when the .blend file is saved", default=True
    )
    stash: BoolProperty(name="Stash", description="Add each action to its own muted NLA track", default=False)

    def draw(self, context: Any) -> None:
        """The options, those that nothing is asked of left out."""
        layout = fields(self.layout)
        layout.prop(self, "target")
        if self.target != "NEW" and active_rig(context) is not None:
            layout.prop(self, "prefix")
            self.draw_bone_names(layout)
        layout.prop(self, "hierarchy")
        if self.hierarchy in {"AUTOMATIC", "CONFIG"}:
            layout.prop(self, "config")
        if self.target != "ACTIVE":
            layout.prop(self, "pivots")
            if self.pivots in {"AUTOMATIC", "MODEL"}:
                layout.prop(self, "pivots_model")
            layout.prop(self, "whole_skeleton")
        layout.prop(self, "first_frame")
        layout.prop(self, "timing")
        if self.timing == "SECONDS":
            layout.prop(self, "seconds")
        layout.prop(self, "step")
        layout.prop(self, "fake_user")
        layout.prop(self, "stash")

    def _options(self, *, assign: bool) -> "animation_import.AnimationImportOptions":
        return animation_import.AnimationImportOptions(
            hierarchy=skeletons.HierarchyFrom[self.hierarchy],
            config=bpy.path.abspath(self.config),
            pivots=skeletons.PivotsFrom[self.pivots],
            pivots_model=bpy.path.abspath(self.pivots_model),
            whole_skeleton=self.whole_skeleton,
            prefix=self.prefix,
            table=self.table(),
            first_frame=self.first_frame,
            seconds=self.seconds if self.timing == "SECONDS" else None,
            step=animation_import.StepMode[self.step],
            fake_user=self.fake_user,
            assign=assign,
            stash=self.stash,
        )

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file; the first plays at once on each armature."""
        chosen = self.chosen_files("Choose at least one animation (.rtm)")
        rig = active_rig(context) if self.target != "NEW" else None
        if rig is None and self.target == "ACTIVE":
            raise ReadError("no armature is active", remedy="Select the armature to animate, or choose a new one")
        made: list[ImportedAnimation] = []
        rigs = [rig] if rig is not None else []
        with scope.object_mode(context), scope.progress(context, len(chosen)) as step:

            def one(file: str, found: Report) -> None:
                made.append(self._import(context, file, rigs, {done.rig for done in made}, found))
                if made[-1].rig not in rigs:
                    rigs.append(made[-1].rig)
                step(len(made))

            self.each_file(chosen, one, report)
        if made[0].rig is not rig:
            collection.make_current(context, [made[0].rig], made[0].rig)
        return Outcome(said("Imported animations: {}; now playing on {}").format(len(made), made[0].rig.name))

    def _import(
        self, context: Any, file: str, rigs: list[Any], moving: set[Any], report: Report
    ) -> "ImportedAnimation":
        """Onto the first of ``rigs`` that has its bones, else onto a new armature."""
        if self.target == "ACTIVE":
            options = self._options(assign=rigs[0] not in moving)
            return animation_import.import_animation(context, rigs[0], file, options=options, report=report)
        animation = animation_import.read_animation(file, report)
        fitting = next((rig for rig in rigs if animation_import.fits(rig, animation, self.prefix, self.table())), None)
        options = self._options(assign=fitting not in moving)
        return animation_import.import_animation(context, fitting, animation, options=options, report=report)


class IO_FH_motionbridge_arma_rtm(DropOnMotion, FileHandler):
    """Drop of animations, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_arma_rtm"
    bl_label = "Arma Animation"
    bl_import_operator = "import_scene.arma_rtm"
    bl_export_operator = "export_scene.arma_rtm"
    bl_file_extensions = ".rtm"


CLASSES = (IMPORT_SCENE_OT_arma_rtm, IO_FH_motionbridge_arma_rtm)
