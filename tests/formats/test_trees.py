"""Which file a game takes: archives, loose folders and mods, in the order of each game."""

import contextlib
import itertools
import ntpath
import os
from pathlib import Path, PureWindowsPath

import pytest

from addon.cli import main
from addon.core.errors import ReadError
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats import archives, trees
from addon.formats.descent3 import hog2
from addon.formats.trees import InstalledGame, arma, disk, organizer, xray
from addon.formats.trees.tree import key_of
from tests.formats.archives import written

NAME = "textures\\act\\act_face.dds"
COP = {
    "$arch_dir$": ("false", ""),
    "$arch_dir_resources$": ("false", "resources\\"),
    "$arch_dir_patches$": ("true", "patches\\"),
    "$game_data$": ("true", "gamedata\\"),
    "$game_textures$": ("true", "gamedata\\textures\\"),
}


def fsgame(lines):
    return "".join(f"{alias} = {recurse}| true| $fs_root$| {add}\r\n" for alias, (recurse, add) in lines.items())


def put(path, data=b"x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def put_archive(path, text, *, header=b"[header]\r\nentry_point = $fs_root$\\gamedata\\\r\n", name=NAME):
    return put(path, written.xray([(name.encode(), text)], header=header))


@pytest.fixture
def cop(tmp_path):
    """A game whose texture is in four places."""
    put(tmp_path / "fsgame.ltx", fsgame(COP).encode())
    put_archive(tmp_path / "resources/resources.db0", b"db0")
    put_archive(tmp_path / "resources/resources.db1", b"db1")
    put_archive(tmp_path / "patches/deep/xpatch.db", b"patch")
    put(tmp_path / "gamedata/Textures/act/ACT_Face.dds", b"loose")
    return tmp_path


def texts(tree, name=NAME):
    return [content(path) for path in tree.where(name)]


def content(path):
    inner = archives.inner_file(path)
    return (read_file(path) if inner is None else inner).decode()


def test_the_order_of_a_game_with_the_file_in_four_places(cop):
    tree = trees.tree_at(InstalledGame(cop))
    assert texts(tree) == ["loose", "patch", "db1", "db0"]
    assert content(tree.find("Textures/ACT/act_face.DDS")) == "loose"
    assert tree.where("gamedata\\" + NAME) == tree.where(NAME)
    (cop / "gamedata/Textures/act/ACT_Face.dds").unlink()
    (cop / "patches/deep/xpatch.db").unlink()
    assert texts(trees.tree_at(InstalledGame(cop))) == ["db1", "db0"]


def test_lines_that_are_moved_move_the_winner(cop):
    """Whoever is registered last wins, so every order of the lines gives the order of their files."""
    reached = {
        "$arch_dir_resources$": ["db1", "db0"],
        "$arch_dir_patches$": ["patch"],
        "$game_data$": ["loose"],
        "$game_textures$": ["loose"],
    }
    for order in itertools.permutations(reached):
        (cop / "fsgame.ltx").write_text(fsgame({alias: COP[alias] for alias in order}))
        wanted = [text for alias in reversed(order) for text in reached[alias]]
        assert texts(trees.tree_at(InstalledGame(cop))) == list(dict.fromkeys(wanted)), order


def test_an_archive_beats_a_loose_file_outside_of_all_lines(cop):
    lines = {alias: line for alias, line in COP.items() if alias != "$game_textures$"} | {
        "$game_data$": ("false", "gamedata\\")
    }
    (cop / "fsgame.ltx").write_text(fsgame(lines))
    tree = trees.tree_at(InstalledGame(cop))
    assert texts(tree) == ["patch", "db1", "db0", "loose"]
    assert [tree.is_seen(path, NAME) for path in tree.where(NAME)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("$game_data$ = true| true| $fs_root$| gamedata\\", ("$game_data$", True, "gamedata\\")),
        ("  $A$ = ON |false|$fs_root$|B/c\\ | *.db | text ; comment", ("$a$", False, "b\\c\\")),
        ("$a$ = 1| 0| .\\x", ("$a$", True, "x\\")),
        ("$a$ = yes| 0| $fs_root$", ("$a$", True, "")),
        ("$a$ = true| true| $fs_root$| ..\\elsewhere\\", None),
        ("$a$ = true| true| C:\\games", None),
        ("; $a$ = true| true| $fs_root$", None),
        ("$a$ = true| true", None),
        ("no line", None),
    ],
)
def test_lines_of_fsgame(line, wanted):
    assert xray.read_fsgame(line, Report()) == ([wanted] if wanted else [])


def test_a_line_may_start_at_one_above_it_and_a_name_counts_once():
    text = "$a$=true|0|$fs_root$|x\n$b$=false|0|$A$|y\n$a$=true|0|$fs_root$|z\n$c$=true|0|$later$|\\w"
    lines = xray.read_fsgame(text, findings := Report())
    assert [line.folder for line in lines] == ["x\\", "x\\y\\", "$later$\\w\\"]
    assert len(findings.warnings) == 1


def test_mods_of_shadow_of_chernobyl_beat_loose_files(tmp_path):
    lines = {"$mod_dir$": ("false", "mods\\"), "$game_data$": ("true", "gamedata\\")}
    put(tmp_path / "fsgame.ltx", fsgame(lines).encode())
    put_archive(tmp_path / "gamedata.db0", b"db0", header=b"")
    put_archive(tmp_path / "gamedata.dba", b"dba", header=b"")
    put_archive(tmp_path / "mods/a.xdb0", b"mod", header=b"")
    put_archive(tmp_path / "mods/b.xdb0", b"later", header=b"")
    put(tmp_path / "gamedata/textures/act/act_face.dds", b"loose")
    put(tmp_path / "Thumbs.db", b"no archive")
    assert texts(trees.tree_at(InstalledGame(tmp_path))) == ["later", "mod", "loose", "dba", "db0"]


def test_mods_lie_over_the_game_and_over_each_other(cop, tmp_path_factory):
    mods = tmp_path_factory.mktemp("mods")
    put(mods / "one/gamedata/textures/act/act_face.dds", b"one")
    put(mods / "two/TEXTURES/act/act_face.dds", b"two")
    put_archive(mods / "three/patches/zz.db", b"three")
    tree = trees.tree_at(InstalledGame(cop, tuple(mods / name for name in ("one", "two", "three"))))
    assert texts(tree) == ["two", "one", "loose", "three", "patch", "db1", "db0"]
    assert texts(trees.tree_at(InstalledGame(cop, (mods / "two", mods / "one"))))[:2] == ["one", "two"]


def test_a_file_finds_the_tree_that_it_is_in(cop, tmp_path_factory):
    assert trees.around(cop / "gamedata/meshes/a.ogf") == cop
    assert trees.around(cop / "resources/resources.db0" / NAME) == cop
    mod = put(tmp_path_factory.mktemp("mod") / "meshes/a.ogf")
    assert trees.around(mod) == mod.parents[1]
    known = trees.tree_for(mod, [InstalledGame(cop, (mod.parents[1],))])
    assert texts(known)[0] == "loose"
    assert known.find("meshes\\a.ogf") == mod
    assert trees.tree_for(tmp_path_factory.mktemp("none") / "a.ogf", [InstalledGame(cop)]) is None


def test_where_says_who_wins_and_who_else_has_the_file(cop, capsys):
    assert main(["where", NAME, "--game", str(cop)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(cop / "gamedata/Textures/act/ACT_Face.dds")
    assert lines[1:] == [
        f"  {cop / name / NAME.replace(chr(92), '/')}"
        for name in ("patches/deep/xpatch.db", "resources/resources.db1", "resources/resources.db0")
    ]
    assert main(["where", str(cop / "resources/resources.db0" / "textures/act/act_face.dds")]) == 0
    assert capsys.readouterr().out.splitlines() == lines
    assert main(["where", "textures\\none.dds", "--game", str(cop)]) == 2
    assert "has no file of this name" in capsys.readouterr().err
    assert main(["where", NAME, "--game", str(cop / "gamedata/Textures")]) == 2
    assert "fsgame.ltx" in capsys.readouterr().err


def test_where_takes_relative_paths_of_game_mod_and_file(cop, tmp_path_factory, monkeypatch, capsys):
    mod = tmp_path_factory.mktemp("mod")
    loose = put(mod / "gamedata/Textures/act/act_face.dds")
    monkeypatch.chdir(mod.parent)
    over = ["--game", os.path.relpath(cop), "--mod", mod.name]
    for name in (
        NAME,
        str(loose),
        os.path.relpath(loose),
        os.path.relpath(cop / "resources/resources.db0/textures/act/act_face.dds"),
    ):
        assert main(["where", name, *over]) == 0
        assert capsys.readouterr().out.splitlines()[0] == str(loose)
    monkeypatch.chdir(mod / "gamedata")  # a file here has the name that the game's files give it
    assert main(["where", "Textures/act/act_face.dds", "--game", str(cop)]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith(str(cop))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([""], "no name is given. Name a file of the game."),
        (["textures"], "this is a folder. Name a file in it."),
        (["resources/resources.db0/textures"], "this is a folder. Name a file in it."),
        (["textures/*.dds"], "this is a pattern. Name one file."),
        (["resources/resources.db0"], "this is an archive of the game. Name a file in it."),
        (["fsgame.ltx"], "the game does not look for files here"),
        (["resources/resources.db0/none.dds"], "the game has no file of this name"),
        (["../other.dds"], "this file is neither in the game's folder"),
        ([NAME, "--mod", "none"], "none: there is no such folder."),
        ([NAME, "--game", "fsgame.ltx"], "fsgame.ltx: this is a file, not a folder."),
    ],
)
def test_where_says_what_it_cannot_look_for(cop, monkeypatch, run, arguments, words):
    put(cop.parent / "other.dds")
    monkeypatch.chdir(cop)
    game = [] if "--game" in arguments else ["--game", "."]
    status, out, err = run("where", *arguments, *game)
    assert (status, out) == (2, [])
    assert words in err
    assert err.count("\n") == 1


def test_an_archive_that_cannot_be_read_is_left_out_and_named(cop, capsys):
    put(cop / "resources/resources.db2", b"SQLite format 3\0" + bytes(99))
    assert main(["where", NAME, "--game", str(cop)]) == 0
    assert "resources.db2" in capsys.readouterr().err


def test_archives_are_opened_only_if_a_loose_file_does_not_win(cop, monkeypatch):
    opened = []
    read = archives.opened
    monkeypatch.setattr(archives, "opened", lambda path: opened.append(path.name) or read(path))
    assert trees.tree_at(InstalledGame(cop)).find(NAME).name == "ACT_Face.dds"
    assert opened == []
    trees.tree_at(InstalledGame(cop)).find("textures\\other.dds")
    assert sorted(opened) == ["resources.db0", "resources.db1", "xpatch.db"]


def test_files_below_a_folder_are_those_that_the_game_takes(cop):
    put_archive(cop / "resources/more.db0", b"other", name="textures\\act\\b.dds")
    below = trees.tree_at(InstalledGame(cop)).below("textures\\act", ".dds")
    assert {key: content(path) for key, path in below.items()} == {
        "gamedata\\textures\\act\\act_face.dds": "loose",
        "gamedata\\textures\\act\\b.dds": "other",
    }


# Mod Organizer --------------------------------------------------------------------------------------------------------


@pytest.fixture
def organized(cop, tmp_path_factory):
    base = tmp_path_factory.mktemp("organizer")
    put(base / "ModOrganizer.ini", f"[General]\ngamePath=@ByteArray({cop})\nselected_profile=@ByteArray(My)\n".encode())
    for name in ("low", "high", "off"):
        put(base / "mods" / name / "gamedata/textures/act/act_face.dds", name.encode())
    put(base / "profiles/My/modlist.txt", b"# comment\n-off\n+high\n*DLC\n+low\n+gone\n")
    return base


def test_a_folder_of_mod_organizer_is_one_game(organized):
    assert texts(trees.tree_at(InstalledGame(organized))) == ["high", "low", "loose", "patch", "db1", "db0"]
    put(organized / "overwrite/gamedata/textures/act/act_face.dds", b"written")
    assert texts(trees.tree_at(InstalledGame(organized)))[0] == "written"
    put(organized / "profiles/My/modlist.txt", b"+low\n+off\n-high\n")
    assert texts(trees.tree_at(InstalledGame(organized)))[:3] == ["written", "low", "off"]
    file = organized / "mods/low/gamedata/meshes/a.ogf"
    assert trees.around(file) == organized


def test_a_profile_without_list_is_named(organized):
    (organized / "profiles/My/modlist.txt").unlink()
    with pytest.raises(ReadError, match="'My' has no list of mods"):
        trees.tree_at(InstalledGame(organized))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("C:/GAMMA/mods", "C:\\GAMMA\\mods"),
        ("%BASE_DIR%/mods", "D:\\MO\\mods"),
        ("E:\\Games\\Anomaly", "E:\\Games\\Anomaly"),
        ("", "D:\\MO"),
    ],
)
def test_folders_of_mod_organizer_on_windows(monkeypatch, text, wanted):
    monkeypatch.setattr(organizer, "Path", PureWindowsPath)
    result = organizer._path(text, PureWindowsPath("D:\\MO"), PureWindowsPath("D:\\MO"))
    assert ntpath.normpath(str(result)) == wanted


# Arma and Descent 3 ---------------------------------------------------------------------------------------------------


def test_arma_finds_files_by_prefix_in_sources_mods_and_the_game(tmp_path):
    game, first, second = tmp_path / "Arma 3", tmp_path / "@one", tmp_path / "@two"
    prefix = [(b"prefix", b"z\\X\\addons\\main")]
    for folder, text in ((game, b"game"), (first, b"one"), (second, b"two")):
        put(folder / "Addons/x.pbo", written.pbo([(b"data\\a.paa", text)], properties=prefix))
    put(game / "Dta/y.pbo", written.pbo([(b"b.paa", b"dta")], properties=[(b"prefix", b"a3\\y")]))
    put(game / "Expansion/Addons/e.pbo", written.pbo([(b"c.paa", b"expansion")], properties=[(b"prefix", b"a3\\e")]))
    put(game / "@three/addons/x.pbo", written.pbo([(b"d.paa", b"mod")], properties=[(b"prefix", b"a3\\three")]))
    tree = trees.tree_at(InstalledGame(game, (first, second)))
    assert texts(tree, "P:\\z\\x\\addons\\main\\data\\A.paa") == ["two", "one", "game"]
    assert texts(tree, "\\a3\\y\\b.paa") == ["dta"]
    assert texts(tree, "a3\\e\\c.paa") == ["expansion"]
    assert texts(tree, "a3\\three\\d.paa") == []
    sources = tmp_path / "sources"
    put(sources / "main/$PBOPREFIX$", b"z\\x\\addons\\main\r\n")
    put(sources / "main/data/a.paa", b"source")
    put(sources / "a3/y/b.paa", b"drive")
    tree = arma.tree(InstalledGame(game, (first, second, sources)))
    assert texts(tree, "z\\x\\addons\\main\\data\\a.paa") == ["source", "two", "one", "game"]
    assert texts(tree, "a3\\y\\b.paa") == ["drive", "dta"]
    assert trees.kind_of(sources) == trees.ARMA


def test_descent_3_takes_loose_files_then_archives_that_are_opened_later(tmp_path):
    for name, text in (("d3.hog", b"d3"), ("extra.hog", b"extra"), ("extra13.hog", b"extra13")):
        put(tmp_path / name, hog2.write(hog2.new_hog2({"ship.ogf": text, name: text}, {"ship.ogf": 0, name: 0})))
    put(tmp_path / "textures/Ship.ogf", b"loose")
    tree = trees.tree_at(InstalledGame(tmp_path))
    assert texts(tree, "SHIP.ogf") == ["loose", "extra13", "extra", "d3"]
    assert texts(tree, "textures\\ship.ogf") == texts(tree, "SHIP.ogf")


def test_loose_files_of_descent_3_are_listed_once(tmp_path):
    put(tmp_path / "d3.hog", hog2.write(hog2.new_hog2({"ship.ogf": b"d3"}, {"ship.ogf": 0})))
    put(tmp_path / "data/Ship.ogf", b"loose")
    put(tmp_path / "data/other.ogf", b"loose")
    tree = trees.tree_at(InstalledGame(tmp_path))
    index = trees.Index(tree)
    index.enter_all()
    assert index.search("").names == ["d3.hog", "other.ogf", "ship.ogf"]
    assert index.enter("").folders == []
    assert content(index.path("ship.ogf")) == "loose"
    assert list(tree.below("", ".ogf")) == ["other.ogf", "ship.ogf"]


# Many files and links -------------------------------------------------------------------------------------------------


def test_every_file_of_a_game_is_found_and_a_cut_list_of_another_folder_is_reported(tmp_path, monkeypatch):
    for number in range(4):
        put(tmp_path / f"meshes/{number}/walk.omf")
    monkeypatch.setattr(disk, "MOST_FILES", 3)
    game = trees.tree_at(InstalledGame(tmp_path))
    assert len(game.below("meshes")) == 4
    assert not game.report()
    other = trees.folder_tree(tmp_path / "meshes")
    assert len(other.below("")) < 4
    words = "the folder has more than 3 files; those further below are not found"
    assert other.report().warnings == {words: [str(tmp_path / "meshes")]}


def test_links_to_folders_around_them_are_left_out(tmp_path):
    put(tmp_path / "meshes/a/walk.omf")
    put(tmp_path / "elsewhere/run.omf")
    try:
        (tmp_path / "meshes/a/up").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "meshes/a/gone").symlink_to(tmp_path / "gone")
        (tmp_path / "meshes/a/mod").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
        (tmp_path / "elsewhere/back").symlink_to(tmp_path / "meshes", target_is_directory=True)
    except OSError:
        pytest.skip("the system makes no links")
    tree = trees.tree_at(InstalledGame(tmp_path))
    index = trees.Index(tree)
    index.enter_all()
    keys = sorted(tree.below("meshes", ".omf"))
    assert keys == ["gamedata\\meshes\\a\\mod\\run.omf", "gamedata\\meshes\\a\\walk.omf"]
    assert [name for name in index.search("meshes").names if name.endswith(".omf")] == [
        key.removeprefix("gamedata\\") for key in keys
    ]


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["..\\a", "a\\..\\..\\b", "C:\\a", "a\0b", "", "\\", "a:b"])
def test_no_name_leads_out_of_a_tree(cop, name):
    assert key_of(name) == ""
    tree = trees.tree_at(InstalledGame(cop))
    assert tree.find(name) is None
    assert tree.where(name) == []


def test_spellings_of_one_folder_are_one_folder(tmp_path):
    for name in ("Trader/a.omf", "trader/b.omf"):
        put(tmp_path / "meshes" / name)
    if len(list((tmp_path / "meshes").iterdir())) == 1:
        pytest.skip("the disk does not tell letters apart")
    tree = trees.tree_at(InstalledGame(tmp_path))
    assert [Path(path).name for path in tree.below("meshes\\trader").values()] == ["a.omf", "b.omf"]
    assert tree.find("meshes\\TRADER\\b.omf") == tmp_path / "meshes/trader/b.omf"


# Games of GOG ---------------------------------------------------------------------------------------------------------


class Registry:
    """The registry of Windows as GOG writes it: in the view of 32-bit programs, one key for each game."""

    HKEY_LOCAL_MACHINE, HKEY_CURRENT_USER, KEY_READ, KEY_WOW64_32KEY, KEY_WOW64_64KEY = 1, 2, 4, 512, 256

    def __init__(self, games):
        self.games = games

    @contextlib.contextmanager
    def OpenKey(self, above, name, _reserved=0, access=0):  # noqa: N802
        if above == self.HKEY_LOCAL_MACHINE:
            if name != r"SOFTWARE\GOG.com\Games" or not access & self.KEY_WOW64_32KEY:
                raise FileNotFoundError(name)
            yield self.games
        elif above is self.games:
            yield self.games[name]
        else:
            raise FileNotFoundError(name)

    def QueryInfoKey(self, key):  # noqa: N802
        return len(key), 0, 0

    def EnumKey(self, key, number):  # noqa: N802
        return list(key)[number]

    def QueryValueEx(self, key, name):  # noqa: N802
        if name not in key:
            raise FileNotFoundError(name)
        return key[name], 1


def test_games_of_gog_are_read_from_the_registry(cop, monkeypatch):
    games = {
        "1207658000": {"gameName": "S.T.A.L.K.E.R.: Call of Pripyat", "path": str(cop)},
        "1207658001": {"gameName": "Another Game", "path": str(cop.parent)},
        "1207658002": {"gameName": "Descent 3"},
        "1207658003": {"gameName": "Arma: Cold War Assault", "path": str(cop / "uninstalled")},
    }
    monkeypatch.setattr(trees.installed, "_registry", lambda: Registry(games))
    monkeypatch.setattr(trees.installed, "_steam_folders", list)
    assert trees.installed.find_games() == [("S.T.A.L.K.E.R.: Call of Pripyat", cop, trees.XRAY, [])]
    assert list(trees.installed._registry_values("Software\\Valve\\Steam", "SteamPath")) == []
