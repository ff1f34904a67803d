"""Operation Flashpoint and Arma: animations and models, and what Blender has to remember of them."""

from ... import lazy

lazy.attach(__name__)

from .properties import ADDED as _ADDED

ADDED = (_ADDED,)
