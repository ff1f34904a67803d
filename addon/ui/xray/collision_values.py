"""What collision says of faces: the active one in the panel, and the dialog that sets it for the selected ones."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from ...blender import attributes, scope
from ...core.errors import WriteError
from ...core.report import Report
from ...formats.xray import cform
from ...games.xray.levels import geometry as level_geometry
from ...games.xray.levels import materials as level_materials
from ...games.xray.levels.properties import holder_of
from ..bases import BlenderOperator
from ..operation import Operation, Outcome
from ..preferences import folders, game_materials
from ..translations import said, shown

if TYPE_CHECKING:
    from ...blender.attributes import ActiveFace


def kind_of(context: Any) -> str:
    """What of a level the active mesh is."""
    active = context.active_object
    return active.motionbridge_level.kind if active is not None and active.type == "MESH" else "NONE"


def flag_names() -> tuple[str, str]:
    """Attributes of collision faces that are true or false."""
    return (cform.SUPPRESS_SHADOWS, cform.SUPPRESS_WALLMARKS)


def value_names() -> tuple[str, ...]:
    """All attributes of collision faces."""
    return (cform.MATERIAL, cform.SECTOR, *flag_names())


def game_names(context: bpy.types.Context, holder: Any, report: Report) -> dict[int, str]:
    """Number -> name of the game's materials for what of a level ``holder`` is; none without a `gamemtl.xr`."""
    game, _ = folders(context)
    path = bpy.path.abspath(holder.motionbridge_level.path)
    return level_materials.names_for(path, game_materials(context), game, report)


def known_materials(context: bpy.types.Context, holder: Any, report: Report) -> frozenset[int]:
    """The game's materials where ``holder`` is collision."""
    return frozenset(game_names(context, holder, report) if holder.motionbridge_level.kind == "CFORM" else ())


class FaceValues(Operation):
    """Sets what the file says of the selected faces."""

    if TYPE_CHECKING:
        kinds: tuple[str, ...] = ()
        poll_message_set: Callable[[str], None]
    else:
        kinds = ()
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The active mesh is of a kind whose faces have the value."""
        cls.poll_message_set("The faces of the active mesh have no such value")
        return kind_of(context) in cls.kinds

    def set_values(self, context: Any, values: dict[str, Any], names: dict[int, str] | None = None) -> Outcome:
        """Give the selected faces these values; ``names`` of game materials by number."""
        counts = level_geometry.set_values(context, context.active_object, kind_of(context), values, names)
        if not counts.selected:
            raise WriteError("no face is selected", remedy="Select faces in edit mode")
        return Outcome(said("Changed faces: {} of {} selected").format(counts.changed, counts.selected))


class ListedGameMaterial(bpy.types.PropertyGroup):
    """A game material in the dialog's list; ``name`` is unique there."""

    number: IntProperty(options={"HIDDEN"})


def _name_picked(operator: Any, _context: bpy.types.Context) -> None:
    row = operator.listed.get(operator.material_name)
    if row is not None and row.number != operator.material:
        operator.material = row.number


def _number_typed(operator: Any, _context: bpy.types.Context | None) -> None:
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
        description="Name in gamemtl.xr; if empty, the number is used",
        update=_name_picked,
        options={"SKIP_SAVE"},
    )
    material: IntProperty(
        name="Game Material Number",
        description="Number of the material in gamemtl.xr",
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

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """A dialog with the values of the active face."""
        names = game_names(context, holder_of(context.active_object), Report())
        self.is_list_of_game = bool(names)
        self.listed.clear()
        used = {made.motionbridge_material.number: made.name for made in level_materials.known_materials()}
        for number, name in sorted((used | names).items(), key=lambda one: (one[1].lower(), one[0])):
            row = self.listed.add()
            row.name = name if name not in self.listed else f"{name} ({number})"
            row.number = number
        self._take(_active_face(context))
        return context.window_manager.invoke_props_dialog(self, width=400)

    def _take(self, face: "ActiveFace | None") -> None:
        """Begin with the values of a face, except those that the caller gave."""
        values = face_values(face) if face is not None else {}
        given = self.properties.is_property_set
        if not given("material_name"):
            for name in value_names():
                if name in values and not given(name):
                    setattr(self, name, values[name])
            _number_typed(self, None)

    def draw(self, _context: bpy.types.Context) -> None:
        """What is not ticked cannot be set."""
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

    def run(self, context: Any, report: Report) -> Outcome:
        """Set what is ticked."""
        values: dict[str, Any] = {}
        names: dict[int, str] = {}
        if self.use_material:
            names = game_names(context, holder_of(context.active_object), report)
            values[cform.MATERIAL] = self._number(names)
        if self.use_sector:
            values[cform.SECTOR] = self.sector
        if self.use_flags:
            values |= {name: getattr(self, name) for name in flag_names()}
        return self.set_values(context, values, names)

    def _number(self, names: dict[int, str]) -> int:
        """The chosen game material. Raises `WriteError` if there is no material of that name."""
        name = str(self.material_name)
        row = self.listed.get(name) if name else None
        if not name or row is not None:
            return int(row.number if row is not None else self.material)
        used = {made.motionbridge_material.number: made.name for made in level_materials.known_materials()}
        found = next((number for number, label in (used | names).items() if label == name), None)
        if found is None:
            raise WriteError(
                f"there is no game material named {name!r}",
                remedy="Choose one of the list, or give its number; the preferences name the gamemtl.xr",
            )
        return found


def _active_face(context: Any) -> "ActiveFace | None":
    data = context.active_object.data
    found = attributes.active_face(data, value_names())
    if found is None or set(value_names()) <= found.values.keys():
        return found
    with scope.object_mode(context):  # 4.2 cannot read flags in edit mode
        return attributes.active_face(data, value_names())


def face_values(face: "ActiveFace") -> dict[str, Any]:
    """What a face says, as `value_names` are called; the Blender material counts for the game's."""
    number = level_materials.number_of(face.material, face.values.get(cform.MATERIAL))
    return face.values | ({cform.MATERIAL: number} if number is not None else {})


def draw_active_face(layout: bpy.types.UILayout, data: Any) -> None:
    """Game material, sector and flags of the active face."""
    face = attributes.active_face(data, value_names())
    column = layout.column(align=True)
    if face is None:
        column.label(text="No face is active: click one in edit mode", icon="INFO")
        return
    values = face_values(face)
    column.label(text=shown("Active face: {}").format(face.index), icon="FACESEL", translate=False)
    number = values.get(cform.MATERIAL)
    if number is not None:
        named = face.material is not None and face.material.motionbridge_material.number == number
        text = f"{face.material.name} ({number})" if named else str(number)
        column.label(text=shown("Game material: {}").format(text), icon="BLANK1", translate=False)
    if cform.SECTOR in values:
        column.label(text=shown("Sector: {}").format(values[cform.SECTOR]), icon="BLANK1", translate=False)
    known = [name for name in flag_names() if name in values]
    labels = {cform.SUPPRESS_SHADOWS: shown("Suppress Shadows"), cform.SUPPRESS_WALLMARKS: shown("Suppress Wallmarks")}
    if known:
        text = ", ".join(labels[name] for name in known if values[name]) or shown("none")
        column.label(text=shown("Flags: {}").format(text), icon="BLANK1", translate=False)
    elif any(name in data.attributes for name in flag_names()):  # older Blenders cannot read them in edit mode
        column.label(text="Flags are shown in object mode", icon="BLANK1")


CLASSES = (
    ListedGameMaterial,
    MOTIONBRIDGE_OT_level_collision,
)
