"""Texts in the files of Descent 3: 8 bits a character.

What the game means by characters above ASCII is not known; Latin-1 gives every byte string a text, and `encode` gives
it back.
"""

from __future__ import annotations

from ...core.binary import Reader, Writer
from ...core.errors import WriteError


def decode(stored: bytes) -> str:
    """The text up to the first NUL."""
    return stored.partition(b"\0")[0].decode("latin-1")


def encode(text: str) -> bytes:
    """A text with its closing NUL. Raises `WriteError` for what the game cannot hold."""
    if "\0" in text:
        raise WriteError(f"the text {text!r} holds a zero byte", remedy="Rename it")
    try:
        return text.encode("latin-1") + b"\0"
    except UnicodeEncodeError as wrong:
        raise WriteError(
            f"{text!r} holds {text[wrong.start]!r}, which the game cannot hold", remedy="Use Latin letters"
        ) from None


def kept_or_encoded(text: str, stored: bytes | None) -> bytes:
    """The stored bytes where they still say ``text``, else new ones."""
    return stored if stored is not None and decode(stored) == text else encode(text)


def read_counted(reader: Reader, what: str) -> bytes:
    """A text with its length in front; the length counts the NUL, and all bytes are kept."""
    size = reader.i32(f"the length of {what}")
    return bytes(reader.take(size, what))


def write_counted(writer: Writer, stored: bytes) -> None:
    """The length and the bytes of a text."""
    writer.i32(len(stored))
    writer.raw(stored)
