"""Descent 3: models, and the properties stored for them in Blender."""

from typing import Any

from ... import lazy

lazy.attach(__name__)

from . import model_properties, rotors


def _preview_changed(context: Any, holder: Any) -> None:
    rotors.show(context, holder)


model_properties.preview_changed = _preview_changed
ADDED = (model_properties.ADDED,)
