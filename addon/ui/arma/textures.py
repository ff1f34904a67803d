"""Textures of Arma (`.paa`) in the interface: import as images and export of images."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender.typed import Context
from ...core.errors import MotionbridgeError
from ...core.report import Report
from ...games.arma import kinds, textures
from ...games.arma.options import TextureExportOptions
from ..bases import BlenderOperator, ExportHelper, ImportHelper, iface_, options_from, properties_from, rpt_
from ..change_words import plan_sentence, sentence_translator
from ..files import FileExport, FileImport, draw_backup, keep_and_show
from ..layouts import fields, paragraph
from ..operation import Outcome

LINE_LENGTH = 30

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


class EXPORT_SCENE_OT_arma_paa(TextureExportProperties, FileExport, ExportHelper, BlenderOperator):
    """Export an image as a texture of Arma; what was not painted on an imported texture keeps its bytes"""

    bl_idname = "export_scene.arma_paa"
    bl_label = "Export Arma Texture"

    filename_ext = ".paa"
    filter_glob: StringProperty(default=kinds.TEXTURES.exported_glob, options={"HIDDEN"})
    image: StringProperty(
        name="Image", description="The image to export; if empty, that of the Image Editor or of the active material"
    )
    if TYPE_CHECKING:
        _previews: dict[Any, tuple[list[str], str]] | None = None
    else:
        _previews = None

    @classmethod
    def poll(cls, _context: Context) -> bool:
        cls.poll_message_set("No image in the .blend file")
        images: Any = bpy.data.images
        return any(image.source != "VIEWER" for image in images)

    def suggest(self, context: Context) -> None:
        """Suggest the texture that the image was imported from, or its name."""
        try:
            image = textures.image_to_export(context, self.image)
        except MotionbridgeError:  # the browser shows the reason
            return
        self.image = image.name
        self.filepath = image.get(textures.SOURCE, "") or str(
            Path(bpy.path.abspath(image.filepath) or bpy.path.clean_name(Path(image.name).stem)).with_suffix(".paa")
        )

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop_search(self, "image", bpy.data, "images")
        layout.prop(self, "kind")
        layout.prop(self, "alpha")
        draw_backup(layout, self, self.filepath)
        lines, refusal = self._preview(context)
        column = self.layout.column(align=True)
        if refusal:
            paragraph(column, refusal, LINE_LENGTH, "ERROR")
        for line in lines:
            paragraph(column, line, LINE_LENGTH, "DOT")

    def _preview(self, context: Context) -> tuple[list[str], str]:
        """Return what the texture will not store, and why it cannot be written; computed once for each choice."""
        choice = (self.image, self.kind, self.alpha, Path(self.filepath).name)
        if self._previews is None:
            self._previews = {}
        if choice not in self._previews:
            report = Report()
            translated = sentence_translator(iface_)
            refusal = ""
            try:
                textures.preview_texture(*self._chosen(context), report)
            except MotionbridgeError as found:
                refusal = f"{translated(found.problem)}. {translated(found.remedy)}"
            self._previews[choice] = (report.lines(translated), refusal)
        return self._previews[choice]

    def _chosen(self, context: Context) -> "tuple[bpy.types.Image, str, TextureExportOptions]":
        image = textures.image_to_export(context, self.image)
        return image, self.named_file(kinds.TEXTURES), options_from(self, TextureExportOptions)

    def run(self, context: Context, report: Report) -> Outcome:
        plan = textures.plan_texture(*self._chosen(context), report)
        plan.write(backup=self.backup)
        return Outcome(f"{Path(plan.path).name}: {plan_sentence(plan, rpt_)}")


CLASSES = (IMPORT_SCENE_OT_arma_paa, EXPORT_SCENE_OT_arma_paa)
