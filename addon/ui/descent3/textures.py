"""File > Import > Descent 3 Texture (.ogf, .oaf), and the drop of such files into an image editor."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...core import files
from ...core.report import Report
from ...formats import HEAD_SIZE, detect
from ...games.descent3 import kinds, textures
from ..bases import BlenderOperator, ImportHelper
from ..files import FileImport
from ..operation import Outcome
from ..translations import said


class IMPORT_SCENE_OT_descent3_ogf(FileImport, ImportHelper, BlenderOperator):
    """Import Descent 3 textures as images; animated textures as one image per frame"""

    bl_idname = "import_scene.descent3_ogf"
    bl_label = "Import Descent 3 Texture"

    filename_ext = ".ogf"
    filter_glob: StringProperty(default=kinds.TEXTURES.glob, options={"HIDDEN"})
    fake_user: BoolProperty(
        name="Fake User", description="Keep images without users when the .blend file is saved", default=True
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """The options."""
        self.layout.prop(self, "fake_user")

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Import every file, and show the first picture in an open image editor."""
        paths = self.chosen_files("Choose at least one texture (.ogf, .oaf)")
        found = self.import_each(context, paths, lambda path, told: textures.import_pictures(Path(path), told), report)
        return Outcome(keep_and_show(context, [image for images in found for image in images], self.fake_user))


def is_texture(path: str) -> bool:
    """Whether a file is a texture: models of another game have the same suffix. Raises `ReadError`."""
    known = detect(path, files.read_file(path, HEAD_SIZE))
    return known is not None and known.name == "ogf_image"


def keep_and_show(context: Any, images: Sequence[Any], fake_user: bool = True) -> str:
    """Show the first picture in an open image editor; the sentence about them."""
    for image in images:
        image.use_fake_user = fake_user
    for area in context.screen.areas if context.screen is not None else ():
        if area.type == "IMAGE_EDITOR":
            area.spaces.active.image = images[0]
    return said("Images: {}, first: {}").format(len(images), images[0].name)


CLASSES = (IMPORT_SCENE_OT_descent3_ogf,)
