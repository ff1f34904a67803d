"""What the engine would not take is found before it is written, with the faces concerned."""

import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.model import Material, PolygonMesh
from addon.core.report import Report
from addon.formats.descent3 import oof
from addon.formats.descent3.oof import mapping
from addon.formats.descent3.oof.model import find_problems, refuse
from tests.formats.descent3.oof.annotated import model
from tests.real_files import corpus_files


def square(corners=4, **more):
    angles = np.arange(corners) * 2 * np.pi / corners
    positions = np.stack([np.cos(angles), np.sin(angles), np.zeros(corners)], axis=-1).astype(np.float32)
    entry = np.array([corners], np.int32), np.arange(corners, dtype=np.int32)
    return PolygonMesh("m", positions, *entry, materials=[Material("t", "t")], **more)


def of(*parts, **more):
    return oof.Model("ship", list(parts), **more)


def part(mesh=None, **more):
    return oof.Part(more.pop("name", "p"), square() if mesh is None else mesh, **more)


def many(count):
    return PolygonMesh(
        "m", np.zeros((count, 3), np.float32), np.zeros(0, np.int32), np.zeros(0, np.int32), material_index=None
    )


def gun():
    return oof.Point(oof.PointKind.GUN, 0, np.zeros(3, np.float32), np.array([0, 1, 0], np.float32))


def faces(count):
    entry = square()
    return PolygonMesh("m", entry.positions, np.full(count, 4, np.int32), np.tile(entry.corners, count))


def cornered(*counts):
    corners = np.concatenate([np.arange(count, dtype=np.int32) for count in counts])
    return PolygonMesh("m", square(max(counts)).positions, np.array(counts, np.int32), corners)


FATAL = {
    "31 sub-objects": (of(*[part() for _ in range(31)]), "31 sub-objects, the game supports 30"),
    "no part": (of(), "it has no sub-object"),
    "2500 vertices": (of(part(many(2500))), "2500 vertices, the game supports 2499"),
    "3001 faces": (of(part(faces(3001))), "3001 faces"),
    "100 corners": (of(part(square(100))), "1 of 1 face has more than 99 corners"),
    "35 textures": (of(part(), textures=[f"t{n}" for n in range(35)]), "36 textures, the game supports 34"),
    "a long texture": (of(part(), textures=["x" * 31]), "longer than 30 characters"),
    "a long name": (of(part(name="x" * 35)), "its name is longer than 34"),
    "a long file name": (oof.Model("x" * 31, [part()]), "longer than 30 characters"),
    "a long property": (of(part(properties="x" * 256)), "its property string is too long"),
    "a long command": (of(part(properties="x" * 199 + "=1")), "its property string is too long"),
    "22 batteries": (of(part(), batteries=[oof.WeaponBattery() for _ in range(22)]), "22 batteries"),
    "9 guns": (of(part(), points=[gun()], batteries=[oof.WeaponBattery([0] * 9)]), "has 9 guns"),
    "no such gun": (of(part(), points=[gun()], batteries=[oof.WeaponBattery([1])]), "names a gun that is not there"),
    "gun 256": (of(part(), points=[gun()] * 257, batteries=[oof.WeaponBattery([256])]), "names a gun above 255"),
    "no axis": (of(part(properties="$rotate=2")), "it rotates but has no axis of rotation"),
}


@pytest.mark.parametrize(("wrong", "words"), FATAL.values(), ids=FATAL)
def test_what_the_game_cannot_take_is_refused(wrong, words):
    with pytest.raises(WriteError, match=words) as refusal:
        oof.encode(wrong)
    assert refusal.value.remedy
    assert any(problem.problem.fatal and words in problem.problem.sentence for problem in oof.find_problems(wrong))


def test_what_just_fits_is_written():
    parts = [part(name="x" * 34, parent=n - 1) for n in range(29)] + [part(many(2499), properties="y" * 198 + "=")]
    textures = [f"t{n}"[:30] for n in range(33)]
    fits = of(*parts, points=[gun()] * 64, batteries=[oof.WeaponBattery([0] * 8) for _ in range(21)], textures=textures)
    assert oof.encode(fits)[0].version == 2300
    with pytest.raises(WriteError, match="hierarchy is 30 levels deep"):
        oof.encode(of(*[part(parent=n - 1) for n in range(30)]))


concave = PolygonMesh(
    "m", np.array([[0, 0, 0], [2, 0, 0], [0.5, 0.5, 0], [0, 2, 0]], np.float32), np.array([4]), np.arange(4)
)
bent = PolygonMesh("m", np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]], np.float32), np.array([4]), np.arange(4))
flat_line = PolygonMesh("m", np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], np.float32), np.array([3]), np.arange(3))
WORTH_A_LOOK = {
    "hidden branch": (of(part(many(0)), part(parent=0)), 0, "the game does not draw its children"),
    "concave": (of(part(concave)), 0, "1 of 1 face is not convex"),
    "bent": (of(part(bent)), 0, "1 of 1 face is not flat"),
    "no area": (of(part(flat_line)), 0, "1 of 1 face has no area"),
    "33 corners": (of(part(square(33))), 0, "more than 32 corners; nothing hits it"),
    "two faces": (of(part(faces(2), properties="$facing")), 0, "wants exactly one face, it has 2"),
    "untextured": (
        of(part(faces(1), properties="$facing")),
        0,
        "1 of 1 face has no texture, which faces that always look at the camera need",
    ),
    "31 corners": (of(part(square(31), properties="$glow=1,1,1,1")), 0, "has more than 30 corners"),
    "shell": (of(part(properties="$shell"), part(parent=0)), 0, "children of a door's shell or front"),
    "a bad glow": (of(part(properties="$glow=1,1")), 0, "it needs 4 numbers"),
    "an open command": (of(part(properties="$what=")), 0, "ends in =; the game would read past it"),
    "11 ground points": (
        of(part(), points=[oof.Point(oof.PointKind.GROUND, 0, np.zeros(3), np.ones(3))] * 11),
        -1,
        "more than 10 ground points",
    ),
    "negative ticks": (
        of(part(motion=oof.Motion(-1, np.array([[1.0, 0, 0, 0]] * 3), np.zeros((3, 3))))),
        0,
        "its motion begins before tick 0",
    ),
}


@pytest.mark.parametrize(("odd", "part_index", "words"), WORTH_A_LOOK.values(), ids=WORTH_A_LOOK)
def test_what_is_suspicious_is_reported_and_written(odd, part_index, words):
    problems = [problem for problem in oof.find_problems(odd) if words in problem.problem.sentence]
    assert [entry.part for entry in problems] == [part_index]
    assert not problems[0].problem.fatal
    assert problems[0].problem.remedy
    if "faces " in words:
        assert problems[0].problem.elements.tolist() == [0]
    oof.encode(odd)


def test_an_unedited_file_leaves_whatever_it_breaks():
    document = oof.read(
        model(replaced={b"TXTR": b"\2\0\0\0" + b"\x29\0\0\0" + b"x" * 40 + b"\0" + b"\1\0\0\0\0"}), "a", Report()
    )
    result = oof.decode(document, Report())
    assert oof.encode(result, document)[0] is document
    result.textures.append("y" * 41)
    with pytest.raises(WriteError, match=r"'y+' is longer than 30"):
        oof.encode(result, document)


@pytest.mark.parametrize("name", sorted(FATAL.keys() - {"no part", "a long file name"}))
def test_what_was_odd_in_the_file_already_stops_no_other_edit(name, monkeypatch):
    """The file is made without the check that it is about."""
    wrong, words = FATAL[name]
    with monkeypatch.context() as unchecked:
        unchecked.setattr(mapping, "refuse", lambda *_: None)
        base = oof.read(oof.write(oof.encode(wrong)[0]), "odd.oof", Report())
    result = oof.decode(base, Report())
    result.parts[0].offset = np.array([1, 2, 3], np.float32)
    created, changes = oof.encode(result, base)
    assert ": offset" in "; ".join(changes.lines)
    assert any(words in problem.problem.sentence for problem in oof.find_problems(oof.decode(created, Report())))
    with pytest.raises(WriteError, match=words):
        oof.encode(result)  # a new file is ours alone


def test_more_of_an_oddity_is_refused():
    twelve = oof.WeaponBattery([0] * 12)
    wrong = of(part(), points=[gun()], batteries=[twelve])
    known = of(part(), points=[gun()], batteries=[twelve, twelve])
    for entry in (wrong, known):
        entry.parts[0].source = 0
    refuse(wrong, wrong)
    with pytest.raises(WriteError, match="battery 1 has 12 guns"):
        refuse(known, wrong)
    entry, more, worse = (of(part(cornered(*counts), source=0)) for counts in ([100], [100, 4], [100, 100, 4]))
    refuse(more, entry)
    with pytest.raises(WriteError, match="2 of 3 faces"):
        refuse(worse, entry)


@pytest.mark.parametrize("file", corpus_files("oof"))
def test_real_models_break_no_limit(file):
    document = oof.read(file.read_bytes(), file.name, Report())
    assert list(find_problems(oof.decode(document, Report()))) == []


def test_numbers_that_are_not_one_are_refused():
    positions = square().positions.copy()
    positions[1, 1] = np.nan
    for wrong, words in (
        (part(PolygonMesh("m", positions, np.array([4]), np.arange(4))), "NaN or infinite position"),
        (part(PolygonMesh("m", square().positions, np.array([4]), np.arange(1, 5))), "refers to a missing vertex"),
        (part(square(uvs=np.full((4, 2), np.inf, np.float32))), "is NaN or infinite"),
        (part(square(uvs=np.zeros((3, 2), np.float32))), "different numbers of texture coordinates and corners"),
        (part(offset=np.array([0, np.inf, 0], np.float32)), "NaN or infinite position"),
        (part(motion=oof.Motion(0, np.full((2, 4), np.nan), np.zeros((2, 3)))), "holds NaN or infinite values"),
        (part(motion=oof.Motion(0, np.ones((2, 4)), np.full((2, 3), np.inf))), "holds NaN or infinite values"),
        (part(parent=7), "the parent of 'p' is not one of the parts"),
        (part(name="имя"), "which the game cannot hold"),
        (part(properties="$rotate=я"), "'.rotate=я' holds 'я', which the game cannot hold"),
    ):
        with pytest.raises(WriteError, match=words) as refusal:
            oof.encode(of(wrong))
        assert refusal.value.remedy


def test_a_turret_that_is_no_part_is_refused():
    wrong = of(part(), batteries=[oof.WeaponBattery([], [1])])
    assert "names a turret that is not there" in next(iter(oof.find_problems(wrong))).problem.sentence
    with pytest.raises(WriteError, match="there is no part 1"):
        oof.encode(wrong)
