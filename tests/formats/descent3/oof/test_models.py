"""Models in Blender's axes and back: what is where, and that only what was changed is changed."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from addon.core import polygons
from addon.core.errors import ReadError, WriteError
from addon.core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, PolygonMesh
from addon.core.report import Report, say
from addon.formats.descent3 import oof
from addon.formats.descent3.oof.document import AttachPoints, AttachUps, Batteries, GunPoints, TextureNames
from addon.formats.descent3.oof.mesh import TextureTable, center, face_sizes, radius, vertex_normals
from addon.formats.descent3.oof.model import NEW
from tests.formats.descent3.oof.annotated import CHUNKS, VERSIONS, body, model
from tests.formats.descent3.oof.engine import engine_models
from tests.real_files import corpus_files
from tests.work import lines_run


def read(data, name="test.oof"):
    return oof.read(data, name, Report())


def decoded(data=None):
    document = read(data if data is not None else model())
    return document, oof.decode(document, Report())


def written(model_, base):
    document, changes = oof.encode(model_, base)
    return oof.write(document), changes


# In Blender's axes ---------------------------------------------------------------------------------------------------


def test_a_model_is_in_blenders_axes():
    _, result = decoded()
    part, rotor = result.parts
    assert (part.name, part.parent, rotor.parent, rotor.properties) == ("body", -1, 0, "$rotate=2.")
    assert part.offset.tolist() == [0, 0, 1]
    assert part.mesh.positions.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 2, 1]]
    assert part.mesh.counts.tolist() == [3, 4]
    assert part.mesh.corners.tolist() == [0, 2, 1, 3, 0, 1, 2], "turned round, the first corner first"
    assert part.mesh.uvs[:3].tolist() == [[0, 1], [1, 0], [1, 1]]
    assert part.mesh.materials == [Material("Hull1", "Hull1"), Material("#102030", colour=(16, 32, 48))]
    assert part.mesh.material_index.tolist() == [0, 1]
    assert part.mesh.values("alpha", Domain.VERTEX).tolist() == [1, 1, 0.5, 1]
    assert part.mesh.values("face_normal", Domain.FACE).tolist() == [[0, 1, 0], [0, -1, 0]]
    assert part.mesh.normals[0].tolist() == [0, 0.5, 0]
    gun, ground, attach, special = result.points
    assert (gun.parent, gun.position.tolist(), gun.direction.tolist()) == (1, [0, 1, 0], [0, 1, 0])
    assert ground.direction.tolist() == [0, 0, -1]
    assert (attach.direction.tolist(), attach.up.tolist()) == ([0, 1, 0], [0, 0, 1])
    assert (special.name, special.parent, special.radius, special.position.tolist()) == ("$dummy", -1, 2, [1, 3, 2])
    assert [(battery.guns, battery.turrets) for battery in result.batteries] == [([0], [1])]
    assert rotor.spin_axis.tolist() == [1, 0, 0], "about -x in mirrored axes is about x the other way round"
    assert rotor.motion is None
    assert result.ticks == (0, 10)
    assert part.motion.displacements[-1].tolist() == [0, 4, 0]
    assert np.allclose(part.motion.displacements[:, 1], np.arange(11) * 0.4)


def test_faces_look_outwards_from_the_side_their_normals_say():
    _, result = decoded()
    mesh = result.parts[0].mesh
    outward = polygons.normals(mesh.positions, mesh.counts, mesh.corners)
    assert outward[0].tolist() == mesh.values("face_normal", Domain.FACE)[0].tolist()


@pytest.mark.parametrize("file", corpus_files("oof"))
def test_real_faces_look_as_their_stored_normals_do(file):
    _, result = decoded(file.read_bytes())
    for part in result.parts:
        computed = polygons.normals(part.mesh.positions, part.mesh.counts, part.mesh.corners)
        stored = part.mesh.values("face_normal", Domain.FACE)
        assert (np.einsum("fi,fi->f", computed, stored) > 0.999).all()


@pytest.mark.parametrize("file", corpus_files("oof/purplepyro_deathmodel.oof"))
def test_the_right_wing_is_on_the_right_seen_from_behind(file):
    """The ship flies along y: guns fire there. Looking after it with z up, the right is +x."""
    _, result = decoded(file.read_bytes())
    guns = [point.direction[1] for point in result.points if point.kind is oof.PointKind.GUN]
    assert sum(direction > 0.99 for direction in guns) == 5, "and one backwards"
    middles = {}
    for part in result.parts:
        folder, above = part.mesh.positions.mean(axis=0).astype(np.float64), part
        while above is not None:
            folder = folder + above.offset
            above = result.parts[above.parent] if above.parent >= 0 else None
        middles[part.name] = folder
    assert middles["right wing01"][0] > 1
    assert middles["left wing01"][0] < -1
    assert middles["canopy01"][2] > 0
    assert middles["glow left"][1] < -2, "engines are behind"


def test_a_ring_of_parents_is_refused():
    ring = bytearray(body(CHUNKS[b"SOBJ"], 2300))
    ring[4:8] = b"\1\0\0\0"
    with pytest.raises(ReadError, match="cycle") as refusal:
        oof.decode(read(model(replaced={b"SOBJ": bytes(ring)})), Report())
    assert refusal.value.remedy
    _, result = decoded()
    result.parts[0].parent = 1
    with pytest.raises(WriteError, match="cycle"):
        oof.encode(result)


# Nothing changed -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_unedited_is_the_very_file_in_every_version(version):
    document, result = decoded(model(version))
    again, changes = oof.encode(result, document)
    assert again is document
    assert changes.sentence() == "nothing changed"


@pytest.mark.parametrize("file", corpus_files("oof"))
def test_a_real_model_is_unedited_with_and_without_normals(file):
    document, result = decoded(file.read_bytes())
    assert oof.encode(result, document)[0] is document
    for part in result.parts:
        part.mesh.normals = None
        part.mesh.attributes = {}
    assert oof.encode(result, document)[0] is document


@pytest.mark.parametrize("name", engine_models())
def test_the_engines_models_are_unedited(vectors, name):
    document, path = decoded((vectors / "oof" / f"{name}.oof").read_bytes())
    assert oof.encode(path, document)[0] is document


def test_normals_as_blender_shows_them_are_the_old_ones():
    document, result = decoded()
    mesh = result.parts[0].mesh
    length = np.linalg.norm(mesh.normals, axis=1, keepdims=True)
    mesh.normals = np.where(np.isnan(length), (0, 0, 1), mesh.normals / length).astype(np.float32) + np.float32(5e-5)
    assert oof.encode(result, document, normal_step=1e-4)[0] is document
    again, changes = oof.encode(result, document)
    assert changes.lines == ["body: 3 normals"]
    assert again.sub_objects[0].normals[3].tobytes() == document.sub_objects[0].normals[3].tobytes()


# One thing changed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", corpus_files("oof/purplepyro.oof"))
def test_one_moved_vertex_changes_what_depends_on_it_and_nothing_else(file):
    """Judged by the generator's rules written out here, face by face."""
    document, result = decoded(file.read_bytes())
    part = result.parts[0]
    part.mesh.normals = None
    vertex = int(part.mesh.corners[40])
    part.mesh.positions = part.mesh.positions.copy()
    part.mesh.positions[vertex] += np.float32(0.125)
    again, changes = oof.encode(result, document)
    old, new = document.sub_objects[0], again.sub_objects[0]
    for before, after in zip(document.sections, again.sections, strict=True):
        if before.id != b"OHDR" and before.value is not old:
            assert before is after
    starts = np.concatenate([[0], np.cumsum(old.faces.counts)])
    corners = old.faces.corners["vertex"]
    mine = [n for n in range(len(old.faces)) if vertex in corners[starts[n] : starts[n + 1]]]
    others = [n for n in range(len(old.faces)) if n not in mine]
    assert new.faces.rows[others].tobytes() == old.faces.rows[others].tobytes()
    assert new.faces.corners.tobytes() == old.faces.corners.tobytes()
    for face in mine:
        points = new.positions[corners[starts[face] : starts[face + 1]]].astype(np.float64)
        total = sum(np.cross(a, b) for a, b in zip(points, np.roll(points, -1, axis=0), strict=True))
        assert np.allclose(new.faces.rows["normal"][face], total / np.linalg.norm(total), atol=1e-6)
    touched = {int(corner) for face in mine for corner in corners[starts[face] : starts[face + 1]]}
    same = [n for n in range(len(old.positions)) if n not in touched]
    assert new.normals[same].tobytes() == old.normals[same].tobytes()
    for entry in touched:
        total, number = np.zeros(3, np.float32), 0
        for face in range(len(old.faces)):
            for _ in range(int((corners[starts[face] : starts[face + 1]] == entry).sum())):
                total, number = total + new.faces.rows["normal"][face], number + 1
        assert new.normals[entry].tobytes() == (total / np.float32(number)).tobytes()
    assert new.radius == np.sqrt((new.positions.astype(np.float64) ** 2).sum(axis=1).max()).astype(np.float32)
    assert changes.lines[0] == "PlayerPyroTweaked: 1 position"
    assert len(changes.lines) >= 3


@pytest.mark.parametrize("file", corpus_files("oof"))
def test_the_generators_rules_give_real_numbers_again(file):
    document = read(file.read_bytes())
    for part in document.sub_objects:
        assert radius(part.positions) == part.radius
        assert np.abs(center(part.positions) - part.center).max() < 1e-6
        if file.stem == "shield":  # not the generator's: its mesh was subdivided by others
            continue
        faces = part.faces
        arguments = faces.rows["normal"], faces.counts, faces.corners["vertex"]
        assert vertex_normals(np.ones(len(part.positions), np.bool_), *arguments).tobytes() == part.normals.tobytes()
        assert np.abs(face_sizes(part.positions, *arguments) - faces.rows["sizes"]).max() < 1e-6


def test_a_moved_texture_coordinate_is_four_bytes():
    document, result = decoded()
    result.parts[0].mesh.uvs[1] = (1, 0.25)
    data, changes = written(result, document)
    assert changes.lines == ["body: 1 texture coordinate of faces"]
    old = model()
    where = [n for n in range(len(old)) if old[n] != data[n]]
    assert len(data) == len(old)
    at = old.index(bytes.fromhex("02000000 0000803f 00000000")) + 8
    assert set(where) <= set(range(at, at + 4))
    assert data[at : at + 4] == struct.pack("<f", -0.25)


def test_names_properties_offsets_parents_and_points_change_alone():
    document, result = decoded()
    rotor = result.parts[1]
    rotor.name, rotor.properties, rotor.parent = "blade", "$rotate=3", -1
    rotor.offset = np.array([1.5, 0, 2], np.float32)
    gun = result.points[0]
    gun.position = np.array([0, 2, 0], np.float32)
    data, changes = written(result, document)
    assert changes.lines == ["blade: parent", "blade: offset", "blade: name", "blade: properties", "gun points"]
    moved = body(CHUNKS[b"SOBJ "], 2300)
    moved = moved.replace(b"\1\0\0\0\0\0\0\0", b"\1\0\0\0\xff\xff\xff\xff", 1)
    moved = moved.replace(struct.pack("<3f", 1.5, 0, 0), struct.pack("<3f", 1.5, 2, 0), 1)
    moved = moved.replace(b"rotor", b"blade").replace(b"\x0b\0\0\0$rotate=2.", b"\x0a\0\0\0$rotate=3")
    guns = body(CHUNKS[b"GPNT"], 2300).replace(struct.pack("<3f", 0, 0, 1), struct.pack("<3f", 0, 0, 2), 1)
    assert data == model(replaced={b"SOBJ ": moved, b"GPNT": guns})


def test_an_unwritten_texture_is_added_and_a_colour_is_kept():
    document, result = decoded()
    mesh = result.parts[0].mesh
    mesh.materials = [Material("new", "Fresh"), Material("grey")]
    again, changes = oof.encode(result, document)
    assert changes.lines == ["body: 2 textures or colours of faces", "textures 2 -> 3"]
    assert again.last(TextureNames).names == [b"Hull1\0", b"Hull1\0", b"Fresh\0"]
    faces = again.sub_objects[0].faces
    assert faces.rows["texture"].tolist() == [2, -1]
    assert faces.rows["colour"].tolist() == [[0, 0, 0], [128, 128, 128]]
    mesh.materials = [Material("old", "HULL1"), Material("x", colour=(16, 32, 48))]
    again, changes = oof.encode(result, document)
    assert changes.lines == ["body: 1 texture or colours of faces"]
    assert again.sub_objects[0].faces.rows["texture"].tolist() == [0, -1]


def test_of_two_names_the_one_as_written_is_taken():
    names = b"\2\0\0\0" + b"".join(struct.pack("<i", 6) + name + b"\0" for name in (b"HULL2", b"Hull2"))
    document, result = decoded(model(replaced={b"TXTR": names}))
    mesh = result.parts[0].mesh
    mesh.materials = [Material("x", "Hull2"), Material("y", "hull2")]
    faces = oof.encode(result, document)[0].sub_objects[0].faces
    assert faces.rows["texture"].tolist() == [1, 0]


def test_thousands_of_textures_are_looked_up_without_going_through_them():
    names = [f"Texture{number}" for number in range(3000)]
    table = TextureTable([name.encode() + b"\0" for name in names])
    assert [table.index(name) for name in names] == list(range(3000))
    assert lines_run(lambda: table.index("texture2999")) < 20
    assert table.index("New") == table.index("NEW") == 3000
    assert table.stored[3000:] == [b"New\0"]


def test_a_face_taken_out_and_one_put_in():
    document, result = decoded()
    mesh = result.parts[0].mesh
    mesh.counts, mesh.corners = np.array([4, 3], np.int32), np.array([3, 0, 1, 2, 1, 2, 3], np.int32)
    mesh.uvs = np.concatenate([mesh.uvs[3:], np.zeros((3, 2), np.float32)])
    mesh.material_index = np.array([1, 0], np.int32)
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, np.array([1, -1], np.int32))
    mesh.normals = None
    again, changes = oof.encode(result, document)
    faces, old = again.sub_objects[0].faces, document.sub_objects[0].faces
    assert faces.rows[0].tobytes() == old.rows[1].tobytes()
    assert faces.corners["vertex"].tolist() == [3, 2, 1, 0, 1, 3, 2]
    assert faces.rows["texture"].tolist() == [-1, 0]
    assert changes.lines == ["body: 4 normals", "body: 1 face", "body: 1 texture or colours of faces"]
    changes.note(say("gun points"))
    assert changes.sentence() == "body: 4 normals, 1 face, 1 texture or colours of faces; gun points changed"
    mesh.counts, mesh.corners, mesh.uvs = mesh.counts[:1], mesh.corners[:4], mesh.uvs[:4]
    mesh.material_index = mesh.material_index[:1]
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, np.array([1], np.int32))
    assert "body: faces 2 -> 1" in oof.encode(result, document)[1].lines


def test_vertices_and_faces_find_their_rows_in_any_order():
    document, result = decoded()
    mesh = result.parts[0].mesh
    rotation = np.array([2, 0, 3, 1])
    index = np.argsort(rotation)
    mesh.positions, mesh.normals = mesh.positions[rotation], mesh.normals[rotation]
    for name in (FILE_VERTEX, "alpha"):
        mesh.attributes[name] = Attribute(Domain.VERTEX, mesh.values(name, Domain.VERTEX)[rotation])
    mesh.corners = index[np.concatenate([mesh.corners[3:], mesh.corners[:3]])].astype(np.int32)
    mesh.uvs = np.concatenate([mesh.uvs[3:], mesh.uvs[:3]])
    mesh.counts, mesh.material_index = mesh.counts[::-1], mesh.material_index[::-1]
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, np.array([1, 0], np.int32))
    assert oof.encode(result, document)[0] is document


def edited(data, *, reverse):
    """The bytes and changes of a file whose positions, texture coordinates and materials were edited in places.

    ``reverse``: the faces are in reversed order, so that their rows in the file have to be found.
    """
    document, result = decoded(data)
    for part in result.parts:
        mesh = part.mesh
        mesh.positions, mesh.uvs, mesh.normals = mesh.positions.copy(), mesh.uvs.copy(), None
        mesh.positions[::7] += np.float32(0.25)
        mesh.uvs[::11] += np.float32(0.5)
        mesh.material_index[::13] = 0
        if reverse:
            order = np.arange(len(mesh.counts))[::-1]
            corners = polygons.corners_of(mesh.counts, order)
            mesh.corners, mesh.uvs, mesh.counts = mesh.corners[corners], mesh.uvs[corners], mesh.counts[order]
            mesh.material_index = mesh.material_index[order]
            for name, attribute in mesh.attributes.items():
                if attribute.domain is Domain.FACE:
                    mesh.attributes[name] = Attribute(Domain.FACE, attribute.values[order])
    again, changes = oof.encode(result, document)
    return oof.write(again), changes.lines


@pytest.mark.parametrize("file", [None, *corpus_files("oof")], ids=lambda file: file.stem if file else "annotated")
def test_edits_are_the_same_whether_or_not_rows_have_to_be_found(file):
    data = file.read_bytes() if file else model()
    assert edited(data, reverse=True) == edited(data, reverse=False)
    assert edited(data, reverse=False)[0] != data


def test_a_vertex_taken_out_leaves_the_others_bits():
    document, result = decoded()
    mesh = result.parts[0].mesh
    mesh.positions, mesh.normals = mesh.positions[:3], None
    mesh.counts, mesh.corners, mesh.uvs = mesh.counts[:1], mesh.corners[:3], mesh.uvs[:3]
    mesh.material_index = mesh.material_index[:1]
    mesh.attributes = {
        FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(3, dtype=np.int32)),
        FILE_FACE: Attribute(Domain.FACE, np.array([0], np.int32)),
    }
    again, changes = oof.encode(result, document)
    part, old = again.sub_objects[0], document.sub_objects[0]
    assert part.positions.tobytes() == old.positions[:3].tobytes()
    assert part.alphas.tolist() == [1, 1, 0.5]
    assert part.faces.rows[0].tobytes() == old.faces.rows[0].tobytes()
    assert part.normals.tolist() == [[0, 0, 1]] * 3, "the mean of the one face that is left"
    assert changes.lines[:2] == ["body: vertices 4 -> 3", "body: faces 2 -> 1"]


def broken_faces():
    """The model with a face of two corners and one that names a vertex twice, between its own."""
    text = body(CHUNKS[b"SOBJ"], 2300)
    at = text.index(b"\2\0\0\0" + struct.pack("<3f", 0, 0, 1))
    normal = struct.pack("<3f", 0, 1, 0)
    line = normal + struct.pack("<ii3B", 2, 0, 1, 2, 3) + struct.pack("<iff", 0, 0, 0) * 2 + bytes(8)
    twice = normal + struct.pack("<ii3B", 3, 0, 1, 2, 3)
    twice += b"".join(struct.pack("<iff", vertex, 0, 0) for vertex in (3, 1, 3)) + bytes(8)
    return model(replaced={b"SOBJ": text[:at] + b"\4\0\0\0" + line + text[at + 4 :] + twice})


def test_faces_that_blender_cannot_hold_come_back():
    document = read(broken_faces())
    report = Report()
    result = oof.decode(document, report)
    assert result.parts[0].mesh.values(FILE_FACE, Domain.FACE).tolist() == [1, 2]
    assert any("2 faces cannot be shown in Blender" in line for line in report.lines())
    assert oof.encode(result, document)[0] is document
    mesh = result.parts[0].mesh
    mesh.positions = mesh.positions[:3]
    for name in (FILE_VERTEX, "alpha"):
        mesh.attributes[name] = Attribute(Domain.VERTEX, mesh.values(name, Domain.VERTEX)[:3])
    mesh.counts, mesh.corners, mesh.uvs, mesh.normals = mesh.counts[:1], mesh.corners[:3], mesh.uvs[:3], None
    mesh.material_index = mesh.material_index[:1]
    mesh.attributes[FILE_FACE] = Attribute(Domain.FACE, np.array([1], np.int32))
    again, changes = oof.encode(result, document)
    assert again.sub_objects[0].faces.counts.tolist() == [2, 3]
    assert changes.left_out == ["body: faces that Blender could not show, whose vertices were removed: 1"]


def test_a_part_taken_out_renumbers_what_is_left():
    document, result = decoded()
    del result.parts[0]
    result.parts[0].parent, result.points = -1, []
    result.batteries[0].turrets, result.batteries[0].guns = [0], []
    again, _ = oof.encode(result, document)
    (part,) = again.sub_objects
    assert (part.index, part.parent, part.label) == (0, -1, "rotor")
    assert again.header.sub_objects == 1
    assert again.last(GunPoints) is None
    assert again.last(AttachPoints) is None
    assert again.last(AttachUps) is None
    assert again.last(Batteries).batteries[0].turrets.tolist() == [0]
    assert len(again.last(oof.document.RotationTracks).keys) == 1
    report = Report()
    oof.read(oof.write(again), "again.oof", report)
    assert not report.warnings


def test_a_part_put_in_stands_behind_the_others():
    document, result = decoded()
    mesh = PolygonMesh("box", np.eye(3, dtype=np.float32), np.array([3], np.int32), np.arange(3, dtype=np.int32))
    result.parts.append(oof.Part("box", mesh, parent=1))
    again, changes = oof.encode(result, document)
    assert [part.label for part in again.sub_objects] == ["body", "rotor", "box"]
    part = again.sub_objects[2]
    assert (part.index, part.parent, part.movement.tolist()) == (2, 1, [1, 2])
    assert again.sub_objects[0] is document.sub_objects[0]
    assert len(again.last(oof.document.RotationTracks).keys) == 3
    assert "box: a new sub-object" in changes.lines
    assert np.allclose(part.faces.rows["normal"][0], np.ones(3) / np.sqrt(3))
    assert part.faces.corners["vertex"].tolist() == [0, 2, 1]


def test_a_copied_part_is_a_new_one():
    document, result = decoded()
    result.parts.append(replace(result.parts[0], name="copy"))
    again, _ = oof.encode(result, document)
    assert again.sub_objects[0] is document.sub_objects[0]
    assert again.sub_objects[2].label == "copy"
    assert again.sub_objects[2].positions.tobytes() == again.sub_objects[0].positions.tobytes()


def test_batteries_special_points_and_ups_change_alone():
    document, result = decoded()
    result.batteries.append(oof.WeaponBattery([0], []))
    result.points[2].up = np.array([1, 0, 0], np.float32)
    result.points[3].radius = 3.0
    data, changes = written(result, document)
    assert changes.lines == ["up vectors", "special points", "batteries"]
    batteries = body(CHUNKS[b"WBAT"], 2300)
    ups, special = body(CHUNKS[b"NATH"], 2300), body(CHUNKS[b"SPCL"], 2300)
    assert data == model(
        replaced={
            b"WBAT": b"\2" + batteries[1:] + struct.pack("<iii", 1, 0, 0),
            b"NATH": ups[:-12] + struct.pack("<3f", 1, 0, 0),
            b"SPCL": special[:-4] + struct.pack("<f", 3),
        }
    )


def test_parents_that_no_sub_object_is_stay_until_they_are_edited():
    gun, ups = body(CHUNKS[b"GPNT"], 2300)[4:], bytearray(body(CHUNKS[b"NATH"], 2300))
    ups[4] = 9
    guns = b"\2\0\0\0" + b"\x09" + gun[1:] + b"\x08" + gun[1:]
    document, result = decoded(model(replaced={b"GPNT": guns, b"NATH": bytes(ups)}))
    first, second, _, attach, _ = result.points
    assert (first.parent, second.parent) == (-1, -1)
    first.position, attach.up = np.array([0, 2, 0], np.float32), np.array([1, 0, 0], np.float32)
    result.points.insert(1, replace(first, source=NEW))
    again, _ = oof.encode(result, document)
    assert again.last(GunPoints).rows["parent"].tolist() == [9, -1, 8]
    assert again.last(AttachUps).rows["parent"].tolist() == [9]
    first.parent, second.parent = 1, 0
    assert oof.encode(result, document)[0].last(GunPoints).rows["parent"].tolist() == [1, -1, 0]


def test_attach_points_without_an_up_vector_get_one_where_others_have_one():
    document, result = decoded()
    attach = result.points[2]
    result.points.insert(3, replace(attach, up=None, source=NEW))
    again, _ = oof.encode(result, document)
    rows = again.last(AttachUps).rows
    assert len(rows) == len(again.last(AttachPoints).rows) == 2
    assert abs(float(np.dot(rows["direction"][1], again.last(AttachPoints).rows["direction"][1]))) < 1e-6
    assert np.linalg.norm(rows["direction"][1]) == pytest.approx(1)


def test_attach_points_that_lose_their_up_vectors_lose_them_in_the_file():
    document, result = decoded()
    result.points[2].up = None
    data, changes = written(result, document)
    assert changes.lines == ["up vectors"]
    assert data == model(without=[b"NATH"])


def test_up_vectors_stay_where_the_attach_points_cannot_be_read():
    document, result = decoded(model(replaced={b"ATCH": b"\2\0\0\0"}))
    assert [point.kind for point in result.points if point.up is not None] == []
    assert oof.encode(result, document)[0] is document


# From nothing --------------------------------------------------------------------------------------------------------


def test_a_model_from_nothing_is_of_the_newest_version_in_the_generators_order():
    _, result = decoded()
    for part in result.parts:
        part.source = NEW
        part.mesh.attributes = {}
        part.mesh.normals = None
    for point in result.points:
        point.source = NEW
    document, _ = oof.encode(result)
    assert document.version == 2300
    assert [section.id.decode() for section in document.sections] == (
        ["TXTR", "OHDR", "SOBJ", "SOBJ", "SPCL", "GPNT", "GRND", "ATCH", "NATH", "WBAT", "RANI", "PANI"]
    )
    report = Report()
    again = oof.read(oof.write(document), "test.oof", report)
    assert not report
    body_ = again.sub_objects[0]
    assert (body_.unused.tolist(), body_.movement.tolist()) == ([-1, -1], [-1, -1])
    assert body_.radius == np.float32(np.sqrt(5))
    assert body_.center.tolist() == [0.5, 0.5, 1]
    assert again.header.radius == np.float32(np.sqrt(4 + 4))
    assert again.header.box.tolist() == [[0, 1, 0], [1, 2, 2]]
    assert all(name.endswith(b"\0") for name in (body_.name, body_.properties))
    spin = again.last(oof.document.RotationTracks)
    assert spin.keys[1]["angle"].tolist() == [0, 65536]
    assert spin.keys[1]["axis"].tolist() == [[-1, 0, 0]] * 2
    assert spin.ranges.tolist() == [[0, 10], [0, 10]]
    actual = oof.decode(again, Report())
    assert actual.parts[0].mesh.positions.tolist() == result.parts[0].mesh.positions.tolist()
    assert actual.parts[0].mesh.corners.tolist() == result.parts[0].mesh.corners.tolist()


@pytest.mark.parametrize("name", engine_models())
def test_older_versions_become_the_newest(vectors, name):
    document = read((vectors / "oof" / f"{name}.oof").read_bytes(), f"{name[:20]}.oof")
    newest = oof.CONVERSIONS["2300"](document, Report())
    again = oof.read(oof.write(newest), "a.oof", Report())
    assert again.version == 2300
    assert len(again.sub_objects) == len(document.sub_objects)
    before, after = oof.decode(document, Report()), oof.decode(again, Report())
    for part, other in zip(before.parts, after.parts, strict=True):
        assert part.mesh.positions.tobytes() == other.mesh.positions.tobytes()
        if part.motion is not None and other.motion is not None and part.spin_axis is None:
            difference = np.abs(np.einsum("ti,ti->t", part.motion.rotations, other.motion.rotations))
            assert np.degrees(2 * np.arccos(np.minimum(difference, 1))).max() < 0.05


@pytest.mark.parametrize("version", ["2200", "2100"])
@pytest.mark.parametrize("name", engine_models())
def test_older_versions_hold_all_but_what_is_warned_of(vectors, name, version):
    document = read((vectors / "oof" / f"{name}.oof").read_bytes(), f"{name[:20]}.oof")
    report = Report()
    again = oof.read(oof.write(oof.CONVERSIONS[version](document, report)), "a.oof", Report())
    assert str(again.version) == version
    before, after = oof.decode(document, Report()), oof.decode(again, Report())
    for part, other in zip(before.parts, after.parts, strict=True):
        assert part.mesh.positions.tobytes() == other.mesh.positions.tobytes()
        assert part.mesh.corners.tobytes() == other.mesh.corners.tobytes()
    opaque = all(part.alphas is None or (part.alphas == 1).all() for part in document.sub_objects)
    assert opaque == (not any("its alpha" in line or "their alpha" in line for line in report.warnings))
    lost = [part for part, other in zip(before.parts, after.parts, strict=True) if part.motion and not other.motion]
    assert bool(lost) <= any("no times of keys" in line for line in report.warnings)
    assert [point.position.tolist() for point in before.points] == [point.position.tolist() for point in after.points]


def test_a_part_without_faces_becomes_the_newest_version_too(samples):
    document = read((samples / "descent3" / "ship.oof").read_bytes(), "ship.oof")
    document.version = 2000
    document.sub_objects[5].faces = oof.document.Faces.none()
    newest = oof.CONVERSIONS["2300"](document, Report())
    assert [len(part.faces) for part in newest.sub_objects] == [6, 6, 6, 1, 6, 0]


def test_the_box_of_a_new_model_lies_where_its_only_part_does():
    """A root's offset counts once, also where the root is the last of the parts."""
    _, obj = decoded()
    part = obj.parts[0]
    document, _ = oof.encode(oof.Model(obj.name, [part]))
    alone = document.sub_objects[0]
    assert alone.offset.tolist() == [0, 1, 0]
    assert document.header.box.tolist() == [
        (alone.positions.min(axis=0) + alone.offset).tolist(),
        (alone.positions.max(axis=0) + alone.offset).tolist(),
    ]


def test_an_attach_point_without_a_direction_gets_an_up_vector_of_length_one():
    document, result = decoded()
    nowhere = replace(result.points[2], up=None, direction=np.zeros(3, np.float32), source=NEW)
    result.points.insert(3, nowhere)
    again, _ = oof.encode(result, document)
    assert again.last(AttachUps).rows["direction"][1].tolist() == [0, 1, 0], "Blender's z is the game's y"
