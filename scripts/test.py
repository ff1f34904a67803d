"""Run every test that this machine can run, and print what ran where and what could not run.

    python3 scripts/test.py [--blender 4.2|4.5|5.2|5.3|newest|all|PATH] [--fast] [--release] [pytest arguments]

MOTIONBRIDGE_CORPUS names a folder of real game files, MOTIONBRIDGE_VECTORS one of numbers computed with the engines'
arithmetic. If they are not set, tests that need them are skipped, and counted.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - tells users of an older Python what to do
    sys.exit("Motionbridge is tested with Python 3.11 or newer: install it and start this again with it.")

import argparse
import io

import rings


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description="Run lint, type checks, the pure tests, the tests in Blender and those of the built zip.",
        epilog="Further arguments go to pytest, for example: tests/core -k quantum",
    )
    parser.add_argument(
        "--blender",
        help="4.2, 4.5, 5.0, 5.2 or 5.3 (bpy wheels), newest (the newest bpy wheel that pip offers), the path of an "
        "executable, or all: the four wheels that gate and Debian's executables; without it: the Blender found on this "
        "machine, or the wheel that fits its Python",
    )
    parser.add_argument("--fast", action="store_true", help="lint, the pure tests and one Blender")
    parser.add_argument("--release", action="store_true", help="all tests, deep ones too, in every Blender and Python")
    chosen, pytest_arguments = parser.parse_known_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a log on Windows cannot hold what tests of texts print
    status = rings.run(chosen.blender, pytest_arguments, fast=chosen.fast, release=chosen.release)
    if not (chosen.fast or pytest_arguments):
        rings.record_run("all" if chosen.blender == "all" or chosen.release else "default", passed=status == 0)
    return status


if __name__ == "__main__":
    sys.exit(main())
