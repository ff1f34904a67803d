"""Plays every scene of this folder in Blender's real window, with simulated mouse and keyboard:

    xvfb-run blender --factory-startup --enable-event-simulate --python tests/window/run.py -- RESULTS.xml [WORDS]

Only scenes with one of WORDS in their names are played. With ``--zip ARCHIVE`` instead of words, the scene of
`first_use` installs that zip in a Blender without the extension. What was on the screen when a scene failed lies beside
RESULTS.xml, named after the scene. `scripts/test.py` starts this where there is a real Blender executable.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Enable the extension and begin to play; Blender's event loop does the rest."""
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = True
    results, *words = sys.argv[sys.argv.index("--") + 1 :]
    if words[:1] == ["--zip"]:
        from tests.window import first_use, player

        first_use.archive = Path(words[1])
        player.play(first_use.SCENES, Path(results), [])
        return
    from tests import extension

    extension.pytest_configure()
    # Imported after that: these import modules of the extension by the name `addon`.
    from tests.window import player, scenes

    player.play(scenes.SCENES, Path(results), words)


try:
    main()
except BaseException:  # noqa: BLE001 - a usage error of pytest is no Exception
    import traceback

    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)  # Blender would only print it, and wait for somebody to close its window
