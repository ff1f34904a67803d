"""Motion marks: intervals in seconds are the truth, pose markers on whole frames a view of them.

Two real times in three lie between frames, so a marker nobody moved must never round its interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ....core.model import Marker
from ....formats.xray.omf.document import FRAMES_PER_SECOND

if TYPE_CHECKING:
    from ....blender.typed import Action


FARTHEST = 1_048_574
"""Blender numbers no frame higher."""


def marker_names(mark: str, place: int, interval: int) -> tuple[str, str]:
    """The names of the pose markers at an interval's start and end."""
    return f"{mark} {place}.{interval} start", f"{mark} {place}.{interval} end"


def store(action: Action, markers: list[Marker]) -> None:
    """Put a clip's markers on the action and show them, in the place of those it had."""
    motion = action.motionbridge_motion
    hide(action)
    motion.marks.clear()
    for marker in markers:
        mark = motion.marks.add()
        mark.name = marker.name
        for start, end in marker.intervals:
            interval = mark.intervals.add()
            interval.start, interval.end = start, end
    show(action)


def show(action: bpy.types.Action) -> None:
    """One pose marker for each start and end, on the nearest frame; the user's own markers stay."""
    known = {marker.name: marker for marker in action.pose_markers}
    wanted = dict(_times(action))
    for name, seconds in wanted.items():
        marker = known.get(name) or action.pose_markers.new(name)
        marker.frame = frame_of(action, seconds)


def show_typed(interval: Any, which: int) -> None:
    """Take the pose marker of an interval's start (0) or end (1) along; markers the user moved stay where they are."""
    action = interval.id_data
    for place, mark in enumerate(action.motionbridge_motion.marks):
        for number, known in enumerate(mark.intervals):
            if known == interval:
                marker = action.pose_markers.get(marker_names(mark.name, place, number)[which])
                if marker is not None:
                    marker.frame = frame_of(action, (interval.start, interval.end)[which])


def hide(action: Action) -> None:
    """Take the pose markers of the marks away; the user's own markers stay."""
    shown = {name for name, _ in _times(action)}
    for marker in [marker for marker in action.pose_markers if marker.name in shown]:
        action.pose_markers.remove(marker)


def frame_of(action: bpy.types.Action, seconds: float) -> int:
    """The whole frame nearest to a time of the motion; of a broken file's time what Blender can number."""
    frame = first_frame(action) + seconds * _rate(action)
    return 0 if np.isnan(frame) else round(min(max(frame, -FARTHEST), FARTHEST))


def seconds_at(action: Action, frame: float) -> float:
    """The time of the motion at a frame."""
    return (frame - first_frame(action)) / _rate(action)


def _rate(action: Any) -> float:
    """Frames of Blender in a second of the game."""
    return float(FRAMES_PER_SECOND * action.motionbridge_motion.frame_step)


def first_frame(action: bpy.types.Action) -> float:
    """The frame at which the motion's time is 0."""
    return float(action.frame_start if action.use_frame_range else action.curve_frame_range[0])


def _times(action: Any) -> list[tuple[str, float]]:
    times = []
    for place, mark in enumerate(action.motionbridge_motion.marks):
        for number, interval in enumerate(mark.intervals):
            start, end = marker_names(mark.name, place, number)
            times += [(start, interval.start), (end, interval.end)]
    return times


def gather(action: Action) -> list[Marker]:
    """The marks as they stand: a marker that was moved moves its interval's end, the others leave it alone."""
    shown = {marker.name: marker.frame for marker in action.pose_markers}
    moved = {
        name: seconds_at(action, shown[name])
        for name, seconds in _times(action)
        if name in shown and shown[name] != frame_of(action, seconds)
    }
    markers = []
    for place, mark in enumerate(action.motionbridge_motion.marks):
        intervals = np.empty((len(mark.intervals), 2))
        for number, interval in enumerate(mark.intervals):
            start, end = marker_names(mark.name, place, number)
            intervals[number] = moved.get(start, interval.start), moved.get(end, interval.end)
        markers.append(Marker(mark.name, intervals))
    return markers
