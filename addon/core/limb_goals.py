"""Feet that stand and hands that touch, while a motion of another skeleton is put onto one.

A foot that stands in the source gets one position for that time; the leg is solved towards it in the plane in which the
knee bends already, and passes into the frames before and after. Positions are in metres, rotations (3, 3) in the
target's space.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .bone_map import ARM, LEG, SIDES, Link, Rig
from .model import parents_first
from .rest_alignment import Pair, turning
from .rig_names import FOOT, HIPS, HOCK, THIGH, TOE

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FRAMES_PER_SECOND = 30.0
"""Rate of the results."""
STILL_SPEED, STILL_HEIGHT, STILL_FRAMES = 0.35, 0.06, 3
"""A foot stands if it is slower (metres per second) and at most this far (metres) above its lowest position, for as
many frames. These are for a body with legs of `LEG_LENGTH` metres, as those of most people who were captured.
"""
LEG_LENGTH = 0.78
SHORTEST_FOOT = 0.04
"""Distance from ankle to toe from which a foot can stand on its toe, as a share of the leg's length."""
FADE = 4
"""Frames in which a foot that stands passes into one that does not."""
MOST_STRETCHED = 0.995
"""Share of a leg's length up to which it is stretched, unless the source stretches it more."""
SMOOTHING = 5
"""Frames before and after, over which lowering the body is spread."""
TOUCHING_HANDS, APART_HANDS = 0.35, 0.6
"""Distances of the wrists as a share of the arm's length: up to the first the hands keep their distance, beyond the
second they do not.
"""


class Body:
    """The target while it is being posed.

    ``turned`` (frames, bones, 3, 3): rotations in the target's space, valid for ``is_linked`` (bones,); ``offsets``
    (frames or 1, bones, 3): heads in the axes of the parent's rest pose; ``roots``: the bones that ``moved``
    (frames, 3) moves.
    """

    def __init__(self, pair: Pair, turned: Floats, is_linked: Bools, offsets: Floats) -> None:
        self.pair, self.turned, self.is_linked, self.offsets = pair, turned, is_linked, offsets
        rig = pair.target
        self.parents, self.order = rig.parents, parents_first(rig.parents)
        hips = pair.of_role.get(HIPS)
        roots = [bone for bone in self.order if rig.parents[bone] < 0]
        self.roots = [hips.target] if hips is not None else roots
        self.heads = np.empty((len(turned), len(rig.names), 3))
        self.moved = np.zeros((len(turned), 3))
        self._to_rest = rig.rest[:, :3, :3].swapaxes(1, 2)

    def walk(self) -> None:
        """Compute the heads, and the rotations of bones without a link, from the parents to the children."""
        rest = self.pair.target.rest
        for bone in self.order:
            above = self.parents[bone]
            if above < 0:
                if not self.is_linked[bone]:
                    self.turned[:, bone] = rest[bone, :3, :3]
                self.heads[:, bone] = self.offsets[:, bone]
            else:
                frame = self.turned[:, above] @ self._to_rest[above]
                if not self.is_linked[bone]:
                    self.turned[:, bone] = frame @ rest[bone, :3, :3]
                self.heads[:, bone] = self.heads[:, above] + np.einsum("fij,fj->fi", frame, self._offset(bone))
            if bone in self.roots:
                self.heads[:, bone] += self.moved

    def _offset(self, bone: int) -> Floats:
        return np.broadcast_to(self.offsets[:, bone], (len(self.turned), 3))

    def middle(self) -> Floats:
        """Return (frames, 3): the point midway between the hip joints, or the head of the root."""
        joints = [link.target for link in self.pair.both_sides(THIGH)]
        result: Floats = self.heads[:, joints].mean(axis=1) if joints else self.heads[:, self.roots[0]]
        return result

    def matrices(self) -> Floats:
        """Return the poses (frames, bones, 4, 4)."""
        result = np.zeros((*self.turned.shape[:2], 4, 4))
        result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = self.turned, self.heads, 1.0
        return result


def _runs(still: Bools) -> list[tuple[int, int]]:
    """Return the first and the last frame of each run that is long enough."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(np.int8)))
    return [(first, end - 1) for first, end in edges.reshape(-1, 2).tolist() if end - first >= STILL_FRAMES]


def standing(points: Floats, leg: float = LEG_LENGTH) -> list[tuple[int, int]]:
    """Return the first and last frame of each time at which a point of a foot, at ``points`` (frames, 3), stands.

    ``leg``: length of the legs, in the unit of the points.
    """
    points = points * (LEG_LENGTH / leg)
    if len(points) < STILL_FRAMES:
        return []
    speed = np.linalg.norm(np.gradient(points, axis=0), axis=1) * FRAMES_PER_SECOND
    return _runs((speed < STILL_SPEED) & (points[:, 2] < points[:, 2].min() + STILL_HEIGHT))


def hold_feet(pair: Pair, poses: Floats, body: Body, ankles: Floats) -> tuple[Bools, float]:
    """Move the ankles of the target to where those of the source are, and hold them where they stand.

    Paws of legs with a hock are only held where they stand: animals differ more in the shares of their segments.
    Returns (2, frames) where feet stand, and by how many metres the body was lowered at most.
    """
    stands = np.zeros((2, len(poses)), np.bool_)
    legs, goals, limits = [], [], []
    for side, suffix in enumerate(SIDES.values()):
        joints = pair.joints(LEG, suffix)
        if len(joints) < 3 or joints[0].role != THIGH + suffix or joints[-1].role != FOOT + suffix:
            continue
        # A leg with a hock has its share of the step from its own segments, or the hock would take up the difference.
        goal = ankles[side].copy() if len(joints) == 3 else body.heads[:, joints[-1].target].copy()
        toe = pair.of_role.get(TOE + suffix)
        lever = body.heads[:, toe.target] - body.heads[:, joints[-1].target] if toe is not None else None
        theirs = pair.scale * poses[:, toe.source, :3, 3] @ pair.axes.T if toe is not None else None
        length = float(
            np.linalg.norm(np.diff(pair.target.heads[[link.target for link in joints]], axis=0), axis=1).sum()
        )
        stands[side], shift = _held(goal, lever, theirs, length)
        legs.append([link.target for link in joints])
        goals.append(goal + shift)
        limits.append(_reach(pair, poses, joints, body))
    if not legs:
        return stands, 0.0
    lowered = _lower(body, legs, goals, limits)
    for leg, goal in zip(legs, goals, strict=True):
        _solve(body, leg, goal, pair.target)
    body.walk()
    return stands, lowered


def _held(ankle: Floats, lever: Floats | None, toe: Floats | None, leg: float) -> tuple[Bools, Floats]:
    """Return (frames,) where a foot stands, and by how much (frames, 3) its ankle, at (frames, 3), is moved for it.

    ``lever`` (frames, 3): from ankle to toe of the target; ``toe`` (frames, 3): the toe of the source; ``leg``: length
    of the leg.
    """
    shift, fixed = np.zeros_like(ankle), np.zeros(len(ankle), np.bool_)
    runs = standing(ankle, leg)
    for first, last in runs:
        shift[first : last + 1] = ankle[first : last + 1].mean(axis=0) - ankle[first : last + 1]
        fixed[first : last + 1] = True
    if lever is not None and toe is not None and np.linalg.norm(lever[0]) > SHORTEST_FOOT * leg:
        tips = ankle + lever
        for first, last in standing(toe, leg):
            inside = np.arange(first, last + 1)
            held = inside[fixed[inside]]
            free = inside[~fixed[inside]]
            if not len(free):
                continue
            # The toe stays where it is when the heel leaves the ground.
            nearest = held[np.abs(free[:, None] - held).argmin(axis=1)] if len(held) else None
            at = (tips + shift)[nearest] if nearest is not None else tips[inside].mean(axis=0)
            shift[free] = at - tips[free]
            fixed[free] = True
    return fixed.copy(), _faded(shift, fixed)


def _faded(shift: Floats, fixed: Bools) -> Floats:
    """Return (frames, 3) the shifts of ``fixed`` frames, with the frames between passing from one to the next."""
    known = np.flatnonzero(fixed)
    if not len(known):
        return shift
    frames = np.arange(len(shift))
    after = np.searchsorted(known, frames)
    before = known[np.maximum(after - 1, 0)]
    following = known[np.minimum(after, len(known) - 1)]
    gap = following - before
    # In long gaps both ends fade to nothing on their own, in short ones they pass into each other.
    ends = []
    for near, other in ((before, following), (following, before)):
        length = np.where((gap > 2 * FADE) | (near == other), FADE + 1, gap)
        share = np.clip(np.abs(frames - near) / np.maximum(length, 1), 0.0, 1.0)
        ends.append((1.0 - share * share * (3.0 - 2.0 * share))[:, None] * shift[near])
    outside = (frames < known[0]) | (frames > known[-1])
    passing = np.where(outside[:, None], np.where((frames < known[0])[:, None], ends[1], ends[0]), ends[0] + ends[1])
    return np.where(fixed[:, None], shift, passing)


def _reach(pair: Pair, poses: Floats, joints: Sequence[Link], body: Body) -> Floats:
    """Return (frames,) how far from the hip joint the ankle may be, in metres: a share of the leg's length."""
    bones = [link.source for link in joints]
    heads = poses[:, bones][..., :3, 3]
    whole = np.linalg.norm(np.diff(heads, axis=1), axis=2).sum(axis=1)
    share = np.linalg.norm(heads[:, -1] - heads[:, 0], axis=1) / np.maximum(whole, 1e-12)
    own = np.linalg.norm(np.diff(body.heads[:, [link.target for link in joints]], axis=1), axis=2).sum(axis=1)
    result: Floats = np.clip(share, MOST_STRETCHED, 1.0 - 1e-6) * own
    return result


def _lower(body: Body, legs: Sequence[Sequence[int]], goals: Sequence[Floats], limits: Sequence[Floats]) -> float:
    """Lower the body where a leg is too short for its goal; returns the largest distance in metres."""
    excess = np.zeros(len(body.turned))
    for leg, goal, limit in zip(legs, goals, limits, strict=True):
        gap = body.heads[:, leg[0]] - goal
        level = np.linalg.norm(gap[:, :2], axis=1)
        excess = np.maximum(excess, gap[:, 2] - np.sqrt(np.maximum(limit * limit - level * level, 0.0)))
    excess = np.where(excess > 1e-9, excess, 0.0)
    if excess.any():
        padded = np.pad(excess, 2 * SMOOTHING, mode="edge")
        window = 2 * SMOOTHING + 1
        highest = np.lib.stride_tricks.sliding_window_view(padded, window).max(axis=1)
        excess = np.lib.stride_tricks.sliding_window_view(highest, window).mean(axis=1)
        body.moved[:, 2] -= excess
        body.walk()
    return float(excess.max())


def _solve(body: Body, limb: Sequence[int], goal: Floats, rig: Rig) -> None:
    """Turn the first two bones of a ``limb`` (bone indices, end last) so that its end is at ``goal`` (frames, 3).

    The joint keeps the plane in which it bends. Bones after the second keep their rotations.
    """
    upper, lower, joint = limb[:3]
    start, knee, end = (body.heads[:, bone] for bone in (upper, lower, joint))
    wanted = end + goal - body.heads[:, limb[-1]]
    first, second = (np.linalg.norm(vector, axis=1) for vector in (knee - start, end - knee))
    gap = wanted - start
    distance = np.linalg.norm(gap, axis=1)
    allowed = np.clip(distance, np.abs(first - second) * 1.001 + 1e-9, (first + second) * (1 - 1e-7))
    swing = turning(end - start, gap)
    out = np.einsum("fij,fj->fi", swing, knee - start)
    along = gap / np.maximum(distance, 1e-12)[:, None]
    out = out - along * np.einsum("fi,fi->f", out, along)[:, None]
    size = np.linalg.norm(out, axis=1)
    # A straight limb bends as its rest pose does, seen from the upper bone.
    own = body.turned[:, upper] @ rig.rest[upper, :3, :3].T @ _rest_bend(rig, limb)
    own = own - along * np.einsum("fi,fi->f", own, along)[:, None]
    out = np.where((size > 0.01 * (first + second))[:, None], out, own)
    out = out / np.maximum(np.linalg.norm(out, axis=1), 1e-12)[:, None]
    share = (first**2 - second**2 + allowed**2) / (2 * allowed)
    height = np.sqrt(np.maximum(first**2 - share**2, 0.0))
    bent = start + along * share[:, None] + out * height[:, None]
    reached = start + along * allowed[:, None]
    for bone, was, now in ((upper, knee - start, bent - start), (lower, end - knee, reached - bent)):
        body.turned[:, bone] = turning(np.einsum("fij,fj->fi", swing, was), now) @ swing @ body.turned[:, bone]


def _rest_bend(rig: Rig, limb: Sequence[int]) -> Floats:
    """Return the vector (3,) to which the joint of a limb points at rest; the front, or back, of a straight one."""
    start, joint, end = rig.heads[list(limb[:3])]
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-12)
    out = joint - start - along * ((joint - start) @ along)
    if np.linalg.norm(out) > 0.01 * np.linalg.norm(end - start):
        bend: Floats = out
        return bend
    tip = rig.heads[limb[-1]]
    below = [bone for bone in range(len(rig.names)) if rig.parents[bone] == limb[-1]]
    toes: Floats = rig.heads[below].mean(axis=0) - tip if below else np.array([0.0, 1.0, 0.0])
    return toes * [1.0, 1.0, 0.0]


def hold_hands(pair: Pair, poses: Floats, body: Body) -> None:
    """Where both hands are close together in the source, keep the left one where it is relative to the right one."""
    lines = [pair.joints(ARM, suffix) for suffix in SIDES.values()]
    if any(len(line) < 3 for line in lines) or pair.both_sides(HOCK):  # paws beside each other do not touch
        return
    left, right = (line[-1] for line in lines)
    gap = (poses[:, left.source, :3, 3] - poses[:, right.source, :3, 3]) @ pair.axes.T
    upper, lower = (pair.directions(a, b) for a, b in pairwise(lines[0]))
    length = float(np.linalg.norm(upper[0]) + np.linalg.norm(lower[0]))
    share = np.clip((APART_HANDS - np.linalg.norm(gap, axis=1) / length) / (APART_HANDS - TOUCHING_HANDS), 0.0, 1.0)
    if not share.any():
        return
    share = share * share * (3.0 - 2.0 * share)
    now = body.heads[:, left.target]
    goal = now + share[:, None] * (body.heads[:, right.target] + pair.arm_scale * gap - now)
    _solve(body, [link.target for link in lines[0]], goal, pair.target)
    body.walk()
