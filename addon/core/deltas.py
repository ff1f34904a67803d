"""Model-space deltas and what an animator edits: location, rotation and scale of each bone in its parent.

With a bone's rest pose R and its parent's delta P, the delta M is ``P @ R @ basis @ inv(R)``: the basis is what keys
hold, and any rest pose gives the same deltas back. Keys cannot hold shear: `channels` works from parents to children
with what the parents' keys really give, so that a bone is off by its own shear and not by that of all its ancestors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import rotation
from .model import parents_first

Floats = NDArray[np.float64]

FLAT = 0.05
"""Below this volume of unit columns the iteration is slow and singular values are asked; 1 is a rotation's."""
LARGEST_NOISE = 0.01
"""By how much the scales of a bone may differ and nobody meant it."""
_STEPS = 12
_broken_files = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""Numbers beyond reason are no reason to fail: what comes of them is not finite and is told where it is used."""
_SETTLED = 1e-13


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
    linear = matrices[..., :3, :3]
    lengths = np.linalg.norm(linear, axis=-2)
    directions = linear / np.where(lengths > 0, lengths, 1.0)[..., None, :]
    turns = _nearest_rotations(directions)
    scales = np.einsum("...ij,...ij->...j", turns, linear)
    shear = np.abs(linear - turns * scales[..., None, :]).max(axis=(-1, -2), initial=0.0)
    return Decomposition(matrices[..., :3, 3], rotation.from_matrices(turns), scales, shear)


def compose(locations: Floats, rotations: Floats, scales: Floats) -> Floats:
    """(..., 4, 4) matrices that scale, turn by unit quaternions, then move."""
    result = rotation.transforms(rotations, locations)
    result[..., :3, :3] *= scales[..., None, :]
    return result


def _nearest_rotations(directions: Floats) -> Floats:
    """The rotations (..., 3, 3) nearest to matrices of unit columns, or to their opposites where they reflect.

    Newton's iteration towards the orthogonal factor; matrices that are nearly flat go through singular values.
    """
    _, volume = _cofactors(directions)
    result = np.where(volume < 0, -1.0, 1.0)[..., None, None] * directions
    flat = ~(np.abs(volume) > FLAT)
    result[flat] = np.eye(3)
    for _ in range(_STEPS):
        better = (result + _inverse_transposed(result)) / 2
        moved = np.abs(better - result).max(initial=0.0)
        result = better
        if moved < _SETTLED:
            break
    if flat.any():
        left, _, right = np.linalg.svd(directions[flat])
        sign = np.linalg.det(left @ right)
        left[..., 2] *= np.where(sign < 0, -1.0, 1.0)[..., None]
        result[flat] = left @ right
    return result


def _cofactors(m: Floats) -> tuple[Floats, Floats]:
    """Cofactors (..., 3, 3) and determinants (...)."""
    result = np.empty_like(m)
    for row in range(3):
        one, other = (row + 1) % 3, (row + 2) % 3
        for column in range(3):
            left, right = (column + 1) % 3, (column + 2) % 3
            result[..., row, column] = (
                m[..., one, left] * m[..., other, right] - m[..., one, right] * m[..., other, left]
            )
    volume = m[..., 0, 0] * result[..., 0, 0] + m[..., 0, 1] * result[..., 0, 1] + m[..., 0, 2] * result[..., 0, 2]
    return result, volume


def _inverse_transposed(matrices: Floats) -> Floats:
    cofactors, volume = _cofactors(matrices)
    result: Floats = cofactors / volume[..., None, None]
    return result


@_broken_files
def inverse(matrices: Floats) -> Floats:
    """Inverses of affine (..., 4, 4); of one that has lost a dimension or is not finite, that of the identity."""
    volume = np.abs(_cofactors(matrices[..., :3, :3])[1])
    usable = (volume > np.finfo(np.float64).tiny) & (volume < np.inf)
    safe = np.where(usable[..., None, None], matrices, np.eye(4))
    result = np.zeros_like(safe)
    turned = np.swapaxes(_inverse_transposed(safe[..., :3, :3]), -1, -2)
    result[..., :3, :3] = turned
    result[..., :3, 3] = -np.einsum("...ij,...j->...i", turned, safe[..., :3, 3])
    result[..., 3, 3] = 1.0
    return result


@dataclass
class DeltaChannels:
    """What keys hold, for each bone and frame: ``locations`` (bones, frames, 3), ``rotations`` (bones, frames, 4)
    wxyz, sign-continuous along the frames, ``scales`` (bones, frames, 3), in the bone's own rest axes.

    ``shown`` (bones, frames, 4, 4) deltas that these channels give; ``shear`` (bones, frames) what of the basis the
    channels cannot hold (largest element); ``unusable`` (bones, frames) where the delta was not finite and the bone
    follows its parent instead.
    """

    locations: Floats
    rotations: Floats
    scales: Floats
    shown: Floats
    shear: Floats
    unusable: NDArray[np.bool_]


@_broken_files
def channels(
    deltas: Floats, rests: Floats, parents: Sequence[int] | NDArray[np.int32], animated: NDArray[np.bool_] | None = None
) -> DeltaChannels:
    """The channels of deltas (bones, frames, 4, 4) on bones with rest poses (bones, 4, 4) in armature space.

    ``parents`` (bones,) index or -1. Bones that are not ``animated`` (bones,) follow their parent; their rows of
    ``deltas`` are not read. Raises `ValueError` where parents form a ring.
    """
    count, frames = deltas.shape[:2]
    usable: NDArray[np.bool_] = np.all(np.isfinite(deltas), axis=(-1, -2))
    shown = np.empty((count, frames, 4, 4))
    basis = np.empty_like(shown)
    found = DeltaChannels(
        np.zeros((count, frames, 3)),
        np.broadcast_to(rotation.IDENTITY, (count, frames, 4)).copy(),
        np.ones((count, frames, 3)),
        shown,
        np.zeros((count, frames)),
        ~usable,
    )
    if animated is not None:
        found.unusable[~animated] = False
    backwards = inverse(rests)
    above_others = set(np.asarray(parents).tolist())
    for bone in parents_first(parents):
        parent = parents[bone]
        above = shown[parent] if parent >= 0 else np.broadcast_to(np.eye(4), (frames, 4, 4))
        if animated is not None and not animated[bone]:
            shown[bone] = above
            continue
        wanted = np.where(usable[bone][:, None, None], deltas[bone], above)
        basis[bone] = backwards[bone] @ inverse(above) @ wanted @ rests[bone]
        parts = decompose(basis[bone])
        if bone in above_others:
            _even_out(parts, basis[bone])
        found.locations[bone], found.scales[bone], found.shear[bone] = parts.locations, parts.scales, parts.shear
        found.rotations[bone] = rotation.continuous(parts.rotations)
        kept = compose(parts.locations, parts.rotations, parts.scales)
        shown[bone] = above @ rests[bone] @ kept @ backwards[bone]
    return found


def _even_out(parts: Decomposition, basis: Floats) -> None:
    """Make the scales of a bone (frames, 3) one number where they nearly are: what is left is the bone's own shear.

    Children inherit the scale, and one that stretches is a shear across it, which their keys could not take back.
    """
    means = parts.scales.mean(axis=-1, keepdims=True)
    if (np.abs(parts.scales - means) <= LARGEST_NOISE * np.abs(means)).all():
        parts.scales = np.broadcast_to(means, parts.scales.shape)
        kept = rotation.matrices(parts.rotations) * parts.scales[..., None, :]
        parts.shear = np.abs(basis[..., :3, :3] - kept).max(axis=(-1, -2), initial=0.0)


def deltas_of(channels: DeltaChannels, rests: Floats, parents: Sequence[int] | NDArray[np.int32]) -> Floats:
    """The deltas (bones, frames, 4, 4) that an armature shows for these channels."""
    bases = compose(channels.locations, channels.rotations, channels.scales)
    backwards = inverse(rests)
    result = np.empty_like(bases)
    for bone in parents_first(parents):
        own = rests[bone] @ bases[bone] @ backwards[bone]
        result[bone] = result[parents[bone]] @ own if parents[bone] >= 0 else own
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
    """The deltas whose `relative` ones these are. Raises `ValueError` where parents form a ring."""
    result = np.array(relatives, np.float64)
    for bone in parents_first(parents):
        if parents[bone] >= 0:
            result[bone] = result[parents[bone]] @ relatives[bone]
    return result
