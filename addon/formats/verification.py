"""The byte law, asked of one file: does it leave as it came?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..core.errors import MotionbridgeError, ReadError
from ..core.report import Report
from . import FORMATS, HEAD_SIZE, Format, detect


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
    ``detail`` is the refusal, the difference, or the failure; ``warnings`` those of reading it.
    """

    file: str
    format: str | None
    status: Status
    raw_share: float | None = None
    detail: str = ""
    warnings: tuple[str, ...] = ()


def open_document(data: bytes, file: str) -> tuple[Format, Any, Report]:
    """A file's format, document and what reading had to say. Raises `ReadError`, also for an unknown format."""
    found = detect(file, data[:HEAD_SIZE])
    if found is None:
        known = ", ".join(suffix for known in FORMATS for suffix in known.suffixes)
        raise ReadError("this is no file of a known format", file=file, remedy=f"Known are {known}")
    report = Report()
    return found, found.module.read(data, file, report), report


def verify(data: bytes, file: str) -> Verdict:
    """Read the bytes of ``file`` and write them again in both ways. Raises only for defects of ours."""
    found = detect(file, data[:HEAD_SIZE])
    if found is None:
        return Verdict(file, None, Status.UNKNOWN)
    try:
        _, document, report = open_document(data, file)
    except ReadError as refusal:
        return Verdict(file, found.name, Status.REFUSED, detail=str(refusal))
    share = found.module.raw_size(document) / len(data) if data else 0.0
    warnings = tuple(Report(report.warnings).lines())
    for way in (found.module.write, found.module.recompose):
        try:
            again = way(document)
        except MotionbridgeError as refusal:
            detail = f"{way.__name__} refuses: {refusal}"
            return Verdict(file, found.name, Status.DIFFERS, share, detail, warnings)
        if again != data:
            detail = f"{way.__name__}: {first_difference(data, again)}"
            return Verdict(file, found.name, Status.DIFFERS, share, detail, warnings)
    return Verdict(file, found.name, Status.IDENTICAL, share, warnings=warnings)


def first_difference(before: bytes, after: bytes) -> str:
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
