"""Images that are exported as textures: which one is chosen, and what the texture does not show of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ..blender import material
from ..core.errors import ReadError, WriteError
from ..core.report import Report, say

if TYPE_CHECKING:
    from ..blender.typed import Context

Texture = TypeVar("Texture")

SOURCE = "motionbridge_source"
"""Custom property of an image: the path of the texture it was imported from."""
FRAME = "motionbridge_frame"
"""Custom property of an image: the index of the frame it was imported from, in an animated texture."""


def build_image(name: str, pixels: NDArray[np.uint8], source: str, frame: int = 0) -> bpy.types.Image:
    """Return an image as `material.build_image` does, that stores the texture it is from. Textures and frames with the
    same pixels get an image each. Raises `ValueError` for an empty array.
    """
    image: Any = material.build_image(name, pixels)
    if (image.get(SOURCE, source), image.get(FRAME, frame)) != (source, frame):
        images: Any = bpy.data.images
        content = image[material.CONTENT]
        own = [image for image in images if image.get(material.CONTENT) == content and image.library is None]
        same = [image for image in own if material.is_unpainted(image)]
        picture = next((image for image in same if (image.get(SOURCE), image.get(FRAME)) == (source, frame)), None)
        if picture is None:
            picture = image.copy()
            picture.name = name
        image = picture
    image[SOURCE], image[FRAME] = source, frame
    return image


def image_to_export(context: Context, name: str) -> bpy.types.Image:
    """Return the image called ``name``; without a name, that of the open image editor or of the active material.

    Raises `WriteError` if there is none.
    """
    images: Any = bpy.data.images
    if name:
        picture = images.get(name)
        if picture is not None:
            return picture
        raise WriteError(say("there is no image {!r}", name), remedy="Choose an image")
    space = context.space_data
    if space is not None and space.type == "IMAGE_EDITOR" and space.image is not None:
        return space.image
    active = context.view_layer.objects.active
    own_image = material.image_of(active.active_material) if active is not None else None
    real = [image for image in images if image.source != "VIEWER"]
    if own_image is None and len(real) == 1:
        return real[0]
    if own_image is None:
        raise WriteError("no image is chosen", remedy="Open the image in an Image Editor, or choose it in the options")
    return own_image


def base_texture(
    image: bpy.types.Image, path: str, read: Callable[[Path, Report], Texture], report: Report
) -> Texture | None:
    """Return the texture that an image was imported from, else the one at ``path``; None if there is none.

    ``read`` raises `ReadError` for a file that is no texture, which is reported, and so is a texture that is missing.
    """
    imported = str(image.get(SOURCE, ""))
    for source in dict.fromkeys((imported, path)):
        if source and Path(source).is_file():
            try:
                return read(Path(source), Report())
            except ReadError as refusal:
                report.warn(say("the image is written as a new texture: {}", refusal))
    if imported and not Path(imported).is_file():
        words = "the image is written as a new texture: the file that it was imported from is missing, {}"
        report.warn(say(words, imported))
    return None


def note_difference(pixels: NDArray[np.uint8], visible: NDArray[np.uint8], kind: str, report: Report) -> None:
    """Report by how much the colors of a texture of this kind, as ``visible`` in the game, differ from those of an
    image. Pixels with alpha 0 do not count. Both arrays (height, width, 4).
    """
    difference = np.abs(visible.astype(np.int16) - pixels)[..., :3][pixels[..., 3] > 0]
    if difference.size and difference.any():
        words = "colors are approximated ({}): they differ by {:.1f} of 255 on average, by {} at most"
        report.note(say(words, kind, difference.mean(), difference.max()))
