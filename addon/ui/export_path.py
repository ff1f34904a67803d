"""File > Export > X-Ray Motion Path (.anm): how the active object moves, or the way along a curve object."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..blender.scope import progress
from ..core.errors import WriteError
from ..core.report import Report
from ..games.xray import path as paths
from .bases import BlenderOperator, ExportHelper
from .operation import Operation, Outcome
from .preferences import preferences
from .target import mover_to_export
from .wording import shown

LETTERS_SHOWN = 30


class EXPORT_SCENE_OT_xray_anm(Operation, ExportHelper, BlenderOperator):
    """Export the active object, camera or curve as a motion path of S.T.A.L.K.E.R. (X-Ray), its keys as they are"""

    bl_idname = "export_scene.xray_anm"
    bl_label = "Export X-Ray Motion Path"
    bl_options = {"PRESET"}

    filename_ext = ".anm"
    filter_glob: StringProperty(default="*.anm", options={"HIDDEN"})
    collection: StringProperty(
        name="Source Collection", description="Export the moving object of this collection", options={"HIDDEN"}
    )
    version: EnumProperty(
        name="Version", description="Version of the file to write", items=paths.VERSIONS, default="AUTOMATIC"
    )
    millimetres: FloatProperty(
        name="Tolerance (mm)",
        description="How far the fitted curve may lie from where the object is, where it has to be sampled; also when "
        "steps of stored handles are worth a warning",
        default=0.1,
        min=0.001,
        soft_max=10.0,
        precision=3,
    )
    degrees: FloatProperty(
        name="Tolerance (°)",
        description="The same for rotations, in degrees",
        default=0.01,
        min=0.0001,
        soft_max=1.0,
        precision=4,
    )
    banked: BoolProperty(
        name="Bank with the Curve", description="What moves along a curve object tilts as the curve does", default=True
    )
    backup: BoolProperty(name="Keep a Backup", description="Keep a file that is there beside the new one", default=True)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is an object."""
        cls.poll_message_set("There is no object in the scene")
        return bool(len(context.scene.objects))

    def invoke(self, context: Any, event: Any) -> Any:
        """The file browser, at the file the path came from."""
        active = context.view_layer.objects.active
        action = paths.followed_action(active)
        if action is not None:
            self.filepath = bpy.path.abspath(action.motionbridge_path.path)
        elif active is not None and not self.filepath:
            self.filepath = f"{bpy.path.clean_name(active.name)}.anm"
        self.backup = preferences(context).backup
        return ExportHelper.invoke(self, context, event)

    def draw(self, context: Any) -> None:
        """How; what is for curves only where a curve is meant."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        active = context.view_layer.objects.active
        if active is not None and not self.collection:
            _draw_how(layout, active)
        layout.prop(self, "version")
        column = layout.column(align=True)
        column.prop(self, "millimetres")
        column.prop(self, "degrees")
        if self.collection or (active is not None and active.type == "CURVE"):
            layout.prop(self, "banked")
        layout.prop(self, "backup")

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        if not self.filepath:
            raise WriteError("no file is named", remedy="Name the file to write (.anm)")
        file = bpy.path.abspath(self.filepath)
        options = paths.PathExportOptions(
            version=None if self.version == "AUTOMATIC" else int(self.version),
            tolerance=(self.millimetres / 1000, math.radians(self.degrees)),
            banked=self.banked,
        )
        mover = mover_to_export(context, self.collection)
        with progress(context, context.scene.frame_end) as step:
            plan = paths.plan_export(context, mover, file, options=options, report=report, progress=step)
        plan.write(backup=self.backup)
        return Outcome(f"{Path(file).name}: {plan.sentence()}")


def _draw_how(layout: Any, active: Any) -> None:
    """Whether keys go out as they are, before anybody wonders why there are others."""
    reasons = paths.why_sampled(active)
    box = layout.column(align=True)
    if reasons is None:
        box.label(text=shown("{} does not move").format(active.name), icon="ERROR", translate=False)
    elif not reasons:
        box.label(text="Its keys go out as they are", icon="KEYTYPE_KEYFRAME_VEC")
    else:
        box.label(text="Fitted to every frame, because of", icon="INFO")
        for reason in reasons:
            for line in textwrap.wrap(reason, LETTERS_SHOWN):
                box.label(text=line, icon="BLANK1", translate=False)


CLASSES = (EXPORT_SCENE_OT_xray_anm,)
