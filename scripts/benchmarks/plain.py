"""What is measured without a Blender; each entry of the table runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from addon.cli import main as run_command_line
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats import detect
from addon.formats.xray.ltx.tree import ConfigTree

from . import LIMIT, ROOT, installed, seconds_of


def _module_of(path: Path) -> Any:
    result = detect(path, b"")
    if result is None:
        raise ValueError(f"{path} is of no known format")
    return result.module


def _document(module: Any, path: Path) -> Any:
    return module.read(read_file(path), path.name, Report())


def _written(path: Path, function: str) -> float:
    module = _module_of(path)
    return seconds_of(partial(getattr(module, function), _document(module, path)))


def _checked(path: Path) -> object:
    data = path.read_bytes()
    return zlib.crc32(data), np.frombuffer(data, "<i2", len(data) // 2)


def _copied(data: memoryview) -> bytes:
    return b"".join([data[at : at + 1024] for at in range(0, len(data), 1024)])


def _memory(path: Path) -> float:
    module = _module_of(path)
    tracemalloc.start()
    document = _document(module, path)
    peak = tracemalloc.get_traced_memory()[1]
    del document
    return float(peak)


def _verified(*folders: Path) -> float:
    output, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115, PTH123 (closed when the process ends)
    try:
        return seconds_of(lambda: run_command_line(["verify", *map(str, folders)]))
    finally:
        sys.stdout = output


def _checked_twice(*folders: Path) -> None:
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        zlib.crc32(data)
        zlib.crc32(data)


def _indexed_again(game: Path) -> float:
    tree = ConfigTree([game])
    tree.load(Report())
    return seconds_of(lambda: tree.load(Report()))


def _run(*arguments: str) -> float:
    program, quiet = [sys.executable, *arguments], subprocess.DEVNULL
    return seconds_of(lambda: subprocess.run(program, cwd=ROOT, check=True, stdout=quiet, timeout=LIMIT), perf_counter)


MEASUREMENTS: dict[str, Callable[..., float]] = {
    # Read a file from disk to a document. Floor: read the bytes, compute one checksum, view them as an array of keys.
    "read": lambda path: seconds_of(partial(_document, _module_of(path), path)),
    "check_bytes": lambda path: seconds_of(partial(_checked, path)),
    # Write an unedited document to bytes, or every field from its typed value. Floor: copy all bytes once, in blocks.
    "write": lambda path: _written(path, "write"),
    "recompose": lambda path: _written(path, "recompose"),
    "copy_bytes": lambda path: seconds_of(partial(_copied, memoryview(path.read_bytes()))),
    # Peak memory while reading, in bytes, including the bytes of the file. Floor: the size of the file.
    "memory": _memory,
    "size": lambda path: float(path.stat().st_size),
    # Run the ``verify`` command on folders. Floor: read every file and compute two checksums.
    "verify": _verified,
    "check_folders": lambda *folders: seconds_of(partial(_checked_twice, *folders)),
    # Index all sections of a game folder's configs, and again when no file has changed. Floor: read all lines.
    "index_configs": lambda game: seconds_of(lambda: ConfigTree([game]).load(Report())),
    "index_configs_again": _indexed_again,
    "read_configs": lambda game: seconds_of(lambda: [path.read_bytes().splitlines() for path in game.rglob("*.ltx")]),
    # Run the command line until it has printed the summary of a small file. Floor: start Python and import numpy.
    "start_up": lambda path: _run("-m", "addon.cli", "info", str(path)),
    "start_up_floor": lambda _path: _run("-c", "import numpy"),
    **installed.MEASUREMENTS,
}
"""Name -> function of one file, or several folders, that returns seconds or bytes."""
