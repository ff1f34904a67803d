"""Conversion between deltas (matrices that move the rest model) and what an animator edits: location, rotation and
scale of each bone relative to its parent.

With a bone's rest pose R and its parent's delta P, the bone's delta M is ``P @ R @ basis @ inv(R)``. Keys store the
basis; with any rest pose they convert back to the same deltas. Keys cannot hold shear: `channels` therefore works from
parents to children with the pose that the parents' keys really give, so that the error of a bone is its own shear and
not that of all its ancestors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import affine, rotation
from .model import parents_first

Floats = NDArray[np.float64]

LARGEST_NOISE = 0.01
"""Relative differences between the three scales of a bone up to this are rounding, not an edit."""
_ignore_overflow = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""Arithmetic on extreme values of broken files must not fail: the results are not finite and are reported where they
are used.
"""


@dataclass
class Decomposition:
    """Matrices as ``locations`` (..., 3), ``rotations`` (..., 4) wxyz with w >= 0, and ``scales`` (..., 3).

    ``shear`` (...): the largest element of the difference between the matrix and these three.
    """

    locations: Floats
    rotations: Floats
    scales: Floats
    shear: Floats


@_ignore_overflow
def decompose(matrices: Floats) -> Decomposition:
    """Decompose matrices (..., 4, 4) into scale, then rotation, then location. The rotation is the one nearest to the
    directions of the columns.

    A reflection gives a negative scale on all three axes. All elements must be finite.
    """
    shape = matrices.shape[:-2]
    parts = affine.components(matrices.reshape(-1, 4, 4))
    rotations, scales = affine.rotations_and_scales(parts[:, :3])
    return Decomposition(
        matrices[..., :3, 3],
        affine.quaternions(rotations).T.reshape(*shape, 4),
        scales.T.reshape(*shape, 3),
        affine.largest_difference(parts[:, :3], rotations * scales).reshape(shape),
    )


def compose(locations: Floats, rotations: Floats, scales: Floats) -> Floats:
    """Return matrices (..., 4, 4) that scale, then rotate by unit quaternions, then translate."""
    result = rotation.transforms(rotations, locations)
    result[..., :3, :3] *= scales[..., None, :]
    return result


@_ignore_overflow
def inverse(matrices: Floats) -> Floats:
    """Return the inverses of affine matrices (..., 4, 4); the identity for matrices that are singular or not finite."""
    parts = affine.components(matrices.reshape(-1, 4, 4))
    backwards = affine.solved(parts, affine.constant(np.eye(4), parts.shape[-1]), np.eye(4))
    return affine.matrices(backwards).reshape(matrices.shape)


@dataclass
class DeltaChannels:
    """Channels of keys, in each bone's own rest axes: ``locations`` (bones, frames, 3), ``rotations`` (bones, frames,
    4) wxyz, sign-continuous along the frames, and ``scales`` (bones, frames, 3).

    ``shear`` (bones, frames): largest element of the part of the basis that the channels cannot hold; ``unusable``
    (bones, frames): where the delta was not finite and the bone follows its parent instead.
    """

    locations: Floats
    rotations: Floats
    scales: Floats
    shear: Floats
    unusable: NDArray[np.bool_]


@_ignore_overflow
def channels(
    deltas: Floats,
    rests: Floats,
    parents: Sequence[int] | NDArray[np.int32],
    animated: NDArray[np.bool_] | None = None,
    rows: NDArray[np.intp] | None = None,
) -> DeltaChannels:
    """Return the channels of deltas (bones, frames, 4, 4) for bones with rest poses (bones, 4, 4) in armature space.

    ``parents`` (bones,): index or -1. Bones that are not ``animated`` (bones,) follow their parent, and their deltas
    are ignored. ``rows`` (bones,): the row of ``deltas`` of each bone, if these have another order. Raises `ValueError`
    if the parents form a cycle.

    The pose Q of a bone is its delta times its rest pose, and ``Q = parent's Q @ link @ basis``. Bones at the same
    depth of the hierarchy are processed together, in blocks.
    """
    count, frames = len(rests), deltas.shape[1]
    row_of = np.arange(count) if rows is None else rows
    usable: NDArray[np.bool_] = np.all(np.isfinite(deltas), axis=(-1, -2))[row_of]
    unusable = ~usable
    if animated is not None:
        usable[~animated], unusable[~animated] = False, False
    locations, scales = np.empty((2, count, 3, frames))
    rotations = np.empty((count, 4, frames))
    shear = np.empty((count, frames))
    tree = _Tree.of(rests, parents)
    poses = np.empty((count, 3, 4, frames))
    for bones, have_children in tree.blocks(frames):
        frame = tree.frames_of(bones, poses)
        pose = affine.product_with_constant(affine.components(deltas[row_of[bones]]), rests[bones])
        basis = affine.solved(frame, pose, rests[bones])
        if not usable[bones].all():
            basis = np.where(usable[bones][:, None, None], basis, affine.constant(np.eye(4), frames))
        linear, locations[bones] = basis[:, :, :3], basis[:, :, 3]
        own_rotations, sizes = affine.rotations_and_scales(linear)
        if have_children:
            _equalise_scales(sizes)
        kept = own_rotations * sizes[:, None]
        shear[bones] = affine.largest_difference(linear, kept)
        scales[bones], rotations[bones] = sizes, _continuous(affine.quaternions(own_rotations))
        if have_children:
            poses[bones] = affine.product(frame, affine.composed(kept, basis[:, :, 3]))
    return DeltaChannels(
        locations.transpose(0, 2, 1), rotations.transpose(0, 2, 1), scales.transpose(0, 2, 1), shear, unusable
    )


@dataclass
class _Tree:
    """Bones grouped by depth. ``links`` (bones, 4, 4): rest poses relative to the parent's."""

    rests: Floats
    parents: NDArray[np.int32]
    links: Floats
    generations: list[tuple[NDArray[np.intp], bool]]
    """Bones at one depth, and whether they have children; parents before children."""

    @staticmethod
    def of(rests: Floats, parents: Sequence[int] | NDArray[np.int32]) -> _Tree:
        above = np.asarray(parents, np.int32)
        depths = np.zeros(len(above), np.intp)
        for bone in parents_first(above):
            if above[bone] >= 0:
                depths[bone] = depths[above[bone]] + 1
        has_children = np.zeros(len(above), np.bool_)
        has_children[above[above >= 0]] = True
        groups = (
            (np.flatnonzero((depths == depth) & (has_children == have_children)), have_children)
            for depth in range(int(depths.max(initial=-1)) + 1)
            for have_children in (True, False)
        )
        links = np.where((above >= 0)[:, None, None], inverse(rests)[np.maximum(above, 0)] @ rests, rests)
        return _Tree(rests, above, links, [group for group in groups if len(group[0])])

    def blocks(self, frames: int) -> Iterator[tuple[NDArray[np.intp], bool]]:
        """Yield the generations in blocks of a size that is fast to process."""
        size = max(affine.BLOCK // max(frames, 1), 1)
        for bones, have_children in self.generations:
            for start in range(0, len(bones), size):
                yield bones[start : start + size], have_children

    def frames_of(self, bones: NDArray[np.intp], poses: Floats) -> Floats:
        """Return the poses of ``bones`` at one depth without channels of their own, as components (bones, 3, 4,
        frames).
        """
        above = self.parents[bones]
        if above[0] < 0:
            return affine.constant(self.rests[bones], poses.shape[-1])
        return affine.product_with_constant(poses[above], self.links[bones])


def _equalise_scales(scales: Floats) -> None:
    """Replace the three scales (bones, 3, frames) of a bone by their mean if they are nearly equal in all frames. The
    remainder counts as the bone's shear.

    Children inherit the scale, and a non-uniform one would shear them in a way that their keys could not undo.
    """
    means = scales.mean(axis=1, keepdims=True)
    even = (np.abs(scales - means) <= LARGEST_NOISE * np.abs(means)).all(axis=(1, 2))
    scales[even] = means[even]


def _continuous(quaternions: Floats) -> Floats:
    """Return quaternions (bones, 4, frames) made sign-continuous, as by `rotation.continuous`."""
    dots = np.einsum("bif,bif->bf", quaternions[..., 1:], quaternions[..., :-1])
    if (dots < 0).any():
        quaternions[..., 1:] *= np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=-1)[:, None]
    return quaternions


def deltas_of(channels: DeltaChannels, rests: Floats, parents: Sequence[int] | NDArray[np.int32]) -> Floats:
    """Return the deltas (bones, frames, 4, 4) that an armature shows for these channels."""
    locations, rotations, scales = (
        rows.transpose(0, 2, 1) for rows in (channels.locations, channels.rotations, channels.scales)
    )
    tree = _Tree.of(rests, parents)
    backwards = inverse(rests)
    poses = np.empty((len(rests), 3, 4, locations.shape[-1]))
    result = np.zeros((len(rests), locations.shape[-1], 4, 4))
    result[..., 3, 3] = 1.0
    for bones, _ in tree.blocks(locations.shape[-1]):
        linear = affine.rotation_matrices(rotations[bones]) * scales[bones][:, None]
        poses[bones] = affine.product(tree.frames_of(bones, poses), affine.composed(linear, locations[bones]))
        result[bones, :, :3] = np.moveaxis(affine.product_with_constant(poses[bones], backwards[bones]), -1, 1)
    return result


@_ignore_overflow
def relative(deltas: Floats, parents: Sequence[int] | NDArray[np.int32]) -> Floats:
    """Return each delta (bones, ...) relative to its parent's, ``inv(parent) @ delta``; those of bones without parent
    unchanged.
    """
    result = np.array(deltas, np.float64)
    rows: NDArray[Any] = np.flatnonzero(np.asarray(parents) >= 0)
    result[rows] = inverse(deltas[np.asarray(parents)[rows]]) @ deltas[rows]
    return result


def needed_keys(
    points: Floats, times: NDArray[Any], required: NDArray[np.bool_], tolerance: float
) -> NDArray[np.bool_]:
    """(frames,): the ``required`` keys, the first and the last frame, and further keys needed to keep ``tolerance``.

    ``points`` (points, frames, 3) at rising ``times`` (frames,). In each gap between keys, the frame with the largest
    distance of a point from linear interpolation becomes a key, until all are within the tolerance.
    """
    chosen = required.copy()
    chosen[[0, -1]] = True
    at = np.asarray(times, np.float64)
    open_frames = np.flatnonzero(~chosen)
    while len(open_frames):
        keys = np.flatnonzero(chosen)
        after = np.searchsorted(keys, open_frames)
        left, right = keys[after - 1], keys[after]
        share = ((at[open_frames] - at[left]) / (at[right] - at[left]))[:, None]
        line = (1.0 - share) * points[:, left] + share * points[:, right]
        error = np.linalg.norm(points[:, open_frames] - line, axis=-1).max(axis=0, initial=0.0)
        worst_first = np.lexsort((-error, after))
        _, first = np.unique(after[worst_first], return_index=True)
        worst = worst_first[first]
        worst = worst[error[worst] > tolerance]
        chosen[open_frames[worst]] = True
        # Only gaps that got a new key are checked again.
        split = np.isin(after, after[worst])
        open_frames = open_frames[split & ~chosen[open_frames]]
    return chosen
