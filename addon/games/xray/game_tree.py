r"""The game's folders on the user's disk: where the textures and the motion files of a model are found.

Files refer to others with backslashes, in any letter case, without a suffix: textures relative to ``textures``, motions
and models relative to ``meshes`` (``$game_textures$`` and ``$game_meshes$`` of the engine). A motion reference may be a
mask such as ``actors\stalker\*.omf``, whose ``*`` also matches folders, as in the engine's ``PatternMatch``. The names
come from files that may be malicious: none of them can point outside the searched folders, except through links that
the user made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from ...core.files import is_file, is_folder
from ...core.report import EACH, Report, say

TEXTURE_SUFFIXES = (".dds", ".tga", ".png")
MODEL_SUFFIX = ".ogf"
MOTION_SUFFIX = ".omf"
GAME_MATERIALS = "gamemtl.xr"
MOST_FILES = 20_000
"""Files that a search visits below one folder, so that a mask without a folder does not read a whole disk."""
MOST_MASKS = 128
"""Different masks that one tree searches for. Real models have one or two, malicious ones thousands."""


@dataclass(frozen=True)
class GameTree:
    """Folders to search for textures, models and motions.

    ``meshes`` and ``textures``: the first match is used. ``beside``: folder of the file that refers to them.
    """

    beside: Path
    meshes: tuple[Path, ...] = ()
    textures: tuple[Path, ...] = ()
    _listings: dict[Path, dict[str, list[str]]] = field(default_factory=dict, repr=False, compare=False)
    _motions: dict[Path, list[tuple[str, Path]]] = field(default_factory=dict, repr=False, compare=False)
    _found: dict[str, list[Path]] = field(default_factory=dict, repr=False, compare=False)

    def find_texture(self, name: str) -> Path | None:
        """Return the image of a texture, or None.

        Searched in the textures folders, then in the folder of the file under the last part of its name.
        """
        parts = _parts(name)
        if not parts:
            return None
        last = PurePath(parts[-1])
        if last.suffix.lower() in TEXTURE_SUFFIXES:
            parts[-1] = last.stem
        paths = (
            self._find(folder, [*parts[:-1], parts[-1] + suffix])
            for folder in self.textures
            for suffix in TEXTURE_SUFFIXES
        )
        beside = (self._find(self.beside, [parts[-1] + suffix]) for suffix in TEXTURE_SUFFIXES)
        return next((path for path in (*paths, *beside) if path is not None), None)

    def find_file(self, name: str) -> Path | None:
        """Return the file of this name in the folder ``beside``, in any letter case, or None."""
        return self._find(self.beside, [name])

    def find_below(self, name: str) -> Path | None:
        """Return the file at this path relative to the folder ``beside``, in any letter case, or None."""
        parts = _parts(name)
        return self._find(self.beside, parts) if parts else None

    def find_model(self, name: str) -> Path | None:
        """Return the model that a config names, with or without its suffix, in the ``meshes`` folders, or None."""
        parts = _parts(name)
        if not parts:
            return None
        if not parts[-1].lower().endswith(MODEL_SUFFIX):
            parts[-1] += MODEL_SUFFIX
        paths = (self._find(folder, parts) for folder in self.meshes)
        return next((path for path in paths if path is not None), None)

    def find_motions(self, reference: str) -> list[Path]:
        """Return the motion files that one motion reference of a model refers to; empty if none is found.

        A reference without a mask has one file at most: in the ``meshes`` folders, else in the folder of the model, at
        its path or under its last part.
        """
        parts = _parts(reference)
        if not parts:
            return []
        if any(character in reference for character in "*?"):
            mask = "\\".join(parts).lower()
            if mask not in self._found and len(self._found) < MOST_MASKS:
                self._found[mask] = self._find_matching(parts)
            return self._found.get(mask, [])
        if not parts[-1].lower().endswith(MOTION_SUFFIX):
            parts[-1] += MOTION_SUFFIX
        candidates = [(folder, parts) for folder in self.meshes]
        candidates += [(self.beside, parts), (self.beside, parts[-1:])]
        paths = (self._find(folder, below) for folder, below in candidates)
        return [path for path in paths if path is not None][:1]

    def _listing(self, folder: Path) -> dict[str, list[str]]:
        """Return the content of a folder, read once: name in lower case -> names in their real spelling."""
        if folder not in self._listings:
            listing: dict[str, list[str]] = {}
            try:
                names = sorted(path.name for path in folder.iterdir())
            except OSError:
                # A missing or unreadable folder counts as empty.
                names = []
            for name in names:
                listing.setdefault(name.lower(), []).append(name)
            self._listings[folder] = listing
        return self._listings[folder]

    def _find(self, folder: Path, parts: list[str]) -> Path | None:
        """Return the file at the path ``parts`` in ``folder``, in any letter case; the exact spelling is preferred."""
        names = self._listing(folder).get(parts[0].lower(), [])
        for name in sorted(names, key=lambda name: name != parts[0]):
            path = folder / name
            if len(parts) == 1:
                if is_file(path):
                    return path
            else:
                result = self._find(path, parts[1:])
                if result is not None:
                    return result
        return None

    def _find_matching(self, parts: list[str]) -> list[Path]:
        candidates = [(folder, parts) for folder in self.meshes]
        candidates += [(self.beside, parts), (self.beside, parts[-1:])]
        return next(filter(None, (self._matching(folder, below) for folder, below in candidates)), [])

    def _matching(self, folder: Path, parts: list[str]) -> list[Path]:
        """Return the motion files below ``folder`` that match a mask, sorted by name in each folder."""
        fixed = next((index for index, part in enumerate(parts) if "*" in part or "?" in part), len(parts) - 1)
        start: Path | None = folder
        for part in parts[:fixed]:
            names = self._listing(start).get(part.lower(), []) if start is not None else []
            start = next((start / name for name in names if is_folder(start / name)), None) if start else None
        if start is None:
            return []
        if start not in self._motions:
            paths = files_below(start, MOTION_SUFFIX)
            self._motions[start] = [(path.relative_to(start).as_posix(), path) for path in paths]
        mask = "/".join(parts[fixed:])
        shortest = len(mask) - mask.count("*")
        # Shorter paths cannot match. A mask of thousands of characters is never compiled.
        long_enough = [(name, path) for name, path in self._motions[start] if len(name) >= shortest]
        if not long_enough:
            return []
        matches = _path_test(mask)
        return [path for name, path in long_enough if matches(name)]


def _path_test(mask: str) -> Callable[[str], bool]:
    """Return a test whether a path matches a mask, in any letter case.

    ``*`` stands for any number of characters, ``?`` for one. Each part between asterisks is searched for once, after
    the one before it. As one regular expression, a mask with twenty asterisks would take minutes.
    """
    parts = mask.split("*")
    length = sum(map(len, parts))
    first, last = _pattern(parts[0]), _pattern(parts[-1])
    middle = [_pattern(part) for part in parts[1:-1] if part]

    def matches(path: str) -> bool:
        end = len(path) - len(parts[-1])
        if len(path) < length or (len(parts) == 1 and end):
            return False
        if first.match(path) is None or last.match(path, end) is None:
            return False
        position = len(parts[0])
        for part in middle:
            match = part.search(path, position, end)
            if match is None:
                return False
            position = match.end()
        return True

    return matches


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(
        "".join("." if character == "?" else re.escape(character) for character in text), re.IGNORECASE | re.DOTALL
    )


def files_below(folder: Path, suffix: str) -> Iterator[Path]:
    """Yield the files with this suffix (in any letter case) below a folder, among the first `MOST_FILES`."""
    visited = 0
    for here, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            visited += 1
            if visited > MOST_FILES:
                return
            if name.lower().endswith(suffix):
                yield Path(here, name)


def _parts(name: str) -> list[str]:
    """Split a name that a file stores into its parts; empty if it would point outside the searched folder."""
    parts = [part for part in name.strip().replace("/", "\\").split("\\") if part not in ("", ".")]
    if any(part == ".." or ":" in part or "\0" in part for part in parts):
        return []
    return parts


def tree_of(file: Path, game_folder: Path | None = None, textures_folder: Path | None = None) -> GameTree:
    """Return the tree that contains a file: its ancestor ``meshes`` or ``levels``, and ``textures`` beside that.

    ``game_folder`` contains ``meshes`` and ``textures`` and is searched after the file's own tree; ``textures_folder``
    is searched first.
    """
    file = file.absolute()
    meshes: list[Path] = []
    textures: list[Path] = [textures_folder] if textures_folder is not None else []
    ancestor = next((folder for folder in file.parents if folder.name.lower() == "meshes"), None)
    if ancestor is not None:
        meshes.append(ancestor)
    else:
        ancestor = next((folder for folder in file.parents if folder.name.lower() == "levels"), None)
    roots = [ancestor.parent] if ancestor is not None else []
    if game_folder is not None:
        roots.append(game_folder)
        meshes += _named(game_folder, "meshes")
    for root in roots:
        textures += _named(root, "textures")
    return GameTree(file.parent, _distinct(meshes), _distinct(textures))


def tree_over(folders: Sequence[Path], textures_folder: Path | None = None) -> GameTree:
    """Return the tree of several game folders, each of which may contain ``meshes`` and ``textures``.

    Of several files with the same name, that of the first folder is used.
    """
    meshes = [path for folder in folders for path in _named(folder, "meshes")]
    textures = [path for folder in folders for path in _named(folder, "textures")]
    textures = [textures_folder, *textures] if textures_folder is not None else textures
    return GameTree(folders[0] if folders else Path(), _distinct(meshes), _distinct(textures))


def warn_of_missing_texture(texture: str, report: Report) -> None:
    """Warn that a texture was not found in a tree."""
    report.warn(say("{:# texture is|# textures are} missing: set the game folder to see {0:it|them}", EACH), texture)


def find_game_materials(file: Path, game_folder: Path | None = None) -> Path | None:
    """Return the `gamemtl.xr` for a file of a level or a model, or None.

    Searched in the file's folder, in the folder that contains ``levels`` or ``meshes``, and in ``game_folder``.
    """
    file = file.absolute()
    root = next((folder.parent for folder in file.parents if folder.name.lower() in {"levels", "meshes"}), None)
    for folder in (file.parent, root, game_folder):
        if folder is not None:
            result = GameTree(folder).find_file(GAME_MATERIALS)
            if result is not None:
                return result
    return None


def _named(folder: Path, name: str) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.lower() == name and is_folder(path))
    except OSError:
        return []


def _distinct(folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(folders))
