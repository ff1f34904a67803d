"""The motion in play: which action an armature shows, through which NLA strips, and how another is shown alone.

An armature shows one motion at a time. Without NLA strips it is the assigned action. With strips, an action or a strip
that replaces what is below it (blend type Replace) is a base, everything else is a layer on it. The base is the motion
in play; it is evaluated with its layers, as the scene is. All other motions are evaluated without any strip.

The bones of an armature with a control rig copy the controls, so there the strips of the controls decide first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import action_lists, compat, scope
from .control_links import RESTING, SWITCHES, control_action, controls_of, following, is_control_rig, links_of, users_of

if TYPE_CHECKING:
    import bpy

    from .typed import Action, Object

IN_STEP = "Motionbridge HUD"
"""Prefix of the names of NLA tracks that only play a motion in step with another; the speed is not the motion's."""
_NEAR = 1e-3
"""Frames; Blender stores times as 32-bit floats."""
_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}


@dataclass(frozen=True)
class Playing:
    """What an armature shows: ``action``, the motion in play, or None.

    ``strip``: the NLA strip that plays it; None if it is the assigned action. ``strips``: all strips that Blender
    evaluates for the armature, ``controls_strips`` those for its control rig. ``is_blended``, ``blends_controls``:
    whether Blender blends these at all, which it also does with the assigned action alone if all are muted. ``layers``:
    assigned actions that are layers on the strip. ``bases``: several motions of which each could be the one in play;
    then ``action`` is None. ``hidden_by``: name of a solo track that plays no motion, instead of the assigned action.
    ``is_tweaked``: whether a strip is in tweak mode. ``in_step``: strips that only play a motion in step with another.
    """

    action: Any
    strip: Any = None
    strips: Sequence[Any] = ()
    controls_strips: Sequence[Any] = ()
    layers: Sequence[Any] = ()
    bases: Sequence[Any] = ()
    is_blended: bool = False
    blends_controls: bool = False
    hidden_by: str = ""
    is_tweaked: bool = False
    in_step: Sequence[Any] = field(default=(), repr=False)

    @property
    def is_stacked(self) -> bool:
        """Whether NLA strips take part in what is shown."""
        return self.is_blended or self.blends_controls

    @property
    def is_layered(self) -> bool:
        """Whether what is shown is more than the keys of the motion: not if its strip is the only one and plays them as
        they are, at any time, or plays the motion in step with another.
        """
        if not self.is_stacked or self.strip is None or self.layers or self.is_tweaked:
            return self.is_stacked
        is_alone = [*self.strips, *self.controls_strips] == [self.strip]
        return not (is_alone and (self.strip in self.in_step or _plays_keys(self.strip)))

    def frames(self, action: Any, frames: tuple[int, int], step: float = 1.0) -> tuple[int, int]:
        """Return the first frame of ``action`` and its number of frames, ``step`` apart, as its strip plays it.

        ``frames``: the same by its keys and its frame range. A strip whose speed, number of repetitions or part of the
        action was changed plays another number of frames.
        """
        ends = self.ends(action)
        first, count = frames
        if ends is None:
            return frames
        length = ends[1] - ends[0]
        is_pose = count == 1 and length < 1.0 + _NEAR  # Blender makes a strip of a single key one frame long
        if abs(ends[0] - first) < _NEAR and (is_pose or abs((count - 1) * step - length) < _NEAR):
            return frames
        return round(ends[0]), int(np.floor(length / step + _NEAR)) + 1

    def ends(self, action: Any) -> tuple[float, float] | None:
        """Return the first and the last frame of ``action`` as its strip plays it, counted from the strip's first frame
        of the action; None if no strip decides that.
        """
        strip = self.strip
        if action is None or action != self.action or strip is None or strip in self.in_step:
            return None
        start = float(strip.action_frame_start)
        return start, start + float(strip.frame_end - strip.frame_start)

    def scene_frames(self, action: Any, frames: NDArray[Any]) -> NDArray[np.float64]:
        """Return the frames of the scene at which Blender shows ``frames`` of ``action`` (see `frames`)."""
        result = np.asarray(frames, np.float64)
        if action is None or action != self.action or self.strip is None:
            return result
        rate = self.strip.scale if self.strip in self.in_step else 1.0
        return self.strip.frame_start + (result - self.strip.action_frame_start) * rate


def playing(rig: Object, is_base: Callable[[Any], bool] | None = None) -> Playing:
    """Return what an armature, or any other object, shows. ``is_base``: by default `action_lists.is_motion`."""
    is_base = action_lists.is_motion if is_base is None else is_base
    if is_control_rig(rig):
        return Playing(assigned(rig))
    if not any(_is_blended(owner) for owner in (rig, controls_of(rig)) if owner is not None):
        return Playing(assigned(rig))  # nearly always, and panels ask whenever they are drawn
    own, controls = _evaluated(rig), _linked_controls(rig)
    theirs = _evaluated(controls) if controls is not None else []
    is_blended, blends_controls = _is_blended(rig), controls is not None and _is_blended(controls)
    if not is_blended and not blends_controls:
        return Playing(assigned(rig))
    stack: dict[str, Any] = {
        "strips": [strip for _, strip in own],
        "controls_strips": [strip for _, strip in theirs],
        "is_blended": is_blended,
        "blends_controls": blends_controls,
        "is_tweaked": _is_tweaked(rig) or (controls is not None and _is_tweaked(controls)),
        "in_step": [strip for track, strip in own if track.name.startswith(IN_STEP)],
    }
    if controls is not None:
        bases = _bases(controls, theirs, lambda action: _moved_by(rig, action))
        if bases:
            return _of_bases(controls, bases, stack)
    bases = _bases(rig, own, lambda action: action if is_base(action) else None)
    if not bases:
        bases = _unlisted_bases(rig, own)
    solo = _solo(rig)
    if solo is not None and not bases:
        return Playing(assigned(rig), hidden_by=solo.name, **stack)
    return _of_bases(rig, bases, stack)


def plays_controls_action(rig: Object) -> bool:
    """Whether the control rig of an armature plays the action that belongs to the motion in play, alone or as the base
    of its strips.
    """
    controls = controls_of(rig)
    mine = control_action(rig, playing(rig).action)
    played = {assigned(controls), *(strip.action for _, strip in _evaluated(controls))}
    return mine is not None and mine in played


def _of_bases(owner: Object, bases: list[tuple[Any, Any]], stack: dict[str, Any]) -> Playing:
    layers = [assigned(owner)] if bases and bases[0][1] is not None and assigned(owner) is not None else []
    if len(bases) > 1:
        return Playing(None, bases=[action for action, _ in bases], layers=layers, **stack)
    action, strip = bases[0] if bases else (None, None)
    return Playing(action, strip, layers=layers, **stack)


def _bases(owner: Object, evaluated: list[tuple[Any, Any]], motion_of: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
    """Return the motions that replace what is below them: each with its strip, None for the assigned action."""
    strips = [(motion_of(strip.action), strip) for _, strip in evaluated if strip.blend_type == "REPLACE"]
    result = [(motion, strip) for motion, strip in strips if motion is not None]
    active = _active(owner)
    mine = motion_of(active) if active is not None else None
    if mine is None:
        return result
    if not result or _replaces_all(owner):
        return [(mine, None)]
    return [*result, (mine, None)] if owner.animation_data.action_blend_type == "REPLACE" else result


def _unlisted_bases(rig: Object, evaluated: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return the base of a stack that plays no motion of a game: the assigned action, or the lowest strips."""
    active = _active(rig)
    strips = [(track, strip) for track, strip in evaluated if strip.blend_type == "REPLACE"]
    if active is not None and (_replaces_all(rig) or not strips):
        return [(active, None)]
    if _solo(rig) is not None and assigned(rig) is not None:
        return []
    return [(strip.action, strip) for track, strip in strips if track == strips[0][0]]


def _active(owner: Object) -> Any:
    """Return the assigned action if Blender evaluates it by itself: not while a strip is tweaked or a track is solo."""
    return None if _solo(owner) is not None or _is_tweaked(owner) else assigned(owner)


def _solo(owner: Object) -> Any:
    """Return the NLA track that plays instead of all others and of the assigned action, or None."""
    return next((track for track in evaluated_tracks(owner) if track.is_solo), None)


def assigned(owner: Object) -> Any:
    """Return the action that is assigned to an object, or None. The motion in play is that of `playing`."""
    return owner.animation_data.action if owner.animation_data is not None else None


def _is_tweaked(owner: Object) -> bool:
    return owner.animation_data is not None and bool(owner.animation_data.use_tweak_mode)


def _plays_keys(strip: Any) -> bool:
    """Whether a strip plays the keys of its action as they are, earlier or later."""
    is_whole = (strip.scale, strip.repeat, strip.use_reverse) == (1.0, 1.0, False)
    is_curved = strip.use_animated_influence or strip.use_animated_time or strip.use_auto_blend
    return is_whole and not is_curved and not strip.blend_in and not strip.blend_out


def _is_blended(owner: Object) -> bool:
    """Whether Blender blends what an object plays: an NLA track that is not muted has strips, even if these are."""
    return any(len(track.strips) for track in evaluated_tracks(owner))


def _replaces_all(owner: Object) -> bool:
    data = owner.animation_data
    return (data.action_blend_type, data.action_influence) == ("REPLACE", 1.0)


def _linked_controls(rig: Object) -> Any:
    """Return the control rig that bones of ``rig`` copy now, or None."""
    return controls_of(rig) if any(not link.mute for link in links_of(rig).values()) else None


def _moved_by(rig: Object, controls_action: Action) -> Any:
    """Return the motion that an action of the controls belongs to, of several the one assigned to ``rig``; or None."""
    users = users_of(controls_action)
    return assigned(rig) if assigned(rig) in users else next(iter(users), None)


def evaluated_tracks(owner: Any) -> list[bpy.types.NlaTrack]:
    """Return the NLA tracks that Blender evaluates, from the lowest: the solo one, else those that are not muted.

    In tweak mode the tracks above the tweaked strip are left out.
    """
    data = owner.animation_data
    if data is None or not data.use_nla:
        return []
    solo = [track for track in data.nla_tracks if track.is_solo]
    result = solo or [track for track in data.nla_tracks if not track.mute]
    if data.use_tweak_mode:
        tweaked = [number for number, track in enumerate(result) if _plays(track.strips, data.action)]
        result = result[: max(tweaked) + 1] if tweaked else result
    return result


CONSTRAINTS, DRIVERS, STRIPS = "active constraints", "active drivers", "NLA tracks"
"""Reasons why poses are not defined by keys alone."""


def moved_besides_keys(
    owner: Any, constraints: Iterable[bpy.types.Constraint], is_moved: Callable[[str], bool] = lambda _: True
) -> list[str]:
    """Return what moves ``owner`` besides its keys: ``constraints`` of it that are not muted, drivers of data paths for
    which ``is_moved`` is True, and NLA strips.
    """
    reasons = []
    if any(not constraint.mute for constraint in constraints):
        reasons.append(CONSTRAINTS)
    data = owner.animation_data
    if data is not None and any(not curve.mute and is_moved(curve.data_path) for curve in data.drivers):
        reasons.append(DRIVERS)
    if any(len(track.strips) for track in evaluated_tracks(owner)):
        reasons.append(STRIPS)
    return reasons


def _plays(strips: Any, action: Any) -> bool:
    return any(strip.action == action or _plays(strip.strips, action) for strip in strips)


def _evaluated(owner: Object) -> list[tuple[Any, Any]]:
    """Return (track, strip) for the strips of actions that Blender evaluates, those inside meta strips included."""
    return [(track, strip) for track in evaluated_tracks(owner) for strip in _strips_in(track.strips)]


def _strips_in(strips: Any) -> Iterator[Any]:
    for strip in strips:
        if not strip.mute:
            if strip.action is not None:
                yield strip
            yield from _strips_in(strip.strips)


def curves_of_strip(strip: Any) -> list[bpy.types.FCurve]:
    """Return the F-curves that a strip plays."""
    bag = compat.curve_bag(strip.action, strip.action_slot if compat.SLOTTED else None)
    return list(bag.fcurves) if bag is not None else []


@contextmanager
def alone(rig: Object, action: Action | None) -> Iterator[None]:
    """Let ``rig`` play ``action``, and its controls what belongs to that, without any NLA strip.

    Everything is restored afterwards. Raises `WriteError` while a strip is in tweak mode.
    """
    controls = controls_of(rig)
    with ExitStack() as stack:
        for owner in (rig, controls) if controls is not None else (rig,):
            scope.refuse_tweaked(owner)
            stack.enter_context(_strips_off(owner))
        stack.enter_context(scope.playing(rig, action))
        stack.enter_context(following(rig, action))
        yield


@contextmanager
def _strips_off(owner: Object) -> Iterator[None]:
    """Switch off the NLA strips of an armature object. Channels that they animate are at rest inside, so that an action
    without keys for them does not show where the strips left them.
    """
    if not _is_blended(owner):
        yield
        return
    paths = {curve.data_path for _, strip in _evaluated(owner) for curve in curves_of_strip(strip)}
    data = owner.animation_data
    switches = {(bone, name): bone[name] for bone in owner.pose.bones for name in SWITCHES if name in bone}
    with scope.kept_pose(owner):
        data.use_nla = False
        try:
            for bone in owner.pose.bones:
                for channel, rest in _REST.items():
                    if bone.path_from_id(channel) in paths:
                        setattr(bone, channel, rest)
            for bone, name in switches:
                if f'{bone.path_from_id()}["{name}"]' in paths:
                    bone[name] = bone.get(RESTING, SWITCHES[name])
            yield
        finally:
            for (bone, name), value in switches.items():
                bone[name] = value
            data.use_nla = True
