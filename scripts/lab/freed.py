"""Run the tests in a Blender that closes memory when it is freed: using it afterwards is a segmentation fault at once.

    python3 scripts/lab/freed.py debian|unstable|VERSION [PYTEST ARGUMENTS]

Without this such a use stays unnoticed, or changes something else, and Blender crashes some tests later or on another
machine. `debian` and `unstable` are Debian's Blender, VERSION is that of a bpy wheel. Needs Linux and a C compiler. If
blocks could not be closed, `sysctl vm.max_map_count=2000000` (as root) helps. All tests take about half an hour.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import blenders, chroot
from rings import game_files

SOURCE = ROOT / "scripts" / "lab" / "freed.c"
LIMIT = 7200  # seconds for all tests


def build(target: Path) -> None:
    """Compile the library that is preloaded. Raises `subprocess.CalledProcessError`; the compiler says why."""
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-ldl"], check=True)


def run(blender: blenders.Blender, arguments: list[str]) -> int:
    """Run the tests and print their output and what was found. Returns the exit status: 1 if anything was."""
    with blenders.session(blender, game_files()) as session:
        build(session.outside / "freed.so")
        session.variables["LD_PRELOAD"] = str(session.scratch / "freed.so")
        session.variables["MOTIONBRIDGE_FREED"] = str(session.scratch / "freed.txt")
        status, output = session.run(session.tests_call("-q", *arguments), LIMIT)
        message = session.outside / "freed.txt"
        result = message.read_text() if message.exists() else ""
    print(output, result, sep="")
    return 1 if status != 0 or result else 0


def main(arguments: list[str]) -> int:
    """Run the script."""
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(__doc__)
        return 0 if arguments else 2
    name, *others = arguments
    suites = {"debian": chroot.SUITE, "unstable": chroot.UNSTABLE}
    result = blenders.debian(suites[name]) if name in suites else blenders.wheel_anywhere(name)
    return run(result, others)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
