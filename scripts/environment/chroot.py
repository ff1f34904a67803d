"""A real Blender executable: Debian's, in a folder with a small Debian system. Needs root.

Nothing stays mounted inside, so deleting the folder is always safe: debootstrap's own mounts are in a mount namespace
that ends with it. Sources and game files are copied in for each run instead.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import Unavailable, folder, machine, virtual

SUITE, PYTHON = "trixie", "3.13"  # Blender 4.3, and the Python of the newest wheels
UNSTABLE = "sid"  # its Blender version changes over time
MIRROR = "http://deb.debian.org/debian"
PACKAGES = [
    "blender",
    # imported by Blender's own scripts, but not required by Debian's package
    "python3-numpy",
    "python3-requests",
    "python3-zstandard",
    # Blender uses Debian's Python, and so do the tests in it
    "python3-pytest",
    "python3-hypothesis",
]
# A mirror may not be updated until after the expiry date of unstable's package list. Its signature is still checked,
# only its age is not. The lists of Debian's releases have no expiry date, so this changes nothing for them.
OLD_LISTS = 'Acquire::Check-Valid-Until "false";\n'
MORE_PACKAGES = {UNSTABLE: ["python3-cattr"]}  # without it the extension system of 5.2 does not start
# Services must not start inside, and installing must not ask questions.
POLICY = "#!/bin/sh\nexit 101\n"
SURROUNDINGS = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
PRIVATE_MOUNTS = ["unshare", "--mount", "--propagation", "private"]
"""Start of a command line whose mounts end with it however it ends."""
MOUNT_PROC = 'mount -t proc proc "$0/proc" && exec "$@"'
LIMIT = 1500  # seconds


def possible() -> None:
    """Raise `Unavailable` if no chroot can be created: this is a limit of the machine to report, not a failure."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise Unavailable("A real Blender executable in a chroot needs root on Linux: run as root, or name a Blender.")
    if shutil.which("debootstrap") is None and shutil.which("apt-get") is None:
        raise Unavailable("A real Blender executable in a chroot needs debootstrap: install it.")


def is_possible() -> bool:
    """Return whether a chroot can be created here."""
    try:
        possible()
    except Unavailable:
        return False
    return True


def ready(suite: str = SUITE) -> Path:
    """Return the folder of the chroot with Blender in it, created if missing."""
    possible()
    own_folder = folder() / f"chroot-{suite}"
    packages = [*PACKAGES, *MORE_PACKAGES.get(suite, ())]
    with virtual.building(own_folder, {"packages": packages, "suite": suite}) as needed:
        if needed:
            print(f"creating {own_folder} (Debian {suite}, {' '.join(packages)})", flush=True)
            make(own_folder, suite, packages)
    if suite == UNSTABLE:
        (own_folder / "etc/apt/apt.conf.d/old-lists").write_text(OLD_LISTS, encoding="utf-8")
    return own_folder


def install(own_folder: Path, packages: Sequence[str]) -> None:
    """Install missing packages inside; the package lists are only fetched again if they are outdated."""
    asked = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Abbrev}\n"]
    listed = subprocess.run([*entering(own_folder, {}), *asked], capture_output=True, text=True, check=True).stdout
    installed = {line.split()[0] for line in listed.splitlines() if line.split()[1:] == ["ii"]}
    missing = [package for package in packages if package not in installed]
    if not missing:
        return
    command = [*entering(own_folder, _proxies()), "apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    with virtual.locked(own_folder):
        try:
            _run(command)
        except RuntimeError:
            _run([*entering(own_folder, _proxies()), "apt-get", "update", "-q"])
            _run(command)


def environment(own_folder: Path, name: str, requirements: Sequence[str]) -> Path:
    """Return the path, as seen inside, of a Python with exactly these packages, created if missing.

    The packages are chosen and downloaded by this machine's pip: nothing inside needs pip, an index or a certificate.
    """
    inside = Path("/opt") / name
    seen = own_folder / inside.relative_to("/")
    with virtual.building(seen, {"requirements": list(requirements), "python": PYTHON}) as needed:
        if needed:
            print(f"creating {seen} ({', '.join(requirements)})", flush=True)
            _run([*entering(own_folder, {}), "python3", "-m", "venv", "--without-pip", str(inside)])
            _install_wheels(seen / "lib" / f"python{PYTHON}" / "site-packages", requirements)
    return virtual.python_in(inside)


def _install_wheels(target: Path, requirements: Sequence[str]) -> None:
    """Download wheels for the Python inside, for a Debian at least as new as this machine's, and unpack them."""
    platforms = [f"manylinux_2_{minor}" for minor in range(36, 16, -1)] + ["manylinux2014"]
    options = ["--only-binary=:all:", "--implementation", "cp", "--python-version", PYTHON]
    options += [option for tag in platforms for option in ("--platform", f"{tag}_{platform.machine()}")]
    with tempfile.TemporaryDirectory(dir=target) as wheels:
        virtual.pip(virtual.dev(), requirements, [*options, "--dest", wheels], "download")
        # Only `pip download` respects --python-version; installing would check the version of the running Python.
        options += ["--no-index", "--no-deps", "--ignore-requires-python", "--target", str(target)]
        virtual.pip(virtual.dev(), sorted(str(path) for path in Path(wheels).iterdir()), options)


def entering(own_folder: Path, surroundings: dict[str, str], *, proc: bool = False) -> list[str]:
    """Return the start of a command line that runs inside, without any variables of this machine's environment.

    With ``proc`` it sees /proc, in a mount namespace that ends with it: the wheel of Blender 5.3 reads its own maps.
    """
    variables = SURROUNDINGS | surroundings
    namespace = [*PRIVATE_MOUNTS, "sh", "-c", MOUNT_PROC, str(own_folder)] if proc else []
    return [
        *namespace,
        "chroot",
        str(own_folder),
        "/usr/bin/env",
        "-i",
        *(f"{name}={value}" for name, value in variables.items()),
    ]


def _proxies() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}


def make(own_folder: Path, suite: str, packages: Sequence[str]) -> None:
    """Create a Debian with these packages in a new folder. Raises `RuntimeError` on failure."""
    if shutil.which("debootstrap") is None:
        machine.install(["debootstrap"])
    own_folder.mkdir(parents=True)
    _run(["debootstrap", "--variant=minbase", suite, str(own_folder), MIRROR])
    policy = own_folder / "usr/sbin/policy-rc.d"
    policy.write_text(POLICY, encoding="utf-8")
    policy.chmod(0o755)
    shutil.copy("/etc/resolv.conf", own_folder / "etc/resolv.conf")
    inside = entering(own_folder, _proxies())
    _run([*inside, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages])
    _run([*inside, "apt-get", "clean"])


def _run(command: Sequence[str]) -> None:
    """Run a command in its own mount namespace, so that its mounts end with it however it ends."""
    can_unshare = subprocess.run([*PRIVATE_MOUNTS, "true"], capture_output=True, check=False).returncode == 0
    done = subprocess.run(
        [*(PRIVATE_MOUNTS if can_unshare else []), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-4000:])
        raise RuntimeError(
            f"setting up the chroot failed: {' '.join(command[:2])} exited with status {done.returncode}"
        )
