"""Temporary files of exports: their names, and which were left behind by a program that was killed.

A name says which machine and process writes the file, so that the next export to a folder removes abandoned files
and keeps those that another Blender is still writing.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import re
import secrets
import time
from pathlib import Path
from typing import Any

ABANDONED_AFTER = 24 * 3600.0
"""A file that has not changed for so many seconds is abandoned, even if a process of that number runs."""
START_SLACK = 2.0
"""Seconds between the clocks of files and of processes."""
_NAME = re.compile(r"\.motionbridge-(?:([0-9a-f]{8})-(\d{1,10})-)?([0-9a-f]{16})\.tmp")
_OURS = secrets.token_hex(4)


def temporary_name() -> str:
    """A name for a temporary file of this process, which no other has."""
    return f".motionbridge-{_machine()}-{os.getpid()}-{_OURS}{secrets.token_hex(4)}.tmp"


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files in a folder whose writers have ended. What cannot be removed stays: it harms nothing.

    Those of other machines, of version 0.1.0, and of processes whose numbers have passed on to others unnoticed are
    removed after `ABANDONED_AFTER`.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name.startswith(".motionbridge-")]
        for entry in found:
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
        return not token.startswith(_OURS)
    return not _is_running(int(process), changed)


@functools.cache
def _machine() -> str:
    """What tells the processes that our process numbers are of: the machine, on Linux also the container."""
    numbered_in = ""
    with contextlib.suppress(OSError):
        numbered_in = str(Path("/proc/self/ns/pid").readlink())
    return hashlib.blake2b(f"{platform.node()} {numbered_in}".encode(), digest_size=4).hexdigest()


def _is_running(process: int, since: float) -> bool:
    """Whether a process runs that may have been there at the time ``since`` (seconds)."""
    if os.name == "nt":
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's, so it runs
    started = _start_of(process)
    return started is None or started <= since + START_SLACK


def _start_of(process: int) -> float | None:
    """When a process began (seconds, infinite for one that only waits to be removed); None if unknown.

    Numbers of processes are used again, in a container or after a restart soon.
    """
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        ticks = int(fields[18]) / os.sysconf("SC_CLK_TCK")
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError, ValueError, IndexError):
        return None
    return float("inf") if state in (b"Z", b"X") else booted + ticks


def _is_running_on_windows(process: int) -> bool:
    """The same on Windows, where `os.kill` would end the process instead of asking for it."""
    windows: Any = ctypes  # much of it is there on Windows only
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
