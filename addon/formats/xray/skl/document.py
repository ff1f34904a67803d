"""What the editor's motions say: how each is played, and six channels of keys for each bone.

Known from the editor's ``Motion.cpp``. Real files are of version 6; versions 4, 5 and 7 are known from the code alone.
The four timing numbers stand in another order than in `.omf`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Bytes
from ..chunks import Chunk, Section
from ..envelopes import StoredEnvelope
from ..marks import Mark

MOTION = 0x1200
VERSIONS = (4, 5, 6, 7)
NAMED_SINCE = 5
PACKED_SINCE = 6
MARKS_SINCE = 7
TIMING = ("speed", "accrue", "falloff", "power")
"""The names of the columns of `SkeletalMotion.timing`; in `.omf` power is the second."""
FX, STOP_AT_END = 1, 2
"""Bits of `SkeletalMotion.flags`, which version 4 has as two bytes."""
ALL_PARTS = 0xFFFF


@dataclass(slots=True)
class BoneTrack:
    """A bone's channels X Y Z H P B: its whole parent-local transform. ``name`` None where the version has none.

    ``flags``: 1 the rotation is the world's.
    """

    name: bytes | None
    flags: int
    envelopes: list[StoredEnvelope]


@dataclass(slots=True)
class SkeletalMotion:
    """One motion. Frames ``first`` to ``last`` at ``fps``; ``timing`` (4,) float32 as `TIMING` names them.

    ``switches``: version 4's bytes for FX and stop, instead of ``flags``.
    """

    name: bytes
    first: int
    last: int
    fps: np.float32
    version: int
    flags: int
    bone_or_part: int
    timing: NDArray[np.float32]
    tracks: list[BoneTrack]
    marks: list[Mark] = field(default_factory=list)
    switches: tuple[int, int] | None = None
    tail: Bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)

    @property
    def frame(self) -> float:
        """The length of a frame in seconds; 1/30 where the file's number is none."""
        usable = bool(np.isfinite(self.fps)) and self.fps >= 1e-3
        return 1.0 / (float(self.fps) if usable else 30.0)


@dataclass(slots=True)
class Skl:
    """A file: ``sections`` of a `.skl`, of which the first `MOTION` is typed; None for a `.skls`, a bare list.

    ``bodies``: the bytes of each motion as they were read, without its tail; none of a file that was not read.
    """

    motions: list[SkeletalMotion]
    sections: list[Section[SkeletalMotion]] | None = None
    tail: Bytes = b""
    bodies: list[Bytes] = field(default_factory=list, compare=False)

    def with_motions(self, changed: list[SkeletalMotion]) -> Skl:
        """The same file with other motions. A `.skl` holds one: the first."""
        if self.sections is None:
            return Skl(changed, None, self.tail)
        sections = [Section(part.chunk, changed[0] if part.value is not None else None) for part in self.sections]
        return Skl(changed[:1], sections, self.tail)


def new_skl(motion: SkeletalMotion) -> Skl:
    """A `.skl` of its own."""
    return Skl([motion], [Section(Chunk(MOTION, b""), motion)])


def new_skls(motions: Iterable[SkeletalMotion]) -> Skl:
    """A `.skls` of its own."""
    return Skl(list(motions))
