"""Operation Flashpoint and Arma: animations and models, and the properties stored for them in Blender."""

from ... import lazy

lazy.attach(__name__)

from .properties import ADDED as _ADDED

ADDED = (_ADDED,)
