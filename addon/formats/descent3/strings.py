"""Texts in the files of Descent 3: one byte per character.

The game's encoding of characters above ASCII is unknown. Latin-1 is used because it can decode every byte string and
encode it again without change.
"""

from __future__ import annotations

from ...core.binary import Writer
from ...core.errors import WriteError
from ...core.records import Stored
from ...core.report import say


def decode(stored: bytes) -> str:
    """Return the text up to the first NUL."""
    return stored.partition(b"\0")[0].decode("latin-1")


def encode(text: str) -> bytes:
    """Return the bytes of a text with a final NUL. Raises `WriteError` for NUL and for non-Latin-1 characters."""
    if "\0" in text:
        raise WriteError(say("the text {!r} holds a zero byte", text), remedy="Rename it")
    try:
        return text.encode("latin-1") + b"\0"
    except UnicodeEncodeError as wrong:
        words = "{!r} holds {!r}, which the game cannot hold"
        raise WriteError(say(words, text, text[wrong.start]), remedy="Use Latin letters") from None


def kept_or_encoded(text: str, stored: bytes | None) -> bytes:
    """Return the stored bytes if they still decode to ``text``, else new bytes. Raises `WriteError` as `encode`."""
    return stored if stored is not None and decode(stored) == text else encode(text)


def counted(what: str) -> Stored[bytes]:
    """Return a field for a text behind its length, which includes the NUL; all bytes are kept."""
    length = say("the length of {}", what)

    def write(writer: Writer, stored: bytes) -> None:
        writer.i32(len(stored))
        writer.raw(stored)

    return Stored(lambda reader: bytes(reader.take(reader.i32(length), what)), write)
