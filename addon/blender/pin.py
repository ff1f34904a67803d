"""Pinned bones: they are shown in one place of the armature while their own keys stay as they are.

Some games ignore the keys of a root bone but keep them in their files. A pin shows what they compute and is no edit:
exports read the keys of a pinned bone as if there were no pin. It is two constraints without targets, which cannot be
broken by renaming, moving or deleting other objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .control_links import is_link

if TYPE_CHECKING:
    from .typed import PoseBone


NAME = "Motionbridge Pin"
"""What the names of its constraints begin with."""
LIMITS = (("Location", "LIMIT_LOCATION"), ("Rotation", "LIMIT_ROTATION"))


def pin(bone: PoseBone, angles: Sequence[float]) -> None:
    """Show a pose bone at the armature's origin, rotated by ``angles`` (3,): Euler XYZ in radians."""
    for (label, kind), values in zip(LIMITS, ((0.0, 0.0, 0.0), angles), strict=True):
        limit = bone.constraints.new(kind)
        limit.name = f"{NAME} {label}"
        limit.owner_space = "POSE"
        for axis, value in zip("xyz", values, strict=True):
            if kind == "LIMIT_ROTATION":
                setattr(limit, f"use_limit_{axis}", True)
            else:
                setattr(limit, f"use_min_{axis}", True)
                setattr(limit, f"use_max_{axis}", True)
            setattr(limit, f"min_{axis}", value)
            setattr(limit, f"max_{axis}", value)


def is_moved(bone: PoseBone) -> bool:
    """Whether constraints move a pose bone; those that are muted, pins and links to a control rig do not count.

    Of those see `control_law`.
    """
    return any(
        not (constraint.mute or constraint.name.startswith(NAME) or is_link(constraint))
        for constraint in bone.constraints
    )
