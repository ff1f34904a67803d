"""What a game refuses in files that are identical to the byte, said by `verify` and `info`; deep verification."""

import struct

import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.formats import FORMATS, verification
from addon.formats.arma import p3d
from addon.formats.engine_rules import RULES
from addon.formats.round_trips import ROUND_TRIPS
from addon.formats.verification import Status, verify
from addon.formats.xray import details, omf
from tests.formats.arma.p3d.test_polygons import level
from tests.formats.xray.ogf import small_model as small
from tests.formats.xray.omf.test_bytes import TRACKS, chunk, definition, motion, parameters
from tests.formats.xray.test_details import SMALL

MARKS = struct.pack("<I", 0)


def library(*numbered: tuple[int, bytes], announced: int | None = None) -> bytes:
    count = struct.pack("<I", len(numbered) if announced is None else announced)
    return chunk(0xE, chunk(0, count), *(chunk(number, motion(name, TRACKS[2])) for number, name in numbered))


def playing(*names: bytes, bones: tuple[bytes, ...] = (b"root",)) -> bytes:
    return chunk(0xF, parameters(4, list(bones), [definition(name, n, MARKS) for n, name in enumerate(names)]))


SOUND = library((1, b"a"), (2, b"b")) + playing(b"a", b"b")
ODD_OMF = {
    "motions have the chunk ids 2, 3, 21; the game looks for 1 to 3": library((2, b"a"), (3, b"b"), (21, b"c"))
    + playing(b"a", b"b", b"c"),
    "22 motions are declared, 1 found": library((1, b"a"), announced=22) + playing(b"a"),
    "2 motions, 1 definition": library((1, b"a"), (2, b"b")) + playing(b"a"),
    "the motion 'a' has 1 track for 2 bones": library((1, b"a")) + playing(b"a", bones=(b"root", b"hand")),
    "the motion 'a' occurs 2 times": library((1, b"a"), (2, b"a")) + playing(b"a", b"a"),
    "a motion without a name": library((1, b"")) + playing(b""),
    "a bone part or bone without a name": library((1, b"a")) + playing(b"a", bones=(b"",)),
    "the bone 'root' is in several bone parts (2)": library((1, b"a")) + playing(b"a", bones=(b"root", b"root")),
}


def test_sound_motions_have_no_problem():
    assert verify(SOUND, "sound.omf", deep=True).problems == ()


@pytest.mark.parametrize(("problem", "data"), ODD_OMF.items(), ids=ODD_OMF)
def test_what_the_engine_refuses_in_motions_is_named_though_the_file_is_identical(problem, data):
    verdict = verify(data, "odd.omf")
    assert verdict.status is Status.IDENTICAL
    assert problem in verdict.problems


def with_motions(motions: bytes) -> bytes:
    return small.MODEL + motions


def test_motions_inside_a_model_must_fit_its_bones():
    result = verify(with_motions(SOUND), "odd.ogf").problems
    assert "motions have 1 track, the model has 2 bones" in result
    strange = library((1, b"a")) + playing(b"a", bones=(b"root", b"tail"))
    assert (
        "bone parts refer to bones that the model does not have: tail"
        in verify(with_motions(strange), "odd.ogf").problems
    )


def test_vertices_and_triangles_of_a_model_must_point_to_something():
    assert verify(small.MODEL, "small.ogf").problems == ()
    index = small.MODEL.index(small.VERTICES) + 8
    data = small.MODEL[:index] + struct.pack("<H", 9) + small.MODEL[index + 2 :]
    assert "mesh 0: vertices follow bone 9, the model has 2" in verify(data, "odd.ogf").problems


def test_slots_must_name_models_existing():
    document = details.read(SMALL, "level.details", Report())
    assert details.named_models(document) - set(document.models)
    (problem,) = verify(SMALL, "level.details").problems
    assert problem.startswith("slots refer to models that are not in the file: ")


def test_levels_of_an_arma_model_are_checked_as_in_blender():
    data = p3d.write(p3d.P3d(0x101, [level([[0, 1, 2], [0, 2, 3]], resolution=kind) for kind in (1, 1e13, 3e15)]))
    verdict = verify(data, "odd.p3d")
    assert verdict.status is Status.IDENTICAL
    outside = "have points of their component outside (0.01 m, 1 %); components must be convex"
    no_folder = "paths without a folder: a.paa, a.rvmat"
    assert verdict.problems == (
        f"LODs 0, 1, 2 (Resolution 1, Geometry, Roadway): {no_folder} [Paths]",
        "LOD 1 (Geometry): it has no components (vertex groups Component01, Component02 and so on) [Components]",
        "LOD 1 (Geometry): 2 of 2 faces have an open edge; this LOD must be closed [Closed]",
        f"LOD 1 (Geometry): 2 of 2 faces {outside} [Convex]",
        "LOD 2 (Roadway): 2 of 2 faces do not face up, so that people fall through [Roadway Direction]",
    )
    assert [remark.text for remark in verdict.remarks if remark.kind == "note"] == [
        "LOD 0 (Resolution 1): 2 of 2 faces have a material, but no area in the UV map [Useless Faces]",
        "LOD 1 (Geometry): it has no mass [Mass]",
    ]


def test_every_format_that_is_imported_has_a_round_trip_and_names_are_formats():
    known = {entry.name for entry in FORMATS}
    assert set(RULES) < known
    # Tables and archives: nothing is decoded. Visuals of a level and what stands in it: nothing is encoded.
    of_levels = {"level", "level_geom", "ai", "wallmarks", "ps_static", "env_mod", "snd_static", "spawn"}
    assert known - set(ROUND_TRIPS) == {"gamemtl", "hog2", "gam", "ltx", *of_levels}


def test_a_difference_deep_down_is_shown_in_the_formats_words(monkeypatch):
    def lossy(document, _report):
        motions, play = document.motion_set
        play.definitions[0].timing = play.definitions[0].timing * 2
        return document.with_motion_set(omf.document.MotionSet(motions, play))

    monkeypatch.setitem(verification.ROUND_TRIPS, "omf", lossy)
    assert verify(SOUND, "a.omf").status is Status.IDENTICAL
    verdict = verify(SOUND, "a.omf", deep=True)
    assert verdict.status is Status.DIFFERS
    assert verdict.detail.startswith("decoded and encoded: first different byte at offset ")


@pytest.mark.parametrize(("kind", "words"), [(ReadError, "imported"), (WriteError, "exported as it was imported")])
def test_what_cannot_be_decoded_or_encoded_is_a_problem_and_no_difference(monkeypatch, kind, words):
    def refuse(_document, _report):
        raise kind("too odd")

    monkeypatch.setitem(verification.ROUND_TRIPS, "omf", refuse)
    verdict = verify(SOUND, "a.omf", deep=True)
    assert verdict.status is Status.IDENTICAL
    assert verdict.problems == (f"cannot be {words}: too odd",)
