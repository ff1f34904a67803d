"""File > Export > Descent 3 Model (.oof): what was imported with what was changed since, or what Blender made."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...core.errors import MotionbridgeError, WriteError
from ...core.report import Report
from ...games.descent3 import hierarchy, model_export, motion
from ...games.descent3.model_properties import holder_of
from ..bases import BlenderOperator, ExportHelper
from ..file_export import FileExport, draw_backup, is_collection_exporter
from ..layouts import fields
from ..operation import Outcome, broken_lines
from ..target import objects_of

NORMAL_ITEMS = (
    ("GAME", "Game's Normals", "Unedited normals remain unchanged; others are smoothed as by the game's own tools"),
    ("SHOWN", "Blender's Normals", "The normals that Blender shows; vertices are split at sharp edges"),
)


class EXPORT_SCENE_OT_descent3_oof(FileExport, ExportHelper, BlenderOperator):
    """Export an imported Descent 3 model, whose unedited parts keep their bytes, or selected meshes"""

    bl_idname = "export_scene.descent3_oof"
    bl_label = "Export Descent 3 Model"

    filename_ext = ".oof"
    filter_glob: StringProperty(default="*.oof", options={"HIDDEN"})
    collection: StringProperty(
        name="Source Collection",
        description="Export the model of this collection, such as one level of detail",
        options={"HIDDEN"},
    )
    modifiers: BoolProperty(
        name="Apply Modifiers", description="Export the mesh with its modifiers applied", default=False
    )
    normals: EnumProperty(
        name="Normals", description="Which vertex normals to export", items=NORMAL_ITEMS, default="GAME"
    )
    anew: BoolProperty(
        name="New File",
        description="Write a new file of version 2300 from the objects, without the imported data",
        default=False,
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a mesh."""
        cls.poll_message_set("No mesh in the scene")
        there = any(shown.type == "MESH" for shown in context.scene.objects)
        return there or is_collection_exporter(cls)

    _unseen: Report | None = None

    def suggest(self, context: Any) -> None:
        """The file the model came from; and what of it Blender does not show."""
        holder = holder_of(context.view_layer.objects.active)
        if holder is not None:
            self._unseen = _unseen_of(context, holder)
            came_from = holder.motionbridge_descent_model
            folder = bpy.path.abspath(came_from.path) if came_from.path else ""
            name = came_from.member or Path(folder).name or f"{bpy.path.clean_name(holder.name)}.oof"
            self.filepath = str(Path(folder).parent / name) if folder else name

    def draw(self, _context: Any) -> None:
        """The options."""
        layout = fields(self.layout)
        for name in ("modifiers", "normals", "anew"):
            layout.prop(self, name)
        draw_backup(layout, self, self.filepath)
        for finding in self._unseen.lines() if self._unseen is not None else ():
            for number, line in enumerate(broken_lines(finding, 40)):
                layout.label(text=line, icon="ERROR" if number == 0 else "BLANK1", translate=False)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = Path(self.named_file(".oof"))
        if path.suffix.lower() != model_export.SUFFIX:
            suffix = path.suffix or "a file without suffix"
            raise WriteError(f"the game reads models of .oof, not {suffix}", remedy="Use this suffix")
        options = model_export.ExportOptions(
            modifiers=self.modifiers, shown_normals=self.normals == "SHOWN", anew=self.anew, backup=self.backup
        )
        plan = model_export.export_model(context, chosen_model(context, self.collection), path, options, report)
        return Outcome(f"{path.name}: {plan.sentence()}")


def _unseen_of(context: Any, holder: Any) -> Report:
    chosen, report = hierarchy.Chosen(holder), Report()
    try:
        before = model_export.imported_model(chosen)
        return motion.unseen(hierarchy.hierarchy_of(context, chosen, report), before)
    except MotionbridgeError as refusal:  # which the export ends with, unless something is changed before
        report.warn(str(refusal))
        return report


def chosen_model(context: Any, collection: str = "") -> "hierarchy.Chosen":
    """The model to export: of ``collection``, else of the active object, else the only one, else what is selected.

    Raises `WriteError`.
    """
    inside = list(objects_of(collection) if collection else context.scene.objects)
    holders = [shown for shown in inside if shown.motionbridge_descent_model.is_model]
    active = holder_of(context.view_layer.objects.active)
    if not collection and active is not None:
        return hierarchy.Chosen(active)
    if collection and not holders:
        return hierarchy.Chosen(None, inside)
    # Long work is in a thread of its own, where Blender gives no `selected_objects`.
    chosen = [] if collection else context.view_layer.objects.selected
    selected = [shown for shown in chosen if holder_of(shown) is None]
    if selected:
        below = [child for shown in selected for child in shown.children_recursive]
        return hierarchy.Chosen(None, list(dict.fromkeys([*selected, *below])))
    if len(holders) == 1:
        return hierarchy.Chosen(holders[0])
    where = f"the collection {collection!r}" if collection else "the scene"
    raise WriteError(
        f"no model is active, and {where} holds {len(holders) or 'none'}",
        remedy="Keep one model in a collection that exports it" if collection else "Select the objects of one model",
    )


CLASSES = (EXPORT_SCENE_OT_descent3_oof,)
