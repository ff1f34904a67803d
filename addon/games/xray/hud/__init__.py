"""First-person view (HUD): hands, weapon and camera as the game composes them."""

from typing import Any

from .... import lazy

lazy.attach(__name__)

from ....blender.properties import nearest_ancestor
from ....blender.typed import Object


def _above(part: Object) -> Any:
    """Return the hands that an aim empty carries, else the parent."""
    hands = part.motionbridge_hud.hands
    return hands if hands is not None and hands.motionbridge_hud.is_hud else part.parent


def holder_of(obj: Any) -> Any:
    """Return the hands' armature of the first-person scene that an object belongs to, or None."""
    return nearest_ancestor(obj, lambda one: bool(one.motionbridge_hud.is_hud), _above)
