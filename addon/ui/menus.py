"""File > Import and File > Export: the files of each game together, also as a menu of its own."""

from typing import TYPE_CHECKING, Any

import bpy

from ..games import KINDS
from ..games.kinds import exporters, importers
from .bases import BlenderMenu

IMPORTS = tuple(map(importers, KINDS))
"""For each game: operator of ``import_scene`` -> its text."""
EXPORTS = tuple(map(exporters, KINDS))
XRAY, ARMA, DESCENT3 = IMPORTS


def _draw_operators(layout: bpy.types.UILayout, room: str, entries: dict[str, str]) -> None:
    for operator, text in entries.items():
        layout.operator(f"{room}.{operator}", text=text)


def _draw_import(menu: Any, _context: bpy.types.Context) -> None:
    for entries in IMPORTS:
        menu.layout.separator()
        _draw_operators(menu.layout, "import_scene", entries)


def _draw_export(menu: Any, _context: bpy.types.Context) -> None:
    for entries in EXPORTS:
        menu.layout.separator()
        _draw_operators(menu.layout, "export_scene", entries)


class GameImports:
    """Mixed into menus of what is imported of one game."""

    if TYPE_CHECKING:
        entries: dict[str, str]
        layout: Any

    def draw(self, _context: bpy.types.Context) -> None:
        """The game's files."""
        _draw_operators(self.layout, "import_scene", self.entries)


class MOTIONBRIDGE_MT_import_xray(GameImports, BlenderMenu):
    """Files of S.T.A.L.K.E.R."""

    bl_label = "S.T.A.L.K.E.R. (X-Ray)"
    entries = XRAY


class MOTIONBRIDGE_MT_import_arma(GameImports, BlenderMenu):
    """Files of Operation Flashpoint and Arma."""

    bl_label = "Arma, Operation Flashpoint"
    entries = ARMA


class MOTIONBRIDGE_MT_import_descent3(GameImports, BlenderMenu):
    """Files of Descent 3."""

    bl_label = "Descent 3"
    entries = DESCENT3


CLASSES = (MOTIONBRIDGE_MT_import_xray, MOTIONBRIDGE_MT_import_arma, MOTIONBRIDGE_MT_import_descent3)
MENUS: Any = ((bpy.types.TOPBAR_MT_file_import, _draw_import), (bpy.types.TOPBAR_MT_file_export, _draw_export))


def register() -> None:
    """Add the entries."""
    for menu, draw in MENUS:
        menu.append(draw)


def unregister() -> None:
    """Take them away."""
    for menu, draw in MENUS:
        menu.remove(draw)
