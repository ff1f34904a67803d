"""Vertex groups of an Arma model: weights cleaned up for the game."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ...blender import scope
from ...blender.typed import Context, Object
from ...core.report import Report
from ...games.arma import lod_list, selections
from ..bases import BlenderOperator, classes_of, iface_, rpt_
from ..layouts import paragraph
from ..operation import Need, Operation, Outcome
from .lods import PART
from .model_tools import can_undo_groups

if TYPE_CHECKING:
    from ...formats.arma.p3d.weights import CleanWeights

LETTERS = 60
"""Characters that fit into one line of the dialog."""


def _animated(context: Context) -> list[Object]:
    """Return the LODs of the active model that follow an armature, each mesh once."""
    meshes = [lod.obj for lod in lod_list.lods_of(context) if lod.is_mesh and lod.obj.find_armature() is not None]
    return scope.one_for_each_mesh(meshes)


class MOTIONBRIDGE_OT_arma_clean_weights(Operation, BlenderOperator):
    """Limit each vertex of all LODs to four bones whose weights add up to 1, as the game stores them"""

    bl_idname = "motionbridge.arma_clean_weights"
    bl_label = "Clean Up Weights"
    needs = (
        PART,
        Need("No LOD of the model follows an armature: its bones have the weights", _animated),
        Need("Leave edit mode first (Tab): this Blender cannot undo new vertex groups there", can_undo_groups),
    )

    summary: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return [block for obj in _animated(context) for block in (obj, obj.data)]

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Count what changes before the dialog opens."""
        changes = _changes(context)
        if not changes:
            return self.execute(context)
        self.summary = _reasons(changes)
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, _context: Context) -> None:
        for line in self.summary.splitlines():
            paragraph(self.layout, line, LETTERS)

    def run(self, context: Context, _report: Report) -> Outcome:
        changes = _changes(context)
        if not changes:
            return Outcome(rpt_("All weights are as the game stores them"), done=False)
        with scope.object_mode(context):
            for obj, change in changes.items():
                selections.clean_weights(obj, change)
        return Outcome(rpt_("Vertices whose weights change: {}, LODs: {}").format(*_total(changes)))


def _changes(context: Context) -> "dict[Object, CleanWeights]":
    with scope.object_mode(context):
        plans = {obj: selections.cleaned_weights(obj) for obj in _animated(context)}
    return {obj: plan for obj, plan in plans.items() if plan is not None and len(plan.vertices)}


def _total(changes: "dict[Object, CleanWeights]") -> tuple[int, int]:
    """Return the number of vertices that change, and of LODs that have them."""
    return sum(len(plan.vertices) for plan in changes.values()), len(changes)


def _reasons(changes: "dict[Object, CleanWeights]") -> str:
    """Return one line for all that changes, and one for each reason."""
    plans = changes.values()
    lines = [
        iface_("Vertices whose weights change: {}, LODs: {}").format(*_total(changes)),
        iface_("More than four bones: {}").format(sum(plan.crowded for plan in plans)),
        iface_("Sum of weights is not 1: {}").format(sum(plan.uneven for plan in plans)),
        iface_("Bones that the game's skeleton lacks: {}").format(sum(plan.foreign for plan in plans)),
    ]
    return "\n".join(lines)


CLASSES = classes_of(__name__)
