"""What the tests of `.rtm` animations in Blender share: files, imports, the pose by the format's definition."""

import bpy
import numpy as np

from addon.blender import compat
from addon.core.report import Report
from addon.games.arma.animation_export import plan_export
from addon.games.arma.animation_import import import_animation
from addon.games.arma.options import AnimationExportOptions, AnimationImportOptions
from tests.real_files import corpus_files

PLAIN = corpus_files("rtm/*.rtm")
BINARISED = corpus_files("rtm_binarised/*.rtm", "odd/scaled_quaternions.rtm")
SWAP = [0, 2, 1]


def load(file, rig=None, report=None, **options):
    report = Report() if report is None else report
    return import_animation(bpy.context, rig, str(file), options=AnimationImportOptions(**options), report=report)


def planned(done, path="x.rtm", report=None, **options):
    return plan_export(
        bpy.context,
        done.rig,
        str(path),
        options=AnimationExportOptions(**options),
        report=Report() if report is None else report,
        action=done.action,
    )


def exported(done, **options) -> bytes:
    return planned(done, **options).data


def curve_of(action, bone, channel, index):
    path = f'pose.bones["{bone}"].{channel}'
    bag = compat.curve_bag(action)
    return next(curve for curve in bag.fcurves if curve.data_path == path and curve.array_index == index)


def raw_matrices(data: bytes) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names, phases and (frames, bones, 4, 4) matrices in column form and Blender's axes, by the layout alone."""
    at = data.index(b"RTM_0101") + 8 + 12
    frames, bones = np.frombuffer(data, "<u4", 2, at)
    at += 8
    names = [data[at + 32 * bone : at + 32 * bone + 32].split(b"\0")[0].decode("latin-1") for bone in range(bones)]
    row = np.dtype([("phase", "<f4"), ("bones", [("name", "S32"), ("rows", "<f4", (4, 3))], (int(bones),))])
    table = np.frombuffer(data, row, int(frames), at + 32 * int(bones))
    rows = table["bones"]["rows"].astype(np.float64)
    result = np.zeros((*rows.shape[:2], 4, 4))
    result[..., 3, 3] = 1.0
    # Rows are the images of x, y, z and the translation: columns. P M P with P exchanging y and z.
    columns = np.swapaxes(rows, -1, -2)
    result[..., :3, :3] = columns[..., SWAP, :3][..., SWAP]
    result[..., :3, 3] = columns[..., SWAP, 3]
    return names, table["phase"], result


def shear_of(matrices: np.ndarray) -> np.ndarray:
    """The most shear that matrices have in any axes: by how much they stretch more one way than another.

    A stretch along the axes of the file is a shear in those of a bone that lies across, and these are anybody's choice.
    """
    stretches = np.linalg.svd(matrices[..., :3, :3], compute_uv=False)
    return stretches[..., 0] - stretches[..., 2]


def shown_matrices(done, names, frames) -> np.ndarray:
    """(frames, bones, 4, 4) `pose_bone.matrix @ bone.matrix_local⁻¹` of evaluated poses, frame by frame."""
    result = np.empty((len(frames), len(names), 4, 4))
    scene = bpy.context.scene
    blender = {entry.name: entry.bone for entry in done.action.motionbridge_animation.bones}
    bones = done.rig.data.bones
    indices = [bones.find(blender[name]) for name in names]
    inverses = np.linalg.inv(np.array([bone.matrix_local for bone in bones], np.float64))
    flat = np.empty(16 * len(bones), np.float32)
    for number, frame in enumerate(frames.tolist()):
        scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)
        done.rig.pose.bones.foreach_get("matrix", flat)
        poses = flat.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
        result[number] = (poses @ inverses)[indices]
    return result
