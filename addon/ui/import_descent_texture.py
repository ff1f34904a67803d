"""File > Import > Descent 3 Texture (.ogf, .oaf), and the drop of such files into an image editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..blender.scope import progress
from ..core.errors import ReadError
from ..core.report import Report
from ..games.descent3 import textures
from .bases import BlenderOperator, ImportHelper
from .operation import FileChoice, Operation, Outcome
from .wording import said


class IMPORT_SCENE_OT_descent3_ogf(Operation, FileChoice, ImportHelper, BlenderOperator):
    """Import textures of Descent 3 as images; of animations every picture"""

    bl_idname = "import_scene.descent3_ogf"
    bl_label = "Import Descent 3 Texture"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".ogf"
    filter_glob: StringProperty(default="*.ogf;*.oaf", options={"HIDDEN"})
    fake_user: BoolProperty(
        name="Fake User", description="Saving keeps the images that nothing shows at the moment", default=True
    )

    def invoke(self, context: Any, _event: Any) -> Any:
        """A dialog with the options for dropped files, else the file browser."""
        return self.invoke_popup(context)

    def draw(self, _context: Any) -> None:
        """The options."""
        self.layout.prop(self, "fake_user")

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file, and show the first picture in an open image editor."""
        paths = self.paths()
        if not paths:
            raise ReadError("no file is chosen", remedy="Choose at least one texture (.ogf, .oaf)")
        made: list[Any] = []
        with progress(context, len(paths)) as step:

            def one(path: str, found: Report) -> None:
                made.extend(textures.import_pictures(Path(path), found))
                step(len(made))

            self.each_file(paths, one, report)
        for image in made:
            image.use_fake_user = self.fake_user
        for area in context.screen.areas if context.screen is not None else ():
            if area.type == "IMAGE_EDITOR":
                area.spaces.active.image = made[0]
        return Outcome(said("Images: {}, {} to begin with").format(len(made), made[0].name))


class IO_FH_motionbridge_descent3_ogf(bpy.types.FileHandler):
    """Drop of textures. In the viewport the suffix belongs to X-Ray's models."""

    bl_idname = "IO_FH_motionbridge_descent3_ogf"
    bl_label = "Descent 3 Texture"
    bl_import_operator = "import_scene.descent3_ogf"
    bl_file_extensions = ".ogf;.oaf"

    @classmethod
    def poll_drop(cls, context: Any) -> bool:
        """Dropped into an image editor."""
        return context.area is not None and context.area.type == "IMAGE_EDITOR"


CLASSES = (IMPORT_SCENE_OT_descent3_ogf, IO_FH_motionbridge_descent3_ogf)
