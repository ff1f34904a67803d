"""Motions of the samples. `Poses` rotates joints about the axes of the model, as an animator thinks of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from addon.core import rotation
from addon.core.model import Clip, Marker, Skeleton
from addon.formats.xray.omf.codec import numbered
from addon.formats.xray.omf.document import (
    ALL_PARTITIONS,
    Definition,
    MotionFlag,
    MotionSet,
    Parameters,
    Partition,
    PartitionBone,
)
from addon.formats.xray.omf.mapping import encode
from addon.formats.xray.omf.tracks import Width
from samples.bones import HUMANOID, WEAPON, skeleton_of

Floats = NDArray[np.float64]

RIGHT, FORWARD, UP = 0, 1, 2
"""Axes of the model in Blender: a rotation about the first bends a bone that points down forwards."""
SOLE = ((0.0, -0.13), (0.12, -0.13))
"""Forward and up from the ankle in metres: where a foot's box touches the ground, at the heel and at the toes."""
ANKLE = 0.1
"""Height of the ankle at rest in metres."""


class Poses:
    """Frames of a motion, initially in the rest pose."""

    def __init__(self, name: str, skeleton: Skeleton, frames: int) -> None:
        self.name, self.skeleton, self.frames = name, skeleton, frames
        self._rest = skeleton.rest_matrices()
        self._facing = rotation.from_matrices(self._rest[:, :3, :3])
        self._turns = np.tile(rotation.IDENTITY, (len(skeleton.bones), frames, 1))
        self._translations = np.repeat(skeleton.rest_translation[:, None], frames, axis=1)
        self.time = np.linspace(0.0, 1.0, frames)
        # With an offset, because at exact fractions of a circle a key would be exactly between two integers.
        self.circle = 2 * np.pi * self.time + 0.1234567

    def turn(self, bone: str, axis: int, degrees: Any) -> Self:
        """Rotate a bone further about an axis of the model (with its parents at rest)."""
        index = self.skeleton.bones.index(bone)
        angles = np.broadcast_to(np.radians(degrees), self.frames)
        self._turns[index] = rotation.multiply(rotation.about_axis(axis, angles), self._turns[index])
        return self

    def shift(self, bone: str, axis: int, metres: Any) -> Self:
        """Move a bone along an axis of the model."""
        index = self.skeleton.bones.index(bone)
        parent = int(self.skeleton.parents[index])
        frame = self.skeleton.root_frame if parent < 0 else self._rest[parent]
        # Rounded and without -0, so that a constant axis is exactly constant on every machine.
        self._translations[index] += np.round(np.multiply.outer(metres, frame[axis, :3]), 6) + 0.0
        return self

    def rotations(self) -> Floats:
        """Return (bones, frames, 4) rotations relative to the parent."""
        facing = self._facing[:, None]
        own = rotation.multiply(rotation.multiply(rotation.conjugate(facing), self._turns), facing)
        return rotation.multiply(self.skeleton.rest_rotation[:, None], own)

    def standing(self) -> Self:
        """Move the pelvis up or down so that the lower foot touches the ground in each frame."""
        poses = self.skeleton.pose_matrices(self.rotations(), self._translations)
        lowest = np.full(self.frames, np.inf)
        for letter in "lr":
            foot = self.skeleton.bones.index(f"foot_{letter}")
            to_model = poses[foot] @ np.linalg.inv(self._rest[foot])
            for forward, up in SOLE:
                corner = self._rest[foot][:, 3] + [0.0, forward, up, 0.0]
                lowest = np.minimum(lowest, (to_model @ corner)[:, UP])
        return self.shift("pelvis", UP, ANKLE + SOLE[0][1] - lowest)

    def clip(self, *markers: Marker, loop: bool = False) -> Clip:
        """Return the motion. With ``loop`` its last frame equals its first exactly: after its last key the engine jumps
        there.
        """
        turned, moved = self.rotations(), self._translations.copy()
        if loop:
            turned[:, -1], moved[:, -1] = turned[:, 0], moved[:, 0]
        bones = list(self.skeleton.bones)
        keyed = np.ones(len(bones), np.bool_)
        return Clip(self.name, bones, turned, moved, keyed, keyed, 30.0, list(markers))


def _bump(moment: Floats, peak: float, width: float) -> Floats:
    """Return 1 at the ``peak`` moment of a cycle of length 1, and almost 0 further than ``width`` from it."""
    rise: Floats = np.exp((np.cos(2 * np.pi * (moment - peak)) - 1) / (np.pi * width) ** 2)
    return rise


def _arm(poses: Poses, letter: str, forward: Any = 0.0, elbow: Any = 15.0, down: Any = 78.0) -> None:
    """Lower an arm from the rest pose, where it points sideways; swing it ``forward`` and bend the elbow."""
    side = 1.0 if letter == "r" else -1.0
    poses.turn(f"upperarm_{letter}", FORWARD, side * np.asarray(down)).turn(f"upperarm_{letter}", RIGHT, forward)
    poses.turn(f"forearm_{letter}", UP, side * np.asarray(elbow))


def _walk(skeleton: Skeleton) -> Clip:
    """Return two steps. The left heel strikes on the first frame, and the foot leaves the ground after 3/5 of the
    cycle.
    """
    walk = Poses("walk", skeleton, 25)
    cycle = walk.circle / (2 * np.pi)
    for letter, moment in (("l", cycle), ("r", cycle + 0.5)):
        walk.turn(f"thigh_{letter}", RIGHT, 5 + 20 * np.cos(2 * np.pi * (moment - 0.95)))
        walk.turn(f"calf_{letter}", RIGHT, -4 - 10 * _bump(moment, 0.15, 0.1) - 52 * _bump(moment, 0.73, 0.14))
        walk.turn(f"foot_{letter}", RIGHT, 8 * _bump(moment, 0.98, 0.1) - 16 * _bump(moment, 0.62, 0.1))
        swing = -18 * np.cos(2 * np.pi * (moment - 0.95))
        _arm(walk, letter, forward=swing, elbow=22 + 0.5 * swing)
    twist = 4 * np.cos(walk.circle)
    walk.turn("pelvis", UP, -twist).turn("spine", UP, 2 * twist).turn("neck", UP, -twist).turn("spine", RIGHT, -3)
    feet = [Marker("Left", np.array([[0.0, 0.3]])), Marker("Right", np.array([[0.4, 0.7]]))]
    return walk.standing().clip(*feet, loop=True)


def _idle(skeleton: Skeleton) -> Clip:
    """Return breathing and looking around."""
    idle = Poses("idle", skeleton, 31)
    breath = np.sin(idle.circle)
    idle.turn("spine", RIGHT, 1.5 * breath).turn("neck", RIGHT, -1.5 * breath)
    idle.turn("head", UP, 6 * np.sin(idle.circle + 0.7))
    for letter in "lr":
        _arm(idle, letter, forward=2 * breath, down=78 - 1.5 * breath)
    return idle.clip(loop=True)


def _wave(skeleton: Skeleton) -> Clip:
    """Return a wave: the right arm rises, the forearm swings, and the arm is lowered again."""
    wave = Poses("wave", skeleton, 37)
    raised = np.clip(3 * np.sin(np.pi * wave.time), 0, 1) ** 2
    swing = raised * np.sin(3 * wave.circle)
    _arm(wave, "l")
    _arm(wave, "r", elbow=15 * (1 - raised), down=78 - 68 * raised)
    wave.turn("forearm_r", FORWARD, -75 * raised + 25 * swing)
    wave.shift("hand_r", RIGHT, 0.01 * swing).shift("clavicle_r", UP, 0.02 * raised)
    wave.turn("head", UP, -8 * raised)
    return wave.clip()


def _jump(skeleton: Skeleton) -> Clip:
    """Return a jump of more than three metres: the root moves too far for keys of 8 bits."""
    jump = Poses("jump", skeleton, 16)
    height = 4 * jump.time * (1 - jump.time)
    jump.shift("root", FORWARD, 3.2 * jump.time).shift("root", UP, 0.55 * height)
    for letter, lead in (("l", 1.0), ("r", -1.0)):
        jump.turn(f"thigh_{letter}", RIGHT, 12 + (14 + 24 * lead) * height)
        jump.turn(f"calf_{letter}", RIGHT, -20 - 18 * height)
        _arm(jump, letter, forward=-25 + 70 * height, elbow=30, down=78 - 30 * height)
    jump.turn("spine", RIGHT, -10 + 5 * height)
    return jump.clip()


def _nod(skeleton: Skeleton) -> Clip:
    """Return an additive nod: only the head and the neck move."""
    nod = Poses("nod", skeleton, 8)
    return nod.turn("head", RIGHT, 12 * np.sin(nod.circle)).turn("neck", RIGHT, 6 * np.sin(nod.circle + 0.3)).clip()


def humanoid_motions() -> MotionSet:
    """Return walk, idle, wave, jump, and an additive nod."""
    skeleton = skeleton_of("humanoid", HUMANOID)
    clips = [created(skeleton) for created in (_walk, _idle, _wave, _jump, _nod)]
    tracks = {name: track for track, name in enumerate(skeleton.bones)}
    below = [name for name in tracks if name in ("root", "pelvis") or name.startswith(("thigh", "calf", "foot"))]
    partitions = [
        Partition(name, [PartitionBone(bone.encode(), tracks[bone]) for bone in bones])
        for name, bones in ((b"torso", [name for name in tracks if name not in below]), (b"legs", below))
    ]
    played = {
        "wave": _played(MotionFlag.STOP_AT_END, 0),
        "jump": _played(MotionFlag.STOP_AT_END | MotionFlag.NO_MIX, ALL_PARTITIONS, speed=1.25),
        "nod": _played(MotionFlag.FX, tracks["head"], power=0.75),
    }
    start = MotionSet(numbered([]), Parameters(4, partitions, []))
    usual = _played(0, ALL_PARTITIONS)
    definitions = [played.get(clip.name, usual) for clip in clips]
    return encode(clips, start, skeleton=skeleton, definitions=definitions)[0]


def _played(flags: int, bone_or_part: int, speed: float = 1.0, power: float = 1.0) -> Definition:
    return Definition(b"", int(flags), bone_or_part, 0, np.array([speed, power, 2.0, 2.0], "<f4"))


def weapon_motions(*, as_the_model: bool) -> MotionSet:
    """Return idle, shoot and reload; the tracks have the model's order of bones, or another."""
    skeleton = skeleton_of("weapon", WEAPON)
    idle = Poses("idle", skeleton, 1)
    shoot = Poses("shoot", skeleton, 6)
    recoil = np.sin(np.pi * shoot.time)
    shoot.shift("bolt", FORWARD, -0.05 * recoil).turn("trigger", RIGHT, 20 * recoil).turn(
        "wpn_body", RIGHT, 1.5 * recoil
    )
    reload = Poses("reload", skeleton, 40)
    away = np.sin(np.pi * reload.time) ** 2
    reload.shift("magazine", UP, -0.2 * away).turn("magazine", RIGHT, 40 * away)
    clips = [idle.clip(), shoot.clip(), reload.clip(Marker("Left", np.array([[0.2, 0.5], [0.8, 1.1]])))]
    order = [0, 1, 2, 3] if as_the_model else [2, 0, 3, 1]
    bones = [PartitionBone(skeleton.bones[bone].encode(), track) for track, bone in enumerate(order)]
    looping, once = _played(0, ALL_PARTITIONS), _played(MotionFlag.STOP_AT_END, ALL_PARTITIONS)
    start = MotionSet(numbered([]), Parameters(4, [Partition(b"default", bones)], []))
    definitions = [looping, once, once]
    return encode(clips, start, skeleton=skeleton, definitions=definitions, width=Width.NARROW)[0]
