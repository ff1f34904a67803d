"""The pages that F1 opens are those that the guide gives now."""

import re

from scripts import make_manual


def test_pages_are_those_of_the_guide():
    created = make_manual.pages()
    there = {path.relative_to(make_manual.MANUAL).as_posix() for path in make_manual.MANUAL.rglob("*")}
    assert there - {"en", "ru"} == created.keys()
    for name, text in created.items():
        assert (make_manual.MANUAL / name).read_text(encoding="utf-8") == text, "run scripts/make_manual.py"


def test_headings_are_the_same_in_each_language_and_nothing_needs_a_picture():
    created = make_manual.pages()
    for name in sorted(name for name in created if name.startswith("en/")):
        english, russian = created[name], created[name.replace("en/", "ru/")]
        assert re.findall(r'<h\d id="([^"]*)"', english) == re.findall(r'<h\d id="([^"]*)"', russian)
        assert "<img" not in english + russian
