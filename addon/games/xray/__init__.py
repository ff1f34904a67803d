"""S.T.A.L.K.E.R.: models, their motions and what Blender has to remember of both."""

from ... import lazy

lazy.attach(__name__)

from . import (
    bone_properties,
    level_properties,
    model_properties,
    motion_properties,
    path_properties,
    skeletal_properties,
)

ADDED = (
    bone_properties.ADDED,
    model_properties.ADDED,
    level_properties.ADDED,
    motion_properties.ADDED,
    path_properties.ADDED,
    skeletal_properties.ADDED,
)
