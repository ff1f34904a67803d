"""Flags of vertices and faces of Arma LODs: the active element's in the sidebar, those of the selection in a dialog."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ...blender import attributes, scope
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report
from ...formats.arma.flag_groups import ATTRIBUTES, GROUPS, NORMAL_FLAG
from ...games.arma import flags
from ...games.arma.properties import level_of
from ..bases import BlenderOperator, classes_of, iface_, rpt_
from ..layouts import SIDEBAR, fields, paragraph
from ..operation import Need, Operation, Outcome
from ..selection_values import VALUE, SelectionValues, changed

if TYPE_CHECKING:
    from ...formats.arma.flag_groups import FlagGroup

WORDS: dict[str, dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "VERTEX": {
        "surface": (
            "Surface",
            "How the height of the vertex follows the ground; Cold War Assault exchanges Above and Under",
            ("Normal", "On Surface", "Above (Under)", "Under (Above)", "Keep Height"),
        ),
        "light": ("Lighting", "How the vertex is lit", ("Normal", "Shining", "In Shadow", "Fully Lit", "Half Lit")),
        "decal": ("Decal", "Whether the vertex is one of a decal", ("None", "Decal", "Vertical Decal")),
        "fog": ("Fog", "How fog changes the vertex", ("Normal", "No Fog", "Sky Fog")),
        "normals": ("Normals", "How the tools compute the normal", ("By Area", "Fixed", "By Angle")),
        "visible": ("Visible", "Whether the tools show the vertex; those of proxies are hidden", ("Visible", "Hidden")),
        "user": ("User Value", "A number for the author", ()),
    },
    "FACE": {
        "light": (
            "Lighting",
            "How the face is lit; some tools exchange Reversed and Flat",
            (
                *("Normal", "No Light", "Ambient", "Fully Lit", "Both Sides", "Sky (Position)"),
                *("Reversed (Flat)", "Flat (Reversed)"),
            ),
        ),
        "shadow": ("Shadow", "Whether the face casts a shadow", ("Normal", "Is Shadow", "No Shadow")),
        "z_bias": ("Z Bias", "How far the face is drawn in front of others", ("None", "Low", "Middle", "High")),
        "merging": ("Texture Merging", "Whether the tools may merge its texture with others", ("Allowed", "None")),
        "user": ("User Value", "A number for the author", ()),
    },
}
"""Of each group of flags its label, its description, and the labels of its values."""
OTHER = ("OTHER", "Other", "Several bits, or unknown ones, which stay")


def _property_of(element: str, group: "FlagGroup") -> Any:
    label, description, words = WORDS[element][group.name]
    name = _name(element, group)
    if not group.values:
        most = group.mask >> group.shift
        return IntProperty(name=label, description=description, min=0, max=most, update=changed(name), options=VALUE)
    items = (*((value, word, "") for value, word in zip(group.values, words, strict=True)), OTHER)
    return EnumProperty(name=label, description=description, items=items, update=changed(name), options=VALUE)


def _name(element: str, group: "FlagGroup") -> str:
    return f"{element.lower()}_{group.name}"


FlagProperties: Any = type(
    "FlagProperties",
    (),
    {
        "__annotations__": {
            _name(element, group): _property_of(element, group) for element in GROUPS for group in GROUPS[element]
        }
    },
)


def edited_lods(context: Context) -> list[Object]:
    """Return the LODs that are in Edit Mode, the active one first, one for each mesh."""
    active = context.view_layer.objects.active
    others = [obj for obj in scope.objects_of(context.view_layer) if obj.mode == "EDIT"]
    lods = [obj for obj in (active, *others) if obj is not None and obj.mode == "EDIT" and level_of(obj) is not None]
    return scope.one_for_each_mesh(obj for obj in lods if obj.type == "MESH")


def element_of(context: Context) -> str:
    """Return what Edit Mode selects: faces, if it selects nothing smaller."""
    settings: Any = context.scene.tool_settings
    vertices, edges, faces = settings.mesh_select_mode
    return "FACE" if faces and not vertices and not edges else "VERTEX"


EDITED = Need("No LOD of an Arma model is in Edit Mode", edited_lods)


class MOTIONBRIDGE_OT_arma_flags(SelectionValues, FlagProperties, Operation, BlenderOperator):
    """Set flags of the selected faces, or in another select mode of the selected vertices; only changes are written"""

    bl_idname = "motionbridge.arma_flags"
    bl_label = "Set Flags"
    needs = (EDITED,)

    element: EnumProperty(
        name="Elements",
        description="Whether the flags of faces or of vertices are set",
        items=(("FACE", "Faces", "The selected faces"), ("VERTEX", "Vertices", "The selected vertices")),
        options={"SKIP_SAVE", "HIDDEN"},
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return [block for obj in edited_lods(context) for block in (obj, obj.data)]

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog with the flags of the selection."""
        if not self.properties.is_property_set("element"):
            self.element = element_of(context)
        objects, element = edited_lods(context), self.element
        with scope.object_mode(context):
            columns = flags.values_of([obj.data for obj in objects], element)
        self.begin_with({f"{element.lower()}_{name}": column for name, column in columns.items()})
        return context.window_manager.invoke_props_dialog(self, width=360)

    def draw(self, _context: Context) -> None:
        """Draw the flags; those that differ within the selection are marked."""
        layout, element = fields(self.layout), self.element
        layout.label(text="Selected faces" if element == "FACE" else "Selected vertices", icon=_icon(element))
        for group in GROUPS[element]:
            name = _name(element, group)
            text = self.label(name, iface_(WORDS[element][group.name][0]))
            layout.prop(self, name, text=text, translate=False)

    def run(self, context: Context, _report: Report) -> Outcome:
        element = self.element
        names = {group.name: _name(element, group) for group in GROUPS[element]}
        values = {group: getattr(self, name) for group, name in names.items() if self.is_changed(name)}
        if not values:
            return Outcome(rpt_("No value was changed"), done=False)
        meshes: list[Any] = [obj.data for obj in edited_lods(context)]
        with scope.object_mode(context):
            counts = [flags.set_values(data, element, values) for data in meshes]
        number, selected = (sum(column) for column in zip(*counts, strict=True))
        if not selected:
            if element == "FACE":
                raise WriteError("no face is selected", remedy="Select faces in edit mode")
            raise WriteError("no vertex is selected", remedy="Select vertices in edit mode")
        text = rpt_("Changed faces: {} of {} selected")
        if element == "VERTEX":
            text = rpt_("Changed vertices: {} of {} selected")
        return Outcome(text.format(number, selected))


def _icon(element: str) -> str:
    return "FACESEL" if element == "FACE" else "VERTEXSEL"


def draw(layout: Any, context: Context, data: Any) -> None:
    """Draw the flags of the active vertex or face of a mesh in Edit Mode, and the button that sets them."""
    element = element_of(context)
    layout.operator("motionbridge.arma_flags", icon=_icon(element)).element = element
    stored = attributes.active_value(data, ATTRIBUTES[element], is_face=element == "FACE")
    if stored is not None:
        text = ", ".join(_texts(element, stored & 0xFFFFFFFF)) or iface_("none")
        paragraph(layout, iface_("Flags: {}").format(text), SIDEBAR, "BLANK1")


def _texts(element: str, stored: int) -> Iterable[str]:
    """Yield the flags that are set, as ``Lighting: Both Sides``."""
    for group in GROUPS[element]:
        label, _, words = WORDS[element][group.name]
        value = group.value(stored)
        if value not in (0, NORMAL_FLAG):
            word = dict(zip(group.values, words, strict=True)).get(str(value), "Other") if words else str(value)
            yield f"{iface_(label)}: {iface_(word)}"


CLASSES = classes_of(__name__)
