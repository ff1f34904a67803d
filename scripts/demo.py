"""Demonstrate Motionbridge: change one motion of a model, prove what changed and render a picture.

    python3 scripts/demo.py [MODEL.ogf MOTIONS.omf] [--blender 4.2|4.5|5.0|5.2|PATH] [--output FOLDER]

Without files the samples are used. The input files are not changed: all results are written to the output folder.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - tells users of an older Python what to do
    sys.exit("Motionbridge's demo needs Python 3.11 or newer: install it and start this again with it.")

import argparse
from pathlib import Path

from environment import ROOT, Unavailable, blenders

LIMIT = 300  # seconds
SAMPLES = [ROOT / "tests" / "samples" / name for name in ("humanoid.ogf", "humanoid.omf")]


def main() -> int:
    """Run the demonstration as the command line says."""
    parser = argparse.ArgumentParser(description="Change one motion of a model, prove what changed, draw a picture.")
    parser.add_argument("files", nargs="*", type=Path, help="a model (.ogf) and its motions (.omf); else the samples")
    parser.add_argument("--blender", help="version (4.2, 4.5, 5.0, 5.2) or path; else the one found or made")
    parser.add_argument("--output", type=Path, default=ROOT / "demo", help="folder for what is made (demo/)")
    chosen = parser.parse_args()
    files = chosen.files or SAMPLES
    if [file.suffix.lower() for file in files] != [".ogf", ".omf"]:
        parser.error("name a model (.ogf) and then its motions (.omf)")
    if missing := [str(file) for file in files if not file.is_file()]:
        parser.error(f"there is no file {missing[0]}")
    try:
        blender = blenders.find(chosen.blender)
    except Unavailable as lacking:
        print(lacking, file=sys.stderr)
        return 1
    chosen.output.mkdir(parents=True, exist_ok=True)
    print(f"In Blender {blender.label}:", flush=True)
    with blenders.session(blender, {}) as session:
        command = session.blender_call(
            "--background", "--factory-startup", "--python-exit-code", "1",
            "--python", str(ROOT / "scripts" / "demonstration.py"),
            "--", *(str(path.absolute()) for path in [*files, chosen.output]),
        )  # fmt: skip
        status, output = session.run(command, LIMIT)
    print(output.rstrip())
    if status != 0:
        print(f"The demonstration failed (status {status}).", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
