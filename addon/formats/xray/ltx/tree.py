"""Load all configs of a game: files that include each other, sections that inherit, and Anomaly's DLTX.

A game starts with ``system.ltx`` and follows its includes. Several folders can be given, as mods are layered over the
game: if several contain the same path, the first folder's file counts. A file is read only once, and again if it
changed. Of folders without ``system.ltx``, such as a mod without its game, all files are read.

Configs are untrusted: includes that leave the folders, and cycles, are refused, and masks match files only. Errors at
which the game stops but that can be skipped (a missing file or parent, a repeated section) are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from ....core.errors import ReadError
from ....core.files import FileLocation
from ....core.report import Report, say
from ...trees import Tree, folder_tree, tree_over
from .codec import parsed, scanned
from .document import Change, Head, Include, Ltx, words

CONFIG_FOLDERS = ("configs", "config", "")
"""Where configs are: Clear Sky and later, Shadow of Chernobyl, a folder with only configs."""
ROOT_FILE = "system.ltx"
SUFFIX = ".ltx"
DEEPEST = 32
"""Limit of files that include each other, and of sections that inherit from each other; the games' own have 5."""
MOST_FILES = 50_000
MOST_SECTIONS = 1_000_000
MOST_INHERITED = 1_000_000
"""Limit of keys that a section inherits, counted for each parent."""
LARGEST_FILE = 64 << 20


@dataclass(eq=False)
class ConfigFile:
    """A file that was read: ``name`` below its folder, ``path`` on disk, ``data`` its bytes."""

    name: str
    path: Path
    data: bytes = field(repr=False)

    @cached_property
    def document(self) -> Ltx:
        """Its document, made when first used."""
        return parsed(self.data)

    @cached_property
    def parts(self) -> list[Head | Include]:
        """Its sections and includes."""
        parts = scanned(self.data)
        return self.document.parts if parts is None else parts

    def place(self, line: int) -> str:
        """Return the position of a line for messages: ``configs/system.ltx, line 12``."""
        return say("{}, line {}", self.name, self.document.number(line))


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a key: ``text`` without blanks, None without ``=``. ``section``, ``file`` and ``line`` define it."""

    text: str | None
    section: str
    file: ConfigFile
    line: int
    change: Change = Change.NONE


@dataclass(slots=True)
class Section:
    """A section of the game: every header of this name with its file; changes of DLTX follow the first one."""

    name: str
    sources: list[tuple[ConfigFile, Head]]

    @property
    def parents(self) -> list[str]:
        """Sections that it inherits from; a later one overrides an earlier one. Of one named twice the last counts."""
        names: dict[str, None] = {}
        for _, head in self.sources:
            for name in head.removed:
                names.pop(name, None)
            names |= dict.fromkeys(reversed(dict.fromkeys(reversed(head.parents))))
        return list(names)


@dataclass
class Configs:
    """All loaded configs: ``sections`` by name in lower case, in the game's order, and the ``files``.

    ``without_root``: all files of folders without ``system.ltx`` were read, and what they refer to in other folders was
    not reported. ``absent``: files that a file includes, but that are missing.
    """

    sections: dict[str, Section]
    files: list[ConfigFile]
    without_root: bool = False
    absent: dict[Path, list[str]] = field(default_factory=dict, repr=False)
    _values: dict[str, dict[str, Value]] = field(default_factory=dict, repr=False)

    def section(self, name: str) -> Section:
        """Return the section of this name in any letter case. Raises `ReadError` if there is none."""
        section = self.sections.get(name.lower())
        if section is None:
            raise ReadError(say("there is no section [{}]", name), remedy="Choose one of the game's sections")
        return section

    def values(self, name: str) -> dict[str, Value]:
        """Return all keys of a section, including inherited ones.

        Raises `ReadError` for an unknown section, for one that inherits from itself, for more than `DEEPEST` levels of
        inheritance and for more than `MOST_INHERITED` inherited keys.
        """
        name = self.section(name).name
        for section in self._parents_first(name):
            if section not in self._values:
                self._values[section] = self._merged(self.sections[section])
        return self._values[name]

    def text(self, name: str, key: str, missing: str = "") -> str:
        """Return the text of one key; ``missing`` if the section has no such key or the key has no value."""
        value = self.values(name).get(key)
        return missing if value is None or value.text is None else value.text

    def missing(self, name: str) -> list[str]:
        """Return what a section lacks: parents in brackets, then files that its own or its parents' files include.

        Raises `ReadError` for an unknown section.
        """
        names = {self.section(name).name: None}
        absent: dict[str, None] = {}
        left = list(names)
        while left:
            section = self.sections[left.pop()]
            for parent in section.parents:
                if parent not in self.sections:
                    absent[f"[{parent}]"] = None
                elif parent not in names:
                    names[parent] = None
                    left.append(parent)
        files = {file.path: None for section in names for file, _ in self.sections[section].sources}
        return [*absent, *dict.fromkeys(name for path in files for name in self.absent.get(path, ()))]

    def _parents_first(self, name: str) -> list[str]:
        """Return the sections to merge before ``name``, ancestors first, and ``name`` last."""
        finished: dict[str, None] = {}
        open_names = [name]
        parents_left = [iter(self.sections[name].parents)]
        while parents_left:
            parent = next(parents_left[-1], None)
            if parent is None:
                parents_left.pop()
                finished[open_names.pop()] = None
            elif parent in open_names:
                cycle = [*open_names[open_names.index(parent) :], parent]
                self._refuse(parent, say("the section inherits from itself: {}", " > ".join(cycle)))
            elif parent in self.sections and parent not in finished and parent not in self._values:
                if len(open_names) >= DEEPEST:
                    self._refuse(name, say("sections inherit from each other more than {} deep", DEEPEST))
                open_names.append(parent)
                parents_left.append(iter(self.sections[parent].parents))
        return list(finished)

    def _refuse(self, name: str, problem: str) -> NoReturn:
        file, head = self.sections[name].sources[0]
        raise ReadError(
            problem,
            file=file.name,
            line=file.document.number(head.line),
            remedy="Remove a parent from the section's header",
        )

    def _merged(self, section: Section) -> dict[str, Value]:
        result: dict[str, Value] = {}
        work = 0
        for parent in section.parents:
            inherited = self._values.get(parent, {})
            work += len(inherited)
            if work > MOST_INHERITED:
                self._refuse(section.name, say("it inherits more than {} keys", MOST_INHERITED))
            result |= inherited
        inherited = dict(result)
        lists: dict[str, tuple[Value | None, list[Value]]] = {}
        for file, head in section.sources:
            for item in file.document.items(head):
                value = Value(item.value, section.name, file, item.line, item.change)
                if item.change in (Change.ADD, Change.REMOVE):
                    lists.setdefault(item.key, (result.get(item.key), []))[1].append(value)
                    result[item.key] = value
                    continue
                lists.pop(item.key, None)
                if item.change is Change.NONE:
                    result[item.key] = value
                else:
                    result.pop(item.key, None)
                    if item.key in inherited:
                        result[item.key] = inherited[item.key]
        return result | {key: _changed_list(old, changes) for key, (old, changes) in lists.items()}


def _changed_list(old: Value | None, changes: Sequence[Value]) -> Value:
    """Return the value of a list after DLTX adds entries to it or removes them, in the order of ``changes``."""
    removed: set[str] = set()
    added: list[list[str]] = []
    # Backwards, so that what a change removes is left out of everything before it, in linear time.
    for change in reversed(changes):
        entries = words(change.text or "")
        if change.change is Change.REMOVE:
            removed.update(entries)
        else:
            added.append([entry for entry in entries if entry not in removed])
    first = words(old.text) if old is not None and old.text else []
    kept = [entry for entry in first if entry not in removed]
    kept += [entry for entries in reversed(added) for entry in entries]
    return replace(changes[-1], text=",".join(kept))


@dataclass
class ConfigTree:
    """The ``folders`` of a game and its mods (``gamedata``, or a folder in it); earlier folders have priority.

    ``dltx``: whether the game reads ``mod_*.ltx`` and applies their changes, as Anomaly does.
    """

    folders: Sequence[Path]
    dltx: bool = True
    _outside: list[Tree] = field(default_factory=list, repr=False)
    """Folders of named files that are in none of ``folders``, searched last."""
    _files: dict[Path, tuple[tuple[int, int] | None, ConfigFile]] = field(default_factory=dict, repr=False)

    def load(self, report: Report, files: Sequence[str] = ()) -> Configs:
        """Load the configs starting at ``system.ltx``, or at ``files`` in this order, else all files of the folders.

        ``files`` are absolute, or relative to a folder or to its configs. Files that were read before and did not
        change on disk are not read again. Raises `ReadError` for missing start files, and for includes that leave the
        folders, form a cycle or are too deep.
        """
        self.tree = tree_over(self.folders)
        self._outside.clear()
        roots = [self._named(name) for name in files]
        if not roots and (root := self._in_configs((ROOT_FILE,))) is not None:
            roots = [root]
        loading = _Loading(self, report, without_root=not roots)
        for parts, path in roots:
            loading.root(parts, path)
        if not roots:
            loading.all_files(self._own_files())
        if not loading.files:
            raise ReadError(
                "the folders have no configs (.ltx)",
                file=str(self.folders[0]) if self.folders else "",
                remedy="Choose the gamedata folder of the game or of a mod, or name the files to read",
            )
        return loading.finished()

    def _in_configs(self, below: Sequence[str]) -> tuple[tuple[str, ...], Path] | None:
        """Return a file of the configs, by its parts below a folder and its path; None if no folder has it."""
        for folder in CONFIG_FOLDERS:
            parts = (folder, *below) if folder else tuple(below)
            path = self.find(parts)
            if path is not None:
                return parts, path
        return None

    def _named(self, name: str) -> tuple[tuple[str, ...], Path]:
        """Return parts and path of a file that the user names. Raises `ReadError` if it does not exist."""
        path = Path(name)
        if path.is_absolute() and FileLocation(name).is_present():
            key = self.tree.name_of(path)
            if not key:
                around = (above.parent for above in path.parents if above.name.lower() in CONFIG_FOLDERS[:2])
                self._outside.append(folder_tree(next(around, path.parent)))
                key = self._outside[-1].name_of(path)
            return tuple(key.removeprefix(self.tree.data).split("\\")), path
        parts = tuple(part for part in re.split(r"[\\/]", name) if part)
        whole = self.find(parts)
        result = (parts, whole) if whole is not None else self._in_configs(parts)
        if result is None or path.is_absolute():
            raise ReadError(
                "there is no such file in the folders",
                file=name,
                remedy="Name a file relative to a game folder or to its configs, or with its full path",
            )
        return result

    def _own_files(self) -> dict[tuple[str, ...], Path]:
        """Return parts -> path of every config of the folders, in the order of their names.

        Raises `ReadError` for more than `MOST_FILES` files of any kind.
        """
        try:
            paths: dict[str, Path] = {}
            for folder in CONFIG_FOLDERS:
                paths |= self.tree.below(folder, SUFFIX, MOST_FILES) if folder or not paths else {}
        except ReadError as refusal:
            refusal.remedy = "Choose the gamedata folder of the game or of a mod"
            raise
        return {tuple(key.removeprefix(self.tree.data).split("\\")): path for key, path in paths.items()}

    def find(self, parts: Sequence[str]) -> Path | None:
        """Return the file that counts at a path below the folders, in any letter case; None if there is none."""
        name = "\\".join(parts)
        paths = (tree.find(name) for tree in (self.tree, *self._outside))
        return next((path for path in paths if path is not None), None)

    def matching(self, folder: Sequence[str], mask: str) -> list[str]:
        """Return the names, in lower case and sorted, of the files of one folder that match a mask in lower case."""
        names = {name for tree in (self.tree, *self._outside) for name in tree.names("\\".join(folder))}
        return sorted(name for name in names if fits(mask, name))

    def file(self, path: Path, name: str) -> ConfigFile:
        """Return a file, read again only if it changed.

        Raises `ReadError` if it cannot be read or is larger than `LARGEST_FILE`.
        """
        location = FileLocation(str(path))
        stamp = location.stamp()
        known = self._files.get(path)
        if known is not None and known[0] == stamp and known[1].name == name:
            return known[1]
        if stamp is not None and stamp[1] > LARGEST_FILE and path.is_file():
            words = "it has more than {} MiB"
            raise ReadError(say(words, LARGEST_FILE >> 20), file=name, remedy="Choose a text file")
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            data = location.content()
        except OSError as wrong:
            raise ReadError(
                say("cannot read it: {}", wrong.strerror or wrong), file=str(path), remedy="Check its permissions"
            ) from wrong
        read = ConfigFile(name, path, data)
        self._files[path] = stamp, read
        return read


class _Loading:
    """One run of `ConfigTree.load`: follows includes in the game's order and collects sections.

    ``without_root``: every file is read once, in the order of names, and what other folders may have is not reported.
    """

    def __init__(self, tree: ConfigTree, report: Report, *, without_root: bool) -> None:
        self.tree = tree
        self.report = report
        self.without_root = without_root
        self.absent: dict[Path, list[str]] = {}
        self.sections: dict[str, Section] = {}
        self.files: dict[Path, ConfigFile] = {}
        self._changes: list[tuple[ConfigFile, Head]] = []
        self._include_stack: list[tuple[str, ...]] = []
        self._read_count = 0
        self._head_count = 0

    def root(self, parts: tuple[str, ...], path: Path) -> None:
        """Load a file that no other includes, and the DLTX files that belong to it."""
        self._file(parts, path)
        if self.tree.dltx:
            for name in self._changes_of(parts):
                below = (*parts[:-1], name)
                index = self.tree.find(below)
                if index is not None:
                    self._file(below, index)

    def all_files(self, paths: Mapping[tuple[str, ...], Path]) -> None:
        """Load files that no root includes; those that cannot be read are reported and left out."""
        for parts, path in paths.items():
            if path in self.files:
                continue  # another one includes it
            try:
                self._file(parts, path)
            except ReadError as refusal:
                self.report.warn(say("left out: {}", str(refusal).rstrip(".")))
                self._include_stack.clear()

    def finished(self) -> Configs:
        """Apply the changes of DLTX, report missing parents, and return the configs."""
        for file, head in self._changes:
            self._change(file, head)
        for section in self.sections.values() if not self.without_root else ():
            for parent in section.parents:
                if parent not in self.sections:
                    file, head = section.sources[0]
                    self.report.warn(say("no section [{}] to inherit from; left out", parent), file.place(head.line))
        return Configs(self.sections, list(self.files.values()), self.without_root, self.absent)

    def _changes_of(self, parts: Sequence[str]) -> Iterator[str]:
        """Yield ``mod_system_*.ltx`` for ``system.ltx``, except files of a longer name (``system_x.ltx``)."""
        stem = parts[-1].lower().removesuffix(".ltx")
        folder = parts[:-1]
        longer = [f"mod_{name.removesuffix('.ltx')}_" for name in self.tree.matching(folder, f"{stem}_*.ltx")]
        for name in self.tree.matching(folder, f"mod_{stem}_*.ltx"):
            if not name.startswith(tuple(longer)):
                yield name

    def _file(self, parts: tuple[str, ...], path: Path) -> None:
        self._read_count += 1
        file = self.tree.file(path, "/".join(parts))
        self.files[path] = file
        key = tuple(part.lower() for part in parts)
        self._include_stack.append(key)
        section: Head | None = None
        for part in file.parts:
            if isinstance(part, Include):
                self._include(file, part, parts)
                continue
            # A section is added only at its end, as in the game: files that it includes cannot inherit from it.
            self._close(file, section)
            section = part
        self._close(file, section)
        self._include_stack.pop()

    def _close(self, file: ConfigFile, head: Head | None) -> None:
        if head is None:
            return
        self._head_count += 1
        if self._head_count > MOST_SECTIONS:
            self._refuse(file, head.line, say("there are more than {} sections", MOST_SECTIONS), "Remove includes")
        if head.change:
            if self.tree.dltx:
                self._changes.append((file, head))
        elif head.name in self.sections:
            first, line = self.sections[head.name].sources[0]
            words = "{:# section occurs|# sections occur} twice, at which the game stops; the first one is read"
            if self.without_root:
                words = "{:# section is|# sections are} in several files; the first one is read"
            self.report.warn(
                say(words, 1),
                f"[{head.name}]: {first.place(line.line)}; {file.place(head.line)}",
            )
        else:
            if not (self.tree.dltx or self.without_root):
                self._expect_parents(file, head)
            self.sections[head.name] = Section(head.name, [(file, head)])

    def _expect_parents(self, file: ConfigFile, head: Head) -> None:
        late = [name for name in head.parents if name not in self.sections]
        if late:
            self.report.warn(
                "parents must come before a section; the game stops", f"{file.place(head.line)}: {late[0]}"
            )

    def _change(self, file: ConfigFile, head: Head) -> None:
        if head.change is Change.DELETE:
            self.sections.pop(head.name, None)
        elif head.name in self.sections:
            self.sections[head.name].sources.append((file, head))
        elif head.change is Change.CREATE:
            self.sections[head.name] = Section(head.name, [(file, head)])
        elif not self.without_root:
            words = "{:# section to change does|# sections to change do} not exist; left out"
            self.report.warn(say(words, 1), f"![{head.name}]: {file.place(head.line)}")

    def _include(self, file: ConfigFile, include: Include, parts: tuple[str, ...]) -> None:
        depth = len(self._include_stack)
        try:
            self._follow(file, include, parts)
        except ReadError:
            if not self.without_root:
                raise
            del self._include_stack[depth:]
            self.absent.setdefault(file.path, []).append(include.path)

    def _follow(self, file: ConfigFile, include: Include, parts: tuple[str, ...]) -> None:
        """Load the files of an include. Raises `ReadError`."""
        where = include.line
        wanted = self._resolved(file, include, parts[:-1])
        if len(self._include_stack) >= DEEPEST:
            self._refuse(file, where, say("files include each other more than {} deep", DEEPEST), "Remove this include")
        names = [wanted[-1]]
        if any(sign in wanted[-1] for sign in "*?"):
            names = self.tree.matching(wanted[:-1], wanted[-1].lower())
            words = "{:# include has|# includes have} a mask, which Clear Sky and Call of Pripyat do not support"
            self.report.note(say(words, 1), file.place(where))
        for name in names:
            below = (*wanted[:-1], name)
            path = self.tree.find(below)
            if path is None:
                self.absent.setdefault(file.path, []).append(include.path)
                if not self.without_root:
                    self.report.warn(say("there is no file {!r} to include; left out", include.path), file.place(where))
                return
            if self.without_root and path in self.files:
                continue
            if tuple(part.lower() for part in below) in self._include_stack:
                self._refuse(file, where, say("the file {!r} includes itself", "/".join(below)), "Remove this include")
            if self._read_count >= MOST_FILES:
                self._refuse(file, where, say("more than {} files are included", MOST_FILES), "Remove includes")
            self._file(below, path)

    def _resolved(self, file: ConfigFile, include: Include, folder: Sequence[str]) -> tuple[str, ...]:
        """Return the parts of an include's path below the folders. Raises `ReadError` for paths that leave them."""
        where = include.line
        result = list(folder)
        for part in re.split(r"[\\/]+", include.path):
            if part == "..":
                if not result:
                    words = "{!r} leads out of the game's folders"
                    self._refuse(file, where, say(words, include.path), "Correct the path")
                result.pop()
            elif part not in ("", "."):
                result.append(part)
        if ":" in include.path:
            self._refuse(file, where, say("{!r} names a drive", include.path), "Write the path relative to this file")
        if any(sign in part for part in result[:-1] for sign in "*?"):
            words = "{!r} has a mask for folders"
            self._refuse(file, where, say(words, include.path), "Use * and ? in the file's name only")
        if not include.path.strip("\\/. "):
            self._refuse(file, where, say("{!r} names no file", include.path), "Write the name of a file")
        return tuple(result)

    def _refuse(self, file: ConfigFile, line: int, problem: str, remedy: str) -> NoReturn:
        raise ReadError(problem, file=file.name, line=file.document.number(line), remedy=remedy)


def fits(mask: str, name: str) -> bool:
    """Return whether a mask with ``*`` (any text) and ``?`` (one character) matches a name.

    The time is at most proportional to the product of both lengths.
    """
    mask_index = name_index = 0
    star, star_end = -1, 0
    while name_index < len(name):
        if mask_index < len(mask) and mask[mask_index] == "*":
            star, star_end = mask_index, name_index
            mask_index += 1
        elif mask_index < len(mask) and mask[mask_index] in ("?", name[name_index]):
            mask_index, name_index = mask_index + 1, name_index + 1
        elif star >= 0:
            # Let the last star match one more character.
            star_end += 1
            mask_index, name_index = star + 1, star_end
        else:
            return False
    return not mask[mask_index:].strip("*")
