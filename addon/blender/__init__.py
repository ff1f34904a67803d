"""Conversion between models and Blender's objects, meshes and actions.

Depends on no file format and no game. `compat` alone asks for Blender's version.
"""

from .. import lazy

lazy.attach(__name__)
