"""Where Blender shows something else than an action's keys: what exports sample, refuse and warn of.

`Movers` finds the bones that are not moved by their keys alone, `Sampler` samples them in the evaluated scene in the
cheapest way. Relative to its parent, a pose bone has the pose of its own keys, unless a constraint, a driver, an NLA
strip or its inheritance settings move it. Inverse kinematics move the chain of ancestors of their bone. The children of
such a bone follow it, but relative to their parents they still have the pose of their keys, unless they copy a control
rig.

`ShownActions` and the functions below it are about keys that are hidden, muted or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.errors import WriteError
from ..core.model import Clip
from ..core.report import Report, listed, say
from . import action as actions
from . import compat, nla, scope
from .action import INHERITANCE
from .action_lists import label_of
from .armature import Rest, moving
from .bone_curves import CurveTable, KeysRead, bone_within, channel_path, key_times, keys_read, rotation_kind
from .control_edits import (
    CONTROLS,
    ControlEdits,
    bones_of_deleted_controls,
    deleted_controls,
    digest_of_keys,
    keep_baseline,
)
from .control_links import OWN, SWITCHES, control_action, controls_of, links_muted, links_of
from .keyed_poses import follows_keys
from .nla import CONSTRAINTS, DRIVERS, STRIPS
from .rotation_modes import HiddenKeys, RotationModes

if TYPE_CHECKING:
    import bpy

    from .typed import Action, Context, Object, PoseBone


_QUATERNION = ".rotation_quaternion"


class Movers:
    """What moves the bones of one armature besides keys. The armature is examined once, for many actions.

    NLA strips move the motion in play (``play``) alone. So do constraints and drivers, unless a motion has keys for
    settings of them: any other is what its own keys say.
    """

    def __init__(self, rig: Object, read: Callable[[Action, Object], KeysRead] = keys_read) -> None:
        """``read`` as in `ControlEdits`."""
        self._rig, self._control_edits, self.play = rig, ControlEdits(rig, read), nla.playing(rig)
        self._copying = {name for name, link in links_of(rig).items() if not link.mute}
        bones = rig.pose.bones
        data = rig.animation_data
        drivers = [curve for curve in data.drivers if not curve.mute] if data is not None else []
        constrained = list(filter(moving, bones))
        self._by_reason = {
            CONSTRAINTS: {name for bone in constrained for name in _moved_with(bone)},
            DRIVERS: {name for curve in drivers for name in self._moved_by(curve.data_path)},
            INHERITANCE: {bone.name for bone in rig.data.bones if not follows_keys(bone)},
        }

    def of(
        self, action: Action | None, among: Collection[str] | None = None, *, is_new: bool = False
    ) -> dict[str, set[str]]:
        """Return, by reason, the bones of ``action`` that something besides its keys moves; empty if its keys define
        all.

        ``among``: the bones to consider, by default all. ``is_new``: the action is in no file yet, so there is nothing
        that constraints and drivers could change.
        """
        by_reason = dict(self._by_reason)
        in_play = action == self.play.action
        by_reason[CONTROLS] = self._control_edits.bones(action, in_play=in_play)
        if self._copying and control_action(self._rig, action) is not None:
            by_reason[CONSTRAINTS] = by_reason[CONSTRAINTS] | self._staying_children(by_reason[CONSTRAINTS])
        if in_play:
            by_reason[STRIPS] = self._moved_by_strips()
            if self.play.blends_controls and self.play.is_layered:
                by_reason[CONTROLS] = self._copying
        elif not is_new and (by_reason[CONSTRAINTS] or by_reason[DRIVERS]) and not self._has_keys_of_settings(action):
            keyed = {bone_within(path) for path in {curve.data_path for curve in self._played_curves(action)}}
            by_reason |= {reason: by_reason[reason] - keyed for reason in (CONSTRAINTS, DRIVERS)}
        if among is not None:
            by_reason = {reason: bones & set(among) for reason, bones in by_reason.items()}
        return {reason: bones for reason, bones in by_reason.items() if bones}

    def shown_keys(self, actions: Iterable[Action]) -> dict[Action, str]:
        """Return digests of the keys of those of ``actions`` that are written as they are shown, with more than their
        own keys, or as they were saved like that.
        """
        own = [
            action
            for action in actions
            if (action == self.play.action and set(self.of(action)) - {INHERITANCE}) or self.is_as_saved(action)
        ]
        return {action: digest_of_keys(self._rig, action) for action in own}

    def is_as_saved(self, action: Action) -> bool:
        """Whether an action is not in play and has the keys with which it was last saved as it was shown: its motion
        stays as it is in the file.
        """
        saved = action.motionbridge_shown_keys
        return bool(saved) and action != self.play.action and saved == digest_of_keys(self._rig, action)

    def warn_of_lost(self, action: Action, report: Report) -> None:
        """Warn of a motion that was saved as it was shown, was edited since, and is not in play now."""
        if action.motionbridge_shown_keys and action != self.play.action and not self.is_as_saved(action):
            report.warn(
                "was last saved as it played, with layers, constraints or drivers; it does not play now and is written "
                "from its own keys (choose it in the list to write what Blender shows)",
                label_of(action),
            )

    def _played_curves(self, action: Action | None) -> list[bpy.types.FCurve]:
        return [curve for curve in compat.curves_of(action, self._rig) if compat.is_played(curve)]

    def _has_keys_of_settings(self, action: Action | None) -> bool:
        """Whether an action, or that of its controls, has keys for constraints or properties of bones of the game."""
        controls = control_action(self._rig, action)
        curves = compat.curves_of(controls, controls_of(self._rig)) if controls is not None else []
        paths = [curve.data_path for curve in (*self._played_curves(action), *curves)]
        return any(is_setting(path) and OWN not in path and not _is_switch(path) for path in paths)

    def _moved_by_strips(self) -> set[str]:
        """Return the bones that NLA strips, and actions blended with them, move in the motion in play."""
        play = self.play
        if play.hidden_by:
            return set(self._rig.pose.bones.keys())
        if not play.is_layered or not play.is_blended:
            return set()
        own = _indices(self._played_curves(nla.assigned(self._rig)))
        strips = _channels_of(play.strips)
        data = self._rig.animation_data
        replaces = data is not None and (data.action_blend_type, data.action_influence) == ("REPLACE", 1.0)
        left = [*strips, *own]
        if play.strip is None and replaces and data.action_extrapolation == "HOLD" and not play.is_tweaked:
            # Then an action's keys replace those of strips for the same channel.
            left = [path for path, indices in strips.items() if indices - own.get(path, set())]
        return {name for path in left for name in self._moved_by(path)}

    def _staying_children(self, moved: Collection[str]) -> set[str]:
        """Return the children of ``moved`` bones that do not follow them, because they copy their own controls."""
        bones = self._rig.data.bones
        return {child.name for name in moved for child in bones[name].children if child.name in self._copying}

    def _moved_by(self, path: str) -> set[str]:
        """Return the bones that a data path moves: its bone, and for a constraint's path the bones of its chain."""
        bone = self._rig.pose.bones.get(bone_within(path))
        if bone is None:
            return set()
        return _moved_with(bone) if ".constraints[" in path else {bone.name}


def is_setting(path: str) -> bool:
    """Whether the data path is that of a constraint or a custom property, and not of a bone's own transform."""
    return ".constraints[" in path or path.endswith('"]')


def _is_switch(path: str) -> bool:
    """Whether a data path is that of a switch of a control rig."""
    return any(path.endswith(f'["{name}"]') for name in SWITCHES)


def _moved_with(bone: PoseBone) -> set[str]:
    """Return the bones that the constraints of a pose bone move: itself and the chains of inverse kinematics."""
    result = {bone.name}
    for constraint in bone.constraints:
        if constraint.type not in {"IK", "SPLINE_IK"}:
            continue
        above = [parent.name for parent in bone.parent_recursive]
        from_bone = constraint.type == "SPLINE_IK" or constraint.use_tail
        whole = not constraint.chain_count or bone.id_data.pose.ik_solver != "LEGACY"
        result.update(above if whole else above[: constraint.chain_count - from_bone])
    return result


def _channels_of(strips: Iterable[Any]) -> dict[str, set[int]]:
    """Return the channels that NLA strips have keys for: data path -> indices."""
    channels: dict[str, set[int]] = {}
    for strip in strips:
        for path, indices in _indices(nla.curves_of_strip(strip)).items():
            # Strips blend all components of a quaternion together.
            channels.setdefault(path, set()).update(range(4) if path.endswith(_QUATERNION) else indices)
    return channels


def _indices(curves: Iterable[bpy.types.FCurve]) -> dict[str, set[int]]:
    result: dict[str, set[int]] = {}
    for curve in curves:
        result.setdefault(curve.data_path, set()).add(curve.array_index)
    return result


class Sampler:
    """Samples poses of one armature. From the first sample until it is closed, objects that do not affect them are
    hidden.

    ``known``: a cache of samples, kept by the caller as long as nothing in the scene changes.
    """

    def __init__(self, context: Context, rig: Object, known: dict[Any, Any] | None = None) -> None:
        self._context, self._rig = context, rig
        self._known = {} if known is None else known
        self._stack, self._is_sampling = ExitStack(), False
        self.movers = Movers(rig)
        self.distorted: dict[Action, list[str]] = {}
        """Bones that were scaled or sheared when sampled; clips do not contain this."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_sampling = False
        self._stack.close()

    def clip(
        self,
        action: Action,
        rest: Rest,
        fps: float,
        bones: Collection[str],
        *,
        modes: dict[str, str],
        step: float = 1.0,
        frames: tuple[int, int],
        is_loose: bool = False,
        is_still: bool = False,
    ) -> tuple[list[int], Clip]:
        """Sample some ``bones`` with `action.sample`. Returns their rows in ``rest``, and a clip of them alone.

        ``is_loose``: sample them as if they did not copy a control rig. ``is_still``: without constraints and drivers.
        """
        key = (action, frozenset(bones), frozenset(modes.items()), frames, step, is_loose, is_still)
        rows = [row for row, bone in enumerate(rest.bones) if bone in bones]
        if key not in self._known:
            if not self._is_sampling:
                self._stack.enter_context(scope.only_evaluated(self._context, [self._rig]))
                self._stack.enter_context(scope.kept_frame(self._context))
                self._is_sampling = True
            still = unmoved(self._rig) if is_still else nullcontext()
            with links_muted(self._rig) if is_loose else nullcontext(), still:
                self._known[key] = actions.sample(
                    self._context, self._rig, action, rest, fps, modes=modes, step=step, frames=frames, bones=bones
                )
        posed, distorted = self._known[key]
        if distorted and not is_loose:
            self.distorted[action] = distorted
        return rows, posed

    def moved(
        self, action: Action, rest: Rest, fps: float, bones: Collection[str], *, modes: dict[str, str], frames: Any
    ) -> tuple[list[int], Clip]:
        """Return `clip` of those ``bones`` that controls pose differently from the action's own keys on at least one
        frame.

        On the other frames the clip has the values of these keys.
        """
        rows, posed = self.clip(action, rest, fps, bones, modes=modes, frames=frames)
        own = self.clip(action, rest, fps, bones, modes=modes, frames=frames, is_loose=True)[1]
        posed = replace(posed, rotations=posed.rotations.copy(), translations=posed.translations.copy())
        keep_baseline(posed, own)
        differ = (posed.rotations != own.rotations).any(axis=(1, 2))
        differ |= (posed.translations != own.translations).any(axis=(1, 2))
        chosen = np.flatnonzero(differ).tolist()
        return [rows[number] for number in chosen], posed.of_tracks(chosen)


@contextmanager
def unmoved(rig: Object) -> Iterator[None]:
    """Mute the constraints of the bones of ``rig``, except links and pins, and its drivers; all are restored."""
    drivers = rig.animation_data.drivers if rig.animation_data is not None else ()
    muted = [existing for bone in rig.pose.bones for existing in moving(bone)] + [
        curve for curve in drivers if not curve.mute
    ]
    try:
        for constraint in muted:
            constraint.mute = True
        yield
    finally:
        for constraint in muted:
            constraint.mute = False


REST_TOLERANCE = 1e-6
"""Tolerance for the value of a channel without keys to count as its rest value."""
_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}


class ShownActions:
    """What Blender shows of the actions of one armature, for an export of some of them."""

    def __init__(self, rig: Object, hidden: HiddenKeys, report: Report) -> None:
        """Raise `WriteError` if NLA strips play several motions, of which none is the one in play, or if a solo NLA
        track plays no motion and hides the assigned action, unless ``hidden`` is `HiddenKeys.SHOWN`.
        """
        self._rig, self._hidden, self._report = rig, hidden, report
        self._modes, self._play = RotationModes(rig), nla.playing(rig)
        self._of_deleted_controls, self._has_warned_of_controls = bones_of_deleted_controls(rig), False
        if self._play.bases:
            labels = dict.fromkeys(label_of(action) for action in self._play.bases)
            words = "NLA strips of {!r} play several motions, so it is not clear which one the layers belong to: {}"
            raise WriteError(
                say(words, rig.name, listed(labels)),
                remedy="Mute or delete the strips of all but one, or choose a motion in the list",
            )
        solo = self._play.hidden_by
        if solo and hidden is not HiddenKeys.SHOWN:
            raise WriteError(
                say("the NLA track {!r} of {!r} is solo: Blender plays it instead of any action", solo, rig.name),
                remedy="Clear its star in the NLA editor, or choose Export as Shown (option Hidden Keys)",
                option="hidden_keys",
            )
        if self._play.is_stacked and self._play.action is None:
            report.warn(
                "NLA strips play no motion, so what they show is not written; add a motion's strip below them", rig.name
            )

    def modes(self, action: Action, order: str = "", table: CurveTable | None = None) -> dict[str, str]:
        """Return the rotation mode of each bone with which to read ``action``.

        ``order``: order of its Euler angles if its file defines it. ``table``: the action's F-curves, if the caller
        already has them. Warns of what Blender shows differently from the keys. Raises `WriteError` for keys that a
        rotation mode hides, unless the user has chosen how to export them.
        """
        modes = self._modes.of_export(action, order, self._hidden, table)
        guessed = [] if order else self._modes.guessed(action, modes)
        if guessed:
            self._report.warn(
                "nothing tells the order of the Euler angles, they are read as XYZ; play the action and set the "
                "rotation mode of its bones to be sure",
                say("{}: {}", label_of(action), listed(guessed)),
            )
        if action == nla.assigned(self._rig) and self._play.strip is None:
            self._warn_of_slot(action)
        self._warn_of_controls(action)
        return modes

    def warn_of_pose(self, action: Action, modes: dict[str, str], of_file: Collection[str] | None = None) -> None:
        """Warn of bones that are posed without keys if ``action`` is in play: the export does not contain this pose.

        ``of_file``: the bones that the motion's file has tracks of. Other bones keep the pose of the action that played
        before, and the export does not write them. None for a new action, of which every bone is written.
        """
        if action != self._play.action or self._rig.data.pose_position == "REST":
            return
        bones = posed_without_keys(self._rig, action, modes)
        bones = bones if of_file is None else [bone for bone in bones if bone in of_file]
        if bones:
            self._report.warn(
                "bones are posed without keys; they are exported in their rest pose (add keys to export the pose)",
                say("{}: {}", label_of(action), listed(bones)),
            )

    def _warn_of_controls(self, action: Action) -> None:
        if self._has_warned_of_controls or control_action(self._rig, action) is None:
            return
        words = (
            "controls were deleted that these bones follow, which are exported where Blender shows them now; undo "
            "that, or choose Remove Control Rig for the bones' own keys"
        )
        deleted = self._of_deleted_controls
        if not deleted:
            words = (
                "controls were deleted that have keys; the bones that they moved are exported where Blender shows them "
                "now; undo that, or choose Remove Control Rig for the bones' own keys"
            )
            deleted = deleted_controls(self._rig, action)
        if deleted:
            self._report.warn(words, say("{}: {}", self._rig.name, listed(deleted)))
            self._has_warned_of_controls = True

    def _warn_of_slot(self, action: Action) -> None:
        used, exported = compat.used_slot(action, self._rig), compat.suitable_slot(action, self._rig)
        if exported is not None and used != exported:
            name = exported.name_display
            problem = say("Blender plays no slot; the keys of the slot {!r} are exported", name)
            if used is not None:
                words = "Blender plays the slot {!r}, which has no keys; the keys of the slot {!r} are exported"
                problem = say(words, used.name_display, name)
            self._report.warn(problem, label_of(action))


def is_hidden(rig: Object) -> bool:
    """Whether a solo NLA track that plays no motion hides the action that is assigned to an armature."""
    return bool(nla.playing(rig).hidden_by)


def layer_times(play: nla.Playing) -> NDArray[np.float64]:
    """Return (times,) the sorted frames of the scene on which layers of the motion in play have keys, begin or end."""
    own_times: list[NDArray[Any]] = [np.empty(0)]
    for strip in (*play.strips, *play.controls_strips):
        if strip == play.strip:
            continue
        first, length = strip.action_frame_start, strip.action_frame_end - strip.action_frame_start
        times = key_times(nla.curves_of_strip(strip)).astype(np.float64) - first
        times = times[(times >= 0.0) & (times <= length)]
        starts = np.arange(int(np.ceil(strip.repeat)))[:, None] * length
        played_at = strip.frame_start + strip.scale * (starts + times).ravel()
        own_times += [played_at[played_at <= strip.frame_end], np.array([strip.frame_start, strip.frame_end])]
    own_times += [key_times(bag.fcurves) for layer in play.layers for bag in compat.all_curve_bags(layer)]
    return np.unique(np.concatenate(own_times).astype(np.float32)).astype(np.float64)


def posed_without_keys(rig: Object, action: Action | None, modes: dict[str, str]) -> list[str]:
    """Return the bones with a channel that has no F-curve in ``action`` and is not at rest; muted F-curves count.

    ``modes``: the rotation mode of each bone, which selects the rotation channel to check.
    """
    keyed: dict[str, set[int]] = {}
    for curve in compat.curves_of(action, rig):
        if not curve.is_empty:
            keyed.setdefault(curve.data_path, set()).add(curve.array_index)
    result = []
    for bone in rig.pose.bones:
        kind = rotation_kind(modes[bone.name])
        for channel in ("location", f"rotation_{kind}", "scale"):
            if channel not in _REST:  # axis-angle has no unique rest value
                continue
            free = [index for index in range(len(_REST[channel])) if index not in keyed.get(_path(bone, channel), ())]
            values = np.array(getattr(bone, channel))[free]
            if free and np.abs(values - np.array(_REST[channel])[free]).max() > REST_TOLERANCE:
                result.append(bone.name)
                break
    return result


def _path(bone: PoseBone, channel: str) -> str:
    return channel_path(bone.name, channel)


def warn_of_other_kinds(bones: Sequence[str], action: Action, report: Report) -> None:
    """Warn of bones with rotation keys of a type that their rotation mode does not use."""
    if bones:
        report.warn(
            "keys of a kind of rotation that the bones' mode does not read are left out, as Blender plays them",
            say("{}: {}", label_of(action), listed(bones)),
        )


def warn_of_muted(bones: Sequence[str], action: Action, report: Report, *, in_file: bool) -> None:
    """Warn of bones with muted F-curves, and report which values are exported instead."""
    if bones:
        words = "curves are muted: their bones are exported in their rest pose there"
        if in_file:
            words = "curves are muted: their bones keep the values of the file there"
        report.warn(words, say("{}: {}", label_of(action), listed(bones)))
