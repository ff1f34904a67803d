"""Where Blender shows something else than an action's keys: what an export asks, refuses and says before it writes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..core.errors import WriteError
from ..core.report import Report
from . import compat
from .bone_curves import CurveTable, channel_path, rotation_kind
from .rotation_modes import NAMES_SHOWN, HiddenKeys, RotationModes, played

POSED = 1e-6
"""How far a channel without keys may be from its rest value and still count as not posed."""
_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}


class ShownActions:
    """What Blender shows of the actions of one rig, for an export of some of them."""

    def __init__(self, rig: Any, hidden: HiddenKeys, report: Report) -> None:
        """Raises `WriteError` where a solo track of the NLA hides every action, unless what is shown is wanted."""
        self._rig, self._hidden, self._report = rig, hidden, report
        self._modes = RotationModes(rig)
        solo = solo_tracks(rig)
        if solo and hidden is not HiddenKeys.SHOWN:
            raise WriteError(
                f"the NLA track {solo[0]!r} of {rig.name!r} is solo: Blender plays it instead of any action",
                remedy="Clear its star in the NLA editor, or choose Export as Shown (option Hidden Keys)",
                option="hidden_keys",
            )

    def modes(self, action: Any, order: str = "", table: CurveTable | None = None) -> dict[str, str]:
        """The rotation mode of each bone to read ``action`` by; ``order`` of its angles where its file tells it.

        ``table``: the action's curves, where they are known.
        Warns of what Blender shows differently from the keys. Raises `WriteError` for keys that a rotation mode hides,
        unless it was decided about them.
        """
        modes = self._modes.of_export(action, order, self._hidden, table)
        guessed = [] if order else self._modes.guessed(action, modes)
        if guessed:
            self._report.warn(
                "nothing tells the order of the Euler angles, they are read as XYZ; play the action and set the "
                "rotation mode of its bones to be sure",
                f"{action.name}: {shortened(guessed)}",
            )
        if action == played(self._rig):
            self._warn_of_slot(action)
        return modes

    def warn_of_pose(self, action: Any, modes: dict[str, str], of_file: Collection[str] | None = None) -> None:
        """Warn of bones that are posed without keys, where ``action`` plays: Blender alone shows them so.

        ``of_file``: the bones that its file has tracks of; other bones keep the pose of whatever played before, and
        nothing is written of them. None for a new action, of which every bone is written.
        """
        if action != played(self._rig) or self._rig.data.pose_position == "REST":
            return
        bones = posed_without_keys(self._rig, action, modes)
        bones = bones if of_file is None else [bone for bone in bones if bone in of_file]
        if bones:
            self._report.warn(
                "bones are posed without keys; they are exported in their rest pose (add keys to export the pose)",
                f"{action.name}: {shortened(bones)}",
            )

    def _warn_of_slot(self, action: Any) -> None:
        used, exported = compat.used_slot(action, self._rig), compat.suitable_slot(action, self._rig)
        if exported is not None and used != exported:
            what = f"the slot {used.name_display!r}, which has no keys" if used is not None else "no slot"
            self._report.warn(
                f"Blender plays {what}; the keys of the slot {exported.name_display!r} are exported", action.name
            )


def solo_tracks(rig: Any) -> list[str]:
    """The tracks of the NLA that Blender plays instead of any action."""
    data = rig.animation_data
    return [track.name for track in data.nla_tracks if track.is_solo] if data is not None and data.use_nla else []


def posed_without_keys(rig: Any, action: Any, modes: dict[str, str]) -> list[str]:
    """Bones with a channel that no curve of ``action`` sets and that is not at rest; muted curves count as curves."""
    keyed: dict[str, set[int]] = {}
    for curve in compat.curves_of(action, rig):
        if not curve.is_empty:
            keyed.setdefault(curve.data_path, set()).add(curve.array_index)
    found = []
    for bone in rig.pose.bones:
        kind = rotation_kind(modes[bone.name])
        for channel in ("location", f"rotation_{kind}", "scale"):
            if channel not in _REST:  # an axis without an angle says nothing
                continue
            free = [index for index in range(len(_REST[channel])) if index not in keyed.get(_path(bone, channel), ())]
            values = np.array(getattr(bone, channel))[free]
            if free and np.abs(values - np.array(_REST[channel])[free]).max() > POSED:
                found.append(bone.name)
                break
    return found


def _path(bone: Any, channel: str) -> str:
    return channel_path(bone.name, channel)


def warn_of_other_kinds(bones: Sequence[str], action: Any, report: Report) -> None:
    """Say so where bones have rotation keys that their mode does not read."""
    if bones:
        report.warn(
            "keys of a kind of rotation that the bones' mode does not read are left out, as Blender plays them",
            f"{action.name}: {shortened(bones)}",
        )


def warn_of_muted(bones: Sequence[str], action: Any, report: Report, *, in_file: bool) -> None:
    """Say what becomes of the channels of bones with muted curves."""
    if bones:
        what = "keep the values of the file" if in_file else "are exported in their rest pose"
        report.warn(f"curves are muted: their bones {what} there", f"{action.name}: {shortened(bones)}")


def shortened(names: Collection[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(list(names)[:NAMES_SHOWN]) + more
