"""Motions of other skeletons: read from files by Blender's importers or from an armature of the scene, and written as
actions of an armature of a game.

Files are imported into a scene of their own, which is removed with all that came with it. Poses are in world space, so
it does not matter whether an importer puts scale, axes or the motion itself on the object or on the bones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import affine, rotation
from ..core.bone_map import Rig
from ..core.errors import ReadError
from ..core.files import read_file
from ..core.limb_goals import FRAMES_PER_SECOND
from ..core.model import Clip
from ..core.report import Report, say
from ..core.retarget import resampled
from . import bone_curves, compat, nla, scope
from .action import ClipWriter
from .armature import matrices_of, parent_local, rest_of
from .delta_action import RestPose

if TYPE_CHECKING:
    from .typed import Action, Context, Object

Floats = NDArray[np.float64]

SCRATCH = ".motionbridge"
DENSE = 1.0 / 15.0
"""Seconds; keys this near to each other are the frames of a recording, between which nothing but a rotation on the
sphere is known. Others are poses between which Blender's interpolation counts.
"""
ON_GRID = 0.02
"""Share of the distance of two keys by which keys of a recording may be off their frames."""
JUMP, TIMES_LARGER = np.radians(20.0), 5.0
"""Radians, and a factor: a recording begins with a pose for reference, which is left out, if a bone turns by more than
this from the first frame to the second, and so many times as much as any does to the third.
"""
STILL = 1e-6
"""Metres, and differences of quaternions; tracks that change less get one key."""
_MADE_BY_IMPORTERS = re.compile(r"^.*\|")
_NUMBER = re.compile(r"\.\d{3}$")
_UNWANTED = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class ForeignMotion:
    """One motion of another skeleton: its ``rig`` at rest and ``poses`` (frames, bones, 4, 4) at 30 frames per second,
    both in world space, in the units of the source.
    """

    name: str
    rig: Rig
    poses: Floats


# Reading ------------------------------------------------------------------------------------------------------------


def read_file_motions(context: Context, path: str, report: Report, chosen: Sequence[str] = ()) -> list[ForeignMotion]:
    """Read the motions of a file: those ``chosen`` by name, by default all. The scene and all data-blocks stay as they
    are. Raises `ReadError` if Blender cannot read the file or no armature of it moves.
    """
    with _imported(context, path) as (scene, rigs, actions, _):
        rate = _bvh_rate(path) or scope.frames_per_second(scene)
        motions = []
        for rig in rigs:
            for action in actions:
                name = _name(action, rig)
                if _moves(action, rig) and (not chosen or name in chosen):
                    motions.append(_sampled((scene, scene.view_layers[0]), rig, action, name, rate=rate, report=report))
    if not motions:
        words = "no motion in the file is called {}" if chosen else "no armature of the file moves"
        raise ReadError(say(words, ", ".join(chosen)) if chosen else words, file=path)
    return motions


def keep_source(context: Context, path: str, report: Report) -> None:
    """Import the armatures of a file, with their motions, into the active collection. Raises `ReadError`."""
    collection = scope.target_collection(context, report)
    with _imported(context, path) as (scene, _, actions, kept):
        for obj in list(scene.objects):
            collection.objects.link(obj)
            kept |= {obj, obj.data} - {None}
        for action in actions:
            action.use_fake_user = True
            kept.add(action)


def read_armature_motions(
    context: Context, rig: Object, actions: Sequence[Action], rate: float, report: Report
) -> list[ForeignMotion]:
    """Read actions of an armature of the scene, whose frames are ``rate`` per second. Raises `ReadError` if its object
    is mirrored.
    """
    scope.refuse_edited([rig])
    with scope.only_evaluated(context, [rig]), scope.kept_frame(context) as scene:
        return [
            _sampled((scene, context.view_layer), rig, action, _name(action, rig), rate=rate, report=report)
            for action in actions
        ]


def actions_of_armature(rig: Object) -> list[Action]:
    """Return the actions that an armature plays or has in the NLA and that move its bones."""
    data = rig.animation_data
    if data is None:
        return []
    strips = [strip.action for track in data.nla_tracks for strip in track.strips]
    used = [action for action in dict.fromkeys([data.action, *strips]) if action is not None]
    return [action for action in used if _moves(action, rig)]


def _moves(action: Action, rig: Object) -> bool:
    return any(bone_curves.bone_of(curve.data_path) in rig.data.bones for curve in compat.curves_of(action, rig))


def _name(action: Action, rig: Object) -> str:
    """Return the name of a motion, without what importers put before and after it, and without the number that Blender
    appends if the scene has an action of that name.
    """
    name = _NUMBER.sub("", _MADE_BY_IMPORTERS.sub("", action.name)).removesuffix(f"_{_NUMBER.sub('', rig.name)}")
    return _UNWANTED.sub("_", name).strip("_") or "motion"


@contextmanager
def _imported(context: Context, path: str) -> Iterator[tuple[Any, list[Any], list[Any], set[Any]]]:
    """Yield a scene with what a file holds, its armatures, its actions, and a set of data-blocks to keep; the others
    are removed afterwards.
    """
    load = _importer(path)
    read_file(path)  # says better than the importers why a file cannot be opened
    window: Any = context.window or context.window_manager.windows[0]
    own_scene = window.scene
    with scope.new_data_removed() as kept:
        known = {action.session_uid for action in bpy.data.actions}
        scene = bpy.data.scenes.new(SCRATCH)
        scene.render.fps, scene.render.fps_base = round(FRAMES_PER_SECOND), 1.0
        try:
            window.scene = scene
            try:
                load(filepath=path)
            except RuntimeError as refused:
                sentence = next(iter(str(refused).strip().splitlines()[-1:]), "")
                raise ReadError(say("Blender's importer failed: {}", sentence), file=path) from None
            finally:
                window.scene = own_scene
            rigs = [obj for obj in scene.objects if obj.type == "ARMATURE"]
            # Meshes would be evaluated at every frame.
            bpy.data.batch_remove([obj for obj in scene.objects if obj.type not in {"ARMATURE", "EMPTY"}])
            yield scene, rigs, [action for action in bpy.data.actions if action.session_uid not in known], kept
        finally:
            bpy.data.scenes.remove(scene)


def _importer(path: str) -> Callable[..., Any]:
    """Return Blender's import operator for a file. Raises `ReadError` if there is none, or its add-on is off."""
    suffix = Path(path).suffix.lower()
    operators: dict[str, tuple[str, tuple[tuple[str, dict[str, Any]], ...]]] = {
        ".bvh": ("BioVision Motion Capture (BVH) format", (("import_anim.bvh", {"rotate_mode": "QUATERNION"}),)),
        ".fbx": (
            "FBX format",
            (("import_scene.fbx", {"use_image_search": False}), ("wm.fbx_import", {})),
        ),
        ".glb": ("glTF 2.0 format", (("import_scene.gltf", {}),)),
    }
    operators[".gltf"] = operators[".glb"]
    if suffix not in operators:
        raise ReadError(say("only {} can be read here", ", ".join(operators)), file=path)
    add_on, candidates = operators[suffix]
    for name, options in candidates:
        group, _, function = name.partition(".")
        operator: Any = getattr(getattr(bpy.ops, group), function)
        try:
            operator.get_rna_type()
        except KeyError:
            continue
        return lambda **given: operator(**given, **options)
    raise ReadError(
        say("Blender's add-on {!r} that reads these files is off", add_on),
        file=path,
        remedy="Switch it on in Preferences > Add-ons",
    )


def _bvh_rate(path: str) -> float:
    """Return the frames per second that a BVH file states, 0 for other files."""
    if Path(path).suffix.lower() != ".bvh":
        return 0.0
    match = re.search(rb"Frame Time:\s*([0-9.eE+-]+)", read_file(path))
    seconds = float(match.group(1)) if match is not None else 0.0
    return 1.0 / seconds if seconds > 0 else FRAMES_PER_SECOND


# Sampling -----------------------------------------------------------------------------------------------------------


def _sampled(
    scene_and_layer: tuple[Any, Any], rig: Object, action: Action, name: str, *, rate: float, report: Report
) -> ForeignMotion:
    """Return a motion at 30 frames per second. ``rate``: frames of the scene per second."""
    scene, layer = scene_and_layer
    with scope.posed(rig), scope.kept_pose(rig), nla.alone(rig, action):

        def poses_at(frames: Floats) -> tuple[Floats, Floats]:
            worlds, poses = np.empty((len(frames), 4, 4)), np.empty((len(frames), len(rig.pose.bones), 4, 4))
            for number, frame in enumerate(frames.tolist()):
                scope.set_frame(scene, frame)
                seen: Any = rig.evaluated_get(layer.depsgraph)
                worlds[number], poses[number] = seen.matrix_world, matrices_of(seen.pose.bones, "matrix")
            return worlds, poses

        keys = bone_curves.key_times(compat.curves_of(action, rig)).astype(np.float64)
        start = keys[0] if len(keys) else 0.0
        keys = _without_reference(rig, keys, rate, poses_at)
        if keys.size and keys[0] != start:
            report.note("the first frame shows a pose for reference and is left out", name)
        frames, positions = _frames(keys, rate)
        worlds, poses = poses_at(frames)
    if np.linalg.det(worlds[0, :3, :3]) <= 0:
        raise ReadError(
            say("the armature {!r} is mirrored by a negative scale", rig.name), remedy="Apply its scale in its own file"
        )
    rest = RestPose.of(rig)
    whole = affine.rigid(worlds[:, None] @ poses)
    if positions is not None:
        whole = resampled(whole, np.arange(len(frames), dtype=np.float64), positions)
    return ForeignMotion(name, Rig(rest.bones, rest.parents, affine.rigid(worlds[0] @ rest.matrices)), whole)


def _without_reference(rig: Object, keys: Floats, rate: float, poses_at: Any) -> Floats:
    """Return the times of keys without a first one that shows a pose for reference, as `JUMP` says."""
    if len(keys) < 3 or keys[2] - keys[0] > 2 * DENSE * rate:
        return keys
    local = parent_local(poses_at(keys[:3])[1], RestPose.of(rig).parents, np.eye(4))
    turned = rotation.from_matrices(affine.rigid(local)[..., :3, :3])
    first, second = rotation.angles_between(turned[:-1], turned[1:]).max(axis=1).tolist()
    return keys[1:] if first > max(JUMP, TIMES_LARGER * second) else keys


def _frames(keys: Floats, rate: float) -> tuple[Floats, Floats | None]:
    """Return the frames to sample, and where among them (0, 1, …) the frames of the result are; None if these are the
    frames themselves.
    """
    if not len(keys):
        return np.zeros(1), None
    count = int(np.floor((keys[-1] - keys[0]) * FRAMES_PER_SECOND / rate + 1e-3)) + 1
    wanted: Floats = keys[0] + np.arange(count) * (rate / FRAMES_PER_SECOND)
    if len(keys) < 3:
        return wanted, None
    step = float(np.median(np.diff(keys)))
    numbers = (keys - keys[0]) / step
    if step / rate > DENSE or np.abs(numbers - np.rint(numbers)).max() > ON_GRID:
        return wanted, None
    exact = (wanted - keys[0]) / step
    near = np.rint(exact)
    exact = np.where(np.abs(exact - near) < 1e-3, near, exact)
    needed = np.unique(np.concatenate([np.floor(exact), np.ceil(exact)]))
    frames = keys[0] + needed * step
    nearest = keys[np.clip(np.searchsorted(keys, frames - step / 2), 0, len(keys) - 1)]
    frames = np.where(np.abs(nearest - frames) < step * 2 * ON_GRID, nearest, frames)
    return frames, np.interp(exact, needed, np.arange(len(needed)))


# Writing ------------------------------------------------------------------------------------------------------------


def rig_of(rig: Object) -> Rig:
    """Return the skeleton of an armature with the axes and units of the world, about the armature's origin."""
    rest = RestPose.of(rig)
    matrices = affine.rigid(_without_location(rig) @ rest.matrices)
    return Rig(rest.bones, rest.parents, matrices)


def _without_location(rig: Object) -> Floats:
    """Return the transform (4, 4) of an armature object without its location."""
    result = np.array(rig.matrix_world, np.float64)
    result[:3, 3] = 0.0
    return result


def build(rig: Object, name: str, poses: Floats, bones: Sequence[str], root_frame: Floats | None) -> Action:
    """Create an action of ``rig`` with keys of ``bones`` for ``poses`` (frames, bones of `rig_of`, 4, 4), one a frame.

    ``root_frame`` as in `armature.Rest`, None for the armature's own axes.
    """
    rest = rest_of(rig, np.eye(4) if root_frame is None else root_frame)
    rows = [row for row, bone in enumerate(rest.bones) if bone in set(bones)]
    own = affine.rigid(affine.inverse(_without_location(rig)) @ poses)
    local = parent_local(own, rest.parents, rest.root_frame)[:, rows].swapaxes(0, 1)
    rotations = rotation.continuous(rotation.from_matrices(affine.rigid(local)[..., :3, :3]))
    translations = np.ascontiguousarray(local[..., :3, 3])
    at_rest = np.abs(translations - rest.translations[rows][:, None]).max(axis=(1, 2)) <= STILL
    translations[at_rest] = rest.translations[rows][at_rest][:, None]
    keyed = np.ptp(rotations, axis=1).max(axis=1) > STILL, np.ptp(translations, axis=1).max(axis=1) > STILL
    for values, moves in zip((rotations, translations), keyed, strict=True):
        values[~moves] = values[~moves][:, :1]
    clip = Clip(name, [rest.bones[row] for row in rows], rotations, translations, *keyed, FRAMES_PER_SECOND)
    writer = ClipWriter(rest, rows, compat.slot_name(rig))
    try:
        return writer.build(clip, list(range(len(rows))))
    finally:
        writer.close()
