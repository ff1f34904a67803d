"""Proves that the README's two commands work where nothing is prepared: on bare Debians, each with its own Python.

    python3 scripts/fresh.py [--suite bookworm|trixie] [--only demo|test [arguments of that command]]

Debian 12 (Python 3.11) and 13 (Python 3.13) are made in folders of their own that hold Python, git and a clone of what
is committed here, and nothing else; whatever the commands need beyond that, they have to find themselves. Of this
machine they know how it reaches the network. Takes about 25 minutes for each Debian; needs root on Linux. The folders
are removed afterwards.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
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
# A real machine has these; in a mount namespace of their own they are gone when the command ends.
MOUNT = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec "$@"'
LIMIT = 7200  # seconds for one command


def main() -> int:
    """Runs what the command line asks for; the exit status says whether everything passed."""
    parser = argparse.ArgumentParser(
        description="Run the README's commands on bare Debians with nothing prepared.",
        epilog="Further arguments go to the command of --only, for example: --only test --fast tests/core",
    )
    parser.add_argument("--suite", choices=SUITES, help="only this Debian")
    parser.add_argument("--only", choices=COMMANDS, help="only this command")
    chosen, more = parser.parse_known_args()
    if more and not chosen.only:
        parser.error("arguments of a command need --only")
    found = []
    for suite in [chosen.suite] if chosen.suite else SUITES:
        try:
            with bare(suite) as place:
                for name in [chosen.only] if chosen.only else COMMANDS:
                    found.append(_outcome(suite, place, shlex.join([*COMMANDS[name], *more])))
                    print(found[-1], flush=True)
        except (Unavailable, RuntimeError) as lacking:
            found.append(f"FAILED: {suite}: {lacking}")
    print("\nOn bare Debians:", *found, sep="\n")
    return int(any(line.startswith("FAILED") for line in found))


@contextmanager
def bare(suite: str) -> Iterator[Path]:
    """A Debian with little more than Python in it, gone afterwards."""
    chroot.possible()
    place = folder() / f"fresh-{suite}"
    place.parent.mkdir(parents=True, exist_ok=True)
    virtual.remove(place)
    try:
        print(f"making {place} (Debian {suite}, {' '.join(PACKAGES)})", flush=True)
        chroot.make(place, suite, PACKAGES)
        target = place / CHECKOUT.lstrip("/")
        subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", "--no-local", ROOT, target], check=True)
        if "PIP_CERT" in os.environ:
            shutil.copy(os.environ["PIP_CERT"], place / CERTIFICATES.lstrip("/"))
        yield place
    finally:
        virtual.remove(place)


def _outcome(suite: str, place: Path, command: str) -> str:
    """Runs one command as a newcomer would, with everything it says shown; one line about how it ended."""
    print(f"\n----- Debian {suite}: {command}", flush=True)
    began = time.monotonic()
    try:
        version = _run(place, ["python3", "-c", "import sys; print(sys.version.split()[0])"], capture=True)
        status = _run(place, ["sh", "-c", f"cd {CHECKOUT} && exec {command}"])
    except subprocess.TimeoutExpired:
        return f"FAILED: {suite}: {command} was stopped after {LIMIT} seconds"
    minutes = (time.monotonic() - began) / 60
    right = version.startswith(f"{SUITES[suite]}.") and status == "0"
    return (
        f"{'passed' if right else 'FAILED'}: {suite}, Python {version}: {command}: status {status}, {minutes:.0f} min"
    )


def _run(place: Path, command: Sequence[str], *, capture: bool = False) -> str:
    """What it printed, or with everything shown as it comes its exit status."""
    processes = ["--pid", "--fork", "--kill-child"]  # a command that is stopped takes what it started along
    apart = ["unshare", "--mount", "--propagation", "private", *processes, "sh", "-c", MOUNT, str(place)]
    done = subprocess.run(
        [*apart, *chroot.entering(place, _network()), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if capture else None,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout.strip() if capture else str(done.returncode)


def _network() -> dict[str, str]:
    """How this machine reaches package indexes, and nothing else of it."""
    names = [name for name in os.environ if name.lower().endswith("_proxy") or name == "PIP_INDEX_URL"]
    handed = {name: os.environ[name] for name in names}
    return handed | ({"PIP_CERT": CERTIFICATES} if "PIP_CERT" in os.environ else {})


if __name__ == "__main__":
    sys.exit(main())
