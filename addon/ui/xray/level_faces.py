"""Properties of collision faces and of detail slots: shown in the panel, set for the selected faces in dialogs.

Faces of the ground are slots, in which the game places detail models.
"""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from ...blender import attributes, scope
from ...blender.typed import Context, Mesh, Object
from ...core.errors import WriteError
from ...core.report import Report, say
from ...formats.xray import cform, details
from ...games.xray.levels import details as level_details
from ...games.xray.levels import game_materials as level_game_materials
from ...games.xray.levels import geometry as level_geometry
from ...games.xray.levels.properties import SHOWN_BY, holder_of
from ...games.xray.options import ScatterOptions
from ..bases import CALL, BlenderList, BlenderOperator, classes_of, iface_, options_from, properties_from, rpt_
from ..layouts import fields
from ..operation import Need, Operation, Outcome, stores_nothing
from ..preferences import folders, game_materials
from ..searched_lists import SearchedRows, is_hidden, shows
from ..target import on_active

if TYPE_CHECKING:
    from ...blender.attributes import ActiveFace


def kind_of(context: Context) -> str:
    """Return the level kind of the active mesh, "NONE" if it is not a mesh."""
    active = context.active_object
    return active.motionbridge_level.kind if active is not None and active.type == "MESH" else "NONE"


def flag_names() -> tuple[str, str]:
    """Return the names of the boolean attributes of collision faces."""
    return (cform.SUPPRESS_SHADOWS, cform.SUPPRESS_WALLMARKS)


def value_names() -> tuple[str, ...]:
    """Return the names of all attributes of collision faces."""
    return (cform.MATERIAL, cform.SECTOR, *flag_names())


def game_material_names(context: Context, holder: Object, report: Report) -> dict[int, str]:
    """Return ID -> name of the game's materials for the level object ``holder``; empty without a `gamemtl.xr`."""
    game, _ = folders(context)
    path = bpy.path.abspath(holder.motionbridge_level.path)
    return level_game_materials.names_for(path, game_materials(context), game, report)


def known_materials(context: Context, holder: Object, report: Report) -> frozenset[int]:
    """Return the IDs of the game's materials if ``holder`` is collision, else an empty set."""
    return frozenset(game_material_names(context, holder, report) if holder.motionbridge_level.kind == "CFORM" else ())


class FaceValues(Operation):
    """Base of operators that set attributes of the selected faces."""

    if TYPE_CHECKING:
        kinds: tuple[str, ...] = ()
    else:
        kinds = ()

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active mesh is of a kind whose faces have the attribute."""
        cls.poll_message_set("The faces of the active mesh do not have this value")
        return kind_of(context) in cls.kinds

    def set_values(self, context: Context, values: dict[str, Any], names: dict[int, str] | None = None) -> Outcome:
        """Set the attributes of the selected faces, also of meshes of the kind that are edited with the active one.

        ``names``: ID -> name of the game's materials.
        """
        active, kind = context.active_object, kind_of(context)
        others = [obj for obj in scope.objects_of(context.view_layer) if obj.mode == "EDIT" and obj.type == "MESH"]
        edited = {obj.data: obj for obj in (*others, active) if obj.motionbridge_level.kind == kind}
        with scope.object_mode(context):
            counts = [level_geometry.set_values(context, obj, kind, values, names) for obj in edited.values()]
        changed, selected = sum(count.changed for count in counts), sum(count.selected for count in counts)
        if not selected:
            raise WriteError("no face is selected", remedy="Select faces in edit mode")
        return Outcome(rpt_("Changed faces: {} of {} selected").format(changed, selected))


class ListedGameMaterial(bpy.types.PropertyGroup):
    """A game material in the search field of a dialog; ``name`` is unique there."""

    number: IntProperty(options={"HIDDEN"})


def _name_picked(operator: Any, _context: Context) -> None:
    row = operator.listed.get(operator.material_name)
    if row is not None and row.number != operator.material:
        operator.material = row.number


def _number_typed(operator: Any, _context: Context | None) -> None:
    name = next((row.name for row in operator.listed if row.number == operator.material), "")
    if len(operator.listed) and operator.material_name != name:
        operator.material_name = name


class MOTIONBRIDGE_OT_level_collision(FaceValues, BlenderOperator):
    """Set game material, sector and flags of the selected collision faces"""

    bl_idname = "motionbridge.level_collision"
    bl_label = "Set Collision Values"
    kinds = ("CFORM",)

    use_material: BoolProperty(name="Set Game Material", description="Change the game material")
    material_name: StringProperty(
        name="Game Material",
        description="Name in gamemtl.xr; if empty, the ID is used",
        update=_name_picked,
        options={"SKIP_SAVE"},
    )
    material: IntProperty(
        name="Game Material ID",
        description="ID of the material in gamemtl.xr",
        min=0,
        max=16383,
        update=_number_typed,
    )
    use_sector: BoolProperty(name="Set Sector", description="Change the sector")
    sector: IntProperty(name="Sector", description="Index of the level's sector", min=0, max=65535)
    use_flags: BoolProperty(name="Set Flags", description="Change both flags")
    suppress_shadows: BoolProperty(name="Suppress Shadows", description="The faces cast no shadow")
    suppress_wallmarks: BoolProperty(name="Suppress Wallmarks", description="The faces show no bullet marks")
    listed: CollectionProperty(type=ListedGameMaterial, options={"SKIP_SAVE", "HIDDEN"})
    is_list_of_game: BoolProperty(name="", options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog with the values of the active face."""
        names = game_material_names(context, holder_of(context.active_object), Report())
        self.is_list_of_game = bool(names)
        self.listed.clear()
        for number, name in sorted(_with_used(names).items(), key=lambda entry: (entry[1].lower(), entry[0])):
            row = self.listed.add()
            row.name = name if name not in self.listed else f"{name} ({number})"
            row.number = number
        self._take(_active_face(context))
        return context.window_manager.invoke_props_dialog(self, width=400)

    def _take(self, face: "ActiveFace | None") -> None:
        """Set the properties to the values of a face, except those that the caller has set."""
        values = face_values(face) if face is not None else {}
        given = self.properties.is_property_set
        if not given("material_name"):
            for name in value_names():
                if name in values and not given(name):
                    setattr(self, name, values[name])
            _number_typed(self, None)

    def draw(self, _context: Context) -> None:
        """Draw the values; a value can be edited only if its check box is on."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "use_material")
        column = layout.column()
        column.enabled = self.use_material
        column.prop_search(self, "material_name", self, "listed", icon="MATERIAL")
        if not self.is_list_of_game:
            column.prop(self, "material")
            column.label(text="gamemtl.xr not found: set Game Materials in the preferences", icon="INFO")
        layout.prop(self, "use_sector")
        column = layout.column()
        column.enabled = self.use_sector
        column.prop(self, "sector")
        layout.prop(self, "use_flags")
        column = layout.column()
        column.enabled = self.use_flags
        for name in flag_names():
            column.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        values: dict[str, Any] = {}
        names: dict[int, str] = {}
        if self.use_material:
            names = game_material_names(context, holder_of(context.active_object), report)
            values[cform.MATERIAL] = self._number(names)
        if self.use_sector:
            values[cform.SECTOR] = self.sector
        if self.use_flags:
            values |= {name: getattr(self, name) for name in flag_names()}
        return self.set_values(context, values, names)

    def _number(self, names: dict[int, str]) -> int:
        """Return the ID of the chosen game material. Raises `WriteError` if there is no material of that name."""
        name = str(self.material_name)
        row = self.listed.get(name) if name else None
        if not name or row is not None:
            return int(row.number if row is not None else self.material)
        result = next((number for number, label in _with_used(names).items() if label == name), None)
        if result is None:
            raise WriteError(
                say("there is no game material named {!r}", name),
                remedy="Choose one from the list, or enter its ID; set Game Materials in the preferences",
            )
        return result


def _with_used(names: dict[int, str]) -> dict[int, str]:
    """Return ID -> name of the game's materials and of those that have a Blender material."""
    return {
        known_material.motionbridge_material.number: known_material.name
        for known_material in level_game_materials.known_materials()
    } | names


def _active_face(context: Context) -> "ActiveFace | None":
    data = context.active_object.data
    result = attributes.active_face(data, value_names())
    if result is None or set(value_names()) <= result.values.keys():
        return result
    with scope.object_mode(context):  # Blender 4.2 cannot read boolean attributes in edit mode
        return attributes.active_face(data, value_names())


def face_values(face: "ActiveFace") -> dict[str, Any]:
    """Return the values of a face, with the keys of `value_names`; its Blender material decides the game material."""
    number = level_game_materials.number_of(face.material, face.values.get(cform.MATERIAL))
    return face.values | ({cform.MATERIAL: number} if number is not None else {})


def draw_active_face(layout: bpy.types.UILayout, data: Mesh) -> None:
    """Draw game material, sector and flags of the active face."""
    face = attributes.active_face(data, value_names())
    column = layout.column(align=True)
    if face is None:
        column.label(text="No face is active: click one in Edit Mode", icon="INFO")
        return
    values = face_values(face)
    column.label(text=iface_("Active face: {}").format(face.index), icon="FACESEL", translate=False)
    number = values.get(cform.MATERIAL)
    if number is not None:
        named = face.material is not None and face.material.motionbridge_material.number == number
        text = f"{face.material.name} ({number})" if named else str(number)
        column.label(text=iface_("Game material: {}").format(text), icon="BLANK1", translate=False)
    if cform.SECTOR in values:
        column.label(text=iface_("Sector: {}").format(values[cform.SECTOR]), icon="BLANK1", translate=False)
    known = [name for name in flag_names() if name in values]
    labels = {
        cform.SUPPRESS_SHADOWS: iface_("Suppress Shadows"),
        cform.SUPPRESS_WALLMARKS: iface_("Suppress Wallmarks"),
    }
    if known:
        text = ", ".join(labels[name] for name in known if values[name]) or iface_("none")
        column.label(text=iface_("Flags: {}").format(text), icon="BLANK1", translate=False)
    elif any(name in data.attributes for name in flag_names()):  # Blender 4.2 cannot read them in edit mode
        column.label(text="Flags are shown in Object Mode", icon="BLANK1")


# What grows on the ground ---------------------------------------------------------------------------------------------

ScatterProperties: Any = properties_from(ScatterOptions)
MODEL_SLOTS = tuple(
    (str(index), label, "One of the four detail models of a slot")
    for index, label in enumerate(("First", "Second", "Third", "Fourth"))
)
MODELS = "MOTIONBRIDGE_UL_detail_models"
REFRESHED = ("HOM", "SOM", "DETAILS")


def is_ground(active: Object | None) -> bool:
    """Whether an object is the ground of a level."""
    return active is not None and active.type == "MESH" and active.motionbridge_level.kind == "DETAILS"


def active_model(ground: Any) -> Any:
    """Return the detail model that is active in the list, or None."""
    holder, number = ground.motionbridge_level.models, ground.motionbridge_level.active_model
    if holder is None or not 0 <= number < len(holder.objects):
        return None
    chosen = holder.objects[number]
    return chosen if chosen in level_details.models_of(ground) else None


class GroundOperation(Operation):
    """Base of operators on the active ground."""

    needs: tuple[Need, ...] = (Need("The active object is not the ground of a level (.details)", on_active(is_ground)),)


class MOTIONBRIDGE_OT_level_colours(Operation, BlenderOperator):
    """Update the colors of the faces from their attributes, for example after a script has changed them"""

    bl_idname = "motionbridge.level_colours"
    bl_label = "Refresh Colors"
    needs = (Need("The active mesh has no attribute colors", lambda context: kind_of(context) in REFRESHED),)

    shown_by: EnumProperty(
        name="Color By",
        description="What the colors of the slots show",
        items=(("SAME", "Keep Current", "Keep the colors that the slots show now"), *SHOWN_BY),
        default="SAME",
    )

    def run(self, context: Context, _report: Report) -> Outcome:
        level_geometry.refresh(context, context.active_object, "" if self.shown_by == "SAME" else self.shown_by)
        return Outcome(rpt_("Updated the colors"))


class MOTIONBRIDGE_OT_details_slots(GroundOperation, BlenderOperator):
    """Set detail models, height and light of the selected slots"""

    bl_idname = "motionbridge.details_slots"
    bl_label = "Set Slots"

    use_plant: BoolProperty(name="Set Model", description="Change one of the four models, with its densities")
    plant: EnumProperty(
        name="Model Slot", description="Which of the four detail models of the slot to change", items=MODEL_SLOTS
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
    use_light: BoolProperty(name="Set Light", description="Change light and color (files of version 3)")
    sun: FloatProperty(name="Sun", description="Amount of sunlight", min=0, max=1, default=0.4)
    sky: FloatProperty(name="Sky", description="Amount of sky light", min=0, max=1, default=0.6)
    colour: FloatVectorProperty(name="Color", description="Color of the other light", min=0, max=1, subtype="COLOR")

    def invoke(self, context: Context, _event: Any) -> Any:
        """Open a dialog with the values of the first selected slot; the model is the one that is active in the list."""
        ground = context.active_object
        with scope.object_mode(context):
            selected = level_geometry.selected_faces(ground.data)
            now = level_details.first_slot(ground, selected, int(self.plant))
        for name in ("ground", "height", "sun", "sky", "colour"):
            value = getattr(now, name)
            if value is not None:
                setattr(self, name, value)
        return context.window_manager.invoke_props_dialog(self, width=380)

    def draw(self, context: Context) -> None:
        """Draw the values; those whose check box is off are greyed out."""
        layout = fields(self.layout)
        for tick, names in (
            ("use_plant", ("plant", "model", "density")),
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

    def _draw_density(self, column: Any, context: Context) -> None:
        row = column.split(factor=0.4)
        row.label()
        row.label(text=self._model_name(context), translate=False)
        column.prop(self, "density", index=0, text="Density Near Left")
        column.prop(self, "density", index=1, text="Near Right")
        column.prop(self, "density", index=2, text="Far Left")
        column.prop(self, "density", index=3, text="Far Right")

    def _model_name(self, context: Context) -> str:
        named = [
            obj for obj in level_details.models_of(context.active_object) if obj.motionbridge_level.number == self.model
        ]
        return named[0].name if named else iface_("none") if self.model < 0 else iface_("no model with this index")

    def run(self, context: Context, _report: Report) -> Outcome:
        given = level_details.SlotValues(
            plants={int(self.plant): (self.model, tuple(self.density))} if self.use_plant else {},
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
        return Outcome(rpt_("Changed slots: {} of {} selected").format(counts.changed, counts.selected))


class MOTIONBRIDGE_OT_details_add_models(GroundOperation, BlenderOperator):
    """Add the other selected meshes to the ground as detail models"""

    bl_idname = "motionbridge.details_add_models"
    bl_label = "Add Selected Meshes"

    def run(self, context: Context, _report: Report) -> Outcome:
        meshes = [selected_obj for selected_obj in context.selected_objects if selected_obj.type == "MESH"]
        ground = context.active_object
        count = level_details.add_models(ground, meshes)
        ground.motionbridge_level.active_model = len(ground.motionbridge_level.models.objects) - 1
        return Outcome(rpt_("Added detail models: {}").format(count))


def _shows_model(context: Context) -> bool:
    level = context.active_object.motionbridge_level
    rows = level.models.objects if level.models is not None else ()
    return not is_hidden(context, MODELS, rows, level.active_model)


class DetailModelOperation(GroundOperation):
    """Base of operators on the detail model that is active in the list, which has to show it."""

    needs = (*GroundOperation.needs, shows(_shows_model))

    def chosen(self, context: Context) -> Any:
        """Return the active detail model. Raises `WriteError` if there is none."""
        model = active_model(context.active_object)
        if model is None:
            raise WriteError("no detail model is chosen", remedy="Click one in the panel's list")
        return model


class MOTIONBRIDGE_OT_details_replace_model(DetailModelOperation, BlenderOperator):
    """Replace the active detail model with the other selected mesh in every slot"""

    bl_idname = "motionbridge.details_replace_model"
    bl_label = "Replace with Selected Mesh"

    def run(self, context: Context, _report: Report) -> Outcome:
        ground, model = context.active_object, self.chosen(context)
        others = [
            selected_obj
            for selected_obj in context.selected_objects
            if selected_obj.type == "MESH" and selected_obj not in (ground, model)
        ]
        if len(others) != 1:
            words = "{} other meshes are selected" if others else "no other meshes are selected"
            raise WriteError(
                say(words, len(others)),
                remedy="Select the replacement mesh, then the ground with Shift",
            )
        level_details.replace_model(ground, model, others[0])
        return Outcome(rpt_("Replaced the model with {}").format(others[0].name))


class MOTIONBRIDGE_OT_details_remove_model(DetailModelOperation, BlenderOperator):
    """Remove the active detail model from the level and its slots; the others are renumbered in the file"""

    bl_idname = "motionbridge.details_remove_model"
    bl_label = "Remove Model"

    def run(self, context: Context, _report: Report) -> Outcome:
        ground, model = context.active_object, self.chosen(context)
        name = model.name
        with scope.object_mode(context):
            indices = level_details.remove_model(ground, model)
        return Outcome(rpt_("Removed {}; entries removed from slots: {}").format(name, indices))


class MOTIONBRIDGE_OT_details_select(DetailModelOperation, BlenderOperator):
    """Select the slots with the active detail model in Edit Mode"""

    bl_idname = "motionbridge.details_select"
    bl_label = "Select Its Slots"
    edited = stores_nothing  # it only selects faces

    def run(self, context: Context, _report: Report) -> Outcome:
        ground, model = context.active_object, self.chosen(context)
        with scope.object_mode(context):
            faces = level_details.slots_with(ground, model.motionbridge_level.number)
            level_geometry.select(ground, faces, faces[:0])
        if len(faces):  # face select mode in edit mode shows the selection
            scope.set_select_mode(context.scene, vertices=False, faces=True)
            CALL.object.mode_set(mode="EDIT")
        return Outcome(rpt_("Selected slots: {}").format(len(faces)))


class MOTIONBRIDGE_OT_details_scatter(ScatterProperties, GroundOperation, BlenderOperator):
    """Show a preview of the plants: models, densities and scales are exact, positions and rotations approximate"""

    bl_idname = "motionbridge.details_scatter"
    bl_label = "Scatter Models"

    selected: BoolProperty(
        name="Selected Slots Only",
        description="Scatter on the selected slots only, not on the whole ground",
        default=True,
    )

    def run(self, context: Context, report: Report) -> Outcome:
        ground = context.active_object
        options = options_from(self, ScatterOptions)
        with scope.object_mode(context):
            selected = level_geometry.selected_faces(ground.data) if self.selected else None
            count = level_details.scatter(context, ground, selected, options, report)
        return Outcome(rpt_("Plants: {} (preview)").format(count))


class MOTIONBRIDGE_OT_details_clear(GroundOperation, BlenderOperator):
    """Remove the scattered models"""

    bl_idname = "motionbridge.details_clear"
    bl_label = "Remove Scattered"

    def run(self, context: Context, _report: Report) -> Outcome:
        if not level_details.clear_scattered(context.active_object):
            return Outcome(rpt_("No scattered models in the scene"), done=False)
        return Outcome(rpt_("Removed the scattered models"))


class MOTIONBRIDGE_UL_detail_models(SearchedRows, BlenderList):
    """Detail models of a ground, by their indices."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        row = layout.row(align=True)
        number = row.row()
        number.ui_units_x = 1.8
        held = item.motionbridge_level.number
        number.label(text=str(held) if held >= 0 else iface_("new"), translate=False)
        row.label(text=item.name, icon="MESH_DATA", translate=False)

    def filter_items(self, context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Return the detail models that match the search, sorted by index; new ones are last."""
        objects, (flags, _) = list(getattr(data, name)), super().filter_items(context, data, name)
        flags = [flag if obj.motionbridge_level.kind == "DM" else 0 for obj, flag in zip(objects, flags, strict=True)]
        order = sorted(range(len(objects)), key=lambda index: _order(objects[index]))
        indices = [0] * len(objects)
        for new, old in enumerate(order):
            indices[old] = new
        return flags, indices


def _order(model: Any) -> tuple[bool, int, str]:
    number = model.motionbridge_level.number
    return number < 0, number, model.name


def draw_ground(layout: bpy.types.UILayout, ground: Object) -> None:
    """Draw what the colours show, the list of detail models, and the operators on slots and plants."""
    level = ground.motionbridge_level
    row = layout.row(align=True)
    label = next(label for key, label, _ in SHOWN_BY if key == level.shown_by)
    text = iface_("Color By: {}").format(iface_(label))
    row.operator_menu_enum("motionbridge.level_colours", "shown_by", text=text, translate=False)
    row.operator("motionbridge.level_colours", text="", icon="FILE_REFRESH").shown_by = "SAME"
    box = layout.column(align=True)
    model = active_model(ground)
    if level.models is not None:
        box.template_list(MODELS, "", level.models, "objects", level, "active_model", rows=4, sort_lock=True)
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


CLASSES = classes_of(__name__)
