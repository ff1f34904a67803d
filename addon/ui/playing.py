"""Playing a motion: what a click on it does to the scene, the scene's frame rate and range, notes on other rates."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy

from ..blender import delta_action, scope, transforms
from ..blender.action_lists import label_of
from ..blender.typed import Action, Context, Object
from ..core.errors import WriteError
from ..core.report import Report, say
from ..formats.xray import omf
from ..games.arma import timing as arma_timing
from ..games.descent3 import hierarchy
from ..games.descent3 import motion as descent_motion
from ..games.descent3.model_properties import holder_of
from ..games.xray import paths as motion_paths
from ..games.xray.motions import timing as motion_timing
from .bases import BlenderOperator, classes_of, rpt_
from .operation import Need, Operation, Outcome, stores_nothing
from .preferences import follow_length_set, preferences
from .target import active_action, active_object, active_rig

TICKS_PER_SECOND = 30
"""Rate at which models of Descent 3 were animated; their files have none."""

if TYPE_CHECKING:
    Frames = tuple[int, int]


def start(context: Context, frames: "Frames") -> None:
    """After the user chose a motion: show its first and last of ``frames`` as the preview range, and play it.

    Both are switches of the preferences. The current frame stays if the motion has it and nothing is to be played.
    """
    wanted, scene = preferences(context), context.scene
    follow(context, frames)
    plays = wanted.play_on_click and not is_playing(context)
    if plays or not frames[0] <= scene.frame_current <= frames[1]:
        scene.frame_set(frames[0])
    if plays and not bpy.app.background:
        bpy.ops.screen.animation_play()


_before: dict[int, tuple[bool, int, int]] = {}
"""The preview range of each scene (its ``session_uid``) before **Follow Length** set it: whether it is used, its ends.
"""


def follow(context: Context, frames: "Frames") -> None:
    """Set the preview range to the first and last of ``frames`` if **Follow Length** is on."""
    if preferences(context).follow_length:
        scene = context.scene
        own = scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end
        _before.setdefault(scene.session_uid, own)
        _set_preview(scene, True, *frames)


def _set_preview(scene: Any, used: bool, first: int, last: int) -> None:
    scene.use_preview_range = used
    # Blender keeps the start before the end, so the first of three settings may have no effect.
    scene.frame_preview_start = first
    scene.frame_preview_end = last
    scene.frame_preview_start = first


def _follow_length_set(wanted: Any, context: Context) -> None:
    """Follow the motion that is shown, or give the scenes the preview ranges that they had before."""
    if wanted.follow_length:
        follow_active(context)
        return
    for scene in bpy.data.scenes:
        if scene.session_uid in _before:
            _set_preview(scene, *_before[scene.session_uid])
    _before.clear()


follow_length_set.follow = _follow_length_set


def follow_active(context: Context) -> None:
    """`follow` the motion or path that the active object plays, if any; the user has just imported it."""
    timing = timing_of_active(context)
    if timing is not None:
        first, last = timing[1]
        follow(context, (math.floor(first), math.ceil(last)))


def is_playing(context: Context) -> bool:
    """Return whether a window plays the scene."""
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    return any(window.scene == context.scene and window.screen.is_animation_playing for window in windows)


def state_of(context: Context, name: str) -> str:
    """Return in words that a motion, or the motion on an object, is shown or plays."""
    return (rpt_("now playing: {}") if is_playing(context) else rpt_("shown: {}")).format(name)


def draw_switches(layout: Any, context: Context) -> None:
    """Draw the row of switches for what a click on a motion does."""
    row = layout.row(align=True)
    for name in ("follow_length", "play_on_click"):
        row.prop(preferences(context), name, toggle=True)


# Rate and length of the scene -----------------------------------------------------------------------------------------


def match_scene(context: Context, rate: float | None, frames: Any) -> None:
    """Set the scene's frame rate, if one is given, and its frame range to the first and last of ``frames``."""
    scene = context.scene
    if rate is not None:
        scene.render.fps = max(round(rate), 1)
        scene.render.fps_base = scene.render.fps / rate
    scene.frame_start, scene.frame_end = (round(frame) for frame in frames)


def timing_of_active(context: Context) -> tuple[float | None, Any] | None:
    """Return the frame rate of the motion or path that plays, and its first and last frame; None if there is none.

    The rate is None if the game's config has it (Arma).
    """
    path = motion_paths.followed_action(active_object(context))
    if path is not None:
        return path.motionbridge_path.fps, path.frame_range
    holder = holder_of(active_object(context))
    if holder is not None:
        return _timing_of_model(context, holder)
    rig, action = active_rig(context), active_action(context)
    if action is None:
        return None
    if action.motionbridge_skeletal.is_skeletal:
        return action.motionbridge_skeletal.fps, motion_timing.ends_of(action, rig)
    if action.motionbridge_motion.is_motion:
        return omf.FRAMES_PER_SECOND, motion_timing.ends_of(action, rig)
    reader = delta_action.DeltaReader(rig, delta_action.RestPose.of(rig))
    times = reader.key_times(reader.table(action))
    length = arma_timing.length_of(action, times, arma_timing.kept_frames(action.motionbridge_animation))
    return None, (length.first, length.last)


def _timing_of_model(context: Context, holder: Object) -> tuple[float, Any] | None:
    """Return the rate and the ticks of a model of Descent 3, None if nothing of it moves."""
    moving = descent_motion.moved_by_keys(hierarchy.hierarchy_of(context, hierarchy.Chosen(holder), Report()))
    ends = transforms.key_range([curve for _, curves in moving for curve in curves])
    return (TICKS_PER_SECOND, ends) if ends is not None else None


def _plays(context: Context) -> bool:
    active = active_object(context)
    is_part = holder_of(active) is not None or motion_paths.followed_action(active) is not None
    return is_part or active_action(context) is not None


class MOTIONBRIDGE_OT_match_scene(Operation, BlenderOperator):
    """Set the scene to the frame rate and length of the motion or path that plays; Arma's have no rate of their own"""

    bl_idname = "motionbridge.match_scene"
    bl_label = "Match Scene to Motion"
    needs = (Need("The active object plays no motion or path", _plays),)
    edited = stores_nothing  # nothing but the scene

    def run(self, context: Context, _report: Report) -> Outcome:
        timing = timing_of_active(context)
        if timing is None:
            raise WriteError("the active object plays no motion", remedy="Choose one in the list")
        match_scene(context, *timing)
        scene = context.scene
        text = rpt_("Frames {} to {}, {:g} per second")
        return Outcome(text.format(scene.frame_start, scene.frame_end, scope.frames_per_second(scene)))


def note_other_rates(
    context: Context, actions: list[Action], rate_of: Callable[[Any], float], report: Report, *, paths: bool = False
) -> None:
    """Add a note to the report for each action whose frame rate in the game differs from the scene's.

    ``paths``: the actions are motion paths, not motions.
    """
    rate = scope.frames_per_second(context.scene)
    for action in actions:
        own = rate_of(action)
        if abs(rate - own) > 1e-3:
            words = "the scene plays {:g} frames per second, the motion {:g}; frames are not converted"
            if paths:
                words = "the scene plays {:g} frames per second, the path {:g}; frames are not converted"
            report.note(say(words, rate, own), label_of(action))


CLASSES = classes_of(__name__)
