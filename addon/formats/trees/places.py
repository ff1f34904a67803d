"""Where the files of a tree are: their archive or folder, and their first bytes."""

from __future__ import annotations

from pathlib import Path

from ...core.files import opened_for_reading, read_file
from .. import archives
from .disk import Disk
from .tree import Mounted, Tree


def head_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, of one that is stored uncompressed in an archive without reading the rest."""
    inner = archives.find_inner(path)
    entry = inner.archive.entry(inner.number) if inner is not None else None
    if inner is None or entry is None or entry.method is not archives.Method.STORED:
        return read_file(path, size)
    with opened_for_reading(inner.archive.path) as file:
        file.seek(entry.offset)
        return file.read(min(size, entry.stored))


def archive_tree(path: Path) -> Tree:
    """Return the tree of what one archive has."""
    return Tree("", path, Disk([]), [Mounted(path, (0,), "")])


def source_of(tree: Tree, path: Path) -> Path:
    """Return the archive of a tree that a file is in, else the folder of the game or a mod, else the file's own."""
    archives = {archive.path for archive in tree.archives}
    roots = {root for root, _ in tree.disk.roots}
    above = list(path.parents)
    inside = next((folder for folder in above if folder in archives), None)
    return inside or next((folder for folder in above if folder in roots), path.parent)
