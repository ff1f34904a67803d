"""Files of a game put into a mod, at the path at which the game takes them there before those of its archives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ..blender.properties import AddedProperties, is_local
from ..core.errors import MotionbridgeError, WriteError
from ..core.files import FileLocation, exists, is_folder, make_folder, missing_above, resolved, write_atomically
from ..core.game import InstalledGame
from ..core.report import Report, listed, say
from ..formats import archives, trees
from ..formats.trees import arma, descent3, xray
from ..formats.trees.disk import Disk, Root
from ..formats.trees.tree import NOT_SEEN, Mounted, Tree, key_of


class Copied(NamedTuple):
    """A file of a game in a mod. ``is_new``: it was not there before."""

    path: Path
    is_new: bool


class Destination(NamedTuple):
    """Where a file goes in a mod. ``findings``: why the game would not take it there."""

    path: Path
    findings: Report


def leads_into_archive(path: Path | str) -> bool:
    """Return whether a path leads into an archive, whether or not that has such a file."""
    return archives.split(path) is not None


def destination_in(mod: Path, file: Path, known: Sequence[InstalledGame]) -> Destination:
    """Return where a file of a game, in an archive or loose, goes in the folder of a mod. Nothing is written.

    Raises `WriteError` if the file belongs to no game, or if the folder can hold no loose files.
    """
    game = trees.game_of(file, known)
    if game is not None:
        tree = trees.tree_at(game if _is_of(mod, game) else game._replace(mods=(*game.mods, mod)))
        key = tree.name_of(file)
    else:
        tree, key = Tree("", mod, Disk([])), ""
        if (inside := archives.split(file)) is not None:
            key = Mounted(inside[0], (0,)).at + key_of(inside[1])
    if not key:
        remedy = "Add the game that it belongs to to the preferences"
        raise WriteError("it is not known where the game has this file", file=str(file), remedy=remedy)
    base, below = _base(mod, key, tree.kind)
    findings = Report()
    _warn(tree, key, mod, findings)
    folder, disk = base, Disk([])  # lists folders
    *folders, _ = below.split("\\")
    for part in folders:  # in the spelling of folders that exist
        folder /= next((name for name, leads_on in disk.listing(folder).get(part, ()) if leads_on), part)
    names = disk.listing(folder).get(file.name.lower(), ())
    path = folder / next((name for name, leads_on in names if not leads_on), file.name)
    if game is not None and tree.kind != arma.KIND and not _is_of(mod, game):
        own = trees.tree_at(game)
        is_inside = mod.is_relative_to(own.root) and (own.root == game.folder or not mod.is_relative_to(game.folder))
        if is_inside and own.name_of(path) != key:
            findings.warn("the game does not look there: this folder of the game is not a mod of it", str(mod))
    return Destination(path, findings)


def warn_of_new(mod: Path, report: Report) -> None:
    """Report that the folder of a mod is made when a file is written into it.

    Raises `WriteError` if it is a file, or if the folder around it is missing too.
    """
    if is_folder(mod):
        return
    if exists(mod):
        raise WriteError("this is not a folder", file=str(mod), remedy="Choose the folder of a mod")
    if not is_folder(mod.parent):
        remedy = "Check the path, or create the folder first"
        words = "the folder of the mod does not exist, nor does the one around it"
        raise WriteError(words, file=str(mod), remedy=remedy)
    report.warn("the folder of the mod does not exist and is created", str(mod))


def _is_of(mod: Path, game: InstalledGame) -> bool:
    """Return whether a folder is one of those that a game and its mods have already."""
    return any(mod in (folder, folder / "gamedata") for folder in trees.folders_of(game))


def _base(mod: Path, key: str, kind: str) -> tuple[Path, str]:
    """Return the folder below which a file of a key goes, and its path there. Raises `WriteError`."""
    names = Disk([Root(mod)]).names("")
    if kind == descent3.KIND:
        return mod, key
    if kind == arma.KIND:
        if arma.has_addons(mod):
            remedy = "Choose a folder of sources, with $PBOPREFIX$, or drive P:"
            raise WriteError("this folder has packed addons, which are never written", file=str(mod), remedy=remedy)
        roots = [root for root in arma.source_roots(mod) if key.startswith(root.mount)]
        folder, mount = max(roots, key=lambda root: len(root.mount))
        return folder, key[len(mount) :]
    is_data = mod.name.lower() == "gamedata" or ("gamedata" not in names and not names.keys().isdisjoint(xray.PARTS))
    return mod, key.removeprefix(xray.DATA) if is_data else key


def _warn(tree: Tree, key: str, mod: Path, findings: Report) -> None:
    """Report why the game would not take a loose file with a key in a mod."""
    if tree.kind == arma.KIND:
        findings.warn("the game takes loose files only with -filePatching; for others pack the addon again")
    rank = tree.rank(key)
    if rank == NOT_SEEN:
        findings.warn("the game does not look there: no line of fsgame.ltx names this folder", key)
    stronger = next((archive for archive in tree.archives if archive.rank > rank and archive.find(key)), None)
    if stronger is not None and rank != NOT_SEEN:
        findings.warn(say("the game takes the file in {} instead: it wins over loose files", str(stronger.path)))
    above = [root for root, _ in tree.disk.roots]
    first = next(tree.disk.files(key), None)
    if first is not None and not first.is_relative_to(mod):
        own = next((index for index, root in enumerate(above) if root.is_relative_to(mod)), len(above))
        if any(first.is_relative_to(root) for root in above[:own]):
            findings.warn(say("the game takes {} instead: its mod wins over this one", str(first)))


def copy_into(mod: Path, file: Path, known: Sequence[InstalledGame], report: Report) -> Copied:
    """Copy a file of a game as it is into a mod; why the game would not take it goes to ``report``. An existing file
    with the same bytes stays.

    Raises `WriteError` as `destination_in` does, and if the mod has another file there.
    """
    path, findings = destination_in(mod, file, known)
    report.include(findings)
    warn_of_new(mod, report)
    data = FileLocation(str(file)).content()
    if exists(path):
        if FileLocation(str(path)).content() != data:
            raise refused(path)
        return Copied(path, is_new=False)
    make_folder(path.parent)
    write_atomically(path, data)
    return Copied(path, is_new=True)


def refuse_others(mod: Path, files: Iterable[Path], known: Sequence[InstalledGame]) -> None:
    """Raise `WriteError` if a mod has other files where any of ``files`` go. Nothing is written."""
    others = []
    for file in files:
        with suppress(MotionbridgeError):  # which `copy_into` raises
            path, _ = destination_in(mod, file, known)
            if exists(path) and FileLocation(str(path)).content() != FileLocation(str(file)).content():
                others.append(path)
    if len(others) == 1:
        raise refused(others[0])
    if others:
        words = say("nothing is copied: the mod has other files at these paths ({})", listed(list(map(str, others)), 3))
        raise WriteError(words, file=str(mod), remedy="Import them from the mod, or choose only others")


def warn_of_own(mod: Path, files: Iterable[Path], tree: Tree, report: Report) -> None:
    """Report which of the files that the game takes from a mod differ from those that it would take without it."""
    for file in files:
        others = (path for path in tree.where(tree.name_of(file)) if not path.is_relative_to(mod))
        other = next(others, None) if file.is_relative_to(mod) else None
        if other is not None and FileLocation(str(file)).content() != FileLocation(str(other)).content():
            report.warn("the file of the mod differs from that of the game, and stays", str(file))


def refuse_missing(path: Path, known: Sequence[InstalledGame]) -> None:
    """Raise the `WriteError` for a file whose archive, mod or folder was removed, and name that; else do nothing."""
    gone = missing_above(path)
    if gone is None:
        return
    remedy = "Put it back, or export to another folder"
    if trees.kind_of_archive(gone):
        raise WriteError(say("the archive of this file is missing: {}", str(gone)), file=str(path), remedy=remedy)
    if any(gone in (mod, *mod.parents) for game in known for mod in game.mods):
        raise WriteError(say("the folder of the mod is missing: {}", str(gone)), file=str(path), remedy=remedy)
    raise WriteError(say("the folder of this file is missing: {}", str(gone)), file=str(path), remedy=remedy)


def refused(path: Path) -> WriteError:
    """Return the error for another file of the mod that would be replaced."""
    remedy = "Import it from the mod, or choose another mod"
    return WriteError("the mod has this file already, and it is another one", file=str(path), remedy=remedy)


# What was saved -------------------------------------------------------------------------------------------------------


class Saved(NamedTuple):
    """A file that Save Back wrote into a mod in place of one in an archive."""

    mod: Path
    path: Path


_saved: dict[tuple[int, str], Saved] = {}
"""Data-block and the path in an archive that it had -> the file, until Blender is closed. Undo restores the path, but
no file.
"""
_digests: dict[Path, str] = {}
"""File -> SHA-256 of what Save Back wrote there last, until Blender is closed."""


def remember_saved(holders: Iterable[bpy.types.ID | None], old: str, saved: Saved) -> None:
    """Remember that data-blocks that had the file ``old`` of an archive were saved into a mod."""
    _saved.update({(holder.session_uid, old): saved for holder in holders if holder is not None})


def saved_before(holders: Iterable[bpy.types.ID | None], path: str) -> Saved | None:
    """Return what Save Back wrote of data-blocks that have a file of an archive, which undo has restored; else None."""
    files = (_saved.get((holder.session_uid, path)) for holder in holders if holder is not None)
    return next((saved for saved in files if saved is not None), None)


def remember_written(path: Path | str, digest: str) -> None:
    """Remember the SHA-256 of what Save Back wrote."""
    _digests[resolved(path)] = digest


def is_own(path: Path) -> bool:
    """Return whether a file is as Save Back wrote it last, since Blender was started."""
    return _digests.get(resolved(path)) == FileLocation(str(path)).digest()


# What remembers the file ----------------------------------------------------------------------------------------------


def follow(added: Iterable[AddedProperties], old: str, new: Path) -> None:
    """Let everything in the .blend that remembers the file ``old`` remember ``new`` instead; linked data stays.

    ``added``: the properties of the games, whose texts are looked through.
    """
    held = [entry for part in added for entry in part.held]
    rows: Any = (getattr(bpy.data, name) for name in dir(bpy.data))
    blocks = (block for row in rows if isinstance(row, bpy.types.bpy_prop_collection) for block in row)
    wanted = _spelled(old)
    for block in filter(is_local, blocks):
        for owner, name in held:
            if isinstance(block, owner):
                _rename(getattr(block, name), wanted, str(new))


def _rename(value: Any, wanted: str, new: str) -> None:
    """Replace a path in the texts of a property group, or of each group of a collection."""
    if isinstance(value, bpy.types.bpy_prop_collection):
        for row in value:
            _rename(row, wanted, new)
    elif isinstance(value, bpy.types.PropertyGroup):
        for name, text in _texts(value):
            if text and _spelled(text) == wanted:
                setattr(value, name, bpy.path.relpath(new) if text.startswith("//") else new)
        for name, part in value.bl_rna.properties.items():
            if part.type == "COLLECTION" or (part.type == "POINTER" and name != "rna_type"):
                _rename(getattr(value, name), wanted, new)


def _texts(group: Any) -> Iterator[tuple[str, str]]:
    """Yield name and value of the texts of a property group, without its bytes."""
    for name, part in group.bl_rna.properties.items():
        if part.type == "STRING" and part.subtype != "BYTE_STRING":
            yield name, getattr(group, name)


def _spelled(path: str) -> str:
    """Return what spellings of one path have in common."""
    return os.path.normpath(bpy.path.abspath(path)).replace("\\", "/").lower()
