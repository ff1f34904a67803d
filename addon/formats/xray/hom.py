"""`level.hom`: the triangles that hide what is behind them (hierarchical occlusion map).

Each triangle has 40 bytes: three corners and flags. Flags other than 0 mean two-sided; a triangle with flags 0 hides
only while the camera is on its outward side (``HOM.cpp``). The level compiler calls areas below about 0.001 m² invalid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core import problems
from ...core.changes import Changes
from ...core.mesh_parts import in_file_order
from ...core.model import Mesh
from ...core.problems import Problem
from ...core.report import Report
from . import occluders
from .occluders import VIEWS, Occluders, describe, raw_size, write

__all__ = [
    "VIEWS",
    "decode",
    "describe",
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

_TEMPLATES = {"positions": occluders.POSITIONS, "two_sided": occluders.TWO_SIDED_FLAGS}


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a version and a chunk of whole triangles."""
    return occluders.starts_like(head, TRIANGLE)


def read(data: bytes, file: str, report: Report) -> Occluders:
    """Read a `.hom` file. Raises `ReadError` as `occluders.read` does."""
    return occluders.read(data, file, report, TRIANGLE)


recompose = write


def decode(document: Occluders, report: Report, weld: float | None = None) -> Mesh:
    """Convert the triangles to a mesh, see `occluders.decode`."""
    return occluders.decode(document, "level.hom", weld)


def encode(mesh: Mesh, base: Occluders | None = None, weld: float | None = None) -> tuple[Occluders, Changes]:
    """Return the base, or a new file, with the mesh's triangles, and the changes; ``weld`` as given to `decode`.

    New faces are two-sided if the mesh has no attribute for it. Raises `WriteError` for a mesh that cannot be stored.
    """
    rows, _ = occluders.encode_rows(in_file_order(mesh), base, TRIANGLE, weld)
    return occluders.with_rows(rows, base, _TEMPLATES)


def find_problems(mesh: Mesh) -> Iterator[Problem]:
    """Yield what the game or the level compiler would refuse, and warnings."""
    yield from problems.unusable(mesh)
    yield from problems.likely_mistakes(mesh, LEAST_AREA)
