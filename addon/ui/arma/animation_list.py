"""The list of an armature's Arma animations: a click plays one. Also the scene's range for the one that plays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import IntProperty

from ...blender import action as actions
from ...blender import delta_action
from ...core.report import Report
from ...games.arma import animation_list, timing
from ..bases import BlenderList, BlenderOperator
from ..layouts import STATUS_ICONS
from ..lists import name_filter
from ..operation import Operation, Outcome
from ..scene_rate import frames_said
from ..target import active_action, active_rig, lacks_rig
from ..translations import said
from ..xray.motion_operators import OnMotion

_indices: dict[int, int] = {}
"""Armature -> the index found last. Only a hint: it is looked at before it counts."""


def _playing(rig: Any) -> int:
    """The index of the action that plays, -1 if it is not listed. Blender asks for it many times at each redraw."""
    data = rig.animation_data
    action = data.action if data is not None else None
    if action is None:
        return -1
    rows, key = rig.motionbridge_animations, rig.session_uid
    hint = _indices.get(key, -1)
    if not (0 <= hint < len(rows) and rows[hint].action == action):
        hint = animation_list.find(rig, action)
        _indices[key] = hint
    return hint


def _play(rig: Any, number: int) -> None:
    rows = rig.motionbridge_animations
    action = rows[number].action if 0 <= number < len(rows) else None
    if action is None:
        return
    # The action that stops playing stays within reach.
    animation_list.adopt(rig)
    actions.play(bpy.context, rig, action)


class MOTIONBRIDGE_UL_arma_animations(BlenderList):
    """Animations of an armature."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: Any,
        _data: Any,
        item: Any,
        _icon: int,
        _active: Any,
        _property: str,
    ) -> None:
        """Name, then the badge."""
        if item.action is None:  # it was deleted after the list was filtered
            return
        animation = item.action.motionbridge_animation
        row = layout.row(align=True)
        row.prop(item.action, "name", text="", emboss=False, icon="ACTION")
        row.label(icon=STATUS_ICONS[animation.status if animation.is_animation else "NEW"])

    def filter_items(self, _context: bpy.types.Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Those whose names the filter fits, in the order of the list or of their names."""
        listed, shown = [row.action for row in data.motionbridge_animations], self.bitflag_filter_item
        if not self.filter_name and not self.use_filter_sort_alpha:
            return [shown if action is not None else 0 for action in listed], []
        fits = name_filter(self.filter_name, regular=False)
        names = [action.name if action is not None else "" for action in listed]
        flags = [shown if name and fits(name) else 0 for name in names]
        if not self.use_filter_sort_alpha:
            return flags, []
        order = [0] * len(names)
        for place, number in enumerate(sorted(range(len(names)), key=lambda number: names[number].lower())):
            order[number] = place
        return flags, order


class MOTIONBRIDGE_OT_arma_list_animations(Operation, BlenderOperator):
    """Add the playing action, and imported animations of these bones that are in no list, to the list"""

    bl_idname = "motionbridge.arma_list_animations"
    bl_label = "List Animations"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """An armature is active."""
        return not lacks_rig(cls, context)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature object."""
        return (active_rig(context),)

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """List them, and take out the rows of deleted ones."""
        rig = active_rig(context)
        animation_list.remove_deleted(rig)
        added = animation_list.adopt_all(rig)
        listed = len(rig.motionbridge_animations)
        return Outcome(said("Animations in the list: {}, added: {}").format(listed, added))


class MOTIONBRIDGE_OT_match_scene_to_animation(OnMotion, BlenderOperator):
    """Set the first and last frame of the scene; the frame rate stays, as a config sets the game's speed"""

    bl_idname = "motionbridge.match_scene_to_animation"
    bl_label = "Match Scene to Animation"
    bl_options = {"REGISTER", "UNDO"}

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """Nothing but the scene."""
        return ()

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set the range."""
        rig, action = self.chosen(context)
        times = delta_action.DeltaReader(rig, delta_action.RestPose.of(rig)).key_times(action)
        length = timing.length_of(action, times, timing.kept_frames(action.motionbridge_animation))
        context.scene.frame_start, context.scene.frame_end = round(length.first), round(length.last)
        return frames_said(context)


def draw(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """The list with its buttons."""
    row = layout.row()
    row.template_list(
        "MOTIONBRIDGE_UL_arma_animations",
        "",
        rig,
        "motionbridge_animations",
        rig,
        "motionbridge_playing_animation",
        rows=4,
        maxrows=10,
    )
    row.operator("motionbridge.arma_list_animations", text="", icon="FILE_REFRESH")
    if active_action(context) is not None:
        layout.operator("motionbridge.match_scene_to_animation", icon="PREVIEW_RANGE")


CLASSES = (
    MOTIONBRIDGE_UL_arma_animations,
    MOTIONBRIDGE_OT_arma_list_animations,
    MOTIONBRIDGE_OT_match_scene_to_animation,
)
OBJECT: Any = bpy.types.Object


def register() -> None:
    """Add the index of the playing animation, which the list shows and sets."""
    OBJECT.motionbridge_playing_animation = IntProperty(
        name="Playing Animation",
        description="Click an animation to play it on the armature",
        get=_playing,
        set=_play,
        options={"HIDDEN"},
    )


def unregister() -> None:
    """Take it away."""
    del OBJECT.motionbridge_playing_animation
    _indices.clear()
