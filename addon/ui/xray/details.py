"""What grows on a level's ground: its part of the X-Ray Level panel, and the operators for slots and models."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty

from ...blender import scope
from ...core.errors import WriteError
from ...core.report import Report
from ...formats.xray import details
from ...games.xray.levels import details as level_details
from ...games.xray.levels import geometry as level_geometry
from ...games.xray.levels.properties import SHOWN_BY
from ...games.xray.options import ScatterOptions
from ..bases import CALL, BlenderList, BlenderOperator
from ..layouts import fields
from ..operation import Operation, Outcome
from ..options import options_from, properties_from
from ..translations import said, shown

ScatterProperties: Any = properties_from(ScatterOptions)
PLACES = tuple(
    (str(place), label, "One of the four detail models of a slot")
    for place, label in enumerate(("First", "Second", "Third", "Fourth"))
)
REFRESHED = ("HOM", "SOM", "DETAILS")


def is_ground(active: Any) -> bool:
    """Whether an object is the ground of a level."""
    return active is not None and active.type == "MESH" and active.motionbridge_level.kind == "DETAILS"


def active_model(ground: Any) -> Any:
    """The detail model that is chosen in the list, or None."""
    holder, number = ground.motionbridge_level.models, ground.motionbridge_level.active_model
    if holder is None or not 0 <= number < len(holder.objects):
        return None
    chosen = holder.objects[number]
    return chosen if chosen in level_details.models_of(ground) else None


class OfGround(Operation):
    """Works on the ground that is active."""

    if TYPE_CHECKING:
        poll_message_set: Callable[[str], None]
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A ground is active."""
        cls.poll_message_set("The active object is not the ground of a level (.details)")
        return is_ground(context.active_object)


class MOTIONBRIDGE_OT_level_colours(Operation, BlenderOperator):
    """Update the colours of the faces from their attributes, for example after a script has changed them"""

    bl_idname = "motionbridge.level_colours"
    bl_label = "Refresh Colours"
    bl_options = {"REGISTER", "UNDO"}

    shown_by: EnumProperty(
        name="Colour By",
        description="What the colours of the slots show",
        items=(("SAME", "Same as Now", "Keep what the slots show now"), *SHOWN_BY),
        default="SAME",
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active mesh is of a kind whose colours repeat attributes."""
        cls.poll_message_set("The active mesh has no attribute colours")
        active = context.active_object
        return active is not None and active.type == "MESH" and active.motionbridge_level.kind in REFRESHED

    def run(self, context: Any, _report: Report) -> Outcome:
        """Colour it."""
        level_geometry.refresh(context, context.active_object, "" if self.shown_by == "SAME" else self.shown_by)
        return Outcome(said("Updated the colours"))


class MOTIONBRIDGE_OT_details_slots(OfGround, BlenderOperator):
    """Set detail models, height and light of the selected slots"""

    bl_idname = "motionbridge.details_slots"
    bl_label = "Set Slots"

    use_plant: BoolProperty(name="Set Model", description="Change one of the four models, with its densities")
    place: EnumProperty(
        name="Model Slot", description="Which of the four detail models of the slot to change", items=PLACES
    )
    model: IntProperty(name="Model", description="Index of the detail model, -1 for none", default=0, min=-1, max=254)
    density: FloatVectorProperty(
        name="Density",
        description="Density at the corners of the slot: near left, near right, far left, far right",
        size=4,
        min=0,
        max=1,
        default=(1, 1, 1, 1),
    )
    use_ground: BoolProperty(name="Set Ground", description="Change the height of the ground")
    ground: FloatProperty(name="Ground", description="Height of the bottom of the slot", subtype="DISTANCE")
    use_height: BoolProperty(name="Set Height", description="Change the height of the slot")
    height: FloatProperty(
        name="Height",
        description="Height of the slot above its bottom; plants are placed on level geometry within it",
        subtype="DISTANCE",
        min=0,
    )
    use_light: BoolProperty(name="Set Light", description="Change light and colour (files of version 3)")
    sun: FloatProperty(name="Sun", description="Amount of sunlight", min=0, max=1, default=0.4)
    sky: FloatProperty(name="Sky", description="Amount of sky light", min=0, max=1, default=0.6)
    colour: FloatVectorProperty(name="Colour", description="Colour of the other light", min=0, max=1, subtype="COLOR")

    def invoke(self, context: Any, _event: Any) -> Any:
        """A dialog that begins with what the first selected slot says; the model is the one that was chosen."""
        ground = context.active_object
        with scope.object_mode(context):
            selected = level_geometry.selected_faces(ground.data)
            now = level_details.first_slot(ground, selected, int(self.place))
        for name in ("ground", "height", "sun", "sky", "colour"):
            value = getattr(now, name)
            if value is not None:
                setattr(self, name, value)
        return context.window_manager.invoke_props_dialog(self, width=380)

    def draw(self, context: bpy.types.Context) -> None:
        """What is ticked can be set."""
        layout = fields(self.layout)
        for tick, names in (
            ("use_plant", ("place", "model", "density")),
            ("use_ground", ("ground",)),
            ("use_height", ("height",)),
            ("use_light", ("sun", "sky", "colour")),
        ):
            layout.prop(self, tick)
            column = layout.column()
            column.active = getattr(self, tick)
            for name in names:
                if name == "density":
                    self._draw_density(column.column(align=True), context)
                else:
                    column.prop(self, name)

    def _draw_density(self, column: Any, context: bpy.types.Context) -> None:
        row = column.split(factor=0.4)
        row.label()
        row.label(text=self._model_name(context), translate=False)
        column.prop(self, "density", index=0, text="Density Near Left")
        column.prop(self, "density", index=1, text="Near Right")
        column.prop(self, "density", index=2, text="Far Left")
        column.prop(self, "density", index=3, text="Far Right")

    def _model_name(self, context: bpy.types.Context) -> str:
        named = [
            one for one in level_details.models_of(context.active_object) if one.motionbridge_level.number == self.model
        ]
        return named[0].name if named else shown("none") if self.model < 0 else shown("no model with this index")

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """Set what is ticked."""
        given = level_details.SlotValues(
            plants={int(self.place): (self.model, tuple(self.density))} if self.use_plant else {},
            ground=self.ground if self.use_ground else None,
            height=self.height if self.use_height else None,
            sun=self.sun if self.use_light else None,
            sky=self.sky if self.use_light else None,
            colour=tuple(self.colour) if self.use_light else None,
        )
        if given == level_details.SlotValues():
            raise WriteError("no value is selected", remedy="Select at least one value to set")
        counts = level_geometry.set_slots(context, context.active_object, given)
        if not counts.selected:
            raise WriteError("no face is selected", remedy="Select slots in edit mode")
        return Outcome(said("Changed slots: {} of {} selected").format(counts.changed, counts.selected))


class MOTIONBRIDGE_OT_details_add_models(OfGround, BlenderOperator):
    """Add the other selected meshes to the ground as detail models"""

    bl_idname = "motionbridge.details_add_models"
    bl_label = "Add Selected Meshes"

    def run(self, context: Any, _report: Report) -> Outcome:
        """Add them."""
        meshes = [one for one in context.selected_objects if one.type == "MESH"]
        ground = context.active_object
        count = level_details.add_models(ground, meshes)
        ground.motionbridge_level.active_model = len(ground.motionbridge_level.models.objects) - 1
        return Outcome(said("Added detail models: {}").format(count))


class OfModel(OfGround):
    """Works on the detail model that is chosen in the list."""

    def chosen(self, context: bpy.types.Context) -> Any:
        """The model. Raises `WriteError` where none is chosen."""
        model = active_model(context.active_object)
        if model is None:
            raise WriteError("no detail model is chosen", remedy="Click one in the panel's list")
        return model


class MOTIONBRIDGE_OT_details_replace_model(OfModel, BlenderOperator):
    """Replace the chosen detail model with the other selected mesh in every slot"""

    bl_idname = "motionbridge.details_replace_model"
    bl_label = "Replace with Selected Mesh"

    def run(self, context: Any, _report: Report) -> Outcome:
        """Replace it."""
        ground, model = context.active_object, self.chosen(context)
        others = [one for one in context.selected_objects if one.type == "MESH" and one not in (ground, model)]
        if len(others) != 1:
            raise WriteError(
                f"{len(others) or 'no'} other meshes are selected",
                remedy="Select the replacement mesh, then the ground with Shift",
            )
        level_details.replace_model(ground, model, others[0])
        return Outcome(said("Replaced the model with {}").format(others[0].name))


class MOTIONBRIDGE_OT_details_remove_model(OfModel, BlenderOperator):
    """Remove the chosen detail model from the level and its slots; the others are renumbered in the file"""

    bl_idname = "motionbridge.details_remove_model"
    bl_label = "Remove Model"

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """Remove it."""
        ground, model = context.active_object, self.chosen(context)
        name = model.name
        with scope.object_mode(context):
            places = level_details.remove_model(ground, model)
        return Outcome(said("Removed {}; entries removed from slots: {}").format(name, places))


class MOTIONBRIDGE_OT_details_select(OfModel, BlenderOperator):
    """Select the slots with the chosen detail model, in edit mode"""

    bl_idname = "motionbridge.details_select"
    bl_label = "Select Its Slots"

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """Nothing: faces are selected."""
        return ()

    def run(self, context: Any, _report: Report) -> Outcome:
        """Select them."""
        ground, model = context.active_object, self.chosen(context)
        with scope.object_mode(context):
            faces = level_details.slots_with(ground, model.motionbridge_level.number)
            level_geometry.select(ground, faces, faces[:0])
        if len(faces):  # where a selection of faces is seen
            context.tool_settings.mesh_select_mode = (False, False, True)
            CALL.object.mode_set(mode="EDIT")
        return Outcome(said("Selected slots: {}").format(len(faces)))


class MOTIONBRIDGE_OT_details_scatter(ScatterProperties, OfGround, BlenderOperator):
    """Show a preview of the plants: models, densities and scales are exact, positions and rotations approximate"""

    bl_idname = "motionbridge.details_scatter"
    bl_label = "Scatter Models"

    selected: BoolProperty(
        name="Selected Slots Only",
        description="Scatter on the selected slots only, not on the whole ground",
        default=True,
    )

    def run(self, context: Any, report: Report) -> Outcome:
        """Show them."""
        ground = context.active_object
        options = options_from(self, ScatterOptions)
        with scope.object_mode(context):
            selected = level_geometry.selected_faces(ground.data) if self.selected else None
            count = level_details.scatter(context, ground, selected, options, report)
        return Outcome(said("Plants: {} (preview)").format(count))


class MOTIONBRIDGE_OT_details_clear(OfGround, BlenderOperator):
    """Remove the scattered models"""

    bl_idname = "motionbridge.details_clear"
    bl_label = "Remove Scattered"

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """Take them away."""
        if not level_details.clear_scattered(context.active_object):
            return Outcome(said("No scattered models in the scene"), done=False)
        return Outcome(said("Removed the scattered models"))


class MOTIONBRIDGE_UL_detail_models(BlenderList):
    """Detail models of a ground, by their numbers."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _active: Any,
        _property: str,
    ) -> None:
        """Number and name."""
        row = layout.row(align=True)
        number = row.row()
        number.ui_units_x = 1.8
        held = item.motionbridge_level.number
        number.label(text=str(held) if held >= 0 else shown("new"), translate=False)
        row.label(text=item.name, icon="MESH_DATA", translate=False)

    def filter_items(self, _context: bpy.types.Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """The models alone, by number."""
        objects = list(getattr(data, name))
        flags = [self.bitflag_filter_item if one.motionbridge_level.kind == "DM" else 0 for one in objects]
        order = sorted(range(len(objects)), key=lambda place: _order(objects[place]))
        places = [0] * len(objects)
        for new, old in enumerate(order):
            places[old] = new
        return flags, places


def _order(model: Any) -> tuple[bool, int, str]:
    number = model.motionbridge_level.number
    return number < 0, number, model.name


def draw_ground(layout: bpy.types.UILayout, ground: Any) -> None:
    """What is shown, slots, models and plants."""
    level = ground.motionbridge_level
    row = layout.row(align=True)
    label = next(label for key, label, _ in SHOWN_BY if key == level.shown_by)
    row.operator_menu_enum("motionbridge.level_colours", "shown_by", text=shown("Colour By: {}").format(shown(label)))
    row.operator("motionbridge.level_colours", text="", icon="FILE_REFRESH").shown_by = "SAME"
    box = layout.column(align=True)
    model = active_model(ground)
    if level.models is not None:
        box.template_list("MOTIONBRIDGE_UL_detail_models", "", level.models, "objects", level, "active_model", rows=4)
    row = box.row(align=True)
    row.operator("motionbridge.details_add_models", text="Add", icon="ADD")
    row.operator("motionbridge.details_replace_model", text="Replace", icon="FILE_REFRESH")
    row.operator("motionbridge.details_remove_model", text="Remove", icon="REMOVE")
    column = layout.column(align=True)
    column.operator("motionbridge.details_select", icon="RESTRICT_SELECT_OFF")
    given = column.operator("motionbridge.details_slots", icon="MESH_GRID")
    given.model = details.EMPTY if model is None else model.motionbridge_level.number
    row = layout.row(align=True)
    row.operator("motionbridge.details_scatter", icon="OUTLINER_OB_POINTCLOUD")
    row.operator("motionbridge.details_clear", text="", icon="X")
    if level.scattered is not None:
        layout.label(text="Positions and rotations are approximate", icon="INFO")


CLASSES = (
    MOTIONBRIDGE_OT_level_colours,
    MOTIONBRIDGE_OT_details_slots,
    MOTIONBRIDGE_OT_details_add_models,
    MOTIONBRIDGE_OT_details_replace_model,
    MOTIONBRIDGE_OT_details_remove_model,
    MOTIONBRIDGE_OT_details_select,
    MOTIONBRIDGE_OT_details_scatter,
    MOTIONBRIDGE_OT_details_clear,
    MOTIONBRIDGE_UL_detail_models,
)
