"""Motions that nothing has happened to since they were imported or compared, recognised without decoding them.

Comparing a motion with its file costs ten times as much as reading its keys. What the comparison depends on is put into
a digest, which stays with the action while it says what its file has. Whoever finds the same digest again knows the
answer; any other digest, or none, means that the motion has to be compared.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from ....blender.armature import rest_of
from ....blender.bone_curves import digest_of
from ....blender.record import kept
from ....core import space
from ....formats.xray.omf.document import TIMING
from ..bones.properties import bones_in_order, game_name
from . import files as motion_files

_DIGEST_SIZE = 16


class Unedited:
    """Digests of the actions of one motion file on one rig."""

    def __init__(self, rig: Any, file: Any) -> None:
        """Learn what all motions of the file depend on: the rest pose, then and now, names, bone parts, the file."""
        self._rig = rig
        rest = rest_of(rig, space.XRAY_ROOT_FRAME)
        labels = [game_name(rig.data.bones[bone]) for bone in rest.bones]
        parts = [(part.name, [(bone.name, bone.track) for bone in part.bones]) for part in file.partitions]
        then = [(entry.name, tuple(entry.matrix)) for entry in file.rest]
        of_file = (rest.bones, labels, bones_in_order(rig), parts, then, file.document_seal)
        found = blake2b(repr(of_file).encode(), digest_size=_DIGEST_SIZE)
        for array in (rest.parents, rest.rotations, rest.translations):
            found.update(np.ascontiguousarray(array).data)
        self._of_file = found.digest()

    def digest(self, action: Any, place: int, keys: bytes | None = None) -> bytes:
        """What the motion at index ``place`` of the file depends on; empty where keys do not tell what they show.

        ``keys`` as `digest_of` gives it, where it is known. Raises `ReadError` where the stored bytes are damaged.
        """
        keys = digest_of(action, self._rig) if keys is None else keys
        motion = action.motionbridge_motion
        if not keys or place < 0 or not kept(motion, "body"):
            return b""
        marks = [(mark.name, [(one.start, one.end) for one in mark.intervals]) for mark in motion.marks]
        of_action = (
            (place, motion.motion_name, motion.imported_name, motion.body_seal),
            (action.use_frame_range, action.frame_start, action.frame_end, motion.frame_step),
            (motion_files.flags_of(motion), motion.bone_or_part, [getattr(motion, name) for name in TIMING]),
            (marks, [(marker.name, marker.frame) for marker in action.pose_markers]),
        )
        return blake2b(self._of_file + keys + repr(of_action).encode(), digest_size=_DIGEST_SIZE).digest()

    @staticmethod
    def is_known(action: Any, digest: bytes) -> bool:
        """Whether an action with this digest was found to say what its file has."""
        return bool(digest) and action.motionbridge_motion.unedited == digest.hex()

    @staticmethod
    def remember(action: Any, digest: bytes) -> None:
        """An action with this digest says what its file has."""
        if action.motionbridge_motion.unedited != digest.hex():
            action.motionbridge_motion.unedited = digest.hex()
