"""The model in Blender and out of it. Knows no file format and no game; every version question is asked in `compat`."""

from .. import lazy

lazy.attach(__name__)
