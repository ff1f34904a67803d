"""The list of a motion file of the game in the panel: what is edited, back to what the file says, order, deletion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import action_lists, rotation_modes
from ....blender.armature import rest_of
from ....blender.rotation_modes import HiddenKeys
from ....blender.sampling import Reach
from ....core import space
from ....core.errors import WriteError
from ....core.report import Report
from ..options import MotionExportOptions, RestChange
from . import files as motion_files
from .exporting import plan_onto
from .files import LISTS
from .library import motions_of
from .omf_codec import OMF, Builders, Unedited, describe

if TYPE_CHECKING:
    from ....blender.typed import Action, Context, Object
    from .properties import MotionFile


def update_status(
    context: Any,
    rig: Object,
    chosen: Sequence[Action],
    report: Report,
    *,
    look: bool = True,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Compare each action with what its file has: new, edited or untouched.

    ``look`` False samples nothing: what only sampling could tell is unknown then.
    """
    by_file: dict[str, list[Any]] = {}
    files_of = action_lists.files_of_actions(rig, LISTS)
    for action in chosen:
        known = files_of.get(action)
        if known is None or motion_files.motion_of(action) is None:
            action.motionbridge_motion.status = "NEW"
        else:
            by_file.setdefault(known.name, []).append(action)
    reach, done = Reach(rig), 0
    for key, of_file in by_file.items():
        file = rig.motionbridge_motion_files[key]
        unedited, places = Unedited(rig, file), action_lists.listed(file, LISTS)
        digests: dict[Any, bytes] = {}
        for action in of_file:
            digest = unedited.digest(action, places.get(action, -1)) if not reach.of(action) else b""
            if unedited.is_known(action, digest):
                _set_status(action, "UNTOUCHED")
                done += 1
            else:
                digests[action] = digest
            progress(done)
        found = _compared(context, rig, file, list(digests), report, look=look, progress=_behind(done, progress))
        for action, status in found.items():
            _set_status(action, status)
            if status == "UNTOUCHED":
                unedited.remember(action, digests[action])
        done += len(digests)


def _behind(before: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: progress(before + done)


def _set_status(action: Action, status: str) -> None:
    if action.motionbridge_motion.status != status:
        action.motionbridge_motion.status = status


def _compared(
    context: Context,
    rig: Object,
    file: Any,
    chosen: Sequence[Any],
    report: Report,
    *,
    look: bool,
    progress: Callable[[int], None],
) -> dict[Any, str]:
    """The status of actions of one file, each compared with the motion it came from."""
    if not chosen:
        return {}
    host = OMF.host(rig, chosen, file=file)
    options = MotionExportOptions(
        rest_change=RestChange.GAME_POSE, hidden_keys=HiddenKeys.RESTORE, rename=False, look=look
    )
    plan = plan_onto(OMF, context, rig, chosen, file.name, host=host, options=options, report=report, progress=progress)
    changed = {change.number: change for change in plan.changes.parts}
    found = {}
    for number, action in enumerate(chosen):
        motion, change = action.motionbridge_motion, changed.get(number)
        renamed = motion.motion_name != motion.imported_name
        same = "UNKNOWN" if action in plan.unseen else "UNTOUCHED"
        found[action] = "NEW" if change and change.new else "EDITED" if change or renamed else same
    return found


def revert(rig: Object, action: Action, report: Report) -> None:
    """Keys, marks and parameters as the file said them. Raises `WriteError` for an action that came from no file."""
    file = action_lists.file_of(rig, action, LISTS)
    motion = motion_files.motion_of(action)
    place = action_lists.members(file, LISTS)[action] if file is not None else -1
    if file is None or motion is None or place < 0:
        raise WriteError(
            f"the action {action.name!r} came from no motion file of {rig.name!r}",
            remedy="Undo instead, or import its file again",
        )
    parameters = motion_files.document_of(file).motion_set.parameters
    definition = parameters.definitions[place] if place < len(parameters.definitions) else None
    rest = rest_of(rig, space.XRAY_ROOT_FRAME)
    if motion_files.rest_changes(file, rig):
        rest = motion_files.rest_then(file, rest)
    order = action.motionbridge_motion.order
    with Builders(rig, rest, parameters, file.path, report) as builders:
        builders.rebuild(action, motion, definition)
    describe(action, motion, definition, place, file)
    action.motionbridge_motion.order = order
    if action == rotation_modes.played(rig):
        rotation_modes.restore(rig, action)


def move(file: MotionFile, action: Action, steps: int) -> None:
    """Move an action up (negative) or down in its file's list."""
    listed = motions_of(file)
    place = listed.index(action)
    listed.insert(min(max(place + steps, 0), len(listed) - 1), listed.pop(place))
    for order, moved in enumerate(listed):
        moved.motionbridge_motion.order = order


def delete(file: MotionFile, action: Action) -> None:
    """Remove an action, and its motion from the file when that is saved next.

    An action that another armature's file lists too stays there.
    """
    motion = action.motionbridge_motion
    place = action_lists.members(file, LISTS)[action]
    if place >= 0:
        gone = file.deleted.add()
        gone.name, gone.place = motion.imported_name, place
    action_lists.remove(file, action, LISTS)
    if not action_lists.is_listed(action, LISTS):
        bpy.data.actions.remove(action)
