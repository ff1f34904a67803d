"""Reading of the actions of a rig for an export of motions: what codecs of both kinds of motion files share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from ....blender import action_lists
from ....blender.action import INHERITANCE
from ....blender.action_lists import Kind, label_of
from ....blender.armature import Rest, rest_of
from ....blender.bone_curves import bone_of
from ....blender.sampling import Sampler, ShownActions, is_setting, warn_of_other_kinds
from ....core import space
from ....core.errors import WriteError
from ....core.model import Skeleton
from ....core.report import Report, listed, say
from ..bones.properties import bones_in_order, game_name
from ..options import ExportOptions, RestChange
from . import files as motion_files

if TYPE_CHECKING:
    from ....blender.typed import Action, Object


PlanType = TypeVar("PlanType")


class Gatherer(ABC, Generic[PlanType]):
    """Reads the actions of one rig: their keys, and evaluated poses of bones that are moved by more than their keys.

    The base class of the codecs' gatherers finds the rest pose of keys, and warns of curves that cannot be written.
    """

    def __init__(self, rig: Object, options: ExportOptions, report: Report, sampler: Sampler, lists: Kind) -> None:
        """Raises `WriteError` as `ShownActions`."""
        self._rig, self._options, self.report = rig, options, report
        self._sampler, self._reasons = sampler, set[str]()
        self._rest_now = rest_of(rig, space.XRAY_ROOT_FRAME)
        self.skeleton = skeleton_of(rig, self._rest_now)
        self._shown = ShownActions(rig, options.hidden_keys, report)
        self._files = action_lists.files_of_actions(rig, lists)
        self._rest_changes, self._deleted = dict[str, list[str]](), dict[str, list[str]]()

    @abstractmethod
    def add(self, action: Action, label: str) -> None:
        """Read the motion to write for an action, named ``label``."""

    @abstractmethod
    def plan(self, path: str) -> PlanType:
        """Encode what was read into the target, and return the plan of the file at ``path``."""

    def _bones_to_sample(
        self, action: Action, among: Collection[str] | None, *, is_new: bool
    ) -> tuple[set[str], Iterable[str]]:
        """Return the bones (of those ``among``) that are moved by more than their keys, and the reasons.

        ``is_new`` as in `Movers.of`.
        """
        movers = self._sampler.movers
        if movers.is_as_saved(action):
            return set(), ()
        movers.warn_of_lost(action, self.report)
        reasons = movers.of(action, among, is_new=is_new)
        return {bone for bones in reasons.values() for bone in bones}, reasons

    def _is_still(self, action: Action, reasons: Iterable[str], *, is_new: bool) -> bool:
        """Return whether constraints and drivers of the armature do not take part in a motion that is sampled."""
        return set(reasons) == {INHERITANCE} and not is_new and action != self._sampler.movers.play.action

    def _note_sampling(self, reasons: Iterable[str]) -> None:
        """Report once why something is sampled."""
        text = say("sampled frame by frame because of {}", ", ".join(reasons))
        if text not in self._reasons:
            self._reasons.add(text)
            self.report.note(text, self._rig.name)

    def _warn_of_left_out(
        self, action: Action, left_out: Iterable[str], other_kinds: Iterable[str], sampled: set[str]
    ) -> None:
        """Warn of curves that are not written. Bones in ``sampled`` are written as Blender shows them."""
        deleted = self._deleted_of(action)
        for path in left_out:
            if not (sampled and is_setting(path)) and bone_of(path) not in deleted:
                self.report.warn("the game cannot store these curves; left out", f"{label_of(action)}: {path}")
        warn_of_other_kinds([bone for bone in other_kinds if bone not in sampled], action, self.report)

    def _deleted_of(self, action: Action) -> list[str]:
        """Return the deleted bones of an action's file, whose keys are kept. Requires a call of `_rest_for`."""
        file = self._files.get(action)
        return self._deleted.get(file.name, []) if file is not None else []

    def _rest_for(self, action: Action) -> tuple[Rest, set[str]]:
        """Return the rest pose that keys are relative to, and edited bones that keep their offsets to it.

        Raises `WriteError` if the rest pose was edited and the user has not chosen how to export that.
        """
        file = self._files.get(action)
        if file is not None and file.name not in self._rest_changes:
            self._rest_changes[file.name] = motion_files.rest_changes(file, self._rig)
            deleted = self._deleted[file.name] = motion_files.deleted_bones(file, self._rig)
            if deleted:
                self.report.warn(
                    "bones were deleted: their keys stay as in the file, bones that were below them are written "
                    "relative to their new parents",
                    listed(deleted),
                )
        changed = self._rest_changes[file.name] if file is not None else []
        if file is None or not changed:
            return self._rest_now, set()
        if self._options.rest_change is RestChange.REFUSE:
            raise WriteError(
                say("the rest pose has changed since the motions were imported ({})", ", ".join(changed[:6])),
                remedy="Choose whether to keep the game's pose or the offsets (option Edited Rest Pose)",
                option="rest_change",
            )
        if self._options.rest_change is RestChange.OFFSETS:
            return self._rest_now, set(changed)
        return motion_files.rest_then(file, self._rest_now), set()


def skeleton_of(rig: Object, rest: Rest) -> Skeleton:
    """Return the bones of a rig by their game names in the game's order, with the rest pose ``rest``."""
    labels = [game_name(rig.data.bones[bone]) for bone in rest.bones]
    order = bones_in_order(rig)
    rows = [labels.index(label) for label in order]
    parents = [rows.index(parent) if parent >= 0 else -1 for parent in rest.parents[rows].tolist()]
    return Skeleton(
        rig.name,
        order,
        np.array(parents, np.int32),
        rest.rotations[rows],
        rest.translations[rows],
        space.XRAY_ROOT_FRAME,
    )
