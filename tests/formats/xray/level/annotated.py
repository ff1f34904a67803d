"""`level`, `level.geom` and the files beside them, written by hand, a field a line."""

from tests.formats.xray.level_bytes import chunk, floats, hexed, words

HEADER_OF = hexed("""
    01000000 2c000000                   ; chunk 1 of a visual, 44 bytes
    04                                  ; version 4
""")
BOX = floats(-1, 0, -1, 1, 2, 1, 0, 1, 0, 1.75)


def header(kind: int, shader: int) -> bytes:
    """Chunk 1 of a visual: version 4, type, shader, box and sphere."""
    return HEADER_OF + bytes((kind,)) + shader.to_bytes(2, "little") + BOX


CONTAINER = hexed("""
    15000000 18000000                   ; chunk 21
    00000000 00000000 03000000          ; vertex buffer 0, from vertex 0, 3 vertices
    00000000 00000000 06000000          ; index buffer 0, from index 0, 6 indices
""")
WINDOWS = hexed("""
    06000000 24000000                   ; chunk 6
    00000000 00000000 00000000 00000000 ; reserved
    02000000                            ; two windows
    03000000 0100 0300                  ; from index 3, 1 triangle, 3 vertices
    00000000 0100 0200                  ; from index 0, 1 triangle, 2 vertices
""")
FAST_PATH = hexed("""
    16000000 4c000000                   ; chunk 22: the copy for shadows
      15000000 18000000                 ; chunk 21
      00000000 00000000 03000000
      00000000 00000000 06000000
      06000000 24000000                 ; chunk 6
      cdcdcdcd 00000000 efbeadde 00000000 ; reserved, uninitialised here
      02000000
      03000000 0100 0300
      00000000 0100 0200
""")
TREE = hexed("""
    0c000000 68000000                   ; chunk 12
    0000803f 00000000 00000000 00000000 ; i 1 0 0
    00000000 00000040 00000000 00000000 ; j 0 2 0
    00000000 00000000 0000803f 00000000 ; k 0 0 1
    00002041 0000a040 000040c0 0000803f ; at 10 5 -3
    0000003f 0000003f 0000003f 0000803f 0000803f ; scale of light
    00000000 00000000 00000000 0000803e 000080be ; bias
""")
SWI = hexed("14000000 04000000 00000000   ; chunk 20: list 0 of level.geom")
CHILDREN = hexed("""
    0a000000 0c000000                   ; chunk 10
    02000000 00000000 01000000          ; two children: 0, 1
""")

SURFACE = CONTAINER + WINDOWS + FAST_PATH + header(2, 1)
TREE_PM = CONTAINER + TREE + header(11, 2) + SWI
NODE = header(1, 0) + CHILDREN
PORTAL = hexed("""
    0000 0100                           ; front sector 0, back sector 1
    00000000 00000000 00000000          ; 0 0 0
    00000000 00000040 00000000          ; 0 2 0
    0000803f 00000040 00000000          ; 1 2 0
    0000803f 00000000 00000000          ; 1 0 0
    cdcdcdcd cdcdcdcd cdcdcdcd          ; not used: what lay in memory
    efbeadde efbeadde efbeadde
    04000000                            ; 4 vertices
""")
SUN = words(1, 3) + floats(1, 1, 1, 1) + floats(*[0] * 8) + floats(0, 0, 0, 0.5, -0.75, 0.25) + floats(*[0] * 7)
GLOW = floats(0, 2, 0, 0.5) + b"\3\0"
SHADERS = (b"", b"default/wall,lmap#1_1,lmap#1_2", b"flora\\leaf/trees\\bush", b"effects\\glow/glow\\lamp")
SMALL_LEVEL = (
    hexed("01000000 04000000 0e00 0100   ; chunk 1: version 14, quality 1")
    + chunk(4, PORTAL)
    + chunk(6, SUN)
    + chunk(7, GLOW)
    + chunk(3, chunk(0, SURFACE), chunk(1, TREE_PM), chunk(2, NODE))
    + chunk(2, words(len(SHADERS)), *(shader + b"\0" for shader in SHADERS))
    + chunk(
        8,
        chunk(0, chunk(2, words(2)), chunk(1, b"\0\0")),
        chunk(1, chunk(2, words(0)), chunk(1, b"\0\0")),
    )
)

VERTEX = hexed("""
    0000803f 00000040 00004040          ; position 1 2 3
    7fff7f c8                           ; normal 0 1 0 (z, y, x), hemi 200
    7f7fff 80                           ; tangent 1 0 0, rest of u 128
    ff7f7f 00                           ; binormal 0 0 1, rest of v 0
    0002 00fe                           ; u 512, v -512
    0040 0060                           ; lightmap 16384, 24576
""")
SMALL_GEOM = (
    hexed("01000000 04000000 0e00 8e01   ; chunk 1: version 14, then uninitialised memory")
    + chunk(
        9,
        hexed("""
            01000000                    ; one vertex buffer
            0000 0000 02 00 00 00       ; offset 0: three floats, position
            0000 0c00 04 00 03 00       ; offset 12: colour, normal
            0000 1000 04 00 06 00       ; tangent
            0000 1400 04 00 07 00       ; binormal
            0000 1800 06 00 05 00       ; two shorts, texture coordinates
            0000 1c00 06 00 05 01       ; two shorts, lightmap
            ff00 0000 11 00 00 00       ; end
            03000000                    ; three vertices
        """),
        VERTEX * 3,
    )
    + chunk(
        10,
        hexed("""
            01000000 06000000           ; one index buffer of 6
            0000 0000 0100              ; the second window
            0000 0100 0200              ; the first
        """),
    )
    + chunk(
        11,
        hexed("""
            01000000                    ; one list of windows
            00000000 00000000 00000000 00000000
            02000000
            03000000 0100 0300
            00000000 0100 0200
        """),
    )
)

SMALL_AI = hexed("""
    08000000 02000000                   ; version 8, two nodes
    0000003f 00008040                   ; cell 0.5, height 4
    00000000 0000803f 00000000          ; from 0 1 0
    0000003f 0000a040 0000003f          ; to 0.5 5 0.5
    000102030405060708090a0b0c0d0e0f    ; guid
    ffffff ffff7f 0000e0 ffffff         ; node 0: 23 bits each: none, none, 1 (+x), none
    f8f4 7e00                           ; cover 8 15 4 15, plane straight up
    000000 0080                         ; column 0, height 0.5
    000080 ffffff ffffff ffffff         ; node 1: 0 (-x), none, none, none
    ffff 7e00
    020000 ffff                         ; column 2: x 1 (two a row), height 1
""")

SMALL_WALLMARKS = hexed("""
    01000000 75000000                   ; chunk 1
    01000000                            ; one slot
    01000000                            ; one mark
    6100 620063 00                      ; shader a, texture b, behind it a rest of the next
""")[:16] + hexed("""
    736800 747800                       ; sh, tx
    00000000 0000803f 00000000 00000040 ; sphere at 0 1 0, radius 2
    03000000                            ; three vertices
    00000000 00000000 00000000 00000000 00000000 0000803f ; 0 0 0, no colour, uv 0 1
    00000000 0000803f 00000000 00000000 00000000 00000000
    0000803f 00000000 00000000 00000000 0000803f 0000803f
""")
SMALL_WALLMARKS = chunk(1, SMALL_WALLMARKS[8:])

MATRIX = floats(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 7, 8, 9, 1)
SMALL_PARTICLES = chunk(0, b"fire\\torch\0", MATRIX) + chunk(1, b"fog\0", MATRIX)
NEW_PARTICLES = chunk(0, words(1)) + chunk(1, b"\x3f\0", b"fog\0", MATRIX)
WEATHER = floats(1, 2, 3, 10, 0.5, 300, 0.1, 0.2, 0.3, 0.9, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.3, 0.3)
SMALL_WEATHER = chunk(0, WEATHER)
NEW_WEATHER = chunk(0, words(0x17)) + chunk(1, WEATHER, b"\x1f\0")
SOUND = b"ambient\\wind\0" + floats(4, 5, 6, 1, 1) + words(0, 0, 1000, 2000, 500, 600)
SMALL_SOUNDS = chunk(0, chunk(0, SOUND)) + chunk(1, chunk(0, SOUND))
SMALL_SPAWN = (
    hexed("00000000 31000000                ; chunk 0")
    + hexed("0100                           ; a spawn packet")
    + b"graph_point\0yard\0"
    + hexed("""
        ff fe                               ; two bytes
        0000803f 00000040 00004040          ; at 1 2 3
        00000000 0000003f 00000000          ; angles
        aabbccdd                            ; what this kind of object has
    """)
)
