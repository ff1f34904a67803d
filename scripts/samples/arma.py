"""A small man made of boxes for Operation Flashpoint and Arma: his walk, plain and binarised, his model, model.cfg
and textures.

Seven bones with names of the games' man. Sines and cosines are those of Pythagorean triangles, which are the same on
every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from addon.core.compression import lzo, lzss
from addon.core.model import DeltaClip, Event, absolute
from addon.formats.arma import p3d, paa, rtm
from addon.formats.arma.p3d.document import ARMA, CORNER, FACE, LAST_TAG, POINT, PROPERTY, Lod, P3d, Tag
from addon.formats.arma.skeletons import Hierarchy

Floats = NDArray[np.float64]

STEP = (0.0, -1.5, 0.0)
"""Metres per cycle, forward."""


@dataclass(frozen=True)
class Part:
    """A bone, its parent, its joint, and the lowest and highest corner of its box; metres in Blender's axes."""

    bone: str
    parent: str
    joint: tuple[float, float, float]
    low: tuple[float, float, float]
    high: tuple[float, float, float]


MAN = (
    Part("Pelvis", "", (0, 0, 1), (-0.125, -0.125, 0.875), (0.125, 0.125, 1.125)),
    Part("Spine", "Pelvis", (0, 0, 1.125), (-0.25, -0.125, 1.125), (0.25, 0.125, 1.625)),
    Part("head", "Spine", (0, 0, 1.625), (-0.125, -0.125, 1.625), (0.125, 0.125, 1.875)),
    Part("LeftUpLeg", "Pelvis", (0.125, 0, 0.875), (0.0625, -0.0625, 0.5), (0.1875, 0.0625, 0.875)),
    Part("LeftFoot", "LeftUpLeg", (0.125, 0, 0.5), (0.0625, -0.1875, 0), (0.1875, 0.0625, 0.5)),
    Part("RightUpLeg", "Pelvis", (-0.125, 0, 0.875), (-0.1875, -0.0625, 0.5), (-0.0625, 0.0625, 0.875)),
    Part("RightFoot", "RightUpLeg", (-0.125, 0, 0.5), (-0.1875, -0.1875, 0), (-0.0625, 0.0625, 0.5)),
)
SKELETON = Hierarchy("SampleMan", {part.bone: part.parent for part in MAN})
BONES = list(SKELETON.parents)

_SWINGS = (0.0, 0.28, 0.0, -0.28, 0.0)
"""Sines of a thigh's angle; the cosines are 1 and 0.96."""


def _about(joint: tuple[float, float, float], sine: float) -> Floats:
    """Return a rotation about the x axis through a joint."""
    cosine = 0.96 if sine else 1.0
    result = np.eye(4)
    result[1:3, 1:3] = [[cosine, -sine], [sine, cosine]]
    position = np.array(joint, np.float64)
    result[:3, 3] = position - result[:3, :3] @ position
    return result


def walk() -> DeltaClip:
    """Return five frames: the legs swing in opposite directions, feet bend while a leg is behind, the pelvis bobs."""
    frames = len(_SWINGS)
    own = np.broadcast_to(np.eye(4), (len(MAN), frames, 4, 4)).copy()
    for number, part in enumerate(MAN):
        sign = -1.0 if part.bone.startswith("Right") else 1.0
        for frame, sine in enumerate(_SWINGS):
            if part.bone.endswith("UpLeg"):
                own[number, frame] = _about(part.joint, sign * sine)
            elif part.bone.endswith("Foot"):
                own[number, frame] = _about(part.joint, min(sign * sine, 0.0))
            elif part.bone == "Pelvis":
                own[number, frame, 2, 3] = -0.03125 if sine else 0.0
    moved = absolute(own, SKELETON.parent_indices(BONES))
    steps = [Event(np.float32(phase), "StepSound", "") for phase in (0.25, 0.75)]
    return DeltaClip("walk", BONES, moved, rtm.default_phases(frames), np.array(STEP), steps)


def _box(number: int, part: Part) -> tuple[Floats, NDArray[np.uint32]]:
    """Return eight corners, and six quads that face outwards."""
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    faces = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]], np.uint32)
    return np.where(corners == 1, part.high, part.low), faces + np.uint32(8 * number)


def _body() -> Lod:
    boxes = [_box(number, part) for number, part in enumerate(MAN)]
    points = np.zeros(8 * len(MAN), POINT)
    points["position"] = np.concatenate([corners for corners, _ in boxes])[:, [0, 2, 1]]
    indices = np.concatenate([faces for _, faces in boxes])
    outward = np.array([[0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]], np.float32)
    faces = np.zeros(len(indices), FACE)
    faces["count"] = 4
    faces["corners"] = np.zeros((len(indices), 4), CORNER)
    faces["corners"]["point"] = indices
    faces["corners"]["normal"] = (np.arange(len(indices)) % 6)[:, None]
    faces["corners"]["uv"] = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], np.float32)
    texts = [(b"samples\\cloth_co.paa", b"samples\\cloth.rvmat"), (b"samples\\skin_co.paa", b"")]
    skin = np.array([part.bone == "head" for part in MAN]).repeat(6).astype(np.int32)
    tags = [_selection(part.bone, np.arange(len(points)) // 8 == number, len(faces)) for number, part in enumerate(MAN)]
    # Shared weights at the waist: the lowest corners of the spine follow spine and pelvis equally.
    spine, pelvis = (bytearray(bytes(tags[number].data)) for number in (1, 0))
    for corner in range(8, 12):
        spine[corner], pelvis[corner] = 128, 128
    tags[0], tags[1] = Tag(b"Pelvis", bytes(pelvis)), Tag(b"Spine", bytes(spine))
    tags += [Tag(PROPERTY, b"autocenter".ljust(64, b"\0") + b"0".ljust(64, b"\0")), Tag(LAST_TAG, b"")]
    normals = -outward[:, [0, 2, 1]]  # exchanging two axes reverses them
    return Lod(ARMA, 0x100, 0, b"", points, normals, faces, texts, skin, tags, np.float32(1))


def _selection(bone: str, points: NDArray[np.bool_], faces: int) -> Tag:
    return Tag(bone.encode(), points.astype(np.uint8).tobytes() + bytes(faces))


def memory() -> Lod:
    """Return a LOD with a point at each joint."""
    points = np.zeros(len(MAN), POINT)
    points["position"] = np.array([part.joint for part in MAN])[:, [0, 2, 1]]
    tags = [_selection(part.bone, np.arange(len(MAN)) == number, 0) for number, part in enumerate(MAN)]
    empty = np.zeros(0, FACE)
    tags.append(Tag(LAST_TAG, b""))
    return Lod(
        ARMA,
        0x100,
        0,
        b"",
        points,
        np.zeros((0, 3), np.float32),
        empty,
        [],
        np.zeros(0, np.int32),
        tags,
        np.float32(1e15),
    )


def _model_cfg() -> bytes:
    pairs = ",\n\t\t\t".join(f'"{part.bone}", "{part.parent}"' for part in MAN)
    lines = (
        "class CfgSkeletons",
        "{",
        "\tclass SampleMan",
        "\t{",
        "\t\tisDiscrete = 0;",
        '\t\tskeletonInherit = "";',
        "\t\tskeletonBones[] =",
        "\t\t{",
        f"\t\t\t{pairs}",
        "\t\t};",
        '\t\tpivotsModel = "samples\\man.p3d";',
        "\t};",
        "};",
        "class CfgModels",
        "{",
        '\tclass walk { skeletonName = "SampleMan"; };',
        "\tclass walk_binarised : walk {};",
        "\tclass man : walk {};",
        "};",
        "",
    )
    return "\r\n".join(lines).encode()


def _block(first: int, second: int, rows: int) -> bytes:
    """Return a color block of two colors; each of ``rows`` (a byte per row, the lowest first) has 2 bits per texel."""
    return first.to_bytes(2, "little") + second.to_bytes(2, "little") + rows.to_bytes(4, "little")


def _bricks() -> bytes:
    """Return a texture of 16 x 16 texels, DXT1 with two levels: red bricks with gray joints."""
    brick = _block(0xA145, 0x4A49, 0xAA0000_55)
    levels = [paa.Level(16, 16, brick * 16), paa.Level(8, 8, brick * 4)]
    tags = [paa.Tag("AVGC", bytes((41, 41, 150, 255))), paa.Tag("MAXC", b"\xff" * 4), paa.Tag("OFFS", bytes(64))]
    texture = paa.Paa(paa.TextureType.DXT1, tags, np.zeros((0, 3), np.uint8), levels, bytes(2))
    paa.set_offsets(texture)
    return paa.write(texture)


def _glass() -> bytes:
    """Return a texture of 6 x 4 texels, ARGB4444 that is blended: from transparent blue to opaque white."""
    values = np.array([0x000F, 0x344F, 0x677F, 0x9AAF, 0xCDDF, 0xFFFF], "<u2")
    level = paa.Level(6, 4, lzss.stored(np.tile(values, 4).tobytes(), signed=True))
    tags = [paa.Tag("AVGC", bytes((255, 200, 200, 127))), paa.Tag("FLAG", bytes((1, 0, 0, 0)))]
    return paa.write(paa.Paa(paa.TextureType.ARGB4444, tags, np.zeros((0, 3), np.uint8), [level], bytes(2)))


def man() -> dict[str, bytes]:
    """Return file name -> bytes of every file; one frame of the binarised animation is compressed."""
    binarised, _ = rtm.encode_binarised(walk(), SKELETON)
    binarised.blocks[1] = lzo.stored(np.ascontiguousarray(binarised.transforms[1]).tobytes())
    plain, _ = rtm.encode_plain(walk())
    return {
        "walk.rtm": rtm.write(plain),
        "walk_binarised.rtm": rtm.write(binarised),
        "man.p3d": p3d.write(P3d(0x101, [_body(), memory()])),
        "model.cfg": _model_cfg(),
        "bricks_co.paa": _bricks(),
        "glass_ca.paa": _glass(),
    }
