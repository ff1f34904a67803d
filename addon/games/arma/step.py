"""The step: how far the whole model moves in one cycle, which an animation's matrices leave out.

The model stands ``step · phase`` further at a phase (in files that number their frames instead of giving phases, by the
share of their number). So the step can be keys of the armature object, or be added to
every bone's matrix (which moves the parentless bones; the others follow) and be taken out again by subtracting it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...blender import compat
from ...blender.bone_curves import sampled, write_keys
from . import timing

if TYPE_CHECKING:
    from ...blender.typed import Action, Object


Floats = NDArray[np.float64]

LOCATION = "location"
GROUP = "Step"
FARTHEST = 1e6
"""Metres; further away 32-bit keys are decimetres apart."""
LEFT_OUT, OBJECT, BONES = "LEFT_OUT", "OBJECT", "BONES"
"""The modes; their meaning is said where they are shown (`properties.STEP_ITEMS`)."""


def a_phase(step: Floats, phases: NDArray[np.float32]) -> Floats:
    """(3,) how far the model goes from one phase to one that is greater by 1, rounded as properties round it."""
    return (np.asarray(step, np.float64) / timing.cycle_of(phases)).astype(np.float32).astype(np.float64)


def moved(deltas: Floats, carried: Floats, phases: NDArray[np.float32], sign: float = 1.0, zero: float = 0.0) -> Floats:
    """Deltas (bones, frames, 4, 4) that carry the step too (or with -1 no longer); ``carried`` (3,) metres a phase.

    ``zero``: the phase at which nothing of it is done.
    """
    result = deltas.copy()
    result[..., :3, 3] += sign * (timing.moving_phases(phases)[:, None] - zero) * np.asarray(carried, np.float64)
    return result


def can_be_shown(carried: Floats, phases: NDArray[np.float32]) -> bool:
    """Whether all places that the step leads to are numbers, and no further than `FARTHEST`."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(timing.moving_phases(phases)[:, None] * carried) <= FARTHEST).all())


def put_on_object(
    action: Action,
    rig: Object,
    carried: Floats,
    phases: NDArray[np.float32],
    frames: NDArray[np.float32],
) -> None:
    """Keys of the object's location in the same action: from where it stands now, along its own axes."""
    offsets = timing.moving_phases(phases)[:, None] * carried
    turned = offsets @ np.array(rig.matrix_basis.to_3x3()).T
    keys = np.empty((3, len(frames), 2), np.float32)
    keys[..., 0] = frames
    keys[..., 1] = (np.array(rig.location) + turned).T
    bag = compat.curve_bag(action)
    make = compat.curve_maker(action, bag)
    write_keys([make(LOCATION, index, GROUP) for index in range(3)], keys)


def of_object(action: Action, rig: Object, frames: NDArray[np.float32], phases: NDArray[np.float32]) -> Floats | None:
    """(3,) metres a phase that the object's location keys make, in the armature's axes; None where there are none."""
    bag = compat.curve_bag(action)
    curves = [curve for curve in bag.fcurves if curve.data_path == LOCATION] if bag is not None else []
    done = _done(phases)
    if not curves or not done:
        return None
    rows, _ = sampled(curves, frames[[0, -1]])
    way = np.zeros(3)
    for curve, row in zip(curves, rows, strict=True):
        way[curve.array_index] = row[1] - row[0]
    turned = np.array(rig.matrix_basis.to_3x3().inverted_safe() @ Vector(way.tolist()))
    return turned / done


def of_bone(shown: Floats, rest: Floats, phases: NDArray[np.float32], *, vertical: bool) -> Floats:
    """(3,) how far a bone's head (``shown`` its deltas (frames, 4, 4), ``rest`` (4, 4)) goes, metres a phase.

    Upwards only with ``vertical``: real animations have no step there.
    """
    done = _done(phases)
    heads = (shown @ rest)[:, :3, 3]
    way = (heads[-1] - heads[0]) / done if done else np.zeros(3)
    if not vertical:
        way[2] = 0.0
    result: Floats = way
    return result


def _done(phases: NDArray[np.float32]) -> float:
    share = timing.moving_phases(phases)
    return float(share[-1] - share[0]) if len(share) > 1 else 0.0
