"""Models of the samples: a box around each bone, in the vertex formats of one to four bones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from addon.formats.xray.chunks import Chunk, Section
from addon.formats.xray.ogf import chunk_types
from addon.formats.xray.ogf import document as ogf_document
from samples.bones import Bone, Rest, rest_of

MADE = 1_704_067_200
"""Time stamp of the files, the first second of 2024: constant, so that the bytes do not change."""

Floats = NDArray[np.float64]
Numbered = tuple[int, ogf_document.Value]
"""A chunk's id and its content."""


def _box(bone: Bone) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a box around the bone: positions and normals (24, 3), uv, and 1 for corners nearer to the joint (24,)."""
    joint, end = np.array(bone.joint), np.array(bone.end)
    low, high = np.minimum(joint, end), np.maximum(joint, end)
    thin = high - low < 2 * bone.thickness
    low, high = np.where(thin, low - bone.thickness, low), np.where(thin, high + bone.thickness, high)
    positions, normals, uvs = [], [], []
    for axis in range(3):
        # In the engine's left-handed axes the cross product of a face's first two edges points outwards.
        across, along = (axis + 1) % 3, (axis + 2) % 3
        for outward in (-1.0, 1.0):
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)) if outward > 0 else ((0, 0), (0, 1), (1, 1), (1, 0)):
                corner = np.zeros(3)
                corner[axis] = high[axis] if outward > 0 else low[axis]
                corner[across] = high[across] if u else low[across]
                corner[along] = high[along] if v else low[along]
                positions.append(corner)
                normals.append(np.eye(3)[axis] * outward)
                uvs.append((u, v))
    points = np.array(positions)
    near = np.linalg.norm(points - joint, axis=1) < np.linalg.norm(points - end, axis=1)
    return points, np.array(normals), np.array(uvs, np.float64), near.astype(np.float64)


def _followed(bone: int, links: int, rest: Rest) -> list[int]:
    """Return the bones that a box's vertices follow: its own, its parent, further ancestors, its first children."""
    line = [bone]
    while rest.parents[line[-1]] >= 0 and len(line) < links:
        line.append(rest.parents[line[-1]])
    line += [child for child, parent in enumerate(rest.parents) if parent == bone][: links - len(line)]
    return line


SHARES = {1: (1.0,), 2: (0.625, 0.375), 3: (0.5, 0.3125, 0.1875), 4: (0.5, 0.25, 0.15625, 0.09375)}
"""Weights at the joint, heaviest first; vertices at the other end of a box follow only its own bone."""


def _rows(links: int, bones: list[Bone], rest: Rest) -> NDArray[np.void]:
    """Return the vertices of all boxes with this number of links."""
    parts = []
    for index, bone in enumerate(bones):
        if bone.links != links or not bone.thickness:
            continue
        points, normals, uvs, near = _box(bone)
        rows = np.zeros(len(points), chunk_types.SKINNED[links])
        rows["position"], rows["normal"], rows["uv"] = points, normals, uvs
        rows["tangent"], rows["binormal"] = np.roll(normals, 1, axis=1), np.roll(normals, 2, axis=1)
        line = _followed(index, links, rest)
        rows["bones"] = np.where(near[:, None] > 0, line + [index] * (links - len(line)), index)
        if links == 2:
            # The only stored weight is that of the second bone; it is 1 if both are the same bone.
            rows["weights"] = np.where(near > 0, SHARES[2][1], 1.0)[:, None]
        elif links > 2:
            rows["weights"] = np.where(near[:, None] > 0, SHARES[links][:-1], [1.0, *[0.0] * (links - 2)])
        parts.append(rows)
    return np.concatenate(parts)


def _child(texture: bytes, number: int, rows: NDArray[np.void]) -> ogf_document.Ogf:
    """Return a mesh of quads: four vertices each."""
    faces = np.arange(0, len(rows), 4)[:, None] + np.array([0, 1, 2, 0, 2, 3])
    values: list[Numbered] = [
        (1, _header(ogf_document.VisualType.SKINNED_STRIP, rows["position"])),
        (2, chunk_types.Texture(texture, b"models\\model")),
        (3, chunk_types.Vertices(number, rows)),
        (4, chunk_types.Indices(faces.reshape(-1).astype("<u2"))),
    ]
    return _visual(values)


def _header(kind: ogf_document.VisualType, positions: NDArray[np.float32]) -> chunk_types.Header:
    low, high = positions.min(axis=0), positions.max(axis=0)
    centre = (low + high) / 2
    radius = np.sqrt(((positions - centre) ** 2).sum(axis=1).max())
    return chunk_types.Header(4, int(kind), 0, np.array([low, high], "<f4"), np.array([*centre, radius], "<f4"))


def _visual(values: Iterable[Numbered]) -> ogf_document.Ogf:
    return ogf_document.Ogf([Section(Chunk(number, b""), value) for number, value in values])


def _bone_values(bones: list[Bone], rest: Rest) -> tuple[chunk_types.BoneNames, chunk_types.IkData]:
    names, physics = [], []
    for index, bone in enumerate(bones):
        middle = (np.array(bone.end) - np.array(bone.joint)) / 2
        centre = np.round(rest.globals[index].T @ middle, 5) + 0.0
        half = np.maximum(np.abs(centre), bone.thickness or 0.01).astype("<f4")
        identity = np.eye(3, dtype="<f4")
        names.append(
            chunk_types.BoneName(bone.name.encode(), bone.parent.encode(), identity, centre.astype("<f4"), half)
        )
        shape = chunk_types.Shape(
            1 if bone.thickness else 0,
            0,
            np.array([*identity.ravel(), *centre, *half], "<f4"),
            np.array([*centre, np.float32(0.1)], "<f4"),
            np.array([*centre, 0, 1, 0, 0.2, 0.05], "<f4"),
        )
        limits = np.array([[-0.5, 0.75, 1, 1], [-0.25, 0.25, 1, 1], [-0.125, 1.5, 1, 1]], "<f4")
        joint = chunk_types.Joint(
            2 if bone.parent else 0, limits, np.float32(1), np.float32(1), 0, np.zeros(2, "<f4"), np.float32(0.5)
        )
        physics.append(
            chunk_types.IkBone(
                b"creatures\\human" if len(bones) > 4 else b"default_object",
                shape,
                joint,
                rest.angles[index],
                rest.offsets[index],
                np.float32(2.5),
                centre.astype("<f4"),
                1,
            )
        )
    return chunk_types.BoneNames(names), chunk_types.IkData(physics)


def model(
    name: str, bones: list[Bone], formats: dict[int, int], tail: Sequence[Numbered], user_data: bytes = b""
) -> ogf_document.Ogf:
    """Return a skinned model with a box around each bone; ``tail``: its last chunks, references or motions."""
    rest, texture = rest_of(bones), f"samples\\{name}".encode()
    links = sorted({bone.links for bone in bones if bone.thickness})
    return model_of(
        name, bones, [(texture, formats[count], _rows(count, bones, rest)) for count in links], tail, user_data
    )


def model_of(
    name: str,
    bones: list[Bone],
    parts: Sequence[tuple[bytes, int, NDArray[np.void]]],
    tail: Sequence[Numbered],
    user_data: bytes = b"",
) -> ogf_document.Ogf:
    """Return a skinned model of ``parts``: texture, format of the vertices, and these, four for each quad."""
    positions = np.concatenate([rows["position"] for _, _, rows in parts])
    bone_names, physics = _bone_values(bones, rest_of(bones))
    nested: list[Section[ogf_document.Value]] = [
        Section(Chunk(number, b""), _child(*part)) for number, part in enumerate(parts)
    ]
    maker = b"motionbridge"
    values: list[Numbered] = [
        (1, _header(ogf_document.VisualType.SKELETON_ANIMATED, positions)),
        (18, chunk_types.Description(f"{name}.blend".encode(), maker, MADE, maker, MADE, maker, MADE)),
        (9, ogf_document.Children(nested)),
        (13, bone_names),
        (16, physics),
    ]
    if user_data:
        values.append((17, chunk_types.UserData(user_data)))
    return _visual([*values, *tail])
