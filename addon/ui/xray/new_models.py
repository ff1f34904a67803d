"""New models of the game: what an armature or mesh of the user's needs before it is exported."""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ...blender import compat, scope
from ...core.report import Report
from ...games.xray.bones.properties import SHAPES, known
from ...games.xray.models import game_making
from ...games.xray.models.properties import remembered
from ..bases import BlenderOperator
from ..layouts import fields
from ..operation import Operation, Outcome
from ..target import active_rig, lacks_rig
from ..translations import said

WATER = 1000.0
"""Kilograms per cubic metre."""


def _holder(context: Any) -> Any:
    """The active armature, or the topmost object above the active one."""
    found = active_rig(context) or context.view_layer.objects.active
    while found is not None and found.type != "ARMATURE" and found.parent is not None:
        found = found.parent
    return found


class MOTIONBRIDGE_OT_new_game_model(Operation, BlenderOperator):
    """Add the panels of a game model to the active armature or mesh: shapes, masses, motion references, user data"""

    bl_idname = "motionbridge.new_game_model"
    bl_label = "New X-Ray Model"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is something that is not yet a model."""
        cls.poll_message_set("Select an armature or mesh that is not an X-Ray model yet")
        holder = _holder(context)
        return holder is not None and holder.type in {"ARMATURE", "MESH", "EMPTY"} and remembered(holder) is None

    def edited(self, context: Any) -> Iterable[Any]:
        """The model and its armature."""
        holder = _holder(context)
        return tuple(one for one in (holder, holder.data) if one is not None)

    def run(self, context: Any, report: Report) -> Outcome:
        """Set up, count."""
        holder = _holder(context)
        with scope.object_mode(context):
            number = game_making.set_up(holder)
        return Outcome(said("{} is an X-Ray model now; new bones: {}").format(holder.name, number))


class MOTIONBRIDGE_OT_fit_shapes(Operation, BlenderOperator):
    """Give bones a collision shape around the vertices that follow them, and the mass of its volume"""

    bl_idname = "motionbridge.fit_shapes"
    bl_label = "Fit Shapes to Mesh"
    bl_options = {"REGISTER", "UNDO"}

    shape: EnumProperty(name="Shape", description="Collision shape of the bone", items=SHAPES[1:], default="BOX")
    density: FloatProperty(
        name="Density", description="Kilograms per cubic metre of the shape", default=WATER, min=0.0, soft_max=10000.0
    )
    selected: BoolProperty(name="Selected Bones", description="Only the selected bones of the armature", default=False)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There are bones of a model."""
        if lacks_rig(cls, context):
            return False
        cls.poll_message_set("The active armature is not an X-Ray model: use New X-Ray Model first")
        return any(known(bone) is not None for bone in active_rig(context).data.bones)

    def edited(self, context: Any) -> Iterable[Any]:
        """The armature."""
        return (active_rig(context).data,)

    def draw(self, _context: bpy.types.Context) -> None:
        """The options."""
        layout = fields(self.layout)
        for name in ("shape", "density", "selected"):
            layout.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Fit, count."""
        rig = active_rig(context)
        with scope.object_mode(context):
            chosen = {bone.name for bone in rig.data.bones if not self.selected or compat.is_selected(rig, bone)}
            number = game_making.fit_shapes(context, rig, self.shape, chosen, density=self.density, report=report)
        return Outcome(said("Bones with a fitted shape: {}").format(number), done=number > 0)


CLASSES = (MOTIONBRIDGE_OT_new_game_model, MOTIONBRIDGE_OT_fit_shapes)
