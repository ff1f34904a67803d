"""Operation Flashpoint and Arma: animations and models, and the properties stored for them in Blender."""

from ... import lazy

lazy.attach(__name__)

from . import properties, timing

ADDED = (properties.ADDED,)

properties.event_renamed.follow = lambda event, _context: timing.rename_markers(event.id_data)
properties.phase_typed.follow = lambda event, _context: timing.move_marker(event)
