"""Files are read whole and replaced whole; whatever fails, the old file is as it was and nothing lies about."""

import errno
import ntpath
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from addon.core import files
from addon.core.errors import ReadError, WriteError
from addon.core.files import read_file, warn_of_replacing, write_atomically
from addon.core.report import Report


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def test_bytes_come_back(tmp_path):
    path = tmp_path / "новый.omf"
    write_atomically(path, b"\x00\xff\r\n\x1a")
    assert read_file(path) == b"\x00\xff\r\n\x1a"
    assert names_in(tmp_path) == [path.name]


def test_reading_says_what_is_wrong(tmp_path):
    (tmp_path / "empty").touch()
    wrong = {"missing": "there is no such file", "": "this is a folder", "empty": "the file is empty"}
    for name, problem in wrong.items():
        with pytest.raises(ReadError) as refused:
            read_file(tmp_path / name)
        assert refused.value.problem == problem
        assert refused.value.file == str(tmp_path / name)
        assert refused.value.remedy
    with pytest.raises(ReadError, match=r"there is no such file|Not a directory"):
        read_file(tmp_path / "empty" / "below")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="device or a pipe"):
        read_file(tmp_path / "pipe")


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "secret.omf"
    path.write_bytes(b"x")

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ReadError, match=r"denies permission to read it.*permissions"):
        read_file(path)


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "step"),
    [(files.os, "fsync"), (files.shutil, "copymode"), (files.shutil, "copy2"), (files.Path, "replace")],
)
def test_the_old_file_survives_a_write_that_fails_at_any_step(tmp_path, monkeypatch, owner, step):
    path = tmp_path / "motions.omf"
    path.write_bytes(b"old")
    monkeypatch.setattr(owner, step, full)
    with pytest.raises(WriteError, match="No space left on device") as refused:
        write_atomically(path, b"new" * 1000, backup=True)
    assert refused.value.file == str(path)
    assert refused.value.remedy == "Make room there, or choose another drive"
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["motions.omf"]


def test_an_interrupted_write_leaves_the_old_file_too(tmp_path, monkeypatch):
    path = tmp_path / "motions.omf"
    path.write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["motions.omf"]


def test_a_file_that_cannot_be_replaced_gets_no_backup(tmp_path, monkeypatch):
    """As on Windows, where another program has the file open."""
    path = tmp_path / "walk.omf"
    path.write_bytes(b"old")
    replace = Path.replace

    def refuse(fresh, target):
        if target == path:
            raise PermissionError(errno.EACCES, "The process cannot access the file")
        return replace(fresh, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(WriteError, match="no other program has it open"):
        write_atomically(path, b"new", backup=True)
    assert names_in(tmp_path) == ["walk.omf"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("head", ["C:\\mod", r"\\server\share"])
def test_paths_that_are_too_long_for_windows_get_the_form_without_a_limit(head):
    short = ntpath.join(head, "walk.omf")
    assert files._extended(short, 0) == short
    longest = head + "\\" + "a" * (258 - len(head))
    assert len(longest) == 259
    assert files._extended(longest, 0) == longest
    long = files._extended(longest, 1)
    assert long.startswith("\\\\?\\")
    assert files._extended(long, 1) == long
    # The system reads what follows the sign literally, and a share by the word UNC.
    assert ntpath.splitdrive(long)[0] == ("\\\\?\\C:" if head[1] == ":" else r"\\?\UNC\server\share")
    assert ntpath.splitdrive(long)[1] == ntpath.splitdrive(longest)[1]


@pytest.mark.parametrize("name", ["walk:1.omf", "nul.omf", "COM1", "walk.", "a?b.omf"])
def test_on_windows_names_that_it_cannot_store_are_refused(tmp_path, monkeypatch, name):
    path = tmp_path / name
    monkeypatch.setattr(files, "os", SimpleNamespace(**{**vars(os), "name": "nt"}))
    with pytest.raises(WriteError, match="Windows cannot store a file of this name"):
        write_atomically(path, b"new", tidy=False)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("refusals", [0, 3, 4, 5])
def test_on_windows_a_file_that_is_open_for_a_moment_is_replaced_after_it(tmp_path, monkeypatch, refusals):
    path = tmp_path / "walk.omf"
    path.write_bytes(b"old")
    waits, attempts, replace = [], [], Path.replace

    def refuse(fresh, target):
        attempts.append(target)
        if len(attempts) <= refusals:
            raise PermissionError(errno.EACCES, "The process cannot access the file")
        return replace(fresh, target)

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(files, "os", SimpleNamespace(**{**vars(os), "name": "nt"}))
    monkeypatch.setattr(files.time, "sleep", waits.append)
    if refusals <= len(files.WINDOWS_WAITS):
        write_atomically(path, b"new", tidy=False)
    else:
        with pytest.raises(WriteError, match="no other program has it open"):
            write_atomically(path, b"new", tidy=False)
    assert path.read_bytes() == (b"new" if refusals < 5 else b"old")
    assert waits == list(files.WINDOWS_WAITS[:refusals])
    assert names_in(tmp_path) == ["walk.omf"]


def test_the_first_bytes_are_kept_as_a_backup_when_asked(tmp_path):
    path = tmp_path / "motions.omf"
    write_atomically(path, b"first", backup=True)  # nothing to keep yet
    assert names_in(tmp_path) == ["motions.omf"]
    write_atomically(path, b"second", backup=True)
    write_atomically(path, b"third", backup=True)
    assert path.read_bytes() == b"third"
    assert files.backup_of(path) == tmp_path / "motions.omf.bak"
    assert (tmp_path / "motions.omf.bak").read_bytes() == b"first"
    assert len(names_in(tmp_path)) == 2


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_a_backup_lies_beside_the_file_that_a_link_leads_to(tmp_path):
    (tmp_path / "game").mkdir()
    path, link = tmp_path / "game" / "motions.omf", tmp_path / "link.omf"
    path.write_bytes(b"old")
    link.symlink_to(path)
    write_atomically(link, b"new", backup=True)
    assert files.backup_of(link) == files.backup_of(path)
    assert files.backup_of(link).read_bytes() == b"old"


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "motions.omf", tmp_path / "link.omf"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="umask is POSIX")
def test_a_new_file_is_as_readable_as_any_other(tmp_path):
    (tmp_path / "other").touch()
    write_atomically(tmp_path / "fresh", b"x")
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_write_protected_file_stays_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "motions.omf"
    path.write_bytes(b"old")
    path.chmod(0o444)
    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(WriteError, match="write-protected"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_positions_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(WriteError, match="this is a folder"):
        write_atomically(tmp_path, b"x")
    with pytest.raises(WriteError, match="its folder does not exist"):
        write_atomically(tmp_path / "nowhere" / "motions.omf", b"x")


def test_an_archive_that_is_gone_is_named(tmp_path):
    path = tmp_path / "meshes.db0" / "actors" / "hero.omf"
    for access in (lambda: read_file(path), lambda: write_atomically(path, b"x")):
        with pytest.raises((ReadError, WriteError), match="there is no archive or folder") as refusal:
            access()
        assert str(refusal.value).endswith(f"{tmp_path / 'meshes.db0'}. Check its name, or put it back.")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_links_that_lead_back_to_themselves_are_refused_and_stay(tmp_path):
    for name, to in (("a", "b"), ("b", "a"), ("loop.omf", "loop.omf")):
        (tmp_path / name).symlink_to(tmp_path / to)
    for path in (tmp_path / "loop.omf", tmp_path / "a", tmp_path / "loop.omf" / "walk.omf"):
        with pytest.raises(WriteError, match=r"leads back to itself|[Tt]oo many levels|Not a directory"):
            write_atomically(path, b"new", backup=True)
        with pytest.raises(ReadError):
            read_file(path)
        files.backup_of(path)
        warn_of_replacing(path, Report())
    assert sorted(names_in(tmp_path)) == ["a", "b", "loop.omf"]
    assert all(path.is_symlink() for path in tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="names are bytes in POSIX only")
def test_a_name_that_is_not_a_text_is_written(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.omf")
    write_atomically(path, b"old")
    write_atomically(path, b"new", backup=True)
    assert read_file(path) == b"new"
    assert set(map(os.fsencode, names_in(tmp_path))) == {b"\xff.omf", b"\xff.omf.bak"}


def test_other_names_of_the_file_are_reported_before(tmp_path):
    path = tmp_path / "walk.omf"
    path.write_bytes(b"old")
    report = Report()
    warn_of_replacing(path, report)
    warn_of_replacing(tmp_path / "new.omf", report)
    warn_of_replacing(tmp_path, report)
    assert not report
    for name, words in (("staging.omf", "1 other hard link to the file keeps"), ("other.omf", "2 other hard links")):
        os.link(path, tmp_path / name)
        report = Report()
        warn_of_replacing(path, report)
        (line,) = report.lines()
        assert line.startswith(words)
    write_atomically(path, b"new")
    assert (tmp_path / "staging.omf").read_bytes() == b"old"


needs_root = pytest.mark.skipif(
    os.name == "nt" or os.geteuid() != 0, reason="only root gives files away, and tests need not be root"
)


@needs_root
def test_the_owner_and_group_stay_where_the_system_lets_us(tmp_path):
    path = tmp_path / "walk.omf"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    write_atomically(path, b"new", backup=True)
    after = path.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (12345, 23456, 0o640)


@pytest.mark.skipif(os.name == "nt", reason="owners of POSIX")
def test_an_owner_that_cannot_stay_is_reported_before_and_stops_nothing(tmp_path, monkeypatch):
    path = tmp_path / "walk.omf"
    path.write_bytes(b"old")
    asked = []

    def refuse(_path, owner, group):
        asked.append((owner, group))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    real, mine = Path.stat, path.stat()
    theirs = os.stat_result((*mine[:4], mine.st_uid + 1, mine.st_gid + 1, *mine[6:]))
    monkeypatch.setattr(Path, "stat", lambda entry, **more: theirs if entry == path else real(entry, **more))
    monkeypatch.setattr(files.os, "chown", refuse)
    monkeypatch.setattr(files.os, "geteuid", lambda: mine.st_uid or 1000)
    report = Report()
    warn_of_replacing(path, report)
    assert "belongs to another user" in report.lines()[0]
    with monkeypatch.context() as protected:  # a file that is not replaced loses nothing
        protected.setattr(files.os, "access", lambda *_: False)
        warn_of_replacing(path, unchanged := Report())
    assert not unchanged
    write_atomically(path, b"new")
    assert asked == [(mine.st_uid + 1, mine.st_gid + 1), (-1, mine.st_gid + 1)]
    assert path.read_bytes() == b"new"
