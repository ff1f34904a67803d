"""`.err`: all six kinds, as bytes and as meshes."""

import numpy as np
import pytest

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats import detect
from addon.formats.xray import err, hom
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, hexed, words
from tests.real_files import corpus_files

EDITOR_TRIANGLE = hexed("""
    00000000 00000000 00000000          ; 0 0 0
    0000803f 00000000 00000000          ; 1 0 0
    00000000 00000040 00000000          ; 0 2 0
    0040ff80                            ; colour: blue 0, green 0x40, red 0xff, alpha 0x80
    01 02 aabb                          ; two flags, padding
""")
SMALL = b"".join([
    chunk(0, words(2), floats(1, 2, 3, 4, 5, 6)),
    chunk(1, words(1), floats(*range(6))),
    chunk(2, words(1), floats(*range(9))),
    chunk(10, words(1), floats(7, 8, 9)),
    chunk(11, words(0)),
    chunk(12, words(1), EDITOR_TRIANGLE),
])  # fmt: skip

read = reading(err, "level.err")


def test_six_kinds_are_known_to_the_last_byte():
    document, _ = read(SMALL)
    assert {number: len(rows) for number, rows in document.lists.items()} == {0: 2, 1: 1, 2: 1, 10: 1, 11: 0, 12: 1}
    assert document.lists[12]["colour"].tolist() == [0x80FF4000]
    assert document.lists[12]["flags"].tolist() == [[1, 2]]


def test_points_edges_and_triangles_become_three_meshes():
    report = Report()
    points, edges, triangles = err.decode(read(SMALL)[0], report)
    assert not report
    assert points.positions.tolist() == [[1, 3, 2], [4, 6, 5], [7, 9, 8]]
    assert points.edges is None
    assert len(points.triangles) == 0
    assert edges.edges.tolist() == [[0, 1]]
    assert edges.positions.tolist() == [[0, 2, 1], [3, 5, 4]]
    assert triangles.triangles.tolist() == [[0, 2, 1], [3, 5, 4]]
    assert triangles.positions[3:].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 2]]
    np.testing.assert_allclose(triangles.attributes[err.COLOUR].values, [[1] * 4, [1, 64 / 255, 0, 128 / 255]])
    assert [mesh.name for mesh in (points, edges, triangles)] == [
        "level.err points",
        "level.err edges",
        "level.err triangles",
    ]


def test_a_clean_level_has_nothing_to_show():
    data = b"".join(chunk(number, words(0)) for number in range(3))
    document, report = read(data)
    assert err.decode(document, report) == []
    assert report.lines() == ["no errors (level.err)"]
    assert detect("nameless", data[:64]).module is err
    assert detect("nameless", chunk(0, bytes(4)) + chunk(1, bytes(40))).module is hom


@pytest.mark.parametrize("path", corpus_files("err"))
def test_a_real_file(path):
    number = {"bx_test": 2, "bx_test_sdk": 12}[path.stem]
    document, report = read(path.read_bytes(), path.name)
    (mesh,) = err.decode(document, report)
    assert len(mesh.triangles) == len(document.lists[number]) == 2
    assert bool(mesh.attributes) == (number == 12)


def test_a_count_that_lies_leaves_the_bytes_as_they_are():
    data = chunk(0, words(2**32 - 1), floats(1, 2, 3)) + chunk(1, words(0), b"xy") + chunk(5, b"z")
    document, report = read(data)
    assert report.lines() == [
        "4294967295 points are declared, 1 exist (0x0)",
        "2 extra bytes after the edges; kept (0x1)",
        "2 chunks of unknown meaning, kept unchanged (0x0, 0x5)",
    ]
    assert err.write(document) == data
    assert err.raw_size(document) == 16 + 2 + 1


@pytest.mark.parametrize("data", [chunk(7, bytes(4)), chunk(0, b""), chunk(0, words(9))])
def test_what_holds_no_errors_is_refused(data):
    with pytest.raises(ReadError, match="no errors of a level"):
        read(data)
