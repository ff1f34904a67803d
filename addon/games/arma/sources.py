r"""Files that a file of Arma refers to: beside it, in its project, and in the games of the preferences.

The game finds a file by its addon's prefix and the path below the addon's folder. The tools know the prefix from a
file ``$PBOPREFIX$`` in that folder; without one it is the folder's path on the work drive, or else the folder's name.
Nothing above the project is looked at, since a file from a stranger may contain any path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath

from ...core.errors import ReadError
from ...core.game import InstalledGame
from ...formats import archives, trees
from ...formats.trees import arma
from ...formats.trees.disk import Disk, Root, small_names
from ...formats.trees.tree import Tree, key_of

WORK_DRIVE = "p:"
"""The drive that the tools use as the game's root; paths in files may start with it."""
PROJECT_MARKS = frozenset({".git", ".hemtt", "mod.cpp"})
"""Lower-case names of files that mark their folder as that of a project; `arma.MARKS` mark that of an addon."""
MOST_FOLDERS = 16
"""Largest number of folders used from a path, and of parent folders searched around a file."""


class Sources:
    """``file``: the one that refers to others; ``games``: searched after its project, the drive P: of the tools is one.

    ``folders``: that of the file and those around it up to its project's, the nearest first.
    """

    def __init__(self, file: Path, games: Sequence[InstalledGame]) -> None:
        self.file, self.games = file.absolute(), games
        own, work = self.file.parent, work_folders(games)
        self.folders = [own] if archives.split(own) is not None else _folders_of_project(own, work)
        self._beside = trees.folder_tree(own)
        self._project = Tree("", own, Disk([Root(folder) for folder in dict.fromkeys([*self.folders, *work])]))

    def find(self, name: str, suffixes: Sequence[str]) -> Path | None:
        """Return the file that a path in the game names, with the first of ``suffixes`` that exists; None if none does.

        Only its author knows where an addon without a prefix is, so folders of the project are searched for each end of
        the path; a game has the whole path.
        """
        path = PurePosixPath(name.replace("\\", "/").lower())
        if not path.stem:
            return None
        names = ((tree, key + suffix) for tree, key in self._candidates(path) for suffix in suffixes)
        paths = (tree.find(key) for tree, key in names)
        return next((result for result in paths if result is not None), None)

    def beside(self, name: str) -> Path | None:
        """Return the file with this name, in any letter case, in the file's folder, or None."""
        return self._beside.find(name)

    def above(self, *names: str) -> Iterator[Path]:
        """Yield the files with these names in the file's folder, then in those around it in its project and game."""
        yield from self._present((trees.folder_tree(folder), name) for folder in self.folders for name in names)
        own = next(filter(None, (tree.name_of(self.file) for tree in self._trees)), "")
        inside = list(PureWindowsPath(own).parents)[:-1][:MOST_FOLDERS]
        yield from self._present(
            (tree, f"{folder}\\{name}") for folder in inside for name in names for tree in self._trees
        )

    @staticmethod
    def _present(names: Iterator[tuple[Tree, str]]) -> Iterator[Path]:
        paths = (tree.find(name) for tree, name in names)
        return (path for path in paths if path is not None)

    def _candidates(self, path: PurePosixPath) -> Iterator[tuple[Tree, str]]:
        """Yield trees and the name without suffix that a file may have in them, the best first."""
        whole, stem = str(path.with_name(path.stem)), path.stem
        yield from ((self._beside, stem), (self._beside, f"data\\{stem}"))
        yield self._addons, whole
        # ``P:\\tag\\addon\\data\\a`` may be in tag/addon/data or, for the addon's author, in addon/data.
        folders = [part for part in path.parent.parts if part not in ("/", "//", "..", ".", WORK_DRIVE)][-MOST_FOLDERS:]
        if key_of("\\".join(folders)):  # not on another drive
            yield from ((self._project, "\\".join([*folders[start:], stem])) for start in range(len(folders)))
        yield from ((tree, whole) for tree in self._trees)

    @property
    def is_game_known(self) -> bool:
        """Whether a game was named or has the file in one of its archives."""
        return bool(self.games) or any(tree.archives for tree in self._trees)

    @cached_property
    def _addons(self) -> Tree:
        """The addons of the project, at the prefixes of their sources."""
        project = self.folders[-1]
        roots = [root for root in arma.source_roots(project) if root.mount] if _marks_of(project) else []
        return Tree(arma.KIND, project, Disk(roots))

    @cached_property
    def _trees(self) -> list[Tree]:
        """The game of the file, then the others that can be read."""
        result = []
        with suppress(ReadError):
            own = trees.tree_for(self.file, self.games)
            result += [own] if own is not None else []
        for game in self.games:
            with suppress(ReadError):
                result.append(trees.tree_at(game))
        return result


def work_folders(games: Sequence[InstalledGame]) -> list[Path]:
    """Return the folders of sources among the games: those that the tools mount as drive P:."""
    return [game.folder.absolute() for game in games if not arma.has_addons(game.folder)]


def _folders_of_project(own: Path, work: Sequence[Path]) -> list[Path]:
    """Return a folder and its parents up to that of the project or the drive P:."""
    around = [own, *own.parents][: MOST_FOLDERS + 1]
    last = next((index for index, folder in enumerate(around) if folder in work), None)
    if last is None:
        marks = [_marks_of(folder) for folder in around]
        last = next((index for index, own_marks in enumerate(marks) if own_marks & PROJECT_MARKS), None)
        if last is None:
            last = max((index for index, own_marks in enumerate(marks) if own_marks), default=0)
    return around[: last + 1]


def _marks_of(folder: Path) -> set[str]:
    """Return the marks of projects and addons in a folder; of a disk's root those of a project if it is the work drive,
    else none.
    """
    if folder == folder.parent:
        return set(PROJECT_MARKS) if folder.drive.lower() == WORK_DRIVE else set()
    return small_names(folder) & (PROJECT_MARKS | arma.MARKS)
