"""Names in game files to files on the disk, in any letter case, and never out of the folders."""

import re
from dataclasses import replace

import pytest

from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats.trees import masks
from addon.formats.trees.disk import Disk
from addon.formats.xray import game_tree
from addon.formats.xray.game_tree import tree_of
from tests.formats.archives import written
from tests.work import lines_run


@pytest.fixture
def game(tmp_path):
    for name in (
        "gamedata/meshes/actors/Stalker_Animation.omf",
        "gamedata/meshes/actors/Trader/trader_0.omf",
        "gamedata/meshes/actors/trader/trader_1.omf",
        "gamedata/meshes/actors/trader/deep/trader_2.omf",
        "gamedata/meshes/actors/trader/readme.txt",
        "gamedata/meshes/actors/hero.ogf",
        "gamedata/textures/act/act_face.dds",
        "gamedata/textures/act/act_body.tga",
        "secret.omf",
        "secret.dds",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


@pytest.fixture
def tree(game):
    return tree_of(game / "gamedata/meshes/actors/hero.ogf", (), Report())


def names(game, paths):
    return [path.relative_to(game / "gamedata").as_posix() for path in paths]


@pytest.mark.parametrize(
    "reference",
    [
        "actors\\stalker_animation",
        "actors/stalker_animation",
        "ACTORS\\STALKER_ANIMATION.OMF",
        "\\actors\\.\\stalker_animation.omf",
        "stalker_animation",
        "other\\place\\stalker_animation",  # beside the model, where modders put it
        " actors\\stalker_animation ",
    ],
)
def test_a_motion_file_is_found_however_it_is_spelled(game, tree, reference):
    assert names(game, tree.find_motions(reference)) == ["meshes/actors/Stalker_Animation.omf"]


def test_masks_stand_for_all_that_fit_in_every_spelling_of_the_folder(game, tree):
    """On a disk that tells letters apart a folder can be there twice; the game's disk does not."""
    result = names(game, tree.find_motions("actors\\trader\\*.omf"))
    folders = ["Trader/trader_0", "trader/trader_1", "trader/deep/trader_2"]
    assert result == [f"meshes/actors/{name}.omf" for name in folders]
    (game / "gamedata/meshes/actors/Trader").rename(game / "gamedata/meshes/actors/elsewhere")
    fresh = tree_of(game / "gamedata/meshes/actors/hero.ogf", (), Report())
    result = names(game, fresh.find_motions("ACTORS\\Trader\\TRADER_?.omf"))
    assert result == ["meshes/actors/trader/trader_1.omf"]
    # As in the engine a star takes folders in.
    result = names(game, fresh.find_motions("actors\\trader\\*.omf"))
    assert result == ["meshes/actors/trader/trader_1.omf", "meshes/actors/trader/deep/trader_2.omf"]


@pytest.mark.parametrize(
    "name",
    [
        "..\\..\\secret",
        "actors\\..\\..\\..\\secret",
        "..\\..\\*.omf",
        "C:\\secret",
        "a\0b",
        "",
        "\\",
        "..",
        "*\\..\\secret",
    ],
)
def test_no_name_leads_out_of_the_folders(game, tree, name):
    assert tree.find_motions(name) == []
    assert tree.find_texture(name) is None


def test_an_absolute_name_is_taken_as_one_below_the_folders(game, tree):
    assert tree.find_motions(str(game / "secret.omf")) == []
    assert tree.find_texture(str(game / "secret.dds")) is None


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("act\\act_face", "textures/act/act_face.dds"),
        ("ACT/ACT_FACE.DDS", "textures/act/act_face.dds"),
        ("act\\act_face.tga", "textures/act/act_face.dds"),
        ("act\\act_body", "textures/act/act_body.tga"),
        ("act", None),
        ("act\\missing", None),
    ],
)
def test_textures(game, tree, name, result):
    path = tree.find_texture(name)
    assert (path and path.relative_to(game / "gamedata").as_posix()) == result


def test_a_texture_beside_the_model_is_better_than_none(game):
    lone = game / "loose"
    lone.mkdir()
    (lone / "Act_Face.dds").write_bytes(b"x")
    assert tree_of(lone / "m.ogf", (), Report()).find_texture("act\\act_face") == lone / "Act_Face.dds"


def test_a_masks_square_brackets_are_only_brackets(game, tree):
    (game / "gamedata/meshes/actors/a[1].omf").write_bytes(b"x")
    assert names(game, tree.find_motions("actors\\a[1]*")) == ["meshes/actors/a[1].omf"]


@pytest.mark.parametrize(
    "mask",
    [
        "*",
        "",
        "a",
        "A*",
        "*a",
        "?",
        "*?",
        "a*b",
        "a*a*a",
        "*a*b*",
        "a**b",
        "?*?*?",
        "ab",
        "a?b",
        "*ab*ab",
        "(*)",
        "я*",
        "*\n*",
    ],
)
def test_a_mask_fits_what_the_expression_of_the_same_meaning_does(mask):
    wild = {"*": ".*", "?": "."}
    wanted = re.compile("".join(wild.get(sign, re.escape(sign)) for sign in mask), re.IGNORECASE | re.DOTALL)
    fits = masks.path_test(mask)
    paths = ["", "a", "b", "ab", "aB", "aab", "abb", "aba", "aaaa", "abab", "ab/ab", "a\nb", "()", "(x)", "Я/x", "xyz"]
    assert {path: fits(path) for path in paths} == {path: bool(wanted.fullmatch(path)) for path in paths}


def test_hostile_masks_cost_no_more_than_their_length(tree, game):
    """As one regular expression twenty asterisks took over a minute for a name of forty letters."""
    below = game / "gamedata/meshes/actors"
    (below / ("a" * 100 + "b.omf")).write_bytes(b"x")
    assert tree.find_motions("*a" * 20 + "c") == []
    assert names(game, tree.find_motions("*a" * 20 + "b*")) == ["meshes/actors/" + "a" * 100 + "b.omf"]
    assert tree.find_motions("*" * 30_000) != []
    assert tree.find_motions("*?" * 15_000) == []
    assert lines_run(lambda: tree.find_motions("*a" * 2000 + "c")) < 500


def test_thousands_of_masks_are_not_all_looked_up(tree, monkeypatch):
    looked_up = []
    monkeypatch.setattr(game_tree, "path_test", lambda mask: looked_up.append(mask) or (lambda _: False))
    assert game_tree.MOST_MASKS < 5000
    for number in range(5000):
        tree.find_motions(f"*{number}")
    assert len(set(looked_up)) == game_tree.MOST_MASKS


def test_the_folders_are_walked_once_for_all_masks(tree, monkeypatch):
    walked = []
    walk = Disk.walk
    monkeypatch.setattr(Disk, "walk", lambda disk, *key: walked.append((disk, *key)) or walk(disk, *key))
    for number in range(10):
        tree.find_motions(f"*{number}")
    assert len(walked) == len(set(walked)) == 2  # meshes, and beside the model


def test_folders_that_are_not_there_hold_nothing(tmp_path):
    games = (InstalledGame(tmp_path / "nowhere"),)
    tree = tree_of(tmp_path / "no" / "meshes" / "m.ogf", games, report := Report())
    assert tree.find_texture("a\\b") is None
    assert tree.find_motions("a\\*.omf") == []
    assert tree.find_motions("a") == []
    assert ["a game is left out" in line for line in report.lines()] == [True]


def test_only_the_folders_that_are_called_so_are_searched(tmp_path):
    for name in ("Meshes/a.ogf", "meshes_old/a.ogf", "Textures/a.dds", "configs/a.dds"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "textures.txt").write_bytes(b"x")
    tree = game_tree.tree_over([InstalledGame(tmp_path)], Report())
    assert tree.find_model("a") == tmp_path / "Meshes/a.ogf"
    assert tree.find_texture("a") == tmp_path / "Textures/a.dds"


def test_a_games_level_takes_what_is_in_its_folder_first(game):
    level = game / "gamedata/levels/l01"
    (level / "act").mkdir(parents=True)
    (level / "act/act_face.dds").write_bytes(b"x")
    tree = tree_of(level / "level", (), Report())
    assert tree.find_texture("act\\act_face") == game / "gamedata/textures/act/act_face.dds"
    assert replace(tree, level_first=True).find_texture("act\\act_face") == level / "act/act_face.dds"


def test_what_is_in_archives_is_found_and_also_from_inside_of_one(game):
    header = b"[header]\r\nentry_point = gamedata\r\n"
    names = (b"meshes\\w\\pm.ogf", b"meshes\\w\\pm.omf", b"meshes\\w\\more\\pm_2.omf", b"textures\\act\\act_body.dds")
    archive = game / "db" / "all.db0"
    archive.parent.mkdir()
    archive.write_bytes(written.xray([(name, name) for name in names], header=header))
    (game / "fsgame.ltx").write_text("$arch$=false|0|$fs_root$|db\n$game_data$=true|0|$fs_root$|gamedata")
    tree = tree_of(archive / "meshes/w/pm.ogf", (), Report())
    assert tree.find_model("W\\PM") == archive / "meshes/w/pm.ogf"
    assert tree.find_motions("w\\pm") == tree.find_motions("pm") == [archive / "meshes/w/pm.omf"]
    assert tree.find_motions("w\\*.omf") == [archive / "meshes/w/more/pm_2.omf", archive / "meshes/w/pm.omf"]
    assert tree.find_texture("act\\act_face") == game / "gamedata/textures/act/act_face.dds"
    assert tree.find_texture("act\\act_body") == archive / "textures/act/act_body.dds"


def test_a_mask_only_in_a_folder_s_name_is_searched_like_any_other(game):
    assert tree_of(game / "gamedata/meshes/actors/hero.ogf", (), Report()).find_motions("act*\\nobody") == []
