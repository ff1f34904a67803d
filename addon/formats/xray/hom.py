"""`level.hom`: the triangles that hide what lies behind them (hierarchical occlusion map).

Each triangle has 40 bytes: three corners and flags. Flags other than 0 mean two-sided; a triangle with 0 hides only
while the camera is on its outward side (``HOM.cpp``). The level compiler calls areas below about 0.001 m² invalid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core import problems
from ...core.changes import Changes
from ...core.model import Mesh
from ...core.problems import Problem
from ...core.report import Report
from . import occluders
from .occluders import Occluders, describe, differences, dump, raw_size, write

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

_WORDS = {"positions": "triangle positions", "two_sided": "two-sided flags"}


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are a version and a chunk of whole triangles."""
    return occluders.starts_like(head, TRIANGLE)


def read(data: bytes, file: str, report: Report) -> Occluders:
    """The document of a `.hom`. Raises `ReadError`."""
    return occluders.read(data, file, report, TRIANGLE)


recompose = write


def decode(document: Occluders, report: Report, weld: float | None = None) -> Mesh:
    """The triangles as in `occluders.decode`."""
    return occluders.decode(document, "level.hom", weld)


def encode(mesh: Mesh, base: Occluders | None = None, weld: float | None = None) -> tuple[Occluders, Changes]:
    """The base, or a new file, with the mesh's triangles, and what changed; ``weld`` as it was given to `decode`.

    Faces are two-sided where nothing says otherwise. Raises `WriteError`.
    """
    rows, _ = occluders.encode_rows(mesh, base, TRIANGLE, weld)
    return occluders.with_rows(rows, base, _WORDS)


def find_problems(mesh: Mesh) -> Iterator[Problem]:
    """What the game or the level compiler would not load, and warnings."""
    yield from problems.unusable(mesh)
    yield from problems.worth_a_look(mesh, LEAST_AREA)
