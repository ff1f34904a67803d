"""Descent 3: models, and the properties stored for them in Blender."""

from ... import lazy

lazy.attach(__name__)

from . import model_properties, rotors

model_properties.preview_changed.follow = lambda model, context: rotors.show(context, model.id_data)
ADDED = (model_properties.ADDED,)
