"""Level geometry: collision, occluders, AI map errors, detail objects."""

from .... import lazy

lazy.attach(__name__)
