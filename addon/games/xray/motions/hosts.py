"""What targets of exports of motions have in common, whatever the kind of file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....core.errors import WriteError

if TYPE_CHECKING:
    from ....blender.typed import Action
    from ....core.report import Report
    from .properties import MotionFile, SkeletalFile


class Host:
    """The target of an export: the file that motions are written into."""

    def name_of(self, action: Action) -> str:
        """Return the name that the motion of an action has here, "" for a new one."""
        raise NotImplementedError

    def digests_of(self, action: Action) -> tuple[bytes, bytes] | None:
        """Return digests of an action's motion as it was imported, and as it is here; None for a new one."""
        raise NotImplementedError

    def room_for(self, chosen: list[Action], _report: Report) -> list[Action]:
        """Return those of the motions ``chosen`` that the file can store; the others are reported."""
        return chosen

    def remove_deleted(self, *, whole: bool) -> None:
        """Remove motions deleted in the panel; unless the ``whole`` file is saved, only where that is unavoidable."""

    def arrange(self, plan: Any, chosen: Sequence[Action], *, whole: bool) -> None:
        """Put the motions of ``plan`` in the order of the list, and store in it what was deleted."""


MODELS = (".ogf", ".object")
"""Suffixes of models, which can contain motions."""


def refuse_to_replace(path: str, suffix: str) -> None:
    """Raise `WriteError` if a model would be replaced by a file of motions, whose ``suffix`` the remedy names."""
    if path.lower().endswith(MODELS):
        raise WriteError(
            "a new file of motions cannot replace a model",
            file=path,
            remedy=f"Name a file of motions ({suffix}), or write into the model's file",
        )


def refuse_missing_model(file: MotionFile | SkeletalFile, path: str) -> None:
    """Raise `WriteError` if the model that contains the motions is not on disk: there is nothing to write them into."""
    if file.embedded and not Path(path).is_file():
        problem = "the model with these motions is missing"
        raise WriteError(problem, file=path, remedy="Put it back, or export to a file of motions")


def changed_on_disk(host: Host, chosen: Sequence[Action], saved: Collection[bytes]) -> list[Action]:
    """Return the actions whose motions on disk other programs changed; motions ``saved`` from here do not count."""
    digests = ((action, host.digests_of(action)) for action in chosen)
    return [action for action, found in digests if found is not None and found[1] not in {found[0], *saved}]
