"""What is measured of archives: the index of a game's names, its search, and unpacking."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from addon.core import kept
from addon.core.binary import Reader
from addon.core.compression import lzhuf, lzo
from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats import archives, trees

from . import seconds_of

ADDITIONS = 10_000_000 / 1.3
"""Additions to a global name, in a loop, that a second of the limits stands for: machines differ in speed."""
KEYS = ("s", "st", "sta", "stal", "w", "wpn_", "dds", "_bump", "act*hero", "nothing like it")
"""Texts of the search field while somebody types."""


def _index(folder: Path) -> trees.Index:
    return trees.Index(trees.tree_at(InstalledGame(folder)))


def _indexed_again(folder: Path) -> float:
    with tempfile.TemporaryDirectory() as own:
        kept.folder = lambda: Path(own)
        _index(folder)
        archives._opened.cache_clear()  # noqa: SLF001 - as after a start of Blender
        return seconds_of(lambda: _index(folder))


def _memory(folder: Path) -> float:
    """Return the bytes that stay in use for the index and the archives' tables."""
    _index(folder)
    archives._opened.cache_clear()  # noqa: SLF001 - modules are loaded, tables are not
    tracemalloc.start()
    index = _index(folder)
    index.search(KEYS[0])
    return float(tracemalloc.get_traced_memory()[0])


def _slowest_key(folder: Path) -> float:
    index = _index(folder)
    index.search(KEYS[0])
    return max(seconds_of(partial(index.search, key)) for key in KEYS)


def _allowed(seconds: float) -> float:
    """Return how long a loop takes that takes ``seconds`` on the machine of the limits."""
    loop = compile(f"total = 0\nfor number in range({int(ADDITIONS * seconds)}): total += number", "loop", "exec")
    return seconds_of(lambda: exec(loop, {}))  # noqa: S102 - global names, as in the loop of the limits


def _tables(folder: Path) -> list[bytes]:
    """Return the compressed tables of the archives: the last chunk of each."""
    data = [path.read_bytes() for path in sorted((folder / "db").iterdir())]
    return [content[content.rindex(b"\1\0\0\x80") + 8 :] for content in data]


def _unpack(tables: list[bytes]) -> int:
    return sum(len(lzhuf.unpack(Reader(table))) for table in tables)


def _packed_entries(*paths: Path) -> list[tuple[bytes, int]]:
    """Return stored bytes and size of the compressed files above 10 kB of archives."""
    result = []
    for path in paths:
        archive = archives.open_archive(path, Report())
        entries = [(index, archive.entry(index)) for index in range(len(archive))]
        result += [
            (archive.stored_bytes(index), entry.size)
            for index, entry in entries
            if entry.method is archives.Method.LZO and entry.size > 10_000
        ]
    return result


def _unpack_lzo(*paths: Path) -> float:
    entries = _packed_entries(*paths)
    return seconds_of(lambda: [lzo.unpack(Reader(stored), size) for stored, size in entries])


MEASUREMENTS: dict[str, Callable[..., float]] = {
    # Open all archives of a game and list its names for the first time. Floor: unpack their tables.
    "index": lambda folder: seconds_of(lambda: _index(folder)),
    "unpack_tables": lambda folder: seconds_of(partial(_unpack, _tables(folder))),
    # The same with kept tables, as from the second time on. Floor: the limit of 0.15 s.
    "index_again": _indexed_again,
    "index_again_allowed": lambda _folder: _allowed(0.15),
    # Memory of the index and of the archives' tables. Floor: the limit of 60 MB.
    "memory_of_index": _memory,
    "memory_of_index_allowed": lambda _folder: 60e6,
    # The slowest search while a text is typed. Floor: the limit of 30 ms.
    "search": _slowest_key,
    "search_allowed": lambda _folder: _allowed(0.03),
    # Unpack the large files of archives. Floor: the limit of 8 MB/s.
    "unpack_lzo": _unpack_lzo,
    "lzo_allowed": lambda *paths: _allowed(sum(size for _, size in _packed_entries(*paths)) / 8e6),
    # Unpack tables. Floor: the limit of 1 MB/s.
    "tables_allowed": lambda folder: _allowed(_unpack(_tables(folder)) / 1e6),
}
"""Name -> function of one folder, or several archives, that returns seconds or bytes."""
