"""Models as sets of triangles, to compare what was made with what the SDK made of the same object."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from addon.core.polygons import weld
from addon.formats.xray.ogf.chunk_types import BoneNames, IkData, Indices, Texture, Vertices
from addon.formats.xray.ogf.mesh import weight_slots


class Frames(NamedTuple):
    """Of how many corners the tangents and the binormals differ by more than `NORMAL`, and by how much at most.

    ``vertices``: how many the made model has.
    """

    corners: int
    tangents: int
    binormals: int
    largest: float
    vertices: int


PAIRS = {"shaderball_dinamic": 0, "wpn_colt1911": 16, "wpn_pm_hud": 0}
"""Objects of the corpus with the SDK's model of the same name -> triangles whose normals are known to differ."""
POSITION, UV, WEIGHT, NORMAL = 1e-3, 1e-6, 1e-3, 2e-3
FRAMES = {
    "shaderball_dinamic": Frames(3732, 2304, 2699, 0.0283, 925),
    "wpn_colt1911": Frames(9315, 47, 13, 2, 3212),
    "wpn_pm_hud": Frames(28590, 139, 139, 2, 9927),
}
"""What is known of their tangents and binormals; those of the first are the Hybrid editor's, which does otherwise."""


@dataclass
class Triangles:
    """(faces, 3, width) what the corners of a texture's triangles carry; weights have a column for each bone."""

    positions: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray
    weights: np.ndarray
    tangents: np.ndarray
    binormals: np.ndarray


def triangles(document):
    """(texture, shader) -> `Triangles`."""
    listed = document.first(BoneNames)
    bones = len(listed.bones) if listed is not None else 0
    result = {}
    for visual in document.children or [document]:
        vertices, rows = visual.first(Vertices), visual.first(Vertices).rows
        corners = visual.first(Indices).corners.reshape(-1, 3).astype(int)
        weights = np.zeros((len(rows), bones))
        if vertices.links:
            slots, values = weight_slots(vertices)
            np.add.at(weights, (np.arange(len(rows))[:, None], slots), values)
        texture = visual.first(Texture)
        frame = [rows[name] for name in ("tangent", "binormal")] if vertices.links else [np.zeros((len(rows), 3))] * 2
        columns = (rows["position"], rows["normal"], rows["uv"], weights, *frame)
        result.setdefault((texture.texture, texture.shader), []).append([values[corners] for values in columns])
    return {key: Triangles(*map(np.concatenate, zip(*parts, strict=True))) for key, parts in result.items()}


def compare(created, expected):
    """Fail unless both are the same triangles; how many of them have other normals."""
    assert created.keys() == expected.keys()
    return sum(_compare(created[key], expected[key]) for key in expected)


def _compare(created, expected):
    first, other = track_arrays(created, expected)
    assert np.abs(first.positions - other.positions).max() <= POSITION
    shift = first.uvs - other.uvs
    assert np.abs(shift - np.round(shift[:, :1])).max() <= UV
    assert not first.weights.size or np.abs(first.weights - other.weights).max() <= WEIGHT
    return int((np.abs(first.normals - other.normals).max(axis=(1, 2)) > NORMAL).sum())


def compare_frames(created, expected):
    """How tangents and binormals differ."""
    pairs = [track_arrays(created[key], expected[key]) for key in expected]
    differ = [
        np.concatenate(
            [np.abs(getattr(first, name) - getattr(other, name)).max(axis=2).ravel() for first, other in pairs]
        )
        for name in ("tangents", "binormals")
    ]
    return len(differ[0]), *(int((result > NORMAL).sum()) for result in differ), float(np.max(differ))


def track_arrays(created, expected):
    """The same triangles of both in the same order."""
    assert len(created.positions) == len(expected.positions)
    positions = np.concatenate([created.positions, expected.positions]).astype(np.float32)
    points = weld(positions.reshape(-1, 3), POSITION).vertex.reshape(-1, 3)
    rotation = (np.argmin(points, axis=1)[:, None] + np.arange(3)) % 3  # corner order is cyclic
    half = len(created.positions)
    ordered = [
        _ordered(values, points[rows], rotation[rows])
        for values, rows in ((created, slice(0, half)), (expected, slice(half, None)))
    ]
    (entry, mine), (other, theirs) = ordered
    assert np.array_equal(mine, theirs)
    return entry, other


def _ordered(result, points, rotation):
    """Corners from the lowest point on, triangles by points and, where several have the same, by texture."""
    points = np.take_along_axis(points, rotation, 1)
    columns = [np.take_along_axis(values, rotation[:, :, None], 1) for values in vars(result).values()]
    uvs = columns[2] - np.floor(columns[2][:, :1])
    order = np.lexsort((np.round(uvs.sum(axis=(1, 2)), 4), *points.T))
    return Triangles(*(values[order] for values in columns)), points[order]


def compare_bones(created, expected):
    """Fail unless order, parents, rest poses and masses are equal."""
    mine, others = (document.first(BoneNames).bones for document in (created, expected))
    assert [(bone.name, bone.parent) for bone in mine] == [(bone.name, bone.parent) for bone in others]
    for own_bone, other in zip(created.first(IkData).bones, expected.first(IkData).bones, strict=True):
        for name in ("rotation", "offset", "mass", "centre_of_mass"):
            np.testing.assert_allclose(getattr(own_bone, name), getattr(other, name), atol=1e-6)
        np.testing.assert_allclose(own_bone.joint.limits, other.joint.limits, atol=1e-6)
        assert (own_bone.material, own_bone.shape.type, own_bone.joint.type) == (
            other.material,
            other.shape.type,
            other.joint.type,
        )
