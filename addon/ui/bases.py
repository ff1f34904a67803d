"""Foundation of the interface: Blender's base classes, operator properties made from options, translations.

Blender's base classes are annotated `Any`: Blender finds out by itself which methods a class has, and the type stubs of
its versions disagree about them.

Options are those of imports and exports (`games.options`). The button beside a file path property opens a file browser,
which would close a pop-up and is not allowed inside another file browser. Therefore path fields of dialogs suggest
paths while the user types.

The texts in the code are English; `ru.json` has the Russian ones. `iface_` translates what is drawn, `rpt_` what is
reported. Sentences of other modules are translated when they are shown: see `tell`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import bpy
from bpy.app import translations
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras import io_utils

from ..blender.properties import TRANSLATIONS
from ..core.report import Message, on_one_line, say, translated
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
"""Base of mixins for operators, which use attributes and methods of the operator."""

CALL: Any = bpy.ops
"""`bpy.ops`, untyped."""


def classes_of(module: str) -> tuple[Any, ...]:
    """Return the classes written in a module that Blender registers, in their order there: all that are of its types.

    A panel is written after its parent.
    """
    written = vars(sys.modules[module]).values()
    kinds = (class_ for class_ in written if isinstance(class_, type) and class_.__module__ == module)
    return tuple(kind for kind in kinds if issubclass(kind, bpy.types.bpy_struct))


# Properties from options ----------------------------------------------------------------------------------------------

Chosen = TypeVar("Chosen", bound=Options)
MAX_SUGGESTED = 200
"""Maximum number of suggested paths."""
PROPERTIES: Mapping[type, Any] = {bool: BoolProperty, int: IntProperty, float: FloatProperty, str: StringProperty}


def properties_from(options: type[Options]) -> Any:
    """Return a mixin for operators with one property per option that users can set, of the same name as the field."""
    declared = {name: _property(option) for name, option in options.FIELDS.items() if option.declared is not None}
    return type(f"{options.__name__}Properties", (), {"__annotations__": declared})


def _property(option: Option) -> Any:
    declared = dict(option.declared or {})
    if option.suffixes is not None:
        declared |= {"search": path_search(*option.suffixes), "search_options": {"SUGGESTION"}}
    if option.value is not None:
        return EnumProperty(**declared)
    if isinstance(option.default, Enum):
        return EnumProperty(default=option.default.name, **declared)
    if isinstance(option.default, frozenset):
        names = {member.name for member in option.default}
        return EnumProperty(default=names, options={"ENUM_FLAG"}, **declared)
    return PROPERTIES[type(option.default)](default=option.default, **declared)


def options_from(operator: Any, options: type[Chosen], **others: Any) -> Chosen:
    """Return options with the values that are set on the operator; ``others`` override or add fields."""
    chosen = {
        name: _value(getattr(operator, name), option) for name, option in options.FIELDS.items() if option.declared
    }
    return options(**(chosen | others))


def _value(value: Any, option: Option) -> Any:
    if option.suffixes is not None:
        return bpy.path.abspath(value)
    if option.value is not None:
        return option.value(value)
    if isinstance(option.default, Enum):
        return type(option.default)[value]
    if isinstance(option.default, frozenset):
        kind = type(next(iter(option.default)))
        return frozenset(kind[name] for name in value)
    return value


_texts: dict[str, str] = {}


def kept_text(text: str) -> str:
    """Return a text for an item that a function of an enumeration returns: Blender does not keep it, this does."""
    return _texts.setdefault(text, text)


def path_search(*suffixes: str) -> Callable[[Any, Any, str], Iterable[str]]:
    """Return the `search` callback of a string property: suggests folders, and files with one of ``suffixes``, if any.

    Entries are those of the folder that is typed; without one, of the folder of the dialog's file.
    """

    def search(operator: Any, context: Context, typed: str) -> list[str]:
        folder, _, begun = typed.replace("\\", "/").rpartition("/")
        base = (
            Path(bpy.path.abspath(f"{folder}/"))
            if "/" in typed.replace("\\", "/")
            else _dialog_folder(operator, context)
        )
        return list(islice(_entries(base, begun.lower(), suffixes), MAX_SUGGESTED))

    return search


def _entries(folder: Path, begun: str, suffixes: Iterable[str]) -> Iterator[str]:
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError:
        return
    for path in entries:
        if begun not in path.name.lower() or path.name.startswith("."):
            continue
        if path.suffix.lower() in suffixes:
            yield str(path)
        elif path.is_dir():
            yield f"{path}{os.sep}"


def _dialog_folder(operator: Any, context: Context) -> Path:
    """Return the folder shown by the file browser, else that of the operator's files, else the user's home."""
    browser = getattr(getattr(context, "space_data", None), "params", None)
    if browsed := getattr(browser, "directory", b""):
        return Path(os.fsdecode(browsed))
    if folder := getattr(operator, "directory", ""):
        return Path(bpy.path.abspath(folder))
    path = getattr(operator, "filepath", "")
    return Path(bpy.path.abspath(path)).parent if path else Path.home()


# Translations ---------------------------------------------------------------------------------------------------------

PACKAGE = (__package__ or "").rpartition(".")[0]
"""Full name of the extension's package; it begins with the repository from which the user installed it."""
FILES = {"ru_RU": Path(__file__).with_name("ru.json")}
DEFAULT = "*"
"""Blender's context of tooltips, and of texts drawn without an operator or a property."""


def iface_(english: str) -> str:
    """Translate a text of the interface: our translation, else that of Blender's `pgettext_iface`."""
    return _own(english, "use_translate_interface") or str(translations.pgettext_iface(english))


def rpt_(english: str) -> str:
    """Translate a text of a report: our translation, else that of Blender's `pgettext_rpt`."""
    return _own(english, "use_translate_reports") or str(translations.pgettext_rpt(english))


def refusal_in(raised: RuntimeError) -> str:
    """Return the message of an operator's error, without the (translated) word "Error" that Blender puts in front."""
    text = str(raised).strip()
    for word in ("Error", str(translations.pgettext_rpt("Error"))):
        text = text.removeprefix(f"{word}: ")
    return text


def file_of(translate: Callable[[str], str]) -> Path | None:
    """Return our translation file for the user's language, None for English; ``translate`` is `iface_` or `rpt_`."""
    return _file("use_translate_interface" if translate is iface_ else "use_translate_reports")


def tell(text: str, translate: Callable[[str], str] = iface_) -> str:
    """Return an English sentence of a report, an error or a change in the user's language.

    ``translate``: `iface_` for the interface, `rpt_` for reports, whose translation users can switch off separately.
    """
    file = file_of(translate)
    return text if file is None else on_one_line(translated(text, _sentences(file)))


@cache
def _sentences(file: Path) -> dict[str, str]:
    """Return the sentences of ``ru_reports.json`` (template -> translation) beside the translation file ``ru.json``."""
    table: dict[str, str] = json.loads(file.with_name(f"{file.stem}_reports.json").read_bytes())
    return table


class ChangesPlan(Protocol):
    """A plan for a file, which can state what writing it changes."""

    def sentence(self) -> Message:
        """Return the changes in one sentence, as `core.changes.Changes.sentence`."""


def file_sentence(path: str | Path, plan: ChangesPlan) -> str:
    """Return what was written to a file, as one sentence of a report."""
    return tell(say("{}: {}", Path(path).name, plan.sentence()), rpt_)


def _own(english: str, option: str) -> str:
    """Return our translation; empty if there is none, or if the preference ``option`` is off.

    Blender's own functions translate only in the main thread, where long work does not run, and prefer Blender's own
    texts.
    """
    file = _file(option)
    return "" if file is None else contexts(file)[DEFAULT].get(english, "")


def _file(option: str) -> Path | None:
    if threading.current_thread() is threading.main_thread():
        notice_language()
    file, blender = FILES.get(_noticed["language"]), cast(Any, bpy.context)
    return file if file is not None and getattr(blender.preferences.view, option) else None


_noticed = {"language": ""}


def notice_language() -> None:
    """Store the user's language for other threads, where Blender does not return it."""
    _noticed["language"] = translations.locale


@cache
def contexts(file: Path) -> dict[str, dict[str, str]]:
    """Return context -> English -> translation, with Blender's names of the contexts.

    Labels of our classes and properties are looked up in `TRANSLATIONS`, which has the texts of `DEFAULT` too.
    """
    table: dict[str, dict[str, str]] = json.loads(file.read_bytes())
    return table | {TRANSLATIONS: table[DEFAULT]}


def register() -> None:
    """Register the translations with Blender, which takes all of them at once as nested dictionaries."""
    tables = {
        language: {
            (context, english): text for context, texts in contexts(file).items() for english, text in texts.items()
        }
        for language, file in FILES.items()
    }
    translations: Any = bpy.app.translations  # the stubs of Blender's versions disagree about the key type
    translations.register(PACKAGE, tables)


def unregister() -> None:
    """Remove the translations from Blender."""
    bpy.app.translations.unregister(PACKAGE)
