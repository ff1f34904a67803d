"""Textures of a model, found beside it, in its archive, or in the game's tree and its tables; and materials.

The game looks for an image ``NAME.ogf``, then for an animation that has an image of this name, then for a texture page
of that name in its tables. Loose files take precedence over archives, here as in the game. For people who unpacked
their textures with other tools, common image files of the name are used, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import material
from ...core import files, png, srgb
from ...core.changes import Changes
from ...core.errors import MotionbridgeError, ReadError, WriteError
from ...core.game import InstalledGame
from ...core.model import Material
from ...core.report import Report, say
from ...formats import HEAD_SIZE, archives, detect
from ...formats.descent3 import gam, ogf_image, strings
from ...formats.descent3.ogf_image import OgfImage
from ...formats.trees import Tree, descent3
from ...formats.trees.tree import missing_textures
from ..images import FRAME, SOURCE, base_texture, build_image, note_difference
from ..plan import FilePlan

if TYPE_CHECKING:
    from ...blender import typed


TABLES = ".gam"
IMAGE_SUFFIXES = (".png", ".tga", ".jpg", ".jpeg", ".bmp", ".pcx", ".dds")


@dataclass
class Textures:
    """``trees``: of the model's folder and of the games, in search order.

    ``animated``: folder to which the images of animated textures are written so that they play; None shows one image.
    ``is_game_known``: whether the textures of a game are searched.
    """

    trees: Sequence[Tree]
    animated: Path | None = None
    is_game_known: bool = False
    pages: dict[str, str] | None = None
    pictures: dict[str, Picture | None] = field(default_factory=dict)

    def find(self, name: str) -> Path | None:
        """Return the first file of this name, ignoring case, on disk or in an archive."""
        paths = (tree.find(name) for tree in self.trees)
        return next((path for path in paths if path is not None), None)

    def picture(self, name: str, report: Report) -> Picture | None:
        """Return the image of a texture, None if it is not found."""
        key = name.lower()
        if key not in self.pictures:
            self.pictures[key] = self._picture(name, report)
        return self.pictures[key]

    def _picture(self, name: str, report: Report) -> Picture | None:
        path = self.texture(name, report)
        if path is not None:
            return self._read(path, name, report)
        for suffix in IMAGE_SUFFIXES:
            path = self.find(name + suffix)
            if path is not None:
                image = material.load_image(path)
                if image is not None:
                    return Picture(image, see_through=image.depth in (32, 64, 128))
        return None

    def texture(self, name: str, report: Report) -> Path | None:
        """Return the file of the game that has a texture, None if it is not found."""
        return self.find(f"{name}.ogf") or self._animation_of(name) or self._of_table(name, report)

    def _read(self, path: Path, name: str, report: Report) -> Picture | None:
        try:
            document = ogf_image.read(files.read_file(path), path.name, Report())
            labels = [frame.label.lower().removesuffix(".ogf") for frame in document.frames]
            number = labels.index(name.lower()) if name.lower() in labels else 0
            # The animation starts at the image with the texture's name.
            order = [*document.frames[number:], *document.frames[:number]]
            chosen = order[: len(order) if self.animated is not None else 1]
            pictures = [ogf_image.decode_image(frame, file=path.name) for frame in chosen]
        except MotionbridgeError as refusal:
            report.warn(say("a texture is not readable: {}", refusal), path.name)
            return None
        if not pictures or not all(pixels.size for pixels in pictures):
            report.warn("a texture has no pixels", path.name)
            return None
        if len(order) > 1 and self.animated is None:
            report.note(say("one of the {} frames of an animated texture is shown", len(order)), path.name)
        see_through = any(map(is_see_through, pictures))
        if self.animated is not None and len(pictures) > 1:
            try:
                playing = material.build_image_sequence(self.animated, name, pictures)
            except WriteError as refusal:
                report.warn(say("the frames of an animated texture could not be written: {}", refusal), path.name)
            else:
                report.note(say("an animated texture plays its {} pictures, one per frame", len(pictures)), path.name)
                return Picture(playing, see_through, len(pictures))
        return Picture(build_image(name, pictures[0], str(path), number), see_through)

    def _animation_of(self, name: str) -> Path | None:
        """Return the animation whose images are numbered ``NAME01``, ``NAME02``, …"""
        return self.find(f"{name}.oaf") or self.find(f"{name.rstrip('0123456789')}.oaf")

    def _of_table(self, name: str, report: Report) -> Path | None:
        if self.pages is None:
            self.pages = {}
            for tree in self.trees:
                for path in tree.below("", TABLES).values():
                    self.pages = _pages(path, report) | self.pages
                report.include(tree.report())
        bitmap = self.pages.get(name.lower())
        return self.find(bitmap) if bitmap else None


@dataclass(frozen=True)
class Picture:
    """An image of the .blend file; ``see_through``: alpha is not 1 everywhere; ``pictures``: its frames."""

    image: Any
    see_through: bool
    pictures: int = 1


def _pages(path: Path, report: Report) -> dict[str, str]:
    """Return texture page -> bitmap file name, of one table."""
    try:
        document = gam.read(files.read_file(path), path.name, Report())
    except MotionbridgeError as refusal:
        report.warn(say("a table of textures is not readable: {}", refusal), path.name)
        return {}
    pages = [page.texture for page in document.pages if page.texture is not None]
    return {strings.decode(page.name).lower(): strings.decode(page.bitmap) for page in reversed(pages)}


def import_pictures(path: Path, report: Report) -> list[bpy.types.Image]:
    """Import a texture file as Blender images, one for each frame of an animation. Raises `ReadError`."""
    document = _read_texture(path, report)
    pictures = _decoded(document)
    labels = [frame.label.rpartition(".")[0] or frame.label for frame in document.frames]
    names = labels if len(pictures) > 1 and all(labels) else [path.stem] * len(pictures)
    return [
        build_image(name, pixels, str(path), number)
        for number, (name, pixels) in enumerate(zip(names, pictures, strict=True))
    ]


def _read_texture(path: Path, report: Report) -> ogf_image.OgfImage:
    return ogf_image.read(files.read_file(path), str(path), report)


def _decoded(document: OgfImage) -> list[NDArray[np.uint8]]:
    pictures = ogf_image.decode(document)
    if not pictures or not all(pixels.size for pixels in pictures):
        raise ReadError("the image has no pixels", file=document.file, remedy="Choose another image")
    return pictures


def pixels_of(path: Path, image: Any) -> NDArray[np.uint8]:
    """Return what an image of a texture shows of a file, which may be another one than it was made from: the frame with
    its index, else the first one. Raises `ReadError`.
    """
    document, number = _read_texture(path, Report()), image.get(FRAME, 0)
    first = number if number < len(document.frames) else 0
    return _decoded(replace(document, frames=document.frames[first : first + 1]))[0]


def added_bytes(path: Path, *, is_on_model: bool) -> int:
    """Return how many bytes the images of a texture, or the one on a model, add to the .blend. Raises `ReadError`."""
    document = _read_texture(path, Report())
    pictures = _decoded(replace(document, frames=document.frames[: 1 if is_on_model else None]))
    return sum(len(png.encode(pixels)) for pixels in pictures)


def plan_texture(image: bpy.types.Image, path: str, report: Report) -> FilePlan:
    """Plan an image as the texture at ``path`` (`.ogf`), or as a frame of the animation there (`.oaf`).

    It is based on the texture that the image was imported from, or on that at ``path``. Reports what the texture does
    not store. Raises `WriteError` for an image without pixels or whose size or name does not fit, for an animation that
    does not exist, and if ``path`` is a model of X-Ray.
    """
    pixels = material.gather_pixels(image)
    _refuse_model(Path(path))
    base = base_texture(image, path, _read_texture, report)
    number = int(image.get(FRAME, 0)) if base is not None and image.get(SOURCE) == base.file else 0
    frame = base.frames[number] if base is not None and number < len(base.frames) else None
    picture, replaced = ogf_image.encode(pixels, Path(path).name, frame), frame
    if Path(path).suffix.lower() == ".oaf":
        if base is None or base.animation is None or frame is None:
            raise WriteError(
                "an image is a frame of an animated texture only if it was imported from one",
                file=path,
                remedy="Choose an .ogf file",
            )
        there = _animation_like(base, Path(path)) or base
        replaced = there.frames[number]
        frames = [picture if row == number else frame for row, frame in enumerate(there.frames)]
        document = base if there is base and picture is frame else replace(there, frames=frames)
    else:
        document = base if base is not None and base.animation is None and picture is frame else OgfImage([picture])
    changes = Changes() if frame is not None else Changes(new=say("a new texture"))
    if picture is not frame:
        _report_losses(pixels, picture, frame, report)
    if frame is not None and (picture is not frame or _shows_other_pixels(replaced, frame)):
        changes.note(say("pixels"))
    return FilePlan(path, ogf_image.write(document), changes)


def _shows_other_pixels(replaced: ogf_image.Image | None, frame: ogf_image.Image) -> bool:
    """Return whether the frame of another file that is replaced by ``frame`` was edited."""
    if replaced is None or replaced is frame:
        return False
    return not np.array_equal(ogf_image.decode_image(replaced), ogf_image.decode_image(frame))


def _animation_like(base: ogf_image.OgfImage, path: Path) -> ogf_image.OgfImage | None:
    """Return the animation at ``path`` if it has the frames of another file, ``base``: then others were exported there.

    None for any other file and for ``base`` itself.
    """
    if not path.is_file() or str(path) == base.file:
        return None
    try:
        texture = _read_texture(path, Report())
    except ReadError:
        return None
    labels = [[(frame.label, frame.width, frame.height) for frame in document.frames] for document in (base, texture)]
    return texture if texture.animation is not None and labels[0] == labels[1] else None


def _refuse_model(path: Path) -> None:
    """Raise `WriteError` if the file that would be replaced is a model of X-Ray, which has the same suffix."""
    known = detect(path, files.read_file(path, HEAD_SIZE)) if path.is_file() else None
    if known is not None and known.name == "ogf":
        raise WriteError("this is a model of S.T.A.L.K.E.R.", file=str(path), remedy="Choose another name")


def _report_losses(
    pixels: NDArray[np.uint8], image: ogf_image.Image, base: ogf_image.Image | None, report: Report
) -> None:
    if base is not None and (image.type, image.width, image.height) != (base.type, base.width, base.height):
        report.warn("all of the texture changes: its type, alpha or size differs from that of the file")
    kind = ogf_image.ImageType(image.type)
    alpha = pixels[..., 3]
    if kind is not ogf_image.ImageType.RUNS_4444 and ((alpha > 0) & (alpha < 255)).any():
        report.warn("alpha is only 0 or 255 in a texture of this type")
    bits = {ogf_image.ImageType.RUNS_4444: "4 bits", ogf_image.ImageType.RUNS_1555: "5 bits"}
    note_difference(pixels, ogf_image.decode_image(image), bits.get(kind, "5 and 6 bits"), report)


def is_see_through(pixels: NDArray[np.uint8]) -> bool:
    """Return whether any pixel (height, width, 4) is not opaque."""
    return bool((pixels[..., 3] < 255).any())


def textures_for(source: Path, games: Sequence[InstalledGame], animated: Path | None = None) -> Textures:
    """Return where the textures of a model are that is at ``source``, which may lead into an archive.

    Its folder with the archives there, then the ``games``. ``animated`` as in `Textures`.
    """
    inside = archives.split(source)
    archive = inside[0] if inside is not None else None
    folder = (archive or source).parent
    trees = [descent3.tree(InstalledGame(folder), first=archive)]
    for game in games:
        trees += [descent3.tree(game)] if game.folder != folder else []
    is_known = bool(games) or any(other.path != archive for other in trees[0].archives)
    return Textures(trees, animated, is_game_known=is_known)


# Materials -----------------------------------------------------------------------------------------------------------

UNKNOWN_TEXTURE = "motionbridge_unknown_texture"
"""Custom property of a material whose texture index is outside of the table, or whose texture has no name."""
MISSING_COLOUR = (0.8, 0.0, 0.8, 1.0)


def build_material(look: Material, textures: Textures | None, report: Report) -> Any:
    """Return a Blender material of this texture or colour; an existing one if it looks the same."""
    if look.colour is not None:
        light = srgb.to_linear(np.array(look.colour, np.float64) / 255)
        return material.build_coloured(look.name, (*light.tolist(), 1.0))
    if not look.texture:
        result = material.build_coloured(look.name, MISSING_COLOUR)
        result[UNKNOWN_TEXTURE] = True
        return result
    picture = textures.picture(look.texture, report) if textures is not None else None
    if picture is None:
        if textures is not None:
            report.warn(missing_textures(is_game_known=textures.is_game_known), look.texture)
        return material.build(look)
    return material.build(look, picture.image, see_through=picture.see_through, pictures=picture.pictures)


def gather_material(used_material: typed.Material | None) -> Material:
    """Return the texture or colour of a Blender material; None, an empty slot, becomes a material without either.

    A material made in Blender, or one that was given another image (even if its own was missing), gets the texture that
    the image is named after, otherwise its own colour.
    """
    if used_material is None:
        return Material("")
    if used_material.get(UNKNOWN_TEXTURE):
        return Material(used_material.get(material.TITLE, used_material.name))
    image, imported = material.image_of(used_material), used_material.get(material.PICTURE)
    texture = used_material.motionbridge_material.texture
    if image is not None and (not texture or (image != imported and material.other_picture(used_material))):
        texture = material.path_of(image).name
    if texture:
        return Material(used_material.name, texture)
    return Material(used_material.name, colour=_colour(used_material))


def _colour(obj: Any) -> tuple[int, int, int]:
    """Return the sRGB red, green and blue (0 to 255) of a material."""
    nodes = obj.node_tree.nodes if obj.node_tree is not None else ()
    surface = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    values = obj.diffuse_color if surface is None else surface.inputs["Base Color"].default_value
    shares = srgb.from_linear(np.clip(np.array(values[:3], np.float64), 0, 1))
    red, green, blue = np.rint(255 * shares).astype(int).tolist()
    return red, green, blue
