"""Editing what grows on a level's ground: the slots of selected faces, and the detail models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import attributes, scope, tiles
from ....core.errors import WriteError
from ....core.model import Domain
from ....formats.xray import details
from . import materials as level_materials
from .details import COLOURS, MODELS, WANTED, slots_of
from .details_exporting import models_of

LIGHT: Mapping[str, float] = {details.SUN: 0.4, details.SKY: 0.6}
"""Of slots drawn from nothing: what most of the ground of real levels has; the level compiler works out its own."""


@dataclass(frozen=True)
class SlotValues:
    """What selected slots are given; None and missing places stay as they are.

    ``plants`` place (0 to 3) -> number of the model and its densities at the corners x0 y0, x1 y0, x0 y1, x1 y1, or
    None for those that are there. ``ground`` and ``height`` metres; shares from 0 to 1.
    """

    plants: Mapping[int, tuple[int, Sequence[float] | None]] = field(default_factory=dict)
    ground: float | None = None
    height: float | None = None
    sun: float | None = None
    sky: float | None = None
    colour: Sequence[float] | None = None


def begin(context: Any, shown: Any) -> None:
    """Make a mesh a level's ground: attributes that it lacks are added, nothing grows yet, materials show it."""
    with scope.object_mode(context):
        shown.motionbridge_level.kind = "DETAILS"
        _, heights, found = tiles.gather(shown, WANTED, COLOURS)
        count = len(heights)
        wanted: dict[str, NDArray[Any]] = {
            details.HEIGHT: (heights[:, 1] - heights[:, 0]).astype(np.float32),
            details.COLOUR: np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1)),
            **{name: np.full(count, share, np.float32) for name, share in LIGHT.items()},
            **{name: np.full(count, details.EMPTY, np.int32) for name in details.MODEL},
            **{name: np.zeros((count, 4), np.float32) for name in details.DENSITY},
        }
        for name, values in wanted.items():
            if name not in found:
                attributes.write(shown.data, name, Domain.FACE, values)
        show(shown)


def show(shown: Any) -> None:
    """Colour the ground by what its attributes say. Raises `WriteError` where they do not say what is to be shown."""
    level = shown.motionbridge_level
    _, heights, values = tiles.gather(shown, WANTED, COLOURS)
    if level.shown_by in ("SUN", "SKY", "COLOUR") and level.shown_by.lower() not in values:
        raise WriteError(
            f"{shown.name!r} has no {level.shown_by.lower()}; files of version 2 have none",
            remedy="Colour it by model or density",
        )
    for names, missing in (
        (details.MODEL, np.full(len(heights), details.EMPTY, np.int32)),
        (details.DENSITY, np.zeros((len(heights), 4), np.float32)),
    ):
        for name in names:
            values.setdefault(name, missing)
    level_materials.clear_slots(shown.data, slots_of(values.__getitem__, level.shown_by))
    shown.data.update()


def first_slot(shown: bpy.types.Object, selected: NDArray[np.bool_], place: int) -> SlotValues:
    """What the first of the ``selected`` (faces,) says, of its models the one at ``place``; nothing without any."""
    if not selected.any():
        return SlotValues()
    face = int(np.argmax(selected))
    _, heights, values = tiles.gather(shown, WANTED, COLOURS)
    one = {name: column[face] for name, column in values.items()}
    model, density = one.get(details.MODEL[place]), one.get(details.DENSITY[place])
    return SlotValues(
        plants={} if model is None or density is None else {place: (int(model), density.tolist())},
        ground=float(heights[face, 0]),
        **{name: float(one[name]) for name in (details.HEIGHT, details.SUN, details.SKY) if name in one},
        colour=one[details.COLOUR][:3].tolist() if details.COLOUR in one else None,
    )


def set_slots(shown: bpy.types.Object, selected: NDArray[np.bool_], given: SlotValues) -> NDArray[np.bool_]:
    """Give the ``selected`` (faces,) these values, outside edit mode; which of them were changed."""
    changed = np.zeros(len(selected), np.bool_)
    columns: dict[str, tuple[Any, Any]] = {
        details.HEIGHT: (np.float32, given.height),
        details.SUN: (np.float32, given.sun),
        details.SKY: (np.float32, given.sky),
        details.COLOUR: (np.float32, None if given.colour is None else [*given.colour, 1.0][:4]),
    }
    for place, (model, density) in given.plants.items():
        columns[details.MODEL[place]] = np.int32, model
        columns[details.DENSITY[place]] = np.float32, np.zeros(4) if model == details.EMPTY else density
    for name, (kind, value) in columns.items():
        if value is not None:
            changed |= _set(shown.data, name, selected, np.asarray(value, kind))
    if given.ground is not None:
        changed |= _lift(shown, selected, given.ground)
    show(shown)
    return changed & selected


def _set(data: Any, name: str, selected: NDArray[np.bool_], value: NDArray[Any]) -> NDArray[np.bool_]:
    now = (
        attributes.gather_colours(data, name, Domain.FACE)
        if value.ndim
        else attributes.gather(data, name, Domain.FACE, value.dtype)
    )
    if now is None:
        empty = details.EMPTY if name in details.MODEL else 0
        now = np.full((len(selected), *value.shape), empty, value.dtype)
    differs = now != value
    now[selected] = value
    attributes.write(data, name, Domain.FACE, now)
    return differs.any(axis=1) if value.ndim else differs


def _lift(shown: Any, selected: NDArray[np.bool_], height: float) -> NDArray[np.bool_]:
    """Move faces along the world's z until their lowest corners stand at ``height``."""
    data = shown.data
    _, heights, _ = tiles.gather(shown, {}, ())
    corners, sizes = np.empty(len(data.loops), np.int32), np.empty(len(selected), np.int32)
    data.attributes[".corner_vert"].data.foreach_get("value", corners)
    data.polygons.foreach_get("loop_total", sizes)
    way = np.where(selected, height - heights[:, 0], 0.0)
    of_vertices = np.zeros(len(data.vertices))
    meant = np.repeat(selected, sizes)
    of_vertices[corners[meant]] = np.repeat(way, sizes)[meant]
    upwards = np.linalg.pinv(np.array(shown.matrix_world, np.float64)[:3, :3])[:, 2]
    positions = np.empty(3 * len(data.vertices), np.float32)
    data.attributes["position"].data.foreach_get("vector", positions)
    moved = positions.reshape(-1, 3) + of_vertices[:, None] * upwards
    data.attributes["position"].data.foreach_set("vector", moved.astype(np.float32).ravel())
    return way != 0


# Models --------------------------------------------------------------------------------------------------------------


def add_models(ground: Any, objects: Sequence[Any]) -> int:
    """Make meshes detail models of the ground, numbered behind those it has; how many. Raises `WriteError`."""
    there = models_of(ground)
    new = [shown for shown in objects if shown not in there and shown != ground]
    if not new:
        raise WriteError(
            "no mesh is selected besides the ground and its models",
            remedy="Select the meshes to add, then the ground with Shift",
        )
    if len(there) + len(new) > details.MODELS:
        raise WriteError(f"{len(there) + len(new)} detail models, the game supports {details.MODELS}")
    level = ground.motionbridge_level
    holder = level.models
    if holder is None:
        holder = level.models = bpy.data.collections.new(f"{ground.name} {MODELS}")
        ground.users_collection[0].children.link(holder)
    # A broken file may call a model by any number; slots name none beyond the game's.
    numbers = (shown.motionbridge_level.number for shown in there)
    number = max((number for number in numbers if number < details.MODELS), default=-1)
    for shown in new:
        number += 1
        _take_in(holder, shown, number)
    return len(new)


def _take_in(holder: Any, shown: Any, number: int) -> None:
    shown.motionbridge_level.kind = "DM"
    shown.motionbridge_level.number = number
    if shown.name not in holder.objects:
        holder.objects.link(shown)


def replace_model(ground: Any, model: Any, by: Any) -> None:
    """Let ``by`` grow wherever ``model`` did, which is removed."""
    number, name = model.motionbridge_level.number, model.name
    by.location = model.location
    bpy.data.objects.remove(model)
    _take_in(ground.motionbridge_level.models, by, number)
    by.name = name


def slots_with(ground: Any, number: int) -> NDArray[np.int64]:
    """The faces of slots in which a model grows."""
    meant = np.zeros(len(ground.data.polygons), np.bool_)
    for name in details.MODEL:
        values = attributes.gather(ground.data, name, Domain.FACE, np.int32)
        if values is not None and number >= 0:
            meant |= values == number
    return np.flatnonzero(meant)


def remove_model(ground: Any, model: Any) -> int:
    """Remove a model and clear the slots that name it, outside edit mode; in how many places it stood."""
    number = model.motionbridge_level.number
    places = 0
    for name, shares in zip(details.MODEL, details.DENSITY, strict=True):
        values = attributes.gather(ground.data, name, Domain.FACE, np.int32)
        density = attributes.gather_colours(ground.data, shares, Domain.FACE)
        if values is None or number < 0:
            continue
        meant = values == number
        places += int(meant.sum())
        values[meant] = details.EMPTY
        attributes.write(ground.data, name, Domain.FACE, values)
        if density is not None:
            density[meant] = 0
            attributes.write(ground.data, shares, Domain.FACE, density)
    bpy.data.objects.remove(model)
    show(ground)
    return places
