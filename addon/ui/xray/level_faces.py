"""Properties of collision faces and of detail slots: shown in the panel, set for the selected faces in dialogs.

Faces of the ground are slots, in which the game places detail models.
"""

import json
from pathlib import Path
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
from ..bases import CALL, BlenderList, BlenderOperator, classes_of, iface_, options_from, properties_from, rpt_, tell
from ..layouts import draw_folded, fields
from ..operation import Need, Operation, Outcome, stores_nothing
from ..preferences import known_games
from ..searched_lists import SearchedRows, is_hidden, shows
from ..selection_values import NOT_DRAWN, VALUE, SelectionValues, changed
from ..target import on_active

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    path = bpy.path.abspath(holder.motionbridge_level.path)
    games = known_games(context, "XRAY")
    return level_game_materials.names_for(Path(path) if path else None, games, report)


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

    def edited_meshes(self, context: Context) -> list[Any]:
        """Return the active object, and those of its kind that are edited with it, one for each mesh."""
        active, kind = context.active_object, kind_of(context)
        others = [obj for obj in scope.objects_of(context.view_layer) if obj.mode == "EDIT" and obj.type == "MESH"]
        return scope.one_for_each_mesh(obj for obj in (active, *others) if obj.motionbridge_level.kind == kind)

    def set_values(self, context: Context, values: dict[str, Any], names: dict[int, str] | None = None) -> Outcome:
        """Set the attributes of the selected faces, also of meshes of the kind that are edited with the active one.

        ``names``: ID -> name of the game's materials.
        """
        kind, edited = kind_of(context), self.edited_meshes(context)
        with scope.object_mode(context):
            counts = [level_geometry.set_values(context, obj, kind, values, names) for obj in edited]
        changed, selected = sum(count.changed for count in counts), sum(count.selected for count in counts)
        _refuse_without(selected)
        return Outcome(rpt_("Changed faces: {} of {} selected").format(changed, selected))


def _refuse_without(selected: int, remedy: str = "Select faces in edit mode") -> None:
    """Raise `WriteError` if no face is selected."""
    if not selected:
        raise WriteError("no face is selected", remedy=remedy)


class ListedGameMaterial(bpy.types.PropertyGroup):
    """A game material in the search field of a dialog; ``name`` is unique there."""

    number: IntProperty(options={"HIDDEN"})


def _name_picked(operator: Any) -> None:
    row = operator.listed.get(operator.material_name)
    if row is not None and row.number != operator.material:
        operator.material = row.number


def _number_typed(operator: Any) -> None:
    name = next((row.name for row in operator.listed if row.number == operator.material), "")
    if len(operator.listed) and operator.material_name != name:
        operator.material_name = name


class MOTIONBRIDGE_OT_level_collision(SelectionValues, FaceValues, BlenderOperator):
    """Set game material, sector and flags of the selected collision faces; only what is changed is written"""

    bl_idname = "motionbridge.level_collision"
    bl_label = "Set Collision Values"
    kinds = ("CFORM",)

    material_name: StringProperty(
        name="Game Material",
        description="Name in gamemtl.xr; if empty, the ID is used",
        update=changed("material", _name_picked),
        options=VALUE,
    )
    material: IntProperty(
        name="Game Material ID",
        description="ID of the material in gamemtl.xr",
        min=0,
        max=16383,
        update=changed("material", _number_typed),
        options=VALUE,
    )
    sector: IntProperty(
        name="Sector",
        description="Index of the level's sector",
        min=0,
        max=65535,
        update=changed("sector"),
        options=VALUE,
    )
    suppress_shadows: BoolProperty(
        name="Suppress Shadows",
        description="The faces cast no shadow",
        update=changed("suppress_shadows"),
        options=VALUE,
    )
    suppress_wallmarks: BoolProperty(
        name="Suppress Wallmarks",
        description="The faces show no bullet marks",
        update=changed("suppress_wallmarks"),
        options=VALUE,
    )
    listed: CollectionProperty(type=ListedGameMaterial, options={"SKIP_SAVE", "HIDDEN"})
    is_list_of_game: BoolProperty(name="", options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        return self.answer(context, self.ask)

    def ask(self, context: Context, _report: Report) -> None:
        """Open a dialog with the values of the selected faces, first those of the active one. Raises `WriteError`."""
        with scope.object_mode(context):  # Blender 4.2 cannot read boolean attributes in edit mode
            columns = [level_geometry.selected_values(obj, "CFORM") for obj in self.edited_meshes(context)]
        values = {name: level_geometry.joined_values(columns, name) for name in value_names()}
        _refuse_without(len(values[cform.SECTOR]))
        names = game_material_names(context, holder_of(context.active_object), Report())
        self.is_list_of_game = bool(names)
        self.listed.clear()
        listed = _with_used(level_game_materials.or_usual(names))
        for number, name in sorted(listed.items(), key=lambda entry: (entry[1].lower(), entry[0])):
            row = self.listed.add()
            row.name = name if name not in self.listed else f"{name} ({number})"
            row.number = number
        self.begin_with(values)
        context.window_manager.invoke_props_dialog(self, width=400)

    def draw(self, _context: Context) -> None:
        """Draw the values; those that differ within the selection are marked."""
        layout = fields(self.layout)
        text = self.label("material", iface_("Game Material"))
        layout.prop_search(self, "material_name", self, "listed", icon="MATERIAL", text=text, translate=False)
        if not self.is_list_of_game:
            layout.prop(self, "material")
            layout.label(text="gamemtl.xr not found: these are the usual names", icon="INFO")
        for name, text in (
            ("sector", "Sector"),
            ("suppress_shadows", "Suppress Shadows"),
            ("suppress_wallmarks", "Suppress Wallmarks"),
        ):
            layout.prop(self, name, text=self.label(name, iface_(text)), translate=False)

    def run(self, context: Context, report: Report) -> Outcome:
        values: dict[str, Any] = {}
        names: dict[int, str] = {}
        if self.is_changed("material") or (not self.is_dialog and self.material_name):
            known = game_material_names(context, holder_of(context.active_object), report)
            names = dict(level_game_materials.or_usual(known))
            values[cform.MATERIAL] = self._number(names)
        values |= {name: getattr(self, name) for name in (cform.SECTOR, *flag_names()) if self.is_changed(name)}
        if not values:
            return Outcome(rpt_("No value was changed"), done=False)
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
                remedy="Choose one from the list, or enter its ID; add the game to Installed Games in the preferences",
            )
        return result


def _with_used(names: "Mapping[int, str]") -> dict[int, str]:
    """Return ID -> name of the game's materials and of those that have a Blender material."""
    return {
        known_material.motionbridge_material.number: known_material.name
        for known_material in level_game_materials.known_materials()
    } | dict(names)


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
SELECT_SLOTS = "Select slots in edit mode"
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


_MODEL_COLUMNS = tuple((f"model_{index}", f"density_{index}") for index in range(len(MODEL_SLOTS)))
_SLOT_VALUES = ("ground", "height", "sun", "sky", "colour")


def _begun(models: Any, densities: Any) -> dict[str, Any]:
    """Return what the dialog begins with for one of the four models of the selected slots."""
    if models is None or densities is None or not len(models):
        return {"model": details.EMPTY, "density": [1.0] * 4, "mixed": []}
    columns = {"model": models, "density": densities}
    mixed = [name for name, column in columns.items() if (column != column[0]).any()]
    shown_density = [1.0] * 4 if models[0] == details.EMPTY else densities[0].tolist()
    return {"model": int(models[0]), "density": shown_density, "mixed": mixed}


def _plant_picked(operator: Any) -> None:
    if operator.is_dialog and operator.plants:
        begun = json.loads(operator.plants)[int(operator.plant)]
        operator.model, operator.density = begun["model"], begun["density"]
        both = {"model", "density"}
        operator.changed = " ".join(sorted(set(operator.changed.split()) - both))
        operator.mixed = " ".join(sorted({*(set(operator.mixed.split()) - both), *begun["mixed"]}))


class MOTIONBRIDGE_OT_details_slots(SelectionValues, GroundOperation, BlenderOperator):
    """Set detail models, height and light of the selected slots; only what is changed is written"""

    bl_idname = "motionbridge.details_slots"
    bl_label = "Set Slots"

    plant: EnumProperty(
        name="Model Slot",
        description="Which of the four detail models of the slot to change",
        items=MODEL_SLOTS,
        update=lambda operator, _context: _plant_picked(operator),
        options=VALUE,
    )
    model: IntProperty(
        name="Model",
        description="Index of the detail model, -1 for none",
        default=0,
        min=-1,
        max=254,
        update=changed("model"),
        options=VALUE,
    )
    density: FloatVectorProperty(
        name="Density",
        description="Density at the corners of the slot: near left, near right, far left, far right",
        size=4,
        min=0,
        max=1,
        default=(1, 1, 1, 1),
        update=changed("density"),
        options=VALUE,
    )
    ground: FloatProperty(
        name="Ground",
        description="Height of the bottom of the slot",
        subtype="DISTANCE",
        update=changed("ground"),
        options=VALUE,
    )
    height: FloatProperty(
        name="Height",
        description="Height of the slot above its bottom; plants are placed on level geometry within it",
        subtype="DISTANCE",
        min=0,
        update=changed("height"),
        options=VALUE,
    )
    sun: FloatProperty(
        name="Sun", description="Amount of sunlight", min=0, max=1, default=0.4, update=changed("sun"), options=VALUE
    )
    sky: FloatProperty(
        name="Sky", description="Amount of sky light", min=0, max=1, default=0.6, update=changed("sky"), options=VALUE
    )
    colour: FloatVectorProperty(
        name="Color",
        description="Color of the other light",
        min=0,
        max=1,
        subtype="COLOR",
        update=changed("colour"),
        options=VALUE,
    )
    show_light: BoolProperty(
        name="Light and Color", description="Show light and color (files of version 3)", options=NOT_DRAWN
    )
    plants: StringProperty(options=NOT_DRAWN)
    """JSON: for each of the four models, number, density, and which of both the selection has several of."""

    def invoke(self, context: Context, _event: Any) -> Any:
        return self.answer(context, self.ask)

    def ask(self, context: Context, _report: Report) -> None:
        """Open a dialog with the values of the selected slots. Raises `WriteError`."""
        ground = context.active_object
        with scope.object_mode(context):
            selected = level_geometry.selected_faces(ground.data)
            columns = level_details.selected_values(ground, selected)
        _refuse_without(selected.sum(), SELECT_SLOTS)
        given = {name for name in ("model", "density") if self.properties.is_property_set(name)}
        self.begin_with({name: columns[name] for name in _SLOT_VALUES if name in columns})
        self.plants = json.dumps(
            [_begun(columns.get(model), columns.get(density)) for model, density in _MODEL_COLUMNS]
        )
        if given:
            self.changed = " ".join(sorted({*self.changed.split(), *given}))
        else:
            _plant_picked(self)
        context.window_manager.invoke_props_dialog(self, width=380)

    def draw(self, context: Context) -> None:
        """Draw the values; those that differ within the selection are marked."""
        layout = fields(self.layout)
        layout.prop(self, "plant")
        layout.prop(self, "model", text=self.label("model", iface_("Model")), translate=False)
        self._draw_density(layout.column(align=True), context)
        for name, text in (("ground", "Ground"), ("height", "Height")):
            layout.prop(self, name, text=self.label(name, iface_(text)), translate=False)
        if body := draw_folded(layout, self, "show_light"):
            for name, text in (("sun", "Sun"), ("sky", "Sky"), ("colour", "Color")):
                body.prop(self, name, text=self.label(name, iface_(text)), translate=False)

    def _draw_density(self, column: Any, context: Context) -> None:
        row = column.split(factor=0.4)
        row.label()
        row.label(text=self._model_name(context), translate=False)
        text = self.label("density", iface_("Density Near Left"))
        column.prop(self, "density", index=0, text=text, translate=False)
        column.prop(self, "density", index=1, text="Near Right")
        column.prop(self, "density", index=2, text="Far Left")
        column.prop(self, "density", index=3, text="Far Right")

    def _model_name(self, context: Context) -> str:
        named = [
            obj for obj in level_details.models_of(context.active_object) if obj.motionbridge_level.number == self.model
        ]
        return named[0].name if named else iface_("none") if self.model < 0 else iface_("no model with this index")

    def run(self, context: Context, _report: Report) -> Outcome:
        plants = {}
        if self.is_changed("model") or self.is_changed("density"):
            model = self.model if self.is_changed("model") else None
            # A model without density would not be seen.
            was_empty = not self.is_dialog or json.loads(self.plants)[int(self.plant)]["model"] == details.EMPTY
            with_density = self.is_changed("density") or was_empty
            plants = {int(self.plant): (model, tuple(self.density) if with_density else None)}
        values = {name: getattr(self, name) for name in ("ground", "height", "sun", "sky") if self.is_changed(name)}
        colour = tuple(self.colour) if self.is_changed("colour") else None
        given = level_details.SlotValues(plants=plants, colour=colour, **values)
        if given == level_details.SlotValues():
            return Outcome(rpt_("No value was changed"), done=False)
        counts = level_geometry.set_slots(context, context.active_object, given)
        _refuse_without(counts.selected, SELECT_SLOTS)
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
        return Outcome(tell(say("Added {:# detail model|# detail models}", count), rpt_))


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
            count = level_details.remove_model(ground, model)
        return Outcome(tell(say("Removed {}, also from {:# slot|# slots}", name, count), rpt_))


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
        return Outcome(tell(say("Selected {:# slot|# slots}", len(faces)), rpt_))


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
        return Outcome(tell(say("Scattered {:# plant|# plants} as a preview", count), rpt_))


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
    if level.models is not None:
        box.template_list(MODELS, "", level.models, "objects", level, "active_model", rows=4, sort_lock=True)
    row = box.row(align=True)
    row.operator("motionbridge.details_add_models", text="Add", icon="ADD")
    row.operator("motionbridge.details_replace_model", text="Replace", icon="FILE_REFRESH")
    row.operator("motionbridge.details_remove_model", text="Remove", icon="REMOVE")
    column = layout.column(align=True)
    column.operator("motionbridge.details_select", icon="RESTRICT_SELECT_OFF")
    column.operator("motionbridge.details_slots", icon="MESH_GRID")
    row = layout.row(align=True)
    row.operator("motionbridge.details_scatter", icon="OUTLINER_OB_POINTCLOUD")
    row.operator("motionbridge.details_clear", text="", icon="X")
    if level.scattered is not None:
        layout.label(text="Positions and rotations are approximate", icon="INFO")


CLASSES = classes_of(__name__)
