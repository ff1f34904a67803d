"""File > Export > Arma Animation (.rtm): what the active armature plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..blender.rotation_modes import played
from ..blender.scope import progress
from ..core.report import Report
from ..games.arma.animation_export import (
    AnimationExportOptions,
    FileKind,
    PhasesFrom,
    StepFrom,
    plan_export,
)
from ..games.arma.export_bones import NamesFrom
from ..games.arma.export_frames import FramesFrom
from .bases import BlenderOperator, ExportHelper
from .bone_names_choice import BoneNamesChoice
from .file_export import ArmatureExport, draw_backup
from .hidden_keys import HiddenKeysChoice
from .layouts import fields
from .operation import Outcome
from .skeleton_files import SkeletonFilesChoice
from .target import active_rig, rig_to_export

KINDS = (
    ("AS_IT_CAME", "As It Came", "The kind of file the animation came in; plain for new ones"),
    ("PLAIN", "Plain", "What tools read (RTM_0101)"),
    (
        "BINARISED",
        "Binarised",
        "What the game makes of it (BMTR 5): half the precision, one scale for all axes, with hierarchy",
    ),
)
FRAMES = (
    ("KEYS", "Keys", "Every frame on which a bone has a key; in new animations also those that Tolerance asks for"),
    ("EVERY", "Every Nth Frame", "Frames of the action's range, so many apart, and the last one"),
    ("RANGE", "Range", "Frames of a range, so many apart"),
)
PHASES = (
    ("KEPT", "Kept", "The file's own where its keys lie, in between in proportion; new animations go from 0 to 1"),
    ("EVEN", "Even", "Evenly from 0 to 1"),
)
STEPS = (
    ("AUTOMATIC", "Automatic", "The number on the action, or what the object's keys say where these were edited"),
    ("TYPED", "As Typed", "The number on the action"),
    ("BONE", "Way of a Bone", "How far a bone goes in one cycle, which is taken out of the animation"),
)
NAMES = (
    ("FILE", "The File", "As the file it came from, or the skeleton that the armature knows"),
    ("CONFIG", "model.cfg", "As the model.cfg named below or beside the file lists them"),
    ("ARMATURE", "The Armature", "As the armature's bones are listed and spelled"),
)


class EXPORT_SCENE_OT_arma_rtm(
    BoneNamesChoice, HiddenKeysChoice, SkeletonFilesChoice, ArmatureExport, ExportHelper, BlenderOperator
):
    """Export what the active armature plays as an animation of Arma and Operation Flashpoint (.rtm)"""

    bl_idname = "export_scene.arma_rtm"
    bl_label = "Export Arma Animation"

    filename_ext = ".rtm"
    filter_glob: StringProperty(default="*.rtm", options={"HIDDEN"})
    kind: EnumProperty(name="File", description="Which kind of file is written", items=KINDS, default="AS_IT_CAME")
    frames: EnumProperty(name="Frames", description="Which frames become keys", items=FRAMES, default="KEYS")
    every: IntProperty(name="Every", description="Frames from one key to the next", default=1, min=1)
    tolerance: FloatProperty(
        name="Tolerance",
        description="New animations get keys where the game's blend between keys would be off by more than this. Keys "
        "alone: 0",
        default=0.001,
        min=0.0,
        soft_max=0.1,
        precision=4,
        subtype="DISTANCE",
    )
    first: IntProperty(name="First", description="First frame of the range", default=0)
    last: IntProperty(name="Last", description="Last frame of the range", default=20)
    phases: EnumProperty(name="Phases", description="Where in the cycle keys lie", items=PHASES, default="KEPT")
    step: EnumProperty(
        name="Step", description="How far the model moves in one cycle", items=STEPS, default="AUTOMATIC"
    )
    step_bone: StringProperty(name="Bone", description="The bone whose way is the step", default="")
    vertical: BoolProperty(
        name="Also Upwards", description="The step also has the bone's way up or down", default=False
    )
    names: EnumProperty(name="Names and Order", description="What decides them", items=NAMES, default="FILE")
    config: StringProperty(
        name="model.cfg",
        description="The model.cfg of the skeleton: for names and order, and for the hierarchy of binarised files",
        default="",
    )
    prefix: StringProperty(
        name="Prefix", description="What the armature's bones have before the game's names", default=""
    )
    own_markers: BoolProperty(
        name="Markers as Events",
        description="The action's pose markers that are no events yet become events of their names",
        default=False,
    )
    from_file: BoolProperty(
        name="Start from the File",
        description="What nobody touched keeps the numbers of the file it came from",
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
        options = AnimationExportOptions(
            kind=FileKind[self.kind],
            frames=FramesFrom[self.frames],
            every=self.every,
            first=self.first,
            last=self.last,
            phases=PhasesFrom[self.phases],
            step=StepFrom[self.step],
            step_bone=self.step_bone,
            vertical=self.vertical,
            names=NamesFrom[self.names],
            config=bpy.path.abspath(self.config),
            prefix=self.prefix,
            table=self.table(),
            own_markers=self.own_markers,
            from_file=self.from_file,
            hidden=self.hidden_keys_option(),
            tolerance=self.tolerance,
        )
        rig = rig_to_export(context, self.collection)
        with progress(context, context.scene.frame_end) as step:
            plan = plan_export(context, rig, path, options=options, report=report, progress=step)
        plan.write(backup=self.backup)
        self.restore_hidden_keys(rig, [played(rig)])
        return Outcome(f"{Path(path).name}: {plan.sentence()}")


CLASSES = (EXPORT_SCENE_OT_arma_rtm,)
