"""One Blender saves, another opens: MOTIONBRIDGE_ACROSS names the folder between them.

`test_saving.py` runs in the older Blender, `test_opening.py` afterwards in newer ones.
"""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def between() -> Path:
    """The folder of saved files."""
    return Path(os.environ["MOTIONBRIDGE_ACROSS"])
