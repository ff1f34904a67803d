"""S.T.A.L.K.E.R.: models, their motions and what Blender has to remember of both."""

from . import (
    bone_properties,
    bones_file,
    level_properties,
    model_properties,
    motion_properties,
    path,
    skeletal_properties,
)

ADDED = (
    bone_properties.ADDED,
    bones_file.ADDED,
    model_properties.ADDED,
    level_properties.ADDED,
    motion_properties.ADDED,
    path.ADDED,
    skeletal_properties.ADDED,
)
