"""Game materials of collision: their names in `gamemtl.xr`, and a Blender material for each of them.

Assigning another of these materials to a face changes its game material.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import material
from ....blender import mesh as meshes
from ....core import files
from ....core.errors import MotionbridgeError
from ....core.game import InstalledGame
from ....core.model import Attribute, Domain, Mesh
from ....core.report import Report, listed, say
from ....formats.xray import cform, gamemtl
from ....formats.xray.game_tree import find_game_materials
from ....formats.xray.usual_materials import USUAL_NAMES
from .materials import Slots, colour_of, distinct_numbers, numbered

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Object


MOST_MATERIALS = 512
"""Most materials of collision; a real game has about a hundred. The rest is grey, with its numbers in the attribute."""


def names_for(path: Path | None, games: Sequence[InstalledGame], report: Report) -> dict[int, str]:
    """Return number -> name of the game materials for a level's file; empty if no readable `gamemtl.xr` is found.

    ``path``: of the level's file, None for a mesh without one. ``games``: searched after the game that contains it.
    """
    return {number: entry.label for number, entry in _listed(path, games, report).items()}


def or_usual(names: Mapping[int, str]) -> Mapping[int, str]:
    """Return the names of the game's materials, or the usual ones if they are not known."""
    return names or USUAL_NAMES


def labels_for(path: Path | None, games: Sequence[InstalledGame], *, dynamic: bool) -> set[str]:
    """Return names of the game materials, found as by `names_for`; with ``dynamic`` only those that bones may have."""
    entries = _listed(path, games, Report()).values()  # the dialog shows whether it has a list
    return {entry.label for entry in entries if not dynamic or (entry.flags or 0) & gamemtl.Flag.DYNAMIC}


def _listed(path: Path | None, games: Sequence[InstalledGame], report: Report) -> dict[int, gamemtl.Material]:
    """Return number -> game material; empty without a file, or, with a warning, if it is not readable."""
    chosen = find_game_materials(path, games, report)
    if chosen is None:
        return {}
    own_report = Report()
    try:
        document = gamemtl.read(files.read_file(chosen), str(chosen), own_report)
    except MotionbridgeError as refusal:
        report.warn(say("game materials have their usual names: {}", refusal))
        return {}
    for line in own_report.lines():
        report.warn(say("{}: {}", chosen.name, line))
    return document.by_id()


def warn_of_unknown(values: NDArray[np.int32], names: Mapping[int, str], where: str, report: Report) -> None:
    """Warn of numbers (faces,) that are not in the list of game materials, if that is known."""
    missing = [number for number in distinct_numbers(values).tolist() if number not in names] if names else []
    if missing:
        unknown = listed([str(number) for number in missing])
        report.warn(say("faces have game materials that gamemtl.xr lacks: {}", unknown), where)


def slots(values: NDArray[np.int32], names: Mapping[int, str]) -> Slots:
    """Return a Blender material for each game material among ``values`` (faces,), in ascending order.

    ``names``: those of the game; if empty, the usual names are used.
    """
    if not len(values):
        return [], np.zeros(0, np.int32)
    numbers, index = numbered(values)
    if len(numbers) > MOST_MATERIALS:
        index = np.minimum(index, MOST_MATERIALS)
        numbers = numbers[:MOST_MATERIALS]
        others = [material.build_coloured("other game materials", material.NEUTRAL)]
    else:
        others = []
    listed_names = or_usual(names)
    materials = [game_material(number, listed_names.get(number, "")) for number in numbers.tolist()]
    return [*materials, *others], index


def game_material(number: int, name: str) -> typed.Material | None:
    """Return the Blender material of a game material; it is created if it does not exist."""
    return material.build_coloured(name or f"game material {number}", colour_of(number), number=number)


def game_numbers(materials: Iterable[Any]) -> NDArray[np.int64]:
    """Return (slots,) the game material of each material slot, -1 for none."""
    return np.array([_number(used_material) for used_material in materials], np.int64)


def without_game_material(materials: Iterable[Any]) -> NDArray[np.bool_]:
    """Return (slots,) whether a slot is empty, or has a material that the import of collision did not create."""
    unset = [
        used_material is None or (_number(used_material) < 0 and used_material.get(material.TITLE) is None)
        for used_material in materials
    ]
    return np.array(unset, np.bool_)


def known_materials() -> list[typed.Material]:
    """Return the Blender materials that represent game materials, by their numbers."""
    materials: Any = bpy.data.materials
    return sorted((used_material for used_material in materials if _number(used_material) >= 0), key=_number)


def number_of(used_material: typed.Material | None, stored: int | None) -> int | None:
    """Return the game material of a face: that of its Blender material, else ``stored`` in its attribute."""
    number = _number(used_material)
    return number if number >= 0 else stored


def of_faces(obj: Object, stored: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return (faces,) the game materials of a mesh, as `number_of`; ``stored`` (faces,): its attribute."""
    numbers = game_numbers(material.materials_of(obj, obj.data)).astype(np.int32)
    if not len(numbers):
        return stored
    by_slot = numbers[np.clip(meshes.material_indices(obj.data), 0, len(numbers) - 1)]
    return np.where(by_slot < 0, stored, by_slot)


def _number(used_material: typed.Material | None) -> int:
    return int(used_material.motionbridge_material.number) if used_material is not None else -1


# Materials of faces ---------------------------------------------------------------------------------------------------


def set_from_slots(obj: Object, evaluated: Any, mesh: Mesh, report: Report) -> None:
    """Set the game materials of faces: from the Blender material in a face's slot, else from the attribute.

    ``evaluated``: the result of modifiers, None without.
    """
    used = material.materials_of(obj, evaluated or obj.data)
    numbers, index = game_numbers(used), mesh.material_index
    if index is None or not len(numbers):
        return
    of_face = np.clip(index, 0, len(numbers) - 1)
    by_attribute = mesh.values(cform.MATERIAL, Domain.FACE)
    unset = without_game_material(used)[of_face] & (True if by_attribute is None else by_attribute == 0)
    if unset.any():
        sectors = mesh.values(cform.SECTOR, Domain.FACE)
        words = (
            "{0:# face has|# faces have} no game material, and {0:is|are} written with number 0; give {0:it|them} one "
            "with Set Collision Values"
        )
        if sectors is None or not sectors[unset].any():
            words = (
                "{0:# face has|# faces have} no game material and no sector, and {0:is|are} written with 0; set both "
                "with Set Collision Values"
            )
        report.warn(say(words, int(unset.sum())), obj.name)
    if (numbers < 0).all():
        return
    by_slot = numbers[of_face].astype(np.int32)
    unknown = by_slot < 0
    if by_attribute is None:
        by_slot[unknown] = 0
    else:
        by_slot[unknown] = by_attribute[unknown]
        differ = int(np.count_nonzero(by_slot != by_attribute))
        if differ:
            sentence = "{0:# face is|# faces are} written with the game material of {0:its|their} Blender material"
            report.note(say(sentence, differ), obj.name)
    mesh.attributes[cform.MATERIAL] = Attribute(Domain.FACE, by_slot)


def assign(data: typed.Mesh, selected: NDArray[np.bool_], number: int, name: str) -> None:
    """Assign the Blender material of a game material to faces; for collision the material slot takes precedence."""
    numbers = game_numbers(data.materials).tolist()
    if number not in numbers:
        known = [known_material for known_material in known_materials() if _number(known_material) == number]
        data.materials.append(known[0] if known else game_material(number, name))
        numbers.append(number)
    index = meshes.material_indices(data)
    index[selected] = numbers.index(number)
    data.polygons.foreach_set("material_index", index)
