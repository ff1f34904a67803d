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

# What the bpy wheels load from the system on Linux, and the Debian package each comes from. libEGL is not needed to
# import bpy, but without it the process aborts as soon as somebody renders with Workbench.
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
    """Whether Debian packages can be installed here: root, and apt-get at hand."""
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: Sequence[str]) -> None:
    """Installs Debian packages; the package lists are fetched only when they turn out to be missing or stale."""
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
    """Makes sure that the libraries a bpy wheel loads are there: installs them where possible, else names them."""
    if sys.platform != "linux":
        return  # the wheels of Windows and macOS bring everything along
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
    """A Python that can make environments: the running one where it fits `version` ("3.11"), else another one here."""
    if version is None or version == version_of_this():
        _require_venv()
        return Path(sys.executable)
    for candidate in _candidates(version):
        if _works(candidate, version):
            return candidate
    raise Unavailable(f"Python {version} is needed and not on this machine: install it and make it reachable on PATH.")


def version_of_this() -> str:
    """The Python that runs this: "3.11"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which(name, path=directory) if directory else None
        if found:
            yield Path(found)
    # A pyenv shim on PATH runs only the selected version; the others lie beside each other here.
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted(versions.glob(f"{version}.*/bin/{name}"), reverse=True)


@cache
def _works(candidate: Path, version: str) -> bool:
    """Whether this file runs (a shim may not), is of that version and has what it takes to make environments."""
    question = "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = _ask(candidate, question)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == version


def _require_venv() -> None:
    """Debian ships Python without `ensurepip`: python3.X-venv brings it."""
    if _has_venv():
        return
    package = f"python{version_of_this()}-venv"
    if not can_install():
        raise Unavailable(f"This Python cannot make environments: run `sudo apt-get install {package}`.")
    install([package])
    if not _has_venv():
        raise Unavailable(
            f"This Python cannot make environments even with {package}: use a complete installation of it."
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
