"""Kinds of files as the interface offers them: menus, file browsers, drops, collection exporters, `scene` command.

Each game lists its own in ``kinds.py``. They are needed when the extension is enabled, so nothing here loads a format.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from ..formats import format_named

SHOWN_IN_MENU = 3
"""A menu names so many suffixes at most."""


class Drop(Enum):
    """Where files can be dropped."""

    SCENE = "the 3D viewport and the outliner"
    MOTION = "the same, and where actions are edited"
    IMAGE = "image editors"


class FileKind(NamedTuple):
    """What ``import_scene.<operator>`` reads, and what ``export_scene.<operator>`` writes, if there is one.

    ``formats`` are names of `formats.FORMATS`. ``exported`` are those that are written; None for all. ``inside`` names
    formats whose files have such content too: the file browsers show them, while drops of them are of another kind.
    ``handler`` ends the name of the file handler, for kinds that share an operator; else it is the operator.
    ``folder``: formats that are imported with the folder which holds them, not one by one.
    """

    operator: str
    label: str
    formats: tuple[str, ...]
    exported: tuple[str, ...] | None = None
    inside: tuple[str, ...] = ()
    drop: Drop = Drop.SCENE
    handler: str = ""
    folder: tuple[str, ...] = ()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What is imported."""
        return suffixes_of(self.formats)

    @property
    def exported_suffixes(self) -> tuple[str, ...]:
        """What is exported."""
        return self.suffixes if self.exported is None else suffixes_of(self.exported)

    @property
    def glob(self) -> str:
        """The filter of file browsers for imports."""
        return _glob((*self.suffixes, *suffixes_of(self.inside)))

    @property
    def exported_glob(self) -> str:
        """The filter of file browsers for exports."""
        return _glob((*self.exported_suffixes, *suffixes_of(self.inside)))


def suffixes_of(names: Iterable[str]) -> tuple[str, ...]:
    """The suffixes of formats by their names."""
    return tuple(suffix for name in names for suffix in format_named(name).suffixes)


def _glob(suffixes: Iterable[str]) -> str:
    return ";".join(f"*{suffix}" for suffix in suffixes)


def importers(kinds: Iterable[FileKind]) -> dict[str, str]:
    """Operator of ``import_scene`` -> its text in menus. Kinds with the same operator are one entry."""
    named: dict[str, tuple[str, tuple[str, ...]]] = {}
    for kind in kinds:
        label, suffixes = named.get(kind.operator, (kind.label, ()))
        named[kind.operator] = label, (*suffixes, *kind.suffixes)
    return {operator: _menu_text(*text) for operator, text in named.items()}


def exporters(kinds: Iterable[FileKind]) -> dict[str, str]:
    """The same of ``export_scene``."""
    return {kind.operator: _menu_text(kind.label, kind.exported_suffixes) for kind in kinds if kind.exported_suffixes}


def _menu_text(label: str, suffixes: tuple[str, ...]) -> str:
    more = " …" if len(suffixes) > SHOWN_IN_MENU else ""
    return f"{label} ({', '.join(suffixes[:SHOWN_IN_MENU])}{more})" if suffixes else label
