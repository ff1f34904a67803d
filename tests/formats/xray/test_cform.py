"""`level.cform` and `build.cform`: bytes of every version, meshes, the size check, problems."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import mesh_parts
from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError, WriteError
from addon.core.model import Domain, Mesh
from addon.core.report import Report
from addon.formats.xray import cform
from addon.formats.xray.cform import MATERIAL, SECTOR, SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, hexed, words
from tests.real_files import corpus_files
from tests.work import lines_run, memory_peak

REAL = [p for p in corpus_files("cform") if "odd_" not in str(p.values[0])]

SMALL = hexed("""
    04000000                            ; version
    04000000 02000000                   ; four vertices, two faces
    00000000 00000000 00000000          ; box, lowest corner
    0000803f 00000040 00004040          ; box, highest corner 1 2 3
    00000000 00000000 00000000          ; vertex 0
    0000803f 00000000 00000000          ; vertex 1: 1 0 0
    00000000 00000040 00000000          ; vertex 2: 0 2 0
    00000000 00000000 00004040          ; vertex 3: 0 0 3
    00000000 01000000 02000000          ; face 0
    2540 0300                           ; material 37, suppress shadows; sector 3
    01000000 03000000 02000000          ; face 1
    0580 ffff                           ; material 5, suppress wallmarks; sector 65535
""")
OLD_FACES = hexed("""
    00000000 01000000 02000000          ; face 0
    01000000 ffffffff ffffffff          ; beside it face 1, none, none
    cdab 0300 25000000                  ; unknown, sector 3, material 37
    01000000 03000000 02000000          ; face 1
    00000000 ffffffff ffffffff
    0000 0000 ffffffff                  ; a material of 32 bits
""")


def old(version):
    return words(version) + SMALL[4:84] + OLD_FACES


def build(*extra):
    lit = b"".join(struct.pack("<HHI6fI", 2, number, 0, *range(6), 0) for number in (5, 9))
    return chunk(0, SMALL) + chunk(1, lit) + b"".join(extra)


read = reading(cform, "level.cform")


def test_texture_coordinates_that_are_not_finite_are_warned_about_and_kept():
    data = build().replace(struct.pack("<f", 5), struct.pack("<f", np.nan))
    document, report = read(data, "build.cform")
    assert list(report.warnings.items()) == [(NOT_FINITE, ["texture coordinates: 2"])]
    assert cform.write(document) == cform.recompose(document) == data


# Bytes ---------------------------------------------------------------------------------------------------------------


def test_version_4_is_known_to_the_last_byte():
    document, _ = read(SMALL)
    assert document.box.tolist() == [[0, 0, 0], [1, 2, 3]]
    assert document.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert document.faces["vertices"].tolist() == [[0, 1, 2], [1, 3, 2]]
    assert document.materials.tolist() == [37, 5]
    assert [flags.tolist() for flags in document.suppressed] == [[True, False], [False, True]]
    assert document.sectors.tolist() == [3, 65535]


@pytest.mark.parametrize("version", [2, 3])
def test_old_versions_are_known_to_the_last_byte(version):
    document, _ = read(old(version))
    assert document.faces["adjacent"].tolist() == [[1, 2**32 - 1, 2**32 - 1], [0, 2**32 - 1, 2**32 - 1]]
    assert document.materials.tolist() == [37, 2**32 - 1]
    assert document.suppressed is None
    assert document.sectors.tolist() == [3, 0]


def test_a_build_cform_is_opened_as_what_it_is():
    data = build(chunk(7, b"kept"))
    document, report = read(data, "build.cform")
    assert any("build.cform" in line for line in report.notes)
    assert document.materials.tolist() == [5, 9]
    assert document.build.faces["build_material"].tolist() == [2, 2]
    assert document.build.faces["uv"][1].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert document.sectors is None
    assert cform.write(document) == cform.recompose(document) == data
    assert cform.describe(document)[0] == "version 4, a build.cform, 4 vertices, 2 faces"
    mesh = cform.decode(document, Report())
    assert list(mesh.attributes) == [MATERIAL]
    mesh.attributes[MATERIAL].values[1] = 12
    again, changes = cform.encode(mesh, document)
    assert changes.lines == ["1 material"]
    assert cform.write(again) == data.replace(struct.pack("<HHI", 2, 9, 0), struct.pack("<HHI", 2, 12, 0))


@given(st.integers(0, 0x3FFF), st.booleans(), st.booleans(), st.integers(0, 0xFFFF))
def test_material_flags_and_sector_are_independent(material, shadows, wallmarks, sector):
    word = material + (0x4000 if shadows else 0) + (0x8000 if wallmarks else 0)
    data = SMALL[:-4] + struct.pack("<HH", word, sector)
    document, _ = read(data)
    mesh = cform.decode(document, Report())
    message = [mesh.attributes[name].values[1] for name in (MATERIAL, SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS, SECTOR)]
    assert message == [material, shadows, wallmarks, sector]
    assert cform.recompose(document) == data
    assert cform.write(cform.encode(mesh)[0]) == data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (SMALL[:-1], "cut off: 4 vertices and 2 faces of version 4 take 116 bytes, there are 115"),
        (words(3) + SMALL[4:], "cut off: 4 vertices and 2 faces of version 3 take 148 bytes, there are 116"),
        (words(5) + SMALL[4:], "collision of version 5 is not known"),
        (words(4, 2**32 - 1, 2**32 - 1) + bytes(24), "cut off"),
        (chunk(0, SMALL), "chunk 0x1"),
        (chunk(0, SMALL) + chunk(1, bytes(71)), "the faces' materials: 72 bytes are needed, 71 bytes are left"),
        (chunk(0, SMALL[:-1]) + chunk(1, bytes(72)), "chunk 0x0, offset 20: cut off"),
    ],
)
def test_a_size_that_is_not_what_the_counts_ask_for_is_refused(data, problem):
    with pytest.raises(ReadError) as refused:
        read(data)
    assert problem in str(refused.value)


# Meshes --------------------------------------------------------------------------------------------------------------


def test_the_mesh_is_in_blenders_axes_and_faces_outwards():
    mesh = cform.decode(read(SMALL)[0], Report())
    assert mesh.positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 2], [0, 3, 0]]
    assert mesh.triangles.tolist() == [[0, 2, 1], [1, 2, 3]]
    assert {name: (a.domain, a.values.dtype.str) for name, a in mesh.attributes.items()} == {
        MATERIAL: (Domain.FACE, "<i4"),
        SECTOR: (Domain.FACE, "<i4"),
        SUPPRESS_SHADOWS: (Domain.FACE, "|b1"),
        SUPPRESS_WALLMARKS: (Domain.FACE, "|b1"),
    }


@pytest.mark.parametrize("path", REAL)
def test_a_real_file_comes_back_from_its_mesh_alone(path):
    data = path.read_bytes()
    document, _ = read(data, path.name)
    assert cform.write(cform.encode(cform.decode(document, Report()))[0]) == data


@pytest.mark.parametrize("by", [MATERIAL, SECTOR])
@pytest.mark.parametrize("path", REAL)
def test_a_real_file_comes_back_from_its_parts(path, by):
    data = path.read_bytes()
    document, _ = read(data, path.name)
    mesh = cform.decode(document, Report())
    parts = [part for _, part in mesh_parts.split(mesh, mesh.attributes[by].values)]
    again, changes = cform.encode(mesh_parts.join(parts, mesh.name), document)
    assert cform.write(again) == data
    assert not changes


@pytest.mark.parametrize("path", corpus_files("cform/odd_mp_test_build.cform"))
def test_the_real_build_cform(path):
    data = path.read_bytes()
    document, _ = read(data, path.name)
    assert (len(document.vertices), len(document.faces), len(document.build.faces)) == (79, 152, 152)
    # The compiler's addresses, one each face, in steps of the size of what they point to.
    address = document.faces["sector"].astype(np.int64) << 16 | document.faces["material_bits"]
    assert set(np.diff(np.sort(address)) % 116) == {0}
    assert set(document.build.faces["build_material"].tolist()) == {1, 2}
    for name in ("material", "unknown", "unknown_2"):
        assert not document.build.faces[name].any()


def test_each_value_changes_alone():
    document, _ = read(SMALL)
    for name, value, word in (
        (MATERIAL, 6, b"\x06\x80\xff\xff"),
        (SUPPRESS_SHADOWS, True, b"\x05\xc0\xff\xff"),
        (SUPPRESS_WALLMARKS, False, b"\x05\x00\xff\xff"),
        (SECTOR, 0, b"\x05\x80\x00\x00"),
    ):
        mesh = cform.decode(document, Report())
        mesh.attributes[name].values[1] = value
        again, changes = cform.encode(mesh, document)
        assert cform.write(again) == SMALL[:-4] + word
        assert len(changes.lines) == 1
    assert cform.write(document) == SMALL


def test_a_moved_vertex_moves_the_box():
    document, _ = read(SMALL)
    mesh = cform.decode(document, Report())
    mesh.positions = mesh.positions.copy()
    mesh.positions[1] = (-5, 1, 7)
    again, changes = cform.encode(mesh, document)
    assert changes.lines == ["1 position"]
    assert cform.write(again) == SMALL[:12] + floats(-5, 0, 0, 0, 7, 3) + SMALL[36:48] + floats(-5, 7, 1) + SMALL[60:]


def test_the_box_of_the_file_is_kept_whatever_it_says():
    data = SMALL[:12] + floats(-9, -9, -9, 9, 9, float("nan")) + SMALL[36:]
    document, _ = read(data)
    mesh = cform.decode(document, Report())
    mesh.attributes[SECTOR].values[0] = 1
    assert cform.write(cform.encode(mesh, document)[0]) == data[:98] + b"\1\0" + data[100:]


def test_faces_folded_coincident_and_twice_go_through():
    faces = [(0, 1, 2), (0, 1, 2), (2, 1, 0), (1, 1, 1), (0, 1, 1)]
    data = words(4, 4, 5) + SMALL[12:84] + b"".join(words(*face) + bytes(4) for face in faces)
    document, report = read(data)
    assert not report
    mesh = cform.decode(document, report)
    assert cform.write(cform.encode(mesh, document)[0]) == cform.write(cform.encode(mesh)[0]) == data


def test_faces_that_point_to_nowhere_are_reported_left_out_and_kept():
    data = SMALL[:84] + words(0, 1, 4) + SMALL[96:]
    document, report = read(data)
    assert report.lines() == ["faces that refer to missing vertices: 1 of 2"]
    mesh = cform.decode(document, report)
    assert len(mesh.triangles) == 1
    assert cform.write(cform.encode(mesh, document)[0]) == data
    mesh.attributes[MATERIAL].values[0] = 1
    again, changes = cform.encode(mesh, document)
    assert len(again.faces) == 1
    assert changes.left_out == ["1 face of the old file that refers to missing vertices"]


def test_a_mesh_from_nothing():
    mesh = Mesh("drawn", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32))
    document, _ = cform.encode(mesh)
    wanted = words(4, 3, 1) + floats(0, 0, 0, 1, 1, 1) + floats(1, 0, 0, 0, 0, 1, 0, 1, 0) + words(0, 2, 1, 0)
    assert cform.write(document) == wanted


@pytest.mark.parametrize("data", [old(2), old(3), build()])
def test_faces_that_hold_more_than_a_mesh_says_are_not_made_again(data):
    document, _ = read(data)
    mesh = cform.decode(document, Report())
    assert cform.encode(mesh, document)[0] is document
    mesh.positions = mesh.positions * np.float32(2)
    again = cform.write(cform.encode(mesh, document)[0])
    assert len(again) == len(data)
    assert again.endswith(data[-64:])
    mesh.triangles = mesh.triangles[:1]
    with pytest.raises(WriteError, match=r"are not those of the file.*Export it as a new level\.cform"):
        cform.encode(mesh, document)


def test_a_material_of_a_build_has_16_bits():
    document, _ = read(build())
    mesh = cform.decode(document, Report())
    mesh.attributes[MATERIAL].values[1] = 0xFFFF
    again, _ = cform.encode(mesh, document)
    assert again.materials.tolist() == [5, 0xFFFF]
    mesh.attributes[MATERIAL].values[1] = 0x10000
    with pytest.raises(WriteError, match="Give it a number from 0 to 65535"):
        cform.encode(mesh, document)


def test_an_old_material_of_32_bits_is_changed_alone():
    document, _ = read(old(3))
    mesh = cform.decode(document, Report())
    mesh.attributes[MATERIAL].values[0] = 70000
    assert cform.write(cform.encode(mesh, document)[0]) == old(3).replace(words(37), words(70000))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [(MATERIAL, 0x4000, "material"), (MATERIAL, -1, "material"), (SECTOR, 0x10000, "sector"), (SECTOR, -1, "sector")],
)
def test_numbers_the_file_cannot_hold_are_refused_and_named(name, value, problem):
    document, _ = read(SMALL)
    mesh = cform.decode(document, Report())
    mesh.attributes[name].values[1] = value
    for base in (document, None):
        with pytest.raises(WriteError, match=f"1 of 2 faces has a {problem} the file cannot store"):
            cform.encode(mesh, base)
    (problems,) = cform.find_problems(mesh)
    assert problems.fatal
    assert problems.elements.tolist() == [1]


def test_problems():
    mesh = cform.decode(read(SMALL)[0], Report())
    mesh.triangles = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 2]], np.int32)
    mesh.attributes.clear()
    mesh.positions = mesh.positions.copy()
    mesh.positions[3] = np.inf
    problems = {problem.sentence: problem.elements.tolist() for problem in cform.find_problems(mesh)}
    assert problems == {
        "1 of 4 vertices has a NaN or infinite position": [3],
        "1 of 3 faces has no area": [2],
        "1 of 3 faces lies exactly on another face": [1],
    }


def large(faces):
    chance = np.random.default_rng(5)
    rows = np.zeros(faces, cform.FACE)
    rows["vertices"] = chance.integers(0, faces // 2, (faces, 3))
    rows["material_bits"], rows["sector"] = chance.integers(0, 0x10000, faces), chance.integers(0, 30, faces)
    positions = chance.random((faces // 2, 3)).astype("<f4")
    box = np.stack([positions.min(axis=0), positions.max(axis=0)])
    return words(4, len(positions), faces) + box.tobytes() + positions.tobytes() + rows.tobytes()


def test_nothing_is_done_face_by_face():
    """As many lines of Python for 200,000 faces as for 100; reading copies nothing."""
    lines = []
    for faces in (100, 200_000):
        data = large(faces)
        document, _ = read(data)
        mesh = cform.decode(document, Report())
        lines.append(
            lines_run(
                lambda data=data, mesh=mesh: (
                    cform.write(cform.encode(mesh, read(data)[0])[0]) and cform.recompose(read(data)[0])
                )
            )
        )
        assert cform.write(cform.encode(mesh, document)[0]) == data
    assert lines[1] < 1.2 * lines[0]
    assert memory_peak(lambda: read(data)) < 100_000 + len(data) // 4
    assert memory_peak(lambda: cform.write(document)) < 1.2 * len(data)
