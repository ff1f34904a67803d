"""Names of bones, selections and events in files of Operation Flashpoint and Arma.

The games compare names byte by byte, with upper and lower case ASCII letters equal. Today's tools read UTF-8; older
ones wrote the code page of Windows. Not one non-ASCII byte was found in 19,872 bone names of 320 animations and 1,006
selections of models, so more is not known.
"""

from __future__ import annotations

import codecs

from ...core.errors import WriteError
from ...core.report import say

# Code page 1252 with its five undefined bytes mapped to the control characters of the same number, as in the web
# platform's windows-1252, so that every byte string can be decoded.
_TABLE = "".join(
    chr(code) if code in b"\x81\x8d\x8f\x90\x9d" else bytes((code,)).decode("cp1252") for code in range(256)
)
_ENCODING = codecs.charmap_build(_TABLE)


def decode(name: bytes) -> str:
    """Return a name as text, decoded as UTF-8 if it is valid UTF-8, else as code page 1252."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return codecs.charmap_decode(name, "strict", _TABLE)[0]


def encode(name: str) -> bytes:
    """Return the bytes of a new name in code page 1252. Names read from a file keep their original bytes instead.

    Raises `WriteError` for a character that the code page lacks, or if the bytes would be decoded to another name.
    """
    try:
        data = codecs.charmap_encode(name, "strict", _ENCODING)[0]
    except UnicodeEncodeError as wrong:
        words = "the name {!r} contains {!r}, which is not in the game's code page (1252)"
        problem = say(words, name, name[wrong.start])
    else:
        if decode(data) == name:
            return data
        problem = say("the name {!r} in the game's code page (1252) would be read as {!r}", name, decode(data))
    raise WriteError(problem, remedy="Rename it with the letters A to Z, digits and underscores")
