"""Textures of a game as images: their import, and the export of images with what the texture will not show."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..blender.typed import Context
from ..core import files
from ..core.errors import MotionbridgeError
from ..core.report import Report
from ..games import images
from .bases import rpt_, tell
from .files import FileExport, FileImport, keep_and_show
from .layouts import fields
from .operation import Need, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..games.kinds import FileKind
    from ..games.plan import FilePlan

LINE_LENGTH = 30
"""Letters in a line beside the file browser."""


class ImageImport(FileImport):
    """Mixin for operators that import textures as images, listed before `ImportHelper`."""

    fake_user: BoolProperty(
        name="Fake User", description="Keep images without users when the .blend file is saved", default=True
    )

    def draw(self, _context: Context) -> None:
        self.layout.prop(self, "fake_user")

    def import_images(
        self, context: Context, paths: list[str], work: "Callable[[str, Report], list[bpy.types.Image]]", report: Report
    ) -> Outcome:
        """Import every file with ``work`` and show the first image in the open image editors. Raises the first error
        if all files failed.
        """
        own_images = self.import_each(context, paths, work, report)
        return Outcome(keep_and_show(context, [image for picture in own_images for image in picture], self.fake_user))


def _has_image(_context: Context) -> bool:
    own_images: Any = bpy.data.images
    return any(image.source != "VIEWER" for image in own_images)


class ImageExport(FileExport):
    """Mixin for operators that write an image as a texture, listed before `ExportHelper`."""

    needs = (Need("No image in the .blend file", _has_image),)

    image: StringProperty(
        name="Image", description="The image to export; if empty, that of the Image Editor or of the active material"
    )
    if TYPE_CHECKING:
        kind_of_file: "FileKind"
        filename_ext: str

    OPTIONS: tuple[str, ...] = ()
    """Names of the properties that the file browser shows."""

    def planned(self, image: bpy.types.Image, path: str, report: Report) -> "FilePlan":
        """Return the plan for an image and a path. Raises `MotionbridgeError`. Overridden by every operator."""
        raise NotImplementedError

    def preview_image(self, image: bpy.types.Image, path: str, report: Report) -> None:
        """Report what the texture will not store; may take less time than the plan. Raises the same errors."""
        self.planned(image, path, report)

    def suggest(self, context: Context) -> None:
        """Suggest the texture that the image was imported from, or its name."""
        try:
            image = images.image_to_export(context, self.image)
        except MotionbridgeError:  # the browser shows the reason
            return
        self.image = image.name
        source, suffixes = str(image.get(images.SOURCE, "")), self.kind_of_file.exported_suffixes
        if Path(source).suffix.lower() not in suffixes:
            named = bpy.path.abspath(image.filepath, library=image.library)
            named = named or bpy.path.clean_name(Path(image.name).stem)
            source = str(Path(named).with_suffix(self.filename_ext))
        self.filepath = source

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop_search(self, "image", bpy.data, "images")
        for name in self.OPTIONS:
            layout.prop(self, name)
        self.draw_last(context)

    def preview_key(self) -> tuple[Any, ...]:
        path = Path(self.filepath)  # an existing file is the base of a new image
        return (
            self.image,
            str(path) if files.is_file(path) else path.name,
            *(getattr(self, name) for name in self.OPTIONS),
        )

    def preview(self, context: Context, report: Report) -> None:
        """Warn of what the texture will not store. Raises the same errors as the export."""
        path = self.named_file(self.kind_of_file)
        files.warn_of_replacing(path, report)
        self.preview_image(images.image_to_export(context, self.image), path, report)

    def run(self, context: Context, report: Report) -> Outcome:
        """Write the texture."""
        path = self.named_file(self.kind_of_file)
        files.warn_of_replacing(path, report)
        plan = self.planned(images.image_to_export(context, self.image), path, report)
        plan.write(backup=self.backup)
        return Outcome(f"{Path(plan.path).name}: {tell(plan.sentence(), rpt_)}")
