"""What belongs to S.T.A.L.K.E.R.: operators, file handlers and panels of its models, motions, paths and levels."""

from typing import Any

from . import (
    bones,
    collision_values,
    details_panels,
    export_level,
    export_model,
    export_motions,
    export_path,
    export_skeletal,
    import_level,
    import_model,
    import_motions,
    import_path,
    import_skeletal,
    level_panels,
    listed_motions,
    mark_operators,
    model_panels,
    motion_operators,
    motion_panels,
    motion_references,
    partition_operators,
    path_panels,
    skeletal_panels,
)

_WITH_CLASSES: tuple[Any, ...] = (
    import_model,
    listed_motions,
    import_motions,
    import_path,
    import_skeletal,
    export_model,
    export_motions,
    export_path,
    export_skeletal,
    bones,
    import_level,
    export_level,
    motion_operators,
    mark_operators,
    partition_operators,
    motion_panels,
    motion_references,
    skeletal_panels,
    path_panels,
    model_panels,
    details_panels,
    collision_values,
    level_panels,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
