"""Poses of a model's vertices in the game, from bytes and written-out formulas, with nothing of ours.

Column vectors, X-Ray's axes (y up, z forward, left-handed), metres.
"""

import struct

import numpy as np

from tests.blender import raw_ogf

PHYSICS = 16
MOTIONS, PARAMETERS = 14, 15


def text(body, at):
    end = body.index(b"\0", at)
    return body[at:end], end + 1


def turned(x, y, z):
    """Ry(y) Rx(x) Rz(z), the way the game stores rest rotations."""
    (sx, sy, sz), (cx, cy, cz) = np.sin([x, y, z]), np.cos([x, y, z])
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_y @ about_x @ about_z


def rest(data):
    """Name -> (4, 4) rest matrix relative to the parent, in the model's order of bones."""
    body, at, result = raw_ogf.chunks(data)[PHYSICS][1], 0, {}
    for name, _ in raw_ogf.bone_names(data):
        at += 4
        _, at = text(body, at)
        at += 2 + 2 + 4 * (15 + 4 + 8)  # the shape
        at += 4 + 4 * 12 + 8 + 4 + 8 + 4  # joint, limits, spring and damping, flags, break force and torque, friction
        angles, offset = np.frombuffer(body, "<f4", 6, at).astype(float).reshape(2, 3)
        at += 24 + 16
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = turned(*angles), offset
        result[name] = matrix
    assert at == len(body)
    return result


def motions(data):
    """Name -> (bone -> (frames, 4, 4)) of an `.omf`, relative to the parents; and the largest step of translations."""
    top = raw_ogf.chunks(data)
    body, at = top[PARAMETERS][1], 4
    _, parts = struct.unpack_from("<HH", body)
    bones = {}
    for _ in range(parts):
        _, at = text(body, at)
        (count,) = struct.unpack_from("<H", body, at)
        at += 2
        for _ in range(count):
            name, at = text(body, at)
            (bones_track,) = struct.unpack_from("<I", body, at)
            bones[bones_track] = name
            at += 4
    nested = raw_ogf.chunks(top[MOTIONS][1])
    result, steps = {}, [0.0]
    for number in range(1, struct.unpack("<I", nested[0][1])[0] + 1):
        body = nested[number][1]
        name, at = text(body, 0)
        (frames,) = struct.unpack_from("<I", body, at)
        at += 4
        result[name] = {}
        for track in range(len(bones)):
            at, matrices, step = read_track(body, at, frames)
            result[name][bones[track]] = matrices
            steps.append(step)
        assert at == len(body)
    return result, max(steps)


def read_track(body, at, frames):
    flags = body[at]
    at += 1
    single = bool(flags & 2)
    at += 0 if single else 4
    count = 1 if single else frames
    quaternions = np.frombuffer(body, "<i2", 4 * count, at).reshape(-1, 4) / 32767.0
    at += 8 * count
    step = 0.0
    if flags & 1:
        kind, size = ("<i2", 6) if flags & 4 else ("i1", 3)
        keys = np.frombuffer(body, kind, 3 * frames, at + 4).reshape(-1, 3).astype(float)
        at += 4 + size * frames
        scale, start = np.frombuffer(body, "<f4", 6, at).astype(float).reshape(2, 3)
        at += 24
        positions, step = keys * scale + start, float(scale.max())
    else:
        positions = np.frombuffer(body, "<f4", 3, at).astype(float)[None]
        at += 12
    matrices = np.tile(np.eye(4), (frames, 1, 1))
    x, y, z, w = quaternions.T
    textbook = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    matrices[:, :3, :3] = textbook.transpose(2, 1, 0)  # the rotation that the game applies is the transposed one
    matrices[:, :3, 3] = positions
    return at, matrices, step


def whole(data, local):
    """Name -> matrices in the model's space, of those relative to the parents."""
    parents = dict(raw_ogf.bone_names(data))
    result = {}

    def of(name):
        if name not in result:
            result[name] = of(parents[name]) @ local[name] if parents[name] else local[name]
        return result[name]

    for name in parents:
        of(name)
    return result


def moved_vertices(data, local):
    """(vertices, 3) at rest and (vertices, frames, 3) moved by bones relative to their parents as ``local`` says."""
    names = [name for name, _ in raw_ogf.bone_names(data)]
    rests, poses = whole(data, rest(data)), whole(data, local)
    still, moved = [], []
    for _, child in raw_ogf.children(data):
        rows, number = raw_ogf.vertices(child)
        for row in rows:
            position = np.append(row["p"].astype(float), 1.0)
            shares = raw_ogf.weights(row, number)
            still.append(position[:3])
            moved.append(sum(
                share * (poses[names[bone]] @ np.linalg.inv(rests[names[bone]]) @ position)[:, :3]
                for bone, share in shares.items()
            ))  # fmt: skip
    return np.array(still), np.array(moved)
