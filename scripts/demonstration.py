"""The part of the demo that runs inside Blender: `… --python scripts/demonstration.py -- MODEL MOTIONS FOLDER`."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from addon import cli, games
from addon.blender import action as actions
from addon.blender import compat
from addon.blender.armature import matrices_of, rest_of
from addon.core import rotation, space
from addon.core.errors import MotionbridgeError
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.mapping import decode
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.library import Onto
from addon.games.xray.motions.omf_codec import MotionExportOptions, MotionImportOptions
from addon.games.xray.options import ModelImportOptions

ANGLE = np.radians(35.0)
BEFORE, AFTER, MOVED = (0.35, 0.37, 0.42, 1.0), (0.85, 0.62, 0.25, 1.0), (0.80, 0.12, 0.10, 1.0)
VIEW = (np.radians(75), 0.0, np.radians(150))  # from the front, a little from above and from the side


def main(model: Path, motions: Path, folder: Path) -> int:
    """Import, change one key, export, compare and render. Returns the exit status."""
    edited = folder / motions.name
    if edited.resolve() == motions.resolve():
        raise SystemExit(f"{folder} contains the motions: name another output folder")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    games.register()
    report = Report()
    imported = import_model(bpy.context, model, ModelImportOptions(), report)
    if imported.rig is None:
        raise SystemExit(f"{model} has no bones, so nothing can be moved: name a model with a skeleton")
    rig = imported.rig
    own_motions = library.import_motions(
        omf_codec.OMF, bpy.context, rig, str(motions), options=MotionImportOptions(), report=report
    )
    print(f"{model.name}: {len(rig.data.bones)} bones, {len(imported.meshes)} meshes.")
    print(f"{motions.name}: {len(own_motions.actions)} motions, each an action now.")

    change = _most_moving(rig, own_motions.actions)
    print(f"Blender shows the pose in the files: {_worst_joint(model, motions, change)}.")
    before = _figures(rig, imported.meshes, change)
    _rotate_key(change)
    print(f"Change: in the motion {change.action.name}, one key of {change.bone} (frame {change.frame}) is rotated.")
    after = _figures(rig, imported.meshes, change)

    shutil.copyfile(motions, edited)
    options = MotionExportOptions()
    plan = library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        own_motions.actions,
        str(edited),
        onto=Onto.FILE,
        options=options,
        report=report,
    )
    plan.write()
    print(f"Written: {plan.sentence()}.")
    for line in report.lines():
        print(f"  note: {line}")
    print("\nThe proof, by comparing the two files:", flush=True)
    if cli.main(["diff", str(motions), str(edited)]) != 1:  # exit status 1: the files differ
        print("the change cannot be seen in the file")
        return 1

    picture = folder / "pose.png"
    _draw(before, after)
    with _silence():
        _render(picture)
    print(f"\nThe motions with the change: {edited}")
    print(f"The pose before (left) and after (right, what moved in red): {picture}")
    games.unregister()
    return 0


@dataclass(frozen=True)
class _Change:
    """The key of a bone that the demo changes."""

    rig: Any
    action: Any
    bone: str
    frame: int

    def show(self) -> None:
        """Put the rig in the pose at the key."""
        compat.assign(self.rig, self.action)
        bpy.context.scene.frame_set(self.frame)


def _rotation_curves(action: Any) -> dict[str, list[Any]]:
    """Return bone -> the four F-curves of its rotation, of bones with more than one rotation key."""
    bones: dict[str, list[Any]] = {}
    for curve in compat.curve_bag(action).fcurves:
        if curve.data_path.endswith("rotation_quaternion") and len(curve.keyframe_points) > 1:
            bones.setdefault(curve.data_path.split('"')[1], []).append(curve)
    return bones


def _most_moving(rig: Any, created: list[Any]) -> _Change:
    """Choose the motion with the most rotating bones, in it a limb with about two descendants, and the middle frame."""
    action = max(created, key=lambda each: (len(_rotation_curves(each)), each.frame_range[1]))
    curves_of_bones = _rotation_curves(action)
    if not curves_of_bones:
        raise SystemExit("no bone of the model has rotation keys in these motions")
    # The change of a limb with a few descendants is visible; a root would rotate everything.
    bone = min(curves_of_bones, key=lambda name: abs(len(rig.data.bones[name].children_recursive) - 2))
    return _Change(rig, action, bone, actions.frame_range(action)[1] // 2)


def _rotate_key(change: _Change) -> None:
    """Rotate one key about the bone's own X axis, as a user would."""
    curves = _rotation_curves(change.action)[change.bone]
    key = np.array([curve.keyframe_points[change.frame].co[1] for curve in curves])
    for curve, value in zip(curves, rotation.multiply(key, rotation.about_axis(0, ANGLE)), strict=True):
        curve.keyframe_points[change.frame].co[1] = value


def _worst_joint(model: Path, motions: Path, change: _Change) -> str:
    """Return, as text, how far Blender's pose is from one computed from the file's keys alone."""
    change.show()
    skeleton = decode_skeleton(ogf.read(read_file(model), str(model), Report()), Report())
    clips = decode(omf.read(read_file(motions), str(motions), Report()).motion_set, Report(), skeleton.bones)
    clip = next(clip for clip in clips if clip.name == change.action.motionbridge_motion.motion_name)
    tracks = {bone.lower(): track for track, bone in enumerate(clip.bones)}
    known = [bone.lower() in tracks for bone in skeleton.bones]
    order = [tracks.get(bone.lower(), 0) for bone in skeleton.bones]
    rotations = np.where(np.array(known)[:, None], clip.rotations[order, change.frame], skeleton.rest_rotation)
    translations = np.where(np.array(known)[:, None], clip.translations[order, change.frame], skeleton.rest_translation)
    chain = skeleton.pose_matrices(rotation.normalised(rotations)[:, None], translations[:, None])[:, 0]
    pose_bone = dict(zip(change.rig.data.bones.keys(), matrices_of(change.rig.pose.bones, "matrix"), strict=True))
    names = {bone.motionbridge_xray.index: bone.name for bone in change.rig.data.bones}
    worst = max(
        float(np.linalg.norm(pose_bone[names[number]][:3, 3] - chain[number, :3, 3])) for number in range(len(chain))
    )
    rest = rest_of(change.rig, space.XRAY_ROOT_FRAME)
    return f"none of {len(rest.bones)} joints is off by more than {worst * 1000:.4f} mm"


@dataclass(frozen=True)
class _Figure:
    """An evaluated mesh: (vertices, 3) in world space and its faces as vertex indices."""

    points: np.ndarray
    faces: list[tuple[int, ...]]


def _figures(rig: Any, actual: list[Any], change: _Change) -> list[_Figure]:
    change.show()
    graph = bpy.context.evaluated_depsgraph_get()
    figures = []
    for each in actual:
        evaluated = each.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        world = np.array(evaluated.matrix_world)
        figures.append(
            _Figure(
                points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3],
                [tuple(face.vertices) for face in mesh.polygons],
            )
        )
        evaluated.to_mesh_clear()
    return figures


def _draw(before: list[_Figure], after: list[_Figure]) -> None:
    """Put both figures side by side into an otherwise empty scene."""
    for each in list(bpy.context.scene.objects):
        bpy.data.objects.remove(each)
    everything = np.concatenate([figure.points for figure in before + after])
    low, high = everything.min(axis=0), everything.max(axis=0)
    # To the right in the camera's view, so that both figures are at the same height.
    aside = np.array((np.cos(VIEW[2]), np.sin(VIEW[2]), 0.0))
    step = aside * (np.abs(aside) @ (high - low) * 1.1)
    grey, gold, red = _material(BEFORE), _material(AFTER), _material(MOVED)
    for old, new in zip(before, after, strict=True):
        moved = np.linalg.norm(new.points - old.points, axis=1) > 1e-3
        _object(old, old.points, [grey], np.zeros(len(old.faces), np.int32))
        marked = np.array([moved[list(face)].all() for face in new.faces], np.int32)
        _object(new, new.points + step, [gold, red], marked)
    _look_at((low + high + step) / 2, (high - low) + np.abs(step))


def _object(figure: _Figure, points: np.ndarray, materials: list[Any], which: np.ndarray) -> None:
    mesh = bpy.data.meshes.new("figure")
    mesh.from_pydata(points.tolist(), [], figure.faces)
    for material in materials:
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", which)
    mesh.validate()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("figure", mesh))


def _material(colour: tuple[float, ...]) -> Any:
    material = bpy.data.materials.new("Skin")
    material.diffuse_color = colour
    if material.node_tree is None:  # since Blender 5.0 every material has one
        material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = colour
    return material


def _look_at(centre: np.ndarray, size: np.ndarray) -> None:
    scene = bpy.context.scene
    diagonal = float(np.linalg.norm(size))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = 1.05 * diagonal
    camera.data.clip_end = 10 * diagonal
    camera.rotation_euler = VIEW
    backwards = np.array(camera.rotation_euler.to_matrix())[:, 2]
    camera.location = centre + 3 * diagonal * backwards
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 4
    sun.rotation_euler = (np.radians(50), 0, VIEW[2] + np.radians(40))
    for each in (camera, sun):
        scene.collection.objects.link(each)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("World")
    scene.world.color = (0.04, 0.05, 0.06)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Suppress Blender's output about every step of a render, which would hide the demo's."""
    sys.stdout.flush()
    stdout = os.dup(1)
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)


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
