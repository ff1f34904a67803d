"""Events of an animation: their phases are the truth, pose markers on whole frames a view of them.

A marker that is moved moves its event, one that is deleted takes its event along; one that nobody moved never rounds
a phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.model import Event
from ...formats.arma import names, rtm
from . import timing

if TYPE_CHECKING:
    from ...blender.typed import Action
    from .properties import AnimationEvent


def store(action: Action, found: Sequence[Event]) -> None:
    """Put a clip's events on the action and show them, in the place of those it had."""
    properties = action.motionbridge_animation
    hide(action)
    properties.events.clear()
    for event in found:
        add(action, event)


def add(action: Action, event: Event) -> AnimationEvent:
    """One more event at the end of the list, with its marker."""
    made = action.motionbridge_animation.events.add()
    made.label, made.value, made.phase = event.name, event.value, float(event.phase)
    _mark(action, made)
    return made


def remove(action: Any, place: int) -> None:
    """Take an event and its marker away."""
    properties = action.motionbridge_animation
    marker = action.pose_markers.get(properties.events[place].marker)
    if marker is not None:
        action.pose_markers.remove(marker)
    properties.events.remove(place)


def show(action: Any) -> None:
    """Markers named as the events are now."""
    for event in action.motionbridge_animation.events:
        marker = action.pose_markers.get(event.marker)
        if marker is not None and not event.marker.startswith(f"{event.label} #"):
            marker.name = _free_name(action, event.label)
            event.marker = marker.name


def show_typed(event: Any) -> None:
    """Take the marker of an event along whose phase was typed."""
    marker = event.id_data.pose_markers.get(event.marker)
    if marker is not None:
        marker.frame = frame_of(event.id_data, event.phase)


def hide(action: Action) -> None:
    """Take the markers of the events away; the user's own markers stay."""
    shown = {event.marker for event in action.motionbridge_animation.events}
    for marker in [marker for marker in action.pose_markers if marker.name in shown]:
        action.pose_markers.remove(marker)


def _mark(action: Action, event: AnimationEvent) -> None:
    event.marker = _free_name(action, event.label)
    marker = action.pose_markers.new(event.marker)
    marker.frame = frame_of(action, event.phase)


def _free_name(action: Action, label: str) -> str:
    taken = {marker.name for marker in action.pose_markers}
    shortened = (label or names.decode(rtm.STEP_SOUND))[:48]
    return next(name for number in range(1, len(taken) + 2) if (name := f"{shortened} #{number}") not in taken)


def gather(action: Action) -> list[Event]:
    """The events as they stand, in their order."""
    shown = {marker.name: marker.frame for marker in action.pose_markers}
    result = []
    for event in action.motionbridge_animation.events:
        if event.marker not in shown:
            continue
        phase = np.float32(event.phase)
        if shown[event.marker] != frame_of(action, event.phase):
            phase = as_stored(phase_at(action, shown[event.marker]))
        result.append(Event(phase, event.label, event.value))
    return result


def as_stored(phase: float) -> np.float32:
    """A phase as files and properties hold it."""
    return np.float32(phase)


def own_markers(action: Action) -> list[bpy.types.TimelineMarker]:
    """The user's own pose markers, which are no events."""
    shown = {event.marker for event in action.motionbridge_animation.events}
    return [marker for marker in action.pose_markers if marker.name not in shown]


def of_own_markers(action: Action) -> list[Event]:
    """The user's own pose markers as events without a value."""
    return [Event(as_stored(phase_at(action, marker.frame)), marker.name, "") for marker in own_markers(action)]


def frame_of(action: bpy.types.Action, phase: float) -> int:
    """The whole frame nearest to a phase."""
    known, phases = _known(action)
    # No limits: a phase may lie outside the keys, where time goes on as between the outermost two.
    slope = (known[-1] - known[0]) / (phases[-1] - phases[0])
    inside = phases[0] <= phase <= phases[-1]
    found = np.interp(phase, phases, known) if inside else known[0] + slope * (phase - phases[0])
    return (
        int(np.clip(np.rint(found), -timing.LAST_FRAME, timing.LAST_FRAME))
        if np.isfinite(found)
        else round(float(known[0]))
    )


def phase_at(action: Action, frame: float) -> float:
    """The phase of a frame."""
    known, phases = _known(action)
    slope = (phases[-1] - phases[0]) / (known[-1] - known[0])
    inside = known[0] <= frame <= known[-1]
    return float(np.interp(frame, known, phases) if inside else phases[0] + slope * (frame - known[0]))


def _known(action: Any) -> tuple[Any, Any]:
    """Frames and phases of the file's keys, rising; of an action without a file its range as one cycle."""
    properties = action.motionbridge_animation
    frames, phases = (known.astype(np.float64) for known in timing.kept_keys(properties))
    rising = len(frames) > 1 and np.isfinite(phases).all() and (np.diff(phases) > 0).all()
    if rising:
        return frames, phases
    start, end = (action.frame_start, action.frame_end) if action.use_frame_range else action.curve_frame_range
    return np.array([start, max(end, start + 1)]), np.array([0.0, 1.0])
