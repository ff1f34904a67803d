"""Runs the tests inside a Blender, real executable or wheel:

    blender --background --factory-startup --python-exit-code 1 --python tests/run.py -- [pytest arguments]

The extension is enabled straight from the sources, under the name that users' Blenders give it
(`bl_ext.….motionbridge`), and `addon` is another name for the very same modules.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    sys.path.insert(0, str(ROOT))
    try:
        import pytest
    except ImportError:  # an official Blender brings its own Python: what it lacks for tests lies in a folder
        sys.path.append(os.environ["MOTIONBRIDGE_TEST_PACKAGES"])
        import pytest

    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    os.chdir(ROOT)
    return int(pytest.main(["-p", "no:cacheprovider", "-p", "tests.extension", *arguments]))


status = main()
sys.stdout.flush()
sys.stderr.flush()
# A Blender that shuts down may crash, hang or report success of its own: what pytest found is what counts.
os._exit(status)
