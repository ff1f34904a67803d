"""Decode what `level` shows without `level.geom`, in Blender's axes: boxes, portals, impostors, shader strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, space
from .document import Kind, Level

FACETS = 8
"""Number of facets of an impostor, each with four corners."""
IMPOSTOR_ORDER = [0, 3, 2, 1]
"""Corner order of a facet: top left, top right, bottom right, bottom left in the file; reversed in Blender."""
INVISIBLE_BELOW = 1e-3
"""Scale below which an instance is invisible: mods hide trees by scaling them to 1e-5."""
_BOX_EDGES = np.array(
    [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]], np.int32
)
"""Edges between corners of a box; bits 0, 1, 2 of a corner's index select the larger x, y, z."""


@dataclass(frozen=True, slots=True)
class Shader:
    """A shader string, split: ``name`` of the engine's shader, ``textures`` the whole list after the slash."""

    name: str
    textures: str

    @property
    def texture(self) -> str:
        """The colour texture; in the list it is followed by the terrain's textures or the lightmaps."""
        return self.textures.partition(",")[0]

    @property
    def see_through(self) -> bool:
        """Whether the texture's alpha is transparency (alpha test, blending, leaves, impostors) instead of gloss."""
        return any(part in self.name.lower() for part in _SEE_THROUGH)


_SEE_THROUGH = (
    "aref", "trans", "glass", "window", "blend", "leaf", "details\\lod", "glow", "wallmark", "lightplanes", "water",
)  # fmt: skip
"""Parts of the names of such engine shaders; their exact settings are in the game's `shaders.xr`."""


def shaders(level: Level) -> list[Shader]:
    """Return every shader string, by index; the first one is empty."""
    split = (names.decode(shader).partition("/") for shader in level.shaders)
    return [Shader(name, textures) for name, _, textures in split]


def titles(level: Level, visuals: Sequence[int] | NDArray[np.integer[Any]]) -> list[str]:
    """Return the names of visuals: texture and index. A compiled level has no names of models."""
    textures = [shader.texture.replace("/", "\\").rpartition("\\")[2] or level.name for shader in shaders(level)]
    of_visual = level.visuals.shaders.tolist()
    return [
        f"{textures[of_visual[visual]] if 0 <= of_visual[visual] < len(textures) else level.name} {visual:05}"
        for visual in map(int, visuals)
    ]


def boxes(level: Level, visuals: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return (visuals, 2, 3) the minimum and maximum corner in world space; 0 for visuals without a readable header."""
    rows = level.visuals.rows_of(Kind.HEADER)[visuals]
    result = np.zeros((len(visuals), 2, 3), np.float32)
    result[rows >= 0] = space.xray_points(level.visuals.fixed[Kind.HEADER]["box"][rows[rows >= 0]])
    return result


def wires(ends: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return corners (8 n, 3) and edges (12 n, 2) of boxes (n, 2, 3)."""
    bits = np.arange(8)[:, None] >> np.arange(3) & 1
    corners = ends[:, bits, np.arange(3)]
    edges = _BOX_EDGES + 8 * np.arange(len(ends), dtype=np.int32)[:, None, None]
    return np.ascontiguousarray(corners.reshape(-1, 3)), edges.reshape(-1, 2)


def portal_corners(portal: np.void) -> NDArray[np.float32] | None:
    """Return (corners, 3) of a portal, whose normal points into its front sector; None if its count is not 3 to 6."""
    count = int(portal["count"])
    if not 3 <= count <= len(portal["vertices"]):
        return None
    order = [0, *range(count - 1, 0, -1)]
    return space.xray_points(np.asarray(portal["vertices"][order]))


@dataclass(slots=True, eq=False)
class Impostors:
    """The far view of trees: `FACETS` quads for each of ``visuals`` (n,), so 32 n corners.

    ``positions`` (corners, 3) in world space, each quad counter-clockwise seen from its front; ``uvs`` (corners, 2)
    with v up; ``light`` (corners, 4) red, green, blue and the share of the sun, ``hemi`` (corners,).
    """

    visuals: NDArray[np.int64]
    positions: NDArray[np.float32]
    uvs: NDArray[np.float32]
    light: NDArray[np.float32]
    hemi: NDArray[np.float32]


def impostors(level: Level) -> Impostors:
    """Return the impostors of all visuals that have them."""
    owners, rows = level.visuals.owners(Kind.LOD)
    corners = level.visuals.fixed[Kind.LOD]["corners"][rows][:, :, IMPOSTOR_ORDER].reshape(-1)
    light = np.empty((len(corners), 4), np.float32)
    light[:, :3] = corners["bgrh"][:, [2, 1, 0]] / np.float32(255)
    light[:, 3] = corners["sun"] / np.float32(255)
    return Impostors(
        owners,
        space.xray_points(corners["position"]),
        space.xray_uvs(corners["uv"]),
        light,
        np.asarray(corners["bgrh"][:, 3] / np.float32(255), np.float32),
    )
