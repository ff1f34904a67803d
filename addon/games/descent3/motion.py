"""Motions of a model as actions: a tick is a frame, all parts play together.

Blender turns evenly between keys, the game blends matrices; so with a key at every tick, and between ticks where parts
turn fast, Blender shows what the game shows, and with few keys what is within `FEW_DEGREES` of it at every tick. Since
4.4 the model has one action with a slot for each moving object; before, each object has an action of its own. An
armature has one action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender import compat
from ...blender.action import to_basis
from ...blender.armature import Rest, rest_of
from ...blender.transforms import write_tracks
from ...core import names, rotation
from ...core.report import Report
from ...formats.descent3.oof.document import Oof
from ...formats.descent3.oof.model import Model, Motion, Part
from ...formats.descent3.oof.pose import KeyedMotion, between_keys, chosen_ticks, keyed_motions
from ...formats.descent3.oof.tracks import key_hints

Floats = NDArray[np.float64]

FEW_DEGREES, FEW_UNITS = 0.05, 1e-3
"""How far few keys may lie from what the game shows, at every tick; the game's smallest models are a unit large."""
FARTHEST = 1_048_574
"""Blender's last frame."""


@dataclass(frozen=True)
class Mover:
    """What moves a part: an object (``bone`` empty) or a bone of a rig, with the ``rest`` that its channels are from.

    ``rest`` is of one bone; of an object it is the model's axes at its parent's pivot.
    """

    owner: Any
    bone: str
    rest: Rest


def mover_of(shown: Any, rests: Mapping[str, int], rest: Rest | None) -> Mover:
    """What moves a part that was just made; ``rest`` of the whole rig, ``rests`` the places of its bones."""
    if rest is not None and shown.parent_type == "BONE":
        place = rests[shown.parent_bone]
        own = Rest(
            [shown.parent_bone],
            np.array([-1], np.int32),
            rest.rotations[place : place + 1],
            rest.translations[place : place + 1],
            np.eye(4),
        )
        return Mover(shown.parent, shown.parent_bone, own)
    plain = Rest([""], np.array([-1], np.int32), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.eye(4))
    return Mover(shown, "", plain)


def build(context: Any, document: Oof, model: Model, parts: list[Any], rig: Any, *, few: bool, report: Report) -> int:
    """Give parts their motions, those of the document; how many got one. The objects must be in the scene."""
    fitting = [_fits(part, report) for part in model.parts]
    if not any(fitting):
        return 0
    # Assigning an action to an object that was never evaluated crashes some Blenders.
    context.view_layer.update()
    motions = [part.motion if fits else None for part, fits in zip(model.parts, fitting, strict=True)]
    keyed = [few_keys(motion) for motion in motions] if few else keyed_motions(document, motions, report)
    rest = rest_of(rig, np.eye(4)) if rig is not None else None
    places = {bone: place for place, bone in enumerate(rest.bones)} if rest is not None else {}
    writers = _Writers(model)
    for part, shown, keys in zip(model.parts, parts, keyed, strict=True):
        if keys is None:
            continue
        mover = mover_of(shown, places, rest)
        group = mover.bone or "Object Transforms"
        for channel, (times, values) in _tracks(part, mover, keys).items():
            write_tracks(writers.curves_of(mover.owner), mover.bone, group, times, {channel: values})
        shown.motionbridge_descent_part.is_moved = True
    return sum(fitting)


def _fits(part: Part, report: Report) -> bool:
    if part.motion is None:
        return False
    if max(abs(part.motion.first), abs(part.motion.last)) > FARTHEST:
        report.warn(f"its ticks lie outside of Blender's frames (up to {FARTHEST}); left out here, kept", part.name)
        return False
    # Curves hold 32 bits.
    with np.errstate(over="ignore", invalid="ignore"):
        places = (part.offset + part.motion.displacements).astype(np.float32)
    if not (np.isfinite(places).all() and np.isfinite(part.motion.rotations).all()):
        report.warn("its motion holds numbers that are none; left out here, kept", part.name)
        return False
    return True


def _tracks(part: Part, mover: Mover, keys: KeyedMotion) -> dict[str, tuple[Floats, Floats]]:
    """Times and values of each channel."""
    still = np.zeros((len(keys.rotation_times), 3)) + mover.rest.translations[0]
    turned, _ = to_basis(mover.rest, keys.rotations[None], still[None])
    no_turn = np.broadcast_to(rotation.IDENTITY, (len(keys.position_times), 4))
    _, located = to_basis(mover.rest, no_turn[None], (part.offset + keys.displacements)[None])
    tracks = {}
    if part.spin_axis is None:
        tracks["rotation_quaternion"] = keys.rotation_times, turned[0]
    if part.spin_axis is not None or (keys.displacements != 0).any():
        tracks["location"] = keys.position_times, located[0]
    return tracks


class _Writers:
    """Makes the actions as they are needed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._action: Any = None
        self._makers: dict[Any, compat.MakeCurve] = {}

    def curves_of(self, owner: Any) -> compat.MakeCurve:
        """What makes curves for an object, which from now on plays them."""
        if owner not in self._makers:
            name = owner.name
            if self._action is not None and compat.SLOTTED:
                action = self._action
                slot, bag = compat.add_slot(action, "OBJECT", name)
            else:
                label = self._model.name if compat.SLOTTED or owner.type == "ARMATURE" else f"{self._model.name} {name}"
                label = names.shortened(label, compat.DATA_NAME_LIMIT)
                action, slot, bag = compat.new_action(label, "OBJECT", name)
                first, last = self._model.ticks
                action.use_frame_range = True
                action.frame_start, action.frame_end = first, last
                self._action = action
            compat.assign(owner, action, slot)
            self._makers[owner] = compat.curve_maker(action, bag)
        return self._makers[owner]


# Few keys ------------------------------------------------------------------------------------------------------------


def few_keys(motion: Motion | None) -> KeyedMotion | None:
    """The motion with `few_ticks`."""
    return KeyedMotion.of_rows(motion, few_ticks(motion)) if motion is not None else None


def few_ticks(motion: Motion) -> NDArray[np.int64]:
    """The rows at which the file has keys, and as many more as Blender's even turns need to stay near the game's."""
    limit = np.radians(FEW_DEGREES)

    def error(keys: NDArray[np.int64]) -> Floats:
        shown = straightened(motion, keys)
        turned = rotation.angles_between(shown.rotations, motion.rotations) / limit
        moved = np.linalg.norm(shown.displacements - motion.displacements, axis=1) / FEW_UNITS
        result: Floats = np.maximum(turned, moved)
        return result

    return chosen_ticks(len(motion.rotations), key_hints(motion), error)


def straightened(motion: Motion, keys: NDArray[np.int64]) -> Motion:
    """The motion as Blender shows it with linear keys at these rows."""
    before, weight = between_keys(len(motion.rotations), keys)
    after = np.minimum(before + 1, len(keys) - 1)

    def blended(values: Floats) -> Floats:
        first, second = values[keys[before]], values[keys[after]]
        result: Floats = first + (second - first) * weight[:, None]
        return result

    turns = rotation.normalised(blended(motion.rotations))
    return Motion(motion.first, turns, blended(motion.displacements), motion.key_ticks)
