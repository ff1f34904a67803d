"""A preview of what grows on a level's ground. What of it is exact: `formats.xray.details.scatter`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....blender import instances
from ....core.errors import WriteError
from ....core.report import Report
from ....core.text import counted_plural
from ....formats.xray import details
from ..options import ScatterOptions
from .details_exporting import gather_ground, models_of, numbers_of

NAME = "Scattered"


def scatter(
    context: Any, ground: Any, selected: NDArray[np.bool_] | None, options: ScatterOptions, report: Report
) -> int:
    """Plants on the ``selected`` faces (None: all), instead of those that are shown now; how many.

    Raises `WriteError` where nothing grows.
    """
    context.view_layer.update()
    points = gather_ground(ground)
    faces = np.arange(len(points.positions)) if selected is None else np.flatnonzero(selected)
    models = models_of(ground)
    numbers = numbers_of(models)
    shown = [one.motionbridge_level for one in models]
    scales = {number: (one.min_scale, one.max_scale) for number, one in zip(numbers, shown, strict=True) if number >= 0}
    plants = details.scatter(points, faces[np.isfinite(points.positions[faces]).all(axis=1)], scales, options.spacing)
    if not len(plants):
        raise WriteError(
            f"no detail models on the {counted_plural(len(faces), 'chosen slots')}",
            remedy="Select slots with detail models, and check that the models exist",
        )
    found = len(plants)
    kept = np.arange(found)
    if found > options.most:
        kept = np.linspace(0, found - 1, options.most).astype(np.int64)
        report.warn(f"only {options.most} of {found} plants are shown; select fewer slots to see all of them")
    places = np.argsort(np.array(numbers), kind="stable")
    found_at = np.searchsorted(np.array(numbers), plants.models[kept], sorter=places)
    columns = {
        instances.PLACE: places[found_at].astype(np.int32),
        instances.TURN: plants.turns[kept],
        instances.SCALE: plants.scales[kept],
    }
    onto = _collision(context) if options.on_collision else None
    if onto is not None:
        columns[instances.REACH] = plants.reaches[kept]
    name = f"{ground.name} {NAME}"
    made = instances.build(name, models, plants.points[kept], columns, onto)
    clear(ground)  # not before: where building fails, what was shown stays
    made.name = name
    made.hide_select = True
    ground.users_collection[0].objects.link(made)
    ground.motionbridge_level.scattered = made
    return len(kept)


def clear(ground: Any) -> bool:
    """Take the plants away; whether there were any."""
    made = ground.motionbridge_level.scattered
    if made is None:
        return False
    ground.motionbridge_level.property_unset("scattered")
    instances.remove(made)
    return True


def _collision(context: Any) -> Any:
    """The mesh of the level's collision, if the scene has it in one piece."""
    found = (
        shown
        for shown in context.scene.objects
        if shown.motionbridge_level.kind == "CFORM" and shown.type == "MESH" and not shown.motionbridge_level.is_part
    )
    return next(found, None)
