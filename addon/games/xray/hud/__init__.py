"""First-person view (HUD): hands, weapon and camera as the game composes them."""

from .... import lazy

lazy.attach(__name__)
