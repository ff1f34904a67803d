"""Test the README's two commands on bare Debian systems, each with its own Python.

    python3 scripts/fresh.py [--suite bookworm|trixie] [--only demo|test [arguments of that command]]

Debian 12 (Python 3.11) and 13 (Python 3.13) are installed in folders of their own with Python, git and a clone of the
committed state, and nothing else; the commands must install whatever else they need. The only settings taken from this
machine are those for network access. Takes about 8 minutes per Debian; needs root on Linux. The folders are removed
afterwards.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - explain it to users of older versions
    sys.exit("Motionbridge is tested with Python 3.11 or newer: install it and start this again with it.")

import argparse
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from environment import ROOT, Unavailable, chroot, folder, virtual

SUITES = {"bookworm": "3.11", "trixie": "3.13"}
COMMANDS = {name: ["python3", f"scripts/{name}.py"] for name in ("demo", "test")}
PACKAGES = ["python3", "git"]
CHECKOUT = "/root/motionbridge"
CERTIFICATES = "/root/certificates.pem"
# Mounts of a real machine; in a private mount namespace they disappear when the command ends.
MOUNT = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec "$@"'
LIMIT = 7200  # seconds for one command


def main() -> int:
    """Run the chosen commands; the exit status is 0 if all passed."""
    parser = argparse.ArgumentParser(
        description="Run the README's commands on bare Debians with nothing prepared.",
        epilog="Further arguments go to the command of --only, for example: --only test --fast tests/core",
    )
    parser.add_argument("--suite", choices=SUITES, help="only this Debian")
    parser.add_argument("--only", choices=COMMANDS, help="only this command")
    chosen, more = parser.parse_known_args()
    if more and not chosen.only:
        parser.error("arguments of a command need --only")
    result = []
    for suite in [chosen.suite] if chosen.suite else SUITES:
        try:
            with bare(suite) as own_folder:
                for name in [chosen.only] if chosen.only else COMMANDS:
                    result.append(_outcome(suite, own_folder, shlex.join([*COMMANDS[name], *more])))
                    print(result[-1], flush=True)
        except (Unavailable, RuntimeError) as lacking:
            result.append(f"FAILED: {suite}: {lacking}")
    print("\nOn bare Debians:", *result, sep="\n")
    return int(any(line.startswith("FAILED") for line in result))


@contextmanager
def bare(suite: str) -> Iterator[Path]:
    """Install a Debian with little more than Python; it is removed afterwards."""
    chroot.possible()
    root = folder() / f"fresh-{suite}"
    root.parent.mkdir(parents=True, exist_ok=True)
    virtual.remove(root)
    try:
        print(f"making {root} (Debian {suite}, {' '.join(PACKAGES)})", flush=True)
        chroot.make(root, suite, PACKAGES)
        target = root / CHECKOUT.lstrip("/")
        subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", "--no-local", ROOT, target], check=True)
        if "PIP_CERT" in os.environ:
            shutil.copy(os.environ["PIP_CERT"], root / CERTIFICATES.lstrip("/"))
        yield root
    finally:
        virtual.remove(root)


def _outcome(suite: str, own_folder: Path, command: str) -> str:
    """Run one command as a new contributor would, with its output shown; return one line about its result."""
    print(f"\n----- Debian {suite}: {command}", flush=True)
    began = time.monotonic()
    try:
        version = _run(own_folder, ["python3", "-c", "import sys; print(sys.version.split()[0])"], capture=True)
        status = _run(own_folder, ["sh", "-c", f"cd {CHECKOUT} && exec {command}"])
    except subprocess.TimeoutExpired:
        return f"FAILED: {suite}: {command} was stopped after {LIMIT} seconds"
    minutes = (time.monotonic() - began) / 60
    right = version.startswith(f"{SUITES[suite]}.") and status == "0"
    return (
        f"{'passed' if right else 'FAILED'}: {suite}, Python {version}: {command}: status {status}, {minutes:.1f} min"
    )


def _run(own_folder: Path, command: Sequence[str], *, capture: bool = False) -> str:
    """Run a command in the chroot: return its output (``capture``), or show it and return the exit status."""
    processes = ["--pid", "--fork", "--kill-child"]  # stopping a command also stops the processes it started
    apart = [*chroot.PRIVATE_MOUNTS, *processes, "sh", "-c", MOUNT, str(own_folder)]
    done = subprocess.run(
        [*apart, *chroot.entering(own_folder, _network()), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if capture else None,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout.strip() if capture else str(done.returncode)


def _network() -> dict[str, str]:
    """Return the environment variables with which this machine reaches package indexes."""
    names = [name for name in os.environ if name.lower().endswith("_proxy") or name == "PIP_INDEX_URL"]
    handed = {name: os.environ[name] for name in names}
    return handed | ({"PIP_CERT": CERTIFICATES} if "PIP_CERT" in os.environ else {})


if __name__ == "__main__":
    sys.exit(main())
