"""Poses of a control rig's bones for poses of the game's bones, and whether sampled poses were edited.

`core.control_rig` plans the bones and explains why these poses are exact. Matrices are (..., 4, 4) in the armature's
space, metres, `p' = M p`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from . import affine, rotation
from .control_rig import KEYED, NEUTRAL, Role
from .model import parents_first

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Controls:
    """The bones of a control rig as Blender has them.

    ``roles`` and ``parents`` (controls,); ``rest`` (controls, 4, 4), read back from Blender, which rounds it; ``bones``
    (controls,): game bone of each, -1 for none; ``references`` (controls,): the control that must be at the pose of the
    game bone (its target, the held bone of a goal, or the control itself); ``limbs`` (limbs, 5): indices of the two
    solved bones, the goal, the pole, and what the solver follows (the goal or a bone at the hock); ``looks`` (necks and
    heads, 2): index of the aiming bone and of its look-at control, a head after its neck.
    """

    roles: list[Role]
    parents: NDArray[np.intp]
    rest: Floats
    bones: NDArray[np.intp]
    references: NDArray[np.intp]
    limbs: NDArray[np.intp]
    looks: NDArray[np.intp]

    def rows(self, *roles: Role) -> NDArray[np.intp]:
        """Return the indices of the controls with these roles."""
        return np.array([row for row, role in enumerate(self.roles) if role in roles], np.intp)

    def bones_of(self, limb: Sequence[int]) -> NDArray[np.intp]:
        """Return the game bones of a row of ``limbs``."""
        result: NDArray[np.intp] = np.unique(self.bones[[*limb[:3], limb[4]]])
        return result

    def poses(self, originals: Floats) -> Floats:
        """Return the poses (frames, controls, 4, 4) of the controls for which the game bones are at ``originals``
        (frames, bones, 4, 4).

        Solved bones get the pose they should be solved to; poles and look-at controls do not rotate.
        """
        own = self.bones >= 0
        offsets = affine.inverse(self.rest[self.references]) @ self.rest
        result = np.broadcast_to(self.rest, (len(originals), *self.rest.shape)).copy()
        result[:, own] = originals[:, self.bones[own]] @ offsets[own]
        upper, lower, _, pole, tip = self.limbs.T
        poles = np.broadcast_to(self.rest[pole], (len(originals), len(pole), 4, 4)).copy()
        poles[..., :3, 3] = self._poles(result[:, upper], result[:, lower], result[:, tip])
        result[:, pole] = poles
        for aim, look in self.looks.tolist():
            distance = np.linalg.norm(self.rest[look, :3, 3] - self.rest[aim, :3, 3])
            result[:, look] = self.rest[look]
            result[:, look, :3, 3] = result[:, aim, :3, 3] + distance * result[:, aim, :3, 1]
        return result

    def _poles(self, upper: Floats, lower: Floats, tip: Floats) -> Floats:
        """(frames, limbs, 3): poles, in front of the joint in the plane perpendicular to the upper bone's z axis."""
        joint, pole = self.limbs[:, 1], self.limbs[:, 3]
        distances = np.linalg.norm(self.rest[pole, :3, 3] - self.rest[joint, :3, 3], axis=-1)
        along = tip[..., :3, 3] - upper[..., :3, 3]
        out = np.cross(along, upper[..., :3, 2])
        length = np.linalg.norm(out, axis=-1, keepdims=True)
        # If the limb's end is at its start, or along the upper bone's z axis, use the upper bone's x axis.
        out = np.where(length > 1e-9, out / np.where(length > 1e-9, length, 1.0), upper[..., :3, 0])
        result: Floats = lower[..., :3, 3] + out * distances[:, None]
        return result

    def channels(self, poses: Floats) -> tuple[Floats, Floats]:
        """Return the quaternions (controls, frames, 4) and locations (controls, frames, 3) that put the controls at
        ``poses`` (frames, controls, 4, 4).

        Blender rounds rest matrices, so they are not exact rotations. Each control is therefore posed relative to the
        pose its parent really gets, so that errors do not add up. Constraints are not evaluated.
        """
        basis = np.broadcast_to(np.eye(4), poses.shape).copy()
        back = np.empty_like(basis)  # inverse poses of the controls
        above, offsets = self._posed_ancestors
        backwards = affine.inverse(offsets)
        for rows in self._levels:
            from_parents = np.where((above[rows] < 0)[:, None, None], np.eye(4), back[:, np.maximum(above[rows], 0)])
            to_rest = backwards[rows] @ from_parents
            posed = affine.rigid(to_rest @ poses[:, rows])
            basis[:, rows] = posed
            back[:, rows] = affine.inverse(posed) @ to_rest
        return _channels(basis)

    def channels_of(self, rows: NDArray[np.intp], poses: Floats, evaluated: Floats) -> tuple[Floats, Floats]:
        """Return the `channels` of the controls ``rows`` alone, given all ``evaluated`` poses (frames, controls,
        4, 4).
        """
        parents = self.parents[rows]
        above = np.where((parents < 0)[:, None, None], np.eye(4), evaluated[:, np.maximum(parents, 0)])
        return _channels(affine.rigid(affine.inverse(above @ self._from_parents[rows]) @ poses[:, rows]))

    @cached_property
    def _from_parents(self) -> Floats:
        """(controls, 4, 4): rest poses relative to the parent's rest pose."""
        above = np.where((self.parents < 0)[:, None, None], np.eye(4), self.rest[np.maximum(self.parents, 0)])
        result: Floats = affine.inverse(above) @ self.rest
        return result

    @cached_property
    def _posed(self) -> NDArray[np.bool_]:
        """(controls,): which controls get keys that may differ from their rest pose."""
        return np.array([role in KEYED - NEUTRAL for role in self.roles])

    @cached_property
    def _posed_ancestors(self) -> tuple[NDArray[np.intp], Floats]:
        """(controls,): the nearest ancestor that is posed, -1 for none; and (controls, 4, 4): rest poses relative to
        it.

        The controls between the two stay in their rest pose.
        """
        above, offsets = np.full(len(self.roles), -1, np.intp), self._from_parents.copy()
        for row in parents_first(self.parents):
            parent = self.parents[row]
            if parent >= 0 and self._posed[parent]:
                above[row] = parent
            elif parent >= 0:
                above[row] = above[parent]
                offsets[row] = offsets[parent] @ offsets[row]
        return above, offsets

    @cached_property
    def _levels(self) -> list[NDArray[np.intp]]:
        """The posed controls, grouped by their number of posed ancestors."""
        above = self._posed_ancestors[0]
        depth = np.zeros(len(self.roles), np.intp)
        for row in parents_first(self.parents):
            if above[row] >= 0:
                depth[row] = depth[above[row]] + 1
        posed = np.where(self._posed, depth, -1)
        return [np.flatnonzero(posed == level) for level in range(int(posed.max(initial=-1)) + 1)]


def _channels(basis: Floats) -> tuple[Floats, Floats]:
    """Return quaternions (rows, frames, 4) and locations (rows, frames, 3) of matrices (frames, rows, 4, 4)."""
    basis = basis.swapaxes(0, 1)
    turned = rotation.continuous(rotation.from_matrices(basis[..., :3, :3]))
    return turned, np.ascontiguousarray(basis[..., :3, 3])


# Comparison with the baseline ----------------------------------------------------------------------------------------

LOCATION_TOLERANCE = 2e-5
"""Metres; a sampled location that is at most this far from its baseline is unedited."""
ROTATION_TOLERANCE = 5e-5
"""Radians; a sampled rotation that is at most this far from its baseline is unedited."""


def unedited_rotations(rotations: Floats, base: Floats) -> NDArray[np.bool_]:
    """(bones, frames): where sampled unit quaternions (bones, frames, 4) equal the baseline (`ROTATION_TOLERANCE`)."""
    alike: NDArray[np.bool_] = rotation.angles_between(rotations, base) <= ROTATION_TOLERANCE
    return alike


def unedited_locations(locations: Floats, base: Floats) -> NDArray[np.bool_]:
    """(bones, frames): where sampled locations (bones, frames, 3) equal the baseline, within `LOCATION_TOLERANCE`."""
    near: NDArray[np.bool_] = np.linalg.norm(locations - base, axis=-1) <= LOCATION_TOLERANCE
    return near
