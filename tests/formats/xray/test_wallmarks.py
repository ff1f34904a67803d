"""`level.wallmarks` as a mesh."""

import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import wallmarks
from tests.formats.xray.level.annotated import SMALL_WALLMARKS
from tests.real_files import corpus_files


def test_marks_are_triangles_with_the_material_of_their_slot():
    document = wallmarks.read(SMALL_WALLMARKS, "level.wallmarks", Report())
    result = wallmarks.decode(document, "marks")
    assert result.positions.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert result.triangles.tolist() == [[0, 2, 1]]
    assert result.uvs.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert [(material.name, material.texture, material.shader) for material in result.materials] == [("tx", "tx", "sh")]
    assert result.material_index.tolist() == [0]


def test_vertices_behind_the_last_triangle_are_left_out():
    document = wallmarks.read(SMALL_WALLMARKS, "level.wallmarks", Report())
    document.slots[0].marks[0].vertices = np.repeat(document.slots[0].marks[0].vertices, 2)[:5]
    result = wallmarks.decode(document, "marks")
    assert (len(result.positions), len(result.triangles), len(result.material_index)) == (3, 1, 1)


@pytest.mark.parametrize("path", corpus_files("level/*/level.wallmarks"))
def test_real_marks_lie_in_their_spheres(path):
    document = wallmarks.read(path.read_bytes(), str(path), Report())
    result = wallmarks.decode(document, "marks")
    spheres = np.array([mark.sphere for mark in document.marks])
    owner = np.repeat(np.arange(len(spheres)), [len(mark.vertices) for mark in document.marks])
    away = np.linalg.norm(result.positions - spheres[owner][:, [0, 2, 1]], axis=1)
    assert (away <= spheres[owner, 3] * 1.01 + 0.01).all()
    assert result.material_index.max() < len(result.materials)
