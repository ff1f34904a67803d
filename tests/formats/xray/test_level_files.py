"""All files of a level alike: every real one, our own samples, every cut, hostile counts, words for people."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.cli import main
from addon.core.binary import Reader
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats import FORMATS, HEAD_SIZE, detect, format_named
from addon.formats.verification import Status, verify
from addon.formats.xray import gamemtl
from tests.formats.xray import test_cform, test_details, test_dm, test_err, test_gamemtl, test_hom, test_som
from tests.formats.xray.level import annotated
from tests.formats.xray.level_bytes import chunk, floats, words
from tests.real_files import corpus_files
from tests.work import memory_peak

LEVEL = Path(__file__).resolve().parents[2] / "samples" / "level"
SAMPLES = sorted(LEVEL.iterdir())
KEPT = {"level.err": 4, "level.ai": 16, "level.spawn": 8}
"""Bytes of samples that are kept: a marker, a level's identity, what an object's kind adds."""
KINDS = ("cform", "details", "dm", "err", "hom", "som")
SMALL = {
    "cform": test_cform.SMALL,
    "cform, version 2": test_cform.old(2),
    "cform, build": test_cform.build(),
    "details": test_details.SMALL,
    "details, version 2": test_details.OLD,
    "dm": test_dm.SMALL,
    "err": test_err.SMALL,
    "gamemtl": test_gamemtl.SMALL,
    "hom": test_hom.SMALL,
    "som": test_som.SMALL,
    "level": annotated.SMALL_LEVEL,
    "level_geom": annotated.SMALL_GEOM,
    "ai": annotated.SMALL_AI,
    "wallmarks": annotated.SMALL_WALLMARKS,
    "ps_static": annotated.SMALL_PARTICLES,
    "ps_static, version 1": annotated.NEW_PARTICLES,
    "env_mod": annotated.SMALL_WEATHER,
    "env_mod, version 23": annotated.NEW_WEATHER,
    "snd_static": annotated.SMALL_SOUNDS,
    "spawn": annotated.SMALL_SPAWN,
}


def judged(kind, data):
    known = format_named(kind.partition(",")[0])
    return verify(data, f"small{known.suffixes[0]}" if known.suffixes else known.file_names[0])


@pytest.mark.parametrize("path", corpus_files(*KINDS))
def test_every_real_file_is_identical_or_refused_for_a_reason(path):
    verdict = verify(path.read_bytes(), path.name)
    refused = {"odd_git_lfs_pointer.hom", "odd_truncated_header.cform"}
    assert verdict.status is (Status.REFUSED if path.name in refused else Status.IDENTICAL)
    assert verdict.format == path.parent.name
    assert verdict.warnings == ()
    if path.name.startswith(("odd_", "bx_")):
        return
    assert verdict.raw_share == 0
    assert detect("nameless", path.read_bytes()[:HEAD_SIZE]).name == verdict.format


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_sample_is_identical_known_by_its_first_bytes_and_wholly_understood(path):
    data = path.read_bytes()
    verdict = verify(data, path.name)
    assert (verdict.status, verdict.warnings) == (Status.IDENTICAL, ())
    assert verdict.raw_share == KEPT.get(path.name, 0) / len(data)
    assert detect("nameless", data[:HEAD_SIZE]).name == verdict.format


def test_the_sample_level_agrees_with_itself():
    """Read with nothing of ours: materials and sectors that collision names, sizes, chunk orders."""
    cform = (LEVEL / "level.cform").read_bytes()
    version, vertices, faces = struct.unpack_from("<III", cform)
    assert (version, len(cform)) == (4, 36 + 12 * vertices + 16 * faces)
    rows = [struct.unpack_from("<IIIHH", cform, 36 + 12 * vertices + 16 * face) for face in range(faces)]
    known = gamemtl.read((LEVEL / "gamemtl.xr").read_bytes(), "gamemtl.xr", Report()).by_id()
    assert {word & 0x3FFF for *_, word, _ in rows} == set(known)
    assert {sector for *_, sector in rows} == {0, 1}
    assert any(len({a, b, c}) < 3 for a, b, c, *_ in rows)
    for _, _, _, word, _ in rows:
        flags = known[word & 0x3FFF].flags
        assert (bool(word & 0x4000), bool(word & 0x8000)) == (bool(flags & 1 << 10), bool(flags & 1 << 11))
    details = (LEVEL / "level.details").read_bytes()
    assert struct.unpack_from("<I", details) == (1,)
    assert struct.unpack_from("<III", details, len(details) - 32) == (0, 24, 3)
    assert (LEVEL / "level.hom").stat().st_size == 20 + 12 * 40
    assert (LEVEL / "level.som").stat().st_size == 20 + 10 * 44


@pytest.mark.parametrize("kind", SMALL)
def test_a_file_cut_anywhere_is_refused_or_kept_as_it_is(kind):
    data = SMALL[kind]
    assert judged(kind, data).status is Status.IDENTICAL
    result = {size: judged(kind, data[:size]).status for size in range(len(data))}
    assert set(result.values()) <= {Status.REFUSED, Status.IDENTICAL}
    if kind.startswith(("cform", "dm")):
        assert set(result.values()) == {Status.REFUSED}


@pytest.mark.parametrize("kind", SMALL)
def test_every_number_of_a_header_may_lie(kind):
    """Each four bytes of the first hundred, set to what counts are attacked with: nothing crashes or grows."""
    data = SMALL[kind]
    for at in range(min(len(data), 100)):
        for value in (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
            lying = data[:at] + words(value) + data[at + 4 :]
            assert judged(kind, lying).status in (Status.REFUSED, Status.IDENTICAL)


HOSTILE = {
    "four billion vertices and faces": ("cform", words(4, 2**32 - 1, 2**32 - 1) + bytes(200)),
    "four billion faces in a build": ("cform", chunk(0, words(4, 0, 2**32 - 1) + bytes(24)) + chunk(1)),
    "a grid of four billion squared": (
        "details",
        chunk(0, words(3, 0, 0, 0, 2**32 - 1, 2**32 - 1)) + chunk(2, bytes(99)),
    ),
    "four billion vertices of a detail": ("dm", b"a\0b\0" + words(0) + floats(1, 1) + words(2**32 - 1, 2**32 - 1)),
    "four billion errors": ("err", chunk(2, words(2**32 - 1) + bytes(36)) + chunk(0, words(0))),
    "a chunk of four billion bytes": ("hom", chunk(0, bytes(4)) + words(1, 2**32 - 1) + bytes(80)),
    "a thousand materials inside each other": ("gamemtl", chunk(0x1000, b"\1\0") + chunk(0x1002, words(0, 4) * 1000)),
}


@pytest.mark.parametrize(("kind", "data"), HOSTILE.values(), ids=HOSTILE)
def test_absurd_counts_cost_nothing(kind, data):
    verdict = judged(kind, data)
    assert verdict.status is Status.REFUSED or (verdict.status is Status.IDENTICAL and verdict.warnings)
    assert memory_peak(lambda: judged(kind, data)) < 2_000_000


@given(st.sampled_from(sorted(SMALL)), st.binary(max_size=200), st.integers(0, 60))
def test_any_bytes_are_refused_or_kept(kind, noise, start):
    data = SMALL[kind][:start] + noise
    if data:
        assert judged(kind, data).status in (Status.REFUSED, Status.IDENTICAL)


@pytest.mark.parametrize("kind", sorted({kind.partition(",")[0] for kind in SMALL}))
def test_a_pointer_and_an_empty_file_are_named(kind):
    known = format_named(kind)
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    for data, problem in ((pointer, "git-lfs pointer"), (b"", "the file is empty")):
        with pytest.raises(ReadError, match=problem):
            known.module.read(data, "level", Report())
    Reader(pointer[1:]).refuse_git_pointer()


# Words ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("level.cform", ["version 4, 29 vertices, 17 faces", "2 faces without area", "4 materials: 5, 12, 31, 40"]),
        ("level.hom", ["12 triangles, 0 without area", "10 two-sided, 2 one-sided"]),
        ("level.som", ["8 two-sided, 2 one-sided", "occlusion: 0.0 (2), 0.05 (6), 0.6 (2)"]),
        ("level.details", ["version 3, 6 x 6 slots, 32 with models", "bounds (file axes): x -6 to 6, z -6 to 6"]),
        ("grass.dm", ["8 vertices, 4 triangles", "waves, scale 0.75 to 1.5"]),
        ("level.err", ["2 points, 1 edges, 1 triangles, 1 editor's triangles"]),
        ("gamemtl.xr", ["version 1, 4 materials", "40: objects\\grille, flags suppress shadows, suppress wallmarks"]),
    ],
)
def test_the_command_line_says_counts_and_bounds(name, wanted, capsys):
    assert main(["info", str(LEVEL / name)]) == 0
    message = capsys.readouterr().out
    for line in wanted:
        assert line in message
    assert main(["dump", str(LEVEL / name)]) == 0
    assert capsys.readouterr().out
    assert main(["verify", str(LEVEL / name)]) == 0
    assert main(["diff", str(LEVEL / name), str(LEVEL / name)]) == 0


def test_differences_are_reported_in_the_formats_words(tmp_path, capsys):
    changed = tmp_path / "level.cform"
    changed.write_bytes(test_cform.SMALL[:-4] + b"\x06\x80\x01\x00")
    (tmp_path / "old.cform").write_bytes(test_cform.SMALL)
    assert main(["diff", str(tmp_path / "old.cform"), str(changed)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "faces material: 37 5 / 37 6",
        "faces sector: 3 65535 / 3 1",
    ]


def test_no_two_formats_claim_the_same_first_bytes():
    for kind, data in SMALL.items():
        claims = [known.name for known in FORMATS if known.starts_like(data[:HEAD_SIZE])]
        assert kind.partition(",")[0] in claims or kind == "details, version 2"
        assert detect("nameless", data[:HEAD_SIZE]).name == kind.partition(",")[0]
