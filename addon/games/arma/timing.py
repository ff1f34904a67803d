"""Time of animations: phases of keys, their Blender frames, choice of keys; also the step and events.

The step is how far the whole model moves in one cycle; the animation's matrices do not contain it. At a phase the model
is displaced by ``step · phase`` (in files that number their frames instead of storing phases, by the same fraction of a
cycle). So the step can become location keys of the armature object, or be added to every bone's matrix (which moves the
root bones; the others follow) and be subtracted again on export.

Phases of events are stored exactly and shown by pose markers (`blender.pose_markers`). Moving a marker moves its event,
deleting it deletes the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...blender import compat, pose_markers
from ...blender.bone_curves import key_times, merged_times, sampled, write_keys
from ...blender.pose_markers import LAST_FRAME
from ...blender.properties import keep, kept
from ...core.errors import ReadError, WriteError
from ...core.model import Event
from ...core.report import Report, listed, say
from ...formats.arma import names, rtm

if TYPE_CHECKING:
    from ...blender.typed import Action, Object
    from .properties import AnimationEvent, AnimationProperties

Floats = NDArray[np.float64]
SMALLEST_KEY_DISTANCE = 0.02
"""Smallest distance of keys in frames; Blender merges keys that are closer than half of this."""
SAME_FRAME = 1e-3
"""Tolerance in frames within which a key is on a frame: Blender stores key times as 32-bit floats."""
LARGEST_PHASE = 1.5
"""If the last phase is greater than this, the file numbers its frames (0.5, 1.5 ... 13.5) instead of storing phases."""
WHOLE_CYCLE_RANGE = 0.9
"""Smallest range of phases that counts as a whole cycle; with less, the file is a part of a longer animation."""


def frames_of(
    phases: NDArray[np.float32], first_frame: float, cycle: float | None, report: Report, where: str
) -> NDArray[np.float32]:
    """Return (keys,) the frame of each key: one frame apart, or ``cycle`` frames from phase 0 to phase 1.

    If phases are NaN or infinite, do not rise, are too close together or exceed Blender's frames, one frame per key is
    used, with a warning.
    """
    every = first_frame + np.arange(len(phases), dtype=np.float64)
    if cycle is None:
        return every.astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        placed = (first_frame + cycle * phases.astype(np.float64)).astype(np.float32)
        rising = bool((np.abs(placed) <= LAST_FRAME).all() and (np.diff(placed) >= SMALLEST_KEY_DISTANCE).all())
    if not rising:
        report.warn("the phases cannot be placed on frames: one frame per key is used", where)
        return every.astype(np.float32)
    return placed


def keep_keys(properties: AnimationProperties, frames: NDArray[np.float32], phases: NDArray[np.float32]) -> None:
    """Store the Blender frame and the phase of each key of the file."""
    keep(properties, "frames", frames.astype("<f4").tobytes())
    keep(properties, "phases", phases.astype("<f4").tobytes())


def kept_keys(properties: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return (keys,) the frames and the phases that `keep_keys` stored. Raises `ReadError` if they are damaged."""
    return kept_frames(properties), kept_phases(properties)


def kept_frames(properties: AnimationProperties) -> NDArray[np.float32]:
    """Return (keys,) the frames that `keep_keys` stored. Raises `ReadError` if they are damaged."""
    return np.frombuffer(kept(properties, "frames"), "<f4")


def kept_phases(properties: AnimationProperties) -> NDArray[np.float32]:
    """Return (keys,) the phases that `keep_keys` stored. Raises `ReadError` if they are damaged."""
    return np.frombuffer(kept(properties, "phases"), "<f4")


# Phases of an action's frames ---------------------------------------------------------------------------------------


def phases_at(
    frames: NDArray[np.float32], known_frames: NDArray[np.float32], known_phases: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return (frames,) phases: exactly the file's at its keys, interpolated linearly between them.

    If there are as many frames as keys in the file, moved or stretched as a whole, they keep its phases. Without a
    source file, or if its phases cannot be interpolated, phases are spread evenly from 0 to 1.
    """
    if is_stretched(frames, known_frames):
        return known_phases.copy()
    rising = np.isfinite(known_phases).all() and len(known_phases) > 1 and (np.diff(known_phases) >= 0).all()
    if not rising:
        return spread_phases(frames)
    phases = _interpolated(frames.astype(np.float64), known_frames.astype(np.float64), known_phases.astype(np.float64))
    nearest = np.minimum(np.searchsorted(known_frames, frames - SAME_FRAME), len(known_frames) - 1)
    same = np.abs(known_frames[nearest] - frames) <= SAME_FRAME
    return np.where(same, known_phases[nearest], phases.astype(np.float32))


def spread_phases(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (frames,) phases from 0 to 1; for evenly spaced frames as the usual tools compute them."""
    count = len(frames)
    if count < 2:
        return np.zeros(count, np.float32)
    if _is_even(frames):
        return rtm.default_phases(count)
    shares: NDArray[np.float32] = ((frames - frames[0]) / (frames[-1] - frames[0])).astype(np.float32)
    return shares


def is_stretched(frames: NDArray[np.float32], known: NDArray[np.float32]) -> bool:
    """Return whether ``frames`` are the known ones, moved or stretched as a whole."""
    if len(frames) != len(known):
        return False
    ours, theirs = frames.astype(np.float64), known.astype(np.float64)
    reach = theirs[-1] - theirs[0] if len(theirs) else 0.0
    if reach <= 0:
        return True
    factor = (ours[-1] - ours[0]) / reach
    return bool(np.abs(ours - ours[0] - factor * (theirs - theirs[0])).max() <= SAME_FRAME * max(factor, 1.0))


def _interpolated(frames: Floats, known: Floats, phases: Floats) -> Floats:
    """Interpolate linearly, and extrapolate beyond both ends."""
    result = np.interp(frames, known, phases)
    before, after = frames < known[0], frames > known[-1]
    result[before] = phases[0] + (frames[before] - known[0]) * (phases[1] - phases[0]) / (known[1] - known[0])
    result[after] = phases[-1] + (frames[after] - known[-1]) * (phases[-1] - phases[-2]) / (known[-1] - known[-2])
    return result


def moving_phases(phases: NDArray[np.float32]) -> Floats:
    """Return (keys,) phases that drive the step; evenly spread phases if some are NaN or infinite."""
    usable = np.isfinite(phases).all()
    return (phases if usable else rtm.default_phases(len(phases))).astype(np.float64)


def cycle_of(phases: NDArray[np.float32]) -> float:
    """Return the phase at the end of the cycle: 1, or the number of frames in files that number their frames."""
    last = float(phases.max(initial=0.0)) if np.isfinite(phases).all() else 0.0
    return float(np.ceil(last)) if last > LARGEST_PHASE else 1.0


@dataclass(frozen=True)
class Phases:
    """``kept`` (frames,): phases interpolated from the source file. ``written`` (frames,): phases of the written file,
    which differ if the animation became longer or shorter. ``stretch``: slope of the written phases relative to the
    kept ones.
    """

    kept: NDArray[np.float32]
    written: NDArray[np.float32]
    stretch: float = 1.0

    @property
    def changed(self) -> bool:
        """Whether the written phases differ from the kept ones."""
        return self.written is not self.kept

    def of(self, phase: np.float32) -> np.float32:
        """Return the written phase for a kept one."""
        if not self.changed:
            return phase
        return np.float32(float(self.written[0]) + self.stretch * (float(phase) - float(self.kept[0])))


def phases_of(frames: NDArray[np.float32], known: NDArray[np.float32], phases: NDArray[np.float32]) -> Phases:
    """Return the phases of ``frames``, for a source file whose keys were placed on ``known`` frames with ``phases``.

    The game plays a cycle from 0 to 1. So an animation of a whole cycle still covers the whole cycle after frames were
    added at its ends or cut off.
    """
    own_phases = phases_at(frames, known, phases)
    whole = _is_whole_cycle(phases)
    if len(own_phases) < 2 or not len(phases) or not np.isfinite(phases).all() or cycle_of(phases) != 1.0:
        return Phases(own_phases, own_phases)
    first, last = float(own_phases[0]), float(own_phases[-1])
    same = first == float(phases[0]) and last == float(phases[-1])
    beyond = first < min(0.0, float(phases[0])) or last > max(1.0, float(phases[-1]))
    if same or last <= first or not (whole or beyond):
        return Phases(own_phases, own_phases)
    ends = (float(phases[0]), float(phases[-1])) if whole else (0.0, 1.0)
    stretch = (ends[1] - ends[0]) / (last - first)
    written = (ends[0] + stretch * (own_phases.astype(np.float64) - first)).astype(np.float32)
    if _is_even(frames) and ends == (0.0, 1.0):
        written = rtm.default_phases(len(frames))
    written[[0, -1]] = ends
    return Phases(own_phases, written, stretch)


def _is_whole_cycle(phases: NDArray[np.float32]) -> bool:
    return len(phases) > 1 and float(phases[-1]) - float(phases[0]) >= WHOLE_CYCLE_RANGE


def _is_even(frames: NDArray[np.float32]) -> bool:
    return bool(np.ptp(np.diff(frames.astype(np.float64))) <= SAME_FRAME)


# Frames that become keys of a file ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Length:
    """First and last frame of an action; ``by_range``: defined by the action's frame range, not by its keys."""

    first: float
    last: float
    by_range: bool


def length_of(action: Action, times: NDArray[np.float32], imported: NDArray[np.float32]) -> Length:
    """Return the length of an action with keys at ``times``; ``imported``: frames on which its file's keys were placed.

    An import sets the action's frame range to the file's. If the user changed it since, it defines the length.
    Otherwise keys after the end make the animation longer, while missing keys do not make it shorter, since a bone that
    does not move may have a single key. If all keys were moved or stretched together, the ends move with them.
    """
    if action.use_frame_range:
        start, end = float(action.frame_start), float(action.frame_end)
        same = len(imported) and np.allclose((start, end), (imported[0], imported[-1]), rtol=0.0, atol=SAME_FRAME)
        if not same or not len(times) or action.motionbridge_animation.is_cut:
            return Length(start, end, by_range=True)
    if len(times):
        ends = times if is_stretched(times, imported) else np.concatenate((times, imported))
        return Length(float(ends.min()), float(ends.max()), by_range=False)
    start, end = action.frame_range
    return Length(float(start), float(end), by_range=True)


def keys_within(times: NDArray[np.float32], length: Length) -> NDArray[np.float32]:
    """Return the key times between the first and the last frame, and these two frames."""
    inside = times[(times > length.first + SAME_FRAME) & (times < length.last - SAME_FRAME)]
    return merged_times(np.concatenate(([length.first], inside, [length.last])).astype(np.float32))


def warn_of_keys_outside(action: Action, times: NDArray[np.float32], length: Length, report: Report) -> None:
    """Warn of keys outside the frame range, which are not exported."""
    before, behind = length.first - times[:1], times[-1:] - length.last
    for frames, words in (
        (before, "keys are before the first frame and are left out; widen the action's frame range to export them"),
        (behind, "keys are after the last frame and are left out; widen the action's frame range to export them"),
    ):
        if len(frames) and frames[0] > SAME_FRAME:
            report.warn(words, say("{}: {:g} frames", action.name, frames[0]))


def keys_between(action: Any, frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (keys,) key times of an action's controls between the sorted ``frames``, without those on a frame."""
    controls = action.motionbridge_controls
    times = key_times(compat.curve_bag(controls).fcurves) if controls is not None and len(frames) else frames[:0]
    times = times[(times > frames[:1]) & (times < frames[-1:])]
    return times[np.abs(times[:, None] - frames).min(axis=1, initial=np.inf) > SAME_FRAME]


def warn_of_keys_between(action: Action, times: NDArray[np.float32], report: Report) -> None:
    """Warn of frames on which controls were edited but the file gets no key."""
    if len(times):
        report.warn(
            "the file's key times are kept, and the game blends between them, also where controls were edited; key a "
            "bone of the armature on such a frame to get a key there",
            say("{}: frames {}", action.name, listed([f"{time:g}" for time in times])),
        )


def every_nth(first: float, last: float, step: int) -> NDArray[np.float32]:
    """Return every ``step``-th whole frame and the last one. Raises `WriteError` if the game cannot read that many."""
    begin, end = int(np.floor(first + SAME_FRAME)), int(np.ceil(last - SAME_FRAME))
    if (end - begin) // step >= rtm.MOST_FRAMES:
        raise WriteError(
            say("{} frames are more than the game reads ({})", end - begin + 1, rtm.MOST_FRAMES),
            remedy="Export a shorter range, or fewer frames of it",
        )
    frames = np.arange(begin, end + 1, step)
    if len(frames) and frames[-1] != end:
        frames = np.append(frames, end)
    return frames.astype(np.float32)


# The step -------------------------------------------------------------------------------------------------------------

LOCATION = "location"
STEP_GROUP = "Step"
LARGEST_DISPLACEMENT = 1e6
"""Largest displacement by the step in metres; further away, 32-bit floats are decimetres apart."""
LEFT_OUT, OBJECT, BONES = "LEFT_OUT", "OBJECT", "BONES"
"""Step modes, described in `properties.STEP_ITEMS`."""


def step_per_phase(step: Floats, phases: NDArray[np.float32]) -> Floats:
    """Return (3,) metres that the model moves while the phase rises by 1, rounded to 32 bits like properties."""
    return (np.asarray(step, np.float64) / cycle_of(phases)).astype(np.float32).astype(np.float64)


def with_step(
    deltas: Floats, carried: Floats, phases: NDArray[np.float32], sign: float = 1.0, zero: float = 0.0
) -> Floats:
    """Return deltas (bones, frames, 4, 4) with the step added, or subtracted if ``sign`` is -1.

    ``carried`` (3,): step in metres per phase. ``zero``: phase at which the displacement is 0.
    """
    result = deltas.copy()
    result[..., :3, 3] += sign * (moving_phases(phases)[:, None] - zero) * np.asarray(carried, np.float64)
    return result


def can_be_shown(carried: Floats, phases: NDArray[np.float32]) -> bool:
    """Return whether all displacements by the step are finite and at most `LARGEST_DISPLACEMENT`."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(moving_phases(phases)[:, None] * carried) <= LARGEST_DISPLACEMENT).all())


def key_object(
    action: Action,
    rig: Object,
    carried: Floats,
    phases: NDArray[np.float32],
    frames: NDArray[np.float32],
) -> None:
    """Add the step to the action as keys of the object's location: from its current location, along its own axes."""
    offsets = moving_phases(phases)[:, None] * carried
    turned = offsets @ np.array(rig.matrix_basis.to_3x3()).T
    keys = np.empty((3, len(frames), 2), np.float32)
    keys[..., 0] = frames
    keys[..., 1] = (np.array(rig.location) + turned).T
    bag = compat.curve_bag(action)
    make = compat.curve_maker(action, bag)
    write_keys([make(LOCATION, index, STEP_GROUP) for index in range(3)], keys)


def step_of_object(
    action: Action, rig: Object, frames: NDArray[np.float32], phases: NDArray[np.float32]
) -> Floats | None:
    """Return (3,) the travel by the object's location keys in metres per phase, in the armature's axes; None without
    such keys or if the phases do not change.
    """
    curves = [curve for curve in compat.curves_of(action, rig) if curve.data_path == LOCATION]
    done = _phase_span(phases)
    if not curves or not done:
        return None
    rows, _ = sampled(curves, frames[[0, -1]])
    travel = np.zeros(3)
    for curve, row in zip(curves, rows, strict=True):
        travel[curve.array_index] = row[1] - row[0]
    turned = np.array(rig.matrix_basis.to_3x3().inverted_safe() @ Vector(travel.tolist()))
    return turned / done


def step_of_bone(deltas: Floats, rest: Floats, phases: NDArray[np.float32], *, vertical: bool) -> Floats:
    """Return (3,) the travel of a bone's head in metres per phase; ``deltas`` (frames, 4, 4) deltas, ``rest`` (4, 4).

    Z is 0 unless ``vertical``: real animations have no vertical step.
    """
    done = _phase_span(phases)
    heads = (deltas @ rest)[:, :3, 3]
    travel = (heads[-1] - heads[0]) / done if done else np.zeros(3)
    if not vertical:
        travel[2] = 0.0
    result: Floats = travel
    return result


def _phase_span(phases: NDArray[np.float32]) -> float:
    share = moving_phases(phases)
    return float(share[-1] - share[0]) if len(share) > 1 else 0.0


# Events ---------------------------------------------------------------------------------------------------------------


def store(action: Action, events: Sequence[Event]) -> None:
    """Replace the action's events and their markers by a clip's events."""
    pose_markers.remove(action, _phases(action))
    action.motionbridge_animation.events.clear()
    for event in events:
        add(action, event)


def add(action: Action, event: Event) -> AnimationEvent:
    """Append an event with its marker."""
    added = action.motionbridge_animation.events.add()
    added.label, added.value, added.phase = event.name, event.value, float(event.phase)
    added.marker = _free_name(action, added.label)
    pose_markers.show(action, added.marker, frame_of(action, added.phase))
    return added


def remove(action: Any, index: int) -> None:
    """Remove an event, by its index, and its marker."""
    events = action.motionbridge_animation.events
    pose_markers.remove(action, {events[index].marker})
    events.remove(index)


def rename_markers(action: Any) -> None:
    """Rename markers whose event was renamed."""
    for event in action.motionbridge_animation.events:
        marker = action.pose_markers.get(event.marker)
        if marker is not None and not event.marker.startswith(f"{event.label} #"):
            marker.name = event.marker = _free_name(action, event.label)


def move_marker(event: Any) -> None:
    """Move the marker of an event whose phase was typed; it stays if the stored data is damaged, as all exports say."""
    with suppress(ReadError):
        pose_markers.move(event.id_data, event.marker, frame_of(event.id_data, event.phase))


def _phases(action: Action) -> dict[str, float]:
    """Return marker name -> phase of the events."""
    return {event.marker: event.phase for event in action.motionbridge_animation.events}


def _free_name(action: Action, label: str) -> str:
    taken = {marker.name for marker in action.pose_markers}
    shortened = (label or names.decode(rtm.STEP_SOUND))[:48]
    return next(name for number in range(1, len(taken) + 2) if (name := f"{shortened} #{number}") not in taken)


def gather(action: Action) -> list[Event]:
    """Return the current events in order. Moved markers change the phase, deleted ones delete the event."""
    phases = pose_markers.gather(action, _phases(action).items(), frame_of, phase_at)
    return [
        Event(as_stored(phases[event.marker]), event.label, event.value)
        for event in action.motionbridge_animation.events
        if event.marker in phases
    ]


def as_stored(phase: float) -> np.float32:
    """Return a phase rounded to 32 bits, as files and properties store it."""
    return np.float32(phase)


def own_markers(action: Action) -> list[bpy.types.TimelineMarker]:
    """Return the user's own pose markers, which do not belong to events."""
    return pose_markers.own(action, _phases(action))


def events_of_own_markers(action: Action) -> list[Event]:
    """Return the user's own pose markers as events without a value."""
    return [Event(as_stored(phase_at(action, marker.frame)), marker.name, "") for marker in own_markers(action)]


def frame_of(action: Action, phase: float) -> int:
    """Return the whole frame nearest to a phase."""
    known, phases = _known_keys(action)
    # A phase may be outside the keys; there it is extrapolated by the average slope.
    slope = (known[-1] - known[0]) / (phases[-1] - phases[0])
    inside = phases[0] <= phase <= phases[-1]
    frame = np.interp(phase, phases, known) if inside else known[0] + slope * (phase - phases[0])
    return pose_markers.nearest_frame(float(frame if np.isfinite(frame) else known[0]))


def phase_at(action: Action, frame: float) -> float:
    """Return the phase at a frame."""
    known, phases = _known_keys(action)
    slope = (phases[-1] - phases[0]) / (known[-1] - known[0])
    inside = known[0] <= frame <= known[-1]
    return float(np.interp(frame, known, phases) if inside else phases[0] + slope * (frame - known[0]))


def _known_keys(action: Action) -> tuple[Any, Any]:
    """Return frames and phases of the file's keys, both rising; without a usable file the action's range as a cycle."""
    properties = action.motionbridge_animation
    frames, phases = (known.astype(np.float64) for known in kept_keys(properties))
    rising = len(frames) > 1 and np.isfinite(phases).all() and (np.diff(phases) > 0).all()
    if rising:
        return frames, phases
    start, end = (action.frame_start, action.frame_end) if action.use_frame_range else action.curve_frame_range
    return np.array([start, max(end, start + 1)]), np.array([0.0, 1.0])
