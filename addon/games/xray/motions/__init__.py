"""Motion files (`.omf`, `.skl`, `.skls`): import, edit, list and export the actions of an armature."""

from .... import lazy

lazy.attach(__name__)
