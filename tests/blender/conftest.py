"""Every test here begins in an empty file; the extension stays enabled."""

import bpy
import pytest


@pytest.fixture(autouse=True)
def _empty_file():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
