"""The zip as a user has it: installed, enabled, used, disabled and removed in a Blender that never saw it."""

import json
import shutil
import zipfile
from pathlib import Path

import build
import pytest

from tests.sources.test_architecture import loaded_at_start

ROOT = Path(__file__).resolve().parents[2]
MODULE = "bl_ext.user_default.motionbridge"

USE = f"""
import sys, addon_utils, bpy
assert "{MODULE}" in bpy.context.preferences.addons, "not enabled at the start"
import {MODULE} as motionbridge
from {MODULE}.formats import FORMATS
assert not any(name == "addon" or name.startswith("addon.") for name in sys.modules), "something imported the sources"
print("formats:", ",".join(sorted(format.name for format in FORMATS)))
"""

START = f"""
import json, sys, addon_utils, bpy
assert "{MODULE}" not in sys.modules
had_numpy = "numpy" in sys.modules
assert addon_utils.enable("{MODULE}", default_set=True) is not None
loaded = [name.removeprefix("{MODULE}").removeprefix(".") for name in sys.modules if name.startswith("{MODULE}")]
numpy_by_us = not had_numpy and "numpy" in sys.modules
addon_utils.disable("{MODULE}", default_set=True)
assert addon_utils.enable("{MODULE}", default_set=True) is not None
from {MODULE} import lazy
from importlib import import_module
for package, names in lazy.MODULES.items():
    for name in names:
        module = getattr(import_module("{MODULE}." + package if package else "{MODULE}"), name)
        assert module.__file__, name
assert bpy.ops.import_scene.xray_omf.poll()
print("loaded:", json.dumps([loaded, numpy_by_us]))
"""

DISABLE = f"""
import sys, addon_utils, bpy
addon_utils.disable("{MODULE}", default_set=True)
assert "{MODULE}" not in bpy.context.preferences.addons
assert sys.modules["{MODULE}"].__addon_enabled__ is False
"""


@pytest.fixture
def installed(computer, archive):
    computer.blender("--command", "extension", "install-file", "--repo", "user_default", "--enable", str(archive))
    return computer


def test_zip_holds_every_module_with_its_data_and_nothing_else(archive):
    with zipfile.ZipFile(archive) as content:
        packed = {name for name in content.namelist() if not name.endswith("/")}
    kinds = ("py", "json", "html")
    sources = {path.relative_to(ROOT / "addon") for kind in kinds for path in (ROOT / "addon").rglob(f"*.{kind}")}
    assert packed == {path.as_posix() for path in sources} | {"LICENSE", "blender_manifest.toml"}


def test_zip_is_what_blenders_own_builder_makes(computer, archive, tmp_path):
    build.validate(archive, computer.command)
    stage = tmp_path / "motionbridge"
    shutil.copytree(ROOT / "addon", stage)
    (stage / "__pycache__").mkdir(exist_ok=True)
    (stage / "__pycache__" / "names.pyc").touch()
    for name in ("blender_manifest.toml", "LICENSE"):
        shutil.copy2(ROOT / name, stage)
    by_blender = tmp_path / "by Blender.zip"
    computer.blender(
        "--command", "extension", "build", "--source-dir", str(stage), "--output-filepath", str(by_blender)
    )
    assert entries(archive) == entries(by_blender)
    with zipfile.ZipFile(archive) as content:
        assert {each.date_time for each in content.infolist()} == {build.EARLIEST}, "the same bytes at any time"


def entries(archive):
    with zipfile.ZipFile(archive) as content:
        assert content.namelist()[0] == "blender_manifest.toml"
        return {
            each.filename: (each.external_attr, each.compress_type, content.read(each)) for each in content.infolist()
        }


def test_changelog_tells_of_this_version():
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    version = next(line for line in manifest.splitlines() if line.startswith("version = ")).split('"')[1]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_it_is_enabled_at_the_next_start_and_its_formats_are_there(installed):
    message = installed.python(USE)
    names = (
        next(line for line in message.splitlines() if line.startswith("formats: ")).removeprefix("formats: ").split(",")
    )
    assert {"ogf", "omf"} <= set(names)


def test_enabling_loads_what_is_declared_and_every_late_module_can_be_loaded(installed):
    message = installed.blender("--background", "--factory-startup", "--python-exit-code", "1", "--python-expr", START)
    line = next(line for line in message.splitlines() if line.startswith("loaded: "))
    loaded, numpy_by_us = json.loads(line.removeprefix("loaded: "))
    assert set(loaded) == loaded_at_start()
    assert not numpy_by_us


def test_blender_knows_its_command(installed, samples):
    files = sorted(samples.glob("*.o[gm]f"))
    assert files
    rows = installed.blender("--command", "motionbridge", "verify", "--json", *map(str, files)).splitlines()
    verdicts = [json.loads(row) for row in rows if row.startswith("{")]
    assert [verdict["status"] for verdict in verdicts] == ["identical"] * len(files)
    wrong = installed.try_blender("--command", "motionbridge", "info", str(ROOT / "LICENSE"))
    assert wrong.returncode != 0
    assert "Traceback" not in wrong.stdout


def test_disabling_leaves_nothing_enabled(installed):
    installed.python(DISABLE)


def listed(computer):
    message = computer.blender("--command", "extension", "list")
    return any(line.strip().startswith("motionbridge [installed]") for line in message.splitlines())


def test_removing_takes_every_file_away(installed):
    assert listed(installed)
    installed.blender("--command", "extension", "remove", "motionbridge")
    assert not listed(installed)
    assert not list(installed.resources.rglob("motionbridge/__init__.py"))
