"""All settings of a game: includes, inheritance, mods over each other, DLTX; what is refused; how fast it is."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.formats.xray import ltx
from addon.formats.xray.ltx import tree
from addon.formats.xray.ltx.document import Head
from addon.formats.xray.ltx.edit import change_value
from addon.formats.xray.ltx.tree import ConfigTree, fits
from tests.real_files import CORPUS
from tests.work import lines_run


@pytest.fixture
def gamedata(tmp_path):
    """Writes files below a new ``gamedata`` folder, or another, and gives the folder."""

    def write(files, folder="gamedata"):
        for name, text in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")
        return tmp_path / folder

    return write


def loaded(*folders, files=(), **options):
    report = Report()
    return ConfigTree(folders, **options).load(report, files), report


def texts(configs, section):
    return {key: value.text for key, value in configs.values(section).items()}


BASE = {
    "configs/system.ltx": (
        '#include "defines.ltx"\n'
        "[wpn]:base, other ; gun\n"
        "x = own\n"
        '#include "Weapons\\PM.ltx"\n'  # an include inside of a section does not end it
        "y = after\n"
    ),
    "configs/defines.ltx": "ignored = 1\n[base]\nx = base\nb = 1\n[other]\nb = 2\nKey = A\nkey = a\n",
    "configs/weapons/pm.ltx": '[pm]:base\n$spawn = "weapons\\pm"\n#include "..\\misc.ltx"',
    "configs/misc.ltx": "",
}


def test_sections_inherit_and_includes_are_followed_in_the_games_order(gamedata):
    configs, report = loaded(gamedata(BASE), dltx=False)
    assert report.lines() == []
    assert list(configs.sections) == ["base", "other", "pm", "wpn"]
    assert texts(configs, "WPN") == {"x": "own", "b": "2", "Key": "A", "key": "a", "y": "after"}
    assert texts(configs, "pm") == {"x": "base", "b": "1", "$spawn": '"weapons\\pm"'}
    value = configs.values("wpn")["b"]
    assert (value.section, value.file.place(value.line)) == ("other", "configs/defines.ltx, line 6")
    assert configs.text("wpn", "b") == "2"
    assert configs.text("wpn", "none", "0") == "0"
    assert [file.name for file in configs.files] == [
        "configs/system.ltx",
        "configs/defines.ltx",
        "configs/Weapons/PM.ltx",
        "configs/misc.ltx",
    ]


def test_an_unknown_section_is_refused(gamedata):
    configs, _ = loaded(gamedata(BASE))
    with pytest.raises(ReadError, match=r"no section \[nothing\]"):
        configs.values("nothing")


def test_settings_of_shadow_of_chernobyl_lie_in_config(gamedata):
    assert list(loaded(gamedata({"config/system.ltx": "[a]\n"}))[0].sections) == ["a"]
    assert list(loaded(gamedata({"SYSTEM.LTX": "[b]\n"}, "other"))[0].sections) == ["b"]
    with pytest.raises(ReadError, match=r"the folders have no configs.*Choose the gamedata folder"):
        loaded(gamedata({"configs/x.txt": ""}, "none"))


def test_files_are_loaded_in_the_order_they_are_named(gamedata):
    folder = gamedata({"configs/a.ltx": "[a]\nk = 1\n", "configs/b.ltx": "[b]:a\n"})
    configs, report = loaded(folder, files=["configs\\A.ltx", "configs/b.ltx"], dltx=False)
    assert (texts(configs, "b"), report.lines()) == ({"k": "1"}, [])
    configs, report = loaded(folder, files=["configs/b.ltx", "configs/a.ltx"], dltx=False)
    assert report.lines() == ["parents must come before a section; the game stops (configs/b.ltx, line 1: a)"]
    with pytest.raises(ReadError, match=r"no such file in the folders"):
        loaded(folder, files=["configs/c.ltx"])


@pytest.mark.parametrize(
    "names", [("configs/a.ltx", "sub/B.ltx"), ("a.ltx", "configs\\sub\\b.ltx"), ("A.LTX", "{0}/configs/sub/b.ltx")]
)
def test_files_are_named_relative_to_a_folder_or_to_its_configs_or_in_full(gamedata, names):
    folder = gamedata({"configs/a.ltx": "[a]\nk = 1\n", "configs/sub/b.ltx": '#include "..\\c.ltx"\n[b]:a,c\n'})
    gamedata({"configs/c.ltx": "[c]\nx = 2\n"})
    configs, report = loaded(folder, files=[name.format(folder) for name in names], dltx=False)
    assert (texts(configs, "b"), report.lines()) == ({"k": "1", "x": "2"}, [])


def test_a_file_named_in_full_may_be_in_another_folder(gamedata):
    game, mod = (
        gamedata({"configs/a.ltx": "[a]\nk = 1\n"}),
        gamedata({"configs/w/b.ltx": '#include "..\\c.ltx"\n[b]:a,c\n', "configs/c.ltx": "[c]\nx = 2\n"}, "mod"),
    )
    configs, report = loaded(game, files=["a.ltx", str(mod / "configs/w/b.ltx")], dltx=False)
    assert (texts(configs, "b"), report.lines()) == ({"k": "1", "x": "2"}, [])
    with pytest.raises(ReadError, match=r"no such file"):
        loaded(game, files=[str(mod / "configs/none.ltx")])


MOD = {
    "configs/b.ltx": (
        '#include "gone.ltx"\n#include "..\\..\\out.ltx"\n#include "c.ltx"\n[gun_hud]:gun_base\nitem_visual = gun\n'
    ),
    "configs/a.ltx": "[gun]:gun_hud, other\nhud = gun_hud\n",
    "configs/c.ltx": "[plain]\nk = 1\n![elsewhere]\nk = 2\n",
    "configs/w/mod_system_x.ltx": "![plain]\nk = 3\n",
    "scripts/d.ltx": "[not_a_config]\n",
}


def test_a_mod_without_its_game_is_read_whole_and_says_what_each_section_lacks(gamedata):
    configs, report = loaded(gamedata(MOD))
    assert (list(configs.sections), report.lines()) == (["gun", "plain", "gun_hud"], [])
    assert configs.without_root
    assert configs.text("plain", "k") == "3"
    outside = ["gone.ltx", "..\\..\\out.ltx"]
    assert configs.missing("gun_hud") == ["[gun_base]", *outside]
    assert configs.missing("gun") == ["[other]", "[gun_base]", *outside]
    assert configs.missing("plain") == []
    game = gamedata({"configs/system.ltx": "[other]\n"}, "game")
    configs, _ = loaded(gamedata(MOD), game)
    assert (list(configs.sections), configs.without_root) == (["other"], False)


def test_of_a_section_in_several_files_of_a_mod_the_first_is_read(gamedata):
    configs, report = loaded(gamedata({"x.ltx": "[a]\nk = 1\n", "y.ltx": "[a]\nk = 2\n[b]:a\n"}), dltx=False)
    assert texts(configs, "b") == {"k": "1"}
    assert list(report.warnings) == ["1 section is in several files; the first one is read"]


def test_a_folder_of_any_size_is_not_searched_for_configs(gamedata, monkeypatch):
    monkeypatch.setattr(tree, "MOST_FILES", 3)
    with pytest.raises(ReadError, match=r"more than 3 files.*Choose the gamedata folder"):
        loaded(gamedata({f"{number}.ltx": "" for number in range(4)}))


def test_a_parent_that_is_named_twice_overrides_those_between(gamedata):
    base = "[a]\nk = 1\nx = 1\n[b]\nk = 2\n[c]\nk = 3\nx = 3\n"
    configs, _ = loaded(gamedata({"configs/system.ltx": f"{base}[s]:a,b,a\n[t]:a,b,a,c\n"}))
    assert [texts(configs, name) for name in "st"] == [{"k": "1", "x": "1"}, {"k": "3", "x": "3"}]


def test_of_a_path_that_several_folders_have_the_first_counts(gamedata):
    game = gamedata(BASE)
    mod = gamedata({"Configs/Defines.LTX": "[base]\nx = mod\n[other]\n"}, "mod")
    configs, _ = loaded(mod, game)
    assert texts(configs, "pm") == {"x": "mod", "$spawn": '"weapons\\pm"'}
    assert configs.values("pm")["x"].file.path.is_relative_to(mod)


def test_what_the_game_stops_at_is_left_out_and_reported(gamedata):
    files = {
        "configs/system.ltx": '#include "gone.ltx"\n[a]:nothing\nk = 1\n#include "b.ltx"\n#include "b.ltx"\n',
        "configs/b.ltx": "[b]\nk = first\n",
        "configs/c.ltx": "[B]\nk = second\n",
    }
    configs, report = loaded(gamedata(files), files=["configs/system.ltx", "configs/c.ltx"])
    assert texts(configs, "b") == {"k": "first"}
    assert report.warnings == {
        "there is no file 'gone.ltx' to include; left out": ["configs/system.ltx, line 1"],
        "1 section occurs twice, at which the game stops; the first one is read": [
            "[b]: configs/b.ltx, line 1; configs/b.ltx, line 1",
            "[b]: configs/b.ltx, line 1; configs/c.ltx, line 1",
        ],
        "no section [nothing] to inherit from; left out": ["configs/system.ltx, line 2"],
    }


def test_masks_name_files_of_a_folder_in_order(gamedata):
    files = {"system.ltx": '#include "w\\*_?.ltx"\n'}
    files |= {f"w/{name}.ltx": f"[{name}]\n" for name in ("w_b", "W_A", "w_long", "x_1")}
    files["w/w_c.txt"] = "[text]\n"
    configs, report = loaded(gamedata(files))
    assert list(configs.sections) == ["w_a", "w_b", "x_1"]
    assert report.notes == {
        "1 include has a mask, which Clear Sky and Call of Pripyat do not support": ["system.ltx, line 1"]
    }


# DLTX -----------------------------------------------------------------------------------------------------------------

DLTX = {
    "configs/system.ltx": "[late]:base\n[base]\nk = 1\nl = a, b\n[wpn]:base\nk = 2\n[gone]\n"
    "[keeper]:base\n[p]\nq = 9\n",
    "configs/mod_system_b.ltx": "![WPN]:p,!base\nk = 4\n!![gone]\n![missing]\nk = 1\n",
    "configs/mod_system_a.ltx": "![wpn]\nk = 3\n>l = c,d\n@[new]:wpn\nn = 1\n[plain]\n"
    '#include "more.ltx"\n![keeper]\n>l = c\n',
    "configs/more.ltx": "![base]\n<l = a\n!none\n",
    "configs/mod_systems.ltx": "[no]\n",
}


def test_dltx_changes_sections_in_the_order_of_names(gamedata):
    configs, report = loaded(gamedata(DLTX))
    assert list(configs.sections) == ["late", "base", "wpn", "keeper", "p", "plain", "new"]
    assert texts(configs, "base") == {"k": "1", "l": "b"}
    assert texts(configs, "late") == {"k": "1", "l": "b"}
    assert texts(configs, "wpn") == {"q": "9", "k": "4", "l": "c,d"}  # no longer of base
    assert texts(configs, "keeper") == {"k": "1", "l": "b,c"}
    assert texts(configs, "new") == {"q": "9", "k": "4", "l": "c,d", "n": "1"}
    assert report.lines() == [
        "1 section to change does not exist; left out (![missing]: configs/mod_system_b.ltx, line 4)"
    ]


def test_without_dltx_its_files_and_changes_are_not_read(gamedata):
    configs, _ = loaded(
        gamedata(DLTX | {"configs/system.ltx": DLTX["configs/system.ltx"] + "![base]\nk = 7\n"}), dltx=False
    )
    assert texts(configs, "wpn") == {"k": "2", "l": "a,b"}
    assert "plain" not in configs.sections


def test_a_deleted_key_shows_that_of_the_parent(gamedata):
    files = {
        "system.ltx": "[a]\nk = parent\n[b]:a\nk = own\nother = 1\n",
        "mod_system_1.ltx": "![b]\n!k\n!other\n!never\n",
    }
    assert texts(loaded(gamedata(files))[0], "b") == {"k": "parent"}


def test_entries_of_lists_are_added_and_removed_one_change_after_the_other(gamedata):
    files = {
        "system.ltx": "[a]\nl = a, b, a\nm = a\n[b]:a\n[c]:b\n",
        "mod_system_1.ltx": "![b]\n<l = a\n>l = c, a\n>l = d, c\n<l = c\n>new = x\n>m = b\nm = z\n",
        "mod_system_2.ltx": "![b]\n>l = c\n![c]\n>l = b, e\n<l = d\n>new = x\n<new = q\n",
    }
    configs, _ = loaded(gamedata(files))
    assert texts(configs, "b") == {"l": "b,a,d,c", "m": "z", "new": "x"}
    assert texts(configs, "c") == {"l": "b,a,c,b,e", "m": "z", "new": "x,x"}
    assert list(configs.values("b")) == ["l", "m", "new"]


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_thousands_of_parents_are_compared_in_linear_time():
    parents, others = ([Counted(f"{letter}{number}") for number in range(2000)] for letter in "pq")
    heads = [Head(0, "a", tuple(parents)), Head(1, "a", tuple(others)), Head(2, "a", (), tuple(others))]
    Counted.compared = 0
    assert tree.Section("a", [(None, head) for head in heads]).parents == parents
    assert Counted.compared < 20_000


def test_thousands_of_changes_of_one_list_take_linear_time(gamedata):
    def work(count):
        listed = ",".join(f"e{number}" for number in range(count))
        files = {"system.ltx": f"[a]\nl = {listed}\n", "mod_system_1.ltx": "![a]\n" + ">l = x, y\n<l = y\n" * count}
        configs, _ = loaded(gamedata(files))
        return lines_run(lambda: configs.values("a"))

    assert work(400) < 5 * work(100)


def test_a_file_of_a_longer_name_does_not_belong_to_the_shorter(gamedata):
    files = {"system.ltx": "[a]\nk = 0\n", "system_x.ltx": "[x]\nk = 0\n"}
    files |= {"mod_system_x_1.ltx": "![x]\nk = 1\n", "mod_system_y.ltx": "![a]\nk = 1\n"}
    configs, report = loaded(gamedata(files), files=["system.ltx"])
    assert (texts(configs, "a"), report.lines()) == ({"k": "1"}, [])
    assert texts(loaded(gamedata(files), files=["system_x.ltx"])[0], "x") == {"k": "1"}


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"system.ltx": '[a]\n\n#include "b.ltx"\n', "b.ltx": '#include "SYSTEM.ltx"\n'},
            "b.ltx, line 1: the file 'SYSTEM.ltx' includes itself. Remove this include.",
        ),
        (
            {"system.ltx": '#include "*.ltx"\n'},
            "system.ltx, line 1: the file 'system.ltx' includes itself. Remove this include.",
        ),
        (
            {"configs/system.ltx": '\n#include "..\\..\\other.ltx"\n'},
            r"configs/system.ltx, line 2: '..\\..\\other.ltx' leads out of the game's folders. Correct the path.",
        ),
        (
            {"system.ltx": '#include "C:\\x.ltx"\n'},
            r"system.ltx, line 1: 'C:\\x.ltx' names a drive. Write the path relative to this file.",
        ),
        (
            {"system.ltx": '#include "*\\x.ltx"\n'},
            r"system.ltx, line 1: '*\\x.ltx' has a mask for folders. Use * and ? in the file's name only.",
        ),
        (
            {"system.ltx": '#include "..\\"\n'},
            r"system.ltx, line 1: '..\\' leads out of the game's folders. Correct the path.",
        ),
        ({"system.ltx": '#include ""\n'}, "system.ltx, line 1: '' names no file. Write the name of a file."),
        (
            {"system.ltx": '#include "0.ltx"\n'} | {f"{n}.ltx": f'#include "{n + 1}.ltx"\n' for n in range(40)},
            "30.ltx, line 1: files include each other more than 32 deep. Remove this include.",
        ),
    ],
)
def test_hostile_includes_are_refused_with_file_line_and_remedy(gamedata, files, sentence):
    with pytest.raises(ReadError) as refused:
        loaded(gamedata(files))
    assert str(refused.value) == sentence


def test_a_file_outside_is_never_read(gamedata, tmp_path):
    (tmp_path / "other.ltx").write_text("[secret]\n")
    configs, report = loaded(gamedata({"system.ltx": '#include "/other.ltx"\n#include "//../gamedata/x.ltx"\n'[:24]}))
    assert "secret" not in configs.sections
    assert "no file '/other.ltx'" in report.lines()[0]


def test_files_that_double_at_each_step_are_refused(gamedata, monkeypatch):
    monkeypatch.setattr(tree, "MOST_FILES", 1000)
    files = {f"{n}.ltx": f'#include "{n + 1}.ltx"\n#include "{n + 1}.ltx"\n' for n in range(25)}
    with pytest.raises(ReadError, match=r"\.ltx, line \d: more than 1000 files are included"):
        loaded(gamedata(files | {"system.ltx": '#include "0.ltx"\n', "25.ltx": ""}))
    monkeypatch.setattr(tree, "MOST_SECTIONS", 10)
    with pytest.raises(ReadError, match="more than 10 sections"):
        loaded(gamedata({"system.ltx": "[s]\n" * 12}, "sections"))


def test_sections_that_inherit_from_themselves_are_refused_when_asked_for(gamedata):
    configs, _ = loaded(gamedata({"system.ltx": "[x]\nk = 1\n\n[a]:b\n[b]:x,c\n[c]:a\n"}))
    assert texts(configs, "x") == {"k": "1"}
    with pytest.raises(ReadError) as refused:
        configs.values("b")
    assert str(refused.value) == (
        "system.ltx, line 5: the section inherits from itself: b > c > a > b. "
        "Remove a parent from the section's header."
    )


def test_deep_and_broad_inheritance_is_refused(gamedata, monkeypatch):
    deep = "[s0]\n" + "".join(f"[s{n}]:s{n - 1}\n" for n in range(1, 60))
    configs, _ = loaded(gamedata({"system.ltx": deep}))
    assert configs.values("s31") == {}
    fresh, _ = loaded(gamedata({"system.ltx": deep}))
    with pytest.raises(ReadError, match="line 60: sections inherit from each other more than 32 deep"):
        fresh.values("s59")
    monkeypatch.setattr(tree, "MOST_INHERITED", 100)
    wide = "".join(f"[p{n}]\n" + "".join(f"k{k} = 1\n" for k in range(20)) for n in range(6))
    configs, _ = loaded(gamedata({"system.ltx": wide + "[s]:p0,p1,p2,p3,p4,p5\n"}, "wide"))
    with pytest.raises(ReadError, match="inherits more than 100 keys"):
        configs.values("s")


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_masks_fit_what_a_plain_matcher_fits(mask, name):
    import re

    pattern = "".join({"*": ".*", "?": "."}.get(sign, sign) for sign in mask)
    assert fits(mask, name) == bool(re.fullmatch(pattern, name))


def test_a_hostile_mask_costs_nothing():
    assert lines_run(lambda: fits("*a" * 120 + "b", "a" * 255)) < 20 * 240 * 255
    assert not fits("*a" * 120 + "b", "a" * 255)


# Writing back ---------------------------------------------------------------------------------------------------------


def test_a_value_is_changed_where_the_section_has_it(gamedata):
    folder = gamedata(BASE)
    configs, _ = loaded(folder)
    edit = change_value(configs, "wpn", "y", "new")
    assert edit.path == folder / "configs/system.ltx"
    assert ltx.write(edit.document) == BASE["configs/system.ltx"].replace("after", "new").encode()
    assert edit.changes == ["[wpn] y: after -> new"]


def test_an_inherited_value_becomes_a_line_of_the_child(gamedata):
    configs, _ = loaded(gamedata(BASE))
    edit = change_value(configs, "wpn", "b", "3")
    assert ltx.write(edit.document) == BASE["configs/system.ltx"].replace("y = after\n", "y = after\nb = 3\n").encode()
    assert edit.changes == ["[wpn] b: new, 3; was inherited from [other]: 2"]


def test_values_of_dltx_are_changed_in_its_file_and_lists_are_not(gamedata):
    folder = gamedata(DLTX)
    configs, _ = loaded(folder)
    edit = change_value(configs, "wpn", "k", "5")
    assert (edit.path, edit.changes) == (folder / "configs/mod_system_b.ltx", ["[wpn] k: 4 -> 5"])
    with pytest.raises(WriteError, match=r"mod_system_a\.ltx: \[wpn\] l is a list .* Edit line 3 by hand"):
        change_value(configs, "wpn", "l", "c")


# Speed ----------------------------------------------------------------------------------------------------------------


def test_three_thousand_files_are_indexed_and_only_what_changed_is_read_again(gamedata, monkeypatch):
    files = {
        f"configs/g{n % 40}/w_{n}.ltx": "".join(
            f"[wpn_{n}_{s}]:hud_base ; a section\r\n"
            + "".join(f"\tanm_key_{k}\t= hands_motion_{k}, item\t; note\r\n" for k in range(20))
            + f'$spawn = "weapons\\w_{s}"\r\n'
            for s in range(3)
        )
        for n in range(3000)
    }
    included = "".join(f'#include "{name.removeprefix("configs/")}"\r\n' for name in files)
    folder = gamedata({**files, "configs/system.ltx": "[hud_base]\r\nx = 1\r\n" + included})
    game = ConfigTree([folder])
    configs = game.load(Report())
    assert (len(configs.sections), len(configs.files)) == (9001, 3001)
    assert configs.text("wpn_2999_2", "anm_key_7") == "hands_motion_7,item"
    assert configs.text("wpn_2999_2", "x") == "1"

    reads = []
    original = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: reads.append(path) or original(path))
    changed = folder / "configs/g0/w_0.ltx"
    changed.write_text("[other]\n")
    os.utime(changed, ns=(1, 1))
    again = game.load(Report())
    assert reads == [changed]
    assert "other" in again.sections
    assert len(again.sections) == 8999


LINES = ["[a]", "[b]:a", "![a]:b", "@[c]:b,!a", "!![b]", "k = 1", "!k", ">k = x", "<k = 1"]
LINES += ['#include "x.ltx"', '#include "*.ltx"']


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.sampled_from(LINES), max_size=12), st.booleans())
def test_any_tree_loads_or_says_why_not(gamedata, lines, dltx):
    text, back = "\n".join(lines), "\n".join(lines[::-1])
    folder = gamedata({"system.ltx": text, "mod_system_1.ltx": back, "x.ltx": "[x]\nk = 2\n"})
    if '#include "*.ltx"' in lines:
        with pytest.raises(ReadError, match="includes itself"):
            loaded(folder, dltx=dltx)
        return
    configs, _ = loaded(folder, dltx=dltx)
    for name in configs.sections:
        cyclic = name in reached_from(configs, name)
        if not cyclic and not any(entry in reached_from(configs, entry) for entry in reached_from(configs, name)):
            # What was set, if it still is, and an x for each line that adds one.
            assert all(re.fullmatch("[12x]?(,x)*", value.text) for value in configs.values(name).values())
        else:
            with pytest.raises(ReadError, match="inherits from itself"):
                configs.values(name)


def reached_from(configs, name):
    """All sections that one inherits from, found by hand."""
    result, waiting = set(), [name]
    while waiting:
        for parent in configs.sections[waiting.pop()].parents:
            if parent in configs.sections and parent not in result:
                result.add(parent)
                waiting.append(parent)
    return result


def test_the_samples_are_a_small_game(samples):
    configs, report = loaded(samples / "configs")
    assert report.lines() == []
    assert list(configs.sections) == ["hud_base", "wpn_sample", "wpn_sample_hud", "actor_hud"]
    result = texts(configs, "wpn_sample_hud")
    assert result["hands_position"] == "0.02,-0.15,0.05"
    assert result["anm_bore"] == "walk"
    assert result["anm_reload"] == "wave,reload,1.5"
    assert "fire_point" not in result
    assert configs.text("wpn_sample", "inv_name") == '"Образец"'


# Real files -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
@pytest.mark.parametrize(
    ("game", "files", "section", "values"),
    [
        (
            "anomaly",
            ("defines", "creatures/actor_hud_hand_animations", "items/weapons/weapon_sounds", "items/weapons/m_knife"),
            "wpn_knife_hud",
            {"hands_orientation": "0.0,0.0,-4.0", "fire_bone": "knife"},
        ),
        ("gunslinger", ("defines", "weapons/w_fort"), "wpn_fort_hud", {"item_position": "0,0,0"}),
    ],
)
def test_real_trees_load_from_named_files(game, files, section, values):
    folder = CORPUS / "hud" / game / "gamedata"
    configs, report = loaded(folder, files=[f"configs/{name}.ltx" for name in files])
    result = texts(configs, section)
    assert values.items() <= result.items()
    assert configs.values(section)["gl_hud_offset_rot_16x9" if game == "gunslinger" else "aim_hud_offset_pos"]
    assert not any("twice" in line for line in report.lines())


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
def test_a_real_file_of_dltx_changes_a_real_section(tmp_path):
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "system.ltx").write_bytes((CORPUS / "hud/anomaly/gamedata/configs/defines.ltx").read_bytes())
    path, _ = loaded(tmp_path)
    assert "base_hud_offset_pos" not in path.values("hud_base")
    name = "mod_system_base_hud.ltx"
    (configs / name).write_bytes((CORPUS / "hud/dltx" / name).read_bytes())
    path, _ = loaded(tmp_path)
    assert path.values("hud_base")["base_hud_offset_pos"].file.name == f"configs/{name}"
