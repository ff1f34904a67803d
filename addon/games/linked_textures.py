"""Textures out of a game's archives that a .blend does not store: they are loaded from the game when it is opened.

Blender itself reads images from files on disk only. So these are packed like the others while a .blend is open, and
taken out of it while it is saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender import compat, material
from ..core.errors import ReadError
from ..core.files import FileLocation, read_file
from ..formats import archives, trees

if TYPE_CHECKING:
    from ..core.game import InstalledGame

_taken_out: dict[int, bytes] = {}
"""``session_uid`` of an image -> its packed file, while the .blend is saved."""


def _linked() -> list[Any]:
    return [image for image in bpy.data.images if image.get(material.LINKED)]


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
            material.pack_texture(image, _taken_out[image.session_uid], str(image[material.LINKED]))
    _taken_out.clear()


def _is_in_game(path: str) -> bool:
    with suppress(ReadError):
        return FileLocation(path).is_present()
    return False


class Loading:
    """The textures that a .blend, just opened, does not store. ``missing``: paths of those that the game lacks now;
    ``of_libraries``: of those that this Blender cannot load, because their image is in a linked library.
    """

    def __init__(self, games: Sequence[InstalledGame]) -> None:
        """Find the textures; `step` loads one. ``games``: those of the preferences."""
        self.missing: list[str] = []
        self.of_libraries: list[str] = []
        self._games = games
        self._waiting = [image.session_uid for image in _linked() if image.packed_file is None]
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
            if archives.split(current) is not None:
                if image.library is not None and not compat.LINKED_IMAGES_PACKED:
                    self.of_libraries.append(path)
                else:
                    material.pack_texture(image, read_file(current), path)
                return
        except ReadError:
            current = None
        if current is None or not current.is_file():
            self.missing.append(path)
        elif bpy.path.abspath(image.filepath) != str(current):
            image.filepath = str(current)

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
