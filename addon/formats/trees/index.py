"""All names of a game, to search them as a user types."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ...core.pausing import pause
from .masks import path_test
from .places import source_of
from .tree import Tree, key_of

MOST = 300
"""Most names that a search returns: a list of 30,000 rows would take 56 ms at each redraw."""
_LAST = "\U0010ffff"
_WILD = "*?"


class Found(NamedTuple):
    """The best names that match, and how many match in all (``total``)."""

    names: list[str]
    total: int


class Listing(NamedTuple):
    """Names of the folders and files directly in a folder, without it."""

    folders: list[str]
    files: list[str]


class Index:
    r"""Names of the files of a tree: those of its archives, and of the loose folders entered so far.

    A name is a key without the folder of the game's data (``textures\\act\\act_face.dds``); files outside of that
    folder have none. Making an index opens the archives and pauses between them (`core.pausing`).
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._archive_of: dict[str, int] = {}
        for number, archive in reversed(list(enumerate(tree.archives))):  # the highest rank last
            pause(1 - (number + 1) / len(tree.archives))
            self._archive_of.update(dict.fromkeys(archive.keys_below(tree.data), number))
        self._loose: set[str] = set()
        self._entered: set[str] = set()

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _names(self) -> list[str]:
        """All names, in ascending order."""
        return sorted(self._archive_of.keys() | self._loose if self._loose else self._archive_of)

    @cached_property
    def _of_kind(self) -> dict[tuple[str, ...], list[str]]:
        """Suffixes -> the names that end with one of them."""
        return {(): self._names}

    def enter(self, folder: str = "") -> Listing:
        """List a folder, "" or with a backslash at the end: loose files in it are found from then on."""
        rows = self.tree.disk.names(self.tree.data + folder)
        folders = {name for name, (_, is_folder) in rows.items() if is_folder}
        if folder not in self._entered:
            self._entered.add(folder)
            self._add({folder + name for name in rows if name not in folders})
        files = []
        at, end = (bisect_left(self._names, edge) for edge in (folder, folder + _LAST))
        while at < end:
            name, backslash, _ = self._names[at][len(folder) :].partition("\\")
            if backslash:
                folders.add(name)
                at = bisect_left(self._names, f"{folder}{name}\\{_LAST}", at, end)
            else:
                files.append(name)
                at += 1
        return Listing(sorted(folders), files)

    def enter_all(self) -> None:
        """Enter every loose folder, so that searches find all files; pauses between folders."""
        loose: set[str] = set()
        waiting = [""]
        while waiting:
            pause(0.0)
            folder = waiting.pop()
            self._entered.add(folder)
            for name, (_, is_folder) in self.tree.disk.names(self.tree.data + folder).items():
                if is_folder:
                    waiting.append(f"{folder}{name}\\")
                else:
                    loose.add(folder + name)
        self._add(loose)

    def _add(self, names: set[str]) -> None:
        self._loose |= names
        if not names <= self._archive_of.keys():
            self.__dict__.pop("_names", None)
            self.__dict__.pop("_of_kind", None)
        self.__dict__.pop("by_source", None)

    @cached_property
    def by_source(self) -> dict[Path, set[str]]:
        """Archive, or folder of the game or a mod (`source_of`) -> the names of files that the game takes from it, of
        those found so far.
        """
        result: dict[Path, set[str]] = {}
        for name, number in self._archive_of.items():
            if name not in self._loose:
                result.setdefault(self.tree.archives[number].path, set()).add(name)
        known: dict[Path, Path] = {}
        for name in self._loose:
            path = self.path(name)
            if path is not None:
                if path.parent not in known:
                    known[path.parent] = source_of(self.tree, path)
                result.setdefault(known[path.parent], set()).add(name)
        return result

    def search(
        self,
        text: str,
        suffixes: Sequence[str] = (),
        folder: str = "",
        most: int = MOST,
        among: Collection[str] | None = None,
    ) -> Found:
        """Return the names below a folder that match a text and end with one of the ``suffixes``, if there are some.
        ``among``: no other names.

        All words of the text must occur in a name, in any letter case and with both slashes. A word with ``*`` or ``?``
        is a mask for the file's name, or for the whole one if it has a slash. First come the names of which the file
        begins with the first word, then those whose file has it, then the rest.
        """
        names = self._with_suffixes(tuple(suffixes))
        if folder:
            names = names[bisect_left(names, folder) : bisect_left(names, folder + _LAST)]
        words = text.lower().replace("/", "\\").split()
        for word in words:
            names = _matching(names, word)
        if among is not None:
            names = [name for name in names if name in among]
        return Found(_best(names, words[0], most) if words else names[:most], len(names))

    def _with_suffixes(self, suffixes: tuple[str, ...]) -> list[str]:
        if suffixes not in self._of_kind:
            self._of_kind[suffixes] = [name for name in self._names if name.endswith(suffixes)]
        return self._of_kind[suffixes]

    def path(self, name: str) -> Path | None:
        """Return the path of the file that the game takes, which may lead into an archive; None if it is gone."""
        key = self.tree.data + key_of(name)
        number = self._archive_of.get(name)
        return self.tree.find(key) if number is None or name in self._loose else self.tree.archives[number].find(key)


def _matching(names: list[str], word: str) -> list[str]:
    """Return the names that have a word, or match it if it is a mask."""
    if not any(sign in word for sign in _WILD):
        return [name for name in names if word in name]
    literal = max(word.replace("?", "*").split("*"), key=len)
    matches = path_test(word)
    candidates = [name for name in names if literal in name]
    if "\\" in word:
        return [name for name in candidates if matches(name)]
    return [name for name in candidates if matches(name[name.rfind("\\") + 1 :])]


def _best(names: list[str], word: str, most: int) -> list[str]:
    """Return the first names, those whose file begins with a word first, then those whose file has it."""
    if len(names) <= 1:
        return names
    word = word.partition("*")[0].partition("?")[0]
    begin: list[str] = []
    having: list[str] = []
    others: list[str] = []
    for name in names:
        start = name.rfind("\\") + 1
        if name.startswith(word, start):
            begin.append(name)
            if len(begin) == most:
                break
        elif len(having) < most and name.find(word, start) >= 0:
            having.append(name)
        elif len(others) < most:
            others.append(name)
    return [*begin, *having, *others][:most]
