"""Models of Descent 3 in Blender: what tests of them share, and a reader of `.oof` that knows nothing of ours."""

import struct

import bpy
import numpy as np

from addon.core.report import Report
from addon.games.descent3 import model, model_export
from addon.games.descent3.hierarchy import Chosen


def imported(path, **options):
    report = Report()
    return model.import_model(bpy.context, path, model.ModelImportOptions(**options), report), report


def planned(chosen, **options):
    report = Report()
    chosen = chosen if isinstance(chosen, Chosen) else Chosen(chosen)
    return model_export.plan_export(bpy.context, chosen, model_export.ModelExportOptions(**options), report), report


def warnings(report):
    return " | ".join(report.warnings)


def reloaded(holder, tmp_path):
    """The holder, after the scene was saved and loaded again."""
    name, saved = holder.name, str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    bpy.ops.wm.open_mainfile(filepath=saved)
    return bpy.data.objects[name]


def drawn(name, vertices, faces, parent=None, location=(0, 0, 0)):
    """A mesh object of the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent, obj.location = parent, location
    return obj


SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]


def square(name="square", **where):
    return drawn(name, SQUARE, [(0, 1, 2, 3)], **where)


def evaluated_points(obj):
    """(vertices, 3) in the scene."""
    bpy.context.view_layer.update()
    return np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])


# Files ---------------------------------------------------------------------------------------------------------------


def chunks(data):
    """(id, body) of every chunk."""
    at, result = 8, []
    while at + 8 <= len(data):
        (size,) = struct.unpack_from("<i", data, at + 4)
        result.append((data[at : at + 4], data[at + 8 : at + 8 + size]))
        at += 8 + size
    return result


class Part:
    """A sub-object of a file of version 2100 or newer; faces as (normal, texture or colour, corners, sizes)."""

    def __init__(self, body, version=2300):
        self.index, self.parent = struct.unpack_from("<2i", body, 0)
        self.offset = struct.unpack_from("<3f", body, 36)
        self.radius, *_ = struct.unpack_from("<f", body, 48)
        self.center = struct.unpack_from("<3f", body, 60)
        at = 72
        texts = []
        for _ in range(2):
            (size,) = struct.unpack_from("<i", body, at)
            texts.append(body[at + 4 : at + 4 + size].split(b"\0")[0].decode())
            at += 4 + size
        self.name, self.properties = texts
        at += 8
        (free,) = struct.unpack_from("<i", body, at)
        at += 4 + 4 * free
        (count,) = struct.unpack_from("<i", body, at)
        each = 7 if version >= 2300 else 6
        numbers = np.frombuffer(body, "<f4", each * count, at + 4)
        self.positions = numbers[: 3 * count].reshape(-1, 3)
        self.normals = numbers[3 * count : 6 * count].reshape(-1, 3)
        self.alphas = numbers[6 * count :]
        at += 4 + 4 * each * count
        (count,) = struct.unpack_from("<i", body, at)
        at += 4
        self.faces = []
        for _ in range(count):
            *normal, corners, textured = struct.unpack_from("<3f2i", body, at)
            at += 20
            look = struct.unpack_from("<i", body, at)[0] if textured else tuple(body[at : at + 3])
            at += 4 if textured else 3
            rows = [struct.unpack_from("<i2f", body, at + 12 * number) for number in range(corners)]
            at += 12 * corners
            sizes = struct.unpack_from("<2f", body, at)
            at += 8
            self.faces.append((np.array(normal), look, rows, sizes))
        assert at == len(body)


def parts(data):
    """The sub-objects of a file."""
    (version,) = struct.unpack_from("<i", data, 4)
    return [Part(body, version) for identifier, body in chunks(data) if identifier == b"SOBJ"]


def points(data, identifier):
    """(parent, position, direction) of every point of a chunk."""
    body = dict(chunks(data)).get(identifier, struct.pack("<i", 0))
    (count,) = struct.unpack_from("<i", body, 0)
    rows = [struct.unpack_from("<i6f", body, 4 + 28 * number) for number in range(count)]
    return [(row[0], np.array(row[1:4]), np.array(row[4:])) for row in rows]


def batteries(data):
    """(guns, turrets) of every battery."""
    body = dict(chunks(data))[b"WBAT"]
    numbers = list(struct.unpack(f"<{len(body) // 4}i", body))
    result = []
    for _ in range(numbers.pop(0)):
        lists = []
        for _ in range(2):
            count = numbers.pop(0)
            lists.append([numbers.pop(0) for _ in range(count)])
        result.append(tuple(lists))
    return result


def textures(data):
    """The names of the table."""
    body = dict(chunks(data))[b"TXTR"]
    (count,), at, result = struct.unpack_from("<i", body, 0), 4, []
    for _ in range(count):
        (size,) = struct.unpack_from("<i", body, at)
        result.append(body[at + 4 : at + 4 + size].split(b"\0")[0].decode())
        at += 4 + size
    return result
