"""Interface for Operation Flashpoint and Arma: operators and panels of models, animations and textures."""

from typing import Any

from . import files, model_tools, models, panels, textures

_WITH_CLASSES: tuple[Any, ...] = (panels, files, models, model_tools, textures)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
