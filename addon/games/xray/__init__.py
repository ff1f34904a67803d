"""S.T.A.L.K.E.R. in Blender: models, motions, bones, levels, first-person scenes, and their properties in Blender."""

from ... import lazy

lazy.attach(__name__)

from .bones import properties as bone_properties
from .hud import properties as hud_properties
from .levels import properties as level_properties
from .models import properties as model_properties
from .motions import properties as motion_properties

ADDED = (
    bone_properties.ADDED,
    level_properties.ADDED,
    motion_properties.ADDED,
    model_properties.ADDED,
    hud_properties.ADDED,
)
