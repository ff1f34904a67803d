"""Kinds of files as the interface offers them: menus, file browsers, drag and drop, collection exporters, `scene`
command.

Each game lists its own kinds in ``kinds.py``. They are needed when the extension is enabled, so this module loads no
format.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from ..formats import format_named

SHOWN_IN_MENU = 3
"""Largest number of file suffixes that a menu entry lists."""


class Drop(Enum):
    """Editors in which files can be dropped."""

    SCENE = "the 3D viewport and the outliner"
    MOTION = "the same, and where actions are edited"
    IMAGE = "image editors"


class FileKind(NamedTuple):
    """Formats that ``import_scene.<operator>`` reads and ``export_scene.<operator>`` writes, if that exists.

    ``formats``: names in `formats.FORMATS`. ``exported``: the formats that can be written; None for all of them.
    ``inside``: formats of other kinds whose files also contain such data; file browsers list them, but dropping such a
    file does not use this kind. ``handler``: end of the file handler's name, for kinds that share an operator; "" to
    use the operator's name. ``folder``: formats that are imported as a whole folder instead of file by file.
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
        """File suffixes that can be imported."""
        return suffixes_of(self.formats)

    @property
    def exported_suffixes(self) -> tuple[str, ...]:
        """File suffixes that can be exported."""
        return self.suffixes if self.exported is None else suffixes_of(self.exported)

    @property
    def glob(self) -> str:
        """File browser filter for imports."""
        return _glob((*self.suffixes, *suffixes_of(self.inside)))

    @property
    def exported_glob(self) -> str:
        """File browser filter for exports."""
        return _glob((*self.exported_suffixes, *suffixes_of(self.inside)))


def suffixes_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the file suffixes of the formats with these names."""
    return tuple(suffix for name in names for suffix in format_named(name).suffixes)


def _glob(suffixes: Iterable[str]) -> str:
    return ";".join(f"*{suffix}" for suffix in suffixes)


def importers(kinds: Iterable[FileKind]) -> dict[str, str]:
    """Return operator of ``import_scene`` -> menu text. Kinds with the same operator share one entry."""
    named: dict[str, tuple[str, tuple[str, ...]]] = {}
    for kind in kinds:
        label, suffixes = named.get(kind.operator, (kind.label, ()))
        named[kind.operator] = label, (*suffixes, *kind.suffixes)
    return {operator: _menu_text(*text) for operator, text in named.items()}


def exporters(kinds: Iterable[FileKind]) -> dict[str, str]:
    """Return operator of ``export_scene`` -> menu text, for kinds that can be exported."""
    return {kind.operator: _menu_text(kind.label, kind.exported_suffixes) for kind in kinds if kind.exported_suffixes}


def _menu_text(label: str, suffixes: tuple[str, ...]) -> str:
    more = " …" if len(suffixes) > SHOWN_IN_MENU else ""
    return f"{label} ({', '.join(suffixes[:SHOWN_IN_MENU])}{more})" if suffixes else label
