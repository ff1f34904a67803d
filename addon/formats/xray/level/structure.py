"""What `level` shows without a vertex of `level.geom`, in Blender's axes: boxes, portals, impostors, shader strings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core import names, space
from .document import Kind, Level

FACETS = 8
"""Of an impostor, each of four corners."""
IMPOSTOR_ORDER = [0, 3, 2, 1]
"""Corners of a facet: top left, top right, bottom right, bottom left in the file, the other way round in Blender."""
SHOWN_BELOW = 1e-3
"""Scale below which an instance cannot be seen: mods hide trees by scaling them to 1e-5."""
_BOX_EDGES = np.array(
    [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]], np.int32
)
"""Between corners whose bits 0, 1, 2 say whether x, y, z is the larger one."""


@dataclass(frozen=True, slots=True)
class Shader:
    """A shader string in its parts: ``name`` of the engine's shader, ``textures`` the whole list behind the slash."""

    name: str
    textures: str

    @property
    def texture(self) -> str:
        """The colour texture; terrain and lightmaps follow it in the list."""
        return self.textures.partition(",")[0]

    @property
    def see_through(self) -> bool:
        """Whether the texture's alpha is transparency: alpha test, blending, leaves, impostors; else it is gloss."""
        return any(part in self.name.lower() for part in _SEE_THROUGH)


_SEE_THROUGH = (
    "aref", "trans", "glass", "window", "blend", "leaf", "details\\lod", "glow", "wallmark", "lightplanes", "water",
)  # fmt: skip
"""Parts of engine shader names; what they are exactly is in the game's `shaders.xr`."""


def shaders(level: Level) -> list[Shader]:
    """Every shader string, by its index; the first is empty."""
    split = (names.decode(shader).partition("/") for shader in level.shaders)
    return [Shader(name, textures) for name, _, textures in split]


def boxes(level: Level, visuals: NDArray[np.int64]) -> NDArray[np.float32]:
    """(visuals, 2, 3) least and largest corner in world space; 0 for visuals without a readable header."""
    rows = level.visuals.rows_of(Kind.HEADER)[visuals]
    result = np.zeros((len(visuals), 2, 3), np.float32)
    result[rows >= 0] = space.xray_points(level.visuals.fixed[Kind.HEADER]["box"][rows[rows >= 0]])
    return result


def wires(ends: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Corners (8 n, 3) and edges (12 n, 2) of boxes (n, 2, 3)."""
    bits = np.arange(8)[:, None] >> np.arange(3) & 1
    corners = ends[:, bits, np.arange(3)]
    edges = _BOX_EDGES + 8 * np.arange(len(ends), dtype=np.int32)[:, None, None]
    return np.ascontiguousarray(corners.reshape(-1, 3)), edges.reshape(-1, 2)


def portal_corners(portal: np.void) -> NDArray[np.float32] | None:
    """(corners, 3) of a portal, whose normal points into its front sector; None for a count the format cannot hold."""
    count = int(portal["count"])
    if not 3 <= count <= len(portal["vertices"]):
        return None
    order = [0, *range(count - 1, 0, -1)]
    return space.xray_points(np.asarray(portal["vertices"][order]))


@dataclass(slots=True, eq=False)
class Impostors:
    """The far view of trees: `FACETS` quads for each of ``visuals`` (n,), 32 n corners one behind the other.

    ``positions`` (corners, 3) in world space, each quad counter-clockwise seen from where it is looked at; ``uvs``
    (corners, 2) with v up; ``light`` (corners, 4) red, green, blue and the share of the sun, ``hemi`` (corners,).
    """

    visuals: NDArray[np.int64]
    positions: NDArray[np.float32]
    uvs: NDArray[np.float32]
    light: NDArray[np.float32]
    hemi: NDArray[np.float32]


def impostors(level: Level) -> Impostors:
    """Those of every visual that has them."""
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
