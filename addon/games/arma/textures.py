"""Textures of Arma: the files that materials of a model show, their paths in the game, and images as `.paa`.

Textures of a model are searched for where `sources` looks. A PNG or TGA file of the same name is shown before the
texture itself (`.paa`). Procedural textures that are a plain color are shown.

An image imported from a texture is packed into the .blend. It stores the path of its texture, so that an export starts
from that file and keeps the bytes of what was not painted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import material
from ...core import files
from ...core import names as short_names
from ...core.changes import Changes
from ...core.errors import MotionbridgeError
from ...core.game import InstalledGame
from ...core.model import Material
from ...core.report import Report, say
from ...formats import archives
from ...formats.arma import paa
from ...formats.trees import arma
from ...formats.trees.tree import missing_textures
from .. import images
from ..images import SOURCE, base_texture, note_difference
from ..plan import FilePlan
from .options import TextureExportOptions
from .sources import MOST_FOLDERS, WORK_DRIVE, Sources, work_folders

if TYPE_CHECKING:
    from ...blender import typed

GAME_SUFFIXES = (".paa", ".pac")
IMAGE_SUFFIXES = (".png", ".tga", *GAME_SUFFIXES)
ALPHA_ENDING = "_ca"
"""Ending of the names of textures whose alpha is transparency."""
_COLOUR = re.compile(r"^#\([^)]*\)\s*color\(([^)]*)\)", re.IGNORECASE)


@dataclass
class Surfaces:
    """Builds materials. ``model``: the model's file; ``games``: searched for textures that are not in its project, the
    drive P: of the tools is one; ``missing``: textures for which no file was found; ``unreadable``: why others cannot
    be shown.
    """

    model: Path
    textures: bool
    games: Sequence[InstalledGame] = ()
    missing: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    _images: dict[Path, tuple[Any, bool]] = field(default_factory=dict)

    def build(self, wanted: Material) -> Any:
        """Return a Blender material; an existing one if it looks the same."""
        colour = colour_of(wanted.texture)
        if colour is not None:
            return material.build(wanted, colour=colour)
        picture = self.picture(wanted.texture) if self.textures else None
        image, see_through = self._shown(picture, wanted.texture) if picture is not None else (None, False)
        if image is None:
            if self.textures and picture is None and wanted.texture and not wanted.texture.startswith("#"):
                self.missing.append(wanted.texture)
            return material.build(wanted)
        return material.build(wanted, image, see_through=see_through)

    def _shown(self, file: Path, texture: str) -> tuple[Any, bool]:
        """Return the image of a file (None if it cannot be shown), and whether it is drawn with its alpha."""
        if file not in self._images:
            stem = PurePosixPath(texture.replace("\\", "/").lower()).stem
            if file.suffix.lower() not in GAME_SUFFIXES:
                self._images[file] = (material.load_image(file), stem.endswith(ALPHA_ENDING))
                return self._images[file]
            try:
                document = read_texture(file, Report())
                image = build_image(document, file, SHOWN_ON_MODELS)
                self._images[file] = (image, document.alpha is not paa.Alpha.OPAQUE)
            except MotionbridgeError as refusal:
                self.unreadable.append(str(refusal))
                self._images[file] = (None, False)
        return self._images[file]

    def picture(self, texture: str) -> Path | None:
        """Return the image file that shows a texture of the game, None if there is none."""
        return None if texture.startswith("#") else self._sources.find(texture, IMAGE_SUFFIXES)

    @cached_property
    def _sources(self) -> Sources:
        return Sources(self.model, self.games)

    def report_missing(self, report: Report) -> None:
        """Report once which textures cannot be shown."""
        for problem in self.unreadable:
            report.warn(say("a texture is not readable: {}", problem), self.model.name)
        finding = missing_textures(is_game_known=self._sources.is_game_known)
        for texture in dict.fromkeys(self.missing):
            report.note(finding, texture)


def colour_of(texture: str) -> tuple[float, float, float, float] | None:
    """Return red, green, blue, alpha (0 to 1) of a colour such as ``#(argb,8,8,3)color(1,0,0,1,co)``; else None."""
    match = _COLOUR.match(texture.strip())
    if match is None:
        return None
    try:
        values = [min(max(0.0, float(value)), 1.0) for value in match[1].split(",")[:4]]
    except ValueError:
        return None
    return (values[0], values[1], values[2], values[3]) if len(values) == 4 else None


# Paths in the game ----------------------------------------------------------------------------------------------------

CONFIG = "config.cpp"


def texture_of(used_material: typed.Material | None, games: Sequence[InstalledGame]) -> str:
    """Return the path in the game of the image that a material shows; "" if it shows none, or one of no addon."""
    image = material.image_of(used_material)
    if image is None or image.source != "FILE":
        return ""
    file = image.get(SOURCE) or bpy.path.abspath(image.filepath, library=image.library)
    return game_path(file, games) if file else ""


def game_path(image: str, games: Sequence[InstalledGame]) -> str:
    r"""Return the path in the game of an image file, such as ``tag\addon\data\wall_co.paa``; "" if it is in no addon,
    packed or not, and not on the work drive.
    """
    plain = image.replace("\\", "/")
    file = Path(plain)
    inside = archives.split(file)
    if inside is not None:
        return _joined(archives.opened(inside[0]).table.mount, inside[1].replace("\\", "/"))
    around = list(file.parents)[:MOST_FOLDERS]
    for folder in around:
        prefix = arma.prefix_of(folder)
        if prefix:
            return _joined(prefix, file.relative_to(folder).as_posix())
    for work in work_folders(games):
        if work in around:
            return _joined("", file.relative_to(work).as_posix())
    if plain.lower().startswith(WORK_DRIVE + "/"):
        return _joined("", plain[len(WORK_DRIVE) + 1 :])
    # An addon may have further configs in folders inside of it.
    addon = next((folder for folder in reversed(around) if (folder / CONFIG).is_file()), None)
    return _joined(addon.name, file.relative_to(addon).as_posix()) if addon is not None and addon.name else ""


def _joined(prefix: str, below: str) -> str:
    path = PurePosixPath(prefix.replace("\\", "/").strip("/"), below)
    return str(path if path.suffix.lower() in GAME_SUFFIXES else path.with_suffix(GAME_SUFFIXES[0])).replace("/", "\\")


# Images ---------------------------------------------------------------------------------------------------------------

SHOWN_ON_MODELS = 1024
"""Longest side of the level that is shown on an imported model: unpacking larger ones takes seconds."""
_DATA_NAME = re.compile(r"_(no|ns|nof|nofex|nohq|nopx|novhq|dt|dtsmdi|as|ads|adshq|pr|sm|smdi|mask)$", re.IGNORECASE)
"""Endings of names of textures whose values are not colors."""
VALUES = ("Non-Color", "sRGB")
"""Color spaces in which an image of floats is exported with the values of its file."""


def read_texture(path: Path, report: Report) -> paa.Paa:
    """Read a texture. Raises `ReadError`."""
    return paa.read(files.read_file(path), str(path), report)


def build_image(document: paa.Paa, path: Path, largest: int = paa.LARGEST_SIDE) -> bpy.types.Image:
    """Return the image of a texture, of its first level without a side over ``largest``; an existing one if it is the
    same. Raises `ReadError` for a damaged level.
    """
    image: Any = images.build_image(short_names.shortened(path.name), paa.picture(document, largest), str(path))
    if _DATA_NAME.search(path.stem):
        image.colorspace_settings.name = "Non-Color"
    if document.alpha is paa.Alpha.OPAQUE:
        # The game ignores this alpha, and Blender would show no color where it is 0.
        image.alpha_mode = "CHANNEL_PACKED"
    return image


def pixels_of(path: Path, image: Any) -> NDArray[np.uint8]:
    """Return what an image of `build_image` shows of a texture, which may be another one than it was made from: the
    first level that is not larger than the image. Raises `ReadError`.
    """
    # Blender stores the size that an image is created with, whether or not it stores the image.
    return paa.picture(read_texture(path, Report()), max(image.generated_width, image.generated_height))


def added_bytes(path: Path, largest: int = paa.LARGEST_SIDE) -> int:
    """Return about how many bytes `build_image` adds to the .blend. Raises `ReadError`."""
    return paa.size_as_png(read_texture(path, Report()), largest)


def import_texture(path: Path, report: Report) -> bpy.types.Image:
    """Import a texture as an image in its full size. Raises `ReadError`."""
    document = read_texture(path, report)
    image = build_image(document, path)
    if document.tag("SWIZ"):
        report.note(
            "the texture is swizzled; the image has the channels of the original, an export swizzles them again"
        )
    return image


# Export ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """An image to export: its ``pixels``, the texture it is based on (None for a new one), and how it is stored."""

    pixels: NDArray[np.uint8]
    base: paa.Paa | None
    coding: paa.Coding


def plan_texture(image: bpy.types.Image, path: str, options: TextureExportOptions, report: Report) -> FilePlan:
    """Plan an image as the texture at ``path``: based on the texture it was imported from, or on that at ``path``.

    Reports what the texture does not store. Raises `WriteError` for an image without pixels, or whose size the game or
    the chosen type does not support.
    """
    wanted = _wanted(image, path, options, report)
    document = paa.encode(wanted.pixels, wanted.coding, wanted.base)
    changes = Changes() if wanted.base is not None else Changes(new=say("a new texture"))
    if document is not wanted.base:
        _warn_of_losses(wanted, report)
        # The colors of transparent pixels are not seen, unless the game ignores alpha.
        hidden = (wanted.pixels[..., 3:] == 0) & (wanted.coding.alpha is not paa.Alpha.OPAQUE)
        seen = np.where(hidden, 0, 255).astype(np.uint8)
        compared = np.concatenate([wanted.pixels[..., :3], seen], axis=2)
        note_difference(compared, paa.picture(document), wanted.coding.kind.name, report)
        if wanted.base is not None:
            changes.note(say("pixels"))
    return FilePlan(path, paa.write(document), changes)


def preview_texture(image: bpy.types.Image, path: str, options: TextureExportOptions, report: Report) -> None:
    """Report what `plan_texture` would report, without encoding: colors are only said to be approximated. Raises the
    same `WriteError`.
    """
    wanted = _wanted(image, path, options, report)
    base = wanted.base
    same = base is not None and (base.file, paa.coding_of(base)) == (image.get(SOURCE), wanted.coding)
    if base is not None and same and _has_size(base, wanted.pixels) and material.is_as_built(image, wanted.pixels):
        return
    height, width, _ = wanted.pixels.shape
    paa.refuse_size(width, height, wanted.coding.kind)
    _warn_of_losses(wanted, report)
    if wanted.coding.kind.name.startswith("DXT"):
        report.note(say("{}: the colors of painted blocks are approximated", wanted.coding.kind.name))


def _wanted(image: bpy.types.Image, path: str, options: TextureExportOptions, report: Report) -> _Wanted:
    pixels = material.gather_pixels(image)
    space: Any = image.colorspace_settings
    if image.is_float and _DATA_NAME.search(Path(path).stem) and space.name not in VALUES:
        report.warn(
            "the image is converted from linear light to sRGB; if it holds values, such as a baked normal map, set its "
            "color space to Non-Color"
        )
    base = base_texture(image, path, read_texture, report)
    usual = paa.usual_coding(Path(path).stem, pixels)
    coding = (paa.coding_of(base) if base is not None else None) or usual
    kind = paa.TextureType[options.kind] if options.kind else coding.kind
    alpha = paa.Alpha[options.alpha] if options.alpha else coding.alpha
    return _Wanted(pixels, base, replace(coding, kind=kind, alpha=alpha))


def _warn_of_losses(wanted: _Wanted, report: Report) -> None:
    """Warn of what the type, the alpha mode or the swizzle of a texture does not store."""
    pixels, coding = wanted.pixels, wanted.coding
    base = paa.coding_of(wanted.base) if wanted.base is not None else coding
    if base != coding or (wanted.base is not None and not _has_size(wanted.base, pixels)):
        report.warn("all of the texture changes: its type, alpha or size differs from that of the file")
    elif wanted.base is not None and not paa.has_levels(wanted.base, *pixels.shape[1::-1]):
        report.warn("all of the texture changes: its smaller levels have other sides than half of those before")
    colours = enumerate(("red", "green", "blue"), start=1)
    lost = [word for code, word in colours if _is_lost(coding.swizzle, code, pixels)]
    if lost:
        report.warn(say("a swizzled texture of this name does not store {}", " and ".join(lost)))
    alpha = pixels[..., 3]
    between = bool(((alpha > 0) & (alpha < 255)).any())
    if coding.alpha is paa.Alpha.OPAQUE and not coding.swizzle and (alpha < 255).any():
        report.warn("the texture is opaque: the game does not use its alpha")
    elif between and coding.kind.name in ("DXT1", "ARGB1555") and coding.alpha is not paa.Alpha.OPAQUE:
        report.warn("alpha is only 0 or 255 in the texture: choose DXT5 to keep the values between")


def _has_size(document: paa.Paa, pixels: NDArray[np.uint8]) -> bool:
    first = document.levels[0] if document.levels else None
    return first is not None and (first.height, first.width) == pixels.shape[:2]


def _is_lost(codes: bytes, code: int, pixels: NDArray[np.uint8]) -> bool:
    """Return whether a swizzle stores no channel ``code`` (1 red, 2 green, 3 blue) although it varies."""
    if not codes or code in codes or code + 4 in codes:
        return False
    values = pixels[..., code - 1]
    return bool((values != values[0, 0]).any())
