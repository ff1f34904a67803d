"""`.ltx` line by line: what the game reads in each, bytes kept, oddities and refusals."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from addon.cli import main
from addon.core.errors import ReadError, WriteError
from addon.core.walk import Walk
from addon.formats import detect
from addon.formats.engine_rules import RULES
from addon.formats.verification import verify
from addon.formats.xray import ltx
from addon.formats.xray.ltx import codec
from addon.formats.xray.ltx.document import (
    Change,
    Head,
    Include,
    Item,
    cleaned,
    numbers,
    unquoted,
    words,
)
from tests.formats.reading import reading
from tests.real_files import corpus_files
from tests.work import memory_peak

SMALL = b"".join([
    b"words before\r\n",                              # 0: ignored, as no section has begun
    b'#include "weapons\\w_pm.ltx" ; a file\r\n',     # 1
    b"\r\n",                                          # 2
    b"[Wpn_PM_hud]:hud_base, Wpn_Base ; pistol\r\n",  # 3: names of sections have no letter case
    b"\tanm_show\t= pm_draw , idle ; two motions\n",  # 4: blanks go, another line end
    b"Anm_Show = other\r\n",                          # 5: keys have letter case
    b"fire_point = -0.83 9747,0.1//not a slash\n",    # 6: a blank inside of a number
    b"path = weapons/pm//a;b\n",                      # 7: // is a comment only as the first slash
    b'$spawn = "weapons\\pm; 1"\r\n',                 # 8: quoted: no comment, blanks stay
    b'both = "a;b" ; remark\r\n',                     # 9: the game then takes the whole line
    b"flag\r\n",                                      # 10: no value
    b'text = "first ; one\r\n  second = 2\r\nthird" \r\n',  # 11: an open quote joins lines
    b"cost = 280\r\n",                                # 12 (line 15 of the file)
    b"cost = 300",                                    # 13: the last line counts; no line end
])  # fmt: skip

read = reading(ltx, "a.ltx")


def items(data):
    document = codec.parsed(data)
    return [item for head in document.heads for item in document.items(head)]


def test_each_line_says_what_the_game_reads():
    document, report = read(SMALL)
    assert ltx.write(document) == ltx.recompose(document) == SMALL
    assert ltx.raw_size(document) == 0
    assert document.parts == [
        Include(1, "weapons\\w_pm.ltx"),
        Head(3, "wpn_pm_hud", ("hud_base", "wpn_base")),
    ]
    assert list(document.items(document.heads[0])) == [
        Item(4, "anm_show", "pm_draw,idle"),
        Item(5, "Anm_Show", "other"),
        Item(6, "fire_point", "-0.839747,0.1"),
        Item(7, "path", "weapons/pm//a"),
        Item(8, "$spawn", '"weapons\\pm; 1"'),
        Item(9, "both", '"a;b";remark'),
        Item(10, "flag", None),
        Item(11, "text", '"first \r\n  second = 2\r\nthird"'),
        Item(12, "cost", "280"),
        Item(13, "cost", "300"),
    ]
    assert (document.number(4), document.number(11), document.number(12)) == (5, 12, 15)
    assert report.lines() == ["text before the first section, which the game ignores; kept (line 1)"]


def test_what_dltx_adds_is_read():
    document = codec.parsed(
        b"![s]:p, !q\n!key\n>list = a , b\n<list = c\nplain = 1\n@[new]\n!![gone]\n!no section\n!also = [none]\n"
    )
    assert document.heads == [
        Head(0, "s", ("p",), ("q",), Change.OVERRIDE),
        Head(5, "new", change=Change.CREATE),
        Head(6, "gone", change=Change.DELETE),
    ]
    assert list(document.items(document.heads[0])) == [
        Item(1, "key", None, Change.OVERRIDE),
        Item(2, "list", "a,b", Change.ADD),
        Item(3, "list", "c", Change.REMOVE),
        Item(4, "plain", "1"),
    ]
    assert [item.key for item in document.items(document.heads[2])] == ["no section", "also"]


@pytest.mark.parametrize(
    ("data", "encoding", "bom", "key"),
    [
        (b"[a]\nkey = 1\n", "ascii", b"", "key"),
        ("[a]\nкость = 1\n".encode("cp1251"), "cp1251", b"", "кость"),
        ("[a]\nкость = 1\n".encode(), "utf-8", b"", "кость"),
        (b"\xef\xbb\xbf[a]\nkey = 1\n", "utf-8", codec.BOM, "key"),
        (b"[a]\nk\x98\xff = 1\n", "cp1251", b"", "k\x98я"),
    ],
)
def test_letters_are_of_code_page_1251_or_utf_8(data, encoding, bom, key):
    document, report = read(data)
    assert (document.encoding, document.bom, report.lines()) == (encoding, bom, [])
    assert [item.key for item in document.items(document.heads[0])] == [key]
    assert ltx.write(document) == data


def test_a_no_break_space_is_a_letter_to_the_game():
    assert items("[a]\nk =\xa0 1\n".encode("cp1251"))[0].value == "\xa01"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1,-2,3e1", [0.1, -2, 30]),
        ("1,x,3", [1, 0, 0]),
        ("=0.0,0.008,0", [0, 0, 0]),
        ("1.5f,2,3", [1.5, 0, 0]),
        ("1;2", [1, 0, 0]),
        (".5,+2.", [0.5, 2, 0]),
        ("", [0, 0, 0]),
    ],
)
def test_numbers_are_read_as_c_reads_them(text, values):
    assert numbers(text, 3) == values


def test_values_of_other_kinds():
    assert words("a, b,c") == ["a", "b", "c"]
    assert words("") == []
    assert unquoted('"a b"') == "a b"
    assert unquoted("a") == "a"
    assert cleaned(' a b " c d " e ') == 'ab" c d "e'


def test_the_odd_is_reported_and_what_stops_the_game_is_a_problem():
    data = b'stray\n[a] : b\nk = 1\n[c\n[A]\n[x]\n[x]\n[x]\n![x]\n![x]\nq = "open\n\n'
    document, report = read(data)
    assert report.lines() == [
        "text before the first section, which the game ignores; kept (line 1)",
        "a blank between ] and : hides the parents from the game ([a])",
    ]
    assert document.heads[0].parents == ()
    assert list(RULES["ltx"](document)) == [
        "names of sections without ] in line 4",
        "the section [a] occurs 2 times, in lines 2, 5",
        "the section [x] occurs 3 times, in lines 6, 7, 8",
        "a quote that is not closed in line 11",
    ]
    assert ltx.write(document) == data


def test_many_problems_are_counted():
    twice = b"".join(b"[s%d]\n[s%d]\n" % (n, n) for n in range(9))
    first, *_ = RULES["ltx"](codec.parsed(twice + b"[\n" * 7))
    assert first == "names of sections without ] in lines 19, 20, 21, 22, 23 and 2 more"
    assert list(RULES["ltx"](codec.parsed(twice)))[-1] == "4 more sections occur repeatedly"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[a]\n\0k\0", r"offset 4: this is not a text file"),
    ],
)
def test_what_is_not_text_is_refused(data, words):
    with pytest.raises(ReadError, match=words):
        read(data)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'#include "defines.ltx"', "ltx"),
        (b"\r\n\t[wpn_pm]:identity_immunities", "ltx"),
        (b"![hud_base]\n", "ltx"),
        (b"[actor_hud] ; hands", "ltx"),
        (codec.BOM + b"[a]\n", "ltx"),
        (b"[1, 2]", None),
        (b'["a"]', None),
        (b"[a](b)", None),
        (b"some text", None),
    ],
)
def test_a_file_without_suffix_is_known_by_its_first_section(head, name):
    obj = detect("nameless", head)
    assert (obj and obj.name) == name


def test_a_dump_has_the_sections_and_the_lines_and_says_what_is_ignored():
    document, _ = read(SMALL)
    lines = list(Walk(ltx.VIEWS).dump(document))
    assert lines[:5] == [
        "encoding ascii",
        "includes weapons\\w_pm.ltx",
        "[wpn_pm_hud]",
        "  header [wpn_pm_hud]:hud_base,wpn_base",
        "  key anm_show pm_draw,idle",
    ]
    at = lines.index(r"lines 1 'words before\r\n'")
    assert lines[at - 1] == "ignored 0 1"
    assert len(lines) == at + len(document.lines)


def test_differences_are_reported_by_section_and_key():
    first, _ = read(SMALL)
    changed = SMALL.replace(b"cost = 300", b"cost = 310\nnew = 1\n[other]\n").replace(b"Anm_Show = other\r\n", b"")
    second, _ = read(changed.replace(b"Wpn_Base", b"Wpn_Root").replace(b"weapons\\w_pm.ltx", b"w_pm.ltx"))
    assert list(Walk(ltx.VIEWS).differences(first, second)) == [
        "includes: weapons\\w_pm.ltx / w_pm.ltx",
        "[wpn_pm_hud]: header: [wpn_pm_hud]:hud_base,wpn_base / [wpn_pm_hud]:hud_base,wpn_root",
        "[wpn_pm_hud]: key Anm_Show is only in the first",
        "[wpn_pm_hud]: key cost: 300 / 310",
        "[wpn_pm_hud]: key new is only in the second",
        "[other] is only in the second",
        (
            "lines from 2: 13 / 14 differ, first '#include \"weapons\\\\w_pm.ltx\" ; a file\\r\\n' / "
            "'#include \"w_pm.ltx\" ; a file\\r\\n'"
        ),
    ]
    assert list(Walk(ltx.VIEWS).differences(first, first)) == []


def test_differences_in_comments_are_reported_too():
    first, second = codec.parsed(b"[a]\nk = 1\n[a]\n"), codec.parsed(b"[a]\n; new\nk = 1\n[a]\n")
    assert list(Walk(ltx.VIEWS).differences(first, second)) == ["lines from 2: 0 / 1 differ"]
    utf = codec.parsed("[a]\nk = 1 ; ж\n[a]\n".encode())
    assert list(Walk(ltx.VIEWS).differences(first, utf)) == [
        "encoding: ascii / utf-8",
        r"lines from 2: 1 / 1 differ, first 'k = 1\n' / 'k = 1 ; ж\n'",
    ]


def test_info_is_a_summary():
    assert ltx.describe(read(SMALL)[0]) == [
        "1 section, 10 keys, 1 include, 5 comments in 14 lines",
        "ascii, line ends CR LF, LF",
        "includes weapons\\w_pm.ltx",
        "[wpn_pm_hud]:hud_base,wpn_base",
    ]
    many = codec.parsed(b"".join(b"[s%d]\n" % n for n in range(20)))
    assert ltx.describe(many)[-1] == "and 8 more"


@pytest.mark.parametrize("name", ["system.ltx", "w_sample.ltx", "mod_system_sample.ltx"])
def test_samples_on_the_command_line(samples, name, tmp_path, capsys):
    path = samples / "configs" / name
    assert main(["info", str(path)]) == main(["verify", str(path)]) == main(["dump", str(path)]) == 0
    assert "X-Ray configuration (ltx)" in capsys.readouterr().out
    other = tmp_path / name
    other.write_bytes(path.read_bytes() + b"; end\n")
    assert main(["diff", str(path), str(path)]) == 0
    assert main(["diff", str(path), str(other)]) == 1
    assert ": 0 / 1 differ" in capsys.readouterr().out


@pytest.mark.parametrize("path", corpus_files("hud/**/*.ltx"))
def test_sections_of_every_real_file_are_scanned_alike(path):
    data = path.read_bytes()
    document = codec.parsed(data)
    assert document.heads
    assert codec.scanned(data) == document.parts


TEXT = st.lists(
    st.one_of(
        st.sampled_from(
            ["[a]", "![b]:c,!d", "@[e] ; f", "key = 1", 'k="x', '"', ";", "//", "/", "=", '#include "a.ltx"', "[x"]
        ),
        st.sampled_from(["\n", "\r\n", "\r", " ", "\t", "\n\n"]),
        st.text(st.characters(codec="cp1251", exclude_characters="\0"), max_size=6),
    ),
    max_size=40,
).map("".join)


@given(TEXT, st.sampled_from(["cp1251", "utf-8"]))
@example('[a]\nkey "= 1; b"\n[c]\n', "utf-8")  # the first of two quotes is no part of the value
@example('[a]\nkey = "a"b"; c"\n[d]\n', "utf-8")  # the comment begins inside of the second pair of quotes
def test_any_text_comes_back_and_its_pieces_are_the_lines(text, encoding):
    data = text.encode(encoding)
    document = codec.parsed(data)
    assert ltx.write(document) == data
    assert "".join(line.text for line in document.lines) == codec._decoded(data.removeprefix(codec.BOM))[0]
    scanned = codec.scanned(data)
    assert scanned is None or scanned == document.parts
    for head in document.heads:
        for item in document.items(head):
            assert head.line < item.line < len(document.lines)
            assert document.number(head.line) < document.number(item.line)
    list(RULES["ltx"](document))
    list(Walk(ltx.VIEWS).dump(document))


@pytest.mark.deep
@pytest.mark.parametrize(
    "data",
    [b"\n" * 300_000, b"[\n" * 150_000, b'[a]\nk="' + b"\n" * 300_000, b'"' * 300_000, b"/" * 300_000],
    ids=["empty lines", "open headers", "an open string", "quotes", "slashes"],
)
def test_memory_stays_in_proportion_to_the_bytes(data):
    assert memory_peak(lambda: verify(data, "hostile.ltx")) < 4_000_000 + 160 * len(data)


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(WriteError, match="not Unicode"):
        codec.encoded("\ud800", "utf-8")
    with pytest.raises(WriteError, match="1251"):
        codec.encoded("漢", "cp1251")
