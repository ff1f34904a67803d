r"""What the files of a game refer to: textures, motion files, models and configs, found in the game's tree.

Files refer to others with backslashes, in any letter case, without a suffix: textures relative to ``textures``, motions
and models relative to ``meshes`` (``$game_textures$`` and ``$game_meshes$`` of the engine). A motion reference may be a
mask such as ``actors\stalker\*.omf``, whose ``*`` also matches folders, as in the engine's ``PatternMatch``. The names
come from files that may be malicious: none of them can lead out of the tree, except through links that the user made.

Paths that are returned may lead into archives (`core.files.FileLocation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from ...core.errors import ReadError
from ...core.report import Report, say
from .. import trees
from ..trees import InstalledGame, Tree
from ..trees.masks import path_test
from ..trees.tree import key_of, missing_textures

TEXTURE_SUFFIXES = (".dds", ".tga", ".png")
MODEL_SUFFIX = ".ogf"
MOTION_SUFFIX = ".omf"
GAME_MATERIALS = "gamemtl.xr"
MOST_MASKS = 128
"""Different masks that one tree searches for. Real models have one or two, malicious ones thousands."""


@dataclass(frozen=True)
class GameTree:
    """``trees``: the game of a file, then others; the first that has a file is used. ``beside``: the folder of the file
    that refers to others, which a game's level (``level_first``) takes before its tree. ``is_listed``: the user has
    named games.
    """

    beside: Tree
    trees: tuple[Tree, ...] = ()
    level_first: bool = False
    is_listed: bool = False
    _found: dict[str, list[Path]] = field(default_factory=dict, repr=False, compare=False)
    _below: dict[tuple[int, str], list[tuple[str, Path]]] = field(default_factory=dict, repr=False, compare=False)

    def find_texture(self, name: str) -> Path | None:
        """Return the image of a texture, or None.

        Searched in the textures folders, then in the folder of the file under the last part of its name.
        """
        key = key_of(name)
        if not key:
            return None
        above, backslash, last = key.rpartition("\\")
        stem = PurePath(last).stem if PurePath(last).suffix in TEXTURE_SUFFIXES else last
        whole = above + backslash + stem
        paths = [(tree, f"textures\\{whole}") for tree in self.trees] + [(self.beside, stem)]
        if self.level_first:
            paths.insert(0, (self.beside, whole))
        return self._first((tree, path + suffix) for tree, path in paths for suffix in TEXTURE_SUFFIXES)

    def warn_of_missing(self, texture: str, report: Report) -> None:
        """Warn that a texture was not found."""
        is_known = self.is_listed or any(tree.archives for tree in self.trees)
        report.warn(missing_textures(is_game_known=is_known), texture)

    def find_file(self, name: str) -> Path | None:
        """Return the file of this name in the folder ``beside``, in any letter case, or None."""
        return self.beside.find(name)

    def find_beside(self, file: Path) -> Path | None:
        """Return a file of the folder ``beside``; if that lacks it, the one that a game has at its path, or None."""
        names = ((tree, tree.name_of(file.absolute())) for tree in self.trees)
        name = next((name.removeprefix(tree.data) for tree, name in names if name), "")
        return self.find_file(file.name) or self.find_data(name)

    def find_data(self, name: str) -> Path | None:
        """Return the file with this path below ``gamedata``, or None."""
        return self._first((tree, name) for tree in self.trees)

    def find_model(self, name: str) -> Path | None:
        """Return the model that a config names, with or without its suffix, in the ``meshes`` folders, or None."""
        key = key_of(name)
        return self.find_data(f"meshes\\{_with_suffix(key, MODEL_SUFFIX)}") if key else None

    def find_motions(self, reference: str) -> list[Path]:
        """Return the motion files that one motion reference of a model refers to; empty if none is found.

        A reference without a mask has one file at most: in the ``meshes`` folders, else in the folder of the model, at
        its path or under its last part.
        """
        key = key_of(reference)
        if not key:
            return []
        last = key.rpartition("\\")[2]
        if any(character in key for character in "*?"):
            if key not in self._found and len(self._found) < MOST_MASKS:
                candidates = [*((tree, "meshes\\", key) for tree in self.trees), (self.beside, "", key)]
                candidates.append((self.beside, "", last))
                matches = (self._matching(tree, above, mask) for tree, above, mask in candidates)
                self._found[key] = next(filter(None, matches), [])
            return self._found.get(key, [])
        key, last = _with_suffix(key, MOTION_SUFFIX), _with_suffix(last, MOTION_SUFFIX)
        names = [(tree, f"meshes\\{key}") for tree in self.trees] + [(self.beside, key), (self.beside, last)]
        path = self._first(names)
        return [path] if path is not None else []

    def report(self) -> Report:
        """Return what could not be read so far."""
        result = Report()
        for tree in (self.beside, *self.trees):
            result.include(tree.report())
        return result

    @staticmethod
    def _first(names: Iterator[tuple[Tree, str]] | Sequence[tuple[Tree, str]]) -> Path | None:
        paths = (tree.find(name) for tree, name in names)
        return next((path for path in paths if path is not None), None)

    def _matching(self, tree: Tree, above: str, mask: str) -> list[Path]:
        """Return the motion files of a tree that match a mask below a folder, sorted by name in each folder."""
        wild = min((mask.find(sign) for sign in "*?" if sign in mask), default=len(mask))  # none in the last part
        fixed = mask.rfind("\\", 0, wild) + 1
        start, rest = above + mask[:fixed], mask[fixed:]
        at = id(tree), start
        if at not in self._below:
            inside = f"{key}\\" if (key := tree.key(start)) else tree.data
            self._below[at] = [(key[len(inside) :], path) for key, path in tree.below(start, MOTION_SUFFIX).items()]
        shortest = len(rest) - rest.count("*")
        # Shorter paths cannot match. A mask of thousands of characters is never compiled.
        long_enough = [(name, path) for name, path in self._below[at] if len(name) >= shortest]
        if not long_enough:
            return []
        matches = path_test(rest)
        return [path for name, path in long_enough if matches(name)]


def _with_suffix(key: str, suffix: str) -> str:
    return key if key.endswith(suffix) else key + suffix


def tree_of(file: Path, games: Sequence[InstalledGame], report: Report) -> GameTree:
    """Return the tree around a file: of its own game, else of the folders around it, then of each of the ``games``.

    A game that cannot be read is reported and left out.
    """
    result: list[Tree] = []
    with _left_out(report):
        own = trees.tree_for(file, games)
        result += [own] if own is not None else []
    return GameTree(
        trees.folder_tree(file.absolute().parent), (*result, *_others(games, result, report)), is_listed=bool(games)
    )


def tree_over(games: Sequence[InstalledGame], report: Report) -> GameTree:
    """Return the tree of games without a file in them. A game that cannot be read is reported and left out."""
    return GameTree(trees.folder_tree(Path()), tuple(_others(games, [], report)), is_listed=bool(games))


def _others(games: Sequence[InstalledGame], known: Sequence[Tree], report: Report) -> Iterator[Tree]:
    roots = {tree.root for tree in known}
    for game in games:
        with _left_out(report):
            tree = trees.tree_at(game)
            if tree.root not in roots:
                yield tree


@contextmanager
def _left_out(report: Report) -> Iterator[None]:
    try:
        yield
    except ReadError as refusal:
        report.warn(say("a game is left out: {}", refusal.sentence()))


def find_game_materials(file: Path | None, games: Sequence[InstalledGame], report: Report) -> Path | None:
    """Return the `gamemtl.xr` for a file of a level or a model, or None: in its folder, else in the tree around it."""
    tree = tree_over(games, report) if file is None else tree_of(file, games, report)
    beside = tree.find_file(GAME_MATERIALS) if file is not None else None
    return beside or tree.find_data(GAME_MATERIALS)
