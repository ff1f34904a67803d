"""Models (`.ogf`, `.object`): import, and export of imported and new ones."""

from .... import lazy

lazy.attach(__name__)
