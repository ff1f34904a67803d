"""Plain English: idioms that a reader who learned English at school does not understand at first reading."""

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from tests.sources.trees import ADDING_A_FORMAT, code_on, nodes_of

ADDON = Path(__file__).resolve().parents[2] / "addon"

BANNED = {
    r"(?-i:\breach(es)?\b)": "tolerance; contains; at most",
    r"\bnobody touched|\buntouched\b": "unchanged, not edited, unedited",
    r"\bthat (is|are) there\b": "existing, present",
    r"\b(is|are|as) it came\b|\bas they came\b": "unchanged, as imported",
    r"(?<!there )\b(is|are) (?-i:none)\b": "is not a …",
    r"(?<!there )\b(is|are) no (mesh|number|numbers|file|model|motion|folder|text|triangles?|bone)\b": "is not a …",
    r"\banew\b": "again",
    r"\bfor the eye\b": "display only, preview",
    r"\botherwise than\b": "differently from",
    r"\bhangs? (on|below)\b": "is parented to, is a child of",
    r"\bnobody\b": "no tool, no file, unknown",
    r"\b(frames|times|keys|ticks) a second\b": "per second",
    r"\bform a ring\b|\bin a ring\b": "cycle",
    r"\bthe way (it|they) (came|were)\b": "unchanged",
    r"\bwhat (is|are) meant\b|\bthat (is|are) meant\b": "chosen, to export",
    r"\bmade to do harm\b": "malicious",
    r"\bworth a look\b": "warning",
    r"\b(the game|Blender) takes (it|them) for\b": "treats as",
    r"\bnumbered anew\b": "renumbered",
    r"\b(some|any)body\b": "the user, another program",
    r"\bone after the other\b|\bin one go\b": "each, together",
    r"\bas (they|it) stands?\b|\bwhat stands\b": "as it is, what is",
}
"""Idiom -> what to write."""

ALLOWED = {"as it came"}
"""Texts that are not shown to anybody, such as the value of an enumeration."""


class Texts(NamedTuple):
    """Texts of a source."""

    strings: list[tuple[int, str, bool]]
    """Line, text and whether it is a docstring, of every string constant of more than one word."""
    plurals: list[tuple[int, str]]
    """See `bare_plurals`."""
    output: set[int]
    """Lines of the functions whose texts are the output of commands."""


@cache
def texts_of(source: str) -> Texts:
    nodes = nodes_of(source)
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = [
        (node.lineno, node.value, id(node) in docstrings)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]
    output = [node for node in nodes if isinstance(node, ast.FunctionDef) and PUBLIC.fullmatch(node.name)]
    lines = {line for node in output for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return Texts(strings, [bare_plural for node in nodes for bare_plural in bare_plurals(node)], lines)


def idioms(text: str) -> list[str]:
    """What to write instead of each banned idiom in a text."""
    return [f"{text!r}: write {better}" for idiom, better in BANNED.items() if re.search(idiom, text, re.IGNORECASE)]


def found(*, docstrings: bool) -> list[str]:
    """The banned idioms in the sources of addon/; in docstrings names in double backticks do not count."""
    return [
        f"{path.relative_to(ADDON)}:{line}: {wrong}"
        for path in sorted(ADDON.rglob("*.py"))
        for line, text, is_docstring in texts_of(path.read_text(encoding="utf-8")).strings
        if is_docstring == docstrings and text not in ALLOWED
        for wrong in idioms(re.sub(r"``[^`]*``", "", text) if docstrings else text)
    ]


def test_no_label_report_or_error_has_a_banned_idiom():
    assert found(docstrings=False) == []


def test_no_docstring_has_a_banned_idiom():
    assert found(docstrings=True) == []


def test_no_comment_has_a_banned_idiom():
    comments = [
        token.string
        for path in ADDON.rglob("*.py")
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        if token.type == tokenize.COMMENT
    ]
    assert len(comments) > 500
    assert [wrong for comment in comments for wrong in idioms(comment)] == []


PYTHON = [path for folder in ("addon", "scripts", "tests") for path in sorted((ADDON.parent / folder).rglob("*.py"))]
RIDDLES = frozenset(
    [
        "shown",
        "place",
        "places",
        "one",
        "ones",
        "made",
        "found",
        "turn",
        "turns",
        "none",
        "said",
        "told",
        "way",
        "ways",
        "thing",
        "things",
    ]
)
"""Words that name nothing: as the name of a parameter or variable they say neither what it is nor what it is for."""


def riddles(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each parameter and local variable that is named by one of the `RIDDLES`."""
    for node in nodes_of(source):
        if isinstance(node, ast.arg) and node.arg in RIDDLES:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in RIDDLES:
            yield node.lineno, node.id
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name in RIDDLES:
            yield node.lineno, node.name


def test_no_parameter_or_variable_is_a_riddle():
    sources = {str(path): path.read_text(encoding="utf-8") for path in PYTHON}
    sources |= {f"{ADDING_A_FORMAT}, {block[:60]}": block for block in code_on(ADDING_A_FORMAT)}
    names = [(name, *riddle) for name, source in sources.items() for riddle in riddles(source)]
    assert names == [], "name what it is: obj, index, rotation, position, motion"


def test_a_riddle_is_seen():
    source = "def f(shown, *, index):\n    place = [one for one in shown]"
    assert [name for _, name in sorted(riddles(source))] == ["shown", "one", "place"]


def test_no_name_of_a_test_has_a_banned_idiom():
    names = [
        node.name.replace("_", " ")
        for path in (ADDON.parent / "tests").rglob("test_*.py")
        for node in nodes_of(path.read_text(encoding="utf-8"))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(names) > 3000
    assert [wrong for name in names for wrong in idioms(name)] == []


def test_no_translated_text_has_a_banned_idiom():
    contexts = json.loads((ADDON / "ui" / "ru.json").read_text(encoding="utf-8"))
    assert [wrong for texts in contexts.values() for english in texts for wrong in idioms(english)] == []


@pytest.mark.parametrize("text", ["The bone hangs on its parent", "out.omf: 5 untouched", "NUMBERED ANEW"])
def test_an_idiom_is_seen(text):
    assert len(idioms(text)) >= 1


COUNTING = ("core", "blender", "formats", "games", "ui")
"""Folders below addon/ in which no number stands before a plural."""
PUBLIC = re.compile(r"describe|dump.*|chunk_heading|first_difference|.*differences")
"""Functions of formats whose texts are the output of commands, which stays as it is; so are those of every text.py."""
VERBS = frozenset(
    [
        "has",
        "is",
        "holds",
        "does",
        "moves",
        "plays",
        "comes",
        "needs",
        "belongs",
        "lacks",
        "was",
        "exists",
        "as",
        "this",
        *["claims", "declares", "differs", "ends", "gives", "knows", "lists", "refuses", "stores", "turns"],
        *["suppress", "wants", "includes", "follows"],
    ]
)
SMALL_WORDS = VERBS.union(re.findall(r"\w+", "if of in to for and with without that not the on would have no follow"))
SEVERAL = {
    "MOST_SAMPLED", "TAG_FIELD", "len(data.splines) or 'no'", "len(others) or 'no'", "len(order)", "len(pictures)",
    "len(existing) + len(new)", "len(frames)", "len(candidates)", "end - begin + 1", "last - first + 1", "depth",
    "len(plants)", "height", "channels", "size", "len(window)", "name", "base.last - base.first + 1",
    "old.st_nlink - 1", "len(data)", "len(group)", "what", "index",
}  # fmt: skip
"""What is never 1 where it is said, or is no number."""


def bare_plurals(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and words of every number in a text that is followed by a plural, such as ``{len(bones)} bones``."""
    pairs: list[tuple[ast.expr, str]] = []
    if isinstance(node, ast.JoinedStr):
        pairs = [
            (value.value, str(getattr(after, "value", "")))
            for value, after in pairwise(node.values)
            if isinstance(value, ast.FormattedValue) and value.conversion == -1 and value.format_spec is None
        ]
    elif (
        isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say" and isinstance(node.args[0], ast.Constant)
    ):
        fields = [*Formatter().parse(node.args[0].value)]
        values = iter(node.args[1:])
        pairs = [
            (node.args[1 + int(name)] if name else next(values), after)
            for (_, name, spec, conversion), (after, *_) in zip(fields, [*fields[1:], ("",)], strict=True)
            if name is not None
        ]
        pairs = [pair for pair, (*_, spec, conversion) in zip(pairs, fields, strict=False) if not (spec or conversion)]
    for value, after in pairs:
        words = re.match(r" ((?:[a-z-]+ ){0,2}?)([a-z]{3,}s)\b", after)
        number = ast.unparse(value) if words else ""
        is_number = not number.isupper() and number not in SEVERAL
        if words and is_number and SMALL_WORDS.isdisjoint([*words[1].split(), words[2]]):
            yield node.lineno, f"{{{number}}}{words[0]}"


def test_no_number_stands_before_a_plural():
    result = []
    for path in sorted(path for folder in COUNTING for path in (ADDON / folder).rglob("*.py")):
        texts = texts_of(path.read_text(encoding="utf-8"))
        formats = "formats" in path.parts
        public = texts.output if formats else set()
        for line, words in texts.plurals if not formats or path.name != "text.py" else ():
            if line not in public:
                result.append(f"{path.relative_to(ADDON)}:{line}: {words}: use core.report.say with both forms")
    assert result == []


def test_labels_with_a_number_have_a_singular_or_none_is_needed():
    texts = json.loads((ADDON / "ui" / "ru.json").read_text(encoding="utf-8"))["*"]
    plural = [text for text in texts if re.search(r"^(?:Import )?\{\} [a-z]+s\b", text)]
    plural = [text for text in plural if VERBS.isdisjoint(text.split())]
    lacking = [text for text in plural if re.sub(r"s\b", "", text.replace("{}", "1"), count=1) not in texts]
    assert lacking == ["Import {} files"], "one file is named"


@pytest.mark.parametrize(
    ("source", "count"),
    [('f"{len(b)} bones"', 1), ('f"{n} extra bytes"', 1), ('f"{name} has 1"', 0), ('f"{n:g} frames"', 0)],
)
def test_bare_plurals_are_seen(source, count):
    assert len(texts_of(source).plurals) == count
