"""Every test here begins in an empty file; the extension stays enabled."""

import bpy
import pytest


@pytest.fixture(scope="session")
def _saved_empty_file(tmp_path_factory) -> str:
    """Read as a start-up file it is what Blender brings along, in half the time: nothing in it is of an old version."""
    path = str(tmp_path_factory.mktemp("empty") / "empty.blend")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=False)
    return path


@pytest.fixture(autouse=True)
def _empty_file(_saved_empty_file):
    bpy.ops.wm.read_homefile(filepath=_saved_empty_file)
