"""Makes the models and motions of `tests/samples`: tiny, of our own, the same bytes on every machine.

`python3 scripts/make_samples.py [FOLDER]` writes them; `--check` says instead whether they are what they should be.

- `humanoid.ogf`, `humanoid.omf`: 20 bones, vertices with one to four bones, two partitions listed out of track
  order, a walk whose last key is its first, translation keys of 8 and of 16 bits, marks, an additive motion for a bone
- `weapon.ogf`, `weapon.omf`: Shadow of Chernobyl's vertex formats and references; the motions number the bones
  otherwise than the model does, as real files do
- `weapon_embedded.ogf`: the same with the motions inside
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from addon.core import rotation, space
from addon.core.model import Clip, Marker, Skeleton, Space
from addon.formats.xray import ogf, omf
from addon.formats.xray.chunks import Chunk
from addon.formats.xray.ogf import bones as ogf_bones
from addon.formats.xray.ogf import document as ogf_document
from addon.formats.xray.ogf import geometry, texts
from addon.formats.xray.omf.document import (
    ALL_PARTITIONS,
    Definition,
    MotionFlag,
    MotionSet,
    Parameters,
    Partition,
    PartitionBone,
    new_omf,
)
from addon.formats.xray.omf.encoding import encode
from addon.formats.xray.omf.motions import numbered

SAMPLES = ROOT / "tests" / "samples"
MADE = 1_704_067_200
"""The first second of 2024: a time stamp of today would change the bytes."""

Floats = NDArray[np.float64]
Numbered = tuple[int, ogf_document.Value]
"""A chunk's id and what it holds."""


@dataclass(frozen=True)
class Bone:
    """A bone of a sample, X-Ray's axes (x right, y up, z forward), metres and degrees.

    ``joint`` and ``end`` in model space; ``turn`` the rest rotation in the parent's space (``setXYZi``); ``thickness``
    half the width of its box, 0 for none; ``links`` how many bones its vertices follow.
    """

    name: str
    parent: str
    joint: tuple[float, float, float]
    end: tuple[float, float, float]
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    thickness: float = 0.0
    links: int = 1


def _side(letter: str, sign: float) -> list[Bone]:
    """An arm and a leg; the left one lies at negative x."""
    arm = [
        ("clavicle", "chest", 0.04, 0.18, (0.0, 0.0, 90.0 * sign), 0.0, 1),
        ("upperarm", "clavicle", 0.18, 0.45, (0.0, 11.0 * sign, 0.0), 0.05, 2),
        ("forearm", "upperarm", 0.45, 0.70, (-7.0, 0.0, 3.0 * sign), 0.04, 2),
        ("hand", "forearm", 0.70, 0.86, (90.0, 0.0, 0.0), 0.03, 1),
    ]
    leg = [
        ("thigh", "pelvis", 0.95, 0.52, (3.0, 0.0, 180.0), 0.07, 3),
        ("calf", "thigh", 0.52, 0.10, (-5.0, 2.0 * sign, 0.0), 0.05, 2),
        ("foot", "calf", 0.10, 0.02, (62.0, 0.0, 0.0), 0.05, 1),
    ]
    made = [
        Bone(
            f"{name}_{letter}",
            parent if parent == "chest" else f"{parent}_{letter}",
            (sign * near, 1.42, 0.0),
            (sign * far, 1.42, 0.0),
            turn,
            thick,
            links,
        )
        for name, parent, near, far, turn, thick, links in arm
    ]
    for name, parent, high, low, turn, thick, links in leg:
        forward = 0.12 if name == "foot" else 0.0
        full = parent if parent == "pelvis" else f"{parent}_{letter}"
        made.append(
            Bone(f"{name}_{letter}", full, (sign * 0.1, high, 0.0), (sign * 0.1, low, forward), turn, thick, links)
        )
    return made


HUMANOID = [
    Bone("root", "", (0.0, 0.0, 0.0), (0.0, 0.1, 0.0)),
    Bone("pelvis", "root", (0.0, 0.98, 0.0), (0.0, 1.08, 0.0), (0.0, 90.0, 0.0), 0.12, 4),
    *_side("l", -1.0)[4:],
    *_side("r", 1.0)[4:],
    Bone("spine", "pelvis", (0.0, 1.10, 0.0), (0.0, 1.26, 0.0), (4.0, -90.0, 0.0), 0.10, 3),
    Bone("chest", "spine", (0.0, 1.26, 0.0), (0.0, 1.48, 0.0), (-4.0, 0.0, 0.0), 0.13, 3),
    Bone("neck", "chest", (0.0, 1.48, 0.0), (0.0, 1.56, 0.02), (10.0, 0.0, 0.0)),
    Bone("head", "neck", (0.0, 1.56, 0.02), (0.0, 1.78, 0.02), (-10.0, 0.0, 0.0), 0.09, 1),
    *_side("l", -1.0)[:4],
    *_side("r", 1.0)[:4],
]

WEAPON = [
    Bone("wpn_body", "", (0.0, 0.0, 0.0), (0.0, 0.0, 0.5), (0.0, 0.0, 0.0), 0.03),
    Bone("magazine", "wpn_body", (0.0, -0.03, 0.15), (0.0, -0.15, 0.15), (15.0, 0.0, 0.0), 0.02),
    Bone("bolt", "wpn_body", (0.02, 0.03, 0.2), (0.02, 0.03, 0.28), (0.0, 0.0, 90.0), 0.01),
    Bone("trigger", "wpn_body", (0.0, -0.03, 0.05), (0.0, -0.06, 0.05), (0.0, 0.0, 0.0), 0.005, 2),
]


def _engine_rotation(degrees: tuple[float, float, float]) -> Floats:
    """``setXYZi`` in column form: Ry(y)·Rx(x)·Rz(z)."""
    x, y, z = np.radians(degrees)
    turn = rotation.multiply(rotation.about_axis(1, y), rotation.about_axis(0, x))
    return rotation.matrices(rotation.multiply(turn, rotation.about_axis(2, z)))


@dataclass(frozen=True)
class Rest:
    """The rest pose of a list of bones: model-space rotation of each, and what the file stores, float32."""

    globals: Floats
    angles: NDArray[np.float32]
    offsets: NDArray[np.float32]
    parents: list[int]


def rest_of(bones: list[Bone]) -> Rest:
    """What the bones' joints and turns mean parent by parent."""
    order = {bone.name: place for place, bone in enumerate(bones)}
    parents = [order.get(bone.parent, -1) for bone in bones]
    frames = np.zeros((len(bones), 3, 3))
    offsets = np.zeros((len(bones), 3))
    for place, bone in enumerate(bones):
        parent = parents[place]
        above = frames[parent] if parent >= 0 else np.eye(3)
        origin = np.array(bones[parent].joint) if parent >= 0 else np.zeros(3)
        frames[place] = above @ _engine_rotation(bone.turn)
        # Rounded to a hundredth of a millimetre, so that no machine's last bit of a sine shows.
        offsets[place] = np.round(above.T @ (np.array(bone.joint) - origin), 5) + 0.0
    return Rest(frames, np.radians([bone.turn for bone in bones]).astype("<f4"), offsets.astype("<f4"), parents)


def skeleton_of(name: str, bones: list[Bone]) -> Skeleton:
    """The bones as the extension sees them."""
    rest = rest_of(bones)
    return Skeleton(
        name,
        [bone.name for bone in bones],
        np.array(rest.parents, np.int32),
        space.xray_bone_angles(rest.angles),
        space.xray_bone_translations(rest.offsets.astype(np.float64)),
        space.XRAY_ROOT_FRAME,
    )


# ---- models


def _box(bone: Bone) -> tuple[Floats, Floats, Floats, Floats]:
    """A box about the bone: positions and normals (24, 3), texture coordinates, 1 where nearer to the joint (24,)."""
    joint, end = np.array(bone.joint), np.array(bone.end)
    low, high = np.minimum(joint, end), np.maximum(joint, end)
    thin = high - low < 2 * bone.thickness
    low, high = np.where(thin, low - bone.thickness, low), np.where(thin, high + bone.thickness, high)
    positions, normals, uvs = [], [], []
    for axis in range(3):
        # In the engine's left-handed numbers the cross product of a face's first two edges points outwards.
        across, along = (axis + 1) % 3, (axis + 2) % 3
        for outward in (-1.0, 1.0):
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)) if outward > 0 else ((0, 0), (0, 1), (1, 1), (1, 0)):
                corner = np.zeros(3)
                corner[axis] = high[axis] if outward > 0 else low[axis]
                corner[across] = high[across] if u else low[across]
                corner[along] = high[along] if v else low[along]
                positions.append(corner)
                normals.append(np.eye(3)[axis] * outward)
                uvs.append((u, v))
    points = np.array(positions)
    near = np.linalg.norm(points - joint, axis=1) < np.linalg.norm(points - end, axis=1)
    return points, np.array(normals), np.array(uvs, np.float64), near.astype(np.float64)


def _followed(bone: int, links: int, rest: Rest) -> list[int]:
    """The bones the vertices of a box follow: its own, its parent, and so on upwards, then its first child."""
    line = [bone]
    while rest.parents[line[-1]] >= 0 and len(line) < links:
        line.append(rest.parents[line[-1]])
    line += [child for child, parent in enumerate(rest.parents) if parent == bone][: links - len(line)]
    return line


SHARES = {1: (1.0,), 2: (0.625, 0.375), 3: (0.5, 0.3125, 0.1875), 4: (0.5, 0.25, 0.15625, 0.09375)}
"""Weights at the joint, heaviest first; the other end of a box follows its own bone alone."""


def _rows(links: int, bones: list[Bone], rest: Rest) -> NDArray[np.void]:
    """The vertices of all boxes with this many links."""
    parts = []
    for place, bone in enumerate(bones):
        if bone.links != links or not bone.thickness:
            continue
        points, normals, uvs, near = _box(bone)
        rows = np.zeros(len(points), geometry.SKINNED[links])
        rows["position"], rows["normal"], rows["uv"] = points, normals, uvs
        rows["tangent"], rows["binormal"] = np.roll(normals, 1, axis=1), np.roll(normals, 2, axis=1)
        line = _followed(place, links, rest)
        rows["bones"] = np.where(near[:, None] > 0, line + [place] * (links - len(line)), place)
        if links == 2:
            # The one weight stored is the second bone's; where both are the same bone it is 1.
            rows["weights"] = np.where(near > 0, SHARES[2][1], 1.0)[:, None]
        elif links > 2:
            rows["weights"] = np.where(near[:, None] > 0, SHARES[links][:-1], [1.0, *[0.0] * (links - 2)])
        parts.append(rows)
    return np.concatenate(parts)


def _child(links: int, bones: list[Bone], rest: Rest, formats: dict[int, int], texture: bytes) -> ogf_document.Ogf:
    rows = _rows(links, bones, rest)
    faces = np.arange(0, len(rows), 4)[:, None] + np.array([0, 1, 2, 0, 2, 3])
    values: list[Numbered] = [
        (1, _header(ogf_document.VisualType.SKINNED_STRIP, rows["position"])),
        (2, geometry.Texture(texture, b"models\\model")),
        (3, geometry.Vertices(formats[links], rows)),
        (4, geometry.Indices(faces.reshape(-1).astype("<u2"))),
    ]
    return _visual(values)


def _header(kind: ogf_document.VisualType, positions: NDArray[np.float32]) -> geometry.Header:
    low, high = positions.min(axis=0), positions.max(axis=0)
    centre = (low + high) / 2
    radius = np.sqrt(((positions - centre) ** 2).sum(axis=1).max())
    return geometry.Header(4, int(kind), 0, np.array([low, high], "<f4"), np.array([*centre, radius], "<f4"))


def _visual(values: Iterable[Numbered]) -> ogf_document.Ogf:
    return ogf_document.Ogf([ogf_document.Section(Chunk(number, b""), value) for number, value in values])


def _bone_values(bones: list[Bone], rest: Rest) -> tuple[ogf_bones.BoneNames, ogf_bones.IkData]:
    names, physics = [], []
    for place, bone in enumerate(bones):
        middle = (np.array(bone.end) - np.array(bone.joint)) / 2
        centre = np.round(rest.globals[place].T @ middle, 5) + 0.0
        half = np.maximum(np.abs(centre), bone.thickness or 0.01).astype("<f4")
        identity = np.eye(3, dtype="<f4")
        names.append(ogf_bones.BoneName(bone.name.encode(), bone.parent.encode(), identity, centre.astype("<f4"), half))
        shape = ogf_bones.Shape(
            1 if bone.thickness else 0,
            0,
            np.array([*identity.ravel(), *centre, *half], "<f4"),
            np.array([*centre, np.float32(0.1)], "<f4"),
            np.array([*centre, 0, 1, 0, 0.2, 0.05], "<f4"),
        )
        limits = np.array([[-0.5, 0.75, 1, 1], [-0.25, 0.25, 1, 1], [-0.125, 1.5, 1, 1]], "<f4")
        joint = ogf_bones.Joint(
            2 if bone.parent else 0, limits, np.float32(1), np.float32(1), 0, np.zeros(2, "<f4"), np.float32(0.5)
        )
        physics.append(
            ogf_bones.IkBone(
                b"creatures\\human" if len(bones) > 4 else b"default_object",
                shape,
                joint,
                rest.angles[place],
                rest.offsets[place],
                np.float32(2.5),
                centre.astype("<f4"),
                1,
            )
        )
    return ogf_bones.BoneNames(names), ogf_bones.IkData(physics)


def model(
    name: str, bones: list[Bone], formats: dict[int, int], tail: Sequence[Numbered], user_data: bytes = b""
) -> ogf_document.Ogf:
    """A skinned model; ``tail`` are its last chunks: references or motions."""
    rest = rest_of(bones)
    links = sorted({bone.links for bone in bones if bone.thickness})
    children = [_child(count, bones, rest, formats, f"samples\\{name}".encode()) for count in links]
    positions = np.concatenate([_rows(count, bones, rest)["position"] for count in links])
    bone_names, physics = _bone_values(bones, rest)
    nested = [ogf_document.Section(Chunk(number, b""), child) for number, child in enumerate(children)]
    maker = b"motionbridge"
    values: list[Numbered] = [
        (1, _header(ogf_document.VisualType.SKELETON_ANIMATED, positions)),
        (18, texts.Description(f"{name}.blend".encode(), maker, MADE, maker, MADE, maker, MADE)),
        (9, ogf_document.Children(nested)),
        (13, bone_names),
        (16, physics),
    ]
    if user_data:
        values.append((17, texts.UserData(user_data)))
    return _visual([*values, *tail])


# ---- motions


class Poses:
    """Frames of a motion, begun in the rest pose."""

    def __init__(self, name: str, skeleton: Skeleton, frames: int) -> None:
        self.name, self.skeleton, self.frames = name, skeleton, frames
        self.rotations = np.repeat(skeleton.rest_rotation[:, None], frames, axis=1)
        self.translations = np.repeat(skeleton.rest_translation[:, None], frames, axis=1)
        # A little off the whole circle's parts: at exact fractions a key would lie between two integers.
        self.circle = 2 * np.pi * np.arange(frames) / max(frames - 1, 1) + 0.1234567

    def swing(self, bone: str, axis: int, degrees: float, phase: float = 0.0, speed: int = 1) -> Poses:
        """Turn a bone to and fro about an axis of its own, ``speed`` times."""
        place = self.skeleton.bones.index(bone)
        angles = np.radians(degrees) * np.sin(self.circle * speed + phase)
        turned = rotation.multiply(self.rotations[place], rotation.about_axis(axis, angles))
        self.rotations[place] = turned
        return self

    def shift(self, bone: str, axis: int, metres: float, phase: float = 0.0, speed: int = 1) -> Poses:
        """Move a bone to and fro along an axis of its parent."""
        place = self.skeleton.bones.index(bone)
        self.translations[place, :, axis] += metres * np.sin(self.circle * speed + phase)
        return self

    def looped(self) -> Poses:
        """The last frame is the first to the bit: the engine plays a loop up to the last key and jumps to the first."""
        self.rotations[:, -1], self.translations[:, -1] = self.rotations[:, 0], self.translations[:, 0]
        return self

    def clip(self, *markers: Marker) -> Clip:
        """The motion."""
        keyed = np.ones(len(self.skeleton.bones), np.bool_)
        bones = list(self.skeleton.bones)
        return Clip(
            self.name,
            bones,
            self.rotations,
            self.translations,
            keyed,
            keyed,
            30.0,
            Space.PARENT_LOCAL,
            list(markers),
        )


def humanoid_motions() -> MotionSet:
    """Walk, idle, wave, jump, and a nod that is added to whatever else plays."""
    skeleton = skeleton_of("humanoid", HUMANOID)
    walk = Poses("walk", skeleton, 25).shift("pelvis", 1, 0.03, speed=2)
    for letter, phase in (("l", 0.0), ("r", np.pi)):
        walk.swing(f"thigh_{letter}", 0, 25, phase).swing(f"calf_{letter}", 0, 20, phase + 0.9)
        walk.swing(f"upperarm_{letter}", 1, 15, phase + np.pi)
    feet = [Marker("Left", np.array([[0.0, 0.3]])), Marker("Right", np.array([[0.4, 0.7]]))]
    idle = Poses("idle", skeleton, 31).swing("spine", 0, 2).swing("head", 1, 4, 0.7)
    wave = Poses("wave", skeleton, 20).swing("upperarm_r", 2, 60).swing("forearm_r", 1, 35, speed=3)
    wave.shift("hand_r", 0, 0.02, speed=3).shift("clavicle_r", 1, 0.015)
    jump = Poses("jump", skeleton, 16).shift("root", 1, 1.7, -0.6).shift("root", 2, 0.9, 0.2)
    nod = Poses("nod", skeleton, 8).swing("head", 0, 12).swing("neck", 0, 6, 0.3)
    clips = [walk.looped().clip(*feet), idle.looped().clip(), wave.clip(), jump.clip(), nod.clip()]
    tracks = {name: track for track, name in enumerate(skeleton.bones)}
    below = [name for name in tracks if name in ("root", "pelvis") or name.startswith(("thigh", "calf", "foot"))]
    partitions = [
        Partition(name, [PartitionBone(bone.encode(), tracks[bone]) for bone in bones])
        for name, bones in ((b"torso", [name for name in tracks if name not in below]), (b"legs", below))
    ]
    played = {
        "wave": _played(MotionFlag.STOP_AT_END, 0),
        "jump": _played(MotionFlag.STOP_AT_END | MotionFlag.NO_MIX, ALL_PARTITIONS, speed=1.25),
        "nod": _played(MotionFlag.FX, tracks["head"], power=0.75),
    }
    start = MotionSet(numbered([]), Parameters(4, partitions, []))
    return encode(clips, start, skeleton=skeleton, definitions=played)[0]


def _played(flags: int, bone_or_part: int, speed: float = 1.0, power: float = 1.0) -> Definition:
    return Definition(b"", int(flags), bone_or_part, 0, np.array([speed, power, 2.0, 2.0], "<f4"))


def weapon_motions(*, as_the_model: bool) -> MotionSet:
    """Idle, shoot and reload; the tracks in the model's order of bones, or in another."""
    skeleton = skeleton_of("weapon", WEAPON)
    idle = Poses("idle", skeleton, 1)
    shoot = Poses("shoot", skeleton, 6).shift("bolt", 0, 0.03).swing("trigger", 0, 20).swing("wpn_body", 0, 1.5)
    reload = Poses("reload", skeleton, 40).shift("magazine", 1, 0.2).swing("magazine", 2, 40, 0.4)
    clips = [idle.clip(), shoot.clip(), reload.clip(Marker("Left", np.array([[0.2, 0.5], [0.8, 1.1]])))]
    order = [0, 1, 2, 3] if as_the_model else [2, 0, 3, 1]
    bones = [PartitionBone(skeleton.bones[bone].encode(), track) for track, bone in enumerate(order)]
    once = {name: _played(MotionFlag.STOP_AT_END, ALL_PARTITIONS) for name in ("shoot", "reload")}
    start = MotionSet(numbered([]), Parameters(4, [Partition(b"default", bones)], []))
    return encode(clips, start, skeleton=skeleton, definitions=once)[0]


def samples() -> dict[str, bytes]:
    """Every sample by its file name."""
    inside = weapon_motions(as_the_model=True)
    long, short = geometry.LONG_FORMATS, geometry.SHORT_FORMATS
    references: list[Numbered] = [(24, texts.MotionReferences2([b"samples\\humanoid"]))]
    old_references: list[Numbered] = [(19, texts.MotionReferences([b"samples\\weapon"]))]
    embedded: list[Numbered] = [(14, inside.library), (15, inside.parameters)]
    settings = b"[sample]\r\nkind = humanoid\r\n"
    return {
        "humanoid.ogf": ogf.write(model("humanoid", HUMANOID, short, references, settings)),
        "humanoid.omf": omf.write(new_omf(humanoid_motions())),
        "weapon.ogf": ogf.write(model("weapon", WEAPON, long, old_references)),
        "weapon.omf": omf.write(new_omf(weapon_motions(as_the_model=False))),
        "weapon_embedded.ogf": ogf.write(model("weapon", WEAPON, short, embedded)),
    }


def main() -> int:
    """Write the samples, or compare them."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("folder", nargs="?", type=Path, default=SAMPLES, metavar="FOLDER")
    arguments.add_argument("--check", action="store_true", help="write nothing; exit status 1 where a file differs")
    chosen = arguments.parse_args()
    made = samples()
    if chosen.check:
        wrong = [name for name, data in made.items() if _bytes_of(chosen.folder / name) != data]
        print(f"differ: {', '.join(wrong)}" if wrong else f"{len(made)} samples are as they should be")
        return int(bool(wrong))
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (chosen.folder / name).write_bytes(data)
        print(f"{chosen.folder / name}: {len(data)} bytes")
    return 0


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
