"""Operation Flashpoint and Arma: animations and models, and the properties stored for them in Blender."""

from ... import lazy

lazy.attach(__name__)

from typing import Any

from . import properties, timing

ADDED = (properties.ADDED,)


def _rename_markers(event: Any, _context: Any) -> None:
    timing.rename_markers(event.id_data)


def _move_marker(event: Any, _context: Any) -> None:
    timing.move_marker(event)


properties.event_renamed.follow = _rename_markers
properties.phase_typed.follow = _move_marker
