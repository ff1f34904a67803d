"""The chunk container: real layouts, lying sizes, false compression, nesting."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import Reader
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray.chunks import (
    COMPRESSED,
    MAX_DEPTH,
    Chunk,
    ChunkRun,
    chunk_path,
    open_chunk,
    read_chunks,
    starts_like_chunks,
    with_body,
    write_chunks,
)
from tests.core.compression.test_lzhuf import Encoder
from tests.work import lines_run


def chunk(identifier, body, size=None):
    return struct.pack("<II", identifier, len(body) if size is None else size) + body


def run_of(data, name="model.ogf"):
    report = Report()
    return read_chunks(Reader(data, name), report), report


def test_a_run_is_ids_and_bodies_in_file_order():
    data = bytes.fromhex(
        "0f000000 02000000"  # id 0xF, size 2
        "aabb"
        "0e000000 00000000"  # id 0xE, size 0: absent for the engine, kept here
        "0f000000 01000000"  # id 0xF a second time
        "cc"
    )
    run, report = run_of(data)
    assert [(c.id, bytes(c.body), c.offset) for c in run.chunks] == [
        (15, b"\xaa\xbb", 8),
        (14, b"", 18),
        (15, b"\xcc", 26),
    ]
    assert not report
    assert write_chunks(run) == data


@given(st.lists(st.tuples(st.integers(0, 0x7FFF_FFFF), st.binary(max_size=40)), max_size=8))
def test_every_well_formed_run_comes_back(pairs):
    data = b"".join(chunk(identifier, body) for identifier, body in pairs)
    run, report = run_of(data)
    assert [(c.id, bytes(c.body)) for c in run.chunks] == pairs
    assert write_chunks(run) == data
    assert not report


@given(st.binary(max_size=200))
def test_any_bytes_come_back_or_are_refused(data):
    try:
        run, _ = run_of(data)
    except ReadError:
        return
    assert write_chunks(run) == data


def test_a_body_is_a_view_and_not_a_copy():
    data = chunk(1, bytes(1000))
    run, _ = run_of(data)
    assert isinstance(run.chunks[0].body, memoryview)
    assert run.chunks[0].body.obj is data


def test_a_size_past_the_end_is_cut_to_what_is_there_and_reported():
    data = chunk(1, b"head") + chunk(0x11, b"\0", size=44)
    run, report = run_of(data)
    assert (bytes(run.chunks[1].body), run.chunks[1].declared) == (b"\0", 44)
    assert report.lines() == [
        "the chunk declares 44 bytes, but only 1 follow; the existing bytes are read (0x11 at 12)"
    ]
    assert write_chunks(run) == data


def test_a_first_chunk_that_is_too_large_means_another_kind_of_file():
    with pytest.raises(ReadError, match=r"note\.ogf, offset 0: the first chunk \(0x73696874\)") as refusal:
        run_of(b"this is a text, not a model", "note.ogf")
    assert refusal.value.remedy


def test_inside_a_chunk_a_first_size_past_the_end_is_only_reported():
    parent = Reader(b"", "model.ogf")
    body = open_chunk(Chunk(9, chunk(0, b"ab", size=1000), offset=8), parent)
    report = Report()
    run = read_chunks(body, report)
    assert run.chunks[0].declared == 1000
    assert report.lines() == [
        "the chunk declares 1000 bytes, but only 2 follow; the existing bytes are read (0x9/0x0 at 8)"
    ]


@pytest.mark.parametrize("size", range(1, 8))
def test_bytes_too_few_for_a_header_are_the_tail(size):
    data = chunk(1, b"abc") + bytes(size)
    run, report = run_of(data)
    assert bytes(run.tail) == bytes(size)
    noun = "byte" if size == 1 else "bytes"
    assert report.lines() == [f"{size} extra {noun} after the last chunk; kept (file)"]
    assert write_chunks(run) == data


def nested(depth):
    data = b""
    for _ in range(depth):
        data = chunk(0, data)
    return data


def test_nesting_is_followed_to_a_limit_and_no_further():
    reader = Reader(nested(1000), "deep.ogf")
    for _ in range(MAX_DEPTH + 1):
        reader = open_chunk(read_chunks(reader, Report()).chunks[0], reader)
    with pytest.raises(ReadError, match=f"nested more than {MAX_DEPTH} deep"):
        read_chunks(reader, Report())


def test_a_plain_body_marked_as_compressed_is_taken_as_it_is():
    header = bytes.fromhex("040a0000") + bytes(40)  # a model's header under id 0x80000001, as a mod writes it
    data = chunk(COMPRESSED | 1, header)
    run, report = run_of(data)
    assert run.chunks[0].plain_id == 1
    assert bytes(run.chunks[0].body) == header
    assert run.chunks[0].packed is None
    assert list(report.warnings.values()) == [["0x80000001 at 8"]]
    assert next(iter(report.warnings)).startswith("1 chunk is marked as compressed but not in the game's way")
    assert write_chunks(run) == data


def test_a_real_compressed_body_is_unpacked_and_is_written_unchanged(corpus):
    data = (corpus / "object/bx_old_compressed.object").read_bytes()
    run, report = run_of(data, "old.object")
    (only,) = run.chunks
    assert (only.plain_id, len(only.body), len(only.packed)) == (0x7777, 1645, 774)
    assert report.lines() == ["1 compressed chunk remains compressed unless edited (0x80007777 at 8)"]
    assert write_chunks(run) == data
    inner = read_chunks(open_chunk(only, Reader(b"", "old.object")), Report())
    assert [c.id for c in inner.chunks][:3] == [0x900, 0x912, 0x903]
    assert not len(inner.tail)


def test_compression_inside_compression_is_not_followed():
    """Each level would multiply the bytes: 3.6 kB once took 7.5 MB and three seconds, a third level gigabytes."""
    inner = chunk(COMPRESSED | 5, Encoder().pack(b"spam " * 40))
    data = chunk(COMPRESSED | 9, Encoder().pack(inner))
    run, report = run_of(data)
    assert not report.warnings
    assert bytes(run.chunks[0].body) == inner
    below = read_chunks(open_chunk(run.chunks[0], Reader(data)), report)
    assert below.chunks[0].packed is None
    assert bytes(below.chunks[0].body) == inner[8:]
    assert "inside a compressed chunk" in report.lines()[0]
    assert write_chunks(run) == data


def test_a_changed_body_is_written_plain_and_with_its_true_size():
    packed = Chunk(COMPRESSED | 0x7777, b"old", packed=b"....")
    assert with_body(packed, b"old") is packed
    assert with_body(packed, b"new!") == Chunk(0x7777, b"new!")
    truncated = Chunk(0x11, b"\0", offset=5, declared=44)
    assert write_chunks(ChunkRun([with_body(truncated, b"\0")])) == chunk(0x11, b"\0", size=44)
    assert write_chunks(ChunkRun([with_body(truncated, b"a\0")])) == chunk(0x11, b"a\0")


def test_a_false_mark_of_compression_stays_on_a_changed_body():
    assert with_body(Chunk(COMPRESSED | 1, b"plain"), b"other").id == COMPRESSED | 1


def test_paths_name_every_level():
    assert chunk_path("", 0xE) == "0xE"
    assert chunk_path("0xE", 0x8000_0003) == "0xE/0x80000003"


def test_errors_inside_a_chunk_name_its_index_in_the_file():
    data = chunk(1, b"abcd") + chunk(2, b"xy")
    run, _ = run_of(data)
    body = open_chunk(run.chunks[1], Reader(data, "a.ogf"))
    with pytest.raises(
        ReadError, match=r"a\.ogf, chunk 0x2, offset 20: a 32-bit number: 4 bytes are needed, 2 bytes are left"
    ):
        body.u32()


def test_a_file_is_known_by_the_id_of_its_first_chunk():
    like = starts_like_chunks(0xE, 0xF)
    assert like(chunk(0xE, b""))
    assert like(chunk(COMPRESSED | 0xF, b""))
    assert not like(chunk(1, b""))
    assert not like(b"\x0e\0\0")


def test_chunks_without_a_value_are_found_in_linear_work():
    def work(count: int) -> int:
        run = ChunkRun([Chunk(number % (count // 2), b"") for number in range(count)])
        assert run.others(range(count)) == run.chunks[count // 2 :]
        return lines_run(lambda: run.others(range(count)))

    assert work(2000) < 2.1 * work(1000)
