"""What `level` says without vertices: boxes, portals, impostors, shader strings."""

import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import level
from addon.formats.xray.level import structure
from addon.formats.xray.level.document import CORNER, LOD, PORTAL, Kind
from tests.formats.xray.level.annotated import SMALL_LEVEL


@pytest.fixture
def small():
    return level.read(SMALL_LEVEL, "level", Report())


def test_shader_strings_in_their_parts(small):
    empty, wall, leaf, glow = structure.shaders(small)
    assert (empty.name, empty.textures, empty.texture, empty.see_through) == ("", "", "", False)
    assert (wall.name, wall.textures, wall.texture) == ("default", "wall,lmap#1_1,lmap#1_2", "wall")
    assert (leaf.name, leaf.texture) == ("flora\\leaf", "trees\\bush")
    assert [entry.see_through for entry in (wall, leaf, glow)] == [False, True, True]


def test_boxes_as_edges(small):
    ends = structure.boxes(small, np.array([0, 2]))
    assert ends.tolist() == [[[-1, -1, 0], [1, 1, 2]]] * 2
    positions, edges = structure.wires(ends)
    assert positions.shape == (16, 3)
    assert {tuple(corner) for corner in positions[:8].tolist()} == {
        (x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (0, 2)
    }
    # Every edge goes along one axis, and every corner has three.
    assert ((positions[edges[:, 0]] != positions[edges[:, 1]]).sum(axis=1) == 1).all()
    assert np.bincount(edges.ravel()).tolist() == [3] * 16


def test_a_portal_keeps_its_first_vertex_and_turns_the_others_round(small):
    corners = structure.portal_corners(small.portals[0])
    assert corners.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 2], [0, 0, 2]]


@pytest.mark.parametrize("count", [0, 2, 7, 2**32 - 1])
def test_a_portal_of_a_count_that_does_not_fit_has_no_corners(count):
    row = np.zeros(1, PORTAL)
    row["count"] = count
    assert structure.portal_corners(row[0]) is None


def test_impostors_are_quads_seen_from_outside(small):
    rows = np.zeros(1, LOD)
    quad = np.zeros(4, CORNER)
    quad["position"] = [(0, 1, 0), (1, 1, 0), (1, 0, 0), (0, 0, 0)]
    quad["uv"] = [(0, 0), (0.125, 0), (0.125, 1), (0, 1)]
    quad["bgrh"], quad["sun"] = (51, 102, 255, 204), 153
    rows["corners"][0, 0] = quad
    small.visuals.fixed[Kind.LOD] = rows
    small.visuals.entries["kind"][small.visuals.entries["kind"] == Kind.CHILDREN] = Kind.LOD
    result = structure.impostors(small)
    assert result.visuals.tolist() == [2]
    assert result.positions[:4].tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0], [1, 0, 1]]
    assert np.allclose(result.uvs[:4], [(0, 1), (0, 0), (0.125, 0), (0.125, 1)])
    assert np.allclose(result.light[0], (1, 0.4, 0.2, 0.6))
    assert result.hemi[0] == pytest.approx(0.8)
    assert len(result.positions) == 32
