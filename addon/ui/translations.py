"""Translations of the interface. The sources are English; `ru.json` holds the Russian.

`shown` and `said` are sentences in the user's language: what is drawn, and what is reported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
from bpy.app import translations


def shown(english: str) -> str:
    """A text of the interface in the user's language."""
    return str(translations.pgettext_iface(english))


def said(english: str) -> str:
    """A text of a report in the user's language."""
    return str(translations.pgettext_rpt(english))


PACKAGE = (__package__ or "").rpartition(".")[0]
FILES = {"ru_RU": Path(__file__).with_name("ru.json")}
DEFAULT, OPERATOR = "*", "Operator"


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
