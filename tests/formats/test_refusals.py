"""What readers refuse, and what helps: a file is copied again only where bytes are missing; more bytes are kept."""

import re
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from addon.core.binary import DAMAGED, NOT_IN_FORMAT
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.verification import Status, verify
from tests.formats.small_documents import SMALL

BINARY = [document for document in SMALL if document.format.name not in {"ltx", "model_cfg"}]
IDS = [document.name for document in BINARY]
MISSING = re.compile(
    r"needed, | left|remain in|ends (before|after)|has no end|does not end|claims|cut off|past its end|is empty"
    r"|sum of its bytes|without a body|no header \(chunk OHDR|there is no chunk$"
    r"|misaligned"  # bytes that a text tool added or took
)
"""Problems that mean missing bytes."""
COPIES = re.compile(r"copy it again|copied whole", re.IGNORECASE)
HEADS = re.compile(r"begins with|not a texture|not a Descent 3 image|have the size of those of")
"""Problems of a file that has lost all that tells its format."""
FRAMED = {
    "old.object": "0x7777/0x903/",
    "annotated/level.ps_static": "0x0/",
    "annotated/level.env_mod": "0x0/",
}
"""Chunks of several layouts, which their size tells apart."""
CUTS, CHANGES = 25, 60


def refusal(document, data: bytes) -> ReadError | None:
    try:
        document.read(data)
    except ReadError as wrong:
        return wrong
    return None


@pytest.mark.parametrize("document", BINARY, ids=IDS)
def test_what_helps_a_file_that_is_cut_off_is_a_whole_copy(document):
    for size in np.unique(np.linspace(8, len(document.data) - 1, CUTS).astype(int)):
        wrong = refusal(document, document.data[:size])
        if wrong is not None and not HEADS.search(wrong.problem):
            assert COPIES.search(wrong.remedy), (size, wrong.problem, wrong.remedy)


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


def with_more_bytes(data: bytes, depth: int = 2) -> Iterator[tuple[str, bytes]]:
    """The file with three more bytes at the end of each of its plain chunks, and of the chunks in them."""
    for at, number, body in chunks(data) or []:
        if number & 0x8000_0000:
            continue
        bodies = [("", body + b"\1\2\3"), *(with_more_bytes(body, depth - 1) if depth else ())]
        for path, longer in bodies:
            end = data[at + 8 + len(body) :]
            yield f"{number:#x}/{path}", data[:at] + struct.pack("<II", number, len(longer)) + longer + end


@pytest.mark.parametrize("document", BINARY, ids=IDS)
def test_further_bytes_are_kept_and_reported(document):
    name = document.name.rpartition("/")[2]
    before = verify(document.data, name)
    for path, data in [("end", document.data + b"\1\2\3"), *with_more_bytes(document.data)]:
        if path == FRAMED.get(document.name):
            continue
        result = verify(data, name)
        assert result.status is Status.IDENTICAL, (path, result.detail)
        assert len(result.warnings) > len(before.warnings) or result.raw_share > before.raw_share, path


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
