"""Files on disk: read completely, and replaced completely or not at all.

A failed export does not damage the old file: the new bytes are complete on the disk before one rename puts them in its
place.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import hashlib
import mmap
import os
import platform
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from . import inner_files
from .binary import Bytes
from .errors import MotionbridgeError, ReadError, WriteError
from .report import Report, say

ABANDONED_AFTER = 24 * 3600.0
"""Seconds. A temporary file that has not changed for longer is abandoned, even if a process with that id runs."""
START_SLACK = 2.0
"""Seconds by which the clocks of files and of processes may differ."""
WINDOWS_WAITS = (0.05, 0.1, 0.2, 0.4)
"""Seconds between attempts to replace a file that another program has open; together less than a user notices."""
_NAME = re.compile(r"\.motionbridge-([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{16})\.tmp")
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_PROCESS_TOKEN = secrets.token_hex(4)


def temporary_name() -> str:
    """Return a name for a temporary file that no other process uses."""
    return f".motionbridge-{_machine()}-{os.getpid()}-{_PROCESS_TOKEN}{secrets.token_hex(4)}.tmp"


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files in a folder whose processes have ended. Files that cannot be removed stay and do no
    harm.

    Those of other machines, and of processes whose ids are in use again without this being detected
    are removed after `ABANDONED_AFTER`.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        abandoned = [entry for entry in entries if entry.name.startswith(".motionbridge-")]
        for entry in abandoned:
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False) and _is_abandoned(entry.name, entry.stat().st_mtime):
                    Path(entry.path).unlink()


def _is_abandoned(name: str, changed: float) -> bool:
    parts = _NAME.fullmatch(name)
    if parts is None:
        return False
    if time.time() - changed > ABANDONED_AFTER:
        return True
    machine, process, token = parts.groups()
    if machine != _machine():
        return False
    if int(process) == os.getpid():
        return not token.startswith(_PROCESS_TOKEN)
    return not _is_running(int(process), changed)


@functools.cache
def _machine() -> str:
    """Return a digest of what process ids are valid in: the machine, on Linux also the container."""
    numbered_in = ""
    with contextlib.suppress(OSError):
        numbered_in = str(Path("/proc/self/ns/pid").readlink())
    return hashlib.blake2b(f"{platform.node()} {numbered_in}".encode(), digest_size=4).hexdigest()


def _is_running(process: int, since: float) -> bool:
    """Return whether a process runs that may have existed at the time ``since`` (seconds)."""
    if os.name == "nt":
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it belongs to another user, so it runs
    started = _start_of(process)
    return started is None or started <= since + START_SLACK


def _start_of(process: int) -> float | None:
    """Return when a process began (seconds; infinite for a zombie process); None if unknown.

    Process ids are used again, soon in a container or after a restart.
    """
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        ticks = int(fields[18]) / os.sysconf("SC_CLK_TCK")
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError, ValueError, IndexError):
        return None
    return float("inf") if state in (b"Z", b"X") else booted + ticks


def _is_running_on_windows(process: int) -> bool:
    """Return whether a process runs. On Windows `os.kill` cannot be used, since it would end the process."""
    windows: Any = ctypes  # has WinDLL and get_last_error on Windows only
    kernel = windows.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = ctypes.c_void_p
    kernel.OpenProcess.argtypes = (ctypes.c_uint32, ctypes.c_int, ctypes.c_uint32)
    kernel.WaitForSingleObject.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
    kernel.CloseHandle.argtypes = (ctypes.c_void_p,)
    synchronise, denied, still_running = 0x0010_0000, 5, 0x102
    handle = kernel.OpenProcess(synchronise, False, process & 0xFFFF_FFFF)
    if not handle:
        return bool(windows.get_last_error() == denied)
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_running)
    finally:
        kernel.CloseHandle(handle)


# Files ----------------------------------------------------------------------------------------------------------------


def read_file(path: Path | str, size: int = -1) -> bytes:
    """Return all bytes of a file, or its first ``size`` bytes. Its path may lead into an archive (`FileLocation`).

    Raises `ReadError` if it is missing, empty, not a regular file, or not readable.
    """
    path = Path(path)
    inner = inner_files.find(str(path))
    if inner is not None:
        data = inner.read()[: size if size >= 0 else None]
    else:
        with opened_for_reading(path) as stream:
            data = stream.read(size)
    if not data:
        raise _empty(path)
    return data


@contextlib.contextmanager
def opened_for_reading(path: Path | str) -> Iterator[BinaryIO]:
    """Open a file of which parts are read, and close it again. Raises `ReadError` as `read_file`; it may be empty."""
    path = Path(path)
    with _refusals(ReadError, path):
        path = _reachable(path)
        _refuse_what_is_no_file(path)
        with path.open("rb") as stream:
            yield stream


@dataclass(frozen=True)
class FileLocation:
    """Where a file is that was imported or saved: its absolute path on disk, or that of an archive followed by the
    file's name in it (``db/meshes.db0/actors/hero.ogf``). A .blend stores it as this text.

    What remembers a file has one of these and no path of its own. Functions that read a file take both kinds of path;
    an archive is never written.
    """

    path: str

    def content(self) -> bytes:
        """Return the bytes of the file, b"" if it is missing or empty. Raises `ReadError` if it cannot be read."""
        inner = inner_files.find(self.path)
        if inner is not None:
            return inner.read()
        path = Path(self.path)
        return read_file(path) if path.is_file() and path.stat().st_size else b""

    def digest(self) -> str | None:
        """Return the SHA-256 of the file, None if it is missing. Raises `ReadError` if it cannot be read."""
        # An empty file, which another program may leave, is one that has changed.
        return hashlib.sha256(self.content()).hexdigest() if self.is_present() else None

    def is_present(self) -> bool:
        """Return whether the file is there. Raises `ReadError` if its archive cannot be read."""
        return Path(self.path).is_file() or inner_files.find(self.path) is not None

    def stamp(self) -> tuple[int, int] | None:
        """Return time (ns) and size of the file or its archive, which differ if it has changed; None if it is missing.

        Raises `ReadError` if its archive cannot be read.
        """
        with contextlib.suppress(OSError):
            status = Path(self.path).stat()
            return status.st_mtime_ns, status.st_size
        inner = inner_files.find(self.path)
        return inner.stamp if inner is not None else None

    def is_same(self, other: FileLocation) -> bool:
        """Return whether both are one file, by their names or through links."""
        inner = [inner_files.find(location.path) for location in (self, other)]
        paths = [
            own.path if own is not None else location.path for own, location in zip(inner, (self, other), strict=True)
        ]
        return resolved(paths[0]) == resolved(paths[1])


def map_file(path: Path | str) -> memoryview:
    """Return all bytes of a file as a memory-mapped view, of one in an archive as a copy. Raises `ReadError` as
    `read_file`.

    The file stays mapped as long as a view of it exists; Windows does not let it be replaced meanwhile.
    """
    path = Path(path)
    if inner_files.find(str(path)) is not None:
        return memoryview(read_file(path))
    with _refusals(ReadError, path):
        path = _reachable(path)
        _refuse_what_is_no_file(path)
        if not path.stat().st_size:
            raise _empty(path)
        with path.open("rb") as stream:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _refuse_what_is_no_file(path: Path) -> None:
    # Checked before opening: opening a named pipe would wait for its other end.
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ReadError("this is a folder", file=str(path), remedy="Name a file in it")
    if not stat.S_ISREG(mode):
        raise ReadError("this is a device or a pipe, not a file", file=str(path), remedy="Name a file")


def _empty(path: Path) -> ReadError:
    return ReadError("the file is empty", file=str(path), remedy="Copy it again from where it came from")


_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL
)
"""Names that Windows treats as devices, with any suffix and with spaces before the suffix."""


def why_unsafe(name: str) -> str:
    """Return why a file with this name must not be created in a folder, "" if it may. Independent of the system."""
    if not name.strip(". "):
        return "is no name of a file"
    if any(sign in name for sign in '/\\:*?"<>|') or any(ord(sign) < 32 for sign in name):
        return "holds a sign that leads elsewhere or that no file name may hold"
    if name[-1] in ". " or _DEVICES.fullmatch(name):
        return "is not a file's name on every system"
    return ""


def _reachable(path: Path, more: int = 0) -> Path:
    """Return the path under which Windows opens a file whose path, with ``more`` characters, is too long for it."""
    return Path(_spelled(path, more))


def _spelled(path: Path | str, more: int = 0) -> str:
    return _extended(os.path.abspath(path), more) if os.name == "nt" else os.fspath(path)  # noqa: PTH100 (links stay)


def _extended(path: str, more: int) -> str:
    r"""Return an absolute path of Windows, if it is too long in the form ``\\?\C:\…`` or ``\\?\UNC\server\…``."""
    if len(path) + more < _LONGEST_ON_WINDOWS or path.startswith(_UNLIMITED):
        return path
    return f"{_UNLIMITED}UNC{path[1:]}" if path.startswith("\\\\") else f"{_UNLIMITED}{path}"


_LONGEST_ON_WINDOWS = 260
"""Characters, with the zero at the end; a program needs a setting of the whole system for more."""
_UNLIMITED = "\\\\?\\"


def is_file(path: Path | str) -> bool:
    """Return whether a file is there. Never raises, as `Path.is_file` does for folders that must not be looked into."""
    return os.path.isfile(_spelled(path))  # noqa: PTH113


def exists(path: Path | str) -> bool:
    """Return whether a file or folder is there. Never raises, as `is_file`."""
    return os.path.exists(_spelled(path))  # noqa: PTH110


def is_folder(path: Path | str) -> bool:
    """Return whether a folder is there. Never raises, as `is_file`."""
    return os.path.isdir(_spelled(path))  # noqa: PTH112


def make_folder(folder: Path) -> None:
    """Make a folder and those around it, if they are missing. Raises `WriteError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        words = say("cannot make the folder: {}", wrong.strerror or wrong)
        raise WriteError(words, file=str(folder), remedy="Choose another folder") from wrong


def backup_of(path: Path | str) -> Path:
    """Return where `write_atomically` keeps the old bytes of a file: ``.bak`` appended to its name, links followed."""
    target = resolved(path)
    return target.with_name(target.name + ".bak")


def resolved(path: Path | str) -> Path:
    """Return the absolute path with all links followed, or one of the links if they form a cycle. Never raises."""
    # Path.resolve raises RuntimeError for cyclic links, up to Python 3.12.
    return Path(os.path.realpath(path))


def missing_above(path: Path) -> Path | None:
    """Return the uppermost of the folders, or archives, around a file that is missing; None if all are there."""
    return next((above for above in reversed(path.parents) if not exists(above)), None)


def warn_of_replacing(path: Path | str, report: Report) -> None:
    """Report, before `write_atomically`, what the file at ``path`` loses by being replaced: its other hard links, its
    owner.
    """
    try:
        refuse_unwritable(path)
        old = resolved(path).stat()
    except (OSError, WriteError):
        return  # there is no file, or writing it will report the error
    if not stat.S_ISREG(old.st_mode):
        return
    if old.st_nlink > 1:
        words = "{0:# other hard link|# other hard links} to the file {0:keeps|keep} the old content"
        report.warn(say(words, old.st_nlink - 1), str(path))
    if hasattr(os, "geteuid") and os.geteuid() not in (0, old.st_uid):
        report.warn("the file belongs to another user; after writing it belongs to you", str(path))


def refuse_unwritable(path: Path | str, *, by_archive: bool = False) -> None:
    """Raise `WriteError` if a file cannot be replaced, as far as that can be found out without writing.

    ``by_archive``: what replaces it is an archive: nothing else replaces one.
    """
    with _refusals(WriteError, Path(path)):  # its folder may be one that must not be looked into
        _refuse_unwritable(path, by_archive=by_archive)


def _refuse_unwritable(path: Path | str, *, by_archive: bool) -> None:
    target = resolved(path)
    archive = next((above for above in target.parents if above.is_file()), None)
    if archive is not None and inner_files.is_archive(str(archive), False):
        remedy = "Export to a file of the mod's folder, where the game finds it before the archive"
        raise WriteError("this file is in an archive, which is never written", file=str(path), remedy=remedy)
    if inner_files.is_archive(str(target), by_archive):
        words = "this is an archive of a game, which no other file replaces"
        raise WriteError(words, file=str(path), remedy="Choose another file")
    if target.is_symlink():
        remedy = "Remove the link or choose another name"
        raise WriteError("this is a link that leads back to itself", file=str(path), remedy=remedy)
    if target.is_dir():
        raise WriteError("this is a folder", file=str(path), remedy="Name a file in it")
    if os.name == "nt" and why_unsafe(target.name):  # "walk:1.omf" would become a hidden part of a file "walk"
        raise WriteError("Windows cannot store a file of this name", file=str(path), remedy="Choose another name")
    if target.exists() and not os.access(target, os.W_OK):
        remedy = "Remove the write protection, or export under another name"
        raise WriteError("the file is write-protected", file=str(path), remedy=remedy)
    # On Windows os.access only checks the read-only attribute of folders, which does not protect them.
    if os.name == "posix" and target.parent.is_dir() and not os.access(target.parent, os.W_OK):
        remedy = "Change the permissions of the folder, or export to another one"
        raise WriteError("its folder is write-protected", file=str(path), remedy=remedy)


def write_atomically(
    path: Path | str,
    data: bytes | Iterable[Bytes],
    *,
    backup: bool = False,
    tidy: bool = True,
    by_archive: bool = False,
) -> None:
    """Replace or create a file with ``data``, or with runs of bytes that follow each other. If that fails, the old file
    is unchanged.

    Links are followed; the old file's permissions and, if the system allows it, its owner are kept. ``backup`` keeps
    the old bytes at `backup_of`, unless a backup already exists: only the first one has the original. ``tidy`` removes
    temporary files that killed exports have left in the folder; if many files are written there, once is enough.
    ``by_archive`` as in `refuse_unwritable`. Raises `WriteError`.
    """
    path = Path(path)
    with _refusals(WriteError, path):
        refuse_unwritable(path, by_archive=by_archive)
        target = _reachable(resolved(path), len(temporary_name()))
        exists = target.exists()
        if tidy:
            remove_abandoned(target.parent)
        with _beside(target) as fresh:
            with fresh.open("xb") as stream:
                stream.writelines((data,) if isinstance(data, bytes) else data)
                stream.flush()
                os.fsync(stream.fileno())
            if exists:
                _keep_owner(target, fresh)
                shutil.copymode(target, fresh)
            backs_up = exists and backup and not os.path.lexists(backup_of(target))
            if backs_up:
                # A copy, not a rename, so that a file with the old name exists at all times.
                with _beside(target) as copy:
                    shutil.copy2(target, copy)
                    copy.replace(backup_of(target))
            try:
                _put_in_place(fresh, target)
            except OSError:  # on Windows, if a program has the file open
                if backs_up:
                    backup_of(target).unlink()
                raise


def _put_in_place(fresh: Path, target: Path) -> None:
    """Rename a complete file over the old one.

    Windows refuses while any program has the old file open, as virus scanners do for a moment: it is tried again.
    """
    waits = WINDOWS_WAITS if os.name == "nt" and target.exists() else ()
    for seconds in waits:
        with contextlib.suppress(PermissionError):
            fresh.replace(target)
            return
        time.sleep(seconds)
    fresh.replace(target)


def _keep_owner(old: Path, fresh: Path) -> None:
    """Give a new file the user and group of the old one, or at least the group, as far as the system allows."""
    if not hasattr(os, "chown"):
        return
    was, now = old.stat(), fresh.stat()
    if was.st_uid != now.st_uid or was.st_gid != now.st_gid:
        try:
            os.chown(fresh, was.st_uid, was.st_gid)
        except PermissionError:
            with contextlib.suppress(PermissionError):
                os.chown(fresh, -1, was.st_gid)


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Provide a temporary path in the same folder (a rename is atomic only within one disk), removed afterwards."""
    temporary = target.with_name(temporary_name())
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _refusals(kind: type[MotionbridgeError], path: Path) -> Iterator[None]:
    """Raise errors of the system as ``kind``: `ReadError` while a file is read, `WriteError` while it is written."""
    reading, file = kind is ReadError, str(path)
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        gone = missing_above(path)
        if gone is not None and gone.suffix:  # more likely an archive than a folder
            words = say("there is no archive or folder {}", str(gone))
            raise kind(words, file=file, remedy="Check its name, or put it back") from None
        if reading:
            raise ReadError("there is no such file", file=file, remedy="Check its name and folder") from None
        raise WriteError("its folder does not exist", file=file, remedy="Create the folder first") from None
    except PermissionError:
        remedy = "Check its permissions and that no other program has it open"
        if reading:
            raise ReadError("the system denies permission to read it", file=file, remedy=remedy) from None
        raise WriteError("the system denies permission to write it", file=file, remedy=remedy) from None
    except OSError as wrong:
        if reading:
            raise ReadError(say("cannot read it: {}", wrong.strerror or wrong), file=file) from wrong
        remedy = "Make room there, or choose another drive" if wrong.errno in _FULL else ""
        raise WriteError(say("cannot write it: {}", wrong.strerror or wrong), file=file, remedy=remedy) from wrong
