"""Document of an editable `.p3d` (MLOD): levels of detail (LODs), each with points, faces and named selections.

A LOD is a mesh for drawing, or one for hits, for walking on, or for named points (`Memory`). They are distinguished by
a number that the engine calls resolution. LODs of Arma begin with ``P3DM``, those of Operation Flashpoint with
``SP3X``. Known from the released engine of Cold War Assault and from files of mods. The game's own models have another
format (ODOL).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes
from .. import lod_kinds, names

MARK, BINARISED_MARK = b"MLOD", b"ODOL"
ARMA, FLASHPOINT = b"P3DM", b"SP3X"
LAST_TAG = b"#EndOfFile#"
PROPERTY = b"#Property#"
SHARP_EDGES, MASS, FURTHER_UVS, POSED_POINTS = b"#SharpEdges#", b"#Mass#", b"#UVSet#", b"#Animation#"
UV_ID_SIZE = 4
"""Bytes of the number at the beginning of a UV set."""
TEXTURE_FIELD = 32
TAG_FIELD = 64

POINT = np.dtype([("position", "<f4", 3), ("flags", "<u4")])
CORNER = np.dtype([("point", "<u4"), ("normal", "<u4"), ("uv", "<f4", 2)])
FACE = np.dtype([("count", "<u4"), ("corners", CORNER, 4), ("flags", "<u4")])
"""Three or four corners are used; triangles have a fourth slot, too. Faces with other counts occur in files of mods."""


@dataclass(slots=True)
class Tag:
    """A tag. ``field``: its name as stored, without the final zero; all 64 bytes in Operation Flashpoint's files.

    ``left_out``: how many bytes of ``data`` its declared size leaves out, `UV_ID_SIZE` for the UV sets of some tools.
    """

    field: bytes
    data: Bytes
    active: int = 1
    left_out: int = 0

    @property
    def name(self) -> bytes:
        """The bytes before the first zero."""
        return self.field.partition(b"\0")[0]


@dataclass(slots=True)
class Lod:
    """A level of detail. ``points`` (n,) of `POINT`, ``normals`` (n, 3) float32, ``faces`` (n,) of `FACE`.

    ``texts``: the distinct pairs (texture, material); ``face_texts`` (faces,) int32: the index in ``texts`` of each
    face. In a Flashpoint file the texture is the whole field of 32 bytes and the material is empty.
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

    def used_corners(self) -> NDArray[np.bool_]:
        """Return (faces, 4) which slots of each face hold a corner, whatever it names."""
        used: NDArray[np.bool_] = np.arange(4) < self.faces["count"][:, None]
        return used

    def complete_faces(self) -> NDArray[np.bool_]:
        """Return (faces,) which faces have three or four corners, with points and normals of the LOD."""
        corners, unused = self.faces["corners"], ~self.used_corners()
        inside = (corners["point"] < len(self.points)) & (corners["normal"] < len(self.normals))
        complete: NDArray[np.bool_] = np.isin(self.faces["count"], (3, 4)) & (inside | unused).all(axis=1)
        return complete

    @property
    def kind(self) -> str:
        """Purpose of the LOD, one of the words of `lod_kinds`."""
        return lod_kinds.kind_of(float(self.resolution))  # numpy before 2 warns when it compares a signalling NaN

    @property
    def name(self) -> str:
        """Name of the LOD in Object Builder."""
        return lod_kinds.name_of(float(self.resolution))

    def selections(self) -> Iterator[tuple[str, NDArray[np.uint8], NDArray[np.uint8]]]:
        """Yield name, (points,) bytes and (faces,) bytes of each named selection; a byte of 0 means not selected."""
        count = len(self.points)
        for tag in self.tags:
            if not tag.name.startswith(b"#") and len(tag.data) == count + len(self.faces):
                values = np.frombuffer(tag.data, np.uint8)
                yield names.decode(tag.name), values[:count], values[count:]

    def properties(self) -> dict[str, str]:
        """Return the named properties. Of properties with the same name the last one counts."""
        pairs = (bytes(tag.data) for tag in self.tags if tag.name == PROPERTY and len(tag.data) == 128)
        return {_text(pair[:64]): _text(pair[64:]) for pair in pairs}

    def unread(self) -> Iterator[Bytes]:
        """Yield the payloads of tags that are kept as bytes: point animations, further UV sets, unknown tags."""
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
        """Return the pairs (texture, material) of ``texts`` as text."""
        return [(_text(texture), _text(material)) for texture, material in self.texts]


def _text(field: bytes) -> str:
    return names.decode(field.partition(b"\0")[0])


@dataclass(slots=True)
class P3d:
    """A model file: its ``lods`` in the file's order, and ``tail``, the bytes after the last one."""

    version: int
    lods: list[Lod]
    tail: Bytes = b""

    def lod(self, kind: str) -> Lod | None:
        """Return the first LOD of a kind, or None."""
        return next((lod for lod in self.lods if lod.kind == kind), None)
