"""The index of a game: what a search finds is what a look at every file would find."""

import fnmatch
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.formats import trees
from addon.formats.trees import InstalledGame
from addon.formats.trees.index import Index
from tests.formats.archives import written
from tests.formats.test_trees import content, fsgame, put, put_archive
from tests.work import lines_run, memory_peak

LINES = {"$arch_dir$": ("false", "db\\"), "$game_data$": ("true", "gamedata\\")}
LEVEL = b"[header]\r\nentry_point = $fs_root$\\gamedata\\levels\\l01\\\r\n"


@pytest.fixture
def game(tmp_path):
    put(tmp_path / "fsgame.ltx", fsgame(LINES).encode())
    for name, text in (("a.db0", b"a"), ("b.db0", b"b")):
        put_archive(tmp_path / "db" / name, text)
    put_archive(tmp_path / "db/c.db0", b"level", header=LEVEL, name="models.ogf")
    put_archive(tmp_path / "db/d.db0", b"root", header=b"[header]\r\nentry_point = $fs_root$\r\n", name="bin\\x.dll")
    put_archive(tmp_path / "db/e.db0", b"e", name="Textures\\WPN\\wpn_ak.dds")
    put(tmp_path / "gamedata/textures/wpn/wpn_ak.dds", b"loose")
    put(tmp_path / "gamedata/meshes/Actors/idle.omf", b"loose")
    return InstalledGame(tmp_path)


def test_archives_are_found_at_once_and_loose_files_from_when_their_folder_is_entered(game):
    index = Index(trees.tree_at(game))
    assert index.search("").names == [
        "levels\\l01\\models.ogf",
        "textures\\act\\act_face.dds",
        "textures\\wpn\\wpn_ak.dds",
    ]
    assert content(index.path("textures\\act\\act_face.dds")) == "b"
    assert content(index.path("levels\\l01\\models.ogf")) == "level"
    assert index.enter() == (["levels", "meshes", "textures"], [])
    assert index.enter("textures\\") == (["act", "wpn"], [])
    assert index.enter("meshes\\actors\\") == ([], ["idle.omf"])
    assert index.search("idle").names == ["meshes\\actors\\idle.omf"]
    index.enter("textures\\wpn\\")
    assert content(index.path("textures\\wpn\\wpn_ak.dds")) == "loose"


def test_after_all_folders_were_entered_every_name_leads_to_the_file_that_the_game_takes(game):
    tree = trees.tree_at(game)
    index = Index(tree)
    index.enter_all()
    wanted = {key.removeprefix("gamedata\\"): path for key, path in tree.below("").items()}
    assert {name: index.path(name) for name in index.search("").names} == wanted
    assert len(index) == 4


def test_every_name_is_of_the_archive_or_folder_that_the_game_takes_it_from(game, tmp_path):
    mod = tmp_path / "mod"
    put(mod / "gamedata/meshes/actors/idle.omf", b"mod")
    put_archive(mod / "db/z.db0", b"z", name="Textures\\WPN\\wpn_pm.dds")
    tree = trees.tree_at(game._replace(mods=(mod,)))
    index = Index(tree)
    index.enter_all()
    names = index.search("").names
    assert {name: source for source, own in index.by_source.items() for name in own} == {
        name: trees.source_of(tree, index.path(name)) for name in names
    }
    assert index.by_source[mod] == {"meshes\\actors\\idle.omf"}
    assert index.by_source[mod / "db/z.db0"] == {"textures\\wpn\\wpn_pm.dds"}
    assert index.by_source[tmp_path] == {"textures\\wpn\\wpn_ak.dds"}
    for own in index.by_source.values():
        result = index.search("", among=own)
        assert (set(result.names), result.total) == (own, len(own))


def test_the_best_names_come_first(tmp_path):
    names = ["idle\\a.omf", "x\\an_idle.omf", "x\\idle_1.omf", "x\\other.omf"]
    put(tmp_path / "fsgame.ltx", fsgame(LINES).encode())
    put(tmp_path / "db/a.db0", written.xray([(name.encode(), b"") for name in names], packed_table=False))
    index = Index(trees.tree_at(InstalledGame(tmp_path)))
    assert index.search("IDLE") == (["x\\idle_1.omf", "x\\an_idle.omf", "idle\\a.omf"], 3)
    assert index.search("idle", most=1) == (["x\\idle_1.omf"], 3)
    assert index.search("idle x/").names == ["x\\idle_1.omf", "x\\an_idle.omf"]
    assert index.search("idle*").names == ["x\\idle_1.omf"]
    assert index.search("x/*_?.omf").names == ["x\\idle_1.omf"]
    assert index.search("", [".ogf"]) == ([], 0)
    assert index.search("", folder="idle\\").names == ["idle\\a.omf"]


texts = st.text("ab\\.*?", max_size=5)


@given(
    st.sets(
        st.text("abB.", min_size=1, max_size=5).filter(lambda name: name.strip(".") and name[-1] != "."), max_size=8
    ),
    texts,
)
@settings(deadline=None, max_examples=60)
def test_a_search_finds_what_a_look_at_each_name_finds(tmp_path_factory, names, word):
    folder = tmp_path_factory.mktemp("game")
    put(folder / "fsgame.ltx", fsgame(LINES).encode())
    files = [(f"b\\{name}".encode(), b"") for name in names]
    put(folder / "db/a.db0", written.xray(files, packed_table=False))
    keys = {f"b\\{name}".lower() for name in names}

    def matches(key):
        if "*" in word or "?" in word:
            return fnmatch.fnmatchcase(key if "\\" in word else key.rpartition("\\")[2], word)
        return word in key

    index = Index(trees.tree_at(InstalledGame(folder)))
    assert set(index.search(word).names) == {key for key in keys if matches(key)}


def test_work_and_memory_are_linear_in_the_names(tmp_path):
    def made(count):
        files = [(b"textures\\folder_%d\\texture_%05d.dds" % (number % 50, number), b"") for number in range(count)]
        put(tmp_path / "fsgame.ltx", fsgame(LINES).encode())
        put(tmp_path / "db/a.db0", written.xray(files, packed_table=False))
        return Index(trees.tree_at(InstalledGame(tmp_path)))

    few, many = made(500), made(4_000)
    assert memory_peak(lambda: made(4_000)) < 4_000 * 1_000
    for text in ("texture", "", "fold 07"):
        few.search(text), many.search(text)
        assert lines_run(lambda text=text: many.search(text)) < 9 * lines_run(lambda text=text: few.search(text)) + 100


def test_paths_of_an_unpacked_game_are_found(tmp_path):
    put(tmp_path / "meshes/actors/a.ogf")
    index = Index(trees.tree_at(InstalledGame(tmp_path)))
    index.enter_all()
    assert index.path(index.search("a.ogf").names[0]) == Path(tmp_path / "meshes/actors/a.ogf")
