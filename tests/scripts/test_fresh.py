"""Bare Debians: judged by what the commands say, and gone afterwards."""

import contextlib
import subprocess
from pathlib import Path

import fresh
import pytest
from environment import blenders, chroot


def outcome(monkeypatch, version, status):
    answers = iter([version, status])
    monkeypatch.setattr(fresh, "_run", lambda folder, command, capture=False: next(answers))
    return fresh._outcome("trixie", Path("place"), "python3 scripts/demo.py")


def test_a_command_passes_with_the_python_it_is_meant_for(monkeypatch):
    assert outcome(monkeypatch, "3.13.5", "0").startswith("passed: trixie, Python 3.13.5: python3 scripts/demo.py")
    assert outcome(monkeypatch, "3.13.5", "1").startswith("FAILED")
    assert outcome(monkeypatch, "3.11.2", "0").startswith("FAILED")


def test_a_command_that_never_ends_fails(monkeypatch):
    def late(folder, command, capture=False):
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(fresh, "_run", late)
    result = fresh._outcome("trixie", Path("place"), "python3 scripts/demo.py")
    assert result == "FAILED: trixie: python3 scripts/demo.py was stopped after 7200 seconds"


def test_each_debian_has_a_python_that_a_wheel_was_built_for():
    assert set(fresh.SUITES.values()) == set(blenders.WHEEL_FOR_PYTHON)
    readme = (fresh.ROOT / "README.md").read_text(encoding="utf-8")
    assert all(" ".join(command) in readme for command in fresh.COMMANDS.values())


def test_a_part_of_one_command_can_be_run(monkeypatch):
    """Its arguments are handed on as they were given."""
    ran = []

    @contextlib.contextmanager
    def bare(suite):
        yield Path(suite)

    monkeypatch.setattr(fresh, "bare", bare)
    monkeypatch.setattr(fresh, "_outcome", lambda suite, folder, command: ran.append((suite, command)) or "passed")
    given = ["--suite", "bookworm", "--only", "test", "--fast", "tests/core", "-k", "quantum or binary"]
    monkeypatch.setattr(fresh.sys, "argv", ["fresh.py", *given])
    assert fresh.main() == 0
    assert ran == [("bookworm", "python3 scripts/test.py --fast tests/core -k 'quantum or binary'")]
    monkeypatch.setattr(fresh.sys, "argv", ["fresh.py", "--fast"])
    with pytest.raises(SystemExit):
        fresh.main()


def test_a_debian_that_cannot_be_made_is_a_failure_and_leaves_no_folder(monkeypatch, tmp_path, capsys):
    def broken(folder, suite, packages):
        folder.mkdir()
        raise RuntimeError("debootstrap left with status 1")

    monkeypatch.setenv("MOTIONBRIDGE_ENVIRONMENTS", str(tmp_path))
    monkeypatch.setattr(chroot, "possible", lambda: None)
    monkeypatch.setattr(chroot, "make", broken)
    monkeypatch.setattr(fresh.sys, "argv", ["fresh.py", "--suite", "trixie"])
    assert fresh.main() == 1
    assert "FAILED: trixie: debootstrap left with status 1" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["https_proxy", "PIP_INDEX_URL"])
def test_of_this_machine_only_as_to_the_network_is_known(monkeypatch, name):
    monkeypatch.setenv(name, "http://somewhere")
    monkeypatch.setenv("SECRET", "of this machine")
    assert fresh._network()[name] == "http://somewhere"
    assert "SECRET" not in fresh._network()
