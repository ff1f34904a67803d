"""Sentences of reports, refusals and findings, read from the sources: every formatted value is ``{}``.

A sentence with counts is as many templates as it has forms: ``1 bone is``, ``{} bones are``.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from addon.core.report import agreeing, counted, counted_plural
from tests.sources.trees import tree_of

ADDON = Path(__file__).resolve().parents[2] / "addon"
COMMANDS = ADDON / "cli"
"""The command line stays English."""

SAID = {
    "warn": ((0, "finding"), (1, "place")),
    "note": ((0, "finding"), (1, "place")),
    "ReadError": ((0, "problem"), (None, "remedy")),
    "WriteError": ((0, "problem"), (None, "remedy")),
    "ValueError": ((0, ""),),
    "Problem": ((0, "sentence"), (1, "remedy")),
    "whole": ((0, "sentence"), (1, "remedy")),
    "Property": ((2, "problem"),),
    "tell": ((0, ""),),
}
"""Function -> its arguments that are shown to the user, by index and name."""
KEPT = "left_out"
"""An attribute with sentences that are reported later."""
REASONS = "reasons"
"""A name of lists of what sentences give as the cause."""
TABLES = {"_UNSHOWN_TYPES"}
"""Constants whose values are sentences."""
PROBLEMS = re.compile(r"_?(\w+_)?problems")
"""Functions that yield sentences, or fill a dictionary: sentence -> remedy."""
COMMANDS_ALONE = re.compile(r"/(text|ltx/codec)\.py$")
"""Modules whose problems are the output of commands."""
SAYS = {"str", "Iterator[str]", "Iterator[tuple[str, str]]", "list[str]"}
"""What functions that give sentences return."""
THROUGH = {"some"}
"""Functions that form sentences out of arguments, which are collected where they are called."""
VALUE = "{}"
JOINED = (f"{VALUE}, ", f"{VALUE} and ")
"""How places begin that say where inside of another place something is."""
_COUNT = "\1"
Choices = tuple[tuple[str, object], ...]
Form = tuple[str, Choices]
"""A text, and what it takes for granted: how many of a count, which way a condition goes."""


@dataclass(eq=False)
class Scope:
    """A function, or a module's own lines, with what its names are assigned."""

    path: str
    node: ast.Module | ast.FunctionDef
    outer: Scope | None = None
    kind: str = ""
    assigned: dict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    parameters: list[str] = field(default_factory=list)
    nodes: list[ast.AST] = field(init=False)
    """Its own, without those of functions inside of it."""

    def __post_init__(self) -> None:
        self.nodes = []
        waiting = list(ast.iter_child_nodes(self.node))
        while waiting:
            one = waiting.pop()
            self.nodes.append(one)
            if not isinstance(one, ast.FunctionDef):
                waiting += ast.iter_child_nodes(one)

    @property
    def name(self) -> str:
        """The function's; empty for a module."""
        return getattr(self.node, "name", "")

    @property
    def is_method(self) -> bool:
        """Whether it is a function of a class."""
        return self.parameters[:1] in (["self"], ["cls"])

    def given(self, name: str, line: int) -> list[ast.expr]:
        """What a name can be at a line: the last value that it gets in any case, and those it may get after that."""
        values = sorted(self.assigned[name], key=lambda value: value.lineno)
        before = [value for value in values if value.lineno <= line] or values
        sure = [place for place, value in enumerate(before) if _always(value, line)]
        return before[sure[-1] :] if sure else before


def _always(value: ast.expr, line: int) -> bool:
    """Whether a line comes after the value in the lines where that is assigned, or in lines inside of these."""
    return getattr(value, "ends", 0) >= line


class Sentences:
    """The templates in modules."""

    def __init__(self, paths: Iterable[Path]) -> None:
        """Collect them."""
        self.templates: dict[str, str] = {}
        self._scopes = [scope for path in sorted(paths) for scope in _scopes(path)]
        self._calls: dict[str, list[tuple[Scope, ast.Call]]] = defaultdict(list)
        self._functions: dict[str, list[Scope]] = defaultdict(list)
        self._constants: dict[str, list[tuple[Scope, ast.expr]]] = defaultdict(list)
        self._asked: set[object] = set()
        modules = {scope.path: scope.node for scope in self._scopes if not scope.name}
        self._imports = {path: _imports(path, node, modules.keys()) for path, node in modules.items()}
        self._defined: dict[str, set[str]] = defaultdict(set)
        for scope in self._scopes:
            self._defined[scope.path] |= {scope.name, scope.kind}
        for scope in self._scopes:
            self._functions[scope.name].append(scope)
            if not scope.name:
                for name, values in scope.assigned.items():
                    self._constants[name] += [(scope, value) for value in values]
            for node in scope.nodes:
                if isinstance(node, ast.Call):
                    self._calls[called(node)].append((scope, node))
        self._is_place = False
        for name, places in SAID.items():
            for index, word in places:
                self._is_place = word == "place"
                self._ask(name, index, word)
        self._is_place = False
        for scope in self._scopes:
            self._collect_kept(scope)
        self._collect_some()

    # Where sentences are ----------------------------------------------------------------------------------------------

    def _ask(self, name: str, index: int | None, word: str, asked: Scope | None = None) -> None:
        """Collect what is passed to a function: to ``asked``, else to any of the name."""
        key = (name, index, word, asked and (asked.path, asked.kind))
        if key in self._asked:
            return
        self._asked.add(key)
        for scope, call in self._calls[name]:
            if (asked is None or self._may_call(scope, call, asked)) and scope.name not in THROUGH:
                for owner, value in self._passed(scope, call, index, word):
                    self._collect(owner, value)

    def _may_call(self, scope: Scope, call: ast.Call, asked: Scope) -> bool:
        """Whether a call can be one of the function ``asked``; private methods are called in their class alone."""
        if asked.is_method and asked.name != "__init__":
            return asked.name[:1] != "_" or (scope.path, scope.kind) == (asked.path, asked.kind)
        return self._definer(scope.path, call.func) == asked.path

    def _definer(self, path: str, node: ast.expr) -> str:
        """The module that defines what a module calls; empty for methods of objects, and outside of the extension."""
        if isinstance(node, ast.Attribute):
            module = self._definer(path, node.value) if isinstance(node.value, ast.Name) else ""
            return self._definer(module, ast.Name(node.attr)) if module else ""
        name = getattr(node, "id", "")
        if name in self._imports[path]:
            module, original = self._imports[path][name]
            return self._definer(module, ast.Name(original)) if original else module
        return path if name in self._defined[path] else ""

    def _passed(self, scope: Scope, call: ast.Call, index: int | None, word: str) -> list[tuple[Scope, ast.expr]]:
        found = [(scope, one.value) for one in call.keywords if one.arg == word]
        if index is None:
            return found
        for place, one in enumerate(call.args[: index + 1]):
            if isinstance(one, ast.Starred):
                rows = [(owner, row) for owner, row in self._sources(scope, one.value) if isinstance(row, ast.Tuple)]
                return [(owner, row.elts[index - place]) for owner, row in rows if len(row.elts) > index - place]
        return [*found, (scope, call.args[index])] if index < len(call.args) else found

    def _collect_kept(self, scope: Scope) -> None:
        """Sentences that a function keeps in lists and dictionaries, or yields."""
        for node in scope.nodes:
            owner = getattr(getattr(node, "func", None), "value", None)
            kept: list[ast.expr] = []
            if (
                isinstance(node, ast.Call)
                and called(node) == "append"
                and (getattr(owner, "attr", "") == KEPT or getattr(owner, "id", "") == REASONS)
            ):
                kept = node.args
            elif isinstance(node, ast.AugAssign) and getattr(node.target, "attr", "") == KEPT:
                kept = _elements(node.value)
            elif PROBLEMS.fullmatch(scope.name) and not COMMANDS_ALONE.search(scope.path):
                kept = _problems(node)
            for value in kept:
                self._collect(scope, value)
        for name in TABLES & scope.assigned.keys():
            for table in scope.assigned[name]:
                for value in ast.walk(table):
                    if isinstance(value, ast.Constant) and isinstance(value.value, str):
                        self._collect(scope, value)

    def _collect_some(self) -> None:
        """Problems of some elements, as `core.problems.some` says them."""
        for scope, call in self._calls["some"]:
            noun, what, remedy = (call.args[place] for place in (1, 2, 3))
            texts = itertools.product(self._forms(scope, noun), self._forms(scope, what))
            for (nouns, _), (words, _) in texts:
                one = agreeing(1, words)
                self._add(f"1 of {counted_plural(1, nouns)} {one}", scope, call)
                self._add(f"1 of {VALUE} {nouns} {one}", scope, call)
                self._add(f"{VALUE} of {VALUE} {nouns} {words}", scope, call)
                self._add(f"{nouns} {words}", scope, call)
            for text, _ in self._forms(scope, remedy):
                self._add(agreeing(1, text), scope, call)
                self._add(text, scope, call)

    def _collect(self, scope: Scope, value: ast.expr) -> None:
        if isinstance(value, ast.IfExp):
            self._collect(scope, value.body)
            self._collect(scope, value.orelse)
            return
        for owner, one in self._sources(scope, value):
            if isinstance(one, ast.Name) and (asked := _owner(owner, one.id)) and one.id in asked.parameters:
                name = asked.kind if asked.name == "__init__" else asked.name
                self._ask(name, asked.parameters.index(one.id) - asked.is_method, one.id, asked)
                continue
            if isinstance(one, ast.JoinedStr):
                self._collect_values(owner, one)
            for text, _ in self._forms(owner, one):
                self._add(text, owner, one)

    def _collect_values(self, scope: Scope, text: ast.JoinedStr) -> None:
        """Collect what a function puts into a text as it was passed, such as what is missing in a file."""
        before, self._is_place = self._is_place, True
        for part in text.values:
            name = getattr(part, "value", None)
            if isinstance(name, ast.Name) and (asked := _owner(scope, name.id)) and name.id in asked.parameters:
                self._collect(scope, name)
        self._is_place = before

    def _add(self, text: str, scope: Scope, node: ast.expr) -> None:
        says = any(letter.isalpha() for letter in text.replace(VALUE, "")) and not text.endswith(": ")
        if says and (not self._is_place or (" " in text and not text.startswith(JOINED))):
            self.templates.setdefault(text, f"{scope.path}:{node.lineno}")

    def _sources(self, scope: Scope, value: ast.expr, depth: int = 0) -> list[tuple[Scope, ast.expr]]:
        """Where a value comes from: itself, or what a name or a function of this extension stands for."""
        if depth > 6:
            return [(scope, value)]
        if isinstance(value, ast.Name) and (owner := _owner(scope, value.id)) and value.id not in owner.parameters:
            given = owner.given(value.id, value.lineno)
            return [found for one in given for found in self._sources(owner, one, depth + 1)]
        if isinstance(value, EACH):
            return [found for one in _elements(value.value) for found in self._sources(scope, one, depth + 1)]
        if isinstance(value, ast.Call) and called(value) not in WORDS:
            module = self._definer(scope.path, value.func)
            functions = [one for one in self._functions[called(value)] if one.is_method or one.path == module]
            says = len(functions) == 1 and ast.unparse(functions[0].node.returns or ast.Constant(0)) in SAYS
            if says and (results := list(_results(functions[0]))):
                return [found for one in results for found in self._sources(functions[0], one, depth + 1)]
        return [(scope, value)]

    # What they can be -------------------------------------------------------------------------------------------------

    def _forms(self, scope: Scope, node: ast.expr, depth: int = 0) -> list[Form]:
        """All texts that a value can be."""
        found = self._known(scope, node, depth + 1) if depth < 12 else []
        found = found or [(f"{_COUNT}{ast.unparse(node)}{_COUNT}", ())]
        return list(dict.fromkeys(found if depth else [(_filled(*form), form[1]) for form in found]))

    def _known(self, scope: Scope, node: ast.expr, depth: int) -> list[Form]:
        if isinstance(node, ast.Constant):
            return [(node.value, ())] if isinstance(node.value, str) else []
        if isinstance(node, ast.JoinedStr):
            parts = [self._part(scope, one, depth) for one in node.values]
            return joined(parts)
        if isinstance(node, ast.IfExp):
            test = ast.unparse(node.test)
            return [
                (text, (*choices, (test, way)))
                for way, branch in ((True, node.body), (False, node.orelse))
                for text, choices in self._forms(scope, branch, depth)
            ]
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return [form for one in node.values for form in self._forms(scope, one, depth)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._forms(scope, one, depth) for one in (node.left, node.right)]
            return joined(parts) if all(text[:1] != _COUNT for forms in parts for text, _ in forms) else []
        if isinstance(node, ast.Call):
            return self._in_words(scope, node, depth)
        if isinstance(node, EACH) and isinstance(node.value, ast.Tuple):
            return [form for one in node.value.elts for form in self._forms(scope, one, depth)]
        if isinstance(node, ast.Name | ast.Attribute):
            found = [form for owner, one in self._named(scope, node) for form in self._forms(owner, one, depth)]
            return found if any(text[:1] != _COUNT for text, _ in found) else []
        return []

    def _part(self, scope: Scope, part: ast.expr, depth: int) -> list[Form]:
        if not isinstance(part, ast.FormattedValue):
            return [(str(getattr(part, "value", "")), ())]
        if part.conversion != -1 or part.format_spec is not None:
            return [(VALUE, ())]
        return self._forms(scope, part.value, depth)

    def _named(self, scope: Scope, node: ast.Name | ast.Attribute) -> list[tuple[Scope, ast.expr]]:
        if isinstance(node, ast.Name) and (owner := _owner(scope, node.id)):
            given = [] if node.id in owner.parameters else owner.given(node.id, node.lineno)
            return [(owner, one) for one in given if not isinstance(one, EACH) or isinstance(one.value, ast.Tuple)]
        name = node.id if isinstance(node, ast.Name) else node.attr
        module = _imported(scope, name) if isinstance(node, ast.Name) else ast.unparse(node.value).lower()
        own = scope.path if isinstance(node, ast.Attribute) else ""
        found = [one for one in self._constants[name] if name.isupper() and one[0].path != own]
        named = [one for one in found if Path(one[0].path).stem == module.rpartition(".")[2]]
        return named if len(named) == 1 else []

    def _in_words(self, scope: Scope, node: ast.Call, depth: int) -> list[Form]:
        if called(node) == "format" and isinstance(node.func, ast.Attribute):
            return self._forms(scope, node.func.value, depth)
        make = WORDS.get(called(node))
        if make is None:
            return []
        number = ast.unparse(node.args[0])
        split = [[(f"{text}\0", choices) for text, choices in self._forms(scope, one, depth)] for one in node.args[1:]]
        texts = [(text.split("\0")[:-1], choices) for text, choices in joined(split)]
        many = f"{VALUE} " if called(node) != "agreeing" else ""
        return [
            form
            for words, choices in texts
            for form in (
                (make(1, *words), (*choices, (number, 1))),
                (many + make(2, *words).removeprefix("2 "), (*choices, (number, 2))),
            )
        ]


def _said_of(count: int, nouns: str, words: str) -> str:
    return f"{counted_plural(count, nouns)} {agreeing(count, words)}"


WORDS = {"counted": counted, "counted_plural": counted_plural, "agreeing": agreeing, "said_of": _said_of}


def joined(parts: list[list[Form]]) -> list[Form]:
    """Texts one behind the other, where what they take for granted agrees."""
    found: list[tuple[str, dict[str, object]]] = [("", {})]
    for forms in parts:
        found = [
            (text + more, known | dict(choices))
            for text, known in found
            for more, choices in forms
            if all(known.get(key, value) == value for key, value in choices)
        ]
    return [(text, tuple(known.items())) for text, known in found]


def _filled(text: str, choices: Choices) -> str:
    """A template of a text: a count that is taken to be one is 1 wherever it is said."""
    ones = {name for name, way in choices if way is not True and way == 1}
    parts = text.split(_COUNT)
    parts[1::2] = ("1" if part in ones else VALUE for part in parts[1::2])
    return "".join(parts)


class EACH(ast.expr):
    """One of the elements of ``value``."""

    _fields = ("value",)


def _elements(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.Tuple | ast.List):
        return list(value.elts)
    return [value.elt] if isinstance(value, ast.ListComp | ast.GeneratorExp) else [value]


def _problems(node: ast.AST) -> list[ast.expr]:
    """The sentences, and the remedies, that a line of a function of problems yields or keeps."""
    if isinstance(node, ast.Yield) and node.value is not None:
        return node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    if isinstance(node, ast.YieldFrom) and isinstance(node.value, ast.GeneratorExp):
        return [node.value.elt]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return [node.targets[0].slice, node.value]
    return []


def _results(scope: Scope) -> Iterator[ast.expr]:
    """What a function returns or yields."""
    for node in scope.nodes:
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield node.value


def _owner(scope: Scope, name: str) -> Scope | None:
    where: Scope | None = scope
    while where is not None and name not in where.assigned and name not in where.parameters:
        where = where.outer
    return where


def _imported(scope: Scope, name: str) -> str:
    """The module that a name is imported from."""
    top = scope
    while top.outer is not None:
        top = top.outer
    for node in ast.walk(top.node):
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return node.module or ""
    return ""


def _imports(path: str, module: ast.AST, known: Collection[str]) -> dict[str, tuple[str, str]]:
    """Name -> the module that it is imported from, and its name there; empty for a module itself."""
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = PurePosixPath(path).parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for one in node.names:
                if module_of_name := _file(package / one.name, known):
                    found[one.asname or one.name] = module_of_name, ""
                elif module_of_package := _file(package, known):
                    found[one.asname or one.name] = module_of_package, one.name
    return found


def _file(module: PurePosixPath, known: Collection[str]) -> str:
    return next((file for file in (f"{module}.py", str(module / "__init__.py")) if file in known), "")


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


def _scopes(path: Path) -> Iterator[Scope]:
    name = path.relative_to(ADDON).as_posix()

    def found(node: ast.AST, outer: Scope | None, kind: str) -> Iterator[Scope]:
        scope = outer
        if isinstance(node, ast.Module | ast.FunctionDef):
            scope = Scope(name, node, outer, kind)
            if isinstance(node, ast.FunctionDef):
                given = node.args
                scope.parameters = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            for one in scope.nodes:
                _assign(scope, one)
        inside = node.name if isinstance(node, ast.ClassDef) else kind
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):
                yield from found(child, scope, inside)
        if scope is not outer and scope is not None:
            yield scope

    tree = tree_of(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for body in (getattr(node, part, None) for part in ("body", "orelse", "finalbody")):
            for one in body if isinstance(body, list) else ():
                one.ends = body[-1].end_lineno
    yield from found(tree, None, "")


def _assign(scope: Scope, node: ast.AST) -> None:
    """Note what an assignment or a loop gives to names."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    value = getattr(node, "value", None)
    ends = getattr(node, "ends", 0)
    if isinstance(node, ast.For | ast.comprehension):
        value, ends = node.iter, getattr(node, "end_lineno", node.iter.end_lineno)
        rows = [one for one in _elements(value) if isinstance(one, ast.Tuple)]
        if isinstance(node.target, ast.Tuple) and rows and isinstance(value, ast.Tuple):
            for place, name in enumerate(node.target.elts):
                if isinstance(name, ast.Name):
                    column = ast.Tuple([row.elts[place] for row in rows], ast.Load())
                    scope.assigned[name.id].append(_at(EACH(column), node.iter, ends))
            return
        value = EACH(value)
    elif not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) or value is None:
        return
    for target in targets:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            pairs = [(one, value.elts[place] if same else ast.Constant(None)) for place, one in enumerate(target.elts)]
        for name, one in pairs:
            if isinstance(name, ast.Name):
                if isinstance(node, ast.AugAssign):
                    one = ast.BinOp(ast.Constant(None), ast.Add(), ast.Constant(None))
                scope.assigned[name.id].append(_at(one, getattr(node, "iter", node), ends))


def _at(value: ast.expr, node: ast.AST, ends: int) -> ast.expr:
    if not hasattr(value, "lineno"):
        ast.copy_location(value, node)
    value.ends = ends
    return value


@cache
def sentences() -> dict[str, str]:
    """The extension's templates, and where one of each is."""
    return Sentences(path for path in ADDON.rglob("*.py") if COMMANDS not in path.parents).templates
