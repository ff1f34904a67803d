"""Edits of `level` by hand-made numbers: boxes with their margin, portals of sectors, corners of impostors."""

from dataclasses import replace

import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import level
from addon.formats.xray.level import edit, structure
from addon.formats.xray.level.comparison import compare
from addon.formats.xray.level.document import LOD, Kind
from tests.formats.xray.level.annotated import SMALL_LEVEL


@pytest.fixture
def small():
    return level.read(SMALL_LEVEL, "level", Report())


def test_a_box_is_a_millimetre_larger_than_what_is_in_it_and_so_is_what_holds_it(small):
    edit.reshape(small, np.array([1]), np.array([[[2.0, -4.0, 0.0], [8.0, 4.0, 6.0]]]))
    header = small.visuals.fixed[Kind.HEADER]
    np.testing.assert_array_equal(header["box"][1], np.float32([[1.999, -0.001, -4.001], [8.001, 6.001, 4.001]]))
    np.testing.assert_array_equal(header["sphere"][1, :3], [5, 3, 0])
    assert header["sphere"][1, 3] == pytest.approx(np.linalg.norm([3.001, 3.001, 4.001]))
    np.testing.assert_array_equal(header["box"][2], np.float32([[-1, -0.001, -4.001], [8.001, 6.001, 4.001]]))


def test_sectors_list_the_portals_of_both_sides(small):
    rows = small.portals[[0, 0, 0]].copy()
    rows["front"], rows["back"] = [0, 1, 1], [1, 0, 1]
    edit.set_portals(small, rows, np.array([0, -1, -1]))
    assert [sector.portals.tolist() for sector in small.sectors] == [[0, 1], [0, 1, 2]]
    again = level.read(level.write(small), "level", Report())
    assert [sector.portals.tolist() for sector in again.sectors] == [[0, 1], [0, 1, 2]]
    assert [sector.portals.dtype for sector in small.sectors] == [np.uint16] * 2


def test_corners_of_impostors_change_alone_and_are_named(small):
    rows = np.zeros(2, LOD)
    rows["corners"]["padding"] = 7
    small.visuals.fixed[Kind.LOD] = rows.copy()
    kinds = small.visuals.entries["kind"]
    kinds[kinds == Kind.CHILDREN] = Kind.LOD
    kinds[np.flatnonzero(kinds == Kind.TREE)] = Kind.LOD
    base = structure.impostors(small)
    now = replace(base, light=base.light.copy(), uvs=base.uvs.copy(), hemi=base.hemi.copy())
    # The second corner in Blender is the fourth of the file's facet.
    now.light[32 + 4 * 3 + 1] = (1, 0.4, 0.2, 0.6)
    now.hemi[32 + 4 * 3 + 1] = 0.8
    now.uvs[4 * 7 + 2] = (0.25, 0.75)
    assert edit.set_impostors(small, now, base) == [(1, ["uvs"]), (2, ["hemi", "light"])]
    rows["corners"]["uv"][0, 7, 2] = (0.25, 0.25)
    rows["corners"]["bgrh"][1, 3, 3], rows["corners"]["sun"][1, 3, 3] = (51, 102, 255, 204), 153
    # What was not edited keeps its bits: a v of 0 is not that of 1 - 1.
    assert small.visuals.fixed[Kind.LOD].tobytes() == rows.tobytes()


def yard(samples, *offsets, scales=(1, 1)):
    """The sample level, in which two visuals are bark and leaves of one tree; it has one tree more at each offset."""
    document = level.read((samples / "level" / "level").read_bytes(), "level", Report())
    parts = np.array([2, 3])
    matrices = np.stack([np.diag([scale, scale, scale, 1.0]) for scale in scales])
    edit.place_trees(document, parts, matrices, np.zeros((2, 2, 3)))
    for offset in offsets:
        matrices[:, 0, 3] = offset
        edit.add_trees(document, parts, np.zeros(2, int), matrices, np.zeros((2, 2, 3)), moves=matrices)
    return document


def sentence(before, after):
    return compare(before, after).sentence()


def test_a_tree_of_several_parts_is_one_tree_in_a_comparison(samples):
    assert sentence(yard(samples), yard(samples, 5)) == "1 tree added"
    assert sentence(yard(samples, 5, 9), yard(samples, 5)) == "1 tree deleted"
    assert sentence(yard(samples), yard(samples, scales=(2, 2))) == "1 tree changed"
    assert sentence(yard(samples), yard(samples, scales=(1e-7, 1e-7))) == "1 tree deleted"
    assert sentence(yard(samples), yard(samples, scales=(1, 1e-7))) == "1 part of a tree changed"
    assert sentence(yard(samples), yard(samples)) == "nothing changed"
