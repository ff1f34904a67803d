"""Python environments with pinned packages, created completely or not at all.

An environment is complete if `complete.json` is in it and lists the requested requirements. Anything else (an
interrupted installation, an older pin) is removed and created again. A lock file beside it lets several checkouts share
a folder of environments.
"""

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import Unavailable, folder, machine, settings

if sys.platform != "win32":  # without file locks: users must not start two runs at once
    import fcntl

IN_ENVIRONMENT = "MOTIONBRIDGE_IN_ENVIRONMENT"
"""Environment variable that is set when a script was restarted in its environment."""
INSTALLATION_LIMIT = 1200  # seconds; a bpy wheel is a third of a gigabyte


def group(name: str) -> list[str]:
    """Return the requirements of a dependency group of pyproject.toml."""
    requirements: list[str] = settings()["dependency-groups"][name]
    return requirements


def environment(name: str, requirements: Sequence[str], python_version: str | None = None) -> Path:
    """Return the Python of the environment `name` with exactly these requirements, created if missing."""
    own_folder = folder() / name
    if not python_in(own_folder).exists():  # its Python has been removed from this machine
        (own_folder / "complete.json").unlink(missing_ok=True)
    with building(own_folder, _content(requirements, python_version)) as needed:
        if needed:
            interpreter = machine.python(python_version)
            print(f"creating {own_folder} ({', '.join(requirements)})", flush=True)
            _run([interpreter, "-m", "venv", own_folder], f"Python could not make the environment {own_folder}")
            pip(python_in(own_folder), requirements)
    return python_in(own_folder)


def is_made(name: str, requirements: Sequence[str], python_version: str | None = None) -> bool:
    """Return whether that environment exists already and is complete."""
    own_folder = folder() / name
    return python_in(own_folder).exists() and _is_complete(own_folder, _content(requirements, python_version))


def _content(requirements: Sequence[str], python_version: str | None) -> dict[str, object]:
    return {"requirements": list(requirements), "python": python_version}


def packages(name: str, requirements: Sequence[str]) -> Path:
    """Return a folder of pure Python packages, for a Blender whose own Python must not be modified."""
    own_folder = folder() / name
    with building(own_folder, {"requirements": list(requirements)}) as needed:
        if needed:
            interpreter = environment("dev", group("dev"))
            print(f"creating {own_folder} ({', '.join(requirements)})", flush=True)
            pip(interpreter, requirements, ["--target", os.fspath(own_folder)])
    return own_folder


def dev() -> Path:
    """Return the Python that runs lint, type checks and the pure tests."""
    return environment("dev", group("dev"))


def started_again(name: str) -> int | None:
    """Restart the running script in the environment ``name``, created if missing, and return its exit status; None if
    the script already runs there.
    """
    if IN_ENVIRONMENT in os.environ:
        return None
    try:
        interpreter = environment(name, group(name))
    except Unavailable as lacking:
        print(lacking, file=sys.stderr)
        return 2
    return subprocess.run([interpreter, *sys.argv], env={**os.environ, IN_ENVIRONMENT: name}, check=False).returncode


def stubs(version: str) -> Path:
    """Return a Python with type stubs of the API of that Blender, and with numpy's types."""
    pinned = settings()["tool"]["motionbridge"]["stubs"].get(version)
    if pinned is None:
        raise Unavailable(f"No stubs of Blender {version} are pinned: add them to pyproject.toml beside its wheel.")
    numpy = [requirement for requirement in group("dev") if requirement.startswith("numpy")]
    return environment(f"stubs-{version}", [pinned, *numpy])


def python_in(own_folder: Path) -> Path:
    """Return the path of an environment's interpreter."""
    return own_folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@contextlib.contextmanager
def building(own_folder: Path, content: dict[str, object]) -> Iterator[bool]:
    """Yield whether `own_folder` must be created (an incomplete one has been removed); mark it complete afterwards."""
    own_folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(own_folder):
        if _is_complete(own_folder, content):
            yield False
            return
        remove(own_folder)
        yield True
        (own_folder / "complete.json").write_text(json.dumps(content, sort_keys=True), encoding="utf-8")


def _is_complete(own_folder: Path, content: dict[str, object]) -> bool:
    marker = own_folder / "complete.json"
    return marker.is_file() and marker.read_text(encoding="utf-8") == json.dumps(content, sort_keys=True)


def remove(own_folder: Path) -> None:
    """Remove a folder of ours. Raises `Unavailable` while anything is mounted below it."""
    if any(own_folder in point.parents for point in _mount_points()):
        raise Unavailable(f"Something is mounted below {own_folder}: unmount it first.")
    if own_folder.exists():
        shutil.rmtree(own_folder)


def _mount_points() -> list[Path]:
    mounts = Path("/proc/self/mounts")
    if not mounts.is_file():
        return []
    return [Path(line.split()[1]) for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines()]


@contextlib.contextmanager
def locked(own_folder: Path) -> Iterator[None]:
    """Hold a lock, so that no other process creates or changes `own_folder`."""
    with own_folder.with_name(f".{own_folder.name}.lock").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pip(interpreter: Path, requirements: Sequence[str], options: Sequence[str] = (), verb: str = "install") -> None:
    """Install or download packages with the pip of that Python. Raises `Unavailable` on failure."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    _run(
        [interpreter, "-m", "pip", verb, *quiet, *options, *requirements],
        f"pip could not {verb} {' '.join(requirements)}",
    )


@functools.cache
def newest(package: str, python_version: str) -> str:
    """Return the newest version that pip offers for that Python. Raises `Unavailable` if there is none."""
    options = ["--python-version", python_version, "--only-binary=:all:", "--disable-pip-version-check"]
    message = _run([dev(), "-m", "pip", "index", "versions", package, *options], f"pip found no {package}")
    offered = re.search(rf"^{package} \((.+)\)", message, re.MULTILINE)
    if not offered:
        raise Unavailable(f"pip named no version of {package} for Python {python_version}: update pip.")
    return offered.group(1)


def _run(command: Sequence[str | Path], complaint: str) -> str:
    """Return what the command prints. Raises `Unavailable` on failure."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALLATION_LIMIT, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"{complaint} within {INSTALLATION_LIMIT} seconds: check the network connection.") from late
    if done.returncode:
        sys.stderr.write(done.stderr)
        reason = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no reason given")
        raise Unavailable(f"{complaint} ({reason.strip()}): check the network connection and the free disk space.")
    return done.stdout
