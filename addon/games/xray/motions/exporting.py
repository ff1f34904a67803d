"""Writing motions of an armature: gather, encode onto what they came from, say what changes, write; for every `Codec`.

A `Plan` is the whole file in memory with the list of changes; nothing is on disk before `Plan.write`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import bpy
import numpy as np

from ....blender import action_lists
from ....blender.action_lists import Kind
from ....blender.armature import Rest, is_turned_or_scaled, rest_of
from ....blender.sampling import Sampler, ShownActions, is_of_a_rig, warn_of_other_kinds
from ....core import files, space
from ....core.errors import ReadError, WriteError
from ....core.model import Skeleton
from ....core.report import Report
from ....core.text import listed, said_of
from ...plan import FilePlan, OtherBase, starts_from_disk
from ..bones.properties import bones_in_order, game_name
from ..options import RestChange
from . import files as motion_files
from .library import list_motions, motions_of, refuse_one_name, written_names

if TYPE_CHECKING:
    from ....blender.typed import Action, Context, Object
    from ..options import MotionExportOptions, SkeletalExportOptions
    from .library import Codec
    from .properties import MotionFile, SkeletalFile


class Onto(Enum):
    """What an export starts from."""

    OWN_FILES = "own"
    """The chosen motions alone, with the bytes (and the partitions) they came with."""
    FILE = "file"
    """A file on disk: motions of the same name are replaced, others added, the rest stays."""


@dataclass
class Plan(FilePlan):
    """A file of motions that could be written."""

    document: Any = None
    written: list[tuple[Any, str]] = field(default_factory=list)
    """The actions, each with the name its motion has in the file."""


class Host(Protocol):
    """What motions go into."""

    def had_one_name(self, twins: list[Any], label: str) -> bool:
        """Whether the motions of these actions had the name ``label`` (in lower case) before."""

    def take_out_deleted(self, *, whole: bool) -> None:
        """Take out what was deleted in the panel; of a file that is not saved as a ``whole`` only where it must be."""

    def arrange(self, plan: Any, chosen: Sequence[Any], *, whole: bool) -> None:
        """Let the motions of ``plan`` be in the order of the list, and say what was deleted."""


def plan_export(
    codec: Codec,
    context: Context,
    rig: Object,
    chosen: Sequence[Action],
    path: str,
    *,
    onto: Onto = Onto.OWN_FILES,
    options: Any,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    samples: dict[Any, Any] | None = None,
) -> Any:
    """The file at ``path`` with the actions ``chosen``. Raises `WriteError` or, for the file on disk, `ReadError`.

    ``samples`` as in `Sampler`.
    """
    if not chosen:
        raise WriteError("no motion is chosen", remedy="Tick motions in the list, or assign an action to the armature")
    if onto is Onto.OWN_FILES:
        codec.refuse_to_replace(path)
    host = codec.host(rig, chosen, disk=path if onto is Onto.FILE else "")
    plan = plan_onto(
        codec, context, rig, chosen, path, host=host, options=options, report=report, progress=progress, samples=samples
    )
    if onto is Onto.OWN_FILES and Path(path).is_file():
        _warn_of_removed(codec, plan, report)
    return plan


def plan_save_back(
    codec: Codec,
    context: bpy.types.Context,
    rig: Object,
    file: MotionFile | SkeletalFile,
    *,
    options: MotionExportOptions | SkeletalExportOptions,
    if_changed: OtherBase,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    only: Any = None,
    samples: dict[Any, Any] | None = None,
) -> Any:
    """The file of ``rig`` as it would be saved: edited, new, renamed, deleted and reordered motions, the rest as is.

    ``only`` one action: no other is looked at, and everything else in the file stays as it is. ``samples`` as in
    `Sampler`. Raises `WriteError` where the file on disk is another one by now and ``if_changed`` says to refuse.
    """
    listed = motions_of(file)
    if only is not None and only not in listed:
        raise WriteError(
            f"the action {only.name!r} is not a motion of {file.name}", remedy="Play one of its motions, or save all"
        )
    chosen = listed if only is None else [only]
    there = bpy.path.abspath(file.path)
    on_disk = starts_from_disk(there, {file.sha256}, if_changed)
    host = codec.host_of_list(rig, file, listed, report, disk=there if on_disk else "")
    host.take_out_deleted(whole=only is None)
    _warn_of_other_rigs(codec.lists, rig, file, report)
    plan = plan_onto(
        codec,
        context,
        rig,
        chosen,
        there,
        host=host,
        options=options,
        report=report,
        progress=progress,
        samples=samples,
    )
    host.arrange(plan, chosen, whole=only is None)
    return plan


def _is_placed_by_configs(rig: Object) -> bool:
    """Whether an armature is hands or item of a first-person scene, whose places are values of configs."""
    hands: Object = rig.parent if rig.parent is not None else rig
    owner: Object = rig
    return bool(owner.motionbridge_hud.is_hud or hands.motionbridge_hud.item == rig)


def plan_onto(
    codec: Codec,
    context: bpy.types.Context,
    rig: Object,
    chosen: Sequence[Action],
    path: str,
    *,
    host: Any,
    options: Any,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    samples: dict[Any, Any] | None = None,
) -> Any:
    """The file at ``path``: what ``host`` has, with the actions ``chosen``. ``samples`` as in `Sampler`."""
    if is_turned_or_scaled(rig) and not _is_placed_by_configs(rig):
        report.warn(
            "the armature object is scaled or rotated, which the game does not see; apply its transform (Ctrl A) first "
            "if the motions should have it",
            rig.name,
        )
    files.warn_of_replacing(bpy.path.abspath(path), report)
    labels = written_names(chosen, codec.lists, report, rename=options.rename)
    refuse_one_name(chosen, labels, host.had_one_name)
    gathered = []
    with Sampler(context, rig, samples) as sampler:
        gatherer = codec.gatherer(rig, options, report, sampler, host)
        for done, (action, label) in enumerate(zip(chosen, labels, strict=True)):
            gathered.append(gatherer.motion(action, label))
            progress(done + 1)
    return codec.encode(gatherer, gathered, host, path, options)


def _warn_of_removed(codec: Codec, plan: Plan, report: Report) -> None:
    """Say which motions of the file that is replaced are not written; one that cannot be read loses none."""
    try:
        there = list_motions(codec, plan.path)
    except ReadError:
        return
    kept = {name.lower() for name, _ in codec.motions(plan.document)}
    removed = [name for name, _ in there if name.lower() not in kept]
    if removed:
        report.warn(said_of(len(removed), "motions of the replaced file", "are removed"), listed(removed))


def _warn_of_other_rigs(lists: Kind, rig: Object, file: MotionFile | SkeletalFile, report: Report) -> None:
    path = bpy.path.abspath(file.path)
    for other in motion_files.objects():
        if other != rig and any(bpy.path.abspath(one.path) == path for one in lists.files_of(other)):
            report.note("another armature has motions of this file; each saves its own", f"{file.name}: {other.name}")


class Gatherer:
    """Reads the actions of one rig, by their keys; bones of which those are not the whole truth by evaluated poses.

    What a codec's own gatherer shares with the others: the rest pose that keys are relative to, and what is said of
    curves that cannot be written.
    """

    def __init__(self, rig: Any, options: Any, report: Report, sampler: Sampler, lists: Kind) -> None:
        """Raises `WriteError` as `ShownActions` does."""
        self._rig, self._options, self.report = rig, options, report
        self._sampler, self._reasons = sampler, set[str]()
        self._now = rest_of(rig, space.XRAY_ROOT_FRAME)
        self.skeleton = skeleton_of(rig, self._now)
        self._shown = ShownActions(rig, options.hidden_keys, report)
        self._files = action_lists.files_of_actions(rig, lists)
        self._rest_changes: dict[str, list[str]] = {}

    def motion(self, action: Action, label: str) -> Any:
        """The motion to write for an action under a name."""
        raise NotImplementedError

    def _reached(self, action: bpy.types.Action, among: Collection[str] | None) -> tuple[set[str], Iterable[str]]:
        """The bones (of those ``among``) that keys do not tell everything of, and why."""
        reasons = self._sampler.reach.of(action, among)
        return {bone for bones in reasons.values() for bone in bones}, reasons

    def _note(self, reasons: Iterable[str]) -> None:
        """Say once why something is sampled."""
        text = f"sampled frame by frame because of {', '.join(reasons)}"
        if text not in self._reasons:
            self._reasons.add(text)
            self.report.note(text, self._rig.name)

    def _warn_of_left_out(
        self, action: Action, left_out: Iterable[str], other_kinds: Iterable[str], reached: set[str]
    ) -> None:
        """Warn of what is not written, but for bones that are ``reached`` and written as Blender shows them."""
        for path in left_out:
            if not (reached and is_of_a_rig(path)):
                self.report.warn("the game cannot store these curves; left out", f"{action.name}: {path}")
        warn_of_other_kinds([bone for bone in other_kinds if bone not in reached], action, self.report)

    def _rest_for(self, action: Action) -> tuple[Rest, set[str]]:
        """The rest pose that the action's keys are relative to, and the bones of which it is not the import's."""
        file = self._files.get(action)
        if file is not None and file.name not in self._rest_changes:
            self._rest_changes[file.name] = motion_files.rest_changes(file, self._rig)
        changed = self._rest_changes[file.name] if file is not None else []
        if not changed:
            return self._now, set()
        if self._options.rest_change is RestChange.REFUSE:
            raise WriteError(
                f"the rest pose has changed since the motions were imported ({', '.join(changed[:6])})",
                remedy="Choose whether to keep the game's pose or the offsets (option Edited Rest Pose)",
                option="rest_change",
            )
        if self._options.rest_change is RestChange.OFFSETS:
            return self._now, set(changed)
        return motion_files.rest_then(file, self._now), set()


def skeleton_of(rig: Object, rest: Rest) -> Skeleton:
    """The bones of a rig by the game's names in the game's order, standing as ``rest`` says."""
    labels = [game_name(rig.data.bones[bone]) for bone in rest.bones]
    order = bones_in_order(rig)
    places = [labels.index(label) for label in order]
    parents = [places.index(parent) if parent >= 0 else -1 for parent in rest.parents[places].tolist()]
    return Skeleton(
        rig.name,
        order,
        np.array(parents, np.int32),
        rest.rotations[places],
        rest.translations[places],
        space.XRAY_ROOT_FRAME,
    )
