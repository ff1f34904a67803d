"""The showcase: what pictures show and a release lets people try. Made on demand, so it may be larger than the samples.

A loner with a mask and a rucksack on the bones and with the motions of the sample `humanoid`, a rifle on those of
`weapon`, a soldier on the sample man of Arma, a ship for Descent 3, and one picture with all their materials.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from addon.core import png
from addon.core.model import Material, PolygonMesh
from addon.formats.arma import p3d, paa
from addon.formats.arma.p3d.document import ARMA, CORNER, FACE, LAST_TAG, POINT, Lod, P3d, Tag
from addon.formats.arma.paa import pictures
from addon.formats.descent3 import hog2, ogf_image, oof
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf import chunk_types
from addon.formats.xray.omf.document import new_omf
from samples import arma, descent3
from samples.bones import HUMANOID, WEAPON, Bone
from samples.models import Numbered, model_of
from samples.motions import humanoid_motions, weapon_motions
from samples.shapes import GRID, Follows, Point, Solid

COAT, TROUSERS, LEATHER, METAL, SKIN, GLASS, RUBBER, PLATE, WOOD, HULL, STRIPE, GLOW, DARK = range(13)
"""Swatches of the texture."""
_COLOURS = {
    COAT: ((111, 120, 87), (87, 90, 66), (144, 147, 108)),
    TROUSERS: ((93, 90, 84), (72, 70, 68), (117, 112, 102)),
    LEATHER: ((87, 63, 45), (66, 48, 36), (105, 78, 57)),
    METAL: ((105, 111, 120), (87, 92, 99), (135, 141, 150)),
    SKIN: ((186, 146, 118), (176, 134, 108), (196, 156, 128)),
    GLASS: ((150, 70, 24), (120, 50, 20), (220, 140, 60)),
    RUBBER: ((51, 54, 54), (42, 44, 45), (66, 69, 69)),
    PLATE: ((132, 126, 99), (108, 105, 81), (156, 150, 120)),
    WOOD: ((168, 105, 54), (138, 84, 42), (195, 126, 69)),
    HULL: ((96, 84, 128), (84, 72, 114), (116, 104, 150)),
    STRIPE: ((206, 150, 40), (190, 132, 30), (222, 170, 60)),
    GLOW: ((120, 220, 255), (90, 190, 250), (190, 245, 255)),
    DARK: ((60, 63, 75), (48, 51, 60), (78, 81, 96)),
}
SIDE = 256
"""Width and height of the texture."""


def texture() -> NDArray[np.uint8]:
    """Return the picture with all materials, (SIDE, SIDE, 4), the top row first: blotches of three tones each."""
    random = np.random.default_rng(2033)
    size = SIDE // GRID
    result = np.zeros((SIDE, SIDE, 4), np.uint8)
    result[..., 3] = 255
    at = np.arange(size) / size * 2 * np.pi
    for swatch, tones in _COLOURS.items():
        waves = sum(
            np.cos(fx * at[None, :] + fy * at[:, None] + phase) / (1 + abs(fx) + abs(fy))
            for fx, fy, phase in zip(
                random.integers(-4, 5, 12), random.integers(-4, 5, 12), random.uniform(0, 7, 12), strict=True
            )
        )
        noise = waves / np.abs(waves).max() + random.normal(0, 0.12, (size, size))
        tone = np.digitize(noise, (-0.25, 0.3))
        colour = np.array([tones[1], tones[0], tones[2]])[tone] + random.normal(0, 3, (size, size, 1))
        row, column = divmod(swatch, GRID)
        result[row * size : (row + 1) * size, column * size : (column + 1) * size, :3] = np.clip(colour, 0, 255)
    return result


# ---- figures: x to the right, y up, z forward, metres


def _body(solid: Solid, *, arms: tuple[list[Point], list[Point]]) -> None:
    """Add a man in a coat: trunk, head with mask, legs; ``arms``: lines from the shoulders to the wrists."""
    waist, belly = ("pelvis", "spine", 0.5), ("spine", "chest", 0.5)
    heights = (0.78, 0.88, 0.98, 1.05, 1.14, 1.24, 1.36, 1.44, 1.50)
    sizes = [(0.2, 0.16), (0.18, 0.14), (0.165, 0.12), (0.15, 0.11), (0.165, 0.12), (0.18, 0.13), (0.19, 0.13)]
    trunk: list[Follows] = ["pelvis", "pelvis", "pelvis", waist, waist, belly, "chest", "chest", "chest"]
    solid.tube([(0, y, 0) for y in heights], [*sizes, (0.15, 0.1), (0.075, 0.075)], trunk, COAT, segments=18)
    belt = ((1.02, 0.15, 0.11), (1.03, 0.17, 0.13), (1.07, 0.17, 0.13), (1.08, 0.15, 0.11))
    solid.tube([(0, y, 0) for y, _, _ in belt], [(a, b) for _, a, b in belt], waist, LEATHER, segments=18)
    solid.block((-0.12, 1.16, 0.08), (0.12, 1.38, 0.16), "chest", PLATE)
    for x in (-0.1, 0.0, 0.1):
        solid.block((x - 0.04, 1.17, 0.14), (x + 0.04, 1.27, 0.19), "chest", LEATHER)
    solid.block((-0.15, 1.08, -0.27), (0.15, 1.46, -0.1), "chest", PLATE)
    solid.tube([(-0.15, 1.5, -0.2), (0.15, 1.5, -0.2)], [0.06, 0.06], "chest", TROUSERS, side=(0, 1, 0))
    _head(solid)
    for sign, line in zip((-1.0, 1.0), arms, strict=True):
        letter = "l" if sign < 0 else "r"
        _arm(solid, letter, line)
        _leg(solid, letter, sign)


def _head(solid: Solid) -> None:
    solid.tube([(0, 1.46, 0), (0, 1.57, 0.01)], [0.065, 0.055], ("chest", "head", 0.5), TROUSERS)
    skull = ((1.54, 0.05, 0.06), (1.58, 0.072, 0.085), (1.66, 0.085, 0.1), (1.73, 0.085, 0.1), (1.78, 0.06, 0.075))
    solid.tube([(0, y, 0.02) for y, _, _ in skull], [(a, b) for _, a, b in skull], "head", SKIN, segments=16)
    hood = ((1.45, 0.13, 0.11), (1.52, 0.1, 0.105), (1.62, 0.105, 0.11), (1.74, 0.1, 0.105), (1.81, 0.06, 0.07))
    solid.tube([(0, y, -0.015) for y, _, _ in hood], [(a, b) for _, a, b in hood], "head", COAT, segments=16)
    mask = ((1.55, 0.05, 0.05), (1.6, 0.075, 0.06), (1.7, 0.08, 0.06), (1.74, 0.07, 0.05))
    solid.tube([(0, y, 0.075) for y, _, _ in mask], [(a, b) for _, a, b in mask], "head", RUBBER, segments=16)
    for x in (-0.036, 0.036):
        solid.tube([(x, 1.675, 0.11), (x, 1.675, 0.142)], [0.031, 0.027], "head", GLASS)
    solid.tube([(0, 1.59, 0.12), (0, 1.575, 0.17), (0, 1.57, 0.2)], [0.03, 0.043, 0.043], "head", METAL)


def _arm(solid: Solid, letter: str, line: list[Point]) -> None:
    shoulder, elbow, wrist = (np.array(point) for point in line)
    upper, lower, hand = f"upperarm_{letter}", f"forearm_{letter}", f"hand_{letter}"
    shares: list[Follows] = [
        ("chest", upper, 0.3), ("chest", upper, 0.8), upper, (upper, lower, 0.2), (upper, lower, 0.5),
        (upper, lower, 0.8), lower, lower,
    ]  # fmt: skip
    parts = [shoulder + share * (elbow - shoulder) for share in (0, 0.2, 0.55, 0.85)]
    parts += [elbow + share * (wrist - elbow) for share in (0, 0.2, 0.7, 1)]
    radii: list[float | tuple[float, float]] = [0.075, 0.08, 0.065, 0.058, 0.06, 0.058, 0.05, 0.052]
    solid.tube([tuple(part) for part in parts], radii, shares, COAT, side=(0, 1, 0))
    direction = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    palm = ((-0.02, 0.035, 0.035), (0.03, 0.022, 0.045), (0.1, 0.02, 0.048), (0.15, 0.018, 0.04), (0.18, 0.012, 0.03))
    solid.tube(
        [tuple(wrist + direction * at) for at, _, _ in palm],
        [(a, b) for _, a, b in palm],
        hand,
        LEATHER,
        side=(0, 1, 0),
    )
    thumb = [
        tuple(wrist + direction * along + np.array((0, 0, forward))) for along, forward in ((0.04, 0.03), (0.1, 0.07))
    ]
    solid.tube(thumb, [0.017, 0.013], hand, LEATHER, side=(0, 1, 0))


def _leg(solid: Solid, letter: str, sign: float) -> None:
    thigh, calf, foot = f"thigh_{letter}", f"calf_{letter}", f"foot_{letter}"
    x = sign * 0.1
    follows: list[Follows] = [("pelvis", thigh, 0.5), thigh, thigh, (thigh, calf, 0.3), (thigh, calf, 0.7), calf, calf]
    heights = (0.95, 0.85, 0.68, 0.56, 0.48, 0.36, 0.26)
    solid.tube([(x, y, 0) for y in heights], [0.1, 0.1, 0.085, 0.075, 0.072, 0.07, 0.06], follows, TROUSERS)
    boot: list[Follows] = [calf, calf, (calf, foot, 0.5), foot]
    solid.tube([(x, y, 0.0) for y in (0.34, 0.3, 0.14, 0.06)], [0.072, 0.074, 0.062, 0.06], boot, LEATHER)
    sole = ((-0.075, 0.04, 0.05), (-0.02, 0.05, 0.055), (0.09, 0.052, 0.05), (0.15, 0.05, 0.035), (0.18, 0.03, 0.025))
    solid.tube([(x, 0.055 if z < 0.1 else 0.045, z) for z, _, _ in sole], [(a, b) for _, a, b in sole], foot, LEATHER)
    solid.block((x - 0.055, 0.47, 0.05), (x + 0.055, 0.58, 0.09), calf, PLATE)


def _rifle(solid: Solid, bones: dict[str, str], offset: Point = (0.0, 0.0, 0.0)) -> None:
    """Add a rifle that points forward from ``offset``, the centre of its receiver's back end."""
    dx, dy, dz = offset

    def line(*points: Point) -> list[Point]:
        return [(x + dx, y + dy, z + dz) for x, y, z in points]

    def block(low: Point, high: Point, follows: str, swatch: int) -> None:
        (first, second) = line(low, high)
        solid.block(first, second, bones[follows], swatch)

    block((-0.02, -0.035, 0.0), (0.02, 0.035, 0.27), "wpn_body", METAL)
    block((-0.024, -0.02, 0.27), (0.024, 0.03, 0.47), "wpn_body", WOOD)
    body = bones["wpn_body"]
    solid.tube(line((0, 0.012, 0.45), (0, 0.012, 0.72), (0, 0.012, 0.78)), [0.011, 0.011, 0.016], body, METAL)
    solid.tube(line((0, 0.04, 0.27), (0, 0.04, 0.52)), [0.013, 0.013], body, METAL)
    block((-0.004, 0.02, 0.66), (0.004, 0.075, 0.68), "wpn_body", METAL)
    stock = line((0, -0.005, 0.0), (0, -0.02, -0.1), (0, -0.05, -0.25), (0, -0.05, -0.29))
    solid.tube(stock, [(0.018, 0.03), (0.018, 0.035), (0.02, 0.06), (0.02, 0.062)], body, WOOD, square=0.5)
    grip = line((0, -0.03, 0.03), (0, -0.13, -0.02))
    solid.tube(grip, [(0.017, 0.025), (0.017, 0.022)], body, WOOD, square=0.5)
    curved = line((0, -0.03, 0.15), (0, -0.1, 0.165), (0, -0.17, 0.2), (0, -0.2, 0.225))
    solid.tube(curved, [(0.014, 0.033)] * 4, bones["magazine"], METAL, square=0.4)
    block((0.018, 0.015, 0.12), (0.045, 0.03, 0.14), "bolt", METAL)
    solid.tube(line((0, -0.03, 0.075), (0, -0.06, 0.07)), [0.004, 0.003], bones["trigger"], METAL)


T_POSE: tuple[list[Point], list[Point]] = (
    [(-0.08, 1.42, 0.0), (-0.45, 1.42, 0.0), (-0.70, 1.42, 0.0)],
    [(0.08, 1.42, 0.0), (0.45, 1.42, 0.0), (0.70, 1.42, 0.0)],
)
AT_THE_READY: tuple[list[Point], list[Point]] = (
    [(-0.12, 1.43, 0.0), (-0.27, 1.2, 0.1), (-0.06, 1.17, 0.4)],
    [(0.12, 1.43, 0.0), (0.3, 1.18, -0.03), (0.16, 1.14, 0.18)],
)


def _rows(solid: Solid, bones: list[Bone]) -> NDArray[np.void]:
    """Return the vertices in the format for two bones."""
    points, normals, uvs = (array.reshape(-1, array.shape[-1]) for array in solid.arrays())
    order = {bone.name: number for number, bone in enumerate(bones)}
    rows = np.zeros(len(points), chunk_types.SKINNED[2])
    rows["position"], rows["normal"], rows["uv"] = points, normals, uvs
    rows["tangent"], rows["binormal"] = np.roll(normals, 1, axis=1), np.roll(normals, 2, axis=1)
    rows["bones"] = [[order[first], order[second]] for first, second in solid.bones]
    rows["weights"] = np.array(solid.shares)[:, None]
    return rows


def _xray() -> dict[str, bytes]:
    man, rifle = Solid(), Solid()
    _body(man, arms=T_POSE)
    _rifle(rifle, {bone.name: bone.name for bone in WEAPON})
    references: list[Numbered] = [(24, chunk_types.MotionReferences2([b"showcase\\loner"]))]
    shot: list[Numbered] = [(24, chunk_types.MotionReferences2([b"showcase\\rifle"]))]
    name, short = b"showcase\\materials", chunk_types.SHORT_FORMATS[2]
    return {
        "loner.ogf": ogf.write(model_of("loner", HUMANOID, [(name, short, _rows(man, HUMANOID))], references)),
        "loner.omf": omf.write(new_omf(humanoid_motions())),
        "rifle.ogf": ogf.write(model_of("rifle", WEAPON, [(name, short, _rows(rifle, WEAPON))], shot)),
        "rifle.omf": omf.write(new_omf(weapon_motions(as_the_model=False))),
    }


# ---- Arma

_OF_THE_MAN = {"pelvis": "Pelvis", "head": "head"} | {
    f"{bone}_{letter}": f"{side}{name}"
    for letter, side in (("l", "Left"), ("r", "Right"))
    for bone, name in (("thigh", "UpLeg"), ("calf", "Foot"), ("foot", "Foot"))
}
"""Bone of the figure -> bone of Arma's sample man, whose spine carries the arms."""


def _soldier() -> Lod:
    """Return the visual LOD: the figure in Arma's axes, looking against z, with a selection for each bone."""
    man = Solid()
    _body(man, arms=AT_THE_READY)
    _rifle(man, dict.fromkeys((bone.name for bone in WEAPON), "chest"), (0.1, 1.2, 0.1))
    positions, normals, uvs = man.arrays()
    quads = len(positions)
    points = np.zeros(4 * quads, POINT)
    # Arma's x, y, z are right, up, back for who looks at the figure's face; the sample man faces the same direction.
    points["position"] = positions.reshape(-1, 3) * (-1, 1, -1)
    faces = np.zeros(quads, FACE)
    faces["count"] = 4
    faces["corners"] = np.zeros((quads, 4), CORNER)
    # Turning the figure's left-handed axes into right-handed ones turns its faces inside out.
    faces["corners"]["point"] = faces["corners"]["normal"] = np.arange(4 * quads).reshape(-1, 4)[:, ::-1]
    faces["corners"]["uv"] = uvs[:, ::-1]
    weights = {bone: np.zeros(4 * quads) for bone in arma.BONES}
    for corner, ((first, second), share) in enumerate(zip(man.bones, man.shares, strict=True)):
        weights[_OF_THE_MAN.get(first, "Spine")][corner] += 1 - share
        weights[_OF_THE_MAN.get(second, "Spine")][corner] += share
    tags = [Tag(bone.encode(), _stored(share).tobytes() + bytes(quads)) for bone, share in weights.items()]
    texts = [(b"showcase\\materials_co.paa", b"")]
    stored_normals = -normals.reshape(-1, 3) * (-1, 1, -1)
    tags.append(Tag(LAST_TAG, b""))
    return Lod(
        ARMA, 0x100, 0, b"", points, stored_normals.astype(np.float32), faces, texts, np.zeros(quads, np.int32), tags,
        np.float32(1),
    )  # fmt: skip


def _stored(shares: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return weights as a selection stores them: 1 is 1, and 2 to 255 are 255/256 to 1/128."""
    return np.where(shares >= 1, 1, np.where(shares <= 0, 0, np.clip(np.rint(256 - 255 * shares), 2, 255))).astype(
        np.uint8
    )


def _arma() -> dict[str, bytes]:
    files = arma.man()
    coding = pictures.usual_coding("materials_co.paa", texture())
    return {
        "soldier.p3d": p3d.write(P3d(0x101, [_soldier(), arma.memory()])),
        "walk.rtm": files["walk.rtm"],
        "model.cfg": files["model.cfg"].replace(b"class man :", b"class soldier :"),
        "materials_co.paa": paa.write(pictures.encode(texture(), coding)),
    }


# ---- Descent 3: x to the right, y forward, z up


def _ship() -> oof.Oof:
    hull, left, right = Solid(), _wing(-1.0), _wing(1.0)
    trunk = (
        (2.6, 0.05, 0.05),
        (2.2, 0.3, 0.16),
        (1.2, 0.62, 0.34),
        (0, 0.85, 0.5),
        (-1.2, 0.8, 0.45),
        (-1.8, 0.5, 0.3),
    )
    hull.tube([(0, y, 0) for y, _, _ in trunk], [(a, b) for _, a, b in trunk], "hull", HULL, square=0.7)
    canopy = ((1.5, 0.12, 0.06), (1.1, 0.26, 0.2), (0.4, 0.3, 0.26), (-0.2, 0.2, 0.12))
    hull.tube([(0, y, 0.3) for y, _, _ in canopy], [(a, b) for _, a, b in canopy], "hull", GLASS)
    hull.tube([(0, y, 0.42) for y in (-0.3, -1.5)], [(0.12, 0.1), (0.06, 0.5)], "hull", STRIPE, square=0.4)
    for x in (-0.55, 0.55):
        engine = ((0.2, 0.16), (0.1, 0.26), (-1.4, 0.3), (-2.0, 0.24), (-2.1, 0.2))
        hull.tube([(x, y, -0.1) for y, _ in engine], [radius for _, radius in engine], "hull", METAL)
        hull.tube([(x, -2.08, -0.1), (x, -2.14, -0.1)], [0.17, 0.12], "hull", GLOW)
    materials = [Material("materials", "Showcase")]
    model = oof.Model("ship", textures=["Showcase"])
    model.parts = [
        oof.Part("hull", _mesh("hull", hull, materials)),
        oof.Part("right wing", _mesh("right wing", right, materials), 0, _at(0.7, -0.4, 0), motion=descent3.motion(21)),
        oof.Part("left wing", _mesh("left wing", left, materials), 0, _at(-0.7, -0.4, 0)),
    ]
    for number, x in ((1, 1.5), (2, -1.5)):
        model.points.append(oof.Point(oof.PointKind.GUN, number, _at(x, 1.3, -0.12), _at(0, 1, 0)))
    model.batteries = [oof.WeaponBattery([0, 1], [])]
    return oof.encode(model)[0]


def _wing(sign: float) -> Solid:
    result = Solid()
    line: list[Point] = [(0, 0, 0), (sign * 0.9, -0.25, -0.05), (sign * 1.5, -0.4, -0.12), (sign * 1.7, -0.5, -0.05)]
    result.tube(line, [(0.7, 0.09), (0.5, 0.07), (0.42, 0.05), (0.2, 0.03)], "wing", HULL, side=(0, 1, 0), square=0.5)
    tip: list[Point] = [(sign * 1.5, -0.45, -0.12), (sign * 1.6, -0.6, 0.15), (sign * 1.7, -0.9, 0.7)]
    result.tube(tip, [(0.35, 0.04), (0.4, 0.04), (0.16, 0.02)], "wing", STRIPE, side=(0, 1, 0), square=0.5)
    gun: list[Point] = [(sign * 1.5, y, -0.12) for y in (-0.9, -0.6, 0.4, 0.5, 1.2, 1.25)]
    result.tube(gun, [0.07, 0.1, 0.09, 0.045, 0.04, 0.055], "wing", DARK)
    return result


def _mesh(name: str, solid: Solid, materials: list[Material]) -> PolygonMesh:
    points, normals, uvs = solid.arrays()
    quads = len(points)
    return PolygonMesh(
        name,
        points.reshape(-1, 3).astype(np.float32),
        np.full(quads, 4, np.int32),
        np.arange(4 * quads, dtype=np.int32),
        (uvs.reshape(-1, 2) * (1, -1) + (0, 1)).astype(np.float32),
        normals.reshape(-1, 3).astype(np.float32),
        materials=materials,
        material_index=np.zeros(quads, np.int32),
    )


def _at(x: float, y: float, z: float) -> NDArray[np.float32]:
    return np.array([x, y, z], np.float32)


def _descent3() -> dict[str, bytes]:
    image = ogf_image.encode(texture(), "Showcase")
    files = {"ship.oof": oof.write(_ship()), "Showcase.ogf": ogf_image.write(ogf_image.OgfImage([image]))}
    return {**files, "ship.hog": hog2.write(hog2.new_hog2(files))}


def showcase() -> dict[str, bytes]:
    """Return path -> bytes of every file; those for X-Ray lie in a gamedata folder, where textures are found."""
    return {
        **{f"gamedata/meshes/showcase/{name}": data for name, data in _xray().items()},
        "gamedata/textures/showcase/materials.png": png.encode(texture()),
        **{f"arma/{name}": data for name, data in _arma().items()},
        **{f"descent3/{name}": data for name, data in _descent3().items()},
    }
