"""File > Export > Arma Animation (.rtm): what the active armature plays."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...blender import scope
from ...blender.rotation_modes import played
from ...core.report import Report
from ...games.arma import animation_export, export_base, timing
from ..bases import BlenderOperator, ExportHelper
from ..file_export import ArmatureExport, draw_backup
from ..hidden_keys import HiddenKeysChoice
from ..layouts import fields
from ..operation import Outcome
from ..target import active_rig, rig_to_export
from .bone_names_choice import BoneNamesChoice
from .skeleton_files import SkeletonFilesChoice

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
    filter_glob: StringProperty(default="*.rtm", options={"HIDDEN"})
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
        default="",
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
        path = self.named_file(".rtm")
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


CLASSES = (EXPORT_SCENE_OT_arma_rtm,)
