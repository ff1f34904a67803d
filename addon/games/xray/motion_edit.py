"""Working on a rig's motion files as lists: what is edited, back to what the file says, order, deletion, save back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import bpy

from ...blender import rotation_modes
from ...blender.armature import rest_of
from ...blender.record import keep
from ...blender.rotation_modes import HiddenKeys
from ...core import files, names, space
from ...core.errors import WriteError
from ...core.report import Report
from ...formats.xray.omf import edit
from ...formats.xray.omf.document import Motion, Omf
from ...formats.xray.omf.motions import write_motion
from . import motion_files, motion_length
from .motion_export import (
    Host,
    MotionExportOptions,
    Plan,
    RestChange,
    copied,
    host_as_imported,
    host_on_disk,
    plan_onto,
    rest_then,
)
from .motion_import import Builders, describe


class OtherBase(Enum):
    """What saving back starts from where the file on disk is no longer the one that was imported."""

    REFUSE = "refuse"
    DISK = "disk"
    """The file on disk: what others changed in it meanwhile stays."""
    IMPORTED = "imported"
    """The file as it was imported: what others changed meanwhile is overwritten."""


def _actions() -> Iterable[Any]:
    return bpy.data.actions


def motions_of(file: Any) -> list[Any]:
    """The actions of a motion file, in the order of the list."""
    found = [action for action in _actions() if action.motionbridge_motion.file == file.name]
    return sorted(found, key=lambda action: (action.motionbridge_motion.order, action.motionbridge_motion.place))


def update_status(context: Any, rig: Any, chosen: Sequence[Any], report: Report) -> None:
    """Compare each action with what its file has: new, edited or untouched."""
    by_file: dict[str, list[Any]] = {}
    for action in chosen:
        known = rig.motionbridge_motion_files.get(action.motionbridge_motion.file)
        if known is None or motion_files.motion_of(action) is None:
            action.motionbridge_motion.status = "NEW"
        else:
            by_file.setdefault(known.name, []).append(action)
    options = MotionExportOptions(rest_change=RestChange.GAME_POSE, rename=False, hidden=HiddenKeys.RESTORE)
    for key, of_file in by_file.items():
        host = host_as_imported(rig, of_file, rig.motionbridge_motion_files[key])
        plan = plan_onto(context, rig, of_file, key, host=host, options=options, report=report)
        edited = {change.clip for change in plan.changes.motions}
        copies = copied(of_file)
        for number, action in enumerate(of_file):
            motion = action.motionbridge_motion
            if action in copies:
                motion.status = "NEW"
                continue
            renamed = motion.motion_name != motion.imported_name
            motion.status = "EDITED" if number in edited or renamed else "UNTOUCHED"


def revert(rig: Any, action: Any, report: Report) -> None:
    """Keys, marks and parameters as the file said them. Raises `WriteError` for an action that came from no file."""
    file = rig.motionbridge_motion_files.get(action.motionbridge_motion.file)
    motion = motion_files.motion_of(action)
    if file is None or motion is None:
        raise WriteError(
            f"the action {action.name!r} came from no motion file of {rig.name!r}",
            remedy="Undo instead, or import its file again",
        )
    place = action.motionbridge_motion.place
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


def delete(file: Any, action: Any) -> None:
    """Remove an action, and its motion from the file when that is saved next."""
    motion = action.motionbridge_motion
    if motion.imported_name:
        file.deleted.add().name = motion.imported_name
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
) -> Plan:
    """The motion file as it would be saved: edited, new, renamed, deleted and reordered motions, the rest as it was.

    Raises `WriteError` where the file on disk is another one by now and ``if_changed`` says to refuse.
    """
    chosen = motions_of(file)
    host = _base(rig, file, chosen, if_changed, report)
    deleted = _without_deleted(host, file)
    plan = plan_onto(context, rig, chosen, file.path, host=host, options=options, report=report, progress=progress)
    if plan.document is None:
        return plan
    motions = plan.document.motion_set
    plan.deleted = deleted
    listed = [name for _, name in plan.written]
    places = [action.motionbridge_motion.place for action in chosen if action.motionbridge_motion.place >= 0]
    if places != sorted(places) and len(set(listed)) == len(listed):
        motions = edit.reorder(motions, listed)
        plan.reordered = True
    plan.data, plan.document = host.written(motions)
    return plan


def _without_deleted(host: Host, file: Any) -> list[str]:
    """Take the motions that were deleted in the panel out of ``host``, before others take their names; which ones."""
    if host.motions is None or not len(file.deleted):
        return []
    there = {definition.label.lower() for definition in host.motions.parameters.definitions}
    gone = [entry.name for entry in file.deleted if entry.name.lower() in there]
    if gone:
        host.motions = edit.delete(host.motions, gone)
    # What was put together from the actions has no deleted motions in the first place.
    return [entry.name for entry in file.deleted] if host.as_imported else gone


def _base(rig: Any, file: Any, chosen: Sequence[Any], if_changed: OtherBase, report: Report) -> Host:
    there = Path(bpy.path.abspath(file.path))
    digest = hashlib.sha256(files.read_file(there)).hexdigest() if there.is_file() else None
    if digest is not None and (digest == file.sha256 or if_changed is OtherBase.DISK):
        host = host_on_disk(str(there))
        if host.motions is not None:
            host.motions = host.motions._replace(parameters=motion_files.with_partitions(host.motions.parameters, file))
        return host
    if digest is not None and if_changed is OtherBase.REFUSE:
        raise WriteError(
            "the file on disk is no longer the one that was imported",
            file=str(there),
            remedy="Choose what to start from: the file on disk, or the file as it was imported",
        )
    if file.embedded:
        raise WriteError(
            "the model these motions lie in is gone", file=str(there), remedy="Put it back, or export to a motion file"
        )
    host = host_as_imported(rig, chosen, file)
    lost = len(motion_files.document_of(file).motion_set.library.motions) - len(file.deleted) - len(chosen)
    if lost > 0:
        report.warn(f"{lost} motions of the file were not imported and cannot be written", there.name)
    return host


def settle(plan: Plan, rig: Any, file: Any = None, *, options: MotionExportOptions | None = None) -> Any:
    """After ``plan`` was written: what is on disk is now what counts as untouched. Gives back the motion file.

    Without ``file`` the rig gets a new one, so that new motions can be saved back from now on.
    """
    if plan.document is None:
        return file
    digest = hashlib.sha256(plan.data).hexdigest()
    if file is None:
        file = motion_files.attach(rig, plan.document, plan.path, digest)
    else:
        motion_files.refresh(file, plan.document, plan.path, digest)
        if options is not None and options.rest_change is RestChange.OFFSETS:
            motion_files.keep_rest(file, rig)
    file.deleted.clear()
    free = _places(plan.document)
    for action, name in plan.written:
        motion = action.motionbridge_motion
        place, stored = free[name.lower()].pop(0)
        motion.is_motion = True
        motion.file, motion.place, motion.order, motion.status = file.name, place, place, "UNTOUCHED"
        motion.motion_name = motion.imported_name = names.decode(stored.name)
        keep(motion, "body", write_motion(stored))
        motion_length.set_length(action, stored.frames)
    return file


def _places(document: Omf) -> dict[str, list[tuple[int, Motion]]]:
    places: dict[str, list[tuple[int, Motion]]] = {}
    motions = document.motion_set
    for place, definition in enumerate(motions.parameters.definitions):
        places.setdefault(definition.label.lower(), []).append((place, motions.library.motions[place]))
    return places
