"""What the game computes of a first-person scene, by which the scenes that are made here are judged."""

import math

import numpy as np

from addon.core import rotation
from addon.core.model import parents_first
from addon.formats.xray.hud import FRAMES_PER_SECOND
from addon.formats.xray.omf.document import MotionFlag

BONE_MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])


def hands_matrix(placing, *, aiming=False):
    """Matrix of the hands model in the camera's space."""
    return placing.aim @ placing.hands if aiming else placing.hands


def item_matrix(placing, anchor, *, aiming=False):
    """Matrix of the item model in the camera's space; ``anchor`` (4, 4) is its bone in the hands."""
    return hands_matrix(placing, aiming=aiming) @ anchor @ placing.item


def bone_matrices(parents, rotations, translations, *, pinned=False):
    """Matrices (bones, 4, 4) of bones in their model, from one frame of a motion.

    ``rotations`` (bones, 4), as stored or of unit length, and ``translations`` (bones, 3) are in Blender's axes.
    ``pinned``: for an item, whose root the engine sets to the identity, so neither its rest pose nor its track is used.
    """
    local = BONE_MIRROR @ rotation.transforms(rotations, translations) @ BONE_MIRROR
    result = np.empty_like(local)
    for bone in parents_first(list(parents)):
        parent = parents[bone]
        if parent < 0:
            result[bone] = np.eye(4) if pinned else local[bone]
        else:
            result[bone] = result[parent] @ local[bone]
    return result


def fire_point(item, bone, point):
    """The muzzle (3,): ``point`` in the space of its bone, which is (4, 4) in the item model."""
    return (item @ bone @ np.array([*point, 1.0]))[:3]


def frame_after(seconds, frames, speed, flags):
    """The frame that a motion shows this long after its start: it loops, or stops at its last frame."""
    last = frames - 1
    frame = seconds * FRAMES_PER_SECOND * speed
    if last <= 0:
        return 0.0
    return min(frame, float(last)) if flags & MotionFlag.STOP_AT_END else math.fmod(frame, last)
