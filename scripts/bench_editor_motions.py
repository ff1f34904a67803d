"""Motions of the X-Ray editor for the benchmarks, made by rule: the same bytes every time."""

from __future__ import annotations

import numpy as np
from bench_library import made_skeleton

from addon.core import rotation
from addon.core.envelope import Behaviour, Shape
from addon.formats.xray import skl
from addon.formats.xray.envelopes import PACKED, StoredEnvelope, packed
from addon.formats.xray.skl.document import BoneTrack, SkeletalMotion

MOTIONS, KEYS = 100, 60


def made_editor_motions(motions: int = MOTIONS, *, per_frame: bool) -> bytes:
    """A skls onto the skeleton of scripts/bench_library.py, six channels a bone.

    ``per_frame``: 60 keys on 60 frames each, linear or TCB by turns, as editors export them. Else a bone in three holds
    its values from key to key, one is linear, one TCB of any tension, with 4 to 20 keys on frames of its own.
    """
    random = np.random.default_rng(11)
    skeleton = made_skeleton()
    made = []
    for number in range(motions):
        tracks = []
        for bone, name in enumerate(skeleton.bones):
            shape = (Shape.LINEAR, Shape.TCB)[number % 2] if per_frame else (4, 3, 0)[bone % 3]
            frames = np.arange(KEYS)
            if not per_frame:
                inner = random.choice(np.arange(1, KEYS - 1), int(random.integers(2, 19)), replace=False)
                frames = np.sort(np.append([0, KEYS - 1], inner))
            wander = np.cumsum(random.normal(size=(KEYS, 4)) * 0.01, axis=0)[frames]
            turns = rotation.normalised(skeleton.rest_rotation[bone] + wander)
            angles = rotation.euler_zxy(rotation.matrices(turns)) * [-1.0, -1.0, 1.0]  # P, H, B
            places = skeleton.rest_translation[bone] + np.cumsum(random.normal(size=(KEYS, 3)) * 0.002, axis=0)[frames]
            columns = [*(places * [1.0, 1.0, -1.0]).T, angles[:, 1], angles[:, 0], angles[:, 2]]
            keys = np.zeros((6, len(frames)), PACKED)
            keys["time"], keys["value"], keys["shape"] = frames / np.float32(30), np.stack(columns), shape
            if shape != Shape.STEPPED:
                tensions = np.zeros(3) if per_frame else random.uniform(-0.5, 0.5, (6, len(frames), 3))
                keys["tcb"], keys["parameters"] = packed(tensions), packed(np.zeros(4))
            envelopes = [StoredEnvelope(Behaviour.CONSTANT, Behaviour.CONSTANT, row) for row in keys]
            tracks.append(BoneTrack(name.encode(), 0, envelopes))
        timing = np.array([1.0, 2.0, 2.0, 1.0], "<f4")
        label = f"motion_{number:04}".encode()
        made.append(SkeletalMotion(label, 0, KEYS - 1, np.float32(30), 6, 0, 0xFFFF, timing, tracks))
    return skl.write(skl.new_skls(made))
