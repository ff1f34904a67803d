"""`.details`: bytes of both versions, slots as columns, points and back, models."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError, WriteError
from addon.core.model import Attribute, Domain
from addon.core.report import Report
from addon.formats.xray import details, dm
from addon.formats.xray.details import EMPTY
from addon.formats.xray.details.document import OLD_SLOT, SLOT
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, hexed, words
from tests.formats.xray.test_dm import SMALL as GRASS
from tests.real_files import corpus_files
from tests.work import lines_run, memory_peak

# base 1001 (0.2 m), height 3, models 5 63 0 62, light 1, sky 2, colours 3 4 5
WORD = 1001 | 3 << 12 | 5 << 20 | 63 << 26 | 0 << 32 | 62 << 38 | 1 << 44 | 2 << 48 | 3 << 52 | 4 << 56 | 5 << 60
HEADER = hexed("""
    03000000 01000000                   ; version, one model
    ffffffff 02000000                   ; offset -1, 2
    02000000 01000000                   ; two slots along x, one along z
""")
SLOTS = hexed("""
    e9 33 50 fc                         ; 1001, 3, model 5, model 63 (none)
    80 1f 32 54                         ; model 0, model 62, sun 1, sky 2, red 3, green 4, blue 5
    2143 0000 ffff 0f00                 ; densities 1 2 3 4; none; all 15; 15 0 0 0
    00 00 f0 ff ff 0f 00 00             ; ground 0, height 0, no models, dark
    0000 0000 0000 0000
""")
SMALL = chunk(1, chunk(0, GRASS)) + chunk(2, SLOTS) + chunk(0, HEADER)

OLD_SLOTS = hexed("""
    cdcccc3d 0000803f                   ; bottom 0.1, top 1
    00 2143                             ; model 0, densities 1 2 3 4
    ff 0000                             ; none
    01 ffff
    ff 3412                             ; none, with densities
    7777                                ; unknown
""")
OLD = chunk(0, words(2, 0) + struct.pack("<iiII", 0, 0, 1, 1)) + chunk(1) + chunk(2, OLD_SLOTS)

read = reading(details, "level.details")


@pytest.mark.parametrize(
    ("bottom", "top", "warned"),
    [
        (-3.0784353e38, 2.4116817e33, False),  # their difference just fits into a float
        (-3e38, 3e38, True),  # and this one does not
        (np.inf, 1.0, True),
        (np.nan, 1.0, True),
    ],
)
def test_heights_of_a_broken_file_are_kept(bottom, top, warned):
    data = OLD.replace(floats(0.1, 1), floats(bottom, top))
    document, report = read(data)
    assert any(NOT_FINITE in warning for warning in report.warnings) == warned
    assert details.write(document) == details.recompose(document) == data
    ground = details.decode(document, report)
    assert details.encode(ground, document)[0] is document
    ground.attributes["model_3"].values[:] = 254
    assert details.write(details.encode(ground, document)[0]) == data.replace(b"\xff\x34\x12", b"\xfe\x34\x12")


# Bytes ---------------------------------------------------------------------------------------------------------------


def test_version_3_is_known_to_the_last_byte():
    document, _ = read(SMALL)
    assert struct.unpack("<Q", SLOTS[:8]) == (WORD,)
    assert (document.header.version, document.header.offset, document.header.size) == (3, (-1, 2), (2, 1))
    assert document.models[0].texture == b"det\\grass"
    values = details.unpack(document.slots)
    np.testing.assert_allclose(values.ground, [0.2, -200])
    np.testing.assert_allclose(values.height, [0.3, 0])
    assert values.models.tolist() == [[5, EMPTY, 0, 62], [EMPTY] * 4]
    assert values.density[0].tolist() == [[1, 2, 3, 4], [0] * 4, [15] * 4, [15, 0, 0, 0]]
    assert values.shades.tolist() == [[1, 2, 3, 4, 5], [0] * 5]


def test_version_2_is_known_to_the_last_byte():
    document, _ = read(OLD)
    values = details.unpack(document.slots)
    assert values.ground.tolist() == [np.float64(np.float32(0.1))]
    assert values.models.tolist() == [[0, EMPTY, 1, EMPTY]]
    assert values.density[0].tolist() == [[1, 2, 3, 4], [0] * 4, [15] * 4, [4, 3, 2, 1]]
    assert values.shades is None


def test_slots_have_the_sizes_of_the_engine():
    assert (SLOT.itemsize, OLD_SLOT.itemsize) == (16, 22)


def test_every_height_comes_back_from_metres():
    """Of a float32 too, which holds most of them a little above or below."""
    steps = np.arange(4096)
    metres = steps * 0.2 - 200
    for held in (metres, metres.astype(np.float32).astype(float)):
        assert (details.document.ground_steps(held) == steps).all()
    heights = np.arange(256) * 0.1
    for held in (heights, heights.astype(np.float32).astype(float)):
        assert (details.document.height_steps(np.full(256, -200.0), held) == np.arange(256)).all()
    shades = np.arange(16) / 15
    for held in (shades, shades.astype(np.float32)):
        assert (details.document.shade_steps(held) == np.arange(16)).all()


def test_new_heights_extend_below_and_above_what_was_asked():
    chance = np.random.default_rng(6)
    bottom, tall = chance.uniform(-200, 600, 5000), chance.uniform(0, 20, 5000)
    base = details.document.ground_steps(bottom) * 0.2 - 200
    top = base + details.document.height_steps(bottom, tall) * 0.1
    assert (base <= bottom + 1e-3).all()
    assert (base > bottom - 0.2 - 1e-3).all()
    assert (top >= bottom + tall - 1e-3).all()
    assert (top < bottom + tall + 0.1 + 1e-3).all()
    assert details.document.ground_steps(np.array([-300, 5000, np.nan])).tolist() == [0, 4095, 0]
    assert details.document.height_steps(np.zeros(2), np.array([-5.0, 99])).tolist() == [0, 255]


@given(arrays.arrays(np.uint64, 3, elements=st.integers(0, 2**64 - 1)), st.integers(0, 2**32 - 1))
def test_any_slot_packs_to_the_same_bits(numbers, seed):
    rows = np.zeros(3, SLOT)
    rows["word"], rows["density"] = numbers, np.random.default_rng(seed).integers(0, 0x10000, (3, 4))
    assert details.pack(details.unpack(rows), 3).tobytes() == rows.tobytes()


@pytest.mark.parametrize("path", corpus_files("details"))
def test_a_real_file_comes_back_from_its_points_and_models(path):
    data = path.read_bytes()
    document, report = read(data, path.name)
    points = details.decode(document, report)
    models = [dm.encode(dm.decode(model, report), model)[0] for _, model in sorted(document.models.items())]
    assert not report
    again, changes = details.encode(points, document, dict(enumerate(models)))
    assert again is document
    assert not changes
    if document.header.version == 3:
        fresh = details.new(models, document.slots, document.header.size, document.header.offset)
        assert details.write(fresh) == data


# Points --------------------------------------------------------------------------------------------------------------


def test_points_stand_in_the_middle_of_their_slots():
    points = details.decode(read(SMALL)[0], Report())
    # Corners at x = (0 + 1) · 2 and (1 + 1) · 2, z = (0 - 2) · 2.
    np.testing.assert_allclose(points.positions, [[3, -3, 0.2], [5, -3, -200]], atol=1e-5)
    assert points.attributes["model_0"].values.tolist() == [5, EMPTY]
    np.testing.assert_allclose(points.attributes["density_0"].values[0], np.arange(1, 5) / 15)
    np.testing.assert_allclose(points.attributes["colour"].values[0], [3 / 15, 4 / 15, 5 / 15, 1])
    assert {attribute.domain for attribute in points.attributes.values()} == {Domain.VERTEX}
    assert points.triangles.shape == (0, 3)


def test_missing_models_are_reported_once():
    report = Report()
    details.decode(read(SMALL)[0], report)
    assert report.lines() == ["slots refer to models that are not in the file: 5, 62 (level.details)"]


def changed(name, row, value, data=SMALL):
    document, _ = read(data)
    points = details.decode(document, Report())
    if name == "ground":
        points.positions[row, 2] = value
    else:
        points.attributes[name].values[row] = value
    again, changes = details.encode(points, document)
    return details.write(again), changes.lines


@pytest.mark.parametrize(
    ("name", "value", "word", "line"),
    [
        ("ground", 0.75, WORD - 1001 + 1003 + ((5 - 3) << 12), "1 height of the ground"),
        ("height", 0.55, WORD + (3 << 12), "1 height of slots"),
        ("model_1", 0, WORD - (63 << 26), "1 slot with other models"),
        ("model_0", EMPTY, WORD + (58 << 20), "1 slot with other models"),
        ("sun", 1.0, WORD + (14 << 44), "1 slot with other light or colour"),
        ("sky", 0.99, WORD + (12 << 48), "1 slot with other light or colour"),
        ("colour", (3 / 15, 0.5, 5 / 15, 0.3), WORD + (3 << 56), "1 slot with other light or colour"),
    ],
)
def test_a_value_changes_its_bits_alone(name, value, word, line):
    data, lines = changed(name, 0, value)
    assert data == SMALL.replace(SLOTS[:8], struct.pack("<Q", word))
    assert lines == [line]


def test_a_density_changes_its_nibble_alone():
    data, lines = changed("density_0", 0, (1 / 15, 2 / 15, 0.9, 4 / 15))
    assert data == SMALL.replace(b"\x21\x43", b"\x21\x4e")
    assert lines == ["1 slot with other densities"]


@pytest.mark.parametrize(("name", "value"), [("ground", 0.28), ("height", 0.34), ("sun", 0.09)])
def test_less_than_half_a_step_is_no_change(name, value):
    data, lines = changed(name, 0, value)
    assert data == SMALL
    assert lines == []


def test_a_missing_attribute_is_the_files():
    document, _ = read(SMALL)
    points = details.decode(document, Report())
    points.attributes.clear()
    assert details.encode(points, document)[0] is document


def test_version_2_keeps_its_floats_and_its_unknown_number():
    assert changed("ground", 0, 0.5, OLD)[0] == OLD.replace(floats(0.1, 1), floats(0.5, 1.4))
    assert changed("height", 0, 0.5, OLD)[0] == OLD.replace(floats(0.1, 1), floats(0.1, 0.6))
    assert changed("model_3", 0, 254, OLD)[0] == OLD.replace(b"\xff\x34\x12", b"\xfe\x34\x12")


@pytest.mark.parametrize(
    ("data", "value", "fatal"),
    [(SMALL, 63, True), (SMALL, -2, True), (SMALL, 62, False), (OLD, 255, True), (OLD, 254, False)],
)
def test_models_the_file_cannot_hold_are_refused_and_those_it_has_not_are_named(data, value, fatal):
    document, _ = read(data)
    points = details.decode(document, Report())
    points.attributes["model_2"].values[0] = value
    problems = [p for p in details.find_problems(points, document) if "model_2" in p.sentence]
    assert [(problem.fatal, problem.elements.tolist()) for problem in problems] == [(fatal, [0])]
    if fatal:
        with pytest.raises(WriteError, match="has a model_2 the file cannot store"):
            details.encode(points, document)
    else:
        details.encode(points, document)


def test_points_that_are_not_the_grids_are_refused():
    document, _ = read(SMALL)
    points = details.decode(document, Report())
    points.positions = points.positions[:1]
    with pytest.raises(WriteError, match="has 1 point, the grid has 2 slots"):
        details.encode(points, document)


@pytest.mark.parametrize("data", [SMALL, OLD])
@pytest.mark.parametrize("name", ["ground", "height"])
def test_a_new_height_that_is_not_finite_is_refused(data, name):
    with pytest.raises(WriteError, match="is NaN or infinite"):
        changed(name, 0, np.nan, data)


# Models --------------------------------------------------------------------------------------------------------------


def test_models_change_alone_and_are_counted():
    document, _ = read(SMALL)
    points = details.decode(document, Report())
    other = dm.read(GRASS.replace(b"grass", b"weeds"), "", Report())
    again, changes = details.encode(points, document, {0: other})
    assert details.write(again) == SMALL.replace(b"grass", b"weeds")
    assert changes.lines == ["1 model"]
    again, changes = details.encode(points, document, {0: document.models[0], 1: other})
    both = chunk(1, chunk(0, GRASS), chunk(1, GRASS.replace(b"grass", b"weeds")))
    assert details.write(again) == both + chunk(2, SLOTS) + chunk(0, words(3, 2) + HEADER[8:])
    assert changes.lines == ["models 1 -> 2"]
    with pytest.raises(WriteError, match="64 detail models, the game supports 63"):
        details.encode(points, document, dict.fromkeys(range(64), other))
    assert [p.fatal for p in details.find_problems(points, document, 64)] == [True]


def test_a_file_from_nothing():
    model = dm.read(GRASS, "", Report())
    slots = details.empty_slots(6)
    document = details.new([model], slots, (2, 3), (1, 1))
    data = details.write(document)
    again, report = read(data)
    assert not report
    points = details.decode(again, report)
    np.testing.assert_allclose(points.positions[:, :2], [[x, z] for z in (-1, 1, 3) for x in (-1, 1)])
    assert (details.unpack(again.slots).models == EMPTY).all()
    points.attributes["model_0"].values[:] = 0
    points.attributes["density_0"] = Attribute(Domain.VERTEX, np.ones((6, 4), np.float32))
    planted = details.unpack(details.encode(points, again)[0].slots)
    assert (planted.models[:, 0] == 0).all()
    assert (planted.density[:, 0] == 15).all()
    with pytest.raises(ValueError, match="6 slots for a grid of 4"):
        details.new([model], slots, (2, 2), (0, 0))


# Broken files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (chunk(1) + chunk(2, SLOTS), r"there is no header \(chunk 0x0\)"),
        (chunk(0, HEADER), r"there is no list of slots \(chunk 0x2\)"),
        (chunk(0, words(4) + HEADER[4:]) + chunk(2, SLOTS), "details of version 4 are not known"),
        (chunk(0, HEADER) + chunk(2, SLOTS[:-1]), "2 slots: 32 bytes are needed, 31 bytes are left"),
        (chunk(0, HEADER[:16] + b"\xff" * 8) + chunk(2, SLOTS), "18446744065119617025 slots: "),
        (chunk(0, HEADER) + chunk(1, chunk(0, GRASS[:-1])) + chunk(2, SLOTS), "chunk 0x1/0x0"),
    ],
)
def test_what_is_no_details_is_refused(data, problem):
    with pytest.raises(ReadError, match=problem):
        read(data)


def test_odd_things_are_reported_and_kept():
    models = chunk(0, GRASS) + chunk(0, GRASS[:9]) + b"odd"
    data = chunk(7, b"x") + chunk(1, models) + chunk(2, SLOTS, b"rest") + chunk(0, HEADER, b"r") + b"end"
    document, report = read(data)
    assert details.write(document) == details.recompose(document) == data
    assert details.raw_size(document) == 1 + 9 + 3 + 4 + 1 + 3
    assert len(report.warnings) == 3
    assert len(report.notes) == 1
    assert read(SMALL.replace(words(3, 1), words(3, 2)))[1].lines() == ["the header says 2 models, the file has 1"]


@pytest.mark.parametrize("size", [(2**32 - 1, 0), (0, 2**32 - 1), (0, 0)])
def test_a_grid_without_slots_is_empty_however_wide(size):
    data = chunk(0, words(3, 2**32 - 1, 0, 0, *size)) + chunk(2)

    def work():
        document, report = read(data)
        assert details.write(document) == details.recompose(document) == data
        points = details.decode(document, report)
        assert points.positions.shape == (0, 3)
        assert details.encode(points, document)[0] is document
        assert details.describe(document)

    assert memory_peak(work) < 1_000_000


def test_nothing_is_done_slot_by_slot():
    lines = []
    for side in (4, 300):
        chance = np.random.default_rng(8)
        rows = np.zeros(side * side, SLOT)
        rows["word"] = chance.integers(0, 2**63, len(rows), np.uint64)
        data = details.write(details.new([], rows, (side, side), (0, 0)))
        document, _ = read(data)
        points = details.decode(document, Report())
        lines.append(
            lines_run(
                lambda d=document, p=points: (details.recompose(d), details.decode(d, Report()), details.encode(p, d))
            )
        )
        assert details.encode(points, document)[0] is document
    assert lines[1] < 1.2 * lines[0]
    assert memory_peak(lambda: read(data)) < 200_000
