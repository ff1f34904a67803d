"""What the benchmarks work on, made by rule: motions in any number and a path, the same bytes every time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from addon.core import rotation, space
from addon.core.envelope import Envelope, Shape
from addon.core.model import Clip, Skeleton, Space
from addon.formats.xray import anm, omf
from addon.formats.xray.anm.document import Animation, new_anm
from addon.formats.xray.envelopes import stored
from addon.formats.xray.omf.document import new_omf
from addon.formats.xray.omf.encoding import encode

BONES, FRAMES = 47, 60
PATH_KEYS = 200
MOVING = 6
"""Bones that also move; the others only turn, as in the games' own files."""


def made_skeleton(bones: int = BONES) -> Skeleton:
    """Limbs of eight bones on one root, every bone turned against its parent."""
    random = np.random.default_rng(1)
    parents = np.array([-1, *(0 if bone % 8 == 0 else bone - 1 for bone in range(1, bones))], np.int32)
    return Skeleton(
        "library",
        [f"bone_{bone:02}" for bone in range(bones)],
        parents,
        rotation.normalised(random.normal(size=(bones, 4))),
        random.uniform(-0.2, 0.2, (bones, 3)),
        space.XRAY_ROOT_FRAME,
    )


def made_library(motions: int, bones: int = BONES, frames: int = FRAMES) -> bytes:
    """An omf of ``motions`` motions: all rotations have a key a frame, `MOVING` bones translation keys too."""
    random = np.random.default_rng(2)
    skeleton = made_skeleton(bones)
    turns, moves = np.ones(bones, np.bool_), np.arange(bones) < MOVING
    clips = []
    for number in range(motions):
        wander = np.cumsum(random.normal(size=(bones, frames, 4)) * 0.01, axis=1)
        rotations = rotation.continuous(rotation.normalised(skeleton.rest_rotation[:, None] + wander))
        translations = np.repeat(skeleton.rest_translation[:, None], frames, axis=1)
        translations[moves] += random.normal(size=(MOVING, frames, 3)) * 0.1
        name = f"motion_{number:04}"
        clips.append(Clip(name, skeleton.bones, rotations, translations, turns, moves, 30.0, Space.PARENT_LOCAL))
    return omf.write(new_omf(encode(clips, skeleton=skeleton)[0]))


def made_path(keys: int = PATH_KEYS) -> bytes:
    """An anm whose six channels have ``keys`` TCB keys each, unevenly spaced."""
    random = np.random.default_rng(3)
    channels = []
    for _ in range(6):
        times = np.cumsum(random.integers(2, 9, keys)) / 30.0
        values = np.cumsum(random.normal(size=keys) * 0.1)
        tensions = random.uniform(-1.0, 1.0, (keys, 3))
        channel = Envelope(times, values, np.full(keys, Shape.TCB, np.uint8), tensions, np.zeros((keys, 4)))
        channels.append(stored(channel, to_packed=True))
    return anm.write(new_anm(Animation(b"made", 0, 8 * keys, np.float32(30.0), 5, channels)))
