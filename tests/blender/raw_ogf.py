"""Real models read with nothing of ours: what the importer is judged by."""

import struct

import numpy as np

FRAME = [("p", "<f4", 3), ("n", "<f4", 3), ("t", "<f4", 3), ("b", "<f4", 3)]
LAYOUTS = {
    0x112: [("p", "<f4", 3), ("n", "<f4", 3), ("uv", "<f4", 2)],
    1: [*FRAME, ("uv", "<f4", 2), ("bone", "<u4")],
    2: [("b0", "<u2"), ("b1", "<u2"), *FRAME, ("w", "<f4"), ("uv", "<f4", 2)],
    3: [("b0", "<u2"), ("b1", "<u2"), ("b2", "<u2"), *FRAME, ("w", "<f4", 2), ("uv", "<f4", 2)],
    4: [("b0", "<u2"), ("b1", "<u2"), ("b2", "<u2"), ("b3", "<u2"), *FRAME, ("w", "<f4", 3), ("uv", "<f4", 2)],
}
LAYOUTS |= {0x12071980: LAYOUTS[1], 0x240E3300: LAYOUTS[2]}


def chunks(data):
    """Chunk id -> (offset of its body, body); bit 31 ignored, sizes that run past the end cut."""
    result, at = {}, 0
    while at + 8 <= len(data):
        number, size = struct.unpack_from("<II", data, at)
        result.setdefault(number & 0x7FFFFFFF, (at + 8, data[at + 8 : at + 8 + size]))
        at += 8 + size
    return result


def children(data):
    """Bodies of the children, or the model itself where it has none; and where each begins in the file."""
    top = chunks(data)
    if 9 not in top:
        return [(0, data)]
    start, body = top[9]
    return [(start + at, child) for _, (at, child) in sorted(chunks(body).items())]


def vertices(child):
    """The vertex rows of a child as its format lays them out, and the format."""
    body = chunks(child)[3][1]
    number, count = struct.unpack_from("<II", body)
    return np.frombuffer(body, np.dtype(LAYOUTS[number]), count, 8), number


def triangles(child):
    """(triangles, 3) of the finest detail, as stored."""
    body = chunks(child)[4][1]
    corners = np.frombuffer(body, "<u2", struct.unpack_from("<I", body)[0], 4)
    if 6 in chunks(child):
        offset, count = struct.unpack_from("<IH", chunks(child)[6][1], 20)
        corners = corners[offset : offset + 3 * count]
    return corners.reshape(-1, 3)


def weights(row, number):
    """Bone -> weight of one vertex."""
    if number in (1, 0x12071980):
        return {int(row["bone"]): 1.0}
    if number in (2, 0x240E3300):
        shares = [1.0 - float(row["w"]), float(row["w"])]
    else:
        shares = [*map(float, row["w"])]
        shares.append(1.0 - sum(shares))
    total = {}
    for slot, share in enumerate(shares):
        bone = int(row[f"b{slot}"])
        total[bone] = total.get(bone, 0.0) + share
    return total


def bone_names(data):
    """(name, parent) of each bone, as bytes."""
    body = chunks(data)[13][1]
    at, result = 4, []
    for _ in range(struct.unpack_from("<I", body)[0]):
        name, parent, rest = body[at:].split(b"\0", 2)
        result.append((name, parent))
        at = len(body) - len(rest) + 60
    return result
