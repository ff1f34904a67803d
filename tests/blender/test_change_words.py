"""What an export changes, in Russian: forms of nouns, lines, and that every noun of our code has them."""

import ast
import json
from pathlib import Path

import pytest

from addon.core.changes import Changes, Item, Part
from addon.core.report import say, translated
from addon.ui import bases, change_words

ADDON = Path(bases.FILES["ru_RU"]).parents[1]
TABLE = json.loads(bases.FILES["ru_RU"].read_text(encoding="utf-8"))[change_words.CONTEXT]
WORDS = change_words.TranslatedWords(TABLE)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (0, "0 анимаций"),
        (1, "1 анимация"),
        (2, "2 анимации"),
        (4, "4 анимации"),
        (5, "5 анимаций"),
        (11, "11 анимаций"),
        (12, "12 анимаций"),
        (21, "21 анимация"),
        (22, "22 анимации"),
        (111, "111 анимаций"),
        (3000, "3000 анимаций"),
    ],
)
def test_a_number_asks_for_a_form_of_its_noun(number, message):
    assert WORDS.counted(number, "motion") == message


@pytest.mark.parametrize(("number", "message"), [(2, "walk: кадров 1 -> 2"), (5, "walk: кадров 1 -> 5")])
def test_lengths_are_reported_without_a_form(number, message):
    table = json.loads((ADDON / "ui" / "ru_reports.json").read_text(encoding="utf-8"))
    assert translated(say("{}: {} -> {:# frame|# frames}", "walk", 1, number), table) == message


def test_sentences_are_those_of_english_in_russian_words():
    items = (Item("hand X"), Item("hand Y"))
    parts = [Part("walk", "motion", items=items), Part("run", "motion", new=True)]
    changes = Changes(parts=parts, unchanged=5, noun="motion", items="channel")
    assert changes.sentence() == "1 motion, 2 channels changed, 1 motion added, 5 unchanged"
    assert changes.sentence(WORDS) == "изменено: 1 анимация, 2 канала; добавлено: 1 анимация; без изменений: 5"
    added = Changes(parts=parts[1:], unchanged=0, noun="motion")
    assert (added.sentence(), added.sentence(WORDS)) == ("1 motion added", "добавлено: 1 анимация")
    added.deleted["motion"] = 1
    assert added.sentence() == "1 motion added, 1 motion deleted, 0 unchanged"
    changes = Changes(["hull: 12 positions", "hull: faces 3 -> 4", "gun points"])
    assert changes.sentence() == "hull: 12 positions, faces 3 -> 4; gun points changed"
    assert changes.sentence(WORDS) == "изменено: hull: 12 положений, граней 3 -> 4; точки стрельбы"
    assert Changes(unchanged=21, noun="bone").sentence(WORDS) == "без изменений: 21 кость"
    assert Changes(new="path").sentence(WORDS) == "новый файл: путь движения"
    occluders = Changes(new="occluder file", extent="36 triangles")
    assert occluders.sentence() == "a new occluder file, 36 triangles"
    assert occluders.sentence(WORDS) == "новый файл: окклюдеры; 36 треугольников"
    assert Changes().sentence(WORDS) == "изменений нет"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("25 -> 11 frames", "25 -> 11 кадров"),
        ("faces (3 -> 4)", "граней 3 -> 4"),
        ("3 keys (X, Y)", "3 ключа (X, Y)"),
        ("1 triangle, new", "1 треугольник, новое"),
        ("shader strings of 2 visuals", "строки шейдеров: 2 видимых объекта"),
        ("2 slots with other models", "2 слота с другими моделями"),
        ("1 vertex with other weights", "1 вершина с другими весами"),
        ("bone Left", "кость Left"),
        ("frames", "кадры"),
        ("rotation keys", "ключи вращения"),
        ("a line that nobody knows", "a line that nobody knows"),
        ("7 things that nobody knows", "7 things that nobody knows"),
    ],
)
def test_lines_are_translated_by_their_nouns(line, message):
    assert WORDS.line(line) == message


@pytest.mark.parametrize("line", TABLE)
def test_no_line_shows_all_forms_of_its_noun(line):
    assert "|" not in WORDS.line(line)


def literals(node):
    return [node.value for node in ast.walk(node) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def named_by_code() -> set[str]:
    """Nouns and fields that our code passes to `Changes` as literals."""
    result = set()
    for file in (*ADDON.glob("formats/**/*.py"), *ADDON.glob("games/**/*.py")):
        text = file.read_text(encoding="utf-8")
        if "core.changes import" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owner = ast.unparse(node.func)
            if name == "count" and "changes" in owner and len(node.args) == 2:
                result.update(literals(node.args[1]))
            if name in {"add", "change", "resized"} and "changes" in owner:
                result.update(literals(node.args[0]))
            if name == "append" and owner.endswith(("changes.lines.append", "fields.append")):
                result.update(literals(node.args[0]) if isinstance(node.args[0], ast.Constant) else [])
            if name == "Part" and len(node.args) > 1:
                result.update(literals(node.args[1]))
            if name == "Changes":
                values = [keyword.value for keyword in node.keywords if keyword.arg in {"noun", "items", "new"}]
                result.update(text for value in values for text in literals(value))
    return result


def test_every_noun_of_our_code_has_a_translation():
    named = named_by_code()
    assert {"motion", "tree", "faces redrawn", "texture or shader", "LOD", "animation"} <= named
    known = TABLE.keys() | {noun for noun in named if WORDS.counted(5, noun) != f"5 {noun}s"}
    assert sorted(named - known) == []


def test_forms_are_three_or_none():
    assert {text.count("|") for text in TABLE.values()} == {0, change_words.FORMS - 1}


def test_two_steps_that_change_one_mesh_are_one_changed_mesh():
    changes = Changes()
    for fields in (("bone numbers",), ("3 weights",)):
        step = Changes()
        step.change("mesh", "body", *fields)
        changes.include(step)
    assert changes.lines_of("mesh") == ["body: bone numbers", "body: 3 weights"]
    assert changes.sentence() == "1 mesh changed"
