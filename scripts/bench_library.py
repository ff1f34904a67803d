"""The motion library that the benchmarks work on, made by rule: any size, the same bytes every time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from addon.core import rotation, space
from addon.core.model import Clip, Skeleton, Space
from addon.formats.xray import omf
from addon.formats.xray.omf.document import new_omf
from addon.formats.xray.omf.encoding import encode

BONES, FRAMES = 47, 60
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
