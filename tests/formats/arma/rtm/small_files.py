"""Animations byte by byte, field by field: what the tests damage, compare and look for."""

import struct

IDENTITY = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
MOVED = (0, 0, -1, 0, 1, 0, 1, 0, 0, 0.25, 0.5, -0.75)  # a quarter turn about y, and a step


def field(name, garbage=b"\xcd"):
    return (name + b"\0").ljust(32, garbage)[:32]


def events(*pairs):
    block = b"RTM_MDAT" + struct.pack("<I", 0)  # the block's version
    block += struct.pack("<I", len(pairs))
    for phase, name, value in pairs:
        block += struct.pack("<f", phase)
        block += struct.pack("<B", len(name)) + name
        block += struct.pack("<B", len(value)) + value
    return block


def plain(bones=(b"Pelvis", b"Spine"), phases=(0.0, 1.0), *, matrices=None, mark=b"RTM_0101", step=(0.0, 0.0, -1.5)):
    data = mark
    data += struct.pack("<3f", *step) if mark == b"RTM_0101" else struct.pack("<f", step[2])
    data += struct.pack("<II", len(phases), len(bones))  # frames, bones
    data += b"".join(field(bone) for bone in bones)
    for frame, phase in enumerate(phases):
        data += struct.pack("<f", phase)
        for number, bone in enumerate(bones):
            data += field(bone, b"\xbb")  # what lay in memory differs from the list's
            data += struct.pack("<12f", *(matrices or [[IDENTITY, MOVED]] * len(phases))[frame][number])
    return data


TURN = (0, 11585, 0, 11585)  # x y z w: a quarter turn about y
REST = (0, 0, 0, 16384)


def transform(rotation=REST, translation=(0.0, 0.0, 0.0)):
    return struct.pack("<4h", *rotation) + struct.pack("<3e", *translation)


def array(version, count, data, packed=None):
    block = struct.pack("<I", count)
    if version == 5:
        block += b"\0" if packed is None else b"\2"
    return block + (data if packed is None else packed)


def binarised(version=5, bones=(b"pelvis", b"spine"), phases=(0.0, 1.0), *, frames=None, keys=(), turned=1):
    data = b"BMTR" + struct.pack("<I", version)
    data += struct.pack("<B", turned)
    data += struct.pack("<3f", 0.0, 0.0, -1.5)  # step
    data += struct.pack("<II", len(phases), 1)  # frames, preload
    data += struct.pack("<II", len(bones), len(bones))
    data += b"".join(bone + b"\0" for bone in bones)
    if version >= 4:
        data += struct.pack("<I", 0)  # meta names
        data += struct.pack("<I", len(keys))
        for kind, name, phase, value in keys:
            data += struct.pack("<i", kind) + name + b"\0" + struct.pack("<f", phase) + value + b"\0"
    data += array(version, len(phases), struct.pack(f"<{len(phases)}f", *phases))
    frame = transform() + transform(TURN, (0.25, 0.5, -0.75))
    for rows in frames or [frame] * len(phases):
        data += rows if isinstance(rows, bytearray) else array(version, len(bones), rows)
    return data
