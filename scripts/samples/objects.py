"""The sample of the editor's models: the weapon with bones, as a file of the SDK."""

from __future__ import annotations

import numpy as np

from addon.core.model import VertexWeights
from addon.formats.xray import bones, skl
from addon.formats.xray import object as editor_model
from addon.formats.xray.chunks import Chunk, Section
from addon.formats.xray.envelopes import PACKED, StoredEnvelope
from addon.formats.xray.object.chunk_types import (
    DYNAMIC,
    ActorTransform,
    Authorship,
    LodName,
    ObjectFlags,
    Surface,
    Surfaces,
)
from addon.formats.xray.object.document import BONES, MESHES, MOTIONS, OBJECT, Meshes
from addon.formats.xray.object.encoding import Geometry, new_mesh
from addon.formats.xray.object.mesh_chunks import Version
from addon.formats.xray.ogf.chunk_types import IkBone, Joint, MotionReferences, Shape, UserData
from samples.bones import WEAPON, rest_of

_QUADS = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
"""Faces of a box. The bits of a corner's index are its x, y, z; counter-clockwise from outside in X-Ray's axes."""


def weapon_object() -> bytes:
    """Return a mesh with a box per bone, two surfaces, hard edges, a motion, references and a bone part."""
    numbered = [
        (0x900, Version(0x10)),
        (0x912, UserData(b"[sample]\r\nkind = weapon\r\n")),
        (0x925, LodName(b"")),
        (0x903, ObjectFlags(DYNAMIC)),
        (MESHES, Meshes([Section(Chunk(0, b""), new_mesh(b"weapon", _boxes()))])),
        (0x907, Surfaces([_surface(b"metal"), _surface(b"Sight", flags=1)])),
        (BONES, bones.new_bones([_bone(number) for number in range(len(WEAPON))])),
        (MOTIONS, skl.new_skls([_motion()])),
        (0x924, MotionReferences([b"samples\\weapon"])),
        (0x923, bones.Parts([bones.Part(b"default", [bone.name.encode() for bone in WEAPON])])),
        (0x920, ActorTransform(np.zeros((2, 3), np.float32))),
        (0x922, Authorship(b"Motionbridge", 1_600_000_000, b"Motionbridge", 1_600_000_060)),
    ]
    model = editor_model.Model([Section(Chunk(number, b""), value) for number, value in numbered])
    return editor_model.write(editor_model.Object([Section(Chunk(OBJECT, b""), model)]))


def _surface(name: bytes, flags: int = 0) -> Surface:
    return Surface(
        name, b"models\\model", b"samples\\" + name.lower(), b"Texture", flags, b"default", b"objects\\metal"
    )


def _boxes() -> Geometry:
    positions, corners, uvs = [], [], []
    for number, bone in enumerate(WEAPON):
        low = np.minimum(bone.joint, bone.end) - bone.thickness
        high = np.maximum(bone.joint, bone.end) + bone.thickness
        bits = np.arange(8)[:, None] >> np.arange(3) & 1
        positions.append(np.where(bits, high, low))
        quads = _QUADS[:, ::-1] + 8 * number
        corners.append(quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3))
        square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
        uvs.append(np.broadcast_to(square[[[0, 1, 2], [0, 2, 3]]], (6, 2, 3, 2)).reshape(-1, 3, 2))
    vertices, faces = 8 * len(WEAPON), 12 * len(WEAPON)
    owner = np.repeat(np.arange(len(WEAPON)), 8)
    shared = np.flatnonzero(np.array([WEAPON[bone].links for bone in owner]) == 2)
    weights = VertexWeights(
        np.concatenate([np.arange(vertices), shared]).astype(np.int32),
        np.concatenate([owner, np.zeros(len(shared), int)]).astype(np.int32),
        np.concatenate([np.where(np.isin(np.arange(vertices), shared), 0.75, 1), np.full(len(shared), 0.25)]).astype(
            "<f4"
        ),
    )
    return Geometry(
        np.round(np.concatenate(positions), 5).astype("<f4"),
        np.arange(vertices),
        np.concatenate(corners),
        np.concatenate(uvs).astype("<f4"),
        (np.arange(faces) >= faces - 12).astype(int),
        [b"metal", b"Sight"],
        # The diagonal of each square is smooth: the third edge of the first triangle, the first of the second.
        np.tile(np.array([3, 6], np.uint32), faces // 2),
        groups=[bone.name.encode() for bone in WEAPON],
        weights=weights,
    )


def _bone(number: int) -> bones.Bone:
    bone, rest = WEAPON[number], rest_of(WEAPON)
    shape = Shape(1, 0, np.zeros(15, "<f4"), np.zeros(4, "<f4"), np.zeros(8, "<f4"))
    joint = Joint(0, np.zeros((3, 4), "<f4"), np.float32(1), np.float32(1))
    entry = IkBone(
        b"objects\\metal", shape, joint, np.zeros(3, "<f4"), np.zeros(3, "<f4"), np.float32(10), np.zeros(3, "<f4")
    )
    created = bones.new_bone(bone.name, entry)
    name = bone.name.encode()
    head = bones.Bone.of(
        [
            (1, bones.Version(2)),
            (2, bones.Naming([name, bone.parent.encode(), name])),  # the editor writes the name twice
            (3, bones.Placement(rest.offsets[number], rest.angles[number], np.float32(0.1))),
        ]
    )
    return bones.Bone([*head.sections, *created.sections])


def _motion() -> skl.SkeletalMotion:
    rest = rest_of(WEAPON)
    tracks = []
    for number, bone in enumerate(WEAPON):
        x, y, z = rest.angles[number]
        values = [*rest.offsets[number], y, x, z]
        tracks.append(skl.BoneTrack(bone.name.encode(), 0, [_stepped(value, bone.name == "bolt") for value in values]))
    timing = np.array([1, 2, 2, 1], "<f4")
    return skl.SkeletalMotion(b"fire", 0, 2, np.float32(30), 6, 2, 0xFFFF, timing, tracks)


def _stepped(value: float, moving: bool) -> StoredEnvelope:
    keys = np.zeros(3 if moving else 1, PACKED)
    keys["value"], keys["shape"] = value, 4
    keys["time"] = np.arange(len(keys)) / np.float32(30)
    if moving:
        keys["value"][1] += np.float32(0.01)
    return StoredEnvelope(1, 1, keys)
