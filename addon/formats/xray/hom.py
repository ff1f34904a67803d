"""`level.hom`: the triangles that hide what lies behind them (hierarchical occlusion map).

Each triangle has 40 bytes: three corners and flags. Flags other than 0 mean two-sided; a triangle with 0 hides only
while the camera is on its outward side (``HOM.cpp``). The level compiler calls areas below about 0.001 m² invalid.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import numpy as np

from ...core import problems
from ...core.model import Attribute, Domain, Mesh
from ...core.problems import Problem
from ...core.report import Report
from . import occluders
from .changes import Changes
from .occluders import TWO_SIDED, Occluders, describe, differences, dump, raw_size, write

__all__ = [
    "decode",
    "describe",
    "differences",
    "dump",
    "encode",
    "find_problems",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]

TRIANGLE = np.dtype([("positions", "<f4", (3, 3)), ("two_sided", "<u4")])
LEAST_AREA = 1e-3

_WORDS = {"positions": "triangles moved", "two_sided": "two-sided flags"}


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are a version and a chunk of whole triangles."""
    return occluders.starts_like(head, TRIANGLE)


def read(data: bytes, file: str, report: Report) -> Occluders:
    """The document of a `.hom`. Raises `ReadError`."""
    return occluders.read(data, file, report, TRIANGLE)


recompose = write


def decode(document: Occluders, report: Report, weld: float | None = None) -> Mesh:
    """The triangles with the face attribute `TWO_SIDED`; ``weld`` as in `occluders.decode`."""
    mesh = occluders.decode(document, PurePath(document.file.replace("\\", "/")).name or "level.hom", weld)
    mesh.attributes[TWO_SIDED] = Attribute(Domain.FACE, document.rows["two_sided"] != 0)
    if not len(document.rows):
        report.warn("there are no triangles in it", mesh.name)
    return mesh


def encode(mesh: Mesh, base: Occluders | None = None, weld: float | None = None) -> tuple[Occluders, Changes]:
    """The base, or a new file, with the mesh's triangles, and what changed; ``weld`` as it was given to `decode`.

    Faces are two-sided where nothing says otherwise: a one-sided one that faces the wrong way hides nothing. Raises
    `WriteError`.
    """
    rows, source, _ = occluders.encode_positions(mesh, base, TRIANGLE, weld)
    said = mesh.values(TWO_SIDED, Domain.FACE)
    wanted = said.astype(np.bool_) if said is not None else np.where(source >= 0, rows["two_sided"] != 0, True)
    changed = wanted != (rows["two_sided"] != 0)
    rows["two_sided"][changed] = wanted[changed]
    return occluders.with_rows(rows, base, _WORDS)


def find_problems(mesh: Mesh) -> Iterator[Problem]:
    """What the game or the level compiler would not take, and what is worth a look."""
    yield from problems.no_faces(mesh)
    yield from problems.points_to_nowhere(mesh)
    yield from problems.not_finite(mesh)
    yield from problems.small_faces(mesh, LEAST_AREA)
    yield from problems.repeated_faces(mesh)
