"""Animations (.rtm): import, export, and the options that both have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...blender import collection, scope
from ...blender.rotation_modes import played
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.arma import bone_table
from ...games.arma import animation_export, animation_import, export_base, kinds, skeletons, timing
from ...games.arma.properties import STEP_ITEMS
from .. import nearby_paths
from ..bases import BlenderOperator, ExportHelper, ImportHelper
from ..files import ArmatureExport, FileImport, draw_backup
from ..hidden_keys import HiddenKeysChoice
from ..layouts import fields
from ..operation import Outcome
from ..sidebar import MotionbridgePanel
from ..target import active_rig, rig_to_export
from ..translations import said

if TYPE_CHECKING:
    from ...games.arma.animation_import import ImportedAnimation

NAMINGS = (
    ("AS_THEY_ARE", "Same Names", "The file and the armature use the same bone names"),
    (
        "FLASHPOINT_ON_ARMA",
        "Flashpoint on Arma",
        "The file has the bones of the Flashpoint man, the armature those of the Arma man",
    ),
    (
        "ARMA_ON_FLASHPOINT",
        "Arma on Flashpoint",
        "The file has the bones of the Arma man, the armature those of the Flashpoint man",
    ),
    ("TABLE", "Custom Table", "A JSON table maps bone names of the file to bone names of the armature"),
)


class BoneNamesChoice:
    """Mixed into operators that read or write files for an armature."""

    bone_names: EnumProperty(
        name="Bone Names",
        description="How bone names of the file are matched to bone names of the armature",
        items=NAMINGS,
        default="AS_THEY_ARE",
    )
    bone_table: StringProperty(
        name="Table",
        description='A JSON file: {"bones": {"name in the file": "name in the armature"}}',
        search=nearby_paths.offered(".json"),
        search_options={"SUGGESTION"},
    )

    def draw_bone_names(self, layout: Any) -> None:
        """The choice, and the file where one is asked for."""
        layout.prop(self, "bone_names")
        if self.bone_names == "TABLE":
            layout.prop(self, "bone_table")

    def table(self) -> bone_table.BoneTable:
        """What is chosen. Raises `ReadError`."""
        if self.bone_names == "AS_THEY_ARE":
            return bone_table.BoneTable()
        if self.bone_names == "TABLE":
            if not self.bone_table:
                raise ReadError(
                    "no table of bone names is set",
                    remedy="Choose a JSON file, or another setting of Bone Names",
                )
            return bone_table.read_file(bpy.path.abspath(self.bone_table))
        shipped = bone_table.flashpoint_to_arma()
        return shipped if self.bone_names == "FLASHPOINT_ON_ARMA" else shipped.reversed()


SKELETON_FILES = ("config", "pivots_model")


class SkeletonFilesChoice:
    """Mixed into operators with `config` and maybe `pivots_model`, before those that open a dialog."""

    def invoke(self, context: Any, event: Any) -> Any:
        """Suggest the scene's files, then open the dialog."""
        dialog: Any = super()
        chosen = context.scene.motionbridge_skeleton_files
        for name in SKELETON_FILES:
            if getattr(self, name, None) is not None and getattr(chosen, name):
                setattr(self, name, getattr(chosen, name))
        return dialog.invoke(context, event)


class SkeletonFilesPanel(MotionbridgePanel):
    """The files, in a panel below one of Arma's."""

    bl_label = "Arma Skeleton Files"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        """The files."""
        column = fields(self.layout.column())
        for name in SKELETON_FILES:
            column.prop(context.scene.motionbridge_skeleton_files, name)


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
    filter_glob: StringProperty(default=kinds.ANIMATIONS.glob, options={"HIDDEN"})
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
        search=nearby_paths.offered(".cfg"),
        search_options={"SUGGESTION"},
    )
    pivots: EnumProperty(
        name="Joints",
        description="Head positions of the new armature's bones; the pose is the same with every choice",
        items=PIVOTS,
        default="AUTOMATIC",
    )
    pivots_model: StringProperty(
        name="Pivots Model",
        description="A .p3d model with one point per bone",
        search=nearby_paths.offered(".p3d"),
        search_options={"SUGGESTION"},
    )
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

    def _options(self, *, assign: bool) -> animation_import.AnimationImportOptions:
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

    def _import(self, context: Any, file: str, rigs: list[Any], moving: set[Any], report: Report) -> ImportedAnimation:
        """Onto the first of ``rigs`` that has its bones, else onto a new armature."""
        if self.target == "ACTIVE":
            options = self._options(assign=rigs[0] not in moving)
            return animation_import.import_animation(context, rigs[0], file, options=options, report=report)
        animation = animation_import.read_animation(file, report)
        fitting = next((rig for rig in rigs if animation_import.fits(rig, animation, self.prefix, self.table())), None)
        options = self._options(assign=fitting not in moving)
        return animation_import.import_animation(context, fitting, animation, options=options, report=report)


KINDS = (
    ("AS_IT_CAME", "Same as Imported", "The encoding of the imported file; plain for new animations"),
    ("PLAIN", "Plain", "The encoding that tools read (RTM_0101)"),
    (
        "BINARISED",
        "Binarised",
        "The game's own encoding (BMTR 5): half precision, one scale for all axes, needs a hierarchy",
    ),
)
FRAMES = (
    ("KEYS", "Keys", "Every frame where a bone has a key, and in new animations the frames needed for Tolerance"),
    ("EVERY", "Every Nth Frame", "Every Nth frame of the action's range, and the last frame"),
    ("RANGE", "Range", "Every Nth frame of a range"),
)
PHASES = (
    ("KEPT", "From the File", "Phases of the file's keys, interpolated between them; new animations go from 0 to 1"),
    ("EVEN", "Evenly Spaced", "Evenly spaced from 0 to 1"),
)
STEPS = (
    (
        "AUTOMATIC",
        "Automatic",
        "The step of the action's panel, or the travel of the object's keys if they were edited",
    ),
    ("TYPED", "Step of the Action", "The step typed into the action's panel"),
    (
        "BONE",
        "Travel of a Bone",
        "The distance a bone travels in one cycle is removed from the animation and becomes the step",
    ),
)
NAMES = (
    ("FILE", "The File", "Names and order of the source file, or of the armature's skeleton"),
    ("CONFIG", "model.cfg", "Names and order of the model.cfg set below or found in the file's folder"),
    ("ARMATURE", "The Armature", "Names and order of the armature's bones"),
)


class EXPORT_SCENE_OT_arma_rtm(
    BoneNamesChoice, HiddenKeysChoice, SkeletonFilesChoice, ArmatureExport, ExportHelper, BlenderOperator
):
    """Export the active armature's animation for Arma and Operation Flashpoint (.rtm)"""

    bl_idname = "export_scene.arma_rtm"
    bl_label = "Export Arma Animation"

    filename_ext = ".rtm"
    filter_glob: StringProperty(default=kinds.ANIMATIONS.exported_glob, options={"HIDDEN"})
    kind: EnumProperty(name="File", description="Encoding of the written file", items=KINDS, default="AS_IT_CAME")
    frames: EnumProperty(name="Frames", description="Which frames become keys", items=FRAMES, default="KEYS")
    every: IntProperty(name="Every Nth", description="Number of frames from one key to the next", default=1, min=1)
    tolerance: FloatProperty(
        name="Tolerance",
        description=(
            "Largest error of the game's blend between keys before new animations get another key; 0 for "
            "Blender's keys only"
        ),
        default=0.001,
        min=0.0,
        soft_max=0.1,
        precision=4,
        subtype="DISTANCE",
    )
    first: IntProperty(name="First", description="First frame of the range", default=0)
    last: IntProperty(name="Last", description="Last frame of the range", default=20)
    phases: EnumProperty(name="Phases", description="Phase of each key in the cycle", items=PHASES, default="KEPT")
    step: EnumProperty(
        name="Step", description="Distance the model moves in one cycle", items=STEPS, default="AUTOMATIC"
    )
    step_bone: StringProperty(name="Bone", description="The bone whose travel becomes the step", default="")
    vertical: BoolProperty(
        name="Include Vertical", description="Include the vertical travel of the bone in the step", default=False
    )
    names: EnumProperty(
        name="Names and Order",
        description="Where the names and the order of the bones come from",
        items=NAMES,
        default="FILE",
    )
    config: StringProperty(
        name="model.cfg",
        description="The model.cfg of the skeleton, for names, order and the hierarchy of binarised files",
        search=nearby_paths.offered(".cfg"),
        search_options={"SUGGESTION"},
    )
    prefix: StringProperty(
        name="Prefix", description="Prefix of the armature's bone names before the names of the game", default=""
    )
    own_markers: BoolProperty(
        name="Markers as Events",
        description="Export new pose markers of the action as events with the markers' names",
        default=False,
    )
    from_file: BoolProperty(
        name="Edit Source File",
        description="Unedited values keep the numbers of the source file",
        default=True,
    )

    def suggest(self, context: Any) -> None:
        """The file the animation came from."""
        rig = active_rig(context)
        action = rig.animation_data.action if rig is not None and rig.animation_data is not None else None
        if action is not None:
            came_from = action.motionbridge_animation.path
            self.filepath = bpy.path.abspath(came_from) if came_from else f"{bpy.path.clean_name(action.name)}.rtm"
            self.first, self.last = (round(frame) for frame in action.frame_range)

    def draw(self, context: Any) -> None:
        """The options, those that nothing is asked of left out."""
        layout = fields(self.layout)
        self.draw_hidden_keys(layout, active_rig(context))
        layout.prop(self, "kind")
        layout.prop(self, "frames")
        if self.frames == "RANGE":
            layout.prop(self, "first")
            layout.prop(self, "last")
        layout.prop(self, "tolerance" if self.frames == "KEYS" else "every")
        layout.prop(self, "phases")
        layout.prop(self, "step")
        if self.step == "BONE":
            rig = active_rig(context)
            if rig is not None:
                layout.prop_search(self, "step_bone", rig.data, "bones")
            layout.prop(self, "vertical")
        layout.prop(self, "names")
        if self.names == "CONFIG" or self.kind == "BINARISED":
            layout.prop(self, "config")
        layout.prop(self, "prefix")
        self.draw_bone_names(layout)
        for name in ("own_markers", "from_file"):
            layout.prop(self, name)
        draw_backup(layout, self, self.filepath)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = self.named_file(kinds.ANIMATIONS)
        options = animation_export.AnimationExportOptions(
            kind=animation_export.FileKind[self.kind],
            frames=timing.FramesFrom[self.frames],
            every=self.every,
            first=self.first,
            last=self.last,
            phases=animation_export.PhasesFrom[self.phases],
            step=animation_export.StepFrom[self.step],
            step_bone=self.step_bone,
            vertical=self.vertical,
            names=export_base.NamesFrom[self.names],
            config=bpy.path.abspath(self.config),
            prefix=self.prefix,
            table=self.table(),
            own_markers=self.own_markers,
            from_file=self.from_file,
            hidden=self.hidden_keys_option(),
            tolerance=self.tolerance,
        )
        rig = rig_to_export(context, self.collection)
        with scope.progress(context, context.scene.frame_end) as step:
            plan = animation_export.plan_export(context, rig, path, options=options, report=report, progress=step)
        plan.write(backup=self.backup)
        self.restore_hidden_keys(rig, [played(rig)])
        return Outcome(f"{Path(path).name}: {plan.sentence()}")


CLASSES = (
    IMPORT_SCENE_OT_arma_rtm,
    EXPORT_SCENE_OT_arma_rtm,
)
