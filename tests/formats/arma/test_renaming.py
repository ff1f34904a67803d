"""Tables of names of selections, and what they do to a file."""

import string
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from addon.core.report import Report
from addon.formats.arma import p3d, renaming
from addon.formats.arma.p3d import tags
from tests.real_files import SAMPLES

NAMES = st.text(string.ascii_letters + "é _", min_size=1, max_size=8).map(str.strip).filter(bool)


@given(st.dictionaries(NAMES, NAMES, max_size=5), st.sampled_from("\t;,"))
def test_a_table_is_read_as_it_was_written(table, separator):
    unique = {
        old: new
        for number, (old, new) in enumerate(table.items())
        if old.lower() not in {other.lower() for other in [*table][:number]}
    }
    lines = [f'"{old}" {separator} {new}{separator * (separator != ",")}' for old, new in unique.items()]
    assert renaming.read_table("\n".join(["// names", *lines, ""]), "") == unique


@given(st.lists(st.permutations(range(5)), min_size=1, max_size=3))
def test_tables_that_follow_each_other_are_one_table(orders):
    document = p3d.read((SAMPLES / "arma/man.p3d").read_bytes(), "", Report())
    names = list(dict.fromkeys(name for lod in document.lods for name in renaming.selections_of(lod)))
    result, whole = document, {}
    for order in orders:
        table = {names[index].lower(): names[other] for index, other in enumerate(order)}
        result, whole = renaming.renamed(result, table), renaming.composed(document, whole, table)
    assert p3d.write(renaming.renamed(document, whole)) == p3d.write(result)
    back = {new.lower(): next(name for name in names if name.lower() == old) for old, new in whole.items()}
    assert not renaming.composed(document, whole, back)
    assert p3d.write(renaming.renamed(result, back)) == p3d.write(document)


def test_selections_that_differ_in_case_only_become_one_if_they_are_renamed():
    document = p3d.read((SAMPLES / "arma/man.p3d").read_bytes(), "", Report())
    lod = document.lods[0]
    old, twins = renaming.selections_of(lod)[:3], ("CAMO", "camo", "other")
    fields = {
        name.encode(): tags.new_tag(lod.signature, new.encode(), b"").field
        for name, new in zip(old, twins, strict=True)
    }
    twin_tags = [replace(tag, field=fields.get(tag.name, tag.field)) for tag in lod.tags]
    document = replace(document, lods=[replace(lod, tags=twin_tags)])

    def after(table):
        return renaming.selections_of(renaming.renamed(document, table).lods[0])[:3]

    assert after({"other": "x"}) == ["CAMO", "camo", "x"]
    assert after({"camo": "net"})[:2] == ["net", "other"]
    assert after({"camo": "camo2"})[:2] == ["camo2", "other"]


def test_what_becomes_one_is_counted_by_lod():
    lods = [["a", "B", "c"], ["a", "c"], ["b"]]
    assert renaming.clashes(lods, {"a": "b"}) == ({"b": ["a", "B"]}, 1)
    assert renaming.clashes(lods, {"a": "x", "c": "X"}) == ({"x": ["a", "c"]}, 2)
    assert renaming.clashes(lods, {"a": "b", "b": "a"}) == ({}, 0)
    assert renaming.clashes([["a", "A"], ["a", "c"]], {"a": "b"}) == ({"b": ["a", "A"]}, 1)
    assert renaming.clashes([["a", "A", "c"]], {"c": "b"}) == ({}, 0)
