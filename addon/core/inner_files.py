"""Files inside of archives, for `core.files`: which archives there are, only `formats` knows.

It sets `find` and `is_archive`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class InnerFile(Protocol):
    """A file inside of an archive."""

    @property
    def path(self) -> str:
        """Path that leads to it, the name as the archive spells it."""

    @property
    def stamp(self) -> tuple[int, int]:
        """Time (ns) and size of the archive, which differ if it was replaced."""

    def read(self) -> bytes:
        """Return its bytes. Raises `ReadError` if they are damaged."""


class Finder(Protocol):
    """Finds files inside of archives."""

    def __call__(self, path: str) -> InnerFile | None:
        """Return the file to which a path leads, None if it leads into no archive or to no file in it.

        Raises `ReadError` if the archive cannot be read.
        """


def _none(path: str) -> InnerFile | None:
    return None


def _never(_path: str, _only_read: bool) -> bool:
    return False


find: Finder = _none
is_archive: Callable[[str, bool], bool] = _never
"""Returns whether a file is an archive; with True, whether it is one of a kind that is never written."""


def always() -> bool:
    """Return that images are saved."""
    return True


are_saved: Callable[[], bool] = always
"""Returns whether new images out of archives are saved in the .blend: the preferences know, and `ui` sets it."""
