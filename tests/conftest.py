"""What every test may ask for: real files, a clean Blender, and the extension under the name `addon`.

Pure tests run in plain Python, those of `tests/blender` inside a Blender (`tests/run.py`). `tests/sources` is about our
own sources and pages. `tests/package` looks at the built zip from outside, with the Blender named in
MOTIONBRIDGE_BLENDER. `tests/across` needs two Blenders, one after the other.
"""

import gc
import os
import sys
import time
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest

from tests.real_files import CORPUS, VECTORS

gc.disable()  # until all tests are imported: nearly all of that stays, and would be looked through again and again

ROOT = Path(__file__).resolve().parents[1]
IN_BLENDER = "bpy" in sys.modules
PROCESSOR_SECONDS = "processor seconds"
"""What scripts/rings.py looks for in the results of a test."""

collect_ignore = []
if IN_BLENDER:
    collect_ignore += ["scripts"]  # these start programs of this machine; they say nothing about a Blender
else:
    collect_ignore += ["blender"]
if "MOTIONBRIDGE_BLENDER" not in os.environ:
    collect_ignore += ["package"]
if "MOTIONBRIDGE_ACROSS" not in os.environ:
    collect_ignore += ["across"]

# A slow machine is no failure, and what CI found must be found again by whoever looks after it.
UNTIMED = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("here", UNTIMED)
hypothesis.settings.register_profile("ci", UNTIMED, derandomize=True, database=None)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "here")


def pytest_collection_finish():
    # Not frozen: hypothesis asks the collector who refers to its random numbers, and frozen modules do not count.
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Add the processor seconds of a test that is not deep to its results: other work of the machine is not in them."""
    began = time.process_time()
    try:
        return (yield)
    finally:
        if item.get_closest_marker("deep") is None:
            item.user_properties.append((PROCESSOR_SECONDS, time.process_time() - began))


@pytest.fixture(autouse=True)
def files_in_use_are_not_replaced(monkeypatch):
    """Refuse, as Windows does and Linux does not, to replace a file that this process has open or mapped."""
    files = import_module("addon.core.files")
    put_in_place = files._put_in_place

    def put_unless_in_use(fresh, target):
        own = Path("/proc/self")
        if own.is_dir() and target.exists():
            names = {os.path.realpath(link) for link in (own / "fd").iterdir()}
            maps = (own / "maps").read_text(errors="replace")
            in_use = str(target) in names or f" {target}\n" in maps
            assert not in_use, f"{target} is in use while it is replaced"
        put_in_place(fresh, target)

    monkeypatch.setattr(files, "_put_in_place", put_unless_in_use)


@pytest.fixture
def run(capsys):
    """Run a command of the command line: exit status, lines of output, text of the standard error."""

    cli = import_module("addon.cli")  # late: inside a Blender `addon` is another name for the enabled extension

    def run(*arguments):
        status = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out.splitlines(), captured.err

    return run


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real game files; the test is skipped where there is none."""
    if CORPUS is None:
        pytest.skip("MOTIONBRIDGE_CORPUS is not set")
    return CORPUS


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of numbers computed with the engines' own arithmetic; the test is skipped where there is none."""
    if VECTORS is None:
        pytest.skip("MOTIONBRIDGE_VECTORS is not set")
    return VECTORS


@pytest.fixture(scope="session")
def samples() -> Path:
    """Our own tiny models and motions, made by scripts/make_samples.py."""
    return ROOT / "tests" / "samples"
