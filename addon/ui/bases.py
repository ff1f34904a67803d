"""What the interface is made from: Blender's classes, properties from options, and sentences in the user's language.

The classes are `Any`: Blender finds out by itself which methods a class has, and the stubs of its versions disagree
about them. Options are those of imports and exports (`games.options`). The button of a file path opens a file browser,
which closes a pop-up and is refused inside of another file browser. So the fields of dialogs offer paths while one is
typed.

The sources are English; `ru.json` holds the Russian. `shown` and `said` are sentences in the user's language: what is
drawn, and what is reported. Sentences of other modules are translated when they are shown: see `change_words.teller`.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import bpy
from bpy.app import translations
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras import io_utils

from ..games.options import Option, Options

if TYPE_CHECKING:
    from ..blender.typed import Context


BlenderOperator: Any = bpy.types.Operator
BlenderPanel: Any = bpy.types.Panel
BlenderMenu: Any = bpy.types.Menu
BlenderList: Any = bpy.types.UIList
BlenderGizmoGroup: Any = bpy.types.GizmoGroup
FileHandler: Any = bpy.types.FileHandler
ImportHelper: Any = io_utils.ImportHelper
ExportHelper: Any = io_utils.ExportHelper
MixedIn: Any = object
"""Base of classes that are mixed into operators, whose attributes and functions they use."""

CALL: Any = bpy.ops
"""Operators by name."""


# Properties from options ----------------------------------------------------------------------------------------------

Chosen = TypeVar("Chosen", bound=Options)
MOST_LISTED = 200
"""Paths that are offered."""
PROPERTIES: Mapping[type, Any] = {bool: BoolProperty, int: IntProperty, float: FloatProperty, str: StringProperty}


def properties_from(options: type[Options]) -> Any:
    """A class to mix into operators, with a property for each option that users set, named as its field."""
    declared = {name: _property(one) for name, one in options.FIELDS.items() if one.declared is not None}
    return type(f"{options.__name__}Properties", (), {"__annotations__": declared})


def _property(one: Option) -> Any:
    declared = dict(one.declared or {})
    if one.suffixes is not None:
        declared |= {"search": offered_paths(*one.suffixes), "search_options": {"SUGGESTION"}}
    if one.value is not None:
        return EnumProperty(**declared)
    if isinstance(one.default, Enum):
        return EnumProperty(default=one.default.name, **declared)
    if isinstance(one.default, frozenset):
        names = {member.name for member in one.default}
        return EnumProperty(default=names, options={"ENUM_FLAG"}, **declared)
    return PROPERTIES[type(one.default)](default=one.default, **declared)


def options_from(operator: Any, options: type[Chosen], **others: Any) -> Chosen:
    """The options with what is set on the operator; ``others`` are fields that it says otherwise."""
    chosen = {name: _value(getattr(operator, name), one) for name, one in options.FIELDS.items() if one.declared}
    return options(**(chosen | others))


def _value(value: Any, one: Option) -> Any:
    if one.suffixes is not None:
        return bpy.path.abspath(value)
    if one.value is not None:
        return one.value(value)
    if isinstance(one.default, Enum):
        return type(one.default)[value]
    if isinstance(one.default, frozenset):
        kind = type(next(iter(one.default)))
        return frozenset(kind[name] for name in value)
    return value


def offered_paths(*suffixes: str) -> Callable[[Any, Any, str], Iterable[str]]:
    """A `search` of a string property: folders, and files with one of ``suffixes`` (folders alone without any).

    What is typed is completed in its folder; while nothing is typed, the folder of the dialog's file counts.
    """

    def search(operator: Any, context: Context, typed: str) -> list[str]:
        folder, _, begun = typed.replace("\\", "/").rpartition("/")
        base = Path(bpy.path.abspath(f"{folder}/")) if "/" in typed.replace("\\", "/") else _beside(operator, context)
        return list(islice(_entries(base, begun.lower(), suffixes), MOST_LISTED))

    return search


def _entries(folder: Path, begun: str, suffixes: Iterable[str]) -> Iterator[str]:
    try:
        found = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError:
        return
    for path in found:
        if begun not in path.name.lower() or path.name.startswith("."):
            continue
        if path.suffix.lower() in suffixes:
            yield str(path)
        elif path.is_dir():
            yield f"{path}{os.sep}"


def _beside(operator: Any, context: Context) -> Path:
    """The folder that a file browser shows, or that of the files of a dialog."""
    browser = getattr(getattr(context, "space_data", None), "params", None)
    if browsed := getattr(browser, "directory", b""):
        return Path(os.fsdecode(browsed))
    if folder := getattr(operator, "directory", ""):
        return Path(bpy.path.abspath(folder))
    path = getattr(operator, "filepath", "")
    return Path(bpy.path.abspath(path)).parent if path else Path.home()


# Translations ---------------------------------------------------------------------------------------------------------

PACKAGE = (__package__ or "").rpartition(".")[0]
"""The extension's own name, which begins with the repository the user has it from."""
FILES = {"ru_RU": Path(__file__).with_name("ru.json")}
DEFAULT, OPERATOR = "*", "Operator"


def shown(english: str) -> str:
    """A text of the interface in the user's language."""
    return _own(english, "use_translate_interface") or str(translations.pgettext_iface(english))


def said(english: str) -> str:
    """A text of a report in the user's language."""
    return _own(english, "use_translate_reports") or str(translations.pgettext_rpt(english))


def refusal_in(raised: RuntimeError) -> str:
    """What an operator reported as an error, without the word that Blender puts before it in the user's language."""
    text = str(raised).strip()
    for word in ("Error", str(translations.pgettext_rpt("Error"))):
        text = text.removeprefix(f"{word}: ")
    return text


def file_of(tell: Callable[[str], str]) -> Path | None:
    """Our file of translations into the user's language, None for English; ``tell`` is `shown` or `said`."""
    return _file("use_translate_interface" if tell is shown else "use_translate_reports")


def _own(english: str, option: str) -> str:
    """Our translation, empty if there is none, or if this ``option`` of the preferences is off.

    Blender translates in its main thread alone, where long work is not done, and with its own words first.
    """
    return _texts(DEFAULT, option).get(english, "")


def texts(context: str, tell: Callable[[str], str]) -> Mapping[str, str]:
    """English -> translation of a context of ours, empty in English; ``tell`` is `shown` or `said`."""
    return _texts(context, "use_translate_interface" if tell is shown else "use_translate_reports")


def _texts(context: str, option: str) -> Mapping[str, str]:
    file = _file(option)
    return {} if file is None else contexts(file)[context]


def _file(option: str) -> Path | None:
    if threading.current_thread() is threading.main_thread():
        notice_language()
    file, blender = FILES.get(_noticed["language"]), cast(Any, bpy.context)
    return file if file is not None and getattr(blender.preferences.view, option) else None


_noticed = {"language": ""}


def notice_language() -> None:
    """Keep the user's language for other threads, in which Blender does not tell it."""
    _noticed["language"] = translations.locale


@cache
def contexts(file: Path) -> dict[str, dict[str, str]]:
    """Context -> English -> translation, as Blender keys them.

    Blender looks up the text of a button in the context `OPERATOR`: a text of the context `DEFAULT` is valid there
    too, unless `OPERATOR` translates it differently.
    """
    found: dict[str, dict[str, str]] = json.loads(file.read_bytes())
    default = found[DEFAULT]
    return found | {OPERATOR: default | found.get(OPERATOR, {})}


def register() -> None:
    """Pass the translations to Blender, which wants all of them at once: a dictionary is not read before that."""
    tables = {
        language: {
            (context, english): text for context, texts in contexts(file).items() for english, text in texts.items()
        }
        for language, file in FILES.items()
    }
    translations: Any = bpy.app.translations  # the stubs disagree about the keys
    translations.register(PACKAGE, tables)


def unregister() -> None:
    """Remove the translations from Blender."""
    bpy.app.translations.unregister(PACKAGE)
