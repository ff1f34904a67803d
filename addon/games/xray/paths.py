"""Motion paths of X-Ray (`.anm`) onto objects and back, curves kept: cameras, anomalies, weapons' inertia."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...blender import compat, scope
from ...blender import path as paths
from ...blender.properties import keep, kept
from ...core import files
from ...core.changes import ENGLISH, sampled_because
from ...core.envelope import Behaviour
from ...core.errors import WriteError
from ...core.model import Path
from ...core.report import Report
from ...formats.xray import anm
from ...formats.xray.envelopes import lost_slopes
from ..plan import FilePlan, OtherBase, onto_imported
from .options import PathExportOptions, PathImportOptions, Target

if TYPE_CHECKING:
    from ...blender.typed import Action, Context, Object
    from ...core.changes import Changes, Words
    from ...formats.xray.anm import Anm
    from ...formats.xray.envelopes import StoredEnvelope


CAMERA_TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Rx(90°): a Blender camera looks along its -Z, an object of the game along what becomes Blender's +Y."""
ALONG_A_CURVE = "the curve's shape"
"""Why the way along a curve object is sampled."""


MIRRORED = "its scale is negative: the path has its rotation without the mirroring, as the game does not scale"
"""What is said of an object of negative scale."""
ADDED_BESIDE = 0.1
"""Frames. Keys that an import adds for a jump lie this near to a key of the file."""


@dataclass(frozen=True)
class ImportedPath:
    """The object that moves, and the action of the path."""

    owner: Any
    action: Any


@dataclass
class PathPlan(FilePlan):
    """A path that could be written; ``sampled`` why its keys do not go out as they are."""

    sampled: list[str]

    def sentence(self, words: Words | None = None) -> str:
        """What will change, in one sentence."""
        return f"{self.changes.sentence(words)}{sampled_because(self.sampled, words or ENGLISH)}"


def import_path(context: Context, file: str, options: PathImportOptions, report: Report) -> ImportedPath:
    """The path of a file as an action, and the object that plays it. Raises `ReadError`, `WriteError`."""
    data, document, path = _read(file, report)
    name = FilePath(file).stem
    owner, camera = _owner(context, name, options, report)
    action = paths.build(path, name, compat.slot_name(owner))
    action.use_fake_user = options.fake_user
    _remember(action, path, document, file, data)
    if camera is not None:  # it may be the user's own: moved only now that the action is there
        camera.parent = owner
        camera.location, camera.rotation_mode, camera.rotation_euler = (0.0, 0.0, 0.0), "XYZ", (np.pi / 2, 0.0, 0.0)
    if options.play and options.target is not Target.ACTIVE:
        scope.make_current(context, [owner, *owner.children], owner)
    for oddity in filter(None, action.motionbridge_path.not_shown.split("; ")):
        report.warn(f"Blender does not show {oddity} outside the keys; kept unless edited", name)
    made = ImportedPath(owner, action)
    if options.play:
        play(context, [made], report)
    if options.draw_curve:
        drawn = paths.draw_curve(path, name)
        for line in drawn:
            scope.target_collection(context, report).objects.link(line)
    return made


def import_action(file: str, slot: str, report: Report) -> Action | None:
    """The path of a file as an action alone, which an object with a slot of that name can play. Raises `ReadError`."""
    data, document, path = _read(file, report)
    action = paths.build(path, FilePath(file).stem, slot)
    _remember(action, path, document, file, data)
    return action


def _read(file: str, report: Report) -> tuple[bytes, anm.Anm, Path]:
    """The bytes of a file, its document and its path."""
    data = files.read_file(file)
    document = anm.read(data, file, report)
    if not any(len(envelope.keys) for envelope in document.animation.envelopes):
        report.warn("the path has no keys: nothing moves", FilePath(file).stem)
    return data, document, anm.decode(document, report)


def play(context: Context, made: Sequence[ImportedPath], report: Report) -> None:
    """Let objects play their paths."""
    # Assigning an action to an object that was never evaluated crashes some Blenders; once does for all of them.
    context.view_layer.update()
    for path in made:
        _keep_played(path.owner, report)
        path.owner.rotation_mode = Path.rotation_order
        compat.assign(path.owner, path.action, compat.suitable_slot(path.action, path.owner))


def _remember(action: Action, path: Path, document: Anm, file: str, data: bytes) -> None:
    properties = action.motionbridge_path
    properties.is_path, properties.path_name, properties.path = True, path.name, file
    properties.came_as, properties.fps = document.animation.version, path.fps
    properties.not_shown = "; ".join(paths.not_shown(path))
    keep(properties, "document", data)


def _keep_played(owner: Object, report: Report) -> None:
    """What an object played before is no longer used by it: a fake user keeps it in the file."""
    data = owner.animation_data
    played = data.action if data is not None else None
    if played is not None and played.library is None and not played.use_fake_user:
        played.use_fake_user = True
        report.note("the previous action of the object is kept with a fake user", played.name)


def _owner(context: Context, name: str, options: PathImportOptions, report: Report) -> tuple[Any, Any]:
    """What plays the path, and the camera to put below it or None."""
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
        raise WriteError(
            f"{active.name!r} is linked from another file",
            remedy="Make a library override of it, or import onto a new one",
        )
    if active.type != "CAMERA":
        return active, None
    carrier = moved_object(active)
    if carrier is not active:
        return carrier, None
    if active.parent is not None or _plays(active):
        raise WriteError(
            f"the camera {active.name!r} is already moved by its keys or its parent",
            remedy="Clear its animation and its parent, or import onto a new camera",
        )
    return _new_owner(context, name, report), active


def _new_owner(context: Context, name: str, report: Report) -> Any:
    """A new empty."""
    into = scope.target_collection(context, report)
    owner = bpy.data.objects.new(name, None)
    owner.empty_display_type, owner.empty_display_size = "ARROWS", 0.5
    into.objects.link(owner)
    return owner


def _plays(shown: Object) -> bool:
    return shown.animation_data is not None and shown.animation_data.action is not None


def followed_action(active: Object | None) -> Any:
    """The action of the path that ``active`` follows, a camera's through the empty that moves it; None without one."""
    owner = moved_object(active) if active is not None else None
    return owner.animation_data.action if owner is not None and _is_followed(owner) else None


def moved_object(active: Object) -> Object:
    """What is exported for the active object: the path's empty for a camera that follows it as imported."""
    above = active.parent
    if active.type != "CAMERA" or _plays(active) or above is None or not _is_followed(above):
        return active
    hangs = np.array(active.matrix_parent_inverse @ active.matrix_basis)
    straight = np.allclose(hangs[:3, :3], CAMERA_TURN, atol=1e-5) and np.allclose(hangs[:3, 3], 0.0, atol=1e-5)
    return above if straight and not len(active.constraints) else active


def _is_followed(shown: Object) -> bool:
    return _plays(shown) and bool(shown.animation_data.action.motionbridge_path.is_path)


def plan_export(
    context: Context,
    active: Object,
    file: str,
    *,
    options: PathExportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
) -> PathPlan:
    """The path of the active object, or along it where it is a curve. Raises `WriteError`."""
    files.warn_of_replacing(file, report)
    rate = scope.frames_per_second(context.scene)
    if active.type == "CURVE" and not _plays(active):
        with scope.object_mode(context):  # what is being edited is not in the curve's data yet
            path = paths.along_curve(
                context, active, FilePath(file).stem, rate, options.tolerance, banked=options.banked
            )
        document, changes = anm.encode(path, version=options.version)
        _warn_of_cost(changes, options, report)
        return PathPlan(file, anm.write(document), changes, [ALONG_A_CURVE])
    owner = moved_object(active)
    data = owner.animation_data
    action = data.action if data is not None else None
    if not _moves(owner, action):
        raise WriteError(f"{owner.name!r} does not move", remedy="Key it, let constraints move it, or import a path")
    if paths.is_mirrored(owner):
        report.warn(f"{MIRRORED}; apply its scale (Ctrl A) to see what is exported", owner.name)
    base = _base(action)
    fps = base.animation.rate if base is not None else rate
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
            appended=CAMERA_TURN.T if owner.type == "CAMERA" else None,
            progress=progress,
        )
        report.note(f"sampled frame by frame because of {', '.join(reasons)}", owner.name)
    else:
        path = paths.gather(owner, action, name, fps)
        if base is not None:
            paths.keep_frames(path, base.animation.first, base.animation.last)
            path.last = _last_frame(owner, action, path.last, base, report)
        if base is not None and any(map(_ends_oddly, base.animation.envelopes)):
            paths.keep_not_shown(path, anm.decode(base, Report()))
    document, changes = anm.encode(path, base, version=_version(action, options))
    _warn_of_cost(changes, options, report)
    return PathPlan(file, anm.write(document), changes, reasons)


def plan_save_back(
    context: Context, active: Object, *, options: PathExportOptions, if_changed: OtherBase, report: Report
) -> PathPlan:
    """The path that ``active`` follows for the file it came from. Raises `WriteError`, also where that is changed."""
    properties = followed_action(active).motionbridge_path
    file = bpy.path.abspath(properties.path)
    imported = hashlib.sha256(kept(properties, "document")).hexdigest()
    plan = plan_export(context, active, file, options=options, report=report)
    onto_imported(plan, properties, imported, if_changed)
    return plan


def why_sampled(active: Object) -> list[str] | None:
    """Why the path of ``active`` would be sampled; empty where its keys go out as they are, None if it is still."""
    if active.type == "CURVE" and not _plays(active):
        return [ALONG_A_CURVE]
    owner = moved_object(active)
    action = owner.animation_data.action if _plays(owner) else None
    reasons = _why_sampled(owner, action)
    return reasons if _moves(owner, action) else None


def is_mirrored(active: Object) -> bool:
    """Whether the object that is exported for the active one has a negative scale."""
    return active.type != "CURVE" and paths.is_mirrored(moved_object(active))


def _moves(owner: Object, action: Any) -> bool:
    of_file = action is not None and action.motionbridge_path.is_path
    return of_file or paths.is_keyed(owner, action) or bool(paths.why_sampled(owner, action))


def _why_sampled(owner: Object, action: Any) -> list[str]:
    of_camera = ["a camera of its own, which looks along another axis"] if owner.type == "CAMERA" else []
    return paths.why_sampled(owner, action) + of_camera


def _ends_oddly(envelope: StoredEnvelope) -> bool:
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
    """First and last frame to sample."""
    if action is None:
        return context.scene.frame_start, context.scene.frame_end
    start, end = action.frame_range
    last = int(np.ceil(end))
    return int(np.floor(start)), last if base is None else _last_frame(owner, action, last, base, report)


def _last_frame(owner: Object, action: Any, last: int, base: anm.Anm, report: Report) -> int:
    """The last frame of a path that came from a file and is shown until frame ``last``.

    While the action's range is the file's, a new key behind all others makes the path longer. A shorter range makes it
    shorter, and is reported.
    """
    imported = base.animation.last
    if last < imported:
        report.warn(
            "shortened by the action's frame range; keys after its end are not played",
            f"{action.name}: last frame {imported} -> {last}",
        )
    if last != imported or not action.use_frame_range:
        return last
    times = np.concatenate([envelope.keys["time"] for envelope in base.animation.envelopes]).astype(np.float64)
    times *= base.animation.rate
    known = float(times[np.isfinite(times)].max(initial=last))
    end = paths.last_key(owner, action)
    return int(np.ceil(end - ADDED_BESIDE)) if end > known + ADDED_BESIDE else last


def _warn_of_cost(changes: Changes, options: PathExportOptions, report: Report) -> None:
    metres, radians = changes.worst_errors()
    if metres > options.tolerance[0] or radians > options.tolerance[1]:
        report.warn(
            "this version stores handles in steps of 0.98 ms, which moves the path by up to "
            f"{1000 * metres:.3g} mm and {np.degrees(radians):.3g}°; version 3 stores them exactly"
        )
    if slopes := lost_slopes(changes.all_items()):
        report.warn(slopes)
