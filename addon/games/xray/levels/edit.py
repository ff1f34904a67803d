"""Editing what a level's files say of faces: for the selected ones, for new meshes, and showing it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import attributes, scope
from ....blender import mesh as meshes
from ....core.errors import WriteError
from ....core.model import Domain
from ....formats.xray import cform, occluders, som
from . import details_edit as level_details_edit
from . import materials as level_materials
from .gather import WANTED

select = meshes.select_elements
DEFAULTS: dict[str, dict[str, Any]] = {
    "CFORM": {cform.MATERIAL: 0, cform.SUPPRESS_SHADOWS: False, cform.SUPPRESS_WALLMARKS: False, cform.SECTOR: 0},
    "HOM": {occluders.TWO_SIDED: True},
    "SOM": {occluders.TWO_SIDED: True, som.OCCLUSION: som.DEFAULT_OCCLUSION},
    "DM": {},
    "DETAILS": {},
}
"""Kind -> what faces of a mesh that was drawn from nothing are given."""


@dataclass(frozen=True)
class Counts:
    """How many faces were changed, of how many that are selected."""

    changed: int
    selected: int


def begin(context: Any, shown: Any, kind: str) -> None:
    """Make a mesh what a file of this kind holds: attributes that it lacks are added, materials show them."""
    if kind == "DETAILS":
        level_details_edit.begin(context, shown)
        return
    with scope.object_mode(context):
        shown.motionbridge_level.kind = kind
        for name, value in DEFAULTS[kind].items():
            if attributes.gather(shown.data, name, *WANTED[kind][name]) is None:
                values = np.full(len(shown.data.polygons), value, WANTED[kind][name][1])
                attributes.write(shown.data, name, Domain.FACE, values)
        show(shown, kind)


def selected_faces(data: Any) -> NDArray[np.bool_]:
    """(faces,) which are selected, outside edit mode."""
    selected = np.zeros(len(data.polygons), np.bool_)
    if len(selected):
        data.polygons.foreach_get("select", selected)
    return selected


def set_values(
    context: bpy.types.Context,
    shown: bpy.types.Object,
    kind: str,
    values: Mapping[str, Any],
    names: Mapping[int, str] | None = None,
) -> Counts:
    """Give the selected faces these values; in object and edit mode alike.

    ``names`` of game materials by number, for the Blender materials that are made.
    """
    with scope.object_mode(context):
        data = shown.data
        selected = selected_faces(data)
        changed = np.zeros(len(selected), np.bool_)
        for name, value in values.items():
            domain, dtype = WANTED[kind][name]
            now = attributes.gather(data, name, domain, dtype)
            if now is None:
                now = np.full(len(selected), DEFAULTS[kind][name], dtype)
            if kind == "CFORM" and name == cform.MATERIAL:
                _assign_material(data, selected, value, (names or {}).get(value, ""))
            changed |= selected & (now != dtype(value))
            now[selected] = value
            attributes.write(data, name, domain, now)
        show(shown, kind)
    return Counts(int(changed.sum()), int(selected.sum()))


def set_slots(context: bpy.types.Context, ground: Any, given: level_details_edit.SlotValues) -> Counts:
    """Give the slots of the selected faces these values; in object and edit mode alike."""
    with scope.object_mode(context):
        selected = selected_faces(ground.data)
        changed = level_details_edit.set_slots(ground, selected, given)
    return Counts(int(changed.sum()), int(selected.sum()))


def refresh(context: Any, shown: Any, shown_by: str = "") -> None:
    """Colour the faces anew by their attributes, which a script may have changed; in object and edit mode alike.

    ``shown_by`` what the ground is coloured by from now on. Raises `WriteError`.
    """
    level = shown.motionbridge_level
    before = level.shown_by
    with scope.object_mode(context):
        if level.kind != "DETAILS":
            show(shown, level.kind)
            return
        try:
            level.shown_by = shown_by or before
            level_details_edit.show(shown)
        except WriteError:
            level.shown_by = before
            raise


def _assign_material(data: Any, selected: NDArray[np.bool_], number: int, name: str) -> None:
    """The Blender material of a game material onto faces: the slot is what counts for collision."""
    slots = level_materials.game_numbers(data).tolist()
    if number not in slots:
        known = [one for one in level_materials.known_materials() if one.motionbridge_material.number == number]
        data.materials.append(known[0] if known else level_materials.game_material(number, name))
        slots.append(number)
    index = np.zeros(len(data.polygons), np.int32)
    data.polygons.foreach_get("material_index", index)
    index[selected] = slots.index(number)
    data.polygons.foreach_set("material_index", index)


def show(shown: Any, kind: str) -> None:
    """Colour the faces by what their attributes say."""
    data = shown.data
    found = {name: attributes.gather(data, name, *wanted) for name, wanted in WANTED[kind].items()}
    if kind == "CFORM":
        numbers = found[cform.MATERIAL]
        if not len(data.materials) and numbers is not None:
            level_materials.clear_slots(data, level_materials.collision(numbers, {}))
    elif kind in ("HOM", "SOM"):
        two_sided = found[occluders.TWO_SIDED]
        if two_sided is None:
            two_sided = np.ones(len(data.polygons), np.bool_)
        slots = level_materials.occluders(two_sided)
        if kind == "SOM":
            share = found[som.OCCLUSION]
            if share is None:
                share = np.full(len(two_sided), som.DEFAULT_OCCLUSION, np.float32)
            slots = level_materials.sound_occluders(share, two_sided)
        level_materials.clear_slots(data, slots)
    data.update()
