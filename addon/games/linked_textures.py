"""Textures of games that a .blend does not store: they are loaded from the game when it is opened.

Blender reads neither archives nor textures of Arma and Descent 3. So images of these are packed like the others while a
.blend is open, and taken out of it while it is saved.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender import compat, material
from ..core.errors import ReadError
from ..core.files import FileLocation, read_file
from ..core.report import Report, say
from ..formats import archives, trees
from . import images
from .arma import textures as arma
from .descent3 import textures as descent3

if TYPE_CHECKING:
    from ..core.game import InstalledGame

_taken_out: dict[int, bytes] = {}
"""``session_uid`` of an image -> its packed file, while the .blend is saved."""


def _linked() -> list[Any]:
    """Return the images that show textures of games and are not stored, without those that the user saved as files."""
    linked = (image for image in bpy.data.images if image.get(material.LINKED))
    return [image for image in linked if _file_of(image) == image.get(material.LOADED, "")]


def _file_of(image: Any) -> str:
    return bpy.path.abspath(image.filepath, library=image.library)


def take_out() -> None:
    """Take the textures that are not to be stored out of the .blend that is about to be saved. Those that were painted,
    and those that the game no longer has, stay in it.
    """
    for image in _linked():
        if image.library is None and material.is_unpainted(image) and _is_in_game(str(image[material.LINKED])):
            _taken_out[image.session_uid] = bytes(image.packed_file.data)
            image.unpack(method="REMOVE")


def put_back() -> None:
    """Let the images have again what `take_out` took."""
    for image in _linked():
        if image.session_uid in _taken_out:
            material.pack_texture(image, _taken_out[image.session_uid])
    _taken_out.clear()


def _is_in_game(path: str) -> bool:
    with suppress(ReadError):
        return FileLocation(path).is_present()
    return False


class Loading:
    """The textures that a .blend, just opened, does not store. ``report``: why some of them were not loaded."""

    def __init__(self, games: Sequence[InstalledGame], failed: Container[str] = ()) -> None:
        """Find the textures; `step` loads one. ``games``: those of the preferences; ``failed``: paths of those that
        could not be loaded before.
        """
        self.report = Report()
        self._games = games
        waiting = (image for image in _linked() if image.packed_file is None)
        self._waiting = [image.session_uid for image in waiting if image[material.LINKED] not in failed]
        self._trees: dict[Path, trees.Tree | None] = {}

    def step(self) -> bool:
        """Load the next texture, if it was not removed meanwhile; return whether there are more."""
        if self._waiting:
            wanted = self._waiting.pop(0)
            image = next((image for image in _linked() if image.session_uid == wanted), None)
            if image is not None:
                self._load(image)
        return bool(self._waiting)

    def _load(self, image: Any) -> None:
        path = str(image[material.LINKED])
        try:
            current = self._current(path)
            is_read_by_blender = material.CONTENT not in image and archives.split(current) is None
            if not FileLocation(str(current)).is_present():
                self.report.warn("the texture is no longer in the game", path)
            elif image.library is not None and not is_read_by_blender and not compat.LINKED_IMAGES_PACKED:
                self.report.warn(
                    "Blender 5.3 does not show textures of linked libraries that the libraries do not store: turn on "
                    "Pack Textures and save the libraries again",
                    path,
                )
            elif material.CONTENT in image:
                own: Any = arma if current.suffix.lower() in arma.GAME_SUFFIXES else descent3
                material.show_pixels(image, own.pixels_of(current, image))
                image[images.SOURCE] = str(current)
            elif not is_read_by_blender:
                material.pack_texture(image, read_file(current))
                image.filepath_raw = image[material.LOADED] = str(current)
            elif _file_of(image) != str(current):
                image.filepath = image[material.LOADED] = str(current)
        except ReadError as refusal:
            self.report.warn(say("a texture is not readable: {}", refusal), path)

    def _current(self, path: str) -> Path:
        """Return the file that the game takes now under the name that a texture has in it. Raises `ReadError`."""
        location = Path(path)
        inside = archives.split(location)
        above = inside[0] if inside is not None else location.parent
        if above not in self._trees:
            self._trees[above] = trees.tree_for(location, self._games)
        tree = self._trees[above]
        name = tree.name_of(location) if tree is not None else ""
        return (tree.find(name) if tree is not None and name else None) or location
