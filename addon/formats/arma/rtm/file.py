"""The `.rtm` file of either kind: bytes <-> document."""

from __future__ import annotations

from ....core.binary import Reader
from ....core.report import Report
from .binarised import read_binarised, write_binarised
from .document import BINARISED, PLAIN, PLAIN_OLD, PROPERTIES, Binarised, Rtm, garbage
from .plain import read_plain, write_plain


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are the mark of a plain or binarised animation."""
    return head[:8] in (PLAIN, PLAIN_OLD, PROPERTIES) or head[:4] == BINARISED


def read(data: bytes, file: str, report: Report) -> Rtm:
    """The document of an `.rtm`: `Plain` or `Binarised`. Raises `ReadError`."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    reader.refuse_git_pointer()
    if not starts_like(data[:8]):
        raise reader.error(
            f"the file begins with {bytes(data[:8])!r}: this is no animation of Operation Flashpoint or Arma",
            "Choose an .rtm file that begins with RTM_ or BMTR",
        )
    return read_binarised(reader, report) if data[:4] == BINARISED else read_plain(reader, report)


def write(document: Rtm) -> bytes:
    """The file's bytes. Raises `WriteError`."""
    return write_binarised(document, checked=False) if isinstance(document, Binarised) else write_plain(document)


def recompose(document: Rtm) -> bytes:
    """The same; compressed blocks are kept only where they unpack to what the document says."""
    return write_binarised(document, checked=True) if isinstance(document, Binarised) else write_plain(document)


def raw_size(document: Rtm) -> int:
    """Bytes kept without knowing what they mean: behind names, and behind the last frame."""
    if isinstance(document, Binarised):
        return len(document.tail)
    return len(document.tail) + garbage(document.bone_fields) + garbage(document.frame_fields)
