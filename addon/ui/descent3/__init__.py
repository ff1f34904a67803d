"""What belongs to Descent 3: operators, file handlers and panels of models and textures."""

from typing import Any

from . import (
    export_model,
    import_model,
    import_texture,
    operators,
    panels,
)

_WITH_CLASSES: tuple[Any, ...] = (
    import_model,
    import_texture,
    export_model,
    operators,
    panels,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
