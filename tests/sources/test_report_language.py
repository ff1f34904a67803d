"""Sentences of reports and refusals have a Russian translation, and it is found in what the code says."""

import ast
import json
import re
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from addon.core.binary import Reader
from addon.core.errors import ReadError
from addon.core.phrases import MAX_LENGTH, VALUE, Phrases, Sentences
from addon.core.report import FORMS, Report, form_of, key_of, translated
from tests.sources import report_sentences
from tests.sources.report_sentences import ADDON, sentences
from tests.sources.trees import tree_of

FILE = ADDON / "ui" / "ru_reports.json"
TABLE: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
RUSSIAN = Phrases(TABLE)
SENTENCES = Sentences(TABLE)
PLACES = re.compile(r"\{\d*\}")


def told(text: str) -> str:
    return translated(text, SENTENCES)


def letters(text: str) -> int:
    return sum(map(str.isalpha, text.replace(VALUE, "")))


@cache
def said() -> dict[str, str]:
    """Key of each template that is passed to `say` -> where."""
    calls = [
        (path, node)
        for path in ADDON.rglob("*.py")
        for node in ast.walk(tree_of(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and report_sentences.called(node) == "say" and node.args
    ]
    templates = {
        template.value: f"{path.relative_to(ADDON)}:{node.lineno}"
        for path, node in calls
        for template in (getattr(node.args[0], "body", node.args[0]), getattr(node.args[0], "orelse", None))
        if isinstance(template, ast.Constant) and isinstance(template.value, str)
    }
    return {key_of(template): where for template, where in templates.items() if letters(key_of(template))}


@cache
def patterns() -> list[tuple[int, re.Pattern[str]]]:
    """The templates that hold for more than one sentence, and how many letters they have."""
    found = [template for template in sentences() if VALUE in template]
    return [(letters(one), re.compile(".+?".join(map(re.escape, one.split(VALUE))), re.DOTALL)) for one in found]


def is_said(english: str) -> bool:
    """Whether the code forms such sentences: of a template, or of one that is enough of it."""
    return (
        english in sentences()
        or english in said()
        or any(known >= min(letters(english) / 2, 30) and pattern.fullmatch(english) for known, pattern in patterns())
    )


def test_the_templates_are_those_of_the_sources():
    templates = sentences()
    assert len(templates) > 1500
    assert "{} bones of the file are not in the armature; their keys are kept and written back" in templates
    assert "1 triangle points to vertices that do not exist; left out" in templates
    assert "{} of {} faces have no area" in templates


def test_functions_of_one_name_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(report_sentences, "ADDON", tmp_path)
    calls = "def run(report):\n    _put(report, {!r})\n"
    (tmp_path / "one.py").write_text("def _put(report, text):\n    report.warn(text)\n" + calls.format("one is shown"))
    (tmp_path / "other.py").write_text("def _put(report, text):\n    return text\n" + calls.format("other is not"))
    (tmp_path / "far.py").write_text("from .one import _put\n" + calls.format("far is shown"))
    assert sorted(report_sentences.Sentences(tmp_path.glob("*.py")).templates) == ["far is shown", "one is shown"]


def test_what_a_file_lacks_is_translated():
    with pytest.raises(ReadError) as refused:
        Reader(b"ab", "a.bones").u32("the number of bones")
    assert "число костей: нужно байт: 4, осталось: 2." in told(refused.value.sentence())


def test_every_sentence_has_a_translation():
    wanted = sentences() | said()
    assert sorted(f"{text} ({where})" for text, where in wanted.items() if text not in TABLE) == []


def test_no_translation_is_left_of_a_sentence_that_is_gone():
    assert [english for english in TABLE if not is_said(english)] == []


def test_the_file_is_sorted_with_one_sentence_a_line():
    text = FILE.read_text(encoding="utf-8")
    assert text == json.dumps(TABLE, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def test_translations_take_the_same_values():
    for english, russian in TABLE.items():
        count = english.count(VALUE)
        for form in russian.split("|"):
            places = PLACES.findall(form)
            used = list(range(count)) if set(places) <= {VALUE} else [int(place[1:-1]) for place in places]
            assert len(places) >= count, english
            assert sorted(set(used)) == list(range(count)), english
            assert not count or form.count("{") == form.count("}") == len(places), english
        assert re.search("[а-яё]", russian.lower()) or not letters(english) > 1, english


def test_forms_are_three_and_of_sentences_with_a_value():
    for english, russian in TABLE.items():
        assert russian.count("|") in (0, FORMS - 1), english
        assert "|" not in russian or VALUE in english, english


def filled(english: str, values: list[str]) -> tuple[str, str]:
    """A sentence with these values, and what it is in Russian: from the table alone."""
    forms = TABLE[english].split("|")
    number = next((int(value) for value in values if value.isdecimal()), 5)
    return english.format(*values), forms[form_of(number) if len(forms) == FORMS else 0].format(*values)


NUMBERS = st.integers(10**6, 10**6 + 4000).map(str)
"""None of which is in a template, in every form."""
NAMES = st.text("qwx_07.", min_size=1, max_size=12).filter(lambda name: not name.isdecimal() and not name.endswith("."))
"""None of which is a number, as some templates have one of their own, or ends a sentence."""
VALUES = st.one_of(NUMBERS, NAMES.map(repr), st.lists(NAMES, min_size=1, max_size=3).map(", ".join))
WITH_VALUES = sorted(english for english in TABLE if VALUE in english)


@given(st.sampled_from(WITH_VALUES), st.data())
def test_a_sentence_is_found_with_its_values(english, data):
    values = data.draw(st.lists(VALUES, min_size=english.count(VALUE), max_size=english.count(VALUE)))
    # Where only a space separates two values, nothing tells where the first one ends if it has a space itself.
    assume(f"{VALUE} {VALUE}" not in english or not any(" " in value for value in values))
    sentence, russian = filled(english, values)
    if letters(english) < 5 and not all(value.isdecimal() for value in values):
        assert RUSSIAN.translated(sentence) == sentence
    else:
        assert RUSSIAN.translated(sentence) == russian


def test_a_sentence_without_values_is_found():
    assert [one for one in TABLE if VALUE not in one and RUSSIAN.translated(one) != TABLE[one]] == []


@given(st.sampled_from(WITH_VALUES), st.sampled_from(WITH_VALUES), NAMES, NUMBERS)
def test_a_refusal_in_a_sentence_is_translated(problem, remedy, file, number):
    assume(letters(problem) > 20 and letters(remedy) > 20)
    problem, wrong = filled(problem, [number] * problem.count(VALUE))
    remedy, helps = filled(remedy, [number] * remedy.count(VALUE))
    refusal = ReadError(problem, file=f"{file}.omf", chunk="0x2", offset=12, remedy=remedy)
    expected = f"{file}.omf, чанк 0x2, смещение 12: {wrong.rstrip('.')}. {helps.rstrip('.')}"
    assert told(refusal.sentence()) == f"{expected}."
    assert RUSSIAN.translated(f"left out: {str(refusal).rstrip('.')}") == f"пропущено: {expected}"


def test_a_report_is_in_russian():
    report = Report()
    for number in range(9):
        report.warn("3 triangles point to vertices that do not exist; left out", f"hull_{number}")
    report.note("no motion of ours", "hull")
    many, unknown = map(told, report.lines())
    named = "hull_0, hull_1, hull_2, hull_3, hull_4"
    sentence = "3 triangles point to vertices that do not exist; left out"
    assert report.lines()[0] == f"[9x] {sentence} ({named}, and 4 more)"
    assert many == f"[×9] {RUSSIAN.translated(sentence)} ({named}, и ещё 4)"
    assert RUSSIAN.translated(sentence).startswith("3 треугольника ")
    assert unknown == "no motion of ours (hull)"


@pytest.mark.parametrize(
    ("english", "russian"),
    [
        (
            "12 of 30 faces have no area; delete them, or merge their vertices",
            "грани без площади: 12 из 30; удалите их или слейте их вершины",
        ),
        ("'hull': it has no faces", "'hull': граней нет"),
        ("the bones left_arm and right_arm at home", "the bones left_arm and right_arm at home"),
        ("C:/my files at home/walk.omf", "C:/my files at home/walk.omf"),
        (
            "editors of the game: in mesh 'body 1': 784 vertices have no weights",
            "редакторы игры: в меше 'body 1': вершин без весов: 784",
        ),
    ],
)
def test_joined_sentences_are_translated_and_names_are_not(english, russian):
    assert RUSSIAN.translated(english) == russian


@given(st.text(min_size=0, max_size=60))
def test_what_is_unknown_stays(text):
    assume(not text.isascii() or not any(letter.isalpha() for letter in text))
    assert RUSSIAN.translated(text) == text


def test_very_long_texts_stay():
    sentence = "groups that are not bones left out: " + "q" * MAX_LENGTH
    assert RUSSIAN.translated(sentence) == sentence
    assert RUSSIAN.translated(sentence[:-200]) != sentence[:-200]
