"""A model of Descent 3 written by hand, field by field, for every version.

A line that begins with a condition in brackets is in files of such versions only. The lengths of chunks and texts are
counted by the script below, which knows nothing of ours.
"""

import struct

CHUNKS = {
    b"TXTR": """
        02000000                            ; two textures
        06000000 48756c6c3100               ; Hull1, with its NUL
        06000000 48756c6c3100               ; the same again
    """,
    b"OHDR": """
        02000000                            ; two sub-objects
        0000a040                            ; radius 5
        0000803f 00000000 000000c0          ; box from 1 0 -2
        00004040 00000040 0000803f          ; to 3 2 1
        01000000 07000000                   ; one level of detail, 7
    """,
    b"SOBJ": """
        00000000 ffffffff                   ; index 0, no parent
        00000000 00000000 0000803f          ; separation plane
        00000040                            ; its distance 2
        00000000 00000000 00000000          ; its point
        00000000 0000803f 00000000          ; offset 0 1 0
        00000040                            ; radius 2
        ffffffff ffffffff                   ; tree and data offset
        0000003f 0000003f 00000000          ; geometric centre
        05000000 626f647900                 ; body
        01000000 00                         ; no properties
        ffffffff ffffffff                   ; movement type and axis
        02000000 09000000 08000000          ; free space of two numbers
        04000000                            ; four vertices
        00000000 00000000 00000000
        0000803f 00000000 00000000
        0000803f 0000803f 00000000
        00000000 0000803f 00000040          ; the last at 0 1 2
        00000000 00000000 0000003f          ; normals: half as long as usual
        00000000 00000000 0000003f
        00000000 00000000 0000003f
        0000c0ff 0000c0ff 0000c0ff          ; no number
        [>=2300] 0000803f 0000803f 0000003f 0000803f  ; alphas 1 1 0.5 1
        02000000                            ; two faces
        00000000 00000000 0000803f          ; normal 0 0 1
        03000000 01000000 01000000          ; three corners, textured, texture 1
        00000000 00000000 000080bf          ; vertex 0, u 0, v -1
        01000000 0000803f 000080bf
        02000000 0000803f 00000000
        [>=2100] 0000803f 0000803f          ; x_diff, y_diff
        00000000 00000000 000080bf          ; normal 0 0 -1
        04000000 00000000 102030            ; four corners, colour 16 32 48
        03000000 00000000 00000000
        02000000 00000000 00000000
        01000000 00000000 00000000
        00000000 00000000 00000000
        [>=2100] 00004040 00000041
    """,
    b"SOBJ ": """
        01000000 00000000                   ; index 1, parent 0
        00000000 00000000 00000000 00000000 00000000 00000000 00000000
        0000c03f 00000000 00000000          ; offset 1.5 0 0
        00000000 ffffffff ffffffff
        00000000 00000000 00000000
        06000000 726f746f7200               ; rotor
        0b000000 24726f746174653d322e00     ; $rotate=2.
        01000000 02000000                   ; movement 1 2
        00000000 00000000 00000000          ; no free space, no vertices, no faces
    """,
    b"SPCL": """
        01000000 07000000 2464756d6d7900 01000000 00   ; $dummy, no properties
        0000803f 00000040 00004040 00000040             ; at 1 2 3, radius 2
    """,
    b"GPNT": """
        01000000
        [>=1908] 01000000                   ; of the rotor
        00000000 00000000 0000803f          ; at 0 0 1
        00000000 00000000 0000803f          ; along z
    """,
    b"GRND": """
        01000000 00000000                   ; of the body
        00000000 000080bf 00000000          ; at 0 -1 0
        00000000 000080bf 00000000          ; downwards
    """,
    b"ATCH": """
        01000000 00000000
        00000000 0000803f 00000000          ; at 0 1 0
        00000000 00000000 0000803f          ; forward z
    """,
    b"NATH": """
        01000000 00000000
        00000000 0000c03f 00000000          ; the helper's own place
        00000000 0000803f 00000000          ; up y
    """,
    b"WBAT": """
        01000000
        01000000 00000000                   ; gun 0
        01000000 01000000                   ; turret: sub-object 1
    """,
    b"RANI": """
        [<2200] 02000000                    ; two keys for every sub-object
        [>=2200] 00000000 00000000 0a000000 ; the body: no keys, ticks 0 to 10
        [<2200] 00000000 00000000 0000803f 00000000
        [<2200] 00000000 00000000 0000803f 00400000
        [>=2200] 02000000 00000000 0a000000 ; the rotor: two keys
        [>=2200] 00000000                   ; at tick 0
        000080bf 00000000 00000000 00000000 ; axis -1 0 0, angle 0
        [>=2200] 0a000000                   ; at tick 10
        000080bf 00000000 00000000 00000100 ; a whole turn, 65536
    """,
    b"PANI": """
        [<2200] 01000000                    ; one key for every sub-object
        [>=2200] 02000000 00000000 0a000000 ; the body: two keys
        [>=2200] 00000000
        00000000 00000000 00000000
        [>=2200] 0a000000
        [>=2200] 00000000 00000000 00008040 ; 4 ahead
        [>=2200] 00000000 00000000 0a000000 ; the rotor: none
        [<2200] 0000803f 00000000 00000000
    """,
    b"IDTA": "010203",
    b"WXYZ": "",
    b"PINF": "68656c6c6f0a",  # hello, and a line's end
}
VERSIONS = (1807, 1900, 1907, 1908, 1999, 2000, 2099, 2100, 2150, 2199, 2200, 2299, 2300)


def body(text, version):
    """The bytes of lines of hex numbers, of those that are in files of this version."""
    kept = []
    for line in text.splitlines():
        line = line.partition(";")[0].strip()
        if line.startswith("["):
            condition, line = line[1:].split("]")
            wanted = version >= int(condition[2:]) if condition.startswith(">=") else version < int(condition[1:])
            if not wanted:
                continue
        kept.append(line)
    return bytes.fromhex("".join(kept))


def chunk(identifier, data):
    return identifier[:4] + struct.pack("<i", len(data)) + data


def model(version=2300, *, without=(), replaced=None, order=None):
    """The whole file; ``replaced`` bodies by chunk."""
    bodies = {name: body(text, version) for name, text in CHUNKS.items() if name not in without}
    bodies |= replaced or {}
    return b"PSPO" + struct.pack("<i", version) + b"".join(chunk(name, bodies[name]) for name in order or bodies)
