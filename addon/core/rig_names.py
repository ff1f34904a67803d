"""What the bones of a body are called in the naming schemes of motion capture, characters of other programs and games.

A scheme maps the parts of a body to names without the side, without what all names of the skeleton begin with, in lower
case and without separators: ``mixamorig:LeftForeArm`` and ``CC_Base_L_Forearm`` are both ``forearm``. The names of
spine and neck are not here: they are the bones between hips, shoulders and head, whatever they are called.

Sources: the skeletons and bone tables that the programs ship and document; files of each scheme where a licence allows
to have them (MotionBuilder names of CMU, Poser, Unreal, Arma, X-Ray, Biped in X-Ray's spelling). SMPL, Rokoko's fingers
and the chain of "collar" names follow documentation alone.
"""

from __future__ import annotations

HIPS, SPINE, NECK, HEAD = "hips", "spine", "neck", "head"
CLAVICLE, UPPER_ARM, FOREARM, HAND = "clavicle", "upper_arm", "forearm", "hand"
THIGH, SHIN, HOCK, FOOT, TOE = "thigh", "shin", "hock", "foot", "toe"
FINGERS = ("thumb", "index", "middle", "ring", "pinky")
CORE = (HIPS, HEAD, UPPER_ARM, FOREARM, HAND, THIGH, SHIN, FOOT)
"""Parts of which a scheme must name at least `ENOUGH` to be that of a skeleton."""
ENOUGH = 0.8

_FINGER_JOINTS = {
    finger: tuple(f"{finger}{joint}" for joint in (1, 2, 3)) for finger in FINGERS
}  # index1, index2, index3


def _numbered(pattern: str, words: tuple[str, ...] = FINGERS) -> dict[str, tuple[str, ...]]:
    """Return the joints of all fingers: ``pattern`` with ``{finger}`` and ``{joint}``; ``words``: what fingers are
    called.
    """
    return {
        finger: tuple(pattern.format(finger=word, joint=joint) for joint in (1, 2, 3))
        for finger, word in zip(FINGERS, words, strict=True)
    }


Scheme = dict[str, tuple[str, ...]]
"""Part -> its names; of a finger those of its joints, from the hand outwards."""

_UNITY_BODY: Scheme = {
    HIPS: ("hips",),
    HEAD: ("head",),
    CLAVICLE: ("shoulder",),
    UPPER_ARM: ("upperarm",),
    FOREARM: ("lowerarm",),
    HAND: ("hand",),
    THIGH: ("upperleg",),
    SHIN: ("lowerleg",),
    FOOT: ("foot",),
}
"""Names of Unity's humanoid, which VRM and VRoid share; their toes and fingers differ."""

SCHEMES: dict[str, Scheme] = {
    "Mixamo, MotionBuilder, Arma": {
        HIPS: ("hips", "pelvis"),
        HEAD: ("head",),
        CLAVICLE: ("shoulder",),
        UPPER_ARM: ("arm",),
        FOREARM: ("forearm",),
        HAND: ("hand",),
        THIGH: ("upleg",),
        SHIN: ("leg",),
        FOOT: ("foot",),
        TOE: ("toebase",),
        **_numbered("hand{finger}{joint}"),
    },
    "Rokoko": {
        HIPS: ("hips", "hip"),
        HEAD: ("head",),
        CLAVICLE: ("shoulder",),
        UPPER_ARM: ("arm", "upperarm"),
        FOREARM: ("forearm", "lowerarm"),
        HAND: ("hand",),
        THIGH: ("thigh",),
        SHIN: ("shin",),
        FOOT: ("foot",),
        TOE: ("toe",),
        "thumb": ("finger1metacarpal", "finger1proximal", "finger1distal"),
        **{
            finger: tuple(f"finger{number}{joint}" for joint in ("proximal", "medial", "distal"))
            for number, finger in enumerate(FINGERS[1:], 2)
        },
    },
    "Poser, DAZ": {
        HIPS: ("hip", "hips"),
        HEAD: ("head",),
        CLAVICLE: ("collar",),
        UPPER_ARM: ("shldr", "shldrbend"),
        FOREARM: ("forearm", "forearmbend"),
        HAND: ("hand",),
        THIGH: ("thigh", "thighbend"),
        SHIN: ("shin",),
        FOOT: ("foot",),
        TOE: ("toe",),
        **_numbered("{finger}{joint}", ("thumb", "index", "mid", "ring", "pinky")),
    },
    "Unreal": {
        HIPS: ("pelvis",),
        HEAD: ("head",),
        CLAVICLE: ("clavicle",),
        UPPER_ARM: ("upperarm",),
        FOREARM: ("lowerarm",),
        HAND: ("hand",),
        THIGH: ("thigh",),
        SHIN: ("calf",),
        FOOT: ("foot",),
        TOE: ("ball",),
        **_numbered("{finger}0{joint}"),
    },
    "Character Creator": {
        HIPS: ("hip",),
        HEAD: ("head",),
        CLAVICLE: ("clavicle",),
        UPPER_ARM: ("upperarm",),
        FOREARM: ("forearm",),
        HAND: ("hand",),
        THIGH: ("thigh",),
        SHIN: ("calf",),
        FOOT: ("foot",),
        TOE: ("toebase",),
        **_numbered("{finger}{joint}", ("thumb", "index", "mid", "ring", "pinky")),
    },
    "Biped, X-Ray": {
        HIPS: ("pelvis",),
        HEAD: ("head",),
        CLAVICLE: ("clavicle",),
        UPPER_ARM: ("upperarm",),
        FOREARM: ("forearm",),
        HAND: ("hand",),
        THIGH: ("thigh",),
        SHIN: ("calf",),
        HOCK: ("horselink",),
        FOOT: ("foot",),
        TOE: ("toe0",),
        **{finger: (f"finger{n}", f"finger{n}1", f"finger{n}2") for n, finger in enumerate(FINGERS)},
    },
    "VRM, Unity": {
        **_UNITY_BODY,
        TOE: ("toes", "toebase"),
        "thumb": ("thumbmetacarpal", "thumbproximal", "thumbdistal"),
        **{
            finger: tuple(f"{word}{joint}" for joint in ("proximal", "intermediate", "distal"))
            for finger, word in zip(FINGERS[1:], ("index", "middle", "ring", "little"), strict=True)
        },
    },
    "VRoid": {
        **_UNITY_BODY,
        TOE: ("toebase",),
        **_numbered("{finger}{joint}", ("thumb", "index", "middle", "ring", "little")),
    },
    "Rigify": {
        HIPS: ("spine",),
        HEAD: ("spine006",),
        CLAVICLE: ("shoulder",),
        UPPER_ARM: ("upperarm",),
        FOREARM: ("forearm",),
        HAND: ("hand",),
        THIGH: ("thigh",),
        SHIN: ("shin",),
        FOOT: ("foot",),
        TOE: ("toe",),
        "thumb": ("thumb01", "thumb02", "thumb03"),
        **{finger: tuple(f"f{finger}0{joint}" for joint in (1, 2, 3)) for finger in FINGERS[1:]},
    },
    "SMPL": {
        HIPS: ("pelvis",),
        HEAD: ("head",),
        CLAVICLE: ("collar",),
        UPPER_ARM: ("shoulder",),
        FOREARM: ("elbow",),
        HAND: ("wrist",),
        THIGH: ("hip",),
        SHIN: ("knee",),
        FOOT: ("ankle",),
        TOE: ("foot",),
        **_FINGER_JOINTS,
    },
    "Collar, Elbow, Knee": {
        HIPS: ("hips",),
        HEAD: ("head",),
        CLAVICLE: ("collar",),
        UPPER_ARM: ("shoulder",),
        FOREARM: ("elbow",),
        HAND: ("wrist",),
        THIGH: ("hip",),
        SHIN: ("knee",),
        FOOT: ("ankle",),
        TOE: ("toe",),
    },
    "Operation Flashpoint": {
        HIPS: ("bricho",),
        HEAD: ("hlava",),
        CLAVICLE: ("rameno",),
        UPPER_ARM: ("biceps",),
        FOREARM: ("loket",),
        HAND: ("ruka",),
        THIGH: ("stehno",),
        SHIN: ("holen",),
        FOOT: ("chodidlo",),
        TOE: ("prsty",),
    },
    "Mesh2Motion animals": {
        HIPS: ("hips",),
        HEAD: ("head",),
        CLAVICLE: ("frontlegshoulder",),
        UPPER_ARM: ("frontlegupper",),
        FOREARM: ("frontleglower",),
        HAND: ("frontlegankle",),
        THIGH: ("backlegupper",),
        SHIN: ("backleglower",),
        HOCK: ("backlegankle",),
        FOOT: ("backlegfoot",),
        TOE: ("backlegfoot1",),
    },
}
