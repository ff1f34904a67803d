"""`level` and `level.geom`: bytes by hand, every real file, versions, damaged ones, memory, edits of values."""

import itertools
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.cli import main
from addon.core.errors import ReadError
from addon.core.files import map_file, write_atomically
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import format_named
from addon.formats.verification import Status, file_data, verify
from addon.formats.xray import level
from addon.formats.xray.level import geometry, text
from addon.formats.xray.level.document import Kind
from tests.formats.reading import reading
from tests.formats.xray.level.annotated import (
    CHILDREN,
    CONTAINER,
    FAST_PATH,
    NODE,
    SMALL_GEOM,
    SMALL_LEVEL,
    SURFACE,
    SWI,
    TREE,
    VERTEX,
    WINDOWS,
    header,
)
from tests.formats.xray.level_bytes import chunk, floats, words
from tests.real_files import corpus_files
from tests.work import lines_run, memory_peak

read, read_geometry = reading(level, "l01/level"), reading(geometry, "l01/level.geom")


def test_every_byte_of_a_level_has_a_name():
    document, _ = read(SMALL_LEVEL)
    assert (document.version, document.quality, document.name) == (14, 1, "l01")
    assert document.shaders[2] == b"flora\\leaf/trees\\bush"
    visuals = document.visuals
    assert visuals.types.tolist() == [2, 11, 1]
    assert visuals.shaders.tolist() == [1, 2, 0]
    assert visuals.children[0].tolist() == [0, 1]
    assert visuals.fixed[Kind.TREE]["transform"][0, 3].tolist() == [10, 5, -3, 1]
    assert visuals.fixed[Kind.TREE]["bias"][0].tolist() == [0, 0, 0, 0.25, -0.25]
    assert visuals.windows.lists[1].tolist() == [(3, 1, 3), (0, 1, 2)]
    assert visuals.windows.reserved[1].tolist() == [0xCDCDCDCD, 0, 0xDEADBEEF, 0]
    assert visuals.rows_of(Kind.WINDOWS).tolist() == [0, -1, -1]
    assert visuals.rows_of(Kind.WINDOWS, depth=2).tolist() == [1, -1, -1]
    assert visuals.rows_of(Kind.CONTAINER).tolist() == [0, 2, -1]
    portal = document.portals[0]
    assert (portal["front"], portal["back"], portal["count"]) == (0, 1, 4)
    assert portal["vertices"][2].tolist() == [1, 2, 0]
    assert document.lights["direction"].tolist() == [[0.5, -0.75, 0.25]]
    assert document.glows["radius"].tolist() == [0.5]
    assert [sector.root for sector in document.sectors] == [2, 0]
    assert list(text.problems(document)) == []


def test_every_byte_of_a_geometry_has_a_name():
    document, _ = read_geometry(SMALL_GEOM)
    rows = document.vertices[0].rows
    assert rows.dtype.names == ("position", "normal", "tangent", "binormal", "uv0", "uv1")
    assert rows["position"][1].tolist() == [1, 2, 3]
    assert rows["uv0"][0].tolist() == [512, -512]
    assert rows["uv1"][0].tolist() == [16384, 24576]
    assert rows["normal"][0].tolist() == [127, 255, 127, 200]
    assert document.indices[0].tolist() == [0, 0, 1, 0, 1, 2]
    assert document.windows.lists[0]["triangles"].tolist() == [1, 1]
    assert document.quality == 0x018E


@pytest.mark.parametrize("path", corpus_files("level/*/level"))
def test_facts_that_hold_in_every_real_level(path):
    document, _ = read(path.read_bytes(), str(path))
    visuals = document.visuals
    assert (visuals.ids == np.arange(len(visuals))).all()
    assert (visuals.types >= 0).all()
    roots = {sector.root for sector in document.sectors}
    children = visuals.children.rows
    assert len(np.unique(children)) == len(children)
    assert set(range(len(visuals))) - set(children.tolist()) == roots
    for windows in (visuals.windows.lists[number] for number in range(len(visuals.windows.lists))):
        assert (np.diff(windows["vertices"].astype(int)) == -1).all()
        assert windows["offset"][0] == windows["offset"].max()


# Versions ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "name"), [(12, "builds of 2003 to 2005"), (5, "2002"), (15, "no known build")])
def test_other_versions_are_refused_by_name(version, name):
    for data, module in ((SMALL_LEVEL, level), (SMALL_GEOM, geometry)):
        other = data[:8] + struct.pack("<H", version) + data[10:]
        with pytest.raises(ReadError, match=rf"chunk 0x1, offset 8.*version {version} \(.*{name}.*versions 13 and 14"):
            module.read(other, "level", Report())


def test_version_13_has_float_coordinates_and_is_a_problem_for_the_games():
    elements = [(0, 2, 0), (12, 4, 3), (16, 1, 5)]
    declaration = b"".join(struct.pack("<HHBBBB", 0, at, kind, 0, usage, 0) for at, kind, usage in elements)
    declaration += struct.pack("<HHBBBB", 255, 0, 17, 0, 0, 0)
    vertex = floats(1, 2, 3) + b"\1\2\3\4" + floats(0.25, 0.75)
    data = chunk(1, struct.pack("<HH", 13, 0)) + chunk(9, words(1), declaration, words(1), vertex) + chunk(10, words(0))
    document, _ = read_geometry(data)
    assert geometry.write(document) == data
    assert document.vertices[0].rows["uv0"].tolist() == [[0.25, 0.75]]
    assert list(geometry.problems(document)) == ["version 13; the released games accept 14 only"]


def test_gaps_between_elements_are_kept_and_named():
    declaration = struct.pack("<HHBBBB", 0, 4, 2, 0, 0, 0) + struct.pack("<HHBBBB", 0, 20, 4, 0, 3, 0)
    declaration += struct.pack("<HHBBBB", 255, 0, 17, 0, 0, 0)
    data = chunk(1, struct.pack("<HH", 14, 0)) + chunk(9, words(1), declaration, words(2), bytes(range(48)))
    document, _ = read_geometry(data)
    assert document.vertices[0].rows.dtype.names == ("position", "normal", "gap0", "gap16")
    assert document.vertices[0].rows["gap16"].tolist() == [[16, 17, 18, 19], [40, 41, 42, 43]]
    assert geometry.raw_size(document) == 16
    assert geometry.write(document) == data


# Damaged files -------------------------------------------------------------------------------------------------------


def with_visuals(*bodies):
    """The small level with other visuals."""
    run = [chunk(1, struct.pack("<HH", 14, 1)), chunk(3, *bodies), chunk(2, words(0)), chunk(8)]
    return b"".join(run)


def test_a_visual_that_is_broken_costs_itself_alone():
    broken = CONTAINER[:-3]
    data = with_visuals(chunk(0, SURFACE), chunk(1, broken), chunk(2, header(0, 1)))
    document, report = read(data)
    assert level.write(document) == data
    assert document.visuals.types.tolist() == [2, -1, 0]
    assert level.raw_size(document) == len(broken)
    assert any("do not fit" in warning for warning in report.warnings)
    assert "1 visual without a readable header, first 1" in list(text.problems(document))


@pytest.mark.parametrize(
    "inner",
    [
        chunk(21, bytes(23)),
        chunk(10, words(3, 1, 2)),
        chunk(6, bytes(16), words(2**32 - 1), bytes(8)),
        chunk(22, bytes(5)),
        chunk(99, b"abc"),
        chunk(0x8000_000C, bytes(104)),
    ],
    ids=["container", "children", "windows", "fast path", "unknown", "packed"],
)
def test_a_chunk_that_is_not_what_its_id_promises_is_kept(inner):
    data = with_visuals(chunk(0, header(0, 1), inner), chunk(1, SURFACE))
    document, report = read(data)
    assert level.write(document) == data
    assert level.raw_size(document) == len(inner) - 8
    assert any("kept unchanged" in warning for warning in report.warnings)
    assert document.visuals.types.tolist() == [0, 2]


HOSTILE = {
    "a visual of four billion bytes": (
        level,
        with_visuals(words(0, 2**32 - 1), bytes(40)),
        "visual 0 claims 4294967295 bytes, 40 are left",
    ),
    "four billion shaders": (
        level,
        SMALL_LEVEL.replace(words(4) + b"\0default", words(2**32 - 1) + b"\0default"),
        "shaders",
    ),
    "four billion vertex buffers": (
        geometry,
        chunk(1, b"\x0e\0\0\0") + chunk(9, words(2**32 - 1), bytes(99)),
        "buffers",
    ),
    "four billion vertices": (geometry, SMALL_GEOM.replace(words(3) + VERTEX, words(2**32 - 1) + VERTEX), "vertices"),
    "four billion indices": (geometry, SMALL_GEOM.replace(words(1, 6), words(1, 2**32 - 1)), "indices"),
    "four billion index buffers": (geometry, SMALL_GEOM.replace(words(1, 6), words(2**32 - 1, 6)), "index buffers"),
    "a declaration without an end": (geometry, chunk(1, b"\x0e\0\0\0") + chunk(9, words(1), bytes(8 * 80)), "no end"),
    "an element of an unknown type": (geometry, SMALL_GEOM.replace(b"\x18\0\6\0\5", b"\x18\0\x63\0\5"), "type 99"),
    "four billion lists of windows": (
        geometry,
        chunk(1, b"\x0e\0\0\0") + chunk(11, words(2**32 - 1), bytes(99)),
        "lists of windows",
    ),
    "no elements": (
        geometry,
        chunk(1, b"\x0e\0\0\0") + chunk(9, words(1), b"\xff" + bytes(7), bytes(99)),
        "no elements",
    ),
}


@pytest.mark.parametrize(("module", "data", "problem"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_counts_are_refused_with_file_chunk_offset_and_remedy(module, data, problem):
    with pytest.raises(ReadError) as refused:
        module.read(data, "l01/level", Report())
    assert problem in refused.value.problem
    assert (refused.value.file, bool(refused.value.chunk), bool(refused.value.remedy)) == ("l01/level", True, True)
    assert 0 < refused.value.offset <= len(data)

    def attempt():
        with pytest.raises(ReadError):
            module.read(data, "l01/level", Report())

    assert memory_peak(attempt) < 200_000


PARTS = (
    chunk(11, bytes(range(224)) * 4),
    CONTAINER,
    WINDOWS,
    FAST_PATH,
    TREE,
    SWI,
    CHILDREN,
    header(0, 1),
    chunk(99, b"abc"),
    chunk(21, b"x"),
    chunk(22),
)


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=6), max_size=8), st.binary(max_size=7))
def test_visuals_of_any_chunks_in_any_order_come_back(visuals, tail):
    data = with_visuals(*(chunk(number, *parts) for number, parts in enumerate(visuals)), tail)
    document, _ = read(data)
    assert level.write(document) == data
    assert len(document.visuals) == len(visuals)
    assert document.visuals.types.tolist() == [0 if header(0, 1) in parts else -1 for parts in visuals]
    assert len(document.visuals.fixed[Kind.TREE]) == sum(parts.count(TREE) for parts in visuals)
    kept = sum(len(part) - 8 for parts in visuals for part in parts if part in PARTS[-3:-1])
    assert level.raw_size(document) == kept + len(tail)


def test_what_the_game_refuses_is_reported():
    dark = SMALL_LEVEL.replace(words(1, 3) + floats(1, 1), words(2, 1) + floats(1, 1))
    assert list(text.problems(read(dark)[0])) == ["there is no sun (a light of type 3)"]
    document, _ = read(SMALL_LEVEL)
    document.visuals.children.rows = np.array([0, 9], "<u4")
    document.visuals.fixed[Kind.HEADER] = document.visuals.fixed[Kind.HEADER].copy()
    document.visuals.fixed[Kind.HEADER]["shader"][0] = 44
    document.portals = document.portals.copy()
    document.portals["back"], document.portals["count"] = 7, 2
    document.sectors[0].root = 12
    assert list(text.problems(document)) == [
        "1 visual refers to missing shaders, first 0",
        "1 child is missing",
        "sector 0 has no root visual",
        "1 side of portals without a sector",
        "a portal with fewer than 3 or more than 6 vertices",
    ]
    gap = with_visuals(chunk(0, header(0, 0)), chunk(2, header(0, 0)))
    assert any("gaps" in problem for problem in text.problems(read(gap)[0]))


# Values that are edited ----------------------------------------------------------------------------------------------


def test_a_list_of_children_that_grows_makes_everything_around_it_larger():
    document, _ = read(SMALL_LEVEL)
    document.visuals.children = type(document.visuals.children)(np.array([0, 3]), np.array([0, 1, 1], "<u4"))
    data = level.write(document)
    assert len(data) == len(SMALL_LEVEL) + 4
    again, report = read(data)
    assert not report
    assert again.visuals.children[0].tolist() == [0, 1, 1]
    assert list(Walk(level.VIEWS).differences(read(SMALL_LEVEL)[0], again)) == [
        "visuals children starts: 0 2 / 0 3",
        "visuals children rows: 2 / 3",
    ]


def test_a_tree_that_moves_changes_its_bytes_alone():
    document, _ = read(SMALL_LEVEL)
    trees = document.visuals.fixed[Kind.TREE].copy()
    trees["transform"][0, 3, 0] = 11
    document.visuals.fixed[Kind.TREE] = trees
    data = level.write(document)
    at = SMALL_LEVEL.index(floats(10, 5, -3, 1))
    assert data == SMALL_LEVEL[:at] + floats(11) + SMALL_LEVEL[at + 4 :]
    assert list(Walk(level.VIEWS).differences(read(SMALL_LEVEL)[0], document)) == [
        (
            "visuals tree transform: "
            "1.0 0.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 0.0 1.0 0.0 10.0 5.0 -3.0 1.0 / "
            "1.0 0.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 0.0 1.0 0.0 11.0 5.0 -3.0 1.0"
        )
    ]


def test_a_shader_that_is_renamed_is_named():
    document, _ = read(SMALL_LEVEL)
    document.shaders[2] = b"flora\\leaf/trees\\oak_with_a_longer_name"
    again, _ = read(level.write(document))
    assert list(Walk(level.VIEWS).differences(read(SMALL_LEVEL)[0], again)) == [
        "shader 2: 'flora\\\\leaf/trees\\\\bush' / 'flora\\\\leaf/trees\\\\oak_with_a_longer_name'"
    ]


# Memory and time -----------------------------------------------------------------------------------------------------


def large_geometry(vertices=1 << 20):
    declaration = SMALL_GEOM[SMALL_GEOM.index(words(1)[:4], 16) + 4 :][:56]
    indices = np.zeros(vertices, "<u2").tobytes()
    body = words(1) + declaration + words(vertices) + VERTEX * vertices
    return SMALL_GEOM[:12] + chunk(9, body) + chunk(10, words(1, vertices), indices) + chunk(11, words(0))


def test_a_large_geometry_is_mapped_not_copied(tmp_path):
    path = tmp_path / "level.geom"
    data = large_geometry()
    path.write_bytes(data)
    assert len(data) > 34_000_000
    known = format_named("level_geom")
    assert isinstance(file_data(str(path)), memoryview)

    def work():
        document = known.module.read(file_data(str(path)), str(path), Report())
        known.module.describe(document)
        write_atomically(tmp_path / "again.geom", known.module.pieces(document))

    assert memory_peak(work) < 8_000_000
    assert (tmp_path / "again.geom").read_bytes() == data
    assert memory_peak(lambda: main(["verify", str(path)])) < 16_000_000


def test_pieces_are_views_of_the_bytes_that_were_read():
    data = large_geometry(1 << 12)
    document, _ = read_geometry(data)
    whole = np.frombuffer(data, np.uint8)
    shared = [
        len(piece) for piece in geometry.pieces(document) if np.shares_memory(np.frombuffer(piece, np.uint8), whole)
    ]
    assert sum(shared) > len(data) - 200
    assert verify(data, "level.geom").status is Status.IDENTICAL


def test_a_byte_that_pieces_lose_is_found(monkeypatch):
    lost = itertools.chain([SMALL_GEOM[:20]], [SMALL_GEOM[20:40] + b"x"])
    monkeypatch.setattr(geometry, "pieces", lambda _document: lost)
    verdict = verify(SMALL_GEOM, "level.geom")
    assert verdict.status is Status.DIFFERS
    assert verdict.detail.startswith("write: in the run of bytes from offset 20: first different byte at offset 20")


def test_mapping_a_file_refuses_as_reading_does(tmp_path):
    (tmp_path / "empty.geom").write_bytes(b"")
    for name, problem in (("empty.geom", "the file is empty"), (".", "this is a folder"), ("no.geom", "no such file")):
        with pytest.raises(ReadError, match=problem):
            map_file(tmp_path / name)


def test_work_does_not_grow_with_what_a_visual_holds():
    """A visual costs a walk over its few chunks; writing is the same for ten and for a thousand."""
    few, many = (with_visuals(*[chunk(number, SURFACE) for number in range(count)]) for count in (10, 1000))
    read_each = (lines_run(lambda: read(many)) - lines_run(lambda: read(few))) / 990
    assert read_each < 150
    documents = [read(data)[0] for data in (few, many)]
    assert lines_run(lambda: level.write(documents[1])) == lines_run(lambda: level.write(documents[0]))


# Words ---------------------------------------------------------------------------------------------------------------


def test_info_says_counts_textures_memory_and_sectors(tmp_path, capsys):
    (tmp_path / "level").write_bytes(SMALL_LEVEL)
    (tmp_path / "level.geom").write_bytes(SMALL_GEOM)
    assert main(["info", str(tmp_path / "level"), str(tmp_path / "level.geom")]) == 0
    message = capsys.readouterr().out
    for line in (
        "X-Ray level (level), ",
        "version 14, quality 1, 3 visuals: 1 node, 1 progressive surface, 1 progressive tree",
        "1 tree of 1 mesh, 3 vertices and 6 indices in level.geom (0.0 MB)",
        "2 sectors, 1 portal, 1 light, 1 glow",
        "4 shader strings, 5 textures: glow\\lamp, lmap#1_1, lmap#1_2, trees\\bush, wall",
        "X-Ray level geometry (level_geom)",
        "version 14, 3 vertices in 1 buffer, 6 indices in 1 buffer, 1 window list",
        "3 vertices of 32 bytes: position normal tangent binormal uv0 uv1",
    ):
        assert line in message


def test_the_game_takes_the_first_list_of_children_alone():
    second = chunk(10, words(2, 0, 9))
    document, _ = read(with_visuals(chunk(0, header(0, 0)), chunk(1, SURFACE), chunk(2, NODE + second)))
    problems = list(text.problems(document))
    assert not any("child" in problem or "parents" in problem for problem in problems), problems
