"""Flags of the selected vertices and faces of LODs: what they are, and setting groups of them.

``element``: "VERTEX" or "FACE".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...blender import attributes
from ...core.model import Domain
from ...formats.arma.flag_groups import ATTRIBUTES, GROUPS

if TYPE_CHECKING:
    from ...blender.typed import Mesh

OTHER = "OTHER"
"""Value of a group with several or unknown bits."""


def selected(data: Mesh, element: str) -> NDArray[np.bool_]:
    """Return (vertices,) or (faces,) which are selected, in Object Mode."""
    elements: Any = data.vertices if element == "VERTEX" else data.polygons
    result = np.zeros(len(elements), np.bool_)
    if len(result):
        elements.foreach_get("select", result)
    return result


def flags_of(data: Mesh, element: str) -> NDArray[np.uint32]:
    """Return the flags (n,) of the vertices or faces of a mesh, in Object Mode; 0 without the attribute."""
    values = attributes.gather(data, ATTRIBUTES[element], Domain[element], np.int32)
    if values is None:
        values = np.zeros(len(selected(data, element)), np.int32)
    return values.view(np.uint32)


def values_of(meshes: Iterable[Mesh], element: str) -> dict[str, NDArray[Any]]:
    """Return group -> its value (n,) for each selected vertex or face, in Object Mode: an identifier or a number."""
    chosen = [flags_of(data, element)[selected(data, element)] for data in meshes]
    flags = np.concatenate([np.zeros(0, np.uint32), *chosen])
    result: dict[str, NDArray[Any]] = {}
    for group in GROUPS[element]:
        bits = flags & np.uint32(group.mask)
        if group.values:
            names = np.array([*group.values, OTHER])
            known = bits[:, None] == np.array(list(group.values.values()), np.uint32)
            result[group.name] = names[np.where(known.any(axis=1), known.argmax(axis=1), len(names) - 1)]
        else:
            result[group.name] = (bits >> np.uint32(group.shift)).astype(np.int64)
    return result


def set_values(data: Mesh, element: str, values: Mapping[str, str | int]) -> tuple[int, int]:
    """Set groups of flags of the selected vertices or faces, in Object Mode; return how many changed, of how many.

    A mesh without such flags gets the attribute only if a flag is set.
    """
    chosen, flags = selected(data, element), flags_of(data, element)
    result = flags.copy()
    for group in GROUPS[element]:
        value = values.get(group.name, OTHER)
        if value != OTHER:
            result[chosen] = result[chosen] & np.uint32(~group.mask & 0xFFFFFFFF) | np.uint32(group.bits(value))
    changed = int((result != flags).sum())
    if changed:
        attributes.write(data, ATTRIBUTES[element], Domain[element], result.view(np.int32))
    return changed, int(chosen.sum())
