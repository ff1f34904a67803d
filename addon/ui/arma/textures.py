"""Textures of Arma (`.paa`) in the interface: import as images and export of images."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ...blender.typed import Context
from ...core.report import Report
from ...games.arma import kinds, textures
from ...games.arma.options import TextureExportOptions
from ..bases import BlenderOperator, ExportHelper, ImportHelper, classes_of, options_from, properties_from
from ..images import ImageExport, ImageImport
from ..operation import Outcome

if TYPE_CHECKING:
    from ...games.plan import FilePlan

TextureExportProperties: Any = properties_from(TextureExportOptions)


class IMPORT_SCENE_OT_arma_paa(ImageImport, ImportHelper, BlenderOperator):
    """Import textures of Arma and Operation Flashpoint as images"""

    bl_idname = "import_scene.arma_paa"
    bl_label = "Import Arma Texture"

    filename_ext = ".paa"
    filter_glob: StringProperty(default=kinds.TEXTURES.glob, options={"HIDDEN"})

    def run(self, context: Context, report: Report) -> Outcome:
        """Import every chosen file."""
        paths = self.chosen_files("Choose at least one texture (.paa, .pac)")
        return self.import_images(
            context, paths, lambda path, own_report: [textures.import_texture(Path(path), own_report)], report
        )


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

    def preview_image(self, image: bpy.types.Image, path: str, report: Report) -> None:
        textures.preview_texture(image, path, options_from(self, TextureExportOptions), report)


CLASSES = classes_of(__name__)
