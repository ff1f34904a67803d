"""Textures of Arma (`.paa`) in the interface: import as images and export of images."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender.typed import Context
from ...core.report import Report
from ...games.arma import kinds, textures
from ...games.arma.options import TextureExportOptions
from ..bases import BlenderOperator, ExportHelper, ImportHelper, options_from, properties_from
from ..files import FileImport, keep_and_show
from ..images import ImageExport
from ..operation import Outcome

if TYPE_CHECKING:
    from ...games.plan import FilePlan

TextureExportProperties: Any = properties_from(TextureExportOptions)


class IMPORT_SCENE_OT_arma_paa(FileImport, ImportHelper, BlenderOperator):
    """Import textures of Arma and Operation Flashpoint as images"""

    bl_idname = "import_scene.arma_paa"
    bl_label = "Import Arma Texture"

    filename_ext = ".paa"
    filter_glob: StringProperty(default=kinds.TEXTURES.glob, options={"HIDDEN"})
    fake_user: BoolProperty(
        name="Fake User", description="Keep images without users when the .blend file is saved", default=True
    )

    def draw(self, _context: Context) -> None:
        self.layout.prop(self, "fake_user")

    def run(self, context: Context, report: Report) -> Outcome:
        """Import every file and show the first image in the open image editors."""
        paths = self.chosen_files("Choose at least one texture (.paa, .pac)")
        found = self.import_each(
            context, paths, lambda path, file_report: textures.import_texture(Path(path), file_report), report
        )
        return Outcome(keep_and_show(context, found, self.fake_user))


class EXPORT_SCENE_OT_arma_paa(TextureExportProperties, ImageExport, ExportHelper, BlenderOperator):
    """Export an image as a texture of Arma; what was not painted on an imported texture keeps its bytes"""

    bl_idname = "export_scene.arma_paa"
    bl_label = "Export Arma Texture"

    filename_ext = ".paa"
    filter_glob: StringProperty(default=kinds.TEXTURES.exported_glob, options={"HIDDEN"})
    kind_of_file = kinds.TEXTURES
    OPTIONS = ("kind", "alpha")

    def planned(self, image: bpy.types.Image, path: str, report: Report) -> "FilePlan":
        return textures.plan_texture(image, path, options_from(self, TextureExportOptions), report)

    def preview(self, image: bpy.types.Image, path: str, report: Report) -> None:
        textures.preview_texture(image, path, options_from(self, TextureExportOptions), report)


CLASSES = (IMPORT_SCENE_OT_arma_paa, EXPORT_SCENE_OT_arma_paa)
