"""Materials of a level's meshes: colours that show the faces' values, and textures.

Which colours is up to each kind of file: `game_materials` (collision), `occluder_colours`, `slot_colours` (detail
objects). Colours only show attributes, except those of collision, which are its game materials.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....blender import material
from ....core.model import Material
from ....core.report import Report, say
from ....formats.xray.game_tree import GameTree

if TYPE_CHECKING:
    from ....blender.typed import Mesh, Object


Slots = tuple[list[Any], NDArray[np.int32]]
"""Blender materials, and for each face the index of its material."""


def colour_of(number: int) -> tuple[float, float, float, float]:
    """Return the colour of an index, such as that of a game material: always the same, and far from those of others.

    Hue and tone are multiples of inverse powers of the plastic number, which in two dimensions keep any few numbers
    apart; the golden ratio would give 5 and 39, or 3 and 37, the same hue.
    """
    hue, tone = number * 0.7548776662466927 % 1.0, number * 0.5698402909980532 % 1.0
    return (*colorsys.hsv_to_rgb(hue, 0.9 - 0.45 * tone, 0.4 + 0.5 * tone), 1.0)


def distinct_numbers(values: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the distinct numbers among ``values`` (n,), in ascending order."""
    if not len(values) or int(values.min()) < 0 or int(values.max()) > 0xFFFF:
        return np.unique(values).astype(np.int64)
    # A lookup table is faster than sorting a million faces.
    present = np.zeros(int(values.max()) + 1, np.bool_)
    present[values] = True
    return np.flatnonzero(present)


def numbered(values: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct numbers among ``values`` (n,), ascending, and (n,) the index of each value among them."""
    numbers = distinct_numbers(values)
    if not len(numbers) or numbers[0] < 0 or numbers[-1] > 0xFFFF:
        return numbers, np.searchsorted(numbers, values).astype(np.int32)
    index_of = np.zeros(int(numbers[-1]) + 1, np.int32)
    index_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    index: NDArray[np.int32] = index_of[values]
    return numbers, index


def slots_by_share(shares: NDArray[Any], steps: int, words: str, colour: tuple[float, float, float]) -> Slots:
    """Return shades from black to a colour; ``shares`` (slots,) from 0 to 1, rounded to this number of steps.

    ``words``: name of a shade, with a field for its percents.
    """
    rounded = np.rint(np.clip(np.nan_to_num(shares, nan=0.0), 0, 1) * steps).astype(np.int32)
    if not len(rounded):
        return [], rounded
    steps_used, index = numbered(rounded)
    materials = []
    for step in steps_used.tolist():
        share = step / steps
        shade = tuple(0.02 + (part - 0.02) * share for part in colour)
        materials.append(material.build_coloured(say(words, round(100 * share)), (*shade, 1.0)))
    return materials, index


def textured(surface: Material, tree: GameTree, textures: bool, report: Report) -> Any:
    """Return the material of a detail model, with its texture if that is found."""
    image = find_image(surface.texture, tree, report) if textures and surface.texture else None
    return material.build(surface, image, see_through=True)


def find_image(
    texture: str,
    tree: GameTree,
    report: Report,
    report_missing: Callable[[str, Report], None] | None = None,
) -> Any:
    """Return the image of a texture; None, which is reported, if it is not found or Blender cannot show it.

    ``report_missing`` reports one that is not found, instead of `GameTree.warn_of_missing`.
    """
    path = tree.find_texture(texture)
    image = material.load_image(path) if path is not None else None
    if path is None:
        (report_missing or tree.warn_of_missing)(texture, report)
    elif image is None:
        report.warn("Blender cannot show a texture", str(path))
    return image


def clear_slots(data: Mesh, slots: Slots) -> None:
    """Replace the materials of a mesh."""
    materials, index = slots
    data.materials.clear()
    for used_material in materials:
        data.materials.append(used_material)
    data.polygons.foreach_set("material_index", index)


def legend(meshes: list[Object]) -> list[Any]:
    """Return the materials of objects, whose names say what they show."""
    return list(
        dict.fromkeys(
            slot_material for obj in meshes for slot_material in material.materials_of(obj, obj.data) if slot_material
        )
    )
