"""The bones of a rig that editor motions have tracks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....blender.armature import Rest
from ....core.report import Report, counted_plural
from ....formats.xray.skl import SkeletalMotion, bone_names
from ..bones.properties import bones_in_order
from .library import bone_indices
from .skl_pose import continues_outside_keys

if TYPE_CHECKING:
    from ....blender.typed import Object


@dataclass(frozen=True)
class Bones:
    """Bones of a rig.

    ``rest``: their rest pose. ``indices``: index in ``rest`` by the game's name in lower case. ``order``: the game's
    names in the game's order, for motions that do not name their bones.
    """

    rest: Rest
    indices: dict[str, int]
    order: list[str]


def bones_of(rig: Object, rest: Rest) -> Bones:
    """Return the bones of ``rig`` with the rest pose ``rest``."""
    return Bones(rest, bone_indices(rig, rest), bones_in_order(rig))


def tracks_on(motion: SkeletalMotion, bones: Bones, report: Report) -> dict[int, int]:
    """Return which track of a motion moves which bone of a rig: index of the bone in ``rest`` -> index of the track.

    If a bone has two tracks, the first one is used. Warns of that, and of tracks that Blender shows differently from
    the game.
    """
    result: dict[int, int] = {}
    continued = []
    for number, (label, track) in enumerate(zip(bone_names(motion, bones.order), motion.tracks, strict=True)):
        bone = bones.indices.get(label.lower())
        if bone is None:
            continue
        if bone in result:
            report.warn("a bone occurs twice: the first is shown, the second is kept", f"{motion.label} {label}")
            continue
        if track.flags & 1:
            report.warn("a bone is rotated in world space, but shown relative to its parent; kept", label)
        if continues_outside_keys(track):
            continued.append(label)
        result[bone] = number
    if continued:
        report.warn(
            f"keys of {counted_plural(len(continued), 'bones')} repeat or continue outside their range, which is shown "
            "only where channels carry over as they are; kept unless edited",
            motion.label,
        )
    return result
