"""What an encoding changed in an animation, in the format's own words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....core.text import counted
from .document import Binarised, Rtm


@dataclass(frozen=True)
class BoneChange:
    """A bone of which ``frames`` are no longer the base's."""

    bone: str
    frames: int


@dataclass(frozen=True)
class ClipChanges:
    """What is no longer the base's: ``bones``, and ``fields`` (bones, frames, phases, step, events, version).

    ``new``: there was no base. ``left_out``: what this kind of file cannot hold. ``untouched`` how many bones are.
    ``frames`` in how many frames one of the bones changed: where matrices are those of the model, the bones that hang
    on an edited one change with it.
    """

    new: bool = False
    bones: tuple[BoneChange, ...] = ()
    fields: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    untouched: int = 0
    frames: int = 0

    @property
    def any(self) -> bool:
        """Whether anything changed."""
        return bool(self.new or self.bones or self.fields)

    def sentence(self) -> str:
        """``31 frames changed (2 bones); step changed; 48 bones untouched``."""
        if self.new:
            return "a new animation"
        parts = []
        if self.bones:
            parts.append(f"{counted(self.frames, 'frame')} changed ({counted(len(self.bones), 'bone')})")
        if self.fields:
            parts.append(f"{', '.join(self.fields)} changed")
        return "; ".join([*parts, f"{counted(self.untouched, 'bone')} untouched"])


def with_phases(document: Rtm, phases: NDArray[np.float32], changes: ClipChanges) -> tuple[Rtm, ClipChanges]:
    """The document with other phases (frames,) for its frames, and the changes with that."""
    stored = phases.astype("<f4")
    fields = changes.fields if "phases" in changes.fields else (*changes.fields, "phases")
    changed = replace(changes, fields=fields)
    if isinstance(document, Binarised):
        return replace(document, phases=stored, phases_block=b""), changed
    return replace(document, phases=stored), changed
