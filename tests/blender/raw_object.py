"""Models of the editor read with nothing of ours, from what is known of the format: what exports are judged by.

Follows the editors: chunks by id, corners by their vmrefs, weight maps by the third name of a bone, normals by faces
around a point. Packed files are not read.
"""

import struct
from collections import Counter, defaultdict

import numpy as np

FLAT = 0xFFFFFFFF


def chunks(data):
    """Chunk id -> body, the first of each id."""
    result, at = {}, 0
    while at < len(data):
        number, size = struct.unpack_from("<II", data, at)
        result.setdefault(number, data[at + 8 : at + 8 + size])
        at += 8 + size
    assert at == len(data), "the chunks do not end with the file"
    return result


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values if len(values) > 1 else values[0]

    def text(self):
        end = self.data.index(b"\0", self.at)
        self.at, start = end + 1, self.at
        return self.data[start:end].decode("cp1251", "replace")


def model(data):
    """(meshes, surfaces by name, bones by name) of a file."""
    top = chunks(data)
    assert 0x7777 in top, "packed, or no object"
    inside = chunks(top[0x7777])
    assert struct.unpack("<H", inside[0x900]) == (0x10,)
    bodies = chunks(inside[0x910])
    return [mesh(bodies[number]) for number in range(len(bodies))], surfaces(inside), bones(inside)


def surfaces(inside):
    """Name in lower case -> shader, texture, two-sided, and compiler shader and game material where they are told."""
    layout = next(number for number in (0x907, 0x906, 0x905) if number in inside)
    at, result = Cursor(inside[layout]), {}
    for _ in range(at.take("I")):
        name, shader = at.text(), at.text()
        if layout == 0x905:
            two_sided, vertices, coordinates = at.take("B2I")
            texture, more, _map = at.text(), None, at.text()
        else:
            compiler = at.text()
            more = (compiler, at.text()) if layout == 0x907 else None
            texture, _map = at.text(), at.text()
            flags, vertices, coordinates = at.take("3I")
            two_sided = flags & 1
        assert (vertices, coordinates) == (0x112, 1), "the editor stops here"
        result.setdefault(name.lower(), (shader, texture, two_sided, more))
    assert at.at == len(at.data)
    return result


def bones(inside):
    """Name in lower case -> its parent, its weight map, its bind matrix in the space of the object."""
    result = {}
    bodies = chunks(inside[0x921]) if 0x921 in inside else {}
    for number in range(len(bodies)):
        own = chunks(bodies[number])
        naming, position = Cursor(own[2]), Cursor(own[3])
        name, parent, weights = naming.text(), naming.text(), naming.text()
        offset, angles = position.take("3f"), list(position.take("3f"))
        if struct.unpack("<H", own[1])[0] < 2:
            angles[0], angles[1] = angles[1], angles[0]
        result[name.lower()] = parent.lower(), weights, local(offset, angles)
    placed = {}
    for name, (parent, weights, matrix) in result.items():
        above = parent
        while above:
            matrix = result[above][2] @ matrix
            above = result[above][0]
        placed[name] = parent, weights, matrix
    return placed


def local(offset, angles):
    """(4, 4) of columns: around Y, then X, then Z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = about_y @ about_x @ about_z, offset
    return result


class Mesh:
    """``faces``: a list of three corners each: point, position, uv, weights by map name. ``surface``: name by face."""


def mesh(data):
    own, result = chunks(data), Mesh()
    assert struct.unpack("<H", own[0x1000]) == (0x11,)
    result.name = Cursor(own[0x1001]).text()
    result.flags = own[0x1002][0]
    result.box = np.frombuffer(own[0x1004], "<f4").reshape(2, 3)
    (count,) = struct.unpack_from("<I", own[0x1005])
    result.points = np.frombuffer(own[0x1005], "<f4", 3 * count, 4).reshape(-1, 3)
    maps = vertex_maps(own)
    at = Cursor(own[0x1008])
    refs = [[at.take("2i") for _ in range(at.take("B"))] for _ in range(at.take("I"))]
    (count,) = struct.unpack_from("<I", own[0x1006])
    corners = np.frombuffer(own[0x1006], "<u4", 6 * count, 4).reshape(-1, 3, 2).tolist()
    result.faces = [[corner(result.points, maps, refs, *pair) for pair in face] for face in corners]
    result.groups = np.frombuffer(own[0x1013], "<u4").tolist() if 0x1013 in own else [FLAT] * len(result.faces)
    result.surface, at = [None] * len(result.faces), Cursor(own[0x1009])
    for _ in range(at.take("H")):
        name = at.text()
        for _ in range(at.take("I")):
            result.surface[at.take("i")] = name.lower()
    return result


def vertex_maps(own):
    """(name, type, values) of each map."""
    number = 0x1012 if 0x1012 in own else 0x1011
    at, result = Cursor(own[number]), []
    for _ in range(at.take("I")):
        name, dimension = at.text(), at.take("B")
        polygon = at.take("B") if number == 0x1012 else 0
        kind, count = at.take("B"), at.take("I")
        values = np.frombuffer(at.data, "<f4", dimension * count, at.at).reshape(-1, dimension)
        at.at += 4 * dimension * count + (4 * count * (1 + polygon) if number == 0x1012 else 0)
        result.append((name, kind, values))
    assert at.at == len(at.data)
    return result


def corner(points, maps, refs, point, ref):
    uv, weights = None, defaultdict(float)
    for number, entry in refs[ref]:
        name, kind, values = maps[number]
        if kind == 1:
            weights[name] += float(values[entry, 0])
        elif uv is None:
            uv = tuple(values[entry].tolist())
    return point, tuple(points[point].tolist()), uv, dict(weights)


def hard_edges(read):
    """The sides (pairs of points) between two faces that edge bits call hard."""
    result = set()
    for face, bits in zip(read.faces, read.groups, strict=True):
        for edge in range(3):
            if bits >> ((4 - edge) % 3 if bits & 8 else edge) & 1:
                result.add(frozenset((face[edge][0], face[(edge + 1) % 3][0])))
    return result


def soup(read, surfaces_, bones_, digits=5):
    """How often each triangle occurs: surface, and corners with the first one the least; weights by bone."""
    of_map = {weights: name for name, (_, weights, _) in bones_.items()}

    def written(entry):
        _, position, uv, weights = entry
        pulls = tuple(sorted((of_map[name], round(value, 4)) for name, value in weights.items() if value))
        return position, tuple(round(value, digits) + 0.0 for value in uv), pulls

    counter = Counter()
    for face, name in zip(read.faces, read.surface, strict=True):
        corners = [written(entry) for entry in face]
        least = corners.index(min(corners))
        counter[surfaces_[name][:3], tuple(corners[least:] + corners[:least])] += 1
    return counter
