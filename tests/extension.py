"""A pytest plugin for the inside of a Blender: the extension, enabled from the sources."""

import importlib
import importlib.abc
import importlib.machinery
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import bpy  # first: a wheel makes the modules that come with Blender importable by it

# isort: split
import addon_utils
import pytest

ROOT = Path(__file__).resolve().parents[1]
IDENTIFIER = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["id"]
MODULE = f"bl_ext.dev.{IDENTIFIER}"


class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes `import addon.x` give the module `bl_ext.dev.motionbridge.x`: two copies would have two of each class."""

    def find_spec(self, name, path=None, target=None):
        if name == "addon" or name.startswith("addon."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        # The import system hands out what it finds here afterwards.
        sys.modules[name] = importlib.import_module(MODULE + name.removeprefix("addon"))
        # What that imported in its turn is known too: importing it once more under the other name would bind it to its
        # package again, over a function of the same name.
        for loaded, result in list(sys.modules.items()):
            if loaded == MODULE or loaded.startswith(MODULE + "."):
                sys.modules.setdefault("addon" + loaded.removeprefix(MODULE), result)


_repository = Path()


def pytest_configure():
    global _repository  # noqa: PLW0603 - pytest knows no other state of a plugin module
    _repository = Path(tempfile.mkdtemp(prefix="extensions-"))
    package = _repository / IDENTIFIER
    package.mkdir()
    for source in [ROOT / "blender_manifest.toml", *(ROOT / "addon").iterdir()]:
        (package / source.name).symlink_to(source)
    repositories = bpy.context.preferences.extensions.repos
    repositories.new(name="Dev", module="dev", custom_directory=str(_repository), remote_url="")
    if addon_utils.enable(MODULE, default_set=True) is None:
        raise pytest.UsageError("the extension could not be enabled; Blender has printed why")
    # What is loaded late is loaded now, for the reason that `Alias.exec_module` gives.
    for path in sorted((ROOT / "addon").rglob("*.py")):
        parts = path.relative_to(ROOT / "addon").with_suffix("").parts
        if parts[-1] != "__main__":
            importlib.import_module(".".join([MODULE, *parts]).removesuffix(".__init__"))
    sys.meta_path.insert(0, Alias())


def pytest_unconfigure():
    addon_utils.disable(MODULE, default_set=True)
    shutil.rmtree(_repository, ignore_errors=True)
