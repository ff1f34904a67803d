"""Properties of an armature's bones: joints, collision shapes, masses; and `.bones` files."""

from .... import lazy

lazy.attach(__name__)
