"""Temporary files of exports: those of killed programs go, those that somebody writes stay."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from addon.core import files

DAY = files.ABANDONED_AFTER


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def left(folder, name, *, age=0.0):
    path = folder / name
    path.write_bytes(b"half")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


# A chroot has none unless somebody mounts it; then a running number protects the file until it is a day old.
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc says when a process began")


def named(process, *, machine=None, token="0" * 16):
    return f".motionbridge-{machine or files._machine()}-{process}-{token}.tmp"


@pytest.fixture
def ended():
    """The number of a process that was there."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


@pytest.fixture
def running():
    """The number of a process that is there for as long as the test."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield other.pid
    other.communicate(b"\n")


def test_names_are_ours_and_each_is_new():
    names = {files.temporary_name() for _ in range(100)}
    assert len(names) == 100
    assert all(files._NAME.fullmatch(name) for name in names)
    assert all(f"-{os.getpid()}-" in name for name in names)


def test_the_next_export_removes_what_a_killed_one_left(tmp_path, ended):
    left(tmp_path, named(ended))
    files.write_atomically(tmp_path / "walk.omf", b"new")
    assert names_in(tmp_path) == ["walk.omf"]


def test_what_another_program_is_writing_stays(tmp_path, running):
    path = left(tmp_path, named(running))
    files.write_atomically(tmp_path / "walk.omf", b"new")
    assert path.exists()


def test_what_this_program_is_writing_stays(tmp_path):
    path = left(tmp_path, files.temporary_name())
    files.remove_abandoned(tmp_path)
    assert path.exists()


def test_what_an_earlier_program_of_our_number_left_goes(tmp_path):
    left(tmp_path, named(os.getpid()))
    files.remove_abandoned(tmp_path)
    assert not names_in(tmp_path)


@needs_proc
def test_a_number_that_passed_on_to_a_later_program_does_not_protect(tmp_path, running):
    left(tmp_path, named(running), age=600)
    files.remove_abandoned(tmp_path)
    assert not names_in(tmp_path)


@needs_proc
def test_a_program_that_waits_to_be_buried_has_ended(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    left(tmp_path, named(dead.pid))
    files.remove_abandoned(tmp_path)
    dead.wait()
    assert not names_in(tmp_path)


def test_of_other_machines_only_old_ones_go(tmp_path):
    name = named(1, machine="01234567")
    path = left(tmp_path, name, age=DAY - 60)
    files.remove_abandoned(tmp_path)
    assert path.exists()
    left(tmp_path, name, age=DAY + 60)
    files.remove_abandoned(tmp_path)
    assert not path.exists()


@pytest.mark.parametrize("name", ["walk.omf", ".motionbridge-notes.tmp", ".motionbridge-0123456789abcdef.tmp.omf"])
def test_files_of_others_stay(tmp_path, name):
    path = left(tmp_path, name, age=2 * DAY)
    files.remove_abandoned(tmp_path)
    assert path.exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_links_and_folders_of_such_names_stay(tmp_path, ended):
    (tmp_path / "precious").write_bytes(b"kept")
    (tmp_path / named(ended)).symlink_to(tmp_path / "precious")
    (tmp_path / named(ended, token="1" * 16)).mkdir()
    files.remove_abandoned(tmp_path)
    assert len(names_in(tmp_path)) == 3


def test_a_folder_that_cannot_be_listed_stops_no_export(tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "scandir", refuse)
    files.write_atomically(tmp_path / "walk.omf", b"new")
    assert (tmp_path / "walk.omf").read_bytes() == b"new"


def test_a_number_no_process_can_have_is_dead(tmp_path):
    left(tmp_path, named(9_999_999_999))
    files.remove_abandoned(tmp_path)
    assert not names_in(tmp_path)


@pytest.mark.parametrize(
    ("handle", "error", "waited", "running"),
    [(42, 0, 0x102, True), (42, 0, 0, False), (None, 87, 0, False), (None, 5, 0, True)],
    ids=["runs", "has ended, somebody holds it", "is none", "is somebody else's"],
)
def test_windows_is_asked_without_ending_the_process(monkeypatch, handle, error, waited, running):
    class Function:
        def __init__(self, value):
            self.value, self.calls = value, []

        def __call__(self, *arguments):
            self.calls.append(arguments)
            return self.value

    class Kernel:
        OpenProcess, WaitForSingleObject, CloseHandle = Function(handle), Function(waited), Function(1)

    monkeypatch.setattr(files.ctypes, "WinDLL", lambda *_, **__: Kernel, raising=False)
    monkeypatch.setattr(files.ctypes, "get_last_error", lambda: error, raising=False)
    assert files._is_running_on_windows(1234) is running
    assert Kernel.OpenProcess.calls == [(0x0010_0000, False, 1234)]
    assert Kernel.CloseHandle.calls == ([(42,)] if handle else [])


EXPORTING = """
import sys
from pathlib import Path
from addon.core.files import write_atomically
path = Path(sys.argv[1])
for number in range(1_000_000):
    path.with_name("walk.omf.bak").unlink(missing_ok=True)
    write_atomically(path, bytes([number % 251]) * 3_000_000, backup=True)
    print(number, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="a program that Windows ends may still hold its file for a moment")
@pytest.mark.deep
def test_whenever_an_export_is_killed_the_file_is_whole_and_the_next_one_tidies_up(tmp_path):
    path, root, left = tmp_path / "walk.omf", Path(__file__).resolve().parents[2], 0
    for number in range(12):
        killed = subprocess.Popen([sys.executable, "-c", EXPORTING, path], cwd=root, stdout=subprocess.PIPE)
        killed.stdout.readline()
        time.sleep(0.003 * number)
        killed.kill()
        killed.communicate()
        for whole in (path, tmp_path / "walk.omf.bak"):
            data = whole.read_bytes() if whole.exists() else b""
            assert whole != path or len(data) == 3_000_000
            assert not data or data == data[:1] * 3_000_000
        left += len(set(names_in(tmp_path)) - {"walk.omf", "walk.omf.bak"})
        files.write_atomically(path, b"x" * 3_000_000)
        assert set(names_in(tmp_path)) <= {"walk.omf", "walk.omf.bak"}
    assert left, "not one of them was killed while it wrote"
