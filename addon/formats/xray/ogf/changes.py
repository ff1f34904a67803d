"""What an encoding changed in a model, in the format's own words."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....core.text import counted


@dataclass
class Changes:
    """What is no longer the base's: ``bones`` by name, ``children`` by path, and what could not be taken along.

    A line of ``bones`` is ``head: rest rotation``, one of ``children`` ``0: 14 positions, 3 weights``. An empty
    `Changes` is a file whose every byte is the old one.
    """

    bones: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.bones or self.children)

    def include(self, other: Changes) -> None:
        """Add what another encoding of the same model changed."""
        self.bones += other.bones
        self.children += other.children
        self.left_out += other.left_out

    def sentence(self) -> str:
        """``2 bones, 1 mesh changed``, or ``nothing changed``."""
        parts = [
            counted(len(lines), noun, nouns)
            for lines, noun, nouns in ((self.bones, "bone", "bones"), (self.children, "mesh", "meshes"))
            if lines
        ]
        return f"{', '.join(parts)} changed" if parts else "nothing changed"
