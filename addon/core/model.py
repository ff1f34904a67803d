"""What an animator can edit, in Blender's axes: Z up, right-handed, metres, quaternions w first.

Every format decodes to these classes and encodes from them; how files store them is not known here. Arrays are float64
unless stated otherwise, one row per bone, frame or vertex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import rotation
from .envelope import Curve
from .report import say

Floats = NDArray[np.float64]


@dataclass
class Skeleton:
    """Bones in the file's order, which other files use as indices; a parent may come after its child.

    ``parents`` (bones,): index or -1; ``rest_rotation`` (bones, 4) wxyz and ``rest_translation`` (bones, 3) metres,
    both relative to the parent; ``root_frame`` (4, 4): the frame of bones without parent, in armature space.
    """

    name: str
    bones: list[str]
    parents: NDArray[np.int32]
    rest_rotation: Floats
    rest_translation: Floats
    root_frame: Floats = field(default_factory=lambda: np.eye(4))

    def rest_matrices(self) -> Floats:
        """Return the rest pose (bones, 4, 4) in armature space."""
        return self.pose_matrices(self.rest_rotation[:, None], self.rest_translation[:, None])[:, 0]

    def pose_matrices(self, rotations: Floats, translations: Floats) -> Floats:
        """Return the poses (bones, frames, 4, 4) in armature space of parent-local ``rotations`` (bones, frames, 4) and
        ``translations`` (bones, frames, 3).
        """
        local = rotation.transforms(rotations, translations)
        roots = np.flatnonzero(np.asarray(self.parents) < 0)
        local[roots] = self.root_frame @ local[roots]
        return absolute(local, self.parents)


def parents_first(parents: Sequence[int] | NDArray[np.signedinteger[Any]]) -> list[int]:
    """Return the indices in an order in which every parent precedes its children. Raises `ValueError` if parents form a
    cycle.
    """
    order: list[int] = []
    placed = [False] * len(parents)
    for start in range(len(parents)):
        line: list[int] = []
        bone = start
        while bone >= 0 and not placed[bone]:
            line.append(bone)
            if len(line) > len(parents):
                raise ValueError(say("the parents of bone {} form a cycle", start))
            bone = int(parents[bone])
        for bone in reversed(line):
            placed[bone] = True
            order.append(bone)
    return order


@np.errstate(over="ignore", invalid="ignore")  # extreme values of broken files
def absolute(relatives: Floats, parents: Sequence[int] | NDArray[np.signedinteger[Any]]) -> Floats:
    """Return matrices (bones, ..., 4, 4) in the space of the model from those relative to the parents. Raises
    `ValueError` if the parents form a cycle.
    """
    result = np.array(relatives, np.float64)
    for bone in parents_first(parents):
        if parents[bone] >= 0:
            result[bone] = result[parents[bone]] @ result[bone]
    return result


@dataclass
class Marker:
    """A named set of moments: ``intervals`` (n, 2), start and end in seconds (equal for a single moment)."""

    name: str
    intervals: Floats = field(default_factory=lambda: np.empty((0, 2)))

    def with_interval(self, start: float, end: float) -> Marker:
        """Return the set with another interval appended."""
        return Marker(self.name, np.vstack([self.intervals, (start, end)]))

    def without_interval(self, index: int) -> Marker:
        """Return the set without the interval at an index."""
        return Marker(self.name, np.delete(self.intervals, index, axis=0))


@dataclass
class Clip:
    """One motion: a pose per frame for each bone, relative to its parent or to `Skeleton.root_frame`.

    ``frames``: their number, at ``fps`` frames per second; ``rotations`` (bones, frames, 4) wxyz, sign-continuous along
    the frames; ``translations`` (bones, frames, 3) metres. ``rotation_keyed`` and ``translation_keyed`` (bones,) bool:
    False if the track is one constant value (all its rows are then equal).
    """

    name: str
    bones: list[str]
    rotations: Floats
    translations: Floats
    rotation_keyed: NDArray[np.bool_]
    translation_keyed: NDArray[np.bool_]
    fps: float
    markers: list[Marker] = field(default_factory=list)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return int(self.rotations.shape[1])

    def of_tracks(self, rows: Sequence[int]) -> Clip:
        """Return a clip with only these tracks, in this order."""
        return replace(
            self,
            bones=[self.bones[row] for row in rows],
            rotations=self.rotations[rows],
            translations=self.translations[rows],
            rotation_keyed=self.rotation_keyed[rows],
            translation_keyed=self.translation_keyed[rows],
        )

    def put(self, rows: Sequence[int], tracks: Clip) -> None:
        """Replace the tracks at ``rows`` by those of ``tracks``, which must have as many frames as this clip."""
        self.rotations[rows], self.translations[rows] = tracks.rotations, tracks.translations
        self.rotation_keyed[rows], self.translation_keyed[rows] = tracks.rotation_keyed, tracks.translation_keyed


@dataclass
class Event:
    """An action of the game while a clip plays: ``name`` and ``value`` define it, ``phase`` its time (as in
    `DeltaClip`).
    """

    phase: np.float32
    name: str
    value: str


@dataclass
class DeltaClip:
    """One motion as a matrix for each bone and frame that moves the rest pose to the pose, in model space.

    ``deltas`` (bones, frames, 4, 4): the pose of a bone with rest pose R is ``delta @ R``; they may contain scale and
    shear. ``phases`` (frames,) float32: position of the frames in the cycle (usually 0 ... 1; not always, not always
    rising), exactly as in the file, which does not store the length of a cycle. ``step`` (3,): metres that the whole
    model moves in one cycle, which is not part of the deltas. A bone without a row follows its parent.
    """

    name: str
    bones: list[str]
    deltas: Floats
    phases: NDArray[np.float32]
    step: Floats = field(default_factory=lambda: np.zeros(3))
    events: list[Event] = field(default_factory=list)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return int(self.deltas.shape[1])


@dataclass
class Channels:
    """Location and Euler rotation as three curves each (x, y, z), in metres and radians over seconds."""

    location: list[Curve]
    rotation: list[Curve]

    def __iter__(self) -> Iterator[Curve]:
        return iter((*self.location, *self.rotation))


@dataclass
class Path:
    """The motion of one object as curves with their original keys.

    ``first`` and ``last``: frames between which it plays, at ``fps`` (the curves may be longer at both ends).
    """

    name: str
    fps: float
    first: int
    last: int
    channels: Channels
    rotation_order: str = "YXZ"


@dataclass
class CurveClip:
    """One motion of a skeleton as curves with their original keys: `Channels` for each bone, relative to its parent.

    ``first`` and ``last``: frames between which it plays, at ``fps``.
    """

    name: str
    bones: list[str]
    tracks: list[Channels]
    fps: float
    first: int
    last: int
    rotation_order: str = "ZXY"
    markers: list[Marker] = field(default_factory=list)


@dataclass
class VertexWeights:
    """Skin weights as parallel arrays: ``vertices`` (n,) and ``groups`` (n,) int32, ``weights`` (n,) float32."""

    vertices: NDArray[np.int32]
    groups: NDArray[np.int32]
    weights: NDArray[np.float32]


class Domain(Enum):
    """The elements for which a mesh's `Attribute` has values."""

    VERTEX = "vertex"
    FACE = "face"


@dataclass
class Attribute:
    """Named values of a mesh: ``values`` has one row per vertex or face; bool, int32 or float32, (n,) or (n, width)."""

    domain: Domain
    values: NDArray[Any]


FILE_VERTEX, FILE_FACE = "file_vertex", "file_face"
"""Attributes (int32) with the row of the file from which a vertex or face was imported, -1 for none."""


@dataclass
class Material:
    """Surface of a mesh, in the game's terms: ``texture`` path without extension, ``shader``.

    ``colour``: red, green, blue (0 ... 255) of a surface without texture; None if unknown.
    """

    name: str
    texture: str = ""
    shader: str = ""
    colour: tuple[int, int, int] | None = None


@dataclass
class Mesh:
    """Triangles with the attributes of their vertices and faces.

    ``positions`` (vertices, 3) float32 metres; ``triangles`` (faces, 3) int32, counter-clockwise seen from outside;
    ``normals`` (vertices, 3) and ``uvs`` (vertices, 2) float32, or None; ``weights`` refer to ``groups``;
    ``material_index`` (faces,) int32 into ``materials``. ``attributes`` by name: further values that the format stores
    for vertices and faces. ``edges`` (edges, 2) int32: edges that belong to no triangle.
    """

    name: str
    positions: NDArray[np.float32]
    triangles: NDArray[np.int32]
    normals: NDArray[np.float32] | None = None
    uvs: NDArray[np.float32] | None = None
    groups: list[str] = field(default_factory=list)
    weights: VertexWeights | None = None
    materials: list[Material] = field(default_factory=list)
    material_index: NDArray[np.int32] | None = None
    attributes: dict[str, Attribute] = field(default_factory=dict)
    edges: NDArray[np.int32] | None = None

    def values(self, name: str, domain: Domain) -> NDArray[Any] | None:
        """Return the values of an attribute; None if the mesh has none of that name on vertices or faces, as asked."""
        attribute = self.attributes.get(name)
        return attribute.values if attribute is not None and attribute.domain is domain else None


@dataclass
class PolygonMesh:
    """Faces with any number of corners, for games whose files store polygons.

    ``positions`` (vertices, 3) float32 metres; ``counts`` (faces,) int32: corners of each face; ``corners`` (corners,)
    int32: vertex of each corner, face by face, counter-clockwise seen from outside; ``uvs`` (corners, 2) float32;
    ``normals`` (vertices, 3) float32 of any length, or None; ``material_index`` (faces,) int32 into ``materials``.
    ``attributes``, ``groups`` and ``weights`` as in `Mesh`. ``corner_normals`` (corners, 3) float32, for vertices with
    several normals, take precedence over ``normals``; ``sharp_edges`` (edges, 2) int32: pairs of vertices.
    ``more_uvs``: further texture coordinates (corners, 2) by name. ``edges`` (edges, 2) int32, all of them, and
    ``corner_edges`` (corners,) int32, the edge from each corner to the next one of its face; both are None if not
    computed.
    """

    name: str
    positions: NDArray[np.float32]
    counts: NDArray[np.int32]
    corners: NDArray[np.int32]
    uvs: NDArray[np.float32] | None = None
    normals: NDArray[np.float32] | None = None
    materials: list[Material] = field(default_factory=list)
    material_index: NDArray[np.int32] | None = None
    attributes: dict[str, Attribute] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    weights: VertexWeights | None = None
    corner_normals: NDArray[np.float32] | None = None
    sharp_edges: NDArray[np.int32] | None = None
    more_uvs: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    edges: NDArray[np.int32] | None = None
    corner_edges: NDArray[np.int32] | None = None

    def values(self, name: str, domain: Domain) -> NDArray[Any] | None:
        """Return the values of an attribute; None if the mesh has none of that name on vertices or faces, as asked."""
        attribute = self.attributes.get(name)
        return attribute.values if attribute is not None and attribute.domain is domain else None
