"""Work on imported animations: compare them with their file and save them back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...blender import action as actions
from ...blender import armature, compat, scope
from ...blender.control_links import remove_action
from ...blender.delta_action import DeltaWriter, RestPose
from ...blender.properties import keep
from ...blender.rotation_modes import HiddenKeys, angles_in_use
from ...core.changes import Changes, Noun, Part
from ...core.errors import MotionbridgeError, WriteError
from ...core.report import Report, say
from ..plan import OtherBase, Together, known_digests, location_of
from . import timing
from .animation_export import AnimationPlan, Base, plan_export, why_sampled
from .animation_import import ADDED_LATER, add, animations_of, is_listed
from .options import AnimationExportOptions
from .timing import SAME_FRAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...blender.typed import Action, Context, Object
    from ...core.game import InstalledGame
    from ...core.report import Message


def update_status(context: Context, rig: Object, action: Action, report: Report, *, look: bool = True) -> str:
    """Compare an action with its source file and store the status. Raises `WriteError`.

    ``look`` False: do not sample; the status is UNKNOWN if sampling would be necessary.
    """
    properties = action.motionbridge_animation
    if look or not why_sampled(rig, action):
        options = AnimationExportOptions(hidden_keys=HiddenKeys.RESTORE)
        plan = plan_export(context, rig, "", options=options, report=report, action=action)
        is_new = plan.changes.new or original_of(action) is not None
        status = "NEW" if is_new else ("EDITED" if plan.changes else "UNTOUCHED")
    else:
        status = "UNKNOWN"
    if properties.status != status:
        properties.status = status
    return status


def plan_save_back(
    context: Context,
    rig: Object,
    action: Action,
    *,
    if_changed: OtherBase,
    report: Report,
    hidden: HiddenKeys = HiddenKeys.STOP,
    games: tuple[InstalledGame, ...] = (),
) -> AnimationPlan:
    """Return a plan that writes the action to its source file. Raises `WriteError`, also if others changed that file.

    ``if_changed`` as in `FilePlan.onto_imported`, ``hidden`` and ``games`` as in `AnimationExportOptions`.
    """
    properties = action.motionbridge_animation
    if not properties.path:
        raise WriteError("the animation comes from no file", remedy="Export it to a new one")
    path = Path(bpy.path.abspath(properties.path))
    original = original_of(action)
    if original is not None:
        words = "the action {!r} is a copy of {!r}, whose file it would replace"
        raise WriteError(
            say(words, action.name, original.name), file=str(path), remedy="Export it to a file of its own"
        )
    options = AnimationExportOptions(hidden_keys=hidden, games=games)
    plan = plan_export(context, rig, str(path), options=options, report=report, action=action)
    _warn_of_same_file(rig, action, report)
    plan.onto_imported(properties, if_changed)
    return plan


class AnimationPlans(Together):
    """The files of several actions of an armature; ``actions`` in the order of ``plans``, each of which changes a file.

    ``without_file``: names of actions for which no file is planned.
    """

    def __init__(self, folder: str, changed: Sequence[tuple[Action, AnimationPlan]], unchanged: int) -> None:
        """``folder``: path shown for all files; ``unchanged``: number of other files without changes."""
        changes = Changes(noun=Noun.ANIMATION, unchanged=unchanged)
        for _, plan in changed:
            path = Path(plan.path)
            changes.parts.append(Part(path.name, Noun.ANIMATION, new=not path.exists()))
        super().__init__(folder, [plan for _, plan in changed], changes=changes)
        self.actions = [action for action, _ in changed]
        self.without_file: list[str] = []

    def sentence(self) -> Message:
        """Return how many animations will change, in one sentence."""
        result: Message = self.changes.sentence()
        return result


def needs_folder(action: Action) -> bool:
    """Return whether an action has no source file of its own: it was made in Blender, or is a copy."""
    return not action.motionbridge_animation.path or original_of(action) is not None


def plan_save_all(
    context: Context,
    rig: Object,
    *,
    folder: str,
    if_changed: OtherBase,
    report: Report,
    hidden: HiddenKeys = HiddenKeys.STOP,
    games: tuple[InstalledGame, ...] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> AnimationPlans:
    """Plan a file for each listed action of ``rig``: its source file; for new actions and copies one in ``folder``.

    Without a ``folder`` the latter are left out. An action that cannot be exported is left out with a warning.
    ``if_changed``, ``hidden``, ``games`` as in `plan_save_back`; ``progress`` is called with the number of planned
    actions. Raises `WriteError` if two actions would be written to the same file, or if a choice is missing.
    """
    changed: list[tuple[Action, AnimationPlan]] = []
    without_file: list[str] = []
    unchanged = 0
    for number, action in enumerate(animations_of(rig), 1):
        own_report = Report()
        is_new = needs_folder(action)
        if is_new and not folder:
            without_file.append(action.name)
            continue
        try:
            if is_new:
                path = str(Path(folder, f"{bpy.path.clean_name(action.name)}.rtm"))
                options = AnimationExportOptions(hidden_keys=hidden, games=games)
                plan = plan_export(context, rig, path, options=options, report=own_report, action=action)
            else:
                plan = plan_save_back(
                    context, rig, action, if_changed=if_changed, report=own_report, hidden=hidden, games=games
                )
        except WriteError as refusal:
            if refusal.option:
                raise
            report.warn(say("left out: {}", refusal.sentence().rstrip(".")), action.name)
        else:
            if plan.is_saved():
                unchanged += 1
            else:
                changed.append((action, plan))
                report.include(own_report)
        progress(number)
    _refuse_same_file(changed)
    result = AnimationPlans(folder, changed, unchanged)
    result.without_file = without_file
    return result


def _refuse_same_file(changed: Sequence[tuple[Action, AnimationPlan]]) -> None:
    """Raise `WriteError` if two actions would be written to the same file. Windows ignores the case of names."""
    first: dict[str, Action] = {}
    for action, plan in changed:
        other = first.setdefault(str(Path(plan.path)).lower(), action)
        if other is not action:
            raise WriteError(
                say("the actions {!r} and {!r} would be written to the same file", other.name, action.name),
                file=plan.path,
                remedy="Rename one of them if they are new, or delete one of them",
            )


def _warn_of_same_file(rig: Object, action: Action, report: Report) -> None:
    """Warn if other armatures, such as duplicates of ``rig``, have an animation of the same file."""
    path = action.motionbridge_animation.path
    owners: Any = [owner for owner in bpy.data.objects if owner != rig]
    listed = [(owner, entry) for owner in owners for entry in owner.motionbridge_animations]
    for owner, entry in listed:
        other = entry.action if entry.index >= 0 else None
        if other is not None and other != action and other.motionbridge_animation.path == path:
            problem = "another armature has an animation of this file; the file gets the one of this armature"
            report.warn(problem, f"{owner.name}: {other.name}")


def is_changed_on_disk(action: Action) -> bool:
    """Return whether others changed the source file of an action. Raises `ReadError`."""
    properties = action.motionbridge_animation
    return location_of(properties).digest() not in {None, *known_digests(properties)}


def original_of(action: Action) -> Action | None:
    """Return the action that another one was copied from, None if it is no copy. Only the original may replace the
    file.

    Imported actions are listed by their armature as originals, copies are not; see `animation_import`. Where no
    armature lists one (it was deleted), the action of the file with the shortest name counts as the original.
    """
    path = action.motionbridge_animation.path
    actions: Any = bpy.data.actions
    of_file = sorted(
        (action for action in actions if path and action.motionbridge_animation.path == path),
        key=lambda action: (len(action.name), action.name),
    )
    owners: Any = bpy.data.objects
    listed = {entry.action for owner in owners for entry in owner.motionbridge_animations if entry.index >= 0}
    originals = [action for action in of_file if action in listed] or of_file[:1]
    return None if action in originals or not originals else originals[0]


def new(rig: Object, name: str) -> Action:
    """Add an animation to the list with the pose that ``rig`` shows now; it gets a file on the next save."""
    bones = {bone.name for bone in rig.data.bones}
    fps = scope.frames_per_second(bpy.context.scene)
    action = actions.action_of_pose(rig, armature.rest_of(rig, np.identity(4)), name, bones, fps)
    return list_new(rig, action)


def copy_of(rig: Object, action: Action) -> Action:
    """Add a copy of an action to the list, below it; it gets a file of its own on the next save."""
    copy = list_new(rig, action.copy())
    rows = rig.motionbridge_animations
    below = next((number for number, row in enumerate(rows) if row.action == action), len(rows) - 2) + 1
    rows.move(len(rows) - 1, below)
    return copy


def list_new(rig: Object, action: Action) -> Action:
    """Add an action to the list as a new animation, unless it is listed; returns it."""
    if not is_listed(rig, action):
        add(rig, action, ADDED_LATER)
    if action.motionbridge_animation.is_animation:
        action.motionbridge_animation.status = "NEW"
    action.use_fake_user = True
    return action


def delete(rig: Object, action: Action) -> None:
    """Remove an action from the list, and delete it unless another armature lists it. Its file stays."""
    rows = rig.motionbridge_animations
    for number in reversed(range(len(rows))):
        if rows[number].action in {action, None}:
            rows.remove(number)
    objects: Any = bpy.data.objects
    if not any(is_listed(owner, action) for owner in objects):
        remove_action(action)


def reflect_step(action: Action) -> None:
    """Let the step of an animation go to the other side, for its motion with left and right exchanged."""
    properties = action.motionbridge_animation
    for step in (properties.step, properties.step_shown):
        step[0] = -step[0]


def _set_frame_range(action: Action, frames: Any) -> None:
    """Set the action's frame range to the keys of the written file, and store whether that excludes keys."""
    if not action.use_frame_range:
        return
    times = action.curve_frame_range
    outside = times[0] < frames[0] - SAME_FRAME or times[1] > frames[-1] + SAME_FRAME
    action.motionbridge_animation.is_cut = int(outside)
    action.frame_start, action.frame_end = float(frames[0]), float(frames[-1])


def saved_edits(context: Context, rig: Object, edited: Sequence[Action]) -> dict[Action, Callable[[], None]]:
    """Return those of the actions with ``edited`` controls that say what their file has, each with what gives it the
    keys of that, to be called when the control rig was removed.
    """
    result: dict[Action, Callable[[], None]] = {}
    for action in edited:
        if action.motionbridge_animation.is_animation:
            try:
                same = update_status(context, rig, action, Report()) == "UNTOUCHED"
            except MotionbridgeError:  # an animation that cannot be written was not saved
                continue
            if same:
                result[action] = partial(restore, rig, action)
    return result


def restore(rig: Object, action: Action) -> None:
    """Give the bones of ``rig`` the keys of an action's file as it was imported or last saved. Raises `ReadError`."""
    rest = RestPose.of(rig)
    base = Base.of(action, rest)
    if base is None:
        return
    channels, animated = base.channels()
    orders = angles_in_use(rig, [bone for bone, moves in zip(rest.bones, animated, strict=True) if moves])
    writer = DeltaWriter(rest, np.flatnonzero(animated).tolist(), compat.slot_name(rig), orders)
    try:
        writer.rebuild(action, channels, base.frames, rig)
    finally:
        writer.close()
    keep(action.motionbridge_animation, "digest", writer.digest)


def settle(plan: AnimationPlan, rig: Object, action: Action) -> None:
    """Store a written file as the source file of the action."""
    properties = action.motionbridge_animation
    properties.is_animation = True
    properties.path = plan.path
    plan.settle(properties)
    properties.status = "UNTOUCHED"
    properties.step = plan.clip.step.tolist()
    if properties.step_mode == timing.OBJECT:
        properties.step_shown = timing.step_per_phase(plan.clip.step, plan.clip.phases).tolist()
    elif properties.step_mode == timing.BONES:
        properties.step_shown = (np.array(properties.step_shown) / plan.phases.stretch).tolist()
        properties.step_zero = float(plan.phases.of(np.float32(properties.step_zero)))
    frames = plan.key_frames
    if not plan.keeps_range:
        _set_frame_range(action, frames)
    action.motionbridge_shown_keys = plan.shown_keys
    if len(frames) < plan.clip.frames:  # a pose that was written as two frames
        frames = frames[0] + np.arange(plan.clip.frames, dtype=np.float32)
    timing.keep_keys(properties, frames, plan.clip.phases)
    if timing.gather(action) != plan.clip.events:  # event phases change with the length
        timing.store(action, plan.clip.events)
    keep(properties, "document", plan.data)
    keep(properties, "digest", plan.keys)
    parents = {entry.name: entry.parent for entry in properties.bones}
    properties.bones.clear()
    for name, index in zip(plan.clip.bones, plan.bone_indices.tolist(), strict=True):
        entry = properties.bones.add()
        entry.name, entry.parent = name, plan.parents.get(name, parents.get(name, ""))
        entry.bone = rig.data.bones[index].name if index >= 0 else ""
