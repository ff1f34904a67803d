"""The plan of the house, read from the sources: who may import whom, how large a thing may grow, what nobody may do.

Each rule is a function from a module to complaints. It is asked about every module of the extension, and about a small
bad example that it must complain about: a rule that cannot bite proves nothing.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

from addon.lazy import MODULES as LATE
from tests.sources.trees import nodes_of, tree_of

ADDON = Path(__file__).resolve().parents[2] / "addon"

# Room -> the rooms it may import from, besides itself. Everything runs downwards; blender and formats never meet.
BELOW = {
    "core": set(),
    "formats": {"core"},
    "blender": {"core"},
    "games": {"blender", "formats", "core"},
    "cli": {"formats", "core"},
    "ui": {"cli", "games", "blender", "formats", "core"},
    "__init__": {"ui"},
    "lazy": set(),
}
FOR_ALL = {"lazy"}
WITHOUT_BLENDER = {"core", "formats", "cli", "__init__", "lazy"}
BLENDERS_OWN = {
    "bpy",
    "bpy_extras",
    "mathutils",
    "bmesh",
    "gpu",
    "gpu_extras",
    "blf",
    "idprop",
    "addon_utils",
    "bl_pkg",
}
THIRD_PARTY = {"numpy"}  # what every Blender bundles

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
LONGEST_MODULE = 700
LONGEST_FUNCTION = 60

# The house's verbs need no sentence of their own as methods: the class says what is read and written.
KNOWN_VERBS = {"read", "write"}

# (module, function) that may catch everything -> why
CATCHES_EVERYTHING = {
    ("cli/verification.py", "judge"): "a crash on one file is that file's verdict, and the others are still judged",
    (
        "ui/operation.py",
        "each_file",
    ): "a defect met in one file is printed and reported, and the others are still imported",
    ("core/pausing.py", "_caught"): "what one thread raises is raised again in the other, which asked for it",
}


@dataclass(frozen=True)
class Module:
    path: PurePosixPath  # below addon/
    source: str

    @property
    def tree(self) -> ast.Module:
        return tree_of(self.source)

    @property
    def nodes(self) -> list[ast.AST]:
        return nodes_of(self.source)

    @property
    def room(self) -> str:
        return PurePosixPath(self.path.parts[0]).stem

    @property
    def package(self) -> tuple[str, ...]:
        return self.path.parts[:-1]


def imports(module: Module) -> Iterator[tuple[int, int, str]]:
    """(line, level, dotted name) of every import, wherever it stands; level 0 is absolute."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is None:
            yield from ((node.lineno, node.level, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.level, node.module


def own_imports(module: Module) -> Iterator[tuple[int, tuple[str, ...] | None]]:
    """(line, place below addon/) of every relative import; None where it leads out of the extension."""
    for line, level, name in imports(module):
        if level:
            up = len(module.package) - (level - 1)
            yield line, (*module.package[:up], *name.split(".")) if up >= 0 else None


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an attribute chain, or nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


# The rules ----------------------------------------------------------------------------------------------------------


def runs_downwards(module: Module) -> Iterator[str]:
    if module.room not in BELOW:
        yield f"{module.path}: there is no room {module.room} in the house"
        return
    for line, imported in own_imports(module):
        if imported is None:
            yield f"{module.path}:{line} imports from outside the extension"
        elif imported[0] != module.room and imported[0] not in BELOW[module.room] | FOR_ALL:
            yield f"{module.path}:{line} {module.room} imports {imported[0]}"


GAMES = {"arma", "descent3", "xray"}
SHARED_BY_GAMES = {"images", "kinds", "options", "plan"}
"""Modules of `games` that are of no game."""


def games_keep_apart(module: Module) -> Iterator[str]:
    for line, imported in own_imports(module):
        both = imported and len(imported) > 1 and len(module.path.parts) > 2
        if not both or module.room != imported[0] or imported[1] == module.path.parts[1]:
            continue
        if (module.room == "games" and imported[1] not in SHARED_BY_GAMES) or (
            module.room == "ui" and imported[1] in GAMES
        ):
            yield f"{module.path}:{line} imports the game {imported[1]}"


def knows_no_blender(module: Module) -> Iterator[str]:
    if module.room in WITHOUT_BLENDER:
        for line, level, name in imports(module):
            if not level and name.split(".")[0] in BLENDERS_OWN:
                yield f"{module.path}:{line} imports {name}"


def imports_are_relative_or_bundled(module: Module) -> Iterator[str]:
    for line, level, name in imports(module):
        top = name.split(".")[0]
        if not level and top not in sys.stdlib_module_names | THIRD_PARTY | BLENDERS_OWN:
            yield f"{module.path}:{line} imports {name}, which is neither relative nor bundled with Blender"


def asks_no_version(module: Module) -> Iterator[str]:
    if module.path == PurePosixPath("blender/compat.py"):
        return
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and dotted(node).startswith("bpy.app.version"):
            yield f"{module.path}:{node.lineno} asks for {dotted(node)}"
        elif isinstance(node, ast.ImportFrom) and node.module == "bpy.app":
            asked = [alias.name for alias in node.names if alias.name.startswith("version")]
            if asked:
                yield f"{module.path}:{node.lineno} imports {asked[0]}"
        elif module.room not in WITHOUT_BLENDER and isinstance(node, ast.Call) and dotted(node.func) == "hasattr":
            yield f"{module.path}:{node.lineno} asks what this Blender has by hasattr"


def leaves_sys_path_alone(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and dotted(node) == "sys.path":
            yield f"{module.path}:{node.lineno} touches sys.path"
        elif isinstance(node, ast.ImportFrom) and node.module == "sys" and "path" in {a.name for a in node.names}:
            yield f"{module.path}:{node.lineno} imports sys.path"


def has_a_name(module: Module) -> Iterator[str]:
    for part in module.path.with_suffix("").parts:
        if part in EMPTY_NAMES:
            yield f"{module.path}: {part} says nothing about what is in it"


def is_not_too_long(module: Module) -> Iterator[str]:
    lines = len(module.source.splitlines())
    if lines > LONGEST_MODULE:
        yield f"{module.path}: {lines} lines, more than {LONGEST_MODULE}"
    for function in functions(module):
        length = function.end_lineno - function.lineno + 1
        if length > LONGEST_FUNCTION:
            yield f"{module.path}:{function.lineno} {function.name}: {length} lines, more than {LONGEST_FUNCTION}"


def is_documented(module: Module) -> Iterator[str]:
    if module.room not in {"core", "formats"}:
        return
    if not ast.get_docstring(module.tree):
        yield f"{module.path}: no docstring"
    open_bodies: list[ast.Module | ast.ClassDef] = [module.tree]
    while open_bodies:
        body = open_bodies.pop()
        for node in body.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                is_method = not isinstance(body, ast.Module)
                if not ast.get_docstring(node) and not (is_method and node.name in KNOWN_VERBS):
                    yield f"{module.path}:{node.lineno} {node.name}: no docstring"
                if isinstance(node, ast.ClassDef):
                    open_bodies.append(node)


def broad_handlers(module: Module) -> Iterator[tuple[int, str]]:
    """(line, function) of every handler that catches whatever comes."""

    def visit(node: ast.AST, function: str) -> Iterator[tuple[int, str]]:
        for child in ast.iter_child_nodes(node):
            inside = child.name if isinstance(child, ast.FunctionDef) else function
            if isinstance(child, ast.ExceptHandler):
                caught = child.type.elts if isinstance(child.type, ast.Tuple) else [child.type]
                if any(what is None or dotted(what) in {"Exception", "BaseException"} for what in caught):
                    yield child.lineno, function
            yield from visit(child, inside)

    return visit(module.tree, "")


def catches_what_it_names(module: Module) -> Iterator[str]:
    for line, function in broad_handlers(module):
        if (str(module.path), function) not in CATCHES_EVERYTHING:
            yield f"{module.path}:{line} {function} catches everything"


def declares_properties_at_once(module: Module) -> Iterator[str]:
    """As text, every annotation with a property would be compiled again at each start of Blender."""
    late = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in module.tree.body)
    for node in module.nodes if late else ():
        for entry in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(entry, ast.AnnAssign) and isinstance(entry.annotation, ast.Call):
                yield f"{module.path}:{entry.lineno} a property beside `from __future__ import annotations`"


def asks_the_context_for_no_part_of_a_scene(module: Module) -> Iterator[str]:
    """In 4.2 and 4.3 these two leave the scene in `bpy.context`; when it is gone, setting `context.window.scene` writes
    to its memory. `context.scene.tool_settings` and `view_layer.active_layer_collection` are the same without that.
    """
    for node in module.nodes:
        asked = isinstance(node, ast.Attribute) and node.attr in {"tool_settings", "layer_collection"}
        if asked and dotted(node.value).split(".")[-1] in {"context", "_context"}:
            yield f"{module.path}:{node.lineno} context.{node.attr}"


TRANSLATED = {"status.name", "properties.events[0].bl_rna.properties[name].name"}
"""Names of our own properties and their items."""
OF_A_TABLE = {("ui/menus.py", "text"): "texts of menus are literals of `FileKind`"}


def translates_no_value(module: Module) -> Iterator[str]:
    """Blender looks every text up in its dictionary: a bone named Hand would be called by another name in Russian."""
    for node in module.nodes if module.room == "ui" else ():
        given = {keyword.arg: keyword.value for keyword in node.keywords} if isinstance(node, ast.Call) else {}
        translated = ast.unparse(given.get("translate", ast.Constant(True))) == "True"
        if "text" not in given or not translated or _has_no_value(given["text"]):
            continue
        text = ast.unparse(given["text"])
        if text not in TRANSLATED and (str(module.path), text) not in OF_A_TABLE:
            yield f"{module.path}:{node.lineno} translates {text}"


def _has_no_value(text: ast.expr) -> bool:
    """Whether all of a text is ours: a literal, one of several, a number, or what was translated already."""
    if isinstance(text, ast.IfExp):
        return _has_no_value(text.body) and _has_no_value(text.orelse)
    if isinstance(text, ast.JoinedStr):
        return all(isinstance(part, ast.FormattedValue) and part.format_spec is not None for part in text.values)
    return isinstance(text, ast.Constant) or (isinstance(text, ast.Call) and dotted(text.func) == "iface_")


RULES = [
    runs_downwards, games_keep_apart, knows_no_blender, imports_are_relative_or_bundled, asks_no_version,
    leaves_sys_path_alone, has_a_name, is_not_too_long, is_documented, catches_what_it_names,
    declares_properties_at_once, asks_the_context_for_no_part_of_a_scene, translates_no_value,
]  # fmt: skip


@cache
def modules() -> list[Module]:
    files = sorted(ADDON.rglob("*.py"))
    return [
        Module(PurePosixPath(file.relative_to(ADDON).as_posix()), file.read_text(encoding="utf-8")) for file in files
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule):
    assert modules()
    assert [complaint for module in modules() for complaint in rule(module)] == []


# What is loaded when the extension is enabled -------------------------------------------------------------------------

LOADED_AT_START = {
    "", "lazy", "ui",
    "core", "core.errors", "core.inner_files", "core.kept", "core.report",
    "formats", "formats.arma", "formats.arma.flag_groups", "formats.arma.lod_kinds", "formats.descent3", "formats.xray",
    "blender", "blender.action_lists", "blender.compat", "blender.control_links", "blender.properties",
    "blender.rotation_modes", "blender.typed",
    "games", "games.kinds", "games.options",
    "games.arma", "games.arma.kinds", "games.arma.options", "games.arma.properties",
    "games.descent3", "games.descent3.kinds", "games.descent3.model_properties", "games.descent3.options",
    "games.xray", "games.xray.kinds", "games.xray.options", "games.xray.bones", "games.xray.bones.properties",
    "games.xray.hud", "games.xray.hud.properties", "games.xray.hud.state",
    "games.xray.levels", "games.xray.levels.properties", "games.xray.models",
    "games.xray.models.properties", "games.xray.motions", "games.xray.motions.properties",
}  # fmt: skip
"""Besides the modules of ui. Properties, and what their declarations need: no format, no recipe, no numpy."""


def name_of(module: Module) -> str:
    """Dotted, below addon/; nothing for the extension itself."""
    parts = module.path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def executed(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that loading a module executes, those for type checkers left out."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and dotted(node.test) != "TYPE_CHECKING":
            yield from executed([*node.body, *node.orelse])


def loaded_with(name: str) -> Iterator[str]:
    """The modules that loading a module loads at once: names out of them, or modules that are not loaded late."""
    module = named_modules()[name]
    for node in executed(module.tree.body):
        if isinstance(node, ast.ImportFrom) and node.level:
            up = len(module.package) - (node.level - 1)
            imported = ".".join([*module.package[:up], *([node.module] if node.module else [])])
            yield imported
            for alias in node.names:
                if f"{imported}.{alias.name}".lstrip(".") in named_modules() and alias.name not in LATE.get(
                    imported, ()
                ):
                    yield f"{imported}.{alias.name}".lstrip(".")


@cache
def named_modules() -> dict[str, Module]:
    return {name_of(module): module for module in modules()}


def loaded_at_start() -> set[str]:
    """Every module that is loaded when `ui` is, which `register` loads."""
    result: set[str] = set()
    waiting = ["ui"]
    while waiting:
        name = waiting.pop()
        if name not in result:
            result.add(name)
            waiting += [*loaded_with(name), *([name.rpartition(".")[0]] if name else [])]
    return result


def test_enabling_loads_no_format_and_no_recipe():
    result = loaded_at_start()
    assert {name for name in result if not name.startswith("ui.")} == LOADED_AT_START
    imported = {
        name.split(".")[0] for entry in result for _, level, name in imports(named_modules()[entry]) if not level
    }
    outside_checks = {
        alias.name
        for entry in result
        for node in executed(named_modules()[entry].tree.body)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert "bpy" in imported
    assert "numpy" not in outside_checks


def test_what_is_loaded_late_exists_and_stands_ready():
    for package, names in LATE.items():
        assert list(names) == sorted(set(names)), package
        for name in names:
            assert f"{package}.{name}".lstrip(".") in named_modules(), f"{package}.{name}: there is no such module"
        calls = [ast.unparse(node) for node in named_modules()[package].tree.body if isinstance(node, ast.Expr)]
        assert "lazy.attach(__name__)" in calls, f"{package}/__init__.py does not attach its late modules"


def annotations_of_late_modules(module: Module) -> Iterator[str]:
    """Annotations that name a class of a late module: before Python 3.14 their evaluation loads that module."""
    if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in module.tree.body):
        return
    late = set()
    for node in executed(module.tree.body):
        if isinstance(node, ast.ImportFrom) and node.level:
            up = len(module.package) - (node.level - 1)
            imported = ".".join([*module.package[:up], *([node.module] if node.module else [])])
            late |= {alias.asname or alias.name for alias in node.names if alias.name in LATE.get(imported, ())}
    for node in module.nodes:
        result: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef):
            named = node.args
            result = [
                node.returns,
                *(posonlyarg.annotation for posonlyarg in (*named.posonlyargs, *named.args, *named.kwonlyargs)),
            ]
        for annotation in result:
            for entry in ast.walk(annotation) if annotation is not None else ():
                if isinstance(entry, ast.Attribute) and dotted(entry).partition(".")[0] in late:
                    yield f"{module.path}:{annotation.lineno} {ast.unparse(annotation)}"


def test_annotations_load_no_late_module():
    result = [line for name in loaded_at_start() for line in annotations_of_late_modules(named_modules()[name])]
    assert result == []
    source = "from ..games import plan as plans\ndef base() -> {}:\n    pass"
    for annotation, count in (("plans.OtherBase", 1), ("'plans.OtherBase'", 0), ("list[plans.OtherBase]", 1)):
        module = Module(PurePosixPath("ui/files.py"), source.format(annotation))
        assert len(list(annotations_of_late_modules(module))) == count, annotation


def test_what_is_loaded_late_is_imported_by_what_is_loaded_at_the_start():
    wanted = set()
    for name in loaded_at_start():
        module = named_modules()[name]
        for node in executed(module.tree.body):
            if isinstance(node, ast.ImportFrom) and node.level:
                up = len(module.package) - (node.level - 1)
                imported = ".".join([*module.package[:up], *([node.module] if node.module else [])])
                wanted |= {(imported, alias.name) for alias in node.names}
    assert {(package, name) for package, names in LATE.items() for name in names} <= wanted


# Circles --------------------------------------------------------------------------------------------------------------


def circle(files: Iterable[Module], whole: Callable[[str], str] = str) -> list[str]:
    """Modules of which each imports the one before; none where there is no circle. ``whole``: what one is a part of.

    At once, late, in a function or only for types: who reads one of them has to read them all.
    """
    known = {name_of(module): module for module in files}
    graph: dict[str, set[str]] = {whole(name): set() for name in known}
    for name, module in known.items():
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and node.level:
                up = len(module.package) - (node.level - 1)
                imported = ".".join([*module.package[:up], *([node.module] if node.module else [])])
                inner = (f"{imported}.{alias.name}".lstrip(".") for alias in node.names)
                parts = {whole(entry if entry in known else imported) for entry in inner}
                graph[whole(name)] |= parts if whole is str else parts - {whole(name)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as closed:
        return list(closed.args[1])
    return []


def test_imports_make_no_circles():
    assert circle(modules()) == []


@pytest.mark.parametrize("game", ["arma", "descent3", "xray"])
@pytest.mark.parametrize("layer", ["formats", "games"])
def test_packages_of_a_game_have_one_direction(layer, game):
    folder = f"{layer}.{game}."
    files = [module for module in modules() if name_of(module).startswith(folder)]
    assert files
    assert circle(files, lambda name: folder + name.removeprefix(folder).split(".")[0]) == []


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("from . import other", "from . import one"),
        ("from .other import thing", "def f():\n    from ..games import one"),
        ("from . import other", "if TYPE_CHECKING:\n    from .one import Thing"),
    ],
)
def test_circles_are_found(first, other):
    paths = PurePosixPath("games/one.py"), PurePosixPath("games/other.py")
    files = [Module(PurePosixPath("games/__init__.py"), ""), *map(Module, paths, (first, other))]
    assert set(circle(files)) == {"games.one", "games.other"}


CLOCKS = re.compile(r"\b(process_time|perf_counter|thread_time)(_ns)?\(")


def test_no_test_reads_a_stopwatch():
    """How long something takes differs with the machine and its load: tests count work, scripts/bench.py times it.
    conftest.py notes what a test took, and judges nothing.
    """
    tests = ADDON.parent / "tests"
    others = set(tests.rglob("*.py")) - {tests / "conftest.py"}
    assert [path for path in others if CLOCKS.search(path.read_text(encoding="utf-8"))] == []
    assert CLOCKS.search("begin = time.process_time" + "()")


def test_no_test_asks_the_context_for_a_part_of_a_scene():
    tests = ADDON.parent / "tests"
    read = [Module(PurePosixPath(path), path.read_text(encoding="utf-8")) for path in sorted(tests.rglob("*.py"))]
    assert [message for module in read for message in asks_the_context_for_no_part_of_a_scene(module)] == []


def test_what_may_catch_everything_still_does():
    result = {(str(module.path), function) for module in modules() for _, function in broad_handlers(module)}
    assert set(CATCHES_EVERYTHING) <= result


BAD = [
    (runs_downwards, "core/quantum.py", "from ..formats import omf"),
    (runs_downwards, "formats/xray/omf.py", "from ...blender import action"),
    (runs_downwards, "blender/action.py", "def f():\n    from ..formats.xray import omf"),
    (runs_downwards, "formats/xray/omf.py", "from ...games.xray import recipe"),
    (runs_downwards, "cli.py", "from . import ui"),
    (runs_downwards, "core/names.py", "from ...tests import real_files"),
    (runs_downwards, "cellar/names.py", ""),
    (games_keep_apart, "games/arma/recipe.py", "from ..xray import recipe"),
    (games_keep_apart, "games/arma/recipe.py", "from ...games.xray.recipe import run"),
    (games_keep_apart, "ui/arma/panels.py", "from ..xray.motion_operators import OnMotion"),
    (knows_no_blender, "core/space.py", "import mathutils"),
    (knows_no_blender, "formats/xray/omf.py", "def f():\n    from bpy.types import Action"),
    (knows_no_blender, "__init__.py", "import bpy"),
    (imports_are_relative_or_bundled, "core/space.py", "import scipy.spatial"),
    (imports_are_relative_or_bundled, "formats/detect.py", "from addon.core import errors"),
    (asks_no_version, "blender/action.py", "import bpy\nNEW = bpy.app.version >= (5, 0, 0)"),
    (asks_no_version, "ui/panel.py", "from bpy.app import version_string"),
    (asks_no_version, "blender/action.py", "def f(action):\n    return hasattr(action, 'slots')"),
    (leaves_sys_path_alone, "core/names.py", "import sys\nsys.path.append('lib')"),
    (leaves_sys_path_alone, "core/names.py", "from sys import path"),
    (has_a_name, "core/utils.py", ""),
    (has_a_name, "formats/common/chunks.py", ""),
    (is_not_too_long, "core/names.py", "x = 1\n" * (LONGEST_MODULE + 1)),
    (is_not_too_long, "core/names.py", "def f():\n" + "    x = 1\n" * LONGEST_FUNCTION),
    (is_documented, "core/names.py", "X = 1"),
    (is_documented, "core/names.py", '"""Names."""\ndef public():\n    pass'),
    (
        is_documented,
        "formats/xray/omf.py",
        '"""M."""\nclass Motion:\n    """M."""\n    def frames(self):\n        pass',
    ),
    (catches_what_it_names, "core/files.py", "def f():\n    try:\n        pass\n    except:\n        pass"),
    (
        declares_properties_at_once,
        "ui/open.py",
        "from __future__ import annotations\nclass Open:\n    path: StringProperty()",
    ),
    (catches_what_it_names, "ui/open.py", "try:\n    pass\nexcept (OSError, Exception):\n    pass"),
    (asks_the_context_for_no_part_of_a_scene, "ui/open.py", "bpy.context.tool_settings.use_snap = True"),
    (
        asks_the_context_for_no_part_of_a_scene,
        "ui/open.py",
        "def f(context):\n    context.layer_collection.exclude = True",
    ),
    (translates_no_value, "ui/panel.py", "row.label(text=item.name)"),
    (translates_no_value, "ui/panel.py", "row.label(text=item.name, translate=True)"),
    (translates_no_value, "ui/panel.py", "row.label(text=rig.name if rig else 'None')"),
    (translates_no_value, "ui/panel.py", "row.label(text=f'Bone {name}')"),
    (translates_no_value, "ui/panel.py", "row.label(text=iface_('{} more').format(name))"),
]

GOOD = [
    (runs_downwards, "ui/command.py", "from .. import cli"),
    (runs_downwards, "formats/xray/omf/__init__.py", "from ....core import errors\nfrom ..chunks import read"),
    (games_keep_apart, "games/arma/recipe.py", "from . import options\nfrom ...formats.arma import rtm"),
    (games_keep_apart, "games/arma/recipe.py", "from ..plan import FilePlan"),
    (games_keep_apart, "ui/arma/panels.py", "from ..target import OnAction\nfrom ...games.arma import timing"),
    (knows_no_blender, "blender/action.py", "import bpy"),
    (asks_no_version, "blender/compat.py", "import bpy\nNEW = bpy.app.version >= (5, 0, 0)"),
    (asks_no_version, "core/names.py", "def f(x):\n    return hasattr(x, 'read')"),
    (is_not_too_long, "core/names.py", "x = 1\n" * LONGEST_MODULE),
    (is_documented, "core/names.py", '"""Names."""\ndef _private():\n    pass'),
    (declares_properties_at_once, "ui/open.py", "class Open:\n    path: StringProperty()"),
    (catches_what_it_names, "core/files.py", "try:\n    pass\nexcept OSError:\n    pass"),
    (asks_the_context_for_no_part_of_a_scene, "ui/open.py", "context.scene.tool_settings.use_snap = True"),
    (translates_no_value, "ui/panel.py", "row.label(text=item.name, translate=False)"),
    (translates_no_value, "ui/panel.py", "row.label(text=rig.name if rig else 'None', translate=rig is None)"),
    (translates_no_value, "ui/panel.py", "row.label(text='One' if single else iface_(label))"),
]


@pytest.mark.parametrize(("rule", "path", "source"), BAD, ids=[f"{r.__name__}-{n}" for n, (r, *_) in enumerate(BAD)])
def test_the_rule_bites(rule, path, source):
    assert list(rule(Module(PurePosixPath(path), source)))


@pytest.mark.parametrize(("rule", "path", "source"), GOOD, ids=[f"{r.__name__}-{n}" for n, (r, *_) in enumerate(GOOD)])
def test_the_rule_leaves_what_is_right_alone(rule, path, source):
    assert not list(rule(Module(PurePosixPath(path), source)))


def test_every_rule_has_been_seen_to_bite():
    assert {rule for rule, *_ in BAD} == set(RULES)
