r"""The files of a game as the game sees them: which of its archives, loose folders and mods has the one that counts.

A file is named by its key: small letters, backslashes, relative to the tree (``gamedata\textures\act\act_face.dds``).
Each place that has a file of this key has a rank; the highest wins. Archives are opened only as far as it takes to know
the winner: not at all where a loose file outranks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ...core.errors import ReadError
from ...core.report import Message, Report, say
from .. import archives
from .disk import Disk

Rank = tuple[int | tuple[bytes, ...], ...]
"""Higher ranks win. Ranks of one tree can be compared with each other."""
NOT_SEEN: Rank = (-2,)
"""Rank of a loose file where the game does not look."""


def key_of(name: str) -> str:
    r"""Return the key that a file or a user means by a name: in any case, with both slashes, ``\a\b`` or ``P:\a\b``.

    "" if it would lead out of the tree.
    """
    parts = [part for part in name.strip().lower().replace("/", "\\").split("\\") if part not in ("", ".")]
    if parts[:1] == ["p:"]:
        del parts[0]
    return "" if any(part == ".." or ":" in part or "\0" in part for part in parts) else "\\".join(parts)


def missing_textures(*, is_game_known: bool) -> Message:
    """Return the finding about textures that are not found, each of which is one of its places."""
    if is_game_known:
        return say("{:# texture is|# textures are} neither beside the file nor in the game", 1)
    return say("{:# texture is|# textures are} missing: add the game to the preferences to see {0:it|them}", 1)


@dataclass(eq=False)
class Mounted:
    """An archive of a tree. ``mount``: key of the folder at which the game sees it; None for what the archive says."""

    path: Path
    rank: Rank
    mount: str | None = None
    problems: Report = field(default_factory=Report, repr=False)

    @cached_property
    def _archive(self) -> archives.Archive | None:
        """The archive; None, with a note, if it cannot be read: that of another program, or an encrypted one."""
        try:
            return archives.opened(self.path)
        except (ReadError, OSError) as refusal:
            words = refusal.sentence() if isinstance(refusal, ReadError) else str(refusal)
            self.problems.note(say("an archive is left out: {}", words))
            return None

    @cached_property
    def at(self) -> str:
        """Key of the folder at which the game sees its files, with a backslash at the end, or ""."""
        if self.mount is not None or self._archive is None:
            return self.mount or ""
        own = key_of(self._archive.table.mount)
        return f"{own}\\" if own else ""

    def is_replaced(self) -> bool:
        """Return whether the file on disk is another one than the archive whose table was read."""
        archive: archives.Archive | None = self.__dict__.get("_archive")
        if archive is None:
            return False
        try:
            status = self.path.stat()
        except OSError:
            return True
        return (status.st_size, status.st_mtime_ns) != archive.status

    def find(self, key: str) -> Path | None:
        """Return the path of the file with this key, None if it has none."""
        if self._archive is None or not key.startswith(self.at):
            return None
        index = self._archive.find(key[len(self.at) :])
        return None if index is None else self._path_of(self._archive.table.names[index])

    def below(self, folder: str, suffix: str) -> Iterator[tuple[str, Path]]:
        """Yield key and path of its files below a folder, with this suffix."""
        if self._archive is None or not (folder.startswith(self.at) or self.at.startswith(folder)):
            return
        keys = self._archive.keys
        for index in self._archive.below(folder[len(self.at) :]):
            if keys[index].endswith(suffix):
                yield self.at + keys[index], self._path_of(self._archive.table.names[index])

    def keys_below(self, folder: str) -> list[str]:
        """Return the keys of its files below a folder of the tree, without that folder, in ascending order."""
        if self._archive is None or not (folder.startswith(self.at) or self.at.startswith(folder)):
            return []
        keys, inner, above = self._archive.keys, folder[len(self.at) :], self.at[len(folder) :]
        if not inner and not above:
            return keys
        indices = self._archive.below(inner)
        return [keys[index][len(inner) :] for index in indices] if inner else [above + key for key in keys]

    def _path_of(self, name: str) -> Path:
        return self.path.joinpath(*name.split("\\"))


@dataclass(eq=False)
class Tree:
    """The files of one game. ``kind``: the game, as users read it; ``root``: its folder; ``archives``: the highest rank
    first.

    ``rank``: of a loose file with this key. ``aliases``: first part of a name -> the folder that it stands for, as a
    key; a name without an alias is looked for in ``data``. ``problems``: what could not be read or is odd. ``most``:
    loose files and folders that `below` lists, 0 for all; that there are more is a problem.
    """

    kind: str
    root: Path
    disk: Disk
    archives: Sequence[Mounted] = ()
    rank: Callable[[str], Rank] = lambda _key: (0,)
    aliases: Mapping[str, str] = field(default_factory=dict)
    data: str = ""
    problems: Report = field(default_factory=Report, repr=False)
    most: int = 0

    def key(self, name: str) -> str:
        """Return the key of a file that a game's file or a user names, "" for a name that leads out of the tree."""
        key = key_of(name)
        first, backslash, rest = key.partition("\\")
        if self.data and key.startswith(self.data):
            return key
        return self.aliases[first] + rest if backslash and first in self.aliases else key and self.data + key

    def find(self, name: str) -> Path | None:
        """Return the path of the file that the game takes, which may lead into an archive; None if there is none."""
        return next((path for _, path in self._candidates(self.key(name))), None)

    def where(self, name: str) -> list[Path]:
        """Return the paths of all files with this name, the one that the game takes first."""
        return [path for _, path in self._candidates(self.key(name))]

    def _candidates(self, key: str) -> Iterator[tuple[Rank, Path]]:
        """Yield rank and path of each file with this key, the one that wins first."""
        if not key:
            return
        rank, loose = self.rank(key), self.disk.files(key)
        waiting = True
        for archive in self.archives:
            if waiting and rank >= archive.rank:
                yield from ((rank, path) for path in loose)
                waiting = False
            path = archive.find(key)
            if path is not None:
                yield archive.rank, path
        yield from ((rank, path) for path in loose)

    def name_of(self, path: Path) -> str:
        """Return the name by which the tree has a file at a path, "" if it is in none of its folders and archives."""
        inside = archives.split(path)
        if inside is not None:
            mounted = (archive for archive in self.archives if archive.path == inside[0])
            return next((archive.at + key_of(inside[1]) for archive in mounted), "")
        roots = ((path.relative_to(root), mount) for root, mount in self.disk.roots if path.is_relative_to(root))
        return next((mount + key_of(str(below)) for below, mount in roots), "")

    def is_seen(self, path: Path, name: str) -> bool:
        """Return whether the game looks where a file of this name is."""
        return archives.split(path) is not None or self.rank(self.key(name)) != NOT_SEEN

    def below(self, folder: str, suffix: str = "", most: int = 0) -> dict[str, Path]:
        """Return key -> path of the files below a folder, those that the game takes; the loose ones first.

        Raises `ReadError` for more than ``most`` loose files, if that is given.
        """
        key = self.key(folder)
        inside = f"{key}\\" if key else self.data
        result: dict[str, tuple[Rank, Path]] = {}
        try:
            for name, path in self.disk.walk(inside, most or self.most):
                if name.endswith(suffix):
                    result[name] = self.rank(name), path
        except ReadError as refusal:
            if most:
                raise
            self.problems.warn(say("{}; those further below are not found", refusal.problem), refusal.file)
        for archive in self.archives:
            for name, path in archive.below(inside, suffix):
                if name not in result or result[name][0] < archive.rank:
                    result[name] = archive.rank, path
        return {name: path for name, (_, path) in result.items()}

    def names(self, folder: str) -> set[str]:
        """Return the names, in small letters, of the files directly in a folder."""
        key = self.key(folder)
        inside = f"{key}\\" if key else self.data
        result = {name for name, (_, is_folder) in self.disk.names(inside).items() if not is_folder}
        keys = (key[len(inside) :] for archive in self.archives for key, _ in archive.below(inside, ""))
        return result | {name for name in keys if "\\" not in name}

    def report(self) -> Report:
        """Return what could not be read so far."""
        result = Report()
        for part in (self.problems, *(archive.problems for archive in self.archives)):
            result.include(part)
        return result
