"""What a `.p3d` of tools says (MLOD): levels of detail, each points, faces and named selections.

A level is a mesh to be looked at, or one to be shot, walked on or asked for points (`Memory`), told apart by a number
that the engine calls resolution. Arma's levels begin with ``P3DM``, those of Operation Flashpoint with ``SP3X``. Known
from the released engine of Cold War Assault and from files of mods. The game itself holds another format (ODOL).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes
from .. import names

MARK, BINARISED_MARK = b"MLOD", b"ODOL"
ARMA, FLASHPOINT = b"P3DM", b"SP3X"
LAST_TAG = b"#EndOfFile#"
PROPERTY = b"#Property#"
SHARP_EDGES, MASS, FURTHER_UVS, POSED_POINTS = b"#SharpEdges#", b"#Mass#", b"#UVSet#", b"#Animation#"
TEXTURE_FIELD = 32
TAG_FIELD = 64

POINT = np.dtype([("position", "<f4", 3), ("flags", "<u4")])
CORNER = np.dtype([("point", "<u4"), ("normal", "<u4"), ("uv", "<f4", 2)])
FACE = np.dtype([("count", "<u4"), ("corners", CORNER, 4), ("flags", "<u4")])
"""Three or four corners are used; the fourth slot is there for triangles too."""

MEMORY = 1e15
KINDS = {
    1e3: "gunner's view",
    1.1e3: "pilot's view",
    1e13: "geometry",
    2e13: "buoyancy",
    4e13: "PhysX",
    MEMORY: "memory",
    2e15: "land contact",
    3e15: "roadway",
    4e15: "paths",
    5e15: "hit points",
    6e15: "view geometry",
    7e15: "fire geometry",
    8e15: "cargo view geometry",
    9e15: "cargo view fire geometry",
    1e16: "commander's view",
    1.1e16: "commander's view geometry",
    1.2e16: "commander's view fire geometry",
    1.3e16: "pilot's view geometry",
    1.4e16: "pilot's view fire geometry",
    1.5e16: "gunner's view geometry",
    1.6e16: "gunner's view fire geometry",
    1.7e16: "subparts",
    1.9e16: "pilot's view shadow",
    2e16: "gunner's view shadow",
    2.1e16: "wreck",
}
"""The game's number of each kind of level."""
NUMBERED_KINDS = (
    (1.2e3, 1.3e3, "cargo view"),
    (1e4, 1.1e4, "shadow"),
    (1.1e4, 1.2e4, "shadow buffer"),
    (1.2e4, 2e4, "shadow"),
    (2e4, 3e4, "edit"),
    (1.8e16, 1.9e16, "cargo view shadow"),
)
"""Kinds of which a model may have several: the first number and the end of the range."""


@dataclass(slots=True)
class Tag:
    """``field`` the name as stored: up to its zero, or 64 bytes in files of Operation Flashpoint."""

    field: bytes
    data: Bytes
    active: int = 1

    @property
    def name(self) -> bytes:
        """The bytes before the first zero."""
        return self.field.partition(b"\0")[0]


@dataclass(slots=True)
class Lod:
    """``points`` (n,) of `POINT`, ``normals`` (n, 3) float32, ``faces`` (n,) of `FACE`.

    ``texts`` the distinct (texture, material) and ``face_texts`` (faces,) int32 which of them a face has; a Flashpoint
    file's texture is its whole field of 32 bytes, its material empty.
    """

    signature: bytes
    version: int
    flags: int
    header_rest: Bytes
    points: NDArray[np.void]
    normals: NDArray[np.float32]
    faces: NDArray[np.void]
    texts: list[tuple[bytes, bytes]]
    face_texts: NDArray[np.int32]
    tags: list[Tag] = field(default_factory=list)
    resolution: np.float32 = field(default_factory=lambda: np.float32(0))

    @property
    def kind(self) -> str:
        """What the level is for, in words."""
        resolution = float(self.resolution)  # numpy before 2 warns of a signalling NaN where it compares
        for number, word in KINDS.items():
            if abs(resolution - number) <= 1e-4 * number:
                return word
        for first, end, word in NUMBERED_KINDS:
            if first * (1 - 1e-6) <= resolution < end * (1 - 1e-6):
                return word
        return "visual" if resolution < 1e3 else "special"

    def selections(self) -> Iterator[tuple[str, NDArray[np.uint8], NDArray[np.uint8]]]:
        """Name, byte of each point and byte of each face of the named selections; 0 is outside."""
        count = len(self.points)
        for tag in self.tags:
            if not tag.name.startswith(b"#") and len(tag.data) == count + len(self.faces):
                values = np.frombuffer(tag.data, np.uint8)
                yield names.decode(tag.name), values[:count], values[count:]

    def properties(self) -> dict[str, str]:
        """The named properties, the last of each name."""
        pairs = (bytes(tag.data) for tag in self.tags if tag.name == PROPERTY and len(tag.data) == 128)
        return {_text(pair[:64]): _text(pair[64:]) for pair in pairs}

    def unread(self) -> Iterator[Bytes]:
        """The payloads of tags that stay bytes: poses of the points, further texture coordinates, unknown ones."""
        points, both = len(self.points), len(self.points) + len(self.faces)
        for tag in self.tags:
            size = len(tag.data)
            if tag.name.startswith(b"#"):
                read = tag.name == SHARP_EDGES and size % 8 == 0
                read |= (tag.name == MASS and size == 4 * points) or (tag.name == PROPERTY and size == 128)
            else:
                read = size == both
            if not read:
                yield tag.data

    def textures(self) -> list[tuple[str, str]]:
        """(texture, material) of `texts` as text."""
        return [(_text(texture), _text(material)) for texture, material in self.texts]


def _text(field: bytes) -> str:
    return names.decode(field.partition(b"\0")[0])


@dataclass(slots=True)
class P3d:
    """The file: ``lods`` in its order; ``tail`` bytes behind the last."""

    version: int
    lods: list[Lod]
    tail: Bytes = b""

    def lod(self, kind: str) -> Lod | None:
        """The first level of a kind."""
        return next((lod for lod in self.lods if lod.kind == kind), None)
