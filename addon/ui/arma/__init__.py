"""Interface for Operation Flashpoint and Arma: operators and panels of models, animations and textures."""

from typing import Any

from . import files, flags, lods, model_tools, models, new_lods, panels, proxies, selections, textures

_WITH_CLASSES: tuple[Any, ...] = (
    panels,
    files,
    flags,
    lods,
    models,
    model_tools,
    new_lods,
    proxies,
    selections,
    textures,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
