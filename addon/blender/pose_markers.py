"""Pose markers that show times of a file, such as marks and events.

Pose markers are on whole frames, and most times of real files are between them. So the exact times are stored, each
with the name of a marker on the nearest frame, and only a marker that was moved changes its time. The user's own
markers stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import bpy

    from .typed import Action

LAST_FRAME = 1_048_574
"""Blender's largest frame number; the smallest is its negative."""


def nearest_frame(frame: float) -> int:
    """Return the nearest whole frame within Blender's limits, 0 for NaN (times of broken files)."""
    return 0 if math.isnan(frame) else round(min(max(frame, -LAST_FRAME), LAST_FRAME))


def show(action: Action, name: str, frame: int) -> None:
    """Move the marker of this name to a frame; add it if it is missing."""
    marker = action.pose_markers.get(name) or action.pose_markers.new(name)
    marker.frame = frame


def move(action: Action, name: str, frame: int) -> None:
    """Move the marker of this name to a frame, unless it was deleted."""
    if name in action.pose_markers:
        show(action, name, frame)


def remove(action: Action, names: Collection[str]) -> None:
    """Remove the markers of these names."""
    for marker in [marker for marker in action.pose_markers if marker.name in names]:
        action.pose_markers.remove(marker)


def own(action: Action, names: Collection[str]) -> list[bpy.types.TimelineMarker]:
    """Return the user's own markers: all but those of these names."""
    return [marker for marker in action.pose_markers if marker.name not in names]


def gather(
    action: Action,
    times: Iterable[tuple[str, float]],
    frame_of: Callable[[Action, float], int],
    time_at: Callable[[Action, float], float],
) -> dict[str, float]:
    """Return marker name -> time; where its marker is not on the frame of a time, the time is that of the marker.

    ``times``: names of markers and exact times. Times without a marker are left out.
    """
    frames = {marker.name: marker.frame for marker in action.pose_markers}
    return {
        name: time if frames[name] == frame_of(action, time) else time_at(action, frames[name])
        for name, time in times
        if name in frames
    }
