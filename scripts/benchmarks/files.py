"""Generated files for the benchmarks: the same bytes every time."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import make_geometry
import numpy as np
from fuzzing import packing

from addon.core import rotation, space
from addon.core.compression import lzo
from addon.core.envelope import Behaviour, Envelope, Shape
from addon.core.model import Clip, DeltaClip, Skeleton, VertexWeights, absolute
from addon.core.report import Report
from addon.formats.arma import rtm
from addon.formats.xray import anm, cform, details, dm, hom, occluders, omf, skl, som
from addon.formats.xray import level as levels
from addon.formats.xray import object as editor_model
from addon.formats.xray.bones import Bone, decode_bone
from addon.formats.xray.chunks import Chunk, Section
from addon.formats.xray.envelopes import PACKED, StoredEnvelope, packed, stored
from addon.formats.xray.level import geometry as geometry_file
from addon.formats.xray.level import mesh as visual_mesh
from addon.formats.xray.object import chunk_types, document, encoding, mapping, mesh_chunks
from addon.formats.xray.omf.document import new_omf
from addon.formats.xray.omf.mapping import encode

from . import SAMPLES

BONES, FRAMES = 47, 60
ANIMATION_BONES, ANIMATION_FRAMES = 90, 600
PATH_KEYS = 200
EDITOR_MOTIONS, EDITOR_KEYS = 100, 60
COLLISION_FACES, OCCLUDERS = 1_000_000, 200_000
SLOTS_ALONG, DETAIL_MODELS = 321, 37
"""As in the largest level of the games."""
HAND_FACES, HAND_BONES = 9200, 42
MODEL_PARTS, MODEL_ROWS, MODEL_COLUMNS = 30, 49, 50
"""The engine accepts 30 sub-objects of fewer than 2500 vertices."""
MOVING = 6
"""Number of bones with translation keys; the others only rotate, as in the games' own files."""


def made_skeleton(bones: int = BONES) -> Skeleton:
    """Return a skeleton: chains of eight bones on one root, every bone rotated relative to its parent."""
    random = np.random.default_rng(1)
    parents = np.array([-1, *(0 if bone % 8 == 0 else bone - 1 for bone in range(1, bones))], np.int32)
    return Skeleton(
        "library",
        [f"bone_{bone:02}" for bone in range(bones)],
        parents,
        rotation.normalised(random.normal(size=(bones, 4))),
        random.uniform(-0.2, 0.2, (bones, 3)),
        space.XRAY_ROOT_FRAME,
    )


def made_library(motions: int, bones: int = BONES, frames: int = FRAMES) -> bytes:
    """Return an omf of ``motions`` motions: a rotation key per frame and bone, translation keys of `MOVING` bones."""
    random = np.random.default_rng(2)
    skeleton = made_skeleton(bones)
    own_rotations, moves = np.ones(bones, np.bool_), np.arange(bones) < MOVING
    clips = []
    for number in range(motions):
        wander = np.cumsum(random.normal(size=(bones, frames, 4)) * 0.01, axis=1)
        rotations = rotation.continuous(rotation.normalised(skeleton.rest_rotation[:, None] + wander))
        translations = np.repeat(skeleton.rest_translation[:, None], frames, axis=1)
        translations[moves] += random.normal(size=(MOVING, frames, 3)) * 0.1
        name = f"motion_{number:04}"
        clips.append(Clip(name, skeleton.bones, rotations, translations, own_rotations, moves, 30.0))
    return omf.write(new_omf(encode(clips, skeleton=skeleton)[0]))


def made_editor_motions(*, per_frame: bool) -> bytes:
    """Return a skls for the skeleton of `made_skeleton`, with six channels per bone.

    ``per_frame``: 60 keys on 60 frames each, in every other motion linear or TCB, as editors export them. Else a third
    of the bones has stepped keys, a third linear ones, a third TCB keys with random tension: 4 to 20 keys on random
    frames.
    """
    random = np.random.default_rng(11)
    skeleton = made_skeleton()
    created = []
    for number in range(EDITOR_MOTIONS):
        tracks = []
        for bone, name in enumerate(skeleton.bones):
            shape = (Shape.LINEAR, Shape.TCB)[number % 2] if per_frame else (4, 3, 0)[bone % 3]
            frames = np.arange(EDITOR_KEYS)
            if not per_frame:
                inner = random.choice(np.arange(1, EDITOR_KEYS - 1), int(random.integers(2, 19)), replace=False)
                frames = np.sort(np.append([0, EDITOR_KEYS - 1], inner))
            wander = np.cumsum(random.normal(size=(EDITOR_KEYS, 4)) * 0.01, axis=0)[frames]
            rotations = rotation.normalised(skeleton.rest_rotation[bone] + wander)
            angles = rotation.euler_zxy(rotation.matrices(rotations)) * [-1.0, -1.0, 1.0]  # P, H, B
            drift = np.cumsum(random.normal(size=(EDITOR_KEYS, 3)) * 0.002, axis=0)[frames]
            positions = (skeleton.rest_translation[bone] + drift) * [1.0, 1.0, -1.0]
            columns = [*positions.T, *angles.T[[1, 0, 2]]]
            keys = np.zeros((6, len(frames)), PACKED)
            keys["time"], keys["value"], keys["shape"] = frames / np.float32(30), np.stack(columns), shape
            if shape != Shape.STEPPED:
                tensions = np.zeros(3) if per_frame else random.uniform(-0.5, 0.5, (6, len(frames), 3))
                keys["tcb"], keys["parameters"] = packed(tensions), packed(np.zeros(4))
            envelopes = [StoredEnvelope(Behaviour.CONSTANT, Behaviour.CONSTANT, row) for row in keys]
            tracks.append(skl.BoneTrack(name.encode(), 0, envelopes))
        timing = np.array([1.0, 2.0, 2.0, 1.0], "<f4")
        label = f"motion_{number:04}".encode()
        created.append(skl.SkeletalMotion(label, 0, EDITOR_KEYS - 1, np.float32(30), 6, 0, 0xFFFF, timing, tracks))
    return skl.write(skl.new_skls(created))


def made_path(keys: int = PATH_KEYS, *, folding: bool = False) -> bytes:
    """Return an anm with ``keys`` uneven TCB keys in each of six channels, whose time never goes backwards.

    ``folding``: Bezier keys instead, with handles so long that time goes backwards in about every third segment.
    """
    random = np.random.default_rng(3)
    channels = []
    for _ in range(6):
        times = np.cumsum(random.integers(2, 9, keys)) / 30.0
        values = np.cumsum(random.normal(size=keys) * 0.1)
        tensions = random.uniform(-1.0, 1.0, (keys, 3))
        shape, handles = Shape.TCB, np.zeros((keys, 4))
        if folding:
            shape, tensions = Shape.BEZIER_2D, np.zeros((keys, 3))
            length = np.diff(times, prepend=times[0])
            handles[:, 0], handles[:, 2] = -length, np.append(length[1:], 0.0)
            handles *= random.uniform(0.1, 2.5, (keys, 4))
            handles[:, 1::2] = random.normal(size=(keys, 2)) * 0.05
        channel = Envelope(times, values, np.full(keys, shape, np.uint8), tensions, handles)
        channels.append(stored(channel, to_packed=True))
    return anm.write(anm.new_anm(anm.Animation(b"made", 0, 8 * keys, np.float32(30.0), 5, channels)))


GAME_MATERIALS, SECTORS = 60, 40
"""Similar to the largest levels."""


def made_collision(faces: int = COLLISION_FACES) -> bytes:
    """Return a cform of ``faces`` triangles (an even number): hilly ground, in patches of materials and sectors."""
    random = np.random.default_rng(4)
    positions, triangles = _ground(faces // 2)
    count = len(triangles)
    patch = np.arange(count) // 500
    rows = np.zeros(count, cform.FACE)
    rows["vertices"] = triangles
    materials = random.integers(0, GAME_MATERIALS, count // 500 + 1).astype(np.uint16)[patch]
    rows["material_bits"] = cform.material_bits(materials, materials % 3 == 0, materials % 5 == 0)
    rows["sector"] = random.integers(0, SECTORS, count // 500 + 1)[patch]
    box = np.stack([positions.min(axis=0), positions.max(axis=0)])
    return cform.write(cform.Cform(4, box, positions, rows))


def made_occluders(faces: int = OCCLUDERS, *, of_sound: bool = False) -> bytes:
    """Return a hom, or a som, of ``faces`` triangles (an even number)."""
    random = np.random.default_rng(5)
    positions, triangles = _ground(faces // 2)
    module = som if of_sound else hom
    rows = np.zeros(len(triangles), module.TRIANGLE)
    rows["positions"] = positions[triangles]
    rows["two_sided"] = random.integers(0, 2, len(rows))
    if of_sound:
        rows["occlusion"] = random.choice(np.array([0, 0.05, 0.6], "<f4"), len(rows))
    data: bytes = module.write(occluders.new(rows))
    return data


def made_details(side: int = SLOTS_ALONG, models: int = DETAIL_MODELS) -> bytes:
    """Return detail objects on ``side`` x ``side`` slots, two thirds of them planted, with ``models`` models.

    Each model has up to 78 faces.
    """
    random = np.random.default_rng(7)
    count = side * side
    planted = random.integers(0, models, (count, 4)).astype(np.int32)
    planted[random.random((count, 4)) < 1 / 3] = details.EMPTY
    density = random.integers(0, 16, (count, 4, 4)).astype(np.uint8)
    density[planted == details.EMPTY] = 0
    shades = random.integers(0, 16, (count, 5)).astype(np.uint8)
    ground, height = random.uniform(-5, 30, count), random.uniform(0, 6, count)
    values = details.SlotValues(ground, height, planted, density, shades)
    middle = side // 2, side // 2
    plants = [_plant(random) for _ in range(models)]
    return details.write(details.new(plants, details.pack(values, 3), (side, side), middle))


def _plant(random: np.random.Generator) -> dm.Dm:
    vertices = np.zeros(4 * int(random.integers(1, 40)), dm.VERTEX)
    vertices["position"] = random.uniform(-0.5, 0.5, (len(vertices), 3))
    vertices["uv"] = random.uniform(0, 1, (len(vertices), 2))
    corners = (np.arange(0, len(vertices), 4)[:, None] + np.array([0, 1, 2, 0, 2, 3])).astype("<u2").ravel()
    return dm.Dm(b"details\\blend", b"build_details", 0, np.array([0.5, 2.0], "<f4"), vertices, corners)


def made_model(parts: int = MODEL_PARTS, corners: int = 3) -> bytes:
    """Return a Descent 3 model of ``parts`` wavy sheets of triangles or (4 ``corners``) flat ones of squares."""
    across, up = np.meshgrid(np.arange(MODEL_COLUMNS), np.arange(MODEL_ROWS))
    heights = np.zeros(across.size) if corners == 4 else np.sin(across.ravel() / 5)
    positions = np.stack([across.ravel(), up.ravel(), heights], axis=1).astype("<f4")
    first = (np.arange(MODEL_ROWS - 1)[:, None] * MODEL_COLUMNS + np.arange(MODEL_COLUMNS - 1)).ravel()
    square = first[:, None] + np.array([0, MODEL_COLUMNS, MODEL_COLUMNS + 1, 1])
    faces = square if corners == 4 else square[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    corner = np.dtype([("vertex", "<i4"), ("uv", "<f4", 2)])
    head = [("normal", "<f4", 3), ("corners", "<i4"), ("textured", "<i4"), ("texture", "<i4")]
    record = np.dtype([*head, ("list", corner, (corners,)), ("sizes", "<f4", 2)])
    rows = np.zeros(len(faces), record)
    rows["normal"], rows["corners"], rows["textured"] = (0, 0, 1), corners, 1
    rows["list"]["vertex"], rows["list"]["uv"] = faces, positions[faces][..., :2] / 50
    normals = np.tile(np.array([0, 0, 1], "<f4"), (len(positions), 1))
    shape = b"".join([positions.tobytes(), normals.tobytes(), np.ones(len(positions), "<f4").tobytes()])
    chunks = [(b"TXTR", struct.pack("<2i", 1, 5) + b"skin\0"), (b"OHDR", struct.pack("<i7fi", parts, 100, *[0] * 6, 0))]
    for number in range(parts):
        parent = (number - 1) // 2 if number else -1
        start = struct.pack("<2i10f f2i3f", number, parent, *[0] * 10, 100, -1, -1, *[0] * 3)
        name = f"part{number}".encode() + b"\0"
        texts = struct.pack("<i", len(name)) + name + struct.pack("<i", 1) + b"\0"
        counts = struct.pack("<4i", -1, -1, 0, len(positions))
        chunks.append((b"SOBJ", start + texts + counts + shape + struct.pack("<i", len(rows)) + rows.tobytes()))
    chunks += [(b"SPCL", bytes(4)), (b"WBAT", bytes(4))]
    written = [name + struct.pack("<i", len(body)) + body for name, body in chunks]
    return b"PSPO" + struct.pack("<i", 2300) + b"".join(written)


def made_editor_model() -> bytes:
    """Return the first-person hands of a game if real files are present, else a sheet of as many faces and bones.

    The sheet has four different weights at each point, uv with a seam, and smoothing groups.
    """
    real = _real("object/wpn_hand_01.object")
    if real:
        return real.read_bytes()
    positions, triangles = _ground(HAND_FACES // 2)
    count, skeleton = len(positions), made_skeleton(HAND_BONES)
    pulls = np.stack([np.roll(np.arange(count) * HAND_BONES // count, 3 * number) for number in range(4)], axis=1)
    shares = np.random.default_rng(8).integers(1, 100, (count, 4))
    labels = [name.encode() for name in skeleton.bones]
    shape = encoding.Geometry(
        positions,
        np.arange(count),
        triangles,
        positions[triangles][..., [0, 2]] + (np.arange(len(triangles)) % 50 == 0)[:, None, None].astype(np.float32),
        np.zeros(len(triangles), np.int64),
        [b"skin"],
        smoothing=(np.arange(len(triangles)) // 2300 + 16).astype(np.uint32),
        groups=labels,
        weights=VertexWeights(
            np.repeat(np.arange(count, dtype=np.int32), 4),
            pulls.ravel().astype(np.int32),
            (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32).ravel(),
        ),
    )
    entry = decode_bone(Bone([])).entry
    bones = [
        mapping.new_object_bone(
            name, skeleton.bones[parent] if parent >= 0 else "", np.full(3, 0.1), np.zeros(3), entry
        )
        for name, parent in zip(skeleton.bones, skeleton.parents.tolist(), strict=True)
    ]
    surface = chunk_types.Surface(b"skin", b"models\\model", b"act\\skin", b"Texture", 0, b"default", b"default_object")
    numbered = {
        0x900: mesh_chunks.Version(0x10),
        0x903: chunk_types.ObjectFlags(chunk_types.DYNAMIC),
        document.MESHES: document.Meshes([Section(Chunk(0, b""), encoding.new_mesh(b"hands", shape))]),
        0x907: chunk_types.Surfaces([surface]),
        document.BONES: mapping.bones_chunk(bones),
    }
    model = document.Model([Section(Chunk(number, b""), value) for number, value in numbered.items()])
    return editor_model.write(editor_model.Object([Section(Chunk(document.OBJECT, b""), model)]))


def made_level() -> bytes:
    """Return the `level` file of a game level if real files are present, else that of the samples."""
    return (_real("level/nlc_l10_radar/level") or SAMPLES / "level/level").read_bytes()


def made_geometry_of_level() -> bytes:
    """Return a level.geom with invented vertices for `made_level`."""
    level = levels.read(made_level(), "level", Report())
    return geometry_file.write(make_geometry.made_geometry(level))


def made_collision_of_level() -> bytes:
    """Return a cform with the faces of all surfaces of that level, but for every fiftieth."""
    level = levels.read(made_level(), "level", Report())
    geometry = make_geometry.made_geometry(level)
    drawn = visual_mesh.drawn(level, geometry, Report())
    corners = [np.zeros((0, 3, 3), np.float32)]
    for row in drawn[np.isin(level.visuals.types[drawn["visual"]], visual_mesh.SURFACES)]:
        first, count = int(row["vertex_base"]), int(row["vertex_count"])
        positions = geometry.vertices[int(row["vertex_buffer"])].rows["position"][first : first + count]
        corners.append(positions[space.xray_triangles(visual_mesh.triangles(row, geometry))])
    kept = np.delete(np.concatenate(corners), slice(None, None, 50), axis=0)
    rows = np.zeros(len(kept), cform.FACE)
    rows["vertices"] = np.arange(3 * len(kept)).reshape(-1, 3)
    vertices = kept.reshape(-1, 3)
    return cform.write(cform.Cform(4, np.stack([vertices.min(axis=0), vertices.max(axis=0)]), vertices, rows))


def _ground(squares: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of ``squares`` squares of one metre; there may be more vertices than these need."""
    random = np.random.default_rng(6)
    width = int(np.ceil(np.sqrt(squares)))
    x, z = np.meshgrid(np.arange(width + 1.0), np.arange(width + 1.0))
    y = 5 * np.sin(x / 30) * np.cos(z / 40) + random.uniform(0, 0.2, x.shape)
    index = np.arange(width * width)[:squares]
    first = index // width * (width + 1) + index % width
    entry = np.stack([first, first + width + 1, first + 1], axis=1)
    other = np.stack([first + 1, first + width + 1, first + width + 2], axis=1)
    triangles = np.stack([entry, other], axis=1).reshape(-1, 3)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3).astype("<f4"), triangles


def made_animation() -> bytes:
    """Return a plain rtm of a tree of bones, each slightly rotated relative to its parent: none is exactly still."""
    bone, share = np.arange(ANIMATION_BONES)[:, None], np.linspace(0.0, 2 * np.pi, ANIMATION_FRAMES)
    angle = 0.3 * np.sin(share * (1 + bone % 5) + bone)
    own = np.tile(np.eye(4), (ANIMATION_BONES, ANIMATION_FRAMES, 1, 1))
    own[..., 0, 0] = own[..., 1, 1] = np.cos(angle)
    own[..., 1, 0], own[..., 0, 1] = np.sin(angle), -np.sin(angle)
    own[..., :3, 3] = 0.1 * np.stack((np.sin(angle), angle, np.cos(share + angle)), axis=-1)
    names = [f"bone_{number:02}" for number in range(ANIMATION_BONES)]
    moved = absolute(own, ((bone.ravel() - 1) // 2).tolist())
    phases, step = rtm.default_phases(ANIMATION_FRAMES), np.array([0, -1.5, 0])
    return rtm.write(rtm.encode_plain(DeltaClip("made", names, moved, phases, step, []))[0])


def made_hierarchy() -> bytes:
    """Return the model.cfg of the tree of `made_animation`."""
    parents = ["", *(f"bone_{(bone - 1) // 2:02}" for bone in range(1, ANIMATION_BONES))]
    pairs = ", ".join(f'"bone_{bone:02}", "{parent}"' for bone, parent in enumerate(parents))
    return f"class CfgSkeletons {{ class Tree {{ skeletonBones[] = {{{pairs}}}; }}; }};".encode()


def made_configs(files: int) -> dict[str, bytes]:
    """Return the config files of a game whose ``system.ltx`` includes ``files`` files of three sections of 22 lines."""
    keys = "".join(f"\tanm_key_{key}\t= hands_motion_{key}, item\t; note\r\n" for key in range(20))
    created = {
        f"g{number % 40}/w_{number}.ltx": "".join(
            f'[wpn_{number}_{part}]:hud_base ; a section\r\n{keys}$spawn = "weapons\\w_{part}"\r\n' for part in range(3)
        )
        for number in range(files)
    }
    created["system.ltx"] = "[hud_base]\r\nx = 1\r\n" + "".join(f'#include "{name}"\r\n' for name in created)
    return {f"configs/{name}": text.encode() for name, text in created.items()}


def made_game(archives: int = 6, each: int = 10_000) -> dict[str, bytes]:
    """Return a game of archives with so many files ``each``, of names as games have them, and compressed tables."""
    header = b"[header]\r\nentry_point = $fs_root$\\gamedata\\\r\n"
    result = {"fsgame.ltx": b"$arch$ = true| true| $fs_root$| db\\\r\n$game_data$ = true| true| $fs_root$| gamedata\\"}
    folders = ("textures\\act", "textures\\wpn", "meshes\\actors\\hero", "sounds\\characters_voice", "levels\\l01")
    for archive in range(archives):
        rows = bytearray()
        for number in range(each):
            suffix = (".dds", ".thm", ".ogf", ".ogg")[number % 4]
            name = f"{folders[number * len(folders) // each]}\\{archive}{number // 4:04}_bump{suffix}".encode()
            check = zlib.crc32(name)
            rows += struct.pack("<HIII", len(name) + 16, check >> 12, 1, check) + name
            rows += struct.pack("<I", 16 + len(header))
        table = packing.compressed_chunk_body(bytes(rows))
        chunks = ((666, header), (0, b"x"), (0x80000001, table))
        result[f"db/{archive}.db"] = b"".join(struct.pack("<II", kind, len(body)) + body for kind, body in chunks)
    return result


def made_textures(count: int = 6, side: int = 1024) -> bytes:
    """Return an X-Ray archive with compressed textures (.dds, DXT1), of whose blocks many are repeated, as in painted
    ones.
    """
    random = np.random.default_rng(11)
    header = struct.pack(
        "<4s5I52x2I4s20xI16x", b"DDS ", 124, 0x81007, side, side, side * side // 2, 32, 4, b"DXT1", 4096
    )
    rows, data = bytearray(), bytearray()
    for number in range(count):
        blocks = random.integers(0, 256, (4096, 8), np.uint8)
        chosen = np.repeat(random.integers(0, len(blocks), side * side // 64), 4)
        plain = header + blocks[chosen].tobytes()
        stored = lzo.pack_bytes(plain)
        name = f"textures\\act\\{number}.dds".encode()
        rows += struct.pack("<HIII", len(name) + 16, len(plain), len(stored), zlib.crc32(plain)) + name
        rows += struct.pack("<I", 8 + len(data))
        data += stored
    return b"".join(struct.pack("<II", kind, len(body)) + body for kind, body in ((0, data), (1, rows)))


def made_duplicates() -> bytes:
    """Return an archive of a game if real files are present, else one of textures."""
    real = _real("archives/xray_anomaly_files_lzo_duplicates.db0")
    return real.read_bytes() if real else made_textures(2)


def character(kind: str) -> bytes:
    """Return the model (``ogf``) or motions (``omf``) of a stalker if real files are present, else of a sample."""
    real = {"ogf": "ogf/human_stalker_hero_1.ogf", "omf": "omf/human_smart_cover.omf"}[kind]
    return (_real(real) or SAMPLES / f"humanoid.{kind}").read_bytes()


def _real(name: str) -> Path | None:
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    return Path(corpus) / name if corpus else None
