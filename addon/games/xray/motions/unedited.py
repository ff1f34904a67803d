"""Which actions are unedited, known without comparing them with their motions."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ....blender.armature import rest_of
from ....blender.bone_curves import digest_of
from ....blender.properties import kept
from ....core import space
from ....formats.xray.omf.document import TIMING
from ..bones.properties import bones_in_order, game_name
from . import files as motion_files

if TYPE_CHECKING:
    from ....blender.typed import Action, Object

DIGEST_SIZE = 16
"""Bytes of the digests of `Unedited`."""


class Unedited:
    """Digests that show which actions of one motion file on one rig are unedited.

    Comparing a motion with its file takes ten times as long as reading its keys. A digest of everything that the
    comparison depends on is stored with the action while the action equals its motion in the file. If the digest is the
    same later, the action is still unedited; if it differs or is missing, the motion has to be compared.
    """

    def __init__(self, rig: Object, file: Any) -> None:
        """Collect what all motions of the file depend on: rest poses (now, at import), names, bone parts, the file."""
        self._rig = rig
        rest = rest_of(rig, space.XRAY_ROOT_FRAME)
        labels = [game_name(rig.data.bones[bone]) for bone in rest.bones]
        parts = [(part.name, [(bone.name, bone.track) for bone in part.bones]) for part in file.partitions]
        then = [(entry.name, tuple(entry.matrix)) for entry in file.rest]
        of_file = (rest.bones, labels, bones_in_order(rig), parts, then, file.document_seal)
        found = blake2b(repr(of_file).encode(), digest_size=DIGEST_SIZE)
        for array in (rest.parents, rest.rotations, rest.translations):
            found.update(np.ascontiguousarray(array).data)
        self._of_file = found.digest()

    def digest(self, action: Action, index: int, keys: bytes | None = None) -> bytes:
        """Return the digest of an action; empty for a new motion, and if keys alone do not show what it plays.

        ``index``: index of the motion in the file. ``keys``: the result of `digest_of`, if known. Raises `ReadError` if
        the stored bytes of the motion are damaged.
        """
        keys = digest_of(action, self._rig) if keys is None else keys
        motion = action.motionbridge_motion
        if not keys or index < 0 or not kept(motion, "body"):
            return b""
        marks = [(mark.name, [(one.start, one.end) for one in mark.intervals]) for mark in motion.marks]
        of_action = (
            (index, motion.motion_name, motion.imported_name, motion.body_seal),
            (action.use_frame_range, action.frame_start, action.frame_end, motion.frame_step, motion.is_cut),
            (motion_files.flags_of(motion), motion.bone_or_part, [getattr(motion, name) for name in TIMING]),
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
