"""Export an action (or an evaluated pose) of an armature as an animation file: gather, encode, write.

Values that still look like the source file's in Blender keep its bytes, with shear, scale and unused bytes after names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...blender import armature, delta_action, nla
from ...blender.action import added_key_times
from ...blender.bone_curves import bone_of, merged_times
from ...blender.control_edits import CONTROLS, keep_deltas
from ...blender.delta_action import DeltaReader, RestPose
from ...blender.properties import kept
from ...blender.sampling import (
    Movers,
    ShownActions,
    is_setting,
    layer_times,
    posed_without_keys,
    warn_of_muted,
    warn_of_other_kinds,
)
from ...core import files
from ...core.changes import Changes, Noun, sampled_because
from ...core.deltas import DeltaChannels, needed_keys
from ...core.errors import ReadError, WriteError
from ...core.model import DeltaClip, Event
from ...core.report import Message, Report, listed, say
from ...formats.arma import rtm
from ...formats.arma.skeletons import Hierarchy
from ..plan import FilePlan
from . import skeletons, timing
from .options import AnimationExportOptions, Encoding, FramesFrom, NamesFrom, PhasesFrom, StepFrom
from .timing import Phases
from .written_bones import (
    WrittenBones,
    named_by_armature,
    named_by_config,
    report_unknown,
    without_prefix,
    written_bones,
)

if TYPE_CHECKING:
    from ...blender.typed import Action, Context, Object

Floats = NDArray[np.float64]

SAMPLED_TOLERANCE = 1e-5
"""Tolerance for sampled poses to count as unedited: Blender multiplies 32-bit matrices along each bone chain."""
MOST_SAMPLED = 20_000
"""Most frames that are sampled to choose the keys of a new animation."""
STEP_TOLERANCE = 1e-5
"""Tolerance in metres within which the object's keys count as unedited, so that the step stays unchanged."""


@dataclass
class Base:
    """``document`` of the action's source file and the ``clip`` decoded from it; ``frames`` (keys,): Blender frames of
    its keys; ``rest`` of the armature; ``bone_indices`` (bones,): index in the armature of each bone of the file, -1 if
    missing.

    ``mode``: how the step is shown; ``carried`` (3,): metres per phase added to root bones if it is `timing.BONES`.
    ``digest`` of the keys as imported; ``scaled`` as in `rtm.decode`; ``zero`` as in `timing.with_step`.
    """

    document: rtm.Rtm
    clip: DeltaClip
    frames: NDArray[np.float32]
    rest: RestPose
    bone_indices: NDArray[np.intp]
    mode: str
    carried: Floats
    digest: bytes
    zero: float = 0.0

    @staticmethod
    def of(action: Any, rest: RestPose) -> Base | None:
        """Return the source file stored on an action, None if there is none. Raises `ReadError` if it is damaged."""
        properties = action.motionbridge_animation
        data = kept(properties, "document")
        if not data:
            return None
        document = rtm.read(data, action.name, Report())
        frames, _ = timing.kept_keys(properties)
        if len(frames) != len(document.phases) or len(properties.bones) != len(document.bones):
            counts = [len(document.phases), len(frames), len(document.bones), len(properties.bones)]
            raise ReadError(
                "the data kept of its file does not agree: frames {} and {}, bones {} and {}".format(*counts),
                file=action.name,
                remedy="Import the file again",
            )
        parents = Hierarchy("", {entry.name: entry.parent for entry in properties.bones})
        clip = rtm.decode(document, Report(), parents, action.name)
        index_of = {bone: number for number, bone in enumerate(rest.bones)}
        bone_indices = np.array([index_of.get(entry.bone, -1) for entry in properties.bones], np.intp)
        return Base(
            document,
            clip,
            frames,
            rest,
            bone_indices,
            properties.step_mode,
            np.array(properties.step_shown),
            kept(properties, "digest"),
            properties.step_zero,
        )

    def reference(self, bones: WrittenBones, clip: DeltaClip, unedited: Floats | None, modes: dict[str, str]) -> Floats:
        """Return deltas (bones, frames, 4, 4) as gathered if nothing were edited, for ``bones`` and frames of ``clip``.

        ``unedited``: gathered deltas (bones of the armature, frames, 4, 4) if no key was edited, else None. ``modes``:
        rotation mode used to read each bone's keys. Values of bones or frames that the file lacks are arbitrary.
        """
        reference = self._shown(unedited, modes)
        frames = rtm.frame_sources(clip.phases, self.clip.phases)
        return reference[np.ix_(np.maximum(bones.sources, 0), np.maximum(frames, 0))]

    def channels(self) -> tuple[DeltaChannels, NDArray[np.bool_]]:
        """Return the channels as the import keyed them, and which bones (bones,) of the armature have them."""
        rows = np.flatnonzero(self.bone_indices >= 0)
        deltas = self.clip.deltas[rows]
        if self.mode == timing.BONES:
            deltas = timing.with_step(deltas, self.carried, self.clip.phases, zero=self.zero)
        values, animated = delta_action.on_bones(self.rest, self.bone_indices[rows], deltas)
        return delta_action.channels_of(values, self.rest, animated), animated

    def channels_at(self, frames: NDArray[np.float32]) -> tuple[DeltaChannels, NDArray[np.bool_]]:
        """Return the same on any Blender ``frames``, interpolated linearly between the file's frames."""
        channels, animated = self.channels()
        before, after, share = self._neighbours(frames)
        for name in ("locations", "rotations", "scales"):
            held = getattr(channels, name)
            setattr(channels, name, (1.0 - share) * held[:, before] + share * held[:, after])
        return channels, animated

    def _shown(self, unedited: Floats | None, modes: dict[str, str]) -> Floats:
        """Return deltas (bones, frames, 4, 4) of the file as Blender shows them, without the step."""
        rows = np.flatnonzero(self.bone_indices >= 0)
        if unedited is None:
            channels, _ = self.channels()
            delta_action.as_angles(channels, self.rest, modes)
            unedited = delta_action.shown_by(channels.locations, channels.rotations, channels.scales, self.rest)
        matrices = unedited[self.bone_indices[rows]]
        if self.mode == timing.BONES:
            matrices = timing.with_step(matrices, self.carried, self.clip.phases, -1.0, self.zero)
        result = self.clip.deltas.copy()
        result[rows] = matrices
        return result

    def deltas_at(self, rows: NDArray[np.intp], frames: NDArray[np.float32], phases: NDArray[np.float32]) -> Floats:
        """Return the file's deltas (rows, frames, 4, 4), interpolated like in the game; exact at phases in the file."""
        stored = self.clip.deltas[rows]
        sources = rtm.frame_sources(phases, self.clip.phases)
        before, after, share = self._neighbours(frames)
        share = share[..., None]
        blended = (1.0 - share) * stored[:, before] + share * stored[:, after]
        known = sources >= 0
        blended[:, known] = stored[:, sources[known]]
        result: Floats = blended
        return result

    def _neighbours(self, frames: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Return (frames,) indices of the file's frames before and after, and (frames, 1) the weight of the latter."""
        after = np.clip(np.searchsorted(self.frames, frames), 1, max(len(self.frames) - 1, 1))
        before = after - 1
        after = np.minimum(after, len(self.frames) - 1)
        gap = np.maximum(self.frames[after] - self.frames[before], np.finfo(np.float32).tiny)
        share: Floats = np.clip((frames - self.frames[before]) / gap, 0.0, 1.0)[:, None].astype(np.float64)
        return before, after, share


@dataclass
class AnimationPlan(FilePlan):
    """``clip`` to be written; ``key_frames`` (frames,): Blender frames of its keys; ``bone_indices`` (bones,) in the
    armature, -1 for bones it lacks; ``parents``: bone -> parent to which a binarised file stores it relatively;
    ``sampled``: reasons for it; ``phases`` written; ``keys``: digest of the keys, b"" if not from keys alone;
    ``shown_keys``: `sampling.Movers.shown_keys` of the action; ``keeps_range``: its frame range is not the file's.
    """

    changes: Changes
    clip: DeltaClip
    key_frames: NDArray[np.float32]
    bone_indices: NDArray[np.intp]
    parents: dict[str, str]
    sampled: list[str]
    phases: Phases
    keys: bytes
    shown_keys: str = ""
    keeps_range: bool = False

    def sentence(self) -> Message:
        """Return what will change, in one sentence."""
        frames, bones = say("{:# frame|# frames}", self.clip.frames), Noun.BONE.counted(len(self.clip.bones))
        return sampled_because(say("{}; {} of {}", self.changes.sentence(), frames, bones), self.sampled)


def plan_export(
    context: Context,
    rig: Object,
    path: str,
    *,
    options: AnimationExportOptions,
    report: Report,
    action: Action | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> AnimationPlan:
    """Return the file at ``path`` for ``action``, else for what ``rig`` plays. Raises `WriteError`, `ReadError`.

    The scene is restored afterwards.
    """
    files.warn_of_replacing(path, report)
    return _Exporter(context, rig, action or nla.playing(rig).action, options, report).plan(path, progress)


def check_bones(context: Context, rig: Object, path: str, options: AnimationExportOptions, report: Report) -> None:
    """Warn of bones to be written that the game does not know. Raises `WriteError`, `ReadError` as the export does."""
    _Exporter(context, rig, nla.playing(rig).action, options, report).check_bones(path)


def why_sampled(rig: Object, action: Action) -> list[str]:
    """Return why an animation must be sampled frame by frame; empty if its keys alone determine the pose."""
    return list(_bones_to_sample(rig, action, Movers(rig)))


def _bones_to_sample(rig: Object, action: Action | None, movers: Movers) -> dict[str, set[str]]:
    """Return reason -> bones whose pose is not determined by their keys alone.

    The game's matrices are in model space: the bones of the file and all their ancestors are checked.
    """
    if action is not None and movers.is_as_saved(action):
        return {}
    listed = action.motionbridge_animation.bones if action is not None else ()
    of_file = [rig.data.bones[entry.bone] for entry in listed if entry.bone in rig.data.bones]
    above = {parent.name for bone in of_file for parent in bone.parent_recursive}
    is_new = action is None or not action.motionbridge_animation.is_animation
    return movers.of(action, above | {bone.name for bone in of_file} if of_file else None, is_new=is_new)


def _with_descendants(rig: Object, reached: set[str]) -> NDArray[np.bool_]:
    """Return (bones,) which bones of the armature are among ``reached`` or descendants of one of them."""
    chains = [(bone.name, *(parent.name for parent in bone.parent_recursive)) for bone in rig.data.bones]
    return np.array([not reached.isdisjoint(chain) for chain in chains], np.bool_)


class _Exporter:
    """Exports one action."""

    def __init__(
        self, context: Context, rig: Object, action: Any, options: AnimationExportOptions, report: Report
    ) -> None:
        self._context, self._rig, self._action = context, rig, action
        self._options, self._report = options, report
        self._rest = RestPose.of(rig)
        self._reader = DeltaReader(rig, self._rest)
        self._table = self._reader.table(action)
        ours = action is not None and action.motionbridge_animation.is_animation
        self._properties = action.motionbridge_animation if ours else None
        self._movers = Movers(rig)
        self._is_kept = bool(ours and options.from_file and self._movers.is_as_saved(action))
        if action is not None:
            self._movers.warn_of_lost(action, report)
        reached = _bones_to_sample(rig, action, self._movers)
        self._reasons = list(reached)
        self._sampled = _with_descendants(rig, set().union(*reached.values()))
        self._modes = self._modes_of(action)
        self._is_pose = action is None and not self._reasons
        if self._is_pose:
            if not posed_without_keys(rig, None, self._modes):
                raise WriteError(
                    say("{!r} has no action and is in its rest pose", rig.name),
                    remedy="Assign an action to the armature, or pose its bones for a static pose",
                )
            self._report.note("no action plays: the pose is exported as a static pose", rig.name)
        self._unedited: Floats | None = None
        self._digest = b""
        self._base = Base.of(action, self._rest) if ours and options.from_file else None

    def _modes_of(self, action: Action | None) -> dict[str, str]:
        """Return the rotation mode for reading each bone's keys. Raises `WriteError` for keys that it hides."""
        shown_actions = ShownActions(self._rig, self._options.hidden_keys, self._report)
        if action is None:
            return {bone.name: bone.rotation_mode for bone in self._rig.pose.bones}
        modes = shown_actions.modes(action, table=self._table)
        if not self._reasons:
            shown_actions.warn_of_pose(action, modes)
        return modes

    def plan(self, path: str, progress: Callable[[int], None]) -> AnimationPlan:
        frames, matrices, keyed = self._moving(self._frames(), progress)
        phases = self._phases(frames)
        bones = self._bones(path, keyed)
        self.report_unknown(path, bones)
        values = self._values(bones, matrices, frames, phases.kept)
        clip = DeltaClip(Path(path).stem, bones.names, values, phases.written)
        clip.events = self._events(phases)
        self._take_step(clip, matrices, frames, phases.stretch)
        if clip.frames == 1 and self._options.pairs and not (self._base is not None and self._base.clip.frames == 1):
            clip = replace(clip, deltas=np.repeat(clip.deltas, 2, axis=1), phases=rtm.default_phases(2))
            phases = Phases(clip.phases, clip.phases)
        hierarchy = self._hierarchy(clip) if self._is_binarised() else None
        # Keys are matched to those of the source file by their phase there.
        document, changes = self._encoded(replace(clip, phases=phases.kept), hierarchy, bones)
        if phases.changed:
            document = rtm.with_phases(document, phases.written, changes)
        for loss in changes.left_out:
            self._report.warn(loss, clip.name)
        if self._reasons:
            self._report.note(say("sampled frame by frame because of {}", ", ".join(self._reasons)), self._rig.name)
        if armature.is_turned_or_scaled(self._rig):
            self._report.warn(
                "the armature object is scaled or rotated, which the game does not see; apply its transform (Ctrl A) "
                "first if the animation should have it (keys of locations stay as they are)",
                self._rig.name,
            )
        parents = dict(hierarchy.parents) if hierarchy is not None else {}
        data = rtm.write(document)
        keys = b"" if self._reasons or self._is_kept or clip.frames != len(frames) else self._digest
        shown_keys = self._movers.shown_keys([self._action] if self._action is not None else [])
        return AnimationPlan(
            path,
            data,
            changes,
            clip,
            frames,
            bones.bone_indices,
            parents,
            self._reasons,
            phases,
            keys,
            shown_keys.get(self._action, ""),
            keeps_range=self._is_kept or self._movers.play.ends(self._action) is not None,
        )

    def _frames(self) -> NDArray[np.float32]:
        """Return the frames that become keys. Raises `WriteError` if there are none, or more than the game reads."""
        frames = self._chosen_frames()
        if not len(frames):
            raise WriteError(
                say("{!r} has no keys of bones", self._action.name)
                if self._action is not None
                else "there are no frames",
                remedy="Key the bones, or export a range of frames",
            )
        if len(frames) > rtm.MOST_FRAMES:
            raise WriteError(
                say("{} frames are more than the game reads ({})", len(frames), rtm.MOST_FRAMES),
                remedy="Export a shorter range, or fewer frames of it",
            )
        return frames

    def _chosen_frames(self) -> NDArray[np.float32]:
        options, action, scene = self._options, self._action, self._context.scene
        if options.frames is FramesFrom.RANGE:
            return self._of_action(timing.every_nth(options.first, options.last, max(options.every, 1)))
        if self._is_kept and self._base is not None:
            return self._base.frames
        by_keys = options.frames is FramesFrom.KEYS
        if action is None:
            if self._is_pose:
                return np.array([scene.frame_current_final], np.float32)
            first, last = float(scene.frame_start), float(scene.frame_end)
            ends = np.array([first, last], np.float32)
            return ends if by_keys and self._is_adaptive() else timing.every_nth(first, last, self._every())
        times = self._key_times(action)
        if by_keys and not len(times) and not self._reasons:
            return times
        imported = self._base.frames if self._base is not None else np.empty(0, np.float32)
        length = timing.length_of(action, times, imported)
        length = self._length_of_strip(action, length)
        if length.by_range:
            timing.warn_of_keys_outside(action, times, length, self._report)
        if by_keys and (len(times) or self._is_adaptive()):
            return timing.keys_within(times, length)
        return timing.every_nth(length.first, length.last, self._every())

    def _length_of_strip(self, action: Action, length: timing.Length) -> timing.Length:
        """Return the length of an action as its strip plays it, by default its own ``length``."""
        ends = self._movers.play.ends(action)
        if ends is None or np.allclose(ends, (length.first, length.last), rtol=0.0, atol=timing.SAME_FRAME):
            return length
        is_pose = length.first == length.last and ends[1] - ends[0] <= 1.0  # Blender makes a strip one frame long
        return length if is_pose else timing.Length(ends[0], ends[1], by_range=False)

    def _key_times(self, action: Action) -> NDArray[np.float32]:
        """Return (keys,) the frames on which an action has keys, as its strip plays it, or layers on it have."""
        play = self._movers.play
        times = merged_times(self._reader.key_times(self._table), added_key_times(action))
        if action != play.action or not play.is_layered:
            return times
        strip = play.strip
        if strip is not None:
            first, length = strip.action_frame_start, strip.action_frame_end - strip.action_frame_start
            inside = times[(times >= first) & (times <= first + length)] - first
            starts = np.arange(int(np.ceil(strip.repeat)))[:, None] * length
            times = first + strip.scale * (starts + inside).ravel()
        return merged_times(times, self._of_action(layer_times(play))).astype(np.float32)

    def _of_action(self, frames: NDArray[Any]) -> NDArray[np.float32]:
        """Return the frames of the action that Blender shows at these frames of the scene."""
        play = self._movers.play
        if self._action is None or self._action != play.action or play.strip is None:
            return frames.astype(np.float32)
        start, end = play.scene_frames(self._action, np.array([0.0, 1.0], np.float32)).tolist()
        return ((frames - start) / (end - start)).astype(np.float32)

    def _every(self) -> int:
        return 1 if self._options.frames is FramesFrom.KEYS else max(self._options.every, 1)

    def _is_adaptive(self) -> bool:
        """Return whether keys are added to meet the tolerance with the game's interpolation: in new animations."""
        return self._options.frames is FramesFrom.KEYS and self._base is None and self._options.tolerance > 0

    def _phases(self, frames: NDArray[np.float32]) -> Phases:
        if self._options.phases is PhasesFrom.EVEN or self._base is None:
            even = self._options.phases is PhasesFrom.EVEN
            phases = rtm.default_phases(len(frames)) if even else timing.spread_phases(frames)
            return Phases(phases, phases)
        if self._options.frames is FramesFrom.RANGE:
            phases = timing.phases_at(frames, self._base.frames, self._base.clip.phases)
            return Phases(phases, phases)
        result = timing.phases_of(frames, self._base.frames, self._base.clip.phases)
        if result.changed:
            before, now = (float(known[-1] - known[0]) for known in (self._base.frames, frames))
            self._report.warn(
                "the length changed: phases cover the whole cycle again; how long that lasts is up to the game's "
                "config (speed)",
                say("{}: {:g} -> {:g} frames", self._action.name, before, now),
            )
        return result

    def _moving(
        self, frames: NDArray[np.float32], progress: Callable[[int], None]
    ) -> tuple[NDArray[np.float32], Floats, NDArray[np.bool_]]:
        """Return the frames that become keys, and `_shown` of them: the given frames, and those needed between them."""
        by_keys = self._base is not None and self._options.frames is FramesFrom.KEYS and CONTROLS in self._reasons
        if by_keys and len(between := timing.keys_between(self._action, frames)):
            matrices, own = self._shown(between, progress)[0], self._gathered(between).deltas
            timing.warn_of_keys_between(self._action, between[(matrices != own).any(axis=(0, 2, 3))], self._report)
        candidates = merged_times(frames, timing.every_nth(frames[0], frames[-1], 1)) if len(frames) > 1 else frames
        if not self._is_adaptive() or len(candidates) == len(frames):
            return (frames, *self._shown(frames, progress))
        if len(candidates) > MOST_SAMPLED:
            raise WriteError(
                say("{} frames are too many to choose keys among", len(candidates)),
                remedy="Export a shorter range, or set the tolerance to 0 for the keys alone",
            )
        candidates = candidates[(candidates >= frames[0]) & (candidates <= frames[-1])]
        matrices, keyed = self._shown(candidates, progress)
        indices = [index for index, bone in enumerate(self._rig.data.bones) if bone.use_deform]
        points = delta_action.points_about(self._rig, indices)
        moved = (matrices[indices] @ points.swapaxes(-1, -2)[:, None]).swapaxes(-1, -2)[..., :3]
        required = np.isin(candidates, frames)
        chosen = needed_keys(
            moved.swapaxes(1, 2).reshape(-1, len(candidates), 3), candidates, required, self._options.tolerance
        )
        if added := int(chosen.sum()) - len(frames):
            words = "keys added where the game's blend between keys would differ by more than {:g} m: {}"
            self._report.note(say(words, self._options.tolerance, added), self._rig.name)
        return candidates[chosen], matrices[:, chosen], keyed

    def _shown(self, frames: NDArray[np.float32], progress: Callable[[int], None]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return deltas (bones of the armature, frames, 4, 4), sampled if needed, and which bones have keys."""
        if self._reasons or self._action is None:
            matrices = delta_action.sample(
                self._context, self._rig, self._action, frames, modes=self._modes, progress=progress
            )
            if CONTROLS in self._reasons and self._action is not None:
                rests = armature.matrices_of(self._rig.data.bones, "matrix_local")
                keep_deltas(matrices, self._gathered(frames).deltas, rests)
            if self._action is not None and not self._sampled.all():
                matrices[~self._sampled] = self._gathered(frames).deltas[~self._sampled]
            return matrices, np.ones(len(matrices), np.bool_) if self._base is None else self._reader.keyed(
                self._action
            )
        gathered = self._gathered(frames)
        return gathered.deltas, gathered.keyed

    def _gathered(self, frames: NDArray[np.float32]) -> delta_action.GatheredDeltas:
        """Read the keys. Warns of curves that are not exported, except those of bones that are sampled."""
        base = self._base
        instead = (lambda: base.channels_at(frames)) if base is not None else None
        gathered = self._reader.gather(self._table, frames, self._modes, instead)
        read = {bone.name for bone, sampled in zip(self._rig.data.bones, self._sampled, strict=True) if not sampled}
        for warn, bones in ((warn_of_other_kinds, gathered.other_kinds), (self._warn_of_muted, gathered.muted)):
            warn([bone for bone in bones if bone in read], self._action, self._report)
        self._warn_of_lacking([bone_of(path) for path in gathered.left_out])
        for path in gathered.left_out:
            lacking = bone_of(path) and bone_of(path) not in self._rig.data.bones
            if path != timing.LOCATION and not lacking and not (self._reasons and is_setting(path)):
                self._report.warn("the game cannot store these curves; left out", f"{self._action.name}: {path}")
        self._digest = gathered.digest
        if base is not None and (gathered.digest == base.digest or self._is_kept):
            self._unedited = gathered.deltas
        return gathered

    def _warn_of_lacking(self, bones: Sequence[str]) -> None:
        of_file = {entry.bone for entry in self._properties.bones} if self._base and self._properties else set()
        for bone in dict.fromkeys(bone for bone in bones if bone and bone not in self._rig.data.bones):
            words = "keys of a bone that the armature lacks; left out"
            if bone in of_file:
                words = "keys of a bone that the armature lacks; those of the file are kept"
            self._report.warn(words, f"{self._action.name}: {bone}")

    def _warn_of_muted(self, bones: Sequence[str], action: Action, report: Report) -> None:
        warn_of_muted(bones, action, report, in_file=self._base is not None)

    def _bones(self, path: str, keyed: NDArray[np.bool_]) -> WrittenBones:
        options = self._options
        properties = self._properties if self._base is not None else None
        result = written_bones(self._rig, keyed, properties, options.prefix, options.table)
        if result.left_out:
            words = "bones left out because Deform is off: {}"
            self._report.note(say(words, len(result.left_out)), listed(result.left_out))
        if not result.names:
            raise WriteError("there are no bones to write", remedy="Switch Deform on for the bones to export")
        if options.names is NamesFrom.ARMATURE:
            return named_by_armature(result, self._rig, options.prefix)
        if options.names is NamesFrom.CONFIG:
            config = options.config or skeletons.config_of(path, self._report, options.games)
            hierarchy = skeletons.hierarchy_of_config(config, path, result.names, self._report) if config else None
            if hierarchy is None:
                raise WriteError("no model.cfg has these bones", remedy="Name the model.cfg of the skeleton")
            return named_by_config(result, hierarchy)
        return result

    def report_unknown(self, path: str, bones: WrittenBones) -> None:
        """Warn of bones that the game does not know, by the model.cfg that is set or is in the folder of the file."""
        config = self._options.config or skeletons.config_of(path, self._report, self._options.games)
        skeleton = skeletons.listed_by_config(config, path) if config else None
        report_unknown(bones, self._rig, skeleton, self._options.table, self._report)

    def check_bones(self, path: str) -> None:
        """Report the same before the poses are read."""
        self.report_unknown(path, self._bones(path, self._reader.keyed(self._action)))

    def _values(
        self, bones: WrittenBones, deltas: Floats, frames: NDArray[np.float32], phases: NDArray[np.float32]
    ) -> Floats:
        """Return deltas (bones written, frames, 4, 4) without the step in root bones; the file's for missing bones."""
        values = deltas[np.maximum(bones.bone_indices, 0)]
        properties = self._properties
        if properties is not None and properties.step_mode == timing.BONES:
            values = timing.with_step(values, np.array(properties.step_shown), phases, -1.0, properties.step_zero)
        missing = np.flatnonzero(bones.bone_indices < 0)
        if len(missing) and self._base is not None:
            values[missing] = self._base.deltas_at(bones.sources[missing], frames, phases)
        return values

    def _events(self, phases: Phases) -> list[Event]:
        if self._action is None:
            return []
        result = timing.gather(self._action)
        lost = len(self._action.motionbridge_animation.events) - len(result)
        if lost:
            self._report.note(say("events left out because their markers were deleted: {}", lost), self._action.name)
        if self._options.own_markers:
            result += timing.events_of_own_markers(self._action)
        result = [replace(event, phase=phases.of(event.phase)) for event in result]
        outside = [event.name for event in result if phases.changed and not 0.0 <= event.phase <= 1.0]
        if outside:
            words = "events left out because they lie outside the animation, which was cut: {}"
            self._report.warn(say(words, len(outside)), self._action.name)
            result = [event for event in result if 0.0 <= event.phase <= 1.0]
        return result

    def _take_step(self, clip: DeltaClip, deltas: Floats, frames: NDArray[np.float32], stretch: float) -> None:
        """Set the clip's step: as typed, from the object's keys, or measured from a bone and removed from all bones.

        ``stretch`` as in `Phases`: a step carried by root bones is divided by it.
        """
        properties = self._action.motionbridge_animation if self._action is not None else None
        old_step, clip.step, cycle = np.zeros(3), np.zeros(3), timing.cycle_of(clip.phases)
        if properties is not None:
            old_step, clip.step = np.array(properties.step_shown), np.array(properties.step)
            if properties.step_mode == timing.BONES:
                old_step, clip.step = old_step / stretch, clip.step / stretch
        if self._base is not None:
            cycle = timing.cycle_of(self._base.clip.phases)
        step = None
        if self._options.step is StepFrom.BONE:
            step = self._measured(clip, deltas, old_step)
        elif self._options.step is StepFrom.AUTOMATIC and self._action is not None:
            stored_step = (clip.step / cycle).astype(np.float32)
            if np.allclose(stored_step, old_step, rtol=1e-6, atol=0.0):  # else the user typed a step, which is used
                step = timing.step_of_object(self._action, self._rig, frames, clip.phases)
        if step is not None and not np.allclose(step, old_step, rtol=1e-5, atol=STEP_TOLERANCE):
            clip.step = step * cycle
            metres = ", ".join(f"{value:.3f}" for value in clip.step) + " m"
            self._report.note(say("the step is taken from keys: {}", metres), clip.name)

    def _measured(self, clip: DeltaClip, deltas: Floats, old_step: Floats) -> Floats:
        """Return (3,) the travel of the chosen bone in metres per phase, and remove it from the clip."""
        index = self._rig.data.bones.find(self._options.step_bone)
        if index < 0:
            words = "there is no bone {!r} to measure the step from"
            raise WriteError(say(words, self._options.step_bone), remedy="Name the root bone")
        result = timing.step_of_bone(
            deltas[index], self._rest.matrices[index], clip.phases, vertical=self._options.vertical
        )
        by_bones = self._properties is not None and self._properties.step_mode == timing.BONES
        remaining = result - old_step if by_bones else result
        if not np.allclose(remaining, 0.0, atol=STEP_TOLERANCE):
            clip.deltas = timing.with_step(clip.deltas, remaining, clip.phases, -1.0)
        return result

    def _is_binarised(self) -> bool:
        if self._options.kind is Encoding.AS_IT_CAME:
            return self._base is not None and isinstance(self._base.document, rtm.Binarised)
        return self._options.kind is Encoding.BINARISED

    def _encoded(self, clip: DeltaClip, hierarchy: Hierarchy | None, bones: WrittenBones) -> tuple[rtm.Rtm, Changes]:
        """Return the file's document and the changes; the source file is the base only if it has the same encoding."""
        base = self._base.document if self._base is not None else None
        reference = self._base.reference(bones, clip, self._unedited, self._modes) if self._base is not None else None
        sampled = self._sampled[bones.bone_indices] & (bones.bone_indices >= 0)
        reach = np.where(sampled, SAMPLED_TOLERANCE, rtm.TOLERANCE)[:, None, None, None]
        if hierarchy is None:
            plain = base if isinstance(base, rtm.Plain) else None
            return rtm.encode_plain(clip, plain, unedited=reference if plain is not None else None, tolerance=reach)
        same = base if isinstance(base, rtm.Binarised) else None
        unedited = reference if same is not None else None
        return rtm.encode_binarised(clip, hierarchy, same, unedited=unedited, tolerance=reach)

    def _hierarchy(self, clip: DeltaClip) -> Hierarchy:
        """Return the parents to which a binarised file stores bones relatively. Raises `WriteError` if not known."""
        remembers, options = bool(len(self._rig.data.motionbridge_skeleton.bones)), self._options

        def named(bone: str) -> str:
            return options.table.in_file(bone if remembers else without_prefix(options.prefix, bone))

        known = skeletons.hierarchy_of_armature(self._rig).renamed(named)
        if self._base is not None and isinstance(self._base.document, rtm.Binarised) and self._properties is not None:
            # The file's matrices are relative to the parents used at import, even if the skeleton has changed since.
            read = {entry.name: entry.parent for entry in self._properties.bones}
            return Hierarchy(known.name, dict(known.parents) | read)
        if self._options.config:
            result = skeletons.hierarchy_of_config(self._options.config, clip.name, clip.bones, self._report)
            if result is not None:
                return result
        if known.for_display or not remembers:
            known = skeletons.guessed_hierarchy(known, clip.bones, self._report)
        if known.for_display:
            raise WriteError(
                "a binarised animation stores each bone relative to its parent, and the armature does not know the "
                "game's hierarchy",
                remedy="Name the skeleton's model.cfg, or write a plain file",
            )
        return known
