"""Bones of the samples and their rest pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from addon.core import rotation, space
from addon.core.model import Skeleton

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bone:
    """A bone of a sample in X-Ray's axes (x right, y up, z forward), metres and degrees.

    ``joint`` and ``end`` in model space; ``rotation``: rest rotation in the parent's space (``setXYZi``);
    ``thickness``: half the width of its box, 0 for no box; ``links``: number of bones that its vertices follow.
    """

    name: str
    parent: str
    joint: tuple[float, float, float]
    end: tuple[float, float, float]
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    thickness: float = 0.0
    links: int = 1


def _side(letter: str, sign: float) -> list[Bone]:
    """Return an arm and a leg; the left ones are at negative x."""
    arm = [
        ("clavicle", "chest", 0.04, 0.18, (0.0, 0.0, 90.0 * sign), 0.0, 1),
        ("upperarm", "clavicle", 0.18, 0.45, (0.0, 11.0 * sign, 0.0), 0.05, 2),
        ("forearm", "upperarm", 0.45, 0.70, (-7.0, 0.0, 3.0 * sign), 0.04, 2),
        ("hand", "forearm", 0.70, 0.86, (90.0, 0.0, 0.0), 0.03, 1),
    ]
    leg = [
        ("thigh", "pelvis", 0.95, 0.52, (3.0, 0.0, 180.0), 0.07, 3),
        ("calf", "thigh", 0.52, 0.10, (-5.0, 2.0 * sign, 0.0), 0.05, 2),
        ("foot", "calf", 0.10, 0.02, (62.0, 0.0, 0.0), 0.05, 1),
    ]
    result = [
        Bone(
            f"{name}_{letter}",
            parent if parent == "chest" else f"{parent}_{letter}",
            (sign * near, 1.42, 0.0),
            (sign * far, 1.42, 0.0),
            own_rotation,
            thick,
            links,
        )
        for name, parent, near, far, own_rotation, thick, links in arm
    ]
    for name, parent, high, low, quaternion, thick, links in leg:
        forward = 0.12 if name == "foot" else 0.0
        full = parent if parent == "pelvis" else f"{parent}_{letter}"
        result.append(
            Bone(
                f"{name}_{letter}", full, (sign * 0.1, high, 0.0), (sign * 0.1, low, forward), quaternion, thick, links
            )
        )
    return result


HUMANOID = [
    Bone("root", "", (0.0, 0.0, 0.0), (0.0, 0.1, 0.0)),
    Bone("pelvis", "root", (0.0, 0.98, 0.0), (0.0, 1.08, 0.0), (0.0, 90.0, 0.0), 0.12, 4),
    *_side("l", -1.0)[4:],
    *_side("r", 1.0)[4:],
    Bone("spine", "pelvis", (0.0, 1.10, 0.0), (0.0, 1.26, 0.0), (4.0, -90.0, 0.0), 0.10, 3),
    Bone("chest", "spine", (0.0, 1.26, 0.0), (0.0, 1.48, 0.0), (-4.0, 0.0, 0.0), 0.13, 3),
    Bone("neck", "chest", (0.0, 1.48, 0.0), (0.0, 1.56, 0.02), (10.0, 0.0, 0.0)),
    Bone("head", "neck", (0.0, 1.56, 0.02), (0.0, 1.78, 0.02), (-10.0, 0.0, 0.0), 0.09, 1),
    *_side("l", -1.0)[:4],
    *_side("r", 1.0)[:4],
]

WEAPON = [
    Bone("wpn_body", "", (0.0, 0.0, 0.0), (0.0, 0.0, 0.5), (0.0, 0.0, 0.0), 0.03),
    Bone("magazine", "wpn_body", (0.0, -0.03, 0.15), (0.0, -0.15, 0.15), (15.0, 0.0, 0.0), 0.02),
    Bone("bolt", "wpn_body", (0.02, 0.03, 0.2), (0.02, 0.03, 0.28), (0.0, 0.0, 90.0), 0.01),
    Bone("trigger", "wpn_body", (0.0, -0.03, 0.05), (0.0, -0.06, 0.05), (0.0, 0.0, 0.0), 0.005, 2),
]


def _engine_rotation(degrees: tuple[float, float, float]) -> Floats:
    """Return the rotation of ``setXYZi`` for column vectors: Ry(y)·Rx(x)·Rz(z)."""
    x, y, z = np.radians(degrees)
    quaternion = rotation.multiply(rotation.about_axis(1, y), rotation.about_axis(0, x))
    return rotation.matrices(rotation.multiply(quaternion, rotation.about_axis(2, z)))


@dataclass(frozen=True)
class Rest:
    """The rest pose of a list of bones: model-space rotation of each, and the file's float32 angles and offsets."""

    globals: Floats
    angles: NDArray[np.float32]
    offsets: NDArray[np.float32]
    parents: list[int]


def rest_of(bones: list[Bone]) -> Rest:
    """Compute the rest pose from the joints and rotations of the bones."""
    order = {bone.name: position for position, bone in enumerate(bones)}
    parents = [order.get(bone.parent, -1) for bone in bones]
    frames = np.zeros((len(bones), 3, 3))
    offsets = np.zeros((len(bones), 3))
    for index, bone in enumerate(bones):
        parent = parents[index]
        above = frames[parent] if parent >= 0 else np.eye(3)
        origin = np.array(bones[parent].joint) if parent >= 0 else np.zeros(3)
        frames[index] = above @ _engine_rotation(bone.rotation)
        # Rounded to 0.01 mm, because the last bit of sines differs between machines.
        offsets[index] = np.round(above.T @ (np.array(bone.joint) - origin), 5) + 0.0
    return Rest(frames, np.radians([bone.rotation for bone in bones]).astype("<f4"), offsets.astype("<f4"), parents)


def skeleton_of(name: str, bones: list[Bone]) -> Skeleton:
    """Return the bones as the extension's model."""
    rest = rest_of(bones)
    return Skeleton(
        name,
        [bone.name for bone in bones],
        np.array(rest.parents, np.int32),
        space.xray_bone_angles(rest.angles),
        space.xray_bone_translations(rest.offsets.astype(np.float64)),
        space.XRAY_ROOT_FRAME,
    )
