"""Tables of bone names: the shipped one, one name for one name both ways, and refusals that say what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import ReadError
from addon.formats.arma import skeletons
from addon.formats.arma.skeletons import BUILT_IN, BoneTable


def table(content) -> BoneTable:
    return skeletons.read_table(json.dumps(content).encode(), "table.json")


def test_the_shipped_table_leads_from_one_man_to_the_other():
    shipped = skeletons.flashpoint_to_arma()
    flashpoint, arma = BUILT_IN["flashpoint"], BUILT_IN["arma3"]
    assert flashpoint.unknown(list(shipped.pairs)) == []
    assert arma.unknown(list(shipped.pairs.values())) == []
    body = {bone for bone in flashpoint.parents if bone in shipped.pairs}
    assert len(body) == 25, "the whole body"
    assert shipped.in_armature("HLAVA") == "head"
    assert shipped.in_file("Head") == "hlava"
    assert shipped.reversed().in_armature("head") == "hlava"


def test_the_shipped_table_keeps_sides_and_parents():
    shipped = skeletons.flashpoint_to_arma()
    arma = {bone.lower(): parent.lower() for bone, parent in BUILT_IN["arma3"].parents.items()}

    def line(bone):
        while bone:
            yield bone
            bone = arma[bone]

    for entry, parent in BUILT_IN["flashpoint"].parents.items():
        if entry in shipped.pairs and parent:
            above = list(line(shipped.in_armature(entry).lower()))
            assert shipped.in_armature(parent).lower() in above or entry in {"zbran", "roura"}, entry
    for left, right in shipped.pairs.items():
        side = {"p": "Right", "l": "Left"}.get(left[0])
        if side and (right.startswith(("Right", "Left"))):
            assert right.startswith(side)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=8)


@given(st.dictionaries(NAMES, NAMES, min_size=1, max_size=12))
def test_one_name_for_one_name_in_both_directions(pairs):
    one_each = len({name.lower() for name in pairs}) == len(pairs) == len({name.lower() for name in pairs.values()})
    if not one_each:
        with pytest.raises(ReadError, match="twice"):
            table({"bones": pairs})
        return
    result = table({"comment": "mine", "bones": pairs})
    for left, right in pairs.items():
        assert result.in_armature(left) == right
        assert result.in_file(result.in_armature(left)) == left
        assert result.reversed().in_armature(right) == left


def test_what_is_not_in_it_keeps_its_name():
    result = table({"bones": {"bricho": "Pelvis"}})
    assert (result.in_armature("weapon"), result.in_file("weapon")) == ("weapon", "weapon")
    assert BoneTable().in_armature("Pelvis") == "Pelvis"
    assert not BoneTable()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not valid JSON"),
        (b"{", r"not valid JSON \(line 1"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"[]", 'no "bones"'),
        (b"3", 'no "bones"'),
        (b'{"bones": {}}', 'no "bones"'),
        (b'{"bones": ["a", "b"]}', 'no "bones"'),
        (b'{"bones": {"a": 3}}', "'a' has no name on one side"),
        (b'{"bones": {"a": ""}}', "'a' has no name on one side"),
        (b'{"bones": {"": "a"}}', "'' has no name on one side"),
        (b'{"bones": {"a": "b", "A": "c"}}', "'A' twice"),
        (b'{"bones": {"a": "b", "c": "B"}}', "'B' twice"),
        (b'{"bones": {"a": "b"}, "prefix": "x"}', "'prefix', which is unknown"),
    ],
)
def test_refusals_name_the_file_and_what_is_wrong(data, message):
    with pytest.raises(ReadError, match=message) as refusal:
        skeletons.read_table(data, "mine.json")
    assert "mine.json" in str(refusal.value)
    assert refusal.value.remedy


def test_a_byte_order_mark_is_no_fault():
    assert skeletons.read_table(b'\xef\xbb\xbf{"bones": {"a": "b"}}', "mine.json").in_armature("A") == "b"
