"""Flags of points and faces of a LOD: what each bit means, in groups of which one value holds at a time.

Names are those of Object Builder where its users know one. Cold War Assault and later tools exchange two pairs of names
(above and under, reversed and flat), so these have both. Bits of no group are kept as they are.
"""

from __future__ import annotations

from typing import NamedTuple

VERTEX_FLAGS, FACE_FLAGS = "vertex_flags", "face_flags"
"""Attributes with the flags of points and faces: 32 bits as a signed integer."""
NORMAL_FLAG = "NORMAL"
"""The value of a group none of whose bits are set."""


class FlagGroup(NamedTuple):
    """Bits of which one of several ``values`` is set: identifier -> bits. Without values a number is stored in them."""

    name: str
    mask: int
    values: dict[str, int]

    @property
    def shift(self) -> int:
        """Position of the lowest bit."""
        return (self.mask & -self.mask).bit_length() - 1

    def bits(self, value: str | int) -> int:
        """Return the bits of a value, or of a number."""
        if isinstance(value, int):
            return value << self.shift & self.mask
        return self.values[value]

    def value(self, flags: int) -> str | int | None:
        """Return the value of stored flags; None if they have several or other bits of the group."""
        bits = flags & self.mask
        if not self.values:
            return bits >> self.shift
        return next((name for name, known in self.values.items() if known == bits), None)


VERTEX_GROUPS = (
    FlagGroup("surface", 0xF, {NORMAL_FLAG: 0, "ON": 1, "ABOVE": 2, "UNDER": 4, "KEEP": 8}),
    FlagGroup("light", 0xF0, {NORMAL_FLAG: 0, "SHINING": 0x10, "IN_SHADOW": 0x20, "FULL": 0x40, "HALF": 0x80}),
    FlagGroup("decal", 0x300, {NORMAL_FLAG: 0, "DECAL": 0x100, "VERTICAL": 0x200}),
    FlagGroup("fog", 0x3000, {NORMAL_FLAG: 0, "NONE": 0x1000, "SKY": 0x2000}),
    FlagGroup("normals", 0x6000000, {NORMAL_FLAG: 0, "FIXED": 0x2000000, "ANGLE": 0x4000000}),
    FlagGroup("visible", 0x1000000, {NORMAL_FLAG: 0, "HIDDEN": 0x1000000}),
    FlagGroup("user", 0xFF0000, {}),
)
FACE_GROUPS = (
    FlagGroup(
        "light",
        0x3000A7,
        {
            NORMAL_FLAG: 0,
            "NONE": 1,
            "AMBIENT": 2,
            "FULL": 4,
            "BOTH_SIDES": 0x20,
            "SKY": 0x80,
            "REVERSED": 0x100000,
            "FLAT": 0x200000,
        },
    ),
    FlagGroup("shadow", 0x18, {NORMAL_FLAG: 0, "IS_SHADOW": 8, "NONE": 0x10}),
    FlagGroup("z_bias", 0x300, {NORMAL_FLAG: 0, "LOW": 0x100, "MIDDLE": 0x200, "HIGH": 0x300}),
    FlagGroup("merging", 0x1000000, {NORMAL_FLAG: 0, "NONE": 0x1000000}),
    FlagGroup("user", 0xFE000000, {}),
)
GROUPS = {"VERTEX": VERTEX_GROUPS, "FACE": FACE_GROUPS}
ATTRIBUTES = {"VERTEX": VERTEX_FLAGS, "FACE": FACE_FLAGS}
