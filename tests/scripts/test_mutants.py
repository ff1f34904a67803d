"""Mutants are judged by the tests that enter the function, and survivors are found again after the code moved."""

import json
import os
import subprocess
import sys
from pathlib import Path

import mutants
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """A = 1
def outer():
    @cached
    def inner(
        one,
    ):
        return one
    return inner
class B:
    c = 2
    def method(self): return 3
"""


@pytest.mark.parametrize(
    ("line", "function"), [(1, ""), (2, "outer"), (3, "inner"), (7, "inner"), (8, "outer"), (10, ""), (11, "method")]
)
def test_a_line_belongs_to_the_innermost_function(line, function):
    assert mutants.function_at(SOURCE, line) == function


@pytest.mark.parametrize("code", ["x ==", "x = y is 'text'"])
def test_code_that_python_refuses_or_warns_of_is_no_mutant(code):
    assert mutants._meaning(code) == ""
    assert mutants._meaning("x = y == 'text'") not in ("", mutants._meaning("x = y != 'text'"))


def test_the_tests_that_enter_a_function_are_recorded_and_those_that_fail_are_not(tmp_path):
    (tmp_path / "test_one.py").write_text(
        "from addon.core.report import counted\n"
        "def test_enters(): assert counted(2, 'bone') == '2 bones'\n"
        "def test_does_not(): assert True\n"
        "def test_fails(): assert counted(2, 'bone') == '3 bones'\n"
    )
    record = tmp_path / "record.json"
    call = [sys.executable, "-m", "pytest", "-p", "scripts.lab.reach", "-p", "no:cacheprovider", "-q", str(tmp_path)]
    done = subprocess.run(
        call,
        cwd=ROOT,
        env=os.environ | {"MOTIONBRIDGE_REACH": str(record)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 2 passed" in done.stdout
    recorded = json.loads(record.read_text())
    tests = [name.rpartition("::")[2] for name, _ in recorded["tests"]]
    assert sorted(tests) == ["test_does_not", "test_enters"]
    assert [tests[index] for index in recorded["functions"]["addon/core/report.py:counted"]] == ["test_enters"]
    assert all(seconds > 0 for _, seconds in recorded["tests"])


def test_survivors_of_a_list_are_found_again_at_their_nearest_line(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\ndef f():\n    x = 1\n    return x\n")
    entries = [
        {"noticed": "a test", "difference": "a.py: NumberReplacer\n@@ -1 +1 @@\n-x = 1\n+x = 0"},
        {"noticed": "", "difference": "a.py: NumberReplacer\n@@ -9 +9 @@\n-    x = 1\n+    x = 2"},
        {"noticed": "", "difference": "a.py: NumberReplacer\n@@ -1 +1 @@\n-y = 1\n+y = 0"},
    ]
    (tmp_path / "list").write_text("\n".join(map(json.dumps, entries)))
    (path,) = mutants.listed_before(tmp_path / "list", tmp_path)
    assert (path.function, path.operator) == ("f", "NumberReplacer")
    assert path.code == "x = 1\ndef f():\n    x = 2\n    return x\n"
    assert path.difference() == "a.py: NumberReplacer\n@@ -3 +3 @@\n-    x = 1\n+    x = 2"


def test_tests_that_take_far_longer_than_recorded_are_stopped(tmp_path, monkeypatch):
    record = {"tests": [["tests/a.py::one", 1.0], ["tests/a.py::other", 3.0]], "functions": {"addon/a.py:f": [1]}}
    (tmp_path / "reach-pure.json").write_text(json.dumps(record))
    limits = []
    monkeypatch.setattr(mutants.Ring, "_run", lambda _ring, _arguments, limit: limits.append(limit) or (None, ""))
    ring = mutants.Ring(tmp_path / "checkout", None, tmp_path, mutants.PURE)
    changed = mutants.Mutant(Path("addon/a.py"), "NumberReplacer", "f", "", "")
    assert ring.noticed(changed) == "a run without an end"
    assert limits == [mutants.STARTED + 3 * mutants.SLOWER]


def test_tests_that_fail_without_a_change_are_named(tmp_path, monkeypatch, capsys):
    def recording(_ring, _arguments, _limit, variables):
        Path(variables["MOTIONBRIDGE_REACH"]).write_text('{"tests": [], "functions": {}}')
        return 1, "FAILED tests/a.py::one - assert 1 == 2\n1 failed"

    monkeypatch.setattr(mutants.Ring, "_run", recording)
    ring = mutants.Ring(tmp_path / "checkout", None, tmp_path, mutants.PURE)
    assert ring.noticed(mutants.Mutant(Path("addon/a.py"), "NumberReplacer", "f", "", "")) == ""
    assert "judges nothing: tests/a.py::one\n" in capsys.readouterr().out
