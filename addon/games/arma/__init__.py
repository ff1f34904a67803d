"""Operation Flashpoint and Arma: animations and models, and what Blender has to remember of them."""

from .properties import ADDED as _ADDED

ADDED = (_ADDED,)
