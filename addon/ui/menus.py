"""File > Import and File > Export: the files of each game together, also as a menu of its own."""

from typing import Any, NamedTuple

import bpy

from .bases import BlenderMenu


class Entry(NamedTuple):
    """An operator of ``import_scene`` and of ``export_scene``, or of one of the two."""

    operator: str
    text: str
    imports: bool = True
    exports: bool = True


XRAY = (
    Entry("xray_ogf", text="X-Ray Model (.ogf)"),
    Entry("xray_omf", text="X-Ray Motions (.omf)"),
    Entry("xray_skl", text="X-Ray Editor Motions (.skl, .skls)"),
    Entry("xray_bones", text="X-Ray Bone Properties (.bones)"),
    Entry("xray_anm", text="X-Ray Motion Path (.anm)"),
    Entry("xray_level_geometry", text="X-Ray Level Geometry (.cform, .hom, .som …)"),
    Entry("xray_level", text="X-Ray Level Folder", exports=False),
)
ARMA = (
    Entry("arma_p3d", text="Arma Model (.p3d)", exports=False),
    Entry("arma_rtm", text="Arma Animation (.rtm)"),
)
DESCENT3 = (
    Entry("descent3_oof", text="Descent 3 Model (.oof, .hog, .mn3)", exports=False),
    Entry("descent3_oof", text="Descent 3 Model (.oof)", imports=False),
    Entry("descent3_ogf", text="Descent 3 Texture (.ogf, .oaf)", exports=False),
)
GAMES = (XRAY, ARMA, DESCENT3)


def _draw_imports(layout: Any, entries: tuple[Entry, ...]) -> None:
    for entry in entries:
        if entry.imports:
            layout.operator(f"import_scene.{entry.operator}", text=entry.text)


def _draw_import(menu: Any, _context: Any) -> None:
    for entries in GAMES:
        menu.layout.separator()
        _draw_imports(menu.layout, entries)


def _draw_export(menu: Any, _context: Any) -> None:
    for entries in GAMES:
        menu.layout.separator()
        for entry in entries:
            if entry.exports:
                menu.layout.operator(f"export_scene.{entry.operator}", text=entry.text)


class GameImports:
    """Mixed into menus of what is imported of one game."""

    entries: tuple[Entry, ...]
    layout: Any

    def draw(self, _context: Any) -> None:
        """The game's files."""
        _draw_imports(self.layout, self.entries)


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
