"""File > Import and File > Export."""

from __future__ import annotations

from typing import Any

import bpy


def _draw_import(menu: Any, _context: Any) -> None:
    menu.layout.operator("import_scene.xray_ogf", text="X-Ray Model (.ogf)")
    menu.layout.operator("import_scene.xray_omf", text="X-Ray Motions (.omf)")
    menu.layout.operator("import_scene.xray_skl", text="X-Ray Editor Motions (.skl, .skls)")
    menu.layout.operator("import_scene.xray_bones", text="X-Ray Bone Properties (.bones)")
    menu.layout.operator("import_scene.xray_anm", text="X-Ray Motion Path (.anm)")
    menu.layout.operator("import_scene.xray_level_geometry", text="X-Ray Level Geometry (.cform, .hom, .som …)")
    menu.layout.operator("import_scene.xray_level", text="X-Ray Level Folder")
    menu.layout.operator("import_scene.arma_p3d", text="Arma Model (.p3d)")
    menu.layout.operator("import_scene.arma_rtm", text="Arma Animation (.rtm)")
    menu.layout.operator("import_scene.descent3_oof", text="Descent 3 Model (.oof, .hog, .mn3)")
    menu.layout.operator("import_scene.descent3_ogf", text="Descent 3 Texture (.ogf, .oaf)")


def _draw_export(menu: Any, _context: Any) -> None:
    menu.layout.operator("export_scene.xray_ogf", text="X-Ray Model (.ogf)")
    menu.layout.operator("export_scene.xray_omf", text="X-Ray Motions (.omf)")
    menu.layout.operator("export_scene.xray_skl", text="X-Ray Editor Motions (.skl, .skls)")
    menu.layout.operator("export_scene.xray_bones", text="X-Ray Bone Properties (.bones)")
    menu.layout.operator("export_scene.xray_anm", text="X-Ray Motion Path (.anm)")
    menu.layout.operator("export_scene.xray_level_geometry", text="X-Ray Level Geometry (.cform, .hom, .som …)")
    menu.layout.operator("export_scene.arma_rtm", text="Arma Animation (.rtm)")
    menu.layout.operator("export_scene.descent3_oof", text="Descent 3 Model (.oof)")


MENUS: Any = ((bpy.types.TOPBAR_MT_file_import, _draw_import), (bpy.types.TOPBAR_MT_file_export, _draw_export))


def register() -> None:
    """Add the entries."""
    for menu, draw in MENUS:
        menu.append(draw)


def unregister() -> None:
    """Take them away."""
    for menu, draw in MENUS:
        menu.remove(draw)
