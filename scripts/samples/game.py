"""A tiny game as it is installed: the files of the showcase in archives of X-Ray and Arma, stored uncompressed.

The extension never writes archives; these writers are for samples and tests alone.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

FSGAME = b"$arch$ = true| false| $fs_root$| db\\\r\n$game_data$ = true| true| $fs_root$| gamedata\\\r\n"
HEADER = b"[header]\r\nentry_point = $fs_root$\\gamedata\\\r\n"
_DATA, _TABLE, _HEADER = 0, 1, 666


def xray_archive(files: Mapping[str, bytes]) -> bytes:
    """Return a `.db` archive, version 2947, of names with backslashes, which the game sees below ``gamedata``."""
    start = 8 + len(HEADER) + 8
    rows, data = bytearray(), bytearray()
    for name, content in files.items():
        text = name.encode("cp1251")
        size = len(content)
        rows += struct.pack("<HIII", len(text) + 16, size, size, zlib.crc32(content)) + text
        rows += struct.pack("<I", start + len(data))
        data += content
    parts = ((_HEADER, HEADER), (_DATA, bytes(data)), (_TABLE, bytes(rows)))
    return b"".join(struct.pack("<II", number, len(body)) + body for number, body in parts)


def pbo(files: Mapping[str, bytes], prefix: str) -> bytes:
    """Return a `.pbo` addon of names with backslashes, which the game sees below ``prefix``."""
    head = b"\0" + struct.pack("<5I", 0x56657273, 0, 0, 0, 0) + b"prefix\0" + prefix.encode("ascii") + b"\0\0"
    for name, content in files.items():
        head += name.encode("ascii") + b"\0" + struct.pack("<5I", 0, 0, 0, 0, len(content))
    return head + bytes(21) + b"".join(files.values())


def installed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return path -> bytes of games whose archives have ``files``: paths below ``gamedata``, ``arma``, ``descent3``."""

    def below(folder: str) -> dict[str, bytes]:
        inside = {name: content for name, content in files.items() if name.startswith(f"{folder}/")}
        return {name.removeprefix(f"{folder}/").replace("/", "\\"): content for name, content in inside.items()}

    return {
        "stalker/fsgame.ltx": FSGAME,
        "stalker/db/showcase.db0": xray_archive(below("gamedata")),
        "arma/addons/showcase.pbo": pbo(below("arma"), "showcase"),
        "descent3/ship.hog": files["descent3/ship.hog"],
    }
