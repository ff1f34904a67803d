"""Interface for Descent 3: operators and panels of models and textures."""

from typing import Any

from . import (
    models,
    panels,
)

_WITH_CLASSES: tuple[Any, ...] = (
    models,
    panels,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
