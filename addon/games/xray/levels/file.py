"""What comes of the import of a level's file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ImportedLevelFile:
    """``holder`` the object that remembers the file, None for errors of which there are none; ``meshes`` all of it.

    ``collections`` hold what else the file brings: the models of `.details`; the visuals of a level by sector, which
    ``held`` lists. ``excluded``: the collection of the kind is excluded from the view layer.
    """

    kind: str
    name: str
    holder: Any
    meshes: list[Any] = field(default_factory=list)
    counts: str = ""
    collections: list[Any] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)
    excluded: bool = False

    @property
    def objects(self) -> list[Any]:
        """All that was made and is in no collection yet."""
        return [made for made in dict.fromkeys([self.holder, *self.meshes]) if made is not None]
