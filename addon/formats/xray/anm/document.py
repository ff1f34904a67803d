"""What an `.anm` says: chunk 0x1100 with one animation of six channels.

Known from the engine's ``Motion.cpp`` and ``ObjectAnimator.cpp``. Versions 3, 4 and 5 occur; 3 stores full floats, the
others packed keys (`envelopes`). Version 4 has the channel P before H.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core import names
from ....core.binary import Bytes
from ..chunks import Chunk, Section
from ..envelopes import StoredEnvelope

ANIMATION = 0x1100
VERSIONS = (3, 4, 5)
FLOATS = 3
"""The version that stores full floats; every engine and editor reads it."""
FILE_ORDER = {3: (0, 1, 2, 3, 4, 5), 4: (0, 1, 2, 4, 3, 5), 5: (0, 1, 2, 3, 4, 5)}
"""Which channel (X Y Z H P B) stands at each place of a file."""
FRAMES_PER_SECOND = 30.0
"""What is assumed where a file's number is none."""


@dataclass(slots=True)
class Animation:
    """Frames ``first`` to ``last`` at ``fps`` are played; keys are in seconds and may lie elsewhere.

    ``envelopes``: the channels X Y Z H P B, in this order whatever the file's; ``tail`` bytes behind them.
    """

    name: bytes
    first: int
    last: int
    fps: np.float32
    version: int
    envelopes: list[StoredEnvelope]
    tail: Bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)

    @property
    def rate(self) -> float:
        """Frames a second, where the file's number is one."""
        usable = bool(np.isfinite(self.fps)) and self.fps >= 1e-3
        return float(self.fps) if usable else FRAMES_PER_SECOND

    @property
    def frame(self) -> float:
        """The length of a frame in seconds."""
        return 1.0 / self.rate


@dataclass(slots=True)
class Anm:
    """The file: its chunks in order, the first 0x1100 typed."""

    sections: list[Section[Animation]]
    tail: Bytes = b""

    @property
    def animation(self) -> Animation:
        """What the file is there for."""
        return next(section.value for section in self.sections if section.value is not None)

    def with_animation(self, changed: Animation) -> Anm:
        """The same file with another animation in the place of the first."""
        old = self.animation
        return Anm(
            [Section(part.chunk, changed if part.value is old else part.value) for part in self.sections], self.tail
        )


def new_anm(animation: Animation) -> Anm:
    """A file of its own."""
    return Anm([Section(Chunk(ANIMATION, b""), animation)])
