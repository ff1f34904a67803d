"""Which actions equal their motions in the file, known without comparing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from ....blender import action_lists
from ....blender.action import NEAR
from ....blender.armature import rest_of
from ....blender.bone_curves import KeysRead, bone_of, digest_of, keys_known
from ....blender.properties import kept
from ....blender.sampling import Movers
from ....core import space
from ....formats.xray.omf.document import TIMING
from ..bones.properties import bones_in_order, game_name
from .files import deleted_bones, flags_of, rest_changes

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from .properties import MotionFile

DIGEST_SIZE = 16
"""Bytes of the digests of `Unedited`."""


class Unedited:
    """Digests that show which actions of one motion file on one rig are unedited.

    Comparing a motion with its file takes ten times as long as reading its keys. A digest of everything that the
    comparison depends on is stored with the action while the action equals its motion in the file. If the digest is the
    same later, the action is still unedited; if it differs or is missing, the motion has to be compared.
    """

    def __init__(self, rig: Object, file: MotionFile) -> None:
        """Collect what all motions of the file depend on: rest poses (now, at import), names, bone parts, the file."""
        self._rig = rig
        rest = rest_of(rig, space.XRAY_ROOT_FRAME)
        labels = [game_name(rig.data.bones[bone]) for bone in rest.bones]
        parts = [(part.name, [(bone.name, bone.track) for bone in part.bones]) for part in file.partitions]
        then = [(entry.name, tuple(entry.matrix)) for entry in file.rest]
        of_file = (rest.bones, labels, bones_in_order(rig), parts, then, file.document_seal)
        digest = blake2b(repr(of_file).encode(), digest_size=DIGEST_SIZE)
        for array in (rest.parents, rest.rotations, rest.translations):
            digest.update(np.ascontiguousarray(array).data)
        self._of_file = digest.digest()

    def digest(self, action: Action, index: int, keys: bytes | None = None) -> bytes:
        """Return the digest of an action; empty for a new motion, and if keys alone do not show what it plays.

        ``index``: index of the motion in the file. ``keys``: the result of `digest_of`, if known. Raises `ReadError` if
        the stored bytes of the motion are damaged.
        """
        keys = digest_of(action, self._rig) if keys is None else keys
        motion = action.motionbridge_motion
        if not keys or index < 0 or not kept(motion, "body"):
            return b""
        marks = [(mark.name, [(interval.start, interval.end) for interval in mark.intervals]) for mark in motion.marks]
        of_action = (
            (index, motion.motion_name, motion.imported_name, motion.body_seal),
            (action.use_frame_range, action.frame_start, action.frame_end, motion.frame_step, motion.is_cut),
            (flags_of(motion), motion.bone_or_part, [getattr(motion, name) for name in TIMING]),
            (marks, [(marker.name, marker.frame) for marker in action.pose_markers]),
        )
        return blake2b(self._of_file + keys + repr(of_action).encode(), digest_size=DIGEST_SIZE).digest()

    @staticmethod
    def is_known(action: Action, digest: bytes) -> bool:
        """Return whether an action with this digest is known to equal its motion in the file."""
        return bool(digest) and action.motionbridge_motion.unedited == digest.hex()

    @staticmethod
    def remember(action: Action, digest: bytes) -> None:
        """Store that an action with this digest equals its motion in the file."""
        if action.motionbridge_motion.unedited != digest.hex():
            action.motionbridge_motion.unedited = digest.hex()


def unknown(rig: Object, file: MotionFile, chosen: Sequence[Action]) -> dict[Action, bytes]:
    """Return those of the actions that have to be compared with their motions in ``file``, with their digests."""
    unedited, movers, indices = Unedited(rig, file), Movers(rig), action_lists.listed(file)
    digests = {
        action: unedited.digest(action, indices.get(action, -1)) if not movers.of(action) else b"" for action in chosen
    }
    return {action: digest for action, digest in digests.items() if not unedited.is_known(action, digest)}


def remember_unedited(rig: Object, file: MotionFile, saved: Iterable[Action]) -> None:
    """After actions were written: remember those that equal their motions, if keys alone show what they play."""
    unedited, movers, indices = Unedited(rig, file), Movers(rig), action_lists.listed(file)
    for action in saved:
        if action != movers.play.action and not movers.of(action):
            unedited.remember(action, unedited.digest(action, indices.get(action, -1)))


def plainly_unedited(
    rig: Object, file: MotionFile, chosen: Sequence[Action], tracked: Collection[str] | None
) -> set[Action]:
    """Return the actions that seem unedited by `keys_known`, and of which an export would report nothing: for previews.

    ``tracked``: game names, in lower case, of the bones that the file has tracks of; None for all.
    """
    if rest_changes(file, rig) or deleted_bones(file, rig):
        return set()
    unedited, movers, indices = Unedited(rig, file), Movers(rig, keys_known), action_lists.listed(file)
    bones = rig.data.bones
    written = frozenset(bone.name for bone in bones if tracked is None or game_name(bone).lower() in tracked)
    result = set()
    for action in chosen:
        index = indices.get(action, -1)
        if action == movers.play.action or action.motionbridge_shown_keys:
            continue
        keys = keys_known(action, rig)
        if not _is_plain(action, keys, written) or movers.of(action):
            continue
        if unedited.is_known(action, unedited.digest(action, index, keys.digest)):
            result.add(action)
    return result


def _is_plain(action: Action, keys: KeysRead, written: frozenset[str]) -> bool:
    """Return whether an action has nothing but keys within its range for the bones ``written``, none muted."""
    return (
        bool(keys.digest)
        and action.use_frame_range
        and action.frame_start - NEAR <= keys.first
        and keys.last <= action.frame_end + NEAR
        and _moves_only(keys.identity, keys.curves, written)
    )


@lru_cache(maxsize=64)
def _moves_only(identity: bytes, curves: int, bones: frozenset[str]) -> bool:
    """Return whether all ``curves`` of an `identity_of` are locations and rotations of ``bones``, and none is muted."""
    muted = np.frombuffer(identity, np.int32, curves, len(identity) - 4 * curves)
    paths = identity[: len(identity) - 12 * curves].decode().split("\n")
    return not muted.any() and all(
        path.endswith((".location", ".rotation_quaternion")) and bone_of(path) in bones for path in paths
    )
