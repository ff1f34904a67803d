"""The list of formats: each entry keeps the protocol; a file finds its format by suffix, then by its first bytes."""

import inspect
import struct

import pytest

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats import FORMATS, HEAD_SIZE, FormatModule, detect, format_named
from addon.formats.verification import Status, first_difference, open_document, verify
from tests.real_files import corpus_files
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


@pytest.mark.parametrize("path", corpus_files("omf/[!o]*", "ogf/[!o]*"))  # all but odd_*, damaged or foreign
def test_real_files_are_found_by_their_first_bytes_alone(path):
    assert detect("nameless", path.read_bytes()[:HEAD_SIZE]).name == path.suffix[1:]


@pytest.mark.parametrize("name", ["humanoid.omf", "humanoid.ogf", "weapon.omf", "weapon.ogf", "weapon_embedded.ogf"])
def test_a_sample_is_identical_and_wholly_understood(samples, name):
    verdict = verify((samples / name).read_bytes(), name)
    assert verdict.status is Status.IDENTICAL
    assert verdict.warnings == ()
    assert verdict.raw_share == 0.0
    assert verdict.format == name.rsplit(".", 1)[-1]


def test_opening_an_unknown_file_says_what_is_known():
    with pytest.raises(ReadError, match=r"notes\.txt: this is not a file of a known format\. Known are \.omf"):
        open_document(b"hello", "notes.txt")


def test_an_empty_file_is_refused_by_every_format():
    for known in FORMATS:
        with pytest.raises(ReadError) as refused:
            known.module.read(b"", f"empty{(*known.suffixes, '')[0]}", Report())
        assert refused.value.file == f"empty{(*known.suffixes, '')[0]}"


@pytest.mark.parametrize("name", ["weapon.omf", "humanoid.omf", "weapon_embedded.ogf"])
@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.deep)])
def test_a_file_cut_anywhere_is_refused_or_kept_as_it_is(samples, name, step):
    data = (samples / name).read_bytes()
    refused = 0
    for size in range(1, len(data), step):
        verdict = verify(data[:size], name)
        assert verdict.status in {Status.REFUSED, Status.IDENTICAL}
        if verdict.status is Status.REFUSED:
            refused += 1
            problem, _, remedy = verdict.detail.removeprefix(name).partition(". ")
            assert problem
            assert remedy, "each refusal says what helps"
    assert refused


def chunk(number, body):
    return struct.pack("<II", number, len(body)) + body


MODEL_HEADER = chunk(1, struct.pack("<BBH", 4, 3, 0) + bytes(40))
HOSTILE = {
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
    assert memory_peak(lambda: verify(data, f"hostile.{suffix}")) < 200_000
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
