"""Modules that are loaded when they are first used: the stand-in is the module to whoever uses it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from addon.lazy import MODULES, LazyModule

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_BLENDER = [
    f"{package}.{name}" for package in ("core", "formats.arma", "formats.xray") for name in MODULES[package]
]


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120, cwd=ROOT
    )
    return json.loads(done.stdout)


def test_an_import_loads_nothing_and_a_use_loads_the_module():
    message = run(
        "import json, sys\n"
        "from addon.core import names\n"
        "before = 'addon.core.names' in sys.modules\n"
        "shown = names.printable('a')\n"
        "from addon.core import names as loaded\n"
        "print(json.dumps([before, shown, loaded is sys.modules['addon.core.names'], loaded is names]))"
    )
    assert message == [False, "a", True, False]


@pytest.mark.parametrize("name", ["addon.formats", "addon.cli"])
def test_without_blender_nothing_is_missing(name):
    assert run(f"import json, sys, {name}\nprint(json.dumps('{name}' in sys.modules))") is True


def test_the_list_of_formats_loads_none_of_them():
    message = run(
        "import json, sys, addon.formats\nprint(json.dumps([name for name in sys.modules if 'numpy' in name]))"
    )
    assert message == []


def test_an_archive_is_recognised_without_the_modules_of_other_formats():
    message = run(
        "import json, sys\n"
        "from addon.formats import archives\n"
        "archives.FORMAT\n"  # it is loaded late itself
        "known = set(sys.modules)\n"
        "archives.is_archive('README.md')\n"
        "print(json.dumps([name for name in set(sys.modules) - known if name.startswith('addon.formats.')]))"
    )
    assert message == []


@pytest.mark.parametrize("name", WITHOUT_BLENDER)
def test_every_late_module_loads_first_of_all(name):
    package, _, module = name.rpartition(".")
    message = run(
        f"import json\nfrom addon.{package} import {module}\n"
        f"print(json.dumps([type({module}).__name__, {module}.__file__]))"
    )
    assert message[0] == "LazyModule"
    assert Path(message[1]).is_relative_to(ROOT / "addon" / package.replace(".", "/"))


def test_setting_and_deleting_gets_into_the_module(tmp_path, monkeypatch):
    (tmp_path / "loaded_late.py").write_text("number = 1\ndef read(): return number\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    late = LazyModule("loaded_late")
    assert "loaded_late" not in sys.modules
    late.number = 2
    assert late.read() == 2
    del late.number
    with pytest.raises(NameError):
        late.read()
    with pytest.raises(AttributeError, match=r"loaded_late.*has no attribute 'missing'"):
        late.missing  # noqa: B018 - asking for it is what is tested
    monkeypatch.delitem(sys.modules, "loaded_late")


def test_a_module_that_is_missing_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"core\.no_such_module"):
        LazyModule("addon.core.no_such_module").anything  # noqa: B018 - as above
