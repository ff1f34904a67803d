"""Working on a rig's motion files as lists: what is edited, back to what the file says, order, deletion, save back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy

from ....blender import action_lists, rotation_modes
from ....blender.armature import rest_of
from ....blender.record import drop, keep
from ....blender.rotation_modes import HiddenKeys
from ....blender.sampling import Reach
from ....core import names, space
from ....core.errors import WriteError
from ....core.report import Report
from ....formats.xray.omf import edit
from ....formats.xray.omf.codec import write_motion
from ...plan import OtherBase, starts_from_disk
from . import files as motion_files
from . import length as motion_length
from .exporting import (
    Host,
    MotionExportOptions,
    Plan,
    RestChange,
    host_as_imported,
    host_on_disk,
    imported_name,
    name_of_copy,
    plan_onto,
    rest_then,
)
from .files import LISTS
from .importing import Builders, describe
from .unedited import Unedited


def _actions() -> Iterable[Any]:
    return bpy.data.actions


def motions_of(file: Any) -> list[Any]:
    """The actions of a motion file, in the order of the list."""
    places, listed = action_lists.members(file, LISTS), action_lists.listed(file, LISTS)
    # A copy has the original's place in the list, but comes last until it is added.
    return sorted(
        places, key=lambda action: (action not in listed, action.motionbridge_motion.order, places[action], action.name)
    )


def update_status(
    context: Any,
    rig: Any,
    chosen: Sequence[Any],
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


def _set_status(action: Any, status: str) -> None:
    if action.motionbridge_motion.status != status:
        action.motionbridge_motion.status = status


def _compared(
    context: Any,
    rig: Any,
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
    host = host_as_imported(rig, chosen, file)
    options = MotionExportOptions(rest_change=RestChange.GAME_POSE, rename=False, hidden=HiddenKeys.RESTORE)
    plan = plan_onto(
        context, rig, chosen, file.name, host=host, options=options, report=report, progress=progress, look=look
    )
    changed = {change.clip: change for change in plan.changes.motions}
    found = {}
    for number, action in enumerate(chosen):
        motion, change = action.motionbridge_motion, changed.get(number)
        renamed = motion.motion_name != motion.imported_name
        same = "UNKNOWN" if action in plan.unseen else "UNTOUCHED"
        found[action] = "NEW" if change and change.new else "EDITED" if change or renamed else same
    return found


def revert(rig: Any, action: Any, report: Report) -> None:
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
        rest = rest_then(file, rest)
    order = action.motionbridge_motion.order
    with Builders(rig, rest, parameters, file.path, report) as builders:
        builders.rebuild(action, motion, definition)
    describe(action, motion, definition, place, file)
    action.motionbridge_motion.order = order
    if action == rotation_modes.played(rig):
        rotation_modes.restore(rig, action)


def move(file: Any, action: Any, steps: int) -> None:
    """Move an action up (negative) or down in its file's list."""
    listed = motions_of(file)
    place = listed.index(action)
    listed.insert(min(max(place + steps, 0), len(listed) - 1), listed.pop(place))
    for order, moved in enumerate(listed):
        moved.motionbridge_motion.order = order


def add(file: Any, action: Any) -> None:
    """Make an action a new motion of a file, at the end of its list; a copy is no longer one of another motion."""
    last = max((other.motionbridge_motion.order for other in motions_of(file)), default=-1)
    motion = action.motionbridge_motion
    copies = action_lists.copies([action], LISTS)
    if copies or not motion.motion_name:
        motion.motion_name = name_of_copy(action, copies.get(action), imported_name)
    before = action_lists.file_of(file.id_data, action, LISTS)
    if before is not None:
        action_lists.remove(before, action, LISTS)
    if motion.file != file.name:
        drop(motion, "body")  # tracks of another file's bones
    motion.is_motion, motion.file, motion.place = True, file.name, -1
    motion.imported_name, motion.status, motion.order = "", "NEW", last + 1
    action_lists.add(file, action, -1, LISTS)
    action.use_fake_user = True


def adopt_copies(rig: Any) -> None:
    """Make copies that the armature uses motions of their file, so that they stay when it plays others."""
    for file, action in action_lists.unlisted(rig, LISTS):
        add(file, action)


def delete(file: Any, action: Any) -> None:
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


def plan_save_back(
    context: Any,
    rig: Any,
    file: Any,
    *,
    options: MotionExportOptions,
    if_changed: OtherBase,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    only: Any = None,
    samples: dict[Any, Any] | None = None,
) -> Plan:
    """The motion file as it would be saved: edited, new, renamed, deleted and reordered motions, the rest as it was.

    ``only`` one action: no other is looked at, and everything else in the file stays as it is. ``samples`` as in
    `Sampler`. Raises `WriteError` where the file on disk is another one by now and ``if_changed`` says to refuse.
    """
    listed = motions_of(file)
    if only is not None and only not in listed:
        raise WriteError(
            f"the action {only.name!r} is not a motion of {file.name}", remedy="Play one of its motions, or save all"
        )
    chosen = listed if only is None else [only]
    host = _base(rig, file, listed, if_changed, report)
    takes_deleted = only is None or host.as_imported
    deleted = _without_deleted(host, file) if takes_deleted else []
    _warn_of_other_rigs(rig, file, report)
    path = file.path
    plan = plan_onto(
        context, rig, chosen, path, host=host, options=options, report=report, progress=progress, samples=samples
    )
    plan.deleted = deleted
    if not takes_deleted:
        plan.kept_deleted = [(entry.name, host.moved.get(entry.place, -1)) for entry in file.deleted]
    if plan.document is None or only is not None:
        return plan
    before, motions = host.motions, plan.document.motion_set
    indices = [host.index(action) for action in chosen]
    known = [index for index in indices if index is not None]
    if known != sorted(known) or None in indices[: len(known)]:
        count = len(motions.library.motions)
        order = _in_list_order(indices, len(before.library.motions) if before is not None else 0, count)
        plan.reordered = order != list(range(count))
        plan.data, plan.document = host.written(edit.arranged(motions, order))
        rank = {index: place for place, index in enumerate(order)}
        plan.indices = {action: rank[index] for action, index in plan.indices.items()}
    return plan


def _in_list_order(listed: Sequence[int | None], known: int, count: int) -> list[int]:
    """Indices of a file's motions in the order of the list; None: added, behind the ``known``. Others come last."""
    added = iter(range(known, count))
    front = [next(added) if index is None else index for index in listed]
    taken = set(front)
    return front + [index for index in range(count) if index not in taken]


def _without_deleted(host: Host, file: Any) -> list[str]:
    """Take the motions that were deleted in the panel out of ``host``, before others take their names; which ones."""
    if host.motions is None or not len(file.deleted):
        return []
    labels = [definition.label for definition in host.motions.parameters.definitions]
    lowered = [label.lower() for label in labels]
    gone = set()
    for entry in file.deleted:
        index = host.moved.get(entry.place)
        if entry.place < 0 and entry.name.lower() in lowered:  # stored by version 0.1.0
            index = lowered.index(entry.name.lower())
        if index is not None:
            gone.add(index)
    if gone:
        host.keep([index for index in range(len(labels)) if index not in gone])
    # What was put together from the actions has no deleted motions in the first place.
    return [entry.name for entry in file.deleted] if host.as_imported else [labels[index] for index in sorted(gone)]


def _warn_of_other_rigs(rig: Any, file: Any, report: Report) -> None:
    path = bpy.path.abspath(file.path)
    for other in motion_files.objects():
        if other != rig and any(bpy.path.abspath(one.path) == path for one in other.motionbridge_motion_files):
            report.note("another armature has motions of this file; each saves its own", f"{file.name}: {other.name}")


def _base(rig: Any, file: Any, chosen: Sequence[Any], if_changed: OtherBase, report: Report) -> Host:
    there = Path(bpy.path.abspath(file.path))
    if starts_from_disk(there, {file.sha256}, if_changed):
        host = host_on_disk(str(there), rig)
        if host.motions is not None:
            host.motions = host.motions._replace(parameters=motion_files.with_partitions(host.motions.parameters, file))
        return host
    if file.embedded:
        raise WriteError(
            "the model these motions lie in is gone", file=str(there), remedy="Put it back, or export to a motion file"
        )
    host = host_as_imported(rig, chosen, file)
    imported = sum(host.index(action) is not None for action in chosen)
    lost = len(motion_files.document_of(file).motion_set.library.motions) - len(file.deleted) - imported
    if lost > 0:
        report.warn(f"motions of the file that were not imported and cannot be written: {lost}", there.name)
    return host


def settle(plan: Plan, rig: Any, file: Any = None, *, options: MotionExportOptions | None = None) -> Any:
    """After ``plan`` was written: what is on disk is now what counts as untouched. Gives back the motion file.

    Without ``file`` the rig gets a new one, so that new motions can be saved back from now on.
    """
    if plan.document is None:
        return file
    digest = plan.digest
    before = action_lists.members(file, LISTS) if file is not None else {}
    files_of = {action: one.name for action, one in action_lists.files_of_actions(rig, LISTS).items()}
    for action, _ in plan.written:
        other = rig.motionbridge_motion_files.get(files_of.get(action, ""))
        if other is not None and other != file:
            action_lists.remove(other, action, LISTS)
    if file is None:
        file = motion_files.attach(rig, plan.document, plan.path, digest)
    else:
        motion_files.refresh(file, plan.document, plan.path, digest)
        if options is not None and options.rest_change is RestChange.OFFSETS:
            motion_files.keep_rest(file, rig)
    file.deleted.clear()
    for name, place in plan.kept_deleted:
        entry = file.deleted.add()
        entry.name, entry.place = name, place
    stored = plan.document.motion_set.library.motions
    for action, _ in plan.written:
        motion, index = action.motionbridge_motion, plan.indices[action]
        motion.is_motion = True
        motion.file, motion.place, motion.order, motion.status = file.name, index, index, "UNTOUCHED"
        motion.motion_name = motion.imported_name = names.decode(stored[index].name)
        keep(motion, "body", write_motion(stored[index]))
        motion_length.set_length(action, stored[index].frames)
    kept = dict.fromkeys([action for action, _ in plan.written]) | dict.fromkeys(before)
    action_lists.replace(file, [(action, plan.indices.get(action, -1)) for action in kept])
    return file
