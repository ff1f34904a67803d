"""The part of the demo that runs inside Blender: `… --python scripts/demonstration.py -- MODEL MOTIONS FOLDER`."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from addon import cli
from addon.core import rotation
from addon.core.errors import MotionbridgeError
from addon.core.files import read_file, write_atomically
from addon.core.model import Clip, Mesh, Skeleton
from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.mesh import decode_meshes
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.decoding import decode
from addon.formats.xray.omf.encoding import encode

TURN = np.radians(35.0)
BEFORE, AFTER, TURNED = (0.35, 0.37, 0.42, 1.0), (0.85, 0.62, 0.25, 1.0), (0.80, 0.12, 0.10, 1.0)
VIEW = (np.radians(75), 0.0, np.radians(150))  # from the front, a little from above and from the side


def main(model: Path, motions: Path, folder: Path) -> int:
    """Changes, writes, compares and draws; the exit status."""
    report = Report()
    document = ogf.read(read_file(model), str(model), report)
    skeleton, meshes = decode_skeleton(document, report), decode_meshes(document, report)
    before = omf.read(read_file(motions), str(motions), report)
    clips = decode(before.motion_set, report, skeleton.bones)
    print(f"{model.name}: {len(skeleton.bones)} bones, {len(meshes)} meshes. {motions.name}: {len(clips)} motions.")

    clip, bone, frame = _most_moving(clips, skeleton)
    changed = _turned(clip, clip.bones.index(bone), frame)
    print(f"Change: in the motion {clip.name}, the bone {bone} is turned by 35 degrees around frame {frame}.")
    clips[clips.index(clip)] = changed
    after, changes = encode(clips, before.motion_set, skeleton=skeleton)
    edited = folder / motions.name
    if edited.resolve() == motions.resolve():
        raise SystemExit(f"{folder} is where the motions lie: name another output folder")
    write_atomically(edited, omf.write(before.with_motion_set(after)))
    print(f"Written: {changes.sentence()}.")
    for line in report.lines():
        print(f"  note: {line}")

    print("\nThe proof, by comparing the two files:", flush=True)
    if cli.main(["diff", str(motions), str(edited)]) != 1:  # 1 says that they differ
        print("the change cannot be seen in the file")
        return 1

    picture = folder / "pose.png"
    _draw(skeleton, meshes, [_Pose(clip, frame), _Pose(changed, frame, bone)])
    with _silence():
        _render(picture)
    print(f"\nThe motions with the change: {edited}")
    print(f"The pose in frame {frame}, before (grey) and after (the turned bone's part in red): {picture}")
    return 0


def _most_moving(clips: list[Clip], skeleton: Skeleton) -> tuple[Clip, str, int]:
    """The motion with most keys, a bone in it that is keyed and carries a few others, and its middle frame."""
    clip = max(clips, key=lambda each: (each.frames * int(each.rotation_keyed.sum()), each.frames))
    carried = np.zeros(len(skeleton.bones), int)
    for bone in range(len(skeleton.bones)):
        above = int(skeleton.parents[bone])
        while above >= 0:
            carried[above] += 1
            above = int(skeleton.parents[above])
    keyed = [
        name for name, keys in zip(clip.bones, clip.rotation_keyed, strict=True) if keys and name in skeleton.bones
    ]
    if not keyed:
        raise SystemExit("no bone of the model has rotation keys in these motions")
    # A limb with a few bones below it makes a change that can be seen; a root would turn everything.
    bone = min(keyed, key=lambda name: abs(int(carried[skeleton.bones.index(name)]) - 2))
    return clip, bone, clip.frames // 2


def _turned(clip: Clip, bone: int, frame: int) -> Clip:
    """The clip with one bone turned about its own X axis, most in `frame` and not at all at either end."""
    moments = np.arange(clip.frames)
    reach = max(frame, clip.frames - 1 - frame, 1)
    angles = TURN * 0.5 * (1 + np.cos(np.pi * np.clip((moments - frame) / reach, -1, 1)))
    rotations = clip.rotations.copy()
    rotations[bone] = rotation.continuous(rotation.multiply(rotations[bone], rotation.about_axis(0, angles)))
    return replace(clip, rotations=rotations)


@dataclass(frozen=True)
class _Pose:
    """A frame of a clip, and the bone whose part of the model is to be red."""

    clip: Clip
    frame: int
    marked: str = ""


def _draw(skeleton: Skeleton, meshes: list[Mesh], poses: list[_Pose]) -> None:
    """The model in each pose, side by side, in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    posed = [[_posed(mesh, skeleton, pose) for mesh in meshes] for pose in poses]
    corners = np.concatenate([points for model in posed for points in model])
    low, high = corners.min(axis=0), corners.max(axis=0)
    # To the right as the camera sees it, so that the figures stand level.
    aside = np.array((np.cos(VIEW[2]), np.sin(VIEW[2]), 0.0))
    step = aside * (np.abs(aside) @ (high - low) * 1.1)
    for place, pose in enumerate(poses):
        materials = [_material(AFTER if pose.marked else BEFORE), _material(TURNED)]
        for mesh, points in zip(meshes, posed[place], strict=True):
            red = _faces_of(mesh, skeleton, pose.marked) if pose.marked else np.zeros(len(mesh.triangles), bool)
            _object(mesh, points + place * step, materials, red)
    _look_at((low + high + (len(poses) - 1) * step) / 2, (high - low) + (len(poses) - 1) * np.abs(step))


def _posed(mesh: Mesh, skeleton: Skeleton, pose: _Pose) -> np.ndarray:
    """(vertices, 3) as the engine skins them: each bone's pose times its inverse rest, weighed."""
    clip, frame = pose.clip, pose.frame
    order = [clip.bones.index(name) if name in clip.bones else None for name in skeleton.bones]
    turns = [skeleton.rest_rotation[i] if o is None else clip.rotations[o, frame] for i, o in enumerate(order)]
    places = [skeleton.rest_translation[i] if o is None else clip.translations[o, frame] for i, o in enumerate(order)]
    moved_bones = skeleton.pose_matrices(np.array(turns)[:, None], np.array(places)[:, None])[:, 0]
    carry = moved_bones @ np.linalg.inv(skeleton.rest_matrices())
    rest = np.c_[mesh.positions.astype(np.float64), np.ones(len(mesh.positions))]
    if mesh.weights is None:
        return rest[:, :3]
    matrices = carry[[skeleton.bones.index(name) for name in mesh.groups]]
    pulled = np.einsum("nij,nj->ni", matrices[mesh.weights.groups], rest[mesh.weights.vertices])
    moved = np.zeros((len(rest), 3))
    np.add.at(moved, mesh.weights.vertices, pulled[:, :3] * mesh.weights.weights[:, None])
    return moved


def _faces_of(mesh: Mesh, skeleton: Skeleton, bone: str) -> np.ndarray:
    """(faces,) whether a face follows the bone or one below it."""
    below = {skeleton.bones.index(bone)}
    for _ in skeleton.bones:
        below |= {child for child, parent in enumerate(skeleton.parents) if int(parent) in below}
    follows = np.zeros(len(mesh.positions), bool)
    if mesh.weights is not None:
        inside = np.array([skeleton.bones.index(name) in below for name in mesh.groups])
        follows[mesh.weights.vertices[inside[mesh.weights.groups]]] = True
    return follows[mesh.triangles].all(axis=1)


def _object(mesh: Mesh, points: np.ndarray, materials: list, red: np.ndarray) -> None:
    made = bpy.data.meshes.new(mesh.name)
    made.from_pydata(points.tolist(), [], mesh.triangles.tolist())
    for material in materials:
        made.materials.append(material)
    made.polygons.foreach_set("material_index", red.astype(np.int32))
    made.validate()
    bpy.context.collection.objects.link(bpy.data.objects.new(mesh.name, made))


def _material(colour: tuple[float, ...]) -> bpy.types.Material:
    material = bpy.data.materials.new("Skin")
    material.diffuse_color = colour
    if material.node_tree is None:  # from Blender 5.0 on every material has one
        material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = colour
    return material


def _look_at(centre: np.ndarray, size: np.ndarray) -> None:
    scene = bpy.context.scene
    reach = float(np.linalg.norm(size))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = 1.05 * reach
    camera.data.clip_end = 10 * reach
    camera.rotation_euler = VIEW
    backwards = np.array(camera.rotation_euler.to_matrix())[:, 2]
    camera.location = centre + 3 * reach * backwards
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 4
    sun.rotation_euler = (np.radians(50), 0, VIEW[2] + np.radians(40))
    for each in (camera, sun):
        bpy.context.collection.objects.link(each)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("World")
    scene.world.color = (0.04, 0.05, 0.06)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Blender tells of every step of a render; that would bury what the demo has to say."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def _render(picture: Path) -> None:
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"  # needs no graphics card and no display
    scene.cycles.samples = 16
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = 640, 480
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(picture)
    bpy.ops.render.render(write_still=True)


try:
    status = main(*(Path(name) for name in sys.argv[sys.argv.index("--") + 1 :]))
except MotionbridgeError as refusal:
    raise SystemExit(str(refusal)) from None
if status:
    sys.exit(status)
