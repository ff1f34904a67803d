"""`.som`: bytes, meshes with occlusion, problems. What it shares with `.hom` is tested there."""

import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.model import Attribute, Domain, Mesh
from addon.core.report import Report
from addon.formats import detect
from addon.formats.xray import hom, som
from addon.formats.xray.occluders import TWO_SIDED
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, hexed, words
from tests.real_files import corpus_files

SMALL = hexed("""
    00000000 04000000 00000000          ; chunk 0: version 0
    01000000 2c000000                   ; chunk 1: a triangle of 44 bytes
    0000803f 00000000 00000000          ; 1 0 0
    00000000 00000040 00000000          ; 0 2 0
    00000000 00000000 00004040          ; 0 0 3
    01000000                            ; two-sided
    9a99193f                            ; lets 0.6 of the volume through
""")

read = reading(som, "level.som")


def test_a_triangle_is_known_to_the_last_byte():
    document, _ = read(SMALL)
    assert document.rows["positions"].tolist() == [[[1, 0, 0], [0, 2, 0], [0, 0, 3]]]
    assert document.rows["two_sided"].tolist() == [1]
    assert document.rows["occlusion"].tolist() == [np.float32(0.6)]
    assert som.describe(document)[-1] == "occlusion: 0.6 (1)"


@pytest.mark.parametrize("weld", [None, 0.0, 0.01])
@pytest.mark.parametrize("path", corpus_files("som"))
def test_a_real_file_comes_back_from_its_mesh(path, weld):
    data = path.read_bytes()
    document, _ = read(data, path.name)
    mesh = som.decode(document, Report(), weld)
    assert mesh.attributes[som.OCCLUSION].values.dtype == np.float32
    again, changes = som.encode(mesh, document, weld)
    assert (again is document, bool(changes)) == (True, False)
    if weld is None:
        assert som.write(som.encode(mesh)[0]) == data


def test_an_occlusion_that_is_changed_changes_alone():
    document, _ = read(SMALL)
    mesh = som.decode(document, Report())
    mesh.attributes[som.OCCLUSION].values[0] = 0.25
    again, changes = som.encode(mesh, document)
    assert som.write(again) == SMALL[:-4] + floats(0.25)
    assert changes.lines == ["1 occlusion factor"]
    mesh.attributes[som.OCCLUSION].values[0] = np.nextafter(np.float32(0.6), np.float32(1))
    assert som.encode(mesh, document)[0] is document
    mesh.attributes[som.OCCLUSION].values[0] = np.nan
    with pytest.raises(WriteError, match="an occlusion"):
        som.encode(mesh, document)


def test_a_mesh_from_nothing_muffles_as_walls_do():
    mesh = Mesh("drawn", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32))
    data = som.write(som.encode(mesh)[0])
    assert data == chunk(0, bytes(4)) + chunk(1, floats(1, 0, 0, 0, 1, 0, 0, 0, 1) + words(1) + floats(0.05))


def test_without_the_attributes_the_files_values_stay():
    document, _ = read(SMALL[:56] + bytes(4) + SMALL[60:])
    mesh = som.decode(document, Report())
    mesh.attributes.clear()
    assert som.encode(mesh, document)[0] is document
    # An attribute of vertices says nothing of faces.
    mesh.attributes[TWO_SIDED] = Attribute(Domain.VERTEX, np.ones(3, np.bool_))
    assert som.encode(mesh, document)[0] is document


def test_problems():
    mesh = som.decode(read(SMALL[:12] + chunk(1, SMALL[20:] + SMALL[20:60] + floats(1.5)))[0], Report())
    problems = {problem.sentence: problem.elements.tolist() for problem in som.find_problems(mesh)}
    assert problems == {
        "1 of 2 faces lies exactly on another face": [1],
        "1 of 2 faces has an occlusion outside 0 to 1": [1],
    }


def test_ten_triangles_of_sound_are_reported_from_eleven_of_sight():
    sound = chunk(0, bytes(4)) + chunk(1, SMALL[20:] * 10)
    sight = chunk(0, bytes(4)) + chunk(1, (floats(*range(5, 14)) + words(1)) * 11)
    assert len(sound) == len(sight)
    assert detect("nameless", sound[:64]).module is som
    assert detect("nameless", sight[:64]).module is hom
