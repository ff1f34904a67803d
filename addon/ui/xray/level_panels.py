"""The X-Ray Level panel of the sidebar: what the active object is to a level, its legend, its faces, its problems."""

from collections.abc import Iterable
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...blender import scope
from ...core.report import Report
from ...games.xray.levels import edit as level_edit
from ...games.xray.levels import exporting as level_export
from ...games.xray.levels import materials as level_materials
from ...games.xray.levels.properties import KINDS, holder_of, meshes_of
from .. import checks
from ..bases import BlenderOperator, BlenderPanel
from ..long_work import StartsAtOnce
from ..operation import Operation, Outcome
from ..sidebar import MotionbridgePanel
from ..wording import said, shown
from .collision_values import FaceValues, draw_active_face, options_with_materials
from .details_panels import draw_ground

LEGEND_SHOWN = 24
NEW_KINDS = tuple(item for item in KINDS if item[0] not in {"NONE", "ERR"})


class MOTIONBRIDGE_OT_level_begin(Operation, BlenderOperator):
    """Make the active mesh part of a level: adds missing face attributes"""

    bl_idname = "motionbridge.level_begin"
    bl_label = "Use in Level"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Kind",
        description="Which part of a level this is",
        items=NEW_KINDS,
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A mesh is active."""
        cls.poll_message_set("The active object is not a mesh")
        return context.active_object is not None and context.active_object.type == "MESH"

    def run(self, context: Any, _report: Report) -> Outcome:
        """Add the attributes."""
        level_edit.begin(context, context.active_object, self.kind)
        return Outcome(said("{} can now be exported for a level").format(context.active_object.name))


class MOTIONBRIDGE_OT_level_two_sided(FaceValues, BlenderOperator):
    """Set whether the selected occluders hide from both sides or only from the front"""

    bl_idname = "motionbridge.level_two_sided"
    bl_label = "Two-Sided"
    kinds = ("HOM", "SOM")

    two_sided: BoolProperty(
        name="Two-Sided", description="Hide what is behind from both sides, not only from the front", default=True
    )

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set it."""
        return self.set_values(context, {"two_sided": self.two_sided})


class MOTIONBRIDGE_OT_level_occlusion(FaceValues, BlenderOperator):
    """Set how much sound passes through the selected faces"""

    bl_idname = "motionbridge.level_occlusion"
    bl_label = "Set Sound Occlusion"
    kinds = ("SOM",)

    occlusion: FloatProperty(
        name="Occlusion",
        description="Share of the sound volume that passes through; 0 for silence",
        default=0.05,
        min=0,
        max=1,
    )

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set it."""
        return self.set_values(context, {"occlusion": self.occlusion})


class MOTIONBRIDGE_OT_level_check(StartsAtOnce, Operation, BlenderOperator):
    """Find errors and warnings for the game, and select the first such faces or vertices"""

    bl_idname = "motionbridge.level_check"
    bl_label = "Select Invalid Faces"
    bl_options = {"REGISTER", "UNDO"}

    number: IntProperty(name="Finding", description="Index of the finding to select", default=0, min=0)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object is of a file that can be exported."""
        cls.poll_message_set("The active object is not part of a level")
        holder = holder_of(context.active_object)
        return holder is not None and holder.motionbridge_level.kind in level_export.SUFFIXES

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing: elements are selected."""
        return ()

    def run(self, context: Any, report: Report) -> Outcome:
        """Report everything, select the elements of one finding."""
        holder = holder_of(context.view_layer.objects.active)
        with scope.leaving_edit_mode(context):
            options = options_with_materials(context, holder, report)
            found = level_export.find_problems(context, holder, report, options)
        checks.remember(holder, len(found))
        if not found:
            return Outcome(said("No errors or warnings found"))
        for one in found:
            report.warn(one.problem.line, one.shown.name)
        selectable = [one for one in found if len(one.faces) or len(one.vertices)]
        if not selectable:
            return Outcome(said("Findings: {}").format(len(found)))
        number = min(self.number, len(selectable) - 1)
        chosen = selectable[number]
        self._select(context, chosen)
        words = (number + 1, len(selectable), chosen.problem.sentence)
        return Outcome(said("Selected finding {} of {}: {}").format(*words))

    def _select(self, context: Any, chosen: "level_export.Offending") -> None:
        level_edit.select(chosen.shown, chosen.faces, chosen.vertices)
        context.view_layer.objects.active = chosen.shown
        chosen.shown.select_set(True)
        context.tool_settings.mesh_select_mode = (not len(chosen.faces), False, bool(len(chosen.faces)))
        scope.set_mode("EDIT")


class MOTIONBRIDGE_PT_level(MotionbridgePanel, BlenderPanel):
    """What the active object is to a level."""

    bl_label = "X-Ray Level"
    bl_order = 10

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object is of a file."""
        return holder_of(context.active_object) is not None

    def draw(self, context: Any) -> None:
        """Kind, legend, faces, problems."""
        layout = self.layout
        active = context.active_object
        holder = holder_of(active)
        properties = holder.motionbridge_level
        layout.label(text=shown(next(label for key, label, _ in KINDS if key == properties.kind)))
        if properties.kind == "DM":
            column = layout.column()
            column.use_property_split = True
            for name in ("waving", "min_scale", "max_scale"):
                column.prop(properties, name)
            column.label(text="Origin at ground level", icon="INFO")
        shown_meshes = [active] if active.type == "MESH" else meshes_of(holder)
        if properties.kind != "DETAILS":
            self._draw_legend(shown_meshes)
        if properties.kind == "ERR":
            column = layout.column(align=True)
            column.label(text="The findings are selected:", icon="INFO")
            column.label(text="Press Tab to edit, numpad . to zoom in")
        if active.type == "MESH":
            self._draw_faces(context, properties.kind)
            if properties.kind == "DETAILS":
                draw_ground(layout, active)
        if properties.kind in level_export.SUFFIXES:
            layout.operator("motionbridge.level_check", icon="VIEWZOOM")
            checks.draw(layout, holder)
            layout.operator("export_scene.xray_level_geometry", text="Export", icon="EXPORT")
            layout.operator("motionbridge.level_save_back", icon="FILE_TICK")
        if properties.kind == "DETAILS":
            # As long as there are models: what is worked with comes first.
            self._draw_legend(shown_meshes)

    def _draw_legend(self, meshes: list[Any]) -> None:
        column = self.layout.column(align=True)
        found = level_materials.legend(meshes)
        for made, name in found[:LEGEND_SHOWN]:
            row = column.row(align=True)
            colour = row.row()
            colour.ui_units_x = 1.5
            colour.prop(made, "diffuse_color", text="")
            row.label(text=name, translate=False)
        if len(found) > LEGEND_SHOWN:
            column.label(text=shown("and {} more").format(len(found) - LEGEND_SHOWN))

    def _draw_faces(self, context: Any, kind: str) -> None:
        if kind in ("HOM", "SOM"):
            # Blender's own colours: blue is the front, the side from which a one-sided face works.
            overlay = context.space_data.overlay
            self.layout.prop(overlay, "show_face_orientation", text="Front Blue, Back Red")
        column = self.layout.column(align=True)
        if kind in ("HOM", "SOM", "CFORM"):
            column.label(text="Selected faces:")
        if kind in ("HOM", "SOM"):
            row = column.row(align=True)
            row.operator("motionbridge.level_two_sided", text="Two-Sided").two_sided = True
            row.operator("motionbridge.level_two_sided", text="One-Sided").two_sided = False
        if kind == "SOM":
            column.label(text="Sound that passes through:")
            row = column.row(align=True)
            for share in (0.0, 0.05, 0.6, 1.0):
                row.operator("motionbridge.level_occlusion", text=f"{share:g}").occlusion = share
        if kind in ("HOM", "SOM"):
            column.operator("motionbridge.level_colours", icon="FILE_REFRESH").shown_by = "SAME"
        if kind == "CFORM":
            column.operator("motionbridge.level_collision", icon="MATERIAL")
            draw_active_face(self.layout, context.active_object.data)


CLASSES = (
    MOTIONBRIDGE_OT_level_begin,
    MOTIONBRIDGE_OT_level_two_sided,
    MOTIONBRIDGE_OT_level_occlusion,
    MOTIONBRIDGE_OT_level_check,
    MOTIONBRIDGE_PT_level,
)
