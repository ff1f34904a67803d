"""A real window for a Blender in a chroot: a virtual screen, software rendering, and tools for screenshots."""

import shutil
from pathlib import Path

from . import Unavailable, chroot
from .blenders import Session

PACKAGES = [
    "xvfb", "xauth", "imagemagick", "libgl1-mesa-dri", "libglx-mesa0", "libegl1", "libegl-mesa0", "fonts-dejavu-core",
]  # fmt: skip
SMALL = (800, 600)
"""Size of the window for tests, small because drawing without a graphics card takes most of the time."""


def ready(folder: Path) -> None:
    """Install missing packages for a window in the chroot ``folder``. Raises `Unavailable`."""
    try:
        chroot.install(folder, PACKAGES)
    except RuntimeError as failed:
        raise Unavailable(f"No virtual screen in {folder} ({failed}): check the network connection.") from failed


def call(width: int, height: int) -> list[str]:
    """Return the start of a command line, inside the chroot, that starts Blender in a window of that size."""
    # Abstract sockets are shared by all chroots of the machine: two screens with one number would collide.
    screen = ["xvfb-run", "-a", "-s", f"-screen 0 {width}x{height}x24 -nolisten local"]
    size = ["--window-geometry", "0", "0", str(width), str(height)]
    return [*screen, "blender", "--factory-startup", "--enable-event-simulate", "--python-exit-code", "1", *size]


def test_call(session: Session, results: Path) -> list[str]:
    """Return the command line that plays the scenes of `tests/window` in the session's chroot. Raises `Unavailable`."""
    folder = session.blender.root
    if folder is None:
        raise Unavailable("Windows are tested in a chroot: name no executable.")
    ready(folder)
    variables = session.variables | {"LIBGL_ALWAYS_SOFTWARE": "1"}
    script = str(session.root / "tests/window/run.py")
    return [*chroot.entering(folder, variables), *call(*SMALL), "--python", script, "--", str(results)]


def keep_pictures(session: Session, target: Path) -> list[Path]:
    """Move screenshots of failed scenes out of the session's folder, which is removed later. Returns their paths."""
    shutil.rmtree(target, ignore_errors=True)
    result = sorted(session.outside.glob("*.png"))
    if result:
        target.mkdir(parents=True)
    return [Path(shutil.move(picture, target / picture.name)) for picture in result]
