"""Tables of archives, kept on disk so that a game's archives open at once the next time.

Unpacking the table of a large archive takes seconds. A kept table is a file of its own, named after the archive's path;
it counts only while the archive has the size and the time that it had. A kept table that is damaged, and a folder
(`core.kept`) that cannot be written, are as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from ...core import kept
from .table import NUMBERS, Table

WORTH = 100
"""Files of an archive from which on its table is kept: smaller ones are read as fast from the archive."""
MOST = 5_000
"""Most kept tables; those that were written first are removed."""
_MARK = b"motionbridge table 1\n"
_TEXTS = ("kind", "mount", "properties", "end", "left_out", "first_counts", "has_sha1")
"""Fields of a `Table` that the head holds as they are."""


def load(path: Path, status: tuple[int, int]) -> Table | None:
    """Return the table that is kept of an archive with this ``status`` (size and time in ns), None if there is none."""
    file = _file_of(path)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        data = file.read_bytes() if file is not None else b""
        start = len(_MARK) + 8
        checksum, length = (int.from_bytes(data[at : at + 4], "little") for at in (start - 8, start - 4))
        if not data.startswith(_MARK) or zlib.crc32(memoryview(data)[start - 4 :]) != checksum:
            return None
        head = json.loads(data[start : start + length])
        if (head["path"], head["size"], head["time"]) != (_absolute(path), *status):
            return None
        numbers = start + length + head["names"]
        names = data[start + length : numbers].decode("utf-8", "surrogatepass").split("\n")
        fields = {name: head[name] for name in _TEXTS}
        return Table(names=names, numbers=np.frombuffer(data, NUMBERS, len(names), numbers), **fields)
    return None


def store(path: Path, status: tuple[int, int], table: Table) -> None:
    """Keep the table of an archive, if it is large enough and there is a folder for it."""
    file = _file_of(path)
    if file is None or len(table.names) < WORTH:
        return
    names = "\n".join(table.names).encode("utf-8", "surrogatepass")
    size, time = status
    head = {"path": _absolute(path), "size": size, "time": time, "names": len(names)}
    packed = json.dumps(head | {name: getattr(table, name) for name in _TEXTS}).encode()
    body = b"".join([len(packed).to_bytes(4, "little"), packed, names, table.numbers.tobytes()])
    with contextlib.suppress(OSError):  # a full or a read-only disk: the archive is read again the next time
        _make_room(file.parent)
        file.write_bytes(_MARK + zlib.crc32(body).to_bytes(4, "little") + body)


def _file_of(path: Path) -> Path | None:
    own = kept.folder()
    name = hashlib.blake2b(_absolute(path).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return own / "archives" / f"{name}.table" if own is not None else None


def _absolute(path: Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 (links stay)


@cache
def _make_room(kept_in: Path) -> None:
    """Make the folder, and remove the kept tables that are too many; once for each start."""
    kept_in.mkdir(parents=True, exist_ok=True)
    files = sorted(kept_in.glob("*.table"), key=lambda file: file.stat().st_mtime)
    for file in files[: -MOST // 2] if len(files) > MOST else []:
        file.unlink()
