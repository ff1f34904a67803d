"""`level.som`: the triangles that muffle sound (sound occlusion model).

Each triangle has 44 bytes: three corners, two-sided (u32) and occlusion (f32), the share of the volume that remains
behind it (0 silences). For a two-sided triangle the engine adds the flipped triangle (``SoundRender_Scene.cpp``). The
SDK takes the occlusion from the game material; real files contain 0, 0.05 and 0.6.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core import problems, rebase, text
from ...core.changes import Changes
from ...core.mesh_parts import in_file_order
from ...core.model import Attribute, Domain, Mesh
from ...core.problems import Problem
from ...core.report import Report, say
from . import occluders
from .occluders import VIEWS, Occluders, raw_size, write

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

TRIANGLE = np.dtype([("positions", "<f4", (3, 3)), ("two_sided", "<u4"), ("occlusion", "<f4")])
OCCLUSION = "occlusion"
DEFAULT_OCCLUSION = 0.05
"""Occlusion of walls in real levels."""

_TEMPLATES = {
    "positions": occluders.POSITIONS,
    "two_sided": occluders.TWO_SIDED_FLAGS,
    "occlusion": "{:# occlusion factor|# occlusion factors}",
}


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a version and a chunk of whole triangles, the first with a valid occlusion."""
    first = 20 + TRIANGLE.itemsize
    if len(head) < first or not occluders.starts_like(head, TRIANGLE):
        return False
    # Eleven triangles of a .hom have as many bytes as ten of a .som; a .hom has a coordinate here.
    return bool(0 <= np.frombuffer(head, "<f4", 1, first - 4)[0] <= 1)


def read(data: bytes, file: str, report: Report) -> Occluders:
    """Read a `.som` file. Raises `ReadError` as `occluders.read` does."""
    return occluders.read(data, file, report, TRIANGLE)


recompose = write


def describe(document: Occluders) -> list[str]:
    """Return a summary: counts, bounds, occlusion values."""
    values, counts = np.unique(document.rows["occlusion"], return_counts=True)
    shares = [f"{text.scalar(value)} ({count})" for value, count in zip(values, counts, strict=True)][: text.FEW]
    return [*occluders.describe(document), f"occlusion: {', '.join(shares) or 'none'}"]


def decode(document: Occluders, report: Report, weld: float | None = None) -> Mesh:
    """Convert the triangles to a mesh, see `occluders.decode`, with the additional face attribute `OCCLUSION`."""
    mesh = occluders.decode(document, "level.som", weld)
    mesh.attributes[OCCLUSION] = Attribute(Domain.FACE, document.rows["occlusion"].copy())
    return mesh


def encode(mesh: Mesh, base: Occluders | None = None, weld: float | None = None) -> tuple[Occluders, Changes]:
    """Return the base, or a new file, with the mesh's triangles, and the changes; ``weld`` as given to `decode`.

    New faces are two-sided and have `DEFAULT_OCCLUSION` if the mesh has no attributes for it. Raises `WriteError` for a
    mesh that cannot be stored.
    """
    mesh = in_file_order(mesh)
    rows, source = occluders.encode_rows(mesh, base, TRIANGLE, weld)
    share = mesh.values(OCCLUSION, Domain.FACE)
    if share is None:
        share = np.where(source >= 0, rows["occlusion"], np.float32(DEFAULT_OCCLUSION))
    share, is_edited = rebase.restore_unedited(share.astype("<f4"), rows["occlusion"])
    rows = occluders.with_values(rows, "occlusion", share, is_edited)
    edited = rows["occlusion"][is_edited | (source < 0)]
    rebase.refuse_not_finite(say("an occlusion of {!r} is NaN or infinite", mesh.name), "Set it again", edited)
    return occluders.with_rows(rows, base, _TEMPLATES)


def find_problems(mesh: Mesh) -> Iterator[Problem]:
    """Yield what the game would refuse, and warnings."""
    yield from problems.unusable(mesh)
    yield from problems.likely_mistakes(mesh)
    share = mesh.values(OCCLUSION, Domain.FACE)
    if share is not None:
        wrong = np.logical_not((share >= 0) & (share <= 1))
        yield from problems.some(
            wrong, "face|faces", "{0:has|have} an occlusion outside 0 to 1", "0 is silence, 1 lets all sound through"
        )
