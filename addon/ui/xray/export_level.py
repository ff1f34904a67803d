"""File > Export > X-Ray Level Geometry: the collision, occluders, sound occluders, ground or model that is active."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...core.errors import WriteError
from ...core.report import Report
from ...games.xray.levels import exporting as level_export
from ...games.xray.levels.properties import holder_of
from ..bases import BlenderOperator, ExportHelper
from ..file_export import FileExport, draw_backup, is_collection_exporter
from ..layouts import fields, paragraph
from ..operation import Outcome
from ..target import level_holder_to_export
from .collision_values import options_with_materials

LETTERS_SHOWN = 30


class EXPORT_SCENE_OT_xray_level_geometry(FileExport, ExportHelper, BlenderOperator):
    """Export the active object as part of a S.T.A.L.K.E.R. (X-Ray) level: collision, occluders, detail model"""

    bl_idname = "export_scene.xray_level_geometry"
    bl_label = "Export X-Ray Level Geometry"

    filename_ext = ""
    filter_glob: StringProperty(default="*.cform;*.hom;*.som;*.details;*.dm", options={"HIDDEN"})
    collection: StringProperty(
        name="Source Collection", description="Export what of a level is in this collection", options={"HIDDEN"}
    )
    modifiers: BoolProperty(
        name="Apply Modifiers", description="Export the mesh with its modifiers applied", default=False
    )
    anew: BoolProperty(
        name="New File",
        description="Write a new file of the newest version from the mesh, without the imported data",
        default=False,
    )
    findings: StringProperty(
        name="Findings", description="Errors and warnings for the game", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is something of a level."""
        cls.poll_message_set("No level objects in the scene; set a mesh's kind in the X-Ray Level panel")
        there = any(shown.motionbridge_level.kind in level_export.SUFFIXES for shown in context.scene.objects)
        return there or is_collection_exporter(cls)

    def suggest(self, context: Any) -> None:
        """The file it came from."""
        holder = holder_of(context.view_layer.objects.active)
        if holder is not None and holder.motionbridge_level.kind in level_export.SUFFIXES:
            came_from = holder.motionbridge_level.path
            suffix = level_export.SUFFIXES[holder.motionbridge_level.kind]
            name = bpy.path.clean_name(holder.name)
            self.filepath = bpy.path.abspath(came_from) if came_from else f"{name}{suffix}"
            options = options_with_materials(context, holder, Report())
            found = level_export.find_problems(context, holder, Report(), options)
            self.findings = "\n".join(one.problem.sentence for one in found)

    def check(self, _context: Any) -> bool:
        """The suffix is that of the kind, and is not forced while a name is typed."""
        return False

    def draw(self, _context: Any) -> None:
        """The options."""
        layout = fields(self.layout)
        for name in ("modifiers", "anew"):
            layout.prop(self, name)
        draw_backup(layout, self, self.filepath)
        if self.findings:
            column = layout.column(align=True)
            column.label(text="Check first:", icon="ERROR")
            for finding in self.findings.split("\n"):
                paragraph(column, finding, LETTERS_SHOWN, "BLANK1")

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = Path(self.named_file(".cform, .hom, .som, .details or .dm"))
        holder = level_holder_to_export(context, self.collection)
        suffix = level_export.SUFFIXES[holder.motionbridge_level.kind]
        if not path.suffix:
            path = path.with_suffix(suffix)
        if path.suffix.lower() != suffix:
            raise WriteError(
                f"{holder.name!r} needs a file with the suffix {suffix}, not {path.suffix}", remedy="Use this suffix"
            )
        options = options_with_materials(
            context, holder, report, modifiers=self.modifiers, anew=self.anew, backup=self.backup
        )
        plan = level_export.export_file(context, holder, path, options, report)
        return Outcome(f"{path.name}: {plan.sentence()}")


CLASSES = (EXPORT_SCENE_OT_xray_level_geometry,)
