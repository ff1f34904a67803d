"""Every byte string is a name and comes back; what Blender can hold is shorter and still tells names apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import names
from addon.core.errors import WriteError
from tests.work import lines_run


def test_each_byte_has_a_character_of_its_own_and_comes_back():
    characters = [names.decode(bytes((code,))) for code in range(256)]
    assert all(len(character) == 1 for character in characters)
    assert len(set(characters)) == 256
    assert [names.encode(character) for character in characters] == [bytes((code,)) for code in range(256)]


def test_the_code_page_is_1251_with_its_hole_closed():
    every_other = bytes(code for code in range(256) if code != 0x98)
    assert names.decode(every_other) == every_other.decode("cp1251")
    assert names.decode(b"\x98") == "\x98"
    with pytest.raises(UnicodeDecodeError):
        b"\x98".decode("cp1251")


def test_cyrillic():
    assert names.decode(b"\xd0\xee\xec\xe0\xed") == "Роман"
    assert names.encode("Роман") == b"\xd0\xee\xec\xe0\xed"
    assert names.decode(b"\xa8\xb8") == "Ёё"


@given(st.binary())
def test_any_bytes_come_back(data):
    assert names.encode(names.decode(data)) == data


@pytest.mark.parametrize(("name", "culprit"), [("idle_東", "東"), ("ｗalk", "ｗ"), ("é", "é"), ("\udc80", "\\udc80")])
def test_characters_the_game_lacks_are_refused_by_name(name, culprit):
    with pytest.raises(WriteError) as refused:
        names.encode(name)
    assert culprit in str(refused.value)
    assert "1251" in str(refused.value)
    assert "Rename" in refused.value.remedy


def test_case_does_not_tell_names_apart():
    assert names.same("Bip01_Head", "bip01_head")
    assert names.same("Ходьба", "хОДЬБА")
    assert not names.same("bip01_head", "bip01_neck")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 80))
def test_shortened_is_the_longest_beginning_that_fits(text, limit):
    short = names.shortened(text, limit)
    assert text.startswith(short)
    assert len(short.encode()) <= limit
    if short != text:
        assert len(text[: len(short) + 1].encode()) > limit


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x" * 63, "x" * 63),
        ("x" * 64, "x" * 63),
        ("x" + "ж" * 31, "x" + "ж" * 31),  # 63 bytes
        ("ж" * 32, "ж" * 31),  # 64 bytes: the last letter goes whole
        ("x" * 61 + "東", "x" * 61),
        ("x" * 60 + "東", "x" * 60 + "東"),
    ],
)
def test_blender_takes_63_bytes_and_no_letter_is_cut(name, expected):
    assert names.shortened(name) == expected


def test_names_are_reported_apart_as_blender_does():
    assert names.distinct("walk", set()) == "walk"
    assert names.distinct("walk", {"Walk"}) == "walk"
    assert names.distinct("walk", {"walk"}) == "walk.001"
    assert names.distinct("walk", {"walk", "walk.001", "walk.002"}) == "walk.003"
    assert names.distinct("walk", {"walk", *(f"walk.{number:03}" for number in range(1, 1000))}) == "walk.1000"


@given(
    st.lists(st.sampled_from(["walk", "ж" * 40, "ж" * 31 + "1", "ж" * 31 + "2", "x" * 63, "x" * 70, "walk.001", ""]))
)
def test_distinct_names_are_distinct_and_fit(given_names):
    taken = set()
    for name in given_names:
        created = names.distinct(name, taken)
        assert created not in taken
        assert len(created.encode()) <= 63
        taken.add(created)


def test_thousands_of_motions_of_one_name_are_numbered_without_gaps_or_delay():
    taken = set()
    for _ in range(20_000):
        taken.add(names.distinct("norm", taken))
    assert taken == {"norm", *(f"norm.{number:03}" for number in range(1, 20_000))}
    assert lines_run(lambda: names.distinct("norm", taken)) < 400


def test_duplicates_are_found_by_case_in_order_of_appearance():
    assert names.duplicates(["Walk", "run", "walk", "idle", "RUN", "wALK"]) == [
        ["Walk", "walk", "wALK"],
        ["run", "RUN"],
    ]
    assert names.duplicates(["walk", "run"]) == []
    assert names.duplicates(iter(["a", "a"])) == [["a", "a"]]


@given(st.lists(st.sampled_from(["a", "b", "a (2)", "a (3)", "a (2) (2)", ""])))
def test_labels_are_reported_apart_and_the_first_of_each_stays(labels):
    result = names.numbered_labels(labels)
    assert len(set(result)) == len(labels)
    for number, (label, unique) in enumerate(zip(labels, result, strict=True)):
        assert unique == label if label not in result[:number] else unique.startswith(f"{label} (")


def test_many_of_one_name_are_counted():
    result = names.numbered_labels(["walk"] * 100_000)
    assert (result[0], result[1], result[-1]) == ("walk", "walk (2)", "walk (100000)")
