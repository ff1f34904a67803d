"""Motions of one skeleton on another: any rest pose, bone axes, proportions and units.

For a target bone t that follows a source bone s, with R rotations (3, 3) in each skeleton's own space, index 0 at rest:

    R_t(f) = C · R_s(f) · R_s0⁻¹ · C⁻¹ · A_t · R_t0

C takes the source's axes to the target's (the way both face), and A_t turns the target's rest pose into the pose of the
source's rest pose, bone by bone. Neither a bone's axes nor missing or additional bones between play a part. Positions
follow from the root: bones of the target keep their lengths, and the point midway between its hip joints is where that
of the source is, scaled by the length of the legs.

Where a foot stands in the source, it is held in place: its ankle (or, on tiptoe, its toe) gets the mean position of the
time it stands, and the leg is solved towards it in the plane in which the knee bends already.

Positions of the source are in any unit; those of the target and of the results in metres. `p' = M p`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from . import affine, rotation
from .bone_map import ARM, LEG, SIDES, Link, Rig
from .control_parts import followers_of
from .errors import ReadError
from .limb_goals import Body, hold_feet, hold_hands
from .rest_alignment import UP, Pair, alignments, turning
from .rig_names import FOOT, HIPS, THIGH, UPPER_ARM

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

GROUNDED = (-0.05, 0.35)
"""Height of the ankles at rest as a share of the leg's length, from which the floor is at height 0."""


class RootMotion(Enum):
    """What becomes of the way that the body travels."""

    KEPT = "kept"
    IN_PLACE = "in place"
    """The straight line from the first to the last position is taken out, and the motion begins at the rest position.
    """


@dataclass(frozen=True)
class Retargeted:
    """``poses`` (frames, bones, 4, 4) of the target; ``travel`` (3,): metres from the first to the last position of the
    body, whether it was taken out or not; ``scale``: metres of the target per unit of the source; ``stands``
    (2, frames): where the left and the right foot stand in the source; ``lowered``: largest distance in metres that the
    body was lowered for legs that were too short.
    """

    poses: Floats
    travel: Floats
    scale: float
    stands: Bools
    lowered: float


def resampled(poses: Floats, times: Floats, wanted: Floats) -> Floats:
    """Return poses (wanted, bones, 4, 4) between poses (times, bones, 4, 4) of rising ``times``: rotations on the
    sphere, positions on lines. Before and after, the first and last pose.
    """
    if len(times) == len(wanted) and np.abs(times - wanted).max() <= 1e-7:
        return poses
    after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
    if len(times) == 1:
        return np.repeat(poses, len(wanted), axis=0)
    before = after - 1
    share = np.clip((wanted - times[before]) / (times[after] - times[before]), 0.0, 1.0)
    turned = rotation.from_matrices(poses[..., :3, :3])
    result = np.zeros((len(wanted), *poses.shape[1:]))
    result[..., :3, :3] = rotation.matrices(_between(turned[before], turned[after], share[:, None]))
    ends = poses[before][..., :3, 3], poses[after][..., :3, 3]
    result[..., :3, 3] = ends[0] + (ends[1] - ends[0]) * share[:, None, None]
    result[..., 3, 3] = 1.0
    return result


def _between(a: Floats, b: Floats, share: Floats | float) -> Floats:
    """Return the rotations at ``share`` of the shortest way from unit quaternions ``a`` to ``b``."""
    dots = np.einsum("...i,...i->...", a, b)
    b = np.where(dots[..., None] < 0, -b, b)
    # The angle from the chord is precise for small angles, unlike the arc cosine.
    chord = np.linalg.norm(b - a, axis=-1)
    angle = 2.0 * np.arcsin(np.minimum(chord / 2, 1.0))
    small = angle < 1e-9
    sine = np.where(small, 1.0, np.sin(angle))
    first = np.where(small, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
    second = np.where(small, share, np.sin(share * angle) / sine)
    return rotation.normalised(a * first[..., None] + b * second[..., None])


def retarget(
    source: Rig,
    poses: Floats,
    target: Rig,
    links: Sequence[Link],
    *,
    root: RootMotion = RootMotion.KEPT,
    feet: bool = True,
) -> Retargeted:
    """Return the poses of ``target`` for ``poses`` (frames, bones, 4, 4) of ``source`` at `FRAMES_PER_SECOND`.

    ``feet``: hold feet where they stand in the source, keep hands that touch together, and lower the body if a leg is
    too short. Raises `ReadError` if no bone is linked, or if bones of a limb are opposite at rest.
    """
    if not links:
        raise ReadError("no bone of the source was recognised", remedy="Fill in the bone map")
    if not any(link.role == HIPS for link in links):
        poses = _about_chest(source, poses, links)
    pair = Pair(source, target, links, poses[0])
    body = Body(pair, *_rotations(pair, poses), _offsets(pair, poses))
    body.walk()
    wanted, ankles = _anchors(pair, poses)
    travel = wanted[-1] - wanted[0]
    if root is RootMotion.IN_PLACE:
        line = (np.linspace(0.0, 1.0, len(poses))[:, None] * travel + wanted[0]) * [1.0, 1.0, 0.0]
        own = target.heads[[link.target for link in pair.both_sides(THIGH)]]
        start = own.mean(axis=0) * [1.0, 1.0, 0.0] if len(own) else np.zeros(3)
        wanted, ankles = wanted - line + start, ankles - line[None] + start
    body.moved += wanted - body.middle()
    body.walk()
    stands, lowered = np.zeros((2, len(poses)), np.bool_), 0.0
    if feet:
        stands, lowered = hold_feet(pair, poses, body, ankles)
        hold_hands(pair, poses, body)
    _twist(pair, body)
    return Retargeted(body.matrices(), travel, pair.scale, stands, lowered)


def _about_chest(source: Rig, poses: Floats, links: Sequence[Link]) -> Floats:
    """Return the poses of a source whose chest stays at rest, for a target that has arms alone."""
    arms = [link.source for link in links if link.role in {UPPER_ARM + suffix for suffix in SIDES.values()}]
    common = [bone for bone in source.line(arms[0]) if all(bone in source.line(arm) for arm in arms)] if arms else []
    if not common:
        return poses
    still: Floats = source.rest[common[0]] @ affine.inverse(poses[:, common[0]])[:, None] @ poses
    return still


def _rotations(pair: Pair, poses: Floats) -> tuple[Floats, Bools]:
    """Return the rotations (frames, bones, 3, 3) of the target's bones, and (bones,) which of them have a link."""
    source, target = pair.source, pair.target
    back = source.rest[:, :3, :3].swapaxes(1, 2)
    aligned = alignments(pair)
    turned = np.empty((len(poses), len(target.names), 3, 3))
    is_linked = np.zeros(len(target.names), np.bool_)
    for link, bone, alignment in zip(pair.links, pair.turned_by, aligned, strict=True):
        change = poses[:, bone, :3, :3] @ back[bone]
        following = pair.next_joint(link) if bone != link.source else None
        if following is not None:
            # A roll bone beside the line between both joints moves the second one when it turns.
            line = poses[:, following.source, :3, 3] - poses[:, link.source, :3, 3]
            change = turning(change @ (source.heads[following.source] - source.heads[link.source]), line) @ change
        if link.other >= 0:
            other = poses[:, link.other, :3, :3] @ back[link.other]
            ends = [rotation.from_matrices(each) for each in (change, other)]
            change = rotation.matrices(_between(ends[0], ends[1], link.share))
        turned[:, link.target] = pair.axes @ change @ (pair.axes.T @ alignment @ target.rest[link.target, :3, :3])
        is_linked[link.target] = True
    return turned, is_linked


def _offsets(pair: Pair, poses: Floats) -> Floats:
    """Return (frames or 1, bones, 3): each head in the axes of the parent's rest pose, in those of the model without
    parent.

    If both skeletons have the same axes, bones move out of their place as those of the source do.
    """
    source, target = pair.source, pair.target
    above = target.parents
    rest = np.where((above < 0)[:, None], target.heads, target.heads - target.heads[above])[None]
    if not pair.same_axes:
        return rest
    result = np.repeat(rest, len(poses), axis=0)
    for link in pair.links:
        bone, parent, own = link.source, int(source.parents[link.source]), int(above[link.target])
        if link.role == HIPS or own < 0:
            continue
        local = poses[:, parent, :3, :3].swapaxes(1, 2) @ (poses[:, bone, :3, 3] - poses[:, parent, :3, 3])[..., None]
        still = source.rest[parent, :3, :3].T @ (source.heads[bone] - source.heads[parent])
        moved = pair.scale * (local[..., 0] - still)
        result[:, link.target] += moved @ target.rest[own, :3, :3].T
    return result


def _anchors(pair: Pair, poses: Floats) -> tuple[Floats, Floats]:
    """Return (frames, 3) where the point between the hip joints belongs, and (2, frames, 3) where the left and right
    ankles do, in metres of the target; NaN for legs that one skeleton lacks.
    """
    scale, axes = pair.scale, pair.axes

    def placed(points: Floats) -> Floats:
        moved: Floats = scale * (points @ axes.T)
        return moved

    ends = [pair.of_role.get(FOOT + suffix) for suffix in SIDES.values()]
    ankles = np.full((2, len(poses), 3), np.nan)
    for ankle, link in zip(ankles, ends, strict=True):
        if link is not None:
            ankle[:] = placed(poses[:, link.source, :3, 3])
    thighs = [link.source for link in pair.both_sides(THIGH)]
    hips = pair.of_role.get(HIPS)
    if thighs:
        middle = placed(poses[:, thighs][..., :3, 3].mean(axis=1))
    elif hips is not None:
        middle = placed(poses[:, hips.source, :3, 3])
    else:
        return np.repeat(pair.target.heads[pair.target.parents < 0][:1], len(poses), axis=0), ankles
    feet = [link for link in ends if link is not None]
    if feet and not pair.same_axes:
        at_rest = float(placed(pair.source.heads[[link.source for link in feet]])[:, 2].mean())
        own = float(pair.target.heads[[link.target for link in feet], 2].mean())
        length = scale * _leg_length(pair)
        if not GROUNDED[0] * length <= at_rest <= GROUNDED[1] * length:
            at_rest = float(np.nanmin(ankles[..., 2]))
        up = UP * (own - at_rest)
        middle, ankles = middle + up, ankles + up
    return middle, ankles


def _leg_length(pair: Pair) -> float:
    """Return the length of the source's legs, in its units."""
    lengths = []
    for suffix in SIDES.values():
        joints = pair.joints(LEG, suffix)
        pieces = [pair.directions(a, b)[0] for a, b in pairwise(joints)]
        lengths.append(sum(float(np.linalg.norm(piece)) for piece in pieces))
    return max(lengths)


def _twist(pair: Pair, body: Body) -> None:
    """Give twist bones of the target that follow no bone of the source their share of the twist of the limb's end."""
    rig = pair.target
    segments: list[tuple[int, int]] = []
    for limb in (ARM, LEG):
        for suffix in SIDES.values():
            joints = [link.target for link in pair.joints(limb, suffix)]
            segments += pairwise(joints)
    followers = followers_of(rig.names, rig.parents.tolist(), rig.heads, segments)
    followers = {bone: follower for bone, follower in followers.items() if not body.is_linked[bone]}
    for bone, follower in followers.items():
        # A twist bone between both joints turns about the line to the end, which stays where it is.
        within = bone in rig.line(follower.end)
        along = rig.heads[follower.end] - rig.heads[bone if within else follower.start]
        along = along / max(float(np.linalg.norm(along)), 1e-12)
        changes = [
            rotation.from_matrices(body.turned[:, other] @ rig.rest[other, :3, :3].T)
            for other in (follower.start, follower.end)
        ]
        change = rotation.multiply(rotation.conjugate(changes[0]), changes[1])
        angle = 2.0 * np.arctan2(change[:, 1:] @ along, change[:, 0])
        angle = (angle + np.pi) % (2 * np.pi) - np.pi
        half = follower.share * angle / 2
        share = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * along], axis=1)
        body.turned[:, bone] = rotation.matrices(rotation.multiply(changes[0], share)) @ rig.rest[bone, :3, :3]
        body.is_linked[bone] = True
    if followers:
        body.walk()
