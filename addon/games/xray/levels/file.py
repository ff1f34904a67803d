"""What comes of the import of a level's file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
