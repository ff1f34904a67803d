"""Counts in sentences."""

import pytest

from addon.core.report import changed_count, counted_plural, said_of


@pytest.mark.parametrize(
    ("nouns", "one"),
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
def test_one_is_singular(nouns, one):
    assert counted_plural(1, nouns) == f"1 {one}"
    assert counted_plural(2, nouns) == f"2 {nouns}"


def test_as_many_others_are_no_change_of_the_count():
    assert changed_count("faces", 12, 14) == "faces 12 -> 14"
    assert changed_count("faces", 12, 12) == "faces"


@pytest.mark.parametrize(
    ("nouns", "words", "one"),
    [
        ("bones of the file", "are", "1 bone of the file is"),
        ("triangles", "point to vertices that do not exist", "1 triangle points to vertices that do not exist"),
        ("portals", "do not lie in a plane", "1 portal does not lie in a plane"),
        ("sharp edges", "end there; they become smooth", "1 sharp edge ends there; it becomes smooth"),
        ("visuals", "have no shader, and keep their own", "1 visual has no shader, and keeps its own"),
        ("meshes", "have edits; these vertices are not written", "1 mesh has edits; these vertices are not written"),
    ],
)
def test_sentences_agree_with_the_count(nouns, words, one):
    assert said_of(1, nouns, words) == one
    assert said_of(3, nouns, words) == f"3 {nouns} {words}"
