"""Model-space deltas and what an animator edits: location, rotation and scale of each bone in its parent.

With a bone's rest pose R and its parent's delta P, the delta M is ``P @ R @ basis @ inv(R)``: the basis is what keys
hold, and any rest pose gives the same deltas back. Keys cannot hold shear: `channels` works from parents to children
with what the parents' keys really give, so that a bone is off by its own shear and not by that of all its ancestors.
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
"""Differences between the scales of a bone up to this are rounding, not an edit."""
_broken_files = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""Numbers beyond reason are no reason to fail: what comes of them is not finite and is told where it is used."""


@dataclass
class Decomposition:
    """``locations`` (..., 3), ``rotations`` (..., 4) wxyz with w >= 0, ``scales`` (..., 3); ``shear`` (...) is the
    largest element of what the three leave of the matrix.
    """

    locations: Floats
    rotations: Floats
    scales: Floats
    shear: Floats


@_broken_files
def decompose(matrices: Floats) -> Decomposition:
    """Matrices (..., 4, 4) as scale, then rotation, then location; the rotation nearest to the columns' directions.

    A reflection scales all three axes by a negative number. All elements must be finite.
    """
    shape = matrices.shape[:-2]
    parts = affine.components(matrices.reshape(-1, 4, 4))
    turns, scales = affine.turns_and_scales(parts[:, :3])
    return Decomposition(
        matrices[..., :3, 3],
        affine.quaternions(turns).T.reshape(*shape, 4),
        scales.T.reshape(*shape, 3),
        affine.largest_difference(parts[:, :3], turns * scales).reshape(shape),
    )


def compose(locations: Floats, rotations: Floats, scales: Floats) -> Floats:
    """(..., 4, 4) matrices that scale, turn by unit quaternions, then move."""
    result = rotation.transforms(rotations, locations)
    result[..., :3, :3] *= scales[..., None, :]
    return result


@_broken_files
def inverse(matrices: Floats) -> Floats:
    """Inverses of affine (..., 4, 4); of one that has lost a dimension or is not finite, that of the identity."""
    parts = affine.components(matrices.reshape(-1, 4, 4))
    backwards = affine.solved(parts, affine.constant(np.eye(4), parts.shape[-1]), np.eye(4))
    return affine.matrices(backwards).reshape(matrices.shape)


@dataclass
class DeltaChannels:
    """What keys hold, for each bone and frame: ``locations`` (bones, frames, 3), ``rotations`` (bones, frames, 4)
    wxyz, sign-continuous along the frames, ``scales`` (bones, frames, 3), in the bone's own rest axes.

    ``shear`` (bones, frames) what of the basis the channels cannot hold (largest element); ``unusable`` (bones, frames)
    where the delta was not finite and the bone follows its parent instead.
    """

    locations: Floats
    rotations: Floats
    scales: Floats
    shear: Floats
    unusable: NDArray[np.bool_]


@_broken_files
def channels(
    deltas: Floats,
    rests: Floats,
    parents: Sequence[int] | NDArray[np.int32],
    animated: NDArray[np.bool_] | None = None,
    rows: NDArray[np.intp] | None = None,
) -> DeltaChannels:
    """The channels of deltas (bones, frames, 4, 4) on bones with rest poses (bones, 4, 4) in armature space.

    ``parents`` (bones,) index or -1. Bones that are not ``animated`` (bones,) follow their parent; their deltas do not
    count. ``rows`` (bones,) which row of ``deltas`` each bone has, where they are in another order. Raises `ValueError`
    where parents form a cycle.

    With the pose Q of a bone, its delta times its rest pose, ``Q = Q of the parent @ link @ basis``: all bones of one
    depth at once, in blocks.
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
    for bones, bear in tree.blocks(frames):
        frame = tree.frames_of(bones, poses)
        pose = affine.product_with_constant(affine.components(deltas[row_of[bones]]), rests[bones])
        basis = affine.solved(frame, pose, rests[bones])
        if not usable[bones].all():
            basis = np.where(usable[bones][:, None, None], basis, affine.constant(np.eye(4), frames))
        linear, locations[bones] = basis[:, :, :3], basis[:, :, 3]
        turns, sizes = affine.turns_and_scales(linear)
        if bear:
            _even_out(sizes)
        kept = turns * sizes[:, None]
        shear[bones] = affine.largest_difference(linear, kept)
        scales[bones], rotations[bones] = sizes, _continuous(affine.quaternions(turns))
        if bear:
            poses[bones] = affine.product(frame, affine.composed(kept, basis[:, :, 3]))
    return DeltaChannels(
        locations.transpose(0, 2, 1), rotations.transpose(0, 2, 1), scales.transpose(0, 2, 1), shear, unusable
    )


@dataclass
class _Tree:
    """Bones by depth. ``links`` (bones, 4, 4) what leads from the parent's rest pose to the bone's."""

    rests: Floats
    parents: NDArray[np.int32]
    links: Floats
    generations: list[tuple[NDArray[np.intp], bool]]
    """Bones of one depth, parents before children, and whether these are the ones that have children."""

    @staticmethod
    def of(rests: Floats, parents: Sequence[int] | NDArray[np.int32]) -> _Tree:
        above = np.asarray(parents, np.int32)
        depths = np.zeros(len(above), np.intp)
        for bone in parents_first(above):
            if above[bone] >= 0:
                depths[bone] = depths[above[bone]] + 1
        bears = np.zeros(len(above), np.bool_)
        bears[above[above >= 0]] = True
        groups = (
            (np.flatnonzero((depths == depth) & (bears == bear)), bear)
            for depth in range(int(depths.max(initial=-1)) + 1)
            for bear in (True, False)
        )
        links = np.where((above >= 0)[:, None, None], inverse(rests)[np.maximum(above, 0)] @ rests, rests)
        return _Tree(rests, above, links, [group for group in groups if len(group[0])])

    def blocks(self, frames: int) -> Iterator[tuple[NDArray[np.intp], bool]]:
        """The generations in pieces that are best worked on at a time."""
        size = max(affine.BLOCK // max(frames, 1), 1)
        for bones, bear in self.generations:
            for start in range(0, len(bones), size):
                yield bones[start : start + size], bear

    def frames_of(self, bones: NDArray[np.intp], poses: Floats) -> Floats:
        """Components (bones, 3, 4, frames) of where ``bones`` of one depth stand without channels of their own."""
        above = self.parents[bones]
        if above[0] < 0:
            return affine.constant(self.rests[bones], poses.shape[-1])
        return affine.product_with_constant(poses[above], self.links[bones])


def _even_out(scales: Floats) -> None:
    """Make the scales (bones, 3, frames) of each bone one number where they nearly are: the rest is its own shear.

    Children inherit the scale, and one that stretches is a shear across it, which their keys could not take back.
    """
    means = scales.mean(axis=1, keepdims=True)
    even = (np.abs(scales - means) <= LARGEST_NOISE * np.abs(means)).all(axis=(1, 2))
    scales[even] = means[even]


def _continuous(quaternions: Floats) -> Floats:
    """The `rotation.continuous` of quaternions (bones, 4, frames)."""
    dots = np.einsum("bif,bif->bf", quaternions[..., 1:], quaternions[..., :-1])
    if (dots < 0).any():
        quaternions[..., 1:] *= np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=-1)[:, None]
    return quaternions


def deltas_of(channels: DeltaChannels, rests: Floats, parents: Sequence[int] | NDArray[np.int32]) -> Floats:
    """The deltas (bones, frames, 4, 4) that an armature shows for these channels."""
    locations, rotations, scales = (
        rows.transpose(0, 2, 1) for rows in (channels.locations, channels.rotations, channels.scales)
    )
    tree = _Tree.of(rests, parents)
    backwards = inverse(rests)
    poses = np.empty((len(rests), 3, 4, locations.shape[-1]))
    result = np.zeros((len(rests), locations.shape[-1], 4, 4))
    result[..., 3, 3] = 1.0
    for bones, _ in tree.blocks(locations.shape[-1]):
        linear = affine.turns_of(rotations[bones]) * scales[bones][:, None]
        poses[bones] = affine.product(tree.frames_of(bones, poses), affine.composed(linear, locations[bones]))
        result[bones, :, :3] = np.moveaxis(affine.product_with_constant(poses[bones], backwards[bones]), -1, 1)
    return result


@_broken_files
def relative(deltas: Floats, parents: Sequence[int] | NDArray[np.int32]) -> Floats:
    """Each delta (bones, ...) relative to its parent's: ``inv(parent) @ delta``; a parentless one as it is."""
    result = np.array(deltas, np.float64)
    rows: NDArray[Any] = np.flatnonzero(np.asarray(parents) >= 0)
    result[rows] = inverse(deltas[np.asarray(parents)[rows]]) @ deltas[rows]
    return result


@_broken_files
def absolute(relatives: Floats, parents: Sequence[int] | NDArray[np.int32]) -> Floats:
    """The deltas whose `relative` ones these are. Raises `ValueError` where parents form a cycle."""
    result = np.array(relatives, np.float64)
    for bone in parents_first(parents):
        if parents[bone] >= 0:
            result[bone] = result[parents[bone]] @ relatives[bone]
    return result


def needed_keys(
    points: Floats, times: NDArray[Any], required: NDArray[np.bool_], tolerance: float
) -> NDArray[np.bool_]:
    """(frames,) the ``required`` keys, the first and the last, and those that ``tolerance`` asks for besides.

    ``points`` (points, frames, 3) at rising ``times`` (frames,). Where a point is further than that from the line
    between its places on the neighbouring keys, the frame where one is furthest becomes a key, again and again.
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
        # Only gaps that were split are looked at again.
        split = np.isin(after, after[worst])
        open_frames = open_frames[split & ~chosen[open_frames]]
    return chosen
