"""All files of a level alike: our own samples, words for people."""

import struct
from pathlib import Path

import pytest

from addon.cli import main
from addon.core.report import Report
from addon.formats.xray import gamemtl
from tests.formats.xray import test_cform

LEVEL = Path(__file__).resolve().parents[2] / "samples" / "level"


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


def test_differences_are_reported_in_the_formats_words(tmp_path, capsys):
    changed = tmp_path / "level.cform"
    changed.write_bytes(test_cform.SMALL[:-4] + b"\x06\x80\x01\x00")
    (tmp_path / "old.cform").write_bytes(test_cform.SMALL)
    assert main(["diff", str(tmp_path / "old.cform"), str(changed)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "faces material: 37 5 / 37 6",
        "faces sector: 3 65535 / 3 1",
    ]
