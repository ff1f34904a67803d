"""`.hom` and what it shares with `.som`: bytes, meshes, welding, problems."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from addon.core.errors import ReadError, WriteError
from addon.core.model import FILE_FACE, Attribute, Domain, Mesh
from addon.core.report import Report
from addon.formats.xray import hom, som
from addon.formats.xray.occluders import ENGINE_MERGES_WITHIN, TWO_SIDED
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, hexed
from tests.real_files import corpus_files

REAL = [p for p in corpus_files("hom") if "odd_" not in str(p.values[0])]

SMALL = hexed("""
    00000000 04000000 00000000          ; chunk 0: version 0
    01000000 50000000                   ; chunk 1: two triangles of 40 bytes
    0000803f 00000000 00000000          ; 1 0 0
    00000000 00000040 00000000          ; 0 2 0
    00000000 00000000 00004040          ; 0 0 3
    01000000                            ; two-sided
    0000803f 00000000 00000000          ; 1 0 0
    0000803f 00000000 0000803f          ; 1 0 1
    0000803f 0000803f 00000000          ; 1 1 0
    00000000                            ; one-sided
""")

read = reading(hom, "level.hom")


def test_two_triangles_are_known_to_the_last_byte():
    document, _ = read(SMALL)
    assert document.rows["positions"].tolist() == [
        [[1, 0, 0], [0, 2, 0], [0, 0, 3]],
        [[1, 0, 0], [1, 0, 1], [1, 1, 0]],
    ]
    assert document.rows["two_sided"].tolist() == [1, 0]


def test_the_mesh_is_in_blenders_axes_and_faces_outwards():
    mesh = hom.decode(read(SMALL)[0], Report())
    assert mesh.positions.tolist()[:3] == [[1, 0, 0], [0, 0, 2], [0, 3, 0]]
    assert mesh.triangles.tolist() == [[0, 2, 1], [3, 5, 4]]
    assert mesh.attributes[TWO_SIDED].values.tolist() == [True, False]
    # The outward side in the file's numbers is (v1 - v0) x (v2 - v0) = (6, 3, 2); its y and z change places.
    a, b, c = mesh.positions[mesh.triangles[0]]
    assert np.cross(b - a, c - a).tolist() == [6, 2, 3]


@pytest.mark.parametrize(("codec", "other", "size", "suffix"), [(hom, som, 44, ".som"), (som, hom, 40, ".hom")])
def test_a_file_of_the_other_occluders_is_refused(codec, other, size, suffix):
    data = chunk(0, bytes(4)) + chunk(1, bytes(3 * size))
    assert len(other.read(data, "level", Report()).rows) == 3
    with pytest.raises(ReadError, match=f"size of those of a {suffix} file") as refusal:
        codec.read(data, "level", Report())
    assert refusal.value.remedy == f"Rename it to {suffix}"


@pytest.mark.parametrize("weld", [None, 0.0, ENGINE_MERGES_WITHIN])
@pytest.mark.parametrize("path", REAL)
def test_a_real_file_comes_back_from_its_mesh(path, weld):
    data = path.read_bytes()
    document, _ = read(data, path.name)
    mesh = hom.decode(document, Report(), weld)
    again, changes = hom.encode(mesh, document, weld)
    assert (again is document, changes.sentence()) == (True, "nothing changed")
    if weld is None:
        fresh, _ = hom.encode(mesh)
        assert hom.write(fresh) == data
    else:
        assert len(mesh.positions) < 3 * len(mesh.triangles)


def test_a_moved_vertex_changes_the_triangles_at_it_and_nothing_else():
    document, _ = read(SMALL)
    mesh = hom.decode(document, Report(), 0.0)
    assert len(mesh.positions) == 5
    mesh.positions = mesh.positions.copy()
    mesh.positions[0] += (0, 0, 4)
    again, changes = hom.encode(mesh, document, 0.0)
    moved = bytearray(SMALL)
    for at in (20, 60):  # the first corner of either triangle: its y
        moved[at + 4 : at + 8] = floats(4)
    assert hom.write(again) == bytes(moved)
    assert changes.lines == ["2 triangle positions"]


def test_a_flag_that_is_changed_changes_alone_and_other_flags_stay_as_they_were():
    odd = SMALL[:56] + b"\x06\0\0\0" + SMALL[60:]  # two-sided is anything but 0
    document, _ = read(odd)
    mesh = hom.decode(document, Report())
    mesh.attributes[TWO_SIDED].values[1] = True
    again, changes = hom.encode(mesh, document)
    assert hom.write(again) == odd[:96] + b"\1\0\0\0"
    assert changes.lines == ["1 two-sided flag"]


def test_a_mesh_from_nothing_is_two_sided():
    mesh = Mesh("drawn", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32))
    data = hom.write(hom.encode(mesh)[0])
    assert data == chunk(0, bytes(4)) + chunk(1, floats(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack("<I", 1))


def test_a_deleted_face_leaves_the_bytes_of_the_others():
    document, _ = read(SMALL)
    mesh = hom.decode(document, Report())
    mesh.triangles = mesh.triangles[1:]
    mesh.attributes = {
        TWO_SIDED: Attribute(Domain.FACE, np.array([False])),
        FILE_FACE: Attribute(Domain.FACE, np.array([1])),
    }
    again, changes = hom.encode(mesh, document)
    assert hom.write(again) == SMALL[:16] + struct.pack("<I", 40) + SMALL[60:]
    assert changes.lines == ["triangles 2 -> 1"]


@pytest.mark.parametrize(
    ("corners", "problem"),
    [([], "has no faces"), ([[0, 1, 3]], "points to a vertex"), ([[0, 1, -1]], "points to a vertex")],
)
def test_what_is_not_a_mesh_is_refused(corners, problem):
    mesh = Mesh("drawn", np.eye(3, dtype=np.float32), np.array(corners, np.int32).reshape(-1, 3))
    with pytest.raises(WriteError, match=problem):
        hom.encode(mesh)


def test_a_new_position_that_is_not_finite_is_refused_but_an_old_one_goes_back():
    broken = SMALL[:20] + b"\x34\x12\xc0\x7f" + SMALL[24:]
    document, _ = read(broken)
    mesh = hom.decode(document, Report())
    assert hom.write(hom.encode(mesh, document)[0]) == broken
    with pytest.raises(WriteError, match="NaN or infinite position"):
        hom.encode(mesh)


def test_problems_name_the_faces():
    document, _ = read(SMALL[:12] + chunk(1, SMALL[20:60] * 2 + floats(*[0.01, 0, 0, 0, 0, 0.01, 0, 0, 0]) + bytes(4)))
    problems = {
        problem.sentence: problem.elements.tolist() for problem in hom.find_problems(hom.decode(document, Report()))
    }
    assert problems == {
        "1 of 3 faces has an area below 0.001 m²": [2],
        "1 of 3 faces lies exactly on another face": [1],
    }


@given(
    arrays.arrays(np.uint32, st.tuples(st.integers(1, 12), st.just(10)), elements=st.integers(0, 2**32 - 1)),
    st.sampled_from([None, 0.0, 0.01]),
)
def test_any_bits_go_through_a_mesh(numbers, weld):
    """Infinities, NaNs with payloads, denormals, flags of every kind."""
    data = chunk(0, bytes(4)) + chunk(1, numbers.astype("<u4").tobytes())
    document, _ = read(data)
    mesh = hom.decode(document, Report(), weld)
    assert hom.write(hom.encode(mesh, document, weld)[0]) == data


@pytest.mark.parametrize("weld", [None, 0.0, 0.01])
def test_a_signalling_nan_goes_through_without_an_alarm(weld):
    broken = SMALL[:20] + b"\x01\0\xa0\x7f" + SMALL[24:]
    document, _ = read(broken)
    mesh = hom.decode(document, Report(), weld)
    mesh.attributes[TWO_SIDED].values[1] = True
    assert hom.write(hom.encode(mesh, document, weld)[0]) == broken[:96] + b"\1\0\0\0"
    assert hom.describe(document)
    assert list(hom.find_problems(mesh))


def test_an_empty_file_of_occluders_is_read_and_reported():
    data = chunk(0, bytes(4)) + chunk(1, b"")
    document, report = read(data)
    assert report.lines() == ["there is no triangle in it; the game treats the file as missing"]
    assert hom.write(document) == data
    mesh = hom.decode(document, report)
    assert len(mesh.triangles) == 0
    with pytest.raises(WriteError, match="has no faces"):
        hom.encode(mesh)
    again, changes = hom.encode(mesh, document)
    assert again is document
    assert not changes
    assert hom.describe(document)[0] == "0 triangles, 0 without area"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (chunk(0, struct.pack("<I", 7)) + chunk(1, bytes(40)), r"chunk 0x0, offset 12: version 7 is not known"),
        (chunk(0, bytes(4)), r"no triangles \(chunk 0x1\)"),
        (chunk(5, bytes(4)), r"no triangles \(chunk 0x1\)"),
        (chunk(0, bytes(2)) + chunk(1, bytes(40)), r"the version: 4 bytes are needed, 2 bytes are left"),
    ],
)
def test_what_is_no_hom_is_refused(data, words):
    with pytest.raises(ReadError, match=words):
        read(data)


def test_what_is_behind_the_triangles_and_unknown_chunks_stay():
    data = chunk(9, b"abc") + chunk(1, bytes(43)) + chunk(0, bytes(6)) + chunk(1, bytes(40)) + b"end"
    document, report = read(data)
    assert len(document.rows) == 1
    assert hom.write(document) == data
    assert hom.raw_size(document) == 3 + 3 + 2 + 40 + 3
    assert len(report.warnings) == 3


def test_vertices_that_the_engine_merges_are_welded_and_those_a_centimetre_apart_are_not():
    for apart, vertices in ((0.0099, 3 + 1), (0.0101, 3 + 2)):
        shared = floats(0, 0, 0, 1, 0, 0, 0, 1, 0), floats(apart, 0, 0, 0, 1, 0, 0, 0, 1)
        data = chunk(0, bytes(4)) + chunk(1, *(corners + bytes(4) for corners in shared))
        mesh = hom.decode(read(data)[0], Report(), ENGINE_MERGES_WITHIN)
        assert len(mesh.positions) == vertices, apart
