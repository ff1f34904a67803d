"""Smaller levels of detail of textures: each with half the sides of the one before, rounded down."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import srgb

_LIGHT = srgb.to_linear(np.arange(256) / 255)
"""Linear light (0 to 1) of sRGB values 0 to 255."""


def mean(texels: NDArray[np.uint8], axes: tuple[int, ...], *, is_colour: bool = True) -> NDArray[np.uint8]:
    """Return the mean RGBA of texels (…, 4) over ``axes``: of colors in linear light and weighted by alpha, of other
    values as they are.
    """
    alpha = texels[..., 3:].astype(np.float64)
    mean_alpha = np.rint(alpha.mean(axis=axes)).astype(np.uint8)
    if not is_colour:
        plain = np.rint(texels[..., :3].mean(axis=axes)).astype(np.uint8)
        return np.concatenate([plain, mean_alpha], axis=-1)
    weight = alpha + 1e-3  # a small share for transparent texels, which count only where all are transparent
    light = (_LIGHT[texels[..., :3]] * weight).sum(axis=axes) / weight.sum(axis=axes)
    colours = np.rint(255 * srgb.from_linear(light)).astype(np.uint8)
    return np.concatenate([colours, mean_alpha], axis=-1)


def halved(texels: NDArray[np.uint8], *, is_colour: bool = True) -> NDArray[np.uint8]:
    """Return the next level (height // 2, width // 2, 4): the `mean` of each 2 x 2 texels."""
    return mean(_squares(texels), (1, 3), is_colour=is_colour)


def halved_mask(edited: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which texels of the next level come from at least one of ``edited`` (height, width)."""
    result: NDArray[np.bool_] = np.logical_or.reduce(_squares(edited), axis=(1, 3))
    return result


def _squares(texels: NDArray[Any]) -> NDArray[Any]:
    """Return (height // 2, 2, width // 2, 2, …) of an array (height, width, …)."""
    height, width = texels.shape[0] // 2, texels.shape[1] // 2
    return texels[: 2 * height, : 2 * width].reshape(height, 2, width, 2, *texels.shape[2:])
