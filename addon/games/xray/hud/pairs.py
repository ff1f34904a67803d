"""Actions of a HUD section: which motions of hands and item play together, and how they stay in sync.

Hands play as an action, one key per frame. Both start at the same time, each at its own speed. If the speeds differ, or
if the item's motion loops during a longer motion of the hands, the item plays through an NLA strip with a scale and
repetitions; its keys are not changed. A motion chosen in the item's own list overrides the strip.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ....blender import action as blender_action
from ....blender import action_lists, compat, nla
from ....core.errors import ReadError, WriteError
from ....core.model import Path
from ....core.report import Report, say
from ....formats.xray import hud, omf
from ....formats.xray.hud import FRAMES_PER_SECOND, Generation
from ..models.importing import ImportedModel
from ..motions import files as motion_files
from ..motions import library, omf_codec
from ..motions import properties as motion_properties
from ..motions import timing as motion_timing
from ..motions.library import Opened
from ..options import MotionImportOptions
from .state import HudScene, item_of, playable_row, rigs_of

if TYPE_CHECKING:
    import bpy

    from ....blender.typed import Action, Context, Object
    from .properties import HudActionProperties


class MotionFiles:
    """The motion files of an imported model; ``extra``: one more file, which takes precedence.

    ``table``: name -> (index of the file, index of the definition), see `formats.xray.hud.motion_table`. A file that
    cannot be read is reported and left out.
    """

    def __init__(self, model: ImportedModel, path: FilePath, extra: str, report: Report) -> None:
        """Read all files."""
        self._rig = model.rig
        self.files: list[Opened[omf.Omf]] = []
        paths = [str(file) for reference in model.references for file in reference.files]
        if model.motions is not None and not paths:
            self.files.append(Opened(str(path), omf.new_omf(model.motions), model.digest, embedded=True))
        for file in dict.fromkeys([*paths, *([extra] if extra else [])]):
            try:
                self.files.append(omf_codec.OMF.read(file, report))
            except ReadError as refusal:  # the other files can still be used
                report.warn(say("motions left out: {}", str(refusal).rstrip(".")))
        self.table = hud.motion_table(opened.document.motion_set for opened in self.files)

    def import_named(self, context: Context, names: Iterable[str] | None, report: Report) -> dict[str, Any]:
        """Import motions; returns lower-case name -> action, in the order of the files.

        ``names``: motions to import, each from the file from which the game would take it; None for all.
        """
        wanted = None if names is None else list(names)
        result: dict[str, Any] = {}
        for number, opened in enumerate(self.files):
            labels = {label.lower() for label, _ in omf_codec.OMF.motions(opened.document)}
            if wanted is not None:
                labels &= {name for name in wanted if self.table[name][0] == number}
            if labels:
                result |= self._import(context, opened, labels, report)
        return result

    def _import(
        self, context: Context, opened: Opened[omf.Omf], chosen: Collection[str], report: Report
    ) -> dict[str, Any]:
        result = library.import_motions(
            omf_codec.OMF,
            context,
            self._rig,
            opened.path,
            options=MotionImportOptions(motions=chosen, assign_first=False),
            report=report,
            read=lambda _codec, _path, _report: opened,
        )
        rigs: dict[str, Any] = {}
        for action in result.actions:
            rigs.setdefault(str(action.motionbridge_motion.imported_name).lower(), action)
        return rigs


# Actions --------------------------------------------------------------------------------------------------------------

TRACK = nla.IN_STEP
"""NLA track that plays an item in time with the hands."""
SPEED_TOLERANCE = 1e-6
"""Tolerance for equal speeds: the properties are 32-bit floats."""


class Pair(NamedTuple):
    """Names of motions that play together in one variant of an action.

    ``item``: "" if it plays none. ``exists``: whether the hands have their motion. ``fallback``: the item plays
    ``idle`` because it has no motion of that name.
    """

    alias: str
    hands: str
    item: str
    speed: float
    end: float = 0.0
    exists: bool = True
    fallback: bool = False


def find_pairs(
    actions: Sequence[hud.Action], made_as: Generation, hands: MotionFiles, item: MotionFiles | None, report: Report
) -> list[Pair]:
    """Return all variants of all actions, in the order of the section. Missing motions are reported."""
    result = []
    for action in actions:
        drawn = hud.variants(action.hands, hands.table, made_as)
        if action.hands and not drawn:
            report.note("no motion file that was found has this motion of the hands", f"{action.alias}: {action.hands}")
            result.append(Pair(action.alias, action.hands, action.item, action.speed, action.end, exists=False))
        for name in drawn:
            of_item, fallback = _of_item(action, name, item, report)
            result.append(Pair(action.alias, name, of_item, action.speed, action.end, fallback=fallback))
    if item is not None and actions:
        orphans = sorted(set(item.table) - {pair.item for pair in result})
        if orphans:
            report.note("motions of the weapon that no action of the section plays", ", ".join(orphans))
    return result


def _of_item(action: hud.Action, drawn: str, item: MotionFiles | None, report: Report) -> tuple[str, bool]:
    if item is None:
        return "", False
    try:
        return hud.item_motion(action, drawn, item.table)
    except ReadError as refusal:
        report.warn(refusal.problem, action.alias)
        return "", False


def remember(hud_scene: HudScene, section: str, pairs: Sequence[Pair]) -> None:
    """Store the list of actions on the armature of the hands."""
    properties = hud_scene.hands.motionbridge_hud
    properties.is_hud, properties.section, properties.item, properties.view = (
        True,
        section,
        hud_scene.item,
        hud_scene.view,
    )
    for pair in pairs:
        row = properties.actions.add()
        row.name, row.hands_motion, row.item_motion = pair.alias, pair.hands, pair.item
        row.speed, row.end, row.fallback = pair.speed, pair.end, pair.fallback
        row.hands = hud_scene.hands_actions.get(pair.hands) if pair.exists else None
        row.item = hud_scene.item_actions.get(pair.item) if pair.exists else None
        row.view = hud_scene.view_actions.get(pair.hands) if pair.exists else None


def play(context: Context, hands: Any, number: int) -> tuple[int, int] | None:
    """Play an action of the list with hands, item and view; does nothing if its motions are missing.

    Returns the first and the last frame of the hands' motion, None if it is missing.
    """
    properties, row, item = hands.motionbridge_hud, playable_row(hands, number), item_of(hands)
    if row is None:
        return None
    for rig in rigs_of(hands):
        library.adopt_copies(omf_codec.OMF, rig)
    library.play(context, hands, row.hands)
    first, count = blender_action.frame_range(row.hands)
    if item is not None and row.item is not None:
        play_item(context, item, row.item, row.hands)
    if properties.view is not None:
        _play_view(properties.view, row.view if properties.camera_effects else None, row)
    return first, first + max(count - 1, 1)


def play_item(context: Context, item: Object, action: Action, of_hands: Action) -> None:
    """Play the item's motion in sync with the hands' motion: from its start, at its own speed."""
    _remove_track(item)
    library.play(context, item, action)
    start, hands_count = blender_action.frame_range(of_hands)
    first, count = blender_action.frame_range(action)
    speed = action.motionbridge_motion.speed / speed_of(of_hands)
    loops = "STOP_AT_END" not in action.motionbridge_motion.flags
    times = (hands_count - 1) * speed / (count - 1) if count > 1 else 0.0
    if count < 2 or speed <= 0 or (abs(speed - 1) < SPEED_TOLERANCE and first == start and not (loops and times > 1)):
        return
    compat.assign(item, None)
    strip = _add_strip(item, action, start, 1 / speed)
    strip.repeat = max(math.ceil(times), 1) if loops else 1
    strip.extrapolation = "HOLD"


def _play_view(carrier: Any, effect: Any, row: HudActionProperties) -> None:
    """Play a camera effect once, in seconds, on the camera's parent empty; without an effect that is at the origin."""
    _remove_track(carrier)
    carrier.rotation_mode = Path.rotation_order
    carrier.location, carrier.rotation_euler = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if effect is not None:
        start, _ = blender_action.frame_range(row.hands)
        speed = effect.motionbridge_path.fps / (FRAMES_PER_SECOND * speed_of(row.hands) * (row.speed or 1.0))
        _add_strip(carrier, effect, start, 1 / speed).extrapolation = "NOTHING"


def _add_strip(owner: Object, action: Action, start: int, scale: float) -> bpy.types.NlaStrip:
    """Add a strip of the whole action on a track of its own; ``scale``: frames of the scene per frame of the action."""
    data = owner.animation_data or owner.animation_data_create()
    track = data.nla_tracks.new()
    track.name = TRACK
    strip = track.strips.new(action.name, start, action)
    first, count = blender_action.frame_range(action)
    strip.action_frame_start, strip.action_frame_end = first, first + count - 1
    strip.scale = scale
    return strip


def _remove_track(item: Object) -> None:
    data = item.animation_data
    for track in [track for track in data.nla_tracks if track.name.startswith(TRACK)] if data is not None else ():
        data.nla_tracks.remove(track)


# A new action ---------------------------------------------------------------------------------------------------------


def add_action(hands: Object, number: int, alias: str, name: str) -> Any:
    """Add an action with two new motions called ``name``, copies of those of row ``number``; returns its row.

    The item's copy is made as long as the hands' one plays. The copies are saved into the files of their originals,
    with the same flags, marks and speeds. Raises `WriteError` if there is nothing to copy, or if the name is in use.
    """
    row = playable_row(hands, number)
    if row is None:
        raise WriteError("the active action has no motion of the hands to copy", remedy="Choose another action")
    if not name or name != name.lower():
        words = "the game would not find a motion named {!r}"
        raise WriteError(say(words, name), remedy="Type a name without capitals")
    item = item_of(hands) if row.item is not None else None
    for rig in rigs_of(hands) if row.item is not None else [hands]:
        _refuse_used_name(rig, name)
    of_hands = _copied(hands, row.hands, name)
    of_item = _copied(item, row.item, name) if item is not None else None
    if of_item is not None and item is not None:
        _, count = blender_action.frame_range(of_hands)
        frames = round((count - 1) * speed_of(of_item) / speed_of(of_hands)) + 1
        motion_timing.set_length(of_item, frames, item)
        first, _ = blender_action.frame_range(of_item)
        blender_action.cut_keys(of_item, first + frames - 1)
    speed, end = row.speed, row.end
    added = hands.motionbridge_hud.actions.add()  # may reallocate the rows, so `row` is not used after it
    added.name, added.hands_motion, added.is_new = alias, name, True
    added.speed, added.end = speed, end
    added.hands, added.item = of_hands, of_item
    added.item_motion = name if of_item is not None else ""
    return added


def _refuse_used_name(rig: Object, name: str) -> None:
    for file in rig.motionbridge_motion_files:
        stored = motion_files.document_of(file).motion_set.parameters.definitions
        listed = [str(action.motionbridge_motion.motion_name) for action in library.motions_of(file)]
        if name in {label.lower() for label in [*listed, *(definition.label for definition in stored)]}:
            words = "the file {!r} has a motion named {!r} already"
            raise WriteError(say(words, file.name, name), remedy="Type another name")


def _copied(rig: Object, action: Action, name: str) -> Action:
    file = action_lists.file_of(rig, action, motion_properties.LISTS)
    if file is None:
        raise WriteError(
            say("the action {!r} is in no motion file of {!r}", action.name, rig.name), remedy="Import its file"
        )
    copy = action.copy()
    copy.name = copy.motionbridge_motion.motion_name = name
    library.add(omf_codec.OMF, file, copy)
    return copy


def speed_of(action: Action) -> float:
    """Return the speed of a motion, 1 if it is 0."""
    return float(action.motionbridge_motion.speed) or 1.0
