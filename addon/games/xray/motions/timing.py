"""Times of a motion: its marks, and its length.

Marks are stored as intervals in seconds and shown by pose markers (`blender.pose_markers`): two of three times in real
files are between frames.

Keys after the last frame of the file make a motion longer, the action's frame range makes it shorter. The imported
number of frames is read from the bytes stored with the action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....blender import action as actions
from ....blender import pose_markers
from ....blender.action_lists import label_of
from ....blender.properties import kept
from ....core.binary import Reader
from ....core.errors import MotionbridgeError
from ....core.model import Marker
from ....core.report import Report, listed, say
from ....formats.xray.omf.document import FRAMES_PER_SECOND
from ....formats.xray.skl import SkeletalMotion
from .files import skl_motion_of

if TYPE_CHECKING:
    from ....blender.typed import Action, Object

_ROUNDING = 0.5 / FRAMES_PER_SECOND
"""Seconds that a mark may be outside its motion, whose first and last time are those of whole frames."""


def marker_names(mark: str, index: int, interval: int) -> tuple[str, str]:
    """Return the names of the pose markers at an interval's start and end."""
    return f"{mark} {index}.{interval} start", f"{mark} {index}.{interval} end"


def store_marks(action: Action, markers: list[Marker]) -> None:
    """Replace the marks of an action with a clip's markers, and show them."""
    motion = action.motionbridge_motion
    hide_marks(action)
    motion.marks.clear()
    for marker in markers:
        mark = motion.marks.add()
        mark.name = marker.name
        for start, end in marker.intervals:
            interval = mark.intervals.add()
            interval.start, interval.end = start, end
    show_marks(action)


def show_marks(action: Action) -> None:
    """Show the start and the end of each mark's interval by pose markers on the nearest frames."""
    for name, seconds in _times(action):
        pose_markers.show(action, name, frame_of(action, seconds))


def move_marker(interval: Any, which: int) -> None:
    """Move the pose marker of an interval's start (``which`` 0) or end (1) to its new time; other markers stay."""
    action = interval.id_data
    for index, mark in enumerate(action.motionbridge_motion.marks):
        for number, other in enumerate(mark.intervals):
            if other == interval:
                name = marker_names(mark.name, index, number)[which]
                pose_markers.move(action, name, frame_of(action, (interval.start, interval.end)[which]))


def hide_marks(action: Action) -> None:
    """Remove the pose markers of the marks."""
    pose_markers.remove(action, dict(_times(action)))


def frame_of(action: Action, seconds: float) -> int:
    """Return the whole frame nearest to a time of the motion."""
    return pose_markers.nearest_frame(first_frame(action) + seconds * _rate(action))


def seconds_at(action: Action, frame: float) -> float:
    """Return the time of the motion at a frame."""
    return (frame - first_frame(action)) / _rate(action)


def _rate(action: Action) -> float:
    """Return the frames in Blender per second in the game."""
    return float(FRAMES_PER_SECOND * action.motionbridge_motion.frame_step)


def first_frame(action: Action) -> float:
    """Return the frame at which the motion's time is 0."""
    return float(action.frame_start if action.use_frame_range else action.curve_frame_range[0])


def _times(action: Action) -> list[tuple[str, float]]:
    times = []
    for index, mark in enumerate(action.motionbridge_motion.marks):
        for number, interval in enumerate(mark.intervals):
            start, end = marker_names(mark.name, index, number)
            times += [(start, interval.start), (end, interval.end)]
    return times


def gather_marks(action: Action) -> list[Marker]:
    """Return the marks of an action. Pose markers that were moved move the start or end of their interval."""
    times = dict(_times(action)) | pose_markers.gather(action, _times(action), frame_of, seconds_at)
    markers = []
    for index, mark in enumerate(action.motionbridge_motion.marks):
        intervals = np.empty((len(mark.intervals), 2))
        for number in range(len(mark.intervals)):
            start, end = marker_names(mark.name, index, number)
            intervals[number] = times[start], times[end]
        markers.append(Marker(mark.name, intervals))
    return markers


# Length ---------------------------------------------------------------------------------------------------------------

KEYS_OUTSIDE = "keys are {} and are left out; widen the action's frame range to export them"


def imported_frames(action: Action) -> int | None:
    """Return the number of frames (30 per second) of the motion an action was imported from, None for a new one."""
    body = kept(action.motionbridge_motion, "body")
    if body:
        reader = Reader(body, label_of(action))
        reader.string("the motion's name")
        return max(reader.u32("the number of frames"), 1)
    skeletal = action.motionbridge_skeletal
    if skeletal.is_skeletal:
        return round((skeletal.shown_last - skeletal.shown_first) / action.motionbridge_motion.frame_step) + 1
    return None


def frames_of(action: Action, imported: int | None, rig: Object | None = None) -> tuple[int, int]:
    """Return the first frame of a motion in Blender, and the number of its keys, which are ``frame_step`` apart.

    ``imported``: the result of `imported_frames`, given by the caller so that the stored bytes are checked only once.
    ``rig``: its slot of the action is used.
    """
    step = action.motionbridge_motion.frame_step
    if action.motionbridge_skeletal.is_skeletal and not kept(action.motionbridge_motion, "body"):
        first, last = frames_of_skeletal(action, rig=rig)
        return first, round((last - first) / step) + 1
    return actions.frame_range(action, step, imported, is_cut=action.motionbridge_motion.is_cut, owner=rig)


def ends_of(action: Action, rig: Object | None = None) -> tuple[int, int]:
    """Return the first and the last whole frame of a motion in Blender; of any other action its frame range.

    ``rig`` as in `frames_of`. Raises `ReadError` if the stored bytes of the motion are damaged.
    """
    if action.motionbridge_skeletal.is_skeletal:
        return frames_of_skeletal(action, rig=rig)
    if not action.motionbridge_motion.is_motion:
        start, end = action.frame_range
        return round(start), round(end)
    first, count = frames_of(action, imported_frames(action), rig)
    return first, round(first + (count - 1) * action.motionbridge_motion.frame_step)


def drawn_ends(action: Action, rig: Object | None = None) -> tuple[int, int]:
    """Return the same as `ends_of` for panels, which cannot report errors.

    If stored data is damaged, it is the frame range of the action.
    """
    try:
        return ends_of(action, rig)
    except MotionbridgeError:
        start, end = action.frame_range
        return round(start), round(end)


def set_length(action: Action, frames: int, rig: Object) -> None:
    """Set the action's frame range to that of a motion with this number of frames; keys after it stay left out.

    ``rig`` as in `frames_of`.
    """
    step = action.motionbridge_motion.frame_step
    actions.set_length(action, frames, step)
    first = round(action.frame_start)
    last = first + step * (frames - 1)
    left_out = actions.key_ends(action, first, last, rig)[1] > last + actions.NEAR
    action.motionbridge_motion.is_cut = action.use_frame_range and left_out


def warn_of_length(action: Action, frames: tuple[int, int], before: int | None, report: Report, rig: Object) -> None:
    """Warn if a motion becomes shorter, and if keys for ``rig`` are outside its range and are left out.

    ``frames``: the result of `frames_of`. ``before``: the result of `imported_frames`.
    """
    first, count = frames
    shortened = before is not None and count < before
    if shortened:
        report.warn(
            "shortened by the action's frame range; keys after it are left out",
            say("{}: {} -> {:# frame|# frames}", label_of(action), before, count),
        )
    last = first + action.motionbridge_motion.frame_step * (count - 1)
    start, end = actions.key_ends(action, first, last, rig)
    if start < first - actions.NEAR:
        report.warn(
            KEYS_OUTSIDE.format("before the first frame"), say("{}: {:g} frames", label_of(action), first - start)
        )
    if end > last + actions.NEAR and not shortened:
        report.warn(KEYS_OUTSIDE.format("after the last frame"), say("{}: {:g} frames", label_of(action), end - last))


def warn_of_marks(action: Action, markers: list[Marker], end: float, before: float | None, report: Report) -> None:
    """Warn of an action's ``markers`` that are outside its motion but were inside it in the file.

    ``end``: seconds from the motion's first to its last frame; ``before``: the same in its file, None for a new motion.
    """
    known = action.motionbridge_motion.marks if before is not None else ()
    were = {
        mark.name
        for mark in known
        if _is_outside([(interval.start, interval.end) for interval in mark.intervals], before)
    }
    outside = [marker.name for marker in markers if _is_outside(marker.intervals, end) and marker.name not in were]
    if outside:
        report.warn(
            "marks are outside the motion, so the game does not use them; move their pose markers too",
            say("{}: {}", label_of(action), listed(outside)),
        )


def _is_outside(intervals: Any, last: float | None) -> bool:
    return last is not None and any(end < -_ROUNDING or start > last + _ROUNDING for start, end in intervals)


def frames_of_skeletal(
    action: Action, base: SkeletalMotion | None = None, rig: Object | None = None
) -> tuple[int, int]:
    """Return the first and the last frame of an imported editor motion. Its file may have keys outside these frames.

    ``base``: the motion as imported, if it has been read already. ``rig`` as in `frames_of`.
    """
    skeletal = action.motionbridge_skeletal
    frames = skeletal.shown_first, skeletal.shown_last
    first, last = (base.first, base.last) if base is not None else map(round, frames)
    if (action.frame_start, action.frame_end) != frames:
        start, count = actions.frame_range(action, imported=max(last - first, 0) + 1, owner=rig)
        return start, start + count - 1
    if actions.key_span(action)[1] <= skeletal.shown_last + actions.NEAR:
        return first, last
    base = base if base is not None else skl_motion_of(action)
    known = max(skeletal.shown_last, _key_ends(base)[1] if base is not None else 0.0)
    end = actions.key_ends(action, skeletal.shown_first, known, rig)[1]
    behind = end - skeletal.shown_last if end > known + actions.NEAR else 0.0
    return first, last + max(int(np.ceil(behind - actions.NEAR)), 0)


def _key_ends(base: SkeletalMotion) -> tuple[float, float]:
    """Return the frames of the first and the last key of a motion as imported."""
    times = [
        keys["time"] for track in base.tracks for keys in (envelope.keys for envelope in track.envelopes) if len(keys)
    ]
    ends = np.concatenate(times) if times else np.zeros(0)
    ends = ends[np.isfinite(ends)].astype(np.float64) / base.frame
    return (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)


def warn_of_skeletal(
    action: Action, base: SkeletalMotion, frames: tuple[int, int], report: Report, rig: Object
) -> None:
    """Warn if an editor motion becomes shorter, and if new keys for ``rig`` before its first frame do not play."""
    first, last = frames
    if last - first < base.last - base.first:
        text = say("{}: {} -> {:# frame|# frames}", label_of(action), base.last - base.first + 1, last - first + 1)
        report.warn("shortened by the action's frame range; keys after it are kept but not played", text)
    start = actions.key_ends(action, first, np.inf, rig)[0]
    if start < first - actions.NEAR and start < _key_ends(base)[0] - actions.NEAR:
        words = "{}: {:g} frames"
        report.warn(
            "keys lie before the first frame: written, but not played", say(words, label_of(action), first - start)
        )
