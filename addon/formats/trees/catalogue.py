"""What a game has, as a user looks for it: the names of its files of a few kinds, searched while the user types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from .tree import Tree

MOST = 300
"""Names that a search returns: a dialog with 30,000 rows takes 56 ms to draw."""


class Found(NamedTuple):
    """What a search found: the best names, and how many there are in all."""

    names: list[str]
    total: int


@dataclass(frozen=True)
class Catalogue:
    r"""Names, sorted, as the user reads them (``meshes\actors\\hero.ogf``), and their last parts."""

    names: list[str]
    ends: list[str]

    @classmethod
    def of(cls, names: Collection[str]) -> Catalogue:
        """Return the catalogue of names in small letters, with backslashes."""
        ordered = sorted(names)
        return cls(ordered, [name.rpartition("\\")[2] for name in ordered])

    def search(self, typed: str, most: int = MOST) -> Found:
        """Return the names that contain every word that is typed: first those of files that begin with the first word,
        then those of files that contain it, then those whose folders do.
        """
        words = typed.lower().replace("/", "\\").split()
        if not words:
            return Found(self.names[:most], len(self.names))
        names, ends, first = self.names, self.ends, words[0]
        hits: Sequence[int] = range(len(names))
        for word in words:
            hits = [index for index in hits if word in names[index]]
        begin = (index for index in hits if ends[index].startswith(first))
        contain = (index for index in hits if first in ends[index] and not ends[index].startswith(first))
        others = (index for index in hits if first not in ends[index])
        best = islice(chain(begin, contain, others), most)  # each is looked through only as far as it takes
        return Found([names[index] for index in best], len(hits))


def names_in(tree: Tree, suffixes: Sequence[str]) -> dict[str, Path]:
    """Return name -> path of the files of a tree that have one of these suffixes, those that the game takes."""
    start = len(tree.data)
    return {name[start:]: path for name, path in tree.below("").items() if name.endswith(tuple(suffixes))}


def source_of(tree: Tree, path: Path) -> Path:
    """Return the archive of a tree that a file is in, else the folder of the game or a mod, else the file's own."""
    archives = {archive.path for archive in tree.archives}
    roots = {root for root, _ in tree.disk.roots}
    above = list(path.parents)
    inside = next((folder for folder in above if folder in archives), None)
    return inside or next((folder for folder in above if folder in roots), path.parent)
