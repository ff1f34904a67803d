"""Files whose names Blender has no letters for, and links that lead nowhere: a sentence, never a traceback."""

import os
import shutil
from pathlib import Path

import bpy
import pytest

from addon.ui import scene_command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="names are bytes, and links free for all, in POSIX only")

KINDS = [
    (("humanoid.ogf",), "humanoid.omf"),
    ((), "humanoid.ogf"),
    ((), "camera.anm"),
    ((), "level/level.hom"),
    ((), "level/level.details"),
    (("arma/man.p3d",), "arma/walk.rtm"),
    ((), "descent3/ship.oof"),
]
UNPRINTABLE = b"/\xff\xe9"


def named(folder: Path, suffix: str) -> Path:
    return Path(os.fsdecode(os.fsencode(folder) + UNPRINTABLE + suffix.encode()))


def scene(*arguments: str | Path) -> int:
    return scene_command.main([str(argument) for argument in arguments])


def export(path: Path) -> None:
    assert getattr(bpy.ops.export_scene, scene_command.EXPORTERS[path.suffix])(filepath=str(path)) == {"FINISHED"}


@pytest.mark.parametrize(("before", "name"), KINDS, ids=[name for _, name in KINDS])
def test_an_export_takes_any_name(before, name, samples, tmp_path) -> None:
    assert scene("--import", *(samples / entry for entry in before), samples / name) == 0
    target = named(tmp_path, Path(name).suffix)
    for _ in range(2):
        export(target)
        assert target.read_bytes() == (samples / name).read_bytes()
    assert "\ufffd" in bpy.context.window_manager.motionbridge_report
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))


@pytest.mark.parametrize(("before", "name"), KINDS, ids=[name for _, name in KINDS])
def test_the_folder_of_a_blend_file_that_is_not_saved_is_nowhere(before, name, samples, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert scene("--import", *(samples / entry for entry in before), samples / name) == 0
    exporter = getattr(bpy.ops.export_scene, scene_command.EXPORTERS[Path(name).suffix])
    with pytest.raises(RuntimeError, match=r"not saved yet\. Save the \.blend file first"):
        exporter(filepath=f"//{Path(name).name}")
    assert not list(tmp_path.iterdir())
    (tmp_path / "project").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "project" / "saved.blend"))
    assert exporter(filepath=f"//{Path(name).name}") == {"FINISHED"}
    assert (tmp_path / "project" / Path(name).name).read_bytes() == (samples / name).read_bytes()
    importer = getattr(bpy.ops.import_scene, scene_command.IMPORTERS[Path(name).suffix])
    assert importer(filepath=f"//{Path(name).name}") == {"FINISHED"}


@pytest.mark.parametrize(("before", "name"), KINDS, ids=[name for _, name in KINDS])
def test_an_import_says_what_is_wrong_with_such_a_name(before, name, samples, tmp_path, capfd) -> None:
    source = named(tmp_path, Path(name).suffix)
    shutil.copy(samples / name, source)
    assert scene("--import", *(samples / entry for entry in before), source) == 2
    message = "".join(capfd.readouterr())
    assert "not UTF-8" in message
    assert "Traceback" not in message


@pytest.mark.parametrize(("before", "name"), KINDS, ids=[name for _, name in KINDS])
def test_an_export_refuses_a_link_to_itself(before, name, samples, tmp_path, capfd) -> None:
    assert scene("--import", *(samples / entry for entry in before), samples / name) == 0
    loop = tmp_path / f"loop{Path(name).suffix}"
    loop.symlink_to(loop)
    with pytest.raises(RuntimeError, match="leads back to itself") as refused:
        export(loop)
    assert "Traceback" not in str(refused.value) + "".join(capfd.readouterr())
    assert loop.is_symlink()
