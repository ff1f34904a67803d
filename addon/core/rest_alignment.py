"""Two skeletons whose bones are linked: which way both face, their sizes, and how one rest pose becomes the other.

A rest pose may be a T, an A or anything else, its bones have any axes, and its units are any. What is compared is where
joints are: a limb's bone is turned by the smallest rotation to the direction of the source's, and about that direction
so that knees and elbows bend, and palms look, the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from . import rotation
from .bone_map import ARM, LEG, SIDES, Link, Rig
from .errors import ReadError
from .model import parents_first
from .report import say
from .rig_names import (
    CLAVICLE,
    FINGERS,
    FOOT,
    FOREARM,
    HAND,
    HEAD,
    HIPS,
    HOCK,
    NECK,
    SHIN,
    SPINE,
    THIGH,
    TOE,
    UPPER_ARM,
)

Floats = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
UPRIGHT = np.cos(np.radians(60.0))
"""Cosine of the angle between a body and the z axis up to which the z axis is its upward direction."""
UPRIGHT = np.cos(np.radians(60.0))
"""Cosine of the angle between a body and the z axis up to which the z axis is its upward direction."""
NEAR_QUARTER = np.radians(15.0)
"""A heading this near to a multiple of 90 degrees is that multiple: both skeletons face along an axis."""
OPPOSITE = np.cos(np.radians(178.0))
"""Cosine; bones beyond it point in opposite directions, between which there is no smallest rotation."""
CLAVICLE_APART = np.cos(np.radians(25.0))
"""Cosine; clavicles that differ more at rest begin at different places, and only their movement is taken over."""
BENT = np.sin(np.radians(10.0))
"""Sine of the smallest bend at rest that shows about which axis a knee or an elbow bends."""
SAME_AXIS = np.cos(np.radians(60.0))
"""Cosine; axes of a joint that differ more are not trusted."""
SAME_SEGMENT = np.cos(np.radians(20.0))
"""Cosine; a roll bone within a segment of a limb points along it."""
SAME_SHAPE = 1e-3
"""Fraction of the skeleton's size by which heads in their parent's axes may differ if both skeletons have the same
axes.
"""


def turning(a: Floats, b: Floats) -> Floats:
    """Return the smallest rotations (..., 3, 3) that turn vectors ``a`` (..., 3) to the direction of ``b``."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    quaternions = np.concatenate([1.0 + np.einsum("...i,...i->...", a, b)[..., None], np.cross(a, b)], axis=-1)
    return rotation.matrices(rotation.normalised(quaternions))


def _frame(along: Floats, aside: Floats) -> Floats:
    """Return an orthonormal frame (3, 3): ``along``, the part of ``aside`` across it, and their cross product."""
    first = along / np.linalg.norm(along)
    second = aside - first * (aside @ first)
    second = second / np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=-1)


class Pair:
    """Two skeletons and their links: joints by role, directions at rest, axes and scale.

    ``source_first`` (bones, 4, 4): the first pose of the source, which shows what is up if its rest pose does not.
    """

    def __init__(self, source: Rig, target: Rig, links: Sequence[Link], source_first: Floats) -> None:
        self.source, self.target, self.links = source, target, links
        self.of_role = {link.role: link for link in reversed(links)}
        self.same_axes = _have_same_axes(source, target, links)
        self.axes = np.eye(3) if self.same_axes else self._axes(source_first)
        self.scale, self.arm_scale = self._scale()
        self.turned_by = [self._last_of_segment(link) for link in links]

    def joints(self, parts: Sequence[str], suffix: str) -> list[Link]:
        """Return the links of the joints of a limb that both skeletons have, from the body outwards."""
        return [self.of_role[part + suffix] for part in parts if part + suffix in self.of_role]

    def both_sides(self, part: str) -> list[Link]:
        """Return the links of a part on the left and on the right, as far as both skeletons have it."""
        return [self.of_role[part + suffix] for suffix in SIDES.values() if part + suffix in self.of_role]

    def next_joint(self, link: Link) -> Link | None:
        """Return the link of the joint at which the segment of a limb or finger ends."""
        part, dot, suffix = link.role.partition(".")
        if part in FINGERS:
            own = [other for other in self.links if other.role == link.role]
            after = own[own.index(link) + 1 :]
            return after[0] if after else None
        for limb in (ARM, (*LEG, TOE)):
            if part in limb:
                after = self.joints(limb[limb.index(part) + 1 :], dot + suffix)
                return after[0] if after else None
        return self.of_role.get(UPPER_ARM + dot + suffix) if part == CLAVICLE else None

    def directions(self, link: Link, following: Link) -> tuple[Floats, Floats]:
        """Return the vectors (3,) from a joint to the next one at rest, of source and target, in the target's axes."""
        theirs, own = self.source.heads, self.target.heads
        return (
            self.axes @ (theirs[following.source] - theirs[link.source]),
            own[following.target] - own[link.target],
        )

    def _last_of_segment(self, link: Link) -> int:
        """Return the source bone whose rotation a link takes: of a segment that roll bones continue, the last one."""
        following = self.next_joint(link)
        part = link.role.partition(".")[0]
        if following is None or part not in {UPPER_ARM, FOREARM, THIGH, SHIN}:
            return link.source
        last = int(self.source.parents[following.source])
        used = {other.source for other in self.links}
        if last in used or link.source not in self.source.line(last):
            return link.source
        heads = self.source.heads
        whole, rest = heads[following.source] - heads[link.source], heads[following.source] - heads[last]
        # A bone that points elsewhere is a segment of its own, which the target lacks.
        lengths = np.linalg.norm(whole) * np.linalg.norm(rest)
        return last if whole @ rest >= SAME_SEGMENT * lengths else link.source

    def _axes(self, first: Floats) -> Floats:
        """Return the rotation (3, 3) from the source's axes to the target's: upright stays upright, and both face the
        same way.
        """
        own = self._body_frame([link.target for link in self.links], self.target.heads, self.target.heads)
        theirs = self._body_frame([link.source for link in self.links], self.source.heads, first[:, :3, 3])
        if own is None or theirs is None:
            return np.eye(3)
        turned: Floats = own @ theirs.T
        if turned[2, 2] > 1 - 1e-12:
            heading = np.arctan2(turned[1, 0], turned[0, 0])
            quarter = np.rint(heading / (np.pi / 2)) * (np.pi / 2)
            heading = quarter if abs(heading - quarter) < NEAR_QUARTER else heading
            turned = np.rint(_about_up(heading)) if heading == quarter else _about_up(heading)
        return turned

    def _body_frame(self, bones: Sequence[int], heads: Floats, posed: Floats) -> Floats | None:
        """Return the frame (3, 3) of a body: left, forward and up as columns; None if it has no sides.

        ``bones``: of each link. Up is the z axis if the body is roughly upright at rest or in the pose ``posed``
        (bones, 3), else the axis nearest to the pose.
        """
        index = {link.role: bone for link, bone in zip(reversed(self.links), reversed(bones), strict=True)}
        pairs = [(index.get(f"{part}.L", -1), index.get(f"{part}.R", -1)) for part in (THIGH, UPPER_ARM, HAND)]
        pairs = [pair for pair in pairs if min(pair) >= 0 and np.ptp(heads[list(pair)], axis=0).max() > 0]
        if not pairs:
            return None
        up = UP
        below = [index[FOOT + suffix] for suffix in SIDES.values() if FOOT + suffix in index]
        above = [index[role] for role in (HEAD, SPINE, HIPS) if role in index]
        if below and above:
            # The head of an animal may be far in front of its hind feet, but its hips are above them.
            ends = [(points, bone) for bone in (above[0], above[-1]) for points in (heads, posed)]
            bodies = [points[bone] - points[below].mean(axis=0) for points, bone in ends]
            lengths = [max(float(np.linalg.norm(body)), 1e-12) for body in bodies]
            if all(body @ UP < UPRIGHT * length for body, length in zip(bodies, lengths, strict=True)):
                axis = int(np.abs(bodies[1]).argmax())
                up = np.eye(3)[axis] * np.sign(bodies[1][axis])
        left = heads[pairs[0][0]] - heads[pairs[0][1]]
        left = left - up * (left @ up)
        length = float(np.linalg.norm(left))
        if length < 1e-9:
            return None
        left = left / length
        return np.stack([left, np.cross(left, up), up], axis=-1)

    def _scale(self) -> tuple[float, float]:
        """Return the target's metres per unit of the source, by the length of legs and of arms; if one of the two is
        missing, by that of the other.
        """
        ratios = []
        for limb in (LEG, ARM):
            lengths = np.zeros(2)
            for suffix in SIDES.values():
                joints = self.joints(limb, suffix)
                for link, following in pairwise(joints):
                    lengths += [np.linalg.norm(vector) for vector in self.directions(link, following)]
            ratios.append(float(lengths[1] / lengths[0]) if lengths[0] > 0 else 0.0)
        if not any(ratios):
            sizes = [float(np.ptp(rig.heads, axis=0).max()) for rig in (self.source, self.target)]
            ratios = [sizes[1] / sizes[0] if sizes[0] > 0 else 1.0] * 2
        legs, arms = ratios
        return legs or arms, arms or legs


def _about_up(angle: float) -> Floats:
    return rotation.matrices(rotation.about_axis(2, np.float64(angle)))


def _have_same_axes(source: Rig, target: Rig, links: Sequence[Link]) -> bool:
    """Whether bones of equal names have the same axes in both skeletons, though perhaps another pose at rest: in the
    axes of their parents, all heads are at the same place.
    """
    own, theirs = (
        np.array([link.target for link in links], np.intp),
        np.array([link.source for link in links], np.intp),
    )
    names = [(source.names[link.source].lower(), target.names[link.target].lower()) for link in links]
    if not links or any(a != b for a, b in names):
        return False
    sides = []
    for rig, bones in ((source, theirs), (target, own)):
        above = rig.parents[bones]
        offsets = np.einsum("bji,bj->bi", rig.rest[above][:, :3, :3], rig.heads[bones] - rig.heads[above])
        sides.append((np.where((above < 0)[:, None], 0.0, offsets), np.array([rig.names[b] for b in above])))
    (offsets, parents), (other_offsets, other_parents) = sides
    size = max(float(np.ptp(target.heads, axis=0).max()), 1e-9)
    roots = (source.parents[theirs] < 0) | (target.parents[own] < 0)
    alike = roots | (np.char.lower(parents) == np.char.lower(other_parents))
    return bool(alike.all() and np.abs(offsets - other_offsets).max() <= SAME_SHAPE * size)


def alignments(pair: Pair) -> Floats:
    """Return (links, 3, 3): the rotation of each target bone from its own rest pose to the rest pose of the source."""
    result = np.broadcast_to(np.eye(3), (len(pair.links), 3, 3)).copy()
    source, target = pair.source, pair.target
    if pair.same_axes:
        bones = [link.source for link in pair.links], [link.target for link in pair.links]
        result[:] = source.rest[bones[0], :3, :3] @ target.rest[bones[1], :3, :3].swapaxes(1, 2)
        return result
    row = {link.target: number for number, link in enumerate(pair.links)}
    for bone in parents_first(target.parents):
        if bone not in row:
            continue
        above = next((row[other] for other in target.line(bone)[1:] if other in row), -1)
        inherited = result[above] if above >= 0 else np.eye(3)
        result[row[bone]] = _alignment(pair, pair.links[row[bone]], inherited)
    return result


def _alignment(pair: Pair, link: Link, inherited: Floats) -> Floats:
    """Return the rotation (3, 3) of a bone, given that of the bone above."""
    part = link.role.partition(".")[0]
    if part in {HIPS, SPINE, NECK, HEAD}:
        return np.eye(3)
    following = pair.next_joint(link)
    if part in {FOOT, TOE}:
        return _level(pair, link, following) if part == FOOT else inherited
    if part == HAND:
        return _palm(pair, link, inherited)
    if following is None:
        return inherited
    theirs, own = pair.directions(link, following)
    if part == CLAVICLE:
        lengths = np.linalg.norm(theirs) * np.linalg.norm(own)
        return turning(own, theirs) if lengths > 0 and theirs @ own > CLAVICLE_APART * lengths else np.eye(3)
    if part == THIGH:
        inherited = np.eye(3)
    return _limb(pair, link, theirs, own, inherited)


def _limb(pair: Pair, link: Link, theirs: Floats, own: Floats, inherited: Floats) -> Floats:
    """Return the rotation of a segment of a limb or finger, to the direction ``theirs`` (3,) from ``own`` (3,)."""
    if min(np.linalg.norm(theirs), np.linalg.norm(own)) < 1e-9:
        return inherited
    begun = inherited @ own
    if begun @ theirs < OPPOSITE * np.linalg.norm(begun) * np.linalg.norm(theirs):
        words = (
            "the rest poses have {!r} and {!r} in opposite directions, so nothing tells how one turns into the other"
        )
        raise ReadError(
            say(words, pair.source.names[link.source], pair.target.names[link.target]),
            remedy="Check the bone map, or pose the source's rest pose like the target's",
        )
    result: Floats = turning(begun, theirs) @ inherited
    hinges = _hinges(pair, link)
    if hinges is None:
        return result
    axis, other = _frame(theirs, hinges[0]), _frame(theirs, result @ hinges[1])
    if axis[:, 1] @ other[:, 1] < SAME_AXIS:
        return result
    turned: Floats = axis @ other.T @ result
    return turned


def _hinges(pair: Pair, link: Link) -> tuple[Floats, Floats] | None:
    """Return the axes (3,) about which a knee or elbow is bent at rest, source first; None if one is straight."""
    part, dot, suffix = link.role.partition(".")
    limb = next((limb[:3] for limb in (ARM, (THIGH, SHIN, FOOT)) if part in limb[:2]), None)
    joints = pair.joints(limb, dot + suffix) if limb else []
    if len(joints) < 3 or HOCK + dot + suffix in pair.of_role:
        return None
    first, second = (pair.directions(joints[number], joints[number + 1]) for number in (0, 1))
    axes = []
    for along, onwards in zip(first, second, strict=True):
        normal = np.cross(along, onwards)
        lengths = np.linalg.norm(along) * np.linalg.norm(onwards)
        if lengths == 0 or np.linalg.norm(normal) < BENT * lengths:
            return None
        axes.append(normal)
    return axes[0], axes[1]


def _level(pair: Pair, link: Link, following: Link | None) -> Floats:
    """Return the rotation of a foot about the vertical: soles stay level, whatever the slope of the ankle at rest."""
    if following is None:
        return np.eye(3)
    theirs, own = (vector * [1.0, 1.0, 0.0] for vector in pair.directions(link, following))
    if min(np.linalg.norm(theirs), np.linalg.norm(own)) < 1e-9 or theirs @ own < 0:
        return np.eye(3)
    return turning(own, theirs)


def _palm(pair: Pair, link: Link, inherited: Floats) -> Floats:
    """Return the rotation of a hand: palm onto palm if both have two fingers besides the thumb, else as the forearm."""
    suffix = "." + link.role.partition(".")[2]
    lines = [[other for other in pair.links if other.role == finger + suffix] for finger in FINGERS[1:]]
    knuckles = [line[0] for line in lines if line]
    if len(knuckles) < 2:
        return inherited
    frames = []
    first, last = (pair.directions(link, knuckle) for knuckle in (knuckles[0], knuckles[-1]))
    for index, little in zip(first, last, strict=True):
        normal = np.cross(index, little)
        if np.linalg.norm(normal) < 0.05 * np.linalg.norm(index) * np.linalg.norm(little):
            return inherited
        frames.append(_frame(normal, index / np.linalg.norm(index) + little / np.linalg.norm(little)))
    turned: Floats = frames[0] @ frames[1].T
    return turned
