"""A whole model in annotated bytes: two bones, one triangle that follows them. The layout is the format page's."""

from tests.formats.xray.level_bytes import chunk, floats, hexed

HEADER = hexed("""
    04              ; version
    03              ; type: animated skeleton
    0000            ; shader
    00000000 00000000 00000000  ; box, lowest corner 0 0 0
    0000803f 00000040 00004040  ; box, highest corner 1 2 3
    0000003f 0000803f 0000c03f  ; sphere, centre 0.5 1 1.5
    0000f03f        ; sphere, radius 1.875
""")
CHILD_HEADER = HEADER[:1] + b"\x05" + HEADER[2:]
TEXTURE = hexed("""
    77706e5c7069705f31 00       ; texture wpn\\pip_1
    6d6f64656c735c6d6f64656c 00 ; shader models\\model
""")
# Two links: u16 bones, position, normal, tangent, binormal, weight of the second bone, uv
VERTICES = hexed("""
    02000000        ; format: two links, the later games' number
    03000000        ; three vertices
    0000 0100       ; bones 0, 1
    00000000 00000000 00000000  ; position 0 0 0
    00000000 00000000 0000803f  ; normal 0 0 1
    0000803f 00000000 00000000  ; tangent 1 0 0
    00000000 000080bf 00000000  ; binormal 0 -1 0
    0000803e        ; weight of bone 1: 0.25
    00000000 0000803f           ; uv 0 1
    0100 0100       ; bones 1, 1
    0000803f 00000000 00000000  ; position 1 0 0
    00000000 00000000 0000803f  ; normal 0 0 1
    0000803f 00000000 00000000  ; tangent 1 0 0
    00000000 000080bf 00000000  ; binormal 0 -1 0
    0000803f        ; weight 1: the one bone written twice
    0000803f 0000803f           ; uv 1 1
    0100 0000       ; bones 1, 0
    00000000 00000040 00004040  ; position 0 2 3
    00000000 00000000 0000803f  ; normal 0 0 1
    0000803f 00000000 00000000  ; tangent 1 0 0
    00000000 000080bf 00000000  ; binormal 0 -1 0
    00000000        ; weight 0: bone 1 alone
    00000000 00000000           ; uv 0 0
""")
INDICES = hexed("""
    03000000        ; three indices
    0000 0100 0200  ; one triangle
""")
BONES = hexed("""
    02000000        ; two bones
    726f6f74 00     ; name root
    00              ; no parent
    0000803f 00000000 00000000  ; box, rotation rows
    00000000 0000803f 00000000
    00000000 00000000 0000803f
    0000003f 00000000 00000000  ; box, centre 0.5 0 0
    0000003f 0000803e 0000803e  ; box, half size 0.5 0.25 0.25
    68616e64 00     ; name hand
    526f6f74 00     ; parent Root: case does not count
""") + floats(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 0.5)
SHAPE = hexed("""
    0100            ; shape: box
    0400            ; flags: no physics
""") + floats(*(1, 0, 0, 0, 1, 0, 0, 0, 1), 0, 0, 0, 0.5, 0.5, 0.5, *(0, 0, 0, 1), *(0, 0, 0, 0, 1, 0, 2, 0.5))
JOINT = (
    hexed("02000000 ; joint with limits")
    + floats(-1, 1, 1, 1, -0.5, 0.5, 1, 1, 0, 0, 1, 1)  # x, y, z: lowest, highest, spring, damping
    + floats(1, 2)  # spring, damping
)
BREAKING = hexed("01000000 ; flags: breakable") + floats(100, 200)  # force, torque
FRICTION = floats(0.25)
ROOT_REST = floats(0, 0, 0, 0, 1, 0)  # angles, offset 0 1 0
HAND_REST = floats(0.5, 0.25, -0.125, 1, 2, 3)
MASS = floats(10, 0, 0.5, 0)  # mass, centre of mass
MATERIAL = hexed("6d6574616c 00 ; metal")
VERSION = hexed("01000000")
PHYSICS = b"".join(
    VERSION + MATERIAL + SHAPE + JOINT + BREAKING + FRICTION + rest + MASS for rest in (ROOT_REST, HAND_REST)
)
USER_DATA = hexed("5b615d0d0a 00 ; [a] CR LF")
DESCRIPTION = hexed("""
    612e6f626a 00   ; source a.obj
    7364 6b 00      ; tool sdk
    78563412        ; exported at 0x12345678
    6d65 00         ; creator me
    01000000        ; created
    796f75 00       ; modifier you
    02000000        ; modified
""")
REFERENCES = hexed("612c62 00 ; a,b")
REFERENCES_2 = hexed("""
    02000000        ; two names
    61 00           ; a
    625c2a2e6f6d66 00 ; b\\*.omf
""")

CHILD = chunk(1, CHILD_HEADER) + chunk(2, TEXTURE) + chunk(3, VERTICES) + chunk(4, INDICES)


def model(*more: bytes, header=HEADER, child=CHILD, bones=BONES, physics=PHYSICS) -> bytes:
    """The chunks in the editor's order, and others behind them."""
    return (
        chunk(1, header)
        + chunk(18, DESCRIPTION)
        + chunk(9, chunk(0, child))
        + chunk(13, bones)
        + chunk(16, physics)
        + chunk(17, USER_DATA)
        + b"".join(more)
    )


MODEL = model(chunk(19, REFERENCES))
