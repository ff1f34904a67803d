"""Descent 3: models, textures, texture pages and the archives that hold them."""

from ... import lazy

lazy.attach(__name__)
