"""Ground that was edited or drawn, put into slots; plants on it. No Blender, no files but small ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import WriteError
from addon.core.model import FILE_FACE, Attribute, Domain, Mesh
from addon.core.report import Report
from addon.formats.xray import details, dm
from tests.formats.xray.test_dm import SMALL as GRASS
from tests.work import memory_peak

MODEL_0, DENSITY_0 = details.MODEL[0], details.DENSITY[0]


def grid(width=3, depth=2, offset=(1, 1)):
    """A planted file: model 0 everywhere, each slot as high as its number."""
    rows = details.unpack(details.empty_slots(width * depth))
    rows.ground[:] = np.arange(width * depth)
    rows.models[:, 0] = 0
    rows.density[:, 0] = 15
    model = dm.read(GRASS, "", Report())
    return details.new([model], details.pack(rows, 3), (width, depth), offset)


def points_of(document, order=None):
    points = details.decode(document, Report())
    numbers = np.arange(len(points.positions), dtype=np.int32) if order is None else np.array(order, np.int32)
    attributes = {
        name: Attribute(Domain.VERTEX, attribute.values[numbers]) for name, attribute in points.attributes.items()
    }
    attributes[FILE_FACE] = Attribute(Domain.VERTEX, numbers)
    return Mesh("ground", points.positions[numbers], points.triangles, attributes=attributes)


def encoded(points, document, report=None):
    arranged = details.arrange(points, document, Report() if report is None else report)
    return details.encode(arranged, document)


# Into slots ----------------------------------------------------------------------------------------------------------


@given(st.permutations(range(6)))
def test_any_order_of_faces_is_the_same_file(order):
    document = grid()
    assert encoded(points_of(document, order), document)[0] is document


def test_what_is_edited_on_a_face_is_its_slots_in_any_order_of_faces():
    document, order = grid(), [4, 2, 0, 1, 3, 5]
    points = points_of(document, order)
    points.attributes[details.SUN].values[:] = np.arange(6) / 15
    again, _ = encoded(points, document)
    light = details.decode(again, Report()).values(details.SUN, Domain.VERTEX)
    np.testing.assert_allclose(light[order], np.arange(6) / 15, atol=1e-6)


def test_faces_that_know_no_slot_are_of_the_one_they_stand_in():
    document = grid()
    points = points_of(document, [4, 2, 0, 1, 3, 5])
    del points.attributes[FILE_FACE]
    assert encoded(points, document)[0] is document


def test_a_face_drawn_where_one_was_deleted_is_of_that_slot():
    """Blender gives a new face zeros: it claims slot 0, which another has."""
    document = grid()
    points = points_of(document)
    points.attributes[FILE_FACE].values[4] = 0
    assert encoded(points, document)[0] is document


def test_lost_faces_are_reported_and_empty_but_keep_height_and_light():
    document, report = grid(), Report()
    again, _ = encoded(points_of(document, [5, 0, 1, 3]), document, report)
    assert report.lines() == ["2 slots have no face, so nothing grows there (ground)"]
    values = details.unpack(again.slots)
    np.testing.assert_allclose(values.ground, range(6))
    assert values.models[:, 0].tolist() == [0, 0, -1, 0, -1, 0]
    assert values.density[:, 0, 0].tolist() == [15, 15, 0, 15, 0, 15]


def test_faces_twice_in_a_slot_and_outside_the_grid_are_refused_by_number():
    document = grid()
    points = points_of(document, [0, 1, 2, 3, 4, 5, 2])
    with pytest.raises(WriteError, match="2 of 7 faces are in the slot of another face"):
        encoded(points, document)
    assert [problem.elements.tolist() for problem in details.find_misplaced(points, document.header)] == [[2, 6]]
    points = points_of(document)
    del points.attributes[FILE_FACE]
    points.positions[3, 0] = 400
    points.positions[4, 1] = np.nan
    with pytest.raises(WriteError, match="2 of 6 faces are outside all slots"):
        encoded(points, document)


def test_faces_moved_aside_are_reported_and_stay():
    document, report = grid(), Report()
    points = points_of(document)
    points.positions[:2, 0] += 4
    assert encoded(points, document, report)[0] is document
    assert report.lines() == ["2 faces were moved sideways; their slots are exported at their old positions (ground)"]


@given(st.integers(-400, 400), st.integers(-400, 400), st.integers(1, 5), st.integers(1, 5))
def test_a_new_grid_just_holds_what_was_drawn(x, z, width, depth):
    document = grid(width, depth, (x, z))
    points = details.decode(document, Report())
    fresh = details.new_grid(points, document.models)
    assert (fresh.header, len(fresh.slots)) == (document.header, width * depth)
    assert details.write(details.encode(details.arrange(points, fresh, Report()), fresh)[0]) == details.write(document)


def test_a_new_grid_of_faces_that_lie_far_apart_is_refused_before_it_is_made():
    points = Mesh("far", np.array([[0, 0, 0], [1e8, 1e8, 0]], np.float32), np.zeros((0, 3), np.int32))

    def work():
        with pytest.raises(WriteError, match="spread over 50000001 x 50000001 slots"):
            details.new_grid(points, {})

    assert memory_peak(work) < 1_000_000
    with pytest.raises(WriteError, match="has no faces"):
        details.new_grid(Mesh("none", np.zeros((0, 3), np.float32), points.triangles), {})
    with pytest.raises(WriteError, match="NaN or infinite position"):
        details.new_grid(Mesh("none", np.full((1, 3), np.nan, np.float32), points.triangles), {})


# Models --------------------------------------------------------------------------------------------------------------


def test_models_get_their_new_numbers_and_others_keep_theirs():
    points = points_of(grid())
    points.attributes[MODEL_0].values[:] = [0, 2, 5, -1, 9, 3]
    changed = details.renumbered(points, [0, 3, 2, 5, -1])
    assert changed.values(MODEL_0, Domain.VERTEX).tolist() == [0, 2, 3, -1, 9, 1]
    assert points.values(MODEL_0, Domain.VERTEX).tolist() == [0, 2, 5, -1, 9, 3]
    assert details.renumbered(points, [0, 1, 2]) is points


def test_slots_with_a_model_that_is_gone_are_named():
    points = points_of(grid())
    points.attributes[MODEL_0].values[:] = [0, 2, 5, -1, 9, 2]
    (result,) = details.find_orphans(points, {2, 5})
    assert (result.fatal, result.elements.tolist()) == (True, [1, 2, 5])
    assert "missing (2, 5)" in result.sentence
    assert list(details.find_orphans(points, set())) == []


def test_heights_that_version_3_cannot_say_are_named():
    document = grid()
    points = details.decode(document, Report())
    points.positions[[1, 2], 2] = -300, 900
    points.attributes[details.HEIGHT].values[3] = 40
    problems = {problem.sentence: problem.elements.tolist() for problem in details.find_problems(points, document)}
    assert sorted(problems.values()) == [[1, 2], [3]]


# Plants --------------------------------------------------------------------------------------------------------------

SCALES = {0: (0.5, 2.0)}


def plants(points, slots=None, **options):
    chosen = np.arange(len(points.positions)) if slots is None else np.array(slots)
    return details.scatter(points, chosen, SCALES, **options)


def test_full_density_plants_every_point_inside_its_own_slot():
    document = grid()
    result = plants(points_of(document))
    assert len(result) == 6 * 16
    slot = np.repeat(np.arange(6), 16)
    low = np.stack([(slot % 3 - 1) * 2, (slot // 3 - 1) * 2], axis=1)
    assert (result.points[:, :2] >= low).all()
    assert (result.points[:, :2] <= low + 2).all()
    np.testing.assert_allclose(result.points[:, 2], slot, atol=1e-5)
    assert result.scales.min() >= 0.5
    assert result.scales.max() <= 2.0
    assert np.ptp(result.rotations) > 5
    assert (result.models == 0).all()


def test_plants_thin_out_with_the_density_across_a_slot():
    points = points_of(grid(100, 100, (0, 0)))
    points.attributes[DENSITY_0].values[:] = (1.0, 0.0, 1.0, 0.0)  # full at low x, none at high x
    result = plants(points)
    across = result.points[:, 0] % 2 / 2
    share, _ = np.histogram(across, 4, (0, 1))
    # The chance falls evenly: in the quarters it is 7/8, 5/8, 3/8, 1/8 of four places in each of 10,000 slots.
    np.testing.assert_allclose(share / 40_000, [7 / 8, 5 / 8, 3 / 8, 1 / 8], atol=0.02)


def test_of_two_models_each_has_the_share_of_its_density():
    points = points_of(grid(100, 100, (0, 0)))
    points.attributes[details.MODEL[2]].values[:] = 7
    points.attributes[details.DENSITY[2]].values[:] = 0.25
    result = details.scatter(points, np.arange(10_000), {0: (1, 1), 7: (3, 3)})
    assert len(result) == 160_000
    assert np.isclose((result.models == 7).mean(), 0.2, atol=0.01)
    assert (result.scales == np.where(result.models == 7, 3, 1)).all()


def test_a_model_called_by_a_huge_number_takes_no_memory_for_it():
    points = points_of(grid())
    highest = 2**31 - 1
    assert memory_peak(lambda: details.scatter(points, np.arange(6), {**SCALES, highest: (3, 3)})) < 1_000_000
    points.attributes[details.MODEL[0]].values[:] = highest
    result = details.scatter(points, np.arange(6), {highest: (3, 3)})
    assert len(result) == 6 * 16
    assert (result.scales == 3).all()


def test_a_slot_looks_the_same_whatever_else_is_chosen():
    points = points_of(grid())
    points.attributes[DENSITY_0].values[:] = 0.5
    alone, among = plants(points, [4]), plants(points, [1, 4])
    assert 0 < len(alone) < 16
    np.testing.assert_array_equal(alone.points, among.points[-len(alone) :])


def test_nothing_grows_without_models_without_slots_or_by_no_number():
    points = points_of(grid())
    assert len(details.scatter(points, np.arange(6), {})) == 0
    assert len(details.scatter(points, np.zeros(0, np.int64), SCALES)) == 0
    points.attributes[DENSITY_0].values[:] = np.nan
    assert len(plants(points)) == 0


def test_a_fine_raster_needs_no_more_memory():
    points = points_of(grid(40, 40))
    points.attributes[DENSITY_0].values[:] = 0.01
    coarse = memory_peak(lambda: plants(points))
    assert memory_peak(lambda: plants(points, spacing=0.05)) < coarse + 100_000_000


def test_a_face_without_a_slot_among_others_is_of_the_one_it_stands_in():
    document = grid()
    points = points_of(document, [4, 2, 0, 1, 3, 5])
    points.attributes[FILE_FACE].values[2] = -1
    assert encoded(points, document)[0] is document
