"""First person: gizmos that change the values of a config, arrows for positions, rings for angles, dots for points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
from mathutils import Matrix

from ...games.xray.hud import pairs, placing
from ...games.xray.hud.properties import holder_of
from ..bases import BlenderGizmoGroup

DRAG = "GIZMOGROUP_OT_gizmo_tweak"
"""Blender's operator that runs while a gizmo is dragged."""
POINTS = 3
POINT_COLOR = (1.0, 0.55, 0.1)
_AXES = (Matrix.Rotation(1.5707963267948966, 4, "Y"), Matrix.Rotation(-1.5707963267948966, 4, "X"), Matrix.Identity(4))
"""From the z axis, which a gizmo points along, to x, y and z."""


def _dragged() -> bool:
    manager: Any = bpy.context.window_manager
    return any(one.bl_idname == DRAG for window in manager.windows for one in window.modal_operators)


def _push_undo() -> float | None:
    """One undo step when the mouse button is released; Blender makes none for gizmos of extensions."""
    if _dragged():
        return 0.05
    bpy.ops.ed.undo_push(message="Move in First Person")
    return None


def _changed() -> None:
    if not bpy.app.timers.is_registered(_push_undo):
        bpy.app.timers.register(_push_undo, first_interval=0.05)


def _part() -> placing.Part | None:
    return placing.part_of(bpy.context.active_object)


def _points() -> list[placing.Part]:
    """Those of the active weapon."""
    active = bpy.context.active_object
    part = placing.part_of(active)
    hands = holder_of(active)
    if part is None or hands is None or part.order == placing.POINT:
        return []
    weapon = hands if hands.motionbridge_hud.one_model else pairs.item_of(hands)
    points = (one for one in placing.shown_parts(hands) if one.order == placing.POINT and one.shown is not None)
    return list(points) if part.shown == weapon else []


def _value(channel: str, axis: int) -> tuple[Callable[[], float], Callable[[float], None]]:
    """What an arrow or a ring reads and writes: a number of the active part's location or rotation."""

    def get() -> float:
        part = _part()
        return getattr(part.shown, channel)[axis] if part is not None else 0.0

    def put(value: float) -> None:
        part = _part()
        if part is not None:
            getattr(part.shown, channel)[axis] = value
            _changed()

    return get, put


def _place(number: int) -> tuple[Callable[[], Sequence[float]], Callable[[Sequence[float]], None]]:
    """What a dot reads and writes."""

    def get() -> Sequence[float]:
        points = _points()
        return tuple(points[number].shown.location) if number < len(points) else (0.0, 0.0, 0.0)

    def put(value: Sequence[float]) -> None:
        points = _points()
        if number < len(points):
            points[number].shown.location = value
            _changed()

    return get, put


class MOTIONBRIDGE_GGT_hud(BlenderGizmoGroup):
    """Arrows and rings of the active hands, weapon or point; each changes one number of the config."""

    bl_label = "First Person"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something that has a place in a config is active in Object Mode, and gizmos are wanted."""
        if context.mode != "OBJECT":
            return False
        hands = holder_of(context.active_object)
        return (
            hands is not None and hands.motionbridge_hud.gizmos and placing.part_of(context.active_object) is not None
        )

    def setup(self, context: Any) -> None:
        """Make all of them; those that nothing uses are hidden."""
        theme = context.preferences.themes[0].user_interface
        colors = [tuple(getattr(theme, f"axis_{axis}")) for axis in "xyz"]
        for axis, color in enumerate(colors):
            arrow = self._new("GIZMO_GT_arrow_3d", color, _value("location", axis))
            arrow.draw_style = "NORMAL"
        for axis, color in enumerate(colors):
            ring = self._new("GIZMO_GT_dial_3d", color, _value("rotation_euler", axis))
            ring.draw_options = {"CLIP"}
            ring.scale_basis = 0.75
        for number in range(POINTS):
            dot = self._new("GIZMO_GT_move_3d", POINT_COLOR, _place(number))
            dot.draw_style, dot.draw_options, dot.scale_basis = "RING_2D", {"FILL", "ALIGN_VIEW"}, 0.08

    def _new(self, kind: str, color: Sequence[float], handlers: tuple[Any, Any]) -> Any:
        made = self.gizmos.new(kind)
        made.target_set_handler("offset", get=handlers[0], set=handlers[1])
        made.color, made.alpha = color[:3], 0.8
        made.color_highlight, made.alpha_highlight = color[:3], 1.0
        made.line_width, made.use_draw_modal = 2.5, True
        return made

    def draw_prepare(self, _context: Any) -> None:
        """Put them where the weapon is: the hands' own origin is at the eye, outside the picture."""
        gizmos = list(self.gizmos)
        part, points = _part(), _points()
        for made in gizmos:
            made.hide = True
        if part is None:
            return
        above = part.shown.matrix_world @ part.shown.matrix_basis.inverted()
        there = placing.handle_of(part.shown)
        turned = [(above.to_3x3() @ axis).normalized() for axis in placing.turning_axes(part)]
        for axis in range(3):
            straight = above.to_3x3().normalized() @ Matrix.Identity(3)[axis]
            arrow = gizmos[axis]
            base = there - straight * part.shown.location[axis]  # an arrow adds its value
            arrow.matrix_basis = Matrix.Translation(base) @ above.to_quaternion().to_matrix().to_4x4() @ _AXES[axis]
            arrow.hide = False
            ring = gizmos[3 + axis]
            if part.order != placing.POINT:
                backwards = (-turned[axis]).to_track_quat("Z", "Y")  # a ring counts so about its z axis
                ring.matrix_basis = Matrix.Translation(there) @ backwards.to_matrix().to_4x4()
                ring.hide = False
        for dot, point in zip(gizmos[6:], points, strict=False):
            dot.matrix_space = point.shown.matrix_world @ point.shown.matrix_basis.inverted()
            dot.hide = False


CLASSES = (MOTIONBRIDGE_GGT_hud,)
