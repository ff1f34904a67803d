"""Decode a LOD into Blender's axes: polygons and weights, named points and proxies, pivots of bones.

Exchanging y and z turns left-handed into right-handed coordinates, so faces keep the order of their corners. The stored
normals then point inwards and are negated. Points become vertices; normals and UVs belong to corners of faces, as in
the file. Sharp edges are pairs of points (``#SharpEdges#``), the mass of the geometry LOD is one number per point
(``#Mass#``). Flags are attributes of points and faces. UV set 0 (``#UVSet#``) is a copy of the faces' own UVs; sets
with other numbers are further UV maps.

A selection ``proxy:path.001`` is one triangle that marks the place of another model. Tools draw it with a right angle
at that model's origin. The shorter leg points forward along the model, the longer leg up, as in the engine of Cold War
Assault. How the engine treats triangles without a right angle is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, space
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, PolygonMesh, VertexWeights
from ....core.report import Report, say
from .. import names
from ..flag_groups import FACE_FLAGS, VERTEX_FLAGS
from ..lod_kinds import MEMORY
from .document import FURTHER_UVS, MASS, POSED_POINTS, SHARP_EDGES, Lod, P3d, Tag

Floats = NDArray[np.float64]
MASS_ATTRIBUTE = "mass"
MOST_UV_SETS = 7
"""Most further UV sets that are decoded: Blender has eight UV maps, one is that of the faces."""
PROXY = "proxy:"


def decode_polygons(lod: Lod, report: Report, groups: Mapping[str, str], name: str) -> PolygonMesh:
    """Convert the LOD to a mesh without proxy triangles. Each selection becomes a vertex group with the stored weights.

    ``groups``: selection in lower case -> name of its vertex group, for selections whose group has another name.
    """
    visible = np.flatnonzero(~is_of_proxy(lod) & lod.complete_faces())
    used = distinct_corners(lod)[visible]
    faces = visible[used.any(axis=1)]
    counts = used.sum(axis=1, dtype=np.int32)[used.any(axis=1)]
    corners = np.ascontiguousarray(lod.faces["corners"][visible][used])
    degenerate = len(visible) - len(faces)
    if degenerate:
        report.note(say("{:# face without area is|# faces without area are} left out", degenerate), name)
    further = further_uvs(lod)
    _report_left_out(lod, report, name, len(further))
    point = corners["point"].astype(np.int32)
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        positions = space.arma_points(lod.points["position"])
        normals = -space.arma_points(lod.normals)[corners["normal"]]
    mesh = PolygonMesh(name, positions, counts, point, blender_uvs(corners["uv"]), corner_normals=normals)
    mesh.materials = [Material(_material_name(*texts), *texts) for texts in lod.textures()]
    mesh.material_index = lod.face_texts[faces]
    mesh.attributes = {
        FILE_FACE: Attribute(Domain.FACE, faces.astype(np.int32)),
        FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(len(positions), dtype=np.int32)),
        FACE_FLAGS: Attribute(Domain.FACE, lod.faces["flags"][faces].astype(np.int32)),
        VERTEX_FLAGS: Attribute(Domain.VERTEX, lod.points["flags"].astype(np.int32)),
    }
    mass = _tag_values(lod, MASS, "<f4")
    if mass is not None and len(mass) == len(positions) and len(mass):
        mesh.attributes[MASS_ATTRIBUTE] = Attribute(Domain.VERTEX, mass.astype(np.float32))
    mesh.sharp_edges = _sharp_edges(lod)
    mesh.more_uvs = {uv_set_name(number): blender_uvs(uvs[visible][used]) for number, (_, uvs) in further.items()}
    table: dict[str, NDArray[np.float32]] = {}
    for selection, weights in selection_weights(lod).items():
        label = groups.get(selection.lower(), selection)
        table[label] = np.maximum(table[label], weights) if label in table else weights
    mesh.groups = list(table)
    weight_array = _weight_array(table, len(positions))
    group, vertex = np.nonzero(weight_array)
    mesh.weights = VertexWeights(vertex.astype(np.int32), group.astype(np.int32), weight_array[group, vertex])
    return mesh


def distinct_corners(lod: Lod) -> NDArray[np.bool_]:
    """Return (faces, 4) which corners of each face a mesh can show.

    A quad with two neighbouring corners at one point becomes a triangle. Faces with fewer than three distinct corners,
    with one point at several corners, or that are not complete have none.
    """
    counts = np.minimum(lod.faces["count"], 4).astype(np.int64)
    point = lod.faces["corners"]["point"]
    following = np.take_along_axis(point, (np.arange(4) + 1) % np.maximum(counts, 1)[:, None], axis=1)
    used: NDArray[np.bool_] = lod.used_corners() & lod.complete_faces()[:, None] & (point != following)
    sizes = used.sum(axis=1).astype(np.int32)
    used[sizes < 3] = False
    whole = np.flatnonzero(sizes >= 3)
    repeating = polygons.repeats_a_vertex(sizes[whole], point[used].astype(np.int64))
    used[whole[repeating]] = False
    return used


def _tag_values(lod: Lod, tag: bytes, kind: str) -> NDArray[np.generic] | None:
    """Return the content of a tag as an array of numbers, or None if the LOD has no such tag."""
    own_tag = next((candidate for candidate in lod.tags if candidate.name == tag), None)
    if own_tag is None:
        return None
    size = np.dtype(kind).itemsize
    return np.frombuffer(own_tag.data, kind, len(own_tag.data) // size)


def _sharp_edges(lod: Lod) -> NDArray[np.int32]:
    numbers = _tag_values(lod, SHARP_EDGES, "<u4")
    if numbers is None:
        return np.zeros((0, 2), np.int32)
    pairs = numbers[: len(numbers) // 2 * 2].reshape(-1, 2)
    inside: NDArray[np.bool_] = np.all(pairs < np.uint32(len(lod.points)), axis=1)
    return pairs[inside].astype(np.int32)


def uv_set_name(number: int) -> str:
    """Return the name of the UV map that shows a UV set of a LOD."""
    return f"UVSet {number}"


def further_uvs(lod: Lod) -> dict[int, tuple[Tag, NDArray[np.float32]]]:
    """Return number -> tag and UVs (faces, 4, 2) of the UV sets that become UV maps of their own, in the file's order.

    Of sets with the same number the first counts. A LOD without faces has none.
    """
    sets: dict[int, tuple[Tag, NDArray[np.float32]]] = {}
    used = lod.used_corners()
    for tag in lod.tags:
        number = int.from_bytes(tag.data[:4], "little") if tag.name == FURTHER_UVS else 0
        if number and number not in sets and len(tag.data) == 4 + 8 * int(used.sum()) > 4:
            uvs = np.zeros((len(lod.faces), 4, 2), np.float32)
            uvs[used] = np.frombuffer(tag.data, "<f4", offset=4).reshape(-1, 2)
            sets[number] = tag, uvs
    return dict(list(sets.items())[:MOST_UV_SETS])


def _report_left_out(lod: Lod, report: Report, name: str, imported: int) -> None:
    further = sum(1 for tag in lod.tags if tag.name == FURTHER_UVS and bytes(tag.data[:4]) not in (b"", bytes(4)))
    if further > imported:
        report.note(say("{:# additional UV map is|# additional UV maps are} not imported", further - imported), name)
    posed = sum(1 for tag in lod.tags if tag.name == POSED_POINTS)
    if posed:
        report.note(say("{:# posed point set is|# posed point sets are} not imported", posed), name)


def _material_name(texture: str, material: str) -> str:
    """Return a material's name in Blender: the base name of its texture, or of its file if it has no texture."""
    path = (texture or material).replace("\\", "/")
    if path.startswith("#"):  # a procedural texture: a colour or noise
        return path
    return path.rpartition("/")[2].rpartition(".")[0] or path or "no texture"


def blender_uvs(stored: NDArray[np.float32]) -> NDArray[np.float32]:
    """Convert UVs (corners, 2) to Blender, where v counts upwards, or back."""
    flipped = np.array(stored, np.float32)
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        flipped[:, 1] = 1 - flipped[:, 1]
    return flipped


def is_of_proxy(lod: Lod) -> NDArray[np.bool_]:
    """Return (faces,) whether each face is the triangle of a proxy."""
    result = np.zeros(len(lod.faces), np.bool_)
    for name, _, faces in lod.selections():
        if name.lower().startswith(PROXY):
            result |= faces != 0
    return result


# Weights ------------------------------------------------------------------------------------------------------------


def selection_weights(lod: Lod, bones: Sequence[str] | None = None) -> dict[str, NDArray[np.float32]]:
    """Return name -> weight (points,) of the selections. With ``bones``: only selections named like one of them
    (without regard to case), under the bone's spelling.

    Selections whose name begins with ``-`` or ``.`` are skipped, as in the engine, and so are proxies. Of selections
    with the same name the largest weight counts.
    """
    wanted = None if bones is None else {bone.lower(): bone for bone in reversed(bones)}
    result: dict[str, NDArray[np.float32]] = {}
    for name, points, _ in lod.selections():
        if not is_shown(name):
            continue
        label = name if wanted is None else wanted.get(name.lower())
        if label is not None:
            weights = byte_weights(points)
            result[label] = np.maximum(result[label], weights) if label in result else weights
    return result


def is_shown(selection: str) -> bool:
    """Return whether a selection becomes a vertex group: none without a name, ignored by the engine, of a proxy."""
    return selection[:1] not in {"", "-", "."} and not selection.lower().startswith(PROXY)


def _weight_table() -> NDArray[np.float32]:
    """Return (256,) the weight of each byte: 0 is 0, 1 is 1, and 2 to 255 decrease from 254/255 to 1/255."""
    table = (256 - np.arange(256)) % 256 / 255
    table[1] = 1.0
    return table.astype(np.float32)


_WEIGHTS = _weight_table()


def byte_weights(stored: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the weights (n,) of bytes of a selection."""
    weights: NDArray[np.float32] = _WEIGHTS[stored]
    return weights


def _weight_array(table: dict[str, NDArray[np.float32]], points: int) -> NDArray[np.float32]:
    """Return the weights of a table as an array (groups, points)."""
    return np.array(list(table.values()), np.float32).reshape(len(table), points)


# Points -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedPoint:
    """A point. ``name`` of its selection (without ``proxy:``), "" if it is in none; ``point``: its index in the LOD.

    ``transform`` (4, 4) in metres and Blender's axes; ``bones``: selection -> weight, the largest weight first.
    """

    name: str
    point: int
    transform: Floats
    bones: dict[str, float] = field(default_factory=dict)


def named_points(lod: Lod) -> list[NamedPoint]:
    """Return every point of the LOD, named after its first selection, without a rotation."""
    table = selection_weights(lod)
    labels = list(table)
    weight_array = _weight_array(table, len(lod.points))
    points, numbers = np.nonzero(weight_array.T)
    starts = np.searchsorted(points, np.arange(len(lod.points) + 1))
    result = []
    for point, position in enumerate(_positions(lod)):
        own = numbers[starts[point] : starts[point + 1]].tolist()
        bones = {labels[number]: float(weight_array[number, point]) for number in own}
        result.append(
            NamedPoint(labels[own[0]] if own else "", point, _transform(position, np.eye(3)), _heaviest_first(bones))
        )
    return result


def proxies(lod: Lod) -> Iterator[NamedPoint]:
    """Yield the proxies in the order of their selections. A selection without a triangle is skipped."""
    table = selection_weights(lod)
    positions = _positions(lod)
    for tag, faces in proxy_tags(lod):
        corners = lod.faces["corners"]["point"][faces[0], :3].astype(np.int64)
        origin, axes = _proxy_axes(positions[corners])
        yield NamedPoint(
            names.decode(tag.name)[len(PROXY) :],
            int(corners[origin]),
            _transform(positions[corners[origin]], axes),
            _weights_at(table, corners.tolist()),
        )


def proxy_tags(lod: Lod) -> list[tuple[Tag, NDArray[np.intp]]]:
    """Return the selection of each proxy of `proxies` with its faces, of which the first one is the triangle."""
    result = []
    count, complete = len(lod.points), lod.complete_faces()
    for tag in lod.tags:
        if len(tag.data) == count + len(lod.faces) and tag.name.lower().startswith(PROXY.encode()):
            faces = np.flatnonzero((np.frombuffer(tag.data, np.uint8, offset=count) != 0) & complete)
            result += [(tag, faces)] if len(faces) else []
    return result


@np.errstate(invalid="ignore", over="ignore")  # values of broken files may not be finite
def _proxy_axes(triangle: Floats) -> tuple[int, Floats]:
    """Return the index (0 to 2) of the corner with the largest angle, and the axes (3, 3) of the proxy's model there.

    The y axis is exactly along the shorter leg (the file's z, forward), the z axis roughly along the longer one (the
    file's y, up). Identity for triangles without area or with values that are not finite.
    """
    sides = np.linalg.norm(np.roll(triangle, -1, axis=0) - np.roll(triangle, 1, axis=0), axis=1)
    origin = int(np.argmax(np.nan_to_num(sides)))
    legs = [triangle[(origin + step) % 3] - triangle[origin] for step in (1, 2)]
    along, up = sorted(legs, key=lambda leg: float(np.nan_to_num(leg @ leg)))
    across = np.cross(along, up)
    if not np.isfinite(across).all() or np.linalg.norm(across) < 1e-12:
        return origin, np.eye(3)
    y, x = along / np.linalg.norm(along), across / np.linalg.norm(across)
    return origin, np.stack((x, y, np.cross(x, y)), axis=-1)


def _transform(position: Floats, axes: Floats) -> Floats:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = axes, np.nan_to_num(position)
    return result


def _weights_at(table: dict[str, NDArray[np.float32]], points: list[int]) -> dict[str, float]:
    own_weights = {name: float(weights[points].sum()) for name, weights in table.items()}
    return _heaviest_first({name: weight for name, weight in own_weights.items() if weight})


def _heaviest_first(bones: dict[str, float]) -> dict[str, float]:
    return dict(sorted(bones.items(), key=lambda pair: -pair[1]))


def pivots(document: P3d, bones: Sequence[str], report: Report) -> dict[str, Floats]:
    """Return bone -> pivot (3,), metres in Blender's axes: the first point of the selection with the bone's name.

    Searched in the Memory LOD, or in the first LOD if there is no Memory LOD.
    """
    lod = document.lod(MEMORY)
    if lod is None:
        lod = document.lods[0]
        report.warn(say("there is no Memory LOD: the pivots are taken from the first LOD ({})", lod.kind))
    result = {}
    for bone, weights in selection_weights(lod, bones).items():
        inside = np.flatnonzero(weights)
        if len(inside):
            result[bone] = _positions(lod)[inside[0]]
    return result


def centres(lod: Lod, bones: Sequence[str]) -> dict[str, Floats]:
    """Return bone -> (3,) the weighted mean of its points: a position for its head if its pivot is unknown."""
    positions = _positions(lod)
    usable = np.isfinite(positions).all(axis=1)
    positions = positions[usable]
    result = {}
    for bone, weights in selection_weights(lod, bones).items():
        shares = weights[usable].astype(np.float64)
        total = float(shares.sum())
        if total > 0:
            result[bone] = np.asarray(shares @ positions / total)
    return result


def _positions(lod: Lod) -> Floats:
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        result: Floats = space.arma_points(lod.points["position"]).astype(np.float64)
    return result


# What Blender has of a LOD --------------------------------------------------------------------------------------------


@dataclass
class ProxyContent:
    """A proxy: ``path`` of the other model with its number, ``transform`` (4, 4) in metres and Blender's axes.

    ``source``: index of the imported proxy among `proxies`, -1 for a new one.
    """

    path: str
    transform: Floats
    source: int = -1


@dataclass
class LodContent:
    """What Blender has of a LOD.

    ``mesh``: polygons with three or four corners and their normals; `FILE_VERTEX` and `FILE_FACE` are rows of the
    imported LOD, and ``groups`` are named as the selections; ``more_uvs`` are named by `uv_set_name`. ``proxies`` None:
    those of the imported LOD. ``shown_uvs``: numbers of the imported UV sets that became UV maps; the others stay.
    """

    mesh: PolygonMesh
    resolution: float
    properties: Mapping[str, str] = field(default_factory=dict)
    proxies: Sequence[ProxyContent] | None = None
    shown_uvs: Collection[int] = ()


def content_of(lod: Lod, name: str, report: Report) -> LodContent:
    """Return what an unedited import of a LOD has; only the steps in Blender are left out."""
    mesh = decode_polygons(lod, report, {}, name)
    own_proxies = [ProxyContent(proxy.name, proxy.transform, number) for number, proxy in enumerate(proxies(lod))]
    return LodContent(mesh, float(lod.resolution), lod.properties(), own_proxies, list(further_uvs(lod)))
