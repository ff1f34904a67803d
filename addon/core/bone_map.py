"""Which bone of a skeleton is which part of a body, and which bone of one skeleton moves which bone of another.

Names are compared with the schemes of `rig_names`. Where they say nothing, limbs are found by the positions of heads
(`limbs`); so is the paw of a creature whose bones are named like those of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import limbs
from .body import Part, Side, split_side, without_shared_words
from .rig_names import (
    CLAVICLE,
    CORE,
    ENOUGH,
    FINGERS,
    FOOT,
    FOREARM,
    HAND,
    HEAD,
    HIPS,
    HOCK,
    NECK,
    SCHEMES,
    SHIN,
    SPINE,
    THIGH,
    TOE,
    UPPER_ARM,
    Scheme,
)

Floats = NDArray[np.float64]

ARM, LEG = (UPPER_ARM, FOREARM, HAND), (THIGH, SHIN, HOCK, FOOT)
"""Joints of a limb, from the body outwards."""
SIDES = {Side.LEFT: ".L", Side.RIGHT: ".R"}
SAME_NAME = "same name"
"""Role of bones of which only the names say that they belong together."""
_SINGLE = frozenset({HIPS, HEAD})
_CHAINS = frozenset({SPINE, NECK})
_PREFERRED = ("DEF-", "ORG-")
"""Prefixes of the bones of a generated Rigify rig that have a whole body; the others are controls."""
_CAPITAL_SIDE = re.compile(r"^([lr])(?=[A-Z])|^([LR])(?=[A-Z][a-z])")
_BIPED = re.compile(r"^bip\d+[ _]", re.IGNORECASE)
"""First word of a part of the bones of hands in the first person."""
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_ENDS = re.compile(r"(?:[_. -]?(?:end|nub|leaf|tip|site))+$|^ik[_ ]|^vb ", re.IGNORECASE)


@dataclass(frozen=True)
class Rig:
    """A skeleton at rest: ``names``, ``parents`` (-1 for none) and ``rest`` (bones, 4, 4), one space for all bones.

    ``rest`` has no scale. Heads are in any unit.
    """

    names: list[str]
    parents: NDArray[np.int32]
    rest: Floats

    @property
    def heads(self) -> Floats:
        """(bones, 3)."""
        heads: Floats = self.rest[:, :3, 3]
        return heads

    def line(self, bone: int) -> list[int]:
        """Return a bone and its ancestors, from the bone to the root."""
        result = []
        while bone >= 0:
            result.append(bone)
            bone = int(self.parents[bone])
        return result


Parts = dict[str, list[int]]
"""Role (``hips``, ``forearm.L``, …) -> its bones: one, of spine, neck and fingers all from the body outwards."""


@dataclass(frozen=True)
class Roles:
    """The parts of a body that were found in a skeleton, and by which ``scheme``: its name, empty if by shape."""

    parts: Parts
    scheme: str = ""

    def one(self, role: str) -> int:
        """Return the bone of a role, -1 if there is none."""
        return self.parts.get(role, [-1])[0]


@dataclass(frozen=True)
class Link:
    """A bone ``target`` follows the bone ``source`` of another skeleton, as that ``role``.

    With ``other`` it follows a rotation between both: ``share`` 0 is that of ``source``, 1 that of ``other``.
    """

    target: int
    source: int
    role: str
    other: int = -1
    share: float = 0.0


# Names --------------------------------------------------------------------------------------------------------------


def stems_of(names: Sequence[str]) -> list[tuple[str, Side]]:
    """Return each name in lower case without namespace, shared first words, separators and side, and the side."""
    result = []
    for short in without_shared_words(names):
        stem, side = split_side(short)
        capital = _CAPITAL_SIDE.match(short)
        if side is Side.NONE and capital is not None:
            side = Side.LEFT if capital.group().lower() == "l" else Side.RIGHT
            stem = short[1:].lower()
        result.append((_NOT_LETTERS.sub("", stem), side))
    return result


def _by_scheme(scheme: Scheme, stems: Sequence[tuple[str, Side]], allowed: Sequence[bool]) -> Parts:
    """Return the parts that a scheme names among the ``allowed`` bones. The first of several with one name counts."""
    index: dict[tuple[str, Side], int] = {}
    for bone, key in enumerate(stems):
        if allowed[bone]:
            index.setdefault(key, bone)
    parts: Parts = {}
    for part, own_names in scheme.items():
        for side, suffix in ((Side.NONE, ""),) if part in _SINGLE else SIDES.items():
            bones = [index[name, side] for name in own_names if (name, side) in index]
            if bones:
                parts[part + suffix] = bones if part in FINGERS else bones[:1]
    return parts


def _core_roles() -> list[str]:
    return [part + suffix for part in CORE for suffix in ([""] if part in _SINGLE else SIDES.values())]


def _score(parts: Parts, rig: Rig) -> float:
    """Return which fraction of the core was found, 0 if limbs are not in the order of the hierarchy.

    Hands in the first person have arms and nothing else, and score less than any body.
    """
    core = _core_roles()
    arms = [part + suffix for part in ARM for suffix in SIDES.values()]
    if set(core) & set(parts) == set(arms):
        core = [*arms, HIPS]
    for limb in (ARM, LEG):
        for suffix in SIDES.values():
            line = [parts[part + suffix][0] for part in limb if part + suffix in parts]
            if any(above not in rig.line(below) for above, below in pairwise(line)):
                return 0.0
    return sum(role in parts for role in core) / len(core)


def by_names(rig: Rig, chosen: str = "") -> Roles | None:
    """Return the roles that the scheme gives which fits best; None if none names most of a body.

    ``chosen``: name of the only scheme to use, however little of the body it names.
    """
    best: tuple[float, float, Roles] | None = None
    for prefix in (*_PREFERRED, ""):
        allowed = [name.startswith(prefix) and not _ENDS.search(name) for name in rig.names]
        if not any(allowed):
            continue
        stems = stems_of([name.removeprefix(prefix) for name in rig.names])
        for name, scheme in SCHEMES.items() if not chosen else ((chosen, SCHEMES[chosen]),):
            parts = _by_scheme(scheme, stems, allowed)
            score = _score(parts, rig)
            key = (score, float(len(parts)))
            if score >= (ENOUGH if not chosen else 0.0) and parts and (best is None or key > best[:2]):
                best = (*key, Roles(parts, name))
        if best is not None:
            break
    return best[2] if best is not None else None


# Shape --------------------------------------------------------------------------------------------------------------


def by_shape(rig: Rig) -> Roles:
    """Return the roles that the positions of heads, and general words, give; none for what is not a body.

    The hindmost limbs that a body stands on are its legs, and the foremost of the others its arms: front legs are the
    arms of an animal.
    """
    anatomy = limbs.find(rig.names, rig.parents.tolist(), rig.heads)
    legs = [limb for limb in anatomy.limbs if limb.part is Part.LEG or limb.is_on_ground]
    hindmost = min((limb.row for limb in legs), default=-1)
    foremost = max((limb.row for limb in anatomy.limbs), default=-1)
    parts: Parts = {}
    for limb in anatomy.limbs:
        suffix = SIDES.get(limb.side, "")
        if suffix and limb.row == hindmost:
            parts |= _leg(rig, limb.joints, suffix)
        elif suffix and limb.row == foremost:
            joints = zip((CLAVICLE, *ARM), (*(limb.leading[-1:] or (-1,)), *limb.joints), strict=False)
            parts |= {part + suffix: [bone] for part, bone in joints if bone >= 0}
    hips = [limb.attached for limb in anatomy.limbs if limb.row == hindmost and limb.attached >= 0]
    if anatomy.torso is not None or hips:
        parts[HIPS] = [anatomy.torso.pelvis if anatomy.torso is not None else hips[0]]
    if anatomy.necks:
        parts[HEAD] = [anatomy.necks[0][-1]]
    return Roles(parts)


def _leg(rig: Rig, joints: Sequence[int], suffix: str) -> Parts:
    """Return the roles of the joints of a leg, and of a toe if only one bone follows them."""
    roles = LEG if len(joints) == len(LEG) else (THIGH, SHIN, FOOT)
    below = np.flatnonzero(rig.parents == joints[-1]).tolist()
    named = zip((*roles, TOE), (*joints, *(below if len(below) == 1 else ())), strict=False)
    return {part + suffix: [bone] for part, bone in named}


def _with_hocks(rig: Rig, roles: Roles) -> Roles:
    """Return roles by names with the paws of legs whose hocks are named like feet; cats and rats have such legs."""
    shape, parts = by_shape(rig).parts, dict(roles.parts)
    for suffix in SIDES.values():
        if HOCK + suffix in shape and HOCK + suffix not in parts and parts.get(FOOT + suffix) == shape[HOCK + suffix]:
            parts.pop(TOE + suffix, None)
            parts |= {part + suffix: shape[part + suffix] for part in (*LEG, TOE) if part + suffix in shape}
    return replace(roles, parts=parts)


# Chains -------------------------------------------------------------------------------------------------------------


def with_spine(rig: Rig, roles: Roles) -> Roles:
    """Return the roles with the bones between hips and shoulders as spine, and those from there to the head as neck."""
    parts = {role: bones for role, bones in roles.parts.items() if role not in _CHAINS}
    hips, head = roles.one(HIPS), roles.one(HEAD)
    if hips < 0:
        return replace(roles, parts=parts)
    arms = [roles.one(part + suffix) for suffix in SIDES.values() for part in (CLAVICLE, UPPER_ARM)]
    lines = [rig.line(bone)[1:] for bone in arms if bone >= 0] + ([rig.line(head)[1:]] if head >= 0 else [])
    lines = [line for line in lines if hips in line or _reaches(rig, line, hips)]
    if not lines:
        return replace(roles, parts=parts)
    common = [bone for bone in lines[0] if all(bone in line for line in lines)]
    spine = [bone for bone in common if bone != hips and bone not in rig.line(hips)]
    if spine:
        parts[SPINE] = spine[::-1]
    if head >= 0:
        chest = common[0] if common else hips
        neck = [bone for bone in rig.line(head)[1:] if bone not in rig.line(chest)]
        neck = [bone for bone in neck if bone not in arms]
        if neck:
            parts[NECK] = neck[::-1]
    return replace(roles, parts=parts)


def _reaches(rig: Rig, line: Sequence[int], hips: int) -> bool:
    """Whether a line of ancestors comes from the parent of the hips: Character Creator's spine and legs do."""
    above = int(rig.parents[hips])
    return above >= 0 and above in line


def roles_of(rig: Rig, scheme: str = "") -> Roles:
    """Return the parts of the body of a skeleton, by names or else by shape; none if it is not a body.

    ``scheme``: name of the only one of `SCHEMES` to use.
    """
    named = by_names(rig, scheme)
    if scheme:
        return with_spine(rig, named if named is not None else Roles({}))
    return with_spine(rig, _with_hocks(rig, named) if named is not None else by_shape(rig))


# Links --------------------------------------------------------------------------------------------------------------


def links_of(source: Rig, target: Rig, of_source: Roles, of_target: Roles) -> list[Link]:
    """Return which bone of ``source`` each bone of ``target`` follows, in the order of the target's bones.

    Extra bones of spine and neck are shared out along their length; fingers are linked where both have at least two
    joints; bones without a role by equal names.
    """
    links: dict[int, Link] = {}
    for role, targets in of_target.parts.items():
        sources = of_source.parts.get(role, [])
        finger = role.partition(".")[0] in FINGERS
        if role in _CHAINS or (finger and min(len(sources), len(targets)) < 2):
            continue
        for own, other in zip(targets, sources, strict=False):
            links[own] = Link(own, other, role)
    for chain, start, end in ((SPINE, HIPS, ""), (NECK, SPINE, HEAD)):
        links |= {
            link.target: link for link in _shared_out((source, target), (of_source, of_target), chain, start, end)
        }
    index = {name.lower(): bone for bone, name in enumerate(source.names)}
    taken = {link.source for link in links.values()}
    for bone, name in enumerate(target.names):
        same = index.get(name.lower(), -1)
        if bone not in links and same >= 0 and same not in taken:
            links[bone] = Link(bone, same, SAME_NAME)
    return [links[bone] for bone in sorted(links)]


def _shared_out(rigs: tuple[Rig, Rig], both: tuple[Roles, Roles], chain: str, start: str, end: str) -> Iterator[Link]:
    """Yield the links of the bones of a ``chain``: each follows the source's rotation at the same share of the length.

    Source first in ``rigs`` and ``both``. ``start`` and ``end``: the roles before and after the chain, ``end`` empty if
    the chain's last bone is the end.
    """
    source, target = rigs
    theirs, own = (roles.parts.get(chain, []) for roles in both)
    if [target.names[bone].lower() for bone in own] == [source.names[bone].lower() for bone in theirs]:
        yield from (Link(bone, other, chain) for bone, other in zip(own, theirs, strict=True))
        return
    nodes = [
        [*roles.parts.get(start, [])[-1:], *bones, *(roles.parts.get(end, []) if end else [])]
        for roles, bones in zip(both, (theirs, own), strict=True)
    ]
    if not nodes[0]:
        return
    along = [_along(rig, line) for rig, line in zip(rigs, nodes, strict=True)]
    for bone, at in zip(nodes[1], along[1], strict=True):
        if bone not in own:
            continue
        after = int(np.searchsorted(along[0], at - 1e-9))
        after = min(after, len(nodes[0]) - 1)
        if abs(along[0][after] - at) <= 1e-6 or after == 0:
            # The last of several bones at one place has the rotation of all.
            last = int(np.searchsorted(along[0], along[0][after] + 1e-6)) - 1
            yield Link(bone, nodes[0][last], chain)
            continue
        before, share = after - 1, (at - along[0][after - 1]) / (along[0][after] - along[0][after - 1])
        first, second = (after, before) if share > 0.5 else (before, after)
        yield Link(bone, nodes[0][first], chain, nodes[0][second], float(min(share, 1.0 - share)))


def _along(rig: Rig, line: Sequence[int]) -> Floats:
    """Return (bones,) how far along a line of bones each begins, 0 … 1."""
    steps = np.linalg.norm(np.diff(rig.heads[list(line)], axis=0), axis=1)
    along: Floats = np.concatenate([[0.0], np.cumsum(steps)])
    return along / along[-1] if along[-1] > 0 else np.linspace(0.0, 1.0, len(line))


def all_roles() -> list[str]:
    """Return the roles that a bone may have."""
    parts = dict.fromkeys(part for scheme in SCHEMES.values() for part in scheme)
    sided = [part + suffix for part in parts if part not in _SINGLE for suffix in SIDES.values()]
    return [*sorted(_SINGLE | _CHAINS), *sided, SAME_NAME]


def table_of(links: Sequence[Link], source: Rig, target: Rig) -> list[dict[str, Any]]:
    """Return links by the names of bones, for a file."""
    rows: list[dict[str, Any]] = []
    for link in links:
        row = {"target": target.names[link.target], "source": source.names[link.source], "role": link.role}
        between = {"other": source.names[link.other], "share": link.share} if link.other >= 0 else {}
        rows.append(row | between)
    return rows


def links_from(table: Sequence[Mapping[str, Any]], source: Rig, target: Rig) -> list[Link]:
    """Return the links of a `table_of` names that both skeletons have. Raises `KeyError` for rows without names."""
    own, theirs = ({name.lower(): bone for bone, name in enumerate(rig.names)} for rig in (target, source))
    links = {}
    for row in table:
        bone, other = own.get(row["target"].lower(), -1), theirs.get(row["source"].lower(), -1)
        if min(bone, other) >= 0:
            between = theirs.get(row.get("other", "").lower(), -1)
            share = float(row.get("share", 0.0)) if between >= 0 else 0.0
            links[bone] = Link(bone, other, row.get("role", SAME_NAME), between, share)
    return [links[bone] for bone in sorted(links)]
