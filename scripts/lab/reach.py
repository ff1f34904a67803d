"""A pytest plugin (`-p scripts.lab.reach`) for scripts/mutants.py: records which tests enter which functions of addon/.

It writes a JSON file to the path in MOTIONBRIDGE_REACH: ``tests`` are the passed tests, fastest first, as [name,
seconds]; ``functions`` maps each `module:function` to the indices of the tests that entered it.
"""

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]

_entered: dict[str, set[tuple[str, str]]] = defaultdict(set)
_seconds: dict[str, float] = {}
_unusable: set[str] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record every call while a test and its fixtures run."""
    entered = _entered[item.nodeid]

    def listen(frame: FrameType, _event: str, _argument: object) -> None:
        entered.add((frame.f_code.co_filename, frame.f_code.co_name))

    began = time.perf_counter()
    sys.settrace(listen)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        _seconds[item.nodeid] = time.perf_counter() - began


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Exclude tests that did not pass: they cannot detect mutants."""
    if not report.passed:
        _unusable.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the record."""
    tests = sorted(_seconds.keys() - _unusable, key=lambda test: _seconds[test])
    # Blender loads the addon through symbolic links.
    files = {file: Path(file).resolve() for file in {file for entered in _entered.values() for file, _ in entered}}
    modules = {
        file: path.relative_to(ROOT).as_posix() for file, path in files.items() if path.is_relative_to(ROOT / "addon")
    }
    functions = defaultdict(list)
    for index, test in enumerate(tests):
        for file, name in _entered[test]:
            if file in modules:
                functions[f"{modules[file]}:{name}"].append(index)
    result = {"tests": [[test, round(_seconds[test], 3)] for test in tests], "functions": functions}
    Path(os.environ["MOTIONBRIDGE_REACH"]).write_text(json.dumps(result), encoding="utf-8")
