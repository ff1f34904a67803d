"""A game as it is installed: where a user says that it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class InstalledGame(NamedTuple):
    """Folder of a game, of Mod Organizer, or of an unpacked one, and folders of ``mods``, of which later ones win."""

    folder: Path
    mods: tuple[Path, ...] = ()

    @property
    def by_rank(self) -> tuple[Path, ...]:
        """The folders of the mods, the one that wins first, and that of the game."""
        return (*reversed(self.mods), self.folder)

    @classmethod
    def ranked(cls, folders: Sequence[Path]) -> InstalledGame:
        """Return the game whose folders are `by_rank`."""
        *mods, folder = folders
        return cls(folder, tuple(reversed(mods)))
