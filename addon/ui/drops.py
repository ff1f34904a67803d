"""Drops of files, and collections that export them: a file handler for each kind of file."""

from __future__ import annotations

from typing import Any

import bpy
from bpy_extras.io_utils import poll_file_object_drop

from ..games import KINDS
from ..games.kinds import Drop, FileKind
from .bases import FileHandler


def _in_scene(context: bpy.types.Context) -> bool:
    return bool(poll_file_object_drop(context))


def _in_editor(context: bpy.types.Context, editor: str) -> bool:
    return context.area is not None and context.area.type == editor


FITS = {
    Drop.SCENE: _in_scene,
    Drop.MOTION: lambda context: _in_scene(context) or _in_editor(context, "DOPESHEET_EDITOR"),
    Drop.IMAGE: lambda context: _in_editor(context, "IMAGE_EDITOR"),
}
"""Whether something can be dropped where the mouse is. Blender knows a file by its suffix alone: textures of Descent 3
that are dropped into the viewport go to the import of X-Ray's models, which knows them by their content.
"""


def handler_of(kind: FileKind) -> Any:
    """The file handler of a kind of files."""
    identifier = f"IO_FH_motionbridge_{kind.handler or kind.operator}"
    values = {
        "__doc__": f"Drop of files: {kind.label}.",
        "bl_idname": identifier,
        "bl_label": kind.label,
        "bl_import_operator": f"import_scene.{kind.operator}",
        "bl_file_extensions": ";".join(kind.suffixes),
        "poll_drop": classmethod(lambda _handler, context: FITS[kind.drop](context)),
    }
    if kind.exported_suffixes:
        values["bl_export_operator"] = f"export_scene.{kind.operator}"
    return type(identifier, (FileHandler,), values)


CLASSES = tuple(handler_of(kind) for kinds in KINDS for kind in kinds if kind.suffixes)
