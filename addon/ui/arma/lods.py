"""The list of a model's LODs in the sidebar: a click shows one of them; add, copy, remove, move.

Blender draws one row per object of the file: the row at index k draws the k-th LOD, whatever object Blender passes for
it. Only while the list is drawn are its LODs remembered.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ...blender.properties import AddedProperties
from ...blender.typed import Context
from ...core.report import Report
from ...formats.arma import lod_kinds
from ...games.arma import lod_list, mass, model_import
from ...games.arma.options import LOD_KINDS, LOD_WORDS, ModelImportOptions
from ...games.arma.properties import is_of_model, model_of, others_of
from ..bases import BlenderList, BlenderMenu, BlenderOperator, classes_of, iface_, rpt_, tell
from ..layouts import DrawnRows, name_filter
from ..operation import Need, Operation, Outcome, stores_nothing
from ..preferences import known_games
from ..target import active_object, on_active

if TYPE_CHECKING:
    from ...games.arma.lod_list import SceneLod

ROW = "motionbridge_arma_lod"
ROWS = 6

_drawing: "list[SceneLod]" = []
_drawn = {"row": -1}


@contextmanager
def _remembered(context: Context) -> Iterator[None]:
    """Find the LODs once while the list is drawn: Blender asks many times which row is active."""
    _drawing[:] = lod_list.lods_of(context)
    _drawn["row"] = lod_list.index_of(_drawing, active_object(context))
    try:
        yield
    finally:
        _drawing.clear()


def _active_row(_scene: Any) -> int:
    context: Any = bpy.context
    if not bpy.app.background:  # nothing changes while Blender draws
        return _drawn["row"]
    return lod_list.index_of(lod_list.lods_of(context), active_object(context))


def _undone(*_: Any) -> None:
    """Let marks of centers of mass follow the masses, where Edit Mode takes back meshes only."""
    context: Any = bpy.context
    active = active_object(context)
    if active is not None and active.mode == "EDIT" and active.type == "MESH":
        mass.follow_undo(context)


def _show_row(scene: Any, index: int) -> None:
    context: Any = bpy.context
    lods = lod_list.lods_of(context)
    if 0 <= index < len(lods):
        lod_list.show(context, lods, lods[index], alone=scene.motionbridge_arma_lods.solo)


class MOTIONBRIDGE_UL_arma_lods(DrawnRows, BlenderList):
    """LODs of an Arma model."""

    def draw_row(self, layout: Any, _item: Any, _owner: Any, index: int) -> None:
        """Draw the name, the number of faces or points, and the eye."""
        if index >= len(_drawing):
            return
        lod = _drawing[index]
        row = layout.row(align=True)
        row.row().label(text=lod.name, icon="MESH_DATA" if lod.is_mesh else "EMPTY_DATA", translate=False)
        right = row.row(align=True)
        right.alignment = "RIGHT"
        size, icon = _size(lod)
        right.label(text=str(size), icon=icon, translate=False)
        hidden = lod.is_hidden()
        eye = right.operator(
            "motionbridge.arma_lod_hide", text="", icon="HIDE_ON" if hidden else "HIDE_OFF", emboss=False
        )
        eye.index = index

    def filter_items(self, _context: Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Return which rows match the search; surplus rows of Blender are hidden."""
        drawn: Any = self
        fits = name_filter(drawn.filter_name, regular=False)
        flag, nothing = drawn.bitflag_filter_item, getattr(drawn, "bitflag_item_never_show", 0)
        flags = [flag if fits(lod.name) else 0 for lod in _drawing]
        return flags + [nothing] * (len(data.objects) - len(flags)), []


def _size(lod: "SceneLod") -> tuple[int, str]:
    """Return the number of faces and no icon; of points, if there are no faces, with theirs."""
    data: Any = lod.obj.data
    if lod.is_mesh and len(data.polygons):
        return len(data.polygons), "NONE"
    return len(data.vertices) if lod.is_mesh else len(lod.parts), "VERTEXSEL"


def draw(layout: Any, context: Context) -> None:
    """Draw the list with its buttons."""
    row = layout.row()
    with _remembered(context):
        row.template_list(
            "MOTIONBRIDGE_UL_arma_lods", "", bpy.data, "objects", context.scene, ROW, rows=ROWS, sort_lock=True
        )
    column = row.column(align=True)
    column.operator("motionbridge.arma_lod_add", text="", icon="ADD")
    column.operator("motionbridge.arma_lod_remove", text="", icon="REMOVE")
    column.operator("motionbridge.arma_lod_copy", text="", icon="DUPLICATE")
    column.menu("MOTIONBRIDGE_MT_arma_lods", text="", icon="DOWNARROW_HLT")
    column.separator()
    switches = context.scene.motionbridge_arma_lods
    column.prop(switches, "solo", text="", icon="SOLO_ON" if switches.solo else "SOLO_OFF")
    others = len(_others(context))
    if others:
        text = iface_("Import Other LODs ({})").format(others)
        layout.operator("motionbridge.arma_lods_import", text=text, icon="IMPORT", translate=False)


class MOTIONBRIDGE_MT_arma_lods(BlenderMenu):
    """What can be done with the active LOD"""

    bl_label = "LODs"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("motionbridge.arma_set_lod", icon="GREASEPENCIL")
        layout.operator("motionbridge.arma_new_lods", icon="MOD_DECIM")
        layout.separator()
        layout.operator("motionbridge.arma_lod_move", text="Move Up", icon="TRIA_UP").direction = "UP"
        layout.operator("motionbridge.arma_lod_move", text="Move Down", icon="TRIA_DOWN").direction = "DOWN"
        layout.separator()
        layout.operator("motionbridge.arma_proxies_copy", icon="EMPTY_ARROWS")
        layout.operator("motionbridge.arma_clean_weights", icon="MOD_VERTEX_WEIGHT")
        layout.operator("motionbridge.arma_rename_selections", icon="GROUP_VERTEX")
        layout.operator("motionbridge.arma_lod_show_all", icon="HIDE_OFF")


# Operators ------------------------------------------------------------------------------------------------------------


def _active_lod(context: Context) -> "SceneLod | None":
    lods = lod_list.lods_of(context) if is_of_model(active_object(context)) else []
    index = lod_list.index_of(lods, active_object(context))
    return lods[index] if index >= 0 else None


def _active_mesh(context: Context) -> "SceneLod | None":
    lod = _active_lod(context)
    return lod if lod is not None and lod.is_mesh else None


def _others(context: Context) -> list[str]:
    return others_of(model_of(active_object(context)))


PART = Need("The active object is not part of an Arma model", on_active(is_of_model))
LOD = Need("No LOD is active: click one in the list", _active_lod)
MESH_LOD = Need("The active LOD is not a mesh", _active_mesh)


class MOTIONBRIDGE_OT_arma_lod_hide(Operation, BlenderOperator):
    """Show or hide this LOD, with its proxies"""

    bl_idname = "motionbridge.arma_lod_hide"
    bl_label = "Show or Hide LOD"
    needs = (PART,)
    edited = stores_nothing

    index: IntProperty(name="Index", description="Index of the LOD in the list", min=0, options={"HIDDEN"})

    def run(self, context: Context, _report: Report) -> Outcome:
        lods = lod_list.lods_of(context)
        if self.index >= len(lods):
            return Outcome(rpt_("No such LOD"), done=False)
        lod = lods[self.index]
        hidden = not lod.is_hidden()
        lod.hide(hidden=hidden)
        return Outcome((rpt_("{} is hidden") if hidden else rpt_("{} is shown")).format(lod.name))


class MOTIONBRIDGE_OT_arma_lod_show_all(Operation, BlenderOperator):
    """Show all LODs of the model at once"""

    bl_idname = "motionbridge.arma_lod_show_all"
    bl_label = "Show All LODs"
    needs = (PART,)
    edited = stores_nothing

    def run(self, context: Context, _report: Report) -> Outcome:
        lods = lod_list.lods_of(context)
        for lod in lods:
            lod.hide(hidden=False)
        return Outcome(rpt_("LODs shown: {}").format(len(lods)))


class MOTIONBRIDGE_OT_arma_lod_add(Operation, BlenderOperator):
    """Add a LOD without faces to the model, and show it"""

    bl_idname = "motionbridge.arma_lod_add"
    bl_label = "Add LOD"
    needs = (PART,)
    edited = stores_nothing  # a new object is made

    kind: EnumProperty(name="LOD", description="Purpose of the LOD", items=LOD_KINDS, default="GEOMETRY")

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the dialog, with the first kind of which the model can have another LOD."""
        present = {*(lod.name for lod in lod_list.lods_of(context)), *_others(context)}
        if LOD_WORDS[self.kind] in present:
            self.kind = next(kind for kind, word in LOD_WORDS.items() if word not in present)
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Add"))

    def run(self, context: Context, _report: Report) -> Outcome:
        lod = lod_list.add(context, LOD_WORDS[self.kind])
        lod_list.show(context, lod_list.lods_of(context), lod, alone=context.scene.motionbridge_arma_lods.solo)
        return Outcome(rpt_("Added the LOD {}").format(lod.name))


class MOTIONBRIDGE_OT_arma_lods_import(Operation, BlenderOperator):
    """Import the LODs of the model's file that are not in Blender, with their proxies"""

    bl_idname = "motionbridge.arma_lods_import"
    bl_label = "Import Other LODs"
    needs = (PART, Need("All LODs of the model's file are in Blender", _others))

    def edited(self, context: Context) -> tuple[Any, ...]:
        return (model_of(active_object(context)),)

    def run(self, context: Context, report: Report) -> Outcome:
        options = ModelImportOptions(games=known_games(context, "ARMA"))
        result = model_import.import_others(context, options, report)
        return Outcome(tell(model_import.sentence_of([result]), rpt_))


class MOTIONBRIDGE_OT_arma_lod_copy(Operation, BlenderOperator):
    """Copy the mesh of the active LOD, with its proxies, into new LODs"""

    bl_idname = "motionbridge.arma_lod_copy"
    bl_label = "Copy to LODs"
    needs = (PART, MESH_LOD)
    edited = stores_nothing  # new objects are made

    kinds: EnumProperty(
        name="LODs",
        description="Kinds of the copies; Shift-click chooses several",
        items=tuple((*item, 1 << number) for number, item in enumerate(LOD_KINDS)),
        options={"ENUM_FLAG"},
        default={"RESOLUTION"},
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_props_dialog(self, width=500, confirm_text=iface_("Copy"))

    def draw(self, _context: Context) -> None:
        self.layout.grid_flow(columns=2, row_major=False, align=True).prop(self, "kinds")

    def run(self, context: Context, _report: Report) -> Outcome:
        source = _active_mesh(context)
        if source is None or not self.kinds:
            return Outcome(rpt_("No LOD is chosen"), done=False)
        if source.obj.mode == "EDIT":
            source.obj.update_from_editmode()
        copies: list[SceneLod] = []
        for word in (LOD_WORDS[kind] for kind, *_ in LOD_KINDS if kind in self.kinds):
            copies.append(lod_list.copy([*lod_list.lods_of(context), *copies], source, word))
        lod_list.show(context, lod_list.lods_of(context), copies[0], alone=context.scene.motionbridge_arma_lods.solo)
        return Outcome(rpt_("Copied to LODs: {}").format(", ".join(lod.name for lod in copies)))


class MOTIONBRIDGE_OT_arma_lod_remove(Operation, BlenderOperator):
    """Remove the active LOD, with its proxies, from the model"""

    bl_idname = "motionbridge.arma_lod_remove"
    bl_label = "Remove LOD"
    needs = (PART, LOD)

    def run(self, context: Context, _report: Report) -> Outcome:
        """Remove it, and show the next one."""
        lods = lod_list.lods_of(context)
        index = lod_list.index_of(lods, active_object(context))
        lod = lods.pop(index)
        name = lod.name
        if lods:
            lod_list.show(context, (), lods[min(index, len(lods) - 1)], alone=False)
        lod.remove()
        return Outcome(rpt_("Removed the LOD {}").format(name))


class MOTIONBRIDGE_OT_arma_lod_move(Operation, BlenderOperator):
    """Exchange the number of the active LOD with that of the previous or the next LOD of the same kind"""

    bl_idname = "motionbridge.arma_lod_move"
    bl_label = "Move LOD"
    needs = (PART, MESH_LOD)

    direction: EnumProperty(
        name="Direction",
        items=(("UP", "Up", "Exchange with the previous LOD"), ("DOWN", "Down", "Exchange with the next LOD")),
        options={"HIDDEN"},
    )

    def run(self, context: Context, _report: Report) -> Outcome:
        lods = lod_list.lods_of(context)
        index = lod_list.index_of(lods, active_object(context))
        other = lod_list.neighbour(lods, index, -1 if self.direction == "UP" else 1)
        if other is None:
            return Outcome(rpt_("Only LODs of one kind with numbers can be exchanged"), done=False)
        lod_list.exchange(lods[index], other)
        name = lod_kinds.name_of(lods[index].obj.motionbridge_arma_level.resolution)
        return Outcome(rpt_("{} is now {}").format(lods[index].name, name))


ADDED = AddedProperties(
    (),
    {
        (bpy.types.Scene, ROW): IntProperty(
            name="Active LOD", description="Click a LOD to show it", get=_active_row, set=_show_row, options={"HIDDEN"}
        ),
    },
    (("undo_post", _undone), ("redo_post", _undone)),
)


def register() -> None:
    """Add the properties of the list."""
    ADDED.register()


def unregister() -> None:
    """Remove the properties of the list."""
    ADDED.unregister()


CLASSES = classes_of(__name__)
