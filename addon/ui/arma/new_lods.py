"""All LODs of a new model in one dialog, made from the mesh that is drawn."""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender import scope
from ...blender.typed import Context, Object
from ...core.errors import MotionbridgeError
from ...core.report import Report, joined, say
from ...formats.arma import lists
from ...games.arma import lod_list, new_lods
from ...games.arma.options import NewLodOptions
from ...games.arma.properties import is_of_model
from ..bases import BlenderOperator, classes_of, iface_, options_from, properties_from, rpt_, tell
from ..layouts import draw_folded, fields, paragraph
from ..operation import Need, Operation, Outcome
from ..target import on_active

NewLodProperties: Any = properties_from(NewLodOptions)
LETTERS = 60
"""Characters that fit into one line of the dialog."""


def _materials(operator: Any, _context: Context, typed: str) -> list[str]:
    """Suggest the penetration materials of the game."""
    return [name for name in lists.PENETRATION[operator.game][1].split() if typed.lower() in name]


def _is_source(obj: Object | None) -> bool:
    return obj is not None and (obj.type == "MESH" or is_of_model(obj))


class MOTIONBRIDGE_OT_arma_new_lods(NewLodProperties, Operation, BlenderOperator):
    """Make the LODs of a new model from its first Resolution LOD, or from the active mesh"""

    bl_idname = "motionbridge.arma_new_lods"
    bl_label = "Make All Arma LODs"
    needs = (Need("No mesh is active from which LODs can be made", on_active(_is_source)),)

    details: BoolProperty(name="Shapes, Mass and Material", description="Show the other options", options={"SKIP_SAVE"})
    material: StringProperty(
        name="Penetration",
        description="Penetration material of the Fire Geometry: a name, or the path of an .rvmat; empty for metal",
        search=_materials,
        search_options={"SUGGESTION"},
    )
    summary: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        lods = lod_list.lods_of(context)
        return [new_lods.source_of(context), *(part for lod in lods for part in (*lod.parts, lod.obj.data))]

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Count the open parts, whose shadows are those of their hulls, before the dialog opens."""
        source = new_lods.source_of(context)
        if source is None:
            return self.execute(context)
        with scope.object_mode(context):
            parts = new_lods.loose_parts(context, source, Report())
        self.summary = tell(say("{}: {:# loose part|# loose parts}", source.name, len(parts.is_open)))
        if parts.is_open.any():
            self.summary += f"\n{tell(new_lods.open_parts(parts))}"
        return context.window_manager.invoke_props_dialog(self, width=420, confirm_text=iface_("Make LODs"))

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.grid_flow(columns=3, row_major=True, align=True).prop(self, "lods")
        column = fields(layout.column())
        column.prop(self, "game")
        column.prop(self, "model")
        column.prop(self, "replace")
        folded = draw_folded(layout, self, "details")
        if folded is not None:
            for name in ("ratios", "shape", "density", "smallest", "fire", "material"):
                folded.prop(self, name)
        for line, icon in zip(self.summary.splitlines(), ("MESH_DATA", "INFO"), strict=False):
            paragraph(layout, line, LETTERS, icon)
        self._draw_present(layout, context)

    def _draw_present(self, layout: Any, context: Context) -> None:
        source = new_lods.source_of(context)
        try:
            present = new_lods.present(context, source, self._options()) if source is not None else []
        except MotionbridgeError:
            return  # the message comes when the dialog is confirmed
        if present:
            text = iface_("Replaced: {}") if self.replace else iface_("Not changed, because they exist: {}")
            paragraph(layout, text.format(", ".join(present)), LETTERS, "ERROR" if self.replace else "INFO")

    def _options(self) -> NewLodOptions:
        return options_from(self, NewLodOptions, material=self.material)

    def run(self, context: Context, report: Report) -> Outcome:
        """Make them, and show the mesh that they were made from."""
        source = new_lods.source_of(context)
        if source is None:
            return Outcome(rpt_("The model has no Resolution LOD from which others can be made"), done=False)
        with scope.object_mode(context):
            result = new_lods.make(context, source, self._options(), report)
            lods = lod_list.lods_of(context)
            alone = context.scene.motionbridge_arma_lods.solo
            lod_list.show(context, lods, lods[lod_list.index_of(lods, source)], alone=alone)
        if result.kept:
            report.note("not changed, because it exists; Replace Existing changes it", ", ".join(result.kept))
        if not result.lods and not result.points and not result.properties:
            return Outcome(rpt_("Everything that was chosen exists"), done=False)
        counted = [
            (len(result.lods), say("{:# LOD|# LODs} ({})", len(result.lods), ", ".join(result.lods))),
            (result.points, say("{:# point|# points}", result.points)),
            (result.properties, say("{:# named property|# named properties}", result.properties)),
        ]
        return Outcome(tell(say("Created {}", joined([words for count, words in counted if count])), rpt_))


CLASSES = classes_of(__name__)
