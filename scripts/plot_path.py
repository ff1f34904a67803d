"""Draws the six channels of an X-Ray animation (.anm) as the game plays them.

`python3 scripts/plot_path.py FILE [-o PICTURE]`; without -o the picture lies beside where you stand, called after the
file. The line is the game's own formula, densely evaluated; dots are the file's keys, thin lines the handles of the
curve that Blender is given.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge draws with Python 3.11 or newer: install it and start this again with it.")

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from environment import virtual


def main() -> int:
    """Draw with the libraries of an environment of their own, which is made where it is not there."""
    if (status := virtual.started_again("plot")) is not None:
        return status
    import path_picture  # noqa: PLC0415 - it imports matplotlib, which is only there by now

    return path_picture.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
