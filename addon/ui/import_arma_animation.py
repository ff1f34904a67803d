"""File > Import > Arma Animation (.rtm) and the drop of such files: onto the active armature or a new one."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..blender import collection
from ..blender.scope import object_mode, progress
from ..core.errors import ReadError
from ..core.report import Report
from ..games.arma.animation_import import AnimationImportOptions, ImportedAnimation, StepMode, fits, import_animation
from ..games.arma.animation_properties import STEP_ITEMS
from ..games.arma.hierarchies import HierarchyFrom
from ..games.arma.skeleton import PivotsFrom
from .bases import BlenderOperator, FileHandler, ImportHelper
from .bone_names_choice import BoneNamesChoice
from .file_import import DropOnMotion, FileImport
from .layouts import fields
from .operation import Outcome
from .skeleton_files import SkeletonFilesChoice
from .target import active_rig
from .wording import said

TARGETS = (
    ("AUTOMATIC", "Automatic", "The active armature if it has bones of the animation, else a new armature"),
    ("ACTIVE", "Active Armature", "Bones are found by their names, upper and lower case being the same"),
    ("NEW", "New Armature", "An armature is made for the animation; further files go onto it where they fit"),
)
HIERARCHIES = (
    ("AUTOMATIC", "Automatic", "The model.cfg beside the file, else the known man that has these bones, else none"),
    ("CONFIG", "model.cfg", "The skeleton of a model.cfg, named below or beside the file"),
    ("ARMA3", "Arma 3 Man", "OFP2_ManSkeleton of Arma 3"),
    ("ARMA2", "Arma 2 Man", "OFP2_ManSkeleton of Arma 2"),
    (
        "FLASHPOINT",
        "Flashpoint Man",
        "The man of Operation Flashpoint; the game has no hierarchy, this one is for work",
    ),
    ("FLAT", "None", "Every bone stands for itself"),
)
PIVOTS = (
    ("AUTOMATIC", "Automatic", "Of the pivots model where one is named, else of the animation, else of the known man"),
    ("MODEL", "Pivots Model", "Points of a .p3d model named like the bones"),
    ("ANIMATION", "Animation", "Where bones turn about a point that stays, that is their joint"),
    ("BUILT_IN", "Known Man", "Joints of the man of Arma 3, within a centimetre"),
)
TIMINGS = (
    ("KEYS", "One Frame a Key", "A frame is a key of the file"),
    ("SECONDS", "By Phase", "Keys lie where their phases say, in a cycle of so many seconds at the scene's rate"),
)


class IMPORT_SCENE_OT_arma_rtm(BoneNamesChoice, SkeletonFilesChoice, FileImport, ImportHelper, BlenderOperator):
    """Import animations of Arma and Operation Flashpoint (.rtm), plain or binarised, each as an action"""

    bl_idname = "import_scene.arma_rtm"
    bl_label = "Import Arma Animation"

    filename_ext = ".rtm"
    filter_glob: StringProperty(default="*.rtm", options={"HIDDEN"})
    target: EnumProperty(name="Onto", description="Which armature moves", items=TARGETS, default="AUTOMATIC")
    hierarchy: EnumProperty(
        name="Hierarchy",
        description="Which bone hangs on which; the pose is the same with any, but binarised files need the game's own",
        items=HIERARCHIES,
        default="AUTOMATIC",
    )
    config: StringProperty(
        name="model.cfg", description="The model.cfg of the skeleton; empty for the one beside the file", default=""
    )
    pivots: EnumProperty(
        name="Joints",
        description="Where the bones of a new armature begin; the pose is the same with any",
        items=PIVOTS,
        default="AUTOMATIC",
    )
    pivots_model: StringProperty(name="Pivots Model", description="A .p3d with a point for each bone", default="")
    whole_skeleton: BoolProperty(
        name="Whole Skeleton",
        description="A new armature also has the bones of the hierarchy that the animation does not move",
        default=False,
    )
    prefix: StringProperty(
        name="Prefix", description="What the armature's bones have before the game's names", default=""
    )
    first_frame: IntProperty(name="First Frame", description="Frame of phase 0 or of the first key", default=0)
    timing: EnumProperty(name="Timing", description="On which frames keys lie", items=TIMINGS, default="KEYS")
    seconds: FloatProperty(
        name="Seconds",
        description="How long a cycle lasts in the game: 1 / speed of its config, or -speed where that is negative",
        default=1.0,
        min=0.01,
        soft_max=20.0,
    )
    step: EnumProperty(
        name="Step",
        description="What becomes of the way the model goes in one cycle; all can be exported again as they came",
        items=STEP_ITEMS,
        default="LEFT_OUT",
    )
    fake_user: BoolProperty(
        name="Fake User", description="Saving keeps the actions that nothing plays at the moment", default=True
    )
    stash: BoolProperty(name="Stash", description="Put each action on a muted NLA track of its own", default=False)

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

    def _options(self, *, assign: bool) -> AnimationImportOptions:
        return AnimationImportOptions(
            hierarchy=HierarchyFrom[self.hierarchy],
            config=bpy.path.abspath(self.config),
            pivots=PivotsFrom[self.pivots],
            pivots_model=bpy.path.abspath(self.pivots_model),
            whole_skeleton=self.whole_skeleton,
            prefix=self.prefix,
            table=self.table(),
            first_frame=self.first_frame,
            seconds=self.seconds if self.timing == "SECONDS" else None,
            step=StepMode[self.step],
            fake_user=self.fake_user,
            assign=assign,
            stash=self.stash,
        )

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file; the first plays at once on each armature."""
        chosen = self.chosen_files("Choose at least one animation (.rtm)")
        rig = active_rig(context) if self.target != "NEW" else None
        if rig is None and self.target == "ACTIVE":
            raise ReadError("no armature is active", remedy="Click the armature that is to move, or choose a new one")
        made: list[ImportedAnimation] = []
        rigs = [rig] if rig is not None else []
        with object_mode(context), progress(context, len(chosen)) as step:

            def one(file: str, found: Report) -> None:
                made.append(self._import(context, file, rigs, {done.rig for done in made}, found))
                if made[-1].rig not in rigs:
                    rigs.append(made[-1].rig)
                step(len(made))

            self.each_file(chosen, one, report)
        if made[0].rig is not rig:
            collection.make_current(context, [made[0].rig], made[0].rig)
        return Outcome(said("Imported animations: {}; {} moves").format(len(made), made[0].rig.name))

    def _import(self, context: Any, file: str, rigs: list[Any], moving: set[Any], report: Report) -> ImportedAnimation:
        """Onto the first of ``rigs`` that has its bones, else onto a new armature."""
        if self.target == "ACTIVE":
            options = self._options(assign=rigs[0] not in moving)
            return import_animation(context, rigs[0], file, options=options, report=report)
        fitting = next((rig for rig in rigs if fits(rig, file, self.prefix, self.table())), None)
        options = self._options(assign=fitting not in moving)
        return import_animation(context, fitting, file, options=options, report=report)


class IO_FH_motionbridge_arma_rtm(DropOnMotion, FileHandler):
    """Drop of animations, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_arma_rtm"
    bl_label = "Arma Animation"
    bl_import_operator = "import_scene.arma_rtm"
    bl_export_operator = "export_scene.arma_rtm"
    bl_file_extensions = ".rtm"


CLASSES = (IMPORT_SCENE_OT_arma_rtm, IO_FH_motionbridge_arma_rtm)
