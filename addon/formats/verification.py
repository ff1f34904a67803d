"""Verify that a file is written byte for byte as it was read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

import numpy as np

from ..core.binary import Bytes
from ..core.errors import MotionbridgeError, ReadError, WriteError
from ..core.files import map_file, read_file
from ..core.report import Report, say
from . import FORMATS, HEAD_SIZE, Format, archives, detect, format_named
from .engine_rules import Remark, remarks
from .round_trips import ROUND_TRIPS

DIFFERENCES_SHOWN = 5
_BLOCK = 1 << 20
"""Bytes compared at a time."""


class Status(Enum):
    """Result of verifying a file."""

    IDENTICAL = "identical"
    """`write` and `recompose` both return the file's bytes."""
    DIFFERS = "differs"
    REFUSED = "refused"
    """The file cannot be read; the reason is reported."""
    UNKNOWN = "unknown"
    """The file's format is unknown."""
    LISTED = "listed"
    """An archive that is only read: its table was read, its files are verified like all others."""
    CRASHED = "crashed"
    """The code failed with an unexpected exception: a bug in Motionbridge."""


@dataclass(frozen=True)
class Verdict:
    """The result for one file.

    ``raw_share``: share (0 to 1) of the bytes that are stored without being interpreted, None if the file could not be
    read. ``detail``: the refusal, the difference or the failure. ``warnings``: warnings from reading the file.
    ``remarks``: what its game would reject or misread (`engine_rules`), and imports or exports that are refused.
    """

    file: str
    format: str | None
    status: Status
    raw_share: float | None = None
    detail: str = ""
    warnings: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Texts of the remarks that are no notes."""
        return tuple(remark.text for remark in self.remarks if remark.kind != "note")


def file_data(path: str) -> Bytes:
    """Return all bytes of a file, mapped into memory if files of its format are large. Raises `ReadError`.

    A path may lead into an archive, ``textures.db0/act/act_face.dds``: its checksum is verified.
    """
    inner = archives.inner_file(path, verify=True)
    if inner is not None:
        return inner
    file_format = detect(path, b"")
    return map_file(path) if file_format is not None and file_format.mapped else read_file(path)


def open_document(data: Bytes, file: str) -> tuple[Format, Any, Report]:
    """Return format, document and report of reading ``data``. Raises `ReadError`, also for an unknown format."""
    file_format = detect(file, bytes(data[:HEAD_SIZE]))
    if file_format is None:
        names = dict.fromkeys(name for known in FORMATS for name in (*known.suffixes, *known.file_names))
        known = ", ".join(names | dict.fromkeys(archives.SUFFIXES))
        raise ReadError("this is not a file of a known format", file=file, remedy=say("Known are {}", known))
    report = Report()
    try:
        return file_format, file_format.module.read(cast("bytes", data), file, report), report
    except ReadError:
        kind = "" if file_format is format_named("hog2") else archives.kind_of_content(file)
        if not kind:
            raise
    words = say("this is an archive under another suffix: {}", kind)
    raise ReadError(words, file=file, remedy=say("Give it one of the suffixes {}", ", ".join(archives.SUFFIXES)))


def verify(data: Bytes, file: str, *, deep: bool = False) -> Verdict:
    """Read the bytes of ``file``, write them with both `write` and `recompose`, and compare. Raises only if
    Motionbridge itself has a bug.

    ``deep``: also decode and encode the document (`round_trips`), as an import and an export do.
    """
    file_format = detect(file, bytes(data[:HEAD_SIZE]))
    if file_format is None:
        return Verdict(file, None, Status.UNKNOWN)
    try:
        _, document, report = open_document(data, file)
    except ReadError as refusal:
        return Verdict(file, file_format.name, Status.REFUSED, detail=str(refusal))
    share = file_format.module.raw_size(document) / len(data) if data else 0.0
    odd = remarks(file_format.name, document)
    difference = _difference(file_format, document, data)
    if deep and not difference:
        try:
            difference = _deep_difference(file_format, document, data)
        except ReadError as refusal:
            odd = (*odd, Remark("problem", f"cannot be imported: {str(refusal).rstrip('.')}"))
        except WriteError as refusal:
            odd = (*odd, Remark("problem", f"cannot be exported as it was imported: {str(refusal).rstrip('.')}"))
    warnings = tuple(report.warning_lines())
    status = Status.DIFFERS if difference else Status.IDENTICAL
    return Verdict(file, file_format.name, status, share, difference, warnings, odd)


def _difference(file_format: Format, document: Any, data: Bytes) -> str:
    """Compare ``data`` with what `write` and `recompose` return for its document. Returns the first difference as text,
    "" if the bytes are equal.
    """
    if hasattr(file_format.module, "pieces"):
        return _difference_of_pieces(file_format.module.pieces(document), data)
    for function in (file_format.module.write, file_format.module.recompose):
        try:
            again = function(document)
        except MotionbridgeError as refusal:
            return f"{function.__name__} refuses: {refusal}"
        if again != data:
            return f"{function.__name__}: {first_difference(data, again)}"
    return ""


def _difference_of_pieces(pieces: Iterator[Bytes], data: Bytes) -> str:
    """Like `_difference` for bytes that arrive in runs, without copying a large file."""
    expected, at = np.frombuffer(data, np.uint8), 0
    for piece in pieces:
        written = np.frombuffer(piece, np.uint8)
        for begin in range(0, len(written), _BLOCK):
            part = written[begin : begin + _BLOCK]
            stored = expected[at : at + len(part)]
            if not np.array_equal(stored, part):
                difference = first_difference(stored.tobytes(), part.tobytes())
                return f"write: in the run of bytes from offset {at}: {difference}"
            at += len(part)
    return "" if at == len(expected) else f"write: the same up to offset {at}, where the file has {len(expected)}"


def _deep_difference(file_format: Format, document: Any, data: Bytes) -> str:
    """Like `_difference` for a document that is decoded and encoded. Raises `ReadError` if decoding is refused,
    `WriteError` if encoding is.
    """
    round_trip = ROUND_TRIPS.get(file_format.name)
    if round_trip is None:
        return ""
    again = round_trip(document, Report())
    written = file_format.module.write(again)
    if written == data:
        return ""
    words = list(itertools.islice(file_format.walk.differences(document, again), DIFFERENCES_SHOWN))
    return f"decoded and encoded: {'; '.join([first_difference(data, written), *words])}"


def first_difference(before: Bytes, after: Bytes) -> str:
    """Describe the first difference between two runs of bytes."""
    shorter = min(len(before), len(after))
    offset, step = 0, 1 << 16
    while offset < shorter and before[offset : offset + step] == after[offset : offset + step]:
        offset += step
    offset = next((at for at in range(offset, min(offset + step, shorter)) if before[at] != after[at]), shorter)
    sizes = "" if len(before) == len(after) else f", {len(after)} bytes instead of {len(before)}"
    if offset == shorter:
        return f"the same up to offset {offset}{sizes}"
    return f"first different byte at offset {offset} ({after[offset]:#04x} instead of {before[offset]:#04x}){sizes}"
