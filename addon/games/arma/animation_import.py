"""Import of Arma and Operation Flashpoint animations onto an armature, and the armature's list of animations.

Each listed animation can be played with a click. Only an entry with an index of 0 or more is the original of its file
(see `animation_edit.original_of`). Actions made in Blender and copies get index -1. A copy that the armature uses
belongs to its animations at once, and joins the list a moment later, never while a panel is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import action as actions
from ...blender import action_lists, armature, compat, delta_action, imported_bones, nla, rotation_modes, scope
from ...blender.delta_action import DeltaWriter, RestPose
from ...blender.imported_bones import BonesInArmature
from ...blender.properties import is_local, keep
from ...core import files
from ...core.errors import ReadError, WriteError
from ...core.joints import NOISE
from ...core.model import DeltaClip
from ...core.report import Report, listed, say
from ...formats.arma import rtm
from ...formats.arma.skeletons import BoneTable, Hierarchy
from . import skeletons, timing
from .options import AnimationImportOptions, HierarchyFrom, StepMode
from .skeletons import skeleton_for

if TYPE_CHECKING:
    from ...blender.typed import Action, Context, Object

ORIGINAL, ADDED_LATER = 0, -1


def add(rig: Object, action: Action, index: int) -> None:
    """Append an action to the list. The armature must be editable."""
    entry = rig.motionbridge_animations.add()
    entry.action, entry.index = action, index


def animations_of(rig: Object) -> list[Action]:
    """Return the listed actions, without the empty entries that deleted actions leave, then those of `unlisted`."""
    return [*_listed(rig), *unlisted(rig)]


def _listed(rig: Object) -> list[Action]:
    return [entry.action for entry in rig.motionbridge_animations if entry.action is not None]


def is_listed(rig: Object, action: Action) -> bool:
    """Return whether an action is in the list of an armature."""
    return action in _listed(rig)


def unlisted(rig: Object) -> list[Action]:
    """Return the actions that an armature uses and no armature lists: copies of animations, and, on an armature with
    animations, the action in play that was made in Blender.
    """
    known = set(_listed(rig))
    free = [action for action in action_lists.used_by(rig) if action not in known]
    if not free:
        return []
    objects: Any = bpy.data.objects
    taken = {entry.action for owner in objects for entry in owner.motionbridge_animations}
    drawn = nla.playing(rig).action if known else None
    if drawn is not None and action_lists.is_motion(drawn):  # a motion of another game
        drawn = None
    return [
        action
        for action in free
        if action not in taken and (action.motionbridge_animation.is_animation or action == drawn)
    ]


def adopt_unlisted(rig: Object) -> int:
    """List the actions of `unlisted`, so that they stay when others are played; returns how many."""
    return _append(rig, unlisted(rig))


def adopt(rig: Object) -> int:
    """List the actions that the armature plays or has in the NLA and that are not listed; returns how many."""
    return _append(rig, action_lists.used_by(rig))


def adopt_all(rig: Object) -> int:
    """Also list imported animations that move bones of this armature and belong to no armature; returns how many."""
    objects: Any = bpy.data.objects
    actions: Any = bpy.data.actions
    rigs = [owner for owner in objects if owner.type == "ARMATURE"]
    taken = {entry.action for owner in rigs for entry in owner.motionbridge_animations}
    taken |= {action for owner in rigs if owner != rig for action in action_lists.used_by(owner)}
    bones = set(rig.data.bones.keys())
    free = [action for action in actions if action.motionbridge_animation.is_animation and action not in taken]
    fitting = [action for action in free if any(entry.bone in bones for entry in action.motionbridge_animation.bones)]
    return _append(rig, [*action_lists.used_by(rig), *sorted(fitting, key=lambda action: action.name.lower())])


def remove_deleted(rig: Object) -> None:
    """Remove the empty entries of deleted actions from the list."""
    rows = rig.motionbridge_animations
    for number in reversed(range(len(rows))):
        if rows[number].action is None:
            rows.remove(number)


def _append(rig: Object, actions: list[Action]) -> int:
    if not is_local(rig):
        return 0
    known = set(_listed(rig))
    missing = [action for action in dict.fromkeys(actions) if action not in known]
    for action in missing:
        add(rig, action, ADDED_LATER)
    return len(missing)


# Import ---------------------------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]
HIERARCHY_REMEDY = (
    "Choose the skeleton it belongs to as Hierarchy in the import's options, or name its model.cfg there; Arma "
    "Skeleton Files in the sidebar has a file browser for it"
)
LARGEST_SHEAR = 1e-3
"""Largest shear (which Blender cannot show) that is not reported."""


@dataclass
class ImportedAnimation:
    """The armature object and the action; ``missing``: bones of the file that the armature lacks."""

    rig: Any
    action: Any
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class AnimationFile:
    """A file that was read: its bytes and the document."""

    path: str
    data: bytes
    document: rtm.Rtm


def read_animation(path: str, report: Report) -> AnimationFile:
    """Read an animation file once, for its bones and `import_animation`. Raises `ReadError`."""
    data = files.read_file(path)
    return AnimationFile(path, data, rtm.read(data, path, report))


def import_animation(
    context: Context, rig: Object | None, file: str | AnimationFile, *, options: AnimationImportOptions, report: Report
) -> ImportedAnimation:
    """Import an animation file as an action on ``rig``, or on a new armature if that is None.

    Raises `ReadError`, also if the animation has no frames or if no bone of it is in the armature; `WriteError` if the
    armature cannot be edited.
    """
    source = read_animation(file, report) if isinstance(file, str) else file
    return _Importer(context, source.path, options, report).onto(rig, source)


@dataclass
class _Importer:
    """Imports one file."""

    context: Context
    file: str
    options: AnimationImportOptions
    report: Report

    def onto(self, rig: Object | None, source: AnimationFile) -> ImportedAnimation:
        document = source.document
        if not len(document.phases) or not document.bones:
            problem = "the animation has no frames" if document.bones else "the animation has no bones"
            raise ReadError(problem, file=self.file, remedy="Choose another file")
        hierarchy = self._hierarchy(rig, document)
        if hierarchy is skeletons.FLAT and isinstance(document, rtm.Binarised):
            raise ReadError(
                "a binarised animation stores each bone relative to its parent, and no skeleton with its bones was "
                "found",
                file=self.file,
                remedy=HIERARCHY_REMEDY,
            )
        clip = rtm.decode(document, self.report, hierarchy, Path(self.file).stem)
        table, is_new = self.options.table if rig is not None else BoneTable(), rig is None
        if rig is None:
            noise = rtm.ROUNDING if isinstance(document, rtm.Binarised) else NOISE
            rig = self._new_armature(clip, hierarchy, noise)
        elif rig.library is not None:
            words = "{!r} is linked from another file"
            raise WriteError(say(words, rig.name), remedy="Make a library override of it first")
        if not is_new and armature.is_scaled(rig):
            self.report.warn(
                "the armature object is scaled, so what it plays is larger or smaller than in the game; apply its "
                "scale (Ctrl A) and import again",
                rig.name,
            )
        with delta_action.bones_restored_on_failure(self.context, rig):
            named = bone_names(rig, clip.bones, self.options.prefix, table)
            missing = self._missing(rig, clip.bones, named)
            orders = self._set_up_bones(rig, [name for name in named if name])
            imported_bones.warn_of_constraints(rig, [name for name in named if name], self.report)
            action = self._build(rig, clip, named, orders)
            _describe(action, clip, named, hierarchy, document)
            properties = action.motionbridge_animation
            properties.path = self.file
            keep(properties, "document", source.data)
            if not table:  # with a table, the file's bone names are not those of the armature's skeleton
                given = {bone: name for bone, name in zip(clip.bones, named, strict=True) if name}
                if is_local(rig.data):
                    skeletons.store(rig, hierarchy, given)
                else:
                    self.report.note(
                        "the armature's data is of another file and does not keep the game's skeleton", rig.name
                    )
            action.use_fake_user = self.options.fake_user
            if is_local(rig):
                add(rig, action, ORIGINAL)
            if self.options.assign:
                actions.play(self.context, rig, action)
            if self.options.stash:
                actions.stash(rig, [action])
            return ImportedAnimation(rig, action, missing)

    def _hierarchy(self, rig: Object | None, document: rtm.Rtm) -> Hierarchy:
        """Return the chosen hierarchy. In automatic mode without a model.cfg, that is the one stored on the armature if
        it fits, then a built-in one, then the armature's own.
        """
        options, bones = self.options, document.bones
        automatic = options.hierarchy is HierarchyFrom.AUTOMATIC
        config = options.config or skeletons.config_of(self.file, self.report, options.games)
        if rig is None or not automatic or config:
            return skeletons.chosen_hierarchy(options.hierarchy, config, self.file, bones, self.report)
        if len(rig.data.motionbridge_skeleton.bones):
            known = skeletons.hierarchy_of_armature(rig)
            if skeletons.fits(known, bones):
                return known
        return skeletons.fitting_built_in(bones) or skeletons.hierarchy_of_armature(rig, known=False)

    def _new_armature(self, clip: DeltaClip, hierarchy: Hierarchy, noise: float) -> Object:
        skeleton = skeleton_for(
            clip,
            hierarchy,
            source=self.options.pivots,
            model=self.options.pivots_model,
            whole=self.options.whole_skeleton,
            noise=noise,
            report=self.report,
        )
        rig = skeletons.build_armature(self.context, skeleton, hierarchy, self.report, clip.name)
        scope.target_collection(self.context, self.report).objects.link(rig)
        rig.show_in_front = True
        if self.options.readable_bones:
            armature.make_readable(rig)
        scope.make_current(self.context, [rig], rig)
        if hierarchy is skeletons.FLAT and self.options.hierarchy is not HierarchyFrom.FLAT:
            self.report.warn(
                "no skeleton with its bones was found: every bone is a root, in the right pose. "
                "Choose the skeleton it belongs to as Hierarchy in the import's options, or name "
                "its model.cfg there; Arma Skeleton Files in the sidebar has a file browser for "
                "it",
                clip.name,
            )
        strange = hierarchy.unknown(clip.bones) if hierarchy.parents else []
        if 2 * len(strange) > len(clip.bones):
            words = "the skeleton {} does not list {}; treated as roots"
            self.report.warn(say(words, hierarchy.name, listed(strange)), clip.name)
        return rig

    def _missing(self, rig: Object, bones: list[str], named: list[str]) -> list[str]:
        missing = [bone for bone, name in zip(bones, named, strict=True) if not name]
        if len(missing) == len(bones):
            raise ReadError(
                say("none of the file's bones is in the armature {!r}", rig.name),
                file=self.file,
                remedy="Select the armature it belongs to, name the prefix of its bones or a table of their names, or "
                "import onto a new armature",
            )
        counts = BonesInArmature(len(bones) - len(missing), len(bones))
        imported_bones.warn_of_missing(missing, counts, self.report, Path(self.file).name)
        return missing

    def _warn_of_other_actions(self, rig: Object, bones: list[str]) -> None:
        """Warn of actions that no longer play on bones that rotate by quaternions from now on."""
        stopped = rotation_modes.actions_stopped(rig, bones)
        if stopped:
            self.report.warn(
                "actions rotate some of the bones by axis-angle keys, which do not play while these bones use "
                "quaternions; play such an action and choose Restore Rotation Modes",
                listed([action.name for action in stopped]),
            )

    def _set_up_bones(self, rig: Object, bones: list[str]) -> dict[str, str]:
        """Set up bones so that they can play the keys; returns the Euler orders that other actions need."""
        orders = rotation_modes.angles_in_use(rig, bones)
        self._warn_of_other_actions(rig, [bone for bone in bones if bone not in orders])
        if not is_local(rig.data):
            if any(rig.data.bones[bone].use_connect for bone in bones):
                self.report.warn("connected bones of another file stay connected and ignore locations", rig.name)
            return orders
        changed = delta_action.free_bones(self.context, rig, bones, orders)
        if changed:
            self.report.note(
                say(
                    "bones that were disconnected, inherit all from their parents or rotate by "
                    "quaternions now, which the animation needs: {}",
                    len(changed),
                ),
                say("{}: {}", rig.name, listed(changed)),
            )
        return orders

    def _build(self, rig: Object, clip: DeltaClip, named: list[str], orders: dict[str, str]) -> Any:
        options = self.options
        armature.remember_names(rig.data)
        rest = RestPose.of(rig)
        index_of = {bone: number for number, bone in enumerate(rest.bones)}
        rows = [number for number, name in enumerate(named) if name]
        indices = [index_of[named[row]] for row in rows]
        fps = scope.frames_per_second(self.context.scene)
        cycle = None if options.seconds is None else options.seconds * fps
        frames = timing.frames_of(clip.phases, options.first_frame, cycle, self.report, clip.name)
        carried = timing.step_per_phase(clip.step, clip.phases)
        mode = options.step
        if mode is not StepMode.LEFT_OUT and not timing.can_be_shown(carried, clip.phases):
            self.report.warn("the step cannot be shown in Blender: left out, and kept for export", clip.name)
            mode = StepMode.LEFT_OUT
        deltas = timing.with_step(clip.deltas, carried, clip.phases) if mode is StepMode.BONES else clip.deltas
        animated, row_of = np.zeros(len(rest.bones), np.bool_), np.zeros(len(rest.bones), np.intp)
        animated[indices], row_of[indices] = True, rows
        channels = delta_action.channels_of(deltas, rest, animated, row_of)
        _report_channels(channels, [rest.bones[number] for number in indices], indices, clip.name, self.report)
        writer = DeltaWriter(rest, indices, compat.slot_name(rig), orders)
        try:
            action = writer.build(clip.name, channels, frames)
        finally:
            writer.close()
        properties = action.motionbridge_animation
        timing.keep_keys(properties, frames, clip.phases)
        keep(properties, "digest", writer.digest)
        properties.step_mode = mode.value
        properties.step_shown = carried.tolist()
        if mode is StepMode.OBJECT:
            timing.key_object(action, rig, carried, clip.phases, frames)
        return action


def bones_in_armature(rig: Object, bones: list[str], prefix: str, table: BoneTable) -> BonesInArmature:
    """Return how many of the ``bones`` of an animation an armature has."""
    return BonesInArmature(sum(1 for name in bone_names(rig, bones, prefix, table) if name), len(bones))


def bone_names(rig: Object, bones: list[str], prefix: str, table: BoneTable) -> list[str]:
    """Return Blender's bone name for each bone of the file, ignoring case; "" if the armature has none."""
    named = {bone.name.lower(): bone.name for bone in reversed(rig.data.bones)}
    known = {entry.name: entry.bone for entry in rig.data.motionbridge_skeleton.bones if entry.bone in rig.data.bones}
    known_below = {name.lower(): bone for name, bone in known.items()}
    result = []
    taken: set[str] = set()
    for bone in map(table.in_armature, bones):
        wanted = f"{prefix}{bone}".lower()
        choices = (known.get(bone, ""), known_below.get(bone.lower(), ""), named.get(wanted, ""))
        name = next((choice for choice in choices if choice and choice not in taken), "")
        taken.add(name)
        result.append(name)
    return result


def _report_channels(channels: Any, bones: list[str], indices: list[int], name: str, report: Report) -> None:
    unusable = [bone for bone, lost in zip(bones, channels.unusable[indices].any(axis=1), strict=True) if lost]
    if unusable:
        report.warn(
            "bones with NaN or infinite matrices follow their parents on these frames",
            say("{}: {}", name, listed(unusable)),
        )
    worst = float(np.nan_to_num(channels.shear[indices]).max(initial=0.0))
    if worst > LARGEST_SHEAR:
        report.note(say("shear of up to {:.3g} cannot be shown; it is kept unless edited", worst), name)


def _describe(action: Action, clip: DeltaClip, named: list[str], hierarchy: Hierarchy, document: rtm.Rtm) -> None:
    """Store on the action what the file contains besides keys."""
    properties = action.motionbridge_animation
    properties.is_animation = True
    properties.step = clip.step.tolist()
    properties.status = "UNTOUCHED"
    parents = hierarchy.parent_indices(clip.bones).tolist()
    binarised = isinstance(document, rtm.Binarised)
    for bone, name, parent in zip(clip.bones, named, parents, strict=True):
        entry = properties.bones.add()
        entry.name, entry.bone = bone, name
        if binarised and parent >= 0:
            entry.parent = clip.bones[parent]
    timing.store(action, clip.events)
