"""What is saved twice is what is saved once: the bytes depend on the scene, not on how often it was saved."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from addon.ui.xray import models
from tests.blender.test_save_back import MADE, dialog_of, motions


def a_game_model(folder, samples):
    path = Path(shutil.copy(samples / "humanoid.ogf", folder))
    bpy.ops.import_scene.xray_ogf(filepath=str(path), textures=False)
    mesh = next(one for one in bpy.context.view_layer.objects.active.children if one.type == "MESH")

    def edit():
        mesh.data.vertices[0].co[2] += 0.25

    return SimpleNamespace(path=path, edit=edit, kind=models.MOTIONBRIDGE_OT_model_save_back)


FORMATS = {"motions": motions, "a_game_model": a_game_model} | MADE


def save(opened):
    return dialog_of(opened.kind, backup=False).execute(bpy.context)


def reload(folder):
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"), compress=False)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS.keys())
def test_what_is_saved_twice_is_what_is_saved_once(make, tmp_path, samples):
    folders = [tmp_path / name for name in ("once", "twice")]
    for folder in folders:
        folder.mkdir()
    once = make(folders[0], samples)
    imported = once.path.read_bytes()
    once.edit()
    once.edit()
    assert save(once) == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_empty=True)
    twice = make(folders[1], samples)
    assert save(twice) == {"CANCELLED"}
    for _ in range(2):
        before = twice.path.read_bytes()
        twice.edit()
        assert save(twice) == {"FINISHED"}
        after = twice.path.read_bytes()
        assert after not in {imported, before}
        assert save(twice) == {"CANCELLED"}
        assert twice.path.read_bytes() == after
    assert after == once.path.read_bytes()
    for _ in range(2):
        reload(tmp_path)
        assert save(twice) == {"CANCELLED"}
        assert twice.path.read_bytes() == after
