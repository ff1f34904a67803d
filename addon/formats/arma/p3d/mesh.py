"""A level of a model as a `Mesh` in Blender's axes, to see an animation on a body; and where its bones turn.

Exchanging y and z turns left-handed into right-handed, so faces keep the order of their corners; the stored normals
point inward then and are turned round. A vertex is a point with one normal and one place on the texture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import space
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, Mesh, VertexWeights
from ....core.report import Report
from .document import Lod, P3d

Floats = NDArray[np.float64]


def decode_lod(lod: Lod, report: Report, bones: Sequence[str] | None = None, name: str = "") -> Mesh:
    """The level as triangles, without the placeholders of proxies.

    Groups are the selections named like one of ``bones`` (whatever the case), under that spelling, with weights that
    add up to 1; without ``bones`` they are all selections, with the weights as stored.
    """
    hidden = proxy_faces(lod)
    if hidden.any():
        report.note(f"faces left out because they stand for proxies: {int(hidden.sum())}", name)
    faces = np.flatnonzero(~hidden)
    triangles, source = _triangles(lod.faces, faces)
    corners, vertex_of = _vertices(triangles)
    mesh = Mesh(
        name,
        space.arma_points(lod.points["position"])[corners["point"]],
        vertex_of.reshape(-1, 3).astype(np.int32),
        normals=-space.arma_points(lod.normals)[corners["normal"]],
        uvs=blender_uvs(corners["uv"]),
    )
    mesh.materials = [Material(material_name(*texts), *texts) for texts in lod.textures()]
    mesh.material_index = lod.face_texts[source]
    points = corners["point"].astype(np.int32)
    mesh.attributes = {
        FILE_VERTEX: Attribute(Domain.VERTEX, points),
        FILE_FACE: Attribute(Domain.FACE, source.astype(np.int32)),
    }
    table = selection_weights(lod, bones)
    mesh.groups = list(table)
    mesh.weights = vertex_weights(table, points, len(lod.points), normalise=bones is not None)
    return mesh


def material_name(texture: str, material: str) -> str:
    """What a material is called in Blender: its texture's name, else its own, without folder and suffix."""
    path = (texture or material).replace("\\", "/")
    if path.startswith("#"):  # a colour or noise the game makes
        return path
    return path.rpartition("/")[2].rpartition(".")[0] or path or "no texture"


def blender_uvs(stored: NDArray[np.float32]) -> NDArray[np.float32]:
    """(corners, 2) with v counted upwards."""
    flipped = np.array(stored, np.float32)
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        flipped[:, 1] = 1 - flipped[:, 1]
    return flipped


def _triangles(faces: NDArray[np.void], chosen: NDArray[np.intp]) -> tuple[NDArray[np.void], NDArray[np.intp]]:
    """Corners (triangles, 3), a quad's as 0 1 2 and 0 2 3, and the face (triangles,) each comes from."""
    quads = faces["count"][chosen] == 4
    source = np.repeat(chosen, 1 + quads)
    second = np.zeros(len(source), np.bool_)
    second[np.flatnonzero(quads) + np.cumsum(quads)[quads]] = True
    slots = np.where(second[:, None], [0, 2, 3], [0, 1, 2])
    return faces["corners"][source[:, None], slots], source


def _vertices(triangles: NDArray[np.void]) -> tuple[NDArray[np.void], NDArray[np.intp]]:
    """The distinct corners in the order of their points, and for each corner (3 triangles,) which it is."""
    flat = np.ascontiguousarray(triangles).reshape(-1)
    words = flat.view("<u4").reshape(len(flat), 4)
    order = np.lexsort(words.T[::-1])
    new = np.ones(len(flat), np.bool_)
    new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    result = np.empty(len(flat), np.intp)
    result[order] = np.cumsum(new) - 1
    return flat[order[new]], result


def proxy_faces(lod: Lod) -> NDArray[np.bool_]:
    """(faces,) which stand for other models."""
    result = np.zeros(len(lod.faces), np.bool_)
    for name, _, faces in lod.selections():
        if name.lower().startswith("proxy:"):
            result |= faces != 0
    return result


def selection_weights(lod: Lod, bones: Sequence[str] | None = None) -> dict[str, NDArray[np.float32]]:
    """Name -> weight (points,) of the selections, or of those named like one of ``bones``, under that spelling.

    The engine passes over names that begin with ``-`` or ``.``; selections of one name are added.
    """
    wanted = None if bones is None else {bone.lower(): bone for bone in reversed(bones)}
    result: dict[str, NDArray[np.float32]] = {}
    for name, points, _ in lod.selections():
        if name[:1] in "-." or name.lower().startswith("proxy:"):
            continue
        label = name if wanted is None else wanted.get(name.lower())
        if label is not None:
            weights = _WEIGHTS[points]
            result[label] = np.maximum(result[label], weights) if label in result else weights
    return result


def _weight_table() -> NDArray[np.float32]:
    """The weight of each byte: 1 is whole, 2 to 255 fall to 1/255; 0 is outside."""
    table = (256 - np.arange(256)) % 256 / 255
    table[1] = 1.0
    return table.astype(np.float32)


_WEIGHTS = _weight_table()


def vertex_weights(
    table: dict[str, NDArray[np.float32]], points: NDArray[np.int32], count: int, *, normalise: bool
) -> VertexWeights:
    """Parallel arrays for vertices that lie on ``points`` of ``count``."""
    stacked = np.zeros((len(table), count), np.float32)
    for row, weights in zip(stacked, table.values(), strict=True):
        row[:] = weights
    if normalise:
        sums = stacked.sum(axis=0)
        stacked /= np.where(sums > 0, sums, 1)
    on_vertices = stacked[:, points]
    groups, vertices = np.nonzero(on_vertices)
    return VertexWeights(vertices.astype(np.int32), groups.astype(np.int32), on_vertices[groups, vertices])


def pivots(document: P3d, bones: Sequence[str], report: Report) -> dict[str, Floats]:
    """Bone -> (3,) where it turns, metres in Blender's axes: the first point of the selection of its name.

    Looked for in the memory level, or where there is none in the first.
    """
    lod = document.lod("memory")
    if lod is None:
        lod = document.lods[0]
        report.warn(f"there is no memory level: the pivots are taken from the first one ({lod.kind})")
    found = {}
    for bone, weights in selection_weights(lod, bones).items():
        inside = np.flatnonzero(weights)
        if len(inside):
            found[bone] = _places(lod)[inside[0]]
    return found


def centres(lod: Lod, bones: Sequence[str]) -> dict[str, Floats]:
    """Bone -> (3,) the middle of what hangs on it, weighted: where its head may be put when nothing says more."""
    places = _places(lod)
    usable = np.isfinite(places).all(axis=1)
    places = places[usable]
    result = {}
    for bone, weights in selection_weights(lod, bones).items():
        shares = weights[usable].astype(np.float64)
        total = float(shares.sum())
        if total > 0:
            result[bone] = np.asarray(shares @ places / total)
    return result


def _places(lod: Lod) -> Floats:
    with np.errstate(invalid="ignore"):
        places: NDArray[Any] = space.arma_points(lod.points["position"]).astype(np.float64)
    return places
