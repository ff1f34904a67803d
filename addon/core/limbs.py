"""Arms, legs, spine, necks, jaws and tails of a skeleton, found from its hierarchy, head positions and general words.

A limb is one of a pair of chains of bones, left and right of the skeleton's middle. Names say which bones are a pair,
and what is not a limb (a cloak, a head); where they say nothing, the reflection of positions does. How many segments a
limb has, and where it ends, follows from positions alone, because creatures' bones are often named like people's.

Heads are (bones, 3) in any unit; z is up, and the plane between both sides is perpendicular to x.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .body import Part, Side, children_of, part_of, split_side, without_shared_words
from .model import parents_first
from .symmetry import ACROSS, pairs_of

Floats = NDArray[np.float64]

TWIST_NAMES = re.compile("twist|roll", re.IGNORECASE)
"""Names of twist and roll bones, which are inside a limb but are not joints of it."""
_LIMBS = {Part.ARM, Part.LEG}
_LEADING = re.compile("clavicle|collar|shou?lder|scapula|blade|pelvis|buttock")
"""Words of bones between the trunk and the first joint of a limb."""
_LOWER = re.compile("elbow|forearm|lower|knee|calf|shin")
"""Words of the second joint of a limb: the bone before it is the first, whatever it is called."""
_NOT_LIMBS = re.compile("cloa[kc]|skirt|sleeve|cape|cloth|coat|hood|hair|fur|(?<!pony)tail|ponytail|belt|strap")
_HEAD = re.compile(r"(?<!fore)head(?!fur|light|set|gear|phone|[_.]?(?:tip|end|nub))|^hlava$")
_NECK = re.compile(r"neck|^krk$")
_JAWS = (re.compile("jaw|mandible"), re.compile(r"chin(?![a-z])|mouth"))
"""Words of jaws; the second are looked for if there is none of the first."""
_TAIL = re.compile(r"(?<!pony)tail")

SHORTEST = 0.004
"""Distance from a joint to the next, as a fraction of the skeleton's size, up to which both are one joint."""
LEAST_LIMB = 0.18
"""Length of a limb, as a fraction of the skeleton's size, that names do not call one."""
APART = 0.12
"""Distance between a head and the reflection of its counterpart, as a fraction of the skeleton's size, up to which two
children of a bone can be a pair.
"""
GROUNDED = 0.12
"""Height above the lowest head, as a fraction of the skeleton's size, up to which a limb ends on the ground."""
HOCK = 0.2
"""Height of a hock as a fraction of the height of the limb's first joint. A joint that is lower is an ankle."""
CENTRAL = 0.03
"""Distance from the middle, as a fraction of the skeleton's size, up to which a bone is neither left nor right."""
INWARDS = 0.6
"""A first joint whose distance from the middle is at most this share of the next joint's leads to a limb."""
SHORT_LEAD = 0.25
"""A first segment that is shorter than this share of the second leads to a limb."""
LYING = 0.5
"""Share of the height between hips and shoulders from which their level distance is that of a body on four legs."""


@dataclass(frozen=True)
class Limb:
    """An arm or leg: its ``joints``, three bones of a limb of two segments or four of a limb with a hock, the bones
    that lead to it (a collar bone), and the bone that carries both sides of the pair (-1: none).

    ``row``: 0 for the hindmost pair of a body; ``is_on_ground``: whether the body stands on it.
    """

    part: Part
    side: Side
    joints: tuple[int, ...]
    leading: tuple[int, ...]
    attached: int
    row: int
    is_on_ground: bool


@dataclass(frozen=True)
class Torso:
    """The bone that carries the legs, the first spine bone above it, and the whole spine from there upwards, as bone
    indices.
    """

    pelvis: int
    waist: int
    spine: tuple[int, ...]

    @property
    def bending(self) -> tuple[int, ...]:
        """Spine bones that one control bends together; empty if there is only one."""
        return self.spine if len(self.spine) > 1 else ()


@dataclass(frozen=True)
class Anatomy:
    """What was found of a body.

    ``necks``: the bones of each neck from bottom to top, its head last, without bones that carry limbs or another head;
    ``jaws``; ``tails``: each from its root to its end; ``forward`` (3,): unit vector to the front, None if unknown.
    """

    limbs: list[Limb] = field(default_factory=list)
    torso: Torso | None = None
    necks: list[tuple[int, ...]] = field(default_factory=list)
    jaws: tuple[int, ...] = ()
    tails: list[tuple[int, ...]] = field(default_factory=list)
    forward: Floats | None = None


def find(names: Sequence[str], parents: Sequence[int], heads: Floats) -> Anatomy:
    """Return the limbs and the trunk of a skeleton; ``parents`` (bones,): indices, -1 for none, in any order."""
    return _Finder(names, parents, heads).anatomy() if len(names) else Anatomy()


def continues_limb(bone: int, names: Sequence[str], children: Sequence[Sequence[int]]) -> bool:
    """Return whether a bone or one of its descendants is something other than a twist or roll bone."""
    return not TWIST_NAMES.search(names[bone]) or any(
        continues_limb(below, names, children) for below in children[bone]
    )


def bone_and_ancestors(bone: int, parents: Sequence[int]) -> list[int]:
    """Return a bone and its ancestors, from the bone to the root."""
    line = []
    while bone >= 0:
        line.append(bone)
        bone = parents[bone]
    return line


@dataclass(frozen=True)
class _Pair:
    """The joints of two limbs, or of one that has no counterpart, and the bones that lead to them.

    ``words``: whether names call them arms or legs; ``is_low``: whether one is on the ground.
    """

    chains: list[list[int]]
    leading: list[list[int]]
    attached: int
    words: frozenset[Part | None]
    is_low: bool
    length: float


@dataclass
class _Finder:
    """The facts about a skeleton that finding needs."""

    names: Sequence[str]
    parents: Sequence[int]
    heads: Floats

    def __post_init__(self) -> None:
        self.parents = [int(parent) for parent in self.parents]
        self.children = children_of(self.parents)
        self.size = float(np.ptp(self.heads, axis=0).max())
        self.ground = float(self.heads[:, 2].min())
        self.names = without_shared_words(self.names)
        self.counterparts = pairs_of(self.names, self.parents, self.heads)
        words = [split_side(name) for name in self.names]
        self.stems, self.sides = [stem for stem, _ in words], [side for _, side in words]
        self.parts = [part_of(stem) for stem in self.stems]
        own = [bone for bone, other in enumerate(self.counterparts.tolist()) if other != bone]
        self.middle = float(self.heads[own, 0].mean() if own else np.median(self.heads[:, 0]))
        self.skulls = self._skulls()

    def anatomy(self) -> Anatomy:
        pairs = self._rows(self._limb_pairs()) if self.size > 0 else []
        torso = self._torso(pairs)
        forward = self._forward(pairs)
        limbs = [limb for row, pair in enumerate(pairs) for limb in self._limbs(pair, row, pairs, forward)]
        limbs.sort(key=lambda limb: limb.joints)
        used = {bone for limb in limbs for bone in (*limb.leading, *limb.joints)}
        used |= {*torso.spine, torso.pelvis} if torso is not None else set()
        necks = self._necks(pairs, torso)
        used |= {bone for neck in necks for bone in neck}
        return Anatomy(limbs, torso, necks, self._jaws(), self._tails(pairs, used, forward), forward)

    # Pairs of chains --------------------------------------------------------------------------------------------------

    def _skulls(self) -> list[int]:
        """Return the bones named head that are on another bone, but not below another head."""
        named = {bone for bone, stem in enumerate(self.stems) if _HEAD.search(stem) and self.parents[bone] >= 0}
        return [bone for bone in sorted(named) if named.isdisjoint(self._line(self.parents[bone]))]

    def _line(self, bone: int) -> list[int]:
        return bone_and_ancestors(bone, self.parents)

    def _limb_pairs(self) -> list[_Pair]:
        """Return the pairs of chains that are limbs."""
        pairs = [pair for tops in self._tops() if (pair := self._pair(tops)) is not None]
        if any(pair.words for pair in pairs):
            return [pair for pair in pairs if pair.words]
        pairs = [pair for pair in pairs if pair.length >= LEAST_LIMB * self.size and len(pair.chains) == 2]
        return pairs if any(pair.is_low for pair in pairs) else []

    def _tops(self) -> Iterator[tuple[int, ...]]:
        """Yield the first bones of pairs of chains: pairs that are not inside of other pairs nor on a head.

        Chains of a side that have no counterpart come alone.
        """
        below_heads = {bone for bone in range(len(self.names)) if not set(self.skulls).isdisjoint(self._line(bone))}
        partners = self.counterparts.tolist()
        for bone, other in enumerate(partners):
            above = self.parents[bone]
            if bone in below_heads:
                continue
            if other == bone and self.sides[bone] is not Side.NONE:
                if above < 0 or self.sides[above] is not self.sides[bone]:
                    yield (bone,)
            elif bone < other and (above < 0 or partners[above] == above or partners[above] != self.parents[other]):
                yield bone, other
        for siblings in (*self.children, [bone for bone, above in enumerate(self.parents) if above < 0]):
            alone = [bone for bone in siblings if partners[bone] == bone and bone not in below_heads]
            yield from self._reflected([bone for bone in alone if self.sides[bone] is Side.NONE])

    def _reflected(self, siblings: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs of siblings, without a side in their names, of which one is about the reflection of the other."""
        waiting = sorted(siblings, key=lambda bone: -self._reach[bone])
        while waiting:
            bone = waiting.pop(0)
            offset = self.heads[bone, 0] - self.middle
            others = [other for other in waiting if offset * (self.heads[other, 0] - self.middle) < 0]
            gaps = [max(self._gap(bone, other)) for other in others]
            if gaps and min(gaps) <= APART * self.size:
                other = others[int(np.argmin(gaps))]
                waiting.remove(other)
                yield min(bone, other), max(bone, other)

    def _gap(self, bone: int, other: int) -> tuple[float, float]:
        """Return how far two bones, and the ends of their chains, are from being reflections of each other."""
        both = [self.heads[[bone, other]], self.heads[[self._chain(bone)[-1], self._chain(other)[-1]]]]
        shift = np.array([2 * self.middle, 0.0, 0.0])
        first, last = (float(np.linalg.norm(left * ACROSS + shift - right)) for left, right in both)
        return first, last

    @cached_property
    def _reach(self) -> list[float]:
        """(bones,): length of the longest chain of bones below each."""
        reach = [0.0] * len(self.names)
        for bone in reversed(parents_first(self.parents)):
            above = self.parents[bone]
            if above >= 0 and self.parts[bone] is not Part.WEAPON:
                reach[above] = max(reach[above], self._step(bone) + reach[bone])
        return reach

    def _step(self, bone: int) -> float:
        """Return the distance of a bone from its parent."""
        return float(np.linalg.norm(self.heads[bone] - self.heads[self.parents[bone]]))

    def _chain(self, top: int) -> list[int]:
        """Return the bones of the longest chain from a bone on, through children of its side first."""
        line = [top]
        while True:
            at = line[-1]
            below = [bone for bone in self.children[at] if continues_limb(bone, self.names, self.children)]
            below = [bone for bone in below if self.parts[bone] is not Part.WEAPON]
            if not below:
                return line
            side = self.sides[top]
            line.append(
                min(below, key=lambda bone: (self.sides[bone] is not side, -self._step(bone) - self._reach[bone]))
            )

    def _joints(self, top: int) -> tuple[list[int], list[int]]:
        """Return the bones of a chain that have a place of their own, and those before them that have none."""
        chain = [bone for bone in self._chain(top) if not TWIST_NAMES.search(self.names[bone])]
        joints: list[int] = []
        dropped: list[int] = []
        for bone in chain:
            if joints and np.linalg.norm(self.heads[bone] - self.heads[joints[-1]]) <= SHORTEST * self.size:
                # A collar bone may be where the upper arm is, and a toe where the foot is.
                if len(joints) > 1:
                    continue
                dropped.append(joints.pop())
            joints.append(bone)
        return joints, dropped

    def _leading_count(self, joints: Sequence[int], *, is_low: bool) -> int:
        """Return how many of the first joints lead to a limb: none or one."""
        if len(joints) < 3:
            return 0
        if _LEADING.search(self.stems[joints[0]]):
            return 0 if _LOWER.search(self.stems[joints[1]]) else 1
        if self.parts[joints[0]] in _LIMBS or len(joints) < 4:
            return 0
        steps = np.linalg.norm(np.diff(self.heads[list(joints[:3])], axis=0), axis=1)
        aside = np.abs(self.heads[list(joints[:2]), 0] - self.middle)
        ends = [len(self.children[bone]) > 1 for bone in joints]
        is_hand = not is_low and True in ends and ends.index(True) == 3
        return int(is_hand or steps[0] < SHORT_LEAD * steps[1] or aside[0] <= INWARDS * aside[1])

    def _pair(self, tops: tuple[int, ...]) -> _Pair | None:
        """Return the chains that begin with some bones, None if they are no limbs."""
        below = [bone for bone in range(len(self.names)) if not set(tops).isdisjoint(self._line(bone))]
        is_low = bool(self.heads[below, 2].min() <= self.ground + GROUNDED * self.size)
        chains = [self._joints(bone) for bone in tops]
        lead = min(self._leading_count(joints, is_low=is_low) for joints, _ in chains)
        joints = [joints[lead:] for joints, _ in chains]
        if min(map(len, joints)) < 3 or any(_NOT_LIMBS.search(self.stems[bone]) for bone in tops):
            return None
        leading = [dropped + joints[:lead] for joints, dropped in chains]
        words = frozenset(part for side in (*leading, *joints) for bone in side if (part := self.parts[bone]) in _LIMBS)
        lines = [self._line(self.parents[bone]) for bone in tops]
        attached = next((bone for bone in lines[0] if all(bone in line for line in lines)), -1)
        length = float(np.linalg.norm(np.diff(self.heads[joints[0]], axis=0), axis=1).sum())
        return _Pair(joints, leading, attached, words, is_low, length)

    # What pairs are ---------------------------------------------------------------------------------------------------

    def _rows(self, pairs: list[_Pair]) -> list[_Pair]:
        """Return the pairs from the hindmost to the foremost: legs first, then those farthest from a head in the
        hierarchy; without a head, those nearest to the root.
        """
        above_head = self._line(self.skulls[0]) if self.skulls else []

        def depth(pair: _Pair) -> int:
            line = self._line(pair.attached)
            steps = next((steps for steps, bone in enumerate(line) if bone in above_head), -1)
            return -steps - above_head.index(line[steps]) if steps >= 0 else len(line)

        return sorted(pairs, key=lambda pair: (not self._is_leg(pair), pair.attached < 0, not pair.is_low, depth(pair)))

    @staticmethod
    def _is_leg(pair: _Pair) -> bool:
        """Whether names call a pair legs, or call it nothing and it is on the ground."""
        return Part.ARM not in pair.words if pair.words else pair.is_low

    def _starts(self, pair: _Pair) -> Floats:
        """(3,): the point midway between the first joints of both sides."""
        point: Floats = self.heads[[chain[0] for chain in pair.chains]].mean(axis=0)
        return point

    def _is_lying(self, pairs: Sequence[_Pair]) -> bool:
        """Whether the body between its hindmost and its foremost limbs is level."""
        if len(pairs) < 2:
            return False
        gap = self._starts(pairs[-1]) - self._starts(pairs[0])
        return bool(np.linalg.norm(gap[:2]) > max(LYING * abs(gap[2]), CENTRAL * self.size))

    def _is_on_ground(self, pair: _Pair, pairs: Sequence[_Pair]) -> bool:
        """Whether a body stands on a pair of limbs: hands that hang low, or touch the ground, are not its feet."""
        if not pair.is_low or self._is_leg(pair):
            return pair.is_low or self._is_leg(pair)
        others = [other for other in pairs if other is not pair]
        return bool(others) and (self._is_lying(pairs) or not any(self._is_leg(other) for other in others))

    def _limbs(self, pair: _Pair, row: int, pairs: Sequence[_Pair], forward: Floats | None) -> Iterator[Limb]:
        """Yield the limbs of a pair, as many joints as both sides have."""
        on_ground = self._is_on_ground(pair, pairs)
        count = min(4 if on_ground and self._has_hock(chain) else 3 for chain in pair.chains)
        part = Part.LEG if self._is_leg(pair) else Part.ARM
        for chain, leading, side in zip(pair.chains, pair.leading, self._pair_sides(pair, forward), strict=True):
            yield Limb(part, side, tuple(chain[:count]), tuple(leading), pair.attached, row, on_ground)

    def _pair_sides(self, pair: _Pair, forward: Floats | None) -> list[Side]:
        """Return the sides of a pair: what names say, or else the positions."""
        named = [self.sides[chain[0]] for chain in pair.chains]
        if Side.NONE not in named:
            return named
        ahead = 1.0 if forward is None else float(forward[1])
        first, second = (self.heads[chain[0], 0] for chain in pair.chains)
        is_left = (first < second) == (ahead >= 0)
        return [Side.LEFT, Side.RIGHT] if is_left else [Side.RIGHT, Side.LEFT]

    def _has_hock(self, chain: Sequence[int]) -> bool:
        """Whether the third joint of a leg is a hock or wrist above a steep third segment."""
        if len(chain) < 4:
            return False
        start, hock, end = self.heads[[chain[0], chain[2], chain[3]]]
        below = [bone for bone in self.children[chain[2]] if self.parts[bone] not in {Part.WEAPON, Part.HELPER}]
        drop = hock - end
        is_steep = drop[2] > float(np.linalg.norm(drop[:2]))
        return len(below) == 1 and bool(is_steep and hock[2] - self.ground > HOCK * (start[2] - self.ground))

    # Trunk ------------------------------------------------------------------------------------------------------------

    def _torso(self, pairs: Sequence[_Pair]) -> Torso | None:
        """Return the trunk from the legs to the foremost other limbs, or to a head; None without legs or spine."""
        legs = next((pair for pair in pairs if self._is_leg(pair) and pair.attached >= 0), None)
        if legs is None:
            return None
        tops = [pair.attached for pair in pairs[::-1] if pair is not legs and pair.attached >= 0]
        tops += [self.parents[skull] for skull in self.skulls]
        hips = self._line(legs.attached)
        for top in tops:
            line = self._line(top)
            pelvis = next((bone for bone in hips if bone in line), -1)
            spine = [bone for bone in line if bone != pelvis and bone not in self._line(pelvis)][::-1]
            while spine and (self.parts[spine[-1]] is Part.HEAD or self.sides[spine[-1]] is not Side.NONE):
                spine.pop()
            if pelvis >= 0 and spine:
                return Torso(pelvis, spine[0], tuple(spine))
        return None

    def _necks(self, pairs: Sequence[_Pair], torso: Torso | None) -> list[tuple[int, ...]]:
        """Return each neck, from the bone above the spine to its head."""
        carrying = {bone for pair in pairs for bone in self._line(pair.attached)}
        carrying |= {bone for pair in pairs for side in (*pair.chains, *pair.leading) for bone in side}
        carrying |= {*torso.spine, torso.pelvis} if torso is not None else set()
        skulls = self.skulls or self._nameless_skull(pairs, torso)
        necks = []
        for skull in skulls:
            others = {bone for other in skulls if other != skull for bone in self._line(other)}
            line = []
            for bone in self._line(skull):
                if bone in carrying or bone in others:
                    break
                is_other = torso is None or self.sides[bone] is not self.sides[skull]
                if bone != skull and is_other and self.parts[bone] is not Part.HEAD:
                    break
                line.append(bone)
            if line:
                necks.append(tuple(line[::-1]))
        return necks

    def _nameless_skull(self, pairs: Sequence[_Pair], torso: Torso | None) -> list[int]:
        """Return the end of the neck of a body none of whose bones is named head: where the central chain above the
        foremost limbs ends or branches.
        """
        named = [bone for bone, stem in enumerate(self.stems) if _NECK.search(stem)]
        if named or torso is None:
            return [bone for bone in named if named and set(named).isdisjoint(self.children[bone])]
        limbs = {bone for pair in pairs for side in (*pair.chains, *pair.leading) for bone in side}
        at = max((pair.attached for pair in pairs), key=lambda bone: len(self._line(bone)))
        start = at
        while True:
            below = [bone for bone in self.children[at] if bone not in limbs and self._is_central(bone)]
            if not below or (at != start and len(self.children[at]) > 1):
                return [at] if at != start else []
            at = max(below, key=lambda bone: self._reach[bone])

    def _is_central(self, bone: int) -> bool:
        return bool(abs(self.heads[bone, 0] - self.middle) <= CENTRAL * self.size)

    def _jaws(self) -> tuple[int, ...]:
        """Return the jaws: bones with such a name, not below another; or the only child of a head, in the middle."""
        for word in _JAWS:
            named = {
                bone for bone, stem in enumerate(self.stems) if word.search(stem) and self.counterparts[bone] == bone
            }
            named = {bone for bone in named if named.isdisjoint(self._line(self.parents[bone]))}
            if named:
                of_head = {self.parents[bone]: bone for bone in sorted(named, key=lambda bone: -len(self.stems[bone]))}
                return tuple(sorted(of_head.values()))
        lone = [self.children[skull][0] for skull in self.skulls if len(self.children[skull]) == 1]
        lone = [bone for bone in lone if self._is_central(bone) and not self.children[bone]]
        return tuple(bone for bone in lone if self.parts[bone] is None and self._step(bone) > SHORTEST * self.size)

    def _tails(self, pairs: Sequence[_Pair], used: set[int], forward: Floats | None) -> list[tuple[int, ...]]:
        """Return the tails: chains of bones with such a name, or of three or more in the middle behind the legs."""
        named = [bone for bone, stem in enumerate(self.stems) if _TAIL.search(stem)]
        roots = [bone for bone in named if self.parents[bone] >= 0]
        roots = [bone for bone in roots if set(named).isdisjoint(self._line(self.parents[bone]))]
        if roots:
            return [tuple(self._chain(root)) for root in roots]
        legs = next((pair for pair in pairs if self._is_leg(pair) and pair.attached >= 0), None)
        if legs is None or forward is None:
            return []
        tails = []
        for root in self.children[legs.attached]:
            if _NOT_LIMBS.search(self.stems[root]):
                continue
            chain = self._chain(root)
            behind = float((self.heads[chain[-1]] - self._starts(legs)) @ forward)
            if used.isdisjoint(chain) and len(chain) >= 3 and all(map(self._is_central, chain)) and behind < 0:
                tails.append(tuple(chain))
        return tails

    def _forward(self, pairs: Sequence[_Pair]) -> Floats | None:
        """Return the unit vector (3,) to the front of a body.

        On four legs it is from the hindmost to the foremost; else perpendicular to the line between the sides that
        names give; else, or if names give arms and legs opposite sides, where the toes point.
        """
        if self._is_lying(pairs) and all(self._is_on_ground(pair, pairs) for pair in (pairs[0], pairs[-1])):
            gap = self._starts(pairs[-1]) - self._starts(pairs[0])
            return np.array([0.0, np.copysign(1.0, gap[1]), 0.0])
        sides = [np.array([side is wanted for side in self.sides]) for wanted in (Side.LEFT, Side.RIGHT)]
        forward = np.zeros(3)
        toes = self._toes(pairs)
        is_sided = all(side.any() for side in sides)
        if toes is not None and (not is_sided or len({self._is_left_first(pair) for pair in pairs}) > 1):
            forward = toes
        elif is_sided:
            left = self.heads[sides[0]].mean(axis=0) - self.heads[sides[1]].mean(axis=0)
            forward = np.cross(left, [0.0, 0.0, 1.0])
        length = float(np.linalg.norm(forward))
        return forward / length if length > 1e-3 * self.size or length == 1.0 else None

    def _is_left_first(self, pair: _Pair) -> bool:
        """Whether the limb that names call the left one has the smaller x."""
        chains = sorted(pair.chains, key=lambda chain: float(self.heads[chain[0], 0]))
        return self.sides[chains[0][0]] is not Side.RIGHT

    def _toes(self, pairs: Sequence[_Pair]) -> Floats | None:
        """Return the unit vector (3,) along y to which the feet of the hindmost limbs point; None without toes."""
        ends = [self.heads[chain[-1], 1] - self.heads[chain[-2], 1] for pair in pairs[:1] for chain in pair.chains]
        if not ends or min(len(chain) for chain in pairs[0].chains) < 4 or abs(np.mean(ends)) < SHORTEST * self.size:
            return None
        return np.array([0.0, np.copysign(1.0, float(np.mean(ends))), 0.0])
