"""`.dm`: bytes, meshes, texture coordinates that differ by corner, limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from addon.core.errors import ReadError, WriteError
from addon.core.model import FILE_VERTEX, Attribute, Domain, Material, Mesh
from addon.core.report import Report
from addon.formats.xray import dm
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import floats, hexed, words
from tests.real_files import corpus_files

SMALL = hexed("""
    64657461696c735c626c656e64 00       ; shader details\\blend
    6465745c6772617373 00               ; texture det\\grass
    05000000                            ; flags: does not wave, and a bit of unknown meaning
    0000003f 00004040                   ; scale 0.5 to 3
    04000000 06000000                   ; four vertices, six indices
    00000000 00000000 00000000  00000000 0000803f   ; 0 0 0, uv 0 1
    0000803f 00000000 00000000  0000803f 0000803f   ; 1 0 0, uv 1 1
    0000803f 00000040 00000000  0000803f 00000000   ; 1 2 0, uv 1 0
    00000000 00000040 00000000  00000000 00000000   ; 0 2 0, uv 0 0
    0000 0200 0100                      ; triangle 0 2 1
    0000 0300 0200                      ; triangle 0 3 2
""")
VERTICES = 13 + 1 + 9 + 1 + 4 + 8 + 8

read = reading(dm, "grass.dm")


def test_a_quad_is_known_to_the_last_byte():
    document, _ = read(SMALL)
    assert (document.shader, document.texture, document.flags) == (b"details\\blend", b"det\\grass", 5)
    assert document.properties == dm.Properties(waving=False, min_scale=0.5, max_scale=3.0)
    assert document.vertices["position"][2].tolist() == [1, 2, 0]
    assert document.vertices["uv"].tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]
    assert document.corners.tolist() == [0, 2, 1, 0, 3, 2]


def test_the_mesh_is_in_blenders_axes_with_v_upwards():
    mesh = dm.decode(read(SMALL)[0], Report())
    assert mesh.name == "grass"
    assert mesh.positions.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 2], [0, 0, 2]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.uvs.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert mesh.materials == [Material("grass", "det\\grass", "details\\blend")]


@pytest.mark.parametrize("path", corpus_files("dm"))
def test_a_real_file_comes_back_from_the_corners_of_its_mesh(path):
    """Blender has texture coordinates by corner: vertices are as many as before, in their order."""
    data = path.read_bytes()
    document, _ = read(data, path.name)
    mesh = dm.decode(document, Report())
    if len(np.unique(mesh.triangles)) == len(mesh.positions):
        by_corner = dm.with_corner_uvs(mesh, mesh.uvs[mesh.triangles])
        assert dm.write(dm.encode(by_corner, document)[0]) == data


def test_texture_coordinates_by_corner_split_no_more_than_they_must():
    mesh = dm.decode(read(SMALL)[0], Report())
    uvs = mesh.uvs[mesh.triangles]
    uvs[1, 1] = (0.5, 0.25)  # vertex 2 in the second triangle
    mesh.attributes["kept"] = Attribute(Domain.VERTEX, np.arange(4))
    split = dm.with_corner_uvs(mesh, uvs)
    assert split.triangles.tolist() == [[0, 1, 2], [0, 4, 3]]
    assert split.uvs.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.25]]
    assert split.positions[4].tolist() == [1, 0, 2]
    assert split.attributes["kept"].values.tolist() == [0, 1, 2, 3, 2]
    document, changes = dm.encode(split, read(SMALL)[0])
    assert dm.write(document)[VERTICES : VERTICES + 80] == SMALL[VERTICES : VERTICES + 80]
    assert dm.write(document)[VERTICES + 80 :] == floats(1, 2, 0, 0.5, 0.75) + b"\0\0\2\0\1\0\0\0\3\0\4\0"
    assert changes.lines == ["vertices 4 -> 5", "1 triangle redrawn"]


def test_a_vertex_without_faces_keeps_its_texture_coordinates():
    mesh = dm.decode(read(SMALL)[0], Report())
    mesh.triangles = mesh.triangles[:1]
    split = dm.with_corner_uvs(mesh, mesh.uvs[mesh.triangles])
    assert split.uvs.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_a_moved_vertex_changes_its_bytes_alone():
    document, _ = read(SMALL)
    mesh = dm.decode(document, Report())
    mesh.positions = mesh.positions.copy()
    mesh.positions[3, 2] = 5
    mesh.uvs[3, 1] = 0.75
    at = VERTICES + 60
    again, changes = dm.encode(mesh, document)
    assert dm.write(again) == SMALL[:at] + floats(0, 5, 0, 0, 0.25) + SMALL[at + 20 :]
    assert changes.lines == ["1 position", "1 texture coordinate"]


@given(arrays.arrays(np.uint32, (4, 5), elements=st.integers(0, 2**32 - 1)))
def test_any_bits_go_through_a_mesh(numbers):
    data = SMALL[:VERTICES] + numbers.astype("<u4").tobytes() + SMALL[VERTICES + 80 :]
    document, _ = read(data)
    mesh = dm.decode(document, Report())
    assert dm.write(dm.encode(mesh, document)[0]) == data


def test_a_vertex_that_says_where_it_are_from_keeps_its_bits():
    v = np.float32(0.1)  # 1 - (1 - v) is another float
    assert np.float32(1) - (np.float32(1) - v) != v
    data = SMALL[: VERTICES + 76] + floats(v) + SMALL[VERTICES + 80 :]
    document, _ = read(data)
    mesh = dm.decode(document, Report())
    mesh.positions, mesh.uvs = mesh.positions[1:], mesh.uvs[1:]
    mesh.triangles = np.array([[0, 1, 2]], np.int32)
    mesh.material_index = None
    mesh.attributes[FILE_VERTEX] = Attribute(Domain.VERTEX, np.array([1, 2, 3], np.int32))
    again, _ = dm.encode(mesh, document)
    assert again.vertices.tobytes() == data[VERTICES + 20 : VERTICES + 80]


def test_material_and_properties_change_alone():
    document, _ = read(SMALL)
    mesh = dm.decode(document, Report())
    mesh.materials = [Material("any", "det\\трава", "details\\blend")]
    again, changes = dm.encode(mesh, document, dm.Properties(waving=True, min_scale=0.5, max_scale=1.5))
    wanted = SMALL.replace(b"det\\grass", "det\\трава".encode("cp1251")).replace(words(5), words(4))
    assert dm.write(again) == wanted.replace(floats(0.5, 3), floats(0.5, 1.5))
    assert changes.lines == ["texture or shader", "waving or scale"]


def test_a_mesh_from_nothing():
    mesh = Mesh("drawn", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32))
    document, _ = dm.encode(mesh)
    head = b"details\\blend\0build_details\0" + words(0) + floats(0.5, 2) + words(3, 3)
    assert dm.write(document).startswith(head + floats(1, 0, 0, 0, 1, 0, 0, 1, 0, 1))
    assert dm.write(document).endswith(b"\0\0\2\0\1\0")


def mesh_with(vertices=3, faces=((0, 1, 2),), **more):
    return Mesh("m", np.zeros((vertices, 3), np.float32), np.array(faces, np.int32).reshape(-1, 3), **more)


def test_copies_of_a_material_are_one_to_the_game():
    grass = Material("grass", "details\\grass", "details\\set")
    faces, index = ((0, 1, 2),) * 2, np.array([0, 1], np.int32)
    copied = mesh_with(faces=faces, material_index=index, materials=[grass, replace(grass, name="grass.001")])
    assert dm.encode(copied)[0].texture == b"details\\grass"
    for other in (replace(grass, texture="details\\stone"), replace(grass, shader="details\\other")):
        mixed = mesh_with(faces=faces, material_index=index, materials=[grass, other])
        assert any("it has several materials" in problem.sentence for problem in dm.find_problems(mixed))


@pytest.mark.parametrize(
    ("mesh", "problem"),
    [
        (mesh_with(faces=()), "it has no faces"),
        (mesh_with(faces=((0, 1, 3),)), "1 of 1 face points to a vertex"),
        (mesh_with(0x10000), "it has 65536 vertices, the game supports 65535"),
        (mesh_with(faces=((0, 1, 2),) * 2, material_index=np.array([0, 1], np.int32)), "it has several materials"),
    ],
)
def test_what_the_game_cannot_take_is_refused_and_found(mesh, problem):
    with pytest.raises(WriteError, match=problem):
        dm.encode(mesh)
    assert any(finding.fatal and problem in finding.sentence for finding in dm.find_problems(mesh))


def test_as_many_vertices_as_indices_can_name_are_written():
    mesh = mesh_with(0xFFFF, ((0, 1, 0xFFFE),))
    assert dm.write(dm.encode(mesh)[0]).endswith(b"\0\0\xfe\xff\1\0")


def test_a_new_number_that_is_not_one_is_refused():
    mesh = mesh_with(uvs=np.full((3, 2), np.nan, np.float32))
    with pytest.raises(WriteError, match="NaN or infinite values"):
        dm.encode(mesh)


def test_broken_triangles_are_reported_and_kept():
    data = SMALL[:-12] + bytes.fromhex("000002000100 000009000200") + b"tail"
    document, report = read(data)
    assert report.lines() == [
        "4 extra bytes after the model; kept",
        "triangles refer to missing vertices",
    ]
    mesh = dm.decode(document, report)
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    assert dm.write(dm.encode(mesh, document)[0]) == data
    assert dm.raw_size(document) == 4
    odd = SMALL[: VERTICES - 4] + words(5) + SMALL[VERTICES:-2]
    document, report = read(odd)
    assert report.lines() == ["5 corners do not make whole triangles"]
    assert dm.write(dm.encode(dm.decode(document, report), document)[0]) == odd


@pytest.mark.parametrize(
    ("data", "words_"),
    [
        (SMALL[: VERTICES - 8] + b"\xff" * 8 + SMALL[VERTICES:], "4294967295 vertices: 85899345900 bytes are needed"),
        (b"no end", "the shader's name has no end"),
    ],
)
def test_what_is_no_dm_is_refused(data, words_):
    with pytest.raises(ReadError, match=words_):
        read(data)
