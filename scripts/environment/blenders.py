"""A Blender to call, whatever provides it: an executable, a bpy wheel, or Debian's in a chroot."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import ROOT, Unavailable, chroot, machine, settings, virtual

OLDEST = (4, 2)
# The newest long-term version for each Python that a wheel was built for.
WHEEL_FOR_PYTHON = {"3.11": "4.5", "3.13": "5.2"}
NEWEST = "newest"
"""In place of a version: the newest bpy wheel that pip offers, to meet a Blender before it gates."""

# For numpy's linear algebra: synchronising threads would take longer than computing with our small matrices.
SURROUNDINGS = {"OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
"""Variables of every program of the tests: one thread each, and text is UTF-8 on Windows, too, as in Blender."""


@dataclass(frozen=True)
class Blender:
    """A Blender and the command that starts it; `root` is the folder of its chroot, if any."""

    label: str
    command: tuple[str, ...]
    root: Path | None = None
    is_wheel: bool = False  # its command is a Python, and our launcher its command line
    lacks_pytest: bool = False  # an official build brings its own Python

    def started_from(self, root: Path = ROOT) -> list[str]:
        """Return the command that starts it; a wheel also needs the launcher of the checkout `root`."""
        return [*self.command, *([str(root / "scripts" / "launcher.py")] if self.is_wheel else [])]


@dataclass
class Session:
    """A Blender with a new folder for its preferences and results. Paths are as Blender in its chroot sees them."""

    blender: Blender
    root: Path
    scratch: Path
    outside: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        """Command with which programs on the same side of the chroot start this Blender."""
        return self.blender.started_from(self.root)

    def blender_call(self, *arguments: str) -> list[str]:
        """Return the command line that starts this Blender."""
        return [*self._entry(), *self.command, *arguments]

    def tests_call(self, *arguments: str) -> list[str]:
        """Return the command line that runs tests inside this Blender; ``arguments`` are those of pytest."""
        script = str(self.root / "tests/run.py")
        options = ("--background", "--factory-startup", "--python-exit-code", "1", "--python", script)
        return self.blender_call(*options, "--", *arguments)

    def pytest_call(self, *arguments: str) -> list[str]:
        """Return the command line of pytest in the Python of a wheel, without its Blender."""
        options = ["-p", "no:cacheprovider", f"--rootdir={self.root}", "-c", f"{self.root}/pyproject.toml"]
        absolute = [f"{self.root}/{text}" if (ROOT / text.split("::")[0]).exists() else text for text in arguments]
        return [*self._entry(), *self.blender.command, "-m", "pytest", *options, *absolute]

    def python_call(self, *arguments: str) -> list[str]:
        """Return the command line of a Python with pytest. Tests in it start Blender by `MOTIONBRIDGE_BLENDER`."""
        interpreter = "/usr/bin/python3" if self.blender.root else str(virtual.dev())
        return [*self._entry(), interpreter, *arguments]

    def run(self, command: Sequence[str], limit: float) -> tuple[int | None, str]:
        """Run a command in the checkout. Returns exit status (None: stopped after `limit` seconds) and output."""
        surroundings = None if self.blender.root else os.environ | self.variables
        return run(command, limit, surroundings, cwd=ROOT)

    def seen_from_outside(self, path: Path) -> Path:
        """Convert a path in the scratch folder, as used by Blender, to the path as used by this process."""
        return self.outside / path.relative_to(self.scratch)

    @contextlib.contextmanager
    def sharing(self, folder: Path) -> Iterator[Path]:
        """Yield a folder of this machine as Blender sees it; what Blender writes is copied back at the end."""
        if not self.blender.root:
            yield folder
            return
        inside = self.scratch / folder.name
        outside = self.seen_from_outside(inside)
        shutil.copytree(folder, outside)
        yield inside
        shutil.copytree(outside, folder, dirs_exist_ok=True)
        shutil.rmtree(outside)

    def _entry(self) -> list[str]:
        if not self.blender.root:
            return []
        return chroot.entering(self.blender.root, self.variables, proc=self.blender.is_wheel)


def run(
    command: Sequence[str], limit: float, surroundings: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> tuple[int | None, str]:
    """Run a program and its children with a time limit. Returns its exit status (None if stopped) and its output."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=surroundings,
        cwd=cwd,
        start_new_session=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        output, _ = process.communicate()
        return None, f"{output}\nstopped after {limit:.0f} seconds"
    return process.returncode, output


def find(wanted: str | None = None) -> Blender:
    """Return the requested Blender ("4.2", a path), else one on this machine, else one from a suitable wheel."""
    if wanted:
        return wheel(wanted) if is_wheel(wanted) else executable(wanted)
    if named := os.environ.get("BLENDER"):
        return executable(named)
    if result := shutil.which("blender"):
        with contextlib.suppress(Unavailable):  # too old, as Debian's often is: a wheel is better
            return executable(result)
    return wheel(_fitting_wheel())


def at_hand() -> Blender | None:
    """Return a Blender that is already on this machine, or None. Nothing is created."""
    if named := os.environ.get("BLENDER"):
        return executable(named)
    if result := shutil.which("blender"):
        with contextlib.suppress(Unavailable):  # too old
            return executable(result)
    wheels = settings()["tool"]["motionbridge"]["wheels"]
    created = (version for version in wheels if virtual.is_made(*_environment(version)))
    return next(map(wheel, created), None)


def _fitting_wheel() -> str:
    here = machine.version_of_this()
    for version in sorted(WHEEL_FOR_PYTHON, key=lambda version: version != here):
        with contextlib.suppress(Unavailable):
            machine.python(version)
            return WHEEL_FOR_PYTHON[version]
    raise Unavailable(
        f"Python {here} fits no Blender wheel: install Blender 4.2 or newer (blender.org), or Python 3.11 or 3.13."
    )


def is_wheel(name: str) -> bool:
    """Return whether this is a version that we have a bpy wheel of, or `NEWEST`."""
    return name == NEWEST or name in settings()["tool"]["motionbridge"]["wheels"]


def wheel(version: str) -> Blender:
    """Return the bpy wheel of a version in its own environment, with our launcher as its command line."""
    machine.require_system_libraries()
    return _of_wheel(version, virtual.environment(*_environment(version)))


def wheel_anywhere(version: str) -> Blender:
    """Like `wheel`, but in Debian's chroot if the wheel needs a Python that is there and is not the running one."""
    name, requirements, python = _environment(version)
    if python != chroot.PYTHON or python == machine.version_of_this() or not chroot.is_possible():
        return wheel(version)
    folder = chroot.ready()
    chroot.install(folder, list(machine.SYSTEM_LIBRARIES.values()))
    return _of_wheel(version, chroot.environment(folder, name, requirements), folder)


def _environment(version: str) -> tuple[str, list[str], str]:
    """Return name, requirements and Python version of a wheel's environment."""
    wheels = settings()["tool"]["motionbridge"]["wheels"]
    if version == NEWEST:
        python = [*wheels.values()][-1]["python"]
        chosen = {"python": python, "requirements": [f"bpy=={virtual.newest('bpy', python)}"]}
    else:
        chosen = wheels[version]
    return f"blender-{version}", [*chosen["requirements"], *virtual.group("test")], chosen["python"]


def _of_wheel(version: str, interpreter: Path, folder: Path | None = None) -> Blender:
    exact = _environment(version)[1][0].removeprefix("bpy==")
    return Blender(f"{exact} wheel", (str(interpreter),), root=folder, is_wheel=True)


def executable(name: str) -> Blender:
    """Return a Blender executable by its path or name. Raises `Unavailable` if it is missing or too old."""
    result = shutil.which(name)
    if not result:
        raise Unavailable(f"{name} is not a program: name the Blender executable, for example /opt/blender/blender.")
    version = _version((result,))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise Unavailable(f"{result} is Blender {version}: install 4.2 or newer.")
    return Blender(f"{version} at {result}", (result,), lacks_pytest=True)


def debian(suite: str = chroot.SUITE) -> Blender:
    """Return Debian's Blender in its chroot."""
    folder = chroot.ready(suite)
    version = _version((*chroot.entering(folder, {}), "blender"))
    return Blender(f"{version} Debian {suite}", ("blender",), root=folder)


def _version(command: tuple[str, ...]) -> str:
    status, output = run([*command, "--version"], 60)
    match = re.search(r"^Blender (\d+\.\d+(?:\.\d+)?)", output, re.MULTILINE)
    if status != 0 or not match:
        raise Unavailable(f"{command[-1]} is not a Blender: name a Blender executable.")
    return match.group(1)


@contextlib.contextmanager
def session(blender: Blender, game_files: Mapping[str, Path]) -> Iterator[Session]:
    """Yield a Blender ready to be called. `game_files`: environment variable -> folder, passed to the programs inside.

    For a chroot the checkout (files that git tracks or would track) and the game files are copied in, then removed.
    """
    temporary = blender.root / "tmp" if blender.root else None
    outside = Path(tempfile.mkdtemp(prefix="motionbridge-", dir=temporary))
    inside = Path("/tmp") / outside.name if blender.root else outside  # noqa: S108 - the chroot's own
    try:
        root = ROOT
        variables = {name: str(path) for name, path in game_files.items()}
        if blender.root:
            root = inside / "checkout"
            copy_checkout(outside / "checkout")
            for name, path in game_files.items():
                shutil.copytree(path, outside / name)
                variables[name] = str(inside / name)
        for part in ("scratch", "scratch/user", "scratch/temporary"):
            (outside / part).mkdir()
        scratch = inside / "scratch"
        variables["BLENDER_USER_RESOURCES"] = str(scratch / "user")
        variables["TMPDIR"] = str(scratch / "temporary")
        variables |= SURROUNDINGS
        if "CI" in os.environ:
            variables["CI"] = os.environ["CI"]
        yield Session(blender, root, scratch, outside / "scratch", variables)
    finally:
        virtual.remove(outside)


def copy_checkout(target: Path) -> None:
    """Copy the files of the checkout that git tracks or would track, with their current content."""
    # The checkout may belong to another user, for example in a container: git has to be told that it is safe.
    listing = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
