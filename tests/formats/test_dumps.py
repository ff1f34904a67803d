"""The dump of a document shows every byte of its file, `diff` says what differs; and both work for every real file."""

from collections import deque
from pathlib import Path

import pytest

from addon.core.errors import ReadError
from addon.formats.verification import file_data, open_document
from tests.formats.fields import spread
from tests.formats.small_documents import SMALL
from tests.real_files import CORPUS, corpus_files, sampled

PLACES = 40
COMPRESSED = {"rtm"}
"""Formats in which different bytes may be unpacked to the same values, or only say how others are stored."""


@pytest.mark.parametrize("document", SMALL, ids=lambda document: document.name)
def test_a_changed_byte_anywhere_shows(document):
    """Bytes of the file changed in turn: where it still reads, both its dump and the differences say so."""
    walk, data = document.format.walk, document.data
    lines = list(walk.dump(document.value))
    assert list(walk.differences(document.value, document.read(data))) == []
    for at in spread(range(len(data)), PLACES):
        try:
            other = document.read(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        except ReadError:
            continue
        if document.format.name not in COMPRESSED:
            assert list(walk.dump(other)) != lines, at
            assert next(walk.differences(document.value, other), ""), at


REAL_FOLDERS = sorted({path.parent.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.*")}) if CORPUS else ["*"]


@pytest.mark.parametrize("path", sampled(corpus_files(*REAL_FOLDERS), 12))
def test_a_real_file_is_dumped_and_is_equal_to_itself(path: Path):
    try:
        data = file_data(str(path))
        result, document, report = open_document(data, str(path))
    except ReadError:
        return  # no file of a format
    deque(result.walk.dump(document), maxlen=0)
    assert list(result.walk.differences(document, result.module.read(data, str(path), report))) == []
