"""The kinds of files that the interface offers, beside the formats, the operators and the README's table."""

import re
from pathlib import Path

import bpy
import pytest

from addon import formats, games
from addon.games.kinds import Drop, FileKind, exporters, importers
from addon.games.xray import kinds

KINDS = [kind for of_game in games.KINDS for kind in of_game]
README = Path(__file__).parents[2] / "README.md"
GAMES = ("X-Ray", "Arma", "Descent 3")
SAVED_BY_OBJECT = {"level", "level_geom"}
"""What is saved from the objects that an import of a level's folder made."""


def rows() -> list[list[str]]:
    """The cells of the README's table of formats."""
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if "byte for byte |" in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def row_of(known: formats.Format) -> list[str]:
    game = next(game for game in GAMES if known.title.startswith(game))
    wanted = {*known.suffixes, *known.file_names}
    result = [
        row for row in rows() if game in row[0] and wanted <= set(re.findall(r"((?:\.|(?<=`))\w+)[` ]", row[1] + " "))
    ]
    assert len(result) == 1, f"the README has {len(result)} lines about {known.title}"
    return result[0]


@pytest.mark.parametrize("known", formats.FORMATS, ids=lambda known: known.name)
def test_the_readme_says_what_can_be_done_with_a_format(known):
    _, _, _, commands, blender = row_of(known)
    assert ("`convert`" in commands) == bool(known.conversions or known.along_skeleton or known.renderings)
    assert all(f"`{command}`" in commands for command in ("info", "dump", "verify", "diff"))
    reads = [kind for kind in KINDS if known.name in (*kind.formats, *kind.folder)]
    writes = [kind for kind in reads if known.suffixes and set(known.suffixes) <= set(kind.exported_suffixes)]
    writes += [kind for kind in reads if known.name in kind.folder and known.name in SAVED_BY_OBJECT]
    assert blender.startswith("import") == bool(reads)
    assert (" export" in blender) == bool(writes)


def test_the_readme_has_no_format_that_is_gone():
    assert {id(row) for row in rows()}
    named = {suffix for row in rows() for suffix in re.findall(r"(\.\w+)`", row[1])}
    assert named == {suffix for known in formats.FORMATS for suffix in known.suffixes}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.operator}-{kind.handler}")
def test_each_kind_has_its_operators(kind):
    importer = getattr(bpy.ops.import_scene, kind.operator).get_rna_type()
    assert "filepath" in importer.properties or "directory" in importer.properties
    if kind.suffixes and "filter_glob" in importer.properties:
        assert set(kind.glob.split(";")) <= set(importer.properties["filter_glob"].default.split(";"))
    if kind.exported_suffixes:
        exporter = getattr(bpy.ops.export_scene, kind.operator).get_rna_type()
        assert exporter.properties["filter_glob"].default == kind.exported_glob


def test_menus_name_three_suffixes_at_most():
    assert importers(kinds.KINDS)["xray_level_geometry"] == "X-Ray Level Geometry (.cform, .hom, .som …)"
    assert importers(kinds.KINDS)["xray_level"] == "X-Ray Level Folder"
    assert "xray_level" not in exporters(kinds.KINDS)


def test_kinds_with_the_same_operator_are_one_entry():
    two = [FileKind("toy", "Toy", ("oof",)), FileKind("toy", "Toy Archive", ("hog2",), exported=(), drop=Drop.SCENE)]
    assert importers(two) == {"toy": "Toy (.oof, .pof, .hog …)"}
    assert exporters(two) == {"toy": "Toy (.oof, .pof)"}
