"""Motions of other skeletons, judged by joints alone: directions, positions and palms, computed from heads."""

import itertools

import numpy as np
import pytest

from addon.core import bone_map, limb_goals, retarget, rotation
from addon.core.bone_map import Link, Rig
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray.ogf import codec, skeleton
from tests import rigs
from tests.real_files import CORPUS, SAMPLES

LIMBS = [("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")]
SCHEMES = (
    "mixamo", "rokoko_newton", "cmu_motionbuilder", "cmu_daz", "ue4", "ue5_metahuman", "actorcore_cc", "biped", "smpl",
    "unity_vrm", "rigify_metarig", "ofp_man", "arma_man", "xray_stalker",
)  # fmt: skip


def linked(source, target):
    return bone_map.links_of(source, target, bone_map.roles_of(source), bone_map.roles_of(target))


def put_onto(source, poses, target, **options):
    return retarget.retarget(source, poses, target, linked(source, target), **options)


def heads_of(poses, rig, name):
    return poses[:, rig.names.index(name), :3, 3]


def angle(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1)))


def left_of(rig, bones):
    """The heading of the way from the right to the left hip joint, in radians."""
    across = rig.heads[bones[0]] - rig.heads[bones[1]]
    return np.arctan2(across[1], across[0])


def limb_angles(source, poses, target, results):
    """(segments, frames): degrees between the directions of limbs, seen from where each body faces at rest."""
    pairs = {link.role: link for link in linked(source, target)}
    thighs = [pairs["thigh.L"], pairs["thigh.R"]]
    angle_of = left_of(target, [link.target for link in thighs]) - left_of(source, [link.source for link in thighs])
    angle_of = np.rint(angle_of / np.pi) * np.pi
    turned = rotation.matrices(rotation.about_axis(2, angle_of))
    angles = []
    for limb, suffix in itertools.product(LIMBS, (".L", ".R")):
        for start, end in itertools.pairwise([pairs[joint + suffix] for joint in limb]):
            theirs = (poses[:, end.source] - poses[:, start.source])[:, :3, 3] @ turned.T
            own = (results[:, end.target] - results[:, start.target])[:, :3, 3]
            angles.append(angle(theirs, own))
    return np.array(angles)


def humanoid():
    """The rig of our sample model."""
    data = (SAMPLES / "humanoid.ogf").read_bytes()
    own = skeleton.decode_skeleton(codec.read(data, "humanoid.ogf", Report()), Report())
    return Rig(own.bones, own.parents, own.rest_matrices())


@pytest.mark.parametrize("seed", range(5))
def test_a_skeleton_onto_itself_keeps_every_pose(seed):
    rig = rigs.body(np.random.default_rng(seed))
    poses = rigs.walk(rig, seed=seed)
    assert np.abs(put_onto(rig, poses, rig, feet=False).poses - poses).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_other_rest_pose_and_axes_of_the_same_body_give_the_same_joints(seed):
    random = np.random.default_rng(seed)
    rig, other = rigs.body(), rigs.body(random, lower_arms=random.uniform(0.3, 1.2))
    poses = rigs.walk(rig, seed=seed)
    result = put_onto(rig, poses, other, feet=False).poses
    assert np.abs(result[..., :3, 3] - poses[..., :3, 3]).max() < 1e-4 * 1.7


@pytest.mark.parametrize("seed", range(5))
def test_there_and_back_is_the_same_motion(seed):
    random = np.random.default_rng(seed)
    rig, target = rigs.body(random, lower_arms=0.4), humanoid()
    poses = rigs.walk(rig, seed=seed)
    there = put_onto(rig, poses, target, feet=False).poses
    back = put_onto(target, there, rig, feet=False).poses
    used = [link.target for link in linked(target, rig) if link.role not in {bone_map.SPINE, bone_map.NECK}]
    assert limb_angles(rig, poses, rig, back).max() < 0.01
    turned = rotation.from_matrices(poses[:, used, :3, :3]), rotation.from_matrices(back[:, used, :3, :3])
    assert np.degrees(rotation.angles_between(*turned)).max() < 0.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_is_recognised_whatever_rest_pose_and_axes(scheme, vectors):
    random = np.random.default_rng(len(scheme))
    naming = rigs.naming_of(vectors, scheme)
    source = rigs.body(random, lower_arms=0.7, naming=naming)
    roles = bone_map.roles_of(source)
    for joint, name in naming.items():
        if joint not in {"spine1", "spine2", "chest", "neck"} and name in source.names:
            part, dot, side = joint.partition(".")
            role = (part.rstrip("123") if part.rstrip("123") in bone_map.FINGERS else part) + dot + side
            assert source.names.index(name) in roles.parts[role], joint


def test_the_walk_has_the_directions_of_the_capture_and_feet_that_stand(vectors):
    source, poses, rate = rigs.read_bvh(vectors / "rigs" / "cmu_12_01_walk.bvh")
    poses, target = poses[1 :: round(rate / 30)], humanoid()
    free = put_onto(source, poses, target, feet=False)
    assert limb_angles(source, poses, target, free.poses).max() < 0.1
    held = put_onto(source, poses, target)
    slides = []
    for side, name in enumerate(("LeftFoot", "RightFoot")):
        foot = next(link.target for link in linked(source, target) if source.names[link.source] == name)
        theirs = held.scale * heads_of(poses, source, name)
        for first, last in limb_goals.standing(theirs):
            own = [result.poses[first : last + 1, foot, :3, 3] for result in (free, held)]
            speeds = 30 * np.linalg.norm(np.diff(own[0][:, :2], axis=0), axis=1)
            slides.append((speeds.mean(), np.ptp(own[1], axis=0).max()))
            assert held.stands[side, first : last + 1].all()
    slides = np.array(slides)
    assert len(slides) == 8
    assert slides[:, 0].mean() < 0.12
    assert slides[:, 1].max() < 0.005
    assert held.lowered < 0.05


def test_a_foot_that_stands_does_not_slide_on_other_proportions():
    source = rigs.body()
    poses = rigs.walk(source, frames=90)
    target = humanoid()
    result = put_onto(source, poses, target)
    ends = {link.role: link for link in linked(source, target)}
    count = 0
    for role in ("foot.L", "foot.R"):
        theirs = result.scale * poses[:, ends[role].source, :3, 3]
        for first, last in limb_goals.standing(theirs):
            own = result.poses[first : last + 1, ends[role].target, :3, 3]
            assert np.ptp(own, axis=0).max() < 0.005
            count += 1
    assert count > 1


@pytest.mark.parametrize("seed", range(4))
def test_palms_look_where_those_of_the_source_look(seed):
    random = np.random.default_rng(seed)
    source, target = rigs.body(random), rigs.body(random, lower_arms=1.0)
    poses = rigs.walk(source, seed=seed)
    result = put_onto(source, poses, target, feet=False).poses
    for side in (".L", ".R"):
        normals = []
        for own, rig in ((poses, source), (result, target)):
            wrist, index, little = (heads_of(own, rig, name + side) for name in ("hand", "index1", "pinky1"))
            normals.append(np.cross(index - wrist, little - wrist))
        assert angle(*normals).max() < 1.0


HINGES = [
    *itertools.product(("upper_arm", "forearm"), [("upper_arm", "forearm", "hand")]),
    *itertools.product(("thigh", "shin"), [("thigh", "shin", "foot")]),
]


def hinge_of(rig, bone_of, joint, side):
    """The axis about which a joint bends at rest: of knees and elbows across both segments, of fingers in the palm."""
    if joint in bone_map.FINGERS:
        wrist, index, pinky = (rig.heads[bone_of[name + side]] for name in ("hand", "index", "pinky"))
        line = rig.heads[bone_of[joint + side]] - wrist
        return np.cross(np.cross(index - wrist, pinky - wrist), line)
    limb = next(joints for name, joints in HINGES if name == joint)
    start, middle, end = (rig.heads[bone_of[name + side]] for name in limb)
    return np.cross(middle - start, end - middle)


@pytest.mark.parametrize("seed", range(6))
def test_bones_carry_their_hinges_as_those_of_the_source_do(seed, vectors):
    random = np.random.default_rng(seed)
    body, naming = rigs.body(random), rigs.naming_of(vectors, "mixamo")
    poses, source = rigs.walk(body, seed=seed), rigs.renamed(body, naming)
    poses = poses[:, [bone for bone, name in enumerate(body.names) if naming.get(name)]]
    target = rigs.body(random, random.uniform(0.2, 1.2), rigs.naming_of(vectors, "ue4"))
    result = put_onto(source, poses, target).poses
    links = linked(source, target)
    first_of = {link.role: link for link in reversed(links)}
    joints = ["upper_arm", "forearm", "thigh", "shin", *bone_map.FINGERS[1:]]
    for joint, side in itertools.product(joints, (".L", ".R")):
        axes = []
        for rig, own, end in ((source, poses, "source"), (target, result, "target")):
            bone_of = {role: getattr(link, end) for role, link in first_of.items()}
            bone = bone_of[joint + side]
            turned = own[:, bone, :3, :3] @ rig.rest[bone, :3, :3].T
            axes.append(turned @ hinge_of(rig, bone_of, joint, side))
        assert angle(*axes).mean() < 5.0, joint + side


def stretched(rig, random):
    """The same body with segments of other lengths."""
    heads = rig.heads.copy()
    for bone, above in enumerate(rig.parents):
        if above >= 0:
            step = rig.heads[bone] - rig.heads[above]
            name = rig.names[bone].partition(".")[0]
            heads[bone] = heads[above] + step * np.random.default_rng([random, len(name)]).uniform(0.7, 1.4)
    rest = rig.rest.copy()
    rest[:, :3, 3] = heads
    rest[:, 2, 3] -= heads[:, 2].min() - rig.heads[:, 2].min()
    return Rig(rig.names, rig.parents, rest)


@pytest.mark.parametrize("seed", range(8))
def test_feet_stand_on_bodies_of_all_proportions(seed, vectors):
    source, poses, rate = rigs.read_bvh(vectors / "rigs" / "cmu_12_01_walk.bvh")
    poses, target = poses[1 :: round(rate / 30)], stretched(rigs.body(np.random.default_rng(seed)), seed)
    result = put_onto(source, poses, target)
    ends = {link.role: link for link in linked(source, target)}
    leg = np.linalg.norm(np.diff(target.heads[[ends[f"{j}.L"].target for j in LIMBS[1]]], axis=0), axis=1).sum()
    count = 0
    for role in ("foot.L", "foot.R"):
        theirs = result.scale * poses[:, ends[role].source, :3, 3]
        for first, last in limb_goals.standing(theirs, leg):
            own = result.poses[first : last + 1, ends[role].target, :3, 3]
            assert np.ptp(own, axis=0).max() < 0.005
            count += 1
    assert count == 8


@pytest.mark.parametrize("heading", [0.5, 1.5707963, 3.1415926, -2.0])
def test_which_way_and_how_large_the_source_is_does_not_matter(heading):
    rig, target = rigs.body(), humanoid()
    poses = rigs.walk(rig)
    expected = put_onto(rig, poses, target).poses
    placed = np.eye(4)
    placed[:3, :3] = rotation.matrices(rotation.about_axis(2, np.float64(heading)))
    other = Rig(rig.names, rig.parents, placed @ rig.rest)
    moved = placed @ poses
    rest, moved = other.rest.copy(), moved.copy()
    rest[:, :3, 3] *= 37.0
    moved[..., :3, 3] *= 37.0
    result = put_onto(Rig(rig.names, rig.parents, rest), moved, target).poses
    assert np.abs(result - expected).max() < 1e-6


def test_a_source_that_lies_with_y_up_is_put_upright():
    rig, target = rigs.body(), humanoid()
    poses = rigs.walk(rig)
    lying = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    result = put_onto(Rig(rig.names, rig.parents, lying @ rig.rest), lying @ poses, target).poses
    assert np.abs(result - put_onto(rig, poses, target).poses).max() < 1e-6


def test_extra_bones_of_the_spine_are_shared_out():
    rig = rigs.body()
    poses = rigs.walk(rig)
    few = rigs.renamed(rig, {name: name for name in rig.names if name not in {"spine2", "neck"}})
    result = put_onto(rig, poses, few, feet=False).poses
    chest = few.names.index("chest"), rig.names.index("chest")
    assert np.abs(result[:, chest[0], :3, :3] - poses[:, chest[1], :3, :3]).max() < 1e-9
    many = put_onto(few, result, rig, feet=False).poses
    bent = [
        rotation.from_matrices(many[:, rig.names.index(name), :3, :3] @ rig.rest[rig.names.index(name), :3, :3].T)
        for name in ("spine1", "spine2", "chest")
    ]
    steps = [rotation.angles_between(a, b).mean() for a, b in itertools.pairwise(bent)]
    assert min(steps) > 0.1 * sum(steps)


def test_travel_is_taken_out_and_stated():
    rig, target = rigs.body(), humanoid()
    poses = rigs.walk(rig)
    kept = put_onto(rig, poses, target)
    still = put_onto(rig, poses, target, root=retarget.RootMotion.IN_PLACE)
    hips = target.names.index(next(target.names[b] for b in bone_map.roles_of(target).parts["hips"]))
    moved = [result.poses[-1, hips, :3, 3] - result.poses[0, hips, :3, 3] for result in (kept, still)]
    assert np.linalg.norm(moved[0][:2]) > 0.2
    assert np.linalg.norm(moved[1][:2]) < 0.05
    assert np.linalg.norm(kept.travel[:2] - still.travel[:2]) < 1e-9


def test_hands_that_touch_stay_together():
    rig, target = rigs.body(), humanoid()
    poses = np.repeat(rig.rest[None], 4, axis=0)
    folds = itertools.product(((".L", 1.0), (".R", -1.0)), (("upper_arm", 1.1), ("forearm", 1.7)))
    for (side, sign), (joint, size) in folds:
        turned = np.eye(4)
        turned[:3, :3] = rotation.matrices(rotation.about_axis(2, np.float64(-sign * size)))
        start = rig.names.index(joint + side)
        below = [bone for bone in range(len(rig.names)) if start in rig.line(bone)]
        centre = np.eye(4)
        centre[:3, 3] = poses[0, start, :3, 3]
        poses[:, below] = centre @ turned @ np.linalg.inv(centre) @ poses[:, below]
    result = put_onto(rig, poses, target)
    ends = [link for link in linked(rig, target) if link.role.startswith("hand")]
    gaps = [poses[0, link.source, :3, 3] for link in ends], [result.poses[0, link.target, :3, 3] for link in ends]
    lengths = []
    for own, bones in ((rig, [link.source for link in ends]), (target, [link.target for link in ends])):
        elbow = own.parents[bones[0]]
        line = own.heads[[bones[0], elbow, own.parents[elbow]]]
        lengths.append(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    apart = [np.linalg.norm(gap[0] - gap[1]) / length for gap, length in zip(gaps, lengths, strict=True)]
    assert apart[0] < limb_goals.TOUCHING_HANDS
    assert apart[1] == pytest.approx(apart[0], rel=1e-3)


def test_twist_bones_follow_the_hand():
    rig = rigs.body()
    names = [*rig.names, "forearm_twist.L"]
    forearm, hand = rig.names.index("forearm.L"), rig.names.index("hand.L")
    parents = np.array([*rig.parents, forearm], np.int32)
    rest = np.concatenate([rig.rest, rig.rest[forearm][None]])
    rest[-1, :3, 3] = (rig.rest[forearm, :3, 3] + rig.rest[hand, :3, 3]) / 2
    target = Rig(names, parents, rest)
    poses = np.repeat(rig.rest[None], 3, axis=0)
    along = rig.rest[hand, :3, 3] - rig.rest[forearm, :3, 3]
    half = np.radians(60.0) / 2
    turned = rotation.matrices(np.array([np.cos(half), *(np.sin(half) * along / np.linalg.norm(along))]))
    poses[:, hand, :3, :3] = turned @ poses[:, hand, :3, :3]
    result = put_onto(rig, poses, target, feet=False).poses
    change = rotation.from_matrices(result[0, -1, :3, :3] @ rest[-1, :3, :3].T)
    assert np.degrees(rotation.angles_between(change, rotation.IDENTITY)) == pytest.approx(30.0, abs=1e-6)
    assert np.abs(result[:, :-1, :3, 3] - poses[..., :3, 3]).max() < 1e-9


@pytest.mark.parametrize("name", ["dog_big", "pseudodog_big", "mutant_boar_big", "radium_cat", "radium_bloodsucker"])
def test_limbs_without_names_are_those_with_names(name):
    if CORPUS is None:
        pytest.skip("MOTIONBRIDGE_CORPUS is not set")
    data = (CORPUS / "ogf" / f"{name}.ogf").read_bytes()
    own = skeleton.decode_skeleton(codec.read(data, name, Report()), Report())
    rig = Rig(own.bones, own.parents, own.rest_matrices())
    named, nameless = (
        bone_map.roles_of(each).parts
        for each in (rig, Rig([f"b{n}" for n in range(len(rig.names))], rig.parents, rig.rest))
    )
    limbs = {f"{part}{side}" for part in (*bone_map.ARM, *bone_map.LEG) for side in (".L", ".R")} & set(named)
    assert len(limbs) >= 12
    assert {role: nameless.get(role) for role in limbs} == {role: named[role] for role in limbs}
    assert nameless["hips"] == named["hips"]


def test_a_bvh_file_of_ours_has_the_joints_of_its_poses(tmp_path):
    rig = rigs.body(np.random.default_rng(3))
    poses = rigs.walk(rig)
    rigs.write_bvh(tmp_path / "walk.bvh", rig, poses, 30.0)
    read, own, rate = rigs.read_bvh(tmp_path / "walk.bvh")
    order = [read.names.index(name) for name in rig.names]
    assert (sorted(order), rate) == (list(range(len(rig.names))), pytest.approx(30.0))
    assert np.abs(own[:, order][..., :3, 3] - poses[..., :3, 3]).max() < 1e-5


def test_frames_are_resampled_on_the_sphere():
    turned = rotation.transforms(
        rotation.about_axis(2, np.array([0.0, 1.0, 3.0])), np.array([[0, 0, 0], [2, 0, 0], [2, 4, 0]])
    )
    wanted = np.array([-1.0, 0.25, 1.0, 1.5, 9.0])
    result = retarget.resampled(turned[:, None], np.array([0.0, 1.0, 2.0]), wanted)[:, 0]
    angles = np.arctan2(result[:, 1, 0], result[:, 0, 0])
    assert angles == pytest.approx([0.0, 0.25, 1.0, 2.0, 3.0])
    assert result[:, :2, 3] == pytest.approx(np.array([[0, 0], [0.5, 0], [2, 0], [2, 2], [2, 4]]))


def test_nothing_linked_and_opposite_limbs_are_refused():
    rig = rigs.body()
    poses = rigs.walk(rig, frames=3)
    with pytest.raises(ReadError, match="no bone of the source was recognised"):
        retarget.retarget(rig, poses, rig, [])
    other = Rig(rig.names, rig.parents, rig.rest.copy())
    shin, foot, toe = (rig.names.index(name) for name in ("shin.L", "foot.L", "toe.L"))
    other.rest[[foot, toe], :3, 3] += 2 * (rig.rest[shin, :3, 3] - rig.rest[foot, :3, 3])
    with pytest.raises(ReadError, match="opposite directions"):
        put_onto(rig, poses, other)


def test_a_link_by_hand_replaces_the_one_that_was_found():
    rig = rigs.body()
    poses = rigs.walk(rig, frames=3)
    head, chest = rig.names.index("head"), rig.names.index("chest")
    links = [Link(head, chest, "head") if link.target == head else link for link in linked(rig, rig)]
    result = retarget.retarget(rig, poses, rig, links, feet=False).poses
    change = [poses[:, chest, :3, :3] @ rig.rest[chest, :3, :3].T, result[:, head, :3, :3] @ rig.rest[head, :3, :3].T]
    assert np.abs(change[0] - change[1]).max() < 1e-9


def test_hands_alone_move_relative_to_the_chest():
    rig = rigs.body()
    poses = rigs.walk(rig)
    names = {name: f"bip01_{name}" if name.startswith("index") else name for name in rig.names}
    arms = ("clavicle", "upper_arm", "forearm", "hand", "index", "pinky", "chest")
    naming = {
        old: new.replace("upper_arm", "upperarm").replace("index", "finger1")
        for old, new in names.items()
        if old.startswith(arms)
    }
    hands = rigs.renamed(rig, naming)
    assert set(bone_map.roles_of(hands).parts) >= {"hand.L", "hand.R"}
    result = put_onto(rig, poses, hands).poses
    chest = rig.names.index("chest")
    still = rig.rest[chest] @ np.linalg.inv(poses[:, chest])[:, None] @ poses
    for name in ("hand.L", "forearm.R"):
        wrist = heads_of(result, hands, name) - heads_of(result, hands, "upperarm" + name[-2:])
        theirs = heads_of(still, rig, name) - heads_of(still, rig, "upper_arm" + name[-2:])
        assert angle(wrist, theirs).max() < 0.1
