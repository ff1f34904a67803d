"""One value changed: its bytes and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import WriteError
from addon.formats.xray.ltx import codec, write
from addon.formats.xray.ltx.edit import with_value
from tests.real_files import corpus_files


def edited(data, section, key, text):
    edit = with_value(codec.parsed(data), section, key, text)
    return write(edit.document), edit.changes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"[a]\r\nkey\t =  1 2 ; c\r\nother = 2", b"[a]\r\nkey\t =  3 ; c\r\nother = 2"),
        (b"[a]\nkey = 1\nkey = 2\n", b"[a]\nkey = 1\nkey = 3\n"),
        (b"[a]\nkey = 1\n[b]\n[a]\nx = 1\n", b"[a]\nkey = 3\n[b]\n[a]\nx = 1\n"),
        (b'[a]\nkey = "x\ny"//z\n', b"[a]\nkey = 3\n"),
        (b"[a]\nkey\n", b"[a]\nkey = 3\n"),
        (b"[a]\nkey=\n", b"[a]\nkey= 3\n"),
        (b"[a]\nkey = ; none\n", b"[a]\nkey = 3; none\n"),
        (b"[a]", b"[a]\r\nkey = 3\r\n"),
        (b"[a]\n\n; remark\n[b]\n", b"[a]\nkey = 3\n\n; remark\n[b]\n"),
        (b"[a]\nx = 1\n\n[b]\n", b"[a]\nx = 1\nkey = 3\n\n[b]\n"),
        (b"[a]\n  longer   = 1\n[b]\n", b"[a]\n  longer   = 1\n  key      = 3\n[b]\n"),
        (b"[a]\nx\t\t= 1\n", b"[a]\nx\t\t= 1\nkey\t\t= 3\n"),
        (b"[a]\nflag\n", b"[a]\nflag\nkey = 3\n"),
    ],
)
def test_the_line_that_counts_changes_and_a_new_one_is_laid_out_like_its_neighbour(before, after):
    again, changes = edited(before, "a", "key", "3")
    assert again == after
    assert len(changes) == 1


def test_what_the_game_reads_alike_is_not_touched():
    assert edited(b"[a]\nkey = 1, 2\n", "A", "key", "1,2") == (b"[a]\nkey = 1, 2\n", [])
    assert edited(b"[a]\nkey = 1, 2\n", "a", "key", "2,2") == (b"[a]\nkey = 2,2\n", ["[a] key: 1,2 -> 2,2"])


def test_sections_of_dltx_are_named_with_their_sign():
    data = b"![a]\nkey = 1\n!other\n"
    assert edited(data, "![a]", "key", "2")[0] == b"![a]\nkey = 2\n!other\n"
    assert edited(data, "![a]", "other", "2")[0] == b"![a]\nkey = 1\n!other\nother = 2\n"
    with pytest.raises(WriteError, match=r"no section \[a\]"):
        edited(data, "a", "key", "2")


@pytest.mark.parametrize("text", ["1;2", "a//b", "1\n2", '"open', "1\r2"])
def test_a_text_that_would_not_be_read_back_is_refused(text):
    with pytest.raises(WriteError, match="cannot be written"):
        edited(b"[a]\nkey = 1\nlast = 1\n", "a", "key", text)


def test_letters_are_written_in_the_files_encoding():
    assert edited(b"[a]\nkey = 1\n", "a", "key", "ж")[0] == "[a]\nkey = ж\n".encode("cp1251")
    assert edited("[a]\nkey = я\n".encode(), "a", "key", "ж")[0] == "[a]\nkey = ж\n".encode()
    with pytest.raises(WriteError, match="1251"):
        edited(b"[a]\nkey = 1\n", "a", "key", "漢")


VALUES = st.text(st.sampled_from("ab19.,-_ \\|$"), min_size=1, max_size=12).filter(str.strip)


@given(VALUES, st.sampled_from(["k", "new", "$spawn"]), st.sampled_from([b"\n", b"\r\n"]))
def test_a_written_value_is_read_back_and_other_lines_stay(text, key, end):
    data = b"; head\n[a]:b ; c\nk\t=\t1 ; d\n\n[c]\nk = 2\n".replace(b"\n", end)
    again, _ = edited(data, "a", key, text)
    document = codec.parsed(again)
    result = [item for item in document.items(document.heads[0]) if item.key == key]
    assert result[-1].value == text.replace(" ", "")
    before, after = data.splitlines(), again.splitlines()
    assert [line for line in after if line not in before] == [after[result[-1].line]] or before == after


@pytest.mark.parametrize("path", corpus_files("hud/**/*.ltx"))
def test_one_value_of_every_section_of_real_files(path):
    data = path.read_bytes()
    document = codec.parsed(data)
    for head in document.heads:
        item = next((item for item in document.items(head) if not item.change), None)
        if item is None:
            continue
        edit = with_value(document, f"{head.change}[{head.name}]", item.key, "0.125000,1")
        assert len(edit.document.lines) == len(document.lines)
        changed = [i for i, (a, b) in enumerate(zip(document.lines, edit.document.lines, strict=True)) if a != b]
        assert len(changed) == 1
        back = with_value(edit.document, f"{head.change}[{head.name}]", item.key, item.value or "1")
        if item.value:
            position = document.lines[changed[0]]
            assert back.document.lines[changed[0]].comment == position.comment
