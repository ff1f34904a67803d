"""The byte law checked for one file: is it written byte for byte as it was read?"""

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
from ..core.report import Report
from . import FORMATS, HEAD_SIZE, Format, detect
from .engine_rules import RULES
from .round_trips import ROUND_TRIPS

DIFFERENCES_SHOWN = 5
_BLOCK = 1 << 20
"""Bytes that are compared at a time."""


class Status(Enum):
    """What became of a file."""

    IDENTICAL = "identical"
    """Written again, and composed again from its typed fields, it is the same to the byte."""
    DIFFERS = "differs"
    REFUSED = "refused"
    """It cannot be read, and we say why."""
    UNKNOWN = "unknown"
    """It is of no format known here."""
    CRASHED = "crashed"
    """The code failed: a defect of ours."""


@dataclass(frozen=True)
class Verdict:
    """What was found out about a file.

    ``raw_share`` of its bytes (0 ... 1) are kept without knowing what they mean, None where it could not be read;
    ``detail`` is the refusal, the difference, or the failure; ``warnings`` those of reading it; ``problems`` what its
    game would refuse or misread (`engine_rules`).
    """

    file: str
    format: str | None
    status: Status
    raw_share: float | None = None
    detail: str = ""
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def file_data(path: str) -> Bytes:
    """All bytes of a file, mapped into memory if files of its format are large. Raises `ReadError`."""
    found = detect(path, b"")
    return map_file(path) if found is not None and found.mapped else read_file(path)


def open_document(data: Bytes, file: str) -> tuple[Format, Any, Report]:
    """A file's format, document and what reading had to say. Raises `ReadError`, also for an unknown format."""
    found = detect(file, bytes(data[:HEAD_SIZE]))
    if found is None:
        known = ", ".join(name for known in FORMATS for name in (*known.suffixes, *known.file_names))
        raise ReadError("this is not a file of a known format", file=file, remedy=f"Known are {known}")
    report = Report()
    return found, found.module.read(cast("bytes", data), file, report), report


def verify(data: Bytes, file: str, *, deep: bool = False) -> Verdict:
    """Read the bytes of ``file`` and write them again in both ways. Raises only for defects of ours.

    ``deep`` also decodes what was read and encodes it again (`round_trips`), as an import and an export do.
    """
    found = detect(file, bytes(data[:HEAD_SIZE]))
    if found is None:
        return Verdict(file, None, Status.UNKNOWN)
    try:
        _, document, report = open_document(data, file)
    except ReadError as refusal:
        return Verdict(file, found.name, Status.REFUSED, detail=str(refusal))
    share = found.module.raw_size(document) / len(data) if data else 0.0
    problems = engine_problems(found, document)
    difference = _difference(found, document, data)
    if deep and not difference:
        try:
            difference = _deep_difference(found, document, data)
        except ReadError as refusal:
            problems = (*problems, f"cannot be imported: {str(refusal).rstrip('.')}")
        except WriteError as refusal:
            problems = (*problems, f"cannot be exported as it was imported: {str(refusal).rstrip('.')}")
    warnings = tuple(Report(report.warnings).lines())
    status = Status.DIFFERS if difference else Status.IDENTICAL
    return Verdict(file, found.name, status, share, difference, warnings, problems)


def engine_problems(found: Format, document: Any) -> tuple[str, ...]:
    """What the game would refuse or misread in a document of this format."""
    rules = RULES.get(found.name)
    return tuple(dict.fromkeys(rules(document))) if rules is not None else ()


def _difference(found: Format, document: Any, data: Bytes) -> str:
    """What writing and composing again make of a document that was read from ``data``; empty where it is the same."""
    if hasattr(found.module, "pieces"):
        return _difference_of_pieces(found.module.pieces(document), data)
    for way in (found.module.write, found.module.recompose):
        try:
            again = way(document)
        except MotionbridgeError as refusal:
            return f"{way.__name__} refuses: {refusal}"
        if again != data:
            return f"{way.__name__}: {first_difference(data, again)}"
    return ""


def _difference_of_pieces(pieces: Iterator[Bytes], data: Bytes) -> str:
    """The same of bytes that come in runs: no copy of a large file is made."""
    whole, at = np.frombuffer(data, np.uint8), 0
    for piece in pieces:
        written = np.frombuffer(piece, np.uint8)
        for begin in range(0, len(written), _BLOCK):
            part = written[begin : begin + _BLOCK]
            there = whole[at : at + len(part)]
            if not np.array_equal(there, part):
                found = first_difference(there.tobytes(), part.tobytes())
                return f"write: in the run of bytes from offset {at}: {found}"
            at += len(part)
    return "" if at == len(whole) else f"write: the same up to offset {at}, where the file has {len(whole)}"


def _deep_difference(found: Format, document: Any, data: Bytes) -> str:
    """The same of decoding and encoding. Raises `ReadError` if decoding refuses, `WriteError` if encoding does."""
    round_trip = ROUND_TRIPS.get(found.name)
    if round_trip is None:
        return ""
    again = round_trip(document, Report())
    written = found.module.write(again)
    if written == data:
        return ""
    words = list(itertools.islice(found.module.differences(document, again), DIFFERENCES_SHOWN))
    return f"decoded and encoded: {'; '.join([first_difference(data, written), *words])}"


def first_difference(before: Bytes, after: Bytes) -> str:
    """Where two runs of bytes part, in words."""
    shorter = min(len(before), len(after))
    place, step = 0, 1 << 16
    while place < shorter and before[place : place + step] == after[place : place + step]:
        place += step
    place = next((at for at in range(place, min(place + step, shorter)) if before[at] != after[at]), shorter)
    sizes = "" if len(before) == len(after) else f", {len(after)} bytes instead of {len(before)}"
    if place == shorter:
        return f"the same up to offset {place}{sizes}"
    return f"first different byte at offset {place} ({after[place]:#04x} instead of {before[place]:#04x}){sizes}"
