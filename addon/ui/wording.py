"""Sentences in the user's language: `shown` for what is drawn, `said` for what is reported. Sources are English."""

from __future__ import annotations

from bpy.app import translations


def shown(english: str) -> str:
    """A text of the interface in the user's language."""
    return str(translations.pgettext_iface(english))


def said(english: str) -> str:
    """A text of a report in the user's language."""
    return str(translations.pgettext_rpt(english))
