"""What is asked of the import of a level's file, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WHOLE, BY_SECTOR, BY_MATERIAL = "WHOLE", "SECTOR", "MATERIAL"


@dataclass(frozen=True)
class LevelOptions:
    """``split`` of collision: `WHOLE`, `BY_SECTOR`, `BY_MATERIAL`; ``weld`` of occluders: metres, None for none.

    ``game_materials`` a `gamemtl.xr`, else it is looked for around the file and in ``game_folder``. ``collection``
    names a new collection; empty for the active one.
    """

    split: str = WHOLE
    weld: float | None = None
    textures: bool = True
    game_materials: Path | None = None
    game_folder: Path | None = None
    textures_folder: Path | None = None
    collection: str = ""


@dataclass
class ImportedLevelFile:
    """``holder`` the object that remembers the file, None for errors of which there are none; ``meshes`` all of it.

    ``collections`` hold what else the file brings: the models of `.details`.
    """

    kind: str
    name: str
    holder: Any
    meshes: list[Any] = field(default_factory=list)
    counts: str = ""
    collections: list[Any] = field(default_factory=list)

    @property
    def objects(self) -> list[Any]:
        """All that was made."""
        return [made for made in dict.fromkeys([self.holder, *self.meshes]) if made is not None]
