"""Files of a game put into a mod, at the path at which the game takes them there before those of its archives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ..blender.properties import AddedProperties, is_local
from ..core.errors import WriteError
from ..core.files import FileLocation, exists, make_folder, write_atomically
from ..core.game import InstalledGame
from ..core.report import Report, say
from ..formats import archives, trees
from ..formats.trees import arma, descent3, xray
from ..formats.trees.disk import Disk, Root
from ..formats.trees.tree import NOT_SEEN, Mounted, Tree, key_of


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
        folder /= next((name for name, is_folder in disk.listing(folder).get(part, ()) if is_folder), part)
    names = disk.listing(folder).get(file.name.lower(), ())
    return Destination(folder / next((name for name, is_folder in names if not is_folder), file.name), findings)


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


def copy_into(mod: Path, file: Path, known: Sequence[InstalledGame], report: Report) -> Path:
    """Copy a file of a game as it is into a mod and return its path there; why the game would not take it goes to
    ``report``. An existing file with the same bytes stays.

    Raises `WriteError` as `destination_in` does, and if the mod has another file there.
    """
    path, findings = destination_in(mod, file, known)
    report.include(findings)
    data = FileLocation(str(file)).content()
    if exists(path):
        if FileLocation(str(path)).content() != data:
            raise refused(path)
        return path
    make_folder(path.parent)
    write_atomically(path, data)
    return path


def refused(path: Path) -> WriteError:
    """Return the error for another file of the mod that would be replaced."""
    remedy = "Import it from the mod, or choose another mod"
    return WriteError("the mod has this file already, and it is another one", file=str(path), remedy=remedy)


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
