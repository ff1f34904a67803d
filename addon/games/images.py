"""Images that are exported as textures: which one is chosen, and what the texture does not show of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ..blender import material
from ..core import inner_files
from ..core.errors import ReadError, WriteError
from ..core.files import FileLocation
from ..core.report import Report, say

if TYPE_CHECKING:
    from ..blender.typed import Context

Texture = TypeVar("Texture")

SOURCE = "motionbridge_source"
"""Custom property of an image made from pixels: the path of the texture that they are from."""
FRAME = "motionbridge_frame"
"""Custom property of an image: the index of the frame it was imported from, in an animated texture."""


def build_image(name: str, pixels: NDArray[np.uint8], source: str, frame: int = 0) -> Any:
    """Return the image of a texture, or of a frame of it: an existing one with the same pixels that was not painted
    since, or else one of `material.build_image`. Raises `ValueError` for an empty array.
    """
    images: Any = bpy.data.images
    wanted = (material.content_of(pixels), source, frame)
    for existing in images:
        same = tuple(map(existing.get, (material.CONTENT, SOURCE, FRAME))) == wanted
        if same and existing.library is None and material.is_unpainted(existing):
            return existing
    image = material.build_image(name, pixels)
    image[SOURCE], image[FRAME] = source, frame
    if not inner_files.are_saved():
        image[material.LINKED] = source
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
    imported, is_missing = str(image.get(SOURCE, "")), False
    for source in filter(None, dict.fromkeys((imported, path))):
        try:
            if FileLocation(source).is_present():
                return read(Path(source), Report())
            is_missing |= source == imported
        except ReadError as refusal:
            report.warn(say("the image is written as a new texture: {}", refusal))
    if is_missing:
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
