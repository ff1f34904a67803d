"""Cost of enabling the extension; the floor is an add-on that registers the same classes and properties.

It runs in a Blender in which nothing of the extension is loaded yet. `prepare` puts both add-ons, with their bytecode,
into a folder. The others enable one of them and return its CPU time in seconds, or what the first model costs after
that.
"""

from __future__ import annotations

import compileall
import gc
import inspect
import marshal
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy  # first: in a wheel it makes the modules that come with Blender importable

# isort: split
import addon_utils

from . import SAMPLES, seconds_of

REPOSITORY = "bench"
OURS, FLOOR = "motionbridge", "floor"
HEAD = '''"""The classes and properties of {ours}, and nothing else."""
import bpy
from bpy.props import *
from bpy_extras.io_utils import ExportHelper, ImportHelper
from math import inf
{callbacks}
'''
TAIL = """
def register():
    for one in CLASSES:
        bpy.utils.register_class(one)
{added}
"""
MANIFEST = """schema_version = "1.0.0"
id = "floor"
version = "1.0.0"
name = "Floor"
tagline = "Registers classes and properties"
maintainer = "Nobody"
type = "add-on"
blender_version_min = "4.2.0"
license = ["SPDX:GPL-3.0-or-later"]
"""
MOST_ARGUMENTS = 4
BYTECODE_HEADER = 16
"""Number of bytes before the code in a .pyc file (PEP 552)."""


def _prepare(folder: str) -> float:
    """Create the extension as users install it, and the floor with the classes that the extension registers."""
    import build  # noqa: PLC0415 - `enable` must not find its modules loaded

    archive = build.build(Path(folder))
    with zipfile.ZipFile(archive) as content:
        content.extractall(Path(folder) / OURS)
    classes: list[type] = []
    known, register_class = _added_properties(), bpy.utils.register_class
    bpy.utils.register_class = lambda kind: (classes.append(kind), register_class(kind))[1]
    _enable(folder, OURS)
    bpy.utils.register_class = register_class
    added = {where: value for where, value in _added_properties().items() if where not in known}
    floor = Path(folder) / FLOOR
    floor.mkdir(exist_ok=True)
    (floor / "__init__.py").write_text(_source(classes, added), encoding="utf-8")
    (floor / "blender_manifest.toml").write_text(MANIFEST, encoding="utf-8")
    for package in (OURS, FLOOR):
        compileall.compile_dir(Path(folder) / package, quiet=1)
    return float(len(classes))


def _enable(folder: str, package: str) -> float:
    repositories: Any = bpy.context.preferences.extensions.repos
    repositories.new(name=REPOSITORY, module=REPOSITORY, custom_directory=folder, remote_url="")
    gc.collect()  # else a collection might happen during the measured time
    modules: list[Any] = []
    name = f"bl_ext.{REPOSITORY}.{package}"
    seconds = seconds_of(lambda: modules.append(addon_utils.enable(name, default_set=True)))
    if modules == [None]:
        raise RuntimeError(f"{package} could not be enabled")
    return seconds


def _first_model(folder: str) -> float:
    """Return what the first import of a model costs more than the second: loading the modules that it needs."""
    _enable(folder, OURS)
    first, second = seconds_of(_import_model), seconds_of(_import_model)
    return first - second


def _read_bytecode(folder: str) -> float:
    """Read and unpack the bytecode of the same modules, without running it."""
    _enable(folder, OURS)
    known = set(sys.modules)
    _import_model()
    files = [Path(module.__cached__) for name, module in sys.modules.items() if name not in known and OURS in name]
    return seconds_of(lambda: [marshal.loads(file.read_bytes()[BYTECODE_HEADER:]) for file in files])  # noqa: S302 - our own


def _import_model() -> None:
    bpy.ops.import_scene.xray_ogf(filepath=str(SAMPLES / "humanoid.ogf"))


# ---- the source of the floor


def _added_properties() -> dict[tuple[str, str], Any]:
    """Return (type, name) -> value of the properties that scripts have added to Blender's own types."""
    return {
        (owner, name): value
        for owner in dir(bpy.types)
        for name, value in getattr(getattr(bpy.types, owner), "__dict__", {}).items()
        if type(value).__name__ == "_PropertyDeferred"
    }


def _source(classes: list[type], added: dict[tuple[str, str], Any]) -> str:
    arguments = [", ".join(f"a{index}" for index in range(count)) for count in range(MOST_ARGUMENTS + 1)]
    callbacks = "\n".join(f"def called_{count}({names}): pass" for count, names in enumerate(arguments))
    properties = [f"    bpy.types.{owner}.{name} = {_property(value)}" for (owner, name), value in added.items()]
    parts = [HEAD.format(ours=OURS, callbacks=callbacks), *map(_class, classes)]
    names = ", ".join(map(_alias, classes))
    return "\n".join([*parts, f"CLASSES = ({names})", TAIL.format(added="\n".join(properties))])


def _alias(kind: type) -> str:
    """Return a unique name, because two games may have classes of the same name."""
    return f"{kind.__name__}_{kind.__module__.split('.')[-2]}"


def _class(kind: type) -> str:
    """Return the source of an equal class: bases, texts, options, properties, and functions without a body."""
    bases = [base for base in kind.__mro__ if base.__module__.partition(".")[0] != "bl_ext"]
    helpers = [base.__name__ for base in bases if base.__module__ == "bpy_extras.io_utils"]
    own = next(base for base in bases if base.__module__ in {"bpy_types", "bpy.types", "_bpy_types"})
    head = f"class {kind.__name__}({', '.join([*helpers, f'bpy.types.{own.__name__}'])}):"
    lines = [*_values(kind), *_properties(kind), *_functions(kind, set(own.bl_rna.functions.keys()))]
    alias = f"{_alias(kind)} = {kind.__name__}"
    return "\n".join([head, f"    {kind.__doc__!r}", *(f"    {line}" for line in lines), alias])


def _own_classes(kind: type) -> list[type]:
    return [entry for entry in reversed(kind.__mro__) if entry.__module__.startswith(f"bl_ext.{REPOSITORY}")]


def _values(kind: type) -> Iterator[str]:
    names = {name for own_class_ in _own_classes(kind) for name in vars(own_class_)}
    for name in sorted(name for name in names - {"bl_rna"} if name.startswith(("bl_", "filename_ext"))):
        yield f"{name} = {getattr(kind, name)!r}"


def _properties(kind: type) -> Iterator[str]:
    result: dict[str, Any] = {}
    for own_class_ in _own_classes(kind):
        module = vars(sys.modules[own_class_.__module__])
        for name, value in inspect.get_annotations(own_class_).items():
            created = eval(value, module, dict(vars(own_class_))) if isinstance(value, str) else value  # noqa: S307 - our own
            if type(created).__name__ == "_PropertyDeferred":
                result[name] = created
    for name, value in result.items():
        yield f"{name}: {_property(value)}"


def _functions(kind: type, known: set[str]) -> Iterator[str]:
    written = {name for own_class_ in _own_classes(kind) for name in vars(own_class_)} & known
    for name in sorted(written):
        raw: Any = next(vars(entry)[name] for entry in kind.__mro__ if name in vars(entry))
        if isinstance(raw, classmethod | staticmethod):
            yield f"@{type(raw).__name__}"
        code = getattr(raw, "__func__", raw).__code__
        names = ", ".join(code.co_varnames[: code.co_argcount])
        yield f"def {name}({names}): pass"


def _property(value: Any) -> str:
    keywords = ", ".join(f"{name}={_literal(given)}" for name, given in value.keywords.items() if name != "attr")
    return f"{value.function.__name__}({keywords})"


def _literal(value: Any) -> str:
    if isinstance(value, type):
        ours = value.__module__.startswith("bl_ext")
        return _alias(value) if ours else f"bpy.types.{value.__name__}"
    if callable(value):
        return f"called_{value.__code__.co_argcount}"
    return repr(value)


MEASUREMENTS: dict[str, Callable[[str], float]] = {
    "prepare": _prepare,
    "enable": lambda folder: _enable(folder, OURS),
    "enable_floor": lambda folder: _enable(folder, FLOOR),
    # Load the modules for the first model. Floor: read and unpack their bytecode.
    "first_model": _first_model,
    "read_bytecode": _read_bytecode,
}
