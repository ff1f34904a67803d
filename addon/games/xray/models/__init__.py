"""Models (`.ogf`): import, and export onto the file they came from."""

from .... import lazy

lazy.attach(__name__)
