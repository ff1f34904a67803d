"""The environments that tests and the demo run in: found on this machine, or made in `.venv/`.

- `machine`: what this computer has and can install (Pythons, system libraries, Debian packages)
- `virtual`: Python environments with pinned packages, made whole or not at all
- `chroot`: a real Blender executable in a folder of its own (Debian's, through debootstrap)
- `blenders`: one `Blender` to call, whichever of these it comes from

Everything that cannot be had raises `Unavailable` with one sentence that says what to install.
"""

import os
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Unavailable(Exception):
    """Something this machine lacks; the message is one sentence that ends in the remedy."""


def folder() -> Path:
    """Where environments lie: `.venv` in the checkout, or a folder shared by several (MOTIONBRIDGE_ENVIRONMENTS)."""
    return Path(os.environ.get("MOTIONBRIDGE_ENVIRONMENTS") or ROOT / ".venv").expanduser().absolute()


def settings() -> dict[str, Any]:
    """The tables of pyproject.toml: requirement groups, wheels and stubs are listed there and nowhere else."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
