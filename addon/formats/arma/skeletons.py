"""The skeletons of the games' men: bones, parents, and joints where they are known.

Arma 3's and Arma 2's from public configurations; the bones of Operation Flashpoint's man from its configurations and
the community's. Joints are recovered from animations of mods (rigs differ by a centimetre) and only for display.
"""

from __future__ import annotations

from .hierarchy import Hierarchy

_UPPER = """
    Pelvis, Spine < Pelvis, Spine1 < Spine, Spine2 < Spine1, Spine3 < Spine2, Camera < Pelvis, weapon < Spine1,
    launcher < Spine1, neck < Spine3, neck1 < neck, head < neck1
"""
_FACE = """
    Face_Hub < head, Face_Jawbone < Face_Hub, Face_Jowl < Face_Jawbone, Face_chopRight < Face_Jawbone,
    Face_chopLeft < Face_Jawbone, Face_LipLowerMiddle < Face_Jawbone, Face_LipLowerLeft < Face_Jawbone,
    Face_LipLowerRight < Face_Jawbone, Face_Chin < Face_Jawbone, Face_Tongue < Face_Jawbone,
    Face_CornerRight < Face_Hub, Face_CheekSideRight < Face_CornerRight, Face_CornerLeft < Face_Hub,
    Face_CheekSideLeft < Face_CornerLeft, Face_CheekFrontRight < Face_Hub, Face_CheekFrontLeft < Face_Hub,
    Face_CheekUpperRight < Face_Hub, Face_CheekUpperLeft < Face_Hub, Face_LipUpperMiddle < Face_Hub,
    Face_LipUpperRight < Face_Hub, Face_LipUpperLeft < Face_Hub, Face_NostrilRight < Face_Hub,
    Face_NostrilLeft < Face_Hub, Face_Forehead < Face_Hub, Face_BrowFrontRight < Face_Forehead,
    Face_BrowFrontLeft < Face_Forehead, Face_BrowMiddle < Face_Forehead, Face_BrowSideRight < Face_Forehead,
    Face_BrowSideLeft < Face_Forehead, Face_Eyelids < Face_Hub, Face_EyelidUpperRight < Face_Hub,
    Face_EyelidUpperLeft < Face_Hub, Face_EyelidLowerRight < Face_Hub, Face_EyelidLowerLeft < Face_Hub,
    EyeLeft < Face_Hub, EyeRight < Face_Hub
"""
_FACE_ARMA_2 = """
    HeadCutScene, jaw, chin, jaw_rf, jaw_rm, jaw_rs, jaw_lf, jaw_lm, jaw_ls, ear_r, ear_l, lip_lc, lip_lwlb,
    lip_lwlf, lip_lwm, lip_lwrf, lip_lwrb, lip_rc, lip_uprb, lip_uprf, lip_upm, lip_uplf, lip_uplb, nose_tip,
    nose_r, nose_l, zig_lt, zig_lm, zig_lb, zig_rt, zig_rm, zig_rb, cheek_r, cheek_l, eyebrow_lb, eyebrow_lm,
    eyebrow_lf, corr, eyebrow_rf, eyebrow_rm, eyebrow_rb, eye_upr, eye_lwr, eye_upl, eye_lwl, cheek_rf,
    cheek_rm, cheek_rb, cheek_lf, cheek_lm, cheek_lb, forehead_l, forehead_m, forehead_r, l_eye, r_eye,
    l_pupila, r_pupila, neck_t, neck_b, neck_r, neck_l, tongue_b, tongue_m, tongue_f
"""
_LEFT_ARM = """
    LeftShoulder < Spine3, LeftArm < LeftShoulder, LeftArmRoll < LeftArm, LeftForeArm < LeftArmRoll,
    LeftForeArmRoll < LeftForeArm, LeftHand < LeftForeArmRoll, LeftHandRing < LeftHand,
    LeftHandRing1 < LeftHandRing, LeftHandRing2 < LeftHandRing1, LeftHandRing3 < LeftHandRing2,
    LeftHandPinky1 < LeftHandRing, LeftHandPinky2 < LeftHandPinky1, LeftHandPinky3 < LeftHandPinky2,
    LeftHandMiddle1 < LeftHand, LeftHandMiddle2 < LeftHandMiddle1, LeftHandMiddle3 < LeftHandMiddle2,
    LeftHandIndex1 < LeftHand, LeftHandIndex2 < LeftHandIndex1, LeftHandIndex3 < LeftHandIndex2,
    LeftHandThumb1 < LeftHand, LeftHandThumb2 < LeftHandThumb1, LeftHandThumb3 < LeftHandThumb2
"""
_LEFT_LEG = """
    LeftUpLeg < Pelvis, LeftUpLegRoll < LeftUpLeg, LeftLeg < LeftUpLegRoll, LeftLegRoll < LeftLeg,
    LeftFoot < LeftLegRoll, LeftToeBase < LeftFoot
"""
_LIMBS = ",".join(limb.replace("Left", side) for limb in (_LEFT_ARM, _LEFT_LEG) for side in ("Left", "Right"))
_OFP_MAN = """
    pchodidlo < pholen, lchodidlo < lholen, pprsty < pchodidlo, lprsty < lchodidlo, pholen < pstehno,
    lholen < lstehno, pstehno < pzadek, lstehno < lzadek, pzadek < bricho, lzadek < bricho, bricho, zebra < bricho,
    hrudnik < zebra, krk < hrudnik, prameno < hrudnik, lrameno < hrudnik, hlava < krk, pbiceps < prameno,
    lbiceps < lrameno, ploket < pbiceps, lloket < lbiceps, roura < hrudnik, pruka < ploket, lruka < lloket,
    zbran < hrudnik, loboci < hlava, soboci < hlava, poboci < hlava, lkoutek < hlava, skoutek < hlava,
    pkoutek < hlava, vicka < hlava, spodni ret < hlava
"""

_JOINTS = {
    "Spine1": (0.0, 0.156, 0.012),
    "Spine2": (0.0, 0.286, 0.027),
    "neck": (0.0, 0.555, 0.025),
    "neck1": (0.0, 0.627, 0.008),
    "head": (0.0, 0.667, 0.007),
}
_LEFT_JOINTS = {
    "Shoulder": (0.065, 0.51, 0.02),
    "Arm": (0.203, 0.477, 0.050),
    "ArmRoll": (0.281, 0.39, 0.064),
    "ForeArm": (0.378, 0.283, 0.084),
    "ForeArmRoll": (0.471, 0.178, 0.076),
    "Hand": (0.587, 0.068, 0.077),
    "HandThumb1": (0.589, 0.063, 0.047),
    "HandThumb2": (0.612, 0.034, 0.011),
    "HandThumb3": (0.630, 0.013, -0.009),
    "HandIndex1": (0.650, 0.004, 0.045),
    "HandIndex2": (0.680, -0.022, 0.038),
    "HandIndex3": (0.696, -0.038, 0.030),
    "HandMiddle1": (0.658, -0.001, 0.056),
    "HandMiddle2": (0.685, -0.030, 0.058),
    "HandMiddle3": (0.703, -0.049, 0.061),
    "HandRing": (0.631, 0.020, 0.090),
    "HandRing1": (0.650, 0.002, 0.086),
    "HandRing2": (0.675, -0.023, 0.098),
    "HandRing3": (0.692, -0.039, 0.104),
    "HandPinky1": (0.646, 0.001, 0.101),
    "HandPinky2": (0.657, -0.014, 0.128),
    "HandPinky3": (0.674, -0.028, 0.123),
    "UpLeg": (0.114, -0.060, 0.000),
    "Leg": (0.149, -0.467, -0.019),
    "Foot": (0.171, -0.887, 0.079),
}


def _listed(*parts: str) -> dict[str, str]:
    """Bone -> parent of texts of ``child < parent`` between commas."""
    pairs = (entry.strip().partition(" < ") for part in parts for entry in part.split(","))
    return {bone: parent for bone, _, parent in pairs}


def _joints() -> dict[str, tuple[float, float, float]]:
    sides = {
        side + bone: (sign * x, y, z)
        for side, sign in (("Left", 1.0), ("Right", -1.0))
        for bone, (x, y, z) in _LEFT_JOINTS.items()
    }
    return _JOINTS | sides


_ARMA_2_HEAD = ",".join(f"{bone.strip()} < head" for bone in _FACE_ARMA_2.split(","))

MAN_ARMA_3 = Hierarchy("OFP2_ManSkeleton", _listed(_UPPER, _FACE, _LIMBS), _joints())
MAN_ARMA_2 = Hierarchy("OFP2_ManSkeleton", _listed(_UPPER, _ARMA_2_HEAD, _LIMBS), _joints())
MAN_FLASHPOINT = Hierarchy("OFP man", _listed(_OFP_MAN), for_display=True)

BUILT_IN = {"arma3": MAN_ARMA_3, "arma2": MAN_ARMA_2, "flashpoint": MAN_FLASHPOINT}
"""By the name that options and the command line use."""
