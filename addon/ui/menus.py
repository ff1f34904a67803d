"""File > Import, File > Export, the import menu of each game, the pose menus, drag and drop, collection exporters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy_extras.io_utils import poll_file_object_drop

from ..games import KINDS
from ..games.kinds import Drop, FileKind, exporters, importers
from .bases import BlenderMenu, FileHandler
from .from_game import draw_offer
from .preferences import preferences

if TYPE_CHECKING:
    from ..blender.typed import Context


def _draw_operators(layout: bpy.types.UILayout, group: str, entries: dict[str, str]) -> None:
    for operator, text in entries.items():
        layout.operator(f"{group}.{operator}", text=text)


def _draw_import(menu: Any, context: Context) -> None:
    menu.layout.separator()
    draw_offer(menu.layout, context)
    for game in filter(partial(is_used, context), GAMES):
        menu.layout.separator()
        _draw_operators(menu.layout, "import_scene", game.imports)


def _draw_export(menu: Any, context: Context) -> None:
    for game in filter(partial(is_used, context), GAMES):
        menu.layout.separator()
        _draw_operators(menu.layout, "export_scene", game.exports)


def _draw_image(menu: Any, context: Context) -> None:
    games = filter(partial(is_used, context), GAMES)
    kinds = [kind for game in games for kind in game.kinds if kind.drop is Drop.IMAGE]
    menu.layout.separator()
    _draw_operators(menu.layout, "import_scene", importers(kinds))
    _draw_operators(menu.layout, "export_scene", exporters(kinds))


def _draw_pose(menu: Any, _context: Context) -> None:
    menu.layout.separator()
    menu.layout.operator("motionbridge.spread_pose")


class GameImports:
    """Mixin for the menus with the imports of one game."""

    if TYPE_CHECKING:
        entries: dict[str, str]
        layout: Any

    def draw(self, _context: Context) -> None:
        _draw_operators(self.layout, "import_scene", self.entries)


class MOTIONBRIDGE_MT_import_xray(GameImports, BlenderMenu):
    """Import files of S.T.A.L.K.E.R. (X-Ray)"""

    bl_label = "S.T.A.L.K.E.R. (X-Ray)"
    entries = importers(KINDS[0])


class MOTIONBRIDGE_MT_import_arma(GameImports, BlenderMenu):
    """Import files of Arma and Operation Flashpoint"""

    bl_label = "Arma, Operation Flashpoint"
    entries = importers(KINDS[1])


class MOTIONBRIDGE_MT_import_descent3(GameImports, BlenderMenu):
    """Import files of Descent 3"""

    bl_label = "Descent 3"
    entries = importers(KINDS[2])


class Game(NamedTuple):
    """A game in menus and panels.

    ``identifier`` as in the preference **Games**. ``menu``: its import menu. ``first``: operator of ``import_scene`` of
    the likely first file. ``kinds``: its kinds of files.
    """

    identifier: str
    menu: Any
    first: str
    kinds: tuple[FileKind, ...]

    @property
    def imports(self) -> dict[str, str]:
        """Operator of ``import_scene`` -> its text in the menu."""
        return importers(self.kinds)

    @property
    def exports(self) -> dict[str, str]:
        """Operator of ``export_scene`` -> its text in the menu."""
        return exporters(self.kinds)


XRAY, ARMA, DESCENT3 = GAMES = (
    Game("XRAY", MOTIONBRIDGE_MT_import_xray, "xray_ogf", KINDS[0]),
    Game("ARMA", MOTIONBRIDGE_MT_import_arma, "arma_p3d", KINDS[1]),
    Game("DESCENT3", MOTIONBRIDGE_MT_import_descent3, "descent3_oof", KINDS[2]),
)
"""The games, in menu order."""


def is_used(context: Context, game: Game) -> bool:
    """Return whether the user works with a game, which the preferences say."""
    return game.identifier in preferences(context).games


def draw_first_imports(layout: Any, context: Context) -> None:
    """Draw the import of the likely first file of each game that is used, and beside it the menu of its imports."""
    column = layout.column(align=True)
    for game in filter(partial(is_used, context), GAMES):
        row, text = column.row(align=True), game.imports[game.first]
        row.operator(f"import_scene.{game.first}", text=text, icon="IMPORT")
        row.menu(game.menu.__name__, text="", icon="DOWNARROW_HLT")


def _in_scene(context: Context) -> bool:
    return bool(poll_file_object_drop(context))


def _in_editor(context: Context, editor: str) -> bool:
    return context.area is not None and context.area.type == editor


CAN_DROP = {
    Drop.SCENE: _in_scene,
    Drop.MOTION: lambda context: _in_scene(context) or _in_editor(context, "DOPESHEET_EDITOR"),
    Drop.IMAGE: lambda context: _in_editor(context, "IMAGE_EDITOR"),
}
"""Kind of drop -> whether files can be dropped in the editor under the mouse.

Blender knows a file only by its suffix: textures of Descent 3 (.ogf) that are dropped into the viewport are passed to
the import of X-Ray models, which recognises them by their content.
"""


def handler_of(game: Game, kind: FileKind) -> Any:
    """Return the file handler class for a kind of files."""
    identifier = f"IO_FH_motionbridge_{kind.handler or kind.operator}"
    values = {
        "__doc__": f"Drop of files: {kind.label}.",
        "bl_idname": identifier,
        "bl_label": kind.label,
        "bl_import_operator": f"import_scene.{kind.operator}",
        "bl_file_extensions": ";".join(kind.suffixes),
        "poll_drop": classmethod(lambda _handler, context: is_used(context, game) and CAN_DROP[kind.drop](context)),
    }
    # An image is in no collection, so collections do not export it.
    if kind.exported_suffixes and kind.drop is not Drop.IMAGE:
        values["bl_export_operator"] = f"export_scene.{kind.operator}"
    return type(identifier, (FileHandler,), values)


CLASSES = (
    *(game.menu for game in GAMES),
    *(handler_of(game, kind) for game in GAMES for kind in game.kinds if kind.suffixes),
)
MENUS: Any = (
    (bpy.types.TOPBAR_MT_file_import, _draw_import),
    (bpy.types.TOPBAR_MT_file_export, _draw_export),
    (bpy.types.IMAGE_MT_image, _draw_image),
    (bpy.types.VIEW3D_MT_pose, _draw_pose),
    (bpy.types.VIEW3D_MT_pose_context_menu, _draw_pose),
)


def register() -> None:
    """Add the entries to Blender's menus."""
    for menu, draw in MENUS:
        menu.append(draw)


def unregister() -> None:
    """Remove the entries from Blender's menus."""
    for menu, draw in MENUS:
        menu.remove(draw)
