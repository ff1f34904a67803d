"""Translations of what the user reads; the sources are English."""

from __future__ import annotations

from typing import Any

import bpy

from .russian import RUSSIAN

PACKAGE = (__package__ or "").rpartition(".")[0]
OPERATOR = "Operator"


def register() -> None:
    """Hand them to Blender. A button's text is looked up in a context of its own, so each goes into both."""
    table = {(context, english): text for english, text in RUSSIAN.items() for context in ("*", OPERATOR)}
    translations: Any = bpy.app.translations  # the stubs disagree about the keys
    translations.register(PACKAGE, {"ru_RU": table})


def unregister() -> None:
    """Take them back."""
    bpy.app.translations.unregister(PACKAGE)
