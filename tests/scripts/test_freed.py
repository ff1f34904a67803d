"""The library that closes freed memory, preloaded into a small Python."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)

BEGIN = """
import ctypes
libc = ctypes.CDLL(None)
for name in ("malloc", "realloc", "calloc"):
    getattr(libc, name).restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    from scripts.lab import freed

    result = tmp_path_factory.mktemp("freed") / "freed.so"
    freed.build(result)
    return result


@pytest.fixture
def run(library, tmp_path):
    """A function: code -> (exit status, output, what the library said)."""
    message = tmp_path / "said.txt"

    def run(code):
        variables = os.environ | {"LD_PRELOAD": str(library), "MOTIONBRIDGE_FREED": str(message)}
        ended = subprocess.run(
            [sys.executable, "-c", BEGIN + code], env=variables, capture_output=True, text=True, check=False
        )
        result = message.read_text() if message.exists() else ""
        if "no room" in result:
            pytest.skip("this system reserves no 16 TB of addresses")
        return ended.returncode, ended.stdout, result

    return run


@pytest.mark.parametrize("use", ["ctypes.string_at(block, 1)", "ctypes.memset(block + 299, 1, 1)"])
@pytest.mark.parametrize("size", [300, 5000, 60000])
def test_reading_and_writing_freed_memory_ends_there(run, use, size):
    status, output, message = run(
        f"block = libc.malloc({size}); {use}; libc.free(block)\nprint('freed', flush=True)\n{use}"
    )
    assert (status, output, message) == (128 + signal.SIGSEGV, "freed\n", "freed memory was used\n")


@pytest.mark.parametrize("install", ["libc.signal(11, handler)", "import faulthandler; faulthandler.enable()"])
def test_handlers_of_the_program_are_called_too(run, install):
    code = """
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: print("called", number, flush=True))
block = libc.malloc(300); libc.free(block)
"""
    status, output, message = run(f"{code}{install}\nctypes.string_at(block, 1)")
    assert status in {128 + signal.SIGSEGV, -signal.SIGSEGV}
    assert message == "freed memory was used\n"
    assert output == ("called 11\n" if "libc" in install else "")


def test_all_else_goes_on_as_before(run):
    code = """
for size in (1, 199, 200, 4079, 4080, 4081, 65000, 65001, 1 << 20):
    block = libc.malloc(size)
    ctypes.memset(block, 7, size)
    assert block % 16 == 0
    block = libc.realloc(block, 2 * size)
    assert ctypes.string_at(block, size) == bytes([7]) * size
    block = libc.realloc(block, size // 2 + 1)
    assert ctypes.string_at(block, size // 2 + 1)[: size // 2] == bytes([7]) * (size // 2)
    libc.free(block)
    empty = libc.calloc(size, 1)
    assert ctypes.string_at(empty, size) == bytes(size)
    libc.free(empty)
print("done")
"""
    assert run(code) == (0, "done\n", "")


def test_faults_that_are_others_are_not_taken_for_its_own(run):
    status, _, message = run("ctypes.string_at(8, 1)")
    assert (status, message) == (128 + signal.SIGSEGV, "")
