"""The list of formats: each entry keeps the protocol; a file finds its format by suffix, then by its first bytes."""

import inspect
import struct

import pytest

from addon.core.errors import ReadError
from addon.formats import FORMATS, FormatModule, detect, format_named
from addon.formats.verification import Status, first_difference, open_document, verify
from tests.formats.archives import written
from tests.formats.xray.level_bytes import chunk, words
from tests.work import memory_peak

FUNCTIONS = [name for name, _ in inspect.getmembers(FormatModule, inspect.isfunction) if not name.startswith("_")]


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_a_format_offers_every_function_under_the_protocols_parameter_names(known):
    assert len(FUNCTIONS) == 6
    for name in FUNCTIONS:
        wanted = list(inspect.signature(getattr(FormatModule, name)).parameters)[1:]
        assert list(inspect.signature(getattr(known.module, name)).parameters) == wanted, name


def test_names_are_distinct_and_suffixes_are_written_as_they_are_compared():
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    for known in FORMATS:
        assert known.title
        assert known.suffixes or known.file_names
        assert all(name == name.lower() and "." not in name for name in known.file_names)
        for suffix in known.suffixes:
            assert suffix.startswith(".")
            assert suffix == suffix.lower()


def test_a_format_is_found_by_its_name():
    assert [format_named(known.name) for known in FORMATS] == list(FORMATS)
    with pytest.raises(ReadError, match=r"no format named 'nif'.*Known: .*omf"):
        format_named("nif")


@pytest.mark.parametrize(
    ("path", "head", "name"),
    [
        ("a.omf", b"", "omf"),
        ("A.OMF", b"anything", "omf"),
        ("folder.ogf/a.omf", b"", "omf"),
        ("a.ogf", struct.pack("<II", 1, 44), "ogf"),
        ("a", struct.pack("<II", 0x0E, 9), "omf"),
        ("a.bak", struct.pack("<II", 0x0F, 9), "omf"),
        ("a.bak", struct.pack("<II", 1, 44), "ogf"),
        ("a.bak", struct.pack("<II", 0x8000_0001, 44), "ogf"),
        ("a.txt", b"some text", None),
        ("ai.efd", struct.pack("<II", 1, 9) + b"\2" + bytes(8), None),
        ("ai.efd", struct.pack("<IIB", 1, 1, 3), None),
        ("a", b"", None),
        ("a", b"\x0e\0\0", None),
        ("омф.omf", b"", "omf"),
        ("l01_escape/level", b"", "level"),
        ("l01_escape/LEVEL", b"anything", "level"),
        ("a", struct.pack("<IIHHI", 1, 4, 14, 1, 2), "level"),
        ("a", struct.pack("<II", 1, 128) + struct.pack("<II", 9, 0), "level"),
        ("a", struct.pack("<IIHHII", 1, 4, 14, 0, 9, 4), "level_geom"),
        ("a", struct.pack("<IIBBH", 1, 4, 3, 4, 0) + struct.pack("<II", 2, 9), "ogf"),
        ("level.geomx", b"", "level_geom"),
    ],
)
def test_the_suffix_decides_then_the_first_bytes(path, head, name):
    obj = detect(path, head)
    assert (obj and obj.name) == name


def test_opening_an_unknown_file_says_what_is_known():
    with pytest.raises(ReadError, match=r"notes\.txt: this is not a file of a known format\. Known are \.omf"):
        open_document(b"hello", "notes.txt")


def test_a_suffix_of_two_formats_is_listed_once_and_archives_are_known():
    with pytest.raises(ReadError) as refusal:
        open_document(b"hello", "notes.txt")
    names = refusal.value.remedy.removeprefix("Known are ").split(", ")
    assert len(set(names)) == len(names)
    assert {".ogf", ".db*", ".pbo", ".hog"} <= {*names}


@pytest.mark.parametrize(
    "data", [written.xray([(b"a", b"1")], header=b"x"), written.pbo([(b"a", b"1")], properties=[])]
)
@pytest.mark.parametrize("name", ["model.ogf", "walk.rtm"])
def test_an_archive_under_another_suffix_is_named_as_one(tmp_path, run, name, data):
    (tmp_path / name).write_bytes(data)
    for command in ("info", "verify"):
        _, out, err = run(command, tmp_path / name)
        assert "this is an archive under another suffix: " in "".join([*out, err])
    (tmp_path / name).write_bytes(data[:9])
    _, _, err = run("info", tmp_path / name)
    assert "this is an archive" not in err


MODEL_HEADER = chunk(1, struct.pack("<BBH", 4, 3, 0) + bytes(40))
HOSTILE = {
    "four billion vertices and faces": ("cform", words(4, 2**32 - 1, 2**32 - 1) + bytes(200)),
    "four billion faces in a build": ("cform", chunk(0, words(4, 0, 2**32 - 1) + bytes(24)) + chunk(1, b"")),
    "a grid of four billion squared": (
        "details",
        chunk(0, words(3, 0, 0, 0, 2**32 - 1, 2**32 - 1)) + chunk(2, bytes(99)),
    ),
    "four billion vertices of a detail": ("dm", b"a\0b\0" + words(0) + bytes(8) + words(2**32 - 1, 2**32 - 1)),
    "four billion errors": ("err", chunk(2, words(2**32 - 1) + bytes(36)) + chunk(0, words(0))),
    "a chunk of four billion bytes": ("hom", chunk(0, bytes(4)) + words(1, 2**32 - 1) + bytes(80)),
    "a thousand materials inside each other": ("xr", chunk(0x1000, b"\1\0") + chunk(0x1002, words(0, 4) * 1000)),
    "four billion motions announced": (
        "omf",
        chunk(0x0E, chunk(0, b"\xff" * 4)) + chunk(0x0F, struct.pack("<HHH", 4, 0, 0)),
    ),
    "a motion of four billion frames": (
        "omf",
        chunk(0x0E, chunk(0, b"\1\0\0\0") + chunk(1, b"a\0" + b"\xff" * 4 + b"\2" + bytes(20)))
        + chunk(0x0F, struct.pack("<HHH", 4, 0, 0)),
    ),
    "65535 partitions announced": ("omf", chunk(0x0E, b"") + chunk(0x0F, struct.pack("<HH", 4, 0xFFFF) + bytes(100))),
    "four billion bones": ("ogf", MODEL_HEADER + chunk(13, b"\xff" * 4 + bytes(100))),
    "four billion vertices": ("ogf", MODEL_HEADER + chunk(3, struct.pack("<II", 1, 0xFFFF_FFFF) + bytes(100))),
    "four billion references": ("ogf", MODEL_HEADER + chunk(24, b"\xff" * 4 + bytes(100))),
}


@pytest.mark.parametrize(("suffix", "data"), HOSTILE.values(), ids=HOSTILE)
def test_absurd_counts_cost_nothing(suffix, data):
    verdict = verify(data, f"hostile.{suffix}")  # the first one may import modules
    assert memory_peak(lambda: verify(data, f"hostile.{suffix}")) < 200_000 + 100 * len(data)
    assert verdict.status is Status.REFUSED or (verdict.status is Status.IDENTICAL and verdict.warnings)


@pytest.mark.parametrize(("suffix", "number"), [("omf", 0x0E), ("ogf", 9)])
def test_a_thousand_chunks_inside_each_other_end_no_program(suffix, number):
    body = b""
    for _ in range(1000):
        body = chunk(number, MODEL_HEADER * (suffix == "ogf") + body)
    verdict = verify((MODEL_HEADER if suffix == "ogf" else b"") + body, f"deep.{suffix}")
    assert verdict.status is Status.REFUSED or (verdict.status is Status.IDENTICAL and verdict.warnings)


class Lying:
    """A format that does not keep its word."""

    name, title, suffixes = "lying", "a lie", (".lie",)

    def __init__(self, written, recomposed):
        self.module = self
        self.written, self.recomposed = written, recomposed

    def read(self, data, file, report):
        return data

    def write(self, document):
        return self.written

    def recompose(self, document):
        return self.recomposed

    def raw_size(self, document):
        return 1


@pytest.mark.parametrize(
    ("written", "recomposed", "detail"),
    [
        (b"abXd", b"abcd", "write: first different byte at offset 2 (0x58 instead of 0x63)"),
        (b"abcd", b"abc", "recompose: the same up to offset 3, 3 bytes instead of 4"),
        (b"abcd", b"Xbcde", "recompose: first different byte at offset 0 (0x58 instead of 0x61), 5 bytes instead of 4"),
    ],
)
def test_a_format_that_loses_a_byte_either_way_is_caught(monkeypatch, written, recomposed, detail):
    monkeypatch.setattr("addon.formats.verification.detect", lambda *_: Lying(written, recomposed))
    verdict = verify(b"abcd", "a.lie")
    assert verdict.status is Status.DIFFERS
    assert verdict.detail == detail
    assert verdict.raw_share == 0.25


def test_the_first_difference_is_found_in_long_runs():
    before = bytes(1_000_000)
    for index in (0, 65_535, 65_536, 999_999):
        after = bytearray(before)
        after[index] = 7
        assert (
            first_difference(before, bytes(after)) == f"first different byte at offset {index} (0x07 instead of 0x00)"
        )
