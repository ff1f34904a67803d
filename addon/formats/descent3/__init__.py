"""File formats of Descent 3: models, textures, texture pages and the archives that contain them."""

from ... import lazy

lazy.attach(__name__)
