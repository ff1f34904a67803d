"""One Blender to call, whichever way it came here: an executable, a bpy wheel, or Debian's in a chroot."""

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

# Of numpy's linear algebra: its threads wait for each other longer than our small matrices take.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Blender:
    """A Blender and how to start it; `place` is the chroot it lives in."""

    label: str
    command: tuple[str, ...]
    place: Path | None = None
    is_wheel: bool = False  # its command is a Python, and our launcher its command line
    lacks_pytest: bool = False  # an official build brings its own Python

    def started_from(self, root: Path = ROOT) -> list[str]:
        """The command that starts it, with the launcher of the checkout `root` where it needs one."""
        return [*self.command, *([str(root / "scripts" / "launcher.py")] if self.is_wheel else [])]


@dataclass
class Session:
    """A Blender with a fresh folder for its preferences and results; paths are given as Blender sees them."""

    blender: Blender
    root: Path
    scratch: Path
    outside: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        """How programs beside this Blender start it: in its chroot, where it has one."""
        return self.blender.started_from(self.root)

    def blender_call(self, *arguments: str) -> list[str]:
        """The command line that starts this Blender."""
        return [*self._entry(), *self.command, *arguments]

    def python_call(self, *arguments: str) -> list[str]:
        """The command line of a Python with pytest that can start this Blender by `MOTIONBRIDGE_BLENDER`."""
        interpreter = "/usr/bin/python3" if self.blender.place else str(virtual.dev())
        return [*self._entry(), interpreter, *arguments]

    def run(self, command: Sequence[str], limit: float) -> tuple[int | None, str]:
        """Runs it in the checkout; the exit status (None: stopped after `limit` seconds) and everything it said."""
        surroundings = None if self.blender.place else os.environ | self.variables
        return run(command, limit, surroundings, cwd=ROOT)

    def seen_from_outside(self, path: Path) -> Path:
        """A path in the scratch folder as this process sees it."""
        return self.outside / path.relative_to(self.scratch)

    @contextlib.contextmanager
    def sharing(self, folder: Path) -> Iterator[Path]:
        """A folder of this machine as Blender sees it; what Blender left in it is there afterwards."""
        if not self.blender.place:
            yield folder
            return
        inside = self.scratch / folder.name
        outside = self.seen_from_outside(inside)
        shutil.copytree(folder, outside)
        yield inside
        shutil.copytree(outside, folder, dirs_exist_ok=True)
        shutil.rmtree(outside)

    def _entry(self) -> list[str]:
        return chroot.entering(self.blender.place, self.variables) if self.blender.place else []


def run(
    command: Sequence[str], limit: float, surroundings: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> tuple[int | None, str]:
    """Runs a program and all it starts under a time limit; the exit status (None: stopped) and what it said."""
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
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        said, _ = process.communicate()
        return None, f"{said}\nstopped after {limit:.0f} seconds"
    return process.returncode, said


def find(wanted: str | None = None) -> Blender:
    """The Blender asked for ("4.2", a path), or the one on this machine, or one made from the wheel that fits."""
    if wanted:
        return wheel(wanted) if wanted in settings()["tool"]["motionbridge"]["wheels"] else executable(wanted)
    if named := os.environ.get("BLENDER"):
        return executable(named)
    if found := shutil.which("blender"):
        with contextlib.suppress(Unavailable):  # too old, as Debian's often is: a wheel is the better choice
            return executable(found)
    return wheel(_fitting_wheel())


def at_hand() -> Blender | None:
    """A Blender that is on this machine already, or None: nothing is made for it."""
    if named := os.environ.get("BLENDER"):
        return executable(named)
    if found := shutil.which("blender"):
        with contextlib.suppress(Unavailable):  # too old
            return executable(found)
    wheels = settings()["tool"]["motionbridge"]["wheels"]
    made = (version for version in wheels if virtual.is_made(*_environment(version)))
    return next(map(wheel, made), None)


def _fitting_wheel() -> str:
    here = machine.version_of_this()
    for version in sorted(WHEEL_FOR_PYTHON, key=lambda version: version != here):
        with contextlib.suppress(Unavailable):
            machine.python(version)
            return WHEEL_FOR_PYTHON[version]
    raise Unavailable(
        f"Python {here} fits no Blender wheel: install Blender 4.2 or newer (blender.org), or Python 3.11 or 3.13."
    )


def wheel(version: str) -> Blender:
    """The bpy wheel of that version in an environment of its own, with our launcher as its command line."""
    machine.require_system_libraries()
    return _of_wheel(version, virtual.environment(*_environment(version)))


def wheel_anywhere(version: str) -> Blender:
    """The same; where another Python is needed than this one and Debian's chroot has it, there."""
    name, requirements, python = _environment(version)
    if python != chroot.PYTHON or python == machine.version_of_this() or not chroot.is_possible():
        return wheel(version)
    place = chroot.ready()
    chroot.install(place, list(machine.SYSTEM_LIBRARIES.values()))
    return _of_wheel(version, chroot.environment(place, name, requirements), place)


def _environment(version: str) -> tuple[str, list[str], str]:
    """Name, requirements and Python of a wheel's environment."""
    chosen = settings()["tool"]["motionbridge"]["wheels"][version]
    return f"blender-{version}", [*chosen["requirements"], *virtual.group("test")], chosen["python"]


def _of_wheel(version: str, interpreter: Path, place: Path | None = None) -> Blender:
    exact = _environment(version)[1][0].removeprefix("bpy==")
    return Blender(f"{exact} wheel", (str(interpreter),), place=place, is_wheel=True)


def executable(name: str) -> Blender:
    """A Blender program by its path or name; one that is older than the extension allows is refused."""
    found = shutil.which(name)
    if not found:
        raise Unavailable(f"{name} is no program: name the Blender executable, for example /opt/blender/blender.")
    version = _version((found,))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise Unavailable(f"{found} is Blender {version}: install 4.2 or newer.")
    return Blender(f"{version} at {found}", (found,), lacks_pytest=True)


def debian(suite: str = chroot.SUITE) -> Blender:
    """Debian's Blender in its chroot."""
    place = chroot.ready(suite)
    version = _version((*chroot.entering(place, {}), "blender"))
    return Blender(f"{version} Debian {suite}", ("blender",), place=place)


def _version(command: tuple[str, ...]) -> str:
    status, said = run([*command, "--version"], 60)
    found = re.search(r"^Blender (\d+\.\d+(?:\.\d+)?)", said, re.MULTILINE)
    if status != 0 or not found:
        raise Unavailable(f"{command[-1]} does not answer as a Blender does: name a Blender executable.")
    return found.group(1)


@contextlib.contextmanager
def session(blender: Blender, game_files: Mapping[str, Path]) -> Iterator[Session]:
    """A Blender ready to be called. `game_files`: variable -> folder, which the programs inside will find as well.

    For a chroot the checkout (what git tracks, and what it would) and the game files are copied in, and removed after.
    """
    temporary = blender.place / "tmp" if blender.place else None
    outside = Path(tempfile.mkdtemp(prefix="motionbridge-", dir=temporary))
    inside = Path("/tmp") / outside.name if blender.place else outside  # noqa: S108 - the chroot's own
    try:
        root = ROOT
        variables = {name: str(path) for name, path in game_files.items()}
        if blender.place:
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
        variables |= ONE_THREAD
        if "CI" in os.environ:
            variables["CI"] = os.environ["CI"]
        yield Session(blender, root, scratch, outside / "scratch", variables)
    finally:
        virtual.remove(outside)


def copy_checkout(target: Path) -> None:
    """Copies what git tracks, and what it would, as it lies here now."""
    # The checkout may belong to somebody else, as it does in a container: git is told that this is meant.
    listing = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
