"""Parts of the body by name, and where bones are drawn to."""

import numpy as np
import pytest

from addon.core.body import LONGEST_LEAF, Part, Side, body_of, drawing_of, main_children, side_of

STALKER = {
    "root_stalker": ("", (0, 0, 1)),
    "bip01": ("root_stalker", (0, 0, 1)),
    "bip01_pelvis": ("bip01", (0, 0, 1)),
    "bip01_l_thigh": ("bip01_pelvis", (0.1, 0, 0.95)),
    "bip01_l_calf": ("bip01_l_thigh", (0.1, 0, 0.5)),
    "bip01_l_foot": ("bip01_l_calf", (0.1, 0, 0.1)),
    "bip01_r_thigh": ("bip01_pelvis", (-0.1, 0, 0.95)),
    "bip01_spine": ("bip01_pelvis", (0, 0, 1.1)),
    "bip01_neck": ("bip01_spine", (0, 0, 1.5)),
    "bip01_head": ("bip01_neck", (0, 0, 1.6)),
    "jaw_1": ("bip01_head", (0, -0.1, 1.62)),
    "bip01_l_clavicle": ("bip01_neck", (0.05, 0, 1.45)),
    "bip01_l_forearm": ("bip01_l_clavicle", (0.5, 0, 1.45)),
    "l_forearm_twist": ("bip01_l_forearm", (0.5, 0, 1.45)),
    "bip01_l_hand": ("bip01_l_forearm", (0.7, 0, 1.45)),
    "bip01_l_finger0": ("bip01_l_hand", (0.71, -0.02, 1.45)),
    "bip01_l_finger1": ("bip01_l_hand", (0.8, 0, 1.45)),
    "pouch": ("bip01_spine", (0.2, 0, 1.1)),
}
NAMES = list(STALKER)
PARENTS = [NAMES.index(parent) if parent else -1 for parent, _ in STALKER.values()]
HEADS = np.array([head for _, head in STALKER.values()], float)


def matrices() -> np.ndarray:
    result = np.tile(np.eye(4), (len(NAMES), 1, 1))
    result[:, :3, 3] = HEADS
    return result


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("bip01_l_hand", Side.LEFT), ("r_clavicle", Side.RIGHT), ("LeftHandRing1", Side.LEFT),
        ("RightUpLegRoll", Side.RIGHT), ("arm_l", Side.LEFT), ("hand.R", Side.RIGHT), ("lbiceps", Side.LEFT),
        ("pstehno", Side.RIGHT), ("RigLFLeg1", Side.LEFT), ("RigRBLegAnkle", Side.RIGHT), ("bip01_spine", Side.NONE),
        ("lead_gun", Side.NONE), ("pelvis", Side.NONE), ("prujina1", Side.NONE),
    ],
)  # fmt: skip
def test_sides_are_reported_by_names(name, side):
    assert side_of(name) is side


def test_parts_are_reported_by_names_and_else_by_parents():
    body = body_of(NAMES, PARENTS)
    parts = dict(zip(NAMES, body.parts, strict=True))
    assert body.is_body
    assert parts["root_stalker"] is parts["bip01"] is Part.ROOT
    assert parts["bip01_pelvis"] is parts["pouch"] is Part.SPINE
    assert (parts["bip01_head"], parts["jaw_1"]) == (Part.HEAD, Part.FACE)
    assert (parts["l_forearm_twist"], parts["bip01_l_finger0"]) == (Part.HELPER, Part.HAND)


def test_roll_bones_in_a_limb_are_of_the_limb_and_others_are_helpers():
    names = ["LeftArm", "LeftArmRoll", "LeftForeArm", "LeftForeArmRoll", "RightArm"]
    assert body_of(names, [-1, 0, 1, 2, -1]).parts == [Part.ARM, Part.ARM, Part.ARM, Part.HELPER, Part.ARM]


def test_the_man_of_flashpoint_is_a_body():
    names = ["bricho", "hlava", "prameno", "lrameno", "pruka", "zbran", "lchodidlo"]
    body = body_of(names, [-1, 0, 0, 0, 2, 0, 0])
    assert body.parts == [Part.SPINE, Part.HEAD, Part.ARM, Part.ARM, Part.ARM, Part.WEAPON, Part.LEG]
    assert [side.name for side in body.sides] == ["NONE", "NONE", "RIGHT", "LEFT", "RIGHT", "NONE", "LEFT"]


@pytest.mark.parametrize("names", [["wpn_body", "magazine", "barrel", "l_cover"], ["left_strap", "right_strap"], []])
def test_without_limbs_on_both_sides_it_is_no_body(names):
    body = body_of(names, [-1] + [0] * (len(names) - 1) if names else [])
    assert not body.is_body
    assert set(body.parts) <= {Part.OTHER}


def test_bones_lead_to_the_next_joint_of_their_limb():
    chosen = main_children(HEADS, PARENTS, body_of(NAMES, PARENTS))
    main = {name: NAMES[child] if child >= 0 else "" for name, child in zip(NAMES, chosen, strict=True)}
    assert main["bip01_pelvis"] == "bip01_spine"
    assert main["bip01_l_thigh"] == "bip01_l_calf"
    assert main["bip01_neck"] == "bip01_head"
    assert main["bip01_head"] == ""
    assert main["bip01_l_forearm"] == "bip01_l_hand"
    assert main["bip01_l_hand"] == "bip01_l_finger1"
    assert main["bip01"] == ""


def test_shapes_end_at_the_next_head_and_leaves_go_on_half_as_far():
    drawing = drawing_of(matrices(), np.full(len(NAMES), 0.05), PARENTS, body_of(NAMES, PARENTS))
    drawn = dict(zip(NAMES, drawing.vectors, strict=True))
    assert drawn["bip01_l_thigh"] == pytest.approx([0, 0, -0.45])
    assert drawn["bip01_l_foot"] == pytest.approx([0, 0, -LONGEST_LEAF])  # half of 0.4 m
    assert drawn["bip01_l_finger0"] == pytest.approx(np.array([0.01, -0.02, 0]) / 2, abs=0.006)
    assert drawn["l_forearm_twist"] == pytest.approx([0.1, 0, 0])  # at its parent's head: as that one is drawn


def test_roots_are_rings_that_enclose_each_other():
    drawing = drawing_of(matrices(), np.full(len(NAMES), 0.05), PARENTS, body_of(NAMES, PARENTS))
    joints = {name for name, is_joint in zip(NAMES, drawing.is_joint, strict=True) if is_joint}
    assert joints == {"root_stalker", "bip01"}
    assert drawing.radii[0] > drawing.radii[1] > 0


def test_a_lone_bone_is_drawn_along_its_own_axis():
    turned = np.eye(4)[None].copy()
    turned[0, :3, :3] = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    drawing = drawing_of(turned, np.array([0.3]), [-1], body_of(["wpn_body"], [-1]))
    assert drawing.vectors[0] == pytest.approx([0.3, 0, 0])
    assert not drawing.is_joint[0]
