"""Vocabulary and math shared by all games: errors, bytes, rotations, axes, names, quantisation, the model.

Independent of file formats and of Blender; uses only the standard library and numpy.
"""

from .. import lazy

lazy.attach(__name__)
