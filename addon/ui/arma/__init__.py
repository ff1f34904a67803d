"""What belongs to Operation Flashpoint and Arma: operators, file handlers and panels of models and animations."""

from typing import Any

from . import (
    export_animation,
    import_animation,
    import_model,
    model_panel,
    panels,
)

_WITH_CLASSES: tuple[Any, ...] = (
    import_model,
    import_animation,
    export_animation,
    panels,
    model_panel,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
