"""The layers of imported levels in the sidebar: shown, hidden and selected as a whole; the light of levels.

A layer is a collection in the collection of its level; hidden ones are excluded from the view layer, so that redraws do
not evaluate them.
"""

from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender import scope, views
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report, say
from ...games.xray.levels.properties import SHOWS_LIGHT
from ..bases import BlenderList, BlenderOperator, BlenderPanel, classes_of, iface_, rpt_, tell
from ..layouts import DrawnRows
from ..operation import Need, Operation, Outcome, stores_nothing
from ..sidebar import MotionbridgePanel

ROWS = "MOTIONBRIDGE_UL_level_layers"


def _levels(context: Context) -> list[Any]:
    collections: Any = bpy.data.collections
    levels = [collection for collection in collections if collection.motionbridge_level.is_level]
    return [level for level in levels if scope.switches_of(context, level)]


def _layers(context: Context) -> list[Any]:
    return [child for level in _levels(context) for child in level.children if child.motionbridge_level.is_layer]


def layers_of(context: Context, obj: Object) -> list[Any]:
    """Return the switches in the view layer of the layers that an object of a level is in."""
    layers = [layer for layer in _layers(context) if obj.name in layer.all_objects]
    return [switch for layer in layers for switch in scope.switches_of(context, layer)]


def _is_shown(switches: list[Any]) -> bool:
    return any(not (switch.exclude or switch.hide_viewport or switch.collection.hide_viewport) for switch in switches)


class LayerOperation(Operation):
    """Base of operators on a layer, which they get by the name of its collection."""

    needs = (Need("No imported level in the scene", _levels),)
    edited = stores_nothing  # it only shows and selects

    layer: StringProperty(name="Layer", description="Name of the layer's collection", options={"SKIP_SAVE"})

    def switches(self, context: Context) -> list[Any]:
        """Return the layer's switches in the view layer. Raises `WriteError` if there are none."""
        result = scope.switches_of(context, bpy.data.collections.get(self.layer))
        if not result:
            raise WriteError(
                say("{!r} is no layer of the scene", self.layer), remedy="Choose one in the X-Ray Level Layers panel"
            )
        return result


class MOTIONBRIDGE_OT_level_layer_show(LayerOperation, BlenderOperator):
    """Show or hide the objects of this layer"""

    bl_idname = "motionbridge.level_layer_show"
    bl_label = "Show or Hide Layer"

    def run(self, context: Context, _report: Report) -> Outcome:
        switches = self.switches(context)
        if _is_shown(switches):
            for switch in switches:
                switch.exclude = True
            return Outcome(rpt_("{} is hidden").format(self.layer))
        scope.show(switches)
        return Outcome(rpt_("{} is shown").format(self.layer))


class MOTIONBRIDGE_OT_level_layer_select(LayerOperation, BlenderOperator):
    """Select the objects of this layer and no others; a hidden layer is shown"""

    bl_idname = "motionbridge.level_layer_select"
    bl_label = "Select Layer"

    def run(self, context: Context, _report: Report) -> Outcome:
        switches = self.switches(context)
        if not _is_shown(switches):
            scope.show(switches)
        objects = list(switches[0].collection.all_objects)
        scope.make_current(context, objects, objects[0] if objects else None)
        return Outcome(tell(say("Selected {:# object|# objects}", len(objects)), rpt_))


LIT = frozenset({"SURFACE", "TREE", "LOD"})
"""Kinds of objects whose materials show the light of their level."""


def _shows_or_stores_light(context: Context) -> bool:
    """Return whether light is shown, which can be ended, or layers are shown with more than boxes, which have none."""
    if getattr(context.scene, SHOWS_LIGHT):
        return True
    of_layers = (layer.all_objects for layer in _layers(context) if _is_shown(scope.switches_of(context, layer)))
    # A layer has objects of few kinds: thousands of placed objects are not looked at each time the panel is drawn.
    lit = (objects for objects in of_layers if len(objects) and objects[0].motionbridge_level.kind in LIT)
    return any(obj.motionbridge_level.row >= 0 for objects in lit for obj in objects)


class MOTIONBRIDGE_OT_level_light(Operation, BlenderOperator):
    """Show levels in their stored light, as Material Preview, or without it, in Solid shading"""

    bl_idname = "motionbridge.level_light"
    bl_label = "Level Light"
    needs = (
        *LayerOperation.needs,
        Need("No surfaces, trees or impostors are shown; boxes have no light", _shows_or_stores_light),
    )

    def edited(self, context: Context) -> tuple[bpy.types.ID]:
        """The scene."""
        return (context.scene,)

    def run(self, context: Context, _report: Report) -> Outcome:
        wanted = not getattr(context.scene, SHOWS_LIGHT)
        setattr(context.scene, SHOWS_LIGHT, wanted)
        context.scene.update_tag()  # else 3D views keep the former value
        views.preview_materials(context, wanted=wanted)
        return Outcome(rpt_("Levels are shown in their light") if wanted else rpt_("Levels are shown without light"))


class MOTIONBRIDGE_UL_level_layers(DrawnRows, BlenderList):
    """Layers of a level: the eye, the name, the number of objects, a button that selects them."""

    def draw_row(self, layout: Any, item: Any, owner: Any, _index: int) -> None:
        context: Any = bpy.context
        levels = scope.switches_of(context, owner.id_data)
        is_shown = _is_shown([switch for level in levels for switch in level.children if switch.collection == item])
        row = layout.row(align=True)
        button = row.operator(
            "motionbridge.level_layer_show", text="", icon="HIDE_OFF" if is_shown else "HIDE_ON", emboss=False
        )
        button.layer = item.name
        name = row.row()
        name.active = is_shown
        layer = item.name.removesuffix(f" {owner.id_data.name}")
        name.label(text=iface_(layer) if layer != item.name else layer, translate=False)
        count = row.row()
        count.alignment, count.active = "RIGHT", False
        count.label(text=str(len(item.all_objects)), translate=False)
        button = row.operator("motionbridge.level_layer_select", text="", icon="RESTRICT_SELECT_OFF", emboss=False)
        button.layer = item.name

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw nothing: there are few layers."""

    def filter_items(self, _context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Return the layers among the collections of a level, in their order."""
        flag: int = self.bitflag_filter_item
        return [flag if child.motionbridge_level.is_layer else 0 for child in getattr(data, name)], []


class MOTIONBRIDGE_PT_level_layers(MotionbridgePanel, BlenderPanel):
    """The layers of the scene's levels."""

    bl_label = "X-Ray Level Layers"
    bl_order = 9

    @classmethod
    def poll(cls, context: Context) -> bool:
        """A level is in the view layer."""
        return bool(_levels(context))

    def draw(self, context: Context) -> None:
        levels = _levels(context)
        is_lit = bool(getattr(context.scene, SHOWS_LIGHT))
        self.layout.operator("motionbridge.level_light", icon="LIGHT_SUN", depress=is_lit)
        for level in levels:
            if len(levels) > 1:
                self.layout.label(text=level.name, translate=False)
            own = level.motionbridge_level
            count = len(level.children)
            self.layout.template_list(
                ROWS, level.name, level, "children", own, "active_layer", rows=count, maxrows=count, sort_lock=True
            )


CLASSES = classes_of(__name__)
