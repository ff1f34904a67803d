"""Sentences of reports and refusals have a Russian translation."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from addon.core.report import FORMS, key_of, translated
from tests.sources.trees import ADDING_A_FORMAT, code_on, tree_of

ADDON = Path(__file__).resolve().parents[2] / "addon"
FILE = ADDON / "ui" / "ru_reports.json"
TABLE: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
FIELD = re.compile(r"\{\d*\}")

SAID: dict[str, tuple[tuple[int | None, str], ...]] = {
    "say": ((0, "template"),),
    "warn": ((0, "finding"),),
    "note": ((0, "finding"),),
    "ReadError": ((0, "problem"), (None, "remedy")),
    "WriteError": ((0, "problem"), (None, "remedy")),
    "error": ((0, "problem"), (1, "remedy")),
    "_error": ((0, "problem"),),
    "_refuse": ((2, "problem"), (3, "remedy")),
    "refuse_not_finite": ((0, "what"), (1, "remedy")),
    "Problem": ((0, "sentence"), (1, "remedy")),
    "whole": ((0, "sentence"), (1, "remedy")),
    "_about": ((0, "sentence"), (1, "remedy")),
    "_warning": ((0, "sentence"), (1, "remedy")),
    "Property": ((2, "problem"),),
    "some": ((3, "remedy"),),
    "u8": ((0, "what"),),
    "u16": ((0, "what"),),
    "u32": ((0, "what"),),
    "i32": ((0, "what"),),
    "f32": ((0, "what"),),
    "string": ((0, "what"),),
    "take": ((1, "what"),),
    "array": ((None, "what"),),
    "keep_all": ((0, "words"),),
    "resized": ((0, "template"),),
    "replaced": ((0, "template"),),
}
"""Function -> its arguments that are shown to the user, by index and name."""


COMPOSING = {"core/report.py", "core/problems.py"}
"""Modules that form templates of nouns."""


def name_of(node: ast.Call) -> str:
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


@cache
def modules() -> dict[str, ast.Module]:
    """The modules that tell the interface something; the command line stays English."""
    paths = [path for path in sorted(ADDON.rglob("*.py")) if ADDON / "cli" not in path.parents]
    return {path.relative_to(ADDON).as_posix(): tree_of(path.read_text(encoding="utf-8")) for path in paths}


def functions(node: ast.AST, given: dict[str, list[ast.expr]]) -> Iterator[tuple[ast.Call, dict[str, list[ast.expr]]]]:
    """Each call, with what the names of its function are assigned."""
    for child in ast.iter_child_nodes(node):
        names = given
        if isinstance(child, ast.FunctionDef):
            names = defaultdict(list)
            for own_node in ast.walk(child):
                assign(own_node, names)
        if isinstance(child, ast.Call):
            yield child, names
        yield from functions(child, names)


def assign(node: ast.AST, names: dict[str, list[ast.expr]]) -> None:
    """Note what an assignment, or a loop over literal rows, gives to names."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Assign):
        pairs = [(node.targets[0], node.value)]
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
        pairs = [(node.target, row) for row in node.iter.elts]
    for target, value in pairs:
        targets, values = (
            [entry] if isinstance(entry, ast.Name) else getattr(entry, "elts", []) for entry in (target, value)
        )
        for own_target, given in zip(targets, values if isinstance(target, ast.Tuple) else [value], strict=False):
            names[getattr(own_target, "id", "")].append(given)


def texts(node: ast.expr | None, names: dict[str, list[ast.expr]]) -> Iterator[ast.expr]:
    """The literals and f-strings that an argument can be."""
    if isinstance(node, ast.IfExp):
        yield from texts(node.body, names)
        yield from texts(node.orelse, names)
    elif isinstance(node, ast.Name):
        for value in names.get(node.id, ()):
            yield from texts(value, {})
    elif isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield node


def arguments(call: ast.Call) -> Iterator[ast.expr]:
    is_writing = "writer" in ast.unparse(call.func)
    for index, name in SAID.get(name_of(call), ()) if not is_writing else ():
        if index is not None and len(call.args) > index:
            yield call.args[index]
        yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def literals(node: ast.expr, names: dict[str, list[ast.expr]]) -> list[str]:
    return [str(text.value) for text in texts(node, names) if isinstance(text, ast.Constant)]


def composed(call: ast.Call, names: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The keys of what `problems.some` forms of its arguments."""
    if name_of(call) == "some" and len(call.args) > 3:
        for noun in literals(call.args[1], names):
            for what in literals(call.args[2], names):
                many = noun.partition("|")[2]
                yield "{} of {} " + key_of(f"{many} {what}")
                yield key_of(f"{many} {what}")


@cache
def said() -> dict[str, str]:
    """Key of each sentence -> where it is said."""
    result = {}
    for path, module in modules().items():
        for call, names in functions(module, {}):
            keys = [key_of(text) for value in arguments(call) for text in literals(value, names)]
            named = letters if name_of(call) == "say" else is_sentence
            result |= {key: f"{path}:{call.lineno}" for key in (*keys, *composed(call, names)) if named(key)}
        counts = (node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and is_count(node.value))
        result |= {key_of(count): path for count in counts}
    return result


def is_count(value: object) -> bool:
    """Whether a literal is the template of a number with its noun."""
    return isinstance(value, str) and re.fullmatch(r"\{:# [^{}|]+\|# [^{}|]+\}.*", value) is not None


def is_sentence(text: str) -> bool:
    """Whether a text is more than a name, which stays as it is."""
    return letters(text) > 1 and " " in FIELD.sub("", text).strip(" :,;()")


def letters(text: str) -> int:
    return sum(map(str.isalpha, FIELD.sub("", text)))


def known() -> set[str]:
    """Every string of the sources as a key, and the nouns that are counted."""
    strings = {
        node.value
        for module in modules().values()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    templates = {text for text in strings if re.fullmatch(r"[^{}]*(\{\d?(![ra])?(:[^{}]*)?\}[^{}]*)+", text)}
    nouns = {f"{{}} {text.rpartition('|')[2]}{end}" for text in strings for end in ("", "s")}
    return strings | nouns | {key_of(text) for text in templates}


def test_every_sentence_has_a_translation():
    assert len(said()) > 1500
    assert sorted(f"{text} ({where})" for text, where in said().items() if text not in TABLE) == []


def test_sentences_are_messages():
    """A text that is formed in another way has no template, so no translation is found for it."""
    page = {block[:60]: ast.parse(block) for block in code_on(ADDING_A_FORMAT)}
    wrong = [
        f"{path}:{text.lineno}"
        for path, module in (modules() | page).items()
        for call, names in functions(module, {})
        for value in arguments(call)
        for text in texts(value, names)
        if not isinstance(text, ast.Constant) and (name_of(call) != "say" or path not in COMPOSING)
    ]
    assert wrong == []


def test_no_translation_is_left_of_a_sentence_that_is_gone():
    assert sorted(TABLE.keys() - said().keys() - known()) == []


def test_the_file_is_sorted_with_one_sentence_a_line():
    text = FILE.read_text(encoding="utf-8")
    assert text == json.dumps(TABLE, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def test_translations_take_the_same_values():
    for english, russian in TABLE.items():
        count = english.count("{}")
        for form in russian.split("|"):
            fields = FIELD.findall(form)
            used = list(range(count)) if set(fields) <= {"{}"} else [int(field[1:-1]) for field in fields]
            assert len(fields) >= count, english
            assert sorted(set(used)) == list(range(count)), english
            assert not count or form.count("{") == form.count("}") == len(fields), english
        assert re.search("[а-яё]", russian.lower()) or not letters(english) > 1, english


def test_sentences_that_begin_with_a_counted_noun_have_russian_plurals():
    """They have a form as for 1, 2 and 5 each, or the number behind a colon."""
    templates = {
        node.value
        for module in modules().values()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"\{0?:# \w", node.value)
    }
    assert len(templates) > 100
    russian = {text: TABLE[key_of(text)] for text in templates}
    without = {text for text, forms in russian.items() if forms.count("|") != FORMS - 1}
    assert sorted(text for text in without if not re.search(r": \{\d?\}", russian[text])) == []


def test_forms_are_three():
    assert {russian.count("|") for russian in TABLE.values()} == {0, FORMS - 1}


@pytest.mark.parametrize("english", [english for english in TABLE if "{}" not in english][::50])
def test_a_sentence_without_values_is_found(english):
    assert translated(english, TABLE) == TABLE[english]


def names_of_actions(source: ast.Module) -> Iterator[int]:
    """Yield the lines of calls that say the name of an action where they could say that of its motion."""
    for call in ast.walk(source):
        if isinstance(call, ast.Call) and name_of(call) in {"say", "warn", "note", "listed", "Outcome", "Reader"}:
            texts = [ast.unparse(argument) for argument in call.args]
            if any("action.name" in text for text in texts) and not re.search(" action| copy", "".join(texts[:1])):
                yield call.lineno


def test_reports_name_motions_as_their_list_does():
    """Blender adds a number to the name of an action (walk.001), which its motion has not.

    A sentence may name an action that is no motion, or a copy that becomes one. Paths and motions of Arma have names
    of actions.
    """
    assert list(names_of_actions(ast.parse('report.warn("left out", action.name)')))
    lines = [
        f"{path.relative_to(ADDON)}:{line}"
        for folder in ("blender", "games/xray", "ui")
        for path in sorted((ADDON / folder).rglob("*.py"))
        if "arma" not in path.parts and path.stem != "paths"
        for line in names_of_actions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert lines == [], "say label_of(action)"


LABELS = {
    english: russian
    for english, russian in json.loads((ADDON / "ui" / "ru.json").read_text(encoding="utf-8"))["*"].items()
    if re.fullmatch(r"[A-Z][^{.;:]*", english) and sum(word[0].isupper() for word in english.split()) > 1
} | {"Call of Pripyat": "Зов"}
"""Labels of several words in Title Case, and their Russian; in a sentence the game's name has other endings."""


def test_a_label_that_another_text_names_has_one_russian_name():
    """What a button is called is what its dialog, its tooltip, reports and refusals call it."""
    texts = TABLE | json.loads((ADDON / "ui" / "ru.json").read_text(encoding="utf-8"))["*"]
    names = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(LABELS, key=len, reverse=True)))
    named = [(english, name) for english in texts for name in names.findall(english) if name != english]
    assert len(named) > 50
    others = {name: english for english, name in named if LABELS[name].lower() not in texts[english].lower()}
    assert others == {}
