"""Which motion of which file an action is, and what targets of exports of motions have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import bpy

from ....blender import action_lists
from ....blender.properties import damaged
from ....core.errors import WriteError
from ....core.files import FileLocation
from ....core.report import say

if TYPE_CHECKING:
    from ....blender.typed import Action
    from ....core.report import Report
    from .properties import MotionFile, SkeletalFile

PlanType = TypeVar("PlanType")


@dataclass(frozen=True)
class MotionIdentity:
    """Which motion of which file an action is: what tells it from every other, wherever the actions went.

    ``index`` and ``name`` are those in the file as it was imported, last saved, or planned; -1 for a motion that was
    saved into a file whose indices are not stored again. ``digest``: of how the motion is stored with its action, b""
    for a motion without action or that is only planned.
    """

    file: FileLocation
    index: int
    name: str
    digest: bytes = b""


class Identities(NamedTuple):
    """The motions of a file in its order, also those without action, and which of them the file's actions are."""

    motions: list[MotionIdentity]
    actions: dict[Action, MotionIdentity]


def identities_of(
    file: MotionFile | SkeletalFile,
    labels: Sequence[str],
    digest: Callable[[Action, int], bytes],
    name: Callable[[Action, int], str],
) -> Identities:
    """Return the identities of the motions of a file on an armature, which are named ``labels``.

    ``digest`` and ``name``: of the motion of an action at an index. New actions without a name in the file have none.
    Raises `ReadError` if an action has an index that the file does not have.
    """
    location = FileLocation(bpy.path.abspath(file.path))
    identities = [MotionIdentity(location, index, label) for index, label in enumerate(labels)]
    actions: dict[Action, MotionIdentity] = {}
    for action, index in action_lists.listed(file).items():
        if index >= len(identities):
            raise damaged(file)
        label = name(action, index)
        if index >= 0:
            actions[action] = identities[index] = MotionIdentity(location, index, label, digest(action, index))
        elif label:
            actions[action] = MotionIdentity(location, -1, label)
    return Identities(identities, actions)


def found_by_name(wanted: Iterable[MotionIdentity], labels: Iterable[str]) -> dict[MotionIdentity, int]:
    """Return where motions are in a file that others changed, whose motions are named ``labels``.

    Those of the same name in their order.
    """
    available: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        available.setdefault(label.lower(), []).append(index)
    return {
        identity: available[identity.name.lower()].pop(0) for identity in wanted if available.get(identity.name.lower())
    }


@dataclass
class Host(ABC, Generic[PlanType]):
    """The target of an export: the file that motions are written into.

    ``identities``: what the actions are in their own file. ``table``: the index here of each of these motions that is
    here.
    """

    identities: dict[Action, MotionIdentity] = field(default_factory=dict, kw_only=True)
    table: dict[MotionIdentity, int] = field(default_factory=dict, kw_only=True)

    def index(self, action: Action) -> int | None:
        """Return the index here of an action's motion, None for a new one."""
        identity = self.identities.get(action)
        return self.table.get(identity) if identity is not None else None

    def name_of(self, action: Action) -> str:
        """Return the name that the motion of an action has here, "" for a new one."""
        return self.identities[action].name if self.index(action) is not None else ""

    def unwritten(self, location: FileLocation, written: Collection[Action]) -> dict[Action, MotionIdentity]:
        """Return the actions with a motion here that are not ``written``, as motions of the file at ``location``."""
        return {
            action: MotionIdentity(location, self.table[identity], identity.name)
            for action, identity in self.identities.items()
            if identity in self.table and action not in written
        }

    @abstractmethod
    def digest_at(self, index: int) -> bytes:
        """Return the digest of the motion at an index here, which equals that of its identity if it is unchanged."""

    def changed_by_others(self, chosen: Sequence[Action], saved: Collection[bytes]) -> list[Action]:
        """Return the actions whose motions here other programs changed; motions ``saved`` from here do not count."""
        here = [(action, self.index(action)) for action in chosen]
        imported = [(action, index) for action, index in here if index is not None and self.identities[action].digest]
        return [
            action
            for action, index in imported
            if self.digest_at(index) not in {self.identities[action].digest, *saved}
        ]

    def room_for(self, chosen: list[Action], _report: Report) -> list[Action]:
        """Return those of the motions ``chosen`` that the file can store; the others are reported."""
        return chosen

    def remove_deleted(self, *, whole: bool) -> None:
        """Remove motions deleted in the panel; unless the ``whole`` file is saved, only where that is unavoidable."""

    def arrange(self, plan: PlanType, chosen: Sequence[Action], *, whole: bool) -> None:
        """Put the motions of ``plan`` in the order of the list, and store in it what was deleted."""


MODELS = (".ogf", ".object")
"""Suffixes of models, which can contain motions."""


def refuse_to_replace(path: str, suffix: str) -> None:
    """Raise `WriteError` if a model would be replaced by a file of motions, whose ``suffix`` the remedy names."""
    if path.lower().endswith(MODELS):
        words = "Name a file of motions ({}), or write into the model's file"
        raise WriteError("a new file of motions cannot replace a model", file=path, remedy=say(words, suffix))


def refuse_missing_model(file: MotionFile | SkeletalFile, path: str) -> None:
    """Raise `WriteError` if the model that contains the motions is not on disk: there is nothing to write them into."""
    if file.embedded and not Path(path).is_file():
        problem = "the model with these motions is missing"
        raise WriteError(problem, file=path, remedy="Put it back, or export to a file of motions")


def refuse_same_names(chosen: Sequence[Action], labels: Sequence[str], host: Host[Any]) -> None:
    """Raise `WriteError` if two motions would get the same name, unless they already have it in the target."""
    actions_by_name: dict[str, list[Action]] = {}
    for action, label in zip(chosen, labels, strict=True):
        actions_by_name.setdefault(label.lower(), []).append(action)
    for label, same_named in actions_by_name.items():
        if len(same_named) > 1 and any(host.name_of(action).lower() != label for action in same_named):
            raise WriteError(
                say(
                    "the actions {} would be motions of one name, {!r}",
                    " and ".join(repr(action.name) for action in same_named[:3]),
                    label,
                ),
                remedy="Type another name for one of them in the list of motions",
            )
