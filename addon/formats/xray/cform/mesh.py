"""Collision as `Mesh` and back: game material, both suppress flags and sector are face attributes.

A face of version 4 is nothing but what the mesh says. Those of older versions and of `build.cform` hold more (which
faces lie beside them, what the compiler knows), in a way nobody could check: there values change, the faces stay.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import problems, quantum, space, text
from ....core.errors import WriteError
from ....core.model import Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report
from ..changes import Changes
from .document import FACE, MOST_MATERIAL, MOST_SECTOR, NEWEST, Build, Cform, material_bits

MATERIAL, SECTOR = "material", "sector"
SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS = "suppress_shadows", "suppress_wallmarks"

_WORDS = {
    MATERIAL: "materials",
    SECTOR: "sectors",
    SUPPRESS_SHADOWS: "shadow flags",
    SUPPRESS_WALLMARKS: "wallmark flags",
}
_HIGHEST = {MATERIAL: MOST_MATERIAL, SECTOR: MOST_SECTOR}


def decode(document: Cform, report: Report) -> Mesh:
    """One mesh, vertices and faces in the file's order, with the face attributes that the file has.

    Materials and sectors are int32, flags bool. Faces that point behind the last vertex are left out and reported.
    """
    valid, faces = document.valid_faces(), document.faces["vertices"]
    if not valid.all():
        report.warn(f"{int(np.count_nonzero(~valid))} faces point behind the last vertex; left out", document.name)
        faces = faces[valid]
    mesh = Mesh(document.name, space.xray_points(document.vertices), space.xray_triangles(faces).view(np.int32))
    for name, values in _values(document, valid).items():
        mesh.attributes[name] = Attribute(Domain.FACE, values)
    return mesh


def _values(document: Cform, valid: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The values of the valid faces; a material of 32 bits that int32 cannot hold comes as a negative number."""
    chosen = slice(None) if valid.all() else valid
    values: dict[str, NDArray[Any]] = {MATERIAL: document.materials[chosen].astype(np.int32)}
    if document.suppressed is not None:
        shadows, wallmarks = document.suppressed
        values[SUPPRESS_SHADOWS], values[SUPPRESS_WALLMARKS] = shadows[chosen], wallmarks[chosen]
    if document.sectors is not None:
        values[SECTOR] = document.sectors[chosen].astype(np.int32)
    return values


def encode(mesh: Mesh, base: Cform | None = None) -> tuple[Cform, Changes]:
    """The base, or a new file of version 4, with the mesh's geometry and attributes, and what of it changed.

    What the mesh does not say is the base's while the faces are as many, else 0: the engine works the suppress flags
    out by itself. Raises `WriteError`.
    """
    said = {name: mesh.values(name, Domain.FACE) for name in _WORDS}
    # An empty file that is left as it was stays one.
    missing = () if base is not None and not len(base.faces) else problems.no_faces(mesh)
    problems.refuse([*missing, *problems.points_to_nowhere(mesh), *_out_of_range(mesh, base)], mesh.name)
    positions = space.xray_points(mesh.positions).astype("<f4")
    changes = Changes()
    if base is None:
        changes.lines.append(f"{text.counted(len(mesh.triangles), 'face')}, new")
        _check_places(positions, np.ones(len(positions), np.bool_), mesh.name)
        empty = np.zeros(len(mesh.triangles), np.int32)
        values = {name: empty if found is None else found for name, found in said.items()}
        return Cform(NEWEST, _box(positions), positions, _faces(mesh, values), file=mesh.name), changes
    vertices, moved = _encode_vertices(positions, base, mesh.name, changes)
    faces, build = _encode_faces(mesh, base, said, changes)
    if not changes:
        return base, changes
    box = _box(positions) if moved or len(vertices) != len(base.vertices) else base.box
    return Cform(base.version, box, vertices, faces, build, base.file), changes


def _out_of_range(mesh: Mesh, base: Cform | None) -> Iterator[Problem]:
    limits = _HIGHEST
    if base is not None and base.build is not None:
        limits = {MATERIAL: 0xFFFF}
    elif base is not None and base.version < NEWEST:
        limits = {SECTOR: MOST_SECTOR}  # materials have 32 bits
    for name, highest in limits.items():
        values = mesh.values(name, Domain.FACE)
        if values is not None:
            yield from problems.out_of_range(values, highest, name)


def _encode_vertices(
    positions: NDArray[np.float32], base: Cform, name: str, changes: Changes
) -> tuple[NDArray[np.float32], bool]:
    if len(positions) != len(base.vertices):
        changes.lines.append(f"vertices {len(base.vertices)} -> {len(positions)}")
        _check_places(positions, np.ones(len(positions), np.bool_), name)
        return positions, True
    vertices, touched = quantum.kept(positions, base.vertices)
    _check_places(positions, touched, name)
    changes.count(touched, "positions")
    return vertices, bool(touched.any())


def _check_places(positions: NDArray[np.float32], touched: NDArray[np.bool_], name: str) -> None:
    if not np.isfinite(positions[touched]).all():
        raise WriteError(f"a vertex of {name!r} stands at no finite place", remedy="Clean the mesh up")


def _box(positions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lowest and highest corner; what is no number (from a broken file) aside."""
    finite = positions if np.isfinite(positions).all() else positions[np.isfinite(positions).all(axis=1)]
    return np.stack([finite.min(axis=0), finite.max(axis=0)]) if len(finite) else np.zeros((2, 3), np.float32)


def _faces(mesh: Mesh, values: dict[str, NDArray[Any]]) -> NDArray[np.void]:
    faces = np.empty(len(mesh.triangles), FACE)
    faces["vertices"] = space.xray_triangles(mesh.triangles)
    flags = (values[name].astype(np.bool_) for name in (SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS))
    faces["material_bits"] = material_bits(values[MATERIAL], *flags)
    faces["sector"] = values[SECTOR]
    return faces


def _encode_faces(
    mesh: Mesh, base: Cform, said: dict[str, NDArray[Any] | None], changes: Changes
) -> tuple[NDArray[np.void], Build | None]:
    """The base's faces where nothing changed, those that point to nowhere included; and the compiler's side of them."""
    valid = base.valid_faces()
    count = int(np.count_nonzero(valid))
    old = _values(base, valid)
    same_count = count == len(mesh.triangles)
    old_corners = base.faces["vertices"] if count == len(valid) else base.faces["vertices"][valid]
    redrawn = np.ones(0, np.bool_)
    if same_count:
        corners = space.xray_triangles(mesh.triangles).astype(np.uint32)
        redrawn = functools.reduce(np.logical_or, (corners != old_corners).T)
        changes.count(redrawn, "faces redrawn")
    else:
        changes.lines.append(f"faces {count} -> {len(mesh.triangles)}")
    values: dict[str, NDArray[Any]] = {}
    touched: dict[str, NDArray[np.bool_]] = {}
    for name, word in _WORDS.items():
        now, before = said[name], old.get(name)
        if now is None:
            now = before if same_count and before is not None else np.zeros(len(mesh.triangles), np.int32)
        values[name] = now
        if same_count and before is not None:
            touched[name] = np.not_equal(now, before)
            changes.count(touched[name], word)
    if base.build is not None or base.version < NEWEST:
        return _revalued(mesh, base, values, touched, same_count and not redrawn.any())
    if same_count and not redrawn.any() and not any(mask.any() for mask in touched.values()):
        return base.faces, None
    if count < len(valid):
        changes.left_out.append(f"{len(valid) - count} faces of the old file that point behind its last vertex")
    return _faces(mesh, values), None


def _revalued(
    mesh: Mesh, base: Cform, values: dict[str, NDArray[Any]], touched: dict[str, NDArray[np.bool_]], same: bool
) -> tuple[NDArray[np.void], Build | None]:
    """The base's faces with other values. Raises `WriteError` where they are other faces."""
    if not same:
        kind = "a build.cform" if base.build is not None else f"version {base.version}"
        raise WriteError(
            f"the faces of {mesh.name!r} are not those of the file, and what {kind} knows of faces cannot be made anew",
            remedy="Export it as a new level.cform instead",
        )
    valid = np.flatnonzero(base.valid_faces())
    faces, lit = base.faces.copy(), None if base.build is None else base.build.faces.copy()
    for name, mask in touched.items():
        rows = faces if lit is None else lit
        rows[name][valid[mask]] = values[name][mask].astype(np.int64)
    build = None if base.build is None or lit is None else Build(base.build.run, lit)
    return faces, build


def _unknown_materials(mesh: Mesh, game_materials: Collection[int]) -> Iterator[Problem]:
    """Faces whose game material the game's `gamemtl.xr` does not have."""
    values = mesh.values(MATERIAL, Domain.FACE)
    if values is None or not game_materials:
        return
    wrong = np.isin(values, np.array(sorted(game_materials), np.int64), invert=True)
    shown = np.unique(values[wrong]).tolist()
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    what = f"have a game material that gamemtl.xr lacks ({', '.join(map(str, shown[:8]))}{more})"
    yield from problems.some(wrong, "faces", what, "Set a game material of the list")


def find_problems(mesh: Mesh, game_materials: Collection[int] = ()) -> Iterator[Problem]:
    """What a `level.cform` cannot hold, and what is worth a look.

    ``game_materials`` the ids that the game knows, none where nobody knows them.
    """
    yield from problems.unusable(mesh)
    yield from _out_of_range(mesh, None)
    yield from _unknown_materials(mesh, game_materials)
    yield from problems.worth_a_look(mesh)
