"""Limbs, spine, necks, jaws and tails of skeletons, by a table for real ones and by laws for changes of them."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest

from addon.core import limbs
from addon.core.body import Part, Side
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import ogf
from addon.formats.xray.ogf.skeleton import decode_skeleton
from tests.real_files import CORPUS, SAMPLES, VECTORS, corpus_files

LEG, ARM = "l_thigh l_calf l_foot", "l_upperarm l_forearm l_hand"
HOCKED = "l_thigh l_calf l_horselink l_foot"
PAW = f"{ARM} l_finger0"
SPINE, SHORT_SPINE = "spine spine1 spine2", "spine spine1"
TABLE = {
    "stalker 47 (CoP/CS, root_stalker)": ([LEG], [ARM], SPINE, ["head"], ["jaw_1"], [1]),
    "stalker 45 (SoC)": ([LEG], [ARM], SPINE, ["head"], ["jaw_1"], [1]),
    "zombie": ([LEG], [ARM], SHORT_SPINE, ["head"], [], []),
    "lesnik": ([LEG], [ARM], SHORT_SPINE, ["neck head"], ["jaw"], []),
    "controller": ([LEG], [ARM], SHORT_SPINE, ["head"], [], []),
    "burer (vanilla)": ([LEG], [ARM], SHORT_SPINE, ["head"], [], []),
    "burer (Radium)": (
        ["left_thing left_leg left_foot"], ["left_arm left_forearm left_hand"], "spine chest", ["neck head"], ["jaw"],
        [],
    ),
    "bloodsucker (Radium)": ([LEG], [ARM], f"{SPINE} spine3", ["head"], [], []),
    "snork (Radium)": (
        ["leftupleg l_calf leftfoot"], ["leftarm l_forearm lefthand"], SHORT_SPINE, ["neck head"], [], [],
    ),
    "gigant (Radium)": (
        ["leftarm leftforearm lefthand"], ["lefttoparm lefttopforearm lefttophand"], "", ["head"], ["jaw"], [2],
    ),
    "dog": ([HOCKED, PAW], [], SPINE, ["head"], ["ponytail2"], [4]),
    "pseudodog": ([HOCKED, PAW], [], SPINE, ["head"], [], [3]),
    "boar (Radium)": ([HOCKED, PAW], [], SPINE, ["neck head"], [], [2]),
    "flesh": ([HOCKED, PAW], [], "spine", ["head"], [], []),
    "cat": ([f"{LEG} l_toe0", ARM], [], SPINE, ["head"], [], [3]),
    "rat": (["l_calf l_foot l_toe0", ARM], [], "spine1 spine2", ["head"], [], [5]),
    "tushkano": ([HOCKED], [ARM], SHORT_SPINE, ["neck1 head"], [], [5]),
    "chimera (Radium, two heads)": (
        ["l_thing l_leg l_leg_1 l_foot", "arm_l forearm_l hand_l"], [], "spine spine_1",
        ["head_boss", "neck_l head_little"], ["boss_jaw", "jaw_little"], [],
    ),
    "skelet_crash": (
        ["foot_left foot_left1 foot_left2"], ["left_hand left_hand1 left_hand2"], "torso", ["head"], [], [],
    ),
    "skelet_crash_monster": (
        ["foot_left foot_left1 foot_left2", "left_hand left_hand1 left_hand2"], [], "", ["head"], [], [],
    ),
}  # fmt: skip
"""Skeleton -> the joints of the left limbs that it stands on and of the others, each from the hindmost; its spine,
necks, jaws; the numbers of its tails' bones. The rat's rest pose has the calf where the thigh is.
"""
ALIASES = {
    "burer2_dead": "burer (Radium)", "burer_1": "burer (vanilla)", "controller_2": "controller", "dog_big": "dog",
    "flesh_big": "flesh", "human_stalker_hero_1": "stalker 47 (CoP/CS, root_stalker)", "zombi_1": "zombie",
    "mutant_boar_big": "boar (Radium)", "odd_refs2_size_too_small": "stalker 47 (CoP/CS, root_stalker)",
    "pseudodog_big": "pseudodog", "radium_bloodsucker": "bloodsucker (Radium)", "radium_cat": "cat",
    "radium_chimera": "chimera (Radium, two heads)", "radium_psevdogigant": "gigant (Radium)",
    "radium_zombi_trup": "zombie", "skelet_combine_pose_00": "skelet_crash", "skelet_crash_monster":
    "skelet_crash_monster", "snorkdead2": "snork (Radium)", "stalker_lesnik_1": "lesnik", "tushkano_big": "tushkano",
}  # fmt: skip
"""Models of the corpus with those skeletons, in other rest poses."""
HANDS = {
    "gwr_wpn_hand_04", "ixray_wpn_hand_0", "nlc_pp91_hud", "nlc_walter99_hud", "odd_v4_bare_track_numbers",
    "soc_bolt_hud", "soc_pm_hud_embedded",
}  # fmt: skip


def bodies():
    """Name -> names, parents and head positions of the real skeletons of the table."""
    if VECTORS is None:
        return {}
    result = {}
    for skeleton in json.loads((VECTORS / "rigs" / "creatures.json").read_text(encoding="utf-8"))["skeletons"]:
        names = [bone[0] for bone in skeleton["bones"]]
        parents = [names.index(bone[1]) if bone[1] else -1 for bone in skeleton["bones"]]
        result[skeleton["name"]] = names, parents, np.array([bone[2:] for bone in skeleton["bones"]], float)
    return result


BODIES = bodies()
needs_bodies = pytest.mark.skipif(not BODIES, reason="MOTIONBRIDGE_VECTORS is not set")


def model(path):
    skeleton = decode_skeleton(ogf.read(path.read_bytes(), path.name, Report()), Report())
    return skeleton.bones, skeleton.parents.tolist(), skeleton.rest_matrices()[:, :3, 3]


def row(names, parents, heads):
    """What was found, as `TABLE` has it."""
    short = [name.removeprefix("bip01_") for name in names]
    anatomy = limbs.find(names, parents, heads)

    def words(bones):
        return " ".join(short[bone] for bone in bones)

    left = [limb for limb in sorted(anatomy.limbs, key=lambda limb: limb.row) if limb.side is Side.LEFT]
    for limb in left:
        other = next(other for other in anatomy.limbs if (other.row, other.side) == (limb.row, Side.RIGHT))
        assert len(other.joints) == len(limb.joints)
        assert (other.part, other.attached, other.is_on_ground) == (limb.part, limb.attached, limb.is_on_ground)
    return (
        [words(limb.joints) for limb in left if limb.is_on_ground],
        [words(limb.joints) for limb in left if not limb.is_on_ground],
        words(anatomy.torso.spine) if anatomy.torso is not None else "",
        [words(neck) for neck in anatomy.necks],
        [short[bone] for bone in anatomy.jaws],
        [len(tail) for tail in anatomy.tails],
    )


def parts(anatomy, order=None):
    """What was found without an order, as bones of another skeleton if ``order`` says which they are there."""

    def bones(line):
        return tuple(line if order is None else (order[bone] for bone in line))

    torso = anatomy.torso
    return (
        {(limb.row, bones(limb.joints), bones(limb.leading), limb.is_on_ground, limb.part) for limb in anatomy.limbs},
        bones((torso.pelvis, *torso.spine)) if torso is not None else (),
        *(set(map(bones, lines)) for lines in (anatomy.necks, anatomy.tails)),
        set(bones(anatomy.jaws)),
    )


@needs_bodies
@pytest.mark.parametrize("name", TABLE)
def test_the_limbs_of_each_skeleton(name):
    assert row(*BODIES[name]) == TABLE[name]


@pytest.mark.parametrize("path", corpus_files("ogf/*.ogf"))
def test_the_limbs_of_each_model(path):
    if path.stem in ALIASES:
        assert row(*model(path)) == TABLE[ALIASES[path.stem]]
    elif path.stem == "radium_rat":
        assert row(*model(path)) == ([f"{LEG} l_toe0", ARM], *TABLE["rat"][1:])
    else:
        try:
            names, parents, heads = model(path)
        except ReadError:  # no bones
            return
        anatomy = limbs.find(names, parents, heads)
        assert len(anatomy.limbs) == (2 if path.stem in HANDS else 0)
        assert anatomy.torso is None
        assert anatomy.tails == []


@needs_bodies
@pytest.mark.parametrize("name", TABLE)
def test_size_position_reflection_and_order_do_not_matter(name):
    names, parents, heads = BODIES[name]
    expected = parts(limbs.find(names, parents, heads))
    for factors in ((-1, 1, 1), (1, -1, 1), (-1, -1, 1), (100, 100, 100), (0.01, 0.01, 0.01)):
        assert parts(limbs.find(names, parents, heads * factors + (0.3, -5.0, 2.0))) == expected
    order = np.random.default_rng(3).permutation(len(names)).tolist()
    at = {bone: index for index, bone in enumerate(order)}
    shuffled = [at[parents[bone]] if parents[bone] >= 0 else -1 for bone in order]
    assert parts(limbs.find([names[bone] for bone in order], shuffled, heads[order]), order) == expected


@needs_bodies
@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("prefix", ["leg_", "head_", "tail_", "Armature:Beast.", "xq7 "])
def test_what_all_names_begin_with_does_not_matter(name, prefix):
    names, parents, heads = BODIES[name]
    anatomy = limbs.find([prefix + own for own in names], parents, heads)
    assert parts(anatomy) == parts(limbs.find(names, parents, heads))


@needs_bodies
@pytest.mark.parametrize("name", ["dog", "pseudodog", "boar (Radium)", "cat", "chimera (Radium, two heads)"])
def test_without_names_the_limbs_are_found_by_shape(name):
    names, parents, heads = BODIES[name]
    expected, anatomy = (limbs.find(words, parents, heads) for words in (names, [f"b{n}" for n in range(len(names))]))
    joints = [{limb.joints for limb in own.limbs} for own in (expected, anatomy)]
    assert joints[0] == joints[1]
    assert len(joints[0]) == 4
    assert np.allclose(anatomy.forward, expected.forward)


@needs_bodies
@pytest.mark.parametrize("name", ["stalker 47 (CoP/CS, root_stalker)", "zombie", "snork (Radium)", "lesnik"])
def test_arms_whose_names_have_the_wrong_side_do_not_turn_a_body_round(name):
    names, parents, heads = BODIES[name]
    anatomy = limbs.find(names, parents, heads)
    sides = {"l": "r", "r": "l", "left": "right", "right": "left"}

    def exchanged(word):
        pattern = r"(?<![a-z])[lr](?=_)|left|right"
        return re.sub(pattern, lambda match: sides[match.group()], word)

    arms = {bone for limb in anatomy.limbs if limb.part is Part.ARM for bone in limb.leading or limb.joints}
    below = [not arms.isdisjoint(limbs.bone_and_ancestors(bone, parents)) for bone in range(len(names))]
    other = limbs.find([exchanged(own) if arm else own for own, arm in zip(names, below, strict=True)], parents, heads)
    assert {limb.joints for limb in other.limbs} == {limb.joints for limb in anatomy.limbs}
    assert other.forward @ anatomy.forward > 0.99


@needs_bodies
@pytest.mark.parametrize("name", ["dog", "boar (Radium)", "cat", "chimera (Radium, two heads)"])
def test_the_same_legs_are_the_hindmost_if_the_root_is_elsewhere(name):
    """The chest carries the pelvis, and not the other way round."""
    names, parents, heads = BODIES[name]
    anatomy = limbs.find(names, parents, heads)
    line = limbs.bone_and_ancestors(anatomy.torso.spine[-1], parents)
    turned = list(parents)
    for bone, above in pairwise(line):
        turned[above] = bone
    turned[line[0]] = -1
    rows = [{(limb.joints, limb.row) for limb in own.limbs} for own in (anatomy, limbs.find(names, turned, heads))]
    assert rows[0] == rows[1]


def test_eight_legs_of_a_spider_without_names():
    parents, heads = [-1], [(0.0, 0.0, 0.5)]
    for side in (-1, 1):
        for leg in range(4):
            y = 0.2 * leg - 0.3
            for number, (x, z) in enumerate(((0.1, 0.5), (0.4, 0.8), (0.9, 0.4), (1.0, 0.0))):
                parents.append(0 if number == 0 else len(heads) - 1)
                heads.append((side * x, y * (1 + x), z))
    anatomy = limbs.find([f"b{n}" for n in range(len(heads))], parents, np.array(heads))
    assert [len(limb.joints) for limb in anatomy.limbs] == [3] * 8
    assert all(limb.is_on_ground and limb.attached == 0 and len(limb.leading) == 1 for limb in anatomy.limbs)
    sides = [side for side in (Side.LEFT, Side.RIGHT) for limb in anatomy.limbs if limb.side is side]
    assert len(sides) == 8


def test_doors_wheels_and_nothing_have_no_limbs():
    car = ["body", "left_front_wheel", "right_front_wheel", "left_door", "right_door", "left_door_glass"]
    heads = np.array([(0, 0, 1), (-1, 1, 0.3), (1, 1, 0.3), (-1, 0, 1), (1, 0, 1), (-1, 0, 1.4)], float)
    anatomy = limbs.find(car, [-1, 0, 0, 0, 0, 3], heads)
    assert (anatomy.limbs, anatomy.torso, anatomy.necks, anatomy.tails) == ([], None, [], [])
    assert limbs.find([], [], np.empty((0, 3))) == limbs.Anatomy()


def test_our_own_samples():
    names, parents, heads = model(SAMPLES / "humanoid.ogf")
    anatomy = limbs.find(names, parents, heads)
    assert len(anatomy.limbs) == 4
    assert anatomy.torso is not None
    assert limbs.find(*model(SAMPLES / "weapon.ogf")).limbs == []


def test_the_corpus_is_known():
    """So that no model of it is left out of the table by its name."""
    if CORPUS is not None:
        assert {path.stem for path in (CORPUS / "ogf").iterdir()} >= set(ALIASES) | HANDS
