"""Objects of the editor, put together byte by byte: a new one with every kind of chunk, an old one."""

from tests.formats.xray.level_bytes import chunk, floats, hexed, words

BONE = chunk(1, b"\2\0") + chunk(2, b"root\0\0root\0") + chunk(3, floats(0, 1, 2, 0, 0, 0, 0.5)) + chunk(2, b"root\0")


def bone(name, parent=""):
    naming = f"{name}\0{parent}\0{name}\0".encode()
    return chunk(1, b"\2\0") + chunk(2, naming) + chunk(3, floats(0, 1, 2, 0, 0, 0, 0.5))


MOTION = (
    b"idle\0"
    + words(0, 1)
    + floats(30)
    + b"\6\0"  # version
    + b"\0\xff\xff"  # flags, part
    + floats(1, 2, 2, 1)
    + b"\1\0root\0\0"
    + (b"\1\1\1\0" + floats(0.25, 0) + b"\4") * 6  # one stepped key per channel
)
MESH = {
    0x1000: hexed("1100                ; version"),
    0x1001: b"quad\0",
    0x1004: floats(0, 0, 0, 1, 2, 0),
    0x1002: hexed("01                  ; visible"),
    0x1010: words(0, 0),
    0x1005: words(4) + floats(0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0),
    0x1006: hexed("""
        02000000                        ; two faces
        00000000 00000000               ; point 0, vmref 0
        02000000 02000000               ; point 2, vmref 2
        01000000 01000000
        00000000 03000000               ; point 0 again, with another vmref
        03000000 04000000
        02000000 02000000
    """),
    0x1013: hexed("01000000 ffffffff   ; the first edge of face 0 is hard, face 1 is flat"),
    0x1014: floats(*[0, 0, -1] * 6),
    0x1008: hexed("""
        05000000                        ; vmrefs
        02  00000000 00000000  02000000 00000000    ; uv 0 of map 0, weight 0 of map 2
        02  00000000 01000000  02000000 01000000
        02  00000000 02000000  02000000 02000000
        02  01000000 00000000  02000000 00000000    ; uv 0 of map 1
        02  00000000 03000000  02000000 03000000
    """),
    0x1009: b"\1\0" + b"Metal\0" + words(2, 0, 1),
    0x1012: words(3)
    + b"Texture\0"
    + hexed("02 00 00            ; two numbers, not of corners, uv")
    + words(4)
    + floats(0, 0, 1, 0, 1, 1, 0, 1)
    + words(0, 1, 2, 3)
    + b"Texture\0"
    + hexed("02 01 00            ; of corners")
    + words(1)
    + floats(0.5, 0.25)
    + words(0)  # points
    + words(1)  # faces
    + b"root\0"
    + hexed("01 00 01            ; one number, weights")
    + words(4)
    + floats(1, 1, 0.5, 1)
    + words(0, 1, 2, 3),
}
SURFACE = b"metal\0models\\model\0default\0objects\\metal\0wpn\\metal\0Texture\0" + words(1, 0x112, 1)
MODEL = {
    0x900: hexed("1000                 ; version"),
    0x912: b"[a]\r\n\0",
    0x925: b"\0",
    0x903: words(0x43),
    0x907: words(1) + SURFACE,
    0x921: chunk(0, BONE),
    0x916: words(1) + MOTION,
    0x924: b"a\\b,c\0",
    0x926: words(1) + b"d\0",
    0x923: words(1) + b"default\0" + words(1) + b"root\0",
    0x919: words(1) + b"default\0" + words(1, 0),
    0x920: floats(*range(6)) + floats(2) + words(1),
    0x922: b"me\0" + words(7, 0) + b"\x98\0" + words(9, 1),  # times of 8 bytes
    0x927: floats(2) + b"\1",
}


def mesh(**changed: bytes) -> bytes:
    bodies = MESH | {int(name[1:], 16): body for name, body in changed.items()}
    return b"".join(chunk(number, body) for number, body in bodies.items() if body is not None)


def small(meshes: tuple[bytes, ...] = (mesh(),), **changed: bytes) -> bytes:
    """An object; ``x903=...`` other bodies of chunks, None to leave one out."""
    held = b"".join(chunk(number, body) for number, body in enumerate(meshes))
    bodies = {0x910: held} | MODEL | {int(name[1:], 16): body for name, body in changed.items()}
    order = [
        0x900,
        0x912,
        0x925,
        0x903,
        0x910,
        *[number for number in bodies if number not in (0x900, 0x912, 0x925, 0x903, 0x910)],
    ]
    return chunk(0x7777, *(chunk(number, bodies[number]) for number in order if bodies[number] is not None))


OLD_MESH = b"".join(
    (
        chunk(0x1000, b"\x11\0"),
        chunk(0x1001, b"tri\0"),
        chunk(0x1003, b"\0"),
        chunk(
            0x1005,
            words(3)
            + floats(0, 0, 0, 1, 0, 0, 0, 1, 0)
            + b"\1"
            + words(0)
            + b"\2"
            + words(0, 7)
            + b"\0",  # faces around
        ),
        chunk(0x1006, words(1, 0, 0, 1, 1, 2, 2)),
        chunk(0x1008, words(3) + b"".join(b"\1" + words(0, number) for number in range(3))),
        chunk(0x1009, b"\1\0old\0" + words(1, 0)),
        chunk(0x1011, words(1) + b"uv\0\2\0" + words(3) + floats(0, 0, 1, 0, 0, 1)),
        chunk(0x1007, words(1) + b"uv\0" + words(1) + floats(0.5, 0.5)),
    )
)
OLD = chunk(
    0x7777,
    chunk(0x900, b"\x10\0"),
    chunk(0x903, b"\1"),  # flags of one byte
    chunk(0x911, words(5, 6)),
    chunk(0x910, chunk(0, OLD_MESH)),
    chunk(0x906, words(1) + b"old\0shader\0compiler\0texture\0uv\0" + words(0, 0x112, 1)),
    chunk(0x905, words(1) + b"older\0shader\0\1" + words(0x112, 1) + b"texture\0uv\0"),
    chunk(0x918, b"compiler\0other\0"),
    chunk(0x913, words(1) + b"root\0\0map\0" + floats(*range(7))),
    chunk(
        0x914,
        words(1)
        + b"move\0"
        + words(0, 10)
        + floats(30)
        + b"\3\0"
        + (words(1, 1, 1) + floats(0.5, 0) + words(4) + floats(*[0] * 7)) * 6,
    ),
    chunk(0x916, words(0)),
    chunk(0x922, b"me\0" + words(7) + b"\0" + words(0)),  # times of 4 bytes
)
