"""Paths to choose from while one is typed, for fields of dialogs in which no file browser can be opened.

The button of a file path opens a file browser, which closes a pop-up and is refused inside of another file browser.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import bpy

MOST_LISTED = 200


def offered(*suffixes: str) -> Callable[[Any, Any, str], Iterable[str]]:
    """A `search` of a string property: folders, and files with one of ``suffixes`` (folders alone without any).

    What is typed is completed in its folder; while nothing is typed, the folder of the dialog's file counts.
    """

    def search(operator: Any, context: bpy.types.Context, typed: str) -> list[str]:
        folder, _, begun = typed.replace("\\", "/").rpartition("/")
        base = Path(bpy.path.abspath(f"{folder}/")) if "/" in typed.replace("\\", "/") else _beside(operator, context)
        return list(islice(_entries(base, begun.lower(), suffixes), MOST_LISTED))

    return search


def _entries(folder: Path, begun: str, suffixes: Iterable[str]) -> Iterator[str]:
    try:
        found = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError:
        return
    for path in found:
        if begun not in path.name.lower() or path.name.startswith("."):
            continue
        if path.suffix.lower() in suffixes:
            yield str(path)
        elif path.is_dir():
            yield f"{path}{os.sep}"


def _beside(operator: Any, context: bpy.types.Context) -> Path:
    """The folder that a file browser shows, or that of the files of a dialog."""
    browser = getattr(getattr(context, "space_data", None), "params", None)
    if shown := getattr(browser, "directory", b""):
        return Path(os.fsdecode(shown))
    if folder := getattr(operator, "directory", ""):
        return Path(bpy.path.abspath(folder))
    path = getattr(operator, "filepath", "")
    return Path(bpy.path.abspath(path)).parent if path else Path.home()
