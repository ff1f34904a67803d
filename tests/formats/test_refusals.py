"""What readers refuse, and what helps: a file is copied again only where bytes are missing; more bytes are kept."""

import re
import struct
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest

from addon.core.binary import DAMAGED, NOT_IN_FORMAT
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.verification import Status, verify
from tests.formats.small_documents import SMALL
from tests.formats.xray.level_bytes import chunk

BINARY = [document for document in SMALL if document.format.name not in {"ltx", "model_cfg"}]
IDS = [document.name for document in BINARY]
MISSING = re.compile(
    r"needed, | left|remain in|ends (before|after)|has no end|does not end|claims|cut off|past its end|is empty"
    r"|sum of its bytes|without a body|no header \(chunk OHDR|there is no chunk$"
    r"|misaligned"  # bytes that a text tool added or took
)
"""Problems that mean missing bytes."""
FRAMED = {
    "old.object": "0x7777/0x903/",
    "annotated/level.ps_static": "0x0/",
    "annotated/level.env_mod": "0x0/",
}
"""Chunks of several layouts, which their size tells apart."""
BEHIND = {"plain.rtm": 30, "small.hog": 3} | dict.fromkeys(
    ("arma/bricks_co.paa", "arma/glass_ca.paa", "indexed.paa"), 2
)
"""How many bytes small files have behind what is read."""
LISTS = {("details", "0x1/"), ("env_mod", ""), ("ps_static", ""), ("snd_static", ""), ("spawn", "")}
"""Formats and chunks in which any chunk is an entry of a list."""
CHANGES = 60


def refusal(document, data: bytes) -> ReadError | None:
    try:
        document.read(data)
    except ReadError as wrong:
        return wrong
    return None


@pytest.mark.parametrize("document", BINARY, ids=IDS)
def test_a_file_is_called_damaged_only_where_bytes_are_missing(document):
    random = np.random.default_rng(len(document.data))
    for integer, value in zip(random.integers(len(document.data), size=CHANGES), range(3, 255, 4), strict=False):
        changed = bytearray(document.data)
        changed[integer] = value
        wrong = refusal(document, bytes(changed))
        if wrong is not None and "copy it again" in wrong.remedy:
            assert MISSING.search(wrong.problem), (integer, value, wrong.problem)


def chunks(data: bytes) -> list[tuple[int, int, bytes]] | None:
    """Offset, id and body of each chunk; None for bytes that are not chunks from the first to the last."""
    result, at = [], 0
    while at + 8 <= len(data):
        number, size = struct.unpack_from("<II", data, at)
        if size > len(data) - at - 8:
            return None
        result.append((at, number, data[at + 8 : at + 8 + size]))
        at += 8 + size
    return result if at == len(data) else None


def with_other_bodies(data: bytes, others: Callable[[bytes], Iterable[bytes]], depth: int = 3) -> Iterator:
    """Yield the file with each of the bytes that ``others`` gives for it, for its plain chunks, and for those in them;
    before that the ids of these chunks.
    """
    yield from (("", other) for other in others(data))
    for at, number, body in (chunks(data) or ()) if depth else ():
        if not number & 0x8000_0000:
            for path, other in with_other_bodies(body, others, depth - 1):
                yield f"{number:#x}/{path}", data[:at] + chunk(number, other) + data[at + 8 + len(body) :]


@pytest.mark.parametrize("document", BINARY, ids=IDS)
def test_further_bytes_are_kept_and_reported(document):
    name = document.name.rpartition("/")[2]
    before = verify(document.data, name)
    for path, data in with_other_bodies(document.data, lambda body: [body + b"\1\2\3"]):
        if path == FRAMED.get(document.name):
            continue
        result = verify(data, name)
        assert result.status is Status.IDENTICAL, (path, result.detail)
        assert len(result.warnings) > len(before.warnings) or result.raw_share > before.raw_share, path
        if not path:
            count = 3 + BEHIND.get(document.name, 0)
            assert any(re.match(rf"{count} extra bytes (after|at the end)", line) for line in result.warnings)


@pytest.mark.parametrize("document", BINARY, ids=IDS)
def test_an_unknown_chunk_first_or_last_is_kept_and_counted(document):
    name, other = document.name.rpartition("/")[2], chunk(0x7654, b"other")
    before = verify(document.data, name).raw_share * len(document.data)
    for path, data in with_other_bodies(
        document.data, lambda body: [other + body, body + other] if chunks(body) else []
    ):
        result = verify(data, name)
        if result.status is Status.REFUSED:
            assert (document.format.name, path) in LISTS or data.startswith(other + document.data), path
        else:
            assert result.status is Status.IDENTICAL, (path, result.detail)
            assert round(result.raw_share * len(data) - before) >= len("other"), path


def test_zero_bytes_after_a_text_are_kept_and_are_not_a_text():
    document = next(document for document in SMALL if document.format.name == "ltx")
    padded, report = document.data + bytes(3), Report()
    own_document = document.format.module.read(padded, "a.ltx", report)
    assert document.format.module.write(own_document) == padded
    assert own_document.lines == document.value.lines
    assert report.lines() == ["3 zero bytes after the text; kept"]
    with pytest.raises(ReadError, match="contains a zero byte"):
        document.format.module.read(b"[a]\0\nk = 1\n", "a.ltx", Report())


def test_the_two_remedies_differ():
    assert "damaged" in DAMAGED
    assert "damaged" not in NOT_IN_FORMAT
