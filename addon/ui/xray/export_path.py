"""File > Export > X-Ray Motion Path (.anm): how the active object moves, or the way along a curve object."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...blender import scope
from ...core.report import Report
from ...games.xray.paths import path as paths
from ...games.xray.paths.properties import VERSIONS
from ..bases import BlenderOperator, ExportHelper
from ..curve_tolerances import Tolerances
from ..file_export import FileExport, draw_backup, is_collection_exporter
from ..layouts import fields, paragraph
from ..operation import Outcome
from ..target import mover_to_export
from ..wording import shown

LETTERS_SHOWN = 30


class EXPORT_SCENE_OT_xray_anm(FileExport, Tolerances, ExportHelper, BlenderOperator):
    """Export the active object, camera or curve as a motion path of S.T.A.L.K.E.R. (X-Ray) with its own keys"""

    bl_idname = "export_scene.xray_anm"
    bl_label = "Export X-Ray Motion Path"

    filename_ext = ".anm"
    filter_glob: StringProperty(default="*.anm", options={"HIDDEN"})
    collection: StringProperty(
        name="Source Collection", description="Export the moving object of this collection", options={"HIDDEN"}
    )
    version: EnumProperty(
        name="Version", description="Version of the file to write", items=VERSIONS, default="AUTOMATIC"
    )
    millimetres: FloatProperty(
        name="Tolerance (mm)",
        description=(
            "Largest distance between a fitted curve and the sampled object; larger rounding of stored "
            "handles is reported as a warning"
        ),
        default=0.1,
        min=0.001,
        soft_max=10.0,
        precision=3,
    )
    banked: BoolProperty(
        name="Tilt with Curve", description="An object that follows a curve object tilts with the curve", default=True
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is an object."""
        cls.poll_message_set("No object in the scene")
        return bool(len(context.scene.objects)) or is_collection_exporter(cls)

    def suggest(self, context: Any) -> None:
        """The file the path came from."""
        active = context.view_layer.objects.active
        action = paths.followed_action(active)
        if action is not None:
            self.filepath = bpy.path.abspath(action.motionbridge_path.path)
        elif active is not None and not self.filepath:
            self.filepath = f"{bpy.path.clean_name(active.name)}.anm"

    def draw(self, context: Any) -> None:
        """How; what is for curves only where a curve is meant."""
        layout = fields(self.layout)
        active = context.view_layer.objects.active
        if active is not None and not self.collection:
            _draw_how(layout, active)
        layout.prop(self, "version")
        self.draw_tolerances(layout)
        if self.collection or (active is not None and active.type == "CURVE"):
            layout.prop(self, "banked")
        draw_backup(layout, self, self.filepath)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        file = self.named_file(".anm")
        options = paths.PathExportOptions(
            version=None if self.version == "AUTOMATIC" else int(self.version),
            tolerance=self.tolerance(),
            banked=self.banked,
        )
        mover = mover_to_export(context, self.collection)
        with scope.progress(context, context.scene.frame_end) as step:
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
        box.label(text="Exported with its own keys", icon="KEYTYPE_KEYFRAME_VEC")
    else:
        box.label(text="Sampled on every frame because of", icon="INFO")
        for reason in reasons:
            paragraph(box, reason, LETTERS_SHOWN, "BLANK1")


CLASSES = (EXPORT_SCENE_OT_xray_anm,)
