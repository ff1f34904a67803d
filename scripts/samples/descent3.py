"""Samples of Descent 3: a small ship with everything a model can contain, its textures, and an archive of both."""

from __future__ import annotations

import numpy as np

from addon.core.model import Material, PolygonMesh
from addon.formats.descent3 import hog2, ogf_image, oof
from addon.formats.descent3.ogf_image import RUN, AnimationHead, Image, ImageType, OgfImage


def _mesh(name: str, corners: list[list[float]], faces: list[list[int]], materials: list[Material]) -> PolygonMesh:
    """Return a mesh whose faces alternate between the materials; uv are half of the corners' x and z."""
    positions = np.array(corners, np.float32)
    flat = np.concatenate([np.array(face, np.int32) for face in faces])
    return PolygonMesh(
        name,
        positions,
        np.array([len(face) for face in faces], np.int32),
        flat,
        positions[flat][:, [0, 2]] / 2,
        materials=materials,
        material_index=(np.arange(len(faces)) % len(materials)).astype(np.int32),
    )


def _box(name: str, size: tuple[float, float, float], materials: list[Material]) -> PolygonMesh:
    corners = [[x * size[0], y * size[1], z * size[2]] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [3, 2, 6, 7], [1, 3, 7, 5], [2, 0, 4, 6]]
    return _mesh(name, corners, faces, materials)


def motion(ticks: int) -> oof.Motion:
    """Return the motion of a wing that folds up by up to a quarter turn and moves outwards, the same on every machine.

    Sines would differ in their last bit. So the tangent of half the angle is given, tan(a) = t / 2, and its cosine and
    sine are computed with a square root.
    """
    tangents = np.arange(ticks) / (2.0 * ticks)
    length = np.sqrt(1 + tangents * tangents)
    rotations = np.zeros((ticks, 4))
    rotations[:, 0], rotations[:, 2] = 1 / length, tangents / length
    moved = np.zeros((ticks, 3))
    moved[:, 0] = np.minimum(np.arange(ticks), ticks // 2) / 16
    return oof.Motion(0, rotations, moved)


def ship() -> oof.Oof:
    """Return a hull with two wings (one of them moving), a rotor, a turret with its gun, and a glow."""
    hull, glass = Material("Hull", "SampleHull"), Material("glass", colour=(32, 64, 96))
    puff = Material("Puff", "SamplePuff")
    triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    model = oof.Model("ship", textures=["SampleHull", "SamplePuff", "samplehull"])
    model.parts = [
        oof.Part("hull", _box("hull", (0.5, 1.0, 0.25), [hull, glass])),
        oof.Part("right wing", _box("right wing", (0.5, 0.25, 0.0625), [hull]), 0, _at(1, 0, 0), motion=motion(21)),
        oof.Part("left wing", _box("left wing", (0.5, 0.25, 0.0625), [hull]), 0, _at(-1, 0, 0)),
        oof.Part("rotor", _mesh("rotor", triangle, [[0, 1, 2]], [hull]), 0, _at(0, -1, 0.5), "$rotate=2"),
        oof.Part("turret", _box("turret", (0.125, 0.125, 0.125), [hull]), 0, _at(0, 0.5, 0.5), "$fov=180,4,0.5"),
        oof.Part("glow", _mesh("glow", triangle, [[0, 1, 2]], [puff]), 0, _at(0, -1, 0), "$GLOW=.5,0.25,1,1"),
    ]
    model.parts[3].spin_axis, model.parts[4].spin_axis = np.array([0, 1.0, 0]), np.array([0, 0, 1.0])
    model.points = [
        oof.Point(oof.PointKind.GUN, 0, _at(0, 1, 0), _at(0, 1, 0)),
        oof.Point(oof.PointKind.GUN, 4, _at(0, 0.25, 0), _at(0, 1, 0)),
        oof.Point(oof.PointKind.GROUND, 0, _at(0, 0, -0.25), _at(0, 0, -1)),
        oof.Point(oof.PointKind.ATTACH, 0, _at(0, 0, 0.25), _at(0, 1, 0), _at(0, 0, 1)),
        oof.Point(oof.PointKind.SPECIAL, -1, _at(0, 0, 2), name="$dummy", radius=0.5),
    ]
    model.batteries = [oof.WeaponBattery([0], []), oof.WeaponBattery([1], [4])]
    return oof.encode(model)[0]


def _at(x: float, y: float, z: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array([x, y, z], np.float32)


def _image(name: bytes, kind: ImageType, rows: list[tuple[int, int]], width: int, height: int) -> Image:
    runs = np.array(rows, RUN)
    label = name if kind <= ImageType.RUNS_NAMED else name.ljust(35, b"\0")
    levels = 1 if kind <= ImageType.RUNS_MIPMAPPED else None
    return Image(kind, 0, label, levels, bytes(9), width, height, 32, 0x28, b"", [runs])


def descent3() -> dict[str, bytes]:
    """Return file name -> bytes of every file."""
    red, blue, clear = 0xF800, 0x001F, 0x07E0
    still = OgfImage([_image(b"SampleHull.ogf", ImageType.RUNS_MIPMAPPED, [(8, red), (6, blue), (2, clear)], 4, 4)])
    frames = [
        _image(b"SamplePuff.ogf", ImageType.RUNS_4444, [(0, 0xF00F), (3, 0x8F00)], 2, 2),
        _image(b"SamplePuff2.ogf", ImageType.RUNS_1555, [(4, 0xFC00)], 2, 2),
    ]
    moving = OgfImage(frames, AnimationHead(1, 2, np.float32(0.0625)))
    files = {
        "ship.oof": oof.write(ship()),
        "SampleHull.ogf": ogf_image.write(still),
        "SamplePuff.oaf": ogf_image.write(moving),
    }
    return {**files, "ship.hog": hog2.write(hog2.new_hog2(files))}
