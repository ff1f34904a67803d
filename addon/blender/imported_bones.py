"""Whether an armature has the bones of a file of motions, and whether it shows the keys that they get."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.report import Message, Report, listed, say
from .nla import CONSTRAINTS
from .sampling import Movers

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .typed import Object


class BonesInArmature(NamedTuple):
    """How many of the bones of a file an armature has."""

    present: int
    total: int

    @property
    def are_few(self) -> bool:
        """Whether they are less than half, so that the file is likely to be for another armature."""
        return 2 * self.present < self.total

    def sentence(self) -> Message:
        """Return the numbers, for a question before the import."""
        return say("{} of {:# bone is|# bones are} in this armature", self.present, self.total)


def warn_of_missing(missing: Sequence[str], bones: BonesInArmature, report: Report, file: str = "") -> None:
    """Warn of the bones of a file that the armature lacks; ``file``: its name, if the report has several."""
    if not missing:
        return
    words = (
        "{0:# bone|# bones} of the file {0:is|are} not in the armature; {0:its|their} keys are kept and written back"
    )
    problem = say(words, len(missing))
    if bones.are_few:
        words = "{} of {:# bone is|# bones are} in this armature; the keys of the others are kept and written back"
        problem = say(words, *bones)
    report.warn(problem, say("{}: {}", file, listed(missing)) if file else ", ".join(missing))


def warn_of_constraints(rig: Object, bones: Collection[str], report: Report) -> None:
    """Warn if constraints move ``bones``, which have just got keys: Blender shows what the constraints give."""
    hiding = Movers(rig).of(None, bones, is_new=True).get(CONSTRAINTS)
    if hiding:
        report.warn(
            "bones have constraints, which hide their imported keys; mute these to see the motion of the file",
            say("{}: {}", rig.name, listed([bone for bone in bones if bone in hiding])),
        )
