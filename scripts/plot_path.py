"""Draws the six channels of an X-Ray animation (.anm) as the game plays them.

`python3 scripts/plot_path.py FILE [-o PICTURE]`; without -o the picture lies beside where you stand, called after the
file. The line is the game's own formula, densely evaluated; dots are the file's keys, thin lines the handles of the
curve that Blender is given.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge draws with Python 3.11 or newer: install it and start this again with it.")

import importlib.util
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from environment import Unavailable, virtual

STARTED_AGAIN = "MOTIONBRIDGE_IN_ENVIRONMENT"


def _has_libraries() -> bool:
    return all(importlib.util.find_spec(name) for name in ("matplotlib", "numpy"))


def main() -> int:
    """Draw with the libraries of an environment of their own, which is made where it is not there."""
    if not _has_libraries() and STARTED_AGAIN not in os.environ:
        try:
            interpreter = virtual.plot()
        except Unavailable as lacking:
            print(lacking, file=sys.stderr)
            return 2
        again = [str(interpreter), __file__, *sys.argv[1:]]
        return subprocess.run(again, env={**os.environ, STARTED_AGAIN: "1"}, check=False).returncode
    import path_picture  # noqa: PLC0415 - it imports matplotlib, which is only there by now

    return path_picture.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
