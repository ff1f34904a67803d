"""S.T.A.L.K.E.R. in Blender: models, motions, bones, levels, first-person scenes, and their properties in Blender."""

from typing import Any

from ... import lazy

lazy.attach(__name__)

from .bones import properties as bone_properties
from .hud import properties as hud_properties
from .levels import properties as level_properties
from .models import properties as model_properties
from .motions import properties as motion_properties
from .motions import timing as motion_timing

ADDED = (
    bone_properties.ADDED,
    level_properties.ADDED,
    motion_properties.ADDED,
    model_properties.ADDED,
    hud_properties.ADDED,
)


def _move_start(interval: Any, _context: Any) -> None:
    motion_timing.move_marker(interval, 0)


def _move_end(interval: Any, _context: Any) -> None:
    motion_timing.move_marker(interval, 1)


motion_properties.start_typed.follow = _move_start
motion_properties.end_typed.follow = _move_end
