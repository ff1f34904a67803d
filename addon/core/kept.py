"""The extension's own folder, for what can be made again: only `ui` knows it, and sets `folder`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def nowhere() -> Path | None:
    """Return that there is no such folder."""
    return None


folder: Callable[[], Path | None] = nowhere
"""Returns the folder, None if there is none. It may be missing, full or write-protected."""
