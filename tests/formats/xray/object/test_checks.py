"""What the editors refuse, said by `verify` and `info`."""

import pytest

from addon.formats.verification import Status, verify
from tests.formats.xray.level_bytes import chunk, floats, words
from tests.formats.xray.object.small_object import BONE, MESH, MODEL, OLD, SURFACE, mesh, small

WITHOUT_WEIGHTS = words(5) + b"".join(b"\1" + words(0, number % 4) for number in range(5))


def weighted(*counts):
    """Five vmrefs, the first and the fourth of one point, with so many weights."""
    rows = (bytes((1 + count,)) + words(0, number % 4) + words(2, 0) * count for number, count in enumerate(counts))
    return words(5) + b"".join(rows)


CASES = {
    "the version of the object is 17, not 16": {"x900": b"\x11\0"},
    "the version of the object is missing, not 16": {"x900": None},
    "the object has no flags": {"x903": None},
    "the object has no list of surfaces": {"x907": None},
    "the surface 'metal' has no shader": {"x907": words(1) + SURFACE.replace(b"models\\model", b"")},
    "the surface 'metal' has vertex format 0x212 and 2 texture coordinates, not 0x112 and 1": {
        "x907": words(1) + SURFACE[:-12] + words(1, 0x212, 2)
    },
    "the surface 'metal' occurs 2 times": {"x907": words(2) + SURFACE * 2},
    "the bone 'root' occurs 2 times": {"x921": chunk(0, BONE) + chunk(1, BONE)},
    "2 bones have no parent: root, tip": {
        "x921": chunk(0, BONE) + chunk(1, chunk(2, b"Tip\0nobody\0tip\0")),
    },
    "the parents of the bone 'a' form a cycle": {
        "x921": chunk(0, chunk(2, b"a\0b\0root\0")) + chunk(1, chunk(2, b"b\0a\0root\0"))
    },
    "65 bones, the game supports 64": {
        "x921": b"".join(chunk(n, chunk(2, b"b%d\0%s\0root\0" % (n, b"b0" if n else b""))) for n in range(65))
    },
    "the object has bones but is not dynamic (flag 1): the actor editor cannot export it": {"x903": words(0)},
    "the bone part 'default' has bones that do not exist: gone": {
        "x919": None,
        "x923": words(1) + b"default\0" + words(1) + b"gone\0",
    },
}
MESH_CASES = {
    "in mesh 'quad': its version is 16, not 17": {"x1000": b"\x10\0"},
    "in mesh 'quad': it has no bounding box": {"x1004": None},
    "in mesh '': it has no name": {"x1001": None},
    "in mesh 'quad': its bounding box is not that of its points": {"x1004": floats(0, 0, 0, 1, 2, 3)},
    "in mesh 'quad': it has smoothing groups of 1 face, and 2 faces": {"x1013": words(1)},
    "in mesh 'quad': it has normals of 1 face, and 2 faces": {"x1014": floats(*[0] * 9)},
    "in mesh 'quad': its surface 'gone' is not in the object's list": {"x1009": b"\1\0gone\0" + words(2, 0, 1)},
    "in mesh 'quad': its surface 'metal' has no faces": {
        "x1009": b"\2\0metal\0" + words(0) + b"metal\0" + words(2, 0, 1)
    },
    "in mesh 'quad': 1 face has no surface": {"x1009": b"\1\0metal\0" + words(1, 1)},
    "in mesh 'quad': its surfaces have faces that do not exist": {"x1009": b"\1\0metal\0" + words(3, 0, 1, 2)},
    "in mesh 'quad': faces refer to points that do not exist": {
        "x1006": MESH[0x1006].replace(words(3, 4), words(4, 4))
    },
    "in mesh 'quad': faces refer to weights and texture coordinates that do not exist": {
        "x1006": MESH[0x1006].replace(words(3, 4), words(3, 5))
    },
    "in mesh 'quad': vertices refer to weights or texture coordinates that do not exist": {
        "x1008": MESH[0x1008].replace(words(1, 0), words(1, 1))
    },
    "in mesh 'quad': weights of bones that do not exist: Root": {"x1012": MESH[0x1012].replace(b"root", b"Root")},
    "in mesh 'quad': 4 vertices have no weights": {"x1008": WITHOUT_WEIGHTS},
    "in mesh 'quad': 2 vertices have more bones than the editor keeps, the 4 heaviest": {
        "x1008": weighted(5, 4, 5, 5, 1)
    },
}


def problems(data):
    verdict = verify(data, "a.object")
    assert verdict.status is Status.IDENTICAL
    return verdict.problems


def test_sound_objects():
    assert problems(small()) == ()


@pytest.mark.parametrize("sentence", CASES)
def test_what_editors_refuse_in_an_object(sentence):
    assert problems(small(**CASES[sentence])) == (sentence,)


@pytest.mark.parametrize("sentence", MESH_CASES)
def test_what_editors_refuse_in_a_mesh(sentence):
    assert problems(small((mesh(**MESH_CASES[sentence]),))) == (sentence,)


SIGNALLING = words(0x7FA00000)
"""A NaN that sets the processor's flag for invalid numbers when it is converted."""


@pytest.mark.parametrize(
    ("box", "points"),
    [
        (floats(0, 3e38, 0, 1, 3e38, 0), floats(*[0, -3e38, 0] * 4)),
        (floats(0, 0, 0, 1, 1, 1), SIGNALLING * 12),
        (SIGNALLING * 6, floats(*range(12))),
    ],
    ids=["far apart", "NaN points", "NaN box"],
)
def test_a_box_of_odd_numbers_is_compared(box, points):
    far = mesh(x1004=box, x1005=words(4) + points)
    assert "in mesh 'quad': its bounding box is not that of its points" in problems(small((far,)))


def test_meshes_that_are_too_small_missing_or_named_alike():
    tiny = mesh(x1005=words(2) + floats(0, 0, 0, 1, 2, 0), x1006=words(0), x1013=b"", x1014=b"", x1009=b"\0\0")
    assert problems(small((tiny,))) == ("in mesh 'quad': it has 2 points and 0 faces; editors want at least 3 and 1",)
    assert problems(small(())) == ("there is no mesh: the object cannot be shown or exported",)
    assert problems(small((mesh(), mesh()))) == ("the mesh 'quad' occurs 2 times",)


def test_motions_inside_have_the_rules_of_motions():
    twice = words(2) + MODEL[0x916][4:] * 2
    assert problems(small(x916=twice)) == ("the motion 'idle' occurs 2 times",)


def test_an_old_object_lacks_what_editors_ask_for():
    result = problems(OLD)
    assert "in mesh 'tri': it has no bounding box" in result
    assert "in mesh 'tri': it has no flags" in result
