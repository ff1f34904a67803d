"""Motions whose edited controls were saved back: they keep these edits when the control rig is removed.

Keys of the armature itself are those of before the edits. Where a motion, as its controls show it, equals the one that
its file has, it gets the keys of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ....blender import action_lists
from ....blender.rotation_modes import HiddenKeys
from ....core.envelope import evaluate
from ....core.errors import MotionbridgeError
from ....core.report import Report
from ....formats.xray import skl
from ....formats.xray.skl import SkeletalMotion
from ..options import RestChange, SkeletalExportOptions
from . import omf_codec
from .library import plan_onto
from .properties import LISTS, SKL_LISTS
from .skl_codec import SKL
from .skl_host import fingerprint, host_on_disk

if TYPE_CHECKING:
    from ....blender.typed import Action, Context, Object
    from .properties import SkeletalFile

Restore = Callable[[], object]
SAME = 1e-4
"""Metres and radians: Blender does not solve a limb alike to the last bit each time, which also moves fitted curves."""


def saved_edits(context: Context, rig: Object, edited: Sequence[Action]) -> dict[Action, Restore]:
    """Return those of the actions ``edited`` that say what their file has, each with what gives it the file's keys.

    To be called while the control rig is there; the functions after it was removed.
    """
    result = dict(_of_game(context, rig, edited))
    files_of = action_lists.files_of_actions(rig, SKL_LISTS)
    for file in rig.motionbridge_skeletal_files:
        chosen = [action for action in edited if action not in result and files_of.get(action) == file]
        if chosen:
            result.update(_of_editor(context, rig, file, chosen))
    return result


def _of_game(context: Context, rig: Object, edited: Sequence[Action]) -> Iterator[tuple[Action, Restore]]:
    of_files = action_lists.files_of_actions(rig, LISTS)
    compared = [action for action in edited if action in of_files]
    try:
        omf_codec.update_status(context, rig, compared, Report())
    except MotionbridgeError:  # a motion that cannot be written was not saved
        return
    for action in compared:
        if action.motionbridge_motion.status == "UNTOUCHED":
            yield action, partial(omf_codec.revert, context, rig, action, Report())


def _of_editor(
    context: Context, rig: Object, file: SkeletalFile, chosen: Sequence[Action]
) -> Iterator[tuple[Action, Restore]]:
    """Compare with the file on disk: actions store their motions as imported, not as saved."""
    path = bpy.path.abspath(file.path)
    options = SkeletalExportOptions(rest_change=RestChange.GAME_POSE, hidden_keys=HiddenKeys.RESTORE)
    try:
        host = host_on_disk(rig, path, file)
        plan = plan_onto(SKL, context, rig, chosen, path, host=host, options=options, report=Report())
    except MotionbridgeError:
        return
    on_disk = host.document or skl.new_skls([])
    for action, written in plan.written.items():
        before = on_disk.motions[written.index] if host.index(action) is not None else None
        if before is not None and _is_same(before, plan.document.motions[written.index]):
            of_disk = replace(plan, document=on_disk, theirs=[action], unwritten={action: written})
            yield action, partial(SKL.reload, of_disk, rig, file)


def _is_same(skeletal_motion: SkeletalMotion, other: SkeletalMotion) -> bool:
    """Return whether two motions play alike."""
    if fingerprint(replace(skeletal_motion, tracks=[])) != fingerprint(replace(other, tracks=[])):
        return False
    if [(track.name, track.flags) for track in skeletal_motion.tracks] != [
        (track.name, track.flags) for track in other.tracks
    ]:
        return False
    times = np.arange(2 * skeletal_motion.first, 2 * skeletal_motion.last + 1) / (2.0 * skeletal_motion.fps)
    pairs = zip(skeletal_motion.tracks, other.tracks, strict=True)
    channels = (both for tracks in pairs for both in zip(tracks[0].envelopes, tracks[1].envelopes, strict=True))
    return all(
        np.allclose(evaluate(before.decoded(), times), evaluate(now.decoded(), times), rtol=0.0, atol=SAME)
        for before, now in channels
    )
