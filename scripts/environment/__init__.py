"""The environments in which tests and the demo run: found on this machine, or created in `.venv/`.

- `machine`: what this computer has and can install (Pythons, system libraries, Debian packages)
- `virtual`: Python environments with pinned packages, created completely or not at all
- `chroot`: a real Blender executable in a separate folder (Debian's, through debootstrap)
- `blenders`: one `Blender` to call, whichever of these provides it

If something cannot be provided, `Unavailable` is raised with one sentence that says what to install.
"""

import os
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Unavailable(Exception):
    """Something that this machine lacks; the message is one sentence that ends with the remedy."""


def folder() -> Path:
    """Return the folder of the environments: `.venv` in the checkout, or a shared one (MOTIONBRIDGE_ENVIRONMENTS)."""
    return Path(os.environ.get("MOTIONBRIDGE_ENVIRONMENTS") or ROOT / ".venv").expanduser().absolute()


def settings() -> dict[str, Any]:
    """Return the tables of pyproject.toml, the only place that lists requirement groups, wheels and stubs."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
