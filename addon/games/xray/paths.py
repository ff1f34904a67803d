"""Import and export of X-Ray motion paths (`.anm`): cameras, anomalies, weapon inertia.

A path becomes an action of an object. The file's curves are preserved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...blender import compat, nla, scope
from ...blender import path as paths
from ...blender.nla import STRIPS
from ...blender.properties import keep, kept
from ...core import files
from ...core.changes import sampled_because
from ...core.envelope import Behaviour
from ...core.errors import WriteError
from ...core.model import Path
from ...core.report import Message, Report, say
from ...formats.xray import anm
from ...formats.xray.envelopes import lost_slopes
from ..plan import FilePlan, OtherBase
from .options import PathExportOptions, PathImportOptions, Target

if TYPE_CHECKING:
    from ...blender.typed import Action, Context, Object
    from ...core.changes import Changes
    from ...formats.xray.anm import Anm
    from ...formats.xray.envelopes import StoredEnvelope


CAMERA_ROTATION = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Rotation Rx(90°) of a camera relative to the empty that moves it.

A Blender camera looks along its -Z axis, an object of the game along its forward axis, which is +Y in Blender.
"""
ALONG_A_CURVE = "the curve's shape"
"""Reason why the path of a curve object is sampled."""


MIRRORED = (
    "its scale is negative: the path has its rotation without the mirroring, as the game does not scale; apply its "
    "scale (Ctrl A) to see what is exported"
)
"""Warning about an object with negative scale."""
JUMP_KEY_DISTANCE = 0.1
"""Tolerance in frames: where a curve jumps, an import adds keys at most this far from a key of the file."""


@dataclass(frozen=True)
class ImportedPath:
    """An imported path: the object that moves, and its action."""

    owner: Any
    action: Action


@dataclass
class PathPlan(FilePlan):
    """A path to write.

    ``sampled``: reasons why its keys are sampled; empty if the action's own keys are written.
    """

    sampled: list[str]

    def sentence(self) -> Message:
        """Describe the changes, and why the path is sampled if it is, in one sentence."""
        return sampled_because(self.changes.sentence(), self.sampled)


def import_path(context: Context, file: str, options: PathImportOptions, report: Report) -> ImportedPath:
    """Import a path as an action of an object, which plays it if ``options.play`` is set.

    Raises `ReadError` if the file cannot be read, `WriteError` if the active object cannot be used as the target.
    """
    data, document, path = _read(file, report)
    name = FilePath(file).stem
    owner, camera = _owner(context, name, options, report)
    action = paths.build(path, name, compat.slot_name(owner))
    action.use_fake_user = options.fake_user
    _store_source(action, path, document, file, data)
    if camera is not None:  # it may be the user's camera, so it is moved only after the action was created
        camera.parent = owner
        camera.location, camera.rotation_mode, camera.rotation_euler = (0.0, 0.0, 0.0), "XYZ", (np.pi / 2, 0.0, 0.0)
        movers = [mover for mover in paths.why_sampled(camera, None) if mover != paths.PARENT]
        _warn_of_movers(camera, movers, report)
    if options.play and options.target is not Target.ACTIVE:
        scope.make_current(context, [owner, *owner.children], owner)
    for behaviour in filter(None, action.motionbridge_path.not_shown.split("; ")):
        report.warn(say("Blender does not show {} outside the keys; kept unless edited", behaviour), name)
    imported_path = ImportedPath(owner, action)
    if options.play:
        play(context, [imported_path], report)
    if options.draw_curve:
        curve_objects = paths.draw_curve(path, name)
        for curve_object in curve_objects:
            scope.target_collection(context, report).objects.link(curve_object)
    return imported_path


def import_action(file: str, slot: str, report: Report) -> Action | None:
    """Import a path as an action without an object, for objects with a slot called ``slot``. Raises `ReadError`."""
    data, document, path = _read(file, report)
    action = paths.build(path, FilePath(file).stem, slot)
    _store_source(action, path, document, file, data)
    return action


def _read(file: str, report: Report) -> tuple[bytes, anm.Anm, Path]:
    """Return the bytes of a file, its document and its path. Warns if the path has no keys. Raises `ReadError`."""
    data = files.read_file(file)
    document = anm.read(data, file, report)
    if not any(len(envelope.keys) for envelope in document.animation.envelopes):
        report.warn("the path has no keys: nothing moves", FilePath(file).stem)
    return data, document, anm.decode(document, report)


def play(context: Context, path_list: Sequence[ImportedPath], report: Report) -> None:
    """Assign the actions of imported paths to their objects, with the rotation mode that plays them."""
    # Some Blender versions crash if an action is assigned to an object that was never evaluated.
    context.view_layer.update()
    for path in path_list:
        _keep_played(path.owner, report)
        path.owner.rotation_mode = Path.rotation_order
        compat.assign(path.owner, path.action, compat.suitable_slot(path.action, path.owner))
        _warn_of_movers(path.owner, paths.why_sampled(path.owner, path.action), report)


def _warn_of_movers(moved: Object, movers: Sequence[str], report: Report) -> None:
    """Warn if something else than the path moves the object, so that it is not where the game has it."""
    if movers:
        words = (
            "it is also moved by {}, unlike in the game, and an export samples it; clear them, or import onto a new "
            "object"
        )
        report.warn(say(words, ", ".join(movers)), moved.name)


def _store_source(action: Action, path: Path, document: Anm, file: str, data: bytes) -> None:
    properties = action.motionbridge_path
    properties.is_path, properties.path_name, properties.path = True, path.name, file
    properties.came_as, properties.fps = document.animation.version, path.fps
    properties.not_shown = "; ".join(paths.not_shown(path))
    keep(properties, "document", data)


def _keep_played(owner: Object, report: Report) -> None:
    """Give the action that an object played before a fake user, so that saving the .blend keeps it."""
    data = owner.animation_data
    played = data.action if data is not None else None
    if played is not None and played.library is None and not played.use_fake_user:
        played.use_fake_user = True
        report.note("the previous action of the object is kept with a fake user", played.name)


def _owner(context: Context, name: str, options: PathImportOptions, report: Report) -> tuple[Any, Any]:
    """Return the object that plays the path, and the camera to parent to it or None.

    Raises `WriteError` if the active object is the target and is missing, linked, or a camera with an action or a
    parent (unless that parent already moves it along an imported path).
    """
    if options.target is not Target.ACTIVE:
        camera = None
        if options.target is Target.CAMERA:
            camera = bpy.data.objects.new(f"{name} camera", bpy.data.cameras.new(name))
            scope.target_collection(context, report).objects.link(camera)
        return _new_owner(context, name, report), camera
    active = context.view_layer.objects.active
    if active is None:
        raise WriteError("no object is active", remedy="Select the object to move, or import onto a new one")
    if active.library is not None:
        words = "{!r} is linked from another file"
        raise WriteError(say(words, active.name), remedy="Make a library override of it, or import onto a new one")
    if active.type != "CAMERA":
        return active, None
    carrier = moved_object(active)
    if carrier is not active:
        return carrier, None
    if active.parent is not None or _plays(active):
        raise WriteError(
            say("the camera {!r} is already moved by its keys or its parent", active.name),
            remedy="Clear its animation and its parent, or import onto a new camera",
        )
    return _new_owner(context, name, report), active


def _new_owner(context: Context, name: str, report: Report) -> Any:
    """Create an empty and link it to the target collection."""
    into = scope.target_collection(context, report)
    owner = bpy.data.objects.new(name, None)
    owner.empty_display_type, owner.empty_display_size = "ARROWS", 0.5
    into.objects.link(owner)
    return owner


def _plays(owner: Object) -> bool:
    return owner.animation_data is not None and owner.animation_data.action is not None


def followed_action(active: Object | None) -> Any:
    """Return the action of the path that ``active`` follows, or None.

    For a camera it is the action of the empty that the camera is parented to.
    """
    owner = moved_object(active) if active is not None else None
    return _action_of(owner) if owner is not None and _plays_path(owner) else None


def _playing(owner: Object) -> nla.Playing:
    """Return what an object plays; the base of its NLA layers is its path."""
    return nla.playing(owner, lambda action: bool(action.motionbridge_path.is_path))


def _playing_one(owner: Object) -> nla.Playing:
    """Return what an object plays. Raises `WriteError` if that is several paths."""
    play = _playing(owner)
    if play.bases:
        words = "NLA strips of {!r} play several paths, so it is not clear which one is written"
        raise WriteError(say(words, owner.name), remedy="Mute or delete the strips of all but one")
    return play


def _action_of(owner: Object) -> Any:
    """Return the action of an object's path: the one in play if it is a path, else the assigned one."""
    action = _playing(owner).action
    is_path = action is not None and action.motionbridge_path.is_path
    return action if is_path or owner.animation_data is None else owner.animation_data.action


def moved_object(active: Object) -> Object:
    """Return the object to export for the active one.

    For a camera parented to the empty of a path, as an import leaves it, that is the empty; else ``active`` itself.
    """
    parent, data = active.parent, active.animation_data
    moves = data is not None and (data.action is not None or len(data.drivers) or len(data.nla_tracks))
    if active.type != "CAMERA" or moves or parent is None or not _plays_path(parent):
        return active
    local = np.array(active.matrix_parent_inverse @ active.matrix_basis)
    as_imported = np.allclose(local[:3, :3], CAMERA_ROTATION, atol=1e-5) and np.allclose(local[:3, 3], 0.0, atol=1e-5)
    return parent if as_imported and not len(active.constraints) else active


def _plays_path(owner: Object) -> bool:
    action = _action_of(owner)
    return action is not None and bool(action.motionbridge_path.is_path)


def plan_export(
    context: Context,
    active: Object,
    file: str,
    *,
    options: PathExportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
) -> PathPlan:
    """Plan the export of the active object's path; for a curve object without an action, of the path along it.

    Raises `WriteError` if the object does not move.
    """
    files.warn_of_replacing(file, report)
    rate = scope.frames_per_second(context.scene)
    if active.type == "CURVE" and not _plays(active):
        with scope.object_mode(context):  # changes made in edit mode are not in the curve's data yet
            name = FilePath(file).stem
            path = paths.along_curve(context, active, name, rate, options.tolerance, banked=options.banked)
        document, changes = anm.encode(path, version=options.version)
        _warn_of_rounding(changes, options, report)
        return PathPlan(file, anm.write(document), changes, [ALONG_A_CURVE])
    owner = moved_object(active)
    action, play = _action_of(owner), _playing_one(owner)
    if not _moves(owner, action):
        remedy = "Key it, let constraints move it, or import a path"
        raise WriteError(say("{!r} does not move", owner.name), remedy=remedy)
    if paths.is_mirrored(owner):
        report.warn(MIRRORED, owner.name)
    report.include(left_out_of(active))
    base = _base(action)
    fps = rate if base is None else base.animation.rate
    name = action.motionbridge_path.path_name if base is not None and action is not None else owner.name
    reasons = _why_sampled(owner, action)
    if reasons:
        path = paths.sample(
            context,
            owner,
            action,
            name,
            fps,
            frames=_frames(context, owner, action, base, report),
            tolerance=options.tolerance,
            appended=CAMERA_ROTATION.T if owner.type == "CAMERA" else None,
            played_at=lambda frames: play.scene_frames(action, frames),
            progress=progress,
        )
        report.note(say("sampled frame by frame because of {}", ", ".join(reasons)), owner.name)
    else:
        path = paths.gather(owner, action, name, fps)
        if base is not None:
            paths.keep_frames(path, base.animation.first, base.animation.last)
            path.first, path.last = _extended(owner, action, (path.first, path.last), base, report)
            _keep_stored(path, base, [curve for curve in compat.curves_of(action, owner) if compat.is_muted(curve)])
    document, changes = anm.encode(path, base, version=_version(action, options))
    _warn_of_rounding(changes, options, report)
    return PathPlan(file, anm.write(document), changes, reasons)


def plan_save_back(
    context: Context, active: Object, *, options: PathExportOptions, if_changed: OtherBase, report: Report
) -> PathPlan:
    """Plan to write the path that ``active`` follows into its source file.

    Raises `WriteError` as `plan_export`, or if other programs changed that file and ``if_changed`` is
    `OtherBase.REFUSE`.
    """
    action = followed_action(active)
    properties = action.motionbridge_path
    file = bpy.path.abspath(properties.path)
    plan = plan_export(context, active, file, options=options, report=report)
    _warn_of_others(file, action, report)
    plan.onto_imported(properties, if_changed)
    return plan


def _warn_of_others(file: str, action: Action, report: Report) -> None:
    """Warn of other actions whose path came from ``file``, such as copies, by the objects that play them."""
    objects: Any = bpy.data.objects
    actions: Any = bpy.data.actions
    for other in actions:
        other_path = other.motionbridge_path
        if other == action or not other_path.is_path or bpy.path.abspath(other_path.path) != file:
            continue
        players = [owner.name for owner in objects if _plays(owner) and owner.animation_data.action == other]
        for player in players:
            report.warn("another object plays a path of this file; the file gets the path of this object", player)
        if not players:
            report.warn(
                "another action has a path of this file; the file gets the path of the one that plays", other.name
            )


def why_sampled(active: Object) -> list[str] | None:
    """Return the reasons why the path of ``active`` would be sampled; None if the object does not move.

    Empty if its keys are written as they are.
    """
    if active.type == "CURVE" and not _plays(active):
        return [ALONG_A_CURVE]
    owner = moved_object(active)
    action = _action_of(owner)
    reasons = _why_sampled(owner, action)
    return reasons if _moves(owner, action) else None


def sampled_frames(context: Context, active: Object) -> tuple[int, int]:
    """Return the first and last frame of the path of ``active`` if it is sampled."""
    owner = moved_object(active)
    action = _action_of(owner)
    return _frames(context, owner, action, _base(action), Report())


def left_out_of(active: Object) -> Report:
    """Return warnings about F-curves that an export of the active object leaves out, with their data paths."""
    report = Report()
    owner = moved_object(active)
    action = _action_of(owner)
    others, unused, muted = paths.unread(owner, action)
    left_out = {owner.name: others}
    for camera in (active, *owner.children):
        if camera.type == "CAMERA" and _plays(camera.data):
            data = camera.data.animation_data
            left_out[camera.data.name] = [curve.data_path for curve in compat.curves_of(data.action, camera.data)]
    for name, curves in left_out.items():
        if curves:
            report.warn("the game cannot store these curves; left out", f"{name}: {', '.join(curves)}")
    if unused:
        report.warn(
            "keys of a rotation that the object's mode does not read are left out, as Blender plays them",
            f"{owner.name}: {', '.join(unused)}",
        )
    if muted:
        in_file = action is not None and action.motionbridge_path.is_path and not _why_sampled(owner, action)
        problem = "curves are muted: the path has the object's current values there"
        if in_file:
            problem = "curves are muted: the path keeps the curves of the file there"
        report.warn(problem, f"{owner.name}: {', '.join(muted)}")
    return report


def is_mirrored(active: Object) -> bool:
    """Return whether the object to export for the active one has a negative scale; False for curve objects."""
    return active.type != "CURVE" and paths.is_mirrored(moved_object(active))


def _moves(owner: Object, action: Any) -> bool:
    is_imported = action is not None and action.motionbridge_path.is_path
    return is_imported or paths.is_keyed(owner, action) or bool(paths.why_sampled(owner, action))


def _why_sampled(owner: Object, action: Any) -> list[str]:
    camera_reasons = ["a camera of its own, which looks along another axis"] if owner.type == "CAMERA" else []
    reasons = paths.why_sampled(owner, action)
    if action is not None and action == _playing(owner).action and not _playing(owner).is_layered:
        reasons = [reason for reason in reasons if reason != STRIPS]
    return reasons + camera_reasons


def _keep_stored(path: Path, base: Anm, muted: Sequence[bpy.types.FCurve]) -> None:
    """Copy from the file what F-curves cannot show, and the channels of ``muted`` F-curves."""
    if muted or any(map(_has_unshown_behaviour, base.animation.envelopes)):
        stored = anm.decode(base, Report())
        paths.keep_muted(path, stored, muted)
        paths.keep_not_shown(path, stored)


def _has_unshown_behaviour(envelope: StoredEnvelope) -> bool:
    ends = {envelope.before, envelope.after}
    return ends != {Behaviour.CONSTANT} and not (ends == {Behaviour.LINEAR} and len(envelope.keys))


def _base(action: Any) -> Any:
    document = kept(action.motionbridge_path, "document") if action is not None else b""
    return anm.read(document, action.name, Report()) if document else None


def _version(action: Action | None, options: PathExportOptions) -> int | None:
    if options.version is not None or action is None:
        return options.version
    chosen = action.motionbridge_path.version
    return None if chosen == "AUTOMATIC" else int(chosen)


def _frames(
    context: Context, owner: Any, action: Action | None, base: anm.Anm | None, report: Report
) -> tuple[int, int]:
    """Return the first and the last frame to sample."""
    if action is None:
        return context.scene.frame_start, context.scene.frame_end
    start, end = paths.frame_range(owner, action)
    if (ends := _playing(owner).ends(action)) is not None:
        if np.allclose(ends, (start, end), rtol=0.0, atol=1e-3):
            return round(start), round(end)
        return round(ends[0]), round(ends[0]) + int(np.floor(ends[1] - ends[0] + 1e-3))
    if not action.use_frame_range and (others := paths.mover_range(owner)) is not None:
        start, end = min(start, others[0]), max(end, others[1])
    frames = int(np.floor(start)), int(np.ceil(end))
    return frames if base is None else _extended(owner, action, frames, base, report)


def _extended(owner: Object, action: Any, frames: tuple[int, int], base: anm.Anm, report: Report) -> tuple[int, int]:
    """Return the first and last frame of a path that was imported. ``frames``: those of the action's range.

    While that range is as imported, a new key before or after all keys of the file makes the path longer. A shorter
    range makes it shorter, which is reported as a warning.
    """
    (first, last), imported = frames, base.animation
    if last < imported.last:
        report.warn(
            "shortened by the action's frame range; keys after its end are not played",
            say("{}: last frame {} -> {}", action.name, imported.last, last),
        )
    if not action.use_frame_range:
        return frames
    times = np.concatenate([envelope.keys["time"] for envelope in imported.envelopes]).astype(np.float64)
    times = times[np.isfinite(times)] * imported.rate
    start, end = paths.key_range(owner, action)
    if first == imported.first and start < times.min(initial=first) - JUMP_KEY_DISTANCE:
        first = int(np.floor(start + JUMP_KEY_DISTANCE))
    if last == imported.last and end > times.max(initial=last) + JUMP_KEY_DISTANCE:
        last = int(np.ceil(end - JUMP_KEY_DISTANCE))
    return first, last


def _warn_of_rounding(changes: Changes, options: PathExportOptions, report: Report) -> None:
    metres, radians = changes.worst_errors()
    if metres > options.tolerance[0] or radians > options.tolerance[1]:
        words = (
            "this version stores handles in steps of 0.98 ms, which moves the path by up to {:.3g} mm and {:.3g}°; "
            "version 3 stores them exactly"
        )
        report.warn(say(words, 1000 * metres, np.degrees(radians)))
    if slopes := lost_slopes(changes.all_items()):
        report.warn(slopes)
