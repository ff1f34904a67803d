"""Read skeletons from `model.cfg`, a text file of nested classes with settings.

``CfgSkeletons`` has a class for each skeleton: pairs of bone and parent, another skeleton to inherit from, the P3D that
stores its pivots. ``CfgModels`` has a class for each model, by file name, which names its skeleton. People write these
files by hand for a forgiving preprocessor, so oddities are reported and read as far as possible: comments anywhere,
extra commas, names without quotes, a bone without a parent at the end of the pairs.

Comments, `#define` and conditions are processed. Includes are not followed: they bring in settings of the whole game,
none of which is needed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...core import names
from ...core.binary import Reader
from ...core.errors import ReadError
from ...core.report import Report, listed, say
from .skeletons import Hierarchy

LARGEST_GROWTH = 6
"""Limit of macro expansion: 64 KiB plus this many times the text's length, over all rounds together."""
_MOST_ROUNDS = 32
"""Maximum number of expansions of one line, for macros whose text contains other macros."""

_COMMENT = re.compile(r'("(?:[^"\n]|"")*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_CONTINUED = re.compile(r"\\\r?\n")
_WORD = re.compile(r'"(?:[^"\n]|"")*"|[A-Za-z_]\w*')
_DEFINITION = re.compile(r"\s*(\w+)(\(([^)]*)\))?\s?(.*)", re.DOTALL)


class BudgetExceeded(Exception):
    """A small text demands far more work than its size justifies."""


class Budget:
    """A budget of work, in characters or steps."""

    def __init__(self, allowed: int) -> None:
        self._left = allowed

    def spend(self, amount: int) -> None:
        """Subtract ``amount``. Raises `BudgetExceeded` if less is left."""
        self._left -= amount
        if self._left < 0:
            raise BudgetExceeded


def preprocessed(text: str, report: Report) -> str:
    """Return the text without comments and directives, with macros expanded and conditional sections resolved."""
    plain = _COMMENT.sub(lambda match: match.group(1) or " ", _CONTINUED.sub(" ", text))
    plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    macros: dict[str, tuple[list[str] | None, str]] = {}
    conditions: list[tuple[bool, bool]] = []
    lines = []
    budget = Budget((64 << 10) + LARGEST_GROWTH * len(text))
    for line in plain.split("\n"):
        head = line.lstrip()
        if head.startswith("#"):
            _directive(head[1:].strip(), macros, conditions, report)
        elif _is_active(conditions):
            try:
                lines.append(_expanded(line, macros, budget))
            except BudgetExceeded:
                report.warn("its definitions expand it to many times its size; the rest is left out")
                break
    return "\n".join(lines)


def _is_active(conditions: list[tuple[bool, bool]]) -> bool:
    """Return whether the current line is active. A condition is stored as (outer conditions, this condition)."""
    return all(conditions[-1]) if conditions else True


def _directive(
    line: str, macros: dict[str, tuple[list[str] | None, str]], conditions: list[tuple[bool, bool]], report: Report
) -> None:
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word in ("ifdef", "ifndef"):
        conditions.append((_is_active(conditions), (rest in macros) == (word == "ifdef")))
    elif word == "else" and conditions:
        around, own = conditions[-1]
        conditions[-1] = around, not own
    elif word == "endif" and conditions:
        conditions.pop()
    elif not _is_active(conditions):
        return
    elif word == "include":
        report.note(say("includes are not followed: {}", rest))
    elif word == "undef":
        macros.pop(rest, None)
    elif word == "define":
        match = _DEFINITION.match(rest)
        if match:
            name, call, arguments, body = match.groups()
            macros[name] = ([part.strip() for part in arguments.split(",")] if call else None, body.strip())
    elif word:
        report.note(say("a line that the game's preprocessor may not know is left out: #{}", line))


def _expanded(line: str, macros: dict[str, tuple[list[str] | None, str]], budget: Budget) -> str:
    """Expand the macros of a line, repeatedly until none is left. Raises `BudgetExceeded`."""
    for _ in range(_MOST_ROUNDS):
        if macros.keys().isdisjoint(_WORD.findall(line)):
            break
        expanded = _expanded_once(line, macros, budget)
        if expanded == line:
            break
        line = expanded
    return line


def _expanded_once(line: str, macros: dict[str, tuple[list[str] | None, str]], budget: Budget) -> str:
    parts: list[str] = []
    at = 0
    last_closing = line.rfind(")")
    budget.spend(len(line))
    while match := _WORD.search(line, at):
        macro = macros.get(match.group())
        parts.append(line[at : match.start()])
        at = match.end()
        if macro is None:
            parts.append(match.group())
            continue
        arguments, body = macro
        if arguments is None:
            budget.spend(len(body))
            parts.append(body)
        elif line[at : at + 1] == "(" and at < last_closing:
            end = line.find(")", at)
            given = dict(zip(arguments, (part.strip() for part in line[at + 1 : end].split(",")), strict=False))
            parts.append(_expanded_call(body, given, budget))
            at = end + 1
        else:
            parts.append(match.group())
    parts.append(line[at:])
    return "".join(parts)


def _expanded_call(body: str, given: dict[str, str], budget: Budget) -> str:
    """Expand a macro with arguments: ``a##b`` joins two words, ``#a`` quotes the argument. Raises `BudgetExceeded`."""

    def replaced(match: re.Match[str]) -> str:
        text = _argument(match.group(), given)
        budget.spend(len(text))
        return text

    budget.spend(len(body))
    result = re.sub(r"#?\b[A-Za-z_]\w*\b", replaced, body.replace("##", "\0"))
    return result.replace("\0", "")


def _argument(word: str, given: dict[str, str]) -> str:
    name = word.removeprefix("#")
    if name not in given:
        return word
    return f'"{given[name]}"' if word != name else given[name]


# Classes --------------------------------------------------------------------------------------------------------------

DEEPEST = 64
"""Maximum depth of nested classes, of nested lists, and of chains of inheritance."""
MOST_STEPS = 200_000
STEPS_PER_BYTE = 4
"""Budget for resolving inheritance: ``MOST_STEPS`` plus this many steps per byte of the file. A step is a class visited
or an entry of a list of bones copied. ``MOST_STEPS`` lets even a small file inherit long lists of bones.
"""

_TOKEN = re.compile(
    r'(?P<space>\s+)|(?P<string>"(?:[^"]|"")*")|(?P<sign>[{}\[\]=,;:]|\+=)|(?P<word>[^\s{}\[\]=,;:"+]+|\+)'
)

Value = str | list["Value"]


@dataclass
class ConfigClass:
    """A class: ``values`` and inner ``classes`` by lower-case name, ``base`` the name of the class it inherits."""

    name: str
    base: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    classes: dict[str, ConfigClass] = field(default_factory=dict)


@dataclass
class ModelConfig:
    """``skeletons`` by name, in the file's order; ``models``: model -> name of its skeleton (both in lower case)."""

    skeletons: dict[str, Hierarchy]
    models: dict[str, str]

    def skeleton(self, name: str) -> Hierarchy | None:
        """Return the skeleton with this name (case-insensitive), or None."""
        return next((skeleton for skeleton in self.skeletons.values() if names.same(skeleton.name, name)), None)

    def skeleton_of(self, model: str) -> Hierarchy | None:
        """Return the skeleton of a model or animation, by its file name without suffix. None if not configured."""
        return self.skeleton(self.models.get(model.lower(), ""))


def read(data: bytes, file: str, report: Report) -> ModelConfig:
    """Return the skeletons and models of a `model.cfg`. Raises `ReadError` if ``data`` is not such a text."""
    if not len(data) or b"\0" in data[:256]:
        raise ReadError(
            "this is not a text file" if len(data) else "the file is empty",
            file=file,
            remedy="Choose a model.cfg as text; a config.bin has to be made text with the game's tools first",
        )
    Reader(data, file).refuse_git_pointer()
    text = names.decode(data.removeprefix(b"\xef\xbb\xbf"))
    top = _Parser(preprocessed(text, report), file, report).parse()
    result = ModelConfig({}, {})
    try:
        _resolve(top, result, Budget(MOST_STEPS + STEPS_PER_BYTE * len(data)), report)
    except BudgetExceeded:
        report.warn("its classes inherit too many definitions; some skeletons or models are left out", file)
    return result


def _resolve(top: ConfigClass, result: ModelConfig, budget: Budget, report: Report) -> None:
    """Add all skeletons and models to ``result``, including inherited values. Raises `BudgetExceeded`."""
    parent = top.classes.get("cfgskeletons", ConfigClass(""))
    for class_ in parent.classes.values():
        result.skeletons[class_.name] = _skeleton(class_, parent, budget, report)
    models = top.classes.get("cfgmodels", ConfigClass(""))
    for name, model in models.classes.items():
        skeleton = _inherited(model, models, "skeletonname", budget)
        if isinstance(skeleton, str) and skeleton:
            result.models[name] = skeleton.lower()


def _skeleton(config_class: ConfigClass, parent: ConfigClass, budget: Budget, report: Report) -> Hierarchy:
    """Return one skeleton, the bones of inherited skeletons before its own. Raises `BudgetExceeded`."""
    chain: list[ConfigClass] = []
    current: ConfigClass | None = config_class
    while current is not None and len(chain) < DEEPEST and not any(current is other for other in chain):
        budget.spend(len(chain))
        chain.append(current)
        base_name = _inherited(current, parent, "skeletoninherit", budget)
        current = parent.classes.get(base_name.lower()) if isinstance(base_name, str) and base_name else None
        if current is None and base_name:
            report.warn(say("it inherits the skeleton {!r}, which is not in the file", base_name), config_class.name)
    bones: dict[str, str] = {}
    known: set[str] = set()
    for part in reversed(chain):
        value = _inherited(part, parent, "skeletonbones", budget)
        budget.spend(len(value or ""))
        for bone, its_parent in _pairs(value, part.name, report):
            if bone.lower() not in known:
                known.add(bone.lower())
                bones[bone] = its_parent
    missing = sorted({name for name in bones.values() if name and name.lower() not in known})
    if missing:
        texts = listed([repr(name) for name in missing])
        report.warn(
            say("parents that the skeleton does not list: {}; their children are roots", texts), config_class.name
        )
    pivots = _inherited(config_class, parent, "pivotsmodel", budget)
    return Hierarchy(config_class.name, bones, pivots_model=pivots if isinstance(pivots, str) else "")


def _pairs(value: Value | None, where: str, report: Report) -> Iterator[tuple[str, str]]:
    flat = [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
    if len(flat) % 2:
        report.warn(say("the list of bones ends with {!r} without a parent; treated as a root", flat[-1]), where)
        flat.append("")
    for bone, bone_parent in zip(flat[::2], flat[1::2], strict=True):
        if bone:
            yield bone, bone_parent


def _inherited(config_class: ConfigClass, parent: ConfigClass, name: str, budget: Budget) -> Value | None:
    """Return a value of a class or its base classes, siblings in ``parent``, or None. Raises `BudgetExceeded`."""
    current: ConfigClass | None = config_class
    for _ in range(DEEPEST):
        if current is None:
            break
        budget.spend(1)
        if name in current.values:
            return current.values[name]
        current = parent.classes.get(current.base.lower()) if current.base else None
    return None


class _Parser:
    """Parser that reads the tokens once. Open classes and lists are on explicit stacks of limited depth."""

    def __init__(self, text: str, file: str, report: Report) -> None:
        self.file = file
        self.report = report
        self._tokens = _tokens(text)
        self._upcoming = next(self._tokens, "")

    def parse(self) -> ConfigClass:
        """Return the whole file as one class without a name."""
        top = ConfigClass("")
        stack = [top]
        while token := self._next():
            if token == "}":  # noqa: S105
                if len(stack) > 1:
                    stack.pop()
                else:
                    self.report.warn(say("{:# extra closing brace|# extra closing braces}", 1))
            elif token.lower() == "class" and self._peek() not in ("", "=", "["):
                opened = self._class_head()
                if opened is not None:
                    stack[-1].classes[opened.name.lower()] = opened
                    stack.append(opened)
                    if len(stack) > DEEPEST:
                        raise self._error(say("classes lie more than {} deep inside each other", DEEPEST))
            elif token not in (";", ",", "{"):
                self._value(stack[-1], token)
        if len(stack) > 1:
            self.report.warn(say("the class {!r} is not closed", stack[-1].name))
        return top

    def _class_head(self) -> ConfigClass | None:
        """Read a class head up to ``{``. None for a mere declaration (``class Name;``)."""
        name, base = self._text(self._next()), ""
        if self._peek() == ":":
            self._next()
            base = self._text(self._next())
        if self._peek() != "{":
            return None
        self._next()
        return ConfigClass(name, base)

    def _value(self, into: ConfigClass, name: str) -> None:
        """Read ``name = value;`` or ``name[] = {...};``. Any other token is skipped."""
        while self._peek() in ("[", "]"):
            self._next()
        if self._peek() not in ("=", "+="):
            return
        appends = self._next() == "+="
        value = self._array() if self._peek() == "{" else self._scalar()
        existing = into.values.get(name.lower())
        if appends and isinstance(existing, list) and isinstance(value, list):
            existing.extend(value)
        else:
            into.values[name.lower()] = value

    def _scalar(self) -> str:
        words = []
        while self._peek() not in (";", "}", ""):
            words.append(self._text(self._next()))
        return " ".join(words)

    def _array(self) -> list[Value]:
        self._next()
        stack: list[list[Value]] = [[]]
        while True:
            token = self._next()
            if token == "{":  # noqa: S105
                stack.append([])
                if len(stack) > DEEPEST:
                    raise self._error(say("lists lie more than {} deep inside each other", DEEPEST))
            elif token in ("}", ""):
                if not token:
                    self.report.warn(say("{:# list is|# lists are} not closed", 1))
                finished = stack.pop()
                if not stack:
                    return finished
                stack[-1].append(finished)
            elif token not in (",", ";"):
                stack[-1].append(self._text(token))

    def _peek(self) -> str:
        return self._upcoming

    def _next(self) -> str:
        token, self._upcoming = self._upcoming, next(self._tokens, "")
        return token

    @staticmethod
    def _text(token: str) -> str:
        return token[1:-1].replace('""', '"') if token[:1] == '"' else token

    def _error(self, problem: str) -> ReadError:
        return ReadError(problem, file=self.file, remedy="Correct the text")


def _tokens(text: str) -> Iterator[str]:
    """Yield strings with their quotes, words and signs. A quote that is never closed is skipped."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "space":
            yield match.group()
