"""S.T.A.L.K.E.R. in Blender: models, motions, bones, levels, first-person scenes, and their properties in Blender."""

from ... import lazy

lazy.attach(__name__)

from .bones import properties as bone_properties
from .hud import attachments, placing
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

motion_properties.start_typed.follow = lambda interval, _context: motion_timing.move_marker(interval, 0)
motion_properties.end_typed.follow = lambda interval, _context: motion_timing.move_marker(interval, 1)
hud_properties.stance_chosen.follow = lambda hud, _context: placing.show(hud.id_data)
hud_properties.attachments_chosen.follow = lambda hud, _context: attachments.show(hud.id_data)
