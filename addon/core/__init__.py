"""Words and arithmetic that are true of any game: errors, bytes, rotations, axes, names, quantisation, the model.

Nothing here knows a file format or Blender. Standard library and numpy only.
"""

from .. import lazy

lazy.attach(__name__)
