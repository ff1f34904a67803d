"""A real Blender executable: Debian's, in a folder with a small Debian of its own. Needs root.

Nothing stays mounted inside, so deleting the folder is always safe: debootstrap's own mounts live in a mount
namespace that ends with it. Sources and game files are copied in for each run instead.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import Unavailable, folder, machine, virtual

SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
PACKAGES = [
    "blender",
    # Debian's package does not ask for what Blender's own scripts import
    "python3-numpy",
    "python3-requests",
    "python3-zstandard",
    # Blender uses Debian's Python, and so do the tests in it
    "python3-pytest",
    "python3-hypothesis",
]
# Services must not start inside, and nobody answers questions.
POLICY = "#!/bin/sh\nexit 101\n"
SURROUNDINGS = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
LIMIT = 1500  # seconds


def possible() -> None:
    """Raises `Unavailable` where no chroot can be made: that is a gap to report, and not a failure of the set-up."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise Unavailable("A real Blender executable in a chroot needs root on Linux: run as root, or name a Blender.")
    if shutil.which("debootstrap") is None and shutil.which("apt-get") is None:
        raise Unavailable("A real Blender executable in a chroot needs debootstrap: install it.")


def ready() -> Path:
    """The folder of the chroot with Blender in it, made where it is not there yet."""
    possible()
    place = folder() / f"chroot-{SUITE}"
    with virtual.building(place, {"packages": PACKAGES, "suite": SUITE}) as needed:
        if needed:
            if shutil.which("debootstrap") is None:
                machine.install(["debootstrap"])
            print(f"making {place} (Debian {SUITE}, {' '.join(PACKAGES)})", flush=True)
            _make(place)
    return place


def entering(place: Path, surroundings: dict[str, str]) -> list[str]:
    """The beginning of a command line that runs inside, with nothing of this machine's environment."""
    variables = SURROUNDINGS | surroundings
    return ["chroot", str(place), "/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items())]


def _make(place: Path) -> None:
    place.mkdir(parents=True)
    _run(["debootstrap", "--variant=minbase", SUITE, str(place), MIRROR])
    policy = place / "usr/sbin/policy-rc.d"
    policy.write_text(POLICY, encoding="utf-8")
    policy.chmod(0o755)
    shutil.copy("/etc/resolv.conf", place / "etc/resolv.conf")
    inside = entering(place, {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")})
    _run([*inside, "apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES])
    _run([*inside, "apt-get", "clean"])


def _run(command: Sequence[str]) -> None:
    """Runs in a mount namespace of its own, so that whatever it mounts is gone when it ends, however it ends."""
    apart = ["unshare", "--mount", "--propagation", "private"]
    alone = subprocess.run([*apart, "true"], capture_output=True, check=False).returncode == 0
    done = subprocess.run(
        [*(apart if alone else []), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-4000:])
        raise RuntimeError(f"setting up the chroot failed: {' '.join(command[:2])} left with status {done.returncode}")
