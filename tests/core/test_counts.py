"""Counts in sentences."""

import pytest

from addon.core.report import changed_count, counted_plural


@pytest.mark.parametrize(
    ("nouns", "singular"),
    [
        ("positions", "position"),
        ("texture coordinates", "texture coordinate"),
        ("heights of the ground", "height of the ground"),
        ("slots with other densities", "slot with other densities"),
        ("vertices", "vertex"),
        ("faces redrawn", "face redrawn"),
        ("animated properties", "animated property"),
    ],
)
def test_one_is_singular(nouns, singular):
    assert counted_plural(1, nouns) == f"1 {singular}"
    assert counted_plural(2, nouns) == f"2 {nouns}"


def test_as_many_others_are_no_change_of_the_count():
    assert changed_count("faces", 12, 14) == "faces 12 -> 14"
    assert changed_count("faces", 12, 12) == "faces"
