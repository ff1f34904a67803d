"""Values of sRGB, as images store colors, to linear light and back; both from 0 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_linear(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the linear light of sRGB values."""
    result: NDArray[np.floating[Any]] = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return result


def from_linear(light: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the sRGB values of linear light, the inverse of `to_linear`."""
    result: NDArray[np.floating[Any]] = np.where(
        light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 0.0031308) ** (1 / 2.4) - 0.055
    )
    return result
