"""What an armature remembers of the bones of its model: joints, shapes, masses; and `.bones` files."""

from .... import lazy

lazy.attach(__name__)
