"""The bones of a control rig, planned from the head positions and names of a skeleton; poses are in `control_poses`.

Every bone of the game's armature gets a *target*: a bone with the same axes that is a child of a control and that the
game's bone copies. So the control may point from joint to joint, as animators expect, while the game's bone keeps its
axes:

    control = original · target rest⁻¹ · control rest,  hence  target = original, for any original pose

An arm or leg also has an inverse kinematics (IK) chain: two bones solved towards a goal and a pole. A solved chain
alone cannot reproduce stretched, translated or twisted poses. So each of its two bones has a child that is keyed with
the remaining difference, ``solved⁻¹ · original``; the target of the game's bone copies that child by the influence of
the limb's IK switch. The location of the target always comes from the bone's FK control: joints do not come apart if a
goal is out of range, and bones of constant length keep that length to the last bit.

Twist bones have a second solution in the same way: a bone rotated about the limb by a share of the angle between its
two neighbours. The remaining difference is keyed, so an edit adds only the change of that angle.

Matrices are (..., 4, 4) in the armature's space, metres, `p' = M p`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from . import limbs as anatomy
from . import names as bone_names
from .body import TOUCHING, Body, Part, Side, body_of, drawing_of, split_side, without_shared_words
from .control_parts import Finger, Follower, fingers_of, followers_of
from .model import parents_first
from .symmetry import ACROSS, MOST_APART, pairs_of

Floats = NDArray[np.float64]

OPPOSITE = -0.8
"""Cosine between the directions of two bones; below it they point in opposite directions."""
SHORTEST = 0.01
"""Metres; the minimum length of a control."""
MIN_BEND = 0.02
"""Fraction of a limb's length. A joint nearer than this to the line from start to end of the limb gives no bend
direction.
"""
MIN_LEVEL = 0.1
"""Length of the horizontal part of a foot's unit vector below which it points nowhere on the ground."""
SYMMETRIC = float(np.cos(np.radians(45.0)))
"""Cosine of the angle between a bone's direction and the reflection of its counterpart's; above it, the controls of
both get the direction between them.
"""
SHORTEST_PAW = 0.1
"""Minimum length of the box of a foot or paw, as a fraction of the limb's length."""
POLE_DISTANCE = 1.0
"""Distance of a pole from its joint, as a fraction of the limb's length."""
LOOK_DISTANCE = 0.4
"""Distance of a look-at target from the head, as a fraction of the skeleton's size."""
TRUNK_LENGTH = 0.12
"""Length of the torso and chest controls, as a fraction of the skeleton's size."""

_TOE_NAMES = re.compile("toe|digit|prsty", re.IGNORECASE)


class Role(Enum):
    """What a bone of a control rig is for. A "game bone" below is the bone that it controls."""

    ROOT = "root"
    """Moves the whole rig."""
    FREE = "free"
    """FK control: moves and rotates a game bone and its descendants."""
    TARGET = "target"
    """Copied by a game bone."""
    CHAIN = "chain"
    """Bone of a limb that inverse kinematics solves."""
    LEFT_OVER = "left over"
    """Child of a solved bone, keyed with the difference between the solution and the original pose."""
    GOAL = "goal"
    """IK control that the end of a limb follows."""
    HELD = "held"
    """Child of a goal, with the axes of the hand or foot; of a hock control, with the axes of the bone above a foot."""
    HOCK = "hock"
    """Child of the goal of a leg of three segments, from the foot to the hock: it raises and turns the hock."""
    TIP = "tip"
    """Child of a hock control, at the hock: what inverse kinematics follows instead of the goal."""
    POLE = "pole"
    """Control that the elbow or knee points to."""
    LINE = "line"
    """Only drawn: a line from a pole to its elbow or knee."""
    SWING = "swing"
    """From the start of a limb to its goal, rotated towards the pole: its x axis is in the plane of the bend."""
    SIDE = "side"
    """Child of the swing bone, off that plane: the pole target of Blender's IK solver. The axis about which the limb
    bends always points there, however far the limb is bent. A bent limb could pass a pole target in front of its
    joint.
    """
    TORSO = "torso"
    """Centre of mass: moves pelvis, spine and everything above, but no IK goals."""
    CHEST = "chest"
    """Bends the spine."""
    FIST = "fist"
    """Curls all fingers of a hand."""
    CURL = "curl"
    """Rotates the first joint of a finger and curls the others."""
    TURNED = "turned"
    """Follows the rotation of a chest, fist or curl control."""
    LOOK = "look"
    """Control that a head looks at."""
    AIM = "aim"
    """Neck or head that points at the look-at control."""
    GRIP = "grip"
    """Child of the target of a limb's middle or end bone, with the axes of the limb segment before it."""
    WRIST = "wrist"
    """Child of the target of the bone before, posed as the grip is: its rotation about y is the twist of the segment.
    """
    TWIST = "twist"
    """Rotated about the limb by a share of that twist; child of the control of a twist bone."""
    SOCKET = "socket"
    """Perpendicular bone between a bone and a child that points in the opposite direction. Without it, Blender rounds
    the rest pose of such a child and all its descendants to about 1e-5.
    """


ENDINGS = {role: role.value.replace(" ", "_") for role in Role} | {Role.FREE: "fk", Role.GOAL: "ik"}
"""Ends of the names of control bones, after the name of the game bone and before the side: ``hand_ik.L``."""
WHOLE_BODY = {Role.ROOT, Role.TORSO, Role.CHEST}
"""Roles that one control of a rig has; their names do not mention a bone."""
JOINTS = {Part.ARM: "elbow", Part.LEG: "knee"}
"""What the names of poles call the joint of a limb."""
JAW = "jaw"
"""What the names of controls call the only jaw: in bones' names it is often a pony tail."""
NEUTRAL = {Role.CHEST, Role.FIST, Role.CURL}
"""Roles of bones that a transfer keys with their rest pose."""
KEYED = NEUTRAL | {
    Role.ROOT, Role.FREE, Role.CHAIN, Role.LEFT_OVER, Role.GOAL, Role.HOCK, Role.POLE, Role.SWING, Role.TORSO,
    Role.LOOK, Role.AIM,
}  # fmt: skip
"""Roles of bones that a transfer keys."""
HIDDEN = set(Role) - NEUTRAL - {
    Role.ROOT, Role.FREE, Role.GOAL, Role.HOCK, Role.POLE, Role.LINE, Role.TORSO, Role.LOOK,
}  # fmt: skip
"""Roles of bones that are not drawn."""
BETWEEN = {Role.SOCKET, Role.TURNED, Role.CURL}
"""Roles of bones that may be between another bone and the control that moves it."""


@dataclass(frozen=True)
class ControlBone:
    """A bone to create: its game ``bone`` (-1 for the root), ``parent`` in the list of control bones (-1 for none),
    rest ``matrix`` (4, 4) and ``length`` in metres. Blender finds the control on the other side by the ``name``.
    """

    name: str
    role: Role
    bone: int
    parent: int
    matrix: Floats
    length: float


@dataclass(frozen=True)
class Limb:
    """An arm or leg: its game bones (upper, lower, end; or upper, lower, hock, end), and the control bones that solve
    it (-1: not planned).

    ``held``: what the bones after the lower one copy; ``tip``: what the solver follows, the goal or a bone at the hock.
    """

    part: Part
    side: Side
    bones: tuple[int, ...]
    is_on_ground: bool
    chain: tuple[int, int] = (-1, -1)
    left_over: tuple[int, int] = (-1, -1)
    goal: int = -1
    held: tuple[int, ...] = ()
    hock: int = -1
    tip: int = -1
    pole: int = -1
    line: int = -1
    swing: int = -1
    aside: int = -1


@dataclass(frozen=True)
class Turn:
    """The control ``bone`` copies a ``share`` of the rotation of ``source``, each in its own axes; curls only
    about x.
    """

    bone: int
    source: int
    share: float = 1.0
    is_curl: bool = False


@dataclass(frozen=True)
class Look:
    """The game ``bones`` of a neck, head last; the control bones that ``aim`` them; the control ``target`` they look
    at.
    """

    bones: tuple[int, ...]
    aims: tuple[int, ...]
    left_over: tuple[int, ...]
    target: int


@dataclass(frozen=True)
class Twist:
    """A game's twist ``bone``. ``turned`` rotates by a ``share`` of the twist of ``wrist``, which copies ``grip``. The
    target of the game bone copies ``left_over``, a child of ``turned``.
    """

    bone: int
    turned: int
    left_over: int
    wrist: int
    grip: int
    share: float


@dataclass(frozen=True)
class ControlPlan:
    """A control rig: its ``bones``, parents first, and for each game bone its control in ``frees`` and ``targets``."""

    bones: list[ControlBone]
    frees: list[int]
    targets: list[int]
    limbs: list[Limb]
    rotations: list[Turn]
    looks: list[Look]
    twists: list[Twist]
    body: Body


@dataclass
class _Planner:
    """Bones planned so far, and the facts about the game bones that planning needs.

    Per game bone: ``stems``, its `stems_of`; ``frames`` (4, 4), matrices of the controls that point from joint to
    joint; ``sizes``, their lengths; ``frees`` and ``targets``, indices of its controls in ``bones``. ``trunk`` and
    ``chest`` are such indices too, as are the values of ``fists`` (by hand) and ``curls`` (by first joint of a
    finger). ``joints``: what the names of poles call a bone; ``fingers``: by each of their joints; ``followers``: the
    twist bones.
    """

    stems: Sequence[tuple[str, Side]]
    joints: dict[int, str]
    parents: Sequence[int]
    matrices: Floats
    frames: list[Floats]
    sizes: list[float]
    targets: list[int]
    torso: anatomy.Torso | None
    fingers: dict[int, Finger]
    followers: dict[int, Follower]
    frees: list[int] = field(init=False)
    bones: list[ControlBone] = field(default_factory=list)
    rotations: list[Turn] = field(default_factory=list)
    trunk: int = -1
    chest: int = -1
    fists: dict[int, int] = field(default_factory=dict)
    curls: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frees = [-1] * len(self.parents)

    def add(self, role: Role, bone: int, parent: int, matrix: Floats, length: float) -> int:
        """Plan a bone and return its index."""
        stem, side = self.stems[bone] if bone >= 0 else ("", Side.NONE)
        stem = self.joints.get(bone, stem) if role in {Role.POLE, Role.LINE} else stem
        name = ENDINGS[role] if role in WHOLE_BODY else _name(stem, ENDINGS[role], side)
        if parent >= 0 and self.bones[parent].matrix[:3, 1] @ matrix[:3, 1] < OPPOSITE:
            across = matrix[:, [0, 2, 1, 3]] * np.array([1.0, 1.0, -1.0, 1.0])
            parent = self.add(Role.SOCKET, bone, parent, across, length)
        self.bones.append(ControlBone(name, role, bone, parent, matrix, max(length, SHORTEST)))
        return len(self.bones) - 1

    def parent_control(self, bone: int) -> int:
        """Return the index of the control that is the parent of a game bone's controls: the target of the bone's
        parent.

        If that is a twist bone, the end of its segment and other twist bones use its FK control: its target follows the
        end of the segment, so using it would be a dependency cycle.
        """
        above = self.parents[bone]
        follower = self.followers.get(above)
        if follower is not None and (bone == follower.end or bone in self.followers):
            return self.frees[above]
        return self.targets[above] if above >= 0 else 0

    def add_bone(self, bone: int) -> None:
        """Plan the controls and the target of a game bone."""
        torso, above = self.torso, self.parent_control(bone)
        if torso is not None and bone == torso.pelvis:
            above = self.trunk = self.add(
                Role.TORSO, bone, above, _axis_aligned(self.matrices[bone]), self._trunk_size()
            )
        elif torso is not None and bone == torso.waist:
            above = self.trunk
        free = target_parent = self.add(Role.FREE, bone, above, self.frames[bone], self.sizes[bone])
        if torso is not None and bone in torso.bending:
            top = torso.bending[-1]
            if bone == torso.waist:
                frame = _axis_aligned(self.matrices[top])
                self.chest = self.add(Role.CHEST, top, self.trunk, frame, self._trunk_size())
            target_parent = self.add(Role.TURNED, bone, free, _axis_aligned(self.matrices[bone]), self.sizes[bone])
            self.rotations.append(Turn(target_parent, self.chest, 1.0 / len(torso.bending)))
        elif bone in self.fingers:
            target_parent = self._add_curled(self.fingers[bone], bone, free)
        self.frees[bone] = free
        self.targets[bone] = self.add(Role.TARGET, bone, target_parent, self.matrices[bone], self.sizes[bone])

    def _add_curled(self, finger: Finger, bone: int, free: int) -> int:
        """Plan the bones that curl a joint of a finger. Returns the index of the parent of the joint's target."""
        frame, size = self.frames[bone], self.sizes[bone]
        first = finger.bones[0]
        if finger.hand not in self.fists:
            hand, above = self.frames[finger.hand], self.targets[finger.hand]
            self.fists[finger.hand] = self.add(Role.FIST, finger.hand, above, hand, self.sizes[finger.hand])
        turned = self.add(Role.TURNED, bone, free, frame, size)
        self.rotations.append(Turn(turned, self.fists[finger.hand], is_curl=True))
        if bone == first:
            self.curls[first] = self.add(Role.CURL, first, turned, frame, size)
            return self.curls[first]
        self.rotations.append(Turn(turned, self.curls[first], is_curl=True))
        return turned

    def _trunk_size(self) -> float:
        return TRUNK_LENGTH * float(np.ptp(self.matrices[:, :3, 3], axis=0).max())

    def add_look(self, neck: tuple[int, ...], ahead: Floats) -> Look:
        """Plan a look-at control, ``ahead`` (3,) of the head, and the bones that aim neck and head at it."""
        head = neck[-1]
        own_frame = _axis_aligned(self.matrices[head])
        own_frame[:3, 3] += ahead
        target = self.add(Role.LOOK, head, 0, own_frame, 0.2 * float(np.linalg.norm(ahead)))
        aims, left_over = [], []
        for bone in neck:
            matrix, size = self.matrices[bone], self.sizes[bone]
            frame = _frame(matrix[:3, 3], own_frame[:3, 3] - matrix[:3, 3], ahead, None)
            aims.append(self.add(Role.AIM, bone, self.parent_control(bone), frame, size))
            left_over.append(self.add(Role.LEFT_OVER, bone, aims[-1], matrix, size))
        return Look(neck, tuple(aims), tuple(left_over), target)

    def add_limb(self, limb: Limb, bend: Floats) -> Limb:
        """Plan the bones that solve a limb whose joint bends towards ``bend`` (3,)."""
        upper, lower, end = limb.bones[:3]
        sizes, matrices, above = self.sizes, self.matrices, self.parent_control(upper)
        goal, hock, tip, held = self._add_goal(limb)
        span = sizes[upper] + sizes[lower]
        matrix = np.eye(4)
        matrix[:3, 3] = matrices[lower, :3, 3] + bend * POLE_DISTANCE * span
        pole = self.add(Role.POLE, lower, 0, matrix, 0.2 * sizes[lower])
        line = self.add(Role.LINE, lower, pole, matrix, POLE_DISTANCE * span)
        start, joint, stop = matrices[[upper, lower, end], :3, 3]
        turned = _frame(start, stop - start, matrices[upper, :3, 1], bend)
        swing = self.add(Role.SWING, upper, above, turned, sizes[upper])
        matrix = turned.copy()
        matrix[:3, 3] += turned[:3, 2] * span
        aside = self.add(Role.SIDE, upper, swing, matrix, 0.2 * sizes[lower])
        bent = _frame(start, joint - start, bend, bend), _frame(joint, stop - joint, bend, bend)
        first = self.add(Role.CHAIN, upper, above, bent[0], sizes[upper])
        second = self.add(Role.CHAIN, lower, first, bent[1], sizes[lower])
        left = (
            self.add(Role.LEFT_OVER, upper, first, matrices[upper], sizes[upper]),
            self.add(Role.LEFT_OVER, lower, second, matrices[lower], sizes[lower]),
        )
        return replace(
            limb, chain=(first, second), left_over=left, goal=goal, held=held, hock=hock, tip=tip, pole=pole, line=line,
            swing=swing, aside=aside,
        )  # fmt: skip

    def _add_goal(self, limb: Limb) -> tuple[int, int, int, tuple[int, ...]]:
        """Plan the goal of a limb. Returns its index, that of the hock control (-1: none), that of what the solver
        follows, and those of what the bones after the lower one copy.
        """
        end, matrices, sizes = limb.bones[-1], self.matrices, self.sizes
        box = _on_the_ground(self.frames[end]) if limb.is_on_ground else self.frames[end]
        length = sum(sizes[bone] for bone in limb.bones[:-1])
        goal = self.add(Role.GOAL, end, 0, box, max(sizes[end], SHORTEST_PAW * length if limb.is_on_ground else 0.0))
        held = self.add(Role.HELD, end, goal, matrices[end], sizes[end])
        if len(limb.bones) == 3:
            return goal, -1, goal, (held,)
        above = limb.bones[2]
        up = matrices[above, :3, 3] - matrices[end, :3, 3]
        frame = _frame(matrices[end, :3, 3], up, up, self.frames[above][:3, 0])
        hock = self.add(Role.HOCK, above, goal, frame, float(np.linalg.norm(up)))
        tip = self.add(Role.TIP, above, hock, _axis_aligned(matrices[above]), sizes[above])
        return goal, hock, tip, (self.add(Role.HELD, above, hock, matrices[above], sizes[above]), held)

    def add_twists(self) -> list[Twist]:
        """Plan the bones that make twist bones follow the ends of their limb segments."""
        result: list[Twist] = []
        ends: dict[int, tuple[int, int]] = {}
        for bone, follower in self.followers.items():
            start, end = follower.start, follower.end
            first, last = self.matrices[[start, end], :3, 3]
            along = _frame(first, last - first, self.frames[start][:3, 1], self.frames[start][:3, 0])
            if end not in ends:
                along[:3, 3] = self.matrices[end, :3, 3]
                grip, wrist = (
                    self.add(role, end, self.targets[above], along, self.sizes[end])
                    for role, above in ((Role.GRIP, end), (Role.WRIST, start))
                )
                ends[end] = grip, wrist
            along = along.copy()
            along[:3, 3] = self.matrices[bone, :3, 3]
            turned = self.add(Role.TWIST, bone, self.frees[bone], along, self.sizes[bone])
            left_over = self.add(Role.LEFT_OVER, bone, turned, self.matrices[bone], self.sizes[bone])
            grip, wrist = ends[end]
            result.append(Twist(bone, turned, left_over, wrist, grip, follower.share))
        return result


def plan(names: Sequence[str], parents: Sequence[int], matrices: Floats, lengths: Floats) -> ControlPlan:
    """Return the control rig of a skeleton.

    ``parents`` (bones,), -1 for none; ``matrices`` (bones, 4, 4) of the rest pose; ``lengths`` (bones,) in metres.
    """
    body = body_of(names, parents)
    heads = matrices[:, :3, 3]
    vectors = drawing_of(matrices, lengths, parents, body).vectors.copy()
    parts = anatomy.find(names, parents, heads)
    limbs = [Limb(limb.part, limb.side, limb.joints, limb.is_on_ground) for limb in parts.limbs]
    torso = parts.torso
    fingers = {bone: finger for finger in fingers_of(names, parents, heads, body) for bone in finger.bones}
    hinges = {bone: finger.axis for bone, finger in fingers.items()}
    for hand in {finger.hand for finger in fingers.values()}:
        vectors[hand], hinges[hand] = _palm(vectors[hand], heads, hand, fingers)
    bends = [_bend(limb, names, parents, heads, body, front=parts.forward) for limb in limbs]
    for limb, bend in zip(limbs, bends, strict=True):
        for bone, following in pairwise(limb.bones):
            vectors[bone] = heads[following] - heads[bone]
            hinges[bone] = np.cross(heads[limb.bones[2]] - heads[limb.bones[0]], bend)
    frames = [_frame(heads[bone], vectors[bone], matrices[bone, :3, 1], hinges.get(bone)) for bone in range(len(names))]
    if torso is not None:
        frames[torso.pelvis] = _pelvis_frame(heads[torso.pelvis], heads[torso.waist], frames[torso.pelvis])
    pairs = pairs_of(names, parents, heads)
    stems = stems_of(names, pairs, heads)
    if len(parts.jaws) == 1 and (JAW, Side.NONE) not in stems:
        stems[parts.jaws[0]] = JAW, Side.NONE
    _make_symmetric(frames, pairs, stems)
    sizes = [float(np.linalg.norm(vector)) for vector in vectors]
    segments = [segment for limb in limbs for segment in pairwise(limb.bones)]
    followers = followers_of(names, parents, heads, segments)
    joints = {limb.bones[1]: JOINTS[limb.part] for limb in limbs}
    planner = _Planner(stems, joints, parents, matrices, frames, sizes, [-1] * len(names), torso, fingers, followers)
    size = float(np.ptp(heads, axis=0).max(initial=0.0)) if len(names) else 0.0
    planner.add(Role.ROOT, -1, -1, np.eye(4), 0.2 * size)
    for bone in parents_first(parents):
        planner.add_bone(bone)
    solved = [planner.add_limb(limb, bend) for limb, bend in zip(limbs, bends, strict=True)]
    forward = parts.forward
    looks = [planner.add_look(neck, LOOK_DISTANCE * size * forward) for neck in parts.necks if forward is not None]
    twists = planner.add_twists()
    body = _corrected(body, parts)
    return ControlPlan(planner.bones, planner.frees, planner.targets, solved, planner.rotations, looks, twists, body)


def _corrected(body: Body, found_parts: anatomy.Anatomy) -> Body:
    """Return the parts and sides of a body by names, corrected by what was found by shape."""
    parts, sides = list(body.parts), list(body.sides)
    torso = found_parts.torso
    spine = (torso.pelvis, *torso.spine) if torso is not None else ()
    for bones, part in (
        (spine, Part.SPINE),
        *((tail, Part.SPINE) for tail in found_parts.tails),
        (found_parts.jaws, Part.FACE),
    ):
        for bone in bones:
            parts[bone], sides[bone] = part, Side.NONE
    for limb in found_parts.limbs:
        for bone in (*limb.leading, *limb.joints):
            parts[bone], sides[bone] = limb.part, limb.side
    return Body(parts, sides, body.is_body)


def stems_of(names: Sequence[str], pairs: NDArray[np.intp], heads: Floats) -> list[tuple[str, Side]]:
    """Return what the names of controls call each bone, equal on both sides, and the side: Blender looks for the
    counterpart of ``hand_ik.L`` at ``hand_ik.R``.

    First words that most names have (``bip01_``) are left out. Two bones never get the same stem and side.
    """
    parts = [split_side(name) for name in without_shared_words(names)]
    sides = [side for _, side in parts]
    stems = [stem for stem, _ in parts]
    unnamed = [bone for bone, other in enumerate(pairs.tolist()) if other > bone and sides[bone] is Side.NONE]
    if unnamed:
        left, right = (heads[[own is side for own in sides]].mean(axis=0) for side in (Side.LEFT, Side.RIGHT))
        for bone in unnamed:
            first, last = sorted((bone, int(pairs[bone])), key=lambda bone: float(heads[bone] @ (right - left)))
            stems[last], sides[first], sides[last] = stems[first], Side.LEFT, Side.RIGHT
    keys = list(zip(stems, sides, strict=True))
    uses = Counter(keys)
    return [key if uses[key] == 1 else (name, side) for key, name, (_, side) in zip(keys, names, parts, strict=True)]


def _name(stem: str, ending: str, side: Side) -> str:
    """Return the name of a control, with the side where Blender exchanges it."""
    ending = f"_{ending}" + {Side.NONE: "", Side.LEFT: ".L", Side.RIGHT: ".R"}[side]
    return bone_names.shortened(stem, bone_names.BLENDER_LIMIT - len(ending)) + ending


def _bend(
    limb: Limb, names: Sequence[str], parents: Sequence[int], heads: Floats, body: Body, *, front: Floats | None
) -> Floats:
    """Return the unit vector (3,) to which the joint of a limb points at rest.

    If the limb is straight, knees point towards the toes, or else to the ``front`` of the body, and elbows away from
    the toes.
    """
    start, joint, end = heads[list(limb.bones[:3])]
    along = end - start
    length = max(float(np.linalg.norm(along)), 1e-9)
    along = along / length
    out = _across(joint - start, along)
    if np.linalg.norm(out) <= MIN_BEND * length:
        forward = np.zeros(3)
        for bone, name in enumerate(names):
            if _TOE_NAMES.search(name) and parents[bone] >= 0 and body.parts[bone] is Part.LEG:
                forward += _across(heads[bone] - heads[parents[bone]], np.array([0.0, 0.0, 1.0]))
        if limb.part is Part.LEG and np.linalg.norm(forward) < 1e-6 and front is not None:
            forward = front
        out = _across(forward if limb.part is Part.LEG else -forward, along)
        if np.linalg.norm(out) < 1e-6:
            out = _across(np.array([0.0, 0.0, -1.0]), along)
        if np.linalg.norm(out) < 1e-6:
            out = _across(np.array([0.0, 1.0, 0.0]), along)
    result: Floats = out / np.linalg.norm(out)
    return result


def _across(vector: Floats, along: Floats) -> Floats:
    result: Floats = vector - along * (vector @ along)
    return result


def _palm(vector: Floats, heads: Floats, hand: int, fingers: Mapping[int, Finger]) -> tuple[Floats, Floats]:
    """Return two vectors (3,) in the palm of a hand: from the wrist to the middle of the knuckles, and along these, as
    fingers close about it. ``vector`` is where the hand points, for a hand of fewer than two fingers without its thumb.
    """
    own = [finger for bone, finger in fingers.items() if finger.hand == hand and bone == finger.bones[0]]
    closing = np.sum([finger.axis for finger in own], axis=0)
    knuckles = heads[[finger.bones[0] for finger in own if not finger.is_thumb]]
    if len(knuckles) < 2:
        return vector, closing
    middle = knuckles.mean(axis=0)
    along = np.linalg.svd(knuckles - middle)[2][0]
    return middle - heads[hand], along * np.sign(along @ closing)


def _axis_aligned(matrix: Floats) -> Floats:
    """Return a bone matrix at the position of ``matrix`` with the armature's axes."""
    result = np.eye(4)
    result[:3, 3] = matrix[:3, 3]
    return result


def _on_the_ground(foot: Floats) -> Floats:
    """Return the matrix of a box that stands upright and points where the ``foot`` points."""
    level = foot[:3, 1] * [1.0, 1.0, 0.0]
    if np.linalg.norm(level) < MIN_LEVEL:
        return _axis_aligned(foot)
    level /= np.linalg.norm(level)
    return _frame(foot[:3, 3], level, level, np.cross(level, [0.0, 0.0, 1.0]))


def _make_symmetric(frames: list[Floats], pairs: NDArray[np.intp], stems: Sequence[tuple[str, Side]]) -> None:
    """Change the axes of controls so that those on both sides are reflections of each other with x reversed, as
    Blender's tools for symmetric poses expect; those in the middle are their own reflection.

    Where the directions of both sides differ much, they stay, and so do directions across the middle.
    """
    heads = np.array([frame[:3, 3] for frame in frames]).reshape(-1, 3)
    is_pair = pairs != np.arange(len(pairs))
    middle = float(heads[is_pair, 0].mean()) if is_pair.any() else 0.0
    near = MOST_APART * float(np.ptp(heads, axis=0).max(initial=0.0))
    for bone, other in enumerate(pairs.tolist()):
        frame, theirs = frames[bone], frames[other][:3, :3] * ACROSS[:, None] * ACROSS
        along, across = frame[:3, 1], frame[:3, 0]
        if other == bone:
            level = along * [0.0, 1.0, 1.0]
            if abs(frame[0, 3] - middle) <= near and np.linalg.norm(level) > MIN_LEVEL:
                frames[bone] = _frame(frame[:3, 3], level, level, np.array([1.0, 0.0, 0.0]))
        elif stems[bone][1] is Side.LEFT:
            is_alike = along @ theirs[:, 1] > SYMMETRIC
            if is_alike:
                along, across = along + theirs[:, 1], across + theirs[:, 0]
            frames[bone] = _frame(frame[:3, 3], along, along, across)
            reflected = frames[bone][:3, :3] * ACROSS[:, None] * ACROSS
            along = reflected[:, 1] if is_alike else frames[other][:3, 1]
            frames[other] = _frame(frames[other][:3, 3], along, along, reflected[:, 0])


def _pelvis_frame(pelvis: Floats, waist: Floats, frame: Floats) -> Floats:
    """Return the matrix of the pelvis control: from the waist down, so that the pelvis rotates about the waist."""
    down = pelvis - waist
    far = np.linalg.norm(down) > TOUCHING
    return _frame(waist, down if far else -frame[:3, 1], -frame[:3, 1], None)


def _frame(head: Floats, vector: Floats, fallback: Floats, aside: Floats | None) -> Floats:
    """Return a bone matrix at ``head`` along ``vector``, or ``fallback`` if that has no length; x near ``aside``."""
    along = vector if np.linalg.norm(vector) > 1e-6 else fallback
    along = along / np.linalg.norm(along)
    near = aside
    if near is None:  # the reflection of a bone gets reflected axes
        near = np.eye(3)[0] if abs(along[0]) < 0.8 else np.eye(3)[1] * np.sign(along[0])
    across = _across(near, along)
    if np.linalg.norm(across) < 1e-6:
        return _frame(head, along, along, None)
    across /= np.linalg.norm(across)
    result = np.eye(4)
    result[:3, 0], result[:3, 1], result[:3, 2], result[:3, 3] = across, along, np.cross(across, along), head
    return result
