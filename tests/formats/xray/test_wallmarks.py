"""`level.wallmarks` as a mesh."""

import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import wallmarks
from tests.formats.xray.level.annotated import SMALL_WALLMARKS
from tests.real_files import corpus_files


def test_marks_are_triangles_with_the_material_of_their_slot():
    document = wallmarks.read(SMALL_WALLMARKS, "level.wallmarks", Report())
    found = wallmarks.decode(document, "marks")
    assert found.positions.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert found.triangles.tolist() == [[0, 2, 1]]
    assert found.uvs.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert [(one.name, one.texture, one.shader) for one in found.materials] == [("tx", "tx", "sh")]
    assert found.material_index.tolist() == [0]


def test_vertices_behind_the_last_triangle_are_left_out():
    document = wallmarks.read(SMALL_WALLMARKS, "level.wallmarks", Report())
    document.slots[0].marks[0].vertices = np.repeat(document.slots[0].marks[0].vertices, 2)[:5]
    found = wallmarks.decode(document, "marks")
    assert (len(found.positions), len(found.triangles), len(found.material_index)) == (3, 1, 1)


@pytest.mark.parametrize("path", corpus_files("level/*/level.wallmarks"))
def test_real_marks_lie_in_their_spheres(path):
    document = wallmarks.read(path.read_bytes(), str(path), Report())
    found = wallmarks.decode(document, "marks")
    spheres = np.array([mark.sphere for mark in document.marks])
    owner = np.repeat(np.arange(len(spheres)), [len(mark.vertices) for mark in document.marks])
    away = np.linalg.norm(found.positions - spheres[owner][:, [0, 2, 1]], axis=1)
    assert (away <= spheres[owner, 3] * 1.01 + 0.01).all()
    assert found.material_index.max() < len(found.materials)
