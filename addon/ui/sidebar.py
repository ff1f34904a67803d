"""The Motionbridge tab of the sidebar: base class of its panels, the game of the active object, the Import panel.

A panel is shown while the active object belongs to what it is about.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from ..blender.control_links import moved_by
from ..blender.typed import Context, Object
from ..games.arma import properties as arma
from ..games.descent3 import model_properties
from ..games.xray import paths as motion_paths
from ..games.xray.levels import properties as level
from ..games.xray.models import taken_over
from ..games.xray.models.properties import remembered
from .bases import BlenderPanel, classes_of, iface_
from .bones import draw_bone_display
from .control_rig import draw_control_rig, draw_limbs, has_limbs
from .from_game import draw_offer
from .layouts import SIDEBAR, paragraph
from .menus import ARMA, DESCENT3, XRAY, draw_first_imports, is_used
from .target import active_action, active_model, active_object, active_rig, checked_editor_model_of


class MotionbridgePanel:
    """Base of panels in the Motionbridge tab; `in_both_editors` makes the panels that the action editor shows too."""

    bl_region_type = "UI"
    bl_category = "Motionbridge"
    bl_space_type = "VIEW_3D"
    bl_label = ""
    if TYPE_CHECKING:
        layout: Any


def in_both_editors(name: str, kind: type[MotionbridgePanel], **values: Any) -> list[Any]:
    """Return two panel classes made from ``kind``, for the viewport and the action editor.

    ``values``: further attributes of both.
    """
    result = []
    for editor, letter in (("VIEW_3D", "v"), ("DOPESHEET_EDITOR", "d")):
        identifier = f"MOTIONBRIDGE_PT_{name}_{letter}"
        own = {"bl_idname": identifier, "bl_space_type": editor, "__doc__": kind.__doc__, **values}
        if "bl_parent_id" in own:
            own["bl_parent_id"] = f"{own['bl_parent_id']}_{letter}"
        result.append(type(identifier, (kind, BlenderPanel), own))
    return result


def is_of_xray(context: Context) -> bool:
    """Whether the active armature was imported from an X-Ray model or has X-Ray motions."""
    rig, action = active_rig(context), active_action(context)
    return rig is not None and bool(
        remembered(rig) is not None
        or len(rig.motionbridge_motion_files)
        or len(rig.motionbridge_skeletal_files)
        or (action is not None and action.motionbridge_motion.is_motion)
    )


def is_of_arma(context: Context) -> bool:
    """Whether the active armature has a skeleton of Arma or plays an animation of Arma."""
    rig, action = active_rig(context), active_action(context)
    known = rig is not None and bool(len(rig.data.motionbridge_skeleton.bones))
    return known or (action is not None and action.motionbridge_animation.is_animation)


def is_of_a_game(context: Context) -> bool:
    """Whether any other panel is shown for the active object."""
    active = moved_by(context.active_object)
    return active is not None and bool(
        is_of_xray(context)
        or is_of_arma(context)
        or active_model(context) is not None
        or level.holder_of(active) is not None
        or motion_paths.followed_action(active) is not None
        or arma.is_of_model(active_object(context))
        or model_properties.holder_of(active) is not None
    )


def _is_remembered(obj: Object) -> bool:
    return bool(
        remembered(obj) is not None
        or obj.motionbridge_level.kind != "NONE"
        or obj.motionbridge_arma_level.is_level
        or obj.motionbridge_descent_model.is_model
    )


class ImportPanel(MotionbridgePanel):
    """Menus of all imports, and what the active mesh can become."""

    bl_label = "Import"

    def draw_header_preset(self, _context: Context) -> None:
        """Draw the button for the last report, here for all panels, in view even while this one is closed."""
        self.layout.operator("motionbridge.report", text="", icon="TEXT", emboss=False)

    def draw(self, context: Context) -> None:
        layout = self.layout
        if checked_editor_model_of(context) is not None:
            paragraph(layout, iface_("Editor model: see Properties > Object"), SIDEBAR, "INFO")
        elif not is_of_a_game(context) and any(_is_remembered(obj) for obj in context.scene.objects):
            paragraph(layout, iface_("Select an imported object to see its panels"), SIDEBAR, "INFO")
        draw_offer(layout, context)
        draw_first_imports(layout, context)
        if is_used(context, XRAY):
            layout.operator("motionbridge.new_hud_scene", icon="VIEW_CAMERA")
        draw_bone_display(layout, context)
        self._draw_new(layout, context)

    def _draw_new(self, layout: Any, context: Context) -> None:
        """Draw what the active object can become in each game."""
        active = moved_by(context.active_object)
        if active is None:
            return
        is_mesh, uses = active.type == "MESH", partial(is_used, context)
        if uses(XRAY) and active.type in {"ARMATURE", "MESH", "EMPTY"} and taken_over.is_foreign(active):
            layout.operator("motionbridge.take_over_xray", icon="IMPORT")
        if uses(XRAY) and active.type in {"ARMATURE", "MESH"} and not _is_remembered(active):
            layout.operator("motionbridge.new_game_model", icon="ADD")
        column = layout.column(align=True)
        if is_mesh and uses(XRAY) and level.holder_of(active) is None:
            column.operator_menu_enum("motionbridge.level_begin", "kind", text="Use in X-Ray Level", icon="ADD")
        if is_mesh and uses(DESCENT3) and model_properties.holder_of(active) is None:
            column.operator("motionbridge.descent_begin", icon="ADD")
        if is_mesh and uses(ARMA) and not arma.is_of_model(active):
            column.operator("motionbridge.arma_set_lod", text="Use as Arma LOD", icon="ADD")
            column.operator("motionbridge.arma_new_lods", icon="MOD_DECIM")


class MOTIONBRIDGE_PT_control_rig(MotionbridgePanel, BlenderPanel):
    """The control rig of the active armature, above all other panels."""

    bl_label = "Control Rig"
    bl_order = -3

    @classmethod
    def poll(cls, context: Context) -> bool:
        """An armature is active, or an object that it deforms or moves."""
        return active_rig(context) is not None

    def draw(self, context: Context) -> None:
        draw_control_rig(self.layout, context)


class MOTIONBRIDGE_PT_limbs(MotionbridgePanel, BlenderPanel):
    """The switches of the control rig's limbs."""

    bl_label = "Limbs"
    bl_parent_id = "MOTIONBRIDGE_PT_control_rig"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The armature has a control rig of its own."""
        return has_limbs(context)

    def draw(self, context: Context) -> None:
        draw_limbs(self.layout, context)


class MOTIONBRIDGE_PT_begin(ImportPanel, BlenderPanel):
    """The Import panel while the active object belongs to no game."""

    bl_order = -2

    @classmethod
    def poll(cls, context: Context) -> bool:
        return not is_of_a_game(context)


class MOTIONBRIDGE_PT_import(ImportPanel, BlenderPanel):
    """The Import panel while the active object belongs to a game: closed, below the other panels."""

    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 20

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_of_a_game(context)


CLASSES = classes_of(__name__)
