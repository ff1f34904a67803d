"""What this computer has and can install: Pythons, shared libraries, Debian packages."""

import ctypes
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from . import Unavailable

# System libraries that the bpy wheels load on Linux, and the Debian package of each. libEGL is not needed to import
# bpy, but without it the process aborts when rendering with Workbench.
SYSTEM_LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libSM.so.6": "libsm6",
    "libXi.so.6": "libxi6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libgomp.so.1": "libgomp1",
    "libEGL.so.1": "libegl1",
}

_apt = threading.Lock()


def can_install() -> bool:
    """Return whether Debian packages can be installed here: by root, with apt-get."""
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: Sequence[str]) -> None:
    """Install Debian packages; package lists are only fetched if they are missing or outdated. Raises `Unavailable`."""
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "-q", "--no-install-recommends", *packages]
    surroundings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    with _apt:
        done = _quiet(command, surroundings)
        if done.returncode:
            _quiet(["apt-get", "-o", "DPkg::Lock::Timeout=300", "update", "-q"], surroundings)
            done = _quiet(command, surroundings)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"apt-get cannot install {' '.join(packages)} ({reason}): install them by hand.")


def _quiet(command: Sequence[str], surroundings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False
    )


def require_system_libraries() -> None:
    """Install missing system libraries that a bpy wheel loads. Raises `Unavailable` if this is impossible."""
    if sys.platform != "linux":
        return  # wheels for Windows and macOS contain everything
    missing = [package for library, package in SYSTEM_LIBRARIES.items() if not _loads(library)]
    if not missing:
        return
    if not can_install():
        raise Unavailable(f"Blender needs system libraries: run `sudo apt-get install {' '.join(missing)}`.")
    install(missing)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def python(version: str | None = None) -> Path:
    """Return a Python that can create environments: the running one if it has the `version` ("3.11"), or another.

    Raises `Unavailable`.
    """
    if version is None or version == version_of_this():
        _require_venv()
        return Path(sys.executable)
    for candidate in _candidates(version):
        if _works(candidate, version):
            return candidate
    raise Unavailable(f"Python {version} is needed and not on this machine: install it and make it reachable on PATH.")


def version_of_this() -> str:
    """Return the version of the running Python, such as "3.11"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        result = shutil.which(name, path=directory) if directory else None
        if result:
            yield Path(result)
    # A pyenv shim on PATH only runs the selected version; all versions are in this folder.
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted(versions.glob(f"{version}.*/bin/{name}"), reverse=True)


@cache
def _works(candidate: Path, version: str) -> bool:
    """Return whether this file runs (a shim may not), has that version and can create environments."""
    question = "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = _ask(candidate, question)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == version


def _require_venv() -> None:
    """Make sure that the running Python has `ensurepip`, which Debian ships in the package python3.X-venv."""
    if _has_venv():
        return
    package = f"python{version_of_this()}-venv"
    if not can_install():
        raise Unavailable(f"This Python cannot create environments: run `sudo apt-get install {package}`.")
    install([package])
    if not _has_venv():
        raise Unavailable(
            f"This Python cannot create environments even with {package}: use a complete installation of it."
        )


def _has_venv() -> bool:
    return _ask(Path(sys.executable), "import ensurepip, venv").returncode == 0


def _ask(interpreter: Path, question: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [interpreter, "-c", question],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
