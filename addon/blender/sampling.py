"""Where Blender shows something else than an action's keys: what exports sample, refuse and warn of.

`Movers` finds the bones that are not moved by their keys alone, `Sampler` samples them in the evaluated scene in the
cheapest way. Relative to its parent, a pose bone has the pose of its own keys, unless a constraint, a driver, an NLA
strip or its inheritance settings move it. Inverse kinematics move the chain of ancestors of their bone. The children of
such a bone follow it, but relative to their parents they still have the pose of their keys, unless they copy a control
rig.

`ShownActions` and the functions below it are about keys that are hidden, muted or missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core.errors import WriteError
from ..core.model import Clip
from ..core.report import Report, listed
from . import action as actions
from . import compat, scope
from .action import CONSTRAINTS, DRIVERS, INHERITANCE, STRIPS
from .armature import Rest, moving
from .bone_curves import CurveTable, bone_within, channel_path, rotation_kind
from .control_edits import CONTROLS, ControlEdits, bones_of_deleted_controls, deleted_controls, keep_baseline
from .control_links import control_action, links_muted, links_of
from .keyed_poses import follows_keys, played_tracks
from .rotation_modes import HiddenKeys, RotationModes, played

if TYPE_CHECKING:
    import bpy

    from .typed import Action, Context, Object, PoseBone


_QUATERNION = ".rotation_quaternion"


class Movers:
    """What moves the bones of one armature besides keys. The armature is examined once, for many actions."""

    def __init__(self, rig: Object) -> None:
        self._rig, self._control_edits = rig, ControlEdits(rig)
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
        tracks = played_tracks(rig)
        self._plays_other = any(track.is_solo for track in tracks) or (data is not None and data.use_tweak_mode)
        self._strips = _channels_of(strip for track in tracks for strip in track.strips)
        # Then an action's keys replace those of strips for the same channel.
        self._replaces = data is not None and (data.action_blend_type, data.action_influence) == ("REPLACE", 1.0)
        self._replaces = self._replaces and data.action_extrapolation == "HOLD"

    def of(self, action: Action | None, among: Collection[str] | None = None) -> dict[str, set[str]]:
        """Return, by reason, the bones that something besides keys moves while ``action`` plays; empty if its keys
        define all.

        ``among``: the bones to consider, by default all.
        """
        found = dict(self._by_reason)
        found[CONTROLS] = self._control_edits.bones(action)
        if self._copying and control_action(self._rig, action) is not None:
            found[CONSTRAINTS] = found[CONSTRAINTS] | self._staying_children(found[CONSTRAINTS])
        if self._plays_other:
            found[STRIPS] = set(self._rig.pose.bones.keys())
        elif self._strips:
            own = _indices(curve for curve in compat.curves_of(action, self._rig) if compat.is_played(curve))
            # If the action is blended with strips, its own keys are not shown exactly either.
            left = [*self._strips, *own]
            if self._replaces:
                left = [path for path, indices in self._strips.items() if indices - own.get(path, set())]
            found[STRIPS] = {name for path in left for name in self._moved_by(path)}
        if among is not None:
            found = {reason: bones & set(among) for reason, bones in found.items()}
        return {reason: bones for reason, bones in found.items() if bones}

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


def _moved_with(bone: PoseBone) -> set[str]:
    """Return the bones that the constraints of a pose bone move: itself and the chains of inverse kinematics."""
    found = {bone.name}
    for constraint in bone.constraints:
        if constraint.type not in {"IK", "SPLINE_IK"}:
            continue
        above = [parent.name for parent in bone.parent_recursive]
        from_bone = constraint.type == "SPLINE_IK" or constraint.use_tail
        whole = not constraint.chain_count or bone.id_data.pose.ik_solver != "LEGACY"
        found.update(above if whole else above[: constraint.chain_count - from_bone])
    return found


def _channels_of(strips: Iterable[Any]) -> dict[str, set[int]]:
    """Return the channels that NLA strips have keys for: data path -> indices."""
    found: dict[str, set[int]] = {}
    for strip in strips:
        if strip.mute:
            continue
        slot = strip.action_slot if compat.SLOTTED else None
        bag = compat.curve_bag(strip.action, slot) if strip.action is not None else None
        own = _indices(bag.fcurves) if bag is not None else {}
        for path, indices in (own | _channels_of(strip.strips)).items():
            # Strips blend all components of a quaternion together.
            found.setdefault(path, set()).update(range(4) if path.endswith(_QUATERNION) else indices)
    return found


def _indices(curves: Iterable[bpy.types.FCurve]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for curve in curves:
        found.setdefault(curve.data_path, set()).add(curve.array_index)
    return found


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
    ) -> tuple[list[int], Clip]:
        """Sample some ``bones`` with `action.sample`. Returns their rows in ``rest``, and a clip of them alone.

        ``is_loose``: sample them as if they did not copy a control rig.
        """
        key = (action, frozenset(bones), frozenset(modes.items()), frames, step, is_loose)
        rows = [row for row, bone in enumerate(rest.bones) if bone in bones]
        if key not in self._known:
            if not self._is_sampling:
                self._stack.enter_context(scope.only_evaluated(self._context, [self._rig]))
                self._stack.enter_context(scope.kept_frame(self._context))
                self._is_sampling = True
            with links_muted(self._rig) if is_loose else nullcontext():
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
        """Raise `WriteError` if a solo NLA track hides every action, unless ``hidden`` is `HiddenKeys.SHOWN`."""
        self._rig, self._hidden, self._report = rig, hidden, report
        self._modes = RotationModes(rig)
        self._of_deleted_controls, self._has_warned_of_controls = bones_of_deleted_controls(rig), False
        solo = solo_tracks(rig)
        if solo and hidden is not HiddenKeys.SHOWN:
            raise WriteError(
                f"the NLA track {solo[0]!r} of {rig.name!r} is solo: Blender plays it instead of any action",
                remedy="Clear its star in the NLA editor, or choose Export as Shown (option Hidden Keys)",
                option="hidden_keys",
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
                f"{action.name}: {listed(guessed)}",
            )
        if action == played(self._rig):
            self._warn_of_slot(action)
        self._warn_of_controls(action)
        return modes

    def warn_of_pose(self, action: Action, modes: dict[str, str], of_file: Collection[str] | None = None) -> None:
        """Warn of bones that are posed without keys if ``action`` is the one that plays: the export does not contain
        this pose.

        ``of_file``: the bones that the motion's file has tracks of. Other bones keep the pose of the action that played
        before, and the export does not write them. None for a new action, of which every bone is written.
        """
        if action != played(self._rig) or self._rig.data.pose_position == "REST":
            return
        bones = posed_without_keys(self._rig, action, modes)
        bones = bones if of_file is None else [bone for bone in bones if bone in of_file]
        if bones:
            self._report.warn(
                "bones are posed without keys; they are exported in their rest pose (add keys to export the pose)",
                f"{action.name}: {listed(bones)}",
            )

    def _warn_of_controls(self, action: Action) -> None:
        if self._has_warned_of_controls or control_action(self._rig, action) is None:
            return
        what, found = "controls were deleted that these bones follow, which", self._of_deleted_controls
        if not found:
            what = "controls were deleted that have keys; the bones that they moved"
            found = deleted_controls(self._rig, action)
        if found:
            self._report.warn(
                f"{what} are exported where Blender shows them now; undo that, or choose Remove Control Rig for the "
                "bones' own keys",
                f"{self._rig.name}: {listed(found)}",
            )
            self._has_warned_of_controls = True

    def _warn_of_slot(self, action: Action) -> None:
        used, exported = compat.used_slot(action, self._rig), compat.suitable_slot(action, self._rig)
        if exported is not None and used != exported:
            what = f"the slot {used.name_display!r}, which has no keys" if used is not None else "no slot"
            self._report.warn(
                f"Blender plays {what}; the keys of the slot {exported.name_display!r} are exported", action.name
            )


def solo_tracks(rig: Object) -> list[str]:
    """Return the names of solo NLA tracks, which Blender plays instead of any action."""
    data = rig.animation_data
    return [track.name for track in data.nla_tracks if track.is_solo] if data is not None and data.use_nla else []


def posed_without_keys(rig: Object, action: Action | None, modes: dict[str, str]) -> list[str]:
    """Return the bones with a channel that has no F-curve in ``action`` and is not at rest; muted F-curves count.

    ``modes``: the rotation mode of each bone, which selects the rotation channel to check.
    """
    keyed: dict[str, set[int]] = {}
    for curve in compat.curves_of(action, rig):
        if not curve.is_empty:
            keyed.setdefault(curve.data_path, set()).add(curve.array_index)
    found = []
    for bone in rig.pose.bones:
        kind = rotation_kind(modes[bone.name])
        for channel in ("location", f"rotation_{kind}", "scale"):
            if channel not in _REST:  # axis-angle has no unique rest value
                continue
            free = [index for index in range(len(_REST[channel])) if index not in keyed.get(_path(bone, channel), ())]
            values = np.array(getattr(bone, channel))[free]
            if free and np.abs(values - np.array(_REST[channel])[free]).max() > REST_TOLERANCE:
                found.append(bone.name)
                break
    return found


def _path(bone: PoseBone, channel: str) -> str:
    return channel_path(bone.name, channel)


def warn_of_other_kinds(bones: Sequence[str], action: Action, report: Report) -> None:
    """Warn of bones with rotation keys of a type that their rotation mode does not use."""
    if bones:
        report.warn(
            "keys of a kind of rotation that the bones' mode does not read are left out, as Blender plays them",
            f"{action.name}: {listed(bones)}",
        )


def warn_of_muted(bones: Sequence[str], action: Action, report: Report, *, in_file: bool) -> None:
    """Warn of bones with muted F-curves, and report which values are exported instead."""
    if bones:
        what = "keep the values of the file" if in_file else "are exported in their rest pose"
        report.warn(f"curves are muted: their bones {what} there", f"{action.name}: {listed(bones)}")
