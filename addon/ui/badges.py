"""Handler of edits: shortly after an edit, compare the playing motion with its file, and follow renamed bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.handlers import persistent

from ..core import pausing
from ..core.errors import MotionbridgeError
from ..core.report import Report
from ..games import renamed_bones
from ..games.arma import animation_edit, animation_import
from ..games.descent3 import motion
from ..games.descent3.model_properties import holder_of
from ..games.xray.motions import library, omf_codec, skl_codec
from .target import active_action, active_rig

if TYPE_CHECKING:
    from ..blender.typed import Context


DELAY = 0.4
"""Seconds without another edit before the comparison, so that dragging a key stays smooth."""


PANELS_OF_EDITORS = {"VIEW_3D", "DOPESHEET_EDITOR"}


def compare(context: Context) -> None:
    """Compare the playing motion with its file, if it has one, and set its status.

    Nothing is sampled: the status of a motion that needs sampling is unknown.
    """
    rig, action = active_rig(context), active_action(context)
    if rig is None or action is None:
        return
    if action.motionbridge_motion.is_motion:
        library.adopt_copies(omf_codec.OMF, rig)
        library.adopt_copies(skl_codec.SKL, rig)
        try:
            omf_codec.update_status(context, rig, [action], Report(), sample=False)
        except MotionbridgeError:
            # A motion that cannot be written cannot be compared; saving reports why.
            action.motionbridge_motion.status = "UNKNOWN"
    animation_import.adopt_unlisted(rig)
    if action.motionbridge_animation.is_animation:
        try:
            animation_edit.update_status(context, rig, action, Report(), look=False)
        except MotionbridgeError:
            action.motionbridge_animation.status = "UNKNOWN"


def compare_model(context: Context) -> None:
    """Compare the motions of the active object's Descent 3 model with its file, without sampling."""
    holder = holder_of(context.view_layer.objects.active)
    if holder is None:
        return
    try:
        motion.update_status(context, holder, sample=False)
    except MotionbridgeError:
        holder.motionbridge_descent_model.motion_status = "UNKNOWN"


def _compare_later() -> float | None:
    if pausing.unfinished():  # long work of an operator is between two steps
        return DELAY
    context: Any = bpy.context
    compare(context)
    compare_model(context)
    _redraw(context)
    return None


def _redraw(context: Context) -> None:
    """Redraw the sidebars: otherwise what a timer sets is shown only after the mouse has moved over them."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions if area.type in PANELS_OF_EDITORS else ():
                if region.type == "UI":
                    region.tag_redraw()


def _follow_later() -> float | None:
    if pausing.unfinished():
        return DELAY
    renamed_bones.follow_renames(Report())
    return None


def _hold_later() -> float | None:
    if pausing.unfinished():
        return DELAY
    context: Any = bpy.context
    rig = active_rig(context)
    if rig is not None:
        library.hold_used(rig)
        if animation_import.adopt_unlisted(rig):
            _redraw(context)
    return None


_playing = (0, 0)


def _is_switched(rig: Any) -> bool:
    """Return whether the active armature plays another action than at the last call."""
    global _playing  # noqa: PLW0603 (one active object in the whole of Blender)
    data = rig.animation_data if rig is not None else None
    playing = (rig.session_uid, data.action.session_uid) if data is not None and data.action is not None else (0, 0)
    switched = playing != _playing
    _playing = playing
    return switched


def _edited(scene: Any, depsgraph: Any) -> None:
    context: Any = bpy.context
    switched = depsgraph.id_type_updated("OBJECT") and _is_switched(active_rig(context))
    if switched and not bpy.app.timers.is_registered(_hold_later):
        bpy.app.timers.register(_hold_later, first_interval=0.0)
    if depsgraph.id_type_updated("ARMATURE") and not bpy.app.timers.is_registered(_follow_later):
        bpy.app.timers.register(_follow_later, first_interval=0.0)  # before another action is assigned
    if context.scene != scene or not depsgraph.id_type_updated("ACTION"):
        return
    action, model = active_action(context), holder_of(context.view_layer.objects.active)
    edited = [update.id.original for update in depsgraph.updates]
    if (action is not None and action in edited) or (model is not None and motion.plays_any(model, edited)):
        if bpy.app.timers.is_registered(_compare_later):
            bpy.app.timers.unregister(_compare_later)
        bpy.app.timers.register(_compare_later, first_interval=DELAY)


persistent(_edited)  # keep the handler when another file is opened


def register() -> None:
    """Register the handler; without a window nothing shows the status."""
    if not bpy.app.background:
        bpy.app.handlers.depsgraph_update_post.append(_edited)


def unregister() -> None:
    """Remove the handler and its timers."""
    if _edited in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(_edited)
    for later in (_compare_later, _follow_later, _hold_later):
        if bpy.app.timers.is_registered(later):
            bpy.app.timers.unregister(later)
