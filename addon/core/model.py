"""What an animator can touch, in Blender's axes: Z up, right-handed, metres, quaternions w first.

Every format decodes to these and encodes from them; nothing here says how a file stores them. Arrays are float64
unless said otherwise, one row a bone, a frame, a vertex.
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

Floats = NDArray[np.float64]


class Space(Enum):
    """What the tracks of a `Clip` are relative to."""

    PARENT_LOCAL = "parent-local"
    """The bone's whole transform in its parent's frame; parentless bones in `Skeleton.root_frame`."""
    SUB_OBJECT = "sub-object"
    """The object's transform in its parent object."""


@dataclass
class Skeleton:
    """Bones in the file's own order, which other files count by; a parent may come after its child.

    ``parents`` (bones,) index or -1; ``rest_rotation`` (bones, 4) wxyz and ``rest_translation`` (bones, 3) metres,
    both relative to the parent; ``root_frame`` (4, 4) the frame parentless bones are expressed in, armature space.
    """

    name: str
    bones: list[str]
    parents: NDArray[np.int32]
    rest_rotation: Floats
    rest_translation: Floats
    root_frame: Floats = field(default_factory=lambda: np.eye(4))

    def rest_matrices(self) -> Floats:
        """(bones, 4, 4) rest pose in armature space."""
        return self.pose_matrices(self.rest_rotation[:, None], self.rest_translation[:, None])[:, 0]

    def pose_matrices(self, rotations: Floats, translations: Floats) -> Floats:
        """(bones, frames, 4, 4) armature space of parent-local ``rotations`` (bones, frames, 4), ``translations``."""
        local = rotation.transforms(rotations, translations)
        pose = np.empty_like(local)
        for bone in parents_first(self.parents):
            parent = self.parents[bone]
            pose[bone] = (self.root_frame if parent < 0 else pose[parent]) @ local[bone]
        return pose


def parents_first(parents: Sequence[int] | NDArray[np.int32]) -> list[int]:
    """Indices ordered so that every parent precedes its children. Raises `ValueError` where parents form a cycle."""
    order: list[int] = []
    placed = [False] * len(parents)
    for start in range(len(parents)):
        line: list[int] = []
        bone = start
        while bone >= 0 and not placed[bone]:
            line.append(bone)
            if len(line) > len(parents):
                raise ValueError(f"the parents of bone {start} form a cycle")
            bone = int(parents[bone])
        for bone in reversed(line):
            placed[bone] = True
            order.append(bone)
    return order


@dataclass
class Marker:
    """A named set of moments: ``intervals`` (n, 2) start and end in seconds (equal for a moment)."""

    name: str
    intervals: Floats = field(default_factory=lambda: np.empty((0, 2)))

    def with_interval(self, start: float, end: float) -> Marker:
        """The same set with another moment behind the others."""
        return Marker(self.name, np.vstack([self.intervals, (start, end)]))

    def without_interval(self, index: int) -> Marker:
        """The same set without one of its moments."""
        return Marker(self.name, np.delete(self.intervals, index, axis=0))


@dataclass
class Clip:
    """One motion: a row of keys for each bone.

    ``frames`` how many, at ``fps``; ``rotations`` (bones, frames, 4) wxyz, sign-continuous along the frames;
    ``translations`` (bones, frames, 3) metres. ``rotation_keyed`` and ``translation_keyed`` (bones,) bool: False where
    the track is one value for the whole clip (its rows are then all equal).
    """

    name: str
    bones: list[str]
    rotations: Floats
    translations: Floats
    rotation_keyed: NDArray[np.bool_]
    translation_keyed: NDArray[np.bool_]
    fps: float
    space: Space
    markers: list[Marker] = field(default_factory=list)

    @property
    def frames(self) -> int:
        """How many frames the clip has."""
        return int(self.rotations.shape[1])

    def of_tracks(self, rows: Sequence[int]) -> Clip:
        """A clip of some tracks alone, in this order."""
        return replace(
            self,
            bones=[self.bones[row] for row in rows],
            rotations=self.rotations[rows],
            translations=self.translations[rows],
            rotation_keyed=self.rotation_keyed[rows],
            translation_keyed=self.translation_keyed[rows],
        )

    def put(self, rows: Sequence[int], tracks: Clip) -> None:
        """Give the tracks at ``rows`` what ``tracks`` say, in their order and as long as this clip."""
        self.rotations[rows], self.translations[rows] = tracks.rotations, tracks.translations
        self.rotation_keyed[rows], self.translation_keyed[rows] = tracks.rotation_keyed, tracks.translation_keyed


@dataclass
class Event:
    """Something the game does while a clip plays: ``name`` and ``value`` say what, ``phase`` when (as `DeltaClip`)."""

    phase: np.float32
    name: str
    value: str


@dataclass
class DeltaClip:
    """One motion as what moves the rest pose to the pose: a matrix for each bone and frame, in model space.

    ``deltas`` (bones, frames, 4, 4): with the rest pose R of a bone its pose is ``delta @ R``; they may hold scale and
    shear. ``phases`` (frames,) float32 place the frames in the cycle (usually 0 ... 1; not always, not always rising)
    and are exactly the file's: nothing says how long a cycle lasts. ``step`` (3,) metres the whole model moves in one
    cycle, which the deltas leave out. A bone that has no row follows its parent.
    """

    name: str
    bones: list[str]
    deltas: Floats
    phases: NDArray[np.float32]
    step: Floats = field(default_factory=lambda: np.zeros(3))
    events: list[Event] = field(default_factory=list)

    @property
    def frames(self) -> int:
        """How many frames the clip has."""
        return int(self.deltas.shape[1])


@dataclass
class Channels:
    """Location and Euler rotation as curves, three each (x, y, z): metres and radians over seconds."""

    location: list[Curve]
    rotation: list[Curve]

    def __iter__(self) -> Iterator[Curve]:
        return iter((*self.location, *self.rotation))


@dataclass
class Path:
    """How one object moves, as curves with their keys kept.

    ``first`` and ``last`` frame that is played, at ``fps`` (the curves may be longer at both ends).
    """

    name: str
    fps: float
    first: int
    last: int
    channels: Channels
    rotation_order: str = "YXZ"


@dataclass
class CurveClip:
    """One motion of a skeleton as curves with their keys kept: `Channels` for each bone, parent-local.

    ``first`` and ``last`` frame that is played, at ``fps``.
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
    """What a mesh's `Attribute` has a row for."""

    VERTEX = "vertex"
    FACE = "face"


@dataclass
class Attribute:
    """Named values of a mesh: ``values`` one row a vertex or face, bool, int32 or float32, (n,) or (n, width)."""

    domain: Domain
    values: NDArray[Any]


FILE_VERTEX, FILE_FACE = "file_vertex", "file_face"
"""Attributes (int32) that name the row of the file a vertex or face came from, -1 for none."""


@dataclass
class Material:
    """How a surface looks, by the game's names: ``texture`` path without extension, ``shader``.

    ``colour`` red, green, blue (0 ... 255) of a surface that has no texture; None where that is not said.
    """

    name: str
    texture: str = ""
    shader: str = ""
    colour: tuple[int, int, int] | None = None


@dataclass
class Mesh:
    """Triangles with everything a corner carries.

    ``positions`` (vertices, 3) float32 metres; ``triangles`` (faces, 3) int32, counter-clockwise seen from outside;
    ``normals`` and ``uvs`` one row a vertex ((vertices, 3), (vertices, 2) float32) or None; ``weights`` index
    ``groups``; ``material_index`` (faces,) int32 into ``materials``. ``attributes`` by name: what the format says of
    vertices and faces besides. ``edges`` (edges, 2) int32: lines that belong to no triangle.
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
        """The values of an attribute; None where the mesh has none of that name on vertices or faces as asked."""
        found = self.attributes.get(name)
        return found.values if found is not None and found.domain is domain else None


@dataclass
class PolygonMesh:
    """Faces of any number of corners, as games have them whose files hold polygons.

    ``positions`` (vertices, 3) float32 metres; ``counts`` (faces,) int32 corners of each face; ``corners`` (corners,)
    int32 the vertex of each corner, face after face, counter-clockwise seen from outside; ``uvs`` (corners, 2) float32;
    ``normals`` (vertices, 3) float32 of any length, or None; ``material_index`` (faces,) int32 into ``materials``.
    ``attributes``, ``groups`` and ``weights`` as in `Mesh`. ``corner_normals`` (corners, 3) float32, where a vertex may
    have several, count before ``normals``; ``sharp_edges`` (edges, 2) int32 are pairs of vertices. ``more_uvs`` further
    texture coordinates (corners, 2) by name. ``edges`` (edges, 2) int32, all of them, and ``corner_edges`` (corners,)
    int32 the one from each corner to the next of its face; or both None, which leaves finding them to others.
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
        """The values of an attribute; None where the mesh has none of that name on vertices or faces as asked."""
        found = self.attributes.get(name)
        return found.values if found is not None and found.domain is domain else None
